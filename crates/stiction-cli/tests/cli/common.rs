//! Running the binary in a folder of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    /// A fresh folder for the test `name`.
    pub fn new(name: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("stiction-cli-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), content).unwrap();
    }

    /// Names in it, sorted.
    pub fn names(&self, sub: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.0.join(sub)) else { return Vec::new() };
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `stiction` in it.
    pub fn stiction(&self, args: &[&str]) -> Ran {
        let out = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(args)
            .current_dir(&self.0)
            .env_remove("NO_COLOR")
            .output()
            .unwrap();
        Ran(out)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How a command ended.
pub struct Ran(Output);

impl Ran {
    /// Exit code.
    pub fn code(&self) -> i32 {
        self.0.status.code().expect("not killed by a signal")
    }

    /// Standard output.
    pub fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    /// Standard error.
    pub fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Standard output as the one JSON object that it must be.
    pub fn json(&self) -> Value {
        let text = self.out();
        let value: Value =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", self.err()));
        assert!(value.is_object());
        value
    }
}

/// A crate that is dropped on a floor.
pub const SCENE: &str = r#"
title = "A crate falls"

[time]
dt = 0.01
duration = 0.5

[[body]]
name = "floor"
motion = "fixed"
shape = { plane = {} }

[[body]]
name = "crate"
shape = { box = { size = [0.2, 0.2, 0.2] } }
position = [0, 0, 0.15]
mass = 2

[[sensor]]
name = "pose"
pose = "crate"

[[sensor]]
name = "force"
contact_force = "crate"
"#;
