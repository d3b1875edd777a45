//! The bench lists its experiments, runs one, and writes its table; every row has ours beside the reference.

use crate::common::Folder;
use serde_json::json;

#[test]
fn experiments_are_listed_and_run_by_name_in_any_case() {
    let f = Folder::new("bench");
    let list = f.stiction(&["bench", "--list"]);
    for id in ["NSN-stickslip", "COND-F14", "inclines", "stack", "arch", "walls"] {
        assert!(list.out().contains(id), "{}", list.out());
    }
    let ran = f.stiction(&["bench", "INCLINES", "cond-f14", "--quick", "--json", "--out", "results"]);
    assert_eq!(ran.code(), 0, "{}", ran.err());
    let j = ran.json();
    assert_eq!((&j["failed"], &j["quick"]), (&json!(0), &json!(true)));
    let first = &j["experiments"][0];
    assert!(first["accepted"] == true && !first["figures"].as_object().unwrap().is_empty(), "{first}");
    let rows = first["rows"].as_array().unwrap();
    assert!(rows.iter().any(|r| r["verdict"] == "pass") && rows.iter().all(|r| r["value"].is_number()));
    assert_eq!(
        f.names("results"),
        ["COND-F14-paths.csv", "COND-F14-paths.svg", "COND-F14.csv", "inclines.csv"]
    );
}

#[test]
fn a_paper_names_all_its_experiments() {
    let f = Folder::new("bench-paper");
    let list = f.stiction(&["bench", "nsn", "cond-f14", "--list"]);
    assert!(list.out().contains("NSN-stickslip") && list.out().contains("COND-F14"), "{}", list.out());
    assert!(!list.out().contains("inclines"), "{}", list.out());
}
