//! Gradients of exact contact: closed forms of sliding, stopping, inclines, impacts and a pressed block; agreement of
//! forward and reverse mode with differences of whole simulations on rigid, soft and mixed scenes; Taylor's test with slope 2 on
//! 1000 random contact problems; finite answers where modes change.
//!
//! Implicit Euler takes N steps of h: x = Σ h v_i, so that a sliding box has dx/dμ = −g h² N (N + 1)/2. That differs from
//! −g T²/2 by g T h/2, linearly in h, so that two steps sizes give the continuous value.

use stiction::contact::samples::Assembly;
use stiction::contact::{ContactProblem, Friction, Law, Solution};
use stiction::coords::{BodyId, JointId, SoftId};
use stiction::diff::{Coordinate, DataChange, ExactMotion, ImplicitStep, Objective, Param, Reduce, Term};
use stiction::elastic::{Preset, Section};
use stiction::kinematics::Kinematics;
use stiction::linalg::Rng;
use stiction::mesh::shapes;
use stiction::methods::make;
use stiction::scene::{Fixing, Force, Joint, JointKind, Motor, Owner, Path, Rod, RodHold, SoftBody, Target};
use stiction::solvers::SolverSettings;
use stiction::{Body, Geometry, Scene, SimSettings, SolverKind, Vec3};

const G: f64 = 9.81;
const BOX: Owner = Owner::Body(BodyId(1));
const FLOOR: Owner = Owner::Body(BodyId(0));

fn tight() -> SimSettings {
    SimSettings {
        solver_settings: SolverSettings { tolerance: Some(1e-12), max_iterations: None },
        ..SimSettings::default()
    }
}

fn floor(mu: f64, gravity: Vec3) -> Scene {
    let mut scene = Scene { gravity, ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(mu));
    scene
}

fn sliding(mu: f64, v0: f64, gravity: Vec3) -> Scene {
    let mut scene = floor(mu, gravity);
    let mut cube =
        Body::new("box", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(0.5);
    cube.velocity = Vec3::X * v0;
    scene.bodies.push(cube.with_friction(mu));
    scene
}

fn derivatives(
    scene: &Scene,
    h: f64,
    steps: usize,
    params: &[Param],
    objective: &dyn Objective,
) -> [Vec<f64>; 2] {
    let motion = ExactMotion::run(&scene.compile().unwrap(), tight(), h, steps).unwrap();
    [motion.forward(objective, params).unwrap(), motion.reverse(objective, params).unwrap()]
}

fn end_x(owner: Owner, steps: usize) -> Coordinate {
    Coordinate { owner, step: steps, direction: Vec3::X }
}

#[test]
fn a_sliding_box() {
    let v0_and_mu = [Param::Velocity(BOX, 0), Param::friction(BOX, FLOOR)];
    let of = |h: f64| {
        let n = (0.5 / h).round() as usize;
        let scene = sliding(0.3, 2.0, Vec3::new(0.0, 0.0, -G));
        let both = derivatives(&scene, h, n, &v0_and_mu, &end_x(BOX, n));
        let steps = n as f64;
        for d in &both {
            assert!((d[0] - 0.5).abs() < 1e-8, "dx/dv0 = {:.12}", d[0]);
            let exact = -G * h * h * steps * (steps + 1.0) / 2.0;
            assert!((d[1] - exact).abs() < 1e-8, "dx/dmu = {:.12}, not {exact:.12}", d[1]);
        }
        both[1][1]
    };
    let (coarse, fine) = (of(0.01), of(0.005));
    let continuous = 2.0 * fine - coarse;
    assert!((continuous + 1.22625).abs() < 1e-8, "dx/dmu without the time step: {continuous:.10}");
}

#[test]
fn stopping_and_inclines() {
    let h = 0.01;
    let params = || [Param::Velocity(BOX, 0), Param::friction(BOX, FLOOR)];
    // Slips for k steps with v_i = v₀ − i μ g h > 0, then sticks.
    let (mu, v0) = (0.5, 1.0);
    let k = (v0 / (mu * G * h)).floor();
    let scene = sliding(mu, v0, Vec3::new(0.0, 0.0, -G));
    for d in derivatives(&scene, h, 60, &params(), &end_x(BOX, 60)) {
        assert!((d[0] - k * h).abs() < 1e-6, "stopping distance by v0: {} not {}", d[0], k * h);
        let exact = -G * h * h * k * (k + 1.0) / 2.0;
        assert!((d[1] - exact).abs() < 1e-6, "stopping distance by mu: {} not {exact}", d[1]);
    }
    for (angle, slides) in [(20f64, true), (10.0, false)] {
        let a = angle.to_radians();
        let scene = sliding(0.2, 0.0, Vec3::new(G * a.sin(), 0.0, -G * a.cos()));
        let n = 30.0;
        for d in derivatives(&scene, h, 30, &params(), &end_x(BOX, 30)) {
            let exact = if slides { -G * a.cos() * h * h * n * (n + 1.0) / 2.0 } else { 0.0 };
            assert!((d[1] - exact).abs() < 1e-6, "incline of {angle}°: dx/dmu {} not {exact}", d[1]);
            let exact = if slides { n * h } else { 0.0 };
            assert!((d[0] - exact).abs() < 1e-6, "incline of {angle}°: dx/dv0 {} not {exact}", d[0]);
        }
    }
}

/// Velocity of a body along x at the end.
struct EndSpeed(usize, usize);

impl Objective for EndSpeed {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        if step == self.1 {
            let dof = kin.model.bodies[self.0].dof;
            out.push(Term { value: kin.state.v[dof], dq: vec![], dv: vec![(dof, 1.0)], ..Term::default() });
        }
    }

    fn reduce(&self) -> Reduce {
        Reduce::SoftMinimum(1.0)
    }
}

#[test]
fn two_balls_exchange_their_momentum() {
    let (m1, m2, v1) = (1.0, 3.0, 2.0);
    let mut scene = Scene::default();
    for (name, x, mass, v) in [("one", -0.2, m1, v1), ("two", 0.2, m2, 0.0)] {
        let mut ball = Body::new(name, Geometry::Sphere { radius: 0.1 }).at(x, 0.0, 0.0).with_mass(mass);
        ball.velocity = Vec3::X * v;
        ball.shapes[0].restitution = 1.0;
        scene.bodies.push(ball.with_friction(0.0));
    }
    let mass = Param::Mass(BodyId(0));
    let params = [Param::Velocity(Owner::Body(BodyId(0)), 0), mass];
    // v₂ = 2 m₁ v₁/(m₁ + m₂).
    let sum = m1 + m2;
    for d in derivatives(&scene, 0.01, 20, &params, &EndSpeed(1, 20)) {
        assert!((d[0] - 2.0 * m1 / sum).abs() < 1e-6, "{}", d[0]);
        assert!((d[1] - 2.0 * v1 * m2 / (sum * sum)).abs() < 1e-6, "{}", d[1]);
    }
}

#[test]
fn a_block_pressed_against_a_wall_slips_by_what_friction_lacks() {
    // The wall is the plane z = 0; "down" is +x; the press pushes along −z.
    let (mu, press, mass) = (0.4, 6.0, 0.5);
    let mut scene = sliding(mu, 0.0, Vec3::X * G);
    scene.forces.push(Force {
        target: "box".into(),
        force: Vec3::Z * -press,
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    });
    let force = Param::Force(0, 2);
    let (h, n) = (0.01, 25.0);
    let sum = h * h * n * (n + 1.0) / 2.0;
    for d in derivatives(&scene, h, 25, &[force, Param::friction(BOX, FLOOR)], &end_x(BOX, 25)) {
        assert!((d[0] - mu / mass * sum).abs() < 1e-6, "by the press: {} not {}", d[0], mu / mass * sum);
        assert!(
            (d[1] + press / mass * sum).abs() < 1e-6,
            "by friction: {} not {}",
            d[1],
            -press / mass * sum
        );
    }
}

/// Derivatives against central differences of whole runs.
fn against_differences(
    name: &str,
    scene: &Scene,
    set: &dyn Fn(&mut Scene, f64),
    param: Param,
    owner: Owner,
    (h, n, close): (f64, usize, [f64; 2]),
) {
    let both = derivatives(scene, h, n, std::slice::from_ref(&param), &end_x(owner, n));
    let at = |x: f64| {
        let mut s = scene.clone();
        set(&mut s, x);
        ExactMotion::run(&s.compile().unwrap(), tight(), h, n).unwrap().value(&end_x(owner, n))
    };
    let e = 1e-5;
    let slope = (at(e) - at(-e)) / (2.0 * e);
    for ((mode, close), d) in ["forward", "reverse"].iter().zip(close).zip(&both) {
        assert!(
            (d[0] - slope).abs() < close * slope.abs().max(1e-3),
            "{name}, {mode}: {} differences {slope}",
            d[0]
        );
    }
}

#[test]
fn soft_and_mixed_scenes_agree_with_differences() {
    let mut soft = floor(0.3, Vec3::new(0.0, 0.0, -G));
    let mut block =
        SoftBody::new("block", shapes::block([1, 1, 1], Vec3::splat(0.1)), Preset::Rubber.material());
    block.velocity = Vec3::new(1.0, 0.2, 0.0);
    block.friction = 0.3;
    soft.solids.push(block);
    let owner = Owner::Solid(SoftId(0));
    let set = |s: &mut Scene, x: f64| s.solids[0].velocity.x += x;
    against_differences("soft", &soft, &set, Param::Velocity(owner, 0), owner, (0.01, 8, [2e-6; 2]));
    let mut mixed = soft;
    let mut ball =
        Body::new("ball", Geometry::Sphere { radius: 0.05 }).at(0.06, 0.045, 0.1501).with_mass(0.2);
    ball.velocity = Vec3::new(0.5, 0.0, 0.0);
    mixed.bodies.push(ball.with_friction(0.3));
    let set = |s: &mut Scene, x: f64| s.bodies[1].velocity.x += x;
    against_differences(
        "mixed",
        &mixed,
        &set,
        Param::Velocity(Owner::Body(BodyId(1)), 0),
        owner,
        // The ball rolls over an edge between soft faces: the feature that touches changes with single vertices.
        (0.01, 8, [2e-6, 1e-5]),
    );
    // In the middle of a face no feature changes, and what is left is below 1e-5.
    let mut inside = mixed.clone();
    inside.bodies[1].pose.translation = Vec3::new(0.075, 0.03, 0.1501);
    let param = Param::Velocity(Owner::Body(BodyId(1)), 0);
    against_differences("mixed, inside a face", &inside, &set, param, owner, (0.01, 6, [2e-6, 1e-5]));
}

#[test]
fn a_tilted_box_that_hits_the_floor_agrees_with_differences() {
    let mut scene = sliding(0.4, 1.0, Vec3::new(0.0, 0.0, -G));
    scene.bodies[1].pose.translation.z = 0.2;
    scene.bodies[1].pose.rotation =
        stiction::Quat::from_rotation_y(0.4) * stiction::Quat::from_rotation_x(0.3);
    scene.bodies[1].spin = Vec3::new(0.5, 1.0, -2.0);
    let set = |s: &mut Scene, x: f64| s.bodies[1].spin.y += x;
    against_differences("tumbling", &scene, &set, Param::Spin(BOX, 1), BOX, (0.005, 40, [2e-6; 2]));
    // Contacts found ahead of time are linearised there where a first solve leads; the derivative is taken where the
    // step ends, which the turn of an impact step tells apart in the fifth digit.
    let set = |s: &mut Scene, x: f64| s.bodies[1].pose.translation.z += x;
    against_differences("dropped", &scene, &set, Param::Position(BOX, 2), BOX, (0.005, 40, [5e-5; 2]));
}

#[test]
fn impacts_at_touch_agree_with_differences() {
    let (ball, other) = (Owner::Body(BodyId(1)), Owner::Body(BodyId(2)));
    // Three bounces with spin; a gripping impact and sliding ones.
    for mu in [0.5, 0.05] {
        let mut scene = floor(mu, Vec3::new(0.0, 0.0, -G));
        let mut it = Body::new("it", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 0.3).with_mass(0.5);
        (it.velocity, it.spin) = (Vec3::new(0.8, 0.3, -0.5), Vec3::new(3.0, 9.0, -2.0));
        it.shapes[0].restitution = 0.7;
        scene.bodies.push(it.with_friction(mu));
        let setting = (0.005, 150, [1e-6; 2]);
        let set = |s: &mut Scene, x: f64| s.bodies[1].pose.translation.z += x;
        against_differences("height", &scene, &set, Param::Position(ball, 2), ball, setting);
        let set = |s: &mut Scene, x: f64| s.bodies[1].velocity.z += x;
        against_differences("throw", &scene, &set, Param::Velocity(ball, 2), ball, setting);
        let set = |s: &mut Scene, x: f64| s.bodies[1].spin.y += x;
        against_differences("spin", &scene, &set, Param::Spin(ball, 1), ball, setting);
        let set = |s: &mut Scene, x: f64| s.gravity.z += x;
        let by = Param::Gravity(2);
        against_differences("gravity", &scene, &set, by, ball, setting);
    }
    // Two that meet off-centre in the air; what one does decides where the other goes.
    for shape in [Geometry::Sphere { radius: 0.1 }, Geometry::Box { half: Vec3::splat(0.1) }] {
        let mut scene = floor(0.4, Vec3::new(0.0, 0.0, -G));
        for (name, x, v) in [("one", -0.25, 2.0), ("two", 0.25, -1.0)] {
            let mut it = Body::new(name, shape.clone()).at(x, 0.03 * x, 1.0 + 0.2 * x).with_mass(0.5 - x);
            (it.velocity, it.spin) = (Vec3::new(v, 0.2, 0.1), Vec3::new(v, 1.5, -2.0));
            it.shapes[0].restitution = 0.6;
            scene.bodies.push(it.with_friction(0.4));
        }
        let setting = (0.005, 50, [5e-6; 2]);
        let set = |s: &mut Scene, x: f64| s.bodies[1].pose.translation.y += x;
        against_differences("place", &scene, &set, Param::Position(ball, 1), other, setting);
        let set = |s: &mut Scene, x: f64| s.bodies[1].velocity.x += x;
        against_differences("speed", &scene, &set, Param::Velocity(ball, 0), other, setting);
    }
}

/// A ball on a slide, driven by a motor, that pushes a box over the floor.
fn pusher(motor: Motor) -> Scene {
    let mut scene = sliding(0.3, 0.0, Vec3::new(0.0, 0.0, -G));
    let ball = Body::new("ball", Geometry::Sphere { radius: 0.02 });
    scene.bodies.push(ball.at(-0.1201, 0.0, 0.05).with_mass(0.3).with_friction(0.0));
    let mut slide = Joint::to_world("slide", JointKind::Prismatic, "ball").about(Vec3::X);
    slide.motor = Some(motor);
    scene.joints.push(slide);
    scene
}

/// Changes the motor of the slide in a scene.
fn set_motor(change: impl Fn(&mut Motor, f64)) -> impl Fn(&mut Scene, f64) {
    move |s: &mut Scene, x: f64| change(s.joints[0].motor.as_mut().unwrap(), x)
}

#[test]
fn joints_and_motors_agree_with_differences() {
    // Two links that swing freely: nothing but joints.
    let mut chain = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    for k in 0..2 {
        let name = format!("link{k}");
        let link = Body::new(&name, Geometry::Box { half: Vec3::new(0.1, 0.02, 0.03) });
        chain.bodies.push(link.at(0.1 + 0.2 * f64::from(k), 0.0, 0.0).with_mass(1.0 + f64::from(k)));
        let at = Vec3::X * 0.2 * f64::from(k);
        let kind = if k == 0 { JointKind::Hinge } else { JointKind::Ball };
        let joint = match k {
            0 => Joint::to_world("j0", kind, name),
            _ => Joint::new("j1", kind, "link0", name),
        };
        chain.joints.push(joint.at(at).about(Vec3::Y));
    }
    chain.bodies[1].spin = Vec3::new(0.5, 0.0, 2.0);
    let last = Owner::Body(BodyId(1));
    let set = |s: &mut Scene, x: f64| s.bodies[1].spin.z += x;
    against_differences("chain", &chain, &set, Param::Spin(last, 2), last, (0.01, 30, [1e-6; 2]));
    let set = |s: &mut Scene, x: f64| s.gravity.z += x;
    let param = Param::Gravity(2);
    against_differences("chain under gravity", &chain, &set, param, last, (0.01, 30, [1e-6; 2]));

    // A motor pushes a box straight ahead and without friction of its own, so that the answer is unique: by its target, by its stiffness, and by the force at which it gives way.
    let slide = JointId(0);
    let target = |m: &mut Motor, x: f64| m.target = Target::Position(Path::constant(0.2 + x));
    let motor = Motor::position(0.2, 20.0, 1.0);
    let timing = (0.01, 40, [1e-6; 2]);
    let scene = pusher(motor.clone());
    let end = ExactMotion::run(&scene.compile().unwrap(), tight(), 0.01, 40).unwrap();
    assert!(end.value(&end_x(BOX, 40)) > 0.01, "the ball moves the box");
    let set = set_motor(target);
    against_differences("target", &scene, &set, Param::MotorTarget(slide), BOX, timing);
    let set = set_motor(|m, x| m.stiffness += x);
    against_differences("stiffness", &scene, &set, Param::MotorStiffness(slide), BOX, timing);
    let set = set_motor(|m, x| m.damping += x);
    against_differences("damping", &scene, &set, Param::MotorDamping(slide), BOX, timing);
    let set = set_motor(|m, x| m.limit += x);
    against_differences("limit", &pusher(motor.with_limit(2.5)), &set, Param::MotorLimit(slide), BOX, timing);
    against_differences(
        "friction",
        &scene,
        &|s, x| set_friction(s, 0.3 + x),
        Param::friction(BOX, FLOOR),
        BOX,
        timing,
    );
}

#[test]
fn rods_agree_with_differences() {
    // Pinned at one end, it is swung over the floor.
    let mut scene = floor(0.2, Vec3::new(6.0, 0.0, -G));
    let section = Section { radius: 0.005, young: 1e6, poisson: 0.4 };
    let mut rod = Rod::new("rod", Vec3::new(0.0, -0.1, 0.00501), Vec3::new(0.0, 0.1, 0.00501), 4, section);
    rod.ends[0] = Some(RodHold { to: None, fixing: Fixing::Pinned });
    scene.rods.push(rod);
    let model = scene.compile().unwrap();
    let last = Owner::Body(BodyId(model.bodies.len() as u32 - 1));
    let set = |s: &mut Scene, x: f64| s.gravity.x += x;
    let param = Param::Gravity(0);
    against_differences("rod", &scene, &set, param, last, (2e-3, 40, [1e-5; 2]));
}

fn set_friction(scene: &mut Scene, mu: f64) {
    for b in &mut scene.bodies[..2] {
        *b = b.clone().with_friction(mu);
    }
}

#[test]
fn derivatives_are_finite_where_modes_change() {
    // At rest on the floor without a velocity: stick and slip, loaded and unloaded meet here.
    for mu in [0.0, 0.3] {
        let scene = sliding(mu, 0.0, Vec3::new(mu * G, 0.0, -G));
        let params = [Param::Velocity(BOX, 0), Param::friction(BOX, FLOOR), Param::Position(BOX, 2)];
        for d in derivatives(&scene, 0.01, 5, &params, &end_x(BOX, 5)) {
            assert!(d.iter().all(|x| x.is_finite() && x.abs() < 1e3), "{d:?}");
        }
        let motion =
            ExactMotion::run(&scene.compile().unwrap(), tight(), 0.01, 5).unwrap().with_smoothing(1e-3);
        let d = motion.reverse(&end_x(BOX, 5), &params).unwrap();
        assert!(d.iter().all(|x| x.is_finite() && x.abs() < 1e3), "{d:?}");
    }
}

fn solve(p: &ContactProblem) -> Solution {
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let settings = SolverSettings { tolerance: Some(1e-13), max_iterations: None };
    make(SolverKind::Exact, &settings).solve(p, &mut x, &mut ());
    x
}

/// Boxes on top of each other, each on three points, in random motion: unlike those of four corners, their contact
/// forces are determined, and with them velocities that slip and turn.
fn tripods(bodies: usize, mu: f64, random: &mut impl FnMut(f64) -> f64) -> ContactProblem {
    let mut all = Assembly::new(Vec3::new(0.0, 0.0, -G));
    for i in 0..bodies {
        let z = 0.2 * i as f64;
        let body = all.add_box(Vec3::new(0.0, 0.0, z + 0.1), Vec3::splat(0.1), 1.0 + random(0.5));
        let mut velocity = || Vec3::new(random(0.2), random(0.2), random(0.2));
        all.velocity[body] = (velocity(), 3.0 * velocity());
        let points = [0.3, 2.4, 4.5].map(|a: f64| Vec3::new(0.1 * a.cos(), 0.1 * a.sin(), z));
        all.touch(body, i.checked_sub(1), Vec3::Z, &points, mu);
    }
    all.problem()
}

#[test]
fn a_thousand_random_problems_pass_taylors_test() {
    let (mut tested, mut changed) = (0, 0);
    for seed in 0..1000 {
        let mut rng = Rng::new(seed + 7);
        let mut random = |s: f64| s * (2.0 * rng.uniform() - 1.0);
        let mu = 0.4 + random(0.3);
        let p = tripods(1 + seed as usize % 3, mu, &mut random);
        let x = solve(&p);
        let Some(mut step) = ImplicitStep::new(&p, &x, 0.0) else {
            panic!("problem {seed} has no derivative")
        };
        let db: Vec<f64> = p.b.iter().map(|b| random(0.1) * b.abs().max(0.1)).collect();
        // Redundant contacts allow no velocities of their own: only those that bodies can have.
        let w: Vec<f64> = (0..p.dofs()).map(|_| random(1e-2)).collect();
        let du: Vec<Vec3> = (0..p.contacts()).map(|c| p.j.mul_one(c, &w)).collect();
        let dmu = random(0.2);
        let at = |e: f64| {
            let mut q = p.clone();
            for (b, d) in q.b.iter_mut().zip(&db) {
                *b += e * d;
            }
            for (b, d) in q.bias.iter_mut().zip(&du) {
                *b += *d * e;
            }
            q.law.fill(Law::Contact(Friction::Isotropic(mu + e * dmu)));
            let y = solve(&q);
            let modes = ImplicitStep::new(&q, &y, 0.0).map(|s| s.modes);
            (y, modes)
        };
        let momentum: Vec<f64> = db.iter().map(|d| -d).collect();
        let friction = vec![dmu; p.contacts()];
        let bound = vec![Vec3::ZERO; p.contacts()];
        let data = DataChange { momentum, velocity: du.clone(), friction, bound };
        let (dv, _) = step.forward(&data);
        // Reverse is the transpose of forward.
        let seedv: Vec<f64> = (0..p.dofs()).map(|_| random(1.0)).collect();
        let by = step.reverse(&seedv, &vec![Vec3::ZERO; p.contacts()]);
        let forward: f64 = dv.iter().zip(&seedv).map(|(a, b)| a * b).sum();
        let reverse: f64 = by.momentum.iter().zip(&data.momentum).map(|(a, b)| a * b).sum::<f64>()
            + by.velocity.iter().zip(&data.velocity).map(|(a, b)| a.dot(*b)).sum::<f64>()
            + by.friction.iter().sum::<f64>() * dmu;
        let scale: f64 = dv.iter().zip(&seedv).map(|(a, b)| (a * b).abs()).sum();
        // Answers a thousand times as large as the change are on the verge of another mode.
        if dv.iter().any(|d| d.abs() > 1e2) {
            changed += 1;
            continue;
        }
        assert!((forward - reverse).abs() < 1e-7 * scale.max(1e-3), "problem {seed}: {forward} {reverse}");
        // ‖v(ε) − v − ε δv‖ falls by four when ε is halved, unless a mode changes on the way.
        let rest = |e: f64| {
            let (y, modes) = at(e);
            let size =
                y.v.iter().zip(&x.v).zip(&dv).map(|((y, x), d)| (y - x - e * d).powi(2)).sum::<f64>().sqrt();
            (size, modes.as_deref() == Some(&step.modes[..]))
        };
        let scale = dv.iter().map(|d| d * d).sum::<f64>().sqrt();
        let mut slopes = Vec::new();
        let mut same_modes = false;
        // Where the largest change leads too far, smaller ones count.
        for e in [2e-3, 5e-4, 1e-4] {
            let ((large, same), (small, same_too)) = (rest(e), rest(0.5 * e));
            if !(same && same_too) {
                continue;
            }
            same_modes = true;
            // Problems without slip are linear: nothing but the tolerance of the solver remains.
            let slope = if large > 1e-7 * e * scale + 1e-10 { (large / small).log2() } else { 2.0 };
            slopes.push(slope);
            if (slope - 2.0).abs() < 0.3 {
                break;
            }
        }
        if !same_modes {
            changed += 1;
            continue;
        }
        tested += 1;
        assert!(slopes.iter().any(|s| (s - 2.0).abs() < 0.3), "problem {seed}: slopes {slopes:?}");
    }
    assert!(tested + changed == 1000 && changed <= 20, "{tested} tested, {changed} changed modes");
}
