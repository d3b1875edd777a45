//! COND-table: every solver on the same five scenes, at the same yardstick.

use super::scenes::{self, Draw};
use super::trial::{Contestant, Walk};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use stiction::SolverKind;
use stiction::solvers::cond::{Acceleration, Chebyshev, CondESettings, CondSettings, Stand, Stop};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "COND-table",
    title: "all solvers on five scenes at the same yardstick",
    claim: "ours: yardstick reached, iterations and time per step of COND as printed, COND-E, exact, PGS, APGD and CCS",
    run,
};

/// Relative error at which all stop.
const TOLERANCE: f64 = 1e-5;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(2, 5);
    let q = ctx.quick;
    let pick = |a: usize, b: usize| if q { a } else { b };
    let box_on_floor = crate::bench::runs::on_floor(
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
    for (name, scene, warm_up) in scenes {
        let mut walk = Walk::new(&scene)?;
        ctx.note(&format!("{name}, {} dofs", walk.dofs()));
        let e = CondESettings { tolerance: TOLERANCE, ..Default::default() };
        let chebyshev = Acceleration::Chebyshev(Chebyshev::default());
        let judged = CondSettings {
            stop: Stop::Error(TOLERANCE),
            recycle: 10,
            max_iterations: 3000,
            ..Default::default()
        };
        let mut all = vec![
            Contestant::kind(SolverKind::Auto, TOLERANCE, None),
            Contestant::kind(SolverKind::Exact, TOLERANCE, None),
            Contestant::cond(
                "COND as printed, θ = 1e-4",
                CondSettings { stop: Stop::Update(1e-4), ..judged },
            ),
            Contestant::cond("COND as printed, judged", judged),
            Contestant::cond_e(
                "COND-E Chebyshev",
                CondESettings { stand: Stand::Diagonal, acceleration: chebyshev, ..e },
            ),
            Contestant::cond_e("COND-E Anderson", CondESettings { stand: Stand::Diagonal, ..e }),
            Contestant::cond_e("COND-E multigrid", e),
            Contestant::kind(SolverKind::Ccs, TOLERANCE, Some(1000)),
            Contestant::kind(SolverKind::Pgs, TOLERANCE, Some(2000)),
            Contestant::kind(SolverKind::Apgd, TOLERANCE, Some(1000)),
        ];
        let slow = 7;
        for step in 0..warm_up + steps {
            walk.step()?;
            if step >= warm_up {
                let last = if step == warm_up { all.len() } else { slow };
                walk.compare(&mut all[..last]);
            }
        }
        for c in &all {
            let s = &c.sum;
            table.push(vec![
                name.to_string(),
                c.name.clone(),
                csv_number(s.worst.natural),
                csv_number(s.worst.momentum),
                csv_number(s.iterations()),
                csv_number(s.milliseconds()),
                csv_number(s.penetration_mm()),
                s.failed.to_string(),
            ]);
            rows.push(Row::new(format!("{name}, {}: natural map", c.name), s.worst.natural, "m/s"));
            rows.push(Row::new(format!("{name}, {}: iterations", c.name), s.iterations(), ""));
            rows.push(Row::new(format!("{name}, {}: time per step", c.name), s.milliseconds(), "ms"));
        }
        let per_step = |c: &Contestant| c.sum.seconds / c.sum.steps.max(1) as f64;
        let solved = all.iter().filter(|c| c.sum.failed == 0);
        let best = solved.min_by(|a, b| per_step(a).total_cmp(&per_step(b))).unwrap_or(&all[0]);
        rows.push(
            Row::new(
                format!("{name}: time of `auto` over that of the best"),
                per_step(&all[0]) / per_step(best),
                "×",
            )
            .against(format!("best: {}", best.name))
            .at_most(1.2),
        );
    }
    let header = ["scene", "solver", "natural", "momentum", "iterations", "ms", "penetration_mm", "failed"];
    ctx.csv("solvers", &header, &table)?;
    Ok(rows)
}
