//! The saddle system that conjugate residuals run on, applied and never built.
//!
//! With λ positive where it pushes (ERRATA R1) and friction as a force on side a (R2, γ = −λ_t),
//!
//! ```text
//! B = | A   −Jᵀ |     y = | v |     d = | b + Jᵀ λ_fixed |
//!     | −J  −S  |         | λ |         | bias           |
//! ```
//!
//! restricted to the rows that are unknowns at present; S is the softness of rows, or all of W for a bare problem
//! `u = W r + q`, which has no velocities. So the residual of an active row is its velocity, `r_c = J v + bias + S λ`.

use super::pair::Pair;
use crate::contact::law::RoundLaw;
use crate::contact::{ContactJacobian, ContactProblem, LocalProblem};
use crate::linalg::{BlockMat, Mat3, Vec3};

/// Rows in the coordinates in which cones are round.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub j: ContactJacobian,
    pub bias: Vec<Vec3>,
    pub softness: Vec<Vec3>,
    pub law: Vec<RoundLaw>,
}

impl Rows {
    /// Takes the rows of a problem.
    pub fn take(&mut self, p: &ContactProblem) {
        self.j.clear();
        self.bias.clear();
        self.softness.clear();
        self.law.clear();
        for c in 0..p.contacts() {
            let k = p.law[c].stretch();
            self.j.push(Mat3::from_diagonal(k) * p.j.frame[c], p.j.terms(c).iter().copied());
            self.bias.push(k * p.bias[c]);
            self.softness.push(p.softness[c] * k * k);
            self.law.push(p.law[c].round());
        }
    }

    /// Takes a bare problem: rows without columns.
    pub fn take_local(&mut self, p: &LocalProblem) {
        self.j.clear();
        self.softness.clear();
        for c in 0..p.contacts() {
            self.j.push(Mat3::IDENTITY, []);
            let w = p.get(c, c);
            self.softness.push(Vec3::new(w.x_axis.x, w.y_axis.y, w.z_axis.z));
        }
        self.bias.clone_from(&p.q);
        self.law.clone_from(&p.law);
    }
}

/// The system of one solve.
#[derive(Clone, Copy)]
pub(super) struct Saddle<'a> {
    pub a: &'a BlockMat,
    pub b: &'a [f64],
    pub rows: &'a Rows,
    /// W of a bare problem, in place of `rows.softness`.
    pub w: Option<&'a LocalProblem>,
}

impl Saddle<'_> {
    pub fn dofs(&self) -> usize {
        self.b.len()
    }

    pub fn contacts(&self) -> usize {
        self.rows.law.len()
    }

    /// (S λ)_c.
    fn soft(&self, c: usize, l: &[Vec3]) -> Vec3 {
        match self.w {
            None => self.rows.softness[c] * l[c],
            Some(p) => {
                let row = p.row_start[c]..p.row_start[c + 1];
                row.map(|k| p.block[k] * l[p.col[k] as usize]).sum()
            }
        }
    }

    /// u_c = J v + bias + S λ.
    pub fn velocity(&self, c: usize, v: &[f64], lambda: &[Vec3]) -> Vec3 {
        self.rows.j.mul_one(c, v) + self.rows.bias[c] + self.soft(c, lambda)
    }

    /// out = B x over the rows with mask 1; `x.l` is zero in all others.
    pub fn apply(&self, mask: &[Vec3], x: &Pair, out: &mut Pair) {
        self.a.mul(&x.v, &mut out.v);
        for c in 0..self.contacts() {
            if mask[c] == Vec3::ZERO {
                out.l[c] = Vec3::ZERO;
                continue;
            }
            self.push(c, -x.l[c], &mut out.v);
            out.l[c] = -mask[c] * (self.rows.j.mul_one(c, &x.v) + self.soft(c, &x.l));
        }
    }

    /// f += J_cᵀ λ.
    pub fn push(&self, c: usize, lambda: Vec3, f: &mut [f64]) {
        if lambda != Vec3::ZERO {
            let p = self.rows.j.frame[c].transpose() * lambda;
            for t in self.rows.j.terms(c) {
                t.add_impulse(p, f);
            }
        }
    }

    /// r = b − A v + Jᵀ λ: the momentum that is not accounted for.
    pub fn momentum(&self, v: &[f64], lambda: &[Vec3], r: &mut [f64]) {
        self.a.mul(v, r);
        for (r, b) in r.iter_mut().zip(self.b) {
            *r = b - *r;
        }
        self.rows.j.mul_t_add(lambda, r);
    }
}
