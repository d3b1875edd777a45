//! Narrow phase: which routine for which pair of solids.

use super::boxes::block_block;
use super::convex::{Convex, Form, convex_convex};
use super::mesh::{mesh_mesh, mesh_solid};
use super::plane::plane_solid;
use super::polytope::{MAX_EDGE_PAIRS, poly_poly};
use super::round::{capsule_capsule, solid_ball};
use super::solid::Solid;
use super::touch::{Found, Scratch};
use crate::coords::Pose;
use crate::linalg::Vec3;
use parry3d_f64::shape::{Segment, SharedShape};

/// Which of the two shapes is side 1 of the touches; normals are in the frame of side 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// The first.
    AsGiven,
    /// The second.
    Swapped,
}

/// Touches of two solids whose gap is below `prediction` go to `scratch.touches`, in no particular order. `size` is
/// the length by which tolerances are measured.
pub(super) fn touches(
    (one, shape1, pose1): (&Solid, &SharedShape, &Pose),
    (two, shape2, pose2): (&Solid, &SharedShape, &Pose),
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) -> Order {
    scratch.touches.clear();
    if rank(one) > rank(two) {
        ordered((two, shape2), (one, shape1), &pose2.inv_mul(pose1), size, prediction, scratch);
        Order::Swapped
    } else {
        ordered((one, shape1), (two, shape2), &pose1.inv_mul(pose2), size, prediction, scratch);
        Order::AsGiven
    }
}

/// Each routine wants its shapes in one order: planes, meshes, shapes with faces, cylinders and cones, capsules, balls.
fn rank(solid: &Solid) -> u8 {
    match solid {
        Solid::Plane => 0,
        Solid::Mesh { .. } => 1,
        Solid::Block { .. } | Solid::Hull { .. } => 2,
        Solid::Cylinder { .. } | Solid::Cone { .. } => 3,
        Solid::Capsule { .. } => 4,
        Solid::Ball { .. } => 5,
    }
}

fn ordered(
    (one, shape1): (&Solid, &SharedShape),
    (two, shape2): (&Solid, &SharedShape),
    rel: &Pose,
    size: f64,
    prediction: f64,
    scratch: &mut Scratch,
) {
    if let Some(a) = one.mesh() {
        return match two.mesh() {
            Some(b) => mesh_mesh(a, b, rel, size, prediction, scratch),
            None => mesh_solid(a, two, shape2, rel, size, prediction, scratch),
        };
    }
    match (one, two) {
        (Solid::Plane, _) => plane_solid(two, rel, prediction, scratch),
        (_, Solid::Ball { radius }) => solid_ball(one, *radius, rel, prediction, scratch),
        (Solid::Capsule { half_height: a, radius: r }, Solid::Capsule { half_height: b, radius: s }) => {
            capsule_capsule((*a, *r), (*b, *s), rel, prediction, scratch);
        }
        _ => {
            let found = match (one, two, one.polytope(), two.polytope()) {
                (Solid::Block { half: a, .. }, Solid::Block { half: b, .. }, Some(p), Some(q)) => {
                    block_block((*a, p), (*b, q), rel, prediction, scratch)
                }
                (.., Some(p), Some(q)) if p.edges.len() * q.edges.len() <= MAX_EDGE_PAIRS => {
                    poly_poly(&p, &q, rel, size, prediction, scratch)
                }
                _ => Found::Beside,
            };
            if found == Found::Beside {
                with_convex(one, shape1, |a| {
                    with_convex(two, shape2, |b| convex_convex(a, b, rel, size, prediction, scratch));
                });
            }
        }
    }
}

/// Hands a convex solid over as a core with a radius.
pub(super) fn with_convex(solid: &Solid, shape: &SharedShape, f: impl FnOnce(&Convex<'_>)) {
    let form = match solid {
        Solid::Block { surface, .. } | Solid::Hull { surface } => Form::Poly(surface.view()),
        Solid::Cylinder { half_height, radius, caps } => {
            Form::Cylinder { half_height: *half_height, radius: *radius, caps: caps.view() }
        }
        Solid::Cone { half_height, radius, base, .. } => {
            Form::Cone { half_height: *half_height, radius: *radius, base: base.view() }
        }
        Solid::Capsule { half_height, radius } => {
            let end = Vec3::new(0.0, 0.0, *half_height);
            let core = Segment::new(-end, end);
            return f(&Convex {
                core: &core,
                radius: *radius,
                form: Form::Segment(*half_height),
                front: None,
            });
        }
        Solid::Plane | Solid::Ball { .. } | Solid::Mesh { .. } => return,
    };
    let core = shape.as_support_map().expect("convex shapes have support points");
    f(&Convex { core, radius: 0.0, form, front: None });
}
