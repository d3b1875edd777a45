//! Springs, rods and cloth in scene files: what a file says arrives, mistakes are shown where they stand, and the built-in
//! scenes do what their comments say.

#[allow(dead_code)]
use std::path::Path;
use stiction::elastic::Action;
use stiction::scene::{Fixing, NodeSelection, RestShape};
use stiction::{Simulation, Vec3};
use stiction_io::scene::{self, LoadedScene};
use stiction_io::{Error, gallery, recording};

const ALL: &str = r#"
[[body]]
name = "hook"
motion = "fixed"
shape = { sphere = { radius = 0.1 } }

[[particle]]
name = "bead"
mass = 0.1
position = [1, 0, 0]

[[rod]]
name = "cable"
points = [[0, 0, 0], [0, 0, -1], [1, 0, -1]]
corner_radius = 0.2
segments = 12
radius = 0.01
young = 1e7
poisson = 0.4
density = 2000
damping = 0.01
rest = "as-drawn"
start = { to = "hook", fixing = "pinned" }
end = {}
self_contact = true

[[cloth]]
name = "flag"
cells = [4, 3]
size = [0.8, 0.6]
position = [0, 2, 0]
area_density = 0.3
stretch = 500
shear = 50
bend = 1e-4
thickness = 0.01
attach = [{ nodes = [0, 15] }, { box = [[0.3, -1, -1], [1, 1, 1]], to = "hook" }]

[[spring]]
name = "leash"
a = { on = "bead" }
b = { on = "flag", at = [0, 0, 0] }
stiffness = 100
damping = 2
rest_length = 0.5
rope = true

[[spring]]
name = "stay"
a = { at = [1, 0, 2] }
b = { on = "cable[3]", at = [0, 0, 0.01] }
stiffness = 10
"#;

fn read(text: &str) -> Result<LoadedScene, Error> {
    scene::parse(text, "test.toml", Path::new(""), &[])
}

#[test]
fn every_key_arrives() {
    let s = read(ALL).unwrap();
    let rod = &s.scene.rods[0];
    assert_eq!((rod.segments, rod.corner_radius, rod.rest), (12, 0.2, RestShape::AsDrawn));
    assert_eq!((rod.section.radius, rod.section.young, rod.section.poisson), (0.01, 1e7, 0.4));
    assert_eq!((rod.density, rod.damping, rod.friction, rod.self_contact), (2000.0, 0.01, 0.5, true));
    let [start, end] = [0, 1].map(|k| rod.ends[k].clone().unwrap());
    assert_eq!((start.to.as_deref(), start.fixing), (Some("hook"), Fixing::Pinned));
    assert_eq!((end.to, end.fixing), (None, Fixing::Clamped));
    let flag = &s.scene.sheets[0];
    assert_eq!((flag.cells, flag.size), ([4, 3], [0.8, 0.6]));
    assert_eq!((flag.area_density, flag.stretch, flag.shear, flag.bend), (0.3, 500.0, 50.0, 1e-4));
    assert_eq!(flag.attachments[0].nodes, NodeSelection::Nodes(vec![0, 15]));
    assert_eq!(flag.attachments[1].to.as_deref(), Some("hook"));
    let [leash, stay] = &s.scene.springs[..] else { panic!("two springs") };
    assert_eq!((leash.damping, leash.rest_length, leash.action), (2.0, Some(0.5), Action::PullOnly));
    assert_eq!((stay.ends[0].on.as_ref(), stay.ends[0].at), (None, Vec3::new(1.0, 0.0, 2.0)));
    assert_eq!((stay.rest_length, stay.action), (None, Action::Both));
    let model = s.compile().unwrap();
    assert_eq!((model.bodies.len(), model.rods[0].joints.len()), (13, 13));
    // A bead and twenty nodes: two are pinned, and the box holds the column at x = 0.4.
    assert_eq!(model.nodes.len(), 1 + 20 - 2 - 4);
    let mut sim = Simulation::new(model, s.settings);
    for _ in 0..20 {
        assert!(sim.step(s.dt).unwrap().status.is_solved());
    }
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    let cases = [
        ("stiffness = 100", "stiffness = 0", "0 is not allowed"),
        ("a = { on = \"bead\" }", "a = {}", "neither on what it is nor where"),
        ("a = { on = \"bead\" }", "a = { on = \"beat\" }", "no body, soft body"),
        ("segments = 12", "segments = 0", "0 is not allowed"),
        ("rest = \"as-drawn\"", "rest = \"curly\"", "curly"),
        ("to = \"hook\", fixing = \"pinned\"", "to = \"look\"", "look"),
        ("cells = [4, 3]", "cells = [4]", "2 are needed"),
        ("stretch = 500", "stretch = -5", "-5 is not allowed"),
        ("shear = 50\n", "sheer = 50\n", "unknown key `sheer`"),
        ("nodes = [0, 15]", "nodes = [0, 15], box = [[0, 0, 0], [1, 1, 1]]", "does not say which nodes"),
    ];
    for (good, bad, message) in cases {
        assert!(ALL.contains(good), "{good}");
        let e = read(&ALL.replace(good, bad)).unwrap_err();
        let text = format!("{:?}", miette::Report::new(e));
        assert!(text.contains(message) && text.contains("test.toml"), "{bad}: {text}");
    }
    // What only the model can know is shown in the file, too.
    for (good, bad, message) in [
        ("corner_radius = 0.2", "corner_radius = 2", "do not fit"),
        ("poisson = 0.4", "poisson = 0.5", "Poisson's ratio"),
        ("nodes = [0, 15]", "nodes = [0, 99]", "no node 99"),
        ("a = { at = [1, 0, 2] }", "a = { on = \"cable[3]\" }", "same body"),
    ] {
        let e = read(&ALL.replace(good, bad)).unwrap().compile().map(|_| ()).unwrap_err();
        let text = format!("{:?}", miette::Report::new(e));
        assert!(text.contains(message) && text.contains("name ="), "{bad}: {text}");
    }
}

fn run(name: &str, overrides: &[(&str, &str)], steps: usize) -> Simulation {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let s = gallery::find(name).unwrap().load(&overrides).unwrap();
    let mut sim = Simulation::new(s.compile().unwrap(), s.settings);
    for step in 0..steps {
        let r = sim.step(s.dt).unwrap();
        assert!(r.status.is_solved(), "{name}, step {step}: {:?}", r.status);
    }
    sim
}

fn sensor(sim: &Simulation, name: &str) -> Vec3 {
    Vec3::from_slice(&sim.sensor(name).unwrap().values())
}

#[test]
fn the_cable_holds_at_three_and_runs_off_at_eight() {
    let sim = run("cable-over-cylinder", &[], 150);
    let before = sensor(&run("cable-over-cylinder", &[], 100), "short end").z;
    let rise = sensor(&sim, "short end").z - before;
    assert!(rise.abs() < 5e-4, "rises by {rise} m in half a second");
    let weight = 2000.0 * std::f64::consts::PI * 0.005f64.powi(2) * 1.6 * 9.81;
    let f = sensor(&sim, "cylinder force").z;
    assert!((f / -weight - 1.0).abs() < 0.02, "{f} of {weight} N");
    let eight =
        [("rods.cable.points.0", "[-0.105119, 0, 0.472]"), ("rods.cable.points.3", "[0.105119, 0, 1.459]")];
    let sim = run("cable-over-cylinder", &eight, 60);
    assert!(sensor(&sim, "short end velocity").length() > 0.5, "it runs");
}

#[test]
fn the_cloth_lies_over_the_ball_and_both_carry_it() {
    let sim = run("cloth-drop", &[], 150);
    let down = sensor(&sim, "ball force") + sensor(&sim, "ground force");
    let weight = 0.3 * 9.81;
    assert!((down.z / -weight - 1.0).abs() < 1e-3, "{down}");
    assert!(sensor(&sim, "corner").z < 0.02, "corners lie on the ground");
    let middle = sim.model().nodes.len() / 2;
    assert!(sim.model().nodes[middle].position(sim.state()).z > 0.4, "the middle lies on the ball");
    assert!(sim.energy().kinetic < 1e-4);
}

#[test]
fn recordings_show_cloth_as_triangles_and_rods_as_capsules() {
    let sim = run("cloth-drop", &[], 1);
    let header = recording::Header::new(sim.model(), serde_json::Value::Null);
    let cloth = &header.solids[0];
    let mesh = &header.meshes[cloth.mesh as usize];
    assert_eq!((cloth.name.as_str(), mesh.vertices.len()), ("cloth", 441));
    assert_eq!((mesh.triangles.len(), mesh.tets.len()), (800, 0));
    let cable = run("cable-over-cylinder", &[], 1);
    let header = recording::Header::new(cable.model(), serde_json::Value::Null);
    let capsule = |s: &recording::ShapeInfo| matches!(s.geometry, recording::ShapeGeometry::Capsule { .. });
    assert_eq!(header.shapes.iter().filter(|s| capsule(s)).count(), 160);
    assert_eq!(header.bodies[1].name, "cable[0]");
}
