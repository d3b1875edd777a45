//! A scene that cannot be is refused with an error that names the item and the remedy; one that can becomes a model
//! with bodies numbered in order, shapes relative to the centre of mass, and masses that follow from the shapes.

use stiction::coords::{BodyId, NodeId};
use stiction::linalg::rotation;
use stiction::scene::{
    Combine, Ease, Force, Keyframe, MassSpec, Motion, Owner, PairRule, Particle, Reads, Sensor, SensorKind,
    Shape, SurfaceFriction,
};
use stiction::{Body, Geometry, Mat3, Pose, Quat, Scene, Vec3};

fn particle() -> Particle {
    Particle {
        name: "dot".into(),
        mass: 0.1,
        radius: 0.01,
        position: Vec3::new(0.0, 1.0, 2.0),
        velocity: Vec3::X,
        friction: 0.3,
        restitution: 0.5,
    }
}

fn push() -> Force {
    Force {
        target: "crate".into(),
        force: Vec3::X,
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    }
}

fn rule(a: &str, b: &str) -> PairRule {
    PairRule { a: a.into(), b: b.into(), collide: true, friction: None, restitution: None }
}

/// A floor, a crate and a particle.
fn scene() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    scene.bodies.push(Body::new("crate", Geometry::Box { half: Vec3::splat(0.5) }).at(0.0, 0.0, 0.5));
    scene.particles.push(particle());
    scene
}

fn sensor(scene: &mut Scene, name: &str, reads: Reads) {
    scene.sensors.push(Sensor { name: name.into(), reads });
}

fn shape(scene: &mut Scene, geometry: Geometry) {
    scene.bodies[1].shapes[0] = Shape::new(geometry);
}

fn given(scene: &mut Scene, inertia: Mat3) {
    scene.bodies[1].mass = MassSpec::Given { mass: 1.0, inertia, com: Vec3::ZERO };
}

fn keyframes(scene: &mut Scene, times: &[f64]) {
    let keys = times.iter().map(|t| Keyframe { time: *t, pose: Pose::IDENTITY }).collect();
    scene.bodies[1].motion = Motion::Keyframes { keys, ease: Ease::Linear };
}

fn tetrahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    (vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
}

type Spoil = fn(&mut Scene);

#[test]
fn every_error_names_the_item_and_says_what_is_wrong() {
    const NAN: f64 = f64::NAN;
    let cases: Vec<(&str, &str, Spoil)> = vec![
        ("body number 1", "name is empty", |s| s.bodies[0].name.clear()),
        ("particle number 1", "name is empty", |s| s.particles[0].name.clear()),
        ("body `floor`", "taken", |s| s.bodies[1].name = "floor".into()),
        ("particle `crate`", "taken", |s| s.particles[0].name = "crate".into()),
        ("the scene", "gravity must be finite", |s| s.gravity.y = NAN),
        ("body `crate`", "position of the pose must be finite", |s| s.bodies[1].pose.translation.x = NAN),
        ("body `crate`", "quaternion of the pose", |s| {
            s.bodies[1].pose.rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)
        }),
        ("body `crate`", "quaternion of the pose", |s| s.bodies[1].pose.rotation.x = NAN),
        ("body `crate`", "the velocity must be finite", |s| s.bodies[1].velocity.x = f64::INFINITY),
        ("body `crate`", "the spin must be finite", |s| s.bodies[1].spin.z = NAN),
        ("body `crate`", "density must be positive and finite; got -3", |s| {
            s.bodies[1].mass = MassSpec::Density(-3.0)
        }),
        ("body `crate`", "density must be positive", |s| s.bodies[1].mass = MassSpec::Density(NAN)),
        ("body `crate`", "mass must be positive and finite; got 0", |s| {
            s.bodies[1].mass = MassSpec::Mass(0.0)
        }),
        ("body `crate`", "out of range; check the units", |s| {
            shape(s, Geometry::Box { half: Vec3::splat(1e3) });
            s.bodies[1].mass = MassSpec::Density(1e307);
        }),
        ("body `crate`", "its half size is 2e9 m; lengths and coordinates are at most 1e9 m", |s| {
            shape(s, Geometry::Box { half: Vec3::splat(2e9) });
        }),
        ("body `crate`", "its position is -1e300 m", |s| s.bodies[1].pose.translation.y = -1e300),
        ("particle `dot`", "its radius is 1e10 m", |s| s.particles[0].radius = 1e10),
        ("body `crate`", "plane has no mass", |s| shape(s, Geometry::Plane)),
        ("body `crate`", "no shapes to take the mass from", |s| s.bodies[1].shapes.clear()),
        ("body `crate`, shape 2", "radius of a sphere must be positive", |s| {
            s.bodies[1].shapes.push(Shape::new(Geometry::Sphere { radius: 0.0 }));
        }),
        ("body `crate`", "half size of a box along y must be positive", |s| {
            shape(s, Geometry::Box { half: Vec3::new(1.0, -1.0, 1.0) });
        }),
        ("body `crate`", "radius of a capsule", |s| {
            shape(s, Geometry::Capsule { half_height: 1.0, radius: NAN })
        }),
        ("body `crate`", "half height of a capsule", |s| {
            shape(s, Geometry::Capsule { half_height: 0.0, radius: 1.0 })
        }),
        ("body `crate`", "radius of a cylinder", |s| {
            shape(s, Geometry::Cylinder { half_height: 1.0, radius: -1.0 })
        }),
        ("body `crate`", "half height of a cylinder", |s| {
            shape(s, Geometry::Cylinder { half_height: f64::INFINITY, radius: 1.0 });
        }),
        ("body `crate`", "at least 4 points; got 3", |s| {
            shape(s, Geometry::ConvexHull { points: vec![Vec3::ZERO, Vec3::X, Vec3::Y] });
        }),
        ("body `crate`", "lie in one plane", |s| {
            shape(
                s,
                Geometry::ConvexHull { points: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)] },
            );
        }),
        ("body `crate`", "lie in one plane", |s| {
            shape(s, Geometry::ConvexHull { points: vec![Vec3::ONE; 5] })
        }),
        ("body `crate`", "point 1 is not finite", |s| {
            shape(s, Geometry::ConvexHull { points: vec![Vec3::ZERO, Vec3::NAN, Vec3::Y, Vec3::Z] });
        }),
        ("body `crate`", "mesh is empty", |s| {
            shape(s, Geometry::TriMesh { vertices: vec![], triangles: vec![] })
        }),
        ("body `crate`", "triangle 1 names vertex 4, but there are only 4", |s| {
            let (vertices, mut triangles) = tetrahedron();
            triangles[1][2] = 4;
            shape(s, Geometry::TriMesh { vertices, triangles });
        }),
        ("body `crate`", "zero area", |s| {
            shape(
                s,
                Geometry::TriMesh {
                    vertices: vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0],
                    triangles: vec![[0, 1, 2]],
                },
            );
        }),
        ("body `crate`", "not closed", |s| {
            let (vertices, mut triangles) = tetrahedron();
            triangles.pop();
            shape(s, Geometry::TriMesh { vertices, triangles });
        }),
        ("body `crate`", "turn the faces outwards", |s| {
            let (vertices, mut triangles) = tetrahedron();
            triangles.iter_mut().for_each(|t| t.swap(0, 1));
            shape(s, Geometry::TriMesh { vertices, triangles });
        }),
        ("body `crate`", "friction must be finite and not negative; got -0.1", |s| {
            s.bodies[1].shapes[0].friction = SurfaceFriction::Isotropic(-0.1);
        }),
        ("body `crate`", "each coefficient of elliptic friction must be positive", |s| {
            s.bodies[1].shapes[0].friction =
                SurfaceFriction::Elliptic { mu1: 0.5, mu2: 0.0, direction: Vec3::X };
        }),
        ("body `crate`", "direction of elliptic friction has zero length", |s| {
            s.bodies[1].shapes[0].friction =
                SurfaceFriction::Elliptic { mu1: 0.5, mu2: 0.1, direction: Vec3::ZERO };
        }),
        ("body `crate`", "restitution must lie between 0 and 1; got 1.5", |s| {
            s.bodies[1].shapes[0].restitution = 1.5
        }),
        ("body `crate`", "inertia is not finite", |s| given(s, Mat3::NAN)),
        ("body `crate`", "not symmetric", |s| {
            given(s, Mat3::from_cols(Vec3::X, Vec3::new(0.1, 1.0, 0.0), Vec3::Z));
        }),
        ("body `crate`", "principal moment -1 must be positive", |s| {
            given(s, Mat3::from_diagonal(Vec3::new(1.0, -1.0, 1.0)));
        }),
        ("body `crate`", "principal moment 3 exceeds the sum of the other two, 1 + 1", |s| {
            given(s, Mat3::from_diagonal(Vec3::new(1.0, 3.0, 1.0)));
        }),
        ("body `crate`", "centre of mass must be finite", |s| {
            s.bodies[1].mass = MassSpec::Given { mass: 1.0, inertia: Mat3::IDENTITY, com: Vec3::NAN };
        }),
        ("body `crate`", "no keyframes", |s| keyframes(s, &[])),
        ("body `crate`", "keyframe 3 at 1 s does not come after keyframe 2 at 1 s", |s| {
            keyframes(s, &[0.0, 1.0, 1.0])
        }),
        ("body `crate`", "keyframe 2: the time is not finite", |s| keyframes(s, &[0.0, NAN])),
        ("body `crate`", "velocity of its motion must be finite", |s| {
            s.bodies[1].motion = Motion::Constant { velocity: Vec3::NAN, spin: Vec3::ZERO };
        }),
        ("particle `dot`", "mass must be positive", |s| s.particles[0].mass = 0.0),
        ("particle `dot`", "radius must be finite and not negative", |s| s.particles[0].radius = -1.0),
        ("particle `dot`", "position must be finite", |s| s.particles[0].position.z = NAN),
        ("particle `dot`", "velocity must be finite", |s| s.particles[0].velocity.z = NAN),
        ("particle `dot`", "friction must be finite", |s| s.particles[0].friction = NAN),
        ("particle `dot`", "restitution must lie", |s| s.particles[0].restitution = -0.1),
        (
            "force on `box`",
            "no body, soft body, cloth or particle `box`; known names: `crate`, `dot`, `floor`",
            |s| {
                s.forces.push(Force { target: "box".into(), ..push() });
            },
        ),
        ("force on `crate`", "from must not exceed until", |s| {
            s.forces.push(Force { from: 2.0, until: 1.0, ..push() })
        }),
        ("force on `crate`", "force must be finite", |s| s.forces.push(Force { force: Vec3::NAN, ..push() })),
        ("force on `crate`", "torque must be finite", |s| {
            s.forces.push(Force { torque: Vec3::NAN, ..push() })
        }),
        ("force on `dot`", "takes no torque", |s| {
            s.forces.push(Force { target: "dot".into(), torque: Vec3::Z, ..push() });
        }),
        ("force on `dot`", "has no extent", |s| {
            s.forces.push(Force { target: "dot".into(), at: Some(Vec3::Z), ..push() });
        }),
        ("sensor number 1", "name is empty", |s| sensor(s, "", Reads::Energy)),
        ("sensor `e`", "taken", |s| {
            sensor(s, "e", Reads::Energy);
            sensor(s, "e", Reads::Pose("crate".into()));
        }),
        ("sensor `e`", "no body, soft body, cloth or particle `moon`", |s| {
            sensor(s, "e", Reads::Velocity("moon".into()))
        }),
        ("sensor `e`", "on itself", |s| sensor(s, "e", Reads::PairForce("crate".into(), "crate".into()))),
        ("pair `crate`, `moon`", "no body, soft body, cloth or particle `moon`", |s| {
            s.pairs.push(rule("crate", "moon"))
        }),
        ("pair `crate`, `dot`", "`dot` is a particle", |s| s.pairs.push(rule("crate", "dot"))),
        ("pair `crate`, `crate`", "never touches itself", |s| s.pairs.push(rule("crate", "crate"))),
        ("pair `crate`, `floor`", "two rules", |s| {
            s.pairs.extend([rule("floor", "crate"), rule("crate", "floor")])
        }),
        ("pair `crate`, `floor`", "friction must be", |s| {
            s.pairs.push(PairRule { friction: Some(-1.0), ..rule("crate", "floor") });
        }),
        ("pair `crate`, `floor`", "restitution must", |s| {
            s.pairs.push(PairRule { restitution: Some(2.0), ..rule("crate", "floor") });
        }),
        ("contact", "margin must be finite", |s| s.contact.margin = Some(-1.0)),
        ("contact", "recovery speed must be", |s| s.contact.recovery_speed = NAN),
        ("contact", "restitution threshold must be", |s| s.contact.restitution_threshold = -1.0),
    ];
    assert!(scene().compile().is_ok());
    for (k, (item, problem, spoil)) in cases.into_iter().enumerate() {
        let mut bad = scene();
        spoil(&mut bad);
        match bad.compile() {
            Ok(_) => panic!("case {k}: no error about {item}: {problem}"),
            Err(e) => {
                assert_eq!(e.item, item, "case {k}: {e}");
                assert!(e.problem.contains(problem), "case {k}: {e}");
            }
        }
    }
}

#[test]
fn bodies_are_numbered_in_order_and_particles_come_last() {
    let mut s = scene();
    s.bodies.push(Body::new("second", Geometry::Sphere { radius: 1.0 }).at(4.0, 5.0, 6.0));
    s.bodies[2].spin = Vec3::new(1.0, 2.0, 3.0);
    let model = s.compile().unwrap();
    assert_eq!((model.layout.nq(), model.layout.nv()), (7 + 7 + 3, 6 + 6 + 3));
    assert_eq!(
        (model.bodies[0].block, model.bodies[1].block, model.bodies[2].block),
        (None, Some(0), Some(1))
    );
    assert_eq!(
        (model.bodies[2].q, model.bodies[2].dof, model.nodes[0].q, model.nodes[0].dof),
        (7, 6, 14, 12)
    );
    assert_eq!(model.initial.q[7..14], [4.0, 5.0, 6.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(model.initial.v[6..12], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(model.initial.q[14..], [0.0, 1.0, 2.0]);
    assert_eq!(model.shapes[3].owner, Owner::Node(NodeId(0)));
    assert!(model.bodies[0].mass.is_infinite());
}

#[test]
fn a_compound_has_its_centre_of_mass_and_its_shapes_hang_about_it() {
    // A hammer: a steel cube at the end of a wooden stick would need two densities; here both are alike.
    let mut hammer = Body::new("hammer", Geometry::Box { half: Vec3::splat(0.5) }).at(1.0, 2.0, 3.0);
    hammer.shapes[0].pose.translation = Vec3::new(2.0, 0.0, 0.0);
    hammer.shapes.push(Shape::new(Geometry::Box { half: Vec3::new(1.5, 0.5, 0.5) }));
    hammer.pose.rotation = Quat::from_rotation_z(0.7);
    hammer.mass = MassSpec::Mass(8.0);
    let mut s = scene();
    s.bodies.push(hammer);
    let model = s.compile().unwrap();
    let b = &model.bodies[2];
    // One bar from −1.5 to 2.5: centre 0.5, sizes 4, 1, 1, mass 8.
    assert!((b.com - Vec3::new(0.5, 0.0, 0.0)).length() < 1e-14);
    assert_eq!(b.mass, 8.0);
    let across = 8.0 * (16.0 + 1.0) / 12.0;
    assert!((b.moments - Vec3::new(8.0 * 2.0 / 12.0, across, across)).length() < 1e-13);
    assert_eq!(b.moments.y, b.moments.z);
    assert_eq!(b.principal, Quat::IDENTITY);
    let locals: Vec<Vec3> = b.shapes.clone().map(|k| model.shapes[k].local.translation).collect();
    assert!((locals[0] - Vec3::new(1.5, 0.0, 0.0)).length() < 1e-14);
    assert!((locals[1] - Vec3::new(-0.5, 0.0, 0.0)).length() < 1e-14);
    let pose = model.body_pose(&model.initial, BodyId(2));
    assert!((pose.translation - Vec3::new(1.0, 2.0, 3.0)).length() < 1e-15);
    assert!((model.shapes[b.shapes.start].reach - (2.0_f64 * 2.0 + 0.5).sqrt()).abs() < 1e-14);
}

#[test]
fn a_turned_shape_turns_its_inertia() {
    let turn = rotation::exp(Vec3::new(0.2, -0.1, 0.3));
    let geometry = Geometry::Box { half: Vec3::new(0.5, 1.0, 1.5) };
    let mut s = scene();
    let mut straight = Body::new("straight", geometry.clone());
    straight.mass = MassSpec::Density(1.0);
    let mut turned = Body { name: "turned".into(), ..straight.clone() };
    turned.shapes[0].pose.rotation = turn;
    // The same axes, given by hand.
    let r = Mat3::from_quat(turn);
    let by_hand = MassSpec::Given {
        mass: 6.0,
        inertia: r * Mat3::from_diagonal(Vec3::new(13.0, 10.0, 5.0) / 2.0) * r.transpose(),
        com: Vec3::ZERO,
    };
    let given = Body { name: "given".into(), mass: by_hand, shapes: vec![], ..straight.clone() };
    s.bodies.extend([straight, turned, given]);
    let model = s.compile().unwrap();
    let want = Vec3::new(13.0, 10.0, 5.0) / 2.0;
    for b in &model.bodies[2..] {
        assert!((b.moments - want).length() < 1e-12, "{}: {}", b.name, b.moments);
    }
    assert_eq!(model.bodies[2].principal, Quat::IDENTITY);
    for b in &model.bodies[3..] {
        assert!(b.principal.dot(turn).abs() > 1.0 - 1e-14, "{}", b.name);
    }
    let world = model.bodies[3].world_inertia(Quat::IDENTITY);
    assert!(
        (world - r * Mat3::from_diagonal(want) * r.transpose())
            .to_cols_array()
            .iter()
            .all(|x| x.abs() < 1e-12)
    );
}

#[test]
fn a_flat_plate_and_a_thin_rod_are_possible() {
    // The largest moment of a plate is exactly the sum of the others.
    let mut s = scene();
    given(&mut s, Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0)));
    assert!(s.compile().is_ok());
    given(&mut s, Mat3::from_diagonal(Vec3::new(1.0, 1.0, 1e-9)));
    let model = s.compile().unwrap();
    assert!(model.warnings.iter().any(|w| w.contains("moments differ")), "{:?}", model.warnings);
}

#[test]
fn odd_but_possible_scenes_are_warned_about() {
    let mut s = scene();
    s.particles[0].mass = 1e-9;
    s.forces.push(Force { target: "floor".into(), ..push() });
    s.bodies[0].velocity = Vec3::X;
    let warnings = s.compile().unwrap().warnings;
    for want in
        ["particle `dot`: its mass is only 1e-9 kg", "times as heavy", "no effect", "initial velocity"]
    {
        assert!(warnings.iter().any(|w| w.contains(want)), "{want}: {warnings:?}");
    }
    assert!(scene().compile().unwrap().warnings.is_empty());
}

#[test]
fn targets_are_resolved_and_quaternions_made_units() {
    let mut s = scene();
    s.bodies[1].pose.rotation = Quat::from_xyzw(0.0, 0.0, 2.0, 2.0);
    s.bodies[1].mass = MassSpec::Given { mass: 2.0, inertia: Mat3::IDENTITY, com: Vec3::new(0.1, 0.0, 0.0) };
    s.forces.push(Force { at: Some(Vec3::new(0.5, 0.0, 0.0)), ..push() });
    s.pairs.push(rule("crate", "floor"));
    s.contact.combine_friction = Combine::Min;
    sensor(&mut s, "grip", Reads::PairForce("crate".into(), "floor".into()));
    let model = s.compile().unwrap();
    let half = 0.5_f64.sqrt();
    assert!((model.initial.q[3] - half).abs() < 1e-15 && (model.initial.q[6] - half).abs() < 1e-15);
    // The centre of mass, a quarter turn about z from the body frame.
    assert!((Vec3::from_slice(&model.initial.q) - Vec3::new(0.0, 0.1, 0.5)).length() < 1e-15);
    assert!((model.forces[0].at - Vec3::new(0.4, 0.0, 0.0)).length() < 1e-15);
    assert_eq!((model.pairs[0].a, model.pairs[0].b), (Owner::Body(BodyId(0)), Owner::Body(BodyId(1))));
    assert!(model.pair_rule(Owner::Body(BodyId(1)), Owner::Body(BodyId(0))).is_some());
    assert_eq!(model.contact.combine_friction, Combine::Min);
    assert_eq!(model.sensors[0].kind, SensorKind::PairForce(Owner::Body(BodyId(1)), Owner::Body(BodyId(0))));
}
