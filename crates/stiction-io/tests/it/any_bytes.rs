//! No reader panics or hangs, whatever the bytes: random ones, and good files with pieces changed, cut or repeated.

#[allow(dead_code)]
use crate::common;

use crate::common::tet_files::{self, Order};
use crate::common::{csr, floats, npz};
use proptest::prelude::*;
use std::path::Path;
use stiction_io::recording::{Frame, Header, Mesh, Paused, Reader, SolidInfo, Writer};
use stiction_io::snapshot::{Origin, Snapshot};
use stiction_io::{gallery, mesh, problem, scene, tet_mesh};

/// Reads a text as a scene, with and without an override.
fn read_scene(text: &str, set: &[(String, String)]) {
    let _ = scene::parse(text, "x.toml", Path::new("/nowhere"), &[]).map_err(|e| shown(&e));
    let _ = scene::parse(text, "x.toml", Path::new("/nowhere"), set).map_err(|e| shown(&e));
}

/// Errors must also survive being shown.
fn shown(e: &stiction_io::Error) -> String {
    let mut out = e.to_string();
    miette::GraphicalReportHandler::new().render_report(&mut out, e).unwrap();
    out
}

fn read_recording(bytes: &[u8]) {
    if let Ok(mut r) = Reader::new(bytes, "x.stic") {
        let _ = r.by_ref().take(10_000).count();
    }
}

/// Reads bytes as every format of tetrahedral meshes.
fn read_tets(bytes: &[u8]) {
    let good = "1 3 0 0\n1 0 0 0\n".as_bytes();
    for read in [
        tet_mesh::parse_gmsh(bytes, "x.msh"),
        tet_mesh::parse_vtk(bytes, "x.vtk"),
        tet_mesh::parse_medit(bytes, "x.mesh"),
        tet_mesh::parse_tetgen(bytes, bytes, ["x.node", "x.ele"]),
        tet_mesh::parse_tetgen(good, bytes, ["x.node", "x.ele"]),
    ] {
        match read {
            // What is accepted is good for a soft body.
            Ok(file) => file.mesh.check().unwrap(),
            Err(e) => drop(shown(&e)),
        }
    }
}

/// What was read can be surveyed, mended and covered, or the cover says why not. What is mended stays as it is when it is
/// mended again.
fn use_surface(read: Result<mesh::TriMesh, stiction_io::Error>) {
    let Ok(mut m) = read.map_err(|e| drop(shown(&e))) else { return };
    let s = m.survey();
    let size = (s.bounds[1] - s.bounds[0]).max_element();
    match m.cover(size / 4.0) {
        Ok(cover) => cover.mesh.check().unwrap(),
        Err(e) => assert!(!e.to_string().is_empty()),
    }
    m.repair(1e-9 * size);
    let mut again = m.clone();
    again.repair(0.0);
    assert_eq!(again.survey().triangles, m.survey().triangles);
}

/// Good files of tetrahedral meshes, all formats.
fn good_tets() -> Vec<Vec<u8>> {
    let m = stiction::mesh::shapes::block([1, 1, 1], stiction::Vec3::ONE);
    let [nodes, tets] = tet_files::tetgen(&m, 1);
    vec![
        tet_files::gmsh2_text(&m),
        tet_files::gmsh4_text(&m),
        tet_files::gmsh2_binary(&m, Order::Little),
        tet_files::gmsh2_binary(&m, Order::Big),
        tet_files::gmsh4_binary(&m, Order::Little, 8),
        tet_files::gmsh4_binary(&m, Order::Big, 4),
        tet_files::vtk_text(&m),
        tet_files::vtk_binary(&m),
        tet_files::vtk_offsets(&m),
        tet_files::medit(&m),
        nodes,
        tets,
    ]
}

/// A change to a good file.
#[derive(Clone, Debug)]
enum Change {
    Put(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize),
    Insert(usize, Vec<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    // Tokens that mean something to one reader or another.
    let token = prop::sample::select(vec![
        "nan",
        "-1",
        "1e999",
        "inf",
        "[",
        "]]",
        "{",
        "}",
        "\"",
        "'''",
        "\n",
        ".",
        "=",
        "[[body]]",
        "repeat",
        "f ",
        "v ",
        "facet",
        "\u{e9}",
        "\0",
        "999999999999",
        "#",
        "0x",
        "'shape': (",
        "PK\u{1}\u{2}",
        "\u{7f}\u{7f}\u{7f}\u{7f}",
        "$Nodes\n",
        "$End",
        "OFFSETS ",
        "METADATA\n",
    ]);
    let change = prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(i, b)| Change::Put(i, b)),
        (any::<usize>(), 1usize..40).prop_map(|(i, n)| Change::Cut(i, n)),
        (any::<usize>(), 1usize..40).prop_map(|(i, n)| Change::Repeat(i, n)),
        (any::<usize>(), token).prop_map(|(i, t)| Change::Insert(i, t.into())),
    ];
    prop::collection::vec(change, 1..6)
}

fn apply(good: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut b = good.to_vec();
    for c in changes {
        let n = b.len().max(1);
        match c {
            Change::Put(i, byte) if !b.is_empty() => b[i % n] = *byte,
            Change::Put(..) => {}
            Change::Cut(i, k) => drop(b.drain(i % n..(i % n + k).min(b.len()))),
            Change::Repeat(i, k) => {
                let piece = b[(i % n).min(b.len())..(i % n + k).min(b.len())].to_vec();
                b.splice(i % n..i % n, piece);
            }
            Change::Insert(i, piece) => drop(b.splice(i % n..i % n, piece.clone())),
        }
    }
    b
}

fn good_npz() -> Vec<u8> {
    let mut a = csr("M", &[&[2.0, 0.0], &[0.0, 2.0]]);
    a.extend(csr("H", &[&[1.0, 0.0, -1.0, 0.0], &[0.0, 1.0, 0.0, -1.0]]));
    a.push(floats("f", &[2], &[4.0, -2.0]));
    a.push(floats("w", &[4], &[0.1, 0.0, 0.2, 0.0]));
    a.push(floats("mu", &[2], &[0.5, 0.5]));
    npz(&a)
}

fn good_recording() -> Vec<u8> {
    let dir = common::Scratch::new(&format!("any-bytes-{:?}", std::thread::current().id()));
    let sheet = Mesh::new(vec![[0.0; 3]; 3], vec![[0, 1, 2]], Vec::new());
    let solid = SolidInfo { name: "s".into(), mass: 1.0, mesh: 0, material: None, visual: None };
    let header = Header { name: "x".into(), meshes: vec![sheet], solids: vec![solid], ..Header::default() };
    let mut w = Writer::with_header(&dir.file("r.stic"), &header).unwrap();
    for i in 0..3 {
        let (points, contacts) = (vec![[i as f32; 3]; 3], vec![Default::default(); i]);
        w.write(&Frame { t: i as f64, points, contacts, ..Frame::default() }).unwrap();
    }
    w.finish().unwrap();
    std::fs::read(dir.file("r.stic")).unwrap()
}

/// A simulation with contacts and a joint, stepped a little, and its origin.
fn simulated() -> (stiction::Simulation, Origin) {
    let set = [("time.dt".to_string(), "0.01".to_string())];
    let loaded = gallery::find("heavy-stack").unwrap().load(&set).unwrap();
    let mut sim = stiction::Simulation::new(loaded.compile().unwrap(), loaded.settings);
    (0..3).for_each(|_| assert!(sim.step(loaded.dt).is_ok()));
    (sim, Origin::of(&loaded))
}

const STL: &[u8] = b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid x\n";
const OBJ: &[u8] = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2//2 4/4/4\nf -1 -2 -3 -4\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), text in ".{0,200}") {
        use_surface(mesh::parse_obj(&bytes, "x.obj"));
        use_surface(mesh::parse_stl(&bytes, "x.stl"));
        read_tets(&bytes);
        let _ = problem::parse(bytes.clone(), "x.npz");
        read_recording(&bytes);
        read_scene(&String::from_utf8_lossy(&bytes), &[]);
        read_scene("", &[(text.clone(), text)]);
    }

    #[test]
    fn changed_scenes(which in 0..gallery::ALL.len(), changes in changes(), key in "[a-z0-9.]{0,20}", value in ".{0,20}") {
        // The scenes of thousands of bodies take too long to read hundreds of times.
        let good = gallery::ALL[which].text.replace("32]", "2]").replace("20]", "2]").replace("count = 2000", "");
        read_scene(&String::from_utf8_lossy(&apply(good.as_bytes(), &changes)), &[(key, value)]);
    }

    #[test]
    fn changed_meshes(changes in changes()) {
        use_surface(mesh::parse_obj(&apply(OBJ, &changes), "x.obj"));
        use_surface(mesh::parse_stl(&apply(STL, &changes), "x.stl"));
    }

    #[test]
    fn changed_tets(which in 0usize..12, changes in changes()) {
        read_tets(&apply(&good_tets()[which], &changes));
    }

    #[test]
    fn changed_problems(changes in changes()) {
        let _ = problem::parse(apply(&good_npz(), &changes), "x.npz");
    }

    #[test]
    fn changed_arrays(which in 0usize..9, values in prop::collection::vec(-2i32..6, 0..8)) {
        // Archives that are whole, with arrays that do not fit together.
        let mut a = csr("M", &[&[2.0, 0.0], &[0.0, 2.0]]);
        a.extend(csr("H", &[&[1.0, 0.0, -1.0, 0.0], &[0.0, 1.0, 0.0, -1.0]]));
        a.push(floats("f", &[2], &[4.0, -2.0]));
        a.push(floats("w", &[4], &[0.1, 0.0, 0.2, 0.0]));
        a.push(floats("mu", &[2], &[0.5, 0.5]));
        let name = a[which].0.clone();
        a[which] = if a[which].1 == "<i4" {
            common::ints(&name, &values)
        } else {
            floats(&name, &[values.len()], &values.iter().map(|&x| x.into()).collect::<Vec<f64>>())
        };
        let _ = problem::parse(npz(&a), "x.npz");
    }

    #[test]
    fn changed_recordings(changes in changes()) {
        read_recording(&apply(&good_recording(), &changes));
    }
}

#[test]
fn changed_snapshots() {
    let (sim, origin) = simulated();
    let (memory, notes) = (sim.snapshot(), b"notes".to_vec());
    assert!(!memory.contacts.entries.is_empty());
    let (inner, model) = (memory.to_bytes(), sim.model());
    let good = Snapshot { memory, recording: Paused::default(), notes }.to_bytes(origin);
    let read = |bytes: &[u8]| Snapshot::parse(bytes, "x", origin, model).map_err(|e| shown(&e));
    assert!(read(&good).is_ok());
    (0..good.len()).for_each(|n| assert!(read(&good[..n]).is_err(), "{n} of {} bytes", good.len()));
    let config = ProptestConfig::with_cases(400);
    proptest!(config, |(changes in changes(), bytes in prop::collection::vec(any::<u8>(), 0..400))| {
        let bad = apply(&good, &changes);
        prop_assert_eq!(read(&bad).is_ok(), bad == good);
        prop_assert!(read(&bytes).is_err());
        // The checksum lets no change through: the memory within has to be as careful by itself.
        for bytes in [apply(&inner, &changes), bytes] {
            if let Ok(memory) = stiction::steppers::Memory::from_bytes(&bytes, model) {
                prop_assert_eq!(memory.to_bytes(), bytes);
            }
        }
    });
}

#[test]
fn every_prefix_of_a_tetrahedral_mesh() {
    for good in good_tets() {
        (0..good.len()).for_each(|n| read_tets(&good[..n]));
    }
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    for text in [
        "[".repeat(100_000),
        "a = ".to_string() + &"[".repeat(100_000),
        "a.".repeat(50_000) + "a = 1",
        "{a=".repeat(50_000),
    ] {
        read_scene(&text, &[]);
        read_scene("", &[("title".into(), text.clone()), (text, "1".into())]);
    }
}
