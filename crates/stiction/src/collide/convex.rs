//! Any two convex shapes: the direction from parry's GJK and EPA, or a flat face where one fits as well; the points
//! from cutting the feature of one to the face of the other.

use super::clip::{cut_to_face, is_over, load_face, load_segment};
use super::polytope::{PREFER_FACE, swap_sides};
use super::round::ALONG;
use super::solid::{Poly, feature};
use super::touch::{Scratch, Touch, deepest};
use crate::coords::Pose;
use crate::linalg::Vec3;
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use std::f64::consts::FRAC_1_SQRT_2;

/// A convex core with a radius around it.
pub(super) struct Convex<'a> {
    pub core: &'a dyn SupportMap,
    pub radius: f64,
    pub form: Form<'a>,
    /// For a triangle of a mesh: its outward normal. What lies behind it is inside the mesh.
    pub front: Option<Vec3>,
}

impl Convex<'_> {
    /// Axis and radius of the round side that looks along `dir`, if it is one.
    fn side(&self, dir: Vec3) -> Option<([Vec3; 2], f64)> {
        match self.form {
            Form::Poly(_) | Form::Cone { .. } => None,
            Form::Segment(h) => Some(([Vec3::new(0.0, 0.0, -h), Vec3::new(0.0, 0.0, h)], self.radius)),
            Form::Cylinder { half_height: h, radius, .. } => (dir.y.abs() < FRAC_1_SQRT_2)
                .then_some(([Vec3::new(0.0, -h, 0.0), Vec3::new(0.0, h, 0.0)], radius)),
        }
    }
}

/// What touches when a convex shape lies on a face.
#[derive(Clone, Copy)]
pub(super) enum Form<'a> {
    /// One of its faces.
    Poly(Poly<'a>),
    /// A segment along z of this half length.
    Segment(f64),
    /// A cap, or a line of the side, of a cylinder along y.
    Cylinder { half_height: f64, radius: f64, caps: Poly<'a> },
    /// The base, or a line of the side, of a cone along y.
    Cone { half_height: f64, radius: f64, base: Poly<'a> },
}

impl<'a> Form<'a> {
    fn faces(&self) -> Option<Poly<'a>> {
        match self {
            Form::Poly(poly) | Form::Cylinder { caps: poly, .. } | Form::Cone { base: poly, .. } => {
                Some(*poly)
            }
            Form::Segment(_) => None,
        }
    }

    /// The ends of the straight line of the surface of the core that touches along `dir`, if it is one.
    fn line(&self, dir: Vec3) -> Option<[Vec3; 2]> {
        match *self {
            Form::Poly(_) => None,
            Form::Segment(h) => Some([Vec3::new(0.0, 0.0, -h), Vec3::new(0.0, 0.0, h)]),
            Form::Cylinder { half_height, radius, .. } => {
                let across = Vec3::new(dir.x, 0.0, dir.z).try_normalize()? * radius;
                (dir.y.abs() < FRAC_1_SQRT_2)
                    .then(|| [across - Vec3::Y * half_height, across + Vec3::Y * half_height])
            }
            Form::Cone { half_height, radius, .. } => {
                // The base takes directions nearer to its normal than to that of the side.
                let across = Vec3::new(dir.x, 0.0, dir.z).normalize_or(Vec3::X);
                let side = (across * 2.0 * half_height + Vec3::Y * radius).normalize();
                (dir.dot(side) > -dir.y)
                    .then(|| [across * radius - Vec3::Y * half_height, Vec3::Y * half_height])
            }
        }
    }
}

/// Polygon corners this much higher than the true lowest point, as a share of the size, miss it.
const MISSED: f64 = 1e-6;

/// How deep, as a share of the size, an overlap may be so that the face it is seen over is surely the way out.
const SHALLOW: f64 = 0.05;
/// How deep, as a share of the size, something may lie behind a triangle and still come out through its front.
const DEEPEST: f64 = 0.1;

/// Touches of two convex shapes of a common `size`; `rel` is the pose of the second in the frame of the first.
pub(super) fn convex_convex(
    one: &Convex<'_>,
    two: &Convex<'_>,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let reach = prediction + one.radius + two.radius;
    let back = rel.inverse();
    let face1 = one.form.faces().map(|poly| best_face(&poly, two.core, rel));
    let face2 = two.form.faces().map(|poly| best_face(&poly, one.core, &back));
    let s1 = face1.map_or(f64::NEG_INFINITY, |f| f.1);
    let s2 = face2.map_or(f64::NEG_INFINITY, |f| f.1);
    if s1.max(s2) > reach {
        return;
    }
    let first = scratch.touches.len();
    let second = s2 > s1 + MISSED * size;
    let lay = |needed: f64, scratch: &mut Scratch| match (face1, face2) {
        (Some((face, s)), _) if !second && s >= needed => {
            lay_on_face(one, face, two, rel, size, prediction, scratch);
        }
        (_, Some((face, s))) if s >= needed => {
            lay_on_face(two, face, one, &back, size, prediction, scratch);
            swap_sides(&mut scratch.touches[first..], rel);
        }
        _ => {}
    };
    let radii = one.radius + two.radius;
    let tolerance = PREFER_FACE * size;

    // A shallow touch whose lowest point lies over the face needs no search: that face is the nearest way out.
    lay(-SHALLOW * size, scratch);
    if deepest(&scratch.touches[first..]) <= s1.max(s2) - radii + tolerance {
        return;
    }
    scratch.touches.truncate(first);

    let Some((p, q, dir)) = nearest(one.core, two.core, rel, size, reach) else { return };
    let distance = dir.dot(q - p);
    // Seen from behind, the distance to a triangle is a depth: the way out is through the front.
    let behind = one.front.is_some_and(|n| n.dot(dir) <= 0.0)
        || two.front.is_some_and(|n| (rel.rotation * n).dot(dir) >= 0.0);
    let needed = if behind { -prediction.max(DEEPEST * size) } else { distance - tolerance };
    if s1.max(s2) >= needed {
        lay(needed, scratch);
    } else {
        along_sides(one, two, rel, dir, prediction, scratch);
        along_lines(one, two, rel, dir, prediction, scratch);
    }
    // No face or line lies under what is nearest: the nearest points themselves remain.
    let gap = distance - radii;
    let found = deepest(&scratch.touches[first..]);
    if scratch.touches.len() == first || !behind && found > gap + 2.0 * tolerance {
        scratch.touches.truncate(first);
        push(one, two, rel, (p, q, dir, gap), feature::WHOLE, prediction, scratch);
    }
}

/// Touches of a triangle of a mesh with what of the other shape lies over it, along its normal, whatever is nearest.
pub(super) fn lay_over(
    triangle: &Convex<'_>,
    other: &Convex<'_>,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let first = scratch.touches.len();
    lay_on_face(triangle, 0, other, rel, size, prediction, scratch);
    // What has come from the other side does not come out through this one.
    if deepest(&scratch.touches[first..]) < -prediction.max(DEEPEST * size) {
        scratch.touches.truncate(first);
    }
}

/// Nearest points of two cores (deepest ones if they overlap) in the frame of the first, and the direction from the
/// first to the second; none beyond `reach`.
fn nearest(
    one: &dyn SupportMap,
    two: &dyn SupportMap,
    rel: &Pose,
    size: f64,
    reach: f64,
) -> Option<(Vec3, Vec3, Vec3)> {
    // parry's tolerances are absolute, so it is asked at unit size; a power of two changes no bit.
    let scale = if size > 0.0 { (-size.log2().round()).exp2() } else { 1.0 };
    let (one, two) = (Scaled { core: one, scale }, Scaled { core: two, scale });
    let rel = Pose::from_parts(rel.translation * scale, rel.rotation);
    let simplex = &mut VoronoiSimplex::new();
    match contact_support_map_support_map_with_params(&rel, &one, &two, reach * scale, simplex, None) {
        GJKResult::ClosestPoints(p, q, dir) => Some((p / scale, q / scale, dir)),
        _ => None,
    }
}

/// A core in another unit of length.
struct Scaled<'a> {
    core: &'a dyn SupportMap,
    scale: f64,
}

impl SupportMap for Scaled<'_> {
    fn local_support_point(&self, dir: Vec3) -> Vec3 {
        self.core.local_support_point(dir) * self.scale
    }
}

/// The face out of which the other core stands farthest, and how far; `rel` is the pose of the other.
fn best_face(poly: &Poly<'_>, other: &dyn SupportMap, rel: &Pose) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (k, f) in poly.faces.iter().enumerate() {
        let lowest = other.support_point(rel, -f.normal);
        let s = f.normal.dot(lowest) - f.offset;
        if s > best.1 {
            best = (k, s);
        }
    }
    best
}

/// The feature of `other` that looks at a face of `reference`, cut to it, and its lowest point if the cut missed it.
fn lay_on_face(
    reference: &Convex<'_>,
    face: usize,
    other: &Convex<'_>,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let poly = reference.form.faces().expect("the face is one of its own");
    let n = poly.faces[face].normal;
    let toward = rel.rotation.conjugate() * -n;
    let incident_face = match other.form.line(toward) {
        Some(ends) => {
            load_segment(scratch, ends, other.radius, n, rel);
            feature::WHOLE
        }
        None => {
            let faces = other.form.faces().expect("what is no line has faces");
            let k = faces.face_toward(toward);
            load_face(scratch, &faces, k, rel);
            faces.face_name(k)
        }
    };
    let first = scratch.touches.len();
    cut_to_face(scratch, &poly, face, rel, incident_face, prediction);
    if scratch.touches.len() == first {
        return;
    }
    let lowest = other.core.support_point(rel, -n);
    let distance = n.dot(lowest) - poly.faces[face].offset;
    let gap = distance - other.radius;
    let seen = deepest(&scratch.touches[first..]);
    if gap < seen - MISSED * size && is_over(&poly, face, lowest) {
        let on_face = lowest - n * distance;
        push(reference, other, rel, (on_face, lowest, n, gap), feature::WHOLE, prediction, scratch);
    }
}

/// Two nearly parallel round sides (cylinders side by side, a capsule along a cylinder) share two points, each with
/// its own normal, across the first axis.
fn along_sides(
    one: &Convex<'_>,
    two: &Convex<'_>,
    rel: &Pose,
    dir: Vec3,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let Some((line, r1)) = one.side(dir) else { return };
    let Some((line2, r2)) = two.side(rel.rotation.conjugate() * -dir) else { return };
    let Some(ends) = ends_of_overlap(line, line2.map(|p| rel.transform_point(p))) else { return };
    for (k, (p, q)) in ends.into_iter().enumerate() {
        let distance = p.distance(q);
        let gap = distance - r1 - r2;
        if gap <= prediction && distance > 0.0 {
            let out = (q - p) / distance;
            let p2 = rel.inverse_transform_point(q - out * r2);
            let name = feature::vertex(k as u32);
            scratch.touches.push(Touch { p1: p + out * r1, p2, n: -out, gap, f1: name, f2: name });
        }
    }
}

/// The side of a cone that lies along a straight line of the other shape shares two points with it, with one normal.
fn along_lines(
    one: &Convex<'_>,
    two: &Convex<'_>,
    rel: &Pose,
    dir: Vec3,
    prediction: f64,
    scratch: &mut Scratch,
) {
    if !matches!((one.form, two.form), (Form::Cone { .. }, _) | (_, Form::Cone { .. })) {
        return;
    }
    let Some(line) = one.form.line(dir) else { return };
    let Some(line2) = two.form.line(rel.rotation.conjugate() * -dir) else { return };
    let Some(ends) = ends_of_overlap(line, line2.map(|p| rel.transform_point(p))) else { return };
    for (k, (p, q)) in ends.into_iter().enumerate() {
        let gap = dir.dot(q - p) - one.radius - two.radius;
        push(one, two, rel, (p, q, dir, gap), feature::vertex(k as u32), prediction, scratch);
    }
}

/// Where the stretch that two nearly parallel segments share begins and ends: a point of each, facing each other. Nothing
/// where they are not parallel or lie one behind the other.
fn ends_of_overlap([a, a_end]: [Vec3; 2], [b, b_end]: [Vec3; 2]) -> Option<[(Vec3, Vec3); 2]> {
    let (u, v) = (a_end - a, b_end - b);
    if u.cross(v).length() > ALONG * u.length() * v.length() {
        return None;
    }
    // Share along the first segment of each end of the second.
    let share = |p: Vec3| (p - a).dot(u) / u.length_squared();
    let (s, e) = (share(b), share(b_end));
    let (low, high) = (s.min(e).max(0.0), s.max(e).min(1.0));
    (low < high).then(|| [low, high].map(|at| (a + u * at, b + v * ((at - s) / (e - s)))))
}

/// A touch between points of both cores, in the frame of the first, with `dir` from the first to the second.
fn push(
    one: &Convex<'_>,
    two: &Convex<'_>,
    rel: &Pose,
    (p, q, dir, gap): (Vec3, Vec3, Vec3, f64),
    name: u64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    if gap <= prediction {
        let p1 = p + dir * one.radius;
        let p2 = rel.inverse_transform_point(q - dir * two.radius);
        scratch.touches.push(Touch { p1, p2, n: -dir, gap, f1: name, f2: name });
    }
}
