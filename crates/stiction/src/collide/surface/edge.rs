//! Edges against edges, nearly parallel ones included.

use super::super::nearest::on_lines;
use super::super::solid::feature;
use super::Pair;
use super::pair::{CROSSED, TOUCH};
use crate::collide::Contact;
use crate::linalg::Vec3;
use std::collections::BTreeSet;

/// Edges that are flatter than this (sine) count as flat: a cone of normals that small comes and goes with every motion. Flat
/// edges cross where their ends touch the faces anyway, to this share of their length.
const FLAT: f64 = 0.02;
/// Edges at a smaller angle than this (sine) have no crossing: its place is rounding.
const PARALLEL: f64 = 1e-3;
/// Sharp edges at a smaller angle than this touch ever more in the middle of where they run along each other.
const NEARLY_PARALLEL: f64 = 0.05;
/// A crossing of edges this near to an end, as a share of the length, belongs to the end.
const END: f64 = 1e-9;

/// Two edges that run along each other.
///
/// Where the lines cross says nothing about edges that are nearly parallel: it wanders from one end to the other with the
/// slightest turn. Their contact moves to the middle of what they share as they become parallel, and back, so that it is
/// continuous in the angle. Where they are nearest to each other, the direction is.
struct Together {
    /// Where they touch, as shares of both.
    place: (f64, f64),
    /// Where they are nearest to each other.
    nearest: (f64, f64),
}

impl Together {
    fn of([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> Option<Together> {
        let (d, g) = (p_end - p, q_end - q);
        let (dd, gg) = (d.length_squared(), g.length_squared());
        let sine = (d.cross(g).length_squared() / (dd * gg)).sqrt();
        // Edges without a length have no direction either.
        if sine.is_nan() || sine >= NEARLY_PARALLEL {
            return None;
        }
        // What they share, on a.
        let (start, end) = ((q - p).dot(d) / dd, (q_end - p).dot(d) / dd);
        let (from, to) = (start.min(end).max(0.0), start.max(end).min(1.0));
        if to - from <= END {
            return None;
        }
        let beside = |s: f64| ((p + d * s - q).dot(g) / gg).clamp(0.0, 1.0);
        let middle = 0.5 * (from + to);
        let crossing = on_lines(p, d, q, g, 0.0).map_or(middle, |(s, _)| s.clamp(from, to));
        // 0 for parallel edges, 1 for those that cross, and smooth between.
        let x = ((sine - PARALLEL) / (NEARLY_PARALLEL - PARALLEL)).max(0.0);
        let s = middle + x * x * (3.0 - 2.0 * x) * (crossing - middle);
        Some(Together { place: (s, beside(s)), nearest: (crossing, beside(crossing)) })
    }
}

impl Pair<'_> {
    /// The contact of edge `e` of a with edge `f` of b, if they cross where both stand out.
    pub fn edges(&self, e: u32, f: u32, used: &mut BTreeSet<(u64, u32)>, contacts: &mut Vec<Contact>) {
        let (a, b) = (self.a, self.b);
        let (ends_a, ends_b) = (a.edges[e as usize].ends, b.edges[f as usize].ends);
        if self.is_self
            && (e >= f || ends_a.iter().any(|i| ends_b.iter().any(|j| a.are_neighbours(self.model, *i, *j))))
        {
            return;
        }
        if ends_a.iter().any(|k| a.is_held_by(self.model, *k, b)) {
            return;
        }
        let ([p, p_end], [q, q_end]) = (ends_a.map(|k| a.x[k as usize]), ends_b.map(|k| b.x[k as usize]));
        let (d, g) = (p_end - p, q_end - q);
        let (flat_a, flat_b) = (a.is_flat(e, FLAT), b.is_flat(f, FLAT));
        if flat_a && flat_b {
            return;
        }
        let along = if flat_a || flat_b { None } else { Together::of([p, p_end], [q, q_end]) };
        let crossing = on_lines(p, d, q, g, PARALLEL);
        let (s, t) = match (&along, crossing) {
            (Some(along), _) => along.place,
            (None, Some((s, t))) => {
                let within = |x: f64| x > END && x < 1.0 - END;
                // A soft vertex on a rigid edge touches one of the faces there, as a point: its edges touch the rigid one
                // all the same.
                let reaches =
                    |x: f64| if b.touches_by_faces { within(x) } else { (-END..=1.0 + END).contains(&x) };
                if !(reaches(s) && within(t)) {
                    return;
                }
                (s.clamp(0.0, 1.0), t)
            }
            (None, None) => return,
        };
        let way = p + d * s - q - g * t;
        let (na, nb) = (a.edge_normal(e), b.edge_normal(f));
        let cross = d.cross(g).normalize_or_zero();
        let mut axis = if cross.dot(way) < 0.0 { -cross } else { cross };
        // Nearly parallel edges that have passed each other sideways leave it to their ends which way is out.
        let may_turn = along.is_none();
        if let Some(along) = along {
            let side = d.normalize() + g.normalize() * d.dot(g).signum();
            let across = |x: Vec3| x - side * (side.dot(x) / side.length_squared());
            let (s, t) = along.nearest;
            let nearest = across(p + d * s - q - g * t);
            if nearest.length() > TOUCH * self.size {
                axis = nearest.normalize();
            } else if crossing.is_none() {
                axis = across(nb - na).normalize_or_zero();
            }
        }
        // Outside of both, or through both.
        let fits = |n: Vec3| n.dot(na) <= 0.0 && n.dot(nb) >= 0.0;
        let has_normals = na != Vec3::ZERO || nb != Vec3::ZERO;
        let n = if may_turn && has_normals && !fits(axis) { -axis } else { axis };
        let distance = n.dot(way);
        let clear = n != Vec3::ZERO
            && fits(n)
            && distance > -CROSSED * self.size
            && b.edge_faces(f, n, FLAT)
            && a.edge_faces(e, -n, FLAT);
        // A sharp edge across a flat patch crosses many of its edges; those that share ends say the same twice.
        let mut is_new = true;
        if clear && flat_a {
            is_new = ends_a.iter().all(|k| !used.contains(&(u64::from(f) << 1, *k)));
            used.extend(ends_a.iter().filter(|_| is_new).map(|k| (u64::from(f) << 1, *k)));
        } else if clear && flat_b {
            is_new = ends_b.iter().all(|k| !used.contains(&(u64::from(e) << 1 | 1, *k)));
            used.extend(ends_b.iter().filter(|_| is_new).map(|k| (u64::from(e) << 1 | 1, *k)));
        }
        if clear && is_new {
            let on_a = (&ends_a[..], &[1.0 - s, s][..], feature::edge(ends_a[0], ends_a[1]));
            let on_b = (&ends_b[..], &[1.0 - t, t][..], feature::edge(ends_b[0], ends_b[1]));
            self.push(on_a, on_b, n, distance, contacts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_parallel_edges_is_continuous_in_their_angle() {
        let edge = [Vec3::new(-1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)];
        // Turned about a point away from the middle, and above.
        let place = |angle: f64| {
            let along = Vec3::new(angle.cos(), angle.sin(), 0.0);
            let pivot = Vec3::new(0.6, 0.0, -0.01);
            let other = [pivot - 1.2 * along, pivot + 0.9 * along];
            let crossing = on_lines(edge[0], edge[1] - edge[0], other[0], other[1] - other[0], PARALLEL);
            Together::of(edge, other).map_or_else(|| crossing.unwrap(), |along| along.place)
        };
        let (s, t) = place(0.0);
        assert!((s - 0.6).abs() < 1e-12 && (2.0 * s - 1.0 - (2.1 * t - 0.6)).abs() < 1e-12, "{s} {t}");
        let (s, t) = place(0.2);
        assert!((s - 0.8).abs() < 1e-12 && (t - 1.2 / 2.1).abs() < 1e-12);
        let step = 2e-4;
        for k in -400..400 {
            let (one, two) = (place(f64::from(k) * step), place(f64::from(k + 1) * step));
            // 1.5 is the steepest slope of the mixture, 0.2 the way from the middle to the crossing.
            let most = 1.5 * 0.2 * step / (NEARLY_PARALLEL - PARALLEL) + step;
            assert!((one.0 - two.0).abs() < most && (one.1 - two.1).abs() < most, "{k}: {one:?} {two:?}");
        }
    }
}
