//! Where joints stand.

use super::Kinematics;
use crate::coords::Pose;
use crate::model::{JointPlace, ModelJoint};

impl Kinematics<'_> {
    /// Poses of the centre-of-mass frames of both sides of a joint.
    pub fn joint_poses(&self, joint: &ModelJoint) -> [Pose; 2] {
        [joint.a.map_or(Pose::IDENTITY, |a| self.body(a).com), self.body(joint.b).com]
    }

    /// Where the parts of a joint stand.
    pub fn joint(&self, joint: &ModelJoint) -> JointPlace {
        joint.place(self.joint_poses(joint))
    }
}
