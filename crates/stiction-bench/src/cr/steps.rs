//! Whole steps: time against other solvers at one yardstick, threads, growth with dofs and with compression, and where the time
//! of a solve goes (6.2).

use super::super::runs::broke;
use super::super::{Context, Experiment, Row};
use super::{gripped, mean_median, solve};
use stiction::collide::Continuous;
use stiction::contact::soft_samples::SoftBlock;
use stiction::elastic::{Law, Material};
use stiction::kinematics::Placement;
use stiction::papers::cr::{Preconditioner, Settings, Stop};
use stiction::scene::contact_samples as scenes;
use stiction::{Scene, SimSettings, Simulation, SolverKind, SolverSettings};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;

/// Time per step on five scenes.
pub const SCENES: Experiment = Experiment {
    id: "CR-steps",
    title: "time per step of exact, cond-e and cr on five scenes without intersection",
    claim: "our own comparison: all to 1e-6 of the velocity scale",
    run: five_scenes,
};

/// Threads.
pub const THREADS: Experiment = Experiment {
    id: "CR-threads",
    title: "two threads against one",
    claim: "our own: the same bits",
    run: threads,
};

/// Growth.
pub const GROWTH: Experiment = Experiment {
    id: "CR-growth",
    title: "time of a solve over dofs, and iterations while a block is compressed",
    claim: "our own; in the paper iterations grow with compression (Figure 10)",
    run: growth,
};

/// Shares of the time.
pub const SHARES: Experiment = Experiment {
    id: "CR-S6.2",
    title: "what the preconditioner and boxes that vertices have left cost",
    claim: "applying Full takes about 15 % of a solve, building it less than 0.1 %; searching again for vertices that left \
            their boxes up to 5 % of detection",
    run: shares,
};

const TOLERANCE: f64 = 1e-6;

fn simulation(scene: &Scene, solver: SolverKind) -> Result<Simulation> {
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let solver_settings = SolverSettings { tolerance: Some(TOLERANCE), max_iterations: None };
    let settings = SimSettings { solver, solver_settings, intersection_free: true, ..SimSettings::default() };
    Ok(Simulation::new(model, settings))
}

fn five_scenes(ctx: &mut Context) -> Result<Vec<Row>> {
    let neo = Material { law: Law::NeoHookean { threshold: 0.7 }, young: 5e5, poisson: 0.2, density: 1000.0 };
    let steps = ctx.pick(8, 40);
    // Contact begins within the first steps of all of them.
    let all = [
        ("rings", "rings", scenes::rings(ctx.pick(4, 12), 5e5), 5e-3),
        ("pyramid", "pyramid", scenes::pyramid(ctx.pick(1, 2), 5e5), 5e-3),
        ("cubes", "cubes", scenes::cubes(ctx.pick(4, 27)), 2e-3),
        ("bearing", "bearing", scenes::bearing(ctx.pick(2, 3), neo), 2e-3),
        ("box-stack", "box stack", scenes::box_stack(5), 5e-3),
    ];
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    for (id, name, scene, dt) in &all {
        let mut base = 1.0;
        for kind in [SolverKind::Exact, SolverKind::CondE, SolverKind::ConjugateResidual] {
            let mut sim = simulation(scene, kind)?;
            let (mut time, mut iterations, mut unsolved) = (0.0, 0, 0);
            for _ in 0..steps {
                let r = sim.step(*dt).map_err(broke)?;
                time += r.times.solve;
                iterations += r.iterations;
                unsolved += usize::from(!r.status.is_solved());
            }
            let per_step = 1e3 * time / steps as f64;
            if kind == SolverKind::Exact {
                base = per_step;
            }
            let id = format!("{id}/{}", kind.name());
            let what = format!("{name}, {}", kind.name());
            rows.push(Row::new(format!("{id}/time"), format!("{what}: solving, per step"), per_step, "ms"));
            rows.push(Row::new(
                format!("{id}/time-over-exact"),
                format!("{what}: over exact"),
                per_step / base,
                "×",
            ));
            rows.push(Row::new(
                format!("{id}/unsolved-steps"),
                format!("{what}: steps not converged"),
                unsolved as f64,
                "",
            ));
            let figures = [per_step, iterations as f64 / steps as f64, unsolved as f64].map(csv_number);
            cells.push([name.to_string(), kind.name().into()].into_iter().chain(figures).collect());
        }
    }
    ctx.csv("solvers", &["scene", "solver", "solve_ms", "iterations", "not_converged"], &cells)?;
    Ok(rows)
}

fn threads(ctx: &mut Context) -> Result<Vec<Row>> {
    let (count, steps) = ctx.pick((16, 3), (60, 12));
    let scene = scenes::rings(count, 5e5);
    let run = |n: usize| -> Result<(Vec<u64>, f64)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        let pool = pool.map_err(|e| error(format!("no threads: {e}"), "free some memory"))?;
        pool.install(|| {
            let mut sim = simulation(&scene, SolverKind::ConjugateResidual)?;
            let watch = Stopwatch::start();
            for _ in 0..steps {
                sim.step(5e-3).map_err(broke)?;
            }
            Ok((sim.state().q.iter().map(|x| x.to_bits()).collect(), watch.elapsed().wall))
        })
    };
    let ((one, alone), (two, shared)) = (run(1)?, run(2)?);
    let same = one == two;
    Ok(vec![
        Row::remark(
            "same-bits",
            "states after one and two threads",
            if same { "the same bits" } else { "different" },
        )
        .accept("the same bits", same),
        Row::new("speedup", "time with one thread over that with two", alone / shared, "×"),
    ])
}

fn growth(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let sizes: &[usize] = ctx.pick(&[5, 8, 12], &[6, 9, 13, 18]);
    let mut ends = Vec::new();
    for &n in sizes {
        let p = gripped([n; 3], 0);
        let watch = Stopwatch::start();
        let x = solve(Settings::robust(), &p);
        let took = watch.elapsed();
        let seconds = took.cpu.unwrap_or(took.wall);
        let row = Row::new(
            format!("block-{n}/time"),
            format!("{} dofs: time of a solve", p.dofs()),
            1e3 * seconds,
            "ms",
        );
        rows.push(row.accept("converges", x.report.status.is_solved()));
        rows.push(Row::new(
            format!("block-{n}/iterations"),
            format!("{} dofs: iterations", p.dofs()),
            x.counts.iterations as f64,
            "",
        ));
        ends.push((p.dofs() as f64, seconds));
        cells.push([p.dofs() as f64, seconds, x.counts.iterations as f64].map(csv_number).to_vec());
    }
    let (a, b) = (ends[0], ends[ends.len() - 1]);
    let exponent = (b.1 / a.1).ln() / (b.0 / a.0).ln();
    // Iterations grow with the diameter of the mesh, as those of any Krylov method without coarse levels.
    rows.push(Row::new("time-exponent", "exponent of time over dofs", exponent, "").at_most(1.6));
    let mut block = SoftBlock::new(ctx.pick([5; 3], [8; 3]));
    let steps = ctx.pick(40, 100);
    let mut counts = Vec::new();
    for step in 0..steps {
        block.drive(step);
        let x = solve(Settings::robust(), &block.problem());
        counts.push(x.counts.iterations as f64);
        block.advance(&x.solution.v);
    }
    let quarter = counts.len() / 4;
    let (first, last) = (mean_median(&counts[..quarter]).0, mean_median(&counts[3 * quarter..]).0);
    rows.push(Row::new(
        "compression/first-quarter",
        "compression: iterations in the first quarter",
        first,
        "",
    ));
    rows.push(Row::new("compression/last-quarter", "compression: iterations in the last quarter", last, ""));
    rows.push(
        Row::new("compression/growth", "compression: growth", last / first, "×")
            .against("grows")
            .at_most(3.0),
    );
    ctx.csv("dofs", &["dofs", "seconds", "iterations"], &cells)?;
    Ok(rows)
}

fn shares(ctx: &mut Context) -> Result<Vec<Row>> {
    let p = gripped([ctx.pick(9, 14); 3], 0);
    let most = ctx.pick(300, 600);
    // As many iterations for each, which no test ends early.
    let stop = Stop::Paper { eps1: 0.0, eps2: 0.0 };
    let time = |preconditioner: Preconditioner, max_iterations: usize| {
        let s = Settings { stop, preconditioner, max_iterations, ..Settings::paper() };
        let watch = Stopwatch::start();
        let x = solve(s, &p);
        let took = watch.elapsed();
        (took.cpu.unwrap_or(took.wall), x.counts.iterations.max(1) as f64)
    };
    let ((full, n), (none, m)) = (time(Preconditioner::Full, most), time(Preconditioner::None, most));
    let building = time(Preconditioner::Full, 0).0;
    let share = 100.0 * (1.0 - (none / m) / (full / n));
    let mut rows = vec![
        Row::new("applying", "applying Full, share of an iteration", share, "%").against("15").at_most(50.0),
        Row::new("building", "building it and starting, share of a solve", 100.0 * building / full, "%")
            .against("< 0.1"),
        Row::new("iterations", "iterations of the solve", n, ""),
    ];
    rows.push(rechecks(ctx)?);
    Ok(rows)
}

/// The share of detection that goes into candidates found anew because a vertex left its box on the way that the solver found: the
/// same query twice, of which the second finds its lists up to date.
fn rechecks(ctx: &mut Context) -> Result<Row> {
    let (count, steps) = ctx.pick((8, 40), (40, 60));
    let mut sim = simulation(&scenes::rings(count, 5e5), SolverKind::ConjugateResidual)?;
    let mut hits = Vec::new();
    let (mut all, mut again) = (0.0, 0.0);
    for _ in 0..steps {
        let before = sim.state().clone();
        all += sim.step(1e-3).map_err(broke)?.times.collide;
        // The least of three times each, since other work on the machine only adds to them.
        let mut least = [f64::INFINITY; 2];
        for _ in 0..3 {
            let mut detection = Continuous::new(sim.model());
            detection.find_candidates(Placement::of(sim.model(), &before).kinematics(sim.model()), 1e-3);
            for least in &mut least {
                let watch = Stopwatch::start();
                detection.impacts(
                    Placement::of(sim.model(), &before).kinematics(sim.model()),
                    sim.kinematics(),
                    &mut hits,
                );
                *least = least.min(watch.elapsed().wall);
            }
        }
        again += (least[0] - least[1]).max(0.0);
    }
    let row = Row::new("rechecks", "candidates found anew, share of detection", 100.0 * again / all, "%");
    Ok(row.against("up to 5").at_most(5.0))
}
