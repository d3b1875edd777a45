//! Surfaces that bend and touch: nothing passes through anything, and what that costs.

mod cloth;
mod growth;
mod rings;
mod rope;

use crate::runs::broke;
use crate::{Experiment, Row};
use stiction::collide::inspect;
use stiction::{Scene, SimSettings, Simulation};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};

/// The experiments.
pub const EXPERIMENTS: &[Experiment] =
    &[rings::EXPERIMENT, cloth::EXPERIMENT, rope::EXPERIMENT, growth::EXPERIMENT];

/// Distances beyond this are not measured [m].
const REACH: f64 = 1e-3;

/// A run in which every state was looked at by the independent checker.
#[derive(Default)]
struct Watched {
    /// Smallest distance of any two surfaces at any step [m].
    least: f64,
    /// Edges through faces and vertices below floors, summed over all steps.
    crossings: usize,
    steps: usize,
    most_contacts: usize,
    /// Impacts that became contacts.
    impacts: usize,
    /// Steps in which some body was held back, and the most.
    held_steps: usize,
    held: f64,
    failed: usize,
    /// Processor time of each stage, summed [s]: collide, assemble, solve, measure, advance.
    times: [f64; 5],
}

/// Steps a scene without intersection, on one thread, and inspects every state.
fn watch(scene: &Scene, steps: usize, dt: f64) -> Result<(Simulation, Watched)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| error(format!("no thread: {e}"), "free some memory"))?;
    pool.install(|| watch_here(scene, steps, dt))
}

fn watch_here(scene: &Scene, steps: usize, dt: f64) -> Result<(Simulation, Watched)> {
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings { intersection_free: true, ..SimSettings::default() };
    let mut sim = Simulation::new(model, settings);
    let mut w = Watched { least: REACH, steps, ..Watched::default() };
    for _ in 0..steps {
        let clock = Stopwatch::start();
        let r = sim.step(dt).map_err(broke)?;
        // Stages are timed by the wall; what other processes take of it is spread evenly.
        let spent = clock.elapsed();
        let share = spent.cpu.map_or(1.0, |cpu| (cpu / spent.wall).min(1.0));
        w.most_contacts = w.most_contacts.max(r.contacts);
        w.impacts += r.impacts;
        w.held_steps += usize::from(r.held_back > 0.0);
        w.held = w.held.max(r.held_back);
        w.failed += usize::from(!r.status.is_solved());
        for (sum, t) in w.times.iter_mut().zip(r.times.to_array()) {
            *sum += share * t;
        }
        let seen = inspect(sim.model(), sim.state(), REACH);
        w.least = w.least.min(seen.distance);
        w.crossings += seen.crossings + seen.below;
    }
    Ok((sim, w))
}

impl Watched {
    /// What every such run has to show, under the name `id`.
    fn rows(&self, id: &str, what: &str) -> Vec<Row> {
        let row = |quantity: &str, name: &str, x: f64, unit: &'static str| {
            Row::new(format!("{id}/{quantity}"), format!("{what}: {name}"), x, unit)
        };
        vec![
            row("distance", "smallest distance over all steps", self.least, "m").at_least(f64::MIN_POSITIVE),
            row("crossings", "edges through faces over all steps", self.crossings as f64, "").at_most(0.0),
            row("contacts", "most contacts", self.most_contacts as f64, ""),
            row("impacts", "impacts that became contacts", self.impacts as f64, ""),
            row("held-steps", "steps in which bodies were held back", self.held_steps as f64, ""),
            row("held-part", "largest part of a way held back", self.held, ""),
            row("failed", "steps not converged", self.failed as f64, ""),
            row(
                "time",
                "processor time per step",
                1e3 * self.times.iter().sum::<f64>() / self.steps as f64,
                "ms",
            ),
        ]
    }

    /// Time per step of one stage [s].
    fn stage(&self, k: usize) -> f64 {
        self.times[k] / self.steps as f64
    }
}
