//! The crossing of two features by root finding on the volume that their four points span (CR 5.2).
//!
//! Four points on straight lines are in one plane where a cubic vanishes (Provot 1997). Its monotone pieces are found
//! from the derivative and each root by the method of Brent and Dekker; the first root at which the features overlap is
//! the crossing. Root finding gives the impact to rounding where the features cross properly. It says nothing where
//! they stay in one plane, and rounding may hide a graze: what must not be missed is asked of
//! [`vertex_face`](super::vertex_face) and [`edge_edge`](super::edge_edge).

use super::{Impact, Kind};
use crate::linalg::Vec3;

/// Steps of one root search; bisection alone needs 53.
const MOST_STEPS: usize = 100;
/// A crossing this far outside of a feature, as a share of its size, still counts.
const OUTSIDE: f64 = 1e-9;

/// A root of `f` between `a` and `b`, where it has opposite signs (or is zero), to within `tolerance`; `None` where the
/// signs are equal. Inverse quadratic interpolation and secants, safeguarded by bisection (Brent 1973, after Dekker 1969).
#[doc(alias = "Brent-Dekker")]
pub fn brent(mut f: impl FnMut(f64) -> f64, a: f64, b: f64, tolerance: f64) -> Option<f64> {
    let (mut a, mut b) = (a, b);
    let (mut fa, mut fb) = (f(a), f(b));
    if fa == 0.0 {
        return Some(a);
    }
    if fb == 0.0 {
        return Some(b);
    }
    if fa.signum() == fb.signum() || fa.is_nan() || fb.is_nan() {
        return None;
    }
    // b is the best so far, the root lies between b and c, a is the b before.
    let (mut c, mut fc) = (a, fa);
    let (mut step, mut before) = (b - a, b - a);
    for _ in 0..MOST_STEPS {
        if fb.signum() == fc.signum() {
            (c, fc) = (a, fa);
            (step, before) = (b - a, b - a);
        }
        if fc.abs() < fb.abs() {
            (a, b, c) = (b, c, b);
            (fa, fb, fc) = (fb, fc, fb);
        }
        let tolerance = 2.0 * f64::EPSILON * b.abs() + 0.5 * tolerance;
        let half = 0.5 * (c - b);
        if half.abs() <= tolerance || fb == 0.0 {
            break;
        }
        let mut bisect = before.abs() < tolerance || fa.abs() <= fb.abs();
        if !bisect {
            let s = fb / fa;
            let (mut p, mut q) = if a == c {
                (2.0 * half * s, 1.0 - s)
            } else {
                let (q, r) = (fa / fc, fb / fc);
                (s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0)), (q - 1.0) * (r - 1.0) * (s - 1.0))
            };
            if p > 0.0 {
                q = -q;
            } else {
                p = -p;
            }
            if 2.0 * p < (3.0 * half * q - (tolerance * q).abs()).min((before * q).abs()) {
                (before, step) = (step, p / q);
            } else {
                bisect = true;
            }
        }
        if bisect {
            (step, before) = (half, half);
        }
        (a, fa) = (b, fb);
        b += if step.abs() > tolerance { step } else { tolerance.copysign(half) };
        fb = f(b);
    }
    Some(b)
}

/// The first time at which vertex `x[0]` crosses the face `x[1..4]` while all move on straight lines.
pub fn vertex_face_crossing(start: &[Vec3; 4], end: &[Vec3; 4]) -> Option<Impact> {
    crossing(Kind::VertexFace, start, end)
}

/// The first time at which the edges `x[0], x[1]` and `x[2], x[3]` cross.
pub fn edge_edge_crossing(start: &[Vec3; 4], end: &[Vec3; 4]) -> Option<Impact> {
    crossing(Kind::EdgeEdge, start, end)
}

fn crossing(kind: Kind, start: &[Vec3; 4], end: &[Vec3; 4]) -> Option<Impact> {
    let x = [1, 2, 3].map(|k| start[k] - start[0]);
    let d = [1, 2, 3].map(|k| (end[k] - end[0]) - x[k - 1]);
    let volume = |t: f64| {
        let [a, b, c] = [0, 1, 2].map(|k| x[k] + d[k] * t);
        a.dot(b.cross(c))
    };
    // Coefficients of t, t² and t³.
    let c1 = d[0].dot(x[1].cross(x[2])) + x[0].dot(d[1].cross(x[2])) + x[0].dot(x[1].cross(d[2]));
    let c2 = x[0].dot(d[1].cross(d[2])) + d[0].dot(x[1].cross(d[2])) + d[0].dot(d[1].cross(x[2]));
    let c3 = d[0].dot(d[1].cross(d[2]));
    let mut cuts = [0.0, 0.0, 0.0, 1.0];
    let mut n = 1;
    for t in quadratic(3.0 * c3, 2.0 * c2, c1).into_iter().flatten() {
        if t > cuts[n - 1] && t < 1.0 {
            cuts[n] = t;
            n += 1;
        }
    }
    cuts[n] = 1.0;
    cuts[..=n].windows(2).find_map(|w| {
        let time = brent(volume, w[0], w[1], 0.0)?;
        let p: [Vec3; 4] = [0, 1, 2, 3].map(|k| start[k] * (1.0 - time) + end[k] * time);
        // In one plane, the features overlap where the nearest points coincide.
        let at = kind.nearest(&p);
        let size = [1, 2, 3].map(|k| p[k].distance(p[0])).into_iter().fold(0.0, f64::max);
        (kind.way(p, at).length() <= OUTSIDE * size).then_some(Impact { time, at })
    })
}

/// Real roots of a t² + b t + c, ascending.
fn quadratic(a: f64, b: f64, c: f64) -> [Option<f64>; 2] {
    let disc = b * b - 4.0 * a * c;
    if disc < 0.0 {
        return [None, None];
    }
    // Without cancellation.
    let q = -0.5 * (b + disc.sqrt().copysign(b));
    let (r, s) = (q / a, c / q);
    let finite = |x: f64| x.is_finite().then_some(x);
    if r <= s || !s.is_finite() { [finite(r), finite(s)] } else { [finite(s), finite(r)] }
}

#[cfg(test)]
mod tests {
    use super::super::{edge_edge, vertex_face};
    use super::*;
    use crate::linalg::Rng;

    #[test]
    fn brent_finds_roots_to_rounding() {
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 4] = [
            (|x| x.cos() - x, 0.0, 1.0, 0.7390851332151607),
            (|x| x.powi(9), -1.0, 2.0, 0.0),
            (|x| (x - 0.3).signum(), 0.0, 1.0, 0.3),
            (|x| x * x - 2.0, 0.0, 2.0, std::f64::consts::SQRT_2),
        ];
        for (f, a, b, want) in cases {
            let mut calls = 0;
            let root = brent(
                |x| {
                    calls += 1;
                    f(x)
                },
                a,
                b,
                1e-15,
            );
            assert!((root.unwrap() - want).abs() < 1e-12_f64.max(if want == 0.0 { 0.02 } else { 0.0 }));
            assert!(calls <= MOST_STEPS + 2, "{calls}");
        }
        assert_eq!(brent(|x| x + 2.0, 0.0, 1.0, 0.0), None);
    }

    #[test]
    fn both_ways_find_the_same_impacts() {
        let mut rng = Rng::new(21);
        let mut hits = 0;
        for _ in 0..4000 {
            let (start, end) = ([(); 4].map(|()| rng.normal3()), [(); 4].map(|()| rng.normal3()));
            for (a, b) in [
                (vertex_face_crossing(&start, &end), vertex_face(&start, &end, 0.0)),
                (edge_edge_crossing(&start, &end), edge_edge(&start, &end, 0.0)),
            ] {
                let Some(a) = a else { continue };
                let b = b.expect("a crossing is an impact");
                assert!(b.time <= a.time, "{a:?} {b:?}");
                hits += usize::from(a.time - b.time < 1e-3);
            }
        }
        assert!(hits > 200, "{hits}");
    }
}
