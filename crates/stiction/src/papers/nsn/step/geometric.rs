//! Geometric stiffness as a diagonal secant (70)–(74).
//!
//! With λ frozen between both evaluations (correction N2), g(u⁺) − g(u) − M Δu = −(J(q⁺)ᵀ − J(q)ᵀ) λ h, so that
//! c_k = −[Δg_k − (M Δu)_k]/Δu_k (correction N1: (73) prints a plus, which triples the mass of a free particle) is the change
//! of the force divided by that of the velocity, and H_ii = M_ii − min(0, c_i).

/// Velocities that change by less than this share of the largest change have no secant.
const SMALLEST_CHANGE: f64 = 1e-9;

/// H_ii of each dof from its mass, the change of force Jᵀλ (impulse) and that of velocity between two iterates.
pub fn secant(mass: &[f64], force_change: &[f64], velocity_change: &[f64], out: &mut Vec<f64>) {
    let largest = velocity_change.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
    out.clear();
    for k in 0..mass.len() {
        let du = velocity_change[k];
        let c = if du.abs() > SMALLEST_CHANGE * largest { force_change[k] / du } else { 0.0 };
        out.push(mass[k] - c.min(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vector of correction N1: a particle of 2 kg on a stretched distance constraint, h = 0.01 s, λ = −50 N.
    #[test]
    fn n1_n2_the_secant_is_the_derivative_of_g_and_the_printed_sign_is_not() {
        let (mass, h, lambda): (f64, f64, f64) = (2.0, 0.01, -50.0);
        let anchor = [0.0f64, 0.0];
        let start = [1.35f64, 0.05];
        // Impulse h Jᵀλ at the position that u leads to.
        let force = |u: [f64; 2]| {
            let d = [start[0] + h * u[0] - anchor[0], start[1] + h * u[1] - anchor[1]];
            let l = d[0].hypot(d[1]);
            [h * lambda * d[0] / l, h * lambda * d[1] / l]
        };
        let (from, to) = ([0.0, 0.0], [0.0, 0.4]);
        let (f, g) = (force(from), force(to));
        let change = [g[0] - f[0], g[1] - f[1]];
        let du = [to[0] - from[0], to[1] - from[1]];
        let mut stiff = Vec::new();
        secant(&[mass; 2], &change, &du, &mut stiff);
        // Finite differences of g = M u − h Jᵀλ in y.
        let d = 1e-5;
        let by_y = mass - (force([0.0, 0.2 + d])[1] - force([0.0, 0.2 - d])[1]) / (2.0 * d);
        assert!((stiff[1] - by_y).abs() < 1e-6, "{} {by_y}", stiff[1]);
        assert!((stiff[1] - 2.0037).abs() < 1e-4, "stretched constraints stiffen: {}", stiff[1]);
        assert_eq!(stiff[0], mass, "no change, no secant");
        // As printed: c = −[Δg + M Δu]/Δu with Δg = M Δu − change.
        let printed = mass - (-((mass * du[1] - change[1]) + mass * du[1]) / du[1]).min(0.0);
        assert!((printed - 6.0037).abs() < 1e-4, "{printed}");
        // With λ changing too the secant would be far off (N2).
        let moved = force(to).map(|f| f * 1.5);
        let mut polluted = Vec::new();
        secant(&[mass; 2], &[moved[0] - f[0], moved[1] - f[1]], &du, &mut polluted);
        assert!((polluted[1] - by_y).abs() > 1e-3);
    }

    #[test]
    fn compression_is_clamped_away() {
        let mut stiff = Vec::new();
        secant(&[2.0], &[0.3], &[0.1], &mut stiff);
        assert_eq!(stiff, [2.0]);
    }

    /// N13: (74) takes c_k into H_ii, which must be the same dof.
    #[test]
    fn n13_every_dof_takes_its_own_secant() {
        let mut stiff = Vec::new();
        secant(&[1.0, 2.0, 3.0], &[-0.3, -0.2, 0.4], &[0.1, 0.1, 0.1], &mut stiff);
        let expected = [1.0 + 3.0, 2.0 + 2.0, 3.0];
        assert!(stiff.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{stiff:?}");
    }
}
