//! One run, whichever method took the steps: forward and backward products belong together, the start counts like a parameter, and
//! commands and runs that have begun are differentiated as they are.

use stiction::coords::{BodyId, JointId};
use stiction::diff::{Coordinate, Rollout, Seeds, StateChange, check_rollout};
use stiction::linalg::Rng;
use stiction::model::{Owner, Param};
use stiction::scene::{Joint, JointKind, Motor};
use stiction::steppers::velocity::Sleep;
use stiction::{
    Body, Geometry, Scene, Scheme, SimSettings, Simulation, SolverKind, SolverSettings, State, Vec3,
};

const H: f64 = 0.005;
const CRATE: Owner = Owner::Body(BodyId(1));

/// A crate that slides over the floor, and a door with a motor.
fn scene() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.3));
    let half = Vec3::new(0.1, 0.1, 0.02);
    let slides = Body { velocity: Vec3::new(1.2, 0.4, 0.0), ..Body::new("crate", Geometry::Box { half }) };
    scene.bodies.push(slides.at(0.0, 0.0, 0.02).with_mass(2.0).with_friction(0.3));
    let half = Vec3::new(0.3, 0.02, 0.1);
    scene.bodies.push(Body::new("door", Geometry::Box { half }).at(0.3, 0.0, 2.0).with_mass(1.0));
    let mut hinge =
        Joint::to_world("hinge", JointKind::Hinge, "door").at(Vec3::new(0.0, 0.0, 2.0)).about(Vec3::Y);
    hinge.motor = Some(Motor::position(0.2, 20.0, 2.0));
    scene.joints.push(hinge);
    scene
}

fn simulation(solver: SolverKind) -> Simulation {
    let solver_settings = SolverSettings { tolerance: Some(1e-12), max_iterations: None };
    let settings = SimSettings { solver, solver_settings, ..SimSettings::default() };
    Simulation::new(scene().compile().unwrap(), settings)
}

fn parameters() -> Vec<Param> {
    vec![
        Param::Velocity(CRATE, 0),
        Param::friction(CRATE, Owner::Body(BodyId(0))),
        Param::Mass(BodyId(2)),
        Param::Gravity(2),
        Param::MotorTarget(JointId(0)),
    ]
}

fn random(n: usize, rng: &mut Rng) -> StateChange {
    let mut list = || (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
    StateChange { q: list(), v: list() }
}

fn dot(a: &StateChange, b: &StateChange) -> f64 {
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    sum(&a.q, &b.q) + sum(&a.v, &b.v)
}

#[test]
fn forward_and_backward_products_belong_together() {
    for solver in [SolverKind::Exact, SolverKind::Penalty] {
        let mut sim = simulation(solver);
        // From the middle of a run, under commands.
        sim.drive("hinge", Some(0.4)).unwrap();
        sim.controls().push(CRATE, Vec3::new(0.0, 3.0, 0.0));
        (0..3).for_each(|_| assert!(sim.step(H).is_ok()));
        let steps = 12;
        let mut run = Rollout::run(&sim, H, steps, parameters()).unwrap();
        assert_eq!(run.state(0).unwrap().q, sim.state().q);
        let n = sim.state().v.len();
        let mut rng = Rng::new(3);
        let direction: Vec<f64> = parameters().iter().map(|_| rng.range(-1.0, 1.0)).collect();
        let ahead = run.jvp(&direction).unwrap();
        assert_eq!(ahead.len(), steps + 1);
        let mut seeds = Seeds::default();
        let mut forward = 0.0;
        for step in [0, 5, steps] {
            let by = random(n, &mut rng);
            forward += dot(&by, &ahead[step]);
            seeds.add(step, &by);
        }
        let back = run.vjp(&seeds).unwrap();
        let backward: f64 = back.params.iter().zip(&direction).map(|(p, d)| p * d).sum();
        assert!(
            (forward - backward).abs() < 1e-7 * forward.abs().max(1.0),
            "{solver:?}: {forward} {backward}"
        );
        // The rest of the run is that of the simulation.
        if solver == SolverKind::Exact {
            (0..steps).for_each(|_| assert!(sim.step(H).is_ok()));
            assert_eq!(run.state(steps).unwrap().q, sim.state().q);
        }
    }
}

#[test]
fn derivatives_by_the_start_agree_with_differences() {
    for solver in [SolverKind::Exact, SolverKind::Penalty] {
        let sim = simulation(solver);
        let steps = 10;
        let mut run = Rollout::run(&sim, H, steps, Vec::new()).unwrap();
        let n = sim.state().v.len();
        let mut by = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        by.q[0] = 1.0;
        by.v[1] = 0.5;
        by.q[6 + 4] = 2.0;
        let mut seeds = Seeds::default();
        seeds.add(steps, &by);
        let back = run.vjp(&seeds).unwrap();
        let layout = sim.model().layout.clone();
        // Within the plane of the floor, and about the hinge.
        for (dof, of_q) in [(0, true), (1, true), (5, true), (0, false), (1, false), (5, false)] {
            let e = 1e-6;
            let [up, down] = [e, -e].map(|e| -> State {
                let mut start = sim.state().clone();
                let mut d = vec![0.0; n];
                if of_q {
                    d[dof] = e;
                    start.retract(&layout, &d);
                } else {
                    start.v[dof] += e;
                }
                let mut moved = simulation(solver);
                moved.set_state(start);
                Rollout::run(&moved, H, steps, Vec::new()).unwrap().state(steps).unwrap()
            });
            let mut d = vec![0.0; n];
            up.difference(&down, &layout, &mut d);
            let v = up.v.iter().zip(&down.v).map(|(a, b)| a - b).collect();
            let slope = dot(&by, &StateChange { q: d, v }) / (2.0 * e);
            let adjoint = if of_q { back.start.q[dof] } else { back.start.v[dof] };
            assert!(
                (adjoint - slope).abs() < 1e-5 * slope.abs().max(1.0),
                "{solver:?}, dof {dof}, {of_q}: {adjoint} {slope}"
            );
        }
    }
}

#[test]
fn a_check_of_both_methods_passes() {
    for solver in [SolverKind::Exact, SolverKind::Penalty] {
        let sim = simulation(solver);
        let end = Coordinate { owner: CRATE, step: 15, direction: Vec3::X };
        let check = check_rollout(&sim, H, 15, parameters(), &end).unwrap();
        assert_eq!(check.rows.len(), parameters().len());
        assert!(check.worst() < 1e-5, "{solver:?}: {:?}", check.rows);
        assert!(check.rows[..2].iter().all(|r| r.adjoint.abs() > 1e-3), "the crate slides");
    }
}

#[test]
fn what_has_no_derivatives_is_refused_by_name() {
    let run = |settings: SimSettings, wrt: Vec<Param>| {
        let sim = Simulation::new(scene().compile().unwrap(), settings);
        Rollout::run(&sim, H, 2, wrt).map(|_| ()).unwrap_err().to_string()
    };
    let standard = SimSettings::default();
    let of = |solver| SimSettings { solver, ..standard };
    for (settings, words) in [
        (SimSettings { scheme: Scheme::Midpoint, ..standard }, "implicit Euler"),
        (SimSettings { linearizations: 2, ..standard }, "set it to 1"),
        (SimSettings { intersection_free: true, ..standard }, "switch it off"),
        (SimSettings { sleep: Some(Sleep::default()), ..standard }, "switch it off"),
        (of(SolverKind::Apgd), "use `exact` or `penalty`"),
        (of(SolverKind::ConjugateResidual), "use `exact` or `penalty`"),
        (of(SolverKind::NonlinearNewton), "use `exact`"),
    ] {
        let e = run(settings, Vec::new());
        assert!(e.contains(words), "{e}");
    }
    let e = run(standard, vec![Param::ContactStiffness]);
    assert!(e.contains("penalty method"), "{e}");
    let e = run(of(SolverKind::Penalty), vec![Param::MotorStiffness(JointId(0))]);
    assert!(e.contains("`exact`"), "{e}");
    let e = run(standard, vec![Param::Mass(BodyId(0))]);
    assert!(e.contains("only free bodies"), "{e}");
}

#[test]
fn a_run_can_go_to_another_thread() {
    fn goes<T: Send + Sync>() {}
    goes::<Rollout>();
}
