//! What is commanded while a simulation runs.

use super::{Model, ModelForce, Owner};
use crate::linalg::Vec3;

/// Commands of one simulation or world. They hold until they are changed; nothing commanded: motors follow the paths of the
/// scene, and its forces act alone.
#[derive(Debug, Default, PartialEq)]
pub struct Controls {
    /// What the motor of each joint aims at in place of its path [m, rad, m/s or rad/s]; `None`: its path. May be shorter than
    /// the list of joints.
    pub motors: Vec<Option<f64>>,
    /// Forces beside those of the scene.
    pub loads: Vec<ModelForce>,
}

impl Clone for Controls {
    fn clone(&self) -> Controls {
        Controls { motors: self.motors.clone(), loads: self.loads.clone() }
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, other: &Controls) {
        self.motors.clone_from(&other.motors);
        self.loads.clone_from(&other.loads);
    }
}

impl Controls {
    /// The command of the motor of joint `j`.
    pub fn motor(&self, j: usize) -> Option<f64> {
        self.motors.get(j).copied().flatten()
    }

    /// Commands the motor of joint `j`; `None`: it follows its path again.
    pub fn set_motor(&mut self, j: usize, target: Option<f64>) {
        if self.motors.len() <= j {
            self.motors.resize(j + 1, None);
        }
        self.motors[j] = target;
    }

    /// A force [N] on something, world axes, from now on: at the centre of mass of a body, or shared by mass among the nodes of a
    /// soft one.
    pub fn push(&mut self, on: Owner, force: Vec3) {
        self.loads.push(ModelForce::always(on, force));
    }

    /// Forces of the scene, then those commanded.
    pub(crate) fn forces<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = &'a ModelForce> + Clone {
        model.forces.iter().chain(&self.loads)
    }
}

/// A model under its commands.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The model, as it is shared.
    pub model: &'a std::sync::Arc<Model>,
    /// The commands.
    pub controls: &'a Controls,
}
