//! Devices, pipes and files that unpack to more than memory: refused with exit code 2, within limits of memory and
//! processor time that reading them would break.
#![cfg(target_os = "linux")]

use crate::common::{Folder, SCENE};
use std::process::Command;

/// Runs `stiction` with 2 GB of memory and 20 s of processor time; whoever waits for ever is ended by `timeout`.
fn limited(f: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let script = "ulimit -v 2000000; ulimit -t 20; exec timeout 120 \"$0\" \"$@\"";
    let out = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_stiction")])
        .args(args)
        .current_dir(f.path())
        .output()
        .unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

fn refused(f: &Folder, args: &[&str], words: &[&str]) {
    let (code, err) = limited(f, args);
    assert_eq!(code, Some(2), "{args:?}: {err}");
    for word in words {
        assert!(err.contains(word), "{args:?}: no `{word}` in {err}");
    }
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let f = Folder::new("devices");
    let pipe = Command::new("mkfifo").arg(f.path().join("pipe")).status().unwrap();
    assert!(pipe.success());
    f.write("task.toml", "");
    let kind = &["is no regular file"];
    for target in ["/dev/zero", "/dev/null", "pipe"] {
        let links =
            ["x.toml", "x.stic", "x.npz", "x.obj", "x.stl", "x.msh", "x.vtk", "x.mesh", "x.node", "x.json"];
        for name in links {
            let link = f.path().join(name);
            let _ = std::fs::remove_file(&link);
            let to = if target == "pipe" { f.path().join("pipe") } else { target.into() };
            std::os::unix::fs::symlink(to, link).unwrap();
        }
        for args in [
            &["run", "x.toml"][..],
            &["check", "x.toml"],
            &["grad", "x.toml"],
            &["optimize", "x.toml"],
            &["view", "x.toml", "--port", "0"],
            &["view", "x.stic", "--port", "0"],
            &["info", "x.stic"],
            &["export", "x.stic", "--to", "html"],
            &["picture", "x.stic", "--out", "a.png"],
            &["solve", "x.npz"],
            &["mesh", "check", "x.obj"],
            &["mesh", "check", "x.stl"],
            &["mesh", "check", "x.msh"],
            &["mesh", "check", "x.vtk"],
            &["mesh", "check", "x.mesh"],
            &["mesh", "check", "x.node"],
            &["mesh", "tet", "x.obj", "--cell", "1", "--out", "a.msh"],
            &["optimize", "throw", "--resume", "x.json"],
        ] {
            refused(&f, args, kind);
        }
        // A mesh that a scene names.
        for file in ["x.obj", "x.stl"] {
            let shape = format!("mesh = {{ file = \"{file}\" }}");
            f.write("scene.toml", SCENE.replacen("box = { size = [0.2, 0.2, 0.2] }", &shape, 1));
            refused(&f, &["check", "scene.toml"], &["scene.toml:15", "is no regular file"]);
        }
        let soft =
            "[[soft]]\nname = \"s\"\nmesh = { file = \"x.msh\" }\nmaterial = { preset = \"rubber\" }\n";
        f.write("scene.toml", soft);
        refused(&f, &["check", "scene.toml"], kind);
    }
    refused(&f, &["run", "/dev/zero"], kind);
    refused(&f, &["solve", "."], &["is a folder"]);
}

#[test]
fn a_scene_of_millions_of_tables_is_refused_before_it_takes_memory() {
    let f = Folder::new("tables");
    f.write("many.toml", "[[body]]\n".repeat(2_100_000));
    refused(&f, &["check", "many.toml"], &["at most 4000000 are read", "`repeat`"]);
    // As many as are read: refused for what it says, still within the limits.
    f.write("many.toml", "[[body]]\n".repeat(1_900_000));
    refused(&f, &["check", "many.toml"], &["`name` is missing"]);
    f.write(
        "many.toml",
        format!(
            "[[body]]\nname = \"a\"\nshape = {{ hull = {{ points = [{}] }} }}\n",
            "[0,0,0],".repeat(900_000)
        ),
    );
    refused(&f, &["check", "many.toml"], &["hull"]);
    f.write("long.toml", " ".repeat((64 << 20) + 1));
    refused(&f, &["check", "long.toml"], &["at most 67108864 are read"]);
}

#[test]
fn a_problem_of_deflated_zeros_is_refused_before_it_takes_memory() {
    // 2²⁴ contacts of zeros and an empty W: 117 million numbers in a file of half a megabyte.
    let f = Folder::new("bomb");
    f.write("bomb.npz", bomb(1 << 24));
    refused(&f, &["solve", "bomb.npz"], &["bomb.npz", "at most 1048576 are read", "split the problem"]);
    f.write("bomb.npz", bomb(1 << 27));
    refused(&f, &["solve", "bomb.npz"], &["bomb.npz", "too large"]);
}

/// A problem of `n` contacts without couplings.
fn bomb(n: usize) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, count, kind, size) in [
        ("mu", n, "|u1", 1),
        ("q", 3 * n, "|u1", 1),
        ("W_indptr", 3 * n + 1, "|u1", 1),
        ("W_data", 0, "<f8", 8),
        ("W_indices", 0, "<i4", 4),
    ] {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}\n");
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(header.as_bytes()).unwrap();
        let piece = vec![0; 1 << 20];
        let mut left = count * size;
        while left > 0 {
            let k = left.min(piece.len());
            zip.write_all(&piece[..k]).unwrap();
            left -= k;
        }
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn lengths_and_time_steps_beyond_their_bounds_are_refused_by_check_too() {
    let f = Folder::new("bounds");
    let belt = ["--set", "bodies.belt.shape.box.size=[4, 1e308, 0.1]"];
    for size in ["1e308", "1e200", "1e30"] {
        let set = belt[1].replacen("1e308", size, 1);
        for command in ["run", "check"] {
            refused(&f, &[command, "conveyor", "--set", &set], &["is not allowed", "from 1e-9 to 1e9 m"]);
        }
    }
    for dt in ["1e-300", "4294967296", "1e8"] {
        refused(&f, &["check", "crank-slider", "--set", &format!("time.dt={dt}")], &["from 1e-9 to 1000 s"]);
        refused(&f, &["run", "crank-slider", "--dt", dt], &["--dt", "it must be from 1e-9 to 1000 s"]);
    }
    let (code, err) = limited(&f, &["check", "crank-slider", "--dt", "1e-9"]);
    assert_eq!(code, Some(0), "{err}");
    let ran = f.stiction(&["check", "crank-slider", "--dt", "1e-9"]);
    assert!(ran.out().contains("e9 steps; check `dt`"), "{}", ran.out());
    refused(&f, &["run", "crank-slider", "--time", "1e10"], &["--time", "at most 1e9 s"]);
    refused(&f, &["check", "crank-slider", "--set", "time.duration=1e300"], &["at most 1e9 s"]);
}

#[test]
fn tasks_that_no_memory_can_hold_are_refused() {
    let f = Folder::new("absurd");
    f.write("scene.toml", SCENE);
    let task = |line: &str| {
        let body = "[objective]\nof = \"crate\"\ntarget = [0, 0, 1]\n[[parameter]]\nkind = \"velocity\"\nof = \"crate\"\naxis = \"x\"\n";
        format!("scene = \"scene.toml\"\n{line}\n{body}")
    };
    for (line, words) in [
        ("steps = 18446744073709551615", "at most 100000"),
        ("steps = 9223372036854775807", "at most 100000"),
        ("steps = 999999999", "at most 100000"),
        ("steps = 12\nevaluations = 9223372036854775807", "evaluations"),
        ("steps = 12\nrestarts = 9223372036854775807", "restarts"),
        ("steps = 12\nstiffness = [-1]", "stiffness = -1"),
        ("steps = 12\ndt = 1e-300", "from 1e-9 to 1000 s"),
        ("steps = 12\ndt = nan", "from 1e-9 to 1000 s"),
    ] {
        f.write("task.toml", task(line));
        let (code, err) = limited(&f, &["optimize", "task.toml"]);
        assert_eq!(code, Some(2), "{line}: {err}");
        assert!(err.contains(words) || line.contains("18446744073709551615"), "{line}: {err}");
    }
    let controls = "[[control]]\nkind = \"force\"\nof = \"crate\"\naxis = \"x\"\nevery = 1\n";
    f.write("task.toml", task("steps = 100000") + controls);
    refused(&f, &["optimize", "task.toml"], &["raise `every`"]);
    refused(&f, &["grad", "scene.toml", "--steps", "999999999"], &["at most 100000 steps"]);
}
