//! Distance and crossings of two pieces, from plain formulas.

use super::Piece;
use super::sign::volume_sign;
use crate::linalg::Vec3;

/// Distance [m] of two pieces less their radii, zero where they cross, and how many edges of one pass through the other. Within
/// one body vertices and edges that the pieces share do not count.
pub(super) fn between(a: &Piece, b: &Piece, is_same: bool) -> (f64, usize) {
    let shared = |x: &[u32], y: &[u32]| is_same && x.iter().any(|k| y.contains(k));
    let mut distance = f64::INFINITY;
    let mut crossings = 0;
    for (p, q) in [(a, b), (b, a)] {
        if q.n < 3 {
            continue;
        }
        for k in 0..p.n {
            if !shared(&p.ids[k..=k], &q.ids) {
                distance = distance.min(point_triangle(p.x[k], &q.x));
            }
        }
        for [i, j] in edges(p.n) {
            if !shared(&[p.ids[*i], p.ids[*j]], &q.ids) {
                crossings += usize::from(passes(p.x[*i], p.x[*j], &q.x));
            }
        }
    }
    for [i, j] in edges(a.n) {
        for [k, l] in edges(b.n) {
            if !shared(&[a.ids[*i], a.ids[*j]], &[b.ids[*k], b.ids[*l]]) {
                distance = distance.min(segments([a.x[*i], a.x[*j]], [b.x[*k], b.x[*l]]));
            }
        }
    }
    if crossings > 0 {
        distance = 0.0;
    }
    (distance - a.radius - b.radius, crossings)
}

fn edges(n: usize) -> &'static [[usize; 2]] {
    match n {
        1 => &[[0, 0]],
        2 => &[[0, 1]],
        _ => &[[0, 1], [1, 2], [2, 0]],
    }
}

fn point_segment(p: Vec3, [a, b]: [Vec3; 2]) -> f64 {
    let d = b - a;
    let length = d.length_squared();
    if length == 0.0 {
        return p.distance(a);
    }
    let s = ((p - a).dot(d) / length).clamp(0.0, 1.0);
    p.distance(a + d * s)
}

fn point_triangle(p: Vec3, t: &[Vec3; 3]) -> f64 {
    let normal = (t[1] - t[0]).cross(t[2] - t[0]);
    let area = normal.length();
    let inside = area > 0.0
        && (0..3).all(|k| {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            normal.dot((b - a).cross(p - a)) >= 0.0
        });
    if inside {
        return (p - t[0]).dot(normal).abs() / area;
    }
    (0..3).map(|k| point_segment(p, [t[k], t[(k + 1) % 3]])).fold(f64::INFINITY, f64::min)
}

fn segments([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> f64 {
    let ends = [
        point_segment(a, [c, d]),
        point_segment(b, [c, d]),
        point_segment(c, [a, b]),
        point_segment(d, [a, b]),
    ];
    let nearest = ends.into_iter().fold(f64::INFINITY, f64::min);
    // Where the common perpendicular meets both within their ends, its length is the distance.
    let n = (b - a).cross(d - c);
    let length = n.length();
    if length == 0.0 {
        return nearest;
    }
    let apart = |p: Vec3, from: Vec3, along: Vec3| (p - from).dot(n.cross(along));
    let crosses =
        apart(a, c, d - c) * apart(b, c, d - c) < 0.0 && apart(c, a, b - a) * apart(d, a, b - a) < 0.0;
    if crosses { nearest.min((c - a).dot(n).abs() / length) } else { nearest }
}

/// True where the segment goes through the inside of the triangle.
fn passes(p: Vec3, q: Vec3, [a, b, c]: &[Vec3; 3]) -> bool {
    let (one, two) = (volume_sign(*a, *b, *c, p), volume_sign(*a, *b, *c, q));
    if one == 0 || two == 0 || one == two {
        return false;
    }
    let sides = [volume_sign(p, q, *a, *b), volume_sign(p, q, *b, *c), volume_sign(p, q, *c, *a)];
    sides[0] != 0 && sides.iter().all(|s| *s == sides[0])
}
