//! Runs of Table 1: one simulation makes the contact problems; each is then solved by all methods with the same tolerances, from
//! the same guess (velocities and forces of the step before), so that detection and kernels are the same for all.

use super::super::runs::broke;
use super::super::{Context, Row};
use super::mean_median;
use std::collections::BTreeMap;
use stiction::collide::inspect;
use stiction::contact::residual::measure;
use stiction::contact::{ContactKey, ContactProblem, Solution};
use stiction::mesh::signed_volume;
use stiction::papers::cr::complementarity::{Errors, errors};
use stiction::papers::cr::ica::Ica;
use stiction::papers::cr::staggered::Staggered;
use stiction::papers::cr::{Cone, ConjugateResidual, Interval, Preconditioner, Settings, Stop};
use stiction::solvers::{ContactSolver, SolveReport};
use stiction::{Scene, SimSettings, Simulation, SolverKind, SolverSettings, Vec3};
use stiction_cli::clock::{Elapsed, Stopwatch};
use stiction_cli::failure::{Result, error};

pub const EPS1: f64 = 5e-5;
pub const EPS2: f64 = 5e-6;
/// Iterations after which a method has failed.
const MOST: usize = 5000;
/// Rounds after which staggered projections have failed.
const ROUNDS: usize = 40;
/// Tolerance of the simulation itself: a thousandth of ε₂ or less in the gaps of its steps.
const TOLERANCE: f64 = 1e-4;
/// Names of the methods, in the order of the paper's table.
pub const METHODS: [&str; 5] = ["SP active set", "SP 2×CR", "CR Diag", "ICA", "CR Full"];
/// What the ids of rows call them.
pub const METHOD_IDS: [&str; 5] = ["sp-active", "sp-cr", "cr-diag", "ica", "cr-full"];

/// How a scene is run.
pub struct Plan {
    /// Time step [s].
    pub dt: f64,
    pub steps: usize,
    /// Every how many steps the methods are compared; 0: never.
    pub every: usize,
    /// Which of them.
    pub methods: Methods,
    /// CR Full solves the problem of every step, for its complementarity error.
    pub errors: bool,
    /// The robust settings solve the compared problems to 1e-6 of the velocity scale.
    pub robust: bool,
    /// Most linearisations of elastic forces per step.
    pub linearizations: usize,
}

/// Which methods solve the problems of a run.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Methods {
    /// All five.
    #[default]
    All,
    /// ICA and CR Full.
    Fast,
    /// CR Full alone.
    Full,
}

impl Plan {
    /// Steps of one linearisation, all methods.
    pub fn new(dt: f64, steps: usize, every: usize) -> Plan {
        Plan { dt, steps, every, methods: Methods::All, errors: false, robust: false, linearizations: 1 }
    }
}

/// What a run gave.
#[derive(Default)]
pub struct Run {
    /// Iterations of each method, step by step, on the problem as it is at the end of the step.
    pub iterations: [Vec<f64>; 5],
    /// Their time on the processor [s].
    pub seconds: [Vec<f64>; 5],
    pub unsolved: [usize; 5],
    /// Errors of CR Full: of the compared problems, and of every step (`Plan::errors`), with the iterations of these.
    pub errors: Vec<Errors>,
    pub all_errors: Vec<Errors>,
    pub all_iterations: Vec<f64>,
    /// Natural map of CR Full as printed [m/s]; of the robust settings, with their iterations and 1 where they converged.
    pub natural: Vec<f64>,
    pub robust: Vec<[f64; 3]>,
    pub constraints: Vec<f64>,
    /// Iterations, contacts and linearisations of the simulation itself, step by step.
    pub steps: Vec<[f64; 3]>,
    pub nearest: f64,
    pub crossings: usize,
    pub held_steps: usize,
    pub held: f64,
    pub impacts: usize,
    pub unsolved_steps: usize,
    /// Largest difference between the gap of a contact and the one it was solved for [m].
    pub contact_error: f64,
    /// Smallest volume of a tet over the one at rest.
    pub volume: f64,
    /// Time of each stage, summed [s].
    pub times: [f64; 5],
}

/// Runs a scene with `cr`, looks at every state with the independent checker, and compares the methods.
pub fn run(ctx: &Context, scene: &Scene, plan: &Plan) -> Result<(Simulation, Run)> {
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings {
        solver: SolverKind::ConjugateResidual,
        solver_settings: SolverSettings { tolerance: Some(TOLERANCE), max_iterations: Some(3000) },
        linearizations: plan.linearizations,
        ..SimSettings::default()
    };
    let mut sim = Simulation::new(model, settings);
    let mut out = Run { nearest: f64::INFINITY, volume: 1.0, ..Run::default() };
    let mut carried: BTreeMap<ContactKey, Vec3> = BTreeMap::new();
    for step in 0..plan.steps {
        let before = sim.state().v.clone();
        let report = sim.step(plan.dt).map_err(broke)?;
        out.unsolved_steps += usize::from(!report.status.is_solved());
        out.held_steps += usize::from(report.held_back > 0.0);
        out.held = out.held.max(report.held_back);
        out.impacts += report.impacts;
        out.contact_error = out.contact_error.max(report.contact_error);
        out.steps.push([report.iterations as f64, report.contacts as f64, report.relinearized as f64]);
        for (sum, t) in out.times.iter_mut().zip(report.times.to_array()) {
            *sum += t;
        }
        let seen = inspect(sim.model(), sim.state(), 1e-3);
        out.nearest = out.nearest.min(seen.distance);
        out.crossings += seen.crossings + seen.below;
        out.volume = out.volume.min(smallest_volume(&sim));
        let p = sim.problem().expect("a velocity step");
        let is_compared = plan.every > 0 && step % plan.every == 0;
        if p.contacts() > 0 && (is_compared || plan.errors) {
            let guess = Solution {
                v: before,
                lambda: p.key.iter().map(|k| carried.get(k).copied().unwrap_or(Vec3::ZERO)).collect(),
            };
            let e = if is_compared {
                compare(p, &guess, plan, &mut out)
            } else {
                let mut answer = guess;
                let (report, e) = full(p, &mut answer);
                out.all_iterations.push(report.iterations as f64);
                e
            };
            out.all_errors.push(e);
        }
        carried = p
            .key
            .iter()
            .copied()
            .zip(sim.solution().expect("a velocity step").lambda.iter().copied())
            .collect();
        if step % 50 == 49 {
            ctx.note(&format!("step {} of {}, {} contacts", step + 1, plan.steps, p.contacts()));
        }
    }
    Ok((sim, out))
}

/// Smallest volume of a tetrahedron over the one at rest.
fn smallest_volume(sim: &Simulation) -> f64 {
    let mut least: f64 = 1.0;
    for solid in &sim.model().solids {
        let x: Vec<Vec3> = solid.vertices.iter().map(|a| sim.kinematics().position(a)).collect();
        for t in &solid.tets {
            let volume = |x: &[Vec3]| signed_volume(t.map(|k| x[k as usize]));
            least = least.min(volume(&x) / volume(&solid.rest));
        }
    }
    least
}

/// The stop test of the comparison.
///
/// ε₁ counts in units of ‖b‖: the paper calls it relative (Figure 6) and absolute (6.2), and an absolute one means something only
/// together with the masses of its objects, which it does not give (R10). Ours are grams, for which 5e-5 kg·m/s would be no demand.
fn stop(p: &ContactProblem) -> Stop {
    let size = p.b.iter().map(|b| b * b).sum::<f64>().sqrt();
    // Beyond 4 ms ε₂ grows with the step (Figure 9).
    Stop::Paper { eps1: EPS1 * size, eps2: EPS2 * (p.h / 4e-3).max(1.0) }
}

/// CR Full as printed on one problem, from the guess in `x`: its report and its complementarity errors.
fn full(p: &ContactProblem, x: &mut Solution) -> (SolveReport, Errors) {
    let mut method =
        ConjugateResidual::new(Settings { stop: stop(p), max_iterations: MOST, ..Settings::paper() });
    let report = method.solve(p, x, &mut ());
    let e = errors(p, x, |c| method.slips(c));
    (report, e)
}

/// Solves one problem by the methods; the errors of CR Full.
fn compare(p: &ContactProblem, guess: &Solution, plan: &Plan, out: &mut Run) -> Errors {
    let (stop, which) = (stop(p), plan.methods);
    let printed = Settings { stop, max_iterations: MOST, ..Settings::paper() };
    let diag = Settings { preconditioner: Preconditioner::Diag, cone: Cone::Pyramid, ..printed };
    let mut answer = guess.clone();
    let mut note = |k: usize, report: SolveReport, took: Elapsed| {
        out.iterations[k].push(report.iterations as f64);
        out.seconds[k].push(took.cpu.unwrap_or(took.wall));
        out.unsolved[k] += usize::from(!report.status.is_solved());
    };
    for k in 0..4 {
        let mut method: Box<dyn ContactSolver> = match k {
            _ if which == Methods::Full => break,
            0..3 if which == Methods::Fast => continue,
            0 => Box::new(Staggered::new(stop, Interval::AtConvergence, MOST, ROUNDS)),
            1 => Box::new(Staggered::new(stop, printed.interval, MOST, ROUNDS)),
            2 => Box::new(ConjugateResidual::new(diag)),
            _ => Box::new(Ica::new(stop, MOST)),
        };
        answer.clone_from(guess);
        let watch = Stopwatch::start();
        let report = method.solve(p, &mut answer, &mut ());
        note(k, report, watch.elapsed());
    }
    answer.clone_from(guess);
    let watch = Stopwatch::start();
    let (report, e) = full(p, &mut answer);
    let iterations = report.iterations as f64;
    note(4, report, watch.elapsed());
    out.all_iterations.push(iterations);
    out.natural.push(measure(p, &answer).natural);
    if plan.robust {
        answer.clone_from(guess);
        let report = ConjugateResidual::new(Settings::robust()).solve(p, &mut answer, &mut ());
        let solved = f64::from(report.status.is_solved());
        out.robust.push([measure(p, &answer).natural, report.iterations as f64, solved]);
    }
    out.errors.push(e);
    out.constraints.push(3.0 * p.contacts() as f64);
    e
}

impl Run {
    /// What every scene has to show: no intersection at any step, and no body held back for more than a moment.
    pub fn safety(&self, id: &str, what: &str) -> Vec<Row> {
        let n = self.steps.len().max(1) as f64;
        let mean = |k: usize| self.steps.iter().map(|s| s[k]).sum::<f64>() / n;
        let row = |quantity: &str, name: &str, x: f64, unit: &'static str| {
            Row::new(format!("{id}/{quantity}"), format!("{what}: {name}"), x, unit)
        };
        let most = self.steps.iter().map(|s| s[1]).fold(0.0, f64::max);
        vec![
            row("crossings", "crossings over all steps", self.crossings as f64, "").against("0").at_most(0.0),
            row("distance", "smallest distance", self.nearest, "m").accept("> 0", self.nearest > 0.0),
            row("contacts", "most contacts", most, ""),
            row("iterations", "iterations per step, all solves", mean(0), ""),
            row("relinearized", "contacts linearised anew, per step", mean(2), ""),
            row("impacts", "impacts that became contacts", self.impacts as f64, ""),
            row("contact-error", "largest error of a pushing contact", self.contact_error, "m"),
            row("held-back-steps", "steps in which bodies were held back", self.held_steps as f64, ""),
            row("unsolved-steps", "steps above a yardstick of 1e-4", self.unsolved_steps as f64, ""),
            row("time", "time per step", 1e3 * self.times.iter().sum::<f64>() / n, "ms"),
        ]
    }

    /// Mean iterations of each method.
    pub fn means(&self) -> [f64; 5] {
        [0, 1, 2, 3, 4].map(|k| mean_median(&self.iterations[k]).0)
    }
}
