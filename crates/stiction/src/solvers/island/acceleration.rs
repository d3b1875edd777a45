//! From one image of a fixed-point map to the next iterate: Chebyshev (Alg. 3), Nesterov, Anderson.
//!
//! All take the iterate v and its image v** = G(v) and replace v. Chebyshev and Nesterov see the sequence only; Anderson
//! mixes the last images so that their moves cancel best, in the norm of the given weights.

use crate::linalg::krylov::{add_scaled, dot};
use crate::linalg::{Cholesky, wide};

/// How the fixed point is accelerated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acceleration {
    /// The plain fixed point.
    None,
    /// Chebyshev's semi-iteration with an estimated radius (38)–(39).
    Chebyshev(Chebyshev),
    /// Nesterov's momentum, restarted where it goes uphill. Needs eigenvalues of W A of at most one, and loses its way
    /// where stiff bodies slide on free rigid ones: friction has no potential.
    Nesterov,
    /// Anderson's mixing of this many images.
    Anderson(usize),
}

/// Numbers that the paper leaves open (correction C9); the defaults are those that were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chebyshev {
    /// Plain iterations before the acceleration begins, l_s.
    pub slow_start: usize,
    /// Under-relaxation, 0 to 1.
    pub relaxation: f64,
    /// The estimated radius is kept below this: at one the recursion is not damped at all.
    pub radius_cap: f64,
}

impl Default for Chebyshev {
    fn default() -> Self {
        Chebyshev { slow_start: 10, relaxation: 0.9, radius_cap: 0.9999 }
    }
}

/// The state of an acceleration.
#[derive(Default)]
pub(crate) struct Accelerator {
    /// Number of the iteration, from 1.
    l: usize,
    /// v of the iteration before, or the image before (Nesterov).
    before: Vec<f64>,
    nu: f64,
    theta: f64,
    /// ‖v − v_before‖ of the last two iterations.
    moves: [f64; 2],
    weight: Vec<f64>,
    anderson: Anderson,
}

impl Accelerator {
    /// Forgets the past. `weight` has the scale of each unknown in the norm in which moves are compared: about √diag A.
    pub fn start(&mut self, kind: Acceleration, v: &[f64], weight: &[f64]) {
        (self.l, self.nu, self.theta) = (0, 1.0, 1.0);
        self.moves = [0.0; 2];
        self.before.clear();
        self.before.extend_from_slice(v);
        self.weight.clear();
        self.weight.extend_from_slice(weight);
        if let Acceleration::Anderson(memory) = kind {
            self.anderson.start(memory, weight);
        }
    }

    /// Replaces `v` by the next iterate, `image` = G(v). Returns ‖v⁺ − v‖₂, the paper's residual.
    pub fn advance(&mut self, kind: Acceleration, v: &mut [f64], image: &[f64]) -> f64 {
        self.l += 1;
        let moved = match kind {
            Acceleration::None => self.plain(v, image),
            Acceleration::Chebyshev(c) => self.chebyshev(c, v, image),
            Acceleration::Nesterov => self.nesterov(v, image),
            Acceleration::Anderson(_) => {
                self.before.copy_from_slice(v);
                self.anderson.mix(v, image);
                distance(v, &self.before)
            }
        };
        self.moves = [moved, self.moves[0]];
        moved
    }

    fn plain(&mut self, v: &mut [f64], image: &[f64]) -> f64 {
        let moved = distance(v, image);
        v.copy_from_slice(image);
        moved
    }

    /// [`advance`](Accelerator::advance) with the image v** = v − W r of a residual r, which is written to `image`.
    /// Chebyshev's method reads every vector once.
    pub fn descend(
        &mut self,
        kind: Acceleration,
        v: &mut [f64],
        (w, r): (&[f64], &[f64]),
        image: &mut [f64],
    ) -> f64 {
        let Acceleration::Chebyshev(c) = kind else {
            for ((image, v), (w, r)) in image.iter_mut().zip(&*v).zip(w.iter().zip(r)) {
                *image = v - w * r;
            }
            return self.advance(kind, v, image);
        };
        self.l += 1;
        let factors = self.factors(c);
        let moved = chebyshev_from(v, w, r, image, &mut self.before, factors);
        self.moves = [moved, self.moves[0]];
        moved
    }

    /// ν and the under-relaxation of this iteration.
    fn factors(&mut self, c: Chebyshev) -> (f64, f64) {
        // ϱ = ‖v − v_before‖/‖v_before − v_before²‖ (39)
        let rho = if self.moves[1] > 0.0 { self.moves[0] / self.moves[1] } else { 0.0 };
        let rho2 = rho.min(c.radius_cap).powi(2);
        self.nu = if self.l < c.slow_start {
            1.0
        } else if self.l == c.slow_start {
            2.0 / (2.0 - rho2)
        } else {
            4.0 / (4.0 - rho2 * self.nu)
        };
        (self.nu, if self.l < c.slow_start { 1.0 } else { c.relaxation })
    }

    fn chebyshev(&mut self, c: Chebyshev, v: &mut [f64], image: &[f64]) -> f64 {
        let factors = self.factors(c);
        chebyshev(v, image, &mut self.before, factors)
    }

    /// v⁺ = y + β (y − y_before), y the image; β = 0 where the step opposes the last one.
    fn nesterov(&mut self, v: &mut [f64], image: &[f64]) -> f64 {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let mut beta = (self.theta - 1.0) / next;
        self.theta = next;
        // In the metric of W⁻¹, in which v − y is the gradient.
        let uphill: f64 = if self.l > 1 {
            let moves = v.iter().zip(image).zip(&self.before).zip(&self.weight);
            moves.map(|(((v, y), b), w)| w * w * (v - y) * (y - b)).sum()
        } else {
            0.0
        };
        if uphill > 0.0 {
            (beta, self.theta) = (0.0, 1.0);
        }
        let mut sum = 0.0;
        for ((v, image), before) in v.iter_mut().zip(image).zip(&mut self.before) {
            let next = image + beta * (image - *before);
            sum += (next - *v) * (next - *v);
            *before = *image;
            *v = next;
        }
        sum.sqrt()
    }
}

/// v⁺ = ν (u (v** − v) + v − v_before) + v_before, (38) with the under-relaxation u, and the square of the move.
#[inline(always)]
fn semi_iteration((nu, relaxation): (f64, f64), v: f64, image: f64, before: f64) -> (f64, f64) {
    let next = nu * (relaxation * (image - v) + v - before) + before;
    (next, (next - v) * (next - v))
}

/// Chebyshev's step from an image. Returns the length of the move.
fn chebyshev(v: &mut [f64], image: &[f64], before: &mut [f64], factors: (f64, f64)) -> f64 {
    #[inline(always)]
    fn run(v: &mut [f64], image: &[f64], before: &mut [f64], factors: (f64, f64)) -> f64 {
        // Four sums, so that no addition waits for the last.
        let mut sum = [0.0; 4];
        for ((v, image), before) in v.chunks_mut(4).zip(image.chunks(4)).zip(before.chunks_mut(4)) {
            for (((sum, v), image), before) in sum.iter_mut().zip(v).zip(image).zip(before) {
                let (next, square) = semi_iteration(factors, *v, *image, *before);
                *sum += square;
                *before = *v;
                *v = next;
            }
        }
        (sum[0] + sum[1] + sum[2] + sum[3]).sqrt()
    }
    wide!(run(v: &mut [f64], image: &[f64], before: &mut [f64], factors: (f64, f64)) -> f64)
}

/// The same with the image v − W r, which is written to `image`.
fn chebyshev_from(
    v: &mut [f64],
    w: &[f64],
    r: &[f64],
    image: &mut [f64],
    before: &mut [f64],
    factors: (f64, f64),
) -> f64 {
    #[inline(always)]
    fn run(
        v: &mut [f64],
        w: &[f64],
        r: &[f64],
        image: &mut [f64],
        before: &mut [f64],
        factors: (f64, f64),
    ) -> f64 {
        let n = v.len();
        let (w, r, image, before) = (&w[..n], &r[..n], &mut image[..n], &mut before[..n]);
        let mut sum = [0.0; 4];
        let mut one = |i: usize, sum: &mut f64| {
            image[i] = v[i] - w[i] * r[i];
            let (next, square) = semi_iteration(factors, v[i], image[i], before[i]);
            *sum += square;
            before[i] = v[i];
            v[i] = next;
        };
        let whole = n / 4 * 4;
        for i in (0..whole).step_by(4) {
            for k in 0..4 {
                one(i + k, &mut sum[k]);
            }
        }
        for i in whole..n {
            one(i, &mut sum[i - whole]);
        }
        (sum[0] + sum[1] + sum[2] + sum[3]).sqrt()
    }
    wide!(run(v: &mut [f64], w: &[f64], r: &[f64], image: &mut [f64], before: &mut [f64], factors: (f64, f64)) -> f64)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Regularisation of the mixing weights, relative.
const MIX_SHIFT: f64 = 1e-12;
/// Mixing weights whose sizes add up to more than this are not trusted: the oldest images are dropped.
const WILD: f64 = 1e6;
/// Numbers of a vector that are worked on at once.
const PIECE: usize = 1024;

/// Anderson's method: v ← Σ γ v** with Σ γ = 1 and the least ‖Σ γ (v** − v)‖.
#[derive(Default)]
struct Anderson {
    memory: usize,
    weight: Vec<f64>,
    image: Vec<Vec<f64>>,
    moved: Vec<Vec<f64>>,
    /// Products of the moves, by place.
    gram: Vec<f64>,
    small: Vec<f64>,
    mix: Vec<f64>,
    factor: Cholesky,
    /// Places that hold something, oldest first.
    order: Vec<usize>,
}

impl Anderson {
    fn start(&mut self, memory: usize, weight: &[f64]) {
        self.memory = memory.max(1);
        self.order.clear();
        self.weight.clear();
        self.weight.extend_from_slice(weight);
        if self.image.len() < self.memory {
            self.image.resize_with(self.memory, Vec::new);
            self.moved.resize_with(self.memory, Vec::new);
        }
        self.gram.clear();
        self.gram.resize(self.memory * self.memory, 0.0);
    }

    fn mix(&mut self, v: &mut [f64], image: &[f64]) {
        let place = if self.order.len() < self.memory { self.order.len() } else { self.order.remove(0) };
        self.order.push(place);
        let (kept, moved) = (&mut self.image[place], &mut self.moved[place]);
        kept.clear();
        kept.extend_from_slice(image);
        moved.clear();
        moved.extend(image.iter().zip(v.iter()).zip(&self.weight).map(|((y, v), w)| (y - v) * w));
        for &p in &self.order {
            self.gram[p * self.memory + place] = 0.0;
        }
        // Piece by piece, so that what is used several times stays near.
        let pieces = |n: usize| (0..n).step_by(PIECE).map(move |at| at..n.min(at + PIECE));
        for piece in pieces(v.len()) {
            let new = &self.moved[place][piece.clone()];
            for &p in &self.order {
                self.gram[p * self.memory + place] += dot(&self.moved[p][piece.clone()], new);
            }
        }
        for &p in &self.order {
            self.gram[place * self.memory + p] = self.gram[p * self.memory + place];
        }
        while !self.weights() {
            self.order.remove(0);
        }
        for piece in pieces(v.len()) {
            let v = &mut v[piece.clone()];
            v.fill(0.0);
            for (k, &p) in self.order.iter().enumerate() {
                add_scaled(v, self.mix[k], &self.image[p][piece.clone()]);
            }
        }
    }

    /// Least squares through the products of the moves. False where the weights are not to be trusted.
    fn weights(&mut self) -> bool {
        let m = self.order.len();
        self.mix.clear();
        self.mix.resize(m, 1.0);
        if m == 1 {
            return true;
        }
        self.small.clear();
        let most = self.order.iter().map(|&p| self.gram[p * self.memory + p]).fold(0.0, f64::max);
        for &p in &self.order {
            for &q in &self.order {
                let shift = if p == q { MIX_SHIFT * most + f64::MIN_POSITIVE } else { 0.0 };
                self.small.push(self.gram[p * self.memory + q] + shift);
            }
        }
        self.factor.factor(&self.small, m);
        self.factor.solve(&mut self.mix);
        let sum: f64 = self.mix.iter().sum();
        for g in &mut self.mix {
            *g /= sum;
        }
        self.mix.iter().map(|g| g.abs()).sum::<f64>() < WILD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations until v = G(v) = v − W (A v − b) has an error of 1e-10, for a chain of springs.
    fn count(kind: Acceleration, scale: f64) -> usize {
        let n = 40;
        let product = |v: &[f64], y: &mut [f64]| {
            for i in 0..n {
                let left = if i > 0 { v[i - 1] } else { 0.0 };
                let right = if i + 1 < n { v[i + 1] } else { 0.0 };
                y[i] = 2.05 * v[i] - left - right;
            }
        };
        let exact: Vec<f64> = (0..n).map(|i| (i as f64 * 0.3).sin()).collect();
        let mut b = vec![0.0; n];
        product(&exact, &mut b);
        let (mut v, mut y) = (vec![0.0; n], vec![0.0; n]);
        let mut a = Accelerator::default();
        a.start(kind, &v, &vec![1.0; n]);
        for l in 1..5000 {
            product(&v, &mut y);
            for i in 0..n {
                y[i] = v[i] - scale / 4.05 * (y[i] - b[i]);
            }
            a.advance(kind, &mut v, &y);
            if distance(&v, &exact) < 1e-10 {
                return l;
            }
        }
        5000
    }

    #[test]
    fn every_acceleration_finds_the_fixed_point_sooner() {
        let plain = count(Acceleration::None, 1.8);
        for (kind, scale) in [
            (Acceleration::Chebyshev(Chebyshev::default()), 1.8),
            (Acceleration::Nesterov, 1.0),
            (Acceleration::Anderson(10), 1.8),
        ] {
            let fast = count(kind, scale);
            assert!(2 * fast < plain && plain < 5000, "{kind:?}: {fast} against {plain}");
        }
    }

    /// Correction C9: the splitting of (38) is A₁ = W⁻¹, A₂ = W⁻¹ − A, and the iteration A₁⁻¹(A₂ v + b), which is
    /// v − W (A v − b). With the printed signs the solution is no fixed point.
    #[test]
    fn the_printed_splitting_has_another_fixed_point() {
        let (a, b, w) = (3.0, 2.0, 0.4);
        let v: f64 = b / a;
        let ours = w * ((1.0 / w - a) * v + b);
        let printed = -w * ((1.0 / w - a) * v - b);
        assert!((ours - v).abs() < 1e-15 && (printed - v).abs() > 0.1);
    }
}
