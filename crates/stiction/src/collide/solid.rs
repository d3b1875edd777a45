//! Shapes in the form that the narrow phase wants, and the names of their features.

use super::distance::{Side, sides};
use super::mesh::{MeshView, Voronoi};
use super::plane::{RIM, rim_point};
use crate::linalg::Vec3;
use crate::model::ModelShape;
use parry3d_f64::shape::{ConvexPolyhedron, SharedShape};
use std::collections::BTreeMap;

/// A shape in its own frame.
pub(super) enum Solid {
    /// Half-space below z = 0.
    Plane,
    /// Sphere about the origin; a point where the radius is zero.
    Ball { radius: f64 },
    /// Box about the origin with its corners, edges and faces.
    Block { half: Vec3, surface: Polytope },
    /// Segment along z with a radius.
    Capsule { half_height: f64, radius: f64 },
    /// Cylinder along y, as parry has it.
    Cylinder { half_height: f64, radius: f64, caps: Polytope },
    /// Cone along y with its tip up, as parry has it; `base` is its flat end.
    Cone { half_height: f64, radius: f64, base: Polytope, profile: Vec<Side> },
    /// Convex polyhedron.
    Hull { surface: Polytope },
    /// Triangles, and from where each feature can be touched.
    Mesh { shape: SharedShape, regions: Voronoi },
}

impl Solid {
    pub fn new(shape: &ModelShape) -> Solid {
        let g = &shape.geometry;
        if let Some(ball) = g.as_ball() {
            Solid::Ball { radius: ball.radius }
        } else if let Some(block) = g.as_cuboid() {
            Solid::Block { half: block.half_extents, surface: Polytope::block(block.half_extents) }
        } else if let Some(capsule) = g.as_capsule() {
            Solid::Capsule { half_height: capsule.half_height(), radius: capsule.radius }
        } else if let Some(cylinder) = g.as_cylinder() {
            let (half_height, radius) = (cylinder.half_height, cylinder.radius);
            Solid::Cylinder { half_height, radius, caps: Polytope::caps(half_height, radius) }
        } else if let Some(cone) = g.as_cone() {
            let (half_height, radius) = (cone.half_height, cone.radius);
            let profile = sides(&[[0.0, -half_height], [radius, -half_height], [0.0, half_height]]);
            Solid::Cone { half_height, radius, base: Polytope::base(half_height, radius), profile }
        } else if let Some(hull) = g.as_convex_polyhedron() {
            Solid::Hull { surface: Polytope::hull(hull) }
        } else if let Some(mesh) = g.as_trimesh() {
            Solid::Mesh { shape: g.clone(), regions: Voronoi::new(mesh) }
        } else {
            Solid::Plane
        }
    }

    /// A length by which margins and tolerances are measured [m]: the smallest half extent, the largest for a mesh
    /// (which may be flat), zero for a point and infinite for a plane.
    pub fn size(&self) -> f64 {
        match self {
            Solid::Plane => f64::INFINITY,
            Solid::Ball { radius } | Solid::Capsule { radius, .. } => *radius,
            Solid::Block { half, .. } => half.min_element(),
            Solid::Cylinder { half_height, radius, .. } | Solid::Cone { half_height, radius, .. } => {
                half_height.min(*radius)
            }
            Solid::Hull { surface } => surface.thickness(),
            Solid::Mesh { shape, .. } => shape.compute_local_aabb().half_extents().max_element(),
        }
    }

    /// The triangles, if it is a mesh.
    pub fn mesh(&self) -> Option<MeshView<'_>> {
        match self {
            Solid::Mesh { shape, regions } => Some(MeshView { mesh: shape.as_trimesh()?, regions }),
            _ => None,
        }
    }

    /// The flat faces, if the solid has corners and edges.
    pub fn polytope(&self) -> Option<Poly<'_>> {
        match self {
            Solid::Block { surface, .. } | Solid::Hull { surface } => Some(surface.view()),
            _ => None,
        }
    }
}

/// A flat face: the points with `normal · p = offset` inside its loop of corners, counter-clockwise from outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub normal: Vec3,
    pub offset: f64,
    pub first: u32,
    pub len: u32,
}

/// An edge with its ends and the faces on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub ends: [u32; 2],
    pub faces: [u32; 2],
}

/// Surface of a convex polyhedron.
#[derive(Clone, Debug)]
pub(super) struct Polytope {
    vertices: Vec<Vec3>,
    faces: Vec<Face>,
    loops: Vec<u32>,
    edges: Vec<Edge>,
}

impl Polytope {
    /// Faces +x, −x, +y, −y, +z, −z; bit k of a corner's number tells its side along axis k.
    fn block(half: Vec3) -> Polytope {
        let vertices = (0..8_u32)
            .map(|k| Vec3::from_array([0, 1, 2].map(|a| if k >> a & 1 == 1 { half[a] } else { -half[a] })))
            .collect();
        let loops: [[u32; 4]; 6] =
            [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
        Polytope::from_loops(vertices, &loops.map(Vec::from))
    }

    /// The flat ends of a cylinder along y: upper, lower. The rim numbers agree with those of the plane's contacts.
    fn caps(half_height: f64, radius: f64) -> Polytope {
        let lower = (0..RIM).map(|k| rim_point(k, radius, -half_height));
        let upper = (0..RIM).map(|k| rim_point(k, radius, half_height));
        let n = RIM as u32;
        // Seen from above, angles run from z to x, so rising numbers run clockwise.
        let loops: [Vec<u32>; 2] = [(0..n).rev().map(|k| n + k).collect(), (0..n).collect()];
        Polytope::from_loops(lower.chain(upper).collect(), &loops)
    }

    /// The flat end of a cone along y, numbered like the lower end of a cylinder.
    fn base(half_height: f64, radius: f64) -> Polytope {
        let rim = (0..RIM).map(|k| rim_point(k, radius, -half_height)).collect();
        Polytope::from_loops(rim, &[(0..RIM as u32).collect()])
    }

    fn hull(hull: &ConvexPolyhedron) -> Polytope {
        let loops: Vec<Vec<u32>> = hull
            .faces()
            .iter()
            .map(|f| {
                let first = f.first_vertex_or_edge as usize;
                hull.vertices_adj_to_face()[first..first + f.num_vertices_or_edges as usize].to_vec()
            })
            .collect();
        // Points within an edge belong to two faces; only corners, with three or more, bear contacts.
        let mut count = vec![0; hull.points().len()];
        for v in loops.iter().flatten() {
            count[*v as usize] += 1;
        }
        let mut number = vec![u32::MAX; hull.points().len()];
        let mut vertices = Vec::new();
        for (k, p) in hull.points().iter().enumerate() {
            if count[k] >= 3 {
                number[k] = vertices.len() as u32;
                vertices.push(*p);
            }
        }
        let mut loops: Vec<Vec<u32>> = loops
            .into_iter()
            .map(|l| l.into_iter().map(|v| number[v as usize]).filter(|v| *v != u32::MAX).collect())
            .filter(|l: &Vec<u32>| l.len() >= 3)
            .collect();
        // Number faces by their corners: the order in which the hull was built depends on rounding.
        for l in &mut loops {
            let lowest = (0..l.len()).min_by_key(|k| l[*k]).unwrap_or(0);
            l.rotate_left(lowest);
        }
        loops.sort_unstable();
        Polytope::from_loops(vertices, &loops)
    }

    fn from_loops(vertices: Vec<Vec3>, face_loops: &[Vec<u32>]) -> Polytope {
        let mut faces = Vec::new();
        let mut loops = Vec::new();
        let mut edges: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();
        for (f, corners) in face_loops.iter().enumerate() {
            let at = |k: usize| vertices[corners[k % corners.len()] as usize];
            // Newell: the mean normal of the loop.
            let normal = (1..corners.len() - 1)
                .map(|k| (at(k) - at(0)).cross(at(k + 1) - at(0)))
                .sum::<Vec3>()
                .normalize();
            let offset = (0..corners.len()).map(|k| normal.dot(at(k))).fold(f64::NEG_INFINITY, f64::max);
            faces.push(Face { normal, offset, first: loops.len() as u32, len: corners.len() as u32 });
            for k in 0..corners.len() {
                let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
                let sides = edges.entry([a.min(b), a.max(b)]).or_insert([f as u32, f as u32]);
                sides[1] = f as u32;
            }
            loops.extend_from_slice(corners);
        }
        let edges = edges.into_iter().map(|(ends, faces)| Edge { ends, faces }).collect();
        Polytope { vertices, faces, loops, edges }
    }

    pub fn view(&self) -> Poly<'_> {
        Poly {
            vertices: &self.vertices,
            faces: &self.faces,
            loops: &self.loops,
            edges: &self.edges,
            triangle: None,
        }
    }

    /// Half of the smallest distance between a face and the corner farthest behind it.
    fn thickness(&self) -> f64 {
        let depth = |f: &Face| {
            f.offset - self.vertices.iter().map(|v| f.normal.dot(*v)).fold(f64::INFINITY, f64::min)
        };
        0.5 * self.faces.iter().map(depth).fold(f64::INFINITY, f64::min)
    }
}

/// A borrowed surface: a convex polyhedron, or one triangle of a mesh.
#[derive(Clone, Copy)]
pub(super) struct Poly<'a> {
    pub vertices: &'a [Vec3],
    pub faces: &'a [Face],
    pub loops: &'a [u32],
    pub edges: &'a [Edge],
    /// For a triangle of a mesh: its number and those of its corners in the mesh.
    pub triangle: Option<(u32, [u32; 3])>,
}

impl Poly<'_> {
    /// The corner farthest along `dir` (the first of equals) and how far that is.
    pub fn support(&self, dir: Vec3) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, v) in self.vertices.iter().enumerate() {
            let d = dir.dot(*v);
            if d > best.1 {
                best = (k, d);
            }
        }
        best
    }

    /// The face whose normal points most along `dir` (the first of equals).
    pub fn face_toward(&self, dir: Vec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, f) in self.faces.iter().enumerate() {
            let d = dir.dot(f.normal);
            if d > best.1 {
                best = (k, d);
            }
        }
        best.0
    }

    /// Corners of a face.
    pub fn corners(&self, face: usize) -> &[u32] {
        let f = &self.faces[face];
        &self.loops[f.first as usize..(f.first + f.len) as usize]
    }

    pub fn vertex_name(&self, k: u32) -> u64 {
        feature::vertex(self.global(k))
    }

    pub fn edge_name(&self, a: u32, b: u32) -> u64 {
        feature::edge(self.global(a), self.global(b))
    }

    pub fn face_name(&self, face: usize) -> u64 {
        feature::face(self.triangle.map_or(face as u32, |t| t.0))
    }

    fn global(&self, k: u32) -> u32 {
        self.triangle.map_or(k, |t| t.1[k as usize])
    }
}

/// Names of features within a shape: two bits of kind, then numbers.
pub(super) mod feature {
    /// The whole of a smooth shape.
    pub const WHOLE: u64 = 3 << 62;

    /// A corner.
    pub fn vertex(k: u32) -> u64 {
        u64::from(k)
    }

    /// The edge between two corners.
    pub fn edge(a: u32, b: u32) -> u64 {
        1 << 62 | u64::from(a.min(b)) << 31 | u64::from(a.max(b))
    }

    /// A face.
    pub fn face(k: u32) -> u64 {
        2 << 62 | u64::from(k)
    }

    /// Another point with the same features: the ordinal takes the highest bits that are left.
    pub fn repeat(name: u64, ordinal: u64) -> u64 {
        name ^ ordinal << 54
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_six_faces_that_look_outwards_and_twelve_edges() {
        let half = Vec3::new(1.0, 2.0, 3.0);
        let p = Polytope::block(half);
        assert_eq!((p.vertices.len(), p.faces.len(), p.edges.len()), (8, 6, 12));
        for (k, f) in p.faces.iter().enumerate() {
            let mut want = Vec3::ZERO;
            want[k / 2] = if k % 2 == 0 { 1.0 } else { -1.0 };
            assert_eq!((f.normal, f.offset), (want, half[k / 2]));
        }
        assert!(p.edges.iter().all(|e| e.faces[0] != e.faces[1]));
        assert_eq!(p.thickness(), 1.0);
    }

    #[test]
    fn caps_look_outwards() {
        let p = Polytope::caps(2.0, 0.5);
        assert!((p.faces[0].normal - Vec3::Y).length() < 1e-15 && (p.faces[0].offset - 2.0).abs() < 1e-15);
        assert!((p.faces[1].normal + Vec3::Y).length() < 1e-15 && (p.faces[1].offset - 2.0).abs() < 1e-15);
    }

    #[test]
    fn a_hull_forgets_points_within_its_edges_and_faces() {
        let mut points: Vec<Vec3> =
            (0..8).map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))).collect();
        points.extend([Vec3::new(0.5, 0.0, 0.0), Vec3::new(0.5, 0.5, 1.0), Vec3::splat(0.5)]);
        let p = Polytope::hull(&ConvexPolyhedron::from_convex_hull(&points).unwrap());
        assert_eq!((p.vertices.len(), p.faces.len(), p.edges.len()), (8, 6, 12));
        for f in &p.faces {
            assert!(f.normal.abs().max_element() > 1.0 - 1e-14, "axis-aligned: {}", f.normal);
        }
    }
}
