//! Rods in the equations of motion: six strain rows per joint, on the 6×6 blocks of its links.

use super::slender::{Step, block_of};
use crate::coords::Part;
use crate::coords::columns::add_3x3;
use crate::elastic::{HessianKind, turning_stiffness};
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::model::{Model, ModelRodJoint};

/// Pairs of blocks that rod elements couple.
pub(super) fn pattern(model: &Model, pairs: &mut Vec<(u32, u32)>) {
    for j in model.rods.iter().flat_map(|r| &r.joints) {
        let [a, b] = j.ends.map(|e| block_of(model, &e.anchor));
        pairs.extend(a.zip(b));
    }
}

/// Energy of all rods [J].
pub(super) fn energy(kin: Kinematics<'_>) -> f64 {
    let joints = kin.model.rods.iter().flat_map(|r| &r.joints);
    joints.map(|j| j.element.energy(&kin.rod_frames(j))).sum()
}

/// Adds stiffness and damping to `a`, and the impulse of the forces to `b`.
pub(super) fn add_to(step: &Step, a: &mut BlockMat, b: &mut [f64]) {
    for rod in &step.kin.model.rods {
        for joint in &rod.joints {
            add_joint(step, joint, rod.damping, a, b);
        }
    }
}

fn add_joint(step: &Step, joint: &ModelRodJoint, damping: f64, a: &mut BlockMat, b: &mut [f64]) {
    let frames = step.kin.rod_frames(joint);
    let load = joint.element.load(&frames, HessianKind::GaussNewton);
    let half = if crate::mutant::on("half-rod-damping") { 0.5 } else { 1.0 };
    let weight = step.stiffness + step.damping * half * damping;
    let mut k = load.hessian.map(|row| row.map(|k| k * weight));
    for (end, sign) in [(0, 1.0), (1, -1.0)] {
        let (pull, arm) = (load.gradient[2] * sign, frames[end].arm);
        let ratio = pull.length() * arm.length() / step.turning_inertia(&joint.ends[end].anchor, arm);
        k[2 * end + 1][2 * end + 1] += turning_stiffness(pull, arm) * (step.stiffness * step.share(ratio));
    }
    let columns = joint.ends.map(|e| step.kin.part(&e.anchor));
    let driven = joint.ends.map(|e| step.driven_frame(&e));
    for (i, ci) in columns.iter().enumerate() {
        let Some(Part::Rigid { block: bi, dof, .. }) = *ci else { continue };
        for (j, cj) in columns.iter().enumerate() {
            let Some(Part::Rigid { block: bj, .. }) = *cj else { continue };
            let block =
                a.block_mut(bi as usize, bj as usize).expect("the pattern holds every pair of an element");
            for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                add_3x3(block, 6, 3 * r, 3 * c, &k[2 * i + r][2 * j + c]);
            }
        }
        let dof = dof as usize;
        for r in 0..2 {
            let row: &[Mat3; 4] = &k[2 * i + r];
            let moved: Vec3 = (0..2).map(|j| row[2 * j] * driven[j].0 + row[2 * j + 1] * driven[j].1).sum();
            let push = -(load.gradient[2 * i + r] * step.impulse + moved);
            for n in 0..3 {
                b[dof + 3 * r + n] += push[n];
            }
        }
    }
}
