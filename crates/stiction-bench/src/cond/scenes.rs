//! The paper's scenes: our meshes are the nearest that our shapes make, with their counts in the comments.

use crate::runs::GRAVITY;
use stiction::coords::Pose;
use stiction::elastic::{Law, Material, Section};
use stiction::linalg::Rng;
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

/// Edge of a cell of the mat and its thickness [m]. The paper gives no size (C11): with cubes of 2 cm COND takes 41 iterations
/// at θ = 1e-4 on the mat of COND-F11 (the paper: 39.7; cubes of 1 cm: 69).
const CELL: f64 = 0.02;

/// Cells along an edge that give 1458 nodes and 4056 tets (the paper: 1477 and 4100).
const CELLS: usize = 26;

/// A mat that a gripper holds by one edge, lifts and folds over. `cells` along both edges.
pub fn mat(d: Draw, cells: usize) -> Scene {
    mat_of(d, cells, CELL * cells as f64)
}

/// The mat of the paper's counts with finer or coarser cells.
pub fn finer_mat(d: Draw, cells: usize) -> Scene {
    mat_of(d, cells, CELL * CELLS as f64)
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
    let size = Vec3::new(edge, edge, CELL);
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

/// Radius of a wound cable's axis [m]: a post of 2 cm, the cable and a clearance.
const WOUND: f64 = 0.0221;

/// A cable of 0.4 m, radius 2 mm, whose end a gripper leads around a post of radius 2 cm in 0.8 s: four radians, as far away as what
/// is left of the cable reaches.
pub fn cable(d: Draw, links: usize) -> Scene {
    let keys = around_post(0.2, [WOUND, 0.0], 4.0, 40).map(|(part, at)| (0.8 * part, at));
    cable_along(d, links, -0.2, &keys.collect::<Vec<_>>())
}

/// The cable of Table VIII, wound as by the trajectory that its authors have published (github.com/INRoL/inrol_sim_cablewinding): from
/// where it touches the post, nearly two turns, rising by 17 mm in each; a radian takes 20 mm off the way to the gripper where the
/// cable needs 22, so that it is stretched more and more.
pub fn wound_cable(d: Draw, links: usize, seconds: f64) -> Scene {
    let keys = around_post(0.4, [0.020, 0.0027], 12.0, 1200).map(|(part, at)| (seconds * part, at));
    cable_along(d, links, 0.0, &keys.collect::<Vec<_>>())
}

/// Where a gripper is on its way of `end` radians around the post, by the share of the way: `free` metres from it at first; each
/// radian takes something off that, and lifts.
fn around_post(
    free: f64,
    [off, lift]: [f64; 2],
    end: f64,
    count: usize,
) -> impl Iterator<Item = (f64, Vec3)> {
    (0..=count).map(move |k| {
        let part = k as f64 / count as f64;
        let angle = end * part;
        let (s, c) = angle.sin_cos();
        let touch = Vec3::new(WOUND * s, WOUND * c - WOUND, lift * angle);
        (part, touch + Vec3::new(c, -s, 0.0) * (free - off * angle))
    })
}

/// A cable along x from here to the first place of a gripper.
fn cable_along(d: Draw, links: usize, start: f64, keys: &[(f64, Vec3)]) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -GRAVITY), ..Scene::default() };
    let mut post = Body::new("post", Geometry::Cylinder { half_height: 0.2, radius: 0.02 }).fixed();
    post.pose = Pose::from_translation(Vec3::new(0.0, -WOUND, 0.0));
    scene.bodies.push(post.with_friction(d.mu));
    let mut gripper = moving("gripper", Geometry::Sphere { radius: 0.003 }, keys, d.mu);
    gripper.shapes.clear();
    if let Motion::Keyframes { ease, .. } = &mut gripper.motion {
        *ease = Ease::Linear;
    }
    scene.bodies.push(gripper);
    let section = Section { radius: 0.002, young: d.young, poisson: d.poisson };
    let mut rod = Rod::new("cable", Vec3::new(start, 0.0, 0.0), keys[0].1, links, section);
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
