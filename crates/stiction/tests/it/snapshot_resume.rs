//! A snapshot is everything that decides how a run goes on: restored in a fresh simulation, or in one that has since
//! gone elsewhere, it continues bit for bit as if nothing had happened.

use crate::common::scenes;

use stiction::scene::{Joint, JointKind};
use stiction::steppers::Memory;
use stiction::{Scheme, SimSettings, Simulation, SolverKind, Vec3};

const STEPS: usize = 20;

fn fresh(settings: SimSettings) -> Simulation {
    Simulation::new(scenes::heaps().compile().unwrap(), settings)
}

fn run(sim: &mut Simulation) -> Vec<Memory> {
    (0..STEPS)
        .map(|_| {
            sim.step(0.01).unwrap();
            sim.snapshot()
        })
        .collect()
}

fn same(a: &[Memory], b: &[Memory]) {
    for (a, b) in a.iter().zip(b) {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&a.state.q), bits(&b.state.q), "q after step {}", a.step);
        assert_eq!(bits(&a.state.v), bits(&b.state.v), "v after step {}", a.step);
        assert_eq!(a, b, "step {}", a.step);
    }
}

#[test]
fn a_resumed_run_is_the_uninterrupted_run() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let settings = SimSettings { scheme, ..SimSettings::default() };
        let mut whole = fresh(settings);
        // In the middle of the landing: contacts come and go.
        run(&mut whole);
        let half = whole.snapshot();
        let rest = run(&mut whole);
        assert!(whole.report().contacts > 50 && !half.contacts.entries.is_empty());

        let mut resumed = fresh(settings);
        resumed.restore(&half);
        assert_eq!(resumed.snapshot(), half);
        same(&rest, &run(&mut resumed));

        // The same simulation goes back in time.
        whole.restore(&half);
        same(&rest, &run(&mut whole));
    }
}

/// A memory holds the past of the kind of stepper that wrote it. Any other kind goes on from the state, as if it had been set.
#[test]
fn another_method_takes_no_past_that_is_not_its_own() {
    let kinds = [SolverKind::Exact, SolverKind::NonlinearNewton, SolverKind::Penalty];
    let mut scene = scenes::stack(2, 0.0);
    scene.bodies.push(scenes::cube("door", Vec3::new(3.0, 0.0, 1.5)));
    let hinge = Joint::to_world("hinge", JointKind::Hinge, "door").at(Vec3::new(3.0, 0.0, 1.8));
    scene.joints.push(hinge.about(Vec3::X));
    let model = scene.compile().unwrap();
    let simulate = |solver| Simulation::new(model.clone(), SimSettings { solver, ..SimSettings::default() });
    for writer in kinds {
        let mut first = simulate(writer);
        (0..5).for_each(|_| assert!(first.step(0.01).is_ok()));
        let left = first.snapshot();
        let mut without = left.clone();
        without.set_state(left.state.clone());
        for reader in kinds.into_iter().filter(|k| *k != writer) {
            let [one, other] = [&left, &without].map(|memory| {
                let mut sim = simulate(reader);
                sim.restore(memory);
                assert!(sim.step(0.01).is_ok());
                sim.snapshot()
            });
            assert_eq!(one, other, "{} after {}", reader.name(), writer.name());
        }
    }
    // Its own past it does take: BDF looks back on it.
    let mut penalty = simulate(SolverKind::Penalty);
    (0..5).for_each(|_| assert!(penalty.step(0.01).is_ok()));
    let left = penalty.snapshot();
    let mut without = left.clone();
    without.set_state(left.state.clone());
    assert_ne!(left, without);
}
