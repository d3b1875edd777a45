//! Whatever is wrong with the input, the command says what, where and what to do, ends with exit code 2, prints
//! nothing on standard output and leaves nothing behind.

use crate::common::{Folder, SCENE};

/// Runs and expects a refusal whose message holds all `words`.
fn refused(f: &Folder, args: &[&str], words: &[&str]) {
    let before = f.names("");
    let ran = f.stiction(args);
    assert_eq!(ran.code(), 2, "{args:?}: {}{}", ran.out(), ran.err());
    for word in words {
        assert!(ran.err().contains(word), "{args:?}: no `{word}` in {}", ran.err());
    }
    assert_eq!(ran.out(), "", "{args:?}");
    assert_eq!(f.names(""), before, "{args:?} left something behind");
}

/// The tiny scene with one text replaced by another.
fn changed(f: &Folder, from: &str, to: &str) {
    assert!(SCENE.contains(from));
    f.write("bad.toml", SCENE.replacen(from, to, 1));
}

#[test]
fn scenes_that_cannot_be_are_refused_with_their_place() {
    let f = Folder::new("scenes");
    let cases: [(&str, &str, &[&str]); 10] = [
        ("duration = 0.5", "duration = = 0.5", &["bad.toml:6:"]),
        ("mass = 2", "mas = 2", &["bad.toml:17:", "mas", "did you mean `mass`"]),
        ("pose = \"crate\"", "pose = \"craet\"", &["craet", "crate"]),
        ("mass = 2", "mass = -2", &["bad.toml:17:", "mass = -2", "positive"]),
        ("mass = 2", "mass = nan", &["bad.toml", "mass"]),
        ("mass = 2", "density = 0", &["bad.toml", "density"]),
        ("mass = 2", "mass = 2\ninertia = [1, 1, 9]", &["bad.toml:14:", "name = \"crate\"", "inertia"]),
        ("name = \"crate\"", "name = \"floor\"", &["bad.toml", "floor"]),
        ("dt = 0.01", "dt = 0", &["bad.toml:5:", "dt"]),
        (
            "shape = { box = { size = [0.2, 0.2, 0.2] } }",
            "shape = { mesh = { file = \"no.obj\" } }",
            &["no.obj", "cannot be read"],
        ),
    ];
    for (from, to, words) in cases {
        changed(&f, from, to);
        refused(&f, &["run", "bad.toml", "--json", "--out", "results"], words);
        refused(&f, &["check", "bad.toml"], words);
    }
    f.write("bad.obj", "v 0 0\nf 1 2 9\n");
    changed(&f, "box = { size = [0.2, 0.2, 0.2] }", "mesh = { file = \"bad.obj\" }");
    refused(&f, &["check", "bad.toml"], &["bad.obj"]);
}

#[test]
fn names_and_files_that_do_not_exist_are_refused_with_a_guess() {
    let f = Folder::new("names");
    refused(&f, &["run", "heavy-stakc"], &["heavy-stakc", "did you mean `heavy-stack`", "stiction scenes"]);
    refused(&f, &["run", "nowhere/scene.toml"], &["nowhere/scene.toml", "cannot be read"]);
    refused(&f, &["run", "heavy-stack", "--solver", "magic"], &["magic", "exact", "pgs"]);
    refused(&f, &["run", "heavy-stack", "--set", "nonsense"], &["key=value"]);
    refused(&f, &["run", "heavy-stack", "--set", "tiem.dt=1"], &["tiem"]);
    refused(&f, &["run", "heavy-stack", "--dt", "0"], &["--dt", "positive"]);
    for flag in ["--dt", "--tol", "--time"] {
        for value in ["-1", "-1e-3"] {
            refused(&f, &["run", "heavy-stack", flag, value], &[flag, "must be positive"]);
        }
    }
    refused(&f, &["run", "heavy-stack", "--steps", "-1"], &["--steps", "0 or more"]);
    refused(&f, &["run", "heavy-stack", "--time", "1", "--steps", "5"], &["--time", "--steps"]);
    refused(&f, &["bench", "walls"], &["a program of their own", "-p stiction-bench -- walls"]);
}

#[test]
fn problems_that_are_none_are_refused() {
    let f = Folder::new("problems");
    refused(&f, &["solve", "none.npz"], &["none.npz", "cannot be read"]);
    f.write("text.npz", "this is no archive");
    refused(&f, &["solve", "text.npz", "--out", "s.npz", "--trace", "t.csv"], &["text.npz"]);
    // A file that was cut off.
    let weak = ["--solver", "pgs", "--max-iter", "1", "--steps", "1", "--dump-problem", "hard"];
    f.stiction(&[&["run", "heavy-stack"], &weak[..]].concat());
    let whole = std::fs::read(f.path().join("hard/step-00001.npz")).unwrap();
    for part in [1, whole.len() / 2, whole.len() - 1] {
        f.write("cut.npz", &whole[..part]);
        refused(&f, &["solve", "cut.npz"], &["cut.npz"]);
    }
}

#[test]
fn a_solution_and_its_curve_are_written_both_or_not_at_all() {
    let f = Folder::new("both");
    let weak = ["--solver", "pgs", "--max-iter", "1", "--steps", "1", "--dump-problem", "hard"];
    f.stiction(&[&["run", "heavy-stack"], &weak[..]].concat());
    let solve = |out: &str, trace: &str| {
        refused(
            &f,
            &["solve", "hard/step-00001.npz", "--out", out, "--trace", trace],
            &["cannot be written", "nowhere"],
        );
    };
    solve("s.npz", "nowhere/t.csv");
    solve("nowhere/s.npz", "t.csv");
}

#[test]
fn output_that_cannot_be_written_is_refused_with_its_path() {
    let f = Folder::new("output");
    f.write("file", "in the way");
    refused(&f, &["run", "heavy-stack", "--steps", "2", "--out", "file"], &["file", "cannot be written"]);
    refused(
        &f,
        &["run", "heavy-stack", "--steps", "2", "--out", "file/sub"],
        &["file/sub", "cannot be written"],
    );
    refused(&f, &["run", "heavy-stack", "--steps", "2", "--dump-problem", "file/sub"], &["file/sub"]);
    std::fs::create_dir_all(f.path().join("taken/report.csv")).unwrap();
    refused(&f, &["run", "heavy-stack", "--steps", "2", "--out", "taken"], &["taken/report.csv", "folder"]);
    assert_eq!(f.names("taken"), ["report.csv"]);
    assert_eq!(std::fs::read_to_string(f.path().join("file")).unwrap(), "in the way");
}
