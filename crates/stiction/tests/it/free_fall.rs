//! A thrown body falls as its scheme says, to rounding, and the schemes have the order that they promise.
//!
//! Free flight is exact in both: v_n = v₀ − n h g and z_n = z₀ + v₀ t − g t²/2. A force that sets in a
//! third of a step late has the right impulse but acts in the middle of its step, so that the motion is off by
//! a h²/9 for ever after: slope 2. Bodies and particles alike. What a weak spring holds does not fly: implicit Euler moves it by h v⁺,
//! so that its fall is off by g t h/2: slope 1.

use crate::stage;

use crate::stage::{G, empty, position, run, slope, start, steps, velocity};
use stiction::scene::{Force, Particle, SpringEnd, SpringSpec};
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
fn each_scheme_follows_the_parabola() {
    let h = 0.01;
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = start(&thrown(), scheme);
        for n in 1..=200 {
            run(&mut sim, h, 1);
            let t = n as f64 * h;
            let expected = THROW * t - Vec3::Z * (0.5 * G * t * t);
            for path in paths(&sim) {
                assert!((path - expected).length() < 1e-12 * 40.0, "{scheme:?} at {t} s: {path} {expected}");
            }
            let v = velocity(&sim, "stone");
            assert!((v - (THROW - Vec3::Z * (G * t))).length() < 1e-12 * 20.0, "{scheme:?}: {v}");
        }
    }
}

#[test]
fn a_thrown_box_tumbles_along_a_parabola() {
    let (h, n) = (0.01, 200);
    let (v, w) = (THROW, Vec3::new(7.0, -3.0, 11.0));
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = empty();
        let mut it = Body::new("it", Geometry::Box { half: Vec3::new(0.1, 0.2, 0.3) }).at(0.0, 0.0, 10.0);
        (it.velocity, it.spin) = (v, w);
        scene.bodies.push(it);
        let mut sim = start(&scene, scheme);
        let inertia = |sim: &Simulation| {
            let b = &sim.model().bodies[0];
            b.world_inertia(stage::orientation(sim, "it"))
        };
        let before = inertia(&sim) * w;
        run(&mut sim, h, n);
        let t = n as f64 * h;
        let expected = Vec3::new(0.0, 0.0, 10.0) + v * t - Vec3::Z * (0.5 * G * t * t);
        let off = (position(&sim, "it") - expected).length();
        assert!(off < 1e-12 * 40.0, "{scheme:?}: off the parabola by {off} m");
        let after = inertia(&sim) * stage::spin(&sim, "it");
        assert!((after - before).length() < 1e-12 * before.length(), "{scheme:?}: {before} {after}");
    }
}

#[test]
fn implicit_euler_is_of_first_order_where_something_holds() {
    let errors: Vec<(f64, f64)> = [0.04, 0.02, 0.01, 0.005]
        .into_iter()
        .map(|h| {
            let mut scene = thrown();
            let end = |on: Option<&str>| SpringEnd { on: on.map(str::to_string), at: Vec3::ZERO };
            let weak = SpringSpec::new("weak", [end(Some("stone")), end(None)], 1e-12);
            scene.springs.push(weak);
            let mut sim = start(&scene, Scheme::ImplicitEuler);
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
fn both_are_of_second_order_where_a_force_sets_in() {
    let a = 4.0;
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
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
                let mut sim = start(&scene, scheme);
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
}
