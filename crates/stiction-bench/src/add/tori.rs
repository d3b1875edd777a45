//! ADD-F5: three soft tori that fall on an incline and against a wall, by all friction models.

use super::common::{defect, foam, system, wall};
use crate::{Context, Experiment, Row};
use stiction::mesh::shapes;
use stiction::model::ModelNode;
use stiction::steppers::penalty::{Bdf, FrictionModel, Phase, Settings, System};
use stiction::{Body, Geometry, Quat, Scene, State, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-F5",
    title: "three soft tori on an incline of 20° with a wall, BDF2",
    claim: "ADD, Fig. 5: all models converge to 1e-10; 119, 179 and 181 s for linear, tanh and hybrid (1930 tets)",
    run,
};

const DT: f64 = 1.0 / 60.0;

/// Three tori above an incline, seen along it.
pub fn scene(rings: usize, segments: usize) -> Scene {
    let a = 20f64.to_radians();
    let mut scene = Scene { gravity: Vec3::new(a.sin(), 0.0, -a.cos()) * 9.81, ..Scene::default() };
    scene.bodies.push(Body::new("incline", Geometry::Plane).fixed().with_friction(0.4));
    scene.bodies.push(wall(0.8, 0.8));
    for k in 0..3 {
        let mesh = shapes::torus(0.08, 0.03, rings, segments);
        let mut torus = foam(&format!("torus {k}"), mesh, 2.1e4, 150.0, 0.1, 0.4);
        torus.pose.translation = Vec3::new(0.0, 0.3 * k as f64, 0.3);
        torus.pose.rotation = Quat::from_rotation_x(0.5 * k as f64) * Quat::from_rotation_y(0.4);
        torus.velocity = Vec3::new(1.0, 0.0, 0.0);
        torus.spin = Vec3::new(1.0, 4.0, 2.0);
        scene.solids.push(torus);
    }
    scene
}

/// Angular momentum of a torus about its centre [kg·m²/s].
fn spin(system: &System, s: &State, k: usize) -> Vec3 {
    let model = system.model();
    let nodes = &model.nodes[model.solids[k].nodes.clone()];
    let mass: f64 = nodes.iter().map(|n| n.mass).sum();
    let mean =
        |of: fn(&ModelNode, &State) -> Vec3| nodes.iter().map(|n| of(n, s) * n.mass).sum::<Vec3>() / mass;
    let (x, v) = (mean(ModelNode::position), mean(ModelNode::velocity));
    let of = |n: &ModelNode| (n.position(s) - x).cross(n.velocity(s) - v) * n.mass;
    nodes.iter().map(of).sum()
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let (rings, segments) = ctx.pick((1, 10), (2, 16));
    let steps = ctx.pick(60, 90);
    let (mut rows, mut costs) = (Vec::new(), Vec::new());
    for friction in FrictionModel::ALL {
        let settings = Settings { scheme: Bdf::Two, friction, ..Settings::default() };
        let mut system = system(&scene(rings, segments), settings, DT)?;
        let tets: usize = system.model().solids.iter().map(|s| s.tets.len()).sum();
        let mut phase = system.start();
        let mut next = Phase::default();
        let (mut unsolved, mut iterations, mut flight, mut lost) = (0, 0, true, 0.0_f64);
        let start: Vec<Vec3> = (0..3).map(|k| spin(&system, &phase.state, k)).collect();
        let clock = Stopwatch::start();
        for i in 0..steps {
            let newton = system.step(&phase, i, &mut next).map_err(defect)?;
            std::mem::swap(&mut phase, &mut next);
            unsolved += usize::from(!newton.status.is_solved());
            iterations += newton.iterations;
            flight &= newton.contacts == 0;
            if flight {
                for (k, l) in start.iter().enumerate() {
                    lost = lost.max((spin(&system, &phase.state, k) - *l).length() / l.length());
                }
            }
        }
        let took = clock.elapsed();
        costs.push(took.cpu.unwrap_or(took.wall));
        let name = friction.name();
        rows.push(
            Row::new(
                format!("{name}/unsolved-steps"),
                format!("{name}: steps that did not converge, {tets} tets"),
                unsolved as f64,
                "",
            )
            .at_most(0.0),
        );
        rows.push(Row::new(
            format!("{name}/newton-steps"),
            format!("{name}: Newton steps per step"),
            iterations as f64 / steps as f64,
            "",
        ));
        if friction == FrictionModel::Linear {
            let what = "loss of angular momentum in flight";
            rows.push(
                Row::new("linear/angular-momentum-loss", what, 100.0 * lost, "%")
                    .at_most(1.0)
                    .because("BDF2 is not symplectic, and viscosity sees a rotation as strain to second order (correction A4)"),
            );
        }
    }
    for (name, k, paper) in [("tanh", 1, "1.50 ×"), ("hybrid", 2, "1.52 ×")] {
        let row = Row::new(
            format!("{name}-over-linear/time"),
            format!("CPU time of {name} over linear"),
            costs[k] / costs[0],
            "×",
        )
        .against(paper);
        rows.push(row.accept("0.8 to 2 ×", (0.8..=2.0).contains(&(costs[k] / costs[0]))));
    }
    Ok(rows)
}
