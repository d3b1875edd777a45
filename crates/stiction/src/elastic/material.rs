//! Material laws, their constants and what makes them valid.

use super::principal::{self, Principal};
use super::stretch::Tangent;
use super::svd::{cofactor, rotation, svd};
use super::{ElasticError, HessianKind};
use crate::linalg::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

/// How energy depends on strain. All agree with linear elasticity at small strain.
///
/// Every law is linear in the [`Lame`] constants and isotropic; direction comes from [`Fibre`](super::Fibre)s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Small strain ε = (F + Fᵀ)/2 − I: Ψ = μ ε:ε + λ/2 tr²ε. Turning the body strains it: for small motions only.
    Linear,
    /// Linear in the stretches: Ψ = μ Σ(sᵢ−1)² + λ/2 (Σsᵢ−3)² (Müller & Gross 2004, energy of McAdams et al. 2011).
    #[doc(alias = "corotational")]
    Corotated,
    /// Linear in Green's strain E = (FᵀF − I)/2: Ψ = μ E:E + λ/2 tr²E. Softens and collapses below stretches of 0.58.
    StVenantKirchhoff,
    /// Ψ = μ/2 (I_C − 3) − μ ln J + λ/2 ln²J, continued linearly where J falls below `threshold`
    /// (Stomakhin et al. 2012).
    NeoHookean {
        /// Volume ratio J below which the energy is extrapolated; 0 < threshold < 1.
        threshold: f64,
    },
    /// Ψ = μ/2 (I_C − 3) − μ (J−1) + (λ+μ)/2 (J−1)² (Smith et al. 2018 without the logarithm, NSN (107)).
    ///
    /// Up to a constant this is C₁(I_C − 3) + D₁(J − α)² with C₁ = μ/2, D₁ = (λ+μ)/2 and α = 1 + C₁/D₁: the
    /// constants for which the rest state is free of stress and small strains see E and ν (correction N10).
    StableNeoHookean,
}

/// Lamé constants [Pa].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// λ: resistance to change of volume beyond that of shape.
    pub lambda: f64,
    /// μ: shear modulus.
    pub mu: f64,
}

/// A constant of a [`Material`] by which forces can be differentiated.
///
/// Density does not occur: no force here depends on it, and masses are proportional to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Young's modulus.
    Young,
    /// Poisson's ratio.
    Poisson,
}

/// A homogeneous, isotropic material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Energy as a function of strain.
    pub law: Law,
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Poisson's ratio ν, −1 < ν < ½.
    pub poisson: f64,
    /// Density ρ [kg/m³].
    pub density: f64,
}

impl Material {
    /// Checks the constants; the error names the bad value and the remedy.
    pub fn check(&self) -> Result<(), ElasticError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(self.young) {
            return Err(ElasticError::Young(self.young));
        }
        if !(self.poisson > -1.0 && self.poisson < 0.5) {
            return Err(ElasticError::Poisson(self.poisson));
        }
        if !positive(self.density) {
            return Err(ElasticError::Density(self.density));
        }
        match self.law {
            Law::NeoHookean { threshold } if !(threshold > 0.0 && threshold < 1.0) => {
                Err(ElasticError::Threshold(threshold))
            }
            _ => Ok(()),
        }
    }

    /// λ = E ν / ((1+ν)(1−2ν)), μ = E / (2(1+ν)).
    pub fn lame(&self) -> Lame {
        let (e, nu) = (self.young, self.poisson);
        Lame { lambda: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu: e / (2.0 * (1.0 + nu)) }
    }

    /// ∂(λ, μ)/∂parameter. As energies are linear in λ and μ, the derivative of an energy, stress or force by a
    /// constant is the same function at these values.
    pub fn lame_derivative(&self, by: Parameter) -> Lame {
        let Lame { lambda, mu } = self.lame();
        let (e, nu) = (self.young, self.poisson);
        match by {
            Parameter::Young => Lame { lambda: lambda / e, mu: mu / e },
            Parameter::Poisson => {
                let d = (1.0 + nu) * (1.0 - 2.0 * nu);
                Lame { lambda: e * (1.0 + 2.0 * nu * nu) / (d * d), mu: -mu / (1.0 + nu) }
            }
        }
    }
}

impl Law {
    /// The stiffness with which a time step is linearised unless somebody asks for another; always positive
    /// semidefinite.
    ///
    /// Linear and corotated: Gauss–Newton, the (rotated) linear stiffness. It resists every strain with the full
    /// moduli whatever the deformation, needs a rotation instead of an SVD and is summed without a 12×12 product.
    /// What it leaves out, the turning of the stress, is of the order of the strain; bodies held under large tension
    /// (drumheads, stretched bands) do better with `Projected`, which is the default of the other laws, whose
    /// moduli change with strain.
    pub fn default_hessian(self) -> HessianKind {
        match self {
            Law::Linear | Law::Corotated => HessianKind::GaussNewton,
            _ => HessianKind::Projected,
        }
    }

    /// Energy density and first Piola stress at F [J/m³, Pa]. Most laws need no SVD for it.
    ///
    /// `pressure` [Pa] is an activation that swells the element: −p (J−1) is added to Ψ, hence −p cof F to P
    /// (of the linear law −p tr ε and −p I).
    pub fn stress(self, lame: Lame, pressure: f64, f: &Mat3) -> (f64, Mat3) {
        match self {
            Law::Linear => small_strain(lame, pressure, f),
            Law::Corotated => {
                let (energy, p, _) = corotated(lame, pressure, f);
                (energy, p)
            }
            Law::StVenantKirchhoff => {
                let strain = (f.transpose() * *f - Mat3::IDENTITY) * 0.5;
                let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
                let second = strain * (2.0 * lame.mu) + Mat3::from_diagonal(Vec3::splat(lame.lambda * trace));
                let energy = lame.mu * squared(&strain) + 0.5 * lame.lambda * trace * trace;
                with_pressure(energy, *f * second, f, pressure)
            }
            Law::StableNeoHookean => {
                let bulk = lame.lambda + lame.mu;
                let volume = |j: f64| {
                    let (swelling, rest) = (j - 1.0, lame.mu + pressure);
                    (swelling * (0.5 * bulk * swelling - rest), bulk * swelling - rest)
                };
                with_volume(0.5 * lame.mu * (squared(f) - 3.0), *f * lame.mu, f, volume)
            }
            Law::NeoHookean { threshold } if f.determinant() >= threshold => {
                let volume = |j: f64| {
                    let log = j.ln();
                    let energy = log * (0.5 * lame.lambda * log - lame.mu) - pressure * (j - 1.0);
                    (energy, (lame.lambda * log - lame.mu) / j - pressure)
                };
                with_volume(0.5 * lame.mu * (squared(f) - 3.0), *f * lame.mu, f, volume)
            }
            Law::NeoHookean { .. } => {
                let svd = svd(f);
                let psi = self.principal(lame, pressure, svd.s);
                (psi.energy, svd.u * Mat3::from_diagonal(psi.gradient) * svd.v.transpose())
            }
        }
    }

    /// Energy density, first Piola stress and dP/dF of the named kind.
    pub fn tangent(self, lame: Lame, pressure: f64, f: &Mat3, kind: HessianKind) -> (f64, Mat3, Tangent) {
        match self {
            Law::Linear => {
                let (energy, p) = small_strain(lame, pressure, f);
                (energy, p, Tangent::linear(lame, Mat3::IDENTITY))
            }
            // λ and μ weigh the same in every frame, so that the rotation alone serves as principal frame.
            Law::Corotated if kind == HessianKind::GaussNewton => {
                let (energy, p, r) = corotated(lame, pressure, f);
                (energy, p, Tangent::linear(lame, r))
            }
            _ => {
                let svd = svd(f);
                let psi = self.principal(lame, pressure, svd.s);
                let p = svd.u * Mat3::from_diagonal(psi.gradient) * svd.v.transpose();
                // Pressure has no rows of its own: Gauss–Newton takes it as a given force.
                let stiff = match kind {
                    HessianKind::GaussNewton if pressure != 0.0 => self.principal(lame, 0.0, svd.s),
                    _ => psi,
                };
                (psi.energy, p, Tangent::new(&svd, &stiff, kind))
            }
        }
    }

    /// Ψ and its derivatives in principal stretches, with the activation `pressure`. The linear law has none of
    /// its own and answers as the corotated one, with which it agrees at small strain.
    pub fn principal(self, lame: Lame, pressure: f64, s: Vec3) -> Principal {
        let mut psi = match self {
            Law::Linear | Law::Corotated => principal::corotated(lame, s),
            Law::StVenantKirchhoff => principal::st_venant_kirchhoff(lame, s),
            Law::NeoHookean { threshold } => super::neo_hookean::extrapolated(lame, threshold, s),
            Law::StableNeoHookean => principal::stable_neo_hookean(lame, s),
        };
        if pressure != 0.0 {
            psi.add_volume(-pressure * (s.x * s.y * s.z - 1.0), -pressure, 0.0, s);
        }
        psi
    }
}

/// P = 2με + λ tr ε I, with the activation −p I.
fn small_strain(lame: Lame, pressure: f64, f: &Mat3) -> (f64, Mat3) {
    let strain = (*f + f.transpose()) * 0.5 - Mat3::IDENTITY;
    let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
    let energy = lame.mu * squared(&strain) + 0.5 * lame.lambda * trace * trace - pressure * trace;
    (energy, strain * (2.0 * lame.mu) + Mat3::from_diagonal(Vec3::splat(lame.lambda * trace - pressure)))
}

/// P = 2μ(F − R) + λ tr(S − I) R with F = R S, and the activation −p cof F. Also returns R.
fn corotated(lame: Lame, pressure: f64, f: &Mat3) -> (f64, Mat3, Mat3) {
    let r = rotation(f);
    let off = *f - r;
    let trace = r.x_axis.dot(off.x_axis) + r.y_axis.dot(off.y_axis) + r.z_axis.dot(off.z_axis);
    let energy = lame.mu * squared(&off) + 0.5 * lame.lambda * trace * trace;
    let p = off * (2.0 * lame.mu) + r * (lame.lambda * trace);
    let (energy, p) = with_pressure(energy, p, f, pressure);
    (energy, p, r)
}

/// Adds the activation −p (J − 1).
fn with_pressure(energy: f64, p: Mat3, f: &Mat3, pressure: f64) -> (f64, Mat3) {
    if pressure == 0.0 {
        return (energy, p);
    }
    with_volume(energy, p, f, |j| (-pressure * (j - 1.0), -pressure))
}

/// Adds a function of the volume ratio J = det F, given as its value and slope: ∂J/∂F = cof F.
fn with_volume(energy: f64, p: Mat3, f: &Mat3, of: impl Fn(f64) -> (f64, f64)) -> (f64, Mat3) {
    let cof = cofactor(f);
    let (value, slope) = of(f.x_axis.dot(cof.x_axis));
    (energy + value, p + cof * slope)
}

/// A : A.
fn squared(a: &Mat3) -> f64 {
    a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUBBER: Material = Material { law: Law::Corotated, young: 1e5, poisson: 0.45, density: 1000.0 };

    #[test]
    fn bad_constants_are_named() {
        RUBBER.check().unwrap();
        for (bad, word) in [
            (Material { young: 0.0, ..RUBBER }, "Young's modulus 0 Pa"),
            (Material { young: f64::NAN, ..RUBBER }, "Young's modulus NaN"),
            (Material { poisson: 0.5, ..RUBBER }, "ratio 0.5: it must lie between -1 and 0.5"),
            (Material { poisson: -1.0, ..RUBBER }, "ratio -1"),
            (Material { poisson: f64::NAN, ..RUBBER }, "ratio NaN"),
            (Material { density: -2.0, ..RUBBER }, "density -2 kg/m³"),
            (Material { law: Law::NeoHookean { threshold: 1.0 }, ..RUBBER }, "threshold 1:"),
        ] {
            let message = bad.check().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn stress_is_the_same_with_and_without_principal_stretches() {
        let f =
            Mat3::from_cols(Vec3::new(1.1, 0.2, -0.1), Vec3::new(-0.3, 0.9, 0.2), Vec3::new(0.1, 0.3, 0.8));
        let lame = RUBBER.lame();
        for law in [
            Law::Corotated,
            Law::StVenantKirchhoff,
            Law::NeoHookean { threshold: 0.3 },
            Law::NeoHookean { threshold: 0.95 },
            Law::StableNeoHookean,
        ] {
            for f in [f, Mat3::from_diagonal(Vec3::new(1.0, 1.0, -0.7)) * f] {
                for pressure in [0.0, 3e3] {
                    let (energy, p) = law.stress(lame, pressure, &f);
                    let (e, q, _) = law.tangent(lame, pressure, &f, HessianKind::Exact);
                    assert!(
                        (energy - e).abs() < 1e-13 * 1e6 && p.abs_diff_eq(q, 1e-13 * 1e6),
                        "{law:?}: {p} {q}"
                    );
                }
            }
        }
    }

    #[test]
    fn lame_constants_and_their_derivatives() {
        let Lame { lambda, mu } = RUBBER.lame();
        assert!((mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu) - 1e5).abs() < 1e-9);
        assert!((lambda / (2.0 * (lambda + mu)) - 0.45).abs() < 1e-15);
        let d = 1e-6;
        for (by, step) in [
            (Parameter::Young, Material { young: 1e5 * (1.0 + d), ..RUBBER }),
            (Parameter::Poisson, Material { poisson: 0.45 + d, ..RUBBER }),
        ] {
            let size = if by == Parameter::Young { 1e5 * d } else { d };
            let exact = RUBBER.lame_derivative(by);
            let secant =
                Lame { lambda: (step.lame().lambda - lambda) / size, mu: (step.lame().mu - mu) / size };
            assert!(
                (exact.lambda / secant.lambda - 1.0).abs() < 1e-4
                    && (exact.mu / secant.mu - 1.0).abs() < 1e-4
            );
        }
    }
}
