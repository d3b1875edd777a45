//! What is known to fail in the gallery, with its reason and the largest figure that is allowed: a known failure may not grow, and one
//! that is mended leaves the list.

use crate::judge::verdict::LawOf;

/// A solver, a law that it breaks, why, and by how much in which scenes, in the unit of the law (of [`LawOf::Solved`]: steps).
type Known = (&'static str, LawOf, &'static str, &'static [(&'static str, f64)]);

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    ("exact", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("exact", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("auto", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("auto", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("realtime", LawOf::Solved, "budget", &[("terrain", 3.0), ("table-pile", 2.0), ("ring-chain", 1.0)]),
    ("realtime", LawOf::Momentum, "soft islands are solved to the tolerance, and with them the momentum of rigid bodies that they touch", &[("soft-gripper", 1.1e-8)]),
    ("realtime", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("realtime", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("pgs", LawOf::Solved, "budget", &[("box-on-plane", 1.0), ("domino", 3.0), ("heavy-stack", 5.0), ("arch", 3.0), ("terrain", 3.0), ("wall-10", 2.0), ("table-pile", 2.0), ("pendulum-chain", 4.0), ("newtons-cradle-soft+touch", 1.0), ("beam-insertion", 2.0)]),
    ("pgs", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("pgs", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("nsn", LawOf::Solved, "budget", &[("table-pile", 1.0)]),
    ("nsn", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("nsn", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("nsn-nonlinear", LawOf::Solved, "budget", &[("table-pile", 1.0)]),
    ("nsn-nonlinear", LawOf::AngularMomentum, "the gyroscopic torque is taken at one moment: 8.7e-4 N·m·s where the turn of the step explains 2.8e-4", &[("tumbling-mesh", 1.1e-3), ("table-heap", 0.049)]),
    ("nsn-nonlinear", LawOf::Touch, "rebounds begin where the step does: 5.5 kN across gaps of 2.3 mm before and 3.4 mm after", &[("bouncing-balls", 2.9e-3)]),
    ("nsn-nonlinear", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 2.8e-3)]),
    ("cond-e", LawOf::Solved, "budget", &[("heavy-stack", 5.0), ("table-pile", 1.0), ("extension", 2.0), ("newtons-cradle-soft", 2.0), ("newtons-cradle-soft+touch", 1.0)]),
    ("cond-e", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("cond-e", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("cr", LawOf::Solved, "budget", &[("ring-chain", 1.0), ("terrain", 1.0), ("table-pile", 1.0), ("pile-2000", 1.0)]),
    ("cr", LawOf::Momentum, "1.5e-5 N·s of 0.11 N·s are lost, asked for 1e-6", &[("cable-over-cylinder", 2e-5)]),
    ("cr", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.3e-3)]),
    ("cr", LawOf::Touch, "rebounds begin where the step does: 5.5 kN across gaps of 2.3 mm before and 3.4 mm after", &[("bouncing-balls", 2.9e-3)]),
    ("cr", LawOf::Slip, "friction of a contact that meets within the step opposes the slide since then, not the velocity", &[("box-on-plane", 19.0), ("tumbling-mesh", 87.0), ("cable-winding", 0.17), ("cloth-drop", 0.023), ("table-heap", 1000.0), ("pile", 44.0), ("foam-throw", 0.86)]),
    ("cr", LawOf::Gap, "the same", &[("terrain", 3.3e-4)]),
    ("cr", LawOf::Penetration, "an edge that meets another within the step is missed: 35 mm deep", &[("table-heap", 0.044)]),
    ("cr", LawOf::Placed, "contacts that were linearised anew are recorded elsewhere: 7 to 18 mm beside a gap", &[("box-on-plane", 9.3e-3), ("table-pile", 0.016), ("table-heap", 0.023), ("pile", 0.011), ("pile-2000", 0.011)]),
    ("apgd", LawOf::Solved, "budget", &[("domino", 1.0), ("terrain", 1.0), ("table-pile", 2.0)]),
    ("apgd", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("apgd", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("cond", LawOf::Solved, "ends by the change of velocities, never solved", &[("box-on-plane", 8.0), ("incline", 6.0), ("sliding-box", 6.0), ("rolling-sphere", 6.0), ("bouncing-balls", 9.0), ("anisotropic", 6.0), ("conveyor", 8.0), ("domino", 3.0), ("heavy-stack", 5.0), ("arch", 3.0), ("wall", 3.0), ("tumbling-mesh", 3.0), ("terrain", 3.0), ("string-drag", 4.0), ("stick-slip", 5.0), ("redundant-prism", 5.0), ("wall-10", 2.0), ("table-pile", 2.0), ("pendulum-chain", 4.0), ("crank-slider", 4.0), ("cantilever", 4.0), ("extension", 2.0), ("soft-block-grip", 2.0), ("soft-grasp", 1.0), ("mat-folding", 1.0), ("soft-gripper", 1.0), ("cable-over-cylinder", 3.0), ("cable-winding", 3.0), ("cloth-drop", 2.0), ("stretched-sheet", 2.0), ("pneunet", 1.0), ("table-heap", 1.0), ("pile", 1.0), ("pile-2000", 1.0), ("newtons-cradle-soft", 2.0), ("newtons-cradle-soft+touch", 1.0), ("ring-chain", 1.0), ("foam-throw", 2.0), ("beam-insertion", 2.0)]),
    ("cond", LawOf::Momentum, "the same: up to 40 % of an impulse is not in the velocities", &[("box-on-plane", 0.044), ("incline", 0.041), ("sliding-box", 0.052), ("rolling-sphere", 3.3e-4), ("bouncing-balls", 2.2e-3), ("anisotropic", 0.036), ("conveyor", 0.062), ("domino", 0.019), ("heavy-stack", 0.067), ("arch", 0.071), ("wall", 0.042), ("tumbling-mesh", 0.028), ("terrain", 0.019), ("redundant-prism", 0.048), ("wall-10", 0.045), ("table-pile", 0.028), ("pendulum-chain", 2.4e-3), ("crank-slider", 7.9e-3), ("soft-block-grip", 8.2e-3), ("soft-grasp", 5.6e-3), ("soft-gripper", 6.5e-3), ("cable-over-cylinder", 0.028), ("cloth-drop", 2e-4), ("pneunet", 0.037), ("table-heap", 0.12), ("pile", 0.014), ("pile-2000", 0.015), ("newtons-cradle-soft+touch", 6.1e-4), ("ring-chain", 2.2e-4), ("foam-throw", 2.7e-5), ("beam-insertion", 9.8e-4)]),
    ("cond", LawOf::Held, "the same", &[("string-drag", 0.17), ("stick-slip", 4.1e-3), ("cantilever", 0.015), ("soft-gripper", 1.4e-4), ("cable-winding", 3.6e-3), ("ring-chain", 1.2e-4)]),
    ("cond", LawOf::AngularMomentum, "the same", &[("box-on-plane", 4.1e-3), ("incline", 4.1e-3), ("sliding-box", 4.3e-3), ("rolling-sphere", 3.3e-5), ("anisotropic", 9.5e-4), ("conveyor", 1.9e-3), ("domino", 8.7e-4), ("heavy-stack", 0.023), ("arch", 5.6e-3), ("wall", 0.012), ("tumbling-mesh", 5.3e-3), ("terrain", 4.7e-3), ("redundant-prism", 0.055), ("wall-10", 8.2e-3), ("table-pile", 1.7e-3), ("pendulum-chain", 3.8e-5), ("crank-slider", 8.7e-4), ("soft-gripper", 1.1e-8), ("table-heap", 0.042), ("pile", 1.3e-3), ("pile-2000", 8.9e-4), ("beam-insertion", 9e-6)]),
    ("cond", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("ccs", LawOf::Solved, "budget", &[("terrain", 1.0)]),
    ("ccs", LawOf::Held, "the pull of a stiff cable on a turning post changes within the step by more than its linearisation", &[("cable-winding", 1.2e-3)]),
    ("ccs", LawOf::Placed, "contacts that a body meets on its way are recorded at neither surface: 4.1 mm beside a gap", &[("table-heap", 5.2e-3)]),
    ("penalty", LawOf::Held, "the string begins to pull within the step", &[("string-drag", 2.2e-5)]),
    ("penalty", LawOf::Gap, "shapes touch by sampled points, whose gaps are not the distance of the pair: 3.7 mm apart", &[("domino", 1.3e-3), ("arch", 6.6e-3), ("terrain", 7.6e-5)]),
];

/// The largest figure by which a solver may break a law in a scene.
pub fn bound(scene: &str, solver: &str, law: LawOf) -> Option<f64> {
    let of_solver = KNOWN.iter().filter(|k| k.0 == solver && k.1 == law);
    of_solver.flat_map(|k| k.3).find(|r| r.0 == scene).map(|r| r.1)
}

/// Laws that a solver is known to break in a scene.
pub fn laws(scene: &str, solver: &str) -> impl Iterator<Item = LawOf> {
    KNOWN.iter().filter(move |k| k.0 == solver && k.3.iter().any(|r| r.0 == scene)).map(|k| k.1)
}

/// All pairs of scene and solver in the list.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.iter().flat_map(|k| k.3.iter().map(|r| (r.0, k.0)))
}
