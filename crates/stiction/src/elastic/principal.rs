//! Isotropic energies as functions of the principal stretches.
//!
//! With ψᵢ = ∂Ψ/∂sᵢ, dP/dF of an isotropic law is, in the principal frame, Ψ_ss on the three stretches and two numbers
//! per pair of axes (i, j): (ψᵢ − ψⱼ)/(sᵢ − sⱼ) on the symmetric change ("flip", shear) and (ψᵢ + ψⱼ)/(sᵢ + sⱼ) on the
//! antisymmetric one ("twist", turning the stress). Laws that are polynomial in F cancel these quotients by hand:
//! nothing is divided where stretches coincide or sum to zero.

use super::Lame;
use crate::linalg::{Mat3, Vec3};

/// Sums of two stretches smaller than this count as this much in [`Principal::twist`]: at s₂ = −s₃ the corotated
/// energy has a kink, and its curvature no limit.
const SMALLEST_SUM: f64 = 1e-8;
/// Stretches closer than this take the limit of the flip quotient: its error there, O(Δ²), meets rounding, O(ε/Δ).
const COINCIDENT: f64 = 1e-5;

/// Energy density at three principal stretches and all that follows from it.
///
/// Entry k of `flip` and `twist` belongs to the axes (k+1, k+2) mod 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// Ψ [J/m³], zero at rest.
    pub energy: f64,
    /// Ψ_s [Pa].
    pub gradient: Vec3,
    /// Ψ_ss [Pa].
    pub hessian: Mat3,
    /// (ψᵢ − ψⱼ)/(sᵢ − sⱼ) [Pa].
    pub flip: Vec3,
    /// (ψᵢ + ψⱼ)/(sᵢ + sⱼ) [Pa].
    pub twist: Vec3,
}

impl Principal {
    /// From energy, gradient and Hessian alone, the quotients guarded.
    pub(super) fn from_hessian(energy: f64, gradient: Vec3, hessian: Mat3, s: Vec3) -> Principal {
        let flip = per_pair(|i, j| {
            let gap = s[i] - s[j];
            if gap.abs() > COINCIDENT {
                (gradient[i] - gradient[j]) / gap
            } else {
                0.5 * (hessian.col(i)[i] + hessian.col(j)[j]) - hessian.col(j)[i]
            }
        });
        let twist = per_pair(|i, j| twist(gradient[i] + gradient[j], s[i] + s[j]));
        Principal { energy, gradient, hessian, flip, twist }
    }

    /// Adds a function g(J) of the volume ratio J = s₁s₂s₃, given g, g′ and g″.
    pub(super) fn add_volume(&mut self, g: f64, g1: f64, g2: f64, s: Vec3) {
        let cof = Vec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        self.energy += g;
        self.gradient += g1 * cof;
        self.hessian += outer(cof, cof) * g2
            + Mat3::from_cols(Vec3::new(0.0, s.z, s.y), Vec3::new(s.z, 0.0, s.x), Vec3::new(s.y, s.x, 0.0))
                * g1;
        self.flip -= g1 * s;
        self.twist += g1 * s;
    }
}

/// (ψᵢ + ψⱼ)/(sᵢ + sⱼ) kept finite; sums of signed singular values are never negative.
fn twist(numerator: f64, sum: f64) -> f64 {
    numerator / sum.max(SMALLEST_SUM)
}

/// A number for each pair (1,2), (2,0), (0,1).
fn per_pair(of: impl Fn(usize, usize) -> f64) -> Vec3 {
    Vec3::new(of(1, 2), of(2, 0), of(0, 1))
}

/// a bᵀ.
pub(super) fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Ψ = μ Σ(sᵢ−1)² + λ/2 (Σsᵢ−3)².
pub(super) fn corotated(Lame { lambda, mu }: Lame, s: Vec3) -> Principal {
    let e = s - Vec3::ONE;
    let trace = e.element_sum();
    let gradient = 2.0 * mu * e + Vec3::splat(lambda * trace);
    Principal {
        energy: mu * e.length_squared() + 0.5 * lambda * trace * trace,
        gradient,
        hessian: Mat3::from_diagonal(Vec3::splat(2.0 * mu)) + outer(Vec3::splat(lambda), Vec3::ONE),
        flip: Vec3::splat(2.0 * mu),
        twist: per_pair(|i, j| twist(gradient[i] + gradient[j], s[i] + s[j])),
    }
}

/// Ψ = μ/4 Σ(sᵢ²−1)² + λ/8 (Σsᵢ²−3)²; ψᵢ = sᵢ (μ(sᵢ²−1) + λ/2 (I_C−3)).
pub(super) fn st_venant_kirchhoff(Lame { lambda, mu }: Lame, s: Vec3) -> Principal {
    let e = s * s - Vec3::ONE;
    let trace = e.element_sum();
    let second = mu * e + Vec3::splat(0.5 * lambda * trace);
    Principal {
        energy: 0.25 * mu * e.length_squared() + 0.125 * lambda * trace * trace,
        gradient: s * second,
        hessian: Mat3::from_diagonal(second + 2.0 * mu * s * s) + outer(s, s) * lambda,
        flip: per_pair(|i, j| mu * (s[i] * s[i] + s[i] * s[j] + s[j] * s[j] - 1.0) + 0.5 * lambda * trace),
        twist: per_pair(|i, j| mu * (s[i] * s[i] - s[i] * s[j] + s[j] * s[j] - 1.0) + 0.5 * lambda * trace),
    }
}

/// Ψ = μ/2 (Σsᵢ²−3), to which the neo-Hookean laws add a function of the volume.
pub(super) fn shear_part(mu: f64, s: Vec3) -> Principal {
    Principal {
        energy: 0.5 * mu * (s * s - Vec3::ONE).element_sum(),
        gradient: mu * s,
        hessian: Mat3::from_diagonal(Vec3::splat(mu)),
        flip: Vec3::splat(mu),
        twist: Vec3::splat(mu),
    }
}

/// Ψ = μ/2 (I_C−3) − μ(J−1) + (λ+μ)/2 (J−1)²; its gradient has J − α, not J − 1 (correction N10).
pub(super) fn stable_neo_hookean(Lame { lambda, mu }: Lame, s: Vec3) -> Principal {
    let mut psi = shear_part(mu, s);
    let (bulk, swelling) = (lambda + mu, s.x * s.y * s.z - 1.0);
    psi.add_volume(swelling * (0.5 * bulk * swelling - mu), bulk * swelling - mu, bulk, s);
    psi
}
