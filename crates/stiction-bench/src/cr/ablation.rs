//! When constraints are evaluated (3.5), and MINRES in place of CR (7).

use super::super::{Context, Experiment, Row};
use super::{gripped, solve};
use stiction::papers::cr::{Interval, Method, Preconditioner, Settings, Turn};
use stiction_cli::failure::Result;

/// Intervals of evaluations.
pub const INTERVALS: Experiment = Experiment {
    id: "CR-S3.5",
    title: "constraints evaluated always, at dynamic intervals, or at convergence",
    claim: "dynamic intervals need the fewest products with A; always is slow, at convergence may cycle",
    run: intervals,
};

/// The other Krylov method.
pub const MINRES: Experiment = Experiment {
    id: "CR-S7",
    title: "MINRES in place of conjugate residuals",
    claim: "most steps alike; it needs B C⁻¹ r on top, and fails on some where states change often",
    run: minres,
};

/// Most iterations of a variant that may never settle.
const MOST: usize = 10_000;

fn intervals(ctx: &mut Context) -> Result<Vec<Row>> {
    let p = gripped(ctx.pick([5, 5, 5], [8, 8, 8]), 0);
    let mut rows = Vec::new();
    let mut products = Vec::new();
    let all = [
        ("always", "always", Interval::Always),
        ("log2", "log₂", Interval::Log2),
        ("ln-squared", "ln²", Interval::LogSquared),
        ("at-convergence", "at convergence", Interval::AtConvergence),
    ];
    for (id, name, interval) in all {
        let x = solve(Settings { interval, patient: false, max_iterations: MOST, ..Settings::robust() }, &p);
        let count = if x.report.status.is_solved() { x.counts.products as f64 } else { f64::INFINITY };
        products.push(count);
        rows.push(Row::new(
            format!("{id}/products"),
            format!("{name}: products with A"),
            x.counts.products as f64,
            "",
        ));
        rows.push(Row::new(
            format!("{id}/state-changes"),
            format!("{name}: changes of state"),
            x.counts.switches as f64,
            "",
        ));
        rows.push(Row::new(
            format!("{id}/natural-map"),
            format!("{name}: natural map"),
            x.residuals.natural,
            "m/s",
        ));
    }
    let best = products[1].min(products[2]);
    let row = Row::new("always-over-dynamic", "always / best dynamic interval", products[0] / best, "×")
        .against("> 1")
        .at_least(1.0);
    rows.push(row.because("with the damped turn evaluations at every iteration need not zigzag"));
    rows.push(
        Row::new(
            "at-convergence-over-dynamic",
            "at convergence / best dynamic interval",
            products[3] / best,
            "×",
        )
        .at_least(1.0),
    );
    // The printed fixed share against the damped one.
    for (id, name, turn) in [
        ("turn-0.01", "α_θ = 0.01", Turn::Fixed(0.01)),
        ("turn-0.1", "α_θ = 0.1", Turn::Fixed(0.1)),
        ("turn-1", "α_θ = 1", Turn::Fixed(1.0)),
        ("turn-damped", "damped", Turn::Damped(5.0)),
    ] {
        let x = solve(Settings { turn, max_iterations: MOST, ..Settings::robust() }, &p);
        let row = Row::new(
            format!("{id}/iterations"),
            format!("{name}: iterations"),
            x.counts.iterations as f64,
            "",
        );
        let solved = x.report.status.is_solved();
        rows.push(if name == "damped" { row.accept("converges", solved) } else { row });
        rows.push(Row::new(
            format!("{id}/natural-map"),
            format!("{name}: natural map"),
            x.residuals.natural,
            "m/s",
        ));
    }
    Ok(rows)
}

fn minres(ctx: &mut Context) -> Result<Vec<Row>> {
    let cells = ctx.pick([5, 5, 5], [8, 8, 8]);
    let mut rows = Vec::new();
    for (preset, s) in [("printed", Settings::paper()), ("robust", Settings::robust())] {
        for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
            let (mut failed, mut alike, mut iterations) = ([0, 0], 0, [0, 0]);
            let steps = ctx.pick(3, 8);
            for k in 0..steps {
                let p = gripped(cells, k);
                let s = Settings { preconditioner, max_iterations: MOST, ..s };
                let (cr, min) = (solve(s, &p), solve(Settings { method: Method::Minres, ..s }, &p));
                failed[0] += usize::from(!cr.report.status.is_solved());
                failed[1] += usize::from(!min.report.status.is_solved());
                let n = [cr.report.iterations, min.report.iterations];
                (iterations[0], iterations[1]) = (iterations[0] + n[0], iterations[1] + n[1]);
                alike += usize::from(n[1] < 2 * n[0] && n[0] < 2 * n[1]);
            }
            let name = format!("{preset}, {preconditioner:?}");
            let id = format!("{preset}/{preconditioner:?}").to_lowercase();
            let mean = |k: usize| iterations[k] as f64 / steps as f64;
            rows.push(Row::new(
                format!("{id}/cr/iterations"),
                format!("{name}: iterations of CR"),
                mean(0),
                "",
            ));
            rows.push(Row::new(
                format!("{id}/minres/iterations"),
                format!("{name}: iterations of MINRES"),
                mean(1),
                "",
            ));
            rows.push(Row::new(
                format!("{id}/alike"),
                format!("{name}: steps that differ by less than 2×"),
                alike as f64,
                "",
            ));
            rows.push(
                Row::new(
                    format!("{id}/cr/failures"),
                    format!("{name}: failures of CR"),
                    failed[0] as f64,
                    "",
                )
                .at_most(0.0),
            );
            rows.push(
                Row::new(
                    format!("{id}/minres/failures"),
                    format!("{name}: failures of MINRES"),
                    failed[1] as f64,
                    "",
                )
                .against("some"),
            );
        }
    }
    Ok(rows)
}
