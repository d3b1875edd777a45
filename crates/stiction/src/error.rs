//! Errors: a scene that cannot be, and a step that cannot be taken.

use thiserror::Error;

/// A scene that cannot be compiled: names the item and what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{item}: {problem}")]
pub struct SceneError {
    /// The item, such as "body `crate`" or "sensor `grip`".
    pub item: String,
    /// What is wrong, and the remedy.
    pub problem: String,
}

impl SceneError {
    /// An error about one item.
    pub fn new(item: impl Into<String>, problem: impl Into<String>) -> SceneError {
        SceneError { item: item.into(), problem: problem.into() }
    }
}

/// A step that cannot be taken. A step that merely did not converge is not an error: see
/// [`Status`](crate::solvers::Status).
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// The scene has something that the solver asked for does not know.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The time step is not a positive number.
    #[error("time step {0} s: it must be positive and finite")]
    TimeStep(f64),
    /// Position or velocity of a body is not a number.
    #[error("{item} is not finite at t = {t} s: look for huge forces, velocities or overlaps just before")]
    NotFinite {
        /// Which body or particle.
        item: String,
        /// When [s].
        t: f64,
    },
}
