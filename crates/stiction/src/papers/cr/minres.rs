//! MINRES (Paige & Saunders 1975) with the preconditioners and constraint states of the method, for Section 7.

use super::pair::Pair;
use super::precondition::Conditioner;
use super::system::Saddle;
use crate::linalg::Vec3;

/// Lanczos vectors and rotations; started anew with every change of constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct Minres {
    /// Dual Lanczos vectors of this and the last step, unscaled.
    r1: Pair,
    r2: Pair,
    /// C⁻¹ r2.
    y: Pair,
    v: Pair,
    bv: Pair,
    /// Directions.
    w: Pair,
    w1: Pair,
    w2: Pair,
    old_beta: f64,
    beta: f64,
    /// Rotation and the entries that it leaves for the next column.
    cs: f64,
    sn: f64,
    dbar: f64,
    epsilon: f64,
    phibar: f64,
}

impl Minres {
    /// From a residual and z = C⁻¹ r.
    pub fn start(&mut self, r: &Pair, z: &Pair) {
        let (n, m) = (r.v.len(), r.l.len());
        for x in [&mut self.r1, &mut self.bv, &mut self.v, &mut self.w, &mut self.w1, &mut self.w2] {
            x.reset(n, m);
        }
        self.r2.reset(n, m);
        self.y.reset(n, m);
        self.r2.copy(r);
        self.y.copy(z);
        // Indefinite C: the root of the absolute value keeps going, without the theory.
        self.beta = r.dot(z).abs().sqrt();
        (self.old_beta, self.cs, self.sn) = (0.0, -1.0, 0.0);
        (self.dbar, self.epsilon, self.phibar) = (0.0, 0.0, self.beta);
    }

    /// One step: moves `x` and `r`. False where no step is left.
    pub fn step(
        &mut self,
        sys: &Saddle,
        mask: &[Vec3],
        conditioner: &mut Conditioner,
        x: &mut Pair,
        r: &mut Pair,
    ) -> bool {
        if !(self.beta.is_finite() && self.beta > 0.0) {
            return false;
        }
        // Lanczos: v = y/β, then the next dual vector.
        self.v.copy(&self.y);
        self.v.scale(1.0 / self.beta);
        sys.apply(mask, &self.v, &mut self.bv);
        if self.old_beta > 0.0 {
            self.bv.add(-self.beta / self.old_beta, &self.r1);
        }
        let alpha = self.v.dot(&self.bv);
        self.bv.add(-alpha / self.beta, &self.r2);
        std::mem::swap(&mut self.r1, &mut self.r2);
        self.r2.copy(&self.bv);
        conditioner.apply(sys, &self.r2, &mut self.y);
        self.old_beta = self.beta;
        self.beta = self.r2.dot(&self.y).abs().sqrt();
        // Rotate the new column.
        let (old_epsilon, delta) = (self.epsilon, self.cs * self.dbar + self.sn * alpha);
        let gbar = self.sn * self.dbar - self.cs * alpha;
        self.epsilon = self.sn * self.beta;
        self.dbar = -self.cs * self.beta;
        let gamma = gbar.hypot(self.beta);
        if gamma.is_nan() || gamma <= f64::MIN_POSITIVE {
            return false;
        }
        (self.cs, self.sn) = (gbar / gamma, self.beta / gamma);
        let phi = self.cs * self.phibar;
        self.phibar *= self.sn;
        // w = (v − ε w₂ − δ w₁)/γ, x += φ w.
        std::mem::swap(&mut self.w1, &mut self.w2);
        std::mem::swap(&mut self.w2, &mut self.w);
        self.w.copy(&self.v);
        self.w.add(-old_epsilon, &self.w1);
        self.w.add(-delta, &self.w2);
        self.w.scale(1.0 / gamma);
        x.add(phi, &self.w);
        // r = s² r − φ̄ c r₂/β: no product needed.
        r.scale(self.sn * self.sn);
        if self.beta > 0.0 {
            r.add(-self.phibar * self.cs / self.beta, &self.r2);
        }
        true
    }
}
