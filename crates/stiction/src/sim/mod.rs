//! A running simulation: model, state, stepper and warm cache.

mod guard;
mod joints;
mod newton_step;
mod position_based;
mod recovery;
mod relinearize;
mod report;
mod rows;
mod sleep;
mod velocity_step;

pub(crate) use joints::EndRow;
pub use joints::JointMemory;
pub use newton_step::{
    ElementRows, GeometricStiffness, NonlinearReport, NonlinearSettings, NonlinearStepper,
};
pub use position_based::{PositionBased, PositionReport};
pub use report::{Energy, StageTimes, StepReport};
pub use sleep::{Sleep, SleepMemory};

use crate::collide::Contact;
use crate::contact::warm::WarmCache;
use crate::contact::{ContactKey, ContactProblem, Solution};
use crate::coords::State;
use crate::dynamics::Slender;
use crate::error::StepError;
use crate::integrate::Scheme;
use crate::linalg::Vec3;
use crate::scene::{Model, Owner, SensorKind};
use crate::solvers::{ContactSolver, SolverKind, SolverSettings, Trace, penalty};
pub(crate) use velocity_step::{Contacts, Met, Probe, VelocityStepper};

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

/// Everything that decides how a run goes on: resuming from it is bit-identical, except that soft islands of more
/// than 3000 unknowns go on to the solver's tolerance only, because their preconditioner remembers earlier steps. The penalty
/// solver goes on from state and velocity, without the steps before that BDF2 looks back on, and the non-linear Newton step
/// from contact forces, without those of joints and elements: to its tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time, configuration, velocity.
    pub state: State,
    /// Contact forces of the last step.
    pub warm: WarmCache,
    /// Joint forces, angles and curvatures of the last step.
    pub joints: JointMemory,
    /// Who sleeps, where sleeping is allowed.
    pub sleep: Option<SleepMemory>,
    /// Steps taken.
    pub step: u64,
}

/// A model with its state, stepped in time.
pub struct Simulation {
    model: Model,
    state: State,
    stepper: VelocityStepper,
    /// Takes the steps instead, once it was asked to.
    penalty: Option<Box<penalty::PenaltyStepper>>,
    /// The same for the non-linear step of non-smooth Newton.
    nonlinear: Option<Box<NonlinearStepper>>,
    settings: SimSettings,
    report: StepReport,
    step: u64,
}

impl Simulation {
    /// A simulation at the initial state of the model.
    pub fn new(model: Model, settings: SimSettings) -> Simulation {
        let stepper = VelocityStepper::new(&model, settings);
        let state = model.initial.clone();
        Simulation {
            model,
            state,
            stepper,
            penalty: None,
            nonlinear: None,
            settings,
            report: StepReport::default(),
            step: 0,
        }
    }

    /// The same with a solver of the caller's, whatever the settings name: one with settings of its own, or one that is not
    /// part of this crate.
    pub fn with_solver(mut self, solver: Box<dyn ContactSolver>) -> Simulation {
        self.stepper.set_solver(solver);
        self
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Replaces the state, for example to set a velocity; contact forces of the last step are kept as a guess, and
    /// whoever sleeps wakes.
    pub fn set_state(&mut self, state: State) {
        assert_eq!(state.q.len(), self.model.layout.nq(), "q of another model");
        assert_eq!(state.v.len(), self.model.layout.nv(), "v of another model");
        self.stepper.wake_all();
        self.state = state;
    }

    /// One step of `h` seconds. A solver that does not converge is no error: see [`StepReport::status`].
    pub fn step(&mut self, h: f64) -> Result<&StepReport, StepError> {
        self.step_traced(h, &mut ())
    }

    /// One step, with the convergence curve of its solver.
    pub fn step_traced(&mut self, h: f64, trace: &mut dyn Trace) -> Result<&StepReport, StepError> {
        match self.settings.solver {
            SolverKind::Penalty => self.step_smoothly(h, trace)?,
            SolverKind::NonlinearNewton => self.step_nonlinearly(h, trace)?,
            _ => self.stepper.step(&self.model, &mut self.state, h, &mut self.report, trace)?,
        }
        self.step += 1;
        self.report.step = self.step;
        Ok(&self.report)
    }

    /// One step by the penalty solver.
    fn step_smoothly(&mut self, h: f64, trace: &mut dyn Trace) -> Result<(), StepError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(StepError::TimeStep(h));
        }
        if self.penalty.as_ref().is_none_or(|p| p.system.time_step() != h) {
            let mut settings = self.settings.penalty.settings(&self.model);
            settings.tolerance = self.settings.solver_settings.tolerance.unwrap_or(settings.tolerance);
            settings.max_iterations =
                self.settings.solver_settings.max_iterations.unwrap_or(settings.max_iterations);
            self.penalty = Some(Box::new(penalty::PenaltyStepper::new(&self.model, settings, h)?));
        }
        let Some(stepper) = &mut self.penalty else { return Ok(()) };
        let start = std::time::Instant::now();
        let newton = stepper.step(&mut self.state)?;
        for (i, residual) in newton.history.iter().enumerate() {
            let (iteration, factorizations) = (i, i);
            trace.record(crate::solvers::TraceRecord {
                stage: "newton",
                iteration,
                factorizations,
                residual: residual / newton.target,
            });
        }
        self.report = StepReport {
            t: self.state.t,
            contacts: newton.contacts,
            joints: self.model.joints.len(),
            iterations: newton.iterations,
            factorizations: newton.iterations,
            status: newton.status,
            times: StageTimes { solve: start.elapsed().as_secs_f64(), ..StageTimes::default() },
            energy: self.energy(),
            ..StepReport::default()
        };
        Ok(())
    }

    /// One step by non-smooth Newton on the non-linear equations of motion.
    fn step_nonlinearly(&mut self, h: f64, trace: &mut dyn Trace) -> Result<(), StepError> {
        let asked = self.settings.solver_settings;
        if self.nonlinear.is_none() {
            let mut settings = NonlinearSettings::robust(&self.model);
            settings.newton = settings.newton.with(&asked);
            self.nonlinear = Some(Box::new(NonlinearStepper::new(&self.model, settings)?));
        }
        let Some(stepper) = &mut self.nonlinear else { return Ok(()) };
        let r = stepper.step(&self.model, &mut self.state, h)?.clone();
        for look in stepper.looks() {
            trace.record(crate::solvers::TraceRecord {
                stage: "newton",
                iteration: look.iteration,
                factorizations: look.iteration,
                residual: look.error,
            });
        }
        let [collide, assemble, solve, measure] = r.times;
        self.report = StepReport {
            t: self.state.t,
            contacts: r.contacts,
            joints: self.model.joints.len(),
            joint_error: r.joint_error,
            islands: 1,
            iterations: r.iterations,
            factorizations: if r.linear == 0 { r.iterations } else { 0 },
            status: r.status,
            residuals: r.residuals,
            overlap: r.overlap,
            times: StageTimes { collide, assemble, solve, measure, advance: 0.0 },
            energy: self.energy(),
            ..StepReport::default()
        };
        Ok(())
    }

    /// The report of the last step.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// The contact problem of the last step, for dumps and comparisons.
    pub fn problem(&self) -> &ContactProblem {
        self.stepper.problem()
    }

    /// The answer of the last step.
    pub fn solution(&self) -> &Solution {
        self.stepper.solution()
    }

    /// The contacts of the last step with the force [N], world axes, on side a; then those of sleeping bodies, with the
    /// forces that they fell asleep with.
    pub fn contacts(&self) -> impl Iterator<Item = (&Contact, Vec3)> {
        let nonlinear = self.nonlinear.iter().flat_map(|s| s.contacts());
        let awake = self.stepper.contacts().iter().zip(self.stepper.forces().iter().copied());
        nonlinear.chain(awake).chain(self.stepper.frozen().iter().map(|(c, f)| (c, *f)))
    }

    /// Keys of contacts in words: "body `a` – body `b`".
    pub fn describe(&self, key: &ContactKey) -> String {
        let name = |s: crate::coords::ShapeId| self.model.describe(self.model.shapes[s.index()].owner);
        format!("{} – {}", name(key.shape_a), name(key.shape_b))
    }

    /// Block `c` of the problem of the last step in words: the pair of a contact, or the name of a joint.
    pub fn describe_block(&self, c: usize) -> String {
        match self.problem().key.get(c) {
            Some(key) => self.describe(key),
            None => {
                let mut blocks =
                    self.model.joints.iter().flat_map(|j| std::iter::repeat_n(j, j.blocks.len()));
                let joint = blocks.nth(c - self.problem().key.len());
                joint.map_or(String::new(), |j| format!("joint `{}`", j.name))
            }
        }
    }

    /// State, warm cache and step count.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            state: self.state.clone(),
            warm: self.nonlinear.as_ref().map_or(self.stepper.warm(), |s| s.warm()).clone(),
            joints: self.stepper.joints().memory().clone(),
            sleep: self.stepper.sleep_memory().cloned(),
            step: self.step,
        }
    }

    /// Goes back (or on) to a snapshot of the same model.
    pub fn restore(&mut self, s: &Snapshot) {
        self.set_state(s.state.clone());
        self.stepper.set_warm(s.warm.clone());
        if let Some(stepper) = &mut self.nonlinear {
            stepper.set_warm(s.warm.clone());
        }
        self.stepper.set_joint_memory(s.joints.clone());
        self.stepper.set_sleep_memory(s.sleep.clone());
        self.step = s.step;
    }

    /// Keys of contacts of the last step that were found ahead in time.
    pub(crate) fn late_keys(&self) -> Vec<ContactKey> {
        self.stepper.late_keys()
    }

    /// Angles of the joints, counted through full turns.
    pub(crate) fn joint_angles(&self) -> &[f64] {
        self.stepper.joint_angles()
    }

    /// True where joints stiffened their bodies in the last step.
    pub(crate) fn joints_are_taut(&self) -> bool {
        self.stepper.joints_are_taut()
    }

    /// Rows of joints that hold at the end of the last step, which began at `state` and took `h`.
    pub(crate) fn joint_end_rows(&mut self, state: &State, h: f64) -> Vec<EndRow> {
        self.stepper.joint_end_rows(&self.model, state, h)
    }

    /// Energies now.
    pub fn energy(&self) -> Energy {
        let solids: f64 = self.model.solids.iter().map(|s| s.energy(&self.model, &self.state)).sum();
        let elastic = solids + Slender::energy(&self.model, &self.state);
        report::energy(&self.model, &self.state, elastic)
    }

    /// Appends the values of sensor `i` (see [`ModelSensor::columns`](crate::scene::ModelSensor::columns)).
    pub fn read_sensor(&self, i: usize, out: &mut Vec<f64>) {
        match self.model.sensors[i].kind {
            SensorKind::Pose(Owner::Body(b)) => {
                let p = self.model.body_pose(&self.state, b);
                out.extend(p.translation.to_array());
                out.extend([p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z]);
            }
            SensorKind::Pose(Owner::Node(n)) => {
                out.extend(self.model.node_position(&self.state, n).to_array());
            }
            SensorKind::Pose(Owner::Solid(s)) => {
                out.extend(
                    self.model.solids[s.index()].mean(|a| a.position(&self.model, &self.state)).to_array(),
                );
            }
            SensorKind::Point { solid, vertices, weights } => {
                let x = |k: usize| self.model.vertex_position(&self.state, solid, vertices[k] as usize);
                out.extend((0..4).map(|k| weights[k] * x(k)).sum::<Vec3>().to_array());
            }
            SensorKind::Velocity(Owner::Body(b)) => {
                let (v, w) = self.model.com_velocity(&self.state, b);
                out.extend(v.to_array());
                out.extend(w.to_array());
            }
            SensorKind::Velocity(Owner::Node(n)) => {
                out.extend(self.model.node_velocity(&self.state, n).to_array());
            }
            SensorKind::Velocity(Owner::Solid(s)) => {
                out.extend(
                    self.model.solids[s.index()].mean(|a| a.velocity(&self.model, &self.state)).to_array(),
                );
            }
            SensorKind::ContactForce(on) => out.extend(self.force_on(on, None).to_array()),
            SensorKind::PairForce(on, by) => out.extend(self.force_on(on, Some(by)).to_array()),
            SensorKind::Joint(j) => {
                let (x, rate) = self.joint_position(j);
                out.extend([x, rate]);
            }
            SensorKind::JointForce(j) => {
                let (force, moment) = self.joint_force(j);
                out.extend(force.to_array());
                out.extend(moment.to_array());
            }
            SensorKind::Energy => {
                let e = self.energy();
                out.extend([e.kinetic, e.potential, e.elastic, e.total()]);
            }
        }
    }

    /// Position [m or rad] and rate of joint `j` along its free direction, b as seen from a; zeros where it has none.
    pub fn joint_position(&self, j: usize) -> (f64, f64) {
        self.stepper.joints().coordinate(&self.model, &self.state, j)
    }

    /// Force [N] and moment about the anchor [N·m], world axes, of joint `j` on its body b in the last step.
    pub fn joint_force(&self, j: usize) -> (Vec3, Vec3) {
        match &self.nonlinear {
            Some(s) => s.joint_force(j),
            None => self.stepper.joints().memory().reaction[j],
        }
    }

    /// Sum of contact forces [N], world axes, on `on`, by anything or by one other.
    pub fn force_on(&self, on: Owner, by: Option<Owner>) -> Vec3 {
        if let Some(p) = &self.penalty {
            return p.system.contact_force(on, by);
        }
        let owner = |s: crate::coords::ShapeId| self.model.whole(self.model.shapes[s.index()].owner);
        let mut sum = Vec3::ZERO;
        for (c, f) in self.contacts() {
            let (a, b) = (owner(c.key.shape_a), owner(c.key.shape_b));
            if a == on && by.is_none_or(|o| o == b) {
                sum += f;
            } else if b == on && by.is_none_or(|o| o == a) {
                sum -= f;
            }
        }
        sum
    }
}
