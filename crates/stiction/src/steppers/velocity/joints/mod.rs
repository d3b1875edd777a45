//! Joints in the step: their rows in the contact problem, what carries over, and positions that stay exact.
//!
//! Rigid rows (equations and stops) hold at the *end* of the step: `c(q⁺) = 0`. The first solve linearises,
//! `J(q) v + c(q)/h = 0`; what curvature leaves is put into the bias, and the problem is solved again
//! ([`Joints::relinearize`]). Impulses act along `J(q)ᵀ`, so that this is SHAKE with contacts inside (Ryckaert et al.
//! 1977), and with the end velocity of the midpoint scheme RATTLE (Andersen 1983): no energy is lost in a turn. The last
//! bits are closed by a small mass-weighted projection ([`Joints::project`]).
//!
//! Springs are rows with softness: with the weights α of the scheme
//! `λ = −(k (c + α_q u) + d u)/α_a ⇔ u + k c/(α_q k + d) + λ α_a/(α_q k + d) = 0`. Motors are the same with α_q = h
//! and bounded by ± limit/α_a.

mod end;
mod probe;
mod project;
mod rows;
mod taut;

pub use probe::EndRow;
pub use project::{set_inertia, turn_inertia};

use crate::contact::delassus::bodies::Bodies;
use crate::contact::{ContactProblem, Law};
use crate::coords::BodyId;
use crate::integrate::Scheme;
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::model::{Controls, JointPlace, JointRow, Measure, Model, ModelJoint, Role};
use rows::{Rows, poses_at, terms};
use std::f64::consts::TAU;

/// Errors below this share of a joint's size are rounding.
const CLOSED: f64 = 1e-12;
/// Another solve must bring the errors at least to this share of what they were; else they are left to the projection.
const WORTH: f64 = 0.5;

/// What joints carry from step to step.
#[derive(Debug, Default, PartialEq)]
pub struct JointMemory {
    /// Force of each row [N], by block.
    pub force: Vec<Vec3>,
    /// What curvature added to the bias of each row [m/s], by block.
    pub curvature: Vec<Vec3>,
    /// Angle of each joint about its axis, counted through full turns [rad].
    pub angle: Vec<f64>,
    /// Force [N] and moment about the anchor [N·m] of each joint on its body b, world axes.
    pub reaction: Vec<(Vec3, Vec3)>,
}

impl JointMemory {
    /// Of a model, unloaded.
    pub fn new(model: &Model) -> JointMemory {
        let blocks = model.joints.iter().map(|j| j.blocks.len()).sum();
        JointMemory {
            force: vec![Vec3::ZERO; blocks],
            curvature: vec![Vec3::ZERO; blocks],
            angle: vec![0.0; model.joints.len()],
            reaction: vec![(Vec3::ZERO, Vec3::ZERO); model.joints.len()],
        }
    }
}

impl Clone for JointMemory {
    fn clone(&self) -> JointMemory {
        let mut memory = JointMemory::default();
        memory.clone_from(self);
        memory
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, other: &JointMemory) {
        self.force.clone_from(&other.force);
        self.curvature.clone_from(&other.curvature);
        self.angle.clone_from(&other.angle);
        self.reaction.clone_from(&other.reaction);
    }
}

/// The joints of a model in the step; owns every buffer they need.
#[derive(Default)]
pub struct Joints {
    memory: JointMemory,
    /// Rigid rows alone, for the projection.
    rigid: ContactProblem,
    bodies: Bodies,
    /// Stiffness of taut joints [kg·m²], by block of the body.
    taut: Vec<(usize, Mat3)>,
    blocks: Vec<u32>,
    p: Vec<Mat3>,
    dy: Vec<Vec3>,
    d: Vec<f64>,
}

impl Joints {
    pub fn new(model: &Model) -> Joints {
        let mut rigid = ContactProblem::default();
        if model.joints.iter().any(|j| !j.blocks.is_empty()) {
            rigid.a = BlockMat::block_diagonal(&model.layout.widths());
            rigid.b = vec![0.0; model.layout.nv()];
        }
        Joints { memory: JointMemory::new(model), rigid, ..Joints::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.memory.force.is_empty()
    }

    /// True before the first step.
    pub fn are_unloaded(&self) -> bool {
        !self.is_empty() && self.memory.force.iter().all(|f| *f == Vec3::ZERO)
    }

    pub fn memory(&self) -> &JointMemory {
        &self.memory
    }

    /// Exchanges what carries over with that of a world.
    pub fn exchange(&mut self, memory: &mut JointMemory) {
        std::mem::swap(&mut self.memory, memory);
    }

    /// Value of a measure of joint `i` and its direction, angles counted through full turns.
    fn measure(&self, i: usize, place: &JointPlace, m: Measure) -> (f64, Vec3) {
        let (x, n) = place.measure(m);
        match m {
            Measure::Twist => (unwound(x, self.memory.angle[i]), n),
            _ => (x, n),
        }
    }

    /// Adds the rows of all joints to `p`, and the multipliers of the last step to `lambda`.
    pub fn fill(
        &self,
        kin: Kinematics<'_>,
        controls: &Controls,
        scheme: Scheme,
        p: &mut ContactProblem,
        lambda: &mut Vec<Vec3>,
    ) {
        let Kinematics { model, state, .. } = kin;
        let (h, w) = (p.h, scheme.weights(p.h));
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            let place = kin.joint(j);
            // What bodies without columns do to the joint within the step.
            let driven = j.place(poses_at(j, kin, state.t + h));
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                let mut rows = Rows::EMPTY;
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row else { continue };
                    let (x, n) = self.measure(i, &place, row.measure);
                    let drift = (self.measure(i, &driven, row.measure).0 - x) / h;
                    rows.add(k, j, row, x, n, drift, length, controls.motor(i), state.t, h, w);
                    if row.role.is_rigid() {
                        rows.bias[k] += self.memory.curvature[at][k];
                    }
                }
                p.j.push(rows.frame, terms(j, model, &place, block.spin));
                p.bias.push(rows.bias);
                p.softness.push(rows.softness);
                p.law.push(Law::Rows(rows.bounds));
                lambda.push(rows.bounds.clamp(self.memory.force[at] / p.force_per_lambda));
                at += 1;
            }
        }
    }

    /// Compares the rigid rows with where the velocities `v` lead: `ahead`, the state at the end of the step. Where they
    /// are off, puts the error into the bias and asks for another solve, as long as that gains. `first` is the block at
    /// which the joints start, `last` the largest error before, relative to the sizes of the joints.
    pub fn relinearize(
        &mut self,
        ahead: Kinematics<'_>,
        p: &mut ContactProblem,
        first: usize,
        v: &[f64],
        lambda: &[Vec3],
        last: &mut f64,
    ) -> bool {
        let model = ahead.model;
        let mut worst = 0.0_f64;
        let mut at = first;
        let mut change = std::mem::take(&mut self.dy);
        change.clear();
        for (i, j) in model.joints.iter().enumerate() {
            let place = ahead.joint(j);
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                let u = p.j.mul_one(at, v);
                let mut by = Vec3::ZERO;
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row.filter(|r| r.role.is_rigid()) else { continue };
                    let gap = length * row.role.gap(self.measure(i, &place, row.measure).0);
                    by[k] = gap / p.h - u[k] - p.bias[at][k];
                    // A stop that is open and stays open is as it should be.
                    if matches!(row.role, Role::Hold(_)) || gap < 0.0 || lambda[at][k] > 0.0 {
                        worst = worst.max(gap.abs() / j.size);
                    }
                }
                change.push(by);
                at += 1;
            }
        }
        let again = worst > CLOSED && worst < WORTH * *last;
        *last = worst;
        if again {
            for (b, by) in change.iter().enumerate() {
                p.bias[first + b] += *by;
                self.memory.curvature[b] += *by;
            }
        }
        self.dy = change;
        again
    }

    /// Keeps the multipliers of the step: forces for the next guess, reactions for sensors.
    pub fn collect(&mut self, model: &Model, p: &ContactProblem, lambda: &[Vec3], first: usize) {
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            self.memory.reaction[i] = (Vec3::ZERO, Vec3::ZERO);
            for block in &j.blocks {
                let force = lambda[first + at] * p.force_per_lambda;
                self.memory.force[at] = force;
                self.react(i, j, block.spin, p.j.frame[first + at].transpose() * force);
                at += 1;
            }
        }
    }

    fn react(&mut self, i: usize, j: &ModelJoint, spin: bool, force: Vec3) {
        let r = &mut self.memory.reaction[i];
        if spin {
            r.1 += j.length * force;
        } else {
            r.0 += force;
        }
    }

    /// Counts full turns at the end of a step.
    pub fn count_turns(&mut self, kin: Kinematics<'_>) {
        count_turns(kin, &mut self.memory);
    }

    /// What the rows of the joints leave to a motion that is not in the problem [m/s]: nothing for equations, springs
    /// and motors, the gap of stops.
    pub fn slack(&self, model: &Model, p: &ContactProblem, first: usize, v: &[f64], out: &mut Vec<Vec3>) {
        for (at, block) in (first..).zip(model.joints.iter().flat_map(|j| &j.blocks)) {
            let u = p.j.mul_one(at, v) + p.bias[at];
            let stop = |k: usize| match block.rows[k] {
                Some(JointRow { role: Role::Lower(_) | Role::Upper(_), .. }) => u[k].max(0.0),
                _ => 0.0,
            };
            out.push(Vec3::new(stop(0), stop(1), stop(2)));
        }
    }
}

/// Counts full turns of all joints: once at the end of each step, whichever stepper took it.
pub(crate) fn count_turns(kin: Kinematics<'_>, memory: &mut JointMemory) {
    for (joint, angle) in kin.model.joints.iter().zip(&mut memory.angle) {
        *angle = unwound(kin.joint(joint).measure(Measure::Twist).0, *angle);
    }
}

/// Position [m or rad] and rate of the free direction of joint `i`, angles counted through full turns; zeros where it has none.
pub(crate) fn coordinate(kin: Kinematics<'_>, memory: &JointMemory, i: usize) -> (f64, f64) {
    let j = &kin.model.joints[i];
    let Some(m) = j.coordinate() else { return (0.0, 0.0) };
    let place = kin.joint(j);
    let (x, n) = place.measure(m);
    let x = if m == Measure::Twist { unwound(x, memory.angle[i]) } else { x };
    let of = |id: BodyId| (kin.body(id).v, kin.body(id).w);
    let ((va, wa), (vb, wb)) = (j.a.map_or((Vec3::ZERO, Vec3::ZERO), of), of(j.b));
    let rate = match m {
        Measure::Twist => wb - wa,
        _ => {
            let at = place.anchor_b;
            let wb = if crate::mutant::on("slide-rate") { Vec3::ZERO } else { wb };
            vb + wb.cross(at - place.centre_b) - va - wa.cross(at - place.centre_a)
        }
    };
    (x, n.dot(rate))
}

/// The angle `x` plus full turns, nearest to `near`.
fn unwound(x: f64, near: f64) -> f64 {
    x + TAU * ((near - x) / TAU).round()
}
