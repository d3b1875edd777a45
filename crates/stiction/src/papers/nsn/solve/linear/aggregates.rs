//! Two-level multigrid by smoothed aggregation (Vaněk, Mandel & Brezina 1996) for the stiffness form.
//!
//! Nodes are gathered into aggregates of neighbours that move as one; P = (I − ω D⁻¹ K) P₀ smooths those motions, and
//! PᵀK P is factored. One application: a sweep of incomplete factors, the coarse correction, the sweep again.

use super::blocks::{BlockRows, Incomplete};
use crate::linalg::real::dot;
use crate::linalg::{DirectKind, Real, SparseDirect, SparseRows};

/// Damping of the prolongator's smoothing, over the largest eigenvalue of D⁻¹K.
const OMEGA: f64 = 4.0 / 3.0;
/// Power iterations that estimate that eigenvalue from below.
const POWERS: usize = 12;
/// Couplings below this share of √(‖K_ii‖‖K_jj‖) do not join aggregates.
const WEAK: f64 = 0.05;

/// The two levels.
#[derive(Default)]
pub struct TwoLevel<T> {
    smoother: Incomplete<T>,
    coarse: SparseDirect<T>,
    /// Pᵀ, by coarse unknowns; empty where there is nothing to gain.
    restrict: SparseRows<T>,
    rest: Vec<T>,
    coarse_r: Vec<T>,
    correction: Vec<T>,
}

impl<T: Real> TwoLevel<T> {
    /// Builds both levels of `k`, which is `rows` in blocks. Where the coarse level cannot be factored the sweep stands
    /// alone.
    pub fn prepare(&mut self, k: &BlockRows<T>, rows: &SparseRows<T>) {
        self.smoother.factor(k);
        let n = rows.rows();
        let (of, count) = aggregates(k);
        // P₀ moves all nodes of an aggregate alike; blocks of other widths than three stand alone.
        let mut tentative = SparseRows::default();
        tentative.clear();
        let mut first = vec![0usize; count + 1];
        for i in 0..k.blocks() {
            first[of[i] + 1] = k.rows_of(i).len();
        }
        for a in 0..count {
            first[a + 1] += first[a];
        }
        for i in 0..k.blocks() {
            for d in 0..k.rows_of(i).len() {
                tentative.push(first[of[i]] + d, T::ONE);
                tentative.end_row();
            }
        }
        let coarse = first[count];
        // P = P₀ − ω D⁻¹ K P₀
        let omega = T::of(OMEGA) / largest_eigenvalue(rows);
        let kp = rows.mul_transpose(&tentative.transposed(coarse), n);
        let mut p = SparseRows::default();
        p.clear();
        for i in 0..n {
            let scale = omega / rows.get(i, i);
            let own = tentative.row(i).0[0];
            let (columns, values) = kp.row(i);
            let mut found = false;
            for (c, v) in columns.iter().zip(values) {
                let one = if *c == own { T::ONE } else { T::ZERO };
                found |= *c == own;
                let w = one - scale * *v;
                if w != T::ZERO {
                    p.push(*c as usize, w);
                }
            }
            if !found {
                p.push(own as usize, T::ONE);
            }
            p.end_row();
        }
        self.restrict = p.transposed(coarse);
        // PᵀK P
        let pk = self.restrict.mul_transpose(rows, n);
        let a = pk.mul_transpose(&self.restrict, n);
        self.rest.resize(n, T::ZERO);
        self.correction.resize(n, T::ZERO);
        self.coarse_r.resize(coarse, T::ZERO);
        if !self.coarse.factor(DirectKind::Llt, &a, |_, _, v| v) {
            self.coarse_r.clear();
        }
    }

    /// z ≈ K⁻¹ r.
    pub fn apply(&mut self, k: &BlockRows<T>, r: &[T], z: &mut [T]) {
        self.smoother.solve(r, z);
        if self.coarse_r.is_empty() {
            return;
        }
        self.residual(k, r, z);
        for (c, to) in self.coarse_r.iter_mut().enumerate() {
            *to = self.restrict.mul_row(c, &self.rest);
        }
        self.coarse.solve(&mut self.coarse_r);
        self.restrict.mul_t_add(&self.coarse_r, z);
        self.residual(k, r, z);
        self.smoother.solve(&self.rest, &mut self.correction);
        for (z, c) in z.iter_mut().zip(&self.correction) {
            *z += *c;
        }
    }

    /// rest = r − K z.
    fn residual(&mut self, k: &BlockRows<T>, r: &[T], z: &[T]) {
        k.mul(z, &mut self.rest);
        for (to, r) in self.rest.iter_mut().zip(r) {
            *to = *r - *to;
        }
    }
}

/// The largest eigenvalue of D⁻¹K, a little below.
fn largest_eigenvalue<T: Real>(k: &SparseRows<T>) -> T {
    let n = k.rows();
    let mut x: Vec<T> = (0..n).map(|i| T::of((1.0 + i as f64).sin())).collect();
    let mut y = vec![T::ZERO; n];
    let mut value = T::ONE;
    for _ in 0..POWERS {
        k.mul(&x, &mut y);
        for i in 0..n {
            y[i] /= k.get(i, i);
        }
        value = (dot(&y, &y) / dot(&x, &x)).root();
        std::mem::swap(&mut x, &mut y);
        let scale = T::ONE / value;
        x.iter_mut().for_each(|x| *x *= scale);
    }
    value
}

/// The aggregate of each block row, and their number. Blocks of three rows gather around roots whose neighbours are all
/// free yet; what is left joins a neighbour.
fn aggregates<T: Real>(k: &BlockRows<T>) -> (Vec<usize>, usize) {
    const FREE: usize = usize::MAX;
    let n = k.blocks();
    let size = |b: &[T]| b.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
    let own: Vec<f64> = (0..n).map(|i| size(k.diagonal(i))).collect();
    let is_node = |i: usize| k.rows_of(i).len() == 3;
    let is_strong = |i: usize, e: usize| {
        let j = k.column(e);
        j != i && is_node(j) && size(k.block(i, e)) > WEAK * (own[i] * own[j]).sqrt()
    };
    let near: Vec<Vec<usize>> = (0..n)
        .map(|i| k.entries(i).filter(|&e| is_node(i) && is_strong(i, e)).map(|e| k.column(e)).collect())
        .collect();
    let mut of = vec![FREE; n];
    let mut count = 0;
    for i in 0..n {
        let alone = !is_node(i) || near[i].is_empty();
        if of[i] == FREE && (alone || near[i].iter().all(|&j| of[j] == FREE)) {
            of[i] = count;
            near[i].iter().for_each(|&j| of[j] = count);
            count += 1;
        }
    }
    let roots = of.clone();
    for i in 0..n {
        if of[i] == FREE {
            of[i] = near[i].iter().map(|&j| roots[j]).find(|&a| a != FREE).unwrap_or_else(|| {
                count += 1;
                count - 1
            });
        }
    }
    (of, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lattice of nodes with springs to the next ones: iterations with the two levels do not grow with its size.
    #[test]
    fn iterations_do_not_grow_with_size() {
        let counts: Vec<usize> = [6usize, 12].iter().map(|&n| iterations(n)).collect();
        assert!(counts[1] <= counts[0] + 4, "{counts:?}");
    }

    fn iterations(side: usize) -> usize {
        let nodes = side * side;
        let mut rows = SparseRows::default();
        rows.clear();
        for i in 0..nodes {
            let (x, y) = (i % side, i / side);
            for d in 0..3 {
                let mut next = |ok: bool, j: usize| {
                    if ok {
                        rows.push(3 * j + d, -1.0);
                    }
                };
                next(y > 0, i.wrapping_sub(side));
                next(x > 0, i.wrapping_sub(1));
                rows.push(3 * i + d, 4.001);
                let mut next = |ok: bool, j: usize| {
                    if ok {
                        rows.push(3 * j + d, -1.0);
                    }
                };
                next(x + 1 < side, i + 1);
                next(y + 1 < side, i + side);
                rows.end_row();
            }
        }
        let first: Vec<u32> = (0..=nodes as u32).map(|i| 3 * i).collect();
        let mut k = BlockRows::default();
        k.gather(&first, &rows, |_, _, v: f64| v);
        let mut levels = TwoLevel::default();
        levels.prepare(&k, &rows);
        assert!(!levels.coarse_r.is_empty());
        let b: Vec<f64> = (0..3 * nodes).map(|i| (i as f64).sin()).collect();
        let (mut x, mut r, mut z) = (vec![0.0; b.len()], b.clone(), vec![0.0; b.len()]);
        for n in 0..100 {
            if r.iter().map(|r| r * r).sum::<f64>() < 1e-16 {
                return n;
            }
            levels.apply(&k, &r, &mut z);
            x.iter_mut().zip(&z).for_each(|(x, z)| *x += z);
            rows.mul(&x, &mut r);
            r.iter_mut().zip(&b).for_each(|(r, b)| *r = b - *r);
        }
        100
    }
}
