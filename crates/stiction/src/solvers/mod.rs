//! Solvers of the velocity family: each takes a [`ContactProblem`] and a guess and returns an answer.

pub mod exact;
pub mod island;
pub mod measure;
pub mod pgs;
pub mod soft;
pub(crate) mod whole;

use crate::contact::{ContactProblem, Solution};

/// A solver of the contact problem.
pub trait ContactSolver: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// `x` holds the guess on entry (sizes must fit) and the answer on return.
    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport;

    /// A time step begins: what bounds the work of a step counts from here.
    fn start_step(&mut self) {}

    /// The same for a problem that differs from the one solved `before` by a few contacts (ascending): new ones, or old
    /// ones with other rows. `x` holds the answer of then, with a guess for those contacts.
    fn solve_again(
        &mut self,
        p: &ContactProblem,
        x: &mut Solution,
        changed: &[u32],
        before: &SolveReport,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let _ = (changed, before);
        self.solve(p, x, trace)
    }
}

/// How a solve ended.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The velocity measure is below the tolerance.
    #[default]
    Converged,
    /// The tolerance is below what 64-bit numbers can reach on this problem; the backward error is at rounding.
    Floor,
    /// Out of sweeps, factorisations or iterations; or the yardstick does not bear out what the solver claims.
    Budget,
    /// No velocities satisfy the contacts; these ones (by index) contradict each other.
    Infeasible(Vec<usize>),
}

impl Status {
    /// True when the answer is as exact as asked for, or as numbers allow.
    pub fn is_solved(&self) -> bool {
        matches!(self, Status::Converged | Status::Floor)
    }

    /// The same, unless the yardstick contradicts it: `Budget` where this claims to be solved and it is not borne out.
    pub fn judged(self, borne_out: bool) -> Status {
        if self.is_solved() && !borne_out { Status::Budget } else { self }
    }

    /// One word for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::Floor => "floor",
            Status::Budget => "budget",
            Status::Infeasible(_) => "infeasible",
        }
    }
}

/// What a solve took and reached.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SolveReport {
    /// How it ended.
    pub status: Status,
    /// Iterations of the solver's main loop (sweeps, gradient steps, …).
    pub iterations: usize,
    /// Factorisations of a system matrix.
    pub factorizations: usize,
    /// Multiplications in these factorisations, estimated (`exact` only).
    pub work: f64,
    /// The velocity measure that was reached, relative to the velocity scale (see [`measure`]).
    pub velocity: f64,
    /// Islands that were solved apart.
    pub islands: usize,
}

/// One record of a convergence curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRecord {
    /// Which part of the solver speaks.
    pub stage: &'static str,
    /// Iterations so far.
    pub iteration: usize,
    /// Factorisations so far.
    pub factorizations: usize,
    /// Its residual: the relative velocity measure where the solver has one.
    pub residual: f64,
}

/// Receives one record per iteration. `()` is silent; a `Vec<TraceRecord>` keeps them.
pub trait Trace: Send {
    /// False: nobody listens, so solvers need not compute what only the trace needs.
    fn wants(&self) -> bool {
        true
    }

    /// One record.
    fn record(&mut self, r: TraceRecord);
}

impl Trace for () {
    fn wants(&self) -> bool {
        false
    }

    fn record(&mut self, _: TraceRecord) {}
}

impl Trace for Vec<TraceRecord> {
    fn record(&mut self, r: TraceRecord) {
        self.push(r);
    }
}

/// Settings that all solvers share; `None` is the solver's own default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverSettings {
    /// Stop when the velocity measure, relative to the velocity scale, is below this.
    pub tolerance: Option<f64>,
    /// Most iterations (sweeps for `exact`).
    pub max_iterations: Option<usize>,
}
