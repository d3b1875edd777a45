//! Running a scene only for its recording.

use crate::args::{SceneArgs, StepArgs};
use crate::failure::Result;
use crate::summary::Summary;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;
use stiction::{SimSettings, Simulation};
use stiction_io::recording::Writer;

/// What became of a scene that was recorded.
pub struct Recorded {
    /// What its steps reached.
    pub summary: Summary,
    /// Time reached [s].
    pub time: f64,
}

/// When to stop.
#[derive(Clone, Copy)]
pub struct Until {
    /// At this time of the simulation [s]; at that of the scene without it.
    pub time: Option<f64>,
    /// After this much time of the wall clock [s].
    pub wall: f64,
}

/// Frames of a recording per second of simulation, and how many there are so far.
pub struct Pace {
    rate: f64,
    frames: u64,
}

impl Pace {
    /// `rate` frames per second.
    pub fn new(rate: f64) -> Pace {
        Pace { rate, frames: 0 }
    }

    /// One that goes on after so many frames.
    pub fn after(rate: f64, frames: u64) -> Pace {
        Pace { rate, frames }
    }

    /// Frames per second, and how many there were or were skipped.
    pub fn so_far(&self) -> (f64, u64) {
        (self.rate, self.frames)
    }

    /// Whether a frame is due at `t` [s]. The sum of many steps may fall short of it by rounding.
    pub fn is_due(&self, t: f64) -> bool {
        t * self.rate >= self.frames as f64 * (1.0 - 1e-9)
    }

    /// A frame was written at `t` [s]; those that fell between two steps are skipped.
    pub fn wrote(&mut self, t: f64) {
        self.frames = self.frames.max((t * self.rate) as u64) + 1;
    }
}

/// What a recording says about its run.
pub fn about(name: &str, title: &str, dt: f64, settings: &SimSettings) -> Value {
    json!({
        "scene": name, "title": title, "dt": dt,
        "solver": settings.solver.name(), "scheme": settings.scheme.name(),
    })
}

/// Runs a scene and records `rate` frames per second of simulation, the first and the last state always. `bar` counts
/// steps.
pub fn record(
    scene: &SceneArgs,
    step: &StepArgs,
    until: Until,
    rate: f64,
    path: &Path,
    bar: &ProgressBar,
) -> Result<Recorded> {
    let p = scene.prepare(step)?;
    let (dt, settings) = (p.loaded.dt, p.loaded.settings);
    let end = until.time.unwrap_or(p.loaded.duration);
    let mut writer = Writer::create(path, &p.model, about(&p.name, &p.loaded.title, dt, &settings))?;
    let mut sim = Simulation::new(p.model, settings);
    writer.write_frame(&sim)?;
    let mut pace = Pace::new(rate);
    pace.wrote(0.0);
    let (mut summary, mut complete) = (Summary::default(), true);
    bar.set_length((end / dt).ceil() as u64);
    let started = Instant::now();
    while sim.state().t < end * (1.0 - 1e-9) && started.elapsed().as_secs_f64() < until.wall {
        // A run that stops is shown as far as it came.
        let Ok(report) = sim.step(dt) else { break };
        summary.add(report);
        complete = pace.is_due(sim.state().t);
        if complete {
            writer.write_frame(&sim)?;
            pace.wrote(sim.state().t);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !complete {
        writer.write_frame(&sim)?;
    }
    writer.finish()?;
    Ok(Recorded { summary, time: sim.state().t })
}
