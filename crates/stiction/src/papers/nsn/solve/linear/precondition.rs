//! Preconditioners of the Schur complement: its diagonal, its blocks, or incomplete factors.

use super::PreconditionerKind;
use super::blocks::{BlockRows, Incomplete};
use crate::linalg::Real;
use crate::papers::nsn::solve::schur::Schur;

/// Largest block: the six strain rows of an element.
pub(super) const WIDEST: usize = 6;

/// Inverse of the diagonal or of its blocks, or incomplete factors.
#[derive(Clone, Debug, Default)]
pub struct Preconditioner<T> {
    diagonal: Vec<T>,
    /// First row of each block and where its inverse begins; empty for the diagonal alone.
    blocks: Vec<(usize, usize)>,
    inverse: Vec<T>,
    matrix: BlockRows<T>,
    factors: Option<Incomplete<T>>,
}

impl<T: Real> Preconditioner<T> {
    /// Of the matrix `s`.
    pub fn prepare(&mut self, s: &Schur<T>, kind: PreconditionerKind) {
        let n = s.rows();
        self.diagonal.clear();
        for i in 0..n {
            let d = s.diagonal(i);
            self.diagonal.push(if d > T::ZERO { T::ONE / d } else { T::ONE });
        }
        self.blocks.clear();
        self.inverse.clear();
        if kind.needs_matrix() {
            let mut factors = self.factors.take().unwrap_or_default();
            if let Some(w) = s.assembled() {
                self.matrix.gather(&s.blocks, w, |i, j, w| s.entry(i, j, w));
                factors.factor(&self.matrix);
                self.factors = Some(factors);
            }
            return;
        }
        self.factors = None;
        if kind == PreconditionerKind::Diagonal {
            return;
        }
        for b in 0..s.blocks() {
            let (first, width) = s.block(b);
            debug_assert!(width <= WIDEST);
            self.blocks.push((first, self.inverse.len()));
            let at = self.inverse.len();
            for i in 0..width {
                for j in 0..width {
                    self.inverse.push(s.block_entry(first + i, first + j));
                }
            }
            if !invert(&mut self.inverse[at..], width) {
                for i in 0..width {
                    for j in 0..width {
                        let d = if i == j { self.diagonal[first + i] } else { T::ZERO };
                        self.inverse[at + i * width + j] = d;
                    }
                }
            }
        }
        self.blocks.push((n, self.inverse.len()));
    }

    /// 1/diagonal.
    pub fn diagonal(&self) -> &[T] {
        &self.diagonal
    }

    /// z = P r.
    pub fn apply(&self, r: &[T], z: &mut [T]) {
        if let Some(factors) = &self.factors {
            factors.solve(r, z);
            return;
        }
        if self.blocks.is_empty() {
            for i in 0..r.len() {
                z[i] = self.diagonal[i] * r[i];
            }
            return;
        }
        for b in self.blocks.windows(2) {
            let ((first, at), n) = (b[0], b[1].0 - b[0].0);
            for i in 0..n {
                let mut s = T::ZERO;
                for j in 0..n {
                    s += self.inverse[at + i * n + j] * r[first + j];
                }
                z[first + i] = s;
            }
        }
    }
}

/// Overwrites a small symmetric positive definite matrix with its inverse by elimination; false where a pivot is lost.
pub fn invert<T: Real>(a: &mut [T], n: usize) -> bool {
    let mut inverse = [T::ZERO; WIDEST * WIDEST];
    let mut largest = T::ZERO;
    for i in 0..n {
        inverse[i * n + i] = T::ONE;
        largest = largest.larger(a[i * n + i]);
    }
    for k in 0..n {
        let pivot = a[k * n + k];
        if !pivot.is_number() || pivot <= T::of(16.0) * T::EPSILON * largest {
            return false;
        }
        for i in 0..n {
            if i == k {
                continue;
            }
            let f = a[i * n + k] / pivot;
            for j in 0..n {
                let (x, y) = (a[k * n + j], inverse[k * n + j]);
                a[i * n + j] -= f * x;
                inverse[i * n + j] -= f * y;
            }
        }
    }
    for i in 0..n {
        let pivot = a[i * n + i];
        for j in 0..n {
            inverse[i * n + j] /= pivot;
        }
    }
    a[..n * n].copy_from_slice(&inverse[..n * n]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_inverses_invert_and_singular_ones_are_refused() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 5.0];
        let mut inverse = a;
        assert!(invert(&mut inverse, 3));
        for i in 0..3 {
            for j in 0..3 {
                let x: f64 = (0..3).map(|k| a[3 * i + k] * inverse[3 * k + j]).sum();
                assert!((x - if i == j { 1.0 } else { 0.0 }).abs() < 1e-14);
            }
        }
        assert!(!invert(&mut [1.0, 1.0, 1.0, 1.0], 2));
    }
}
