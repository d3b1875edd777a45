//! Rods in motion: without external forces a bending, twisting rod keeps momentum and angular momentum to 1e-12; taut cables
//! stay stable at steps that do not resolve their waves; what holds an end carries it along; bad rods are named.

use crate::stage::{G, empty, position, start};
use stiction::coords::BodyId;
use stiction::elastic::Section;
use stiction::scene::{Body, Fixing, Geometry, Motion, Rod, RodHold, Scene};
use stiction::{Scheme, Simulation, Vec3};

fn section() -> Section {
    Section { radius: 0.01, young: 1e6, poisson: 0.3 }
}

fn momenta(sim: &Simulation) -> (Vec3, Vec3) {
    let (m, s) = (sim.model(), sim.state());
    let (mut p, mut l) = (Vec3::ZERO, Vec3::ZERO);
    for (i, b) in m.bodies.iter().enumerate().filter(|(_, b)| b.block.is_some()) {
        let (pose, (v, w)) = (m.com_pose(s, BodyId(i as u32)), m.com_velocity(s, BodyId(i as u32)));
        p += b.mass * v;
        l += pose.translation.cross(b.mass * v) + b.world_inertia(pose.rotation) * w;
    }
    (p, l)
}

#[test]
fn momenta_stay_without_external_forces() {
    // A rod that is drawn bent and wants to be straight, thrown and spinning by its first link.
    let mut scene = Scene::default();
    let mut rod = Rod::new("rod", Vec3::ZERO, Vec3::X, 12, section());
    rod.points = vec![Vec3::ZERO, Vec3::X * 0.3, Vec3::new(0.5, 0.4, 0.2)];
    rod.corner_radius = 0.2;
    rod.damping = 1e-3;
    scene.rods.push(rod);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let mut state = sim.state().clone();
    state.v[..6].copy_from_slice(&[0.3, -0.2, 0.5, 1.0, 2.0, -1.0]);
    sim.set_state(state);
    let (p, l) = momenta(&sim);
    let (bent, mut least) = (sim.energy().elastic, f64::INFINITY);
    for _ in 0..200 {
        sim.step(0.001).unwrap();
        least = least.min(sim.energy().elastic);
    }
    let (q, k) = momenta(&sim);
    assert!(least < 0.5 * bent, "it moves: {least} of {bent} J");
    assert!((q - p).length() < 1e-12 * p.length(), "{p} {q}");
    assert!((k - l).length() < 1e-12 * l.length(), "{l} {k}");
}

#[test]
fn a_taut_cable_stays_stable_at_large_steps() {
    // 10 kg on 10 m of thin wire in 40 links: h² T/(m L) is about 200, and twelve times that for the turn of a link.
    let (n, length, mass, h) = (40, 10.0, 10.0, 0.02);
    let wire = Section { radius: 1e-3, young: 1e9, poisson: 0.3 };
    let mut scene = empty();
    scene.bodies.push(Body::new("load", Geometry::Sphere { radius: 0.1 }).with_mass(mass).at(
        0.0,
        0.0,
        -length - 0.1,
    ));
    let mut rod = Rod::new("wire", Vec3::ZERO, -Vec3::Z * length, n, wire);
    let pinned = |to: Option<&str>| Some(RodHold { to: to.map(Into::into), fixing: Fixing::Pinned });
    rod.ends = [pinned(None), pinned(Some("load"))];
    rod.damping = 0.1;
    scene.rods.push(rod);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let mut state = sim.state().clone();
    for b in &sim.model().bodies[1..] {
        state.v[b.dof + 1] = (3.0 * b.dof as f64).sin();
    }
    sim.set_state(state);
    for _ in 0..500 {
        sim.step(h).unwrap();
        let side = (0..n).map(|i| position(&sim, &format!("wire[{i}]")).y.abs()).fold(0.0, f64::max);
        assert!(side < 0.2, "swings out to {side} m");
    }
    // In the end the wire is stretched by the load and half of its own weight.
    let own = 1000.0 * wire.area() * length;
    let stretch = (mass + 0.5 * own) * G * length / wire.stretch_stiffness().z;
    let drop = -position(&sim, "load").z - length - 0.1;
    assert!((drop / stretch - 1.0).abs() < 1e-3, "{drop} of {stretch} m");
    let joint = &sim.model().rods[0].joints[0];
    let hook = joint.element.force(&sim.kinematics().rod_frames(joint));
    assert!((hook.z / (-(mass + own) * G) - 1.0).abs() < 1e-3, "{hook}");
}

#[test]
fn a_turning_holder_swings_the_rod() {
    let mut scene = Scene::default();
    let mut hub = Body::new("hub", Geometry::Sphere { radius: 0.05 });
    hub.motion = Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::Z * 2.0 };
    scene.bodies.push(hub);
    let mut rod = Rod::new("arm", Vec3::X * 0.05, Vec3::X * 0.5, 6, Section { young: 1e9, ..section() });
    rod.ends[0] = Some(RodHold { to: Some("hub".into()), fixing: Fixing::Clamped });
    rod.damping = 1e-2;
    scene.rods.push(rod);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for _ in 0..1000 {
        sim.step(0.002).unwrap();
    }
    let middle = position(&sim, "arm[3]");
    let angle = middle.y.atan2(middle.x);
    let expected = 4.0 - 2.0 * std::f64::consts::PI;
    assert!((angle - expected).abs() < 0.01, "{angle} rad");
    assert!((middle.length() - (0.05 + 0.45 * 3.5 / 6.0)).abs() < 1e-3);
    assert_eq!(sim.report().contacts, 0, "holder and rod do not push each other");
}

#[test]
fn bad_rods_are_named() {
    let broken = |change: &dyn Fn(&mut Rod)| {
        let mut scene = Scene::default();
        scene.bodies.push(Body::new("b", Geometry::Sphere { radius: 0.1 }));
        scene.rods.push(Rod::new("r", Vec3::ZERO, Vec3::X, 5, section()));
        change(&mut scene.rods[0]);
        let e = scene.compile().map(|_| ()).unwrap_err();
        assert_eq!(e.item, "rod `r`", "{e}");
        e.problem
    };
    assert!(broken(&|r| r.section.young = -1.0).contains("Young's modulus"));
    assert!(broken(&|r| r.section.poisson = 0.5).contains("Poisson's ratio"));
    assert!(broken(&|r| r.section.radius = 0.0).contains("radius must be positive"));
    assert!(broken(&|r| r.segments = 0).contains("segments"));
    assert!(broken(&|r| r.points[1] = r.points[0]).contains("coincide"));
    assert!(broken(&|r| r.density = f64::NAN).contains("density"));
    let to = |name: &str| Some(RodHold { to: Some(name.into()), fixing: Fixing::Pinned });
    assert!(broken(&|r| r.ends[1] = to("nobody")).contains("no body"));
    assert!(broken(&|r| r.ends[0] = to("r[2]")).contains("link of the rod itself"));
}
