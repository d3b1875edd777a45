//! A box on a floor, pushed by F at its centre, stays exactly where it is for F < μ m g and slides with
//! a = F/m − μ g above; a box with speed v₀ stops after v₀²/(2 μ g).
//!
//! Step by step the box follows v_n = v_{n−1} + h a, x_n = x_{n−1} + h v_n to 5e-9 (v never below zero when it brakes)
//! at 1 ms with the exact solver, to 1e-6 with Gauss–Seidel; the stopping distance is right to 0.5 %. It neither lifts
//! nor turns (less than 1e-8 rad; Gauss–Seidel 2e-6).

use crate::stage::{G, cube, floor, position, run, start_with, steps, turned, velocity};
use stiction::scene::Force;
use stiction::{Quat, Scene, Scheme, Simulation, SolverKind, Vec3};

const H: f64 = 1e-3;
const MU: f64 = 0.5;
/// Solvers of Coulomb's law with what they may be off by after a second [m, m/s]. The exact one aims at 1e-9 of the
/// fastest speed, here 2 m/s, at each step; Gauss–Seidel stops at its tolerance.
const SOLVERS: [(SolverKind, f64); 2] = [(SolverKind::Exact, 5e-9), (SolverKind::Pgs, 1e-6)];

fn pushed(force: Vec3) -> Scene {
    let mut scene = floor(MU);
    scene.bodies.push(cube("box", 0.1, MU));
    scene.forces.push(Force {
        target: "box".into(),
        force,
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    });
    scene
}

fn upright(sim: &Simulation, small: f64) {
    let turn = turned(sim, "box", Quat::IDENTITY);
    assert!(turn < 2.0 * small, "turned by {turn} rad");
    let lift = position(sim, "box").z - 0.1;
    assert!(lift.abs() < small, "lifted by {lift} m");
}

#[test]
fn below_the_threshold_it_stays() {
    for (solver, small) in SOLVERS {
        for share in [0.1, 0.5, 0.9, 0.999] {
            let push = Vec3::new(0.6, 0.8, 0.0) * (share * MU * G);
            let mut sim = start_with(&pushed(push), Scheme::ImplicitEuler, solver);
            run(&mut sim, H, 1000);
            let (x, v) = (position(&sim, "box") - Vec3::Z * 0.1, velocity(&sim, "box"));
            assert!(v.length() < 0.02 * small, "{solver:?} at {share} of the threshold: speed {v}");
            assert!(x.length() < 0.02 * small, "{solver:?} at {share} of the threshold: moved {x}");
            upright(&sim, small);
        }
    }
}

#[test]
fn above_the_threshold_it_accelerates() {
    for (solver, small) in SOLVERS {
        for share in [1.001, 1.1, 1.5] {
            let along = Vec3::new(0.6, 0.8, 0.0);
            let mut sim = start_with(&pushed(along * (share * MU * G)), Scheme::ImplicitEuler, solver);
            let a = (share - 1.0) * MU * G;
            for n in 1..=1000 {
                run(&mut sim, H, 1);
                let t = n as f64 * H;
                let (x, v) = (position(&sim, "box"), velocity(&sim, "box"));
                assert!((v - along * (a * t)).length() < small, "{solver:?}, {share}, {t} s: speed {v}");
                let expected = along * (0.5 * a * t * (t + H)) + Vec3::Z * 0.1;
                assert!((x - expected).length() < small, "{solver:?}, {share}, {t} s: at {x}");
            }
            upright(&sim, small);
        }
    }
}

#[test]
fn it_stops_after_the_stopping_distance() {
    for (solver, small) in SOLVERS {
        let (mut scene, v0) = (floor(MU), 2.0);
        let mut b = cube("box", 0.1, MU);
        b.velocity = Vec3::X * v0;
        scene.bodies.push(b);
        let mut sim = start_with(&scene, Scheme::ImplicitEuler, solver);
        let (mut x, mut v) = (0.0, v0);
        for _ in 0..steps(1.0, H) {
            run(&mut sim, H, 1);
            v = f64::max(v - MU * G * H, 0.0);
            x += H * v;
            assert!((velocity(&sim, "box") - Vec3::X * v).length() < small, "{solver:?}: speed after {x} m");
            assert!((position(&sim, "box").x - x).abs() < small, "{solver:?}: at {x} m");
        }
        assert_eq!(v, 0.0, "the story ends at rest");
        let distance = v0 * v0 / (2.0 * MU * G);
        let error = position(&sim, "box").x / distance - 1.0;
        assert!(error.abs() < 0.005, "{solver:?}: stopping distance off by {error}");
        upright(&sim, small);
    }
}
