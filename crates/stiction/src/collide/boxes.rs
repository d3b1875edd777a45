//! Box against box: fifteen separating axes, then a face cut or one point between two edges.

use super::clip::{cut_to_face, load_face};
use super::solid::Poly;
use super::touch::{Found, Scratch, Touch};
use crate::coords::Pose;
use crate::linalg::{Mat3, Vec3};

/// A crossing of edges must be better than the best face by this share of the boxes' size: where both fit, the face
/// gives a whole patch and does not flicker.
const PREFER_FACE: f64 = 1e-3;
/// A face of the second box must be better than one of the first by this share of their size, for the same reason.
const PREFER_FIRST: f64 = 1e-6;
/// Edges whose directions differ by less (sine of the angle) are parallel: a face axis covers them.
const PARALLEL: f64 = 1e-4;

/// Touches of two boxes; `rel` is the pose of the second in the frame of the first.
pub(super) fn block_block(
    (half1, poly1): (Vec3, Poly<'_>),
    (half2, poly2): (Vec3, Poly<'_>),
    rel: &Pose,
    prediction: f64,
    scratch: &mut Scratch,
) -> Found {
    let r = Mat3::from_quat(rel.rotation);
    let t = rel.translation;
    let abs = Mat3::from_cols(r.x_axis.abs(), r.y_axis.abs(), r.z_axis.abs());
    let size = half1.min_element().min(half2.min_element());

    // Faces of the first, then of the second: separation along each axis.
    let s1 = t.abs() - half1 - abs * half2;
    let t2 = r.transpose() * t;
    let s2 = t2.abs() - half2 - abs.transpose() * half1;
    let (i1, i2) = (largest(s1), largest(s2));
    if s1[i1] > prediction || s2[i2] > prediction {
        return Found::Apart;
    }
    let second = s2[i2] > s1[i1] + PREFER_FIRST * size;
    let best_face = if second { s2[i2] } else { s1[i1] };

    // Crossings of edges: axis eᵢ × bⱼ.
    let mut best_edge = best_face + PREFER_FACE * size;
    let mut edges = None;
    for i in 0..3 {
        for j in 0..3 {
            let axis = unit(i).cross(r.col(j));
            let length = axis.length();
            if length < PARALLEL {
                continue;
            }
            let axis = axis / length;
            let reach2: f64 = (0..3).filter(|k| *k != j).map(|k| half2[k] * axis.dot(r.col(k)).abs()).sum();
            let s = t.dot(axis).abs() - half1.dot(axis.abs()) - reach2;
            if s > prediction {
                return Found::Apart;
            }
            if s > best_edge {
                best_edge = s;
                edges = Some((i, j, if t.dot(axis) < 0.0 { -axis } else { axis }));
            }
        }
    }

    if let Some((i, j, axis)) = edges {
        cross_edges(half1, half2, rel, &r, (i, j, axis), best_edge, (poly1, poly2), scratch);
    } else if second {
        // The second box has the reference face: cut in its frame, then swap.
        let back = rel.inverse();
        let first = scratch.touches.len();
        let face = 2 * i2 + usize::from(t2[i2] > 0.0);
        let n2 = poly2.faces[face].normal;
        let incident = poly1.face_toward(back.rotation.conjugate() * -n2);
        load_face(scratch, &poly1, incident, &back);
        cut_to_face(scratch, &poly2, face, &back, poly1.face_name(incident), prediction);
        for touch in &mut scratch.touches[first..] {
            *touch = Touch {
                p1: touch.p2,
                p2: touch.p1,
                // From the second box to the first, in the frame of the first.
                n: r * n2,
                gap: touch.gap,
                f1: touch.f2,
                f2: touch.f1,
            };
        }
    } else {
        let face = 2 * i1 + usize::from(t[i1] < 0.0);
        let incident = poly2.face_toward(r.transpose() * -poly1.faces[face].normal);
        load_face(scratch, &poly2, incident, rel);
        cut_to_face(scratch, &poly1, face, rel, poly2.face_name(incident), prediction);
    }
    if scratch.touches.is_empty() { Found::Beside } else { Found::Touches }
}

/// One point where an edge along eᵢ of the first box crosses an edge along bⱼ of the second; `axis` points from the
/// first to the second.
fn cross_edges(
    half1: Vec3,
    half2: Vec3,
    rel: &Pose,
    r: &Mat3,
    (i, j, axis): (usize, usize, Vec3),
    gap: f64,
    (poly1, poly2): (Poly<'_>, Poly<'_>),
    scratch: &mut Scratch,
) {
    let (k1, end1) = edge_toward(half1, i, axis);
    let (k2, end2) = edge_toward(half2, j, r.transpose() * -axis);
    let (p, d1) = (end1, unit(i));
    let (q, d2) = (rel.transform_point(end2), r.col(j));
    // Nearest points of the lines p + s d₁ and q + u d₂, within the edges.
    let w = q - p;
    let c = d1.dot(d2);
    let den = 1.0 - c * c;
    let s = ((w.dot(d1) - c * w.dot(d2)) / den).clamp(0.0, 2.0 * half1[i]);
    let u = ((c * w.dot(d1) - w.dot(d2)) / den).clamp(0.0, 2.0 * half2[j]);
    scratch.touches.push(Touch {
        p1: p + d1 * s,
        p2: end2 + unit(j) * u,
        n: -axis,
        gap,
        f1: poly1.edge_name(k1, k1 | 1 << i),
        f2: poly2.edge_name(k2, k2 | 1 << j),
    });
}

/// The edge along `axis` that lies farthest towards `dir`: its lower corner, by number and place.
fn edge_toward(half: Vec3, axis: usize, dir: Vec3) -> (u32, Vec3) {
    let mut corner = 0;
    let mut p = -half;
    for k in (0..3).filter(|k| *k != axis) {
        if dir[k] > 0.0 {
            corner |= 1 << k;
            p[k] = half[k];
        }
    }
    (corner, p)
}

fn unit(k: usize) -> Vec3 {
    [Vec3::X, Vec3::Y, Vec3::Z][k]
}

/// Index of the largest entry, the first of equals.
fn largest(x: Vec3) -> usize {
    let k = usize::from(x.y > x.x);
    if x.z > x[k] { 2 } else { k }
}
