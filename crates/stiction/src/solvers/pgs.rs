//! Projected Gauss–Seidel: contact after contact is solved exactly while the others hold still.
//!
//! Each sweep costs O(contacts). Errors travel one contact per sweep, so that stacks and heavy-on-light piles take
//! very many sweeps; the status says so ([`Status::Budget`]). It solves Coulomb's law itself, not a relaxation:
//! [`solve_one`] treats open, stick and slip exactly.

use super::local_solve::solve_one;
use super::measure::{backward_error, velocity_measure, velocity_scale};
use super::whole::{self, Iteration, Whole};
use super::{ContactSolver, SolveReport, SolverSettings, Status, Trace, TraceRecord};
use crate::contact::delassus::Delassus;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::linalg::Vec3;

/// Stop when the velocity measure, relative to the velocity scale, is below this.
const TOLERANCE: f64 = 1e-8;
/// Most sweeps.
const SWEEPS: usize = 10_000;
/// The measure costs about half a sweep: it is taken this often.
const CHECK_EVERY: usize = 5;

/// Projected Gauss–Seidel with an exact local solve.
#[doc(alias = "NSGS")]
#[doc(alias = "Gauss-Seidel")]
pub struct Pgs {
    sweeps: Sweeps,
    whole: Whole,
}

struct Sweeps {
    tolerance: f64,
    max_iterations: usize,
    u: Vec<Vec3>,
    /// Speed ratio of the last slip of each contact: where the next local solve starts.
    ratio: Vec<f64>,
    size: Vec<f64>,
}

impl Pgs {
    /// With what the user asked for; 10,000 sweeps to 1e-8 otherwise.
    pub fn new(settings: &SolverSettings) -> Pgs {
        let sweeps = Sweeps {
            tolerance: settings.tolerance.unwrap_or(TOLERANCE),
            max_iterations: settings.max_iterations.unwrap_or(SWEEPS),
            u: Vec::new(),
            ratio: Vec::new(),
            size: Vec::new(),
        };
        Pgs { sweeps, whole: Whole::default() }
    }

    /// Solves a bare problem `u = W r + q`; `r` holds the guess on entry and the answer on return.
    pub fn solve_local(&mut self, p: &LocalProblem, r: &mut [Vec3], trace: &mut dyn Trace) -> SolveReport {
        whole::solve_local(&mut self.sweeps, p, r, trace)
    }
}

impl ContactSolver for Pgs {
    fn name(&self) -> &'static str {
        "pgs"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.whole.solve(&mut self.sweeps, p, x, trace)
    }
}

impl Iteration for Sweeps {
    fn run<D: Delassus>(
        &mut self,
        d: &mut D,
        r: &mut [Vec3],
        least: f64,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let n = d.contacts();
        self.u.resize(n, Vec3::ZERO);
        self.ratio.clear();
        self.ratio.resize(n, 0.0);
        let scale = velocity_scale(d, least);
        let check_every = if trace.wants() { 1 } else { CHECK_EVERY };
        let mut report = SolveReport::default();
        loop {
            // How good is it? An exact guess is left as it is.
            if report.iterations % check_every == 0 || report.iterations == self.max_iterations {
                d.velocity(r, &mut self.u);
                report.velocity = velocity_measure(d, r, &self.u, scale);
                trace.record(TraceRecord {
                    stage: "pgs",
                    iteration: report.iterations,
                    factorizations: 0,
                    residual: report.velocity,
                });
                if report.velocity <= self.tolerance {
                    report.status = Status::Converged;
                    return report;
                }
                if report.iterations >= self.max_iterations {
                    let floor = backward_error(d, r, &self.u, &mut self.size) <= super::measure::FLOOR;
                    report.status = if floor { Status::Floor } else { Status::Budget };
                    return report;
                }
                // Bodies carry velocities from sweep to sweep; fresh ones keep rounding from adding up.
                d.load(r);
            }
            // r_c = exact answer of contact c to the free velocity k = u_c − W_cc r_c.
            for c in 0..n {
                let w = d.diagonal(c);
                let k = d.contact_velocity(c) - w * r[c];
                let next = solve_one(&w, k, d.mu(c), &mut self.ratio[c]);
                if next != r[c] {
                    d.add_impulse(c, next - r[c]);
                    r[c] = next;
                }
            }
            report.iterations += 1;
        }
    }
}
