//! ADD-T1, ADD-T2 and ADD-growth: time of one simulation and of one gradient, and how it grows with elements and steps.

use super::common::{Problem, defect, foam, ground, system, wall};
use super::tori;
use crate::robots::robot;
use crate::{Context, Experiment, Row};
use stiction::coords::SoftId;
use stiction::diff::{Motion, Param, ParamSet, PointTarget, Tape};
use stiction::mesh::shapes;
use stiction::scene::Owner;
use stiction::steppers::penalty::{Bdf, FrictionModel, Settings, System};
use stiction::{Scene, Vec3};
use stiction_cli::clock::{Elapsed, Stopwatch};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const SOFT: Experiment = Experiment {
    id: "ADD-T1",
    title: "time of one simulation and one gradient of the soft scenes",
    claim: "ADD, Table 1: t_sim on four cores at 3.5 GHz; steps are not given there, so times compare by order only",
    run: soft,
};

/// The registry entry.
pub const CONTROLLED: Experiment = Experiment {
    id: "ADD-T2",
    title: "time of one simulation and one gradient of the controlled scenes",
    claim: "ADD, Table 2: t_sim of the robot 0.55 s (192 steps), with soft feet 1.55 s (144 steps)",
    run: controlled,
};

/// The registry entry.
pub const GROWTH: Experiment = Experiment {
    id: "ADD-growth",
    title: "growth of simulation and gradient with tets and with steps",
    claim: "the gradient costs less than twice the simulation at every size; both grow in proportion to steps",
    run: growth,
};

fn seconds(e: &Elapsed) -> f64 {
    e.cpu.unwrap_or(e.wall)
}

/// CPU seconds of a simulation and of its gradient.
fn times(system: &mut System, set: &mut ParamSet, steps: usize, owner: Owner) -> Result<(f64, f64)> {
    let objective = PointTarget { owner, step: steps, target: Vec3::ZERO, weight: Vec3::ONE };
    let clock = Stopwatch::start();
    let mut motion = Motion::run(system, set, steps, Tape::Full).map_err(defect)?;
    let forward = seconds(&clock.elapsed());
    let clock = Stopwatch::start();
    motion.gradient(&objective).map_err(defect)?;
    Ok((forward, seconds(&clock.elapsed())))
}

fn report(rows: &mut Vec<Row>, id: &str, name: &str, size: &str, (forward, back): (f64, f64), paper: &str) {
    rows.push(
        Row::new(format!("{id}/time"), format!("{name}, {size}: one simulation"), forward, "s")
            .against(paper),
    );
    rows.push(
        Row::new(
            format!("{id}/gradient-over-run"),
            format!("{name}: gradient over simulation"),
            back / forward,
            "×",
        )
        .at_most(2.0),
    );
}

/// Name, scene, scheme, k_n [N/m], time step [s], steps, friction models and the paper's times.
type Case<'a> = (&'a str, &'a Scene, Bdf, f64, f64, usize, &'a [FrictionModel], [&'a str; 3]);

fn soft(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let initial = |s: &System| {
        let solids = 0..s.model().solids.len() as u32;
        solids
            .flat_map(|k| (0..3).map(move |a| Param::Velocity(Owner::Solid(SoftId(k)), a)))
            .collect::<Vec<Param>>()
    };
    let all = [FrictionModel::Linear, FrictionModel::Tanh, FrictionModel::Hybrid];
    // Fig. 2, a puck on an incline.
    let a = 15f64.to_radians();
    let mut puck = ground(0.4);
    puck.gravity = Vec3::new(a.sin(), 0.0, -a.cos()) * 9.81;
    let cells = ctx.pick([4, 4, 1], [8, 8, 2]);
    let mut body = foam("puck", shapes::block(cells, Vec3::new(0.1, 0.1, 0.03)), 2.1e3, 150.0, 0.0, 0.4);
    body.pose.translation = Vec3::new(0.0, 0.0, 0.02);
    puck.solids.push(body);
    let ball = |scene: &mut Scene, cells: usize, young: f64, density: f64, viscosity: f64| {
        let mut ball = foam("ball", shapes::sphere(0.05, cells), young, density, viscosity, 0.4);
        ball.pose.translation = Vec3::new(0.0, 0.0, 0.3);
        ball.velocity = Vec3::new(1.5, 0.0, -0.5);
        scene.solids.push(ball);
    };
    let mut throw = ground(0.4);
    ball(&mut throw, ctx.pick(2, 3), 2e4, 150.0, 0.0125);
    let mut bunny = ground(0.2);
    bunny.bodies.push(wall(0.7, 0.4));
    ball(&mut bunny, ctx.pick(2, 5), 2.4e4, 90.0, 0.0);
    let mut sphere = ground(0.47);
    ball(&mut sphere, ctx.pick(2, 4), 3.3e4, 86.0, 6.225);
    let mut cube = ground(0.6);
    let mut block =
        foam("cube", shapes::block([ctx.pick(3, 6); 3], Vec3::splat(0.1)), 1.5e4, 77.0, 0.7183, 0.6);
    block.pose.translation = Vec3::new(0.0, 0.0, 0.1);
    block.velocity = Vec3::new(1.2, 0.0, -0.8);
    cube.solids.push(block);
    let (rings, segments) = ctx.pick((1, 10), (2, 16));
    let torus = tori::scene(rings, segments);
    let n = |full: usize| ctx.pick(full.min(30), full);
    let cases: [Case; 6] = [
        ("F2", &puck, Bdf::One, 1e2, 5e-3, n(500), &all, ["26.2 s", "30.9 s", "31.2 s"]),
        ("F5", &torus, Bdf::Two, 1e3, 1.0 / 60.0, n(90), &all, ["119 s", "179 s", "181 s"]),
        ("F10a", &throw, Bdf::Two, 100.0, 1.0 / 120.0, n(120), &all[..1], ["6.9–8.7 s", "", ""]),
        ("F11b", &bunny, Bdf::One, 200.0, 1.0 / 120.0, n(90), &all[..1], ["71.3 s", "", ""]),
        ("F7", &sphere, Bdf::Two, 300.0, 1.0 / 240.0, n(96), &all[..1], ["13.4–38 s", "", ""]),
        ("F8", &cube, Bdf::Two, 300.0, 1.0 / 240.0, n(96), &all[..1], ["1.9–422 s", "", ""]),
    ];
    for (name, scene, scheme, stiffness, dt, steps, models, paper) in cases {
        for (friction, paper) in models.iter().zip(paper) {
            let settings = Settings { scheme, stiffness, friction: *friction, ..Settings::default() };
            let mut system = system(scene, settings, dt)?;
            let mut set = ParamSet::new(&system, initial(&system)).map_err(defect)?;
            let tets: usize = system.model().solids.iter().map(|s| s.tets.len()).sum();
            let took = times(&mut system, &mut set, steps, Owner::Solid(SoftId(0)))?;
            report(
                &mut rows,
                &format!("{}/{}", name.to_lowercase(), friction.name()),
                &format!("{name} {}", friction.name()),
                &format!("{tets} tets, {steps} steps"),
                took,
                paper,
            );
        }
    }
    Ok(rows)
}

fn controlled(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (id, name, soft, steps, paper) in [
        ("robot", "robot", false, 192, "0.550 s"),
        ("robot-on-soft-feet", "robot on soft feet", true, 144, "1.552 s"),
    ] {
        let steps = ctx.pick(40, steps);
        let Problem { mut system, mut set, .. } = robot::robot(soft, steps)?;
        let size =
            format!("{} dofs, {steps} steps, {} parameters", system.model().layout.nv(), set.params.len());
        let took = times(&mut system, &mut set, steps, Owner::Body(stiction::coords::BodyId(1)))?;
        report(&mut rows, id, name, &size, took, paper);
    }
    Ok(rows)
}

fn growth(ctx: &mut Context) -> Result<Vec<Row>> {
    let (mut rows, mut table) = (Vec::new(), Vec::new());
    let mut plot = Plot::new("Time per step", "tets", "CPU [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    let (mut forwards, mut backs) = (Vec::new(), Vec::new());
    let sizes: &[usize] = ctx.pick(&[4, 7, 10], &[4, 7, 12, 16, 20]);
    for &cells in sizes {
        let steps = 6;
        let mut scene = ground(0.4);
        let mut block = foam("block", shapes::block([cells; 3], Vec3::splat(0.1)), 2e4, 150.0, 0.1, 0.4);
        block.velocity = Vec3::new(0.5, 0.0, -0.3);
        scene.solids.push(block);
        let mut system = system(&scene, Settings { scheme: Bdf::Two, ..Settings::default() }, 1.0 / 240.0)?;
        let tets = system.model().solids[0].tets.len();
        let list = vec![Param::Young(SoftId(0)), Param::Velocity(Owner::Solid(SoftId(0)), 0)];
        let mut set = ParamSet::new(&system, list).map_err(defect)?;
        let (forward, back) = times(&mut system, &mut set, steps, Owner::Solid(SoftId(0)))?;
        ctx.note(&format!("{tets} tets: {:.3} s per step", forward / steps as f64));
        rows.push(
            Row::new(
                format!("block-{cells}/gradient-over-run"),
                format!("{tets} tets: gradient over simulation"),
                back / forward,
                "×",
            )
            .at_most(2.0),
        );
        table.push([tets as f64, forward / steps as f64, back / steps as f64].map(csv_number).to_vec());
        forwards.push((tets as f64, forward / steps as f64));
        backs.push((tets as f64, back / steps as f64));
    }
    let (a, b) = (forwards[0], forwards[forwards.len() - 1]);
    rows.push(
        Row::new(
            "time-exponent/tets",
            "exponent of the simulation in tets",
            (b.1 / a.1).ln() / (b.0 / a.0).ln(),
            "",
        )
        .because("a sparse factorisation of a solid block grows faster than its elements"),
    );
    plot.add("simulation", Mark::Line, forwards);
    plot.add("gradient", Mark::Line, backs);
    // Steps: the same block for a longer time.
    let mut last = None;
    for steps in ctx.pick([20, 80], [50, 200]) {
        let mut scene = ground(0.4);
        let mut ball = foam("ball", shapes::sphere(0.05, 2), 2e4, 150.0, 0.1, 0.4);
        // On the floor from the start: all steps are alike.
        ball.pose.translation.z = 0.049;
        scene.solids.push(ball);
        let mut system = system(&scene, Settings { scheme: Bdf::Two, ..Settings::default() }, 1.0 / 240.0)?;
        let mut set = ParamSet::new(&system, vec![Param::Young(SoftId(0))]).map_err(defect)?;
        let took = times(&mut system, &mut set, steps, Owner::Solid(SoftId(0)))?;
        if let Some((before, short)) = last.replace((steps, took)) {
            let (before, short): (usize, (f64, f64)) = (before, short);
            let power = |long: f64, short: f64| (long / short).ln() / (steps as f64 / before as f64).ln();
            rows.push(
                Row::new(
                    "time-exponent/steps",
                    "exponent of the simulation in steps",
                    power(took.0, short.0),
                    "",
                )
                .at_most(1.3),
            );
            rows.push(
                Row::new(
                    "gradient-time-exponent/steps",
                    "exponent of the gradient in steps",
                    power(took.1, short.1),
                    "",
                )
                .at_most(1.3),
            );
        }
    }
    ctx.plot("tets", &plot)?;
    ctx.csv("tets", &["tets", "simulation", "gradient"], &table)?;
    Ok(rows)
}
