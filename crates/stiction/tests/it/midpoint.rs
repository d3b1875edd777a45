//! The midpoint scheme obeys the contact law at the end of each step, too.
//!
//! With the contact law on z = (v + v⁺)/2 alone, a body that is stopped in a step (z = 0) leaves it with v⁺ = −v: it
//! would bounce elastically off every floor, and a body at rest would flip between ±v. So dropped bodies with e = 0 come
//! to rest in the step after they arrive, and stay there with a velocity below 1e-9 m/s. A sliding box follows
//! v⁺ = v − μ g h, x⁺ = x + h (v + v⁺)/2, so that its stopping distance is v₀²/(2 μ g) to second order (1e-5 at
//! 1 ms); on an incline a box slides by exactly ½ a t².

use crate::stage::{G, cube, floor, incline, laid_on, position, run, start, steps, tilt, velocity};
use stiction::{Scheme, Vec3};

#[test]
fn a_dropped_box_comes_to_rest_at_once() {
    for h in [1e-3, 5e-3, 1e-2] {
        let mut scene = floor(0.5);
        scene.bodies.push(cube("box", 0.1, 0.5).at(0.0, 0.0, 0.6));
        let mut sim = start(&scene, Scheme::Midpoint);
        let arrival = (2.0 * 0.5 / G).sqrt();
        run(&mut sim, h, (arrival / h) as usize + 2);
        let mut fastest: f64 = 0.0;
        for _ in 0..steps(1.0, h) {
            run(&mut sim, h, 1);
            fastest = fastest.max(velocity(&sim, "box").length());
        }
        assert!(fastest < 1e-9, "h {h}: moves at up to {fastest} m/s after it has arrived");
        let z = position(&sim, "box").z;
        assert!((z - 0.1).abs() < 1e-9, "h {h}: rests at {z} m");
    }
}

#[test]
fn a_tilted_box_comes_to_rest_without_bouncing() {
    let h = 5e-3;
    let mut scene = floor(0.5);
    let mut b = cube("box", 0.1, 0.5).at(0.0, 0.0, 0.4);
    b.pose.rotation = tilt(0.3);
    scene.bodies.push(b);
    let mut sim = start(&scene, Scheme::Midpoint);
    let mut energy = f64::INFINITY;
    for _ in 0..steps(2.0, h) {
        run(&mut sim, h, 1);
        let e = sim.energy();
        let total = e.kinetic + e.potential;
        // Impacts only take energy; a hair is left for the linearised gap of a turning corner.
        assert!(total < energy + 2e-3 * G, "at {} s: energy rises from {energy} to {total} J", sim.state().t);
        energy = total;
    }
    assert!(sim.energy().kinetic < 1e-16, "rests with {} J", sim.energy().kinetic);
    assert!((position(&sim, "box").z - 0.1).abs() < 1e-4);
}

#[test]
fn a_sliding_box_stops_after_the_stopping_distance() {
    let (mu, v0, h) = (0.5, 2.0, 1e-3);
    let mut scene = floor(mu);
    let mut b = cube("box", 0.1, mu);
    b.velocity = Vec3::X * v0;
    scene.bodies.push(b);
    let mut sim = start(&scene, Scheme::Midpoint);
    let (mut x, mut v) = (0.0, v0);
    while v > 0.0 {
        run(&mut sim, h, 1);
        let next = f64::max(v - mu * G * h, 0.0);
        // The last step: friction can stop the mid-step velocity, or not.
        x += h * f64::max(v - 0.5 * mu * G * h, 0.0);
        v = next;
        assert!((velocity(&sim, "box").x - v).abs() < 5e-9, "speed after {x} m");
        assert!(
            (position(&sim, "box").x - x).abs() < 1e-9,
            "at {} instead of {x} m",
            position(&sim, "box").x
        );
    }
    run(&mut sim, h, 500);
    let distance = v0 * v0 / (2.0 * mu * G);
    let error = position(&sim, "box").x / distance - 1.0;
    assert!(error.abs() < 1e-5, "stopping distance off by {error}");
    assert!(velocity(&sim, "box").length() < 1e-9, "at rest");
}

#[test]
fn on_an_incline_it_slides_by_the_parabola() {
    let (mu, angle, h) = (0.3f64, 0.4f64, 0.01);
    let mut scene = incline(angle, mu);
    scene.bodies.push(laid_on(cube("box", 0.1, mu), angle));
    let mut sim = start(&scene, Scheme::Midpoint);
    run(&mut sim, h, 100);
    let a = G * (angle.sin() - mu * angle.cos());
    let moved = position(&sim, "box") - tilt(angle) * (Vec3::Z * 0.1);
    let expected = tilt(angle) * Vec3::X * (0.5 * a);
    assert!((moved - expected).length() < 1e-7, "moved by {moved}, expected {expected}");
}
