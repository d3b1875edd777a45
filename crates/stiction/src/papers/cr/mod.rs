//! Conjugate residuals on the mixed complementarity problem (Verschoor & Jalba 2019, "CR").
//!
//! Velocities and multipliers are found together, on the saddle system itself: no Delassus, Schur or LCP matrix, one
//! product with A per iteration. Constraints change between open, stick and slip while the iteration runs.
//!
//! | paper | here |
//! |---|---|
//! | Alg. 1, lines 7–22 | [`ConjugateResidual`], `iterate.rs` |
//! | Alg. 2 and 3, (12), (13), (16), (18) | `states.rs` |
//! | contacts that contradict each other; not in the paper | `contradiction.rs` |
//! | velocities of the multipliers found; not in the paper | `settle.rs` |
//! | iterates that run off; not in the paper | `best.rs` |
//! | B y = d (20), r = r_u + r_c (3.5) | `system.rs` |
//! | Diag, Full (22) | `precondition.rs` |
//! | Z (3.4.1) | `similar.rs` |
//! | MINRES (7) | `minres.rs` |
//! | ICA, staggered projections (6.2) | [`ica`], [`staggered`] |
//! | Fischer–Burmeister error (24) | [`complementarity`] |
//!
//! Signs and scales: the paper's J holds Δt, so that its rows are distances and its λ a force; ours are velocities and
//! impulses, and ε₂ [m] is compared with h·u. Its normal multiplier has the wrong sign in (9), (11), (15), (17), (20)
//! (R1), its γ is −λ_t (R2).
//!
//! Where we differ, in both presets: below ε₁ the interval of evaluations is 1 and not growing again (R4); a residual
//! in constraint rows alone, on which CR breaks down, is left by one minimal-residual step and a restart (R5); δ starts
//! along the sliding velocity (R6); signs of converged rows are asked for with the tolerance as slack, and an activation
//! is as large as its violation, since no multiplier jumps with it. The preset [`Settings::robust`] adds what reaching
//! the yardstick takes.

mod best;
pub mod complementarity;
mod contradiction;
pub mod ica;
mod iterate;
mod minres;
mod pair;
mod precondition;
pub(crate) mod refine;
mod settle;
mod similar;
pub mod staggered;
mod states;
mod stop;
mod system;
#[cfg(test)]
mod tests;

pub use iterate::{Counts, HistoryRecord};
pub use precondition::{Diagonal, Preconditioner};
pub use stop::Stop;

use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::linalg::{BlockMat, Vec3};
use crate::solvers::{ContactSolver, SolveReport, SolverSettings, Status, Trace};
use iterate::Engine;
use system::{Rows, Saddle};

/// When constraints are evaluated (line 2 of Algorithm 2, R4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Every ⌊ln²(r/ε₁)/3⌋ iterations: the printed log², read as a square.
    LogSquared,
    /// Every ⌊log₂(r/ε₁)/3⌋ iterations: the printed log², read as a base.
    #[default]
    Log2,
    /// Every iteration.
    Always,
    /// At convergence only: an active-set method.
    AtConvergence,
}

impl Interval {
    /// Iterations between evaluations where the residual is `ratio` times its tolerance.
    fn of(self, ratio: f64) -> usize {
        let ratio = ratio.max(1.0);
        match self {
            Interval::LogSquared => ((ratio.ln().powi(2) / 3.0) as usize).max(1),
            Interval::Log2 => ((ratio.log2() / 3.0) as usize).max(1),
            Interval::Always => 1,
            Interval::AtConvergence => usize::MAX,
        }
    }
}

/// How far a sliding direction follows the sliding velocity with each update (line 8 of Algorithm 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// By this share α_θ, 0 to 1.
    Fixed(f64),
    /// By |u_t|/(|u_t| + k S μ λ'): far where contacts slide fast, little where friction itself decides where they
    /// slide. A fixed share turns slow contacts to and fro for ever, because their velocity answers to a turn of the
    /// force by W μ λ/|u_t| times its angle; k covers what S = diag(J A_d⁻¹ Jᵀ) lacks of W, and is enlarged for contacts that turn to
    /// and fro all the same.
    Damped(f64),
}

impl Turn {
    /// The share at a sliding speed, where friction alone would change the velocity by `response` [m/s].
    fn share(self, speed: f64, response: f64) -> f64 {
        match self {
            Turn::Fixed(share) => share,
            Turn::Damped(k) => speed / (speed + k * response),
        }
    }
}

/// When a row that would have to pull, or friction beyond its cone, is released: (13) and (16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signs {
    /// As printed: when its velocity is not on the wrong side.
    Printed,
    /// When its velocity is not farther on the wrong side than its multiplier, S λ < u: the active set of Newton's method for the
    /// projected equations. Contacts that are nearly copies and contradict each other are held by large opposite multipliers while
    /// velocities come from the wrong side; as printed none of them is ever released.
    #[default]
    Weighed,
}

/// The shape of the friction law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cone {
    /// Coulomb's cone with a direction that follows the sliding velocity.
    #[default]
    Round,
    /// A pyramid: each tangent for itself, |γ_i| ≤ μ λ.
    Pyramid,
}

/// The Krylov method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Conjugate residuals, two-term recurrence.
    #[default]
    Cr,
    /// Minimal residuals by Lanczos vectors (Section 7); with `Full` the norms are taken of absolute values.
    Minres,
}

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// When it has converged.
    pub stop: Stop,
    /// When constraints are evaluated.
    pub interval: Interval,
    /// Intervals grow while evaluations do not bring the residual down.
    pub patient: bool,
    /// When rows are released.
    pub signs: Signs,
    /// The preconditioner.
    pub preconditioner: Preconditioner,
    /// What the preconditioner keeps of A.
    pub diagonal: Diagonal,
    /// Friction cone or pyramid.
    pub cone: Cone,
    /// The Krylov method.
    pub method: Method,
    /// Share α_θ by which a sliding direction follows the sliding velocity.
    pub turn: Turn,
    /// Directions nearer than this angle ε_θ are left alone [rad]; where the yardstick judges, those are that leave little of it.
    pub angle: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

impl Settings {
    /// Tolerance of [`robust`](Settings::robust): natural map and momentum error over the velocity scale.
    pub const TOLERANCE: f64 = 1e-6;

    /// As printed: ε₁ = 5e-5, ε₂ = 5e-6 m, α_θ = 0.01, ε_θ = 1.2°, log² as a square, diag(A) by entries.
    ///
    /// It stops at a natural map of about 1e-4 m/s where contacts slide.
    pub fn paper() -> Settings {
        Settings {
            stop: Stop::Paper { eps1: 5e-5, eps2: 5e-6 },
            interval: Interval::LogSquared,
            patient: false,
            signs: Signs::Printed,
            preconditioner: Preconditioner::Full,
            diagonal: Diagonal::Entries,
            cone: Cone::Round,
            method: Method::Cr,
            turn: Turn::Fixed(0.01),
            angle: 1.2_f64.to_radians(),
            max_iterations: 20_000,
        }
    }

    /// Log₂ interval that grows where it does not help, α_θ by speed, and the yardstick as the judge, of
    /// sliding directions too: the default.
    pub fn robust() -> Settings {
        Settings {
            stop: Stop::Yardstick { tolerance: Settings::TOLERANCE },
            interval: Interval::Log2,
            patient: true,
            signs: Signs::Weighed,
            diagonal: Diagonal::Blocks,
            turn: Turn::Damped(3.0),
            angle: 0.0,
            max_iterations: 60_000,
            ..Settings::paper()
        }
    }

    /// With what the user asked for; a tolerance is that of the yardstick.
    pub fn with(mut self, s: &SolverSettings) -> Settings {
        if let Some(tolerance) = s.tolerance {
            self.stop = Stop::Yardstick { tolerance };
        }
        self.max_iterations = s.max_iterations.unwrap_or(self.max_iterations);
        self
    }
}

/// The solver. Keeps its buffers from solve to solve.
#[doc(alias = "MLCP")]
#[doc(alias = "conjugate residual")]
pub struct ConjugateResidual {
    settings: Settings,
    rows: Rows,
    engine: Engine,
    empty: BlockMat,
    lambda: Vec<Vec3>,
}

impl ConjugateResidual {
    /// With these settings.
    pub fn new(settings: Settings) -> ConjugateResidual {
        ConjugateResidual {
            settings,
            rows: Rows::default(),
            engine: Engine::default(),
            empty: BlockMat::default(),
            lambda: Vec::new(),
        }
    }

    /// What the last solve took.
    pub fn counts(&self) -> Counts {
        self.engine.counts
    }

    /// Whether contact `c` of the last problem ended in the state of kinetic friction.
    pub fn slips(&self, c: usize) -> bool {
        self.engine.slips(c)
    }

    /// Keeps the norms of every iteration from now on (see [`history`](ConjugateResidual::history)).
    pub fn record_history(&mut self) {
        self.engine.history = Some(Vec::new());
    }

    /// Norms of every iteration of the last solve, where they are recorded.
    pub fn history(&self) -> &[HistoryRecord] {
        self.engine.history.as_deref().unwrap_or(&[])
    }

    /// Solves a bare problem `u = W r + q`: conjugate residuals on W.
    pub fn solve_local(&mut self, p: &LocalProblem, r: &mut [Vec3], trace: &mut dyn Trace) -> SolveReport {
        self.rows.take_local(p);
        let sys = Saddle { a: &self.empty, b: &[], rows: &self.rows, w: Some(p) };
        let mut v = Vec::new();
        let scales = stop::Scales { h: 1.0, least: 0.0 };
        let mut report = self.engine.solve(&self.settings, &sys, scales, &mut v, r, trace);
        report.islands = usize::from(!r.is_empty());
        report
    }
}

impl ContactSolver for ConjugateResidual {
    fn name(&self) -> &'static str {
        "cr"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.rows.take(p);
        self.lambda.clear();
        self.lambda.extend(x.lambda.iter().zip(&p.law).map(|(l, law)| *l / law.stretch()));
        let direct = p.a.is_block_diagonal();
        if direct {
            // Without couplings the velocity of an impulse is at hand.
            self.set_velocity(p, x);
        } else if !x.v.iter().all(|v| v.is_finite()) {
            x.v.fill(0.0);
        }
        let sys = Saddle { a: &p.a, b: &p.b, rows: &self.rows, w: None };
        let scales = stop::Scales { h: p.h, least: p.velocity_scale };
        let mut report = self.engine.solve(&self.settings, &sys, scales, &mut x.v, &mut self.lambda, trace);
        report.islands = usize::from(p.contacts() > 0);
        for (c, l) in self.lambda.iter().enumerate() {
            x.lambda[c] = *l * p.law[c].stretch();
        }
        if direct && report.status == Status::Converged {
            self.set_velocity(p, x);
        }
        report
    }
}

impl ConjugateResidual {
    /// v = A⁻¹(b + Jᵀ λ) where A is block diagonal.
    fn set_velocity(&self, p: &ContactProblem, x: &mut Solution) {
        x.v.clear();
        x.v.extend_from_slice(&p.b);
        self.rows.j.mul_t_add(&self.lambda, &mut x.v);
        for i in 0..p.a.block_rows() {
            p.divide_block(i, &mut x.v);
        }
    }
}
