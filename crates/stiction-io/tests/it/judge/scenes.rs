//! The gallery by all solvers.

use crate::judge::cone::{self, Promise};
use crate::judge::impact;
use crate::judge::known;
use crate::judge::momentum::{self, Groups};
use crate::judge::overlap::{self, Shapes};
use crate::judge::record::{self, NORMS, Place};
use crate::judge::verdict::{LawOf, Verdict};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use stiction::coords::State;
use stiction::{SimSettings, Simulation, SolverKind, SolverSettings};
use stiction_io::gallery;

/// Scenes (with what a second look at one is about) with the steps before the judged ones (by `auto`, so that something touches), the judged ones, and the part of the
/// table, each of which is a test.
const SCENES: &[(&str, usize, usize, usize)] = &[
    ("box-on-plane", 20, 8, 0),
    ("incline", 0, 6, 0),
    ("sliding-box", 10, 6, 0),
    ("rolling-sphere", 5, 6, 0),
    ("bouncing-balls", 440, 20, 0),
    ("free-top", 0, 6, 0),
    ("anisotropic", 5, 6, 0),
    ("conveyor", 10, 8, 0),
    ("domino", 40, 3, 0),
    ("heavy-stack", 0, 5, 0),
    ("arch", 0, 3, 0),
    ("wall", 0, 3, 0),
    ("wall-10", 0, 2, 1),
    ("table-pile", 40, 2, 1),
    ("tumbling-mesh", 60, 3, 0),
    ("terrain", 60, 3, 0),
    ("cantilever", 0, 4, 2),
    ("extension", 2, 2, 2),
    ("soft-block-grip", 6, 2, 2),
    ("soft-grasp", 5, 1, 2),
    ("mat-folding", 3, 1, 2),
    ("soft-gripper", 3, 1, 2),
    ("newtons-cradle-soft", 0, 2, 2),
    ("newtons-cradle-soft+touch", 48, 1, 2),
    ("ring-chain", 60, 1, 2),
    ("pendulum-chain", 5, 4, 1),
    ("crank-slider", 5, 4, 1),
    ("cable-over-cylinder", 5, 3, 2),
    ("cable-winding", 10, 3, 2),
    ("cloth-drop", 30, 2, 2),
    ("string-drag", 5, 4, 0),
    ("foam-throw", 60, 2, 2),
    ("stick-slip", 50, 5, 0),
    ("redundant-prism", 0, 5, 0),
    ("stretched-sheet", 5, 2, 2),
    ("beam-insertion", 110, 2, 2),
    ("pneunet", 2, 1, 2),
    ("table-heap", 60, 1, 1),
    ("pile", 18, 1, 1),
    ("pile-2000", 16, 1, 1),
];

/// Pairs that the solver itself refuses: it must go on doing so.
#[rustfmt::skip]
const REFUSED: &[(&str, SolverKind, &str)] = &[
    ("cloth-drop", SolverKind::NonlinearNewton, "cloth has no compliance rows"),
    ("cable-winding", SolverKind::NonlinearNewton, "it knows no rods"),
    ("cable-over-cylinder", SolverKind::NonlinearNewton, "it knows no rods"),
    ("cable-winding", SolverKind::Penalty, "it knows no rods"),
    ("cable-over-cylinder", SolverKind::Penalty, "it knows no rods"),
    ("foam-throw", SolverKind::NonlinearNewton, "it knows no damping but by mass"),
    ("soft-grasp", SolverKind::NonlinearNewton, "it knows no damping but by mass"),
    ("soft-grasp", SolverKind::Penalty, "damping by stiffness has no exact derivative there"),
];

/// Pairs to which the laws of the judge do not apply.
#[rustfmt::skip]
const OUTSIDE: &[(&str, SolverKind, &str)] = &[
    ("foam-throw", SolverKind::Penalty, "second order differences: one step's change of momentum is not its impulse"),
];

/// Pairs that are left out because they are slow, with seconds. Whole seconds are wall clock after which a row was broken off on a busy
/// machine, with the steps before the judged one; others are the processor time of a step. Every pair that is not listed takes less than 4 s.
#[rustfmt::skip]
const SLOW: &[(&str, &[(&str, f64)])] = &[
    ("pile", &[("penalty", 25.0)]),
    ("pile-2000", &[("penalty", 25.0)]),
    ("soft-block-grip", &[("nsn-nonlinear", 11.61)]),
    ("mat-folding", &[("nsn", 25.0)]),
    ("newtons-cradle-soft+touch", &[("cr", 25.0)]),
];

/// What a solver is asked for, and its promise.
fn promise(kind: SolverKind) -> (Option<f64>, f64, Promise) {
    match kind {
        SolverKind::Exact | SolverKind::Auto | SolverKind::Pgs | SolverKind::NonsmoothNewton => {
            (Some(1e-8), 1e-8, Promise::Coulomb)
        }
        SolverKind::NonlinearNewton => (None, 1e-8, Promise::Coulomb),
        SolverKind::Realtime => (None, 1e-4, Promise::Coulomb),
        SolverKind::CondE | SolverKind::ConjugateResidual => (None, 1e-6, Promise::Coulomb),
        SolverKind::Apgd => (None, 1e-8, Promise::Cone),
        SolverKind::Cond | SolverKind::Ccs => (None, 1e-6, Promise::Cone),
        SolverKind::Penalty => (None, 1e-8, Promise::Cone),
    }
}

/// The state of a scene after its first steps.
fn warm(name: &'static str, steps: usize) -> State {
    static STATES: OnceLock<Mutex<HashMap<(&'static str, usize), State>>> = OnceLock::new();
    let states = STATES.get_or_init(Default::default);
    if let Some(s) = states.lock().unwrap().get(&(name, steps)) {
        return s.clone();
    }
    let s = scene(name);
    let mut sim =
        Simulation::new(s.scene.compile().unwrap(), SimSettings { solver: SolverKind::Auto, ..s.settings });
    for _ in 0..steps {
        sim.step(s.dt).unwrap();
    }
    let state = sim.state().clone();
    states.lock().unwrap().insert((name, steps), state.clone());
    state
}

/// Judges some steps of a scene by one solver; an error is that of the solver, which refuses the scene.
fn judge(name: &'static str, kind: SolverKind, first: usize, steps: usize) -> Result<Verdict, String> {
    let s = scene(name);
    let (tolerance, promised, promise) = promise(kind);
    // Splittings agree with the dynamics, and the non-linear step with its equations, to their own tolerance.
    let loose = matches!(
        kind,
        SolverKind::CondE | SolverKind::Ccs | SolverKind::NonlinearNewton | SolverKind::Penalty
    );
    let precision = if loose { NORMS * promised } else { momentum::ROUNDING };
    let place = match kind {
        SolverKind::NonlinearNewton => Place::End,
        SolverKind::Penalty => Place::FoundAtEnd,
        _ => Place::Start,
    };
    let solver_settings = SolverSettings { tolerance, max_iterations: None };
    let settings = SimSettings { solver: kind, solver_settings, ..s.settings };
    let mut sim = Simulation::new(s.scene.compile().unwrap(), settings);
    sim.set_state(warm(name, first));
    let (groups, shapes) = (Groups::new(sim.model()), Shapes::new(sim.model()));
    let mut out = Verdict::default();
    for step in first..first + steps {
        out.at_step(step);
        let before = record::step(&mut sim, s.dt).map_err(|e| e.to_string())?;
        let solved = out.solved(sim.report().status.clone());
        let mut r = record::of(&sim, &before, settings.scheme, s.dt, promised, place);
        if settings.intersection_free || kind == SolverKind::ConjugateResidual {
            r.clearance = CLEARANCE;
        }
        overlap::place(&mut r, &shapes, &mut out);
        if solved || !loose {
            momentum::judge(&r, &groups, precision, &mut out);
        }
        if !solved && promise == Promise::Coulomb {
            // A solver that says that it failed is judged for no more.
            continue;
        }
        cone::judge(&r, promise, &mut out);
        impact::judge(&r, &shapes, promise, &mut out);
        overlap::judge(&r, &shapes, promise == Promise::Coulomb, &mut out);
    }
    Ok(out)
}

/// Gaps that surfaces of what bends keep: 0.2 % of their edges (docs/scenes.md).
const CLEARANCE: f64 = 2.1e-3;

/// The scene of a row.
fn scene(name: &str) -> stiction_io::scene::LoadedScene {
    let scene = name.split('+').next().unwrap_or(name);
    gallery::find(scene).unwrap_or_else(|| panic!("no scene `{scene}`")).load(&[]).unwrap()
}

fn is_left_out(name: &str, kind: SolverKind) -> bool {
    REFUSED.iter().chain(OUTSIDE).any(|r| r.0 == name && r.1 == kind)
        || SLOW.iter().any(|(scene, by)| *scene == name && by.iter().any(|(s, _)| *s == kind.name()))
}

/// Scenes in which nothing touches in the judged steps, by any solver or by one.
const WITHOUT_CONTACTS: &[(&str, Option<SolverKind>)] = &[
    ("free-top", None),
    ("pendulum-chain", None),
    ("crank-slider", None),
    ("cantilever", None),
    ("extension", None),
    ("stretched-sheet", None),
    ("newtons-cradle-soft", None),
    // Its contacts are overlaps, and the state that it starts from has none.
    ("beam-insertion", Some(SolverKind::Penalty)),
];

/// What is wrong with the counts of a verdict: a run that judged nothing proves nothing.
fn is_vacuous(name: &str, kind: SolverKind, steps: usize, v: &Verdict) -> Option<&'static str> {
    let of = |laws: &[LawOf]| laws.iter().map(|l| v.judged(*l)).sum::<usize>();
    let contacts = of(&[LawOf::Push]);
    let unsolved = v.broken().find(|b| b.worst.law == LawOf::Solved).map_or(0, |b| b.most as usize);
    if of(&[LawOf::Momentum, LawOf::Held]) == 0 && unsolved < steps {
        return Some("no momentum was judged");
    }
    if WITHOUT_CONTACTS.iter().any(|w| w.0 == name && w.1.is_none_or(|k| k == kind)) {
        return (contacts > 0).then_some("it has contacts now: take it out of the list of scenes without");
    }
    if contacts == 0 && unsolved < steps {
        return Some("no contact was judged");
    }
    let coulomb = promise(kind).2 == Promise::Coulomb && unsolved < steps;
    (coulomb && of(&[LawOf::Approach, LawOf::Touch]) == 0).then_some("no gap was judged")
}

/// Judges the scenes of a part of the table by all solvers, and compares with what is known to fail.
fn judge_part(part: usize) {
    let mut wrong = Vec::new();
    for &(name, first, steps, _) in SCENES.iter().filter(|s| s.3 == part) {
        for kind in SolverKind::STEPPING.into_iter().filter(|k| !is_left_out(name, *k)) {
            let by = kind.name();
            let verdict = match judge(name, kind, first, steps) {
                Ok(verdict) => verdict,
                Err(e) => {
                    wrong.push(format!("{name}, {by}: refused: {e}"));
                    continue;
                }
            };
            wrong.extend(is_vacuous(name, kind, steps, &verdict).map(|why| format!("{name}, {by}: {why}")));
            let mut fails = Vec::new();
            for b in verdict.broken() {
                let f = b.worst;
                fails.push(f.law);
                let bound = known::bound(name, by, f.law);
                if bound.is_none_or(|most| b.most > most) {
                    wrong.push(format!(
                        "{name}, {by}, step {}: {:?} {:e} (known: {bound:?}), {:e} above {:e}: {}",
                        b.step, f.law, b.most, f.figure, f.limit, f.what
                    ));
                }
            }
            for law in known::laws(name, by).filter(|law| !fails.contains(law)) {
                wrong.push(format!("{name}, {by}: {law:?} holds now: take it out of the list"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rigid_scenes_obey_the_laws() {
    judge_part(0);
}

#[test]
fn heaps_and_joints_obey_the_laws() {
    judge_part(1);
}

#[test]
fn what_bends_obeys_the_laws() {
    judge_part(2);
}

#[test]
fn every_scene_is_judged() {
    for e in gallery::ALL {
        let judged = SCENES.iter().any(|s| s.0 == e.name);
        assert!(judged, "`{}` stands neither in the table of judged scenes nor among those left out", e.name);
        assert!(SolverKind::STEPPING.iter().any(|k| !is_left_out(e.name, *k)), "`{}` has no solver", e.name);
    }
    for (name, ..) in SCENES {
        scene(name);
    }
    for (name, by) in SLOW {
        assert!(SCENES.iter().any(|s| s.0 == *name), "no scene `{name}`");
        for (solver, _) in *by {
            assert!(SolverKind::STEPPING.iter().any(|k| k.name() == *solver), "no solver `{solver}`");
        }
    }
    for (name, solver) in known::rows() {
        let kind = SolverKind::STEPPING.into_iter().find(|k| k.name() == solver);
        let judged = SCENES.iter().any(|s| s.0 == name) && kind.is_some_and(|k| !is_left_out(name, k));
        assert!(judged, "{name} by {solver} is known to fail, and not judged");
    }
}

#[test]
fn refused_scenes_are_refused() {
    for (name, kind, why) in REFUSED {
        assert!(judge(name, *kind, 0, 1).is_err(), "{name}, {} runs now ({why}): judge it", kind.name());
    }
}

/// Processor time of this process [s].
fn processor_time() -> Option<f64> {
    // In ticks of 10 ms, behind the name of the program in brackets.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = text.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    Some(ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

/// What one row costs: `STICTION_ROW=SCENE/SOLVER` prints the processor time of a step; `list` prints all rows that are too slow.
/// For `scripts/row-costs.sh`. Otherwise it holds that each row that is left out exists, once, and is slow.
#[test]
fn rows_that_are_left_out_exist_and_are_slow() {
    let Ok(row) = std::env::var("STICTION_ROW") else {
        let mut seen = Vec::new();
        for (scene, (solver, seconds)) in
            SLOW.iter().flat_map(|(scene, by)| by.iter().map(move |b| (*scene, *b)))
        {
            assert!(SCENES.iter().any(|s| s.0 == scene), "there is no scene {scene}");
            assert!(SolverKind::STEPPING.iter().any(|k| k.name() == solver), "there is no solver {solver}");
            assert!(seconds >= 4.0, "{scene} by {solver} takes {seconds} s: judge it");
            assert!(!seen.contains(&(scene, solver)), "{scene} by {solver} is left out twice");
            seen.push((scene, solver));
        }
        return;
    };
    if row == "list" {
        SLOW.iter().flat_map(|(scene, by)| by.iter().map(move |b| (scene, b))).for_each(
            |(scene, (solver, s))| {
                println!("row {scene}/{solver} {s}");
            },
        );
        return;
    }
    let (row_scene, solver) = row.split_once('/').expect("SCENE/SOLVER");
    let &(name, first, ..) = SCENES.iter().find(|s| s.0 == row_scene).expect("a scene of the table");
    let kind = SolverKind::STEPPING.into_iter().find(|k| k.name() == solver).expect("a solver");
    let s = scene(name);
    let (tolerance, ..) = promise(kind);
    let solver_settings = SolverSettings { tolerance, max_iterations: None };
    let settings = SimSettings { solver: kind, solver_settings, ..s.settings };
    let mut sim = Simulation::new(s.scene.compile().unwrap(), settings);
    sim.set_state(warm(name, first));
    let start = processor_time().expect("a system with /proc");
    let status = sim.step(s.dt).map(|r| r.status.word()).unwrap_or("refused");
    println!("row {row_scene}/{solver} {:.2} {status}", processor_time().unwrap() - start);
}
