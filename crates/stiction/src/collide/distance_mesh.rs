//! Signed distance of a triangle mesh: the nearest feature, and its side by the mean normal of the faces around it
//! (weighted by angle at corners, which gives the right sign for every closed mesh).

use super::distance::{Distance, outer};
use super::nearest::{Place, on_triangle};
use crate::linalg::{Mat3, Vec3};
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::TriMesh;
use std::collections::BTreeMap;

/// Directions nearer than this to the normal of a face, or to the plane across an edge, count as such: the border
/// between regions belongs to the flatter one.
const BORDER: f64 = 1e-9;
/// Nearer to an edge or corner than this share of the size of the mesh, the direction to it is rounding.
const ON: f64 = 1e-13;

/// A mesh with the normals of its faces, edges and corners.
pub(super) struct MeshDistance {
    mesh: TriMesh,
    faces: Vec<Vec3>,
    /// Of the edges between corners k and k + 1 of each triangle.
    edges: Vec<[Vec3; 3]>,
    corners: Vec<Vec3>,
    size: f64,
}

impl MeshDistance {
    pub fn new(mesh: TriMesh) -> MeshDistance {
        let triangles = mesh.indices();
        let at = |k: u32| mesh.vertices()[k as usize];
        let faces: Vec<Vec3> = triangles
            .iter()
            .map(|t| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).normalize_or_zero())
            .collect();
        let mut corners = vec![Vec3::ZERO; mesh.vertices().len()];
        let mut sums: BTreeMap<[u32; 2], Vec3> = BTreeMap::new();
        for (t, n) in triangles.iter().zip(&faces) {
            for k in 0..3 {
                let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                *sums.entry([a.min(b), a.max(b)]).or_insert(Vec3::ZERO) += *n;
                let angle = (at(b) - at(a)).angle_between(at(c) - at(a));
                corners[a as usize] += *n * if angle.is_finite() { angle } else { 0.0 };
            }
        }
        let edge = |a: u32, b: u32| sums[&[a.min(b), a.max(b)]].normalize_or_zero();
        let edges =
            triangles.iter().map(|t| [edge(t[0], t[1]), edge(t[1], t[2]), edge(t[2], t[0])]).collect();
        let corners = corners.iter().map(|n| n.normalize_or_zero()).collect();
        let size = mesh.local_aabb().half_extents().length();
        MeshDistance { faces, edges, corners, size, mesh }
    }

    pub fn at(&self, x: Vec3) -> Distance {
        let foot = |t: u32| {
            let t = self.mesh.triangle(t);
            let (w, place) = on_triangle(x, [t.a, t.b, t.c]);
            (t.a * w[0] + t.b * w[1] + t.c * w[2], place)
        };
        let nearest = self.mesh.bvh().find_best(
            f64::INFINITY,
            |node, _| node.aabb().distance_to_local_point(x, true),
            |t, _| Some(foot(t).0.distance(x)),
        );
        let (t, _) = nearest.expect("a mesh has triangles");
        let (p, place) = foot(t);
        let [a, b, c] = self.mesh.indices()[t as usize];
        let ids = [a, b, c];
        let at = |k: usize| self.mesh.vertices()[ids[k % 3] as usize];
        let face = self.faces[t as usize];
        let flat = || Distance { d: face.dot(x - at(0)), n: face, h: Mat3::ZERO };

        // Towards the outside, from the nearest point.
        let outward = match place {
            Place::Inside => return flat(),
            Place::Edge(k) => self.edges[t as usize][k],
            Place::Corner(k) => self.corners[ids[k] as usize],
        };
        let way = x - p;
        let r = way.length();
        if r <= ON * self.size {
            return Distance { d: way.dot(outward), n: outward, h: Mat3::ZERO };
        }
        let side = if way.dot(outward) < 0.0 { -1.0 } else { 1.0 };
        let n = way * (side / r);
        if (n - face).length() < BORDER {
            return flat();
        }
        // The edge along which the nearest point moves with x, if it does.
        let edge = |k: usize| (at(k + 1) - at(k)).normalize();
        let along = match place {
            Place::Edge(k) => Some(edge(k)),
            Place::Corner(k) => [k, (k + 2) % 3].map(edge).into_iter().find(|e| e.dot(n).abs() < BORDER),
            Place::Inside => None,
        };
        let across = Mat3::IDENTITY - outer(n) - along.map_or(Mat3::ZERO, outer);
        Distance { d: side * r, n, h: across * (side / r) }
    }
}
