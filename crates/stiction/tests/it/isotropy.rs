//! Friction knows no preferred direction.
//!
//! A box and a flat disc are launched over a floor at 1 m/s in 36 directions, in steps of 1 ms. All stop after the same
//! distance v₀²/(2 μ g): the spread is below 0.1 % (measured: below 1e-6), they go straight and do not turn.

use crate::stage::{G, cube, floor, position, run, start, steps, turned};
use stiction::{Body, Geometry, Quat, Scheme, Vec3};

const MU: f64 = 0.5;

/// Where a body ends up that is launched at 1 m/s in a direction, and how far it has turned.
fn launched(mut body: Body, along: Vec3) -> (Vec3, f64) {
    let mut scene = floor(MU);
    body.velocity = along;
    let from = body.pose.translation;
    scene.bodies.push(body);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    run(&mut sim, 1e-3, steps(0.25, 1e-3));
    (position(&sim, "it") - from, turned(&sim, "it", Quat::IDENTITY))
}

fn spread(body: &Body) {
    let (mut shortest, mut longest) = (f64::INFINITY, 0.0f64);
    for k in 0..36 {
        let (sin, cos) = (10.0 * k as f64).to_radians().sin_cos();
        let along = Vec3::new(cos, sin, 0.0);
        let (way, turn) = launched(body.clone(), along);
        let distance = way.length();
        let astray = (way - along * distance).length();
        assert!(astray < 1e-6 * distance, "{}°: {astray} m off the line", 10 * k);
        assert!(turn < 1e-6, "{}°: turned by {turn} rad", 10 * k);
        (shortest, longest) = (shortest.min(distance), longest.max(distance));
    }
    let spread = longest / shortest - 1.0;
    assert!(spread < 1e-6, "distances from {shortest} to {longest} m: spread {spread}");
    let expected = 1.0 / (2.0 * MU * G);
    assert!((longest / expected - 1.0).abs() < 0.01, "{longest} m instead of {expected} m");
}

#[test]
fn a_box_stops_after_the_same_distance_in_all_directions() {
    spread(&cube("it", 0.1, MU));
}

#[test]
fn a_disc_stops_after_the_same_distance_in_all_directions() {
    let disc = Geometry::Cylinder { half_height: 0.02, radius: 0.1 };
    spread(&Body::new("it", disc).with_mass(1.0).with_friction(MU).at(0.0, 0.0, 0.02));
}
