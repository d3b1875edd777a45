//! ADD-coupling: rigid and soft bodies push each other with one force, and joints hold.

use super::common::{defect, foam, system};
use crate::{Context, Experiment, Row};
use stiction::coords::BodyId;
use stiction::mesh::shapes;
use stiction::scene::{Joint, JointAnchor, JointKind};
use stiction::steppers::penalty::{Bdf, Phase, Settings, System};
use stiction::{Body, Geometry, Scene, State, Vec3};
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-coupling",
    title: "two-way coupling of rigid and soft bodies; joints of a swinging chain",
    claim: "momentum is kept to the tolerance of the solver; joints by stiff springs open by no more than their force over k",
    run,
};

/// Momentum [kg·m/s] and angular momentum about the origin [kg·m²/s].
fn momentum(system: &System, s: &State) -> (Vec3, Vec3) {
    let model = system.model();
    let (mut p, mut l) = (Vec3::ZERO, Vec3::ZERO);
    for n in &model.nodes {
        let (x, v) = (n.position(s), n.velocity(s) * n.mass);
        p += v;
        l += x.cross(v);
    }
    for (id, b) in model.free_bodies() {
        let (pose, (v, w)) = (model.com_pose(s, id), model.com_velocity(s, id));
        p += v * b.mass;
        l += pose.translation.cross(v * b.mass) + b.world_inertia(pose.rotation) * w;
    }
    (p, l)
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (scheme, id, name) in [(Bdf::One, "bdf1", "BDF1"), (Bdf::Two, "bdf2", "BDF2")] {
        let mut scene = Scene { gravity: Vec3::ZERO, ..Scene::default() };
        let mut ball =
            Body::new("ball", Geometry::Sphere { radius: 0.05 }).at(-0.12, 0.01, 0.02).with_mass(0.3);
        ball.velocity = Vec3::new(1.5, 0.0, 0.0);
        ball.spin = Vec3::new(0.0, 3.0, 0.0);
        scene.bodies.push(ball.with_friction(0.4));
        let mut block = foam("block", shapes::block([2; 3], Vec3::splat(0.1)), 2e4, 150.0, 0.0, 0.4);
        block.pose.translation = Vec3::new(-0.05, -0.05, -0.05);
        scene.solids.push(block);
        let mut system = system(&scene, Settings { scheme, ..Settings::default() }, 1.0 / 240.0)?;
        let mut phase = system.start();
        let mut next = Phase::default();
        let first = momentum(&system, &phase.state);
        let (mut off, mut turned, mut touched) = (0.0_f64, 0.0_f64, 0);
        for i in 0..ctx.pick(120, 240) {
            let newton = system.step(&phase, i, &mut next).map_err(defect)?;
            std::mem::swap(&mut phase, &mut next);
            touched += usize::from(newton.contacts > 0);
            let (p, l) = momentum(&system, &phase.state);
            off = off.max((p - first.0).length() / first.0.length());
            turned = turned.max((l - first.1).length() / (first.0.length() * 0.1));
        }
        rows.push(
            Row::new(format!("{id}/momentum"), format!("{name}: change of momentum"), off, "relative")
                .at_most(1e-8)
                .because(format!("{touched} steps in contact")),
        );
        rows.push(
            Row::new(
                format!("{id}/angular-momentum"),
                format!("{name}: change of angular momentum"),
                turned,
                "of p · 0.1 m",
            )
            .because("backward differences keep linear, not angular momentum of what deforms"),
        );
    }
    // A chain of four links that swings: each joint carries at most the weight and pull of what hangs below it.
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("ceiling", Geometry::Sphere { radius: 0.01 }).at(0.0, 0.0, 1.0).fixed());
    for k in 0..4 {
        let link = Body::new(format!("link {k}"), Geometry::Box { half: Vec3::new(0.1, 0.02, 0.02) });
        scene.bodies.push(link.at(0.1 + 0.2 * k as f64, 0.0, 1.0).with_mass(0.1));
        let above = if k == 0 { "ceiling".to_string() } else { format!("link {}", k - 1) };
        let mut hinge = Joint::new(format!("hinge {k}"), JointKind::Hinge, above, format!("link {k}"));
        hinge.anchor = JointAnchor::World(Vec3::new(0.2 * k as f64, 0.0, 1.0));
        hinge.axis = Vec3::Y;
        scene.joints.push(hinge);
    }
    let settings = Settings { scheme: Bdf::Two, ..Settings::default() };
    let mut system = system(&scene, settings, 1.0 / 120.0)?;
    let mut phase = system.start();
    let mut next = Phase::default();
    let time = ctx.pick(10.0, 60.0);
    let (mut open, mut ratio) = (0.0_f64, 0.0_f64);
    let mut before = [phase.state.clone(), phase.state.clone()];
    for i in 0..(time * 120.0) as usize {
        system.step(&phase, i, &mut next).map_err(defect)?;
        std::mem::swap(&mut phase, &mut next);
        let model = system.model();
        let end = |b: usize, side: f64| {
            let pose = model.com_pose(&phase.state, BodyId(b as u32));
            pose.transform_point(Vec3::X * (0.1 * side))
        };
        for k in 0..4 {
            let above = if k == 0 { Vec3::new(0.0, 0.0, 1.0) } else { end(k, 1.0) };
            let gap = above.distance(end(k + 1, -1.0));
            // What the joint carries by Newton's law: m (v̇ − g) of all that hangs below it, v̇ by the differences of BDF2.
            let below = (k..4).map(|j| {
                let at = |s: &State| model.com_velocity(s, BodyId(j as u32 + 1)).0;
                let rate = (at(&phase.state) * 1.5 - at(&before[0]) * 2.0 + at(&before[1]) * 0.5) * 120.0;
                (rate - model.gravity) * model.bodies[j + 1].mass
            });
            open = open.max(gap);
            ratio = ratio.max(gap * settings.joint_stiffness / below.sum::<Vec3>().length().max(1e-3));
        }
        before.swap(0, 1);
        before[0].clone_from(&phase.state);
    }
    rows.push(
        Row::new("joints/opening", format!("widest opening of a joint in {time} s"), open, "m").at_most(1e-3),
    );
    rows.push(
        Row::new(
            "joints/opening-over-force",
            "largest opening times k over the force that Newton's law asks of the joint",
            ratio,
            "",
        )
        .against("1")
        .at_most(1.01),
    );
    Ok(rows)
}
