//! Linear solvers of the Schur complement [J H⁻¹ Jᵀ + C] Δλ = b (59): direct, Jacobi, Gauss–Seidel, PCG, PCR, MINRES.
//!
//! The method asks for nothing but a symmetric system, so that any of them fits (Sec. 8.2, 10.4). All but the direct ones
//! take a fixed budget of iterations from x = 0 and may stop early.

mod aggregates;
mod blocks;
mod krylov;
mod precondition;
mod relax;

pub(super) use aggregates::TwoLevel;
pub(super) use blocks::{BlockRows, Incomplete, add_product};
pub use krylov::{conjugate_gradient, conjugate_residual, minres};
pub use precondition::Preconditioner;
pub(super) use precondition::invert;
pub use relax::{gauss_seidel, jacobi};

use super::schur::Schur;
use crate::linalg::real::dot;
use crate::linalg::{DirectKind, Real, SparseDirect};
use serde::{Deserialize, Serialize};

/// Which linear solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinearMethod {
    /// Sparse Cholesky factors of the assembled matrix.
    Llt,
    /// Sparse L D Lᵀ factors of the assembled matrix.
    Ldlt,
    /// Damped Jacobi.
    Jacobi,
    /// Gauss–Seidel.
    GaussSeidel,
    /// Preconditioned conjugate gradients: the residual may rise on the way.
    #[doc(alias = "PCG")]
    ConjugateGradient,
    /// Preconditioned conjugate residuals: the residual never rises in the norm of the preconditioner. The paper's.
    #[default]
    #[doc(alias = "PCR")]
    ConjugateResidual,
    /// MINRES: the same iterates where the matrix is definite, and safe where it is not.
    Minres,
}

impl LinearMethod {
    /// All of them, in the order of tables.
    pub const ALL: [LinearMethod; 7] = [
        LinearMethod::Llt,
        LinearMethod::Ldlt,
        LinearMethod::Jacobi,
        LinearMethod::GaussSeidel,
        LinearMethod::ConjugateGradient,
        LinearMethod::ConjugateResidual,
        LinearMethod::Minres,
    ];

    /// Short name for tables.
    pub fn name(self) -> &'static str {
        match self {
            LinearMethod::Llt => "LLT",
            LinearMethod::Ldlt => "LDLT",
            LinearMethod::Jacobi => "Jacobi",
            LinearMethod::GaussSeidel => "Gauss–Seidel",
            LinearMethod::ConjugateGradient => "PCG",
            LinearMethod::ConjugateResidual => "PCR",
            LinearMethod::Minres => "MINRES",
        }
    }

    /// Which factors, for direct methods.
    pub fn direct(self) -> Option<DirectKind> {
        match self {
            LinearMethod::Llt => Some(DirectKind::Llt),
            LinearMethod::Ldlt => Some(DirectKind::Ldlt),
            _ => None,
        }
    }

    /// True for factorisations.
    pub fn is_direct(self) -> bool {
        self.direct().is_some()
    }
}

/// How J H⁻¹ Jᵀ is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    /// By Jᵀ, then J H⁻¹: never formed (Sec. 11). Direct solvers form it all the same.
    #[default]
    MatrixFree,
    /// As a sparse matrix.
    Assembled,
}

/// Preconditioner of the Krylov methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreconditionerKind {
    /// The diagonal, as in the paper.
    #[default]
    Diagonal,
    /// Blocks of the rows of one contact, joint block or element.
    BlockDiagonal,
    /// Incomplete Cholesky factors of the blocks on the pattern of the assembled matrix; exact along chains of joints.
    IncompleteCholesky,
    /// Two-level multigrid by smoothed aggregation, for the stiffness form of large elastic bodies. The compliance form,
    /// whose unknowns have no smooth modes, takes incomplete factors instead.
    #[doc(alias = "AMG")]
    Multigrid,
}

impl PreconditionerKind {
    /// True for those that are made from the assembled matrix.
    pub fn needs_matrix(self) -> bool {
        matches!(self, PreconditionerKind::IncompleteCholesky | PreconditionerKind::Multigrid)
    }
}

/// Choice of the linear solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearSettings {
    /// Which one.
    pub method: LinearMethod,
    /// Iterations per Newton iteration; 10 to 80 in the paper.
    pub iterations: usize,
    /// Stop when the residual, in the norm of the preconditioner, has fallen to this share; 0 never does.
    pub tolerance: f64,
    /// Product.
    pub product: Product,
    /// Preconditioner.
    pub preconditioner: PreconditionerKind,
}

impl Default for LinearSettings {
    fn default() -> Self {
        LinearSettings {
            method: LinearMethod::ConjugateResidual,
            iterations: 20,
            tolerance: 0.0,
            product: Product::MatrixFree,
            preconditioner: PreconditionerKind::Diagonal,
        }
    }
}

impl LinearSettings {
    /// Sparse Cholesky.
    pub fn direct() -> LinearSettings {
        LinearSettings { method: LinearMethod::Llt, ..LinearSettings::default() }
    }

    /// With another method.
    pub fn with_method(self, method: LinearMethod) -> LinearSettings {
        LinearSettings { method, ..self }
    }

    /// With another budget.
    pub fn with_iterations(self, iterations: usize) -> LinearSettings {
        LinearSettings { iterations, ..self }
    }
}

/// What a linear solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinearReport {
    /// Iterations.
    pub iterations: usize,
    /// The factorisation, or the recurrence, broke down: the answer is not one.
    pub broken: bool,
}

/// Working memory of the solvers, reused from solve to solve.
#[derive(Default)]
pub struct LinearSolver<T> {
    direct: SparseDirect<T>,
    preconditioner: Preconditioner<T>,
    work: [Vec<T>; 9],
    /// Norm of the residual in the preconditioner after each iteration, where asked for.
    pub history: Option<Vec<f64>>,
}

impl<T: Real> LinearSolver<T> {
    /// A solver that notes the norm of the residual after each iteration.
    pub fn with_history() -> LinearSolver<T> {
        LinearSolver { history: Some(Vec::new()), ..LinearSolver::default() }
    }

    /// Solves S x = b from x = 0.
    pub fn solve(&mut self, s: &Schur<T>, b: &[T], x: &mut [T], settings: &LinearSettings) -> LinearReport {
        if let Some(kind) = settings.method.direct() {
            let Some(w) = s.assembled() else { return LinearReport { iterations: 0, broken: true } };
            if !self.direct.factor(kind, w, |i, j, v| s.entry(i, j, v)) {
                return LinearReport { iterations: 0, broken: true };
            }
        } else {
            self.preconditioner.prepare(s, settings.preconditioner);
        }
        self.solve_again(s, b, x, settings)
    }

    /// Solves with the matrix of the last [`solve`](LinearSolver::solve), whose factors or preconditioner are kept.
    pub fn solve_again(
        &mut self,
        s: &Schur<T>,
        b: &[T],
        x: &mut [T],
        settings: &LinearSettings,
    ) -> LinearReport {
        x.fill(T::ZERO);
        for w in &mut self.work {
            w.clear();
            w.resize(b.len(), T::ZERO);
        }
        if let Some(history) = &mut self.history {
            history.clear();
        }
        if settings.method.is_direct() {
            x.copy_from_slice(b);
            self.direct.solve(x);
            return LinearReport { iterations: 0, broken: x.iter().any(|x| !x.is_number()) };
        }
        let run = Run {
            s,
            b,
            p: &self.preconditioner,
            most: settings.iterations,
            tolerance: T::of(settings.tolerance),
        };
        let (w, history) = (&mut self.work, &mut self.history);
        match settings.method {
            LinearMethod::Jacobi => jacobi(&run, x, w, history),
            LinearMethod::GaussSeidel => gauss_seidel(&run, x, w, history),
            LinearMethod::ConjugateGradient => conjugate_gradient(&run, x, w, history),
            LinearMethod::ConjugateResidual => conjugate_residual(&run, x, w, history),
            LinearMethod::Minres => minres(&run, x, w, history),
            LinearMethod::Llt | LinearMethod::Ldlt => unreachable!("handled above"),
        }
    }
}

/// What an iterative solve is given.
pub struct Run<'a, T> {
    /// The matrix.
    pub s: &'a Schur<T>,
    /// The right-hand side.
    pub b: &'a [T],
    /// The preconditioner.
    pub p: &'a Preconditioner<T>,
    /// Most iterations.
    pub most: usize,
    /// Share to which the residual must fall.
    pub tolerance: T,
}

/// Notes √(rᵀP r) where anyone listens.
fn note<T: Real>(history: &mut Option<Vec<f64>>, r: &[T], z: &[T]) {
    if let Some(h) = history {
        h.push(dot(r, z).to_f64().max(0.0).sqrt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;
    use crate::papers::nsn::solve::Regularization;

    const DOFS: usize = 9;
    const ROWS: usize = 8;
    const PRECONDITIONERS: [PreconditionerKind; 4] = [
        PreconditionerKind::Diagonal,
        PreconditionerKind::BlockDiagonal,
        PreconditionerKind::IncompleteCholesky,
        PreconditionerKind::Multigrid,
    ];

    /// A body and a particle under three blocks of rows, with scaled rows, one that is switched off and two that are coupled in
    /// C, and a right-hand side. The smaller the compliance, the worse the matrix.
    fn system(compliance: f64) -> (Schur<f64>, Vec<f64>) {
        let mut rng = Rng::new(8);
        let mut s = Schur::<f64>::default();
        let body: [f64; 36] = std::array::from_fn(|k| if k % 7 == 0 { 1.0 + k as f64 / 7.0 } else { 0.0 });
        s.mass.push(&body, 6);
        s.mass.push(&[2.0, 0.5, 0.0, 0.5, 3.0, 0.1, 0.0, 0.1, 1.0], 3);
        for i in 0..ROWS {
            // The first rows move the body alone, the next both, the last the particle alone.
            let moved = if i < 3 {
                0..6
            } else if i < 6 {
                0..9
            } else {
                6..9
            };
            moved.for_each(|k| s.j.push(k, rng.uniform() - 0.5));
            s.j.end_row();
        }
        s.compliance.reset(ROWS);
        (0..ROWS).for_each(|i| s.compliance.diagonal[i] = compliance);
        let (a, b) = (2.0 * compliance, 0.5 * compliance);
        let inverse = [[a, -b], [-b, a]].map(|row| row.map(|x| x / (a * a - b * b)));
        s.compliance.push_block(4, &[[a, b], [b, a]], &inverse);
        s.scale = vec![1.0, 0.7, 0.0, 1.3, 1.0, 1.0, 0.4, 1.0];
        s.blocks = vec![0, 3, 6, 8];
        s.rows_changed();
        let b = (0..ROWS).map(|_| rng.uniform() - 0.5).collect();
        (s, b)
    }

    /// Elimination without pivots, which positive definite matrices do not need.
    fn solve_dense(a: &[f64], b: &mut [f64]) {
        let (mut a, n) = (a.to_vec(), b.len());
        for k in 0..n {
            for i in k + 1..n {
                let f = a[i * n + k] / a[k * n + k];
                (k..n).for_each(|c| a[i * n + c] -= f * a[k * n + c]);
                b[i] -= f * b[k];
            }
        }
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|c| a[k * n + c] * b[c]).sum();
            b[k] = (b[k] - known) / a[k * n + k];
        }
    }

    /// D J H⁻¹ Jᵀ D + C + ε with dense matrices, then elimination.
    fn eliminated(s: &Schur<f64>, compliance: f64, epsilon: f64, b: &[f64]) -> Vec<f64> {
        let mut mass = vec![0.0; DOFS * DOFS];
        for k in 0..DOFS {
            let (mut unit, mut column) = (vec![0.0; DOFS], vec![0.0; DOFS]);
            unit[k] = 1.0;
            s.mass.mul(&unit, &mut column);
            (0..DOFS).for_each(|r| mass[r * DOFS + k] = column[r]);
        }
        let mut matrix = vec![0.0; ROWS * ROWS];
        for j in 0..ROWS {
            let mut by: Vec<f64> = (0..DOFS).map(|k| s.j.get(j, k)).collect();
            solve_dense(&mass, &mut by);
            for i in 0..ROWS {
                let w: f64 = (0..DOFS).map(|k| s.j.get(i, k) * by[k]).sum();
                matrix[i * ROWS + j] = s.scale[i] * w * s.scale[j];
            }
        }
        for i in 0..ROWS {
            let coupled = i == 4 || i == 5;
            matrix[i * ROWS + i] += if coupled { 2.0 * compliance } else { compliance } + epsilon;
        }
        matrix[4 * ROWS + 5] += 0.5 * compliance;
        matrix[5 * ROWS + 4] += 0.5 * compliance;
        let mut x = b.to_vec();
        solve_dense(&matrix, &mut x);
        x
    }

    #[test]
    fn every_method_product_and_preconditioner_solves_as_elimination_does() {
        let (compliance, epsilon) = (0.5, 0.01);
        let (mut s, b) = system(compliance);
        let expected = eliminated(&s, compliance, epsilon, &b);
        for method in LinearMethod::ALL {
            for product in [Product::MatrixFree, Product::Assembled] {
                for preconditioner in PRECONDITIONERS {
                    let settings =
                        LinearSettings { method, iterations: 300, tolerance: 1e-14, product, preconditioner };
                    let whole = method.is_direct() || preconditioner.needs_matrix();
                    s.prepare(product, whole, Regularization::Absolute(epsilon));
                    assert_eq!(s.assembled().is_some(), whole || product == Product::Assembled);
                    let mut x = vec![1.0; ROWS];
                    let report = LinearSolver::default().solve(&s, &b, &mut x, &settings);
                    let off = x.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    let case = format!("{method:?}, {product:?}, {preconditioner:?}");
                    assert!(!report.broken && off < 1e-12, "{case}: {report:?}, {off:e} off");
                    // No more directions than unknowns.
                    let krylov = !method.is_direct()
                        && !matches!(method, LinearMethod::Jacobi | LinearMethod::GaussSeidel);
                    assert!(!krylov || report.iterations <= ROWS + 2, "{case}: {report:?}");
                }
            }
        }
    }

    /// (69): the residual of conjugate residuals, in the norm of the preconditioner, never rises; that of conjugate gradients may.
    #[test]
    fn the_residual_of_conjugate_residuals_never_rises() {
        let (mut s, b) = system(1e-4);
        let mut gradients_rise = false;
        for preconditioner in PRECONDITIONERS {
            s.prepare(Product::MatrixFree, preconditioner.needs_matrix(), Regularization::Absolute(0.0));
            let mut p = Preconditioner::default();
            p.prepare(&s, preconditioner);
            // From the answers themselves, not from the recurrence.
            let norm = |method: LinearMethod, iterations: usize| {
                let settings =
                    LinearSettings { method, iterations, preconditioner, ..LinearSettings::default() };
                let (mut x, mut r, mut y) = (vec![0.0; ROWS], vec![0.0; ROWS], Vec::new());
                let mut solver = LinearSolver::with_history();
                solver.solve(&s, &b, &mut x, &settings);
                s.apply(&x, &mut r, &mut y);
                r.iter_mut().zip(&b).for_each(|(r, b)| *r = b - *r);
                p.apply(&r, &mut x);
                let norm = dot(&r, &x).sqrt();
                let noted = solver.history.and_then(|h| h.last().copied()).unwrap_or(norm);
                (norm, noted)
            };
            let first = norm(LinearMethod::ConjugateResidual, 0).0;
            let (mut residual, mut gradient) = (first, first);
            for k in 1..=ROWS {
                let (next, noted) = norm(LinearMethod::ConjugateResidual, k);
                assert!(
                    next <= residual + 1e-10 * first,
                    "{preconditioner:?}, iteration {k}: {residual} to {next}"
                );
                assert!((next - noted).abs() < 1e-9 * first, "{preconditioner:?}: noted {noted}, is {next}");
                residual = next;
                let next = norm(LinearMethod::ConjugateGradient, k).0;
                gradients_rise |= next > 1.01 * gradient;
                gradient = next;
            }
            assert!(residual < 1e-8 * first, "{preconditioner:?}: {residual} of {first}");
        }
        assert!(gradients_rise, "a system on which it matters");
    }
}
