//! Sparse Cholesky factor of a part of a [`BlockMat`], by faer. The symbolic part is kept while the pattern stays.

use super::ascending::place;
use super::scratch::Scratch;
use super::{BlockMat, BlockPattern};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use std::sync::Arc;

/// Factor of the rows and columns of some blocks of a symmetric positive definite matrix.
#[derive(Default)]
pub struct SparseCholesky {
    /// The blocks of the part, with their dofs and the first local row of each.
    blocks: Vec<u32>,
    dofs: Vec<(u32, u32)>,
    first: Vec<u32>,
    /// The pattern that `row` was made of.
    pattern: Option<Arc<BlockPattern>>,
    start: Vec<usize>,
    row: Vec<usize>,
    incoming: Vec<usize>,
    values: Vec<f64>,
    symbolic: Option<SymbolicCholesky<usize>>,
    factor: Vec<f64>,
    scratch: Scratch,
    x: Vec<f64>,
}

impl SparseCholesky {
    /// Factors the part of `a` that belongs to `blocks` (ascending; nothing couples them to others). False when it
    /// is not positive definite.
    pub fn factor(&mut self, a: &BlockMat, blocks: &[u32]) -> bool {
        self.gather(a, blocks);
        let n = self.start.len() - 1;
        if self.symbolic.is_none() {
            let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.start, None, &self.row);
            let params = CholeskySymbolicParams::default();
            self.symbolic =
                factorize_symbolic_cholesky(pattern, Side::Upper, SymmetricOrdering::Amd, params).ok();
        }
        let Some(symbolic) = &self.symbolic else { return false };
        self.factor.resize(symbolic.len_val(), 0.0);
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.start, None, &self.row);
        let matrix = SparseColMatRef::new(pattern, &self.values);
        let need = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Upper,
                Default::default(),
                Par::Seq,
                self.scratch.at_least(need),
                Default::default(),
            )
            .is_ok()
    }

    /// Overwrites the entries of `v` (a vector of the whole matrix) that belong to the part with A⁻¹ v.
    pub fn solve(&mut self, v: &mut [f64]) {
        let mut x = std::mem::take(&mut self.x);
        x.clear();
        for &(d, n) in &self.dofs {
            x.extend_from_slice(&v[d as usize..(d + n) as usize]);
        }
        self.solve_columns(&mut x, 1);
        let mut at = 0;
        for &(d, n) in &self.dofs {
            let n = n as usize;
            v[d as usize..d as usize + n].copy_from_slice(&x[at..at + n]);
            at += n;
        }
        self.x = x;
    }

    /// Overwrites columns of local vectors (one after the other in `x`) with A⁻¹ x.
    pub fn solve_columns(&mut self, x: &mut [f64], columns: usize) {
        let Some(symbolic) = &self.symbolic else { return };
        let n = self.start.len() - 1;
        let llt = LltRef::<usize, f64>::new(symbolic, &self.factor);
        let need = symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
        let x = MatMut::from_column_major_slice_mut(x, n, columns);
        llt.solve_in_place_with_conj(Conj::No, x, Par::Seq, self.scratch.at_least(need));
    }

    /// Number of scalar rows of the part.
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// First local row of a block of the part.
    pub fn local_row(&self, block: usize) -> usize {
        self.first[place(&self.blocks, block as u32).expect("a block of the part")] as usize
    }

    /// Upper triangle by columns; forgets the symbolic part where the pattern has changed.
    fn gather(&mut self, a: &BlockMat, blocks: &[u32]) {
        if a.shares(self.pattern.as_ref()) && self.blocks == blocks {
            self.gather_values(a);
            return;
        }
        self.pattern = Some(Arc::clone(a.pattern()));
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        self.dofs.clear();
        self.first.clear();
        let mut n = 0;
        for &b in blocks {
            let (d, w) = a.block(b as usize);
            self.first.push(n);
            self.dofs.push((d as u32, w as u32));
            n += w as u32;
        }
        let same_size = self.start.len() == n as usize + 1;
        self.start.clear();
        self.start.push(0);
        self.incoming.clear();
        for (at, &b) in blocks.iter().enumerate() {
            for r in 0..self.dofs[at].1 as usize {
                for &j in a.columns(b as usize).iter().take_while(|&&j| j <= b) {
                    let j = if j == b { at } else { place(blocks, j).expect("a block of the part") };
                    let until = if j == at { r + 1 } else { self.dofs[j].1 as usize };
                    self.incoming.extend((0..until).map(|c| self.first[j] as usize + c));
                }
                self.start.push(self.incoming.len());
            }
        }
        self.gather_values(a);
        if !same_size || self.incoming != self.row {
            std::mem::swap(&mut self.incoming, &mut self.row);
            self.symbolic = None;
        }
    }

    fn gather_values(&mut self, a: &BlockMat) {
        self.values.clear();
        for &b in &self.blocks {
            for r in 0..a.block(b as usize).1 {
                for (j, block) in a.row(b as usize).take_while(|(j, _)| *j <= b as usize) {
                    let w = a.block(j).1;
                    let until = if j == b as usize { r + 1 } else { w };
                    self.values.extend_from_slice(&block[r * w..r * w + until]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::{BlockKind, Layout};

    #[test]
    fn the_factor_solves_the_part_it_was_given() {
        let mut layout = Layout::new();
        for kind in [BlockKind::Rigid, BlockKind::Node, BlockKind::Node, BlockKind::Node] {
            layout.push(kind);
        }
        let mut a = BlockMat::with_pattern(&layout.widths(), &[(0, 2), (2, 3)]);
        // Symmetric, diagonally dominant.
        for i in 0..4 {
            for j in 0..4 {
                let ((di, ni), (dj, nj)) = (a.block(i), a.block(j));
                let Some(block) = a.block_mut(i, j) else { continue };
                for r in 0..ni {
                    for c in 0..nj {
                        let (p, q) = (di + r, dj + c);
                        block[r * nj + c] = if p == q { 30.0 } else { ((p * q) as f64).sin() };
                    }
                }
            }
        }
        let x: Vec<f64> = (0..15).map(|k| k as f64 - 6.5).collect();
        let mut b = vec![0.0; 15];
        a.mul(&x, &mut b);
        let mut chol = SparseCholesky::default();
        for blocks in [vec![1], vec![0, 2, 3], vec![0, 2, 3]] {
            assert!(chol.factor(&a, &blocks));
            let mut v = b.clone();
            chol.solve(&mut v);
            for i in 0..4 {
                let (d, n) = a.block(i);
                for k in d..d + n {
                    let expected = if blocks.contains(&(i as u32)) { x[k] } else { b[k] };
                    assert!((v[k] - expected).abs() < 1e-12, "row {k}: {} {expected}", v[k]);
                }
            }
        }
        a.diagonal_block_mut(1)[0] = -1.0;
        assert!(!chol.factor(&a, &[1]), "an indefinite block is no mass");
    }
}
