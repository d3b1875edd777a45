//! Newton's stiffness formulation (64): [H + JᵀD C⁻¹ D J] Δu = −g − JᵀD C⁻¹ h, for systems without hard rows.
//!
//! The unknowns are velocities: smaller than the compliance form where elements have more strains than nodes have dofs.
//! C needs an inverse, block by block; the shift ε counts as compliance here, as in (59). Then Δλ = −C⁻¹(h + D J Δu).

use super::linear::{LinearReport, LinearSettings, invert};
use super::schur::Schur;
use crate::linalg::real::{add_scaled, dot};
use crate::linalg::{DirectKind, Real, SparseDirect, SparseRows};
use serde::{Deserialize, Serialize};

/// Which Schur complement of (56) is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemForm {
    /// For the multipliers (59): hard rows are no trouble.
    #[default]
    Compliance,
    /// For the velocities (64): every row must have compliance, or ε.
    Stiffness,
}

/// Memory of the stiffness form.
#[derive(Default)]
pub struct Stiffness<T> {
    direct: SparseDirect<T>,
    /// C⁻¹ D J.
    soft: SparseRows<T>,
    /// C⁻¹ h.
    pull: Vec<T>,
    block: Vec<T>,
    work: [Vec<T>; 4],
}

impl<T: Real> Stiffness<T> {
    /// Solves for both steps; the known steps must be in g already.
    pub fn solve(
        &mut self,
        s: &Schur<T>,
        settings: &LinearSettings,
        du: &mut [T],
        dl: &mut [T],
    ) -> LinearReport {
        let (n, m) = (s.mass.dofs(), s.rows());
        if !self.soften(s) {
            return LinearReport { iterations: 0, broken: true };
        }
        // (D J)ᵀ and (C⁻¹ D J)ᵀ with I and H beside them: their product is the matrix.
        let mut scaled = SparseRows::default();
        scaled.clear();
        for i in 0..m {
            let (columns, values) = s.j.row(i);
            for (c, v) in columns.iter().zip(values) {
                scaled.push(*c as usize, s.scale[i] * *v);
            }
            scaled.end_row();
        }
        let left = scaled.transposed(n).with_columns(m, |row, out| out.push((row, T::ONE)));
        let right = self.soft.transposed(n).with_columns(m, |row, out| s.mass.row(row, out));
        let k = left.mul_transpose(&right, m + n);
        // −g − JᵀD C⁻¹ h
        du.iter_mut().zip(&s.g).for_each(|(x, g)| *x = -*g);
        for i in 0..m {
            s.j.add_row(i, -s.scale[i] * self.pull[i], du);
        }
        let report = match settings.method.direct() {
            Some(kind) => self.factor(kind, &k, du),
            None => self.conjugate_gradient(&k, settings, du),
        };
        // Δλ = −C⁻¹ (h + D J Δu)
        for i in 0..m {
            dl[i] = -self.pull[i] - self.soft.mul_row(i, du);
        }
        report
    }

    /// C⁻¹ D J and C⁻¹ h; false where a row is hard.
    fn soften(&mut self, s: &Schur<T>) -> bool {
        self.soft.clear();
        self.pull.clear();
        for b in 0..s.blocks() {
            let (first, n) = s.block(b);
            self.block.clear();
            for i in 0..n {
                for j in 0..n {
                    self.block.push(s.entry(first + i, first + j, T::ZERO));
                }
            }
            if !invert(&mut self.block, n) {
                return false;
            }
            let columns = s.j.row(first).0;
            for i in 0..n {
                for (k, c) in columns.iter().enumerate() {
                    let mut sum = T::ZERO;
                    for j in 0..n {
                        sum += self.block[i * n + j] * s.scale[first + j] * s.j.row(first + j).1[k];
                    }
                    self.soft.push(*c as usize, sum);
                }
                self.soft.end_row();
                self.pull.push(dot(&self.block[i * n..(i + 1) * n], &s.h[first..first + n]));
            }
        }
        true
    }

    fn factor(&mut self, kind: DirectKind, k: &SparseRows<T>, x: &mut [T]) -> LinearReport {
        if !self.direct.factor(kind, k, |_, _, v| v) {
            return LinearReport { iterations: 0, broken: true };
        }
        self.direct.solve(x);
        LinearReport { iterations: 0, broken: x.iter().any(|x| !x.is_number()) }
    }

    /// Conjugate gradients with the diagonal; `x` holds the right-hand side on entry.
    fn conjugate_gradient(
        &mut self,
        k: &SparseRows<T>,
        settings: &LinearSettings,
        x: &mut [T],
    ) -> LinearReport {
        let [r, z, p, kp] = &mut self.work;
        for w in [&mut *r, &mut *z, &mut *p, &mut *kp] {
            w.clear();
            w.resize(x.len(), T::ZERO);
        }
        let inverse: Vec<T> = (0..x.len()).map(|i| T::ONE / k.get(i, i)).collect();
        r.copy_from_slice(x);
        x.fill(T::ZERO);
        for i in 0..r.len() {
            z[i] = inverse[i] * r[i];
        }
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        let stop = T::of(settings.tolerance * settings.tolerance) * rz;
        for step in 0..settings.iterations {
            if rz <= stop || rz == T::ZERO {
                return LinearReport { iterations: step, broken: false };
            }
            k.mul(p, kp);
            let alpha = rz / dot(p, kp);
            if !alpha.is_number() {
                return LinearReport { iterations: step, broken: true };
            }
            add_scaled(x, alpha, p);
            add_scaled(r, -alpha, kp);
            for i in 0..r.len() {
                z[i] = inverse[i] * r[i];
            }
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            for i in 0..p.len() {
                p[i] = z[i] + beta * p[i];
            }
        }
        LinearReport { iterations: settings.iterations, broken: false }
    }
}
