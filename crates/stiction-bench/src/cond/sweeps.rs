//! COND-T4 and T9, COND-W: what stiffness, Chebyshev's acceleration and the choice of W do to iteration counts.

use super::scenes::{self, Draw};
use super::tables::{draw_ball, draw_cable, draw_gripper, draw_mat};
use super::trial::{Contestant, EULER, MIDPOINT, Walk};
use crate::{Context, Experiment, Row};
use stiction::papers::cond::{CondESettings, CondSettings, Stand, StepSize, Stop};
use stiction::solvers::island::Acceleration;
use stiction::{Scene, Scheme, SolverKind};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// Iterations over Young's modulus.
pub const STIFFNESS: Experiment = Experiment {
    id: "COND-T4",
    title: "iterations over Young's modulus of the gripped ball",
    claim: "COND (Lee et al. 2022), Table IV: COND 39.7, 37.9, 35.0 iterations at 0.1, 1, 10 MPa; PGS 146 to 307, APGD 48 to 201",
    run: stiffness,
};

/// With and without Chebyshev's acceleration.
pub const CHEBYSHEV: Experiment = Experiment {
    id: "COND-T9",
    title: "iterations with and without Chebyshev's acceleration",
    claim: "COND (Lee et al. 2022), Table IX: 167/40 (mat), 139/38 (ball), 40/18 (cable), 156/31 (gripper)",
    run: chebyshev,
};

/// Step size strategies.
pub const STRATEGIES: Experiment = Experiment {
    id: "COND-W",
    title: "step size strategies: α I, Frobenius, Barzilai–Borwein, recycled",
    claim: "COND (Lee et al. 2022), Sec. IV-C: the strategies perform alike, and recycling W changes no answer",
    run: strategies,
};

/// One of the paper's four scenes.
struct One {
    name: &'static str,
    scene: Scene,
    scheme: Scheme,
    /// Steps before the first that is looked at.
    warm_up: usize,
    /// θ of the paper [m/s], and a gain that suits the masses of the scene [N·s/m] (C8, C11).
    theta: f64,
    gain: f64,
    /// The error that is looked for beside θ, and the iterations allowed to reach it.
    error: f64,
    most: usize,
    /// Iterations without and with Chebyshev's acceleration in the paper.
    paper: [f64; 2],
}

/// The four scenes, smaller in quick runs.
fn four(seed: u64, quick: bool) -> [One; 4] {
    let pick = |q: usize, f: usize| if quick { q } else { f };
    let fingers = if quick { [4, 4, 12] } else { [8, 8, 24] };
    let one = |name, scene, warm_up, theta, paper| One {
        name,
        scene,
        scheme: EULER,
        warm_up,
        theta,
        gain: 1e4,
        error: 1e-2,
        most: 3000,
        paper,
    };
    let mat = scenes::mat(draw_mat(seed), pick(12, 26));
    let ball = scenes::ball(draw_ball(seed), pick(4, 7));
    let cable = scenes::cable(draw_cable(seed), pick(120, 320));
    let gripper = scenes::soft_gripper(draw_gripper(seed), fingers);
    [
        One { scheme: MIDPOINT, ..one("mat", mat, 15, 1e-4, [167.4, 39.72]) },
        one("ball", ball, 12, 1e-5, [138.8, 37.51]),
        One { gain: 1.4e3, error: 0.1, most: 20_000, ..one("cable", cable, 25, 1e-4, [40.14, 18.28]) },
        one("gripper", gripper, 16, 1e-6, [155.7, 30.88]),
    ]
}

/// Walks to a step and lets everyone solve the next few.
fn look(
    scene: &Scene,
    scheme: Scheme,
    (warm_up, steps): (usize, usize),
    all: &mut [Contestant],
) -> Result<usize> {
    let mut walk = Walk::new(scene, scheme)?;
    for step in 0..warm_up + steps {
        walk.step()?;
        if step >= warm_up {
            walk.compare(all);
        }
    }
    Ok(walk.dofs())
}

/// Largest over smallest.
fn spread(x: &[f64]) -> f64 {
    x.iter().copied().fold(0.0, f64::max) / x.iter().copied().fold(f64::INFINITY, f64::min)
}

fn stiffness(ctx: &mut Context) -> Result<Vec<Row>> {
    let (shells, steps) = ctx.pick((4, 2), (7, 3));
    let moduli = [1e5, 1e6, 1e7, 1e8];
    let mut rows = Vec::new();
    let mut plot = Plot::new("Iterations over stiffness", "Young's modulus [Pa]", "iterations");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    // Id and name of a solver, and its iterations.
    let mut counts: Vec<(String, String, Vec<f64>)> = Vec::new();
    let mut table = Vec::new();
    for young in moduli {
        ctx.note(&format!("E = {young:.0e} Pa"));
        let scene = scenes::ball(Draw { young, poisson: 0.35, mu: 0.5 }, shells);
        let tolerance = 1e-4;
        let diagonal = CondESettings { tolerance, stand: Stand::Diagonal, ..Default::default() };
        let mut all = vec![
            Contestant::cond(
                "cond-theta",
                "COND θ = 1e-5",
                CondSettings { stop: Stop::Update(1e-5), ..Default::default() },
            ),
            Contestant::cond(
                "cond-judged",
                "COND to 1e-4",
                CondSettings { stop: Stop::Error(tolerance), ..Default::default() },
            ),
            Contestant::cond_e("cond-e-diagonal", "COND-E diagonal", diagonal),
            Contestant::cond_e(
                "cond-e-nesterov",
                "COND-E Nesterov",
                CondESettings { acceleration: Acceleration::Nesterov, ..diagonal },
            ),
            Contestant::cond_e(
                "cond-e-diagonal-bb",
                "COND-E diagonal BB",
                CondESettings { stand: Stand::DiagonalBarzilaiBorwein, ..diagonal },
            ),
            Contestant::cond_e(
                "cond-e-multigrid",
                "COND-E multigrid",
                CondESettings { stand: Stand::Multigrid, multigrid_from: 0, ..diagonal },
            ),
            Contestant::kind(SolverKind::Exact, tolerance, None),
            Contestant::kind(SolverKind::Pgs, tolerance, Some(3000)),
            Contestant::kind(SolverKind::Apgd, tolerance, Some(1000)),
        ];
        look(&scene, EULER, (12, steps), &mut all)?;
        for c in &all {
            let n = c.sum.iterations();
            table.push(vec![
                c.name.clone(),
                csv_number(young),
                csv_number(n),
                csv_number(c.sum.milliseconds()),
                csv_number(c.sum.worst.natural),
            ]);
            match counts.iter_mut().find(|x| x.0 == c.id) {
                Some(x) => x.2.push(n),
                None => counts.push((c.id.clone(), c.name.clone(), vec![n])),
            }
        }
    }
    for (id, name, n) in &counts {
        for (young, n) in moduli.iter().zip(n) {
            let what = format!("{name}: iterations at {young:.0e} Pa");
            rows.push(Row::new(format!("{id}/{young:e}-pa/iterations"), what, *n, ""));
        }
        plot.add(name, Mark::Line, moduli.iter().copied().zip(n.iter().copied()).collect());
        let change = spread(&n[..3]);
        let row = Row::new(format!("{id}/change"), format!("{name}: change from 0.1 to 10 MPa"), change, "×");
        rows.push(match name.as_str() {
            "COND θ = 1e-5" => row.against("1.13").at_most(1.3).because(
                "θ is an update, not an error: what it leaves grows with the stiffness (the rows to 1e-4 show the true dependence)",
            ),
            "pgs" => row.against("2.1").at_least(1.5),
            "apgd" => row.against("4.2").at_least(1.5),
            "COND-E multigrid" => {
                let flat = spread(n);
                let what = "COND-E multigrid: change from 1e5 to 1e8 Pa";
                Row::new("cond-e-multigrid/change-to-1e8-pa", what, flat, "×").at_most(2.0)
            }
            _ => row,
        });
    }
    ctx.csv("iterations", &["solver", "young", "iterations", "ms", "natural"], &table)?;
    ctx.plot("iterations", &plot)?;
    Ok(rows)
}

fn chebyshev(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(2, 3);
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for k in 0..4 {
        let mut all: Vec<Contestant> = Vec::new();
        let mut one = None;
        // A trial of the gripper takes longer than twenty of the mat.
        let seeds = match k {
            _ if ctx.quick => 1,
            3 => 3,
            _ => 20,
        };
        for seed in 0..seeds {
            let [mat, ball, cable, gripper] = four(seed, ctx.quick);
            let o = [mat, ball, cable, gripper].into_iter().nth(k).expect("four scenes");
            ctx.note(&format!("{}, trial {}", o.name, seed + 1));
            let with = CondSettings {
                stop: Stop::Update(o.theta),
                gain: o.gain,
                max_iterations: 20_000,
                ..Default::default()
            };
            let without = CondSettings { acceleration: Acceleration::None, ..with };
            let judged =
                |s: CondSettings| CondSettings { stop: Stop::Error(o.error), max_iterations: o.most, ..s };
            let mut trial = vec![
                Contestant::cond("without", "without", without),
                Contestant::cond("with", "with", with),
                Contestant::cond("without-judged", "without, judged", judged(without)),
                Contestant::cond("with-judged", "with, judged", judged(with)),
            ];
            look(&o.scene, o.scheme, (o.warm_up, steps), &mut trial)?;
            if all.is_empty() {
                all = trial;
            } else {
                all.iter_mut().zip(&trial).for_each(|(sum, c)| sum.sum.add(&c.sum));
            }
            one = Some(o);
        }
        let Some(o) = one else { continue };
        let name = o.name;
        let [plain, fast, true_plain, true_fast] = [0, 1, 2, 3].map(|i| all[i].sum.iterations());
        rows.push(
            Row::new(format!("{name}/without/iterations"), format!("{name}: iterations without"), plain, "")
                .against(o.paper[0].to_string()),
        );
        rows.push(
            Row::new(format!("{name}/with/iterations"), format!("{name}: iterations with"), fast, "")
                .against(o.paper[1].to_string()),
        );
        rows.push(
            Row::new(
                format!("{name}/reduction-at-theta"),
                format!("{name}: reduction at θ"),
                plain / fast,
                "×",
            )
            .against(format!("{:.1}", o.paper[0] / o.paper[1]))
            .at_least(2.0)
            .because("θ ends the plain iteration early: its updates are small because it is slow"),
        );
        let what = format!("{name}: reduction at an error of {}", o.error);
        let row = Row::new(format!("{name}/reduction-at-error"), what, true_plain / true_fast, "×")
            .because(format!(
                "{true_plain:.0} and {true_fast:.0} iterations of at most {}; {} and {} of {} steps did not get there",
                o.most, all[2].sum.failed, all[3].sum.failed, all[3].sum.steps
            ));
        rows.push(row);
        for c in &all {
            table.push(vec![
                name.to_string(),
                c.name.clone(),
                csv_number(c.sum.iterations()),
                csv_number(c.sum.milliseconds()),
                csv_number(c.sum.internal_mn()),
                c.sum.failed.to_string(),
            ]);
        }
    }
    ctx.csv("iterations", &["scene", "acceleration", "iterations", "ms", "internal_mN", "failed"], &table)?;
    Ok(rows)
}

/// θ is made smaller by this, and so many iterations are allowed, to see the answer itself: at θ/1e5 that of 320 links of a cable is
/// still 1.2 θ off.
const END: f64 = 1e-6;
const FINISHED: usize = 400_000;

fn strategies(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(3, 6);
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for One { name, scene, scheme, warm_up, theta, gain, .. } in four(3, ctx.quick) {
        ctx.note(name);
        let settings = |step_size: StepSize, recycle: usize, theta: f64| CondSettings {
            step_size,
            recycle,
            gain,
            stop: Stop::Update(theta),
            acceleration: if step_size.is_adaptive() {
                Acceleration::None
            } else {
                CondSettings::default().acceleration
            },
            max_iterations: if theta < 1e-6 { FINISHED } else { 3000 },
            ..CondSettings::default()
        };
        let one = |id: &str, name: &str, s, recycle, theta| {
            Contestant::cond(id, name, settings(s, recycle, theta)).once()
        };
        let mut all: Vec<Contestant> =
            StepSize::ALL.into_iter().map(|s| one(s.name(), s.name(), s, 1, theta)).collect();
        let (kind, end) = (StepSize::Frobenius, END * theta);
        all.push(one("frobenius-recycled", "frobenius recycled", kind, 10, theta));
        all.push(one("frobenius-finished", "frobenius, θ/1e6", kind, 1, end));
        all.push(one("frobenius-recycled-finished", "frobenius recycled, θ/1e6", kind, 10, end));
        look(&scene, scheme, (warm_up, steps), &mut all)?;
        for c in &all {
            let id = format!("{name}/{}", c.id);
            rows.push(Row::new(
                format!("{id}/iterations"),
                format!("{name}, {}: iterations", c.name),
                c.sum.iterations(),
                "",
            ));
            rows.push(Row::new(
                format!("{id}/natural-map"),
                format!("{name}, {}: natural map, worst", c.name),
                c.sum.worst.natural,
                "m/s",
            ));
            table.push(vec![
                name.to_string(),
                c.name.clone(),
                csv_number(c.sum.iterations()),
                csv_number(c.sum.milliseconds()),
                csv_number(c.sum.worst.natural),
                csv_number(c.sum.internal_mn()),
            ]);
        }
        let n = all.len();
        for (fresh, old, id, what) in [
            (&all[1], &all[n - 3], "stopped", "stopped at θ"),
            (&all[n - 2], &all[n - 1], "finished", "finished, θ/1e6"),
        ] {
            let both = fresh.velocity().iter().zip(old.velocity());
            let change = both.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let what = format!("{name}, {what}: what recycling changes over θ");
            let row = Row::new(format!("{name}/{id}/recycling-change"), what, change / theta, "×");
            rows.push(if id == "finished" {
                row.at_most(1.0)
                    .because(format!("{:.0} iterations of at most {FINISHED}", old.sum.iterations()))
            } else {
                row.because(
                    "θ bounds an update and not an error: another W stops at another place within that error",
                )
            });
        }
        let (fresh, old) = (&all[1], &all[n - 3]);
        let (fresh, old) = (&fresh.sum, &old.sum);
        let change = old.iterations() / fresh.iterations();
        rows.push(
            Row::new(
                format!("{name}/recycled-over-fresh"),
                format!("{name}: iterations recycled over fresh"),
                change,
                "×",
            )
            .at_most(1.5),
        );
    }
    ctx.csv("strategies", &["scene", "strategy", "iterations", "ms", "natural", "internal_mN"], &table)?;
    Ok(rows)
}
