//! LU factorisation of a matrix of 6×6 blocks with a symmetric pattern and unsymmetric values.
//!
//! The pattern is that of the body graph. Bodies are ordered by minimum degree; rows are exchanged only inside a
//! diagonal block, which suffices because the symmetric part is dominated by the inertia of the bodies; solvers
//! refine the answer on the operator itself.

use super::Mat6;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Factors of a block matrix; patterns and memory are kept while the graph stays the same.
#[derive(Default)]
pub struct BlockLu {
    n: usize,
    /// The edges of the current pattern, sorted, each once, smaller index first.
    edges: Vec<(u32, u32)>,
    incoming: Vec<(u32, u32)>,
    /// Elimination position of each row, and its inverse.
    position: Vec<u32>,
    order: Vec<u32>,
    /// Below-diagonal structure of column k (positions), ascending.
    start: Vec<u32>,
    below: Vec<u32>,
    diagonal: Vec<Mat6>,
    /// Inverses of the diagonal blocks after elimination.
    pivot: Vec<Mat6>,
    lower: Vec<Mat6>,
    upper: Vec<Mat6>,
    work: Vec<[f64; 6]>,
    analysis: Analysis,
}

impl BlockLu {
    /// Sets the pattern of an n×n block matrix from its off-diagonal pairs (any order, repeats allowed) and
    /// clears the values. The symbolic part is redone only where the pattern has changed.
    pub fn set_pattern(&mut self, n: usize, pairs: impl Iterator<Item = (u32, u32)>) {
        self.incoming.clear();
        self.incoming.extend(pairs.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))));
        self.incoming.sort_unstable();
        self.incoming.dedup();
        if self.n != n || self.incoming != self.edges {
            self.edges.clone_from(&self.incoming);
            self.n = n;
            self.analyse();
        }
        self.diagonal.clear();
        self.diagonal.resize(n, Mat6::ZERO);
        for m in self.lower.iter_mut().chain(&mut self.upper) {
            *m = Mat6::ZERO;
        }
    }

    /// The diagonal block of row `i`, to be written.
    pub fn diagonal_mut(&mut self, i: usize) -> &mut Mat6 {
        &mut self.diagonal[self.position[i] as usize]
    }

    /// Adds `m` to block (i, j).
    pub fn add(&mut self, i: usize, j: usize, m: &Mat6) {
        let (r, c) = (self.position[i] as usize, self.position[j] as usize);
        let target = if r == c {
            &mut self.diagonal[r]
        } else if r > c {
            let e = self.entry(c, r);
            &mut self.lower[e]
        } else {
            let e = self.entry(r, c);
            &mut self.upper[e]
        };
        for a in 0..6 {
            for b in 0..6 {
                target.0[a][b] += m.0[a][b];
            }
        }
    }

    /// Factors in place; false when a diagonal block is singular.
    pub fn factor(&mut self) -> bool {
        self.pivot.clear();
        self.pivot.resize(self.n, Mat6::ZERO);
        for k in 0..self.n {
            let Some(inverse) = invert(&self.diagonal[k]) else { return false };
            self.pivot[k] = inverse;
            let (s, e) = (self.start[k] as usize, self.start[k + 1] as usize);
            // L_ik = A_ik D_k⁻¹
            for i in s..e {
                self.lower[i] = product(&self.lower[i], &inverse);
            }
            // A_ij −= L_ik U_kj for i, j below k.
            for i in s..e {
                let row = self.below[i] as usize;
                let l = self.lower[i];
                subtract_product(&mut self.diagonal[row], &l, &self.upper[i]);
                let mut at = self.start[row] as usize;
                for j in i + 1..e {
                    let col = self.below[j];
                    while self.below[at] != col {
                        at += 1;
                    }
                    let (lj, uj) = (self.lower[j], self.upper[j]);
                    subtract_product(&mut self.upper[at], &l, &uj);
                    subtract_product(&mut self.lower[at], &lj, &self.upper[i]);
                }
            }
        }
        true
    }

    /// Multiplications of a factorisation: with m blocks below the diagonal, a column inverts one block and takes m + m² products.
    pub fn work(&self) -> f64 {
        let column = |k: usize| {
            let m = f64::from(self.start[k + 1] - self.start[k]);
            216.0 * (1.0 + m + m * m)
        };
        (0..self.n).map(column).sum()
    }

    /// Overwrites `x`, six numbers per row, with the solution.
    pub fn solve(&mut self, x: &mut [[f64; 6]]) {
        self.work.clear();
        self.work.extend(self.order.iter().map(|&i| x[i as usize]));
        let w = &mut self.work;
        for k in 0..self.n {
            let y = w[k];
            for e in self.start[k] as usize..self.start[k + 1] as usize {
                subtract_vector(&mut w[self.below[e] as usize], &self.lower[e], &y);
            }
        }
        for k in (0..self.n).rev() {
            let mut y = w[k];
            for e in self.start[k] as usize..self.start[k + 1] as usize {
                let z = w[self.below[e] as usize];
                subtract_vector(&mut y, &self.upper[e], &z);
            }
            let mut out = [0.0; 6];
            for a in 0..6 {
                for b in 0..6 {
                    out[a] += self.pivot[k].0[a][b] * y[b];
                }
            }
            w[k] = out;
        }
        for (k, &i) in self.order.iter().enumerate() {
            x[i as usize] = w[k];
        }
    }

    /// Index of the entry in column `c` at row `r` (both positions, r > c).
    fn entry(&self, c: usize, r: usize) -> usize {
        let (s, e) = (self.start[c] as usize, self.start[c + 1] as usize);
        s + self.below[s..e].binary_search(&(r as u32)).expect("the pair is in the pattern")
    }

    /// Minimum-degree order and fill, by eliminating the graph of explicit neighbour lists.
    fn analyse(&mut self) {
        let n = self.n;
        let Analysis { near, done, queue, merged } = &mut self.analysis;
        near.resize_with(n.max(near.len()), Vec::new);
        for list in &mut near[..n] {
            list.clear();
        }
        // The edges are sorted, so that the lists are too.
        for &(a, b) in &self.edges {
            near[b as usize].push(a);
        }
        for &(a, b) in &self.edges {
            near[a as usize].push(b);
        }
        done.clear();
        done.resize(n, false);
        self.position.clear();
        self.position.resize(n, 0);
        self.order.clear();
        queue.clear();
        queue.extend((0..n).map(|i| Reverse((near[i].len(), i as u32))));
        while let Some(Reverse((degree, k))) = queue.pop() {
            let k = k as usize;
            // Every change of degree puts a row into the queue again; only its latest entry counts.
            if done[k] || near[k].len() != degree {
                continue;
            }
            done[k] = true;
            self.position[k] = self.order.len() as u32;
            self.order.push(k as u32);
            // From now on the list of k is its column.
            let column = std::mem::take(&mut near[k]);
            for &i in &column {
                let list = &mut near[i as usize];
                merge_without(list, &column, i, k as u32, merged);
                std::mem::swap(list, merged);
                queue.push(Reverse((list.len(), i)));
            }
            near[k] = column;
        }
        self.start.clear();
        self.start.push(0);
        self.below.clear();
        for &k in &self.order {
            let from = self.below.len();
            self.below.extend(near[k as usize].iter().map(|&i| self.position[i as usize]));
            self.below[from..].sort_unstable();
            self.start.push(self.below.len() as u32);
        }
        self.lower.resize(self.below.len(), Mat6::ZERO);
        self.upper.resize(self.below.len(), Mat6::ZERO);
    }
}

/// Buffers of the symbolic part.
#[derive(Default)]
struct Analysis {
    /// Neighbours of each row among those not yet eliminated, sorted.
    near: Vec<Vec<u32>>,
    done: Vec<bool>,
    /// Rows by degree, the smallest first.
    queue: BinaryHeap<Reverse<(usize, u32)>>,
    merged: Vec<u32>,
}

/// out = (a ∪ b) without x and y; all sorted.
fn merge_without(a: &[u32], b: &[u32], x: u32, y: u32, out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&p), Some(&q)) => p.min(q),
            (Some(&p), None) => p,
            (None, Some(&q)) => q,
            (None, None) => unreachable!("the loop ends when both are used up"),
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != x && next != y {
            out.push(next);
        }
    }
}

#[inline(always)]
pub(crate) fn subtract_product(c: &mut Mat6, a: &Mat6, b: &Mat6) {
    for i in 0..6 {
        let mut row = c.0[i];
        for k in 0..6 {
            let f = a.0[i][k];
            for j in 0..6 {
                row[j] -= f * b.0[k][j];
            }
        }
        c.0[i] = row;
    }
}

pub(crate) fn product(a: &Mat6, b: &Mat6) -> Mat6 {
    let mut c = Mat6::ZERO;
    for i in 0..6 {
        for k in 0..6 {
            let f = a.0[i][k];
            for j in 0..6 {
                c.0[i][j] += f * b.0[k][j];
            }
        }
    }
    c
}

fn subtract_vector(y: &mut [f64; 6], a: &Mat6, x: &[f64; 6]) {
    for i in 0..6 {
        let mut s = 0.0;
        for j in 0..6 {
            s += a.0[i][j] * x[j];
        }
        y[i] -= s;
    }
}

/// Inverse by Gauss–Jordan with row exchanges; `None` when it is singular or not finite.
///
/// Rows of a rigid body differ in unit, kg and kg·m²: pivots are compared in the scale of the diagonal, so that the
/// unit of length makes no difference.
pub(crate) fn invert(a: &Mat6) -> Option<Mat6> {
    let mut m = a.0;
    let mut weight = [0.0; 6];
    for (i, w) in weight.iter_mut().enumerate() {
        *w = 1.0 / m[i][i].abs().max(f64::MIN_POSITIVE).sqrt();
    }
    let mut inv = [[0.0; 6]; 6];
    for (i, row) in inv.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for k in 0..6 {
        let mut best = k;
        for i in k + 1..6 {
            if weight[i] * m[i][k].abs() > weight[best] * m[best][k].abs() {
                best = i;
            }
        }
        m.swap(k, best);
        inv.swap(k, best);
        weight.swap(k, best);
        let d = 1.0 / m[k][k];
        if !d.is_finite() {
            return None;
        }
        for j in 0..6 {
            m[k][j] *= d;
            inv[k][j] *= d;
        }
        for i in 0..6 {
            let f = m[i][k];
            if i != k && f != 0.0 {
                for j in 0..6 {
                    m[i][j] -= f * m[k][j];
                    inv[i][j] -= f * inv[k][j];
                }
            }
        }
    }
    Some(Mat6(inv))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random blocks on a random graph against a dense solve of the same system.
    #[test]
    fn solves_what_the_dense_matrix_says() {
        let n = 12;
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let pairs: Vec<(u32, u32)> =
            (0..30).map(|_| (((random() + 0.5) * 12.0) as u32, ((random() + 0.5) * 12.0) as u32)).collect();
        let mut lu = BlockLu::default();
        lu.set_pattern(n, pairs.iter().copied());
        let mut dense = vec![0.0; 36 * n * n];
        let mut put = |lu: &mut BlockLu, i: usize, j: usize, boost: f64| {
            let mut m = Mat6::ZERO;
            for a in 0..6 {
                for b in 0..6 {
                    m.0[a][b] = random() + if a == b { boost } else { 0.0 };
                    dense[(6 * i + a) * 6 * n + 6 * j + b] += m.0[a][b];
                }
            }
            lu.add(i, j, &m);
        };
        for i in 0..n {
            put(&mut lu, i, i, 9.0);
        }
        for &(i, j) in &pairs {
            if i != j {
                put(&mut lu, i as usize, j as usize, 0.0);
                put(&mut lu, j as usize, i as usize, 0.0);
            }
        }
        let mut x: Vec<[f64; 6]> = (0..n).map(|i| std::array::from_fn(|k| (i + k) as f64 - 5.0)).collect();
        let b: Vec<f64> = x.iter().flatten().copied().collect();
        assert!(lu.factor());
        lu.solve(&mut x);
        let x: Vec<f64> = x.iter().flatten().copied().collect();
        for r in 0..6 * n {
            let s: f64 = (0..6 * n).map(|c| dense[r * 6 * n + c] * x[c]).sum();
            assert!((s - b[r]).abs() < 1e-11, "row {r}: {s} against {}", b[r]);
        }
    }

    #[test]
    fn a_singular_block_is_refused() {
        let mut lu = BlockLu::default();
        lu.set_pattern(1, std::iter::empty());
        assert!(!lu.factor());
    }
}
