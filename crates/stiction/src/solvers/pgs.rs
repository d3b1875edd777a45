//! Projected Gauss–Seidel: contact after contact is solved exactly while the others hold still.
//!
//! Each sweep costs O(contacts). Errors travel one contact per sweep, so that stacks and heavy-on-light piles take
//! very many sweeps; the status says so ([`Status::Budget`]). It solves Coulomb's law itself, not a relaxation:
//! [`solve_one`](crate::contact::law::coulomb::solve_one) treats open, stick and slip exactly.

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
                    let floor = backward_error(d, 1.0, r, &self.u, &mut self.size) <= super::measure::FLOOR;
                    report.status = if floor { Status::Floor } else { Status::Budget };
                    return report;
                }
                // Bodies carry velocities from sweep to sweep; fresh ones keep rounding from adding up.
                d.load(r);
            }
            // r_c = exact answer of contact c to the free velocity k = u_c − W_cc r_c.
            d.sweep(r, &mut self.ratio);
            report.iterations += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::samples;
    use crate::linalg::Mat3;

    #[test]
    fn bare_problems_and_bodies_take_the_same_sweeps_to_the_same_impulses() {
        let p = samples::wall(3, 3, 0.6, 3);
        let local = LocalProblem::from_problem(&p);
        let settings = SolverSettings { tolerance: Some(1e-6), max_iterations: None };
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        let mut r = x.lambda.clone();
        let (mut by_bodies, mut by_blocks) = (Vec::new(), Vec::new());
        let a = Pgs::new(&settings).solve(&p, &mut x, &mut by_bodies);
        let b = Pgs::new(&settings).solve_local(&local, &mut r, &mut by_blocks);
        assert_eq!((&a.status, a.iterations), (&b.status, b.iterations));
        assert_eq!(by_bodies.len(), a.iterations + 1, "one record per sweep, and one for the guess");
        let largest = r.iter().map(|r| r.length()).fold(0.0, f64::max);
        for (x, y) in x.lambda.iter().zip(&r) {
            assert!((*x - *y).length() < 1e-6 * largest);
        }
    }

    #[test]
    fn running_out_of_sweeps_is_said() {
        let p = samples::heavy_stack(5);
        let settings = SolverSettings { tolerance: None, max_iterations: Some(7) };
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        let report = Pgs::new(&settings).solve(&p, &mut x, &mut ());
        assert_eq!((report.status, report.iterations), (Status::Budget, 7));
        assert!(report.velocity > 1e-8);
    }

    #[test]
    fn odd_blocks_are_ordinary_input() {
        // Unsymmetric, planar and empty blocks, as files hold them.
        let planar = Mat3::from_cols(Vec3::new(1.0, 0.2, 0.0), Vec3::new(0.1, 0.8, 0.0), Vec3::ZERO);
        let coupling = Mat3::from_cols(Vec3::new(0.2, 0.0, 0.0), Vec3::new(0.05, 0.1, 0.0), Vec3::ZERO);
        let blocks = vec![(0, 0, planar), (1, 1, planar), (0, 1, coupling), (1, 0, coupling)];
        let q = vec![Vec3::new(-1.0, 0.7, 0.0), Vec3::new(-0.5, -2.0, 0.0), Vec3::new(0.3, 0.2, 0.1)];
        let p = LocalProblem::from_blocks(blocks, q, vec![0.5, 0.3, 0.4]);
        let mut r = vec![Vec3::ZERO; 3];
        let report = Pgs::new(&SolverSettings::default()).solve_local(&p, &mut r, &mut ());
        assert_eq!(report.status, Status::Converged);
        assert!(r[0].x > 0.0 && r[1].x > 0.0 && r[2] == Vec3::ZERO);
    }
}
