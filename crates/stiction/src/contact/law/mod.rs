//! What the three rows of a block obey: Signorini and Coulomb together, or each row an interval of its own.
//!
//! A row with the bounds [lo, hi] asks for `u ∈ −N_[lo,hi](λ)`: `u = 0` while `lo < λ < hi`, `u ≥ 0` at `λ = lo` and
//! `u ≤ 0` at `λ = hi`. Infinite bounds make an equation (joints), [0, ∞) a stop, [−f, f] a drive that gives way at
//! `f` or dry friction in a joint, [0, 0] nothing at all.

pub mod cone;
pub mod coulomb;
pub mod rows;

use crate::linalg::Vec3;
use cone::Friction;

/// The law of a block of three rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// A contact: normal, two tangents.
    Contact(Friction),
    /// Three rows that know nothing of each other.
    Rows(Bounds),
}

/// Bounds of three multipliers; `lo ≤ hi`, either may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least λ of each row.
    pub lo: Vec3,
    /// Largest λ of each row.
    pub hi: Vec3,
}

/// A law with its cone stretched to a round one, as solvers see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RoundLaw {
    /// A contact with this coefficient of friction.
    Cone(f64),
    /// Three rows that know nothing of each other.
    Rows(Bounds),
}

impl From<Friction> for Law {
    fn from(f: Friction) -> Law {
        Law::Contact(f)
    }
}

impl Law {
    /// Factors of the rows that make the cone round ([`Friction::stretch`]); rows keep theirs.
    pub fn stretch(self) -> Vec3 {
        match self {
            Law::Contact(f) => f.stretch(),
            Law::Rows(_) => Vec3::ONE,
        }
    }

    /// The law in stretched coordinates.
    pub fn round(self) -> RoundLaw {
        match self {
            Law::Contact(f) => RoundLaw::Cone(f.mean()),
            Law::Rows(b) => RoundLaw::Rows(b),
        }
    }

    /// True for contacts.
    pub fn is_contact(self) -> bool {
        matches!(self, Law::Contact(_))
    }
}

impl Bounds {
    /// Equations: λ takes whatever value makes u vanish.
    pub const EQUATIONS: Bounds = Bounds { lo: Vec3::NEG_INFINITY, hi: Vec3::INFINITY };
    /// No rows at all: λ = 0.
    pub const NONE: Bounds = Bounds { lo: Vec3::ZERO, hi: Vec3::ZERO };

    /// With the bounds of one row replaced.
    pub fn with_row(mut self, i: usize, lo: f64, hi: f64) -> Bounds {
        (self.lo[i], self.hi[i]) = (lo, hi);
        self
    }

    /// The nearest point within the bounds; not a number stays so.
    pub fn clamp(&self, x: Vec3) -> Vec3 {
        let row = |x: f64, lo: f64, hi: f64| {
            if x < lo {
                lo
            } else if x > hi {
                hi
            } else {
                x
            }
        };
        Vec3::new(
            row(x.x, self.lo.x, self.hi.x),
            row(x.y, self.lo.y, self.hi.y),
            row(x.z, self.lo.z, self.hi.z),
        )
    }
}

impl RoundLaw {
    /// The coefficient of friction; zero for rows.
    pub fn mu(self) -> f64 {
        match self {
            RoundLaw::Cone(mu) => mu,
            RoundLaw::Rows(_) => 0.0,
        }
    }

    /// The same with friction multiplied by `factor`.
    #[inline(always)]
    pub fn with_friction(self, factor: f64) -> RoundLaw {
        match self {
            RoundLaw::Cone(mu) => RoundLaw::Cone(factor * mu),
            rows => rows,
        }
    }

    /// The nearest multiplier that the law allows.
    #[inline(always)]
    pub fn project(self, x: Vec3) -> Vec3 {
        match self {
            RoundLaw::Cone(mu) => cone::project(x, mu),
            RoundLaw::Rows(b) => b.clamp(x),
        }
    }

    /// The velocity whose normality says what the law says: de Saxcé's shift for contacts, `u` itself for rows.
    #[inline(always)]
    pub fn shifted(self, u: Vec3) -> Vec3 {
        match self {
            RoundLaw::Cone(mu) => cone::de_saxce(u, mu),
            RoundLaw::Rows(_) => u,
        }
    }

    /// Natural map λ − P(λ − û/g): zero exactly where the law holds. `g` [1/kg] is the scale of the block.
    #[inline(always)]
    pub fn natural_map(self, lambda: Vec3, u: Vec3, g: f64) -> Vec3 {
        match self {
            RoundLaw::Cone(mu) => cone::natural_map(lambda, u, mu, g),
            RoundLaw::Rows(b) => {
                // A row within its bounds gives u/g itself, without the rounding of a large λ.
                let row = |i: usize| {
                    let step = u[i] / g;
                    let free = lambda[i] - step;
                    if free < b.lo[i] {
                        lambda[i] - b.lo[i]
                    } else if free > b.hi[i] {
                        lambda[i] - b.hi[i]
                    } else {
                        step
                    }
                };
                Vec3::new(row(0), row(1), row(2))
            }
        }
    }

    /// By how much `λ` leaves what the law allows.
    pub fn excess(self, lambda: Vec3) -> f64 {
        match self {
            RoundLaw::Cone(mu) => cone::excess(lambda, mu),
            RoundLaw::Rows(b) => (lambda - b.clamp(lambda)).abs().max_element(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_exactly_in_their_three_states() {
        let law = RoundLaw::Rows(Bounds {
            lo: Vec3::new(f64::NEG_INFINITY, 0.0, -2.0),
            hi: Vec3::new(f64::INFINITY, f64::INFINITY, 2.0),
        });
        let holds =
            |lambda: [f64; 3], u: [f64; 3]| law.natural_map(lambda.into(), u.into(), 0.7) == Vec3::ZERO;
        // Equations at rest; a stop open or loaded; a drive inside, or at either limit.
        assert!(holds([-1e9, 0.0, 1.0], [0.0, 3.0, 0.0]));
        assert!(holds([5.0, 4.0, -2.0], [0.0, 0.0, 3.0]));
        assert!(holds([5.0, 4.0, 2.0], [0.0, 0.0, -3.0]));
        assert!(!holds([0.0, 0.0, 0.0], [1e-9, 0.0, 0.0]), "an equation that is not met");
        assert!(!holds([0.0, 0.0, 0.0], [0.0, -1e-9, 0.0]), "a stop that is passed");
        assert!(!holds([0.0, 0.0, 2.0], [0.0, 0.0, 1e-9]), "a drive that pushes along the motion");
        assert_eq!(law.excess(Vec3::new(7.0, -0.5, 2.25)), 0.5);
    }
}
