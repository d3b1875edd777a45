//! The one-shot contact solve of the surrogate dynamics (Alg. 2) and its friction-cone operators (26).
//!
//! With a surrogate Delassus block γ I every contact is solved alone: λ* = −(η + φ)/γ, then projected.
//! The strict operator gives the solution of Signorini and Coulomb (Prop. 4; with elliptic cones that of maximal
//! dissipation, Prop. 6); the proximal one that of the convex relaxation, which slides with u_n = μ|u_t| (Prop. 5).

use crate::contact::law::cone;
use crate::contact::law::coulomb::solve_block;
use crate::contact::{Friction, Law};
use crate::linalg::{Mat3, Vec3};

/// How a tentative impulse is brought into the cone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// Normal part first, then the nearest point of the cross-section: Coulomb's law.
    #[default]
    Strict,
    /// The nearest point of the cone: the convex relaxation.
    Proximal,
}

/// ProjectFC of Alg. 2.
#[inline]
pub fn project(operator: Operator, x: Vec3, friction: Friction) -> Vec3 {
    match (operator, friction) {
        (Operator::Strict, Friction::Isotropic(mu)) => cone::project_strict(x, mu),
        (Operator::Proximal, Friction::Isotropic(mu)) => cone::project(x, mu),
        (Operator::Strict, Friction::Elliptic(a, b)) => {
            let n = x.x.max(0.0);
            let (t, _) = project_ellipse([x.y, x.z], [a * n, b * n]);
            Vec3::new(n, t[0], t[1])
        }
        (Operator::Proximal, Friction::Elliptic(a, b)) => project_elliptic_cone(x, [a, b]),
    }
}

/// The impulse that solves one contact or block of rows of the surrogate dynamics: `u = (γ + Ω) λ + free`, where `free`
/// is η + φ and Ω the compliance of its rows (37) [1/kg].
#[inline]
pub fn one_shot(operator: Operator, law: Law, gamma: f64, omega: Vec3, free: Vec3) -> Vec3 {
    match law {
        // Nearly all of them, in the innermost loop.
        Law::Contact(Friction::Isotropic(mu)) if operator == Operator::Strict && omega == Vec3::ZERO => {
            if free.x >= 0.0 {
                Vec3::ZERO
            } else {
                cone::project_strict(-free / gamma, mu)
            }
        }
        _ => any_shot(operator, law, gamma, omega, free),
    }
}

fn any_shot(operator: Operator, law: Law, gamma: f64, omega: Vec3, free: Vec3) -> Vec3 {
    let g = omega + gamma;
    match law {
        // Rows know nothing of each other.
        Law::Rows(b) => b.clamp(-free / g),
        // It opens.
        Law::Contact(_) if operator == Operator::Strict && free.x >= 0.0 => Vec3::ZERO,
        Law::Contact(friction) if g.y == g.x && g.z == g.x => project(operator, -free / g.x, friction),
        // Axes of different compliance are coupled by the cone.
        Law::Contact(friction) => {
            let k = friction.stretch();
            let block = Mat3::from_diagonal(g * k * k);
            k * solve_block(law.round(), &block, k * free, Vec3::ZERO, &mut 0.0)
        }
    }
}

/// The impulse of an invertible contact from the velocity that it left (37): λ = SOL(J v + φ, Ω).
#[doc(alias = "inverse dynamics")]
pub fn inverse_contact(operator: Operator, law: Law, omega: Vec3, u: Vec3) -> Vec3 {
    one_shot(operator, law, 0.0, omega, u)
}

/// Newton on the multiplier converges from below, because the function is convex and falls.
const MOST_STEPS: usize = 60;

/// The nearest point of an ellipse with these half axes, and the multiplier τ of its boundary:
/// t_i = x_i s_i²/(s_i² + τ). Zero inside.
fn project_ellipse(x: [f64; 2], s: [f64; 2]) -> ([f64; 2], f64) {
    if s[0] <= 0.0 || s[1] <= 0.0 {
        return ([0.0; 2], f64::INFINITY);
    }
    if (x[0] / s[0]).powi(2) + (x[1] / s[1]).powi(2) <= 1.0 {
        return (x, 0.0);
    }
    // F(τ) = Σ (s_i x_i/(s_i² + τ))² − 1 has its root right of where one term alone is one.
    let mut tau = (0..2).map(|i| s[i] * (x[i].abs() - s[i])).fold(0.0, f64::max);
    for _ in 0..MOST_STEPS {
        let (mut f, mut slope) = (-1.0, 0.0);
        for i in 0..2 {
            let d = s[i] * s[i] + tau;
            let part = (s[i] * x[i] / d).powi(2);
            f += part;
            slope -= 2.0 * part / d;
        }
        let step = -f / slope;
        tau += step;
        if step.is_nan() || step.abs() <= 1e-16 * tau {
            break;
        }
    }
    let at = |i: usize| x[i] * s[i] * s[i] / (s[i] * s[i] + tau);
    ([at(0), at(1)], tau)
}

/// Bisection halves the interval this often.
const HALVINGS: usize = 200;

/// The nearest point of the cone (λ₁/μ₁)² + (λ₂/μ₂)² ≤ λ_n².
fn project_elliptic_cone(x: Vec3, mu: [f64; 2]) -> Vec3 {
    let reach = (mu[0] * x.y).hypot(mu[1] * x.z);
    if (x.y / mu[0]).hypot(x.z / mu[1]) <= x.x {
        return x;
    }
    if reach <= -x.x {
        return Vec3::ZERO;
    }
    // The distance is convex in the height n of the cross-section; its slope is n − x_n − τ(n) n with the multiplier of
    // the ellipse in units of n².
    let slope = |n: f64| {
        let (_, tau) = project_ellipse([x.y, x.z], [mu[0] * n, mu[1] * n]);
        n - x.x - tau / n
    };
    let (mut low, mut high) = (0.0, x.x.max(0.0) + reach);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if slope(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (t, _) = project_ellipse([x.y, x.z], [mu[0] * high, mu[1] * high]);
    Vec3::new(high, t[0], t[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::law::RoundLaw;
    use proptest::prelude::*;

    fn vec() -> impl Strategy<Value = Vec3> {
        (-5.0..5.0, -5.0..5.0, -5.0..5.0).prop_map(|(a, b, c)| Vec3::new(a, b, c))
    }

    /// Points of the elliptic cross-section at height `n`, boundary and inside.
    fn section(n: f64, mu: [f64; 2]) -> impl Iterator<Item = Vec3> {
        (0..3600).map(move |k| {
            let (angle, r) = (k as f64 * std::f64::consts::TAU / 720.0, n * (1 + k / 720) as f64 / 5.0);
            Vec3::new(n, mu[0] * r * angle.cos(), mu[1] * r * angle.sin())
        })
    }

    proptest! {
        /// Prop. 4: the strict operator solves the surrogate contact, and it is the only solution (the local solve
        /// finds the same by another way).
        #[test]
        fn the_strict_operator_is_the_solution_of_coulombs_law(free in vec(), gamma in 0.1..4.0f64, mu in 0.0..3.0f64) {
            let law = Law::Contact(Friction::Isotropic(mu));
            let lambda = one_shot(Operator::Strict, law, gamma, Vec3::ZERO, free);
            let u = gamma * lambda + free;
            prop_assert!(cone::natural_map(lambda, u, mu, gamma).length() < 1e-12);
            let block = Mat3::from_diagonal(Vec3::splat(gamma));
            let other = solve_block(RoundLaw::Cone(mu), &block, free, Vec3::ZERO, &mut 0.0);
            prop_assert!((lambda - other).length() < 1e-9 * (1.0 + lambda.length()), "{lambda} {other}");
        }

        /// Prop. 5: the proximal operator obeys the relaxed conditions (28): sliding contacts glide with u_n = μ|u_t|.
        #[test]
        fn the_proximal_operator_glides(free in vec(), gamma in 0.1..4.0f64, mu in 0.05..3.0f64) {
            let lambda = one_shot(Operator::Proximal, Law::Contact(Friction::Isotropic(mu)), gamma, Vec3::ZERO, free);
            let u = gamma * lambda + free;
            let slip = cone::tangent_norm(u);
            if lambda.x > 1e-9 {
                prop_assert!((u.x - mu * slip).abs() < 1e-9, "{u}");
            } else {
                prop_assert!(u.x >= mu * slip - 1e-9, "{u}");
            }
        }

        /// Prop. 6: with an elliptic cone the strict operator is the most dissipative point of the section, which is the
        /// nearest one; brute force over the section finds none nearer.
        #[test]
        fn the_elliptic_operator_is_the_nearest_point(x in vec(), a in 0.05..2.0f64, b in 0.05..2.0f64) {
            let p = project(Operator::Strict, x, Friction::Elliptic(a, b));
            prop_assert!(p.x == x.x.max(0.0));
            prop_assert!((p.y / a).hypot(p.z / b) <= p.x * (1.0 + 1e-12));
            let mine = (p - x).length();
            for q in section(p.x, [a, b]) {
                prop_assert!(mine <= (q - x).length() + 1e-9);
            }
            // Coulomb's law in stretched coordinates says the same.
            let law = Law::Contact(Friction::Elliptic(a, b));
            let lambda = one_shot(Operator::Strict, law, 0.7, Vec3::ZERO, -0.7 * x);
            let (k, u) = (law.stretch(), 0.7 * (lambda - x));
            prop_assert!(law.round().natural_map(lambda / k, u * k, 0.7).length() < 1e-9);
        }

        #[test]
        fn the_proximal_elliptic_operator_is_a_projection(x in vec(), y in vec(), a in 0.05..2.0f64, b in 0.05..2.0f64) {
            let friction = Friction::Elliptic(a, b);
            let (p, z) = (project(Operator::Proximal, x, friction), project(Operator::Proximal, y, friction));
            prop_assert!((p.y / a).hypot(p.z / b) <= p.x + 1e-9);
            prop_assert!((x - p).dot(z - p) < 1e-8, "{}", (x - p).dot(z - p));
        }

        /// Lemma 3: (ξ₁ − ξ₂)·(λ₁ − λ₂) ≥ 0 for the proximal operator, ξ = λ* − λ.
        #[test]
        fn the_proximal_operator_is_monotone(x in vec(), y in vec(), mu in 0.0..3.0f64) {
            let (p, q) = (cone::project(x, mu), cone::project(y, mu));
            prop_assert!(((x - p) - (y - q)).dot(p - q) >= -1e-10);
        }

        /// Invertible contact (37): the impulse is found again from the velocity.
        #[test]
        fn impulses_are_found_again_from_velocities(free in vec(), mu in 0.0..2.0f64, gamma in 0.1..2.0f64, omega in 1e-3..1.0f64) {
            for operator in [Operator::Strict, Operator::Proximal] {
                let law = Law::Contact(Friction::Isotropic(mu));
                let omega = Vec3::splat(omega);
                let lambda = one_shot(operator, law, gamma, omega, free);
                let left = gamma * lambda + free;
                let again = inverse_contact(operator, law, omega, left);
                prop_assert!((again - lambda).length() < 1e-9 * (1.0 + lambda.length()) / omega.x);
            }
        }
    }

    /// Fig. 5: the strict operator is not monotone, so that Lemma 3 has a counter-example.
    #[test]
    fn the_strict_operator_is_not_monotone() {
        let mu = 1.0;
        let (x, y) = (Vec3::new(0.0, 4.0, 0.0), Vec3::new(1.0, 3.0, 0.0));
        let (p, q) = (cone::project_strict(x, mu), cone::project_strict(y, mu));
        assert!(((x - p) - (y - q)).dot(p - q) < 0.0);
    }

    #[test]
    fn axes_of_different_compliance_are_solved_together() {
        let law = Law::Contact(Friction::Elliptic(0.3, 0.8));
        let (omega, free) = (Vec3::new(0.1, 0.7, 0.4), Vec3::new(-2.0, 1.5, -0.6));
        let lambda = one_shot(Operator::Strict, law, 0.5, omega, free);
        let (k, u) = (law.stretch(), (omega + 0.5) * lambda + free);
        assert!(lambda.x > 0.0 && law.round().natural_map(lambda / k, u * k, 0.5).length() < 1e-12);
    }
}
