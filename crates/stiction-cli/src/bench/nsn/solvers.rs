//! NSN-F11 and NSN-F18: linear solvers on one system, and over a Newton solve.

use super::beam;
use super::steps::{H, Steps, curve, looks, paper, stepping};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::Vec3;
use stiction::contact::Solution;
use stiction::contact::samples;
use stiction::solvers::ContactSolver;
use stiction::solvers::newton::linear::LinearSolver;
use stiction::solvers::newton::schur::Schur;
use stiction::solvers::newton::{LinearMethod, LinearSettings, NewtonSettings, NonsmoothNewton, StepRule};

/// Fig. 11.
pub const SUBPROBLEM: Experiment = Experiment {
    id: "NSN-F11",
    title: "Jacobi, Gauss–Seidel, PCG and PCR on one linear system, of an arch and of a beam",
    claim: "Macklin et al. 2019, Fig. 11: PCR is monotone and often an order of magnitude below the others",
    run: subproblem,
};

/// Fig. 18.
pub const COMPARISON: Experiment = Experiment {
    id: "NSN-F18",
    title: "linear solvers over a Newton solve, 40 iterations each: arch, wall, heavy stack",
    claim: "Macklin et al. 2019, Fig. 18: Jacobi and Gauss–Seidel stagnate, PCG jumps, PCR is fast and smooth",
    run: comparison,
};

const METHODS: [LinearMethod; 4] = [
    LinearMethod::Jacobi,
    LinearMethod::GaussSeidel,
    LinearMethod::ConjugateGradient,
    LinearMethod::ConjugateResidual,
];

fn subproblem(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // A late Newton iteration, when friction is on.
    let p = samples::arch(10, 0.6);
    let mut solver = NonsmoothNewton::new(paper(10, LinearMethod::Llt, 0));
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    solver.solve(&p, &mut x, &mut ());
    let arch = solver.system().cloned().unwrap_or_default();
    let mut sim = Steps::new(&beam::insertion(), stepping(paper(6, LinearMethod::ConjugateResidual, 50)))?;
    for _ in 0..90 {
        sim.step(H)?;
    }
    for (scene, mut system) in [("arch", arch), ("beam", sim.stepper.system().clone())] {
        measure(ctx, scene, &mut system, &mut rows)?;
    }
    Ok(rows)
}

fn measure(ctx: &mut Context, scene: &str, s: &mut Schur<f64>, rows: &mut Vec<Row>) -> Result<()> {
    let settings = NewtonSettings::default();
    s.prepare(settings.linear.product, false, settings.regularization);
    let mut b = Vec::new();
    s.right_side(&mut b);
    let mut plot =
        Plot::new(&format!("One linear system, {scene}"), "iteration", "‖r‖ in the preconditioner");
    plot.y_scale = Scale::Log;
    let mut all = Vec::new();
    let mut table = Vec::new();
    for method in METHODS {
        let mut solver = LinearSolver::with_history();
        let mut x = vec![0.0; b.len()];
        solver.solve(s, &b, &mut x, &LinearSettings::default().with_method(method).with_iterations(80));
        let history = solver.history.unwrap_or_default();
        for (k, r) in history.iter().enumerate() {
            table.push(vec![scene.to_string(), method.name().into(), (k + 1).to_string(), csv_number(*r)]);
        }
        let points = history.iter().enumerate().map(|(k, r)| ((k + 1) as f64, *r));
        plot.add(method.name(), Mark::Line, points.filter(|p| p.1 > 0.0 && p.1.is_finite()).collect());
        all.push(history);
    }
    // What is below rounding does not count.
    let floor = 1e-10 * all[3].first().copied().unwrap_or(1.0);
    let rises =
        |h: &[f64]| h.windows(2).filter(|w| w[1] > w[0] * (1.0 + 1e-12) && w[1] > floor).count() as f64;
    let (cg, cr) = (&all[2], &all[3]);
    rows.push(
        Row::new(format!("{scene}, PCR: iterations in which the residual rises"), rises(cr), "")
            .against("0")
            .at_most(0.0),
    );
    rows.push(
        Row::new(format!("{scene}, PCG: iterations in which the residual rises"), rises(cg), "")
            .against("non-monotone")
            .at_least(1.0),
    );
    let worse = cr.iter().zip(cg).filter(|(r, g)| **r > **g * (1.0 + 1e-9) && **r > floor).count() as f64;
    rows.push(
        Row::new(format!("{scene}: iterations in which PCR is above PCG"), worse, "")
            .against("0")
            .at_most(0.0),
    );
    let ratio: f64 =
        cr.iter().zip(cg).take(20).map(|(r, g)| (g / r).ln()).sum::<f64>() / cr.len().min(20) as f64;
    let row = Row::new(format!("{scene}: PCG over PCR, mean of the first 20"), ratio.exp(), "×")
        .against("often an order of magnitude");
    rows.push(if ratio.exp() >= 3.0 {
        row.at_least(3.0)
    } else {
        row.at_least(3.0).because(
            "both minimise over the same space; in 64-bit numbers they differ by how the norm is chosen",
        )
    });
    let at = |h: &[f64]| h.get(39).or(h.last()).copied().unwrap_or(f64::INFINITY).max(floor);
    for k in 0..2 {
        let ratio = at(&all[k]) / at(cr);
        let row = Row::new(format!("{scene}: {} over PCR after 40", METHODS[k].name()), ratio, "×")
            .against("stagnates one to three orders above")
            .at_least(10.0);
        rows.push(if ratio >= 10.0 {
            row
        } else {
            row.because("PCR itself has not converged after 40 on this ill-conditioned chain")
        });
    }
    ctx.csv(scene, &["scene", "method", "iteration", "residual"], &table)?;
    ctx.plot(scene, &plot)
}

fn comparison(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let scenes = [
        ("arch", samples::arch(10, 0.6)),
        ("wall", samples::wall_with_speed(5, 5, 0.6, 0.0, 1)),
        ("heavy stack", samples::heavy_stack(5)),
    ];
    let mut table = Vec::new();
    for (scene, p) in scenes {
        let mut plot = Plot::new(
            &format!("Error by linear solver, {scene}"),
            "Newton iteration",
            "error / velocity scale",
        );
        plot.y_scale = Scale::Log;
        let mut last = Vec::new();
        for method in METHODS {
            let settings = NewtonSettings { step: StepRule::Fixed(1.0), ..paper(50, method, 40) };
            let (iterates, _) = looks(&p, settings);
            plot.add(method.name(), Mark::Line, curve(&iterates, |l| l.error));
            for l in &iterates {
                table.push(vec![
                    scene.to_string(),
                    method.name().into(),
                    l.iteration.to_string(),
                    csv_number(l.error),
                    csv_number(l.step),
                ]);
            }
            let end = iterates.last().map_or(f64::INFINITY, |l| l.error);
            last.push(if end.is_nan() { f64::INFINITY } else { end });
            rows.push(Row::new(
                format!("{scene}, {}: error after 50 Newton iterations", method.name()),
                end,
                "of the velocity scale",
            ));
        }
        // Below rounding there is no order, and relaxation that stagnates or diverges has none either.
        let floor = |e: f64| e.max(1e-11);
        let krylov = floor(last[3]) <= floor(last[2]);
        let relaxed = last[0].min(last[1]) > 1e3 * floor(last[2]);
        rows.push(
            Row::remark(format!("{scene}: order of the final errors"), "PCR ≤ PCG ≪ Gauss–Seidel, Jacobi")
                .against("PCR, PCG, Gauss–Seidel, Jacobi")
                .accept("PCR ≤ PCG or at rounding, relaxation 1e3 above", krylov && relaxed),
        );
        if scene == "heavy stack" {
            rows.push(
                Row::new("heavy stack: Gauss–Seidel over PCR", last[1] / floor(last[3]), "×")
                    .against("stagnates")
                    .at_least(1e3),
            );
        }
        ctx.plot(&scene.replace(' ', "-"), &plot)?;
    }
    ctx.csv("curves", &["scene", "method", "iteration", "error", "step"], &table)?;
    Ok(rows)
}
