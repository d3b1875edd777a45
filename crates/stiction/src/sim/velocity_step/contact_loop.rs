//! The last part of a solve: motions are tried before they are made, and what they find is solved again (CR Algorithm 1).

use super::super::guard;
use super::super::relinearize::{self, Verdict};
use super::ahead::row_velocity;
use super::{Clock, SAME_VELOCITY, StepReport, VelocityStepper, largest, merge};
use crate::contact::ContactKey;
use crate::coords::State;
use crate::linalg::Vec3;
use crate::scene::Model;
use crate::solvers::{SolveReport, Trace};

impl VelocityStepper {
    /// Solves again until the motion runs into nothing and, with the solver `cr`, until contacts that push have the gap
    /// that they were solved for and elastic forces are those of the end of the step. What then remains is held back.
    pub(super) fn solve_ahead(
        &mut self,
        model: &Model,
        (state, h): (&State, f64),
        mut solved: SolveReport,
        report: &mut StepReport,
        clock: &mut Clock,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        (report.impacts, report.held_back, report.impacts_left) = (0, 0.0, 0);
        (report.relinearized, report.contact_error) = (0, 0.0);
        self.find_motion(model, state, h);
        if self.guard.is_none() {
            report.times.collide += clock.lap();
            return solved;
        }
        let most = if self.relinearizer.is_some() { relinearize::MOST_PASSES } else { guard::MOST_PASSES };
        // Newton's method for elastic forces runs around the contacts, where it is asked for.
        let newton = self.relinearizer.is_some() && self.elastic_parts;
        let mut left = if newton { self.settings.linearizations.saturating_sub(1) } else { 0 };
        if let Some(r) = &mut self.relinearizer {
            r.start(model);
        }
        for pass in 0..=most {
            let hits = self.runs_into(model, state, h);
            report.times.collide += clock.lap();
            if hits && pass == most {
                (report.held_back, report.impacts_left) = self.hold_back(model, state, h);
                report.times.collide += clock.lap();
                break;
            }
            // In the order of the paper: new contacts first, then those that are there.
            let turned = if hits {
                report.impacts += self.add_impacts(model);
                0
            } else {
                self.relinearize_contacts(model, state, h)
            };
            report.contact_error = self.relinearizer.as_ref().map_or(0.0, |r| r.error);
            if !hits && (turned == 0 && left == 0 || pass == most) {
                break;
            }
            report.relinearized += turned;
            if left > 0 {
                left -= 1;
                self.relinearize(model, state, h);
            }
            self.fill_contacts(model, state, h);
            report.times.assemble += clock.lap();
            self.before.clone_from(&self.solution.v);
            let again = self.solver.solve(&self.problem, &mut self.solution, trace);
            solved = merge(solved, again);
            let change = self.solution.v.iter().zip(&self.before).map(|(v, w)| (v - w).abs());
            if change.fold(0.0, f64::max) <= SAME_VELOCITY * largest(&self.solution.v) {
                left = 0;
            }
            report.times.solve += clock.lap();
            self.find_motion(model, state, h);
        }
        report.times.collide += clock.lap();
        solved
    }

    /// Linearises contacts anew that push and have another gap where the motion leads, and removes those that slid off;
    /// the number of both. `ahead` is where the motion leads.
    fn relinearize_contacts(&mut self, model: &Model, state: &State, h: f64) -> usize {
        let Some(relinearizer) = &mut self.relinearizer else { return 0 };
        relinearizer.error = 0.0;
        self.ahead.v.copy_from_slice(&self.v_move);
        let (contacts, lambda) = (&mut self.contacts, &self.solution.lambda);
        let mut changed = 0;
        let mut gone: Vec<ContactKey> = Vec::new();
        // Contacts come before joints, so that both lists begin together.
        for (c, _) in contacts.iter_mut().zip(lambda).filter(|(_, l)| l.x > 0.0) {
            let clearance = guard::clearance(model, c);
            match relinearizer.judge(model, (state, &self.ahead), c, clearance) {
                Verdict::Holds => continue,
                Verdict::SlidOff => gone.push(c.key),
                Verdict::Turned => {
                    let ((arm_a, v_a), (arm_b, v_b)) = (
                        row_velocity(model, state, &self.ahead, &c.a, &c.b, c.point, h),
                        row_velocity(model, state, &self.ahead, &c.b, &c.a, c.point, h),
                    );
                    c.gap -= h * c.normal().dot(v_a - v_b);
                    let arms: (ContactKey, [Vec3; 2]) = (c.key, [arm_a, arm_b]);
                    match self.late.binary_search_by(|l| l.0.cmp(&c.key)) {
                        Ok(at) => self.late[at] = arms,
                        Err(at) => self.late.insert(at, arms),
                    }
                }
            }
            changed += 1;
        }
        if changed > 0 {
            // The guess: multipliers as they are, in frames that have turned.
            self.collect_forces(model);
            self.contacts.retain(|c| gone.binary_search(&c.key).is_err());
        }
        changed
    }
}
