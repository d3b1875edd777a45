//! Numbers of a scene that change: a copy of the model has them, whatever was made for the other numbers steps it to the same bits,
//! and nobody else sees them.

use std::sync::Arc;
use stiction::coords::{BodyId, JointId, SoftId, SpringId};
use stiction::elastic::Preset;
use stiction::mesh::shapes;
use stiction::model::{Model, Owner, Param};
use stiction::scene::{Joint, JointKind, Motor, SoftBody, SpringEnd, SpringSpec};
use stiction::{Batch, Body, Geometry, Scene, SimSettings, Simulation, SolverKind, State, Vec3};

const H: f64 = 0.005;

fn bits(state: &State) -> Vec<u64> {
    state.q.iter().chain(&state.v).map(|x| x.to_bits()).collect()
}

/// A crate on the floor, a door with a motor, a weight on a spring, and a soft block that falls on the floor.
fn mixed() -> Model {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.4));
    let half = Vec3::splat(0.05);
    let slides = Body { velocity: Vec3::new(1.0, 0.2, 0.0), ..Body::new("crate", Geometry::Box { half }) };
    scene.bodies.push(slides.at(0.0, 0.0, 0.05).with_mass(2.0).with_friction(0.4));
    scene.bodies.push(Body::new("door", Geometry::Box { half }).at(1.0, 0.0, 1.0).with_mass(0.5));
    scene
        .bodies
        .push(Body::new("weight", Geometry::Sphere { radius: 0.05 }).at(2.0, 0.0, 1.0).with_mass(0.3));
    let mut hinge = Joint::to_world("hinge", JointKind::Hinge, "door").about(Vec3::Y);
    hinge.motor = Some(Motor::position(0.5, 2.0, 0.1).with_limit(10.0));
    scene.joints.push(hinge);
    let top = SpringEnd::world(Vec3::new(2.0, 0.0, 1.5));
    scene.springs.push(SpringSpec::new("spring", [top, SpringEnd::on("weight", Vec3::ZERO)], 50.0));
    let mesh = shapes::block([2, 2, 2], Vec3::splat(0.1));
    let mut egg = SoftBody::new("egg", mesh, Preset::Rubber.material());
    egg.pose.translation = Vec3::new(-1.0, 0.0, 0.051);
    scene.solids.push(egg);
    scene.compile().unwrap()
}

/// A value for each kind of number that `exact` can have.
fn numbers() -> Vec<(Param, f64)> {
    let (egg, crate_) = (SoftId(0), BodyId(1));
    vec![
        (Param::Young(egg), 3e6),
        (Param::Poisson(egg), 0.3),
        (Param::Density(egg), 700.0),
        (Param::MassDamping(egg), 1.0),
        (Param::RestNode(egg, 0, 2), -0.045),
        (Param::friction(Owner::Body(crate_), Owner::Body(BodyId(0))), 0.15),
        (Param::Mass(crate_), 3.0),
        (Param::Moment(crate_, 1), 0.02),
        (Param::Gravity(2), -3.7),
        (Param::MotorTarget(JointId(0)), 0.3),
        (Param::MotorStiffness(JointId(0)), 7.0),
        (Param::MotorDamping(JointId(0)), 0.4),
        (Param::MotorLimit(JointId(0)), 0.05),
        (Param::SpringStiffness(SpringId(0)), 90.0),
        (Param::SpringRest(SpringId(0)), 0.3),
    ]
}

#[test]
fn what_was_made_for_other_numbers_steps_to_the_same_bits() {
    let model = Arc::new(mixed());
    for solver in
        [SolverKind::Exact, SolverKind::ConjugateResidual, SolverKind::NonlinearNewton, SolverKind::Penalty]
    {
        let settings = SimSettings { solver, ..SimSettings::default() };
        let mut used = Simulation::new(Arc::clone(&model), settings);
        for _ in 0..5 {
            used.step(H).unwrap();
        }
        let there = used.snapshot();
        let run = |sim: &mut Simulation| {
            sim.restore(&there);
            (0..4).for_each(|_| assert!(sim.step(H).is_ok()));
            bits(sim.state())
        };
        let unchanged = run(&mut used);
        for (param, value) in numbers() {
            let name = param.describe(&model);
            let before = used.model().value(param).unwrap();
            used.set(param, value).unwrap();
            let mut fresh = Simulation::new(model.with(&[(param, value)]).unwrap(), *used.settings());
            let other = run(&mut used);
            assert_eq!(other, run(&mut fresh), "{solver:?}: {name}");
            assert_ne!(other, unchanged, "{solver:?}: {name} changes nothing");
            // Back again; what a motor aims at counts from its path.
            let back = if matches!(param, Param::MotorTarget(_)) { -value } else { before };
            used.set(param, back).unwrap();
        }
    }
}

#[test]
fn worlds_with_numbers_of_their_own_step_as_single_runs() {
    let model = Arc::new(mixed());
    let all = numbers();
    let mut batch = Batch::new(Arc::clone(&model), SimSettings::default(), all.len());
    for (i, (param, value)) in all.iter().enumerate() {
        batch.set(i, *param, *value).unwrap();
    }
    (0..6).for_each(|_| batch.step(H));
    for (i, &(param, value)) in all.iter().enumerate() {
        let mut alone = Simulation::new(model.with(&[(param, value)]).unwrap(), SimSettings::default());
        (0..6).for_each(|_| assert!(alone.step(H).is_ok()));
        assert_eq!(bits(batch.state(i)), bits(alone.state()), "{}", param.describe(&model));
    }
    // Where something starts acts at a reset.
    let lift = Param::Position(Owner::Body(BodyId(1)), 2);
    batch.set(0, lift, 0.7).unwrap();
    assert!(batch.state(0).q[2] < 0.1);
    batch.reset(&(0..all.len()).map(|i| i == 0).collect::<Vec<_>>()).unwrap();
    assert_eq!(batch.state(0).q[2], 0.7);
    assert_eq!(model.value(lift).unwrap(), 0.05, "nobody else sees it");
}

#[test]
fn a_copy_shares_what_it_does_not_change() {
    let model = mixed();
    let heavier = model.with(&[(Param::Mass(BodyId(1)), 5.0)]).unwrap();
    assert!(!heavier.bodies.is(&model.bodies));
    assert!(
        heavier.solids.is(&model.solids)
            && heavier.nodes.is(&model.nodes)
            && heavier.shapes.is(&model.shapes)
    );
    assert!(Arc::ptr_eq(&heavier.initial, &model.initial) && Arc::ptr_eq(&heavier.layout, &model.layout));
    // A stiffer solid shares its mesh, and nodes keep their masses.
    let stiffer = model.with(&[(Param::Young(SoftId(0)), 2e6)]).unwrap();
    let (a, b) = (&model.solids[0], &stiffer.solids[0]);
    assert!(a.rest.is(&b.rest) && a.tets.is(&b.tets) && a.surface.is(&b.surface) && a.mass.is(&b.mass));
    assert!(stiffer.nodes.is(&model.nodes) && stiffer.bodies.is(&model.bodies));
    // Masses of nodes follow from a density.
    let mass = |m: &Model| m.nodes.iter().map(|n| n.mass).sum::<f64>();
    let before = model.value(Param::Density(SoftId(0))).unwrap();
    let denser = model.with(&[(Param::Density(SoftId(0)), 2.0 * before)]).unwrap();
    assert!((mass(&denser) / mass(&model) - 2.0).abs() < 1e-12);
}

#[test]
fn every_number_has_a_text_form() {
    let model = mixed();
    let (egg, owner) = (SoftId(0), Owner::Body(BodyId(1)));
    let forms = [
        ("egg.young", Param::Young(egg)),
        ("egg.poisson", Param::Poisson(egg)),
        ("egg.density", Param::Density(egg)),
        ("egg.viscosity", Param::Viscosity(egg)),
        ("egg.mass_damping", Param::MassDamping(egg)),
        ("egg.rest.12.y", Param::RestNode(egg, 12, 1)),
        ("friction(crate, floor)", Param::friction(owner, Owner::Body(BodyId(0)))),
        ("friction(floor,crate)", Param::friction(owner, Owner::Body(BodyId(0)))),
        ("friction(egg, floor)", Param::friction(Owner::Solid(egg), Owner::Body(BodyId(0)))),
        ("crate.mass", Param::Mass(BodyId(1))),
        ("crate.moment.3", Param::Moment(BodyId(1), 2)),
        ("crate.position.x", Param::Position(owner, 0)),
        ("egg.velocity.z", Param::Velocity(Owner::Solid(egg), 2)),
        ("crate.orientation.y", Param::Orientation(owner, 1)),
        ("crate.spin.y", Param::Spin(owner, 1)),
        ("gravity.z", Param::Gravity(2)),
        ("force.0.x", Param::Force(0, 0)),
        ("hinge.target", Param::MotorTarget(JointId(0))),
        ("hinge.motor_stiffness", Param::MotorStiffness(JointId(0))),
        ("hinge.motor_damping", Param::MotorDamping(JointId(0))),
        ("hinge.motor_limit", Param::MotorLimit(JointId(0))),
        ("spring.stiffness", Param::SpringStiffness(SpringId(0))),
        ("spring.rest_length", Param::SpringRest(SpringId(0))),
        ("contact.stiffness", Param::ContactStiffness),
        ("contact.damping", Param::ContactDamping),
    ];
    for (text, param) in forms {
        assert_eq!(Param::parse(&model, text), Ok(param), "{text}");
    }
    for (text, remedy) in [
        ("eg.young", "did you mean `egg`?"),
        ("crate.young", "`crate` is a body"),
        ("egg.yung", "did you mean `young`?"),
        ("crate.position", "`crate.position.x`"),
        ("crate.position.w", "x, y or z"),
        ("crate.moment.4", "1, 2 or 3"),
        ("friction(crate)", "friction(a, b)"),
        ("friction(crate, flor)", "did you mean `floor`?"),
        ("mass", "crate.mass"),
        ("", "crate.mass"),
        ("gravity.up", "x, y or z"),
    ] {
        let e = Param::parse(&model, text).unwrap_err().to_string();
        assert!(e.contains(remedy), "{text}: {e}");
    }
}

#[test]
fn numbers_that_cannot_be_are_refused_and_change_nothing() {
    let model = Arc::new(mixed());
    let mut sim = Simulation::new(Arc::clone(&model), SimSettings::default());
    for (param, value, why) in [
        (Param::Mass(BodyId(1)), 0.0, "must be positive"),
        (Param::Mass(BodyId(1)), f64::NAN, "not a number it can have"),
        (Param::Mass(BodyId(0)), 1.0, "only free bodies"),
        (Param::Mass(BodyId(99)), 1.0, "only free bodies"),
        (Param::friction(Owner::Body(BodyId(0)), Owner::Body(BodyId(1))), -0.1, "zero or more"),
        (Param::Young(SoftId(7)), 1.0, "no such soft body"),
        (Param::Young(SoftId(0)), -1.0, "egg"),
        (Param::Poisson(SoftId(0)), 0.6, "egg"),
        (Param::RestNode(SoftId(0), 99, 0), 0.0, "no such vertex"),
        (Param::Gravity(3), 0.0, "axes count"),
        (Param::Position(Owner::Body(BodyId(1)), 0), f64::INFINITY, "not a number it can have"),
        (Param::MotorTarget(JointId(4)), 0.0, "no motor"),
        (Param::SpringRest(SpringId(4)), 0.0, "no such spring"),
        (Param::Force(0, 0), 1.0, "no such force"),
        (Param::ContactStiffness, 1e4, "penalty method"),
    ] {
        let e = sim.set(param, value).unwrap_err().to_string();
        assert!(e.contains(why), "{param:?} = {value}: {e}");
        assert!(Arc::ptr_eq(sim.model(), &model), "{param:?} = {value}");
    }
}
