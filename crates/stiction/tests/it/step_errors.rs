//! How a step can end other than well: bad input is an error that names the item and leaves the state alone; walls that
//! close on a box are named as infeasible; a solver out of budget says how far it got. The run goes on in all cases.

use crate::common::scenes;

use stiction::scene::{Ease, Keyframe, Motion};
use stiction::{
    Body, Geometry, Pose, Scene, SimSettings, Simulation, SolverKind, SolverSettings, Status, StepError, Vec3,
};

fn finite(sim: &Simulation) -> bool {
    sim.state().q.iter().chain(&sim.state().v).all(|x| x.is_finite())
}

#[test]
fn a_step_that_is_no_time_is_refused() {
    let mut sim = Simulation::new(scenes::stack(2, 0.0).compile().unwrap(), SimSettings::default());
    let before = sim.snapshot();
    for h in [0.0, -0.01, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(sim.step(h).unwrap_err(), StepError::TimeStep(h));
    }
    let error = sim.step(f64::NAN).unwrap_err();
    assert!(error.to_string().contains("must be positive and finite"), "{error}");
    assert_eq!(sim.snapshot(), before);
    assert!(sim.step(0.01).unwrap().status.is_solved());
}

#[test]
fn a_state_that_is_no_number_names_the_body() {
    let mut sim = Simulation::new(scenes::stack(3, 0.0).compile().unwrap(), SimSettings::default());
    let good = sim.state().clone();
    for (index, value) in [(6, f64::NAN), (9, f64::INFINITY)] {
        let mut bad = good.clone();
        bad.v[index] = value;
        sim.set_state(bad);
        let error = sim.step(0.01).unwrap_err();
        assert!(matches!(&error, StepError::NotFinite { item, .. } if item == "body `cube 1`"), "{error}");
    }
    let mut bad = good.clone();
    bad.q[14] = f64::NAN;
    sim.set_state(bad);
    assert!(sim.step(0.01).unwrap_err().to_string().starts_with("body `cube 2` is not finite at t = 0 s"));
    sim.set_state(good);
    assert!(sim.step(0.01).unwrap().status.is_solved());
}

/// A cube of 0.2 m between two walls that close to 0.18 m within 0.3 s, and open again.
fn press() -> Scene {
    let mut scene = scenes::ground();
    for (name, side) in [("left wall", -1.0), ("right wall", 1.0)] {
        let at = |time, x| Keyframe { time, pose: Pose::from_translation(Vec3::new(side * x, 0.0, 1.0)) };
        let mut wall = Body::new(name, Geometry::Box { half: Vec3::new(0.05, 1.0, 1.0) });
        wall.motion =
            Motion::Keyframes { keys: vec![at(0.0, 0.2), at(0.3, 0.14), at(0.6, 0.2)], ease: Ease::Linear };
        scene.bodies.push(wall);
    }
    scene.bodies.push(scenes::cube("cube", Vec3::new(0.01, 0.0, 0.1)));
    scene.bodies.push(scenes::cube("bystander", Vec3::new(0.0, 5.0, 10.0)));
    scene
}

#[test]
fn walls_that_close_on_a_box_are_named() {
    let mut sim = Simulation::new(press().compile().unwrap(), SimSettings::default());
    let mut infeasible = Vec::new();
    for step in 0..100 {
        let status = sim.step(0.01).unwrap().status.clone();
        assert!(finite(&sim), "step {step}");
        if let Status::Infeasible(contacts) = status {
            infeasible.push(step);
            let named: Vec<String> = contacts
                .iter()
                .map(|&c| sim.describe(&sim.problem().expect("exact poses problems").key[c]))
                .collect();
            for wall in ["left wall", "right wall"] {
                let pair = format!("body `{wall}` – body `cube`");
                assert!(named.contains(&pair), "step {step}: {named:?}");
            }
        } else {
            assert!(status.is_solved(), "step {step}: {status:?}");
        }
    }
    // The walls are as near as the cube is wide from 0.25 s to 0.3 s, and then part.
    assert_eq!(infeasible, [25, 26, 27, 28, 29]);
    let cube = sim.body("cube").unwrap();
    let rest = cube.velocity().length().max(cube.angular_velocity().length());
    assert!(rest < 1e-9 && (cube.position().z - 0.1).abs() < 1e-4, "the cube rests again: {:?}", sim.state());
    // What has nothing to do with it falls freely.
    let (t, z) = (sim.state().t, sim.body("bystander").unwrap().position().z);
    assert!((z - (10.0 - 0.5 * 9.81 * t * t)).abs() < 1e-9, "{z} after {t} s");
}

#[test]
fn a_solver_out_of_budget_says_how_far_it_got() {
    // Each cube is ten times heavier than the one below: Gauss–Seidel needs thousands of sweeps.
    let mut scene = scenes::stack(5, 0.0);
    for (i, b) in scene.bodies.iter_mut().skip(1).enumerate() {
        *b = b.clone().with_mass(10f64.powi(i as i32));
    }
    let settings = SimSettings {
        solver: SolverKind::Pgs,
        solver_settings: SolverSettings { max_iterations: Some(3), ..SolverSettings::default() },
        ..SimSettings::default()
    };
    let mut sim = Simulation::new(scene.clone().compile().unwrap(), settings);
    let report = sim.step(0.01).unwrap().clone();
    assert_eq!(report.status, Status::Budget);
    assert_eq!(report.iterations, 3);
    assert!(report.residuals.natural > 1e-6 && report.residuals.natural.is_finite(), "{report:?}");
    for _ in 0..50 {
        sim.step(0.01).unwrap();
        assert!(finite(&sim));
    }
    // The same scene is no problem for the default solver.
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    assert!(sim.step(0.01).unwrap().status.is_solved());
}
