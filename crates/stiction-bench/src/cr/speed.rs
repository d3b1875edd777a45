//! CR against `exact` and `cond-e` at one yardstick.

use super::super::runs::solve_cold;
use super::super::{Context, Experiment, Row};
use stiction::SolverKind;
use stiction::contact::ContactProblem;
use stiction::contact::samples;
use stiction::contact::soft_samples::SoftBlock;
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-speed",
    title: "time of one solve of exact, cond-e and cr from a cold start",
    claim: "our own comparison: natural map and momentum below 1e-6 of the velocity scale for all",
    run,
};

const TOLERANCE: f64 = 1e-6;

/// A block of as many cells along each edge, in a grip.
fn block(cells: usize, young: f64) -> ContactProblem {
    let mut block = SoftBlock::new([cells; 3]).young(young);
    block.drive(0);
    block.problem()
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let n = ctx.pick([4, 6, 8], [6, 10, 14]);
    let problems = [
        (format!("block-{}", n[0]), format!("block {}³", n[0]), block(n[0], 1e6)),
        (format!("block-{}", n[1]), format!("block {}³", n[1]), block(n[1], 1e6)),
        (format!("block-{}", n[2]), format!("block {}³", n[2]), block(n[2], 1e6)),
        (format!("block-{}-5-mpa", n[1]), format!("block {}³, 5 MPa", n[1]), block(n[1], 5e6)),
        ("brick-wall".to_string(), "brick wall".to_string(), samples::wall(4, 4, 0.6, 3)),
    ];
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    for (id, name, p) in &problems {
        for kind in [SolverKind::Exact, SolverKind::CondE, SolverKind::ConjugateResidual] {
            let x = solve_cold(p, kind, TOLERANCE, None);
            let id = format!("{id}/{}", kind.name());
            let what = format!("{name}, {} dofs, {}", p.dofs(), kind.name());
            let row = Row::new(format!("{id}/time"), format!("{what}: time"), 1e3 * x.seconds, "ms");
            // The others are shown for comparison.
            rows.push(if kind == SolverKind::ConjugateResidual {
                row.accept("converges", x.report.status.is_solved())
            } else {
                row
            });
            rows.push(Row::new(
                format!("{id}/natural-map"),
                format!("{what}: natural map"),
                x.residuals.natural,
                "m/s",
            ));
            let figures = [p.dofs() as f64, x.seconds, x.residuals.natural, x.report.iterations as f64];
            cells.push(
                [name.clone(), kind.name().into()].into_iter().chain(figures.map(csv_number)).collect(),
            );
        }
    }
    ctx.csv("solves", &["problem", "solver", "dofs", "seconds", "natural", "iterations"], &cells)?;
    Ok(rows)
}
