//! Newton's linear solves replaced by one application of the preconditioner each, mixed by Anderson's method: a velocity
//! fixed point whose stand-in for A⁻¹ is the multigrid with the contacts in it.
//!
//! On fixed modes Anderson's mixing is GMRES; modes may change in every step instead of every linear solve.

use super::{Goal, MASKED_STEPS, SoftSolver};
use crate::solvers::Trace;
use crate::solvers::island::acceleration::Acceleration;

/// Images that are mixed.
const MEMORY: usize = 6;
/// Steps without a new best error before Newton takes over, and where the error has grown by this much.
const PATIENCE: usize = 5;
const STRAYED: (usize, f64) = (2, 2.0);
/// Islands of fewer unknowns than this get so many steps: there a Newton step costs much more than one of these.
const SMALL: usize = 600;
const SMALL_PATIENCE: usize = 25;
/// Coarse levels learn the modes in the first steps, and later in every so many-th if they change there.
const CHANGED: usize = 10;
/// Images of other modes are kept where no more than one in so many contacts has changed.
const FEW: usize = 100;
/// Where rigid bodies are free modes flip from step to step: they are kept until the residual has fallen by this share, and
/// for so many steps at most.
const HELD_SHARE: f64 = 0.3;
const HELD_STEPS: usize = 20;

impl SoftSolver {
    /// Steps from the current iterate until the goal is met or nothing improves. Leaves the best behind.
    pub(super) fn mix(&mut self, goal: &mut Goal, trace: &mut dyn Trace) {
        let kind = Acceleration::Anderson(MEMORY);
        let factor = self.first_factor();
        let diagonal = |i: usize| self.island.a.diagonal(i / 3)[4 * (i % 3)].sqrt();
        self.weight.clear();
        self.weight.extend((0..self.island.dofs()).map(diagonal));
        let is_small = self.island.dofs() < SMALL;
        let patience = if is_small { SMALL_PATIENCE } else { PATIENCE };
        let (mut bad, mut masked) = (0, 0);
        // Residual with which the modes were chosen, and steps since.
        let (mut start, mut held) = (f64::INFINITY, HELD_STEPS);
        for step in 0..self.settings.mixing_steps {
            if self.is_done(goal) || bad > patience {
                return;
            }
            if self.island.bodies > 0 && held < HELD_STEPS {
                self.residual();
            }
            let choose = self.island.bodies == 0 || held >= HELD_STEPS || self.push() <= HELD_SHARE * start;
            let changed = if choose {
                self.modes.choose(&self.island, &self.now.lambda, &self.now.u, (factor, super::HOLD), false)
            } else {
                0
            };
            if changed > 0 || step == 0 {
                self.preconditioner.patch(&mut self.island, &self.modes);
                if masked < MASKED_STEPS || step % CHANGED == 0 {
                    self.preconditioner.mask_lattices(&self.island, &self.modes);
                    masked += 1;
                }
                self.modes.constrain(&self.island, &mut self.now.v, true);
                // Images of other modes lie in another space, but not far away where few have changed.
                if step == 0 || FEW * changed > self.island.touches.len() {
                    self.mixer.start(kind, &self.now.v, &self.weight);
                }
                self.product();
            }
            self.residual();
            held += 1;
            if choose {
                (start, held) = (self.push(), 0);
            }
            self.preconditioner.apply(&self.island, &self.now.r, &mut self.step);
            self.modes.constrain(&self.island, &mut self.step, false);
            for (s, v) in self.step.iter_mut().zip(&self.now.v) {
                *s += v;
            }
            self.mixer.advance(kind, &mut self.now.v, &self.step);
            self.modes.constrain(&self.island, &mut self.now.v, true);
            goal.products += 1;
            self.product();
            self.evaluate();
            let error = self.error(goal.heft);
            trace.record(goal.record("mixing", error));
            bad = if error < goal.best { 0 } else { bad + 1 };
            if !is_small && bad > STRAYED.0 && error > STRAYED.1 * goal.best {
                return;
            }
            self.note(error, goal);
        }
    }
}
