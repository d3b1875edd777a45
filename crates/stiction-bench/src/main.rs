//! Published results and hard cases, each row with ours beside the paper's or the closed form.

// Units stand in brackets, which are no links.
#![allow(rustdoc::broken_intra_doc_links)]
// They panic where the stream cannot be written: `output::print`, `failure::note` and `failure::say` do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod add;
mod check_docs;
mod cond;
mod cr;
mod memory;
mod nsn;
mod own;
mod record;
mod robots;
mod row;
mod runs;

use clap::{Parser, Subcommand};
use record::{Record, Run};
use row::{Row, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{self, Outcome, Result, error, say};
use stiction_cli::output::{OutputDir, csv_line, print};
use stiction_cli::svg::Plot;
use stiction_cli::table::{Paint, Table, duration};

/// Reproduce published results and compare solvers
#[derive(Parser)]
#[command(
    name = "stiction-bench",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples, each after `cargo run --release -p stiction-bench --`:
  --list
  NSN-stickslip COND-F14
  NSN --json
  --quick --out results --json
  --fit walk --out results
  check-docs --list
  record results.json                    after `CR-speed --json > results.json`

Exit codes: 0 good; 1 a row missed its mark, a fit its goal, or a figure of the documentation its row; 2 bad input or unwritable output."
)]
struct BenchArgs {
    #[command(subcommand)]
    command: Option<Other>,

    /// Experiments to run, or the paper of a group (NSN, COND, …); all of them by default
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// List the experiments
    #[arg(long, conflicts_with_all = ["quick", "out"])]
    list: bool,

    /// Run a fit that no task file can say: `sheet`, `walk` or `controller`
    #[arg(long, value_name = "TASK", conflicts_with_all = ["ids", "list", "quick"])]
    fit: Option<String>,

    /// Start the fit from the values of an earlier one
    #[arg(long, value_name = "FILE", requires = "fit")]
    resume: Option<PathBuf>,

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

/// What is no experiment.
#[derive(Subcommand)]
enum Other {
    /// Check that the figures of the documentation are those that experiments printed
    CheckDocs {
        /// Put the recorded figures in place of those that differ
        #[arg(long)]
        write: bool,

        /// List the lines with figures that no row prints, by where they are from
        #[arg(long)]
        list: bool,

        /// The repository
        #[arg(long, value_name = "DIR", default_value = ".")]
        root: PathBuf,
    },
    /// Take the rows of runs, as `--json` prints them, into the record that the documentation is checked against
    Record {
        /// What `stiction-bench … --json` printed
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,

        /// The repository
        #[arg(long, value_name = "DIR", default_value = ".")]
        root: PathBuf,
    },
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
static GROUPS: &[&[Experiment]] = &[
    nsn::EXPERIMENTS,
    cond::EXPERIMENTS,
    cr::EXPERIMENTS,
    add::EXPERIMENTS,
    own::EXPERIMENTS,
    own::collide_soft::EXPERIMENTS,
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
        say(&format!("{}: {text}", self.id));
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

fn main() -> ExitCode {
    let args = BenchArgs::parse();
    failure::install_handler();
    let outcome = match (&args.command, &args.fit) {
        (Some(Other::CheckDocs { write, list, root }), _) => check_docs::check_docs(root, *write, *list),
        (Some(Other::Record { files, root }), _) => record::record(root, files),
        (None, Some(task)) => {
            robots::tasks::fit(task, args.resume.as_deref(), args.out.as_deref(), args.json)
        }
        (None, None) => bench(&args),
    };
    failure::exit_code(outcome)
}

/// Runs experiments.
fn bench(args: &BenchArgs) -> Result<Outcome> {
    let chosen = choose(&args.ids)?;
    if args.list {
        return list(&chosen, args.json);
    }
    let out = args.out.as_deref().map(OutputDir::create).transpose()?;
    let mut context = Context { quick: args.quick, id: "", out };
    let paint = Paint::for_stdout();
    // Where this is run in the repository, rows that come or go are named: the documentation may stand on them.
    let record = Record::load(Path::new("."))?;
    let run = if args.quick { Run::Quick } else { Run::Full };
    let mut results = Vec::new();
    let mut failed = 0;
    for e in chosen {
        context.id = e.id;
        context.note(e.title);
        let watch = Stopwatch::start();
        // One that breaks fails, and the others still run.
        let rows = (e.run)(&mut context).unwrap_or_else(|f| {
            vec![Row::remark("broke", "the experiment broke", f.to_string()).accept("runs to its end", false)]
        });
        let took = watch.elapsed();
        check_ids(e, &rows)?;
        if record.knows(e.id, run) {
            let printed = rows.iter().map(|r| r.id.as_str());
            record.differences(e.id, run, printed).iter().for_each(|d| failure::note(d));
        }
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

/// Every row has a name of its own.
fn check_ids(e: &Experiment, rows: &[Row]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match rows.iter().find(|r| !r.has_good_id() || !seen.insert(&r.id)) {
        Some(r) => {
            let problem = format!("{}: the row `{}` has the name `{}`", e.id, r.what, r.id);
            Err(error(problem, "names are unique, in lower case, with slashes between their parts"))
        }
        None => Ok(()),
    }
}

/// `accepted` says that nothing failed; `rows` are keyed by `EXPERIMENT/row`, `note` has the remarks.
fn as_json(e: &Experiment, rows: &[Row], seconds: f64) -> Value {
    let by_id: serde_json::Map<String, Value> =
        rows.iter().map(|r| (format!("{}/{}", e.id, r.id), r.json())).collect();
    json!({
        "id": e.id,
        "title": e.title,
        "claim": e.claim,
        "accepted": rows.iter().all(|r| r.verdict != Verdict::Fail),
        "note": rows.iter().filter_map(Row::note).collect::<Vec<String>>().join("; "),
        "seconds": seconds,
        "rows": by_id,
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
