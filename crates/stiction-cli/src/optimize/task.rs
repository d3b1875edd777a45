//! A task as its file says it.

use super::aim::Aim;
use super::job::Job;
use super::space::{Drive, Space};
use super::{MOST_RUNS, MOST_STEPS, MOST_TAPE};
use crate::args::{SceneArgs, StepArgs};
use crate::failure::{Result, error};
use miette::Report;
use serde::Deserialize;
use std::path::Path;
use stiction::NameError;
use stiction::diff::{Motion, Objective, Param, ParamSet, Reduce, Tape};
use stiction::scene::bounds::{LONGEST_STEP, SHORTEST_STEP};
use stiction::scene::{Model, Owner};
use stiction::steppers::penalty::{Bdf, ContactDamping, FrictionModel, System};

/// What is fitted to what.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// A built-in scene, or the path of a scene file.
    pub scene: String,
    steps: usize,
    dt: Option<f64>,
    #[serde(default)]
    method: Method,
    #[serde(default = "evaluations")]
    evaluations: usize,
    #[serde(default)]
    goal: f64,
    /// Normal stiffness of contacts [N/m]; several are run one after the other, each from the answer of the last.
    #[serde(default)]
    stiffness: Vec<f64>,
    /// Order of backward differences, 1 or 2; from the scene where it is not given, like the next three.
    bdf: Option<u8>,
    friction: Option<FrictionModel>,
    /// Depth over which contacts stiffen [m].
    onset: Option<f64>,
    /// Hunt–Crossley damping of contacts [s/m].
    damping: Option<f64>,
    /// Starts beside the given one, drawn within the bounds; the best end counts.
    #[serde(default)]
    restarts: usize,
    /// Of the random starts.
    #[serde(default)]
    seed: u64,
    /// Numbers of steps to fit one after the other, each from the answer of the last; `steps` comes last.
    #[serde(default)]
    horizon: Vec<usize>,
    objective: Aim,
    /// More that is aimed at, each with its share.
    #[serde(default)]
    also: Vec<Aim>,
    #[serde(default)]
    parameter: Vec<Fit>,
    /// Numbers per step.
    #[serde(default)]
    control: Vec<Drive>,
}

fn evaluations() -> usize {
    100
}

/// How it is searched.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// L-BFGS.
    #[default]
    Lbfgs,
    /// Levenberg–Marquardt: with deviations.
    Levenberg,
    /// Adam.
    Adam,
    /// CMA-ES: without gradients.
    Cma,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fit {
    kind: String,
    of: Option<String>,
    with: Option<String>,
    axis: Option<String>,
    start: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    /// The value with which synthetic measurements are made.
    truth: Option<f64>,
}

const KINDS: &str = "velocity, spin, position, turn, friction, young, poisson, density, viscosity, mass, \
                     contact-stiffness, contact-damping, gravity";

/// The body, soft body or particle of this name.
pub fn owner(model: &Model, name: &str) -> Result<Owner> {
    model.names.owner(name).map_err(unknown)
}

/// An unknown name, as a failure with a remedy.
pub fn unknown(e: NameError) -> Report {
    error(format!("there is no {} `{}`", e.kind, e.name), e.remedy)
}

/// 0, 1 or 2 for x, y or z.
pub fn axis_of(name: &str) -> Result<usize> {
    let place = ["x", "y", "z"].iter().position(|a| *a == name);
    place.ok_or_else(|| error(format!("axis `{name}`"), "it is x, y or z"))
}

fn param(system: &System, f: &Fit) -> Result<Param> {
    let model = system.model();
    let missing = |key: &str| error(format!("parameter `{}` needs `{key}`", f.kind), "add it to the table");
    let of = || -> Result<Owner> { owner(model, f.of.as_ref().ok_or_else(|| missing("of"))?) };
    let axis = || axis_of(f.axis.as_deref().ok_or_else(|| missing("axis"))?);
    let solid = || match of()? {
        Owner::Solid(s) => Ok(s),
        _ => Err(error(format!("`{}` is of soft bodies", f.kind), "name a soft body")),
    };
    Ok(match f.kind.as_str() {
        "velocity" => Param::Velocity(of()?, axis()?),
        "spin" => Param::Spin(of()?, axis()?),
        "position" => Param::Position(of()?, axis()?),
        "turn" => Param::Orientation(of()?, axis()?),
        "gravity" => Param::Gravity(axis()?),
        "contact-stiffness" => Param::ContactStiffness,
        "contact-damping" => Param::ContactDamping,
        "young" => Param::Young(solid()?),
        "poisson" => Param::Poisson(solid()?),
        "density" => Param::Density(solid()?),
        "viscosity" => Param::Viscosity(solid()?),
        "mass" => match of()? {
            Owner::Body(b) => Param::Mass(b),
            _ => return Err(error("`mass` is of rigid bodies", "use `density` for soft bodies")),
        },
        "friction" => {
            let (a, b) = (of()?, owner(model, f.with.as_ref().ok_or_else(|| missing("with"))?)?);
            let friction = Param::friction(a, b);
            if !system.sites().pairs.iter().any(|p| p.friction() == friction) {
                return Err(error("these two never touch", "name a pair that can"));
            }
            friction
        }
        other => {
            return Err(error(format!("there is no parameter `{other}`"), format!("it is one of {KINDS}")));
        }
    })
}

impl Task {
    /// Refuses numbers that memory and time cannot hold, before anything is made of them.
    fn check_sizes(&self) -> Result<()> {
        if self.steps as u64 > MOST_STEPS {
            let e =
                format!("steps = {}: a motion that is differentiated has at most {MOST_STEPS}", self.steps);
            return Err(error(e, "lower `steps`, or take a larger `dt`"));
        }
        if let Some(dt) = self.dt.filter(|dt| !(SHORTEST_STEP..=LONGEST_STEP).contains(dt)) {
            let remedy = format!("give a time step from {SHORTEST_STEP:e} to {LONGEST_STEP} s");
            return Err(error(format!("dt = {dt:?}"), remedy));
        }
        // The matrix from knots to the numbers per step is kept as a whole.
        let steps = self.steps as u64;
        let values = steps.saturating_mul(self.control.len() as u64);
        let knots: u64 = self.control.iter().map(|d| steps / (d.every().max(1) as u64) + 1).sum();
        if values.saturating_mul(knots) > MOST_TAPE {
            let e =
                format!("{} controls of {steps} steps with {knots} knots are too many", self.control.len());
            return Err(error(
                e,
                format!("steps of all controls times knots are at most {MOST_TAPE}: raise `every`"),
            ));
        }
        let starts = self.restarts as u64;
        if self.evaluations as u64 > MOST_RUNS || starts > MOST_RUNS / 1000 {
            let e = format!("evaluations = {} and restarts = {starts} never end", self.evaluations);
            let remedy = format!("give at most {MOST_RUNS} evaluations and {} restarts", MOST_RUNS / 1000);
            return Err(error(e, remedy));
        }
        match self.stiffness.iter().find(|k| !(k.is_finite() && **k > 0.0)) {
            Some(k) => Err(error(format!("stiffness = {k}"), "give positive, finite numbers [N/m]")),
            None => Ok(()),
        }
    }

    /// What the task asks for, ready to be searched; files are looked for in `folder`.
    pub fn ready(mut self, folder: &Path, resume: Option<&Path>) -> Result<Job> {
        self.check_sizes()?;
        let beside = folder.join(&self.scene);
        let scene = if beside.exists() { beside.display().to_string() } else { self.scene.clone() };
        let scene = SceneArgs { scene, overrides: Vec::new(), dt: self.dt };
        let step = StepArgs { solver: None, tol: None, max_iter: None, scheme: None, threads: None };
        let prepared = scene.prepare(&step)?;
        let wrong = |e: stiction::SceneError| error(e, "change the task or the scene");
        let mut settings = prepared.loaded.settings.penalty.settings(&prepared.model);
        settings.scheme = match self.bdf {
            None => settings.scheme,
            Some(1) => Bdf::One,
            Some(2) => Bdf::Two,
            Some(n) => return Err(error(format!("bdf = {n}"), "it is 1 or 2")),
        };
        settings.friction = self.friction.unwrap_or(settings.friction);
        settings.onset = self.onset.unwrap_or(settings.onset).max(0.0);
        if let Some(c) = self.damping {
            settings.damping = ContactDamping::HuntCrossley(c);
        }
        let numbers = (self.steps as u64).saturating_mul(prepared.model.layout.nv() as u64);
        if numbers > MOST_TAPE {
            let e = format!(
                "{} steps of {} unknowns are too long a tape",
                self.steps,
                prepared.model.layout.nv()
            );
            return Err(error(
                e,
                format!("their product is at most {MOST_TAPE}: lower `steps`, or use a smaller scene"),
            ));
        }
        let mut system = System::new(prepared.model.clone(), settings, prepared.loaded.dt).map_err(wrong)?;
        let mut space = Space::default();
        for f in &self.parameter {
            let bounds = (f.min.unwrap_or(f64::NEG_INFINITY), f.max.unwrap_or(f64::INFINITY));
            space.add(param(&system, f)?, bounds);
        }
        let scalars = ParamSet::new(&system, space.params.clone()).map_err(wrong)?;
        let starts: Vec<Option<f64>> = self.parameter.iter().map(|f| f.start).collect();
        space.read(&system, &scalars, &starts);
        for d in &self.control {
            space.drive(&mut system, d, self.steps)?;
        }
        if space.params.is_empty() {
            return Err(error("the task has no parameters", "add a [[parameter]] or [[control]] table"));
        }
        let mut set = ParamSet::new(&system, space.params.clone()).map_err(wrong)?;
        space.check_bounds()?;
        if let Some(file) = resume {
            space.resume(file)?;
        }
        space.check_start()?;
        if self.steps == 0 || self.horizon.iter().any(|h| *h == 0 || *h > self.steps) {
            return Err(error("a horizon is not between one and `steps`", "change `steps` or `horizon`"));
        }
        let mut truth = vec![None; space.start.len()];
        truth.iter_mut().zip(&self.parameter).for_each(|(t, f)| *t = f.truth);
        measure(&mut self, &mut system, &mut set, &space, &truth)?;
        let aims = std::iter::once(&self.objective).chain(&self.also);
        let aims =
            aims.map(|a| Ok((a.objective(system.model(), self.steps, folder)?, a.share.max(0.0).sqrt())));
        let aims = aims.collect::<Result<Vec<(Box<dyn Objective>, f64)>>>()?;
        if !self.also.is_empty() && aims.iter().any(|a| a.0.reduce() != Reduce::Squares) {
            return Err(error("`nearest` cannot be one of several objectives", "leave `also` out"));
        }
        let stiffness = if self.stiffness.is_empty() { vec![settings.stiffness] } else { self.stiffness };
        let mut horizons = self.horizon;
        if horizons.last() != Some(&self.steps) {
            horizons.push(self.steps);
        }
        // Softer contacts first on the shortest horizon, then longer ones.
        let mut stages: Vec<(f64, usize)> = stiffness.iter().map(|k| (*k, horizons[0])).collect();
        let stiffest = stiffness[stiffness.len() - 1];
        stages.extend(horizons[1..].iter().map(|h| (stiffest, *h)));
        let (method, evaluations, goal) = (self.method, self.evaluations, self.goal);
        let restarts = (self.restarts, self.seed);
        Ok(Job { system, set, space, aims, stages, method, evaluations, goal, truth, restarts })
    }
}

/// Runs the truth of a task where some of its measurements are synthetic.
fn measure(
    task: &mut Task,
    system: &mut System,
    set: &mut ParamSet,
    space: &Space,
    truth: &[Option<f64>],
) -> Result<()> {
    let synthetic = task.objective.synthetic.is_some() || task.also.iter().any(|a| a.synthetic.is_some());
    match (synthetic, truth.iter().any(Option::is_some)) {
        (false, false) => return Ok(()),
        (true, true) => {}
        _ => {
            let text = "synthetic measurements need parameters with a `truth`, and no others have one";
            return Err(error(text, "give both, or neither"));
        }
    }
    let values: Vec<f64> = truth.iter().zip(&space.start).map(|(t, s)| t.unwrap_or(*s)).collect();
    let bad = |e: &dyn std::fmt::Display| error(format!("the truth: {e}"), "change the truth of the task");
    set.apply(system, &space.values(&values)).map_err(|e| bad(&e))?;
    let mut motion = Motion::run(system, set, task.steps, Tape::Full).map_err(|e| bad(&e))?;
    let states: std::result::Result<Vec<_>, _> = (0..=task.steps).map(|i| motion.state(i)).collect();
    let states = states.map_err(|e| bad(&e))?;
    for aim in std::iter::once(&mut task.objective).chain(&mut task.also) {
        aim.measure(system.model(), &states)?;
    }
    Ok(())
}
