//! Geometry only: who is near whom, where, and along which normal.

mod boxes;
mod broad;
mod candidates;
pub mod ccd;
mod clip;
mod continuous;
mod convex;
mod cover;
mod distance;
mod distance_mesh;
mod impact;
mod inspect;
mod loose;
mod manifold;
mod material;
mod mesh;
mod narrow;
mod nearest;
mod overlap;
mod pass;
mod plane;
mod polytope;
mod rigid;
mod round;
mod skin;
mod solid;
mod surface;
mod touch;
mod tree;

pub use continuous::{Continuous, Hit};
pub use distance::{Distance, SignedDistance};
pub use inspect::{Inspection, inspect};
pub(crate) use nearest::{on_segments, on_triangle};
pub use overlap::{Overlap, overlaps};
pub use rigid::Collider;

use crate::contact::{ContactKey, Friction};
use crate::coords::{Anchor, Pose};
use crate::linalg::parallel::prelude::*;
use crate::linalg::{Mat3, Vec3};

/// Where both sides of a contact are when they meet on the way of a step.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// From the centres of mass to where they touch [m], world axes; zero for sides without columns.
    pub arms: [Vec3; 2],
    /// Frames of the owners of both shapes, at the centre of mass of a body.
    pub poses: [Pose; 2],
}

/// With fewer vertices than this in all, handing work to other threads costs more than it gains.
const SHARED_VERTICES: usize = 4000;

/// Does something to each item, on several threads where `shared`. The result is the same.
fn for_each<T: Send>(items: &mut [T], shared: bool, f: impl Fn(&mut T) + Sync + Send) {
    if shared {
        items.par_iter_mut().for_each(f);
    } else {
        items.iter_mut().for_each(f);
    }
}

/// Does something to each item with its partner, on several threads where `shared`. The result is the same.
fn for_each_with<T: Send, U: Sync>(
    items: &mut [T],
    with: &[U],
    shared: bool,
    f: impl Fn(&mut T, &U) + Sync + Send,
) {
    if shared {
        items.par_iter_mut().zip(with).for_each(|(t, u)| f(t, u));
    } else {
        items.iter_mut().zip(with).for_each(|(t, u)| f(t, u));
    }
}

/// A pair of material points that touch or may touch within the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Stable name.
    pub key: ContactKey,
    /// Point of side a.
    pub a: Anchor,
    /// Point of side b.
    pub b: Anchor,
    /// Halfway between both points, world axes [m]: where the force acts.
    pub point: Vec3,
    /// World axes to contact frame: rows n (from b to a), t₁, t₂. For elliptic friction t₁ is the first axis.
    pub frame: Mat3,
    /// Distance along n [m]; negative where they overlap.
    pub gap: f64,
    /// Friction of the pair.
    pub friction: Friction,
    /// Restitution of the pair.
    pub restitution: f64,
}

impl Contact {
    /// The normal, from b to a.
    pub fn normal(&self) -> Vec3 {
        self.frame.row(0)
    }
}
