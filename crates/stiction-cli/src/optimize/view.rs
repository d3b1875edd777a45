//! What a motion looked like before and after a fit: two recordings and a page that plays them side by side.

use crate::failure::{Result, error};
use crate::output::OutputDir;
use serde_json::json;
use std::path::Path;
use stiction::diff::{Motion, ParamSet, Tape};
use stiction::steppers::penalty::System;
use stiction::{SimSettings, Simulation};
use stiction_io::page;
use stiction_io::recording::Writer;

/// Frames per second of a recording.
const RATE: f64 = 60.0;

fn record(path: &Path, title: &str, system: &mut System, set: &mut ParamSet, steps: usize) -> Result<()> {
    let h = system.time_step();
    let header = json!({ "scene": title, "title": title, "dt": h, "solver": "penalty" });
    let mut writer = Writer::create(path, system.model(), header)?;
    let mut sim = Simulation::new(system.model().clone(), SimSettings::default());
    let every = (1.0 / (RATE * h)).round().max(1.0) as usize;
    // A motion that breaks off is shown up to there.
    let Ok(mut motion) = Motion::run(system, set, steps, Tape::Full) else {
        return Ok(writer.finish()?);
    };
    for i in (0..=steps).step_by(every) {
        sim.set_state(motion.state(i).map_err(|e| error(e, "change the task"))?);
        writer.write_frame(&sim)?;
    }
    Ok(writer.finish()?)
}

/// Writes `before.stic`, `after.stic` and `view.html`.
pub fn compare(
    out: &mut OutputDir,
    system: &mut System,
    set: &mut ParamSet,
    steps: usize,
    (start, found): (&[f64], &[f64]),
) -> Result<()> {
    let mut files = Vec::new();
    for (name, x) in [("before", start), ("after", found)] {
        let path = out.part(&format!("{name}.stic"))?;
        set.apply(system, x).map_err(|e| error(e, "change the bounds of the task"))?;
        record(&path, name, system, set, steps)?;
        out.is_whole(&format!("{name}.stic"));
        files.push(path);
    }
    let page_path = out.part("view.html")?;
    Ok(page::write(&page_path, &files)?)
}
