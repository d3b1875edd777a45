//! NCP functions φ(a, b) = 0 ⇔ 0 ≤ a ⟂ b ≥ 0 and their derivatives (Sec. 4, App. A.1).

use crate::linalg::Real;

/// Which function turns complementarity into an equation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NcpFunction {
    /// min(a, b) (18): an active set, kinks everywhere on a = b.
    #[doc(alias = "min-map")]
    MinimumMap,
    /// a + b − √(a² + b²) (23): smooth but for the origin. The paper's choice.
    #[default]
    #[doc(alias = "FB")]
    FischerBurmeister,
}

/// A value with its derivatives by velocity and by multiplier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ncp<T> {
    /// φ.
    pub value: T,
    /// ∂φ/∂u.
    pub by_u: T,
    /// ∂φ/∂λ.
    pub by_lambda: T,
}

impl NcpFunction {
    /// φ(a, b).
    pub fn value<T: Real>(self, a: T, b: T) -> T {
        match self {
            NcpFunction::MinimumMap => a.smaller(b),
            NcpFunction::FischerBurmeister => fischer_burmeister(a, b),
        }
    }

    /// (α, β) = (∂φ/∂a, ∂φ/∂b).
    pub fn gradient<T: Real>(self, a: T, b: T) -> (T, T) {
        match self {
            // (21), (22): ties are active.
            NcpFunction::MinimumMap if a <= b => (T::ONE, T::ZERO),
            NcpFunction::MinimumMap => (T::ZERO, T::ONE),
            NcpFunction::FischerBurmeister => fischer_burmeister_gradient(a, b),
        }
    }

    /// φ(u, r λ) with its derivatives by u and λ: (93)–(98).
    pub fn scaled<T: Real>(self, u: T, lambda: T, r: T) -> Ncp<T> {
        let b = r * lambda;
        if self == NcpFunction::FischerBurmeister {
            // One root for value and gradient.
            let s = (u * u + b * b).root();
            let (by_u, beta) = gradient_of(u, b, s);
            return Ncp { value: value_of(u, b, s), by_u, by_lambda: beta * r };
        }
        let (by_u, beta) = self.gradient(u, b);
        Ncp { value: self.value(u, b), by_u, by_lambda: beta * r }
    }

    /// The same for a multiplier within [lo, hi], `u ∈ −N_[lo,hi](λ)`: φ(−φ(−u, r(hi − λ)), r(λ − lo)). Infinite
    /// bounds leave `u` itself.
    pub fn bounded<T: Real>(self, u: T, lambda: T, (lo, hi): (T, T), r: T) -> Ncp<T> {
        let mut row = Ncp { value: u, by_u: T::ONE, by_lambda: T::ZERO };
        if hi.is_number() {
            let b = r * (hi - lambda);
            let (alpha, beta) = self.gradient(-u, b);
            row = Ncp { value: -self.value(-u, b), by_u: alpha, by_lambda: beta * r };
        }
        if lo.is_number() {
            let b = r * (lambda - lo);
            let (alpha, beta) = self.gradient(row.value, b);
            row = Ncp {
                value: self.value(row.value, b),
                by_u: alpha * row.by_u,
                by_lambda: alpha * row.by_lambda + beta * r,
            };
        }
        row
    }
}

/// φ(a, b) = a + b − √(a² + b²) (23), written without cancellation where both are positive.
#[doc(alias = "Fischer-Burmeister")]
pub fn fischer_burmeister<T: Real>(a: T, b: T) -> T {
    value_of(a, b, (a * a + b * b).root())
}

/// φ(a, b) where s = √(a² + b²) is known.
pub(super) fn value_of<T: Real>(a: T, b: T, s: T) -> T {
    // (a + b − s)(a + b + s) = 2ab.
    if a > T::ZERO && b > T::ZERO { T::of(2.0) * a * b / (a + b + s) } else { a + b - s }
}

/// (1 − a/s, 1 − b/s), s = √(a² + b²) (24), (25); (0, 1) at the origin (26), (27).
pub fn fischer_burmeister_gradient<T: Real>(a: T, b: T) -> (T, T) {
    gradient_of(a, b, (a * a + b * b).root())
}

fn gradient_of<T: Real>(a: T, b: T, s: T) -> (T, T) {
    if s > T::ZERO { (T::ONE - a / s, T::ONE - b / s) } else { (T::ZERO, T::ONE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [NcpFunction; 2] = [NcpFunction::MinimumMap, NcpFunction::FischerBurmeister];

    #[test]
    fn roots_are_complementary_pairs() {
        for f in BOTH {
            for (a, b) in [(0.0, 3.0), (2.0, 0.0), (0.0, 0.0), (1e-9, 0.0)] {
                assert_eq!(f.value(a, b), 0.0, "{f:?} {a} {b}");
            }
            for (a, b) in [(1.0, 1.0), (-1.0, 0.0), (0.0, -1e-3), (-2.0, 5.0), (1e-12, 1.0)] {
                assert_ne!(f.value(a, b), 0.0, "{f:?} {a} {b}");
            }
        }
        // No cancellation: 2ab/(a + b + s) → a.
        assert!((fischer_burmeister(1e-12, 1.0f64) / 1e-12 - 1.0).abs() < 1e-11);
    }

    #[test]
    fn gradients_are_finite_differences_away_from_kinks() {
        let d = 1e-6;
        for f in BOTH {
            for (a, b) in [(0.3f64, 1.1f64), (-0.4, 0.2), (0.7, -0.9), (-1.0, -2.0)] {
                let (alpha, beta) = f.gradient(a, b);
                let by_a = (f.value(a + d, b) - f.value(a - d, b)) / (2.0 * d);
                let by_b = (f.value(a, b + d) - f.value(a, b - d)) / (2.0 * d);
                assert!((alpha - by_a).abs() < 1e-8 && (beta - by_b).abs() < 1e-8, "{f:?} {a} {b}");
            }
        }
    }

    #[test]
    fn at_kinks_the_choice_lies_in_the_generalised_jacobian() {
        // (26), (27), and the tie of the minimum map, which counts as active.
        assert_eq!(fischer_burmeister_gradient(0.0, 0.0), (0.0, 1.0));
        assert_eq!(NcpFunction::MinimumMap.gradient(0.5, 0.5), (1.0, 0.0));
        // N14: what a penetrating contact without force sees.
        assert_eq!(fischer_burmeister_gradient(-1.0, 0.0), (2.0, 1.0));
        // Every choice of Fischer–Burmeister has (1 − α)² + (1 − β)² ≤ 1.
        for (a, b) in [(0.0, 0.0), (1e-300, 0.0), (-3.0, 4.0)] {
            let (alpha, beta) = fischer_burmeister_gradient::<f64>(a, b);
            assert!((1.0 - alpha).powi(2) + (1.0 - beta).powi(2) <= 1.0 + 1e-15);
        }
    }

    #[test]
    fn bounded_rows_vanish_where_their_law_holds_and_match_finite_differences() {
        let inf = f64::INFINITY;
        let (d, r) = (1e-6, 0.7f64);
        let holds = [
            ((-inf, inf), 0.0, 5.0),
            ((0.0, inf), 0.0, 5.0),
            ((0.0, inf), 2.0, 0.0),
            ((-2.0, 2.0), 0.0, 1.0),
            ((-2.0, 2.0), 3.0, -2.0),
            ((-2.0, 2.0), -3.0, 2.0),
            ((-inf, 1.0), -3.0, 1.0),
        ];
        let broken = [((0.0, inf), -1e-3, 0.0), ((-2.0, 2.0), 1e-3, 2.0), ((-inf, inf), 1e-3, 0.0)];
        for f in BOTH {
            for (bounds, u, l) in holds {
                assert!(f.bounded(u, l, bounds, r).value.abs() < 1e-15, "{f:?} {bounds:?} {u} {l}");
            }
            for (bounds, u, l) in broken {
                assert!(f.bounded(u, l, bounds, r).value != 0.0, "{f:?} {bounds:?} {u} {l}");
            }
            for (bounds, u, l) in [((-2.0, 2.0), 0.3, 0.4), ((-2.0, 2.0), -0.9, 1.7), ((0.0, inf), 0.2, 0.9)]
            {
                let row = f.bounded(u, l, bounds, r);
                let value = |u, l| f.bounded(u, l, bounds, r).value;
                let by_u = (value(u + d, l) - value(u - d, l)) / (2.0 * d);
                let by_lambda = (value(u, l + d) - value(u, l - d)) / (2.0 * d);
                assert!((row.by_u - by_u).abs() < 1e-8 && (row.by_lambda - by_lambda).abs() < 1e-8);
            }
        }
    }

    /// Fig. 9: c = λ/4 − 1/8. With r = 1/4, the slope of c by λ (correction N9), the minimum map is one line, and
    /// Newton needs one step from anywhere; with r = 1 it has a second branch.
    #[test]
    fn the_right_scale_makes_the_minimum_map_a_line() {
        let step = |lambda: f64, r: f64| {
            let row = NcpFunction::MinimumMap.scaled(lambda / 4.0 - 0.125, lambda, r);
            lambda - row.value / (row.by_u * 0.25 + row.by_lambda)
        };
        for start in [-40.0, -2.0, 0.1, 0.5, 3.0, 40.0] {
            assert_eq!(step(start, 0.25), 0.5, "from {start}");
        }
        assert_eq!(step(-2.0, 1.0), 0.0, "the other branch leads to λ = 0 first");
    }
}
