//! A person runs a scene and gets the promised object, summary and files; a run that does not converge says so in its
//! exit code, keeps its report, and leaves problems that `solve` replays.

use crate::common::{Folder, SCENE};
use serde_json::{Value, json};

#[test]
fn json_has_every_promised_key_and_nothing_else_is_on_stdout() {
    let f = Folder::new("json");
    f.write("crate.toml", SCENE);
    let ran = f.stiction(&["run", "crate.toml", "--json"]);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    let j = ran.json();
    for key in [
        "/scene",
        "/solver",
        "/tolerance",
        "/steps",
        "/sim_seconds",
        "/wall_seconds",
        "/cpu_seconds",
        "/realtime_factor",
        "/stages/collide",
        "/stages/assemble",
        "/stages/solve",
        "/stages/measure",
        "/stages/advance",
        "/contacts/mean",
        "/contacts/max",
        "/iterations/mean",
        "/iterations/max",
        "/factorizations/mean",
        "/factorizations/max",
        "/residuals/natural_max",
        "/residuals/momentum_max",
        "/residuals/penetration_max",
        "/residuals/cone_max",
        "/residuals/misalignment_max",
        "/failed_steps",
        "/energy/initial",
        "/energy/final",
        "/energy/max",
        "/sensors/pose",
        "/sensors/force",
    ] {
        assert!(j.pointer(key).is_some(), "no {key} in {j}");
    }
    assert_eq!((&j["scene"], &j["solver"], &j["steps"]), (&json!("crate.toml"), &json!("exact"), &json!(50)));
    // The crate has come to rest on the floor, which carries its weight.
    let number = |v: &Value| v.as_f64().unwrap();
    assert!((number(&j["sensors"]["pose"][2]) - 0.1).abs() < 1e-6);
    assert!((number(&j["sensors"]["force"][2]) - 2.0 * 9.81).abs() < 1e-6);
    assert!(number(&j["residuals"]["natural_max"]) < 1e-8);
    assert_eq!(j["failed_steps"], json!(0));
    // Dropped by 5 cm: E falls by m g h.
    let lost = number(&j["energy"]["initial"]) - number(&j["energy"]["final"]);
    assert!((lost - 2.0 * 9.81 * 0.05).abs() < 1e-6, "{lost}");
}

#[test]
fn the_summary_says_how_exact_the_answer_is_without_colour_in_a_pipe() {
    let f = Folder::new("summary");
    f.write("crate.toml", SCENE);
    let ran = f.stiction(&["run", "crate.toml"]);
    let text = ran.out();
    for word in ["natural map", "momentum", "penetration", "50 converged", "CPU", "every step converged"] {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
    assert!(!text.contains('\x1b') && !ran.err().contains('\x1b'));
    assert!(text.contains("below 1e-6 of the velocity scale"), "{text}");
    let none = f.stiction(&["run", "crate.toml", "--steps", "0"]).out();
    assert!(none.contains("no step was taken") && !none.contains("every step converged"), "{none}");
    // Steps that failed: how to keep their problems, or where they are.
    let weak = ["run", "heavy-stack", "--solver", "pgs", "--max-iter", "1", "--steps", "2"];
    let without = f.stiction(&weak).out();
    assert!(without.contains("--dump-problem DIR"), "{without}");
    let with = f.stiction(&[&weak[..], &["--dump-problem", "hard"]].concat()).out();
    assert!(with.contains("wrote hard: 2 of their problems") && !with.contains("--dump-problem"), "{with}");
}

#[test]
fn files_have_one_row_per_step_and_nothing_else_stays() {
    let f = Folder::new("files");
    f.write("crate.toml", SCENE);
    let ran = f.stiction(&["run", "crate.toml", "--steps", "7", "--out", "deep/results"]);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    assert_eq!(f.names("deep/results"), ["recording.stic", "report.csv", "sensors.csv", "view.html"]);
    let read = |name: &str| std::fs::read_to_string(f.path().join("deep/results").join(name)).unwrap();
    let (report, sensors) = (read("report.csv"), read("sensors.csv"));
    assert_eq!((report.lines().count(), sensors.lines().count()), (8, 8));
    assert!(report.starts_with("step,t,contacts,"));
    assert!(sensors.starts_with("step,t,pose.x,pose.y,pose.z,"));
    let columns = report.lines().map(|l| l.split(',').count()).collect::<Vec<_>>();
    assert!(columns.iter().all(|&c| c == columns[0]));
    // The recording holds the start, 60 frames per second (steps 2, 4, 5 and 7 of 10 ms), and the end.
    let path = f.path().join("deep/results/recording.stic");
    let times = || stiction_io::recording::Reader::open(&path).unwrap().map(|x| (x.t * 100.0).round());
    assert_eq!(times().collect::<Vec<_>>(), [0.0, 2.0, 4.0, 5.0, 7.0]);
    // Every step where more frames are asked for than there are steps; only the ends at a low rate.
    for (rate, frames) in [("1000", 8), ("1", 2)] {
        let args = ["run", "crate.toml", "--steps", "7", "--out", "deep/results", "--record-rate", rate];
        assert_eq!(f.stiction(&args).code(), 0);
        assert_eq!(times().count(), frames, "{rate}");
    }
}

#[test]
fn flags_override_the_scene() {
    let f = Folder::new("flags");
    f.write("crate.toml", SCENE);
    let run = |extra: &[&str]| f.stiction(&[&["run", "crate.toml", "--json"], extra].concat()).json();
    assert_eq!(run(&["--time", "0.1"])["steps"], json!(10));
    assert_eq!(run(&["--dt", "0.005"])["steps"], json!(100));
    assert_eq!(run(&["--solver", "apgd"])["solver"], json!("apgd"));
    assert_eq!(run(&["--scheme", "midpoint"])["scheme"], json!("midpoint"));
    let moon = run(&["--set", "gravity=[0,0,-1.62]", "--time", "2"]);
    assert!((moon["sensors"]["force"][2].as_f64().unwrap() - 2.0 * 1.62).abs() < 1e-6);
}

#[test]
fn threads_do_not_change_the_answer() {
    let f = Folder::new("threads");
    let last = |n: &str| f.stiction(&["run", "wall", "--steps", "20", "--threads", n, "--json"]).json();
    let (one, two) = (last("1"), last("2"));
    assert_eq!(one["energy"], two["energy"]);
    assert_eq!(one["sensors"], two["sensors"]);
    assert_eq!(one["threads"], json!(1));
}

#[test]
fn steps_that_do_not_converge_give_exit_code_1_and_problems_that_solve_replays() {
    let f = Folder::new("dump");
    let weak = ["--solver", "pgs", "--max-iter", "1", "--tol", "1e-12"];
    let ran = f.stiction(
        &[&["run", "heavy-stack", "--steps", "12", "--dump-problem", "hard", "--json"], &weak[..]].concat(),
    );
    assert_eq!(ran.code(), 1, "{}", ran.err());
    let j = ran.json();
    assert_eq!((&j["failed_steps"], &j["first_failed_step"]), (&json!(12), &json!(1)));
    let names = f.names("hard");
    assert_eq!((names.len(), names[0].as_str()), (10, "step-00001.npz"));

    let ran = f.stiction(&[
        "solve",
        "hard/step-00001.npz",
        "--json",
        "--out",
        "solution.npz",
        "--trace",
        "curve.csv",
    ]);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    let j = ran.json();
    assert_eq!((&j["contacts"], &j["dimension"]), (&json!(20), &json!(3)));
    assert!(j["velocity"].as_f64().unwrap() <= 1e-8, "{j}");
    assert!(j["natural_rel"].as_f64().unwrap() <= 1e-8, "{j}");
    for key in ["iterations", "factorizations", "seconds", "status"] {
        assert!(!j[key].is_null(), "no {key} in {j}");
    }
    assert_eq!(f.names(""), ["curve.csv", "hard", "solution.npz"]);
    let curve = std::fs::read_to_string(f.path().join("curve.csv")).unwrap();
    assert!(curve.starts_with("stage,iteration,factorizations,residual\n") && curve.lines().count() > 1);

    // The weak solver fails on the file as it did in the run.
    let ran = f.stiction(&[&["solve", "hard/step-00001.npz", "--json"], &weak[..]].concat());
    assert_eq!((ran.code(), &ran.json()["status"]), (1, &json!("budget")));
}

#[test]
fn answers_of_another_law_are_labelled() {
    let f = Folder::new("law");
    let weak = ["--solver", "pgs", "--max-iter", "1", "--steps", "1", "--dump-problem", "hard"];
    f.stiction(&[&["run", "heavy-stack"], &weak[..]].concat());
    for (solver, law, solves_files) in [
        ("exact", "coulomb", true),
        ("apgd", "convex-relaxation", true),
        ("cond", "compliant", false),
        ("ccs", "split-coulomb", false),
        ("penalty", "penalty", false),
    ] {
        for command in [
            &["run", "box-on-plane", "--steps", "2"][..],
            &["testspeed", "box-on-plane", "--steps", "2", "--warmup", "0"],
            &["solve", "hard/step-00001.npz"],
        ] {
            if command[0] == "solve" && !solves_files {
                continue;
            }
            let ran = f.stiction(&[command, &["--solver", solver, "--json"]].concat());
            assert_eq!(ran.json()["law"], json!(law), "{command:?} {solver}");
        }
        for command in [&["run", "box-on-plane", "--steps", "2"][..], &["solve", "hard/step-00001.npz"]] {
            if command[0] == "solve" && !solves_files {
                continue;
            }
            let text = f.stiction(&[command, &["--solver", solver]].concat()).out();
            assert_eq!(text.contains("the convex relaxation"), solver == "apgd", "{text}");
            assert_eq!(text.contains("penalty forces:"), solver == "penalty", "{text}");
        }
    }
}

#[test]
fn whoever_steps_unsolved_steps_are_counted_and_fail_the_run() {
    let f = Folder::new("unsolved");
    for solver in ["exact", "pgs", "apgd", "nsn", "cond", "cond-e", "ccs", "cr", "nsn-nonlinear", "penalty"] {
        let command = ["run", "heavy-stack", "--steps", "2", "--solver", solver];
        let ran = f.stiction(&[&command[..], &["--max-iter", "1", "--tol", "1e-14", "--json"]].concat());
        let j = ran.json();
        assert_eq!(
            (ran.code(), &j["failed_steps"], &j["error"]),
            (1, &json!(2), &json!(null)),
            "{solver}: {j}"
        );
        let text = f.stiction(&[&command[..], &["--max-iter", "1", "--tol", "1e-14"]].concat());
        assert!(text.code() == 1 && !text.out().contains("every step converged"), "{solver}: {}", text.out());
    }
}

#[test]
fn a_state_that_is_no_longer_finite_stops_the_run_with_its_report() {
    let f = Folder::new("broken");
    let scene = format!("{SCENE}\n[[force]]\ntarget = \"crate\"\nforce = [1e308, 0, 0]\nfrom = 0.1\n");
    f.write("wild.toml", scene);
    let ran = f.stiction(&["run", "wild.toml", "--json", "--out", "results", "--dt", "1.0", "--steps", "50"]);
    assert_eq!(ran.code(), 1, "{}", ran.err());
    assert!(
        ran.err().contains("the run stopped in step") && ran.err().contains("body `crate`"),
        "{}",
        ran.err()
    );
    let j = ran.json();
    assert!(j["error"].as_str().unwrap().contains("not finite") && j["steps"].as_u64().unwrap() < 50);
    assert_eq!(f.names("results"), ["recording.stic", "report.csv", "sensors.csv", "view.html"]);
}

#[test]
fn a_body_between_closing_walls_is_named() {
    let f = Folder::new("press");
    let jaw = |name: &str, x: f64, v: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ box = {{ size = [0.2, 1, 1] }} }}\n\
             position = [{x}, 0, 0.5]\nmotion = {{ velocity = [{v}, 0, 0] }}\n"
        )
    };
    f.write("press.toml", format!("{SCENE}\n{}{}", jaw("left", -0.2, 0.5), jaw("right", 0.2, -0.5)));
    let ran = f.stiction(&["run", "press.toml", "--steps", "2", "--json"]);
    assert_eq!((ran.code(), &ran.json()["statuses"]["infeasible"]), (1, &json!(2)), "{}", ran.err());
    for name in ["did not converge", "body `crate`", "body `left`", "body `right`"] {
        assert!(ran.err().contains(name), "no {name} in {}", ran.err());
    }
}

#[test]
fn check_explains_a_scene_and_warns_of_overlap() {
    let f = Folder::new("check");
    f.write("crate.toml", SCENE);
    let ran = f.stiction(&["check", "crate.toml"]);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    assert!(
        ran.out().contains("1 free, 1 fixed") && ran.out().contains("the scene is valid\n"),
        "{}",
        ran.out()
    );
    let j = f.stiction(&["check", "crate.toml", "--json", "--set", "body.crate.position=[0,0,0.05]"]).json();
    assert_eq!(j["dofs"], json!(6));
    assert!((j["overlaps"][0]["depth"].as_f64().unwrap() - 0.05).abs() < 1e-9, "{j}");
    assert!(j["warnings"][0].as_str().unwrap().contains("overlap"), "{j}");
}

#[test]
fn testspeed_reports_rates_and_residuals() {
    let f = Folder::new("speed");
    let ran = f.stiction(&["testspeed", "heavy-stack", "--steps", "20", "--warmup", "5", "--json"]);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    let j = ran.json();
    for key in ["steps_per_second", "realtime_factor", "wall_per_step", "cpu_per_step", "stages", "residuals"]
    {
        assert!(!j[key].is_null(), "no {key} in {j}");
    }
    assert_eq!(j["steps"], json!(20));
}

#[test]
fn the_gallery_and_the_schema_are_printed() {
    let f = Folder::new("lists");
    let ran = f.stiction(&["scenes"]);
    assert!(ran.code() == 0 && ran.out().contains("heavy-stack"));
    let ran = f.stiction(&["schema"]);
    assert!(ran.code() == 0 && ran.json()["properties"].is_object());
    // A gallery scene is a start for one's own.
    f.write("mine.toml", f.stiction(&["scenes", "--show", "heavy-stack"]).out());
    assert_eq!(f.stiction(&["check", "mine.toml"]).code(), 0);
}
