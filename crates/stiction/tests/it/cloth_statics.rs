//! Cloth: a sheet hangs from its corners at 10 ms with stiff threads, and they carry its weight; it sags and settles; its
//! nodes rest on a floor and stick by friction; momentum stays; springs and sensors hold on to points of it; bad sheets
//! are named.

use crate::stage::{G, empty, floor, start};
use stiction::coords::Anchor;
use stiction::kinematics::Placement;
use stiction::scene::{Attachment, Body, Geometry, NodeSelection, Reads, Scene, Sensor, Sheet};
use stiction::{Scheme, Simulation, Vec3};

fn held(nodes: &[u32], to: Option<&str>) -> Attachment {
    Attachment { nodes: NodeSelection::Nodes(nodes.to_vec()), to: to.map(Into::into) }
}

/// Force with which the sheet pulls at its held vertices [N].
fn reaction(sim: &Simulation) -> Vec3 {
    let (model, state) = (sim.model(), sim.state());
    let sheet = &model.sheets[0];
    let solid = &model.solids[sheet.solid.index()];
    let at = |v: u32| Placement::of(model, state).kinematics(model).vertex_position(sheet.solid, v as usize);
    let fixed = |v: u32| matches!(solid.vertices[v as usize], Anchor::World { .. });
    let mut sum = Vec3::ZERO;
    for ([a, b], s) in &sheet.springs {
        let pull = s.gradient(at(*b) - at(*a));
        sum += if fixed(*a) { pull } else { Vec3::ZERO } - if fixed(*b) { pull } else { Vec3::ZERO };
    }
    for (v, bend) in &sheet.bends {
        let g = bend.gradient(&v.map(at));
        sum -= (0..4).filter(|&i| fixed(v[i])).map(|i| g[i]).sum::<Vec3>();
    }
    sum
}

/// A stiff sheet whose first row of corners is held; it starts at an angle to the floor [rad].
fn curtain(angle: f64) -> Simulation {
    let mut scene = empty();
    let mut sheet = Sheet {
        stretch: 1e5,
        shear: 1e4,
        damping: 0.02,
        attachments: vec![held(&[0, 12], None)],
        ..Sheet::new("sheet", [12, 12], [1.0, 1.0])
    };
    sheet.pose.rotation = stiction::Quat::from_rotation_x(-angle);
    scene.sheets.push(sheet);
    start(&scene, Scheme::ImplicitEuler)
}

#[test]
fn a_stiff_sheet_swings_down_without_gaining_energy() {
    let mut sim = curtain(0.0);
    let mut energy = sim.energy().total();
    for _ in 0..300 {
        sim.step(0.01).unwrap();
        let e = sim.energy();
        assert!(e.total() < energy + 1e-6, "at {} s: from {energy} to {} J", sim.state().t, e.total());
        energy = e.total();
    }
}

#[test]
fn a_stiff_sheet_hangs_from_two_corners_and_they_carry_it() {
    let mut sim = curtain(std::f64::consts::FRAC_PI_2);
    let free: f64 = sim.model().nodes.iter().map(|n| n.mass).sum();
    for _ in 0..600 {
        sim.step(0.01).unwrap();
    }
    assert!(sim.energy().kinetic < 1e-7, "at rest: {} J", sim.energy().kinetic);
    let r = reaction(&sim);
    assert!((r.z / (-free * G) - 1.0).abs() < 1e-4 && r.x.abs() + r.y.abs() < 1e-4 * free * G, "{r}");
}

#[test]
fn a_sheet_on_a_floor_is_carried_by_it() {
    let mut scene = floor(0.5);
    let sheet = Sheet { thickness: 0.01, ..Sheet::new("sheet", [8, 8], [0.4, 0.4]) };
    scene.sheets.push(Sheet { pose: pose(Vec3::new(0.0, 0.0, 0.03)), ..sheet });
    scene.sensors.push(Sensor { name: "force".into(), reads: Reads::ContactForce("sheet".into()) });
    scene
        .sensors
        .push(Sensor { name: "middle".into(), reads: Reads::Point { body: "sheet".into(), at: Vec3::ZERO } });
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for _ in 0..100 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "{:?}", r.status);
    }
    let mut out = Vec::new();
    sim.read_sensor(0, &mut out);
    sim.read_sensor(1, &mut out);
    assert!((out[2] / (0.2 * 0.16 * G) - 1.0).abs() < 1e-6, "{out:?}");
    assert!((out[5] - 0.01).abs() < 1e-6, "{out:?}");
}

fn pose(translation: Vec3) -> stiction::Pose {
    stiction::Pose { translation, ..stiction::Pose::IDENTITY }
}

#[test]
fn a_sheet_swings_the_body_that_it_hangs_on() {
    // A bar hangs below the sheet; what the nodes weigh at the bar is the bar's.
    let mut scene = empty();
    scene.bodies.push(
        Body::new("bar", Geometry::Box { half: Vec3::new(0.2, 0.2, 0.01) }).with_mass(0.5).at(0.0, 0.0, -0.2),
    );
    let mut sheet = Sheet {
        stretch: 1e4,
        damping: 0.01,
        attachments: vec![held(&[0, 1, 2, 3, 4], Some("bar")), held(&[20, 21, 22, 23, 24], None)],
        ..Sheet::new("sheet", [4, 4], [0.4, 0.4])
    };
    sheet.pose.rotation = stiction::Quat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    scene.sheets.push(sheet);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let free: f64 = sim.model().nodes.iter().map(|n| n.mass).sum();
    assert!((sim.model().bodies[0].mass - 0.5 - 0.2 * 0.4 * 0.05).abs() < 1e-12);
    for _ in 0..800 {
        sim.step(0.01).unwrap();
    }
    let weight = (free + sim.model().bodies[0].mass) * G;
    let r = reaction(&sim);
    assert!((r.z / -weight - 1.0).abs() < 1e-3, "{r} of {weight}");
}

#[test]
fn momentum_stays_without_external_forces() {
    let mut scene = Scene::default();
    let sheet = Sheet {
        velocity: Vec3::new(0.5, -0.2, 0.1),
        stretch: 100.0,
        shear: 30.0,
        ..Sheet::new("sheet", [6, 5], [0.5, 0.4])
    };
    scene.sheets.push(sheet);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let mut state = sim.state().clone();
    for (i, v) in state.v.iter_mut().enumerate() {
        *v += 0.3 * (2.1 * i as f64).sin();
    }
    sim.set_state(state);
    let momentum = |sim: &Simulation| -> Vec3 {
        sim.model().nodes.iter().map(|n| n.mass * n.velocity(sim.state())).sum()
    };
    let before = momentum(&sim);
    for _ in 0..100 {
        sim.step(0.01).unwrap();
    }
    let change = (momentum(&sim) - before).length();
    assert!(change < 1e-12 * before.length(), "{change:e} of {before}");
}

#[test]
fn bad_sheets_are_named() {
    let broken = |change: &dyn Fn(&mut Sheet)| {
        let mut scene = Scene::default();
        scene.sheets.push(Sheet::new("s", [4, 4], [1.0, 1.0]));
        change(&mut scene.sheets[0]);
        let e = scene.compile().map(|_| ()).unwrap_err();
        assert!(e.item.starts_with("cloth `s`"), "{e}");
        e.problem
    };
    assert!(broken(&|s| s.stretch = 0.0).contains("stretch stiffness must be positive"));
    assert!(broken(&|s| s.shear = f64::NAN).contains("shear stiffness"));
    assert!(broken(&|s| s.bend = -1.0).contains("bending rigidity"));
    assert!(broken(&|s| s.cells = [0, 4]).contains("cells"));
    assert!(broken(&|s| s.size = [1.0, 0.0]).contains("each size"));
    assert!(broken(&|s| s.attachments.push(held(&[25], None))).contains("no node 25"));
    assert!(broken(&|s| s.attachments.push(held(&[3], Some("x")))).contains("no body"));
    let mut twice = Scene::default();
    twice.sheets.push(Sheet::new("s", [4, 4], [1.0, 1.0]));
    twice.bodies.push(Body::new("s", Geometry::Sphere { radius: 0.1 }));
    assert!(twice.compile().map(|_| ()).unwrap_err().problem.contains("taken"));
}
