//! A free asymmetric top keeps its angular momentum, its energy does not drift, and it tumbles in time.
//!
//! Over 10 s at 1 ms the vector L stays to 1e-10 of |L| (asked for: 1e-6). The energy error swings within O(h²) and
//! is no larger in the second half than in the first; halving h quarters it. Spun about its middle axis with a small
//! disturbance, the top turns over again and again (Dzhanibekov), at the interval of Euler's solution in elliptic
//! functions: 2 K(k)/n, n² = (I₃ − I₂)(L² − 2 E I₁)/(I₁ I₂ I₃), k² = (I₂ − I₁)(2 E I₃ − L²)/((I₃ − I₂)(L² − 2 E I₁)).

use crate::stage::{orientation, slope, spin, start, steps};
use stiction::scene::MassSpec;
use stiction::{Body, Geometry, Mat3, Scene, Scheme, Simulation, Vec3};

const MOMENTS: Vec3 = Vec3::new(0.01, 0.02, 0.025);

fn top(w: Vec3, scheme: Scheme) -> Simulation {
    let mut b = Body::new("top", Geometry::Box { half: Vec3::splat(0.1) });
    b.mass = MassSpec::Given { mass: 2.0, inertia: Mat3::from_diagonal(MOMENTS), com: Vec3::ZERO };
    b.spin = w;
    let scene = Scene { bodies: vec![b], ..Scene::default() };
    start(&scene, scheme)
}

fn momentum(sim: &Simulation) -> Vec3 {
    sim.model().bodies[0].world_inertia(orientation(sim, "top")) * spin(sim, "top")
}

/// Complete elliptic integral of the first kind by the arithmetic–geometric mean.
fn elliptic_k(k2: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - k2).sqrt());
    while (a - g).abs() > 1e-15 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// Largest relative energy error over the next `time` seconds.
fn energy_error(sim: &mut Simulation, e0: f64, h: f64, time: f64) -> f64 {
    let mut worst: f64 = 0.0;
    for _ in 0..steps(time, h) {
        sim.step(h).unwrap();
        worst = worst.max((sim.energy().kinetic / e0 - 1.0).abs());
    }
    worst
}

#[test]
fn momentum_is_kept_and_energy_does_not_drift() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut sim = top(Vec3::new(3.0, -5.0, 4.0), scheme);
        let (l0, e0) = (momentum(&sim), sim.energy().kinetic);
        let first = energy_error(&mut sim, e0, 1e-3, 5.0);
        let second = energy_error(&mut sim, e0, 1e-3, 5.0);
        let loss = (momentum(&sim) - l0).length() / l0.length();
        assert!(loss < 1e-10, "{scheme:?}: L changed by {loss} of itself");
        assert!(first > 0.0 && first < 1e-4, "{scheme:?}: energy error {first}");
        assert!(second < 1.01 * first, "{scheme:?}: energy drifts from {first} to {second}");
    }
}

#[test]
fn energy_error_is_of_second_order() {
    let errors: Vec<(f64, f64)> = [8e-3, 4e-3, 2e-3, 1e-3]
        .into_iter()
        .map(|h| {
            let mut sim = top(Vec3::new(3.0, -5.0, 4.0), Scheme::ImplicitEuler);
            let e0 = sim.energy().kinetic;
            (h, energy_error(&mut sim, e0, h, 2.0))
        })
        .collect();
    let order = slope(&errors);
    assert!((order - 2.0).abs() < 0.05, "slope {order}: {errors:?}");
}

#[test]
fn the_middle_axis_turns_over_in_time() {
    let (w, h) = (Vec3::new(0.02, 16.0, 0.04), 1e-3);
    let mut sim = top(w, Scheme::ImplicitEuler);
    let l2 = (MOMENTS * w).length_squared();
    let e2 = (MOMENTS * w).dot(w);
    let [i1, i2, i3] = MOMENTS.to_array();
    assert!(l2 > e2 * i2, "the formula below is for this side of the separatrix");
    let n2 = (i3 - i2) * (l2 - e2 * i1) / (i1 * i2 * i3);
    let k2 = (i2 - i1) * (e2 * i3 - l2) / ((i3 - i2) * (l2 - e2 * i1));
    let interval = 2.0 * elliptic_k(k2) / n2.sqrt();

    let middle = |sim: &Simulation| (orientation(sim, "top").conjugate() * spin(sim, "top")).y;
    let mut flips = Vec::new();
    let mut before = middle(&sim);
    for n in 0..steps(10.0, h) {
        sim.step(h).unwrap();
        let now = middle(&sim);
        if before * now < 0.0 {
            flips.push(h * (n as f64 + before / (before - now)));
        }
        before = now;
    }
    assert!(flips.len() >= 3, "turns over at {flips:?}; expected every {interval} s");
    for pair in flips.windows(2) {
        let error = (pair[1] - pair[0]) / interval - 1.0;
        assert!(error.abs() < 1e-3, "turns over at {flips:?}; expected every {interval} s");
    }
}
