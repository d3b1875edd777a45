//! Three rows with bounds alone: the exact solution of `u = W r + k`, `u ∈ −N_[lo,hi](r)`, for one 3×3 block.

use crate::contact::law::{Bounds, RoundLaw};
use crate::linalg::{Mat3, Vec3};

/// A pivot below this share of the block's trace counts as zero.
const SINGULAR: f64 = 1e-13;
/// Shift of singular blocks towards the present value, relative to the trace: it ends where the law holds.
const SHIFT: f64 = 1e-10;
/// A natural map below this, relative to the terms that cancel in it, is rounding.
const ROUNDING: f64 = 1e-14;

/// The multipliers that solve three rows with block `w` [1/kg] and free velocity `k` [m/s].
///
/// Each row is free or at one of its bounds: at most 27 combinations, the free one first. Where `w` is singular
/// (redundant rows) the answer nearest to `old` is aimed at. Always finite and within the bounds.
pub fn solve_rows(w: &Mat3, k: Vec3, b: &Bounds, old: Vec3) -> Vec3 {
    let size = w.x_axis.x.abs() + w.y_axis.y.abs() + w.z_axis.z.abs();
    let old = if old.is_finite() { b.clamp(old) } else { b.clamp(Vec3::ZERO) };
    if !(size > 0.0 && size.is_finite() && k.is_finite()) {
        return old;
    }
    let g = size / 3.0;
    let law = RoundLaw::Rows(*b);
    let mut best = (law.natural_map(old, *w * old + k, g).length(), old);
    for code in 0..27 {
        // Row i: 0 free, 1 at its lower bound, 2 at its upper one.
        let state = [code % 3, code / 3 % 3, code / 9];
        let mut r = old;
        let mut possible = true;
        for i in 0..3 {
            match state[i] {
                1 => r[i] = b.lo[i],
                2 => r[i] = b.hi[i],
                _ => possible &= b.lo[i] < b.hi[i],
            }
            possible &= r[i].is_finite();
        }
        if !possible || !solve_free(w, k, state.map(|s| s == 0), old, size, &mut r) {
            continue;
        }
        let r = b.clamp(r);
        let error = law.natural_map(r, *w * r + k, g).length();
        if error < best.0 {
            best = (error, r);
            if error <= ROUNDING * (r.length() + k.length() / g) {
                break;
            }
        }
    }
    best.1
}

/// Solves the free rows of `W r + k = 0` with the others as they stand in `r`; false when numbers run out.
fn solve_free(w: &Mat3, k: Vec3, free: [bool; 3], old: Vec3, size: f64, r: &mut Vec3) -> bool {
    for shift in [0.0, SHIFT * size] {
        // Gauss with diagonal pivots on (W + shift) r = −k + shift·old; bound rows become r_i = r_i.
        let mut m = [[0.0; 4]; 3];
        for i in 0..3 {
            if free[i] {
                for j in 0..3 {
                    m[i][j] = w.col(j)[i];
                }
                m[i][i] += shift;
                m[i][3] = shift * old[i] - k[i];
            } else {
                m[i][i] = size;
                m[i][3] = size * r[i];
            }
        }
        let mut regular = true;
        let mut left = [true; 3];
        for _ in 0..3 {
            let pivot = (0..3).filter(|&i| left[i]).max_by(|&i, &j| m[i][i].total_cmp(&m[j][j])).unwrap_or(0);
            left[pivot] = false;
            if m[pivot][pivot].is_nan() || m[pivot][pivot] <= SINGULAR * size {
                regular = false;
                break;
            }
            for i in 0..3 {
                let f = m[i][pivot] / m[pivot][pivot];
                if i != pivot && f != 0.0 {
                    for j in 0..4 {
                        m[i][j] -= f * m[pivot][j];
                    }
                }
            }
        }
        if regular {
            for i in 0..3 {
                if free[i] {
                    r[i] = m[i][3] / m[i][i];
                }
            }
            return r.is_finite();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vec() -> impl Strategy<Value = Vec3> {
        (-1.0..1.0, -1.0..1.0, -1.0..1.0).prop_map(|(a, b, c)| Vec3::new(a, b, c))
    }

    fn bounds() -> impl Strategy<Value = Bounds> {
        let row = prop_oneof![
            Just((f64::NEG_INFINITY, f64::INFINITY)),
            Just((0.0, f64::INFINITY)),
            Just((0.0, 0.0)),
            (0.0..0.5f64).prop_map(|f| (-f, f)),
        ];
        [row.clone(), row.clone(), row].prop_map(|r| Bounds {
            lo: Vec3::new(r[0].0, r[1].0, r[2].0),
            hi: Vec3::new(r[0].1, r[1].1, r[2].1),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn positive_definite_blocks_are_solved_to_rounding(x in vec(), y in vec(), z in vec(), k in vec(), b in bounds(), old in vec(), scale in -9..9i32) {
            let m = Mat3::from_cols(x, y, z);
            let w = 10f64.powi(scale) * (m * m.transpose() + 0.01 * Mat3::IDENTITY);
            let g = (w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0;
            let r = solve_rows(&w, k, &b, old);
            let error = g * RoundLaw::Rows(b).natural_map(r, w * r + k, g).length();
            // W r and k cancel to u: what is left of them is rounding of their size, not of k alone (3 g is the trace of W).
            let terms = 3.0 * g * r.length() + k.length();
            prop_assert!(error < 64.0 * f64::EPSILON * terms, "{r} {error:e}, {} of rounding", error / (f64::EPSILON * terms));
            prop_assert_eq!(b.clamp(r), r);
        }

        #[test]
        fn redundant_rows_are_solved_and_share(x in vec(), k in -1.0..1.0f64, old in vec(), stop in any::<bool>()) {
            // The same row three times over, as an equation or as a stop.
            let w = (0.1 + x.length_squared()) * Mat3::from_cols(Vec3::ONE, Vec3::ONE, Vec3::ONE);
            let b = if stop { Bounds { lo: Vec3::ZERO, hi: Vec3::INFINITY } } else { Bounds::EQUATIONS };
            let mut r = old;
            for _ in 0..4 {
                r = solve_rows(&w, Vec3::splat(k), &b, r);
            }
            let u = w * r + Vec3::splat(k);
            prop_assert!(RoundLaw::Rows(b).natural_map(r, u, 1.0).length() < 1e-9, "{} {}", r, u);
        }

        #[test]
        fn any_block_gives_a_finite_answer_within_its_bounds(x in vec(), y in vec(), z in vec(), k in vec(), b in bounds(), scale in -60..60i32) {
            let r = solve_rows(&(Mat3::from_cols(x, y, z) * 10f64.powi(scale)), k, &b, Vec3::NAN);
            prop_assert!(r.is_finite() && b.clamp(r) == r);
        }
    }
}
