//! Triangles of everything that a recording shows, moved to a frame.

use crate::recording::{Frame, Header, ShapeGeometry, ShapeInfo, ShapeOwner};
use stiction::{Quat, Vec3};

/// How round things are: segments of a circle.
const SEGMENTS: u32 = 24;

/// Triangles in the frame of their owner.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
}

fn quat([w, x, y, z]: [f64; 4]) -> Quat {
    Quat::from_xyzw(x, y, z, w)
}

fn wide(v: [f32; 3]) -> Vec3 {
    Vec3::new(v[0].into(), v[1].into(), v[2].into())
}

/// The triangles of a shape in the frame of its owner; planes get a square of side `floor` [m].
pub fn patch(header: &Header, s: &ShapeInfo, floor: f64) -> Patch {
    let mut p = match s.geometry {
        ShapeGeometry::Plane => {
            let a = 0.5 * floor;
            let corner = |x: f64, y: f64| Vec3::new(x * a, y * a, 0.0);
            Patch {
                vertices: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
                triangles: vec![[0, 1, 2], [0, 2, 3]],
            }
        }
        ShapeGeometry::Box { size } => boxed(0.5 * size),
        ShapeGeometry::Sphere { radius } => round(radius, radius, 0.0, true),
        ShapeGeometry::Capsule { length, radius } => round(radius, radius, 0.5 * length, true),
        ShapeGeometry::Cylinder { height, radius } => round(radius, 0.0, 0.5 * height, false),
        ShapeGeometry::Mesh { mesh } => {
            let m = &header.meshes[mesh as usize];
            Patch { vertices: m.vertices.iter().map(|v| wide(*v)).collect(), triangles: m.triangles.clone() }
        }
        ShapeGeometry::Other => Patch::default(),
    };
    let turn = quat(s.rotation);
    p.vertices.iter_mut().for_each(|v| *v = s.position + turn * *v);
    p
}

fn boxed(h: Vec3) -> Patch {
    let vertices = (0..8)
        .map(|i| h * Vec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * 2.0 - h)
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    Patch { vertices, triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect() }
}

/// A round thing about z: rings from the lower to the upper pole. Caps bulge by `bulge` beyond ±`half`; flat caps have
/// rings of their own only at the rim.
fn round(radius: f64, bulge: f64, half: f64, domed: bool) -> Patch {
    let mut profile = vec![];
    let quarter = SEGMENTS / 4;
    for side in [-1.0, 1.0] {
        let mut ring: Vec<(f64, f64)> = if domed {
            (1..=quarter)
                .map(|k| {
                    let a = std::f64::consts::FRAC_PI_2 * f64::from(k) / f64::from(quarter);
                    (radius * a.sin(), side * (half + bulge * a.cos()))
                })
                .collect()
        } else {
            vec![(radius, side * half)]
        };
        if side > 0.0 {
            ring.reverse();
        }
        profile.extend(ring);
    }
    let top = half + bulge;
    let mut p = Patch { vertices: vec![Vec3::new(0.0, 0.0, -top)], triangles: Vec::new() };
    for (r, z) in &profile {
        p.vertices.extend((0..SEGMENTS).map(|k| {
            let a = std::f64::consts::TAU * f64::from(k) / f64::from(SEGMENTS);
            Vec3::new(r * a.cos(), r * a.sin(), *z)
        }));
    }
    p.vertices.push(Vec3::new(0.0, 0.0, top));
    let rings = profile.len() as u32;
    let at = |ring: u32, k: u32| 1 + ring * SEGMENTS + k % SEGMENTS;
    let last = p.vertices.len() as u32 - 1;
    for k in 0..SEGMENTS {
        p.triangles.push([0, at(0, k + 1), at(0, k)]);
        for r in 0..rings - 1 {
            p.triangles.push([at(r, k), at(r, k + 1), at(r + 1, k + 1)]);
            p.triangles.push([at(r, k), at(r + 1, k + 1), at(r + 1, k)]);
        }
        p.triangles.push([last, at(rings - 1, k), at(rings - 1, k + 1)]);
    }
    p
}

/// Where the owner of a shape is at a frame.
pub fn owner_pose(owner: ShapeOwner, frame: &Frame) -> (Vec3, Quat) {
    match owner {
        ShapeOwner::Body(b) => {
            let p = frame.poses[b as usize];
            let r = [p[3], p[4], p[5], p[6]].map(f64::from);
            (wide([p[0], p[1], p[2]]), quat(r))
        }
        ShapeOwner::Particle(p) => (wide(frame.points[p as usize]), Quat::IDENTITY),
    }
}

/// Twice the extent of everything that moves at a frame [m], for planes.
pub fn floor_size(frame: &Frame) -> f64 {
    let places = frame.poses.iter().map(|p| [p[0], p[1], p[2]]).chain(frame.points.iter().copied());
    let far = places.map(|x| wide(x).length()).fold(0.0, f64::max);
    4.0 * far.max(0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: right only where every triangle looks outwards.
    fn volume(p: &Patch) -> f64 {
        let v = |i: u32| p.vertices[i as usize];
        p.triangles.iter().map(|t| v(t[0]).dot(v(t[1]).cross(v(t[2]))) / 6.0).sum()
    }

    #[test]
    fn surfaces_are_closed_and_look_outwards() {
        use std::f64::consts::PI;
        assert!((volume(&boxed(Vec3::new(0.5, 1.0, 1.5))) - 6.0).abs() < 1e-12);
        // Inscribed facets lose a few per cent.
        for (p, exact) in [
            (round(1.0, 1.0, 0.0, true), 4.0 / 3.0 * PI),
            (round(1.0, 1.0, 2.0, true), 4.0 / 3.0 * PI + 4.0 * PI),
            (round(1.0, 0.0, 2.0, false), 4.0 * PI),
        ] {
            let v = volume(&p) / exact;
            assert!((0.95..1.0).contains(&v), "{v}");
        }
    }
}
