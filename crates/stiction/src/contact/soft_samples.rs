//! A soft block between two plates, stepped without scene or collision: to try solvers of soft contact on.
//!
//! Linear tetrahedra (six per cell), corotated linear elasticity, lumped mass, implicit Euler with one linearisation
//! per step: `A = M + h² K`, `b = M v + h (f + M g)`.

use super::samples::{GRAVITY, TIME_STEP};
use super::{ContactKey, ContactProblem, Friction, Term};
use crate::coords::{BlockKind, Layout, Part, ShapeId};
use crate::linalg::{BlockMat, Mat3, Vec3, tangents};

/// What squeezes the block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plates {
    /// They move as told, whatever it takes.
    Driven,
    /// Free bodies of this mass [kg] that a force pushes together.
    Free {
        /// Mass of each plate [kg].
        mass: f64,
        /// Force on each plate towards the block [N].
        push: f64,
    },
}

/// A block of 0.10 × 0.11 × 0.11 m on the ground, plates at both ends of x.
#[derive(Clone, Debug)]
pub struct SoftBlock {
    /// Positions of the nodes [m].
    pub x: Vec<Vec3>,
    /// Velocities of the nodes [m/s].
    pub v: Vec<Vec3>,
    /// Velocity of both plates [m/s]; the left one pushes towards +x.
    pub plate_velocity: [Vec3; 2],
    /// Spin of both plates [rad/s], where they are free.
    pub plate_spin: [Vec3; 2],
    /// Centres of the inner faces of the plates [m].
    pub plate: [Vec3; 2],
    /// Friction of all contacts.
    pub friction: Friction,
    /// What squeezes it.
    pub plates: Plates,
    rest: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
    /// Gradients of the shape functions and volume.
    shape: Vec<([Vec3; 4], f64)>,
    mass: Vec<f64>,
    matrix: BlockMat,
    ground_nodes: Vec<u32>,
    plate_nodes: [Vec<u32>; 2],
    young: f64,
}

const SIZE: Vec3 = Vec3::new(0.10, 0.11, 0.11);
const POISSON: f64 = 0.35;
const DENSITY: f64 = 1000.0;
/// Plates begin at this height [m].
const PLATE_FOOT: f64 = 0.02;

impl SoftBlock {
    /// With this many cells along each axis, Young's modulus 1 MPa, friction 0.5, touching driven plates at rest.
    pub fn new(cells: [usize; 3]) -> SoftBlock {
        SoftBlock::with_plates(cells, Plates::Driven)
    }

    /// With plates of this kind.
    pub fn with_plates(cells: [usize; 3], plates: Plates) -> SoftBlock {
        let [nx, ny, nz] = cells;
        let id = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
        let step = SIZE / Vec3::new(nx as f64, ny as f64, nz as f64);
        let (mut rest, mut tets) = (Vec::new(), Vec::new());
        let (mut ground_nodes, mut plate_nodes) = (Vec::new(), [Vec::new(), Vec::new()]);
        for i in 0..=nx {
            for j in 0..=ny {
                for k in 0..=nz {
                    let x = step * Vec3::new(i as f64, j as f64, k as f64);
                    rest.push(x);
                    if k == 0 {
                        ground_nodes.push(id(i, j, k));
                    }
                    if x.z > PLATE_FOOT - 1e-9 && (i == 0 || i == nx) {
                        plate_nodes[usize::from(i == nx)].push(id(i, j, k));
                    }
                }
            }
        }
        // Kuhn's six tetrahedra: from one corner of a cell to the opposite one, an axis at a time.
        const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
        for i in 0..nx {
            for j in 0..ny {
                for k in 0..nz {
                    for (p, path) in PATHS.iter().enumerate() {
                        let mut at = [i, j, k];
                        let mut tet = [id(i, j, k); 4];
                        for (s, &axis) in path.iter().enumerate() {
                            at[axis] += 1;
                            tet[s + 1] = id(at[0], at[1], at[2]);
                        }
                        if p >= 3 {
                            tet.swap(2, 3);
                        }
                        tets.push(tet);
                    }
                }
            }
        }
        let mut block = SoftBlock {
            v: vec![Vec3::ZERO; rest.len()],
            plate_velocity: [Vec3::ZERO; 2],
            plate_spin: [Vec3::ZERO; 2],
            plate: [
                Vec3::new(0.0, 0.5 * SIZE.y, 0.5 * SIZE.z),
                Vec3::new(SIZE.x, 0.5 * SIZE.y, 0.5 * SIZE.z),
            ],
            friction: Friction::Isotropic(0.5),
            plates,
            shape: Vec::new(),
            mass: vec![0.0; rest.len()],
            x: rest.clone(),
            rest,
            matrix: BlockMat::default(),
            tets,
            ground_nodes,
            plate_nodes,
            young: 1e6,
        };
        block.prepare();
        block
    }

    /// With another Young's modulus [Pa].
    pub fn young(mut self, young: f64) -> SoftBlock {
        self.young = young;
        self
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.x.len()
    }

    /// Gradients, volumes, masses and the pattern of A.
    fn prepare(&mut self) {
        let mut pairs = Vec::new();
        for tet in &self.tets {
            let x = tet.map(|i| self.rest[i as usize]);
            let edges = Mat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
            let volume = edges.determinant() / 6.0;
            let g = edges.inverse();
            let (a, b, c) = (g.row(0), g.row(1), g.row(2));
            self.shape.push(([-a - b - c, a, b, c], volume));
            for &i in tet {
                self.mass[i as usize] += DENSITY * volume / 4.0;
                pairs.extend(tet.iter().filter(|&&j| j > i).map(|&j| (i, j)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let offset = self.plate_blocks() as u32;
        for (i, j) in &mut pairs {
            *i += offset;
            *j += offset;
        }
        let mut layout = Layout::new();
        for _ in 0..offset {
            layout.push(BlockKind::Rigid);
        }
        for _ in &self.rest {
            layout.push(BlockKind::Node);
        }
        self.matrix = BlockMat::with_pattern(&layout.widths(), &pairs);
    }

    fn plate_blocks(&self) -> usize {
        if self.plates == Plates::Driven { 0 } else { 2 }
    }

    /// The contact problem of the next step.
    pub fn problem(&self) -> ContactProblem {
        let h = TIME_STEP;
        let first = self.plate_blocks();
        let mut p = ContactProblem {
            a: self.matrix.clone(),
            b: vec![0.0; 6 * first + 3 * self.nodes()],
            h,
            force_per_lambda: 1.0 / h,
            velocity_scale: GRAVITY * h,
            places: self.plate[..first].iter().chain(&self.rest).copied().collect(),
            ..ContactProblem::default()
        };
        self.add_elasticity(&mut p, first);
        for i in 0..self.nodes() {
            let m = self.mass[i];
            let block = p.a.diagonal_block_mut(first + i);
            for k in 0..3 {
                block[4 * k] += m;
            }
            add(&mut p.b, 6 * first + 3 * i, m * (self.v[i] - Vec3::Z * (GRAVITY * h)));
        }
        if let Plates::Free { mass, push } = self.plates {
            for s in 0..2 {
                let block = p.a.diagonal_block_mut(s);
                for k in 0..3 {
                    block[7 * k] = mass;
                    block[7 * (3 + k)] = 0.002 * mass;
                }
                let force = Vec3::X * if s == 0 { push } else { -push };
                add(&mut p.b, 6 * s, mass * self.plate_velocity[s] + h * force);
                add(&mut p.b, 6 * s + 3, 0.002 * mass * self.plate_spin[s]);
            }
        }
        self.add_contacts(&mut p, first);
        p
    }

    /// K h² into A and h f into b.
    fn add_elasticity(&self, p: &mut ContactProblem, first: usize) {
        let h = p.h;
        let lame = self.young * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
        let shear = self.young / (2.0 * (1.0 + POISSON));
        for (tet, (gradient, volume)) in self.tets.iter().zip(&self.shape) {
            let mut f = Mat3::ZERO;
            for a in 0..4 {
                f += outer(self.x[tet[a] as usize], gradient[a]);
            }
            let r = rotation(f);
            let stress = (f - r) * (2.0 * shear) + r * (lame * (trace(&(r.transpose() * f)) - 3.0));
            let g = gradient.map(|g| r * g);
            for a in 0..4 {
                let row = first + tet[a] as usize;
                add(&mut p.b, 6 * first + 3 * tet[a] as usize, stress * gradient[a] * (-h * volume));
                for b in 0..4 {
                    let k = outer(g[a], g[b]) * lame
                        + outer(g[b], g[a]) * shear
                        + Mat3::from_diagonal(Vec3::splat(shear * g[a].dot(g[b])));
                    let to = p.a.block_mut(row, first + tet[b] as usize).expect("nodes of one tetrahedron");
                    for i in 0..3 {
                        for j in 0..3 {
                            to[3 * i + j] += h * h * volume * k.col(j)[i];
                        }
                    }
                }
            }
        }
    }

    fn add_contacts(&self, p: &mut ContactProblem, first: usize) {
        p.j.clear();
        let node = |i: u32| {
            Term::Point(Part::Node { block: first as u32 + i, dof: 6 * first as u32 + 3 * i, weight: 1.0 })
        };
        let mut push = |i: u32, shape: u32, normal: Vec3, gap: f64, plate: Option<usize>| {
            let (t1, t2) = tangents(normal);
            let frame = Mat3::from_cols(normal, t1, t2).transpose();
            let mut bias = Vec3::X * (gap / p.h);
            match plate {
                Some(s) if first > 0 => {
                    let arm = self.x[i as usize] - self.plate[s];
                    let term =
                        Term::Point(Part::Rigid { block: s as u32, dof: 6 * s as u32, weight: -1.0, arm });
                    p.j.push(frame, [node(i), term]);
                }
                _ => {
                    bias -= frame * plate.map_or(Vec3::ZERO, |s| self.plate_velocity[s]);
                    p.j.push(frame, [node(i)]);
                }
            }
            p.bias.push(bias);
            p.law.push(self.friction.into());
            p.softness.push(Vec3::ZERO);
            p.key.push(ContactKey {
                shape_a: ShapeId(shape),
                shape_b: ShapeId(3),
                feature_a: 0,
                feature_b: i as u64,
            });
        };
        for &i in &self.ground_nodes {
            push(i, 0, Vec3::Z, self.x[i as usize].z, None);
        }
        for s in 0..2 {
            let normal = if s == 0 { Vec3::X } else { -Vec3::X };
            for &i in &self.plate_nodes[s] {
                let gap = normal.dot(self.x[i as usize] - self.plate[s]);
                push(i, 1 + s as u32, normal, gap, Some(s));
            }
        }
    }

    /// Moves everything by one step with the velocities of a solution.
    pub fn advance(&mut self, v: &[f64]) {
        let first = self.plate_blocks();
        for s in 0..2 {
            if first > 0 {
                self.plate_velocity[s] = Vec3::from_slice(&v[6 * s..]);
                self.plate_spin[s] = Vec3::from_slice(&v[6 * s + 3..]);
            }
            self.plate[s] += TIME_STEP * self.plate_velocity[s];
        }
        for i in 0..self.nodes() {
            self.v[i] = Vec3::from_slice(&v[6 * first + 3 * i..]);
            self.x[i] += TIME_STEP * self.v[i];
        }
    }

    /// The plates' speed in the hard run: 2.5 mm together in 0.2 s, then up by 0.1 m in 0.6 s.
    pub fn drive(&mut self, step: usize) {
        for s in 0..2 {
            let inwards = if s == 0 { Vec3::X } else { -Vec3::X };
            self.plate_velocity[s] = if step < 20 { inwards * (0.0025 / 0.2) } else { Vec3::Z * (0.1 / 0.6) };
        }
    }

    /// The nearest rotation to the deformation of the whole block turns with `angle` [rad] about y: for tests of
    /// states that are not at rest.
    pub fn turned(mut self, angle: f64) -> SoftBlock {
        let turn = Mat3::from_rotation_y(angle);
        for x in &mut self.x {
            *x = turn * *x;
        }
        self
    }
}

fn add(to: &mut [f64], at: usize, x: Vec3) {
    for k in 0..3 {
        to[at + k] += x[k];
    }
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn trace(m: &Mat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// The orthogonal factor of `f` by Higham's iteration.
fn rotation(f: Mat3) -> Mat3 {
    let mut r = f;
    for _ in 0..8 {
        r = (r + r.inverse().transpose()) * 0.5;
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::skew;

    #[test]
    fn sizes_and_mass_are_those_of_the_block() {
        let block = SoftBlock::new([10, 11, 11]);
        let p = block.problem();
        assert_eq!((p.dofs(), p.contacts()), (4752, 372));
        let mass: f64 = block.mass.iter().sum();
        assert!((mass - 1.21).abs() < 1e-12, "{mass}");
    }

    #[test]
    fn a_rigid_motion_meets_mass_alone() {
        // K of the turned block annihilates translations and rotations; only gravity is in b.
        let block = SoftBlock::new([2, 2, 2]).turned(0.7);
        let p = block.problem();
        let n = block.nodes();
        let mut v = vec![0.0; 3 * n];
        let spin = Vec3::new(0.3, -0.4, 0.5);
        for i in 0..n {
            (Vec3::X + skew(spin) * block.x[i]).write_to_slice(&mut v[3 * i..]);
        }
        let mut f = vec![0.0; 3 * n];
        p.a.mul(&v, &mut f);
        for i in 0..n {
            for k in 0..3 {
                assert!((f[3 * i + k] - block.mass[i] * v[3 * i + k]).abs() < 1e-10);
            }
            assert!((p.b[3 * i + 2] + block.mass[i] * GRAVITY * p.h).abs() < 1e-10);
        }
    }
}
