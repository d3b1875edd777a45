//! Gauss–Seidel with an exact one-contact solve, accelerated by nonlinear conjugate gradients
//! (NNCG, Silcowitz et al. 2010) and working on body velocities, so `W` is never formed.

use super::chain::Chain;
use crate::contact::delassus::Delassus;
use crate::linalg::Vec3;

/// The merit costs about half a sweep, so it is looked at only every so many sweeps.
const JUDGE_EVERY: usize = 10;
/// Sweeps that leave more of the merit than this since it was last looked at do not pay.
const PAYS: f64 = 0.9;

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
        let mut last_merit = f64::INFINITY;
        let sweeps_alone = self.d.system_size() > self.settings.newton_size;
        self.d.load(&x);
        for k in 0..n {
            if self.finished() {
                break;
            }
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
                let merit = self.judge(&swept, "nncg");
                // Where the last ten hardly helped, neither will the next ten, and no Newton waits for them.
                if sweeps_alone && merit > PAYS * last_merit {
                    break;
                }
                last_merit = merit;
                if size == 0.0 {
                    break;
                }
            }
            let beta = size / old;
            old = size;
            self.d.accelerate((beta <= 1.0).then_some(beta), &mut x, &swept, &mut direction);
        }
        self.b.x = x;
        self.b.swept = swept;
        self.b.direction = direction;
    }
}
