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
