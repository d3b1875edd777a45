//! The fully implicit step of non-smooth Newton (Macklin et al. 2019, (46)–(50)): unknowns (u, λ), true gaps.
//!
//! Nothing is linearised beforehand: contacts keep their normals for the step (9), but gaps, joints and strains are those of
//! `q⁺ = q⁻ ⊞ h u` at every iterate, and joints and elements are rows in compliance form beside the contacts, hard ones
//! with none.
//!
//! | paper | here |
//! |---|---|
//! | equations of motion (46)–(50), residual (57), (58) | `motion.rs` |
//! | contacts (9), friction basis D | `contacts.rs` |
//! | joints, springs (4)–(8), strains (75)–(85), activation | `bilateral.rs`, `elements.rs` |
//! | geometric stiffness (70)–(74) | `geometric.rs` |
//! | islands (Sec. 11) | `islands.rs` |
//! | what the step reached, forces of joints | `measure.rs` |
//! | loop, Schur complement, linear solvers | [`crate::papers::nsn::solve`] |
//!
//! Corrections: configurations restart from q⁻ at every iterate (N3, (63) prints qⁿ); ũ takes M̃⁻¹ of velocity-sized
//! forces with the gyroscopic torque (N12).

mod bilateral;
mod contacts;
mod elements;
mod geometric;
mod islands;
mod measure;
mod motion;
mod row_builder;

use super::solve::{
    Equations, Fallback, Finish, FrictionRows, Iterate, LinearMethod, LinearSettings, Look, Loop,
    NcpFunction, Newton, NewtonSettings, PreconditionerKind, Regularization, Start, StepRule, SystemForm,
};
use crate::clock::Clock;
use crate::collide::{Collider, Contact};
use crate::contact::Residuals;
use crate::contact::warm::{Carried, Matching, WarmCache};
use crate::coords::{ShapeId, State};
use crate::error::{SceneError, StepError};
use crate::kinematics::{Frames, Kinematics, Placement};
use crate::linalg::Vec3;
use crate::model::{Model, World};
use crate::solvers::{Status, Trace, TraceRecord};
use crate::steppers::velocity::count_turns;
use crate::steppers::{Acts, Memory, StageTimes, StepOutput, StepReport, Stepper};
use motion::Motion;

/// Strain rows of tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ElementRows {
    /// The three principal stretches, as the paper has hyperelastic materials (9.2.2).
    Principal,
    /// Stretches and shears in the principal frame: six rows, as the paper has linear materials (85).
    #[default]
    Corotated,
}

/// Which dofs get the secant approximation of geometric stiffness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeometricStiffness {
    /// None: H = M.
    Off,
    /// Particles, as in the paper's examples (Sec. 11).
    #[default]
    Particles,
}

/// How to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonlinearSettings {
    /// The Newton loop; [`Start::Warm`] carries the multipliers of contacts, joints and elements over.
    pub newton: NewtonSettings,
    /// Strain rows.
    pub elements: ElementRows,
    /// Geometric stiffness.
    pub geometric: GeometricStiffness,
    /// Contact compliance [m/N]: C_n + e λ_n takes the place of C_n (10.3); 0 is rigid.
    pub contact_compliance: f64,
}

impl Default for NonlinearSettings {
    fn default() -> Self {
        NonlinearSettings {
            newton: NewtonSettings::default(),
            elements: ElementRows::default(),
            geometric: GeometricStiffness::default(),
            contact_compliance: 0.0,
        }
    }
}

/// Whose multipliers a memory holds.
const KIND: &str = "nsn-nonlinear";
/// Tetrahedra up to which the velocities of soft bodies are solved for directly; multigrid beyond.
const MOST_DIRECT_TETS: usize = 4000;

/// What is tried in turn under [`Fallback::Vary`].
const ATTEMPTS: &[fn(NewtonSettings) -> NewtonSettings] = &[
    |s| s,
    |s| NewtonSettings { step: StepRule::Fixed(1.0), patience: 0, ..s },
    |s| NewtonSettings { step: StepRule::Fixed(0.5), iterations: 2 * s.iterations, ..s },
    |s| NewtonSettings { step: StepRule::Fixed(1.0), start: Start::Zero, patience: 0, ..s },
    |s| NewtonSettings { friction: FrictionRows::Compliance, step: StepRule::Fixed(0.75), ..s },
    |s| NewtonSettings { start: Start::Zero, ncp: NcpFunction::MinimumMap, ..s },
    |s| NewtonSettings { start: Start::Free, step: StepRule::Fixed(0.3), iterations: 2 * s.iterations, ..s },
];

impl NonlinearSettings {
    /// What steps any model: warm start, friction differentiated exactly, exact rows, iterations until the tolerance. Elements and
    /// contacts are solved in the stiffness form, whose linear systems are five times smaller; with joints and no elements the
    /// compliance form keeps them hard. Geometric stiffness is left out: the exact rows converge faster without the secant.
    pub fn robust(model: &Model) -> NonlinearSettings {
        let tets: usize = model.solids.iter().map(|s| s.tets.len()).sum();
        let large = LinearSettings {
            method: LinearMethod::ConjugateGradient,
            iterations: 400,
            tolerance: 1e-8,
            preconditioner: PreconditionerKind::Multigrid,
            ..LinearSettings::default()
        };
        // ε counts as compliance in the stiffness form: hard rows must not be harder than 64-bit numbers can add up. Contacts of
        // rigid bodies are many for few velocities, and often redundant, which the stiffness form does not feel.
        let (form, regularization) = if tets > 0 || model.joints.is_empty() {
            (SystemForm::Stiffness, Regularization::Floor(1e-6))
        } else {
            (SystemForm::Compliance, Regularization::Relative(1e-9))
        };
        let newton = NewtonSettings {
            iterations: 60,
            form,
            regularization,
            linear: if tets > MOST_DIRECT_TETS { large } else { LinearSettings::direct() },
            finish: Finish::Iterate,
            patience: 15,
            ..NewtonSettings::robust()
        };
        NonlinearSettings { newton, geometric: GeometricStiffness::Off, ..NonlinearSettings::default() }
    }

    /// The paper's with another number of Newton iterations and another linear solver.
    pub fn with(iterations: usize, linear: LinearSettings) -> NonlinearSettings {
        let newton = NewtonSettings { iterations, linear, ..NewtonSettings::default() };
        NonlinearSettings { newton, ..NonlinearSettings::default() }
    }
}

/// What a step took and reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NonlinearReport {
    /// Contacts of the step.
    pub contacts: usize,
    /// Rows of joints and springs.
    pub rows: usize,
    /// Tetrahedra.
    pub tets: usize,
    /// Newton iterations.
    pub iterations: usize,
    /// Iterations of the linear solver.
    pub linear: usize,
    /// Velocity error of the last iterate relative to the velocity scale: natural maps, equations and momentum.
    pub error: f64,
    /// Deepest penetration at the end of the step [m].
    pub penetration: f64,
    /// A linear solve broke down.
    pub broken: bool,
    /// Line searches that stalled.
    pub stalls: usize,
    /// How the iterations ended.
    pub status: Status,
    /// Deepest overlap that was found before the step [m].
    pub overlap: f64,
    /// What the step reached, by the measures of all solvers.
    pub residuals: Residuals,
    /// Largest error of a rigid joint [m].
    pub joint_error: f64,
    /// Seconds: contact detection, assembly, linear solves, judging the answer.
    pub times: [f64; 4],
}

/// Steps a model by (46)–(50). Owns every buffer that a step needs.
pub struct NonlinearStepper {
    settings: NonlinearSettings,
    /// Where the step is.
    now: Placement,
    collider: Collider,
    contacts: Vec<Contact>,
    motion: Motion,
    newton: Newton<f64>,
    x: Iterate<f64>,
    warm: WarmCache,
    matching: Matching,
    forces: Vec<Vec3>,
    looks: Vec<Look>,
    reactions: Vec<(Vec3, Vec3)>,
    report: NonlinearReport,
}

impl NonlinearStepper {
    /// For a model. Rods, sheets and viscosity have no compliance form here.
    pub fn new(model: &Model, settings: NonlinearSettings) -> Result<NonlinearStepper, SceneError> {
        let refuse = |item: String, what: &str| {
            Err(SceneError::new(item, format!("{what} in the non-linear Newton step; use another solver")))
        };
        if let Some(r) = model.rods.first() {
            return refuse(format!("rod `{}`", r.name), "rods have no compliance rows");
        }
        for (i, s) in model.solids.iter().enumerate() {
            if model.sheets.iter().any(|sheet| sheet.solid.index() == i) {
                return refuse(format!("cloth `{}`", s.name), "cloth has no compliance rows");
            }
            let d = s.elements.damping();
            if d.stiffness != 0.0 || d.viscosity != 0.0 {
                return refuse(
                    format!("soft body `{}`", s.name),
                    "damping other than by mass is not modelled",
                );
            }
            if (0..s.tets.len()).flat_map(|t| s.elements.element(t).fibres).any(|f| f.stiffness <= 0.0) {
                return refuse(
                    format!("soft body `{}`", s.name),
                    "fibres without stiffness have no compliance",
                );
            }
            if s.consistent_mass {
                return refuse(format!("soft body `{}`", s.name), "mass is lumped");
            }
        }
        Ok(NonlinearStepper {
            settings,
            now: Placement::default(),
            collider: Collider::new(model),
            contacts: Vec::new(),
            motion: Motion::new(model, settings),
            newton: Newton::default(),
            x: Iterate::default(),
            warm: WarmCache::default(),
            matching: Matching::default(),
            forces: Vec::new(),
            looks: Vec::new(),
            reactions: Vec::new(),
            report: NonlinearReport::default(),
        })
    }

    /// One step of `h` seconds.
    pub fn step(&mut self, model: &Model, state: &mut State, h: f64) -> Result<&NonlinearReport, StepError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(StepError::TimeStep(h));
        }
        crate::steppers::velocity::check_finite(model, state)?;
        let now = &mut self.now;
        now.state.clone_from(state);
        now.update(model);
        let clock = Clock::start();
        let kin = now.kinematics(model);
        self.collider.detect(kin, h, &mut self.contacts);
        let collided = clock.seconds();

        if self.settings.newton.start == Start::Warm {
            let reach = |s: ShapeId| model.shapes[s.index()].scale;
            self.warm.carry(
                self.contacts.iter().map(|c| (c.key, c.point)),
                |key| crate::steppers::velocity::SAME_CONTACT * reach(key.shape_a).min(reach(key.shape_b)),
                &mut self.matching,
                &mut self.forces,
            );
        }
        self.motion.begin(kin, &self.contacts, h, &mut self.newton.system);
        let (did, x) = self.solve(model);
        let clock_end = Clock::start();
        let penetration = self.motion.finish(model, &mut self.now, &x);
        let residuals = self.motion.measure(&x, &self.newton.system, penetration);
        let borne_out = self.motion.data_scales(model).bear_out(&residuals, true);
        self.motion.reactions(model, &x, &self.newton.system, &mut self.reactions);
        let judging = did.judging + clock_end.seconds();
        self.x = x;

        self.forces.clear();
        self.warm.entries.clear();
        for (i, c) in self.contacts.iter().enumerate() {
            let force = c.frame.transpose() * (self.motion.contact_impulse(&self.x, i) / h);
            self.forces.push(force);
            self.warm.entries.push(Carried { key: c.key, force, point: c.point });
        }
        state.clone_from(&self.now.state);
        crate::steppers::velocity::check_finite(model, state)?;
        let all = clock.seconds();
        self.report = NonlinearReport {
            contacts: self.contacts.len(),
            rows: self.motion.bilateral_rows(),
            tets: self.motion.tets(),
            iterations: did.iterations,
            linear: did.linear,
            error: did.error,
            penetration,
            broken: did.broken,
            stalls: did.stalls,
            status: if did.error <= self.settings.newton.tolerance {
                Status::Converged.judged(borne_out)
            } else {
                Status::Budget
            },
            overlap: self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max),
            residuals,
            joint_error: self.motion.joint_error(),
            times: [collided, all - collided - did.solving - judging, did.solving, judging],
        };
        Ok(&self.report)
    }

    /// Newton from the first iterate, and under [`Fallback::Vary`] in other ways until every island has arrived in one of them;
    /// each ends with the best of its iterates then.
    fn solve(&mut self, model: &Model) -> (Loop, Iterate<f64>) {
        let asked = self.settings.newton;
        let vary = asked.fallback == Fallback::Vary;
        let mut did = Loop::default();
        self.looks.clear();
        self.motion.islands.clear(vary);
        for attempt in if vary { ATTEMPTS } else { &ATTEMPTS[..1] } {
            let newton = if vary { attempt(asked) } else { asked };
            self.motion.settings.newton = newton;
            let carried = (newton.start == Start::Warm).then_some(&self.x);
            self.motion.start(&self.forces, carried, newton.start);
            let mut x = std::mem::take(&mut self.motion.first);
            let (looks, first) = (&mut self.looks, did.iterations);
            let mut equations = self.motion.equations(model);
            did = did.and(self.newton.run(&mut equations, &mut x, &newton, &mut |l| {
                looks.push(Look { iteration: first + l.iteration, ..*l });
            }));
            if !vary {
                return (did, x);
            }
            self.motion.first = x;
            if did.error <= newton.tolerance {
                break;
            }
        }
        // The system is that of the answer again.
        let clock = Clock::start();
        let mut x = std::mem::take(&mut self.motion.first);
        let (error, best) = self.motion.islands.best();
        x.clone_from(best);
        did.error = error;
        self.motion.equations(model).linearize(&x, &mut self.newton.system);
        did.judging += clock.seconds();
        (did, x)
    }

    /// The report of the last step.
    pub fn report(&self) -> &NonlinearReport {
        &self.report
    }

    /// Every iterate of the last step.
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Hands over contacts, forces and joint forces of the last step.
    fn hand_over(&self, kin: Kinematics<'_>, out: &mut StepOutput) {
        // Rows are those of the end of the step.
        out.acts.extend(self.contacts.iter().zip(&self.motion.held).map(|(c, held)| {
            let places = held.places(kin);
            let [a, b] = places.map(|x| Acts::at(kin, c, x).arms);
            Acts { arms: [a[0], b[1]], touch: None, met: None }
        }));
        out.contacts.extend_from_slice(&self.contacts);
        out.forces.extend_from_slice(&self.forces);
        out.joints.extend_from_slice(&self.reactions);
    }

    /// How the islands, joints and elements were left: their multipliers, which the next step starts from.
    fn carried(&self) -> &[f64] {
        &self.x.lambda[(3 * self.contacts.len()).min(self.x.lambda.len())..]
    }

    /// The contacts of the last step with the force [N], world axes, on side a.
    pub fn contacts(&self) -> impl Iterator<Item = (&Contact, Vec3)> {
        self.contacts.iter().zip(self.forces.iter().copied())
    }

    /// Force [N] and moment about the anchor [N·m] of joint `j` on its body b in the last step, world axes.
    pub fn joint_force(&self, j: usize) -> (Vec3, Vec3) {
        self.reactions.get(j).copied().unwrap_or_default()
    }

    /// The Newton system of the last iterate, for experiments with linear solvers; in the stiffness form without J H⁻¹ of joints
    /// and elements.
    pub fn system(&self) -> &crate::papers::nsn::solve::schur::Schur<f64> {
        &self.newton.system
    }
}

impl Stepper for NonlinearStepper {
    fn step(
        &mut self,
        world: World<'_>,
        frames: &mut Frames,
        memory: &mut Memory,
        h: f64,
        out: &mut StepOutput,
        trace: &mut dyn Trace,
    ) -> Result<(), StepError> {
        let model = world.model;
        self.motion.controls.clone_from(world.controls);
        self.warm.clone_from(&memory.contacts);
        self.x.lambda.clear();
        self.x.lambda.extend_from_slice(memory.history.of(KIND));
        self.motion.set_angles(&memory.joints.angle);
        self.step(model, &mut memory.state, h)?;
        memory.contacts.clone_from(&self.warm);
        memory.history.start(KIND).extend_from_slice(self.carried());
        frames.update(model, &memory.state);
        let kin = Kinematics::new(model, &memory.state, frames);
        for look in &self.looks {
            trace.record(TraceRecord {
                stage: "newton",
                iteration: look.iteration,
                factorizations: look.iteration,
                residual: look.error,
            });
        }
        out.clear();
        self.hand_over(kin, out);
        count_turns(kin, &mut memory.joints);
        let r = &self.report;
        let [collide, assemble, solve, measure] = r.times;
        out.report = StepReport {
            t: kin.state.t,
            contacts: r.contacts,
            joints: model.joints.len(),
            joint_error: r.joint_error,
            islands: 1,
            iterations: r.iterations,
            factorizations: if r.linear == 0 { r.iterations } else { 0 },
            status: r.status.clone(),
            residuals: r.residuals,
            overlap: r.overlap,
            times: StageTimes { collide, assemble, solve, measure, advance: 0.0 },
            ..StepReport::default()
        };
        Ok(())
    }
}
