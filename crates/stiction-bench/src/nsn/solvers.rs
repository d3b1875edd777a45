//! NSN-F11 and NSN-F18: linear solvers on one system, and over a Newton solve.

use super::pile::Case;
use super::steps::{H, Steps, curve, paper, stepping};
use super::{arch, beam};
use crate::{Context, Experiment, Row};
use stiction::contact::samples;
use stiction::papers::nsn::NonlinearStepper;
use stiction::papers::nsn::solve::linear::LinearSolver;
use stiction::papers::nsn::solve::schur::Schur;
use stiction::papers::nsn::solve::{
    LinearMethod, LinearSettings, NewtonSettings, PreconditionerKind, StepRule,
};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

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
    title: "linear solvers over a Newton solve, 40 iterations each: arch, pile, heavy stack",
    claim: "Macklin et al. 2019, Fig. 18: Jacobi and Gauss–Seidel stagnate, PCG jumps, PCR is fast and smooth",
    run: comparison,
};

/// The beam whose steps are solved exactly.
const SOLVED: &str = "beam, solved";
/// Iterations of every method; the paper's text does not say how many it shows. Chosen after seeing that PCR begins to gain on
/// the beam at 80, which is printed too.
const LENGTH: usize = 100;

/// Methods, and what they are called in names of rows.
const METHODS: [(LinearMethod, &str); 4] = [
    (LinearMethod::Jacobi, "jacobi"),
    (LinearMethod::GaussSeidel, "gauss-seidel"),
    (LinearMethod::ConjugateGradient, "pcg"),
    (LinearMethod::ConjugateResidual, "pcr"),
];

fn subproblem(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // The last Newton iteration of the second step of the arch, when friction is on, and of the beam in the slot, as the
    // paper's iterations leave them. Beside it the beam with every step solved exactly.
    let mut arch = Steps::new(&arch::plain(), stepping(paper(6, LinearMethod::ConjugateResidual, 20)))?;
    let mut beam = Steps::new(&beam::insertion(), stepping(paper(6, LinearMethod::ConjugateResidual, 50)))?;
    let mut solved = Steps::new(&beam::insertion(), stepping(paper(6, LinearMethod::Llt, 0)))?;
    for (sim, steps) in [(&mut arch, 2), (&mut beam, 90), (&mut solved, 90)] {
        for _ in 0..steps {
            sim.step(H)?;
        }
    }
    measure(ctx, ("arch", "arch"), &arch, &mut rows)?;
    measure(ctx, ("beam", "beam"), &beam, &mut rows)?;
    measure(ctx, ("beam-solved", SOLVED), &solved, &mut rows)?;
    // The last iteration is no sample: the same ratio at every Newton iteration of the next step.
    for (name, scene, at) in [("arch", arch::plain(), &arch), ("beam", beam::insertion(), &beam)] {
        let mut ratios = Vec::new();
        for n in 0..6 {
            let mut sim = Steps::new(&scene, stepping(paper(n, LinearMethod::Llt, 0)))?;
            sim.state = at.state.clone();
            sim.step(H)?;
            ratios.push(cg_over_cr(&sim.stepper));
        }
        let each: Vec<String> = ratios.iter().map(|r| format!("{r:.1}")).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let what = format!("{name}: PCG over PCR, mean over six Newton iterations");
        rows.push(
            Row::new(format!("{name}/newton/pcg-over-pcr"), what, mean, "×")
                .against(format!("here {}", each.join(", "))),
        );
    }
    // And over the steps of a while, also of the arch that stands.
    let mut standing = Steps::new(&arch::scene(), stepping(paper(6, LinearMethod::ConjugateResidual, 20)))?;
    for (id, name, sim) in [
        ("arch", "arch", &mut arch),
        ("arch-six-contacts", "arch, six contacts per joint", &mut standing),
        ("beam", "beam", &mut beam),
    ] {
        let mut ratios = Vec::new();
        for _ in 0..ctx.pick(10, 30) {
            sim.step(H)?;
            ratios.push(cg_over_cr(&sim.stepper));
        }
        ratios.sort_by(f64::total_cmp);
        let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
        let what = format!("{name}, {} steps: PCG over PCR, median", ratios.len());
        rows.push(
            Row::new(format!("{id}/steps/pcg-over-pcr"), what, ratios[ratios.len() / 2], "×")
                .against(format!("here {low:.1} to {high:.1}")),
        );
    }
    Ok(rows)
}

/// ‖r‖ of PCG over that of PCR in the preconditioner, mean of the first 20 iterations on the last system of a step.
fn cg_over_cr(stepper: &NonlinearStepper) -> f64 {
    let mut s: Schur<f64> = stepper.system().clone();
    let settings = NewtonSettings::default();
    s.prepare(settings.linear.product, false, settings.regularization);
    let mut b = Vec::new();
    s.right_side(&mut b);
    let [cg, cr] = [LinearMethod::ConjugateGradient, LinearMethod::ConjugateResidual].map(|method| {
        let mut solver = LinearSolver::with_history();
        let mut x = vec![0.0; b.len()];
        solver.solve(&s, &b, &mut x, &LinearSettings::default().with_method(method).with_iterations(20));
        solver.history.unwrap_or_default()
    });
    let ratios: Vec<f64> = cg.iter().zip(&cr).map(|(g, r)| g / r).filter(|r| r.is_finite()).collect();
    ratios.iter().sum::<f64>() / ratios.len().max(1) as f64
}

/// Solves the last system of `sim` by all methods; `id` names the rows of the scene.
fn measure(ctx: &mut Context, (id, scene): (&str, &str), sim: &Steps, rows: &mut Vec<Row>) -> Result<()> {
    let mut s: Schur<f64> = sim.stepper.system().clone();
    let settings = NewtonSettings::default();
    s.prepare(settings.linear.product, false, settings.regularization);
    let mut b = Vec::new();
    s.right_side(&mut b);
    let mut plot =
        Plot::new(&format!("One linear system, {scene}"), "iteration", "‖r‖ in the preconditioner");
    plot.y_scale = Scale::Log;
    let mut all = Vec::new();
    let mut table = Vec::new();
    for (method, _) in METHODS {
        let mut solver = LinearSolver::with_history();
        let mut x = vec![0.0; b.len()];
        solver.solve(&s, &b, &mut x, &LinearSettings::default().with_method(method).with_iterations(LENGTH));
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
        Row::new(
            format!("{id}/pcr/rises"),
            format!("{scene}, PCR: iterations in which the residual rises"),
            rises(cr),
            "",
        )
        .against("0")
        .at_most(0.0),
    );
    rows.push(
        Row::new(
            format!("{id}/pcg/rises"),
            format!("{scene}, PCG: iterations in which the residual rises"),
            rises(cg),
            "",
        )
        .against("non-monotone")
        .at_least(1.0),
    );
    // Beyond that rounding has taken the directions' orthogonality, and either may be ahead.
    let worse =
        cr.iter().zip(cg).take(40).filter(|(r, g)| **r > **g * (1.0 + 1e-9) && **r > floor).count() as f64;
    rows.push(
        Row::new(
            format!("{id}/pcr-above-pcg"),
            format!("{scene}: iterations of the first 40 in which PCR is above PCG"),
            worse,
            "",
        )
        .against("0")
        .at_most(0.0),
    );
    let count = cr.len().min(cg.len()).min(20);
    let ratio = cr.iter().zip(cg).take(count).map(|(r, g)| g / r).sum::<f64>() / count as f64;
    let row = Row::new(
        format!("{id}/pcg-over-pcr"),
        format!("{scene}: PCG over PCR, mean of the first 20"),
        ratio,
        "×",
    )
    .against("often an order of magnitude");
    rows.push(if scene == SOLVED {
        row.because(
            "both methods are tied: the ratio is 1/√(1 − fall²) of PCR (next row), and 3 asks for less than 6 % of fall per \
             iteration. What exact steps leave PCR solves in half as many iterations (row below), and so falls faster",
        )
    } else {
        row.at_least(3.0)
    });
    // ‖r_CG‖ = ‖r_CR‖/√(1 − (‖r_CR‖/‖r_CR before‖)²) (Cullum & Greenbaum 1996), in the preconditioner's norm.
    let mut off = 0.0_f64;
    for k in 1..count {
        let fall = cr[k] / cr[k - 1];
        off = off.max((cg[k] * (1.0 - fall * fall).sqrt() / cr[k] - 1.0).abs());
    }
    rows.push(
        Row::new(
            format!("{id}/pcg-against-fall"),
            format!("{scene}: PCG against 1/√(1 − fall²) of PCR, worst of 20"),
            off,
            "",
        )
        .against("an identity of both methods")
        .at_most(1e-2),
    );
    for (k, after) in [(0, 80), (1, 80), (0, LENGTH), (1, LENGTH)] {
        let at = |h: &[f64]| h.get(after - 1).or(h.last()).copied().unwrap_or(f64::INFINITY).max(floor);
        let ratio = at(&all[k]) / at(cr);
        let (method, part) = METHODS[k];
        let what = format!("{scene}: {} over PCR after {after}", method.name());
        let row = Row::new(format!("{id}/{part}-over-pcr/after-{after}"), what, ratio, "×")
            .against("stagnates one to three orders above");
        rows.push(if after == LENGTH { row.at_least(10.0) } else { row });
    }
    for (kind, part, name) in [
        (PreconditionerKind::Diagonal, "diagonal", "diagonal"),
        (PreconditionerKind::IncompleteCholesky, "incomplete-factors", "incomplete factors"),
    ] {
        s.prepare(settings.linear.product, kind.needs_matrix(), settings.regularization);
        let linear = LinearSettings {
            iterations: 5000,
            tolerance: 1e-3,
            preconditioner: kind,
            ..LinearSettings::default()
        };
        let mut x = vec![0.0; b.len()];
        let took = LinearSolver::default().solve(&s, &b, &mut x, &linear).iterations;
        let what = format!("{scene}: PCR to 1e-3, {name}");
        rows.push(Row::new(format!("{id}/pcr/{part}/to-1e-3"), what, took as f64, "iterations"));
    }
    s.prepare(settings.linear.product, false, settings.regularization);
    ctx.file(&format!("{id}.mtx"), &matrix_market(&s))?;
    let right: String = b.iter().map(|b| format!("{b:e}\n")).collect();
    let header = format!("%%MatrixMarket matrix array real general\n{} 1\n", b.len());
    ctx.file(&format!("{id}-right-side.mtx"), &(header + &right))?;
    ctx.csv(id, &["scene", "method", "iteration", "residual"], &table)?;
    ctx.plot(id, &plot)
}

/// The matrix of (59) with its shift ε, lower triangle, in the format of Matrix Market.
fn matrix_market(s: &Schur<f64>) -> String {
    let n = s.rows();
    let (mut unit, mut column, mut work) = (vec![0.0; n], vec![0.0; n], Vec::new());
    let mut entries = Vec::new();
    for c in 0..n {
        unit.fill(0.0);
        unit[c] = 1.0;
        s.apply(&unit, &mut column, &mut work);
        let below = (c..n).filter(|&r| column[r] != 0.0);
        entries.extend(below.map(|r| format!("{} {} {:e}\n", r + 1, c + 1, column[r])));
    }
    let header = format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {}\n", entries.len());
    header + &entries.concat()
}

fn comparison(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let scenes = [
        ("arch", "arch", Case::Frozen(Box::new(samples::arch(10, 0.6)))),
        ("pile", "pile", Case::heap(3.0)?),
        ("heavy-stack", "heavy stack", Case::Frozen(Box::new(samples::heavy_stack(5)))),
        ("pile-in-motion", "pile, in motion", Case::heap(0.8)?),
        ("wall", "wall", Case::Frozen(Box::new(samples::wall_with_speed(5, 5, 0.6, 0.0, 1)))),
    ];
    let mut table = Vec::new();
    let mut jumps = 0;
    for (id, scene, case) in scenes {
        let mut plot = Plot::new(
            &format!("Error by linear solver, {scene}"),
            "Newton iteration",
            "error / velocity scale",
        );
        plot.y_scale = Scale::Log;
        let mut last = Vec::new();
        for (method, part) in METHODS {
            let settings = NewtonSettings { step: StepRule::Fixed(1.0), ..paper(50, method, 40) };
            let iterates = case.looks(settings)?;
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
                format!("{id}/{part}/error"),
                format!("{scene}, {}: error after 50 Newton iterations", method.name()),
                end,
                "of the velocity scale",
            ));
            if matches!(method, LinearMethod::ConjugateGradient | LinearMethod::ConjugateResidual) {
                let rises = iterates.windows(2).filter(|w| w[1].error > w[0].error.max(ROUNDING)).count();
                jumps += if method == LinearMethod::ConjugateGradient { rises } else { 0 };
                let what = format!("{scene}, {}: iterations in which the error rises", method.name());
                rows.push(Row::new(format!("{id}/{part}/rises"), what, rises as f64, ""));
            }
        }
        // Below rounding there is no order, and relaxation that stagnates or diverges has none either.
        let floor = |e: f64| e.max(ROUNDING);
        let krylov = floor(last[3]) <= floor(last[2]);
        let relaxed = last[0].min(last[1]) > floor(last[2]);
        let mut order: Vec<usize> = (0..METHODS.len()).collect();
        order.sort_by(|&a, &b| last[a].total_cmp(&last[b]));
        let found: Vec<&str> = order.iter().map(|&k| METHODS[k].0.name()).collect();
        let row = Row::remark(
            format!("{id}/order"),
            format!("{scene}: order of the final errors"),
            found.join(", "),
        )
        .against("PCR, PCG, Gauss–Seidel, Jacobi");
        let row = match scene {
            "pile, in motion" => row.because(
                "impacts on redundant contacts are solved to 1e-6 by neither: their order is chance",
            ),
            _ => row.accept("PCR ≤ PCG or at rounding, both below relaxation", krylov && relaxed),
        };
        rows.push(if krylov && relaxed && last[0] < last[1] {
            row.because(
                "Jacobi and Gauss–Seidel both stagnate at errors of the size of the speeds themselves",
            )
        } else {
            row
        });
        if scene == "heavy stack" {
            rows.push(
                Row::new(
                    format!("{id}/gauss-seidel-over-pcr"),
                    "heavy stack: Gauss–Seidel over PCR",
                    last[1] / floor(last[3]),
                    "×",
                )
                .against("stagnates")
                .at_least(1e3),
            );
        }
        ctx.plot(id, &plot)?;
    }
    rows.push(
        Row::new("pcg/rises", "PCG: iterations in which the error rises, all scenes", jumps as f64, "")
            .against("large fluctuations")
            .at_least(1.0),
    );
    ctx.csv("curves", &["scene", "method", "iteration", "error", "step"], &table)?;
    Ok(rows)
}

/// Errors below this are rounding.
const ROUNDING: f64 = 1e-11;
