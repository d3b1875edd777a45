//! A box on a floor with elliptic friction curves as maximal dissipation asks.
//!
//! Launched at 45° to the axes of the ellipse with μ₁ ≠ μ₂, it follows v̇ = −g (μ₁² v₁, μ₂² v₂)/√(μ₁² v₁² + μ₂² v₂²)
//! (reference: Runge–Kutta of fourth order): path and place of rest to 1 % of the way at 1 ms, the error of slope 1 in
//! the step. With μ₁ = μ₂ it goes straight.

use crate::stage::{G, cube, floor, position, run, slope, start, steps, velocity};
use stiction::scene::{Combine, SurfaceFriction};
use stiction::{Scheme, Simulation, Vec3};

const SPEED: f64 = 2.0;

/// A box launched at 45° over a floor with μ₁ along the direction at `turn` radians from x.
fn launched(mu1: f64, mu2: f64, turn: f64) -> Simulation {
    let axis = Vec3::new(turn.cos(), turn.sin(), 0.0);
    let mut scene = floor(0.0);
    scene.bodies[0].shapes[0].friction = SurfaceFriction::Elliptic { mu1, mu2, direction: axis };
    // The rougher surface, the box, leaves the ellipse of the floor as it is.
    scene.contact.combine_friction = Combine::Min;
    let mut b = cube("box", 0.1, 10.0);
    b.velocity = SPEED * (axis + Vec3::Z.cross(axis)).normalize();
    scene.bodies.push(b);
    start(&scene, Scheme::ImplicitEuler)
}

/// Place in the axes of the ellipse.
fn place(sim: &Simulation, turn: f64) -> [f64; 2] {
    let axis = Vec3::new(turn.cos(), turn.sin(), 0.0);
    let x = position(sim, "box");
    [x.dot(axis), x.dot(Vec3::Z.cross(axis))]
}

/// Place after `time` by Runge–Kutta steps of 10 µs; stops when the speed does.
fn reference(mu: [f64; 2], time: f64) -> [f64; 2] {
    let h = 1e-5;
    let accelerate = |v: [f64; 2]| {
        let n = (mu[0] * v[0]).hypot(mu[1] * v[1]).max(1e-300);
        [-G * mu[0] * mu[0] * v[0] / n, -G * mu[1] * mu[1] * v[1] / n]
    };
    let (mut x, mut v) = ([0.0; 2], [SPEED * std::f64::consts::FRAC_1_SQRT_2; 2]);
    for _ in 0..steps(time, h) {
        if v[0].hypot(v[1]) < 2.0 * G * h {
            break;
        }
        let plus = |a: [f64; 2], s: f64, b: [f64; 2]| [a[0] + s * b[0], a[1] + s * b[1]];
        let a1 = accelerate(v);
        let v2 = plus(v, 0.5 * h, a1);
        let a2 = accelerate(v2);
        let v3 = plus(v, 0.5 * h, a2);
        let a3 = accelerate(v3);
        let v4 = plus(v, h, a3);
        let a4 = accelerate(v4);
        for k in 0..2 {
            x[k] += h / 6.0 * (v[k] + 2.0 * v2[k] + 2.0 * v3[k] + v4[k]);
            v[k] += h / 6.0 * (a1[k] + 2.0 * a2[k] + 2.0 * a3[k] + a4[k]);
        }
    }
    x
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn it_follows_the_ode_to_rest() {
    for (mu, turn) in [([0.6, 0.2], 0.0), ([0.2, 0.6], 0.0), ([0.5, 0.3], 0.7)] {
        let mut sim = launched(mu[0], mu[1], turn);
        for k in 1..=20 {
            run(&mut sim, 1e-3, 50);
            let expected = reference(mu, 0.05 * k as f64);
            let error = distance(place(&sim, turn), expected);
            let way = expected[0].hypot(expected[1]);
            assert!(error < 0.01 * way, "{mu:?} at {} s: {error} m off after {way} m", 0.05 * k as f64);
        }
        assert!(velocity(&sim, "box").length() < 1e-9, "{mu:?}: at rest after a second");
        let end = place(&sim, turn);
        let bent = (end[0] / end[1] - 1.0).abs();
        assert!(bent > 0.05, "{mu:?}: the path bends: {end:?}");
    }
}

#[test]
fn the_error_is_of_first_order() {
    let (mu, time) = ([0.6, 0.2], 0.32);
    let expected = reference(mu, time);
    let errors: Vec<(f64, f64)> = [8e-3, 4e-3, 2e-3, 1e-3]
        .into_iter()
        .map(|h| {
            let mut sim = launched(mu[0], mu[1], 0.0);
            run(&mut sim, h, steps(time, h));
            (h, distance(place(&sim, 0.0), expected))
        })
        .collect();
    let order = slope(&errors);
    assert!((order - 1.0).abs() < 0.1, "slope {order}: {errors:?}");
}

#[test]
fn equal_coefficients_go_straight() {
    let mut sim = launched(0.4, 0.4, 0.3);
    run(&mut sim, 1e-3, 600);
    let end = place(&sim, 0.3);
    assert!((end[0] - end[1]).abs() < 1e-9, "{end:?}");
    let expected = SPEED * SPEED / (2.0 * 0.4 * G);
    assert!((end[0].hypot(end[1]) / expected - 1.0).abs() < 0.005, "{end:?} is {expected} m away");
}
