//! Residual histories of one step of the bearing (Figures 6 and 7).

use super::super::runs::broke;
use super::super::{Context, Experiment, Row};
use stiction::Vec3;
use stiction::contact::Solution;
use stiction::elastic::{Law, Material};
use stiction::papers::cr::{ConjugateResidual, Preconditioner, Settings, Stop};
use stiction::scene::contact_samples as scenes;
use stiction::solvers::{ContactSolver, TraceRecord};
use stiction::{SimSettings, Simulation, SolverKind, SolverSettings};
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// Tolerance of the steps: the yardstick.
const TOLERANCE: f64 = 1e-6;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-F6",
    title: "residual norms of one step of the bearing with Diag and with Full, and its non-linear updates",
    claim: "with Diag the preconditioned residual falls monotonically between changes of state; Full needs far fewer \
            iterations; fewer from one linearisation to the next",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let (sim, mut rows) = bearing(ctx)?;
    let p = sim.problem().expect("a velocity step");
    // Relative to ‖b‖, as in Table 1 (R10).
    let size = p.b.iter().map(|b| b * b).sum::<f64>().sqrt();
    let stop = Stop::Paper { eps1: 1e-5 * size, eps2: 1e-6 };
    let mut iterations = Vec::new();
    for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
        let mut solver = ConjugateResidual::new(Settings { stop, preconditioner, ..Settings::paper() });
        solver.record_history();
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        solver.solve(p, &mut x, &mut ());
        let h = solver.history();
        let name = format!("{preconditioner:?}");
        let id = name.to_lowercase();
        let mut plot = Plot::new(&format!("Residual norms, {name}"), "iteration", "norm");
        plot.y_scale = Scale::Log;
        let curve = |f: &dyn Fn(usize) -> f64| {
            (0..h.len()).map(|k| (k as f64, f(k))).filter(|p| p.1 > 0.0).collect::<Vec<_>>()
        };
        plot.add("‖r‖", Mark::Line, curve(&|k| h[k].residual));
        plot.add("‖C^(−1/2) r‖", Mark::Line, curve(&|k| h[k].preconditioned));
        plot.add("‖U r‖∞", Mark::Line, curve(&|k| h[k].constraint));
        plot.add("‖U C^(−1/2) r‖∞", Mark::Line, curve(&|k| h[k].preconditioned_constraint));
        ctx.plot(&id, &plot)?;
        let cells: Vec<Vec<String>> = h
            .iter()
            .enumerate()
            .map(|(k, r)| {
                let norms = [r.residual, r.preconditioned, r.constraint, r.preconditioned_constraint];
                let restarted = f64::from(u8::from(r.restarted));
                [k as f64].into_iter().chain(norms).chain([restarted]).map(csv_number).collect()
            })
            .collect();
        let header =
            ["iteration", "r", "preconditioned", "constraint", "preconditioned_constraint", "restart"];
        ctx.csv(&id, &header, &cells)?;
        if preconditioner == Preconditioner::Diag {
            // Between restarts ‖C^(−1/2) r‖ is what the method minimises.
            let rising = h
                .windows(2)
                .filter(|w| !w[1].restarted && w[1].preconditioned > w[0].preconditioned * (1.0 + 1e-9));
            let row = Row::new(
                "diag/rises",
                "Diag: rises of the preconditioned residual between changes",
                rising.count() as f64,
                "",
            );
            rows.push(row.against("0").at_most(0.0));
        }
        iterations.push(solver.counts().iterations as f64);
        rows.push(Row::new(
            format!("{id}/iterations"),
            format!("{name}: iterations"),
            solver.counts().iterations as f64,
            "",
        ));
        rows.push(Row::new(
            format!("{id}/state-changes"),
            format!("{name}: changes of state"),
            solver.counts().switches as f64,
            "",
        ));
    }
    let row =
        Row::new("diag-over-full/iterations", "iterations Diag / Full", iterations[0] / iterations[1], "×");
    rows.push(row.against("“much faster”").at_least(2.0));
    Ok(rows)
}

/// Nine balls whose core has begun to squeeze them; every step is looked at for the solves that its non-linear contacts took.
fn bearing(ctx: &mut Context) -> Result<(Simulation, Vec<Row>)> {
    let (shells, steps) = ctx.pick((2, 40), (4, 80));
    let material =
        Material { law: Law::NeoHookean { threshold: 0.7 }, young: 5e5, poisson: 0.2, density: 1000.0 };
    let scene = scenes::bearing(shells, material);
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings {
        solver: SolverKind::ConjugateResidual,
        solver_settings: SolverSettings { tolerance: Some(TOLERANCE), max_iterations: Some(3000) },
        linearizations: 4,
        ..SimSettings::default()
    };
    let mut sim = Simulation::new(model, settings);
    let (mut first, mut later, mut updates) = (0.0, Vec::new(), 0);
    let mut longest: Vec<TraceRecord> = Vec::new();
    for _ in 0..steps {
        let mut trace: Vec<TraceRecord> = Vec::new();
        sim.step_traced(ctx.pick(2e-3, 1e-3), &mut trace).map_err(broke)?;
        // Each solve of the step counts its iterations from zero.
        let solves: Vec<&[TraceRecord]> = trace.chunk_by(|a, b| b.iteration > a.iteration).collect();
        let lengths: Vec<f64> = solves.iter().map(|s| s.len() as f64 - 1.0).collect();
        if lengths.len() > 1 {
            updates += lengths.len() - 1;
            first += lengths[0];
            later.resize(later.len().max(lengths.len() - 1), 0.0);
            later.iter_mut().zip(&lengths[1..]).for_each(|(sum, n)| *sum += n);
            if solves.len() > longest.chunk_by(|a, b| b.iteration > a.iteration).count() {
                longest.clone_from(&trace);
            }
        }
    }
    let mut plot = Plot::new("One step, with its non-linear updates", "iteration", "residual over tolerance");
    plot.y_scale = Scale::Log;
    let place = |k: usize| (k as f64, longest[k].residual);
    plot.add("residual", Mark::Line, (0..longest.len()).map(place).filter(|p| p.1 > 0.0).collect());
    let starts = (1..longest.len()).filter(|k| longest[*k].iteration <= longest[k - 1].iteration);
    plot.add("update", Mark::Dots, starts.map(place).filter(|p| p.1 > 0.0).collect());
    ctx.plot("updates", &plot)?;
    let mut rows = vec![
        Row::new("updates", "non-linear updates over all steps", updates as f64, "").at_least(1.0),
        Row::new("first-solves/iterations", "iterations of first solves, all steps with updates", first, ""),
    ];
    for (k, sum) in later.iter().enumerate().take(3) {
        let n = k + 1;
        rows.push(Row::new(
            format!("update-{n}/iterations"),
            format!("iterations after update {n}, the same steps"),
            *sum,
            "",
        ));
    }
    let last = later.get(2.min(later.len().saturating_sub(1))).copied().unwrap_or(f64::NAN);
    let row = Row::new(
        "last-over-first/iterations",
        "iterations after the last of these over those of first solves",
        last / first,
        "×",
    );
    rows.push(row.against("gaps between updates shrink").accept("< 1", last < first));
    Ok((sim, rows))
}
