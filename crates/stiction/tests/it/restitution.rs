//! A dropped ball rebounds with e times its speed, and bounces die out in the end.
//!
//! Dropped from H it arrives with v = √(2 g H) up to the speed that gravity gives in the two steps around the impact:
//! the rebound is e v within 2 e g h, for e = 0, 0.5, 0.8 and 1 and steps from 4 ms to 0.25 ms. With e = 1 the energy
//! after five bounces is kept to 20 g h/v (each bounce may move the speed by 2 g h, so the energy by 4 g h/v). With
//! 0 < e < 1 the ball comes to rest after √(2 H/g) (1 + e)/(1 − e): impacts below the threshold do not rebound. A box
//! that falls flat rebounds the same and does not turn.

use crate::stage::{G, ball, cube, floor, position, run, start, steps, turned, velocity};
use stiction::{Body, Quat, Scheme, Simulation, Vec3};

const HEIGHT: f64 = 1.0;

fn dropped(mut body: Body, e: f64, scheme: Scheme) -> Simulation {
    let mut scene = floor(0.5);
    body.pose.translation.z += HEIGHT;
    body.shapes[0].restitution = e;
    scene.bodies.push(body);
    start(&scene, scheme)
}

/// Runs until the body no longer comes down; its velocity then.
fn rebound(sim: &mut Simulation, h: f64) -> Vec3 {
    for _ in 0..steps(1.0, h) {
        run(sim, h, 1);
        if velocity(sim, "it").z > -1e-9 {
            return velocity(sim, "it");
        }
    }
    panic!("never rebounds");
}

#[test]
fn the_rebound_speed_is_e_times_the_impact_speed() {
    let v = (2.0 * G * HEIGHT).sqrt();
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for e in [0.0, 0.5, 0.8, 1.0] {
            for h in [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4] {
                for it in [ball("it", 0.1, 0.5), cube("it", 0.1, 0.5)] {
                    let mut sim = dropped(it, e, scheme);
                    let up = rebound(&mut sim, h);
                    let error = (up - Vec3::Z * (e * v)).length();
                    let bound = 2.0 * e * G * h + 1e-9;
                    assert!(error <= bound, "{scheme:?}, e {e}, h {h}: {up}, off by {error} > {bound}");
                    let turn = turned(&sim, "it", Quat::IDENTITY);
                    assert!(turn < 1e-8, "{scheme:?}, e {e}, h {h}: turned by {turn} rad");
                }
            }
        }
    }
}

#[test]
fn elastic_bounces_keep_the_energy_to_first_order() {
    let v = (2.0 * G * HEIGHT).sqrt();
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for h in [2e-3, 1e-3, 5e-4, 2.5e-4] {
            let mut sim = dropped(ball("it", 0.1, 0.5), 1.0, scheme);
            let (mut bounces, mut before) = (0, 0.0);
            while bounces < 5 || velocity(&sim, "it").z > 0.0 {
                run(&mut sim, h, 1);
                let now = velocity(&sim, "it").z;
                bounces += usize::from(before < 0.0 && now > 0.0);
                before = now;
            }
            // At the top all energy is potential.
            let kept = (position(&sim, "it").z - 0.1) / HEIGHT;
            let bound = 20.0 * G * h / v;
            assert!((kept - 1.0).abs() < bound, "{scheme:?}, h {h}: {kept} of the energy is left");
        }
    }
}

#[test]
fn bounces_die_out() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for h in [1e-3, 1e-2] {
            for e in [0.3, 0.5, 0.8] {
                let mut sim = dropped(ball("it", 0.1, 0.5), e, scheme);
                let end = (2.0 * HEIGHT / G).sqrt() * (1.0 + e) / (1.0 - e);
                run(&mut sim, h, steps(1.1 * end + 0.5, h));
                let (v, z) = (velocity(&sim, "it"), position(&sim, "it").z);
                assert!(v.length() < 1e-9, "{scheme:?}, e {e}, h {h}: still moves at {v}");
                assert!((z - 0.1).abs() < 1e-6, "{scheme:?}, e {e}, h {h}: rests at {z} m");
            }
        }
    }
}
