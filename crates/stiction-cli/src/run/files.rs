//! The files of a run: `report.csv` and `sensors.csv` with one row per step, `recording.stic` with frames at a chosen
//! rate, and `view.html`, which plays it.

use super::resume::{FileMarks, SNAPSHOT};
use crate::failure::{Result, error, unwritable};
use crate::output::disk::Disk;
use crate::output::{OutputDir, OutputFile, csv_line};
use crate::record::Pace;
use std::fmt::Write as _;
use std::path::Path;
use stiction::steppers::{Energy, StageTimes};
use stiction::{Model, Simulation};
use stiction_io::{page, recording};

/// Open files of a run.
pub struct RunFiles {
    report: OutputFile,
    sensors: OutputFile,
    /// `None` once it is complete.
    recording: Option<recording::Writer<Disk>>,
    /// Dropped after its files, whose last bytes are written when they are dropped.
    dir: OutputDir,
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

const REPORT: &str = "report.csv";
const SENSORS: &str = "sensors.csv";
const RECORDING: &str = "recording.stic";
const PAGE: &str = "view.html";

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
        let mut report = dir.file(REPORT)?;
        report.put(&csv_line(REPORT_COLUMNS.iter().chain(StageTimes::NAMES.iter())))?;
        let mut sensors = dir.file(SENSORS)?;
        let mut header = vec!["step".to_string(), "t".to_string()];
        for s in &model.sensors {
            header.extend(s.columns().iter().map(|c| format!("{}.{c}", s.name)));
        }
        sensors.put(&csv_line(&header))?;
        let (disk, path) = (dir.open(RECORDING)?, dir.part_path(RECORDING));
        let recording = Some(recording::Writer::on(disk, &path, &recording::Header::new(model, extra))?);
        let (pace, complete) = (Pace::new(rate), true);
        let (values, line) = (Vec::new(), String::new());
        Ok(RunFiles { report, sensors, recording, dir, pace, complete, values, line })
    }

    /// Goes on with the files of a run that was interrupted, from where they were at its snapshot.
    pub fn resume(
        dir: &Path,
        (model, rate, extra): (&Model, f64, serde_json::Value),
        marks: &FileMarks,
        paused: &recording::Paused,
    ) -> Result<RunFiles> {
        let (then, frames) = (f64::from_bits(marks.pace.0), marks.pace.1);
        if then != rate {
            return Err(error(
                format!("{}: the run there records {then} frames per second, not {rate}", dir.display()),
                format!("give --record-rate {then}, or start the run anew"),
            ));
        }
        let mut dir = OutputDir::create(dir)?;
        // All are looked for before one is touched.
        let report = dir.find(REPORT, marks.report)?;
        let sensors = dir.find(SENSORS, marks.sensors)?;
        let frames_so_far = dir.find(RECORDING, marks.recording)?;
        let report = dir.resume_file(REPORT, report)?;
        let sensors = dir.resume_file(SENSORS, sensors)?;
        let disk = dir.resume(RECORDING, frames_so_far)?;
        let header = recording::Header::new(model, extra);
        let writer = recording::Writer::resume(disk, &dir.part_path(RECORDING), &header, paused)?;
        let (pace, complete) = (Pace::after(rate, frames), marks.complete);
        let (values, line) = (Vec::new(), String::new());
        Ok(RunFiles { report, sensors, recording: Some(writer), dir, pace, complete, values, line })
    }

    /// How far the files are, and the frames that wait for their chunk.
    pub fn mark(&mut self) -> Result<(FileMarks, recording::Paused)> {
        let path = self.dir.part_path(RECORDING);
        let Some(writer) = &self.recording else {
            return Err(error("the recording is complete", "take no snapshot after the end of a run"));
        };
        let (rate, frames) = self.pace.so_far();
        let marks = FileMarks {
            report: self.report.mark()?,
            sensors: self.sensors.mark()?,
            recording: writer.output().mark().map_err(|e| unwritable(&path, &e))?,
            pace: (rate.to_bits(), frames),
            complete: self.complete,
        };
        Ok((marks, writer.pause()?))
    }

    /// The state before the first step.
    pub fn start(&mut self, sim: &Simulation) -> Result<()> {
        // The run begins: what it writes is worth keeping, and a snapshot of a run before it has lost its files.
        self.dir.keep();
        self.remove_snapshot()?;
        self.frame(sim)
    }

    fn remove_snapshot(&self) -> Result<()> {
        let path = self.dir.path().join(SNAPSHOT);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(unwritable(&path, &e)),
            _ => Ok(()),
        }
    }

    fn frame(&mut self, sim: &Simulation) -> Result<()> {
        self.pace.wrote(sim.state().t);
        self.complete = true;
        match &mut self.recording {
            Some(r) => Ok(r.write_frame(sim)?),
            None => Ok(()),
        }
    }

    /// One row for the step just taken, which left this energy.
    pub fn add(&mut self, sim: &Simulation, energy: Energy) -> Result<()> {
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
            energy.kinetic,
            energy.potential,
            energy.elastic,
            energy.total(),
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

    /// Completes the files and gives them their names; says how many bytes recording and page have. The snapshot goes with the
    /// end of the run, unless it `can_go_on`.
    pub fn finish(mut self, sim: &Simulation, can_go_on: bool) -> Result<[u64; 2]> {
        if !self.complete {
            self.frame(sim)?;
        }
        if let Some(r) = self.recording.take() {
            r.finish()?;
            self.dir.is_whole(RECORDING);
        }
        self.report.close()?;
        self.dir.is_whole(REPORT);
        self.sensors.close()?;
        self.dir.is_whole(SENSORS);
        let disk = self.dir.open(PAGE)?;
        page::write_to(disk, &self.dir.part_path(PAGE), &[self.dir.part_path(RECORDING)])?;
        let size = |name| std::fs::metadata(self.dir.part_path(name)).map_or(0, |m| m.len());
        let sizes = [RECORDING, PAGE].map(size);
        if !can_go_on {
            self.remove_snapshot()?;
        }
        self.dir.finish()?;
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::disk::full;
    use std::fs;
    use std::path::PathBuf;
    use stiction::SimSettings;
    use stiction_io::gallery;
    use stiction_io::recording::{Ending, Reader};

    /// Steps of the run: few, since it is made anew for every size of the disk.
    const STEPS: usize = 2;
    const TABLES: [&str; 2] = ["report.csv", "sensors.csv"];

    fn run(dir: &Path, model: &Model) -> Result<[u64; 2]> {
        let mut sim = Simulation::new(model.clone(), SimSettings::default());
        let mut files = RunFiles::create(dir, model, 1e9, serde_json::Value::Null)?;
        files.start(&sim)?;
        for _ in 0..STEPS {
            sim.step(0.01).unwrap();
            files.add(&sim, sim.energy())?;
        }
        files.finish(&sim, false)
    }

    fn names(dir: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Every row is as long as the header; says how many there are.
    fn rows(path: PathBuf) -> usize {
        let text = fs::read_to_string(&path).unwrap();
        let columns = text.lines().next().unwrap().split(',').count();
        assert!(
            text.ends_with('\n') && text.lines().all(|l| l.split(',').count() == columns),
            "{path:?}: {text}"
        );
        text.lines().count() - 1
    }

    /// Frames of a recording whose header is whole, and how it ends.
    fn frames(path: PathBuf) -> (usize, Ending) {
        let mut reader = Reader::open(&path).unwrap();
        (reader.by_ref().count(), reader.ending().unwrap())
    }

    #[test]
    fn a_disk_that_is_full_after_n_bytes_costs_no_whole_row_and_no_whole_file() {
        let model = gallery::find("box-on-plane").unwrap().load(&[]).unwrap().compile().unwrap();
        // Thousands of small files: in memory where the system has a place for it.
        let memory = Some(PathBuf::from("/dev/shm")).filter(|p| p.is_dir());
        let top =
            memory.unwrap_or_else(std::env::temp_dir).join(format!("stiction-full-{}", std::process::id()));
        let dir = top.join("r");
        const ROOM: usize = 1 << 30;
        full::after(ROOM);
        run(&dir, &model).unwrap();
        let total = ROOM - full::left();
        assert_eq!(names(&dir), ["recording.stic", "report.csv", "sensors.csv", "view.html"]);
        let size = |name: &str| fs::metadata(dir.join(name)).unwrap().len() as usize;
        let page = size("view.html");
        // Wall times have changing numbers of digits, so a run may be a little longer than another.
        let most = total - page + 100;
        let header =
            fs::read(dir.join("recording.stic")).unwrap().windows(4).position(|w| w == b"FRMS").unwrap();
        fs::remove_dir_all(&top).unwrap();

        let (mut kept_whole, mut kept_parts) = (0, 0);
        for n in (0..most).chain([most + page / 2, total - 200]) {
            full::after(n);
            assert!(run(&dir, &model).is_err(), "{n} of {total} bytes are not enough");
            let names = names(&dir);
            assert!(
                names.iter().all(|name| name.contains(".unfinished.") && !name.contains(".html")),
                "{n}: {names:?}"
            );
            let whole = TABLES.iter().filter(|t| {
                let path = dir.join(t.replace(".csv", ".unfinished.csv"));
                path.exists() && rows(path) == STEPS
            });
            let whole = whole.count();
            let recording = dir.join("recording.unfinished.stic");
            // The header is written first.
            assert_eq!(recording.exists(), n >= header, "{n}: {names:?}");
            if n >= header {
                let (count, ending) = frames(recording);
                assert!(
                    (count == 0 && ending == Ending::CutOff) || count == STEPS + 1,
                    "{n}: {count} frames, {ending:?}"
                );
                if ending == Ending::Finished && whole == 2 {
                    kept_whole += 1;
                }
            }
            kept_parts += usize::from(!names.is_empty());
            // A second run that succeeds is not disturbed by what the first one left.
            if n % 500 == 0 {
                full::after(ROOM);
                run(&dir, &model).unwrap();
                assert_eq!(self::names(&dir).iter().filter(|n| !n.contains("unfinished")).count(), 4);
            }
            let _ = fs::remove_dir_all(&top);
        }
        assert!(kept_whole >= 2 && kept_parts > most / 2, "{kept_whole} and {kept_parts} of {most}");
        full::after(usize::MAX);
    }

    #[test]
    fn results_of_an_earlier_run_outlive_one_that_breaks_off() {
        let model = gallery::find("box-on-plane").unwrap().load(&[]).unwrap().compile().unwrap();
        let dir = std::env::temp_dir().join(format!("stiction-earlier-{}", std::process::id()));
        run(&dir, &model).unwrap();
        let before = fs::read(dir.join("report.csv")).unwrap();
        full::after(1500);
        assert!(run(&dir, &model).is_err());
        full::after(usize::MAX);
        assert_eq!(fs::read(dir.join("report.csv")).unwrap(), before);
        fs::remove_dir_all(&dir).unwrap();
    }
}
