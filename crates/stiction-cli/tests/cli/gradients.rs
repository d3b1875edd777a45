//! `grad` finds its derivatives right, `--solver penalty` steps a scene, `optimize` fits a throw and resumes, and tasks that
//! cannot be are refused with what is wrong and what to do.

use crate::common::{Folder, SCENE};

const TASK: &str = r#"
scene = "scene.toml"
steps = 12
method = "lbfgs"
evaluations = 30
goal = 1e-16

[objective]
of = "crate"
target = [0.1, 0.0, 0.2]
weight = [1, 0, 1]

[[parameter]]
kind = "velocity"
of = "crate"
axis = "x"

[[parameter]]
kind = "velocity"
of = "crate"
axis = "z"
min = -5
max = 5
"#;

#[test]
fn derivatives_of_a_falling_crate_are_right() {
    let f = Folder::new("grad");
    f.write("scene.toml", SCENE);
    let ran = f.stiction(&["grad", "scene.toml", "--steps", "20", "--json"]);
    let json = ran.json();
    assert_eq!(ran.code(), 0, "{json:#}");
    assert!(json["rows"].as_array().unwrap().len() > 8);
    let ran = f.stiction(&["run", "scene.toml", "--solver", "penalty", "--json"]);
    assert_eq!(ran.code(), 0, "{}{}", ran.out(), ran.err());
}

#[test]
fn a_task_is_fitted_and_resumed() {
    let f = Folder::new("optimize");
    f.write("scene.toml", SCENE);
    f.write("task.toml", TASK);
    let first = f.stiction(&["optimize", "task.toml", "--out", "fit", "--json"]);
    let json = first.json();
    assert!(first.code() == 0 && json["objective"].as_f64().unwrap() < 1e-16, "{json:#}");
    assert_eq!(f.names("fit"), ["convergence.csv", "convergence.svg", "fitted.json"]);
    let again = f.stiction(&["optimize", "task.toml", "--resume", "fit/fitted.json", "--json"]);
    assert_eq!(again.json()["runs"], 1, "it starts where it ended");
}

#[test]
fn bad_tasks_are_refused() {
    let f = Folder::new("tasks");
    f.write("scene.toml", SCENE);
    let cases: [(&str, &str, &[&str]); 6] = [
        ("kind = \"velocity\"", "kind = \"colour\"", &["colour", "one of velocity"]),
        ("of = \"crate\"\naxis = \"x\"", "of = \"crat\"\naxis = \"x\"", &["crat", "floor, crate"]),
        ("axis = \"x\"\n", "", &["needs `axis`"]),
        ("min = -5\nmax = 5", "min = 5\nmax = -5", &["min is above max"]),
        ("min = -5\nmax = 5", "min = 2\nmax = 5", &["outside of its bounds"]),
        ("steps = 12", "steps = 12\nspeed = 3", &["speed", "--example"]),
    ];
    for (from, to, words) in cases {
        assert!(TASK.contains(from));
        f.write("task.toml", TASK.replacen(from, to, 1));
        let ran = f.stiction(&["optimize", "task.toml"]);
        assert_eq!(ran.code(), 2, "{to}: {}{}", ran.out(), ran.err());
        for word in words {
            assert!(ran.err().contains(word), "{to}: no `{word}` in {}", ran.err());
        }
    }
    // A parameter that the objective does not feel: said, and the start is kept.
    f.write(
        "task.toml",
        TASK.replacen("0.2]\nweight = [1, 0, 1]", "0.2]\nweight = [0, 1, 0]", 1).replacen(
            "[0.1, 0.0,",
            "[0.1, 0.3,",
            1,
        ),
    );
    let ran = f.stiction(&["optimize", "task.toml"]);
    assert!(ran.code() == 1 && ran.out().contains("does not depend"), "{}{}", ran.out(), ran.err());
}
