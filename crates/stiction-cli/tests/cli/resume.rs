//! A run that was killed or interrupted goes on with `run --resume`, and its result is that of a run that never was: tables,
//! contacts, every frame and the summary, bit for bit, but for wall times. What cannot be resumed is refused with what to do.
#![cfg(unix)]

use crate::common::{Folder, SCENE};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use stiction::linalg::Rng;
use stiction_io::recording::{Ending, Reader};

/// Boxes that fall onto each other, and one that swings.
fn scene() -> String {
    let boxes = "mass = 2\nrepeat = { grid = [2, 1, 2], spacing = [0.23, 0.2, 0.22] }\n";
    let swing = "\n[[body]]\nname = \"door\"\nshape = { box = { size = [0.2, 0.2, 0.2] } }\nposition = [3, 0, 2]\nmass = 1\n\
                 \n[[joint]]\nname = \"hinge\"\nkind = \"hinge\"\nb = \"door\"\nat = [3, 0, 2.5]\naxis = [0, 1, 0]\n";
    let head = SCENE.split("[[sensor]]").next().unwrap().replacen("mass = 2\n", boxes, 1);
    format!("{head}{swing}\n[[sensor]]\nname = \"swing\"\npose = \"door\"\n")
}

const STEPS: &str = "4000";

fn start(f: &Folder, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(["run", "s.toml", "--steps", STEPS, "--dt", "0.002", "--json"])
        .args(args)
        .current_dir(f.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a snapshot newer than `old`, or for the end of the run.
fn wait_for_snapshot(path: &Path, old: Option<std::time::SystemTime>, child: &mut Child) {
    for _ in 0..60_000 {
        let time = std::fs::metadata(path).and_then(|m| m.modified()).ok();
        if time > old || child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no snapshot");
}

/// A table without its columns of wall times.
fn table(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let columns: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let wall = columns.iter().position(|c| *c == "wall").unwrap_or(columns.len());
    text.lines().map(|l| l.split(',').take(wall).map(str::to_string).collect()).collect()
}

/// Asserts that two folders hold the same run.
fn same_files(a: &Path, b: &Path) {
    for name in ["report.csv", "sensors.csv"] {
        let (one, two) = (table(&a.join(name)), table(&b.join(name)));
        assert_eq!(one.len(), two.len(), "{name}");
        for (one, two) in one.iter().zip(&two) {
            assert_eq!(one, two, "{name}");
        }
    }
    let [mut one, mut two] = [a, b].map(|dir| Reader::open(&dir.join("recording.stic")).unwrap());
    assert_eq!(serde_json::to_value(one.header()).unwrap(), serde_json::to_value(two.header()).unwrap());
    let wall = one.header().columns.iter().position(|c| c == "wall").unwrap();
    let mut count = 0;
    loop {
        let (mut x, mut y) = (one.next(), two.next());
        [&mut x, &mut y].into_iter().flatten().for_each(|frame| frame.columns[wall] = 0.0);
        assert_eq!(x, y, "frame {count}");
        if x.is_none() {
            break;
        }
        count += 1;
    }
    assert!(count > 100, "{count} frames");
    assert_eq!((one.ending(), two.ending()), (Some(Ending::Finished), Some(Ending::Finished)));
}

/// What a summary says about the steps, without times.
fn without_times(json: &Value) -> Vec<Value> {
    let keys =
        ["steps", "contacts", "islands", "iterations", "factorizations", "residuals", "statuses", "energy"];
    let more = ["failed_steps", "first_failed_step", "sensors", "error", "interrupted"];
    keys.iter().chain(&more).map(|k| json[k].clone()).collect()
}

fn whole(f: &Folder, args: &[&str]) -> Value {
    let out = start(f, &[&["--out", "whole", "--contacts", "whole.csv"], args].concat())
        .wait_with_output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_if_it_never_was() {
    let f = Folder::new("killed");
    f.write("s.toml", scene());
    let whole = whole(&f, &[]);
    let mut rng = Rng::new(5);
    let snapshot = f.path().join("r/run.snapshot");
    let mut killed = 0;
    let mut args = vec!["--out", "r", "--contacts", "r.csv", "--snapshot-every", "0.001"];
    let last = loop {
        let old = std::fs::metadata(&snapshot).and_then(|m| m.modified()).ok();
        let mut child = start(&f, &args);
        if killed < 5 {
            wait_for_snapshot(&snapshot, old, &mut child);
            std::thread::sleep(Duration::from_micros((30_000.0 * rng.uniform()) as u64));
            // SIGKILL.
            child.kill().unwrap();
        }
        let out = child.wait_with_output().unwrap();
        if out.status.code().is_some() {
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            break out;
        }
        killed += 1;
        if args.len() == 6 {
            args.push("--resume");
        }
    };
    assert!(killed >= 2, "the run ended too soon to be killed");
    let json: Value = serde_json::from_slice(&last.stdout).unwrap();
    assert!(json["resumed_after_step"].as_u64().unwrap() > 0);
    assert_eq!(without_times(&json), without_times(&whole));
    same_files(&f.path().join("r"), &f.path().join("whole"));
    assert_eq!(f.names("r"), ["recording.stic", "report.csv", "sensors.csv", "view.html"]);
    assert!(
        std::fs::read(f.path().join("r.csv")).unwrap() == std::fs::read(f.path().join("whole.csv")).unwrap()
    );
}

#[test]
fn a_run_that_was_interrupted_goes_on_whatever_steps_it() {
    let f = Folder::new("interrupted");
    f.write("s.toml", scene());
    for solver in ["exact", "nsn-nonlinear", "penalty"] {
        let whole = whole(&f, &["--solver", solver]);
        let args = ["--solver", solver, "--out", "r", "--contacts", "r.csv"];
        let snapshot = f.path().join("r/run.snapshot");
        let mut child = start(&f, &[&args[..], &["--snapshot-every", "0.01"]].concat());
        wait_for_snapshot(&snapshot, None, &mut child);
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(143), "{solver}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(String::from_utf8_lossy(&out.stderr).contains("--resume"));
        assert_eq!(
            f.stiction(&["info", "r/recording.stic"]).code(),
            0,
            "{solver}: what was interrupted is whole"
        );
        let out = start(&f, &[&args[..], &["--resume"]].concat()).wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && err.contains("goes on after step"), "{solver}: {err}");
        assert_eq!(
            without_times(&serde_json::from_slice(&out.stdout).unwrap()),
            without_times(&whole),
            "{solver}"
        );
        same_files(&f.path().join("r"), &f.path().join("whole"));
        let contacts = |name: &str| std::fs::read(f.path().join(name)).unwrap();
        assert!(contacts("r.csv") == contacts("whole.csv"), "{solver}");
        std::fs::remove_dir_all(f.path().join("r")).unwrap();
    }
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let f = Folder::new("refused");
    f.write("s.toml", scene());
    let mut child = start(&f, &["--out", "r", "--snapshot-every", "0.001"]);
    let path = f.path().join("r/run.snapshot");
    wait_for_snapshot(&path, None, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let snapshot = std::fs::read(&path).unwrap();
    // The lock of the process that is gone does not count.
    let names = || f.names("r").into_iter().filter(|name| !name.starts_with('.')).collect::<Vec<_>>();
    let before = names();
    let refused = |args: &[&str], words: &[&str]| {
        let ran = f.stiction(args);
        assert_eq!(ran.code(), 2, "{args:?}: {}{}", ran.out(), ran.err());
        for word in words {
            assert!(ran.err().contains(word), "{args:?}: no `{word}` in {}", ran.err());
        }
        assert_eq!(names(), before, "{args:?}: nothing is touched");
    };
    let run = ["run", "s.toml", "--steps", STEPS, "--dt", "0.002", "--out", "r", "--resume"];
    let with = |more: &[&'static str]| [&run[..], more].concat();
    refused(&["run", "s.toml", "--dt", "0.001", "--out", "r", "--resume"], &["other settings", "--dt"]);
    refused(&with(&["--solver", "pgs"]), &["other settings", "--solver"]);
    refused(&with(&["--set", "gravity=[0,0,-1]"]), &["another scene", "--set"]);
    refused(&with(&["--record-rate", "30"]), &["60 frames per second", "--record-rate 60"]);
    refused(&with(&["--contacts", "c.csv"]), &["wrote no contacts", "leave --contacts out"]);
    refused(
        &["run", "s.toml", "--dt", "0.002", "--steps", "1", "--out", "r", "--resume"],
        &["1 are asked for", "more --steps"],
    );
    refused(&["run", "s.toml", "--out", "nowhere", "--resume"], &["nowhere", "holds no snapshot"]);
    refused(&["run", "s.toml", "--resume"], &["--out"]);
    // Damage of the snapshot, and of a file that is to go on.
    std::fs::write(&path, &snapshot[..snapshot.len() / 2]).unwrap();
    refused(&run, &["run.snapshot", "is cut off", "anew"]);
    let mut bad = snapshot.clone();
    let last = bad.len() - 1;
    bad[last] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    refused(&run, &["run.snapshot", "is damaged", "anew"]);
    std::fs::write(&path, "STICkers").unwrap();
    refused(&run, &["is not a snapshot"]);
    std::fs::write(&path, &snapshot).unwrap();
    let report = f.path().join("r/report.csv.part");
    let good = std::fs::read(&report).unwrap();
    std::fs::write(&report, &good[..200]).unwrap();
    refused(&run, &["report.csv", "is not as the run", "anew"]);
    std::fs::write(&report, &good).unwrap();

    let ran = f.stiction(&run);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    let again = f.stiction(&run);
    assert!(again.code() == 2 && again.err().contains("is finished"), "{}", again.err());
}
