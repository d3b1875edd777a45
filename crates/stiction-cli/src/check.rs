//! `stiction check`: validate a scene and explain it.

use crate::args::{SceneArgs, StepArgs};
use crate::failure::{Outcome, Result};
use crate::output::print;
use crate::table::{Paint, Table, duration, number};
use clap::Args;
use serde_json::json;
use stiction::scene::{Motion, Owner};
use stiction::{Model, Vec3, collide};

/// Arguments of `check`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction check my.toml
  stiction check pile --json")]
pub struct CheckArgs {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    step: StepArgs,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// What a scene consists of.
#[derive(Default)]
struct Counts {
    free: usize,
    fixed: usize,
    kinematic: usize,
    lightest: Option<f64>,
    heaviest: Option<f64>,
    total: f64,
}

/// Overlaps shown by name; the rest is counted.
const SHOWN: usize = 8;

/// Runs of more steps than this are most likely a slip.
const MANY_STEPS: f64 = 1e8;

/// Checks a scene.
pub fn check(args: &CheckArgs) -> Result<Outcome> {
    let prepared = args.scene.prepare(&args.step)?;
    args.step.start_threads()?;
    let (model, loaded) = (&prepared.model, &prepared.loaded);
    let counts = count(model);
    let size = smallest_size(model);
    let mut overlaps: Vec<(String, f64)> = collide::overlaps(model, &model.initial)
        .iter()
        .map(|o| (format!("{} – {}", owner_name(model, o.a), owner_name(model, o.b)), o.depth))
        .collect();
    overlaps.sort_by(|a, b| b.1.total_cmp(&a.1));
    let time_scale = shortest_time(model, size);
    let mut warnings = model.warnings.clone();
    if let Some((pair, depth)) = overlaps.first() {
        warnings.push(format!(
            "{} pair(s) overlap at the start, the deepest by {} m ({pair}); they are pushed apart at up to {} m/s",
            overlaps.len(),
            number(*depth),
            number(model.contact.recovery_speed)
        ));
    }
    if let Some(t) = time_scale.filter(|t| loaded.dt > *t) {
        warnings.push(format!(
            "dt {} s is longer than the shortest time scale, {}: bodies move by more than their size in a step",
            number(loaded.dt),
            duration(t)
        ));
    }

    let steps = loaded.duration / loaded.dt;
    if steps > MANY_STEPS {
        warnings.push(format!("a run takes {steps:.0e} steps; check `dt` and `duration`"));
    }

    let particles = model.nodes.iter().filter(|n| n.solid.is_none()).count();
    if args.json {
        let json = json!({
            "scene": prepared.name,
            "title": loaded.title,
            "valid": true,
            "dt": loaded.dt,
            "duration": loaded.duration,
            "solver": loaded.settings.solver.name(),
            "scheme": loaded.settings.scheme.name(),
            "tolerance": loaded.settings.solver_settings.tolerance,
            "max_iterations": loaded.settings.solver_settings.max_iterations,
            "bodies": {"free": counts.free, "fixed": counts.fixed, "kinematic": counts.kinematic},
            "particles": particles,
            "soft": model.solids.iter().map(|s| json!({
                "name": s.name, "nodes": s.vertices.len(), "tets": s.tets.len(),
            })).collect::<Vec<_>>(),
            "rods": model.rods.iter().map(|r| json!({
                "name": r.name, "links": r.links.len(), "joints": r.joints.len(),
            })).collect::<Vec<_>>(),
            "springs": model.springs.len(),
            "shapes": model.shapes.len(),
            "forces": model.forces.len(),
            "sensors": model.sensors.iter().map(|s| &s.name).collect::<Vec<_>>(),
            "blocks": model.layout.blocks().len(),
            "dofs": model.layout.nv(),
            "mass": {"min": counts.lightest, "max": counts.heaviest, "total": counts.total},
            "smallest_size": size,
            "shortest_time_scale": time_scale,
            "overlaps": overlaps.iter().map(|(p, d)| json!({"pair": p, "depth": d})).collect::<Vec<_>>(),
            "warnings": &warnings[..],
        });
        return print(&format!("{json}\n"));
    }

    let paint = Paint::for_stdout();
    let mut t = Table::new();
    t.row([
        "bodies".to_string(),
        format!("{} free, {} fixed, {} kinematic", counts.free, counts.fixed, counts.kinematic),
    ]);
    t.row(["particles".to_string(), particles.to_string()]);
    for s in &model.solids {
        let held = s.vertices.len() - s.nodes.len();
        let (kind, elements) = match s.tets.len() {
            0 => ("cloth", format!("{} triangles", s.surface.len())),
            n => ("soft", format!("{n} tetrahedra")),
        };
        let text = format!("{} nodes ({held} held), {elements}", s.vertices.len());
        t.row([format!("{kind} `{}`", s.name), text]);
    }
    for r in &model.rods {
        let text = format!("{} links, {} joints", r.links.len(), r.joints.len());
        t.row([format!("rod `{}`", r.name), text]);
    }
    if !model.springs.is_empty() {
        t.row(["springs".to_string(), model.springs.len().to_string()]);
    }
    t.row(["shapes".to_string(), model.shapes.len().to_string()]);
    t.row([
        "unknowns".to_string(),
        format!("{} velocities in {} blocks", model.layout.nv(), model.layout.blocks().len()),
    ]);
    if let (Some(least), Some(most)) = (counts.lightest, counts.heaviest) {
        t.row([
            "masses".to_string(),
            format!("{} to {} kg, {} kg together", number(least), number(most), number(counts.total)),
        ]);
    }
    t.row(["gravity".to_string(), vector(model.gravity) + " m/s²"]);
    t.row(["forces".to_string(), model.forces.len().to_string()]);
    let sensors: Vec<&str> = model.sensors.iter().map(|s| s.name.as_str()).collect();
    t.row(["sensors".to_string(), if sensors.is_empty() { "none".into() } else { sensors.join(", ") }]);
    let chosen = loaded.settings.solver_settings;
    let tolerance = chosen.tolerance.map_or(String::new(), |x| format!(", tolerance {x:e}"));
    let iterations = chosen.max_iterations.map_or(String::new(), |n| format!(", at most {n} iterations"));
    t.row([
        "stepping".to_string(),
        format!(
            "{} s in steps of {} s, {}, solver {}{tolerance}{iterations}",
            number(loaded.duration),
            number(loaded.dt),
            loaded.settings.scheme.name(),
            loaded.settings.solver.name()
        ),
    ]);
    if let (Some(time), Some(size)) = (time_scale, size) {
        t.row([
            "time scale".to_string(),
            format!("{} to move by the smallest size, {} m", duration(time), number(size)),
        ]);
    }
    let mut text = format!("{}\n{}", paint.bold(&format!("{}: {}", prepared.name, loaded.title)), t.render());
    for (pair, depth) in overlaps.iter().take(SHOWN) {
        text += &format!("overlap at the start: {pair}, {} m deep\n", number(*depth));
    }
    if overlaps.len() > SHOWN {
        text += &format!("… and {} more overlaps\n", overlaps.len() - SHOWN);
    }
    for w in &warnings {
        text += &format!("{} {w}\n", paint.bad("warning:"));
    }
    let good = if warnings.is_empty() { "the scene is valid" } else { "the scene is valid, with warnings" };
    print(&(text + &paint.good(good) + "\n"))
}

fn count(model: &Model) -> Counts {
    let mut c = Counts::default();
    for b in &model.bodies {
        match b.motion {
            Motion::Free => c.free += 1,
            Motion::Fixed => c.fixed += 1,
            Motion::Constant { .. } | Motion::Keyframes { .. } => c.kinematic += 1,
        }
    }
    let masses = model.bodies.iter().filter(|b| b.block.is_some()).map(|b| b.mass);
    for m in masses.chain(model.nodes.iter().map(|n| n.mass)) {
        c.lightest = Some(c.lightest.map_or(m, |l| l.min(m)));
        c.heaviest = Some(c.heaviest.map_or(m, |h| h.max(m)));
        c.total += m;
    }
    c
}

/// Smallest extent of any shape of something that moves freely [m].
fn smallest_size(model: &Model) -> Option<f64> {
    let moves = |o: Owner| match o {
        Owner::Body(b) => model.bodies[b.index()].block.is_some(),
        Owner::Node(_) | Owner::Solid(_) => true,
    };
    let sizes = model.shapes.iter().filter(|s| moves(s.owner)).map(|s| {
        let half = s.geometry.compute_local_aabb().half_extents();
        2.0 * half.x.min(half.y).min(half.z)
    });
    sizes.filter(|s| *s > 0.0).min_by(f64::total_cmp)
}

/// Time in which the fastest body, or one that falls from rest, moves by `size` [s].
fn shortest_time(model: &Model, size: Option<f64>) -> Option<f64> {
    let size = size?;
    let bodies = model.free_bodies().map(|(id, _)| model.com_velocity(&model.initial, id).0.length());
    let nodes = model.nodes.iter().map(|n| n.velocity(&model.initial).length());
    let speed = bodies.chain(nodes).fold(0.0, f64::max);
    // size = speed·t + ½ g t², solved in the form that loses no digits.
    let g = model.gravity.length();
    let root = (speed * speed + 2.0 * g * size).sqrt();
    (speed + root > 0.0).then(|| 2.0 * size / (speed + root))
}

fn owner_name(model: &Model, o: Owner) -> String {
    model.describe(o)
}

fn vector(v: Vec3) -> String {
    format!("({}, {}, {})", number(v.x), number(v.y), number(v.z))
}
