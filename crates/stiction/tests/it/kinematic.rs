//! Bodies that move as prescribed carry others along by contact alone.
//!
//! Conveyor at speed w: a box put on it slides with a = μ g until it moves with the belt at t = w/(μ g), then exactly
//! at belt speed. Turntable: a box stays in its place on the table to 1e-9 m, at 1 ms and 10 ms alike, while
//! ω² r < μ g, and leaves it above. Lift through keyframes: the sensor of a box reads m g at constant speed and
//! m (g ± a) where the lift speeds up or brakes, to 1e-8.

use crate::stage;

use crate::stage::{G, cube, empty, force_on, position, run, spin, start, velocity};
use stiction::coords::Pose;
use stiction::linalg::rotation;
use stiction::scene::{Ease, Keyframe, Motion};
use stiction::{Body, Geometry, Scene, Scheme, Vec3};

const MU: f64 = 0.4;

/// A plate with its upper side at z = 0 that moves as told.
fn plate(motion: Motion) -> Scene {
    let mut scene = empty();
    let mut plate = Body::new("plate", Geometry::Box { half: Vec3::new(5.0, 5.0, 0.1) })
        .with_friction(MU)
        .at(0.0, 0.0, -0.1);
    plate.motion = motion;
    scene.bodies.push(plate);
    scene
}

#[test]
fn a_conveyor_takes_a_box_along() {
    let (h, belt) = (1e-3, Vec3::new(0.9, 1.2, 0.0));
    let mut scene = plate(Motion::Constant { velocity: belt, spin: Vec3::ZERO });
    scene.bodies.push(cube("box", 0.1, MU));
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let (along, speed) = (belt.normalize(), belt.length());
    let mut x = 0.0;
    for n in 1..=1000 {
        run(&mut sim, h, 1);
        let v = f64::min(MU * G * h * n as f64, speed);
        x += h * v;
        let (now, at) = (velocity(&sim, "box"), position(&sim, "box"));
        assert!((now - along * v).length() < 5e-9, "step {n}: moves at {now} instead of {v} m/s");
        assert!((at - along * x - Vec3::Z * 0.1).length() < 5e-9, "step {n}: at {at} instead of {x} m");
    }
    assert!(speed / (MU * G) < 0.5, "the story ends with the box on the belt");
}

/// Where a small box at radius `r` is, in the frame of a table that turns at `w`, from its place after 2 s.
fn turned_off(w: f64, r: f64, h: f64) -> f64 {
    let mut scene = plate(Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::Z * w });
    let mut b = cube("box", 0.02, MU).at(r, 0.0, 0.02);
    (b.velocity, b.spin) = (Vec3::Y * (w * r), Vec3::Z * w);
    scene.bodies.push(b);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let steps = stage::steps(2.0, h);
    run(&mut sim, h, steps);
    let back = rotation::exp(Vec3::Z * (-w * h * steps as f64));
    let moved = back * position(&sim, "box") - Vec3::new(r, 0.0, 0.02);
    if moved.length() < 0.1 * r {
        let w_box = spin(&sim, "box");
        assert!((w_box - Vec3::Z * w).length() < 1e-8 * w, "turns with the table: {w_box}");
    }
    moved.length()
}

#[test]
fn a_turntable_holds_what_is_near_its_axis() {
    let w = 3.0;
    let critical = MU * G / (w * w);
    for h in [1e-3, 1e-2] {
        for share in [0.2, 0.6, 0.95] {
            let moved = turned_off(w, share * critical, h);
            assert!(moved < 1e-9, "{share} of the critical radius: moved by {moved} m");
        }
        let moved = turned_off(w, 1.05 * critical, h);
        assert!(moved > 0.5 * critical, "beyond the critical radius it leaves: moved by {moved} m");
    }
}

#[test]
fn a_lift_weighs_what_it_carries() {
    // z = ½ a t² from 1 s to 2 s in keys of one step, then constant speed, then braking to rest.
    let (h, a, m): (f64, f64, f64) = (0.01, 2.0, 5.0);
    let height = |t: f64| match t {
        t if t < 1.0 => 0.0,
        t if t < 2.0 => 0.5 * a * (t - 1.0) * (t - 1.0),
        t if t < 3.0 => 0.5 * a + a * (t - 2.0),
        t if t < 4.0 => 1.5 * a + a * (t - 3.0) - 0.5 * a * (t - 3.0) * (t - 3.0),
        _ => 2.0 * a,
    };
    let keys = (0..=500)
        .map(|k| {
            let time = k as f64 * h;
            Keyframe { time, pose: Pose::from_translation(Vec3::Z * (height(time) - 0.1)) }
        })
        .collect();
    let mut scene = plate(Motion::Keyframes { keys, ease: Ease::Linear });
    scene.bodies.push(cube("box", 0.1, MU).with_mass(m));
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for n in 0..500 {
        run(&mut sim, h, 1);
        let t = n as f64 * h;
        // Away from the first step of a phase, where the speed of the polygon changes by half as much.
        let inside = |from: f64, to: f64| t > from + 1.5 * h && t < to - 0.5 * h;
        let expected = if inside(1.0, 2.0) {
            m * (G + a)
        } else if inside(3.0, 4.0) {
            m * (G - a)
        } else if inside(0.0, 1.0) || inside(2.0, 3.0) || inside(4.0, 5.0) {
            m * G
        } else {
            continue;
        };
        let force = force_on(&sim, "box");
        let error = (force - Vec3::Z * expected).length() / expected;
        assert!(error < 1e-8, "at {t} s: {force} instead of {expected} N");
        let z = position(&sim, "box").z - height(t + h) - 0.1;
        assert!(z.abs() < 1e-8, "at {t} s: {z} m above the lift");
    }
    assert!((position(&sim, "box").z - 2.0 * a - 0.1).abs() < 1e-8, "arrives at the top");
}
