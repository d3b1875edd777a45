//! Adam (Kingma & Ba 2014).

use super::{Bounds, End, Minimum, Record};

/// Settings of [`adam`]; the defaults of β are those of the paper's controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// Step size, in units of the parameters.
    pub rate: f64,
    /// Decay of the mean gradient.
    pub beta1: f64,
    /// Decay of the mean square.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
    /// Most evaluations.
    pub evaluations: usize,
    /// Stop when Φ is below this.
    pub goal: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { rate: 1e-2, beta1: 0.95, beta2: 0.999, epsilon: 1e-8, evaluations: 500, goal: 0.0 }
    }
}

/// Moving means of a gradient and of its square.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments {
    mean: Vec<f64>,
    square: Vec<f64>,
    count: i32,
}

impl Moments {
    /// The step that Adam takes for a gradient.
    pub fn step(&mut self, s: &AdamSettings, rate: f64, g: &[f64]) -> Vec<f64> {
        self.mean.resize(g.len(), 0.0);
        self.square.resize(g.len(), 0.0);
        self.count += 1;
        let (c1, c2) = (1.0 - s.beta1.powi(self.count), 1.0 - s.beta2.powi(self.count));
        (0..g.len())
            .map(|i| {
                self.mean[i] = s.beta1 * self.mean[i] + (1.0 - s.beta1) * g[i];
                self.square[i] = s.beta2 * self.square[i] + (1.0 - s.beta2) * g[i] * g[i];
                -rate * (self.mean[i] / c1) / ((self.square[i] / c2).sqrt() + s.epsilon)
            })
            .collect()
    }
}

/// Minimises Φ from its value and gradient; without them (`None`) it stops.
pub fn adam<R: Into<Option<(f64, Vec<f64>)>>>(
    start: &[f64],
    bounds: &Bounds,
    settings: &AdamSettings,
    mut f: impl FnMut(&[f64]) -> R,
) -> Minimum {
    let mut x = start.to_vec();
    bounds.clamp(&mut x);
    let mut record = Record::new(&x);
    let mut moments = Moments::default();
    while record.best.evaluations < settings.evaluations {
        let Some((value, g)) = f(&x).into() else { return record.end(End::Stopped) };
        record.see(&x, if value.is_finite() { value } else { f64::INFINITY });
        if value <= settings.goal {
            return record.end(End::Goal);
        }
        if !value.is_finite() || g.iter().any(|g| !g.is_finite()) {
            if record.best.value.is_infinite() {
                return record.end(End::NotFinite);
            }
            // Back to the best point with a fresh memory.
            x = record.best.x.clone();
            moments = Moments::default();
            continue;
        }
        if record.best.evaluations == 1 && g.iter().all(|g| *g == 0.0) {
            return record.end(End::NoSensitivity);
        }
        for (x, d) in x.iter_mut().zip(moments.step(settings, settings.rate, &g)) {
            *x += d;
        }
        bounds.clamp(&mut x);
    }
    record.end(End::Budget)
}
