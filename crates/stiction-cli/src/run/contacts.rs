//! `run --contacts FILE`: every contact of every step, by pair and feature, as CSV or JSON.

use crate::failure::{Result, error};
use crate::output::disk::Mark;
use crate::output::{OutputDir, OutputFile, csv_line, csv_number};
use serde_json::json;
use std::path::Path;
use stiction::Simulation;

/// A table of contacts that is being written.
pub struct ContactFile {
    file: OutputFile,
    /// Dropped after its file, whose last bytes are written when it is dropped.
    dir: OutputDir,
    form: Form,
    /// Some contact was written.
    any: bool,
}

/// How far a table of contacts is, and whether it has any.
pub type ContactMark = (Mark, bool);

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Csv,
    Json,
}

const COLUMNS: [&str; 16] = [
    "step",
    "t",
    "a",
    "b",
    "feature_a",
    "feature_b",
    "x",
    "y",
    "z",
    "nx",
    "ny",
    "nz",
    "gap",
    "fx",
    "fy",
    "fz",
];

/// What the name of a file says.
fn form_and_name(path: &Path) -> Result<(Form, &str)> {
    let form = match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Form::Csv,
        Some("json") => Form::Json,
        _ => {
            let problem = format!("{}: is neither .csv nor .json", path.display());
            return Err(error(problem, "choose a name that ends in .csv or .json"));
        }
    };
    let name = path.file_name().and_then(|n| n.to_str()).ok_or_else(|| {
        error(format!("{}: cannot be a file name", path.display()), "use letters, digits and marks")
    })?;
    Ok((form, name))
}

impl ContactFile {
    /// Starts the file; the ending of its name tells the form.
    pub fn create(path: &Path) -> Result<ContactFile> {
        let (form, name) = form_and_name(path)?;
        let mut dir = OutputDir::of_file(path)?;
        let mut file = dir.file(name)?;
        file.put(&match form {
            Form::Csv => csv_line(COLUMNS),
            Form::Json => "[".to_string(),
        })?;
        Ok(ContactFile { file, dir, form, any: false })
    }

    /// Goes on with the file of a run that was interrupted.
    pub fn resume(path: &Path, &(mark, any): &ContactMark) -> Result<ContactFile> {
        let (form, name) = form_and_name(path)?;
        let mut dir = OutputDir::of_file(path)?;
        let found = dir.find(name, mark)?;
        let file = dir.resume_file(name, found)?;
        Ok(ContactFile { file, dir, form, any })
    }

    /// How far the file is.
    pub fn mark(&mut self) -> Result<ContactMark> {
        Ok((self.file.mark()?, self.any))
    }

    /// The contacts of the step just taken; forces are those on the first body.
    pub fn add(&mut self, sim: &Simulation) -> Result<()> {
        self.dir.keep();
        let r = sim.report();
        let name = |s: stiction::coords::ShapeId| {
            let model = sim.model();
            model.name_of(model.whole(model.shapes[s.index()].owner)).to_string()
        };
        for (c, f) in sim.contacts() {
            let (a, b) = (name(c.key.shape_a), name(c.key.shape_b));
            let features = [c.key.feature_a, c.key.feature_b].map(|k| format!("{k:x}"));
            let (p, n) = (c.point, c.normal());
            match self.form {
                Form::Csv => {
                    let [fa, fb] = features;
                    let mut row = vec![r.step.to_string(), csv_number(r.t), a, b, fa, fb];
                    let numbers = [p.x, p.y, p.z, n.x, n.y, n.z, c.gap, f.x, f.y, f.z];
                    row.extend(numbers.iter().map(|x| csv_number(*x)));
                    self.file.put(&csv_line(&row))?;
                }
                Form::Json => {
                    let row = json!({
                        "step": r.step, "t": r.t, "a": a, "b": b, "feature_a": features[0],
                        "feature_b": features[1], "point": p.to_array(), "normal": n.to_array(), "gap": c.gap,
                        "force": f.to_array(),
                    });
                    self.file.put(&format!("{}\n{row}", if self.any { "," } else { "" }))?;
                }
            }
            self.any = true;
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<()> {
        if self.form == Form::Json {
            self.file.put("\n]\n")?;
        }
        self.file.close()?;
        self.dir.finish()
    }
}
