//! `stiction grad`: derivatives of a scene's motion, checked by finite differences and Taylor's test.

use crate::args::{Prepared, SceneArgs, StepArgs};
use crate::failure::{Outcome, Result, error};
use crate::optimize::{MOST_STEPS, MOST_TAPE};
use crate::output::print;
use crate::table::{Paint, Table, number};
use clap::Args;
use serde_json::json;
use stiction::coords::{BodyId, JointId, NodeId, ShapeId, SoftId, SpringId};
use stiction::diff::{GradCheck, Objective, ParamSet, Term, check_grad, check_rollout};
use stiction::kinematics::{Kinematics, Placement};
use stiction::model::Param;
use stiction::scene::{Model, Owner};
use stiction::steppers::penalty::{Bdf, FrictionModel, System};
use stiction::{Scheme, SimSettings, Simulation, SolverKind, State, Vec3};

/// Arguments of `grad`.
#[derive(Args)]
#[command(after_help = "\
The objective is ½ Σ |x(T) − x(0)|² over the centres of all that moves. Derivatives come from the adjoint, from direct
sensitivities and from central differences at their best step. Contacts are smooth (ADD) unless --solver exact asks for the exact
laws, whose derivatives hold within a mode: where a contact opens, closes, sticks or slides within the steps of the differences,
these see a kink.

Examples:
  stiction grad box-on-plane --steps 50
  stiction grad sliding-box --solver exact --steps 20 --wrt gravity.z
  stiction grad my.toml --bdf2 --friction tanh --json")]
pub struct GradArgs {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    step: StepArgs,

    /// Steps to run
    #[arg(long, value_name = "N", default_value_t = 40)]
    steps: usize,

    /// Differentiate by this number, such as `egg.young`, `crate.velocity.x` or `friction(egg, floor)`; may be repeated. Some of
    /// each kind by default
    #[arg(long, value_name = "PARAMETER")]
    wrt: Vec<String>,

    /// Second-order backward differences instead of implicit Euler
    #[arg(long)]
    bdf2: bool,

    /// Friction model: linear, tanh or hybrid; from the scene by default
    #[arg(long, value_name = "NAME", value_parser = friction)]
    friction: Option<FrictionModel>,

    /// Normal stiffness of contacts [N/m]; from the scene by default
    #[arg(long, value_name = "K", value_parser = crate::args::positive)]
    stiffness: Option<f64>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

fn friction(name: &str) -> std::result::Result<FrictionModel, String> {
    let all = FrictionModel::ALL;
    all.into_iter()
        .find(|f| f.name() == name)
        .ok_or_else(|| "it is one of linear, tanh and hybrid".to_string())
}

/// Everything that moves, as owners.
fn movers(model: &Model) -> Vec<Owner> {
    let bodies = (0..model.bodies.len()).filter(|b| model.bodies[*b].block.is_some());
    let bodies = bodies.map(|b| Owner::Body(BodyId(b as u32)));
    let particles = (0..model.nodes.len()).filter(|n| model.nodes[*n].solid.is_none());
    let particles = particles.map(|n| Owner::Node(NodeId(n as u32)));
    let solids = (0..model.solids.len()).filter(|s| !model.solids[*s].nodes.is_empty());
    let solids = solids.map(|s| Owner::Solid(SoftId(s as u32)));
    bodies.chain(particles).chain(solids).collect()
}

/// ½ Σ |x(T) − x(0)|² over the centres of owners.
struct Travel {
    owners: Vec<Owner>,
    steps: usize,
    initial: State,
}

impl Objective for Travel {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        if step != self.steps {
            return;
        }
        let initial = Placement::of(kin.model, &self.initial);
        for owner in &self.owners {
            for n in Vec3::AXES {
                let start = Term::centre(initial.kinematics(kin.model), *owner, n, 0.0, 1.0).value;
                out.push(Term::centre(kin, *owner, n, start, 1.0));
            }
        }
    }
}

/// Numbers of smooth contacts that are checked.
fn of_contacts(system: &System) -> Vec<Param> {
    let mut all = vec![Param::ContactStiffness];
    if system.settings().damping.coefficient() > 0.0 {
        all.push(Param::ContactDamping);
    }
    let pairs = system.sites().pairs.iter().map(|p| p.friction());
    all.extend(once(pairs));
    all
}

/// Friction of the first pairs that touch in a run.
fn frictions(model: &Model, settings: SimSettings, h: f64, steps: usize) -> Result<Vec<Param>> {
    let mut sim = Simulation::new(model.clone(), settings);
    let mut all = Vec::new();
    for _ in 0..steps {
        sim.step(h).map_err(|e| error(e, REMEDY))?;
        let owner = |s: ShapeId| model.whole(model.shapes[s.index()].owner);
        all.extend(sim.contacts().map(|(c, _)| Param::friction(owner(c.key.shape_a), owner(c.key.shape_b))));
        all = once(all.into_iter());
    }
    all.retain(|p| model.value(*p).is_ok());
    Ok(all)
}

/// Each once, and no more than are checked.
fn once(all: impl Iterator<Item = Param>) -> Vec<Param> {
    let mut some: Vec<Param> = Vec::new();
    for p in all {
        if some.len() < MOST && !some.contains(&p) {
            some.push(p);
        }
    }
    some
}

/// Numbers of a scene that are checked: materials, masses, and how the first few things start.
fn parameters(model: &Model) -> Vec<Param> {
    let mut all = vec![Param::Gravity(2)];
    for (i, s) in model.solids.iter().enumerate().filter(|(_, s)| !s.tets.is_empty()).take(MOST) {
        let id = SoftId(i as u32);
        all.extend([Param::Young(id), Param::Poisson(id), Param::Density(id)]);
        if s.elements.damping().viscosity > 0.0 {
            all.push(Param::Viscosity(id));
        }
    }
    for owner in movers(model).into_iter().take(MOST) {
        if let Owner::Body(b) = owner {
            all.extend([
                Param::Mass(b),
                Param::Moment(b, 1),
                Param::Orientation(owner, 1),
                Param::Spin(owner, 1),
            ]);
        }
        all.extend([Param::Position(owner, 2), Param::Velocity(owner, 0), Param::Velocity(owner, 2)]);
    }
    let motors = model.joints.iter().enumerate().filter(|(_, j)| j.motor.is_some());
    all.extend(motors.map(|(j, _)| Param::MotorTarget(JointId(j as u32))).take(MOST));
    all.extend(
        (0..model.springs.len().min(MOST) as u32)
            .flat_map(|s| [Param::SpringStiffness(SpringId(s)), Param::SpringRest(SpringId(s))]),
    );
    all
}

/// Most of a kind that are checked.
const MOST: usize = 4;
/// What counts as right, relative to the derivative.
const RIGHT: f64 = 1e-6;
/// The same of exact contact: what poses its equations enters by differences, and both ends of a difference of whole runs
/// are solved to a tolerance.
const RIGHT_EXACT: f64 = 1e-5;
/// Tolerance of exact solves that are differentiated, unless --tol says another.
const TIGHT: f64 = 1e-12;
const REMEDY: &str = "change the scene, or choose another one";

/// Smooth contacts are differentiated in their own discretisation, exact ones in the default scheme.
fn refuse_other_solvers(args: &GradArgs) -> Result<()> {
    let step = &args.step;
    if let Some(kind) = step.solver.filter(|k| !matches!(k, SolverKind::Penalty | SolverKind::Exact)) {
        let remedy = "take `--solver exact`, or leave --solver out for smooth contacts (penalty)";
        return Err(error(format!("`grad` cannot differentiate the solver {}", kind.name()), remedy));
    }
    if step.scheme == Some(Scheme::Midpoint) {
        let e = "`grad` has backward differences of order one or two, not the midpoint scheme";
        return Err(error(e, "use --bdf2 for the second order, or leave --scheme out"));
    }
    let smooth = [
        ("--bdf2", args.bdf2),
        ("--friction", args.friction.is_some()),
        ("--stiffness", args.stiffness.is_some()),
    ];
    match smooth.iter().find(|s| s.1 && step.solver == Some(SolverKind::Exact)) {
        Some((flag, _)) => Err(error(
            format!("{flag} is of smooth contacts, and --solver exact has none"),
            format!("leave {flag} out, or --solver"),
        )),
        None => Ok(()),
    }
}

/// Checks the derivatives of a scene.
pub fn grad(args: &GradArgs) -> Result<Outcome> {
    refuse_other_solvers(args)?;
    if args.steps as u64 > MOST_STEPS {
        let e =
            format!("--steps {}: a motion that is differentiated has at most {MOST_STEPS} steps", args.steps);
        return Err(error(e, "shorten it, or take a larger --dt"));
    }
    let prepared = args.scene.prepare(&StepArgs { solver: None, scheme: None, ..args.step.clone() })?;
    let tape = (args.steps as u64).saturating_mul(prepared.model.layout.nv() as u64);
    if tape > MOST_TAPE {
        let e =
            format!("{} steps of {} unknowns are too long a tape", args.steps, prepared.model.layout.nv());
        return Err(error(e, format!("their product is at most {MOST_TAPE}: take fewer --steps")));
    }
    args.step.start_threads()?;
    let objective = Travel {
        owners: movers(&prepared.model),
        steps: args.steps,
        initial: State::clone(&prepared.model.initial),
    };
    if objective.owners.is_empty() {
        return Err(error("nothing in this scene moves", "add a free body, particle or soft body"));
    }
    let asked = args.wrt.iter().map(|text| Param::parse(&prepared.model, text));
    let asked: Vec<Param> = asked
        .collect::<std::result::Result<_, _>>()
        .map_err(|e| error(e, "`stiction grad --help` has examples of parameters"))?;
    let exact = args.step.solver == Some(SolverKind::Exact);
    let check = if exact {
        check_exact(args, &prepared, asked, &objective)?
    } else {
        check_smooth(args, &prepared, asked, &objective)?
    };
    let right = if exact { RIGHT_EXACT } else { RIGHT };
    let good = |error: f64| error < right;
    if args.json {
        let rows: Vec<_> = check
            .rows
            .iter()
            .map(|r| {
                json!({ "parameter": r.name, "value": r.value, "adjoint": r.adjoint, "direct": r.direct,
                        "difference": r.difference, "error": r.error, "taylor": r.slope, "right": good(r.error) })
            })
            .collect();
        let all = json!({ "scene": prepared.name, "objective": check.value, "steps": args.steps,
                          "residual": check.residual, "iterations": check.iterations, "rows": rows });
        print(&format!("{all:#}\n"))?;
    } else {
        let paint = Paint::for_stdout();
        let mut table = Table::with_header(&[
            "parameter",
            "value",
            "adjoint",
            "direct",
            "differences",
            "error",
            "Taylor",
            "",
        ]);
        for r in &check.rows {
            let word = if good(r.error) { paint.good("right") } else { paint.bad("off") };
            let cells = [number(r.value), format!("{:.6e}", r.adjoint), format!("{:.6e}", r.direct)];
            let more = [
                format!("{:.6e}", r.difference),
                format!("{:.0e}", r.error),
                format!("{:.1}", r.slope),
                word,
            ];
            table.row(std::iter::once(r.name.clone()).chain(cells).chain(more));
        }
        print(&format!(
            "{}\n\n{}\nobjective {:.6e} after {} steps{}\n",
            paint.bold(&prepared.name),
            table.render(),
            check.value,
            args.steps,
            match exact {
                true => " of exact contact".to_string(),
                false => format!(
                    "; {} Newton steps; largest residual {:.0e} of what was asked for",
                    check.iterations, check.residual
                ),
            }
        ))?;
    }
    let all_right = check.residual <= 1.0 && check.rows.iter().all(|r| good(r.error));
    Ok(if all_right { Outcome::Good } else { Outcome::Unsolved })
}

fn check_smooth(
    args: &GradArgs,
    prepared: &Prepared,
    asked: Vec<Param>,
    objective: &Travel,
) -> Result<GradCheck> {
    let mut settings = prepared.loaded.settings.penalty.settings(&prepared.model);
    if args.bdf2 {
        settings.scheme = Bdf::Two;
    }
    settings.friction = args.friction.unwrap_or(settings.friction);
    settings.stiffness = args.stiffness.unwrap_or(settings.stiffness);
    settings.tolerance = args.step.tol.unwrap_or(settings.tolerance);
    settings.max_iterations = args.step.max_iter.unwrap_or(settings.max_iterations);
    let mut system =
        System::new(prepared.model.clone(), settings, prepared.loaded.dt).map_err(|e| error(e, REMEDY))?;
    let list = match asked.is_empty() {
        true => [of_contacts(&system), parameters(&prepared.model)].concat(),
        false => asked,
    };
    let mut set = ParamSet::new(&system, list).map_err(|e| error(e, REMEDY))?;
    check_grad(&mut system, &mut set, args.steps, objective)
        .map_err(|e| error(e, "shorten the run, soften contacts or choose a smaller dt"))
}

fn check_exact(
    args: &GradArgs,
    prepared: &Prepared,
    asked: Vec<Param>,
    objective: &Travel,
) -> Result<GradCheck> {
    let mut settings = SimSettings { solver: SolverKind::Exact, ..prepared.loaded.settings };
    settings.solver_settings.tolerance = Some(args.step.tol.unwrap_or(TIGHT));
    let (model, h) = (&prepared.model, prepared.loaded.dt);
    let list = match asked.is_empty() {
        true => [frictions(model, settings, h, args.steps)?, parameters(model)].concat(),
        false => asked,
    };
    let sim = Simulation::new(model.clone(), settings);
    check_rollout(&sim, h, args.steps, list, objective)
        .map_err(|e| error(e, "change the scene, shorten the run or choose a smaller dt"))
}
