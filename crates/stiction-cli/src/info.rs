//! `stiction info`: what is in a recording.

use crate::failure::{Outcome, Result, error};
use crate::output::print;
use crate::table::{Paint, Table, number};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use stiction_io::recording::{Ending, Reader};

/// Arguments of `info`.
#[derive(Args)]
pub struct InfoArgs {
    /// A recording, as `run --out` writes it
    file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Describes a recording; one that does not end as it should is told apart by the exit code.
pub fn info(args: &InfoArgs) -> Result<Outcome> {
    let name = args.file.display();
    let mut reader = Reader::open(&args.file)?;
    let header = reader.header().clone();
    let (mut frames, mut contacts, mut span) = (0u64, 0usize, None);
    for f in reader.by_ref() {
        frames += 1;
        contacts = contacts.max(f.contacts.len());
        span = Some((span.map_or(f.t, |(a, _)| a), f.t));
    }
    let bytes = std::fs::metadata(&args.file)
        .map_err(|e| error(format!("{name}: cannot be read: {e}"), "check the path"))?
        .len();
    let (from, to) = span.unwrap_or((0.0, 0.0));
    let ending = reader.ending().unwrap_or(Ending::CutOff);
    let outcome = if ending == Ending::Finished { Outcome::Good } else { Outcome::Unsolved };
    let tets: usize = header.solids.iter().map(|s| header.meshes[s.mesh as usize].tets.len()).sum();
    let vertices = header.points() - header.particles.len();
    if args.json {
        let word = match ending {
            Ending::Finished => "finished",
            Ending::CutOff => "cut-off",
            Ending::Damaged => "damaged",
        };
        let about = json!({
            "file": name.to_string(), "name": header.name, "version": stiction_io::recording::VERSION,
            "bytes": bytes, "frames": frames, "from": from, "to": to, "ending": word,
            "bodies": header.bodies.len(), "particles": header.particles.len(),
            "solids": header.solids.len(), "vertices": vertices, "tets": tets,
            "joints": header.joints.len(), "most_contacts": contacts,
            "columns": header.columns, "about": header.extra,
        });
        print(&format!("{about}\n"))?;
        return Ok(outcome);
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new();
    let mut row = |a: &str, b: String| table.row([a.to_string(), b]);
    row("file", format!("{} MB, version {}", number(bytes as f64 / 1e6), stiction_io::recording::VERSION));
    let rate = if to > from {
        format!(", {} per second", number((frames - 1) as f64 / (to - from)))
    } else {
        String::new()
    };
    row("frames", format!("{frames} from {} to {} s{rate}", number(from), number(to)));
    for key in ["solver", "scheme", "dt"] {
        if let Some(x) = header.extra.get(key) {
            row(key, x.as_str().map_or_else(|| x.to_string(), str::to_string));
        }
    }
    row("bodies", header.bodies.len().to_string());
    if !header.particles.is_empty() {
        row("particles", header.particles.len().to_string());
    }
    for s in &header.solids {
        let m = &header.meshes[s.mesh as usize];
        let what = format!("{} vertices, {} tets, {} kg", m.vertices.len(), m.tets.len(), number(s.mass));
        row(&s.name, what);
    }
    if !header.joints.is_empty() {
        row("joints", header.joints.len().to_string());
    }
    row("contacts", format!("{contacts} at most"));
    row("columns", header.columns.join(", "));
    let title = header.extra.get("title").and_then(|t| t.as_str()).unwrap_or_default();
    let mut text = format!("{}\n{}", paint.bold(&format!("{}: {title}", header.name)), table.render());
    text += &match ending.complaint() {
        None => "the recording is whole\n".to_string(),
        Some(c) => paint.bad(&format!("the recording {c}; {frames} frames are whole")) + "\n",
    };
    print(&text)?;
    Ok(outcome)
}
