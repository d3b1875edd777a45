//! Bodies that start inside each other are moved apart, not shot apart.
//!
//! Overlaps of d = 1 cm open at no more than the recovery speed and end within 2e-4 of the size of the shapes. The push
//! changes positions and never becomes velocity. A single box in the floor comes up without any motion: kinetic energy
//! below 1e-12 m g d. In a stack the push is found by a few sweeps, so that joints open up to 5 % too fast, the stack
//! rises less than d/10 too high and falls back: kinetic energy below m g d/8, a fortieth of what a push at 1 m/s
//! would leave if it were kept as velocity. In the end everything rests. Both schemes, 1 ms.

use crate::stage::{G, cube, floor, position, run, start, steps};
use stiction::{Scene, Scheme, Simulation};

const DEPTH: f64 = 0.01;
const HALF: f64 = 0.1;
const H: f64 = 1e-3;

/// Boxes on top of each other, each joint overlapping by the depth.
fn pressed(boxes: usize, recovery_speed: f64) -> Scene {
    let mut scene = floor(0.5);
    scene.contact.recovery_speed = recovery_speed;
    for i in 0..boxes {
        let z = HALF - DEPTH + i as f64 * (2.0 * HALF - DEPTH);
        scene.bodies.push(cube(&format!("box{i}"), HALF, 0.5).at(0.0, 0.0, z));
    }
    scene
}

fn heights(sim: &Simulation, boxes: usize) -> Vec<f64> {
    (0..boxes).map(|i| position(sim, &format!("box{i}")).z).collect()
}

/// What happens while overlaps are pushed out.
#[derive(Debug, Default)]
struct Course {
    /// Largest kinetic energy, as a share of m g d.
    energy: f64,
    /// Fastest opening of a joint, as a share of the recovery speed.
    opening: f64,
    /// How far the top rises above its place, as a share of d.
    hop: f64,
    /// Kinetic energy [J] and overlap [m] in the end.
    end: (f64, f64),
}

fn course(scheme: Scheme, boxes: usize, speed: f64) -> Course {
    let mut sim = start(&pressed(boxes, speed), scheme);
    let mut c = Course::default();
    let mut before = heights(&sim, boxes);
    for _ in 0..steps(boxes as f64 * DEPTH / speed + 0.5, H) {
        run(&mut sim, H, 1);
        c.energy = c.energy.max(sim.energy().kinetic / (G * DEPTH));
        let now = heights(&sim, boxes);
        let rise = |i: usize| now[i] - before[i];
        for i in 0..boxes {
            let below = if i > 0 { rise(i - 1) } else { 0.0 };
            c.opening = c.opening.max((rise(i) - below) / (H * speed));
        }
        c.hop = c.hop.max((now[boxes - 1] - HALF * (2 * boxes - 1) as f64) / DEPTH);
        before = now;
    }
    c.end = (sim.energy().kinetic, sim.report().overlap);
    c
}

#[test]
fn overlaps_are_pushed_out_without_a_pop() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for boxes in 1..=3 {
            for speed in [1.0, 0.1] {
                let c = course(scheme, boxes, speed);
                let story = format!("{scheme:?}, {boxes} boxes, {speed} m/s: {c:?}");
                let (energy, opening, hop) =
                    if boxes == 1 { (1e-12, 1.0 + 1e-6, 1e-9) } else { (0.125, 1.05, 0.1) };
                assert!(c.energy < energy, "moves: {story}");
                assert!(c.opening < opening, "pushed too fast: {story}");
                assert!(c.opening > 0.99, "pushed at the speed allowed: {story}");
                assert!(c.hop < hop, "hops: {story}");
                assert!(c.end.0 < 1e-16, "comes to rest: {story}");
                assert!(c.end.1 < 2e-4 * HALF * 3f64.sqrt(), "overlap is gone: {story}");
            }
        }
    }
}
