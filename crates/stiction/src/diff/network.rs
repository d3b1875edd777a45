//! A small network of fully connected layers, to be trained through a simulation (section 6.4).

use super::optimize::AdamSettings;
use super::optimize::Moments;
use crate::linalg::Rng;

/// Layers of y = tanh(W x + b); the last one is linear.
#[derive(Clone, Debug)]
pub struct Network {
    sizes: Vec<usize>,
    /// All weights and biases, layer after layer: rows of W, then b.
    pub weights: Vec<f64>,
    moments: Moments,
}

impl Network {
    /// Of these layer sizes, inputs first, with random weights of deviation 1/√(inputs).
    pub fn new(sizes: &[usize], seed: u64) -> Network {
        let mut rng = Rng::new(seed);
        let mut weights = Vec::new();
        for w in sizes.windows(2) {
            let scale = (3.0 / w[0] as f64).sqrt();
            weights.extend((0..w[0] * w[1]).map(|_| scale * (2.0 * rng.uniform() - 1.0)));
            weights.extend(std::iter::repeat_n(0.0, w[1]));
        }
        Network { sizes: sizes.to_vec(), weights, moments: Moments::default() }
    }

    /// Values of all layers, inputs first.
    fn layers(&self, input: &[f64]) -> Vec<Vec<f64>> {
        let mut all = vec![input.to_vec()];
        let mut at = 0;
        for (k, w) in self.sizes.windows(2).enumerate() {
            let (n, m) = (w[0], w[1]);
            let x = &all[k];
            let last = k + 2 == self.sizes.len();
            let y = (0..m)
                .map(|i| {
                    let row = &self.weights[at + i * n..at + (i + 1) * n];
                    let s = row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + self.weights[at + n * m + i];
                    if last { s } else { s.tanh() }
                })
                .collect();
            all.push(y);
            at += n * m + m;
        }
        all
    }

    /// Outputs for inputs.
    pub fn forward(&self, input: &[f64]) -> Vec<f64> {
        self.layers(input).pop().unwrap_or_default()
    }

    /// Adds to `gradient` what a change of the weights does to a loss whose derivatives by the outputs are given.
    pub fn backward(&self, input: &[f64], by_output: &[f64], gradient: &mut [f64]) {
        let layers = self.layers(input);
        let mut bar = by_output.to_vec();
        let mut at = self.weights.len();
        for k in (0..self.sizes.len() - 1).rev() {
            let (n, m) = (self.sizes[k], self.sizes[k + 1]);
            at -= n * m + m;
            if k + 2 < self.sizes.len() {
                for (b, y) in bar.iter_mut().zip(&layers[k + 1]) {
                    *b *= 1.0 - y * y;
                }
            }
            let mut next = vec![0.0; n];
            for i in 0..m {
                gradient[at + n * m + i] += bar[i];
                for j in 0..n {
                    gradient[at + i * n + j] += bar[i] * layers[k][j];
                    next[j] += bar[i] * self.weights[at + i * n + j];
                }
            }
            bar = next;
        }
    }

    /// One step of Adam.
    pub fn learn(&mut self, settings: &AdamSettings, rate: f64, gradient: &[f64]) {
        for (w, d) in self.weights.iter_mut().zip(self.moments.step(settings, rate, gradient)) {
            *w += d;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backward_is_the_derivative_of_forward() {
        let mut net = Network::new(&[2, 5, 4, 3], 1);
        let (x, bar) = ([0.3, -0.8], [1.0, -2.0, 0.5]);
        let loss = |n: &Network| n.forward(&x).iter().zip(bar).map(|(y, b)| y * b).sum::<f64>();
        let mut gradient = vec![0.0; net.weights.len()];
        net.backward(&x, &bar, &mut gradient);
        for i in 0..gradient.len() {
            let w = net.weights[i];
            net.weights[i] = w + 1e-6;
            let up = loss(&net);
            net.weights[i] = w - 1e-6;
            let slope = (up - loss(&net)) / 2e-6;
            net.weights[i] = w;
            assert!((gradient[i] - slope).abs() < 1e-8, "weight {i}: {} {slope}", gradient[i]);
        }
    }
}
