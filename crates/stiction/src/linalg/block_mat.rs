//! Block-CSR matrix over a partition of the unknowns in blocks of any width.
//!
//! Both triangles are stored, so a product is one pass over rows (any number of threads gives the same
//! bits) and the same type serves symmetric and unsymmetric matrices.

use crate::linalg::parallel;
use std::sync::{Arc, LazyLock};

/// Block rows of a product that one thread takes at least.
const SHARED_ROWS: usize = 1024;

/// A square matrix of the velocity space in blocks; block (i, j) is `nv_i × nv_j`, row-major.
///
/// Invariants: columns of a row ascend, the diagonal block is always present, and the pattern is symmetric.
#[derive(Clone, Debug)]
pub struct BlockMat {
    pattern: Arc<BlockPattern>,
    dof: Vec<u32>,
    width: Vec<u32>,
    row_start: Vec<u32>,
    col: Vec<u32>,
    value_start: Vec<u32>,
    values: Vec<f64>,
    diagonal: Vec<u32>,
}

/// Stands for the blocks that a [`BlockMat`] and its copies store. They never change: what was found out about them holds as long
/// as [`BlockMat::shares`] says so.
#[derive(Debug, Default)]
pub struct BlockPattern(());

/// No rows; asks for no memory.
impl Default for BlockMat {
    fn default() -> BlockMat {
        static NONE: LazyLock<Arc<BlockPattern>> = LazyLock::new(Arc::default);
        BlockMat {
            pattern: Arc::clone(&NONE),
            dof: Vec::new(),
            width: Vec::new(),
            row_start: Vec::new(),
            col: Vec::new(),
            value_start: Vec::new(),
            values: Vec::new(),
            diagonal: Vec::new(),
        }
    }
}

impl BlockMat {
    /// A zero matrix with diagonal blocks of these widths only: rigid bodies and free particles.
    pub fn block_diagonal(widths: &[u32]) -> BlockMat {
        BlockMat::with_pattern(widths, &[])
    }

    /// A zero matrix whose pattern is the diagonal plus the given block pairs (either order, repeats allowed).
    pub fn with_pattern(widths: &[u32], pairs: &[(u32, u32)]) -> BlockMat {
        let n = widths.len();
        let mut entries: Vec<(u32, u32)> = (0..n as u32).map(|i| (i, i)).collect();
        entries.extend(pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]));
        entries.sort_unstable();
        entries.dedup();
        let pattern = Arc::new(BlockPattern(()));
        let mut m = BlockMat { pattern, row_start: vec![0], value_start: vec![0], ..BlockMat::default() };
        let firsts = widths.iter().scan(0, |next, w| {
            let first = *next;
            *next += w;
            Some(first)
        });
        m.dof = firsts.collect();
        m.width = widths.to_vec();
        let mut at = 0;
        for i in 0..n as u32 {
            while at < entries.len() && entries[at].0 == i {
                let j = entries[at].1;
                if j == i {
                    m.diagonal.push(m.col.len() as u32);
                }
                m.col.push(j);
                let size = m.width[i as usize] * m.width[j as usize];
                m.value_start.push(m.value_start.last().copied().unwrap_or(0) + size);
                at += 1;
            }
            m.row_start.push(m.col.len() as u32);
        }
        m.values = vec![0.0; *m.value_start.last().unwrap_or(&0) as usize];
        m
    }

    /// Stands for the pattern, which copies share.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// True where the pattern is this one, and not only one like it.
    pub fn shares(&self, pattern: Option<&Arc<BlockPattern>>) -> bool {
        pattern.is_some_and(|p| Arc::ptr_eq(p, &self.pattern))
    }

    /// Number of block rows.
    pub fn block_rows(&self) -> usize {
        self.width.len()
    }

    /// First dof and number of dofs of block row `i`.
    pub fn block(&self, i: usize) -> (usize, usize) {
        (self.dof[i] as usize, self.width[i] as usize)
    }

    /// Number of scalar rows.
    pub fn rows(&self) -> usize {
        self.width.iter().map(|&w| w as usize).sum()
    }

    /// True when only diagonal blocks are stored, so that the matrix is inverted block by block.
    pub fn is_block_diagonal(&self) -> bool {
        self.col.len() == self.width.len()
    }

    /// Sets every value to zero and keeps the pattern.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// The diagonal block of row `i`, row-major.
    pub fn diagonal_block(&self, i: usize) -> &[f64] {
        self.entry_values(self.diagonal[i] as usize)
    }

    /// The diagonal block of row `i`, row-major, to be written.
    pub fn diagonal_block_mut(&mut self, i: usize) -> &mut [f64] {
        let e = self.diagonal[i] as usize;
        &mut self.values[self.value_start[e] as usize..self.value_start[e + 1] as usize]
    }

    /// Block (i, j), row-major, to be written; `None` when it is not in the pattern.
    pub fn block_mut(&mut self, i: usize, j: usize) -> Option<&mut [f64]> {
        let e = self.entry(i, j)?;
        Some(self.entry_mut(e))
    }

    /// Number of the stored block (i, j), for [`entry_mut`](BlockMat::entry_mut).
    pub fn entry(&self, i: usize, j: usize) -> Option<usize> {
        let (a, b) = (self.row_start[i] as usize, self.row_start[i + 1] as usize);
        Some(a + self.col[a..b].binary_search(&(j as u32)).ok()?)
    }

    /// A stored block by number, row-major, to be written.
    pub fn entry_mut(&mut self, e: usize) -> &mut [f64] {
        &mut self.values[self.value_start[e] as usize..self.value_start[e + 1] as usize]
    }

    /// True when both store the same blocks.
    pub fn has_pattern_of(&self, other: &BlockMat) -> bool {
        self.shares(Some(&other.pattern))
            || self.width == other.width && self.row_start == other.row_start && self.col == other.col
    }

    /// Sets the matrix to one of a smaller pattern.
    pub fn assign(&mut self, other: &BlockMat) {
        if self.col.len() == other.col.len() {
            self.values.copy_from_slice(&other.values);
            return;
        }
        self.clear();
        for i in 0..other.block_rows() {
            for (j, values) in other.row(i) {
                self.block_mut(i, j).expect("the pattern holds that of the other").copy_from_slice(values);
            }
        }
    }

    /// Adds a matrix of a smaller pattern.
    pub fn add(&mut self, other: &BlockMat) {
        for i in 0..other.block_rows() {
            for (j, values) in other.row(i) {
                let block = self.block_mut(i, j).expect("the pattern holds that of the other");
                for (x, y) in block.iter_mut().zip(values) {
                    *x += y;
                }
            }
        }
    }

    /// Multiplies every value.
    pub fn scale(&mut self, s: f64) {
        for x in &mut self.values {
            *x *= s;
        }
    }

    /// Adds `s` times a matrix of a smaller pattern.
    pub fn add_scaled(&mut self, s: f64, other: &BlockMat) {
        for i in 0..other.block_rows() {
            for (j, values) in other.row(i) {
                let block = self.block_mut(i, j).expect("the pattern holds that of the other");
                for (x, y) in block.iter_mut().zip(values) {
                    *x += s * y;
                }
            }
        }
    }

    /// y += s Mᵀ x.
    pub fn mul_t_add(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..self.block_rows() {
            let (at, rows) = self.block(i);
            for (j, block) in self.row(i) {
                let (to, width) = self.block(j);
                for r in 0..rows {
                    let f = s * x[at + r];
                    for c in 0..width {
                        y[to + c] += f * block[r * width + c];
                    }
                }
            }
        }
    }

    /// The stored blocks of row `i` as (block column, row-major values).
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        (self.row_start[i] as usize..self.row_start[i + 1] as usize)
            .map(|e| (self.col[e] as usize, self.entry_values(e)))
    }

    /// Columns of the blocks of row `i`, ascending.
    pub(crate) fn columns(&self, i: usize) -> &[u32] {
        &self.col[self.row_start[i] as usize..self.row_start[i + 1] as usize]
    }

    /// Where the values of the `k`-th block of row `i` begin in [`values`](BlockMat::values).
    pub(crate) fn value_place(&self, i: usize, k: usize) -> usize {
        self.value_start[self.row_start[i] as usize + k] as usize
    }

    /// All values, block after block.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// y = A x. Large products are shared out by rows, so that any number of threads gives the same bits.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        self.mul_rows(0..self.block_rows(), x, y);
    }

    /// The rows of a product; `y` holds those rows alone.
    fn mul_rows(&self, rows: std::ops::Range<usize>, x: &[f64], y: &mut [f64]) {
        if rows.len() > SHARED_ROWS {
            let middle = rows.start + rows.len() / 2;
            let (lower, upper) = y.split_at_mut((self.dof[middle] - self.dof[rows.start]) as usize);
            parallel::join(
                || self.mul_rows(rows.start..middle, x, lower),
                || self.mul_rows(middle..rows.end, x, upper),
            );
            return;
        }
        let mut at = 0;
        for i in rows {
            let ni = self.width[i] as usize;
            let (first, end) = (self.row_start[i] as usize, self.row_start[i + 1] as usize);
            let y = &mut y[at..at + ni];
            at += ni;
            if ni == 3 {
                self.mul_row3(first..end, x, y);
                continue;
            }
            y.fill(0.0);
            for e in first..end {
                let (dj, nj) = self.block(self.col[e] as usize);
                let block = self.entry_values(e);
                for r in 0..ni {
                    let mut s = 0.0;
                    for c in 0..nj {
                        s += block[r * nj + c] * x[dj + c];
                    }
                    y[r] += s;
                }
            }
        }
    }

    /// A row of three: nodes, mostly beside nodes.
    #[inline]
    fn mul_row3(&self, entries: std::ops::Range<usize>, x: &[f64], y: &mut [f64]) {
        let (mut y0, mut y1, mut y2) = (0.0, 0.0, 0.0);
        for e in entries {
            let (dj, nj) = self.block(self.col[e] as usize);
            let block = self.entry_values(e);
            if let (Ok(b), 3) = (<&[f64; 9]>::try_from(block), nj) {
                let x = &x[dj..dj + 3];
                y0 += b[0] * x[0] + b[1] * x[1] + b[2] * x[2];
                y1 += b[3] * x[0] + b[4] * x[1] + b[5] * x[2];
                y2 += b[6] * x[0] + b[7] * x[1] + b[8] * x[2];
            } else {
                let row = |r: usize| (0..nj).map(|c| block[r * nj + c] * x[dj + c]).sum::<f64>();
                (y0, y1, y2) = (y0 + row(0), y1 + row(1), y2 + row(2));
            }
        }
        (y[0], y[1], y[2]) = (y0, y1, y2);
    }

    pub(super) fn entry_values(&self, e: usize) -> &[f64] {
        &self.values[self.value_start[e] as usize..self.value_start[e + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::BlockKind;
    use crate::coords::Layout;

    /// A body and two particles; the body is coupled to the second particle.
    fn mixed() -> BlockMat {
        let mut layout = Layout::new();
        for kind in [BlockKind::Rigid, BlockKind::Node, BlockKind::Node] {
            layout.push(kind);
        }
        BlockMat::with_pattern(&layout.widths(), &[(2, 0), (0, 2), (2, 0)])
    }

    #[test]
    fn the_pattern_is_symmetric_and_sorted() {
        let m = mixed();
        let columns = |i| m.row(i).map(|(j, block)| (j, block.len())).collect::<Vec<_>>();
        assert_eq!(columns(0), [(0, 36), (2, 18)]);
        assert_eq!(columns(1), [(1, 9)]);
        assert_eq!(columns(2), [(0, 18), (2, 9)]);
        assert_eq!((m.block_rows(), m.rows()), (3, 12));
        assert_eq!([m.block(0), m.block(1), m.block(2)], [(0, 6), (6, 3), (9, 3)]);
    }

    #[test]
    fn only_diagonal_blocks_make_it_block_diagonal() {
        let mut layout = Layout::new();
        layout.push(BlockKind::Rigid);
        layout.push(BlockKind::Node);
        assert!(BlockMat::block_diagonal(&layout.widths()).is_block_diagonal());
        assert!(!BlockMat::with_pattern(&layout.widths(), &[(1, 0)]).is_block_diagonal());
        assert!(!mixed().is_block_diagonal());
        assert!(mixed().block_mut(0, 1).is_none() && mixed().block_mut(0, 2).is_some());
    }

    #[test]
    fn a_shared_product_is_that_of_its_rows() {
        let mut layout = Layout::new();
        let n = 3 * SHARED_ROWS as u32;
        (0..n).for_each(|k| {
            layout.push(if k % 100 == 7 { BlockKind::Rigid } else { BlockKind::Node });
        });
        let pairs: Vec<(u32, u32)> = (1..n).map(|k| (k, k - 1)).collect();
        let mut m = BlockMat::with_pattern(&layout.widths(), &pairs);
        for (k, value) in m.values.iter_mut().enumerate() {
            *value = ((k * 7919) % 1000) as f64 * 1e-3 - 0.4;
        }
        let x: Vec<f64> = (0..m.rows()).map(|k| (k as f64 * 0.37).sin()).collect();
        let mut y = vec![f64::NAN; m.rows()];
        m.mul(&x, &mut y);
        for i in 0..m.block_rows() {
            let (d, w) = m.block(i);
            let mut row = vec![f64::NAN; w];
            m.mul_rows(i..i + 1, &x, &mut row);
            assert_eq!(y[d..d + w], row, "row {i}");
            for r in 0..w {
                let plain: f64 = m
                    .row(i)
                    .map(|(j, b)| {
                        let (dj, nj) = m.block(j);
                        (0..nj).map(|c| b[r * nj + c] * x[dj + c]).sum::<f64>()
                    })
                    .sum();
                assert!((plain - row[r]).abs() < 1e-12, "row {i}");
            }
        }
    }

    #[test]
    fn a_product_is_that_of_the_dense_matrix() {
        let mut m = mixed();
        let mut dense = [[0.0; 12]; 12];
        for i in 0..3 {
            for j in 0..3 {
                let ((di, ni), (dj, nj)) = (m.block(i), m.block(j));
                let Some(block) = m.block_mut(i, j) else { continue };
                for r in 0..ni {
                    for c in 0..nj {
                        // Whole numbers, different in every place and not symmetric: sums are exact.
                        let value = (100 * (di + r) + 7 * (dj + c)) as f64;
                        block[r * nj + c] = value;
                        dense[di + r][dj + c] = value;
                    }
                }
            }
        }
        let x: Vec<f64> = (0..12).map(|k| (k * k) as f64 - 20.0).collect();
        let mut y = vec![f64::NAN; 12];
        m.mul(&x, &mut y);
        for r in 0..12 {
            assert_eq!(y[r], (0..12).map(|c| dense[r][c] * x[c]).sum::<f64>(), "row {r}");
        }
        assert_eq!(m.diagonal_block(2)[5], dense[10][11]);
        m.diagonal_block_mut(1)[0] = 5.0;
        assert_eq!(m.diagonal_block(1)[0], 5.0);
        m.clear();
        m.mul(&x, &mut y);
        assert_eq!(y, [0.0; 12]);
    }
}
