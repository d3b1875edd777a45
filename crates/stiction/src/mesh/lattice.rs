//! Solids cut out of a lattice of cubes, six tetrahedra each: plates with windows, blobs with limbs, lumpy balls.
//!
//! | shape | nodes | tets | surface triangles |
//! |---|---|---|---|
//! | [`windows`] | 260 | 432 | 528, of genus 3 |
//! | [`lumpy`] of n shells | as [`sphere`] | 20n³ | 20n² |

use super::shapes::{kuhn, sphere};
use super::{Surface, TetMesh, signed_volume};
use crate::linalg::Vec3;

/// The cells of a lattice that are kept, `cell` [m] wide, from the origin on.
pub fn cells(count: [usize; 3], cell: f64, keep: impl Fn([usize; 3]) -> bool) -> TetMesh {
    let [nx, ny, nz] = count;
    let mut m = TetMesh::default();
    for k in 0..=nz {
        for j in 0..=ny {
            for i in 0..=nx {
                m.vertices.push(cell * Vec3::new(i as f64, j as f64, k as f64));
            }
        }
    }
    for k in 0..nz {
        for j in 0..ny {
            for i in (0..nx).filter(|i| keep([*i, j, k])) {
                let corner = |[a, b, c]: [usize; 3]| (((k + c) * (ny + 1) + j + b) * (nx + 1) + i + a) as u32;
                kuhn(corner, &mut m.tets);
            }
        }
    }
    m.remove_unreferenced();
    m
}

/// A plate of 12 × 12 cells of `cell` [m], one cell thick, with three windows: the surface has genus 3, and the counts are those
/// of the objects of CR's pyramid. It lies on z = 0, centred in x and y.
pub fn windows(cell: f64) -> TetMesh {
    let within = |i: usize, first: usize, n: usize| (first..first + n).contains(&i);
    let mut m = cells([12, 12, 1], cell, |[i, j, _]| {
        !(within(i, 1, 2) && within(j, 1, 10)
            || within(i, 4, 2) && within(j, 1, 10)
            || within(i, 7, 4) && within(j, 2, 8))
    });
    m.vertices.iter_mut().for_each(|v| *v -= cell * Vec3::new(6.0, 6.0, 0.0));
    m
}

/// A ball of about `radius` [m] with bumps and dents of a fifth of it.
pub fn lumpy(radius: f64, shells: usize) -> TetMesh {
    let mut m = sphere(radius, shells);
    for v in &mut m.vertices {
        let n = *v / radius;
        let lump = (3.0 * n.x + 0.7).sin() * (2.6 * n.y - 0.4).cos() + 0.6 * (3.4 * n.z + 1.9 * n.x).sin();
        *v *= 1.0 + 0.12 * lump;
    }
    m
}

/// An ellipsoid: centre and half axes [m].
pub type Ellipsoid = (Vec3, Vec3);

/// A trunk with a head, two arms and two legs, 0.16 m wide and 0.24 m tall about the origin.
pub const LIMBED: [Ellipsoid; 6] = [
    (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.04, 0.035, 0.06)),
    (Vec3::new(0.0, 0.0, 0.085), Vec3::new(0.028, 0.028, 0.035)),
    (Vec3::new(-0.05, 0.0, 0.035), Vec3::new(0.035, 0.018, 0.018)),
    (Vec3::new(0.05, 0.0, 0.035), Vec3::new(0.035, 0.018, 0.018)),
    (Vec3::new(-0.022, 0.0, -0.08), Vec3::new(0.018, 0.02, 0.045)),
    (Vec3::new(0.022, 0.0, -0.08), Vec3::new(0.018, 0.02, 0.045)),
];

/// A union of ellipsoids on a lattice of `cell` [m]: cells whose middle lies inside, with the nodes of the surface drawn onto the
/// ellipsoids as far as no tetrahedron loses much of its volume.
pub fn union(parts: &[Ellipsoid], cell: f64) -> TetMesh {
    // Below 1 inside; nearly a distance near the surface.
    let level = |x: Vec3| parts.iter().map(|(c, r)| ((x - *c) / *r).length()).fold(f64::INFINITY, f64::min);
    let min = parts.iter().map(|(c, r)| *c - *r).fold(Vec3::INFINITY, Vec3::min);
    let max = parts.iter().map(|(c, r)| *c + *r).fold(Vec3::NEG_INFINITY, Vec3::max);
    let count = ((max - min) / cell).ceil().to_array().map(|n| n as usize);
    let mut m = cells(count, cell, |[i, j, k]| {
        level(min + cell * Vec3::new(i as f64 + 0.5, j as f64 + 0.5, k as f64 + 0.5)) < 1.0
    });
    m.vertices.iter_mut().for_each(|v| *v += min);
    let mut of_node = vec![Vec::new(); m.vertices.len()];
    for (t, tet) in m.tets.iter().enumerate() {
        tet.iter().for_each(|k| of_node[*k as usize].push(t));
    }
    let rest = m.volumes();
    for k in Surface::of(&m).nodes {
        let k = k as usize;
        let before = m.vertices[k];
        let Some(wanted) = nearest_on(parts, before) else { continue };
        for share in [1.0, 0.7, 0.4, 0.2] {
            m.vertices[k] = before + (wanted - before).clamp_length_max(0.6 * cell) * share;
            if of_node[k].iter().all(|t| signed_volume(m.corners(*t)) > 0.4 * rest[*t]) {
                break;
            }
            m.vertices[k] = before;
        }
    }
    m
}

/// The point of the nearest ellipsoid on the ray from its centre through x.
fn nearest_on(parts: &[Ellipsoid], x: Vec3) -> Option<Vec3> {
    let level = |(c, r): &Ellipsoid| ((x - *c) / *r).length();
    let part = parts.iter().min_by(|a, b| level(a).total_cmp(&level(b)))?;
    (level(part) > 0.0).then(|| part.0 + (x - part.0) / level(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plate_with_three_windows_has_genus_three() {
        let m = windows(0.005);
        let s = Surface::of(&m);
        assert_eq!((m.vertices.len(), m.tets.len(), s.triangles.len()), (260, 432, 528));
        // V − E + F = 2 − 2g, with 3F = 2E.
        assert_eq!(s.nodes.len() as i64 - 528 * 3 / 2 + 528, 2 - 2 * 3);
        m.check().unwrap();
    }

    #[test]
    fn blobs_are_valid_meshes() {
        lumpy(0.03, 4).check().unwrap();
        let blob = union(&LIMBED, 0.01);
        blob.check().unwrap();
        let inside = |x: Vec3| LIMBED.iter().any(|(c, r)| ((x - *c) / *r).length() < 1.35);
        assert!(blob.vertices.iter().all(|v| inside(*v)) && blob.tets.len() > 1000, "{}", blob.tets.len());
    }
}
