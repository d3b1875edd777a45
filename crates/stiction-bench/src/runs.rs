//! What experiments share: scenes on a floor, runs with a solver, cold solves of one problem.

use stiction::contact::{ContactProblem, Residuals, Solution, residual};
use stiction::methods;
use stiction::solvers::SolveReport;
use stiction::{
    Body, Geometry, Model, Scene, SimSettings, Simulation, SolverKind, SolverSettings, State, StepError, Vec3,
};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};
use stiction_cli::summary::Summary;

/// Gravity of all experiments [m/s²].
pub const GRAVITY: f64 = 9.81;

/// A scene with a fixed floor, gravity tilted by `angle` [rad] towards +x, and the given bodies.
pub fn on_floor(angle: f64, friction: f64, bodies: impl IntoIterator<Item = Body>) -> Scene {
    let mut scene =
        Scene { gravity: GRAVITY * Vec3::new(angle.sin(), 0.0, -angle.cos()), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(friction));
    scene.bodies.extend(bodies);
    scene
}

/// A simulation of a scene of ours with a solver and its default settings.
pub fn simulate(scene: &Scene, solver: SolverKind) -> Result<Simulation> {
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    Ok(Simulation::new(model, SimSettings { solver, ..SimSettings::default() }))
}

/// A step that broke, as an error of the experiment.
pub fn broke(e: StepError) -> miette::Report {
    error(format!("the experiment's run broke: {e}"), "report this")
}

/// A run of many steps.
pub struct Ran {
    /// Its numbers.
    pub summary: Summary,
    /// Processor time per step, or wall time where that is unknown [s].
    pub seconds_per_step: f64,
}

/// Takes `steps` steps and calls `look` after each.
pub fn take_steps(
    sim: &mut Simulation,
    steps: usize,
    dt: f64,
    mut look: impl FnMut(&Simulation),
) -> Result<Ran> {
    let mut summary = Summary::default();
    let watch = Stopwatch::start();
    for _ in 0..steps {
        summary.add(sim.step(dt).map_err(broke)?);
        look(sim);
    }
    let took = watch.elapsed();
    Ok(Ran { summary, seconds_per_step: took.cpu.unwrap_or(took.wall) / steps.max(1) as f64 })
}

/// One solve from zero impulses.
pub struct Cold {
    /// What the solver says.
    pub report: SolveReport,
    /// What the yardstick says.
    pub residuals: Residuals,
    /// The answer.
    pub solution: Solution,
    /// Processor time, or wall time where that is unknown [s].
    pub seconds: f64,
}

/// Solves from zero impulses.
pub fn solve_cold(p: &ContactProblem, kind: SolverKind, tolerance: f64, most: Option<usize>) -> Cold {
    let settings = SolverSettings { tolerance: Some(tolerance), max_iterations: most };
    let mut solver = methods::make(kind, &settings);
    let mut solution = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let watch = Stopwatch::start();
    let report = solver.solve(p, &mut solution, &mut ());
    let took = watch.elapsed();
    let residuals = residual::measure(p, &solution);
    Cold { report, residuals, solution, seconds: took.cpu.unwrap_or(took.wall) }
}

/// Median, 90th percentile and maximum of counts.
pub fn distribution(mut counts: Vec<usize>) -> (usize, usize, usize) {
    counts.sort_unstable();
    let at = |share: f64| {
        let last = counts.len().saturating_sub(1);
        counts.get((share * last as f64).round() as usize).copied().unwrap_or(0)
    };
    (at(0.5), at(0.9), at(1.0))
}

/// Largest displacement of a centre of mass from one state to another [m].
pub fn drift(model: &Model, a: &State, b: &State) -> f64 {
    let at = |state, body| model.com_pose(state, body).translation;
    model.free_bodies().map(|(i, _)| at(a, i).distance(at(b, i))).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_pick_the_middle_and_the_ends() {
        assert_eq!(distribution((0..=100).rev().collect()), (50, 90, 100));
        assert_eq!(distribution(vec![]), (0, 0, 0));
    }
}
