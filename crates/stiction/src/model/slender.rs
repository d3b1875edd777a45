//! Springs, rods and sheets of a model.

use super::Model;
use crate::coords::{Anchor, BodyId, SoftId, State, rotation};
use crate::elastic::{Bend, RodElement, RodFrame, Spring};
use crate::linalg::{Quat, Vec3};

/// A spring of the model.
#[derive(Clone, Debug)]
pub struct ModelSpring {
    /// Name in the scene.
    pub name: String,
    /// Each end is a weighted mean of material points; the weights of an end sum to one.
    pub ends: [Vec<(Anchor, f64)>; 2],
    /// Its law.
    pub spring: Spring,
}

impl ModelSpring {
    /// From the first end to the second [m].
    pub fn span(&self, model: &Model, state: &State) -> Vec3 {
        let at =
            |end: &[(Anchor, f64)]| -> Vec3 { end.iter().map(|(a, w)| *w * a.position(model, state)).sum() };
        at(&self.ends[1]) - at(&self.ends[0])
    }
}

/// A rod of the model.
#[derive(Clone, Debug)]
pub struct ModelRod {
    /// Name in the scene.
    pub name: String,
    /// Its links, a range of [`Model::bodies`].
    pub links: std::ops::Range<usize>,
    /// Its elements, from start to end.
    pub joints: Vec<ModelRodJoint>,
    /// Damping β: forces β K v [s].
    pub damping: f64,
    /// Links fewer than this many places apart never touch.
    pub apart: usize,
}

/// An element of a rod and what it joins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelRodJoint {
    /// Both ends.
    pub ends: [RodEnd; 2],
    /// Its law.
    pub element: RodElement,
}

/// One end of a rod element: a frame on a body or in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodEnd {
    /// Where it is.
    pub anchor: Anchor,
    /// Turns axes of the element into axes of the body (or of the world).
    pub frame: Quat,
}

impl RodEnd {
    /// The body that it is on.
    pub fn body(&self) -> Option<BodyId> {
        match self.anchor {
            Anchor::Rigid { body, .. } | Anchor::Kinematic { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Where it is now. Ends on bodies that move as prescribed have no arm.
    pub fn place(&self, model: &Model, state: &State) -> RodFrame {
        let point = self.anchor.position(model, state);
        let Some(body) = self.body() else {
            return RodFrame { point, arm: Vec3::ZERO, rotation: self.frame };
        };
        let turn = model.com_pose(state, body).rotation;
        let arm = match self.anchor {
            Anchor::Rigid { local, .. } => turn * local,
            _ => Vec3::ZERO,
        };
        RodFrame { point, arm, rotation: turn * self.frame }
    }

    /// Mean velocity [m/s] and ω [rad/s] over a step of `h` seconds where it moves as prescribed; zero otherwise.
    pub fn driven(&self, model: &Model, state: &State, h: f64) -> (Vec3, Vec3) {
        let Anchor::Kinematic { body, .. } = self.anchor else { return (Vec3::ZERO, Vec3::ZERO) };
        let b = &model.bodies[body.index()];
        let at = |t: f64| b.motion.pose_at(&b.start, t).rotation;
        let turn = rotation::log(at(state.t + h) * at(state.t).conjugate());
        (self.anchor.driven_velocity(model, state, h), turn / h)
    }
}

impl ModelRodJoint {
    /// Both frames now.
    pub fn frames(&self, model: &Model, state: &State) -> [RodFrame; 2] {
        self.ends.map(|e| e.place(model, state))
    }
}

/// Springs and bending of a sheet; its vertices are those of its solid.
#[derive(Clone, Debug)]
pub struct ModelSheet {
    /// Vertices, masses and triangles.
    pub solid: SoftId,
    /// Threads and diagonals: pairs of vertices.
    pub springs: Vec<([u32; 2], Spring)>,
    /// Bending: the four vertices of each element.
    pub bends: Vec<([u32; 4], Bend)>,
    /// Damping β: forces β K v [s].
    pub damping: f64,
}
