//! A recording that is cut off or has a flipped bit: every command that opens one says what is wrong, works with what is
//! whole, and does not end with exit code 0.

use crate::common::{Folder, SCENE};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Frames of the first chunk, which stays whole.
const WHOLE: usize = 64;

/// A folder with `cut.stic` and `flipped.stic`, both hurt within their second chunk of frames.
fn hurt(name: &str) -> Folder {
    let f = Folder::new(name);
    f.write("crate.toml", SCENE);
    let args = ["run", "crate.toml", "--time", "1.5", "--record-rate", "1e6", "--out", "r"];
    assert_eq!(f.stiction(&args).code(), 0);
    let bytes = std::fs::read(f.path().join("r/recording.stic")).unwrap();
    let chunks: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i..].starts_with(b"FRMS")).collect();
    assert_eq!(chunks.len(), 3, "64, 64 and 23 frames");
    let middle = (chunks[1] + chunks[2]) / 2;
    f.write("cut.stic", &bytes[..middle]);
    let mut flipped = bytes;
    flipped[middle] ^= 4;
    f.write("flipped.stic", flipped);
    f
}

const HURT: [(&str, &str); 2] = [("cut", "is cut off"), ("flipped", "is damaged")];

#[test]
fn export_writes_what_is_whole_and_says_that_it_is_not_all() {
    let f = hurt("hurt-export");
    for (name, words) in HURT {
        for to in ["csv", "gltf", "obj", "vtu", "html"] {
            let (file, out) = (format!("{name}.stic"), format!("{name}-{to}"));
            let ran = f.stiction(&["export", &file, "--to", to, "--out", &out]);
            assert_eq!(ran.code(), 1, "{file} to {to}: {}", ran.err());
            assert!(ran.err().contains(words) && ran.err().contains("64 frames are whole"), "{}", ran.err());
            assert!(ran.out().contains("wrote"), "{file} to {to}: {}", ran.out());
        }
        let table = std::fs::read_to_string(f.path().join(format!("{name}-csv"))).unwrap();
        assert_eq!(table.lines().count(), 1 + WHOLE);
        assert_eq!(f.names(&format!("{name}-obj")).len(), WHOLE);
        assert_eq!(f.names(&format!("{name}-vtu")).len(), 1 + WHOLE);
        let page = std::fs::read_to_string(f.path().join(format!("{name}-html"))).unwrap();
        assert_eq!(page.matches("application/x-stiction\">").count(), 1);
        assert!(std::fs::read(f.path().join(format!("{name}-gltf"))).unwrap().starts_with(b"glTF"));
    }
    // One of two that is not whole is named.
    let two = f.stiction(&["export", "r/recording.stic", "cut.stic", "--to", "html", "--out", "two.html"]);
    assert!(two.code() == 1 && two.err().contains("cut.stic is cut off"), "{}", two.err());
    assert!(!two.err().contains("recording.stic"), "{}", two.err());
}

#[test]
fn info_tells_both() {
    let f = hurt("hurt-info");
    for (name, words) in HURT {
        let ran = f.stiction(&["info", &format!("{name}.stic")]);
        assert!(ran.code() == 1 && ran.out().contains(words), "{}", ran.out());
        let json = f.stiction(&["info", &format!("{name}.stic"), "--json"]);
        assert!(json.code() == 1 && json.json()["frames"] == WHOLE, "{}", json.out());
    }
}

#[cfg(unix)]
#[test]
fn picture_and_movie_tell_both() {
    // A browser that draws an empty picture, and no film.
    let f = hurt("hurt-picture");
    let script = "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in --screenshot=*) : > \"${a#--screenshot=}\";; esac; done\n";
    f.write("browser", script);
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(f.path().join("browser"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (name, words) in HURT {
        let file = format!("{name}.stic");
        for (args, code) in
            [(["picture", &file, "--out", "a.png"], 1), (["movie", &file, "--out", "a.gif"], 2)]
        {
            let out = Command::new(env!("CARGO_BIN_EXE_stiction"))
                .args(args)
                .current_dir(f.path())
                .env("CHROMIUM", f.path().join("browser"))
                .output()
                .unwrap();
            let err = String::from_utf8(out.stderr).unwrap();
            assert_eq!(out.status.code(), Some(code), "{args:?}: {err}");
            assert!(err.contains(words) && err.contains("64 frames are whole"), "{args:?}: {err}");
        }
        assert!(f.path().join("a.png").exists());
    }
}

#[test]
fn view_tells_both_before_it_serves() {
    let f = hurt("hurt-view");
    for (name, words) in HURT {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(["view", &format!("{name}.stic"), "--port", "0"])
            .current_dir(f.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        child.wait().unwrap();
        assert!(line.starts_with("open http://127.0.0.1:"), "{line}");
        assert!(err.contains(words) && err.contains("64 frames are whole"), "{err}");
    }
}

#[test]
fn a_header_that_is_not_whole_is_refused_by_every_command() {
    let f = hurt("hurt-header");
    let bytes = std::fs::read(f.path().join("cut.stic")).unwrap();
    f.write("h.stic", &bytes[..40]);
    for args in [
        &["info", "h.stic"][..],
        &["view", "h.stic", "--port", "0"],
        &["export", "h.stic", "--to", "csv"],
        &["export", "h.stic", "--to", "html"],
        &["picture", "h.stic", "--out", "a.png"],
    ] {
        let ran = f.stiction(args);
        assert!(ran.code() == 2 && ran.err().contains("ends within its header"), "{args:?}: {}", ran.err());
    }
    assert!(!f.path().join("h.csv").exists() && !f.path().join("h.html").exists());
}

#[test]
fn arguments_that_change_a_scene_are_refused_for_a_recording() {
    let f = hurt("hurt-args");
    for flag in [&["--dt", "0.1"][..], &["--set", "a=1"], &["--solver", "pgs"], &["--threads", "1"]] {
        let ran = f.stiction(&[&["view", "r/recording.stic", "--port", "0"], flag].concat());
        assert!(ran.code() == 2 && ran.err().contains("is a recording"), "{flag:?}: {}", ran.err());
    }
}
