//! The velocity fixed point of Lee, Lee & Lee (2022) finds what the exact solver finds where its contacts are nodes, is off
//! by λ/k_v where they are virtual nodes, contracts as its theorems say, and does not stop where its printed test stops.
//! Without virtual nodes it agrees with the exact solver everywhere, whatever accelerates it; so does the splitting.

use stiction::contact::samples;
use stiction::contact::soft_samples::{Plates, SoftBlock};
use stiction::contact::{ContactProblem, Law, Solution, residual};
use stiction::integrate::Scheme;
use stiction::linalg::Vec3;
use stiction::methods::{SolverKind, make};
use stiction::papers::cond::ccs::Ccs;
use stiction::papers::cond::{
    Cond, CondE, CondESettings, CondSettings, Operator, Stand, StepSize, Stop, inverse_contact,
};
use stiction::solvers::island::{Acceleration, Chebyshev};
use stiction::solvers::{ContactSolver, SolverSettings, TraceRecord};

fn cold(p: &ContactProblem) -> Solution {
    Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] }
}

fn exact(p: &ContactProblem) -> Solution {
    let mut x = cold(p);
    let settings = SolverSettings { tolerance: Some(1e-9), max_iterations: None };
    assert!(make(SolverKind::Exact, &settings).solve(p, &mut x, &mut ()).status.is_solved());
    x
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A block that plates have begun to squeeze.
fn squeezed(plates: Plates, young: f64) -> ContactProblem {
    let mut block = SoftBlock::with_plates([3, 3, 3], plates).young(young);
    for step in 0..3 {
        if plates == Plates::Driven {
            block.drive(step);
        }
        let p = block.problem();
        block.advance(&exact(&p).v);
    }
    block.problem()
}

const FREE: Plates = Plates::Free { mass: 0.5, push: 10.0 };

#[test]
fn on_nodes_it_finds_what_the_exact_solver_finds() {
    // Remark 1: at the fixed point the dynamics hold, whatever W is.
    let p = squeezed(Plates::Driven, 1e5);
    let truth = exact(&p);
    for step_size in StepSize::ALL {
        let settings = CondSettings {
            step_size,
            stop: Stop::Error(1e-8),
            acceleration: if step_size.is_adaptive() {
                Acceleration::None
            } else {
                Acceleration::Chebyshev(Chebyshev::default())
            },
            max_iterations: 20_000,
            ..CondSettings::default()
        };
        let mut solver = Cond::new(settings);
        let mut x = cold(&p);
        let report = solver.solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved(), "{}: {report:?}", step_size.name());
        assert_eq!(solver.last_report().virtual_nodes, 0);
        let off = distance(&x.v, &truth.v);
        assert!(off < 1e-6, "{}: off by {off:e} m/s", step_size.name());
    }
}

#[test]
fn virtual_nodes_give_way_by_the_impulse_over_their_gain() {
    // Prop. 2: a box at rest on four virtual nodes sinks at λ/k_v.
    let p = samples::incline(0.1, 0.5);
    let mut sinking = Vec::new();
    for gain in [1e3, 1e4, 1e5] {
        let settings = CondSettings {
            gain,
            stop: Stop::Update(1e-14),
            max_iterations: 100_000,
            ..CondSettings::default()
        };
        let mut solver = Cond::new(settings);
        let mut x = cold(&p);
        solver.solve(&p, &mut x, &mut ());
        assert_eq!(solver.last_report().virtual_nodes, 4);
        let k = gain / p.force_per_lambda;
        for c in 0..4 {
            let u = p.j.mul_one(c, &x.v);
            assert!((u + x.lambda[c] / k).length() < 1e-3 * u.length(), "{gain}: {u} {}", x.lambda[c] / k);
        }
        sinking.push(-p.j.mul_one(0, &x.v).x);
    }
    for w in sinking.windows(2) {
        assert!((w[0] / w[1] - 10.0).abs() < 0.5, "{sinking:?}");
    }
}

#[test]
fn with_the_proximal_operator_and_a_uniform_step_it_contracts() {
    // Theorem 2. Its answer is that of the convex relaxation: sliding contacts glide (Prop. 5).
    let p = squeezed(Plates::Driven, 1e5);
    let settings = CondSettings {
        operator: Operator::Proximal,
        step_size: StepSize::Uniform,
        acceleration: Acceleration::None,
        stop: Stop::Update(1e-12),
        max_iterations: 400,
        ..CondSettings::default()
    };
    let mut trace: Vec<TraceRecord> = Vec::new();
    let mut x = cold(&p);
    Cond::new(settings).solve(&p, &mut x, &mut trace);
    assert!(trace.len() > 50);
    for w in trace.windows(2) {
        assert!(w[1].residual <= w[0].residual * (1.0 + 1e-12), "{} {}", w[0].residual, w[1].residual);
    }
}

#[test]
fn the_constant_of_theorem_1_is_a_quarter() {
    // ‖I − M̂⁻¹ A‖ = (t²/4) ‖M⁻¹(JᵀKJ + E)‖; printed is t²/2 (C1). A − M̂ has the weights of the scheme.
    let t = 0.01;
    let w = Scheme::Midpoint.weights(t);
    assert!((w.q / w.a - t * t / 4.0).abs() < 1e-18);
}

#[test]
fn the_printed_test_stops_before_it_has_moved() {
    // C5: stiff virtual nodes make the updates small, whatever the error.
    let p = samples::incline(0.1, 0.5);
    let settings = CondSettings { gain: 1e5, stop: Stop::Update(1e-4), ..CondSettings::default() };
    let mut solver = Cond::new(settings);
    let mut x = cold(&p);
    let report = solver.solve(&p, &mut x, &mut ());
    let last = solver.last_report();
    assert!(last.update < 1e-4 && last.iterations < 5, "{last:?}");
    assert!(last.error.worst() > 1e-2 && !report.status.is_solved(), "{last:?}");
}

#[test]
fn without_virtual_nodes_accelerations_find_the_exact_answer_and_mixing_where_bodies_are_stiff() {
    for (plates, young) in [(Plates::Driven, 1e5), (FREE, 1e5), (FREE, 1e6)] {
        let p = squeezed(plates, young);
        let truth = exact(&p);
        let anderson = CondESettings {
            tolerance: 1e-7,
            stand: Stand::Diagonal,
            max_iterations: 8000,
            ..Default::default()
        };
        let variants = [
            anderson,
            CondESettings { acceleration: Acceleration::Nesterov, ..anderson },
            CondESettings { acceleration: Acceleration::Chebyshev(Chebyshev::default()), ..anderson },
            CondESettings { stand: Stand::DiagonalBarzilaiBorwein, ..anderson },
            CondESettings { stand: Stand::Multigrid, multigrid_from: 0, ..anderson },
        ];
        for s in variants {
            // Stiff bodies on free rigid ones: only Anderson's mixing, on the diagonal or on the multigrid, gets there.
            let mixed = s.acceleration == anderson.acceleration && s.stand != Stand::DiagonalBarzilaiBorwein;
            if young > 5e5 && !mixed {
                continue;
            }
            let mut x = cold(&p);
            let report = CondE::new(s).solve(&p, &mut x, &mut ());
            assert!(report.status.is_solved(), "{young} {s:?}: {report:?}");
            let (off, m) = (distance(&x.v, &truth.v), residual::measure(&p, &x));
            assert!(off < 1e-5 && m.natural < 1e-8, "{young} {s:?}: off by {off:e} m/s, {m:?}");
        }
    }
}

#[test]
fn the_splitting_agrees_too() {
    for plates in [Plates::Driven, FREE] {
        let p = squeezed(plates, 1e5);
        let truth = exact(&p);
        let mut x = cold(&p);
        let settings = SolverSettings { tolerance: Some(1e-7), max_iterations: Some(20_000) };
        let report = Ccs::new(&settings).solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved(), "{report:?}");
        let off = distance(&x.v, &truth.v);
        assert!(off < 1e-5, "off by {off:e} m/s");
    }
}

#[test]
fn invertible_contacts_give_their_impulse_back() {
    // Ω = 1e-3 m/(s·N), proximal, as in Sec. V-F.
    let mut p = squeezed(Plates::Driven, 1e5);
    let omega = Vec3::splat(1e-3 * p.force_per_lambda);
    p.softness.fill(omega);
    let settings = CondSettings {
        operator: Operator::Proximal,
        stop: Stop::Update(1e-9),
        max_iterations: 20_000,
        ..CondSettings::default()
    };
    let mut x = cold(&p);
    Cond::new(settings).solve(&p, &mut x, &mut ());
    let largest = x.lambda.iter().map(|l| l.length()).fold(0.0, f64::max);
    for c in 0..p.contacts() {
        let Law::Contact(_) = p.law[c] else { continue };
        let u = p.j.mul_one(c, &x.v) + p.bias[c];
        let again = inverse_contact(Operator::Proximal, p.law[c], omega, u);
        assert!((again - x.lambda[c]).length() < 1e-5 * largest, "{again} {}", x.lambda[c]);
    }
}

#[test]
fn threads_change_no_bit() {
    let p = squeezed(FREE, 1e6);
    let solve = |threads: usize, kind: SolverKind| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small pool");
        pool.install(|| {
            let mut x = cold(&p);
            make(kind, &SolverSettings::default()).solve(&p, &mut x, &mut ());
            x
        })
    };
    for kind in [SolverKind::Cond, SolverKind::CondE] {
        assert_eq!(solve(1, kind), solve(2, kind), "{}", kind.name());
    }
}
