//! Staggered projections (Kaufman, Sueda, James & Pai 2008), the paper's other rival (6.2.3).
//!
//! Two quadratic programs in turn, until neither changes the other's answer: normal multipliers while friction is held,
//! friction on a pyramid while normal multipliers are held. Both are bounded rows of the same conjugate-residual engine:
//! evaluated at convergence only they are active-set solvers, at dynamic intervals the paper's "2×CR".

use super::{ConjugateResidual, Counts, Interval, Preconditioner, Settings, Stop};
use crate::contact::{Bounds, ContactProblem, Friction, Law, Solution};
use crate::linalg::Vec3;
use crate::solvers::{ContactSolver, SolveReport, Status, Trace};

/// The solver. Friction is a pyramid along the tangents, so its answers obey Coulomb's law along these only.
#[doc(alias = "Kaufman")]
pub struct Staggered {
    inner: ConjugateResidual,
    stop: Stop,
    max_rounds: usize,
    /// What all inner solves took together, and the number of rounds.
    pub counts: Counts,
    /// Rounds of the last solve.
    pub rounds: usize,
}

impl Staggered {
    /// With inner solvers that change states at these intervals, preconditioned by `Diag`.
    pub fn new(stop: Stop, interval: Interval, max_iterations: usize, max_rounds: usize) -> Staggered {
        let settings = Settings {
            stop,
            interval,
            preconditioner: Preconditioner::Diag,
            max_iterations,
            ..Settings::paper()
        };
        let inner = ConjugateResidual::new(settings);
        Staggered { inner, stop, max_rounds, counts: Counts::default(), rounds: 0 }
    }

    fn project(&mut self, p: &ContactProblem, x: &mut Solution) -> bool {
        let report = self.inner.solve(p, x, &mut ());
        let c = self.inner.counts();
        self.counts.iterations += c.iterations;
        self.counts.products += c.products;
        self.counts.evaluations += c.evaluations;
        self.counts.switches += c.switches;
        self.counts.fallbacks += c.fallbacks;
        report.status.is_solved()
    }
}

impl ContactSolver for Staggered {
    fn name(&self) -> &'static str {
        "staggered"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, _: &mut dyn Trace) -> SolveReport {
        self.counts = Counts::default();
        self.rounds = 0;
        // Elliptic cones become the pyramid around them.
        let mu = |law: &Law| match *law {
            Law::Contact(Friction::Isotropic(m)) => Some(Vec3::new(0.0, m, m)),
            Law::Contact(Friction::Elliptic(a, b)) => Some(Vec3::new(0.0, a, b)),
            Law::Rows(_) => None,
        };
        let mut half = p.clone();
        let mut status = Status::Budget;
        let mut last = x.lambda.clone();
        let limit = self.inner.change_limit(p, self.stop);
        while self.rounds < self.max_rounds {
            self.rounds += 1;
            // Normal multipliers, friction held.
            for (c, law) in p.law.iter().enumerate() {
                if mu(law).is_some() {
                    let held = x.lambda[c];
                    let rows = Bounds { lo: held, hi: held }.with_row(0, 0.0, f64::INFINITY);
                    half.law[c] = Law::Rows(rows);
                }
            }
            let normal = self.project(&half, x);
            // Friction, normal multipliers held.
            for (c, law) in p.law.iter().enumerate() {
                if let Some(mu) = mu(law) {
                    let n = x.lambda[c].x.max(0.0);
                    let cap = mu * n + Vec3::new(n, 0.0, 0.0);
                    half.law[c] = Law::Rows(Bounds { lo: Vec3::new(n, -cap.y, -cap.z), hi: cap });
                }
            }
            let friction = self.project(&half, x);
            // Settled when a round moves no row by more than is postponed.
            let moved = self.inner.largest_change(&last, &x.lambda);
            last.clone_from(&x.lambda);
            if normal && friction && moved <= limit {
                status = Status::Converged;
                break;
            }
            if !(moved.is_finite()) {
                break;
            }
        }
        SolveReport {
            status,
            iterations: self.counts.iterations,
            velocity: f64::NAN,
            islands: usize::from(p.contacts() > 0),
            ..SolveReport::default()
        }
    }
}

impl ConjugateResidual {
    /// The change of a row [m/s] below which updates are postponed.
    fn change_limit(&self, p: &ContactProblem, stop: Stop) -> f64 {
        match stop {
            Stop::Paper { eps2, .. } => eps2 / p.h,
            Stop::Yardstick { tolerance } => tolerance * p.velocity_scale,
        }
    }

    /// Largest change of multipliers as velocities of their rows alone [m/s], after a solve.
    fn largest_change(&self, before: &[Vec3], after: &[Vec3]) -> f64 {
        let own = self.engine.own();
        let change =
            before.iter().zip(after).zip(own).map(|((a, b), o)| (*o * (*b - *a)).abs().max_element());
        change.fold(0.0, f64::max)
    }
}
