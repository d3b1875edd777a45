//! From a [`ContactProblem`] to its Delassus form and back, for solvers that treat all contacts as one set.

use super::{SolveReport, Status, Trace};
use crate::contact::delassus::Delassus;
use crate::contact::delassus::bodies::Bodies;
use crate::contact::delassus::coupled::Coupled;
use crate::contact::delassus::local::LocalForm;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::linalg::Vec3;

/// An iteration on `u = W r + q` with round cones, whatever form `W` has.
pub(crate) trait Iteration {
    /// `r` holds the guess on entry and the answer on return; errors are judged by at least the speed `least` [m/s].
    fn run<D: Delassus>(
        &mut self,
        d: &mut D,
        r: &mut [Vec3],
        least: f64,
        trace: &mut dyn Trace,
    ) -> SolveReport;
}

/// Buffers that carry a problem to its round form, kept from solve to solve.
#[derive(Default)]
pub(crate) struct Whole {
    bodies: Bodies,
    coupled: Coupled,
    blocks: Vec<u32>,
    contacts: Vec<u32>,
    r: Vec<Vec3>,
}

impl Whole {
    /// Runs `method` on all contacts of `p`: impulses enter as r = λ/k and leave as λ = k r (k the stretch of the
    /// cone, so that power is kept: u' = k u), and then v = A⁻¹(b + Jᵀλ).
    pub fn solve(
        &mut self,
        method: &mut impl Iteration,
        p: &ContactProblem,
        x: &mut Solution,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        self.r.clear();
        self.r.extend(x.lambda.iter().zip(&p.law).map(|(l, f)| *l / f.stretch()));
        self.contacts.clear();
        self.contacts.extend(0..p.contacts() as u32);
        self.blocks.clear();
        self.blocks.extend(0..p.a.block_rows() as u32);
        let in_bodies = self.bodies.prepare(p, &self.contacts);
        let factored = !in_bodies && self.coupled.prepare(p, &self.blocks, &self.contacts);
        let mut report = if in_bodies {
            method.run(&mut self.bodies, &mut self.r, p.velocity_scale, trace)
        } else if factored {
            method.run(&mut LocalForm::new(&self.coupled.local), &mut self.r, p.velocity_scale, trace)
        } else {
            // A is not positive definite.
            SolveReport { status: Status::Budget, velocity: f64::INFINITY, ..SolveReport::default() }
        };
        report.islands = usize::from(p.contacts() > 0);
        for (c, r) in self.r.iter().enumerate() {
            x.lambda[c] = *r * p.law[c].stretch();
        }
        if in_bodies {
            p.free_velocity(&mut x.v);
            self.bodies.write_velocity(&self.r, &mut x.v);
        } else if factored {
            x.v.resize(p.dofs(), 0.0);
            self.coupled.write_velocity(p, &self.contacts, &x.lambda, &mut x.v);
        }
        report
    }
}

/// Runs `method` on a bare problem.
pub(crate) fn solve_local(
    method: &mut impl Iteration,
    p: &LocalProblem,
    r: &mut [Vec3],
    trace: &mut dyn Trace,
) -> SolveReport {
    let mut report = method.run(&mut LocalForm::new(p), r, 0.0, trace);
    report.islands = usize::from(!r.is_empty());
    report
}
