//! Soft bodies run into each other: a ball into a ball, off centre. Their momentum is kept to 1e-10, their energy does not
//! grow, nothing runs into the other at any step, they part again, and the answer has the same bits for any number of
//! threads.

use crate::common::intersect;
use stiction::Vec3;
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::methods::SimSettings;
use stiction::scene::{Scene, SoftBody};
use stiction::sim::Simulation;

const RADIUS: f64 = 0.05;

fn ball(name: &str, at: Vec3, velocity: Vec3) -> SoftBody {
    let material = Material { law: Law::StableNeoHookean, young: 5e4, poisson: 0.4, density: 1000.0 };
    let mut b = SoftBody::new(name, shapes::sphere(RADIUS, 2), material);
    b.pose.translation = at;
    b.velocity = velocity;
    b
}

fn impact() -> Simulation {
    let v = Vec3::new(0.0, 0.0, -1.0);
    let scene = Scene {
        gravity: Vec3::ZERO,
        solids: vec![
            ball("lower", Vec3::ZERO, Vec3::ZERO),
            ball("upper", Vec3::new(0.021, 0.013, 2.2 * RADIUS), v),
        ],
        ..Scene::default()
    };
    Simulation::new(scene.compile().unwrap(), SimSettings::default())
}

fn momentum(sim: &Simulation) -> Vec3 {
    sim.model().nodes.iter().map(|n| n.mass * n.velocity(sim.state())).sum()
}

#[test]
fn momentum_is_kept_and_nothing_intersects() {
    let mut sim = impact();
    let p0 = momentum(&sim);
    let mut energy = sim.energy().total();
    let (mut touched, mut deepest) = (false, 0.0_f64);
    for k in 0..120 {
        let r = sim.step(0.002).unwrap();
        assert!(r.status.is_solved(), "step {k}: {:?}", r.status);
        touched |= sim.contacts().any(|(_, f)| f.length() > 0.1);
        deepest = deepest.max(intersect::deepest(&sim));
        let now = sim.energy().total();
        assert!(now <= energy * (1.0 + 1e-9), "step {k}: {energy} → {now} J");
        energy = now;
    }
    assert!(touched);
    assert!(deepest < 2e-3 * sim.model().solids[0].edge, "{deepest} m");
    let p = momentum(&sim);
    assert!((p - p0).length() < 1e-10 * p0.length(), "{p0} → {p}");
    assert!(sim.contacts().all(|(_, f)| f.length() == 0.0), "they part");
}

#[test]
fn one_and_two_threads_agree_to_the_bit() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut sim = impact();
            let mut touched = 0;
            for _ in 0..50 {
                sim.step(0.002).unwrap();
                touched += sim.contacts().filter(|(_, f)| f.length() > 0.0).count();
            }
            assert!(touched > 20, "{touched} contacts in all");
            sim.state().clone()
        })
    };
    assert_eq!(run(1), run(2));
}
