//! A settled scene steps without asking for memory: every buffer is owned, grows once and is used again.

use crate::scenes;

use crate::counting::requests;
use stiction::elastic::{Damping, Law, Material, Section};
use stiction::mesh::shapes;
use stiction::scene::{Rod, SoftBody};
use stiction::{Body, Geometry, Scene, Scheme, SimSettings, Simulation, SolverKind, Vec3};

/// All fall by this much [m] before they settle, so that every stage of the solver has had its turn.
const GAP: f64 = 0.002;
/// An impact at touch leaves so little to correct that a box needs a factor for the first time after 71 steps.
const WARM_UP: usize = 100;

/// Two rods across each other on the floor.
fn rods() -> Scene {
    let mut scene = scenes::ground();
    let section = Section { radius: 0.01, young: 1e7, poisson: 0.3 };
    for (name, along, height) in [("below", Vec3::X, 0.01), ("above", Vec3::Y, 0.03)] {
        let (from, to) = (-0.2 * along, 0.2 * along);
        let at = Vec3::Z * (height + GAP);
        let mut rod = Rod::new(name, from + at, to + at, 8, section);
        rod.damping = 0.01;
        scene.rods.push(rod);
    }
    scene
}

/// A damped block with this many cells along each edge above the floor, and a plate on top of it.
fn soft(law: Law, cells: usize, loaded: bool) -> Scene {
    let mut scene = scenes::ground();
    let rubber = Material { law, young: 1e5, poisson: 0.4, density: 1000.0 };
    let mut block = SoftBody::new("block", shapes::block([cells; 3], Vec3::splat(0.2)), rubber);
    block.pose.translation = Vec3::Z * (0.1 + GAP);
    block.damping = Damping { stiffness: 0.01, ..Damping::default() };
    scene.solids.push(block);
    if loaded {
        let plate = Geometry::Box { half: Vec3::new(0.2, 0.2, 0.02) };
        scene.bodies.push(Body::new("plate", plate).at(0.0, 0.0, 0.22 + 2.0 * GAP));
    }
    scene
}

fn settled_steps_are_free(name: &str, scene: Scene, settings: SimSettings) {
    let mut sim = Simulation::new(scene.compile().unwrap(), settings);
    let mut most = 0;
    for _ in 0..WARM_UP {
        most = sim.step(0.01).unwrap().contacts.max(most);
    }
    for step in 0..50 {
        let before = requests();
        sim.step(0.01).unwrap();
        let asked = requests() - before;
        // Faces that lie edge on edge may at any time be cut into one contact more than ever before.
        let grows = sim.report().contacts > most;
        most = most.max(sim.report().contacts);
        assert!(asked == 0 || grows, "{name}, step {step}: {asked} requests for memory, {:?}", sim.report());
    }
    assert!(sim.report().contacts >= 4 && sim.energy().kinetic < 1e-6, "{name}: {:?}", sim.report());
}

#[test]
fn a_box_a_stack_and_a_wall_at_rest_ask_for_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for solver in [SolverKind::Exact, SolverKind::Realtime, SolverKind::Pgs, SolverKind::Apgd] {
            let settings = SimSettings { scheme, solver, ..SimSettings::default() };
            for (name, scene) in [
                ("box", scenes::stack(1, GAP)),
                ("stack of five", scenes::stack(5, GAP)),
                ("5 × 5 wall", scenes::wall(5, 5, GAP)),
            ] {
                let name = format!("{name}, {}, {}", scheme.name(), solver.name());
                // All on one thread, whose requests are counted.
                pool.install(|| settled_steps_are_free(&name, scene, settings));
            }
        }
    }
}

#[test]
fn rods_and_soft_bodies_at_rest_ask_for_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for solver in [SolverKind::Exact, SolverKind::Auto] {
        let settings = SimSettings { solver, ..SimSettings::default() };
        for (name, scene) in [
            ("rods", rods()),
            ("small soft block", soft(Law::Corotated, 1, false)),
            ("soft block", soft(Law::StableNeoHookean, 2, false)),
            ("loaded soft block", soft(Law::Corotated, 2, true)),
            ("block of many nodes", soft(Law::Corotated, 8, false)),
        ] {
            let name = format!("{name}, {}", solver.name());
            pool.install(|| settled_steps_are_free(&name, scene, settings));
        }
    }
}
