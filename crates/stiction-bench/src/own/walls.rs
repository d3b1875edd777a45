//! Random walls: single contact problems with random velocities from a cold start, every solver.

use crate::runs::{Cold, distribution, solve_cold};
use crate::{Context, Experiment, Row};
use stiction::SolverKind;
use stiction::contact::{ContactProblem, samples};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "walls",
    title: "random nine-box walls, 5×5 and 10×10 walls, from a cold start with every solver",
    claim: "prototype of the chain: all 200 walls to 1e-10, median 100 sweeps and 3 factorisations to 1e-8",
    run,
};

const FRICTION: [f64; 3] = [0.3, 0.6, 0.9];
const TOLERANCES: [f64; 3] = [1e-6, 1e-8, 1e-10];
/// Iterations that simple solvers may take.
const MOST: usize = 10_000;

/// Deviation of the random velocities [m/s]: far above and about g·h, where most contacts are undecided.
const SPEEDS: [f64; 2] = [1.0, 0.1];

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let count = ctx.pick(20, 200);
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for speed in SPEEDS {
        let problems: Vec<ContactProblem> =
            (0..count).map(|k| samples::wall_with_speed(3, 3, FRICTION[k % 3], speed, k as u64)).collect();
        let mut plot = Plot::new(
            &format!("Nine-box walls at {speed} m/s solved to 1e-8"),
            "sweeps or iterations",
            "share solved",
        );
        plot.x_scale = Scale::Log;
        for kind in SolverKind::ALL {
            ctx.note(&format!("{speed} m/s, {}", kind.name()));
            for tolerance in TOLERANCES {
                // The relaxation does not solve Coulomb's law, and `realtime` stops early by design: once is enough.
                if tolerance != 1e-8 && matches!(kind, SolverKind::Apgd | SolverKind::Realtime) {
                    continue;
                }
                let solves: Vec<Cold> = problems.iter().map(|p| solve(p, kind, tolerance)).collect();
                let solved = solves.iter().zip(&problems).filter(|(x, p)| reached(x, p, tolerance)).count();
                let name = format!("{speed} m/s, {}", kind.name());
                let id = format!("3x3/speed-{speed}/{}", kind.name());
                let row = Row::new(
                    format!("{id}/solved-{tolerance:e}"),
                    format!("{name}: walls to {tolerance:e}"),
                    solved as f64,
                    &format!("of {count}"),
                );
                rows.push(if kind == SolverKind::Exact {
                    row.against(published(speed, "200 of 200")).accept("all", solved == count)
                } else {
                    row
                });
                if tolerance == 1e-8 {
                    let [sweeps, factors, time] = work(&id, &name, &solves);
                    let prototype =
                        |text| published(speed, if kind == SolverKind::Exact { text } else { "" });
                    rows.extend([
                        sweeps.against(prototype("100 / – / 410")),
                        factors.against(prototype("3 / – / 49")),
                        time,
                    ]);
                    plot.add(kind.name(), Mark::Line, share_solved(&solves, &problems, tolerance));
                }
                for (k, x) in solves.iter().enumerate() {
                    table.push(vec![
                        kind.name().to_string(),
                        speed.to_string(),
                        format!("{tolerance:e}"),
                        k.to_string(),
                        FRICTION[k % 3].to_string(),
                        x.report.status.word().to_string(),
                        x.report.iterations.to_string(),
                        x.report.factorizations.to_string(),
                        csv_number(x.residuals.natural),
                        csv_number(x.residuals.momentum),
                        csv_number(x.seconds),
                    ]);
                }
            }
        }
        ctx.plot(&format!("solved-{speed}"), &plot)?;
    }
    large(ctx, &mut rows);
    ctx.csv("solves", &COLUMNS, &table)?;
    Ok(rows)
}

const COLUMNS: [&str; 11] = [
    "solver",
    "speed",
    "tolerance",
    "seed",
    "mu",
    "status",
    "iterations",
    "factorizations",
    "natural",
    "momentum",
    "seconds",
];

fn solve(p: &ContactProblem, kind: SolverKind, tolerance: f64) -> Cold {
    let most = matches!(kind, SolverKind::Pgs | SolverKind::Apgd).then_some(MOST);
    solve_cold(p, kind, tolerance, most)
}

/// By the yardstick, not by the solver's word. Its scale of a contact may differ from the solver's by a factor < 2.
fn reached(x: &Cold, p: &ContactProblem, tolerance: f64) -> bool {
    x.residuals.natural <= 2.0 * tolerance * p.velocity_scale && x.residuals.momentum <= 1e-8
}

/// What the prototype reached, which was measured at 1 m/s alone.
fn published(speed: f64, text: &'static str) -> &'static str {
    if speed == 1.0 { text } else { "" }
}

/// Sweeps, factorisations and time as distributions, under the name `id`.
fn work(id: &str, name: &str, solves: &[Cold]) -> [Row; 3] {
    let text = |(median, ninety, max): (usize, usize, usize)| format!("{median} / {ninety} / {max}");
    let sweeps = distribution(solves.iter().map(|x| x.report.iterations).collect());
    let factors = distribution(solves.iter().map(|x| x.report.factorizations).collect());
    let micros = distribution(solves.iter().map(|x| (1e6 * x.seconds) as usize).collect());
    [
        Row::remark(format!("{id}/sweeps"), format!("{name}: sweeps, median / 90 % / max"), text(sweeps)),
        Row::remark(format!("{id}/factorizations"), format!("{name}: factorisations"), text(factors)),
        Row::remark(format!("{id}/time"), format!("{name}: time per wall"), format!("{} µs", text(micros))),
    ]
}

/// Share of the problems that is solved within a number of iterations.
fn share_solved(solves: &[Cold], problems: &[ContactProblem], tolerance: f64) -> Vec<(f64, f64)> {
    let mut counts: Vec<usize> = solves
        .iter()
        .zip(problems)
        .filter(|(x, p)| reached(x, p, tolerance))
        .map(|(x, _)| x.report.iterations)
        .collect();
    counts.sort_unstable();
    counts.iter().enumerate().map(|(k, &n)| (n.max(1) as f64, (k + 1) as f64 / solves.len() as f64)).collect()
}

/// Walls of 25 and 100 boxes with `exact`, to 1e-8.
fn large(ctx: &Context, rows: &mut Vec<Row>) {
    let sizes: &[(usize, usize)] = if ctx.quick { &[(5, 2)] } else { &[(5, 5), (10, 5)] };
    for (&(n, count), speed) in sizes.iter().flat_map(|size| SPEEDS.map(|speed| (size, speed))) {
        ctx.note(&format!("{n}×{n}, {speed} m/s"));
        let problems: Vec<ContactProblem> =
            (0..count).map(|k| samples::wall_with_speed(n, n, FRICTION[k % 3], speed, k as u64)).collect();
        let solves: Vec<Cold> = problems.iter().map(|p| solve(p, SolverKind::Exact, 1e-8)).collect();
        let solved = solves.iter().zip(&problems).filter(|(x, p)| reached(x, p, 1e-8)).count();
        let name = format!("{n}×{n}, {speed} m/s, exact");
        let id = format!("{n}x{n}/speed-{speed}/exact");
        rows.push(
            Row::new(
                format!("{id}/solved-1e-8"),
                format!("{name}: walls to 1e-8"),
                solved as f64,
                &format!("of {count}"),
            )
            .against(published(speed, "5 of 5"))
            .accept("all", solved == count),
        );
        rows.extend(work(&id, &name, &solves));
    }
}
