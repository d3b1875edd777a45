//! NSN-F13 and NSN-F12: material extension, and geometric stiffness on a stretched sheet.

use super::steps::{H, Steps, curve, paper};
use crate::{Context, Experiment, Row};
use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::kinematics::Placement;
use stiction::mesh::{TetMesh, shapes};
use stiction::papers::nsn::solve::{
    LinearMethod, Look, NewtonSettings, Regularization, Start, StepRule, SystemForm,
};
use stiction::papers::nsn::{ElementRows, GeometricStiffness, NonlinearSettings};
use stiction::scene::{Ease, Keyframe, Motion, NodeSelection, SoftBody};
use stiction::{Body, Geometry, Pose, Scene, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// Fig. 13.
pub const EXTENSION: Experiment = Experiment {
    id: "NSN-F13",
    title: "a bar of E 0.1 MPa, ν 0.45 is pulled: linear and stable neo-Hookean material in compliance form",
    claim: "Macklin et al. 2019, Fig. 13: linear models lose volume at large strains, hyperelastic ones resist",
    run: extension,
};

/// Fig. 12.
pub const GEOMETRIC: Experiment = Experiment {
    id: "NSN-F12",
    title: "merit over the Newton iterations of a stretched sheet, with and without geometric stiffness",
    claim: "Macklin et al. 2019, Fig. 12: without it the iterates overshoot and oscillate at large strains",
    run: geometric,
};

const POISSON: f64 = 0.45;
/// Steps of a slow pull with six strains [s].
const SLOW: f64 = 0.04;
/// Halvings of a step that a line search tries.
const SHORTEST: usize = 8;
/// Thickness of the sheet [m]: one layer of cubes. The paper gives none; chosen after seeing what a thin one does, whose rows
/// stand beside.
const THICK: f64 = 0.1;
const THIN: f64 = 0.02;
/// Why the merit of full steps and of thin sheets rises.
const NO_DESCENT: &str = "a step along the diagonal secant is no descent direction of ‖(g, h)‖: line searches down \
     to 1/256 of it find no smaller value (rows below). The secant says what force changed on a dof, whatever dof moved it: in a \
     sheet five times thinner than its cells that is mostly another one";

/// A solid pinned on its left, its right end carried to `stretch` times its length within `time`.
pub fn pulled(mesh: TetMesh, length: f64, law: Law, stretch: f64, time: f64, damping: f64) -> Scene {
    let material = Material { law, young: 1e5, poisson: POISSON, density: 1000.0 };
    let end = |side: f64| NodeSelection::Box {
        min: Vec3::new(0.5 * length * side - 1e-9, -1.0, -1.0),
        max: Vec3::new(0.5 * length * side + 1e-9, 1.0, 1.0),
    };
    let at = |x: f64| Pose::from_translation(Vec3::new(x, 0.0, 0.0));
    let mut clamp = Body::new("clamp", Geometry::Sphere { radius: 0.01 });
    clamp.motion = Motion::Keyframes {
        keys: vec![
            Keyframe { time: 0.0, pose: at(0.0) },
            Keyframe { time, pose: at(length * (stretch - 1.0)) },
        ],
        ease: Ease::Smooth,
    };
    let mut bar = SoftBody::new("bar", mesh, material).pinned(end(-1.0)).attached(end(1.0), "clamp");
    bar.damping = Damping { mass: damping, ..Damping::default() };
    bar.collide = false;
    Scene { bodies: vec![clamp], solids: vec![bar], ..Scene::default() }
}

fn settings(n: usize, l: usize) -> NonlinearSettings {
    let newton = NewtonSettings {
        start: Start::Warm,
        tolerance: 1e-6,
        regularization: Regularization::Relative(1e-9),
        ..paper(n, LinearMethod::ConjugateResidual, l)
    };
    NonlinearSettings { newton, ..NonlinearSettings::default() }
}

const LONG: &str = "neo-Hookean, three stretches, PCR 8×100 in steps of 0.04 s";

/// Pulls of a bar.
struct Bar {
    /// Part of the names of its rows.
    id: &'static str,
    law: Law,
    name: &'static str,
    settings: NonlinearSettings,
    step: f64,
}

fn extension(ctx: &mut Context) -> Result<Vec<Row>> {
    // Three stretches hold in the paper's steps, with exact solves, not in the longer ones that are enough for six strains.
    let three = Way::paper(GeometricStiffness::Particles).settings();
    let newton = NewtonSettings { start: Start::Warm, tolerance: 1e-6, ..three.newton };
    let three = NonlinearSettings { newton, ..three };
    let six = settings(8, 100);
    let long = NonlinearSettings { elements: ElementRows::Principal, ..six };
    let (hyper, linear) = (Law::StableNeoHookean, Law::Corotated);
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let mut plot = Plot::new("A pulled bar: volume of its middle", "stretch", "V/V₀");
    for bar in [
        Bar {
            id: "neo-hookean-three-stretches",
            law: hyper,
            name: "neo-Hookean, three stretches (9.2.2)",
            settings: three,
            step: H,
        },
        Bar { id: "neo-hookean-three-stretches-pcr", law: hyper, name: LONG, settings: long, step: SLOW },
        Bar {
            id: "neo-hookean-six-strains",
            law: hyper,
            name: "neo-Hookean, six strains",
            settings: six,
            step: SLOW,
        },
        Bar { id: "corotated", law: linear, name: "corotated", settings: six, step: SLOW },
    ] {
        let mut points = Vec::new();
        // Pulled to 2.75 times its length, the middle of a linear bar is at three times its own.
        let stretches: &[f64] = match (ctx.quick, bar.law) {
            (true, _) => &[1.5],
            (false, Law::Corotated) => &[1.5, 2.0, 2.75, 3.0],
            (false, _) => &[1.5, 2.0, 3.0],
        };
        for &stretch in stretches {
            ctx.note(&format!("{} at {stretch}", bar.name));
            let id = format!("{}/pull-{stretch}/volume", bar.id);
            let m = middle(&bar, stretch)?;
            let (s, closed) = (m.stretch, homogeneous(bar.law, m.stretch));
            if !(s > 0.0 && s < 2.0 * stretch) {
                let what = format!("{}, {stretch}×: V/V₀ of the middle", bar.name);
                let row = Row::new(id, what, f64::NAN, "").because("it flies apart");
                rows.push(if bar.name == LONG { row } else { row.accept("within 2 %", false) });
                continue;
            }
            points.push((s, m.volume));
            let numbers = [s, m.volume, closed].map(csv_number);
            table.push([bar.name.to_string()].into_iter().chain(numbers).collect());
            let row = Row::new(
                id,
                format!("{}, {stretch}× ({} tets): V/V₀ of the middle at stretch {s:.3}", bar.name, m.tets),
                m.volume,
                "",
            )
            .against(format!("{closed:.4} (homogeneous, closed form)"));
            let collapse = 1.0 + 1.0 / POISSON;
            rows.push(if bar.name == LONG {
                row
            } else if bar.law == linear && s >= collapse {
                row.because(format!(
                    "beyond 1 + 1/ν = {collapse:.3} a linear bar is thinner than nothing: the closed form is none"
                ))
            } else {
                let met = (m.volume / closed - 1.0).abs() <= 0.02;
                let row = row.accept("within 2 %", met);
                if bar.law == linear && !met { row.because(steepness(s)) } else { row }
            });
        }
        plot.add(bar.name, Mark::Dots, points);
    }
    for (law, name) in [(hyper, "neo-Hookean, closed form"), (linear, "corotated, closed form")] {
        let stretches = (0..=111).map(|k| 1.0 + 0.02 * k as f64);
        plot.add(name, Mark::Line, stretches.map(|s| (s, homogeneous(law, s))).collect());
    }
    ctx.csv("volume", &["law", "stretch", "volume_ratio", "closed_form"], &table)?;
    ctx.plot("volume", &plot)?;
    Ok(rows)
}

/// How much the closed form of a linear bar asks of the measured stretch.
fn steepness(s: f64) -> String {
    let fall = 1.0 - homogeneous(Law::Corotated, 1.01 * s) / homogeneous(Law::Corotated, s);
    format!("here the closed form falls by {:.0} % per % of stretch", 100.0 * fall)
}

/// V/V₀ of a bar that is pulled to `s` times its length and free across.
fn homogeneous(law: Law, s: f64) -> f64 {
    let (lambda, mu) = (POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON)), 0.5 / (1.0 + POISSON));
    let ratio = mu / (lambda + mu);
    match law {
        Law::StableNeoHookean => 1.0 + ratio - ratio / s,
        _ => s * (1.0 - POISSON * (s - 1.0)).powi(2),
    }
}

/// The middle section after a slow pull.
struct Middle {
    stretch: f64,
    /// V/V₀.
    volume: f64,
    tets: usize,
}

fn middle(how: &Bar, stretch: f64) -> Result<Middle> {
    let size = Vec3::new(1.0, 0.25, 0.25);
    let cells = 12;
    let mesh = shapes::block([cells, 3, 3], size);
    let mut sim = Steps::new(&pulled(mesh, 1.0, how.law, stretch, 1.2, 20.0), how.settings)?;
    for _ in 0..(1.8 / how.step).round() as usize {
        sim.step(how.step)?;
    }
    let bar = &sim.model.solids[0];
    let x =
        |i: usize| Placement::of(&sim.model, &sim.state).kinematics(&sim.model).vertex_position(SoftId(0), i);
    // The two layers of cells about the middle.
    let d = 1.0 / cells as f64;
    let plane = |at: f64| {
        let nodes: Vec<usize> = (0..bar.rest.len()).filter(|&i| (bar.rest[i].x - at).abs() < 1e-9).collect();
        nodes.iter().map(|&i| x(i).x).sum::<f64>() / nodes.len() as f64
    };
    let inside = |t: &&[u32; 4]| t.iter().all(|&i| bar.rest[i as usize].x.abs() < d + 1e-9);
    let volume = |at: &dyn Fn(usize) -> Vec3| -> f64 {
        let tets = bar.tets.iter().filter(inside).map(|t| t.map(|i| at(i as usize)));
        tets.map(|[a, b, c, e]| (b - a).cross(c - a).dot(e - a)).sum()
    };
    let stretch = (plane(d) - plane(-d)) / (2.0 * d);
    let volume = volume(&x) / volume(&|i| bar.rest[i]);
    Ok(Middle { stretch, volume, tets: bar.tets.len() })
}

/// A sheet of some thickness that is pulled to `stretch` times its length within `time` seconds, under its own weight.
fn sheet(thickness: f64, (stretch, time): (f64, f64)) -> Scene {
    let mesh = shapes::sheet([8, 4], [0.8, 0.4], thickness);
    let mut scene = pulled(mesh, 0.8, Law::StableNeoHookean, stretch, time, 0.0);
    scene.gravity = Vec3::new(0.0, 0.0, -9.81);
    scene
}

/// Settings of a pull: with or without K̃, by three stretches per element (9.2.2) or six strains, with so long Newton steps.
#[derive(Clone, Copy)]
struct Way {
    geometric: GeometricStiffness,
    elements: ElementRows,
    step: StepRule,
}

impl Way {
    /// As the paper: three stretches, ¾ of each step.
    const fn paper(geometric: GeometricStiffness) -> Way {
        Way { geometric, elements: ElementRows::Principal, step: StepRule::Fixed(0.75) }
    }

    /// With exact linear solves of (64).
    fn settings(self) -> NonlinearSettings {
        let newton = NewtonSettings {
            step: self.step,
            regularization: Regularization::Relative(1e-12),
            form: SystemForm::Stiffness,
            ..paper(40, LinearMethod::Llt, 0)
        };
        let Way { geometric, elements, .. } = self;
        NonlinearSettings { newton, geometric, elements, ..NonlinearSettings::default() }
    }
}

/// What a pull of the sheet took.
#[derive(Default)]
struct Pull {
    /// Most iterations to 1e-6 of the first merit in a step; infinite where it is not reached in 40.
    most: f64,
    steps: usize,
    /// Rises of the merit, and steps in which it rises.
    rises: usize,
    rising: usize,
    /// Iterations before 1e-6 is reached, and those whose line search found no shorter step with a smaller merit.
    searches: usize,
    stalls: usize,
    last: Vec<Look>,
}

impl Pull {
    /// Takes one more step; true where it does not arrive.
    fn step(&mut self, sim: &mut Steps) -> bool {
        let ended = sim.step(H).is_err();
        let looks = sim.stepper.looks();
        let first = looks.first().map_or(1.0, |l| l.merit);
        let to = looks.iter().find(|l| l.merit <= 1e-6 * first).map_or(f64::INFINITY, |l| l.iteration as f64);
        let before = looks.windows(2).filter(|w| w[0].merit > 1e-6 * first);
        let count = before.clone().filter(|w| w[1].merit > w[0].merit).count();
        let shortest = 0.5f64.powi(SHORTEST as i32);
        self.most = self.most.max(if ended { f64::INFINITY } else { to });
        self.steps += 1;
        self.rises += count;
        self.rising += usize::from(count > 0);
        self.searches += before.clone().count();
        self.stalls += before.filter(|w| w[1].share <= shortest && w[1].merit >= w[0].merit).count();
        self.last = looks.to_vec();
        self.most.is_infinite()
    }
}

/// Pulls the sheet in some way until it breaks.
fn pull(thickness: f64, (stretch, time): (f64, f64), way: Way) -> Result<(Pull, Steps)> {
    let mut sim = Steps::new(&sheet(thickness, (stretch, time)), way.settings())?;
    let mut done = Pull::default();
    for _ in 0..(1.1 * time / H).round() as usize {
        if done.step(&mut sim) {
            break;
        }
    }
    Ok((done, sim))
}

fn geometric(ctx: &mut Context) -> Result<Vec<Row>> {
    use GeometricStiffness::{Off, Particles};
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let mut plot = Plot::new("Stretched sheet: merit", "Newton iteration", "‖(g, h)‖₂");
    plot.y_scale = Scale::Log;
    for (stretch, time) in [(1.5, 0.2), (3.0, 0.3)] {
        let id = format!("stretch-{stretch}");
        let (with, stretched) = pull(THICK, (stretch, time), Way::paper(Particles))?;
        rows.push(
            Row::new(
                format!("{id}/with-k/iterations"),
                format!("{stretch}×, with K̃: iterations to 1e-6 of the first merit, most"),
                with.most,
                "",
            )
            .against("converges")
            .at_most(20.0),
        );
        let what = format!("{stretch}×, with K̃: rises of the merit in {} steps", with.steps);
        rows.push(
            Row::new(format!("{id}/with-k/rises"), what, with.rises as f64, "")
                .against("monotone")
                .at_most(0.0),
        );
        // One step more without it, from there.
        let mut off = Steps::new(&sheet(THICK, (stretch, time)), Way::paper(Off).settings())?;
        off.state = stretched.state.clone();
        let mut without = Pull::default();
        without.step(&mut off);
        rows.push(
            Row::new(
                format!("{id}/one-step-without-k/iterations"),
                format!("{stretch}×, one step without K̃: iterations to 1e-6 of the first merit"),
                without.most,
                "",
            )
            .against("oscillates at large strains")
            .accept("not in 40", without.most.is_infinite()),
        );
        let what = format!("{stretch}×, one step without K̃: rises of the merit");
        rows.push(
            Row::new(format!("{id}/one-step-without-k/rises"), what, without.rises as f64, "")
                .against("oscillates at large strains")
                .at_least(3.0),
        );
        for (name, done) in [("with K̃", &with), ("without K̃", &without)] {
            for l in &done.last {
                let numbers = [l.merit, l.step].map(csv_number);
                let words = [stretch.to_string(), name.to_string(), l.iteration.to_string()];
                table.push(words.into_iter().chain(numbers).collect());
            }
            plot.add(&format!("{stretch}×, {name}"), Mark::Line, curve(&done.last, |l| l.merit));
        }
        // Without K̃ three stretches do not arrive; six strains, whose rows turn with the element, do, at the same state.
        let six = Way { elements: ElementRows::Corotated, ..Way::paper(Off) };
        let (other, end) = pull(THICK, (stretch, time), six)?;
        let what = format!("{stretch}×, six strains, without K̃: iterations to 1e-6, most");
        rows.push(Row::new(format!("{id}/six-strains-without-k/iterations"), what, other.most, ""));
        let apart =
            stretched.state.q.iter().zip(&end.state.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        rows.push(
            Row::new(
                format!("{id}/end-states-apart"),
                format!("{stretch}×: end states with K̃, and of six strains without, apart"),
                apart,
                "m",
            )
            .against("the same: no damping is introduced")
            .at_most(1e-6),
        );
        // Full steps, and a thin sheet.
        let six = Way { elements: ElementRows::Corotated, ..Way::paper(Particles) };
        let full = |way: Way| Way { step: StepRule::Fixed(1.0), ..way };
        for (part, name, thickness, way) in [
            ("full-steps-with-k", "full steps, with K̃", THICK, full(Way::paper(Particles))),
            ("thin-with-k", "2 cm thick, with K̃", THIN, Way::paper(Particles)),
            ("thin-without-k", "2 cm thick, without K̃", THIN, Way::paper(Off)),
            (
                "thin-six-strains-full-steps-with-k",
                "2 cm thick, six strains, full steps, with K̃",
                THIN,
                full(six),
            ),
            (
                "thin-six-strains-full-steps-without-k",
                "2 cm thick, six strains, full steps, without K̃",
                THIN,
                full(Way { geometric: Off, ..six }),
            ),
        ] {
            let (done, _) = pull(thickness, (stretch, time), way)?;
            let row = Row::new(
                format!("{id}/{part}/iterations"),
                format!("{stretch}×, {name}: iterations to 1e-6, most"),
                done.most,
                "",
            );
            rows.push(row);
            let what = format!("{stretch}×, {name}: steps of {} in which the merit rises", done.steps);
            let row = Row::new(format!("{id}/{part}/rising-steps"), what, done.rising as f64, "");
            rows.push(if way.geometric == Particles && done.rising > 0 {
                row.because(NO_DESCENT)
            } else {
                row
            });
        }
        // Is the step a descent direction at all? The line search of 8.1 asks.
        let (search, _) = pull(THIN, (stretch, time), Way { step: StepRule::LineSearch(SHORTEST), ..six })?;
        let what = format!(
            "{stretch}×, 2 cm thick, six strains, with K̃: line searches that find no smaller merit, of {}",
            search.searches
        );
        rows.push(Row::new(format!("{id}/thin-six-strains-with-k/stalls"), what, search.stalls as f64, ""));
    }
    ctx.csv("merit", &["stretch", "case", "iteration", "merit", "step"], &table)?;
    ctx.plot("merit", &plot)?;
    Ok(rows)
}
