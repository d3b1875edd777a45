//! Neo-Hookean energy, continued linearly in the space of principal stretches where an element is crushed, in the
//! manner of Stomakhin, Howes, Schroeder & Teran 2012, "Energetically consistent invertible elasticity".
//!
//! Where J = s₁s₂s₃ is below the threshold a, let q be the point on the ray from rest r = (1,1,1) to s with J(q) = a.
//! There Ψ̃(s) = Ψ(q) + Ψ_s(q)·(s − q). The logarithm is only taken at q, so energy and force stay finite for flat and
//! inverted elements and drive them back.

use super::Lame;
use super::principal::{Principal, shear_part};
use crate::linalg::{Mat3, Vec3};

/// Steps of the bracketed search for q; Newton needs about six.
const SEARCH: usize = 80;

/// Ψ = μ/2 (I_C−3) − μ ln J + λ/2 ln²J above the threshold, its extrapolation below.
pub(super) fn extrapolated(lame: Lame, threshold: f64, s: Vec3) -> Principal {
    let volume = s.x * s.y * s.z;
    if volume >= threshold {
        let Lame { lambda, mu } = lame;
        let log = volume.ln();
        let mut psi = shear_part(mu, s);
        psi.add_volume(
            log * (0.5 * lambda * log - mu),
            (lambda * log - mu) / volume,
            (lambda * (1.0 - log) + mu) / (volume * volume),
            s,
        );
        return psi;
    }
    if !s.is_finite() {
        return Principal::from_hessian(f64::NAN, Vec3::NAN, Mat3::NAN, s);
    }
    below(lame, threshold, s)
}

/// The crushed side. With d = s − r, q = r + t d, w = ∇ln J(q) = 1/q and m = λ ln a − μ:
/// ∇Ψ̃ = Ψ_s(q) + t(1−t) y, y = μd − m w²d − βw, β = (μ|d|² − m|wd|²)/(w·d).
fn below(Lame { lambda, mu }: Lame, threshold: f64, s: Vec3) -> Principal {
    let d = s - Vec3::ONE;
    let t = crossing(threshold, d);
    let q = Vec3::ONE + t * d;
    let w = q.recip();
    let log = threshold.ln();
    let m = lambda * log - mu;
    // ln J is concave along the ray and falls through ln a < 0, so w·d < 0.
    let wd = w.dot(d);
    let (w2, w2d) = (w * w, w * w * d);
    let beta = (mu * d.length_squared() - m * w2d.dot(d)) / wd;
    let y = mu * d - m * w2d - beta * w;
    let at_q = mu * q + m * w;
    let energy = 0.5 * mu * (q * q - Vec3::ONE).element_sum() - mu * log
        + 0.5 * lambda * log * log
        + (1.0 - t) * at_q.dot(d);
    let gradient = at_q + t * (1.0 - t) * y;
    // Columns of the Hessian: the derivative of every quantity above along a unit vector.
    let column = |e: Vec3| {
        let dt = -t * w.dot(e) / wd;
        let dq = t * e + dt * d;
        let dw = -w2 * dq;
        let dwd = dw.dot(d) + w.dot(e);
        let dbeta = (2.0 * mu * d.dot(e) - 2.0 * m * ((w * dw * d).dot(d) + w2d.dot(e)) - beta * dwd) / wd;
        let dy = mu * e - m * (2.0 * w * dw * d + w2 * e) - dbeta * w - beta * dw;
        mu * dq + m * dw + (1.0 - 2.0 * t) * dt * y + t * (1.0 - t) * dy
    };
    let h = Mat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z));
    Principal::from_hessian(energy, gradient, (h + h.transpose()) * 0.5, s)
}

/// The t in (0, 1] with Π(1 + t dᵢ) = a. As ln J is concave along the ray there is one, found by Newton's method kept
/// inside a bracket.
fn crossing(a: f64, d: Vec3) -> f64 {
    // Where the first factor vanishes J is zero already.
    let lowest = d.min_element();
    let mut high = if lowest < -1.0 { -1.0 / lowest } else { 1.0 };
    let (mut low, mut t) = (0.0, 0.5 * high);
    for _ in 0..SEARCH {
        let f = Vec3::ONE + t * d;
        let excess = f.x * f.y * f.z - a;
        if excess > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let slope = Vec3::new(f.y * f.z, f.z * f.x, f.x * f.y).dot(d);
        let newton = t - excess / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() <= f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAME: Lame = Lame { lambda: 3.0, mu: 0.8 };

    #[test]
    fn energy_and_force_are_continuous_at_the_threshold() {
        let s = Vec3::new(1.2, 0.9, 0.7 / (1.2 * 0.9));
        let above = extrapolated(LAME, 0.7, s * (1.0 + 1e-12));
        let under = extrapolated(LAME, 0.7, s * (1.0 - 1e-12));
        assert!((above.energy - under.energy).abs() < 1e-10);
        assert!((above.gradient - under.gradient).length() < 1e-10);
    }

    #[test]
    fn linear_along_the_ray_and_driving_back() {
        // Three equidistant points behind the threshold on one ray: equal differences, and energy grows outward.
        let ray = Vec3::new(0.1, -0.4, -1.0);
        let e: Vec<f64> =
            [1.0, 1.5, 2.0].iter().map(|k| extrapolated(LAME, 0.7, Vec3::ONE + *k * ray).energy).collect();
        assert!((e[2] - 2.0 * e[1] + e[0]).abs() < 1e-12 * e[2], "{e:?}");
        assert!(e[0] > 0.0 && e[1] > e[0] && e[2] > e[1]);
    }

    #[test]
    fn derivatives_below_the_threshold() {
        for s in [
            Vec3::new(1.0, 0.8, 0.3),
            Vec3::new(1.3, 0.9, -0.6),
            Vec3::new(0.4, 0.3, -0.1),
            Vec3::new(0.2, 0.2, 0.2),
            Vec3::new(0.7, 0.5, 0.0),
        ] {
            let psi = extrapolated(LAME, 0.7, s);
            for k in 0..3 {
                let step = Vec3::AXES[k] * 1e-5;
                let (a, b) = (extrapolated(LAME, 0.7, s + step), extrapolated(LAME, 0.7, s - step));
                let slope = (a.energy - b.energy) / 2e-5;
                assert!((slope - psi.gradient[k]).abs() < 1e-8, "{s}: {slope} {}", psi.gradient);
                let column = (a.gradient - b.gradient) / 2e-5;
                assert!((column - psi.hessian.col(k)).length() < 1e-7, "{s}: {column} {}", psi.hessian);
            }
        }
    }

    #[test]
    fn nothing_is_lost_at_a_point() {
        let psi = extrapolated(LAME, 0.3, Vec3::ZERO);
        assert!(psi.energy.is_finite() && psi.gradient.max_element() < 0.0 && psi.hessian.is_finite());
        assert!(psi.flip.is_finite() && psi.twist.is_finite());
        let g = psi.gradient;
        assert!((g - Vec3::splat(g.x)).length() < 1e-12, "the same in all directions");
    }
}
