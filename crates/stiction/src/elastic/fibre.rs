//! Fibres: a direction that resists stretch, or pulls.

use super::HessianKind;
use super::principal::outer;
use crate::linalg::{Mat3, Vec3};

/// A family of parallel fibres through one tet, on top of its isotropic material.
///
/// With a the unit direction at rest and E_a = (|F a|² − 1)/2 Green's strain along it,
/// Ψ = k/2 E_a² + T E_a. At small strain k adds to Young's modulus along a. Two families at right angles in the
/// plane of a strip make it a woven fabric: inextensible along both, free to bend and to shear (the limiting layer of
/// a pneumatic finger). T > 0 contracts like a muscle, T < 0 pushes along the fibre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibre {
    /// The tet it runs through.
    pub tet: u32,
    /// Direction in the rest shape; made a unit vector by [`TetAssembly::with_fibres`](super::TetAssembly::with_fibres).
    pub direction: Vec3,
    /// k [Pa], zero or positive.
    pub stiffness: f64,
    /// T [Pa], an activation.
    pub tension: f64,
}

impl Fibre {
    /// Energy density and first Piola stress: P = (k E_a + T) (F a) aᵀ.
    pub fn stress(&self, f: &Mat3) -> (f64, Mat3) {
        let fa = *f * self.direction;
        let strain = 0.5 * (fa.length_squared() - 1.0);
        let energy = strain * (0.5 * self.stiffness * strain + self.tension);
        (energy, outer(fa * (self.stiffness * strain + self.tension), self.direction))
    }

    /// The matrix k with dP = (k dF a) aᵀ: exact k (F a)(F a)ᵀ + (k E_a + T) I, of which Gauss–Newton keeps the
    /// first term and the projection the positive eigenvalues.
    pub fn modulus(&self, f: &Mat3, kind: HessianKind) -> Mat3 {
        let fa = *f * self.direction;
        let square = fa.length_squared();
        let along = self.stiffness;
        let all = self.stiffness * 0.5 * (square - 1.0) + self.tension;
        let identity = |x: f64| Mat3::from_diagonal(Vec3::splat(x));
        match kind {
            HessianKind::Exact => outer(fa, fa) * along + identity(all),
            HessianKind::GaussNewton => outer(fa, fa) * along,
            // Eigenvalues: `all` across the fibre, `all + k|Fa|²` along it.
            HessianKind::Projected => {
                let across = all.max(0.0);
                let rest = (all + along * square).max(0.0) - across;
                let unit = fa.normalize_or_zero();
                outer(unit, unit) * rest + identity(across)
            }
        }
    }
}
