//! Impacts: the sides touch when and where their impulse acts, and leave each other as Newton's law and Coulomb's say.
//!
//! Bodies with impacts fly: until they touch they move by a parabola and turn without torque, and so they do afterwards. Both motions
//! follow from the states at the ends of the step alone, the turn by small steps of a Runge–Kutta method.

use crate::judge::cone::{self, Promise, SLOP};
use crate::judge::geometry::{Core, Solid, placed, signed_distance};
use crate::judge::overlap::Shapes;
use crate::judge::record::{Record, inertia};
use crate::judge::verdict::{LawOf, Verdict};
use stiction::collide::Contact;
use stiction::coords::{BodyId, Pose, ShapeId, State};
use stiction::linalg::Mat3;
use stiction::scene::{Motion, Owner};
use stiction::{Quat, Vec3};

/// Steps of the turn to the touch.
const SUBSTEPS: usize = 64;
/// Surfaces that touch are apart by less than this share of the smaller shape: the turn is found to some 1e-12.
const TOUCHING: f64 = 1e-8;

/// A step with impacts is solved twice, each time to the tolerance: with all contacts, and for the impacts at their touch.
const SOLVES: f64 = 2.0;

/// A side of an impact at the touch.
struct Side {
    /// Frame at the centre of mass.
    pose: Pose,
    /// Velocity of the point of the touch right before and right after the impact, and what it is at the end of the step if
    /// nothing else happens [m/s].
    before: Vec3,
    after: Vec3,
    end: Vec3,
    /// How far a turn of second order is off at the point [m], and the velocity there by it [m/s]: its error is of third order and
    /// needs principal moments that differ.
    doubt: (f64, f64),
}

/// The rotation of a free body after a time, from one with a constant angular momentum.
fn turned(r: &Record, body: usize, from: Quat, momentum: Vec3, time: f64) -> Quat {
    let h = time / SUBSTEPS as f64;
    let rate = |q: Quat| {
        let w = inertia(r.model, body, q).inverse() * momentum;
        Quat::from_xyzw(w.x, w.y, w.z, 0.0) * q * 0.5
    };
    (0..SUBSTEPS).fold(from, |q, _| {
        let a = rate(q);
        let b = rate(q + a * (0.5 * h));
        let c = rate(q + b * (0.5 * h));
        let d = rate(q + c * h);
        (q + (a + b * 2.0 + c * 2.0 + d) * (h / 6.0)).normalize()
    })
}

/// The side of a shape `arm` away from its centre at the touch; nothing for what the record does not tell.
fn side(r: &Record, shape: ShapeId, arm: Vec3, time: f64) -> Option<Side> {
    let (g, left) = (r.model.gravity, r.h - time);
    match r.model.shapes[shape.index()].owner {
        Owner::Body(id) => {
            let b = &r.model.bodies[id.index()];
            if b.block.is_none() {
                return still(r, id);
            }
            let read = |s: &State| {
                let (pose, v) = (s.rigid_pose(b.q), Vec3::from_slice(&s.v[b.dof..]));
                (pose, v, inertia(r.model, id.index(), pose.rotation) * Vec3::from_slice(&s.v[b.dof + 3..]))
            };
            let ((from, v, l), (_, end, l_end)) = (read(r.before), read(r.after));
            let rotation = turned(r, id.index(), from.rotation, l, time);
            let at: Mat3 = inertia(r.model, id.index(), rotation).inverse();
            let pose = Pose { rotation, translation: from.translation + v * time + g * (0.5 * time * time) };
            let spin = (at * l).length().max((at * l_end).length());
            let uneven = 1.0 - b.moments.min_element() / b.moments.max_element();
            let doubt = uneven * (spin * time).powi(3);
            // Of several impacts within a step all have the inertia of the first.
            let late = uneven * spin * (time - first_touch(r, id));
            Some(Side {
                doubt: (doubt * arm.length(), (doubt + late) * spin * arm.length()),
                pose,
                before: v + g * time + (at * l).cross(arm),
                after: end - g * left + (at * l_end).cross(arm),
                end: end + (at * l_end).cross(arm),
            })
        }
        Owner::Node(id) => {
            let n = &r.model.nodes[id.index()];
            let [v, end] = [r.before, r.after].map(|s| Vec3::from_slice(&s.v[n.dof..]));
            let x = r.model.node_position(r.before, id) + v * time + g * (0.5 * time * time);
            let pose = Pose { rotation: Quat::IDENTITY, translation: x };
            Some(Side { pose, before: v + g * time, after: end - g * left, end, doubt: (0.0, 0.0) })
        }
        Owner::Solid(_) => None,
    }
}

/// When a body first touches something within a step that has an impact of it [s].
fn first_touch(r: &Record, body: BodyId) -> f64 {
    let owner = |s: ShapeId| r.model.shapes[s.index()].owner;
    let has = |c: &Contact| [c.key.shape_a, c.key.shape_b].into_iter().any(|s| owner(s) == Owner::Body(body));
    let times = r.contacts.iter().zip(&r.acts).filter(|((c, _), _)| has(c)).filter_map(|(_, a)| a.touch);
    times.fold(f64::INFINITY, f64::min)
}

/// The side of a body that is held in its place; nothing for one that follows a path.
fn still(r: &Record, body: BodyId) -> Option<Side> {
    let pose = r.pose(r.before, body);
    let fixed = r.model.bodies[body.index()].motion == Motion::Fixed;
    fixed.then_some(Side { pose, before: Vec3::ZERO, after: Vec3::ZERO, end: Vec3::ZERO, doubt: (0.0, 0.0) })
}

/// True where the scene pushes a side with forces of its own.
fn is_pushed(r: &Record, owner: Owner) -> bool {
    r.model.forces.iter().any(|f| f.target == owner && f.from < r.before.t + r.h && f.until > r.before.t)
}

/// Judges all impacts of a step.
pub fn judge(r: &Record, shapes: &Shapes, promise: Promise, out: &mut Verdict) {
    for k in 0..r.contacts.len() {
        let Some(time) = r.acts[k].touch else { continue };
        let c = r.contacts[k].0;
        let keys = [c.key.shape_a, c.key.shape_b];
        let owner = |s: ShapeId| r.model.shapes[s.index()].owner;
        if keys.iter().any(|s| is_pushed(r, owner(*s))) {
            continue;
        }
        let arms = r.acts[k].arms;
        let (Some(a), Some(b)) = (side(r, keys[0], arms[0], time), side(r, keys[1], arms[1], time)) else {
            continue;
        };
        out.judge(LawOf::Touch, (-time).max(time - r.h), 1e-12 * r.h, || {
            format!("{}: an impact {time:e} s after the step began", cone::name(r, &c))
        });
        judge_place(r, shapes, (k, arms), [&a, &b], out);
        if promise == Promise::Coulomb {
            judge_velocities(r, (k, time), [&a, &b], out);
        }
    }
}

/// The surfaces touch, at the point where the impulse acts.
fn judge_place(
    r: &Record,
    shapes: &Shapes,
    (k, arms): (usize, [Vec3; 2]),
    sides: [&Side; 2],
    out: &mut Verdict,
) {
    let (c, time) = (&r.contacts[k].0, r.acts[k].touch);
    let keys = [c.key.shape_a, c.key.shape_b];
    let of = |k: usize| &r.model.shapes[keys[k].index()];
    let finite = |x: f64| if x.is_finite() && x > 0.0 { x } else { 1.0 };
    let size = finite(of(0).scale.min(of(1).scale));
    // Gaps leave out the thickness of shapes.
    let kept = r.model.contact.thickness;
    let stand = |k: usize| (shapes.of(keys[k]), placed(&sides[k].pose, &of(k).local));
    let is_first = [0, 1].into_iter().all(|k| match of(k).owner {
        Owner::Body(id) if r.model.bodies[id.index()].block.is_some() => Some(first_touch(r, id)) >= time,
        _ => true,
    });
    let n = c.frame.row(0);
    let reach = sides.map(|s| s.pose.translation.length()).into_iter().fold(size, f64::max);
    // What overlaps when the step begins may still do so where it touches once more.
    let at_start = |k: usize| {
        let start = match of(k).owner {
            Owner::Body(id) => placed(&r.pose(r.before, id), &of(k).local),
            Owner::Node(id) => Pose::from_translation(r.model.node_position(r.before, id)),
            Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
        };
        (shapes.of(keys[k]), start)
    };
    let begun = signed_distance(at_start(0), at_start(1), &[n], false).map_or(0.0, |d| (kept - d).max(0.0));
    let limit = TOUCHING * size + 1e-12 * reach + sides.map(|s| s.doubt.0).into_iter().sum::<f64>();
    if let Some(apart) = signed_distance(stand(0), stand(1), &[n], false) {
        // Another point of a body may have met before, on the same ground. Faces of a mesh that no contact names may overlap.
        let smooth = keys.iter().all(|s| !matches!(shapes.of(*s), Solid::Triangles(_)));
        let deepest = begun.max(if smooth { 0.0 } else { SLOP * size });
        let off = if is_first { (apart - kept).max(kept - apart - deepest) } else { apart - kept };
        out.judge(LawOf::Touch, off, limit, || {
            format!("{}: {:e} m apart at the touch", cone::name(r, c), apart - kept)
        });
    }
    let point = Solid::Convex(Core::Points(vec![Vec3::ZERO]), 0.0);
    let at = Pose { rotation: Quat::IDENTITY, translation: c.point };
    for k in 0..2 {
        // Faces that touch along an edge or a side share points that a manifold keeps a little outside of either.
        if let Some(off) = signed_distance((&point, at), stand(k), &[n], false) {
            let limit = limit + 1e-5 * size + begun;
            out.judge(LawOf::Touch, (off - 0.5 * kept).abs(), limit, || {
                format!("{}: the impulse acts {off:e} m from the surface", cone::name(r, c))
            });
        }
        if let Owner::Body(id) = of(k).owner
            && r.model.bodies[id.index()].block.is_some()
        {
            let off = (sides[k].pose.translation + arms[k] - c.point).length();
            out.judge(LawOf::Touch, off, limit, || {
                format!("{}: an arm ends {off:e} m from its point", cone::name(r, c))
            });
        }
    }
}

/// The sides approach, and leave with e times that speed, or rest where gravity would bring them together again within the step.
fn judge_velocities(r: &Record, (k, time): (usize, f64), [a, b]: [&Side; 2], out: &mut Verdict) {
    let (c, f) = &r.contacts[k];
    let n = c.frame.row(0);
    let [before, after, end] = [a.before - b.before, a.after - b.after, a.end - b.end];
    let (met, left) = (n.dot(before), n.dot(after));
    let name = || cone::name(r, c);
    let error = SOLVES * r.error() + a.doubt.1 + b.doubt.1;
    out.judge(LawOf::Closed, met + r.model.contact.restitution_threshold, error, || {
        format!("{}: an impact at {met:e} m/s", name())
    });
    let rebound = -c.restitution * met;
    // What gravity takes from the gap of one that is held until the step ends.
    let fall = (n.dot(end) - left).min(0.0);
    let rests = rebound + 0.5 * fall < 0.0;
    let (rate, wanted, slip) = if rests { (n.dot(end), 0.0, end) } else { (left, rebound, after) };
    out.judge(LawOf::Approach, wanted - rate, error, || {
        format!("{}: leaves at {rate:e} m/s instead of {wanted:e} m/s, {time:e} s into the step", name())
    });
    if f.dot(n) > cone::impact_force(r, k) {
        out.judge(LawOf::Closed, (rate - wanted).abs(), error, || {
            format!("{}: leaves at {rate:e} m/s instead of {wanted:e} m/s, {time:e} s into the step", name())
        });
        cone::judge_impact_friction(r, k, slip, error, out);
    }
}
