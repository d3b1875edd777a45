//! ADD-F10a, ADD-F10b and ADD-F3: a soft ball thrown to a point with no, one or two bounces, thrown onto a vertical line, and
//! what the first objective looks like.

use super::common::{ONSET, Problem, defect, foam, ground, search_throw, system};
use crate::{Context, Experiment, Row};
use stiction::Vec3;
use stiction::coords::SoftId;
use stiction::diff::optimize::{Bounds, CmaSettings, LevenbergSettings, cma_es, levenberg_marquardt};
use stiction::diff::{Param, PathTarget, PointTarget};
use stiction::mesh::shapes;
use stiction::scene::Owner;
use stiction::steppers::penalty::{Bdf, FrictionModel, Settings};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const POINT: Experiment = Experiment {
    id: "ADD-F10a",
    title: "throwing a soft ball to a point after 0, 1 and 2 bounces",
    claim: "ADD, Fig. 10a: L-BFGS reaches Φ/Φ₀ < 1e-25 in 4, 24 and 28 runs; CMA-ES needs 1042 for 1e-6",
    run: point,
};

/// The registry entry.
pub const LINE: Experiment = Experiment {
    id: "ADD-F10b",
    title: "throwing a soft ball onto a vertical line: back-spin",
    claim: "ADD, Fig. 10b: the second half of the path near a vertical line asks for back-spin; 453 runs",
    run: line,
};

/// The registry entry.
pub const LANDSCAPE: Experiment = Experiment {
    id: "ADD-F3",
    title: "the objective of a throw over its velocity, for two stiffnesses and hybrid friction",
    claim: "ADD, Fig. 3: one basin per number of bounces; stiffer contacts are rougher; gradients are right nearly everywhere",
    run: landscape,
};

const BALL: Owner = Owner::Solid(SoftId(0));
const TIME: f64 = 1.0;
const TARGET: Vec3 = Vec3::new(1.5, 0.0, 0.25);
/// Fastest spin that a throw may have [rad/s]: the surface then moves at 5 m/s.
const MOST_SPIN: f64 = 100.0;

/// The ball with velocity and spin at the start as parameters. The paper does not give its time step; at 1/120 s and 100 N/m per
/// node an impact lasts several steps, so that the rebound does not depend on where in a step the ball lands.
fn ball(
    cells: usize,
    (stiffness, onset): (f64, f64),
    friction: FrictionModel,
    spin: bool,
) -> Result<Problem> {
    let mut scene = ground(0.4);
    let mut ball = foam("ball", shapes::sphere(0.05, cells), 2e4, 150.0, 0.0125, 0.4);
    ball.pose.translation = Vec3::new(0.0, 0.0, 0.5);
    ball.spin = Vec3::new(0.0, 5.0, 0.0);
    scene.solids.push(ball);
    let settings = Settings { scheme: Bdf::Two, stiffness, onset, friction, ..Settings::default() };
    let dt = 1.0 / 120.0;
    let mut params: Vec<Param> = (0..3).map(|k| Param::Velocity(BALL, k)).collect();
    if spin {
        params.extend((0..3).map(|k| Param::Spin(BALL, k)));
    }
    Problem::new(system(&scene, settings, dt)?, params, (TIME / dt).round() as usize)
}

/// Times that the ball leaves the floor again.
fn bounces(problem: &mut Problem, x: &[f64]) -> Result<usize> {
    Ok(problem.contacts(x)?.windows(2).filter(|w| w[0] > 0 && w[1] == 0).count())
}

fn curve(history: &[f64]) -> Vec<(f64, f64)> {
    history.iter().enumerate().map(|(k, v)| ((k + 1) as f64, v.max(1e-30))).collect()
}

fn point(ctx: &mut Context) -> Result<Vec<Row>> {
    // 160 and 540 tets; the paper has 451.
    let cells = ctx.pick(2, 3);
    // k_n is per node, and a finer surface has more of them: the floor as a whole stays as stiff.
    let stiffness = 100.0 * (2.0 / cells as f64).powi(2);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Objective over runs", "runs", "Φ/Φ₀");
    plot.y_scale = Scale::Log;
    let mut table = Vec::new();
    // The throw with most bounces that L-BFGS solved, up to one.
    let mut solved = None;
    let starts = [(0, [1.5, 4.8], 4), (1, [1.6, 1.6], 24), (2, [1.6, -1.0], 28)];
    for (wanted, start, paper) in starts {
        let mut problem = ball(cells, (stiffness, ONSET), FrictionModel::Linear, true)?;
        let objective = PointTarget { owner: BALL, step: problem.steps, target: TARGET, weight: Vec3::ONE };
        let start = [start[0], 0.0, start[1], 0.0, 0.0, 0.0];
        let first = problem.value(&start, &objective);
        problem.runs = 0;
        let m = search_throw(&mut problem, &objective, &start, first, (60, 1e-25));
        ctx.note(&format!("{wanted} bounces: {:.1e} after {} runs, {:?}", m.value, m.evaluations, m.end));
        let found = bounces(&mut problem, &m.x)?;
        let id = format!("{wanted}-bounces");
        rows.push(
            Row::new(format!("{id}/objective"), format!("{wanted} bounces: Φ/Φ₀ by L-BFGS"), m.value, "")
                .against("< 1e-25")
                .at_most(1e-12),
        );
        let enough = m.history.iter().position(|v| *v <= 1e-12).map_or(m.evaluations, |k| k + 1);
        rows.push(
            Row::new(format!("{id}/runs"), format!("{wanted} bounces: runs to 1e-12"), enough as f64, "")
                .against(format!("{paper} to 1e-25"))
                .at_most(60.0),
        );
        rows.push(
            Row::new(
                format!("{id}/bounces-found"),
                format!("started for {wanted}: bounces found"),
                found as f64,
                "",
            )
            .accept(format!("{wanted}"), found == wanted)
            .because(format!("v = ({:.3}, {:.3}, {:.3}) m/s", m.x[0], m.x[1], m.x[2])),
        );
        for (k, v) in m.history.iter().enumerate() {
            table.push(vec!["L-BFGS".into(), wanted.to_string(), (k + 1).to_string(), csv_number(*v)]);
        }
        plot.add(&format!("L-BFGS, {wanted} bounces"), Mark::Line, curve(&m.history));
        if wanted <= 1 && m.value <= 1e-12 {
            solved = Some((wanted, start, enough, first));
        }
    }
    if !ctx.quick {
        let mut problem = ball(cells, (stiffness, 0.0), FrictionModel::Linear, true)?;
        let objective = PointTarget { owner: BALL, step: problem.steps, target: TARGET, weight: Vec3::ONE };
        let start = [1.6, 0.0, 1.6, 0.0, 0.0, 0.0];
        let first = problem.value(&start, &objective);
        let m = search_throw(&mut problem, &objective, &start, first, (60, 1e-25));
        rows.push(
            Row::new("kink/objective", "1 bounce with the kink of (16): Φ/Φ₀ by L-BFGS", m.value, "")
                .because(format!("{} runs; it ends in a ripple, which the onset takes away", m.evaluations)),
        );
    }
    if let Some((wanted, start, runs, first)) = solved {
        let mut problem = ball(cells, (stiffness, ONSET), FrictionModel::Linear, true)?;
        let objective = PointTarget { owner: BALL, step: problem.steps, target: TARGET, weight: Vec3::ONE };
        // As many as tell ten times the runs of L-BFGS.
        let settings = CmaSettings { evaluations: 11 * runs, goal: 1e-6, seed: 3 };
        let spread = [0.3, 0.3, 0.3, 2.0, 2.0, 2.0];
        let m =
            cma_es(&start, &spread, &Bounds::none(6), &settings, |x| problem.value(x, &objective) / first);
        let row = Row::new(
            "cma-es-over-lbfgs/runs",
            format!("{wanted} bounces: runs of CMA-ES to 1e-6, over those of L-BFGS to 1e-12"),
            m.evaluations as f64 / runs as f64,
            "×",
        );
        rows.push(
            row.against("1042/28 = 37 ×")
                .at_least(10.0)
                .because(format!("CMA-ES reached {:.1e} in {} runs", m.value, m.evaluations)),
        );
        for (k, v) in m.history.iter().enumerate() {
            table.push(vec!["CMA-ES".into(), wanted.to_string(), (k + 1).to_string(), csv_number(*v)]);
        }
        plot.add(&format!("CMA-ES, {wanted} bounces"), Mark::Line, curve(&m.history));
    }
    ctx.plot("convergence", &plot)?;
    ctx.csv("convergence", &["method", "bounces", "run", "objective"], &table)?;
    Ok(rows)
}

fn line(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut problem = ball(2, (100.0, ONSET), FrictionModel::Linear, true)?;
    let steps = problem.steps;
    let objective = PathTarget::line(BALL, steps / 2..=steps, Vec3::new(0.8, 0.0, 0.0), 2);
    // Lands near the line at half time, without spin.
    let start = [1.6, 0.0, 1.5, 0.0, -5.0, 0.0];
    let first = problem.value(&start, &objective);
    problem.runs = 0;
    let settings = LevenbergSettings { evaluations: ctx.pick(25, 60), goal: 0.0, change: 1e-6 };
    let mut bounds = Bounds::none(6);
    bounds.lo[3..].fill(-MOST_SPIN);
    bounds.hi[3..].fill(MOST_SPIN);
    let all: Vec<usize> = (0..6).collect();
    let (m, _) = levenberg_marquardt(&start, &bounds, &settings, |x| problem.rows(x, &objective, &all));
    let mut plot = Plot::new("Path of the centre", "x [m]", "z [m]");
    for (name, x) in [("start", start.to_vec()), ("optimised", m.x.clone())] {
        let states = problem.states(&x)?;
        let model = problem.system.model();
        let mass: f64 = model.nodes.iter().map(|n| n.mass).sum();
        let mean = |s| model.nodes.iter().map(|n| n.mass * n.position(s)).sum::<Vec3>() / mass;
        plot.add(name, Mark::Line, states.iter().map(mean).map(|x| (x.x, x.z)).collect());
    }
    ctx.plot("path", &plot)?;
    let x = problem.params(&m.x);
    Ok(vec![
        Row::new("reduction", "Φ₀/Φ", first / m.value, "×").at_least(100.0).because(m.end.describe()),
        Row::new("runs", "runs", m.evaluations as f64, "").against("453"),
        Row::new("spin", "spin about y; forward rolling is positive", x[4], "rad/s")
            .against("back-spin")
            .accept("negative", x[4] < 0.0),
        Row::remark("velocity", "velocity", format!("({:.3}, {:.3}, {:.3}) m/s", x[0], x[1], x[2])),
    ])
}

fn landscape(ctx: &mut Context) -> Result<Vec<Row>> {
    let (nx, nz) = ctx.pick((3, 6), (6, 9));
    let (mut rows, mut table) = (Vec::new(), Vec::new());
    let mut plot = Plot::new("Objective over v_z at v_x = 1.5 m/s", "v_z [m/s]", "Φ [m²]");
    let mut rough = Vec::new();
    let models = [
        ("linear-100", "k_n = 100 N/m", 100.0, FrictionModel::Linear),
        ("linear-1000", "k_n = 1000 N/m", 1000.0, FrictionModel::Linear),
        ("hybrid-100", "hybrid, 100 N/m", 100.0, FrictionModel::Hybrid),
    ];
    for (id, name, stiffness, friction) in models {
        let mut problem = ball(ctx.pick(1, 2), (stiffness, 0.0), friction, false)?;
        let objective = PointTarget { owner: BALL, step: problem.steps, target: TARGET, weight: Vec3::ONE };
        let (mut right, mut all) = (0, 0);
        for i in 0..nx {
            for j in 0..nz {
                let x = [1.0 + i as f64 / (nx - 1) as f64, 0.0, -2.0 + 5.0 * j as f64 / (nz - 1) as f64];
                let (value, g) = problem.gradient(&x, &objective);
                // Differences along one oblique direction; a kink within the first step calls for a shorter one.
                let along = [0.8, 0.0, 0.6];
                let slope: f64 = g.iter().zip(along).map(|(g, a)| g * a).sum();
                let mut off = |e: f64| {
                    let side = |s: f64| [0, 1, 2].map(|k| x[k] + s * along[k]);
                    let up = problem.value(&side(e), &objective);
                    let difference = (up - problem.value(&side(-e), &objective)) / (2.0 * e);
                    (difference - slope).abs() / slope.abs().max(1e-3)
                };
                all += 1;
                right += usize::from(off(1e-5) < 1e-4 || off(1e-6) < 1e-4);
                table.push(vec![name.into(), csv_number(x[0]), csv_number(x[2]), csv_number(value)]);
            }
        }
        rows.push(
            Row::new(
                format!("{id}/right-gradients"),
                format!("{name}: points where the gradient is right to 1e-4"),
                100.0 * right as f64 / all as f64,
                "%",
            )
            .at_least(95.0),
        );
        // A finer line for basins and roughness.
        let n = ctx.pick(41, 61);
        let line: Vec<(f64, f64)> = (0..n)
            .map(|k| {
                let v = -2.5 + 6.0 * k as f64 / (n - 1) as f64;
                (v, problem.value(&[1.5, 0.0, v], &objective))
            })
            .collect();
        let second: Vec<f64> = line.windows(3).map(|w| (w[0].1 - 2.0 * w[1].1 + w[2].1).abs()).collect();
        rough.push(second.iter().sum::<f64>() / second.len() as f64);
        // A basin is a lowest point with a rise of a tenth of the whole range on both sides.
        let (low, high) = line.iter().fold((f64::MAX, 0.0_f64), |(a, b), p| (a.min(p.1), b.max(p.1)));
        let mut basins = 0;
        let (mut falling, mut extreme) = (true, line[0].1);
        for (_, v) in &line {
            extreme = if falling { extreme.min(*v) } else { extreme.max(*v) };
            if (v - extreme).abs() > 0.1 * (high - low) {
                basins += usize::from(falling);
                falling = !falling;
                extreme = *v;
            }
        }
        basins += usize::from(falling);
        rows.push(
            Row::new(format!("{id}/basins"), format!("{name}: basins along v_z"), basins as f64, "")
                .against("one per number of bounces")
                .at_least(2.0),
        );
        plot.add(name, Mark::Line, line);
    }
    rows.push(
        Row::new(
            "roughness",
            "roughness (mean second difference) of 1000 N/m over 100 N/m",
            rough[1] / rough[0],
            "×",
        )
        .against("rises")
        .at_least(1.0),
    );
    ctx.plot("line", &plot)?;
    ctx.csv("grid", &["model", "v_x", "v_z", "objective"], &table).map_err(defect)?;
    Ok(rows)
}
