//! What only a closed form notices: friction of two different surfaces, damping of joint springs and of the mass of soft bodies, dry friction of a hinge, the rate of a
//! slide on bodies that spin, the face by which a ball leaves a cylinder, the velocity of a smooth path, the consistent mass of a
//! tetrahedron, a force that begins to act on a body that sleeps. `scripts/mutants.sh` puts the error into each of them.

use crate::stage::{G, cube, floor, id, run, spin, start, velocity};
use stiction::elastic::{Damping, Law, Material, TetAssembly};
use stiction::mesh::shapes;
use stiction::scene::{Ease, Force, Joint, JointKind, Keyframe, Motion, SoftBody, Spring};
use stiction::steppers::velocity::Sleep;
use stiction::{Body, Geometry, Pose, Scene, Scheme, SimSettings, Simulation, Vec3};

const H: f64 = 0.01;

/// A wheel of 2 kg about z through its centre, spinning at 5 rad/s, on a hinge; with its moment of inertia about it.
fn wheel(change: impl Fn(&mut Joint)) -> (Scene, f64) {
    let mut scene = Scene::default();
    let half = Vec3::new(0.3, 0.2, 0.05);
    let mut body = Body::new("wheel", Geometry::Box { half }).with_mass(2.0);
    body.spin = Vec3::Z * 5.0;
    scene.bodies.push(body);
    let mut hinge = Joint::to_world("hinge", JointKind::Hinge, "wheel").at(Vec3::ZERO).about(Vec3::Z);
    change(&mut hinge);
    scene.joints.push(hinge);
    (scene, 2.0 / 3.0 * (half.x * half.x + half.y * half.y))
}

#[test]
fn dampers_of_joints_take_speed_by_their_law() {
    let d = 0.3;
    let (scene, inertia) = wheel(|j| j.springs.twist = Some(Spring::new(1e-9, d)));
    let share = H * d / inertia;
    for (scheme, factor) in [
        (Scheme::ImplicitEuler, 1.0 / (1.0 + share)),
        (Scheme::Midpoint, (1.0 - 0.5 * share) / (1.0 + 0.5 * share)),
    ] {
        for linearizations in [1, 2, 5] {
            let settings = SimSettings { scheme, linearizations, ..SimSettings::default() };
            let mut sim = Simulation::new(scene.compile().expect("the scene compiles"), settings);
            run(&mut sim, H, 20);
            let (expected, got) = (5.0 * f64::powi(factor, 20), spin(&sim, "wheel"));
            let case = format!("{scheme:?}, {linearizations} linearisations");
            assert!((got.z / expected - 1.0).abs() < 1e-6, "{case}: {got}");
        }
    }
}

#[test]
fn dry_friction_of_a_hinge_is_a_moment() {
    let (scene, inertia) = wheel(|j| j.friction = 0.2);
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = start(&scene, scheme);
        run(&mut sim, H, 50);
        let expected = 5.0 - 0.2 / inertia * 50.0 * H;
        assert!((spin(&sim, "wheel").z - expected).abs() < 1e-8, "{scheme:?}: {}", spin(&sim, "wheel"));
        assert!((sim.joint_force(0).1.z + 0.2).abs() < 1e-8, "{scheme:?}: {}", sim.joint_force(0).1);
    }
}

#[test]
fn mass_damping_slows_a_body_as_a_whole() {
    let alpha = 2.0;
    let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
    let mut body = SoftBody::new("it", shapes::block([2, 2, 2], Vec3::splat(0.2)), material);
    body.damping = Damping { mass: alpha, ..Damping::default() };
    let scene = Scene { solids: vec![body], ..Scene::default() };
    for (scheme, factor) in [
        (Scheme::ImplicitEuler, 1.0 / (1.0 + H * alpha)),
        (Scheme::Midpoint, (1.0 - 0.5 * H * alpha) / (1.0 + 0.5 * H * alpha)),
    ] {
        for linearizations in [1, 2, 5] {
            let settings = SimSettings { scheme, linearizations, ..SimSettings::default() };
            let mut sim = Simulation::new(scene.compile().expect("the scene compiles"), settings);
            let mut state = sim.state().clone();
            state.v.chunks_mut(3).for_each(|v| v.copy_from_slice(&[1.0, -0.5, 0.2]));
            sim.set_state(state);
            run(&mut sim, H, 20);
            let expected = Vec3::new(1.0, -0.5, 0.2) * f64::powi(factor, 20);
            for v in sim.state().v.chunks(3) {
                let off = (Vec3::from_slice(v) - expected).length();
                assert!(off < 1e-9, "{scheme:?}, {linearizations} linearisations: {v:?}, not {expected}");
            }
        }
    }
}

#[test]
fn slides_on_spinning_bodies_do_not_move() {
    // Two bodies that turn about z as one; the anchor lies beside the centre of the second.
    let mut scene = Scene::default();
    let spin = Vec3::Z * 3.0;
    for (name, at) in [("a", Vec3::ZERO), ("b", Vec3::new(1.0, 0.5, 0.0))] {
        let mut body = cube(name, 0.1, 0.0);
        body.pose.translation = at;
        (body.spin, body.velocity) = (spin, spin.cross(at));
        scene.bodies.push(body);
    }
    scene.joints.push(Joint::new("slide", JointKind::Prismatic, "a", "b").at(Vec3::ZERO).about(Vec3::X));
    let sim = start(&scene, Scheme::ImplicitEuler);
    let (x, rate) = sim.joint_position(0);
    assert!(x.abs() < 1e-12 && rate.abs() < 1e-12, "{x} m, {rate} m/s");
}

#[test]
fn balls_leave_a_cylinder_by_the_nearest_face() {
    for (at, out) in [(Vec3::X * 0.4, Vec3::X), (Vec3::Y * -0.4, -Vec3::Y), (Vec3::Z * 0.45, Vec3::Z)] {
        let mut scene = Scene::default();
        let drum = Geometry::Cylinder { half_height: 0.5, radius: 0.5 };
        scene.bodies.push(Body::new("drum", drum).fixed());
        let mut ball = Body::new("ball", Geometry::Sphere { radius: 0.02 }).with_mass(1.0);
        ball.pose.translation = at;
        scene.bodies.push(ball);
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        sim.step(H).expect("the state stays finite");
        let normals: Vec<Vec3> = sim.contacts().map(|(c, _)| c.normal()).collect();
        assert!(normals.iter().all(|n| n.dot(out).abs() > 1.0 - 1e-9), "{at}: {normals:?}");
        let depth = 0.5 - at.abs().max_element() + 0.02;
        assert!((sim.report().overlap - depth).abs() < 1e-9, "{at}: {}, not {depth}", sim.report().overlap);
    }
}

#[test]
fn smooth_paths_move_as_fast_as_they_go() {
    let key = |time: f64, x: f64| Keyframe { time, pose: Pose::from_translation(Vec3::new(x, 0.0, -x)) };
    let mut scene = Scene::default();
    let mut body = Body::new("it", Geometry::Sphere { radius: 0.1 });
    body.motion = Motion::Keyframes { keys: vec![key(0.0, 0.0), key(2.0, 1.0)], ease: Ease::Smooth };
    scene.bodies.push(body);
    let sim = start(&scene, Scheme::ImplicitEuler);
    let at = |t: f64| {
        let mut state = sim.state().clone();
        state.t = t;
        let body = id(&sim, "it");
        (sim.model().com_pose(&state, body).translation, sim.model().com_velocity(&state, body).0)
    };
    let e = 1e-5;
    for t in [0.2, 0.7, 1.0, 1.9] {
        let slope = (at(t + e).0 - at(t - e).0) / (2.0 * e);
        assert!((at(t).1 - slope).length() < 1e-8, "t = {t}: {}, not {slope}", at(t).1);
    }
}

#[test]
fn consistent_mass_has_the_energy_of_linear_velocities() {
    // ½ vᵀ M v = ½ ρ ∫ x² over a box of edges 2a, 2b, 2c about the origin: ½ ρ 8abc a²/3.
    let mesh = shapes::block([3, 2, 2], Vec3::new(0.4, 0.6, 0.8));
    let material = Material { law: Law::Linear, young: 1e5, poisson: 0.3, density: 700.0 };
    let which = vec![0; mesh.tets.len()];
    let assembly = TetAssembly::new(&mesh.vertices, &mesh.tets, &[material], &which, Damping::default())
        .expect("the block has positive volumes");
    let middle = mesh.vertices.iter().sum::<Vec3>() / mesh.vertices.len() as f64;
    let v: Vec<f64> = mesh.vertices.iter().map(|x| (*x - middle).x).collect();
    let mut energy = 0.0;
    for (&(a, b), m) in assembly.pairs().iter().zip(assembly.consistent_masses()) {
        let both = if a == b { 0.5 } else { 1.0 };
        energy += both * m * v[a as usize] * v[b as usize];
    }
    let exact = 0.5 * 700.0 * (0.4 * 0.6 * 0.8) * 0.2 * 0.2 / 3.0;
    assert!((energy / exact - 1.0).abs() < 1e-12, "{energy} J, not {exact} J");
}

#[test]
fn friction_is_that_of_both_sides() {
    // The geometric mean of 0.8 and 0.2, whichever is below.
    for (below, above) in [(0.8, 0.2), (0.2, 0.8)] {
        let mut scene = floor(below);
        let mut body = cube("it", 0.1, above);
        body.velocity = Vec3::X * 3.0;
        scene.bodies.push(body);
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        run(&mut sim, H, 20);
        let expected = 3.0 - 0.4 * G * 20.0 * H;
        assert!(
            (velocity(&sim, "it").x - expected).abs() < 1e-6,
            "{below} on {above}: {}",
            velocity(&sim, "it")
        );
    }
}

#[test]
fn forces_wake_who_sleeps() {
    let mut scene = floor(0.5);
    scene.bodies.push(cube("it", 0.1, 0.5));
    scene.forces.push(Force {
        target: "it".into(),
        force: Vec3::X * (0.8 * G),
        torque: Vec3::ZERO,
        at: None,
        from: 1.0,
        until: f64::INFINITY,
    });
    let settings = SimSettings { sleep: Some(Sleep { speed: 0.02, time: 0.2 }), ..SimSettings::default() };
    let mut sim = Simulation::new(scene.compile().expect("the scene compiles"), settings);
    run(&mut sim, H, 99);
    assert_eq!(sim.report().asleep, 1, "it sleeps before the force acts");
    run(&mut sim, H, 50);
    // Of 0.8 m g friction leaves 0.3 m g.
    let expected = 0.3 * G * (sim.state().t - 1.0);
    assert!((velocity(&sim, "it").x / expected - 1.0).abs() < 1e-6, "{} m/s", velocity(&sim, "it").x);
}
