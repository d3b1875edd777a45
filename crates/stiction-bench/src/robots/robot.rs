//! A legged robot of thirteen bodies and twelve compliant motors, with rigid and with soft feet, and what it is to do.

use super::problem::{Problem, ground, knots, system};
use stiction::coords::BodyId;
use stiction::diff::{Objective, Param, PathTarget, UprightTarget};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Joint, JointAnchor, JointKind, Motor, NodeSelection, Owner, SoftBody};
use stiction::steppers::penalty::{Bdf, ContactDamping, Control, ControlKind, Settings};
use stiction::{Body, Geometry, Quat, Scene, Vec3};
use stiction_cli::failure::Result;

/// Time step [s].
pub const DT: f64 = 1.0 / 60.0;
const HIP: f64 = 0.05;
const LIMB: f64 = 0.12;
/// Pace of the target [m/s].
pub const PACE: f64 = 0.15;
/// How long a step of the trot takes both pairs of legs [s].
const PERIOD: f64 = 0.6;
/// Stiffness of a motor [N·m/rad]: a leg that carries half of the robot gives way by about 0.1 rad.
const MOTOR: f64 = 10.0;
/// What a radian off the vertical counts in a step [m].
const UPRIGHT: f64 = 0.1;
/// The body that is to stay upright.
pub const TORSO: BodyId = BodyId(1);

/// Legs: front left, front right, hind left, hind right; each of hip, thigh and shank.
pub fn scene(soft: bool) -> Scene {
    let mut scene = ground(0.8);
    let height = 2.0 * LIMB * 0.94 + if soft { 0.04 } else { 0.02 };
    scene.bodies.push(
        Body::new("torso", Geometry::Box { half: Vec3::new(0.18, 0.08, 0.03) })
            .at(0.0, 0.0, height)
            .with_mass(2.0),
    );
    for (leg, (x, y)) in [(0.16, 0.1), (0.16, -0.1), (-0.16, 0.1), (-0.16, -0.1)].into_iter().enumerate() {
        let (out, at) = (HIP * f64::signum(y), Vec3::new(x, y, height));
        let hip = Body::new(format!("hip {leg}"), Geometry::Sphere { radius: 0.025 });
        scene.bodies.push(hip.at(x, y + 0.5 * out, height).with_mass(0.1));
        // Thigh back by 20°, shank forward by as much: a knee that bends.
        let knee = at + Vec3::new(-LIMB * 0.342, out, -LIMB * 0.94);
        let foot = knee + Vec3::new(LIMB * 0.342, 0.0, -LIMB * 0.94);
        for (name, from, to, mass) in [("thigh", at + Vec3::Y * out, knee, 0.15), ("shank", knee, foot, 0.1)]
        {
            let geometry = Geometry::Capsule { half_height: 0.5 * LIMB - 0.02, radius: 0.02 };
            let middle = (from + to) / 2.0;
            let mut limb =
                Body::new(format!("{name} {leg}"), geometry).at(middle.x, middle.y, middle.z).with_mass(mass);
            limb.pose.rotation = Quat::from_rotation_arc(Vec3::Z, (from - to).normalize());
            scene.bodies.push(limb.with_friction(0.8));
        }
        let joints = [
            ("torso".to_string(), format!("hip {leg}"), at, Vec3::X),
            (format!("hip {leg}"), format!("thigh {leg}"), at + Vec3::Y * out, Vec3::Y),
            (format!("thigh {leg}"), format!("shank {leg}"), knee, Vec3::Y),
        ];
        for (a, b, place, axis) in joints {
            let mut hinge = Joint::new(format!("{b} joint"), JointKind::Hinge, a, b);
            (hinge.anchor, hinge.axis) = (JointAnchor::World(place), axis);
            hinge.motor = Some(Motor::position(0.0, MOTOR, 0.3));
            scene.joints.push(hinge);
        }
        if soft {
            let law = Law::NeoHookean { threshold: 0.1 };
            let size = Vec3::new(0.05, 0.04, 0.05);
            let material = Material { law, young: 2e5, poisson: 0.3, density: 200.0 };
            let mut shoe = SoftBody::new(format!("foot {leg}"), shapes::block([2, 2, 3], size), material);
            shoe.damping = Damping { viscosity: 50.0, ..Damping::default() };
            shoe.friction = 0.8;
            shoe.pose.translation = foot - Vec3::new(0.5 * size.x, 0.5 * size.y, size.z - 0.01);
            let top = NodeSelection::Box { min: Vec3::new(-1.0, -1.0, size.z - 1e-6), max: Vec3::splat(1.0) };
            scene.solids.push(shoe.attached(top, format!("shank {leg}")));
        }
    }
    scene
}

/// Smooth contacts and joints as stiff as the masses ask for.
pub fn settings() -> Settings {
    let damping = ContactDamping::HuntCrossley(1.0);
    Settings { scheme: Bdf::One, stiffness: 5e3, joint_stiffness: 1e5, damping, ..Settings::default() }
}

/// The robot with one control per motor and step that starts as a trot: diagonal legs swing together, as far as the pace asks
/// for with legs that do not give way, and lift by bending the knee.
pub fn robot(soft: bool, steps: usize) -> Result<Problem> {
    let mut system = system(&scene(soft), settings(), DT)?;
    let mut params = Vec::new();
    let swing = PACE * PERIOD / (4.0 * 2.0 * LIMB * 0.94);
    for joint in 0..12 {
        let (leg, part) = (joint / 3, joint % 3);
        let phase = if leg == 0 || leg == 3 { 0.0 } else { 0.5 };
        let target = |i: usize| {
            let t = std::f64::consts::TAU * (i as f64 * DT / PERIOD + phase);
            let grow = (i as f64 * DT / 0.3).min(1.0);
            grow * match part {
                0 => 0.0,
                1 => -swing * t.sin(),
                _ => -0.25 * t.cos().max(0.0),
            }
        };
        system
            .controls
            .push(Control { kind: ControlKind::Motor(joint), values: (0..steps).map(target).collect() });
        params.extend((0..steps).map(|i| Param::Control(joint, i)));
    }
    let mut problem = Problem::new(system, params, steps)?;
    problem.basis = knots(12, steps, 12);
    Ok(problem)
}

/// β of the smoothness of controls.
pub const SMOOTH: f64 = 0.02;

/// Forward at an even pace; upright and at its height all the way.
pub fn gait(problem: &Problem) -> Vec<(Box<dyn Objective>, f64)> {
    let steps = problem.steps;
    let model = problem.system.model();
    let height = model.com_pose(&model.initial, TORSO).translation.z - 0.01;
    let place = |i: usize| (i, Vec3::new(PACE * i as f64 * DT, 0.0, height));
    let path = PathTarget {
        owner: Owner::Body(TORSO),
        places: (1..=steps).map(place).collect(),
        weight: Vec3::new(1.0, 0.5, 0.5),
    };
    let upright = UprightTarget {
        body: TORSO,
        axis: Vec3::Z,
        up: Vec3::Z,
        steps: 1..=steps,
        weight: UPRIGHT * (steps as f64).sqrt(),
    };
    vec![(Box::new(path), 1.0), (Box::new(upright), 1.0)]
}
