//! NSN-F7: the flexible beam of 16 rigid segments with stiff bending joints: statics, and insertion into a slot.

use super::steps::{H, Steps, paper, stepping};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot};
use stiction::scene::{Ease, Force, Joint, JointKind, Keyframe, Motion, Spring};
use stiction::solvers::newton::linear::LinearSolver;
use stiction::solvers::newton::{LinearMethod, LinearSettings, NewtonSettings, PreconditionerKind, Start};
use stiction::{Body, Geometry, Pose, Scene, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-F7",
    title: "beam of 16 bodies of 3 g, joints of 250 N·m/rad: cantilever and insertion",
    claim: "Macklin et al. 2019, Fig. 7: Jacobi struggles to achieve stiffness, PCR achieves it and is robust in contact",
    run,
};

const SEGMENTS: usize = 16;
/// Length of a segment [m].
const LENGTH: f64 = 0.03;
/// Half of its height and width [m].
const HALF: f64 = 0.01;
const MASS: f64 = 0.003;
/// Bending stiffness of a joint [N·m/rad].
const STIFFNESS: f64 = 250.0;
/// Why the published preconditioner does not hold the cantilever.
const DIAGONAL: &str = "the first system, from rest, 50 iterations solve (row below); in the steps after it the beam still sags \
     until joints are far apart, and there PCR with the diagonal stalls (NSN-F11, beam, unsolved). 400 iterations hold it, \
     and incomplete factors hold it with one; a load of 0.02 N instead of 2 N does not help";
/// The published iterations with carried multipliers.
const WARM: &str = "PCR 6×50, warm";
/// Load at the tip [N].
const LOAD: f64 = 2.0;

/// The beam along x from `x0`, its first segment held by `holder`.
fn beam(scene: &mut Scene, x0: f64, z: f64, holder: &str) {
    for k in 0..SEGMENTS {
        let half = Vec3::new(0.5 * LENGTH * 0.98, HALF, HALF);
        let body = Body::new(format!("segment {k}"), Geometry::Box { half })
            .at(x0 + (k as f64 + 0.5) * LENGTH, 0.0, z)
            .with_mass(MASS)
            .with_friction(0.3);
        scene.bodies.push(body);
        let at = Vec3::new(x0 + k as f64 * LENGTH, 0.0, z);
        let before = if k == 0 { holder.to_string() } else { format!("segment {}", k - 1) };
        let mut joint = Joint::new(format!("joint {k}"), JointKind::Ball, before, format!("segment {k}"))
            .at(at)
            .about(Vec3::X);
        joint.springs.bend = Some(Spring::new(STIFFNESS, 0.0));
        joint.springs.twist = Some(Spring::new(STIFFNESS, 0.0));
        scene.joints.push(joint);
    }
}

/// The beam is carried into a slot that is a little higher than it: the mouth is 2 mm off.
pub fn insertion() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    let at = |x: f64, z: f64| Pose::from_translation(Vec3::new(x, 0.0, z));
    let mut gripper = Body::new("gripper", Geometry::Box { half: Vec3::splat(0.01) }).at(-0.02, 0.0, 0.3);
    gripper.motion = Motion::Keyframes {
        keys: vec![Keyframe { time: 0.0, pose: at(-0.02, 0.3) }, Keyframe { time: 1.1, pose: at(0.13, 0.3) }],
        ease: Ease::Smooth,
    };
    scene.bodies.push(gripper);
    beam(&mut scene, 0.0, 0.3, "gripper");
    // Two jaws with 1 mm of play; the slot is 2 mm lower than the beam.
    let mouth = SEGMENTS as f64 * LENGTH + 0.02;
    for (k, side) in [1.0, -1.0].into_iter().enumerate() {
        let half = Vec3::new(0.1, 0.05, 0.02);
        let z = 0.298 + side * (HALF + 0.001 + half.z);
        scene.bodies.push(
            Body::new(format!("jaw {k}"), Geometry::Box { half })
                .fixed()
                .at(mouth + half.x, 0.0, z)
                .with_friction(0.3),
        );
        // A funnel guides the tip.
        let half = Vec3::new(0.02, 0.05, 0.004);
        let mut lip = Body::new(format!("lip {k}"), Geometry::Box { half }).fixed().with_friction(0.3);
        let turn = stiction::Quat::from_rotation_y(side * 0.4);
        lip.pose = Pose::from_parts(Vec3::new(mouth - 0.019, 0.0, 0.298 + side * (HALF + 0.0125)), turn);
        scene.bodies.push(lip);
    }
    scene
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    statics(ctx, &mut rows)?;
    insert(ctx, &mut rows)?;
    Ok(rows)
}

/// Deflection of the tip of the chain under a load: each joint turns by M/k (and by the weight of what it carries).
pub fn closed_form(load: f64) -> f64 {
    let joints = (0..SEGMENTS).map(|k| (SEGMENTS - k) as f64 * LENGTH);
    let weight = |x: f64| 0.5 * x * (x / LENGTH) * MASS * 9.81;
    joints.map(|x| (load * x + weight(x)) / STIFFNESS * x).sum()
}

/// The beam held by a wall, with a load at its tip.
pub fn cantilever_scene(load: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene
        .bodies
        .push(Body::new("wall", Geometry::Box { half: Vec3::splat(0.01) }).fixed().at(-0.02, 0.0, 0.0));
    beam(&mut scene, 0.0, 0.0, "wall");
    for b in &mut scene.bodies {
        b.shapes.iter_mut().for_each(|s| s.geometry = Geometry::Sphere { radius: 1e-3 });
    }
    let tip = format!("segment {}", SEGMENTS - 1);
    scene.forces.push(Force {
        target: tip,
        force: Vec3::new(0.0, 0.0, -load),
        torque: Vec3::ZERO,
        at: Some(Vec3::new(0.5 * LENGTH, 0.0, 0.0)),
        from: 0.0,
        until: f64::INFINITY,
    });
    scene
}

/// Deflection of the tip over time, and its mean over the last quarter: implicit Euler damps the swing.
fn cantilever(newton: NewtonSettings, load: f64, steps: usize) -> Result<(Vec<(f64, f64)>, f64)> {
    let mut sim = Steps::new(&cantilever_scene(load), stepping(newton))?;
    let mut curve = Vec::new();
    for _ in 0..steps {
        if sim.step(H).is_err() {
            break;
        }
        let pose = sim.state.rigid_pose(7 * (SEGMENTS - 1));
        curve.push((sim.state.t, -pose.transform_point(Vec3::new(0.5 * LENGTH, 0.0, 0.0)).z));
    }
    let tail = &curve[curve.len() - curve.len() / 4 - 1..];
    let sag = tail.iter().map(|p: &(f64, f64)| p.1).sum::<f64>() / tail.len() as f64;
    Ok((curve, sag))
}

fn statics(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let closed = closed_form(LOAD);
    let steps = ctx.pick(60, 240);
    let mut table = Vec::new();
    let mut plot = Plot::new("Cantilever under a tip load", "t [s]", "deflection [m]");
    use PreconditionerKind::{BlockDiagonal, Diagonal, IncompleteCholesky};
    for (name, method, l, kind) in [
        ("PCR 6×50", LinearMethod::ConjugateResidual, 50, Diagonal),
        (WARM, LinearMethod::ConjugateResidual, 50, Diagonal),
        ("PCR 6×400", LinearMethod::ConjugateResidual, 400, Diagonal),
        ("PCR 6×50, blocks", LinearMethod::ConjugateResidual, 50, BlockDiagonal),
        ("PCR 6×50, incomplete factors", LinearMethod::ConjugateResidual, 50, IncompleteCholesky),
        ("direct 6×1", LinearMethod::Llt, 0, Diagonal),
        ("Gauss–Seidel 6×50", LinearMethod::GaussSeidel, 50, Diagonal),
        ("Jacobi 6×50", LinearMethod::Jacobi, 50, Diagonal),
    ] {
        let mut newton = paper(6, method, l);
        newton.linear.preconditioner = kind;
        if name == WARM {
            newton.start = Start::Warm;
        }
        let (curve, sag) = cantilever(newton, LOAD, steps)?;
        plot.add(name, Mark::Line, curve);
        table.push(vec![name.into(), csv_number(sag), csv_number(closed)]);
        let off = (sag / closed - 1.0).abs();
        let row = Row::new(format!("{name}: deflection of the tip"), sag, "m")
            .against(format!("{closed:.5} m (chain of springs)"));
        rows.push(match method {
            LinearMethod::ConjugateResidual if l == 50 && kind != BlockDiagonal => {
                let row = row.accept("within 2 %", off <= 0.02);
                if off <= 0.02 { row } else { row.because(DIAGONAL) }
            }
            LinearMethod::Llt => row.accept("within 2 %", off <= 0.02),
            LinearMethod::Jacobi => row.accept("off by more than 30 %", off > 0.3 || off.is_nan()),
            _ => row,
        });
    }
    // What fifty iterations can do on the first system of the run, from rest.
    let mut first =
        Steps::new(&cantilever_scene(LOAD), stepping(paper(0, LinearMethod::ConjugateResidual, 50)))?;
    first.step(H)?;
    for (kind, name) in [(Diagonal, "diagonal"), (IncompleteCholesky, "incomplete factors")] {
        let left = residual_left(&first, kind, 50);
        let what = format!("PCR, {name}: residual of the first system left after 50 iterations");
        rows.push(Row::new(what, left, "of the first"));
    }
    ctx.csv("cantilever", &["case", "deflection_m", "closed_m"], &table)?;
    ctx.plot("cantilever", &plot)
}

/// Share of the residual, in the norm of the diagonal, that PCR leaves on the last system of a step.
fn residual_left(sim: &Steps, kind: PreconditionerKind, iterations: usize) -> f64 {
    let mut s = sim.stepper.system().clone();
    let settings = NewtonSettings::default();
    s.prepare(settings.linear.product, kind.needs_matrix(), settings.regularization);
    let mut b = Vec::new();
    s.right_side(&mut b);
    let mut x = vec![0.0; b.len()];
    let linear = LinearSettings { iterations, preconditioner: kind, ..LinearSettings::default() };
    LinearSolver::default().solve(&s, &b, &mut x, &linear);
    let (mut sx, mut work) = (vec![0.0; b.len()], Vec::new());
    s.apply(&x, &mut sx, &mut work);
    let norm =
        |r: &dyn Fn(usize) -> f64| (0..b.len()).map(|i| r(i).powi(2) / s.diagonal(i)).sum::<f64>().sqrt();
    norm(&|i| b[i] - sx[i]) / norm(&|i| b[i])
}

fn insert(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let steps = ctx.pick(132, 160);
    let mut sim = Steps::new(&insertion(), stepping(paper(6, LinearMethod::ConjugateResidual, 50)))?;
    let (mut deepest, mut contacts) = (0.0_f64, 0);
    for _ in 0..steps {
        let r = sim.step(H)?;
        deepest = deepest.max(r.penetration);
        contacts = contacts.max(r.contacts);
    }
    let pose = sim.state.rigid_pose(7 * (SEGMENTS - 1));
    let depth = pose.translation.x + 0.5 * LENGTH - (SEGMENTS as f64 * LENGTH + 0.02);
    rows.push(
        Row::new("insertion: depth of the tip in the slot", depth, "m").against("completes").at_least(0.1),
    );
    rows.push(Row::new("insertion: deepest penetration", deepest, "m").at_most(1e-3));
    rows.push(
        Row::new("insertion: contacts, most", contacts as f64, "")
            .against("300, with an arm and finer meshes"),
    );
    Ok(())
}
