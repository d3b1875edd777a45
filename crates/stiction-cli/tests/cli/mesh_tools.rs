//! `stiction mesh` says what is wrong with a mesh, mends it and fills it; `run --contacts` writes what touches. Refusals
//! are clear, and whatever the bytes, the tools end quickly.

use crate::common::{Folder, SCENE};

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n\
    f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

#[test]
fn a_cube_is_clean_and_its_faults_are_named() {
    let f = Folder::new("mesh-check");
    f.write("cube.obj", CUBE);
    let ran = f.stiction(&["mesh", "check", "cube.obj", "--json"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.out(), ran.err());
    let j = ran.json();
    assert_eq!((j["clean"].as_bool(), j["survey"]["volume"].as_f64()), (Some(true), Some(1.0)));

    // One face missing, one turned round, a vertex that nobody uses.
    let broken = CUBE.replace("f 1 3 4 2\n", "").replace("f 5 6 8 7", "f 7 8 6 5") + "v 9 9 9\n";
    f.write("broken.obj", &broken);
    let ran = f.stiction(&["mesh", "check", "broken.obj"]);
    assert_eq!(ran.code(), 1, "{}", ran.out());
    for word in ["4 open edges", "4 edges where neighbours disagree", "1 unused vertices", "mesh fix"] {
        assert!(ran.out().contains(word), "no `{word}` in {}", ran.out());
    }

    let ran = f.stiction(&["mesh", "fix", "broken.obj", "mended.obj", "--json"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.out(), ran.err());
    assert_eq!(ran.json()["changes"]["holes"], 1);
    let ran = f.stiction(&["mesh", "check", "mended.obj", "--json"]);
    assert_eq!(ran.code(), 0);
    assert!((ran.json()["survey"]["volume"].as_f64().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn a_surface_is_filled_and_the_mass_can_be_true() {
    let f = Folder::new("mesh-tet");
    f.write("cube.obj", CUBE);
    let ran = f.stiction(&["mesh", "tet", "cube.obj", "--cell", "0.3", "--out", "cube.msh", "--json"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.out(), ran.err());
    let j = ran.json();
    let (inside, cover) = (j["surface_volume"].as_f64().unwrap(), j["cover_volume"].as_f64().unwrap());
    assert!((inside - 1.0).abs() < 1e-12 && cover > 1.0);
    assert!((j["density_factor"].as_f64().unwrap() * cover - inside).abs() < 1e-12);
    let ran = f.stiction(&["mesh", "check", "cube.msh", "--json"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.out(), ran.err());
    let j = ran.json();
    assert!((j["volume"].as_f64().unwrap() - cover).abs() < 1e-9);
    assert!(j["quality"]["worst"].as_f64().unwrap() > 0.5);
}

#[test]
fn refusals_name_file_problem_and_remedy() {
    let f = Folder::new("mesh-refuse");
    f.write("cube.obj", CUBE);
    f.write("open.obj", CUBE.replace("f 1 3 4 2\n", ""));
    f.write("empty.obj", "v 0 0 0\n");
    let cases: [(&[&str], &[&str]); 8] = [
        (&["mesh", "check", "none.obj"], &["none.obj"]),
        (&["mesh", "check", "empty.obj"], &["empty.obj", "no triangles"]),
        (&["mesh", "check", "cube.xyz"], &["cube.xyz"]),
        (&["mesh", "fix", "cube.obj", "out.ply"], &["out.ply", ".obj or .stl"]),
        (&["mesh", "fix", "cube.obj", "out.obj", "--merge", "nan"], &["merge"]),
        (
            &["mesh", "tet", "open.obj", "--cell", "0.3", "--out", "o.msh"],
            &["open.obj", "4 open edges", "mesh fix"],
        ),
        (&["mesh", "tet", "cube.obj", "--cell", "1e-9", "--out", "o.msh"], &["cube.obj", "cells"]),
        (&["mesh", "tet", "cube.obj", "--cell", "-1", "--out", "o.msh"], &["positive"]),
    ];
    let before = f.names("");
    for (args, words) in cases {
        let ran = f.stiction(args);
        assert_eq!(ran.code(), 2, "{args:?}: {}{}", ran.out(), ran.err());
        for word in words {
            assert!(ran.err().contains(word), "{args:?}: no `{word}` in {}", ran.err());
        }
        assert_eq!(f.names(""), before, "{args:?} left something behind");
    }
}

#[test]
fn contacts_are_written_and_carry_the_weight() {
    let f = Folder::new("contacts");
    f.write("scene.toml", SCENE);
    for name in ["c.csv", "c.json"] {
        let ran = f.stiction(&["run", "scene.toml", "--contacts", name]);
        assert_eq!(ran.code(), 0, "{}", ran.err());
    }
    let text = std::fs::read_to_string(f.path().join("c.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    let last = rows.last().unwrap()[column("step")];
    let end: Vec<_> = rows.iter().filter(|r| r[column("step")] == last).collect();
    assert_eq!(end.len(), 4, "four corners on the floor");
    assert!(end.iter().all(|r| r[column("a")] == "floor" && r[column("b")] == "crate"));
    // The first body is the floor, which carries 2 kg.
    let sum: f64 = end.iter().map(|r| r[column("fz")].parse::<f64>().unwrap()).sum();
    assert!((sum + 2.0 * 9.81).abs() < 1e-6, "{sum}");
    assert!(end.iter().all(|r| r[column("gap")].parse::<f64>().unwrap().abs() < 1e-4));

    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(f.path().join("c.json")).unwrap()).unwrap();
    let all = json.as_array().unwrap();
    assert_eq!(all.len(), rows.len());
    assert_eq!(all[all.len() - 1]["b"], "crate");
    assert_eq!(f.stiction(&["run", "scene.toml", "--contacts", "c.txt"]).code(), 2);
}
