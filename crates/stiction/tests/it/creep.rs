//! A box on an incline just below the friction angle does not creep.
//!
//! At 0.95 of the friction angle, over 60 s in steps of 10 ms: after the first second of settling the centre of mass
//! is slower than 1e-9 m/s at every step, and no corner is ever farther than 1e-9 m from where it settled. Both
//! schemes; dropped from 1 mm, so that it has something to settle from.

use crate::stage::{cube, id, incline, laid_on, run, start, velocity};
use stiction::{Scheme, Simulation, Vec3};

const HALF: f64 = 0.1;

fn corners(sim: &Simulation) -> [Vec3; 8] {
    let pose = sim.model().com_pose(sim.state(), id(sim, "box"));
    std::array::from_fn(|k| {
        let sign = |bit: usize| if k >> bit & 1 == 0 { -HALF } else { HALF };
        pose.transform_point(Vec3::new(sign(0), sign(1), sign(2)))
    })
}

#[test]
fn sixty_seconds_on_an_incline_move_nothing() {
    let (mu, h) = (0.5f64, 0.01);
    let angle = 0.95 * mu.atan();
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = incline(angle, mu);
        let mut b = cube("box", HALF, mu);
        b.pose.translation.z += 1e-3;
        scene.bodies.push(laid_on(b, angle));
        let mut sim = start(&scene, scheme);
        run(&mut sim, h, 100);
        let settled = corners(&sim);
        let (mut fastest, mut farthest): (f64, f64) = (0.0, 0.0);
        for _ in 0..5900 {
            run(&mut sim, h, 1);
            fastest = fastest.max(velocity(&sim, "box").length());
            for (now, then) in corners(&sim).iter().zip(&settled) {
                farthest = farthest.max((*now - *then).length());
            }
        }
        assert!(fastest < 1e-9, "{scheme:?}: creeps at up to {fastest} m/s");
        assert!(farthest < 1e-9, "{scheme:?}: a corner crept {farthest} m");
    }
}
