//! The files of a run, one row per step: `report.csv`, `sensors.csv`, `recording.stic`.

use crate::failure::Result;
use crate::output::{OutputDir, OutputFile, csv_line, csv_number};
use std::path::Path;
use stiction::sim::StageTimes;
use stiction::{Model, Simulation};
use stiction_io::recording;

/// Open files of a run.
pub struct RunFiles {
    dir: OutputDir,
    report: OutputFile,
    sensors: OutputFile,
    recording: recording::Writer,
    values: Vec<f64>,
}

const REPORT_COLUMNS: [&str; 20] = [
    "step",
    "t",
    "contacts",
    "joints",
    "islands",
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
    "wall",
];

impl RunFiles {
    /// Makes the folder and the files in it, under names that do not count yet; `extra` goes into the recording.
    pub fn create(dir: &Path, model: &Model, extra: serde_json::Value) -> Result<RunFiles> {
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
        Ok(RunFiles { dir, report, sensors, recording, values: Vec::new() })
    }

    /// The state before the first step.
    pub fn start(&mut self, sim: &Simulation) -> Result<()> {
        Ok(self.recording.write_frame(sim)?)
    }

    /// One row for the step just taken.
    pub fn add(&mut self, sim: &Simulation) -> Result<()> {
        let r = sim.report();
        let mut row = vec![
            r.step.to_string(),
            csv_number(r.t),
            r.contacts.to_string(),
            r.joints.to_string(),
            r.islands.to_string(),
            r.iterations.to_string(),
            r.factorizations.to_string(),
            r.status.word().to_string(),
        ];
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
            r.times.total(),
        ];
        row.extend(numbers.iter().chain(&r.times.to_array()).map(|x| csv_number(*x)));
        self.report.put(&csv_line(&row))?;

        self.values.clear();
        for i in 0..sim.model().sensors.len() {
            sim.read_sensor(i, &mut self.values);
        }
        let mut row = vec![r.step.to_string(), csv_number(r.t)];
        row.extend(self.values.iter().map(|x| csv_number(*x)));
        self.sensors.put(&csv_line(&row))?;
        Ok(self.recording.write_frame(sim)?)
    }

    /// Completes the files and gives them their names.
    pub fn finish(self) -> Result<()> {
        self.report.close()?;
        self.sensors.close()?;
        self.recording.finish()?;
        self.dir.finish()
    }
}
