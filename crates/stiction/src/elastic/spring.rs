//! The spring between two points, with a damper along its line; as a rope it pulls and never pushes.

use super::HessianKind;
use super::principal::outer;
use crate::linalg::{Mat3, Vec3};

/// A spring: E = ½ k (|d| − ℓ)², d from its first point to its second.
#[doc(alias = "rope")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// k [N/m].
    pub stiffness: f64,
    /// ℓ [m]; zero makes the spring linear, E = ½ k d·d.
    pub rest_length: f64,
    /// Force per rate of length [N·s/m].
    pub damping: f64,
    /// Which way it acts.
    pub action: Action,
}

/// Which way a spring acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// It pulls and pushes.
    #[default]
    Both,
    /// A rope: no energy and no damping while it is shorter than its rest length.
    PullOnly,
}

impl Spring {
    /// Tension [N], length [m] and direction; the direction of no length is zero.
    fn stretch(&self, d: Vec3) -> (f64, f64, Vec3) {
        let length = d.length();
        let tension = if self.is_slack(length) { 0.0 } else { self.stiffness * (length - self.rest_length) };
        (tension, length, d.try_normalize().unwrap_or(Vec3::ZERO))
    }

    fn is_slack(&self, length: f64) -> bool {
        self.action == Action::PullOnly && length <= self.rest_length
    }

    /// Energy [J].
    pub fn energy(&self, d: Vec3) -> f64 {
        let (tension, _, _) = self.stretch(d);
        0.5 * tension * tension / self.stiffness
    }

    /// ∂E/∂d [N]: the force on the first point; the second feels the opposite. Zero at zero length, where the
    /// direction is not known.
    pub fn gradient(&self, d: Vec3) -> Vec3 {
        let (tension, _, n) = self.stretch(d);
        tension * n
    }

    /// ∂/∂k of [`gradient`](Spring::gradient) [m].
    pub fn gradient_by_stiffness(&self, d: Vec3) -> Vec3 {
        self.gradient(d) / self.stiffness
    }

    /// ∂²E/∂d² = k n nᵀ + T/|d| (I − n nᵀ) [N/m].
    ///
    /// `GaussNewton` leaves the second term out, unless the spring has no rest length and is linear; `Projected`
    /// keeps it where it pulls. At zero length all of them are k I, so that the matrix resists in every direction.
    pub fn hessian(&self, d: Vec3, kind: HessianKind) -> Mat3 {
        let (tension, length, n) = self.stretch(d);
        if self.is_slack(length) {
            return Mat3::ZERO;
        }
        if self.rest_length == 0.0 || n == Vec3::ZERO {
            return Mat3::from_diagonal(Vec3::splat(self.stiffness));
        }
        let nn = outer(n, n);
        let across = match kind {
            HessianKind::Exact => tension / length,
            HessianKind::GaussNewton => 0.0,
            HessianKind::Projected => (tension / length).max(0.0),
        };
        nn * self.stiffness + (Mat3::IDENTITY - nn) * across
    }

    /// Matrix D of the damper: force −D ḋ on the second point [N·s/m].
    pub fn damper(&self, d: Vec3) -> Mat3 {
        let (_, length, n) = self.stretch(d);
        if self.is_slack(length) { Mat3::ZERO } else { outer(n, n) * self.damping }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ladder::taylor_slope;
    use super::*;

    fn springs() -> [Spring; 4] {
        let s = Spring { stiffness: 30.0, rest_length: 0.7, damping: 0.4, action: Action::Both };
        [
            s,
            Spring { rest_length: 0.0, ..s },
            Spring { rest_length: 2.0, ..s },
            Spring { action: Action::PullOnly, ..s },
        ]
    }

    #[test]
    fn energy_gradient_and_hessian_are_derivatives_of_each_other() {
        let (d, w, z) = (Vec3::new(0.6, -0.5, 0.8), Vec3::new(0.3, 0.7, -0.2), Vec3::new(-0.4, 0.1, 0.9));
        for s in springs() {
            let of_energy = |t: f64| s.energy(d + t * w) - s.energy(d) - t * s.gradient(d).dot(w);
            assert!((taylor_slope(of_energy) - 2.0).abs() < 0.1, "{s:?}");
            let hessian = s.hessian(d, HessianKind::Exact);
            let of_gradient = |t: f64| (s.gradient(d + t * w) - s.gradient(d) - t * (hessian * w)).dot(z);
            if s.rest_length == 0.0 {
                assert!(of_gradient(0.3).abs() < 1e-13, "a spring without rest length is linear");
            } else {
                assert!((taylor_slope(of_gradient) - 2.0).abs() < 0.1, "{s:?}");
            }
            let stiffer = Spring { stiffness: s.stiffness + 2.0, ..s };
            let by_stiffness = (stiffer.gradient(d) - s.gradient(d)) / 2.0;
            assert!((by_stiffness - s.gradient_by_stiffness(d)).length() < 1e-14);
        }
    }

    #[test]
    fn projection_drops_what_pushes_and_keeps_what_pulls() {
        let [s, ..] = springs();
        let (long, short) = (Vec3::X, Vec3::X * 0.3);
        assert_eq!(s.hessian(long, HessianKind::Projected), s.hessian(long, HessianKind::Exact));
        assert!(s.hessian(short, HessianKind::Exact).y_axis.y < 0.0);
        assert_eq!(s.hessian(short, HessianKind::Projected), s.hessian(short, HessianKind::GaussNewton));
    }

    #[test]
    fn nothing_divides_by_zero_length() {
        for s in springs() {
            assert_eq!(s.gradient(Vec3::ZERO), Vec3::ZERO);
            for kind in [HessianKind::Exact, HessianKind::GaussNewton, HessianKind::Projected] {
                assert!(s.hessian(Vec3::ZERO, kind).is_finite());
            }
            assert!(s.damper(Vec3::ZERO).is_finite() && s.energy(Vec3::ZERO).is_finite());
        }
    }

    #[test]
    fn a_slack_rope_does_nothing() {
        let [_, _, _, rope] = springs();
        let d = Vec3::Y * 0.69;
        assert_eq!((rope.energy(d), rope.gradient(d)), (0.0, Vec3::ZERO));
        assert_eq!(rope.hessian(d, HessianKind::Exact), Mat3::ZERO);
        assert_eq!(rope.damper(d), Mat3::ZERO);
        assert!(rope.gradient(Vec3::Y * 0.71).y > 0.0);
    }
}
