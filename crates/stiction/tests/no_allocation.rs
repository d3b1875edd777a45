//! A settled scene steps without asking for memory: every buffer is owned, grows once and is used again.

#[path = "common/scenes.rs"]
mod scenes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use stiction::{Scene, Scheme, SimSettings, Simulation, SolverKind};

/// The system's allocator, counting requests.
struct Counting;

static REQUESTS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All fall by this much [m] before they settle, so that every stage of the solver has had its turn.
const GAP: f64 = 0.002;

fn settled_steps_are_free(name: &str, scene: Scene, settings: SimSettings) {
    let mut sim = Simulation::new(scene.compile().unwrap(), settings);
    let mut most = 0;
    for _ in 0..50 {
        most = sim.step(0.01).unwrap().contacts.max(most);
    }
    for step in 0..50 {
        let before = REQUESTS.load(Ordering::Relaxed);
        sim.step(0.01).unwrap();
        let asked = REQUESTS.load(Ordering::Relaxed) - before;
        // Faces that lie edge on edge may at any time be cut into one contact more than ever before.
        let grows = sim.report().contacts > most;
        most = most.max(sim.report().contacts);
        assert!(asked == 0 || grows, "{name}, step {step}: {asked} requests for memory, {:?}", sim.report());
    }
    assert!(sim.report().contacts >= 4 && sim.report().energy.kinetic < 1e-6, "{name}: {:?}", sim.report());
}

// One test alone, so that no other thread asks for memory meanwhile.
#[test]
fn a_box_a_stack_and_a_wall_at_rest_ask_for_nothing() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for solver in [SolverKind::Exact, SolverKind::Realtime, SolverKind::Pgs, SolverKind::Apgd] {
            let settings = SimSettings { scheme, solver, ..SimSettings::default() };
            for (name, scene) in [
                ("box", scenes::stack(1, GAP)),
                ("stack of five", scenes::stack(5, GAP)),
                ("5 × 5 wall", scenes::wall(5, 5, GAP)),
            ] {
                let name = format!("{name}, {}, {}", scheme.name(), solver.name());
                settled_steps_are_free(&name, scene, settings);
            }
        }
    }
}
