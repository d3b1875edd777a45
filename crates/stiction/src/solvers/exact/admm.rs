//! ADMM on the scaled problem with the shift lagged: the best single method for moderate accuracy, and the one
//! whose divergence proves that no solution exists.

use super::chain::Chain;
use crate::contact::delassus::Delassus;
use crate::contact::law::cone::tangent_norm;
use crate::linalg::{Mat3, Vec3};

const ETA: f64 = 1e-6;

/// Scaled iterates √d r and the dual u/√d.
pub(super) struct Splitting {
    pub x: Vec<Vec3>,
    pub z: Vec<Vec3>,
    lambda: Vec<Vec3>,
    rho: f64,
    factored: bool,
    since_update: usize,
}

impl<D: Delassus> Chain<'_, D> {
    /// `n` iterations from the best impulse, polished after every `chunk` or a gain of 20.
    pub fn admm(&mut self, n: usize, chunk: usize) {
        let start = self.b.best.clone();
        let mut s = self.splitting(&start);
        let mut left = n;
        while left > 0 && !self.finished() {
            let goal = 0.05 * self.best_merit;
            for k in 0..chunk.min(left) {
                if !self.admm_step(&mut s) {
                    return;
                }
                left -= 1;
                if k % 10 == 9 && self.judge_splitting(&s) < goal {
                    break;
                }
            }
            self.judge_splitting(&s);
            self.sweep_best(5);
            // Newton takes over the kernel's factors.
            self.polish_best(1e-6, 6, 1.0);
            s.factored = false;
        }
    }

    /// Merit of z as an impulse.
    fn judge_splitting(&mut self, s: &Splitting) -> f64 {
        let mut r = std::mem::take(&mut self.b.trial);
        for c in 0..r.len() {
            r[c] = s.z[c] / self.d.scale(c).sqrt();
        }
        let m = self.evaluate(&r, "admm");
        self.b.trial = r;
        m
    }

    /// Starts at the impulse `r`.
    pub fn splitting(&mut self, r: &[Vec3]) -> Splitting {
        self.evaluate(r, "admm");
        let n = r.len();
        let mut s = Splitting {
            x: vec![Vec3::ZERO; n],
            z: vec![Vec3::ZERO; n],
            lambda: vec![Vec3::ZERO; n],
            rho: 0.0,
            factored: false,
            since_update: 0,
        };
        for c in 0..n {
            let (root, law) = (self.d.scale(c).sqrt(), self.law(c));
            let y = root * r[c];
            let w = law.shifted(self.b.u[c]) / root;
            s.x[c] = y;
            s.z[c] = y;
            s.lambda[c] = root * law.project((y - w) / root) - (y - w);
        }
        // λ_max of the scaled W by power iteration.
        let mut l = 1.0;
        let mut y: Vec<Vec3> = (0..n).map(|c| Vec3::new(1.0, 0.3 * (c as f64).cos(), 0.2)).collect();
        for _ in 0..10 {
            let size = y.iter().map(|v| v.length_squared()).sum::<f64>().sqrt();
            y.iter_mut().for_each(|v| *v /= size);
            let image = self.scaled_product(&y);
            l = image.iter().map(|v| v.length_squared()).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            y = image;
        }
        s.rho = ((l * ETA).sqrt() * (l / ETA).powf(0.2)).clamp(1e-7, 1e3);
        s
    }

    /// One iteration; false when the system cannot be factored.
    pub fn admm_step(&mut self, s: &mut Splitting) -> bool {
        let n = s.x.len();
        if !s.factored {
            let mut p = std::mem::take(&mut self.b.p);
            p.clear();
            p.extend(
                (0..n).map(|c| Mat3::from_diagonal(Vec3::splat(1.0 / ((s.rho + ETA) * self.d.scale(c))))),
            );
            self.factorizations += 1;
            let ok = self.factor(&p);
            self.b.p = p;
            if !ok {
                return false;
            }
            s.factored = true;
        }
        self.count_solve();
        let (mut g, mut dy) = (std::mem::take(&mut self.b.g), std::mem::take(&mut self.b.dy));
        for c in 0..n {
            let root = self.d.scale(c).sqrt();
            let shift = self.law(c).mu() * tangent_norm(s.lambda[c]);
            g[c] = root * (s.rho * s.z[c] + s.lambda[c] + ETA * s.x[c] - shift * Vec3::X) - self.d.free(c);
        }
        self.d.solve(&g, &mut dy);
        let (mut primal, mut dual) = (0.0, 0.0);
        for c in 0..n {
            let root = self.d.scale(c).sqrt();
            s.x[c] = root * dy[c];
            let z = root * self.law(c).project((s.x[c] - s.lambda[c] / s.rho) / root);
            dual += s.rho * s.rho * (z - s.z[c]).length_squared();
            s.z[c] = z;
            let gap = s.x[c] - z;
            primal += gap.length_squared();
            s.lambda[c] -= s.rho * gap;
        }
        (self.b.g, self.b.dy) = (g, dy);
        s.since_update += 1;
        let ratio = (primal / dual).sqrt();
        if s.since_update >= 20 && ratio.is_finite() && !(0.1..=10.0).contains(&ratio) {
            let rho = (if ratio > 10.0 { 10.0 * s.rho } else { 0.1 * s.rho }).clamp(1e-7, 1e3);
            if rho != s.rho {
                s.rho = rho;
                s.factored = false;
                s.since_update = 0;
            }
        }
        s.x.iter().all(|v| v.is_finite())
    }

    /// S W S y in scaled impulses.
    pub fn scaled_product(&mut self, y: &[Vec3]) -> Vec<Vec3> {
        let n = y.len();
        let r: Vec<Vec3> = (0..n).map(|c| y[c] / self.d.scale(c).sqrt()).collect();
        let mut u = vec![Vec3::ZERO; n];
        self.d.velocity(&r, &mut u);
        (0..n).map(|c| (u[c] - self.d.free(c)) / self.d.scale(c).sqrt()).collect()
    }
}
