//! Joints push both bodies equally and oppositely along one line: without external forces the momentum and the angular
//! momentum of a tumbling chain of all kinds of joints, with springs, stops and motors inside, stay what they were to
//! 1e-12. A linear spring between two masses keeps its energy under the midpoint scheme to 1e-12, and swings at the
//! frequency of the closed form.

use crate::stage::{run, start};
use stiction::kinematics::BodyFrame;
use stiction::scene::{Joint, JointKind, MassSpec, Motor, Spring};
use stiction::{Body, Geometry, Mat3, Scene, Scheme, Simulation, Vec3};

/// Total momentum and angular momentum about the origin.
fn momenta(sim: &Simulation) -> (Vec3, Vec3) {
    let (mut p, mut l) = (Vec3::ZERO, Vec3::ZERO);
    for (id, b) in sim.model().free_bodies() {
        let BodyFrame { com: pose, v, w } = *sim.kinematics().body(id);
        p += b.mass * v;
        l += pose.translation.cross(b.mass * v) + b.world_inertia(pose.rotation) * w;
    }
    (p, l)
}

fn tumbling_chain() -> Scene {
    let mut scene = Scene::default();
    let kinds = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Universal { second: Vec3::Y },
        JointKind::Fixed,
        JointKind::Distance { length: None },
        JointKind::Hinge,
    ];
    for k in 0..=kinds.len() {
        let mut b = Body::new(format!("{k}"), Geometry::Plane);
        // Without shapes: blocks that come to touch while they tumble are another story.
        b.shapes.clear();
        let mass = 1.0 + 0.3 * k as f64;
        let inertia = mass * Mat3::from_diagonal(Vec3::new(0.02, 0.03, 0.04));
        b.mass = MassSpec::Given { mass, inertia, com: Vec3::ZERO };
        b.pose.translation = Vec3::new(0.5 * k as f64, 0.1 * (k % 2) as f64, 0.0);
        let a = k as f64;
        b.velocity = 0.3 * Vec3::new(a.sin(), a.cos(), (2.0 * a).sin());
        b.spin = 0.8 * Vec3::new((3.0 * a).cos(), 0.5, a.sin());
        scene.bodies.push(b);
    }
    for (k, kind) in kinds.into_iter().enumerate() {
        let joint = Joint::new(format!("{k}"), kind, format!("{k}"), format!("{}", k + 1)).about(Vec3::Z);
        let mut joint = match kind {
            JointKind::Distance { .. } => joint.between(0.2 * Vec3::X, -0.2 * Vec3::X),
            _ => joint.at(Vec3::new(0.5 * k as f64 + 0.25, 0.05, 0.02)),
        };
        match k {
            0 => joint.springs.bend = Some(Spring::new(3.0, 0.1)),
            1 => joint.motor = Some(Motor::velocity(1.0, 2.0).with_limit(0.5)),
            2 => joint.limits = Some([-0.05, 0.05]),
            7 => joint.springs.linear = Some(Spring::new(500.0, 1.0)),
            _ => {}
        }
        scene.joints.push(joint);
    }
    scene
}

#[test]
fn momentum_and_angular_momentum_stay() {
    for (scheme, h) in [(Scheme::ImplicitEuler, 0.01), (Scheme::Midpoint, 0.01)] {
        let mut sim = start(&tumbling_chain(), scheme);
        let before = momenta(&sim);
        let mut worst = (0.0_f64, 0.0_f64);
        for _ in 0..300 {
            run(&mut sim, h, 1);
            let now = momenta(&sim);
            worst.0 = worst.0.max((now.0 - before.0).length() / before.0.length());
            worst.1 = worst.1.max((now.1 - before.1).length() / before.1.length());
        }
        assert!(worst.0 < 1e-12 && worst.1 < 1e-12, "{scheme:?}: {worst:?}");
    }
}

#[test]
fn a_linear_spring_keeps_its_energy_under_midpoint() {
    // Two masses on a line, 1 kg and 2 kg, 200 N/m: ω² = k (1/m + 1/M) = 300.
    let mut scene = Scene::default();
    for (name, mass, x, v) in [("a", 1.0, 0.0, -0.4), ("b", 2.0, 1.0, 0.2)] {
        let mut b = Body::new(name, Geometry::Sphere { radius: 0.05 }).with_mass(mass).at(x, 0.0, 0.0);
        b.velocity.x = v;
        scene.bodies.push(b);
    }
    let mut spring =
        Joint::new("spring", JointKind::Distance { length: None }, "a", "b").between(Vec3::ZERO, Vec3::ZERO);
    spring.springs.linear = Some(Spring::new(200.0, 0.0));
    scene.joints.push(spring);
    let mut sim = start(&scene, Scheme::Midpoint);
    let energy = |sim: &Simulation| {
        let stretch = sim.joint_position(0).0 - 1.0;
        sim.energy().kinetic + 100.0 * stretch * stretch
    };
    let before = energy(&sim);
    let h = 0.01;
    let (mut last, mut crossings) = (1e-300, Vec::new());
    for _ in 0..1000 {
        run(&mut sim, h, 1);
        assert!((energy(&sim) - before).abs() < 1e-12 * before, "{:e}", (energy(&sim) - before) / before);
        let x = sim.joint_position(0).0 - 1.0;
        if x * last < 0.0 {
            crossings.push(sim.state().t - h * x / (x - last));
        }
        last = x;
    }
    // The midpoint rule swings at tan(ωh/2) = Ωh/2.
    let omega = 2.0 / h * (300f64.sqrt() * h / 2.0).atan();
    let measured =
        std::f64::consts::PI * (crossings.len() - 1) as f64 / (crossings[crossings.len() - 1] - crossings[0]);
    assert!((measured - omega).abs() < 1e-3 * omega, "{measured}, not {omega}");
}
