//! Joints, stops and drives are rows beside the contacts. On random problems that mix both, every solver that claims to
//! be done satisfies the yardstick; without friction the problem is convex, has one motion, and all solvers find it.
//! Redundant equations (every row twice, a closed loop of hinges) change nothing but how the rows share the load, and
//! the exact solver needs no more than Newton for equations alone.

use crate::common;

use crate::common::{Unsolved, cold, distance, key, random_frame, random_problem, rigid, speed};
use stiction::contact::{Bounds, ContactProblem, Law, LocalProblem, Term, residual};
use stiction::linalg::Rng;
use stiction::linalg::{Mat3, Vec3};
use stiction::methods::{SolverKind, make};
use stiction::solvers::SolverSettings;
use stiction::solvers::exact::{self, Exact};

const INF: f64 = f64::INFINITY;

/// Adds `n` blocks of rows with random bounds. Standing still is allowed: equations have no bias, stops are open.
fn add_rows(p: &mut ContactProblem, rng: &mut Rng, bodies: usize, n: usize) {
    for _ in 0..n {
        let (a, b) = (rng.bits() as usize % bodies, rng.bits() as usize % (bodies + 1));
        let spin = rng.uniform() < 0.4;
        let mut term = |body: usize, sign: f64| {
            let (block, dof) = (body as u32, 6 * body as u32);
            if spin {
                Term::Spin { block, dof, length: 0.5 * sign }
            } else {
                rigid(body, sign, rng.normal3())
            }
        };
        let mut terms = vec![term(a, 1.0)];
        if b < bodies && b != a {
            terms.push(term(b, -1.0));
        }
        let mut frame = random_frame(rng).transpose();
        let (mut bounds, mut bias, mut softness) = (Bounds::EQUATIONS, Vec3::ZERO, Vec3::ZERO);
        for i in 0..3 {
            match rng.bits() % 6 {
                0 => {
                    bounds = bounds.with_row(i, 0.0, INF);
                    bias[i] = rng.range(0.0, 0.3);
                }
                1 => {
                    let limit = 10f64.powf(rng.range(-3.0, 1.0));
                    bounds = bounds.with_row(i, -limit, limit);
                    bias[i] = rng.normal();
                }
                2 => {
                    bounds = bounds.with_row(i, 0.0, 0.0);
                    *frame.col_mut(i) = Vec3::ZERO;
                }
                3 => {
                    softness[i] = 10f64.powf(rng.range(-3.0, 2.0));
                    bias[i] = rng.normal();
                }
                _ => {}
            }
        }
        p.j.push(frame.transpose(), terms);
        p.bias.push(bias);
        p.law.push(Law::Rows(bounds));
        p.softness.push(softness);
    }
}

fn problem(seed: u64, mu: f64) -> ContactProblem {
    let mut rng = Rng::new(seed ^ 0x70AD);
    let (bodies, contacts, rows) =
        (1 + seed as usize % 4, (seed / 4) as usize % 4, 1 + (seed / 16) as usize % 3);
    let mut p = random_problem(&mut rng, bodies, contacts, mu);
    add_rows(&mut p, &mut rng, bodies, rows);
    p
}

#[test]
fn whoever_claims_convergence_is_right_and_convex_problems_have_one_answer() {
    let settings = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
    let mut unsolved = Unsolved::default();
    for seed in 0..600 {
        let p = problem(seed, if seed % 2 == 0 { 0.0 } else { 0.6 });
        let scale = speed(&p);
        let mut first: Option<Vec<f64>> = None;
        for kind in SolverKind::ALL {
            if !kind.holds_rigidly() || (seed % 2 == 1 && !kind.solves_coulomb()) {
                continue;
            }
            let mut x = cold(&p);
            let report = make(kind, &settings).solve(&p, &mut x, &mut ());
            assert!(x.v.iter().all(|v| v.is_finite()), "problem {seed}, {}", kind.name());
            if !report.status.is_solved() {
                unsolved.note(kind.name(), seed);
                continue;
            }
            let m = residual::measure(&p, &x);
            assert!(m.natural <= 1e-7 * scale, "problem {seed}, {}: {m:?}", kind.name());
            assert!(m.momentum <= 1e-9 * scale, "problem {seed}, {}: {m:?}", kind.name());
            assert!(m.cone <= 1e-8, "problem {seed}, {}: {m:?}", kind.name());
            if seed % 2 == 0 {
                match &first {
                    None => first = Some(x.v),
                    Some(v) => {
                        let off = distance(v, &x.v);
                        assert!(off <= 1e-6 * scale, "problem {seed}, {}: off by {off:e} m/s", kind.name());
                    }
                }
            }
        }
    }
    unsolved.is_at_most(&[("apgd", 1), ("cond-e", 15), ("cr", 14), ("pgs", 18), ("realtime", 5)]);
}

#[test]
fn the_long_way_of_the_chain_knows_rows_too() {
    // No sweeps and no Newton before the interior point: stage 2 alone.
    let settings =
        exact::Settings { first_sweeps: 0, second_sweeps: 0, newton_size: 0, ..Default::default() };
    for seed in 0..200 {
        let p = problem(seed, if seed % 2 == 0 { 0.0 } else { 0.6 });
        let local = LocalProblem::from_problem(&p);
        let mut r = cold(&p).lambda;
        let report = Exact::new(settings).solve_local(&local, &mut r, &mut ());
        assert!(report.status.is_solved(), "problem {seed}: {report:?}");
    }
}

#[test]
fn equations_stated_twice_move_alike() {
    let settings = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut p = random_problem(&mut rng, 3, 1, 0.4);
        add_rows(&mut p, &mut rng, 3, 2);
        let twice = common::duplicate(&ContactProblem { key: (0..3).map(key).collect(), ..p.clone() }, 2);
        let (mut x, mut y) = (cold(&p), cold(&twice));
        let once = make(SolverKind::Exact, &settings).solve(&p, &mut x, &mut ());
        // A limit or a softness stated twice is another limit: compare equations and stops only.
        let same = p.law.iter().zip(&p.softness).all(|(l, s)| match l {
            Law::Rows(b) => {
                *s == Vec3::ZERO && (b.hi - b.lo).to_array().iter().all(|w| *w == 0.0 || *w == INF)
            }
            Law::Contact(_) => true,
        });
        let both = make(SolverKind::Exact, &settings).solve(&twice, &mut y, &mut ());
        assert!(once.status.is_solved() && both.status.is_solved(), "problem {seed}: {once:?} {both:?}");
        if same {
            let off = distance(&x.v, &y.v);
            assert!(off < 1e-6 * speed(&p), "problem {seed}: off by {off:e} m/s");
        }
    }
}

#[test]
fn a_loop_of_hinges_is_solved_by_newton_alone() {
    // Six links in a ring, all axes parallel: 30 equations, six of which say nothing new or contradict nothing.
    let n = 6;
    let mut rng = Rng::new(5);
    let mut p = random_problem(&mut rng, n, 0, 0.0);
    let at = |k: usize| {
        let a = std::f64::consts::TAU * k as f64 / n as f64;
        Vec3::new(a.cos(), a.sin(), 0.0)
    };
    let centre = |k: usize| 0.5 * (at(k) + at(k + 1));
    for k in 0..n {
        let next = (k + 1) % n;
        let anchor = at(k + 1);
        let terms = [rigid(k, 1.0, anchor - centre(k)), rigid(next, -1.0, anchor - centre(next))];
        p.j.push(Mat3::IDENTITY, terms);
        p.law.push(Law::Rows(Bounds::EQUATIONS));
        let spin = |b: usize, length: f64| Term::Spin { block: b as u32, dof: 6 * b as u32, length };
        p.j.push(Mat3::from_diagonal(Vec3::new(1.0, 1.0, 0.0)), [spin(k, 0.3), spin(next, -0.3)]);
        p.law.push(Law::Rows(Bounds::EQUATIONS.with_row(2, 0.0, 0.0)));
    }
    p.bias.resize(2 * n, Vec3::ZERO);
    p.softness.resize(2 * n, Vec3::ZERO);
    let mut x = cold(&p);
    let report = make(SolverKind::Exact, &SolverSettings::default()).solve(&p, &mut x, &mut ());
    assert!(report.status.is_solved() && report.factorizations <= 12, "{report:?}");
    let m = residual::measure(&p, &x);
    assert!(m.natural < 1e-8 * speed(&p) && m.momentum < 1e-9, "{m:?}");
}
