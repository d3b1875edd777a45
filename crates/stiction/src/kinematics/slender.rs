//! Where springs and the elements of rods stand.

use super::{Kinematics, position_at};
use crate::coords::{Anchor, BodyId, Pose, State};
use crate::elastic::RodFrame;
use crate::linalg::{Vec3, rotation};
use crate::model::{Model, ModelRodJoint, ModelSpring, RodEnd};

/// Both ends of a rod element at a state that changes between two questions.
pub fn rod_frames_at(model: &Model, state: &State, element: &ModelRodJoint) -> [RodFrame; 2] {
    let com = |body| model.com_pose(state, body);
    element.ends.map(|e| rod_end(model, &e, position_at(model, state, &e.anchor), com))
}

fn rod_end(model: &Model, end: &RodEnd, point: Vec3, com: impl Fn(BodyId) -> Pose) -> RodFrame {
    let Anchor::Body { body, local } = end.anchor else {
        return RodFrame { point, arm: Vec3::ZERO, rotation: end.frame };
    };
    let turn = com(body).rotation;
    let arm = if model.is_free(body) { turn * local } else { Vec3::ZERO };
    RodFrame { point, arm, rotation: turn * end.frame }
}

impl Kinematics<'_> {
    /// From the first end of a spring to the second [m].
    pub fn span(&self, spring: &ModelSpring) -> Vec3 {
        let at = |end: &[(Anchor, f64)]| -> Vec3 { end.iter().map(|(a, w)| *w * self.position(a)).sum() };
        at(&spring.ends[1]) - at(&spring.ends[0])
    }

    /// Both ends of a rod element. Ends on bodies that move as prescribed have no arm.
    pub fn rod_frames(&self, element: &ModelRodJoint) -> [RodFrame; 2] {
        element.ends.map(|e| rod_end(self.model, &e, self.position(&e.anchor), |b| self.body(b).com))
    }

    /// Mean velocity [m/s] and ω [rad/s] over a step of `h` seconds of an end that moves as prescribed; zero otherwise.
    pub fn prescribed_rod_end(&self, end: &RodEnd, h: f64) -> (Vec3, Vec3) {
        let Some(body) = end.body().filter(|b| !self.model.is_free(*b)) else {
            return (Vec3::ZERO, Vec3::ZERO);
        };
        let b = &self.model.bodies[body.index()];
        let at = |t: f64| b.motion.pose_at(&b.start, t).rotation;
        let turn = rotation::log(at(self.state.t + h) * at(self.state.t).conjugate());
        (self.prescribed_velocity(&end.anchor, h), turn / h)
    }
}
