//! Residual histories of one step (Figures 6 and 7).

use super::super::{Context, Experiment, Row};
use super::gripped;
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::Vec3;
use stiction::contact::Solution;
use stiction::solvers::ContactSolver;
use stiction::solvers::cr::{ConjugateResidual, Preconditioner, Settings, Stop};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-F6",
    title: "residual norms of one step with Diag and with Full",
    claim: "with Diag the preconditioned residual falls monotonically between changes of state; Full needs far fewer \
            iterations",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let p = gripped(ctx.pick([6, 6, 6], [10, 11, 11]), 0);
    let stop = Stop::Paper { eps1: 1e-5, eps2: 1e-6 };
    let mut rows = Vec::new();
    let mut iterations = Vec::new();
    for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
        let mut solver = ConjugateResidual::new(Settings { stop, preconditioner, ..Settings::paper() });
        solver.record_history();
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        solver.solve(&p, &mut x, &mut ());
        let h = solver.history();
        let name = format!("{preconditioner:?}");
        let mut plot = Plot::new(&format!("Residual norms, {name}"), "iteration", "norm");
        plot.y_scale = Scale::Log;
        let curve = |f: &dyn Fn(usize) -> f64| {
            (0..h.len()).map(|k| (k as f64, f(k))).filter(|p| p.1 > 0.0).collect::<Vec<_>>()
        };
        plot.add("‖r‖", Mark::Line, curve(&|k| h[k].residual));
        plot.add("‖C^(−1/2) r‖", Mark::Line, curve(&|k| h[k].preconditioned));
        plot.add("‖U r‖∞", Mark::Line, curve(&|k| h[k].constraint));
        plot.add("‖U C^(−1/2) r‖∞", Mark::Line, curve(&|k| h[k].preconditioned_constraint));
        ctx.plot(&name.to_lowercase(), &plot)?;
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
        ctx.csv(&name.to_lowercase(), &header, &cells)?;
        if preconditioner == Preconditioner::Diag {
            // Between restarts ‖C^(−1/2) r‖ is what the method minimises.
            let rising = h
                .windows(2)
                .filter(|w| !w[1].restarted && w[1].preconditioned > w[0].preconditioned * (1.0 + 1e-9));
            let row = Row::new(
                "Diag: rises of the preconditioned residual between changes",
                rising.count() as f64,
                "",
            );
            rows.push(row.against("0").at_most(0.0));
        }
        iterations.push(solver.counts().iterations as f64);
        rows.push(Row::new(format!("{name}: iterations"), solver.counts().iterations as f64, ""));
        rows.push(Row::new(format!("{name}: changes of state"), solver.counts().switches as f64, ""));
    }
    let row = Row::new("iterations Diag / Full", iterations[0] / iterations[1], "×");
    let scene = "a block in a grip in place of nine spheres between a torus and a core; no re-linearisation within the solve";
    rows.push(row.against("“much faster”").at_least(2.0).because(scene));
    Ok(rows)
}
