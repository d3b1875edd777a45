//! Steps that end without intersection: interlocked rings fall on a floor, a strip of cloth folds onto itself, and a knot is
//! drawn tight. At every step an independent checker finds no edge through a face and a distance above zero, and the parts
//! stay linked.

use stiction::collide::inspect;
use stiction::scene::samples;
use stiction::{Scene, SimSettings, Simulation};

/// Steps a scene and looks at every state; the smallest distance [m], and the most that was held back.
fn watch(scene: &Scene, steps: usize, h: f64) -> (Simulation, f64, f64) {
    let settings = SimSettings { intersection_free: true, ..SimSettings::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), settings);
    let (mut least, mut held, mut count) = (f64::INFINITY, 0.0_f64, 0);
    for step in 0..steps {
        let r = sim.step(h).unwrap().clone();
        let seen = inspect(sim.model(), sim.state(), 1e-3);
        assert!(seen.distance > 0.0, "{}, step {step}: {seen:?}", scene.name);
        assert_eq!((seen.crossings, seen.below, r.impacts_left), (0, 0, 0), "{}, step {step}", scene.name);
        least = least.min(seen.distance);
        held = held.max(r.held_back);
        count += usize::from(r.held_back > 0.0);
    }
    println!("{}: least distance {least:.2e} m, held back {held:.3} in {count} of {steps} steps", scene.name);
    (sim, least, held)
}

#[test]
fn rings_stay_linked() {
    watch(&samples::ring_chains(1, 3), 100, 2e-3);
}

#[test]
fn cloth_folds_onto_itself() {
    watch(&samples::folding_strip([4, 16]), 150, 2e-3);
}

#[test]
fn a_knot_is_drawn_tight() {
    watch(&samples::knotted_rope(80, 0.2), 100, 2e-3);
}
