//! Iterative constraint anticipation (Otaduy, Tamstorf, Steinemann & Gross 2009), the paper's fastest rival (6.2.2).
//!
//! With A = D + (rest), D the diagonal blocks: anticipate the velocity by a block Jacobi step, find multipliers that
//! make it lawful from the small complementarity problem with J D⁻¹ Jᵀ by projected Gauss–Seidel, then relax the
//! velocity under these multipliers by one block Gauss–Seidel sweep over A; repeat. Two passes over A per iteration.
//!
//! It starts from the velocity without contacts, whose iterations count. D is multiplied by just over half of the
//! largest eigenvalue of D⁻¹A where that exceeds two: otherwise the Jacobi step overshoots and the iteration diverges.

use super::precondition::{Conditioner, Diagonal, Preconditioner};
use super::stop::{Limits, Scales, natural};
use super::system::{Rows, Saddle};
use super::{ConjugateResidual, Settings, Stop};
use crate::contact::delassus::Delassus;
use crate::contact::delassus::local::LocalForm;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::coords::{BlockKind, Layout};
use crate::linalg::{BlockMat, Vec3};
use crate::solvers::{ContactSolver, SolveReport, Status, Trace, TraceRecord};

/// Sweeps of the small problem per iteration; it converges much faster than velocities do.
const SWEEPS: usize = 10;
/// Steps of the power iteration for the largest eigenvalue of D⁻¹ A.
const POWERS: usize = 15;
/// Safety of the estimate of that eigenvalue.
const MARGIN: f64 = 1.1;

/// The solver. It stops as [`ConjugateResidual`] does.
#[doc(alias = "Otaduy")]
pub struct Ica {
    stop: Stop,
    max_iterations: usize,
    /// Passes over A of the last solve.
    pub products: usize,
}

impl Ica {
    /// With this stop test.
    pub fn new(stop: Stop, max_iterations: usize) -> Ica {
        Ica { stop, max_iterations, products: 0 }
    }
}

impl ContactSolver for Ica {
    fn name(&self) -> &'static str {
        "ica"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        let settings = Settings {
            stop: self.stop,
            preconditioner: Preconditioner::Diag,
            max_iterations: self.max_iterations,
            ..Settings::paper()
        };
        let mut rows = Rows::default();
        rows.take(p);
        let sys = Saddle { a: &p.a, b: &p.b, rows: &rows, w: None };
        let mut conditioner = Conditioner::default();
        conditioner.build(Preconditioner::Diag, Diagonal::Blocks, &sys);
        let mut limits = Limits::default();
        limits.set(&settings, Scales { h: p.h, least: p.velocity_scale }, &sys, &conditioner);
        // The velocity without contacts, from the guess.
        let mut free = p.clone();
        free.clear_rows();
        let mut start = Solution { v: std::mem::take(&mut x.v), lambda: Vec::new() };
        let mut unconstrained = ConjugateResidual::new(settings);
        let mut report = unconstrained.solve(&free, &mut start, &mut ());
        self.products = unconstrained.counts().products;
        let mut v = start.v;

        let stretch: Vec<Vec3> = p.law.iter().map(|l| l.stretch()).collect();
        let mut r: Vec<Vec3> = x.lambda.iter().zip(&stretch).map(|(l, k)| *l / *k).collect();
        let relax = (MARGIN * largest_eigenvalue(&sys, &conditioner) / 2.0).max(1.0);
        self.products += POWERS;
        let mut local = anticipated(p, relax);
        let mut slip = vec![0.0; p.contacts()];
        let (mut f, mut step) = (vec![0.0; p.dofs()], vec![0.0; p.dofs()]);
        report.status = Status::Budget;
        loop {
            // f = b − A v, for the stop test and the Jacobi step.
            p.a.mul(&v, &mut f);
            self.products += 1;
            for (f, b) in f.iter_mut().zip(&p.b) {
                *f = b - *f;
            }
            let worst = natural(&sys, &conditioner.own, &v, &r);
            step.copy_from_slice(&f);
            rows.j.mul_t_add(&r, &mut step);
            let ratio = limits.momentum_ratio(&step);
            let (iteration, factorizations) = (report.iterations, 0);
            trace.record(TraceRecord { stage: "ica", iteration, factorizations, residual: ratio });
            report.velocity = worst / limits.scale;
            if ratio < 1.0 && limits.accepts_natural(worst) {
                report.status = Status::Converged;
                break;
            }
            if report.iterations >= self.max_iterations || !worst.is_finite() {
                break;
            }
            // Anticipate: q = J (v + D⁻¹ (b − A v)) + bias, and multipliers that make it lawful.
            conditioner.divide(&sys, &f, &mut step);
            for (s, v) in step.iter_mut().zip(&v) {
                *s = v + *s / relax;
            }
            for c in 0..p.contacts() {
                local.q[c] = rows.j.mul_one(c, &step) + rows.bias[c];
            }
            let mut form = LocalForm::new(&local);
            form.load(&r);
            for _ in 0..SWEEPS {
                form.sweep(&mut r, &mut slip);
            }
            // (D + L) v⁺ = b + Jᵀλ − U v.
            step.copy_from_slice(&p.b);
            rows.j.mul_t_add(&r, &mut step);
            relax_velocity(p, &step, &mut v);
            self.products += 1;
            report.iterations += 1;
        }
        x.v = v;
        for (c, r) in r.iter().enumerate() {
            x.lambda[c] = *r * stretch[c];
        }
        report.islands = usize::from(p.contacts() > 0);
        report
    }
}

/// The problem with J (ω D)⁻¹ Jᵀ.
fn anticipated(p: &ContactProblem, relax: f64) -> LocalProblem {
    let mut layout = Layout::new();
    for i in 0..p.a.block_rows() {
        layout.push(if p.a.block(i).1 == 6 { BlockKind::Rigid } else { BlockKind::Node });
    }
    let mut d = BlockMat::block_diagonal(&layout.widths());
    for i in 0..p.a.block_rows() {
        for (to, from) in d.diagonal_block_mut(i).iter_mut().zip(p.a.diagonal_block(i)) {
            *to = relax * from;
        }
    }
    LocalProblem::from_problem(&ContactProblem { a: d, ..p.clone() })
}

/// Largest eigenvalue of D⁻¹ A by the power method from a vector without symmetry.
fn largest_eigenvalue(sys: &Saddle, conditioner: &Conditioner) -> f64 {
    let n = sys.dofs();
    let mut x: Vec<f64> = (0..n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect();
    let (mut ax, mut size) = (vec![0.0; n], 1.0);
    for _ in 0..POWERS {
        sys.a.mul(&x, &mut ax);
        conditioner.divide(sys, &ax, &mut x);
        size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(size.is_finite() && size > 0.0) {
            return 1.0;
        }
        x.iter_mut().for_each(|x| *x /= size);
    }
    size
}

/// One forward block Gauss–Seidel sweep of A v = f.
fn relax_velocity(p: &ContactProblem, f: &[f64], v: &mut [f64]) {
    let mut rest = [0.0; 6];
    for i in 0..p.a.block_rows() {
        let (d, n) = p.a.block(i);
        rest[..n].copy_from_slice(&f[d..d + n]);
        for (j, block) in p.a.row(i).filter(|(j, _)| *j != i) {
            let (e, m) = p.a.block(j);
            for r in 0..n {
                for c in 0..m {
                    rest[r] -= block[r * m + c] * v[e + c];
                }
            }
        }
        v[d..d + n].copy_from_slice(&rest[..n]);
        p.divide_block(i, v);
    }
}
