//! The rows of a contact: which columns its two points have, how driven points move, and the bias of its normal.

use crate::collide::Contact;
use crate::contact::Term;
use crate::coords::{Anchor, State, rotation};
use crate::integrate::Scheme;
use crate::linalg::Vec3;
use crate::scene::Model;

/// gap/h for open contacts, nothing for overlaps (see `recovery`), Newton's restitution for impacts [m/s].
///
/// The midpoint scheme rebounds by its end velocity alone: a rebound in the move too would lift bodies at no cost, and
/// bounces would never die out.
pub(super) fn normal_bias(scheme: Scheme, model: &Model, state: &State, c: &Contact, h: f64) -> f64 {
    let settings = &model.contact;
    // Nodes of solids are pushed out at once: they carry little momentum, and what they carry the solid absorbs.
    let out = if is_soft(model, &c.a) || is_soft(model, &c.b) { settings.recovery_speed } else { 0.0 };
    let gap = (c.gap / h).max(-out);
    if c.restitution > 0.0 && scheme == Scheme::ImplicitEuler {
        let approach = c.normal().dot(c.a.velocity(model, state) - c.b.velocity(model, state));
        if approach < -settings.restitution_threshold && c.gap + h * approach < 0.0 {
            return gap.min(c.restitution * approach);
        }
    }
    gap
}

/// True for points of solids.
pub(super) fn is_soft(model: &Model, anchor: &Anchor) -> bool {
    match *anchor {
        Anchor::Node(n) => model.nodes[n.index()].solid.is_some(),
        Anchor::Weighted { .. } | Anchor::Surface { .. } => true,
        _ => false,
    }
}

/// Mean velocity over the step of a point that moves as prescribed; zero for points with columns.
///
/// A rigid body that meets it moves by `h v` at its centre of mass and turns by `h ω`. So the velocity of the
/// prescribed motion is taken at that centre along the chord of the step, and from there to the contact by ω: then a
/// body can stick to a turning one at all of its contacts. Chords at each contact would differ by a contraction that
/// no rigid body follows.
pub(super) fn driven_velocity(model: &Model, state: &State, anchor: &Anchor, other: &Anchor, h: f64) -> Vec3 {
    match *anchor {
        Anchor::Kinematic { body, local } => {
            let b = &model.bodies[body.index()];
            let (now, then) = (b.motion.pose_at(&b.start, state.t), b.motion.pose_at(&b.start, state.t + h));
            let turn = then.rotation * now.rotation.conjugate();
            let point = now.transform_point(local + b.com);
            let centre = match *other {
                Anchor::Rigid { body, .. } => Vec3::from_slice(&state.q[model.bodies[body.index()].q..]),
                _ => point,
            };
            let moved = then.translation + turn * (centre - now.translation) - centre;
            (moved + rotation::log(turn).cross(point - centre)) / h
        }
        Anchor::Surface { .. } => {
            let corners = anchor.corners(model);
            corners.map(|(a, w)| w * driven_velocity(model, state, a, other, h)).sum()
        }
        _ => Vec3::ZERO,
    }
}

/// Velocity of the part of a surface point that has columns.
pub(super) fn free_velocity(model: &Model, state: &State, anchor: &Anchor) -> Vec3 {
    let free = anchor.corners(model).filter(|(a, _)| !matches!(a, Anchor::Kinematic { .. }));
    free.map(|(a, w)| w * a.velocity(model, state)).sum()
}

/// Columns of a point of a surface: one term per free vertex, and one per body that holds vertices.
pub(super) fn surface_terms(model: &Model, state: &State, anchor: &Anchor, sign: f64) -> [Option<Term>; 4] {
    let mut out: [Option<Term>; 4] = [None; 4];
    for (k, (corner, w)) in anchor.corners(model).enumerate() {
        match *corner {
            Anchor::Node(n) => {
                let n = &model.nodes[n.index()];
                out[k] = Some(Term::Node { block: n.block as u32, dof: n.dof as u32, weight: sign * w });
            }
            Anchor::Rigid { body, .. } => {
                let b = &model.bodies[body.index()];
                let block = b.block.expect("a Rigid anchor has a block") as u32;
                let x = corner.position(model, state) - Vec3::from_slice(&state.q[b.q..]);
                // Σ w (v + ω × x) is one term with the mean arm.
                match out.iter_mut().flatten().find(|t| t.block() == block as usize) {
                    Some(Term::Rigid { sign: sum, arm, .. }) => {
                        let total = *sum + sign * w;
                        *arm = (*arm * *sum + x * (sign * w)) / total;
                        *sum = total;
                    }
                    _ => out[k] = Some(Term::Rigid { block, dof: b.dof as u32, sign: sign * w, arm: x }),
                }
            }
            _ => {}
        }
    }
    out
}

/// Columns of both sides of a contact.
pub(super) fn terms(
    model: &Model,
    state: &State,
    c: &Contact,
    late: Option<[Vec3; 2]>,
) -> impl Iterator<Item = Term> {
    let side = |anchor: &Anchor, sign: f64| -> [Option<Term>; 4] {
        let mut out = [None; 4];
        match *anchor {
            Anchor::World { .. } | Anchor::Kinematic { .. } => {}
            Anchor::Rigid { body, .. } => {
                let b = &model.bodies[body.index()];
                // Both sides meet at the same point, so that impulses are equal, opposite and collinear.
                let arm = match late {
                    Some(arms) => arms[usize::from(sign < 0.0)],
                    None => c.point - Vec3::from_slice(&state.q[b.q..]),
                };
                let block = b.block.expect("a Rigid anchor has a block") as u32;
                out[0] = Some(Term::Rigid { block, dof: b.dof as u32, sign, arm });
            }
            Anchor::Node(n) => {
                let n = &model.nodes[n.index()];
                out[0] = Some(Term::Node { block: n.block as u32, dof: n.dof as u32, weight: sign });
            }
            Anchor::Weighted { nodes, w, n } => {
                for k in 0..n as usize {
                    let node = &model.nodes[nodes[k].index()];
                    let (block, dof) = (node.block as u32, node.dof as u32);
                    out[k] = Some(Term::Node { block, dof, weight: sign * w[k] });
                }
            }
            Anchor::Surface { .. } => return surface_terms(model, state, anchor, sign),
            Anchor::Link { .. } => unreachable!("no model holds articulations yet"),
        }
        out
    };
    side(&c.a, 1.0).into_iter().chain(side(&c.b, -1.0)).flatten()
}
