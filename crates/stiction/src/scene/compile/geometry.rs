//! Geometry of the scene → parry's shapes, with its checks.

use crate::coords::Pose;
use crate::linalg::{Quat, Vec3};
use crate::scene::Geometry;
use parry3d_f64::shape::{ConvexPolyhedron, HalfSpace, SharedShape, TriMesh, TriMeshFlags};
use std::collections::HashMap;
use std::f64::consts::FRAC_1_SQRT_2;

/// A geometry in parry's types, and how parry's frame stands in that of the geometry.
pub(super) struct Compiled {
    pub shape: SharedShape,
    pub turn: Quat,
    /// Allowed but worth saying.
    pub warning: Option<String>,
}

/// Checks a geometry and makes the shape; the error says what is wrong and what to do.
pub(super) fn compile(geometry: &Geometry) -> Result<Compiled, String> {
    let positive = |what: &str, x: f64| match x.is_finite() && x > 0.0 {
        true => Ok(()),
        false => Err(format!("{what} must be positive and finite; got {x}")),
    };
    let mut turn = Quat::IDENTITY;
    let mut warning = None;
    let shape = match geometry {
        Geometry::Plane => SharedShape::new(HalfSpace::new(Vec3::Z)),
        Geometry::Sphere { radius } => {
            positive("the radius of a sphere", *radius)?;
            SharedShape::ball(*radius)
        }
        Geometry::Box { half } => {
            for (axis, x) in ["x", "y", "z"].into_iter().zip(half.to_array()) {
                positive(&format!("the half size of a box along {axis}"), x)?;
            }
            SharedShape::cuboid(half.x, half.y, half.z)
        }
        Geometry::Capsule { half_height, radius } => {
            positive("the half height of a capsule", *half_height)?;
            positive("the radius of a capsule", *radius)?;
            SharedShape::capsule_z(*half_height, *radius)
        }
        Geometry::Cylinder { half_height, radius } => {
            positive("the half height of a cylinder", *half_height)?;
            positive("the radius of a cylinder", *radius)?;
            // parry's cylinder stands along y: a quarter turn about x takes y to z.
            turn = Quat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2);
            SharedShape::cylinder(*half_height, *radius)
        }
        Geometry::Cone { half_height, radius } => {
            positive("the half height of a cone", *half_height)?;
            positive("the radius of a cone", *radius)?;
            turn = Quat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2);
            SharedShape::cone(*half_height, *radius)
        }
        Geometry::ConvexHull { points } => {
            finite(points)?;
            if points.len() < 4 {
                return Err(format!("a convex hull needs at least 4 points; got {}", points.len()));
            }
            let flat = || "the points of the convex hull lie in one plane; it needs a volume".to_string();
            if is_flat(points) {
                return Err(flat());
            }
            SharedShape::new(hull(points).ok_or_else(flat)?)
        }
        Geometry::TriMesh { vertices, triangles } => {
            let mesh = trimesh(vertices, triangles, &mut warning)?;
            SharedShape::new(mesh)
        }
        Geometry::Heightfield(field) => {
            field.check()?;
            let (vertices, triangles) = field.triangles();
            SharedShape::new(trimesh(&vertices, &triangles, &mut warning)?)
        }
    };
    Ok(Compiled { shape, turn, warning })
}

fn finite(points: &[Vec3]) -> Result<(), String> {
    match points.iter().position(|p| !p.is_finite()) {
        Some(k) => Err(format!("point {k} is not finite: {}", points[k])),
        None => Ok(()),
    }
}

/// Thickness of points below which they count as lying in a plane, as a share of their extent.
const FLAT: f64 = 1e-9;

/// Do all points lie in one plane (or line, or point)?
fn is_flat(points: &[Vec3]) -> bool {
    let farthest = |from: &dyn Fn(Vec3) -> f64| {
        points.iter().map(|p| from(*p)).zip(points).max_by(|a, b| a.0.total_cmp(&b.0)).expect("not empty")
    };
    let a = points[0];
    let (extent, &b) = farthest(&|p| p.distance(a));
    if extent == 0.0 {
        return true;
    }
    let along = (b - a) / extent;
    let (width, &c) = farthest(&|p| (p - a).reject_from_normalized(along).length());
    if width <= FLAT * extent {
        return true;
    }
    let n = along.cross(c - a).normalize();
    farthest(&|p| (p - a).dot(n).abs()).0 <= FLAT * extent
}

/// Vertices and triangles of the convex hull, worked out at unit size because parry's tolerances are absolute.
pub(super) fn hull_surface(points: &[Vec3]) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    let centre = points.iter().sum::<Vec3>() / points.len().max(1) as f64;
    let size = points.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    // A power of two: scaling there and back changes no bit.
    let scale = size.log2().round().exp2();
    let unit: Vec<Vec3> = points.iter().map(|p| *p / scale).collect();
    let (vertices, triangles) = parry3d_f64::transformation::try_convex_hull(&unit).ok()?;
    Some((vertices.into_iter().map(|p| p * scale).collect(), triangles))
}

fn hull(points: &[Vec3]) -> Option<ConvexPolyhedron> {
    let (vertices, triangles) = hull_surface(points)?;
    ConvexPolyhedron::from_convex_mesh(vertices, &triangles)
}

fn trimesh(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    warning: &mut Option<String>,
) -> Result<TriMesh, String> {
    finite(vertices)?;
    if vertices.is_empty() || triangles.is_empty() {
        return Err("the mesh is empty; it needs vertices and triangles".to_string());
    }
    for (k, t) in triangles.iter().enumerate() {
        if let Some(i) = t.iter().find(|i| **i as usize >= vertices.len()) {
            return Err(format!("triangle {k} names vertex {i}, but there are only {}", vertices.len()));
        }
    }
    let real: Vec<[u32; 3]> = triangles.iter().copied().filter(|t| has_area(vertices, t)).collect();
    if real.is_empty() {
        return Err("all triangles of the mesh have zero area".to_string());
    }
    if real.len() < triangles.len() {
        let count = triangles.len() - real.len();
        *warning = Some(format!("{count} triangles of the mesh have zero area and are left out"));
    }
    let flags = TriMeshFlags::ORIENTED | TriMeshFlags::MERGE_DUPLICATE_VERTICES;
    TriMesh::with_flags(vertices.to_vec(), real, flags).map_err(|e| format!("the mesh cannot be used: {e}"))
}

/// Triangles flatter than this share of their longest side have no normal.
const SLIVER: f64 = 1e-12;

fn has_area(vertices: &[Vec3], t: &[u32; 3]) -> bool {
    let [a, b, c] = t.map(|k| vertices[k as usize]);
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    (b - a).cross(c - a).length() > SLIVER * longest
}

/// Does every edge of the surface meet exactly one other, in the opposite direction? Vertices at the same place
/// count as one, as STL files repeat them.
pub(super) fn is_closed(vertices: &[Vec3], triangles: &[[u32; 3]]) -> bool {
    let mut merged = HashMap::new();
    let id: Vec<usize> = vertices
        .iter()
        // Adding zero makes −0 equal to 0.
        .map(|p| {
            let next = merged.len();
            *merged.entry((*p + Vec3::ZERO).to_array().map(f64::to_bits)).or_insert(next)
        })
        .collect();
    let mut balance: HashMap<(usize, usize), i32> = HashMap::new();
    for t in triangles {
        let [a, b, c] = t.map(|k| id[k as usize]);
        if a == b || b == c || c == a {
            continue;
        }
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (key, sign) = if from < to { ((from, to), 1) } else { ((to, from), -1) };
            *balance.entry(key).or_insert(0) += sign;
        }
    }
    balance.values().all(|b| *b == 0)
}

/// Radius of the smallest sphere about the origin that holds a shape placed at `local`; infinite for a plane.
pub(super) fn reach(shape: &SharedShape, local: &Pose) -> f64 {
    let farthest =
        |points: &[Vec3]| points.iter().map(|p| local.transform_point(*p).length()).fold(0.0, f64::max);
    if let Some(ball) = shape.as_ball() {
        local.translation.length() + ball.radius
    } else if let Some(block) = shape.as_cuboid() {
        // The corner farthest from the origin lies on the far side along every axis.
        (local.inverse_transform_point(Vec3::ZERO).abs() + block.half_extents).length()
    } else if let Some(capsule) = shape.as_capsule() {
        farthest(&[capsule.segment.a, capsule.segment.b]) + capsule.radius
    } else if let Some(cylinder) = shape.as_cylinder() {
        let o = local.inverse_transform_point(Vec3::ZERO).abs();
        (o.x.hypot(o.z) + cylinder.radius).hypot(o.y + cylinder.half_height)
    } else if let Some(cone) = shape.as_cone() {
        let o = local.inverse_transform_point(Vec3::ZERO);
        let rim = (o.x.hypot(o.z) + cone.radius).hypot(o.y + cone.half_height);
        rim.max(farthest(&[Vec3::Y * cone.half_height]))
    } else if let Some(hull) = shape.as_convex_polyhedron() {
        farthest(hull.points())
    } else if let Some(mesh) = shape.as_trimesh() {
        farthest(mesh.vertices())
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_the_distance_of_the_farthest_point() {
        let at = |x, y, z| Pose::from_translation(Vec3::new(x, y, z));
        let far = |g: &Geometry, pose: Pose| {
            let c = compile(g).unwrap();
            reach(&c.shape, &(pose * Pose::from_rotation(c.turn)))
        };
        assert_eq!(far(&Geometry::Sphere { radius: 0.5 }, at(3.0, 4.0, 0.0)), 5.5);
        assert_eq!(far(&Geometry::Box { half: Vec3::new(1.0, 2.0, 2.0) }, at(0.0, 0.0, 0.0)), 3.0);
        assert_eq!(far(&Geometry::Box { half: Vec3::ONE }, at(-1.0, 1.0, 0.0)), 3.0);
        let tube = Geometry::Cylinder { half_height: 3.0, radius: 4.0 };
        assert!((far(&tube, at(0.0, 0.0, 0.0)) - 5.0).abs() < 1e-14);
        // Farthest: the rim of the upper cap, 4 + 4 aside and 3 + 3 up.
        assert!((far(&tube, at(0.0, 4.0, 3.0)) - 10.0).abs() < 1e-14);
        let cone = Geometry::Cone { half_height: 3.0, radius: 4.0 };
        assert!((far(&cone, at(0.0, 0.0, 0.0)) - 5.0).abs() < 1e-14);
        // The tip, high above the origin, and the rim, far beside it.
        assert!((far(&cone, at(0.0, 0.0, 7.0)) - 10.0).abs() < 1e-14);
        assert!((far(&cone, at(4.0, 0.0, -3.0)) - 10.0).abs() < 1e-14);
        let pill = Geometry::Capsule { half_height: 3.0, radius: 1.0 };
        assert!((far(&pill, at(4.0, 0.0, 0.0)) - 6.0).abs() < 1e-14);
        assert_eq!(far(&Geometry::Plane, at(0.0, 0.0, 0.0)), f64::INFINITY);
    }

    #[test]
    fn open_surfaces_are_told_from_closed_ones() {
        let v = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let closed = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
        assert!(is_closed(&v, &closed));
        assert!(!is_closed(&v, &closed[1..]));
        // One face turned inside out.
        assert!(!is_closed(&v, &[[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 3, 2]]));
        // The same surface with its own three vertices per triangle.
        let soup: Vec<Vec3> = closed.iter().flatten().map(|k| v[*k as usize]).collect();
        let each: Vec<[u32; 3]> = (0..4).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        assert!(is_closed(&soup, &each));
    }

    #[test]
    fn hulls_of_any_size_keep_their_faces() {
        for scale in [1e-6, 1e-3, 1.0, 1e3] {
            let points: Vec<Vec3> = (0..8)
                .map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * scale)
                .collect();
            let c = compile(&Geometry::ConvexHull { points }).unwrap();
            assert_eq!(c.shape.as_convex_polyhedron().unwrap().faces().len(), 6);
        }
    }
}
