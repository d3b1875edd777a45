//! A sparse symmetric matrix in small dense blocks of differing widths, and its incomplete Cholesky factors.

use super::precondition::{WIDEST, invert};
use crate::linalg::{Real, SparseRows};

/// Blocks by rows, columns ascending, the diagonal always stored.
#[derive(Clone, Debug, Default)]
pub struct BlockRows<T> {
    /// First row of each block, and the number of rows at the end.
    first: Vec<u32>,
    row: Vec<u32>,
    column: Vec<u32>,
    /// Where the values of a block begin, row-major.
    place: Vec<u32>,
    value: Vec<T>,
}

impl<T: Real> BlockRows<T> {
    /// Gathers the entries `value(i, j, a_ij)` of `a`; `first` holds the first row of each block and the end.
    pub fn gather(&mut self, first: &[u32], a: &SparseRows<T>, value: impl Fn(usize, usize, T) -> T) {
        self.first.clear();
        self.first.extend_from_slice(first);
        self.row.clear();
        self.row.push(0);
        self.column.clear();
        self.place.clear();
        self.value.clear();
        let mut block_of = vec![0u32; a.rows()];
        for (b, w) in first.windows(2).enumerate() {
            block_of[w[0] as usize..w[1] as usize].fill(b as u32);
        }
        let mut columns: Vec<u32> = Vec::new();
        for i in 0..self.blocks() {
            let rows = self.rows_of(i);
            columns.clear();
            for r in rows.clone() {
                columns.extend(a.row(r).0.iter().map(|c| block_of[*c as usize]));
            }
            columns.push(i as u32);
            columns.sort_unstable();
            columns.dedup();
            let begin = self.column.len();
            for &j in &columns {
                self.column.push(j);
                self.place.push(self.value.len() as u32);
                self.value.resize(self.value.len() + rows.len() * self.rows_of(j as usize).len(), T::ZERO);
            }
            for r in rows.clone() {
                let (cols, values) = a.row(r);
                for (c, v) in cols.iter().zip(values) {
                    let j = block_of[*c as usize];
                    let Ok(k) = self.column[begin..].binary_search(&j) else { continue };
                    let to = self.rows_of(j as usize);
                    let at =
                        self.place[begin + k] as usize + (r - rows.start) * to.len() + *c as usize - to.start;
                    self.value[at] += value(r, *c as usize, *v);
                }
            }
            self.row.push(self.column.len() as u32);
        }
    }

    /// Zeros on the pattern that couples the blocks of each group with each other; `first` as in [`gather`](BlockRows::gather).
    pub fn set_pattern<'a>(&mut self, first: &[u32], groups: impl Iterator<Item = &'a [u32]>) {
        self.first.clear();
        self.first.extend_from_slice(first);
        let mut near: Vec<Vec<u32>> = (0..self.blocks()).map(|i| vec![i as u32]).collect();
        for group in groups {
            group.iter().for_each(|&i| near[i as usize].extend_from_slice(group));
        }
        self.row.clear();
        self.row.push(0);
        self.column.clear();
        self.place.clear();
        let mut values = 0;
        for (i, near) in near.iter_mut().enumerate() {
            near.sort_unstable();
            near.dedup();
            for &j in &*near {
                self.column.push(j);
                self.place.push(values as u32);
                values += self.rows_of(i).len() * self.rows_of(j as usize).len();
            }
            self.row.push(self.column.len() as u32);
        }
        self.value.clear();
        self.value.resize(values, T::ZERO);
    }

    /// Keeps the pattern, with zeros.
    pub fn zero(&mut self) {
        self.value.fill(T::ZERO);
    }

    /// Place of the entry (i, j), which must be part of the pattern.
    pub fn entry(&self, i: usize, j: usize) -> usize {
        let e = self.entries(i);
        e.start + self.column[e].partition_point(|c| (*c as usize) < j)
    }

    /// Values of entry `e` of block row `i`, to be written.
    pub fn block_mut(&mut self, i: usize, e: usize) -> &mut [T] {
        let (at, n) = (self.place[e] as usize, self.rows_of(i).len() * self.rows_of(self.column(e)).len());
        &mut self.value[at..at + n]
    }

    /// The same row by row.
    pub fn write_rows(&self, out: &mut SparseRows<T>) {
        out.clear();
        for i in 0..self.blocks() {
            for r in 0..self.rows_of(i).len() {
                for e in self.entries(i) {
                    let to = self.rows_of(self.column(e));
                    let line = &self.block(i, e)[r * to.len()..(r + 1) * to.len()];
                    to.zip(line).for_each(|(c, v)| out.push(c, *v));
                }
                out.end_row();
            }
        }
    }

    /// Number of block rows.
    pub fn blocks(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The rows of a block.
    pub fn rows_of(&self, b: usize) -> std::ops::Range<usize> {
        self.first[b] as usize..self.first[b + 1] as usize
    }

    /// Places of the entries of block row `i`.
    pub fn entries(&self, i: usize) -> std::ops::Range<usize> {
        self.row[i] as usize..self.row[i + 1] as usize
    }

    /// Block column of an entry.
    pub fn column(&self, e: usize) -> usize {
        self.column[e] as usize
    }

    /// Values of entry `e` of block row `i`, row-major.
    pub fn block(&self, i: usize, e: usize) -> &[T] {
        let at = self.place[e] as usize;
        &self.value[at..at + self.rows_of(i).len() * self.rows_of(self.column(e)).len()]
    }

    /// The diagonal block of row `i`.
    pub fn diagonal(&self, i: usize) -> &[T] {
        let e = self.entries(i);
        let k = self.column[e.clone()].partition_point(|c| (*c as usize) < i);
        self.block(i, e.start + k)
    }

    /// y = A x.
    pub fn mul(&self, x: &[T], y: &mut [T]) {
        for i in 0..self.blocks() {
            let rows = self.rows_of(i);
            y[rows.clone()].fill(T::ZERO);
            for e in self.entries(i) {
                let from = self.rows_of(self.column(e));
                add_product(self.block(i, e), &x[from], &mut y[rows.clone()]);
            }
        }
    }
}

/// y += M x, M row-major.
pub fn add_product<T: Real>(m: &[T], x: &[T], y: &mut [T]) {
    for (row, y) in m.chunks_exact(x.len()).zip(y) {
        let mut s = T::ZERO;
        for (a, b) in row.iter().zip(x) {
            s += *a * *b;
        }
        *y += s;
    }
}

/// y −= Mᵀ x, M row-major.
fn take_transposed<T: Real>(m: &[T], x: &[T], y: &mut [T]) {
    let width = y.len();
    for (row, x) in m.chunks_exact(width).zip(x) {
        for (a, y) in row.iter().zip(&mut *y) {
            *y -= *a * *x;
        }
    }
}

/// A ≈ (F + D) D⁻¹ (F + D)ᵀ with F strictly lower on the pattern of A: exact where elimination fills nothing in, as along
/// a chain of joints.
///
/// A diagonal block that elimination leaves indefinite is taken from A instead: the product stays positive definite.
#[derive(Clone, Debug, Default)]
pub struct Incomplete<T> {
    /// Block row by block row: columns and values of F.
    first: Vec<u32>,
    row: Vec<u32>,
    column: Vec<u32>,
    place: Vec<u32>,
    value: Vec<T>,
    /// D⁻¹, and where each begins.
    inverse: Vec<T>,
    inverse_at: Vec<u32>,
}

impl<T: Real> Incomplete<T> {
    /// Factors `a`, whose diagonal blocks must be positive definite.
    pub fn factor(&mut self, a: &BlockRows<T>) {
        self.first.clone_from(&a.first);
        self.row.clear();
        self.row.push(0);
        self.column.clear();
        self.place.clear();
        self.value.clear();
        self.inverse.clear();
        self.inverse_at.clear();
        // F_ik D_k⁻¹ of the row that is being eliminated.
        let mut scaled: Vec<T> = Vec::new();
        for i in 0..a.blocks() {
            let n = a.rows_of(i).len();
            let begin = self.column.len();
            scaled.clear();
            let mut diagonal = [T::ZERO; WIDEST * WIDEST];
            diagonal[..n * n].copy_from_slice(a.diagonal(i));
            for e in a.entries(i).filter(|&e| a.column(e) < i) {
                let j = a.column(e);
                let m = a.rows_of(j).len();
                let mut f = [T::ZERO; WIDEST * WIDEST];
                f[..n * m].copy_from_slice(a.block(i, e));
                // F_ij = A_ij − Σ_k F_ik D_k⁻¹ F_jkᵀ over the k that both rows have.
                let (mut p, mut q) = (begin, self.row[j] as usize);
                let (p_end, q_end) = (self.column.len(), self.row[j + 1] as usize);
                while p < p_end && q < q_end {
                    let (a_at, b_at) = (self.column[p], self.column[q]);
                    if a_at == b_at {
                        let w = a.rows_of(a_at as usize).len();
                        let left = &scaled[(self.place[p] - self.place[begin]) as usize..][..n * w];
                        let right = &self.value[self.place[q] as usize..][..m * w];
                        for r in 0..n {
                            for c in 0..m {
                                let mut s = T::ZERO;
                                for k in 0..w {
                                    s += left[r * w + k] * right[c * w + k];
                                }
                                f[r * m + c] -= s;
                            }
                        }
                    }
                    p += usize::from(a_at <= b_at);
                    q += usize::from(b_at <= a_at);
                }
                self.column.push(j as u32);
                self.place.push(self.value.len() as u32);
                self.value.extend_from_slice(&f[..n * m]);
                // F_ij D_j⁻¹, and what it takes from the diagonal.
                let d = &self.inverse[self.inverse_at[j] as usize..][..m * m];
                let at = scaled.len();
                for r in 0..n {
                    for c in 0..m {
                        let mut s = T::ZERO;
                        for k in 0..m {
                            s += f[r * m + k] * d[k * m + c];
                        }
                        scaled.push(s);
                    }
                }
                for r in 0..n {
                    for c in 0..n {
                        let mut s = T::ZERO;
                        for k in 0..m {
                            s += scaled[at + r * m + k] * f[c * m + k];
                        }
                        diagonal[r * n + c] -= s;
                    }
                }
            }
            if !invert(&mut diagonal[..n * n], n) {
                diagonal[..n * n].copy_from_slice(a.diagonal(i));
                invert(&mut diagonal[..n * n], n);
            }
            self.inverse_at.push(self.inverse.len() as u32);
            self.inverse.extend_from_slice(&diagonal[..n * n]);
            self.row.push(self.column.len() as u32);
        }
    }

    /// z = (F + D)⁻ᵀ D (F + D)⁻¹ r.
    pub fn solve(&self, r: &[T], z: &mut [T]) {
        let blocks = self.inverse_at.len();
        let rows = |b: usize| self.first[b] as usize..self.first[b + 1] as usize;
        let mut t = [T::ZERO; WIDEST];
        for i in 0..blocks {
            let (at, n) = (rows(i), rows(i).len());
            t[..n].copy_from_slice(&r[at.clone()]);
            for e in self.row[i] as usize..self.row[i + 1] as usize {
                let from = rows(self.column[e] as usize);
                let f = &self.value[self.place[e] as usize..][..n * from.len()];
                for (row, t) in f.chunks_exact(from.len()).zip(&mut t) {
                    for (a, x) in row.iter().zip(&z[from.clone()]) {
                        *t -= *a * *x;
                    }
                }
            }
            z[at.clone()].fill(T::ZERO);
            let d = &self.inverse[self.inverse_at[i] as usize..][..n * n];
            add_product(d, &t[..n], &mut z[at]);
        }
        // z_j −= D_j⁻¹ F_ijᵀ z_i, with what D_j⁻¹ multiplies gathered row by row from the end.
        let mut pull = vec![T::ZERO; z.len()];
        for i in (0..blocks).rev() {
            let (at, n) = (rows(i), rows(i).len());
            let d = &self.inverse[self.inverse_at[i] as usize..][..n * n];
            add_product(d, &pull[at.clone()], &mut z[at.clone()]);
            t[..n].copy_from_slice(&z[at]);
            for e in self.row[i] as usize..self.row[i + 1] as usize {
                let to = rows(self.column[e] as usize);
                let f = &self.value[self.place[e] as usize..][..n * to.len()];
                take_transposed(f, &t[..n], &mut pull[to]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of blocks of 2, 1 and 3 rows: diagonally dominant, coupled to the next only.
    fn chain() -> (Vec<u32>, SparseRows<f64>) {
        let widths = [2usize, 1, 3, 2, 3];
        let mut first = vec![0u32];
        widths.iter().for_each(|w| first.push(first.last().unwrap() + *w as u32));
        let block = |i: usize| first.iter().rposition(|f| *f as usize <= i).unwrap();
        let n = *first.last().unwrap() as usize;
        let mut a = SparseRows::default();
        a.clear();
        for i in 0..n {
            for j in (0..n).filter(|&j| block(i).abs_diff(block(j)) <= 1) {
                let off = 0.3 * ((i * j) as f64 + 0.5).sin();
                a.push(j, if i == j { 3.0 + i as f64 } else { off });
            }
            a.end_row();
        }
        (first, a)
    }

    #[test]
    fn factors_of_a_chain_are_exact_and_products_are_those_of_the_rows() {
        let (first, a) = chain();
        let mut blocks = BlockRows::default();
        blocks.gather(&first, &a, |_, _, v| v);
        let x: Vec<f64> = (0..a.rows()).map(|i| (1.0 + i as f64).cos()).collect();
        let (mut y, mut z) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        a.mul(&x, &mut y);
        blocks.mul(&x, &mut z);
        assert!(y.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-14));
        let mut factor = Incomplete::default();
        factor.factor(&blocks);
        factor.solve(&y, &mut z);
        assert!(x.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-12), "{x:?} {z:?}");
    }
}
