//! Face contacts: the feature of one shape cut to the face of the other.
//!
//! The incident polygon (or segment) is cut by the side planes of the reference face (Sutherland & Hodgman). Each
//! edge of what is left remembers where it comes from, so each corner has a name: a corner of the incident shape on
//! the face, a corner of the face under the incident shape, or a crossing of two edges.

use super::solid::{Poly, feature};
use super::touch::{Scratch, Touch};
use crate::coords::Pose;
use crate::linalg::Vec3;

/// Corners this far outside of the reference face, as a share of its size, count as inside. Without it, two equal
/// boxes face to face would change the names of their corners with every rounding error.
const SKIN: f64 = 1e-6;

/// A corner of the incident polygon, in the frame of the reference shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub p: Vec3,
    /// Where the shape is lowest near this corner: below the round end of a capsule, else the corner itself.
    pub tip: Vec3,
    /// Its name, if it is a corner of the incident shape and not a cut.
    pub name: Option<u64>,
    /// Where the edge to the next corner comes from.
    pub edge: Source,
}

/// Where an edge of the cut polygon comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// An edge of the incident shape, by name.
    Incident(u64),
    /// A side of the reference face, by its place in the loop.
    Side(usize),
}

/// Loads a face of a polyhedron as the incident polygon; `rel` takes its frame to that of the reference shape.
pub(super) fn load_face(scratch: &mut Scratch, poly: &Poly<'_>, face: usize, rel: &Pose) {
    let corners = poly.corners(face);
    scratch.polygon.clear();
    scratch.polygon.extend(corners.iter().enumerate().map(|(k, &v)| {
        let p = rel.transform_point(poly.vertices[v as usize]);
        let edge = Source::Incident(poly.edge_name(v, corners[(k + 1) % corners.len()]));
        Corner { p, tip: p, name: Some(poly.vertex_name(v)), edge }
    }));
}

/// Cuts the incident polygon in `scratch` to a face and adds a touch for each corner whose gap is below `prediction`.
/// Side 1 of the touches is the reference shape.
pub(super) fn cut_to_face(
    scratch: &mut Scratch,
    reference: &Poly<'_>,
    face: usize,
    rel: &Pose,
    incident_face: u64,
    prediction: f64,
) {
    let f = reference.faces[face];
    let corners = reference.corners(face);
    for (k, (out, limit)) in sides(reference, face).enumerate() {
        cut(scratch, out, limit, k);
    }
    let Scratch { polygon, touches, .. } = scratch;
    let mut before = match polygon.last() {
        Some(c) => c.edge,
        None => return,
    };
    for c in polygon.iter() {
        let p = if c.tip != c.p && is_over(reference, face, c.tip) { c.tip } else { c.p };
        let gap = f.normal.dot(p) - f.offset;
        if gap <= prediction {
            let (f1, f2) = match (c.name, before, c.edge) {
                (Some(vertex), ..) => (reference.face_name(face), vertex),
                (None, Source::Side(i), Source::Incident(e))
                | (None, Source::Incident(e), Source::Side(i)) => {
                    (reference.edge_name(corners[i], corners[(i + 1) % corners.len()]), e)
                }
                (None, Source::Side(i), Source::Side(j)) => {
                    // The corner that both sides share; the polygons run in opposite senses.
                    let v = if (i + 1) % corners.len() == j { j } else { i };
                    (reference.vertex_name(corners[v]), incident_face)
                }
                (None, Source::Incident(e), Source::Incident(_)) => (reference.face_name(face), e),
            };
            touches.push(Touch {
                p1: p - f.normal * gap,
                p2: rel.inverse_transform_point(p),
                n: -f.normal,
                gap,
                f1,
                f2,
            });
        }
        before = c.edge;
    }
}

/// The planes through the sides of a face, across it: outward normal and offset, skin included.
fn sides<'a>(poly: &'a Poly<'_>, face: usize) -> impl Iterator<Item = (Vec3, f64)> + 'a {
    let normal = poly.faces[face].normal;
    let corners = poly.corners(face);
    let at = |k: usize| poly.vertices[corners[k % corners.len()] as usize];
    let size = (0..corners.len()).map(|k| at(k).distance_squared(at(0))).fold(0.0, f64::max).sqrt();
    (0..corners.len()).map(move |k| {
        let out = (at(k + 1) - at(k)).cross(normal).normalize();
        (out, out.dot(at(k)) + SKIN * size)
    })
}

/// Does a point lie over (or under) a face?
pub(super) fn is_over(poly: &Poly<'_>, face: usize, p: Vec3) -> bool {
    sides(poly, face).all(|(out, limit)| out.dot(p) <= limit)
}

/// Keeps the part of the polygon with `out · p ≤ limit`.
fn cut(scratch: &mut Scratch, out: Vec3, limit: f64, side: usize) {
    let Scratch { polygon, spare, .. } = scratch;
    if polygon.iter().all(|c| out.dot(c.p) <= limit) {
        return;
    }
    spare.clear();
    for (k, c) in polygon.iter().enumerate() {
        let next = &polygon[(k + 1) % polygon.len()];
        let (d, e) = (out.dot(c.p) - limit, out.dot(next.p) - limit);
        let crossing = |edge| {
            let p = c.p + (next.p - c.p) * (d / (d - e));
            Corner { p, tip: p, name: None, edge }
        };
        match (d <= 0.0, e <= 0.0) {
            (true, true) => spare.push(*c),
            (true, false) => {
                spare.push(*c);
                spare.push(crossing(Source::Side(side)));
            }
            (false, true) => spare.push(crossing(c.edge)),
            (false, false) => {}
        }
    }
    std::mem::swap(polygon, spare);
}

/// Loads a segment with a radius as the incident feature: the line of its surface that looks down on a face with
/// this normal, and the tips of its round ends.
pub(super) fn load_segment(scratch: &mut Scratch, ends: [Vec3; 2], radius: f64, normal: Vec3, rel: &Pose) {
    let ends = ends.map(|p| rel.transform_point(p));
    let across = normal.reject_from(ends[1] - ends[0]).normalize_or(normal);
    let edge = Source::Incident(feature::edge(0, 1));
    scratch.polygon.clear();
    scratch.polygon.extend([0, 1].map(|k| Corner {
        p: ends[k] - across * radius,
        tip: ends[k] - normal * radius,
        name: Some(feature::vertex(k as u32)),
        edge,
    }));
}
