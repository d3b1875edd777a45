//! Half-space against everything: each shape has closed-form lowest points.

use super::solid::{Solid, feature};
use super::touch::{Scratch, Touch};
use crate::coords::Pose;
use crate::linalg::Vec3;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4};

/// Points around the rim of a cylinder that stands on a plane.
pub(super) const RIM: usize = 8;
/// Below this tilt (sine) the points fixed around the rim stand for all of it: the true lowest point lies at most
/// 0.08 · tilt · radius lower, and where it is along the rim would be noise.
const LEVEL: f64 = 1e-5;

/// Point `k` of the rim of a cylinder (axis y), in its frame.
pub(super) fn rim_point(k: usize, radius: f64, y: f64) -> Vec3 {
    let (s, c) = (FRAC_PI_4 * k as f64).sin_cos();
    Vec3::new(radius * c, y, radius * s)
}

/// Touches of a plane (shape 1, z = 0) with a solid at `rel` in the plane's frame, where the gap is below
/// `prediction`. Polyhedra and meshes give all such corners, so that the support polygon is complete.
pub(super) fn plane_solid(solid: &Solid, rel: &Pose, prediction: f64, scratch: &mut Scratch) {
    let mut touch = |p: Vec3, radius: f64, name: u64| {
        let at = rel.transform_point(p);
        let gap = at.z - radius;
        if gap <= prediction {
            let p2 =
                if radius == 0.0 { p } else { p - rel.rotation.conjugate() * Vec3::new(0.0, 0.0, radius) };
            let p1 = Vec3::new(at.x, at.y, 0.0);
            scratch.touches.push(Touch { p1, p2, n: -Vec3::Z, gap, f1: feature::face(0), f2: name });
        }
    };
    match solid {
        Solid::Plane => {}
        Solid::Ball { radius } => touch(Vec3::ZERO, *radius, feature::WHOLE),
        Solid::Block { .. } | Solid::Hull { .. } => {
            let poly = solid.polytope().expect("it has corners");
            for (k, v) in poly.vertices.iter().enumerate() {
                touch(*v, 0.0, feature::vertex(k as u32));
            }
        }
        Solid::Capsule { half_height, radius } => {
            touch(Vec3::new(0.0, 0.0, -half_height), *radius, feature::vertex(0));
            touch(Vec3::new(0.0, 0.0, *half_height), *radius, feature::vertex(1));
        }
        Solid::Cylinder { half_height, radius, .. } => {
            // The plane's normal seen by the cylinder.
            let up = rel.rotation.conjugate() * Vec3::Z;
            let tilt = up.x.hypot(up.z);
            if up.y.abs() > FRAC_1_SQRT_2 {
                let lower = -half_height.copysign(up.y);
                for k in 0..RIM {
                    touch(rim_point(k, *radius, lower), 0.0, feature::vertex(rim_name(k, lower)));
                }
            }
            if tilt > LEVEL {
                let (x, z) = (-up.x / tilt * radius, -up.z / tilt * radius);
                touch(Vec3::new(x, -half_height, z), 0.0, feature::edge(0, 1));
                touch(Vec3::new(x, *half_height, z), 0.0, feature::edge(2, 3));
            }
        }
        Solid::Cone { half_height, radius, .. } => {
            let up = rel.rotation.conjugate() * Vec3::Z;
            let tilt = up.x.hypot(up.z);
            touch(Vec3::Y * *half_height, 0.0, feature::vertex(RIM as u32));
            if up.y > FRAC_1_SQRT_2 {
                for k in 0..RIM {
                    touch(rim_point(k, *radius, -half_height), 0.0, feature::vertex(k as u32));
                }
            }
            if tilt > LEVEL {
                let rim = Vec3::new(-up.x / tilt * radius, -half_height, -up.z / tilt * radius);
                touch(rim, 0.0, feature::edge(0, 1));
            }
        }
        Solid::Mesh { shape, .. } => {
            let mesh = shape.as_trimesh().expect("a mesh");
            for (k, v) in mesh.vertices().iter().enumerate() {
                touch(*v, 0.0, feature::vertex(k as u32));
            }
        }
    }
}

/// Number of a rim point: the lower cap (negative y) first.
fn rim_name(k: usize, y: f64) -> u32 {
    (if y < 0.0 { k } else { RIM + k }) as u32
}
