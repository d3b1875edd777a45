//! The methods by name: what a scene file or the command line can ask for, and what each is made of.
//!
//! [`METHODS`] is the one table. To add a method, give it a variant of [`SolverKind`] and a row.

use crate::error::SceneError;
use crate::integrate::Scheme;
use crate::model::Model;
use crate::papers::{apgd, cond, cr, nsn};
use crate::solvers::{ContactSolver, SolverSettings, exact, pgs};
use crate::steppers::velocity::{Means, Refine, Sleep, StepSettings, VelocityStepper};
use crate::steppers::{Stepper, penalty};

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
    /// Non-smooth Newton with friction differentiated exactly (`papers::nsn::solve`).
    #[serde(rename = "nsn")]
    NonsmoothNewton,
    /// The non-linear step of non-smooth Newton (`papers::nsn::step`): true gaps, joints and strains. A way to step
    /// scenes, not to solve contact problems, which `nsn` solves in its place.
    #[serde(rename = "nsn-nonlinear")]
    NonlinearNewton,
    /// Velocity fixed point with virtual nodes, as printed (Lee et al. 2022): contacts give way by λ/k_v.
    Cond,
    /// The same without virtual nodes, with exact blocks of bodies, mixing and multigrid, stopped on an error.
    CondE,
    /// Contact constraint splitting: ADMM with one linear solve per iteration (after Daviet 2020).
    Ccs,
    /// Conjugate residuals on the mixed complementarity problem (`papers::cr`), matrix-free.
    #[serde(rename = "cr")]
    ConjugateResidual,
    /// `exact`, with the fastest way for each island as measured: mixed multigrid steps on soft ones.
    Auto,
    /// Fully implicit steps with smooth contact forces (`steppers::penalty`): a way to step scenes, not to solve contact
    /// problems, which `exact` solves in its place.
    Penalty,
}

/// The law that the answers of a method satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obeys {
    /// Signorini's and Coulomb's laws.
    Coulomb,
    /// The convex relaxation of Coulomb's law, which differs from it where contacts slide.
    ConvexRelaxation,
    /// Contacts that give way by a compliance of the method.
    CompliantContact,
    /// Coulomb's law on a copy of the contact velocities, which agrees with the dynamics only in the limit.
    SplitCoulomb,
    /// Forces that grow with overlap and slip.
    Penalty,
}

impl Obeys {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Obeys::Coulomb => "coulomb",
            Obeys::ConvexRelaxation => "convex-relaxation",
            Obeys::CompliantContact => "compliant",
            Obeys::SplitCoulomb => "split-coulomb",
            Obeys::Penalty => "penalty",
        }
    }
}

/// What a solver is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A single problem, from a cold start.
    Once,
    /// Problems of a run, each of which starts from the answer to the one before.
    Steps,
}

/// Makes a solver.
type MakeSolver = fn(&SolverSettings, Purpose) -> Box<dyn ContactSolver>;
/// Makes a stepper for a model.
type MakeStepper = fn(&Model, &SimSettings) -> Result<Box<dyn Stepper>, SceneError>;

/// A method: its name, the law that it obeys, and what it is made of.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// What asks for it.
    pub kind: SolverKind,
    /// Name on the command line and in scene files.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The law that its answers satisfy.
    pub obeys: Obeys,
    /// Its solver of contact problems; of a method that poses none, the one that solves bare problems in its place.
    pub solver: MakeSolver,
    /// Its way to take a step.
    pub stepper: MakeStepper,
    /// Its steps pose contact problems.
    pub poses_problems: bool,
}

/// All methods, in the order of tables: solvers of contact problems first.
pub const METHODS: [Method; 12] = [
    Method {
        solver: |s, purpose| match purpose {
            Purpose::Once => exact_with(exact::Settings::default(), s),
            Purpose::Steps => exact_with(exact::Settings::stepping(), s),
        },
        ..velocity(SolverKind::Exact, "exact", "exact Coulomb friction, the default", Obeys::Coulomb)
    },
    Method {
        solver: |s, _| exact_with(exact::Settings::realtime(), s),
        ..velocity(
            SolverKind::Realtime,
            "realtime",
            "the first stages of exact, bounded work",
            Obeys::Coulomb,
        )
    },
    Method {
        solver: |s, _| Box::new(pgs::Pgs::new(s)),
        ..velocity(SolverKind::Pgs, "pgs", "projected Gauss–Seidel, exact local solves", Obeys::Coulomb)
    },
    Method {
        solver: |s, _| Box::new(apgd::Apgd::new(s)),
        ..velocity(
            SolverKind::Apgd,
            "apgd",
            "accelerated projected gradient (Mazhar 2015)",
            Obeys::ConvexRelaxation,
        )
    },
    Method {
        solver: newton,
        ..velocity(SolverKind::NonsmoothNewton, "nsn", "non-smooth Newton (Macklin 2019)", Obeys::Coulomb)
    },
    Method {
        solver: |s, purpose| {
            let printed = cond::CondSettings::default();
            let stepping = cond::CondSettings { remember: true, recycle: 10, ..printed };
            let settings = if purpose == Purpose::Steps { stepping } else { printed };
            Box::new(cond::Cond::new(settings.with(s)))
        },
        ..velocity(
            SolverKind::Cond,
            "cond",
            "velocity fixed point, virtual nodes (Lee 2022)",
            Obeys::CompliantContact,
        )
    },
    Method {
        solver: |s, _| Box::new(cond::CondE::new(cond::CondESettings::default().with(s))),
        ..velocity(SolverKind::CondE, "cond-e", "velocity fixed point, no virtual nodes", Obeys::Coulomb)
    },
    Method {
        solver: |s, _| Box::new(cond::ccs::Ccs::new(s)),
        ..velocity(SolverKind::Ccs, "ccs", "contact constraint splitting (Daviet 2020)", Obeys::SplitCoulomb)
    },
    Method {
        solver: |s, _| Box::new(cr::ConjugateResidual::new(cr::Settings::robust().with(s))),
        stepper: |model, s| {
            let refine: Box<dyn Refine> = Box::new(cr::refine::Relinearizer::default());
            Ok(Box::new(velocity_stepper(model, s, Some(refine))))
        },
        ..velocity(
            SolverKind::ConjugateResidual,
            "cr",
            "conjugate residuals (Verschoor & Jalba 2019)",
            Obeys::Coulomb,
        )
    },
    Method {
        solver: |s, purpose| {
            let steps = exact::Settings::auto();
            let once = exact::Settings { tolerance: exact::Settings::default().tolerance, ..steps };
            exact_with(if purpose == Purpose::Steps { steps } else { once }, s)
        },
        ..velocity(SolverKind::Auto, "auto", "exact, mixing on small soft islands", Obeys::Coulomb)
    },
    Method {
        solver: newton,
        stepper: |model, s| {
            let mut settings = nsn::NonlinearSettings::robust(model);
            settings.newton = settings.newton.with(&s.solver_settings);
            Ok(Box::new(nsn::NonlinearStepper::new(model, settings)?))
        },
        poses_problems: false,
        ..velocity(
            SolverKind::NonlinearNewton,
            "nsn-nonlinear",
            "the non-linear step of non-smooth Newton",
            Obeys::Coulomb,
        )
    },
    Method {
        solver: |s, _| exact_with(exact::Settings::default(), s),
        stepper: |model, s| Ok(Box::new(penalty::PenaltyStepper::new(s.penalty_settings(model)))),
        poses_problems: false,
        ..velocity(SolverKind::Penalty, "penalty", "smooth contact forces (Geilinger 2020)", Obeys::Penalty)
    },
];

/// A method that takes velocity steps with `exact`, until its row says otherwise.
const fn velocity(kind: SolverKind, name: &'static str, title: &'static str, obeys: Obeys) -> Method {
    Method {
        kind,
        name,
        title,
        obeys,
        solver: |s, _| exact_with(exact::Settings::default(), s),
        stepper: |model, s| Ok(Box::new(velocity_stepper(model, s, None))),
        poses_problems: true,
    }
}

fn exact_with(settings: exact::Settings, asked: &SolverSettings) -> Box<dyn ContactSolver> {
    Box::new(exact::Exact::new(settings.with(asked)))
}

fn newton(asked: &SolverSettings, _: Purpose) -> Box<dyn ContactSolver> {
    Box::new(nsn::solve::NonsmoothNewton::new(nsn::solve::NewtonSettings::robust().with(asked)))
}

/// The velocity step with the solver that the settings name.
pub(crate) fn velocity_stepper(
    model: &Model,
    s: &SimSettings,
    refine: Option<Box<dyn Refine>>,
) -> VelocityStepper {
    let solver = make_for_steps(s.solver, &s.solver_settings);
    VelocityStepper::new(model, s.step(), Means { solver, coulomb: s.solver.solves_coulomb(), refine })
}

/// The same with a solver of the caller's. One of a name that is not in the table is taken to solve Coulomb's law.
pub(crate) fn stepper_with(
    model: &Model,
    s: &SimSettings,
    solver: Box<dyn ContactSolver>,
) -> VelocityStepper {
    let known = METHODS.iter().find(|m| m.poses_problems && m.name == solver.name());
    let coulomb = known.is_none_or(|m| m.obeys == Obeys::Coulomb);
    let refine = (s.solver == SolverKind::ConjugateResidual)
        .then(|| Box::new(cr::refine::Relinearizer::default()) as Box<dyn Refine>);
    VelocityStepper::new(model, s.step(), Means { solver, coulomb, refine })
}

impl SolverKind {
    /// All that scenes can be stepped with, in the order of [`METHODS`].
    pub const STEPPING: [SolverKind; METHODS.len()] = {
        let mut all = [SolverKind::Exact; METHODS.len()];
        let mut i = 0;
        while i < METHODS.len() {
            all[i] = METHODS[i].kind;
            i += 1;
        }
        all
    };

    /// All that solve contact problems, in the same order.
    pub const ALL: [SolverKind; 10] = {
        let mut all = [SolverKind::Exact; 10];
        let (mut i, mut n) = (0, 0);
        while i < METHODS.len() {
            if METHODS[i].poses_problems {
                all[n] = METHODS[i].kind;
                n += 1;
            }
            i += 1;
        }
        assert!(n == all.len(), "the length of ALL");
        all
    };

    /// Its row of the table.
    pub fn method(self) -> &'static Method {
        const { &METHODS }.iter().find(|m| m.kind == self).expect("every kind has a row")
    }

    /// Name on the command line and in scene files.
    pub fn name(self) -> &'static str {
        self.method().name
    }

    /// False for solvers of another law: the convex relaxation, whose answer differs from Coulomb's law where contacts
    /// slide, contacts that give way, and splittings whose contacts and dynamics agree only in the limit.
    pub fn solves_coulomb(self) -> bool {
        self.method().obeys == Obeys::Coulomb
    }

    /// False for ways to step scenes that pose no contact problem of their own.
    pub fn solves_problems(self) -> bool {
        self.method().poses_problems
    }

    /// True for solvers that hold rigid contacts and joints as exactly as they are asked to.
    pub fn holds_rigidly(self) -> bool {
        matches!(self.method().obeys, Obeys::Coulomb | Obeys::ConvexRelaxation)
    }
}

/// How to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimSettings {
    /// Time-stepping scheme.
    pub scheme: Scheme,
    /// Contact solver.
    pub solver: SolverKind,
    /// Its settings.
    pub solver_settings: SolverSettings,
    /// Most linearisations of elastic forces per step. One is cheap and enough for most; more make the step the
    /// fully implicit one of the scheme.
    pub linearizations: usize,
    /// Steps end without intersection of soft bodies, cloth and rods: every motion is tried by continuous detection before
    /// it is made (see [`Continuous`](crate::collide::Continuous)).
    pub intersection_free: bool,
    /// Islands of rigid bodies at rest are frozen until touched; `None`: never.
    pub sleep: Option<Sleep>,
    /// Contact forces of the penalty solver, as far as they are chosen.
    pub penalty: penalty::Chosen,
}

impl Default for SimSettings {
    fn default() -> Self {
        SimSettings {
            scheme: Scheme::default(),
            solver: SolverKind::default(),
            solver_settings: SolverSettings::default(),
            linearizations: 1,
            intersection_free: false,
            sleep: None,
            penalty: penalty::Chosen::default(),
        }
    }
}

impl SimSettings {
    /// The same with all that a method would choose by the numbers of a model, so that it stays when these change.
    pub(crate) fn chosen_for(self, model: &Model) -> SimSettings {
        match self.solver {
            SolverKind::Penalty => SimSettings { penalty: self.penalty.for_model(model), ..self },
            _ => self,
        }
    }

    /// How the penalty method steps a model.
    pub fn penalty_settings(&self, model: &Model) -> penalty::Settings {
        let settings = self.penalty.settings(model);
        penalty::Settings {
            tolerance: self.solver_settings.tolerance.unwrap_or(settings.tolerance),
            max_iterations: self.solver_settings.max_iterations.unwrap_or(settings.max_iterations),
            ..settings
        }
    }

    /// How to step, whatever solves the contact problems.
    pub fn step(&self) -> StepSettings {
        StepSettings {
            scheme: self.scheme,
            linearizations: self.linearizations,
            intersection_free: self.intersection_free,
            sleep: self.sleep,
        }
    }
}

/// Makes a solver for single problems.
pub fn make(kind: SolverKind, settings: &SolverSettings) -> Box<dyn ContactSolver> {
    (kind.method().solver)(settings, Purpose::Once)
}

/// Makes a solver for time stepping, where the next step starts from the answer of this one.
pub fn make_for_steps(kind: SolverKind, settings: &SolverSettings) -> Box<dyn ContactSolver> {
    (kind.method().solver)(settings, Purpose::Steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row_and_every_row_a_name() {
        for kind in SolverKind::STEPPING {
            assert_eq!(METHODS.iter().filter(|m| m.kind == kind).count(), 1);
            assert_eq!(METHODS.iter().filter(|m| m.name == kind.name()).count(), 1);
            assert_eq!(kind.method().kind, kind);
        }
    }
}
