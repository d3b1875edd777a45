//! `stiction run`: simulate a scene, write its report, and say how exact the answer is.

use crate::args::{Prepared, SceneArgs, StepArgs, count, law, other_law, positive, time_span};
use crate::clock::{Elapsed, Stopwatch};
use crate::failure::{Outcome, Result, error, note, say};
use crate::interrupt::Interrupt;
use crate::output::print;
use crate::progress;
use crate::record::about;
use crate::summary::{Energies, Summary, took_line};
use crate::table::{Paint, Table, duration, number};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use stiction::papers::{cond, cr};
use stiction::solvers::exact;
use stiction::{Model, SimSettings, Simulation, SolverKind, Status, StepError};
use stiction_io::snapshot::{Origin, Snapshot};

mod contacts;
mod dump;
mod files;
mod resume;

use contacts::ContactFile;
use dump::ProblemDump;
use files::{DEFAULT_RATE, RunFiles};
use resume::{DEFAULT_EVERY, Notes, Snapshots};

/// Arguments of `run`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction run heavy-stack
  stiction run arch --time 2 --json
  stiction run my.toml --set gravity=[0,0,-1.62] --dt 0.001 --out moon
  stiction run my.toml --set gravity=[0,0,-1.62] --dt 0.001 --out moon --resume    after Ctrl+C, a crash or kill -9
  stiction run wall --solver pgs --max-iter 50 --dump-problem hard")]
pub struct RunArgs {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    step: StepArgs,

    /// How long to simulate [s]; the scene has its own
    #[arg(long, value_name = "S", value_parser = time_span, allow_hyphen_values = true, conflicts_with = "steps")]
    time: Option<f64>,

    /// How many steps to take
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    steps: Option<u64>,

    /// Write report.csv, sensors.csv, recording.stic and view.html into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Go on with the run in the folder of --out, which was killed or interrupted, from its last snapshot. Give the scene and
    /// the options as before; --time and --steps may be longer. The result is that of a run that was never interrupted
    #[arg(long, requires = "out", conflicts_with = "dump_problem")]
    resume: bool,

    /// Seconds of wall time between two snapshots in the folder of --out, from which --resume goes on
    #[arg(long, value_name = "S", value_parser = positive, allow_hyphen_values = true, default_value_t = DEFAULT_EVERY,
        requires = "out")]
    snapshot_every: f64,

    /// Frames of the recording per second of simulation; a number above 1/dt records every step
    #[arg(long, value_name = "HZ", value_parser = positive, allow_hyphen_values = true, default_value_t = DEFAULT_RATE,
        requires = "out")]
    record_rate: f64,

    /// Write every contact of every step to this file (.csv or .json): bodies, features, point, normal, gap, force on
    /// the first body
    #[arg(long, value_name = "FILE")]
    contacts: Option<PathBuf>,

    /// Write the contact problems of the first 10 steps that do not converge into this folder, for `solve`
    #[arg(long, value_name = "DIR")]
    dump_problem: Option<PathBuf>,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
}

/// Runs a scene.
pub fn run(args: &RunArgs) -> Result<Outcome> {
    let prepared = args.scene.prepare(&args.step)?;
    let threads = args.step.start_threads()?;
    let steps = args
        .steps
        .unwrap_or_else(|| step_count(args.time.unwrap_or(prepared.loaded.duration), prepared.loaded.dt));
    let origin = Origin::of(&prepared.loaded);
    let Prepared { loaded, model, name } = prepared;
    let settings = loaded.settings;
    if args.dump_problem.is_some() && !settings.solver.solves_problems() {
        return Err(error(
            format!("--dump-problem: steps of `{}` solve no contact problem", settings.solver.name()),
            "leave it out, or choose another solver",
        ));
    }
    let about = about(&name, &loaded.title, loaded.dt, &settings);
    let before = match &args.out {
        Some(dir) if args.resume => Some(go_on(dir, args, origin, &model, steps)?),
        _ => None,
    };
    let files = args.out.as_deref().map(|dir| match &before {
        Some((snapshot, notes)) => {
            RunFiles::resume(dir, (&model, args.record_rate, about), &notes.files, &snapshot.recording)
        }
        None => RunFiles::create(dir, &model, args.record_rate, about),
    });
    let mut files = files.transpose()?;
    let mut snapshots = args.out.as_deref().map(|dir| Snapshots::new(dir, origin, args.snapshot_every));
    let contacts = args.contacts.as_deref().map(|path| {
        match before.as_ref().and_then(|(_, notes)| notes.contacts.as_ref()) {
            Some(mark) => ContactFile::resume(path, mark),
            None => ContactFile::create(path),
        }
    });
    let mut contacts = contacts.transpose()?;
    let mut dump = args.dump_problem.as_deref().map(ProblemDump::create).transpose()?;
    for w in &model.warnings {
        note(w);
    }

    let mut sim = Simulation::new(model, settings);
    let mut summary = Summary::default();
    let mut energy = sim.energy();
    let mut energies = Energies::new(energy);
    let mut broken: Option<StepError> = None;
    let bar = progress::bar(steps, "steps");
    let mut took_before = Elapsed { wall: 0.0, cpu: Some(0.0) };
    let resumed = before.as_ref().map(|(snapshot, _)| snapshot.memory.step);
    if let Some((snapshot, notes)) = before {
        sim.restore(&snapshot.memory);
        (summary, energies, took_before) = notes.so_far();
        note(&format!("goes on after step {} of {steps}", summary.steps));
        bar.set_position(summary.steps);
    } else if let Some(f) = &mut files {
        f.start(&sim)?;
    }
    let mut writing = 0.0;
    let interrupt = Interrupt::listen();
    let watch = Stopwatch::start();
    for _ in summary.steps..steps {
        if interrupt.signal().is_some() {
            break;
        }
        match sim.step(loaded.dt) {
            Ok(report) => {
                summary.add(report);
                energy = sim.energy();
                energies.add(energy);
            }
            Err(e) => {
                broken = Some(e);
                break;
            }
        }
        if summary.first_failed == Some(sim.report().step) {
            bar.suspend(|| note(&failure_note(&sim)));
        }
        if let Some(f) = &mut files {
            let start = Instant::now();
            f.add(&sim, energy)?;
            writing += start.elapsed().as_secs_f64();
        }
        if let Some(c) = &mut contacts {
            c.add(&sim)?;
        }
        if let Some(d) = &mut dump {
            d.look_at(&sim)?;
        }
        if let (Some(f), Some(s)) = (&mut files, &mut snapshots)
            && s.is_due()
        {
            let took = took_before + watch.elapsed();
            writing += keep(&sim, f, s, &mut contacts, (&summary, &energies, took))?;
        }
        if summary.failed > 0 && !bar.is_hidden() {
            bar.set_message(format!("{} not converged", summary.failed));
        }
        bar.inc(1);
    }
    let took = took_before + watch.elapsed();
    // One that comes with the last step interrupts nothing.
    let interrupted = interrupt.signal().filter(|_| summary.steps < steps && broken.is_none());
    bar.finish_and_clear();
    if let (Some(f), Some(s), true) = (&mut files, &mut snapshots, interrupted.is_some()) {
        writing += keep(&sim, f, s, &mut contacts, (&summary, &energies, took))?;
    }
    let start = Instant::now();
    let sizes = files.map(|f| f.finish(&sim, interrupted.is_some())).transpose()?;
    writing += start.elapsed().as_secs_f64();
    if let Some(c) = contacts {
        c.finish()?;
    }
    let dumped = dump.map_or(0, ProblemDump::finish);

    let sim_seconds = summary.steps as f64 * loaded.dt;
    let outcome = match interrupted {
        Some((signal, _)) => Outcome::Interrupted(signal),
        None if summary.failed > 0 || broken.is_some() => Outcome::Unsolved,
        None => Outcome::Good,
    };
    if let Some((_, name)) = interrupted {
        let on = if args.out.is_some() { "; --resume goes on from there" } else { "" };
        let text = format!(
            "interrupted by {name} after {} of {steps} steps; the files end there{on}",
            summary.steps
        );
        note(&text);
    }
    if let Some(e) = &broken {
        say(&format!("error: the run stopped in step {} of {steps}: {e}", summary.steps + 1));
    }
    if args.json {
        let mut map = Map::new();
        map.insert("scene".into(), json!(name));
        map.insert("title".into(), json!(loaded.title));
        map.insert("solver".into(), json!(settings.solver.name()));
        map.insert("law".into(), json!(law(settings.solver)));
        map.insert("scheme".into(), json!(settings.scheme.name()));
        map.insert("tolerance".into(), json!(tolerance(&settings)));
        map.insert("dt".into(), json!(loaded.dt));
        map.insert("threads".into(), json!(threads));
        map.extend(summary.json(sim_seconds, took));
        map.insert("energy".into(), energies.json());
        let (values, columns) = sensors(&sim);
        map.insert("sensors".into(), values);
        map.insert("sensor_columns".into(), columns);
        if let Some([recording, page]) = sizes {
            let files =
                json!({ "recording_bytes": recording, "page_bytes": page, "writing_seconds": writing });
            map.insert("files".into(), files);
        }
        map.insert("error".into(), json!(broken.as_ref().map(|e| e.to_string())));
        map.insert("interrupted".into(), json!(interrupted.map(|(_, name)| name)));
        map.insert("resumed_after_step".into(), json!(resumed));
        print(&format!("{}\n", Value::Object(map)))?;
        return Ok(outcome);
    }

    let paint = Paint::for_stdout();
    let mut table = Table::new();
    table.row([
        "solver".to_string(),
        format!("{}, {}, dt {} s", settings.solver.name(), settings.scheme.name(), number(loaded.dt)),
    ]);
    let factor = crate::summary::ratio(sim_seconds, took.wall);
    table.row([
        "time".to_string(),
        format!(
            "{} steps = {} s in {} ({}× real time)",
            summary.steps,
            number(sim_seconds),
            took_line(took),
            number(factor)
        ),
    ]);
    summary.fill(&mut table, paint);
    if let Some(x) = tolerance(&settings) {
        let meaning = format!("below {x:e} of the velocity scale (docs/notation.md)");
        table.row(["converged".to_string(), meaning]);
    }
    table.row(["energy".to_string(), energies.line()]);
    let mut values = Vec::new();
    for (i, s) in sim.model().sensors.iter().enumerate() {
        values.clear();
        sim.read_sensor(i, &mut values);
        let shown: Vec<String> =
            s.columns().iter().zip(&values).map(|(c, v)| format!("{c} {}", number(*v))).collect();
        table.row([s.name.clone(), shown.join("  ")]);
    }
    let mut text = format!("{}\n{}", paint.bold(&format!("{name}: {}", loaded.title)), table.render());
    if let Some((_, name)) = interrupted {
        text += &paint.bad(&format!("interrupted by {name} after {} of {steps} steps\n", summary.steps));
    }
    text += &verdict(&summary, broken.is_some(), settings.solver, paint);
    match &args.dump_problem {
        Some(dir) if dumped > 0 => text += &format!("wrote {}: {dumped} of their problems\n", dir.display()),
        None if summary.failed > 0 => {
            text += "--dump-problem DIR keeps their problems for `stiction solve`\n"
        }
        _ => {}
    }
    if let Some(file) = &args.contacts {
        text += &format!("wrote {}: every contact of every step\n", file.display());
    }
    if let Some(dir) = &args.out {
        let [recording, page] = sizes.unwrap_or_default().map(|n| number(n as f64 / 1e6));
        text += &format!(
            "wrote {}: report.csv, sensors.csv, recording.stic ({recording} MB), view.html ({page} MB; open it in a \
             browser), in {} ({} % of the run)\n",
            dir.display(),
            duration(writing),
            number(100.0 * writing / took.wall.max(1e-9)),
        );
    }
    print(&text)?;
    Ok(outcome)
}

/// The snapshot that a run goes on from, unless there is nothing left to do.
fn go_on(dir: &Path, args: &RunArgs, origin: Origin, model: &Model, steps: u64) -> Result<(Snapshot, Notes)> {
    let (snapshot, notes) = resume::read(dir, origin, model)?;
    let done = snapshot.memory.step;
    if done >= steps {
        return Err(error(
            format!("{}: the run there has taken {done} steps, and {steps} are asked for", dir.display()),
            "ask for a longer --time or more --steps, or leave --resume out to run the scene anew",
        ));
    }
    match (&args.contacts, &notes.contacts) {
        (Some(file), None) => Err(error(
            format!("--contacts {}: the run that is to be resumed wrote no contacts", file.display()),
            "leave --contacts out, or start the run anew",
        )),
        (None, Some(_)) => Err(error(
            "the run that is to be resumed wrote its contacts to a file, which goes on, too",
            "give --contacts with the same file as before",
        )),
        _ => Ok((snapshot, notes)),
    }
}

/// Writes a snapshot; says how long that took [s].
fn keep(
    sim: &Simulation,
    files: &mut RunFiles,
    snapshots: &mut Snapshots,
    contacts: &mut Option<ContactFile>,
    (summary, energies, took): (&Summary, &Energies, Elapsed),
) -> Result<f64> {
    let start = Instant::now();
    let (marks, recording) = files.mark()?;
    let contacts = contacts.as_mut().map(ContactFile::mark).transpose()?;
    let notes = Notes::new(marks, contacts, summary, energies, took);
    let notes = serde_json::to_vec(&notes).expect("whole numbers are JSON");
    snapshots.write(&Snapshot { memory: sim.snapshot(), recording, notes }, start)?;
    Ok(start.elapsed().as_secs_f64())
}

/// What went wrong in a step that did not converge.
fn failure_note(sim: &Simulation) -> String {
    let r = sim.report();
    let what = match &r.status {
        Status::Infeasible(contacts) => {
            let mut pairs: Vec<String> = contacts.iter().map(|&c| sim.describe_block(c)).collect();
            pairs.sort();
            pairs.dedup();
            format!("no velocities satisfy these contacts: {}", pairs.join(", "))
        }
        _ => format!("the solver ran out of budget at a natural map of {} m/s", number(r.residuals.natural)),
    };
    format!("step {} at t = {} s did not converge: {what}", r.step, number(r.t))
}

/// Steps that cover `time`, not counting a last one that rounding alone would ask for.
fn step_count(time: f64, dt: f64) -> u64 {
    (time / dt * (1.0 - 1e-12)).ceil().max(0.0) as u64
}

/// Velocity error below which a step counts as converged, relative to the velocity scale, where it is known here.
fn tolerance(s: &SimSettings) -> Option<f64> {
    s.solver_settings.tolerance.or(match s.solver {
        SolverKind::Exact | SolverKind::Auto => Some(exact::Settings::stepping().tolerance),
        SolverKind::Realtime => Some(exact::Settings::realtime().tolerance),
        SolverKind::Pgs
        | SolverKind::Apgd
        | SolverKind::NonsmoothNewton
        | SolverKind::Cond
        | SolverKind::Ccs
        | SolverKind::NonlinearNewton
        | SolverKind::Penalty => None,
        SolverKind::CondE => Some(cond::CondESettings::default().tolerance),
        SolverKind::ConjugateResidual => Some(cr::Settings::TOLERANCE),
    })
}

/// The last values of every sensor, and the names of these values.
fn sensors(sim: &Simulation) -> (Value, Value) {
    let (mut values, mut columns) = (Map::new(), Map::new());
    for (i, s) in sim.model().sensors.iter().enumerate() {
        let mut v = Vec::new();
        sim.read_sensor(i, &mut v);
        values.insert(s.name.clone(), json!(v));
        columns.insert(s.name.clone(), json!(s.columns()));
    }
    (Value::Object(values), Value::Object(columns))
}

/// One sentence: may the answer be trusted?
fn verdict(s: &Summary, broken: bool, solver: SolverKind, paint: Paint) -> String {
    let mut text = if broken {
        paint.bad("the run stopped early: see the error above")
    } else if s.failed > 0 {
        let first = s.first_failed.unwrap_or(0);
        paint.bad(&format!("{} of {} steps did not converge, the first is step {first}", s.failed, s.steps))
    } else if s.steps == 0 {
        "no step was taken".into()
    } else {
        paint.good("every step converged")
    };
    if !solver.solves_coulomb() {
        text += &format!("\n{} solves {}", solver.name(), other_law(solver));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_adds_no_step() {
        assert_eq!(step_count(1.0, 0.01), 100);
        assert_eq!(step_count(10.0, 1.0 / 120.0), 1200);
        assert_eq!(step_count(0.3, 0.1), 3);
        assert_eq!(step_count(0.35, 0.1), 4);
    }
}
