//! Sparse LU of an unsymmetric block matrix whose pattern stays: the symbolic part is kept between factorisations. Small matrices
//! that are not sparse are factored densely.

use super::BlockMat;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor as dense_factor, solve as dense_solve};
use faer::perm::PermRef;
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, MatRef, Par};

/// Up to this many rows a matrix is factored densely where more than a part in `SPARSE` of it is stored.
const DENSE_ROWS: usize = 160;
const SPARSE: usize = 8;
/// Up to this many rows it is so whatever is stored.
const TINY: usize = 40;

/// Factors of a block matrix; solves with it and with its transpose.
#[derive(Default)]
pub struct SparseLu {
    /// The matrix row by row, which is its transpose column by column.
    row_start: Vec<usize>,
    col: Vec<usize>,
    values: Vec<f64>,
    row_scale: Vec<f64>,
    symbolic: Option<SymbolicLu<usize>>,
    numeric: NumericLu<usize, f64>,
    /// Pattern of blocks that the symbolic part is of.
    pattern: (usize, usize),
    memory: Option<MemBuffer>,
    /// Scratch of solves with the factors, both ways.
    scratch: Option<MemBuffer>,
    /// Rows that the scratch is for, and whether densely.
    scratch_for: (usize, bool),
    /// Dense factors of the transpose, by columns; empty where they are sparse.
    dense: Vec<f64>,
    perm: Vec<usize>,
    perm_inverse: Vec<usize>,
    /// How often the pattern was analysed.
    pub analyses: usize,
}

impl SparseLu {
    /// Factors `m`. False where it is singular or not finite. Matrices of one pattern should follow each other.
    pub fn factor(&mut self, m: &BlockMat) -> bool {
        self.fill(m);
        self.factor_filled()
    }

    /// Factors a matrix given row by row as (column, value), columns ascending.
    pub fn factor_rows(&mut self, rows: &[Vec<(usize, f64)>]) -> bool {
        self.row_start.clear();
        self.row_start.push(0);
        self.col.clear();
        self.values.clear();
        for row in rows {
            self.col.extend(row.iter().map(|e| e.0));
            self.values.extend(row.iter().map(|e| e.1));
            self.row_start.push(self.col.len());
        }
        self.row_scale.resize(rows.len(), 1.0);
        // Rows of contacts change their pattern from step to step.
        self.symbolic = None;
        self.factor_filled()
    }

    fn factor_filled(&mut self) -> bool {
        let n = self.row_start.len() - 1;
        let pattern = (n, self.col.len());
        for i in 0..n {
            let row = &mut self.values[self.row_start[i]..self.row_start[i + 1]];
            let largest = row.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            if !(largest > 0.0 && largest.is_finite()) {
                return false;
            }
            self.row_scale[i] = 1.0 / largest;
            for x in row {
                *x /= largest;
            }
        }
        self.dense.clear();
        if n <= TINY || (n <= DENSE_ROWS && SPARSE * self.col.len() >= n * n) {
            self.factor_dense(n);
            return self.is_regular(n);
        }
        let shape = SymbolicSparseColMatRef::new_checked(n, n, &self.row_start, None, &self.col);
        if self.symbolic.is_none() || self.pattern != pattern {
            self.symbolic = factorize_symbolic_lu(shape, Default::default()).ok();
            self.pattern = pattern;
            self.analyses += 1;
            (self.memory, self.scratch) = (None, None);
        }
        let Some(symbolic) = &self.symbolic else { return false };
        let memory = self.memory.get_or_insert_with(|| {
            MemBuffer::new(symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default()))
        });
        let done = symbolic.factorize_numeric_lu(
            &mut self.numeric,
            SparseColMatRef::new(shape, &self.values),
            Par::Seq,
            MemStack::new(memory),
            Default::default(),
        );
        done.is_ok() && self.is_regular(n)
    }

    fn factor_dense(&mut self, n: usize) {
        self.dense.resize(n * n, 0.0);
        for i in 0..n {
            for e in self.row_start[i]..self.row_start[i + 1] {
                self.dense[i * n + self.col[e]] += self.values[e];
            }
        }
        self.perm.resize(n, 0);
        self.perm_inverse.resize(n, 0);
        let need = dense_factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default());
        dense_factor::lu_in_place(
            MatMut::from_column_major_slice_mut(&mut self.dense, n, n),
            &mut self.perm,
            &mut self.perm_inverse,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(need)),
            Default::default(),
        );
    }

    fn is_regular(&mut self, n: usize) -> bool {
        // A zero pivot shows as a number that is not finite.
        let mut check = vec![1.0; n];
        self.solve(&mut check);
        check.iter().all(|x| x.is_finite())
    }

    /// Rows of scalars from rows of blocks; the pattern is rebuilt only where its size changed.
    fn fill(&mut self, m: &BlockMat) {
        self.row_start.clear();
        self.row_start.push(0);
        self.col.clear();
        self.values.clear();
        for i in 0..m.block_rows() {
            let (_, rows) = m.block(i);
            for r in 0..rows {
                for (j, block) in m.row(i) {
                    let (at, width) = m.block(j);
                    self.col.extend(at..at + width);
                    self.values.extend_from_slice(&block[r * width..(r + 1) * width]);
                }
                self.row_start.push(self.col.len());
            }
        }
        self.row_scale.resize(m.rows(), 1.0);
    }

    /// Scratch that is large enough for solves both ways.
    fn scratch(&mut self, n: usize) -> MemBuffer {
        let symbolic = self.symbolic.as_ref().filter(|_| self.dense.is_empty());
        let wanted = (n, symbolic.is_none());
        if std::mem::replace(&mut self.scratch_for, wanted) != wanted {
            self.scratch = None;
        }
        self.scratch.take().unwrap_or_else(|| {
            let need = match symbolic {
                None => dense_solve::solve_transpose_in_place_scratch::<usize, f64>(n, 1, Par::Seq)
                    .or(dense_solve::solve_in_place_scratch::<usize, f64>(n, 1, Par::Seq)),
                Some(s) => s
                    .solve_transpose_in_place_scratch::<f64>(1, Par::Seq)
                    .or(s.solve_in_place_scratch::<f64>(1, Par::Seq)),
            };
            MemBuffer::new(need)
        })
    }

    /// Overwrites `x` with M⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        for (x, s) in x.iter_mut().zip(&self.row_scale) {
            *x *= s;
        }
        // The factors are of the transpose.
        self.solve_factors(x, true);
    }

    /// Overwrites `x` with M⁻ᵀ x.
    pub fn solve_transpose(&mut self, x: &mut [f64]) {
        self.solve_factors(x, false);
        for (x, s) in x.iter_mut().zip(&self.row_scale) {
            *x *= s;
        }
    }

    fn solve_factors(&mut self, x: &mut [f64], transposed: bool) {
        let n = x.len();
        let mut memory = self.scratch(n);
        let (x, stack) = (MatMut::from_column_major_slice_mut(x, n, 1), MemStack::new(&mut memory));
        if !self.dense.is_empty() {
            let perm = PermRef::new_checked(&self.perm, &self.perm_inverse, n);
            let lu = MatRef::from_column_major_slice(&self.dense, n, n);
            if transposed {
                dense_solve::solve_transpose_in_place_with_conj(lu, lu, perm, Conj::No, x, Par::Seq, stack);
            } else {
                dense_solve::solve_in_place_with_conj(lu, lu, perm, Conj::No, x, Par::Seq, stack);
            }
        } else if let Some(symbolic) = &self.symbolic {
            let lu = LuRef::new_unchecked(symbolic, &self.numeric);
            if transposed {
                lu.solve_transpose_in_place_with_conj(Conj::No, x, Par::Seq, stack);
            } else {
                lu.solve_in_place_with_conj(Conj::No, x, Par::Seq, stack);
            }
        }
        self.scratch = Some(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::{BlockKind, Layout};

    #[test]
    fn both_ways_solve_and_the_pattern_is_analysed_once() {
        check(40, 1);
        // Densely.
        check(8, 0);
    }

    fn check(count: usize, analyses: usize) {
        let mut layout = Layout::new();
        for k in 0..count {
            layout.push(if k < 5 { BlockKind::Rigid } else { BlockKind::Node });
        }
        let pairs: Vec<(u32, u32)> = (1..count as u32).map(|k| (k - 1, k)).collect();
        let mut m = BlockMat::with_pattern(&layout.widths(), &pairs);
        let mut lu = SparseLu::default();
        for round in 0..3 {
            m.clear();
            let mut s = 1.0 + round as f64;
            for i in 0..count {
                for j in i.saturating_sub(1)..(i + 2).min(count) {
                    let width = m.block(j).1;
                    let block = m.block_mut(i, j).unwrap();
                    for (k, x) in block.iter_mut().enumerate() {
                        s = (s * 7.31 + 0.77) % 1.0;
                        *x = (s - 0.5) * 10f64.powi((i % 5) as i32 - 2);
                        if i == j && k % (width + 1) == 0 {
                            *x += 9.0 * 10f64.powi((i % 5) as i32 - 2);
                        }
                    }
                }
            }
            assert!(lu.factor(&m));
            let n = m.rows();
            let x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut y = vec![0.0; n];
            m.mul(&x, &mut y);
            lu.solve(&mut y);
            assert!((0..n).all(|i| (x[i] - y[i]).abs() < 1e-10));
            // ⟨M⁻ᵀ a, M x⟩ = ⟨a, x⟩.
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.3).sin()).collect();
            let mut t = a.clone();
            lu.solve_transpose(&mut t);
            m.mul(&x, &mut y);
            let (l, r): (f64, f64) =
                (0..n).map(|i| (t[i] * y[i], a[i] * x[i])).fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
            assert!((l - r).abs() < 1e-9);
        }
        assert_eq!(lu.analyses, analyses);
    }
}
