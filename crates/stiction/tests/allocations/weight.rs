//! What a model and its simulations weigh: a mesh is held once, a fork holds its memory alone, and a world costs its snapshot.

use crate::counting::held;

use std::sync::Arc;
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::scene::SoftBody;
use stiction::{Body, Geometry, Model, Scene, SimSettings, Simulation, Vec3};

const H: f64 = 0.01;
/// A law whose stiffness takes ten blocks per tet to assemble.
const RUBBER: Material = Material { law: Law::StableNeoHookean, young: 1e5, poisson: 0.4, density: 1000.0 };
/// Bytes of those blocks.
const BLOCKS: isize = 720;

/// A soft ball on a floor.
fn ball(shells: usize) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    let mut ball = SoftBody::new("ball", shapes::sphere(0.05, shells), RUBBER);
    ball.pose.translation = Vec3::Z * 0.0501;
    scene.solids.push(ball);
    scene
}

/// The same on one thread, whose requests are counted.
fn counted(test: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one").install(test);
}

#[test]
fn a_model_holds_no_scratch() {
    let scene = ball(5);
    let before = held();
    let model = scene.compile().expect("a ball");
    let (tets, weight) = (model.solids[0].tets.len() as isize, held() - before);
    assert!(tets > 1000 && weight / tets < BLOCKS, "{} B per tet", weight / tets);
    // A copy of the model shares the constants of its elements.
    let before = held();
    let copy = model.clone();
    let copied = held() - before;
    assert!(Arc::ptr_eq(&model.solids[0].elements, &copy.solids[0].elements));
    assert!(3 * copied < 2 * weight, "{copied} B of {weight}");
}

#[test]
fn a_fork_weighs_its_memory_and_so_does_a_world() {
    counted(|| {
        let model: Arc<Model> = Arc::new(ball(5).compile().expect("a ball"));
        let before = held();
        let mut sim = Simulation::new(Arc::clone(&model), SimSettings::default());
        for _ in 0..10 {
            sim.step(H).expect("it falls");
        }
        let (whole, before) = (held() - before, held());
        assert!(sim.report().contacts > 0);
        let world = sim.snapshot();
        let (world_weight, before) = (held() - before, held());
        let fork = sim.fork().expect("its solver is one of this crate");
        let fork_weight = held() - before;
        // q, v, and the contacts of the last step, of which a report holds more than the memory does.
        let (nq, nv) = (world.state.q.len() as isize, world.state.v.len() as isize);
        let contacts = world.contacts.entries.len() as isize;
        assert!(world_weight <= 8 * (nq + nv) + 128 * contacts + 4096, "{world_weight} B, {nq} numbers");
        assert!(
            fork_weight <= 8 * (nq + nv) + 1024 * contacts + 65536,
            "{fork_weight} B, {contacts} contacts"
        );
        assert!(20 * fork_weight < whole, "{fork_weight} B of {whole} B");
        assert_eq!(fork.snapshot(), world);
    });
}
