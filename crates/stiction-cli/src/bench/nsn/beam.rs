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
/// Why fifty cold iterations with the published preconditioner do not hold the cantilever.
const DIAGONAL: &str = "bending in the plane of the load couples 3 × 15 rows, which conjugate residuals end in 45 iterations, \
     or about 50 with rounding (rows below): the whole budget, in every cold step anew. Where they end, their polynomial is \
     huge on the modes across the plane, and lifts rounding there until all 90 rows count (motion across: rows below); MINRES does \
     the same. And the joints give by only 6e-4 of what free segments would (2 n I/(k h²)), so that 2 % asks for residuals of \
     1e-5. 33 rows of twelve bodies are held, and fifteen joints by 100 iterations or with carried multipliers";
/// The published iterations, with carried multipliers, and on a shorter beam.
const COLD: &str = "PCR 6×50";
const WARM: &str = "PCR 6×50, warm";
const SHORT: &str = "PCR 6×50, 12 bodies";
/// Load at the tip [N].
const LOAD: f64 = 2.0;

/// A beam of `count` segments along x at height `z`, with `times` the given masses and stiffness. Its first segment is joined to
/// `holder`, or held where there is none.
fn beam(scene: &mut Scene, count: usize, z: f64, times: f64, holder: Option<&str>) {
    for k in 0..count {
        let half = Vec3::new(0.5 * LENGTH * 0.98, HALF, HALF);
        let body = Body::new(format!("segment {k}"), Geometry::Box { half })
            .at((k as f64 + 0.5) * LENGTH, 0.0, z)
            .with_mass(times * MASS)
            .with_friction(0.3);
        scene.bodies.push(if k == 0 && holder.is_none() { body.fixed() } else { body });
        let at = Vec3::new(k as f64 * LENGTH, 0.0, z);
        let before = match (k, holder) {
            (0, None) => continue,
            (0, Some(holder)) => holder.to_string(),
            _ => format!("segment {}", k - 1),
        };
        let mut joint = Joint::new(format!("joint {k}"), JointKind::Ball, before, format!("segment {k}"))
            .at(at)
            .about(Vec3::X);
        joint.springs.bend = Some(Spring::new(times * STIFFNESS, 0.0));
        joint.springs.twist = Some(Spring::new(times * STIFFNESS, 0.0));
        scene.joints.push(joint);
    }
}

/// The beam is carried into a slot that is a little higher than it: the mouth is 2 mm off.
pub fn insertion() -> Scene {
    insertion_of(1.0)
}

/// The same with `times` the masses and stiffness: it moves alike, and all forces are so many times larger.
pub fn insertion_of(times: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    let at = |x: f64, z: f64| Pose::from_translation(Vec3::new(x, 0.0, z));
    let mut gripper = Body::new("gripper", Geometry::Box { half: Vec3::splat(0.01) }).at(-0.02, 0.0, 0.3);
    gripper.motion = Motion::Keyframes {
        keys: vec![Keyframe { time: 0.0, pose: at(-0.02, 0.3) }, Keyframe { time: 1.1, pose: at(0.13, 0.3) }],
        ease: Ease::Smooth,
    };
    scene.bodies.push(gripper);
    beam(&mut scene, SEGMENTS, 0.3, times, Some("gripper"));
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

/// Deflection of the tip of a chain of `count` bodies under a load: each joint turns by M/k (and by the weight of what it
/// carries).
fn closed_form(load: f64, count: usize) -> f64 {
    let joints = (1..count).map(|k| (count - k) as f64 * LENGTH);
    let weight = |x: f64| 0.5 * x * (x / LENGTH) * MASS * 9.81;
    joints.map(|x| (load * x + weight(x)) / STIFFNESS * x).sum()
}

/// A beam of `count` bodies, of which the first is held, with a load at its tip.
fn cantilever_scene(load: f64, count: usize) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    beam(&mut scene, count, 0.0, 1.0, None);
    scene.forces.push(Force {
        target: format!("segment {}", count - 1),
        force: Vec3::new(0.0, 0.0, -load),
        torque: Vec3::ZERO,
        at: Some(Vec3::new(0.5 * LENGTH, 0.0, 0.0)),
        from: 0.0,
        until: f64::INFINITY,
    });
    scene
}

/// How a cantilever moved.
struct Sag {
    /// Deflection of the tip over time.
    curve: Vec<(f64, f64)>,
    /// Its mean over the last quarter: implicit Euler damps the swing.
    tip: f64,
    /// Largest motion across the plane of the load at the end [m].
    across: f64,
}

fn cantilever(newton: NewtonSettings, count: usize, steps: usize) -> Result<Sag> {
    let mut sim = Steps::new(&cantilever_scene(LOAD, count), stepping(newton))?;
    let mut curve = Vec::new();
    for _ in 0..steps {
        if sim.step(H).is_err() {
            break;
        }
        // The first body is no part of the state.
        let pose = sim.state.rigid_pose(7 * (count - 2));
        curve.push((sim.state.t, -pose.transform_point(Vec3::new(0.5 * LENGTH, 0.0, 0.0)).z));
    }
    let tail = &curve[curve.len() - curve.len() / 4 - 1..];
    let tip = tail.iter().map(|p: &(f64, f64)| p.1).sum::<f64>() / tail.len() as f64;
    let across = sim.state.q.chunks_exact(7).fold(0.0_f64, |m, q| m.max(q[1].abs()));
    Ok(Sag { curve, tip, across })
}

fn statics(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let steps = ctx.pick(120, 240);
    let mut table = Vec::new();
    let mut plot = Plot::new("Cantilever under a tip load", "t [s]", "deflection [m]");
    use PreconditionerKind::{BlockDiagonal, Diagonal, IncompleteCholesky};
    for (name, method, l, kind) in [
        (COLD, LinearMethod::ConjugateResidual, 50, Diagonal),
        (WARM, LinearMethod::ConjugateResidual, 50, Diagonal),
        (SHORT, LinearMethod::ConjugateResidual, 50, Diagonal),
        ("PCR 6×100", LinearMethod::ConjugateResidual, 100, Diagonal),
        ("MINRES 6×50", LinearMethod::Minres, 50, Diagonal),
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
        let count = if name == SHORT { 12 } else { SEGMENTS };
        let closed = closed_form(LOAD, count);
        let Sag { curve, tip: sag, across } = cantilever(newton, count, steps)?;
        plot.add(name, Mark::Line, curve);
        table.push(vec![name.into(), csv_number(sag), csv_number(closed)]);
        let off = (sag / closed - 1.0).abs();
        let row = Row::new(format!("{name}: deflection of the tip"), sag, "m")
            .against(format!("{closed:.5} m (chain of springs)"));
        rows.push(match name {
            COLD if off > 0.02 => row.accept("within 2 %", false).because(DIAGONAL),
            COLD | WARM | SHORT | "PCR 6×50, incomplete factors" | "direct 6×1" => {
                row.accept("within 2 %", off <= 0.02)
            }
            "Jacobi 6×50" => row.accept("off by more than 30 %", off > 0.3 || off.is_nan()),
            _ => row,
        });
        if [COLD, SHORT, "PCR 6×100"].contains(&name) {
            rows.push(Row::new(format!("{name}: motion across the plane of the load"), across, "m"));
        }
    }
    // What PCR leaves of the second system of the first step, when the beam is no longer straight.
    let mut first = Steps::new(&cantilever_scene(LOAD, SEGMENTS), stepping(paper(1, LinearMethod::Llt, 0)))?;
    first.step(H)?;
    for iterations in [45, 50, 64] {
        let left = residual_left(&first, Diagonal, iterations);
        let what = format!("PCR, diagonal: residual of the second system left after {iterations} iterations");
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
