//! Particles whose answers are known, and what goes wrong with the printed forms.

use super::*;
use crate::contact::samples;
use crate::contact::{Friction, Residuals, residual};
use crate::linalg::Rng;

const DT: f64 = 1e-3;
const G: f64 = 9.81;

pub(super) fn particle(force: Vec3, copies: usize, gap: f64) -> ContactProblem {
    samples::pushed_particle(force, DT, copies, gap)
}

/// The printed method for one kilogram and one millisecond, where the printed tolerances are of the size of the motion.
fn sharp() -> Settings {
    Settings { stop: Stop::Paper { eps1: 1e-8, eps2: 1e-9 }, ..Settings::paper() }
}

/// Every preset, preconditioner and Krylov method that converges on ordinary problems.
fn variants() -> Vec<Settings> {
    let mut all = Vec::new();
    for preset in [sharp(), Settings::robust()] {
        for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
            for interval in [Interval::LogSquared, Interval::Log2, Interval::Always] {
                all.push(Settings { preconditioner, interval, ..preset });
            }
        }
    }
    all
}

fn solve(s: Settings, p: &ContactProblem) -> (Solution, SolveReport, Counts, Residuals) {
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let mut solver = ConjugateResidual::new(s);
    let report = solver.solve(p, &mut x, &mut ());
    let m = residual::measure(p, &x);
    (x, report, solver.counts(), m)
}

#[test]
fn a_pushed_particle_slips_by_the_excess_of_the_push() {
    // R2: v = Δt (|F| − μ m g)/m along F.
    let p = particle(Vec3::new(8.0, 3.0, 0.0), 1, 0.0);
    for s in variants() {
        let (x, report, _, _) = solve(s, &p);
        assert!(report.status.is_solved(), "{s:?}: {report:?}");
        let off = Vec3::from_slice(&x.v) - Vec3::new(0.0034073, 0.0012777, 0.0);
        // The printed angle of 1.2° leaves a direction error; 2 % of the speed is 7e-5 m/s.
        let allowed = if s.turn != Turn::Fixed(0.01) { 1e-7 } else { 7.5e-5 };
        assert!(off.length() < allowed, "{s:?}: {:?}", x.v);
        assert!((x.lambda[0].x / DT - G).abs() < 1e-2, "{s:?}: {}", x.lambda[0]);
        // Physical signs: friction is against the push, and μ λ_n long.
        assert!(x.lambda[0].y < 0.0 && x.lambda[0].z < 0.0);
        let limit = 0.5 * x.lambda[0].x;
        assert!((x.lambda[0].y.hypot(x.lambda[0].z) - limit).abs() < 2e-3 * limit, "{s:?}");
    }
}

#[test]
fn a_lightly_pushed_particle_sticks() {
    let p = particle(Vec3::new(2.0, 1.0, 0.0), 1, 0.0);
    for s in variants() {
        let (x, report, counts, _) = solve(s, &p);
        assert!(report.status.is_solved() && counts.active == 1 && counts.slipping == 0, "{s:?} {counts:?}");
        assert!(Vec3::from_slice(&x.v).length() < 5e-6 / DT, "{s:?}: {:?}", x.v);
        let force = x.lambda[0] / DT;
        let exact = Vec3::new(G, -2.0, -1.0);
        let allowed = if s.turn != Turn::Fixed(0.01) { 1e-3 } else { 1e-1 };
        assert!((force - exact).length() < allowed, "{s:?}: {force}");
    }
}

#[test]
fn contacts_open_and_close() {
    // F5: falling on the plane closes the contact; pulled upwards it opens, whatever the guess says.
    for s in variants() {
        let (x, report, counts, _) = solve(s, &particle(Vec3::ZERO, 1, 0.0));
        assert!(report.status.is_solved() && counts.active == 1 && counts.switches > 0, "{s:?}");
        assert!(x.v[2].abs() <= 5e-6 / DT && x.lambda[0].x > 0.0);
        let p = particle(Vec3::new(0.0, 0.0, 2.0 * G), 1, 0.0);
        let mut x = Solution { v: vec![0.0; 3], lambda: vec![Vec3::new(0.7, 0.1, 0.0)] };
        let report = ConjugateResidual::new(s).solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved(), "{s:?}");
        assert_eq!(x.lambda[0], Vec3::ZERO, "{s:?}");
        assert!((x.v[2] - G * DT).abs() < 5e-6, "{s:?}: {:?}", x.v);
        // A gap larger than the fall stays open; a smaller one is used up.
        let (x, _, counts, _) = solve(s, &particle(Vec3::ZERO, 1, 2.0 * G * DT * DT));
        assert!(counts.active == 0 && (x.v[2] + G * DT).abs() < 5e-5, "{s:?}: {:?}", x.v);
        let (x, _, counts, _) = solve(s, &particle(Vec3::ZERO, 1, 0.5 * G * DT * DT));
        assert!(counts.active == 1 && (x.v[2] + 0.5 * G * DT).abs() < 5e-6 / DT, "{s:?}: {:?}", x.v);
    }
}

#[test]
fn redundant_contacts_stop_at_the_right_velocity() {
    // S4.3: five copies of one contact; B is singular, the velocity is not in doubt.
    let p = particle(Vec3::new(8.0, 3.0, 0.0), 5, 0.0);
    for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
        let (x, report, _, m) = solve(Settings { preconditioner, ..Settings::robust() }, &p);
        assert!(report.status.is_solved(), "{report:?}");
        assert!(m.natural < 1e-6 * G * DT * 2.0, "{m:?}");
        assert!((Vec3::from_slice(&x.v) - Vec3::new(0.0034073, 0.0012777, 0.0)).length() < 1e-7);
    }
}

#[test]
fn contradicting_copies_end_in_a_least_squares_answer() {
    // S4.3: one plane asks for 0, its copy for 1 mm/s: no velocity is both, and the gradient test stops.
    let mut p = particle(Vec3::ZERO, 2, 0.0);
    for law in &mut p.law {
        *law = crate::contact::Law::Rows(crate::contact::Bounds::EQUATIONS);
    }
    p.bias[1].x = -1e-3;
    let s = Settings { max_iterations: 200, preconditioner: Preconditioner::Diag, ..sharp() };
    let mut solver = ConjugateResidual::new(s);
    let mut x = Solution { v: vec![0.0; 3], lambda: vec![Vec3::ZERO; 2] };
    solver.solve(&p, &mut x, &mut ());
    assert!(solver.counts().iterations < 20, "{:?}", solver.counts());
    assert!((x.v[2] - 5e-4).abs() < 2e-4, "between both: {:?}", x.v);
}

#[test]
fn the_printed_sign_of_the_multiplier_pulls() {
    // R1: A v + Jᵀλ = b with J v = 0 gives λ = −m g Δt; ours gives +.
    let p = particle(Vec3::ZERO, 1, 0.0);
    let printed = p.b[2] / p.a.diagonal_block(0)[8];
    assert!(printed < 0.0, "λ ≥ 0 would deactivate it at once");
    let (x, ..) = solve(Settings::robust(), &p);
    assert!((x.lambda[0].x + printed).abs() < 1e-9);
}

#[test]
fn the_interval_is_one_below_the_tolerance() {
    // R4: ln² and log₂ as read, at r/ε = 1e2, 1e3, 1e4, 1e6.
    let at = |i: Interval| [1e2, 1e3, 1e4, 1e6].map(|r| i.of(r));
    assert_eq!(at(Interval::LogSquared), [7, 15, 28, 63]);
    assert_eq!(at(Interval::Log2), [2, 3, 4, 6]);
    // The printed square grows again below ε₁: 15 at a thousandth of it.
    assert_eq!((1e-3_f64.ln().powi(2) / 3.0) as usize, 15);
    assert_eq!(Interval::LogSquared.of(1e-3), 1);
}

#[test]
fn a_residual_in_constraint_rows_alone_is_left_by_the_fallback() {
    // R5: with Diag from the converged free velocity zᵀBz = 0, so that the printed α = 0 and β = 0/0.
    let p = particle(Vec3::new(2.0, 1.0, 0.0), 1, 0.0);
    let s = Settings { preconditioner: Preconditioner::Diag, ..Settings::robust() };
    let (_, report, counts, m) = solve(s, &p);
    assert!(report.status.is_solved() && counts.fallbacks > 0 && m.natural < 1e-8, "{counts:?} {m:?}");
}

#[test]
fn random_particles_converge_with_both_preconditioners() {
    let mut rng = Rng::new(5);
    for k in 0..60 {
        let force = Vec3::new(rng.range(-9.0, 9.0), rng.range(-9.0, 9.0), rng.range(-5.0, 5.0));
        let mut p = particle(force, 1, 0.0);
        p.bias[0].y = rng.range(-1e-2, 1e-2);
        for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
            let (_, report, counts, m) = solve(Settings { preconditioner, ..Settings::robust() }, &p);
            assert!(
                report.status.is_solved() && m.natural < 1e-7,
                "{k}, {preconditioner:?}: {counts:?} {m:?}"
            );
        }
    }
}

#[test]
fn a_larger_share_realigns_the_sliding_direction_sooner() {
    // R6: a guess that slips 30° away from the push.
    let p = particle(Vec3::new(8.0, 0.0, 0.0), 1, 0.0);
    let turned = |s: Settings| {
        let (sin, cos) = 30f64.to_radians().sin_cos();
        let n = G * DT;
        let mut x = Solution { v: vec![0.0; 3], lambda: vec![Vec3::new(n, -0.5 * n * cos, -0.5 * n * sin)] };
        let mut solver = ConjugateResidual::new(s);
        assert!(solver.solve(&p, &mut x, &mut ()).status.is_solved());
        solver.counts().updates
    };
    let s = sharp();
    let (slow, fast) =
        (turned(Settings { turn: Turn::Fixed(0.01), ..s }), turned(Settings { turn: Turn::Fixed(0.1), ..s }));
    assert!(slow > 4 * fast, "{slow} and {fast} updates");
}

#[test]
fn minres_takes_the_steps_of_conjugate_residuals_while_states_rest() {
    // No contact: on a definite matrix both are the same method (Fong & Saunders 2011).
    let mut block = crate::contact::soft_samples::SoftBlock::new([3, 3, 3]);
    block.drive(0);
    let mut p = block.problem();
    p.clear_rows();
    for preconditioner in [Preconditioner::None, Preconditioner::Diag] {
        let s = Settings { preconditioner, ..Settings::robust() };
        let (x, one, ..) = solve(s, &p);
        let (y, two, ..) = solve(Settings { method: Method::Minres, ..s }, &p);
        assert!(one.status.is_solved() && two.status.is_solved());
        assert!(one.iterations.abs_diff(two.iterations) <= 2, "{} {}", one.iterations, two.iterations);
        let scale = x.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(x.v.iter().zip(&y.v).all(|(a, b)| (a - b).abs() < 1e-3 * scale));
    }
}

#[test]
fn a_soft_block_in_a_grip_meets_the_yardstick() {
    let mut block = crate::contact::soft_samples::SoftBlock::new([3, 3, 3]);
    for k in 0..3 {
        block.drive(k);
        let p = block.problem();
        let (x, report, counts, m) = solve(Settings::robust(), &p);
        assert!(report.status.is_solved(), "{report:?} {counts:?}");
        assert!(m.natural < 1e-6 && counts.active > 10, "step {k}: {m:?} {counts:?}");
        assert!(counts.products < 2 * counts.iterations + 20, "one product per iteration: {counts:?}");
        block.advance(&x.v);
    }
}

#[test]
fn a_solve_that_runs_out_of_iterations_is_no_worse_than_its_guess() {
    // Free bricks that run into each other: momentum is exact at first, so that natural maps alone judge the guess. States change
    // before errors fall.
    for seed in 0..6 {
        let p = samples::wall_with_speed(3, 3, 0.6, 1.0, seed);
        let free = solve(Settings { max_iterations: 0, ..Settings::robust() }, &p).3.natural;
        for max_iterations in 1..60 {
            let (.., m) = solve(Settings { max_iterations, ..Settings::robust() }, &p);
            assert!(m.natural <= free, "wall {seed}, {max_iterations}: {} after {free}", m.natural);
        }
    }
}

#[test]
fn of_copies_that_contradict_each_other_the_stricter_acts() {
    // Every contact twice, the copy looser by less than its multiplier weighs; the guess lets both carry half.
    let mut block = crate::contact::soft_samples::SoftBlock::new([3, 3, 3]);
    block.drive(0);
    let p = block.problem();
    let (alone, ..) = solve(Settings::robust(), &p);
    let mut q = p.clone();
    for c in 0..p.contacts() {
        q.j.push(p.j.frame[c], p.j.terms(c).iter().copied());
        q.bias.push(p.bias[c] + Vec3::new(2e-5, 0.0, 0.0));
        q.law.push(p.law[c]);
        q.softness.push(p.softness[c]);
        q.key.push(p.key[c]);
    }
    let half = alone.lambda.iter().map(|l| 0.5 * *l);
    let mut x = Solution { v: alone.v.clone(), lambda: half.clone().chain(half).collect() };
    let mut solver = ConjugateResidual::new(Settings::robust());
    let report = solver.solve(&q, &mut x, &mut ());
    // Without looking for contradictions it takes 1212.
    assert!(report.status.is_solved() && report.iterations < 600, "{report:?} {:?}", solver.counts());
    assert!(residual::measure(&q, &x).natural < 1e-6);
    let (first, copies) = x.lambda.split_at(p.contacts());
    let (sum, left) = (first.iter().map(|l| l.x).sum::<f64>(), copies.iter().map(|l| l.x).sum::<f64>());
    assert!(sum > 0.0 && left < 1e-3 * sum, "{left} of {sum}");
    let off = x.v.iter().zip(&alone.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-4 * p.velocity_scale, "{off}");
}

#[test]
fn a_pyramid_holds_at_most_the_coefficient_along_each_axis() {
    let p = particle(Vec3::new(8.0, 3.0, 0.0), 1, 0.0);
    let (x, report, ..) = solve(Settings { cone: Cone::Pyramid, ..sharp() }, &p);
    assert!(report.status.is_solved());
    let limit = 0.5 * x.lambda[0].x;
    // 8 N exceeds 4.9 N and slips; 3 N does not and is held.
    assert!((x.lambda[0].y + limit).abs() < 1e-2 * limit && (x.lambda[0].z / DT + 3.0).abs() < 1e-1);
    assert!(x.v[0] > 2e-3 && x.v[1].abs() < 5e-6 / DT);
}

#[test]
fn rivals_find_the_same_grip() {
    let mut block = crate::contact::soft_samples::SoftBlock::new([3, 3, 3]);
    block.drive(0);
    let mut p = block.problem();
    let cold = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let stop = Stop::Yardstick { tolerance: 1e-6 };
    let off =
        |x: &Solution, y: &Solution| x.v.iter().zip(&y.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Anticipation obeys Coulomb's law.
    let (x, ..) = solve(Settings::robust(), &p);
    let mut y = cold.clone();
    let report = ica::Ica::new(stop, 20_000).solve(&p, &mut y, &mut ());
    assert!(report.status.is_solved() && off(&x, &y) < 1e-4 * p.velocity_scale, "{report:?} {}", off(&x, &y));
    assert!(residual::measure(&p, &y).natural < 1e-6);
    // Staggered projections do so where there is no friction: a pyramid is no cone.
    p.law.fill(Friction::Isotropic(0.0).into());
    let (x, ..) = solve(Settings::robust(), &p);
    for interval in [Interval::AtConvergence, Interval::Log2] {
        let mut y = cold.clone();
        let mut staggered = staggered::Staggered::new(stop, interval, 20_000, 50);
        let report = staggered.solve(&p, &mut y, &mut ());
        assert!(report.status.is_solved() && staggered.rounds <= 3, "{report:?} {}", staggered.rounds);
        assert!(off(&x, &y) < 1e-4 * p.velocity_scale, "{}", off(&x, &y));
    }
}

#[test]
fn friction_of_a_slipping_contact_acts_along_its_tangents() {
    // R3: line 24 of Algorithm 2 subtracts J_tᵀγ'. With the printed Jᵀγ' the push of 8 N along t₁ would press on the plane.
    let p = particle(Vec3::new(8.0, 3.0, 0.0), 1, 0.0);
    let (x, ..) = solve(Settings::robust(), &p);
    assert!((x.lambda[0].x - G * DT).abs() < 1e-6 * G * DT, "the weight and nothing else: {}", x.lambda[0]);
    let mut printed = Vec3::new(0.0, 0.0, p.b[2]);
    printed += p.j.frame[0].transpose() * Vec3::new(x.lambda[0].y, 0.0, 0.0);
    assert!((printed.z - p.b[2]).abs() > 0.1 * G * DT, "{printed}");
}

#[test]
fn full_inverts_the_system_of_diagonals() {
    // R9: (22) is the exact block inverse, so that one free body with one sticking contact takes one iteration after its
    // contact was activated; copies take as many, because Z counts them.
    for copies in [1, 3] {
        let mut p = particle(Vec3::new(2.0, 1.0, 0.0), copies, 0.0);
        p.law.fill(crate::contact::Law::Rows(crate::contact::Bounds::EQUATIONS));
        let counts = solve(sharp(), &p).2;
        assert!(counts.iterations <= 2, "{copies} copies: {counts:?}");
        let diag = solve(Settings { preconditioner: Preconditioner::Diag, ..sharp() }, &p).2;
        assert!(diag.iterations > counts.iterations, "{copies} copies: {diag:?}");
    }
}
