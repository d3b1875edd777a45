//! NSN-F2: a pneumatic finger bends under pressure, and three of them lift a ball.

use super::steps::{H, Steps, paper, stepping};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot};
use std::f64::consts::{FRAC_PI_2, TAU};
use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Ease, FibreLayer, Inflation, Keyframe, Motion, NodeSelection, SoftBody};
use stiction::solvers::newton::{LinearMethod, NewtonSettings, Start};
use stiction::{Body, Geometry, Pose, Quat, Scene, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-F2",
    title: "PneuNet gripper: silicone of 10 MPa, three fingers of about 750 tets, ball of 0.32 kg",
    claim: "Macklin et al. 2019, Fig. 2: pressurised chambers bend the fingers about an inextensible layer; N = 4, L = 80",
    run,
};

const LENGTH: f64 = 0.12;
const WIDTH: f64 = 0.02;
const HEIGHT: f64 = 0.016;
/// When the ball has been lifted [s].
const LIFTED: f64 = 1.2;
/// Pressure that closes the gripper [Pa].
const GRIP: f64 = 5e6;

/// A finger along x, its clamped end at −LENGTH/2, chambers above and the inextensible layer below.
fn finger(name: &str, pose: Pose, holder: Option<&str>, pressure: Vec<[f64; 2]>) -> SoftBody {
    let mesh = shapes::block([16, 2, 4], Vec3::new(LENGTH, WIDTH, HEIGHT));
    let material = Material { law: Law::StableNeoHookean, young: 1e7, poisson: 0.47, density: 1200.0 };
    let clamped =
        NodeSelection::Box { min: Vec3::splat(-1.0), max: Vec3::new(-0.5 * LENGTH + 1e-9, 1.0, 1.0) };
    let mut body = SoftBody::new(name, mesh, material);
    body = match holder {
        Some(h) => body.attached(clamped, h),
        None => body.pinned(clamped),
    };
    body.pose = pose;
    body.friction = 0.7;
    body.damping = Damping { mass: 5.0, ..Damping::default() };
    // Every second slice of the upper half is a chamber: arches between walls.
    let slice = LENGTH / 16.0;
    for k in 1..15 {
        let x = -0.5 * LENGTH + k as f64 * slice;
        body.inflations.push(Inflation {
            min: Vec3::new(x, -1.0, 0.5 * HEIGHT),
            max: Vec3::new(x + slice, 1.0, 1.0),
            pressure: pressure.clone(),
        });
    }
    body.fibres.push(FibreLayer {
        min: Vec3::new(-1.0, -1.0, -1.0),
        max: Vec3::new(1.0, 1.0, 0.25 * HEIGHT),
        direction: Vec3::X,
        stiffness: 1e9,
        tension: 0.0,
    });
    body
}

/// Three fingers hang around a ball; the mount closes them by pressure and lifts.
pub fn gripper(hold: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("table", Geometry::Plane).fixed().with_friction(0.7));
    let radius = 0.035;
    let top = 0.04 + LENGTH;
    let at = |z: f64| Pose::from_translation(Vec3::new(0.0, 0.0, z));
    let mut mount = Body::new("mount", Geometry::Box { half: Vec3::new(0.06, 0.06, 0.005) });
    mount.motion = Motion::Keyframes {
        keys: vec![
            Keyframe { time: 0.0, pose: at(top + 0.005) },
            Keyframe { time: 0.6, pose: at(top + 0.005) },
            Keyframe { time: LIFTED, pose: at(top + 0.105) },
            Keyframe { time: LIFTED + hold, pose: at(top + 0.105) },
        ],
        ease: Ease::Smooth,
    };
    scene.bodies.push(mount);
    scene.bodies.push(
        Body::new("ball", Geometry::Sphere { radius })
            .at(0.0, 0.0, radius)
            .with_mass(0.32)
            .with_friction(0.7),
    );
    for k in 0..3 {
        let angle = TAU * k as f64 / 3.0;
        // x of the finger points down, its inextensible side towards the axis.
        let down = Quat::from_rotation_y(FRAC_PI_2);
        let turn = Quat::from_rotation_z(angle) * down;
        let out = radius + 0.006;
        let place = Quat::from_rotation_z(angle) * Vec3::new(out, 0.0, top - 0.5 * LENGTH);
        let pressure = vec![[0.0, 0.0], [0.5, GRIP]];
        scene.solids.push(finger(
            &format!("finger {k}"),
            Pose::from_parts(place, turn),
            Some("mount"),
            pressure,
        ));
    }
    scene
}

fn newton() -> NewtonSettings {
    NewtonSettings { start: Start::Warm, ..paper(4, LinearMethod::ConjugateResidual, 80) }
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    bend(ctx, &mut rows)?;
    if ctx.quick {
        rows.push(Row::remark("lifting the ball", "only without --quick"));
    } else {
        lift(ctx, &mut rows)?;
    }
    Ok(rows)
}

/// Rotation of the fingertip over the pressure.
fn bend(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let time = ctx.pick(0.4, 2.0);
    let mut scene = Scene::default();
    let most = 2.0 * GRIP;
    let mut body = finger("finger", Pose::IDENTITY, None, vec![[0.0, 0.0], [time, most]]);
    body.damping.mass = 30.0;
    body.collide = false;
    scene.solids.push(body);
    let mut sim = Steps::new(&scene, stepping(newton()))?;
    let solid = &sim.model.solids[0];
    let tip: Vec<usize> = (0..solid.rest.len()).filter(|&i| solid.rest[i].x > 0.5 * LENGTH - 1e-9).collect();
    let mean = |sim: &Steps, upper: bool| {
        let of = tip.iter().filter(|&&i| (sim.model.solids[0].rest[i].z > 0.5 * HEIGHT) == upper);
        let of: Vec<Vec3> = of.map(|&i| sim.model.vertex_position(&sim.state, SoftId(0), i)).collect();
        of.iter().sum::<Vec3>() / of.len() as f64
    };
    let mut curve = Vec::new();
    let mut table = Vec::new();
    while sim.state.t < time {
        sim.step(H)?;
        let up = mean(&sim, true) - mean(&sim, false);
        // The fingertip's own up axis leans over as it bends down.
        let angle = up.x.atan2(up.z).to_degrees();
        let pressure = most * (sim.state.t / time).min(1.0);
        curve.push((1e-6 * pressure, angle));
        table.push(vec![csv_number(pressure), csv_number(angle)]);
    }
    let last = curve.last().map_or(0.0, |p| p.1);
    let falls = curve.windows(20).step_by(20).filter(|w| w[19].1 < w[0].1 - 1.0).count();
    let row = Row::new("rotation of the fingertip at 10 MPa", last, "°").against("curls");
    rows.push(if ctx.quick { row } else { row.at_least(60.0) });
    rows.push(
        Row::new("windows of 20 steps in which it falls by 1°", falls as f64, "")
            .against("rises monotonically")
            .at_most(0.0),
    );
    let mut plot = Plot::new("A finger bends", "pressure [MPa]", "rotation of the tip [°]");
    plot.add("N = 4, L = 80", Mark::Line, curve);
    ctx.csv("bend", &["pressure_pa", "rotation_deg"], &table)?;
    ctx.plot("bend", &plot)
}

fn lift(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let hold = 1.0;
    let mut sim = Steps::new(&gripper(hold), stepping(newton()))?;
    let tets: usize = sim.model.solids.iter().map(|s| s.tets.len()).sum();
    rows.push(Row::new("gripper: tetrahedra", tets as f64, "").against("2241"));
    let (mut contacts, mut lifted, mut table, mut curve) = (0, None, Vec::new(), Vec::new());
    while sim.state.t < LIFTED + hold {
        contacts = contacts.max(sim.step(H)?.contacts);
        let z = sim.position(0).z;
        if lifted.is_none() && sim.state.t >= LIFTED {
            lifted = Some(z);
        }
        curve.push((sim.state.t, z));
        table.push(vec![csv_number(sim.state.t), csv_number(z)]);
    }
    let (z, before) = (sim.position(0).z, lifted.unwrap_or(0.0));
    rows.push(Row::new("gripper: ball lifted by", z - 0.035, "m").against("10 cm").at_least(0.09));
    rows.push(
        Row::new(format!("gripper: slip in {hold} s of holding"), (before - z).abs(), "m").at_most(5e-3),
    );
    rows.push(Row::new("gripper: contacts, most", contacts as f64, "").against("532"));
    let mut plot = Plot::new("Height of the ball", "t [s]", "z [m]");
    plot.add("N = 4, L = 80", Mark::Line, curve);
    ctx.csv("lift", &["t_s", "z_m"], &table)?;
    ctx.plot("lift", &plot)
}
