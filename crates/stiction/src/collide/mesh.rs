//! Triangle meshes: each triangle near the other shape is a one-sided flat convex shape.

use super::convex::{Convex, Form, convex_convex};
use super::narrow::with_convex;
use super::polytope::swap_sides;
use super::round::{nearest_on_face, push_ball};
use super::solid::{Face, Poly, Solid, feature};
use super::touch::Scratch;
use crate::coords::Pose;
use crate::linalg::Vec3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::shape::{SharedShape, TriMesh, Triangle};

/// Normals that turn more than this (cosine) away from the front of a triangle come from its inside: a neighbour
/// or the far side of the mesh sees the contact better.
const FRONT: f64 = 0.1;

/// Touches of a mesh (shape 1) with a convex solid at `rel` in its frame; `shape` is the solid in parry's types.
pub(super) fn mesh_solid(
    mesh: &TriMesh,
    solid: &Solid,
    shape: &SharedShape,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let near = grow(shape.compute_aabb(rel), prediction);
    for k in mesh.bvh().intersect_aabb(&near) {
        triangle_view(mesh, k, |triangle, poly| {
            let first = scratch.touches.len();
            if let Solid::Ball { radius } = solid {
                let nearest = nearest_on_face(rel.translation, poly, 0);
                // Deeper than its own size it has come from the other side.
                if nearest.distance > -(radius + prediction) {
                    push_ball(&nearest, *radius, rel, prediction, feature::face(k), scratch);
                }
            } else {
                let one = one_sided(triangle, poly);
                with_convex(solid, shape, |two| convex_convex(&one, two, rel, size, prediction, scratch));
            }
            keep_front(scratch, first, poly.faces[0].normal);
        });
    }
}

/// Touches of two meshes.
pub(super) fn mesh_mesh(
    one: &TriMesh,
    two: &TriMesh,
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let back = rel.inverse();
    let near = grow(two.aabb(rel), prediction);
    for i in one.bvh().intersect_aabb(&near) {
        triangle_view(one, i, |triangle1, poly1| {
            let near = grow(triangle1.transformed(&back).local_aabb(), prediction);
            for j in two.bvh().intersect_aabb(&near) {
                triangle_view(two, j, |triangle2, poly2| {
                    let first = scratch.touches.len();
                    let (a, b) = (one_sided(triangle1, poly1), one_sided(triangle2, poly2));
                    convex_convex(&a, &b, rel, size, prediction, scratch);
                    keep_front(scratch, first, poly1.faces[0].normal);
                    // The same from the other side.
                    swap_sides(&mut scratch.touches[first..], &back);
                    keep_front(scratch, first, poly2.faces[0].normal);
                    swap_sides(&mut scratch.touches[first..], rel);
                });
            }
        });
    }
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
