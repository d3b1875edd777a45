//! Rotations: exponential and logarithm of rotation vectors, and the torque-free motion of a rigid body.

use crate::linalg::{Mat3, Quat, Vec3, skew};

/// exp: the rotation about `w` by the angle |w| [rad].
pub fn exp(w: Vec3) -> Quat {
    let angle = w.length();
    let half = 0.5 * angle;
    let s = sin_over_x(half) * 0.5;
    Quat::from_xyzw(w.x * s, w.y * s, w.z * s, half.cos())
}

/// log: the rotation vector of `r`, with angle in [0, π].
pub fn log(r: Quat) -> Vec3 {
    let r = if r.w < 0.0 { -r } else { r };
    let im = Vec3::new(r.x, r.y, r.z);
    let s = im.length();
    // angle / sin(angle/2) → 2 as the angle goes to zero.
    let factor = if s < 1e-8 { 2.0 / r.w } else { 2.0 * s.atan2(r.w) / s };
    im * factor
}

/// sin(x)/x with its limit 1 at zero.
pub fn sin_over_x(x: f64) -> f64 {
    if x.abs() < 1e-4 {
        let x2 = x * x;
        1.0 - x2 / 6.0 * (1.0 - x2 / 20.0)
    } else {
        x.sin() / x
    }
}

/// Carries a free rigid body through a time `h` at constant angular momentum.
///
/// `rotation` turns principal axes into world axes, `moments` are the principal moments [kg·m²], `l` the angular
/// momentum in world axes. The kinetic energy is a sum of three terms, each of whose flows is a rotation about
/// one principal axis; they are composed symmetrically (Strang; McLachlan 1993). So |L| and its direction are kept
/// to rounding, the energy error stays bounded at O(h²) and the map is reversible. Returns the new `rotation`.
#[doc(alias = "gyroscopic")]
pub fn torque_free(rotation: Quat, moments: Vec3, l: Vec3, h: f64) -> Quat {
    if moments.x == moments.y && moments.y == moments.z {
        return (exp(l * (h / moments.x)) * rotation).normalize();
    }
    let mut body_l = rotation.conjugate() * l;
    let mut r = rotation;
    let mut turn = |axis: usize, time: f64| {
        let mut w = Vec3::ZERO;
        w[axis] = time * body_l[axis] / moments[axis];
        let q = exp(w);
        r *= q;
        body_l = q.conjugate() * body_l;
    };
    turn(0, 0.5 * h);
    turn(1, 0.5 * h);
    turn(2, h);
    turn(1, 0.5 * h);
    turn(0, 0.5 * h);
    r.normalize()
}

/// (1 − cos θ)/θ², (θ − sin θ)/θ³ and their derivatives by θ divided by θ.
fn coefficients(s: f64) -> [f64; 4] {
    if s < 1e-2 {
        let b = 0.5 + s * (-1.0 / 24.0 + s * (1.0 / 720.0 - s * (1.0 / 40320.0 - s / 3_628_800.0)));
        let c =
            1.0 / 6.0 + s * (-1.0 / 120.0 + s * (1.0 / 5040.0 - s * (1.0 / 362_880.0 - s / 39_916_800.0)));
        let db = -1.0 / 12.0 + s * (1.0 / 180.0 - s * (1.0 / 6720.0 - s / 453_600.0));
        let dc = -1.0 / 60.0 + s * (1.0 / 1260.0 - s * (1.0 / 60480.0 - s / 4_989_600.0));
        [b, c, db, dc]
    } else {
        let t = s.sqrt();
        let (b, c) = ((1.0 - t.cos()) / s, (t - t.sin()) / (s * t));
        [b, c, (t.sin() / t - 2.0 * b) / s, (b - 3.0 * c) / s]
    }
}

/// J_ω: world angular velocity from the rate of exponential coordinates, I + (1−cos θ)/θ² [d] + (θ−sin θ)/θ³ [d]².
#[doc(alias = "J_w")]
pub fn left_jacobian(d: Vec3) -> Mat3 {
    let [b, c, ..] = coefficients(d.length_squared());
    let s = skew(d);
    Mat3::IDENTITY + s * b + s * s * c
}

/// ∂(J_ω(d) a)/∂d at fixed a.
pub fn left_jacobian_derivative(d: Vec3, a: Vec3) -> Mat3 {
    let [b, c, db, dc] = coefficients(d.length_squared());
    let outer = |x: Vec3, y: Vec3| Mat3::from_cols(x * y.x, x * y.y, x * y.z);
    let (one, two) = (d.cross(a), d.cross(d.cross(a)));
    outer(one, d) * db - skew(a) * b
        + outer(two, d) * dc
        + (Mat3::from_diagonal(Vec3::splat(d.dot(a))) + outer(d, a) - outer(a, d) * 2.0) * c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jacobian_of_exponential_coordinates_and_its_derivative_are_exact() {
        for (scale, a) in
            [(1e-6, Vec3::X), (0.05, Vec3::new(1.0, -2.0, 0.5)), (2.1, Vec3::new(0.3, 0.4, -3.0))]
        {
            let d = Vec3::new(0.4, -0.5, 0.7) * scale;
            let e = 1e-6;
            // exp(d + ε a) = exp(ε J a) exp(d).
            let turned = exp(d + e * a) * exp(d - e * a).conjugate();
            let by_differences = log(turned) / (2.0 * e);
            assert!((left_jacobian(d) * a - by_differences).length() < 1e-8, "{scale}");
            for k in 0..3 {
                let x = Vec3::AXES[k] * 1e-5;
                let slope = (left_jacobian(d + x) * a - left_jacobian(d - x) * a) / 2e-5;
                assert!((left_jacobian_derivative(d, a).col(k) - slope).length() < 1e-8, "{scale}");
            }
        }
    }

    #[test]
    fn log_undoes_exp() {
        for k in 1..100 {
            let w = Vec3::new(0.3, -0.5, 0.8).normalize() * (0.999 * std::f64::consts::PI * k as f64 / 100.0);
            assert!((log(exp(w)) - w).length() < 1e-13);
        }
        let tiny = Vec3::new(1e-12, -2e-13, 0.0);
        assert!((log(exp(tiny)) - tiny).length() < 1e-26);
    }

    #[test]
    fn torque_free_motion_about_a_principal_axis_is_exact() {
        let r = torque_free(Quat::IDENTITY, Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 0.0, 6.0), 0.1);
        assert!(r.angle_between(exp(Vec3::Z * 0.2)) < 1e-7);
    }

    #[test]
    fn torque_free_motion_is_reversible() {
        let (m, l) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.4, -2.0, 1.0));
        let r = torque_free(Quat::IDENTITY, m, l, 0.1);
        let back = torque_free(r, m, l, -0.1);
        assert!((back.xyz()).length() < 1e-15);
    }
}
