//! Anchors: the material points to which contacts, forces, joints and sensors attach.

use super::{BodyId, LinkId, NodeId, Pose, SoftId, State};
use crate::linalg::Vec3;
use crate::scene::{Model, Motion};

/// A material point. Only the anchor knows which columns of the velocity it moves with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// A fixed point of the world [m].
    World {
        /// Where it is.
        p: Vec3,
    },
    /// A point of a body that moves as prescribed (or stands still): it has a velocity, but no columns.
    Kinematic {
        /// The body.
        body: BodyId,
        /// The point in the frame of the body.
        local: Vec3,
    },
    /// A particle.
    Node(NodeId),
    /// A weighted mean of up to four particles: a point of an edge, a face or a tetrahedron.
    Weighted {
        /// The particles; the first `n` count.
        nodes: [NodeId; 4],
        /// Their weights.
        w: [f64; 4],
        /// How many.
        n: u8,
    },
    /// A weighted mean of up to three vertices of a solid or sheet: a point of its surface. Each vertex moves as its own
    /// anchor says, be it free or held.
    Surface {
        /// The solid.
        solid: SoftId,
        /// The vertices; the first `n` count.
        vertices: [u32; 3],
        /// Their weights.
        w: [f64; 3],
        /// How many.
        n: u8,
    },
    /// A point of a free rigid body.
    Rigid {
        /// The body.
        body: BodyId,
        /// The point in the frame of the centre of mass.
        local: Vec3,
    },
    /// A point of a link of an articulation.
    Link {
        /// The link.
        link: LinkId,
        /// The point in the frame of the link.
        local: Vec3,
    },
}

impl Anchor {
    /// The anchor of a point of a body: `Rigid` where the body is free, `Kinematic` where it is not.
    pub fn on_body(model: &Model, body: BodyId, local: Vec3) -> Anchor {
        match model.bodies[body.index()].block {
            Some(_) => Anchor::Rigid { body, local },
            None => Anchor::Kinematic { body, local },
        }
    }

    /// The anchors of the vertices of a surface point, with their weights; nothing for any other anchor.
    pub fn corners<'a>(&self, model: &'a Model) -> impl Iterator<Item = (&'a Anchor, f64)> + use<'a> {
        let (solid, vertices, w, n) = match *self {
            Anchor::Surface { solid, vertices, w, n } => (solid.index(), vertices, w, n as usize),
            _ => (0, [0; 3], [0.0; 3], 0),
        };
        (0..n).map(move |k| (&model.solids[solid].vertices[vertices[k] as usize], w[k]))
    }

    /// Position in the world [m].
    pub fn position(&self, model: &Model, state: &State) -> Vec3 {
        match *self {
            Anchor::World { p } => p,
            Anchor::Kinematic { body, local } | Anchor::Rigid { body, local } => {
                let pose: Pose = model.com_pose(state, body);
                pose.transform_point(local)
            }
            Anchor::Node(node) => model.node_position(state, node),
            Anchor::Weighted { nodes, w, n } => {
                (0..n as usize).map(|k| w[k] * model.node_position(state, nodes[k])).sum()
            }
            Anchor::Surface { .. } => self.corners(model).map(|(a, w)| w * a.position(model, state)).sum(),
            Anchor::Link { .. } => unreachable!("no model holds articulations yet"),
        }
    }

    /// Mean velocity over a step of `h` seconds of a point that moves as prescribed [m/s]; zero for any other.
    pub fn driven_velocity(&self, model: &Model, state: &State, h: f64) -> Vec3 {
        match *self {
            Anchor::Kinematic { body, local } => {
                let b = &model.bodies[body.index()];
                if b.motion == Motion::Fixed {
                    return Vec3::ZERO;
                }
                let at = |t: f64| b.motion.pose_at(&b.start, t).transform_point(local + b.com);
                (at(state.t + h) - at(state.t)) / h
            }
            Anchor::Surface { .. } => {
                self.corners(model).map(|(a, w)| w * a.driven_velocity(model, state, h)).sum()
            }
            _ => Vec3::ZERO,
        }
    }

    /// Velocity in the world [m/s].
    pub fn velocity(&self, model: &Model, state: &State) -> Vec3 {
        match *self {
            Anchor::World { .. } => Vec3::ZERO,
            Anchor::Kinematic { body, local } | Anchor::Rigid { body, local } => {
                let arm = model.com_pose(state, body).rotation * local;
                let (v, w) = model.com_velocity(state, body);
                v + w.cross(arm)
            }
            Anchor::Node(node) => model.node_velocity(state, node),
            Anchor::Weighted { nodes, w, n } => {
                (0..n as usize).map(|k| w[k] * model.node_velocity(state, nodes[k])).sum()
            }
            Anchor::Surface { .. } => self.corners(model).map(|(a, w)| w * a.velocity(model, state)).sum(),
            Anchor::Link { .. } => unreachable!("no model holds articulations yet"),
        }
    }
}
