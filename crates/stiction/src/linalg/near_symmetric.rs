//! Solution of large sparse systems that are nearly symmetric: a Cholesky factor of the symmetric part leads GMRES to the answer.
//!
//! An LU factor with row exchanges fills like AᵀA, a Cholesky factor like A: for solid blocks of tets that is a tenth of the work and
//! less. What is not symmetric (friction, gyroscopic terms, rows of held nodes) touches few rows, so that few products take it
//! in. Matrices that follow each other share a factor until it takes too many products. Small ones, and those whose symmetric part
//! is not definite, are factored by LU as they are.

use super::krylov::{Fgmres, LinearSystem, dot};
use super::{BlockMat, SparseCholesky, SparseLu};

/// From this many rows on Cholesky and GMRES are less work than LU.
const LARGE: usize = 300;
/// Residual that counts as solved where derivatives depend on it, relative to the right-hand side.
pub const EXACT: f64 = 1e-13;
/// Products after which the factor of an earlier matrix is replaced.
const STALE_CYCLE: usize = 16;
/// Products in one cycle of GMRES, and cycles before LU takes over.
const CYCLE: usize = 40;
const CYCLES: usize = 3;
/// A residual that no cycle makes smaller counts as solved up to here, as rounding.
const ROUNDED: f64 = 1e-11;

/// Factors of a matrix; solves with it and with its transpose.
#[derive(Default)]
pub struct NearSymmetric {
    /// The matrix itself, for products; empty while LU stands alone.
    matrix: BlockMat,
    symmetric: BlockMat,
    blocks: Vec<u32>,
    cholesky: SparseCholesky,
    lu: SparseLu,
    state: Factor,
    gmres: Fgmres,
    scale: Vec<f64>,
    x: Vec<f64>,
    residual: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Factor {
    /// LU of the matrix.
    #[default]
    Lu,
    /// Cholesky of its symmetric part.
    Cholesky,
    /// Cholesky of that of an earlier matrix.
    Stale,
}

/// The matrix or its transpose, with the Cholesky factor before it.
struct Led<'a> {
    matrix: &'a BlockMat,
    cholesky: &'a mut SparseCholesky,
    transposed: bool,
}

impl LinearSystem for Led<'_> {
    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        multiply(self.matrix, self.transposed, x, y);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        self.cholesky.solve(z);
    }
}

fn multiply(m: &BlockMat, transposed: bool, x: &[f64], y: &mut [f64]) {
    if transposed {
        y.fill(0.0);
        m.mul_t_add(1.0, x, y);
    } else {
        m.mul(x, y);
    }
}

impl NearSymmetric {
    /// Forgets earlier matrices, so that answers depend on nothing but the next ones.
    pub fn forget(&mut self) {
        self.state = Factor::Lu;
    }

    /// Factors `m`, or keeps the factor of the matrix before it. False where it is singular or not finite. Matrices of one pattern
    /// should follow each other.
    pub fn factor(&mut self, m: &BlockMat) -> bool {
        if m.rows() >= LARGE {
            if self.state != Factor::Lu && self.matrix.has_pattern_of(m) {
                self.matrix.assign(m);
                self.state = Factor::Stale;
                return true;
            }
            if self.matrix.has_pattern_of(m) {
                self.matrix.assign(m);
            } else {
                self.matrix = m.clone();
                self.symmetric = m.clone();
                self.cholesky = SparseCholesky::default();
            }
            if self.factor_symmetric() {
                self.state = Factor::Cholesky;
                return true;
            }
        }
        self.state = Factor::Lu;
        self.lu.factor(m)
    }

    /// Of two mirrored entries the smaller counts, and none where they disagree in sign: a row that constraints replaced leaves its
    /// column out, too, and what remains is definite where the matrix without constraints is.
    fn factor_symmetric(&mut self) -> bool {
        let m = &self.matrix;
        for i in 0..m.block_rows() {
            let height = m.block(i).1;
            for (j, below) in m.row(i) {
                if j > i {
                    break;
                }
                let width = m.block(j).1;
                let Some(above) = m.entry(j, i).map(|e| m.entry_values(e)) else { return false };
                let Some(e) = self.symmetric.entry(i, j) else { return false };
                let out = self.symmetric.entry_mut(e);
                for r in 0..height {
                    for c in 0..width {
                        let (a, b) = (below[r * width + c], above[c * height + r]);
                        let least = if a.abs() < b.abs() { a } else { b };
                        out[r * width + c] = if a * b > 0.0 { least } else { 0.0 };
                    }
                }
            }
        }
        self.blocks.clear();
        self.blocks.extend(0..m.block_rows() as u32);
        self.cholesky.factor(&self.symmetric, &self.blocks)
    }

    /// Overwrites `x` with M⁻¹ x; the residual that may be left is relative to x.
    pub fn solve(&mut self, x: &mut [f64], tolerance: f64) {
        match self.state {
            Factor::Lu => self.lu.solve(x),
            _ => self.lead(x, false, tolerance),
        }
    }

    /// Overwrites `x` with M⁻ᵀ x.
    pub fn solve_transpose(&mut self, x: &mut [f64], tolerance: f64) {
        match self.state {
            Factor::Lu => self.lu.solve_transpose(x),
            _ => self.lead(x, true, tolerance),
        }
    }

    /// GMRES with the Cholesky factor; LU where it does not get there.
    fn lead(&mut self, b: &mut [f64], transposed: bool, tolerance: f64) {
        let n = b.len();
        let size = dot(b, b).sqrt();
        self.scale.resize(n, 1.0);
        self.x.clear();
        self.x.resize(n, 0.0);
        self.residual.clear();
        self.residual.extend_from_slice(b);
        let mut left = size;
        for _ in 0..CYCLES {
            let most = if self.state == Factor::Stale { STALE_CYCLE } else { CYCLE };
            let mut led = Led { matrix: &self.matrix, cholesky: &mut self.cholesky, transposed };
            let (r, x) = (&self.residual, &mut self.x);
            self.gmres.solve(&mut led, &self.scale, r, x, tolerance * size, most);
            multiply(&self.matrix, transposed, &self.x, &mut self.residual);
            for (r, b) in self.residual.iter_mut().zip(&*b) {
                *r = b - *r;
            }
            let before = std::mem::replace(&mut left, dot(&self.residual, &self.residual).sqrt());
            let rounded = left <= ROUNDED * size && left > 0.1 * before;
            if left <= tolerance * size || rounded {
                b.copy_from_slice(&self.x);
                return;
            }
            if self.state == Factor::Stale {
                if !self.factor_symmetric() {
                    break;
                }
                self.state = Factor::Cholesky;
            }
        }
        if left <= ROUNDED * size {
            b.copy_from_slice(&self.x);
            return;
        }
        // Too far from symmetric.
        self.state = Factor::Lu;
        self.lu.factor(&self.matrix);
        if transposed { self.lu.solve_transpose(b) } else { self.lu.solve(b) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::{BlockKind, Layout};

    /// A chain of nodes with springs, friction on some of them and one row that a constraint replaced.
    fn chain(friction: f64) -> BlockMat {
        let mut layout = Layout::new();
        let count = LARGE / 3 + 20;
        (0..count).for_each(|_| {
            layout.push(BlockKind::Node);
        });
        let pairs: Vec<(u32, u32)> = (1..count as u32).map(|k| (k - 1, k)).collect();
        let mut m = BlockMat::with_pattern(&layout.widths(), &pairs);
        for i in 0..count {
            for j in [i.checked_sub(1), Some(i), (i + 1 < count).then_some(i + 1)].into_iter().flatten() {
                let block = m.block_mut(i, j).unwrap();
                for k in 0..3 {
                    block[4 * k] = if i == j { 2.0 + 0.01 * (k + 1) as f64 } else { -1.0 };
                }
                if i == j && i % 7 == 0 {
                    block[2] = friction;
                    block[5] = -0.5 * friction;
                }
                if i == 100 {
                    block.fill(0.0);
                    if i == j {
                        (block[0], block[4], block[8]) = (3.0, 3.0, 3.0);
                    }
                }
            }
        }
        m
    }

    #[test]
    fn both_ways_solve_whether_near_to_symmetry_or_not() {
        for friction in [0.0, 0.3, 30.0] {
            let m = chain(friction);
            let mut f = NearSymmetric::default();
            assert!(f.factor(&m));
            let n = m.rows();
            let x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            for transposed in [false, true] {
                let mut y = vec![0.0; n];
                multiply(&m, transposed, &x, &mut y);
                if transposed {
                    f.solve_transpose(&mut y, EXACT)
                } else {
                    f.solve(&mut y, EXACT)
                }
                assert!((0..n).all(|i| (x[i] - y[i]).abs() < 1e-8), "{friction} {transposed}");
            }
            if friction < 1.0 {
                assert_eq!(f.state, Factor::Cholesky, "{friction}");
                // A matrix like it is solved with the same factor.
                let mut near = m.clone();
                near.diagonal_block_mut(50)[0] += 0.5;
                assert!(f.factor(&near));
                let mut y = vec![0.0; n];
                near.mul(&x, &mut y);
                f.solve(&mut y, EXACT);
                assert!((0..n).all(|i| (x[i] - y[i]).abs() < 1e-8), "{friction}");
                assert_eq!(f.state, Factor::Stale, "{friction}");
            }
        }
    }
}
