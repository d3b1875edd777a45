//! Whatever is wrong with a soft body, cloth, rod, spring or joint of a scene file, the error shows where it stands in the
//! file, names it, with the ids of nodes and tetrahedra where it has them, and says what to do.

#[allow(dead_code)]
use crate::common::Scratch;
use miette::Diagnostic;
use std::path::Path;
use stiction_io::{Error, scene};

/// What reading or compiling the scene says.
fn error(text: &str, folder: &Path) -> Error {
    let compiled = scene::parse(text, "bad.toml", folder, &[]).and_then(|s| s.compile());
    match compiled {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(e) => e,
    }
}

/// The problem and remedy are said, and the caret stands at the `@`.
fn refuse(marked: &str, folder: &Path, problem: &str, remedy: &str) {
    let text = marked.replace('@', "");
    let e = error(&text, folder);
    let all = format!("{} {}", e.problem(), e.remedy());
    assert!(all.contains(problem), "{marked}\n→ {all}\nwanted: {problem}");
    assert!(all.contains(remedy), "{marked}\n→ {all}\nwanted: {remedy}");
    assert!(!e.remedy().is_empty() && e.labels().is_some() && e.source_code().is_some());
    let at = marked.find('@').expect("a mark");
    let line = text[..at].matches('\n').count() + 1;
    let column = at - text[..at].rfind('\n').map_or(0, |n| n + 1) + 1;
    assert_eq!(e.line_column(), Some((line, column)), "{marked}\n→ {e}");
}

const GOOD_MESH: &str = "mesh = { block = { cells = [1, 1, 1], size = [1, 1, 1] } }\n";
const GOOD_MATERIAL: &str = "material = { young = 1e5, poisson = 0.3, density = 1000 }\n";

/// A body `crate`, and a soft body `blob` that ends with the given lines.
fn soft(lines: &str) -> String {
    format!(
        "[[body]]\nname = \"crate\"\nposition = [0, 0, 5]\nshape = {{ sphere = {{ radius = 1 }} }}\n\
         [[soft]]\nname = \"blob\"\n{lines}"
    )
}

#[test]
fn materials() {
    let cases = [
        ("@{ young = 1e5, poisson = 0.5, density = 1 }", "Poisson's ratio 0.5", "take 0.45 to 0.49"),
        ("@{ young = 0, poisson = 0.3, density = 1 }", "Young's modulus 0 Pa", "did you give MPa?"),
        ("@{ young = -1, poisson = 0.3, density = 1 }", "Young's modulus -1 Pa", "docs/materials.md"),
        ("{ young = @nan, poisson = 0.3, density = 1 }", "NaN is not allowed", "finite"),
        ("@{ young = 1, poisson = 0.3, density = -1 }", "density -1 kg/m³", "1000 is water"),
        ("@{ young = 1e5, density = 1 }", "the material has no `poisson`", "or a `preset`"),
        ("{ preset = @\"ruber\" }", "unknown value `ruber`", "did you mean `rubber`?"),
        ("{ preset = \"rubber\", law = @\"linar\" }", "no law is called `linar`", "did you mean `linear`?"),
        ("{ preset = \"rubber\", @yung = 1 }", "unknown key `yung`", "did you mean `young`?"),
        ("@{ preset = \"rubber\", law = \"linear\", threshold = 0.5 }", "belongs to the law", "remove it"),
        (
            "@{ preset = \"rubber\", law = \"neo-hookean\", threshold = 2 }",
            "neo-Hookean threshold 2",
            "take 0.7 or less",
        ),
    ];
    for (material, problem, remedy) in cases {
        refuse(&soft(&format!("{GOOD_MESH}material = {material}\n")), Path::new(""), problem, remedy);
    }
}

#[test]
fn meshes() {
    let cases = [
        ("@{}", "exactly one of `file`, `cover`, `block`", "ring"),
        (
            "@{ sphere = { radius = 1, shells = 2 }, ring = { radius = 1, side = 0.1, segments = 9 } }",
            "exactly one",
            "",
        ),
        ("{ @cube = 1 }", "unknown key `cube`", "`block`"),
        (
            "@{ sphere = { radius = 1, shells = 2 }, scale = 2 }",
            "`scale` belongs to a mesh `file`",
            "sizes instead",
        ),
        ("{ sphere = { radius = 1, shells = @0 } }", "0 is not allowed", "from 1 to 400"),
        ("{ sphere = { radius = @-1, shells = 2 } }", "-1 is not allowed", "positive"),
        (
            "@{ torus = { radius = 1, tube = 1, rings = 2, segments = 9 } }",
            "thick as its ring",
            "make `tube` smaller",
        ),
        ("@{ torus = { radius = 1, tube = 0.1, rings = 2, segments = 2 } }", "fewer than 3", "at least 3"),
        (
            "@{ ring = { radius = 1, side = 2, segments = 9 } }",
            "thicker than it is wide",
            "make `side` smaller",
        ),
        ("{ file = @\"none.msh\" }", "none.msh", "relative to the folder"),
        ("{ file = @\"part.step\" }", "part.step", "relative to the folder"),
        ("@{ volume = 1, sphere = { radius = 1, shells = 2 } }", "`volume` belongs to a mesh `file`", ""),
        ("{ cover = { file = @\"none.obj\", cell = 0.1 } }", "none.obj", "relative to the folder"),
        ("{ cover = { file = \"builtin:bracket.obj\", cell = @0 } }", "0 is not allowed", "positive"),
        ("{ cover = { file = @\"builtin:bracket.obj\", cell = 1e-6 } }", "take cells of", "mesh check"),
    ];
    for (mesh, problem, remedy) in cases {
        refuse(&soft(&format!("mesh = {mesh}\n{GOOD_MATERIAL}")), Path::new("/nowhere"), problem, remedy);
    }
    let missing = soft(GOOD_MATERIAL).replace("[[soft]]", "@[[soft]]");
    refuse(&missing, Path::new(""), "`mesh` is missing", "add `mesh");
}

/// A Medit file of one tetrahedron and some more vertices.
fn medit(vertices: &str, count: usize, tet: &str) -> String {
    format!(
        "MeshVersionFormatted 2\nDimension 3\nVertices\n{count}\n0 0 0 0\n1 0 0 0\n0 1 0 0\n{vertices}\
         Tetrahedra\n1\n{tet} 0\nEnd\n"
    )
}

#[test]
fn wrong_mesh_files_are_told_with_the_ids_of_the_file() {
    let dir = Scratch::new("soft-mesh");
    let text = soft(&format!("mesh = {{ file = @\"part.mesh\" }}\n{GOOD_MATERIAL}"));
    let cases = [
        (medit("0 0 1 0\n5 5 5 0\n", 5, "1 2 3 4"), "node 5: unreferenced", "remove the nodes"),
        (medit("0 0 0 0\n", 4, "1 2 3 4"), "nodes 1 and 4: duplicate nodes", "merge coincident"),
        (medit("0.5 0.5 0 0\n", 4, "1 2 3 4"), "tet 1: zero volume", "mesh the part again"),
        (medit("0 0 1 0\n", 4, "1 2 3 9"), "9", ""),
        (medit("0 0 nan 0\n", 4, "1 2 3 4"), "", ""),
        ("Vertices\nmany\n".to_string(), "part.mesh", ""),
    ];
    for (mesh, problem, remedy) in cases {
        std::fs::write(dir.file("part.mesh"), mesh).unwrap();
        refuse(&text, dir.file("").as_path(), problem, remedy);
    }
    // A tetrahedron that is inside out is turned, because formats disagree about the order of nodes.
    std::fs::write(dir.file("part.mesh"), medit("0 0 1 0\n", 4, "1 3 2 4")).unwrap();
    scene::parse(&text.replace('@', ""), "s.toml", &dir.file(""), &[]).unwrap().compile().unwrap();
}

#[test]
fn parts_of_soft_bodies() {
    let named = |lines: &str| {
        let text = soft(&format!("{GOOD_MESH}{GOOD_MATERIAL}{lines}\n"));
        text.replace("name = \"blob\"", "name = @\"blob\"")
    };
    let at = |lines: &str| soft(&format!("{GOOD_MESH}{GOOD_MATERIAL}{lines}\n"));
    let cases = [
        // Found on reading: the caret stands at the value.
        (at("attach = [{ nodes = [0], to = @\"crat\" }]"), "called `crat`", "did you mean `crate`?"),
        (at("attach = [{ nodes = [0], @two = \"crate\" }]"), "unknown key `two`", "`to`"),
        (at("damping = { stiffness = @-1 }"), "-1 is not allowed", "positive"),
        (at("mass_matrix = @\"lump\""), "unknown value `lump`", "`lumped`"),
        (at("visual = @\"none.obj\""), "none.obj", "relative to the folder"),
        (at("thickness = @-0.1"), "-0.1 is not allowed", "positive"),
        (at("@self_contat = true"), "unknown key `self_contat`", "did you mean `self_contact`?"),
        (
            at("fibre = [{ box = [[-9, -9, -9], [9, 9, 9]], direction = @[0, 0, 0], stiffness = 1 }]"),
            "zero length",
            "points somewhere",
        ),
        // Found on building and compiling: the caret stands at the name.
        (named("attach = [{ to = \"crate\" }]"), "does not say which nodes", "exactly one of `nodes"),
        (
            named("attach = [{ nodes = [0], box = [[0, 0, 0], [1, 1, 1]] }]"),
            "does not say which",
            "exactly one",
        ),
        (
            named("attach = [{ box = [[8, 8, 8], [9, 9, 9]] }]"),
            "attachment 1: no node lies in the box",
            "reaches",
        ),
        (named("attach = [{ nodes = [8] }]"), "attachment 1: there is no node 8", "counted from 0"),
        (
            named("attach = [{ nodes = [5] }, { nodes = [4, 5], to = \"crate\" }]"),
            "attachment 2: node 5 is held by another",
            "leave it out",
        ),
        (named("attach = [{ nodes = [5], to = \"blob\" }]"), "`blob` is not a rigid body", "rigid bodies"),
        (
            named("fibre = [{ box = [[8, 8, 8], [9, 9, 9]], direction = [1, 0, 0], stiffness = 1 }]"),
            "fibre layer 1: no tetrahedron",
            "the mesh reaches",
        ),
        (
            named("inflate = [{ box = [[8, 8, 8], [9, 9, 9]], pressure = [[0, 1]] }]"),
            "inflation 1: no tetrahedron",
            "the mesh reaches",
        ),
        (
            named("inflate = [{ box = [[-9, -9, -9], [9, 9, 9]], pressure = [[1, 0], [0, 1]] }]"),
            "inflation 1: it needs finite pressures",
            "increasing times",
        ),
    ];
    for (text, problem, remedy) in cases {
        refuse(&text, Path::new("/nowhere"), problem, remedy);
    }
}

const CLOTH: &str = "[[cloth]]\nname = @\"flag\"\ncells = [2, 2]\nsize = [1, 1]\narea_density = 0.2\nstretch = 10\n\
                     shear = 3\nthickness = 0.01\n";
const ROD: &str =
    "[[rod]]\nname = @\"cable\"\npoints = [[2, 0, 0], [2, 0, 1]]\nsegments = 4\nradius = 0.01\nyoung = 1e7\n";
const COIL: &str =
    "[[spring]]\nname = @\"coil\"\na = { on = \"crate\" }\nb = { at = [0, 0, 9] }\nstiffness = 10\n";
const HINGE: &str = "[[joint]]\nname = @\"elbow\"\nkind = \"hinge\"\nb = \"crate\"\n";

/// A table with `old` replaced; where the new text has a mark, the one at the name goes.
fn with(table: &str, old: &str, new: &str) -> String {
    assert!(table.contains(old), "{old}");
    let table = if new.contains('@') { table.replace('@', "") } else { table.to_string() };
    soft(&format!("{GOOD_MESH}{GOOD_MATERIAL}{}", table.replacen(old, new, 1)))
}

#[test]
fn cloth_rods_and_springs() {
    let more = |table: &str, line: &str| with(&format!("{table}#"), "#", line);
    let cases = [
        (with(CLOTH, "cells = [2, 2]", "cells = @[2, 0]"), "0 is not allowed", "from 1 to 400"),
        (with(CLOTH, "stretch = 10", "stretch = @0"), "0 is not allowed", "positive"),
        (with(CLOTH, "stretch = 10", "@strech = 10"), "unknown key `strech`", "did you mean `stretch`?"),
        (
            more(CLOTH, "attach = [{ nodes = [9] }]"),
            "cloth `flag`, attachment 1: there is no node 9",
            "from 0",
        ),
        (
            more(CLOTH, "attach = [{ box = [[8, 8, 8], [9, 9, 9]] }]"),
            "no node lies in the box",
            "reaches from",
        ),
        (more(CLOTH, "attach = [{ nodes = [0], to = @\"pole\" }]"), "called `pole`", "crate"),
        (with(CLOTH, "\"flag\"", "@\"blob\""), "`blob` is taken", "own name"),
        (more(ROD, "poisson = 0.5"), "rod `cable`: Poisson's ratio 0.5", "take 0.45 to 0.49"),
        (with(ROD, "young = 1e7", "young = @-1"), "-1 is not allowed", "positive"),
        (with(ROD, "segments = 4", "segments = @0"), "0 is not allowed", "from 1 to 10000"),
        (with(ROD, "[2, 0, 1]", "[2, 0, 0]"), "points 1 and 2 coincide", "leave one out"),
        (with(ROD, "[2, 0, 1]", "[2, 0, @inf]"), "inf is not allowed", "finite"),
        (more(ROD, "start = { to = @\"pole\" }"), "called `pole`", "crate"),
        (more(ROD, "start = { to = \"blob\" }"), "rod `cable`: `blob` is not a rigid body", "rigid bodies"),
        (more(ROD, "start = { fixing = @\"glued\" }"), "unknown value `glued`", "`clamped`"),
        (more(ROD, "rest = @\"bent\""), "unknown value `bent`", "`as-drawn`"),
        (with(COIL, "stiffness = 10", "stiffness = @0"), "0 is not allowed", "positive"),
        (with(COIL, "{ on = \"crate\" }", "{ on = @\"crat\" }"), "called `crat`", "did you mean `crate`?"),
        (with(COIL, "{ on = \"crate\" }", "@{}"), "neither on what it is nor where", "give `on"),
        (
            with(COIL, "{ at = [0, 0, 9] }", "{ at = [0, 0, 5] }"),
            "spring `coil`: its ends coincide",
            "give one",
        ),
        (with(COIL, "{ at = [0, 0, 9] }", "{ on = \"crate\", at = [1, 0, 0] }"), "the same body", "join two"),
    ];
    for (text, problem, remedy) in cases {
        refuse(&text, Path::new(""), problem, remedy);
    }
}

#[test]
fn joints() {
    let more = |line: &str| with(&format!("{HINGE}#"), "#", line);
    let cases = [
        (
            with(HINGE, "kind = \"hinge\"", "kind = @\"hing\""),
            "unknown value `hing`",
            "did you mean `hinge`?",
        ),
        (with(HINGE, "b = \"crate\"", "b = @\"crat\""), "called `crat`", "did you mean `crate`?"),
        (with(HINGE, "b = \"crate\"", "b = \"blob\""), "joint `elbow`: `blob` is soft", "attach its nodes"),
        (
            more("anchor_a = [0, 0, 4]\nanchor_b = [0, 0, 0]"),
            "joint `elbow`: its anchors disagree",
            "move a body",
        ),
        (more("anchor_a = [0, 0, 4]"), "one point of each body", "both `anchor_a` and `anchor_b`"),
        (more("at = [0, 0, @nan]"), "NaN is not allowed", "finite"),
        (more("axis = @[0, 0, 0]"), "zero length", "points somewhere"),
        (more("limits = { lower = 1, upper = -1 }"), "leave nothing", "the lower one first"),
        (more("motor = @{ stiffness = 1 }"), "exactly one target", "give one of `position`"),
        (more("@moter = 1"), "unknown key `moter`", "did you mean `motor`?"),
    ];
    for (text, problem, remedy) in cases {
        refuse(&text, Path::new(""), problem, remedy);
    }
}

#[test]
fn sensors_forces_and_pairs_of_soft_bodies() {
    let then = |lines: &str| soft(&format!("{GOOD_MESH}{GOOD_MATERIAL}{lines}"));
    let cases = [
        (
            then("[[sensor]]\nname = @\"tip\"\npoint = { soft = \"crate\", at = [0, 0, 0] }\n"),
            "sensor `tip`: `crate` is not a soft body",
            "read its pose",
        ),
        (
            then("[[sensor]]\nname = \"tip\"\npoint = { soft = @\"blub\", at = [0, 0, 0] }\n"),
            "`blub`",
            "`blob`",
        ),
        (then("[[sensor]]\nname = \"a\"\njoint = @\"knee\"\n"), "no joint is called `knee`", ""),
        (
            then("[[force]]\ntarget = @\"blob\"\ntorque = [1, 0, 0]\n"),
            "force on `blob`",
            "shared among its nodes",
        ),
        (then("[[pair]]\na = @\"blob\"\nb = \"blob\"\n"), "never touches itself", "name two"),
    ];
    for (text, problem, remedy) in cases {
        refuse(&text, Path::new(""), problem, remedy);
    }
}

#[test]
fn the_report_shows_the_line_of_a_soft_body() {
    let text = soft(&format!("{GOOD_MESH}{GOOD_MATERIAL}attach = [{{ nodes = [70] }}]\n"));
    let e = error(&text, Path::new(""));
    let mut shown = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
        .render_report(&mut shown, &e)
        .unwrap();
    for part in ["bad.toml:6:8: soft body `blob`, attachment 1: there is no node 70", "name = \"blob\""] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
}
