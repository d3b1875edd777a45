//! L-BFGS (Nocedal 1980) with projection on bounds.

use super::{Bounds, End, Minimum, Record, dot};

/// Settings of [`lbfgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsSettings {
    /// Pairs that are remembered.
    pub memory: usize,
    /// Most evaluations.
    pub evaluations: usize,
    /// Stop when Φ is below this.
    pub goal: f64,
    /// Stop when the projected gradient is below this share of the first one.
    pub gradient: f64,
}

impl Default for LbfgsSettings {
    fn default() -> Self {
        LbfgsSettings { memory: 10, evaluations: 200, goal: 0.0, gradient: 1e-12 }
    }
}

/// A step must fall by this share of what its slope promises (Armijo).
const ENOUGH: f64 = 1e-4;
/// A step is too short where more than this share of the slope is left (Wolfe).
const STEEP: f64 = 0.9;

/// Minimises Φ from its value and gradient; a step is shortened until Φ falls (Armijo), and lengthened where the slope asks for it.
/// Without value and gradient (`None`) it stops.
pub fn lbfgs<R: Into<Option<(f64, Vec<f64>)>>>(
    start: &[f64],
    bounds: &Bounds,
    settings: &LbfgsSettings,
    mut f: impl FnMut(&[f64]) -> R,
) -> Minimum {
    let n = start.len();
    let mut x = start.to_vec();
    bounds.clamp(&mut x);
    let mut record = Record::new(&x);
    let Some((mut value, mut g)) = f(&x).into() else { return record.end(End::Stopped) };
    record.see(&x, value);
    if !value.is_finite() || g.iter().any(|g| !g.is_finite()) {
        return record.end(End::NotFinite);
    }
    // What moves Φ by less than its rounding moves nothing.
    if g.iter().zip(&x).all(|(g, x)| (g * x.abs().max(1.0)).abs() <= 1e-13 * value.abs()) {
        return record.end(if value <= settings.goal { End::Goal } else { End::NoSensitivity });
    }
    // What still points into the allowed region.
    let projected = |x: &[f64], g: &[f64]| -> Vec<f64> {
        let blocked = |i: usize| (x[i] <= bounds.lo[i] && g[i] > 0.0) || (x[i] >= bounds.hi[i] && g[i] < 0.0);
        (0..n).map(|i| if blocked(i) { 0.0 } else { g[i] }).collect()
    };
    let first = dot(&g, &g).sqrt();
    let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    loop {
        if value <= settings.goal {
            return record.end(End::Goal);
        }
        let free = projected(&x, &g);
        if dot(&free, &free).sqrt() <= settings.gradient * first {
            return record.end(End::Stationary);
        }
        // Two loops.
        let mut d: Vec<f64> = free.iter().map(|g| -g).collect();
        let mut alphas = Vec::new();
        for (s, y) in pairs.iter().rev() {
            let a = dot(s, &d) / dot(s, y);
            alphas.push(a);
            for i in 0..n {
                d[i] -= a * y[i];
            }
        }
        if let Some((s, y)) = pairs.last() {
            let scale = dot(s, y) / dot(y, y);
            d.iter_mut().for_each(|d| *d *= scale);
        } else {
            // Nothing is known of the size of a step: a tenth of the point, or of one.
            let size = dot(&x, &x).sqrt().max(1.0) * 0.1 / dot(&d, &d).sqrt();
            d.iter_mut().for_each(|d| *d *= size.min(1.0));
        }
        for ((s, y), a) in pairs.iter().zip(alphas.iter().rev()) {
            let b = dot(y, &d) / dot(s, y);
            for i in 0..n {
                d[i] += (a - b) * s[i];
            }
        }
        for i in 0..n {
            if free[i] == 0.0 && g[i] != 0.0 {
                d[i] = 0.0;
            }
        }
        if dot(&d, &free) >= 0.0 {
            pairs.clear();
            d = free.iter().map(|g| -g * 0.1 / first).collect();
        }
        let slope = dot(&d, &free);
        let mut length = 1.0;
        let mut found: Option<(Vec<f64>, f64, Vec<f64>)> = None;
        for _ in 0..30 {
            if record.best.evaluations >= settings.evaluations {
                return record.end(End::Budget);
            }
            let mut trial: Vec<f64> = (0..n).map(|i| x[i] + length * d[i]).collect();
            bounds.clamp(&mut trial);
            let Some((v, h)) = f(&trial).into() else { return record.end(End::Stopped) };
            record.see(&trial, if v.is_finite() { v } else { f64::INFINITY });
            let falls = v.is_finite()
                && h.iter().all(|h| h.is_finite())
                && v <= value + ENOUGH * length * slope
                && found.as_ref().is_none_or(|best| v < best.1);
            if falls {
                // As steep as at the start: a longer step falls further, and shows how Φ bends (Wolfe).
                let steep = dot(&h, &d) < STEEP * slope && trial.iter().zip(&x).any(|(a, b)| a != b);
                found = Some((trial, v, h));
                if !steep {
                    break;
                }
                length *= 4.0;
                continue;
            }
            if found.is_some() {
                break;
            }
            // The parabola through what is known, within bounds.
            let guess = if v.is_finite() {
                -slope * length * length / (2.0 * (v - value - slope * length))
            } else {
                0.0
            };
            length = guess.clamp(0.1 * length, 0.5 * length);
        }
        let Some((next, v, h)) = found else {
            if pairs.is_empty() {
                return record.end(End::Stationary);
            }
            pairs.clear();
            continue;
        };
        let s: Vec<f64> = (0..n).map(|i| next[i] - x[i]).collect();
        let y: Vec<f64> = (0..n).map(|i| h[i] - g[i]).collect();
        if dot(&s, &y) > 1e-12 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
            pairs.push((s, y));
            if pairs.len() > settings.memory {
                pairs.remove(0);
            }
        }
        (x, value, g) = (next, v, h);
    }
}
