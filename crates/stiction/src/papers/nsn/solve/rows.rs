//! One row of the Newton system: residual (58), scale D and compliance C (54), from the laws of contacts and bounds.

use super::friction::friction_compliance;
use super::ncp::Ncp;
use super::schur::Schur;
use super::settings::{Derivative, FrictionRows, NewtonSettings, Regularization, Scaling};
use crate::contact::Bounds;
use crate::linalg::Real;

/// Below this α the row knows its own answer (correction N7, treatment C).
const VANISHED: f64 = 1e-8;

/// A linearised row: `scale · (J Δu) + compliance · Δλ = −residual`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<T> {
    /// Residual [m/s].
    pub residual: T,
    /// D.
    pub scale: T,
    /// C [1/kg].
    pub compliance: T,
    /// The step Δλ where it is known and its column acts.
    pub known: T,
    /// The value of the function whose root is sought, before any division: what a line search may compare.
    pub value: T,
}

/// The rows of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRows<T> {
    /// Normal and two tangents.
    pub rows: [Row<T>; 3],
    /// Compliance of both tangents and its inverse, where they are coupled; the rows' own is not used then.
    pub pair: Option<[[[T; 2]; 2]; 2]>,
    /// How Δλ_n acts on both tangents, which the symmetric matrix leaves out.
    pub coupling: Option<[T; 2]>,
}

impl<T: Real> ContactRows<T> {
    /// Writes the rows into the system from row `i` on.
    #[inline(always)]
    pub fn put(&self, s: &mut Schur<T>, i: usize) {
        let rows = &self.rows;
        s.h[i..i + 3].copy_from_slice(&rows.map(|r| r.residual));
        s.scale[i..i + 3].copy_from_slice(&rows.map(|r| r.scale));
        s.compliance.diagonal[i..i + 3].copy_from_slice(&rows.map(|r| r.compliance));
        s.known[i..i + 3].copy_from_slice(&rows.map(|r| r.known));
        s.value[i..i + 3].copy_from_slice(&rows.map(|r| r.value));
        if let Some([c, inverse]) = &self.pair {
            s.compliance.push_block(i + 1, c, inverse);
        }
        if let Some(c) = self.coupling {
            s.coupling.push((i as u32, c));
        }
    }
}

/// r-factors of a block of three rows: the normal or first row, and friction, or each row for bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors<T> {
    /// Of each row; friction rows share the larger of both (correction N9).
    pub r: [T; 3],
}

impl<T: Real> Factors<T> {
    /// From the diagonal of the unscaled W of a contact (66).
    pub fn of_contact(scaling: Scaling, w: [T; 3], h: f64) -> Factors<T> {
        let one = |w: T| if w > T::ZERO { w } else { T::ONE };
        let (n, t) = match scaling {
            Scaling::Identity => (T::of(1.0 / (h * h)), T::of(1.0 / h)),
            Scaling::TimeStep => (T::ONE, T::ONE),
            Scaling::EffectiveMass => (one(w[0]), one(w[1].larger(w[2]))),
        };
        Factors { r: [n, t, t] }
    }

    /// The same for three bounded rows, which stand at the level of positions.
    pub fn of_bounds(scaling: Scaling, w: [T; 3], h: f64) -> Factors<T> {
        let one = |w: T| if w > T::ZERO { w } else { T::ONE };
        let r = match scaling {
            Scaling::Identity => [T::of(1.0 / (h * h)); 3],
            Scaling::TimeStep => [T::ONE; 3],
            Scaling::EffectiveMass => w.map(one),
        };
        Factors { r }
    }
}

/// Rows of a contact (normal, two tangents) with velocity `u` = J u + bias + softness λ. Inlined, for the rows are written at once.
#[inline(always)]
pub fn contact_rows<T: Real>(
    s: &NewtonSettings,
    mu: f64,
    u: [T; 3],
    lambda: [T; 3],
    softness: [T; 3],
    factors: Factors<T>,
) -> ContactRows<T> {
    let normal = ncp_row(s, s.ncp.scaled(u[0], lambda[0], factors.r[0]), softness[0]);
    let limit = T::of(mu) * lambda[0];
    // Inactive contacts are those with μλ_n ≤ 0 (correction N6): their friction rows say λ_f = 0. Neither has a contact
    // friction whose normal row knows that it opens: its λ_n falls towards zero, and W = v/(μλ_n) beyond all numbers.
    let opens = s.derivative == Derivative::Divided && normal.scale == T::ZERO;
    if !limit.is_number() || limit <= T::ZERO || opens {
        let off = |k: usize| Row {
            residual: lambda[k],
            scale: T::ZERO,
            compliance: T::ONE,
            known: if s.derivative == Derivative::Divided { -lambda[k] } else { T::ZERO },
            value: lambda[k],
        };
        return ContactRows { rows: [normal, off(1), off(2)], pair: None, coupling: None };
    }
    if s.friction == FrictionRows::Sliding {
        return sliding_rows(s, mu, normal, u, lambda, softness, factors.r[1]);
    }
    let size = |x: [T; 3]| (x[1] * x[1] + x[2] * x[2]).root();
    let (v, force) = (size(u), size(lambda));
    let r = friction_factor(s.friction_bound, factors.r[1], v, limit);
    // Carried λ_n may be as small as numbers get: beyond this bound a row is as good as free.
    let most = factors.r[1] / T::of(VANISHED);
    let w = friction_compliance(s.ncp, s.cone_guard, v, force, limit, r).smaller(most);
    let friction = |k: usize| Row {
        residual: u[k] + w * lambda[k],
        scale: T::ONE,
        compliance: w + softness[k],
        known: T::ZERO,
        value: u[k] + w * lambda[k],
    };
    ContactRows { rows: [normal, friction(1), friction(2)], pair: None, coupling: None }
}

/// Friction as a complementarity of its own along the direction d = −(λ_f − u_t/r)/|λ_f − u_t/r| of sliding:
/// 0 ≤ u_d ⟂ μλ_n − f ≥ 0 with f = −λ_d, and u + (u_d/μλ_n) λ = 0 across. Derivatives are exact; the part of μΔλ_n, which
/// would make the matrix unsymmetric, is kept apart in `coupling`.
#[inline(never)]
fn sliding_rows<T: Real>(
    s: &NewtonSettings,
    mu: f64,
    normal: Row<T>,
    u: [T; 3],
    lambda: [T; 3],
    softness: [T; 3],
    r: T,
) -> ContactRows<T> {
    let aim = [u[1] / r - lambda[1], u[2] / r - lambda[2]];
    let size = (aim[0] * aim[0] + aim[1] * aim[1]).root();
    let d = if size > T::ZERO { [aim[0] / size, aim[1] / size] } else { [T::ONE, T::ZERO] };
    let along = |x: [T; 3]| x[1] * d[0] + x[2] * d[1];
    let across = |x: [T; 3]| x[2] * d[0] - x[1] * d[1];
    let limit = T::of(mu) * lambda[0];
    let (v, left) = (along(u), limit + along(lambda));
    let ncp = s.ncp.scaled(v, left, r);
    let alpha = ncp.by_u.larger(T::of(VANISHED));
    let floor = match s.regularization {
        Regularization::Floor(e) => T::of(e) * r,
        Regularization::Absolute(_) | Regularization::Relative(_) => T::ZERO,
    };
    let w = v.larger(T::ZERO) / limit;
    let turns = across(u) + w.smaller(r / T::of(VANISHED)) * across(lambda);
    let residual = [ncp.value / alpha, turns];
    // Beyond this a row is as good as free.
    let most = r / T::of(VANISHED);
    let bounded = |c: T| c.larger(floor).smaller(most);
    let c = [bounded(ncp.by_lambda / alpha + softness[1]), bounded(w + softness[2])];
    // From (d, e) with e = d turned by 90° to both tangents.
    let back = |a: T, b: T| [a * d[0] - b * d[1], a * d[1] + b * d[0]];
    let matrix = |a: T, b: T| {
        let cross = (a - b) * d[0] * d[1];
        [[a * d[0] * d[0] + b * d[1] * d[1], cross], [cross, a * d[1] * d[1] + b * d[0] * d[0]]]
    };
    let (h, value) = (back(residual[0], residual[1]), back(ncp.value, turns));
    let compliance = matrix(c[0], c[1]);
    let friction = |k: usize| Row {
        residual: h[k],
        scale: T::ONE,
        compliance: compliance[k][k],
        known: T::ZERO,
        value: value[k],
    };
    ContactRows {
        rows: [normal, friction(0), friction(1)],
        pair: Some([compliance, matrix(T::ONE / c[0], T::ONE / c[1])]),
        coupling: Some(back(T::of(mu) * ncp.by_lambda / alpha, T::ZERO)),
    }
}

/// r of friction, at most `bound` · v/(μλ_n). A vanishing r is left a little, for it divides.
fn friction_factor<T: Real>(bound: f64, r: T, v: T, limit: T) -> T {
    if bound.is_infinite() {
        return r;
    }
    r.smaller(T::of(bound) * v / limit).larger(T::of(1e-12) * r)
}

/// Rows with bounds of their own.
pub fn bounded_rows<T: Real>(
    s: &NewtonSettings,
    bounds: &Bounds,
    u: [T; 3],
    lambda: [T; 3],
    softness: [T; 3],
    factors: Factors<T>,
) -> [Row<T>; 3] {
    std::array::from_fn(|k| {
        let (lo, hi) = (T::of(bounds.lo[k]), T::of(bounds.hi[k]));
        bounded_row(s, (lo, hi), u[k], lambda[k], softness[k], factors.r[k])
    })
}

/// One row with a multiplier in [lo, hi].
pub fn bounded_row<T: Real>(
    s: &NewtonSettings,
    (lo, hi): (T, T),
    u: T,
    lambda: T,
    softness: T,
    r: T,
) -> Row<T> {
    if lo == hi {
        let off = lambda - lo;
        return Row { residual: off, scale: T::ZERO, compliance: T::ONE, known: -off, value: off };
    }
    ncp_row(s, s.ncp.bounded(u, lambda, (lo, hi), r), softness)
}

/// From the NCP function to the row, by the treatment of its derivative (correction N7).
fn ncp_row<T: Real>(s: &NewtonSettings, ncp: Ncp<T>, softness: T) -> Row<T> {
    let (alpha, beta, value) = (ncp.by_u, ncp.by_lambda, ncp.value);
    let (residual, scale, compliance, known) = match s.derivative {
        Derivative::Literal | Derivative::Scaled => (value, alpha, beta + alpha * softness, T::ZERO),
        Derivative::Divided if alpha > T::of(VANISHED) => {
            (value / alpha, T::ONE, beta / alpha + softness, T::ZERO)
        }
        Derivative::Divided => (value, T::ZERO, beta, -value / beta),
    };
    Row { residual, scale, compliance, known, value }
}

#[cfg(test)]
mod tests {
    use super::super::ncp::NcpFunction;
    use super::*;

    /// Carried multipliers of contacts that opened shrink from step to step until they are denormal numbers.
    #[test]
    fn rows_of_vanishing_normal_forces_stay_numbers() {
        for derivative in [Derivative::Literal, Derivative::Divided] {
            let s = NewtonSettings { derivative, ..NewtonSettings::default() };
            for normal in [1e-3, 1e-100, 1e-310_f64] {
                let rows = contact_rows(
                    &s,
                    0.5,
                    [-1e-3, 2.0, 1.0],
                    [normal, 0.3 * normal, 0.0],
                    [0.0; 3],
                    Factors { r: [0.7; 3] },
                );
                for row in &rows.rows[1..] {
                    assert!(
                        row.compliance.is_finite() && row.residual.is_finite(),
                        "{derivative:?} {normal:e}: {row:?}"
                    );
                }
            }
        }
    }

    /// Where the Jacobian claims to be exact (rows divided by α), it is that of finite differences.
    #[test]
    fn rows_divided_by_alpha_have_the_exact_jacobian() {
        let s = NewtonSettings { derivative: Derivative::Divided, ..NewtonSettings::default() };
        let (d, r) = (1e-6, 0.4f64);
        for ncp in [NcpFunction::MinimumMap, NcpFunction::FischerBurmeister] {
            let s = NewtonSettings { ncp, ..s };
            for (u, l, soft) in [(0.3, 0.2, 0.0), (-0.2, 0.5, 0.1), (0.05, 2.0, 0.3), (-1.0, 0.0, 0.0)] {
                let phi = |u: f64, l: f64| ncp.scaled(u + soft * l, l, r).value;
                let row = contact_rows(
                    &s,
                    0.0,
                    [u + soft * l, 0.0, 0.0],
                    [l, 0.0, 0.0],
                    [soft, 0.0, 0.0],
                    Factors { r: [r; 3] },
                )
                .rows[0];
                let by_u = (phi(u + d, l) - phi(u - d, l)) / (2.0 * d);
                let by_l = (phi(u, l + d) - phi(u, l - d)) / (2.0 * d);
                // scale/compliance/residual are those of φ divided by α, or φ itself where α = 0.
                let factor = if row.scale == 0.0 { 1.0 } else { by_u };
                assert!((row.scale * factor - by_u).abs() < 1e-7, "{ncp:?} {u} {l}");
                assert!((row.compliance * factor - by_l).abs() < 1e-7, "{ncp:?} {u} {l}: {row:?} {by_l}");
                assert!((row.residual * factor - phi(u, l)).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn n6_friction_is_off_where_the_normal_force_is_not_positive() {
        let s = NewtonSettings::default();
        let rows = |n: f64| {
            contact_rows(&s, 0.5, [0.0, 1.0, 0.0], [n, 0.3, 0.1], [0.0; 3], Factors { r: [1.0; 3] }).rows
        };
        for n in [0.0, -2.0] {
            let off = rows(n);
            assert_eq!((off[1].scale, off[1].compliance, off[1].residual), (0.0, 1.0, 0.3));
        }
        // As printed, λ_n ≥ 0 would switch this loaded contact off.
        assert_eq!(rows(2.0)[1].scale, 1.0);
    }

    #[test]
    fn n9_factors_come_from_the_unscaled_rows_and_friction_has_one() {
        let f = Factors::of_contact(Scaling::EffectiveMass, [0.2, 0.5, 0.7], 0.01);
        assert_eq!(f.r, [0.2, 0.7, 0.7]);
        let units = Factors::of_contact(Scaling::Identity, [0.2f64, 0.5, 0.7], 0.01).r;
        assert!((units[0] - 1e4).abs() < 1e-8 && (units[1] - 100.0).abs() < 1e-12);
    }

    #[test]
    fn n7_the_three_treatments_have_the_same_root() {
        for derivative in [Derivative::Literal, Derivative::Scaled, Derivative::Divided] {
            let s = NewtonSettings { derivative, ..NewtonSettings::default() };
            // A loaded contact that sticks, and an open one.
            for (u, l) in [([0.0f64; 3], [2.0, 0.3, -0.1]), ([0.7, 0.2, 0.0], [0.0; 3])] {
                let rows = contact_rows(&s, 0.5, u, l, [0.0; 3], Factors { r: [0.4; 3] }).rows;
                assert!(rows.iter().all(|r| r.residual.abs() < 1e-15), "{derivative:?}: {rows:?}");
            }
        }
    }

    /// Friction along the direction of sliding: roots are those of Coulomb's law, and near a sliding state the rows, with the
    /// coupling by Δλ_n, are the derivative of λ_f = −μλ_n u_t/|u_t|.
    #[test]
    fn sliding_rows_have_the_roots_and_the_derivative_of_coulombs_law() {
        let s = NewtonSettings {
            friction: FrictionRows::Sliding,
            derivative: Derivative::Divided,
            ..NewtonSettings::default()
        };
        let (mu, r) = (0.5f64, Factors { r: [0.4; 3] });
        let rows = |u: [f64; 3], l: [f64; 3]| contact_rows(&s, mu, u, l, [0.0; 3], r);
        // Sticks inside the cone, slides on it against the velocity.
        for (u, l) in [([0.0; 3], [2.0, 0.3, -0.4]), ([0.0, 0.3, 0.4], [2.0, -0.6, -0.8])] {
            assert!(rows(u, l).rows.iter().all(|r| r.value.abs() < 1e-15), "{u:?}");
        }
        // Beyond the cone at rest, along the velocity, or across it: no root.
        for (u, l) in [
            ([0.0; 3], [2.0, 1.2, 0.0]),
            ([0.0, 0.3, 0.4], [2.0, 0.6, 0.8]),
            ([0.0, 1e-9, 0.0], [2.0, 0.0, 1.5]),
        ] {
            assert!(rows(u, l).rows.iter().any(|r| r.value.abs() > 1e-3), "{u:?} {l:?}");
        }
        // u + C Δλ + c Δλ_n = 0 gives Δλ_f of another velocity and normal force, to first order.
        let (u, l) = ([0.0, 0.3, 0.4], [2.0, -0.6, -0.8]);
        let here = rows(u, l);
        let (Some([_, inverse]), Some(c)) = (here.pair, here.coupling) else { panic!("sliding rows") };
        let (du, dn) = ([4e-6, -3e-6], 2e-6);
        let moved = [u[1] + du[0], u[2] + du[1]];
        let size = moved[0].hypot(moved[1]);
        for k in 0..2 {
            let step: f64 = -(0..2).map(|j| inverse[k][j] * (du[j] + c[j] * dn)).sum::<f64>();
            let law = -mu * (l[0] + dn) * moved[k] / size;
            assert!((l[1 + k] + step - law).abs() < 1e-10, "{k}: {} {law}", l[1 + k] + step);
        }
    }
}
