//! The last part of a solve: motions are tried before they are made, and what they find is solved again (CR Algorithm 1).

use super::ahead::{owner_frames, row_velocity};
use super::guard;
use super::refine::{Solved, Verdict};
use super::rows::is_rigid;
use super::{Clock, SAME_VELOCITY, StepReport, VelocityStepper, largest, merge, normal_bias, with_clearance};
use crate::collide::{Contact, Meeting};
use crate::contact::{ContactKey, ContactProblem};
use crate::coords::Anchor;
use crate::integrate::Scheme;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::solvers::{SolveReport, Trace};

impl VelocityStepper {
    /// The tangential offset c_t of contacts that meet within the step (CR 3.2): friction holds them where they meet, not where
    /// they were when the step began. By the velocities at its start; contacts that had a force have met already.
    pub(super) fn find_slides_before_impact(&mut self, kin: Kinematics<'_>, h: f64) {
        let model = kin.model;
        self.before_impact.clear();
        if self.refine.is_none() {
            return;
        }
        for c in &self.contacts {
            let met = self.warm.entries.binary_search_by(|e| e.key.cmp(&c.key));
            if met.is_ok_and(|at| self.warm.entries[at].force != Vec3::ZERO) {
                continue;
            }
            let v = kin.velocity(&c.a) - kin.velocity(&c.b);
            let (gap, way) = (c.gap - guard::clearance(model, c), -h * c.normal().dot(v));
            if gap > 0.0 && way > gap {
                self.before_impact.push((c.key, v * (gap / way)));
            }
        }
    }

    /// Solves again until the motion runs into nothing and, with the solver `cr`, until contacts that push have the gap
    /// that they were solved for and elastic forces are those of the end of the step. What then remains is held back.
    pub(super) fn solve_ahead(
        &mut self,
        (kin, h): (Kinematics<'_>, f64),
        mut solved: SolveReport,
        report: &mut StepReport,
        clock: &mut Clock,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let model = kin.model;
        (report.impacts, report.held_back, report.impacts_left) = (0, 0.0, 0);
        (report.relinearized, report.contact_error) = (0, 0.0);
        self.find_motion(kin, h);
        if self.guard.is_none() {
            report.times.collide += clock.lap();
            return solved;
        }
        let (turning, last) = self.refine.as_ref().map_or((guard::MOST_PASSES, 0), |r| r.passes());
        let most = turning + last;
        // Newton's method for elastic forces runs around the contacts, where it is asked for.
        let newton = self.refine.is_some() && self.elastic_parts;
        let mut left = if newton { self.settings.linearizations.saturating_sub(1) } else { 0 };
        if let Some(r) = &mut self.refine {
            r.start(model);
        }
        for pass in 0..=most {
            let hits = self.runs_into(kin, h);
            report.times.collide += clock.lap();
            if hits && pass == most {
                (report.held_back, report.impacts_left) = self.hold_back(kin, h);
                report.times.collide += clock.lap();
                break;
            }
            // In the order of the paper: new contacts first, then those that are there.
            let turned = if hits {
                report.impacts += self.add_impacts(model);
                0
            } else if pass < turning {
                self.relinearize_contacts(kin, h)
            } else {
                self.look_at_contacts(kin, h);
                0
            };
            report.contact_error = self.refine.as_ref().map_or(0.0, |r| r.error());
            if !hits && (turned == 0 && left == 0 || pass >= turning) {
                break;
            }
            report.relinearized += turned;
            if left > 0 {
                left -= 1;
                self.relinearize(kin, h);
            }
            self.fill_contacts(kin, h);
            report.times.assemble += clock.lap();
            self.before.clone_from(&self.solution.v);
            let again = self.solver.solve(&self.problem, &mut self.solution, trace);
            solved = merge(solved, again);
            let change = self.solution.v.iter().zip(&self.before).map(|(v, w)| (v - w).abs());
            if change.fold(0.0, f64::max) <= SAME_VELOCITY * largest(&self.solution.v) {
                left = 0;
            }
            report.times.solve += clock.lap();
            self.find_motion(kin, h);
        }
        report.times.collide += clock.lap();
        solved
    }

    /// Linearises contacts anew that push and have another gap where the motion leads, removes those that slid off and adds those
    /// of rigid pairs that overlap there; the number of all. `ahead` is where the motion leads.
    fn relinearize_contacts(&mut self, kin: Kinematics<'_>, h: f64) -> usize {
        let model = kin.model;
        let Some(refine) = &mut self.refine else { return 0 };
        self.ahead.state.v.copy_from_slice(&self.v_move);
        self.ahead.update(model);
        let ahead = self.ahead.kinematics(model);
        refine.look_at_rigid(ahead, &self.contacts, &mut self.collider);
        let (contacts, lambda, p) = (&mut self.contacts, &self.solution.lambda, &self.problem);
        let mut changed = 0;
        self.gone.clear();
        // Contacts come before joints, so that both lists begin together.
        for (i, (c, l)) in contacts.iter_mut().zip(lambda).enumerate() {
            let Some(solved) = as_solved((kin, h), self.settings.scheme, (p, &self.v_move), i, c, *l) else {
                continue;
            };
            match refine.judge((kin, ahead), c, solved) {
                Verdict::Holds => continue,
                Verdict::SlidOff => self.gone.push(c.key),
                Verdict::Turned => linearize_there((kin, ahead), c, h, &mut self.late),
            }
            changed += 1;
        }
        self.candidates.clear();
        refine.add_missing(model, contacts, &mut self.candidates);
        if changed + self.candidates.len() > 0 {
            // The guess: multipliers as they are, in frames that have turned.
            self.collect_forces(model);
            let ahead = self.ahead.kinematics(model);
            self.contacts.retain(|c| self.gone.binary_search(&c.key).is_err());
            for c in &mut self.candidates {
                linearize_there((kin, ahead), c, h, &mut self.late);
            }
            changed += self.candidates.len();
            self.contacts.append(&mut self.candidates);
            self.contacts.sort_unstable_by_key(|c| c.key);
        }
        changed
    }

    /// Finds what contacts that push are off by where the motion leads, and leaves them as they are.
    fn look_at_contacts(&mut self, kin: Kinematics<'_>, h: f64) {
        let model = kin.model;
        let Some(refine) = &mut self.refine else { return };
        self.ahead.state.v.copy_from_slice(&self.v_move);
        self.ahead.update(model);
        let ahead = self.ahead.kinematics(model);
        refine.look_at_rigid(ahead, &self.contacts, &mut self.collider);
        let p = &self.problem;
        for (i, (c, l)) in self.contacts.iter().zip(&self.solution.lambda).enumerate() {
            let solved = as_solved((kin, h), self.settings.scheme, (p, &self.v_move), i, c, *l);
            if let Some(solved) = solved {
                refine.judge((kin, ahead), &mut c.clone(), solved);
            }
        }
    }
}

/// Contact `i` as it was solved with the impulse `l`; nothing where there is nothing to judge.
fn as_solved(
    (kin, h): (Kinematics<'_>, f64),
    scheme: Scheme,
    (p, v): (&ContactProblem, &[f64]),
    i: usize,
    c: &Contact,
    l: Vec3,
) -> Option<Solved> {
    let model = kin.model;
    let pushes = l.x > 0.0;
    let gap = if is_rigid(model, c) {
        // What its row predicts: gap + h u.
        let apart = with_clearance(true, model, c);
        let u = p.j.mul_one(i, v).x + p.bias[i].x;
        c.gap + h * (u - normal_bias(scheme, kin, &apart, h))
    } else if pushes {
        guard::clearance(model, c)
    } else {
        return None;
    };
    Some(Solved { gap, pushes })
}

/// The gap of a contact found at the end of the motion, taken back to its start along its own row, and where it was found.
fn linearize_there(
    (kin, ahead): (Kinematics<'_>, Kinematics<'_>),
    c: &mut Contact,
    h: f64,
    late: &mut Vec<(ContactKey, Meeting)>,
) {
    let side = |anchor: &Anchor, other: &Anchor| row_velocity(kin, ahead, anchor, other, c.point, h);
    let ((arm_a, v_a), (arm_b, v_b)) = (side(&c.a, &c.b), side(&c.b, &c.a));
    c.gap -= h * c.normal().dot(v_a - v_b);
    let met = (c.key, Meeting { arms: [arm_a, arm_b], poses: owner_frames(ahead, &c.key) });
    match late.binary_search_by(|l| l.0.cmp(&c.key)) {
        Ok(at) => late[at] = met,
        Err(at) => late.insert(at, met),
    }
}
