//! Nearest points of a triangle and of two segments, with the feature on which they lie.

use crate::linalg::Vec3;

/// Where on a triangle a point lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Inside,
    /// On the edge between corners k and k + 1.
    Edge(usize),
    Corner(usize),
}

/// The point of triangle abc nearest to p: weights of the corners, and on which feature it lies.
pub(crate) fn on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> ([f64; 3], Place) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return ([1.0, 0.0, 0.0], Place::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return ([0.0, 1.0, 0.0], Place::Corner(1));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return ([0.0, 0.0, 1.0], Place::Corner(2));
    }
    let (wa, wb, wc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let sum = wa + wb + wc;
    if wc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let s = quotient(d1, d1 - d3);
        return ([1.0 - s, s, 0.0], Place::Edge(0));
    }
    if wa <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let s = quotient(d4 - d3, (d4 - d3) + (d5 - d6));
        return ([0.0, 1.0 - s, s], Place::Edge(1));
    }
    if wb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 || sum <= 0.0 {
        let s = quotient(d2, d2 - d6);
        return ([1.0 - s, 0.0, s], Place::Edge(2));
    }
    ([wa / sum, wb / sum, wc / sum], Place::Inside)
}

/// x / y within 0 and 1, and one half where a segment has no length.
fn quotient(x: f64, y: f64) -> f64 {
    if y > 0.0 { (x / y).clamp(0.0, 1.0) } else { 0.5 }
}

/// The shares (s, t) of the nearest points of the lines p + s d and q + t e; `None` where they are nearly parallel,
/// that is where the sine of their angle is below `least`: then the ends of one are as near as anything.
pub(super) fn on_lines(p: Vec3, d: Vec3, q: Vec3, e: Vec3, least: f64) -> Option<(f64, f64)> {
    let (dd, de, ee) = (d.length_squared(), d.dot(e), e.length_squared());
    let den = d.cross(e).length_squared();
    if den <= least * least * dd * ee {
        return None;
    }
    let w = q - p;
    Some(((w.dot(d) * ee - de * w.dot(e)) / den, (de * w.dot(d) - dd * w.dot(e)) / den))
}

/// The shares (s, t) of the nearest points of two segments, whatever their lengths and angle.
///
/// Each end against the other segment, and the lines where both nearest points lie within: no choice depends on how
/// nearly parallel they are.
pub(crate) fn on_segments([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> (f64, f64) {
    let (d, e) = (p_end - p, q_end - q);
    let along = |x: Vec3, from: Vec3, d: Vec3| quotient((x - from).dot(d).max(0.0), d.length_squared());
    let ends =
        [(0.0, along(p, q, e)), (1.0, along(p_end, q, e)), (along(q, p, d), 0.0), (along(q_end, p, d), 1.0)];
    let lines = on_lines(p, d, q, e, 0.0).filter(|(s, t)| (0.0..=1.0).contains(s) && (0.0..=1.0).contains(t));
    let distance = |(s, t): (f64, f64)| (p + d * s).distance_squared(q + e * t);
    let mut best = ends[0];
    for pair in ends.into_iter().skip(1).chain(lines) {
        if distance(pair) < distance(best) {
            best = pair;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;

    #[test]
    fn no_point_of_a_triangle_is_nearer() {
        let mut rng = Rng::new(5);
        for _ in 0..2000 {
            let [a, b, c, p] = [(); 4].map(|()| rng.normal3());
            let (w, place) = on_triangle(p, [a, b, c]);
            let at = |w: [f64; 3]| a * w[0] + b * w[1] + c * w[2];
            let near = p.distance(at(w));
            for i in 0..=10 {
                for j in 0..=10 - i {
                    let (u, v) = (f64::from(i) / 10.0, f64::from(j) / 10.0);
                    assert!(p.distance(at([1.0 - u - v, u, v])) >= near - 1e-12, "{place:?}");
                }
            }
            let zeros = w.iter().filter(|w| **w == 0.0).count();
            let want = match place {
                Place::Inside => 0,
                Place::Edge(_) => 1,
                Place::Corner(_) => 2,
            };
            assert!(zeros >= want && (w.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn triangles_without_area_have_nearest_points() {
        let t = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0];
        for (p, want) in [(Vec3::new(1.5, 1.0, 0.0), 1.5), (Vec3::new(5.0, 0.0, 1.0), 2.0), (-Vec3::X, 0.0)] {
            let (w, _) = on_triangle(p, t);
            let x = t[0] * w[0] + t[1] * w[1] + t[2] * w[2];
            assert!((x.x - want).abs() < 1e-14, "{p}: {x}");
        }
        assert!(on_triangle(Vec3::X, [Vec3::Y; 3]).0.iter().all(|w| w.is_finite()));
    }

    #[test]
    fn no_points_of_two_segments_are_nearer() {
        let mut rng = Rng::new(7);
        for round in 0..2000 {
            let [p, d, q, mut e] = [(); 4].map(|()| rng.normal3());
            match round % 4 {
                0 => e = d * (1.0 + 1e-9 * rng.normal3().x),
                1 => e = Vec3::ZERO,
                _ => {}
            }
            let (s, t) = on_segments([p, p + d], [q, q + e]);
            let near = (p + d * s).distance(q + e * t);
            for (i, j) in (0..=10).flat_map(|i| (0..=10).map(move |j| (i, j))) {
                let (u, v) = (f64::from(i) / 10.0, f64::from(j) / 10.0);
                assert!((p + d * u).distance(q + e * v) >= near - 1e-12);
            }
        }
    }

    #[test]
    fn the_way_between_lines_is_normal_to_both() {
        let mut rng = Rng::new(6);
        for _ in 0..500 {
            let [p, d, q, e] = [(); 4].map(|()| rng.normal3());
            let (s, t) = on_lines(p, d, q, e, 1e-6).unwrap();
            let way = q + e * t - p - d * s;
            assert!(way.dot(d).abs() < 1e-10 && way.dot(e).abs() < 1e-10);
            assert_eq!(on_lines(p, d, q, d * 2.0, 1e-3), None);
        }
    }
}
