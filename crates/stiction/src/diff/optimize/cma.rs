//! CMA-ES (Hansen & Ostermeier 2001), rank-μ with weighted recombination: what one does without gradients.

use super::{Bounds, End, Minimum, Record};
use crate::linalg::Rng;

/// Settings of [`cma_es`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CmaSettings {
    /// Most evaluations.
    pub evaluations: usize,
    /// Stop when Φ is below this.
    pub goal: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for CmaSettings {
    fn default() -> Self {
        CmaSettings { evaluations: 2000, goal: 0.0, seed: 1 }
    }
}

/// Minimises Φ from values alone; without one (`None`) it stops. `spread` is the first deviation of each parameter.
pub fn cma_es<R: Into<Option<f64>>>(
    start: &[f64],
    spread: &[f64],
    bounds: &Bounds,
    settings: &CmaSettings,
    mut f: impl FnMut(&[f64]) -> R,
) -> Minimum {
    let n = start.len();
    let nf = n as f64;
    let lambda = 4 + (3.0 * nf.ln()).floor() as usize;
    let mu = lambda / 2;
    let weights: Vec<f64> =
        (0..mu).map(|i| ((mu as f64 + 0.5).ln() - (i as f64 + 1.0).ln()).max(0.0)).collect();
    let sum: f64 = weights.iter().sum();
    let weights: Vec<f64> = weights.iter().map(|w| w / sum).collect();
    let mueff = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let cc = (4.0 + mueff / nf) / (nf + 4.0 + 2.0 * mueff / nf);
    let cs = (mueff + 2.0) / (nf + mueff + 5.0);
    let c1 = 2.0 / ((nf + 1.3).powi(2) + mueff);
    let cmu = (1.0 - c1).min(2.0 * (mueff - 2.0 + 1.0 / mueff) / ((nf + 2.0).powi(2) + mueff));
    let damping = 1.0 + 2.0 * (((mueff - 1.0) / (nf + 1.0)).sqrt() - 1.0).max(0.0) + cs;
    let expected = nf.sqrt() * (1.0 - 1.0 / (4.0 * nf) + 1.0 / (21.0 * nf * nf));
    let mut rng = Rng::new(settings.seed);
    let mut normal = move || {
        let (u, v) = (1.0 - rng.uniform(), rng.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    // In units of the first deviations, so that the covariance starts at one.
    let mut mean = vec![0.0; n];
    let (mut sigma, mut c) = (1.0, identity(n));
    let (mut pc, mut ps) = (vec![0.0; n], vec![0.0; n]);
    let mut record = Record::new(start);
    let place = |y: &[f64]| {
        let mut x: Vec<f64> = (0..n).map(|i| start[i] + spread[i] * y[i]).collect();
        bounds.clamp(&mut x);
        x
    };
    let mut generation = 0;
    while record.best.evaluations < settings.evaluations {
        let l = cholesky(&c, n);
        let mut all: Vec<(f64, Vec<f64>, Vec<f64>)> = Vec::with_capacity(lambda);
        for _ in 0..lambda {
            let z: Vec<f64> = (0..n).map(|_| normal()).collect();
            let y: Vec<f64> = (0..n).map(|i| (0..=i).map(|k| l[i * n + k] * z[k]).sum()).collect();
            let at: Vec<f64> = (0..n).map(|i| mean[i] + sigma * y[i]).collect();
            let x = place(&at);
            let Some(value) = f(&x).into() else { return record.end(End::Stopped) };
            let value = if value.is_finite() { value } else { f64::INFINITY };
            record.see(&x, value);
            if value <= settings.goal {
                return record.end(End::Goal);
            }
            all.push((value, y, z));
        }
        if record.best.value.is_infinite() {
            return record.end(End::NotFinite);
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let blend = |k: usize, i: usize| -> f64 {
            (0..mu).map(|j| weights[j] * if k == 0 { all[j].1[i] } else { all[j].2[i] }).sum()
        };
        let yw: Vec<f64> = (0..n).map(|i| blend(0, i)).collect();
        let zw: Vec<f64> = (0..n).map(|i| blend(1, i)).collect();
        generation += 1;
        for i in 0..n {
            mean[i] += sigma * yw[i];
            ps[i] = (1.0 - cs) * ps[i] + (cs * (2.0 - cs) * mueff).sqrt() * zw[i];
        }
        let length = ps.iter().map(|p| p * p).sum::<f64>().sqrt();
        let stall =
            length / (1.0 - (1.0 - cs).powi(2 * generation)).sqrt() / expected < 1.4 + 2.0 / (nf + 1.0);
        let h = f64::from(stall);
        for i in 0..n {
            pc[i] = (1.0 - cc) * pc[i] + h * (cc * (2.0 - cc) * mueff).sqrt() * yw[i];
        }
        for i in 0..n {
            for j in 0..n {
                let rank: f64 = (0..mu).map(|k| weights[k] * all[k].1[i] * all[k].1[j]).sum();
                let lost = (1.0 - h) * cc * (2.0 - cc) * c[i * n + j];
                c[i * n + j] = (1.0 - c1 - cmu) * c[i * n + j] + c1 * (pc[i] * pc[j] + lost) + cmu * rank;
            }
        }
        sigma *= ((cs / damping) * (length / expected - 1.0)).exp();
        if sigma < 1e-14 {
            return record.end(End::Stationary);
        }
    }
    record.end(End::Budget)
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| f64::from(k / n == k % n)).collect()
}

/// Lower factor; directions that vanished keep a little.
fn cholesky(c: &[f64], n: usize) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let s: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            l[i * n + j] =
                if i == j { (c[i * n + i] - s).max(1e-20).sqrt() } else { (c[i * n + j] - s) / l[j * n + j] };
        }
    }
    l
}
