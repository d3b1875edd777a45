//! Sparse rows over a vector of unknowns, in 32- or 64-bit numbers.

use super::real::{Real, dot};

/// A matrix by rows. Entries of one row may be in any order of columns.
#[derive(Clone, Debug, Default)]
pub struct SparseRows<T> {
    start: Vec<u32>,
    column: Vec<u32>,
    value: Vec<T>,
    /// Rows and columns stand, and what is pushed are their values alone.
    stands: bool,
}

impl<T: Real> SparseRows<T> {
    /// No rows; keeps the memory.
    pub fn clear(&mut self) {
        self.start.clear();
        self.column.clear();
        self.value.clear();
        self.start.push(0);
        self.stands = false;
    }

    /// Takes the columns of the first `rows` rows of another matrix; values are to be written.
    pub fn take_pattern(&mut self, other: &SparseRows<T>, rows: usize) {
        self.start.clear();
        self.start.extend_from_slice(&other.start[..rows + 1]);
        self.column.clear();
        self.column.extend_from_slice(&other.column[..other.start[rows] as usize]);
        self.value.resize(self.column.len(), T::ZERO);
    }

    /// True where both store the same columns in the same order.
    pub fn has_pattern_of(&self, other: &SparseRows<T>) -> bool {
        self.start == other.start && self.column == other.column
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.value.len()
    }

    /// Adds an entry to the row that is being written.
    pub fn push(&mut self, column: usize, value: T) {
        if !self.stands {
            self.column.push(column as u32);
        }
        self.value.push(value);
    }

    /// Adds three entries in consecutive columns.
    pub fn push3(&mut self, column: usize, values: [T; 3]) {
        let c = column as u32;
        if !self.stands {
            self.column.extend_from_slice(&[c, c + 1, c + 2]);
        }
        self.value.extend_from_slice(&values);
    }

    /// Adds a row with the first `n` of some columns; its values follow by [`zero_values`](SparseRows::zero_values).
    pub fn push_columns<const N: usize>(&mut self, columns: &[u32; N], n: usize) {
        // A copy of fixed length, cut off behind, is a few moves.
        self.column.extend_from_slice(columns);
        self.column.truncate(self.column.len() - N + n);
        self.start.push(self.column.len() as u32);
    }

    /// Makes all values zero.
    pub fn zero_values(&mut self) {
        self.value.clear();
        self.value.resize(self.column.len(), T::ZERO);
    }

    /// Keeps all columns, and the values of the first `rows` rows: what is pushed next are those of the rows that follow, in the
    /// order in which they were.
    pub fn rewrite_from(&mut self, rows: usize) {
        self.value.truncate(self.start[rows] as usize);
        self.stands = true;
    }

    /// Values of `count` rows from `first` on, one row after the other, to be written.
    pub fn values_mut(&mut self, first: usize, count: usize) -> &mut [T] {
        &mut self.value[self.start[first] as usize..self.start[first + count] as usize]
    }

    /// Ends the row that is being written.
    pub fn end_row(&mut self) {
        if self.stands {
            debug_assert!(self.start.binary_search(&(self.value.len() as u32)).is_ok());
            return;
        }
        if self.start.is_empty() {
            self.start.push(0);
        }
        self.start.push(self.column.len() as u32);
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let r = self.start[i] as usize..self.start[i + 1] as usize;
        (&self.column[r.clone()], &self.value[r])
    }

    /// Values of row `i`, to be written.
    pub fn row_mut(&mut self, i: usize) -> (&[u32], &mut [T]) {
        let r = self.start[i] as usize..self.start[i + 1] as usize;
        (&self.column[r.clone()], &mut self.value[r])
    }

    /// Row `i` times `x`.
    pub fn mul_row(&self, i: usize, x: &[T]) -> T {
        let (columns, values) = self.row(i);
        let mut s = T::ZERO;
        for (c, v) in columns.iter().zip(values) {
            s += *v * x[*c as usize];
        }
        s
    }

    /// y = A x.
    pub fn mul(&self, x: &[T], y: &mut [T]) {
        for i in 0..self.rows() {
            y[i] = self.mul_row(i, x);
        }
    }

    /// y += a · (row `i`)ᵀ.
    pub fn add_row(&self, i: usize, a: T, y: &mut [T]) {
        let (columns, values) = self.row(i);
        for (c, v) in columns.iter().zip(values) {
            y[*c as usize] += a * *v;
        }
    }

    /// y += Aᵀ x.
    pub fn mul_t_add(&self, x: &[T], y: &mut [T]) {
        for i in 0..self.rows() {
            if x[i] != T::ZERO {
                self.add_row(i, x[i], y);
            }
        }
    }

    /// Entry (i, j); zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> T {
        let (columns, values) = self.row(i);
        columns.iter().position(|c| *c as usize == j).map_or(T::ZERO, |k| values[k])
    }

    /// The transpose of a matrix with this many columns.
    pub fn transposed(&self, columns: usize) -> SparseRows<T> {
        let mut start = vec![0u32; columns + 1];
        for c in &self.column {
            start[*c as usize + 1] += 1;
        }
        for c in 0..columns {
            start[c + 1] += start[c];
        }
        let mut at = start.clone();
        let mut out = SparseRows {
            start,
            column: vec![0; self.column.len()],
            value: vec![T::ZERO; self.value.len()],
            stands: false,
        };
        for i in 0..self.rows() {
            let (cols, values) = self.row(i);
            for (c, v) in cols.iter().zip(values) {
                let place = at[*c as usize] as usize;
                (out.column[place], out.value[place]) = (i as u32, *v);
                at[*c as usize] += 1;
            }
        }
        out
    }

    /// Product of two rows that store the same columns in the same order, here and in `other`.
    pub fn row_dot(&self, i: usize, other: &SparseRows<T>, j: usize) -> T {
        dot(self.row(i).1, other.row(j).1)
    }

    /// self · otherᵀ, columns ascending and the diagonal always stored; `columns` is the number of columns of both.
    pub fn mul_transpose(&self, other: &SparseRows<T>, columns: usize) -> SparseRows<T> {
        // Rows of `other` by column.
        let mut begin = vec![0u32; columns + 1];
        for c in &other.column {
            begin[*c as usize + 1] += 1;
        }
        for c in 0..columns {
            begin[c + 1] += begin[c];
        }
        let mut at = begin.clone();
        let mut by_column = vec![(0u32, T::ZERO); other.value.len()];
        for i in 0..other.rows() {
            let (cols, values) = other.row(i);
            for (c, v) in cols.iter().zip(values) {
                let place = &mut at[*c as usize];
                by_column[*place as usize] = (i as u32, *v);
                *place += 1;
            }
        }
        let mut out = SparseRows::default();
        out.clear();
        let mut sum = vec![T::ZERO; other.rows()];
        let mut seen = vec![false; other.rows()];
        let mut touched = Vec::new();
        for i in 0..self.rows() {
            let (cols, values) = self.row(i);
            for (c, v) in cols.iter().zip(values) {
                for &(j, w) in &by_column[begin[*c as usize] as usize..begin[*c as usize + 1] as usize] {
                    if !seen[j as usize] {
                        seen[j as usize] = true;
                        touched.push(j);
                    }
                    sum[j as usize] += *v * w;
                }
            }
            if i < other.rows() && !seen[i] {
                seen[i] = true;
                touched.push(i as u32);
            }
            touched.sort_unstable();
            for j in touched.drain(..) {
                out.push(j as usize, sum[j as usize]);
                sum[j as usize] = T::ZERO;
                seen[j as usize] = false;
            }
            out.end_row();
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_dense_matrices() {
        let mut a = SparseRows::<f64>::default();
        a.clear();
        for entries in [vec![(2, 3.0), (0, -1.0)], vec![], vec![(1, 4.0), (2, 0.5)]] {
            for (c, v) in entries {
                a.push(c, v);
            }
            a.end_row();
        }
        let dense = [[-1.0, 0.0, 3.0], [0.0; 3], [0.0, 4.0, 0.5]];
        let x = [2.0, -1.0, 4.0];
        let mut y = [0.0; 3];
        a.mul(&x, &mut y);
        for i in 0..3 {
            assert_eq!(y[i], dot(&dense[i], &x));
        }
        let mut z = [0.0; 3];
        a.mul_t_add(&x, &mut z);
        for c in 0..3 {
            assert_eq!(z[c], (0..3).map(|i| dense[i][c] * x[i]).sum::<f64>());
        }
        let t = a.transposed(3);
        for i in 0..3 {
            for j in 0..3 {
                assert_eq!((a.get(i, j), t.get(j, i)), (dense[i][j], dense[i][j]));
            }
        }
        let w = a.mul_transpose(&a, 3);
        for i in 0..3 {
            let (columns, values) = w.row(i);
            assert!(columns.is_sorted() && columns.contains(&(i as u32)));
            for (c, v) in columns.iter().zip(values) {
                assert_eq!(*v, dot(&dense[i], &dense[*c as usize]));
            }
        }
    }
}
