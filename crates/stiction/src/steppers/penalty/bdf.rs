//! Backward differences on the increment d of a step, and what they make of velocity and momentum.
//!
//! BDF1: v = d/h; BDF2: v = J_ω(d)(3d − e)/(2h), e the increment of the last step. Momentum w (velocity, or angular momentum L of a
//! rigid body) changes at the rate (w − w⁻)/h or (3w − 4w⁻ + w⁼)/(2h).

use crate::coords::{BlockKind, Layout, State};
use crate::linalg::rotation::{self, left_jacobian, left_jacobian_derivative};
use crate::linalg::{Mat3, Vec3, skew};
use crate::model::Model;

/// Order of the backward differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bdf {
    /// Implicit Euler.
    #[default]
    One,
    /// Second order.
    Two,
}

impl Bdf {
    /// Weights of w, w⁻, w⁼ in h ẇ.
    pub fn rate(self) -> [f64; 3] {
        match self {
            Bdf::One => [1.0, -1.0, 0.0],
            Bdf::Two => [1.5, -2.0, 0.5],
        }
    }

    /// Weights of d and e in h v.
    pub fn velocity(self) -> [f64; 2] {
        match self {
            Bdf::One => [1.0, 0.0],
            Bdf::Two => [1.5, -0.5],
        }
    }
}

/// All that one step hands to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    /// Time, configuration and velocity.
    pub state: State,
    /// Velocity of translations and nodes, angular momentum of rigid bodies.
    pub w: Vec<f64>,
    /// Increment of the last step.
    pub e: Vec<f64>,
    /// w of the step before.
    pub u: Vec<f64>,
    /// Sites that the last step held by static friction: where the next one looks first.
    pub stuck: Vec<u32>,
}

impl Phase {
    /// At rest or in motion, with the steps before it as if nothing had acted: q − k h v (start-up of section 6.2).
    pub fn start(model: &Model, state: &State, h: f64) -> Phase {
        let mut w = state.v.clone();
        for b in model.bodies.iter().filter(|b| b.block.is_some()) {
            let inertia = b.world_inertia(state.rigid_pose(b.q).rotation);
            let l = inertia * Vec3::from_slice(&state.v[b.dof + 3..]);
            l.write_to_slice(&mut w[b.dof + 3..b.dof + 6]);
        }
        let e = state.v.iter().map(|v| h * v).collect();
        Phase { state: state.clone(), u: w.clone(), w, e, stuck: Vec::new() }
    }
}

/// A block-diagonal matrix: a multiple of one for translations and nodes, 3×3 for rotations in the order of rigid blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockDiag {
    /// Factor of translations and nodes.
    pub linear: f64,
    /// One matrix per rigid block.
    pub turn: Vec<Mat3>,
}

impl BlockDiag {
    /// y += s D x.
    pub fn mul_add(&self, layout: &Layout, s: f64, x: &[f64], y: &mut [f64]) {
        self.product(layout, s, x, y, |m, v| *m * v);
    }

    /// y += s Dᵀ x.
    pub fn mul_t_add(&self, layout: &Layout, s: f64, x: &[f64], y: &mut [f64]) {
        self.product(layout, s, x, y, |m, v| m.transpose() * v);
    }

    fn product(&self, layout: &Layout, s: f64, x: &[f64], y: &mut [f64], by: impl Fn(&Mat3, Vec3) -> Vec3) {
        for (b, block) in layout.blocks().iter().enumerate() {
            for k in block.v..block.v + 3 {
                y[k] += s * self.linear * x[k];
            }
            if block.kind == BlockKind::Rigid {
                let d = s * by(&self.turn[b], Vec3::from_slice(&x[block.v + 3..]));
                for k in 0..3 {
                    y[block.v + 3 + k] += d[k];
                }
            }
        }
    }

    /// Sub-block (row part, column part) of block `b`, parts 0 (translation) and 1 (rotation).
    pub fn part(&self, b: usize, part: usize) -> Mat3 {
        if part == 0 { Mat3::from_diagonal(Vec3::splat(self.linear)) } else { self.turn[b] }
    }
}

/// Derivatives of configuration, velocity and momentum by the increment and by the past.
#[derive(Clone, Debug, Default)]
pub struct Increments {
    /// ∂q/∂d.
    pub q_by_d: BlockDiag,
    /// ∂q/∂q⁻.
    pub q_by_q: BlockDiag,
    /// ∂v/∂d.
    pub v_by_d: BlockDiag,
    /// ∂v/∂e.
    pub v_by_e: BlockDiag,
    /// ∂w/∂q at fixed velocity.
    pub w_by_q: BlockDiag,
    /// ∂w/∂v.
    pub w_by_v: BlockDiag,
}

impl Increments {
    /// Fills `there` (time, configuration, velocity) and `w` from the increment `d`, and all derivatives.
    pub fn place(
        &mut self,
        model: &Model,
        scheme: Bdf,
        h: f64,
        from: &Phase,
        d: &[f64],
        there: &mut State,
        w: &mut Vec<f64>,
    ) {
        let [c0, c1] = scheme.velocity();
        let (c0, c1) = (c0 / h, c1 / h);
        there.t = from.state.t + h;
        there.q.clone_from(&from.state.q);
        there.v.resize(d.len(), 0.0);
        w.resize(d.len(), 0.0);
        let blocks = model.layout.blocks().len();
        for (m, linear) in [
            (&mut self.q_by_d, 1.0),
            (&mut self.q_by_q, 1.0),
            (&mut self.v_by_d, c0),
            (&mut self.v_by_e, c1),
            (&mut self.w_by_q, 0.0),
            (&mut self.w_by_v, 1.0),
        ] {
            m.linear = linear;
            m.turn.resize(blocks, Mat3::ZERO);
        }
        for block in model.layout.blocks() {
            for k in 0..3 {
                there.q[block.q + k] += d[block.v + k];
                there.v[block.v + k] = c0 * d[block.v + k] + c1 * from.e[block.v + k];
                w[block.v + k] = there.v[block.v + k];
            }
        }
        for body in &model.bodies {
            let Some(b) = body.block else { continue };
            let turn = Vec3::from_slice(&d[body.dof + 3..]);
            let last = Vec3::from_slice(&from.e[body.dof + 3..]);
            let mut pose = from.state.rigid_pose(body.q);
            let step = rotation::exp(turn);
            pose.translation = Vec3::from_slice(&there.q[body.q..]);
            pose.rotation = (step * pose.rotation).normalize();
            there.set_rigid_pose(body.q, &pose);
            // ω = J_ω(d) (c₀ d + c₁ e), and J_ω(d) d = d.
            let rate = c0 * turn + c1 * last;
            let jacobian = left_jacobian(turn);
            let spin = jacobian * rate;
            let inertia = body.world_inertia(pose.rotation);
            let l = inertia * spin;
            spin.write_to_slice(&mut there.v[body.dof + 3..body.dof + 6]);
            l.write_to_slice(&mut w[body.dof + 3..body.dof + 6]);
            self.q_by_d.turn[b] = jacobian;
            self.q_by_q.turn[b] = Mat3::from_quat(step);
            self.v_by_d.turn[b] = jacobian * c0 + left_jacobian_derivative(turn, rate);
            self.v_by_e.turn[b] = jacobian * c1;
            self.w_by_q.turn[b] = inertia * skew(spin) - skew(l);
            self.w_by_v.turn[b] = inertia;
        }
    }
}
