//! What the narrow phase finds: points that touch, before they get their anchors and coefficients.

use super::clip::Corner;
use crate::coords::Pose;
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

/// The smallest gap of some touches.
pub(super) fn deepest(touches: &[Touch]) -> f64 {
    touches.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min)
}

/// Do the points of a touch, with `rel` the pose of shape 2 in the frame of shape 1, stand this far beside each other?
/// Then corners pass each other, and the axis that keeps them apart is not the way between them.
pub(super) fn is_askew(t: &Touch, rel: &Pose, distance: f64) -> bool {
    let d = t.p1 - rel.transform_point(t.p2);
    (d - t.n * t.gap).length() > distance
}

/// Buffers of the narrow phase; results go to `touches`.
pub(super) struct Scratch {
    pub touches: Vec<Touch>,
    pub polygon: Vec<Corner>,
    pub spare: Vec<Corner>,
}

/// Two faces of boxes cut each other into at most this many corners.
const BOX_CORNERS: usize = 8;

impl Default for Scratch {
    /// Room for boxes from the start: how many corners two equal faces have changes with rounding.
    fn default() -> Self {
        Scratch {
            touches: Vec::with_capacity(BOX_CORNERS),
            polygon: Vec::with_capacity(BOX_CORNERS),
            spare: Vec::with_capacity(BOX_CORNERS),
        }
    }
}

/// What a search by separating axes came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// Some axis keeps the shapes farther apart than asked for.
    Apart,
    /// They are near, and the touches are complete.
    Touches,
    /// They are near, but the face or edges of the best axis do not lie where they are nearest.
    Beside,
}
