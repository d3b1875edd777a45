//! An independent conic solver (interior point) confirms the convex cases: the optimum of the relaxation that the
//! projected gradient finds, and Coulomb's law itself without friction, where the relaxation is exact. Impulses of
//! redundant contacts are not unique, but contact velocities and the objective are.

use crate::common::{cold, random_problem};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT,
};
use stiction::contact::samples;
use stiction::contact::{ContactProblem, LocalProblem};
use stiction::linalg::Rng;
use stiction::linalg::Vec3;
use stiction::methods::{SolverKind, make};
use stiction::papers::apgd::Apgd;
use stiction::solvers::pgs::Pgs;
use stiction::solvers::{SolverSettings, Status};

/// argmin ½rᵀWr + qᵀr over the friction cones (r_n ≥ 0, r_t = 0 where μ = 0), by clarabel: one answer for each of
/// several tolerances, because how sharp a one is within its reach differs from problem to problem.
fn reference(p: &LocalProblem) -> [Vec<Vec3>; 5] {
    let n = p.contacts();
    // r = x/scale, so that the quadratic form has entries around one.
    let scale = (0..n).map(|c| p.get(c, c).x_axis.x).sum::<f64>() / n as f64;
    let frictionless = p.law.iter().all(|l| l.mu() == 0.0);
    let per = if frictionless { 1 } else { 3 };
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    for c in 0..n {
        for d in 0..n {
            let w = p.get(c, d);
            for i in 0..per {
                for j in 0..per {
                    let (row, col) = (per * c + i, per * d + j);
                    if row <= col {
                        rows.push(row);
                        cols.push(col);
                        values.push(w.col(j)[i] / scale);
                    }
                }
            }
        }
    }
    let quadratic = CscMatrix::new_from_triplets(per * n, per * n, rows, cols, values);
    let linear: Vec<f64> = p.q.iter().flat_map(|q| q.to_array().into_iter().take(per)).collect();
    // s = (μ r_n, r_t) in the second-order cone, or s = r_n ≥ 0.
    let factor = |k: usize| if !frictionless && k.is_multiple_of(3) { -p.law[k / 3].mu() } else { -1.0 };
    let all: Vec<usize> = (0..per * n).collect();
    let constraint =
        CscMatrix::new_from_triplets(per * n, per * n, all.clone(), all, (0..per * n).map(factor).collect());
    let cones: Vec<SupportedConeT<f64>> =
        if frictionless { vec![NonnegativeConeT(n)] } else { vec![SecondOrderConeT(3); n] };
    let zero = vec![0.0; per * n];
    let solve = |tolerance: f64| {
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: tolerance,
            tol_gap_rel: tolerance,
            tol_feas: 100.0 * tolerance,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&quadratic, &linear, &constraint, &zero, &cones, settings)
            .expect("a well-formed conic problem");
        solver.solve();
        let x = &solver.solution.x;
        let at = |c: usize| if per == 1 { Vec3::new(x[c], 0.0, 0.0) } else { Vec3::from_slice(&x[3 * c..]) };
        (0..n).map(|c| p.law[c].project(at(c) / scale)).collect::<Vec<_>>()
    };
    [1e-15, 1e-14, 1e-13, 1e-12, 1e-10].map(solve)
}

/// By how much velocities differ from the nearest of the reference answers [m/s].
fn distance(p: &LocalProblem, u: &[Vec3], reference: &[Vec<Vec3>]) -> f64 {
    let off =
        |r: &Vec<Vec3>| velocities(p, r).iter().zip(u).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
    reference.iter().map(off).fold(f64::INFINITY, f64::min)
}

fn velocities(p: &LocalProblem, r: &[Vec3]) -> Vec<Vec3> {
    let n = p.contacts();
    (0..n).map(|c| p.q[c] + (0..n).map(|d| p.get(c, d) * r[d]).sum::<Vec3>()).collect()
}

/// ½rᵀWr + qᵀr.
fn objective(p: &LocalProblem, r: &[Vec3]) -> f64 {
    velocities(p, r).iter().zip(&p.q).zip(r).map(|((u, q), r)| 0.5 * (*u + *q).dot(*r)).sum()
}

fn free_speed(p: &LocalProblem) -> f64 {
    p.q.iter().map(|q| q.length()).fold(1e-300, f64::max)
}

fn problems(frictionless: bool) -> Vec<ContactProblem> {
    let mut all = Vec::new();
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mu = if frictionless { 0.0 } else { rng.range(0.05, 1.0) };
        all.push(random_problem(&mut rng, 1 + seed as usize % 4, 1 + seed as usize % 6, mu));
    }
    let mu = if frictionless { 0.0 } else { 0.6 };
    all.extend((0..3).map(|seed| samples::wall(2, 2, mu, seed)));
    all.push(samples::wall(3, 3, mu, 9));
    all
}

const SHARP: SolverSettings = SolverSettings { tolerance: Some(1e-10), max_iterations: Some(200_000) };

#[test]
fn projected_gradient_finds_the_optimum_of_the_relaxation() {
    for (k, p) in problems(false).iter().enumerate() {
        let local = LocalProblem::from_problem(p);
        let best = reference(&local);
        let mut r = vec![Vec3::ZERO; local.contacts()];
        let report = Apgd::new(&SHARP).solve_local(&local, &mut r, &mut ());
        assert_eq!(report.status, Status::Converged, "problem {k}: {report:?}");
        let lowest = best.iter().map(|r| objective(&local, r)).fold(f64::INFINITY, f64::min);
        let found = objective(&local, &r);
        let energy: f64 = (0..r.len()).map(|c| local.q[c].length_squared() / local.get(c, c).x_axis.x).sum();
        assert!((found - lowest).abs() <= 1e-9 * energy, "problem {k}: {found:e} {lowest:e}");
        let off = distance(&local, &velocities(&local, &r), &best);
        assert!(off < 1e-6 * free_speed(&local), "problem {k}: off by {off:e} m/s");
    }
}

#[test]
fn without_friction_every_solver_is_the_convex_one() {
    for (k, p) in problems(true).iter().enumerate() {
        let local = LocalProblem::from_problem(p);
        let best = reference(&local);
        for kind in SolverKind::ALL.into_iter().filter(|k| k.holds_rigidly()) {
            let mut x = cold(p);
            let report = make(kind, &SHARP).solve(p, &mut x, &mut ());
            assert!(report.status.is_solved(), "problem {k}, {}: {report:?}", kind.name());
            let u: Vec<Vec3> = (0..p.contacts()).map(|c| p.j.mul_one(c, &x.v) + p.bias[c]).collect();
            let off = distance(&local, &u, &best);
            assert!(off < 1e-6 * free_speed(&local), "problem {k}, {}: off by {off:e} m/s", kind.name());
        }
    }
}

#[test]
fn a_sliding_contact_tells_the_relaxation_from_the_law() {
    // A box that slides down an incline: the law keeps it on the plane, the relaxation lifts it with u_n = μ|u_t|.
    let mu = 0.5;
    let p = samples::incline(1.2 * f64::atan(mu), mu);
    let local = LocalProblem::from_problem(&p);
    let (mut law, mut relaxed) = (vec![Vec3::ZERO; 4], vec![Vec3::ZERO; 4]);
    let exact = Pgs::new(&SHARP).solve_local(&local, &mut law, &mut ());
    let convex = Apgd::new(&SHARP).solve_local(&local, &mut relaxed, &mut ());
    assert_eq!((exact.status, convex.status), (Status::Converged, Status::Converged));
    assert!(exact.velocity <= 1e-10 && convex.velocity > 1e-3, "the true measure tells them apart");
    for (u, v) in velocities(&local, &law).iter().zip(velocities(&local, &relaxed)) {
        assert!(u.x.abs() < 1e-10 && u.y.hypot(u.z) > 1e-3);
        assert!((v.x - mu * v.y.hypot(v.z)).abs() < 1e-9 && v.x > 1e-4);
    }
}
