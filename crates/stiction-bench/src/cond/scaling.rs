//! COND-F11: cost and memory over the size of the mat, and COND-crossover: who is fastest at which size and stiffness.

use super::scenes::{self, Draw};
use super::trial::{Contestant, EULER, MIDPOINT, Walk};
use crate::own::soft_blocks::exponent;
use crate::{Context, Experiment, Row};
use stiction::SolverKind;
use stiction::papers::cond::{CondESettings, CondSettings, Stand, Stop};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// Cost over size.
pub const SCALING: Experiment = Experiment {
    id: "COND-F11",
    title: "solver time and memory over the size of the mat",
    claim: "COND (Lee et al. 2022), Fig. 11: exponents 0.9997 (COND), 1.470 (APGD), 2.473 (PGS)",
    run: scaling,
};

/// Who is fastest where.
pub const CROSSOVER: Experiment = Experiment {
    id: "COND-crossover",
    title: "fastest solver at the same yardstick, over size and stiffness",
    claim: "ours: `auto` is within 20 % of the fastest solver at every size and stiffness",
    run: crossover,
};

const DRAW: Draw = Draw { young: 75e3, poisson: 0.35, mu: 0.3 };
/// Dofs of the paper's mat, and the tolerance with which COND-E meets the internal force error of its Table II.
const PAPER_DOFS: f64 = 4438.0;
const TABLE_TWO: f64 = 2.4e-4;
/// Exponents are judged over this range of sizes at least: a decade and a half.
const RANGE: f64 = 31.6;
/// … and up to this size [dofs]: the matrix of a larger mat does not fit into the last cache of a processor, from where on every
/// number takes up to twice as long. What that does to the exponent is told beside it.
const IN_CACHE: f64 = 60_000.0;
/// PGS and APGD are judged over a decade of sizes that the paper's may have.
const DECADE: f64 = 10.0;
/// Why a diagonal W is not linear on finer meshes.
const FINER: &str = "a wave crosses c h/Δx cells in a step and a diagonal W carries a change by one cell per iteration: halving the cells of a sheet doubles the iterations and takes four times the dofs, an exponent of up to 1.5. The paper varies the number of nodes and does not say whether of a finer or of a larger mat, which takes as many iterations as a small one and is judged";
/// Steps that are looked at: the mat lies flat, and its edge is up.
const SAMPLED: [usize; 2] = [4, 12];

fn scaling(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = ladder(ctx, "finer", scenes::finer_mat)?;
    rows.extend(ladder(ctx, "larger", scenes::mat)?);
    Ok(rows)
}

/// The same mat with smaller cells, 1k to 39k dofs, which is harder to solve, or a larger one of the same cells, 1k to 290k, which is only
/// larger.
fn ladder(ctx: &mut Context, which: &str, mat: fn(Draw, usize) -> stiction::Scene) -> Result<Vec<Row>> {
    let is_finer = which == "finer";
    let cells: &[usize] = match (ctx.quick, is_finer) {
        (true, _) => &[12, 18, 26, 36],
        (false, true) => &[12, 18, 26, 40, 60, 80],
        (false, false) => &[12, 18, 26, 36, 52, 72, 98, 160, 220],
    };
    let (most_apgd, most_pgs) = if is_finer { ctx.pick((8_000, 2_500), (40_000, 10_000)) } else { (0, 0) };
    let theta = Stop::Update(1e-4);
    let (mut curves, mut memory, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let mut table = Vec::new();
    let mut rows = Vec::new();
    for &n in cells {
        let samples = Walk::samples(&mat(DRAW, n), MIDPOINT, &SAMPLED)?;
        let dofs = samples[0].dofs();
        ctx.note(&format!("{which} mat, {dofs} dofs"));
        let printed = CondSettings { stop: theta, recycle: 10, ..CondSettings::default() };
        // The same update per dof at every size; that of the paper at its own.
        let mean = Stop::Update(1e-4 * (dofs as f64 / PAPER_DOFS).sqrt());
        let per_dof = CondSettings { stop: mean, ..printed };
        let fixed = CondSettings { stop: Stop::Update(0.0), max_iterations: 50, ..printed };
        let mut all = vec![
            Contestant::cond("cond-theta", "COND, θ = 1e-4", printed),
            Contestant::cond("cond-50", "COND, 50 iterations", fixed),
            Contestant::cond("cond-theta-per-dof", "COND, θ per dof", per_dof),
            Contestant::cond_e(
                "cond-e",
                "COND-E",
                CondESettings { tolerance: TABLE_TWO, recycle: 10, ..Default::default() },
            ),
            Contestant::kind(SolverKind::Exact, 1e-3, None),
        ];
        if dofs <= most_apgd {
            all.push(Contestant::kind(SolverKind::Apgd, 1e-3, Some(200)));
        }
        if dofs <= most_pgs {
            all.push(Contestant::kind(SolverKind::Pgs, 1e-3, Some(500)));
        }
        all.iter_mut().for_each(|c| c.run(&samples));
        for c in &all {
            let (t, its) = (c.sum.milliseconds() * 1e-3, c.sum.iterations());
            let megabytes = c.sum.megabytes();
            table.push(vec![
                c.name.clone(),
                dofs.to_string(),
                csv_number(t),
                csv_number(its),
                csv_number(megabytes),
            ]);
            add_point(&mut memory, c, (dofs as f64, megabytes));
            add_point(&mut curves, c, (dofs as f64, t));
            add_point(&mut counts, c, (dofs as f64, its));
            let id = format!("{which}/{n}-cells/{}", c.id);
            let what = format!("{which}, {dofs} dofs, {}", c.name);
            rows.push(Row::new(format!("{id}/time"), format!("{what}: time"), 1e3 * t, "ms"));
            rows.push(Row::new(format!("{id}/iterations"), format!("{what}: iterations"), its, ""));
        }
    }
    let mut plot = Plot::new("Solver time", "dofs", "time [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    for Curve { id, name, points: curve } in &curves {
        plot.add(name, Mark::Line, curve.clone());
        let row = Row::new(
            format!("{which}/{id}/time-exponent"),
            format!("{which}, {name}: exponent of time"),
            exponent(curve),
            "",
        );
        let is_decade = range(curve) >= DECADE;
        rows.push(match name.as_str() {
            "apgd" if is_decade => row.against("1.470").at_least(1.25),
            "pgs" if is_decade => row.against("2.473").at_least(2.0),
            "COND, θ = 1e-4" | "COND, θ per dof" if is_finer => row.against("0.9997").because(FINER),
            _ => row,
        });
        let cached: Vec<(f64, f64)> = curve.iter().copied().filter(|p| p.0 <= IN_CACHE).collect();
        if !is_finer && range(&cached) >= RANGE {
            let what = format!("{which}, {name}: exponent of time up to {} dofs", cached[cached.len() - 1].0);
            let row = Row::new(format!("{which}/{id}/time-exponent-in-cache"), what, exponent(&cached), "")
                .against("0.9997");
            rows.push(match name.as_str() {
                "COND, θ = 1e-4" => row.at_most(1.2).because(
                    "the norm of more unknowns is larger for the same change of each, so that larger mats take more iterations",
                ),
                "COND-E" => row.at_most(1.05).because(
                    "it holds three times the memory of COND, leaves the cache at 20,000 dofs, and takes a few more iterations on larger mats (rows below)",
                ),
                name if name.starts_with("COND") => row.at_most(1.05),
                _ => row,
            });
        }
    }
    for Curve { id, name, points: curve } in counts.iter().filter(|c| c.name.starts_with("COND")) {
        rows.push(Row::new(
            format!("{which}/{id}/iterations-exponent"),
            format!("{which}, {name}: exponent of iterations"),
            exponent(curve),
            "",
        ));
    }
    let mut weights = Plot::new("Memory of the solver", "dofs", "memory [MB]");
    (weights.x_scale, weights.y_scale) = (Scale::Log, Scale::Log);
    for Curve { id, name, points: curve } in &memory {
        weights.add(name, Mark::Line, curve.clone());
        let row = Row::new(
            format!("{which}/{id}/memory-exponent"),
            format!("{which}, {name}: exponent of memory"),
            exponent(curve),
            "",
        );
        rows.push(if name.starts_with("COND") { row.at_most(1.05) } else { row });
    }
    ctx.csv(&format!("{which}-times"), &["solver", "dofs", "seconds", "iterations", "MB"], &table)?;
    ctx.plot(&format!("{which}-memory"), &weights)?;
    ctx.plot(&format!("{which}-times"), &plot)?;
    Ok(rows)
}

/// Largest over smallest size of a curve.
fn range(curve: &[(f64, f64)]) -> f64 {
    curve.last().map_or(0.0, |last| last.0 / curve[0].0)
}

/// Something of one solver over size or stiffness.
struct Curve {
    /// Id and name of the solver.
    id: String,
    name: String,
    points: Vec<(f64, f64)>,
}

/// Adds a point to the curve of this solver.
fn add_point(curves: &mut Vec<Curve>, of: &Contestant, point: (f64, f64)) {
    match curves.iter_mut().find(|c| c.id == of.id) {
        Some(c) => c.points.push(point),
        None => curves.push(Curve { id: of.id.clone(), name: of.name.clone(), points: vec![point] }),
    }
}

fn crossover(ctx: &mut Context) -> Result<Vec<Row>> {
    let tolerance = 1e-6;
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let by_size: &[usize] = ctx.pick(&[2, 3, 5], &[2, 3, 5, 7, 9, 12]);
    let by_stiffness: &[f64] = ctx.pick(&[1e5, 1e7], &[1e5, 1e6, 1e7, 1e8]);
    let middle = ctx.pick(4, 7);
    let cases = by_size
        .iter()
        .map(|&s| ("size", format!("size/{s}-shells"), s, 1e6))
        .chain(by_stiffness.iter().map(|&e| ("stiffness", format!("stiffness/{e:e}-pa"), middle, e)));
    let (mut curves, mut stiff_curves) = (Vec::new(), Vec::new());
    for (what, id, shells, young) in cases {
        let scene = scenes::ball(Draw { young, poisson: 0.35, mu: 0.5 }, shells);
        let samples = Walk::samples(&scene, EULER, &[15, 16, 17, 25, 26, 27])?;
        let dofs = samples[0].dofs();
        ctx.note(&format!("{dofs} dofs, {young:.0e} Pa"));
        let e = CondESettings { tolerance, ..Default::default() };
        let mut all = vec![
            Contestant::kind(SolverKind::Auto, tolerance, None),
            Contestant::kind(SolverKind::Exact, tolerance, None),
            Contestant::cond_e("cond-e-mixing", "COND-E mixing", CondESettings { multigrid_from: 0, ..e }),
            Contestant::cond_e(
                "cond-e-diagonal",
                "COND-E diagonal",
                CondESettings { stand: Stand::Diagonal, ..e },
            ),
        ];
        if dofs <= 5000 {
            all.push(Contestant::kind(SolverKind::Pgs, tolerance, Some(3000)));
            all.push(Contestant::kind(SolverKind::Ccs, tolerance, Some(1000)));
        }
        // In turns, so that a busy machine is as unkind to one as to the other.
        for s in &samples {
            all.iter_mut().for_each(|c| c.run(std::slice::from_ref(s)));
        }
        let (x, curves) =
            if what == "size" { (dofs as f64, &mut curves) } else { (young, &mut stiff_curves) };
        for c in &all {
            table.push(vec![
                what.to_string(),
                dofs.to_string(),
                csv_number(young),
                c.name.clone(),
                csv_number(c.sum.milliseconds()),
                csv_number(c.sum.iterations()),
                csv_number(c.sum.worst.natural),
                c.sum.failed.to_string(),
            ]);
            add_point(curves, c, (x, c.sum.milliseconds() * 1e-3));
        }
        let solved = all.iter().filter(|c| c.sum.failed == 0);
        let best = solved.min_by(|a, b| a.sum.seconds.total_cmp(&b.sum.seconds)).unwrap_or(&all[0]);
        let ratio = all[0].sum.seconds / best.sum.seconds;
        rows.push(
            Row::new(
                format!("{id}/auto-over-best"),
                format!("{dofs} dofs, {young:.0e} Pa: time of `auto` over that of the best"),
                ratio,
                "×",
            )
            .against(format!("best: {}", best.name))
            .at_most(1.2),
        );
    }
    let axes = [("size", "dofs", curves), ("stiffness", "Young's modulus [Pa]", stiff_curves)];
    for (name, label, curves) in axes {
        let mut plot = Plot::new(&format!("Time at the same yardstick over {name}"), label, "time [s]");
        (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
        for curve in curves {
            plot.add(&curve.name, Mark::Line, curve.points);
        }
        ctx.plot(name, &plot)?;
    }
    let header = ["axis", "dofs", "young", "solver", "ms", "iterations", "natural", "failed"];
    ctx.csv("times", &header, &table)?;
    Ok(rows)
}
