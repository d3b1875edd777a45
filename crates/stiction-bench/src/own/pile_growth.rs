//! Random boxes that fall into bins of equal depth and growing width: what their number costs.
//!
//! A deeper pile of the same number takes longer to come to rest and passes forces through more bodies; so the bin grows
//! sideways, and the piles have the same history.

use super::soft_blocks::exponent;
use crate::runs::{GRAVITY, simulate, take_steps};
use crate::{Context, Experiment, Row};
use stiction::coords::Pose;
use stiction::linalg::Rng;
use stiction::scene::Shape;
use stiction::{Body, Geometry, Quat, Scene, SolverKind, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "pile-growth",
    title: "500 to 2000 boxes fall into a bin and come to rest: time per step against their number",
    claim: "work grows nearly in proportion: exponent at most 1.2",
    run,
};

/// Largest exponent that counts as nearly linear.
const MOST: f64 = 1.2;
const DT: f64 = 1.0 / 120.0;
/// Boxes on top of each other at the start.
const LAYERS: usize = 20;
/// Between the centres at the start [m]; the largest diagonal is 0.277 m.
const SPACING: f64 = 0.3;
/// Steps at the end that count as rest.
const LAST: usize = 60;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    // Boxes along one side and along the other.
    let widths: &[[usize; 2]] = ctx.pick(&[[2, 2], [3, 3], [4, 4]], &[[5, 5], [7, 7], [10, 10]]);
    // Five seconds of falling and rolling off, and what it then takes until the last box rests.
    let (steps, until_rest) = ctx.pick((240, 60), (600, 300));
    let (mut rows, mut table) = (Vec::new(), Vec::new());
    let (mut whole, mut last) = (Vec::new(), Vec::new());
    for &[x, y] in widths {
        let n = x * y * LAYERS;
        ctx.note(&format!("{n} boxes"));
        let mut sim = simulate(&bin(x, y), SolverKind::Realtime)?;
        let seconds = take_steps(&mut sim, steps, DT, |_| {})?.seconds_per_step;
        take_steps(&mut sim, until_rest, DT, |_| {})?;
        let rest = take_steps(&mut sim, LAST, DT, |_| {})?;
        let contacts = sim.report().contacts as f64;
        rows.push(Row::new(
            format!("boxes-{n}/falling/time"),
            format!("{n} boxes, {contacts} contacts: a step, mean"),
            1e3 * seconds,
            "ms",
        ));
        rows.push(Row::new(
            format!("boxes-{n}/rest/time"),
            format!("{n} boxes: a step at rest"),
            1e3 * rest.seconds_per_step,
            "ms",
        ));
        rows.push(
            Row::new(
                format!("boxes-{n}/rest/overlap"),
                format!("{n} boxes: deepest overlap at the end"),
                1e3 * rest.summary.penetration(),
                "mm",
            )
            .at_most(0.1),
        );
        whole.push((n as f64, seconds));
        last.push((n as f64, rest.seconds_per_step));
        table.push([n as f64, contacts, seconds, rest.seconds_per_step].map(csv_number).to_vec());
    }
    let why =
        "processor time, bins of equal depth; piles are chaotic, so that one of them moves it by ± 15 %";
    for (id, what, curve) in [("falling", "while it falls and settles", &whole), ("rest", "at rest", &last)] {
        let row = Row::new(format!("{id}/exponent"), format!("{what}: exponent"), exponent(curve), "");
        rows.push(row.against("≤ 1.2").at_most(MOST).because(why));
    }
    let mut plot = Plot::new("Boxes in a bin", "boxes", "time per step [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    plot.add("while it falls and settles", Mark::Line, whole);
    plot.add("at rest", Mark::Line, last);
    ctx.plot("time", &plot)?;
    ctx.csv("time", &["boxes", "contacts", "seconds_per_step", "seconds_per_step_at_rest"], &table)?;
    Ok(rows)
}

/// Random boxes on a grid above the floor of a bin that leaves them no more room than the grid does.
fn bin(x: usize, y: usize) -> Scene {
    let mut scene = Scene { gravity: -GRAVITY * Vec3::Z, ..Scene::default() };
    let half = 0.5 * SPACING * Vec3::new(x as f64, y as f64, 0.0);
    let mut walls = Body::new("bin", Geometry::Plane).fixed().with_friction(0.5);
    for (axis, side) in [(Vec3::X, half.x), (-Vec3::X, half.x), (Vec3::Y, half.y), (-Vec3::Y, half.y)] {
        let across = Vec3::Z.cross(axis).abs() * (half.x.max(half.y) + 0.4);
        let size = across + 0.2 * axis.abs() + 6.0 * Vec3::Z;
        let at = Pose { translation: (side + 0.2) * axis + 6.0 * Vec3::Z, ..Pose::IDENTITY };
        let wall = Shape::new(Geometry::Box { half: size });
        walls.shapes.push(Shape { pose: at, friction: walls.shapes[0].friction, ..wall });
    }
    scene.bodies.push(walls);
    let mut rng = Rng::new(1);
    for k in 0..x * y * LAYERS {
        let half = Vec3::new(rng.range(0.04, 0.08), rng.range(0.04, 0.08), rng.range(0.04, 0.08));
        let place = Vec3::new((k % x) as f64 + 0.5, (k / x % y) as f64 + 0.5, (k / x / y) as f64 + 0.5);
        let at = SPACING * place - Vec3::new(0.5 * SPACING * x as f64, 0.5 * SPACING * y as f64, 0.0);
        let mut b =
            Body::new(format!("b{k}"), Geometry::Box { half }).at(at.x, at.y, at.z).with_friction(0.5);
        b.pose.rotation = Quat::from_axis_angle(rng.normal3().normalize(), rng.range(0.0, 3.0));
        scene.bodies.push(b);
    }
    scene
}
