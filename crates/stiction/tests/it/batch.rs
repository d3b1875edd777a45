//! A world of a batch goes on bit for bit as a simulation of its own, on any number of threads, and however often others fail
//! or start again.

use crate::common::scenes;

use stiction::steppers::Memory;
use stiction::steppers::velocity::Sleep;
use stiction::{Batch, Model, SimSettings, Simulation, SolverKind, StepError};

const H: f64 = 0.01;
const WORLDS: usize = 7;

fn settings() -> Vec<SimSettings> {
    let kinds =
        [SolverKind::Exact, SolverKind::ConjugateResidual, SolverKind::NonlinearNewton, SolverKind::Penalty];
    let mut all: Vec<_> = kinds.map(|solver| SimSettings { solver, ..SimSettings::default() }).into();
    all.push(SimSettings { sleep: Some(Sleep { speed: 0.05, time: 0.05 }), ..SimSettings::default() });
    all
}

/// Each world starts with another velocity.
fn push(memory: &Memory, world: usize) -> stiction::State {
    let mut state = memory.state.clone();
    state.v.iter_mut().step_by(3).for_each(|v| *v += 0.1 * world as f64);
    state
}

fn run_batch(model: &Model, settings: SimSettings, threads: usize, steps: usize) -> Vec<Memory> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut batch = Batch::new(model.clone(), settings, WORLDS);
        for i in 0..WORLDS {
            let state = push(batch.memory(i), i);
            batch.set_state(i, state);
        }
        (0..steps).for_each(|_| batch.step(H));
        assert_eq!(batch.errors().count(), 0);
        (0..WORLDS).map(|i| batch.memory(i).clone()).collect()
    })
}

#[test]
fn worlds_are_simulations_of_their_own() {
    let model = scenes::stack(3, 0.01).compile().unwrap();
    for settings in settings() {
        let steps = if settings.sleep.is_some() { 40 } else { 12 };
        let alone: Vec<Memory> = (0..WORLDS)
            .map(|i| {
                let mut sim = Simulation::new(model.clone(), settings);
                let state = push(&sim.snapshot(), i);
                sim.set_state(state);
                for _ in 0..steps {
                    sim.step(H).unwrap();
                }
                sim.snapshot()
            })
            .collect();
        assert!(alone.windows(2).all(|w| w[0].state != w[1].state), "worlds differ");
        for threads in [1, 3] {
            assert_eq!(run_batch(&model, settings, threads, steps), alone, "{settings:?}, {threads} threads");
        }
    }
}

#[test]
fn a_world_that_fails_stands_still_until_it_is_reset() {
    let model = scenes::stack(2, 0.01).compile().unwrap();
    let mut batch = Batch::new(model, SimSettings::default(), 3);
    let start = batch.memory(0).clone();
    let mut broken = start.state.clone();
    broken.v[0] = f64::NAN;
    batch.set_state(1, broken);
    batch.step(H);
    let errors: Vec<_> = batch.errors().map(|(i, e)| (i, matches!(e, StepError::NotFinite { .. }))).collect();
    assert_eq!(errors, [(1, true)]);
    batch.step(H);
    assert_eq!((batch.memory(0).step, batch.memory(1).step), (2, 0));
    batch.reset(&[false, true, false]).unwrap();
    batch.step(H);
    assert_eq!(batch.errors().count(), 0);
    assert_eq!((batch.memory(0).step, batch.memory(1).step), (3, 1));
    let error = batch.reset(&[true]).unwrap_err().to_string();
    assert!(error.contains("1 answers for 3 worlds"), "{error}");
}

#[test]
fn simulations_and_batches_go_to_other_threads() {
    fn may_go<T: Send + Sync>() {}
    may_go::<Simulation>();
    may_go::<Batch>();
}
