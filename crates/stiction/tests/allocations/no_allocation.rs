//! A settled scene steps without asking for memory: every buffer is owned, grows once and is used again.

#[path = "common/counting.rs"]
mod counting;
#[path = "common/scenes.rs"]
mod scenes;

use counting::requests;
use stiction::{Scene, Scheme, SimSettings, Simulation, SolverKind};

/// All fall by this much [m] before they settle, so that every stage of the solver has had its turn.
const GAP: f64 = 0.002;

fn settled_steps_are_free(name: &str, scene: Scene, settings: SimSettings) {
    let mut sim = Simulation::new(scene.compile().unwrap(), settings);
    let mut most = 0;
    for _ in 0..50 {
        most = sim.step(0.01).unwrap().contacts.max(most);
    }
    for step in 0..50 {
        let before = requests();
        sim.step(0.01).unwrap();
        let asked = requests() - before;
        // Faces that lie edge on edge may at any time be cut into one contact more than ever before.
        let grows = sim.report().contacts > most;
        most = most.max(sim.report().contacts);
        assert!(asked == 0 || grows, "{name}, step {step}: {asked} requests for memory, {:?}", sim.report());
    }
    assert!(sim.report().contacts >= 4 && sim.report().energy.kinetic < 1e-6, "{name}: {:?}", sim.report());
}

#[test]
fn a_box_a_stack_and_a_wall_at_rest_ask_for_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for solver in [SolverKind::Exact, SolverKind::Realtime, SolverKind::Pgs, SolverKind::Apgd] {
            let settings = SimSettings { scheme, solver, ..SimSettings::default() };
            for (name, scene) in [
                ("box", scenes::stack(1, GAP)),
                ("stack of five", scenes::stack(5, GAP)),
                ("5 × 5 wall", scenes::wall(5, 5, GAP)),
            ] {
                let name = format!("{name}, {}, {}", scheme.name(), solver.name());
                // All on one thread, whose requests are counted.
                pool.install(|| settled_steps_are_free(&name, scene, settings));
            }
        }
    }
}
