//! Mass, centre of mass and inertia: of shapes by closed forms, of compounds by Steiner's theorem, and the
//! principal axes of any of them.

use crate::coords::Pose;
use crate::linalg::{Mat3, Quat, Vec3};
use crate::scene::Geometry;
use std::f64::consts::PI;

/// Mass [kg], centre of mass [m] and the inertia about it [kg·m²], in the axes of one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MassProps {
    pub mass: f64,
    pub com: Vec3,
    pub inertia: Mat3,
}

impl MassProps {
    pub const ZERO: MassProps = MassProps { mass: 0.0, com: Vec3::ZERO, inertia: Mat3::ZERO };

    /// Of a geometry in its own frame at unit density; zero for a plane and for a height field without a base.
    pub fn of(geometry: &Geometry) -> MassProps {
        match geometry {
            Geometry::Plane => MassProps::ZERO,
            Geometry::Sphere { radius: r } => {
                let mass = 4.0 / 3.0 * PI * r.powi(3);
                MassProps::centred(mass, Vec3::splat(0.4 * mass * r * r))
            }
            Geometry::Box { half } => {
                let mass = 8.0 * half.x * half.y * half.z;
                let s = *half * *half;
                MassProps::centred(mass, Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0))
            }
            Geometry::Cylinder { half_height, radius: r } => {
                let height = 2.0 * half_height;
                let mass = PI * r * r * height;
                let across = mass * (3.0 * r * r + height * height) / 12.0;
                MassProps::centred(mass, Vec3::new(across, across, 0.5 * mass * r * r))
            }
            Geometry::Capsule { half_height, radius: r } => {
                let height = 2.0 * half_height;
                let (tube, ball) = (PI * r * r * height, 4.0 / 3.0 * PI * r.powi(3));
                // Each half ball has its centre of mass 3r/8 beyond the end of the tube.
                let across = tube * (3.0 * r * r + height * height) / 12.0
                    + ball * (0.4 * r * r + half_height * half_height + 0.75 * half_height * r);
                let along = 0.5 * tube * r * r + 0.4 * ball * r * r;
                MassProps::centred(tube + ball, Vec3::new(across, across, along))
            }
            Geometry::Cone { half_height, radius: r } => {
                let height = 2.0 * half_height;
                let mass = PI * r * r * height / 3.0;
                // A quarter of the height above the base.
                let across = mass * (0.15 * r * r + 0.0375 * height * height);
                let com = Vec3::new(0.0, 0.0, -0.5 * half_height);
                let inertia = Mat3::from_diagonal(Vec3::new(across, across, 0.3 * mass * r * r));
                MassProps { mass, com, inertia }
            }
            Geometry::ConvexHull { points } => match super::geometry::hull_surface(points) {
                Some((vertices, triangles)) => MassProps::of_surface(&vertices, &triangles),
                None => MassProps::ZERO,
            },
            Geometry::TriMesh { vertices, triangles } => MassProps::of_surface(vertices, triangles),
            Geometry::Heightfield(field) if field.base.is_some() => {
                let (vertices, triangles) = field.triangles();
                MassProps::of_surface(&vertices, &triangles)
            }
            Geometry::Heightfield(_) => MassProps::ZERO,
        }
    }

    fn centred(mass: f64, moments: Vec3) -> MassProps {
        MassProps { mass, com: Vec3::ZERO, inertia: Mat3::from_diagonal(moments) }
    }

    /// Of the volume inside a closed surface at unit density: a sum over signed tetrahedra, whose second moments
    /// are ∫ x xᵀ = det/120 · (a aᵀ + b bᵀ + c cᵀ + s sᵀ), s = a + b + c. Negative where the faces look inwards.
    pub fn of_surface(vertices: &[Vec3], triangles: &[[u32; 3]]) -> MassProps {
        if vertices.is_empty() {
            return MassProps::ZERO;
        }
        // The tip of all tetrahedra: near the mesh, so that nothing cancels.
        let tip = vertices.iter().sum::<Vec3>() / vertices.len() as f64;
        let outer = |x: Vec3| Mat3::from_cols(x * x.x, x * x.y, x * x.z);
        let (mut volume, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
        for t in triangles {
            let [a, b, c] = t.map(|k| vertices[k as usize] - tip);
            let det = a.dot(b.cross(c));
            let s = a + b + c;
            volume += det / 6.0;
            first += s * (det / 24.0);
            second += (outer(a) + outer(b) + outer(c) + outer(s)) * (det / 120.0);
        }
        if volume == 0.0 {
            return MassProps::ZERO;
        }
        let com = first / volume;
        let second = second - outer(com) * volume;
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        MassProps { mass: volume, com: tip + com, inertia: Mat3::from_diagonal(Vec3::splat(trace)) - second }
    }

    /// The same body seen from a frame in which its own frame stands at `pose`.
    pub fn transformed(&self, pose: &Pose) -> MassProps {
        let inertia = if pose.rotation == Quat::IDENTITY {
            self.inertia
        } else {
            let r = Mat3::from_quat(pose.rotation);
            r * self.inertia * r.transpose()
        };
        MassProps { mass: self.mass, com: pose.transform_point(self.com), inertia }
    }

    /// Of several parts together; where they overlap, the matter counts twice.
    pub fn sum(parts: &[MassProps]) -> MassProps {
        if let [one] = parts {
            return *one;
        }
        let mass: f64 = parts.iter().map(|p| p.mass).sum();
        if mass == 0.0 {
            return MassProps::ZERO;
        }
        let com = parts.iter().map(|p| p.com * p.mass).sum::<Vec3>() / mass;
        let mut inertia = Mat3::ZERO;
        for p in parts {
            // Steiner: I + m (|d|² 1 − d dᵀ).
            let d = p.com - com;
            let shift = Mat3::from_diagonal(Vec3::splat(d.length_squared()))
                - Mat3::from_cols(d * d.x, d * d.y, d * d.z);
            inertia += p.inertia + shift * p.mass;
        }
        MassProps { mass, com, inertia }
    }

    /// With the density times `factor`.
    pub fn scaled(&self, factor: f64) -> MassProps {
        MassProps { mass: self.mass * factor, com: self.com, inertia: self.inertia * factor }
    }
}

/// Products of inertia below this share of the largest moment are rounding: the axes are principal already.
const DIAGONAL: f64 = 1e-14;
/// Moments that agree to this share are one number, so that a symmetric body moves as one.
const EQUAL: f64 = 1e-12;

/// Principal moments and the rotation from principal axes to the given ones, of all choices the nearest to none.
pub(super) fn principal(inertia: Mat3) -> (Vec3, Quat) {
    let scale = inertia.to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let off = inertia.y_axis.x.abs().max(inertia.z_axis.x.abs()).max(inertia.z_axis.y.abs());
    let (moments, axes) = if off <= DIAGONAL * scale {
        (Vec3::new(inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z), Mat3::IDENTITY)
    } else {
        nearest_axes(jacobi(inertia))
    };
    let moments = equalise(moments);
    if moments.x == moments.y && moments.y == moments.z {
        return (moments, Quat::IDENTITY);
    }
    let rotation = if axes == Mat3::IDENTITY { Quat::IDENTITY } else { Quat::from_mat3(&axes).normalize() };
    (moments, rotation)
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix by cyclic Jacobi rotations.
fn jacobi(a: Mat3) -> (Vec3, Mat3) {
    let mut a = a.to_cols_array_2d();
    let mut v = Mat3::IDENTITY.to_cols_array_2d();
    // Convergence is quadratic: six sweeps reach rounding from any start, the rest is margin.
    for _ in 0..16 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            // tan of the angle that makes a[p][q] vanish, the smaller root.
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let apq = a[p][q];
            a[p][p] -= t * apq;
            a[q][q] += t * apq;
            a[p][q] = 0.0;
            a[q][p] = 0.0;
            let r = 3 - p - q;
            let (arp, arq) = (a[r][p], a[r][q]);
            a[r][p] = c * arp - s * arq;
            a[p][r] = a[r][p];
            a[r][q] = s * arp + c * arq;
            a[q][r] = a[r][q];
            for k in 0..3 {
                let (vp, vq) = (v[p][k], v[q][k]);
                v[p][k] = c * vp - s * vq;
                v[q][k] = s * vp + c * vq;
            }
        }
    }
    (Vec3::new(a[0][0], a[1][1], a[2][2]), Mat3::from_cols_array_2d(&v))
}

/// The order and signs of the eigenvectors that make a proper rotation nearest to the identity.
fn nearest_axes((values, vectors): (Vec3, Mat3)) -> (Vec3, Mat3) {
    let mut best = (f64::NEG_INFINITY, [0, 1, 2]);
    for p in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let score: f64 = (0..3).map(|k| vectors.col(p[k])[k].abs()).sum();
        if score > best.0 {
            best = (score, p);
        }
    }
    let p = best.1;
    let mut cols = [0, 1, 2].map(|k| vectors.col(p[k]) * 1.0_f64.copysign(vectors.col(p[k])[k]));
    if cols[0].cross(cols[1]).dot(cols[2]) < 0.0 {
        let flip = (0..3).min_by(|&i, &j| cols[i][i].total_cmp(&cols[j][j])).expect("three axes");
        cols[flip] = -cols[flip];
    }
    (Vec3::new(values[p[0]], values[p[1]], values[p[2]]), Mat3::from_cols(cols[0], cols[1], cols[2]))
}

fn equalise(m: Vec3) -> Vec3 {
    let near = |a: f64, b: f64| (a - b).abs() <= EQUAL * a.abs().max(b.abs());
    let mut m = m;
    match (near(m.x, m.y), near(m.y, m.z), near(m.z, m.x)) {
        (true, true, _) | (true, _, true) | (_, true, true) => m = Vec3::splat((m.x + m.y + m.z) / 3.0),
        (true, ..) => (m.x, m.y) = (0.5 * (m.x + m.y), 0.5 * (m.x + m.y)),
        (_, true, _) => (m.y, m.z) = (0.5 * (m.y + m.z), 0.5 * (m.y + m.z)),
        (.., true) => (m.z, m.x) = (0.5 * (m.z + m.x), 0.5 * (m.z + m.x)),
        _ => {}
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::rotation;

    fn close(a: Mat3, b: Mat3, tolerance: f64) -> bool {
        a.to_cols_array().iter().zip(b.to_cols_array()).all(|(x, y)| (x - y).abs() <= tolerance)
    }

    fn box_surface(half: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let vertices = (0..8)
            .map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - Vec3::ONE)
            .map(|s| s * half)
            .collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        (vertices, triangles)
    }

    #[test]
    fn closed_forms_of_the_primitives() {
        let sphere = MassProps::of(&Geometry::Sphere { radius: 2.0 });
        assert!((sphere.mass - 32.0 / 3.0 * PI).abs() < 1e-12);
        assert!((sphere.inertia.x_axis.x - 0.4 * sphere.mass * 4.0).abs() < 1e-12);

        let block = MassProps::of(&Geometry::Box { half: Vec3::new(0.5, 1.0, 1.5) });
        assert!((block.mass - 6.0).abs() < 1e-14);
        // m (b² + c²)/12 with full sizes 1, 2, 3.
        assert!((block.inertia.x_axis.x - 6.0 * 13.0 / 12.0).abs() < 1e-13);

        // A capsule is the sum of a tube and two half balls; without a tube it is a ball.
        let ball = MassProps::of(&Geometry::Capsule { half_height: 0.0, radius: 2.0 });
        assert!(close(ball.inertia, sphere.inertia, 1e-12) && (ball.mass - sphere.mass).abs() < 1e-12);
        // Half ball about its own centre of mass: 83/320 m r² across; Steiner to the middle of the capsule.
        let (hh, r) = (0.7, 0.3);
        let capsule = MassProps::of(&Geometry::Capsule { half_height: hh, radius: r });
        let tube = MassProps::of(&Geometry::Cylinder { half_height: hh, radius: r });
        let half = 2.0 / 3.0 * PI * r * r * r;
        let across = tube.inertia.x_axis.x
            + 2.0 * half * (83.0 / 320.0 * r * r + (hh + 3.0 / 8.0 * r) * (hh + 3.0 / 8.0 * r));
        assert!((capsule.inertia.x_axis.x - across).abs() < 1e-14);
        assert!((capsule.mass - tube.mass - 2.0 * half).abs() < 1e-15);
    }

    #[test]
    fn a_mesh_and_a_hull_of_a_box_weigh_like_the_box_wherever_they_stand() {
        let half = Vec3::new(0.5, 1.0, 1.5);
        let want = MassProps::of(&Geometry::Box { half });
        let (mut vertices, triangles) = box_surface(half);
        let offset = Vec3::new(30.0, -20.0, 10.0);
        for v in &mut vertices {
            *v += offset;
        }
        let hull = MassProps::of(&Geometry::ConvexHull { points: vertices.clone() });
        let mesh = MassProps::of(&Geometry::TriMesh { vertices, triangles });
        for got in [mesh, hull] {
            assert!((got.mass - want.mass).abs() < 1e-11 && (got.com - offset).length() < 1e-11);
            assert!(close(got.inertia, want.inertia, 1e-10));
        }
    }

    #[test]
    fn two_half_boxes_make_the_box() {
        let half = MassProps::of(&Geometry::Box { half: Vec3::new(0.5, 1.0, 1.5) });
        let part = |x: f64| half.transformed(&Pose::from_translation(Vec3::new(x, 0.0, 0.0)));
        let both = MassProps::sum(&[part(-0.5), part(0.5)]);
        let want = MassProps::of(&Geometry::Box { half: Vec3::new(1.0, 1.0, 1.5) });
        assert!((both.mass - want.mass).abs() < 1e-14 && both.com.length() < 1e-15);
        assert!(close(both.inertia, want.inertia, 1e-13));
    }

    #[test]
    fn principal_axes_rebuild_the_inertia_and_stay_near_the_body_axes() {
        for k in 0..200 {
            let a = f64::from(k);
            let turn = rotation::exp(Vec3::new(a.sin(), (1.3 * a).cos(), (0.7 * a).sin()) * 1.5);
            let moments = Vec3::new(1.0 + a.cos().abs(), 2.0, 2.0 + 1e-9 * a);
            let r = Mat3::from_quat(turn);
            let inertia = r * Mat3::from_diagonal(moments) * r.transpose();
            let (m, q) = principal(inertia);
            let axes = Mat3::from_quat(q);
            assert!(close(axes * Mat3::from_diagonal(m) * axes.transpose(), inertia, 1e-14));
            assert!(q.w > 0.0 && (q.length() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_small_turn_of_the_axes_is_found_as_a_small_turn() {
        let turn = rotation::exp(Vec3::new(1e-3, -2e-3, 1e-3));
        let r = Mat3::from_quat(turn);
        let (m, q) = principal(r * Mat3::from_diagonal(Vec3::new(3.0, 1.0, 2.0)) * r.transpose());
        assert!((m - Vec3::new(3.0, 1.0, 2.0)).length() < 1e-14);
        assert!(q.dot(turn) > 1.0 - 1e-14);
    }

    #[test]
    fn diagonal_inertia_keeps_its_axes_and_equal_moments_are_one_number() {
        let (m, q) = principal(Mat3::from_diagonal(Vec3::new(3.0, 1.0, 2.0)));
        assert_eq!((m, q), (Vec3::new(3.0, 1.0, 2.0), Quat::IDENTITY));
        let (m, _) = principal(Mat3::from_diagonal(Vec3::new(1.0, 2.0, 1.0 + 1e-13)));
        assert_eq!(m.x, m.z);
        let (m, q) = principal(Mat3::from_diagonal(Vec3::new(1.0, 1.0 + 4e-13, 1.0 - 4e-13)));
        assert_eq!((m, q), (Vec3::splat(m.x), Quat::IDENTITY));
    }
}
