//! The built-in scenes do what their comments say: what should stand stands, what should slide stops at the closed form.

#[allow(dead_code)]
use crate::common;

use stiction::{Simulation, Vec3};
use stiction_io::gallery;
use stiction_io::recording::{Reader, Writer};

/// Runs a scene to its end (or for some steps), and demands that every step is solved.
fn run(name: &str, steps: Option<usize>) -> Simulation {
    let s = gallery::find(name).unwrap().load(&[]).unwrap();
    let mut sim = Simulation::new(s.scene.compile().unwrap(), s.settings);
    for step in 0..steps.unwrap_or((s.duration / s.dt).round() as usize) {
        let r = sim.step(s.dt).unwrap();
        assert!(r.status.is_solved(), "{name}, step {step}: {:?}", r.status);
    }
    sim
}

fn sensor(sim: &Simulation, name: &str) -> Vec<f64> {
    sim.sensor(name).unwrap().values()
}

#[test]
fn every_scene_takes_its_first_steps() {
    for e in gallery::ALL {
        let sim = run(e.name, Some(5));
        assert!(sim.state().q.iter().chain(&sim.state().v).all(|x| x.is_finite()), "{}", e.name);
        assert!(sim.energy().kinetic.is_finite(), "{}", e.name);
    }
}

#[test]
fn box_on_the_slope_stays() {
    let sim = run("incline", None);
    let drift = Vec3::from_slice(&sensor(&sim, "box pose")) - Vec3::new(0.0, 0.0, 0.1);
    assert!(drift.length() < 1e-9, "{drift}");
}

#[test]
fn pushed_box_stops_at_the_closed_form() {
    let sim = run("sliding-box", None);
    let x = sensor(&sim, "box pose")[0];
    assert!((x / 2.0775 - 1.0).abs() < 0.005, "{x}");
    assert!(Vec3::from_slice(&sensor(&sim, "box velocity")).length() < 1e-9);
}

#[test]
fn thrown_ball_rolls_at_five_sevenths() {
    let sim = run("rolling-sphere", None);
    let v = sensor(&sim, "ball velocity");
    // Implicit Euler resolves the end of sliding to one step: μ g dt = 0.002 m/s at most.
    assert!((v[0] - 5.0 / 7.0).abs() < 0.002, "{v:?}");
    assert!((v[0] - 0.1 * v[4]).abs() < 1e-9, "it rolls: {v:?}");
}

#[test]
fn belt_and_turntable_carry_their_boxes() {
    let sim = run("conveyor", None);
    assert!((sensor(&sim, "crate velocity")[0] - 0.5).abs() < 1e-9);
    let p = sensor(&sim, "block pose");
    let radius = p[0].hypot(p[1] - 1.0);
    // A body that turns by steps of 0.02 rad spirals outward by at most ω² dt/2 per second of its radius.
    assert!((radius / 0.3 - 1.0).abs() < 0.08, "{radius}");
}

#[test]
fn heavy_stack_carries_its_weight_on_the_floor() {
    let sim = run("heavy-stack", Some(240));
    let f = sensor(&sim, "floor force");
    let weight = (8.0 + 64.0 + 512.0 + 4096.0 + 32768.0) * 9.81;
    assert!((f[2] / weight - 1.0).abs() < 1e-8, "{f:?}");
    assert!((sensor(&sim, "top pose")[2] - 4.5).abs() < 1e-8);
}

#[test]
fn arch_stands_and_its_feet_push_apart() {
    let sim = run("arch", Some(240));
    for name in ["crown left", "crown right"] {
        let drift = Vec3::from_slice(&sensor(&sim, name)).length();
        assert!(drift < 1e-8, "{name}: {drift}");
    }
    let (l, r) = (sensor(&sim, "left foot"), sensor(&sim, "right foot"));
    assert!(((l[2] + r[2]) / (1250.0 * 9.81) - 1.0).abs() < 1e-7, "both feet carry the weight");
    assert!((l[0] + r[0]).abs() < 1e-3 * l[0], "thrusts are equal and opposite");
    // Designed for a thrust of 0.36 of the load; the level feet allow some play.
    assert!((l[0] / l[2] - 0.36).abs() < 0.02, "{}", l[0] / l[2]);
}

#[test]
fn walls_stand_on_the_contacts_of_their_bond() {
    for (name, contacts, bricks) in [("wall", 164, 25.0), ("wall-10", 724, 100.0)] {
        let sim = run(name, Some(50));
        assert_eq!(sim.report().contacts, contacts, "{name}");
        let f = sensor(&sim, "floor force");
        assert!((f[2] / (-bricks * 250.0 * 9.81) - 1.0).abs() < 1e-7, "{name}: {f:?}");
    }
}

#[test]
fn chain_of_pendulums_keeps_its_energy_and_its_joints() {
    let sim = run("pendulum-chain", Some(1000));
    let e = sensor(&sim, "energy");
    let total = e[e.len() - 1];
    // Let go at rest at the height of the origin: the total is zero, at about 50 J of motion.
    assert!(e[0] > 5.0 && total.abs() < 0.05, "{e:?}");
    assert!(sim.report().joint_error < 1e-9 && sim.report().contacts == 0);
}

#[test]
fn crank_drives_its_slider_as_the_closed_form_says() {
    let sim = run("crank-slider", Some(400));
    let (phi, x) = (sensor(&sim, "crank angle"), sensor(&sim, "slider position"));
    let closed = 0.2 * phi[0].cos() + (0.36 - 0.04 * phi[0].sin().powi(2)).sqrt() - 0.8;
    assert!(phi[0] > 11.0 && (x[0] - closed).abs() < 1e-9, "{phi:?} {x:?} {closed}");
    // The guide rubs against the motion with its 5 N.
    assert!((sensor(&sim, "guide force")[0] + 5.0 * x[1].signum()).abs() < 1e-6);
}

#[test]
fn recorded_contacts_carry_the_weight() {
    let sim = run("box-on-plane", None);
    let dir = common::Scratch::new("run");
    let mut w = Writer::create(&dir.file("r.stic"), sim.model(), serde_json::Value::Null).unwrap();
    w.write_frame(&sim).unwrap();
    w.finish().unwrap();
    let frame = Reader::open(&dir.file("r.stic")).unwrap().next().unwrap();
    assert_eq!(frame.contacts.len(), sim.report().contacts);
    // The force acts on a, along the normal that points to a: it counts up for whoever lies above.
    let up: f64 = frame.contacts.iter().map(|c| f64::from(c.force[2].abs())).sum();
    assert!((up - 0.5 * 9.81).abs() < 1e-5, "{up}");
    assert!(frame.contacts.iter().all(|c| c.normal[2].abs() > 0.999 && c.point[2].abs() < 1e-6));
}

#[test]
fn what_falls_into_the_valley_rests_on_it() {
    let sim = run("terrain", None);
    let weight: f64 = sim.model().bodies.iter().filter(|b| b.mass.is_finite()).map(|b| 9.81 * b.mass).sum();
    let force = Vec3::from_slice(&sensor(&sim, "ground force"));
    assert!((-force.z / weight - 1.0).abs() < 0.05, "{force} carries {weight}");
    for i in 0..sim.model().bodies.len() as u32 {
        let p = sim.model().com_pose(sim.state(), stiction::coords::BodyId(i)).translation;
        assert!(p.x.abs() < 1.5 && p.y.abs() < 1.5 && p.z > -0.1, "{p}");
    }
}
