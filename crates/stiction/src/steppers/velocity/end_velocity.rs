//! The end velocity of the midpoint rule.

use super::super::StepReport;
use super::ahead::lead;
use super::joints::turn_inertia;
use super::rows::normal_bias;
use super::{VelocityStepper, with_clearance};
use crate::contact::Residuals;
use crate::contact::warm::Carried;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::solvers::Trace;

impl VelocityStepper {
    /// Midpoint only: the contact law at the end of the step, on the contacts that carried load in the move. The
    /// move alone would leave every impact elastic and every held velocity reversed (docs/papers.md, correction C2).
    pub(super) fn end_velocity(
        &mut self,
        kin: Kinematics<'_>,
        h: f64,
        report: &mut StepReport,
        trace: &mut dyn Trace,
    ) {
        let Kinematics { model, state, .. } = kin;
        let (p, end, x) = (&mut self.problem, &mut self.end, &mut self.end_solution);
        end.b.resize(p.b.len(), 0.0);
        self.mass.mul(&self.smooth, &mut end.b);
        if self.elastic_parts {
            // Elastic forces over the step are those of its middle: 2 (b_e − (A − M) v̂).
            let (av, mv) = (&mut self.moved_a, &mut self.moved_m);
            av.resize(p.b.len(), 0.0);
            mv.resize(p.b.len(), 0.0);
            self.joints.add_stiffness(&mut p.a, -1.0);
            p.a.mul(&self.solution.v, av);
            self.joints.add_stiffness(&mut p.a, 1.0);
            self.mass.mul(&self.solution.v, mv);
            for i in 0..end.b.len() {
                end.b[i] += 2.0 * (self.elastic[i] - (av[i] - mv[i]));
            }
        }
        std::mem::swap(&mut self.mass, &mut end.a);
        if !self.joints.is_empty() {
            // Joints hold at the end of the step where it leads, with the inertia that bodies have there.
            lead(model, state, &self.v_move, h, &mut self.ahead);
            report.joint_error = self.joints.project(model, &mut self.ahead);
            turn_inertia(&mut end.a, model, state, &self.ahead.state);
        }
        (end.h, end.force_per_lambda, end.velocity_scale) = (h, 1.0 / h, p.velocity_scale);
        end.clear_rows();
        x.v.clear();
        x.v.extend_from_slice(&self.smooth);
        x.lambda.clear();
        let struck = |i: usize| self.flight.as_ref().and_then(|f| f.impulse_of(i));
        for (i, c) in self.contacts.iter().enumerate() {
            if self.solution.lambda[i].x <= 0.0 || struck(i).is_some() {
                continue;
            }
            end.j.push(p.j.frame[i], p.j.terms(i).iter().copied());
            let mut bias = p.bias[i];
            let apart = with_clearance(self.guard.is_some(), model, c);
            bias.x -= normal_bias(self.settings.scheme, kin, &apart, h);
            let closing = p.j.mul_one(i, &state.v).x + bias.x;
            if closing < -model.contact.restitution_threshold {
                bias.x += c.restitution * closing;
            }
            end.bias.push(bias);
            end.law.push(p.law[i]);
            end.softness.push(p.softness[i]);
            end.key.push(p.key[i]);
            x.lambda.push(2.0 * self.solution.lambda[i]);
        }
        let (first, first_end) = (self.contacts.len(), x.lambda.len());
        let moved = (&*p, &self.solution.lambda[..], first);
        let ahead = self.ahead.kinematics(model);
        self.joints.fill_end(ahead, &self.controls, moved, end, &mut x.lambda);
        let solved = self.solver.solve(end, x, trace);
        report.iterations += solved.iterations;
        report.factorizations += solved.factorizations;
        let measured = self.yardstick.measure(end, x);
        if report.status.is_solved() {
            let borne_out = self.yardstick.bears_out(end, &measured, &self.smooth, self.coulomb);
            report.status = solved.status.judged(borne_out);
        }
        // A velocity law leaves no gap to measure.
        report.residuals = report.residuals.max(Residuals { penetration: 0.0, ..measured });
        if !self.joints.is_empty() {
            self.joints.collect_end(model, (p, &self.solution.lambda, first), (end, &x.lambda, first_end));
            // `advance` takes velocities by the inertia at the start.
            turn_inertia(&mut end.a, model, &self.ahead.state, state);
            for b in model.bodies.iter().filter(|b| b.block.is_some()) {
                let w = Vec3::from_slice(&x.v[b.dof + 3..]);
                let l = b.world_inertia(self.ahead.state.rigid_pose(b.q).rotation) * w;
                let w = b.world_inertia_inverse(state.rigid_pose(b.q).rotation) * l;
                w.write_to_slice(&mut x.v[b.dof + 3..b.dof + 6]);
            }
        }
        std::mem::swap(&mut self.mass, &mut end.a);
        if let Some(flight) = &self.flight {
            if let Some((p, x)) = flight.solved() {
                let measured = self.yardstick.measure(p, x);
                if report.status.is_solved() {
                    // It has dofs of its own.
                    let mut free = Vec::new();
                    p.free_velocity(&mut free);
                    let borne_out = self.yardstick.bears_out(p, &measured, &free, self.coulomb);
                    report.status = std::mem::take(&mut report.status).judged(borne_out);
                }
                report.residuals = report.residuals.max(Residuals { penetration: 0.0, ..measured });
            }
            flight.write_end(&self.mass, &mut x.v);
        }
        // Forces are those that changed the momentum.
        let mut loaded = x.lambda.iter();
        self.forces.clear();
        self.warm.entries.clear();
        for (i, c) in self.contacts.iter().enumerate() {
            let carries = self.solution.lambda[i].x > 0.0;
            let impulse = match struck(i) {
                Some(impulse) => impulse,
                None if carries => c.frame.transpose() * loaded.next().copied().unwrap_or_default(),
                None => Vec3::ZERO,
            };
            let force = impulse * end.force_per_lambda;
            self.forces.push(force);
            self.warm.entries.push(Carried { key: c.key, force, point: c.point });
        }
    }
}
