//! One contact alone: the exact solution of Signorini–Coulomb for one 3×3 block.
//!
//! Given `u = W r + k`, find `r` with `0 ≤ u_n ⟂ r_n ≥ 0`, `|r_t| ≤ μ r_n`, and `r_t` opposite to `u_t` where it
//! slips. The normal row is eliminated (Schur complement `S`), and then there are three cases:
//!
//! - open: `k_n ≥ 0`, `r = 0`;
//! - stick: `u = 0` and `r = −W⁻¹ k` lies in the cone;
//! - slip: `u_t = −a r_t` with a speed ratio `a > 0`, so that `r_t = −(S + a I)⁻¹ κ`, and `a` is the root of
//!   `h(a) = μ r_n/|r_t| − 1`. As `S` is 2×2, `h` is a quadratic over the root of a quadratic.
//!
//! For a positive definite block and `k_n < 0`, `h(0) < 0` (else it sticks) and `h(∞) = ∞`: a solution always exists.

use crate::contact::law::RoundLaw;
use crate::contact::law::cone;
use crate::contact::law::rows::solve_rows;
use crate::linalg::{Mat3, Vec3};

/// Below this share of the trace a diagonal entry or an eigenvalue counts as zero.
const SINGULAR: f64 = 1e-13;
/// Newton's next step from a residual as small as this is at rounding.
const LAST_STEP: f64 = 1e-9;
/// In a sweep the other contacts still move, and the next sweep goes on from here: one step from this is enough.
const LAST_STEP_OF_SWEEP: f64 = 1e-3;
/// Newton takes 2 to 5 steps; bisection of the whole exponent range takes fewer than this.
const MOST_STEPS: usize = 100;

/// The impulse that solves one block alone, whatever it obeys; `old` is its present value, and `a_warm` is that of
/// [`solve_one`].
#[inline]
pub fn solve_block(law: RoundLaw, w: &Mat3, k: Vec3, old: Vec3, a_warm: &mut f64) -> Vec3 {
    match law {
        RoundLaw::Cone(mu) => solve_one(w, k, mu, a_warm),
        RoundLaw::Rows(b) => solve_rows(w, k, &b, old),
    }
}

/// The impulse `r` that solves one contact with block `w` [1/kg], free velocity `k` [m/s] and friction `mu`.
///
/// `a_warm` holds the speed ratio |u_t|/|r_t| of the last slip of this contact (0 where there is none) and is
/// updated. Always finite: a block that cannot move its normal returns zero; an indefinite block without a
/// solution returns the cone point with the smallest natural map among simple candidates.
#[inline]
pub fn solve_one(w: &Mat3, k: Vec3, mu: f64, a_warm: &mut f64) -> Vec3 {
    ContactBlock::new(w).solve(w, k, mu, a_warm, LAST_STEP)
}

/// What [`solve_one`] needs of a block and not of a velocity: found once, used in every sweep.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactBlock {
    /// 1/W_nn; 0 where the block cannot move its normal.
    inv_nn: f64,
    /// W_nt.
    nt: [f64; 2],
    /// W_tn/W_nn.
    f: [f64; 2],
    /// S = W_tt − W_tn W_nt/W_nn, by rows.
    s: [f64; 4],
    trace: f64,
    /// Zero where S is singular.
    det: f64,
    /// 1/det; infinite where S is singular.
    inv_det: f64,
}

impl ContactBlock {
    /// Of the block `w` [1/kg].
    #[inline]
    pub fn new(w: &Mat3) -> ContactBlock {
        let nn = w.x_axis.x;
        let size = nn.abs() + w.y_axis.y.abs() + w.z_axis.z.abs();
        if nn <= SINGULAR * size || nn.is_nan() {
            return ContactBlock::default();
        }
        let inv_nn = 1.0 / nn;
        let nt = [w.y_axis.x, w.z_axis.x];
        let f = [w.x_axis.y * inv_nn, w.x_axis.z * inv_nn];
        let s = [
            w.y_axis.y - f[0] * nt[0],
            w.z_axis.y - f[0] * nt[1],
            w.y_axis.z - f[1] * nt[0],
            w.z_axis.z - f[1] * nt[1],
        ];
        let (trace, mut det) = (s[0] + s[3], s[0] * s[3] - s[1] * s[2]);
        // A singular S = s d dᵀ (planar problems have one): what rounding left of det is zero.
        if det.abs() <= SINGULAR * trace * trace {
            det = 0.0;
        }
        ContactBlock { inv_nn, nt, f, s, trace, det, inv_det: 1.0 / det }
    }

    /// One contact of a Gauss–Seidel sweep: [`solve_one`], but for the last digits of a slip, which follow in the next
    /// sweep. `w` is the block itself.
    #[inline(always)]
    pub fn sweep(&self, w: &Mat3, k: Vec3, mu: f64, a_warm: &mut f64) -> Vec3 {
        self.solve(w, k, mu, a_warm, LAST_STEP_OF_SWEEP)
    }

    #[inline(always)]
    fn solve(&self, w: &Mat3, k: Vec3, mu: f64, a_warm: &mut f64, last_step: f64) -> Vec3 {
        // Open, or nothing to push with.
        if !(k.x < 0.0 && self.inv_nn > 0.0) {
            return Vec3::ZERO;
        }
        if mu <= 0.0 {
            return finite(Vec3::new(-k.x * self.inv_nn, 0.0, 0.0));
        }
        let [s11, s12, s21, s22] = self.s;
        let [nt1, nt2] = self.nt;
        // κ = k_t − W_tn k_n / W_nn;  p = −adj(S) κ, so that r_t = p/det when sticking.
        let kappa = (k.y - self.f[0] * k.x, k.z - self.f[1] * k.x);
        let mut p = (s12 * kappa.1 - s22 * kappa.0, s21 * kappa.0 - s11 * kappa.1);
        let mut stick = (p.0 * self.inv_det, p.1 * self.inv_det);
        if self.det == 0.0 {
            stick = self.singular_stick(k, kappa, &mut p);
        }
        let (t1, t2) = stick;
        let n = -(k.x + nt1 * t1 + nt2 * t2) * self.inv_nn;
        if n >= 0.0 && t1 * t1 + t2 * t2 <= mu * mu * n * n {
            let along = if crate::mutant::on("one-contact-sign") { -1.0 } else { 1.0 };
            return finite(Vec3::new(n, along * t1, along * t2));
        }
        self.slip(w, k, mu, kappa, p, a_warm, last_step)
    }

    /// r_t of a stick where S is singular, not-a-number where κ has a part that S does not reach; what rounding left
    /// of κ across S is zero, and `p` with it.
    #[cold]
    fn singular_stick(&self, k: Vec3, kappa: (f64, f64), p: &mut (f64, f64)) -> (f64, f64) {
        let ([s11, s12, s21, s22], [f1, f2], trace) = (self.s, self.f, self.trace);
        let terms = k.y * k.y + k.z * k.z + (f1 * f1 + f2 * f2) * k.x * k.x;
        if p.0 * p.0 + p.1 * p.1 <= SINGULAR * SINGULAR * trace * trace * terms {
            *p = (0.0, 0.0);
            let pseudo = if trace > 0.0 { -1.0 / (trace * trace) } else { 0.0 };
            if trace > 0.0 || kappa == (0.0, 0.0) {
                return (pseudo * (s11 * kappa.0 + s12 * kappa.1), pseudo * (s21 * kappa.0 + s22 * kappa.1));
            }
        }
        (f64::NAN, f64::NAN)
    }

    /// Slip: h(a) = N(a)/√Q(a) − 1 with p(a) = p − a κ, det(a) = a² + a trace + det, Q = |p(a)|²,
    /// N = μ (−k_n det(a) − W_nt·p(a)) / W_nn.
    #[inline(always)]
    fn slip(
        &self,
        w: &Mat3,
        k: Vec3,
        mu: f64,
        (k1, k2): (f64, f64),
        (p1, p2): (f64, f64),
        a_warm: &mut f64,
        last_step: f64,
    ) -> Vec3 {
        let ([nt1, nt2], trace, det) = (self.nt, self.trace, self.det);
        let m = mu * self.inv_nn;
        let (n2, n1, n0) =
            (-m * k.x, m * (nt1 * k1 + nt2 * k2 - k.x * trace), -m * (k.x * det + nt1 * p1 + nt2 * p2));
        let (q2, q1, q0) = (k1 * k1 + k2 * k2, -2.0 * (p1 * k1 + p2 * k2), p1 * p1 + p2 * p2);
        // An indefinite S (data with rounding) is positive definite only from its lowest eigenvalue on.
        let mut low = if det < 0.0 || trace < 0.0 {
            let gap = 0.25 * trace * trace - det;
            (gap.max(0.0).sqrt() - 0.5 * trace).max(0.0)
        } else {
            0.0
        };
        let mut high = f64::INFINITY;
        let mut close = false;
        let mut a = if *a_warm > low && a_warm.is_finite() { *a_warm } else { low };
        if a == 0.0 && q0 == 0.0 {
            // p(a) vanishes at a = 0: start beside it.
            a = 1e-3 * (w.x_axis.x + w.y_axis.y.abs() + w.z_axis.z.abs());
        }
        for _ in 0..MOST_STEPS {
            let big_q = (q2 * a + q1) * a + q0;
            let root = big_q.sqrt();
            let big_n = (n2 * a + n1) * a + n0;
            // h = over/root, and h/h′ with the roots cancelled.
            let over = big_n - root;
            let newton = a - over * big_q / ((2.0 * n2 * a + n1) * big_q - big_n * (q2 * a + 0.5 * q1));
            if over >= 0.0 {
                high = a;
            } else {
                low = a;
            }
            close = over.abs() < last_step * root;
            if newton > low && newton < high {
                a = newton;
                if close {
                    break;
                }
            } else if over.abs() <= 4.0 * f64::EPSILON * root {
                break;
            } else {
                let next = if high == f64::INFINITY {
                    10.0 * a.max(w.x_axis.x + w.y_axis.y.abs() + w.z_axis.z.abs())
                } else if low > 0.0 {
                    (low * high).sqrt()
                } else {
                    0.5 * high
                };
                if next == a {
                    break;
                }
                a = next;
            }
        }
        // Only the direction is taken from `a`: on it the normal row gives r_n exactly.
        let (t1, t2) = (p1 - a * k1, p2 - a * k2);
        let length = (t1 * t1 + t2 * t2).sqrt();
        let n = -k.x * length / (w.x_axis.x * length + mu * (nt1 * t1 + nt2 * t2));
        if n > 0.0 && n.is_finite() && (high < f64::INFINITY || close) {
            *a_warm = a;
            let along = if crate::mutant::on("one-contact-sign") { -1.0 } else { 1.0 };
            let t = along * mu * n / length;
            return finite(Vec3::new(n, t * t1, t * t2));
        }
        best_candidate(w, k, mu)
    }
}

/// Where an indefinite block has no solution: the candidate with the smallest natural map.
#[cold]
fn best_candidate(w: &Mat3, k: Vec3, mu: f64) -> Vec3 {
    let d = (w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0;
    let d = if d > 0.0 { d } else { w.x_axis.x };
    let normal = -k.x / w.x_axis.x;
    let slip = cone::tangent_norm(k);
    let mut candidates = [Vec3::ZERO, Vec3::new(normal, 0.0, 0.0), cone::project(-k / d, mu), Vec3::ZERO];
    if slip > 0.0 {
        candidates[3] = Vec3::new(normal, -mu * normal * k.y / slip, -mu * normal * k.z / slip);
    }
    let size = |r: Vec3| cone::natural_map(r, *w * r + k, mu, d).length();
    let mut best = Vec3::ZERO;
    for r in candidates {
        if size(r) < size(best) {
            best = r;
        }
    }
    finite(best)
}

/// `r`, or zero where it overflowed.
#[inline]
fn finite(r: Vec3) -> Vec3 {
    if r.is_finite() { r } else { Vec3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vec() -> impl Strategy<Value = Vec3> {
        (-1.0..1.0, -1.0..1.0, -1.0..1.0).prop_map(|(a, b, c)| Vec3::new(a, b, c))
    }

    /// Natural map as a velocity, relative to the free velocity.
    fn error(w: &Mat3, k: Vec3, mu: f64, r: Vec3) -> f64 {
        let d = (w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0;
        d * cone::natural_map(r, *w * r + k, mu, d).length() / k.length()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn positive_definite_blocks_are_solved_to_rounding(
            x in vec(), y in vec(), z in vec(), k in vec(), mu in prop_oneof![0.0..1.0f64, 0.0..10.0f64],
            scale in -9..9i32, warm in prop_oneof![Just(0.0), 1e-6..1e6f64],
        ) {
            let b = Mat3::from_cols(x, y, z);
            let w = 10f64.powi(scale) * (b * b.transpose() + 0.01 * Mat3::IDENTITY);
            let mut a = warm * 10f64.powi(scale);
            let r = solve_one(&w, k, mu, &mut a);
            prop_assert!(error(&w, k, mu, r) < 1e-12, "{r} {}", error(&w, k, mu, r));
            prop_assert!(cone::excess(r, mu) <= 1e-14 * r.length());
            // The same answer from its own warm start, and again slipping with the reported ratio.
            let again = solve_one(&w, k, mu, &mut a);
            prop_assert!(error(&w, k, mu, again) < 1e-12);
        }

        #[test]
        fn planar_blocks_are_solved(x in vec(), y in vec(), k in vec(), mu in 0.0..3.0f64, turn in 0.0..6.3f64) {
            // Two rows per contact: the second tangent neither moves nor is moved, in any direction of the plane.
            let (s, c) = turn.sin_cos();
            let q = Mat3::from_cols(Vec3::X, Vec3::new(0.0, c, s), Vec3::new(0.0, -s, c));
            let mut w = Mat3::ZERO;
            for v in [x, y] {
                let v = Vec3::new(v.x, v.y, 0.0);
                w += Mat3::from_cols(v * v.x, v * v.y, v * v.z);
            }
            w.x_axis.x += 0.1;
            w.y_axis.y += 0.1;
            let (w, k) = (q * w * q.transpose(), q * Vec3::new(k.x, k.y, 0.0));
            let r = solve_one(&w, k, mu, &mut 0.0);
            prop_assert!(error(&w, k, mu, r) < 1e-11, "{r} {}", error(&w, k, mu, r));
        }

        #[test]
        fn any_block_gives_a_finite_cone_point(
            x in vec(), y in vec(), z in vec(), k in vec(), mu in 0.0..10.0f64, scale in -60..60i32, zero in 0..8usize,
        ) {
            let mut w = Mat3::from_cols(x, y, z) * 10f64.powi(scale);
            for i in 0..3 {
                if zero & (1 << i) != 0 {
                    *w.col_mut(i) = Vec3::ZERO;
                }
            }
            let r = solve_one(&w, k, mu, &mut 0.0);
            prop_assert!(r.is_finite() && cone::excess(r, mu) <= 1e-12 * r.length());
        }
    }

    #[test]
    fn not_a_number_in_is_no_impulse_out() {
        for k in
            [Vec3::new(f64::NAN, 0.0, 0.0), Vec3::new(-1.0, f64::NAN, 0.0), Vec3::splat(f64::NEG_INFINITY)]
        {
            assert_eq!(solve_one(&Mat3::IDENTITY, k, 0.5, &mut 0.0), Vec3::ZERO);
        }
        assert_eq!(solve_one(&Mat3::ZERO, -Vec3::ONE, 0.5, &mut 0.0), Vec3::ZERO);
        assert!(solve_one(&Mat3::IDENTITY, -Vec3::ONE, 0.5, &mut f64::NAN.clone()).x > 0.0);
    }

    #[test]
    fn a_block_on_a_plane_sticks_and_slips_at_the_threshold() {
        // Closing at 1 m/s and sliding at s: sticks while s ≤ μ.
        for (s, mu) in [(0.3, 0.5), (0.5, 0.5), (0.8, 0.5), (1.0, 0.0)] {
            let r = solve_one(&Mat3::IDENTITY, Vec3::new(-1.0, s, 0.0), mu, &mut 0.0);
            assert!((r - Vec3::new(1.0, -f64::min(s, mu), 0.0)).length() < 1e-15);
        }
    }
}
