//! Dense LU factor with row pivoting, in memory that is kept.

/// P A = L U, kept for solves.
#[derive(Clone, Debug, Default)]
pub struct DenseLu {
    n: usize,
    lu: Vec<f64>,
    /// Row that was swapped with row k in step k.
    pivot: Vec<u32>,
}

impl DenseLu {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.n
    }

    /// Factors the row-major `a`. A column without a pivot gets 1, so that solves stay finite: for preconditioners.
    pub fn factor(&mut self, a: &[f64], n: usize) {
        self.n = n;
        self.lu.clear();
        self.lu.extend_from_slice(&a[..n * n]);
        self.pivot.clear();
        for k in 0..n {
            let (mut best, mut size) = (k, 0.0);
            for i in k..n {
                let x = self.lu[i * n + k].abs();
                if x > size {
                    (best, size) = (i, x);
                }
            }
            self.pivot.push(best as u32);
            if best != k {
                let (above, below) = self.lu.split_at_mut(best * n);
                above[k * n..k * n + n].swap_with_slice(&mut below[..n]);
            }
            if size == 0.0 || !size.is_finite() {
                self.lu[k * n + k] = 1.0;
            }
            let (above, below) = self.lu.split_at_mut((k + 1) * n);
            let row = &above[k * n..];
            let inverse = 1.0 / row[k];
            for other in below.chunks_exact_mut(n) {
                if other[k] != 0.0 {
                    other[k] *= inverse;
                    let f = -other[k];
                    super::krylov::add_scaled(&mut other[k + 1..], f, &row[k + 1..]);
                }
            }
        }
    }

    /// Overwrites `x` with A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for k in 0..n {
            x.swap(k, self.pivot[k] as usize);
        }
        for i in 0..n {
            x[i] -= super::krylov::dot(&self.lu[i * n..i * n + i], &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.lu[i * n..i * n + n];
            x[i] = (x[i] - super::krylov::dot(&row[i + 1..], &x[i + 1..n])) / row[i];
        }
    }

    /// Overwrites `x` with A⁻ᵀ x.
    pub fn solve_transpose(&self, x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            x[i] /= self.lu[i * n + i];
            let (done, rest) = x.split_at_mut(i + 1);
            super::krylov::add_scaled(&mut rest[..n - i - 1], -done[i], &self.lu[i * n + i + 1..i * n + n]);
        }
        for i in (0..n).rev() {
            let (rest, done) = x.split_at_mut(i);
            super::krylov::add_scaled(rest, -done[0], &self.lu[i * n..i * n + i]);
        }
        for k in (0..n).rev() {
            x.swap(k, self.pivot[k] as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_solves_what_needs_pivots() {
        let n = 11;
        let a: Vec<f64> = (0..n * n)
            .map(|k| if k % (n + 1) == 0 { 0.0 } else { ((k * k + 3 * k) % 17) as f64 - 8.0 })
            .collect();
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 3.0).collect();
        let mut y: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
        let mut f = DenseLu::default();
        f.factor(&a, n);
        f.solve(&mut y);
        assert!(f.rows() == n && x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-9), "{y:?}");
        let mut y: Vec<f64> = (0..n).map(|j| (0..n).map(|i| a[i * n + j] * x[i]).sum()).collect();
        f.solve_transpose(&mut y);
        assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-9), "transposed: {y:?}");
    }
}
