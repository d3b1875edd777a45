//! Accelerated projected gradient descent on the convex relaxation of Coulomb's law (Mazhar, Heyn, Negrut & Tasora
//! 2015, "APGD").
//!
//! Minimises ½ rᵀWr + qᵀr over the friction cones. Its optimality conditions are those of Coulomb without de Saxcé's
//! shift, so that **a sliding contact lifts off at u_n = μ|u_t|**: the answer is exact only where nothing slides (or
//! without friction). The solver stops on the relaxation's own natural map; the `velocity` that it reports is the true
//! measure, with the shift, and stays large where contacts slide.
//!
//! | paper | here |
//! |---|---|
//! | N, r, γ | `W`, `−q`, `r` |
//! | θ, β (momentum) | `theta`, `beta` |
//! | L, t = 1/L (backtracking) | `lipschitz` |
//! | restart where the gradient opposes the step | `restart` |
//!
//! Where we differ: steps are taken in the metric of the contacts' own scales `d_c` (cones are unchanged by one factor
//! per contact), so that mass ratios do not spoil the step size; and as velocities are affine in impulses, the velocity
//! at the extrapolated point is extrapolated too: one product with `W` per iteration. `W` is taken as symmetric.

use super::measure::{relaxed_measure, velocity_measure, velocity_scale};
use super::whole::{self, Iteration, Whole};
use super::{ContactSolver, SolveReport, SolverSettings, Status, Trace, TraceRecord};
use crate::contact::delassus::Delassus;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::linalg::Vec3;

/// Stop when the relaxation's measure, relative to the velocity scale, is below this.
const TOLERANCE: f64 = 1e-8;
/// Most gradient steps.
const STEPS: usize = 10_000;
/// Factor by which the step length recovers after each iteration.
const RECOVERY: f64 = 0.9;

/// Accelerated projected gradient on the convex relaxation: not Coulomb's law while sliding.
#[doc(alias = "Nesterov")]
pub struct Apgd {
    descent: Descent,
    whole: Whole,
}

struct Descent {
    tolerance: f64,
    max_iterations: usize,
    /// u = W r + q of the current impulse.
    u: Vec<Vec3>,
    /// The extrapolated impulse and its velocity.
    y: Vec<Vec3>,
    u_y: Vec<Vec3>,
    /// The next impulse and its velocity.
    next: Vec<Vec3>,
    u_next: Vec<Vec3>,
    best: Vec<Vec3>,
}

impl Apgd {
    /// With what the user asked for; 10,000 steps to 1e-8 otherwise.
    pub fn new(settings: &SolverSettings) -> Apgd {
        let descent = Descent {
            tolerance: settings.tolerance.unwrap_or(TOLERANCE),
            max_iterations: settings.max_iterations.unwrap_or(STEPS),
            u: Vec::new(),
            y: Vec::new(),
            u_y: Vec::new(),
            next: Vec::new(),
            u_next: Vec::new(),
            best: Vec::new(),
        };
        Apgd { descent, whole: Whole::default() }
    }

    /// Solves the relaxation of a bare problem `u = W r + q`; `r` holds the guess on entry and the answer on return.
    pub fn solve_local(&mut self, p: &LocalProblem, r: &mut [Vec3], trace: &mut dyn Trace) -> SolveReport {
        whole::solve_local(&mut self.descent, p, r, trace)
    }
}

impl ContactSolver for Apgd {
    fn name(&self) -> &'static str {
        "apgd"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.whole.solve(&mut self.descent, p, x, trace)
    }
}

impl Iteration for Descent {
    fn run<D: Delassus>(
        &mut self,
        d: &mut D,
        r: &mut [Vec3],
        least: f64,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let n = d.contacts();
        self.prepare(n);
        let scale = velocity_scale(d, least);
        d.velocity(r, &mut self.u);
        self.y.copy_from_slice(r);
        self.u_y.copy_from_slice(&self.u);
        self.best.copy_from_slice(r);
        let mut best_error = f64::INFINITY;
        let (mut theta, mut lipschitz) = (1.0_f64, 1.0_f64);
        let mut report = SolveReport::default();
        loop {
            let error = relaxed_measure(d, r, &self.u, scale);
            if error < best_error || report.iterations == 0 {
                best_error = error;
                self.best.copy_from_slice(r);
            }
            trace.record(TraceRecord {
                stage: "apgd",
                iteration: report.iterations,
                factorizations: 0,
                residual: error,
            });
            if error <= self.tolerance || report.iterations >= self.max_iterations {
                break;
            }
            // r⁺ = P(y − u(y)/(L d)), with L doubled until the quadratic model bounds the objective.
            loop {
                for c in 0..n {
                    let step = self.u_y[c] / (lipschitz * d.scale(c));
                    self.next[c] = d.law(c).project(self.y[c] - step);
                }
                d.velocity(&self.next, &mut self.u_next);
                let (mut work, mut size) = (0.0, 0.0);
                for c in 0..n {
                    let dr = self.next[c] - self.y[c];
                    work += dr.dot(self.u_next[c] - self.u_y[c]);
                    size += d.scale(c) * dr.length_squared();
                }
                // ½ δᵀWδ ≤ ½ L |δ|²; a non-finite number ends the search too.
                if work <= lipschitz * size || !work.is_finite() || !lipschitz.is_finite() {
                    break;
                }
                lipschitz *= 2.0;
            }
            let theta_next = 0.5 * (theta * (theta * theta + 4.0).sqrt() - theta * theta);
            let mut beta = theta * (1.0 - theta) / (theta * theta + theta_next);
            theta = theta_next;
            // Restart where the gradient opposes the step.
            let uphill: f64 = (0..n).map(|c| self.u_y[c].dot(self.next[c] - r[c])).sum();
            if uphill > 0.0 {
                (beta, theta) = (0.0, 1.0);
            }
            for c in 0..n {
                self.y[c] = self.next[c] + beta * (self.next[c] - r[c]);
                self.u_y[c] = self.u_next[c] + beta * (self.u_next[c] - self.u[c]);
            }
            r.copy_from_slice(&self.next);
            std::mem::swap(&mut self.u, &mut self.u_next);
            lipschitz *= RECOVERY;
            report.iterations += 1;
        }
        r.copy_from_slice(&self.best);
        d.velocity(r, &mut self.u);
        report.velocity = velocity_measure(d, r, &self.u, scale);
        report.status = if best_error <= self.tolerance { Status::Converged } else { Status::Budget };
        report
    }
}

impl Descent {
    fn prepare(&mut self, n: usize) {
        for x in [&mut self.u, &mut self.y, &mut self.u_y, &mut self.next, &mut self.u_next, &mut self.best] {
            x.resize(n, Vec3::ZERO);
        }
    }
}
