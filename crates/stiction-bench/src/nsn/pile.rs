//! NSN-T2-pile: 54 tables of five boxes each fall on a heap.

use super::steps::{H, Steps, looks, paper, stepping};
use crate::runs::on_floor;
use crate::{Context, Experiment, Row};
use stiction::contact::ContactProblem;
use stiction::linalg::Rng;
use stiction::papers::nsn::solve::{Derivative, LinearMethod, Look, NewtonSettings, Start};
use stiction::scene::Shape;
use stiction::{Body, Geometry, Pose, Quat, Scene, State, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-T2-pile",
    title: "54 tables of 4.7 kg, μ = 0.7, with four Newton iterations per step",
    claim: "Macklin et al. 2019, Fig. 14: non-convex tables pile up; N = 4, L = 20, 936 contacts",
    run,
};

/// The published iterations from zero; and with carried forces and rows divided by α (N7).
const COLD: &str = "4×20, published";
const DIVIDED: &str = "4×20, carried forces, rows divided by α";
/// Our settings: as many iterations as it takes, island by island.
const ROBUST: &str = "robust settings";

/// A table: a slab on four legs.
fn table(name: String, pose: Pose) -> Body {
    let leg = |x: f64, y: f64| {
        let mut s = Shape::new(Geometry::Box { half: Vec3::new(0.03, 0.03, 0.18) });
        s.pose = Pose::from_translation(Vec3::new(x, y, -0.2));
        s
    };
    let mut body = Body::new(name, Geometry::Box { half: Vec3::new(0.4, 0.3, 0.02) }).with_mass(4.7);
    for (x, y) in [(0.36, 0.26), (0.36, -0.26), (-0.36, 0.26), (-0.36, -0.26)] {
        body.shapes.push(leg(x, y));
    }
    body.pose = pose;
    body.with_friction(0.7)
}

/// Layers of three by three tables, each turned and tilted a little; they do not overlap at the start.
pub fn scene(tables: usize) -> Scene {
    let mut rng = Rng::new(54);
    let bodies = (0..tables).map(|k| {
        let (layer, place) = (k / 9, k % 9);
        let turn = Vec3::new(0.4 * rng.uniform() - 0.2, 0.4 * rng.uniform() - 0.2, 2.0 * rng.uniform() - 1.0);
        let at = Vec3::new(
            1.1 * ((place % 3) as f64 - 1.0) + 0.08 * rng.uniform(),
            1.1 * ((place / 3) as f64 - 1.0) + 0.08 * rng.uniform(),
            0.55 + 0.65 * layer as f64,
        );
        table(format!("table {k}"), Pose::from_parts(at, Quat::from_scaled_axis(turn)))
    });
    on_floor(0.0, 0.7, bodies)
}

/// One step in which solvers are compared: a frozen problem, or the next step of the heap.
pub enum Case {
    /// A problem.
    Frozen(Box<ContactProblem>),
    /// A scene and the state to step from.
    Step(Box<(Scene, State)>),
}

impl Case {
    /// Eighteen tables after a time [s]: at 0.8 s the upper layer hits the lower one, at 3 s they are at rest.
    pub fn heap(time: f64) -> Result<Case> {
        let scene = scene(18);
        let mut sim = Steps::robust(&scene)?;
        while sim.state.t < time {
            sim.step(H)?;
        }
        Ok(Case::Step(Box::new((scene, sim.state))))
    }

    /// Every iterate from zero.
    pub fn looks(&self, settings: NewtonSettings) -> Result<Vec<Look>> {
        match self {
            Case::Frozen(p) => Ok(looks(p, settings).0),
            Case::Step(from) => {
                let mut sim = Steps::new(&from.0, stepping(settings))?;
                sim.state = from.1.clone();
                // Iterates that ran off end the step with an error: they are looked at all the same.
                let _ = sim.step(H);
                Ok(sim.stepper.looks().to_vec())
            }
        }
    }
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let tables = ctx.pick(18, 54);
    let time = ctx.pick(1.5, 7.0);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Largest speed of a table", "t [s]", "speed [m/s]");
    let published = paper(4, LinearMethod::ConjugateResidual, 20);
    let carried = NewtonSettings { start: Start::Warm, ..published };
    let divided = NewtonSettings { derivative: Derivative::Divided, ..carried };
    let scene = scene(tables);
    for (id, name, mut sim) in [
        ("published", COLD, Steps::new(&scene, stepping(published))?),
        ("carried", "4×20, carried forces", Steps::new(&scene, stepping(carried))?),
        ("divided", DIVIDED, Steps::new(&scene, stepping(divided))?),
        ("robust", ROBUST, Steps::robust(&scene)?),
    ] {
        ctx.note(name);
        let (mut contacts, mut deepest, mut curve) = (0, 0.0_f64, Vec::new());
        let (mut steps, mut missed) = (0, 0);
        while sim.state.t < time {
            // Tables that fly apart have no speed to measure.
            let Ok(r) = sim.step(H) else {
                deepest = f64::INFINITY;
                break;
            };
            contacts = contacts.max(r.contacts);
            deepest = r.penetration;
            steps += 1;
            missed += usize::from(r.error > 1e-8);
            let speed = sim.state.v.chunks_exact(6).map(|v| Vec3::from_slice(v).length()).fold(0.0, f64::max);
            curve.push((sim.state.t, speed));
        }
        let last = if deepest.is_infinite() { f64::INFINITY } else { curve.last().map_or(0.0, |p| p.1) };
        plot.add(name, Mark::Line, curve);
        // In a short run they still fall.
        let judged = [DIVIDED, ROBUST].contains(&name) && !ctx.quick;
        let row =
            Row::new(format!("{id}/speed"), format!("{name}: largest speed after {time} s"), last, "m/s")
                .against("at rest");
        rows.push(match name {
            _ if judged => row.at_most(0.01),
            COLD => row.because(
                "four cold iterations leave the forces of every step unfinished (N17): tables rock on",
            ),
            _ => row,
        });
        let deep =
            Row::new(format!("{id}/penetration"), format!("{name}: penetration at the end"), deepest, "m");
        rows.push(if judged { deep.at_most(2e-3) } else { deep });
        let locked = interlocked(&sim, tables) as f64;
        let row = Row::new(
            format!("{id}/interlocked"),
            format!("{name}: pairs of tables of which one reaches between the legs of the other"),
            locked,
            "",
        );
        rows.push(if judged { row.against("non-convex objects interlock").at_least(1.0) } else { row });
        if name == ROBUST {
            let row =
                Row::new(format!("{id}/missed"), format!("{name}: steps that miss 1e-8"), missed as f64, "");
            rows.push(row.against(format!("of {steps}")));
        }
        rows.push(
            Row::new(format!("{id}/contacts"), format!("{name}: contacts, most"), contacts as f64, "")
                .against("936"),
        );
    }
    ctx.plot("speed", &plot)?;
    Ok(rows)
}

/// Pairs of which one has a corner of slab or leg within the hull of the other, below its slab.
fn interlocked(sim: &Steps, tables: usize) -> usize {
    let poses: Vec<Pose> = (0..tables).map(|i| sim.pose(i)).collect();
    // The centre of mass lies below that of the slab.
    let slab = |body: usize| sim.model.bodies[body].com;
    let free: Vec<usize> =
        sim.model.bodies.iter().enumerate().filter(|(_, b)| b.block.is_some()).map(|(i, _)| i).collect();
    let inside = |p: Vec3| p.x.abs() < 0.39 && p.y.abs() < 0.29 && p.z < -0.02 && p.z > -0.38;
    let corners: Vec<Vec3> = [0.02, -0.38]
        .into_iter()
        .flat_map(|z| {
            [(0.39, 0.29), (0.39, -0.29), (-0.39, 0.29), (-0.39, -0.29)].map(|(x, y)| Vec3::new(x, y, z))
        })
        .collect();
    let reaches = |i: usize, j: usize| {
        let seen = poses[j].inverse() * poses[i];
        corners.iter().any(|c| inside(seen.transform_point(*c - slab(free[i])) + slab(free[j])))
    };
    (0..tables).map(|j| (0..tables).filter(|&i| i != j && reaches(i, j)).count()).sum()
}
