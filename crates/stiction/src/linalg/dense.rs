//! Dense kernels for small systems.

/// bᵀ A⁻¹ b for a symmetric positive definite row-major `a` (at most 6×6); overwrites `b`.
/// Infinite when `a` is not positive definite.
pub fn inverse_quadratic_form(a: &[f64], b: &mut [f64]) -> f64 {
    match half_solve(a, b) {
        Some(_) => b.iter().map(|x| x * x).sum(),
        None => f64::INFINITY,
    }
}

/// Overwrites `b` with A⁻¹ b for a symmetric positive definite row-major `a` (at most 6×6); NaN when it is not.
pub fn solve_spd(a: &[f64], b: &mut [f64]) {
    let n = b.len();
    let Some(l) = half_solve(a, b) else {
        b.fill(f64::NAN);
        return;
    };
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= l[k * n + i] * b[k];
        }
        b[i] /= l[i * n + i];
    }
}

/// Cholesky factor L of `a`, with L⁻¹ b in place of `b`.
fn half_solve(a: &[f64], b: &mut [f64]) -> Option<[f64; 36]> {
    let n = b.len();
    assert!(n <= 6 && a.len() == n * n, "a block of at most six rows");
    let mut l = [0.0; 36];
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[i * n + j];
            for k in 0..j {
                s -= l[i * n + k] * l[j * n + k];
            }
            if i == j {
                if s <= 0.0 || s.is_nan() {
                    return None;
                }
                l[i * n + i] = s.sqrt();
            } else {
                l[i * n + j] = s / l[j * n + j];
            }
        }
        let mut s = b[i];
        for k in 0..i {
            s -= l[i * n + k] * b[k];
        }
        b[i] = s / l[i * n + i];
    }
    Some(l)
}

/// Inverse of a small row-major matrix by Gauss–Jordan with row pivoting; infinite entries when it is singular.
pub fn inverse(a: &[f64], n: usize) -> Vec<f64> {
    let mut m = a.to_vec();
    let mut inv = vec![0.0; n * n];
    for i in 0..n {
        inv[i * n + i] = 1.0;
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| m[i * n + k].abs().total_cmp(&m[j * n + k].abs())).unwrap_or(k);
        for c in 0..n {
            m.swap(k * n + c, pivot * n + c);
            inv.swap(k * n + c, pivot * n + c);
        }
        let d = 1.0 / m[k * n + k];
        for c in 0..n {
            m[k * n + c] *= d;
            inv[k * n + c] *= d;
        }
        for i in 0..n {
            let f = m[i * n + k];
            if i != k && f != 0.0 {
                for c in 0..n {
                    m[i * n + c] -= f * m[k * n + c];
                    inv[i * n + c] -= f * inv[k * n + c];
                }
            }
        }
    }
    inv
}
