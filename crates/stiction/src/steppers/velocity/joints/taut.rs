//! The stiffness that taut joints give to the turning of their bodies.

use super::Joints;
use crate::coords::BodyId;
use crate::integrate::Weights;
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Mat3, Vec3};

/// A body that taut joints would turn by more than this within a step (h² f·r/I, squared frequency times h²) gets their
/// stiffness: explicit arms are unstable from 4 on.
const TAUT: f64 = 0.25;

impl Joints {
    /// Finds the stiffness that taut joints give to the turning of their bodies, α_q/α_a · f·r (I − r rᵀ/r²) for a force
    /// `f` of the last step at the arm `r`, where explicit arms would be unstable (a light chain under a heavy load).
    /// That makes arms implicit, as implicit Euler or the midpoint rule would have them.
    pub fn find_stiffness(&mut self, kin: Kinematics<'_>, h: f64, w: Weights) {
        let Kinematics { model, state, .. } = kin;
        let mut taut = std::mem::take(&mut self.taut);
        taut.clear();
        let mut add = |id: BodyId, arm: Vec3, force: Vec3| {
            let body = &model.bodies[id.index()];
            let Some(block) = body.block else { return };
            // Mean inertia across the arm.
            let (out, pull) = (arm.normalize_or_zero(), force.dot(arm));
            let inertia = body.world_inertia(state.rigid_pose(body.q).rotation);
            if h * h * pull > TAUT * 0.5 * (body.moments.element_sum() - out.dot(inertia * out)) {
                let across = Mat3::IDENTITY - Mat3::from_cols(out * out.x, out * out.y, out * out.z);
                taut.push((block, (w.q / w.a) * pull * across));
            }
        };
        for (i, j) in model.joints.iter().enumerate() {
            let place = kin.joint(j);
            let force = self.memory.reaction[i].0;
            add(j.b, place.anchor_b - place.centre_b, force);
            if let Some(id) = j.a {
                add(id, place.anchor_b - place.centre_a, -force);
            }
        }
        self.taut = taut;
    }

    /// Adds `times` what [`find_stiffness`](Joints::find_stiffness) found to `a`.
    pub fn add_stiffness(&self, a: &mut BlockMat, times: f64) {
        for (block, k) in &self.taut {
            let m = a.diagonal_block_mut(*block);
            for r in 0..3 {
                for c in 0..3 {
                    m[6 * (3 + r) + 3 + c] += times * k.col(c)[r];
                }
            }
        }
    }
}
