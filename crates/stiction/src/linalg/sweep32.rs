//! Gauss–Seidel sweeps over 3×3 blocks in 32-bit numbers, for preconditioners: half the memory traffic, and
//! iteration counts do not change.

use super::lanes::{F4, prefetch};
use super::wide;

/// Sweeps ask for what they will read this many numbers later.
const AHEAD: usize = 384;

/// A square matrix of 3×3 blocks with both triangles stored, and inverses of its diagonal blocks.
#[derive(Clone, Debug, Default)]
pub struct Sweep32 {
    row_start: Vec<u32>,
    /// Place of the diagonal block in each row.
    middle: Vec<u32>,
    col: Vec<u32>,
    /// Column-major blocks, padded at the end so that a column can be read as four numbers.
    values: Vec<f32>,
    /// Columns of the (pseudo-)inverses of the diagonal blocks, and a zero below each; zero for rows that do not move.
    inverse: Vec<[Vec4f; 3]>,
}

/// Three numbers and an unused fourth.
pub type Vec4f = [f32; 4];

impl Sweep32 {
    /// Takes a pattern by rows: columns ascending, diagonal included. Values are zero.
    pub fn set_pattern(&mut self, row_start: &[u32], col: &[u32]) {
        let n = row_start.len().saturating_sub(1);
        self.row_start.clear();
        self.row_start.extend_from_slice(row_start);
        self.col.clear();
        self.col.extend_from_slice(col);
        self.middle.clear();
        for i in 0..n {
            let row = &col[row_start[i] as usize..row_start[i + 1] as usize];
            let at = row.binary_search(&(i as u32)).expect("the diagonal is in the pattern");
            self.middle.push(row_start[i] + at as u32);
        }
        self.values.clear();
        self.values.resize(9 * col.len() + 1, 0.0);
        self.inverse.clear();
        self.inverse.resize(n, [[0.0; 4]; 3]);
    }

    /// Number of block rows.
    pub fn rows(&self) -> usize {
        self.middle.len()
    }

    /// Places of the blocks of row `i`.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.row_start[i] as usize..self.row_start[i + 1] as usize
    }

    /// Columns of all blocks, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.col
    }

    /// Block at place `e`, column-major.
    pub fn block(&self, e: usize) -> &[f32; 9] {
        self.values[9 * e..9 * e + 9].try_into().expect("nine numbers")
    }

    /// Block at place `e`, column-major, to be written.
    pub fn block_mut(&mut self, e: usize) -> &mut [f32; 9] {
        (&mut self.values[9 * e..9 * e + 9]).try_into().expect("nine numbers")
    }

    /// Place of the diagonal block of row `i`.
    pub fn diagonal_place(&self, i: usize) -> usize {
        self.middle[i] as usize
    }

    /// All values, nine per block.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// All values, nine per block and one unused.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Sets what stands for the inverse of the diagonal block of row `i` (column-major).
    pub fn set_inverse(&mut self, i: usize, inverse: [f32; 9]) {
        let m = &inverse;
        self.inverse[i] = std::array::from_fn(|c| [m[3 * c], m[3 * c + 1], m[3 * c + 2], 0.0]);
    }

    /// Inverts the diagonal block of row `i`; zero where it is singular.
    pub fn invert_diagonal(&mut self, i: usize) {
        self.set_inverse(i, inverse3(self.block(self.middle[i] as usize)));
    }

    /// Σ A_ij x_j over the given places, and numbers without meaning in the fourth lane. `DOWN`: rows are visited from the
    /// last to the first.
    #[inline(always)]
    fn sum<const DOWN: bool>(&self, range: std::ops::Range<usize>, x: &[Vec4f]) -> F4 {
        let (mut a, mut b, mut c) = (F4::ZERO, F4::ZERO, F4::ZERO);
        let values = &self.values[9 * range.start..9 * range.end + 1];
        for (e, &j) in self.col[range].iter().enumerate() {
            // SAFETY: `values` has nine numbers for each column and one more.
            let m: &[f32; 10] = unsafe { &*values.as_ptr().add(9 * e).cast() };
            let at = m.as_ptr();
            prefetch(if DOWN { at.wrapping_sub(AHEAD) } else { at.wrapping_add(AHEAD) });
            let column = |k: usize| F4::load(m[3 * k..3 * k + 4].try_into().expect("four numbers"));
            let x = F4::load(&x[j as usize]).spread();
            a = a + column(0) * x[0];
            b = b + column(1) * x[1];
            c = c + column(2) * x[2];
        }
        a + b + c
    }

    /// What stands for the inverse of the diagonal block of row `i`, times `r`.
    #[inline(always)]
    fn divide(&self, i: usize, r: F4) -> Vec4f {
        let (m, x, mut y) = (&self.inverse[i], r.spread(), [0.0; 4]);
        (F4::load(&m[0]) * x[0] + F4::load(&m[1]) * x[1] + F4::load(&m[2]) * x[2]).store(&mut y);
        y
    }

    /// Forward sweep from zero: (D + L) x = r.
    pub fn forward(&self, r: &[Vec4f], x: &mut [Vec4f]) {
        #[inline(always)]
        fn run(a: &Sweep32, r: &[Vec4f], x: &mut [Vec4f]) {
            for i in 0..a.rows() {
                let s = a.sum::<false>(a.row_start[i] as usize..a.middle[i] as usize, x);
                x[i] = a.divide(i, F4::load(&r[i]) - s);
            }
        }
        wide!(run(self: &Sweep32, r: &[Vec4f], x: &mut [Vec4f]));
    }

    /// The second half of a symmetric sweep: (D + U) z = D x in place.
    pub fn backward_half(&self, x: &mut [Vec4f]) {
        #[inline(always)]
        fn run(a: &Sweep32, x: &mut [Vec4f]) {
            for i in (0..a.rows()).rev() {
                let s = a.sum::<true>(a.middle[i] as usize + 1..a.row_start[i + 1] as usize, x);
                let d = a.divide(i, s);
                x[i] = sub(&x[i], &d);
            }
        }
        wide!(run(self: &Sweep32, x: &mut [Vec4f]));
    }

    /// Backward sweep from `x`: each row in turn from the last to the first.
    pub fn backward(&self, r: &[Vec4f], x: &mut [Vec4f]) {
        #[inline(always)]
        fn run(a: &Sweep32, r: &[Vec4f], x: &mut [Vec4f]) {
            for i in (0..a.rows()).rev() {
                let left = a.sum::<true>(a.row_start[i] as usize..a.middle[i] as usize, x);
                let right = a.sum::<true>(a.middle[i] as usize + 1..a.row_start[i + 1] as usize, x);
                x[i] = a.divide(i, F4::load(&r[i]) - left - right);
            }
        }
        wide!(run(self: &Sweep32, r: &[Vec4f], x: &mut [Vec4f]));
    }

    /// The residual that [`forward`](Sweep32::forward) leaves: −U x.
    pub fn residual_after_forward(&self, x: &[Vec4f], out: &mut [Vec4f]) {
        #[inline(always)]
        fn run(a: &Sweep32, x: &[Vec4f], out: &mut [Vec4f]) {
            for i in 0..a.rows() {
                let s = a.sum::<false>(a.middle[i] as usize + 1..a.row_start[i + 1] as usize, x);
                (F4::ZERO - s).store(&mut out[i]);
                out[i][3] = 0.0;
            }
        }
        wide!(run(self: &Sweep32, x: &[Vec4f], out: &mut [Vec4f]));
    }

    /// Σ_j A_ij x_j of row `i`.
    pub fn row_product(&self, i: usize, x: &[Vec4f]) -> Vec4f {
        let mut y = [0.0; 4];
        self.sum::<false>(self.range(i), x).store(&mut y);
        y[3] = 0.0;
        y
    }
}

/// M x for a column-major block.
#[inline(always)]
pub fn times(m: &[f32; 9], x: &Vec4f) -> Vec4f {
    let mut y = [0.0; 4];
    for k in 0..3 {
        y[k] = m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2];
    }
    y
}

/// Mᵀ x for a column-major block.
#[inline(always)]
pub fn times_transposed(m: &[f32; 9], x: &Vec4f) -> Vec4f {
    let mut y = [0.0; 4];
    for k in 0..3 {
        y[k] = m[3 * k] * x[0] + m[3 * k + 1] * x[1] + m[3 * k + 2] * x[2];
    }
    y
}

/// a − b.
#[inline(always)]
pub fn sub(a: &Vec4f, b: &Vec4f) -> Vec4f {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], 0.0]
}

/// Inverse of a 3×3 block in either storage order; zero where it is singular.
fn inverse3(m: &[f32; 9]) -> [f32; 9] {
    let d = glam::DMat3::from_cols_array(&m.map(f64::from));
    let det = d.determinant();
    let size = m.iter().fold(0f32, |s, x| s.max(x.abs())) as f64;
    if det.is_nan() || det.abs() <= 1e-12 * size * size * size {
        return [0.0; 9];
    }
    d.inverse().to_cols_array().map(|x| x as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: usize) -> Sweep32 {
        let (mut start, mut col) = (vec![0], Vec::new());
        for i in 0..n {
            col.extend((i.saturating_sub(1)..(i + 2).min(n)).map(|j| j as u32));
            start.push(col.len() as u32);
        }
        let mut a = Sweep32::default();
        a.set_pattern(&start, &col);
        for i in 0..n {
            for e in a.range(i) {
                let j = a.columns()[e] as usize;
                let (lo, hi) = (i.min(j), i.max(j));
                for c in 0..3 {
                    for r in 0..3 {
                        let (r1, c1) = if i <= j { (r, c) } else { (c, r) };
                        let one = if r == c && i == j { 4.0 } else { 0.0 };
                        a.block_mut(e)[3 * c + r] = one + 0.1 * ((lo + 2 * hi + 3 * r1 + 3 * c1) % 5) as f32;
                    }
                }
            }
            a.invert_diagonal(i);
        }
        a
    }

    #[test]
    fn a_full_backward_sweep_after_a_forward_one_is_the_symmetric_sweep() {
        let n = 7;
        let a = chain(n);
        let r: Vec<Vec4f> = (0..n).map(|i| [i as f32, 1.0 - i as f32, 0.5, 0.0]).collect();
        let mut x = vec![[0.0; 4]; n];
        a.forward(&r, &mut x);
        let mut left = vec![[0.0; 4]; n];
        a.residual_after_forward(&x, &mut left);
        for i in 0..n {
            let y = sub(&r[i], &a.row_product(i, &x));
            assert!((0..3).all(|k| (y[k] - left[i][k]).abs() < 1e-4));
        }
        let (mut half, mut full) = (x.clone(), x);
        a.backward_half(&mut half);
        a.backward(&r, &mut full);
        for i in 0..n {
            assert!((0..3).all(|k| (half[i][k] - full[i][k]).abs() < 1e-5), "{:?} {:?}", half[i], full[i]);
        }
    }
}
