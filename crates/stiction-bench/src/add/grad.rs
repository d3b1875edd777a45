//! ADD-grad: adjoint, direct sensitivities and finite differences of every kind of parameter, and what the adjoint costs.

use crate::{Context, Experiment, Row};
use stiction::coords::{Anchor, BodyId, NodeId, SoftId};
use stiction::diff::{Markers, Motion, Param, ParamSet, PointTarget, Tape, check_grad};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Owner, SoftBody};
use stiction::steppers::penalty::{Bdf, ContactDamping, FrictionModel, Settings, System};
use stiction::{Body, Geometry, Quat, Scene, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-grad",
    title: "gradients of rigid, soft and coupled motions against finite differences",
    claim: "ADD, section 3: adjoint and sensitivities are exact; the adjoint costs less than a simulation, whatever the number of parameters",
    run,
};

/// Which motion is differentiated.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Rigid,
    Soft,
    Coupled,
    /// A box that slides and then sticks on a slope.
    RigidAtRest,
    /// A soft block on a plate, both of which slide and then stick.
    CoupledAtRest,
}

/// Id and name of each.
const KINDS: [(&str, &str, Kind); 5] = [
    ("rigid", "rigid", Kind::Rigid),
    ("soft", "soft", Kind::Soft),
    ("coupled", "coupled", Kind::Coupled),
    ("rigid-to-rest", "rigid, to rest", Kind::RigidAtRest),
    ("coupled-to-rest", "coupled, to rest", Kind::CoupledAtRest),
];

impl Kind {
    fn has_rigid(self) -> bool {
        self != Kind::Soft
    }

    fn has_soft(self) -> bool {
        !matches!(self, Kind::Rigid | Kind::RigidAtRest)
    }

    fn scene(self, cells: usize) -> Scene {
        let mut scene = scene(self.has_rigid(), self.has_soft(), cells);
        if matches!(self, Kind::RigidAtRest | Kind::CoupledAtRest) {
            scene.gravity.x = 1.2;
            let body = &mut scene.bodies[1];
            let half = if self.has_soft() { Vec3::new(0.2, 0.2, 0.03) } else { Vec3::new(0.1, 0.12, 0.08) };
            *body = Body::new("cube", Geometry::Box { half }).with_mass(0.5).with_friction(0.4);
            body.pose.translation.z = half.z + 0.0005;
            (body.velocity, body.spin) = (Vec3::new(0.25, 0.07, -0.02), Vec3::new(0.02, 0.03, 0.3));
            for block in &mut scene.solids {
                block.pose.translation.z = 2.0 * half.z + 0.001;
                block.velocity = Vec3::new(0.2, 0.05, -0.05);
            }
        }
        scene
    }
}

fn scene(rigid: bool, soft: bool, cells: usize) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.4));
    if rigid {
        let mut cube = Body::new("cube", Geometry::Box { half: Vec3::new(0.1, 0.12, 0.08) }).with_mass(0.5);
        cube = cube.at(0.0, 0.0, if soft { 0.22 } else { 0.17 });
        cube.pose.rotation = Quat::from_rotation_y(0.3) * Quat::from_rotation_x(0.2);
        cube.velocity = Vec3::new(1.0, 0.3, -0.5);
        cube.spin = Vec3::new(1.0, 2.0, -0.7);
        scene.bodies.push(cube.with_friction(0.4));
    }
    if soft {
        let law = Law::NeoHookean { threshold: 0.1 };
        let material = Material { law, young: 2e4, poisson: 0.3, density: 150.0 };
        let mut block = SoftBody::new("block", shapes::block([cells; 3], Vec3::splat(0.1)), material);
        block.damping = Damping { mass: 0.1, stiffness: 0.0, viscosity: 2.0 };
        block.friction = 0.4;
        block.pose.translation = Vec3::new(-0.05, -0.05, if rigid { 0.002 } else { 0.02 });
        block.velocity = Vec3::new(0.8, 0.1, -0.6);
        scene.solids.push(block);
    }
    scene
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let defect = |e: &dyn std::fmt::Display| error(e, "this is a defect");
    let steps = ctx.pick(25, 50);
    // 8 and 27 nodes.
    let (cells, last) = ctx.pick((1, 6), (2, 20));
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for (case, name, kind) in KINDS {
        let (rigid, soft) = (kind.has_rigid(), kind.has_soft());
        for scheme in [Bdf::One, Bdf::Two] {
            for friction in FrictionModel::ALL {
                let damping = ContactDamping::HuntCrossley(0.3);
                let settings =
                    Settings { scheme, friction, damping, tolerance: 1e-12, ..Settings::default() };
                let model = kind.scene(cells).compile().map_err(|e| defect(&e))?;
                let mut system = System::new(model, settings, 1.0 / 80.0).map_err(|e| defect(&e))?;
                let mut list = vec![
                    Param::ContactStiffness,
                    Param::ContactDamping,
                    system.sites().pairs[0].friction(),
                    Param::Gravity(2),
                ];
                if rigid {
                    let (b, o) = (BodyId(1), Owner::Body(BodyId(1)));
                    list.extend([
                        Param::Mass(b),
                        Param::Moment(b, 0),
                        Param::Position(o, 2),
                        Param::Orientation(o, 0),
                    ]);
                    list.extend([Param::Velocity(o, 0), Param::Spin(o, 1)]);
                }
                if soft {
                    let (s, o) = (SoftId(0), Owner::Solid(SoftId(0)));
                    list.extend([Param::Young(s), Param::Poisson(s), Param::Density(s), Param::Viscosity(s)]);
                    list.extend([Param::RestNode(s, 0, 2), Param::Velocity(o, 0), Param::Spin(o, 1)]);
                }
                let mut set = ParamSet::new(&system, list).map_err(|e| defect(&e))?;
                let goal = Vec3::new(0.5, 0.2, 0.3);
                // Markers, because the weights of a soft centre of mass change with the rest shape.
                let points = vec![
                    if soft {
                        Anchor::Node(NodeId(0))
                    } else {
                        Anchor::Body { body: BodyId(1), local: goal * 0.1 }
                    },
                    if soft {
                        Anchor::Node(NodeId(last))
                    } else {
                        Anchor::Body { body: BodyId(1), local: Vec3::ZERO }
                    },
                ];
                let seen = (0..2).map(|k| (steps - k, k, goal)).collect();
                let objective = Markers { points, seen };
                let check = check_grad(&mut system, &mut set, steps, &objective).map_err(|e| defect(&e))?;
                let order = if scheme == Bdf::One { 1 } else { 2 };
                let id = format!("{case}/bdf{order}/{}", friction.name());
                let what = format!("{name}, BDF{order}, {}", friction.name());
                let worst = check.rows.iter().map(|r| r.error).fold(0.0, f64::max);
                let row = Row::new(
                    format!("{id}/worst-error"),
                    format!("{what}: worst of {} parameters", check.rows.len()),
                    worst,
                    "relative",
                )
                .at_most(1e-6);
                let off: Vec<&str> =
                    check.rows.iter().filter(|r| r.error > 1e-6).map(|r| r.name.as_str()).collect();
                rows.push(if off.is_empty() { row } else { row.because(off.join(", ")) });
                rows.push(
                    Row::new(
                        format!("{id}/forward-residual"),
                        format!("{what}: forward residual"),
                        check.residual,
                        "of the goal",
                    )
                    .at_most(1.0),
                );
                if friction == FrictionModel::Hybrid {
                    let held =
                        Motion::run(&mut system, &mut set, steps, Tape::Full).map_err(|e| defect(&e))?;
                    let held: usize = held.newton.iter().map(|n| n.stuck.len()).sum();
                    let row = Row::new(
                        format!("{id}/points-held"),
                        format!("{what}: points held, sum over steps"),
                        held as f64,
                        "",
                    );
                    let rest = matches!(kind, Kind::RigidAtRest | Kind::CoupledAtRest);
                    rows.push(if rest { row.at_least(steps as f64) } else { row });
                }
                for r in &check.rows {
                    let cells = [r.adjoint, r.direct, r.difference, r.error, r.slope];
                    table.push(
                        [what.clone(), r.name.clone()].into_iter().chain(cells.map(csv_number)).collect(),
                    );
                }
            }
        }
    }
    // What the adjoint costs, with few and with many parameters.
    let model = scene(false, true, ctx.pick(4, 6)).compile().map_err(|e| defect(&e))?;
    let tets = model.solids[0].tets.len();
    let mut system = System::new(model, Settings::default(), 1.0 / 80.0).map_err(|e| defect(&e))?;
    let (s, o) = (SoftId(0), Owner::Solid(SoftId(0)));
    let objective = PointTarget { owner: o, step: steps, target: Vec3::ZERO, weight: Vec3::ONE };
    for many in [1, 60] {
        let mut list = vec![Param::Young(s), Param::Velocity(o, 0)];
        list.extend((0..many).map(|k| Param::RestNode(s, k as u32 / 3, k % 3)));
        let mut set = ParamSet::new(&system, list).map_err(|e| defect(&e))?;
        let clock = Stopwatch::start();
        let mut motion = Motion::run(&mut system, &mut set, steps, Tape::Full).map_err(|e| defect(&e))?;
        let forward = clock.elapsed();
        let clock = Stopwatch::start();
        motion.gradient(&objective).map_err(|e| defect(&e))?;
        let back = clock.elapsed();
        let ratio = back.cpu.zip(forward.cpu).map_or(back.wall / forward.wall, |(a, b)| a / b);
        let count = many + 2;
        let what = format!("adjoint over forward run, {tets} tets, {count} parameters");
        rows.push(
            Row::new(format!("{count}-parameters/adjoint-over-run"), what, ratio, "×")
                .against("≤ 2 ×, independent of the number")
                .at_most(2.0),
        );
    }
    ctx.csv(
        "parameters",
        &["case", "parameter", "adjoint", "direct", "difference", "error", "taylor"],
        &table,
    )?;
    Ok(rows)
}
