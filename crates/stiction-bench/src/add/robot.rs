//! ADD-F1-robot and ADD-F15: a legged robot of thirteen bodies and twelve compliant motors, with rigid and with soft feet.

use crate::robots::robot::{DT, PACE, SMOOTH, TORSO, gait, robot};
use crate::{Context, Experiment, Row};
use stiction::Vec3;
use stiction::diff::optimize::{Bounds, LevenbergSettings, levenberg_marquardt};
use stiction::diff::{Together, smoothness};
use stiction_cli::failure::Result;

/// The registry entry.
pub const RIGID: Experiment = Experiment {
    id: "ADD-F1-robot",
    title: "a compliant robot of 13 bodies that learns to walk from a gait that fails",
    claim: "ADD, Fig. 1 and Table 2: 12 motors, 192 steps; the planned gait fails, the optimised one walks; 60 iterations",
    run: |ctx| walk(ctx, false),
};

/// The registry entry.
pub const SOFT: Experiment = Experiment {
    id: "ADD-F15",
    title: "the same robot on soft feet",
    claim: "ADD, Fig. 15 and Table 2: four soft feet, 414 dofs, 144 steps; 17 iterations",
    run: |ctx| walk(ctx, true),
};

fn walk(ctx: &mut Context, soft: bool) -> Result<Vec<Row>> {
    let steps = match (ctx.quick, soft) {
        (true, true) => 36,
        (true, false) => 72,
        (false, true) => 144,
        (false, false) => 192,
    };
    let mut problem = robot(soft, steps)?;
    let dofs = problem.system.model().layout.nv();
    let distance = PACE * steps as f64 * DT;
    let start = problem.states(&vec![0.0; problem.len()])?;
    let x = |s: &stiction::State| Vec3::from_slice(&s.q);
    let parts = gait(&problem);
    let objective = Together { parts: parts.iter().map(|(o, share)| (&**o, *share)).collect() };
    let n = problem.len();
    let all: Vec<usize> = (0..n).collect();
    let series: Vec<Vec<usize>> = (0..12).map(|c| (c * n / 12..(c + 1) * n / 12).collect()).collect();
    let settings =
        LevenbergSettings { evaluations: ctx.pick(if soft { 16 } else { 20 }, 40), goal: 0.0, change: 1e-4 };
    let (m, _) = levenberg_marquardt(&vec![0.0; n], &Bounds::none(n), &settings, |y| {
        let (mut values, mut rows) = problem.rows(y, &objective, &all);
        let (v, r) = smoothness(y, &series, SMOOTH);
        values.extend(v);
        rows.extend(r);
        (values, rows)
    });
    let end = problem.states(&m.x)?;
    let way = |s: &[stiction::State]| s.last().map_or(0.0, |s| 100.0 * (x(s).x - x(&start[0]).x) / distance);
    let torso = |s| problem.system.model().com_pose(s, TORSO).rotation;
    let upright = end.last().map_or(0.0, |s| (torso(s) * Vec3::Z).z);
    Ok(vec![
        Row::new("planned/way", format!("planned gait, {dofs} dofs: way"), way(&start), "% of the target")
            .against("fails")
            .at_most(40.0),
        Row::new("optimised/way", "optimised gait: way", way(&end), "% of the target")
            .against("walks")
            .at_least(90.0),
        Row::new("optimised/uprightness", "uprightness of the torso at the end", upright, "").at_least(0.9),
        Row::new("simulations", "simulations with sensitivities", m.evaluations as f64, "")
            .against(if soft { "17" } else { "60" }),
    ])
}
