//! A box on an incline stays at atan μ − 1° and slides at atan μ + 1° with a = g (sin θ − μ cos θ).
//!
//! Sliding, the speed after n steps of 2 ms is n h a and the way a h² n (n + 1)/2, both to 1e-6 of themselves, for
//! friction from ice to rubber; staying, the speed is below 1e-10 m/s.

use crate::stage::{G, cube, incline, laid_on, position, run, start, tilt, turned, velocity};
use stiction::{Body, Geometry, Scheme, Simulation, Vec3};

const H: f64 = 2e-3;
const STEPS: usize = 250;

/// A box flat enough to slide before it tips, half a second on an incline.
fn on_incline(mu: f64, angle: f64) -> Simulation {
    let mut scene = incline(angle, mu);
    let half = Vec3::new(0.2, 0.15, 0.05);
    let plate = Body { shapes: Body::new("", Geometry::Box { half }).shapes, ..cube("box", half.z, mu) };
    scene.bodies.push(laid_on(plate.with_friction(mu), angle));
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    run(&mut sim, H, STEPS);
    sim
}

const FRICTION: [f64; 5] = [0.05, 0.2, 0.5, 0.8, 1.2];

#[test]
fn one_degree_below_it_stays() {
    for mu in FRICTION {
        let angle = mu.atan() - 1f64.to_radians();
        let sim = on_incline(mu, angle);
        let v = velocity(&sim, "box").length();
        assert!(v < 1e-10, "mu {mu}: slides at {v} m/s");
        let moved = (position(&sim, "box") - tilt(angle) * (Vec3::Z * 0.05)).length();
        assert!(moved < 1e-9, "mu {mu}: moved by {moved} m");
    }
}

#[test]
fn one_degree_above_it_slides() {
    for mu in FRICTION {
        let angle = mu.atan() + 1f64.to_radians();
        let sim = on_incline(mu, angle);
        let a = G * (angle.sin() - mu * angle.cos());
        let (down, t) = (tilt(angle) * Vec3::X, STEPS as f64 * H);
        let v = velocity(&sim, "box");
        assert!((v - down * (a * t)).length() < 1e-6 * a * t, "mu {mu}: {v} instead of {}", a * t);
        let moved = position(&sim, "box") - tilt(angle) * (Vec3::Z * 0.05);
        let way = 0.5 * a * t * (t + H);
        assert!((moved - down * way).length() < 1e-6 * way, "mu {mu}: {moved} instead of {way}");
        let turn = turned(&sim, "box", tilt(angle));
        assert!(turn < 1e-8, "mu {mu}: turned by {turn} rad");
    }
}
