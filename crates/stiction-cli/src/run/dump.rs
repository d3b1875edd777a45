//! Contact problems of steps that did not converge, for replay by `stiction solve`.

use crate::failure::{Result, note};
use crate::output::OutputDir;
use std::path::Path;
use stiction::Simulation;
use stiction_io::problem;

/// Most problems that are kept: the first ones tell the most.
const MOST: usize = 10;

/// A folder of problems.
pub struct ProblemDump {
    dir: OutputDir,
    written: usize,
}

impl ProblemDump {
    /// Makes the folder.
    pub fn create(dir: &Path) -> Result<ProblemDump> {
        Ok(ProblemDump { dir: OutputDir::create(dir)?, written: 0 })
    }

    /// Keeps the problem of the step just taken if it did not converge.
    pub fn look_at(&mut self, sim: &Simulation) -> Result<()> {
        let report = sim.report();
        if report.status.is_solved() || self.written == MOST {
            return Ok(());
        }
        let Some(p) = sim.problem() else { return Ok(()) };
        self.written += 1;
        // Each file is whole by itself, so that a run that is cut off keeps those it has.
        let path = self.dir.path().join(format!("step-{:05}.npz", report.step));
        Ok(problem::write_problem(&path, p)?)
    }

    /// Says how many there are, and returns it; a folder that was made for none goes again.
    pub fn finish(self) -> usize {
        let (n, path) = (self.written, self.dir.path().display());
        note(&format!("{n} problem{} written to {path}", if n == 1 { "" } else { "s" }));
        n
    }
}
