//! From a point to the dofs that move it: the only place where that is said.

use super::Kinematics;
use crate::coords::{Anchor, Part};
use crate::linalg::Vec3;

impl Kinematics<'_> {
    /// Hands the parts of `weight` times the velocity of a point to `put`; none for points of the world and of bodies that
    /// follow a path. `meet` is where the point meets another one, for the arm of a rigid body: both sides of a contact or
    /// joint then push at the same place. A block that moves several vertices of a surface comes once for each.
    #[inline]
    pub fn columns(&self, anchor: &Anchor, weight: f64, meet: Option<Vec3>, put: &mut impl FnMut(Part)) {
        if let Anchor::Surface { .. } = anchor {
            for (corner, w) in self.model.corners(anchor) {
                if let Some(part) = self.moved_by(corner, weight * w, Some(self.position(corner))) {
                    put(part);
                }
            }
        } else if let Some(part) = self.moved_by(anchor, weight, meet) {
            put(part);
        }
    }

    /// The part of a point that one block moves: anything but a point of a surface. Nothing where no dof moves it.
    pub fn part(&self, anchor: &Anchor) -> Option<Part> {
        debug_assert!(!matches!(anchor, Anchor::Surface { .. }), "several blocks move a point of a surface");
        self.moved_by(anchor, 1.0, None)
    }

    #[inline]
    fn moved_by(&self, anchor: &Anchor, weight: f64, meet: Option<Vec3>) -> Option<Part> {
        match *anchor {
            Anchor::World { .. } | Anchor::Surface { .. } => None,
            Anchor::Node(node) => {
                let n = &self.model.nodes[node.index()];
                Some(Part::Node { block: n.block as u32, dof: n.dof as u32, weight })
            }
            Anchor::Body { body, local } => {
                let b = &self.model.bodies[body.index()];
                let (block, com) = (b.block?, self.body(body).com);
                let arm = meet.map_or_else(|| com.rotation * local, |x| x - com.translation);
                Some(Part::Rigid { block: block as u32, dof: b.dof as u32, weight, arm })
            }
        }
    }
}
