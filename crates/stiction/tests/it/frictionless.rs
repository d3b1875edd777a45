//! Contacts without friction push and never pull, and tangents feel nothing. A cube on such a floor that is pulled up
//! with 3 g leaves with 2 g; two equal balls that meet head-on leave with e times their speeds; friction of zero on
//! one side and of 1e-9 give the same motion; linear complementarity problems have the answer that trying every set of
//! closed contacts finds.

use crate::common;

use crate::common::{Dense, cold, random_problem, speed};
use crate::stage::{G, cube, floor, head_on, start_with, velocity};
use stiction::contact::law::coulomb::solve_one;
use stiction::contact::{ContactProblem, LocalProblem, Solution};
use stiction::linalg::{Mat3, Rng};
use stiction::methods::make;
use stiction::scene::Force;
use stiction::solvers::SolverSettings;
use stiction::{Scene, Scheme, Simulation, SolverKind, Vec3};

const SCHEMES: [Scheme; 2] = [Scheme::ImplicitEuler, Scheme::Midpoint];

fn coulomb_solvers() -> impl Iterator<Item = SolverKind> {
    SolverKind::ALL.into_iter().filter(|k| k.solves_coulomb())
}

/// Takes steps of `h`. All must be solved, but those of `cond`, which never says so of a step with contacts, and of `ccs`, which ends some
/// in `budget` with 1e-6 m/s left.
fn go(sim: &mut Simulation, kind: SolverKind, h: f64, steps: usize) {
    for _ in 0..steps {
        let report = sim.step(h).expect("the state stays finite");
        let solved = report.status.is_solved() || matches!(kind, SolverKind::Cond | SolverKind::Ccs);
        assert!(solved, "{}, step {}: {:?}, {:?}", kind.name(), report.step, report.status, report.residuals);
    }
}

/// Speed by which an answer may be off [m/s]: contacts of `cond` give way by their impulse over the gain of its virtual
/// nodes, and `ccs` agrees with the dynamics to its tolerance.
fn slack(kind: SolverKind, rigid: f64) -> f64 {
    match kind {
        SolverKind::Cond => 1e-4,
        SolverKind::Ccs => 1e-5,
        _ => rigid,
    }
}

/// All methods that step, with both schemes where they have them.
fn steppers() -> impl Iterator<Item = (SolverKind, Scheme)> {
    SolverKind::STEPPING.into_iter().flat_map(|k| SCHEMES.map(|s| (k, s)))
}

/// A cube on a floor, pulled up.
fn pulled(floor_mu: f64, cube_mu: f64, gs: f64) -> Scene {
    let mut scene = floor(floor_mu);
    scene.bodies.push(cube("it", 0.1, cube_mu));
    scene.forces.push(Force {
        target: "it".into(),
        force: Vec3::Z * (gs * G),
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    });
    scene
}

#[test]
fn a_cube_that_is_pulled_leaves() {
    let h = 0.01;
    for (a, b) in [(0.0, 0.0), (0.0, 0.7), (1e-9, 1e-9), (0.7, 0.7)] {
        for (kind, scheme) in steppers() {
            let mut sim = start_with(&pulled(a, b, 3.0), scheme, kind);
            go(&mut sim, kind, h, 20);
            let (up, expected) = (velocity(&sim, "it").z, 2.0 * G * 20.0 * h);
            let case = format!("{}, {}, μ {a} on {b}", kind.name(), scheme.name());
            assert!((up / expected - 1.0).abs() < 1e-9, "{case}: {up} m/s");
        }
    }
}

#[test]
fn a_cube_that_is_pulled_too_little_stays() {
    for (kind, scheme) in steppers() {
        let mut sim = start_with(&pulled(0.0, 0.0, 0.9), scheme, kind);
        go(&mut sim, kind, 0.01, 20);
        let v = velocity(&sim, "it").length();
        // Penalty contacts are springs: it sinks until they carry it, no faster than it would fall.
        let most = if kind == SolverKind::Penalty { 0.1 * G * 0.2 } else { slack(kind, 1e-6) };
        assert!(v < most, "{}, {}: {v} m/s", kind.name(), scheme.name());
    }
}

#[test]
fn balls_that_meet_head_on_leave_with_e_times_their_speed() {
    for e in [0.0, 0.25, 0.5, 0.75, 1.0] {
        for mu in [0.0, 1e-9, 0.5] {
            // Penalty contacts have damping instead of restitution, and the non-linear step has neither.
            let lacks = |k| k == SolverKind::Penalty || k == SolverKind::NonlinearNewton && e > 0.0;
            for (kind, scheme) in steppers().filter(|(k, _)| !lacks(*k)) {
                let mut sim = start_with(&head_on(mu, e), scheme, kind);
                go(&mut sim, kind, 0.01, 6);
                for (name, side) in [("left", -1.0), ("right", 1.0)] {
                    let off = (velocity(&sim, name) - Vec3::X * (side * e)).length();
                    let case = format!("{}, {}, μ {mu}, e {e}", kind.name(), scheme.name());
                    // `cond` ends by the change of its velocities, and leaves a part of the impulse out.
                    let most = if kind == SolverKind::Cond { 3e-2 } else { slack(kind, 1e-8) };
                    assert!(off < most, "{case}, {name}: off by {off} m/s");
                }
            }
        }
    }
}

/// A frictionless problem of one to six contacts: some of them twice, some with no velocity at all.
fn small_problem(seed: u64) -> ContactProblem {
    let mut rng = Rng::new(seed);
    let twice = seed.is_multiple_of(4);
    let contacts = 1 + seed as usize % if twice { 3 } else { 6 };
    let bodies = 1 + rng.bits() as usize % 3;
    let mut p = random_problem(&mut rng, bodies, contacts, 0.0);
    if twice {
        p = common::duplicate(&p, 2);
    }
    if seed.is_multiple_of(7) {
        p.b.fill(0.0);
    }
    if seed.is_multiple_of(5) {
        p.bias.fill(Vec3::ZERO);
    }
    p
}

/// Normal velocities of 0 ≤ λ ⊥ W λ + q ≥ 0, by trying every set of closed contacts; W is that of the normal rows.
/// They are unique, whatever λ is. Sets with dependent rows are left out: a smaller one has the same velocities.
fn enumerate(p: &ContactProblem) -> Vec<f64> {
    let local = LocalProblem::from_problem(p);
    let n = local.contacts();
    let w = |i: usize, j: usize| local.get(i, j).x_axis.x;
    let q: Vec<f64> = local.q.iter().map(|q| q.x).collect();
    let slack = 1e-9 * speed(p);
    for code in 0..1usize << n {
        let closed: Vec<usize> = (0..n).filter(|c| code >> c & 1 == 1).collect();
        let m = closed.len();
        let mut g = Dense::new(m, m);
        for (r, &i) in closed.iter().enumerate() {
            for (c, &j) in closed.iter().enumerate() {
                *g.at_mut(r, c) = w(i, j);
            }
        }
        let b: Vec<f64> = closed.iter().map(|&i| -q[i]).collect();
        let Some(lambda) = g.solve(&b) else { continue };
        let u = |i: usize| q[i] + closed.iter().zip(&lambda).map(|(&j, l)| w(i, j) * l).sum::<f64>();
        let pushes = closed.iter().zip(&lambda).all(|(&i, l)| *l * w(i, i) >= -slack);
        if pushes && (0..n).all(|i| u(i) >= -slack) {
            return (0..n).map(u).collect();
        }
    }
    panic!("a problem that standing still satisfies has a solution")
}

/// How far the answer is from the enumerated one [of the problem's speed].
fn distance(p: &ContactProblem, x: &Solution, expected: &[f64]) -> f64 {
    let w = LocalProblem::from_problem(p);
    let mut worst = 0.0_f64;
    for (c, l) in x.lambda.iter().enumerate() {
        let u = (p.j.mul_one(c, &x.v) + p.bias[c]).x;
        let size = w.get(c, c).x_axis.x;
        // Velocities, impulses that push, and either of both: in velocities, by the contact's own W.
        worst = worst.max((u - expected[c]).abs()).max(-l.x * size).max((l.x * size).min(u));
        worst = worst.max(size * (l.y * l.y + l.z * l.z).sqrt());
    }
    worst / speed(p)
}

#[test]
fn complementarity_problems_have_the_enumerated_answer() {
    let settings = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
    let mut answers = std::collections::BTreeMap::new();
    for seed in 0..10_000 {
        let p = small_problem(seed);
        let expected = enumerate(&p);
        // All by the default solver, every tenth by the others.
        for kind in coulomb_solvers().filter(|k| *k == SolverKind::Exact || seed % 10 == 0) {
            let mut x = cold(&p);
            let report = make(kind, &settings).solve(&p, &mut x, &mut ());
            let (solved, asked) = answers.entry(kind.name()).or_insert((0, 0));
            *asked += 1;
            if report.status.is_solved() {
                *solved += 1;
                let off = distance(&p, &x, &expected);
                assert!(off < 1e-7, "problem {seed}, {}: off by {off:e}", kind.name());
            }
        }
    }
    for (name, (solved, asked)) in &answers {
        assert_eq!(solved, asked, "{name} solves all");
    }
}

#[test]
fn one_contact_without_friction_has_one_row() {
    // λ_n = max(0, −k_n/W_nn), whatever the tangents do; μ that are no more than rounding push tangents by no more.
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let b = Mat3::from_cols(rng.normal3(), rng.normal3(), rng.normal3());
        let w = b * b.transpose() + 0.01 * Mat3::IDENTITY;
        let mut k = rng.normal3();
        match seed % 5 {
            0 => (k.y, k.z) = (0.0, 0.0),
            1 => k.x = 0.0,
            2 => k *= 1e-30,
            _ => {}
        }
        let expected = (-k.x / w.x_axis.x).max(0.0);
        for mu in [0.0, f64::from_bits(1), 1e-310, f64::MIN_POSITIVE, 1e-160] {
            let r = solve_one(&w, k, mu, &mut 0.0);
            assert!(
                (r.x - expected).abs() <= 1e-14 * expected,
                "problem {seed}, μ {mu:e}: {:e}, not {expected:e}",
                r.x
            );
            let most = mu * expected * (1.0 + 1e-14);
            assert!(
                r.y.abs() <= most && r.z.abs() <= most,
                "problem {seed}, μ {mu:e}: {:e} {:e} beyond {most:e}",
                r.y,
                r.z
            );
        }
    }
}
