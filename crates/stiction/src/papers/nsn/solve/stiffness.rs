//! Newton's stiffness formulation (64): [H + JᵀD C⁻¹ D J] Δu = −g − JᵀD C⁻¹ h.
//!
//! The unknowns are velocities: smaller than the compliance form where elements have more strains than nodes have dofs.
//! C needs an inverse, block by block; the shift ε counts as compliance here, as in (59), and is all that hard rows have:
//! [`Regularization::Floor`](super::Regularization::Floor) gives it to them and not to soft ones. Then Δλ = −C⁻¹(h + D J Δu).

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

/// Memory of the stiffness form. The pattern of the matrix, and where each block of rows adds to it, are kept while J keeps its own.
#[derive(Default)]
pub struct Stiffness<T> {
    direct: SparseDirect<T>,
    /// J, for its pattern.
    pattern: SparseRows<T>,
    /// Blocks of dofs that each block of rows moves, one after the other, and where they begin.
    moves: Vec<u32>,
    moves_at: Vec<u32>,
    /// Entries of K for each pair of those.
    places: Vec<u32>,
    /// C⁻¹ (h + D J Δu).
    pull: Vec<T>,
    right: Vec<T>,
    block: Vec<T>,
    stiff: Vec<T>,
    scaled: Vec<T>,
    /// First dof of each block of H, and the end.
    first: Vec<u32>,
    blocks: BlockRows<T>,
    rows: SparseRows<T>,
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
        let ready = self.assemble(s)
            && match settings.method.direct() {
                Some(kind) => {
                    self.blocks.write_rows(&mut self.rows);
                    self.direct.factor(kind, &self.rows, |_, _, v| v)
                }
                None => self.precondition(settings.preconditioner),
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
        // −g − JᵀD C⁻¹ h
        self.right.clear();
        self.right.extend_from_slice(h);
        self.pulls(s);
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
            self.right[i] = h[i] + s.scale[i] * s.j.mul_row(i, du);
        }
        self.pulls(s);
        dl.iter_mut().zip(&self.pull).for_each(|(to, p)| *to = -*p);
        report
    }

    /// C⁻¹ times `right`.
    fn pulls(&mut self, s: &Schur<T>) {
        self.pull.clear();
        let mut first = 0;
        while first < s.rows() {
            let n = s.stiffness(first, &mut self.block).unwrap_or(1);
            for i in 0..n {
                self.pull.push(dot(&self.block[i * n..(i + 1) * n], &self.right[first..first + n]));
            }
            first += n;
        }
    }

    /// K = H + JᵀD C⁻¹ D J, block of rows by block of rows; false where a row is hard.
    fn assemble(&mut self, s: &Schur<T>) -> bool {
        if !self.pattern.has_pattern_of(&s.j) || self.blocks.blocks() == 0 {
            self.analyse(s);
        } else {
            self.blocks.zero();
        }
        for b in 0..self.blocks.blocks() {
            let e = self.blocks.entry(b, b);
            self.blocks.block_mut(b, e).copy_from_slice(s.mass.block(b));
        }
        let mut at = 0;
        for b in 0..s.blocks() {
            let (first, n) = s.block(b);
            // C⁻¹ on these rows.
            self.stiff.clear();
            self.stiff.resize(n * n, T::ZERO);
            let mut i = 0;
            while i < n {
                let Some(m) = s.stiffness(first + i, &mut self.block) else { return false };
                for r in 0..m {
                    for c in 0..m {
                        self.stiff[(i + r) * n + i + c] =
                            s.scale[first + i + r] * self.block[r * m + c] * s.scale[first + i + c];
                    }
                }
                i += m;
            }
            let moves = &self.moves[self.moves_at[b] as usize..self.moves_at[b + 1] as usize];
            if moves.is_empty() {
                continue;
            }
            // D C⁻¹ D J; rows that are switched off may store nothing.
            let width = (first..first + n).map(|i| s.j.row(i).0.len()).max().unwrap_or(0);
            self.scaled.clear();
            self.scaled.resize(n * width, T::ZERO);
            for r in 0..n {
                for c in 0..n {
                    let k = self.stiff[r * n + c];
                    let row = s.j.row(first + c).1;
                    if k != T::ZERO && !row.is_empty() {
                        add_scaled(&mut self.scaled[r * width..(r + 1) * width], k, row);
                    }
                }
            }
            let mut left = 0;
            for &p in moves {
                let rows = self.blocks.rows_of(p as usize).len();
                let mut right = 0;
                for &q in moves {
                    let columns = self.blocks.rows_of(q as usize).len();
                    let to = self.blocks.block_mut(p as usize, self.places[at] as usize);
                    for r in 0..n {
                        let row = s.j.row(first + r).1;
                        if row.is_empty() {
                            continue;
                        }
                        let line = &self.scaled[r * width + right..r * width + right + columns];
                        for (i, to) in to.chunks_exact_mut(columns).enumerate() {
                            let a = row[left + i];
                            for (to, b) in to.iter_mut().zip(line) {
                                *to += a * *b;
                            }
                        }
                    }
                    at += 1;
                    right += columns;
                }
                left += rows;
            }
        }
        true
    }

    /// The pattern of K from that of J.
    fn analyse(&mut self, s: &Schur<T>) {
        self.pattern.take_pattern(&s.j, s.j.rows());
        s.mass.first_dofs(&mut self.first);
        self.moves.clear();
        self.moves_at.clear();
        self.moves_at.push(0);
        for b in 0..s.blocks() {
            let (first, n) = s.block(b);
            let begin = self.moves.len();
            let longest = (first..first + n).max_by_key(|i| s.j.row(*i).0.len());
            for c in longest.map_or(&[][..], |i| s.j.row(i).0) {
                let block = s.mass.block_of(*c as usize);
                if self.moves[begin..].last() != Some(&block) {
                    self.moves.push(block);
                }
            }
            self.moves_at.push(self.moves.len() as u32);
        }
        let groups = self.moves_at.windows(2).map(|w| &self.moves[w[0] as usize..w[1] as usize]);
        self.blocks.set_pattern(&self.first, groups.clone());
        self.places.clear();
        for group in groups {
            for &p in group {
                self.places.extend(group.iter().map(|&q| self.blocks.entry(p as usize, q as usize) as u32));
            }
        }
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
    fn precondition(&mut self, kind: PreconditionerKind) -> bool {
        match kind {
            PreconditionerKind::Diagonal => {
                self.inverse.clear();
                for b in 0..self.blocks.blocks() {
                    let n = self.blocks.rows_of(b).len();
                    let d = self.blocks.diagonal(b);
                    self.inverse.extend((0..n).map(|i| T::ONE / d[i * n + i]));
                }
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
                self.blocks.write_rows(&mut self.rows);
                self.levels.prepare(&self.blocks, &self.rows);
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
