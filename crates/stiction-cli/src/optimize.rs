//! `stiction optimize`: fits numbers of a scene so that its motion does what a task asks for.

mod aim;
pub mod job;
pub mod space;
mod synthetic;
pub mod task;
pub mod view;

use crate::failure::{Outcome, Result, error, note};
use crate::interrupt::Interrupt;
use crate::output::{OutputDir, csv_line, csv_number, print};
use crate::svg::{Mark, Plot, Scale};
use crate::table::{Paint, Table, number};
use clap::Args;
use job::{Found, Job};
use serde_json::json;
use std::path::{Path, PathBuf};
use stiction::diff::optimize::End;
use stiction_io::read;
use task::Task;

/// Arguments of `optimize`.
#[derive(Args)]
#[command(after_help = "\
A task names a scene, an objective and parameters; `stiction optimize --example` prints one. Contacts are smooth (ADD), and
gradients come from the adjoint. Ctrl+C ends the search after the present run: the best point so far is written as if it were
the end, and `--resume` goes on from there; a second Ctrl+C kills.

Examples:
  stiction optimize throw
  stiction optimize my-task.toml --out results
  stiction optimize my-task.toml --resume results/fitted.json")]
pub struct OptimizeArgs {
    /// A built-in task (throw, line, hit, stop, foam, drag, land, mocap, depth) or a .toml file
    #[arg(required_unless_present = "example")]
    task: Option<String>,

    /// Print the built-in task `throw` as an example
    #[arg(long, conflicts_with_all = ["task", "resume", "out", "json"])]
    example: bool,

    /// Start from the values of an earlier fit
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Write the fitted values, the convergence curve, a plot and a page that plays before and after into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

const THROW: &str = include_str!("../tasks/throw.toml");

/// Built-in tasks that are files, by name.
const BUILT_IN: [(&str, &str); 9] = [
    ("throw", THROW),
    ("line", include_str!("../tasks/line.toml")),
    ("hit", include_str!("../tasks/hit.toml")),
    ("stop", include_str!("../tasks/stop.toml")),
    ("foam", include_str!("../tasks/foam.toml")),
    ("drag", include_str!("../tasks/drag.toml")),
    ("land", include_str!("../tasks/land.toml")),
    ("mocap", include_str!("../tasks/mocap.toml")),
    ("depth", include_str!("../tasks/depth.toml")),
];

/// Steps of a motion that is differentiated, at most: its whole tape is kept.
pub const MOST_STEPS: u64 = 100_000;

/// Numbers of states that a tape may hold: steps times unknowns.
pub const MOST_TAPE: u64 = 50_000_000;

/// Runs of one search at most, and starts of it.
const MOST_RUNS: u64 = 10_000_000;

/// Bytes of a task file, a fit or a table of measurements at most.
const MOST_BYTES: u64 = 64 << 20;

/// Whether a built-in task has this name.
#[cfg(test)]
pub fn is_task(name: &str) -> bool {
    BUILT_IN.iter().any(|t| t.0 == name)
}

/// Runs a task.
pub fn optimize(args: &OptimizeArgs) -> Result<Outcome> {
    if args.example {
        return print(THROW);
    }
    let name = args.task.as_deref().unwrap_or_default();
    fit(name, read(name, args.resume.as_deref())?, args.out.as_deref(), args.json)
}

/// The task of a file or of a built-in name.
fn read(name: &str, resume: Option<&Path>) -> Result<Job> {
    let built_in = BUILT_IN.iter().find(|t| t.0 == name);
    let (text, folder) = match built_in {
        Some((_, text)) => (text.to_string(), PathBuf::new()),
        None => {
            let names: Vec<&str> = BUILT_IN.iter().map(|t| t.0).collect();
            let remedy =
                format!("give the path of a task, or the name of a built-in one: {}", names.join(", "));
            let path = Path::new(name);
            let text =
                read::text(path, MOST_BYTES, "move its tables to files of their own").map_err(|e| {
                    // What is no path is most likely a misspelt name.
                    if path.exists() { e.into() } else { error(e, remedy) }
                })?;
            (text, Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default())
        }
    };
    let task: Task = toml::from_str(&text)
        .map_err(|e| error(format!("{name}: {e}"), "see `stiction optimize --example` for the keys"))?;
    task.ready(&folder, resume)
}

/// Runs a job and reports what it found; with `out`, files go into that folder.
pub fn fit(name: &str, mut job: Job, out: Option<&Path>, as_json: bool) -> Result<Outcome> {
    let interrupt = Interrupt::listen();
    // A folder that cannot be written is refused before the search.
    let dir = out.map(OutputDir::create).transpose()?;
    let found = job.run(&interrupt)?;
    let dir = match dir {
        Some(mut dir) => {
            let values = (&job.space.values(&found.start)[..], &job.space.values(&found.minimum.x)[..]);
            let steps = job.steps();
            view::compare(&mut dir, &mut job.system, &mut job.set, steps, values)?;
            Some(dir)
        }
        None => None,
    };
    let mut remark = found.minimum.end.describe().to_string();
    if let Some((_, signal)) = found.interrupted {
        remark = format!("interrupted by {signal}; the best point so far is kept");
    }
    if found.ends.len() > 1 {
        let values: Vec<String> = found.ends.iter().map(|v| number(*v)).collect();
        remark = format!("{remark}; best of {} starts, which ended at {}", values.len(), values.join(", "));
    }
    let at_bounds = job.space.at_bounds(&found.minimum.x);
    if !at_bounds.is_empty() {
        remark = format!("{remark}; at their bounds: {}", at_bounds.join(", "));
    }
    if found.broken > 0 {
        let n = found.broken;
        remark = format!(
            "{remark}; {n} motions broke off and count as infinitely bad: narrow the bounds or soften contacts"
        );
    }
    report(as_json, dir, name, &job, &found, &remark)
}

fn report(
    as_json: bool,
    out: Option<OutputDir>,
    name: &str,
    job: &Job,
    found: &Found,
    remark: &str,
) -> Result<Outcome> {
    let (names, truth) = (&job.space.names, &job.truth);
    let Found { start, minimum: m, spread, history, ends, interrupted, .. } = found;
    let interrupted = *interrupted;
    let fitted: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .enumerate()
        .map(|(i, n)| {
            let deviation = spread[i].is_finite().then_some(spread[i]);
            let mut entry = json!({ "start": start[i], "value": m.x[i], "deviation": deviation });
            if let Some(truth) = truth[i] {
                entry["truth"] = truth.into();
            }
            (n.clone(), entry)
        })
        .collect();
    let first = history.first().map_or(f64::NAN, |h| h.1);
    let all = json!({ "task": name, "objective": m.value, "at_start": first, "runs": history.len(),
                      "end": m.end, "ends": ends, "remark": remark, "fitted": fitted,
                      "interrupted": interrupted.map(|(_, signal)| signal) });
    if let Some(mut out) = out {
        out.write("fitted.json", &format!("{all:#}\n"))?;
        let lines: String = history.iter().map(|(k, v)| csv_line(&[k.to_string(), csv_number(*v)])).collect();
        out.write("convergence.csv", &(csv_line(["run", "objective"]) + &lines))?;
        let mut plot = Plot::new("Best objective", "runs", "Φ");
        plot.y_scale = Scale::Log;
        plot.add("Φ", Mark::Line, history.iter().map(|(k, v)| (*k, v.max(1e-30))).collect());
        out.write("convergence.svg", &plot.to_svg())?;
        out.finish()?;
    }
    if as_json {
        print(&format!("{all:#}\n"))?;
    } else {
        let paint = Paint::for_stdout();
        let columns = ["parameter", "start", "fitted", "± deviation", "truth"];
        let shown = if truth.iter().any(Option::is_some) { 5 } else { 4 };
        let mut table = Table::with_header(&columns[..shown]);
        for (i, n) in names.iter().enumerate() {
            let deviation = if spread[i].is_finite() { number(spread[i]) } else { String::new() };
            let truth = truth[i].map_or(String::new(), number);
            let x = m.x[i];
            let fitted = if x.abs() < 1e9 { format!("{x:.8}") } else { format!("{x:.8e}") };
            let cells = [n.clone(), number(start[i]), fitted, deviation, truth];
            table.row(cells.into_iter().take(shown));
        }
        print(&format!(
            "{}\n\n{}\nobjective {} → {} in {} runs: {}\n",
            paint.bold(name),
            table.render(),
            number(first),
            number(m.value),
            history.len(),
            remark
        ))?;
    }
    if let Some((number, signal)) = interrupted {
        note(&format!("interrupted by {signal} after {} runs; the best point so far is kept", history.len()));
        return Ok(Outcome::Interrupted(number));
    }
    let good = matches!(m.end, End::Goal | End::Stationary);
    Ok(if good { Outcome::Good } else { Outcome::Unsolved })
}
