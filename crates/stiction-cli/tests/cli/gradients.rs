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
    let files =
        ["after.stic", "before.stic", "convergence.csv", "convergence.svg", "fitted.json", "view.html"];
    assert_eq!(f.names("fit"), files);
    let again = f.stiction(&["optimize", "task.toml", "--resume", "fit/fitted.json", "--json"]);
    assert_eq!(again.json()["runs"], 1, "it starts where it ended");
}

#[test]
fn a_task_that_makes_its_own_measurements_finds_the_truth_again() {
    // Markers with noise of 0.1 mm, a fifth of them lost, of a crate that is thrown and turns; a second aim that asks for little.
    let f = Folder::new("synthetic");
    f.write("scene.toml", SCENE);
    let objective = "kind = \"markers\"\nof = \"crate\"\npoints = [[0.1, 0.1, 0.1], [-0.1, 0.1, 0], [0, -0.1, 0.1]]\n\
                     [objective.synthetic]\nnoise = 1e-4\ndropout = 0.2\nseed = 3\n\
                     [[also]]\nkind = \"upright\"\nof = \"crate\"\nshare = 1e-9\n\n";
    let head = TASK.split("of = \"crate\"\ntarget").next().unwrap().replacen("lbfgs", "levenberg", 1);
    let parameter = |kind: &str, axis: &str, truth: f64| {
        format!("[[parameter]]\nkind = \"{kind}\"\nof = \"crate\"\naxis = \"{axis}\"\ntruth = {truth}\n")
    };
    let task = format!("{head}{objective}{}{}", parameter("velocity", "x", 0.7), parameter("spin", "z", 1.5));
    f.write("task.toml", &task);
    let ran = f.stiction(&["optimize", "task.toml", "--json"]);
    let json = ran.json();
    for name in ["velocity x of `crate`", "spin z of `crate`"] {
        let x = &json["fitted"][name];
        let number = |key: &str| x[key].as_f64().unwrap();
        let off = (number("value") - number("truth")).abs();
        assert!(off < 5.0 * number("deviation") && number("deviation") < 0.01, "{name}: {x}");
    }
    // A truth that nothing measures is a mistake.
    f.write("task.toml", TASK.replacen("axis = \"x\"", "axis = \"x\"\ntruth = 1", 1));
    let ran = f.stiction(&["optimize", "task.toml"]);
    assert!(ran.code() == 2 && ran.err().contains("synthetic"), "{}{}", ran.out(), ran.err());
}

#[test]
fn bad_tasks_are_refused() {
    let f = Folder::new("tasks");
    f.write("scene.toml", SCENE);
    let cases: [(&str, &str, &[&str]); 12] = [
        ("kind = \"velocity\"", "kind = \"colour\"", &["colour", "one of velocity"]),
        (
            "of = \"crate\"\naxis = \"x\"",
            "of = \"crat\"\naxis = \"x\"",
            &["`crat`", "did you mean `crate`?", "`floor`, `crate`"],
        ),
        ("axis = \"x\"\n", "", &["needs `axis`"]),
        ("min = -5\nmax = 5", "min = 5\nmax = -5", &["min is above max"]),
        ("min = -5\nmax = 5", "min = 2\nmax = 5", &["outside of its bounds"]),
        (
            "[[parameter]]",
            "[[parameter]]\nkind = \"velocity\"\nof = \"crate\"\naxis = \"x\"\n[[parameter]]",
            &["given twice"],
        ),
        ("target = [0.1, 0.0, 0.2]", "target = [nan, 0.0, 0.2]", &["`target` is", "finite"]),
        ("steps = 12", "steps = 12\nspeed = 3", &["speed", "--example"]),
        ("steps = 12", "steps = 12\nhorizon = [20]", &["horizon"]),
        ("[objective]", "[objective]\nkind = \"line\"", &["line", "needs `axis`"]),
        ("[objective]", "[objective]\nkind = \"markers\"\npoints = [[0, 0, 0]]", &["needs `file`"]),
        ("[objective]", "[objective]\nkind = \"cloud\"", &["soft bodies", "markers"]),
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

#[test]
fn a_target_outside_of_the_bounds_is_told() {
    let f = Folder::new("far");
    f.write("scene.toml", SCENE);
    f.write("task.toml", TASK.replacen("target = [0.1, 0.0, 0.2]", "target = [0.1, 0.0, 50]", 1));
    let ran = f.stiction(&["optimize", "task.toml"]);
    assert!(ran.out().contains("at their bounds: velocity z of `crate`"), "{}{}", ran.out(), ran.err());
}

#[test]
fn a_search_that_leaves_what_can_be_run_keeps_its_best_point() {
    let f = Folder::new("diverging");
    f.write("scene.toml", SCENE);
    // The farther it is thrown the better, and beyond 1e150 m/s no motion is finite.
    let far = TASK.replacen("target = [0.1, 0.0, 0.2]", "target = [1e155, 0.0, 0.2]", 1);
    let task = far.replacen("axis = \"x\"", "axis = \"x\"\nstart = 1", 1).replacen("goal = 1e-16\n", "", 1);
    f.write("task.toml", &task);
    let ran = f.stiction(&["optimize", "task.toml", "--json"]);
    let json = ran.json();
    assert!(json["fitted"]["velocity x of `crate`"]["value"].as_f64().unwrap().is_finite(), "{json:#}");
    // At a start that cannot be run at all it is said so.
    f.write("task.toml", task.replacen("start = 1", "start = 1e200", 1));
    let ran = f.stiction(&["optimize", "task.toml"]);
    assert!(ran.code() == 1 && ran.out().contains("choose another start"), "{}{}", ran.out(), ran.err());
}

#[test]
fn controls_per_step_and_settings_of_the_scene() {
    // A force per step, smooth in time, that brings the crate to a place; contacts are what the scene says.
    let f = Folder::new("controls");
    f.write("scene.toml", format!("{SCENE}\n[penalty]\nstiffness = 5000\nfriction = \"tanh\"\nbdf = 2\n"));
    let head = TASK.split("[[parameter]]").next().unwrap().replacen("lbfgs", "levenberg", 1);
    let control =
        "[[control]]\nkind = \"force\"\nof = \"crate\"\naxis = \"x\"\nevery = 4\nsmoothness = 1e-6\n";
    let task = format!("{head}{control}").replacen("weight = [1, 0, 1]", "weight = [1, 0, 0]", 1);
    f.write("task.toml", &task);
    let ran = f.stiction(&["optimize", "task.toml", "--json"]);
    let json = ran.json();
    assert!(json["objective"].as_f64().unwrap() < 1e-6, "{json:#}");
    let knots = json["fitted"].as_object().unwrap();
    assert!(knots.len() == 3 && knots.contains_key("force x of `crate` at step 4"), "{json:#}");
    for (from, to, words) in [
        ("kind = \"force\"", "kind = \"wind\"", ["wind", "one of force"]),
        ("every = 4", "every = 40", ["every", "choose between"]),
        ("kind = \"force\"", "kind = \"motor\"", ["there is no joint `crate`", "`crate` is a body"]),
    ] {
        f.write("task.toml", task.replacen(from, to, 1));
        let ran = f.stiction(&["optimize", "task.toml"]);
        assert_eq!(ran.code(), 2, "{to}");
        assert!(words.iter().all(|w| ran.err().contains(w)), "{to}: {}", ran.err());
    }
    f.write("scene.toml", format!("{SCENE}\n[penalty]\nbdf = 3\n"));
    let ran = f.stiction(&["optimize", "task.toml"]);
    assert!(ran.code() == 2 && ran.err().contains("1 or 2"), "{}", ran.err());
}

#[test]
fn measured_points_give_back_the_throw_that_made_them() {
    // A crate in free flight: x = 0.5 t, z as gravity has it under implicit Euler; one frame was not seen.
    let f = Folder::new("markers");
    f.write("scene.toml", SCENE);
    let mut rows = String::from("step,x,y,z\n");
    for i in (1..=8).filter(|i| *i != 4) {
        rows += &format!("{i},{},0,0\n", 0.5 * 0.01 * f64::from(i));
    }
    f.write("seen.csv", rows);
    let aim = "[objective]\nkind = \"path\"\nfile = \"seen.csv\"";
    let task = TASK
        .replacen("[objective]", aim, 1)
        .replacen("steps = 12", "steps = 12\ndt = 0.01\nhorizon = [6]", 1)
        .replacen("weight = [1, 0, 1]", "weight = [1, 0, 0]", 1)
        .replacen("lbfgs", "levenberg", 1);
    f.write("task.toml", task.split("[[parameter]]").take(2).collect::<Vec<_>>().join("[[parameter]]"));
    let ran = f.stiction(&["optimize", "task.toml", "--json"]);
    let json = ran.json();
    let fitted = &json["fitted"]["velocity x of `crate`"];
    assert!((fitted["value"].as_f64().unwrap() - 0.5).abs() < 1e-6, "{json:#}");
    assert!(fitted["deviation"].as_f64().is_some(), "{json:#}");
    // A row beyond the end of the motion is told apart.
    f.write("seen.csv", "step,x,y,z\n40,0,0,0\n");
    let ran = f.stiction(&["optimize", "task.toml"]);
    assert!(ran.code() == 2 && ran.err().contains("step 40"), "{}{}", ran.out(), ran.err());
}

#[test]
fn several_starts_keep_the_best_end() {
    // The height is not searched, so that no start reaches the goal and all are tried.
    let f = Folder::new("restarts");
    f.write("scene.toml", SCENE);
    let head = TASK.split("[[parameter]]").next().unwrap();
    let start = "[[parameter]]\nkind = \"velocity\"\nof = \"crate\"\naxis = \"x\"\nmin = -3\nmax = 3\n";
    f.write(
        "task.toml",
        format!("{head}{start}").replacen("steps = 12", "steps = 12\nrestarts = 3\nseed = 2", 1),
    );
    let ran = f.stiction(&["optimize", "task.toml", "--json"]);
    let json = ran.json();
    let ends: Vec<f64> = json["ends"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(ends.len(), 4, "{json:#}");
    let best = ends.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(json["objective"].as_f64().unwrap(), best, "{json:#}");
    assert!(json["remark"].as_str().unwrap().contains("best of 4 starts"), "{json:#}");
    let again = f.stiction(&["optimize", "task.toml", "--json"]);
    assert_eq!(again.json(), json, "the same seed draws the same starts");
}

#[test]
fn grad_takes_no_option_that_it_ignores() {
    let f = Folder::new("grad-options");
    f.write("scene.toml", SCENE);
    let grad =
        |more: &[&str]| f.stiction(&[&["grad", "scene.toml", "--steps", "12", "--json"], more].concat());
    for (args, words) in [
        (&["--solver", "pgs"][..], "leave --solver out"),
        (&["--scheme", "midpoint"], "--bdf2"),
        (&["--solver", "exact", "--bdf2"], "leave --bdf2 out"),
        (&["--wrt", "ball.mas"], "did you mean `mass`?"),
    ] {
        let ran = grad(args);
        assert!(ran.code() == 2 && ran.err().contains(words), "{args:?}: {}", ran.err());
    }
    let plain = grad(&[]);
    for same in [["--solver", "penalty"], ["--scheme", "implicit-euler"], ["--threads", "1"]] {
        assert_eq!(grad(&same).json(), plain.json(), "{same:?}");
    }
    // One Newton step is too few, and it is said.
    let few = grad(&["--max-iter", "1"]);
    assert!(few.code() == 1 && few.json()["residual"].as_f64().unwrap() > 1.0, "{}", few.out());
}

#[test]
fn options_without_effect_on_a_solver_are_refused_or_noted() {
    let f = Folder::new("no-effect");
    f.write("scene.toml", SCENE.replacen("[time]", "[time]\nscheme = \"midpoint\"\nsleep = {}", 1));
    for solver in ["penalty", "nsn-nonlinear"] {
        let run = |more: &[&str]| {
            f.stiction(&[&["run", "scene.toml", "--steps", "1", "--solver", solver], more].concat())
        };
        let plain = run(&[]);
        assert!(plain.err().contains(&format!("has no effect on the solver {solver}")), "{}", plain.err());
        assert!(plain.err().contains("midpoint") && plain.err().contains("sleep"), "{}", plain.err());
        for more in [&["--scheme", "midpoint"][..], &["--dump-problem", "d"]] {
            let ran = run(more);
            assert!(ran.code() == 2 && ran.err().contains(solver), "{more:?}: {}", ran.err());
        }
    }
    let ran = f.stiction(&["run", "scene.toml", "--solver", "penalty", "--contacts", "c.csv"]);
    let contacts = std::fs::read_to_string(f.path().join("c.csv")).unwrap_or_default();
    assert!(contacts.lines().count() > 1, "penalty shows its contacts: {}", ran.err());
    let ran = f.stiction(&["check", "scene.toml", "--tol", "1e-7", "--max-iter", "9"]);
    assert!(ran.out().contains("tolerance 1e-7, at most 9 iterations"), "{}", ran.out());
    for args in [["optimize", "--example", "throw"], ["scenes", "--json", "--show=pile"]] {
        let ran = f.stiction(&args);
        assert!(ran.code() == 2 && ran.err().contains("cannot be used with"), "{args:?}: {}", ran.err());
    }
    let ran = f.stiction(&["run", "scene.toml", "--record-rate", "5"]);
    assert!(ran.code() == 2 && ran.err().contains("--out"), "{}", ran.err());
}
