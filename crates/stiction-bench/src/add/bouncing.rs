//! ADD-F6: rigid cubes that bounce on the floor with contact damping.

use crate::{Context, Experiment, Row};
use stiction::steppers::penalty::{Bdf, ContactDamping, Phase, Settings, System};
use stiction::{Body, Geometry, Quat, Scene, Vec3};
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-F6",
    title: "bouncing cubes: restitution by contact damping, BDF2",
    claim: "ADD, Fig. 6 and (22): v_out/v_in = exp(−π k_d/√(4 k_n m − k_d²)); nearly elastic without damping at 1/60 s; symmetric contact stays symmetric",
    run,
};

/// k_n over all contact points of the face [N/m] and mass [kg].
const STIFFNESS: f64 = 1e3;
const MASS: f64 = 1.0;

/// Gravity, and drop height above the floor or speed towards it where there is none.
const G: f64 = 9.81;
const DROP: f64 = 0.5;
/// Places of a step where the impact begins.
const PHASES: usize = 24;
/// Restitution that leaves 99 % and 85 % of the energy.
const LEAST_AT_1_MS: f64 = 0.995;
const LEAST_AT_60_HZ: f64 = 0.922;

fn system(damping: ContactDamping, dt: f64, tilt: f64, gravity: f64) -> Result<System> {
    dropped(damping, dt, tilt, gravity, DROP)
}

/// From another height, at the same speed where there is no gravity.
fn dropped(damping: ContactDamping, dt: f64, tilt: f64, gravity: f64, height: f64) -> Result<System> {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -gravity), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    let mut cube = Body::new("cube", Geometry::Box { half: Vec3::splat(0.1) })
        .at(0.0, 0.0, 0.1 + height)
        .with_mass(MASS);
    if gravity == 0.0 {
        cube.velocity = -Vec3::Z * (2.0 * G * DROP).sqrt();
    }
    cube.pose.rotation = Quat::from_rotation_y(tilt);
    scene.bodies.push(cube);
    // Four corners share the load.
    let settings = Settings { scheme: Bdf::Two, stiffness: STIFFNESS / 4.0, damping, ..Settings::default() };
    let model = scene.compile().map_err(|e| error(e, "this is a defect"))?;
    System::new(model, settings, dt).map_err(|e| error(e, "this is a defect"))
}

/// Times and heights of a fall.
type Path = Vec<(f64, f64)>;

/// Heights over time, the largest tilt [rad], and whether all steps converged.
fn fall(system: &mut System, time: f64) -> Result<(Path, f64, bool)> {
    let steps = (time / system.time_step()).round() as usize;
    let mut phase = system.start();
    let (cube, _) = system.model().free_bodies().next().expect("the experiment drops a cube");
    let pose = |system: &System, phase: &Phase| system.model().com_pose(&phase.state, cube);
    let start = pose(system, &phase);
    let mut next = Phase::default();
    let (mut path, mut tilt, mut solved) = (vec![(0.0, start.translation.z)], 0.0_f64, true);
    for i in 0..steps {
        let n = system.step(&phase, i, &mut next).map_err(|e| error(e, "this is a defect"))?;
        solved &= n.status.is_solved();
        std::mem::swap(&mut phase, &mut next);
        let now = pose(system, &phase);
        tilt = tilt.max(now.rotation.angle_between(start.rotation));
        path.push((phase.state.t, now.translation.z));
    }
    Ok((path, tilt, solved))
}

/// Restitution of the first bounce from the heights before and after it, about the height of contact.
fn restitution(path: &[(f64, f64)]) -> f64 {
    let low = path.windows(3).position(|w| w[1].1 < w[0].1 && w[1].1 <= w[2].1 && w[1].1 < 0.12).unwrap_or(0);
    let top = path[low..].windows(3).find(|w| w[1].1 >= w[0].1 && w[1].1 > w[2].1).map_or(0.1, |w| w[1].1);
    ((top - 0.1).max(0.0) / (path[0].1 - 0.1)).sqrt()
}

/// Speed after the impact over that before it, without gravity.
fn speed(path: &[(f64, f64)]) -> f64 {
    let rate = |w: &[(f64, f64)]| (w[1].1 - w[0].1) / (w[1].0 - w[0].0);
    -path.windows(2).last().map_or(0.0, rate) / path.windows(2).next().map_or(1.0, rate)
}

/// Mean, least and largest restitution without gravity as the impact begins at [`PHASES`] places of a step.
fn phases(damping: ContactDamping, dt: f64) -> Result<(f64, f64, f64)> {
    let way = (2.0 * G * DROP).sqrt() * dt;
    let mut all = Vec::new();
    for k in 0..PHASES {
        let height = DROP + way * k as f64 / PHASES as f64;
        all.push(speed(&fall(&mut dropped(damping, dt, 0.0, 0.0, height)?, 1.2)?.0));
    }
    let extreme = |better: fn(f64, f64) -> f64| all.iter().copied().fold(all[0], better);
    Ok((all.iter().sum::<f64>() / PHASES as f64, extreme(f64::min), extreme(f64::max)))
}

/// Root of rebound over drop height of m z̈ = −k_n z − k_d ż − m g while z < 0, by small steps of the trapezoidal kind.
fn ode(kd: f64) -> f64 {
    let (mut z, mut v, h) = (0.0, -(2.0 * G * DROP).sqrt(), 1e-6);
    let force = |z: f64, v: f64| (-STIFFNESS * z - kd * v) / MASS - G;
    loop {
        let (zm, vm) = (z + 0.5 * h * v, v + 0.5 * h * force(z, v));
        (z, v) = (z + h * vm, v + h * force(zm, vm));
        if z >= 0.0 || v.abs() < 1e-12 {
            return (v.max(0.0).powi(2) / (2.0 * G * DROP)).sqrt();
        }
    }
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut plot = Plot::new("Height of the cube", "t [s]", "z [m]");
    let mut table = Vec::new();
    for (dt, step, name) in [(1e-3, "1-ms", "1 ms"), (1.0 / 60.0, "60-hz", "1/60 s")] {
        for kd in [0.0, 5.0, 20.0] {
            let damping = if kd > 0.0 { ContactDamping::Printed(kd / 4.0) } else { ContactDamping::None };
            for gravity in [0.0, G] {
                let (path, _, solved) = fall(&mut system(damping, dt, 0.0, gravity)?, 1.2)?;
                let e = if gravity == 0.0 { speed(&path) } else { restitution(&path) };
                let closed = (-std::f64::consts::PI * kd / (4.0 * STIFFNESS * MASS - kd * kd).sqrt()).exp();
                let exact = if gravity == 0.0 { closed } else { ode(kd) };
                let weight = if gravity == 0.0 { "without" } else { "with" };
                let id = format!("{step}/kd-{kd}/{weight}-gravity");
                let what = format!("k_d = {kd} N·s/m, {name}, {weight} gravity: restitution");
                let row = Row::new(format!("{id}/restitution"), what, e, "");
                let off = (e / exact - 1.0).abs();
                rows.push(if dt < 2e-3 && kd == 0.0 {
                    row.against("1").at_least(LEAST_AT_1_MS).because("less than 1 % of the energy is lost")
                } else if dt < 2e-3 && gravity == 0.0 {
                    row.against(format!("{closed:.4} (22)")).accept("within 3 %", off <= 0.03)
                } else if dt < 2e-3 {
                    row.against(format!("{exact:.4} (m z̈ = f − m g)"))
                        .accept("within 3 %", off <= 0.03)
                        .because(format!("(22), {closed:.4}, leaves out that weight acts during the contact"))
                } else if kd == 0.0 {
                    row.against("0.945 (BDF2, our check)")
                        .at_least(LEAST_AT_60_HZ)
                        .because("less than 15 % of the energy is lost")
                } else {
                    row.against(format!("{exact:.4} (m z̈ = f − m g)"))
                });
                if dt > 2e-3 && kd > 0.0 && gravity == 0.0 {
                    let (mean, least, most) = phases(damping, dt)?;
                    let expected = if kd < 10.0 { 0.764 } else { 0.393 };
                    rows.push(
                        Row::new(
                            format!("{id}/mean-restitution"),
                            format!("k_d = {kd} N·s/m, {name}: mean over the phase of the impact"),
                            mean,
                            "",
                        )
                        .against(format!("{expected} (correction A5)"))
                        .accept("within 5 %", (mean / expected - 1.0).abs() <= 0.05)
                        .because(format!("from {least:.3} to {most:.3}; (22) {closed:.4}")),
                    );
                }
                if !solved {
                    let what = format!("k_d = {kd}, {name}, {weight} gravity: steps without a root");
                    rows.push(Row::new(format!("{id}/rootless-steps"), what, 1.0, "").because(
                        "the printed damping jumps at g = 0, so that a step may have no solution (correction A10)",
                    ));
                }
                for (t, z) in path.iter().step_by(if dt < 2e-3 { 16 } else { 1 }) {
                    let cells = [kd, dt, gravity, *t, *z];
                    table.push(cells.into_iter().map(csv_number).collect());
                }
                if gravity > 0.0 {
                    plot.add(&format!("k_d {kd}, {name}"), Mark::Line, path);
                }
            }
        }
    }
    let time = ctx.pick(4.0, 8.0);
    let (path, tilt, _) = fall(&mut system(ContactDamping::None, 1.0 / 60.0, 0.0, G)?, time)?;
    let bounces = path.windows(3).filter(|w| w[1].1 < w[0].1 && w[1].1 <= w[2].1 && w[1].1 < 0.12).count();
    rows.push(
        Row::new("symmetric-start/tilt", format!("tilt after {bounces} symmetric bounces"), tilt, "rad")
            .against("0")
            .at_most(1e-6),
    );
    let (_, tilt, _) = fall(&mut system(ContactDamping::None, 1.0 / 60.0, 1f64.to_radians(), G)?, time)?;
    rows.push(
        Row::new("tilted-start/tilt", "tilt from a start at 1°", tilt.to_degrees(), "°")
            .against("breaks the symmetry")
            .at_least(5.0),
    );
    let (_, _, solved) = fall(&mut system(ContactDamping::HuntCrossley(0.3), 1.0 / 60.0, 0.1, G)?, time)?;
    rows.push(
        Row::new(
            "hunt-crossley/solved",
            "steps that converge with Hunt–Crossley damping",
            f64::from(u8::from(solved)),
            "of 1",
        )
        .at_least(1.0),
    );
    ctx.plot("height", &plot)?;
    ctx.csv("height", &["k_d", "dt", "gravity", "t", "z"], &table)?;
    Ok(rows)
}
