//! Steps of a simulation by the penalty solver.

use super::bdf::Phase;
use super::{Settings, System};
use crate::coords::State;
use crate::error::{SceneError, StepError};
use crate::scene::Model;

/// A system with the phase that its last step left.
pub(crate) struct PenaltyStepper {
    pub system: System,
    phase: Phase,
    next: Phase,
    step: usize,
}

impl PenaltyStepper {
    pub fn new(model: &Model, settings: Settings, h: f64) -> Result<PenaltyStepper, SceneError> {
        let system = System::new(model.clone(), settings, h)?;
        let phase = system.start();
        Ok(PenaltyStepper { next: phase.clone(), phase, system, step: 0 })
    }

    /// One step; `state` is where it starts, and where it ends.
    pub fn step(&mut self, state: &mut State) -> Result<super::Newton, StepError> {
        if self.phase.state != *state {
            // Somebody moved the state: go on from there as if nothing had acted before.
            self.phase = Phase::start(&self.system.model, state, self.system.h);
        }
        let report = self.system.step(&self.phase, self.step, &mut self.next)?;
        std::mem::swap(&mut self.phase, &mut self.next);
        self.step += 1;
        state.clone_from(&self.phase.state);
        Ok(report)
    }
}
