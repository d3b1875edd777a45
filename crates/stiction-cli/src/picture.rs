//! `stiction picture`: a recording as a PNG file, drawn by the page in a Chromium without a window.

use crate::browser::{self, Browser};
use crate::damage::look_through;
use crate::failure::{Outcome, Result, error, unwritable};
use crate::output::{check_target, print};
use clap::Args;
use std::path::{Path, PathBuf};
use stiction_io::page;

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
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = browser::size)]
    size: (u32, u32),

    /// Colour surfaces by this
    #[arg(long, value_name = "FIELD", default_value = "body", value_parser = browser::FIELDS)]
    by: String,

    /// Show the whole page with plots and controls, not the view alone
    #[arg(long)]
    plots: bool,

    /// Dark instead of light
    #[arg(long)]
    dark: bool,
}

/// Draws a picture.
pub fn picture(args: &PictureArgs) -> Result<Outcome> {
    let looked = look_through(&args.recording)?;
    check_target(&args.out)?;
    let browser = Browser::find()?;
    let theme = if args.dark { "dark" } else { "light" };
    let ui = u8::from(args.plots);
    let hash = format!("t={}&by={}&theme={theme}&ui={ui}", args.time.unwrap_or(looked.last), args.by);
    draw(&browser, &args.recording, &hash, args.size, &args.out)?;
    print(&format!("wrote {}\n", args.out.display()))?;
    Ok(looked.outcome)
}

/// Opens the page of a recording with `hash` behind its address, and writes what it shows as a PNG file.
pub fn draw(browser: &Browser, recording: &Path, hash: &str, size: (u32, u32), out: &Path) -> Result<()> {
    let html = browser.folder().join("view.html");
    let shot = browser.folder().join("shot.png");
    // What an earlier picture left must not be taken for this one.
    let _ = std::fs::remove_file(&shot);
    page::write(&html, &[recording.into()])?;
    let said = browser
        .command(size)
        .args(["--hide-scrollbars", "--virtual-time-budget=20000"])
        .arg(format!("--screenshot={}", shot.display()))
        .arg(format!("file://{}#{hash}", html.display()))
        .output()
        .map_err(|e| browser.broken(&e))?;
    if !shot.is_file() {
        let words = String::from_utf8_lossy(&said.stderr);
        let line = words.lines().last().unwrap_or("it said nothing");
        return Err(error(format!("Chromium drew nothing: {line}"), "try another with CHROMIUM=path"));
    }
    std::fs::copy(&shot, out).map_err(|e| unwritable(out, &e))?;
    Ok(())
}
