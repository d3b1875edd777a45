//! LU factorisation of a general square matrix: dense when small, sparse when large.
//!
//! The matrix comes row by row, so what is factored is its transpose by columns. Rows are equilibrated first,
//! because penalties and inertias differ by many decades. One thread, so that any number of threads gives the same bits.

use super::scratch::Scratch;
use faer::linalg::lu::partial_pivoting::{factor as dense_factor, solve as dense_solve};
use faer::perm::PermRef;
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, MatRef, Par};

/// Up to this many rows the matrix is factored densely.
const DENSE_ROWS: usize = 400;

/// Factors of a matrix without symmetry, definiteness or structure.
#[derive(Default)]
pub struct GeneralLu {
    /// Rows by columns ascending, equilibrated on the way to the factors.
    row_start: Vec<usize>,
    col: Vec<usize>,
    values: Vec<f64>,
    row_scale: Vec<f64>,
    dense: Vec<f64>,
    perm: Vec<usize>,
    perm_inverse: Vec<usize>,
    symbolic: Option<SymbolicLu<usize>>,
    numeric: NumericLu<usize, f64>,
    numeric_rows: usize,
    check: Vec<f64>,
    memory: Scratch,
}

impl GeneralLu {
    /// Starts a new matrix.
    pub fn clear(&mut self) {
        self.row_start.clear();
        self.row_start.push(0);
        self.col.clear();
        self.values.clear();
    }

    /// Adds an entry to the current row; columns ascend.
    pub fn push(&mut self, col: usize, value: f64) {
        self.col.push(col);
        self.values.push(value);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.row_start.push(self.col.len());
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_start.len().saturating_sub(1)
    }

    /// Factors what was pushed. False where the matrix is singular or not finite.
    pub fn factor(&mut self) -> bool {
        let n = self.rows();
        self.row_scale.clear();
        for i in 0..n {
            let row = &mut self.values[self.row_start[i]..self.row_start[i + 1]];
            let largest = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if !(largest > 0.0 && largest.is_finite()) {
                return false;
            }
            self.row_scale.push(1.0 / largest);
            for x in row {
                *x /= largest;
            }
        }
        let done = if n <= DENSE_ROWS { self.factor_dense(n) } else { self.factor_sparse(n) };
        if !done {
            return false;
        }
        // A zero pivot shows as a number that is not finite.
        let mut check = std::mem::take(&mut self.check);
        check.clear();
        check.resize(n, 1.0);
        self.solve(&mut check);
        let ok = check.iter().all(|x| x.is_finite());
        self.check = check;
        ok
    }

    /// Multiplications of a factorisation: n³/3 of a dense matrix, with the squares of the lengths of rows in place of n² where it is
    /// sparse. Fill is left out.
    pub fn work(&self) -> f64 {
        let row = |w: &[usize]| ((w[1] - w[0]) as f64).powi(2);
        self.row_start.windows(2).map(row).sum::<f64>() / 3.0
    }

    /// Overwrites `x` with M⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        let n = self.rows();
        for (x, s) in x.iter_mut().zip(&self.row_scale) {
            *x *= s;
        }
        let rhs = MatMut::from_column_major_slice_mut(x, n, 1);
        if n <= DENSE_ROWS {
            let lu = MatRef::from_column_major_slice(&self.dense, n, n);
            let perm = PermRef::new_checked(&self.perm, &self.perm_inverse, n);
            let need = dense_solve::solve_transpose_in_place_scratch::<usize, f64>(n, 1, Par::Seq);
            dense_solve::solve_transpose_in_place_with_conj(
                lu,
                lu,
                perm,
                Conj::No,
                rhs,
                Par::Seq,
                self.memory.at_least(need),
            );
        } else if let Some(symbolic) = &self.symbolic {
            let need = symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq);
            LuRef::new_unchecked(symbolic, &self.numeric).solve_transpose_in_place_with_conj(
                Conj::No,
                rhs,
                Par::Seq,
                self.memory.at_least(need),
            );
        }
    }

    fn factor_dense(&mut self, n: usize) -> bool {
        self.dense.clear();
        self.dense.resize(n * n, 0.0);
        for i in 0..n {
            for e in self.row_start[i]..self.row_start[i + 1] {
                self.dense[i * n + self.col[e]] = self.values[e];
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
            self.memory.at_least(need),
            Default::default(),
        );
        true
    }

    fn factor_sparse(&mut self, n: usize) -> bool {
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.row_start, None, &self.col);
        self.symbolic = factorize_symbolic_lu(pattern, Default::default()).ok();
        let Some(symbolic) = &self.symbolic else {
            return false;
        };
        // Factors of another size cannot be reused: faer keeps the column pointers of the larger one.
        if self.numeric_rows != n {
            self.numeric = NumericLu::default();
            self.numeric_rows = n;
        }
        let need = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        symbolic
            .factorize_numeric_lu(
                &mut self.numeric,
                SparseColMatRef::new(pattern, &self.values),
                Par::Seq,
                self.memory.at_least(need),
                Default::default(),
            )
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A banded unsymmetric matrix with rows of very different size.
    fn fill(lu: &mut GeneralLu, n: usize) -> Vec<Vec<(usize, f64)>> {
        let mut rows = Vec::new();
        lu.clear();
        for i in 0..n {
            let scale = 10f64.powi((i % 7) as i32 * 3 - 9);
            let mut row = Vec::new();
            for j in i.saturating_sub(4)..(i + 4).min(n) {
                let x = scale * ((i * 31 + j * 17) % 23) as f64 / 23.0;
                row.push((j, if i == j { 3.0 * scale } else { x }));
            }
            for &(j, x) in &row {
                lu.push(j, x);
            }
            lu.end_row();
            rows.push(row);
        }
        rows
    }

    #[test]
    fn dense_and_sparse_solve() {
        // One after the other in the same memory, larger and smaller.
        let mut lu = GeneralLu::default();
        for n in [0, 1, 5, DENSE_ROWS, 1000, DENSE_ROWS + 1, 700] {
            let rows = fill(&mut lu, n);
            assert!(lu.factor(), "{n} rows");
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let mut y: Vec<f64> = rows.iter().map(|r| r.iter().map(|&(j, a)| a * x[j]).sum()).collect();
            lu.solve(&mut y);
            for i in 0..n {
                assert!((x[i] - y[i]).abs() < 1e-9, "{n} rows: {} {}", x[i], y[i]);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        for n in [4, DENSE_ROWS + 3] {
            let mut lu = GeneralLu::default();
            lu.clear();
            for i in 0..n {
                // The last row repeats the one above it.
                lu.push(i.min(n - 2), 1.0);
                lu.end_row();
            }
            assert!(!lu.factor(), "{n} rows");
        }
    }
}
