//! Static friction of rigid bodies in the hybrid model. A box on four corners, a stack and a ball stick to slopes, to belts that move
//! and turn, and to each other without creep, where the penalty creeps; beyond the angle of friction they slide as Coulomb says.
//! Redundant corners leave Newton quadratic. Gradients of motions that slide, stick, roll and are carried match differences.

use super::frictions;
use stiction::coords::{BodyId, SoftId};
use stiction::diff::{Param, ParamSet, PointTarget, check_grad};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Motion, Owner, Particle, SoftBody};
use stiction::steppers::penalty::{Bdf, ContactDamping, FrictionModel, Newton, Phase, Settings, System};
use stiction::{Body, Geometry, Scene, State, Vec3};

const G: f64 = 9.81;
const MU: f64 = 0.4;

/// A plane seen along it, gravity turned.
fn slope(degrees: f64) -> Scene {
    let a = f64::to_radians(degrees);
    let mut scene = Scene { gravity: Vec3::new(a.sin(), 0.0, -a.cos()) * G, ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(MU));
    scene
}

fn brick(name: &str, z: f64) -> Body {
    let half = Vec3::new(0.1, 0.08, 0.05);
    Body::new(name, Geometry::Box { half }).at(0.0, 0.0, z).with_mass(0.5).with_friction(MU)
}

fn system(scene: &Scene, friction: FrictionModel, scheme: Bdf) -> System {
    let damping = ContactDamping::HuntCrossley(1.0);
    let settings = Settings { scheme, friction, damping, tolerance: 1e-11, ..Settings::default() };
    System::new(scene.compile().unwrap(), settings, 1e-2).unwrap()
}

fn run(s: &mut System, steps: usize) -> (State, Newton) {
    let mut phase = s.start();
    let (mut next, mut last) = (Phase::default(), Newton::default());
    for i in 0..steps {
        last = s.step(&phase, i, &mut next).unwrap();
        assert!(last.status.is_solved(), "step {i}: {last:?}");
        std::mem::swap(&mut phase, &mut next);
    }
    (phase.state, last)
}

fn velocity(s: &System, state: &State, body: u32) -> (Vec3, Vec3) {
    s.model().com_velocity(state, BodyId(body))
}

#[test]
fn a_box_on_four_corners_does_not_creep_and_slides_as_coulomb_says() {
    let mut scene = slope(18.0);
    scene.bodies.push(brick("box", 0.0501));
    let mut s = system(&scene, FrictionModel::Hybrid, Bdf::One);
    let (state, last) = run(&mut s, 300);
    let (v, w) = velocity(&s, &state, 1);
    assert!(last.stuck.len() == 4, "{:?}", last.stuck);
    assert!(v.length() < 1e-9 && w.length() < 1e-9, "creeps at {v}, {w}");
    let mut s = system(&scene, FrictionModel::Linear, Bdf::One);
    let (state, _) = run(&mut s, 300);
    // m g sin α / (4 k_n h).
    let creep = 0.5 * G * 18f64.to_radians().sin() / (4.0 * 1e3 * 1e-2);
    let v = velocity(&s, &state, 1).0;
    assert!((v.x / creep - 1.0).abs() < 0.05, "the penalty creeps at {v}, not {creep}");
    let mut scene = slope(30.0);
    scene.bodies.push(brick("box", 0.0501));
    let mut s = system(&scene, FrictionModel::Hybrid, Bdf::One);
    let (state, _) = run(&mut s, 100);
    let a = 30f64.to_radians();
    let coulomb = G * (a.sin() - MU * a.cos());
    let v = velocity(&s, &state, 1).0;
    assert!((v.x / coulomb - 1.0).abs() < 0.02, "{v}, by Coulomb {coulomb}");
}

#[test]
fn redundant_corners_leave_newton_quadratic() {
    // A box that rocks: its corners press unevenly, and eight rows for them would be five too many.
    let mut scene = slope(10.0);
    let mut cube = brick("box", 0.052);
    cube.spin = Vec3::new(0.3, -0.5, 0.0);
    scene.bodies.push(cube);
    let mut s = system(&scene, FrictionModel::Hybrid, Bdf::One);
    let mut phase = s.start();
    let mut next = Phase::default();
    let mut seen = 0;
    for i in 0..40 {
        let newton = s.step(&phase, i, &mut next).unwrap();
        assert!(newton.status.is_solved(), "step {i}: {newton:?}");
        let tail: Vec<f64> = newton.history.iter().copied().chain([newton.residual]).collect();
        // Steps that hold what the step before held: one Newton iteration from the start.
        if phase.stuck.len() >= 3 && newton.stuck == phase.stuck && newton.backtracks == 0 {
            for r in tail.windows(2).filter(|r| r[0] < 1e-2 && r[1] > 1e-11) {
                seen += 1;
                assert!(r[1] < 1e3 * r[0] * r[0], "step {i}: {tail:?}");
            }
        }
        std::mem::swap(&mut phase, &mut next);
    }
    assert!(seen > 3, "{seen} contractions");
}

#[test]
fn bodies_stick_to_what_moves_and_to_each_other() {
    // A stack on a belt that climbs at a slant: carried along, no matter how heavy its top is.
    let mut scene = slope(0.0);
    scene.bodies[0].motion = Motion::Constant { velocity: Vec3::new(0.3, 0.1, 0.0), spin: Vec3::ZERO };
    scene.bodies.push(brick("lower", 0.0501));
    scene.bodies.push(brick("upper", 0.1502));
    for b in &mut scene.bodies[1..] {
        b.velocity = Vec3::new(0.3, 0.1, 0.0);
    }
    scene.gravity += Vec3::new(2.0, 0.0, 0.0);
    for (friction, least, most) in [(FrictionModel::Hybrid, 0.0, 1e-8), (FrictionModel::Linear, 1e-2, 1.0)] {
        let mut s = system(&scene, friction, Bdf::One);
        let (state, _) = run(&mut s, 200);
        for body in [1, 2] {
            let slip = velocity(&s, &state, body).0 - Vec3::new(0.3, 0.1, 0.0);
            assert!(slip.length() >= least && slip.length() < most, "{friction:?}, body {body}: {slip}");
        }
    }
    // On a plate that turns a box turns with it.
    let mut scene = slope(0.0);
    scene.bodies[0].motion = Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::Z * 0.7 };
    let mut cube = brick("box", 0.0501);
    cube.pose.translation.x = 0.5;
    (cube.velocity, cube.spin) = (Vec3::Y * 0.35, Vec3::Z * 0.7);
    scene.bodies.push(cube);
    let mut s = system(&scene, FrictionModel::Hybrid, Bdf::Two);
    let (state, _) = run(&mut s, 200);
    let (_, w) = velocity(&s, &state, 1);
    let x = s.model().com_pose(&state, BodyId(1)).translation;
    let radius = x.truncate().length();
    // Two seconds later, at the angle of 1.4 rad.
    let angle = x.y.atan2(x.x);
    assert!((w.z - 0.7).abs() < 1e-6 && (radius - 0.5).abs() < 1e-3, "{w}, radius {radius}");
    assert!((angle - 1.4).abs() < 2e-3, "{angle} rad");
}

#[test]
fn a_ball_rolls_without_slipping() {
    let mut scene = slope(20.0);
    let ball = Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 0.0999).with_mass(0.5);
    scene.bodies.push(ball.with_friction(MU));
    let mut s = system(&scene, FrictionModel::Hybrid, Bdf::One);
    let (state, last) = run(&mut s, 100);
    assert_eq!(last.stuck.len(), 1);
    let (v, w) = velocity(&s, &state, 1);
    // a = 5/7 g sin α.
    let rolled = 5.0 / 7.0 * G * 20f64.to_radians().sin();
    assert!((v.x / rolled - 1.0).abs() < 0.02, "{v}, by theory {rolled}");
    assert!((v.x - 0.1 * w.y).abs() < 1e-8 * v.x, "slips: {v}, {w}");
}

#[test]
fn a_particle_slides_to_rest_as_coulomb_says_at_any_step() {
    let (v0, mass) = (1.0, 0.1);
    let way = v0 * v0 / (2.0 * MU * G);
    for scheme in [Bdf::One, Bdf::Two] {
        for h in [1e-2, 2.5e-3, 6.25e-4] {
            let settings =
                Settings { scheme, friction: FrictionModel::Hybrid, tolerance: 1e-11, ..Settings::default() };
            let mut scene = slope(0.0);
            scene.particles.push(Particle {
                name: "particle".to_string(),
                mass,
                radius: 0.01,
                // As deep as its weight presses it.
                position: Vec3::Z * (0.01 - mass * G / settings.stiffness),
                velocity: Vec3::X * v0,
                friction: MU,
                restitution: 0.0,
            });
            let mut s = System::new(scene.compile().unwrap(), settings, h).unwrap();
            let (mut phase, mut next) = (s.start(), Phase::default());
            let particle = s.model().nodes[0].clone();
            for i in 0..(0.4 / h) as usize {
                let newton = s.step(&phase, i, &mut next).unwrap();
                assert!(newton.status.is_solved(), "{scheme:?} {h}: step {i}");
                std::mem::swap(&mut phase, &mut next);
                // Held in place instead of at rest, backward differences of second order would throw it back.
                let v = particle.velocity(&phase.state).x;
                assert!(v > -1e-9, "{scheme:?} {h}: {v} m/s in step {i}");
            }
            // Friction acts from one step to the next: half of one is left open, at both ends.
            let (x, v) = (particle.position(&phase.state).x, particle.velocity(&phase.state).x);
            let off = x - way;
            assert!(off.abs() < v0 * h, "{scheme:?} {h}: {off} m off");
            assert!(v < 1e-9, "{scheme:?} {h}: still {v} m/s");
        }
    }
}

/// Checks gradients of the place of an owner at the end of motions in which something sticks then.
fn check(name: &str, scene: &Scene, owner: Owner, params: &dyn Fn(&System) -> Vec<Param>, steps: usize) {
    for scheme in [Bdf::One, Bdf::Two] {
        let mut s = system(scene, FrictionModel::Hybrid, scheme);
        let list = params(&s);
        let mut set = ParamSet::new(&s, list).unwrap();
        let target = Vec3::new(0.5, 0.2, 0.3);
        let objective = PointTarget { owner, step: steps, target, weight: Vec3::ONE };
        let check = check_grad(&mut s, &mut set, steps, &objective).unwrap();
        assert!(check.residual <= 1.0, "{name} {scheme:?}: forward residual {:.1e}", check.residual);
        for r in &check.rows {
            assert!(
                r.error < 1e-6,
                "{name} {scheme:?}, {}: adjoint {:e}, direct {:e}, differences {:e}",
                r.name,
                r.adjoint,
                r.direct,
                r.difference
            );
        }
        let (_, last) = run(&mut s, steps);
        assert!(!last.stuck.is_empty(), "{name} {scheme:?}: nothing sticks at the end");
    }
}

fn of_body(body: u32) -> Vec<Param> {
    let (b, o) = (BodyId(body), Owner::Body(BodyId(body)));
    let start =
        [Param::Position(o, 0), Param::Position(o, 2), Param::Orientation(o, 0), Param::Orientation(o, 1)];
    [&start[..], &[Param::Mass(b), Param::Moment(b, 1), Param::Velocity(o, 0), Param::Spin(o, 1)]].concat()
}

fn of_contacts(s: &System) -> Vec<Param> {
    let all = [Param::Gravity(0), Param::ContactStiffness, Param::ContactDamping];
    all.into_iter().chain(frictions(s)).collect()
}

#[test]
fn gradients_of_boxes_that_slide_and_stick() {
    // Slides for some steps, then sticks, rocking.
    let mut scene = slope(8.0);
    let mut cube = brick("box", 0.0515);
    (cube.velocity, cube.spin) = (Vec3::new(0.25, 0.07, -0.05), Vec3::new(0.2, 0.3, 0.4));
    scene.bodies.push(cube);
    check("box", &scene, Owner::Body(BodyId(1)), &|s| [of_body(1), of_contacts(s)].concat(), 30);
    // On a plate that turns and moves, with another box on top.
    scene.bodies[0].motion =
        Motion::Constant { velocity: Vec3::new(0.1, 0.0, 0.05), spin: Vec3::new(0.05, 0.0, 0.5) };
    scene.bodies[1].pose.translation = Vec3::new(0.2, 0.1, 0.0515);
    let mut top = brick("top", 0.1525);
    top.pose.translation += Vec3::new(0.21, 0.12, 0.0);
    top.velocity = Vec3::new(0.25, 0.07, -0.02);
    scene.bodies.push(top);
    check(
        "stack",
        &scene,
        Owner::Body(BodyId(2)),
        &|s| [of_body(1), of_body(2), of_contacts(s)].concat(),
        20,
    );
}

#[test]
fn gradients_of_balls_that_roll() {
    let mut scene = slope(8.0);
    let mut ball = Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 0.1005).with_mass(0.5);
    (ball.velocity, ball.spin) = (Vec3::new(0.2, 0.05, -0.05), Vec3::new(0.0, 1.0, 0.3));
    scene.bodies.push(ball.with_friction(MU));
    check("ball", &scene, Owner::Body(BodyId(1)), &|s| [of_body(1), of_contacts(s)].concat(), 30);
    // On a free plate that slides and sticks itself.
    scene.bodies[1].pose.translation.z = 0.1405;
    let half = Vec3::new(0.3, 0.3, 0.02);
    let plate = Body::new("plate", Geometry::Box { half }).at(0.0, 0.0, 0.0205).with_mass(2.0);
    scene.bodies.push(plate.with_friction(MU));
    check(
        "ball on a plate",
        &scene,
        Owner::Body(BodyId(1)),
        &|s| [of_body(1), of_body(2), of_contacts(s)].concat(),
        20,
    );
}

#[test]
fn gradients_of_soft_bodies_on_what_moves() {
    let material =
        Material { law: Law::NeoHookean { threshold: 0.1 }, young: 5e3, poisson: 0.3, density: 150.0 };
    let mut block = SoftBody::new("block", shapes::block([1, 1, 1], Vec3::splat(0.1)), material);
    block.damping = Damping { viscosity: 5.0, ..Damping::default() };
    block.friction = MU;
    let mut scene = slope(5.0);
    scene.bodies[0].motion =
        Motion::Constant { velocity: Vec3::new(0.1, 0.0, 0.02), spin: Vec3::new(0.0, 0.0, 0.3) };
    let half = Vec3::new(0.2, 0.2, 0.02);
    let mut plate = Body::new("plate", Geometry::Box { half }).at(0.1, 0.0, 0.0205).with_mass(1.0);
    plate.velocity = Vec3::new(0.3, 0.1, -0.02);
    scene.bodies.push(plate.with_friction(MU));
    block.pose.translation = Vec3::new(0.0, -0.05, 0.0415);
    block.velocity = Vec3::new(0.2, 0.05, -0.05);
    scene.solids.push(block);
    let (solid, o) = (SoftId(0), Owner::Solid(SoftId(0)));
    let params = |s: &System| {
        let own = [Param::Young(solid), Param::Density(solid), Param::Velocity(o, 0), Param::Spin(o, 1)];
        [of_body(1), own.to_vec(), of_contacts(s)].concat()
    };
    check("soft block", &scene, o, &params, 20);
}
