//! The paper's scenes: our meshes are the nearest that our shapes make, with their counts in the comments.

use crate::bench::runs::GRAVITY;
use stiction::contact::samples::Rng;
use stiction::coords::Pose;
use stiction::elastic::{Law, Material, Section};
use stiction::mesh::shapes;
use stiction::scene::{Ease, Fixing, Keyframe, Motion, NodeSelection, Rod, RodHold, SoftBody};
use stiction::{Body, Geometry, Scene, Vec3};

/// What a trial draws at random.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Friction.
    pub mu: f64,
}

impl Draw {
    /// Uniform within the given ranges.
    pub fn within(seed: u64, young: [f64; 2], poisson: [f64; 2], mu: [f64; 2]) -> Draw {
        let mut rng = Rng::new(seed ^ 0xC0_4D);
        let mut pick = |r: [f64; 2]| rng.range(r[0], r[1]);
        Draw { young: pick(young), poisson: pick(poisson), mu: pick(mu) }
    }
}

fn material(d: Draw, density: f64) -> Material {
    Material { law: Law::Corotated, young: d.young, poisson: d.poisson, density }
}

fn ground(mu: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -GRAVITY), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed().with_friction(mu));
    scene
}

fn moving(name: &str, geometry: Geometry, keys: &[(f64, Vec3)], mu: f64) -> Body {
    let mut b = Body::new(name, geometry).with_friction(mu);
    b.pose = Pose::from_translation(keys[0].1);
    let keys = keys.iter().map(|&(time, at)| Keyframe { time, pose: Pose::from_translation(at) }).collect();
    b.motion = Motion::Keyframes { keys, ease: Ease::Smooth };
    b
}

/// A mat of 0.26 m × 0.26 m × 1 cm that a gripper holds by one edge, lifts and folds over. `cells` along both edges; 26 give
/// 1458 nodes and 4056 tets (the paper: 1477 and 4100).
pub fn mat(d: Draw, cells: usize) -> Scene {
    mat_of(d, cells, 0.26)
}

/// A larger or smaller mat of the same cells of 1 cm.
pub fn mat_of_equal_cells(d: Draw, cells: usize) -> Scene {
    mat_of(d, cells, 0.01 * cells as f64)
}

/// A mat of this edge [m].
fn mat_of(d: Draw, cells: usize, edge: f64) -> Scene {
    let mut scene = ground(d.mu);
    let (half, y) = (0.5 * edge, 0.5 * edge + 0.01);
    let keys = [
        (0.0, Vec3::new(-half, 0.0, 0.005)),
        (0.4, Vec3::new(-half + 0.05, 0.0, 0.10)),
        (0.8, Vec3::new(-half + 0.13, 0.0, 0.10)),
    ];
    let mut gripper = moving("gripper", Geometry::Box { half: Vec3::new(0.002, 0.1, 0.002) }, &keys, d.mu);
    // It holds the mat by its nodes and touches nothing.
    gripper.shapes.clear();
    scene.bodies.push(gripper);
    let size = Vec3::new(edge, edge, 0.01);
    let mut mat = SoftBody::new("mat", shapes::block([cells, cells, 1], size), material(d, 1000.0));
    (mat.friction, mat.rigid_edges) = (d.mu, false);
    let held =
        NodeSelection::Box { min: Vec3::new(-half - 0.001, -y, -1.0), max: Vec3::new(-half + 0.001, y, 1.0) };
    scene.solids.push(mat.attached(held, "gripper"));
    scene
}

/// A ball of 5 cm radius between two fingers that close and lift it. Seven shells: 1415 nodes, 6860 tets (the paper: 1463
/// and 6928).
pub fn ball(d: Draw, shells: usize) -> Scene {
    let mut scene = ground(d.mu);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let at = |x: f64, z: f64| Vec3::new(side * x, 0.0, z);
        let keys = [(0.0, at(0.0605, 0.05)), (0.15, at(0.055, 0.05)), (0.6, at(0.055, 0.12))];
        let half = Vec3::new(0.01, 0.03, 0.03);
        scene.bodies.push(moving(name, Geometry::Box { half }, &keys, d.mu));
    }
    let mut ball = SoftBody::new("ball", shapes::sphere(0.05, shells), material(d, 1000.0));
    (ball.friction, ball.rigid_edges) = (d.mu, false);
    ball.pose = Pose::from_translation(Vec3::new(0.0, 0.0, 0.05));
    scene.solids.push(ball);
    scene
}

/// A cable of 0.4 m, radius 2 mm, whose end a gripper leads around a post of radius 2 cm in 0.8 s.
pub fn cable(d: Draw, links: usize) -> Scene {
    slow_cable(d, links, 0.8)
}

/// The same in this many seconds.
pub fn slow_cable(d: Draw, links: usize, seconds: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -GRAVITY), ..Scene::default() };
    let mut post = Body::new("post", Geometry::Cylinder { half_height: 0.2, radius: 0.02 }).fixed();
    post.pose = Pose::from_translation(Vec3::new(0.0, -0.0221, 0.0));
    scene.bodies.push(post.with_friction(d.mu));
    let mut keys = vec![(0.0, Vec3::new(0.2, 0.0, 0.0))];
    // Four radians around the post at a shrinking radius.
    for k in 1..=40 {
        let angle = k as f64 * 0.1;
        let free = 0.2 - 0.0221 * angle;
        let (s, c) = angle.sin_cos();
        let touch = Vec3::new(0.0221 * s, -0.0221 + 0.0221 * c, 0.0);
        keys.push((seconds / 40.0 * k as f64, touch + Vec3::new(c, -s, 0.0) * free));
    }
    let mut gripper = moving("gripper", Geometry::Sphere { radius: 0.003 }, &keys, d.mu);
    gripper.shapes.clear();
    if let Motion::Keyframes { ease, .. } = &mut gripper.motion {
        *ease = Ease::Linear;
    }
    scene.bodies.push(gripper);
    let section = Section { radius: 0.002, young: d.young, poisson: d.poisson };
    let mut rod = Rod::new("cable", Vec3::new(-0.2, 0.0, 0.0), Vec3::new(0.2, 0.0, 0.0), links, section);
    (rod.density, rod.damping, rod.friction) = (1259.0, 0.01, d.mu);
    rod.ends = [
        Some(RodHold { to: None, fixing: Fixing::Clamped }),
        Some(RodHold { to: Some("gripper".into()), fixing: Fixing::Pinned }),
    ];
    scene.rods.push(rod);
    scene
}

/// Two soft fingers (2025 nodes and 9216 tets each; the paper: 4889 and 18122 in all) that close on a free rigid box and
/// lift it.
pub fn soft_gripper(d: Draw, cells: [usize; 3]) -> Scene {
    let mut scene = ground(0.5);
    let object = Body::new("object", Geometry::Box { half: Vec3::new(0.02, 0.02, 0.02) });
    scene.bodies.push(object.at(0.0, 0.0, 0.02).with_mass(0.05).with_friction(d.mu));
    let size = Vec3::new(0.02, 0.02, 0.06);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let at = |x: f64, z: f64| Vec3::new(side * x, 0.0, z);
        let keys = [(0.0, at(0.0305, 0.075)), (0.2, at(0.026, 0.075)), (0.6, at(0.026, 0.125))];
        let half = Vec3::new(0.012, 0.012, 0.01);
        let mut holder = moving(&format!("{name} holder"), Geometry::Box { half }, &keys, d.mu);
        holder.shapes.clear();
        scene.bodies.push(holder);
        let mut finger = SoftBody::new(name, shapes::block(cells, size), material(d, 1070.0));
        (finger.friction, finger.rigid_edges) = (d.mu, false);
        finger.pose = Pose::from_translation(at(0.0305, 0.005));
        let top = NodeSelection::Box { min: Vec3::new(-1.0, -1.0, 0.0599), max: Vec3::splat(1.0) };
        scene.solids.push(finger.attached(top, format!("{name} holder")));
    }
    scene
}
