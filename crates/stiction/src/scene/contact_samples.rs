//! The scenes of Verschoor & Jalba 2019 (CR), made by code, each of any size.
//!
//! | scene | of the paper | what it has of it |
//! |---|---|---|
//! | [`rings`] | Table 1, Rings | 120 of 72 nodes, 108 tets, 144 faces: A has 25,920 rows |
//! | [`pyramid`] | Table 1, Pyramid; Figure 9 | 7 layers of 140 objects of genus 3 with 260 nodes, 432 tets, 528 faces |
//! | [`blobs`] | Table 1, Bunnies | 120 lumpy balls of 1280 tets (1270) |
//! | [`limbed_blob`] | Table 1, Armadillo; Figures 1, 10 | a neo-Hookean body with limbs between turning cylinders |
//! | [`bearing`] | Table 1, Bearing; Figures 6, 7 | nine soft balls between a torus and a core that turns |
//! | [`wedge`], [`strings`], [`card_house`], [`box_stack`] | Figure 2 | |
//! | [`cubes`] | Figure 8 d | 200 in place of 2000 |
//!
//! Sizes, heights and speeds are not in the paper (R10); ours are centimetres.

use super::{Attachment, Body, Fixing, Geometry, NodeSelection, RestShape, Rod, RodHold, Scene, SoftBody};
use crate::coords::Pose;
use crate::elastic::{Law, Material, Section};
use crate::linalg::Rng;
use crate::linalg::{Quat, Vec3};
use crate::mesh::{Surface, lattice, shapes};
use crate::model::{Keyframe, Motion};
use std::f64::consts::{PI, TAU};

const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);
const FRICTION: f64 = 0.5;

fn ground(name: &str) -> Scene {
    let mut scene = Scene { name: name.into(), gravity: GRAVITY, ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed().with_friction(FRICTION));
    scene
}

/// The paper's material: corotated, ν = 0.2, the density of water.
fn corotated(young: f64) -> Material {
    Material { law: Law::Corotated, young, poisson: 0.2, density: 1000.0 }
}

fn soft(name: String, mesh: crate::mesh::TetMesh, material: Material, at: Vec3) -> SoftBody {
    let mut body = SoftBody::new(name, mesh, material);
    body.pose.translation = at;
    body.friction = FRICTION;
    body
}

/// A cylinder of flat sides along z, as the hull of its corners.
fn prism(radius: f64, half_height: f64, sides: usize) -> Geometry {
    let corner = |k: usize, z: f64| {
        let (sin, cos) = (TAU * k as f64 / sides as f64).sin_cos();
        Vec3::new(radius * cos, radius * sin, z)
    };
    Geometry::ConvexHull {
        points: (0..sides).flat_map(|k| [corner(k, -half_height), corner(k, half_height)]).collect(),
    }
}

/// Rings in staggered layers over a floor, tilted at random, that fall on each other; Young's modulus in Pa.
///
/// They are 4 cm wide: then CR Full takes about as many iterations as in the paper over the whole motion, 82 and in the median 75
/// (97 and 76); it does not say how large they are.
pub fn rings(count: usize, young: f64) -> Scene {
    let mut scene = ground("rings");
    let mut rng = Rng::new(17);
    let side = ((count as f64 / 4.0).cbrt().ceil() as usize).max(1);
    let radius = 0.02;
    for k in 0..count {
        let (layer, cell) = (k / (side * side), k % (side * side));
        let (i, j) = ((cell % side) as f64, (cell / side) as f64);
        // Every layer is shifted by a third of a ring, so that each lies on two or more.
        let shift = 0.7 * (layer % 3) as f64;
        let at = radius * Vec3::new(2.56 * i + shift, 2.56 * j + 0.5 * shift, 0.26 + 0.56 * layer as f64);
        let mut ring =
            soft(format!("ring-{k}"), shapes::ring(radius, 0.3 * radius, 18), corotated(young), at);
        ring.pose.rotation =
            Quat::from_axis_angle(Vec3::new(rng.normal(), rng.normal(), 0.0).normalize(), 0.04);
        ring.velocity = Vec3::new(0.0, 0.0, -0.3);
        scene.solids.push(ring);
    }
    scene
}

/// A pyramid of plates with three windows, `layers`² in the lowest layer and one on top, under a press that turns, and comes down
/// by a fifth of its height in 0.2 s.
///
/// Plates are domed and stand on their corners, each on the middles of four others, so that a plate has about as many contacts as
/// an object of the paper, 20; flat ones have 160.
pub fn pyramid(layers: usize, young: f64) -> Scene {
    let mut scene = ground("pyramid");
    // A plate is 60 mm wide and 15 mm thick: thin ones sag until they lie flat.
    let (cell, pitch, dome, near) = (0.005, 0.062, 0.001, 1e-4);
    let rise = 3.0 * cell + dome + near;
    let mut mesh = lattice::windows(cell);
    for v in &mut mesh.vertices {
        v.z = 3.0 * v.z + dome * (1.0 - v.truncate().length_squared() / (2.0 * (6.0 * cell).powi(2)));
    }
    for layer in 0..layers {
        let n = layers - layer;
        for k in 0..n * n {
            // Half a cell aside with each layer, so that corners come to stand on bars.
            let place = |i: usize| pitch * (i as f64 - 0.5 * (n as f64 - 1.0)) + 0.5 * cell * layer as f64;
            let at = Vec3::new(place(k % n), place(k / n), near + rise * layer as f64);
            let mut body = soft(format!("plate-{layer}-{k}"), mesh.clone(), corotated(young), at);
            // Every second one lies across, so that bars cross bars.
            body.pose.rotation = Quat::from_rotation_z(0.5 * PI * ((layer + k) % 2) as f64);
            scene.solids.push(body);
        }
    }
    let height = rise * layers as f64;
    let mut plate = Body::new("press", prism(0.05, 0.005, 24));
    let keys = (0..=50).map(|k| {
        let time = 0.02 * f64::from(k);
        let z = height + 2.0 * near + 0.005 - 0.2 * height * (time / 0.2).min(1.0);
        let aside = 0.5 * cell * (layers as f64 - 1.0);
        let pose = Pose::from_parts(Vec3::new(aside, aside, z), Quat::from_rotation_z(3.0 * time));
        Keyframe { time, pose }
    });
    plate.motion = Motion::Keyframes { keys: keys.collect(), ease: crate::model::Ease::Linear };
    scene.bodies.push(plate.with_friction(FRICTION));
    scene
}

/// Lumpy balls of 20·`shells`³ tets that fall on each other between four walls.
pub fn blobs(count: usize, shells: usize) -> Scene {
    let mut scene = ground("blobs");
    let (radius, pitch) = (0.03, 0.075);
    let side = ((count as f64 / 2.0).cbrt().ceil() as usize).max(1);
    add_walls(&mut scene, 0.5 * pitch * side as f64 + 0.012);
    for k in 0..count {
        let (layer, cell) = (k / (side * side), k % (side * side));
        let place = |i: usize| pitch * (i as f64 - 0.5 * (side as f64 - 1.0));
        let shift = 0.008 * [1.0, -1.0][layer % 2];
        let at =
            Vec3::new(place(cell % side) + shift, place(cell / side) - shift, 0.0365 + 0.0725 * layer as f64);
        let mut body = soft(format!("blob-{k}"), lattice::lumpy(radius, shells), corotated(5e6), at);
        body.pose.rotation = Quat::from_rotation_z(0.7 * k as f64) * Quat::from_rotation_x(0.4 * k as f64);
        body.velocity = Vec3::Z * -0.5;
        scene.solids.push(body);
    }
    scene
}

/// Walls at x, y = ±`half`, half-spaces that look inwards.
fn add_walls(scene: &mut Scene, half: f64) {
    for k in 0..4 {
        let turn = Quat::from_rotation_z(0.5 * PI * k as f64);
        let mut wall = Body::new(format!("wall-{k}"), Geometry::Plane).fixed().with_friction(FRICTION);
        wall.pose = Pose::from_parts(turn * Vec3::X * -half, turn * Quat::from_rotation_y(0.5 * PI));
        scene.bodies.push(wall);
    }
}

/// A neo-Hookean body with limbs, extrapolated below 70 % of the volume, that a hand pulls at `speed` [m/s] by its feet between two
/// cylinders that turn with it, 17 % nearer to each other than it is thick: energies continued linearly bear a limited pressure, under
/// which coarse elements of a body that is squeezed by 30 % turn inside out. Cells of `cell` [m]: 0.0085 makes about 6000 tets.
pub fn limbed_blob(cell: f64, speed: f64) -> Scene {
    let mut scene = Scene { name: "limbed blob".into(), gravity: GRAVITY, ..Scene::default() };
    let (radius, gap, below) = (0.04, 0.058, 0.1);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut roll = Body::new(name, prism(radius, 0.12, 32)).with_friction(FRICTION);
        let at = Vec3::new(0.0, side * (radius + 0.5 * gap), -below);
        roll.pose = Pose::from_parts(at, Quat::from_rotation_y(0.5 * PI));
        roll.motion = Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::X * (side * speed / radius) };
        scene.bodies.push(roll);
    }
    let mut hand = Body::new("hand", Geometry::Sphere { radius: 0.005 }).at(0.0, 0.0, -0.15);
    hand.motion = Motion::Constant { velocity: Vec3::Z * -speed, spin: Vec3::ZERO };
    hand.mask = 0;
    scene.bodies.push(hand);
    let material =
        Material { law: Law::NeoHookean { threshold: 0.7 }, young: 5e5, poisson: 0.2, density: 1000.0 };
    let mut body = soft("blob".into(), lattice::union(&lattice::LIMBED, cell), material, Vec3::ZERO);
    body.self_contact = true;
    let feet = NodeSelection::Box { min: Vec3::new(-1.0, -1.0, -1.0), max: Vec3::new(1.0, 1.0, -0.105) };
    body.attachments.push(Attachment { nodes: feet, to: Some("hand".into()) });
    scene.solids.push(body);
    scene
}

/// Nine soft balls of 20·`shells`³ tets between a torus and a core that turns about its axis and runs out of true, so that it
/// squeezes one after the other. No gravity.
pub fn bearing(shells: usize, material: Material) -> Scene {
    let mut scene = Scene { name: "bearing".into(), ..Scene::default() };
    let (ball, track, balls) = (0.02, 0.065, 9);
    let room = ball + 2e-4;
    let tube = 0.03;
    let mesh = shapes::torus(track + room + tube, tube, 4, 48);
    let surface = Surface::of(&mesh);
    let number = |k: u32| surface.nodes.binary_search(&k).expect("a corner of the surface is on it") as u32;
    let torus = Geometry::TriMesh {
        vertices: surface.nodes.iter().map(|k| mesh.vertices[*k as usize]).collect(),
        triangles: surface.triangles.iter().map(|t| t.map(number)).collect(),
    };
    scene.bodies.push(Body::new("torus", torus).fixed().with_friction(FRICTION));
    let mut core = Body::new("core", prism(track - room, 0.02, 48)).with_friction(FRICTION);
    let keys = (0..=24).map(|k| {
        // A turn in 0.6 s; out of true from the first eighth of it on.
        let angle = TAU * f64::from(k) / 24.0;
        let out = 0.15 * ball * f64::from(k.min(3)) / 3.0;
        let pose =
            Pose::from_parts(out * Vec3::new(angle.cos(), angle.sin(), 0.0), Quat::from_rotation_z(angle));
        Keyframe { time: 0.025 * f64::from(k), pose }
    });
    core.motion = Motion::Keyframes { keys: keys.collect(), ease: crate::model::Ease::Linear };
    scene.bodies.push(core);
    for k in 0..balls {
        let (sin, cos) = (TAU * f64::from(k) / f64::from(balls)).sin_cos();
        let at = track * Vec3::new(cos, sin, 0.0);
        scene.solids.push(soft(format!("ball-{k}"), shapes::sphere(ball, shells), material, at));
    }
    scene
}

/// Soft balls between two plates that come together until their lower edges almost meet, and then tilt towards each other.
pub fn wedge(count: usize) -> Scene {
    let mut scene = Scene { name: "closing wedge".into(), gravity: GRAVITY, ..Scene::default() };
    let (length, thick) = (0.1, 0.005);
    // Half the gap between the lower edges [m] and the tilt of each plate [rad], every 0.1 s.
    let ways = [
        (0.006, 0.4),
        (0.003, 0.4),
        (0.0005, 0.4),
        (0.0005, 0.375),
        (0.0005, 0.35),
        (0.0005, 0.325),
        (0.0005, 0.3),
    ];
    for side in [-1.0, 1.0] {
        let pose = |gap: f64, tilt: f64| {
            let x = gap + length * tilt.sin() + thick * tilt.cos();
            let at = Vec3::new(side * x, 0.0, length * tilt.cos());
            Pose::from_parts(at, Quat::from_rotation_y(side * tilt))
        };
        let mut plate = Body::new(
            if side < 0.0 { "left" } else { "right" },
            Geometry::Box { half: Vec3::new(thick, 0.06, length) },
        );
        let keys = ways.iter().enumerate();
        let keys = keys.map(|(k, &(gap, tilt))| Keyframe { time: 0.1 * k as f64, pose: pose(gap, tilt) });
        plate.motion = Motion::Keyframes { keys: keys.collect(), ease: crate::model::Ease::Linear };
        scene.bodies.push(plate.with_friction(0.3));
    }
    let radius = 0.011;
    for k in 0..count {
        let (row, layer) = (k % 3, k / 3);
        let at =
            Vec3::new(0.002 * (layer % 2) as f64, 0.026 * (row as f64 - 1.0), 0.045 + 0.026 * layer as f64);
        let mut ball = soft(format!("ball-{k}"), shapes::sphere(radius, 2), corotated(2e5), at);
        ball.friction = 0.3;
        scene.solids.push(ball);
    }
    scene
}

/// Slack strings between two discs; the upper one winds them up by three quarters of a turn in 0.6 s, unwinds them again and lets
/// them hang.
pub fn strings(count: usize, segments: usize) -> Scene {
    let mut scene = Scene { name: "tangled strings".into(), gravity: GRAVITY, ..Scene::default() };
    let (length, radius) = (0.2, 0.02);
    let mut upper = Body::new("upper", Geometry::Sphere { radius: 0.002 }).at(0.0, 0.0, length);
    let turns = [0.0, 0.25, 0.5, 0.75, 0.5, 0.25, 0.0];
    let keys = turns.iter().enumerate().map(|(k, turn)| {
        let pose = Pose::from_parts(Vec3::Z * length, Quat::from_rotation_z(TAU * turn));
        Keyframe { time: 0.2 * k as f64, pose }
    });
    upper.motion = Motion::Keyframes { keys: keys.collect(), ease: crate::model::Ease::Linear };
    upper.mask = 0;
    let mut lower = Body::new("lower", Geometry::Sphere { radius: 0.002 }).fixed();
    lower.mask = 0;
    scene.bodies.extend([upper, lower]);
    let hold = |to: &str| Some(RodHold { to: Some(to.into()), fixing: Fixing::Pinned });
    for k in 0..count {
        let out = Quat::from_rotation_z(TAU * k as f64 / count as f64) * Vec3::X;
        let points: Vec<Vec3> = (0..=2 * segments)
            .map(|i| {
                let s = i as f64 / (2 * segments) as f64;
                out * (radius + 0.045 * (PI * s).sin()) + Vec3::Z * (length * (1.0 - s))
            })
            .collect();
        let section = Section { radius: 0.003, young: 1e6, poisson: 0.3 };
        let (first, last) = (points[0], points[2 * segments]);
        scene.rods.push(Rod {
            points,
            rest: RestShape::AsDrawn,
            ends: [hold("upper"), hold("lower")],
            damping: 0.02,
            friction: 0.2,
            ..Rod::new(format!("string-{k}"), first, last, segments, section)
        });
    }
    scene
}

/// A house of rigid cards: `levels` rows of leaning pairs, with a card across every two of them.
pub fn card_house(levels: usize) -> Scene {
    let mut scene = ground("card house");
    let (length, width, thick, lean): (f64, f64, f64, f64) = (0.09, 0.06, 1e-3, 0.35);
    let (sin, cos) = lean.sin_cos();
    let near = 1e-6;
    let (rise, reach) = (length * cos + thick * sin, 0.5 * (length * sin + thick * cos));
    let pitch = 4.0 * reach + 2.0 * thick;
    let card = |name: String, at: Vec3, turn: f64| {
        let half = Vec3::new(0.5 * thick, 0.5 * width, 0.5 * length);
        let mut card = Body::new(name, Geometry::Box { half }).with_friction(0.6);
        card.pose = Pose::from_parts(at, Quat::from_rotation_y(turn));
        card
    };
    let level = rise + thick + 2.0 * near;
    for row in 0..levels {
        let n = levels - row;
        let z = near + row as f64 * level;
        let place = |i: f64| pitch * (i - 0.5 * (n as f64 - 1.0));
        for i in 0..n {
            for side in [-1.0, 1.0] {
                let at = Vec3::new(place(i as f64) + side * (reach + 0.5 * near), 0.0, z + 0.5 * rise);
                scene.bodies.push(card(format!("card-{row}-{i}-{side}"), at, -side * lean));
            }
        }
        for i in 1..n {
            let at = Vec3::new(place(i as f64 - 0.5), 0.0, z + rise + near + 0.5 * thick);
            scene.bodies.push(card(format!("floor-{row}-{i}"), at, 0.5 * PI));
        }
    }
    scene
}

/// A tower of rigid boxes.
pub fn box_stack(count: usize) -> Scene {
    let mut scene = ground("box stack");
    for k in 0..count {
        let half = Vec3::new(0.03, 0.03, 0.02);
        let mut body = Body::new(format!("box-{k}"), Geometry::Box { half }).with_friction(FRICTION);
        body.pose = Pose::from_parts(
            Vec3::Z * (0.02 + (0.04 + 1e-6) * k as f64 + 1e-6),
            Quat::from_rotation_z(0.3 * k as f64),
        );
        scene.bodies.push(body);
    }
    scene
}

/// Soft cubes of 2 cm and 48 tets that fall between four walls.
pub fn cubes(count: usize) -> Scene {
    let mut scene = ground("cubes");
    let pitch = 0.026;
    let side = ((count as f64 / 2.0).cbrt().ceil() as usize).max(1);
    add_walls(&mut scene, 0.5 * pitch * side as f64 + 0.006);
    for k in 0..count {
        let (layer, cell) = (k / (side * side), k % (side * side));
        let place = |i: usize| pitch * (i as f64 - 0.5 * (side as f64 - 1.0));
        let shift = 0.004 * [1.0, -1.0][layer % 2];
        let at =
            Vec3::new(place(cell % side) + shift, place(cell / side) + shift, 0.003 + 0.028 * layer as f64);
        let mesh = shapes::block([2, 2, 2], Vec3::splat(0.02));
        let mut body = soft(format!("cube-{k}"), mesh, corotated(5e5), at);
        body.pose.rotation =
            Quat::from_rotation_z(0.05 * (k % 7) as f64) * Quat::from_rotation_x(0.04 * (k % 5) as f64);
        body.velocity = Vec3::Z * -0.3;
        scene.solids.push(body);
    }
    scene
}
