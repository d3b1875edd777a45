//! NSN-T2-pile: 54 tables of five boxes each fall on a heap.

use super::steps::{H, Steps, paper, stepping};
use crate::bench::runs::on_floor;
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::svg::{Mark, Plot};
use stiction::contact::samples::Rng;
use stiction::scene::Shape;
use stiction::solvers::newton::{LinearMethod, NewtonSettings, Start};
use stiction::{Body, Geometry, Pose, Quat, Scene, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-T2-pile",
    title: "54 tables of 4.7 kg, μ = 0.7, with four Newton iterations per step",
    claim: "Macklin et al. 2019, Fig. 14: non-convex tables pile up; N = 4, L = 20, 936 contacts",
    run,
};

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

/// Layers of tables, each turned a little.
pub fn scene(tables: usize) -> Scene {
    let mut rng = Rng::new(54);
    let bodies = (0..tables).map(|k| {
        let (layer, place) = (k / 4, k % 4);
        let turn = Vec3::new(rng.uniform() - 0.5, rng.uniform() - 0.5, 2.0 * rng.uniform() - 1.0) * 0.8;
        let at = Vec3::new(
            0.95 * (place % 2) as f64 + 0.3 * rng.uniform() - 0.6,
            0.8 * (place / 2) as f64 + 0.3 * rng.uniform() - 0.5,
            0.6 + 0.62 * layer as f64,
        );
        table(format!("table {k}"), Pose::from_parts(at, Quat::from_scaled_axis(turn)))
    });
    on_floor(0.0, 0.7, bodies)
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let tables = ctx.pick(12, 54);
    let time = ctx.pick(2.0, 8.0);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Largest speed of a table", "t [s]", "speed [m/s]");
    for (name, start) in [("N = 4, L = 20", Start::Zero), ("N = 4, L = 20, warm", Start::Warm)] {
        ctx.note(name);
        let newton = NewtonSettings { start, ..paper(4, LinearMethod::ConjugateResidual, 20) };
        let mut sim = Steps::new(&scene(tables), stepping(newton))?;
        let (mut contacts, mut deepest, mut curve) = (0, 0.0_f64, Vec::new());
        while sim.state.t < time {
            let r = sim.step(H)?;
            contacts = contacts.max(r.contacts);
            deepest = r.penetration;
            let speed = sim.state.v.chunks_exact(6).map(|v| Vec3::from_slice(v).length()).fold(0.0, f64::max);
            curve.push((sim.state.t, speed));
        }
        let last = curve.last().map_or(0.0, |p| p.1);
        plot.add(name, Mark::Line, curve);
        let row = Row::new(format!("{name}: largest speed after {time} s"), last, "m/s").against("at rest");
        rows.push(match start {
            Start::Warm if !ctx.quick => row.at_most(0.01),
            _ => row.because("cold starts jitter (N17): the forces of four iterations are not finished"),
        });
        let deep = Row::new(format!("{name}: penetration at the end"), deepest, "m");
        rows.push(if start == Start::Warm && !ctx.quick { deep.at_most(2e-3) } else { deep });
        rows.push(Row::new(format!("{name}: contacts, most"), contacts as f64, "").against("936"));
    }
    ctx.plot("speed", &plot)?;
    Ok(rows)
}
