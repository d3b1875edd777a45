//! "Solved" is true: whatever absurd sizes a scene that compiles has, a step that says so has finite residuals that are small
//! beside the data, a finite state, and no more energy than work explains. A verdict never rests on a scale that the answer made.

use crate::stage;

use crate::common::cold;
use crate::stage::{ball, cube, empty, floor};
use stiction::contact::residual::Yardstick;
use stiction::contact::{ContactProblem, Solution, samples};
use stiction::scene::{Joint, JointKind, Motion, Motor, SpringEnd, SpringSpec};
use stiction::solvers::{ContactSolver, SolveReport, Status, Trace};
use stiction::{Body, Geometry, Scene, SimSettings, Simulation, SolverKind, StepError, Vec3};

/// A scene, its time step, and whether something does work on it.
struct Case {
    name: &'static str,
    scene: Scene,
    h: f64,
    driven: bool,
}

fn case(name: &'static str, scene: Scene, h: f64, driven: bool) -> Case {
    Case { name, scene, h, driven }
}

/// A block of a size on a turning table.
fn table(size: Vec3) -> Scene {
    let mut scene = empty();
    let disc = Geometry::Cylinder { half_height: 0.05, radius: 0.5 };
    let mut table = Body::new("table", disc).at(0.0, 0.0, -0.05);
    table.motion = Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::Z * 2.0 };
    scene.bodies.push(table);
    let block = Body::new("block", Geometry::Box { half: 0.5 * size }).with_mass(1.0);
    scene.bodies.push(block.with_friction(0.5).at(0.3, 0.0, 0.5 * size.z));
    scene
}

/// Two cubes on each other, of these masses.
fn stack(below: f64, above: f64) -> Scene {
    let mut scene = floor(0.5);
    scene.bodies.push(cube("below", 0.1, 0.5).with_mass(below));
    scene.bodies.push(cube("above", 0.1, 0.5).with_mass(above).at(0.0, 0.0, 0.3));
    scene
}

fn thrown(speed: f64) -> Scene {
    let mut scene = floor(0.3);
    let mut b = ball("it", 0.1, 0.3).at(0.0, 0.0, 0.2);
    b.velocity = Vec3::new(0.3, 0.0, -1.0) * speed;
    scene.bodies.push(b);
    scene
}

fn crank(damping: f64) -> Scene {
    let mut scene = empty();
    let half = Vec3::new(0.5, 0.02, 0.02);
    scene.bodies.push(Body::new("arm", Geometry::Box { half }).with_mass(1.0).at(0.5, 0.0, 0.0));
    let mut hinge = Joint::to_world("hinge", JointKind::Hinge, "arm").at(Vec3::ZERO).about(Vec3::Y);
    hinge.motor = Some(Motor::velocity(6.0, damping));
    scene.joints.push(hinge);
    scene
}

fn sprung(stiffness: f64) -> Scene {
    let mut scene = floor(0.5);
    scene.bodies.push(cube("it", 0.1, 0.5).at(0.0, 0.0, 0.15));
    let ends = [SpringEnd::world(Vec3::Z), SpringEnd::on("it", Vec3::ZERO)];
    scene.springs.push(SpringSpec::new("spring", ends, stiffness));
    scene
}

fn cases() -> Vec<Case> {
    vec![
        case("a block as long as 1e9 m", table(Vec3::new(0.1, 1e9, 0.1)), 0.01, true),
        case("a block as thin as 1e-9 m", table(Vec3::new(0.1, 0.1, 1e-9)), 0.01, true),
        case("a light cube below a heavy one", stack(1e-12, 1e12), 0.01, false),
        case("a heavy cube below a light one", stack(1e12, 1e-12), 0.01, false),
        case("masses of 1e-30 kg", stack(1e-30, 1e-30), 0.01, false),
        case("masses of 1e30 kg", stack(1e30, 1e30), 0.01, false),
        case("a ball at 1e9 m/s", thrown(1e9), 0.01, false),
        case("a ball at 1e100 m/s", thrown(1e100), 0.01, false),
        case("steps of 1e8 s", stack(1.0, 1.0), 1e8, false),
        case("a crank in steps of 1e8 s", crank(50.0), 1e8, true),
        case("a crank in steps of 1e-9 s", crank(50.0), 1e-9, true),
        case("a motor of 1e30 N·m·s/rad", crank(1e30), 0.01, true),
        case("a spring of 1e20 N/m", sprung(1e20), 0.01, false),
    ]
}

/// Solvers that leave a step of a case unsolved, or end in a state that is not finite; `cond`, which never says that it solved a step
/// with contacts, does everywhere. All others solve all steps.
const UNSOLVED: &[(&str, &[&str])] = &[
    (
        "a light cube below a heavy one",
        &["exact", "realtime", "pgs", "apgd", "nsn", "cond-e", "ccs", "cr", "auto", "nsn-nonlinear"],
    ),
    ("masses of 1e-30 kg", &["penalty"]),
    ("a ball at 1e9 m/s", &["pgs", "apgd", "nsn-nonlinear"]),
    ("a ball at 1e100 m/s", &["apgd", "nsn-nonlinear", "penalty"]),
    ("steps of 1e8 s", &["exact", "realtime", "pgs", "apgd", "auto"]),
    (
        "a crank in steps of 1e8 s",
        &["exact", "realtime", "pgs", "nsn", "cond-e", "ccs", "cr", "auto", "nsn-nonlinear", "penalty"],
    ),
    ("a motor of 1e30 N·m·s/rad", &["penalty"]),
    ("a spring of 1e20 N/m", &["penalty"]),
];

#[test]
fn absurd_sizes_are_solved_or_said_not_to_be() {
    let mut unsolved: Vec<(&str, Vec<&str>)> = Vec::new();
    for Case { name, scene, h, driven } in cases() {
        let mut by = Vec::new();
        for kind in SolverKind::STEPPING {
            let case = format!("{name}, {}", kind.name());
            let mut all = true;
            let model = scene.compile().expect("the scene compiles");
            let settings = SimSettings { solver: kind, ..SimSettings::default() };
            let mut sim = Simulation::new(model, settings);
            for step in 0..4 {
                let before = sim.energy();
                match sim.step(h) {
                    Ok(r) if r.status.is_solved() => {
                        let r = r.clone();
                        assert!(r.residuals.are_finite(), "{case}, step {step}: {:?}", r.residuals);
                        let after = sim.energy();
                        assert!(after.total().is_finite(), "{case}, step {step}: {after:?}");
                        // Beside the energy of free fall over the step: in long steps rounding of its speed is a long way.
                        let free = sim.model().bodies.iter().filter(|b| b.block.is_some());
                        let mass: f64 = free.map(|b| b.mass).sum();
                        let fall = mass * (stage::G * h).powi(2);
                        let size = before.kinetic + before.potential.abs() + before.elastic + fall;
                        let gained = after.total() - before.total();
                        // The non-linear step holds true gaps: what it finds overlapping it pushes out within the step.
                        let pushed = kind == SolverKind::NonlinearNewton && r.overlap > 0.0;
                        assert!(
                            driven || pushed || !kind.solves_coulomb() || gained <= 1e-6 * size,
                            "{case}, step {step}: {gained} J on {size} J, {:?}",
                            r.residuals
                        );
                    }
                    Ok(_) => all = false,
                    Err(StepError::NotFinite { .. } | StepError::Scene(_)) => {
                        all = false;
                        break;
                    }
                    Err(e) => panic!("{case}, step {step}: {e}"),
                }
            }
            if !all {
                by.push(kind.name());
            }
        }
        unsolved.push((name, by));
    }
    // Both ways: who solves all steps of a case leaves the list.
    assert!(
        UNSOLVED.iter().all(|u| unsolved.iter().any(|(name, _)| *name == u.0)),
        "the list names its cases"
    );
    for (name, by) in unsolved {
        let listed = UNSOLVED.iter().find(|u| u.0 == name).map_or(&[][..], |u| u.1);
        let by: Vec<&str> = by.into_iter().filter(|s| *s != "cond").collect();
        assert_eq!(by, listed, "{name}: those that leave a step unsolved");
    }
}

/// Claims to have solved what it spoils.
struct Liar(Spoil);

/// What it does to the answer.
type Spoil = fn(&mut Solution);

impl ContactSolver for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        let mut honest = stiction::solvers::exact::Exact::new(stiction::solvers::exact::Settings::stepping());
        let report = honest.solve(p, x, trace);
        assert_eq!(report.status, Status::Converged);
        (self.0)(x);
        report
    }
}

#[test]
fn steps_are_not_called_solved_because_their_solver_says_so() {
    let spoilt: [(&str, Spoil); 5] = [
        ("velocities that grow", |x| x.v.iter_mut().for_each(|v| *v += 1e30)),
        ("velocities that are no numbers", |x| x.v[0] = f64::NAN),
        ("forces that are infinite", |x| x.lambda[0].x = f64::INFINITY),
        ("forces that pull", |x| x.lambda.iter_mut().for_each(|l| l.x = -l.x.abs() - 1.0)),
        ("forces that are left out", |x| x.lambda.iter_mut().for_each(|l| *l = Vec3::ZERO)),
    ];
    for (what, spoil) in spoilt {
        let model = stack(1.0, 1.0).compile().expect("the scene compiles");
        let mut sim = Simulation::new(model, SimSettings::default()).with_solver(Box::new(Liar(spoil)));
        match sim.step(0.01) {
            Ok(r) => assert!(!r.status.is_solved(), "{what}: {:?}, {:?}", r.status, r.residuals),
            Err(StepError::NotFinite { .. }) => {}
            Err(e) => panic!("{what}: {e}"),
        }
    }
}

#[test]
fn scales_do_not_depend_on_answers() {
    let p = samples::heavy_stack(4);
    let mut yardstick = Yardstick::default();
    let scales = yardstick.free_scales(&p);
    assert!(scales.speed > 0.0 && scales.speed < 10.0 && scales.momentum.is_finite(), "{scales:?}");
    let mut x = cold(&p);
    x.v.iter_mut().for_each(|v| *v = 1e200);
    let r = yardstick.measure(&p, &x);
    assert!(!yardstick.bears_out(&p, &r, &x.v, true), "{r:?}");
    assert_eq!(yardstick.free_scales(&p), scales);
}
