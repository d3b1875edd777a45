//! The contact problem that every solver of the velocity family is given, and what "solved" means.
//!
//! Find `v` and `λ` with `A v = b + Jᵀ λ` and a [`Law`] for each block of three rows with
//! `u = J v + bias + softness·λ`. A contact (normal component first) obeys Signorini's condition
//! `0 ≤ u_n ⟂ λ_n ≥ 0` and Coulomb's law `λ_t ∈ μ λ_n D`, `λ_t` opposite to `u_t` where it slips. The rows of
//! joints, stops and drives have bounds instead: `u ∈ −N_[lo,hi](λ)`.

pub mod delassus;
pub mod islands;
mod jacobian;
pub mod law;
pub mod residual;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
#[cfg(any(test, feature = "samples"))]
pub mod soft_samples;
pub mod warm;

pub use delassus::local::LocalProblem;
pub use jacobian::{ContactJacobian, Term};
pub use law::cone::Friction;
pub use law::{Bounds, Law};
pub use residual::{DataScales, Residuals};

use crate::coords::ShapeId;
use crate::linalg::{BlockMat, Vec3};

/// Which feature of which shape touches which: stable from step to step, so that impulses carry over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactKey {
    /// First shape (the smaller id).
    pub shape_a: ShapeId,
    /// Second shape.
    pub shape_b: ShapeId,
    /// Feature of the first shape; the part of a mesh or the vertex, edge or face.
    pub feature_a: u64,
    /// Feature of the second shape.
    pub feature_b: u64,
}

/// `A v = b + Jᵀ λ` with a law for every three rows. Frozen for one solve; knows neither model nor state.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    /// Dynamics matrix [kg], symmetric positive definite.
    pub a: BlockMat,
    /// Right-hand side [kg·m/s].
    pub b: Vec<f64>,
    /// Three rows per block; normal and two tangents for a contact.
    pub j: ContactJacobian,
    /// Added to `J v` [m/s]: gap/h, restitution, velocity of kinematic bodies.
    pub bias: Vec<Vec3>,
    /// What each block obeys. The rows of one block are judged and scaled together, so they should be of one kind:
    /// rows that are much softer than others belong into a block of their own.
    pub law: Vec<Law>,
    /// Compliance of each row [1/kg]; 0 is rigid.
    pub softness: Vec<Vec3>,
    /// Names of the contacts; blocks of other laws follow after the contacts and have none.
    pub key: Vec<ContactKey>,
    /// Time step [s].
    pub h: f64,
    /// Multiply `λ` by this to get a force [N]: 1/h for implicit Euler, 2/h for midpoint.
    pub force_per_lambda: f64,
    /// Least speed [m/s] by which velocity errors are judged: the stepper sets g·h, and solvers take the larger of it
    /// and the largest free contact velocity of what they solve.
    pub velocity_scale: f64,
    /// Position [m] of each block at rest, for solvers that make coarse copies of soft bodies; empty where unknown.
    pub places: Vec<Vec3>,
}

impl ContactProblem {
    /// Number of blocks of three rows: contacts, and what joints add.
    pub fn contacts(&self) -> usize {
        self.law.len()
    }

    /// Takes the rows away; keeps `A`, `b` and the memory.
    pub fn clear_rows(&mut self) {
        self.j.clear();
        self.bias.clear();
        self.law.clear();
        self.softness.clear();
        self.key.clear();
    }

    /// Number of velocity dofs.
    pub fn dofs(&self) -> usize {
        self.b.len()
    }

    /// v = A⁻¹ b: the velocity without contacts.
    pub fn free_velocity(&self, v: &mut Vec<f64>) {
        v.clear();
        v.extend_from_slice(&self.b);
        self.divide(v);
    }

    /// A⁻¹(b + Jᵀ λ).
    pub fn velocity_of(&self, lambda: &[Vec3]) -> Vec<f64> {
        let mut v = self.b.clone();
        self.j.mul_t_add(lambda, &mut v);
        self.divide(&mut v);
        v
    }

    /// Overwrites `v` with A⁻¹ v; NaN where A is not positive definite.
    fn divide(&self, v: &mut [f64]) {
        if self.a.is_block_diagonal() {
            for i in 0..self.a.block_rows() {
                self.divide_block(i, v);
            }
            return;
        }
        let blocks: Vec<u32> = (0..self.a.block_rows() as u32).collect();
        let mut factor = crate::linalg::SparseCholesky::default();
        if factor.factor(&self.a, &blocks) {
            factor.solve(v);
        } else {
            v.fill(f64::NAN);
        }
    }

    /// The part of block `i` of A⁻¹ v, where nothing is coupled to it.
    pub fn divide_block(&self, i: usize, v: &mut [f64]) {
        let (d, n) = self.a.block(i);
        crate::linalg::dense::solve_spd(self.a.diagonal_block(i), &mut v[d..d + n]);
    }
}

/// Velocity and contact impulses; the guess on entry to a solver, its answer on return.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Velocity of all dofs.
    pub v: Vec<f64>,
    /// Multipliers of each block, for contacts the impulse in their frame, normal first [N·s up to the scale `force_per_lambda`].
    pub lambda: Vec<Vec3>,
}
