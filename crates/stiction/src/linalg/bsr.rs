//! Symmetric matrix in 3×3 blocks, upper triangle stored: half the memory traffic of a full one.

use crate::linalg::parallel;
use crate::linalg::parallel::prelude::*;

/// A symmetric matrix of 3×3 blocks. Vectors are flat, three numbers per block row.
#[derive(Clone, Debug, Default)]
pub struct SymBsr {
    /// Blocks right of the diagonal of row i are `row_start[i]..row_start[i + 1]`.
    row_start: Vec<u32>,
    col: Vec<u32>,
    /// Blocks, and an unused one: the last row of a block is read as four numbers.
    upper: Vec<[f64; 9]>,
    diagonal: Vec<[f64; 9]>,
    cut: Cut,
}

/// How products are cut into pieces of rows: `PIECES` where that pays, else one.
#[derive(Clone, Debug, Default)]
struct Cut {
    /// First row of each piece, and the number of rows.
    first: Vec<usize>,
    /// Blocks that give to rows of later pieces, sorted by these rows, then by their own: block, own row, that row.
    crossing: Vec<[u32; 3]>,
    /// Where those that give to each piece begin.
    start: Vec<usize>,
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
        self.upper.resize(self.col.len() + 1, [0.0; 9]);
        self.diagonal.clear();
        self.diagonal.resize(n, [0.0; 9]);
        self.cut_rows();
    }

    /// Cuts the rows into pieces of about equal numbers of blocks.
    fn cut_rows(&mut self) {
        let n = self.rows();
        let Cut { first, crossing, start } = &mut self.cut;
        first.clear();
        crossing.clear();
        start.clear();
        if n < SHARED_ROWS {
            return;
        }
        let all = self.col.len() + n;
        let before = |row: usize| (self.row_start[row] as usize + row) * PIECES;
        let mut row = 0;
        for k in 0..PIECES {
            while row < n && before(row) < k * all {
                row += 1;
            }
            first.push(row);
        }
        first.push(n);
        for k in 0..PIECES {
            for i in first[k]..first[k + 1] {
                for e in self.row_start[i]..self.row_start[i + 1] {
                    let j = self.col[e as usize];
                    if j as usize >= first[k + 1] {
                        crossing.push([e, i as u32, j]);
                    }
                }
            }
        }
        crossing.sort_unstable_by_key(|&[_, i, j]| (j, i));
        start.extend(first.iter().map(|&row| crossing.partition_point(|c| (c[2] as usize) < row)));
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
        &mut self.upper[..self.col.len()]
    }

    /// Bytes of values and columns.
    pub fn memory(&self) -> usize {
        72 * (self.col.len() + self.diagonal.len()) + 4 * (self.col.len() + self.row_start.len())
    }

    /// y = A x. One thread.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = self.rows();
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        self.mul_rows((0, n), &x[..n], &mut y[..n], &mut [], 0);
    }

    /// y = A x with the bits of [`mul`](SymBsr::mul), on several threads where rows are many: what a piece of rows gives to later
    /// ones is found first, and each row sums all that it gets in the same order.
    pub fn mul_parallel(&self, x: &[f64], y: &mut [f64], gives: &mut Gives) {
        let Cut { first, crossing, start } = &self.cut;
        if first.is_empty() || parallel::current_num_threads() < 2 {
            self.mul(x, y);
            return;
        }
        let n = self.rows();
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        let (x, mut rest) = (&x[..n], &mut y[..n]);
        gives.0.resize(crossing.len(), [0.0; 3]);
        let share = crossing.len().div_ceil(PIECES).max(1);
        let gives = &mut gives.0[..];
        gives.par_chunks_mut(share).zip(crossing.par_chunks(share)).for_each(|(gives, crossing)| {
            self.give(crossing, x, gives);
        });
        let mut own: [&mut [[f64; 3]]; PIECES] = Default::default();
        for (k, own) in own.iter_mut().enumerate() {
            (*own, rest) = rest.split_at_mut(first[k + 1] - first[k]);
        }
        own.par_iter_mut().enumerate().for_each(|(k, y)| {
            y.fill([0.0; 3]);
            for (give, &[_, _, j]) in gives[start[k]..start[k + 1]].iter().zip(&crossing[start[k]..]) {
                let y = &mut y[j as usize - first[k]];
                for c in 0..3 {
                    y[c] += give[c];
                }
            }
            let clean = y.len();
            self.mul_rows((first[k], first[k + 1]), x, y, &mut [], clean);
        });
    }

    /// What these blocks give.
    fn give(&self, crossing: &[[u32; 3]], x: &[[f64; 3]], gives: &mut [[f64; 3]]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA.
            unsafe { self.give_fused(crossing, x, gives) };
            return;
        }
        self.give_each(crossing, x, gives);
    }

    /// The same with instructions that multiply and add; same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn give_fused(&self, crossing: &[[u32; 3]], x: &[[f64; 3]], gives: &mut [[f64; 3]]) {
        self.give_each(crossing, x, gives);
    }

    #[inline(always)]
    fn give_each(&self, crossing: &[[u32; 3]], x: &[[f64; 3]], gives: &mut [[f64; 3]]) {
        for (&[e, i, _], give) in crossing.iter().zip(gives) {
            let (m, xi) = (&self.upper[e as usize], &x[i as usize]);
            *give = std::array::from_fn(|c| m[6 + c].mul_add(xi[2], m[3 + c].mul_add(xi[1], m[c] * xi[0])));
        }
    }
}

/// Products of fewer rows are done by the calling thread.
const SHARED_ROWS: usize = 2000;

/// Buffer of [`SymBsr::mul_parallel`].
#[derive(Clone, Debug, Default)]
pub struct Gives(Vec<[f64; 3]>);

/// Pieces that a product is cut into. Always the same number, so that the sums, and the bits, do not depend on threads.
const PIECES: usize = 8;

/// Buffers of [`SymBsr::mul_shared`].
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// First row of each piece.
    first: Vec<usize>,
    /// What a piece gives to rows of later ones, from the first row after its own on.
    tail: Vec<Vec<[f64; 3]>>,
}

impl SymBsr {
    /// y = A x with rows shared out to threads; same bits for any number of them. Pays from some ten thousand rows on.
    pub fn mul_shared(&self, x: &[f64], y: &mut [f64], pieces: &mut Pieces) {
        let n = self.rows();
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        let (x, y) = (&x[..n], &mut y[..n]);
        if pieces.first.len() != PIECES + 1 || pieces.first[PIECES] != n {
            self.cut(pieces);
        }
        let (first, tail) = (&pieces.first, &mut pieces.tail);
        let mut own: [&mut [[f64; 3]]; PIECES] = Default::default();
        let mut rest = &mut *y;
        for (k, own) in own.iter_mut().enumerate() {
            (*own, rest) = rest.split_at_mut(first[k + 1] - first[k]);
        }
        own.par_iter_mut().zip(tail.par_iter_mut()).enumerate().for_each(|(k, (own, tail))| {
            self.mul_rows((first[k], first[k + 1]), x, own, tail, 0);
        });
        for (k, tail) in tail.iter().enumerate() {
            for (y, t) in y[first[k + 1]..].iter_mut().zip(tail) {
                for c in 0..3 {
                    y[c] += t[c];
                }
            }
        }
    }

    /// Rows of about equal numbers of blocks, and how far each piece reaches.
    fn cut(&self, pieces: &mut Pieces) {
        let n = self.rows();
        let all = self.col.len() + n;
        pieces.first.clear();
        let mut row = 0;
        for k in 0..=PIECES {
            while row < n && (self.row_start[row] as usize + row) * PIECES < k * all {
                row += 1;
            }
            pieces.first.push(if k == PIECES { n } else { row });
        }
        pieces.tail.resize_with(PIECES, Vec::new);
        for k in 0..PIECES {
            let (first, last) = (pieces.first[k], pieces.first[k + 1]);
            let blocks = self.row_start[first] as usize..self.row_start[last] as usize;
            let reach = self.col[blocks].iter().map(|&c| c as usize + 1).max().unwrap_or(0);
            pieces.tail[k].clear();
            pieces.tail[k].resize(reach.saturating_sub(last), [0.0; 3]);
        }
    }

    /// Rows `first..last` of the product into `y`, and what they give to later rows into `tail`, which begins at `last`.
    /// Both are overwritten, but the first `clean` rows of `y`, to which is added. What has no place in `tail` is left out.
    fn mul_rows(
        &self,
        (first, last): (usize, usize),
        x: &[[f64; 3]],
        y: &mut [[f64; 3]],
        tail: &mut [[f64; 3]],
        mut clean: usize,
    ) {
        tail.fill([0.0; 3]);
        let mut none = [0.0; 3];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA.
            unsafe { self.mul_rows_avx2((first, last), x, y, tail, clean) };
            return;
        }
        for i in first..last {
            self.clear((first, last), i, y, &mut clean);
            let xi = x[i];
            // Products with the columns stay apart until the row is done, as lanes of a vector do.
            let mut s = [[0.0; 3]; 3];
            let range = self.row_start[i] as usize..self.row_start[i + 1] as usize;
            for (&j, m) in self.col[range.clone()].iter().zip(&self.upper[range]) {
                let j = j as usize;
                let xj = &x[j];
                let yj =
                    if j < last { &mut y[j - first] } else { tail.get_mut(j - last).unwrap_or(&mut none) };
                for r in 0..3 {
                    for c in 0..3 {
                        s[r][c] = m[3 * r + c].mul_add(xj[c], s[r][c]);
                    }
                }
                for c in 0..3 {
                    yj[c] += m[6 + c].mul_add(xi[2], m[3 + c].mul_add(xi[1], m[c] * xi[0]));
                }
            }
            self.end_row(i, &xi, &s, &mut y[i - first]);
        }
    }

    /// Sets what row `i` gives to, and no row before it has, to zero: just before it is used, so that memory is written once.
    /// `clean` rows of `y` have been set.
    #[inline(always)]
    fn clear(&self, (first, last): (usize, usize), i: usize, y: &mut [[f64; 3]], clean: &mut usize) {
        let furthest = self.col[..self.row_start[i + 1] as usize].last().map_or(0, |&j| j as usize);
        let reach = furthest.max(i).min(last - 1) + 1 - first;
        if reach > *clean {
            y[*clean..reach].fill([0.0; 3]);
            *clean = reach;
        }
    }

    /// Adds the diagonal block times `xi` and the sums of the columns to `y`.
    #[inline(always)]
    fn end_row(&self, i: usize, xi: &[f64; 3], s: &[[f64; 3]; 3], y: &mut [f64; 3]) {
        let d = &self.diagonal[i];
        for r in 0..3 {
            let own = d[3 * r] * xi[0] + d[3 * r + 1] * xi[1] + d[3 * r + 2] * xi[2];
            y[r] += own + (s[r][0] + s[r][1] + s[r][2]);
        }
    }

    /// The same with four lanes, of which three count; same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn mul_rows_avx2(
        &self,
        (first, last): (usize, usize),
        x: &[[f64; 3]],
        y: &mut [[f64; 3]],
        tail: &mut [[f64; 3]],
        mut clean: usize,
    ) {
        use std::arch::x86_64::*;
        /// Blocks are asked for so many bytes before they are used: several streams at once keep the processor from
        /// foreseeing this one.
        const AHEAD: usize = 2560;
        let (blocks, flat) = (self.upper.as_flattened().as_ptr(), x.as_flattened().as_ptr());
        let mut none = [0.0; 3];
        for i in first..last {
            self.clear((first, last), i, y, &mut clean);
            let xi = x[i];
            let own = xi.map(|x| _mm256_set1_pd(x));
            let mut s = [_mm256_setzero_pd(); 3];
            let range = self.row_start[i] as usize..self.row_start[i + 1] as usize;
            for (e, &j) in range.clone().zip(&self.col[range]) {
                let j = j as usize;
                assert!(0 < j && j < x.len());
                let yj =
                    if j < last { &mut y[j - first] } else { tail.get_mut(j - last).unwrap_or(&mut none) };
                // SAFETY: four numbers from places 0, 3 and 6 of a block, which another follows; the last number of x_{j−1} and
                // the three of x_j. Asking for memory touches nothing.
                let (r, xj) = unsafe {
                    let m = blocks.add(9 * e);
                    _mm_prefetch::<_MM_HINT_T0>(m.cast::<i8>().wrapping_add(AHEAD));
                    let xj = _mm256_loadu_pd(flat.add(3 * j - 1));
                    (
                        [_mm256_loadu_pd(m), _mm256_loadu_pd(m.add(3)), _mm256_loadu_pd(m.add(6))],
                        _mm256_permute4x64_pd::<0b00_11_10_01>(xj),
                    )
                };
                for k in 0..3 {
                    s[k] = _mm256_fmadd_pd(r[k], xj, s[k]);
                }
                let give = _mm256_fmadd_pd(r[1], own[1], _mm256_mul_pd(r[0], own[0]));
                let give = _mm256_fmadd_pd(r[2], own[2], give);
                // SAFETY: reads and writes the three numbers of y_j.
                unsafe {
                    let (low, high) = (yj.as_mut_ptr(), yj.as_mut_ptr().add(2));
                    let sum = _mm_add_pd(_mm_loadu_pd(low), _mm256_castpd256_pd128(give));
                    let last = _mm_add_sd(_mm_load_sd(high), _mm256_extractf128_pd::<1>(give));
                    _mm_storeu_pd(low, sum);
                    _mm_store_sd(high, last);
                }
            }
            let mut sums = [[0.0; 4]; 3];
            for r in 0..3 {
                // SAFETY: writes four numbers.
                unsafe { _mm256_storeu_pd(sums[r].as_mut_ptr(), s[r]) };
            }
            self.end_row(i, &xi, &sums.map(|s| [s[0], s[1], s[2]]), &mut y[i - first]);
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
    fn parallel_products_have_the_bits_of_one_thread() {
        // Enough rows to be cut, of random reach, some of them across several pieces.
        let n = SHARED_ROWS + 123;
        let near = |i: usize, j: usize| {
            let (low, high) = (i.min(j), i.max(j));
            high - low <= 2 || (high - low) % 397 == 5 && (low + high) % 3 == 0
        };
        let (mut start, mut col) = (vec![0], Vec::new());
        for i in 0..n {
            col.extend((0..n).filter(|&j| near(i, j)).map(|j| j as u32));
            start.push(col.len() as u32);
        }
        let mut a = SymBsr::default();
        a.set_pattern(&start, &col);
        for i in 0..n {
            *a.diagonal_mut(i) = std::array::from_fn(|e| ((i * 9 + e) as f64).cos());
        }
        for (k, m) in a.upper_mut().iter_mut().enumerate() {
            *m = std::array::from_fn(|e| ((k * 9 + e) as f64).sin());
        }
        let x: Vec<f64> = (0..3 * n).map(|i| (i as f64 * 0.7).cos()).collect();
        let mut plain = vec![f64::NAN; 3 * n];
        a.mul(&x, &mut plain);
        assert!(a.cut.crossing.len() > 100, "pieces give to each other");
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
            let (mut y, mut gives) = (vec![f64::NAN; 3 * n], Gives::default());
            pool.install(|| a.mul_parallel(&x, &mut y, &mut gives));
            assert!(y.iter().zip(&plain).all(|(a, b)| a.to_bits() == b.to_bits()), "{threads} threads");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn four_lanes_give_the_same_bits() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let mut a = SymBsr::default();
        a.set_pattern(&[0, 3, 5, 7], &[0, 1, 2, 0, 1, 0, 2]);
        for (k, m) in a.upper_mut().iter_mut().enumerate() {
            *m = std::array::from_fn(|e| ((k * 9 + e) as f64).sin());
        }
        for i in 0..3 {
            *a.diagonal_mut(i) = std::array::from_fn(|e| ((i * 11 + e) as f64).cos());
        }
        let x: [[f64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|c| (i as f64 + 0.3).powi(c as i32)));
        // The sums as the code without lanes makes them.
        let mut expected = [[0.0; 3]; 3];
        for i in 0..3 {
            let mut s = [[0.0; 3]; 3];
            for (j, m) in a.row(i) {
                for r in 0..3 {
                    for c in 0..3 {
                        s[r][c] = m[3 * r + c].mul_add(x[j][c], s[r][c]);
                    }
                }
                for c in 0..3 {
                    let give = m[3 + c].mul_add(x[i][1], m[c] * x[i][0]);
                    expected[j][c] += m[6 + c].mul_add(x[i][2], give);
                }
            }
            a.end_row(i, &x[i], &s, &mut expected[i]);
        }
        let mut y = [[f64::NAN; 3]; 3];
        a.mul_rows((0, 3), &x, &mut y, &mut [], 0);
        assert_eq!(y, expected);
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
