//! Anchors: the material points to which contacts, forces, joints and sensors attach.

use super::{BodyId, NodeId, SoftId};
use crate::linalg::Vec3;

/// A material point. `kinematics` says where it is and which columns of the velocity it moves with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// A fixed point of the world [m].
    World {
        /// Where it is.
        p: Vec3,
    },
    /// A point of a rigid body, be it free or moved as prescribed.
    Body {
        /// The body.
        body: BodyId,
        /// The point in the frame of the centre of mass.
        local: Vec3,
    },
    /// A particle.
    Node(NodeId),
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
}
