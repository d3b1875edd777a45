//! A gripper of two fingers on slides closes on a box, lifts it and holds it by friction alone: joints, motors and
//! contacts in one exact solve. The box follows the palm, does not slip, the fingers press with the limit of their
//! motors, and the two friction forces carry its weight.

use crate::stage::{G, floor, force_of, position, run, start};
use stiction::scene::{Joint, JointKind, Motor, Path, Target};
use stiction::{Body, Geometry, Scene, Scheme, Vec3};

fn gripper() -> Scene {
    let mut scene = floor(0.5);
    let cube = |name: &str, half: Vec3, mass: f64, at: Vec3| {
        Body::new(name, Geometry::Box { half }).with_mass(mass).with_friction(0.6).at(at.x, at.y, at.z)
    };
    scene.bodies.push(cube("box", Vec3::splat(0.05), 1.0, Vec3::new(0.0, 0.0, 0.05)));
    scene.bodies.push(cube("palm", Vec3::new(0.15, 0.05, 0.02), 2.0, Vec3::new(0.0, 0.0, 0.25)));
    scene.bodies.push(cube("left", Vec3::new(0.01, 0.04, 0.08), 0.3, Vec3::new(-0.1, 0.0, 0.1)));
    scene.bodies.push(cube("right", Vec3::new(0.01, 0.04, 0.08), 0.3, Vec3::new(0.1, 0.0, 0.1)));
    // The palm rides on a lift; fingers slide towards each other with 20 N.
    let mut lift = Joint::to_world("lift", JointKind::Prismatic, "palm").about(Vec3::Z);
    // Gently: 0.1 m in a second, without a jerk that friction could not take.
    let height = |s: f64| 0.25 + 0.1 * s * s * (3.0 - 2.0 * s);
    let keys = (0..=40).map(|k| [0.5 + 0.025 * k as f64, height(0.025 * k as f64)]).collect();
    let path = Path { keys };
    lift.anchor = stiction::scene::JointAnchor::Points { a: Vec3::ZERO, b: Vec3::ZERO };
    lift.motor =
        Some(Motor { target: Target::Position(path), stiffness: 1e6, damping: 1e4, limit: f64::INFINITY });
    scene.joints.push(lift);
    for (name, axis) in [("left", Vec3::X), ("right", -Vec3::X)] {
        let mut slide = Joint::new(name, JointKind::Prismatic, "palm", name).about(axis);
        slide.motor = Some(Motor::velocity(0.2, 1e3).with_limit(20.0));
        slide.limits = Some([-0.01, 0.09]);
        scene.joints.push(slide);
    }
    scene
}

#[test]
fn fingers_hold_a_box_by_friction() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = start(&gripper(), scheme);
        run(&mut sim, 0.005, 100);
        let gripped = position(&sim, "box") - position(&sim, "palm");
        run(&mut sim, 0.005, 300);
        let held = position(&sim, "box") - position(&sim, "palm");
        assert!((held - gripped).length() < 1e-6, "{scheme:?}: slipped by {:e} m", (held - gripped).length());
        assert!((position(&sim, "box").z - 0.15).abs() < 1e-4, "{scheme:?}: {}", position(&sim, "box").z);
        let (left, right) = (force_of(&sim, "box", "left"), force_of(&sim, "box", "right"));
        assert!(
            (left + right - Vec3::new(0.0, 0.0, G)).length() < 1e-6 * G,
            "{scheme:?}: {left} and {right}"
        );
        assert!((left.x - 20.0).abs() < 1e-6 * 20.0, "{scheme:?}: {left}");
        assert_eq!(sim.report().joints, 3);
        assert!(sim.report().joint_error < 1e-9 && sim.report().residuals.natural < 1e-6);
    }
}
