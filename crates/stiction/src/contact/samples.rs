//! Contact problems to try solvers on: walls, heavy stacks, inclines and arches of boxes, frozen at one step.
//!
//! They are built directly, without scene or collision, so that tests, benchmarks and other programs solve the same
//! numbers. All faces touch with gap 0; a rectangular face gives four contacts, one per corner.
//!
//! ```
//! use stiction::contact::samples;
//!
//! let p = samples::wall(3, 3, 0.6, 42);
//! assert_eq!((p.contacts(), p.dofs()), (52, 54));
//! ```

use super::{ContactKey, ContactProblem, Friction, Term};
use crate::coords::{BlockKind, Layout, Part, Pose, ShapeId};
use crate::linalg::{BlockMat, Mat3, Quat, Rng, Vec3, tangents};

/// Gravity of the samples [m/s²].
pub const GRAVITY: f64 = 9.81;

/// Time step of the samples [s].
pub const TIME_STEP: f64 = 0.01;

/// A particle of 1 kg at rest, `gap` [m] above the plane z = 0 and pushed by `force` [N] beside gravity for one step `h` [s],
/// with friction ½; the contact is there `copies` times. Its answers are known.
pub fn pushed_particle(force: Vec3, h: f64, copies: usize, gap: f64) -> ContactProblem {
    let mut layout = Layout::new();
    layout.push(BlockKind::Node);
    let mut p = ContactProblem {
        a: BlockMat::block_diagonal(&layout.widths()),
        b: ((force - GRAVITY * Vec3::Z) * h).to_array().to_vec(),
        h,
        force_per_lambda: 1.0 / h,
        velocity_scale: GRAVITY * h,
        ..ContactProblem::default()
    };
    for k in 0..3 {
        p.a.diagonal_block_mut(0)[4 * k] = 1.0;
    }
    for k in 0..copies as u64 {
        p.j.push(
            Mat3::from_cols(Vec3::Z, Vec3::X, Vec3::Y).transpose(),
            [Term::Point(Part::Node { block: 0, dof: 0, weight: 1.0 })],
        );
        p.bias.push(Vec3::new(gap / h, 0.0, 0.0));
        p.law.push(Friction::Isotropic(0.5).into());
        p.softness.push(Vec3::ZERO);
        p.key.push(ContactKey { shape_a: ShapeId(0), shape_b: ShapeId(1), feature_a: k, feature_b: 0 });
    }
    p
}

/// A wall of bricks in running bond with random velocities of about 1 m/s: the hard test for a cold start.
///
/// Bricks of 1 × 0.5 × 0.5 m and 250 kg; every second row is shifted by half a brick, so that a brick rests on
/// two (the last of a shifted row on one). Neighbours in a row do not touch. Each pair of faces gives four
/// contacts at the corners of the overlap: 4c + 4(r − 1)(2c − 1) for r rows and c columns, which is 52 for 3 × 3,
/// 164 for 5 × 5 and 724 for 10 × 10. Each component of velocity [m/s] and spin [rad/s] is a normal random number
/// of deviation 1; gravity acts for one step of 10 ms.
pub fn wall(rows: usize, columns: usize, mu: f64, seed: u64) -> ContactProblem {
    wall_with_speed(rows, columns, mu, 1.0, seed)
}

/// A [`wall`] whose velocities have the deviation `speed` [m/s, rad/s]: the slower, the more contacts stay closed.
pub fn wall_with_speed(rows: usize, columns: usize, mu: f64, speed: f64, seed: u64) -> ContactProblem {
    let half = Vec3::new(0.5, 0.25, 0.25);
    let mut rng = Rng::new(seed);
    let mut bodies = Assembly::new(Vec3::new(0.0, 0.0, -GRAVITY));
    let x = |row: usize, column: usize| column as f64 + 0.5 * (row % 2) as f64;
    for row in 0..rows {
        for column in 0..columns {
            let centre = Vec3::new(x(row, column), 0.0, half.z * (2 * row + 1) as f64);
            let brick = bodies.add_box(centre, half, 250.0);
            bodies.velocity[brick] = (speed * rng.normal3(), speed * rng.normal3());
        }
    }
    let face = |left: f64, right: f64, z: f64| {
        [(left, -half.y), (right, -half.y), (right, half.y), (left, half.y)].map(|(x, y)| Vec3::new(x, y, z))
    };
    for row in 0..rows {
        for column in 0..columns {
            let (brick, at) = (row * columns + column, x(row, column));
            let z = 2.0 * half.z * row as f64;
            if row == 0 {
                bodies.touch(brick, None, Vec3::Z, &face(at - half.x, at + half.x, z), mu);
                continue;
            }
            for below in 0..columns {
                let other = x(row - 1, below);
                let (left, right) = (at.max(other) - half.x, at.min(other) + half.x);
                if right - left > 0.25 * half.x {
                    let lower = (row - 1) * columns + below;
                    bodies.touch(brick, Some(lower), Vec3::Z, &face(left, right, z), mu);
                }
            }
        }
    }
    bodies.problem()
}

/// Unit cubes on top of each other at rest, masses 8, 64, 512, … kg with the heaviest on top, friction 0.5.
/// Five cubes reach 32768 kg. The answer is known: the forces of a face sum to the weight above it.
pub fn heavy_stack(cubes: usize) -> ContactProblem {
    heavy_stack_bodies(cubes).problem()
}

/// The bodies of [`heavy_stack`].
pub fn heavy_stack_bodies(cubes: usize) -> Assembly {
    let mut bodies = Assembly::new(Vec3::new(0.0, 0.0, -GRAVITY));
    for i in 0..cubes {
        let cube =
            bodies.add_box(Vec3::new(0.0, 0.0, i as f64 + 0.5), Vec3::splat(0.5), 8f64.powi(i as i32 + 1));
        let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
        let face = corners.map(|(x, y)| Vec3::new(x, y, i as f64));
        bodies.touch(cube, cube.checked_sub(1), Vec3::Z, &face, 0.5);
    }
    bodies
}

/// A box of 0.2 m and 0.5 kg at rest on a plane that is tilted by `angle` [rad] about −y (gravity is tilted instead).
///
/// It sticks up to the friction angle atan(μ) and slides down with g·(sin − μ cos) above it.
pub fn incline(angle: f64, mu: f64) -> ContactProblem {
    let a = 0.1;
    let mut bodies = Assembly::new(GRAVITY * Vec3::new(angle.sin(), 0.0, -angle.cos()));
    let block = bodies.add_box(Vec3::new(0.0, 0.0, a), Vec3::splat(a), 0.5);
    let face = [(-a, -a), (a, -a), (a, a), (-a, a)].map(|(x, y)| Vec3::new(x, y, 0.0));
    bodies.touch(block, None, Vec3::Z, &face, mu);
    bodies.problem()
}

/// An arch of `2·half` blocks at rest (15 kg at the crown to 110 kg at the feet) that stands by compression alone.
///
/// Its joints are perpendicular to the line of thrust of its own weight, so that they need no friction; both feet
/// are cut level and need μ > 0.36. Four contacts per joint: 84 for 20 blocks.
pub fn arch(half: usize, mu: f64) -> ContactProblem {
    arch_bodies(half, mu).problem()
}

/// The bodies of [`arch`].
pub fn arch_bodies(half: usize, mu: f64) -> Assembly {
    let arch = ArchLines::new(half, ArchShape::default());
    let mut bodies = Assembly::new(Vec3::new(0.0, 0.0, -GRAVITY));
    for (s, side) in [1.0, -1.0].into_iter().enumerate() {
        for k in 0..half {
            let block = bodies.add_prism(&arch.outline(k, side), ARCH_DEPTH, arch.mass[k]);
            if k > 0 {
                bodies.touch(
                    block,
                    Some(block - 1),
                    mirror(arch.direction[k], side),
                    &arch.joint(k, side),
                    mu,
                );
            } else if s == 1 {
                bodies.touch(block, Some(0), mirror(arch.direction[0], side), &arch.joint(0, side), mu);
            }
            if k + 1 == half {
                bodies.touch(block, None, Vec3::Z, &arch.joint(half, side), mu);
            }
        }
    }
    bodies
}

/// Mass [kg] and the eight corners [m] of each block of [`arch`], feet on z = 0; crown to foot, right side first.
pub fn arch_blocks(half: usize) -> Vec<(f64, [Vec3; 8])> {
    let y = Vec3::Y * (0.5 * ARCH_DEPTH);
    let block = |(mass, [a, b, c, d]): (f64, [Vec3; 4])| {
        (mass, [a - y, b - y, c - y, d - y, a + y, b + y, c + y, d + y])
    };
    arch_outlines(half, ArchShape::default()).into_iter().map(block).collect()
}

/// Mass [kg] and the outline [m] in the xz-plane of each block of an arch: outer corners towards crown and foot, inner ones
/// towards foot and crown; crown to foot, right side first.
pub fn arch_outlines(half: usize, shape: ArchShape) -> Vec<(f64, [Vec3; 4])> {
    let arch = ArchLines::new(half, shape);
    let sides = [1.0, -1.0].into_iter();
    sides
        .flat_map(|side| (0..half).map(move |k| (k, side)))
        .map(|(k, s)| (arch.mass[k], arch.outline(k, s)))
        .collect()
}

/// What is left open about an arch that stands by compression alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArchShape {
    /// Horizontal thrust over the weight of one half; less is steeper.
    pub thrust: f64,
    /// Length of a block at the crown [m].
    pub crown: f64,
    /// How it ends.
    pub feet: Feet,
}

/// How an arch ends, at the end of its line of thrust at z = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feet {
    /// Cut level.
    Level,
    /// Cut square to the thrust, like all other joints.
    Square,
}

impl Default for ArchShape {
    fn default() -> ArchShape {
        ArchShape { thrust: 0.36, crown: 0.3, feet: Feet::Level }
    }
}

/// Depth of the arch along y [m].
pub const ARCH_DEPTH: f64 = 0.5;

/// The right half of an arch from crown to foot, in the xz-plane.
struct ArchLines {
    mass: Vec<f64>,
    /// Direction of the thrust at each joint, which is the normal of the joint.
    direction: Vec<Vec3>,
    outer: Vec<Vec3>,
    inner: Vec<Vec3>,
}

impl ArchLines {
    fn new(half: usize, shape: ArchShape) -> ArchLines {
        let spread =
            |from: f64, to: f64, k: usize, n: usize| from + (to - from) * k as f64 / (n - 1).max(1) as f64;
        let mass: Vec<f64> = (0..half).map(|k| spread(15.0, 110.0, k, half)).collect();
        let thickness: Vec<f64> = (0..=half).map(|k| spread(0.22, 0.45, k, half + 1)).collect();
        let mean = |k: usize| 0.5 * (thickness[k] + thickness[k + 1]);
        let density = mass[0] / (mean(0) * shape.crown * ARCH_DEPTH);
        let thrust = shape.thrust * GRAVITY * mass.iter().sum::<f64>();

        // The thrust turns by the weight of each block; the joints follow it.
        let mut weight = 0.0;
        let mut direction = vec![Vec3::X];
        for m in &mass {
            weight += m * GRAVITY;
            direction.push(Vec3::new(thrust, 0.0, -weight).normalize());
        }
        let mut joint = vec![Vec3::ZERO];
        for k in 0..half {
            let length = mass[k] / (density * mean(k) * ARCH_DEPTH);
            joint.push(joint[k] + length * (direction[k] + direction[k + 1]).normalize());
        }
        let up: Vec<Vec3> = direction.iter().map(|d| Vec3::new(-d.z, 0.0, d.x)).collect();
        let mut outer: Vec<Vec3> = (0..=half).map(|k| joint[k] + 0.5 * thickness[k] * up[k]).collect();
        let mut inner: Vec<Vec3> = (0..=half).map(|k| joint[k] - 0.5 * thickness[k] * up[k]).collect();
        // The end of the thrust line becomes z = 0; level feet are cut through it.
        let (foot, ground) = (direction[half], joint[half].z);
        for line in [&mut outer, &mut inner] {
            if shape.feet == Feet::Level {
                let end = line[half];
                line[half] = end + foot * ((ground - end.z) / foot.z);
            }
            line.iter_mut().for_each(|p| p.z -= ground);
        }
        ArchLines { mass, direction, outer, inner }
    }

    /// Corners of block `k`; `side` −1 is the left half.
    fn outline(&self, k: usize, side: f64) -> [Vec3; 4] {
        [self.outer[k], self.outer[k + 1], self.inner[k + 1], self.inner[k]].map(|p| mirror(p, side))
    }

    /// Corners of the face at joint `k`.
    fn joint(&self, k: usize, side: f64) -> [Vec3; 4] {
        let (o, i) = (mirror(self.outer[k], side), mirror(self.inner[k], side));
        let y = Vec3::Y * (0.5 * ARCH_DEPTH);
        [o - y, i - y, i + y, o + y]
    }
}

fn mirror(p: Vec3, side: f64) -> Vec3 {
    Vec3::new(side * p.x, p.y, p.z)
}

/// The same problem with every contact stated `times` times: the answer for `v` does not change.
pub fn duplicated(p: &ContactProblem, times: usize) -> ContactProblem {
    let mut out = ContactProblem {
        a: p.a.clone(),
        b: p.b.clone(),
        h: p.h,
        force_per_lambda: p.force_per_lambda,
        velocity_scale: p.velocity_scale,
        places: p.places.clone(),
        ..ContactProblem::default()
    };
    out.j.clear();
    for c in 0..p.contacts() {
        for copy in 0..times {
            out.j.push(p.j.frame[c], p.j.terms(c).iter().copied());
            out.bias.push(p.bias[c]);
            out.law.push(p.law[c]);
            out.softness.push(p.softness[c]);
            out.key.push(ContactKey { feature_b: p.key[c].feature_b + 1000 * copy as u64, ..p.key[c] });
        }
    }
    out
}

/// Free bodies and the points where they touch, which [`problem`](Assembly::problem) turns into a contact problem.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Velocity [m/s] and spin [rad/s] of each body before the step; zero at first.
    pub velocity: Vec<(Vec3, Vec3)>,
    /// Of the axes of all bodies.
    rotation: Quat,
    centre: Vec<Vec3>,
    mass: Vec<f64>,
    inertia: Vec<Mat3>,
    contacts: Vec<Touch>,
}

#[derive(Clone, Debug)]
struct Touch {
    a: usize,
    b: Option<usize>,
    normal: Vec3,
    point: Vec3,
    mu: f64,
    corner: u64,
}

impl Assembly {
    /// Nothing yet.
    pub fn new(gravity: Vec3) -> Assembly {
        let (velocity, centre, mass, inertia, contacts) = Default::default();
        Assembly { gravity, velocity, rotation: Quat::IDENTITY, centre, mass, inertia, contacts }
    }

    /// Adds a box at rest and returns its number.
    pub fn add_box(&mut self, centre: Vec3, half: Vec3, mass: f64) -> usize {
        let s = half * half * (mass / 3.0);
        self.add(centre, mass, Mat3::from_diagonal(Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y)))
    }

    /// Adds a body at rest by centre of mass [m], mass [kg] and inertia in world axes [kg·m²]; returns its number.
    pub fn add(&mut self, centre: Vec3, mass: f64, inertia: Mat3) -> usize {
        self.centre.push(centre);
        self.mass.push(mass);
        self.inertia.push(inertia);
        self.velocity.push((Vec3::ZERO, Vec3::ZERO));
        self.mass.len() - 1
    }

    /// Adds a prism at rest: an outline in the xz-plane, extruded along y.
    fn add_prism(&mut self, outline: &[Vec3], depth: f64, mass: f64) -> usize {
        // Area, centroid and second moments by triangles from the first corner.
        let (mut area, mut centroid, mut xx, mut zz, mut xz) = (0.0, Vec3::ZERO, 0.0, 0.0, 0.0);
        let o = outline[0];
        for w in outline[1..].windows(2) {
            let (p, q) = (w[0] - o, w[1] - o);
            let da = 0.5 * (p.x * q.z - p.z * q.x);
            area += da;
            centroid += da * (p + q) / 3.0;
            xx += da * (p.x * p.x + p.x * q.x + q.x * q.x) / 6.0;
            zz += da * (p.z * p.z + p.z * q.z + q.z * q.z) / 6.0;
            xz += da * (2.0 * p.x * p.z + p.x * q.z + q.x * p.z + 2.0 * q.x * q.z) / 12.0;
        }
        let c = centroid / area;
        let (xx, zz, xz) =
            (mass * (xx / area - c.x * c.x), mass * (zz / area - c.z * c.z), mass * (xz / area - c.x * c.z));
        let yy = mass * depth * depth / 12.0;
        let inertia = Mat3::from_cols(
            Vec3::new(yy + zz, 0.0, -xz),
            Vec3::new(0.0, xx + zz, 0.0),
            Vec3::new(-xz, 0.0, xx + yy),
        );
        self.add(o + c, mass, inertia)
    }

    /// Body `a` touches body `b` (or the ground) at `points`; the normal points from `b` to `a`.
    pub fn touch(&mut self, a: usize, b: Option<usize>, normal: Vec3, points: &[Vec3], mu: f64) {
        self.contacts.extend(points.iter().enumerate().map(|(corner, &point)| Touch {
            a,
            b,
            normal,
            point,
            mu,
            corner: corner as u64,
        }));
    }

    /// Everything turned about the origin, gravity too: the same physics in other coordinates.
    pub fn turned(mut self, by: Quat) -> Assembly {
        let axes = Mat3::from_quat(by);
        self.gravity = by * self.gravity;
        self.rotation = by * self.rotation;
        self.velocity.iter_mut().for_each(|(v, w)| (*v, *w) = (by * *v, by * *w));
        self.centre.iter_mut().for_each(|x| *x = by * *x);
        self.inertia.iter_mut().for_each(|i| *i = axes * *i * axes.transpose());
        self.contacts.iter_mut().for_each(|t| (t.normal, t.point) = (by * t.normal, by * t.point));
        self
    }

    /// Pose of each body before the step.
    pub fn poses(&self) -> Vec<Pose> {
        self.centre.iter().map(|&translation| Pose { translation, rotation: self.rotation }).collect()
    }

    /// The contact problem of one step of [`TIME_STEP`] by implicit Euler.
    pub fn problem(&self) -> ContactProblem {
        let mut layout = Layout::new();
        for _ in &self.mass {
            layout.push(BlockKind::Rigid);
        }
        let h = TIME_STEP;
        let mut p = ContactProblem {
            a: BlockMat::block_diagonal(&layout.widths()),
            b: vec![0.0; layout.nv()],
            h,
            force_per_lambda: 1.0 / h,
            velocity_scale: self.gravity.length() * h,
            ..ContactProblem::default()
        };
        let mut free = vec![0.0; layout.nv()];
        for i in 0..self.mass.len() {
            let block = p.a.diagonal_block_mut(i);
            for k in 0..3 {
                block[7 * k] = self.mass[i];
                for l in 0..3 {
                    block[6 * (3 + k) + 3 + l] = self.inertia[i].col(l)[k];
                }
            }
            let (v, w) = self.velocity[i];
            (v + h * self.gravity).write_to_slice(&mut free[6 * i..]);
            w.write_to_slice(&mut free[6 * i + 3..]);
        }
        p.a.mul(&free, &mut p.b);
        p.j.clear();
        for t in &self.contacts {
            let (t1, t2) = tangents(t.normal);
            let term = |body: usize, sign: f64| {
                let arm = t.point - self.centre[body];
                Term::Point(Part::Rigid { block: body as u32, dof: 6 * body as u32, weight: sign, arm })
            };
            let sides = [Some(term(t.a, 1.0)), t.b.map(|b| term(b, -1.0))];
            p.j.push(Mat3::from_cols(t.normal, t1, t2).transpose(), sides.into_iter().flatten());
            p.bias.push(Vec3::ZERO);
            p.law.push(Friction::Isotropic(t.mu).into());
            p.softness.push(Vec3::ZERO);
            // Shape 0 is the ground.
            let shape = |body: Option<usize>| ShapeId(body.map_or(0, |b| b as u32 + 1));
            p.key.push(ContactKey {
                shape_a: shape(t.b),
                shape_b: shape(Some(t.a)),
                feature_a: 0,
                feature_b: t.corner,
            });
            p.velocity_scale = p.velocity_scale.max(p.j.mul_one(p.bias.len() - 1, &free).length());
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Solution, residual};

    #[test]
    fn walls_have_the_documented_sizes() {
        for (n, contacts) in [(3, 52), (5, 164), (10, 724)] {
            let p = wall(n, n, 0.3, 1);
            assert_eq!((p.contacts(), p.dofs()), (contacts, 6 * n * n));
        }
        let mut keys = wall(5, 5, 0.3, 1).key;
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 164, "keys are unique");
        assert_ne!(wall(3, 3, 0.3, 1).b, wall(3, 3, 0.3, 2).b);
        assert_eq!(wall(3, 3, 0.3, 7).b, wall(3, 3, 0.3, 7).b);
    }

    #[test]
    fn a_stack_at_rest_is_solved_by_the_weights_above() {
        let p = heavy_stack(5);
        let mut lambda = Vec::new();
        for face in 0..5 {
            let above: f64 = (face..5).map(|i| 8f64.powi(i + 1)).sum();
            lambda.extend([Vec3::X * (above * GRAVITY * p.h / 4.0); 4]);
        }
        let r = residual::measure(&p, &Solution { v: vec![0.0; p.dofs()], lambda });
        assert!(r.natural < 1e-13 && r.momentum < 1e-11, "{r:?}");
    }

    #[test]
    fn an_incline_below_the_friction_angle_holds_by_friction_on_the_cone() {
        // The pressure moves downhill: forces of the two uphill corners differ from the two downhill ones.
        let (mu, angle) = (0.5, 0.3f64);
        let p = incline(angle, mu);
        let n = GRAVITY * angle.cos() * 0.5 * p.h / 4.0;
        let t = GRAVITY * angle.sin() * 0.5 * p.h / 4.0;
        // Torque about y: the friction at the foot (height a) is balanced by moving pressure along x.
        let shift = t * 4.0 * 0.1 / (4.0 * 0.1);
        let lambda = (0..4)
            .map(|c| {
                let x =
                    p.j.terms(c)
                        .iter()
                        .map(|t| if let Term::Point(Part::Rigid { arm, .. }) = t { arm.x } else { 0.0 });
                let normal = n + shift * x.sum::<f64>().signum();
                // Friction acts against gravity, split like the pressure.
                p.j.frame[c] * Vec3::new(-t * normal / n, 0.0, normal)
            })
            .collect();
        let r = residual::measure(&p, &Solution { v: vec![0.0; p.dofs()], lambda });
        assert!(r.natural < 1e-12 && r.momentum < 1e-12, "{r:?}");
    }

    #[test]
    fn the_arch_has_the_mass_and_the_joints_it_promises() {
        let p = arch(10, 0.6);
        assert_eq!((p.contacts(), p.dofs()), (84, 120));
        let weight: f64 = (0..20).map(|i| p.b[6 * i + 2]).sum();
        assert!((weight + GRAVITY * p.h * 2.0 * 625.0).abs() < 1e-9);
        // Mirror images: the middle joint is vertical and the arch has no net push sideways.
        assert!((0..20).map(|i| p.b[6 * i]).sum::<f64>().abs() < 1e-12);
    }

    /// What no turn changes: how a push along a normal moves its contact, and free fall along it.
    #[test]
    fn a_turned_assembly_is_the_same_problem_in_other_coordinates() {
        let stands = arch_bodies(10, 0.6);
        let turned = stands.clone().turned(Quat::from_rotation_x(0.7) * Quat::from_rotation_y(-0.4));
        let (p, q) = (stands.problem(), turned.problem());
        assert!((p.b[2] - q.b[2]).abs() > 0.1, "it is turned");
        let normals = |p: &ContactProblem| {
            let fall = |c: usize, push: f64| {
                let mut v = p.b.clone();
                let mut lambda = vec![Vec3::ZERO; p.contacts()];
                lambda[c].x = push;
                p.j.mul_t_add(&lambda, &mut v);
                (0..p.a.block_rows()).for_each(|i| p.divide_block(i, &mut v));
                p.j.mul_one(c, &v).x
            };
            (0..p.contacts()).flat_map(|c| [fall(c, 0.0), fall(c, 1.0)]).collect::<Vec<_>>()
        };
        for (a, b) in normals(&p).iter().zip(normals(&q)) {
            assert!((a - b).abs() < 1e-13, "{a} {b}");
        }
    }

    #[test]
    fn duplicates_repeat_every_contact() {
        let p = duplicated(&incline(0.1, 0.5), 4);
        assert_eq!(p.contacts(), 16);
        assert_eq!(p.j.terms(0), p.j.terms(3));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_deviation_one() {
        let mut rng = Rng::new(3);
        let x: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04);
    }
}
