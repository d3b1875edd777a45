//! Proximal point: Newton on the problem regularised by `E (r − centre)`, the centre following the answers.

use super::chain::Chain;
use crate::contact::delassus::Delassus;
use crate::linalg::Vec3;

/// Where proximal points begin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Centre {
    /// At the best impulse; with at most so many centres.
    Best(usize),
    /// At the last point of the interior point method, whatever its merit: it solves a nearby problem.
    Last,
}

/// Most factorisations from the last point of the interior point method.
const MOST_FROM_LAST: usize = 120;
/// Proximal points from the best impulse are given up where the merit is this many times that of the best.
const LOST: f64 = 1e3;

impl<D: Delassus> Chain<'_, D> {
    /// Proximal points, starting with the relative shift `shift`.
    pub fn proximal_point(&mut self, from: Centre, mut shift: f64) {
        const INNER: usize = 10;
        let n = self.d.contacts();
        let (mut centre, centres, most, lost) = match from {
            Centre::Best(centres) => (self.b.best.clone(), centres, usize::MAX, LOST),
            Centre::Last => (self.b.last.clone(), usize::MAX, MOST_FROM_LAST, f64::INFINITY),
        };
        let begun = self.factorizations;
        let mut x = centre.clone();
        let mut next = vec![Vec3::ZERO; n];
        let mut trial = vec![Vec3::ZERO; n];
        let mut merit = self.evaluate(&centre, "proximal");
        let mut stagnations = 0;
        for _ in 0..centres {
            let spent = self.factorizations - begun >= most;
            if self.finished() || spent || shift > 1.0 || stagnations >= 8 || merit > lost * self.best_merit {
                return;
            }
            x.copy_from_slice(&centre);
            let mut residual = self.prox_merit(&x, &centre, shift);
            let mut inner = 0;
            while residual > 0.1 * merit && inner < INNER && !self.finished() {
                inner += 1;
                // `b.u` belongs to `x` after `prox_merit`.
                if !self.alart_curnier_step(&x, Some(&centre), shift, &mut next) {
                    break;
                }
                let full = self.prox_merit(&next, &centre, shift);
                let mut best = (full, 1.0);
                if full >= 0.9 * residual || full.is_nan() {
                    for t in [0.5, 0.2, 0.08] {
                        for c in 0..n {
                            trial[c] = x[c].lerp(next[c], t);
                        }
                        let m = self.prox_merit(&trial, &centre, shift);
                        if m < best.0 || !best.0.is_finite() {
                            best = (m, t);
                        }
                    }
                }
                for c in 0..n {
                    x[c] = x[c].lerp(next[c], best.1);
                }
                residual = self.prox_merit(&x, &centre, shift);
                if !residual.is_finite() {
                    break;
                }
            }
            if residual <= 0.1 * merit {
                centre.copy_from_slice(&x);
                let m = self.evaluate(&centre, "proximal");
                stagnations = if m < 0.99 * merit { 0 } else { stagnations + 1 };
                merit = m;
                if inner <= 4 {
                    shift = (0.3 * shift).max(1e-10);
                }
            } else {
                shift *= 10.0;
            }
        }
    }

    /// Merit of the regularised problem, u + E (r − centre) in place of u. Leaves `u` itself in `b.u`.
    fn prox_merit(&mut self, r: &[Vec3], centre: &[Vec3], shift: f64) -> f64 {
        let mut u = std::mem::take(&mut self.b.u);
        self.d.velocity(r, &mut u);
        let mut sum = 0.0;
        for c in 0..r.len() {
            let s = self.d.scale(c);
            let shifted = u[c] + shift * s * (r[c] - centre[c]);
            sum += s * self.law(c).natural_map(r[c], shifted, s).length_squared();
        }
        self.b.u = u;
        sum.sqrt()
    }
}
