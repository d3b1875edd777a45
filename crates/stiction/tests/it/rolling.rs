//! Solid balls (I = 2/5 m R²) slide until they roll.
//!
//! Thrown without spin at v₀: slides for 2 v₀/(7 μ g), then rolls for ever at 5/7 v₀. Put down with spin ω₀: ends at
//! 2/7 ω₀ R. Thrown with backspin ω₀ R > 5/2 v₀: comes back. Spun about the vertical: a point of contact has no
//! moment, so it spins for ever. On an incline: rolls with 5/7 g sin θ where tan θ < 7/2 μ, else slips with
//! g (sin θ − μ cos θ). Speeds to 1e-9 m/s, times within a step of 1 ms.

use crate::stage::{G, ball, floor, incline, laid_on, position, run, spin, start, steps, tilt, velocity};
use stiction::{Scheme, Simulation, Vec3};

const H: f64 = 1e-3;
const R: f64 = 0.1;
const MU: f64 = 0.3;

fn thrown(v: Vec3, w: Vec3) -> Simulation {
    let mut scene = floor(MU);
    let mut b = ball("ball", R, MU);
    (b.velocity, b.spin) = (v, w);
    scene.bodies.push(b);
    start(&scene, Scheme::ImplicitEuler)
}

/// Velocity of the point of contact on a floor with this normal [m/s].
fn slip(sim: &Simulation, normal: Vec3) -> Vec3 {
    velocity(sim, "ball") + spin(sim, "ball").cross(-R * normal)
}

/// Rolls to the end and checks when it starts to roll and how fast it is then.
fn ends_rolling_at(sim: &mut Simulation, expected: Vec3) {
    let time = slip(sim, Vec3::Z).length() / (3.5 * MU * G);
    let mut n = 0;
    while slip(sim, Vec3::Z).length() > 1e-9 {
        run(sim, H, 1);
        n += 1;
        assert!(n as f64 * H < time + 1.5 * H, "still slips after {n} steps; expected {time} s");
    }
    assert!((n as f64 * H - time).abs() <= H, "rolls after {n} steps; expected {time} s");
    run(sim, H, steps(1.0, H));
    let v = velocity(sim, "ball");
    assert!((v - expected).length() < 1e-9, "rolls at {v}; expected {expected}");
    assert!(slip(sim, Vec3::Z).length() < 1e-9, "rolls without slipping");
    assert!((position(sim, "ball").z - R).abs() < 1e-9, "stays on the floor");
}

#[test]
fn a_sliding_ball_keeps_five_sevenths() {
    let v = Vec3::new(1.6, -1.2, 0.0);
    ends_rolling_at(&mut thrown(v, Vec3::ZERO), 5.0 / 7.0 * v);
}

#[test]
fn a_spinning_ball_runs_off_with_two_sevenths() {
    let w = Vec3::new(3.0, 20.0, 0.0);
    ends_rolling_at(&mut thrown(Vec3::ZERO, w), 2.0 / 7.0 * w.cross(R * Vec3::Z));
}

#[test]
fn a_ball_with_backspin_comes_back() {
    let (v, w) = (1.0, 40.0);
    let mut sim = thrown(Vec3::X * v, -Vec3::Y * w);
    let back = 5.0 / 7.0 * v - 2.0 / 7.0 * w * R;
    assert!(back < 0.0);
    ends_rolling_at(&mut sim, Vec3::X * back);
}

#[test]
fn a_ball_spun_in_place_spins_for_ever() {
    let w = Vec3::Z * 30.0;
    let mut sim = thrown(Vec3::ZERO, w);
    run(&mut sim, H, steps(2.0, H));
    assert!((spin(&sim, "ball") - w).length() < 1e-9, "spin {}", spin(&sim, "ball"));
    let moved = (position(&sim, "ball") - R * Vec3::Z).length();
    assert!(moved < 1e-9, "walked {moved} m");
}

#[test]
fn on_an_incline_it_rolls_or_slips() {
    let mu = 0.2f64;
    let limit = (3.5 * mu).atan();
    for share in [0.3, 0.6, 0.98, 1.02, 1.3] {
        let angle = share * limit;
        let mut scene = incline(angle, mu);
        scene.bodies.push(laid_on(ball("ball", R, mu), angle));
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        run(&mut sim, H, 500);
        let (down, n, t) = (tilt(angle) * Vec3::X, tilt(angle) * Vec3::Z, 500.0 * H);
        let rolls = angle < limit;
        let a = if rolls { 5.0 / 7.0 * G * angle.sin() } else { G * (angle.sin() - mu * angle.cos()) };
        let v = velocity(&sim, "ball");
        assert!((v - down * (a * t)).length() < 1e-9, "{share} of the limit: {v}; expected {}", a * t);
        // Slipping, the ball spins up with 5/2 μ g cos θ / R.
        let turns = if rolls { a * t } else { 2.5 * mu * G * angle.cos() * t };
        let slipping = slip(&sim, n);
        let expected = down * (a * t - turns);
        assert!((slipping - expected).length() < 1e-9, "{share} of the limit: slips at {slipping}");
    }
}
