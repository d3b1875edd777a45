//! What a contact point feels: normal force (16), friction (17) or (18), damping.

use crate::linalg::Vec3;
use crate::linalg::dual::{Dual, DualVec};

/// How friction depends on sliding speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionModel {
    /// min(k_t |u|, μ f_n) against the motion (17).
    #[default]
    Linear,
    /// μ f_n tanh(k_t |u| / (μ f_n)) (18).
    Tanh,
    /// (17), with points that stick held by constraints (4.3).
    Hybrid,
    /// Hard constraints on nodes that touch planes, friction lagged (15): for comparison, without derivatives.
    Sqp,
}

impl FrictionModel {
    /// Those that can be differentiated.
    pub const ALL: [FrictionModel; 3] = [FrictionModel::Linear, FrictionModel::Tanh, FrictionModel::Hybrid];

    /// Name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FrictionModel::Linear => "linear",
            FrictionModel::Tanh => "tanh",
            FrictionModel::Hybrid => "hybrid",
            FrictionModel::Sqp => "sqp",
        }
    }
}

/// Loss in the normal direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ContactDamping {
    /// None.
    #[default]
    None,
    /// f_n = k_n (−g) max(1 − c v_n, 0), c [s/m]: continuous where contact begins (Hunt & Crossley 1975).
    HuntCrossley(f64),
    /// f_d = −k_d v_n while g ≤ 0, k_d [N·s/m], as printed (21): it jumps at g = 0, and may pull.
    Printed(f64),
}

impl ContactDamping {
    /// Its coefficient.
    pub fn coefficient(self) -> f64 {
        match self {
            ContactDamping::None => 0.0,
            ContactDamping::HuntCrossley(c) | ContactDamping::Printed(c) => c,
        }
    }

    /// The same law with another coefficient.
    pub fn with(self, c: f64) -> ContactDamping {
        match self {
            ContactDamping::None => ContactDamping::None,
            ContactDamping::HuntCrossley(_) => ContactDamping::HuntCrossley(c),
            ContactDamping::Printed(_) => ContactDamping::Printed(c),
        }
    }
}

/// The law of one contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLaw {
    /// Linear or tanh.
    pub friction: FrictionModel,
    /// Kind of damping; its coefficient is given apart.
    pub damping: ContactDamping,
    /// Time step [s]: k_t = k_n h.
    pub h: f64,
    /// Depth over which the normal stiffness grows from zero to k_n [m]; zero for (16).
    pub onset: f64,
    /// Friction is left to a constraint.
    pub frictionless: bool,
}

/// Coefficients of a point, as numbers that may carry derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients<const N: usize> {
    /// k_n [N/m].
    pub stiffness: Dual<N>,
    /// c [s/m] or k_d [N·s/m].
    pub damping: Dual<N>,
    /// μ₁ (μ where friction is round).
    pub mu1: Dual<N>,
    /// μ₂.
    pub mu2: Dual<N>,
}

/// tanh(x)/x as a function of x² ≥ 0, with its derivative by x².
pub fn tanh_over_x(s: f64) -> (f64, f64) {
    if s < 1e-4 {
        (
            1.0 - s * (1.0 / 3.0 - s * (2.0 / 15.0 - s * 17.0 / 315.0)),
            -1.0 / 3.0 + s * (4.0 / 15.0 - s * 17.0 / 105.0),
        )
    } else {
        let x = s.sqrt();
        let t = x.tanh();
        (t / x, (1.0 - t * t - t / x) / (2.0 * s))
    }
}

impl ContactLaw {
    /// Depth that the spring feels: p − ε/2, and p²/(2 ε) while p is below the onset ε. Without a kink at p = 0 the rebound
    /// hardly depends on where in a step contact begins.
    fn depth<const N: usize>(&self, p: Dual<N>) -> Dual<N> {
        let e = self.onset;
        if p.x < e { p * p * Dual::constant(0.5 / e) } else { p - Dual::constant(0.5 * e) }
    }

    /// Normal force magnitude without the printed damping [N], and all of the normal force; none where g ≥ 0.
    pub fn normal<const N: usize>(
        &self,
        c: &Coefficients<N>,
        g: Dual<N>,
        speed: Dual<N>,
    ) -> Option<(Dual<N>, Dual<N>)> {
        if g.x >= 0.0 {
            return None;
        }
        let spring = c.stiffness * self.depth(-g);
        match self.damping {
            ContactDamping::None => Some((spring, spring)),
            ContactDamping::HuntCrossley(_) => {
                let factor = Dual::constant(1.0) - c.damping * speed;
                if factor.x <= 0.0 {
                    return None;
                }
                let f = spring * factor;
                Some((f, f))
            }
            // Whether damping counts in the limit of friction is not said in the paper; it does not.
            ContactDamping::Printed(_) => Some((spring, spring - c.damping * speed)),
        }
    }

    /// Force on the point [N]: gap `g`, unit normal `n` and relative velocity `u` of the point; `direction` is that of μ₁
    /// where friction is elliptic.
    pub fn force<const N: usize>(
        &self,
        c: &Coefficients<N>,
        g: Dual<N>,
        n: &DualVec<N>,
        u: &DualVec<N>,
        direction: Option<DualVec<N>>,
    ) -> Option<DualVec<N>> {
        let speed = n.dot(u);
        let (fn_, all) = self.normal(c, g, speed)?;
        let push = n.scaled(all);
        if self.frictionless {
            return Some(push);
        }
        let slip = *u - n.scaled(speed);
        let kt = c.stiffness * self.h;
        let friction = match direction {
            None => self.round(c.mu1 * fn_, kt, &slip),
            Some(direction) => {
                // An ellipse is a circle in stretched coordinates: w = k u_t, f_t = k f(w).
                let t1 = direction - n.scaled(n.dot(&direction));
                let t1 = t1.scaled(t1.length().recip());
                let t2 = n.cross(&t1);
                let mean = (c.mu1 * c.mu2).sqrt();
                let (k1, k2) = (c.mu1 * mean.recip(), c.mu2 * mean.recip());
                let w = t1.scaled(k1 * slip.dot(&t1)) + t2.scaled(k2 * slip.dot(&t2));
                let f = self.round(mean * fn_, kt, &w);
                t1.scaled(k1 * f.dot(&t1)) + t2.scaled(k2 * f.dot(&t2))
            }
        };
        if crate::mutant::on("penalty-friction-sign") {
            return Some(push - friction);
        }
        Some(push + friction)
    }

    /// Friction with the limit `most` against the velocity `slip`: (17) or (18).
    fn round<const N: usize>(&self, most: Dual<N>, kt: Dual<N>, slip: &DualVec<N>) -> DualVec<N> {
        if most.x <= 0.0 {
            return DualVec::constant(Vec3::ZERO);
        }
        match self.friction {
            FrictionModel::Tanh => {
                // x = k_t |u| / (μ f_n); −k_t u tanh(x)/x.
                let ratio = kt * most.recip();
                let s = slip.dot(slip) * (ratio * ratio);
                let (f, df) = tanh_over_x(s.x);
                -slip.scaled(kt * s.chain(f, df))
            }
            FrictionModel::Linear | FrictionModel::Hybrid | FrictionModel::Sqp => {
                let speed = slip.length();
                if kt.x * speed.x < most.x { -slip.scaled(kt) } else { -slip.scaled(most * speed.recip()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables: gap, normal untouched, velocity, μ₁, μ₂, k_n, damping.
    fn force(law: &ContactLaw, x: [f64; 8], direction: Option<Vec3>) -> Option<DualVec<8>> {
        let v = |i: usize| Dual::<8>::variable(x[i], i);
        let c = Coefficients { stiffness: v(6), damping: v(7), mu1: v(4), mu2: v(5) };
        let n = DualVec::constant(Vec3::new(0.6, 0.0, 0.8));
        law.force(&c, v(0), &n, &DualVec([v(1), v(2), v(3)]), direction.map(DualVec::constant))
    }

    #[test]
    fn derivatives_of_all_laws_match_differences() {
        let base = [-0.01, 0.3, -0.2, -0.1, 0.4, 0.7, 1e3, 0.3];
        for friction in FrictionModel::ALL {
            for damping in
                [ContactDamping::None, ContactDamping::HuntCrossley(0.0), ContactDamping::Printed(0.0)]
            {
                for direction in [None, Some(Vec3::new(0.2, 0.9, 0.1))] {
                    for (h, onset) in [(1e-4, 0.0), (1e-2, 0.02), (1.0, 0.005)] {
                        let law = ContactLaw { friction, damping, h, onset, frictionless: false };
                        let f = force(&law, base, direction).unwrap();
                        for i in 0..8 {
                            let e = 1e-6 * base[i].abs();
                            let shifted = |s: f64| {
                                let mut x = base;
                                x[i] += s;
                                force(&law, x, direction).unwrap().value()
                            };
                            let slope = (shifted(e) - shifted(-e)) / (2.0 * e);
                            let scale = 1.0 + f.value().length() / base[i].abs();
                            assert!((f.by(i) - slope).length() < 1e-7 * scale, "{law:?} variable {i}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn friction_has_its_limits() {
        let damping = ContactDamping::None;
        let law = |friction| ContactLaw { friction, damping, h: 0.01, onset: 0.0, frictionless: false };
        let at = |friction, speed: f64| {
            let c = Coefficients::<0> {
                stiffness: Dual::constant(1e3),
                damping: Dual::constant(0.0),
                mu1: Dual::constant(0.4),
                mu2: Dual::constant(0.4),
            };
            let n = DualVec::constant(Vec3::Z);
            let u = DualVec::constant(Vec3::X * speed);
            law(friction).force(&c, Dual::constant(-0.01), &n, &u, None).unwrap().value()
        };
        for friction in [FrictionModel::Linear, FrictionModel::Tanh] {
            assert!(
                (at(friction, 100.0) - Vec3::new(-4.0, 0.0, 10.0)).length() < 1e-9,
                "slip: μ f_n against it"
            );
            assert!((at(friction, 1e-6).x + 10.0 * 1e-6).abs() < 1e-12, "stick: −k_t u");
            assert_eq!(at(friction, 0.0).x, 0.0);
        }
        // At the slip speed of the linear law tanh reaches tanh 1 = 76 % (correction A2).
        assert!((at(FrictionModel::Tanh, 0.4).x + 4.0 * 1f64.tanh()).abs() < 1e-12);
    }
}
