//! `stiction picture`: a recording as a PNG file, drawn by the page in a Chromium without a window.

use crate::failure::{Outcome, Result, error, unwritable};
use crate::output::{check_target, print};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;
use stiction_io::{page, recording::Reader};

/// Arguments of `picture`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction picture out/recording.stic --time 2 --out grasp.png
  stiction picture out/recording.stic --time 2 --by strain --plots --out strain.png
Needs Chromium (`apt install chromium`); CHROMIUM=path names another one.")]
pub struct PictureArgs {
    /// A recording
    recording: PathBuf,

    /// Moment to show [s]; the last frame by default
    #[arg(long, value_name = "S")]
    time: Option<f64>,

    /// PNG file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = size)]
    size: (u32, u32),

    /// Colour surfaces by this
    #[arg(long, value_name = "FIELD", default_value = "body",
        value_parser = ["body", "strain", "stress", "speed", "force"])]
    by: String,

    /// Show the whole page with plots and controls, not the view alone
    #[arg(long)]
    plots: bool,

    /// Dark instead of light
    #[arg(long)]
    dark: bool,
}

fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    let parts = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w, h)) if (16..=8192).contains(&w) && (16..=8192).contains(&h) => Ok((w, h)),
        _ => Err("it must look like 1280x800, each from 16 to 8192".into()),
    }
}

/// The first Chromium there is.
pub fn chromium() -> Result<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let found = folders.iter().flat_map(|f| names.iter().map(move |n| f.join(n))).find(|p| p.is_file());
    named.or(found).ok_or_else(|| {
        error("no Chromium was found", "install it (`apt install chromium`), or set CHROMIUM to its path")
    })
}

/// Draws a picture.
pub fn picture(args: &PictureArgs) -> Result<Outcome> {
    let last = Reader::open(&args.recording)?.last().map_or(0.0, |f| f.t);
    check_target(&args.out)?;
    let browser = chromium()?;
    let work = std::env::temp_dir().join(format!("stiction-picture-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| unwritable(&work, &e))?;
    let done = draw(args, args.time.unwrap_or(last), &browser, &work);
    // Best effort: what stays is in the folder for temporary files.
    let _ = std::fs::remove_dir_all(&work);
    done?;
    print(&format!("wrote {}\n", args.out.display()))
}

fn draw(args: &PictureArgs, t: f64, browser: &Path, work: &Path) -> Result<()> {
    let html = work.join("view.html");
    page::write(&html, std::slice::from_ref(&args.recording))?;
    let theme = if args.dark { "dark" } else { "light" };
    let ui = u8::from(args.plots);
    let url = format!("file://{}#t={t}&by={}&theme={theme}&ui={ui}", html.display(), args.by);
    let shot = work.join("shot.png");
    let out = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ])
        .args(["--ignore-gpu-blocklist", "--virtual-time-budget=20000", "--no-first-run"])
        .arg(format!("--user-data-dir={}", work.join("profile").display()))
        .arg(format!("--window-size={},{}", args.size.0, args.size.1))
        .arg(format!("--screenshot={}", shot.display()))
        .arg(url)
        .output()
        .map_err(|e| {
            error(format!("{} cannot be started: {e}", browser.display()), "set CHROMIUM to a working one")
        })?;
    if !shot.is_file() {
        let words = String::from_utf8_lossy(&out.stderr);
        let line = words.lines().last().unwrap_or("it said nothing");
        return Err(error(format!("Chromium drew nothing: {line}"), "try another with CHROMIUM=path"));
    }
    std::fs::copy(&shot, &args.out).map_err(|e| unwritable(&args.out, &e))?;
    Ok(())
}
