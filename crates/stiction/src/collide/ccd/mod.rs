//! Continuous detection: when do a vertex and a face, or two edges, meet first within a step?
//!
//! | question | answer | how |
//! |---|---|---|
//! | vertices on straight lines, never late | [`vertex_face`], [`edge_edge`] | separating planes, then interval inclusion |
//! | the same, some vertices on rotating bodies | [`vertex_face_on`], [`edge_edge_on`] with [`Track`] | pieces short enough to be straight |
//! | the point where they cross, by root finding (CR 5.2) | [`vertex_face_crossing`], [`edge_edge_crossing`] | [`brent`] on the volume of the four points |
//!
//! The first two kinds are conservative: the time is never later than the first true impact, `None` means that there is
//! none, and the work is bounded; where it runs out, the earliest time that is still possible is the answer. Closed
//! features are meant, so that vertex–vertex and vertex–edge meetings are among them, and features may be without
//! length or area: a sphere is an edge with equal ends. `distance` is Euclidean, in metres, and counts as touching;
//! radii and thicknesses go there. Neither scale nor place matter: coordinates are taken relative to one vertex.
//!
//! ```
//! use stiction::Vec3;
//! use stiction::collide::ccd::vertex_face;
//!
//! let face = [Vec3::ZERO, Vec3::X, Vec3::Y];
//! let at = |p: Vec3| [p, face[0], face[1], face[2]];
//! let hit = vertex_face(&at(Vec3::new(0.2, 0.2, 1.0)), &at(Vec3::new(0.2, 0.2, -1.0)), 0.1).unwrap();
//! assert!(hit.time <= 0.45 && hit.time > 0.44);
//! ```

mod advance;
mod crossing;
mod inclusion;
mod track;

pub use crossing::{brent, edge_edge_crossing, vertex_face_crossing};
pub use track::{Track, edge_edge_on, vertex_face_on};

use super::nearest::{on_segments, on_triangle};
use crate::linalg::Vec3;
use advance::Advance;

/// A pair nearer than this share of its size, or …
const SMALL: f64 = 1e-6;
/// … than this share of the distance beyond the distance asked for is as good as touching.
const SHARE: f64 = 0.1;
/// Bound of the rounding of one difference between two features, in units of ε times the size.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// When and where two features meet first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Share of the step, 0 to 1; not later than the first true impact.
    pub time: f64,
    /// Vertex–face: weights of the second and third corner of the face. Edge–edge: shares along both edges.
    pub at: [f64; 2],
}

/// Which features the four points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A vertex and the three corners of a face.
    VertexFace,
    /// The ends of one edge and those of the other.
    EdgeEdge,
}

impl Kind {
    /// Points of the first feature, before those of the second.
    fn split(self) -> usize {
        match self {
            Kind::VertexFace => 1,
            Kind::EdgeEdge => 2,
        }
    }

    /// The way from the point `at` of the second feature to the point of the first.
    fn way(self, [a, b, c, d]: [Vec3; 4], at: [f64; 2]) -> Vec3 {
        match self {
            Kind::VertexFace => a - b - (c - b) * at[0] - (d - b) * at[1],
            Kind::EdgeEdge => (a + (b - a) * at[0]) - (c + (d - c) * at[1]),
        }
    }

    /// Where the features are nearest.
    fn nearest(self, x: &[Vec3; 4]) -> [f64; 2] {
        match self {
            Kind::VertexFace => {
                let (w, _) = on_triangle(x[0], [x[1], x[2], x[3]]);
                [w[1], w[2]]
            }
            Kind::EdgeEdge => {
                let (s, t) = on_segments([x[0], x[1]], [x[2], x[3]]);
                [s, t]
            }
        }
    }
}

/// First time at which vertex `x[0]` comes within `distance` [m] of the face `x[1..4]` while all move on straight lines
/// from `start` to `end`; `None` where they do not meet.
///
/// The answer is never later than the true impact, and early by no more than the motion takes for a tenth of the
/// distance, or for 1e-6 of the size of features and motion, unless hundreds of boxes do not settle it.
pub fn vertex_face(start: &[Vec3; 4], end: &[Vec3; 4], distance: f64) -> Option<Impact> {
    first(Kind::VertexFace, start, end, distance)
}

/// First time at which the edges `x[0], x[1]` and `x[2], x[3]` come within `distance` [m] of each other; see
/// [`vertex_face`].
pub fn edge_edge(start: &[Vec3; 4], end: &[Vec3; 4], distance: f64) -> Option<Impact> {
    first(Kind::EdgeEdge, start, end, distance)
}

/// Four points on straight lines, relative to the path of the first: what is far away or fast together counts for nothing.
struct Lines {
    start: [Vec3; 4],
    end: [Vec3; 4],
    /// Nearer than this is a touch: the distance asked for and what rounding may hide [m].
    touch: f64,
    /// Nearer than this is near enough to end the search [m].
    near: f64,
}

impl Lines {
    fn new(start: &[Vec3; 4], end: &[Vec3; 4], distance: f64) -> Lines {
        let (start, end) = (start.map(|p| p - start[0]), end.map(|p| p - end[0]));
        let size = start.iter().chain(&end).map(|p| p.abs().max_element()).fold(0.0, f64::max);
        let touch = distance + ROUNDING * size;
        Lines { start, end, touch, near: touch + (SMALL * size).max(SHARE * distance) }
    }

    fn at(&self, t: f64) -> [Vec3; 4] {
        [0, 1, 2, 3].map(|k| self.start[k] * (1.0 - t) + self.end[k] * t)
    }
}

fn first(kind: Kind, start: &[Vec3; 4], end: &[Vec3; 4], distance: f64) -> Option<Impact> {
    let lines = Lines::new(start, end, distance);
    match advance::run(kind, &lines) {
        Advance::Apart => None,
        Advance::Touch(impact) => Some(impact),
        Advance::Unsettled(from) => inclusion::first_zero(kind, &lines, from),
    }
}
