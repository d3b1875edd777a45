//! Levenberg–Marquardt on Φ = ½ Σ r²: Gauss–Newton with a trust in it that grows and shrinks.

use super::{Bounds, End, Minimum, Record, dot};
use crate::linalg::dense::inverse;

/// Settings of [`levenberg_marquardt`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevenbergSettings {
    /// Most evaluations.
    pub evaluations: usize,
    /// Stop when Φ is below this.
    pub goal: f64,
    /// Stop when Φ falls by less than this share in a step.
    pub change: f64,
}

impl Default for LevenbergSettings {
    fn default() -> Self {
        LevenbergSettings { evaluations: 100, goal: 0.0, change: 1e-10 }
    }
}

/// Minimises ½ Σ r² from residuals and their rows dr/dp. Also returns the deviation of each parameter, √(σ² (JᵀJ)⁻¹ᵢᵢ), as
/// scattered residuals at the minimum allow it; infinite where residuals do not determine it.
/// Without residuals and rows (`None`) it stops.
pub fn levenberg_marquardt<R: Into<Option<(Vec<f64>, Vec<Vec<f64>>)>>>(
    start: &[f64],
    bounds: &Bounds,
    settings: &LevenbergSettings,
    mut f: impl FnMut(&[f64]) -> R,
) -> (Minimum, Vec<f64>) {
    let n = start.len();
    let mut x = start.to_vec();
    bounds.clamp(&mut x);
    let mut record = Record::new(&x);
    let half = |r: &[f64]| 0.5 * dot(r, r);
    let unknown = vec![f64::INFINITY; n];
    let Some((mut r, mut rows)) = f(&x).into() else { return (record.end(End::Stopped), unknown) };
    let mut value = half(&r);
    record.see(&x, value);
    let normal = |r: &[f64], rows: &[Vec<f64>]| {
        let mut a = vec![0.0; n * n];
        let mut g = vec![0.0; n];
        for (r, row) in r.iter().zip(rows) {
            for i in 0..n {
                g[i] += row[i] * r;
                for j in 0..n {
                    a[i * n + j] += row[i] * row[j];
                }
            }
        }
        (a, g)
    };
    let deviations = |r: &[f64], rows: &[Vec<f64>]| -> Vec<f64> {
        let (a, _) = normal(r, rows);
        // Units of parameters differ by many decades: invert what has a unit diagonal.
        let size: Vec<f64> = (0..n).map(|i| a[i * n + i].sqrt()).collect();
        let scaled: Vec<f64> =
            (0..n * n).map(|k| a[k] / (size[k / n] * size[k % n]).max(f64::MIN_POSITIVE)).collect();
        let inv = inverse(&scaled, n);
        let sigma2 = dot(r, r) / (r.len().saturating_sub(n)).max(1) as f64;
        (0..n).map(|i| (sigma2 * inv[i * n + i]).abs().sqrt() / size[i]).collect()
    };
    if !value.is_finite() {
        return (record.end(End::NotFinite), unknown);
    }
    if rows.iter().flatten().all(|d| *d == 0.0) {
        return (record.end(End::NoSensitivity), unknown);
    }
    let mut trust = 1e-3;
    let end = loop {
        if value <= settings.goal {
            break End::Goal;
        }
        if record.best.evaluations >= settings.evaluations {
            break End::Budget;
        }
        let (a, g) = normal(&r, &rows);
        let mut m = a.clone();
        for i in 0..n {
            let blocked = (x[i] <= bounds.lo[i] && g[i] > 0.0) || (x[i] >= bounds.hi[i] && g[i] < 0.0);
            if blocked || a[i * n + i] == 0.0 {
                for j in 0..n {
                    m[i * n + j] = 0.0;
                    m[j * n + i] = 0.0;
                }
                m[i * n + i] = f64::INFINITY;
            } else {
                m[i * n + i] *= 1.0 + trust;
            }
        }
        // Unit diagonal, again because of units.
        let size: Vec<f64> = (0..n).map(|i| m[i * n + i].sqrt()).collect();
        let fixed = |i: usize| !size[i].is_finite();
        let scaled: Vec<f64> = (0..n * n)
            .map(|k| {
                let (i, j) = (k / n, k % n);
                if fixed(i) || fixed(j) { f64::from(i == j) } else { m[k] / (size[i] * size[j]) }
            })
            .collect();
        let inv = inverse(&scaled, n);
        let mut trial = x.clone();
        for i in (0..n).filter(|i| !fixed(*i)) {
            let step: f64 = (0..n).filter(|j| !fixed(*j)).map(|j| inv[i * n + j] * g[j] / size[j]).sum();
            trial[i] -= step / size[i];
        }
        bounds.clamp(&mut trial);
        let Some((next, next_rows)) = f(&trial).into() else { break End::Stopped };
        let v = half(&next);
        record.see(&trial, if v.is_finite() { v } else { f64::INFINITY });
        if v < value {
            let small = value - v <= settings.change * value;
            (x, value, r, rows) = (trial, v, next, next_rows);
            trust = (trust * 0.2).max(1e-12);
            if small {
                break End::Stationary;
            }
        } else {
            trust *= 5.0;
            if trust > 1e12 {
                break End::Stationary;
            }
        }
    };
    let spread = deviations(&r, &rows);
    (record.end(end), spread)
}
