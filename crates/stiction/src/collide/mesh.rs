//! Triangle meshes: each triangle near the other shape is a one-sided flat convex shape.
//!
//! A triangle does not know its neighbours, and edges between two of them in one plane are nothing that a body could
//! bump into. So a direction of contact counts only where the mesh as a whole has it ([`Voronoi`]): on a face its
//! normal, on a ridge what lies between the normals of both faces, on a tip what leans towards none of its edges. Any
//! other direction is replaced by the normal of the face, if the other shape lies over it.

use super::convex::{Convex, Form, convex_convex, lay_over};
use super::narrow::with_convex;
use super::nearest::on_triangle;
use super::polytope::swap_sides;
use super::round::{nearest_on_face, push_ball};
use super::solid::{Face, Poly, Solid, feature};
use super::touch::Scratch;
use crate::coords::Pose;
use crate::linalg::Vec3;
use crate::mesh::edges;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::shape::{SharedShape, TriMesh, Triangle};
use std::collections::BTreeMap;

/// Normals that turn more than this (cosine) away from the front of a triangle come from its inside: a neighbour
/// or the far side of the mesh sees the contact better.
const FRONT: f64 = 0.1;
/// A point counts as on an edge or corner where the weights of the others are below this.
const ON_EDGE: f64 = 1e-6;
/// Directions may lean this much (sine) beyond the border of a region.
const LEAN: f64 = 1e-6;

/// For each feature of a mesh, from which directions it can be touched first.
pub(super) struct Voronoi {
    /// Beyond the edge between corners k and k + 1 of each triangle: the direction within the neighbour's plane, away
    /// from the edge and the neighbour's inside. Zero at a border.
    beyond: Vec<[Vec3; 3]>,
    /// Is the edge a ridge (or border)? Then bodies may touch it; flat edges and valleys they meet by faces alone.
    ridge: Vec<[bool; 3]>,
    /// Neighbours of each corner, one after the other, and where each list ends.
    around: Vec<u32>,
    ends: Vec<usize>,
}

impl Voronoi {
    pub fn new(mesh: &TriMesh) -> Voronoi {
        let triangles = mesh.indices();
        let at = |k: u32| mesh.vertices()[k as usize];
        let mut sides: BTreeMap<[u32; 2], Vec<(usize, u32)>> = BTreeMap::new();
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b, c) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
                sides.entry([a.min(b), a.max(b)]).or_default().push((t, c));
            }
        }
        let mut beyond = vec![[Vec3::ZERO; 3]; triangles.len()];
        let mut ridge = vec![[true; 3]; triangles.len()];
        for (t, corners) in triangles.iter().enumerate() {
            let normal = (at(corners[1]) - at(corners[0])).cross(at(corners[2]) - at(corners[0])).normalize();
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let edge = (at(b) - at(a)).normalize();
                // Edges of three faces or more stay open to all directions, like borders.
                if let [one, two] = sides[&[a.min(b), a.max(b)]][..] {
                    let far = at(if one.0 == t { two.1 } else { one.1 }) - at(a);
                    beyond[t][k] = -(far - edge * far.dot(edge)).normalize_or_zero();
                    ridge[t][k] = normal.dot(beyond[t][k]) > LEAN;
                }
            }
        }
        let mut lists = vec![Vec::new(); mesh.vertices().len()];
        for [a, b] in edges(triangles) {
            lists[a as usize].push(b);
            lists[b as usize].push(a);
        }
        let mut ends = Vec::with_capacity(lists.len());
        let mut around = Vec::new();
        for list in lists {
            around.extend(list);
            ends.push(around.len());
        }
        Voronoi { beyond, ridge, around, ends }
    }

    /// Can the mesh be touched first at a point of triangle `t` by something that comes from `out`, away from the mesh?
    fn allows(&self, mesh: &TriMesh, t: u32, p: Vec3, out: Vec3) -> bool {
        let triangle = mesh.triangle(t);
        let corners = [triangle.a, triangle.b, triangle.c];
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
        if (out - normal).length() < LEAN {
            return true;
        }
        let (w, _) = on_triangle(p, corners);
        let on: [bool; 3] = w.map(|w| w > ON_EDGE);
        match on.iter().filter(|o| **o).count() {
            1 => {
                let k = on.iter().position(|o| *o).expect("one is");
                let v = mesh.indices()[t as usize][k] as usize;
                let first = if v == 0 { 0 } else { self.ends[v - 1] };
                self.around[first..self.ends[v]].iter().all(|j| {
                    let edge = mesh.vertices()[*j as usize] - corners[k];
                    edge.dot(out) <= LEAN * edge.length()
                })
            }
            2 => {
                // The edge that starts after the corner without weight.
                let k = (on.iter().position(|o| !*o).expect("one is not") + 1) % 3;
                let edge = corners[(k + 1) % 3] - corners[k];
                let own = edge.cross(normal).normalize();
                self.ridge[t as usize][k]
                    && own.dot(out) >= -LEAN
                    && self.beyond[t as usize][k].dot(out) >= -LEAN
            }
            _ => false,
        }
    }
}

/// A mesh with its regions.
#[derive(Clone, Copy)]
pub(super) struct MeshView<'a> {
    pub mesh: &'a TriMesh,
    pub regions: &'a Voronoi,
}

/// Touches of a mesh (shape 1) with a convex solid at `rel` in its frame; `shape` is the solid in parry's types.
pub(super) fn mesh_solid(
    one: MeshView<'_>,
    solid: &Solid,
    shape: &SharedShape,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let mesh = one.mesh;
    let near = grow(shape.compute_aabb(rel), prediction);
    for k in mesh.bvh().intersect_aabb(&near) {
        triangle_view(mesh, k, |triangle, poly| {
            let first = scratch.touches.len();
            if let Solid::Ball { radius } = solid {
                let nearest = nearest_on_face(rel.translation, poly, 0);
                // Deeper than its own size it has come from the other side.
                if nearest.distance > -(radius + prediction)
                    && one.regions.allows(mesh, k, nearest.p, nearest.n)
                {
                    push_ball(&nearest, *radius, rel, prediction, feature::face(k), scratch);
                }
            } else {
                let side = one_sided(triangle, poly);
                with_convex(solid, shape, |two| {
                    convex_convex(&side, two, rel, size, prediction, scratch);
                    if !settled(one, k, scratch, first) {
                        scratch.touches.truncate(first);
                        lay_over(&side, two, rel, size, prediction, scratch);
                    }
                });
            }
            keep_front(scratch, first, poly.faces[0].normal);
        });
    }
}

/// Touches of two meshes.
pub(super) fn mesh_mesh(
    one: MeshView<'_>,
    two: MeshView<'_>,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let back = rel.inverse();
    let near = grow(two.mesh.aabb(rel), prediction);
    for i in one.mesh.bvh().intersect_aabb(&near) {
        triangle_view(one.mesh, i, |triangle1, poly1| {
            let near = grow(triangle1.transformed(&back).local_aabb(), prediction);
            for j in two.mesh.bvh().intersect_aabb(&near) {
                triangle_view(two.mesh, j, |triangle2, poly2| {
                    let first = scratch.touches.len();
                    let (a, b) = (one_sided(triangle1, poly1), one_sided(triangle2, poly2));
                    convex_convex(&a, &b, rel, size, prediction, scratch);
                    let settled1 = settled(one, i, scratch, first);
                    swap_sides(&mut scratch.touches[first..], &back);
                    if settled1 && !settled(two, j, scratch, first) {
                        scratch.touches.truncate(first);
                        lay_over(&b, &a, &back, size, prediction, scratch);
                    }
                    keep_front(scratch, first, poly2.faces[0].normal);
                    swap_sides(&mut scratch.touches[first..], rel);
                    if !settled1 {
                        scratch.touches.truncate(first);
                        lay_over(&a, &b, rel, size, prediction, scratch);
                    }
                    keep_front(scratch, first, poly1.faces[0].normal);
                });
            }
        });
    }
}

/// Does the mesh have the direction of the deepest touch from `first` on, there where it is?
fn settled(one: MeshView<'_>, triangle: u32, scratch: &Scratch, first: usize) -> bool {
    let deepest = scratch.touches[first..].iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
    deepest.is_none_or(|t| one.regions.allows(one.mesh, triangle, t.p1, -t.n))
}

fn one_sided<'a>(triangle: &'a Triangle, poly: &Poly<'a>) -> Convex<'a> {
    Convex { core: triangle, radius: 0.0, form: Form::Poly(*poly), front: Some(poly.faces[0].normal) }
}

fn grow(mut b: Aabb, by: f64) -> Aabb {
    b.mins -= Vec3::splat(by);
    b.maxs += Vec3::splat(by);
    b
}

/// Drops touches from `first` on whose direction towards the other shape does not leave the front of the triangle.
fn keep_front(scratch: &mut Scratch, first: usize, normal: Vec3) {
    let mut kept = first;
    for k in first..scratch.touches.len() {
        if -scratch.touches[k].n.dot(normal) > FRONT {
            scratch.touches[kept] = scratch.touches[k];
            kept += 1;
        }
    }
    scratch.touches.truncate(kept);
}

/// Hands a triangle of a mesh over as a surface with one face.
fn triangle_view(mesh: &TriMesh, k: u32, f: impl FnOnce(&Triangle, &Poly<'_>)) {
    let triangle = mesh.triangle(k);
    let vertices = [triangle.a, triangle.b, triangle.c];
    let normal = (triangle.b - triangle.a).cross(triangle.c - triangle.a).normalize();
    let faces = [Face { normal, offset: normal.dot(triangle.a), first: 0, len: 3 }];
    let ids = mesh.indices()[k as usize];
    let poly =
        Poly { vertices: &vertices, faces: &faces, loops: &[0, 1, 2], edges: &[], triangle: Some((k, ids)) };
    f(&triangle, &poly);
}
