//! Non-smooth Newton (Macklin, Erleben, Müller, Chentanez, Jeschke & Makoviychuk 2019, "NSN").
//!
//! Complementarity becomes a root of an NCP function, friction a compliance that is found on the way, and each Newton
//! iteration is one symmetric linear system for the multipliers.
//!
//! | paper | here |
//! |---|---|
//! | NCP functions (17)–(30), App. A.1 | [`ncp`] |
//! | friction compliance W (31)–(37), App. A.2 | [`friction`] |
//! | rows φ_n, φ_f, bounds; S and W of (54) | [`rows`] |
//! | system (53)–(58), Schur complement (59), (60) | [`schur`] |
//! | stiffness form (64) | [`stiffness`] |
//! | Algorithm 1, t, line search (61), (62), 8.1 | [`iteration`] |
//! | linear solvers, 8.2 | [`linear`] |
//! | r-factors (66), ε (8.4), start (67), (68) | [`settings`] |
//! | one frozen contact problem | [`Frozen`] |
//! | gaps from places (9), (45) in 32- or 64-bit numbers, 10.5 | [`Places`] |
//! | equations of motion (46)–(50), (63), geometric stiffness (70)–(74) | [`NonlinearStepper`](crate::papers::nsn::NonlinearStepper) |
//!
//! Signs and scales: the paper's λ is a force and its rows are gaps; ours are impulses λh and gaps divided by h, so that
//! (59) has no powers of h and its r-factors are [`Scaling`] times h⁻² (friction h⁻¹).
//!
//! Where we differ: corrections N1–N9 and N14 of docs/papers.md, each noted where it acts. [`NewtonSettings::default`] is
//! the paper, with the printed (44) in the momentum balance; [`NewtonSettings::robust`] is what [`SolverKind`] `nsn` runs.
//! The paper's friction compliance converges slowly where contacts slide slowly, and is unstable there where they are
//! redundant: robust settings differentiate friction exactly ([`FrictionRows::Sliding`]), and bound the compliance's r
//! ([`NewtonSettings::friction_bound`]) in those fallback attempts that use it.
//!
//! [`SolverKind`]: crate::methods::SolverKind

mod coupling;
pub mod friction;
mod frozen;
pub mod iteration;
pub mod linear;
pub mod ncp;
mod places;
pub mod rows;
pub mod schur;
pub mod settings;
pub mod stiffness;

pub use friction::ConeGuard;
pub use frozen::Frozen;
pub use iteration::{Equations, Iterate, Look, Loop, Newton};
pub use linear::{LinearMethod, LinearSettings, PreconditionerKind, Product};
pub use ncp::NcpFunction;
pub use places::Places;
pub use settings::{
    Breakdown, Derivative, Fallback, Finish, FrictionRows, IslandRule, NewtonSettings, Regularization,
    Scaling, Start, StepRule,
};
pub use stiffness::SystemForm;

use crate::contact::delassus::coupled::Coupled;
use crate::contact::islands::Islands;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::coords::Pose;
use crate::linalg::{Real, Vec3};
use crate::solvers::{ContactSolver, SolveReport, Status, Trace, TraceRecord};

/// The method on frozen contact problems.
#[doc(alias = "NSN")]
#[doc(alias = "semismooth Newton")]
pub struct NonsmoothNewton {
    settings: NewtonSettings,
    islands: Islands,
    /// Memory for each island.
    lanes: Vec<Lane<f64>>,
    looks: Vec<Look>,
    blocks: Vec<u32>,
    contacts: Vec<u32>,
}

/// ε of the compliance form under the robust settings, whose own is meant for the stiffness form.
const BARE: Regularization = Regularization::Relative(1e-9);

/// What is tried in turn under [`Fallback::Vary`].
const ATTEMPTS: &[fn(NewtonSettings) -> NewtonSettings] = &[
    |s| s,
    |s| NewtonSettings { form: SystemForm::Compliance, regularization: BARE, ..s },
    |s| NewtonSettings { friction: FrictionRows::Compliance, step: StepRule::Fixed(0.75), ..s },
    |s| NewtonSettings { ncp: NcpFunction::MinimumMap, start: Start::Zero, ..s },
    |s| NewtonSettings { step: StepRule::Fixed(0.3), start: Start::Free, ..s },
];

/// One island with its memory.
#[derive(Default)]
struct Lane<T> {
    newton: Newton<T>,
    frozen: Frozen<T>,
    coupled: Coupled,
    x: Iterate<T>,
    guess: Vec<Vec3>,
    did: Loop,
}

impl NonsmoothNewton {
    /// With settings.
    pub fn new(settings: NewtonSettings) -> NonsmoothNewton {
        NonsmoothNewton {
            settings,
            islands: Islands::default(),
            lanes: Vec::new(),
            looks: Vec::new(),
            blocks: Vec::new(),
            contacts: Vec::new(),
        }
    }

    /// Every iterate of the last solve, island after island.
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// What the loop of each island did in the last solve.
    pub fn loops(&self) -> impl Iterator<Item = &Loop> {
        self.lanes.iter().map(|l| &l.did)
    }

    /// Linear system of the last iterate of the first island, for experiments with linear solvers.
    pub fn system(&self) -> Option<&schur::Schur<f64>> {
        self.lanes.first().map(|l| &l.newton.system)
    }

    /// Solves a bare problem `u = W r + q`; `r` holds the guess on entry and the answer on return.
    pub fn solve_local(&mut self, p: &LocalProblem, r: &mut [Vec3], trace: &mut dyn Trace) -> SolveReport {
        self.looks.clear();
        self.lanes.resize_with(1, Lane::default);
        if r.is_empty() {
            return SolveReport::default();
        }
        let lane = &mut self.lanes[0];
        // r-factors of the paper's units need a time step; bare problems have none and take h = 1.
        lane.frozen.set_local(p, 1.0, &self.settings, &mut lane.newton.system, 0.0);
        lane.guess.clear();
        lane.guess.extend_from_slice(r);
        let mut report = lane.run(&self.settings, &mut self.looks, trace);
        for (r, l) in r.iter_mut().zip(lane.frozen.answer().lambda.chunks_exact(3)) {
            *r = Vec3::from_slice(l);
        }
        report.islands = 1;
        report
    }
}

impl<T: Real> Lane<T> {
    /// Newton from the guess; the answer is in `frozen`.
    fn run(&mut self, s: &NewtonSettings, looks: &mut Vec<Look>, trace: &mut dyn Trace) -> SolveReport {
        let mut x = std::mem::take(&mut self.x);
        self.frozen.start(&self.guess, &self.newton.system, &mut x);
        if s.start == Start::Warm && x.lambda.iter().any(|l| *l != T::ZERO) {
            // A guess that is worse than none is dropped.
            let warm = self.frozen.error(&x, &self.newton.system);
            let kept = x.clone();
            self.guess.fill(Vec3::ZERO);
            self.frozen.start(&self.guess, &self.newton.system, &mut x);
            if warm <= self.frozen.error(&x, &self.newton.system) {
                x = kept;
            }
        }
        let direct = s.linear.method.is_direct();
        let mut done = Loop::default();
        let attempts = if s.fallback == Fallback::Vary { ATTEMPTS } else { &ATTEMPTS[..1] };
        self.frozen.forget_best();
        for (k, attempt) in attempts.iter().enumerate() {
            let mut s = attempt(*s);
            if x.u.is_empty() && s.form == SystemForm::Stiffness {
                // A bare W has no velocities to solve for.
                (s.form, s.regularization) = (SystemForm::Compliance, BARE);
            }
            if k > 0 {
                self.frozen.change(&s);
                self.guess.fill(Vec3::ZERO);
                self.frozen.start(&self.guess, &self.newton.system, &mut x);
            }
            let did = self.newton.run(&mut self.frozen, &mut x, &s, &mut |look: &Look| {
                let iteration = done.iterations + look.iteration;
                looks.push(Look { iteration, ..*look });
                trace.record(TraceRecord {
                    stage: "nsn",
                    iteration,
                    factorizations: if direct { iteration } else { 0 },
                    residual: look.error,
                });
            });
            done = done.and(did);
            if did.error <= s.tolerance {
                break;
            }
        }
        let mut did = done;
        if s.fallback == Fallback::Vary {
            did.error = self.frozen.take_best();
        }
        self.x = x;
        self.did = did;
        SolveReport {
            status: if did.error <= s.tolerance { Status::Converged } else { Status::Budget },
            iterations: did.iterations,
            factorizations: did.factorizations,
            work: 0.0,
            velocity: did.error,
            islands: 0,
        }
    }
}

impl ContactSolver for NonsmoothNewton {
    fn name(&self) -> &'static str {
        "nsn"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.looks.clear();
        self.islands.find(p);
        x.v.resize(p.dofs(), 0.0);
        for i in (0..p.a.block_rows()).filter(|&i| self.islands.is_alone(i)) {
            let (d, n) = p.a.block(i);
            x.v[d..d + n].copy_from_slice(&p.b[d..d + n]);
            p.divide_block(i, &mut x.v);
        }
        let any_coupled = (0..self.islands.len()).any(|i| self.islands.is_coupled(i));
        let together = self.settings.islands == IslandRule::Together && !any_coupled;
        let parts = if together { usize::from(!self.islands.is_empty()) } else { self.islands.len() };
        if self.lanes.len() < parts {
            self.lanes.resize_with(parts, Lane::default);
        }
        let mut report = SolveReport { islands: parts, ..SolveReport::default() };
        for i in 0..parts {
            self.blocks.clear();
            self.contacts.clear();
            for k in if together { 0..self.islands.len() } else { i..i + 1 } {
                self.blocks.extend_from_slice(self.islands.blocks(k));
                // A contact that moves nothing carries nothing.
                self.contacts.extend(self.islands.contacts(k).iter().filter(|&&c| {
                    let moves = !p.j.terms(c as usize).is_empty();
                    if !moves {
                        x.lambda[c as usize] = Vec3::ZERO;
                    }
                    moves
                }));
            }
            if self.blocks.is_empty() {
                continue;
            }
            let lane = &mut self.lanes[i];
            lane.guess.clear();
            for &c in &self.contacts {
                lane.guess.push(x.lambda[c as usize] / p.law[c as usize].stretch());
            }
            let coupled = !together && self.islands.is_coupled(i);
            let system = &mut lane.newton.system;
            if !coupled {
                self.blocks.sort_unstable();
                lane.frozen.set(p, &self.blocks, &self.contacts, &self.settings, system);
            } else if lane.coupled.prepare(p, &self.blocks, &self.contacts) {
                lane.frozen.set_local(&lane.coupled.local, p.h, &self.settings, system, p.velocity_scale);
            } else {
                report.status = Status::Budget;
                report.velocity = f64::INFINITY;
                continue;
            }
            let solved = if self.contacts.is_empty() {
                SolveReport::default()
            } else {
                lane.run(&self.settings, &mut self.looks, trace)
            };
            let answer = lane.frozen.answer();
            for (&c, l) in self.contacts.iter().zip(answer.lambda.chunks_exact(3)) {
                x.lambda[c as usize] = Vec3::from_slice(l) * p.law[c as usize].stretch();
            }
            if coupled {
                lane.coupled.write_velocity(p, &self.contacts, &x.lambda, &mut x.v);
            } else {
                let mut at = 0;
                for &b in &self.blocks {
                    let (d, n) = p.a.block(b as usize);
                    x.v[d..d + n].copy_from_slice(&answer.u[at..at + n]);
                    at += n;
                }
            }
            report.iterations = report.iterations.max(solved.iterations);
            report.factorizations = report.factorizations.max(solved.factorizations);
            report.velocity = report.velocity.max(solved.velocity);
            if !solved.status.is_solved() {
                report.status = solved.status;
            }
        }
        report
    }
}

/// One cold solve of a problem with block-diagonal A in 32- or 64-bit numbers, all contacts together: the iterates and
/// the system at the last one, for the error analysis of Sec. 10.5.
///
/// With the poses of its blocks, which are rigid bodies then, gaps and J are taken from their [`Places`] at every iterate;
/// without them the problem is frozen.
pub fn solve_in<T: Real>(
    p: &ContactProblem,
    settings: &NewtonSettings,
    poses: Option<&[Pose]>,
) -> (Vec<Look>, Newton<T>, Iterate<T>) {
    let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
    let contacts: Vec<u32> =
        (0..p.contacts() as u32).filter(|&c| !p.j.terms(c as usize).is_empty()).collect();
    let mut lane = Lane::<T>::default();
    let mut looks = Vec::new();
    lane.frozen.set(p, &blocks, &contacts, settings, &mut lane.newton.system);
    if let Some(poses) = poses {
        lane.frozen.place(Places::new(p, &contacts, poses));
    }
    lane.guess.resize(contacts.len(), Vec3::ZERO);
    lane.run(settings, &mut looks, &mut ());
    (looks, lane.newton, lane.x)
}
