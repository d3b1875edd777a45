//! Chromium without a window, which draws pictures and films.

use crate::failure::{Result, error, unwritable};
use miette::Report;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What surfaces can be coloured by.
pub const FIELDS: [&str; 5] = ["body", "strain", "stress", "speed", "force"];

/// Smallest width of Chromium's window [px].
const NARROWEST: u32 = 500;

/// A Chromium and a folder of its own, which goes when it does.
pub struct Browser {
    program: PathBuf,
    folder: PathBuf,
}

/// Width and height of a picture in pixels.
pub fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w, h)) if (NARROWEST..=4096).contains(&w) && (200..=4096).contains(&h) => Ok((w, h)),
        _ => Err(format!("it must look like 1280x800, from {NARROWEST}x200 to 4096x4096")),
    }
}

impl Browser {
    /// The first Chromium there is.
    pub fn find() -> Result<Browser> {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let folders: Vec<PathBuf> =
            std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let found = folders.iter().flat_map(|f| names.iter().map(move |n| f.join(n))).find(|p| p.is_file());
        let program = named.or(found).ok_or_else(|| {
            error("no Chromium was found", "install it (`apt install chromium`), or set CHROMIUM to its path")
        })?;
        let folder = std::env::temp_dir().join(format!("stiction-browser-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| unwritable(&folder, &e))?;
        Ok(Browser { program, folder })
    }

    /// A folder for files on the way.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command that opens a page; its address is yet to be added.
    pub fn command(&self, (width, height): (u32, u32)) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["--headless", "--no-sandbox", "--no-first-run", "--mute-audio", "--disable-gpu-sandbox"])
            .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"])
            .arg(format!("--user-data-dir={}", self.folder.join("profile").display()))
            .arg(format!("--window-size={width},{height}"));
        command
    }

    /// The error for a program that does not start.
    pub fn broken(&self, e: &std::io::Error) -> Report {
        error(format!("{} cannot be started: {e}", self.program.display()), "set CHROMIUM to a working one")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Best effort: what stays is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_bounds() {
        assert_eq!(size("1280x800"), Ok((1280, 800)));
        for bad in ["1280", "1280x", "100x800", "9000x800", "-1x5", "ax800"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
