//! ADD-F14 and ADD-F1-sheet: hands that move the ends of strings. A cube dragged and tipped over, a sheet of springs flipped.

use super::common::{Problem, defect, ground};
use crate::robots::hands::{DT, Hands, SHEET_SMOOTH, SHEET_STEPS, SIDE, SheetFlip, sheet_flip};
use crate::{Context, Experiment, Row};
use stiction::coords::{BodyId, NodeId};
use stiction::diff::optimize::{
    Bounds, CmaSettings, LevenbergSettings, Minimum, cma_es, levenberg_marquardt,
};
use stiction::diff::{Objective, PathTarget, PoseTarget, Together, smoothness};
use stiction::scene::Owner;
use stiction::steppers::penalty::{Bdf, ContactDamping, Settings};
use stiction::{Body, Geometry, Quat, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const CUBES: Experiment = Experiment {
    id: "ADD-F14",
    title: "cubes dragged with strings and tipped over with rubber bands",
    claim: "ADD, Fig. 14 and Table 2: Gauss–Newton with direct sensitivities, 20 iterations for dragging; CMA-ES fails",
    run: cubes,
};

/// The registry entry.
pub const SHEET: Experiment = Experiment {
    id: "ADD-F1-sheet",
    title: "a sheet of springs flipped over by two hands, and back",
    claim: "ADD, Fig. 1 and Table 2: 5 × 5 points, flipped after 1 s, back and shifted after 2 s; 25 iterations",
    run: sheet,
};

const HALF: f64 = 0.03;

/// Series of knots that follow each other in time.
fn groups(n: usize, knots: usize) -> Vec<Vec<usize>> {
    (0..n / knots).map(|g| (g * knots..(g + 1) * knots).collect()).collect()
}

fn gauss_newton(
    problem: &mut Problem,
    objective: &dyn Objective,
    knots: usize,
    beta: f64,
    most: usize,
    start: Option<Vec<f64>>,
) -> Minimum {
    let n = problem.len();
    let all: Vec<usize> = (0..n).collect();
    let series = groups(n, knots);
    let settings = LevenbergSettings { evaluations: most, goal: 0.0, change: 1e-4 };
    let start = start.unwrap_or_else(|| vec![0.0; n]);
    let (m, _) = levenberg_marquardt(&start, &Bounds::none(n), &settings, |x| {
        let (mut values, mut rows) = problem.rows(x, objective, &all);
        let (v, r) = smoothness(x, &series, beta);
        values.extend(v);
        rows.extend(r);
        (values, rows)
    });
    m
}

fn cube(name: &str, z: f64) -> Body {
    Body::new(name, Geometry::Box { half: Vec3::splat(HALF) })
        .at(0.0, 0.0, z)
        .with_mass(0.05)
        .with_friction(0.5)
}

fn settings() -> Settings {
    let damping = ContactDamping::HuntCrossley(1.0);
    Settings { scheme: Bdf::One, stiffness: 200.0, damping, ..Settings::default() }
}

fn cubes(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let (steps, every) = (60, 5);
    let mut plot = Plot::new("Objective", "simulations", "Φ/Φ₀");
    plot.y_scale = Scale::Log;
    for (name, distance) in [("a", 0.05), ("b", 0.11)] {
        let mut hands = Hands { scene: ground(0.5), springs: Vec::new() };
        hands.scene.bodies.push(cube("cube", HALF - 6e-4));
        for (k, y) in [HALF, -HALF].into_iter().enumerate() {
            hands.string(
                k,
                Vec3::new(0.15, 2.0 * y, 0.08),
                "cube",
                Vec3::new(HALF, y, 0.5 * HALF),
                5.0,
                None,
            );
        }
        let mut problem = hands.problem(settings(), steps, every)?;
        let (owner, place) = (Owner::Body(BodyId(1)), Vec3::new(distance, 0.0, HALF - 6e-4));
        // There during the last fifth, so that it rests.
        let objective =
            PathTarget { owner, places: (48..=60).map(|i| (i, place)).collect(), weight: Vec3::splat(1.0) };
        let first = problem.value(&vec![0.0; problem.len()], &objective);
        let m = gauss_newton(&mut problem, &objective, steps / every, 1e-3, 30, None);
        let end = problem.states(&m.x)?.pop().unwrap_or_default();
        let off = Vec3::from_slice(&end.q).distance(place);
        rows.push(
            Row::new(
                format!("{name}/error"),
                format!("({name}) dragged by {} cm: final error", 100.0 * distance),
                1e3 * off,
                "mm",
            )
            .against("20 iterations")
            .at_most(2.0),
        );
        rows.push(
            Row::new(
                format!("{name}/simulations"),
                format!("({name}) simulations with sensitivities"),
                m.evaluations as f64,
                "",
            )
            .against("20")
            .at_most(30.0),
        );
        if name == "a" {
            let mut rival = hands.problem(settings(), steps, every)?;
            let settings = CmaSettings { evaluations: 10 * m.evaluations, goal: 0.0, seed: 2 };
            let n = rival.len();
            let c = cma_es(&vec![0.0; n], &vec![0.05; n], &Bounds::none(n), &settings, |x| {
                rival.value(x, &objective)
            });
            let ours = problem.value(&m.x, &objective);
            rows.push(
                Row::new(
                    "a/cma-es-over-ours",
                    "CMA-ES after ten times the simulations, over ours",
                    c.value / ours,
                    "×",
                )
                .against("fails")
                .at_least(1.0)
                .because(format!("Φ/Φ₀ {:.1e} and {:.1e}", c.value / first, ours / first)),
            );
        }
        plot.add(
            &format!("({name})"),
            Mark::Line,
            m.history.iter().enumerate().map(|(k, v)| ((k + 1) as f64, v / first)).collect(),
        );
    }
    // (c) Two cubes, four rubber bands: the lower one is to lie on its side.
    let mut hands = Hands { scene: ground(0.8), springs: Vec::new() };
    let sink = HALF - 1.2e-3;
    hands.scene.bodies.push(cube("lower", sink));
    hands.scene.bodies.push(cube("upper", sink + 2.0 * HALF - 6e-4));
    for (k, y) in [HALF, -HALF].into_iter().enumerate() {
        let (low, high) = (Vec3::new(-HALF, y, HALF), Vec3::new(-HALF, y, HALF));
        hands.string(k, Vec3::new(0.12, 2.0 * y, 0.16), "lower", low, 5.0, Some(0.05));
        hands.string(k, Vec3::new(0.12, 2.0 * y, 0.16), "upper", high, 5.0, Some(0.05));
    }
    let mut problem = hands.problem(settings(), 90, 6)?;
    let turned = Quat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let pose = PoseTarget {
        step: 90,
        bodies: vec![(BodyId(1), Vec3::new(0.06, 0.0, sink), turned)],
        turn_weight: 0.05,
        ..PoseTarget::default()
    };
    let m = gauss_newton(&mut problem, &pose, 15, 2e-4, 30, None);
    let end = problem.states(&m.x)?.pop().unwrap_or_default();
    let lower = problem.system.model().com_pose(&end, BodyId(1));
    let tilt = (lower.rotation * Vec3::Z).dot(Vec3::Z).clamp(-1.0, 1.0).acos().to_degrees();
    rows.push(
        Row::new("c/tilt", "(c) tilt of the lower cube", tilt, "°").against("tips over").at_least(80.0),
    );
    rows.push(
        Row::new("c/simulations", "(c) simulations with sensitivities", m.evaluations as f64, "")
            .against("20")
            .at_most(30.0),
    );
    ctx.plot("convergence", &plot)?;
    Ok(rows)
}

fn sheet(ctx: &mut Context) -> Result<Vec<Row>> {
    let SheetFlip { mut problem, targets, plan, knots } = sheet_flip()?;
    let objective = Together { parts: targets.iter().map(|t| (t as &dyn Objective, 1.0)).collect() };
    let planned = problem.value(&plan, &objective);
    let m = gauss_newton(&mut problem, &objective, knots, SHEET_SMOOTH, ctx.pick(25, 40), Some(plan));
    ctx.note(&format!(
        "Φ {planned:.2e} as planned, {:.2e} with smoothness after {} runs",
        m.value, m.evaluations
    ));
    let states = problem.states(&m.x)?;
    let model = problem.system.model();
    let mut rows = Vec::new();
    let ends = [("flipped", "flipped at 1 s"), ("back", "back at 2 s")];
    for ((id, name), target) in ends.into_iter().zip(&targets) {
        let place = |n: &NodeId| model.node_position(&states[target.step], *n);
        let sum: f64 = target.nodes.iter().map(|(n, x)| place(n).distance_squared(*x)).sum();
        let n = target.nodes.len();
        rows.push(
            Row::new(
                format!("{id}/error"),
                format!("{name}: root mean square of points"),
                100.0 * (sum / n as f64).sqrt() / SIDE,
                "% of the side",
            )
            .at_most(5.0),
        );
    }
    rows.push(
        Row::new("simulations", "simulations with sensitivities", m.evaluations as f64, "")
            .against("25")
            .because(m.end.describe()),
    );
    let at = |i: usize| states[i].q.get(2).copied().unwrap_or(0.0);
    let mut plot = Plot::new("Height of the first point", "t [s]", "z [m]");
    plot.add("z", Mark::Line, (0..=SHEET_STEPS).map(|i| (i as f64 * DT, at(i))).collect());
    ctx.plot("height", &plot).map_err(defect)?;
    Ok(rows)
}
