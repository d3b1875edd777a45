//! COND-table: every solver on the same five scenes, at the same yardstick.

use super::scenes::{self, Draw};
use super::trial::{Contestant, DT, EULER, Score, Walk};
use crate::memory::held;
use crate::{Context, Experiment, Row};
use stiction::papers::cond::PositionBased;
use stiction::papers::cond::{CondESettings, CondSettings, Stand, Stop};
use stiction::solvers::island::{Acceleration, Chebyshev};
use stiction::{Scene, SolverKind};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "COND-table",
    title: "all solvers on five scenes at the same yardstick",
    claim: "ours: yardstick reached, iterations, time per step and memory of COND as printed, COND-E, exact, PGS, APGD, CCS and PBD",
    run,
};

/// Relative error at which all stop.
const TOLERANCE: f64 = 1e-5;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(2, 5);
    let q = ctx.quick;
    let pick = |a: usize, b: usize| if q { a } else { b };
    let box_on_floor = crate::runs::on_floor(
        0.1,
        0.5,
        [stiction::Body::new("box", stiction::Geometry::Box { half: stiction::Vec3::splat(0.1) })
            .at(0.0, 0.0, 0.1)],
    );
    let scenes = [
        ("box", box_on_floor, 5),
        ("mat", scenes::mat(Draw { young: 75e3, poisson: 0.35, mu: 0.3 }, pick(12, 26)), 15),
        ("ball", scenes::ball(Draw { young: 1e6, poisson: 0.35, mu: 0.5 }, pick(4, 7)), 14),
        ("cable", scenes::cable(Draw { young: 2.954e6, poisson: 0.49, mu: 1.3 }, pick(120, 320)), 25),
        (
            "gripper",
            scenes::soft_gripper(
                Draw { young: 83e3, poisson: 0.42, mu: 2.1 },
                if q { [4, 4, 12] } else { [8, 8, 24] },
            ),
            16,
        ),
    ];
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for (name, scene, step) in scenes {
        // The box takes microseconds: many of its steps make one figure.
        let steps = if name == "box" { 40 } else { steps };
        let at: Vec<usize> = (0..steps).map(|k| step + k).collect();
        let samples = Walk::samples(&scene, EULER, &at)?;
        ctx.note(&format!("{name}, {} dofs, {} contacts", samples[0].dofs(), samples[0].contacts()));
        let gain = match name {
            "cable" => 1.4e3,
            _ => CondSettings::default().gain,
        };
        let mut all = contestants(gain);
        for c in &mut all {
            // What takes long is asked once.
            c.run(if SLOW.contains(&c.name.as_str()) { &samples[..1] } else { &samples });
        }
        // Id, name and score.
        let mut entries: Vec<(String, String, Score)> =
            all.into_iter().map(|c| (c.id, c.name, c.sum)).collect();
        entries.push(("pbd".into(), "PBD".into(), by_position(&scene, step, steps)?));
        for (id, solver, s) in &entries {
            let id = format!("{name}/{id}");
            let positions = solver == "PBD";
            table.push(vec![
                name.to_string(),
                solver.clone(),
                csv_number(if positions { f64::NAN } else { s.worst.natural }),
                csv_number(if positions { f64::NAN } else { s.worst.momentum }),
                csv_number(s.internal_mn()),
                csv_number(s.displacement_mm()),
                csv_number(s.iterations()),
                csv_number(s.milliseconds()),
                csv_number(s.megabytes()),
                csv_number(s.penetration_mm()),
                s.failed.to_string(),
            ]);
            if positions {
                rows.push(Row::remark(
                    format!("{id}/natural-map"),
                    format!("{name}, PBD: natural map"),
                    "none: it solves other equations",
                ));
            } else {
                rows.push(Row::new(
                    format!("{id}/natural-map"),
                    format!("{name}, {solver}: natural map"),
                    s.worst.natural,
                    "m/s",
                ));
            }
            rows.push(Row::new(
                format!("{id}/internal-force-error"),
                format!("{name}, {solver}: internal force error"),
                s.internal_mn(),
                "mN",
            ));
            rows.push(Row::new(
                format!("{id}/iterations"),
                format!("{name}, {solver}: iterations"),
                s.iterations(),
                "",
            ));
            rows.push(Row::new(
                format!("{id}/time"),
                format!("{name}, {solver}: time per step"),
                s.milliseconds(),
                "ms",
            ));
            rows.push(Row::new(
                format!("{id}/memory"),
                format!("{name}, {solver}: memory"),
                s.megabytes(),
                "MB",
            ));
        }
        let solved = entries.iter().filter(|e| e.2.failed == 0 && e.2.worst.natural <= GOOD && e.0 != "pbd");
        let best =
            solved.min_by(|a, b| a.2.milliseconds().total_cmp(&b.2.milliseconds())).unwrap_or(&entries[0]);
        rows.push(
            Row::new(
                format!("{name}/auto-over-best"),
                format!("{name}: time of `auto` over that of the best"),
                entries[0].2.milliseconds() / best.2.milliseconds(),
                "×",
            )
            .against(format!("best: {}", best.1))
            .at_most(1.2),
        );
    }
    let header = [
        "scene",
        "solver",
        "natural",
        "momentum",
        "internal_mN",
        "displacement_mm",
        "iterations",
        "ms",
        "MB",
        "penetration_mm",
        "failed",
    ];
    ctx.csv("solvers", &header, &table)?;
    Ok(rows)
}

/// Natural map of an answer that counts [m/s]: COND as printed stops on its update, which says little.
const GOOD: f64 = 1e-4;

/// Solvers that take seconds.
const SLOW: [&str; 4] = ["ccs", "pgs", "apgd", "COND as printed, judged"];

fn contestants(gain: f64) -> Vec<Contestant> {
    let e = CondESettings { tolerance: TOLERANCE, ..Default::default() };
    let chebyshev = Acceleration::Chebyshev(Chebyshev::default());
    let judged = CondSettings {
        stop: Stop::Error(TOLERANCE),
        gain,
        recycle: 10,
        max_iterations: 3000,
        ..Default::default()
    };
    let diagonal = CondESettings { stand: Stand::Diagonal, ..e };
    vec![
        Contestant::kind(SolverKind::Auto, TOLERANCE, None),
        Contestant::kind(SolverKind::Exact, TOLERANCE, None),
        Contestant::cond(
            "cond-theta",
            "COND as printed, θ = 1e-4",
            CondSettings { stop: Stop::Update(1e-4), ..judged },
        ),
        Contestant::cond("cond-judged", "COND as printed, judged", judged),
        Contestant::cond_e(
            "cond-e-chebyshev",
            "COND-E Chebyshev",
            CondESettings { acceleration: chebyshev, ..diagonal },
        ),
        Contestant::cond_e("cond-e-anderson", "COND-E Anderson", diagonal),
        Contestant::cond_e("cond-e", "COND-E", e),
        Contestant::kind(SolverKind::Ccs, TOLERANCE, Some(1000)),
        Contestant::kind(SolverKind::Pgs, TOLERANCE, Some(2000)),
        Contestant::kind(SolverKind::Apgd, TOLERANCE, Some(1000)),
    ]
}

/// Substeps of position-based dynamics.
const SUBSTEPS: usize = 100;

/// Position-based dynamics from the states of the reference: where a step leads it, as a velocity, against where the
/// reference goes.
fn by_position(scene: &Scene, first: usize, steps: usize) -> Result<Score> {
    let mut walk = Walk::new(scene, EULER)?;
    let model = walk.sim.model().clone();
    let mut stepper = PositionBased::new(&model, SUBSTEPS);
    let mut score = Score::default();
    let mut v = vec![0.0; walk.dofs()];
    for step in 1..first + steps {
        let start = walk.sim.state().clone();
        walk.step()?;
        if step < first {
            continue;
        }
        let mut end = start.clone();
        let watch = Stopwatch::start();
        let (report, held) = held(|| stepper.step(&model, &mut end, DT));
        let took = watch.elapsed();
        end.difference(&start, &model.layout, &mut v);
        v.iter_mut().for_each(|v| *v /= DT);
        let sample = walk.sample(None);
        score.steps += 1;
        score.iterations += SUBSTEPS;
        score.seconds += took.cpu.unwrap_or(took.wall);
        score.penetration += report.penetration;
        score.internal += sample.internal_error(&v, sample.truth());
        score.displacement += sample.displacement(&v);
        score.memory = score.memory.max(held.most);
    }
    Ok(score)
}
