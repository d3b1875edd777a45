//! Rigid corners and edges do not pass through soft faces. A heavy cube balanced by guides comes to rest corner down, or
//! edge down, on the middle of a soft block whose faces are much larger than the dent: no corner goes below the surface,
//! and the block carries the weight. So do a ball and a rod with no node beneath them. Nodes that slide off the rim of a plate
//! leave its edge to their own edges, at the very moment.

use stiction::collide::Collider;
use stiction::coords::{Anchor, BodyId, SoftId};
use stiction::elastic::{Damping, Law, Material};
use stiction::kinematics::Placement;
use stiction::linalg::{Mat3, Quat};
use stiction::mesh::shapes;
use stiction::methods::SimSettings;
use stiction::scene::{Body, Ease, Geometry, Keyframe, MassSpec, Motion, NodeSelection, Scene, SoftBody};
use stiction::sim::Simulation;
use stiction::{Pose, Vec3};

const G: f64 = 9.81;
const MASS: f64 = 0.3;
/// Edges of the block's flat top are touched once per vertex: what lies between may stand this much too low, a two
/// thousandth of an edge.
const FLAT: f64 = 5e-5;

fn block() -> SoftBody {
    let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
    let base = NodeSelection::Box { min: Vec3::splat(-1.0), max: Vec3::new(1.0, 1.0, 1e-9) };
    let mut b =
        SoftBody::new("block", shapes::block([2, 2, 2], Vec3::new(0.2, 0.2, 0.1)), material).pinned(base);
    b.damping = Damping { mass: 5.0, stiffness: 0.02, ..Damping::default() };
    b
}

/// A body of large inertia: it keeps its attitude while it settles.
fn body(geometry: Geometry, rotation: Quat, at: Vec3) -> Body {
    let mut b = Body::new("body", geometry);
    b.pose.rotation = rotation;
    b.pose.translation = at;
    b.mass = MassSpec::Given { mass: MASS, inertia: Mat3::from_diagonal(Vec3::splat(1e3)), com: Vec3::ZERO };
    b
}

/// Height of the block's top straight below or above a point, by the triangles that look up.
fn top(sim: &Simulation, p: Vec3) -> f64 {
    let solid = &sim.model().solids[0];
    let x = |k: u32| sim.kinematics().vertex_position(SoftId(0), k as usize);
    let mut height = f64::NEG_INFINITY;
    for t in &solid.surface {
        let [a, b, c] = t.map(x);
        let n = (b - a).cross(c - a);
        let flat = |u: Vec3, v: Vec3| (v.x - u.x) * (p.y - u.y) - (v.y - u.y) * (p.x - u.x);
        if n.z > 0.0 && flat(a, b) >= 0.0 && flat(b, c) >= 0.0 && flat(c, a) >= 0.0 {
            height = height.max(a.z + (n.x * (a.x - p.x) + n.y * (a.y - p.y)) / n.z);
        }
    }
    height
}

fn rests(body: Body, points: &[Vec3], radius: f64, tolerance: f64) {
    let scene = Scene {
        gravity: Vec3::new(0.0, 0.0, -G),
        bodies: vec![body],
        solids: vec![block()],
        ..Scene::default()
    };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    let mut lowest = f64::INFINITY;
    for k in 0..200 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "step {k}: {:?}", r.status);
        let pose = sim.model().body_pose(sim.state(), BodyId(0));
        for p in points {
            let p = pose.transform_point(*p);
            lowest = lowest.min(p.z - radius - top(&sim, p));
        }
    }
    assert!(lowest > -tolerance, "{lowest} m below the surface");
    assert!(lowest < 1e-3, "they touch: {lowest}");
    let force: Vec3 = sim.contacts().map(|(_, f)| f).sum();
    assert!((force.z - MASS * G).abs() < 1e-6 * MASS * G, "{force}");
}

#[test]
fn a_corner() {
    let half = 0.02;
    let cube = Geometry::Box { half: Vec3::splat(half) };
    // Corner (−1, −1, −1) straight down.
    let turn = Quat::from_rotation_arc(Vec3::splat(-1.0).normalize(), -Vec3::Z);
    let corner = Vec3::splat(-half);
    let at = Vec3::new(0.053, 0.031, 0.101 + half * 3.0_f64.sqrt());
    rests(body(cube, turn, at), &[corner], 0.0, 1e-6);
}

#[test]
fn an_edge() {
    // Longer than the block is wide: its ends hang in the air, only its edge touches.
    let half = Vec3::new(0.2, 0.02, 0.02);
    let beam = Geometry::Box { half };
    let turn = Quat::from_rotation_z(0.4) * Quat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    let at = Vec3::new(0.013, 0.021, 0.101 + half.y * 2.0_f64.sqrt());
    let points: Vec<Vec3> = (-3..=3).map(|k| Vec3::new(0.02 * f64::from(k), -half.y, -half.z)).collect();
    rests(body(beam, turn, at), &points, 0.0, FLAT);
}

#[test]
fn a_ball() {
    let radius = 0.01;
    let at = Vec3::new(0.053, 0.031, 0.101 + radius);
    rests(body(Geometry::Sphere { radius }, Quat::IDENTITY, at), &[Vec3::ZERO], radius, 1e-6);
}

#[test]
fn a_capsule() {
    let radius = 0.01;
    let turn = Quat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let at = Vec3::new(0.053, 0.031, 0.101 + radius);
    let rod = Geometry::Capsule { half_height: 0.2, radius };
    rests(body(rod, Quat::from_rotation_z(0.3) * turn, at), &[Vec3::ZERO], radius, FLAT);
}

/// A block between two plates whose lower rims lie at a row of its nodes.
fn gripped(squeeze: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed());
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut plate = Body::new(name, Geometry::Box { half: Vec3::new(0.01, 0.08, 0.08) });
        let key = |time: f64, x: f64| Keyframe {
            time,
            pose: Pose::from_translation(Vec3::new(side * x, 0.0, 0.1)),
        };
        plate.motion =
            Motion::Keyframes { keys: vec![key(0.0, 0.06), key(0.5, 0.06 - squeeze)], ease: Ease::Smooth };
        scene.bodies.push(plate);
    }
    let material = Material { law: Law::Corotated, young: 1e6, poisson: 0.35, density: 1000.0 };
    scene.solids.push(SoftBody::new("block", shapes::block([5, 5, 5], Vec3::splat(0.1)), material));
    scene
}

/// Nodes at the rim stand on the brink of both faces there: their edges touch the rim beside them, across both plates.
#[test]
fn a_row_of_nodes_at_a_rim() {
    let model = gripped(0.0).compile().unwrap();
    let mut contacts = Vec::new();
    Collider::new(&model).detect(
        Placement::of(&model, &model.initial).kinematics(&model),
        1e-3,
        &mut contacts,
    );
    let at_rim =
        |c: &&stiction::collide::Contact| (c.point.z - 0.02).abs() < 1e-9 && c.normal().x.abs() > 0.999;
    let edges = contacts
        .iter()
        .filter(at_rim)
        .filter(|c| [c.a, c.b].iter().any(|a| matches!(a, Anchor::Surface { .. })))
        .count();
    assert!(edges >= 8, "{edges} edges touch the two rims");
    let mut sim = Simulation::new(gripped(0.0025).compile().unwrap(), SimSettings::default());
    for step in 0..60 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "step {step}: {:?}", r.status);
        assert!(r.overlap < 2e-5, "step {step}: {:e} m", r.overlap);
    }
}

/// Two soft bars, ridge on ridge: the contact of the ridges stays, and its place and normal move little with every turn of
/// the upper bar, from crossing to parallel and on.
#[test]
fn ridges_that_turn_through_parallel() {
    const GAP: f64 = 1e-4;
    let bar = |name: &str, turn: f64, height: f64| {
        let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
        let mut b = SoftBody::new(name, shapes::block([1, 1, 1], Vec3::new(0.2, 0.1, 0.1)), material);
        let about = Quat::from_rotation_z(turn) * Quat::from_rotation_x(std::f64::consts::FRAC_PI_4);
        // Its ridge turns about a point away from the middle.
        let middle = Quat::from_rotation_z(turn) * Vec3::new(-0.03, 0.0, 0.0) + Vec3::new(0.03, 0.0, height);
        b.pose = Pose { translation: middle - about * Vec3::new(0.0, 0.0, 0.05), rotation: about };
        b
    };
    let up = 2.0 * 0.05 * 2f64.sqrt() + GAP;
    let ridge = |turn: f64| {
        let scene = Scene {
            gravity: Vec3::ZERO,
            solids: vec![bar("lower", 0.0, 0.0), bar("upper", turn, up)],
            ..Scene::default()
        };
        let model = scene.compile().unwrap();
        let mut contacts = Vec::new();
        Collider::new(&model).detect(
            Placement::of(&model, &model.initial).kinematics(&model),
            0.01,
            &mut contacts,
        );
        // Vertices touch at the ends of the ridges, and ridges cross the diagonals of faces beside them.
        let ridges = contacts.iter().filter(|c| c.point.x.abs() < 0.08 && c.gap < 1.1 * GAP);
        let ridges: Vec<_> = ridges.copied().collect();
        assert_eq!(
            ridges.len(),
            1,
            "turned by {turn}: {:?}",
            contacts.iter().map(|c| (c.point, c.gap, c.normal())).collect::<Vec<_>>()
        );
        ridges[0]
    };
    let mut last = ridge(-0.1);
    assert!((last.point.x - 0.03).abs() < 1e-9, "where they cross: {}", last.point);
    for k in -99..=100 {
        let now = ridge(1e-3 * f64::from(k));
        assert!((now.gap - GAP).abs() < 0.02 * GAP, "{k}: {}", now.gap);
        assert!(now.normal().z.abs() > 0.999, "{k}: {}", now.normal());
        assert!(now.normal().distance(last.normal()) < 0.02, "{k}: {} {}", last.normal(), now.normal());
        assert!(now.point.distance(last.point) < 2e-3, "{k}: {} {}", last.point, now.point);
        last = now;
    }
    assert!(ridge(0.0).point.x.abs() < 1e-3, "the middle of what they share");
}
