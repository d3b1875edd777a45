//! Fewer contacts for the same support: of the touches of a pair that share a normal, the corners of their convex
//! outline carry any load that all of them could carry.

use super::touch::Touch;
use crate::coords::Pose;
use crate::linalg::tangents;

/// Touches whose normals differ by less (1 − cosine) press the same way.
const SAME_NORMAL: f64 = 1e-12;
/// Points this near to the line between two corners, as a share of the extent, are no corners.
const STRAIGHT: f64 = 1e-9;
/// The deepest touch within the outline stays if it is deeper than all corners by this share of the size: it is felt
/// first.
const DEEPER: f64 = 1e-6;

/// Buffers of the reduction.
#[derive(Default)]
pub(super) struct Outline {
    points: Vec<([f64; 2], usize)>,
    hull: Vec<usize>,
    kept: Vec<Touch>,
    done: Vec<bool>,
}

/// Keeps the corners of the support polygon of each group of touches with one normal (world axes), and the
/// deepest of the others if it is deeper. `pose` is that of shape 1. What stays keeps its features.
pub(super) fn reduce(touches: &mut Vec<Touch>, pose: &Pose, size: f64, outline: &mut Outline) {
    let Outline { points, hull, kept, done } = outline;
    kept.clear();
    done.clear();
    done.resize(touches.len(), false);
    for first in 0..touches.len() {
        if done[first] {
            continue;
        }
        let n = touches[first].n;
        let (t1, t2) = tangents(n);
        points.clear();
        for (k, t) in touches.iter().enumerate().skip(first) {
            if !done[k] && t.n.dot(n) > 1.0 - SAME_NORMAL {
                let x = pose.transform_point(t.p1);
                points.push(([t1.dot(x), t2.dot(x)], k));
                done[k] = true;
            }
        }
        corners(points, hull);
        let deepest = hull.iter().map(|k| touches[*k].gap).fold(f64::INFINITY, f64::min);
        let within = points.iter().map(|p| p.1).filter(|k| touches[*k].gap < deepest - DEEPER * size);
        let sunk = within.min_by(|i, j| touches[*i].gap.total_cmp(&touches[*j].gap).then(i.cmp(j)));
        kept.extend(hull.iter().copied().chain(sunk).map(|k| touches[k]));
    }
    std::mem::swap(touches, kept);
}

/// Corners of the convex outline of points (Andrew's chains), by their numbers.
fn corners(points: &mut [([f64; 2], usize)], hull: &mut Vec<usize>) {
    hull.clear();
    points
        .sort_unstable_by(|(a, i), (b, j)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(i.cmp(j)));
    if points.len() < 3 {
        hull.extend(points.iter().map(|p| p.1));
        return;
    }
    let (low, high) = (points[0].0, points[points.len() - 1].0);
    let tall = |f: fn(f64, f64) -> f64, start: f64| points.iter().map(|p| p.0[1]).fold(start, f);
    let extent = (high[0] - low[0]).hypot(tall(f64::max, f64::NEG_INFINITY) - tall(f64::min, f64::INFINITY));
    let turn =
        |o: [f64; 2], a: [f64; 2], b: [f64; 2]| (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    // Numbers of places in the sorted list; their chains run below and above.
    let mut chain = |order: &mut dyn Iterator<Item = usize>| {
        let start = hull.len();
        for k in order {
            while hull.len() >= start + 2 {
                let (i, j) = (hull[hull.len() - 2], hull[hull.len() - 1]);
                let (o, a, b) = (points[i].0, points[j].0, points[k].0);
                if turn(o, a, b) > STRAIGHT * extent * (b[0] - o[0]).hypot(b[1] - o[1]) {
                    break;
                }
                hull.pop();
            }
            hull.push(k);
        }
        // The last point of one chain is the first of the other.
        hull.pop();
    };
    chain(&mut (0..points.len()));
    chain(&mut (0..points.len()).rev());
    hull.iter_mut().for_each(|k| *k = points[*k].1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;
    use crate::linalg::Vec3;

    fn touch(p: Vec3, n: Vec3, gap: f64) -> Touch {
        Touch { p1: p, p2: p, n, gap, f1: 0, f2: 0 }
    }

    /// Support of a set of touches along directions within the plane.
    fn support(touches: &[Touch]) -> Vec<f64> {
        (0..64)
            .map(|k| {
                let a = 0.1 * f64::from(k);
                let d = Vec3::new(a.cos(), a.sin(), 0.0);
                touches.iter().map(|t| d.dot(t.p1)).fold(f64::NEG_INFINITY, f64::max)
            })
            .collect()
    }

    #[test]
    fn the_support_polygon_stays() {
        let mut rng = Rng::new(2);
        for round in 0..50 {
            let all: Vec<Touch> = (0..40)
                .map(|_| touch(Vec3::new(rng.normal(), rng.normal(), 0.0), -Vec3::Z, 1e-3 * rng.uniform()))
                .collect();
            let mut few = all.clone();
            reduce(&mut few, &Pose::IDENTITY, 1.0, &mut Outline::default());
            assert!(few.len() < 20, "round {round}: {}", few.len());
            for (a, b) in support(&all).iter().zip(support(&few)) {
                assert!((a - b).abs() < 1e-9, "round {round}");
            }
            let gap = |t: &[Touch]| t.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
            assert!(gap(&few) <= gap(&all) + 1e-6, "the deepest stays");
        }
    }

    #[test]
    fn a_grid_becomes_its_four_corners_and_other_normals_are_left_alone() {
        let mut t: Vec<Touch> = (0..25)
            .map(|k| touch(Vec3::new(f64::from(k % 5), f64::from(k / 5), 0.0), Vec3::Z, 0.0))
            .collect();
        t.push(touch(Vec3::splat(0.5), Vec3::X, 0.0));
        // One point inside stands out.
        t[12].gap = -0.01;
        reduce(&mut t, &Pose::IDENTITY, 1.0, &mut Outline::default());
        assert_eq!(t.len(), 6);
        assert!(t.iter().any(|t| t.gap == -0.01) && t.iter().any(|t| t.n == Vec3::X));
        // Points on a line keep their ends, one point and none stay.
        let mut line: Vec<Touch> = (0..5).map(|k| touch(Vec3::X * f64::from(k), Vec3::Z, 0.0)).collect();
        reduce(&mut line, &Pose::IDENTITY, 1.0, &mut Outline::default());
        assert_eq!(line.iter().map(|t| t.p1.x).collect::<Vec<_>>(), [0.0, 4.0]);
        line.truncate(1);
        reduce(&mut line, &Pose::IDENTITY, 1.0, &mut Outline::default());
        assert_eq!(line.len(), 1);
        line.clear();
        reduce(&mut line, &Pose::IDENTITY, 1.0, &mut Outline::default());
        assert!(line.is_empty());
    }
}
