//! Flexible GMRES (Saad 1993) in a weighted norm.

use super::wide;

/// A linear system and its preconditioner, which may differ from call to call.
pub trait LinearSystem {
    /// y = A x.
    fn apply(&mut self, x: &[f64], y: &mut [f64]);
    /// z ≈ A⁻¹ r.
    fn precondition(&mut self, r: &[f64], z: &mut [f64]);
}

/// Buffers of flexible GMRES; one cycle, no restart.
#[derive(Clone, Debug, Default)]
pub struct Fgmres {
    basis: Vec<Vec<f64>>,
    directions: Vec<Vec<f64>>,
    /// Columns of the Hessenberg matrix, turned to a triangle as they come.
    hessenberg: Vec<f64>,
    rotation: Vec<(f64, f64)>,
    rhs: Vec<f64>,
    work: Vec<f64>,
}

/// What a solve took and reached.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KrylovReport {
    /// Products with the matrix.
    pub iterations: usize,
    /// Norm of the right-hand side.
    pub start: f64,
    /// Norm of the residual that was left.
    pub end: f64,
}

impl Fgmres {
    /// Adds to `x` a vector dx with ‖s(b − A dx)‖ ≤ `target`, where `s` is the diagonal `scale`, in at most `most`
    /// products.
    pub fn solve(
        &mut self,
        system: &mut impl LinearSystem,
        scale: &[f64],
        b: &[f64],
        x: &mut [f64],
        target: f64,
        most: usize,
    ) -> KrylovReport {
        let n = b.len();
        self.reserve(n, 0, most);
        for ((v, b), s) in self.basis[0].iter_mut().zip(b).zip(scale) {
            *v = b * s;
        }
        let start = dot(&self.basis[0], &self.basis[0]).sqrt();
        let mut report = KrylovReport { iterations: 0, start, end: start };
        if start <= target || !start.is_finite() {
            return report;
        }
        scale_by(&mut self.basis[0], 1.0 / start);
        self.rhs.clear();
        self.rhs.push(start);
        let stride = most + 1;
        for k in 0..most {
            self.reserve(n, k + 1, most);
            // z = P⁻¹ v, w = A z, both in physical units.
            for ((w, v), s) in self.work.iter_mut().zip(&self.basis[k]).zip(scale) {
                *w = v / s;
            }
            system.precondition(&self.work, &mut self.directions[k]);
            system.apply(&self.directions[k], &mut self.work);
            let (old, new) = self.basis.split_at_mut(k + 1);
            let w = &mut new[0];
            for ((w, a), s) in w.iter_mut().zip(&self.work).zip(scale) {
                *w = a * s;
            }
            let column = &mut self.hessenberg[k * stride..(k + 1) * stride];
            let size = dot(w, w).sqrt();
            for (h, v) in column.iter_mut().zip(old.iter()) {
                *h = dot(v, w);
                add_scaled(w, -*h, v);
            }
            let mut norm = dot(w, w).sqrt();
            // Much cancelled: once more, so that the basis stays orthogonal.
            if norm < 0.1 * size {
                for (h, v) in column.iter_mut().zip(old.iter()) {
                    let more = dot(v, w);
                    *h += more;
                    add_scaled(w, -more, v);
                }
                norm = dot(w, w).sqrt();
            }
            // Givens rotations keep the column triangular and the residual known.
            for (i, &(c, s)) in self.rotation[..k].iter().enumerate() {
                let (a, b) = (column[i], column[i + 1]);
                column[i] = c * a + s * b;
                column[i + 1] = c * b - s * a;
            }
            let r = column[k].hypot(norm);
            if r.is_nan() || r <= f64::MIN_POSITIVE {
                break;
            }
            let (c, s) = (column[k] / r, norm / r);
            self.rotation[k] = (c, s);
            column[k] = r;
            column[k + 1] = 0.0;
            let g = self.rhs[k];
            self.rhs[k] = c * g;
            self.rhs.push(-s * g);
            report.iterations = k + 1;
            report.end = (s * g).abs();
            if report.end <= target || norm <= 1e-14 * size {
                break;
            }
            scale_by(w, 1.0 / norm);
        }
        self.add_answer(report.iterations, stride, x);
        report
    }

    /// Back substitution, then x += Σ y_k z_k.
    fn add_answer(&mut self, m: usize, stride: usize, x: &mut [f64]) {
        for i in (0..m).rev() {
            for k in i + 1..m {
                self.rhs[i] -= self.hessenberg[k * stride + i] * self.rhs[k];
            }
            self.rhs[i] /= self.hessenberg[i * stride + i];
            add_scaled(x, self.rhs[i], &self.directions[i]);
        }
    }

    /// Room for the basis up to vector `k` and the directions before it: vectors come as they are needed.
    fn reserve(&mut self, n: usize, k: usize, most: usize) {
        if self.basis.len() <= k {
            self.basis.resize_with(k + 1, Vec::new);
            self.directions.resize_with(k, Vec::new);
        }
        self.basis[k].resize(n, 0.0);
        if k > 0 {
            self.directions[k - 1].resize(n, 0.0);
            return;
        }
        self.work.resize(n, 0.0);
        self.hessenberg.resize(most * (most + 1), 0.0);
        self.rotation.resize(most, (0.0, 0.0));
        self.rhs.reserve(most + 1);
    }
}

/// Σ a b in eight interleaved sums, so that it runs at the speed of memory; the order never changes.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    #[inline(always)]
    fn run(a: &[f64], b: &[f64]) -> f64 {
        let (a8, a_rest) = a.as_chunks::<8>();
        let (b8, b_rest) = b.as_chunks::<8>();
        let mut s = [0.0; 8];
        for (x, y) in a8.iter().zip(b8) {
            for k in 0..8 {
                s[k] += x[k] * y[k];
            }
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
        ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])) + rest
    }
    wide!(run(a: &[f64], b: &[f64]) -> f64)
}

/// x += a y.
pub fn add_scaled(x: &mut [f64], a: f64, y: &[f64]) {
    #[inline(always)]
    fn run(x: &mut [f64], a: f64, y: &[f64]) {
        for (x, y) in x.iter_mut().zip(y) {
            *x += a * y;
        }
    }
    wide!(run(x: &mut [f64], a: f64, y: &[f64]));
}

fn scale_by(x: &mut [f64], a: f64) {
    for x in x {
        *x *= a;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unsymmetric band matrix; its diagonal is the preconditioner, at half strength in every second call.
    struct Band {
        n: usize,
        calls: usize,
    }

    impl LinearSystem for Band {
        fn apply(&mut self, x: &[f64], y: &mut [f64]) {
            for i in 0..self.n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < self.n { x[i + 1] } else { 0.0 };
                y[i] = (2.0 + i as f64) * x[i] - 0.9 * left - 0.3 * right;
            }
        }

        fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
            self.calls += 1;
            let strength = if self.calls.is_multiple_of(2) { 0.5 } else { 1.0 };
            for i in 0..self.n {
                z[i] = strength * r[i] / (2.0 + i as f64);
            }
        }
    }

    #[test]
    fn it_reaches_the_target_and_reports_the_true_residual() {
        let n = 50;
        let mut system = Band { n, calls: 0 };
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let scale: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + i as f64).sqrt()).collect();
        let mut krylov = Fgmres::default();
        for target in [1e-2, 1e-10] {
            let mut x = vec![0.0; n];
            let report = krylov.solve(&mut system, &scale, &b, &mut x, target, 40);
            let mut y = vec![0.0; n];
            system.apply(&x, &mut y);
            let r: Vec<f64> = (0..n).map(|i| scale[i] * (b[i] - y[i])).collect();
            let norm = dot(&r, &r).sqrt();
            assert!(norm <= target * (1.0 + 1e-6) && (norm - report.end).abs() < 1e-12, "{norm} {report:?}");
            assert_eq!(report.iterations, system.calls);
            system.calls = 0;
        }
    }

    #[test]
    fn an_exact_start_takes_no_iteration() {
        let mut x = vec![3.0; 4];
        let mut system = Band { n: 4, calls: 0 };
        let report = Fgmres::default().solve(&mut system, &[1.0; 4], &[0.0; 4], &mut x, 1e-12, 5);
        assert_eq!((report.iterations, system.calls), (0, 0));
        assert_eq!(x, [3.0; 4]);
    }
}
