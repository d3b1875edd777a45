//! The point of a triangle that is closest to another.

use super::Vec3;

/// Closest point of a triangle: weights of its corners.
pub(crate) fn closest_of_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_point_of_a_triangle_is_closest() {
        let t = [Vec3::ZERO, Vec3::X, Vec3::new(0.2, 0.9, 0.0)];
        let at = |w: [f64; 3]| (0..3).map(|k| t[k] * w[k]).sum::<Vec3>();
        for i in 0..200 {
            let f = |k: f64| (i as f64 * k).sin() * 1.5;
            let p = Vec3::new(f(1.3), f(2.1), f(0.7));
            let best = at(closest_of_triangle(p, t)).distance(p);
            for a in 0..=20 {
                for b in 0..=20 - a {
                    let w = [a as f64 / 20.0, b as f64 / 20.0, (20 - a - b) as f64 / 20.0];
                    assert!(best <= at(w).distance(p) + 1e-12, "{p}");
                }
            }
        }
    }
}
