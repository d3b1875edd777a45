//! Velocities of multipliers that no longer change.
//!
//! What was postponed is made good at the end: multipliers are made to obey their laws exactly. On a stiff mesh that hardly moves
//! any row, but the momentum of a light node is no longer accounted for. So velocities follow: A v = b + Jᵀ λ, from where they are.

use super::iterate::Engine;
use super::system::Saddle;

/// Share of its tolerance that the momentum residual is brought to.
const SETTLED: f64 = 0.5;

impl Engine {
    /// Solves for velocities by preconditioned conjugate gradients with A alone; `r` holds the residual on return. At most `most`
    /// iterations in all.
    pub(super) fn settle(&mut self, sys: &Saddle, most: usize) {
        self.refresh(sys);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        self.conditioner.divide(sys, &self.r.v, &mut self.z.v);
        self.p.v.copy_from_slice(&self.z.v);
        let mut rz = dot(&self.r.v, &self.z.v);
        while self.limits.momentum_ratio(&self.r.v) >= SETTLED && self.counts.iterations < most {
            sys.a.mul(&self.p.v, &mut self.bp.v);
            self.counts.products += 1;
            self.counts.iterations += 1;
            let alpha = rz / dot(&self.p.v, &self.bp.v);
            if !alpha.is_finite() {
                return;
            }
            for k in 0..self.r.v.len() {
                self.y.v[k] += alpha * self.p.v[k];
                self.r.v[k] -= alpha * self.bp.v[k];
            }
            self.conditioner.divide(sys, &self.r.v, &mut self.z.v);
            let next = dot(&self.r.v, &self.z.v);
            let beta = next / rz;
            rz = next;
            for (p, z) in self.p.v.iter_mut().zip(&self.z.v) {
                *p = z + beta * *p;
            }
        }
    }
}
