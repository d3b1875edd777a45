//! A snapshot is everything that decides how a run goes on: restored in a fresh simulation, or in one that has since
//! gone elsewhere, it continues bit for bit as if nothing had happened.

#[path = "common/scenes.rs"]
mod scenes;

use stiction::sim::Snapshot;
use stiction::{Scheme, SimSettings, Simulation};

const STEPS: usize = 20;

fn fresh(settings: SimSettings) -> Simulation {
    Simulation::new(scenes::heaps().compile().unwrap(), settings)
}

fn run(sim: &mut Simulation) -> Vec<Snapshot> {
    (0..STEPS)
        .map(|_| {
            sim.step(0.01).unwrap();
            sim.snapshot()
        })
        .collect()
}

fn same(a: &[Snapshot], b: &[Snapshot]) {
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
        assert!(whole.report().contacts > 50 && !half.warm.entries.is_empty());

        let mut resumed = fresh(settings);
        resumed.restore(&half);
        assert_eq!(resumed.snapshot(), half);
        same(&rest, &run(&mut resumed));

        // The same simulation goes back in time.
        whole.restore(&half);
        same(&rest, &run(&mut whole));
    }
}
