//! Gauss–Seidel with an exact one-contact solve, accelerated by nonlinear conjugate gradients
//! (NNCG, Silcowitz et al. 2010) and working on body velocities, so `W` is never formed.

use super::chain::Chain;
use crate::contact::delassus::Delassus;
use crate::linalg::Vec3;

/// The merit costs about half a sweep, so it is looked at only every so many sweeps.
const JUDGE_EVERY: usize = 10;

impl<D: Delassus> Chain<'_, D> {
    /// Up to `n` accelerated sweeps from the best impulse.
    pub fn sweep_best(&mut self, n: usize) {
        let mut x = std::mem::take(&mut self.b.x);
        let mut swept = std::mem::take(&mut self.b.swept);
        let mut direction = std::mem::take(&mut self.b.direction);
        x.copy_from_slice(&self.b.best);
        swept.copy_from_slice(&x);
        direction.clear();
        direction.resize(x.len(), Vec3::ZERO);
        let mut old = f64::INFINITY;
        for k in 0..n {
            if self.finished() {
                break;
            }
            self.d.load(&x);
            swept.copy_from_slice(&x);
            self.d.sweep(&mut swept, &mut self.b.a_warm);
            self.sweeps += 1;
            // gr = x − sweep(x); Fletcher–Reeves, restarted when it grows.
            let mut size = 0.0;
            for c in 0..x.len() {
                size += self.d.scale(c) * (x[c] - swept[c]).length_squared();
            }
            if (k + 1) % JUDGE_EVERY == 0 || k + 1 == n || size == 0.0 {
                for c in 0..x.len() {
                    self.b.u[c] = self.d.contact_velocity(c);
                }
                self.judge(&swept, "nncg");
                if size == 0.0 {
                    break;
                }
            }
            let beta = size / old;
            old = size;
            if beta > 1.0 {
                direction.fill(Vec3::ZERO);
                x.copy_from_slice(&swept);
            } else {
                for c in 0..x.len() {
                    let gr = x[c] - swept[c];
                    x[c] = swept[c] + beta * direction[c];
                    direction[c] = beta * direction[c] - gr;
                }
            }
        }
        self.b.x = x;
        self.b.swept = swept;
        self.b.direction = direction;
    }
}
