//! The friction compliance W of (35): φ_f = u_t + W λ_f (36), with W held while differentiating (37).
//!
//! With v = |u_t|, a = r (μλ_n − |λ_f|) and s = √(v² + a²):
//!
//! | function | W | |
//! |---|---|---|
//! | minimum map | max(0, v − a)/(μλ_n), 0 where v ≤ a | (105) |
//! | Fischer–Burmeister | r (s − a)/(v + r μλ_n − s) | (104), corrected |
//!
//! Correction N4: (102) and (104) print v² where v must stand; (35) with (100) and (101) says so. Correction N5: the
//! denominator vanishes at |λ_f| ≥ 2 μλ_n and is negative beyond, so λ_f is taken back to the cone before W is
//! evaluated ([`ConeGuard::Project`]; [`ConeGuard::Pole`] does no more than keep W positive). At v = |λ_f| = 0 it is 0/0, with the limit 0.

use super::ncp::{NcpFunction, value_of};
use crate::linalg::Real;

/// What is done about friction outside of the cone, where Fischer–Burmeister's W has a pole (correction N5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConeGuard {
    /// W as it stands, negative beyond its pole.
    Off,
    /// W as it stands up to its pole, and beyond it that of the minimum map (105), which is never negative.
    Pole,
    /// W of the point of the cone nearest to λ_f.
    #[default]
    Project,
}

/// W [1/kg] from the slip speed `v` [m/s], |λ_f| and μλ_n > 0 [N·s], and r [1/kg].
pub fn friction_compliance<T: Real>(ncp: NcpFunction, guard: ConeGuard, v: T, force: T, limit: T, r: T) -> T {
    let force = if guard == ConeGuard::Project { force.smaller(limit) } else { force };
    let a = r * (limit - force);
    match ncp {
        NcpFunction::MinimumMap if v <= a => T::ZERO,
        NcpFunction::MinimumMap => (v - a) / limit,
        NcpFunction::FischerBurmeister => {
            let s = (v * v + a * a).root();
            // s − a without cancellation inside the cone; |λ_f| + ψ/r likewise.
            let above = if a > T::ZERO { v * v / (s + a) } else { s - a };
            let below = force + value_of(v, a, s) / r;
            if above == T::ZERO {
                T::ZERO
            } else if guard == ConeGuard::Pole && below <= T::ZERO {
                (v - a) / limit
            } else {
                above / below
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NcpFunction::{FischerBurmeister, MinimumMap};

    /// W by its definition (35) with the scale r: (v − ψ)/(|λ_f| + ψ/r).
    fn by_definition(ncp: NcpFunction, v: f64, force: f64, limit: f64, r: f64) -> f64 {
        let psi = ncp.value(v, r * (limit - force));
        (v - psi) / (force + psi / r)
    }

    /// (104) as printed, with the squares on v.
    fn as_printed(v: f64, force: f64, limit: f64, r: f64) -> f64 {
        let s = (v * v + (r * (limit - force)).powi(2)).sqrt();
        r * (s - r * (limit - force)) / (v * v + r * limit - s)
    }

    #[test]
    fn n4_the_closed_form_is_the_definition_and_the_printed_one_is_not() {
        for (v, force, limit, r) in [(0.5, 3.0, 5.0, 0.7), (2.0, 5.0, 5.0, 0.01), (0.1, 0.0, 2.0, 3.0)] {
            for ncp in [MinimumMap, FischerBurmeister] {
                let w = friction_compliance(ncp, ConeGuard::Off, v, force, limit, r);
                assert!((w - by_definition(ncp, v, force, limit, r)).abs() < 1e-13, "{ncp:?} {v} {force}");
            }
        }
        let w = |v: f64, force, r| friction_compliance(FischerBurmeister, ConeGuard::Off, v, force, 5.0, r);
        assert!((w(0.5, 3.0, 0.7) - 0.0241207).abs() < 1e-7);
        assert!((as_printed(0.5, 3.0, 5.0, 0.7) - 0.0267849).abs() < 1e-7);
        // On the cone W μλ_n = v: the law of sliding.
        assert!((w(2.0, 5.0, 0.01) - 0.4).abs() < 1e-15);
        assert!((as_printed(2.0, 5.0, 5.0, 0.01) - 0.00976).abs() < 1e-5);
    }

    #[test]
    fn n5_beyond_twice_the_cone_only_the_guard_keeps_w_positive() {
        for (v, r, pole) in [(0.0, 1.0, 2.0), (0.5, 1.0, 2.0954), (0.5, 0.01, 5.583)] {
            let w = |guard, ratio: f64| -> f64 {
                friction_compliance(FischerBurmeister, guard, v, 5.0 * ratio, 5.0, r)
            };
            assert!(w(ConeGuard::Off, pole - 1e-3) > 1.0, "before the pole of {v}, {r}");
            assert!(w(ConeGuard::Off, pole + 1e-3) < -1.0, "behind the pole of {v}, {r}");
            assert!((w(ConeGuard::Project, pole + 1e-3) - v / 5.0).abs() < 1e-15);
            assert_eq!(w(ConeGuard::Pole, pole - 1e-3), w(ConeGuard::Off, pole - 1e-3));
            let minimum = friction_compliance(MinimumMap, ConeGuard::Off, v, 5.0 * (pole + 1e-3), 5.0, r);
            assert_eq!(w(ConeGuard::Pole, pole + 1e-3), minimum);
            assert!(minimum > 0.0);
        }
        for ncp in [MinimumMap, FischerBurmeister] {
            assert_eq!(friction_compliance(ncp, ConeGuard::Off, 0.0, 0.0, 5.0, 1.0), 0.0, "0/0");
            assert_eq!(friction_compliance(ncp, ConeGuard::Project, 0.0, 9.0, 5.0, 1.0), 0.0);
        }
    }

    #[test]
    fn fig_6_has_its_root_at_the_cone() {
        // u = 0.5 m/s, μλ_n = 5 N: φ_f = u − W λ_f vanishes where friction slides.
        for ncp in [MinimumMap, FischerBurmeister] {
            let phi =
                |force: f64| 0.5 - force * friction_compliance(ncp, ConeGuard::Off, 0.5, force, 5.0, 1.0);
            assert!(phi(5.0).abs() < 1e-15 && phi(4.0) > 0.0 && phi(6.0) < 0.0, "{ncp:?}");
        }
        let inside = friction_compliance(MinimumMap, ConeGuard::Off, 0.5, 4.49, 5.0, 1.0);
        assert_eq!(inside, 0.0, "the minimum map sticks up to 4.5 N");
    }
}
