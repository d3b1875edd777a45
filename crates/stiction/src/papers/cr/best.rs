//! The best iterate so far, for solves that do not end well.
//!
//! Full is indefinite, so that conjugate residuals minimise no norm with it: among many contacts that nearly contradict each other
//! velocities can run off by orders of magnitude. The yardstick looks at iterates where constraints are evaluated. One that ran
//! off is given up for the best before it, from which the iteration goes on with Diag, which is positive definite; a solve that
//! runs out of iterations returns the best, which is never worse than its guess.

use super::Settings;
use super::iterate::Engine;
use super::precondition::Preconditioner;
use super::stop::natural;
use super::system::Saddle;
use crate::linalg::Vec3;

/// Share of the least error below which an iterate is kept: not each of a slow descent is copied.
const BETTER: f64 = 0.8;
/// An iterate ran off where its error is this many times that of the guess, or of the velocity scale itself.
const OFF: f64 = 100.0;

/// The best iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Best {
    /// Its error, in tolerances; that of an iterate that ran off.
    error: f64,
    off: f64,
    v: Vec<f64>,
    lambda: Vec<Vec3>,
}

impl Engine {
    /// Natural map and momentum residual, the larger of them, in tolerances.
    fn error(&self, sys: &Saddle) -> f64 {
        let natural = natural(sys, &self.conditioner.own, &self.y.v, &self.total);
        let error = self.limits.natural_ratio(natural).max(self.limits.momentum_ratio(&self.r.v));
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// Begins with the guess, whose residual is at hand.
    pub(super) fn begin_best(&mut self, sys: &Saddle) {
        self.best.error = f64::INFINITY;
        let error = self.error(sys);
        self.best.off = OFF * self.limits.natural_ratio(self.limits.scale).max(error);
        self.keep_if_better(error);
    }

    /// Looks at the present iterate and keeps it where it is the best; its error.
    pub(super) fn look(&mut self, sys: &Saddle) -> f64 {
        let error = self.error(sys);
        self.keep_if_better(error);
        error
    }

    fn keep_if_better(&mut self, error: f64) {
        if error < BETTER * self.best.error {
            self.best.error = error;
            self.best.v.clone_from(&self.y.v);
            self.best.lambda.clone_from(&self.total);
        }
    }

    /// Whether an iterate of this error ran off.
    pub(super) fn ran_off(&self, error: f64) -> bool {
        error > self.best.off
    }

    /// Goes on from the best iterate with Diag.
    pub(super) fn go_back(&mut self, sys: &Saddle, s: &Settings) {
        self.conditioner.build(Preconditioner::Diag, s.diagonal, sys);
        self.y.v.clone_from(&self.best.v);
        self.y.l.clone_from(&self.best.lambda);
        self.begin(sys, s);
    }

    /// Takes the best iterate as the answer where the present one is worse.
    pub(super) fn end_with_best(&mut self, sys: &Saddle) {
        self.refresh(sys);
        if self.error(sys) > self.best.error {
            self.y.v.clone_from(&self.best.v);
            self.total.clone_from(&self.best.lambda);
        }
    }
}
