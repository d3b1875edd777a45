//! Stops, drives and friction of joints. A falling arm stops at its limit and a rope stops a stone; both carry the load
//! from then on. A position motor settles where stiffness balances the load and follows a path; a velocity motor keeps
//! its rate; a motor that is too weak gives exactly its limit and yields. Dry friction holds up to its limit and slips
//! beyond, with the acceleration that is left.

use crate::stage::{G, empty, position, run, start, velocity};
use stiction::scene::{Force, Joint, JointKind, Motor, Path, Spring, Target};
use stiction::{Body, Geometry, Scene, Scheme, Vec3};

const SCHEMES: [Scheme; 2] = [Scheme::ImplicitEuler, Scheme::Midpoint];

/// An arm of 1 kg, centre 0.5 m from a hinge about −y at the origin: positive angles lift it.
fn arm() -> Scene {
    let mut scene = empty();
    scene
        .bodies
        .push(Body::new("arm", Geometry::Box { half: Vec3::splat(0.1) }).with_mass(1.0).at(0.5, 0.0, 0.0));
    scene.joints.push(Joint::to_world("hinge", JointKind::Hinge, "arm").at(Vec3::ZERO).about(-Vec3::Y));
    scene
}

/// A block of 1 kg on a guide along x.
fn sledge() -> Scene {
    let mut scene = empty();
    scene.bodies.push(Body::new("sledge", Geometry::Box { half: Vec3::splat(0.1) }).with_mass(1.0));
    scene.joints.push(Joint::to_world("guide", JointKind::Prismatic, "sledge").about(Vec3::X));
    scene
}

fn push(scene: &mut Scene, target: &str, force: Vec3) {
    let (torque, at, from, until) = (Vec3::ZERO, None, 0.0, f64::INFINITY);
    scene.forces.push(Force { target: target.into(), force, torque, at, from, until });
}

#[test]
fn stops_stop_and_carry() {
    for scheme in SCHEMES {
        let mut scene = arm();
        scene.joints[0].limits = Some([-0.8, 0.3]);
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 150);
        let (x, rate) = sim.joint_position(0);
        assert!((x + 0.8).abs() < 1e-8 && rate.abs() < 1e-8, "{scheme:?}: {x}, {rate}");
        let (force, moment) = sim.joint_force(0);
        assert!((force - Vec3::new(0.0, 0.0, G)).length() < 1e-6 * G, "{scheme:?}: {force}");
        assert!((moment.y + 0.5 * 0.8f64.cos() * G).abs() < 1e-6 * G, "{scheme:?}: {moment}");
    }
}

#[test]
fn a_rope_is_slack_and_then_taut() {
    for scheme in SCHEMES {
        let mut scene = empty();
        scene
            .bodies
            .push(Body::new("stone", Geometry::Sphere { radius: 0.05 }).with_mass(1.0).at(0.3, 0.0, -0.2));
        let mut rope = Joint::to_world("rope", JointKind::Distance { length: None }, "stone")
            .between(Vec3::ZERO, Vec3::ZERO);
        rope.limits = Some([0.0, 1.0]);
        scene.joints.push(rope);
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 20);
        assert_eq!(sim.joint_force(0).0, Vec3::ZERO, "{scheme:?}: slack");
        assert!(velocity(&sim, "stone").x == 0.0);
        for _ in 0..300 {
            run(&mut sim, 0.01, 1);
            assert!(
                position(&sim, "stone").length() < 1.0 + 1e-6,
                "{scheme:?}: {}",
                position(&sim, "stone").length()
            );
        }
        assert!(sim.joint_force(0).0.length() > 0.0, "{scheme:?}: it swings on the rope");
    }
}

#[test]
fn position_motors_settle_where_they_balance_the_load() {
    for scheme in SCHEMES {
        // Stiff or soft, with a step far above the time scale of the controller.
        for (stiffness, damping) in [(1e6, 1e5), (200.0, 40.0)] {
            let mut scene = arm();
            scene.joints[0].motor = Some(Motor::position(0.4, stiffness, damping));
            let mut sim = start(&scene, scheme);
            run(&mut sim, 0.01, 600);
            let (x, rate) = sim.joint_position(0);
            let moment = 0.5 * G * x.cos();
            assert!((stiffness * (0.4 - x) - moment).abs() < 1e-5 * G, "{scheme:?}, {stiffness}: {x}");
            assert!(rate.abs() < 1e-6, "{scheme:?}, {stiffness}: {rate}");
            assert!((sim.joint_force(0).1.y + moment).abs() < 1e-5 * G);
        }
        // Along a path.
        let mut scene = sledge();
        let path = Path { keys: vec![[0.0, 0.0], [1.0, 0.5], [2.0, 0.2]] };
        let target = Target::Position(path.clone());
        scene.joints[0].motor = Some(Motor { target, stiffness: 1e5, damping: 1e3, limit: f64::INFINITY });
        let mut sim = start(&scene, scheme);
        for _ in 0..250 {
            run(&mut sim, 0.01, 1);
            let x = sim.joint_position(0).0;
            assert!((x - path.value(sim.state().t)).abs() < 5e-3, "{scheme:?}: {x} at {}", sim.state().t);
        }
        assert!((sim.joint_position(0).0 - 0.2).abs() < 1e-6);
    }
}

#[test]
fn velocity_motors_keep_their_rate_and_weak_ones_yield() {
    for scheme in SCHEMES {
        let mut scene = sledge();
        scene.joints[0].motor = Some(Motor::velocity(0.7, 1e4));
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 100);
        assert!((sim.joint_position(0).1 - 0.7).abs() < 1e-9, "{scheme:?}");
        // 3 N against a load of 5 N: it gives 3 N and backs off at 2 m/s².
        push(&mut scene, "sledge", Vec3::new(-5.0, 0.0, 0.0));
        scene.joints[0].motor = Some(Motor::velocity(0.7, 1e4).with_limit(3.0));
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 100);
        assert!((sim.joint_position(0).1 + 2.0).abs() < 1e-9, "{scheme:?}: {}", sim.joint_position(0).1);
        assert!((sim.joint_force(0).0.x - 3.0).abs() < 1e-9);
    }
}

#[test]
fn dry_friction_holds_and_slips() {
    for scheme in SCHEMES {
        for (force, rate) in [(1.9, 0.0), (3.0, 1.0)] {
            let mut scene = sledge();
            scene.joints[0].friction = 2.0;
            push(&mut scene, "sledge", Vec3::new(force, 0.0, 0.0));
            let mut sim = start(&scene, scheme);
            run(&mut sim, 0.01, 100);
            assert!((sim.joint_position(0).1 - rate).abs() < 1e-9, "{scheme:?}, {force} N");
            assert!((sim.joint_force(0).0.x + f64::min(force, 2.0)).abs() < 1e-7);
        }
    }
}

#[test]
fn springs_give_their_deflection() {
    for scheme in SCHEMES {
        // Bending of a fixed joint under a moment of m g ½ m, and sag of its anchor under m g.
        let mut scene = arm();
        scene.joints[0].kind = JointKind::Fixed;
        scene.joints[0].springs.bend = Some(Spring::new(1e4, 1e3));
        scene.joints[0].springs.linear = Some(Spring::new(1e5, 1e3));
        scene.joints[0].axis = Vec3::X;
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 400);
        let sag = G / 1e5 + 0.5 * (0.5 * G / 1e4);
        let z = position(&sim, "arm").z;
        assert!((z + sag).abs() < 1e-3 * sag, "{scheme:?}: {z}, not {}", -sag);
    }
}
