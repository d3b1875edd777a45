//! What belongs to one scene alone: whether the ball is held, the capstan ratio of a wound cable, and the gripper against one of finer fingers, which
//! stands for the experiment of the paper.

use super::scenes;
use super::tables::{draw_ball, draw_gripper};
use super::trial::{DT, normal_force};
use crate::runs::{broke, simulate};
use crate::{Context, Row};
use std::f64::consts::PI;
use stiction::elastic::Section;
use stiction::scene::{Fixing, Force, Motion, Rod, RodHold};
use stiction::{Body, Geometry, Quat, Scene, Simulation, SolverKind, Vec3};
use stiction_cli::failure::Result;

const MU: f64 = 0.4;
const DRUM: f64 = 0.1;
const ROPE: f64 = 0.001;

/// A cable over the upper half of a drum that turns below it, held at one end and pulled by 1 N at the other.
fn drum(links: usize) -> Scene {
    let down = 0.06;
    let mut scene = Scene::default();
    scene.contact.margin = Some(2e-3);
    let mut drum = Body::new("drum", Geometry::Capsule { half_height: 0.2, radius: DRUM }).with_friction(MU);
    drum.pose.rotation = Quat::from_rotation_x(0.5 * PI);
    drum.motion = Motion::Constant { velocity: Vec3::ZERO, spin: 2.0 * Vec3::Y };
    scene.bodies.push(drum);
    // The middle of a link touches, its ends stand off.
    let r = DRUM + ROPE;
    let r = r.hypot(0.5 * (PI * r + 2.0 * down) / links as f64);
    let section = Section { radius: ROPE, young: 2e7, poisson: 0.3 };
    let mut rod = Rod::new("cable", Vec3::ZERO, Vec3::X, links, section);
    rod.points = [(-r, -down), (-r, r), (r, r), (r, -down)].map(|(x, z)| Vec3::new(x, 0.0, z)).to_vec();
    (rod.corner_radius, rod.friction, rod.damping) = (r, MU, 2e-3);
    rod.ends[0] = Some(RodHold { to: None, fixing: Fixing::Pinned });
    let (force, torque) = (-Vec3::Z, Vec3::ZERO);
    scene.forces.push(Force {
        target: rod.link(links - 1),
        force,
        torque,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    });
    scene.rods.push(rod);
    scene
}

/// The tension at the held end over the pull, against exp(μ θ).
pub fn capstan(_: &mut Context) -> Result<Vec<Row>> {
    let expected = (MU * PI).exp();
    [SolverKind::CondE, SolverKind::Exact]
        .into_iter()
        .map(|kind| {
            let mut sim = simulate(&drum(60), kind)?;
            for _ in 0..150 {
                sim.step(DT).map_err(broke)?;
            }
            let joint = &sim.model().rods[0].joints[0];
            let tension = joint.element.force(&sim.kinematics().rod_frames(joint)).length();
            Ok(Row::new(
                format!("capstan/{}", kind.name()),
                format!("capstan, {}: tension over pull", kind.name()),
                tension,
                "",
            )
            .against(format!("exp(μ π) = {expected:.4}"))
            .accept("within 5 %", (tension / expected - 1.0).abs() <= 0.05))
        })
        .collect()
}

/// Mean height of a soft body [m].
fn height(sim: &Simulation) -> f64 {
    let ball = &sim.model().solids[0];
    let sum: f64 = ball.vertices.iter().map(|a| sim.kinematics().position(a).z).sum();
    sum / ball.vertices.len() as f64
}

/// Whether the fingers lift the ball with them: all of their way but what it slips and sags.
pub fn held_ball(ctx: &mut Context) -> Result<Vec<Row>> {
    ctx.note("lifting the ball");
    let (shells, steps) = ctx.pick((4, 62), (7, 62));
    let way = 0.07;
    let mut sim = simulate(&scenes::ball(draw_ball(0), shells), SolverKind::CondE)?;
    let start = height(&sim);
    for _ in 0..steps {
        sim.step(DT).map_err(broke)?;
    }
    let share = (height(&sim) - start) / way;
    Ok(vec![Row::new("lift", "COND-E: lift of the ball over that of the fingers", share, "×").at_least(0.9)])
}

/// Contact force [N] and mean place [m] of the left finger after some steps.
fn grip(cells: [usize; 3], steps: usize) -> Result<(f64, Vec3)> {
    let mut sim = simulate(&scenes::soft_gripper(draw_gripper(0), cells), SolverKind::Exact)?;
    for _ in 0..steps {
        sim.step(DT).map_err(broke)?;
    }
    let left = &sim.model().solids[0];
    let sum: Vec3 = left.vertices.iter().map(|a| sim.kinematics().position(a)).sum();
    Ok((
        normal_force(
            sim.problem().expect("a velocity step"),
            &sim.solution().expect("a velocity step").lambda,
        ),
        sum / left.vertices.len() as f64,
    ))
}

/// Force and displacement of the gripper against fingers of twice the resolution.
pub fn finer_fingers(ctx: &mut Context) -> Result<Vec<Row>> {
    let (cells, fine, steps) = ctx.pick(([4, 4, 12], [6, 6, 18], 25), ([8, 8, 24], [12, 12, 36], 25));
    ctx.note("fingers of a finer mesh");
    let ((force, place), (finer_force, finer_place)) = (grip(cells, steps)?, grip(fine, steps)?);
    Ok(vec![
        Row::new("contact-force", "contact force, all contacts", force, "N"),
        Row::new(
            "finer-fingers/force-error",
            "FE: error of the force against a finer mesh",
            (force - finer_force).abs(),
            "N",
        )
        .against("0.117 (against a sensor, all solvers)"),
        Row::new(
            "finer-fingers/place-error",
            "DE: error of a finger's place against a finer mesh",
            1e3 * (place - finer_place).length(),
            "mm",
        )
        .against("1.90 (against a marker, all solvers)"),
    ])
}
