//! What becomes of a recording: it is described, converted, and refused in words where it is bad.

use crate::common::{Folder, SCENE};
use serde_json::json;

#[test]
fn info_describes_and_tells_cut_files_apart() {
    let f = Folder::new("info");
    f.write("crate.toml", SCENE);
    assert_eq!(f.stiction(&["run", "crate.toml", "--out", "r"]).code(), 0);
    let whole = f.stiction(&["info", "r/recording.stic", "--json"]);
    assert_eq!(whole.code(), 0);
    let j = whole.json();
    assert_eq!((&j["bodies"], &j["frames"], &j["ending"]), (&json!(2), &json!(31), &json!("finished")));
    assert!(f.stiction(&["info", "r/recording.stic"]).out().contains("the recording is whole"));

    let bytes = std::fs::read(f.path().join("r/recording.stic")).unwrap();
    f.write("cut.stic", &bytes[..bytes.len() - 10]);
    let cut = f.stiction(&["info", "cut.stic"]);
    assert!(
        cut.code() == 1 && cut.out().contains("is cut off") && cut.out().contains("31 frames are whole"),
        "{}",
        cut.out()
    );
    let mut newer = bytes.clone();
    newer[4] = 4;
    f.write("newer.stic", newer);
    let newer = f.stiction(&["info", "newer.stic"]);
    assert!(newer.code() == 2 && newer.err().contains("version 4"), "{}", newer.err());
    assert!(newer.err().contains("use a newer stiction"), "{}", newer.err());
    assert_eq!(f.stiction(&["info", "crate.toml"]).code(), 2);
}

#[test]
fn every_format_is_written() {
    let f = Folder::new("export");
    assert_eq!(f.stiction(&["run", "soft-block-grip", "--steps", "3", "--out", "r"]).code(), 0);
    let export = |to: &str, out: &str| {
        let ran = f.stiction(&["export", "r/recording.stic", "--to", to, "--out", out]);
        assert_eq!(ran.code(), 0, "{to}: {}", ran.err());
        f.path().join(out)
    };
    let glb = std::fs::read(export("gltf", "a.glb")).unwrap();
    assert_eq!(
        (&glb[..4], glb.len()),
        (&b"glTF"[..], u32::from_le_bytes([glb[8], glb[9], glb[10], glb[11]]) as usize)
    );
    let length = u32::from_le_bytes([glb[12], glb[13], glb[14], glb[15]]) as usize;
    let gltf: serde_json::Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    assert_eq!(gltf["buffers"][0]["byteLength"].as_u64().unwrap() as usize, glb.len() - 28 - length);
    assert!(
        gltf["animations"][0]["channels"]
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["target"]["path"] == "weights")
    );
    export("vtu", "v");
    let names = f.names("v");
    assert_eq!((names[0].as_str(), names.len()), ("recording.pvd", 1 + 3), "{names:?}");
    let vtu = std::fs::read_to_string(f.path().join("v/recording_00001.vtu")).unwrap();
    assert!(["strain", "stress", "contact_force"].iter().all(|n| vtu.contains(&format!("Name=\"{n}\""))));
    export("obj", "o");
    assert_eq!(f.names("o").len(), 3);
    let table = std::fs::read_to_string(export("csv", "t.csv")).unwrap();
    assert!(table.starts_with("t,step,contacts,") && table.lines().count() == 4);
    let two = f.stiction(&["export", "r/recording.stic", "r/recording.stic", "--to", "csv"]);
    assert!(two.code() == 2 && two.err().contains("one recording"));
}

/// Runs the binary where there is no browser.
fn without_browser(f: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(args)
        .current_dir(f.path())
        .env("PATH", "/nowhere")
        .env_remove("CHROMIUM")
        .output()
        .unwrap();
    (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
}

#[test]
fn a_missing_browser_is_said_with_the_remedy() {
    let f = Folder::new("picture");
    f.write("crate.toml", SCENE);
    f.stiction(&["run", "crate.toml", "--steps", "1", "--out", "r"]);
    for args in [
        ["picture", "r/recording.stic", "--out", "a.png"],
        ["movie", "r/recording.stic", "--out", "a.webm"],
        ["movie", "crate.toml", "--out", "a.gif"],
    ] {
        let (code, words) = without_browser(&f, &args);
        assert!(code == Some(2) && words.contains("apt install chromium"), "{words}");
    }
    assert_eq!(f.names(""), ["crate.toml", "r"]);
}

#[test]
fn films_need_a_known_ending() {
    let f = Folder::new("ending");
    f.write("crate.toml", SCENE);
    let ran = f.stiction(&["movie", "crate.toml", "--out", "a.mp4"]);
    assert!(ran.code() == 2 && ran.err().contains(".webm or .gif"), "{}", ran.err());
}

#[test]
fn the_gallery_page_lists_every_scene_even_without_a_browser() {
    let f = Folder::new("gallery");
    let (code, words) = without_browser(&f, &["scenes", "--html", "g", "--limit", "1e-9"]);
    assert!(
        code == Some(0) && words.contains("no pictures are drawn") && words.contains("apt install chromium"),
        "{words}"
    );
    let index = std::fs::read_to_string(f.path().join("g/index.html")).unwrap();
    let all = stiction_io::gallery::ALL;
    for e in all {
        assert!(index.contains(&format!("stiction run {} --out", e.name)), "{}", e.name);
        assert!(e.description().len() > 20, "{} says what it is", e.name);
        let page = std::fs::metadata(f.path().join(format!("g/{}.html", e.name))).unwrap();
        assert!(page.len() > 100_000);
    }
    assert_eq!(index.matches("<dt>natural map</dt>").count(), all.len());
    assert_eq!(f.names("g").len(), all.len() + 1, "no picture, nothing left over");
}

#[test]
fn ten_seconds_of_a_soft_grasp_stay_small() {
    let f = Folder::new("small");
    // The fingers close in the first second; afterwards they hold with the same contacts.
    let run = |time: &str| {
        let ran = f.stiction(&["run", "soft-grasp", "--time", time, "--out", "r", "--json"]);
        assert_eq!(ran.code(), 0);
        let files = &ran.json()["files"];
        ["recording_bytes", "page_bytes"].map(|k| files[k].as_f64().unwrap())
    };
    let (short, long) = (run("0.6"), run("1.1"));
    let ten_seconds = |k: usize| short[k] + (long[k] - short[k]) / 0.5 * 9.4;
    assert!(ten_seconds(0) < 20e6, "recording: {} bytes", ten_seconds(0));
    assert!(ten_seconds(1) < 30e6, "page: {} bytes", ten_seconds(1));
}
