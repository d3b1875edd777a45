//! E(q) of (9) by absolute column sums: the paper's way to take the geometric stiffness into A.
//!
//! The geometric stiffness of a compressed element is not positive, and A would not stay positive definite with it. Its
//! absolute column sums on the diagonal bound it: `D − E` is diagonally dominant, so that `xᵀ E x ≤ xᵀ D x` for all x. It is
//! a majorant and no projection: what was soft along some direction becomes stiff along it. Our own elements take the share
//! that stability asks for instead (`dynamics/slender.rs`).

/// Diagonal of absolute column sums of the symmetric n × n matrix `e`, row-major.
pub fn absolute_column_sums(e: &[f64], n: usize) -> Vec<f64> {
    (0..n).map(|c| (0..n).map(|r| e[r * n + c].abs()).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::linalg::Rng;

    /// D ∓ E for random symmetric E: diagonally dominant, and positive in every direction that was tried.
    #[test]
    fn the_majorant_dominates_every_row_and_every_direction() {
        let mut rng = Rng::new(7);
        let n = 6;
        for _ in 0..200 {
            let mut e = vec![0.0; n * n];
            for r in 0..n {
                for c in 0..=r {
                    let x = rng.range(-3.0, 3.0);
                    (e[r * n + c], e[c * n + r]) = (x, x);
                }
            }
            let d = absolute_column_sums(&e, n);
            for r in 0..n {
                let off: f64 = (0..n).filter(|&c| c != r).map(|c| e[r * n + c].abs()).sum();
                assert!(d[r] - e[r * n + r] >= off - 1e-12);
            }
            let x: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
            let quadratic: f64 = (0..n * n).map(|k| x[k / n] * e[k] * x[k % n]).sum();
            let bound: f64 = (0..n).map(|i| d[i] * x[i] * x[i]).sum();
            assert!(quadratic.abs() <= bound + 1e-12);
        }
    }

    /// Two particles of 1 g pushed together by 100 N over 1 cm: with its geometric stiffness A is indefinite at h = 10 ms,
    /// with the majorant it has a Cholesky factor.
    #[test]
    fn a_compressed_spring_keeps_a_positive_definite() {
        let (mass, load, length, h) = (1e-3, 100.0, 0.01, 0.01);
        // −(F/ℓ)(I − d dᵀ) between both, d = x.
        let mut e = vec![0.0; 36];
        for k in 1..3 {
            for (r, c, sign) in [(k, k, -1.0), (3 + k, 3 + k, -1.0), (k, 3 + k, 1.0), (3 + k, k, 1.0)] {
                e[6 * r + c] = sign * load / length;
            }
        }
        let a = |stiffness: &[f64]| -> Vec<f64> {
            (0..36).map(|k| h * h * stiffness[k] + if k % 7 == 0 { mass } else { 0.0 }).collect()
        };
        // Sideways against each other the load wins: xᵀ A x < 0.
        let x = [0.0, 1.0, 0.0, 0.0, -1.0, 0.0];
        let raw = a(&e);
        assert!((0..36).map(|k| x[k / 6] * raw[k] * x[k % 6]).sum::<f64>() < 0.0);
        let d = absolute_column_sums(&e, 6);
        let mut diagonal = vec![0.0; 36];
        (0..6).for_each(|i| diagonal[7 * i] = d[i]);
        let mut factor = Cholesky::default();
        factor.factor(&a(&diagonal), 6);
        let mut y = x;
        factor.solve(&mut y);
        assert!(y.iter().all(|y| y.is_finite()) && y[1] > 0.0);
    }
}
