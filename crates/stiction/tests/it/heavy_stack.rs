//! A stack with the heaviest on top stands like a rock.
//!
//! Boxes of 8, 64, 512, 4096 and 32768 kg, each eight times as heavy as the one below: 10 s at 1/120 s. No overlap
//! exceeds 1e-6 m, no box drifts by 1e-6 m, and the floor carries the total weight to 1e-8 of it.

use crate::stage::{G, cube, floor, force_on, position, run, start, turned};
use stiction::{Quat, Scheme, Simulation, Vec3};

const MASSES: [f64; 5] = [8.0, 64.0, 512.0, 4096.0, 32768.0];

fn stack(scheme: Scheme) -> Simulation {
    let mut scene = floor(0.5);
    for (i, m) in MASSES.into_iter().enumerate() {
        scene.bodies.push(cube(&format!("box{i}"), 0.5, 0.5).with_mass(m).at(0.0, 0.0, 0.5 + i as f64));
    }
    start(&scene, scheme)
}

#[test]
fn heavy_on_light_stands_for_ten_seconds() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = stack(scheme);
        let weight = G * MASSES.iter().sum::<f64>();
        for _ in 0..1200 {
            run(&mut sim, 1.0 / 120.0, 1);
            let overlap = sim.report().overlap;
            assert!(overlap < 1e-6, "{scheme:?} at {} s: overlap {overlap} m", sim.state().t);
            let carried = -force_on(&sim, "floor");
            let error = (carried - Vec3::Z * weight).length() / weight;
            assert!(error < 1e-8, "{scheme:?} at {} s: {carried} instead of {weight} N", sim.state().t);
        }
        for i in 0..MASSES.len() {
            let name = format!("box{i}");
            let drift = (position(&sim, &name) - Vec3::Z * (0.5 + i as f64)).length();
            assert!(drift < 1e-6, "{scheme:?}: {name} drifted by {drift} m");
            let turn = turned(&sim, &name, Quat::IDENTITY);
            assert!(turn < 1e-6, "{scheme:?}: {name} turned by {turn} rad");
        }
    }
}
