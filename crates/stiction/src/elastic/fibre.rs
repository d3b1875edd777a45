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
    /// Direction in the rest shape; made a unit vector by [`Elements::with_fibres`](super::Elements::with_fibres).
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

#[cfg(test)]
mod tests {
    use super::super::svd::eigen_symmetric;
    use super::*;

    fn fibre(stiffness: f64, tension: f64) -> Fibre {
        Fibre { tet: 0, direction: Vec3::X, stiffness, tension }
    }

    #[test]
    fn pull_along_the_fibre_and_nothing_across() {
        for s in [0.5, 1.0, 1.3] {
            let (energy, p) = fibre(2.0, 0.3).stress(&Mat3::from_diagonal(Vec3::new(s, 0.8, 1.4)));
            let strain = 0.5 * (s * s - 1.0);
            assert!((energy - (strain * strain + 0.3 * strain)).abs() < 1e-15);
            assert!((p.x_axis.x - s * (2.0 * strain + 0.3)).abs() < 1e-15);
            assert_eq!((p.y_axis, p.z_axis), (Vec3::ZERO, Vec3::ZERO));
        }
        // At small strain the stiffness is a Young's modulus.
        let (_, p) = fibre(2.0, 0.0).stress(&Mat3::from_diagonal(Vec3::new(1.0 + 1e-7, 1.0, 1.0)));
        assert!((p.x_axis.x / 2e-7 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn projection_keeps_what_is_positive() {
        let f = Mat3::from_rotation_z(0.4) * Mat3::from_diagonal(Vec3::new(1.2, 1.0, 1.0));
        let exact = fibre(2.0, 0.3).modulus(&f, HessianKind::Exact);
        assert!(
            fibre(2.0, 0.3).modulus(&f, HessianKind::Projected).abs_diff_eq(exact, 1e-14),
            "under tension"
        );
        for (stretch, tension) in [(0.9, 0.0), (0.3, 0.0), (0.0, 0.0), (1.2, -5.0)] {
            let f = Mat3::from_diagonal(Vec3::new(stretch, 1.0, 1.0));
            let (exact, _) = eigen_symmetric(&fibre(2.0, tension).modulus(&f, HessianKind::Exact));
            let (kept, _) = eigen_symmetric(&fibre(2.0, tension).modulus(&f, HessianKind::Projected));
            assert!(exact.min_element() < 0.0 && (kept - exact.max(Vec3::ZERO)).length() < 1e-14);
        }
    }
}
