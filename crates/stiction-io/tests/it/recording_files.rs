//! A recording gives back its frames, whole or as far as they were written, and says how it ended.

use crate::common::Scratch;
use serde_json::json;
use stiction::Vec3;
#[allow(dead_code)]
use stiction::kinematics::Placement;
use stiction_io::recording::{
    BodyInfo, ContactRecord, Ending, Frame, Header, Mesh, Part, ParticleInfo, Reader, RodInfo, ShapeGeometry,
    ShapeInfo, ShapeOwner, SolidInfo, Writer,
};

fn header() -> Header {
    Header {
        name: "test".into(),
        gravity: Vec3::NEG_Z,
        bodies: vec![BodyInfo {
            name: "crate".into(),
            motion: "free".into(),
            mass: Some(2.0),
            center_of_mass: Vec3::ZERO,
        }],
        particles: vec![ParticleInfo { name: "dust".into(), mass: 0.1 }],
        solids: vec![SolidInfo { name: "jelly".into(), mass: 1.0, mesh: 0, material: None, visual: None }],
        meshes: vec![Mesh::new(
            vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            vec![[0, 2, 1]],
            vec![[0, 1, 2, 3]],
        )],
        joints: Vec::new(),
        rods: Vec::new(),
        springs: Vec::new(),
        columns: vec!["step".into(), "pose.x".into()],
        shapes: vec![ShapeInfo {
            owner: ShapeOwner::Body(0),
            position: Vec3::X,
            rotation: [1.0, 0.0, 0.0, 0.0],
            geometry: ShapeGeometry::Box { size: Vec3::ONE },
        }],
        extra: json!({ "dt": 0.01 }),
    }
}

fn frames() -> Vec<Frame> {
    (0..5)
        .map(|i| Frame {
            t: 0.01 * i as f64,
            poses: vec![[i as f32, 0.1, -0.2, 1.0, 0.0, 0.0, 0.0]],
            points: (0..5).map(|p| [p as f32, i as f32, 1.0 / 3.0]).collect(),
            columns: vec![i as f64, std::f64::consts::PI],
            contacts: (0..i)
                .map(|c| ContactRecord {
                    a: c,
                    b: 1,
                    point: [0.5, 0.25, c as f32],
                    normal: [0.0, 0.0, 1.0],
                    force: [0.0, 0.1, 9.81],
                    friction: 0.5,
                })
                .collect(),
        })
        .collect()
}

/// The bytes of a recording, with or without its end mark.
fn record(finish: bool) -> Vec<u8> {
    let dir = Scratch::new(&format!("recording-{finish}-{:?}", std::thread::current().id()));
    let path = dir.file("r.stic");
    let mut w = Writer::with_header(&path, &header()).unwrap();
    for f in frames() {
        w.write(&f).unwrap();
    }
    if finish {
        w.finish().unwrap();
    } else {
        drop(w);
    }
    std::fs::read(&path).unwrap()
}

#[test]
fn frames_come_back_bit_for_bit() {
    let bytes = record(true);
    let mut r = Reader::new(bytes.as_slice(), "r.stic").unwrap();
    assert_eq!(*r.header(), header());
    assert_eq!(r.ending(), None);
    assert_eq!(r.by_ref().collect::<Vec<_>>(), frames());
    assert_eq!(r.ending(), Some(Ending::Finished));
}

#[test]
fn a_run_that_was_killed_leaves_all_its_frames() {
    let bytes = record(false);
    let mut r = Reader::new(bytes.as_slice(), "r.stic").unwrap();
    assert_eq!(r.by_ref().collect::<Vec<_>>(), frames());
    assert_eq!(r.ending(), Some(Ending::CutOff));
}

#[test]
fn any_cut_keeps_the_frames_before_it() {
    let (bytes, frames) = (record(true), frames());
    for n in 0..bytes.len() {
        match Reader::new(&bytes[..n], "r.stic") {
            Err(e) => assert!(e.to_string().contains("header"), "cut at {n}: {e}"),
            Ok(mut r) => {
                let read: Vec<_> = r.by_ref().collect();
                assert_eq!(read, frames[..read.len()], "cut at {n}");
                assert_eq!(r.ending(), Some(Ending::CutOff), "cut at {n}");
            }
        }
    }
}

#[test]
fn any_flipped_bit_is_noticed() {
    let (bytes, frames) = (record(true), frames());
    for n in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[n] ^= 0x10;
        if let Ok(mut r) = Reader::new(bad.as_slice(), "r.stic") {
            let read: Vec<_> = r.by_ref().collect();
            assert_eq!(read, frames[..read.len()], "flip at {n}");
            assert_ne!(r.ending(), Some(Ending::Finished), "flip at {n}");
        }
    }
}

#[test]
fn a_header_must_make_sense() {
    let dir = Scratch::new("sense");
    let refuse = |h: &Header, word: &str| {
        drop(Writer::with_header(&dir.file("r.stic"), h).unwrap());
        let e = Reader::open(&dir.file("r.stic")).err().unwrap();
        assert!(e.to_string().contains(word), "{e}");
    };
    let mut h = header();
    h.meshes[0].tets[0][3] = 4;
    refuse(&h, "meshes do not fit");
    let mut h = header();
    h.meshes[0].vertices.pop();
    refuse(&h, "meshes do not fit");
    let mut h = header();
    h.shapes[0].owner = ShapeOwner::Body(1);
    refuse(&h, "a shape names");
    let mut h = header();
    h.solids[0].mesh = 1;
    refuse(&h, "a solid names");
    // A surface that is shown needs a tetrahedron for every vertex.
    for hosts in [vec![], vec![0, 0], vec![0, 0, 1]] {
        let mut h = header();
        h.meshes.push(Mesh::carried(vec![[0.0; 3]; 3], vec![[0, 1, 2]], hosts));
        h.solids[0].visual = Some(1);
        refuse(&h, "not carried");
    }
    let mut h = header();
    h.solids[0].visual = Some(1);
    refuse(&h, "not carried");
    let mut h = header();
    h.rods.push(RodInfo { name: "cable".into(), first: 0, links: 2 });
    refuse(&h, "a rod names");
}

#[test]
fn the_version_before_is_read() {
    // Version 2 had neither rods, springs nor carried surfaces, and is otherwise the same.
    let mut bytes = record(true);
    assert_eq!(bytes[4], 3);
    bytes[4] = 2;
    let mut r = Reader::new(bytes.as_slice(), "r.stic").unwrap();
    assert_eq!(r.by_ref().collect::<Vec<_>>(), frames());
    assert_eq!(r.ending(), Some(Ending::Finished));
}

#[test]
fn indices_of_contacts_name_parts() {
    let h = header();
    assert_eq!(h.part(0), Some(Part::Body(0)));
    assert_eq!(h.part(1), Some(Part::Particle(0)));
    assert_eq!((h.part(2), h.part_name(2)), (Some(Part::Solid(0)), Some("jelly")));
    assert_eq!(h.part(3), None);
    assert_eq!(h.points(), 5);
    assert!(h.solid_points().into_iter().eq(std::iter::once(1..5)));
}

#[test]
fn what_stands_still_costs_little() {
    let dir = Scratch::new("still");
    let size = |frames: usize| {
        let mut w = Writer::with_header(&dir.file("r.stic"), &header()).unwrap();
        for _ in 0..frames {
            let columns = vec![0.0; 2];
            w.write(&Frame { poses: vec![[0.3; 7]], points: vec![[0.7; 3]; 5], columns, ..Frame::default() })
                .unwrap();
        }
        w.finish().unwrap();
        std::fs::metadata(dir.file("r.stic")).unwrap().len()
    };
    // Twelve bytes of time and count, two columns, and about nothing for the 88 bytes of places.
    let each = (size(640) - size(64)) as f64 / 576.0;
    assert!(each < 32.0, "{each} bytes per frame");
}

#[test]
fn other_files_and_versions_are_refused() {
    let mut bytes = record(true);
    bytes[4] = 9;
    let e = Reader::new(bytes.as_slice(), "r.stic").err().unwrap();
    assert!(e.to_string().contains("version 9"), "{e}");
    let e = Reader::new(&b"PK\x03\x04 this is a zip file"[..], "r.stic").err().unwrap();
    assert!(e.to_string().contains("not a recording"), "{e}");
}

#[test]
fn an_unwritable_place_is_an_error() {
    let e = Writer::with_header(std::path::Path::new("/nowhere/at/all.stic"), &header()).err().unwrap();
    assert!(e.to_string().contains("/nowhere/at/all.stic: cannot be written"), "{e}");
}

#[test]
fn a_model_is_recorded_in_the_frames_and_sizes_of_its_scene() {
    let text = r#"
        [[body]]
        name = "floor"
        motion = "fixed"
        shape = { plane = {} }
        [[body]]
        name = "drum"
        position = [1, 2, 3]
        rotation = { axis = [0, 0, 1], angle_deg = 90 }
        shape = { cylinder = { height = 0.4, radius = 0.1 }, position = [0.5, 0, 0], rotation = { axis = [1, 0, 0], angle_deg = 90 } }
        [[body]]
        name = "pill"
        position = [4, 0, 1]
        shape = { capsule = { length = 0.6, radius = 0.2 } }
        [[body]]
        name = "bracket"
        position = [7, 0, 1]
        shape = { mesh = { file = "builtin:bracket.obj", kind = "triangles" } }
        [[particle]]
        name = "dust"
        mass = 0.1
        position = [0, 0, 9]
    "#;
    let scene = stiction_io::scene::parse(text, "s.toml", std::path::Path::new(""), &[]).unwrap().scene;
    let sim = stiction::Simulation::new(scene.compile().unwrap(), stiction::SimSettings::default());
    let dir = Scratch::new("model");
    let path = dir.file("r.stic");
    let mut w = Writer::create(&path, sim.model(), json!({ "solver": "exact" })).unwrap();
    w.write_frame(&sim).unwrap();
    w.finish().unwrap();

    let mut r = Reader::open(&path).unwrap();
    let h = r.header().clone();
    assert_eq!(
        h.bodies.iter().map(|b| b.motion.as_str()).collect::<Vec<_>>(),
        ["fixed", "free", "free", "free"]
    );
    assert_eq!((h.bodies[0].mass, h.extra["solver"].as_str()), (None, Some("exact")));
    assert_eq!(h.shapes[0].geometry, ShapeGeometry::Plane);
    assert_eq!(h.shapes[2].geometry, ShapeGeometry::Capsule { length: 0.6, radius: 0.2 });
    assert_eq!(h.shapes[3].geometry, ShapeGeometry::Mesh { mesh: 0 });
    assert_eq!((h.meshes[0].vertices.len(), h.meshes[0].triangles.len()), (12, 20));
    assert_eq!(h.shapes[4].owner, ShapeOwner::Particle(0));

    // The drum: its shape as the scene places it, although the model counts from the centre of mass.
    let drum = &h.shapes[1];
    assert_eq!(drum.geometry, ShapeGeometry::Cylinder { height: 0.4, radius: 0.1 });
    assert!((drum.position - Vec3::new(0.5, 0.0, 0.0)).length() < 1e-15, "{}", drum.position);
    let [qw, x, y, z] = drum.rotation;
    let axis = stiction::Quat::from_xyzw(x, y, z, qw) * Vec3::Z;
    assert!((axis + Vec3::Y).length() < 1e-15, "z turned about x by 90° is −y: {axis}");

    let frame = r.next().unwrap();
    let s = std::f64::consts::FRAC_1_SQRT_2;
    for (a, b) in frame.poses[1].iter().zip([1.0, 2.0, 3.0, s, 0.0, 0.0, s]) {
        assert!((f64::from(*a) - b).abs() < 1e-7, "{:?}", frame.poses[1]);
    }
    assert_eq!(frame.poses[3][..3], [7.0, 0.0, 1.0]);
    assert_eq!(frame.points, [[0.0, 0.0, 9.0]]);
    assert!(r.next().is_none() && r.ending() == Some(Ending::Finished));
}

/// A soft block that shows a bracket, a cable, and a spring from the block's top to a hook.
const SLENDER: &str = r#"
    [[body]]
    name = "hook"
    motion = "fixed"
    shape = { sphere = { radius = 0.01 } }
    position = [0, 0, 1]
    [[rod]]
    name = "cable"
    points = [[1, 0, 0], [2, 0, 0]]
    segments = 5
    radius = 0.01
    young = 1e6
    [[soft]]
    name = "block"
    mesh = { block = { cells = [3, 1, 3], size = [0.7, 0.12, 0.5] } }
    material = { young = 1e5, poisson = 0.3, density = 1000 }
    position = [0, 0, 0.1]
    visual = "builtin:bracket.obj"
    [[spring]]
    name = "string"
    a = { on = "hook" }
    b = { on = "block", at = [0.2, 0, 0.3] }
    stiffness = 100
"#;

#[test]
fn carried_surfaces_rods_and_springs_are_recorded() {
    let scene = stiction_io::scene::parse(SLENDER, "s.toml", std::path::Path::new(""), &[]).unwrap().scene;
    let mut sim = stiction::Simulation::new(scene.compile().unwrap(), stiction::SimSettings::default());
    let dir = Scratch::new("slender");
    let path = dir.file("r.stic");
    let mut w = Writer::create(&path, sim.model(), json!({})).unwrap();
    for _ in 0..5 {
        sim.step(0.01).unwrap();
    }
    w.write_frame(&sim).unwrap();
    w.finish().unwrap();
    let mut r = Reader::open(&path).unwrap();
    let h = r.header().clone();
    let frame = r.next().unwrap();
    assert_eq!((h.rods[0].name.as_str(), h.rods[0].first, h.rods[0].links), ("cable", 1, 5));

    // The ends of the spring are the last two points.
    let [.., a, b] = frame.points[..] else { panic!("no points") };
    assert_eq!(a, [0.0, 0.0, 1.0]);
    let span = sim.kinematics().span(&sim.model().springs[0]);
    assert!(
        (Vec3::new(b[0].into(), b[1].into(), b[2].into()) - Vec3::Z - span).length() < 1e-6,
        "{b:?} {span}"
    );
    assert_eq!(frame.points.len(), h.solid_points()[0].len() + 2);

    // The surface moves with the block: exports place its vertices where the model does.
    let model = sim.model();
    let visual = model.solids[0].visual.as_ref().unwrap();
    let moved: Vec<Vec3> = (0..model.solids[0].vertices.len())
        .map(|i| {
            Placement::of(model, sim.state())
                .kinematics(model)
                .vertex_position(stiction::coords::SoftId(0), i)
        })
        .collect();
    let mesh = &h.meshes[h.solids[0].visual.unwrap() as usize];
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (12, 20));
    stiction_io::export::obj_sequence(&mut Reader::open(&path).unwrap(), &dir.file("obj")).unwrap();
    let text = std::fs::read_to_string(dir.file("obj").join("frame_00000.obj")).unwrap();
    let block = text.split("o block\n").nth(1).unwrap();
    let vertices: Vec<Vec3> = block
        .lines()
        .filter_map(|l| l.strip_prefix("v "))
        .map(|l| Vec3::from_slice(&l.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<f64>>()))
        .collect();
    assert_eq!(vertices.len(), 12);
    for (e, v) in visual.vertices.iter().zip(&vertices) {
        assert!(e.position(&moved).distance(*v) < 1e-6, "{v}");
    }
}
