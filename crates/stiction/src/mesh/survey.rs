//! What a triangle mesh is like as the surface of a body: closed, oriented, manifold, free of self-intersections.

use super::TriMesh;
use super::crossing::{Overlap, crossings};
use crate::linalg::Vec3;
use std::collections::BTreeMap;

/// Triangles flatter than this share of their longest side have no normal.
const SLIVER: f64 = 1e-12;

/// Findings about a surface; lists are ascending and name positions in [`TriMesh::triangles`] and
/// [`TriMesh::vertices`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Survey {
    /// How many vertices.
    pub vertices: usize,
    /// How many triangles.
    pub triangles: usize,
    /// Connected parts.
    pub parts: usize,
    /// Area [m²].
    pub area: f64,
    /// Enclosed volume [m³], negative where faces look inwards; meaningful for closed surfaces.
    pub volume: f64,
    /// Smallest and largest coordinates [m].
    pub bounds: [Vec3; 2],
    /// Triangles without area.
    pub degenerate: Vec<u32>,
    /// Triangles with the same corners as an earlier one, in any order.
    pub duplicate: Vec<u32>,
    /// Edges of one triangle: borders of holes.
    pub open_edges: Vec<[u32; 2]>,
    /// Edges of three triangles or more.
    pub crowded_edges: Vec<[u32; 2]>,
    /// Edges along which two triangles run the same way: one of them is turned inside out.
    pub turned_edges: Vec<[u32; 2]>,
    /// Vertices where parts of the surface meet in a point only.
    pub pinched_vertices: Vec<u32>,
    /// Vertices that no triangle uses.
    pub unused_vertices: Vec<u32>,
    /// Vertices at exactly the place of an earlier one.
    pub repeated_vertices: Vec<u32>,
    /// Pairs of triangles that cross each other without sharing the place where they do.
    pub intersections: Vec<[u32; 2]>,
    /// The search for intersections was cut short: there may be more.
    pub more_intersections: bool,
}

impl Survey {
    /// Is it locally a surface everywhere: two triangles per edge (one at a border), one fan per vertex?
    pub fn is_manifold(&self) -> bool {
        self.crowded_edges.is_empty() && self.pinched_vertices.is_empty() && self.duplicate.is_empty()
    }

    /// Has it no holes?
    pub fn is_watertight(&self) -> bool {
        self.open_edges.is_empty() && self.crowded_edges.is_empty()
    }

    /// Do neighbours agree about what is outside?
    pub fn is_oriented(&self) -> bool {
        self.turned_edges.is_empty()
    }

    /// Can a rigid body take its mass from it: closed, oriented outwards?
    pub fn is_solid(&self) -> bool {
        self.is_watertight() && self.is_oriented() && self.volume > 0.0
    }

    /// Is there nothing to complain about?
    pub fn is_clean(&self) -> bool {
        self.is_solid()
            && self.is_manifold()
            && self.degenerate.is_empty()
            && self.unused_vertices.is_empty()
            && self.repeated_vertices.is_empty()
            && self.intersections.is_empty()
            && !self.more_intersections
    }
}

impl TriMesh {
    /// Looks at everything; the corners of all triangles must exist.
    pub fn survey(&self) -> Survey {
        let at = |k: u32| self.vertices[k as usize];
        let (low, high) = self
            .vertices
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
        let mut s = Survey {
            vertices: self.vertices.len(),
            triangles: self.triangles.len(),
            bounds: [low, high],
            ..Survey::default()
        };
        let middle = 0.5 * (low + high);
        for t in &self.triangles {
            let [a, b, c] = t.map(|k| at(k) - middle);
            s.area += 0.5 * (b - a).cross(c - a).length();
            s.volume += a.dot(b.cross(c)) / 6.0;
        }
        let numbers =
            |bad: &dyn Fn(usize) -> bool, n: usize| (0..n).filter(|k| bad(*k)).map(|k| k as u32).collect();
        s.degenerate = numbers(&|t| !has_area(self.triangles[t].map(at)), self.triangles.len());
        s.duplicate = repeats(self.triangles.iter().map(|t| {
            let mut t = *t;
            t.sort_unstable();
            t
        }));
        let mut used = vec![false; self.vertices.len()];
        self.triangles.iter().flatten().for_each(|k| used[*k as usize] = true);
        s.unused_vertices = numbers(&|k| !used[k], used.len());
        s.repeated_vertices = repeats(self.vertices.iter().map(|p| (*p + 0.0).to_array().map(f64::to_bits)));
        self.survey_edges(&mut s);
        s.parts = self.parts().1;
        s.pinched_vertices = self.pinched_vertices();
        let Overlap { pairs, complete } = crossings(self);
        (s.intersections, s.more_intersections) = (pairs, !complete);
        s
    }

    fn survey_edges(&self, s: &mut Survey) {
        // How many triangles run along each edge upwards and downwards.
        let mut runs: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();
        for t in &self.triangles {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                runs.entry([a.min(b), a.max(b)]).or_default()[usize::from(a > b)] += 1;
            }
        }
        for (edge, [up, down]) in runs {
            match (up + down, up == down) {
                (1, _) => s.open_edges.push(edge),
                (2, false) => s.turned_edges.push(edge),
                (2, true) => {}
                _ => s.crowded_edges.push(edge),
            }
        }
    }

    /// The part of each triangle (joined by edges), numbered in order, and how many there are.
    pub(super) fn parts(&self) -> (Vec<u32>, usize) {
        let mut by_edge: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                by_edge.entry([a.min(b), a.max(b)]).or_default().push(t as u32);
            }
        }
        let mut part = vec![u32::MAX; self.triangles.len()];
        let (mut count, mut stack) = (0, Vec::new());
        for first in 0..self.triangles.len() {
            if part[first] != u32::MAX {
                continue;
            }
            part[first] = count;
            stack.push(first as u32);
            while let Some(t) = stack.pop() {
                let corners = self.triangles[t as usize];
                for k in 0..3 {
                    let (a, b) = (corners[k], corners[(k + 1) % 3]);
                    for &n in &by_edge[&[a.min(b), a.max(b)]] {
                        if part[n as usize] == u32::MAX {
                            part[n as usize] = count;
                            stack.push(n);
                        }
                    }
                }
            }
            count += 1;
        }
        (part, count as usize)
    }

    /// Vertices whose triangles make more than one fan.
    fn pinched_vertices(&self) -> Vec<u32> {
        // Around each vertex, the edges opposite to it: one fan where they hang together.
        let mut wings: Vec<(u32, [u32; 2])> = self
            .triangles
            .iter()
            .flat_map(|t| (0..3).map(|k| (t[k], [t[(k + 1) % 3], t[(k + 2) % 3]])))
            .collect();
        wings.sort_unstable();
        wings.chunk_by(|a, b| a.0 == b.0).filter(|g| fans(g) > 1).map(|g| g[0].0).collect()
    }
}

/// How many connected parts the opposite edges of a vertex have.
fn fans(wings: &[(u32, [u32; 2])]) -> usize {
    let mut ends: Vec<u32> = wings.iter().flat_map(|w| w.1).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut parent: Vec<usize> = (0..ends.len()).collect();
    let find = |parent: &mut Vec<usize>, mut k: usize| {
        while parent[k] != k {
            parent[k] = parent[parent[k]];
            k = parent[k];
        }
        k
    };
    let mut count = ends.len();
    for (_, wing) in wings {
        let [i, j] = wing.map(|v| ends.partition_point(|e| *e < v));
        let (i, j) = (find(&mut parent, i), find(&mut parent, j));
        if i != j {
            parent[i] = j;
            count -= 1;
        }
    }
    count
}

/// Has a triangle a normal?
pub(super) fn has_area([a, b, c]: [Vec3; 3]) -> bool {
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    (b - a).cross(c - a).length() > SLIVER * longest
}

/// Positions of items that equal an earlier one.
fn repeats<T: Ord>(items: impl Iterator<Item = T>) -> Vec<u32> {
    let mut sorted: Vec<(T, u32)> = items.zip(0..).collect();
    sorted.sort_unstable();
    let mut out: Vec<u32> =
        sorted.chunk_by(|a, b| a.0 == b.0).flat_map(|g| g[1..].iter().map(|x| x.1)).collect();
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Surface, shapes};
    use super::*;

    fn ball() -> TriMesh {
        let mesh = shapes::sphere(0.5, 4);
        Surface::of(&mesh).to_tri_mesh(&mesh.vertices)
    }

    #[test]
    fn a_ball_is_clean() {
        let s = ball().survey();
        assert!(s.is_clean(), "{s:?}");
        assert_eq!(s.parts, 1);
        assert!(s.volume > 0.4 && s.volume < 4.0 / 3.0 * std::f64::consts::PI * 0.125);
        assert!(s.area > 2.8 && s.area < std::f64::consts::PI);
    }

    #[test]
    fn every_fault_is_named() {
        let mut hole = ball();
        hole.triangles.remove(3);
        let s = hole.survey();
        assert!(s.open_edges.len() == 3 && !s.is_watertight() && s.is_oriented() && s.is_manifold());

        let mut turned = ball();
        turned.triangles[5].swap(0, 1);
        let s = turned.survey();
        assert!(s.turned_edges.len() == 3 && s.is_watertight() && !s.is_oriented());

        let mut twice = ball();
        let again = twice.triangles[7];
        twice.triangles.push([again[1], again[0], again[2]]);
        let s = twice.survey();
        assert_eq!(s.duplicate, [twice.triangles.len() as u32 - 1]);
        assert_eq!(s.crowded_edges.len(), 3);

        let mut loose = ball();
        loose.vertices.push(loose.vertices[0]);
        let n = loose.vertices.len() as u32;
        let s = loose.survey();
        assert_eq!((s.unused_vertices, s.repeated_vertices), (vec![n - 1], vec![n - 1]));

        // Two tetrahedra that share one corner.
        let tip = TriMesh {
            vertices: [
                [0., 0., 0.],
                [1., 0., 0.],
                [0., 1., 0.],
                [0., 0., 1.],
                [-1., 0., 0.],
                [0., -1., 0.],
                [0., 0., -1.],
            ]
            .map(Vec3::from_array)
            .to_vec(),
            triangles: vec![
                [0, 2, 1],
                [0, 1, 3],
                [1, 2, 3],
                [0, 3, 2],
                [0, 4, 5],
                [0, 6, 4],
                [4, 6, 5],
                [0, 5, 6],
            ],
        };
        let s = tip.survey();
        assert_eq!((s.pinched_vertices.as_slice(), s.parts), (&[0][..], 2));

        let flat = TriMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0], triangles: vec![[0, 1, 2]] };
        assert_eq!(flat.survey().degenerate, [0]);
    }

    #[test]
    fn crossing_parts_are_found_and_separate_ones_are_not() {
        let (one, mut two) = (ball(), ball());
        let offset = one.vertices.len() as u32;
        let both = |two: &TriMesh| {
            let mut m = one.clone();
            m.vertices.extend(&two.vertices);
            m.triangles.extend(two.triangles.iter().map(|t| t.map(|k| k + offset)));
            m
        };
        two.vertices.iter_mut().for_each(|p| p.x += 0.7);
        let s = both(&two).survey();
        assert!(!s.intersections.is_empty() && s.parts == 2 && s.is_watertight());
        two.vertices.iter_mut().for_each(|p| p.x += 0.4);
        assert!(both(&two).survey().intersections.is_empty());
    }

    #[test]
    fn an_empty_mesh_has_a_survey() {
        let s = TriMesh::default().survey();
        assert!(!s.is_solid() && s.parts == 0);
    }
}
