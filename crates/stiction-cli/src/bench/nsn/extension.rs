//! NSN-F13 and NSN-F12: material extension, and geometric stiffness on a stretched sheet.

use super::steps::{Steps, curve, paper};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::{TetMesh, shapes};
use stiction::scene::{Ease, Keyframe, Motion, NodeSelection, SoftBody};
use stiction::sim::{ElementRows, GeometricStiffness, NonlinearSettings};
use stiction::solvers::newton::{LinearMethod, NewtonSettings, Regularization, Start, StepRule};
use stiction::{Body, Geometry, Pose, Scene, Vec3};

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

fn extension(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let ratio = {
        let (lambda, mu) = (POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON)), 0.5 / (1.0 + POISSON));
        mu / (lambda + mu)
    };
    let stretches: &[f64] = if ctx.quick { &[1.5] } else { &[1.5, 2.0, 3.0] };
    for (law, name) in [(Law::StableNeoHookean, "neo-Hookean"), (Law::Corotated, "corotated")] {
        for &stretch in stretches.iter().filter(|s| law == Law::StableNeoHookean || **s <= 2.0) {
            ctx.note(&format!("{name} at {stretch}"));
            let (s, volume, tets) = middle(law, stretch)?;
            let closed = match law {
                Law::StableNeoHookean => 1.0 + ratio - ratio / s,
                _ => s * (1.0 - POISSON * (s - 1.0)).powi(2),
            };
            table.push(vec![name.to_string(), csv_number(s), csv_number(volume), csv_number(closed)]);
            rows.push(
                Row::new(
                    format!("{name}, {stretch}× ({tets} tets): V/V₀ of the middle at stretch {s:.3}"),
                    volume,
                    "",
                )
                .against(format!("{closed:.4} (homogeneous, closed form)"))
                .accept("within 2 %", (volume / closed - 1.0).abs() <= 0.02),
            );
        }
    }
    ctx.csv("volume", &["law", "stretch", "volume_ratio", "closed_form"], &table)?;
    Ok(rows)
}

/// Stretch and volume ratio of the middle section after a slow pull.
fn middle(law: Law, stretch: f64) -> Result<(f64, f64, usize)> {
    let size = Vec3::new(1.0, 0.25, 0.25);
    let cells = 12;
    let mesh = shapes::block([cells, 3, 3], size);
    let mut sim = Steps::new(&pulled(mesh, 1.0, law, stretch, 1.2, 20.0), settings(8, 100))?;
    for _ in 0..45 {
        sim.step(0.04)?;
    }
    let bar = &sim.model.solids[0];
    let x = |i: usize| sim.model.vertex_position(&sim.state, SoftId(0), i);
    let plane = |at: f64| {
        let nodes: Vec<usize> = (0..bar.rest.len()).filter(|&i| (bar.rest[i].x - at).abs() < 1e-9).collect();
        let reach = |k: usize| {
            let all = nodes.iter().map(|&i| x(i)[k]);
            all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
        };
        let mean = nodes.iter().map(|&i| x(i).x).sum::<f64>() / nodes.len() as f64;
        (mean, reach(1) / size.y, reach(2) / size.z)
    };
    let d = 1.0 / cells as f64;
    let (a, b, c) = (plane(-d), plane(0.0), plane(d));
    let along = (c.0 - a.0) / (2.0 * d);
    Ok((along, along * b.1 * b.2, bar.tets.len()))
}

fn geometric(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let mut plot = Plot::new("Stretched sheet: merit", "Newton iteration", "‖(g, h)‖₂");
    plot.y_scale = Scale::Log;
    let mut ends = Vec::new();
    for (kind, name) in [(GeometricStiffness::Particles, "with K̃"), (GeometricStiffness::Off, "without K̃")]
    {
        // Six cells across, pulled to twice its length in ten steps, then thrown sideways by its own weight.
        let mesh = shapes::sheet([8, 4], [0.8, 0.4], 0.02);
        let mut scene = pulled(mesh, 0.8, Law::StableNeoHookean, 2.0, 0.1, 0.0);
        scene.gravity = Vec3::new(0.0, 0.0, -9.81);
        let newton = NewtonSettings {
            step: StepRule::Fixed(1.0),
            regularization: Regularization::Relative(1e-12),
            ..paper(40, LinearMethod::ConjugateResidual, ctx.pick(150, 400))
        };
        let mut sim = Steps::new(
            &scene,
            NonlinearSettings {
                newton,
                geometric: kind,
                elements: ElementRows::Corotated,
                contact_compliance: 0.0,
            },
        )?;
        let mut worst: Vec<stiction::solvers::newton::Look> = Vec::new();
        let mut rises = 0;
        for _ in 0..ctx.pick(4, 14) {
            if sim.step(1.0 / 120.0).is_err() {
                break;
            }
            let looks = sim.stepper.looks();
            rises += looks
                .windows(2)
                .skip(3)
                .filter(|w| w[1].merit > w[0].merit * 1.01 && w[0].error > 1e-8)
                .count();
            worst = looks.to_vec();
        }
        for l in &worst {
            table.push(vec![
                name.to_string(),
                l.iteration.to_string(),
                csv_number(l.merit),
                csv_number(l.step),
            ]);
        }
        let first = worst.first().map_or(1.0, |l| l.merit);
        let to = worst.iter().find(|l| l.merit <= 1e-6 * first).map_or(f64::INFINITY, |l| l.iteration as f64);
        plot.add(name, Mark::Line, curve(&worst, |l| l.merit));
        let row = Row::new(format!("{name}: iterations to 1e-6 of the first merit, last step"), to, "");
        rows.push(if kind == GeometricStiffness::Particles {
            row.against("converges smoothly").at_most(40.0)
        } else {
            row.against("oscillates")
        });
        rows.push(Row::new(format!("{name}: rises of the merit in all steps"), rises as f64, ""));
        ends.push((sim.state.q.clone(), to, rises));
    }
    let off = ends[0].0.iter().zip(&ends[1].0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    rows.push(
        Row::new("end states with and without K̃, apart", off, "m")
            .against("the same: no damping is introduced")
            .because("compared only where both converge"),
    );
    let more = ends[1].2 as f64 - ends[0].2 as f64;
    let row =
        Row::new("rises of the merit, without minus with K̃", more, "").against("more without").at_least(1.0);
    rows.push(if more >= 1.0 {
        row
    } else {
        row.because("the secant changes at every iteration: it takes fewer iterations, and not monotone ones")
    });
    rows.push(
        Row::new("iterations, without over with K̃", ends[1].1 / ends[0].1, "×")
            .against("diverges or oscillates without")
            .at_least(1.0),
    );
    ctx.csv("merit", &["case", "iteration", "merit", "step"], &table)?;
    ctx.plot("merit", &plot)?;
    Ok(rows)
}
