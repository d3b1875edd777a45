//! Dense Cholesky factor of small and middling symmetric matrices.

/// A = L Lᵀ, kept for solves.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    n: usize,
    l: Vec<f64>,
}

impl Cholesky {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.n
    }

    /// Factors the lower triangle of the row-major `a`. A pivot that is not positive is replaced by the row's own
    /// diagonal (or 1), so that solves stay finite: for preconditioners.
    pub fn factor(&mut self, a: &[f64], n: usize) {
        self.n = n;
        self.l.clear();
        self.l.extend_from_slice(&a[..n * n]);
        for i in 0..n {
            let (above, rest) = self.l.split_at_mut(i * n);
            let row = &mut rest[..n];
            for j in 0..i {
                let other = &above[j * n..j * n + n];
                let s = super::krylov::dot(&row[..j], &other[..j]);
                row[j] = (row[j] - s) * other[j];
            }
            let d = row[i];
            let s = d - super::krylov::dot(&row[..i], &row[..i]);
            let pivot = if s > 1e-14 * d.abs() { s } else { d.abs() };
            // The inverse of the pivot's root is kept.
            row[i] = if pivot > 0.0 && pivot.is_finite() { 1.0 / pivot.sqrt() } else { 1.0 };
        }
    }

    /// Overwrites `x` with A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            let row = &self.l[i * n..i * n + n];
            x[i] = (x[i] - super::krylov::dot(&row[..i], &x[..i])) * row[i];
        }
        for i in (0..n).rev() {
            let row = &self.l[i * n..i * n + n];
            x[i] *= row[i];
            let xi = x[i];
            super::krylov::add_scaled(&mut x[..i], -xi, &row[..i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_solves() {
        let n = 9;
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = 1.0 / (1.0 + (i as f64 - j as f64).abs()) + if i == j { 2.0 } else { 0.0 };
            }
        }
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 3.0).collect();
        let mut y: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
        let mut f = Cholesky::default();
        f.factor(&a, n);
        f.solve(&mut y);
        assert!(f.rows() == n && x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-12));
    }
}
