//! What the narrow phase finds: points that touch, before they get their anchors and coefficients.

use super::clip::Corner;
use crate::linalg::Vec3;

/// A pair of points of two shapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// Point of shape 1 in its frame.
    pub p1: Vec3,
    /// Point of shape 2 in its frame.
    pub p2: Vec3,
    /// Normal from shape 2 to shape 1, in the frame of shape 1.
    pub n: Vec3,
    /// Distance along the normal [m]; negative where they overlap.
    pub gap: f64,
    /// Feature of shape 1.
    pub f1: u64,
    /// Feature of shape 2.
    pub f2: u64,
}

/// Buffers of the narrow phase; results go to `touches`.
#[derive(Default)]
pub(super) struct Scratch {
    pub touches: Vec<Touch>,
    pub polygon: Vec<Corner>,
    pub spare: Vec<Corner>,
}

/// What a search by separating axes came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// Some axis keeps the shapes farther apart than asked for.
    Apart,
    /// They are near, and the touches are complete.
    Touches,
    /// They are near, but the face of the best axis does not lie under the other shape.
    Beside,
}
