//! Pairs of triangles of one mesh that cross each other.
//!
//! Heights over planes are known to some 1e-15 of the size, wherever the mesh lies, because coordinates are subtracted before anything
//! is multiplied. The band in which points count as lying in a plane is a thousand times wider: what is reported crosses,
//! and what crosses deeper than the band is reported.

use super::TriMesh;
use super::survey::has_area;
use crate::linalg::Vec3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

/// Pairs of near triangles that are looked at before the search is cut short: a crumpled mesh may have n² of them.
const MOST_TESTS: usize = 20_000_000;
/// Crossings that are listed.
const MOST_PAIRS: usize = 10_000;
/// Points this near to a plane, as a share of the size of both triangles, lie in it.
const IN_PLANE: f64 = 1e-12;

/// What a search for crossings found.
pub(super) struct Overlap {
    /// Pairs in ascending order, the lower triangle first.
    pub pairs: Vec<[u32; 2]>,
    /// All pairs were looked at.
    pub complete: bool,
}

/// All pairs of triangles that cross: they share points other than common corners and edges.
pub(super) fn crossings(mesh: &TriMesh) -> Overlap {
    let corners = |t: u32| mesh.triangles[t as usize].map(|k| mesh.vertices[k as usize]);
    let boxes: Vec<Aabb> = (0..mesh.triangles.len() as u32).map(|t| Aabb::from_points(corners(t))).collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let (mut pairs, mut tests) = (Vec::new(), 0);
    for i in 0..mesh.triangles.len() as u32 {
        if !has_area(corners(i)) {
            continue;
        }
        for j in tree.intersect_aabb(&boxes[i as usize]) {
            if j <= i || !has_area(corners(j)) {
                continue;
            }
            tests += 1;
            if tests > MOST_TESTS || pairs.len() >= MOST_PAIRS {
                pairs.sort_unstable();
                return Overlap { pairs, complete: false };
            }
            let (a, b) = (mesh.triangles[i as usize], mesh.triangles[j as usize]);
            if cross(&mesh.vertices, a, b) {
                pairs.push([i, j]);
            }
        }
    }
    pairs.sort_unstable();
    Overlap { pairs, complete: true }
}

/// Do two triangles cross? What they share by their corners does not count.
fn cross(x: &[Vec3], a: [u32; 3], b: [u32; 3]) -> bool {
    let at = |k: u32| x[k as usize];
    let shared = a.iter().filter(|k| b.contains(k)).count();
    if shared == 3 {
        return false; // A duplicate, which is reported as such.
    }
    // Of edges that end in a common corner, only the far ends can cross.
    let crosses = |one: [u32; 3], two: [u32; 3]| {
        (0..3).any(|k| {
            let (p, q) = (one[k], one[(k + 1) % 3]);
            let free = !two.contains(&p) && !two.contains(&q);
            free && pierces([at(p), at(q)], two.map(at))
        })
    };
    match shared {
        2 => folded(x, a, b),
        _ => crosses(a, b) || crosses(b, a),
    }
}

/// Does a segment pass through the inside of a triangle, or within its plane through one of its sides?
fn pierces([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let n = (b - a).cross(c - a);
    let size = p.distance(q).max(a.distance(b)).max(a.distance(c)).max(a.distance(p));
    let flat = IN_PLANE * n.length() * size;
    let (hp, hq) = (n.dot(p - a), n.dot(q - a));
    if hp.abs() <= flat && hq.abs() <= flat {
        let sides = [[a, b], [b, c], [c, a]];
        return inside(p, [a, b, c], n, IN_PLANE) || sides.iter().any(|s| meet([p, q], *s, n));
    }
    if hp * hq > 0.0 && hp.abs() > flat && hq.abs() > flat {
        return false;
    }
    // Touching with an end alone is no crossing.
    if hp.abs() <= flat || hq.abs() <= flat {
        return false;
    }
    // Through an edge counts: two edges that cross belong to triangles that do.
    inside(p + (q - p) * (hp / (hp - hq)), [a, b, c], n, -IN_PLANE)
}

/// Is a point of the plane inside the triangle, by this share at least?
fn inside(p: Vec3, [a, b, c]: [Vec3; 3], n: Vec3, share: f64) -> bool {
    let least = share * n.length_squared();
    [(a, b), (b, c), (c, a)].iter().all(|(u, v)| (*v - *u).cross(p - *u).dot(n) > least)
}

/// Do two segments of one plane cross strictly within both?
fn meet([p, q]: [Vec3; 2], [a, b]: [Vec3; 2], n: Vec3) -> bool {
    let side = |u: Vec3, v: Vec3, w: Vec3| (v - u).cross(w - u).dot(n);
    let (s1, s2) = (side(a, b, p), side(a, b, q));
    let (s3, s4) = (side(p, q, a), side(p, q, b));
    let least = IN_PLANE * n.length_squared();
    s1.abs().min(s2.abs()).min(s3.abs()).min(s4.abs()) > least && s1 * s2 < 0.0 && s3 * s4 < 0.0
}

/// Do two triangles with a common edge lie on each other?
fn folded(x: &[Vec3], a: [u32; 3], b: [u32; 3]) -> bool {
    let at = |k: u32| x[k as usize];
    let mut common = a.iter().filter(|k| b.contains(k));
    let (Some(&i), Some(&j)) = (common.next(), common.next()) else { return false };
    let lone = |t: [u32; 3]| t.into_iter().find(|k| *k != i && *k != j).map(at);
    let (Some(p), Some(q)) = (lone(a), lone(b)) else { return false };
    let edge = (at(j) - at(i)).normalize();
    let across = |w: Vec3| (w - at(i)).reject_from_normalized(edge).normalize_or_zero();
    (across(p) - across(q)).length() < 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;

    /// Six times the volume of a tetrahedron with integer corners, exactly.
    fn volume(x: [[i64; 3]; 4]) -> i64 {
        let [u, v, w] = [1, 2, 3].map(|k| [0, 1, 2].map(|d| x[k][d] - x[0][d]));
        u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0])
            + u[2] * (v[0] * w[1] - v[1] * w[0])
    }

    #[test]
    fn piercing_agrees_with_integers_far_from_the_origin_and_at_any_scale() {
        let mut rng = Rng::new(11);
        let (mut yes, mut no) = (0, 0);
        for round in 0..20_000 {
            let [p, q, a, b, c] = [(); 5].map(|()| [(); 3].map(|()| rng.range(-9.0, 9.0).round() as i64));
            let ends = [volume([a, b, c, p]), volume([a, b, c, q])];
            let sides = [volume([p, q, a, b]), volume([p, q, b, c]), volume([p, q, c, a])];
            if ends.contains(&0) || sides.contains(&0) {
                continue;
            }
            let want =
                ends[0].signum() != ends[1].signum() && sides.iter().all(|s| s.signum() == sides[0].signum());
            // Shifts and scales by powers of two are exact.
            let (scale, shift) =
                [(1.0, 0.0), (2f64.powi(-27), 0.0), (2f64.powi(27), 0.0), (1.0, 2f64.powi(40))][round % 4];
            let at = |x: [i64; 3]| Vec3::from_array(x.map(|x| x as f64 * scale + shift));
            assert_eq!(pierces([at(p), at(q)], [at(a), at(b), at(c)]), want, "{p:?} {q:?} {a:?} {b:?} {c:?}");
            if want { yes += 1 } else { no += 1 }
        }
        assert!(yes > 500 && no > 500, "{yes} and {no}");
    }
}
