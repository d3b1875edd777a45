//! The 20-block arch with every solver: how far it moves in ten seconds.

use crate::runs::{drift, on_floor, simulate, take_steps};
use crate::{Context, Experiment, Row};
use stiction::contact::samples;
use stiction::{Body, Geometry, SolverKind, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "arch",
    title: "20-block arch at μ = 0.6 with every solver",
    claim: "statics: the thrust line stays inside every joint, so the arch stands still",
    run,
};

const HALF: usize = 10;
const DT: f64 = 1.0 / 120.0;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(120, 1200);
    let time = steps as f64 * DT;
    let blocks = samples::arch_blocks(HALF).into_iter().enumerate().map(|(i, (mass, corners))| {
        let centre = corners.iter().sum::<Vec3>() / 8.0;
        let points = corners.iter().map(|c| *c - centre).collect();
        Body::new(format!("block-{i}"), Geometry::ConvexHull { points })
            .at(centre.x, centre.y, centre.z)
            .with_mass(mass)
            .with_friction(0.6)
    });
    let scene = on_floor(0.0, 0.6, blocks);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Drift of the arch", "t [s]", "largest displacement of a block [m]");
    plot.y_scale = Scale::Log;
    let mut exact_seconds = 0.0;
    for kind in SolverKind::ALL {
        ctx.note(kind.name());
        let mut sim = simulate(&scene, kind)?;
        let start = sim.state().clone();
        let mut curve = Vec::new();
        let ran = take_steps(&mut sim, steps, DT, |s| {
            curve.push((s.state().t, drift(s.model(), &start, s.state())));
        })?;
        let moved = curve.last().map_or(0.0, |p| p.1);
        plot.add(kind.name(), Mark::Line, curve);
        let (name, s) = (kind.name(), &ran.summary);
        let row = Row::new(format!("{name}/drift"), format!("{name}: drift after {time:.0} s"), moved, "m")
            .against("0 (statics)");
        let natural = Row::new(
            format!("{name}/natural"),
            format!("{name}: natural map, worst"),
            s.residuals.natural,
            "m/s",
        )
        .against("0");
        let failed =
            Row::new(format!("{name}/failed"), format!("{name}: steps not converged"), s.failed as f64, "");
        if kind == SolverKind::Exact {
            exact_seconds = ran.seconds_per_step;
            rows.extend([row.at_most(1e-5), natural.at_most(1e-8), failed.at_most(0.0)]);
        } else {
            rows.extend([row, natural, failed]);
        }
        rows.push(
            Row::new(
                format!("{name}/penetration"),
                format!("{name}: deepest penetration"),
                s.penetration(),
                "m",
            )
            .against("0"),
        );
        rows.push(Row::new(
            format!("{name}/time"),
            format!("{name}: time per step"),
            1e6 * ran.seconds_per_step,
            "µs",
        ));
        let ratio = ran.seconds_per_step / exact_seconds;
        rows.push(Row::new(
            format!("{name}/time-over-exact"),
            format!("{name}: time relative to exact"),
            ratio,
            "×",
        ));
    }
    ctx.plot("drift", &plot)?;
    Ok(rows)
}
