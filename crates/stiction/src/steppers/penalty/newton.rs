//! Newton's method on the residual of a step, with a line search on ‖r‖ (3.1).

use super::System;
use super::bdf::Phase;
use super::stick::Stick;
use crate::coords::State;
use crate::error::StepError;
use crate::linalg::near_symmetric::EXACT;
use crate::solvers::Status;

/// Rounding of a sum, as a share of the sizes of its terms.
const ROUNDING: f64 = 2e-14;
/// Residual of the linear system of a Newton step, relative: no more than Newton's own error calls for.
const LINEAR: f64 = 1e-9;
/// Shortest step of a line search: 2⁻¹².
const MOST_HALVINGS: usize = 12;
/// Whole steps that may be taken against the line search.
const MOST_STALLS: usize = 10;

/// How the Newton iteration of a step went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Newton {
    /// Newton steps.
    pub iterations: usize,
    /// Halvings of steps.
    pub backtracks: usize,
    /// ‖r‖₂ at the end [N].
    pub residual: f64,
    /// The ‖r‖₂ that was asked for [N].
    pub target: f64,
    /// How it ended.
    pub status: Status,
    /// ‖r‖₂ before each Newton step [N].
    pub history: Vec<f64>,
    /// Contact points that push.
    pub contacts: usize,
    /// Sites held by static friction.
    pub stuck: Vec<u32>,
    /// Those that multipliers hold, with their forces.
    pub(crate) sticks: Vec<Stick>,
    /// Sites that were let go and slide.
    pub released: Vec<u32>,
}

impl System {
    /// ‖r‖₂ [N] that counts as solved: a share of the weight, or of what cancels where that is all numbers can tell.
    pub(super) fn targets_of_residual(&self) -> (f64, f64) {
        let g = self.model.gravity.length();
        let masses = self.model.bodies.iter().filter(|b| b.block.is_some()).map(|b| b.mass);
        let weight: f64 = masses.chain(self.model.nodes.iter().map(|n| n.mass)).sum::<f64>() * g.max(1.0);
        let inertia: f64 = (0..self.r.len()).map(|i| (self.r[i] + self.asm.f[i]).abs()).sum();
        let momentum = weight / g.max(1.0) * largest(&self.there.state.v) / self.h;
        (self.settings.tolerance * weight, ROUNDING * (self.asm.size + inertia + momentum))
    }

    /// One step from a phase: fills `to`. `step` counts from zero and chooses the values of controls.
    pub fn step(&mut self, from: &Phase, step: usize, to: &mut Phase) -> Result<Newton, StepError> {
        self.apply_controls(step);
        self.find_patches(&from.state);
        self.hold_nothing();
        // A step depends on nothing but where it starts.
        self.lu.forget();
        let g = self.model.gravity;
        let mut d: Vec<f64> = from.state.v.iter().map(|v| self.h * v).collect();
        if from.state.v.iter().all(|v| *v == 0.0) {
            // From rest the first guess is free fall: nothing else is known to move.
            for block in self.model.layout.blocks() {
                for k in 0..3 {
                    d[block.v + k] += self.h * self.h * g[k];
                }
            }
        }
        let mut newton = Newton::default();
        self.solve(from, &mut d, step, &mut newton)?;
        newton.contacts = self.contacts;
        let nodes = self.held.iter().flatten().map(|h| h.1);
        newton.stuck = nodes.chain(self.sticks.iter().flat_map(|s| s.sites.iter().copied())).collect();
        newton.sticks.clone_from(&self.sticks);
        let let_go = self.released.iter().enumerate().filter(|(_, r)| **r);
        newton.released = let_go.map(|(k, _)| k as u32).collect();
        to.state.clone_from(&self.there.state);
        to.w.clone_from(&self.w);
        to.u.clone_from(&from.w);
        to.e = d;
        to.stuck.clone_from(&newton.stuck);
        // Hard constraints are tried again whether their nodes stick or slide.
        to.stuck.extend(self.sliding());
        Ok(newton)
    }

    /// Evaluates and factors the step from `from` to `to` as it was solved.
    pub(crate) fn linearize(&mut self, from: &Phase, to: &Phase, step: usize, newton: &Newton) -> bool {
        self.apply_controls(step);
        self.find_patches(&from.state);
        self.recall(&to.state, newton);
        self.evaluate(from, &to.e, step, true);
        self.lu.forget();
        self.factor(EXACT)
    }

    /// Holds and lets go what a step did that ended in `state`.
    pub(crate) fn recall(&mut self, state: &State, newton: &Newton) {
        self.hold_nothing();
        self.hold(state, &newton.stuck);
        // With the forces and the axes that the step had.
        self.sticks.clone_from(&newton.sticks);
        for &site in &newton.released {
            self.released[site as usize] = true;
        }
    }

    /// Newton's method from the guess `d`, which becomes the answer; r and the state belong to it at the end.
    pub(crate) fn newton(
        &mut self,
        from: &Phase,
        d: &mut [f64],
        step: usize,
        goal: f64,
        report: &mut Newton,
    ) -> Result<bool, StepError> {
        let mut norm = self.evaluate(from, d, step, true);
        let mut trial = d.to_vec();
        let (mut stalls, mut fresh) = (0, true);
        let before = report.iterations;
        let (mut best, mut best_norm) = (d.to_vec(), f64::INFINITY);
        let (mut y, mut forces) = (Vec::new(), self.stick_forces());
        let mut best_forces = forces.clone();
        loop {
            if !norm.is_finite() {
                return Err(self.not_finite(from));
            }
            let (wanted, floor) = self.targets_of_residual();
            report.target = wanted.max(floor);
            report.residual = norm;
            if norm < best_norm {
                best_norm = norm;
                best.copy_from_slice(d);
                best_forces.clone_from(&forces);
            }
            if norm <= goal * wanted || norm <= floor {
                report.status = if norm <= wanted { Status::Converged } else { Status::Floor };
                return Ok(true);
            }
            if report.iterations - before >= self.settings.max_iterations {
                break;
            }
            report.history.push(norm);
            if !fresh {
                self.evaluate(from, d, step, true);
            }
            if !self.factor(LINEAR) {
                break;
            }
            report.iterations += 1;
            let mut x = std::mem::take(&mut self.work);
            x.clear();
            x.extend(self.r.iter().map(|r| -r));
            y.clear();
            y.extend(self.border.rows.iter().map(|r| -r.value));
            self.solve_bordered(&mut x, &mut y, LINEAR);
            // Line search on ‖r‖: kinks of contact forces may ask for shorter steps.
            let mut length = 1.0;
            let (mut found, mut reached) = (false, norm);
            for _ in 0..MOST_HALVINGS {
                for i in 0..trial.len() {
                    trial[i] = d[i] + length * x[i];
                }
                self.set_stick_forces(&forces, length, &y);
                reached = self.evaluate(from, &trial, step, false);
                if reached < (1.0 - 1e-4 * length) * norm {
                    found = true;
                    break;
                }
                length *= 0.5;
                report.backtracks += 1;
            }
            if !found {
                // Over the kink with the whole step; the best point is kept.
                stalls += 1;
                if stalls > MOST_STALLS {
                    self.work = x;
                    break;
                }
                for i in 0..trial.len() {
                    trial[i] = d[i] + x[i];
                }
                self.set_stick_forces(&forces, 1.0, &y);
            }
            forces = self.stick_forces();
            self.work = x;
            d.copy_from_slice(&trial);
            if found {
                norm = reached;
            } else {
                norm = self.evaluate(from, d, step, false);
            }
            fresh = false;
        }
        d.copy_from_slice(&best);
        self.set_stick_forces(&best_forces, 0.0, &y);
        report.residual = self.evaluate(from, d, step, false);
        report.status = Status::Budget;
        Ok(false)
    }

    fn not_finite(&self, from: &Phase) -> StepError {
        let bad = |dof: usize, n: usize| self.r[dof..dof + n].iter().any(|x| !x.is_finite());
        let body = self.model.bodies.iter().find(|b| b.block.is_some() && bad(b.dof, 6));
        let node = self.model.nodes.iter().find(|n| bad(n.dof, 3));
        let item = match (body, node) {
            (Some(b), _) => format!("body `{}`", b.name),
            (None, Some(n)) => format!("node `{}`", n.name),
            (None, None) => "the scene".to_string(),
        };
        StepError::NotFinite { item, t: from.state.t }
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| x.abs().max(m))
}
