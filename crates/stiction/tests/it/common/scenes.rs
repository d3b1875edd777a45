//! Scenes that the tests of contracts share.
#![allow(dead_code)]

use stiction::linalg::Rng;
use stiction::{Body, Geometry, Scene, Vec3};

/// Gravity along −z and a floor at z = 0.
pub fn ground() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    scene
}

/// A cube with an edge of 0.2 m.
pub fn cube(name: impl Into<String>, at: Vec3) -> Body {
    Body::new(name, Geometry::Box { half: Vec3::splat(0.1) }).at(at.x, at.y, at.z)
}

/// `n` cubes above each other, with `gap` [m] below each.
pub fn stack(n: usize, gap: f64) -> Scene {
    let mut scene = ground();
    for i in 0..n {
        scene.bodies.push(cube(format!("cube {i}"), Vec3::new(0.0, 0.0, 0.1 + gap + (0.2 + gap) * i as f64)));
    }
    scene
}

/// A wall of bricks, every other row shifted by a quarter of a brick, with `gap` [m] below each row.
pub fn wall(columns: usize, rows: usize, gap: f64) -> Scene {
    let mut scene = ground();
    let half = Vec3::new(0.2, 0.1, 0.1);
    for row in 0..rows {
        for column in 0..columns {
            let x = 0.401 * (column as f64 + 0.25 * (row % 2) as f64);
            let brick = Body::new(format!("brick {row} {column}"), Geometry::Box { half });
            scene.bodies.push(brick.at(x, 0.0, 0.1 + gap + (0.2 + gap) * row as f64));
        }
    }
    scene
}

/// Sixty cubes: two heaps that fall apart as they land, far from each other, and six lone ones.
pub fn heaps() -> Scene {
    let mut scene = ground();
    let mut rng = Rng::new(7);
    for i in 0..60 {
        let (heap, k) = (i / 27, i % 27);
        let place = Vec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64);
        // The lone ones stand in a row apart.
        let place = if heap < 2 { 0.21 * place } else { Vec3::new(k as f64, 0.0, 0.0) };
        let at = place + Vec3::new(20.0 * heap as f64, 0.0, 0.12);
        scene.bodies.push(Body {
            spin: rng.normal3(),
            velocity: 0.3 * rng.normal3(),
            ..cube(format!("cube {i}"), at)
        });
    }
    scene
}
