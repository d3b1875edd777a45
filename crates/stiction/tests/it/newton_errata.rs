//! Non-smooth Newton against the printed formulas (ERRATA N13 and N15): what (37) and (44) must mean, that the signs and powers
//! of h of (53), (59), (60) and (64) are right as printed, and that the quaternion map (89) takes the angular velocity in world
//! axes. And islands (Sec. 11): solved one by one they move as they do in one system.

use stiction::contact::{ContactProblem, Solution, samples};
use stiction::linalg::rotation;
use stiction::linalg::{Quat, Rng};
use stiction::papers::nsn::solve::linear::LinearSolver;
use stiction::papers::nsn::solve::schur::Schur;
use stiction::papers::nsn::solve::stiffness::Stiffness;
use stiction::papers::nsn::solve::*;
use stiction::papers::nsn::{NonlinearSettings, NonlinearStepper};
use stiction::solvers::ContactSolver;
use stiction::{Body, Geometry, Scene, State, Vec3};

/// Solves a x = b by elimination with pivots.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for c in k..n {
                a[i][c] -= f * a[k][c];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|c| a[k][c] * b[c]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// N15: (59) with (60), and (64), solve the saddle-point system (56) with the printed signs.
#[test]
fn n15_both_schur_complements_solve_the_saddle_point_system() {
    let mut rng = Rng::new(15);
    let (dofs, rows) = (9, 5);
    let mut s = Schur::<f64>::default();
    for n in [6, 3] {
        // A Aᵀ + 1.
        let a: Vec<f64> = (0..n * n).map(|_| rng.uniform() - 0.5).collect();
        let entry = |r: usize, c: usize| (0..n).map(|k| a[r * n + k] * a[c * n + k]).sum::<f64>();
        let one = |r: usize, c: usize| if r == c { 1.0 } else { 0.0 };
        let block: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n) + one(k / n, k % n)).collect();
        s.mass.push(&block, n);
    }
    for _ in 0..rows {
        for first in (0..dofs).step_by(3) {
            s.j.push3(first, [rng.uniform() - 0.5, rng.uniform() - 0.5, rng.uniform() - 0.5]);
        }
        s.j.end_row();
    }
    s.compliance.reset(rows);
    (0..rows).for_each(|i| s.compliance.diagonal[i] = 0.1 + rng.uniform());
    s.scale = vec![1.0; rows];
    s.known = vec![0.0; rows];
    s.g = (0..dofs).map(|_| rng.uniform() - 0.5).collect();
    s.h = (0..rows).map(|_| rng.uniform() - 0.5).collect();
    s.blocks = (0..=rows as u32).collect();
    s.rows_changed();

    // [H −Jᵀ; J C] [Δu; Δλ h] = −[g; h]                                       (56)
    let size = dofs + rows;
    let mut saddle = vec![vec![0.0; size]; size];
    for k in 0..dofs {
        let mut unit = vec![0.0; dofs];
        unit[k] = 1.0;
        let mut column = vec![0.0; dofs];
        s.mass.mul(&unit, &mut column);
        (0..dofs).for_each(|r| saddle[r][k] = column[r]);
    }
    for i in 0..rows {
        for k in 0..dofs {
            saddle[dofs + i][k] = s.j.get(i, k);
            saddle[k][dofs + i] = -s.j.get(i, k);
        }
        saddle[dofs + i][dofs + i] = s.compliance.diagonal[i];
    }
    let right: Vec<f64> = s.g.iter().chain(&s.h).map(|x| -x).collect();
    let expected = eliminate(saddle, right);

    let (mut b, mut du, mut dl) = (Vec::new(), vec![0.0; dofs], vec![0.0; rows]);
    s.prepare(Product::Assembled, true, Regularization::Absolute(0.0));
    s.right_side(&mut b);
    let far = |du: &[f64], dl: &[f64]| {
        du.iter().chain(dl).zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    LinearSolver::default().solve(&s, &b, &mut dl, &LinearSettings::direct());
    s.velocity_step(&dl, &mut du);
    assert!(far(&du, &dl) < 1e-12, "compliance form: {}", far(&du, &dl));
    // With h of the other sign the right side of (59) solves something else.
    let mut turned = b.clone();
    turned.iter_mut().zip(&s.h).for_each(|(b, h)| *b += 2.0 * h);
    let mut other = dl.clone();
    LinearSolver::default().solve(&s, &turned, &mut other, &LinearSettings::direct());
    assert!(far(&du, &other) > 1e-2);
    Stiffness::default().solve(&s, &LinearSettings::direct(), &mut du, &mut dl);
    assert!(far(&du, &dl) < 1e-12, "stiffness form: {}", far(&du, &dl));
}

/// N15: q̇ = ½ Q(θ) ω with the printed Q (89) and θ = (w, x, y, z) is the change of orientation by a velocity in world axes.
#[test]
fn n15_the_quaternion_map_is_that_of_world_axes() {
    let theta = Quat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize();
    let omega = Vec3::new(0.4, -1.1, 0.8);
    let (w, x, y, z) = (theta.w, theta.x, theta.y, theta.z);
    let q = [[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]];
    let printed = q.map(|row| 0.5 * Vec3::from_array(row).dot(omega));
    let d = 1e-6;
    let change = |up: Quat, down: Quat| {
        let c = (up - down) * (0.5 / d);
        [c.w, c.x, c.y, c.z]
    };
    let far = |c: [f64; 4]| c.iter().zip(&printed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let (up, down) = (rotation::exp(d * omega), rotation::exp(-d * omega));
    assert!(far(change(up * theta, down * theta)) < 1e-9, "world axes");
    assert!(far(change(theta * up, theta * down)) > 0.1, "axes of the body");
}

/// Two stacks and a box that slides, which do not touch each other.
fn apart() -> ContactProblem {
    let mut bodies = samples::Assembly::new(Vec3::new(0.0, 0.0, -samples::GRAVITY));
    for (x, count, ratio) in [(0.0, 3, 8.0_f64), (10.0, 2, 0.5), (20.0, 1, 1.0)] {
        let mut below = None;
        for k in 0..count {
            let centre = Vec3::new(x, 0.0, k as f64 + 0.5);
            let cube = bodies.add_box(centre, Vec3::splat(0.5), ratio.powi(k));
            if count == 1 {
                bodies.velocity[cube] = (Vec3::new(2.0, 1.0, 0.0), Vec3::ZERO);
            }
            let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
            let face = corners.map(|(a, b)| Vec3::new(x + a, b, k as f64));
            bodies.touch(cube, below, Vec3::Z, &face, 0.4);
            below = Some(cube);
        }
    }
    bodies.problem()
}

/// Sec. 11: parts that nothing couples, solved apart, each with iterations of its own, move as in one system.
#[test]
fn islands_solved_apart_move_as_in_one_system() {
    let p = apart();
    let solve = |islands| {
        let settings = NewtonSettings { islands, ..NewtonSettings::robust() };
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        let mut solver = NonsmoothNewton::new(settings);
        let report = solver.solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved(), "{islands:?}: {report:?}");
        (report.islands, solver.loops().map(|l| l.iterations).collect::<Vec<_>>(), x)
    };
    let (one, _, together) = solve(IslandRule::Together);
    let (three, each, alone) = solve(IslandRule::Apart);
    assert_eq!((one, three), (1, 3));
    let off = together.v.iter().zip(&alone.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-7, "{off} m/s apart");
    assert!(each.iter().any(|n| *n != each[0]), "each has its own number of iterations: {each:?}");
}

/// The same in the non-linear step: a body moves alike whether or not another one, far away, is in the scene.
#[test]
fn a_body_steps_alike_with_and_without_another_island() {
    let block = |name: &str, x: f64, speed: f64| {
        let mut b = Body::new(name, Geometry::Box { half: Vec3::splat(0.1) }).at(x, 0.0, 0.1).with_mass(2.0);
        b.velocity = Vec3::new(speed, 0.3 * speed, 0.0);
        b.with_friction(0.5)
    };
    let run = |others: Vec<Body>| {
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.5));
        scene.bodies.push(block("first", 0.0, 1.0));
        scene.bodies.extend(others);
        let model = scene.compile().unwrap();
        let mut stepper = NonlinearStepper::new(&model, NonlinearSettings::robust(&model)).unwrap();
        let mut state = State::clone(&model.initial);
        for _ in 0..30 {
            assert!(stepper.step(&model, &mut state, 0.01).unwrap().status.is_solved());
        }
        state.q[..7].to_vec()
    };
    let alone = run(Vec::new());
    let beside = run(vec![block("second", 5.0, 0.0), block("third", 9.0, -3.0)]);
    let off = alone.iter().zip(&beside).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(alone[0] > 0.05 && off < 1e-7, "{off} m apart: {alone:?} {beside:?}");
}
