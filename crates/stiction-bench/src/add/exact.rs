//! ADD-exact: gradients of exact contact on the sliding box on which most simulators fail.

use crate::{Context, Experiment, Row};
use stiction::coords::BodyId;
use stiction::diff::{Coordinate, ExactMotion, Param};
use stiction::scene::Owner;
use stiction::{Body, Geometry, Scene, SimSettings, Simulation, SolverSettings, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-exact",
    title: "gradients of exact contact: a box that slides for half a second",
    claim: "closed form: dx/dv₀ = T = 0.5, dx/dμ = −g T²/2 = −1.22625 (−g T (T + h)/2 with steps of implicit Euler)",
    run,
};

const BOX: Owner = Owner::Body(BodyId(1));
const FLOOR: Owner = Owner::Body(BodyId(0));
const T: f64 = 0.5;
const G: f64 = 9.81;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let defect = |e: &dyn std::fmt::Display| error(e, "this is a defect");
    let mut rows = Vec::new();
    let mut by_mu = Vec::new();
    let h = ctx.pick(5e-3, 2e-3);
    for (step, h) in [("long-steps", 2.0 * h), ("short-steps", h)] {
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.3));
        let mut cube =
            Body::new("box", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(0.5);
        cube.velocity = Vec3::X * 2.0;
        scene.bodies.push(cube.with_friction(0.3));
        let model = scene.compile().map_err(|e| defect(&e))?;
        let n = (T / h).round() as usize;
        let tolerance = SolverSettings { tolerance: Some(1e-12), max_iterations: None };
        let settings = SimSettings { solver_settings: tolerance, ..SimSettings::default() };
        let clock = Stopwatch::start();
        let mut sim = Simulation::new(model.clone(), settings);
        for _ in 0..n {
            sim.step(h).map_err(|e| defect(&e))?;
        }
        let plain = clock.elapsed();
        let motion = ExactMotion::run(&model, settings, h, n).map_err(|e| defect(&e))?;
        let end = Coordinate { owner: BOX, step: n, direction: Vec3::X };
        let params = [Param::Velocity(BOX, 0), Param::friction(BOX, FLOOR)];
        for mode in ["forward", "reverse"] {
            let clock = Stopwatch::start();
            let d =
                if mode == "forward" { motion.forward(&end, &params) } else { motion.reverse(&end, &params) };
            let d = d.map_err(|e| defect(&e))?;
            let took = clock.elapsed();
            let exact = -G * T * (T + h) / 2.0;
            let ms = 1e3 * h;
            let id = format!("{mode}/{step}");
            rows.push(
                Row::new(
                    format!("{id}/velocity-error"),
                    format!("{mode}, {ms} ms: error of dx/dv₀"),
                    (d[0] - T).abs(),
                    "",
                )
                .against("MJX pyramidal 8e-11 (best of peers)")
                .at_most(1e-8),
            );
            rows.push(
                Row::new(
                    format!("{id}/friction-error"),
                    format!("{mode}, {ms} ms: error of dx/dμ"),
                    (d[1] - exact).abs(),
                    "",
                )
                .against(format!("{exact:.6}"))
                .at_most(1e-8),
            );
            let ratio = took.cpu.zip(plain.cpu).map_or(took.wall / plain.wall, |(a, b)| a / b);
            rows.push(
                Row::new(
                    format!("{id}/gradient-over-run"),
                    format!("{mode}, {ms} ms: gradient over forward run"),
                    ratio,
                    "×",
                )
                .against("MJX 4.2 ×"),
            );
            if mode == "reverse" {
                by_mu.push(d[1]);
            }
        }
    }
    let continuous = 2.0 * by_mu[1] - by_mu[0];
    rows.push(
        Row::new(
            "no-step/friction-error",
            "dx/dμ without the time step, error",
            (continuous + G * T * T / 2.0).abs(),
            "",
        )
        .against("−1.22625")
        .at_most(1e-8),
    );
    Ok(rows)
}
