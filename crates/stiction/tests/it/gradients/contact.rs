//! Contacts of the penalty solver beyond obstacles. Two soft bodies that meet push each other apart, keep their momentum, and
//! their gradients match differences like all others. Hard constraints (SQP) hold a soft block on a slope without creep and
//! without sinking, and let it slide as Coulomb says; hybrid friction ends where they end. Without a kink where contact begins a
//! throw hardly depends on where in a step the ball lands.

use super::frictions;
use stiction::coords::SoftId;
use stiction::diff::{ForceTarget, Param, ParamSet, PointTarget, check_grad};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::model::ModelNode;
use stiction::scene::{Owner, Sheet, SoftBody};
use stiction::steppers::penalty::{Bdf, ContactDamping, FrictionModel, Phase, Settings, System};
use stiction::{Body, Geometry, Scene, Vec3};

fn block(name: &str, at: Vec3, velocity: Vec3) -> SoftBody {
    let material =
        Material { law: Law::NeoHookean { threshold: 0.1 }, young: 5e3, poisson: 0.3, density: 150.0 };
    let mut block = SoftBody::new(name, shapes::block([1, 1, 1], Vec3::splat(0.1)), material);
    block.damping = Damping { viscosity: 5.0, ..Damping::default() };
    block.friction = 0.4;
    (block.pose.translation, block.velocity) = (at, velocity);
    block
}

/// Two blocks that meet off centre, without gravity.
fn meeting() -> Scene {
    let mut scene = Scene { gravity: Vec3::ZERO, ..Scene::default() };
    scene.solids.push(block("left", Vec3::ZERO, Vec3::new(0.6, 0.0, 0.1)));
    scene.solids.push(block("right", Vec3::new(0.108, 0.033, 0.021), Vec3::new(-0.5, 0.1, 0.0)));
    scene
}

fn system(scene: &Scene, scheme: Bdf, friction: FrictionModel) -> System {
    let damping = ContactDamping::HuntCrossley(0.3);
    let settings = Settings { scheme, friction, damping, tolerance: 1e-11, ..Settings::default() };
    System::new(scene.compile().unwrap(), settings, 1.0 / 80.0).unwrap()
}

fn momentum(s: &System, phase: &Phase) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for n in &s.model().nodes {
        let (x, v) = (n.position(&phase.state), n.velocity(&phase.state));
        linear += n.mass * v;
        angular += n.mass * x.cross(v);
    }
    (linear, angular)
}

#[test]
fn soft_bodies_push_each_other_apart_and_keep_their_momentum() {
    let mut s = system(&meeting(), Bdf::One, FrictionModel::Linear);
    let mut phase = s.start();
    let mut next = Phase::default();
    let before = momentum(&s, &phase).0;
    let (mut touched, mut force) = (0, Vec3::ZERO);
    for i in 0..40 {
        let newton = s.step(&phase, i, &mut next).unwrap();
        assert!(newton.status.is_solved(), "step {i}: {newton:?}");
        touched = touched.max(newton.contacts);
        force += s.contact_force(Owner::Solid(SoftId(0)), Some(Owner::Solid(SoftId(1)))) / 80.0;
        std::mem::swap(&mut phase, &mut next);
    }
    assert!(touched >= 2, "they met with {touched} contacts");
    let after = momentum(&s, &phase).0;
    let size = 0.15 * 0.6;
    assert!((after - before).length() < 1e-9 * size, "{before} became {after}");
    // The left one was turned back by the sum of forces on it.
    let left = &s.model().nodes[s.model().solids[0].nodes.clone()];
    let mass: f64 = left.iter().map(|n| n.mass).sum();
    let v = left.iter().map(|n| n.mass * n.velocity(&phase.state)).sum::<Vec3>() / mass;
    assert!(v.x < 0.2, "it goes on at {v}");
    assert!((v - Vec3::new(0.6, 0.0, 0.1) - force / mass).length() < 1e-8, "{v}, pushed by {force}");
}

#[test]
fn gradients_of_soft_bodies_that_meet() {
    let (a, b) = (SoftId(0), SoftId(1));
    let (left, right) = (Owner::Solid(a), Owner::Solid(b));
    for scheme in [Bdf::One, Bdf::Two] {
        for friction in [FrictionModel::Linear, FrictionModel::Tanh] {
            let mut s = system(&meeting(), scheme, friction);
            let mut list = vec![
                Param::Young(a),
                Param::Viscosity(b),
                Param::Density(b),
                Param::Position(left, 1),
                Param::Orientation(right, 2),
                Param::Velocity(left, 0),
                Param::Spin(right, 1),
                Param::ContactStiffness,
                Param::ContactDamping,
            ];
            list.extend(frictions(&s));
            let mut set = ParamSet::new(&s, list).unwrap();
            let goal = Vec3::new(0.5, 0.2, 0.3);
            let point = PointTarget { owner: right, step: 20, target: goal, weight: Vec3::ONE };
            let force =
                ForceTarget { on: left, by: Some(right), steps: 3..=6, direction: Vec3::X, target: 1.0 };
            for check in [
                check_grad(&mut s, &mut set, 20, &point).unwrap(),
                check_grad(&mut s, &mut set, 8, &force).unwrap(),
            ] {
                assert!(check.residual <= 1.0, "forward residual {:.1e}", check.residual);
                for r in &check.rows {
                    assert!(
                        r.error < 1e-6,
                        "{scheme:?} {friction:?}, {}: adjoint {:e}, direct {:e}, differences {:e}",
                        r.name,
                        r.adjoint,
                        r.direct,
                        r.difference
                    );
                }
            }
        }
    }
}

/// Two blocks 0.3 m apart that fly towards each other: as two bodies, or as two parts of one.
fn flight(parts_of_one: bool, self_contact: bool) -> Scene {
    let mut scene = Scene { gravity: Vec3::ZERO, ..Scene::default() };
    let (at, v) = (Vec3::new(0.4, 0.033, 0.021), Vec3::new(-3.0, 0.3, 0.0));
    if !parts_of_one {
        scene.solids = vec![block("left", Vec3::ZERO, Vec3::ZERO), block("right", at, v)];
        return scene;
    }
    let mut both = block("both", Vec3::ZERO, Vec3::ZERO);
    let one = both.mesh.clone();
    let first = one.vertices.len() as u32;
    both.mesh.vertices.extend(one.vertices.iter().map(|x| *x + at));
    both.mesh.tets.extend(one.tets.iter().map(|t| t.map(|i| i + first)));
    both.self_contact = self_contact;
    scene.solids = vec![both];
    scene
}

#[test]
fn a_body_that_touches_itself_moves_like_two_that_touch() {
    let end = |parts_of_one, self_contact| {
        let mut s = system(&flight(parts_of_one, self_contact), Bdf::Two, FrictionModel::Linear);
        let mut phase = s.start();
        if parts_of_one {
            // Its second half flies.
            let half = phase.state.v.len() / 2;
            for x in phase.state.v[half..].chunks_mut(3) {
                x.copy_from_slice(&[-3.0, 0.3, 0.0]);
            }
            phase = Phase::start(s.model(), &phase.state, s.time_step());
        }
        let (mut next, mut touched) = (Phase::default(), 0);
        for i in 0..24 {
            let newton = s.step(&phase, i, &mut next).unwrap();
            assert!(newton.status.is_solved(), "step {i}: {newton:?}");
            std::mem::swap(&mut phase, &mut next);
            touched += usize::from(newton.contacts > 0);
        }
        assert_eq!(touched > 0, !parts_of_one || self_contact);
        let both: Vec3 =
            (0..s.model().solids.len()).map(|k| s.contact_force(Owner::Solid(SoftId(k as u32)), None)).sum();
        assert!(both.length() < 1e-9, "action is not reaction: {both}");
        phase.state.q
    };
    let off = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let two = end(false, false);
    assert!(off(&two, &end(true, true)) < 1e-8, "{}", off(&two, &end(true, true)));
    assert!(off(&two, &end(true, false)) > 0.1, "without self-contact the parts pass");
}

#[test]
fn sheets_that_touch_themselves_are_refused() {
    let mut scene = Scene::default();
    let mut sheet = Sheet::new("cloth", [3, 3], [0.3, 0.3]);
    sheet.self_contact = true;
    scene.sheets.push(sheet);
    let error = System::new(scene.compile().unwrap(), Settings::default(), 0.01).err().unwrap().to_string();
    assert!(error.contains("cloth") && error.contains("self_contact"), "{error}");
}

/// A soft block on a slope, seen along it.
fn slope(degrees: f64, friction: FrictionModel) -> System {
    let a = f64::to_radians(degrees);
    let mut scene = Scene { gravity: Vec3::new(a.sin(), 0.0, -a.cos()) * 9.81, ..Scene::default() };
    scene.bodies.push(Body::new("slope", Geometry::Plane).fixed().with_friction(0.4));
    let mut block = block("block", Vec3::new(0.0, 0.0, 0.001), Vec3::ZERO);
    (block.material.young, block.damping.viscosity) = (5e4, 50.0);
    scene.solids.push(block);
    let settings = Settings { friction, stiffness: 1e3, ..Settings::default() };
    System::new(scene.compile().unwrap(), settings, 5e-3).unwrap()
}

/// Place and velocity along the slope, and the lowest node, after a second.
fn after_a_second(degrees: f64, friction: FrictionModel) -> (f64, f64, f64) {
    let mut s = slope(degrees, friction);
    let mut phase = s.start();
    let mut next = Phase::default();
    for i in 0..200 {
        let newton = s.step(&phase, i, &mut next).unwrap();
        assert!(newton.status.is_solved(), "{friction:?} at {degrees}°, step {i}: {newton:?}");
        std::mem::swap(&mut phase, &mut next);
    }
    let nodes = &s.model().nodes;
    let mass: f64 = nodes.iter().map(|n| n.mass).sum();
    let mean = |x: &dyn Fn(&ModelNode) -> f64| nodes.iter().map(|n| n.mass * x(n)).sum::<f64>() / mass;
    let x = mean(&|n| n.position(&phase.state).x);
    let v = mean(&|n| n.velocity(&phase.state).x);
    (x, v, nodes.iter().map(|n| n.position(&phase.state).z).fold(f64::INFINITY, f64::min))
}

#[test]
fn hard_constraints_hold_and_slide_as_coulomb_says() {
    // Below the angle of friction, 21.8°: no creep, no sinking.
    let (hard, speed, low) = after_a_second(18.0, FrictionModel::Sqp);
    assert!(speed.abs() < 1e-9 && low.abs() < 1e-12, "{speed} m/s, {low} m");
    let (soft, creep, sunk) = after_a_second(18.0, FrictionModel::Linear);
    assert!(creep > 1e-3 && sunk < -1e-5, "the penalty creeps at {creep} m/s and sinks to {sunk} m");
    let (hybrid, still, _) = after_a_second(18.0, FrictionModel::Hybrid);
    assert!(
        still.abs() < 1e-7 && (hybrid - hard).abs() < 1e-3,
        "{hybrid} against {hard} m, not {soft}; {still} m/s"
    );
    // Above it: v = g (sin α − μ cos α) t after the drop of a millimetre.
    let (_, speed, low) = after_a_second(30.0, FrictionModel::Sqp);
    let a = 30f64.to_radians();
    let coulomb = 9.81 * (a.sin() - 0.4 * a.cos());
    assert!((speed / coulomb - 1.0).abs() < 0.02, "{speed} m/s, by Coulomb {coulomb}");
    assert!(low.abs() < 1e-9, "{low} m");
}

#[test]
fn hard_constraints_are_refused_where_they_do_not_reach() {
    let settings = Settings { friction: FrictionModel::Sqp, ..Settings::default() };
    let mut rigid = Scene::default();
    rigid.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    rigid.bodies.push(Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 0.2).with_mass(1.0));
    for scene in [rigid, meeting()] {
        let error = System::new(scene.compile().unwrap(), settings, 0.01).err().unwrap().to_string();
        assert!(error.contains("sqp") && error.contains("hybrid"), "{error}");
    }
}

#[test]
fn hard_constraints_say_that_they_have_no_derivatives() {
    let s = slope(18.0, FrictionModel::Sqp);
    let e = ParamSet::new(&s, vec![Param::Gravity(2)]).unwrap_err().to_string();
    assert!(e.contains("sqp") && e.contains("choose linear"), "{e}");
}

#[test]
fn an_onset_makes_rebounds_smooth() {
    // A rigid ball dropped from heights a fraction of a step's way apart: the height at the end, less its trend.
    let roughness = |onset: f64| {
        let end = |z: f64| {
            let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
            scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
            let ball = Body::new("ball", Geometry::Sphere { radius: 0.05 });
            scene.bodies.push(ball.at(0.0, 0.0, z).with_mass(0.1));
            let settings = Settings { scheme: Bdf::Two, stiffness: 500.0, onset, ..Settings::default() };
            let mut s = System::new(scene.compile().unwrap(), settings, 1.0 / 120.0).unwrap();
            let ball = s.model().names.find("ball").unwrap();
            let mut phase = s.start();
            let mut next = Phase::default();
            for i in 0..60 {
                assert!(s.step(&phase, i, &mut next).unwrap().status.is_solved());
                std::mem::swap(&mut phase, &mut next);
            }
            s.model().com_pose(&phase.state, ball).translation.z
        };
        let heights: Vec<f64> = (0..12).map(|k| end(0.4 + 2e-3 * k as f64)).collect();
        heights.windows(3).map(|h| (h[0] - 2.0 * h[1] + h[2]).abs()).sum::<f64>()
    };
    let (kink, smooth) = (roughness(0.0), roughness(0.02));
    assert!(smooth < 0.5 * kink, "with an onset {smooth:e}, with the kink {kink:e}");
}
