//! The number of threads changes nothing: sixty cubes in several islands, enough of them that collision detection and
//! solver share the work out, end with the same bits on 1, 2 and 3 threads.

use crate::common::scenes;

use stiction::steppers::Memory;
use stiction::{SimSettings, Simulation};

fn run(threads: usize) -> (Vec<Memory>, usize, usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut sim = Simulation::new(scenes::heaps().compile().unwrap(), SimSettings::default());
        let (mut islands, mut contacts) = (0, 0);
        let mut seen = Vec::new();
        for _ in 0..60 {
            let report = sim.step(0.01).unwrap();
            islands = islands.max(report.islands);
            contacts = contacts.max(report.contacts);
            seen.push(sim.snapshot());
        }
        (seen, islands, contacts)
    })
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    let (one, islands, contacts) = run(1);
    assert!(islands >= 3 && contacts >= 200, "a scene worth sharing: {islands} islands, {contacts} contacts");
    for threads in [2, 3] {
        let (many, ..) = run(threads);
        for (step, (a, b)) in one.iter().zip(&many).enumerate() {
            let bits = |s: &Memory| -> Vec<u64> {
                let forces = s.contacts.entries.iter().flat_map(|e| e.force.to_array());
                s.state.q.iter().chain(&s.state.v).copied().chain(forces).map(f64::to_bits).collect()
            };
            assert_eq!(bits(a), bits(b), "{threads} threads, step {step}");
            assert_eq!(a, b, "{threads} threads, step {step}");
        }
    }
}
