//! A pendulum hangs on a hinge. Its period is that of the closed form (elliptic integral, here by the arithmetic-
//! geometric mean), with the error that the order of the scheme promises; the midpoint scheme keeps the energy of a pendulum and of
//! a double pendulum in a band that shrinks with h², and the anchors agree to 1e-9 m at every step. The joint force at
//! the lowest point is m g + m v²/r, and it hangs still at m g.

use crate::stage::{G, empty, run, slope, start};
use stiction::coords::Pose;
use stiction::scene::{Joint, JointKind, MassSpec};
use stiction::{Body, Geometry, Mat3, Quat, Scene, Scheme, Simulation, Vec3};

/// A rod of length 1 m and 1 kg along x whose left end is at `end`.
fn rod(name: &str, end: Vec3) -> Body {
    let mut b = Body::new(name, Geometry::Sphere { radius: 0.01 });
    b.pose.translation = end + Vec3::new(0.5, 0.0, 0.0);
    let i = 1.0 / 12.0;
    b.mass =
        MassSpec::Given { mass: 1.0, inertia: Mat3::from_diagonal(Vec3::new(1e-3, i, i)), com: Vec3::ZERO };
    b
}

/// `n` rods in a row, hinged about y, the first to the world at the origin.
fn chain(n: usize) -> Scene {
    let mut scene = empty();
    for k in 0..n {
        let end = Vec3::new(k as f64, 0.0, 0.0);
        scene.bodies.push(rod(&format!("rod {k}"), end));
        let name = format!("hinge {k}");
        let joint = match k {
            0 => Joint::to_world(name, JointKind::Hinge, "rod 0"),
            _ => Joint::new(name, JointKind::Hinge, format!("rod {}", k - 1), format!("rod {k}")),
        };
        scene.joints.push(joint.at(end).about(Vec3::Y));
    }
    scene
}

/// Turns all bodies of a scene about the origin.
fn turned(mut scene: Scene, angle: f64) -> Scene {
    let turn = Quat::from_rotation_y(angle);
    for b in &mut scene.bodies {
        b.pose = Pose::from_parts(turn * b.pose.translation, turn * b.pose.rotation);
    }
    for j in &mut scene.joints {
        if let stiction::scene::JointAnchor::World(p) = &mut j.anchor {
            *p = turn * *p;
        }
    }
    scene
}

fn total(sim: &Simulation) -> f64 {
    let e = sim.energy();
    e.kinetic + e.potential
}

/// Period of a rod of 1 m that swings to `amplitude` from hanging: T₀/agm(1, cos(amplitude/2)).
fn period(amplitude: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * amplitude).cos());
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    std::f64::consts::TAU * (2.0 / (3.0 * G)).sqrt() / a
}

/// Time of the first return to rest, from the zero of the rate between two steps.
fn measured_period(scheme: Scheme, h: f64) -> f64 {
    // Hanging is a turn of +90° about y; it starts 1 rad beside that.
    let mut sim = start(&turned(chain(1), std::f64::consts::FRAC_PI_2 - 1.0), scheme);
    let (mut last, mut crossings) = (0.0, 0);
    loop {
        run(&mut sim, h, 1);
        assert!(sim.report().joint_error < 1e-9, "{:e}", sim.report().joint_error);
        let (x, t) = (sim.joint_position(0).0 - 1.0, sim.state().t);
        if x * last < 0.0 {
            crossings += 1;
            if crossings == 3 {
                // The third pass through the lowest point: 5/4 periods.
                return (t - h * x / (x - last)) / 1.25;
            }
        }
        last = x;
    }
}

#[test]
fn the_period_is_that_of_the_closed_form() {
    let exact = period(1.0);
    for scheme in [Scheme::Midpoint, Scheme::ImplicitEuler] {
        let errors = [0.02, 0.01, 0.005].map(|h| (h, (measured_period(scheme, h) - exact).abs()));
        let order = slope(&errors);
        match scheme {
            Scheme::Midpoint => {
                assert!(
                    errors[2].1 < 5e-5 * exact && (1.9..2.1).contains(&order),
                    "{errors:?}: order {order}"
                );
            }
            // Its velocities belong to the middle of a step: it starts half a step late, and goes on exactly.
            Scheme::ImplicitEuler => {
                assert!(
                    errors[2].1 < 0.5 * 0.005 && (0.9..1.1).contains(&order),
                    "{errors:?}: order {order}"
                );
            }
        }
    }
}

/// Largest deviation of the energy from that of the start.
fn energy_band(scene: &Scene, scheme: Scheme, h: f64, time: f64) -> f64 {
    let mut sim = start(scene, scheme);
    let before = total(&sim);
    let mut worst = 0.0_f64;
    for _ in 0..(time / h) as usize {
        run(&mut sim, h, 1);
        worst = worst.max((total(&sim) - before).abs());
        assert!(sim.report().joint_error < 1e-9);
    }
    worst
}

#[test]
fn midpoint_keeps_the_energy_in_a_band_of_second_order() {
    for n in [1, 2] {
        // From horizontal: the double pendulum falls through a wild motion of about 20 J.
        let bands = [0.004, 0.002, 0.001].map(|h| (h, energy_band(&chain(n), Scheme::Midpoint, h, 3.0)));
        let order = slope(&bands);
        assert!(bands[1].1 < 2e-3 * n as f64 * G, "{n} rods: {bands:?} J");
        assert!(order > 1.7, "{n} rods: {bands:?} J, order {order}");
    }
}

#[test]
fn the_joint_force_is_weight_and_centripetal_force() {
    for scheme in [Scheme::Midpoint, Scheme::ImplicitEuler] {
        // Hanging still.
        let mut sim = start(&turned(chain(1), std::f64::consts::FRAC_PI_2), scheme);
        run(&mut sim, 0.01, 20);
        let (force, moment) = sim.joint_force(0);
        assert!((force - Vec3::new(0.0, 0.0, G)).length() < 1e-6 * G, "{scheme:?}: {force}");
        assert!(moment.length() < 1e-6 * G);
        // Dropped from horizontal: at the lowest point m g + m ω² r with ω² = 3 g, r = ½: 5/2 m g.
        let mut sim = start(&chain(1), scheme);
        let h = 1e-3;
        while sim.joint_position(0).0 < std::f64::consts::FRAC_PI_2 {
            run(&mut sim, h, 1);
        }
        let (force, _) = sim.joint_force(0);
        assert!((force.z - 2.5 * G).abs() < 0.02 * G, "{scheme:?}: {force}");
    }
}
