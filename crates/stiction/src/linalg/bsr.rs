//! Symmetric matrix in 3×3 blocks, upper triangle stored: half the memory traffic of a full one.

use rayon::prelude::*;

/// A symmetric matrix of 3×3 blocks. Vectors are flat, three numbers per block row.
#[derive(Clone, Debug, Default)]
pub struct SymBsr {
    /// Blocks right of the diagonal of row i are `row_start[i]..row_start[i + 1]`.
    row_start: Vec<u32>,
    col: Vec<u32>,
    upper: Vec<[f64; 9]>,
    diagonal: Vec<[f64; 9]>,
}

impl SymBsr {
    /// Takes the upper part of a symmetric pattern given by rows (columns ascending, diagonal included); values zero.
    pub fn set_pattern(&mut self, row_start: &[u32], col: &[u32]) {
        let n = row_start.len().saturating_sub(1);
        self.row_start.clear();
        self.row_start.push(0);
        self.col.clear();
        for i in 0..n {
            let row = &col[row_start[i] as usize..row_start[i + 1] as usize];
            self.col.extend(row.iter().filter(|&&j| j as usize > i));
            self.row_start.push(self.col.len() as u32);
        }
        self.upper.clear();
        self.upper.resize(self.col.len(), [0.0; 9]);
        self.diagonal.clear();
        self.diagonal.resize(n, [0.0; 9]);
    }

    /// Number of block rows.
    pub fn rows(&self) -> usize {
        self.diagonal.len()
    }

    /// Columns right of the diagonal in row `i`, with their row-major blocks.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64; 9])> {
        let range = self.row_start[i] as usize..self.row_start[i + 1] as usize;
        self.col[range.clone()].iter().map(|&j| j as usize).zip(&self.upper[range])
    }

    /// The diagonal block of row `i`, row-major.
    pub fn diagonal(&self, i: usize) -> &[f64; 9] {
        &self.diagonal[i]
    }

    /// The diagonal block of row `i`, to be written.
    pub fn diagonal_mut(&mut self, i: usize) -> &mut [f64; 9] {
        &mut self.diagonal[i]
    }

    /// The blocks right of the diagonal, row after row, to be written.
    pub fn upper_mut(&mut self) -> &mut [[f64; 9]] {
        &mut self.upper
    }

    /// Bytes of values and columns.
    pub fn memory(&self) -> usize {
        72 * (self.upper.len() + self.diagonal.len()) + 4 * (self.col.len() + self.row_start.len())
    }

    /// y = A x. One thread.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = self.rows();
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        let (x, y) = (&x[..n], &mut y[..n]);
        y.fill([0.0; 3]);
        for i in 0..n {
            let xi = x[i];
            let d = &self.diagonal[i];
            let mut s = [0.0; 3];
            for r in 0..3 {
                s[r] = d[3 * r] * xi[0] + d[3 * r + 1] * xi[1] + d[3 * r + 2] * xi[2];
            }
            let range = self.row_start[i] as usize..self.row_start[i + 1] as usize;
            for (&j, m) in self.col[range.clone()].iter().zip(&self.upper[range]) {
                let xj = &x[j as usize];
                let yj = &mut y[j as usize];
                for r in 0..3 {
                    s[r] += m[3 * r] * xj[0] + m[3 * r + 1] * xj[1] + m[3 * r + 2] * xj[2];
                }
                for c in 0..3 {
                    yj[c] += m[c] * xi[0] + m[3 + c] * xi[1] + m[6 + c] * xi[2];
                }
            }
            for r in 0..3 {
                y[i][r] += s[r];
            }
        }
    }
}

/// Pieces that a product is cut into. Always the same number, so that the sums, and the bits, do not depend on threads.
const PIECES: usize = 8;

/// Buffers of [`SymBsr::mul_shared`].
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// First row of each piece, and one past the last row that it writes to.
    range: Vec<(usize, usize)>,
    buffer: Vec<Vec<[f64; 3]>>,
}

impl SymBsr {
    /// y = A x with rows shared out to threads; same bits for any number of them. Pays from some ten thousand rows on.
    pub fn mul_shared(&self, x: &[f64], y: &mut [f64], pieces: &mut Pieces) {
        let n = self.rows();
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        if pieces.range.len() != PIECES + 1 || pieces.range[PIECES].0 != n {
            self.cut(pieces);
        }
        let range = &pieces.range;
        pieces.buffer.par_iter_mut().enumerate().for_each(|(k, buffer)| {
            let (first, last, until) = (range[k].0, range[k + 1].0, range[k].1);
            buffer.clear();
            buffer.resize(until - first, [0.0; 3]);
            self.mul_rows(first, last, x, buffer);
        });
        let (range, buffer) = (&pieces.range, &pieces.buffer);
        y[..n].par_chunks_mut(n.div_ceil(PIECES).max(1)).enumerate().for_each(|(part, y)| {
            let first = part * n.div_ceil(PIECES).max(1);
            y.fill([0.0; 3]);
            for (k, buffer) in buffer.iter().enumerate() {
                let (from, until) = (range[k].0.max(first), range[k].1.min(first + y.len()));
                for i in from..until {
                    for c in 0..3 {
                        y[i - first][c] += buffer[i - range[k].0][c];
                    }
                }
            }
        });
    }

    /// Rows of about equal numbers of blocks, and how far each piece reaches.
    fn cut(&self, pieces: &mut Pieces) {
        let n = self.rows();
        let all = self.col.len() + n;
        pieces.range.clear();
        let mut row = 0;
        for k in 0..=PIECES {
            while row < n && (self.row_start[row] as usize + row) * PIECES < k * all {
                row += 1;
            }
            pieces.range.push((if k == PIECES { n } else { row }, 0));
        }
        for k in 0..PIECES {
            let (first, last) = (pieces.range[k].0, pieces.range[k + 1].0);
            let blocks = self.row_start[first] as usize..self.row_start[last] as usize;
            let reach = self.col[blocks].iter().map(|&c| c as usize + 1).max().unwrap_or(0);
            pieces.range[k].1 = reach.max(last);
        }
        pieces.buffer.resize_with(PIECES, Vec::new);
    }

    /// Rows `first..last` of the product and what they give to later ones, into a buffer that begins at `first`.
    fn mul_rows(&self, first: usize, last: usize, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        for i in first..last {
            let xi = x[i];
            let d = &self.diagonal[i];
            let mut s = [0.0; 3];
            for r in 0..3 {
                s[r] = d[3 * r] * xi[0] + d[3 * r + 1] * xi[1] + d[3 * r + 2] * xi[2];
            }
            let range = self.row_start[i] as usize..self.row_start[i + 1] as usize;
            for (&j, m) in self.col[range.clone()].iter().zip(&self.upper[range]) {
                let xj = &x[j as usize];
                let yj = &mut y[j as usize - first];
                for r in 0..3 {
                    s[r] += m[3 * r] * xj[0] + m[3 * r + 1] * xj[1] + m[3 * r + 2] * xj[2];
                }
                for c in 0..3 {
                    yj[c] += m[c] * xi[0] + m[3 + c] * xi[1] + m[6 + c] * xi[2];
                }
            }
            for r in 0..3 {
                y[i - first][r] += s[r];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_products_have_the_same_bits_for_any_number_of_threads() {
        // A band of random width, so that pieces reach into each other.
        let n = 300;
        let (mut start, mut col) = (vec![0], Vec::new());
        let near =
            |i: usize, j: usize| i.abs_diff(j) <= 1 || (i.abs_diff(j) <= 40 && (i + j).is_multiple_of(7));
        for i in 0..n {
            col.extend((0..n).filter(|&j| near(i, j)).map(|j| j as u32));
            start.push(col.len() as u32);
        }
        let mut a = SymBsr::default();
        a.set_pattern(&start, &col);
        for i in 0..n {
            *a.diagonal_mut(i) = [4.0, 0.5, 0.1, 0.5, 3.0, 0.2, 0.1, 0.2, 5.0];
        }
        for (k, m) in a.upper_mut().iter_mut().enumerate() {
            *m = std::array::from_fn(|e| ((k * 9 + e) as f64).sin());
        }
        let x: Vec<f64> = (0..3 * n).map(|i| (i as f64 * 0.7).cos()).collect();
        let mut plain = vec![0.0; 3 * n];
        a.mul(&x, &mut plain);
        let shared = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            let (mut y, mut pieces) = (vec![f64::NAN; 3 * n], Pieces::default());
            pool.install(|| a.mul_shared(&x, &mut y, &mut pieces));
            y
        };
        let (one, two) = (shared(1), shared(2));
        assert_eq!(one, two);
        assert!(one.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-12), "and is the product");
    }

    #[test]
    fn a_product_uses_both_triangles() {
        // Rows 0 and 2 are coupled; whole numbers, so that sums are exact.
        let mut a = SymBsr::default();
        a.set_pattern(&[0, 2, 3, 5], &[0, 2, 1, 0, 2]);
        assert_eq!(a.rows(), 3);
        let mut dense = [[0.0; 9]; 9];
        for i in 0..3 {
            for r in 0..3 {
                for c in 0..3 {
                    let value = (10 * i + r + c) as f64;
                    a.diagonal_mut(i)[3 * r + c] = value;
                    dense[3 * i + r][3 * i + c] = value;
                }
            }
        }
        for r in 0..3 {
            for c in 0..3 {
                let value = (7 * r + c) as f64;
                a.upper_mut()[0][3 * r + c] = value;
                dense[r][6 + c] = value;
                dense[6 + c][r] = value;
            }
        }
        let x: Vec<f64> = (0..9).map(|k| (k * k) as f64 - 5.0).collect();
        let mut y = vec![f64::NAN; 9];
        a.mul(&x, &mut y);
        for r in 0..9 {
            assert_eq!(y[r], (0..9).map(|c| dense[r][c] * x[c]).sum::<f64>(), "row {r}");
        }
        assert_eq!(a.row(0).count(), 1);
        assert_eq!(a.diagonal(1)[4], 12.0);
    }
}
