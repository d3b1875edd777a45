//! What every method makes of an impact. Two balls that meet head-on leave with e times their speeds, e = 0 … 1, by all methods but
//! two: `cond`, whose contacts give way, and `penalty`, whose damping decides how it rebounds. A ball that drops on a floor comes back
//! to e² of its height, to rounding, but for the methods whose impacts act when the step begins, `cr` and `nsn-nonlinear`. With v
//! the speed at the floor their apexes are off by up to a share of v h that depends on where in the step the ball touches.

use crate::stage::{G, ball, floor, head_on, position, start_with, velocity};
use stiction::methods::Obeys;
use stiction::{Scheme, SolverKind, Vec3};

/// How far the rebound of a method may be off [m/s]: its tolerance, at a speed of 2 m/s.
fn allowed(kind: SolverKind) -> f64 {
    match kind.method().obeys {
        Obeys::Coulomb => 1e-8,
        Obeys::ConvexRelaxation => 1e-7,
        Obeys::SplitCoulomb => 1e-5,
        // Contacts give way by λ/k_v: 2 % of the speed.
        _ => 0.025,
    }
}

#[test]
fn balls_that_meet_head_on_leave_with_e_times_their_speed() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for kind in SolverKind::STEPPING.into_iter().filter(|k| *k != SolverKind::Penalty) {
            for e in [0.0, 0.25, 0.5, 0.75, 1.0] {
                for mu in [0.0, 1e-9, 0.5] {
                    let mut sim = start_with(&head_on(mu, e), scheme, kind);
                    for _ in 0..8 {
                        let report = sim.step(0.01).unwrap();
                        // Two steps after the impact balls without relative speed leave `ccs` no scale for its error.
                        let solved = report.status.is_solved() || !kind.solves_coulomb();
                        assert!(solved, "{scheme:?}, {}, μ {mu}, e {e}: {report:?}", kind.name());
                    }
                    for (name, side) in [("left", -1.0), ("right", 1.0)] {
                        let off = (velocity(&sim, name) - Vec3::X * (side * e)).length();
                        let limit = allowed(kind);
                        assert!(off < limit, "{scheme:?}, {}, μ {mu}, e {e}: off by {off}", kind.name());
                    }
                }
            }
        }
    }
}

/// The smooth forces of `penalty` rebound as their damping says, whatever the restitution of the surfaces; its law is named so.
#[test]
fn penalty_forces_know_no_restitution() {
    let leaves = |e: f64| {
        let mut sim = start_with(&head_on(0.0, e), Scheme::ImplicitEuler, SolverKind::Penalty);
        for _ in 0..8 {
            sim.step(0.01).unwrap();
        }
        velocity(&sim, "right").x
    };
    assert_eq!(SolverKind::Penalty.method().obeys, Obeys::Penalty);
    assert!([0.5, 1.0].into_iter().all(|e| leaves(e) == leaves(0.0)), "{} {}", leaves(0.0), leaves(1.0));
}

/// By how much the first apex is too high, over v h: least and largest of drops from heights that touch anywhere in a step.
fn apexes(kind: SolverKind, scheme: Scheme, e: f64, h: f64) -> [f64; 2] {
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for k in 0..24 {
        let height = 1.0 + 0.0013 * f64::from(k);
        let mut scene = floor(0.5);
        let mut body = ball("it", 0.1, 0.5);
        body.pose.translation.z += height;
        body.shapes[0].restitution = e;
        scene.bodies.push(body);
        let mut sim = start_with(&scene, scheme, kind);
        let mut top = 0.0;
        let mut rises = false;
        while !rises || velocity(&sim, "it").z > 0.0 {
            sim.step(h).unwrap();
            assert!(sim.state().t < 2.0, "{}, e {e}: it never comes to its apex", kind.name());
            // A parabola has its apex between steps.
            let (z, v) = (position(&sim, "it").z - 0.1, velocity(&sim, "it").z);
            rises |= v > 0.5;
            if rises {
                top = f64::max(top, z + if v.abs() < G * h { 0.5 * v * v / G } else { 0.0 });
            }
        }
        let off = (top - e * e * height) / ((2.0 * G * height).sqrt() * h);
        range = [range[0].min(off), range[1].max(off)];
    }
    range
}

#[test]
fn impacts_that_act_when_the_step_begins_are_off_by_a_stated_share_of_the_step() {
    // What the sampled heights leave of the range, and the apex between two steps.
    const SAMPLED: f64 = 0.06;
    for e in [0.5, 0.8, 0.9, 1.0] {
        for h in [5e-3, 2.5e-3] {
            // A gap of ξ v h is left when the impact acts. Implicit Euler ends the step e v h above it: (1 − e²) ξ + e (1 − e)/2.
            let lag = 0.5 * e * (1.0 - e);
            let early = [lag, lag + (1.0 - e * e)];
            // The midpoint scheme closes the gap, and loses e v (1 − ξ) h of the rise and e² ξ of the fall.
            let cases = [
                (SolverKind::ConjugateResidual, Scheme::ImplicitEuler, early),
                (SolverKind::NonlinearNewton, Scheme::ImplicitEuler, early),
                (SolverKind::ConjugateResidual, Scheme::Midpoint, [-e * e, 0.0]),
            ];
            for (kind, scheme, [low, high]) in cases {
                let [least, most] = apexes(kind, scheme, e, h);
                let at = format!("{}, {scheme:?}, e {e}, h {h}: {least} to {most}", kind.name());
                assert!(least > low - SAMPLED && least < low + SAMPLED, "{at}, least {low}");
                assert!(most > high - SAMPLED && most < high + SAMPLED, "{at}, most {high}");
            }
        }
    }
}

#[test]
fn all_others_rebound_to_rounding() {
    let early = [SolverKind::ConjugateResidual, SolverKind::NonlinearNewton];
    let others = |k: &SolverKind| {
        !early.contains(k) && !matches!(k.method().obeys, Obeys::CompliantContact | Obeys::Penalty)
    };
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for kind in SolverKind::STEPPING.into_iter().filter(others) {
            let [least, most] = apexes(kind, scheme, 0.8, 5e-3);
            assert!(least > -1e-4 && most < 1e-4, "{scheme:?}, {}: {least} to {most}", kind.name());
        }
    }
}
