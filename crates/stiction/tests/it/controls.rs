//! Commands at run time: a commanded motor drives as one whose scene says so, to the bit; a commanded force pushes by F t/m and
//! wakes who sleeps; commands hold through resets and belong to one world.

use crate::common::scenes;

use stiction::coords::BodyId;
use stiction::scene::{Joint, JointKind, Motor, Owner};
use stiction::steppers::velocity::Sleep;
use stiction::{Batch, Body, Geometry, Scene, Scheme, SimSettings, Simulation, SolverKind, Vec3};

const H: f64 = 0.01;
const STEPS: usize = 30;

/// A door on a hinge with a motor that holds `target`.
fn door(motor: Motor) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    let half = Vec3::new(0.3, 0.02, 0.1);
    scene.bodies.push(Body::new("door", Geometry::Box { half }).at(0.3, 0.0, 0.0).with_mass(2.0));
    let mut hinge = Joint::to_world("hinge", JointKind::Hinge, "door").at(Vec3::ZERO).about(Vec3::Y);
    hinge.motor = Some(motor);
    scene.joints.push(hinge);
    scene
}

fn methods() -> Vec<SimSettings> {
    let standard = SimSettings::default();
    vec![
        standard,
        SimSettings { scheme: Scheme::Midpoint, ..standard },
        SimSettings { solver: SolverKind::NonsmoothNewton, ..standard },
        SimSettings { solver: SolverKind::NonlinearNewton, ..standard },
        SimSettings { solver: SolverKind::Penalty, ..standard },
    ]
}

#[test]
fn a_commanded_motor_drives_as_one_of_the_scene() {
    let to_position: fn(f64) -> Motor = |x| Motor::position(x, 200.0, 20.0);
    let motors = [(to_position, -0.4), (|x| Motor::velocity(x, 30.0), 0.7)];
    for (motor, target) in motors {
        for settings in methods() {
            let mut told = Simulation::new(door(motor(target)).compile().unwrap(), settings);
            let mut commanded = Simulation::new(door(motor(0.1)).compile().unwrap(), settings);
            commanded.controls().set_motor(0, Some(target));
            for _ in 0..STEPS {
                told.step(H).unwrap();
                commanded.step(H).unwrap();
            }
            assert_eq!(told.snapshot(), commanded.snapshot(), "{settings:?}");
            // Without the command it follows its path again, which leads elsewhere.
            commanded.controls().set_motor(0, None);
            told.step(H).unwrap();
            commanded.step(H).unwrap();
            assert_ne!(told.state(), commanded.state(), "{settings:?}");
        }
    }
}

#[test]
fn a_commanded_force_accelerates() {
    let (mass, force) = (2.0, Vec3::new(3.0, -1.0, 0.5));
    let mut scene = Scene::default();
    scene.bodies.push(Body::new("puck", Geometry::Sphere { radius: 0.1 }).with_mass(mass));
    let model = scene.compile().unwrap();
    for settings in methods() {
        let mut sim = Simulation::new(model.clone(), settings);
        sim.controls().push(Owner::Body(BodyId(0)), force);
        for _ in 0..STEPS {
            sim.step(H).unwrap();
        }
        let want = force * (STEPS as f64 * H / mass);
        let got = Vec3::from_slice(&sim.state().v[..3]);
        assert!((got - want).length() < 1e-12, "{settings:?}: {got} for {want}");
        sim.controls().loads.clear();
        sim.step(H).unwrap();
        let after = Vec3::from_slice(&sim.state().v[..3]);
        assert!((after - got).length() < 1e-12, "{settings:?}");
    }
}

#[test]
fn a_commanded_force_wakes_who_sleeps() {
    let sleep = Some(Sleep { speed: 0.05, time: 0.1 });
    let settings = SimSettings { sleep, ..SimSettings::default() };
    let mut sim = Simulation::new(scenes::stack(2, 0.0).compile().unwrap(), settings);
    for _ in 0..40 {
        sim.step(H).unwrap();
    }
    assert_eq!(sim.report().asleep, 2);
    let top = sim.model().bodies.len() as u32 - 1;
    sim.controls().push(Owner::Body(BodyId(top)), Vec3::Z * 100.0);
    sim.step(H).unwrap();
    assert_eq!(sim.report().asleep, 0);
}

#[test]
fn commands_hold_until_they_change_and_belong_to_one_world() {
    let model = door(Motor::position(0.1, 200.0, 20.0)).compile().unwrap();
    let mut sim = Simulation::new(model.clone(), SimSettings::default());
    sim.controls().set_motor(0, Some(-0.4));
    sim.step(H).unwrap();
    let one = sim.snapshot();
    sim.reset();
    sim.step(H).unwrap();
    assert_eq!(sim.snapshot(), one, "through a reset");
    let mut fork = sim.fork().unwrap();
    let mut batch = Batch::new(model, SimSettings::default(), 2);
    batch.controls(1).set_motor(0, Some(-0.4));
    batch.step(H);
    assert_eq!(*batch.memory(1), one);
    assert_ne!(*batch.memory(0), one);
    sim.step(H).unwrap();
    fork.step(H).unwrap();
    batch.step(H);
    assert_eq!(fork.snapshot(), sim.snapshot(), "a fork is commanded alike");
    assert_eq!(*batch.memory(1), sim.snapshot());
}

#[test]
fn commands_by_name_are_checked() {
    let mut scene = door(Motor::position(0.1, 200.0, 20.0));
    scene.joints.push(Joint::to_world("loose", JointKind::Ball, "door").at(Vec3::X));
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    sim.drive("hinge", Some(-0.4)).unwrap();
    assert_eq!(sim.controls().motor(0), Some(-0.4));
    for (joint, target, says) in
        [("hing", 0.0, "`hinge`"), ("loose", 0.0, "no motor"), ("hinge", f64::NAN, "finite")]
    {
        let error = sim.drive(joint, Some(target)).unwrap_err().to_string();
        assert!(error.contains(says), "{joint}: {error}");
    }
    assert_eq!(sim.controls().motor(0), Some(-0.4), "refused commands change nothing");
    sim.drive("hinge", None).unwrap();
    assert_eq!(sim.controls().motor(0), None);
}
