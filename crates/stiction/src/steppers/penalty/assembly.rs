//! Sums of forces with their exact derivatives by configuration and velocity.

use crate::coords::{Anchor, BodyId, NodeId, Part, State};
use crate::kinematics::{BodyFrame, Kinematics};
use crate::linalg::dual::DualVec;
use crate::linalg::{BlockMat, Mat3, Vec3, skew};
use crate::model::{Model, Owner};

/// f, ∂f/∂q (world turns of rigid bodies) and ∂f/∂v.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// Generalised forces: force and moment about the centre of mass, or force on a node.
    pub f: Vec<f64>,
    /// ∂f/∂q.
    pub fq: BlockMat,
    /// ∂f/∂v.
    pub fv: BlockMat,
    /// Sum of |f| over all that was added [N]: the size of what cancels.
    pub size: f64,
    /// Matrices are wanted.
    pub matrices: bool,
}

/// Where an owner is and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Block and first dof, where it has any.
    pub dofs: Option<(usize, usize)>,
    /// It turns.
    pub rigid: bool,
    /// Centre of mass [m].
    pub x: Vec3,
    /// Orientation.
    pub r: Mat3,
    /// Velocity [m/s].
    pub v: Vec3,
    /// Spin [rad/s].
    pub w: Vec3,
}

impl Frame {
    /// Of an owner; bodies without dofs are where their path says.
    pub fn of(kin: Kinematics<'_>, owner: Owner) -> Frame {
        Frame::find(kin.model, kin.state, owner, |b| *kin.body(b))
    }

    /// Of an owner at a state of which it alone is asked.
    pub fn at(model: &Model, state: &State, owner: Owner) -> Frame {
        Frame::find(model, state, owner, |b| BodyFrame::at(model, state, b))
    }

    fn find(model: &Model, state: &State, owner: Owner, body: impl Fn(BodyId) -> BodyFrame) -> Frame {
        match owner {
            Owner::Body(id) => Frame::of_frame(model, id, &body(id)),
            Owner::Node(NodeId(n)) => {
                let n = &model.nodes[n as usize];
                Frame {
                    dofs: Some((n.block, n.dof)),
                    rigid: false,
                    x: Vec3::from_slice(&state.q[n.q..]),
                    r: Mat3::IDENTITY,
                    v: Vec3::from_slice(&state.v[n.dof..]),
                    w: Vec3::ZERO,
                }
            }
            Owner::Solid(_) => Frame::WORLD,
        }
    }

    /// Of a body.
    pub fn of_body(kin: Kinematics<'_>, id: BodyId) -> Frame {
        Frame::of_frame(kin.model, id, kin.body(id))
    }

    fn of_frame(model: &Model, id: BodyId, &BodyFrame { com: pose, v, w }: &BodyFrame) -> Frame {
        let b = &model.bodies[id.index()];
        let r = Mat3::from_quat(pose.rotation);
        Frame { dofs: b.block.map(|k| (k, b.dof)), rigid: true, x: pose.translation, r, v, w }
    }

    /// What never moves.
    pub const WORLD: Frame =
        Frame { dofs: None, rigid: false, x: Vec3::ZERO, r: Mat3::IDENTITY, v: Vec3::ZERO, w: Vec3::ZERO };

    /// How many variables it has: position, turn, velocity, spin.
    pub fn variables(&self) -> usize {
        match (self.dofs, self.rigid) {
            (None, _) => 0,
            (Some(_), false) => 6,
            (Some(_), true) => 12,
        }
    }

    /// The frame with its variables at `at`.
    pub fn dual<const N: usize>(&self, at: usize) -> DualFrame<N> {
        let place = |k: usize| self.dofs.map(|_| at + k);
        let turn = if self.rigid { place(3) } else { None };
        DualFrame {
            x: DualVec::variable(self.x, place(0)),
            turn,
            v: DualVec::variable(self.v, place(if self.rigid { 6 } else { 3 })),
            w: DualVec::variable(self.w, if self.rigid { place(9) } else { None }),
        }
    }
}

/// A frame whose numbers carry derivatives.
#[derive(Clone, Copy, Debug)]
pub struct DualFrame<const N: usize> {
    /// Centre of mass.
    pub x: DualVec<N>,
    /// Where the variables of its turn begin.
    pub turn: Option<usize>,
    /// Velocity.
    pub v: DualVec<N>,
    /// Spin.
    pub w: DualVec<N>,
}

impl<const N: usize> DualFrame<N> {
    /// A vector of the body, given in world axes.
    pub fn turned(&self, v: Vec3) -> DualVec<N> {
        DualVec::constant(v).turned(self.turn, 1.0)
    }

    /// The same for one that depends on variables itself.
    pub fn turned_vec(&self, v: &DualVec<N>) -> DualVec<N> {
        v.turned(self.turn, 1.0)
    }

    /// A world vector as the body sees it, in the axes that it has now.
    pub fn turned_back(&self, v: &DualVec<N>) -> DualVec<N> {
        v.turned(self.turn, -1.0)
    }
}

/// A material point with the columns that move it.
#[derive(Clone, Copy, Debug)]
pub enum Point {
    /// Moves as prescribed.
    Fixed,
    /// A node.
    Node {
        /// Its block.
        block: usize,
        /// First dof.
        dof: usize,
    },
    /// A point of a rigid body.
    Rigid {
        /// Its block.
        block: usize,
        /// First dof.
        dof: usize,
        /// From the centre of mass [m].
        arm: Vec3,
        /// Spin of the body [rad/s].
        spin: Vec3,
    },
}

impl Point {
    /// Of an anchor that is a node, a point of a body or of the world.
    pub fn of(kin: Kinematics<'_>, anchor: &Anchor) -> Point {
        let at = |dof: u32| dof as usize;
        match (kin.part(anchor), *anchor) {
            (Some(Part::Node { block, dof, .. }), _) => Point::Node { block: at(block), dof: at(dof) },
            (Some(Part::Rigid { block, dof, arm, .. }), Anchor::Body { body, .. }) => {
                Point::Rigid { block: at(block), dof: at(dof), arm, spin: kin.body(body).w }
            }
            _ => Point::Fixed,
        }
    }
}

impl Assembly {
    /// Of a pattern.
    pub fn new(pattern: BlockMat) -> Assembly {
        Assembly { f: vec![0.0; pattern.rows()], fv: pattern.clone(), fq: pattern, size: 0.0, matrices: true }
    }

    /// Starts again.
    pub fn clear(&mut self, matrices: bool) {
        self.f.fill(0.0);
        self.size = 0.0;
        self.matrices = matrices;
        if matrices {
            self.fq.clear();
            self.fv.clear();
        }
    }

    /// Adds three numbers to f.
    pub fn add(&mut self, dof: usize, f: Vec3) {
        self.size += f.x.abs() + f.y.abs() + f.z.abs();
        for k in 0..3 {
            self.f[dof + k] += f[k];
        }
    }

    /// Adds the force `f` on a point, and how its moment changes as the arm turns.
    pub fn add_force(&mut self, p: &Point, f: Vec3) {
        match *p {
            Point::Fixed => {}
            Point::Node { dof, .. } => self.add(dof, f),
            Point::Rigid { block, dof, arm, .. } => {
                self.add(dof, f);
                self.add(dof + 3, arm.cross(f));
                if self.matrices {
                    add_part(&mut self.fq, (block, 1), (block, 1), &(skew(f) * skew(arm)));
                }
            }
        }
    }

    /// Adds what the motion of point `b` does to the force on point `a`: ∂f/∂x = `k`, ∂f/∂v = `d`.
    pub fn add_pair(&mut self, a: &Point, b: &Point, k: &Mat3, d: &Mat3) {
        if !self.matrices {
            return;
        }
        if let (Point::Node { block: i, .. }, Point::Node { block: j, .. }) = (a, b) {
            // Nearly all pairs: one search, three by three.
            let e = self.fq.entry(*i, *j).expect("the pattern holds every coupling");
            add_transposed(self.fq.entry_mut(e), k);
            if *d != Mat3::ZERO {
                add_transposed(self.fv.entry_mut(e), d);
            }
            return;
        }
        let rows: &[(usize, usize, Mat3)] = match *a {
            Point::Fixed => return,
            Point::Node { block, .. } => &[(block, 0, Mat3::IDENTITY)],
            Point::Rigid { block, arm, .. } => &[(block, 0, Mat3::IDENTITY), (block, 1, skew(arm))],
        };
        for (block_a, part_a, m) in rows {
            let row = (*block_a, *part_a);
            match *b {
                Point::Fixed => {}
                Point::Node { block, .. } => {
                    add_part(&mut self.fq, row, (block, 0), &(*m * *k));
                    if *d != Mat3::ZERO {
                        add_part(&mut self.fv, row, (block, 0), &(*m * *d));
                    }
                }
                Point::Rigid { block, arm, spin, .. } => {
                    let cross = -skew(arm);
                    add_part(&mut self.fq, row, (block, 0), &(*m * *k));
                    add_part(&mut self.fv, row, (block, 0), &(*m * *d));
                    add_part(&mut self.fq, row, (block, 1), &(*m * (*k * cross + *d * skew(spin) * cross)));
                    add_part(&mut self.fv, row, (block, 1), &(*m * *d * cross));
                }
            }
        }
    }

    /// Adds force and moment on each of some frames, with derivatives by the variables of all of them.
    pub fn add_dual<const N: usize>(&mut self, sides: &[(Frame, usize, DualVec<N>, DualVec<N>)]) {
        for (frame, _, force, moment) in sides {
            let Some((block, dof)) = frame.dofs else { continue };
            self.add(dof, force.value());
            if frame.rigid {
                self.add(dof + 3, moment.value());
            }
            if !self.matrices {
                continue;
            }
            for (other, at, ..) in sides {
                let Some((column, _)) = other.dofs else { continue };
                let (parts, speed) = if other.rigid { (2, 6) } else { (1, 3) };
                for (row, vec) in [(0, force), (1, moment)].into_iter().take(if frame.rigid { 2 } else { 1 })
                {
                    for part in 0..parts {
                        let m = |from: usize| {
                            let c = |k: usize| vec.by(at + from + 3 * part + k);
                            Mat3::from_cols(c(0), c(1), c(2))
                        };
                        add_part(&mut self.fq, (block, row), (column, part), &m(0));
                        add_part(&mut self.fv, (block, row), (column, part), &m(speed));
                    }
                }
            }
        }
    }
}

/// Adds a 3×3 matrix to a part (0: translation or node, 1: rotation) of a block.
pub fn add_part(m: &mut BlockMat, (i, ri): (usize, usize), (j, cj): (usize, usize), x: &Mat3) {
    let width = m.block(j).1;
    let block = m.block_mut(i, j).expect("the pattern holds every coupling");
    for r in 0..3 {
        for c in 0..3 {
            block[(3 * ri + r) * width + 3 * cj + c] += x.col(c)[r];
        }
    }
}

/// Adds a matrix of columns to nine numbers of rows.
fn add_transposed(block: &mut [f64], x: &Mat3) {
    for r in 0..3 {
        for c in 0..3 {
            block[3 * r + c] += x.col(c)[r];
        }
    }
}
