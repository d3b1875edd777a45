//! Chains of interlocked rings fall on a floor and on each other.

use super::super::{Context, Experiment, Row};
use super::watch;
use crate::bench::soft_blocks::exponent;
use crate::failure::Result;
use crate::svg::{Mark, Plot, Scale};
use stiction::scene::samples::ring_chains;
use stiction::sim::StageTimes;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "collide-rings",
    title: "120 interlocked rings of 144 faces fall on a floor",
    claim: "no ring passes through another at any step; finding candidates and impacts is at most 25 % of a step; \
            stages grow with exponents of at most 1.2",
    run,
};

const DT: f64 = 2e-3;
/// Chains of ten rings each.
const CHAINS: [usize; 3] = [3, 6, 12];
/// Time within which all have landed [s].
const LANDED: f64 = 0.3;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut curves = vec![Vec::new(); StageTimes::NAMES.len()];
    let (chains, rings): (&[usize], usize) = ctx.pick((&[1, 2, 4][..], 4), (&CHAINS[..], 10));
    let steps = (ctx.pick(0.5, 1.0) * LANDED / DT) as usize;
    for &chains in chains {
        let count = chains * rings;
        ctx.note(&format!("{count} rings"));
        let (sim, w) = watch(&ring_chains(chains, rings), steps, DT)?;
        let faces: usize = sim.model().solids.iter().map(|s| s.surface.len()).sum();
        rows.extend(w.rows(&format!("{count} rings, {faces} faces")));
        let share = w.times[0] / w.times.iter().sum::<f64>();
        let row = Row::new(format!("{count} rings: share of detection"), 100.0 * share, "%");
        // Small scenes hardly touch, and there is little to solve.
        let is_full = count == 120;
        rows.push(if is_full { row.against("CR: small beside the solve").at_most(25.0) } else { row });
        for (k, curve) in curves.iter_mut().enumerate() {
            curve.push((faces as f64, w.stage(k)));
        }
    }
    let mut plot = Plot::new("Cost of a step of interlocked rings", "faces", "time per step [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    for (curve, stage) in curves.iter().zip(StageTimes::NAMES) {
        let row = Row::new(format!("{stage}: exponent of its growth"), exponent(curve), "");
        // Stages of microseconds say nothing about growth.
        rows.push(if curve.iter().all(|p| p.1 > 1e-3) { row.at_most(1.2) } else { row });
        plot.add(stage, Mark::Line, curve.clone());
    }
    ctx.plot("cost", &plot)?;
    Ok(rows)
}
