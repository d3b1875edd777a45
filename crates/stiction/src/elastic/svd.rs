//! Signed singular values, rotations and eigenvalues of 3×3 matrices.
//!
//! One-sided Jacobi: it is exact to rounding for inverted, flat, rank-one and badly scaled matrices alike, which is
//! where closed forms through FᵀF lose half of the digits.

use crate::linalg::{Mat3, Vec3, tangents};

/// Columns whose cosine is below this count as orthogonal: two units of rounding.
const ORTHOGONAL: f64 = 2.0 * f64::EPSILON;
/// Products of columns below this are noise of a matrix scaled to one, and their squares might underflow.
const NOISE: f64 = 1e-140;
/// Sweeps of Jacobi rotations; five settle all but contrived matrices.
const SWEEPS: usize = 16;

/// F = U diag(s) Vᵀ with U and V proper rotations.
///
/// s₁ ≥ s₂ ≥ |s₃|; the last one has the sign of det F, so that an inverted element has one negative stretch and
/// knows which way leads back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd {
    /// Left rotation: principal axes in the world.
    pub u: Mat3,
    /// Signed singular values.
    pub s: Vec3,
    /// Right rotation: principal axes in the rest shape.
    pub v: Mat3,
}

/// The signed singular value decomposition of `f`. Not-a-number entries come back in `s`.
pub fn svd(f: &Mat3) -> Svd {
    let [svd] = svds(&[*f]);
    svd
}

/// Those of several matrices side by side, each to the bit what [`svd`] gives: one rotation waits for the one before, but not for
/// those of other matrices.
pub fn svds<const L: usize>(f: &[Mat3; L]) -> [Svd; L] {
    let mut b: [Columns<L>; 3] = [[[0.0; L]; 3]; 3];
    let mut v = b;
    let mut scale = [0.0; L];
    for l in 0..L {
        let entries = f[l].to_cols_array();
        let largest = entries.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        // Zero and not-a-number have nothing to rotate.
        if largest > 0.0 && f[l].is_finite() {
            // The power of two below the largest entry (its exponent bits): scaling without rounding keeps squares in range.
            scale[l] = f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE);
            let by = scale[l].recip();
            (0..9).for_each(|k| b[k / 3][k % 3][l] = entries[k] * by);
        }
        (0..3).for_each(|k| v[k][k][l] = 1.0);
    }
    // Rotate pairs of columns of B = F V until all are orthogonal.
    for _ in 0..SWEEPS {
        let mut settled = true;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (gamma, alpha, beta) = (dots(&b[p], &b[q]), dots(&b[p], &b[p]), dots(&b[q], &b[q]));
            let turns: [bool; L] = std::array::from_fn(|l| {
                (gamma[l].abs() > NOISE)
                    & (gamma[l] * gamma[l] > ORTHOGONAL * ORTHOGONAL * alpha[l] * beta[l])
            });
            if turns.contains(&true) {
                settled = false;
                // Settled pairs of columns turn by nothing.
                let (mut c, mut s) = ([1.0; L], [0.0; L]);
                for l in 0..L {
                    let (cosine, sine) = jacobi(beta[l] - alpha[l], 2.0 * gamma[l]);
                    c[l] = if turns[l] { cosine } else { 1.0 };
                    s[l] = if turns[l] { sine } else { 0.0 };
                }
                turn(&mut b, (p, q), &c, &s);
                turn(&mut v, (p, q), &c, &s);
            }
        }
        if settled {
            break;
        }
    }
    // Longest column first; a swap with a change of sign keeps V proper.
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        let (first, second) = (dots(&b[p], &b[p]), dots(&b[q], &b[q]));
        let swaps: [bool; L] = std::array::from_fn(|l| first[l] < second[l]);
        swap(&mut b, (p, q), &swaps);
        swap(&mut v, (p, q), &swaps);
    }
    // U from the columns: where they vanish any perpendicular direction is as good as another.
    let u1 = normalized(&b[0]);
    let across = less_along(&b[1], &u1);
    let mut u2 = normalized(&less_along(&normalized(&across), &u1));
    let size = dots(&across, &across);
    for l in (0..L).filter(|&l| scale[l] > 0.0 && size[l] <= f64::MIN_POSITIVE) {
        let any = tangents(lane(&u1, l)).0;
        (0..3).for_each(|k| u2[k][l] = any[k]);
    }
    std::array::from_fn(|l| {
        // Zero, or not a number.
        if scale[l] == 0.0 {
            let s = if f[l].is_finite() { Vec3::ZERO } else { Vec3::NAN };
            return Svd { u: Mat3::IDENTITY, s, v: Mat3::IDENTITY };
        }
        let (u1, u2) = (lane(&u1, l), lane(&u2, l));
        let u3 = u1.cross(u2);
        let b = [lane(&b[0], l), lane(&b[1], l), lane(&b[2], l)];
        let s = Vec3::new(u1.dot(b[0]), u2.dot(b[1]).max(0.0), u3.dot(b[2])) * scale[l];
        let v = Mat3::from_cols(lane(&v[0], l), lane(&v[1], l), lane(&v[2], l));
        Svd { u: Mat3::from_cols(u1, u2, u3), s, v }
    })
}

/// A vector of each matrix: its three components, side by side.
type Columns<const L: usize> = [[f64; L]; 3];

/// That of matrix `l`.
#[inline(always)]
fn lane<const L: usize>(a: &Columns<L>, l: usize) -> Vec3 {
    Vec3::new(a[0][l], a[1][l], a[2][l])
}

/// a·b.
#[inline(always)]
fn dots<const L: usize>(a: &Columns<L>, b: &Columns<L>) -> [f64; L] {
    std::array::from_fn(|l| a[0][l] * b[0][l] + a[1][l] * b[1][l] + a[2][l] * b[2][l])
}

/// a/|a|.
#[inline(always)]
fn normalized<const L: usize>(a: &Columns<L>) -> Columns<L> {
    let squared = dots(a, a);
    let by: [f64; L] = std::array::from_fn(|l| squared[l].sqrt().recip());
    std::array::from_fn(|k| std::array::from_fn(|l| a[k][l] * by[l]))
}

/// a without its part along the unit vector e.
#[inline(always)]
fn less_along<const L: usize>(a: &Columns<L>, e: &Columns<L>) -> Columns<L> {
    let along = dots(e, a);
    std::array::from_fn(|k| std::array::from_fn(|l| a[k][l] - along[l] * e[k][l]))
}

/// Turns two columns into each other.
#[inline(always)]
fn turn<const L: usize>(m: &mut [Columns<L>; 3], (p, q): (usize, usize), c: &[f64; L], s: &[f64; L]) {
    for k in 0..3 {
        for l in 0..L {
            let (a, b) = (m[p][k][l], m[q][k][l]);
            m[p][k][l] = c[l] * a - s[l] * b;
            m[q][k][l] = s[l] * a + c[l] * b;
        }
    }
}

/// The second of two columns in place of the first, and the first turned around in place of the second.
#[inline(always)]
fn swap<const L: usize>(m: &mut [Columns<L>; 3], (p, q): (usize, usize), swaps: &[bool; L]) {
    for k in 0..3 {
        for l in 0..L {
            let (a, b) = (m[p][k][l], m[q][k][l]);
            m[p][k][l] = if swaps[l] { b } else { a };
            m[q][k][l] = if swaps[l] { -a } else { b };
        }
    }
}

/// Cosine and sine of the smaller angle with tan 2φ = y/x.
#[inline(always)]
fn jacobi(x: f64, y: f64) -> (f64, f64) {
    let h = (x * x + y * y).sqrt();
    let c = (0.5 + 0.5 * x.abs() / h).sqrt();
    (c, y.copysign(y * x) / (2.0 * h * c))
}

/// Below this ratio of volume to size cubed an element counts as nearly flat, and the rotation comes from the SVD.
const NEARLY_FLAT: f64 = 1e-2;
/// Newton steps before giving up; strains of 1 % need three.
const POLAR_STEPS: usize = 12;

/// The proper rotation nearest to `f`: R of F = R S.
///
/// Newton's iteration R ← (R + R⁻ᵀ)/2 (Higham 1986) from `f`, cold, so that the result depends on `f` alone. Nearly
/// flat and inverted matrices go through [`svd`], where R = U Vᵀ.
pub fn rotation(f: &Mat3) -> Mat3 {
    let size = (f.x_axis.length_squared() + f.y_axis.length_squared() + f.z_axis.length_squared()) / 3.0;
    let volume = f.x_axis.cross(f.y_axis).dot(f.z_axis);
    // Squares, to save a root: volume² against size⁶ times the square of the limit.
    if volume > 0.0 && volume * volume > NEARLY_FLAT * NEARLY_FLAT * size * size * size {
        let mut r = *f;
        for _ in 0..POLAR_STEPS {
            let cof = cofactor(&r);
            let half = 0.5 / r.x_axis.dot(cof.x_axis);
            let next = r * 0.5 + cof * half;
            let step = next - r;
            r = next;
            // Quadratic convergence: a step of 1e-8 leaves an error of 1e-16.
            let moved =
                step.x_axis.length_squared() + step.y_axis.length_squared() + step.z_axis.length_squared();
            if moved < 1e-16 {
                return r;
            }
        }
    }
    let svd = svd(f);
    svd.u * svd.v.transpose()
}

/// The cofactor matrix cof F = det F · F⁻ᵀ = ∂ det F / ∂F, without a division.
pub fn cofactor(f: &Mat3) -> Mat3 {
    let (a, b, c) = (f.x_axis, f.y_axis, f.z_axis);
    Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b))
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, in no particular order.
pub fn eigen_symmetric(a: &Mat3) -> (Vec3, Mat3) {
    let mut a = *a;
    let mut q = Mat3::IDENTITY;
    for _ in 0..SWEEPS {
        let mut settled = true;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(j)[i];
            let size = a.col(i)[i].abs().max(a.col(j)[j].abs());
            if off.abs() > f64::EPSILON * f64::EPSILON * size && off.abs() > NOISE {
                settled = false;
                let (c, s) = jacobi(a.col(j)[j] - a.col(i)[i], 2.0 * off);
                let mut g = Mat3::IDENTITY;
                g.col_mut(i)[i] = c;
                g.col_mut(j)[j] = c;
                g.col_mut(j)[i] = s;
                g.col_mut(i)[j] = -s;
                a = g.transpose() * a * g;
                q *= g;
                // Rounding leaves a trace of the entry that was to vanish.
                a.col_mut(i)[j] = 0.0;
                a.col_mut(j)[i] = 0.0;
            }
        }
        if settled {
            break;
        }
    }
    (Vec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z), q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn largest(m: &Mat3) -> f64 {
        m.to_cols_array().iter().fold(0.0, |a: f64, x| a.max(x.abs()))
    }

    /// F = U diag(s) Vᵀ relative to the size of F, proper rotations, order and sign of the values.
    fn check(f: &Mat3) {
        let Svd { u, s, v } = svd(f);
        let size = largest(f);
        let back = u * Mat3::from_diagonal(s) * v.transpose();
        assert!(largest(&(back - *f)) <= 5e-15 * size, "{f:?}: {:e}", largest(&(back - *f)) / size);
        for r in [u, v, rotation(f)] {
            assert!(largest(&(r * r.transpose() - Mat3::IDENTITY)) < 5e-15, "{f:?}: {r:?}");
            assert!((r.determinant() - 1.0).abs() < 5e-15, "{f:?}: {r:?}");
        }
        let slack = 1e-15 * size;
        assert!(s.x >= s.y - slack && s.y >= s.z.abs() - slack && s.y >= 0.0, "{f:?}: {s:?}");
        // R is the nearest rotation: RᵀF is symmetric with tr(RᵀF) = s₁ + s₂ + s₃.
        let stretch = rotation(f).transpose() * *f;
        assert!(largest(&(stretch - stretch.transpose())) <= 1e-13 * size, "{f:?}: {stretch:?}");
        let trace = stretch.x_axis.x + stretch.y_axis.y + stretch.z_axis.z;
        assert!((trace - s.element_sum()).abs() <= 2e-14 * size, "{f:?}: {trace} and {s:?}");
    }

    #[test]
    fn degenerate_matrices_by_name() {
        let a = Vec3::new(0.3, -1.2, 0.7);
        let b = Vec3::new(2.0, 0.1, -0.4);
        for f in [
            Mat3::ZERO,
            Mat3::IDENTITY,
            -Mat3::IDENTITY,
            Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0)),
            Mat3::from_diagonal(Vec3::new(0.0, 0.0, 3.0)),
            Mat3::from_diagonal(Vec3::new(1e-12, 1.0, 1e12)),
            Mat3::from_diagonal(Vec3::new(1e-200, 1e-100, 1.0)),
            Mat3::from_diagonal(Vec3::new(0.5, 0.5, 0.0)),
            Mat3::from_cols(b, a * 1e-70, (a + b) * 1e-75),
            Mat3::from_cols(a * 1e-81, b, (a - b) * 1e-81),
            Mat3::from_cols(a, a, a),
            Mat3::from_cols(a, b, a + b),
            Mat3::from_cols(a, b, a + b * 1e-13),
            Mat3::from_cols(a * 1e150, b * 1e150, a.cross(b) * 1e150),
            Mat3::from_cols(a * 1e-310, b * 1e-310, a.cross(b) * 1e-310),
            Mat3::from_cols(Vec3::ZERO, Vec3::ZERO, b),
        ] {
            let size = largest(&f);
            if size < 1e-300 && size > 0.0 {
                // Subnormal entries have few digits of their own; finite and proper is what counts.
                let Svd { u, s, v } = svd(&f);
                assert!(s.is_finite() && (u.determinant() * v.determinant() - 1.0).abs() < 1e-14);
            } else {
                check(&f);
            }
        }
        assert!(svd(&Mat3::from_cols(a, b, Vec3::NAN)).s.is_nan());
    }

    #[test]
    fn side_by_side_is_one_by_one() {
        let f = |k: usize| {
            Mat3::from_cols_array(&std::array::from_fn(|i| (k as f64 * 1.7 + i as f64 * 2.3).sin()))
        };
        let flat = Mat3::from_cols(Vec3::X, Vec3::X, Vec3::Z);
        for four in [[f(0), f(1), f(2), f(3)], [f(4), Mat3::ZERO, flat * 1e-200, Mat3::IDENTITY]] {
            assert_eq!(svds(&four), four.map(|f| svd(&f)));
        }
        let broken = svds(&[f(5), Mat3::NAN]);
        assert!(broken[0] == svd(&f(5)) && broken[1].s.is_nan());
    }

    #[test]
    fn an_inverted_element_has_one_negative_stretch() {
        let f = Mat3::from_rotation_x(0.4) * Mat3::from_diagonal(Vec3::new(1.1, 0.9, -0.3));
        assert!((svd(&f).s - Vec3::new(1.1, 0.9, -0.3)).length() < 1e-15);
    }

    #[test]
    fn eigenvalues_of_a_symmetric_matrix() {
        for k in 0..50 {
            let t = k as f64;
            let f = Mat3::from_cols_array(&std::array::from_fn(|i| (t * 1.3 + i as f64 * 2.1).sin()));
            let a = f + f.transpose();
            let (w, q) = eigen_symmetric(&a);
            let back = q * Mat3::from_diagonal(w) * q.transpose();
            assert!(largest(&(back - a)) < 1e-14, "{a:?}");
            assert!(largest(&(q * q.transpose() - Mat3::IDENTITY)) < 1e-14);
        }
    }

    proptest! {
        #[test]
        fn random_matrices(x in prop::array::uniform9(-1.0..1.0f64)) {
            check(&Mat3::from_cols_array(&x));
        }

        #[test]
        fn nearly_flat_and_badly_scaled(
            x in prop::array::uniform9(-1.0..1.0f64),
            y in prop::array::uniform9(-1.0..1.0f64),
            e in prop::array::uniform3(-30.0..10.0f64),
        ) {
            let (p, q) = (svd(&Mat3::from_cols_array(&x)), svd(&Mat3::from_cols_array(&y)));
            let s = Vec3::new(e[0].exp2(), e[1].exp2(), -e[2].exp2());
            check(&(p.u * Mat3::from_diagonal(s) * q.v.transpose()));
        }
    }
}
