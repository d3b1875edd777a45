//! Solvers of the velocity family: each takes a [`ContactProblem`] and a guess and returns an answer.

pub mod apgd;
pub mod ccs;
pub mod cond;
pub mod cr;
pub mod exact;
pub mod local_solve;
pub mod measure;
pub mod newton;
pub mod penalty;
pub mod pgs;
pub mod row_solve;
pub mod soft;
mod whole;

use crate::contact::{ContactProblem, Solution};

/// A solver of the contact problem.
pub trait ContactSolver: Send {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// `x` holds the guess on entry (sizes must fit) and the answer on return.
    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport;

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
    /// Out of sweeps, factorisations or iterations.
    Budget,
    /// No velocities satisfy the contacts; these ones (by index) contradict each other.
    Infeasible(Vec<usize>),
}

impl Status {
    /// True when the answer is as exact as asked for, or as numbers allow.
    pub fn is_solved(&self) -> bool {
        matches!(self, Status::Converged | Status::Floor)
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

/// The solvers by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// The default: exact Coulomb friction by the chain of `solvers::exact`.
    #[default]
    Exact,
    /// `exact` with its first two stages only and a looser tolerance: bounded time per step.
    Realtime,
    /// Projected Gauss–Seidel with an exact local solve.
    Pgs,
    /// Accelerated projected gradient on the convex relaxation (not Coulomb's law while sliding).
    Apgd,
    /// Non-smooth Newton with friction differentiated exactly (`solvers::newton`).
    #[serde(rename = "nsn")]
    NonsmoothNewton,
    /// The non-linear step of non-smooth Newton (`sim::NonlinearStepper`): true gaps, joints and strains. A way to step
    /// scenes, not to solve contact problems, which `nsn` solves in its place.
    #[serde(rename = "nsn-nonlinear")]
    NonlinearNewton,
    /// Velocity fixed point with virtual nodes, as printed (Lee et al. 2022): contacts give way by λ/k_v.
    Cond,
    /// The same without virtual nodes, with exact blocks of bodies, mixing and multigrid, stopped on an error.
    CondE,
    /// Contact constraint splitting: ADMM with one linear solve per iteration (after Daviet 2020).
    Ccs,
    /// Conjugate residuals on the mixed complementarity problem (`solvers::cr`), matrix-free.
    #[serde(rename = "cr")]
    ConjugateResidual,
    /// `exact`, with the fastest way for each island as measured: mixed multigrid steps on soft ones.
    Auto,
    /// Fully implicit steps with smooth contact forces (`solvers::penalty`): a way to step scenes, not to solve contact
    /// problems, which `exact` solves in its place.
    Penalty,
}

impl SolverKind {
    /// All that solve contact problems, in the order of tables.
    pub const ALL: [SolverKind; 10] = [
        SolverKind::Exact,
        SolverKind::Realtime,
        SolverKind::Pgs,
        SolverKind::Apgd,
        SolverKind::NonsmoothNewton,
        SolverKind::Cond,
        SolverKind::CondE,
        SolverKind::Ccs,
        SolverKind::ConjugateResidual,
        SolverKind::Auto,
    ];

    /// All that scenes can be stepped with.
    pub const STEPPING: [SolverKind; SolverKind::ALL.len() + 2] = {
        let mut all = [SolverKind::Penalty; SolverKind::ALL.len() + 2];
        let mut i = 0;
        while i < SolverKind::ALL.len() {
            all[i] = SolverKind::ALL[i];
            i += 1;
        }
        all[i] = SolverKind::NonlinearNewton;
        all
    };

    /// Name on the command line and in scene files.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Exact => "exact",
            SolverKind::Realtime => "realtime",
            SolverKind::Pgs => "pgs",
            SolverKind::Apgd => "apgd",
            SolverKind::NonsmoothNewton => "nsn",
            SolverKind::NonlinearNewton => "nsn-nonlinear",
            SolverKind::Cond => "cond",
            SolverKind::CondE => "cond-e",
            SolverKind::Ccs => "ccs",
            SolverKind::ConjugateResidual => "cr",
            SolverKind::Auto => "auto",
            SolverKind::Penalty => "penalty",
        }
    }

    /// False for solvers of another law: the convex relaxation, whose answer differs from Coulomb's law where contacts
    /// slide, contacts that give way, and splittings whose contacts and dynamics agree only in the limit.
    pub fn solves_coulomb(self) -> bool {
        !matches!(self, SolverKind::Apgd | SolverKind::Cond | SolverKind::Ccs | SolverKind::Penalty)
    }

    /// True for solvers that hold rigid contacts and joints as exactly as they are asked to.
    pub fn holds_rigidly(self) -> bool {
        !matches!(self, SolverKind::Cond | SolverKind::Ccs | SolverKind::Penalty)
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

/// Makes a solver for single problems.
pub fn make(kind: SolverKind, settings: &SolverSettings) -> Box<dyn ContactSolver> {
    match kind {
        SolverKind::Exact | SolverKind::Penalty => {
            Box::new(exact::Exact::new(exact::Settings::default().with(settings)))
        }
        SolverKind::Realtime => Box::new(exact::Exact::new(exact::Settings::realtime().with(settings))),
        SolverKind::Pgs => Box::new(pgs::Pgs::new(settings)),
        SolverKind::Apgd => Box::new(apgd::Apgd::new(settings)),
        SolverKind::NonsmoothNewton | SolverKind::NonlinearNewton => {
            Box::new(newton::NonsmoothNewton::new(newton::NewtonSettings::robust().with(settings)))
        }
        SolverKind::Cond => Box::new(cond::Cond::new(cond::CondSettings::default().with(settings))),
        SolverKind::Ccs => Box::new(ccs::Ccs::new(settings)),
        SolverKind::Auto => {
            let single = exact::Settings {
                tolerance: exact::Settings::default().tolerance,
                ..exact::Settings::auto()
            };
            Box::new(exact::Exact::new(single.with(settings)))
        }
        SolverKind::CondE => Box::new(cond::CondE::new(cond::CondESettings::default().with(settings))),
        SolverKind::ConjugateResidual => {
            Box::new(cr::ConjugateResidual::new(cr::Settings::robust().with(settings)))
        }
    }
}

/// Makes a solver for time stepping, where the next step starts from the answer of this one.
pub fn make_for_steps(kind: SolverKind, settings: &SolverSettings) -> Box<dyn ContactSolver> {
    match kind {
        SolverKind::Exact => Box::new(exact::Exact::new(exact::Settings::stepping().with(settings))),
        SolverKind::Auto => Box::new(exact::Exact::new(exact::Settings::auto().with(settings))),
        SolverKind::Cond => {
            let stepping = cond::CondSettings { remember: true, recycle: 10, ..Default::default() };
            Box::new(cond::Cond::new(stepping.with(settings)))
        }
        other => make(other, settings),
    }
}
