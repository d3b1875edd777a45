//! On problems of one to three contacts all solutions are found by trying every combination of open, stick and slip.
//! Whatever a solver of Coulomb's law claims to have solved is one of them; where there is only one, all solvers find
//! it, and a problem whose contacts are all written four times has the same motion.

use crate::common::{Unsolved, brute, cold, distance, duplicate, random_problem, speed};
use stiction::contact::{ContactProblem, LocalProblem, Solution};
use stiction::linalg::Rng;
use stiction::linalg::Vec3;
use stiction::methods::{SolverKind, make};
use stiction::solvers::SolverSettings;

fn coulomb_solvers() -> impl Iterator<Item = SolverKind> {
    SolverKind::ALL.into_iter().filter(|k| k.solves_coulomb())
}

/// Answers of all solvers of Coulomb's law that claim to have solved `p`.
fn answers(p: &ContactProblem) -> Vec<(SolverKind, Solution)> {
    let settings = SolverSettings { tolerance: Some(1e-10), max_iterations: None };
    let solve = |kind: SolverKind| {
        let mut x = cold(p);
        make(kind, &settings).solve(p, &mut x, &mut ()).status.is_solved().then_some((kind, x))
    };
    coulomb_solvers().filter_map(solve).collect()
}

fn contact_velocities(p: &ContactProblem, x: &Solution) -> Vec<Vec3> {
    (0..p.contacts()).map(|c| p.j.mul_one(c, &x.v) + p.bias[c]).collect()
}

/// A problem whose W is regular, as enumeration needs it: at most two contacts per body.
fn small_problem(seed: u64) -> ContactProblem {
    let mut rng = Rng::new(seed);
    let contacts = 1 + seed as usize % 3;
    let mu = [0.0, 0.2, 0.5, 0.8, 1.0][seed as usize / 3 % 5];
    random_problem(&mut rng, 1 + contacts / 2, contacts, mu)
}

/// Problems of the 300 that have more than one solution: friction can make them.
const SEVERAL: usize = 3;

#[test]
fn every_answer_is_one_of_the_enumerated_solutions() {
    let (mut unsolved, mut several) = (Unsolved::default(), 0);
    for seed in 0..300 {
        let p = small_problem(seed);
        let all = brute::solutions(&LocalProblem::from_problem(&p));
        assert!(!all.is_empty(), "problem {seed}: a solution exists");
        several += usize::from(all.len() > 1);
        let answers = answers(&p);
        for (kind, x) in &answers {
            let u = contact_velocities(&p, x);
            let off = |w: &Vec<Vec3>| u.iter().zip(w).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
            let nearest = all.iter().map(off).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-7 * speed(&p), "problem {seed}, {}: off by {nearest:e} m/s", kind.name());
        }
        for kind in coulomb_solvers().filter(|k| answers.iter().all(|a| a.0 != *k)) {
            unsolved.note(kind.name(), seed);
        }
    }
    unsolved.is_at_most(&[("cond-e", 2), ("cr", 1), ("pgs", 2), ("realtime", 1)]);
    assert_eq!(several, SEVERAL, "of 300 problems");
}

#[test]
fn four_copies_of_each_contact_move_alike() {
    let mut unsolved = Unsolved::default();
    for seed in 0..150 {
        let p = small_problem(seed);
        if brute::solutions(&LocalProblem::from_problem(&p)).len() != 1 {
            continue;
        }
        let once = answers(&p);
        let all = answers(&duplicate(&p, 4));
        for kind in coulomb_solvers().filter(|k| all.iter().all(|a| a.0 != *k)) {
            unsolved.note(kind.name(), seed);
        }
        for (kind, x) in all {
            let off = distance(&x.v, &once[0].1.v);
            assert!(off < 1e-6 * speed(&p), "problem {seed}, {}: off by {off:e}", kind.name());
            // The four share what one carried.
            for c in 0..p.contacts() {
                let sum: Vec3 = x.lambda[4 * c..4 * c + 4].iter().sum();
                let one = once[0].1.lambda[c];
                let largest = once[0].1.lambda.iter().map(|l| l.length()).fold(1e-9, f64::max);
                assert!(
                    (sum - one).length() < 1e-5 * largest,
                    "problem {seed}, {}: {sum} {one}",
                    kind.name()
                );
            }
        }
    }
    unsolved.is_at_most(&[("cr", 3)]);
}
