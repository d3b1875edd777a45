//! `stiction bench`: published results and hard cases, each row with ours beside the paper's or the closed form.

mod add;
mod arch;
mod collide;
mod collide_soft;
mod cond;
mod cr;
mod inclines;
mod nsn;
mod pile_growth;
mod row;
mod runs;
mod soft_blocks;
mod stack;
mod walls;

use crate::clock::Stopwatch;
use crate::failure::{Outcome, Result, error};
use crate::output::{OutputDir, csv_line, print};
use crate::svg::Plot;
use crate::table::{Paint, Table, duration};
use clap::Args;
use row::{Row, Verdict};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Arguments of `bench`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction bench --list
  stiction bench NSN-stickslip COND-F14
  stiction bench NSN --json
  stiction bench --quick --out results --json")]
pub struct BenchArgs {
    /// Experiments to run, or the paper of a group (NSN, COND, …); all of them by default
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// List the experiments
    #[arg(long)]
    list: bool,

    /// Fewer samples and shorter runs
    #[arg(long)]
    quick: bool,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,

    /// Write tables (CSV) and plots (SVG) into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// One experiment.
pub struct Experiment {
    /// What the command line calls it; the paper's figure or table where it has one.
    pub id: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// What the paper, or theory, says.
    pub claim: &'static str,
    /// Measures it.
    pub run: fn(&mut Context) -> Result<Vec<Row>>,
}

impl Experiment {
    /// Whether it belongs to this paper: `NSN-F6` is of `nsn`.
    fn is_of(&self, paper: &str) -> bool {
        self.id.split_once('-').is_some_and(|(head, _)| {
            head.chars().all(|c| c.is_ascii_uppercase()) && head.eq_ignore_ascii_case(paper)
        })
    }
}

/// The papers' experiments, then those of our own.
static GROUPS: &[&[Experiment]] =
    &[nsn::EXPERIMENTS, cond::EXPERIMENTS, cr::EXPERIMENTS, add::EXPERIMENTS, OWN, collide_soft::EXPERIMENTS];

static OWN: &[Experiment] = &[
    inclines::EXPERIMENT,
    stack::EXPERIMENT,
    arch::EXPERIMENT,
    walls::EXPERIMENT,
    soft_blocks::EXPERIMENT,
    collide::EXPERIMENT,
    pile_growth::EXPERIMENT,
];

/// All experiments, in the order of the list.
fn experiments() -> impl Iterator<Item = &'static Experiment> {
    GROUPS.iter().copied().flatten()
}

/// What an experiment is given.
pub struct Context {
    /// Fewer samples and shorter runs.
    pub quick: bool,
    id: &'static str,
    out: Option<OutputDir>,
}

impl Context {
    /// Picks by `--quick`.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Says what is being done, on standard error.
    pub fn note(&self, text: &str) {
        eprintln!("{}: {text}", self.id);
    }

    /// Writes a plot as `ID-name.svg`, if there is a folder.
    pub fn plot(&mut self, name: &str, plot: &Plot) -> Result<()> {
        match &mut self.out {
            Some(out) => out.write(&format!("{}-{name}.svg", self.id), &plot.to_svg()),
            None => Ok(()),
        }
    }

    /// Writes a text as `ID-name`, if there is a folder.
    pub fn file(&mut self, name: &str, text: &str) -> Result<()> {
        match &mut self.out {
            Some(out) => out.write(&format!("{}-{name}", self.id), text),
            None => Ok(()),
        }
    }

    /// Writes a table as `ID-name.csv`, if there is a folder.
    pub fn csv(&mut self, name: &str, header: &[&str], rows: &[Vec<String>]) -> Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let text = csv_line(header) + &rows.iter().map(csv_line).collect::<String>();
        out.write(&format!("{}-{name}.csv", self.id), &text)
    }
}

/// Runs experiments.
pub fn bench(args: &BenchArgs) -> Result<Outcome> {
    let chosen = choose(&args.ids)?;
    if args.list {
        return list(&chosen, args.json);
    }
    let out = args.out.as_deref().map(OutputDir::create).transpose()?;
    let mut context = Context { quick: args.quick, id: "", out };
    let paint = Paint::for_stdout();
    let mut results = Vec::new();
    let mut failed = 0;
    for e in chosen {
        context.id = e.id;
        context.note(e.title);
        let watch = Stopwatch::start();
        // One that breaks fails, and the others still run.
        let rows = (e.run)(&mut context).unwrap_or_else(|f| {
            vec![Row::remark("the experiment broke", f.to_string()).accept("runs to its end", false)]
        });
        let took = watch.elapsed();
        failed += rows.iter().filter(|r| r.verdict == Verdict::Fail).count();
        if let Some(out) = &mut context.out {
            let lines: String = rows.iter().map(|r| csv_line(r.cells())).collect();
            out.write(&format!("{}.csv", e.id), &(csv_line(Row::COLUMNS) + &lines))?;
        }
        if args.json {
            results.push(as_json(e, &rows, took.wall));
        } else {
            print(&render(e, &rows, took.wall, paint))?;
        }
    }
    if let Some(out) = context.out {
        out.finish()?;
    }
    if args.json {
        print(&format!("{}\n", json!({"quick": args.quick, "failed": failed, "experiments": results})))?;
    }
    Ok(if failed > 0 { Outcome::Unsolved } else { Outcome::Good })
}

/// `accepted` says that nothing failed; `figures` has every measured value by name, `note` the remarks.
fn as_json(e: &Experiment, rows: &[Row], seconds: f64) -> Value {
    let figures: serde_json::Map<String, Value> =
        rows.iter().filter(|r| r.value.is_some()).map(|r| (r.what.clone(), json!(r.value))).collect();
    json!({
        "id": e.id,
        "title": e.title,
        "claim": e.claim,
        "accepted": rows.iter().all(|r| r.verdict != Verdict::Fail),
        "figures": figures,
        "note": rows.iter().filter_map(Row::note).collect::<Vec<String>>().join("; "),
        "seconds": seconds,
        "rows": rows.iter().map(Row::json).collect::<Vec<Value>>(),
    })
}

fn list(chosen: &[&Experiment], as_json: bool) -> Result<Outcome> {
    if as_json {
        let all: Vec<Value> =
            chosen.iter().map(|e| json!({"id": e.id, "title": e.title, "claim": e.claim})).collect();
        return print(&format!("{}\n", json!({ "experiments": all })));
    }
    let mut t = Table::new();
    for e in chosen {
        t.row([e.id, e.title]);
    }
    print(&t.render())
}

fn choose(ids: &[String]) -> Result<Vec<&'static Experiment>> {
    if ids.is_empty() {
        return Ok(experiments().collect());
    }
    let mut chosen = Vec::new();
    for id in ids {
        let before = chosen.len();
        chosen.extend(experiments().filter(|e| e.id.eq_ignore_ascii_case(id) || e.is_of(id)));
        if chosen.len() == before {
            let known: Vec<&str> = experiments().map(|e| e.id).collect();
            return Err(error(
                format!("no experiment is called `{id}`"),
                format!("known ones: {}", known.join(", ")),
            ));
        }
    }
    Ok(chosen)
}

fn render(e: &Experiment, rows: &[Row], seconds: f64, paint: Paint) -> String {
    let mut t = Table::with_header(&["what", "ours", "reference", "accept", ""]);
    for r in rows {
        let verdict = match r.verdict {
            Verdict::Pass => paint.good("pass"),
            Verdict::Fail => paint.bad("FAIL"),
            Verdict::Shown => String::new(),
        };
        t.row([r.what.clone(), r.ours(), r.reference.clone(), r.accept.clone(), verdict]);
    }
    let head = paint.bold(&format!("{}: {}", e.id, e.title));
    let claim = paint.dim(&format!("{} ({})", e.claim, duration(seconds)));
    let remarks: String = rows
        .iter()
        .filter(|r| !r.why.is_empty())
        .filter_map(Row::note)
        .map(|n| format!("{}\n", paint.dim(&n)))
        .collect();
    format!("{head}\n{claim}\n{}{remarks}\n", t.render())
}
