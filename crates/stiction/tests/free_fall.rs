//! A thrown body falls as its scheme says, to rounding, and the schemes have the order that they promise.
//!
//! Implicit Euler: v_n = v₀ − n h g and z_n = z₀ + n h v₀ − g h² n (n + 1)/2, so that the error against
//! z₀ + v₀ t − g t²/2 is g t h/2: slope 1. Midpoint: z_n = z₀ + v₀ t − g t²/2 without error. A force that sets in a
//! third of a step late has the right impulse but acts in the middle of its step, so that the midpoint scheme is off by
//! a h²/9 for ever after: slope 2. Bodies and particles alike.

mod stage;

use stage::{G, empty, position, run, slope, start, steps, velocity};
use stiction::scene::{Force, Particle};
use stiction::{Body, Geometry, Scene, Scheme, Simulation, Vec3};

const THROW: Vec3 = Vec3::new(1.0, -0.5, 3.0);

fn thrown() -> Scene {
    let mut scene = empty();
    let mut stone = Body::new("stone", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 10.0);
    stone.velocity = THROW;
    scene.bodies.push(stone);
    scene.particles.push(Particle {
        name: "grain".into(),
        mass: 0.02,
        radius: 0.0,
        position: Vec3::new(3.0, 3.0, 10.0),
        velocity: THROW,
        friction: 0.5,
        restitution: 0.0,
    });
    scene
}

/// How far stone and grain have come, both from the origin.
fn paths(sim: &Simulation) -> [Vec3; 2] {
    let grain = sim.model().node_position(sim.state(), stiction::coords::NodeId(0));
    [position(sim, "stone") - Vec3::new(0.0, 0.0, 10.0), grain - Vec3::new(3.0, 3.0, 10.0)]
}

#[test]
fn each_scheme_follows_its_discrete_solution() {
    let h = 0.01;
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = start(&thrown(), scheme);
        for n in 1..=200 {
            run(&mut sim, h, 1);
            let t = n as f64 * h;
            let fall = match scheme {
                Scheme::ImplicitEuler => 0.5 * G * t * (t + h),
                Scheme::Midpoint => 0.5 * G * t * t,
            };
            let expected = THROW * t - Vec3::Z * fall;
            for path in paths(&sim) {
                assert!((path - expected).length() < 1e-12 * 40.0, "{scheme:?} at {t} s: {path} {expected}");
            }
            let v = velocity(&sim, "stone");
            assert!((v - (THROW - Vec3::Z * (G * t))).length() < 1e-12 * 20.0, "{scheme:?}: {v}");
        }
    }
}

#[test]
fn implicit_euler_is_of_first_order() {
    let errors: Vec<(f64, f64)> = [0.04, 0.02, 0.01, 0.005]
        .into_iter()
        .map(|h| {
            let mut sim = start(&thrown(), Scheme::ImplicitEuler);
            run(&mut sim, h, steps(2.0, h));
            let error = (paths(&sim)[0].z - (THROW.z * 2.0 - 2.0 * G)).abs();
            assert!((error / (G * h) - 1.0).abs() < 1e-9, "g t h/2 at t = 2 s, h = {h}: {error}");
            (h, error)
        })
        .collect();
    let order = slope(&errors);
    assert!((order - 1.0).abs() < 1e-6, "slope {order}");
}

#[test]
fn midpoint_is_of_second_order() {
    let a = 4.0;
    let errors: Vec<(f64, f64)> = [0.08, 0.04, 0.02, 0.01]
        .into_iter()
        .map(|h| {
            let mut scene = thrown();
            let mass = 2.0;
            scene.bodies[0] = scene.bodies[0].clone().with_mass(mass);
            // Halving h turns a third of a step into two thirds and back: both give a h²/9.
            let from = 0.08 * (5.0 + 1.0 / 3.0);
            scene.forces.push(Force {
                target: "stone".into(),
                force: Vec3::X * (mass * a),
                torque: Vec3::ZERO,
                at: None,
                from,
                until: f64::INFINITY,
            });
            let mut sim = start(&scene, Scheme::Midpoint);
            run(&mut sim, h, steps(2.0, h));
            let exact = THROW.x * 2.0 + 0.5 * a * (2.0 - from) * (2.0 - from);
            let error = (paths(&sim)[0].x - exact).abs();
            assert!((error / (a * h * h / 9.0) - 1.0).abs() < 1e-8, "a h²/9 at h = {h}: {error}");
            let v = velocity(&sim, "stone").x;
            assert!((v - THROW.x - a * (2.0 - from)).abs() < 1e-12, "the impulse is exact: {v}");
            (h, error)
        })
        .collect();
    let order = slope(&errors);
    assert!((order - 2.0).abs() < 1e-6, "slope {order}");
}
