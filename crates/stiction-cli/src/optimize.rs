//! `stiction optimize`: fits numbers of a scene so that its motion does what a task asks for.

mod aim;
mod space;
mod synthetic;
mod view;

use crate::args::{SceneArgs, StepArgs};
use crate::failure::{Outcome, Result, error};
use crate::output::{OutputDir, csv_line, csv_number, print};
use crate::progress;
use crate::svg::{Mark, Plot, Scale};
use crate::table::{Paint, Table, number};
use aim::Aim;
use clap::Args;
use indicatif::ProgressBar;
use serde::Deserialize;
use serde_json::json;
use space::{Drive, Space};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use stiction::coords;
use stiction::diff::optimize::{
    AdamSettings, Bounds, CmaSettings, End, LbfgsSettings, LevenbergSettings, Minimum, adam, cma_es, lbfgs,
    levenberg_marquardt,
};
use stiction::diff::{Motion, Objective, Param, ParamSet, Reduce, Tape, Together};
use stiction::scene::{Model, Owner};
use stiction::solvers::penalty::{Bdf, ContactDamping, FrictionModel, Settings, System};

/// Arguments of `optimize`.
#[derive(Args)]
#[command(after_help = "\
A task names a scene, an objective and parameters; `stiction optimize --example` prints one. Contacts are smooth (ADD), and
gradients come from the adjoint.

Examples:
  stiction optimize throw
  stiction optimize my-task.toml --out results
  stiction optimize my-task.toml --resume results/fitted.json")]
pub struct OptimizeArgs {
    /// A built-in task (throw, line, hit, stop, foam, drag, land, mocap, depth) or a .toml file
    #[arg(required_unless_present = "example")]
    task: Option<String>,

    /// Print the built-in task `throw` as an example
    #[arg(long)]
    example: bool,

    /// Start from the values of an earlier fit
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Write the fitted values, the convergence curve, a plot and a page that plays before and after into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

const THROW: &str = include_str!("../tasks/throw.toml");

/// Built-in tasks by name.
const BUILT_IN: [(&str, &str); 9] = [
    ("throw", THROW),
    ("line", include_str!("../tasks/line.toml")),
    ("hit", include_str!("../tasks/hit.toml")),
    ("stop", include_str!("../tasks/stop.toml")),
    ("foam", include_str!("../tasks/foam.toml")),
    ("drag", include_str!("../tasks/drag.toml")),
    ("land", include_str!("../tasks/land.toml")),
    ("mocap", include_str!("../tasks/mocap.toml")),
    ("depth", include_str!("../tasks/depth.toml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    scene: String,
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

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Method {
    #[default]
    Lbfgs,
    Levenberg,
    Adam,
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

fn owner(model: &Model, name: &str) -> Result<Owner> {
    let body =
        model.bodies.iter().position(|b| b.name == name).map(|i| Owner::Body(coords::BodyId(i as u32)));
    let solid =
        model.solids.iter().position(|s| s.name == name).map(|i| Owner::Solid(coords::SoftId(i as u32)));
    let node = model.nodes.iter().position(|n| n.name == name && n.solid.is_none());
    let node = node.map(|i| Owner::Node(coords::NodeId(i as u32)));
    body.or(solid).or(node).ok_or_else(|| {
        let names =
            model.bodies.iter().map(|b| b.name.as_str()).chain(model.solids.iter().map(|s| s.name.as_str()));
        let list: Vec<&str> = names.take(12).collect();
        error(format!("`{name}` is not in the scene"), format!("it has {}", list.join(", ")))
    })
}

fn axis_of(name: &str) -> Result<usize> {
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
            let pair = system.sites().pairs.iter().position(|p| p.owners == (a, b) || p.owners == (b, a));
            Param::Friction(pair.ok_or_else(|| error("these two never touch", "name a pair that can"))?)
        }
        other => {
            return Err(error(format!("there is no parameter `{other}`"), format!("it is one of {KINDS}")));
        }
    })
}

/// Runs a task.
pub fn optimize(args: &OptimizeArgs) -> Result<Outcome> {
    if args.example {
        return print(THROW);
    }
    let name = args.task.as_deref().unwrap_or_default();
    let built_in = BUILT_IN.iter().find(|t| t.0 == name);
    let (text, folder) = match built_in {
        Some((_, text)) => (text.to_string(), PathBuf::new()),
        None => {
            let names = BUILT_IN.map(|t| t.0).join(", ");
            let remedy = format!("give the path of a task, or the name of a built-in one: {names}");
            let text = std::fs::read_to_string(name).map_err(|e| error(format!("{name}: {e}"), remedy))?;
            (text, Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default())
        }
    };
    let mut task: Task = toml::from_str(&text)
        .map_err(|e| error(format!("{name}: {e}"), "see `stiction optimize --example` for the keys"))?;
    let beside = folder.join(&task.scene);
    let scene = if beside.exists() { beside.display().to_string() } else { task.scene.clone() };
    let scene = SceneArgs { scene, overrides: Vec::new(), dt: task.dt };
    let step = StepArgs { solver: None, tol: None, max_iter: None, scheme: None, threads: None };
    let prepared = scene.prepare(&step)?;
    let wrong = |e: stiction::SceneError| error(e, "change the task or the scene");
    let mut settings = prepared.loaded.settings.penalty.settings(&prepared.model);
    settings.scheme = match task.bdf {
        None => settings.scheme,
        Some(1) => Bdf::One,
        Some(2) => Bdf::Two,
        Some(n) => return Err(error(format!("bdf = {n}"), "it is 1 or 2")),
    };
    settings.friction = task.friction.unwrap_or(settings.friction);
    settings.onset = task.onset.unwrap_or(settings.onset).max(0.0);
    if let Some(c) = task.damping {
        settings.damping = ContactDamping::HuntCrossley(c);
    }
    let mut system = System::new(prepared.model.clone(), settings, prepared.loaded.dt).map_err(wrong)?;
    let mut space = Space::default();
    for f in &task.parameter {
        let bounds = (f.min.unwrap_or(f64::NEG_INFINITY), f.max.unwrap_or(f64::INFINITY));
        space.add(param(&system, f)?, bounds);
    }
    let scalars = ParamSet::new(&system, space.params.clone()).map_err(wrong)?;
    let starts: Vec<Option<f64>> = task.parameter.iter().map(|f| f.start).collect();
    space.read(&system, &scalars, &starts);
    for d in &task.control {
        space.drive(&mut system, d, task.steps)?;
    }
    if space.params.is_empty() {
        return Err(error("the task has no parameters", "add a [[parameter]] or [[control]] table"));
    }
    let mut set = ParamSet::new(&system, space.params.clone()).map_err(wrong)?;
    let names = space.names.clone();
    let (lo, hi) = space.bounds.iter().copied().unzip();
    let bounds = Bounds { lo, hi };
    if let Some(i) = bounds.crossed() {
        return Err(error(format!("{}: min is above max", names[i]), "swap them"));
    }
    let mut start = space.start.clone();
    if let Some(file) = &args.resume {
        start = resumed(file, &names)?;
    }
    if let Some(i) = (0..start.len()).find(|&i| start[i] < bounds.lo[i] || start[i] > bounds.hi[i]) {
        return Err(error(
            format!("{}: the start {} is outside of its bounds", names[i], number(start[i])),
            "widen min and max, or set `start`",
        ));
    }
    if task.steps == 0 || task.horizon.iter().any(|h| *h == 0 || *h > task.steps) {
        return Err(error("a horizon is not between one and `steps`", "change `steps` or `horizon`"));
    }
    let mut truth = vec![None; start.len()];
    truth.iter_mut().zip(&task.parameter).for_each(|(t, f)| *t = f.truth);
    measure(&mut task, &mut system, &mut set, &space, &truth)?;
    let aims = std::iter::once(&task.objective).chain(&task.also);
    let aims = aims.map(|a| Ok((a.objective(system.model(), task.steps, &folder)?, a.share.max(0.0).sqrt())));
    let aims = aims.collect::<Result<Vec<(Box<dyn Objective>, f64)>>>()?;
    let together = Together { parts: aims.iter().map(|(a, share)| (&**a, *share)).collect() };
    let objective: &dyn Objective = if task.also.is_empty() { &*aims[0].0 } else { &together };
    if !task.also.is_empty() && aims.iter().any(|a| a.0.reduce() != Reduce::Squares) {
        return Err(error("`nearest` cannot be one of several objectives", "leave `also` out"));
    }
    let stiffness = if task.stiffness.is_empty() { vec![settings.stiffness] } else { task.stiffness.clone() };
    let mut horizons = task.horizon.clone();
    if horizons.last() != Some(&task.steps) {
        horizons.push(task.steps);
    }
    // Softer contacts first on the shortest horizon, then longer ones.
    let mut stages: Vec<(f64, usize)> = stiffness.iter().map(|k| (*k, horizons[0])).collect();
    let stiffest = stiffness[stiffness.len() - 1];
    stages.extend(horizons[1..].iter().map(|h| (stiffest, *h)));
    let mut history: Vec<(f64, f64)> = Vec::new();
    let mut x = start.clone();
    let mut last: Option<(Minimum, Vec<f64>)> = None;
    let broken = Cell::new(0);
    let bar = progress::bar((stages.len() * task.evaluations) as u64, "runs");
    for (stiffness, steps) in &stages {
        system.set_settings(Settings { stiffness: *stiffness, ..settings });
        bar.set_message(format!("k_n = {stiffness} N/m, {steps} steps"));
        let run = (&mut system, &mut set, *steps);
        let found = minimise(&task, run, &space, objective, &x, &bounds, (&bar, &broken));
        x.clone_from(&found.0.x);
        let before = history.len();
        history.extend(found.0.history.iter().enumerate().map(|(i, v)| ((before + i + 1) as f64, *v)));
        last = Some(found);
    }
    bar.finish_and_clear();
    let Some((minimum, spread)) = last else { return Err(error("no stiffness", "leave `stiffness` out")) };
    let dir = args.out.as_ref().map(|d| OutputDir::create(d)).transpose()?;
    let dir = match dir {
        Some(mut dir) => {
            let values = (&space.values(&start)[..], &space.values(&minimum.x)[..]);
            view::compare(&mut dir, &mut system, &mut set, task.steps, values)?;
            Some(dir)
        }
        None => None,
    };
    let remark = match broken.get() {
        0 => minimum.end.describe().to_string(),
        n => format!(
            "{}; {n} motions broke off and count as infinitely bad: narrow the bounds or soften contacts",
            minimum.end.describe()
        ),
    };
    report(args, dir, name, (&names, &truth), (&start, &minimum, &spread), &history, &remark)
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

fn resumed(file: &Path, names: &[String]) -> Result<Vec<f64>> {
    let remedy = "give the fitted.json of an earlier run of the same task";
    let bad = |what: String| error(format!("{}: {what}", file.display()), remedy);
    let text = std::fs::read_to_string(file).map_err(|e| bad(e.to_string()))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
    names
        .iter()
        .map(|n| value["fitted"][n]["value"].as_f64().ok_or_else(|| bad(format!("it has no `{n}`"))))
        .collect()
}

/// One minimisation; deviations of parameters where the method knows them.
fn minimise(
    task: &Task,
    (system, set, steps): (&mut System, &mut ParamSet, usize),
    space: &Space,
    objective: &dyn Objective,
    x: &[f64],
    bounds: &Bounds,
    (bar, broken): (&ProgressBar, &Cell<usize>),
) -> (Minimum, Vec<f64>) {
    let n = x.len();
    let gradient = |x: &[f64]| {
        bar.inc(1);
        let run = set
            .apply(system, &space.values(x))
            .ok()
            .and_then(|()| Motion::run(system, set, steps, Tape::Full).ok()?.gradient(objective).ok());
        let Some(run) = run.filter(|g| g.value.is_finite()) else {
            broken.set(broken.get() + 1);
            return (f64::NAN, vec![f64::NAN; n]);
        };
        let (mut value, mut g) = (run.value, space.pull(&run.gradient));
        let (rough, rows) = space.smoothness(x);
        for (r, row) in rough.iter().zip(&rows) {
            value += 0.5 * r * r;
            g.iter_mut().zip(row).for_each(|(g, d)| *g += r * d);
        }
        (value, g)
    };
    let (evaluations, goal) = (task.evaluations, task.goal);
    let unknown = vec![f64::INFINITY; n];
    match task.method {
        Method::Lbfgs => {
            let s = LbfgsSettings { evaluations, goal, ..LbfgsSettings::default() };
            (lbfgs(x, bounds, &s, gradient), unknown)
        }
        Method::Adam => {
            let s = AdamSettings { evaluations, goal, ..AdamSettings::default() };
            (adam(x, bounds, &s, gradient), unknown)
        }
        Method::Cma => {
            let spread: Vec<f64> = x.iter().map(|x| 0.1 * x.abs().max(1.0)).collect();
            let s = CmaSettings { evaluations, goal, ..CmaSettings::default() };
            let mut gradient = gradient;
            (cma_es(x, &spread, bounds, &s, |x| gradient(x).0), unknown)
        }
        Method::Levenberg => {
            let directions = space.directions();
            let rows = |x: &[f64]| {
                bar.inc(1);
                let run = set.apply(system, &space.values(x)).ok().and_then(|()| {
                    Motion::run(system, set, steps, Tape::Full)
                        .ok()?
                        .sensitivities(objective, &directions)
                        .ok()
                });
                let (mut values, mut rows) = run.unwrap_or_else(|| {
                    broken.set(broken.get() + 1);
                    (vec![f64::NAN], vec![vec![f64::NAN; n]])
                });
                let (rough, more) = space.smoothness(x);
                values.extend(rough);
                rows.extend(more);
                (values, rows)
            };
            let s = LevenbergSettings { evaluations, goal, ..LevenbergSettings::default() };
            levenberg_marquardt(x, bounds, &s, rows)
        }
    }
}

fn report(
    args: &OptimizeArgs,
    out: Option<OutputDir>,
    name: &str,
    (names, truth): (&[String], &[Option<f64>]),
    (start, m, spread): (&[f64], &Minimum, &[f64]),
    history: &[(f64, f64)],
    remark: &str,
) -> Result<Outcome> {
    let fitted: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .enumerate()
        .map(|(i, n)| {
            let deviation = spread[i].is_finite().then_some(spread[i]);
            let mut entry = json!({ "start": start[i], "value": m.x[i], "deviation": deviation });
            if let Some(truth) = truth[i] {
                entry["truth"] = truth.into();
            }
            (n.clone(), entry)
        })
        .collect();
    let first = history.first().map_or(f64::NAN, |h| h.1);
    let all = json!({ "task": name, "objective": m.value, "at_start": first, "runs": history.len(),
                      "end": m.end, "remark": remark, "fitted": fitted });
    if let Some(mut out) = out {
        out.write("fitted.json", &format!("{all:#}\n"))?;
        let lines: String = history.iter().map(|(k, v)| csv_line(&[k.to_string(), csv_number(*v)])).collect();
        out.write("convergence.csv", &(csv_line(["run", "objective"]) + &lines))?;
        let mut plot = Plot::new("Best objective", "runs", "Φ");
        plot.y_scale = Scale::Log;
        plot.add("Φ", Mark::Line, history.iter().map(|(k, v)| (*k, v.max(1e-30))).collect());
        out.write("convergence.svg", &plot.to_svg())?;
        out.finish()?;
    }
    if args.json {
        print(&format!("{all:#}\n"))?;
    } else {
        let paint = Paint::for_stdout();
        let columns = ["parameter", "start", "fitted", "± deviation", "truth"];
        let shown = if truth.iter().any(Option::is_some) { 5 } else { 4 };
        let mut table = Table::with_header(&columns[..shown]);
        for (i, n) in names.iter().enumerate() {
            let deviation = if spread[i].is_finite() { number(spread[i]) } else { String::new() };
            let truth = truth[i].map_or(String::new(), number);
            let cells = [n.clone(), number(start[i]), format!("{:.8}", m.x[i]), deviation, truth];
            table.row(cells.into_iter().take(shown));
        }
        print(&format!(
            "{}\n\n{}\nobjective {} → {} in {} runs: {}\n",
            paint.bold(name),
            table.render(),
            number(first),
            number(m.value),
            history.len(),
            remark
        ))?;
    }
    let good = matches!(m.end, End::Goal | End::Stationary);
    Ok(if good { Outcome::Good } else { Outcome::Unsolved })
}
