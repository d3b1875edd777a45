//! Shapes at both ends of a step: they do not overlap deeper than the scheme allows, a pair that pushes touches, and the
//! gaps of contacts are distances of shapes.
//!
//! The scheme closes linearised gaps, so that a true gap is off by what is of second order in the motion of a step: half of
//! (h ω)² times the reach of a body, and (h v)²/2R along a surface of radius R.

use crate::judge::cone::{SLOP, pushed_out};
use crate::judge::geometry::{Core, Solid, placed, signed_distance};
use crate::judge::record::{Place, Record};
use crate::judge::verdict::{LawOf, Verdict};
use std::collections::BTreeMap;
use stiction::coords::{Pose, ShapeId, State};
use stiction::scene::{Model, Motion, Owner};
use stiction::{Quat, Vec3};

/// Both bodies and both ends of the step count in the second-order terms.
const SECOND_ORDER: f64 = 2.0;
/// Gaps and distances agree to this share of the smaller shape.
const SAME: f64 = 1e-7;

/// The shapes of a model in plain terms.
pub struct Shapes(Vec<Solid>);

impl Shapes {
    pub fn new(model: &Model) -> Shapes {
        Shapes(model.shapes.iter().map(Solid::of).collect())
    }

    /// One of them.
    pub fn of(&self, shape: ShapeId) -> &Solid {
        &self.0[shape.index()]
    }
}

fn pose(model: &Model, state: &State, shape: usize) -> Pose {
    let s = &model.shapes[shape];
    match s.owner {
        Owner::Body(b) => placed(&model.com_pose(state, b), &s.local),
        Owner::Node(n) => Pose { rotation: Quat::IDENTITY, translation: model.node_position(state, n) },
        Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
    }
}

fn is_soft(model: &Model, owner: Owner) -> bool {
    matches!(owner, Owner::Node(n) if model.nodes[n.index()].solid.is_some())
}

fn is_free(model: &Model, owner: Owner) -> bool {
    !matches!(owner, Owner::Body(b) if model.bodies[b.index()].block.is_none())
}

/// Pairs that touch by the rules of the scene.
fn may_touch(model: &Model, a: Owner, b: Owner) -> bool {
    let (wa, wb) = (model.whole(a), model.whole(b));
    let holds = |solid: Owner, body: Owner| match (solid, body) {
        (Owner::Solid(s), Owner::Body(b)) => model.solids[s.index()]
            .vertices
            .iter()
            .any(|v| matches!(*v, stiction::coords::Anchor::Body { body, .. } if body == b)),
        _ => false,
    };
    wa != wb
        && (is_free(model, a) || is_free(model, b))
        && !(is_soft(model, a) && is_soft(model, b))
        && model.masks_allow(a, b)
        && !model.are_near_links(a, b)
        && model.pair_rule(wa, wb).is_none_or(|p| p.collide)
        && !holds(wa, wb)
        && !holds(wb, wa)
}

/// Points of contacts lie between the surfaces to this share of the smaller shape (where faces overlap in part, their corners
/// are kept up to 3e-6 of the size outside of the other face), and to this share of the gap, as faces of a manifold are not
/// quite parallel.
const BETWEEN: (f64, f64) = (1e-5, 0.1);
/// In an overlap the point lies in both, by half of it along the normal; across a corner it may be as near as on the surface.
const INSIDE: f64 = 0.6;

/// Judges where contacts of rigid shapes say that they are, and marks those that are elsewhere.
pub fn place(r: &mut Record, shapes: &Shapes, out: &mut Verdict) {
    let point = Solid::Convex(Core::Points(vec![Vec3::ZERO]), 0.0);
    for k in 0..r.contacts.len() {
        let c = r.contacts[k].0;
        if r.strikes(k) {
            continue;
        }
        let (m, keys) = (r.model, [c.key.shape_a.index(), c.key.shape_b.index()]);
        let of = |s: usize| &m.shapes[s];
        if keys.iter().any(|s| {
            matches!(of(*s).owner, Owner::Node(_))
                || !matches!(shapes.0[*s], Solid::Convex(..) | Solid::Half(_))
        }) {
            continue;
        }
        let gap = c.gap + m.contact.thickness;
        let size = of(keys[0]).scale.min(of(keys[1]).scale);
        let at = Pose { rotation: Quat::IDENTITY, translation: c.point };
        let n = c.frame.row(0);
        let off = keys.map(|s| {
            let d = signed_distance((&point, at), (&shapes.0[s], pose(m, r.found(), s)), &[n], false);
            (d.unwrap_or(0.5 * gap) - 0.5 * gap).abs()
        });
        let off = off[0].max(off[1]).max(r.displaced(k));
        // A point that need not be wrong may be: then laws that speak of it are told apart from those of other contacts.
        r.placed[k] = off <= BETWEEN.0 * size + BETWEEN.1 * gap.abs();
        let limit = BETWEEN.0 * size + if gap > 0.0 { BETWEEN.1 } else { INSIDE } * gap.abs();
        out.judge(LawOf::Placed, off, limit, || {
            let names = keys.map(|s| m.describe(of(s).owner));
            format!("{names:?}: a gap of {gap:e} m is recorded at a point {off:e} m away from it")
        });
    }
}

/// How a shape moves: speed of its centre and turning rate.
fn speeds(r: &Record, owner: Owner) -> (f64, f64) {
    match owner {
        Owner::Body(b) => {
            let fixed = r.model.bodies[b.index()].motion == Motion::Fixed;
            let (v, w) = if fixed { (Vec3::ZERO, Vec3::ZERO) } else { r.struck(b) };
            let (v0, w0) = r.model.com_velocity(r.before, b);
            (v.length().max(v0.length()), w.length().max(w0.length()))
        }
        Owner::Node(n) => {
            let speed = |s| r.model.node_velocity(s, n).length();
            (speed(r.before).max(speed(r.after)), 0.0)
        }
        Owner::Solid(_) => (0.0, 0.0),
    }
}

/// The contacts of a pair of shapes.
#[derive(Default)]
struct Met {
    normals: Vec<Vec3>,
    /// Some contact is recorded where no surface is.
    displaced: bool,
    /// Smallest gap of those that are recorded where the surfaces are [m].
    gap: Option<f64>,
    /// Largest force of a contact that does not rebound [N].
    force: f64,
}

/// Judges all pairs of shapes that are near each other after a step.
pub fn judge(r: &Record, shapes: &Shapes, keeps_rigid: bool, out: &mut Verdict) {
    let m = r.model;
    let error = r.error();
    let moved = pushed_out(r);
    let largest = r.contacts.iter().map(|(_, f)| f.length()).fold(0.0, f64::max);
    let mut met: BTreeMap<(usize, usize), Met> = BTreeMap::new();
    for (k, ((c, f), placed)) in r.contacts.iter().zip(&r.placed).enumerate() {
        let e = met.entry((c.key.shape_a.index(), c.key.shape_b.index())).or_default();
        let n = c.frame.row(0);
        e.displaced |= !placed;
        if *placed {
            e.gap = Some(e.gap.map_or(c.gap, |g| g.min(c.gap)));
        }
        e.normals.push(n);
        if c.restitution == 0.0 && !r.strikes(k) {
            e.force = e.force.max(f.dot(n));
        }
    }
    let places: Vec<[Pose; 2]> =
        (0..m.shapes.len()).map(|s| [pose(m, r.before, s), pose(m, r.after, s)]).collect();
    let centre = |s: usize| match m.shapes[s].owner {
        Owner::Body(b) => m.com_pose(r.after, b).translation,
        _ => places[s][1].translation,
    };
    let centres: Vec<Vec3> = (0..m.shapes.len()).map(centre).collect();
    for i in 0..m.shapes.len() {
        for j in i + 1..m.shapes.len() {
            let (a, b) = (&m.shapes[i], &m.shapes[j]);
            let pair = met.get(&(i, j));
            if pair.is_none() && centres[i].distance(centres[j]) > a.reach + b.reach {
                continue;
            }
            if !may_touch(m, a.owner, b.owner) {
                continue;
            }
            let hints: Vec<Vec3> = pair.map_or(Vec::new(), |p| {
                let turned = |s: usize| places[s][1].rotation * places[s][0].rotation.conjugate();
                p.normals.iter().flat_map(|n| [*n, turned(i) * *n, turned(j) * *n]).collect()
            });
            let distance = |end: usize, deep: bool| {
                signed_distance((&shapes.0[i], places[i][end]), (&shapes.0[j], places[j][end]), &hints, deep)
            };
            let kept = m.contact.thickness * f64::from(!is_soft(m, a.owner) && !is_soft(m, b.owner));
            let Some(after) = distance(1, false).map(|d| d - kept) else { continue };
            let size = a.scale.min(b.scale);
            let size = if size > 0.0 && size.is_finite() { size } else { a.scale.max(b.scale).min(1.0) };
            let ((va, wa), (vb, wb)) = (speeds(r, a.owner), speeds(r, b.owner));
            let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
            let turned = 0.5 * ((r.h * wa).powi(2) * finite(a.reach) + (r.h * wb).powi(2) * finite(b.reach));
            let bent = match round(&shapes.0[i]).min(round(&shapes.0[j])) {
                radius if radius.is_finite() => 0.5 * (r.h * (va + vb)).powi(2) / radius.max(1e-2 * size),
                _ => 0.0,
            };
            let near = SECOND_ORDER * (turned + bent)
                + r.h * error
                + 1e-9 * size
                + r.kept(ShapeId(i as u32), ShapeId(j as u32));
            let words = || format!("{} – {}", m.describe(a.owner), m.describe(b.owner));
            // What overlaps is looked at with planes of all directions before it is blamed.
            let (mut after, mut before) = (after, None);
            if -after > near + SLOP * size {
                after = after.max(distance(1, true).unwrap_or(after) - kept);
                before = distance(0, true).map(|d| d - kept);
            }
            let allowed = (-before.unwrap_or(0.0)).max(SLOP * size) + near;
            if keeps_rigid {
                out.judge(LawOf::Penetration, -after, allowed, || {
                    format!("{}: {before:?} m before, {after:e} m after", words())
                });
            }
            let Some(pair) = pair else { continue };
            let soft = is_soft(m, a.owner) || is_soft(m, b.owner);
            let weight = m.gravity.length()
                * [a, b].map(|s| mass(m, s.owner)).into_iter().fold(f64::INFINITY, f64::min);
            let least = 1e-6 * largest
                + error * if weight > 0.0 { weight } else { 1.0 } / (m.gravity.length() * r.h).max(1e-12);
            if keeps_rigid && !soft && pair.force > least {
                out.judge(LawOf::Closed, after, near + moved * size, || {
                    format!("{}: {:e} N between shapes {after:e} m apart", words(), pair.force)
                });
            }
            if !soft
                && let Some(gap) = pair.gap.filter(|g| *g < 1e-3 * size)
                && let Some(d) = distance(usize::from(r.place == Place::FoundAtEnd), false).map(|d| d - kept)
            {
                // A contact that is recorded elsewhere may be the nearest; the others are no nearer than the shapes.
                let off = if pair.displaced { d - gap } else { (gap - d).abs() };
                out.judge(LawOf::Gap, off, SAME * size, || {
                    format!("{}: gap {gap:e} m for a distance of {d:e} m", words())
                });
            }
        }
    }
}

/// Radius of the sharpest curve of a shape; infinite for flat ones.
fn round(s: &Solid) -> f64 {
    match s {
        Solid::Convex(
            crate::judge::geometry::Core::Cylinder(_, r) | crate::judge::geometry::Core::Cone(_, r),
            _,
        ) => *r,
        Solid::Convex(_, r) if *r > 0.0 => *r,
        _ => f64::INFINITY,
    }
}

fn mass(m: &Model, owner: Owner) -> f64 {
    match owner {
        Owner::Body(b) => m.bodies[b.index()].mass,
        Owner::Node(n) => m.nodes[n.index()].mass,
        Owner::Solid(_) => f64::INFINITY,
    }
}
