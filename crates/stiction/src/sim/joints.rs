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

use crate::contact::bodies::Bodies;
use crate::contact::delassus::Delassus;
use crate::contact::{Bounds, ContactProblem, Law, Term};
use crate::coords::{BodyId, Pose, State};
use crate::integrate::{Scheme, Weights};
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::scene::{JointPlace, JointRow, Measure, Model, ModelJoint, Role, Target};
use std::f64::consts::TAU;

/// Errors below this share of a joint's size are rounding.
const CLOSED: f64 = 1e-12;
/// Another solve must bring the errors at least to this share of what they were; else they are left to the projection.
const WORTH: f64 = 0.5;
/// Most Newton steps of the projection.
const MOST_PROJECTIONS: usize = 8;
/// Proximal shift of the projection: loops of hinges say some things twice.
const SHIFT: f64 = 1e-7;
/// A body that taut joints would turn by more than this within a step (h² f·r/I, squared frequency times h²) gets their
/// stiffness: explicit arms are unstable from 4 on.
const TAUT: f64 = 0.25;

/// What joints carry from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
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

/// Rows of one block, ready for the problem.
struct Rows {
    frame: Mat3,
    bias: Vec3,
    softness: Vec3,
    bounds: Bounds,
}

impl Rows {
    const EMPTY: Rows =
        Rows { frame: Mat3::ZERO, bias: Vec3::ZERO, softness: Vec3::ZERO, bounds: Bounds::NONE };

    /// Sets row `i` to measure `n`.
    fn set(&mut self, i: usize, n: Vec3, lo: f64, hi: f64) {
        for k in 0..3 {
            self.frame.col_mut(k)[i] = n[k];
        }
        self.bounds = self.bounds.with_row(i, lo, hi);
    }
}

impl Joints {
    pub fn new(model: &Model) -> Joints {
        let blocks = model.joints.iter().map(|j| j.blocks.len()).sum();
        let mut rigid = ContactProblem::default();
        if blocks > 0 {
            rigid.a = BlockMat::block_diagonal(&model.layout);
            rigid.b = vec![0.0; model.layout.nv()];
        }
        let memory = JointMemory {
            force: vec![Vec3::ZERO; blocks],
            curvature: vec![Vec3::ZERO; blocks],
            angle: vec![0.0; model.joints.len()],
            reaction: vec![(Vec3::ZERO, Vec3::ZERO); model.joints.len()],
        };
        Joints { memory, rigid, ..Joints::default() }
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

    pub fn set_memory(&mut self, memory: JointMemory) {
        self.memory = memory;
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
        model: &Model,
        state: &State,
        scheme: Scheme,
        p: &mut ContactProblem,
        lambda: &mut Vec<Vec3>,
    ) {
        let (h, w) = (p.h, scheme.weights(p.h));
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            let place = j.place(j.poses(model, state));
            // What bodies without columns do to the joint within the step.
            let driven = j.place(poses_at(j, model, state, state.t + h));
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                let mut rows = Rows::EMPTY;
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row else { continue };
                    let (x, n) = self.measure(i, &place, row.measure);
                    let drift = (self.measure(i, &driven, row.measure).0 - x) / h;
                    rows.add(k, j, row, x, n, drift, length, state.t, h, w);
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
        model: &Model,
        ahead: &State,
        p: &mut ContactProblem,
        first: usize,
        v: &[f64],
        lambda: &[Vec3],
        last: &mut f64,
    ) -> bool {
        let mut worst = 0.0_f64;
        let mut at = first;
        let mut change = std::mem::take(&mut self.dy);
        change.clear();
        for (i, j) in model.joints.iter().enumerate() {
            let place = j.place(j.poses(model, ahead));
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

    /// Midpoint: adds to `b` what the joints did in the move, and to `end` the rows that hold at its end, in the state
    /// `ahead`. In the move every row gave the first half of its impulse, where the bodies were at the start; springs
    /// give the same again, all others what their law asks for at the end velocity. (At the velocity of the middle a firm
    /// hold would reverse what it holds at every step.)
    pub fn fill_end(
        &self,
        model: &Model,
        ahead: &State,
        moved: (&ContactProblem, &[Vec3], usize),
        end: &mut ContactProblem,
        lambda: &mut Vec<Vec3>,
    ) {
        let (p, given, first) = moved;
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            let place = j.place(j.poses(model, ahead));
            let driven = driven_rates(j, model, ahead, &place);
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                let mut rows = Rows::EMPTY;
                let (mut springs, half) = (Vec3::ZERO, given[first + at]);
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row else { continue };
                    let (x, n) = self.measure(i, &place, row.measure);
                    let n = row.role.sign() * n;
                    rows.bias[k] = length * n.dot(if block.spin { driven.1 } else { driven.0 });
                    let most = match row.role {
                        Role::Pull(..) => {
                            springs[k] = half[k];
                            continue;
                        }
                        Role::Lower(_) | Role::Upper(_) if half[k] <= 0.0 => continue,
                        Role::Hold(_) => (f64::NEG_INFINITY, f64::INFINITY),
                        Role::Lower(_) | Role::Upper(_) => (0.0, f64::INFINITY),
                        Role::Friction(f) => (-f * p.h / length, f * p.h / length),
                        Role::Drive => {
                            rows.drive(k, j, x, n, rows.bias[k] / length, length, (ahead.t, p.h, 1.0 / p.h));
                            rows.bias[k] += rows.softness[k] * half[k];
                            (rows.bounds.lo[k], rows.bounds.hi[k])
                        }
                    };
                    rows.set(k, n, most.0 - half[k], most.1 - half[k]);
                }
                let frame = p.j.frame[first + at].transpose();
                for t in p.j.terms(first + at) {
                    t.add_impulse(frame * half, &mut end.b);
                }
                // The second half of a spring is the same force where the bodies are then.
                for t in terms(j, model, &place, block.spin) {
                    t.add_impulse(frame * springs, &mut end.b);
                }
                end.j.push(rows.frame, terms(j, model, &place, block.spin));
                end.bias.push(rows.bias);
                end.softness.push(rows.softness);
                end.law.push(Law::Rows(rows.bounds));
                lambda.push(rows.bounds.clamp(half));
                at += 1;
            }
        }
    }

    /// Midpoint: the forces of the whole step, from the multipliers of the move and those of the end (block `first_end`
    /// on).
    pub fn collect_end(
        &mut self,
        model: &Model,
        moved: (&ContactProblem, &[Vec3], usize),
        end: (&ContactProblem, &[Vec3], usize),
    ) {
        let ((p, half, first), (e, last, first_end)) = (moved, end);
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            self.memory.reaction[i] = (Vec3::ZERO, Vec3::ZERO);
            for block in &j.blocks {
                let (mut before, after) = (half[first + at], last[first_end + at]);
                for (k, row) in block.rows.iter().enumerate() {
                    if matches!(row, Some(JointRow { role: Role::Pull(..), .. })) {
                        before[k] *= 2.0;
                    }
                }
                self.memory.force[at] = (before + after) / p.h;
                let world = p.j.frame[first + at].transpose() * before
                    + e.j.frame[first_end + at].transpose() * after;
                self.react(i, j, block.spin, world / p.h);
                at += 1;
            }
        }
    }

    /// Moves the free bodies so that all equations hold to rounding, each as little as its mass asks for. Returns the
    /// largest error left [m]; angles count by the joint's length.
    pub fn project(&mut self, model: &Model, state: &mut State) -> f64 {
        let mut left = self.errors(model, state);
        for _ in 0..MOST_PROJECTIONS {
            if left.0 <= CLOSED || !self.solve_rigid(model, state) {
                break;
            }
            state.retract(&model.layout, &self.d);
            let now = self.errors(model, state);
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
    fn errors(&mut self, model: &Model, state: &State) -> (f64, f64) {
        let mut p = std::mem::take(&mut self.rigid);
        p.clear_rows();
        let (mut relative, mut largest) = (0.0_f64, 0.0_f64);
        for (i, j) in model.joints.iter().enumerate() {
            let place = j.place(j.poses(model, state));
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

    /// Counts full turns: call once at the end of each step.
    pub fn count_turns(&mut self, model: &Model, state: &State) {
        for (i, j) in model.joints.iter().enumerate() {
            let place = j.place(j.poses(model, state));
            self.memory.angle[i] = unwound(place.measure(Measure::Twist).0, self.memory.angle[i]);
        }
    }

    /// Finds the stiffness that taut joints give to the turning of their bodies, α_q/α_a · f·r (I − r rᵀ/r²) for a force
    /// `f` of the last step at the arm `r`, where explicit arms would be unstable (a light chain under a heavy load).
    /// That makes arms implicit, as implicit Euler or the midpoint rule would have them.
    pub fn find_stiffness(&mut self, model: &Model, state: &State, h: f64, w: Weights) {
        let mut taut = std::mem::take(&mut self.taut);
        taut.clear();
        let mut add = |id: BodyId, arm: Vec3, force: Vec3| {
            let body = &model.bodies[id.index()];
            let Some(block) = body.block else { return };
            // Mean inertia across the arm.
            let (out, pull) = (arm.normalize_or_zero(), force.dot(arm));
            let inertia = body.world_inertia(state.rigid_pose(body.q).rotation);
            if h * h * pull > TAUT * 0.5 * (body.moments.element_sum() - out.dot(inertia * out)) {
                let across = Mat3::IDENTITY - Mat3::from_cols(out * out.x, out * out.y, out * out.z);
                taut.push((block, (w.q / w.a) * pull * across));
            }
        };
        for (i, j) in model.joints.iter().enumerate() {
            let place = j.place(j.poses(model, state));
            let force = self.memory.reaction[i].0;
            add(j.b, place.anchor_b - place.centre_b, force);
            if let Some(id) = j.a {
                add(id, place.anchor_b - place.centre_a, -force);
            }
        }
        self.taut = taut;
    }

    /// Adds `times` what [`find_stiffness`](Joints::find_stiffness) found to `a`.
    pub fn add_stiffness(&self, a: &mut BlockMat, times: f64) {
        for (block, k) in &self.taut {
            let m = a.diagonal_block_mut(*block);
            for r in 0..3 {
                for c in 0..3 {
                    m[6 * (3 + r) + 3 + c] += times * k.col(c)[r];
                }
            }
        }
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

    /// Position [m or rad] and rate of the free direction of joint `i`; zeros where it has none.
    pub fn coordinate(&self, model: &Model, state: &State, i: usize) -> (f64, f64) {
        let j = &model.joints[i];
        let Some(m) = j.coordinate() else { return (0.0, 0.0) };
        let place = j.place(j.poses(model, state));
        let (x, n) = self.measure(i, &place, m);
        let of = |id: BodyId| model.com_velocity(state, id);
        let ((va, wa), (vb, wb)) = (j.a.map_or((Vec3::ZERO, Vec3::ZERO), of), of(j.b));
        let rate = match m {
            Measure::Twist => wb - wa,
            _ => {
                let at = place.anchor_b;
                vb + wb.cross(at - place.centre_b) - va - wa.cross(at - place.centre_a)
            }
        };
        (x, n.dot(rate))
    }
}

impl Rows {
    /// Row `k`: what it measures now (`x`, direction `n`), and its drift by bodies without columns.
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        k: usize,
        j: &ModelJoint,
        row: &JointRow,
        x: f64,
        n: Vec3,
        drift: f64,
        length: f64,
        t: f64,
        h: f64,
        w: Weights,
    ) {
        let sign = row.role.sign();
        let (n, drift) = (sign * n, sign * drift);
        let (inf, gap) = (f64::INFINITY, row.role.gap(x));
        let (mut bias, mut softness) = (drift, 0.0);
        match row.role {
            Role::Hold(_) => {
                bias = gap / h + drift;
                self.set(k, n, -inf, inf);
            }
            Role::Lower(_) | Role::Upper(_) => {
                bias = gap / h + drift;
                self.set(k, n, 0.0, inf);
            }
            Role::Friction(f) => self.set(k, n, -f / (w.a * length), f / (w.a * length)),
            Role::Pull(_, s) => {
                let d = w.q * s.stiffness + s.damping;
                (bias, softness) = (drift + s.stiffness * gap / d, w.a / d);
                self.set(k, n, -inf, inf);
            }
            Role::Drive => return self.drive(k, j, x, n, drift, length, (t, h, w.a)),
        }
        self.bias[k] = length * bias;
        self.softness[k] = length * length * softness;
    }

    /// Row `k` of a motor at position `x` and time `t`: the PD law at `t + h`, whatever the scheme, with forces that are
    /// `force` per multiplier.
    #[allow(clippy::too_many_arguments)]
    fn drive(
        &mut self,
        k: usize,
        j: &ModelJoint,
        x: f64,
        n: Vec3,
        drift: f64,
        length: f64,
        (t, h, force): (f64, f64, f64),
    ) {
        let Some(m) = &j.motor else { return };
        let (error, rate) = match &m.target {
            Target::Position(path) => (x - path.value(t + h), (path.value(t + h) - path.value(t)) / h),
            Target::Velocity(path) => (0.0, path.value(t + h)),
        };
        let d = h * m.stiffness + m.damping;
        self.bias[k] = length * (drift + (m.stiffness * error - m.damping * rate) / d);
        self.softness[k] = length * length * force / d;
        let most = m.limit / (force * length);
        self.set(k, n, -most, most);
    }
}

/// Columns of both sides; they meet at the anchor of b.
fn terms(
    j: &ModelJoint,
    model: &Model,
    place: &JointPlace,
    spin: bool,
) -> impl Iterator<Item = Term> + use<> {
    let side = |id: BodyId, centre: Vec3, sign: f64| {
        let body = &model.bodies[id.index()];
        body.block.map(|block| {
            let (block, dof) = (block as u32, body.dof as u32);
            if spin {
                Term::Spin { block, dof, length: sign * j.length }
            } else {
                Term::Rigid { block, dof, sign, arm: place.anchor_b - centre }
            }
        })
    };
    let a = j.a.and_then(|a| side(a, place.centre_a, -1.0));
    side(j.b, place.centre_b, 1.0).into_iter().chain(a)
}

/// Poses of both sides with bodies that move as prescribed where they are at time `t`.
fn poses_at(j: &ModelJoint, model: &Model, state: &State, t: f64) -> [Pose; 2] {
    let pose = |id: BodyId| {
        let b = &model.bodies[id.index()];
        if b.block.is_some() {
            return state.rigid_pose(b.q);
        }
        let mut pose = b.motion.pose_at(&b.start, t);
        pose.translation += pose.rotation * b.com;
        pose
    };
    [j.a.map_or(Pose::IDENTITY, pose), pose(j.b)]
}

/// Velocity at the anchor and ω of b relative to a, of what bodies without columns do.
fn driven_rates(j: &ModelJoint, model: &Model, state: &State, place: &JointPlace) -> (Vec3, Vec3) {
    let of = |id: Option<BodyId>, centre: Vec3| match id {
        Some(id) if model.bodies[id.index()].block.is_none() => {
            let (v, w) = model.com_velocity(state, id);
            (v + w.cross(place.anchor_b - centre), w)
        }
        _ => (Vec3::ZERO, Vec3::ZERO),
    };
    let ((va, wa), (vb, wb)) = (of(j.a, place.centre_a), of(Some(j.b), place.centre_b));
    (vb - va, wb - wa)
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

/// The angle `x` plus full turns, nearest to `near`.
fn unwound(x: f64, near: f64) -> f64 {
    x + TAU * ((near - x) / TAU).round()
}
