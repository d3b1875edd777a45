//! The files of a run: `report.csv` and `sensors.csv` with one row per step, `recording.stic` with frames at a chosen
//! rate, and `view.html`, which plays it.

use crate::failure::Result;
use crate::output::{OutputDir, OutputFile, csv_line};
use crate::record::Pace;
use std::fmt::Write as _;
use std::path::Path;
use stiction::sim::StageTimes;
use stiction::{Model, Simulation};
use stiction_io::{page, recording};

/// Open files of a run.
pub struct RunFiles {
    dir: OutputDir,
    report: OutputFile,
    sensors: OutputFile,
    recording: recording::Writer,
    pace: Pace,
    /// The last step is in the recording.
    complete: bool,
    /// Buffers of a row.
    values: Vec<f64>,
    line: String,
}

/// Appends numbers, as short as reading them back exactly allows, and ends the row. Writing to a text cannot fail.
fn end_row<'a>(line: &mut String, numbers: impl IntoIterator<Item = &'a f64>) {
    for x in numbers {
        let _ = write!(line, ",{x:?}");
    }
    line.push('\n');
}

/// Frames per second of simulation, unless asked for otherwise: as many as a screen shows.
pub const DEFAULT_RATE: f64 = 60.0;

const REPORT_COLUMNS: [&str; 24] = [
    "step",
    "t",
    "contacts",
    "joints",
    "islands",
    "asleep",
    "iterations",
    "factorizations",
    "status",
    "natural",
    "momentum",
    "penetration",
    "overlap",
    "joint_error",
    "cone",
    "misalignment",
    "kinetic",
    "potential",
    "elastic",
    "total_energy",
    "impacts",
    "held_back",
    "impacts_left",
    "wall",
];

impl RunFiles {
    /// Makes the folder and the files in it, under names that do not count yet; `extra` goes into the recording.
    pub fn create(dir: &Path, model: &Model, rate: f64, extra: serde_json::Value) -> Result<RunFiles> {
        let mut dir = OutputDir::create(dir)?;
        let mut report = dir.file("report.csv")?;
        report.put(&csv_line(REPORT_COLUMNS.iter().chain(StageTimes::NAMES.iter())))?;
        let mut sensors = dir.file("sensors.csv")?;
        let mut header = vec!["step".to_string(), "t".to_string()];
        for s in &model.sensors {
            header.extend(s.columns().iter().map(|c| format!("{}.{c}", s.name)));
        }
        sensors.put(&csv_line(&header))?;
        let recording = recording::Writer::create(&dir.part("recording.stic")?, model, extra)?;
        let (pace, complete) = (Pace::new(rate), true);
        let (values, line) = (Vec::new(), String::new());
        Ok(RunFiles { dir, report, sensors, recording, pace, complete, values, line })
    }

    /// The state before the first step.
    pub fn start(&mut self, sim: &Simulation) -> Result<()> {
        self.frame(sim)
    }

    fn frame(&mut self, sim: &Simulation) -> Result<()> {
        self.pace.wrote(sim.state().t);
        self.complete = true;
        Ok(self.recording.write_frame(sim)?)
    }

    /// One row for the step just taken.
    pub fn add(&mut self, sim: &Simulation) -> Result<()> {
        let r = sim.report();
        let line = &mut self.line;
        line.clear();
        let _ = write!(line, "{},{:?},{},{},{},{}", r.step, r.t, r.contacts, r.joints, r.islands, r.asleep);
        let _ = write!(line, ",{},{},{}", r.iterations, r.factorizations, r.status.word());
        let numbers = [
            r.residuals.natural,
            r.residuals.momentum,
            r.residuals.penetration,
            r.overlap,
            r.joint_error,
            r.residuals.cone,
            r.residuals.misalignment,
            r.energy.kinetic,
            r.energy.potential,
            r.energy.elastic,
            r.energy.total(),
            r.impacts as f64,
            r.held_back,
            r.impacts_left as f64,
            r.times.total(),
        ];
        end_row(line, numbers.iter().chain(&r.times.to_array()));
        self.report.put(line)?;

        self.values.clear();
        for i in 0..sim.model().sensors.len() {
            sim.read_sensor(i, &mut self.values);
        }
        line.clear();
        let _ = write!(line, "{},{:?}", r.step, r.t);
        end_row(line, &self.values);
        self.sensors.put(line)?;
        self.complete = false;
        if self.pace.is_due(sim.state().t) {
            self.frame(sim)?;
        }
        Ok(())
    }

    /// Completes the files and gives them their names; says how many bytes recording and page have.
    pub fn finish(mut self, sim: &Simulation) -> Result<[u64; 2]> {
        if !self.complete {
            self.frame(sim)?;
        }
        self.report.close()?;
        self.sensors.close()?;
        self.recording.finish()?;
        let view = self.dir.part("view.html")?;
        page::write(&view, &[self.dir.part_path("recording.stic")])?;
        let size = |name| std::fs::metadata(self.dir.part_path(name)).map_or(0, |m| m.len());
        let sizes = ["recording.stic", "view.html"].map(size);
        self.dir.finish()?;
        Ok(sizes)
    }
}
