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
use crate::methods::{self, SimSettings};
use crate::model::{Controls, Model, Owner, World};
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
    /// Made by the first step; or why the method cannot step this model.
    stepper: Option<Result<Box<dyn Stepper>, SceneError>>,
    /// Name of a solver of the caller's.
    given: Option<&'static str>,
    settings: SimSettings,
    out: StepOutput,
}

impl Simulation {
    /// A simulation at the initial state of the model. The model is never written: any number of simulations can share one.
    /// If the method cannot step it, the first step says why.
    pub fn new(model: impl Into<Arc<Model>>, settings: SimSettings) -> Simulation {
        let model = model.into();
        let memory = Memory::new(&model);
        let frames = Frames::of(&model, &memory.state);
        Simulation {
            model,
            controls: Controls::default(),
            memory,
            frames,
            stepper: None,
            given: None,
            settings,
            out: StepOutput::default(),
        }
    }

    /// The same with a solver of the caller's, whatever the settings name: one with settings of its own, or one that is not
    /// part of this crate.
    pub fn with_solver(mut self, solver: Box<dyn ContactSolver>) -> Simulation {
        self.given = Some(solver.name());
        self.stepper = Some(Ok(Box::new(methods::stepper_with(&self.model, &self.settings, solver))));
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
        let stepper = stepper.get_or_insert_with(|| (settings.solver.method().stepper)(model, settings));
        let stepper = stepper.as_mut().map_err(|e| e.clone())?;
        stepper.step(World { model, controls }, frames, memory, h, out, trace)?;
        memory.step += 1;
        memory.joints.reaction.clone_from(&out.joints);
        out.report.step = memory.step;
        Ok(&out.report)
    }

    /// One step of a world that lives elsewhere: what it has takes the place of what this simulation has for its time.
    fn step_world(
        &mut self,
        (controls, memory, out): (&mut Controls, &mut Memory, &mut StepOutput),
        h: f64,
    ) -> Result<(), StepError> {
        let mut exchange = |sim: &mut Simulation| {
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
        Some(self.stepper.as_ref()?.as_ref().ok()?.problem()?.0)
    }

    /// The answer of the last step to its contact problem.
    pub fn solution(&self) -> Option<&Solution> {
        Some(self.stepper.as_ref()?.as_ref().ok()?.problem()?.1)
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
        Some((&self.model, self.stepper.as_mut()?.as_mut().ok()?.as_velocity()?))
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
