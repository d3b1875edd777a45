//! Everything with a name is found by it, a wrong name gives the nearest one, and views show what sensors, closed forms and the list
//! of contacts say, on rigid, jointed, soft and mixed scenes.

use crate::stage::{G, cube, empty, floor, id, run, start, start_with};
use stiction::coords::{BodyId, ClothId, JointId, NodeId, RodId, SensorId, SoftId, SpringId};
use stiction::elastic::Section;
use stiction::elastic::{Damping, Law, Material};
use stiction::error::NameKind;
use stiction::mesh::shapes;
use stiction::model::Side;
use stiction::scene::{
    Joint, JointKind, MassSpec, Owner, Particle, Reads, Rod, Sensor, Sheet, SoftBody, SpringEnd, SpringSpec,
    samples,
};
use stiction::{
    Batch, Body, Geometry, Mat3, NameError, Quat, Scene, Scheme, SimSettings, Simulation, SolverKind, Vec3,
};

const H: f64 = 0.005;

/// One of each kind: a crate, an arm on a hinge, a weight on a spring, a plate on a cushion, a rope on the floor, a flag in the air.
fn mixed() -> Scene {
    let mut scene = floor(0.5);
    let crate_ = &mut cube("crate", 0.1, 0.5);
    // Its centre of mass is not the origin of its frame.
    crate_.mass = MassSpec::Given {
        mass: 2.0,
        inertia: Mat3::from_diagonal(Vec3::new(0.02, 0.03, 0.04)),
        com: Vec3::new(0.02, 0.01, -0.03),
    };
    scene.bodies.push(crate_.clone());
    scene.bodies.push(cube("arm", 0.1, 0.5).at(3.0, 0.3, 1.0));
    let anchor = Vec3::new(3.0, 0.0, 1.0);
    scene.joints.push(Joint::to_world("elbow", JointKind::Hinge, "arm").at(anchor).about(Vec3::X));
    let (position, velocity) = (Vec3::new(-3.0, 0.0, 1.0), Vec3::new(0.1, 0.2, 0.3));
    let dot = Particle {
        name: "dot".into(),
        mass: 0.5,
        radius: 0.0,
        position,
        velocity,
        friction: 0.0,
        restitution: 0.0,
    };
    scene.particles.push(dot);
    let ends = [SpringEnd::world(position + Vec3::Z), SpringEnd::on("dot", Vec3::ZERO)];
    scene.springs.push(SpringSpec::new("coil", ends, 100.0));
    let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 500.0 };
    let mut cushion = SoftBody::new("cushion", shapes::block([2, 2, 1], Vec3::new(0.3, 0.3, 0.1)), material);
    cushion.pose.translation.y = 2.0;
    cushion.damping = Damping { mass: 5.0, ..Damping::default() };
    scene.solids.push(cushion);
    let half = Vec3::new(0.1, 0.1, 0.02);
    scene.bodies.push(Body::new("plate", Geometry::Box { half }).with_mass(1.0).at(0.0, 2.0, 0.121));
    let section = Section { radius: 0.01, young: 1e6, poisson: 0.3 };
    let (from, to) = (Vec3::new(-0.3, -2.0, 0.01), Vec3::new(0.3, -2.0, 0.01));
    scene.rods.push(Rod { damping: 0.01, ..Rod::new("rope", from, to, 4, section) });
    let mut flag = Sheet::new("flag", [2, 2], [0.2, 0.2]);
    flag.pose.translation = Vec3::new(0.0, -4.0, 2.0);
    scene.sheets.push(flag);
    for name in ["crate", "arm", "plate", "dot", "cushion", "flag", "rope[1]"] {
        sensor(&mut scene, "pose of", name, Reads::Pose);
        sensor(&mut scene, "velocity of", name, Reads::Velocity);
        sensor(&mut scene, "force on", name, Reads::ContactForce);
    }
    sensor(&mut scene, "angle of", "elbow", Reads::Joint);
    sensor(&mut scene, "load of", "elbow", Reads::JointForce);
    sensor(&mut scene, "plate on", "cushion", |on| Reads::PairForce(on, "plate".into()));
    scene
}

fn sensor(scene: &mut Scene, what: &str, of: &str, reads: impl Fn(String) -> Reads) {
    scene.sensors.push(Sensor { name: format!("{what} {of}"), reads: reads(of.into()) });
}

/// The mixed scene after a while.
fn settled() -> Simulation {
    let mut sim = start(&mixed(), Scheme::ImplicitEuler);
    run(&mut sim, H, 60);
    sim
}

fn values(sim: &Simulation, sensor: String) -> Vec<f64> {
    sim.sensor(&sensor).expect("the scene has this sensor").values()
}

#[test]
fn each_kind_of_name_is_found() -> Result<(), NameError> {
    let sim = start(&mixed(), Scheme::ImplicitEuler);
    let names = &sim.model().names;
    for (i, body) in sim.model().bodies.iter().enumerate() {
        assert_eq!(names.find(&body.name), Ok(BodyId(i as u32)));
        assert_eq!(sim.body(&body.name)?.name(), body.name);
        assert_eq!(names.owner(&body.name), Ok(Owner::Body(BodyId(i as u32))));
    }
    assert_eq!(names.find("rope[3]"), Ok(BodyId(7)));
    assert_eq!(names.find("dot"), Ok(NodeId(0)));
    assert_eq!(names.find("cushion"), Ok(SoftId(0)));
    // Cloth is one of the solids, after the soft bodies, and has a list of its own.
    assert_eq!(names.find("flag"), Ok(SoftId(1)));
    assert_eq!(names.find("flag"), Ok(ClothId(0)));
    assert_eq!(names.find("rope"), Ok(RodId(0)));
    assert_eq!(names.find("coil"), Ok(SpringId(0)));
    assert_eq!(names.find("elbow"), Ok(JointId(0)));
    for (i, s) in sim.model().sensors.iter().enumerate() {
        assert_eq!(names.find(&s.name), Ok(SensorId(i as u32)));
        assert_eq!(sim.sensor(&s.name)?.name(), s.name);
    }
    assert_eq!(names.owner("dot"), Ok(Owner::Node(NodeId(0))));
    assert_eq!(names.owner("flag"), Ok(Owner::Solid(SoftId(1))));
    assert_eq!(names.side("rope"), Ok(Side::Links(4..8)));
    assert_eq!(names.side("cushion"), Ok(Side::Owner(Owner::Solid(SoftId(0)))));
    assert_eq!(sim.particle("dot")?.name(), "dot");
    assert_eq!([sim.soft("cushion")?.name(), sim.soft("flag")?.name()], ["cushion", "flag"]);
    assert_eq!((sim.rod("rope")?.name(), sim.spring("coil")?.name()), ("rope", "coil"));
    assert_eq!((sim.joint("elbow")?.name(), sim.joint("elbow")?.kind()), ("elbow", JointKind::Hinge));
    let known: Vec<&str> = names.known(NameKind::Side).collect();
    let bodies = ["floor", "crate", "arm", "plate", "rope[0]", "rope[1]", "rope[2]", "rope[3]"];
    assert_eq!(known, [&bodies[..], &["dot", "cushion", "flag", "rope"]].concat());
    Ok(())
}

#[test]
fn a_wrong_name_gives_the_nearest_one() {
    let sim = start(&mixed(), Scheme::ImplicitEuler);
    let cases = [
        (sim.body("crat").err(), NameKind::Body, "crate"),
        (sim.body("rope[9]").err(), NameKind::Body, "rope[0]"),
        (sim.particle("dto").err(), NameKind::Particle, "dot"),
        (sim.soft("cusion").err(), NameKind::Soft, "cushion"),
        (sim.soft("falg").err(), NameKind::Soft, "flag"),
        (sim.rod("ropes").err(), NameKind::Rod, "rope"),
        (sim.spring("coils").err(), NameKind::Spring, "coil"),
        (sim.joint("elbwo").err(), NameKind::Joint, "elbow"),
        (sim.sensor("pose off crate").err(), NameKind::Sensor, "pose of crate"),
        (sim.force("crate", Some("flor")).err(), NameKind::Side, "floor"),
        (sim.force("rpoe", None).err(), NameKind::Side, "rope"),
        (sim.contacts_of("plat").err(), NameKind::Side, "plate"),
        (sim.model().names.owner("fllag").err(), NameKind::Owner, "flag"),
        (sim.model().names.find::<ClothId>("flga").err(), NameKind::Cloth, "flag"),
        (sim.sensor("load of elbow").unwrap().value("fx2").err(), NameKind::Column, "fx"),
    ];
    for (e, kind, nearest) in cases {
        let e = e.expect("a wrong name");
        assert_eq!((e.kind, e.nearest.as_deref()), (kind, Some(nearest)), "{e}");
        let start = format!("there is no {kind} `{}`; did you mean `{nearest}`? known ", e.name);
        assert!(e.to_string().starts_with(&start), "{e}");
    }
    // Nothing is near: the known names are listed.
    for name in ["", "ünbekannt", "\0", &"x".repeat(10_000)] {
        let e = sim.joint(name).expect_err("a wrong name");
        assert_eq!((e.nearest, e.remedy.as_str()), (None, "known joints: `elbow`"));
    }
}

#[test]
fn a_name_of_another_kind_says_of_which() {
    let sim = start(&mixed(), Scheme::ImplicitEuler);
    let cases = [
        (sim.body("cushion").err(), "`cushion` is a soft body; known bodies: `floor`, "),
        (sim.body("flag").err(), "`flag` is cloth; known bodies: "),
        (sim.body("rope").err(), "`rope` is a rod; known bodies: "),
        (sim.soft("crate").err(), "`crate` is a body; known soft bodies and cloth: `cushion`, `flag`"),
        (sim.body("elbow").err(), "`elbow` is a joint; "),
        (sim.force("coil", None).err(), "`coil` is a spring; "),
        (sim.model().names.owner("rope").err(), "`rope` is a rod; "),
        (sim.model().names.find::<ClothId>("cushion").err(), "`cushion` is a soft body; known cloth: `flag`"),
    ];
    for (e, start) in cases {
        let e = e.expect("a wrong name");
        assert!(e.remedy.starts_with(start), "{e}");
    }
    // A scene without any joint.
    let e = start(&floor(0.5), Scheme::ImplicitEuler).joint("elbow").err().map(|e| e.remedy);
    assert_eq!(e.as_deref(), Some("there are no joints"));
}

#[test]
fn views_agree_with_sensors() -> Result<(), NameError> {
    let sim = settled();
    for name in ["crate", "arm", "plate", "rope[1]"] {
        let b = sim.body(name)?;
        let (x, q) = (b.position(), b.rotation());
        assert_eq!(values(&sim, format!("pose of {name}")), [x.x, x.y, x.z, q.w, q.x, q.y, q.z], "{name}");
        let twist = [b.velocity().to_array(), b.angular_velocity().to_array()].concat();
        assert_eq!(values(&sim, format!("velocity of {name}")), twist, "{name}");
        assert_eq!(values(&sim, format!("force on {name}")), b.force().to_array(), "{name}");
        assert_eq!(sim.force(name, None)?, b.force(), "{name}");
    }
    let dot = sim.particle("dot")?;
    assert_eq!(values(&sim, "pose of dot".into()), dot.position().to_array());
    assert_eq!(values(&sim, "velocity of dot".into()), dot.velocity().to_array());
    for name in ["cushion", "flag"] {
        let s = sim.soft(name)?;
        assert_eq!(values(&sim, format!("pose of {name}")), s.centre_of_mass().to_array(), "{name}");
        assert_eq!(values(&sim, format!("velocity of {name}")), s.velocity().to_array(), "{name}");
        assert_eq!(values(&sim, format!("force on {name}")), s.force().to_array(), "{name}");
    }
    let elbow = sim.joint("elbow")?;
    let coordinate = [elbow.position(), elbow.rate()].map(|x| x.expect("a hinge has an angle"));
    assert_eq!(values(&sim, "angle of elbow".into()), coordinate);
    let load = [elbow.force().to_array(), elbow.moment().to_array()].concat();
    assert_eq!(values(&sim, "load of elbow".into()), load);
    assert_eq!(sim.sensor("load of elbow")?.value("tx")?, elbow.moment().x);
    assert_eq!(sim.sensor("load of elbow")?.columns(), ["fx", "fy", "fz", "tx", "ty", "tz"]);
    let pair = sim.force("cushion", Some("plate"))?;
    assert_eq!(values(&sim, "plate on cushion".into()), pair.to_array());
    assert!(pair.z < -0.5 * G, "the plate lies on the cushion: {pair}");
    Ok(())
}

#[test]
fn views_show_the_state() -> Result<(), NameError> {
    let sim = settled();
    let (model, state) = (sim.model(), sim.state());
    for (i, b) in model.bodies.iter().enumerate() {
        let view = sim.body(&b.name)?;
        assert_eq!((view.id(), view.mass()), (BodyId(i as u32), b.mass));
        assert_eq!(view.pose(), model.body_pose(state, view.id()), "{}", b.name);
        assert_eq!(view.centre_of_mass(), model.com_pose(state, view.id()).translation, "{}", b.name);
        // The centre of mass is a point of the body like any other, and moves like one.
        assert!((view.point(b.com) - view.centre_of_mass()).length() < 1e-15, "{}", b.name);
        assert!((view.point(Vec3::ZERO) - view.position()).length() < 1e-15, "{}", b.name);
        assert_eq!(view.velocity_of(b.com), view.velocity(), "{}", b.name);
        let local = Vec3::new(0.3, -0.2, 0.1);
        let arm = view.point(local) - view.centre_of_mass();
        let expected = view.velocity() + view.angular_velocity().cross(arm);
        assert!((view.velocity_of(local) - expected).length() < 1e-14, "{}", b.name);
    }
    let offset = sim.body("crate")?.centre_of_mass() - sim.body("crate")?.position();
    assert!((offset.length() - Vec3::new(0.02, 0.01, -0.03).length()).abs() < 1e-15, "{offset}");
    // The arm turns about its anchor, at half a circle's radius from it, by the angle of its joint.
    let (arm, elbow) = (sim.body("arm")?, sim.joint("elbow")?);
    assert!((elbow.anchor() - Vec3::new(3.0, 0.0, 1.0)).length() < 1e-9);
    let angle = elbow.position().expect("a hinge has an angle");
    let expected = elbow.anchor() + 0.3 * Vec3::new(0.0, angle.cos(), angle.sin());
    assert!(angle < -0.1 && (arm.position() - expected).length() < 1e-6, "{angle}: {}", arm.position());
    assert!((arm.angular_velocity().x - elbow.rate().expect("a hinge has a rate")).abs() < 1e-9);
    // The spring ends at the particle.
    let (dot, coil) = (sim.particle("dot")?, sim.spring("coil")?);
    assert!((Vec3::new(-3.0, 0.0, 2.0) + coil.span() - dot.position()).length() < 1e-15);
    assert_eq!((coil.length(), dot.mass()), (coil.span().length(), 0.5));
    // A soft body is its vertices; the means are weighted by mass.
    for name in ["cushion", "flag"] {
        let (s, solid) = (sim.soft(name)?, &model.solids[sim.soft(name)?.id().index()]);
        let (x, v): (Vec<Vec3>, Vec<Vec3>) = (s.vertices().collect(), s.vertex_velocities().collect());
        assert_eq!((x.len(), v.len()), (solid.rest.len(), solid.rest.len()));
        let mean = |of: &[Vec3]| of.iter().zip(&solid.mass).map(|(x, m)| *m * *x).sum::<Vec3>() / s.mass();
        assert!((mean(&x) - s.centre_of_mass()).length() < 1e-14, "{name}");
        assert!((mean(&v) - s.velocity()).length() < 1e-14, "{name}");
        assert_eq!((s.vertex(1), s.vertex(x.len())), (Some(x[1]), None));
        assert!(s.surface().iter().flatten().all(|i| (*i as usize) < x.len()), "{name}");
    }
    // So is a rod its links.
    let rope = sim.rod("rope")?;
    let links: Vec<_> = rope.links().map(|l| l.name()).collect();
    assert_eq!(links, ["rope[0]", "rope[1]", "rope[2]", "rope[3]"]);
    assert_eq!((rope.link(3).map(|l| l.id()), rope.link(4).map(|l| l.id())), (Some(BodyId(7)), None));
    let mean = |of: &dyn Fn(&str) -> Vec3| links.iter().map(|l| of(l)).sum::<Vec3>() / 4.0;
    let middle = mean(&|l| sim.body(l).unwrap().centre_of_mass());
    assert!((rope.centre_of_mass() - middle).length() < 1e-14);
    assert!((rope.velocity() - mean(&|l| sim.body(l).unwrap().velocity())).length() < 1e-14);
    Ok(())
}

#[test]
fn forces_of_pairs_add_up() -> Result<(), NameError> {
    let sim = settled();
    let standing = ["crate", "plate", "cushion", "rope"];
    for name in standing {
        let by_each: Vec3 = ["floor", "crate", "plate", "cushion", "rope", "arm", "flag", "dot"]
            .iter()
            .filter(|by| **by != name)
            .map(|by| sim.force(name, Some(by)).expect("all of them are known"))
            .sum();
        let by_all = sim.force(name, None)?;
        assert!(by_all.length() > 0.01, "{name} lies on something");
        assert!((by_each - by_all).length() < 1e-12 * by_all.length(), "{name}: {by_each}, {by_all}");
        // The list of its contacts has the same sum, and each other side is named.
        let listed: Vec3 = sim.contacts_of(name)?.map(|c| c.force()).sum();
        assert!((listed - by_all).length() < 1e-12 * by_all.length(), "{name}: {listed}, {by_all}");
        let others: Vec<&str> = sim.contacts_of(name)?.map(|c| c.with()).collect();
        let ground = if name == "plate" { "cushion" } else { "floor" };
        assert!(others.contains(&ground), "{name}: {others:?}");
        for c in sim.contacts_of(name)? {
            assert!((c.normal().length() - 1.0).abs() < 1e-12, "{name}");
            assert!(c.force().dot(c.normal()) >= -1e-12, "{name}: contacts push");
            assert!(c.gap() < 1e-3 && c.point().z < 0.2 && c.contact().gap == c.gap(), "{name}");
        }
        assert_eq!(sim.force("floor", Some(name))?, -sim.force(name, Some("floor"))?, "{name}");
    }
    let on_floor: Vec3 = sim.contacts_of("floor")?.map(|c| c.force()).sum();
    assert!((on_floor - sim.force("floor", None)?).length() < 1e-12 * on_floor.length());
    // A rod as a whole has the sum of its links, and its weight at rest.
    let rope = sim.rod("rope")?;
    let links: Vec3 = rope.links().map(|l| l.force()).sum();
    assert!((links - rope.force()).length() < 1e-12 && rope.force() == sim.force("rope", None)?);
    let weight = G * rope.mass();
    assert!((rope.force().z - weight).abs() < 1e-3 * weight, "{}, not {weight}", rope.force());
    assert_eq!(sim.contacts_of("flag")?.count(), 0, "the flag is in the air");
    assert_eq!(sim.force("flag", None)?, Vec3::ZERO);
    Ok(())
}

#[test]
fn a_body_does_not_push_itself() -> Result<(), NameError> {
    // A strip of cloth that falls onto the ground and folds onto itself.
    let scene = samples::folding_strip([4, 24]);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let mut touched = 0;
    for _ in 0..400 {
        sim.step(0.002).expect("the state stays finite");
        let inside: Vec<Vec3> =
            sim.contacts_of("strip")?.filter(|c| c.with() == "strip").map(|c| c.force()).collect();
        if inside.iter().any(|f| f.length() > 0.0) {
            touched += 1;
            let by_ground: Vec3 =
                sim.contacts_of("strip")?.filter(|c| c.with() == "ground").map(|c| c.force()).sum();
            let (all, ground) = (sim.force("strip", None)?, sim.force("strip", Some("ground"))?);
            assert_eq!(all, ground, "only the ground pushes the strip as a whole");
            assert!((ground - by_ground).length() <= 1e-12 * by_ground.length());
            assert_eq!(sim.force("strip", Some("strip"))?, Vec3::ZERO);
        }
    }
    assert!(touched > 10, "the strip folds onto itself: {touched} steps");
    Ok(())
}

#[test]
fn views_are_filled_by_every_method() -> Result<(), NameError> {
    let mut scene = empty();
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.5));
    scene.bodies.push(cube("crate", 0.1, 0.5));
    scene.bodies.push(cube("arm", 0.1, 0.5).at(3.0, 0.0, 0.5));
    scene
        .joints
        .push(Joint::to_world("elbow", JointKind::Hinge, "arm").at(Vec3::new(3.0, 0.0, 1.0)).about(Vec3::X));
    for kind in SolverKind::STEPPING {
        let mut sim = start_with(&scene, Scheme::ImplicitEuler, kind);
        let start = sim.snapshot();
        for _ in 0..100 {
            sim.step(H).expect("the state stays finite");
        }
        // The printed COND stops far from the answer, the penalty step needs an overlap.
        let slack = match kind {
            SolverKind::Cond => 0.2,
            _ if kind.holds_rigidly() => 1e-3,
            _ => 2e-2,
        };
        let name = kind.name();
        let on_crate = sim.force("crate", Some("floor"))?;
        assert!((on_crate - Vec3::Z * G).length() < slack * G, "{name}: {on_crate}");
        assert!((sim.body("crate")?.position().z - 0.1).abs() < 1e-3, "{name}");
        let elbow = sim.joint("elbow")?;
        assert!((elbow.force() - Vec3::Z * G).length() < slack * G, "{name}: {}", elbow.force());
        assert!(elbow.position().is_some_and(|x| x.abs() < 1e-3), "{name}");
        assert!(sim.contacts_of("crate")?.count() > 0, "{name}");
        // Nothing is read of a run that was left.
        sim.restore(&start);
        assert_eq!(sim.force("crate", None)?, Vec3::ZERO, "{name}");
        assert_eq!(sim.contacts_of("crate")?.count(), 0, "{name}");
        assert_eq!(sim.joint("elbow")?.force(), Vec3::ZERO, "{name}");
        assert_eq!(sim.body("crate")?.position(), Vec3::new(0.0, 0.0, 0.1), "{name}");
    }
    Ok(())
}

#[test]
fn joints_without_one_free_direction_have_no_position() -> Result<(), NameError> {
    let mut scene = empty();
    scene.bodies.push(cube("lamp", 0.1, 0.5).at(0.0, 0.0, 1.0));
    scene.joints.push(Joint::to_world("ball", JointKind::Ball, "lamp").at(Vec3::new(0.0, 0.0, 2.0)));
    scene.bodies[0].pose.rotation = Quat::from_rotation_z(0.3);
    let sim = Simulation::new(scene.compile().expect("it compiles"), SimSettings::default());
    let ball = sim.joint("ball")?;
    assert_eq!((ball.position(), ball.rate()), (None, None));
    let lamp = sim.body_at(id(&sim, "lamp"));
    assert_eq!((lamp.name(), format!("{lamp:?}").as_str()), ("lamp", "BodyView(\"lamp\")"));
    Ok(())
}

#[test]
fn worlds_of_a_batch_are_read_like_simulations() -> Result<(), NameError> {
    let mut sim = start(&mixed(), Scheme::ImplicitEuler);
    let mut batch = Batch::new(sim.model().clone(), SimSettings::default(), 2);
    let crate_ = batch.model().names.owner("crate")?;
    batch.controls(1).push(crate_, Vec3::X * G);
    sim.controls().push(crate_, Vec3::X * G);
    for _ in 0..20 {
        batch.step(H);
        sim.step(H).expect("the state stays finite");
    }
    assert!(batch.errors().next().is_none());
    let expected =
        (sim.body("crate")?.pose(), sim.force("crate", Some("floor"))?, sim.joint("elbow")?.force());
    let read = |i| {
        batch.read(i, |world| -> Result<_, NameError> {
            Ok((
                world.body("crate")?.pose(),
                world.force("crate", Some("floor"))?,
                world.joint("elbow")?.force(),
            ))
        })
    };
    assert_eq!(read(1)?, expected);
    assert!((expected.1.x + G).abs() < 1e-3 * G, "friction holds the crate that is pushed: {}", expected.1);
    assert!(read(0)?.1.x.abs() < 1e-6, "nobody pushes it in the other world");
    assert_eq!(
        batch.read(1, |world| world.sensor("pose of arm").map(|s| s.values()))?,
        values(&sim, "pose of arm".into())
    );
    let e = batch.read(0, |world| world.force("crte", None)).expect_err("a wrong name");
    assert_eq!(e.nearest.as_deref(), Some("crate"));
    // What a world is taken back to shows the joint forces that it was left with, and no contacts.
    batch.restore(0, &sim.snapshot());
    assert_eq!(batch.read(0, |world| world.joint("elbow").map(|j| j.force()))?, expected.2);
    assert_eq!(batch.read(0, |world| world.force("crate", None))?, Vec3::ZERO);
    Ok(())
}
