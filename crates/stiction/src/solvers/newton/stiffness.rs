//! Newton's stiffness formulation (64): [H + JᵀD C⁻¹ D J] Δu = −g − JᵀD C⁻¹ h, for systems without hard rows.
//!
//! The unknowns are velocities: smaller than the compliance form where elements have more strains than nodes have dofs.
//! C needs an inverse, block by block; the shift ε counts as compliance here, as in (59). Then Δλ = −C⁻¹(h + D J Δu).

use super::linear::{
    BlockRows, Incomplete, LinearReport, LinearSettings, PreconditionerKind, TwoLevel, add_product, invert,
};
use super::schur::Schur;
use crate::linalg::real::{add_scaled, dot};
use crate::linalg::{Real, SparseDirect, SparseRows};
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
    /// First dof of each block of H, and the end.
    first: Vec<u32>,
    blocks: BlockRows<T>,
    /// Of the diagonal, or of its blocks.
    inverse: Vec<T>,
    factors: Incomplete<T>,
    levels: TwoLevel<T>,
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
        s.mass.first_dofs(&mut self.first);
        let ready = match settings.method.direct() {
            Some(kind) => self.direct.factor(kind, &k, |_, _, v| v),
            None => self.precondition(&k, settings.preconditioner),
        };
        if !ready {
            return LinearReport { iterations: 0, broken: true };
        }
        self.solve_again(s, &s.g, &s.h, settings, du, dl)
    }

    /// Solves with the matrix of the last [`solve`](Stiffness::solve) for other residuals g and h.
    pub fn solve_again(
        &mut self,
        s: &Schur<T>,
        g: &[T],
        h: &[T],
        settings: &LinearSettings,
        du: &mut [T],
        dl: &mut [T],
    ) -> LinearReport {
        self.pulls(s, h);
        // −g − JᵀD C⁻¹ h
        du.iter_mut().zip(g).for_each(|(x, g)| *x = -*g);
        for i in 0..s.rows() {
            s.j.add_row(i, -s.scale[i] * self.pull[i], du);
        }
        let report = if settings.method.is_direct() {
            self.direct.solve(du);
            LinearReport { iterations: 0, broken: du.iter().any(|x| !x.is_number()) }
        } else {
            self.conjugate_gradient(settings, du)
        };
        // Δλ = −C⁻¹ (h + D J Δu)
        for i in 0..s.rows() {
            dl[i] = -self.pull[i] - self.soft.mul_row(i, du);
        }
        report
    }

    /// C⁻¹ h.
    fn pulls(&mut self, s: &Schur<T>, h: &[T]) {
        self.pull.clear();
        let mut first = 0;
        while first < s.rows() {
            let n = s.stiffness(first, &mut self.block).unwrap_or(1);
            for i in 0..n {
                self.pull.push(dot(&self.block[i * n..(i + 1) * n], &h[first..first + n]));
            }
            first += n;
        }
    }

    /// C⁻¹ D J; false where a row is hard.
    fn soften(&mut self, s: &Schur<T>) -> bool {
        self.soft.clear();
        let mut first = 0;
        while first < s.rows() {
            let Some(n) = s.stiffness(first, &mut self.block) else { return false };
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
            }
            first += n;
        }
        true
    }

    /// Conjugate gradients; `x` holds the right-hand side on entry.
    fn conjugate_gradient(&mut self, settings: &LinearSettings, x: &mut [T]) -> LinearReport {
        let [mut r, mut z, mut p, mut kp] = std::mem::take(&mut self.work);
        for w in [&mut r, &mut z, &mut p, &mut kp] {
            w.clear();
            w.resize(x.len(), T::ZERO);
        }
        r.copy_from_slice(x);
        x.fill(T::ZERO);
        self.apply(settings.preconditioner, &r, &mut z);
        p.copy_from_slice(&z);
        let mut rz = dot(&r, &z);
        let stop = T::of(settings.tolerance * settings.tolerance) * rz;
        let mut report = LinearReport { iterations: settings.iterations, broken: false };
        for step in 0..settings.iterations {
            if rz <= stop || rz == T::ZERO {
                report.iterations = step;
                break;
            }
            self.blocks.mul(&p, &mut kp);
            let alpha = rz / dot(&p, &kp);
            if !alpha.is_number() {
                report = LinearReport { iterations: step, broken: true };
                break;
            }
            add_scaled(x, alpha, &p);
            add_scaled(&mut r, -alpha, &kp);
            self.apply(settings.preconditioner, &r, &mut z);
            let next = dot(&r, &z);
            let beta = next / rz;
            rz = next;
            for i in 0..p.len() {
                p[i] = z[i] + beta * p[i];
            }
        }
        self.work = [r, z, p, kp];
        report
    }

    /// Makes the preconditioner; false where it cannot be made.
    fn precondition(&mut self, k: &SparseRows<T>, kind: PreconditionerKind) -> bool {
        self.blocks.gather(&self.first, k, |_, _, v| v);
        match kind {
            PreconditionerKind::Diagonal => {
                self.inverse.clear();
                self.inverse.extend((0..k.rows()).map(|i| T::ONE / k.get(i, i)));
                true
            }
            PreconditionerKind::BlockDiagonal => {
                self.inverse.clear();
                (0..self.blocks.blocks()).all(|b| {
                    let at = self.inverse.len();
                    self.inverse.extend_from_slice(self.blocks.diagonal(b));
                    invert(&mut self.inverse[at..], self.blocks.rows_of(b).len())
                })
            }
            PreconditionerKind::IncompleteCholesky => {
                self.factors.factor(&self.blocks);
                true
            }
            PreconditionerKind::Multigrid => {
                self.levels.prepare(&self.blocks, k);
                true
            }
        }
    }

    /// z = P r.
    fn apply(&mut self, kind: PreconditionerKind, r: &[T], z: &mut [T]) {
        match kind {
            PreconditionerKind::Diagonal => {
                for i in 0..r.len() {
                    z[i] = self.inverse[i] * r[i];
                }
            }
            PreconditionerKind::BlockDiagonal => {
                let mut at = 0;
                for b in 0..self.blocks.blocks() {
                    let rows = self.blocks.rows_of(b);
                    let n = rows.len();
                    z[rows.clone()].fill(T::ZERO);
                    add_product(&self.inverse[at..at + n * n], &r[rows.clone()], &mut z[rows]);
                    at += n * n;
                }
            }
            PreconditionerKind::IncompleteCholesky => self.factors.solve(r, z),
            PreconditionerKind::Multigrid => self.levels.apply(&self.blocks, r, z),
        }
    }
}
