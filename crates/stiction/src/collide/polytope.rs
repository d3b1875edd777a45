//! Convex polyhedron against convex polyhedron by separating axes: all faces, and those crossings of edges that
//! can be faces of the Minkowski difference (their arcs on the Gauss sphere cross).

use super::clip::{cut_to_face, load_face};
use super::solid::{Edge, Poly};
use super::touch::{Found, Scratch, Touch};
use crate::coords::Pose;
use crate::linalg::Vec3;

/// As for boxes: faces give patches and do not flicker, so they win where both fit. A share of the size.
pub(super) const PREFER_FACE: f64 = 1e-3;
/// As for boxes: the first shape wins where both fit.
const PREFER_FIRST: f64 = 1e-6;
/// Edges whose directions differ by less (sine of the angle) are parallel: a face axis covers them.
const PARALLEL: f64 = 1e-4;
/// Beyond this many pairs of edges a search by support points is faster.
pub(super) const MAX_EDGE_PAIRS: usize = 20_000;

/// The face of `poly` out of which `other` stands farthest, and how far; `to_other` is the pose of `poly` in the
/// frame of `other`.
fn best_face(poly: &Poly<'_>, other: &Poly<'_>, to_other: &Pose) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (k, f) in poly.faces.iter().enumerate() {
        let n = to_other.rotation * f.normal;
        let (_, depth) = other.support(-n);
        // Height of the lowest corner of `other` over the face.
        let s = -depth - n.dot(to_other.translation) - f.offset;
        if s > best.1 {
            best = (k, s);
        }
    }
    best
}

/// Touches of two polyhedra of a common `size`; `rel` is the pose of the second in the frame of the first.
pub(super) fn poly_poly(
    one: &Poly<'_>,
    two: &Poly<'_>,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) -> Found {
    let back = rel.inverse();
    let (face1, s1) = best_face(one, two, &back);
    if s1 > prediction {
        return Found::Apart;
    }
    let (face2, s2) = best_face(two, one, rel);
    if s2 > prediction {
        return Found::Apart;
    }
    let second = s2 > s1 + PREFER_FIRST * size;
    let threshold = s1.max(s2) + PREFER_FACE * size;
    match best_crossing(one, two, rel, threshold) {
        Some(c) if c.gap > prediction => return Found::Apart,
        Some(c) => push_crossing(one, two, rel, &c, scratch),
        None if second => {
            let first = scratch.touches.len();
            face_touches(two, face2, one, &back, prediction, scratch);
            swap_sides(&mut scratch.touches[first..], rel);
        }
        None => face_touches(one, face1, two, rel, prediction, scratch),
    }
    if scratch.touches.is_empty() { Found::Beside } else { Found::Touches }
}

/// Touches of the face of a reference shape (side 1) with the face of another that looks at it.
pub(super) fn face_touches(
    reference: &Poly<'_>,
    face: usize,
    other: &Poly<'_>,
    rel: &Pose,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let incident = other.face_toward(rel.rotation.conjugate() * -reference.faces[face].normal);
    load_face(scratch, other, incident, rel);
    cut_to_face(scratch, reference, face, rel, other.face_name(incident), prediction);
}

/// Exchanges the sides of touches that were found in the frame of the second shape; `rel` is its pose in the first.
pub(super) fn swap_sides(touches: &mut [Touch], rel: &Pose) {
    for t in touches {
        let n = rel.rotation * -t.n;
        *t = Touch { p1: t.p2, p2: t.p1, n, gap: t.gap, f1: t.f2, f2: t.f1 };
    }
}

/// Two edges that cross, with the axis from the first shape to the second.
struct Crossing {
    edge1: Edge,
    edge2: Edge,
    axis: Vec3,
    gap: f64,
}

/// The crossing of edges with the largest gap above `threshold`.
fn best_crossing(one: &Poly<'_>, two: &Poly<'_>, rel: &Pose, threshold: f64) -> Option<Crossing> {
    let centre = one.vertices.iter().sum::<Vec3>() / one.vertices.len() as f64;
    let mut best = threshold;
    let mut found = None;
    for e2 in two.edges {
        // Normals of the second shape seen from the first, turned round: faces of the Minkowski difference.
        let [c, d] = e2.faces.map(|f| rel.rotation * -two.faces[f as usize].normal);
        let [q, q_end] = e2.ends.map(|v| rel.transform_point(two.vertices[v as usize]));
        let along2 = q_end - q;
        let d_c = d.cross(c);
        for e1 in one.edges {
            let [a, b] = e1.faces.map(|f| one.faces[f as usize].normal);
            let b_a = b.cross(a);
            let (cba, dba, adc, bdc) = (c.dot(b_a), d.dot(b_a), a.dot(d_c), b.dot(d_c));
            if !(cba * dba < 0.0 && adc * bdc < 0.0 && cba * bdc > 0.0) {
                continue;
            }
            let [p, p_end] = e1.ends.map(|v| one.vertices[v as usize]);
            let along1 = p_end - p;
            let cross = along1.cross(along2);
            let length = cross.length();
            if length < PARALLEL * along1.length() * along2.length() {
                continue;
            }
            let mut axis = cross / length;
            if axis.dot(p - centre) < 0.0 {
                axis = -axis;
            }
            let gap = axis.dot(q - p);
            if gap > best {
                best = gap;
                found = Some(Crossing { edge1: *e1, edge2: *e2, axis, gap });
            }
        }
    }
    found
}

fn push_crossing(one: &Poly<'_>, two: &Poly<'_>, rel: &Pose, c: &Crossing, scratch: &mut Scratch) {
    let [p, p_end] = c.edge1.ends.map(|v| one.vertices[v as usize]);
    let [q2, q2_end] = c.edge2.ends.map(|v| two.vertices[v as usize]);
    let (d1, d2, w) = (p_end - p, rel.rotation * (q2_end - q2), rel.transform_point(q2) - p);
    // Nearest points of the lines p + s d₁ and q + u d₂, within the edges.
    let (a, b, e) = (d1.length_squared(), d1.dot(d2), d2.length_squared());
    let den = a * e - b * b;
    let s = ((w.dot(d1) * e - b * w.dot(d2)) / den).clamp(0.0, 1.0);
    let u = ((b * w.dot(d1) - a * w.dot(d2)) / den).clamp(0.0, 1.0);
    scratch.touches.push(Touch {
        p1: p + d1 * s,
        p2: q2 + (q2_end - q2) * u,
        n: -c.axis,
        gap: c.gap,
        f1: one.edge_name(c.edge1.ends[0], c.edge1.ends[1]),
        f2: two.edge_name(c.edge2.ends[0], c.edge2.ends[1]),
    });
}
