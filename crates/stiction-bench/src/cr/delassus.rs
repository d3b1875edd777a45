//! Time to build the Delassus matrix against a whole solve without it (Figure 12).

use super::super::{Context, Experiment, Row};
use super::{gripped, solve};
use stiction::contact::{ContactProblem, LocalProblem};
use stiction::papers::cr::Settings;
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-F12",
    title: "building L A⁻¹ Lᵀ by sparse Cholesky against a whole CR solve",
    claim: "the time to build it grows linearly with constraints, steeper with more dofs; CR is cheaper from a few hundred on",
    run,
};

/// Shares of the contacts that are kept.
const SHARES: [f64; 5] = [0.1, 0.3, 0.5, 0.75, 1.0];
/// The place of the last of them.
const ALL: usize = SHARES.len() - 1;

/// The first `n` contacts of a problem.
fn first(p: &ContactProblem, n: usize) -> ContactProblem {
    let mut q = ContactProblem { a: p.a.clone(), b: p.b.clone(), ..p.clone() };
    q.clear_rows();
    // Every k-th, so that all surfaces are among them.
    for c in (0..n).map(|i| i * p.contacts() / n) {
        q.j.push(p.j.frame[c], p.j.terms(c).iter().copied());
        q.bias.push(p.bias[c]);
        q.law.push(p.law[c]);
        q.softness.push(p.softness[c]);
        q.key.push(p.key[c]);
    }
    q
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut plot = Plot::new("Delassus matrix and CR", "constraints", "time [s]");
    let mut cells = Vec::new();
    let mut slopes = Vec::new();
    let sizes: &[[usize; 3]] = ctx.pick(&[[6, 6, 6], [9, 9, 9]], &[[8, 8, 8], [12, 12, 12], [18, 18, 18]]);
    for &size in sizes {
        let p = gripped(size, 0);
        let (mut build, mut whole) = (Vec::new(), Vec::new());
        for share in SHARES {
            let q = first(&p, (share * p.contacts() as f64) as usize);
            let constraints = 3.0 * q.contacts() as f64;
            let time = |work: &dyn Fn()| {
                let watch = Stopwatch::start();
                work();
                let took = watch.elapsed();
                took.cpu.unwrap_or(took.wall)
            };
            build.push((constraints, time(&|| drop(LocalProblem::from_problem(&q)))));
            whole.push((constraints, time(&|| drop(solve(Settings::paper(), &q)))));
            let (b, w) = (build[build.len() - 1].1, whole[whole.len() - 1].1);
            cells.push([p.dofs() as f64, constraints, b, w].map(csv_number).to_vec());
        }
        let slope = (build[ALL].1 - build[0].1) / (build[ALL].0 - build[0].0);
        slopes.push(slope);
        let crossing = build.iter().zip(&whole).find(|(b, w)| b.1 > w.1).map_or(f64::NAN, |(b, _)| b.0);
        let (id, dofs) = (format!("block-{}", size[0]), p.dofs());
        rows.push(Row::new(
            format!("{id}/build-slope"),
            format!("{dofs} dofs: seconds per 1000 constraints to build W"),
            1e3 * slope,
            "s",
        ));
        rows.push(Row::new(
            format!("{id}/cr/time"),
            format!("{dofs} dofs: CR, all constraints"),
            whole[ALL].1,
            "s",
        ));
        rows.push(Row::new(
            format!("{id}/delassus/time"),
            format!("{dofs} dofs: W, all constraints"),
            build[ALL].1,
            "s",
        ));
        let row = Row::new(
            format!("{id}/crossing"),
            format!("{dofs} dofs: CR is cheaper from (of those tried)"),
            crossing,
            "constraints",
        );
        rows.push(if dofs >= 20_000 { row.against("< 500").at_most(500.0) } else { row });
        plot.add(&format!("W, {dofs} dofs"), Mark::Line, build);
        plot.add(&format!("CR, {dofs} dofs"), Mark::Line, whole);
    }
    let steeper = slopes.windows(2).all(|s| s[1] > s[0]);
    let row = Row::new(
        "largest-over-smallest/build-slope",
        "slope of the largest over that of the smallest",
        slopes[slopes.len() - 1] / slopes[0],
        "×",
    );
    rows.push(row.against("rises with dofs").accept("slopes rise", steeper));
    ctx.csv("times", &["dofs", "constraints", "delassus_s", "cr_s"], &cells)?;
    ctx.plot("times", &plot)?;
    Ok(rows)
}
