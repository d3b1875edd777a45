//! `stiction testspeed`: how fast a scene steps, and what the speed bought.

use crate::args::{SceneArgs, StepArgs, count, law};
use crate::clock::Stopwatch;
use crate::failure::{Outcome, Result, note, say};
use crate::interrupt::Interrupt;
use crate::output::print;
use crate::progress;
use crate::summary::{Summary, ratio, took_line};
use crate::table::{Paint, Table, duration, number};
use clap::Args;
use serde_json::{Value, json};
use stiction::{Simulation, StepError};

/// Arguments of `testspeed`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction testspeed wall
  stiction testspeed heavy-stack --steps 2000 --threads 1 --json")]
pub struct TestspeedArgs {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    step: StepArgs,

    /// Steps to measure
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..),
        allow_negative_numbers = true)]
    steps: u64,

    /// Steps before the measurement, which are not counted
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count::<u64>, allow_negative_numbers = true)]
    warmup: u64,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Measures a scene.
pub fn testspeed(args: &TestspeedArgs) -> Result<Outcome> {
    let prepared = args.scene.prepare(&args.step)?;
    let threads = args.step.start_threads()?;
    let loaded = prepared.loaded;
    let mut sim = Simulation::new(prepared.model, loaded.settings);
    let bar = progress::bar(args.warmup.saturating_add(args.steps), "steps");
    let stopped = |e: StepError, step: u64| {
        say(&format!("error: the run stopped after {step} steps: {e}"));
        Ok(Outcome::Unsolved)
    };
    for k in 0..args.warmup {
        if let Err(e) = sim.step(loaded.dt) {
            return stopped(e, k);
        }
        bar.inc(1);
    }
    let mut summary = Summary::default();
    let interrupt = Interrupt::listen();
    let watch = Stopwatch::start();
    for k in 0..args.steps {
        if interrupt.signal().is_some() {
            break;
        }
        match sim.step(loaded.dt) {
            Ok(report) => summary.add(report),
            Err(e) => return stopped(e, args.warmup + k),
        }
        bar.inc(1);
    }
    let took = watch.elapsed();
    bar.finish_and_clear();
    let interrupted = interrupt.signal().filter(|_| summary.steps < args.steps);
    if let Some((_, name)) = interrupted {
        note(&format!("interrupted by {name} after {} of {} steps", summary.steps, args.steps));
    }

    let (steps, sim_seconds) = (summary.steps as f64, summary.steps as f64 * loaded.dt);
    let outcome = match interrupted {
        Some((signal, _)) => Outcome::Interrupted(signal),
        None if summary.failed > 0 => Outcome::Unsolved,
        None => Outcome::Good,
    };
    if args.json {
        let mut map = summary.json(sim_seconds, took);
        map.insert("scene".into(), json!(prepared.name));
        map.insert("solver".into(), json!(loaded.settings.solver.name()));
        map.insert("law".into(), json!(law(loaded.settings.solver)));
        map.insert("threads".into(), json!(threads));
        map.insert("interrupted".into(), json!(interrupted.map(|(_, name)| name)));
        map.insert("warmup_steps".into(), json!(args.warmup));
        map.insert("steps_per_second".into(), json!(ratio(steps, took.wall)));
        map.insert("wall_per_step".into(), json!(ratio(took.wall, steps)));
        map.insert("cpu_per_step".into(), json!(took.cpu.map(|c| ratio(c, steps))));
        print(&format!("{}\n", Value::Object(map)))?;
        return Ok(outcome);
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new();
    table.row(["speed".into(), format!("{} steps/s", number(ratio(steps, took.wall)))]);
    table.row([
        "real time".into(),
        format!("{}× at dt {} s", number(ratio(sim_seconds, took.wall)), number(loaded.dt)),
    ]);
    table
        .row(["total".into(), format!("{} for {} steps, {threads} threads", took_line(took), summary.steps)]);
    table.row(["wall per step".into(), duration(ratio(took.wall, steps))]);
    summary.fill_stages(&mut table);
    if let Some(cpu) = took.cpu {
        table.row(["CPU per step".into(), duration(ratio(cpu, steps))]);
    }
    summary.fill(&mut table, paint);
    let head = format!("{}, solver {}", prepared.name, loaded.settings.solver.name());
    print(&format!("{}\n{}", paint.bold(&head), table.render()))?;
    Ok(outcome)
}
