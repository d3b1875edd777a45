//! Springs, dampers and ropes: a linear spring keeps its energy to 1e-12 under midpoint; without external forces momentum
//! and angular momentum stay to 1e-12; a load hangs by m g/k; a rope pulls and never pushes; a damper alone takes
//! c/m of the speed; a driven end carries what hangs on it along; bad springs are named.

use crate::stage::{G, empty, start};
use stiction::elastic::{Action, Preset};
use stiction::mesh::shapes;
use stiction::scene::{Body, Geometry, Motion, Particle, Scene, SoftBody, SpringEnd, SpringSpec};
use stiction::{Scheme, SimSettings, Simulation, Vec3};

fn particle(name: &str, mass: f64, position: Vec3, velocity: Vec3) -> Particle {
    Particle { name: name.into(), mass, radius: 0.0, position, velocity, friction: 0.0, restitution: 0.0 }
}

/// Two particles and a spring between them, without gravity.
fn pair(rest_length: f64, velocity: Vec3) -> Scene {
    let mut scene = Scene::default();
    scene.particles.push(particle("a", 1.0, Vec3::ZERO, -velocity * 2.0));
    scene.particles.push(particle("b", 2.0, Vec3::X, velocity));
    let ends = [SpringEnd::on("a", Vec3::ZERO), SpringEnd::on("b", Vec3::ZERO)];
    scene.springs.push(SpringSpec { rest_length: Some(rest_length), ..SpringSpec::new("s", ends, 50.0) });
    scene
}

#[test]
fn midpoint_keeps_the_energy_of_a_linear_spring() {
    // Without rest length in space, with one along its line.
    for (rest, velocity) in [(0.0, Vec3::new(0.3, 0.8, -0.4)), (1.2, Vec3::X * 0.4)] {
        let mut sim = start(&pair(rest, velocity), Scheme::Midpoint);
        let before = sim.energy().total();
        let mut stored: f64 = 0.0;
        for _ in 0..500 {
            sim.step(0.02).unwrap();
            let e = sim.energy();
            stored = stored.max(e.elastic);
            assert!((e.total() / before - 1.0).abs() < 1e-12, "{} of {before} J", e.total());
        }
        assert!(stored > 0.3 * before, "energy goes to and fro");
    }
}

/// Momentum [kg·m/s] and angular momentum about the origin [kg·m²/s].
fn momenta(sim: &Simulation) -> (Vec3, Vec3) {
    let (m, s) = (sim.model(), sim.state());
    let (mut p, mut l) = (Vec3::ZERO, Vec3::ZERO);
    for (id, b) in m.free_bodies() {
        let (pose, (v, w)) = (m.com_pose(s, id), m.com_velocity(s, id));
        p += b.mass * v;
        l += pose.translation.cross(b.mass * v) + b.world_inertia(pose.rotation) * w;
    }
    for n in &m.nodes {
        let (x, v) = (n.position(s), n.velocity(s));
        p += n.mass * v;
        l += x.cross(n.mass * v);
    }
    (p, l)
}

#[test]
fn momenta_stay_without_external_forces() {
    let mut scene = pair(0.5, Vec3::new(0.3, 0.8, -0.4));
    let mut block = Body::new("block", Geometry::Box { half: Vec3::new(0.1, 0.2, 0.05) }).at(0.0, 1.0, 0.3);
    block.spin = Vec3::new(1.0, -2.0, 3.0);
    block.velocity = Vec3::new(0.2, 0.0, 0.1);
    scene.bodies.push(block);
    for (name, corner) in [("a", Vec3::new(0.1, 0.2, 0.05)), ("b", Vec3::new(-0.1, 0.2, 0.0))] {
        let ends = [SpringEnd::on(name, Vec3::ZERO), SpringEnd::on("block", corner)];
        let spring = SpringSpec::new(format!("to {name}"), ends, 30.0);
        scene.springs.push(SpringSpec { rest_length: Some(0.6), damping: 0.3, ..spring });
    }
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let (p, l) = momenta(&sim);
    for _ in 0..200 {
        sim.step(0.005).unwrap();
    }
    let (q, k) = momenta(&sim);
    assert!((q - p).length() < 1e-12 * p.length(), "{p} {q}");
    assert!((k - l).length() < 1e-12 * l.length(), "{l} {k}");
}

#[test]
fn a_load_hangs_by_its_weight_over_the_stiffness() {
    let mut scene = empty();
    scene.particles.push(particle("load", 2.0, Vec3::new(0.0, 0.0, -1.0), Vec3::ZERO));
    let ends = [SpringEnd::world(Vec3::ZERO), SpringEnd::on("load", Vec3::ZERO)];
    scene.springs.push(SpringSpec { damping: 30.0, ..SpringSpec::new("s", ends, 100.0) });
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for _ in 0..500 {
        sim.step(0.01).unwrap();
    }
    let z = sim.particle("load").unwrap().position().z;
    assert!((z + 1.0 + 2.0 * G / 100.0).abs() < 1e-9, "{z}");
}

#[test]
fn a_soft_block_hangs_by_a_point_of_its_top() {
    let mut scene = empty();
    let material = Preset::Rubber.material();
    let weight = 0.1f64.powi(3) * material.density * G;
    let mut block = SoftBody::new("block", shapes::block([2, 2, 2], Vec3::splat(0.1)), material);
    block.damping.stiffness = 0.01;
    scene.solids.push(block);
    // The middle of a top face is no node: several share the pull.
    let at = Vec3::new(0.013, 0.021, 0.1);
    let ends = [SpringEnd::world(Vec3::new(0.013, 0.021, 0.6)), SpringEnd::on("block", at)];
    scene.springs.push(SpringSpec { damping: 20.0, ..SpringSpec::new("s", ends, 100.0) });
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for _ in 0..1500 {
        sim.step(0.02).unwrap();
    }
    let pull = sim.model().springs[0].spring.gradient(sim.kinematics().span(&sim.model().springs[0]));
    assert!((pull.z / -weight - 1.0).abs() < 1e-4, "{pull} of {weight} N");
}

#[test]
fn a_rope_pulls_and_never_pushes() {
    let mut scene = empty();
    scene.particles.push(particle("load", 1.0, Vec3::new(0.0, 0.0, -0.2), Vec3::ZERO));
    let ends = [SpringEnd::world(Vec3::ZERO), SpringEnd::on("load", Vec3::ZERO)];
    let rope = SpringSpec {
        rest_length: Some(1.0),
        damping: 200.0,
        action: Action::PullOnly,
        ..SpringSpec::new("rope", ends, 1e4)
    };
    scene.springs.push(rope);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let (h, mut t) = (0.001, 0.0);
    let height = |sim: &Simulation| sim.particle("load").unwrap().position().z;
    // Slack: free fall of implicit Euler, z = −½ g t (t + h).
    while height(&sim) > -0.99 {
        sim.step(h).unwrap();
        t += h;
        let z = -0.2 - 0.5 * G * t * (t + h);
        assert!((height(&sim) - z).abs() < 1e-12);
    }
    for _ in 0..3000 {
        sim.step(h).unwrap();
    }
    assert!((height(&sim) + 1.0 + G / 1e4).abs() < 1e-9, "{}", height(&sim));
}

#[test]
fn a_damper_takes_its_share_of_the_speed() {
    let (c, m, h) = (3.0, 2.0, 0.01);
    let mut scene = Scene::default();
    scene.particles.push(particle("p", m, Vec3::X, Vec3::X));
    let ends = [SpringEnd::world(Vec3::ZERO), SpringEnd::on("p", Vec3::ZERO)];
    // As good as no stiffness: what it adds is below 1e-12 of the damper.
    scene.springs.push(SpringSpec { damping: c, ..SpringSpec::new("damper", ends, 1e-12) });
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for k in 1..=100 {
        sim.step(h).unwrap();
        let expected = (1.0 + h * c / m).powi(-k);
        let speed = sim.particle("p").unwrap().velocity().x;
        assert!((speed / expected - 1.0).abs() < 1e-10);
    }
}

#[test]
fn a_driven_end_carries_its_load_along() {
    let mut scene = Scene::default();
    let velocity = Vec3::new(0.5, 0.2, 0.0);
    let mut hook = Body::new("hook", Geometry::Sphere { radius: 0.01 });
    hook.motion = Motion::Constant { velocity, spin: Vec3::ZERO };
    scene.bodies.push(hook);
    scene.particles.push(particle("load", 1.0, Vec3::new(0.0, 0.0, -1.0), velocity));
    let ends = [SpringEnd::on("hook", Vec3::ZERO), SpringEnd::on("load", Vec3::ZERO)];
    scene.springs.push(SpringSpec { damping: 5.0, ..SpringSpec::new("s", ends, 1e5) });
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = start(&scene, scheme);
        for _ in 0..100 {
            sim.step(0.01).unwrap();
        }
        let x = Vec3::from_slice(&sim.state().q);
        assert!((x - Vec3::new(0.5, 0.2, -1.0)).length() < 1e-10, "{scheme:?}: {x}");
    }
}

#[test]
fn a_taut_string_stays_stable_at_large_steps() {
    // Beads on a string under 1 kN: h² T/(m L) = 1000.
    let (n, h) = (9, 0.01);
    let mut scene = empty();
    for i in 0..n {
        let x = Vec3::X * (0.1 * (i + 1) as f64);
        scene.particles.push(particle(&format!("{i}"), 1e-3, x, Vec3::Z * (i as f64).sin()));
    }
    let at = |i: usize| match i {
        0 => SpringEnd::world(Vec3::ZERO),
        i if i == n + 1 => SpringEnd::world(Vec3::X * (0.1 * i as f64)),
        i => SpringEnd::on(format!("{}", i - 1), Vec3::ZERO),
    };
    for i in 0..=n {
        let spring = SpringSpec::new(format!("s{i}"), [at(i), at(i + 1)], 2e4);
        scene.springs.push(SpringSpec { rest_length: Some(0.05), ..spring });
    }
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for _ in 0..200 {
        sim.step(h).unwrap();
    }
    // It comes to rest on the parabola w(x)/(2T) x (l − x) of its weight.
    let (weight, tension) = (1e-3 * G / 0.1, 2e4 * 0.05);
    for (i, bead) in sim.model().nodes.iter().enumerate() {
        let x = bead.position(sim.state());
        let s = 0.1 * (i + 1) as f64;
        let sag = weight / (2.0 * tension) * s * (1.0 - s);
        assert!((x.z / -sag - 1.0).abs() < 1e-3, "bead {i}: {} of {sag}", x.z);
    }
}

#[test]
fn bad_springs_are_named() {
    let base = pair(0.5, Vec3::ZERO);
    let broken = |change: &dyn Fn(&mut SpringSpec)| {
        let mut scene = base.clone();
        change(&mut scene.springs[0]);
        scene.compile().map(|_| ()).unwrap_err()
    };
    let e = broken(&|s| s.stiffness = 0.0);
    assert!(e.item == "spring `s`" && e.problem.contains("stiffness must be positive"), "{e}");
    assert!(broken(&|s| s.ends[1].on = Some("c".into())).problem.contains("no body"));
    assert!(broken(&|s| s.ends[1] = s.ends[0].clone()).problem.contains("same body"));
    assert!(broken(&|s| s.ends[1].at = Vec3::X).problem.contains("has no extent"));
    assert!(broken(&|s| s.rest_length = Some(-1.0)).problem.contains("rest length"));
    let coincide = broken(&|s| {
        s.rest_length = None;
        s.ends[0] = SpringEnd::world(Vec3::X);
    });
    assert!(coincide.problem.contains("coincide"), "{coincide}");
    let mut idle = base.clone();
    idle.springs[0].ends = [SpringEnd::world(Vec3::X), SpringEnd::world(Vec3::Y)];
    let sim = Simulation::new(idle.compile().unwrap(), SimSettings::default());
    assert!(sim.model().warnings.iter().any(|w| w.contains("neither end moves")));
}
