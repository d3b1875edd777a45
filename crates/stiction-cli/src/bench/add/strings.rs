//! ADD-F14 and ADD-F1-sheet: hands that move the ends of strings. A cube dragged and tipped over, a sheet of springs flipped.

use super::common::{Problem, defect, ground, knots, system};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::svg::{Mark, Plot, Scale};
use stiction::coords::{BodyId, NodeId};
use stiction::diff::optimize::{
    Bounds, CmaSettings, LevenbergSettings, Minimum, cma_es, levenberg_marquardt,
};
use stiction::diff::{Objective, Param, PathTarget, PoseTarget, Together, smoothness};
use stiction::elastic::Action;
use stiction::scene::{Owner, Sheet, SpringEnd, SpringSpec};
use stiction::solvers::penalty::{Bdf, ContactDamping, Control, ControlKind, Settings};
use stiction::{Body, Geometry, Quat, Scene, Vec3};

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

const DT: f64 = 1.0 / 60.0;
const HALF: f64 = 0.03;

/// Springs from hands (held by the world, moved by controls) to points; a hand moves all of its springs alike.
struct Hands {
    scene: Scene,
    /// Per hand: its springs.
    springs: Vec<Vec<usize>>,
}

impl Hands {
    fn string(&mut self, hand: usize, from: Vec3, on: &str, at: Vec3, stiffness: f64, rest: Option<f64>) {
        let name = format!("string {}", self.scene.springs.len());
        let ends = [SpringEnd::world(from), SpringEnd::on(on, at)];
        self.springs.resize(self.springs.len().max(hand + 1), Vec::new());
        self.springs[hand].push(self.scene.springs.len());
        let spec = SpringSpec::new(name, ends, stiffness);
        let action = if rest == Some(0.0) { Action::Both } else { Action::PullOnly };
        self.scene.springs.push(SpringSpec { rest_length: rest, action, damping: 0.05, ..spec });
    }

    /// One number per hand, axis and knot: how far the hand has moved.
    fn problem(&self, settings: Settings, steps: usize, every: usize) -> Result<Problem> {
        let mut system = system(&self.scene, settings, DT)?;
        let (mut params, mut columns) = (Vec::new(), 0);
        for springs in &self.springs {
            for axis in 0..3 {
                for &s in springs {
                    let kind = ControlKind::SpringEnd(s, 0, axis);
                    system.controls.push(Control { kind, values: vec![0.0; steps] });
                    params.extend((0..steps).map(|i| Param::Control(system.controls.len() - 1, i)));
                }
                columns += 1;
            }
        }
        // All springs of a hand share its columns.
        let single = knots(columns, steps, every);
        let mut basis = vec![vec![0.0; params.len()]; single.len()];
        let (mut at, mut column) = (0, 0);
        for springs in &self.springs {
            for _ in 0..3 {
                for _ in springs {
                    for (b, s) in basis.iter_mut().zip(&single) {
                        b[at..at + steps].copy_from_slice(&s[column * steps..(column + 1) * steps]);
                    }
                    at += steps;
                }
                column += 1;
            }
        }
        let mut problem = Problem::new(system, params, steps)?;
        problem.basis = basis;
        Ok(problem)
    }
}

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
            Row::new(format!("({name}) dragged by {} cm: final error", 100.0 * distance), 1e3 * off, "mm")
                .against("20 iterations")
                .at_most(2.0),
        );
        rows.push(
            Row::new(format!("({name}) simulations with sensitivities"), m.evaluations as f64, "")
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
                Row::new("CMA-ES after ten times the simulations, over ours", c.value / ours, "×")
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
    let m = gauss_newton(&mut problem, &pose, 15, 2e-4, 40, None);
    let end = problem.states(&m.x)?.pop().unwrap_or_default();
    let tilt = (end.rigid_pose(0).rotation * Vec3::Z).dot(Vec3::Z).clamp(-1.0, 1.0).acos().to_degrees();
    rows.push(
        Row::new("(c) tilt of the lower cube", tilt, "°")
            .against("tips over")
            .at_least(80.0)
            .because(format!("{} simulations", m.evaluations)),
    );
    ctx.plot("convergence", &plot)?;
    Ok(rows)
}

fn sheet(ctx: &mut Context) -> Result<Vec<Row>> {
    let (side, steps, every) = (0.4, 120, 5);
    let mut hands = Hands { scene: ground(0.5), springs: Vec::new() };
    let mut sheet = Sheet::new("sheet", [4, 4], [side, side]);
    (sheet.area_density, sheet.stretch, sheet.shear, sheet.bend) = (0.3, 60.0, 20.0, 2e-3);
    (sheet.damping, sheet.thickness, sheet.friction) = (5e-3, 0.0, 0.5);
    hands.scene.sheets.push(sheet);
    for (k, y) in [-0.5 * side, 0.5 * side].into_iter().enumerate() {
        // A spring of no length holds a corner.
        let corner = Vec3::new(-0.5 * side, y, 0.0);
        hands.string(k, corner, "sheet", corner, 1000.0, Some(0.0));
    }
    let mut problem =
        hands.problem(Settings { scheme: Bdf::One, stiffness: 1e3, ..Settings::default() }, steps, every)?;
    let model = problem.system.model();
    let n = model.nodes.len();
    let rest: Vec<Vec3> = model.nodes.iter().map(|n| Vec3::from_slice(&model.initial.q[n.q..])).collect();
    // Turned as a page about the edge that nobody holds; then back, a quarter of the side farther along y.
    let flipped = |x: Vec3| Vec3::new(side - x.x, x.y, 0.0);
    let shifted = |x: Vec3| Vec3::new(x.x, x.y + 0.25 * side, 0.0);
    let nodes = |f: &dyn Fn(Vec3) -> Vec3| (0..n).map(|i| (NodeId(i as u32), f(rest[i]))).collect();
    let flip = PoseTarget { step: steps / 2, nodes: nodes(&flipped), ..PoseTarget::default() };
    let back = PoseTarget { step: steps, nodes: nodes(&shifted), ..PoseTarget::default() };
    let objective = Together { parts: vec![(&flip, 1.0), (&back, 1.0)] };
    // The plan: a half circle over and back, which neither weight nor friction knows of.
    let knots = steps / every;
    let turn = |k: usize| std::f64::consts::PI * (1.0 - (2.0 * (k + 1) as f64 / knots as f64 - 1.0).abs());
    let plan: Vec<f64> = (0..6 * knots)
        .map(|i| match (i / knots % 3, i % knots) {
            (0, k) => side * (1.0 - turn(k).cos()),
            (2, k) => side * turn(k).sin(),
            _ => 0.0,
        })
        .collect();
    let planned = problem.value(&plan, &objective);
    let m = gauss_newton(&mut problem, &objective, knots, 5e-4, ctx.pick(25, 40), Some(plan));
    ctx.note(&format!(
        "Φ {planned:.2e} as planned, {:.2e} with smoothness after {} runs",
        m.value, m.evaluations
    ));
    let states = problem.states(&m.x)?;
    let model = problem.system.model();
    let mut rows = Vec::new();
    for (name, step, f) in
        [("flipped at 1 s", steps / 2, &flipped as &dyn Fn(Vec3) -> Vec3), ("back at 2 s", steps, &shifted)]
    {
        let sum: f64 = (0..n)
            .map(|i| Vec3::from_slice(&states[step].q[model.nodes[i].q..]).distance_squared(f(rest[i])))
            .sum();
        rows.push(
            Row::new(
                format!("{name}: root mean square of points"),
                100.0 * (sum / n as f64).sqrt() / side,
                "% of the side",
            )
            .at_most(5.0),
        );
    }
    rows.push(
        Row::new("simulations with sensitivities", m.evaluations as f64, "")
            .against("25")
            .because(m.end.describe()),
    );
    let at = |i: usize| states[i].q.get(2).copied().unwrap_or(0.0);
    let mut plot = Plot::new("Height of the first point", "t [s]", "z [m]");
    plot.add("z", Mark::Line, (0..=steps).map(|i| (i as f64 * DT, at(i))).collect());
    ctx.plot("height", &plot).map_err(defect)?;
    Ok(rows)
}
