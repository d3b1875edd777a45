//! Whatever is wrong with a scene file, the error names the file, the line, the item and what to do.

#[allow(dead_code)]
use crate::common::Scratch;
use miette::Diagnostic;
use std::path::Path;
use stiction_io::Error;
use stiction_io::scene;

fn error(text: &str) -> Error {
    match scene::parse(text, "bad.toml", Path::new("/nowhere"), &[]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(e) => e,
    }
}

/// Text with `@` before the place that the error must point at; what it must say; what to do.
const CASES: &[(&str, &str, &str)] = &[
    // Broken TOML.
    ("title = \"a\"\n[time\ndt = 1\n", "", ""),
    ("[time]\ndt = 0.1\n@dt = 0.2\n", "duplicate key", ""),
    // Unknown keys, at every level.
    ("title = \"a\"\n@gravty = [0, 0, 0]\n", "unknown key `gravty`", "did you mean `gravity`?"),
    ("[time]\n@step = 1\n", "unknown key `step`", "`dt`, `duration`, `scheme`"),
    (
        "[[body]]\nname = \"a\"\n@fricton = 1\nshape = { plane = {} }\n",
        "`fricton`",
        "did you mean `friction`?",
    ),
    ("[[body]]\nname = \"a\"\nshape = { @cube = 1 }\n", "unknown key `cube`", "`box`"),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { @r = 1 } }\n", "unknown key `r`", "`radius`"),
    ("[[body]]\nname = \"a\"\nshape = { plane = {} }\nmotion = { @speed = 1 }\n", "`speed`", "`keyframes`"),
    // Unknown values.
    ("[solver]\nname = @\"exat\"\n", "unknown value `exat`", "did you mean `exact`?"),
    ("[time]\nscheme = @\"euler\"\n", "unknown value `euler`", "`implicit-euler`"),
    ("[[body]]\nname = \"a\"\nshape = { plane = {} }\nmotion = @\"static\"\n", "\"static\"", "\"fixed\""),
    ("[contact]\ncombine_friction = @\"avg\"\n", "unknown value `avg`", "`geometric-mean`"),
    // Numbers.
    ("[time]\ndt = @0\n", "0 is not allowed", "positive"),
    ("[time]\ndt = @-0.01\n", "-0.01 is not allowed", "positive"),
    ("[time]\ndt = @nan\n", "NaN is not allowed", "positive"),
    ("[time]\nduration = @inf\n", "inf is not allowed", "positive"),
    ("[time]\ndt = @\"1\"\n", "string \"1\" is not allowed", "a number"),
    ("gravity = [0, 0, @nan]\n", "NaN is not allowed", "finite"),
    (
        "[[body]]\nname = \"a\"\nrotation = { euler_deg = @[1, 2] }\nshape = { plane = {} }\n",
        "2 numbers are given, 3 are needed",
        "list of 3",
    ),
    ("gravity = @[0, 0]\n", "2", "3"),
    ("[solver]\nmax_iterations = @-1\n", "-1", "usize"),
    ("[defaults]\nfriction = @-0.5\n", "-0.5 is not allowed", "positive"),
    ("[defaults]\nrestitution = @1.5\n", "1.5 is not allowed", "from 0 to 1"),
    ("[defaults]\ndensity = @0\n", "0 is not allowed", "positive"),
    ("[[body]]\nname = \"a\"\nshape = { box = { size = [1, @0, 1] } }\n", "0 is not allowed", "positive"),
    ("gravity = @[0, 0]\n", "2 numbers are given, 3 are needed", "list of 3"),
    ("gravity = @[0, 0, 1, 2]\n", "4 numbers are given, 3 are needed", "list of 3"),
    (
        "[[body]]\nname = \"a\"\nmass = @-1\nshape = { sphere = { radius = 1 } }\n",
        "-1 is not allowed",
        "positive",
    ),
    ("[[body]]\nname = \"a\"\nshape = { sphere = { radius = @1e400 } }\n", "overflow", ""),
    // Lengths and times that no scene has, at every kind of place.
    ("[time]\ndt = @1e-300\n", "1e-300 is not allowed", "from 1e-9 to 1000 s"),
    ("[time]\ndt = @4e9\n", "4000000000 is not allowed", "from 1e-9 to 1000 s"),
    ("[time]\nduration = @1e10\n", "10000000000 is not allowed", "at most 1e9 s"),
    (
        "[[body]]\nname = \"a\"\nshape = { box = { size = [1, @1e308, 1] } }\n",
        "1e308 is not allowed",
        "to 1e9 m",
    ),
    (
        "[[body]]\nname = \"a\"\nshape = { sphere = { radius = @1e-10 } }\n",
        "1e-10 is not allowed",
        "from 1e-9",
    ),
    (
        "[[body]]\nname = \"a\"\nposition = [0, @-2e9, 0]\nshape = { plane = {} }\n",
        "-2000000000",
        "at most 1e9 m",
    ),
    ("[contact]\nmargin = @1e200\n", "1e200 is not allowed", "at most 1e9 m"),
    ("[[particle]]\nname = \"a\"\nmass = 1\nradius = @1e19\n", "1e19 is not allowed", "at most 1e9 m"),
    (
        "[[rod]]\nname = \"a\"\npoints = [[0, 0, 0], [1, 0, 0]]\nsegments = 4\nyoung = 1e6\nradius = @1.8e19\n",
        "1.8e19 is not allowed",
        "to 1e9 m",
    ),
    (
        "[[soft]]\nname = \"s\"\nmesh = { block = { cells = [1, 1, 1], size = [1, 1, @1e12] } }\n\
         material = { preset = \"rubber\" }\n",
        "1000000000000 is not allowed",
        "to 1e9 m",
    ),
    (
        "[[soft]]\nname = \"s\"\nmesh = { block = { cells = [1, 1, 1], size = [1, 1, 1] } }\n\
         material = { preset = \"rubber\" }\n\
         [[sensor]]\nname = \"p\"\npoint = { soft = \"s\", at = [0, 0, @1e160] }\n",
        "1e160 is not allowed",
        "at most 1e9 m",
    ),
    (
        "[[body]]\nname = \"a\"\nrotation = { quaternion = [2, 0, 0, 0] }\nshape = { plane = {} }\n",
        "length 2",
        "unit",
    ),
    (
        "[[body]]\nname = \"a\"\nshape = { plane = { normal = @[0, 0, 0] } }\n",
        "zero length",
        "points somewhere",
    ),
    (
        "[[body]]\nname = \"a\"\nfriction = @{ along = 0.1, across = 0.2 }\nshape = { plane = {} }\n",
        "`direction` is missing",
        "add",
    ),
    ("[[body]]\nname = \"a\"\nmass = 1\ninertia = @[1, 2]\nshape = { plane = {} }\n", "not 2", "ixx"),
    // What must go together.
    ("@[[body]]\nshape = { plane = {} }\n", "`name` is missing", "add `name"),
    ("@[[body]]\nname = \"a\"\n", "`shape` is missing", "add `shape"),
    ("[[body]]\nname = \"a\"\nshape = @{ position = [0, 0, 0] }\n", "exactly one of `plane`", "list"),
    (
        "[[body]]\nname = \"a\"\nshape = @{ plane = {}, sphere = { radius = 1 } }\n",
        "exactly one of `plane`",
        "list",
    ),
    ("[[body]]\nname = @\"a\"\nshape = []\n", "empty list of shapes", "at least one"),
    (
        "[[body]]\nname = \"a\"\ndensity = 1\nmass = @1\nshape = { sphere = { radius = 1 } }\n",
        "do not go together",
        "`density`",
    ),
    (
        "[[body]]\nname = \"a\"\ninertia = @[1, 1, 1]\nshape = { sphere = { radius = 1 } }\n",
        "do not go together",
        "`mass`",
    ),
    (
        "[[body]]\nname = \"a\"\nmotion = \"fixed\"\nmass = @1\nshape = { plane = {} }\n",
        "needs no mass",
        "remove",
    ),
    (
        "[[body]]\nname = \"a\"\nmotion = \"fixed\"\nspin = @[1, 0, 0]\nshape = { plane = {} }\n",
        "free body",
        "remove",
    ),
    ("[[body]]\nname = \"a\"\nshape = { cone = { height = 1, radius = @0 } }\n", "0", "positive"),
    ("[[body]]\nname = \"a\"\nshape = { cone = @{ height = 1 } }\n", "`radius` is missing", "add"),
    (
        "[[body]]\nname = \"a\"\nshape = { heightfield = { size = [1, 1], heights = @[[0, 1], [2]] } }\n",
        "row 1 has 1 heights",
        "same length",
    ),
    (
        "[[body]]\nname = \"a\"\nshape = { hull = { points = @[[0, 0, 0], [1, 0, 0]] } }\n",
        "hull of 2 points",
        "four",
    ),
    (
        "[[body]]\nname = \"a\"\nshape = { plane = {} }\nmotion = { keyframes = @[{ time = 1 }, { time = 1 }] }\n",
        "ascending",
        "sort",
    ),
    (
        "[[body]]\nname = \"a\"\nshape = { plane = {} }\nmotion = @{ velocity = [0, 0, 1], keyframes = [{ time = 1 }] }\n",
        "not both",
        "remove",
    ),
    ("@[[sensor]]\nname = \"s\"\n", "exactly one of", "energy"),
    (
        "[[force]]\ntarget = \"p\"\nuntil = @-1\n[[particle]]\nname = \"p\"\nmass = 1\n",
        "before it starts",
        "later",
    ),
    // Names.
    (
        "[[particle]]\nname = \"a\"\nmass = 1\n[[particle]]\nname = @\"a\"\nmass = 1\n",
        "`a` is taken (line 2)",
        "own name",
    ),
    ("[[particle]]\nname = @\"\"\nmass = 1\n", "cannot be a name", "letters"),
    ("[[particle]]\nname = @\"a\\nb\"\nmass = 1\n", "cannot be a name", "letters"),
    (
        "[[force]]\ntarget = @\"crat\"\n[[particle]]\nname = \"crate\"\nmass = 1\n",
        "called `crat`",
        "did you mean `crate`?",
    ),
    ("[[sensor]]\nname = \"s\"\npose = @\"x\"\n", "called `x`", "no names"),
    (
        "[[sensor]]\nname = \"s\"\nenergy = true\n[[sensor]]\nname = @\"s\"\nenergy = true\n",
        "two sensors",
        "own name",
    ),
    ("[[pair]]\na = @\"p\"\nb = \"p\"\n[[particle]]\nname = \"p\"\nmass = 1\n", "is a particle", "bodies"),
    // Meshes.
    ("[[body]]\nname = \"a\"\nshape = { mesh = { file = @\"no.obj\" } }\n", "/nowhere/no.obj", "scene file"),
    ("[[body]]\nname = \"a\"\nshape = { mesh = { file = @\"no.ply\" } }\n", "no.ply", ""),
    (
        "[[body]]\nname = \"a\"\nshape = { mesh = { file = @\"builtin:braket.obj\" } }\n",
        "does not exist",
        "`bracket.obj`",
    ),
];

#[test]
fn every_mistake_is_named_where_it_stands() {
    for (marked, problem, remedy) in CASES {
        let text = marked.replace('@', "");
        let e = error(&text);
        assert!(e.to_string().starts_with("bad.toml:"), "{e}");
        let all = format!("{} {}", e.problem(), e.remedy());
        assert!(e.problem().contains(problem) || all.contains(problem), "{marked}\n→ {e}\nwanted: {problem}");
        assert!(all.contains(remedy), "{marked}\n→ {e}\n→ {}\nwanted: {remedy}", e.remedy());
        assert!(!e.remedy().is_empty() && e.labels().is_some() && e.source_code().is_some());
        if let Some(at) = marked.find('@') {
            let line = text[..at].matches('\n').count() + 1;
            let column = at - text[..at].rfind('\n').map_or(0, |n| n + 1) + 1;
            assert_eq!(e.line_column(), Some((line, column)), "{marked}\n→ {e}");
        }
    }
}

#[test]
fn the_report_shows_file_line_caret_and_known_keys() {
    let e = error("title = \"a\"\n\n[time]\nduraton = 3\n");
    let mut shown = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
        .render_report(&mut shown, &e)
        .unwrap();
    for part in ["bad.toml:4:1: unknown key `duraton`", "duraton = 3", "did you mean `duration`?", "`dt`"] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let dir = Scratch::new("scene-errors");
    let path = dir.file("latin.toml");
    std::fs::write(&path, b"title = \"caf\xe9\"").unwrap();
    let e = scene::load(&path, &[]).unwrap_err();
    assert!(e.to_string().contains("latin.toml: is not a text file"), "{e}");
    let e = scene::load(&dir.file("none.toml"), &[]).unwrap_err();
    assert!(e.to_string().contains("none.toml: cannot be read"), "{e}");
}

#[test]
fn meshes_are_found_beside_the_scene_and_their_mistakes_are_told() {
    let dir = Scratch::new("scene-mesh");
    let path = dir.file("s.toml");
    std::fs::write(&path, "[[body]]\nname = \"a\"\nshape = { mesh = { file = \"m.obj\", scale = 0.001 } }\n")
        .unwrap();
    std::fs::write(dir.file("m.obj"), "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\nf 1 3 2\nf 1 2 4\n")
        .unwrap();
    let s = scene::load(&path, &[]).unwrap();
    let stiction::Geometry::ConvexHull { points } = &s.scene.bodies[0].shapes[0].geometry else {
        panic!("a hull")
    };
    assert_eq!(points[1], stiction::Vec3::X);
    std::fs::write(dir.file("m.obj"), "v 0 0 0\nv 1 0 zero\n").unwrap();
    let e = scene::load(&path, &[]).unwrap_err();
    assert!(e.to_string().contains("m.obj:2: `zero` is not a coordinate"), "{e}");
    assert_eq!(e.line_column(), Some((3, 27)));
}

#[test]
fn what_only_compiling_finds_points_at_the_item_too() {
    let text = "[[body]]\nname = \"floor\"\nmotion = \"fixed\"\nshape = { plane = {} }\n\n\
                [[body]]\nname = \"sheet\"\nshape = { plane = {} }\nrepeat = { count = 2, step = [0, 0, 1] }\n";
    let e = scene::parse(text, "bad.toml", Path::new(""), &[]).unwrap().compile().err().unwrap();
    assert!(e.to_string().starts_with("bad.toml:7:8: body `sheet-0`: a plane has no mass"), "{e}");
}

#[test]
fn lengths_that_grow_beyond_the_bound_are_refused_where_they_come_from() {
    let lines = [
        "repeat = { count = 3, step = [6e8, 0, 0] }",
        "repeat = { count = 20, step = [1, 0, 0], size_factor = 10 }",
    ];
    for line in lines {
        let text = format!("[[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\n{line}\n");
        let loaded = scene::parse(&text, "far.toml", Path::new("/nowhere"), &[]).unwrap();
        let e = loaded.compile().err().unwrap();
        assert!(e.to_string().contains("at most 1e9 m") && e.to_string().contains("body `a-"), "{line}: {e}");
    }
}

#[test]
fn a_scene_of_too_many_items_is_refused_before_anything_is_made_of_it() {
    for piece in ["[[body]]\n", "x = [1, 2, 3, 4]\n", "a.b.c.d.e = 1\n", "x = [{}, {}, {}]\n"] {
        let marks = piece.bytes().filter(|b| b"=,.[{".contains(b)).count();
        let text = piece.repeat(4_000_001_usize.div_ceil(marks));
        let e = error(&text);
        assert!(e.problem().contains("at most 4000000 are read"), "{piece}: {}", e.problem());
        assert!(e.remedy().contains("`repeat`"), "{piece}");
    }
}
