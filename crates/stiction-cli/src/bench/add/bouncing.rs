//! ADD-F6: rigid cubes that bounce on the floor with contact damping.

use crate::bench::{Context, Experiment, Row};
use crate::failure::{Result, error};
use crate::output::csv_number;
use crate::svg::{Mark, Plot};
use stiction::solvers::penalty::{Bdf, ContactDamping, Phase, Settings, System};
use stiction::{Body, Geometry, Quat, Scene, Vec3};

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

fn system(damping: ContactDamping, dt: f64, tilt: f64) -> Result<System> {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    let mut cube =
        Body::new("cube", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.6).with_mass(MASS);
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
    let start = phase.state.rigid_pose(0).rotation;
    let mut next = Phase::default();
    let (mut path, mut tilt, mut solved) = (vec![(0.0, phase.state.q[2])], 0.0_f64, true);
    for i in 0..steps {
        let n = system.step(&phase, i, &mut next).map_err(|e| error(e, "this is a defect"))?;
        solved &= n.status.is_solved();
        std::mem::swap(&mut phase, &mut next);
        tilt = tilt.max(phase.state.rigid_pose(0).rotation.angle_between(start));
        path.push((phase.state.t, phase.state.q[2]));
    }
    Ok((path, tilt, solved))
}

/// Restitution of the first bounce from the heights before and after it, about the height of contact.
fn restitution(path: &[(f64, f64)]) -> f64 {
    let low = path.windows(3).position(|w| w[1].1 < w[0].1 && w[1].1 <= w[2].1 && w[1].1 < 0.12).unwrap_or(0);
    let top = path[low..].windows(3).find(|w| w[1].1 >= w[0].1 && w[1].1 > w[2].1).map_or(0.1, |w| w[1].1);
    ((top - 0.1).max(0.0) / (path[0].1 - 0.1)).sqrt()
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut plot = Plot::new("Height of the cube", "t [s]", "z [m]");
    let mut table = Vec::new();
    for (dt, name) in [(1e-3, "1 ms"), (1.0 / 60.0, "1/60 s")] {
        for kd in [0.0, 5.0, 20.0] {
            let damping = if kd > 0.0 { ContactDamping::Printed(kd / 4.0) } else { ContactDamping::None };
            let (path, _, solved) = fall(&mut system(damping, dt, 0.0)?, 1.2)?;
            let e = restitution(&path);
            let closed = (-std::f64::consts::PI * kd / (4.0 * STIFFNESS * MASS - kd * kd).sqrt()).exp();
            let row = Row::new(format!("k_d = {kd} N·s/m, {name}: restitution"), e, "");
            // Gravity acts while the cube is in contact, which (22) leaves out.
            rows.push(if dt < 2e-3 {
                let off = (e / closed - 1.0).abs();
                row.against(format!("{closed:.4} (22)")).accept("within 3 %", off <= 0.03).because(
                    "(22) knows no gravity, which here acts during the contact and takes from slow rebounds",
                )
            } else if kd == 0.0 {
                row.against("0.945 (BDF2, our check)").at_least(0.92)
            } else {
                row.against(format!("{closed:.4} (22), band of the phase of impact"))
            });
            if !solved {
                rows.push(Row::new(format!("k_d = {kd}, {name}: steps without a root"), 1.0, "").because(
                    "the printed damping jumps at g = 0, so that a step may have no solution (correction A10)",
                ));
            }
            for (t, z) in path.iter().step_by(if dt < 2e-3 { 16 } else { 1 }) {
                table.push(vec![csv_number(kd), csv_number(dt), csv_number(*t), csv_number(*z)]);
            }
            plot.add(&format!("k_d {kd}, {name}"), Mark::Line, path);
        }
    }
    let time = ctx.pick(4.0, 8.0);
    let (path, tilt, _) = fall(&mut system(ContactDamping::None, 1.0 / 60.0, 0.0)?, time)?;
    let bounces = path.windows(3).filter(|w| w[1].1 < w[0].1 && w[1].1 <= w[2].1 && w[1].1 < 0.12).count();
    rows.push(
        Row::new(format!("tilt after {bounces} symmetric bounces"), tilt, "rad").against("0").at_most(1e-6),
    );
    let (_, tilt, _) = fall(&mut system(ContactDamping::None, 1.0 / 60.0, 1f64.to_radians())?, time)?;
    rows.push(
        Row::new("tilt from a start at 1°", tilt.to_degrees(), "°")
            .against("breaks the symmetry")
            .at_least(5.0),
    );
    let (_, _, solved) = fall(&mut system(ContactDamping::HuntCrossley(0.3), 1.0 / 60.0, 0.1)?, time)?;
    rows.push(
        Row::new("steps that converge with Hunt–Crossley damping", f64::from(u8::from(solved)), "of 1")
            .at_least(1.0),
    );
    ctx.plot("height", &plot)?;
    ctx.csv("height", &["k_d", "dt", "t", "z"], &table)?;
    Ok(rows)
}
