//! Signed distance of shapes with gradient and Hessian, for contact models that differentiate the gap.
//!
//! ```
//! use stiction::collide::SignedDistance;
//! use stiction::scene::{Body, Geometry, Scene};
//! use stiction::Vec3;
//!
//! let ball = Body::new("ball", Geometry::Sphere { radius: 0.5 });
//! let model = Scene { bodies: vec![ball], ..Scene::default() }.compile()?;
//! let at = SignedDistance::new(&model.shapes[0]).at(Vec3::new(0.0, 0.0, 2.0));
//! assert_eq!((at.d, at.n), (1.5, Vec3::Z));
//! // The level set is a sphere of radius 2 there.
//! assert_eq!(at.h.x_axis.x, 0.5);
//! # Ok::<(), stiction::SceneError>(())
//! ```
//!
//! Away from kinks d is as smooth as the shape: ‖n‖ = 1 and H n = 0. At kinks, where several points of the surface are
//! nearest, one of them is chosen: n is one of the limits, and H is that of the chosen side, without the jump.
//!
//! | where | chosen |
//! |---|---|
//! | inside a box or a hull, as near to several faces | the first of them (x, y, z for a box; positive sides) |
//! | inside a cylinder or cone, as near to side and end | the end; on the axis the side looks along +x |
//! | centre of a sphere, axis of a capsule | n = +z, +x, H = 0 |
//! | nearest point on an edge or corner, seen along the normal of a face beside it | the face: H has no 1/d there |
//! | on an edge or corner of a mesh (d = 0) | n = mean normal of the faces around it, weighted by angle, H = 0 |

use super::distance_mesh::MeshDistance;
use crate::coords::Pose;
use crate::linalg::{Mat3, Vec3};
use crate::model::ModelShape;
use parry3d_f64::shape::TriMesh;

/// Signed distance at a point with its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Distance to the surface [m]; negative inside.
    pub d: f64,
    /// Gradient ∇d: the unit vector away from the shape.
    pub n: Vec3,
    /// Hessian ∇²d [1/m]: curvature of the level set.
    pub h: Mat3,
}

impl Distance {
    fn flat(d: f64, n: Vec3) -> Distance {
        Distance { d, n, h: Mat3::ZERO }
    }

    /// Of a point at `x` from the nearest point of a core with a radius around it, where it can move along none of
    /// `fixed` without leaving that point: H = (I − n nᵀ − …)/‖x‖.
    pub(super) fn round(x: Vec3, radius: f64, fixed: Option<Vec3>, otherwise: Vec3) -> Distance {
        let r = x.length();
        if r == 0.0 {
            return Distance::flat(-radius, otherwise);
        }
        let n = x / r;
        let across = Mat3::IDENTITY - outer(n) - fixed.map_or(Mat3::ZERO, outer);
        Distance { d: r - radius, n, h: across * (1.0 / r) }
    }

    /// The same in other axes: n and H turned by a rotation.
    pub fn turned(self, rotation: Mat3) -> Distance {
        Distance { d: self.d, n: rotation * self.n, h: rotation * self.h * rotation.transpose() }
    }
}

/// x xᵀ.
pub(super) fn outer(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

/// The signed distance of one shape of a model, in the frame of the shape ([`ModelShape::local`]; cylinders and cones
/// stand along y there).
#[doc(alias = "SDF")]
pub struct SignedDistance {
    form: Form,
}

enum Form {
    /// Half-space below z = 0.
    Plane,
    Ball {
        radius: f64,
    },
    Block {
        half: Vec3,
    },
    /// Along z.
    Capsule {
        half_height: f64,
        radius: f64,
    },
    /// Turned about y.
    Revolved {
        profile: Vec<Side>,
    },
    Mesh(Box<MeshDistance>),
}

impl SignedDistance {
    /// For one shape. Hulls and meshes take time and memory in proportion to their faces.
    pub fn new(shape: &ModelShape) -> SignedDistance {
        let g = &shape.geometry;
        let form = if let Some(ball) = g.as_ball() {
            Form::Ball { radius: ball.radius }
        } else if let Some(block) = g.as_cuboid() {
            Form::Block { half: block.half_extents }
        } else if let Some(capsule) = g.as_capsule() {
            Form::Capsule { half_height: capsule.half_height(), radius: capsule.radius }
        } else if let Some(c) = g.as_cylinder() {
            let (r, h) = (c.radius, c.half_height);
            Form::Revolved { profile: sides(&[[0.0, -h], [r, -h], [r, h], [0.0, h]]) }
        } else if let Some(c) = g.as_cone() {
            let (r, h) = (c.radius, c.half_height);
            Form::Revolved { profile: sides(&[[0.0, -h], [r, -h], [0.0, h]]) }
        } else if let Some(hull) = g.as_convex_polyhedron() {
            let (vertices, triangles) = hull.to_trimesh();
            let mesh = TriMesh::new(vertices, triangles).expect("a hull has faces");
            Form::Mesh(Box::new(MeshDistance::new(mesh)))
        } else if let Some(mesh) = g.as_trimesh() {
            Form::Mesh(Box::new(MeshDistance::new(mesh.clone())))
        } else {
            Form::Plane
        };
        SignedDistance { form }
    }

    /// At a point in the frame of the shape.
    pub fn at(&self, x: Vec3) -> Distance {
        match &self.form {
            Form::Plane => Distance::flat(x.z, Vec3::Z),
            Form::Ball { radius } => Distance::round(x, *radius, None, Vec3::Z),
            Form::Block { half } => block(x, *half),
            Form::Capsule { half_height, radius } => {
                let z = x.z.clamp(-half_height, *half_height);
                let beside = (z == x.z).then_some(Vec3::Z);
                Distance::round(x - Vec3::Z * z, *radius, beside, Vec3::X)
            }
            Form::Revolved { profile } => revolved(profile, x),
            Form::Mesh(mesh) => mesh.at(x),
        }
    }

    /// At a point in world axes, of the shape at this pose; n and H in world axes.
    pub fn at_world(&self, pose: &Pose, x: Vec3) -> Distance {
        self.at(pose.inverse_transform_point(x)).turned(Mat3::from_quat(pose.rotation))
    }
}

/// Box about the origin.
fn block(x: Vec3, half: Vec3) -> Distance {
    let sign = Vec3::from_array(x.to_array().map(|c| if c < 0.0 { -1.0 } else { 1.0 }));
    let q = x.abs() - half;
    // Beyond at most one face: that one, or inside the nearest of them.
    let axis = (0..3).fold(0, |best, k| if q[k] > q[best] { k } else { best });
    if (0..3).all(|k| k == axis || q[k] <= 0.0) {
        let mut n = Vec3::ZERO;
        n[axis] = sign[axis];
        return Distance::flat(q[axis], n);
    }
    // Free axes are those along which the point stands beyond an edge or corner.
    let beyond = q.max(Vec3::ZERO);
    let d = beyond.length();
    let free = Mat3::from_diagonal(Vec3::from_array(q.to_array().map(|c| f64::from(u8::from(c > 0.0)))));
    let n = beyond * sign / d;
    Distance { d, n, h: (free - outer(n)) * (1.0 / d) }
}

/// A side of a convex profile in the half plane (r ≥ 0, y): from one corner to the next, counter-clockwise.
pub(super) struct Side {
    from: [f64; 2],
    along: [f64; 2],
    length: f64,
    normal: [f64; 2],
}

/// The sides between corners, from the axis below to the axis above.
pub(super) fn sides(corners: &[[f64; 2]]) -> Vec<Side> {
    corners
        .windows(2)
        .map(|w| {
            let (dr, dy) = (w[1][0] - w[0][0], w[1][1] - w[0][1]);
            let length = dr.hypot(dy);
            let along = [dr / length, dy / length];
            Side { from: w[0], along, length, normal: [along[1], -along[0]] }
        })
        .collect()
}

/// A profile turned about y. With e the radial direction, τ across n within the half plane and θ around the axis,
/// H = κ τ τᵀ + (n·e/r) θ θᵀ, where κ is the curvature of the level line in the half plane.
pub(super) fn revolved(profile: &[Side], x: Vec3) -> Distance {
    let r = x.x.hypot(x.z);
    let e = if r > 0.0 { Vec3::new(x.x / r, 0.0, x.z / r) } else { Vec3::X };
    let theta = e.cross(Vec3::Y);
    let height = |s: &Side| (r - s.from[0]) * s.normal[0] + (x.y - s.from[1]) * s.normal[1];
    let flat = |s: &Side, d: f64| {
        let around = if r > 0.0 { s.normal[0] / r } else { 0.0 };
        Distance { d, n: e * s.normal[0] + Vec3::Y * s.normal[1], h: outer(theta) * around }
    };

    // Inside, or beyond one side only: that side. Ends come before what lies between them.
    let ends = |s: &&Side| s.normal[0] == 0.0;
    let ordered = || profile.iter().filter(ends).chain(profile.iter().filter(|s| !ends(s)));
    let top = ordered().reduce(|best, s| if height(s) > height(best) { s } else { best });
    let top = top.expect("a profile has sides");
    if height(top) <= 0.0 {
        return flat(top, height(top));
    }
    let along = |s: &Side| (r - s.from[0]) * s.along[0] + (x.y - s.from[1]) * s.along[1];
    if let Some(s) = profile.iter().find(|s| height(s) > 0.0 && (0.0..=s.length).contains(&along(s))) {
        return flat(s, height(s));
    }

    // Otherwise the nearest corner: a rim, or a tip on the axis.
    let corner = |s: &Side| {
        let [cr, cy] = [s.from[0] + s.along[0] * s.length, s.from[1] + s.along[1] * s.length];
        (cr, cy, (r - cr).hypot(x.y - cy))
    };
    let nearest = profile.iter().map(corner).reduce(|best, c| if c.2 < best.2 { c } else { best });
    let (cr, cy, d) = nearest.expect("a profile has corners");
    let (nr, ny) = ((r - cr) / d, (x.y - cy) / d);
    let tau = e * -ny + Vec3::Y * nr;
    // Over a tip, n·e/r = 1/d also on the axis itself.
    let around = if cr == 0.0 { 1.0 / d } else { nr / r };
    Distance { d, n: e * nr + Vec3::Y * ny, h: outer(tau) * (1.0 / d) + outer(theta) * around }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;
    use crate::scene::{Body, Geometry, Scene};

    fn field(geometry: Geometry) -> SignedDistance {
        let scene = Scene { bodies: vec![Body::new("it", geometry).fixed()], ..Scene::default() };
        SignedDistance::new(&scene.compile().unwrap().shapes[0])
    }

    fn corners() -> Vec<Vec3> {
        (0..8).map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5).collect()
    }

    /// Closed concave mesh: an L of three unit cubes.
    fn ell() -> Geometry {
        let profile = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let vertices =
            [0.0, 1.0].iter().flat_map(|z| profile.map(|[x, y]| Vec3::new(x - 0.8, y - 0.8, *z - 0.5)));
        let top = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
        let mut triangles: Vec<[u32; 3]> = top.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        triangles.extend(top.iter().map(|t| t.map(|k| k + 6)));
        for k in 0..6 {
            let l = (k + 1) % 6;
            triangles.extend([[k, l, l + 6], [k, l + 6, k + 6]]);
        }
        Geometry::TriMesh { vertices: vertices.collect(), triangles }
    }

    fn all() -> Vec<(&'static str, SignedDistance)> {
        vec![
            ("plane", field(Geometry::Plane)),
            ("sphere", field(Geometry::Sphere { radius: 0.7 })),
            ("box", field(Geometry::Box { half: Vec3::new(0.4, 0.7, 0.9) })),
            ("capsule", field(Geometry::Capsule { half_height: 0.6, radius: 0.4 })),
            ("cylinder", field(Geometry::Cylinder { half_height: 0.6, radius: 0.5 })),
            ("cone", field(Geometry::Cone { half_height: 0.6, radius: 0.5 })),
            ("hull", field(Geometry::ConvexHull { points: corners() })),
            ("mesh", field(ell())),
        ]
    }

    /// Gradient and Hessian against central differences of the level below, and the eikonal equation, at random points.
    /// Differences that straddle a kink disagree with those of half the step, and are left out; few may be.
    #[test]
    fn derivatives_are_those_of_the_distance() {
        let mut rng = Rng::new(11);
        for (name, field) in all() {
            let mut smooth = 0;
            for _ in 0..3000 {
                let x = rng.normal3();
                let at = field.at(x);
                assert!((at.n.length() - 1.0).abs() < 1e-12, "{name} at {x}: {at:?}");
                assert!((at.h * at.n).length() < 1e-12 * (1.0 + 1.0 / at.d.abs()), "{name} at {x}: {at:?}");
                let eps = 1e-5;
                let side = |k: usize, s: f64| {
                    let mut y = x;
                    y[k] += s * eps;
                    field.at(y)
                };
                let probes: Vec<[Distance; 2]> = (0..3).map(|k| [side(k, 1.0), side(k, -1.0)]).collect();
                // Across a kink the normal jumps, next to an edge or axis it turns too fast for differences.
                let turn = |p: &Distance| (p.n - at.n).length();
                if probes
                    .iter()
                    .flatten()
                    .any(|p| turn(p) > 1e-3 || (p.h - at.h).to_cols_array().iter().any(|c| c.abs() > 1e-2))
                {
                    continue;
                }
                smooth += 1;
                for (k, [up, down]) in probes.iter().enumerate() {
                    let n = (up.d - down.d) / (2.0 * eps);
                    assert!((n - at.n[k]).abs() < 1e-7, "{name} at {x}: slope {n}, n = {}", at.n);
                    let h = (up.n - down.n) / (2.0 * eps);
                    assert!((h - at.h.col(k)).length() < 1e-4, "{name} at {x}: {h} against {}", at.h.col(k));
                }
            }
            assert!(smooth > 2800, "{name}: {smooth} of 3000 points were tested");
        }
    }

    /// Moving by −d n leads to the surface, and no sampled point of the surface is nearer than |d|.
    #[test]
    fn the_distance_is_that_of_the_nearest_point() {
        let mut rng = Rng::new(12);
        for (name, field) in all() {
            let points: Vec<Vec3> = (0..400)
                .map(|_| {
                    let x = rng.normal3();
                    let at = field.at(x);
                    let foot = x - at.n * at.d;
                    assert!(field.at(foot).d.abs() < 1e-12, "{name}: {x} leads to {foot}");
                    foot
                })
                .collect();
            for _ in 0..200 {
                let x = rng.normal3();
                let d = field.at(x).d.abs();
                assert!(points.iter().all(|p| p.distance(x) > d - 1e-12), "{name} at {x}");
            }
        }
    }

    /// A box written as eight points or as triangles has the distance of a box, inside and outside, with its Hessian.
    #[test]
    fn a_box_as_hull_or_mesh_is_a_box() {
        let exact = field(Geometry::Box { half: Vec3::splat(0.5) });
        let hull = field(Geometry::ConvexHull { points: corners() });
        let mut rng = Rng::new(13);
        for _ in 0..2000 {
            let x = rng.normal3() * 0.8;
            let (want, got) = (exact.at(x), hull.at(x));
            assert!((want.d - got.d).abs() < 1e-14 && (want.n - got.n).length() < 1e-12, "{x}: {got:?}");
            assert!(
                (want.h - got.h).to_cols_array().iter().all(|c| c.abs() < 1e-9 * (1.0 + 1.0 / want.d.abs()))
            );
        }
        // Over the diagonal of a face, where two triangles meet, the level set is flat.
        let at = hull.at(Vec3::new(0.125, 0.125, 0.75));
        assert_eq!((at.d, at.n, at.h), (0.25, Vec3::Z, Mat3::ZERO));
    }

    /// Inside and outside of a concave mesh by the closed form of the L.
    #[test]
    fn the_sign_is_right_around_concave_edges() {
        let field = field(ell());
        let mut rng = Rng::new(14);
        for _ in 0..5000 {
            let x = Vec3::new(rng.range(-1.5, 2.0), rng.range(-1.5, 2.0), rng.range(-1.0, 1.0));
            let p = x + Vec3::new(0.8, 0.8, 0.5);
            let within = |lo: f64, hi: f64, c: f64| lo < c && c < hi;
            let inside = within(0.0, 1.0, p.z)
                && (within(0.0, 2.0, p.x) && within(0.0, 1.0, p.y)
                    || within(0.0, 1.0, p.x) && within(0.0, 2.0, p.y));
            assert_eq!(field.at(x).d < 0.0, inside, "{x}");
        }
    }

    #[test]
    fn where_the_distance_has_no_gradient_a_unit_vector_stands() {
        for (name, field) in all() {
            for x in [Vec3::ZERO, Vec3::new(0.0, 0.3, 0.0), Vec3::new(0.0, 0.0, 0.2), Vec3::splat(0.5)] {
                let at = field.at(x);
                assert!((at.n.length() - 1.0).abs() < 1e-12 && at.h.is_finite(), "{name} at {x}: {at:?}");
            }
        }
    }
}
