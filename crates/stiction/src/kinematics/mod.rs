//! Where bodies and material points are, and how they move, at one state.
//!
//! [`Frames`] holds pose and twist of every body, found once per state. [`Kinematics`] is the model, a state and its frames:
//! what everyone reads who asks where something is.

mod columns;
mod frames;
mod joint;
mod slender;
mod term;

pub use frames::{BodyFrame, Frames, Placement};
pub use slender::rod_frames_at;
pub use term::Term;

use crate::coords::{Anchor, BodyId, NodeId, Pose, SoftId, State};
use crate::linalg::Vec3;
use crate::model::{Model, Motion};

/// A model at a state, with the frames of its bodies.
///
/// ```
/// use stiction::coords::{Anchor, BodyId};
/// use stiction::kinematics::{Frames, Kinematics};
/// use stiction::scene::{Body, Geometry, Scene};
/// use stiction::Vec3;
///
/// let mut scene = Scene::default();
/// scene.bodies.push(Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 1.0));
/// let model = scene.compile()?;
/// let frames = Frames::of(&model, &model.initial);
/// let kin = Kinematics::new(&model, &model.initial, &frames);
/// let top = Anchor::Body { body: BodyId(0), local: Vec3::new(0.0, 0.0, 0.1) };
/// assert_eq!(kin.position(&top), Vec3::new(0.0, 0.0, 1.1));
/// # Ok::<(), stiction::SceneError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Kinematics<'a> {
    /// The model.
    pub model: &'a Model,
    /// The state.
    pub state: &'a State,
    frames: &'a Frames,
}

impl<'a> Kinematics<'a> {
    /// The frames are those of the state: debug builds check it.
    pub fn new(model: &'a Model, state: &'a State, frames: &'a Frames) -> Kinematics<'a> {
        frames.check(state);
        Kinematics { model, state, frames }
    }

    /// Frame at the centre of mass and twist of a body.
    pub fn body(&self, body: BodyId) -> &'a BodyFrame {
        self.frames.body(body)
    }

    /// Pose of the frame of a body, as the scene states it.
    pub fn body_pose(&self, body: BodyId) -> Pose {
        let mut pose = self.body(body).com;
        pose.translation -= pose.rotation * self.model.bodies[body.index()].com;
        pose
    }

    /// Position of a particle [m].
    pub fn node_position(&self, node: NodeId) -> Vec3 {
        self.model.node_position(self.state, node)
    }

    /// Velocity of a particle [m/s].
    pub fn node_velocity(&self, node: NodeId) -> Vec3 {
        self.model.node_velocity(self.state, node)
    }

    /// Position of a vertex of a solid [m].
    pub fn vertex_position(&self, solid: SoftId, vertex: usize) -> Vec3 {
        self.position(&self.model.solids[solid.index()].vertices[vertex])
    }

    /// Position in the world [m].
    pub fn position(&self, anchor: &Anchor) -> Vec3 {
        position(self.model, self.state, anchor, &|body| self.body(body).com)
    }

    /// Velocity in the world [m/s].
    pub fn velocity(&self, anchor: &Anchor) -> Vec3 {
        match *anchor {
            Anchor::World { .. } => Vec3::ZERO,
            Anchor::Body { body, local } => {
                let frame = self.body(body);
                frame.v + frame.w.cross(frame.com.rotation * local)
            }
            Anchor::Node(node) => self.node_velocity(node),
            Anchor::Surface { .. } => {
                self.model.corners(anchor).map(|(a, weight)| weight * self.velocity(a)).sum()
            }
        }
    }

    /// Mean velocity over a step of `h` seconds of a point that moves as prescribed [m/s]; zero for any other.
    pub fn prescribed_velocity(&self, anchor: &Anchor, h: f64) -> Vec3 {
        match *anchor {
            Anchor::Body { body, local } => {
                let b = &self.model.bodies[body.index()];
                if b.block.is_some() || b.motion == Motion::Fixed {
                    return Vec3::ZERO;
                }
                let at = |t: f64| b.motion.pose_at(&b.start, t).transform_point(local + b.com);
                (at(self.state.t + h) - at(self.state.t)) / h
            }
            Anchor::Surface { .. } => {
                self.model.corners(anchor).map(|(a, weight)| weight * self.prescribed_velocity(a, h)).sum()
            }
            _ => Vec3::ZERO,
        }
    }
}

/// Position in the world [m] at a state that changes between two questions, so that frames of all bodies would be wasted.
pub fn position_at(model: &Model, state: &State, anchor: &Anchor) -> Vec3 {
    position(model, state, anchor, &|body| model.com_pose(state, body))
}

fn position(model: &Model, state: &State, anchor: &Anchor, com: &dyn Fn(BodyId) -> Pose) -> Vec3 {
    match *anchor {
        Anchor::World { p } => p,
        Anchor::Body { body, local } => com(body).transform_point(local),
        Anchor::Node(node) => model.node_position(state, node),
        Anchor::Surface { .. } => {
            model.corners(anchor).map(|(a, weight)| weight * position(model, state, a, com)).sum()
        }
    }
}
