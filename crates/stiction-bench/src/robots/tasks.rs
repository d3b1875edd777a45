//! Fits that no task file can say: many hands and motors, and a network.

use super::hands::{SHEET_SMOOTH, SIDE, SheetFlip, sheet_flip};
use super::problem::Problem;
use super::robot::{SMOOTH, gait, robot};
use super::thrower::{self, Thrower, Trained};
use serde_json::json;
use std::path::Path;
use stiction::diff::Objective;
use stiction_cli::failure::{Outcome, Result, error};
use stiction_cli::optimize::job::Job;
use stiction_cli::optimize::space::Space;
use stiction_cli::optimize::task::Method;
use stiction_cli::optimize::{self, view};
use stiction_cli::output::{OutputDir, csv_line, csv_number, print};
use stiction_cli::progress;
use stiction_cli::svg::{Mark, Plot, Scale};
use stiction_cli::table::number;

/// Most runs of each.
const RUNS: usize = 40;
/// Points of the sheet are to be within this distance, root mean square [m]: 2.5 % of its side.
const SHEET_OFF: f64 = 0.025 * SIDE;
/// The torso is to be within this distance of its path, root mean square [m].
const WALK_OFF: f64 = 0.07;
/// Steps that the robot walks.
const WALK_STEPS: usize = 144;
/// Targets of an epoch, and epochs (ADD, Fig. 12).
const TRAINING: (usize, usize) = (1000, 5);
/// Miss that counts as a hit: 5 % of the region [m].
const MISS: f64 = 0.05;

/// Runs the fit of this name.
pub fn fit(name: &str, resume: Option<&Path>, out: Option<&Path>, as_json: bool) -> Result<Outcome> {
    match name {
        "sheet" => optimize::fit(name, sheet(resume)?, out, as_json),
        "walk" => optimize::fit(name, walk(resume)?, out, as_json),
        "controller" if resume.is_some() => {
            Err(error("`controller` cannot be resumed", "leave `--resume` out"))
        }
        "controller" => controller(out, as_json),
        _ => Err(error(format!("no fit is called `{name}`"), "it is one of sheet, walk, controller")),
    }
}

/// The space of the knots of a motion's controls.
fn space_of(problem: &Problem, series: &[String], start: Vec<f64>, smooth: f64) -> Space {
    let base = problem.params(&vec![0.0; start.len()]);
    Space::of_knots((problem.set.params.clone(), base), &problem.basis, series, start, smooth)
}

/// A job over the knots of a motion's controls.
fn knots(
    problem: Problem,
    mut space: Space,
    aims: Vec<(Box<dyn Objective>, f64)>,
    goal: f64,
    resume: Option<&Path>,
) -> Result<Job> {
    if let Some(file) = resume {
        space.resume(file)?;
    }
    let stages = vec![(problem.system.settings().stiffness, problem.steps)];
    let truth = vec![None; space.start.len()];
    Ok(Job {
        system: problem.system,
        set: problem.set,
        space,
        aims,
        stages,
        method: Method::Levenberg,
        evaluations: RUNS,
        goal,
        truth,
        restarts: (0, 0),
    })
}

/// Two hands flip a sheet of springs and bring it back.
fn sheet(resume: Option<&Path>) -> Result<Job> {
    let SheetFlip { problem, targets, plan, .. } = sheet_flip()?;
    let axes = |hand: &str| ["x", "y", "z"].map(|a| format!("{hand} hand, {a}"));
    let series = [axes("left"), axes("right")].concat();
    let space = space_of(&problem, &series, plan, SHEET_SMOOTH);
    let aims = targets.into_iter().map(|t| (Box::new(t) as Box<dyn Objective>, 1.0)).collect();
    // ½ of the mean square at both times.
    knots(problem, space, aims, SHEET_OFF * SHEET_OFF, resume)
}

/// A robot of thirteen bodies walks.
fn walk(resume: Option<&Path>) -> Result<Job> {
    let problem = robot(false, WALK_STEPS)?;
    let series: Vec<String> = problem.system.model().joints.iter().map(|j| j.name.clone()).collect();
    let space = space_of(&problem, &series, vec![0.0; problem.len()], SMOOTH);
    let aims = gait(&problem);
    let goal = 0.5 * WALK_STEPS as f64 * WALK_OFF * WALK_OFF;
    knots(problem, space, aims, goal, resume)
}

/// A network learns to throw a ball to any target of a region with one bounce.
fn controller(out: Option<&Path>, as_json: bool) -> Result<Outcome> {
    let bar = progress::bar(TRAINING.1 as u64, "epochs");
    let Trained { untrained, net, losses, last } = thrower::train(0.4, TRAINING, |_, loss| {
        bar.inc(1);
        bar.set_message(format!("loss {loss:.2e} m²"));
    })?;
    bar.finish_and_clear();
    let mut throws = Thrower::new(0.4)?;
    let targets = thrower::test_targets();
    let (before, ..) = thrower::test(&untrained, &mut throws, &targets);
    let (mean, worst, _) = thrower::test(&net, &mut throws, &targets);
    let all = json!({ "task": "controller", "layers": thrower::LAYERS, "weights": net.weights,
                      "loss": last, "mean_miss": mean, "largest_miss": worst, "mean_miss_untrained": before });
    if let Some(dir) = out {
        let mut dir = OutputDir::create(dir)?;
        // A throw to a corner of the region, before and after.
        let throw = |net: &stiction::diff::Network| thrower::velocity(&net.forward(&[0.8, -0.8]));
        let values = (&throw(&untrained)[..], &throw(&net)[..]);
        view::compare(&mut dir, &mut throws.system, &mut throws.params, thrower::STEPS, values)?;
        dir.write("fitted.json", &format!("{all:#}\n"))?;
        let lines: String = losses.iter().map(|(e, l)| csv_line(&[csv_number(*e), csv_number(*l)])).collect();
        dir.write("convergence.csv", &(csv_line(["epoch", "loss"]) + &lines))?;
        let mut plot = Plot::new("Training", "epochs", "loss [m²]");
        plot.y_scale = Scale::Log;
        plot.add("loss", Mark::Line, losses);
        dir.write("convergence.svg", &plot.to_svg())?;
        dir.finish()?;
    }
    if as_json {
        print(&format!("{all:#}\n"))?;
    } else {
        print(&format!(
            "controller\n\nmean miss of {} targets that it had not seen: {} m → {} m (largest {} m), of a region of 1 m\n",
            targets.len(),
            number(before),
            number(mean),
            number(worst)
        ))?;
    }
    Ok(if mean <= MISS { Outcome::Good } else { Outcome::Unsolved })
}
