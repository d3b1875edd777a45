//! Closing the last bits: a small motion of all joined bodies that makes every equation hold to rounding.

use super::rows::{Rows, terms};
use super::{CLOSED, Joints};
use crate::contact::Law;
use crate::contact::delassus::Delassus;
use crate::coords::State;
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::model::{JointRow, Model, Role};

/// Most Newton steps of the projection.
const MOST_PROJECTIONS: usize = 8;
/// Proximal shift of the projection: loops of hinges say some things twice.
const SHIFT: f64 = 1e-7;

impl Joints {
    /// Moves the free bodies so that all equations hold to rounding, each as little as its mass asks for. Returns the
    /// largest error left [m]; angles count by the joint's length.
    pub fn project(&mut self, model: &Model, at: &mut Placement) -> f64 {
        let mut left = self.errors(at.kinematics(model));
        for _ in 0..MOST_PROJECTIONS {
            if left.0 <= CLOSED || !self.solve_rigid(model, &at.state) {
                break;
            }
            at.state.retract(&model.layout, &self.d);
            at.update(model);
            let now = self.errors(at.kinematics(model));
            let stuck = now.0 > 0.9 * left.0;
            left = now;
            if stuck {
                break;
            }
        }
        left.1
    }

    /// Largest error of the equations at a state, relative to the sizes of the joints and in metres. Leaves the rows
    /// and errors in `rigid`.
    fn errors(&mut self, kin: Kinematics<'_>) -> (f64, f64) {
        let model = kin.model;
        let mut p = std::mem::take(&mut self.rigid);
        p.clear_rows();
        let (mut relative, mut largest) = (0.0_f64, 0.0_f64);
        for (i, j) in model.joints.iter().enumerate() {
            let place = kin.joint(j);
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                let mut rows = Rows::EMPTY;
                let mut any = false;
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(JointRow { measure, role: role @ Role::Hold(_) }) = *row else { continue };
                    let (x, n) = self.measure(i, &place, measure);
                    rows.set(k, n, f64::NEG_INFINITY, f64::INFINITY);
                    rows.bias[k] = length * role.gap(x);
                    largest = largest.max(rows.bias[k].abs());
                    relative = relative.max(rows.bias[k].abs() / j.size);
                    any = true;
                }
                if any {
                    p.j.push(rows.frame, terms(j, model, &place, block.spin));
                    p.bias.push(rows.bias);
                    p.softness.push(Vec3::ZERO);
                    p.law.push(Law::Rows(rows.bounds));
                }
            }
        }
        self.rigid = p;
        (relative, largest)
    }

    /// d = −A⁻¹ Jᵀ (J A⁻¹ Jᵀ)⁻¹ c of the rows in `rigid`; false when numbers run out.
    fn solve_rigid(&mut self, model: &Model, state: &State) -> bool {
        set_inertia(&mut self.rigid.a, model, state);
        let n = self.rigid.contacts();
        self.blocks.clear();
        self.blocks.extend(0..n as u32);
        if !self.bodies.prepare(&self.rigid, &self.blocks) {
            return false;
        }
        self.p.clear();
        self.p.extend((0..n).map(|c| {
            let used = Vec3::from_array(std::array::from_fn(|k| {
                if self.rigid.j.frame[c].row(k) == Vec3::ZERO { 0.0 } else { 1.0 }
            }));
            Mat3::from_diagonal(used / (SHIFT * self.bodies.scale(c)))
        }));
        if !self.bodies.factor(&self.p) {
            return false;
        }
        self.rigid.bias.iter_mut().for_each(|c| *c = -*c);
        self.d.clear();
        self.d.resize(model.layout.nv(), 0.0);
        self.bodies.solve_motion(&self.rigid.bias, &mut self.d);
        self.d.iter().all(|x| x.is_finite())
    }
}

/// Writes mass and inertia of all free bodies at a state into the diagonal of `a`.
pub fn set_inertia(a: &mut BlockMat, model: &Model, state: &State) {
    for b in &model.bodies {
        let Some(block) = b.block else { continue };
        let inertia = b.world_inertia(state.rigid_pose(b.q).rotation);
        let m = a.diagonal_block_mut(block);
        for k in 0..3 {
            m[7 * k] = b.mass;
            for l in 0..3 {
                m[6 * (3 + k) + 3 + l] = inertia.col(l)[k];
            }
        }
    }
}

/// Turns the inertia of all free bodies in `a` from one state to another.
pub fn turn_inertia(a: &mut BlockMat, model: &Model, from: &State, to: &State) {
    for b in &model.bodies {
        let Some(block) = b.block else { continue };
        let inertia = |s: &State| b.world_inertia(s.rigid_pose(b.q).rotation);
        let change = inertia(to) - inertia(from);
        let m = a.diagonal_block_mut(block);
        for k in 0..3 {
            for l in 0..3 {
                m[6 * (3 + k) + 3 + l] += change.col(l)[k];
            }
        }
    }
}
