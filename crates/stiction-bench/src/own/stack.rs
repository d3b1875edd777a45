//! The heavy stack with every solver: 8, 64, … 32768 kg, the heaviest on top.

use crate::runs::{GRAVITY, on_floor, simulate, take_steps};
use crate::{Context, Experiment, Row};
use stiction::coords::BodyId;
use stiction::scene::Owner;
use stiction::{Body, Geometry, Simulation, SolverKind, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "stack",
    title: "heavy stack 8, 64, … 32768 kg with every solver",
    claim: "closed form: every face carries the weight above it, and nothing moves or sinks",
    run,
};

const CUBES: usize = 5;
const DT: f64 = 1.0 / 120.0;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(120, 1200);
    let cubes = (0..CUBES).map(|i| {
        let z = i as f64 + 0.5;
        Body::new(format!("cube-{i}"), Geometry::Box { half: Vec3::splat(0.5) })
            .at(0.0, 0.0, z)
            .with_mass(8f64.powi(i as i32 + 1))
    });
    let scene = on_floor(0.0, 0.5, cubes);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Natural map of the heavy stack", "step", "natural map [m/s]");
    plot.y_scale = Scale::Log;
    let mut exact_seconds = 0.0;
    for kind in SolverKind::ALL {
        ctx.note(kind.name());
        let mut sim = simulate(&scene, kind)?;
        let mut curve = Vec::new();
        let ran = take_steps(&mut sim, steps, DT, |s| {
            let r = s.report();
            curve.push((r.step as f64, r.residuals.natural));
        })?;
        plot.add(kind.name(), Mark::Line, curve);
        let (name, s) = (kind.name(), &ran.summary);
        // The floor is the first body.
        let height = |i: usize| sim.body_at(BodyId(i as u32 + 1)).position().z;
        let moved = (0..CUBES).map(|i| (height(i) - i as f64 - 0.5).abs()).fold(0.0, f64::max);
        let force = force_error(&sim);
        let measured = [
            Row::new(
                format!("{name}/penetration"),
                format!("{name}: deepest penetration"),
                s.penetration(),
                "m",
            )
            .against("0"),
            Row::new(
                format!("{name}/move"),
                format!("{name}: largest move of a cube up or down"),
                moved,
                "m",
            )
            .against("0"),
            Row::new(
                format!("{name}/force-error"),
                format!("{name}: force error of a face, worst"),
                force,
                "of the weight above",
            )
            .against("0"),
            Row::new(
                format!("{name}/natural"),
                format!("{name}: natural map, worst"),
                s.residuals.natural,
                "m/s",
            )
            .against("0"),
        ];
        if kind == SolverKind::Exact {
            exact_seconds = ran.seconds_per_step;
            let limits = [1e-6, 1e-6, 1e-6, 1e-8];
            rows.extend(measured.into_iter().zip(limits).map(|(r, limit)| r.at_most(limit)));
            rows.push(
                Row::new("exact/failed", "exact: steps not converged", s.failed as f64, "").at_most(0.0),
            );
        } else {
            rows.extend(measured);
            rows.push(Row::new(
                format!("{name}/failed"),
                format!("{name}: steps not converged"),
                s.failed as f64,
                "",
            ));
        }
        rows.push(Row::new(
            format!("{name}/iterations"),
            format!("{name}: iterations per step"),
            s.mean_iterations(),
            "",
        ));
        let ratio = ran.seconds_per_step / exact_seconds;
        rows.push(Row::new(
            format!("{name}/time"),
            format!("{name}: time per step"),
            1e6 * ran.seconds_per_step,
            "µs",
        ));
        rows.push(Row::new(
            format!("{name}/time-over-exact"),
            format!("{name}: time relative to exact"),
            ratio,
            "×",
        ));
    }
    ctx.plot("natural", &plot)?;
    Ok(rows)
}

/// Worst error of the force between neighbours, relative to the weight that it carries.
fn force_error(sim: &Simulation) -> f64 {
    let body = |i: usize| Owner::Body(BodyId(i as u32));
    (0..CUBES)
        .map(|i| {
            let above: f64 = (i..CUBES).map(|k| 8f64.powi(k as i32 + 1) * GRAVITY).sum();
            // Body 0 is the floor.
            let force = sim.force_on(body(i + 1), Some(body(i))).z;
            (force / above - 1.0).abs()
        })
        .fold(0.0, f64::max)
}
