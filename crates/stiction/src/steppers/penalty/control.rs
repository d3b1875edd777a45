//! Numbers per step that act on a scene.

use crate::coords::BodyId;
use crate::model::Owner;

/// What a control changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlKind {
    /// Force on an owner along a world axis [N].
    Force(Owner, usize),
    /// Torque on a body about a world axis [N·m].
    Torque(BodyId, usize),
    /// Displacement along a world axis [m] of an end of a spring that is held by the world.
    SpringEnd(usize, usize, usize),
    /// What the motor of a joint aims at, beyond its path [m, rad, m/s or rad/s].
    Motor(usize),
}

/// A number per step that acts on the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// What it changes.
    pub kind: ControlKind,
    /// One value per step; the last one holds from there on, none is zero.
    pub values: Vec<f64>,
}

impl Control {
    /// Which value acts in a step.
    pub fn place(&self, step: usize) -> Option<usize> {
        if self.values.is_empty() { None } else { Some(step.min(self.values.len() - 1)) }
    }
}
