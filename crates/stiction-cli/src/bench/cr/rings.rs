//! The rings of Table 1: a pile of soft rings, and every method on the contact problems of its steps.
//!
//! One simulation makes the problems; each is then solved by all methods with the same tolerances, from the same guess
//! (velocities and forces of the step before), so that detection and kernels are the same for all.

use super::super::runs::{GRAVITY, broke};
use super::super::{Context, Experiment, Row};
use super::mean_median;
use crate::failure::{Result, error};
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use std::collections::BTreeMap;
use stiction::collide::inspect;
use stiction::contact::samples::Rng;
use stiction::contact::{ContactKey, ContactProblem, Solution};
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::scene::SoftBody;
use stiction::solvers::ContactSolver;
use stiction::solvers::cr::complementarity::{Errors, errors};
use stiction::solvers::cr::ica::Ica;
use stiction::solvers::cr::staggered::Staggered;
use stiction::solvers::cr::{Cone, ConjugateResidual, Interval, Preconditioner, Settings, Stop};
use stiction::{Body, Geometry, Pose, Quat, Scene, SimSettings, Simulation, SolverKind, Vec3};

/// Rings of 5e5 Pa, with the errors of Figure 13 and the iterations of Figure 11.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-T1-rings",
    title: "a pile of rings: iterations of all methods, intersections, complementarity",
    claim: "iterations SP 1546, SP 2×CR 814, CR Diag 451, ICA 180, CR Full 97; no intersection; errors below ε₁ and ε₂",
    run: soft,
};

/// The same rings, ten times as stiff.
pub const STIFF: Experiment = Experiment {
    id: "CR-T1-ringsstiff",
    title: "the same rings, ten times as stiff",
    claim: "iterations grow 1.6× for CR Full, 3.6× for ICA, 2.2× for SP",
    run: stiff,
};

const DT: f64 = 1e-3;
const EPS1: f64 = 5e-5;
const EPS2: f64 = 5e-6;
/// Iterations after which a method has failed.
const MOST: usize = 20_000;
/// Names of the methods, in the order of the paper's table.
const METHODS: [&str; 5] = ["SP active set", "SP 2×CR", "CR Diag", "ICA", "CR Full"];

/// Rings in staggered layers over a floor, tilted at random, that fall on each other.
pub fn scene(count: usize, young: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -GRAVITY), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.5));
    let material = Material { law: Law::Corotated, young, poisson: 0.2, density: 1000.0 };
    let mut rng = Rng::new(17);
    let side = ((count as f64 / 4.0).cbrt().ceil() as usize).max(1);
    for k in 0..count {
        let (layer, cell) = (k / (side * side), k % (side * side));
        let (i, j) = (cell % side, cell / side);
        let mut ring = SoftBody::new(format!("ring-{k}"), shapes::ring(0.05, 0.015, 18), material);
        // Every layer is shifted by a third of a ring, so that each lies on two or more.
        let shift = 0.035 * (layer % 3) as f64;
        let at =
            Vec3::new(0.128 * i as f64 + shift, 0.128 * j as f64 + 0.5 * shift, 0.013 + 0.028 * layer as f64);
        let tilt = Quat::from_axis_angle(Vec3::new(rng.normal(), rng.normal(), 0.0).normalize(), 0.04);
        ring.pose = Pose { translation: at, rotation: tilt };
        ring.velocity = Vec3::new(0.0, 0.0, -0.3);
        ring.friction = 0.5;
        scene.solids.push(ring);
    }
    scene
}

/// What a run gave.
struct Pile {
    /// Iterations of each method, step by step.
    iterations: [Vec<f64>; 5],
    unsolved: [usize; 5],
    errors: Vec<Errors>,
    constraints: Vec<f64>,
    nearest: f64,
    crossings: usize,
    held_back: usize,
    unsolved_steps: usize,
}

fn pile(ctx: &Context, count: usize, young: f64, steps: usize, every: usize) -> Result<Pile> {
    let model = scene(count, young)
        .compile()
        .map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings {
        solver: SolverKind::ConjugateResidual,
        intersection_free: true,
        ..SimSettings::default()
    };
    let mut sim = Simulation::new(model, settings);
    let mut out = Pile {
        iterations: Default::default(),
        unsolved: [0; 5],
        errors: Vec::new(),
        constraints: Vec::new(),
        nearest: f64::INFINITY,
        crossings: 0,
        held_back: 0,
        unsolved_steps: 0,
    };
    let mut carried: BTreeMap<ContactKey, Vec3> = BTreeMap::new();
    for step in 0..steps {
        let before = sim.state().v.clone();
        let report = sim.step(DT).map_err(broke)?;
        out.unsolved_steps += usize::from(!report.status.is_solved());
        out.held_back += usize::from(report.held_back > 0.0);
        let seen = inspect(sim.model(), sim.state(), 1e-3);
        out.nearest = out.nearest.min(seen.distance);
        out.crossings += seen.crossings + seen.below;
        let p = sim.problem();
        if step % every == 0 && p.contacts() > 0 {
            let guess = Solution {
                v: before,
                lambda: p.key.iter().map(|k| carried.get(k).copied().unwrap_or(Vec3::ZERO)).collect(),
            };
            compare(p, &guess, &mut out);
        }
        carried = p.key.iter().copied().zip(sim.solution().lambda.iter().copied()).collect();
        if step % 50 == 49 {
            ctx.note(&format!("step {} of {steps}, {} contacts", step + 1, p.contacts()));
        }
    }
    Ok(out)
}

/// Solves one problem by all methods.
fn compare(p: &ContactProblem, guess: &Solution, out: &mut Pile) {
    let stop = Stop::Paper { eps1: EPS1, eps2: EPS2 };
    let full = Settings { max_iterations: MOST, ..Settings::paper() };
    let diag = Settings { preconditioner: Preconditioner::Diag, cone: Cone::Pyramid, ..full };
    let mut methods: [Box<dyn ContactSolver>; 5] = [
        Box::new(Staggered::new(stop, Interval::AtConvergence, MOST, 100)),
        Box::new(Staggered::new(stop, full.interval, MOST, 100)),
        Box::new(ConjugateResidual::new(diag)),
        Box::new(Ica::new(stop, MOST)),
        Box::new(ConjugateResidual::new(full)),
    ];
    let mut answer = guess.clone();
    for (k, method) in methods.iter_mut().enumerate() {
        answer.clone_from(guess);
        let report = method.solve(p, &mut answer, &mut ());
        out.iterations[k].push(report.iterations as f64);
        out.unsolved[k] += usize::from(!report.status.is_solved());
    }
    // The last is CR Full.
    out.errors.push(errors(p, &answer));
    out.constraints.push(3.0 * p.contacts() as f64);
}

/// Most rings of a quick and of a full run, steps, and how often methods are compared.
fn size(ctx: &Context) -> (usize, usize, usize) {
    ctx.pick((8, 60, 4), (40, 300, 10))
}

fn soft(ctx: &mut Context) -> Result<Vec<Row>> {
    let (count, steps, every) = size(ctx);
    let run = pile(ctx, count, 5e5, steps, every)?;
    let paper = ["1546 (780)", "814 (728)", "451 (340)", "180 (134)", "97 (76)"];
    let mut rows = Vec::new();
    let mut plot = Plot::new("Iterations per step", "step", "iterations");
    plot.y_scale = Scale::Log;
    let mut mean = [0.0; 5];
    for (k, name) in METHODS.iter().enumerate() {
        let (average, median) = mean_median(&run.iterations[k]);
        mean[k] = average;
        rows.push(Row::new(format!("{name}: mean iterations"), average, "").against(paper[k]));
        rows.push(Row::new(format!("{name}: median iterations"), median, ""));
        rows.push(Row::new(format!("{name}: steps that did not converge"), run.unsolved[k] as f64, ""));
        let curve = run.iterations[k].iter().enumerate().map(|(i, n)| ((i * every) as f64, n.max(0.5)));
        plot.add(name, Mark::Line, curve.collect());
    }
    ctx.plot("iterations", &plot)?;
    let cells: Vec<Vec<String>> = (0..run.constraints.len())
        .map(|i| {
            let counts = (0..5).map(|k| run.iterations[k][i]);
            let e = run.errors[i];
            let rest = [run.constraints[i], e.normal, e.stick, e.slip];
            [(i * every) as f64].into_iter().chain(counts).chain(rest).map(csv_number).collect()
        })
        .collect();
    let header = [
        "step",
        "sp_active",
        "sp_cr",
        "cr_diag",
        "ica",
        "cr_full",
        "constraints",
        "fb_normal",
        "fb_stick",
        "fb_slip",
    ];
    ctx.csv("steps", &header, &cells)?;
    let full = mean[4];
    let small = if ctx.quick {
        "eight rings whose contacts are carried over from step to step; run without --quick"
    } else {
        ""
    };
    rows.push(Row::new("CR Diag / CR Full", mean[2] / full, "×").against("4.6").at_least(3.0).because(small));
    rows.push(Row::new("ICA / CR Full", mean[3] / full, "×").against("1.9").at_least(1.0));
    rows.push(Row::new("SP / CR Full", mean[0] / full, "×").against("16").at_least(5.0).because(small));
    let ordered = mean.windows(2).all(|w| w[0] > w[1]);
    rows.push(
        Row::remark(
            "order SP > SP 2×CR > CR Diag > ICA > CR Full",
            if ordered { "kept" } else { "not kept" },
        )
        .accept("kept", ordered),
    );
    rows.push(
        Row::new("mean constraints", mean_median(&run.constraints).0, "").against("2280 with 120 rings"),
    );
    // Intersections, by the checker that shares no code with detection.
    rows.push(Row::new("crossings over all steps", run.crossings as f64, "").against("0").at_most(0.0));
    rows.push(Row::new("smallest distance", run.nearest, "m").accept("> 0", run.nearest > 0.0));
    rows.push(Row::new("steps that were held back", run.held_back as f64, ""));
    rows.push(Row::new("steps above the yardstick's tolerance", run.unsolved_steps as f64, ""));
    // Figure 13.
    let share = |f: &dyn Fn(&Errors) -> bool| {
        run.errors.iter().filter(|e| f(e)).count() as f64 / run.errors.len().max(1) as f64 * 100.0
    };
    let within = share(&|e| e.normal < EPS1 && e.stick < EPS1);
    rows.push(
        Row::new("steps with normal and static errors below ε₁", within, "%")
            .against("generally")
            .at_least(95.0),
    );
    let within = share(&|e| e.slip < EPS2);
    rows.push(
        Row::new("steps with kinetic errors below ε₂", within, "%").against("generally").at_least(95.0),
    );
    Ok(rows)
}

fn stiff(ctx: &mut Context) -> Result<Vec<Row>> {
    let (count, steps, every) = size(ctx);
    let (soft, hard) = (pile(ctx, count, 5e5, steps, every)?, pile(ctx, count, 5e6, steps, every)?);
    let mut rows = Vec::new();
    let paper = ["2.2", "–", "–", "3.6", "1.6"];
    for (k, name) in METHODS.iter().enumerate() {
        let growth = mean_median(&hard.iterations[k]).0 / mean_median(&soft.iterations[k]).0;
        let row = Row::new(format!("{name}: growth of iterations"), growth, "×").against(paper[k]);
        rows.push(match k {
            3 => row.at_least(2.0),
            4 => row.at_most(2.0),
            _ => row,
        });
    }
    rows.push(Row::new("crossings over all steps", hard.crossings as f64, "").at_most(0.0));
    Ok(rows)
}
