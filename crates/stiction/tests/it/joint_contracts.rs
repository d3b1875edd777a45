//! Contracts of joints: a snapshot resumes bit for bit; a scene that cannot be is refused with the name of the joint and
//! the remedy; bodies that are joined pass through each other unless the joint says otherwise; a joint can be driven by a
//! body that moves as prescribed; every solver holds joints.

use crate::stage::{empty, position, run, start, start_with};
use stiction::scene::{Joint, JointAnchor, JointKind, Motion, Motor, Reads, Sensor, Spring};
use stiction::{Body, Geometry, Scene, Scheme, Simulation, SolverKind, Vec3};

/// Three links on hinges over a floor, the second with a motor.
fn arm() -> Scene {
    let mut scene = empty();
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().at(0.0, 0.0, -1.2));
    for k in 0..3 {
        let half = Vec3::new(0.2, 0.05, 0.05);
        scene.bodies.push(Body::new(format!("{k}"), Geometry::Box { half }).at(
            0.2 + 0.4 * k as f64,
            0.0,
            0.0,
        ));
        let at = Vec3::new(0.4 * k as f64, 0.0, 0.0);
        let joint = match k {
            0 => Joint::to_world("0", JointKind::Hinge, "0"),
            _ => Joint::new(format!("{k}"), JointKind::Hinge, format!("{}", k - 1), format!("{k}")),
        };
        scene.joints.push(joint.at(at).about(Vec3::Y));
    }
    scene.joints[1].motor = Some(Motor::position(0.5, 300.0, 10.0).with_limit(15.0));
    scene.joints[2].limits = Some([-0.3, 0.6]);
    scene
}

#[test]
fn snapshots_resume_bit_for_bit() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = start(&arm(), scheme);
        run(&mut sim, 0.01, 60);
        let middle = sim.snapshot();
        run(&mut sim, 0.01, 60);
        let end = sim.snapshot();
        let mut other: Simulation = start(&arm(), scheme);
        other.restore(&middle);
        run(&mut other, 0.01, 60);
        assert_eq!(other.snapshot(), end, "{scheme:?}");
        assert_eq!(other.joint_force(2), sim.joint_force(2));
    }
}

#[test]
fn every_error_names_the_joint_and_the_remedy() {
    type Spoil = fn(&mut Scene);
    let cases: &[(&str, &str, Spoil)] = &[
        ("joint `1`", "disagree by", |s| {
            s.joints[1].anchor =
                JointAnchor::Points { a: Vec3::new(0.3, 0.0, 0.0), b: Vec3::new(-0.2, 0.0, 0.0) };
        }),
        ("joint `1`", "particle `none`", |s| s.joints[1].b = "none".into()),
        ("joint `1`", "to itself", |s| s.joints[1].a = Some("1".into())),
        ("joint `0`", "neither side moves freely", |s| s.bodies[1].motion = Motion::Fixed),
        ("joint `0`", "zero length", |s| s.joints[0].axis = Vec3::ZERO),
        ("joint `2`", "leave nothing", |s| s.joints[2].limits = Some([1.0, -1.0])),
        ("joint `2`", "outside its limits", |s| s.joints[2].limits = Some([0.2, 1.0])),
        ("joint `0`", "stiffness of its bend spring", |s| {
            s.joints[0].springs.bend = Some(Spring::new(-1.0, 0.0))
        }),
        ("joint `0`", "neither stiffness nor damping", |s| {
            s.joints[0].springs.twist = Some(Spring::new(0.0, 0.0))
        }),
        ("joint `0`", "does not slide", |s| s.joints[0].springs.slide = Some(Spring::new(1.0, 0.0))),
        ("joint `0`", "no single free direction", |s| {
            s.joints[0].kind = JointKind::Ball;
            s.joints[0].friction = 1.0;
        }),
        ("joint `1`", "limit of its motor", |s| s.joints[1].motor.as_mut().unwrap().limit = 0.0),
        ("joint `0`", "not perpendicular", |s| {
            s.joints[0].kind = JointKind::Universal { second: Vec3::new(0.0, 1.0, 1.0) };
        }),
        ("joint `1`", "name is taken", |s| s.joints[2].name = "1".into()),
        ("joint `0`", "coincide", |s| s.joints[0].kind = JointKind::Distance { length: Some(1.0) }),
        ("sensor `x`", "no joint `none`", |s| {
            s.sensors.push(Sensor { name: "x".into(), reads: Reads::JointForce("none".into()) });
        }),
        ("sensor `x`", "no single position", |s| {
            s.joints[0].kind = JointKind::Ball;
            s.sensors.push(Sensor { name: "x".into(), reads: Reads::Joint("0".into()) });
        }),
    ];
    for (item, problem, spoil) in cases {
        let mut scene = arm();
        spoil(&mut scene);
        let Err(e) = scene.compile() else { panic!("{item}: {problem} was accepted") };
        assert!(e.item == *item && e.problem.contains(problem), "{e}, not {item}: {problem}");
    }
}

#[test]
fn joined_bodies_overlap_unless_they_are_told_not_to() {
    for collide in [false, true] {
        let mut scene = Scene::default();
        for (name, x) in [("a", 0.0), ("b", 0.3)] {
            scene
                .bodies
                .push(Body::new(name, Geometry::Sphere { radius: 0.1 }).with_mass(1.0).at(x, 0.0, 0.0));
        }
        scene.bodies[1].velocity.x = -0.5;
        let mut guide = Joint::new("guide", JointKind::Prismatic, "a", "b").about(Vec3::X);
        guide.collide = collide;
        scene.joints.push(guide);
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        run(&mut sim, 0.01, 100);
        let apart = position(&sim, "b").x - position(&sim, "a").x;
        assert_eq!(apart > 0.199, collide, "{apart}");
    }
}

#[test]
fn prescribed_bodies_carry_what_is_joined_to_them() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = empty();
        let mut wheel = Body::new("wheel", Geometry::Sphere { radius: 0.1 });
        wheel.motion =
            Motion::Constant { velocity: Vec3::new(0.3, 0.0, 0.0), spin: Vec3::new(0.0, 3.0, 0.0) };
        scene.bodies.push(wheel);
        scene
            .bodies
            .push(Body::new("bob", Geometry::Sphere { radius: 0.1 }).with_mass(1.0).at(0.0, 0.0, 0.5));
        scene.joints.push(Joint::new("weld", JointKind::Fixed, "wheel", "bob"));
        let mut sim = start(&scene, scheme);
        for _ in 0..200 {
            run(&mut sim, 0.01, 1);
            assert!(sim.report().joint_error < 1e-9, "{:e}", sim.report().joint_error);
        }
        let t = sim.state().t;
        let at = Vec3::new(0.3 * t + 0.5 * (3.0 * t).sin(), 0.0, 0.5 * (3.0 * t).cos());
        assert!(
            (position(&sim, "bob") - at).length() < 1e-8,
            "{scheme:?}: {} and {at}",
            position(&sim, "bob")
        );
    }
}

#[test]
fn every_solver_holds_joints() {
    let mut tips = Vec::new();
    let rigid = || SolverKind::ALL.into_iter().filter(|k| k.holds_rigidly());
    for kind in rigid() {
        let mut sim = start_with(&arm(), Scheme::ImplicitEuler, kind);
        for _ in 0..40 {
            let r = sim.step(0.01).expect("the state stays finite");
            assert!(r.joint_error < 1e-9 && r.joints == 3, "{}: {:e}", kind.name(), r.joint_error);
        }
        tips.push(position(&sim, "2"));
    }
    for (kind, tip) in rigid().zip(&tips) {
        assert!((*tip - tips[0]).length() < 1e-2, "{}: {tip}, exact {}", kind.name(), tips[0]);
    }
}
