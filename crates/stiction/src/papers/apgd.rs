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

use crate::contact::delassus::Delassus;
use crate::contact::delassus::factored::Factored;
use crate::contact::law::RoundLaw;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::linalg::Vec3;
use crate::solvers::measure::{relaxed_measure, velocity_measure, velocity_scale};
use crate::solvers::whole;
use crate::solvers::whole::{Iteration, Whole};
use crate::solvers::{ContactSolver, SolveReport, SolverSettings, Status, Trace, TraceRecord};

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
    factored: Factored,
    r: Vec<Vec3>,
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
        Apgd { descent, whole: Whole::default(), factored: Factored::default(), r: Vec::new() }
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
        // Where A couples dofs W would be dense: products go through a factor of A instead.
        if p.a.is_block_diagonal() || p.contacts() == 0 || !self.factored.prepare(p) {
            return self.whole.solve(&mut self.descent, p, x, trace);
        }
        self.r.clear();
        self.r.extend(x.lambda.iter().zip(&p.law).map(|(l, f)| *l / f.stretch()));
        let mut through = ThroughFactor(&mut self.factored, p);
        let mut report = self.descent.descend(&mut through, &mut self.r, p.velocity_scale, trace);
        (report.islands, report.factorizations) = (1, 1);
        for (c, r) in self.r.iter().enumerate() {
            x.lambda[c] = *r * p.law[c].stretch();
        }
        self.factored.write_velocity(p, &x.lambda, &mut x.v);
        report
    }
}

/// What the descent needs of `u = W r + q`.
trait Gradient {
    fn contacts(&self) -> usize;
    fn law(&self, c: usize) -> RoundLaw;
    fn scale(&self, c: usize) -> f64;
    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]);
    /// Speed by which errors are judged [m/s], at least `least`.
    fn speed(&self, least: f64) -> f64;
    /// Largest natural map as a velocity, of the relaxation or (`shifted`) of Coulomb's law.
    fn error(&self, r: &[Vec3], u: &[Vec3], shifted: bool) -> f64;
}

/// Any form of W that other solvers use too.
struct Stored<'a, D>(&'a mut D);

impl<D: Delassus> Gradient for Stored<'_, D> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }

    fn law(&self, c: usize) -> RoundLaw {
        self.0.law(c)
    }

    fn scale(&self, c: usize) -> f64 {
        self.0.scale(c)
    }

    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]) {
        self.0.velocity(r, u);
    }

    fn speed(&self, least: f64) -> f64 {
        velocity_scale(self.0, least)
    }

    fn error(&self, r: &[Vec3], u: &[Vec3], shifted: bool) -> f64 {
        if shifted { velocity_measure(self.0, r, u, 1.0) } else { relaxed_measure(self.0, r, u, 1.0) }
    }
}

/// W through a factor of A: one solve per product.
struct ThroughFactor<'a>(&'a mut Factored, &'a ContactProblem);

impl Gradient for ThroughFactor<'_> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }

    fn law(&self, c: usize) -> RoundLaw {
        self.0.law(c)
    }

    fn scale(&self, c: usize) -> f64 {
        self.0.scale(c)
    }

    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]) {
        self.0.velocity(self.1, r, u);
    }

    fn speed(&self, least: f64) -> f64 {
        let speed = |c: usize| match self.0.law(c) {
            RoundLaw::Cone(_) => self.0.free(c).length(),
            rows => self.0.scale(c) * rows.natural_map(Vec3::ZERO, self.0.free(c), self.0.scale(c)).length(),
        };
        (0..self.contacts()).map(speed).fold(least.max(f64::MIN_POSITIVE), f64::max)
    }

    fn error(&self, r: &[Vec3], u: &[Vec3], shifted: bool) -> f64 {
        let map = |c: usize| {
            let (law, g) = (self.0.law(c), self.0.scale(c));
            let map =
                if shifted { law.natural_map(r[c], u[c], g) } else { r[c] - law.project(r[c] - u[c] / g) };
            g * map.length()
        };
        let worst = (0..r.len()).map(map).fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m });
        if worst.is_nan() { f64::INFINITY } else { worst }
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
        self.descend(&mut Stored(d), r, least, trace)
    }
}

impl Descent {
    fn descend(
        &mut self,
        d: &mut impl Gradient,
        r: &mut [Vec3],
        least: f64,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let n = d.contacts();
        self.prepare(n);
        let scale = d.speed(least);
        d.velocity(r, &mut self.u);
        self.y.copy_from_slice(r);
        self.u_y.copy_from_slice(&self.u);
        self.best.copy_from_slice(r);
        let mut best_error = f64::INFINITY;
        let (mut theta, mut lipschitz) = (1.0_f64, 1.0_f64);
        let mut report = SolveReport::default();
        loop {
            let error = d.error(r, &self.u, false) / scale;
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
        report.velocity = d.error(r, &self.u, true) / scale;
        report.status = if best_error <= self.tolerance { Status::Converged } else { Status::Budget };
        report
    }

    fn prepare(&mut self, n: usize) {
        for x in [&mut self.u, &mut self.y, &mut self.u_y, &mut self.next, &mut self.u_next, &mut self.best] {
            x.resize(n, Vec3::ZERO);
        }
    }
}
