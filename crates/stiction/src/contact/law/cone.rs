//! Coulomb's cone, isotropic or elliptic, in contact frames (normal first).
//!
//! An elliptic cone is a round one in stretched coordinates: with `s = λ_t / k`, `w = k u_t` (component-wise,
//! `k = (μ₁, μ₂)/μ̄`, `μ̄ = √(μ₁μ₂)`) power is unchanged and the law of maximal dissipation becomes the
//! isotropic law with μ̄. Solvers scale the tangent rows once and know only round cones.

use crate::linalg::Vec3;

/// Friction of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// Round cone: |λ_t| ≤ μ λ_n.
    Isotropic(f64),
    /// Elliptic cone: (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_n². Both coefficients are positive.
    Elliptic(f64, f64),
}

impl Friction {
    /// The coefficient of the round cone in stretched coordinates: μ, or √(μ₁ μ₂).
    pub fn mean(self) -> f64 {
        match self {
            Friction::Isotropic(mu) => mu,
            Friction::Elliptic(a, b) => (a * b).sqrt(),
        }
    }

    /// Factors of the normal and tangent rows that make the cone round: (1, μ₁/μ̄, μ₂/μ̄).
    pub fn stretch(self) -> Vec3 {
        match self {
            Friction::Isotropic(_) => Vec3::ONE,
            Friction::Elliptic(a, b) => {
                let m = self.mean();
                Vec3::new(1.0, a / m, b / m)
            }
        }
    }
}

/// Length of the tangential part, also where its square overflows. Below 1e-154 the square underflows, and the length is off by at
/// most as much.
#[inline]
pub fn tangent_norm(x: Vec3) -> f64 {
    let square = x.y * x.y + x.z * x.z;
    if square < f64::INFINITY { square.sqrt() } else { far_norm(x) }
}

/// The same where the square overflows.
#[cold]
#[inline(never)]
fn far_norm(x: Vec3) -> f64 {
    x.y.hypot(x.z)
}

/// By how much `λ` leaves the round cone: max(0, |λ_t| − μ λ_n), and −λ_n where that is negative.
pub fn excess(lambda: Vec3, mu: f64) -> f64 {
    let pulls = if crate::mutant::on("yardstick-pull") { 0.0 } else { -lambda.x };
    (tangent_norm(lambda) - mu * lambda.x.max(0.0)).max(pulls).max(0.0)
}

/// Euclidean projection on the round cone `|λ_t| ≤ μ λ_n` (COND's proximal operator, Eq. 26).
#[doc(alias = "proximal operator")]
#[inline]
pub fn project(x: Vec3, mu: f64) -> Vec3 {
    let t = tangent_norm(x);
    // The sign is asked for, too: with μ = 0 and t = 0 a pulling normal satisfies t ≤ μ x_n.
    if (x.x >= 0.0 || crate::mutant::on("glue")) && t <= mu * x.x && t < f64::INFINITY {
        x
    } else if mu * t <= -x.x {
        Vec3::ZERO
    } else {
        let steep = 1.0 + mu * mu;
        if steep * (t + x.x.abs()) < f64::INFINITY {
            let n = (x.x + mu * t) / steep;
            // t > 0 here: t = 0 falls into one of the two cases above.
            let s = mu * n / t;
            Vec3::new(n, s * x.y, s * x.z)
        } else {
            project_scaled(x, mu)
        }
    }
}

/// The same for numbers whose sums and products overflow: P(x) = |x| P(x/|x|), along the unit vector (1, μ)/√(1 + μ²) of the
/// cone's edge.
#[cold]
#[inline(never)]
fn project_scaled(x: Vec3, mu: f64) -> Vec3 {
    let size = x.abs().max_element();
    let (w, edge) = (x / size, 1.0_f64.hypot(mu));
    let t = tangent_norm(w);
    let (along_n, along_t) = (1.0 / edge, if mu > 1.0 { 1.0 / (1.0 / mu).hypot(1.0) } else { mu / edge });
    let reach = along_n * w.x + along_t * t;
    if w.x >= 0.0 && along_n * t <= along_t * w.x {
        x
    } else if reach <= 0.0 {
        Vec3::ZERO
    } else {
        let s = reach * along_t / t;
        Vec3::new(reach * along_n, s * w.y, s * w.z) * size
    }
}

/// Strict projection: clamps the normal part, then the tangential part radially to μ λ_n.
#[doc(alias = "strict operator")]
#[inline]
pub fn project_strict(x: Vec3, mu: f64) -> Vec3 {
    let n = x.x.max(0.0);
    let t = tangent_norm(x);
    let limit = mu * n;
    let s = if t > limit { limit / t } else { 1.0 };
    Vec3::new(n, s * x.y, s * x.z)
}

/// De Saxcé's shift: û = u + μ |u_t| e_n.
#[doc(alias = "de Saxcé")]
#[inline]
pub fn de_saxce(u: Vec3, mu: f64) -> Vec3 {
    let shift = if crate::mutant::on("no-shift") { 0.0 } else { mu * tangent_norm(u) };
    let along = if crate::mutant::on("friction-sign") { -1.0 } else { 1.0 };
    Vec3::new(u.x + shift, along * u.y, along * u.z)
}

/// Natural map λ − P_K(λ − û/g): zero exactly when Signorini and Coulomb hold. `g` [1/kg] is the scale of the
/// contact's Delassus block, so that the result times `g` is a velocity.
#[inline]
pub fn natural_map(lambda: Vec3, u: Vec3, mu: f64, g: f64) -> Vec3 {
    lambda - project(lambda - de_saxce(u, mu) / g, mu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vec() -> impl Strategy<Value = Vec3> {
        (-5.0..5.0, -5.0..5.0, -5.0..5.0).prop_map(|(a, b, c)| Vec3::new(a, b, c))
    }

    proptest! {
        #[test]
        fn projections_land_in_the_cone_and_stay(x in vec(), mu in 0.0..3.0f64) {
            for p in [project(x, mu), project_strict(x, mu)] {
                prop_assert!(excess(p, mu) < 1e-12);
            }
            prop_assert!((project(project(x, mu), mu) - project(x, mu)).length() < 1e-12);
        }

        #[test]
        fn projection_is_the_nearest_point(x in vec(), y in vec(), mu in 0.0..3.0f64) {
            // x − P(x) is normal to the cone: ⟨x − P x, z − P x⟩ ≤ 0 for every z of the cone.
            let (p, z) = (project(x, mu), project(y, mu));
            prop_assert!((x - p).dot(z - p) < 1e-10);
            prop_assert!((project(x, mu) - project(y, mu)).length() <= (x - y).length() + 1e-12);
        }

        #[test]
        fn natural_map_vanishes_on_coulomb_states(n in 0.0..5.0f64, s in 0.0..5.0f64, a in 0.0..6.3f64, mu in 0.0..2.0f64, g in 0.1..9.0f64) {
            // Slip: velocity s along a, friction μ n against it.
            let u = Vec3::new(0.0, s * a.cos(), s * a.sin());
            let lambda = Vec3::new(n, -mu * n * a.cos(), -mu * n * a.sin());
            prop_assert!(natural_map(lambda, u, mu, g).length() < 1e-12);
            // Open contact, and stick inside the cone.
            prop_assert!(natural_map(Vec3::ZERO, Vec3::new(n, u.y, u.z), mu, g).length() < 1e-12);
            prop_assert!(natural_map(0.7 * lambda + 0.3 * Vec3::X * n, Vec3::ZERO, mu, g).length() < 1e-12);
        }
    }

    #[test]
    fn frictionless_cones_are_half_lines() {
        let tiny = f64::from_bits(1);
        for n in [-f64::MAX, -1.0, -tiny, -0.0, 0.0, tiny, 1.0, f64::MAX] {
            for t in [0.0, -0.0, tiny, -1e-200, 1.0, -1e150] {
                let x = Vec3::new(n, t, 0.0);
                for p in [project(x, 0.0), project_strict(x, 0.0)] {
                    // A tangent whose square underflows is none; everything else is cut off.
                    let cut = if tangent_norm(x) > 0.0 { 0.0 } else { t };
                    assert!(p.x == n.max(0.0) && (p.y == 0.0 || p.y == cut), "{x} → {p}");
                }
                assert!(excess(x, 0.0) >= (-n).max(0.0), "{x}");
            }
        }
    }

    /// Projection and norm scale with their argument, from denormal numbers to the largest; where squares underflow up to 1e-154.
    #[test]
    fn projections_of_any_size_are_those_of_ordinary_size() {
        const UNDERFLOW: f64 = 1e-154;
        for mu in [0.0, 1e-9, 0.5, 3.0, 1e160] {
            for x in [Vec3::new(0.3, 0.8, -0.6), Vec3::new(-0.1, 0.8, -0.6), Vec3::new(0.0, 0.6, 0.8)] {
                for scale in [1e-320, 1e-300, 1e-170, 1e-154, 1.0, 1e153, 1e155, 1e200, 1e307] {
                    let p = project(scale * x, mu);
                    let expected = scale * project(x, mu);
                    let off = (p - expected).abs().max_element();
                    assert!(off <= 1e-15 * scale + UNDERFLOW, "μ {mu}, {scale:e} · {x}: {p} for {expected}");
                    let (n, long) = (tangent_norm(scale * x), scale * tangent_norm(x));
                    assert!((n - long).abs() <= 1e-15 * long + UNDERFLOW, "{n} {long}");
                    assert!(project_strict(scale * x, mu).is_finite());
                }
            }
            for x in [Vec3::new(-1.0, 1.0, 0.0), Vec3::new(0.0, 1.0, -1.0), Vec3::ZERO] {
                assert!(project(f64::MAX * x, mu).is_finite(), "μ {mu}: {x}");
                assert!(natural_map(1e307 * x, Vec3::Y, mu, 1.0).is_finite(), "μ {mu}: {x}");
            }
        }
    }

    #[test]
    fn nothing_that_pulls_solves_an_open_or_closed_contact() {
        for mu in [0.0, 1e-300, 1e-9, 0.5] {
            for u in [Vec3::ZERO, Vec3::X, -Vec3::X, Vec3::Y] {
                let pulls = Vec3::new(-1.0, 0.0, 0.0);
                assert!(natural_map(pulls, u, mu, 1.0).length() > 0.5, "μ {mu}, u {u}");
                assert!(excess(pulls, mu) == 1.0);
            }
        }
    }

    #[test]
    fn numbers_that_are_not_finite_stay_visible() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for mu in [0.0, 0.5] {
                for x in [Vec3::new(bad, 1.0, 0.0), Vec3::new(1.0, bad, 0.0)] {
                    assert!(!natural_map(x, Vec3::ZERO, mu, 1.0).is_finite(), "μ {mu}, λ {x}");
                    // A contact may open infinitely fast; the momentum balance tells that.
                    assert!(!bad.is_nan() || natural_map(Vec3::ZERO, x, mu, 1.0).is_nan(), "μ {mu}, u {x}");
                }
            }
        }
    }
}
