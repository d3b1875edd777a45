//! NSN-F2: a pneumatic finger bends under pressure, and three of them lift a ball.

use super::steps::{H, Steps, paper, stepping};
use crate::runs::take_steps;
use crate::{Context, Experiment, Row};
use std::f64::consts::{FRAC_PI_2, TAU};
use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::kinematics::Placement;
use stiction::mesh::shapes;
use stiction::papers::nsn::solve::{
    Derivative, FrictionRows, LinearMethod, NewtonSettings, PreconditionerKind, Regularization, Start,
    StepRule, SystemForm,
};
use stiction::papers::nsn::{GeometricStiffness, NonlinearSettings};
use stiction::scene::{Ease, FibreLayer, Filling, Inflation, Keyframe, Motion, NodeSelection, SoftBody};
use stiction::{Body, Geometry, Model, Pose, Quat, Scene, SimSettings, Simulation, State, Vec3};
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

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
const GRIP: f64 = 2.5e5;
/// Largest pressure of the finger that bends in free air [Pa].
const MOST: f64 = 1e6;
/// Young's modulus of the inextensible layer along the finger [Pa].
const STRIP: f64 = 1e8;

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
    // Every second slice of the upper half is a hollow chamber between walls: soft, and held by its skin across.
    let slice = LENGTH / 16.0;
    for k in (1..15).step_by(2) {
        let x = -0.5 * LENGTH + k as f64 * slice;
        let (min, max) = (Vec3::new(x, -1.0, 0.5 * HEIGHT), Vec3::new(x + slice, 1.0, 1.0));
        body.inflations.push(Inflation { min, max, pressure: pressure.clone() });
        body.fillings.push(Filling { min, max, young: 1e5, poisson: 0.0 });
        for direction in [Vec3::Y, Vec3::Z] {
            body.fibres.push(FibreLayer { min, max, direction, stiffness: 1e8, tension: 0.0 });
        }
    }
    body.fibres.push(FibreLayer {
        min: Vec3::new(-1.0, -1.0, -1.0),
        max: Vec3::new(1.0, 1.0, 0.25 * HEIGHT),
        direction: Vec3::X,
        stiffness: STRIP,
        tension: 0.0,
    });
    body
}

/// Three fingers hang around a ball; the mount closes them by pressure and lifts.
pub fn gripper(hold: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("table", Geometry::Plane).fixed().with_friction(0.7));
    let radius = 0.035;
    let top = 0.012 + LENGTH;
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
        let out = radius + 0.0005;
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

/// N = 4, L = 80 as in the paper, warm, in the stiffness form (64): in the compliance form (59) of stiff, light elements 80
/// iterations leave forces that blow the finger up.
pub fn settings(form: SystemForm) -> NonlinearSettings {
    let newton = NewtonSettings { start: Start::Warm, form, ..paper(4, LinearMethod::ConjugateResidual, 80) };
    stepping(newton)
}

/// The same for fingers in contact: friction differentiated exactly, exact rows, and incomplete factors, because contacts are hard
/// rows beside soft elements, which the diagonal does not tell apart.
pub fn gripping() -> NonlinearSettings {
    let mut settings = settings(SystemForm::Stiffness);
    settings.newton.linear.preconditioner = PreconditionerKind::IncompleteCholesky;
    settings.newton.regularization = Regularization::Floor(1e-6);
    settings.newton.derivative = Derivative::Divided;
    settings.newton.friction = FrictionRows::Sliding;
    settings.newton.step = StepRule::Trusting;
    settings.geometric = GeometricStiffness::Off;
    settings
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    bend(ctx, &mut rows)?;
    if ctx.quick {
        rows.push(Row::remark("gripper/lift", "lifting the ball", "only without --quick"));
    } else {
        lift(ctx, &mut rows)?;
    }
    Ok(rows)
}

/// One finger in free air, inflated within `time` seconds.
pub fn bending(time: f64) -> (Scene, f64) {
    let mut scene = Scene::default();
    let mut body = finger("finger", Pose::IDENTITY, None, vec![[0.0, 0.0], [time, MOST]]);
    body.damping.mass = 30.0;
    body.collide = false;
    scene.solids.push(body);
    (scene, time)
}

/// Rotation of the tip of the first finger [°]: its own up axis leans over as it bends down.
pub fn tip_angle(model: &Model, state: &State) -> f64 {
    let rest = &model.solids[0].rest;
    let mean = |upper: bool| {
        let tip = (0..rest.len())
            .filter(|&i| rest[i].x > 0.5 * LENGTH - 1e-9 && (rest[i].z > 0.5 * HEIGHT) == upper);
        let places: Vec<Vec3> = tip
            .map(|i| Placement::of(model, state).kinematics(model).vertex_position(SoftId(0), i))
            .collect();
        places.iter().sum::<Vec3>() / places.len() as f64
    };
    let up = mean(true) - mean(false);
    up.x.atan2(up.z).to_degrees()
}

/// Rotation of the fingertip over the pressure.
fn bend(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let (scene, time) = bending(ctx.pick(0.4, 2.0));
    let mut sim = Steps::new(&scene, settings(SystemForm::Stiffness))?;
    let mut curve = Vec::new();
    let mut table = Vec::new();
    while sim.state.t < time {
        sim.step(H)?;
        let angle = tip_angle(&sim.model, &sim.state);
        let pressure = MOST * (sim.state.t / time).min(1.0);
        curve.push((1e-6 * pressure, angle));
        table.push(vec![csv_number(pressure), csv_number(angle)]);
    }
    let last = curve.last().map_or(0.0, |p| p.1);
    let falls = curve.windows(20).step_by(20).filter(|w| w[19].1 < w[0].1 - 1.0).count();
    // The same finger by the other stepper, with its forces linearised again until they are those of the step's end.
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let mut exact = Simulation::new(model, SimSettings { linearizations: 20, ..SimSettings::default() });
    take_steps(&mut exact, (time / H).round() as usize, H, |_| {})?;
    let truth = tip_angle(exact.model(), exact.state());
    let what = format!("rotation of the fingertip at {:.0} MPa", 1e-6 * MOST);
    rows.push(Row::new("finger/exact/rotation", format!("{what}, exact"), truth, "°"));
    let met = last >= 60.0 && (last / truth - 1.0).abs() <= 0.1;
    let row = Row::new("finger/stiffness-4x80/rotation", format!("{what}, N = 4, L = 80"), last, "°")
        .against("curls")
        .accept("≥ 60° and within 10 % of exact", met);
    rows.push(row);
    // The same in the compliance form, which the paper has for elements.
    let mut sim = Steps::new(&scene, settings(SystemForm::Compliance))?;
    let mut held = 0.0;
    let fast = |v: &[f64]| v.iter().any(|v| v.is_nan() || v.abs() >= 100.0);
    while sim.state.t < time && sim.step(H).is_ok() && !fast(&sim.state.v) {
        held = sim.state.t;
    }
    let what = "compliance form, N = 4, L = 80: time until nodes pass 100 m/s";
    rows.push(
        Row::new("finger/compliance-4x80/held", what, held, "s")
            .against("holds, on a GPU in 32-bit numbers")
            .because("six strains per element: 80 iterations with the diagonal leave forces that light nodes turn into speed"),
    );
    rows.push(
        Row::new(
            "finger/stiffness-4x80/falls",
            "windows of 20 steps in which it falls by 1°",
            falls as f64,
            "",
        )
        .against("rises monotonically")
        .at_most(0.0),
    );
    let mut plot = Plot::new("A finger bends", "pressure [MPa]", "rotation of the tip [°]");
    plot.add("N = 4, L = 80", Mark::Line, curve);
    ctx.csv("bend", &["pressure_pa", "rotation_deg"], &table)?;
    ctx.plot("bend", &plot)
}

/// Lifts the ball as the paper iterates, N = 4 and L = 80, and with every step solved to 1e-8.
fn lift(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let hold = 5.0;
    let scene = gripper(hold);
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let tets: usize = model.solids.iter().map(|s| s.tets.len()).sum();
    rows.push(Row::new("gripper/tets", "gripper: tetrahedra", tets as f64, "").against("2241"));
    let mut table = Vec::new();
    let mut plot = Plot::new("Height of the ball", "t [s]", "z [m]");
    for (part, name, settings) in
        [("4x80", "N = 4, L = 80", gripping()), ("solved", "solved", NonlinearSettings::robust(&model))]
    {
        ctx.note(name);
        let mut sim = Steps::new(&scene, settings)?;
        let (mut contacts, mut unsolved, mut lifted, mut curve) = (0, 0, None, Vec::new());
        while sim.state.t < LIFTED + hold {
            let Ok(r) = sim.step(H) else { break };
            contacts = contacts.max(r.contacts);
            unsolved += usize::from(r.error > 1e-8);
            let z = sim.position(0).z;
            if lifted.is_none() && sim.state.t >= LIFTED {
                lifted = Some(z);
            }
            curve.push((sim.state.t, z));
            table.push(vec![name.to_string(), csv_number(sim.state.t), csv_number(z)]);
        }
        let (z, before) = (sim.position(0).z, lifted.unwrap_or(0.0));
        rows.push(
            Row::new(
                format!("gripper/{part}/lift"),
                format!("gripper, {name}: ball lifted by"),
                z - 0.035,
                "m",
            )
            .against("10 cm")
            .accept("10 cm ± 1 cm", (z - 0.135).abs() <= 0.01),
        );
        rows.push(
            Row::new(
                format!("gripper/{part}/slip"),
                format!("gripper, {name}: slip in {hold} s of holding"),
                (before - z).abs(),
                "m",
            )
            .at_most(5e-3),
        );
        rows.push(
            Row::new(
                format!("gripper/{part}/contacts"),
                format!("gripper, {name}: contacts, most"),
                contacts as f64,
                "",
            )
            .against("532"),
        );
        if name == "solved" {
            let row = Row::new(
                "gripper/solved/missed",
                "gripper, solved: steps that miss 1e-8",
                unsolved as f64,
                "",
            );
            rows.push(row.at_most(0.0));
        }
        plot.add(name, Mark::Line, curve);
    }
    ctx.csv("lift", &["case", "t_s", "z_m"], &table)?;
    ctx.plot("lift", &plot)
}
