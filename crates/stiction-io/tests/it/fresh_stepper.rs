//! Steppers remember nothing: one that is made anew before every step, and knows the memory of the run alone, gives the bits
//! of one that takes all steps. So snapshots, resets and worlds of a batch are right by construction.

use crate::same_bits::{SOLVERS, is_slow};
use stiction::steppers::Memory;
use stiction::{Model, SimSettings, Simulation};
use stiction_io::gallery;

const STEPS: usize = 4;
/// Runs that the stepper refuses in their first step.
#[rustfmt::skip]
const REFUSED: [(&str, &str); 8] = [
    ("soft-grasp", "nsn-nonlinear"),
    ("soft-grasp", "penalty"),
    ("cable-over-cylinder", "nsn-nonlinear"),
    ("cable-over-cylinder", "penalty"),
    ("cable-winding", "nsn-nonlinear"),
    ("cable-winding", "penalty"),
    ("cloth-drop", "nsn-nonlinear"),
    ("foam-throw", "nsn-nonlinear"),
];

/// The start, and what one stepper for all steps leaves behind after each.
fn run(model: &Model, settings: SimSettings, dt: f64) -> Vec<Memory> {
    let mut sim = Simulation::new(model.clone(), settings);
    let mut all = vec![sim.snapshot()];
    for _ in 0..STEPS {
        if sim.step(dt).is_err() {
            break;
        }
        all.push(sim.snapshot());
    }
    all
}

/// Largest difference of velocities as a share of the largest velocity.
fn apart(a: &Memory, b: &Memory) -> f64 {
    let largest = a.state.v.iter().fold(f64::MIN_POSITIVE, |m, v| v.abs().max(m));
    a.state.v.iter().zip(&b.state.v).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / largest
}

#[test]
fn a_new_stepper_before_every_step_gives_the_same_bits() {
    let (mut same, mut runs) = (0, 0);
    let (mut off, mut refused) = (Vec::new(), Vec::new());
    for scene in gallery::ALL {
        let loaded = scene.load(&[]).expect("gallery scenes load");
        let model = loaded.compile().expect("gallery scenes compile");
        for solver in SOLVERS.into_iter().filter(|s| !is_slow(scene.name, *s)) {
            let settings = SimSettings { solver, ..loaded.settings };
            let all = run(&model, settings, loaded.dt);
            runs += 1;
            if all.len() == 1 {
                refused.push((scene.name, solver.name()));
            } else {
                assert_eq!(all.len(), STEPS + 1, "{} by {}: all steps are taken", scene.name, solver.name());
            }
            for (step, pair) in all.windows(2).enumerate() {
                let mut sim = Simulation::new(model.clone(), settings);
                // Through the bytes of a file.
                let memory = Memory::from_bytes(&pair[0].to_bytes(), &model).expect("it is of this model");
                sim.restore(&memory);
                sim.step(loaded.dt).expect("the run took this step");
                let got = sim.snapshot();
                if got == pair[1] {
                    same += 1;
                } else {
                    let name = solver.name();
                    let error = apart(&pair[1], &got);
                    off.push(format!("{} by {name}: step {}, {error:e} apart", scene.name, step + 1));
                }
            }
        }
    }
    assert!(off.is_empty(), "steppers remember something:\n{}", off.join("\n"));
    assert_eq!(refused, REFUSED);
    assert_eq!(same, (runs - REFUSED.len()) * STEPS, "every other step was compared");
}
