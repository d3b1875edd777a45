//! A box on an incline around the friction angle: single steps whose answer is known.

use crate::runs::{GRAVITY, solve_cold};
use crate::{Context, Experiment, Row};
use stiction::SolverKind;
use stiction::contact::samples;
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "inclines",
    title: "a box on an incline at 0.5, 0.95, 1, 1.02 and 1.2 times the friction angle",
    claim: "closed form: after a step v = g h (sin − μ cos), or rest; four redundant contacts near the cone's edge",
    run,
};

const MU: f64 = 0.5;

fn run(_: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for factor in [0.5, 0.95, 1.0, 1.02, 1.2] {
        let angle = factor * MU.atan();
        let p = samples::incline(angle, MU);
        let closed = (GRAVITY * p.h * (angle.sin() - MU * angle.cos())).max(0.0);
        for kind in SolverKind::ALL {
            let tolerance = if kind == SolverKind::Realtime { 1e-5 } else { 1e-8 };
            let x = solve_cold(&p, kind, tolerance, None);
            let name = kind.name();
            let id = format!("angle-{factor}/{name}");
            let error = (x.solution.v[0] - closed).abs();
            let row = Row::new(
                format!("{id}/velocity-error"),
                format!("{factor} × angle, {name}: velocity error"),
                error,
                "m/s",
            )
            .against(format!("v = {closed:.5} m/s"));
            if kind != SolverKind::Exact {
                rows.push(row);
                continue;
            }
            rows.push(row.at_most(1e-8));
            let worst = x.residuals.natural.max(x.residuals.momentum);
            rows.push(
                Row::new(
                    format!("{id}/residual"),
                    format!("{factor} × angle, exact: natural map, momentum"),
                    worst,
                    "m/s, √kg·m/s",
                )
                .against(format!(
                    "{} sweeps, {} factorisations",
                    x.report.iterations, x.report.factorizations
                ))
                .accept("≤ 1e-8", worst <= 1e-8),
            );
        }
    }
    Ok(rows)
}
