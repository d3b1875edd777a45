//! What a scene can ask of contacts: a distance that surfaces keep, fewer points for the same support, groups that pass
//! through each other, islands that sleep. Each changes what it says and nothing else.

use stiction::coords::BodyId;
use stiction::scene::{ContactSettings, Heightfield, Manifold, Owner, Scene};
use stiction::{Body, Geometry, Quat, SimSettings, Simulation, Vec3};

const G: f64 = 10.0;

fn scene(bodies: Vec<Body>, contact: ContactSettings) -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -G), bodies, contact, ..Scene::default() }
}

fn start(s: Scene) -> Simulation {
    Simulation::new(s.compile().unwrap(), SimSettings::default())
}

fn crate_at(z: f64) -> Body {
    Body::new("crate", Geometry::Box { half: Vec3::new(0.1, 0.15, 0.1) }).with_mass(2.0).at(0.0, 0.0, z)
}

fn tiles() -> Body {
    let field = Heightfield { heights: vec![0.0; 21 * 21], columns: 21, size: [1.0, 1.0], base: None };
    let mut b = Body::new("tiles", Geometry::Heightfield(field)).fixed();
    b.pose.rotation = Quat::from_rotation_z(0.3);
    b
}

fn height(sim: &Simulation, body: u32) -> f64 {
    sim.model().com_pose(sim.state(), BodyId(body)).translation.z
}

#[test]
fn surfaces_keep_their_thickness() {
    let grounds = [Body::new("floor", Geometry::Plane).fixed(), tiles()];
    for ground in grounds {
        let contact = ContactSettings { thickness: 0.02, ..ContactSettings::default() };
        let mut sim = start(scene(vec![ground, crate_at(0.15)], contact));
        for _ in 0..100 {
            sim.step(0.01).unwrap();
        }
        assert!((height(&sim, 1) - 0.12).abs() < 1e-4, "{}", height(&sim, 1));
        assert!((sim.force_on(Owner::Body(BodyId(1)), None).z - 2.0 * G).abs() < 1e-6);
    }
}

#[test]
fn corners_carry_what_all_points_carry() {
    let run = |manifold: Manifold| {
        let contact = ContactSettings { manifold, ..ContactSettings::default() };
        let mut it = crate_at(0.1).with_friction(0.2);
        it.velocity = Vec3::new(0.5, 0.2, 0.0);
        let mut sim = start(scene(vec![tiles().with_friction(0.2), it], contact));
        let mut most = 0;
        for _ in 0..60 {
            let r = sim.step(0.01).unwrap();
            assert!(r.status.is_solved());
            most = most.max(r.contacts);
            assert!((sim.force_on(Owner::Body(BodyId(1)), None).z - 2.0 * G).abs() < 1e-6);
        }
        (most, sim.model().com_pose(sim.state(), BodyId(1)))
    };
    let (all, pose_all) = run(Manifold::Full);
    let (few, pose_few) = run(Manifold::Corners);
    assert!(all > 40 && few <= 8, "{all} and {few} points");
    assert!(pose_all.translation.distance(pose_few.translation) < 1e-6);
    assert!(pose_all.rotation.dot(pose_few.rotation).abs() > 1.0 - 1e-12);
    // The same bits whatever ran before: keys and order do not depend on history.
    assert_eq!(run(Manifold::Corners).1, pose_few);
}

#[test]
fn groups_and_masks_decide_who_touches() {
    let ground = Body { groups: 0b01, ..Body::new("floor", Geometry::Plane).fixed() };
    // A ghost touches the floor alone; the two crates touch each other.
    let ghost = Body { name: "ghost".into(), groups: 0b10, mask: 0b01, ..crate_at(0.1) };
    let first = Body { name: "first".into(), groups: 0b100, mask: 0b101, ..crate_at(0.1) };
    let second = Body { name: "second".into(), groups: 0b100, mask: 0b101, ..crate_at(0.3) };
    let mut sim = start(scene(vec![ground, ghost, first, second], ContactSettings::default()));
    for _ in 0..50 {
        sim.step(0.01).unwrap();
    }
    let force = |on: u32, by: u32| sim.force_on(Owner::Body(BodyId(on)), Some(Owner::Body(BodyId(by)))).z;
    assert!((force(1, 0) - 2.0 * G).abs() < 1e-6, "the floor carries the ghost");
    assert_eq!((force(1, 2), force(1, 3)), (0.0, 0.0));
    assert!((force(3, 2) - 2.0 * G).abs() < 1e-6 && (force(2, 0) - 4.0 * G).abs() < 1e-6);
    assert!((height(&sim, 1) - 0.1).abs() < 1e-6 && (height(&sim, 3) - 0.3).abs() < 1e-6);
}

fn sleepy() -> SimSettings {
    SimSettings {
        sleep: Some(stiction::steppers::velocity::Sleep { speed: 0.02, time: 0.2 }),
        ..SimSettings::default()
    }
}

/// Two towers of crates, one of which is struck by a ball after a second.
fn towers() -> Scene {
    let mut bodies = vec![Body::new("floor", Geometry::Plane).fixed()];
    for k in 0..6 {
        let mut b = crate_at(0.1 + 0.2 * f64::from(k % 3));
        b.name = format!("crate{k}");
        b.pose.translation.x = if k < 3 { 0.0 } else { 2.0 };
        bodies.push(b);
    }
    let mut ball = Body::new("ball", Geometry::Sphere { radius: 0.1 }).with_mass(3.0).at(-4.0, 0.0, 0.3);
    ball.velocity = Vec3::new(4.0, 0.0, 0.0);
    bodies.push(ball);
    let mut s = scene(bodies, ContactSettings::default());
    // It flies level: a force holds it up.
    s.forces.push(stiction::scene::Force {
        target: "ball".into(),
        force: Vec3::new(0.0, 0.0, 3.0 * G),
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: 10.0,
    });
    s
}

#[test]
fn what_rests_sleeps_until_it_is_touched() {
    let mut sim = Simulation::new(towers().compile().unwrap(), sleepy());
    let floor = Owner::Body(BodyId(0));
    let (mut most, mut at_rest) = (0, false);
    for k in 0..200 {
        let r = sim.step(0.01).unwrap();
        most = most.max(r.asleep);
        if r.asleep == 6 {
            at_rest = true;
            // Frozen contacts keep their forces: the floor carries six crates of 2 kg.
            let weight = -sim.force_on(floor, None).z;
            assert!((weight - 12.0 * G).abs() < 1e-6, "step {k}: {weight}");
            assert!(sim.state().v[..36].iter().all(|v| *v == 0.0));
        }
    }
    assert!(at_rest && most == 6, "{most} slept");
    // The ball has struck the first tower: its crates woke and moved; the other tower slept on.
    let x = |b: u32| sim.model().com_pose(sim.state(), BodyId(b)).translation;
    assert!((1..4).any(|b| x(b).x > 0.05), "{} {} {}", x(1), x(2), x(3));
    assert!((4..7).all(|b| (x(b).x - 2.0).abs() < 1e-6 || x(b).x > 2.0));
}

#[test]
fn sleeping_changes_no_bit_with_threads_or_resume_and_little_else() {
    let run = |settings: SimSettings| {
        let mut sim = Simulation::new(towers().compile().unwrap(), settings);
        for _ in 0..90 {
            sim.step(0.01).unwrap();
        }
        sim
    };
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let one = pool(1).install(|| run(sleepy()));
    let two = pool(2).install(|| run(sleepy()));
    assert_eq!(one.state(), two.state());
    // Asleep or not, the towers stand where they stood.
    let awake = run(SimSettings::default());
    let off = one.state().q.iter().zip(&awake.state().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-4, "{off}");
    // A snapshot knows who sleeps.
    assert!(one.report().asleep > 0);
    let mut resumed = Simulation::new(towers().compile().unwrap(), sleepy());
    resumed.restore(&one.snapshot());
    let mut going = one;
    for _ in 0..60 {
        going.step(0.01).unwrap();
        resumed.step(0.01).unwrap();
    }
    assert_eq!(going.state(), resumed.state());
    assert_eq!(going.report().asleep, resumed.report().asleep);
}
