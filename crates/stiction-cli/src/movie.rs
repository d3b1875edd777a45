//! `stiction movie`: a recording as a film, drawn frame by frame by the page in a Chromium without a window.

use crate::args::{SceneArgs, StepArgs, positive, time_span};
use crate::browser::{self, Browser};
use crate::damage::{Looked, look_through};
use crate::failure::{Outcome, Result, error};
use crate::output::{check_target, print};
use crate::progress;
use crate::record::{Until, record};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use stiction_io::page;

mod camera;
mod sink;

use sink::{Kind, Sink};

/// Arguments of `movie`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction movie out/recording.stic --out grasp.webm
  stiction movie table-pile --plots --out tables.webm        simulate, then film
  stiction movie out/recording.stic --by strain --until 2 --speed 0.5 --size 640x400 --out slow.gif
Needs Chromium (`apt install chromium`); CHROMIUM=path names another one.")]
pub struct MovieArgs {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    step: StepArgs,

    /// File to write: .webm (VP9) or .gif
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// First moment to show [s]
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    from: f64,

    /// Last moment to show [s]; the end by default
    #[arg(long, value_name = "S", value_parser = time_span)]
    until: Option<f64>,

    /// Seconds of simulation per second of film
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = positive)]
    speed: f64,

    /// Pictures per second; 30 for .webm and 15 for .gif by default
    #[arg(long, value_name = "HZ", value_parser = positive)]
    rate: Option<f64>,

    /// Width and height in pixels; 1280x720 for .webm and 640x400 for .gif by default
    #[arg(long, value_name = "WxH", value_parser = browser::size)]
    size: Option<(u32, u32)>,

    /// Colour surfaces by this
    #[arg(long, value_name = "FIELD", default_value = "body", value_parser = browser::FIELDS)]
    by: String,

    /// Camera, as the keys [ and ] count them from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    camera: u32,

    /// Show plots under the view
    #[arg(long)]
    plots: bool,

    /// Dark instead of light
    #[arg(long)]
    dark: bool,
}

/// Pictures of a film at most: more is a mistake in its times.
const MOST: f64 = 100_000.0;

/// Films a recording, or a scene that is simulated first.
pub fn movie(args: &MovieArgs) -> Result<Outcome> {
    let kind = match args.out.extension().and_then(|e| e.to_str()) {
        Some("webm") => Kind::WebM,
        Some("gif") => Kind::Gif,
        _ => {
            let what = format!("{}: films are written as .webm or .gif", args.out.display());
            return Err(error(what, "end the name in .webm or .gif"));
        }
    };
    let path = Path::new(&args.scene.scene);
    let is_recording = path.extension().is_some_and(|e| e == "stic");
    if is_recording {
        args.scene.refuse_changes(&args.step, path)?;
    }
    check_target(&args.out)?;
    let browser = Browser::find()?;
    let rate = args.rate.unwrap_or(if kind == Kind::WebM { 30.0 } else { 15.0 });
    if rate > 100.0 {
        return Err(error("films have at most 100 pictures per second", "choose a lower --rate"));
    }
    let recording = if is_recording {
        path.to_path_buf()
    } else {
        args.step.start_threads()?;
        let file = browser.folder().join("recording.stic");
        let until = Until { time: args.until, wall: f64::INFINITY };
        let bar = progress::bar(0, "steps");
        record(&args.scene, &args.step, until, (rate / args.speed).max(60.0), &file, &bar)?;
        file
    };
    let Looked { last, outcome } = look_through(&recording)?;
    let until = args.until.unwrap_or(last).min(last);
    if !(0.0..=until).contains(&args.from) {
        return Err(error(
            format!("--from {} is not within 0 to {until} s", args.from),
            "choose an earlier moment",
        ));
    }
    let pictures = ((until - args.from) * rate / args.speed).round() + 1.0;
    if pictures > MOST {
        return Err(error(
            format!("the film would have {pictures} pictures"),
            "choose a higher --speed or a lower --rate",
        ));
    }
    let (width, height) = args.size.unwrap_or(if kind == Kind::WebM { (1280, 720) } else { (640, 400) });
    // Colours of videos are stored for squares of two by two pixels.
    let (width, height) = (width & !1, height & !1);
    let wish = json!({
        "kind": if kind == Kind::WebM { "webm" } else { "gif" }, "width": width, "height": height,
        "rate": rate, "from": args.from, "until": until, "speed": args.speed, "camera": args.camera,
        "plots": args.plots, "bitrate": f64::from(width * height) * rate * 0.14,
    });
    let html = page::film(&recording, &wish.to_string())?;
    let theme = if args.dark { "dark" } else { "light" };
    let hash = format!("by={}&theme={theme}&ui=0", args.by);
    let bar = progress::bar(pictures as u64, "pictures");
    let sink = Sink::new(kind, (width, height), rate, bar.clone());
    let bytes = camera::film(&browser, html, &hash, sink)?;
    bar.finish_and_clear();
    crate::output::write_bytes(&args.out, &bytes)?;
    let size = crate::table::number(bytes.len() as f64 / 1e6);
    print(&format!("wrote {}: {pictures} pictures of {width}x{height}, {size} MB\n", args.out.display()))?;
    Ok(outcome)
}
