//! Many worlds of one model, stepped side by side.

use super::{Readout, Simulation};
use crate::coords::State;
use crate::error::{SceneError, StepError};
use crate::kinematics::{Frames, Kinematics};
use crate::linalg::parallel;
use crate::linalg::parallel::prelude::*;
use crate::methods::SimSettings;
use crate::model::{Controls, Model, Param};
use crate::steppers::{Memory, StepOutput};
use std::sync::Arc;

/// Worlds of one model. A world is its [`Memory`], its numbers and the record of its last step; the buffers of steppers belong to a few
/// workers, which serve any world, since steppers remember nothing. So a world has the bits of a [`Simulation`] of its own,
/// whatever the number of threads.
///
/// ```
/// use stiction::{Batch, Body, Geometry, Scene, SimSettings, Vec3};
///
/// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
/// scene.bodies.push(Body::new("ball", Geometry::Sphere { radius: 0.1 }).with_mass(1.0));
/// let mut batch = Batch::new(scene.compile()?, SimSettings::default(), 3);
/// let ball = batch.model().names.owner("ball")?;
/// for i in 0..batch.len() {
///     batch.controls(i).push(ball, Vec3::X * i as f64);
/// }
/// batch.step(0.01);
/// assert!(batch.errors().next().is_none());
/// let velocity = batch.read(2, |world| world.body("ball").map(|b| b.velocity()))?;
/// assert!((velocity.x - 2.0 * 0.01).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batch {
    model: Arc<Model>,
    settings: SimSettings,
    worlds: Vec<Slot>,
    /// As many as threads were at work at most.
    workers: Vec<Simulation>,
}

/// One world.
struct Slot {
    model: Arc<Model>,
    controls: Controls,
    memory: Memory,
    out: StepOutput,
    /// Why it stands still.
    error: Option<StepError>,
}

impl Slot {
    /// What a worker takes the place of.
    fn parts(&mut self) -> (&mut Arc<Model>, &mut Controls, &mut Memory, &mut StepOutput) {
        (&mut self.model, &mut self.controls, &mut self.memory, &mut self.out)
    }
}

impl Batch {
    /// So many worlds at the initial state of the model.
    pub fn new(model: impl Into<Arc<Model>>, settings: SimSettings, worlds: usize) -> Batch {
        let model = model.into();
        let world = || Slot {
            model: Arc::clone(&model),
            controls: Controls::default(),
            memory: Memory::new(&model),
            out: StepOutput::default(),
            error: None,
        };
        let worlds = (0..worlds).map(|_| world()).collect();
        Batch { worlds, workers: Vec::new(), settings: settings.chosen_for(&model), model }
    }

    /// The model from which all worlds were made.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The model of world `i`: that of all, with the numbers that were [set](Batch::set) for it.
    pub fn model_of(&self, i: usize) -> &Arc<Model> {
        &self.worlds[i].model
    }

    /// Sets a number of the scene for world `i` from its next step on, as [`Simulation::set`] does. Where something starts acts at
    /// the next [`reset`](Batch::reset). An error, and no change, where the scene has no such number or it cannot have that value;
    /// numbers of the penalty method belong to the settings of the batch.
    pub fn set(&mut self, i: usize, param: Param, value: f64) -> Result<(), SceneError> {
        let world = &mut self.worlds[i];
        world.model = Arc::new(world.model.with(&[(param, value)])?);
        Ok(())
    }

    /// How many worlds.
    pub fn len(&self) -> usize {
        self.worlds.len()
    }

    /// True without worlds.
    pub fn is_empty(&self) -> bool {
        self.worlds.is_empty()
    }

    /// One step of `h` seconds in every world that has no error. A world whose step cannot be taken keeps its error, and
    /// stands still until it is [reset](Batch::reset) or gets another state.
    pub fn step(&mut self, h: f64) {
        let threads = parallel::current_num_threads().min(self.worlds.len()).max(1);
        while self.workers.len() < threads {
            self.workers.push(Simulation::new(Arc::clone(&self.model), self.settings));
        }
        let share = self.worlds.len().div_ceil(threads).max(1);
        self.worlds.par_chunks_mut(share).zip(&mut self.workers).for_each(|(worlds, worker)| {
            for world in worlds.iter_mut().filter(|w| w.error.is_none()) {
                world.error = worker.step_world(world.parts(), h).err();
            }
        });
    }

    /// Worlds that stand still, and why.
    pub fn errors(&self) -> impl Iterator<Item = (usize, &StepError)> {
        self.worlds.iter().enumerate().filter_map(|(i, w)| Some((i, w.error.as_ref()?)))
    }

    /// State of world `i`.
    pub fn state(&self, i: usize) -> &State {
        &self.worlds[i].memory.state
    }

    /// What decides how world `i` goes on.
    pub fn memory(&self, i: usize) -> &Memory {
        &self.worlds[i].memory
    }

    /// What the last step of world `i` did.
    pub fn output(&self, i: usize) -> &StepOutput {
        &self.worlds[i].out
    }

    /// What is commanded in world `i` from its next step on.
    pub fn controls(&mut self, i: usize) -> &mut Controls {
        &mut self.worlds[i].controls
    }

    /// Hands what can be read of world `i` to `read`: `batch.read(2, |world| world.force("egg", None))`.
    pub fn read<R>(&self, i: usize, read: impl FnOnce(Readout<'_>) -> R) -> R {
        let Slot { model, memory, out, .. } = &self.worlds[i];
        let frames = Frames::of(model, &memory.state);
        read(Readout { kin: Kinematics::new(model, &memory.state, &frames), memory, out })
    }

    /// Replaces the state of world `i`.
    pub fn set_state(&mut self, i: usize, state: State) {
        assert_eq!(state.q.len(), self.model.layout.nq(), "q of another model");
        assert_eq!(state.v.len(), self.model.layout.nv(), "v of another model");
        let world = &mut self.worlds[i];
        world.memory.set_state(state);
        world.error = None;
    }

    /// Continues world `i` from a snapshot of any simulation or world of the model.
    pub fn restore(&mut self, i: usize, memory: &Memory) {
        let world = &mut self.worlds[i];
        world.memory.clone_from(memory);
        world.out.clear();
        world.out.joints.clone_from(&memory.joints.reaction);
        world.error = None;
    }

    /// Takes the worlds for which `which` is true back to the initial states of their models. An error where there is not one
    /// answer per world.
    pub fn reset(&mut self, which: &[bool]) -> Result<(), SceneError> {
        if which.len() != self.worlds.len() {
            let text = format!("{} answers for {} worlds; give one for each", which.len(), self.worlds.len());
            return Err(SceneError::new("the worlds to reset", text));
        }
        for (i, _) in which.iter().enumerate().filter(|(_, w)| **w) {
            let start = Memory::new(&self.worlds[i].model);
            self.restore(i, &start);
        }
        Ok(())
    }
}
