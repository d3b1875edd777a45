//! Ways to take a step, what they remember, and the record that each of them fills.

mod bytes;
mod memory;
mod output;
pub mod penalty;
pub(crate) mod report;
pub mod velocity;

pub use bytes::MemoryError;
pub use memory::{History, Memory};
pub use output::{Acts, StepOutput};
pub use report::{Energy, StageTimes, StepReport};

use crate::contact::{ContactProblem, Solution};
use crate::error::StepError;
use crate::kinematics::Frames;
use crate::model::{Model, World};
use crate::solvers::Trace;
use velocity::VelocityStepper;

/// A way to take a step. It owns buffers, but no memory: what a step depends on is in its arguments.
pub trait Stepper: Send + Sync {
    /// Moves `memory` by `h` seconds. `frames` are those of its state, before and after. Fills all of `out` but the number of
    /// the step.
    fn step(
        &mut self,
        world: World<'_>,
        frames: &mut Frames,
        memory: &mut Memory,
        h: f64,
        out: &mut StepOutput,
        trace: &mut dyn Trace,
    ) -> Result<(), StepError>;

    /// True where what was made for `was` serves `now`, a copy of it with other numbers: buffers and their patterns follow from
    /// what they have in common. Otherwise a stepper is made anew.
    fn serves(&self, _was: &Model, _now: &Model) -> bool {
        false
    }

    /// The contact problem of the last step and its answer; nothing from steppers that pose none.
    fn problem(&self) -> Option<(&ContactProblem, &Solution)> {
        None
    }

    /// The stepper of the exact laws, whose last step can be differentiated.
    #[doc(hidden)]
    fn as_velocity(&mut self) -> Option<&mut VelocityStepper> {
        None
    }
}
