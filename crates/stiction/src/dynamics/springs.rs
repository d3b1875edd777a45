//! Springs, dampers and ropes in the equations of motion.

use super::slender::{Step, add_turning, block_of};
use crate::coords::{Part, add_stiffness};
use crate::elastic::{HessianKind, turning_stiffness};
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Vec3};
use crate::model::{Model, ModelSpring};

/// Pairs of blocks that springs couple.
pub(super) fn pattern(model: &Model, pairs: &mut Vec<(u32, u32)>) {
    for s in &model.springs {
        let blocks = || s.ends.iter().flatten().filter_map(|(a, _)| block_of(model, a));
        pairs.extend(blocks().flat_map(|i| blocks().map(move |j| (i, j))));
    }
}

/// Energy of all springs [J].
pub(super) fn energy(kin: Kinematics<'_>) -> f64 {
    kin.model.springs.iter().map(|s| s.spring.energy(kin.span(s))).sum()
}

/// Adds stiffness and damping to `a`, and the impulse of the forces to `b`.
pub(super) fn add_to(step: &Step, a: &mut BlockMat, b: &mut [f64]) {
    for s in &step.kin.model.springs {
        add_spring(step, s, a, b);
    }
}

fn add_spring(step: &Step, s: &ModelSpring, a: &mut BlockMat, b: &mut [f64]) {
    let parts = || {
        let end = |k: usize, sign: f64| s.ends[k].iter().map(move |(anchor, w)| (anchor, sign * w));
        end(0, -1.0).chain(end(1, 1.0))
    };
    let d = step.kin.span(s);
    let pull = s.spring.gradient(d);
    let line = s.spring.hessian(d, HessianKind::GaussNewton);
    let across = s.spring.hessian(d, HessianKind::Projected) - line;
    let mobility: f64 = parts().map(|(anchor, w)| w * w * step.mobility(anchor)).sum();
    let share = step.share(pull.length() / d.length().max(f64::MIN_POSITIVE) * mobility);
    let block = (line + across * share) * step.stiffness + s.spring.damper(d) * step.damping;
    let driven: Vec3 = parts().map(|(anchor, w)| w * step.driven(anchor)).sum();
    let push = -(pull * step.impulse + block * driven);
    for (p, wp) in parts() {
        let Some(part) = step.kin.part(p) else { continue };
        part.add_force(push * wp, b);
        for (q, wq) in parts() {
            if let Some(other) = step.kin.part(q) {
                add_stiffness(a, &part, &other, &(block * (wp * wq)));
            }
        }
        if let Part::Rigid { arm, .. } = part {
            let turning = turning_stiffness(pull * -wp, arm);
            let ratio = (wp * pull).length() * arm.length() / step.turning_inertia(p, arm);
            add_turning(a, &part, &(turning * (step.stiffness * step.share(ratio))));
        }
    }
}
