//! What a row of a joint puts into the contact problem: direction, bias, softness, bounds and columns.

use crate::contact::{Bounds, Term};
use crate::coords::{BodyId, Part, Pose};
use crate::integrate::Weights;
use crate::kinematics::Kinematics;
use crate::linalg::{Mat3, Vec3};
use crate::model::{JointPlace, JointRow, Model, ModelJoint, Role};

/// Rows of one block, ready for the problem.
pub struct Rows {
    pub frame: Mat3,
    pub bias: Vec3,
    pub softness: Vec3,
    pub bounds: Bounds,
}

impl Rows {
    pub const EMPTY: Rows =
        Rows { frame: Mat3::ZERO, bias: Vec3::ZERO, softness: Vec3::ZERO, bounds: Bounds::NONE };

    /// Sets row `i` to measure `n`.
    pub fn set(&mut self, i: usize, n: Vec3, lo: f64, hi: f64) {
        for k in 0..3 {
            self.frame.col_mut(k)[i] = n[k];
        }
        self.bounds = self.bounds.with_row(i, lo, hi);
    }
}

impl Rows {
    /// Row `k`: what it measures now (`x`, direction `n`), and its drift by bodies without columns.
    #[allow(clippy::too_many_arguments)]
    pub fn add(
        &mut self,
        k: usize,
        j: &ModelJoint,
        row: &JointRow,
        x: f64,
        n: Vec3,
        drift: f64,
        length: f64,
        command: Option<f64>,
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
            Role::Friction(f) => {
                let length = if crate::mutant::on("hinge-friction-lever") { 1.0 } else { length };
                self.set(k, n, -f / (w.a * length), f / (w.a * length));
            }
            Role::Pull(_, s) => {
                let half = if crate::mutant::on("half-joint-damping") { 0.5 } else { 1.0 };
                let d = w.q * s.stiffness + half * s.damping;
                (bias, softness) = (drift + s.stiffness * gap / d, w.a / d);
                self.set(k, n, -inf, inf);
            }
            Role::Drive => return self.drive(k, j, x, n, drift, length, command, (t, h, w.a)),
        }
        self.bias[k] = length * bias;
        self.softness[k] = length * length * softness;
    }

    /// Row `k` of a motor at position `x` and time `t`, under a command or on its path: the PD law at `t + h`, whatever the scheme, with forces that are
    /// `force` per multiplier.
    #[allow(clippy::too_many_arguments)]
    pub fn drive(
        &mut self,
        k: usize,
        j: &ModelJoint,
        x: f64,
        n: Vec3,
        drift: f64,
        length: f64,
        command: Option<f64>,
        (t, h, force): (f64, f64, f64),
    ) {
        let Some(m) = &j.motor else { return };
        let (error, rate) = m.aim(x, command, t, h);
        let d = h * m.stiffness + m.damping;
        self.bias[k] = length * (drift + (m.stiffness * error - m.damping * rate) / d);
        self.softness[k] = length * length * force / d;
        let most = m.limit / (force * length);
        self.set(k, n, -most, most);
    }
}

/// Columns of both sides; they meet at the anchor of b.
pub fn terms(
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
                Term::Point(Part::Rigid { block, dof, weight: sign, arm: place.anchor_b - centre })
            }
        })
    };
    let a = j.a.and_then(|a| side(a, place.centre_a, -1.0));
    side(j.b, place.centre_b, 1.0).into_iter().chain(a)
}

/// Poses of both sides with bodies that move as prescribed where they are at time `t`.
pub fn poses_at(j: &ModelJoint, kin: Kinematics<'_>, t: f64) -> [Pose; 2] {
    let pose = |id: BodyId| match kin.model.is_free(id) {
        true => kin.body(id).com,
        false => kin.model.bodies[id.index()].path_pose(t),
    };
    [j.a.map_or(Pose::IDENTITY, pose), pose(j.b)]
}

/// Velocity at the anchor and ω of b relative to a, of what bodies without columns do.
pub fn driven_rates(j: &ModelJoint, kin: Kinematics<'_>, place: &JointPlace) -> (Vec3, Vec3) {
    let of = |id: Option<BodyId>, centre: Vec3| match id {
        Some(id) if !kin.model.is_free(id) => {
            let body = kin.body(id);
            (body.v + body.w.cross(place.anchor_b - centre), body.w)
        }
        _ => (Vec3::ZERO, Vec3::ZERO),
    };
    let ((va, wa), (vb, wb)) = (of(j.a, place.centre_a), of(Some(j.b), place.centre_b));
    (vb - va, wb - wa)
}
