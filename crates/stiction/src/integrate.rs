//! Integrators of the velocity family as affine maps with three weights.
//!
//! With the unknown `z`: `q⁺ = q ⊞ α_q z`, velocity `α_v z`, acceleration `α_a z + …`, so that
//! `A = M + (α_v/α_a) D + (α_q/α_a) K` and `force = α_a λ`.

use crate::coords::State;
use crate::linalg::Vec3;
use crate::linalg::rotation;
use crate::model::{Model, Motion};

/// A time-stepping scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// z = v⁺: first order, dissipative, contacts are inelastic as they stand (CR 4–5, NSN 45). Free flight and isolated impacts are of second
    /// order all the same (docs/notation.md, "Flight and impacts").
    #[default]
    ImplicitEuler,
    /// z = (v + v⁺)/2: second order in smooth motion, keeps the energy of linear systems (COND 4–9). Contacts would
    /// rebound elastically (docs/papers.md, correction C2), so the end velocity is made to obey the contact law by a second solve.
    Midpoint,
}

/// Weights of a scheme at step `h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Configuration per unknown [s].
    pub q: f64,
    /// Velocity per unknown.
    pub v: f64,
    /// Acceleration per unknown [1/s]; also force per λ.
    pub a: f64,
}

impl Scheme {
    /// The three weights: (h, 1, 1/h) or (h/2, 1, 2/h).
    pub fn weights(self, h: f64) -> Weights {
        match self {
            Scheme::ImplicitEuler => Weights { q: h, v: 1.0, a: 1.0 / h },
            Scheme::Midpoint => Weights { q: 0.5 * h, v: 1.0, a: 2.0 / h },
        }
    }

    /// Name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::ImplicitEuler => "implicit-euler",
            Scheme::Midpoint => "midpoint",
        }
    }
}

/// Moves the state by `h` along the velocity `v_move`, then sets the velocity to `v_end`.
///
/// Rigid bodies turn by torque-free motion at the angular momentum of the step, `L = I(q) ω`, and ω at the end is
/// `I(q⁺)⁻¹ L`. So the gyroscopic torque needs no force term: a free body keeps L to rounding.
pub fn advance(model: &Model, state: &mut State, v_move: &[f64], v_end: &[f64], h: f64) {
    for b in &model.bodies {
        if b.block.is_none() {
            continue;
        }
        debug_assert_eq!(b.motion, Motion::Free);
        let mut pose = state.rigid_pose(b.q);
        let inertia = b.world_inertia(pose.rotation);
        let l_move = inertia * Vec3::from_slice(&v_move[b.dof + 3..]);
        let l_end = inertia * Vec3::from_slice(&v_end[b.dof + 3..]);
        pose.translation += h * Vec3::from_slice(&v_move[b.dof..]);
        let axes = rotation::torque_free(pose.rotation * b.principal, b.moments, l_move, h);
        pose.rotation = (axes * b.principal.conjugate()).normalize();
        state.set_rigid_pose(b.q, &pose);
        state.v[b.dof..b.dof + 3].copy_from_slice(&v_end[b.dof..b.dof + 3]);
        let w = match crate::mutant::on("no-gyroscopic") {
            true => Vec3::from_slice(&v_end[b.dof + 3..]),
            false => b.world_inertia_inverse(pose.rotation) * l_end,
        };
        w.write_to_slice(&mut state.v[b.dof + 3..b.dof + 6]);
    }
    for n in &model.nodes {
        for k in 0..3 {
            state.q[n.q + k] += h * v_move[n.dof + k];
            state.v[n.dof + k] = v_end[n.dof + k];
        }
    }
    state.t += h;
}
