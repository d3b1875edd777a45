//! A box on an incline just below the friction angle does not creep.
//!
//! At 0.95 of the friction angle, over 60 s in steps of 10 ms: after the first second of settling the speed is below
//! 1e-9 m/s at every step and the box stays within 1e-9 m of where it settled. Both schemes; dropped from 1 mm, so
//! that it has something to settle from.

mod stage;

use stage::{cube, incline, laid_on, position, run, spin, start, velocity};
use stiction::Scheme;

#[test]
fn sixty_seconds_on_an_incline_move_nothing() {
    let (mu, h) = (0.5f64, 0.01);
    let angle = 0.95 * mu.atan();
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = incline(angle, mu);
        let mut b = cube("box", 0.1, mu);
        b.pose.translation.z += 1e-3;
        scene.bodies.push(laid_on(b, angle));
        let mut sim = start(&scene, scheme);
        run(&mut sim, h, 100);
        let settled = position(&sim, "box");
        let (mut fastest, mut farthest): (f64, f64) = (0.0, 0.0);
        for _ in 0..5900 {
            run(&mut sim, h, 1);
            let rim = velocity(&sim, "box").length() + 0.2 * spin(&sim, "box").length();
            fastest = fastest.max(rim);
            farthest = farthest.max((position(&sim, "box") - settled).length());
        }
        assert!(fastest < 1e-9, "{scheme:?}: creeps at up to {fastest} m/s");
        assert!(farthest < 1e-9, "{scheme:?}: crept {farthest} m");
    }
}
