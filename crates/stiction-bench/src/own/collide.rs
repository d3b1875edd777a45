//! Scaling of rigid collision: piles of convex boxes, time per stage against their number.

use super::soft_blocks::exponent;
use crate::{Context, Experiment, Row};
use stiction::collide::Collider;
use stiction::kinematics::Placement;
use stiction::linalg::Rng;
use stiction::scene::{Body, Geometry, Scene};
use stiction::{Model, Quat, State, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "collide",
    title: "500 to 4000 boxes in a loose pile: time of contact detection against their number",
    claim: "work grows nearly in proportion: exponent at most 1.2",
    run,
};

/// Largest exponent that counts as nearly linear.
const MOST: f64 = 1.2;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let sizes: &[usize] = ctx.pick(&[500, 1000, 2000], &[500, 1000, 2000, 4000]);
    let repeats = ctx.pick(10, 40);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| error(format!("no thread: {e}"), "free some memory"))?;
    let (mut rows, mut table, mut points) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for (kind, hull) in [("boxes", false), ("hulls", true)] {
        let mut series = Vec::new();
        for &n in sizes {
            ctx.note(&format!("{n} {kind}"));
            let model = pile(n, hull);
            let mut collider = Collider::new(&model);
            let mut contacts = Vec::new();
            collider.detect(Placement::of(&model, &model.initial).kinematics(&model), 0.01, &mut contacts);
            // To and fro by a metre, so that pairs are sought anew every time.
            let mut aside = State::clone(&model.initial);
            model.bodies.iter().filter(|b| b.block.is_some()).for_each(|b| aside.q[b.q] += 1.0);
            let states = [&aside, &model.initial];
            // The least of several runs: noise only ever adds.
            let mut least = f64::INFINITY;
            for k in 0..repeats {
                let clock = Stopwatch::start();
                pool.install(|| {
                    collider.detect(
                        Placement::of(&model, states[k % 2]).kinematics(&model),
                        0.01,
                        &mut contacts,
                    )
                });
                let spent = clock.elapsed();
                least = least.min(spent.cpu.unwrap_or(spent.wall));
            }
            let per_contact = least / contacts.len().max(1) as f64;
            table.push(vec![
                kind.to_string(),
                n.to_string(),
                contacts.len().to_string(),
                csv_number(least),
                csv_number(per_contact),
            ]);
            rows.push(Row::new(
                format!("{kind}-{n}/time"),
                format!("{n} {kind}: {} contacts", contacts.len()),
                1e3 * least,
                "ms",
            ));
            series.push((n as f64, least));
        }
        let slope = exponent(&series);
        rows.push(
            Row::new(format!("{kind}/exponent"), format!("exponent of {kind}"), slope, "")
                .against("≤ 1.2")
                .at_most(MOST)
                .because("processor time of one thread, the least of several runs"),
        );
        points[usize::from(hull)] = series;
    }
    let mut plot = Plot::new("Contact detection of piles", "bodies", "time [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    let [boxes, hulls] = points;
    plot.add("boxes", Mark::Line, boxes);
    plot.add("hulls", Mark::Line, hulls);
    ctx.plot("time", &plot)?;
    ctx.csv("time", &["kind", "bodies", "contacts", "seconds", "seconds_per_contact"], &table)?;
    Ok(rows)
}

/// Boxes, randomly turned, so near that each touches some of its neighbours; the pile grows in all directions.
fn pile(n: usize, hull: bool) -> Model {
    let mut rng = Rng::new(7);
    let side = (n as f64).cbrt().ceil() as usize;
    let mut scene = Scene::default();
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().at(0.0, 0.0, -0.1));
    for k in 0..n {
        let half = Vec3::new(rng.range(0.06, 0.1), rng.range(0.06, 0.1), rng.range(0.06, 0.1));
        let geometry = match hull {
            false => Geometry::Box { half },
            true => Geometry::ConvexHull { points: hull_points(half) },
        };
        let at = Vec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64) * 0.19;
        let mut b = Body::new(format!("b{k}"), geometry).at(at.x, at.y, at.z);
        b.pose.rotation = Quat::from_axis_angle(rng.normal3().normalize(), rng.range(0.0, 3.0));
        scene.bodies.push(b);
    }
    scene.compile().expect("a pile is a scene")
}

/// A box with its corners cut off: twelve points on its edges.
fn hull_points(half: Vec3) -> Vec<Vec3> {
    let mut out = Vec::new();
    for axis in 0..3 {
        for k in 0..4 {
            let mut p = half;
            p[axis] = 0.0;
            p[(axis + 1) % 3] *= if k & 1 == 0 { 1.0 } else { -1.0 };
            p[(axis + 2) % 3] *= if k & 2 == 0 { 1.0 } else { -1.0 };
            out.push(p);
        }
    }
    out
}
