//! Symmetric matrix in 3×3 blocks, upper triangle stored: half the memory traffic of a full one.

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

#[cfg(test)]
mod tests {
    use super::*;

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
