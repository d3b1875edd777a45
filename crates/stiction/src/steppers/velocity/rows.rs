//! The rows of a contact: which columns its two points have, how driven points move, and the bias of its normal.

use crate::collide::Contact;
use crate::contact::Term;
use crate::coords::{Anchor, Part};
use crate::integrate::Scheme;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::linalg::rotation;
use crate::model::{Model, Motion};

/// gap/h for open contacts, nothing for overlaps (see `recovery`), Newton's restitution for impacts [m/s].
///
/// The midpoint scheme rebounds by its end velocity alone: a rebound in the move too would lift bodies at no cost, and
/// bounces would never die out.
pub(crate) fn normal_bias(scheme: Scheme, kin: Kinematics<'_>, c: &Contact, h: f64) -> f64 {
    let model = kin.model;
    let settings = &model.contact;
    // Nodes of solids are pushed out at once: they carry little momentum, and what they carry the solid absorbs.
    let out = if is_soft(model, &c.a) || is_soft(model, &c.b) { settings.recovery_speed } else { 0.0 };
    let gap = (c.gap / h).max(-out);
    match scheme {
        Scheme::ImplicitEuler => rebound(kin, c, h).map_or(gap, |bias| gap.min(bias)),
        Scheme::Midpoint => gap,
    }
}

/// e·u_n⁻ of a contact that meets within the step, faster than the threshold [m/s]: the law is `u_n⁺ + e u_n⁻ ≥ 0`.
pub(crate) fn rebound(kin: Kinematics<'_>, c: &Contact, h: f64) -> Option<f64> {
    if c.restitution <= 0.0 {
        return None;
    }
    let approach = c.normal().dot(kin.velocity(&c.a) - kin.velocity(&c.b));
    let strikes = approach < -kin.model.contact.restitution_threshold && c.gap + h * approach < 0.0;
    strikes.then_some(c.restitution * approach)
}

/// True for points of solids.
pub(crate) fn is_soft(model: &Model, anchor: &Anchor) -> bool {
    match *anchor {
        Anchor::Node(n) => model.nodes[n.index()].solid.is_some(),
        Anchor::Surface { .. } => true,
        _ => false,
    }
}

/// True for a contact without points of solids.
pub(crate) fn is_rigid(model: &Model, c: &Contact) -> bool {
    !is_soft(model, &c.a) && !is_soft(model, &c.b)
}

/// Mean velocity over the step of a point that moves as prescribed; zero for points with columns.
///
/// A rigid body that meets it moves by `h v` at its centre of mass and turns by `h ω`. So the velocity of the
/// prescribed motion is taken at that centre along the chord of the step, and from there to the contact by ω: then a
/// body can stick to a turning one at all of its contacts. Chords at each contact would differ by a contraction that
/// no rigid body follows.
pub(crate) fn driven_velocity(kin: Kinematics<'_>, anchor: &Anchor, other: &Anchor, h: f64) -> Vec3 {
    let Kinematics { model, state, .. } = kin;
    match *anchor {
        Anchor::Body { body, local } => {
            let b = &model.bodies[body.index()];
            if b.block.is_some() || b.motion == Motion::Fixed {
                return Vec3::ZERO;
            }
            let (now, then) = (b.motion.pose_at(&b.start, state.t), b.motion.pose_at(&b.start, state.t + h));
            let turn = then.rotation * now.rotation.conjugate();
            let point = now.transform_point(local + b.com);
            let centre = match *other {
                Anchor::Body { body, .. } if model.is_free(body) => kin.body(body).com.translation,
                _ => point,
            };
            let moved = then.translation + turn * (centre - now.translation) - centre;
            (moved + rotation::log(turn).cross(point - centre)) / h
        }
        Anchor::Surface { .. } => {
            let corners = model.corners(anchor);
            corners.map(|(a, w)| w * driven_velocity(kin, a, other, h)).sum()
        }
        _ => Vec3::ZERO,
    }
}

/// Velocity of the part of a surface point that has columns.
pub(crate) fn free_velocity(kin: Kinematics<'_>, anchor: &Anchor) -> Vec3 {
    let model = kin.model;
    let free = model.corners(anchor).filter(|(a, _)| model.block_of(a).is_some());
    free.map(|(a, w)| w * kin.velocity(a)).sum()
}

/// Appends the columns of one side of a contact at the point where both sides meet, or with the arm that it has there ahead in
/// time. Vertices of a surface that one body holds are one part with their mean arm: Σ w (v + ω × x).
fn add_side(
    kin: Kinematics<'_>,
    anchor: &Anchor,
    sign: f64,
    meet: Vec3,
    late: Option<Vec3>,
    out: &mut Vec<Term>,
) {
    let first = out.len();
    kin.columns(anchor, sign, Some(meet), &mut |part| {
        let twin = out[first..].iter_mut().find(|t| t.block() == part.block());
        match (twin, part) {
            (Some(Term::Point(Part::Rigid { weight: sum, arm, .. })), Part::Rigid { weight, arm: x, .. }) => {
                let total = *sum + weight;
                *arm = (*arm * *sum + x * weight) / total;
                *sum = total;
            }
            _ => out.push(Term::Point(part)),
        }
    });
    if let (Anchor::Body { .. }, [Term::Point(Part::Rigid { arm, .. })]) = (anchor, &mut out[first..]) {
        *arm = late.unwrap_or(*arm);
        if crate::mutant::on("half-arm") {
            *arm *= 0.5;
        }
    }
}

/// Appends the columns of both sides of a contact. `late` has the lever arms of a contact that was found ahead in time.
pub(crate) fn add_terms(kin: Kinematics<'_>, c: &Contact, late: Option<[Vec3; 2]>, out: &mut Vec<Term>) {
    add_side(kin, &c.a, 1.0, c.point, late.map(|arms| arms[0]), out);
    add_side(kin, &c.b, -1.0, c.point, late.map(|arms| arms[1]), out);
}

/// The columns of both sides of a contact.
pub(crate) fn terms(kin: Kinematics<'_>, c: &Contact, late: Option<[Vec3; 2]>) -> Vec<Term> {
    let mut out = Vec::with_capacity(2);
    add_terms(kin, c, late, &mut out);
    out
}
