//! Springs, rods and sheets of a model.

use crate::coords::{Anchor, BodyId, SoftId};
use crate::elastic::{Bend, RodElement, Spring};
use crate::linalg::Quat;

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
            Anchor::Body { body, .. } => Some(body),
            _ => None,
        }
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
