//! Rigid, jointed and soft parts in one island: a box on a cushion, a hand with motors that lifts a soft block.

use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Joint, JointAnchor, JointKind, Motor, Owner, Path, SoftBody, Target};
use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};

const G: f64 = 9.81;
const CUSHION: Material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 500.0 };

fn on_floor() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    scene
}

fn owner(sim: &Simulation, name: &str) -> Owner {
    sim.model().names.owner(name).unwrap()
}

#[test]
fn a_box_rests_on_a_cushion() {
    // Small enough for the direct solver, and large enough for Newton in velocity space.
    for cells in [[4, 4, 2], [11, 11, 3]] {
        let mut scene = on_floor();
        let mesh = shapes::block(cells, Vec3::new(0.4, 0.4, 0.1));
        let mut cushion = SoftBody::new("cushion", mesh, CUSHION);
        cushion.damping = Damping { stiffness: 0.02, ..Damping::default() };
        scene.solids.push(cushion);
        let half = Vec3::new(0.15, 0.15, 0.05);
        scene.bodies.push(Body::new("box", Geometry::Box { half }).with_mass(20.0).at(0.0, 0.0, 0.16));
        let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
        // Means over half a second: what creeps a micrometre here and there has its weight only on the whole.
        let (mut on_box, mut on_floor) = (Vec3::ZERO, Vec3::ZERO);
        for step in 0..150 {
            let r = sim.step(0.01).unwrap();
            assert!(r.status.is_solved(), "{cells:?}, step {step}: {:?}", r.status);
            assert!(r.residuals.natural < 1e-6 && r.residuals.penetration < 1e-6, "{:?}", r.residuals);
            if step >= 100 {
                on_box += sim.force("box", Some("cushion")).unwrap() / 50.0;
                on_floor += sim.force("floor", Some("cushion")).unwrap() / 50.0;
            }
        }
        let mass: f64 = sim.model().solids[0].mass.iter().sum();
        assert!((on_box.z / (20.0 * G) - 1.0).abs() < 1e-6, "{cells:?}: {on_box}");
        assert!((on_floor.z / (-(20.0 + mass) * G) - 1.0).abs() < 1e-6, "{cells:?}: {on_floor}");
        // It sinks in.
        let z = sim.body("box").unwrap().position().z;
        assert!(z < 0.149 && z > 0.12, "{cells:?}: {z}");
    }
}

#[test]
fn a_hand_with_motors_lifts_a_soft_block() {
    let mut scene = on_floor();
    let mesh = shapes::block([8, 8, 8], Vec3::splat(0.1));
    let material = Material { law: Law::Corotated, young: 2e5, poisson: 0.35, density: 1000.0 };
    let mut block = SoftBody::new("block", mesh, material);
    block.friction = 0.8;
    scene.solids.push(block);
    let part = |name: &str, half: Vec3, mass: f64, at: Vec3| {
        Body::new(name, Geometry::Box { half }).with_mass(mass).with_friction(0.8).at(at.x, at.y, at.z)
    };
    scene.bodies.push(part("palm", Vec3::new(0.15, 0.05, 0.02), 2.0, Vec3::new(0.0, 0.0, 0.25)));
    scene.bodies.push(part("left", Vec3::new(0.01, 0.06, 0.04), 0.3, Vec3::new(-0.062, 0.0, 0.06)));
    scene.bodies.push(part("right", Vec3::new(0.01, 0.06, 0.04), 0.3, Vec3::new(0.062, 0.0, 0.06)));
    let mut lift = Joint::to_world("lift", JointKind::Prismatic, "palm").about(Vec3::Z);
    let height = |s: f64| 0.25 + 0.05 * s * s * (3.0 - 2.0 * s);
    let keys = (0..=40).map(|k| [0.5 + 0.02 * k as f64, height(0.025 * k as f64)]).collect();
    lift.anchor = JointAnchor::Points { a: Vec3::ZERO, b: Vec3::ZERO };
    lift.motor = Some(Motor {
        target: Target::Position(Path { keys }),
        stiffness: 1e6,
        damping: 1e4,
        limit: f64::INFINITY,
    });
    scene.joints.push(lift);
    for (name, axis) in [("left", Vec3::X), ("right", -Vec3::X)] {
        let mut slide = Joint::new(name, JointKind::Prismatic, "palm", name).about(axis);
        slide.motor = Some(Motor::velocity(0.1, 1e3).with_limit(25.0));
        scene.joints.push(slide);
    }
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    let mut iterations = 0;
    for step in 0..180 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "step {step}: {:?} {:?}", r.status, r.residuals);
        assert!(r.residuals.natural < 1e-6, "step {step}: {:?}", r.residuals);
        assert!(r.joint_error < 1e-8, "step {step}: joints are off by {:e} m", r.joint_error);
        iterations = iterations.max(r.iterations);
    }
    let block = Owner::Solid(SoftId(0));
    let mass: f64 = sim.model().solids[0].mass.iter().sum();
    let (left, right) =
        (sim.force_on(block, Some(owner(&sim, "left"))), sim.force_on(block, Some(owner(&sim, "right"))));
    assert_eq!(sim.force_on(block, Some(owner(&sim, "floor"))), Vec3::ZERO, "it is in the air");
    assert!((left + right - Vec3::new(0.0, 0.0, mass * G)).length() < 1e-4 * mass * G, "{left} {right}");
    // Each finger presses with the limit of its motor.
    assert!((left.x - 25.0).abs() < 1e-3 && (right.x + 25.0).abs() < 1e-3, "{left} {right}");
}
