//! Snapshots of a run and `run --resume`: a run that was killed or interrupted goes on from its last snapshot as if nothing
//! had happened.
//!
//! The snapshot says how far every file of the run was. Files only grow, so that what stands behind these marks, from steps
//! after the snapshot, is cut off and written again.

use super::contacts::ContactMark;
use crate::clock::Elapsed;
use crate::failure::{Result, error};
use crate::output::disk::Mark;
use crate::summary::{Energies, Kept, Summary};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stiction::Model;
use stiction_io::snapshot::{Origin, Snapshot};

/// The snapshot of the run in a folder.
pub const SNAPSHOT: &str = "run.snapshot";

/// Seconds of wall time between two snapshots, unless asked for otherwise.
pub const DEFAULT_EVERY: f64 = 10.0;

/// Making snapshots takes at most one part in so many of the time of a run.
const SHARE: u32 = 20;

/// What a snapshot holds beside the memory and the frames that wait.
#[derive(Serialize, Deserialize)]
pub struct Notes {
    /// Marks of the files in the folder.
    pub files: FileMarks,
    /// Mark of the table of contacts, if there is one.
    pub contacts: Option<ContactMark>,
    /// What the steps so far reached.
    summary: Kept,
    /// Bits of the energies.
    energies: [u64; 7],
    /// Bits of the seconds so far, on the wall and of the processor.
    took: (u64, Option<u64>),
}

/// How far the files in the folder are.
#[derive(Serialize, Deserialize)]
pub struct FileMarks {
    /// `report.csv`.
    pub report: Mark,
    /// `sensors.csv`.
    pub sensors: Mark,
    /// `recording.stic`, without the frames that wait.
    pub recording: Mark,
    /// Bits of the frames per second, and the frames so far.
    pub pace: (u64, u64),
    /// The last step is in the recording.
    pub complete: bool,
}

impl Notes {
    /// At the end of a step.
    pub fn new(
        files: FileMarks,
        contacts: Option<ContactMark>,
        summary: &Summary,
        energies: &Energies,
        took: Elapsed,
    ) -> Notes {
        let took = (took.wall.to_bits(), took.cpu.map(f64::to_bits));
        Notes { files, contacts, summary: summary.into(), energies: energies.bits(), took }
    }

    /// What the steps before the snapshot reached and took.
    pub fn so_far(&self) -> (Summary, Energies, Elapsed) {
        let took = Elapsed { wall: f64::from_bits(self.took.0), cpu: self.took.1.map(f64::from_bits) };
        ((&self.summary).into(), Energies::from_bits(self.energies), took)
    }
}

/// Writes the snapshots of a run.
pub struct Snapshots {
    path: PathBuf,
    origin: Origin,
    every: Duration,
    next: Instant,
}

impl Snapshots {
    /// Into this folder, every so many seconds of wall time.
    pub fn new(dir: &Path, origin: Origin, every: f64) -> Snapshots {
        // A century is longer than any run.
        let every = Duration::from_secs_f64(every.min(100.0 * 365.25 * 86400.0));
        Snapshots { path: dir.join(SNAPSHOT), origin, every, next: Instant::now() + every }
    }

    /// Whether it is time for one.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Writes one, begun at `start`.
    pub fn write(&mut self, snapshot: &Snapshot, start: Instant) -> Result<()> {
        snapshot.write(&self.path, self.origin)?;
        let now = Instant::now();
        self.next = now + self.every.max(SHARE * (now - start));
        Ok(())
    }
}

/// The snapshot in the folder of a run that was killed or interrupted, and its notes.
pub fn read(dir: &Path, origin: Origin, model: &Model) -> Result<(Snapshot, Notes)> {
    let path = dir.join(SNAPSHOT);
    if !path.exists() {
        let has = |name: &str| dir.join(name).exists();
        return Err(if has("report.csv") && !has("report.csv.part") {
            error(
                format!("{}: the run there is finished, nothing is left to resume", dir.display()),
                "leave --resume out to run the scene anew",
            )
        } else {
            error(
                format!("{}: holds no snapshot of a run ({SNAPSHOT})", dir.display()),
                "give the folder of a run that was killed or interrupted; without --resume the run starts anew",
            )
        });
    }
    let snapshot = Snapshot::read(&path, origin, model)?;
    let notes: Notes = serde_json::from_slice(&snapshot.notes).map_err(|e| {
        error(
            format!("{}: holds notes without sense: {e}", path.display()),
            "start the run anew, without --resume",
        )
    })?;
    Ok((snapshot, notes))
}
