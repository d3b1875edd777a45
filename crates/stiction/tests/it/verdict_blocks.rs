//! The verdict on a step looks at every body and at every problem of the step: the momentum that a light body misses is not lost
//! beside a heavy one, and impacts that a step solves apart are judged like the rest of it.

use crate::stage::{ball, cube, floor};
use stiction::contact::residual::Yardstick;
use stiction::contact::{ContactProblem, Friction, Solution, Term};
use stiction::coords::{BlockKind, Layout, Part};
use stiction::linalg::{BlockMat, Mat3};
use stiction::solvers::exact::{Exact, Settings};
use stiction::solvers::{ContactSolver, SolveReport, Trace};
use stiction::{Scheme, SimSettings, Simulation, Vec3};

/// Two particles: a heavy one that falls on the ground, and a light one in the air.
fn two(heavy: f64, light: f64) -> ContactProblem {
    let mut layout = Layout::new();
    for _ in 0..2 {
        layout.push(BlockKind::Node);
    }
    let mut p = ContactProblem {
        a: BlockMat::block_diagonal(&layout.widths()),
        h: 0.01,
        force_per_lambda: 100.0,
        velocity_scale: 0.0981,
        ..ContactProblem::default()
    };
    for (k, m) in [heavy, light].into_iter().enumerate() {
        let a = p.a.diagonal_block_mut(k);
        (0..3).for_each(|i| a[4 * i] = m);
        p.b.extend([0.0, 0.0, -0.0981 * m]);
    }
    let frame = Mat3::from_cols(Vec3::Z, Vec3::X, Vec3::Y).transpose();
    let part = Part::Node { block: 0, dof: 0, weight: 1.0 };
    p.j.push(frame, [Term::Point(part)]);
    p.bias.push(Vec3::ZERO);
    p.law.push(Friction::Isotropic(0.5).into());
    p.softness.push(Vec3::ZERO);
    p
}

#[test]
fn a_light_body_does_not_hide_behind_a_heavy_one() {
    for (heavy, light) in [(1.0, 1.0), (1e6, 1e-3), (1e-3, 1e6), (1e12, 1e-12)] {
        let p = two(heavy, light);
        let mut x = Solution { v: vec![0.0; 6], lambda: vec![Vec3::ZERO] };
        Exact::new(Settings::stepping()).solve(&p, &mut x, &mut ());
        let mut yardstick = Yardstick::default();
        let mut judge = |x: &Solution| {
            let r = yardstick.measure(&p, x);
            yardstick.bears_out(&p, &r, &[0.0, 0.0, -0.0981, 0.0, 0.0, -0.0981], true)
        };
        assert!(judge(&x), "{heavy} kg, {light} kg: the answer itself");
        // Five percent of the speed of the problem, along the ground and into the air, for each of them.
        for k in [1, 3, 4, 5] {
            let mut wrong = x.clone();
            wrong.v[k] += 0.05 * 0.0981;
            assert!(!judge(&wrong), "{heavy} kg, {light} kg: dof {k}");
        }
    }
}

/// Honest but for problems of one free body: there it claims to have solved what it has not.
struct WrongImpacts {
    honest: Exact,
    spoilt: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl ContactSolver for WrongImpacts {
    fn name(&self) -> &'static str {
        "wrong impacts"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        let report = self.honest.solve(p, x, trace);
        if p.dofs() == 6 && p.contacts() > 0 {
            self.spoilt.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            x.lambda.iter_mut().for_each(|l| l.x *= 1.5);
        }
        report
    }
}

#[test]
fn impacts_that_are_solved_apart_are_judged() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        // A cube at rest, and a ball that strikes the floor in the middle of the second step.
        let mut scene = floor(0.5);
        scene.bodies.push(cube("cube", 0.1, 0.5));
        let mut it = ball("ball", 0.1, 0.5).at(1.0, 0.0, 0.1 + 0.015);
        (it.velocity, it.shapes[0].restitution) = (-Vec3::Z, 0.5);
        scene.bodies.push(it);
        let spoilt = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let solver = WrongImpacts { honest: Exact::new(Settings::stepping()), spoilt: spoilt.clone() };
        let settings = SimSettings { scheme, ..SimSettings::default() };
        let mut sim = Simulation::new(scene.compile().unwrap(), settings).with_solver(Box::new(solver));
        for _ in 0..4 {
            let before = spoilt.load(std::sync::atomic::Ordering::Relaxed);
            let solved = sim.step(0.01).unwrap().status.is_solved();
            let was_spoilt = spoilt.load(std::sync::atomic::Ordering::Relaxed) > before;
            assert_eq!(solved, !was_spoilt, "{scheme:?}, t = {}", sim.state().t);
        }
        assert!(spoilt.load(std::sync::atomic::Ordering::Relaxed) > 0, "{scheme:?}: an impact is solved");
    }
}
