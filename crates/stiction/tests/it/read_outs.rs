//! Every read-out answers from the step that was taken, whichever method took it: contacts, forces of pairs and joints, angles,
//! energies, overlap and the yardstick's residuals, on rigid, jointed, soft and mixed scenes. What a method of another law does
//! differently shows in its residuals.

use crate::stage;

use crate::stage::{G, cube, empty, floor, force_of, force_on, id, start_with, velocity};
use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Force, Joint, JointKind, Motor, Owner, Path, SoftBody, SpringEnd, SpringSpec, Target};
use stiction::solvers::exact::{Exact, Settings};
use stiction::{Body, Geometry, Scene, Scheme, SimSettings, Simulation, SolverKind, StepReport, Vec3};

const H: f64 = 0.005;

fn sim(scene: &Scene, kind: SolverKind) -> Simulation {
    start_with(scene, Scheme::ImplicitEuler, kind)
}

/// All methods that step, with both schemes.
fn steppers() -> impl Iterator<Item = (SolverKind, Scheme)> {
    SolverKind::STEPPING.into_iter().flat_map(|k| [Scheme::ImplicitEuler, Scheme::Midpoint].map(|s| (k, s)))
}

fn settle(sim: &mut Simulation, h: f64, steps: usize) -> StepReport {
    (0..steps).for_each(|_| {
        sim.step(h).expect("the state stays finite");
    });
    sim.report().clone()
}

/// Share by which the forces of a method may be off, at rest.
fn slack(kind: SolverKind) -> f64 {
    match kind {
        SolverKind::Cond => 0.2,
        _ if kind.holds_rigidly() => 1e-4,
        _ => 2e-2,
    }
}

/// What holds for the report of every method on a scene with contacts at rest; `mass` is that of all bodies.
fn check_report(kind: SolverKind, sim: &Simulation, mass: f64, h: f64) {
    let (name, r) = (kind.name(), sim.report());
    let fall = G * h;
    assert!(r.residuals.are_finite(), "{name}: {:?}", r.residuals);
    // The printed COND stops on its last update, wherever that leaves momentum, and says so.
    if kind != SolverKind::Cond {
        assert!(r.status.is_solved(), "{name}: {:?}, {:?}", r.status, r.residuals);
        assert!(r.residuals.momentum < 1e-2 * mass.sqrt() * fall, "{name}: {:?}", r.residuals);
    }
    assert_eq!(r.contacts, sim.contacts().count(), "{name}");
    assert!(r.contacts > 0, "{name}");
    if kind.solves_coulomb() {
        assert!(r.residuals.natural < 1e-3 * fall, "{name}: {:?}", r.residuals);
        assert!(r.overlap < 1e-5, "{name}: {}", r.overlap);
    }
    if kind == SolverKind::Penalty {
        // A penalty force needs an overlap, which Signorini's law does not allow.
        assert!(r.residuals.natural > 1e-2 * fall, "{name}: {:?}", r.residuals);
        assert!(r.overlap > 0.0 && r.residuals.penetration > 0.0, "{name}: {}", r.overlap);
    }
    assert!(r.times.total() > 0.0, "{name}");
    // Contact problems are those of the steps that pose them.
    assert_eq!(sim.problem().is_some(), kind.solves_problems(), "{name}");
    assert!(sim.problem().is_none_or(|p| p.key.len() == r.contacts), "{name}");
}

/// A cube of 1 kg on a floor, pushed along x by 0.3 of its weight.
fn pushed() -> Scene {
    let mut scene = floor(0.5);
    scene.bodies.push(cube("it", 0.1, 0.5));
    scene.forces.push(Force {
        target: "it".into(),
        force: Vec3::X * (0.3 * G),
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    });
    scene
}

#[test]
fn a_pushed_cube_is_held_by_the_force_that_its_contacts_show() {
    for (kind, scheme) in steppers() {
        let mut sim = start_with(&pushed(), scheme, kind);
        settle(&mut sim, H, 200);
        check_report(kind, &sim, 1.0, H);
        let name = format!("{}, {}", kind.name(), scheme.name());
        let (force, expected) = (force_on(&sim, "it"), Vec3::new(-0.3 * G, 0.0, G));
        let accelerates = velocity(&sim, "it").length() / H < 10.0 * slack(kind) * G;
        assert!(accelerates || kind == SolverKind::Penalty, "{name}: {}", velocity(&sim, "it"));
        assert!((force - expected).length() < slack(kind) * G, "{name}: {force}");
        assert_eq!(force_of(&sim, "it", "floor"), force, "{name}");
        assert_eq!(force_of(&sim, "floor", "it"), -force, "{name}");
        // The same from the list of contacts: on side a, friction within its cone, the normal from b to a.
        let mut sum = Vec3::ZERO;
        for (c, f) in sim.contacts() {
            let local = c.frame * f;
            assert!(local.x >= 0.0, "{name}: {local}");
            assert!(local.y.hypot(local.z) <= 0.5 * local.x * 1.01 + 1e-6 * G, "{name}: {local}");
            let on_it = sim.model().shapes[c.key.shape_a.index()].owner == Owner::Body(id(&sim, "it"));
            sum += if on_it { f } else { -f };
            assert!((c.normal().z.abs() - 1.0).abs() < 1e-3, "{name}: {}", c.normal());
            assert!(c.point.z.abs() < 1e-2, "{name}: {}", c.point);
        }
        assert!((sum - force).length() < 1e-12, "{name}: {sum}");
    }
}

/// An arm of 1 kg that a motor turns about a vertical axis, half a metre out, at 2 turns per second.
fn turning() -> Scene {
    let mut scene = empty();
    let half = Vec3::splat(0.1);
    scene.bodies.push(Body::new("arm", Geometry::Box { half }).with_mass(1.0).at(0.5, 0.0, 0.0));
    let mut hinge = Joint::to_world("hinge", JointKind::Hinge, "arm").at(Vec3::ZERO).about(Vec3::Z);
    let rate = Path::constant(2.0 * std::f64::consts::TAU);
    hinge.motor = Some(Motor { target: Target::Velocity(rate), stiffness: 0.0, damping: 1e3, limit: 1e6 });
    scene.joints.push(hinge);
    scene
}

#[test]
fn joints_count_turns_and_show_what_they_carry() {
    for (kind, scheme) in steppers() {
        let mut sim = start_with(&turning(), scheme, kind);
        let h = 0.002;
        (0..1000).for_each(|_| {
            sim.step(h).expect("the state stays finite");
        });
        let (name, rate) = (format!("{}, {}", kind.name(), scheme.name()), 2.0 * std::f64::consts::TAU);
        let (angle, turning) = sim.joint_position(0);
        assert!((turning / rate - 1.0).abs() < 1e-2, "{name}: {turning} rad/s");
        assert!((angle / (rate * 2.0) - 1.0).abs() < 2e-2, "{name}: {angle} rad, not {}", 2.0 * rate);
        // It carries the weight and holds the arm on its circle.
        let (force, _) = sim.joint_force(0);
        let x = stage::position(&sim, "arm");
        let inward = -Vec3::new(x.x, x.y, 0.0).normalize();
        let central = 0.5 * turning * turning;
        // The printed COND stops on its last update: of the end velocity of the midpoint rule it leaves out a part.
        let weight = if (kind, scheme) == (SolverKind::Cond, Scheme::Midpoint) { 0.1 } else { 2e-2 };
        assert!((force.z / G - 1.0).abs() < weight, "{name}: {force}");
        assert!((force.dot(inward) / central - 1.0).abs() < 5e-2, "{name}: {force}, inward {central}");
        assert_eq!(sim.report().joints, 1, "{name}");
        assert!(sim.report().joint_error < 1e-2, "{name}: {}", sim.report().joint_error);
        assert_eq!(sim.output().joints.len(), 1, "{name}");
    }
}

/// A soft block on a floor, with a stiff box on top of it if `loaded`.
fn cushion(loaded: bool) -> Scene {
    let mut scene = floor(0.5);
    let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 500.0 };
    let mut soft = SoftBody::new("cushion", shapes::block([3, 3, 2], Vec3::new(0.3, 0.3, 0.1)), material);
    soft.damping = Damping { mass: 5.0, ..Damping::default() };
    scene.solids.push(soft);
    if loaded {
        let half = Vec3::new(0.1, 0.1, 0.05);
        scene.bodies.push(Body::new("box", Geometry::Box { half }).with_mass(5.0).at(0.0, 0.0, 0.151));
    }
    scene
}

#[test]
fn soft_bodies_show_what_they_stand_on_and_carry() {
    for loaded in [false, true] {
        for kind in SolverKind::STEPPING {
            let name = format!("{}, loaded: {loaded}", kind.name());
            let mut sim = sim(&cushion(loaded), kind);
            let mass: f64 = sim.model().solids[0].mass.iter().sum();
            settle(&mut sim, 2.0 * H, 100);
            // Means over a quarter of a second: what swings a little has its weight only on the whole.
            let (soft, ground) = (Owner::Solid(SoftId(0)), Owner::Body(id(&sim, "floor")));
            let (mut from_ground, mut from_above) = (Vec3::ZERO, Vec3::ZERO);
            for _ in 0..25 {
                sim.step(2.0 * H).expect("the state stays finite");
                from_ground += sim.force_on(soft, Some(ground)) / 25.0;
                from_above += sim.force_on(soft, None) / 25.0 - sim.force_on(soft, Some(ground)) / 25.0;
            }
            check_report(kind, &sim, mass + if loaded { 5.0 } else { 0.0 }, 2.0 * H);
            let above = if loaded { 5.0 * G } else { 0.0 };
            let whole = mass * G + above;
            let off = slack(kind).max(2e-2) * whole;
            assert!((from_ground.z - whole).abs() < off, "{name}: {from_ground}, not {whole}");
            assert!((from_above.z + above).abs() < off, "{name}: {from_above}, not {above}");
            assert!(sim.energy().elastic > 0.0, "{name}");
        }
    }
}

#[test]
fn energies_are_those_of_closed_forms() {
    // A cube of 1 kg in the air that moves and spins, on a spring of 50 N/m from the origin, 0.3 m longer than at rest.
    let (v, w, x, half) = (Vec3::new(0.4, -0.2, 1.0), Vec3::new(1.0, 2.0, -3.0), Vec3::Z * 0.8, 0.1);
    let mut scene = empty();
    let mut body = cube("it", half, 0.5);
    body.pose.translation = x;
    (body.velocity, body.spin) = (v, w);
    scene.bodies.push(body);
    let ends = [SpringEnd::world(Vec3::ZERO), SpringEnd::on("it", Vec3::ZERO)];
    scene.springs.push(SpringSpec { rest_length: Some(0.5), ..SpringSpec::new("spring", ends, 50.0) });
    for (kind, scheme) in steppers() {
        let mut sim = start_with(&scene, scheme, kind);
        let name = format!("{}, {}", kind.name(), scheme.name());
        for step in 0..5 {
            let (at, v) = (stage::position(&sim, "it"), velocity(&sim, "it"));
            let inertia = 2.0 / 3.0 * half * half;
            let w = stage::spin(&sim, "it");
            let e = sim.energy();
            for (got, want) in [
                (e.kinetic, 0.5 * v.length_squared() + 0.5 * inertia * w.length_squared()),
                (e.potential, G * at.z),
                (e.elastic, 0.5 * 50.0 * (at.length() - 0.5).powi(2)),
            ] {
                assert!(
                    (got - want).abs() < 1e-12 * (1.0 + want),
                    "{name}, step {step}: {got} J, not {want} J"
                );
            }
            sim.step(H).expect("the state stays finite");
        }
    }
}

#[test]
fn a_given_solver_takes_the_steps_whatever_the_settings_name() {
    for kind in [SolverKind::Penalty, SolverKind::NonlinearNewton, SolverKind::Apgd] {
        let model = pushed().compile().expect("the scene of the story compiles");
        let settings = SimSettings { solver: kind, ..SimSettings::default() };
        let mut sim =
            Simulation::new(model, settings).with_solver(Box::new(Exact::new(Settings::stepping())));
        let report = settle(&mut sim, H, 20);
        assert!(sim.problem().is_some(), "{}", kind.name());
        assert!(report.residuals.natural < 1e-9 && report.overlap < 1e-9, "{}: {report:?}", kind.name());
    }
}

#[test]
fn nothing_is_left_to_read_of_a_run_that_was_left() {
    for kind in [SolverKind::Exact, SolverKind::Penalty, SolverKind::NonlinearNewton] {
        let mut sim = sim(&pushed(), kind);
        let start = sim.snapshot();
        settle(&mut sim, H, 5);
        sim.restore(&start);
        assert_eq!(sim.contacts().count(), 0, "{}", kind.name());
        assert_eq!(force_on(&sim, "it"), Vec3::ZERO, "{}", kind.name());
    }
}
