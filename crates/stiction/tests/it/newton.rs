//! Non-smooth Newton. On frozen problems: stack, arch, inclines and walls from a cold start to 1e-8 by the common yardstick,
//! every linear solver leads to the same motion, redundant contacts break Cholesky and not conjugate residuals, and ε
//! changes the way, not the answer. In time: a redundant box slides as Coulomb says with the bounded friction scaling
//! and whatever the number of iterations; hard joints and soft bodies move as the other stepper moves them.

use stiction::contact::{ContactProblem, Residuals, Solution, residual, samples};
use stiction::coords::{BodyId, SoftId};
use stiction::elastic::{Law, Material};
use stiction::kinematics::Placement;
use stiction::linalg::Quat;
use stiction::mesh::shapes;
use stiction::papers::nsn::solve::*;
use stiction::papers::nsn::{ElementRows, GeometricStiffness, NonlinearSettings, NonlinearStepper};
use stiction::scene::{Joint, JointKind, NodeSelection, SoftBody, SpringEnd, SpringSpec};
use stiction::solvers::{ContactSolver, SolveReport};
use stiction::{Body, Geometry, Model, Scene, SimSettings, Simulation, State, Vec3};

const G: f64 = 9.81;

/// Centre of mass of a body [m].
fn place(model: &Model, state: &State, body: &str) -> Vec3 {
    model.com_pose(state, model.names.find(body).expect("the story knows its bodies")).translation
}

fn solve(p: &ContactProblem, settings: NewtonSettings) -> (SolveReport, Residuals, Solution) {
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let report = NonsmoothNewton::new(settings).solve(p, &mut x, &mut ());
    let m = residual::measure(p, &x);
    (report, m, x)
}

#[test]
fn hard_problems_are_solved_from_a_cold_start() {
    let limit = 0.5f64.atan();
    let mut problems = vec![
        samples::heavy_stack(5),
        samples::arch(10, 0.6),
        samples::incline(0.95 * limit, 0.5),
        samples::incline(1.2 * limit, 0.5),
    ];
    problems.extend((1..5).map(|seed| samples::wall(3, 3, 0.6, seed)));
    for (i, p) in problems.iter().enumerate() {
        let (report, m, _) = solve(p, NewtonSettings::robust());
        assert!(report.status.is_solved(), "problem {i}: {report:?}");
        assert!(m.natural < 1e-7 && m.momentum < 1e-9 && m.cone < 1e-12, "problem {i}: {m:?}");
    }
}

#[test]
fn the_paper_converges_on_stack_and_arch_and_t_bounds_its_rate() {
    // N8: with t = ¾ an error shrinks at most four times per iteration; with t = 1 the stack takes a few.
    let p = samples::heavy_stack(5);
    let paper = NewtonSettings { iterations: 100, tolerance: 1e-9, ..NewtonSettings::default() };
    let damped = solve(&p, paper).0;
    let full = solve(&p, NewtonSettings { step: StepRule::Fixed(1.0), ..paper }).0;
    assert!(damped.status.is_solved() && full.status.is_solved());
    assert!(damped.iterations >= 15, "0.25^15 = 1e-9: {}", damped.iterations);
    assert!(full.iterations <= 15, "{}", full.iterations);
    let arch = solve(&samples::arch(10, 0.6), NewtonSettings { linear: LinearSettings::direct(), ..paper });
    assert!(arch.0.status.is_solved() && arch.1.natural < 1e-8, "{:?}", arch.0);
}

#[test]
fn every_linear_solver_leads_to_the_same_motion() {
    // Two problems whose motion is unique: no friction, and one sliding box.
    let problems = [samples::wall_with_speed(2, 2, 0.0, 0.1, 3), samples::incline(1.2 * 0.5f64.atan(), 0.5)];
    // The stiffness form has conjugate gradients of its own, and a fallback could answer in the place of a method that fails.
    let base = NewtonSettings {
        form: SystemForm::Compliance,
        regularization: Regularization::Relative(1e-9),
        fallback: Fallback::None,
        ..NewtonSettings::robust()
    };
    for p in &problems {
        let (_, _, reference) = solve(p, NewtonSettings::robust());
        for method in LinearMethod::ALL.into_iter().filter(|m| *m != LinearMethod::Jacobi) {
            for product in [Product::MatrixFree, Product::Assembled] {
                for preconditioner in [PreconditionerKind::Diagonal, PreconditionerKind::BlockDiagonal] {
                    let linear =
                        LinearSettings { method, iterations: 400, tolerance: 1e-13, product, preconditioner };
                    let (report, _, x) = solve(p, NewtonSettings { linear, ..base });
                    let off = x.v.iter().zip(&reference.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(
                        report.status.is_solved() && off < 1e-6,
                        "{method:?} {product:?}: {report:?}, {off:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn redundant_contacts_break_cholesky_but_not_conjugate_residuals() {
    // Every contact twice: S has a null space as large as the contacts.
    let p = samples::duplicated(&samples::heavy_stack(3), 2);
    let base = NewtonSettings {
        iterations: 100,
        tolerance: 1e-8,
        ncp: NcpFunction::MinimumMap,
        derivative: Derivative::Divided,
        regularization: Regularization::Absolute(0.0),
        ..NewtonSettings::default()
    };
    let cholesky = solve(&p, NewtonSettings { linear: LinearSettings::direct(), ..base }).0;
    assert!(!cholesky.status.is_solved());
    let (report, m, x) = solve(&p, NewtonSettings { linear: base.linear.with_iterations(60), ..base });
    assert!(report.status.is_solved() && m.natural < 1e-6, "{report:?} {m:?}");
    // 8.4: ε is not part of the residual.
    for epsilon in [1e-8, 1e-6] {
        let linear = LinearSettings::direct();
        let s = NewtonSettings { regularization: Regularization::Absolute(epsilon), linear, ..base };
        let (report, _, y) = solve(&p, s);
        let off = x.v.iter().zip(&y.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(report.status.is_solved() && off < 1e-8, "ε = {epsilon}: {off:e}");
    }
}

#[test]
fn contact_compliance_lets_a_box_sink_by_its_weight() {
    let mut p = samples::heavy_stack(1);
    let soft = 1e-3;
    p.softness.iter_mut().for_each(|s| s.x = soft);
    let (report, _, x) = solve(&p, NewtonSettings::robust());
    assert!(report.status.is_solved());
    // λ = m (g h + v)/4 at each corner, v = −s λ.
    let weight = 8.0 * G * samples::TIME_STEP / 4.0 / (1.0 + 8.0 * soft / 4.0);
    assert!((x.v[2] + soft * weight).abs() < 1e-9, "{}", x.v[2]);
}

/// N3: (63) prints q⁺ = qⁿ + h G u with n the Newton iteration, which would move a free body by h u once per iteration.
#[test]
fn n3_a_step_moves_by_h_u_once_whatever_the_iterations() {
    let mut scene = Scene::default();
    let mut body = Body::new("box", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 1.0);
    body.velocity = Vec3::new(1.0, 0.0, 0.0);
    scene.bodies.push(body);
    let model = scene.compile().unwrap();
    for iterations in [1, 6] {
        let newton = NewtonSettings { iterations, step: StepRule::Fixed(1.0), ..NewtonSettings::default() };
        let state = run(&model, NonlinearSettings { newton, ..NonlinearSettings::default() }, 3, 0.01);
        let x = place(&model, &state, "box").x;
        assert!((x - 0.03).abs() < 1e-14, "{iterations} iterations: {x} m");
    }
}

/// N17: six cold iterations leave contact forces far off in single steps, though their mean is right; carried multipliers
/// settle them.
#[test]
fn n17_cold_iterations_leave_forces_unfinished_and_carried_ones_settle() {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    let mut z = 0.0;
    for k in 0..5 {
        let half = 0.1 * 2f64.powi(k);
        let cube = Body::new(format!("cube {k}"), Geometry::Box { half: Vec3::splat(half) });
        scene.bodies.push(cube.at(0.0, 0.0, z + half).with_mass(8f64.powi(k + 1)));
        z += 2.0 * half;
    }
    let model = scene.compile().unwrap();
    let weight = G * (1..=5).map(|k| 8f64.powi(k)).sum::<f64>();
    let floor = |start: Start| {
        let newton = NewtonSettings { start, ..NewtonSettings::default() };
        let settings = NonlinearSettings { newton, ..NonlinearSettings::default() };
        let mut stepper = NonlinearStepper::new(&model, settings).unwrap();
        let mut state = State::clone(&model.initial);
        let mut forces = Vec::new();
        for _ in 0..120 {
            stepper.step(&model, &mut state, 1.0 / 120.0).unwrap();
            let below =
                stepper.contacts().filter(|(c, _)| c.key.shape_a.index() == 0 || c.key.shape_b.index() == 0);
            forces.push(below.map(|(_, f)| f.z.abs()).sum::<f64>() / weight);
        }
        let rest = forces.split_off(60);
        let worst = rest.iter().map(|f| (f - 1.0).abs()).fold(0.0, f64::max);
        (worst, rest.iter().sum::<f64>() / 60.0)
    };
    let (cold, warm) = (floor(Start::Zero), floor(Start::Warm));
    assert!(cold.0 > 0.1 && (cold.1 - 1.0).abs() < 0.05, "cold: worst and mean {cold:?}");
    assert!(warm.0 < 1e-6, "warm: {warm:?}");
}

/// Distance that a box slides in 60 steps of 1/120 s at 1.2 times the friction angle.
fn slide(newton: NewtonSettings) -> f64 {
    let angle = 1.2 * 0.5f64.atan();
    let scene = Scene {
        gravity: G * Vec3::new(angle.sin(), 0.0, -angle.cos()),
        bodies: vec![
            Body::new("floor", Geometry::Plane).fixed().with_friction(0.5),
            Body::new("box", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_friction(0.5),
        ],
        ..Scene::default()
    };
    let model = scene.compile().unwrap();
    let state = run(&model, NonlinearSettings { newton, ..NonlinearSettings::default() }, 60, 1.0 / 120.0);
    place(&model, &state, "box").x
}

fn run(model: &Model, settings: NonlinearSettings, steps: usize, h: f64) -> State {
    let mut stepper = NonlinearStepper::new(model, settings).unwrap();
    let mut state = State::clone(&model.initial);
    for _ in 0..steps {
        stepper.step(model, &mut state, h).unwrap();
    }
    state
}

#[test]
fn a_redundant_box_slides_as_far_as_coulomb_says_whatever_the_iterations() {
    // Σ k h² a for k = 1…60.
    let angle = 1.2 * 0.5f64.atan();
    let closed = G * (angle.sin() - 0.5 * angle.cos()) * 1830.0 / 14400.0;
    for iterations in [6, 20, 60] {
        let newton = NewtonSettings {
            iterations,
            friction_bound: 0.5,
            derivative: Derivative::Divided,
            start: Start::Warm,
            linear: LinearSettings::direct(),
            ..NewtonSettings::default()
        };
        let x = slide(newton);
        assert!((x / closed - 1.0).abs() < 0.01, "{iterations} iterations: {x} m of {closed} m");
    }
}

#[test]
fn joints_and_springs_move_as_in_the_other_stepper() {
    // A chain of two rods hinged to the world, a spring from its end: both steppers solve the same implicit Euler step.
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    for k in 0..2 {
        let b = Body::new(format!("rod {k}"), Geometry::Box { half: Vec3::new(0.5, 0.05, 0.05) })
            .at(0.5 + k as f64, 0.0, 0.0)
            .with_mass(1.0);
        scene.bodies.push(b);
        let at = Vec3::new(k as f64, 0.0, 0.0);
        let joint = match k {
            0 => Joint::to_world("hinge 0", JointKind::Hinge, "rod 0"),
            _ => Joint::new("hinge 1", JointKind::Hinge, "rod 0", "rod 1"),
        };
        scene.joints.push(joint.at(at).about(Vec3::Y));
    }
    let ends = [SpringEnd::world(Vec3::new(2.0, 0.0, 1.0)), SpringEnd::on("rod 1", Vec3::new(0.5, 0.0, 0.0))];
    scene.springs.push(SpringSpec::new("s", ends, 30.0));
    let model = scene.compile().unwrap();
    let newton = NewtonSettings {
        iterations: 40,
        tolerance: 1e-12,
        step: StepRule::Fixed(1.0),
        derivative: Derivative::Divided,
        linear: LinearSettings::direct(),
        regularization: Regularization::Relative(1e-12),
        start: Start::Warm,
        ..NewtonSettings::default()
    };
    let h = 2e-3;
    let state = run(&model, NonlinearSettings { newton, ..NonlinearSettings::default() }, 100, h);
    // Anchors agree.
    for (i, j) in model.joints.iter().enumerate() {
        let place = Placement::of(&model, &state).kinematics(&model).joint(j);
        assert!((place.anchor_a - place.anchor_b).length() < 1e-9, "joint {i}");
    }
    let settings = SimSettings { linearizations: 20, ..SimSettings::default() };
    let mut sim = Simulation::new(model.clone(), settings);
    for _ in 0..100 {
        sim.step(h).unwrap();
    }
    // They differ by where a step evaluates its rows: first order in h.
    let [before, after, other] =
        [&model.initial, &state, sim.state()].map(|state| place(&model, state, "rod 1"));
    let (fall, off) = (before.z - after.z, (after - other).abs().max_element());
    assert!(fall.abs() > 0.05 && off < 0.02 * fall.abs(), "fell {fall} m, {off} m apart");
}

fn beam(law: Law) -> Model {
    let clamped = NodeSelection::Box { min: Vec3::splat(-1.0), max: Vec3::new(-0.1 + 1e-9, 1.0, 1.0) };
    let material = Material { law, young: 2e5, poisson: 0.3, density: 1000.0 };
    let mesh = shapes::block([6, 2, 2], Vec3::new(0.2, 0.04, 0.04));
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    scene.solids.push(SoftBody::new("beam", mesh, material).pinned(clamped));
    scene.compile().unwrap()
}

/// Elements as compliance rows and as stiffness in A solve the same equations.
#[test]
fn soft_bodies_in_compliance_form_move_as_in_stiffness_form() {
    let h = 0.01;
    for (law, form) in [
        (Law::Corotated, SystemForm::Compliance),
        (Law::StableNeoHookean, SystemForm::Compliance),
        (Law::Linear, SystemForm::Compliance),
        (Law::Corotated, SystemForm::Stiffness),
    ] {
        let elements = ElementRows::Corotated;
        let model = beam(law);
        let newton = NewtonSettings {
            iterations: 60,
            tolerance: 1e-9,
            step: StepRule::Fixed(1.0),
            linear: LinearSettings::direct(),
            regularization: Regularization::Relative(1e-12),
            start: Start::Warm,
            form,
            ..NewtonSettings::default()
        };
        let geometric = GeometricStiffness::Off;
        let settings = NonlinearSettings { newton, elements, geometric, ..NonlinearSettings::default() };
        let mut stepper = NonlinearStepper::new(&model, settings).unwrap();
        let mut state = State::clone(&model.initial);
        let mut sim =
            Simulation::new(model.clone(), SimSettings { linearizations: 30, ..SimSettings::default() });
        for step in 0..10 {
            let report = stepper.step(&model, &mut state, h).unwrap();
            assert!(report.error < 1e-8, "{law:?} step {step}: {report:?}");
            sim.step(h).unwrap();
        }
        let tip = |s: &State| {
            Placement::of(&model, s)
                .kinematics(&model)
                .vertex_position(SoftId(0), model.solids[0].rest.len() - 1)
        };
        let (a, b) = (tip(&state), tip(sim.state()));
        let moved = (b - tip(&model.initial)).length();
        assert!(moved > 5e-3 && (a - b).length() < 1e-5 * moved, "{law:?}: {a} {b}");
    }
}

/// All preconditioners of the stiffness form lead to the same motion, and multigrid in the fewest iterations.
#[test]
fn multigrid_and_incomplete_factors_save_iterations() {
    let model = beam(Law::Corotated);
    let run = |preconditioner| {
        let linear = LinearSettings {
            iterations: 2000,
            tolerance: 1e-10,
            preconditioner,
            ..LinearSettings::default()
        };
        let newton = NewtonSettings {
            iterations: 30,
            tolerance: 1e-8,
            step: StepRule::Fixed(1.0),
            regularization: Regularization::Relative(1e-12),
            form: SystemForm::Stiffness,
            linear,
            ..NewtonSettings::default()
        };
        let settings =
            NonlinearSettings { newton, geometric: GeometricStiffness::Off, ..NonlinearSettings::default() };
        let mut stepper = NonlinearStepper::new(&model, settings).unwrap();
        let mut state = State::clone(&model.initial);
        let report = stepper.step(&model, &mut state, 0.01).unwrap();
        assert!(report.error < 1e-7, "{preconditioner:?}: {report:?}");
        (report.linear as f64 / report.iterations as f64, state)
    };
    use PreconditionerKind::*;
    let [diagonal, blocks, factors, levels] =
        [Diagonal, BlockDiagonal, IncompleteCholesky, Multigrid].map(run);
    for other in [&blocks, &factors, &levels] {
        let off = other.1.q.iter().zip(&diagonal.1.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{off} m apart");
    }
    let counts = [diagonal.0, factors.0, levels.0];
    assert!(factors.0 < 0.5 * diagonal.0 && levels.0 < 0.7 * factors.0, "{counts:?}");
}

/// The non-linear step through `Simulation`: the same report, forces and yardstick as the other solvers.
#[test]
fn simulation_steps_nonlinearly_and_reports_as_the_others() {
    let scene = Scene {
        gravity: Vec3::new(0.0, 0.0, -G),
        bodies: vec![
            Body::new("floor", Geometry::Plane).fixed(),
            Body::new("box", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(3.0),
        ],
        ..Scene::default()
    };
    let settings = SimSettings { solver: stiction::SolverKind::NonlinearNewton, ..SimSettings::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), settings);
    for _ in 0..20 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved() && r.contacts == 4, "{r:?}");
        assert!(r.residuals.natural < 1e-8 && r.residuals.momentum < 1e-8, "{:?}", r.residuals);
        assert!(r.residuals.penetration < 1e-9 && r.times.total() > 0.0);
    }
    let force: f64 = sim.contacts().map(|(_, f)| f.z.abs()).sum();
    assert!((force / (3.0 * G) - 1.0).abs() < 1e-6, "{force} N");
}

/// A box of 2 kg that stands on a plane at a gap of exactly zero.
fn standing_box() -> Model {
    let scene = Scene {
        gravity: Vec3::new(0.0, 0.0, -G),
        bodies: vec![
            Body::new("floor", Geometry::Plane).fixed(),
            Body::new("box", Geometry::Box { half: Vec3::splat(0.125) }).at(0.0, 0.0, 0.125).with_mass(2.0),
        ],
        ..Scene::default()
    };
    scene.compile().unwrap()
}

/// N12: ũ has the explicit gyroscopic torque −ω × I ω of the start of the step, in world axes.
#[test]
fn n12_a_free_body_takes_one_explicit_step_of_the_gyroscopic_torque() {
    let (half, mass, h) = (Vec3::new(0.1, 0.2, 0.4), 3.0, 0.01);
    let spin = Vec3::new(1.0, -2.0, 3.0);
    let turn = Quat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize();
    let mut body = Body::new("box", Geometry::Box { half }).with_mass(mass);
    body.spin = spin;
    body.pose.rotation = turn;
    let model = Scene { bodies: vec![body], ..Scene::default() }.compile().unwrap();
    let newton = NewtonSettings { iterations: 1, step: StepRule::Fixed(1.0), ..NewtonSettings::default() };
    let state = run(&model, NonlinearSettings { newton, ..NonlinearSettings::default() }, 1, h);
    // In axes of the box: I ω̇ = −ω × I ω with I = m/3 (b² + c², …).
    let square = half * half;
    let inertia = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y) * (mass / 3.0);
    let w = turn.conjugate() * spin;
    let expected = spin - turn * (w.cross(inertia * w) / inertia) * h;
    let found = model.com_velocity(&state, BodyId(0)).1;
    assert!((expected - spin).length() > 0.01, "a torque that counts");
    assert!((found - expected).length() < 1e-13, "{found} {expected}");
}

/// N14: from u = λ = 0 a contact at gap 0 has α = 0, so that the first iteration falls freely, and the second sees a gap of
/// −g h². Each corner has r = 4/m, and all four together W = 4/m: then α = 2 on row and column leaves a fifth of the speed, rows
/// divided by α leave a third.
#[test]
fn n14_the_first_iteration_ignores_a_contact_at_gap_zero_and_the_second_does_not() {
    let (model, h) = (standing_box(), 0.01);
    for (derivative, left) in
        [(Derivative::Literal, 0.2), (Derivative::Scaled, 0.2), (Derivative::Divided, 1.0 / 3.0)]
    {
        for (iterations, share) in [(1, 1.0), (2, left)] {
            let newton = NewtonSettings {
                iterations,
                derivative,
                step: StepRule::Fixed(1.0),
                regularization: Regularization::Absolute(0.0),
                linear: LinearSettings::direct(),
                ..NewtonSettings::default()
            };
            let mut stepper =
                NonlinearStepper::new(&model, NonlinearSettings { newton, ..NonlinearSettings::default() })
                    .unwrap();
            let mut state = State::clone(&model.initial);
            stepper.step(&model, &mut state, h).unwrap();
            assert_eq!(stepper.contacts().filter(|(c, _)| c.gap == 0.0).count(), 4);
            let v = model.com_velocity(&state, BodyId(1)).0.z / (-G * h);
            assert!((v - share).abs() < 1e-9, "{derivative:?}, {iterations} iterations: {v} of g h");
        }
    }
}

/// 10.3: at rest each of four corners carries m g/4 = −C_n/e.
#[test]
fn contact_compliance_lets_a_box_sink_in_the_non_linear_step() {
    let (model, compliance) = (standing_box(), 1e-3);
    let settings = NonlinearSettings { contact_compliance: compliance, ..NonlinearSettings::robust(&model) };
    // Implicit Euler takes a tenth of the oscillation with every step.
    let state = run(&model, settings, 400, 0.01);
    let sunk = 0.125 - place(&model, &state, "box").z;
    let closed = 2.0 * G * compliance / 4.0;
    assert!((sunk / closed - 1.0).abs() < 1e-6, "{sunk} m of {closed} m");
}

/// 8.1: without friction, halved steps never let the residual rise, where whole steps do.
#[test]
fn a_line_search_lets_the_residual_fall_in_every_iteration() {
    let p = samples::wall_with_speed(3, 3, 0.0, 0.3, 3);
    let merits = |step| {
        let settings = NewtonSettings {
            iterations: 200,
            tolerance: 1e-9,
            step,
            derivative: Derivative::Divided,
            regularization: Regularization::Relative(1e-9),
            linear: LinearSettings::direct(),
            ..NewtonSettings::default()
        };
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        let mut solver = NonsmoothNewton::new(settings);
        let report = solver.solve(&p, &mut x, &mut ());
        assert!(report.status.is_solved(), "{step:?}: {report:?}");
        assert_eq!(solver.loops().map(|l| l.stalls).sum::<usize>(), 0);
        solver.looks().iter().map(|l| (l.merit, l.share)).collect::<Vec<_>>()
    };
    let rises = |m: &[(f64, f64)]| m.windows(2).any(|w| w[1].0 >= w[0].0);
    let (searched, whole) = (merits(StepRule::LineSearch(20)), merits(StepRule::Fixed(1.0)));
    assert!(!rises(&searched), "{searched:?}");
    assert!(rises(&whole), "{whole:?}");
    let shortened = searched[1..].iter().filter(|l| l.1 < 1.0).count();
    assert!(shortened > 0 && searched[1..].iter().all(|l| l.1.log2().fract() == 0.0), "{searched:?}");
}

/// Started freely, momentum is balanced at the first iterate; from zero all of the free momentum is missing.
#[test]
fn a_free_start_has_the_velocity_without_contacts() {
    let (model, h) = (standing_box(), 0.01);
    let p = samples::heavy_stack(1);
    for (start, missing) in [(Start::Free, 0.0), (Start::Zero, 1.0)] {
        let newton = NewtonSettings { start, ..NewtonSettings::default() };
        let mut stepper =
            NonlinearStepper::new(&model, NonlinearSettings { newton, ..NonlinearSettings::default() })
                .unwrap();
        stepper.step(&model, &mut State::clone(&model.initial), h).unwrap();
        let first = stepper.looks()[0].momentum / (2.0 * G * h);
        assert!((first - missing).abs() < 1e-12, "{start:?}, non-linear: {first} of m g h");
        let mut solver = NonsmoothNewton::new(newton);
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        solver.solve(&p, &mut x, &mut ());
        let first = solver.looks()[0].momentum / (8.0 * samples::GRAVITY * samples::TIME_STEP);
        assert!((first - missing).abs() < 1e-12, "{start:?}, frozen: {first} of m g h");
    }
}
