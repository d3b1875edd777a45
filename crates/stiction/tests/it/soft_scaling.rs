//! A gripped block a tenth as long, of a material ten times softer, does the same in times √10 shorter: units and
//! sizes are nowhere built in (E ~ ρ g L, t ~ √(L/g)).

use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Ease, Keyframe, Motion, NodeSelection, SoftBody};
use stiction::{Body, Geometry, Pose, Scene, SimSettings, Simulation, Vec3};

/// Positions of all nodes, in units of the length scale, at every tenth step of a grip.
fn grip(length: f64, rigid_edges: bool) -> Vec<Vec<f64>> {
    let time = length.sqrt();
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed());
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut plate = Body::new(name, Geometry::Box { half: length * Vec3::new(0.01, 0.08, 0.08) });
        let key = |t: f64, x: f64, z: f64| Keyframe {
            time: time * t,
            pose: Pose::from_translation(length * Vec3::new(side * x, 0.0, z)),
        };
        let keys = vec![key(0.0, 0.0605, 0.11), key(0.3, 0.057, 0.11), key(0.9, 0.057, 0.16)];
        plate.motion = Motion::Keyframes { keys, ease: Ease::Smooth };
        scene.bodies.push(plate);
    }
    let mesh = shapes::block([5, 5, 5], length * Vec3::new(0.10, 0.11, 0.11));
    let material = Material { law: Law::Corotated, young: 1e6 * length, poisson: 0.35, density: 1000.0 };
    let mut block = SoftBody::new("block", mesh, material);
    block.rigid_edges = rigid_edges;
    scene.solids.push(block);
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    let mut path = Vec::new();
    for step in 0..100 {
        let r = sim.step(0.01 * time).unwrap();
        assert!(r.status.is_solved(), "step {step}: {:?}", r.status);
        if step % 10 == 9 {
            path.push(sim.state().q.iter().map(|x| x / length).collect());
        }
    }
    path
}

#[test]
fn a_small_block_does_what_a_large_one_does() {
    let (large, small) = (grip(1.0, false), grip(0.1, false));
    for (k, (a, b)) in large.iter().zip(&small).enumerate() {
        let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-9, "after {} steps: {worst:e} m", 10 * (k + 1));
    }
    // It was lifted.
    let height = |q: &[f64]| q.chunks(3).map(|x| x[2]).sum::<f64>() / (q.len() / 3) as f64;
    assert!(height(&large[9]) > height(&large[0]) + 0.045);
}

/// Lengths and times scaled by powers of two leave every digit as it is, even where edges slide over edges.
#[test]
fn a_quarter_is_the_same_to_the_bit() {
    assert_eq!(grip(1.0, true), grip(0.25, true));
}

/// Most products with A in a step while a gripper pulls at the end of a strip of so many cells that lies on the ground.
fn pull(cells: usize) -> usize {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed().with_friction(0.3));
    let mut gripper = Body::new("gripper", Geometry::Sphere { radius: 0.01 });
    gripper.pose = Pose::from_translation(Vec3::new(-0.3, 0.0, 0.005));
    let key = |time: f64, x: f64| Keyframe { time, pose: Pose::from_translation(Vec3::new(x, 0.0, 0.005)) };
    gripper.motion = Motion::Keyframes { keys: vec![key(0.0, -0.3), key(0.4, -0.4)], ease: Ease::Smooth };
    gripper.shapes.clear();
    scene.bodies.push(gripper);
    let mesh = shapes::block([cells, 4, 1], Vec3::new(0.6, 0.02, 0.01));
    let material = Material { law: Law::Corotated, young: 75e3, poisson: 0.35, density: 1000.0 };
    let mut strip = SoftBody::new("strip", mesh, material);
    (strip.friction, strip.rigid_edges) = (0.3, false);
    let end = NodeSelection::Box { min: Vec3::new(-0.301, -1.0, -1.0), max: Vec3::new(-0.299, 1.0, 1.0) };
    scene.solids.push(strip.attached(end, "gripper"));
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    let mut most = 0;
    for step in 0..10 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "step {step}: {:?}", r.status);
        // The first step lands.
        if step > 0 {
            most = most.max(r.iterations);
        }
    }
    most
}

/// The border between what slips and what sticks moves over a fine mesh in as few Newton steps as over a coarse one: contacts
/// that give way hand on what they cannot bear.
#[test]
fn the_border_of_what_slips_crosses_many_cells_at_once() {
    let (coarse, fine) = (pull(60), pull(240));
    assert!(2 * fine < 3 * coarse, "{coarse} and {fine} products");
}
