//! The complementarity error of Section 6.3: Fischer–Burmeister functions of multipliers and distances.

use super::system::{Rows, Saddle};
use super::{Diagonal, Preconditioner, precondition::Conditioner};
use crate::contact::law::RoundLaw;
use crate::contact::law::cone;
use crate::contact::{ContactProblem, Solution};

/// Fischer–Burmeister function f(x, y) = x + y − √(x² + y²) (24): zero exactly when 0 ≤ x ⟂ y ≥ 0.
#[doc(alias = "Fischer-Burmeister")]
pub fn fischer_burmeister(x: f64, y: f64) -> f64 {
    x + y - x.hypot(y)
}

/// Worst errors of the contacts of a step, as distances [m].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Of non-penetration: f(S λ_n, distance).
    pub normal: f64,
    /// Of friction that sticks: f(S (μ λ_n − |λ_t|), sliding distance).
    pub stick: f64,
    /// Of friction that slips: S |μ λ_n − |λ_t||.
    pub slip: f64,
}

/// Errors of `x`, with multipliers scaled to distances by the diagonal of h² J A_d⁻¹ Jᵀ. The measure of friction is that of
/// the state a contact is in, as [`ConjugateResidual::slips`](super::ConjugateResidual::slips) tells.
pub fn errors(p: &ContactProblem, x: &Solution, slips: impl Fn(usize) -> bool) -> Errors {
    let mut rows = Rows::default();
    rows.take(p);
    let sys = Saddle { a: &p.a, b: &p.b, rows: &rows, w: None };
    let mut scale = Conditioner::default();
    scale.build(Preconditioner::Diag, Diagonal::Entries, &sys);
    let mut e = Errors::default();
    for c in 0..p.contacts() {
        let RoundLaw::Cone(mu) = rows.law[c] else { continue };
        let lambda = x.lambda[c] / p.law[c].stretch();
        let u = rows.j.mul_one(c, &x.v) + rows.bias[c] + rows.softness[c] * lambda;
        let own = scale.own[c];
        e.normal = e.normal.max(fischer_burmeister(p.h * own.x * lambda.x, p.h * u.x).abs());
        let (force, limit) = (cone::tangent_norm(lambda), mu * lambda.x.max(0.0));
        let own_t = 0.5 * (own.y + own.z);
        if lambda.x <= 0.0 {
            continue;
        }
        if slips(c) {
            e.slip = e.slip.max(p.h * own_t * (limit - force).abs());
        } else {
            let slide = p.h * cone::tangent_norm(u);
            e.stick = e.stick.max(fischer_burmeister(p.h * own_t * (limit - force), slide).abs());
        }
    }
    e
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_vanishes_exactly_on_complementary_pairs() {
        for (x, y) in [(0.0, 0.0), (3.0, 0.0), (0.0, 2.0)] {
            assert_eq!(fischer_burmeister(x, y), 0.0);
        }
        assert!(fischer_burmeister(1.0, 1.0) > 0.5 && fischer_burmeister(-1e-3, 0.0) < -1e-3);
    }
}
