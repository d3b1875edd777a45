//! Chains of interlocked rings fall on a floor and on each other.

use super::watch;
use crate::own::soft_blocks::exponent;
use crate::{Context, Experiment, Row};
use stiction::Scene;
use stiction::scene::samples::ring_chains;
use stiction::steppers::StageTimes;
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "collide-rings",
    title: "120 interlocked rings of 144 faces fall on a floor",
    claim: "no ring passes through another at any step; finding candidates and impacts is at most 25 % of a step; \
            stages grow with exponents of at most 1.2",
    run,
};

const DT: f64 = 2e-3;
/// Time within which all have landed [s].
const LANDED: f64 = 0.3;
/// How many copies of a heap lie side by side.
const COPIES: [usize; 3] = [1, 2, 4];

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let steps = (ctx.pick(0.5, 1.0) * LANDED / DT) as usize;
    // One heap of all rings: three layers of four chains.
    let (chains, rings) = ctx.pick((4, 4), (12, 10));
    let count = chains * rings;
    ctx.note(&format!("{count} rings"));
    let (sim, w) = watch(&ring_chains(chains, rings), steps, DT)?;
    let faces: usize = sim.model().solids.iter().map(|s| s.surface.len()).sum();
    rows.extend(w.rows("heap", &format!("{count} rings, {faces} faces")));
    let share = w.times[0] / w.times.iter().sum::<f64>();
    let row =
        Row::new("heap/detection-share", format!("{count} rings: share of detection"), 100.0 * share, "%");
    // Small scenes hardly touch, and there is little to solve.
    rows.push(ctx.pick(row.clone(), row.against("CR: small beside the solve").at_most(25.0)));

    // Growth on copies of one heap, so that every ring has the same neighbours and as many solves at every size.
    let mut curves = vec![Vec::new(); StageTimes::NAMES.len()];
    let (chains, rings) = ctx.pick((1, 4), (3, 10));
    for copies in COPIES {
        ctx.note(&format!("{copies} copies of {} rings", chains * rings));
        let (sim, w) = watch(&side_by_side(chains, rings, copies), steps, DT)?;
        let faces: usize = sim.model().solids.iter().map(|s| s.surface.len()).sum();
        let what = format!("{copies} × {} rings", chains * rings);
        let id = format!("copies-{copies}");
        rows.push(
            Row::new(
                format!("{id}/crossings"),
                format!("{what}: edges through faces"),
                w.crossings as f64,
                "",
            )
            .at_most(0.0),
        );
        rows.push(Row::new(
            format!("{id}/impacts"),
            format!("{what}: impacts that became contacts"),
            w.impacts as f64,
            "",
        ));
        for (k, (curve, stage)) in curves.iter_mut().zip(StageTimes::NAMES).enumerate() {
            rows.push(Row::new(
                format!("{id}/{stage}/time"),
                format!("{what}: {stage} per step"),
                1e3 * w.stage(k),
                "ms",
            ));
            curve.push((faces as f64, w.stage(k)));
        }
    }
    let mut plot = Plot::new("Cost of a step of interlocked rings", "faces", "processor time per step [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    for (curve, stage) in curves.iter().zip(StageTimes::NAMES) {
        let row = Row::new(
            format!("{stage}/exponent"),
            format!("{stage}: exponent of its growth"),
            exponent(curve),
            "",
        );
        // Stages of microseconds say nothing about growth.
        rows.push(if curve.iter().all(|p| p.1 > 1e-3) { row.at_most(1.2) } else { row });
        plot.add(stage, Mark::Line, curve.clone());
    }
    ctx.plot("cost", &plot)?;
    Ok(rows)
}

/// Copies of a heap of rings, a metre apart.
fn side_by_side(chains: usize, rings: usize, copies: usize) -> Scene {
    let mut scene = ring_chains(chains, rings);
    let heap = scene.solids.clone();
    for k in 1..copies {
        scene.solids.extend(heap.iter().map(|ring| {
            let mut ring = ring.clone();
            ring.name = format!("{}-{k}", ring.name);
            ring.pose.translation.x += k as f64;
            ring
        }));
    }
    scene
}
