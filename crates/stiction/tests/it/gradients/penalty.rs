//! Gradients of motions with smooth contact: for every kind of parameter, on rigid, soft and coupled scenes, with BDF1 and
//! BDF2 and all friction models, the adjoint agrees with direct sensitivities and with central differences at their best
//! step to 1e-6, and the forward run that was differentiated did solve its equations. Checkpoints change no bit of it.

use super::frictions;
use stiction::coords::{Anchor, BodyId, JointId, NodeId, SoftId, SpringId};
use stiction::diff::{
    CloudTarget, ForceTarget, Markers, Motion, NearestTarget, Objective, Param, ParamSet, PathTarget,
    PointTarget, PoseTarget, Tape, Together, check_grad,
};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Force, Joint, JointKind, Motor, Owner, SoftBody, SpringEnd, SpringSpec};
use stiction::steppers::penalty::{
    Bdf, ContactDamping, Control, ControlKind, FrictionModel, Settings, System,
};
use stiction::{Body, Geometry, Quat, Scene, Vec3};

const STEPS: usize = 25;

fn ground() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.4));
    scene
}

/// A tumbling box and a ball that meet each other and the floor, pulled by a rope and a force.
fn rigid() -> Scene {
    let mut scene = ground();
    let mut cube = Body::new("cube", Geometry::Box { half: Vec3::new(0.1, 0.12, 0.08) })
        .at(0.0, 0.0, 0.17)
        .with_mass(0.5);
    cube.pose.rotation = Quat::from_rotation_y(0.3) * Quat::from_rotation_x(0.2);
    cube.velocity = Vec3::new(1.0, 0.3, -0.5);
    cube.spin = Vec3::new(1.0, 2.0, -0.7);
    scene.bodies.push(cube.with_friction(0.4));
    let mut ball = Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(0.27, 0.06, 0.09).with_mass(0.3);
    ball.velocity = Vec3::new(-0.4, 0.1, -0.2);
    scene.bodies.push(ball.with_friction(0.4));
    scene.forces.push(Force {
        target: "cube".into(),
        force: Vec3::new(0.4, 0.0, 0.2),
        torque: Vec3::new(0.0, 0.01, 0.0),
        at: Some(Vec3::new(0.02, 0.0, 0.01)),
        from: 0.0,
        until: 0.2,
    });
    let ends = [SpringEnd::world(Vec3::new(0.0, 0.0, 0.8)), SpringEnd::on("ball", Vec3::new(0.0, 0.0, 0.05))];
    scene.springs.push(SpringSpec {
        rest_length: Some(0.4),
        damping: 0.02,
        ..SpringSpec::new("rope", ends, 3.0)
    });
    scene
}

fn soft_body(name: &str) -> SoftBody {
    let material =
        Material { law: Law::NeoHookean { threshold: 0.1 }, young: 3e3, poisson: 0.3, density: 150.0 };
    let mut block = SoftBody::new(name, shapes::block([1, 1, 1], Vec3::splat(0.1)), material);
    block.damping = Damping { mass: 0.1, stiffness: 0.0, viscosity: 20.0 };
    block.friction = 0.4;
    block.pose.translation = Vec3::new(-0.05, -0.05, 0.02);
    block.velocity = Vec3::new(0.8, 0.1, -0.6);
    block
}

fn soft() -> Scene {
    let mut scene = ground();
    let mut block = soft_body("block");
    block.spin = Vec3::new(0.0, 2.0, 1.0);
    scene.solids.push(block);
    scene
}

/// A soft block on the floor, hit by a rigid arm on a driven hinge.
fn coupled() -> Scene {
    let mut scene = ground();
    let mut block = soft_body("block");
    block.pose.translation = Vec3::new(-0.05, -0.05, 0.002);
    block.velocity = Vec3::new(0.2, 0.0, -0.1);
    scene.solids.push(block);
    let mut arm = Body::new("arm", Geometry::Box { half: Vec3::new(0.03, 0.04, 0.12) })
        .at(-0.1, 0.0, 0.15)
        .with_mass(0.4);
    arm.velocity = Vec3::new(0.3, 0.0, 0.0);
    scene.bodies.push(arm.with_friction(0.4));
    let mut hinge = Joint::new("hinge", JointKind::Hinge, "floor", "arm");
    hinge.anchor = stiction::scene::JointAnchor::World(Vec3::new(-0.1, 0.0, 0.3));
    hinge.axis = Vec3::Y;
    hinge.motor = Some(Motor::position(-0.4, 2.0, 0.05));
    scene.joints.push(hinge);
    scene
}

fn system(scene: &Scene, scheme: Bdf, friction: FrictionModel) -> System {
    let settings = Settings {
        scheme,
        friction,
        stiffness: 1e3,
        damping: ContactDamping::HuntCrossley(0.3),
        joint_stiffness: 5e3,
        tolerance: 1e-11,
        ..Settings::default()
    };
    System::new(scene.compile().unwrap(), settings, 1.0 / 80.0).unwrap()
}

/// What is aimed at a point.
#[derive(Clone, Copy)]
enum Target {
    Centre(Owner),
    Nodes,
}

fn check(
    name: &str,
    scene: &Scene,
    params: &dyn Fn(&System) -> Vec<Param>,
    controls: &[Control],
    target: Target,
) {
    for scheme in [Bdf::One, Bdf::Two] {
        for friction in FrictionModel::ALL {
            let mut s = system(scene, scheme, friction);
            s.controls = controls.to_vec();
            let list = params(&s);
            let mut set = ParamSet::new(&s, list).unwrap();
            let goal = Vec3::new(0.5, 0.2, 0.3);
            let check = match target {
                Target::Centre(owner) => {
                    let objective = PointTarget { owner, step: STEPS, target: goal, weight: Vec3::ONE };
                    check_grad(&mut s, &mut set, STEPS, &objective)
                }
                // Weights of a centre of mass would change with the rest shape; those of markers do not.
                Target::Nodes => {
                    let points = vec![Anchor::Node(NodeId(0)), Anchor::Node(NodeId(6))];
                    let seen = (0..2).map(|k| (STEPS - k, k, goal)).collect();
                    check_grad(&mut s, &mut set, STEPS, &Markers { points, seen })
                }
            };
            let check = check.unwrap();
            assert!(
                check.residual <= 1.0,
                "{name} {scheme:?} {friction:?}: forward residual {:.1e}",
                check.residual
            );
            for r in &check.rows {
                assert!(
                    r.error < 1e-6,
                    "{name} {scheme:?} {friction:?}, {}: adjoint {:e}, direct {:e}, differences {:e}",
                    r.name,
                    r.adjoint,
                    r.direct,
                    r.difference
                );
                let apart = (r.adjoint - r.direct).abs();
                assert!(
                    apart <= 1e-8 * r.adjoint.abs() + 1e-14,
                    "{name} {}: {:e} {:e}",
                    r.name,
                    r.adjoint,
                    r.direct
                );
            }
        }
    }
}

#[test]
fn rigid_bodies() {
    let (cube, ball) = (BodyId(1), BodyId(2));
    let o = Owner::Body(cube);
    let params = |s: &System| {
        let mut all = vec![
            Param::Mass(cube),
            Param::Moment(cube, 0),
            Param::Moment(cube, 2),
            Param::Position(o, 2),
            Param::Orientation(o, 0),
            Param::Orientation(o, 1),
            Param::Velocity(o, 0),
            Param::Spin(o, 1),
            Param::Velocity(Owner::Body(ball), 1),
            Param::Gravity(2),
            Param::Force(0, 0),
            Param::SpringStiffness(SpringId(0)),
            Param::SpringRest(SpringId(0)),
            Param::ContactStiffness,
            Param::ContactDamping,
            Param::Control(0, 7),
            Param::Control(1, 0),
        ];
        all.extend(frictions(s));
        all
    };
    let controls = [
        Control { kind: ControlKind::Torque(cube, 2), values: vec![0.01; STEPS] },
        Control { kind: ControlKind::SpringEnd(0, 0, 0), values: vec![0.05] },
    ];
    check("rigid", &rigid(), &params, &controls, Target::Centre(o));
}

#[test]
fn soft_bodies() {
    let s = SoftId(0);
    let o = Owner::Solid(s);
    let params = |system: &System| {
        vec![
            Param::Young(s),
            Param::Poisson(s),
            Param::Density(s),
            Param::Viscosity(s),
            Param::MassDamping(s),
            Param::RestNode(s, 0, 2),
            Param::RestNode(s, 5, 0),
            Param::Position(o, 2),
            Param::Orientation(o, 1),
            Param::Velocity(o, 0),
            Param::Spin(o, 1),
            Param::ContactStiffness,
            Param::ContactDamping,
            system.sites().pairs.last().unwrap().friction(),
            Param::Control(0, 11),
        ]
    };
    let controls = [Control { kind: ControlKind::Force(o, 1), values: vec![0.02; STEPS] }];
    check("soft", &soft(), &params, &controls, Target::Nodes);
}

#[test]
fn soft_and_rigid_bodies_with_a_motor() {
    let (s, arm) = (SoftId(0), BodyId(1));
    let params = |system: &System| {
        let mut all = vec![
            Param::Young(s),
            Param::Viscosity(s),
            Param::Mass(arm),
            Param::Moment(arm, 1),
            Param::MotorTarget(JointId(0)),
            Param::Spin(Owner::Body(arm), 1),
            Param::Velocity(Owner::Solid(s), 0),
            Param::ContactStiffness,
            Param::Control(0, 5),
        ];
        all.extend(frictions(system));
        all
    };
    let controls = [Control { kind: ControlKind::Motor(0), values: vec![0.1; STEPS] }];
    check("coupled", &coupled(), &params, &controls, Target::Centre(Owner::Solid(s)));
}

#[test]
fn checkpoints_give_the_same_bits_with_less_memory() {
    let o = Owner::Body(BodyId(1));
    let objective = PointTarget { owner: o, step: STEPS, target: Vec3::ZERO, weight: Vec3::ONE };
    let gradient = |tape: Tape| {
        let mut s = system(&rigid(), Bdf::Two, FrictionModel::Linear);
        let mut set =
            ParamSet::new(&s, vec![Param::Velocity(o, 0), Param::Mass(BodyId(1)), Param::Gravity(2)])
                .unwrap();
        let mut motion = Motion::run(&mut s, &mut set, STEPS, tape).unwrap();
        let g = motion.gradient(&objective).unwrap();
        (g, motion.held())
    };
    let ((full, all), (sparse, few)) = (gradient(Tape::Full), gradient(Tape::Checkpoints));
    assert_eq!(full, sparse);
    assert!(all == STEPS + 1 && few <= 2 * 6 + 2, "{all} phases in full, {few} with checkpoints");
}

#[test]
fn gauss_newton_products_are_those_of_the_sensitivities() {
    let o = Owner::Solid(SoftId(0));
    let objective = PointTarget { owner: o, step: STEPS, target: Vec3::ZERO, weight: Vec3::ONE };
    let mut s = system(&soft(), Bdf::One, FrictionModel::Tanh);
    let mut set =
        ParamSet::new(&s, vec![Param::Velocity(o, 0), Param::Spin(o, 1), Param::Position(o, 2)]).unwrap();
    let mut motion = Motion::run(&mut s, &mut set, STEPS, Tape::Full).unwrap();
    let unit: Vec<Vec<f64>> = (0..3).map(|i| (0..3).map(|j| f64::from(i == j)).collect()).collect();
    let (_, rows) = motion.sensitivities(&objective, &unit).unwrap();
    let x = [0.3, -1.0, 2.0];
    let product = motion.gauss_newton_product(&objective, &x).unwrap();
    for i in 0..3 {
        let expected: f64 = rows.iter().map(|r| r[i] * (0..3).map(|j| r[j] * x[j]).sum::<f64>()).sum();
        assert!(
            (product[i] - expected).abs() < 1e-10 * expected.abs().max(1e-6),
            "{} {expected}",
            product[i]
        );
    }
}

#[test]
fn all_objectives_have_right_gradients() {
    let (s, arm) = (SoftId(0), BodyId(1));
    let (soft, rigid) = (Owner::Solid(s), Owner::Body(arm));
    let at = Vec3::new(0.3, 0.1, 0.2);
    let path = PathTarget::line(rigid, 10..=STEPS, at, 2);
    let pose = PoseTarget {
        step: STEPS,
        nodes: vec![(NodeId(2), at), (NodeId(5), -at)],
        bodies: vec![(arm, at, Quat::from_rotation_x(0.4))],
        turn_weight: 0.3,
    };
    let nearest =
        NearestTarget { owner: soft, steps: 5..=STEPS, target: at, descending: true, sharpness: 20.0 };
    let clouds = vec![(12, vec![at, Vec3::new(0.01, -0.02, 0.2)]), (STEPS, vec![Vec3::new(0.0, 0.0, 0.03)])];
    let cloud = CloudTarget { solid: s, clouds };
    // The arm is driven into the block, which stands on the floor.
    let force = ForceTarget {
        on: soft,
        by: None,
        steps: 15..=STEPS,
        direction: Vec3::new(0.3, 0.1, 1.0),
        target: 1.0,
    };
    let together = Together { parts: vec![(&path, 0.5), (&force, 0.1)] };
    let all: [(&str, &dyn Objective); 6] = [
        ("path", &path),
        ("pose", &pose),
        ("nearest", &nearest),
        ("cloud", &cloud),
        ("force", &force),
        ("together", &together),
    ];
    for (name, objective) in all {
        let mut system = system(&coupled(), Bdf::Two, FrictionModel::Tanh);
        let list =
            vec![Param::Young(s), Param::Velocity(soft, 0), Param::Spin(rigid, 1), frictions(&system)[0]];
        let mut set = ParamSet::new(&system, list).unwrap();
        let check = check_grad(&mut system, &mut set, STEPS, objective).unwrap();
        assert!(check.value != 0.0 && check.residual <= 1.0, "{name}: {check:?}");
        assert!(check.worst() < 1e-6, "{name}: {:?}", check.rows);
    }
}
