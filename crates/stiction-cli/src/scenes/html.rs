//! The gallery as a page: every built-in scene with a picture, what it is, how to run it and how exact it was.

use crate::args::{SceneArgs, StepArgs};
use crate::browser::Browser;
use crate::failure::{Outcome, Result, note};
use crate::output::{OutputDir, print, write_file};
use crate::picture::draw;
use crate::progress;
use crate::record::{Recorded, Until, record};
use crate::table::number;
use indicatif::ProgressBar;
use std::path::Path;
use stiction_io::{gallery, page};

/// Frames per second of simulation: enough to see, and small files.
const RATE: f64 = 30.0;
/// Width and height of pictures [px].
const SIZE: (u32, u32) = (640, 400);

const STYLE: &str = "
:root { color-scheme: light dark; --paper: #f4f5f7; --ink: #20242c; --soft: #5d6675; --line: #d5d9e0; --card: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171c; --ink: #e8ebf0; --soft: #98a2b3; --line: #313844; --card: #1c2129; }
}
body { margin: 0 auto; padding: 24px; max-width: 1320px; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, \"Segoe UI\", Roboto, sans-serif; }
h1 { font-size: 26px; letter-spacing: -.01em; margin: 0 0 4px; } h2 { font-size: 17px; margin: 0 0 2px; }
.all { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 18px; margin-top: 20px; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden;
  display: flex; flex-direction: column; }
img { display: block; width: 100%; height: auto; background: var(--line); }
.words { padding: 12px 16px 14px; display: flex; flex-direction: column; gap: 8px; flex: 1; }
p { margin: 0; color: var(--soft); } .words p { flex: 1; }
code { display: block; background: var(--paper); border-radius: 6px; padding: 4px 8px; overflow-x: auto; white-space: nowrap;
  font-size: 13px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0 12px; margin: 0; font-size: 13px; }
dt { color: var(--soft); } dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: #d9480f; } a { color: inherit; text-decoration: none; } h2 a:hover { text-decoration: underline; }
";

/// Writes `index.html`, and of each scene `NAME.html`, which plays it, and `NAME.png`.
pub fn write(dir: &Path, limit: f64) -> Result<Outcome> {
    // Held to the end: nobody else may write into the folder.
    let _folder = OutputDir::create(dir)?;
    // Without a browser there is still a page to read.
    let browser = Browser::find().inspect_err(|e| note(&format!("no pictures are drawn: {e:?}"))).ok();
    let recording = dir.join("recording.part");
    let bar = progress::bar(gallery::ALL.len() as u64, "scenes");
    let mut cards = String::new();
    for entry in gallery::ALL {
        bar.set_message(entry.name);
        let scene = SceneArgs { scene: entry.name.into(), overrides: Vec::new(), dt: None };
        let until = Until { time: None, wall: limit };
        let done = record(&scene, &StepArgs::default(), until, RATE, &recording, &ProgressBar::hidden())?;
        page::write(&dir.join(format!("{}.html", entry.name)), std::slice::from_ref(&recording))?;
        let mut picture = String::new();
        if let Some(b) = &browser {
            let hash = format!("t={}&theme=light&ui=0&contacts=0&forces=0", 0.5 * done.time);
            draw(b, &recording, &hash, SIZE, &dir.join(format!("{}.png", entry.name)))?;
            picture = format!(
                "<img src=\"{}.png\" alt=\"{}\" width=\"{}\" height=\"{}\" loading=\"lazy\">",
                entry.name,
                escape(entry.title),
                SIZE.0,
                SIZE.1
            );
        }
        cards += &card(entry, &done, &picture);
        bar.inc(1);
    }
    bar.finish_and_clear();
    // Best effort: it is only in the way.
    let _ = std::fs::remove_file(&recording);
    let index = dir.join("index.html");
    write_file(&index, &whole(&cards))?;
    print(&format!("wrote {}: {} scenes (open it in a browser)\n", index.display(), gallery::ALL.len()))
}

fn whole(cards: &str) -> String {
    let command = "stiction scenes --html DIR";
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Scenes of Stiction</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Scenes of Stiction</h1>\n\
         <p>A press on a picture plays the scene. Residuals are the worst of all steps. \
         Made by <b>{command}</b>.</p>\n\
         <main class=\"all\">\n{cards}</main>\n</body>\n</html>\n"
    )
}

fn card(entry: &gallery::Entry, done: &Recorded, picture: &str) -> String {
    let s = &done.summary;
    let converged = if s.failed == 0 {
        format!("all {} steps", s.steps)
    } else {
        format!("<span class=\"bad\">{} of {} steps did not</span>", s.failed, s.steps)
    };
    let rows = [
        ("simulated", format!("{} s", number(done.time))),
        ("converged", converged),
        ("natural map", format!("{} m/s", number(s.residuals.natural))),
        ("penetration", format!("{} m", number(s.penetration()))),
        ("contacts", format!("{} at most", s.most_contacts())),
    ];
    let rows: String = rows.iter().map(|(k, v)| format!("<dt>{k}</dt><dd>{v}</dd>")).collect();
    let name = entry.name;
    format!(
        "<article id=\"{name}\"><a href=\"{name}.html\" aria-label=\"Play {name}\">{picture}</a>\
         <div class=\"words\"><h2><a href=\"{name}.html\">{}</a></h2><p>{}</p>\
         <code>stiction run {name} --out DIR</code><dl>{rows}</dl></div></article>\n",
        escape(entry.title),
        escape(&entry.description())
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
