//! What goes wrong around a run: a second run into its folder, signals, outputs that cannot be written. What has its final
//! name is whole, what is readable is kept and named, and the exit code says it.
#![cfg(unix)]

use crate::common::{Folder, SCENE};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FILES: [&str; 4] = ["recording.stic", "report.csv", "sensors.csv", "view.html"];

/// A run that goes on until it is stopped, and has written rows.
fn endless(f: &Folder, args: &[&str]) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(["run", "crate.toml", "--steps", "1000000000", "--out", "r"])
        .args(args)
        .current_dir(f.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(&f.path().join("r/report.csv.part"));
    child
}

/// Waits until a file is not empty.
fn wait_for(path: &Path) {
    for _ in 0..3000 {
        if std::fs::metadata(path).is_ok_and(|m| m.len() > 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} stays empty", path.display());
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_second_run_into_a_folder_is_refused_at_once_and_a_dead_one_does_not_block() {
    let f = Folder::new("lock");
    f.write("crate.toml", SCENE);
    let mut first = endless(&f, &["--contacts", "c.csv"]);
    let second = f.stiction(&["run", "crate.toml", "--steps", "2", "--out", "r"]);
    assert_eq!(second.code(), 2, "{}", second.out());
    let who = format!("is being written by process {}", first.id());
    assert!(second.err().contains(&who) && second.err().contains("choose another place"), "{}", second.err());
    // Files beside that of another run are free; the file itself is not.
    let other = f.stiction(&["run", "crate.toml", "--steps", "2", "--contacts", "d.csv"]);
    assert_eq!(other.code(), 0, "{}", other.err());
    let same = f.stiction(&["run", "crate.toml", "--steps", "2", "--contacts", "c.csv"]);
    assert!(same.code() == 2 && same.err().contains(&who), "{}", same.err());

    first.kill().unwrap();
    first.wait().unwrap();
    let third = f.stiction(&["run", "crate.toml", "--steps", "2", "--out", "r", "--contacts", "c.csv"]);
    assert_eq!(third.code(), 0, "{}", third.err());
    assert_eq!(f.names("r"), FILES, "nothing is left of the run that was killed");
    assert_eq!(f.names(""), ["c.csv", "crate.toml", "d.csv", "r"]);
}

#[test]
fn runs_that_start_together_leave_one_result() {
    let f = Folder::new("race");
    f.write("crate.toml", SCENE);
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(["run", "crate.toml", "--steps", "300", "--out", "r", "--json"])
            .current_dir(f.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let all: Vec<Child> = (0..4).map(|_| start()).collect();
    let codes: Vec<_> = all.into_iter().map(|mut c| c.wait().unwrap().code()).collect();
    assert!(codes.contains(&Some(0)) && codes.iter().all(|c| matches!(c, Some(0 | 2))), "{codes:?}");
    assert_eq!(f.names("r"), FILES);
    let report = std::fs::read_to_string(f.path().join("r/report.csv")).unwrap();
    let columns = report.lines().next().unwrap().split(',').count();
    assert_eq!(report.lines().count(), 301);
    assert!(report.lines().all(|l| l.split(',').count() == columns), "a torn line");
    assert_eq!(f.stiction(&["info", "r/recording.stic"]).code(), 0);
}

#[test]
fn a_link_in_the_place_of_a_part_does_not_lead_the_writing_elsewhere() {
    let f = Folder::new("links");
    f.write("crate.toml", SCENE);
    f.write("precious", "keep me");
    std::fs::create_dir(f.path().join("r")).unwrap();
    for name in ["report.csv.part", "recording.stic.part", ".stiction.lock"] {
        std::os::unix::fs::symlink("../precious", f.path().join("r").join(name)).unwrap();
    }
    assert_eq!(f.stiction(&["run", "crate.toml", "--steps", "2", "--out", "r"]).code(), 0);
    assert_eq!(std::fs::read_to_string(f.path().join("precious")).unwrap(), "keep me");
    assert_eq!(f.names("r"), FILES);
}

/// True where this process, and so its children, ignore a signal; only Linux tells.
fn is_ignored_here(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok()).unwrap_or(0) >> (signal - 1) & 1 == 1
}

#[test]
fn the_first_signal_ends_a_run_in_good_order() {
    let f = Folder::new("signals");
    f.write("crate.toml", SCENE);
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        if is_ignored_here(number) {
            // Children inherit it, and a run under `nohup` goes on, which another test asks for.
            println!("SIG{name} is ignored where these tests run");
            continue;
        }
        let child = endless(&f, &["--json"]);
        signal(&child, name);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(128 + number), "{name}");
        let json: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(json["interrupted"], format!("SIG{name}"));
        let err = String::from_utf8(ended.stderr).unwrap();
        assert!(err.contains(&format!("interrupted by SIG{name}")), "{err}");
        let left = ["recording.stic", "report.csv", "run.snapshot", "sensors.csv", "view.html"];
        assert_eq!(f.names("r"), left, "{name}");
        assert_eq!(f.stiction(&["info", "r/recording.stic"]).code(), 0, "{name}");
        let report = std::fs::read_to_string(f.path().join("r/report.csv")).unwrap();
        assert_eq!(report.lines().count() as u64, 1 + json["steps"].as_u64().unwrap(), "{name}");
        std::fs::remove_dir_all(f.path().join("r")).unwrap();
    }
    let child = endless(&f, &[]);
    signal(&child, "TERM");
    let ended = child.wait_with_output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.code() == Some(143) && text.contains("interrupted by SIGTERM after"), "{text}");
}

/// A fit that no goal ends.
const FIT: &str = r#"
scene = "crate.toml"
steps = 12
method = "adam"
evaluations = 10000000
goal = -1

[objective]
of = "crate"
target = [0.1, 0.0, 0.2]

[[parameter]]
kind = "velocity"
of = "crate"
axis = "x"
"#;

#[test]
fn a_fit_that_is_interrupted_keeps_its_best_point() {
    let f = Folder::new("fit-signals");
    f.write("crate.toml", SCENE);
    for (method, name, number) in
        [("adam", "INT", 2), ("levenberg", "TERM", 15), ("lbfgs", "TERM", 15), ("cma", "TERM", 15)]
    {
        if is_ignored_here(number) {
            continue;
        }
        // Levenberg–Marquardt and L-BFGS end soon from one start; many starts go on.
        f.write(
            "fit.toml",
            FIT.replacen("adam", method, 1).replacen("goal = -1", "goal = -1\nrestarts = 9999", 1),
        );
        let child = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(["optimize", "fit.toml", "--out", "r", "--json"])
            .current_dir(f.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(&f.path().join("r/.stiction.lock"));
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, name);
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(128 + number), "{method}: {err}");
        assert!(err.contains(&format!("interrupted by SIG{name}")), "{method}: {err}");
        let json: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        let (start, best) = (json["at_start"].as_f64().unwrap(), json["objective"].as_f64().unwrap());
        assert!(json["interrupted"] == format!("SIG{name}") && best < start, "{method}: {json:#}");
        let files =
            ["after.stic", "before.stic", "convergence.csv", "convergence.svg", "fitted.json", "view.html"];
        assert_eq!(f.names("r"), files, "{method}");
        // The best point is where another search starts.
        f.write("fit.toml", FIT.replacen("10000000", "1", 1));
        let again = f.stiction(&["optimize", "fit.toml", "--resume", "r/fitted.json", "--json"]).json();
        assert_eq!(again["at_start"].as_f64().unwrap().to_bits(), best.to_bits(), "{method}: {again:#}");
        std::fs::remove_dir_all(f.path().join("r")).unwrap();
    }
}

#[test]
fn the_second_signal_kills() {
    // The first step of many bodies takes long enough for two signals, on a busy machine too.
    let f = Folder::new("two-signals");
    let many = SCENE.replacen(
        "mass = 2\n",
        "mass = 2\nrepeat = { grid = [24, 24, 24], spacing = [0.2, 0.2, 0.2] }\n",
        1,
    );
    f.write("crate.toml", many.split("[[sensor]]").next().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(["run", "crate.toml", "--out", "r"])
        .current_dir(f.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&f.path().join("r/recording.stic.part"));
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "TERM");
    std::thread::sleep(Duration::from_millis(20));
    signal(&child, "TERM");
    let status = child.wait().unwrap();
    assert_eq!((status.signal(), status.code()), (Some(15), None));
    assert!(!f.path().join("r/report.csv").exists());
}

#[test]
fn a_hangup_under_nohup_ends_nothing() {
    let f = Folder::new("nohup");
    f.write("crate.toml", SCENE);
    if !Path::new("/proc/self/status").exists() {
        return;
    }
    let child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" run crate.toml --steps 1000000000 --out r --json"])
        .arg(env!("CARGO_BIN_EXE_stiction"))
        .current_dir(f.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&f.path().join("r/report.csv.part"));
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "TERM");
    let json: serde_json::Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(json["interrupted"], "SIGTERM");
}

#[test]
fn a_standard_error_that_cannot_be_written_changes_no_exit_code() {
    let f = Folder::new("stderr");
    f.write("crate.toml", SCENE);
    f.write("notes.toml", SCENE.replacen("mass = 2", "mass = 1e-7", 1));
    for (args, code) in [
        ("run nothing", 2),
        ("run crate.toml --bogus", 2),
        ("run nowhere.toml", 2),
        ("info crate.toml", 2),
        ("run notes.toml --steps 1", 0),
        ("run heavy-stack --solver pgs --max-iter 1 --steps 1", 1),
        ("bench --quick inclines", 2),
    ] {
        for to in ["2> /dev/full", "2>&-", "2> /dev/null"] {
            let script = format!("\"$0\" {args} > /dev/null {to}");
            let status = Command::new("sh")
                .args(["-c", &script, env!("CARGO_BIN_EXE_stiction")])
                .current_dir(f.path())
                .status()
                .unwrap();
            assert_eq!(status.code(), Some(code), "{args} {to}");
        }
    }
}

#[test]
fn control_characters_of_titles_and_file_names_do_not_reach_the_terminal() {
    let f = Folder::new("control");
    let name = "a\u{1b}[2Jb\u{7}.toml";
    let title = "title = \"\\u001b]0;owned\\u0007\\u009b2J\"";
    f.write(name, SCENE.replacen("title = \"A crate falls\"", title, 1));
    f.write("bad\u{1b}[2J.toml", "x\u{1b}[2J = 1\n");
    let clean = |text: &str| assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    for args in [
        &["check", name][..],
        &["run", name, "--steps", "1", "--out", "r"],
        &["run", name, "--steps", "1", "--json"],
        &["info", "r/recording.stic"],
        &["info", "r/recording.stic", "--json"],
        &["check", "bad\u{1b}[2J.toml"],
        &["info", "bad\u{1b}[2J.toml"],
        &["run", "no\u{1b}[2J"],
    ] {
        let ran = f.stiction(args);
        clean(&ran.out());
        clean(&ran.err());
        assert!(!(ran.out() + &ran.err()).is_empty());
    }
}
