//! Vertices against faces, edges and vertices near them.

use super::super::nearest::{Place, on_triangle};
use super::super::solid::feature;
use super::Pair;
use super::pair::{CROSSED, TOUCH};
use crate::collide::Contact;
use crate::linalg::Vec3;

/// An edge whose faces rise by more than this (sine) towards a vertex is not what that one touches.
const SLACK: f64 = 1e-6;
/// The same for the neighbours of a vertex, which is often one of many that touch.
const VERTEX_SLACK: f64 = 0.3;

/// A feature of a surface near a vertex.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// Name of the feature in contact keys.
    pub name: u64,
    pub face: u32,
    place: Place,
    w: [f64; 3],
    /// From the feature to the vertex.
    way: Vec3,
    distance: f64,
    /// Outward normal of the feature, zero where the surface has no inside.
    normal: Vec3,
}

impl Pair<'_> {
    /// The feature of face `f` of b that is nearest to vertex `v` of a.
    pub fn candidate(&self, v: u32, f: u32) -> Option<Candidate> {
        let (a, b) = (self.a, self.b);
        let t = b.triangles[f as usize];
        if self.is_self && t.iter().any(|k| b.are_neighbours(self.model, *k, v)) {
            return None;
        }
        if t.iter().any(|k| b.is_held_by(self.model, *k, a)) || a.is_held_by(self.model, v, b) {
            return None;
        }
        let x = a.x[v as usize];
        let corners = t.map(|k| b.x[k as usize]);
        let at = |w: [f64; 3]| corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
        let (mut w, mut place) = on_triangle(x, corners);
        // What touches an edge or corner of the face touches the edge or corner.
        let touch = TOUCH * self.size;
        if x.distance(at(w)) <= touch {
            if let Some(k) = (0..3).find(|k| x.distance(corners[*k]) <= touch) {
                w = [0.0; 3];
                w[k] = 1.0;
                place = Place::Corner(k);
            } else if let Place::Inside = place
                && let Some(k) = (0..3).find(|k| {
                    // Edge k is opposite to corner k + 2.
                    let height = w[(k + 2) % 3] * doubled_area(corners);
                    height <= touch * corners[*k].distance(corners[(k + 1) % 3])
                })
            {
                let rest = w[k] + w[(k + 1) % 3];
                w[(k + 2) % 3] = 0.0;
                w = w.map(|x| x / rest);
                place = Place::Edge(k);
            }
        }
        let way = x - at(w);
        let (name, normal) = match place {
            Place::Inside => {
                (feature::face(f), if b.has_inside { b.face_normal[f as usize] } else { Vec3::ZERO })
            }
            Place::Edge(k) => {
                let e = b.triangle_edges[f as usize][k];
                let [i, j] = b.edges[e as usize].ends;
                (feature::edge(i, j), b.edge_normal(e))
            }
            Place::Corner(k) => (feature::vertex(t[k]), b.vertex_normal[t[k] as usize]),
        };
        Some(Candidate { name, face: f, place, w, way, distance: way.length(), normal })
    }

    /// Contacts of one vertex with the features near it.
    pub fn vertex(&self, v: u32, features: &[Candidate], deep: f64, contacts: &mut Vec<Contact>) {
        let touch = TOUCH * self.size;
        let Some(nearest) = features.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)) else {
            return;
        };
        let is_inside = self.b.has_inside
            && nearest.distance > touch
            && nearest.distance <= deep
            && nearest.way.dot(nearest.normal) < 0.0;
        if !is_inside {
            for c in features {
                if let Some((n, gap)) = self.outside(v, c) {
                    self.push_vertex(v, c, n, gap, contacts);
                }
            }
            return;
        }
        // Out through the nearest face that looks against the vertex.
        let against = self.a.vertex_normal[v as usize];
        let out = |c: &Candidate| match c.place {
            Place::Inside => c.normal,
            _ => -c.way / c.distance,
        };
        let best = features
            .iter()
            .filter(|c| c.way.dot(c.normal) < 0.0 && c.distance <= deep)
            .filter(|c| against == Vec3::ZERO || out(c).dot(against) < 0.0)
            .min_by(|a, b| a.distance.total_cmp(&b.distance));
        if let Some(c) = best {
            self.push_vertex(v, c, out(c), -c.distance, contacts);
        }
    }

    /// Normal and signed distance of a feature that the vertex sees from outside; `None` where it is not what the
    /// vertex would touch.
    fn outside(&self, v: u32, c: &Candidate) -> Option<(Vec3, f64)> {
        let (a, b) = (self.a, self.b);
        let against = a.vertex_normal[v as usize];
        let touches = c.distance <= TOUCH * self.size;
        if let Place::Inside = c.place {
            let n = b.face_normal[c.face as usize];
            // A sheet is touched on the side that the vertex looks at, or on which it is.
            let side = match b.has_inside {
                true => 1.0,
                false if n.dot(against).abs() > 0.5 => -n.dot(against).signum(),
                false => n.dot(c.way).signum(),
            };
            let (n, gap) = (n * side, n.dot(c.way) * side);
            let wrong = gap < -CROSSED * self.size || (b.has_inside && gap < 0.0 && !touches);
            return (!wrong && n.dot(against) <= 0.0).then_some((n, gap));
        }
        let is_corner = matches!(c.place, Place::Corner(_));
        if is_corner && (!a.touches_by_faces || (self.swap && !self.is_self)) {
            // The other side finds it.
            return None;
        }
        if let Place::Corner(k) = c.place
            && self.is_self
            && b.triangles[c.face as usize][k] < v
        {
            return None;
        }
        if touches {
            let n = (c.normal - against).normalize_or_zero();
            let n = if n == Vec3::ZERO { c.way.normalize_or_zero() } else { n };
            return (n != Vec3::ZERO).then_some((n, n.dot(c.way)));
        }
        let n = c.way / c.distance;
        let sees = match c.place {
            Place::Edge(k) => b.edge_faces(b.triangle_edges[c.face as usize][k], n, SLACK),
            Place::Corner(k) => b.vertex_faces(b.triangles[c.face as usize][k], n, SLACK),
            Place::Inside => true,
        };
        let fits = (!b.has_inside || n.dot(c.normal) > 0.0)
            && n.dot(against) <= 0.0
            && a.vertex_faces(v, -n, VERTEX_SLACK);
        (sees && fits).then_some((n, c.distance))
    }

    fn push_vertex(&self, v: u32, c: &Candidate, n: Vec3, distance: f64, contacts: &mut Vec<Contact>) {
        let t = self.b.triangles[c.face as usize];
        let (mut vertices, mut w, mut count) = ([0; 3], [0.0; 3], 0);
        for k in 0..3 {
            if c.w[k] != 0.0 {
                (vertices[count], w[count]) = (t[k], c.w[k]);
                count += 1;
            }
        }
        let on_a = (&[v][..], &[1.0][..], feature::vertex(v));
        self.push(on_a, (&vertices[..count], &w[..count], c.name), n, distance, contacts);
    }
}

fn doubled_area([a, b, c]: [Vec3; 3]) -> f64 {
    (b - a).cross(c - a).length()
}
