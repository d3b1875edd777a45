//! Poses and twists of all bodies at a state.

use super::Kinematics;
use crate::coords::{BodyId, Pose, State};
use crate::linalg::Vec3;
use crate::model::Model;

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyFrame {
    /// Frame at the centre of mass.
    pub com: Pose,
    /// Velocity of the centre of mass [m/s].
    pub v: Vec3,
    /// Angular velocity, world axes [rad/s].
    pub w: Vec3,
}

impl BodyFrame {
    /// Of one body at a state.
    pub fn at(model: &Model, state: &State, body: BodyId) -> BodyFrame {
        let (v, w) = model.com_velocity(state, body);
        BodyFrame { com: model.com_pose(state, body), v, w }
    }
}

/// Frames of all bodies of a model at one state.
#[derive(Debug, Default)]
pub struct Frames {
    bodies: Vec<BodyFrame>,
    /// The state that they belong to; debug builds compare it.
    #[cfg(debug_assertions)]
    of: State,
}

impl Clone for Frames {
    fn clone(&self) -> Frames {
        let mut frames = Frames::default();
        frames.clone_from(self);
        frames
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, other: &Frames) {
        self.bodies.clone_from(&other.bodies);
        #[cfg(debug_assertions)]
        self.of.clone_from(&other.of);
    }
}

impl Frames {
    /// Of a state.
    pub fn of(model: &Model, state: &State) -> Frames {
        let mut frames = Frames::default();
        frames.update(model, state);
        frames
    }

    /// Finds them anew; reuses the buffers.
    pub fn update(&mut self, model: &Model, state: &State) {
        self.bodies.clear();
        let bodies = 0..model.bodies.len() as u32;
        self.bodies.extend(bodies.map(|b| BodyFrame::at(model, state, BodyId(b))));
        #[cfg(debug_assertions)]
        self.of.clone_from(state);
    }

    /// Of one body.
    pub fn body(&self, body: BodyId) -> &BodyFrame {
        &self.bodies[body.index()]
    }

    /// Debug builds panic where these are frames of another state.
    pub(super) fn check(&self, state: &State) {
        #[cfg(debug_assertions)]
        assert!(same(&self.of, state), "frames of another state: update them after the state changes");
        let _ = state;
    }
}

/// Equal to the bit, so that states with numbers that are none equal themselves.
#[cfg(debug_assertions)]
fn same(a: &State, b: &State) -> bool {
    let bits =
        |x: &[f64], y: &[f64]| x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits());
    a.t.to_bits() == b.t.to_bits() && bits(&a.q, &b.q) && bits(&a.v, &b.v)
}

/// A state with its frames, for looking ahead.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The state. Call [`update`](Placement::update) after changing it.
    pub state: State,
    frames: Frames,
}

impl Placement {
    /// At a copy of a state.
    pub fn of(model: &Model, state: &State) -> Placement {
        Placement { state: state.clone(), frames: Frames::of(model, state) }
    }

    /// A state and its frames.
    pub(crate) fn join(state: State, frames: Frames) -> Placement {
        Placement { state, frames }
    }

    /// The state and its frames.
    pub(crate) fn part(self) -> (State, Frames) {
        (self.state, self.frames)
    }

    /// Finds the frames of the state.
    pub fn update(&mut self, model: &Model) {
        self.frames.update(model, &self.state);
    }

    /// Everything there.
    pub fn kinematics<'a>(&'a self, model: &'a Model) -> Kinematics<'a> {
        Kinematics::new(model, &self.state, &self.frames)
    }
}
