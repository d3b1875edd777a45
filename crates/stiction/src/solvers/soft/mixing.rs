//! Newton's linear solves replaced by one application of the preconditioner each, mixed by Anderson's method: a velocity
//! fixed point whose stand-in for A⁻¹ is the multigrid with the contacts in it.
//!
//! On fixed modes Anderson's mixing is GMRES; modes may change in every step instead of every linear solve.

use super::{Goal, MASKED_STEPS, SoftSolver};
use crate::solvers::Trace;
use crate::solvers::cond::acceleration::Acceleration;

/// Images that are mixed.
const MEMORY: usize = 6;
/// Steps without a new best error before Newton takes over.
const PATIENCE: usize = 25;
/// Coarse levels learn the modes again when this share of the contacts has changed.
const CHANGED: usize = 10;

impl SoftSolver {
    /// Steps from the current iterate until the goal is met or nothing improves. Leaves the best behind.
    pub(super) fn mix(&mut self, goal: &mut Goal, trace: &mut dyn Trace) {
        let kind = Acceleration::Anderson(MEMORY);
        let factor = self.first_factor();
        let diagonal = |i: usize| self.island.a.diagonal(i / 3)[4 * (i % 3)].sqrt();
        let weight: Vec<f64> = (0..self.island.dofs()).map(diagonal).collect();
        let (mut bad, mut masked) = (0, 0);
        for step in 0..self.settings.mixing_steps {
            if goal.best <= goal.tolerance || bad > PATIENCE {
                return;
            }
            let changed =
                self.modes.choose(&self.island, &self.now.lambda, &self.now.u, (factor, super::HOLD));
            if changed || step == 0 {
                self.preconditioner.patch(&mut self.island, &self.modes);
                if masked < MASKED_STEPS || step % CHANGED == 0 {
                    self.preconditioner.mask_lattices(&self.island, &self.modes);
                    masked += 1;
                }
                // Images of other modes lie in another space.
                self.modes.constrain(&self.island, &mut self.now.v, true);
                self.mixer.start(kind, &self.now.v, &weight);
                self.product();
            }
            self.residual();
            self.preconditioner.apply(&self.island, &self.now.r, &mut self.step);
            self.modes.constrain(&self.island, &mut self.step, false);
            for (s, v) in self.step.iter_mut().zip(&self.now.v) {
                *s += v;
            }
            self.mixer.advance(kind, &mut self.now.v, &self.step);
            goal.products += 1;
            self.product();
            self.evaluate();
            let error = self.error(goal.heft);
            trace.record(goal.record("mixing", error));
            bad = if error < goal.best { 0 } else { bad + 1 };
            self.note(error, goal);
        }
    }
}
