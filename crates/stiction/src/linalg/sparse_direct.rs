//! Direct solution of sparse symmetric systems given by rows, by faer: L Lᵀ for positive definite ones, L D Lᵀ else.

use super::scratch::Scratch;
use super::{Real, SparseRows};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// Which factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirectKind {
    /// Cholesky, L Lᵀ: refuses a matrix that is not positive definite.
    #[default]
    Llt,
    /// L D Lᵀ without pivoting: goes on where a pivot is negative, breaks where one vanishes.
    Ldlt,
}

/// Factors of a symmetric matrix; the symbolic part is kept while the pattern stays.
#[derive(Default)]
pub struct SparseDirect<T> {
    kind: DirectKind,
    start: Vec<usize>,
    row: Vec<usize>,
    incoming: Vec<usize>,
    values: Vec<T>,
    symbolic: Option<SymbolicCholesky<usize>>,
    factor: Vec<T>,
    scratch: Scratch,
}

impl<T: Real> SparseDirect<T> {
    /// Factors the matrix whose entry (i, j) is `value(i, j, a_ij)` for every stored a_ij, of which the part j ≤ i is
    /// used. False when it breaks down.
    pub fn factor(
        &mut self,
        kind: DirectKind,
        a: &SparseRows<T>,
        value: impl Fn(usize, usize, T) -> T,
    ) -> bool {
        let n = a.rows();
        let same_size = self.start.len() == n + 1;
        self.start.clear();
        self.start.push(0);
        self.incoming.clear();
        self.values.clear();
        for i in 0..n {
            let (columns, values) = a.row(i);
            for (c, v) in columns.iter().zip(values) {
                let c = *c as usize;
                if c <= i {
                    self.incoming.push(c);
                    self.values.push(value(i, c, *v));
                }
            }
            self.start.push(self.incoming.len());
        }
        if !same_size || self.incoming != self.row {
            std::mem::swap(&mut self.incoming, &mut self.row);
            self.symbolic = None;
        }
        self.kind = kind;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.start, None, &self.row);
        if self.symbolic.is_none() {
            let params = CholeskySymbolicParams::default();
            self.symbolic =
                factorize_symbolic_cholesky(pattern, Side::Upper, SymmetricOrdering::Amd, params).ok();
        }
        let Some(symbolic) = &self.symbolic else { return false };
        self.factor.resize(symbolic.len_val(), T::ZERO);
        let matrix = SparseColMatRef::new(pattern, &self.values);
        match kind {
            DirectKind::Llt => {
                let need = symbolic.factorize_numeric_llt_scratch::<T>(Par::Seq, Default::default());
                let stack = self.scratch.at_least(need);
                let none = Default::default();
                symbolic
                    .factorize_numeric_llt(
                        &mut self.factor,
                        matrix,
                        Side::Upper,
                        none,
                        Par::Seq,
                        stack,
                        Default::default(),
                    )
                    .is_ok()
            }
            DirectKind::Ldlt => {
                let need = symbolic.factorize_numeric_ldlt_scratch::<T>(Par::Seq, Default::default());
                let stack = self.scratch.at_least(need);
                let none = Default::default();
                symbolic
                    .factorize_numeric_ldlt(
                        &mut self.factor,
                        matrix,
                        Side::Upper,
                        none,
                        Par::Seq,
                        stack,
                        Default::default(),
                    )
                    .is_ok()
            }
        }
    }

    /// Overwrites `x` with A⁻¹ x.
    pub fn solve(&mut self, x: &mut [T]) {
        let Some(symbolic) = &self.symbolic else { return };
        let need = symbolic.solve_in_place_scratch::<T>(1, Par::Seq);
        let n = x.len();
        let x = MatMut::from_column_major_slice_mut(x, n, 1);
        let stack = self.scratch.at_least(need);
        match self.kind {
            DirectKind::Llt => LltRef::<usize, T>::new(symbolic, &self.factor).solve_in_place_with_conj(
                Conj::No,
                x,
                Par::Seq,
                stack,
            ),
            DirectKind::Ldlt => LdltRef::<usize, T>::new(symbolic, &self.factor).solve_in_place_with_conj(
                Conj::No,
                x,
                Par::Seq,
                stack,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(entries: &[[f64; 3]; 3]) -> SparseRows<f64> {
        let mut a = SparseRows::default();
        a.clear();
        for row in entries {
            for (c, v) in row.iter().enumerate() {
                a.push(c, *v);
            }
            a.end_row();
        }
        a
    }

    #[test]
    fn both_solve_and_only_cholesky_refuses_an_indefinite_matrix() {
        let spd = matrix(&[[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 5.0]]);
        let indefinite = matrix(&[[4.0, 1.0, 0.0], [1.0, -3.0, -1.0], [0.0, -1.0, 5.0]]);
        let x = [1.0, -2.0, 0.5];
        let keep = |_: usize, _: usize, v: f64| v;
        let mut solver = SparseDirect::default();
        for (kind, a) in [(DirectKind::Llt, &spd), (DirectKind::Ldlt, &spd), (DirectKind::Ldlt, &indefinite)]
        {
            let mut b = [0.0; 3];
            a.mul(&x, &mut b);
            assert!(solver.factor(kind, a, keep));
            solver.solve(&mut b);
            assert!(x.iter().zip(&b).all(|(x, b)| (x - b).abs() < 1e-14), "{kind:?}: {b:?}");
        }
        assert!(!solver.factor(DirectKind::Llt, &indefinite, keep));
        // The same in 32-bit numbers.
        let mut single = SparseRows::<f32>::default();
        single.clear();
        for (c, v) in [(0, 4.0), (1, 1.0)] {
            single.push(c, v);
        }
        single.end_row();
        for (c, v) in [(0, 1.0), (1, 3.0)] {
            single.push(c, v);
        }
        single.end_row();
        let mut solver = SparseDirect::<f32>::default();
        assert!(solver.factor(DirectKind::Llt, &single, |_, _, v| v));
        let mut b = [5.0f32, 4.0];
        solver.solve(&mut b);
        assert!((b[0] - 1.0).abs() < 1e-6 && (b[1] - 1.0).abs() < 1e-6);
    }
}
