//! Time steps (Figure 9) and stiffness (6.1) of a pyramid under a plate.

use super::super::{Context, Experiment, Row};
use super::table::{self, Methods, Plan};
use stiction::scene::contact_samples::pyramid;
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot};

/// Time steps.
pub const TIME_STEPS: Experiment = Experiment {
    id: "CR-F9",
    title: "iterations per simulated second over the time step",
    claim: "larger steps need more iterations each, and about as many per second",
    run: time_steps,
};

/// Young's moduli.
pub const STIFFNESS: Experiment = Experiment {
    id: "CR-S6.1",
    title: "iterations over Young's modulus",
    claim: "from 5e6 to 6.25e5 Pa about as many; half as many again at 3.125e5 Pa",
    run: stiffness,
};

/// Iterations of CR Full per simulated second, and crossings, of a pyramid under a plate.
fn run(ctx: &Context, layers: usize, young: f64, dt: f64, time: f64) -> Result<(f64, usize)> {
    let steps = (time / dt).round() as usize;
    let plan = Plan { methods: Methods::Full, ..Plan::new(dt, steps, 1) };
    let (_, run) = table::run(ctx, &pyramid(layers, young), &plan)?;
    Ok((run.iterations[4].iter().sum::<f64>() / time, run.crossings))
}

fn time_steps(ctx: &mut Context) -> Result<Vec<Row>> {
    let (layers, time) = ctx.pick((2, 0.04), (2, 0.2));
    let mut rows = Vec::new();
    let mut curve = Vec::new();
    for dt in [5e-4, 1e-3, 2e-3, 4e-3, 2e-2] {
        let (iterations, crossings) = run(ctx, layers, 5e6, dt, time)?;
        let ms = 1e3 * dt;
        rows.push(Row::new(
            format!("{ms}-ms/iterations-per-second"),
            format!("{ms} ms: iterations per second"),
            iterations,
            "1/s",
        ));
        rows.push(
            Row::new(format!("{ms}-ms/crossings"), format!("{ms} ms: crossings"), crossings as f64, "")
                .at_most(0.0),
        );
        curve.push((ms, iterations));
    }
    let sizes = curve[..4].iter().map(|c| c.1);
    let spread = sizes.clone().fold(0.0, f64::max) / sizes.fold(f64::INFINITY, f64::min);
    let row = Row::new("largest-over-smallest", "largest over smallest, 0.5 to 4 ms", spread, "×")
        .against("comparable");
    rows.push(row.at_most(2.0));
    let mut plot = Plot::new("Iterations per simulated second", "time step [ms]", "iterations [1/s]");
    plot.add("CR Full", Mark::Line, curve);
    ctx.plot("iterations", &plot)?;
    Ok(rows)
}

fn stiffness(ctx: &mut Context) -> Result<Vec<Row>> {
    let (layers, time) = ctx.pick((2, 0.04), (2, 0.1));
    let mut rows = Vec::new();
    let mut counts = Vec::new();
    for k in 0..5 {
        let young = 5e6 / f64::from(1 << k);
        let (iterations, crossings) = run(ctx, layers, young, 1e-3, time)?;
        rows.push(Row::new(
            format!("{young:e}-pa/iterations-per-second"),
            format!("{young} Pa: iterations per second"),
            iterations,
            "1/s",
        ));
        rows.push(
            Row::new(
                format!("{young:e}-pa/crossings"),
                format!("{young} Pa: crossings"),
                crossings as f64,
                "",
            )
            .at_most(0.0),
        );
        counts.push(iterations);
    }
    let row =
        Row::new("softest-over-stiffest", "softest over stiffest", counts[4] / counts[0], "×").against("1.5");
    rows.push(row.at_most(2.0));
    Ok(rows)
}
