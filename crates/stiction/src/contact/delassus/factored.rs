//! The Delassus operator through a sparse factor of A: `u = J A⁻¹ (b + Jᵀ λ) + φ`, W never formed.
//!
//! One product costs a solve with the factor. It serves methods that need products alone, and stands between
//! [`Bodies`](super::bodies::Bodies), where A couples nothing, and [`Coupled`](super::coupled::Coupled), which builds W.

use crate::contact::ContactProblem;
use crate::contact::law::RoundLaw;
use crate::linalg::{SparseCholesky, Vec3};

/// Factor and contacts of a problem; elliptic cones are stretched to round ones.
#[derive(Default)]
pub struct Factored {
    factor: SparseCholesky,
    v: Vec<f64>,
    free: Vec<Vec3>,
    scale: Vec<f64>,
    law: Vec<RoundLaw>,
    stretch: Vec<Vec3>,
}

impl Factored {
    /// Factors A and finds the free velocities. False when A is not positive definite.
    pub fn prepare(&mut self, p: &ContactProblem) -> bool {
        let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
        if !self.factor.factor(&p.a, &blocks) {
            return false;
        }
        self.v.clear();
        self.v.extend_from_slice(&p.b);
        self.factor.solve(&mut self.v);
        self.stretch.clear();
        self.stretch.extend(p.law.iter().map(|l| l.stretch()));
        self.law.clear();
        self.law.extend(p.law.iter().map(|l| l.round()));
        self.free.clear();
        self.scale.clear();
        for c in 0..p.contacts() {
            self.free.push((p.j.mul_one(c, &self.v) + p.bias[c]) * self.stretch[c]);
            // The scale of J diag(A)⁻¹ Jᵀ: the true one would cost three solves per contact.
            self.scale.push(crate::contact::residual::delassus_scale(p, c));
        }
        true
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.law.len()
    }

    /// What block `c` obeys.
    pub fn law(&self, c: usize) -> RoundLaw {
        self.law[c]
    }

    /// Free velocity of contact `c` [m/s].
    pub fn free(&self, c: usize) -> Vec3 {
        self.free[c]
    }

    /// Scale of the contact [1/kg].
    pub fn scale(&self, c: usize) -> f64 {
        self.scale[c]
    }

    /// u = W r + q by one solve with the factor.
    pub fn velocity(&mut self, p: &ContactProblem, r: &[Vec3], u: &mut [Vec3]) {
        self.v.fill(0.0);
        for (c, r) in r.iter().enumerate() {
            let push = p.j.frame[c].transpose() * (*r * self.stretch[c]);
            for t in p.j.terms(c) {
                t.add_impulse(push, &mut self.v);
            }
        }
        self.factor.solve(&mut self.v);
        for (c, u) in u.iter_mut().enumerate() {
            let k = self.stretch[c];
            *u = self.free[c] + k * (p.j.mul_one(c, &self.v) + p.softness[c] * k * r[c]);
        }
    }

    /// A⁻¹(b + Jᵀ λ).
    pub fn write_velocity(&mut self, p: &ContactProblem, lambda: &[Vec3], v: &mut Vec<f64>) {
        v.clear();
        v.extend_from_slice(&p.b);
        p.j.mul_t_add(lambda, v);
        self.factor.solve(v);
    }
}
