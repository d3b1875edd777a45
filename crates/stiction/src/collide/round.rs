//! Spheres (and points) against convex shapes, and capsule against capsule, in closed form.

use super::distance::revolved;
use super::solid::{Poly, Solid, feature};
use super::touch::{Scratch, Touch};
use crate::coords::Pose;
use crate::linalg::Vec3;

/// The point of a surface nearest to a centre.
pub(super) struct Nearest {
    /// The point.
    pub p: Vec3,
    /// Outward normal, from the surface to a centre outside.
    pub n: Vec3,
    /// Distance of the centre; negative inside.
    pub distance: f64,
}

/// Touches of a solid (shape 1) with a sphere at `rel` in its frame.
pub(super) fn solid_ball(solid: &Solid, radius: f64, rel: &Pose, prediction: f64, scratch: &mut Scratch) {
    let c = rel.translation;
    let nearest = match solid {
        Solid::Ball { radius } => nearest_on_axis(c, Vec3::ZERO, *radius),
        Solid::Capsule { half_height, radius } => {
            nearest_on_axis(c, Vec3::new(0.0, 0.0, c.z.clamp(-half_height, *half_height)), *radius)
        }
        Solid::Block { half, .. } => nearest_on_block(c, *half),
        Solid::Cylinder { half_height, radius, .. } => nearest_on_cylinder(c, *half_height, *radius),
        Solid::Cone { profile, .. } => {
            let at = revolved(profile, c);
            Nearest { p: c - at.n * at.d, n: at.n, distance: at.d }
        }
        Solid::Hull { surface } => nearest_on_polytope(c, &surface.view()),
        Solid::Plane | Solid::Mesh { .. } => return,
    };
    push_ball(&nearest, radius, rel, prediction, feature::WHOLE, scratch);
}

/// Adds the touch of a sphere at `rel` with the surface point nearest to its centre.
pub(super) fn push_ball(
    nearest: &Nearest,
    radius: f64,
    rel: &Pose,
    prediction: f64,
    name: u64,
    scratch: &mut Scratch,
) {
    let gap = nearest.distance - radius;
    if gap <= prediction {
        let p2 = rel.rotation.conjugate() * (nearest.n * -radius);
        scratch.touches.push(Touch { p1: nearest.p, p2, n: -nearest.n, gap, f1: name, f2: feature::WHOLE });
    }
}

/// On a sphere of a radius about a point of the axis.
fn nearest_on_axis(c: Vec3, axis: Vec3, radius: f64) -> Nearest {
    let d = c - axis;
    let length = d.length();
    // Centres that coincide have no direction: any will part them.
    let n = if length > 0.0 { d / length } else { Vec3::X };
    Nearest { p: axis + n * radius, n, distance: length - radius }
}

fn nearest_on_block(c: Vec3, half: Vec3) -> Nearest {
    let inside = c.clamp(-half, half);
    let d = c - inside;
    let out = [0, 1, 2].map(|k| d[k] != 0.0);
    match out.iter().filter(|o| **o).count() {
        0 => {
            // Inside: out through the nearest face.
            let depth = half - c.abs();
            let k = if depth.x <= depth.y && depth.x <= depth.z {
                0
            } else if depth.y <= depth.z {
                1
            } else {
                2
            };
            let mut n = Vec3::ZERO;
            n[k] = 1.0_f64.copysign(c[k]);
            let mut p = c;
            p[k] = half[k].copysign(c[k]);
            Nearest { p, n, distance: -depth[k] }
        }
        1 => {
            // Over a face the normal is exact, however small the distance.
            let n = d.signum() * Vec3::from_array(out.map(|o| if o { 1.0 } else { 0.0 }));
            Nearest { p: inside, n, distance: d.dot(n) }
        }
        _ => {
            let distance = d.length();
            Nearest { p: inside, n: d / distance, distance }
        }
    }
}

fn nearest_on_cylinder(c: Vec3, half_height: f64, radius: f64) -> Nearest {
    let rho = c.x.hypot(c.z);
    let side = if rho > 0.0 { Vec3::new(c.x / rho, 0.0, c.z / rho) } else { Vec3::X };
    let cap = Vec3::new(0.0, 1.0_f64.copysign(c.y), 0.0);
    let (mut over_side, mut over_cap) = (rho - radius, c.y.abs() - half_height);
    if crate::mutant::on("cylinder-face") && over_side <= 0.0 && over_cap <= 0.0 {
        (over_side, over_cap) = (over_cap, over_side);
    }
    if over_side <= 0.0 && over_cap <= 0.0 && over_side > over_cap || over_side > 0.0 && over_cap <= 0.0 {
        Nearest { p: side * radius + Vec3::Y * c.y, n: side, distance: over_side }
    } else if over_side <= 0.0 {
        Nearest { p: side * rho + cap * half_height, n: cap, distance: over_cap }
    } else {
        let distance = over_side.hypot(over_cap);
        let n = (side * over_side + cap * over_cap) / distance;
        Nearest { p: side * radius + cap * half_height, n, distance }
    }
}

fn nearest_on_polytope(c: Vec3, poly: &Poly<'_>) -> Nearest {
    // Inside, or over a face: the face it is farthest out of.
    let out = |k: usize| poly.faces[k].normal.dot(c) - poly.faces[k].offset;
    let best = (0..poly.faces.len())
        .max_by(|&i, &j| out(i).total_cmp(&out(j)).then(j.cmp(&i)))
        .expect("it has faces");
    if out(best) <= 0.0 {
        let n = poly.faces[best].normal;
        return Nearest { p: c - n * out(best), n, distance: out(best) };
    }
    // Outside: the nearest of all faces that look towards it.
    let mut nearest: Option<Nearest> = None;
    for k in (0..poly.faces.len()).filter(|k| out(*k) > 0.0) {
        let this = nearest_on_face(c, poly, k);
        if nearest.as_ref().is_none_or(|n| this.distance < n.distance) {
            nearest = Some(this);
        }
    }
    nearest.expect("a face looks towards it")
}

/// The point of a face nearest to a centre in front of it (or, over its inside, behind it).
pub(super) fn nearest_on_face(c: Vec3, poly: &Poly<'_>, face: usize) -> Nearest {
    let f = &poly.faces[face];
    let height = f.normal.dot(c) - f.offset;
    let corners = poly.corners(face);
    let at = |k: usize| poly.vertices[corners[k % corners.len()] as usize];
    let mut nearest = (f64::INFINITY, Vec3::ZERO);
    let mut inside = true;
    for k in 0..corners.len() {
        let (a, b) = (at(k), at(k + 1));
        if (b - a).cross(f.normal).dot(c - a) > 0.0 {
            inside = false;
            let s = ((c - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            let p = a + (b - a) * s;
            let d = p.distance_squared(c);
            if d < nearest.0 {
                nearest = (d, p);
            }
        }
    }
    if inside {
        return Nearest { p: c - f.normal * height, n: f.normal, distance: height };
    }
    let d = c - nearest.1;
    let distance = d.length();
    let n = if distance > 0.0 { d / distance } else { f.normal };
    Nearest { p: nearest.1, n, distance }
}

/// Axes whose directions differ by less (sine) touch along a line: two points, at the ends of what they share.
pub(super) const ALONG: f64 = 0.02;

/// Touches of two capsules (half height, radius), the second at `rel` in the frame of the first.
pub(super) fn capsule_capsule(
    (half1, radius1): (f64, f64),
    (half2, radius2): (f64, f64),
    rel: &Pose,
    prediction: f64,
    scratch: &mut Scratch,
) {
    let axis2 = rel.rotation * Vec3::Z;
    let c = rel.translation;
    let mut touch = |z1: f64, z2: f64, name: u32| {
        let (a, b) = (Vec3::new(0.0, 0.0, z1), c + axis2 * z2);
        let d = b - a;
        let length = d.length();
        let across = Vec3::Z.any_orthonormal_vector();
        let out = if length > 0.0 { d / length } else { across };
        let gap = length - radius1 - radius2;
        if gap <= prediction {
            let p1 = a + out * radius1;
            let p2 = Vec3::new(0.0, 0.0, z2) - rel.rotation.conjugate() * out * radius2;
            let name = feature::vertex(name);
            scratch.touches.push(Touch { p1, p2, n: -out, gap, f1: name, f2: name });
        }
        gap
    };
    let (z1, z2) = nearest_on_segments(half1, c, axis2, half2);
    let cos = axis2.z;
    let reach = half2 * cos.abs();
    let (low, high) = ((c.z - reach).max(-half1), (c.z + reach).min(half1));
    if axis2.x.hypot(axis2.y) < ALONG && low < high {
        // At height z of the first axis the second has the parameter (z − c.z)/cos.
        let ends = touch(low, (low - c.z) / cos, 0).min(touch(high, (high - c.z) / cos, 1));
        // Axes that cross at a small angle may be nearest in between.
        let middle = (c + axis2 * z2).distance(Vec3::new(0.0, 0.0, z1)) - radius1 - radius2;
        if middle < ends - LINE * (radius1 + radius2) {
            touch(z1, z2, 2);
        }
    } else {
        touch(z1, z2, 2);
    }
}

/// Differences of gap below this share of the radius are rounding.
const LINE: f64 = 1e-6;

/// Parameters of the nearest points of the segment ±half₁ along z and the segment c ± half₂ along a unit axis.
fn nearest_on_segments(half1: f64, c: Vec3, axis2: Vec3, half2: f64) -> (f64, f64) {
    let cos = axis2.z;
    let sin2 = axis2.x * axis2.x + axis2.y * axis2.y;
    let along2 = axis2.dot(c);
    // On the first: minimise |z₁ e − c − z₂ a₂|; parallel axes may take any point.
    let mut z1 = if sin2 > 0.0 { ((c.z - cos * along2) / sin2).clamp(-half1, half1) } else { 0.0 };
    let mut z2 = cos * z1 - along2;
    if z2.abs() > half2 {
        z2 = z2.clamp(-half2, half2);
        z1 = (c.z + z2 * cos).clamp(-half1, half1);
    }
    (z1, z2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_points_of_segments_against_a_fine_grid() {
        for k in 0..60 {
            let a = f64::from(k);
            let c = Vec3::new(a.sin(), (1.7 * a).cos(), (2.3 * a).sin()) * 1.5;
            let axis = Vec3::new((0.7 * a).cos(), (1.1 * a).sin(), (a * 0.3).cos()).normalize();
            let (z1, z2) = nearest_on_segments(1.0, c, axis, 0.7);
            let distance = |z1: f64, z2: f64| (c + axis * z2).distance(Vec3::new(0.0, 0.0, z1));
            let mut grid = f64::INFINITY;
            for i in -100..=100 {
                for j in -100..=100 {
                    grid = grid.min(distance(0.01 * f64::from(i), 0.007 * f64::from(j)));
                }
            }
            let got = distance(z1, z2);
            assert!(got <= grid + 1e-12 && got > grid - 0.02, "{got} against {grid}");
        }
    }

    #[test]
    fn nearest_points_lie_on_the_surface_along_the_normal() {
        let half = Vec3::new(1.0, 0.5, 0.7);
        let surface = Solid::new(&block_shape(half));
        let poly = surface.polytope().unwrap();
        for k in 0..500 {
            let a = f64::from(k);
            let c = Vec3::new(a.sin(), (1.7 * a).cos(), (2.3 * a).sin()) * 2.0;
            let block = nearest_on_block(c, half);
            let hull = nearest_on_polytope(c, &poly);
            assert!((block.distance - hull.distance).abs() < 1e-14 && block.p.distance(hull.p) < 1e-14);
            let tube = nearest_on_cylinder(c, 0.8, 0.6);
            for near in [block, tube] {
                assert!((near.p + near.n * near.distance - c).length() < 1e-14);
                assert!((near.n.length() - 1.0).abs() < 1e-14);
            }
        }
    }

    fn block_shape(half: Vec3) -> crate::model::ModelShape {
        let mut scene = crate::Scene::default();
        scene.bodies.push(crate::Body::new("block", crate::Geometry::Box { half }));
        scene.compile().unwrap().shapes[0].clone()
    }
}
