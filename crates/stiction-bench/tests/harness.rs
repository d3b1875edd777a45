//! The program lists its experiments, runs one, and writes its table; every row has ours beside the reference.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("stiction-bench-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    /// Runs the program in it.
    fn bench(&self, args: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_stiction-bench");
        Command::new(program).args(args).current_dir(&self.0).output().unwrap()
    }

    /// Its standard output, where it ends well.
    fn out(&self, args: &[&str]) -> String {
        let ran = self.bench(args);
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn experiments_are_listed_and_run_by_name_in_any_case() {
    let f = Folder::new("run");
    let list = f.out(&["--list"]);
    for id in ["NSN-stickslip", "COND-F14", "inclines", "stack", "arch", "walls"] {
        assert!(list.contains(id), "{list}");
    }
    let ran = f.out(&["INCLINES", "cond-f14", "--quick", "--json", "--out", "results"]);
    let j: Value = serde_json::from_str(&ran).unwrap();
    assert_eq!((&j["failed"], &j["quick"]), (&json!(0), &json!(true)));
    let first = &j["experiments"][0];
    assert!(first["accepted"] == true, "{first}");
    let rows = first["rows"].as_object().unwrap();
    assert!(rows.values().any(|r| r["verdict"] == "pass") && rows.values().all(|r| r["value"].is_number()));
    assert!(rows.keys().all(|id| id.starts_with("inclines/")), "{first}");
    let files = std::fs::read_dir(f.0.join("results")).unwrap();
    let mut names: Vec<String> = files.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["COND-F14-paths.csv", "COND-F14-paths.svg", "COND-F14.csv", "inclines.csv"]);
}

#[test]
fn a_paper_names_all_its_experiments() {
    let f = Folder::new("paper");
    let list = f.out(&["nsn", "cond-f14", "--list"]);
    assert!(list.contains("NSN-stickslip") && list.contains("COND-F14"), "{list}");
    assert!(!list.contains("inclines"), "{list}");
}

#[test]
fn options_without_effect_and_folders_that_cannot_be_are_refused() {
    let f = Folder::new("refused");
    std::fs::write(f.0.join("file"), "in the way").unwrap();
    for (args, words) in [
        (&["--list", "--quick"][..], &["cannot be used with"][..]),
        (&["inclines", "--out", "file/sub"], &["file/sub", "cannot be written"]),
    ] {
        let ran = f.bench(args);
        let text = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(2) && words.iter().all(|w| text.contains(w)), "{args:?}: {text}");
    }
    assert_eq!(std::fs::read_to_string(f.0.join("file")).unwrap(), "in the way");
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_cannot_be_written_changes_no_exit_code() {
    let f = Folder::new("stderr");
    for (args, code) in [("--quick inclines", 0), ("nothing", 2)] {
        for to in ["2> /dev/full", "2>&-", "2> /dev/null"] {
            let script = format!("\"$0\" {args} > /dev/null {to}");
            let program = env!("CARGO_BIN_EXE_stiction-bench");
            let status =
                Command::new("sh").args(["-c", &script, program]).current_dir(&f.0).status().unwrap();
            assert_eq!(status.code(), Some(code), "{args} {to}");
        }
    }
}

#[test]
fn what_does_not_exist_is_named_with_what_does() {
    let f = Folder::new("unknown");
    std::fs::write(f.0.join("file"), "in the way").unwrap();
    for (args, known) in [
        (&["NSN-F99"][..], "NSN-F6"),
        (&["--fit", "run"], "walk"),
        (&["record", "none.json"], "name a file that exists"),
        (&["record", "file"], "that `stiction-bench --json` printed"),
    ] {
        let ran = f.bench(args);
        let text = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(2) && text.contains(known), "{args:?}: {text}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn figures_of_the_documentation_are_those_that_were_recorded() {
    let f = Folder::new("docs");
    let root = root().display().to_string();
    let said = f.out(&["check-docs", "--list", "--root", &root]);
    // Those that are not compared are listed with where they are from.
    assert!(said.contains("docs/benchmarks.md: ") && said.contains("  scripts/compare_peers.py"), "{said}");
    let ran = f.bench(&["check-docs"]);
    let text = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(2) && text.contains("--root"), "{text}");
}

#[test]
fn every_experiment_was_recorded() {
    let f = Folder::new("recorded");
    let list: Value = serde_json::from_str(&f.out(&["--list", "--json"])).unwrap();
    let ids =
        |v: &Value| v["experiments"].as_array().unwrap().iter().map(|e| e["id"].clone()).collect::<Vec<_>>();
    let listed: BTreeSet<String> = ids(&list).iter().map(|id| id.as_str().unwrap().to_string()).collect();
    let text = std::fs::read_to_string(root().join("crates/stiction-bench/rows.json")).unwrap();
    let rows: Value = serde_json::from_str(&text).unwrap();
    let recorded: BTreeSet<String> =
        rows.as_object().unwrap().keys().map(|id| id.split('/').next().unwrap().to_string()).collect();
    assert_eq!(listed, recorded);
}

#[test]
fn experiments_print_the_rows_that_were_recorded() {
    // Those that take a second in all.
    let ids = ["inclines", "COND-F14", "CR-F4", "CR-F5", "CR-S4.3", "NSN-F6", "NSN-F9"];
    let f = Folder::new("rows");
    let program = env!("CARGO_BIN_EXE_stiction-bench");
    let ran =
        Command::new(program).args(ids).args(["--quick", "--json"]).current_dir(root()).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success() && !said.contains("record"), "{said}");
    // The same, without one of its rows in the record.
    let run = String::from_utf8(ran.stdout).unwrap();
    let mut run: Value = serde_json::from_str(&run).unwrap();
    let rows = run["experiments"][0]["rows"].as_object_mut().unwrap();
    let gone = rows.keys().next().unwrap().clone();
    rows.remove(&gone);
    std::fs::create_dir_all(f.0.join("crates/stiction-bench")).unwrap();
    std::fs::write(f.0.join("run.json"), run.to_string()).unwrap();
    f.out(&["record", "run.json"]);
    let ran = f.bench(&["inclines", "--quick"]);
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains(&format!("{gone} is not in the record")), "{said}");
}
