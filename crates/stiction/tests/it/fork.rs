//! A fork goes on bit for bit as the simulation that it was taken of, whatever that one does meanwhile, and shares its model.

use crate::common::scenes;

use std::sync::Arc;
use stiction::elastic::Preset;
use stiction::mesh::shapes;
use stiction::scene::{Inflation, Joint, JointKind, SoftBody};
use stiction::solvers::exact::{Exact, Settings};
use stiction::steppers::velocity::Sleep;
use stiction::{Scene, Scheme, SimSettings, Simulation, SolverKind, Vec3};

const H: f64 = 0.01;

/// An inflated ball that falls onto the floor beside a box on a hinge.
fn scene() -> Scene {
    let mut scene = scenes::ground();
    let mut ball = SoftBody::new("ball", shapes::sphere(0.05, 2), Preset::Rubber.material());
    ball.pose.translation = Vec3::Z * 0.0501;
    ball.inflations.push(Inflation {
        min: Vec3::splat(-1.0),
        max: Vec3::splat(1.0),
        pressure: vec![[0.0, 0.0], [1.0, 2e4]],
    });
    scene.solids.push(ball);
    scene.bodies.push(scenes::cube("door", Vec3::new(1.0, 0.0, 0.5)));
    let hinge = Joint::to_world("hinge", JointKind::Hinge, "door").at(Vec3::new(1.0, 0.0, 0.7));
    scene.joints.push(hinge.about(Vec3::X));
    scene
}

fn bits(sim: &Simulation) -> Vec<u64> {
    let state = sim.state();
    let forces = sim.contacts().flat_map(|(_, f)| f.to_array());
    state.q.iter().chain(&state.v).copied().chain(forces).map(f64::to_bits).collect()
}

#[test]
fn a_fork_takes_the_same_steps() {
    let settings = SimSettings::default();
    let cases = [
        ("soft", scene(), settings),
        ("midpoint", scene(), SimSettings { scheme: Scheme::Midpoint, ..settings }),
        ("heaps", scenes::heaps(), SimSettings { sleep: Some(Sleep::default()), ..settings }),
        ("guarded", scenes::stack(3, 0.01), SimSettings { intersection_free: true, ..settings }),
        ("cr", scenes::stack(3, 0.01), SimSettings { solver: SolverKind::ConjugateResidual, ..settings }),
    ];
    for (name, scene, settings) in cases {
        let mut one = Simulation::new(scene.compile().unwrap(), settings);
        let mut early = one.fork().unwrap();
        for _ in 0..12 {
            one.step(H).unwrap();
        }
        assert!(one.report().contacts > 0, "{name}");
        let mut other = one.fork().unwrap();
        assert!(Arc::ptr_eq(one.model(), other.model()), "{name}");
        assert_eq!(one.output(), other.output(), "{name}: it says what the last step did");
        assert_eq!(one.snapshot(), other.snapshot(), "{name}");
        assert_eq!(one.energy(), other.energy(), "{name}");
        for step in 0..8 {
            one.step(H).unwrap();
            other.step(H).unwrap();
            assert_eq!(bits(&one), bits(&other), "{name}, step {step}");
        }
        assert_eq!(one.snapshot(), other.snapshot(), "{name}");
        for _ in 0..20 {
            early.step(H).unwrap();
        }
        assert_eq!(bits(&one), bits(&early), "{name}: from the start");
    }
}

#[test]
fn a_given_solver_cannot_be_forked() {
    let sim = Simulation::new(scenes::stack(1, 0.0).compile().unwrap(), SimSettings::default())
        .with_solver(Box::new(Exact::new(Settings::stepping())));
    let error = sim.fork().err().expect("nobody can copy it");
    assert!(error.to_string().contains("solver `exact`"), "{error}");
}
