//! `exact` solves the hard problems of rigid contact from a cold start, each to a natural map of 1e-8 m/s and a
//! momentum error of 1e-8: inclines about the friction angle, mass ratios of 4096 under load, an arch, 200 random
//! walls, large walls, duplicates, friction from 0 to 10. What has no solution is named as such.

use stiction::Vec3;
use stiction::contact::samples::{self, Assembly};
use stiction::contact::{ContactProblem, Friction, Solution, residual};
use stiction::solvers::exact::{Exact, Settings};
use stiction::solvers::{ContactSolver, SolveReport, Status};

fn cold(p: &ContactProblem) -> Solution {
    Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] }
}

fn solve(p: &ContactProblem, x: &mut Solution) -> SolveReport {
    Exact::new(Settings::default()).solve(p, x, &mut ())
}

/// Solves from zero and insists on 1e-8 in both measures.
fn must_solve(name: &str, p: &ContactProblem) -> (SolveReport, Solution) {
    let mut x = cold(p);
    let report = solve(p, &mut x);
    assert!(report.status.is_solved(), "{name}: {report:?}");
    let res = residual::measure(p, &x);
    assert!(res.natural <= 1e-8 && res.momentum <= 1e-8, "{name}: {res:?} after {report:?}");
    (report, x)
}

fn corners(z: f64) -> [Vec3; 4] {
    [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(x, y)| Vec3::new(x, y, z))
}

#[test]
fn inclines_stick_below_the_friction_angle_and_slide_above() {
    let mu = 0.5_f64;
    for (share, slides) in [(0.5, false), (0.95, false), (1.02, true), (1.2, true)] {
        let angle = share * mu.atan();
        let (_, x) = must_solve("incline", &samples::incline(angle, mu));
        let expected = samples::TIME_STEP * samples::GRAVITY * (angle.sin() - mu * angle.cos()).max(0.0);
        let speed = Vec3::from_slice(&x.v).length();
        assert!((speed - expected).abs() < 1e-9, "{share}: {speed} against {expected}");
        assert_eq!(speed > 1e-6, slides);
    }
    // Exactly at the limit every answer between is right; it must still end.
    must_solve("at the angle", &samples::incline(mu.atan(), mu));
}

#[test]
fn the_heavy_stack_carries_its_weight() {
    let p = samples::heavy_stack(5);
    let (_, x) = must_solve("stack", &p);
    let weight: f64 = (1..=5).map(|i| 8f64.powi(i) * samples::GRAVITY).sum();
    let floor: f64 = (0..4).map(|c| x.lambda[c].x * p.force_per_lambda).sum();
    assert!((floor / weight - 1.0).abs() < 1e-10, "{floor} N against {weight} N");
}

#[test]
fn the_arch_stands() {
    let (_, x) = must_solve("arch", &samples::arch(10, 0.6));
    assert!(x.v.iter().all(|v| v.abs() < 1e-7), "no block moves");
}

#[test]
fn two_hundred_random_walls_all_solve_from_a_cold_start() {
    let mut factorizations = Vec::new();
    for seed in 0..200 {
        let mu = [0.3, 0.6, 0.9][seed as usize % 3];
        let (report, _) = must_solve(&format!("wall {seed}"), &samples::wall(3, 3, mu, seed));
        factorizations.push(report.factorizations);
    }
    factorizations.sort_unstable();
    assert!(factorizations[100] <= 3, "median factorisations: {}", factorizations[100]);
}

#[test]
fn large_walls_solve() {
    for seed in 0..6 {
        let mu = [0.3, 0.6, 0.9][seed as usize % 3];
        must_solve(&format!("5 × 5 wall {seed}"), &samples::wall(5, 5, mu, seed));
    }
    for seed in [0, 1, 2] {
        let mu = [0.3, 0.6, 0.9][seed as usize % 3];
        must_solve(&format!("10 × 10 wall {seed}"), &samples::wall(10, 10, mu, seed));
    }
}

#[test]
fn duplicate_contacts_change_nothing_but_the_split_of_forces() {
    let once = samples::wall(3, 3, 0.6, 5);
    let (_, a) = must_solve("once", &once);
    let (_, b) = must_solve("four times", &samples::duplicated(&once, 4));
    for (v, w) in a.v.iter().zip(&b.v) {
        assert!((v - w).abs() < 1e-7, "{v} against {w}");
    }
    must_solve("stack, four times", &samples::duplicated(&samples::heavy_stack(5), 4));
}

#[test]
fn any_friction_is_ordinary_input() {
    for mu in [0.0, 1e-6, 0.01, 1.0, 2.0, 5.0, 10.0] {
        for seed in 0..6 {
            must_solve(&format!("mu {mu}, wall {seed}"), &samples::wall(3, 3, mu, seed));
        }
    }
    let mut p = samples::wall(3, 3, 0.6, 1);
    p.law.fill(Friction::Elliptic(0.2, 0.8).into());
    must_solve("elliptic", &p);
}

#[test]
fn a_million_to_one_is_solved_or_at_the_floor() {
    for exponent in [3, 4, 6] {
        let mut a = Assembly::new(Vec3::new(0.0, 0.0, -samples::GRAVITY));
        let light = a.add_box(Vec3::new(0.0, 0.0, 0.5), Vec3::splat(0.5), 1.0);
        let heavy = a.add_box(Vec3::new(0.0, 0.0, 1.5), Vec3::splat(0.5), 10f64.powi(exponent));
        a.touch(light, None, Vec3::Z, &corners(0.0), 0.5);
        a.touch(heavy, Some(light), Vec3::Z, &corners(1.0), 0.5);
        must_solve(&format!("ratio 1e{exponent}"), &a.problem());
    }
}

#[test]
fn an_empty_problem_is_free_motion() {
    let p = Assembly::new(Vec3::ZERO).problem();
    let mut x = cold(&p);
    assert_eq!(solve(&p, &mut x).status, Status::Converged);
}

/// A box between two walls that close in at 1 m/s each; at rest the same walls are no trouble.
#[test]
fn a_body_between_closing_walls_is_infeasible() {
    let mut a = Assembly::new(Vec3::new(0.0, 0.0, -samples::GRAVITY));
    let body = a.add_box(Vec3::new(0.0, 0.0, 0.5), Vec3::splat(0.5), 1.0);
    let face = [(-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0)];
    a.touch(body, None, Vec3::X, &face.map(|(y, z)| Vec3::new(-0.5, y, z)), 0.5);
    a.touch(body, None, -Vec3::X, &face.map(|(y, z)| Vec3::new(0.5, y, z)), 0.5);
    let mut p = a.problem();
    p.bias.iter_mut().for_each(|b| b.x = -1.0);
    let mut x = cold(&p);
    match solve(&p, &mut x).status {
        Status::Infeasible(contacts) => {
            assert!(contacts.iter().any(|&c| c < 4) && contacts.iter().any(|&c| c >= 4), "{contacts:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(x.v.iter().all(|v| v.is_finite()));
    p.bias.iter_mut().for_each(|b| b.x = 0.0);
    must_solve("standing walls", &p);
}

#[test]
fn a_solution_as_guess_costs_nothing_and_a_near_one_a_few_factorisations() {
    let mut total = 0;
    for seed in 0..10 {
        let p = samples::wall(3, 3, 0.6, seed);
        let (_, mut x) = must_solve("cold", &p);
        let again = solve(&p, &mut x);
        assert_eq!((again.iterations, again.factorizations), (0, 0));
        let mut near = p.clone();
        near.b.iter_mut().for_each(|b| *b *= 1.0 + 1e-4);
        let report = solve(&near, &mut x);
        assert!(report.status.is_solved());
        total += report.factorizations;
    }
    assert!(total <= 50, "a warm start takes about 3 factorisations, not {}", total as f64 / 10.0);
}

#[test]
fn masses_scale_out() {
    // The same wall a billion times lighter or 1e5 times heavier: same sweeps, same factorisations, same velocities.
    let p = samples::wall(3, 3, 0.6, 7);
    let (base, x) = must_solve("base", &p);
    for factor in [2f64.powi(-30), 2f64.powi(17)] {
        let mut q = p.clone();
        q.b.iter_mut().for_each(|b| *b *= factor);
        for i in 0..q.a.block_rows() {
            q.a.diagonal_block_mut(i).iter_mut().for_each(|a| *a *= factor);
        }
        let mut y = cold(&q);
        let report = solve(&q, &mut y);
        assert_eq!((report.iterations, report.factorizations), (base.iterations, base.factorizations));
        for (v, w) in x.v.iter().zip(&y.v) {
            assert!((v - w).abs() < 1e-9);
        }
    }
}

/// What comes late in a large island is solved around it: the answer is as good as that of a solve of the whole, and what
/// is far away stays as it was, to the bit.
#[test]
fn a_late_contact_moves_what_is_near_and_nothing_else() {
    let mut p = samples::wall_with_speed(3, 60, 0.6, 0.0, 5);
    let mut solver = Exact::new(Settings { newton_size: 60, ..Settings::realtime() });
    let mut x = cold(&p);
    let before = solver.solve(&p, &mut x, &mut ());
    let old = x.clone();
    let late = p.contacts() - 1;
    p.bias[late].x -= 0.2;
    let hurt = residual::measure(&p, &x).natural;
    solver.solve_again(&p, &mut x, &[late as u32], &before, &mut ());
    let mut whole = old.clone();
    solver.solve(&p, &mut whole, &mut ());
    let (near, all) = (residual::measure(&p, &x), residual::measure(&p, &whole));
    assert!(near.momentum <= 1e-10, "velocities do not belong to the impulses: {near:?}");
    assert!(hurt > 0.1, "{hurt}");
    assert!(near.natural <= 1.1 * all.natural, "{near:?}, the whole: {all:?}");
    // The left half of the bottom row.
    assert_eq!(x.lambda[..100], old.lambda[..100]);
    assert_ne!(x.lambda, old.lambda);
}
