//! A thousand random problems of one to six contacts on one to four bodies: every solver of Coulomb's law that claims to
//! be done satisfies the one yardstick, on the original problem; and where the answer is known to be unique (no
//! friction, or confirmed by enumeration) all move alike. An exact guess takes no iterations.

use crate::common::{Unsolved, brute, cold, distance, random_problem, speed};
use stiction::contact::{ContactProblem, LocalProblem, Solution, residual};
use stiction::linalg::Rng;
use stiction::linalg::Vec3;
use stiction::methods::{SolverKind, make};
use stiction::solvers::SolverSettings;
use stiction::solvers::exact::{self, Exact};
use stiction::solvers::pgs::Pgs;

const PROBLEMS: u64 = 1000;

fn coulomb_solvers() -> impl Iterator<Item = SolverKind> {
    SolverKind::ALL.into_iter().filter(|k| k.solves_coulomb())
}

fn problem(seed: u64) -> ContactProblem {
    let mut rng = Rng::new(seed ^ 0xA9EE);
    let (bodies, contacts) = (1 + seed as usize % 4, 1 + (seed / 4) as usize % 6);
    let mu = if seed.is_multiple_of(5) { 0.0 } else { rng.uniform() };
    random_problem(&mut rng, bodies, contacts, mu)
}

/// Velocities are unique without friction, and where enumeration finds one solution only.
fn is_unique(p: &ContactProblem) -> bool {
    let frictionless = p.law.iter().all(|l| l.round().mu() == 0.0);
    frictionless || (p.contacts() <= 2 && brute::solutions(&LocalProblem::from_problem(p)).len() == 1)
}

#[test]
fn whoever_claims_convergence_is_right() {
    let settings = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
    let mut unsolved = Unsolved::default();
    let mut unique_problems = 0;
    for seed in 0..PROBLEMS {
        let p = problem(seed);
        let scale = speed(&p);
        let unique = is_unique(&p);
        unique_problems += usize::from(unique);
        let mut first: Option<Vec<f64>> = None;
        for kind in coulomb_solvers() {
            let mut x = cold(&p);
            let report = make(kind, &settings).solve(&p, &mut x, &mut ());
            assert!(x.v.iter().all(|v| v.is_finite()), "problem {seed}, {}", kind.name());
            if !report.status.is_solved() {
                unsolved.note(kind.name(), seed);
                continue;
            }
            let m = residual::measure(&p, &x);
            // The solver judges by the block of the contact, the yardstick by diagonals: a small factor apart.
            assert!(m.natural <= 1e-7 * scale, "problem {seed}, {}: {m:?}", kind.name());
            assert!(m.momentum <= 1e-10 * scale, "problem {seed}, {}: {m:?}", kind.name());
            assert!(m.cone <= 1e-9, "problem {seed}, {}: {m:?}", kind.name());
            if unique {
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
    unsolved.is_at_most(&[("cond-e", 8), ("cr", 23), ("pgs", 8), ("realtime", 4)]);
    // A fifth have no friction; of the others with one or two contacts nearly all have one answer.
    assert!(unique_problems > 300, "{unique_problems} problems have one answer");
}

#[test]
fn an_exact_guess_needs_no_iterations() {
    for seed in 0..60 {
        let p = problem(seed);
        let mut x = cold(&p);
        let sharp = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
        make(SolverKind::Exact, &sharp).solve(&p, &mut x, &mut ());
        for kind in coulomb_solvers() {
            let mut again = x.clone();
            let settings = SolverSettings { tolerance: Some(1e-8), max_iterations: None };
            let report = make(kind, &settings).solve(&p, &mut again, &mut ());
            assert_eq!((report.iterations, report.factorizations), (0, 0), "problem {seed}, {}", kind.name());
            assert!(distance(&again.v, &x.v) <= 1e-8 * speed(&p));
        }
    }
}

#[test]
fn no_contacts_leave_the_free_velocity() {
    let p = random_problem(&mut Rng::new(1), 2, 0, 0.5);
    for kind in SolverKind::ALL {
        let mut x = Solution { v: vec![f64::NAN; p.dofs()], lambda: Vec::new() };
        let report = make(kind, &SolverSettings::default()).solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved() && report.iterations == 0, "{}", kind.name());
        assert!(residual::measure(&p, &x).momentum < 1e-12, "{}", kind.name());
    }
}

#[test]
fn wild_guesses_do_no_harm() {
    let p = problem(11);
    let settings = SolverSettings { tolerance: Some(1e-9), max_iterations: None };
    for kind in coulomb_solvers() {
        let mut x = cold(&p);
        x.lambda.iter_mut().for_each(|l| *l = Vec3::new(-1e6, 3e5, 1e4));
        let report = make(kind, &settings).solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved(), "{}: {report:?}", kind.name());
        assert!(residual::measure(&p, &x).natural <= 1e-7 * speed(&p), "{}", kind.name());
    }
}

#[test]
fn bare_problems_have_the_answers_of_their_bodies() {
    let settings = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
    let mut compared = 0;
    for seed in 0..200 {
        let p = problem(seed);
        let mut x = cold(&p);
        make(SolverKind::Exact, &settings).solve(&p, &mut x, &mut ());
        let local = LocalProblem::from_problem(&p);
        let (mut exact, mut pgs) = (cold(&p).lambda, cold(&p).lambda);
        let chain = exact::Settings::default().with(&settings);
        let reports = [
            Exact::new(chain).solve_local(&local, &mut exact, &mut ()),
            Pgs::new(&settings).solve_local(&local, &mut pgs, &mut ()),
        ];
        assert!(reports[0].status.is_solved(), "problem {seed}: {:?}", reports[0]);
        for (r, report) in [exact, pgs].into_iter().zip(reports) {
            if report.status.is_solved() && is_unique(&p) {
                compared += 1;
                let off = distance(&p.velocity_of(&r), &x.v);
                assert!(off <= 1e-6 * speed(&p), "problem {seed}: off by {off:e} m/s");
            }
        }
    }
    assert_eq!(compared, 194, "answers to problems that have one");
}
