//! A running simulation: model, memory, stepper, and [views](BodyView) of what is in it by name.

mod batch;
mod readout;
mod sensors;
mod views;

pub use batch::Batch;
pub use readout::Readout;
pub use views::{BodyView, ContactView, JointView, ParticleView, RodView, SensorView, SoftView, SpringView};

use crate::collide::Contact;
use crate::contact::{ContactKey, ContactProblem, Solution};
use crate::coords::{JointId, State};
use crate::error::{SceneError, StepError};
use crate::kinematics::{Frames, Kinematics};
use crate::linalg::Vec3;
use crate::methods::{self, SimSettings, SolverKind};
use crate::model::{Controls, Model, Owner, Param, World};
use crate::solvers::{ContactSolver, Trace};
use crate::steppers::velocity::VelocityStepper;
use crate::steppers::{Energy, Memory, StepOutput, StepReport, Stepper};
use std::sync::Arc;

/// A model with its memory, stepped in time.
pub struct Simulation {
    model: Arc<Model>,
    controls: Controls,
    memory: Memory,
    /// Of the state in the memory.
    frames: Frames,
    /// Made by the first step.
    stepper: Option<Made>,
    /// Name of a solver of the caller's.
    given: Option<&'static str>,
    settings: SimSettings,
    out: StepOutput,
}

/// A stepper and the model for which it was made; or why the method cannot step that model.
struct Made {
    stepper: Result<Box<dyn Stepper>, SceneError>,
    model: Arc<Model>,
}

impl Made {
    /// It can step `model`, too.
    fn serves(&self, model: &Arc<Model>) -> bool {
        Arc::ptr_eq(&self.model, model)
            || self.stepper.as_ref().is_ok_and(|stepper| stepper.serves(&self.model, model))
    }
}

impl Simulation {
    /// A simulation at the initial state of the model. The model is never written: any number of simulations can share one.
    /// If the method cannot step it, the first step says why.
    pub fn new(model: impl Into<Arc<Model>>, settings: SimSettings) -> Simulation {
        let model = model.into();
        let memory = Memory::new(&model);
        let frames = Frames::of(&model, &memory.state);
        Simulation {
            settings: settings.chosen_for(&model),
            model,
            controls: Controls::default(),
            memory,
            frames,
            stepper: None,
            given: None,
            out: StepOutput::default(),
        }
    }

    /// The same with a solver of the caller's, whatever the settings name: one with settings of its own, or one that is not
    /// part of this crate.
    pub fn with_solver(mut self, solver: Box<dyn ContactSolver>) -> Simulation {
        self.given = Some(solver.name());
        let stepper = methods::stepper_with(&self.model, &self.settings, solver);
        self.stepper = Some(Made { stepper: Ok(Box::new(stepper)), model: Arc::clone(&self.model) });
        self
    }

    /// A second simulation that goes on from here as this one does, with the read-outs of the last step. It shares the model
    /// and makes its buffers at its first step. An error where a solver was [given](Simulation::with_solver), which cannot be
    /// copied.
    pub fn fork(&self) -> Result<Simulation, SceneError> {
        if let Some(name) = self.given {
            let text = "a solver that was given cannot be copied; make a simulation of the same model, give it another one and restore a snapshot";
            return Err(SceneError::new(format!("solver `{name}`"), text));
        }
        Ok(Simulation {
            model: Arc::clone(&self.model),
            controls: self.controls.clone(),
            memory: self.memory.clone(),
            frames: self.frames.clone(),
            stepper: None,
            given: None,
            settings: self.settings,
            out: self.out.clone(),
        })
    }

    /// The model, as it is shared.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.memory.state
    }

    /// The model at the present state: where bodies and points are and how they move.
    pub fn kinematics(&self) -> Kinematics<'_> {
        Kinematics::new(&self.model, &self.memory.state, &self.frames)
    }

    /// What is commanded from the next step on: targets of motors, and forces. Commands hold until they are changed, through
    /// [`reset`](Simulation::reset) and [`restore`](Simulation::restore), too.
    pub fn controls(&mut self) -> &mut Controls {
        &mut self.controls
    }

    /// What is commanded now.
    pub fn commands(&self) -> &Controls {
        &self.controls
    }

    /// How it steps.
    pub fn settings(&self) -> &SimSettings {
        &self.settings
    }

    /// All that can be read: the present state and the last step.
    pub fn readout(&self) -> Readout<'_> {
        Readout { kin: self.kinematics(), memory: &self.memory, out: &self.out }
    }

    /// Commands the motor of a joint from the next step on: a position [m or rad] or a rate, as its target says. `None`: it
    /// follows the path of the scene again. An error where no joint has the name or the joint no motor, or for a number that is
    /// not finite.
    pub fn drive(&mut self, joint: &str, target: Option<f64>) -> Result<(), SceneError> {
        let id: JointId =
            self.model.names.find(joint).map_err(|e| SceneError::new("a command", e.to_string()))?;
        let refuse = |problem: String| Err(SceneError::new(format!("joint `{joint}`"), problem));
        if self.model.joints[id.index()].motor.is_none() {
            return refuse("it has no motor to command; give it one in the scene".into());
        }
        if let Some(x) = target.filter(|x| !x.is_finite()) {
            return refuse(format!("its motor cannot aim at {x}; give it a finite number, or no command"));
        }
        self.controls.set_motor(id.index(), target);
        Ok(())
    }

    /// Sets a number of the scene from the next step on. The model is copied for it, but for the lists that hold nothing of what
    /// changes; others that share it see nothing. Where something starts ([`Param::Position`] and its like) acts at the next
    /// [`reset`](Simulation::reset).
    ///
    /// ```
    /// use stiction::model::Param;
    /// use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
    ///
    /// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    /// scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    /// scene.bodies.push(Body::new("crate", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(2.0));
    /// let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// let mass = Param::parse(sim.model(), "crate.mass")?;
    /// sim.set(mass, 3.0)?;
    /// sim.step(0.01)?;
    /// assert!((sim.force("crate", None)?.z - 3.0 * 9.81).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where the scene has no such number, or it cannot have that value: nothing is changed then.
    pub fn set(&mut self, param: Param, value: f64) -> Result<(), SceneError> {
        let refuse = |problem: &str| Err(SceneError::new(param.describe(&self.model), problem));
        if matches!(param, Param::ContactStiffness | Param::ContactDamping) {
            if self.settings.solver != SolverKind::Penalty {
                return refuse("it is a number of the penalty method, which does not step this simulation");
            }
            if !(value.is_finite() && value >= 0.0 && (value > 0.0 || param == Param::ContactDamping)) {
                return refuse(&format!("{value} is not a number it can have"));
            }
            let chosen = &mut self.settings.penalty;
            match param {
                Param::ContactStiffness => chosen.stiffness = Some(value),
                _ => chosen.damping = Some(chosen.settings(&self.model).damping.with(value)),
            }
            self.stepper = None;
            return Ok(());
        }
        let model = Arc::new(self.model.with(&[(param, value)])?);
        if self.given.is_some() && self.stepper.as_ref().is_some_and(|s| !s.serves(&model)) {
            return refuse(
                "buffers would be made anew for it, but a solver that was given cannot be; make a simulation of the other model",
            );
        }
        self.model = model;
        Ok(())
    }

    /// Replaces the state, for example to set a velocity; contact forces of the last step are kept as a guess, and
    /// whoever sleeps wakes.
    pub fn set_state(&mut self, state: State) {
        assert_eq!(state.q.len(), self.model.layout.nq(), "q of another model");
        assert_eq!(state.v.len(), self.model.layout.nv(), "v of another model");
        self.memory.set_state(state);
        self.frames.update(&self.model, &self.memory.state);
    }

    /// One step of `h` seconds. A solver that does not converge is no error: see [`StepReport::status`].
    pub fn step(&mut self, h: f64) -> Result<&StepReport, StepError> {
        self.step_traced(h, &mut ())
    }

    /// One step, with the convergence curve of its solver.
    pub fn step_traced(&mut self, h: f64, trace: &mut dyn Trace) -> Result<&StepReport, StepError> {
        let Simulation { model, controls, memory, frames, stepper, settings, out, .. } = self;
        let made = match stepper {
            Some(made) if made.serves(model) => made,
            other => other.insert(Made {
                stepper: (settings.solver.method().stepper)(model, settings),
                model: Arc::clone(model),
            }),
        };
        let stepper = made.stepper.as_mut().map_err(|e| e.clone())?;
        stepper.step(World { model, controls }, frames, memory, h, out, trace)?;
        memory.step += 1;
        memory.joints.reaction.clone_from(&out.joints);
        out.report.step = memory.step;
        Ok(&out.report)
    }

    /// One step of a world that lives elsewhere: what it has takes the place of what this simulation has for its time.
    fn step_world(
        &mut self,
        (model, controls, memory, out): (&mut Arc<Model>, &mut Controls, &mut Memory, &mut StepOutput),
        h: f64,
    ) -> Result<(), StepError> {
        let mut exchange = |sim: &mut Simulation| {
            std::mem::swap(&mut sim.model, model);
            std::mem::swap(&mut sim.controls, controls);
            std::mem::swap(&mut sim.memory, memory);
            std::mem::swap(&mut sim.out, out);
        };
        exchange(self);
        self.frames.update(&self.model, &self.memory.state);
        let done = self.step(h).map(|_| ());
        exchange(self);
        done
    }

    /// What the last step did: all that read-outs read.
    pub fn output(&self) -> &StepOutput {
        &self.out
    }

    /// The report of the last step.
    pub fn report(&self) -> &StepReport {
        &self.out.report
    }

    /// The contact problem of the last step, for dumps and comparisons; nothing where the stepper poses none.
    pub fn problem(&self) -> Option<&ContactProblem> {
        Some(self.stepper.as_ref()?.stepper.as_ref().ok()?.problem()?.0)
    }

    /// The answer of the last step to its contact problem.
    pub fn solution(&self) -> Option<&Solution> {
        Some(self.stepper.as_ref()?.stepper.as_ref().ok()?.problem()?.1)
    }

    /// The contacts of the last step with the force [N], world axes, on side a; then those of sleeping bodies, with the
    /// forces that they fell asleep with.
    pub fn contacts(&self) -> impl Iterator<Item = (&Contact, Vec3)> {
        self.readout().contacts()
    }

    /// Keys of contacts in words: "body `a` – body `b`".
    pub fn describe(&self, key: &ContactKey) -> String {
        let name = |s: crate::coords::ShapeId| self.model.describe(self.model.shapes[s.index()].owner);
        format!("{} – {}", name(key.shape_a), name(key.shape_b))
    }

    /// Block `c` of the problem of the last step in words: the pair of a contact, or the name of a joint.
    pub fn describe_block(&self, c: usize) -> String {
        let Some(p) = self.problem() else { return String::new() };
        match p.key.get(c) {
            Some(key) => self.describe(key),
            None => {
                let mut blocks =
                    self.model.joints.iter().flat_map(|j| std::iter::repeat_n(j, j.blocks.len()));
                let joint = blocks.nth(c - p.key.len());
                joint.map_or(String::new(), |j| format!("joint `{}`", j.name))
            }
        }
    }

    /// What decides how the run goes on.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A copy of what decides how the run goes on, for [`restore`](Simulation::restore).
    pub fn snapshot(&self) -> Memory {
        self.memory.clone()
    }

    /// Goes back (or on) to a snapshot of the same model: the next step has the same bits as the one after the snapshot.
    /// Contacts are read again after that step.
    pub fn restore(&mut self, memory: &Memory) {
        assert_eq!(memory.state.q.len(), self.model.layout.nq(), "q of another model");
        assert_eq!(memory.state.v.len(), self.model.layout.nv(), "v of another model");
        self.memory.clone_from(memory);
        self.frames.update(&self.model, &self.memory.state);
        self.out.clear();
        self.out.joints.clone_from(&memory.joints.reaction);
    }

    /// Goes back to the initial state of the model.
    pub fn reset(&mut self) {
        self.restore(&Memory::new(&self.model));
    }

    /// The stepper of the exact laws, if it takes the steps.
    pub(crate) fn velocity_stepper(&mut self) -> Option<(&Model, &mut VelocityStepper)> {
        Some((&self.model, self.stepper.as_mut()?.stepper.as_mut().ok()?.as_velocity()?))
    }

    /// Energies now. Found at every call, from the deformation of every element: ask once per step.
    pub fn energy(&self) -> Energy {
        self.readout().energy()
    }

    /// Appends the values of sensor `i` (see [`ModelSensor::columns`](crate::model::ModelSensor::columns)). By name:
    /// [`sensor`](Simulation::sensor).
    pub fn read_sensor(&self, i: usize, out: &mut Vec<f64>) {
        self.readout().read_sensor(i, out);
    }

    /// Position [m or rad] and rate of joint `j` along its free direction, b as seen from a; zeros where it has none.
    pub fn joint_position(&self, j: usize) -> (f64, f64) {
        self.readout().joint_position(j)
    }

    /// Force [N] and moment about the anchor [N·m], world axes, of joint `j` on its body b in the last step.
    pub fn joint_force(&self, j: usize) -> (Vec3, Vec3) {
        self.readout().joint_force(j)
    }

    /// Sum of contact forces [N], world axes, on `on`, by anything or by one other; contacts of `on` with itself add nothing. By
    /// name: [`force`](Simulation::force).
    pub fn force_on(&self, on: Owner, by: Option<Owner>) -> Vec3 {
        self.readout().force_on(on, by)
    }
}
