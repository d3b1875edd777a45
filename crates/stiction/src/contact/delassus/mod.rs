//! The Delassus operator `W = J A⁻¹ Jᵀ (+ softness)` as solvers see it: `u = W r + q` per contact.
//!
//! | form | where | how |
//! |---|---|---|
//! | [`Bodies`](bodies::Bodies) | nothing couples dofs: rigid bodies, particles, joints | on body velocities, `W` never formed |
//! | [`Path`](path::Path) | a cable with contacts on single links | elimination from both ends |
//! | [`Coupled`](coupled::Coupled) | elastic parts couple dofs | `W` in blocks, through a sparse factor of A |
//! | [`LocalForm`](local::LocalForm) | problems from files and samples | `W` in given blocks |
//!
//! In all of them elliptic cones are stretched to round ones, so a solver knows only one coefficient per contact, or the bounds
//! of its rows.

pub mod bodies;
pub mod coupled;
pub mod factored;
pub mod local;
pub(crate) mod near;
pub mod path;
mod slots;

use super::law::RoundLaw;
use crate::contact::law::coulomb::solve_block;
use crate::linalg::{Mat3, Vec3};

/// `u = W r + q` with round cones and bounded rows. Methods take `&mut self` where they use buffers.
pub trait Delassus {
    /// Number of contacts.
    fn contacts(&self) -> usize;

    /// What block `c` obeys.
    fn law(&self, c: usize) -> RoundLaw;

    /// Free velocity q of contact `c` [m/s].
    fn free(&self, c: usize) -> Vec3;

    /// The diagonal block W_cc [1/kg].
    fn diagonal(&self, c: usize) -> Mat3;

    /// Scale of the contact, d_c = trace(W_cc)/3, or 1 where that is zero [1/kg].
    fn scale(&self, c: usize) -> f64;

    /// u = W r + q.
    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]);

    /// A bound of (|W||r|)_c for each contact: the size of the terms that cancel in `W r` [m/s].
    fn magnitude(&mut self, r: &[Vec3], size: &mut [f64]);

    /// Makes `r` the impulse that [`contact_velocity`](Delassus::contact_velocity) sees.
    fn load(&mut self, r: &[Vec3]);

    /// u_c for the loaded impulse.
    fn contact_velocity(&self, c: usize) -> Vec3;

    /// Changes the loaded impulse of contact `c` by `dr`.
    fn add_impulse(&mut self, c: usize, dr: Vec3);

    /// One Gauss–Seidel pass: each contact in turn is solved exactly while the others rest. `r` is the loaded
    /// impulse; `slip` holds what [`solve_block`] remembers of each contact.
    fn sweep(&mut self, r: &mut [Vec3], slip: &mut [f64]) {
        for c in 0..r.len() {
            let w = self.diagonal(c);
            let k = self.contact_velocity(c) - w * r[c];
            let new = solve_block(self.law(c), &w, k, r[c], &mut slip[c]);
            if new != r[c] {
                self.add_impulse(c, new - r[c]);
                r[c] = new;
            }
        }
    }

    /// One step of nonlinear conjugate gradients on sweeps: from the `swept` impulse of `x`, which is loaded, along
    /// `direction` by `beta`, or afresh where there is none. Leaves the new `x` loaded.
    fn accelerate(&mut self, beta: Option<f64>, x: &mut [Vec3], swept: &[Vec3], direction: &mut [Vec3]) {
        conjugate(beta, x, swept, direction);
        self.load(x);
    }

    /// Number of unknowns of the systems that [`factor`](Delassus::factor) factors.
    fn system_size(&self) -> usize;

    /// Factors `P⁻¹ + W` in the sense of [`solve`](Delassus::solve); `P` may be singular (open contacts have
    /// P = 0). False when the factorisation breaks down.
    fn factor(&mut self, p: &[Mat3]) -> bool;

    /// Multiplications of the last [`factor`](Delassus::factor), as far as an estimate knows them.
    fn factor_work(&self) -> f64;

    /// dy with (I + P W) dy = P g, with the factors of the last [`factor`](Delassus::factor).
    fn solve(&mut self, g: &[Vec3], dy: &mut [Vec3]);
}

/// x ← swept + β d and d ← β d − (x − swept); without β, x ← swept and d ← 0.
pub(super) fn conjugate(beta: Option<f64>, x: &mut [Vec3], swept: &[Vec3], direction: &mut [Vec3]) {
    let Some(beta) = beta else {
        direction.fill(Vec3::ZERO);
        x.copy_from_slice(swept);
        return;
    };
    for c in 0..x.len() {
        let gr = x[c] - swept[c];
        x[c] = swept[c] + beta * direction[c];
        direction[c] = beta * direction[c] - gr;
    }
}
