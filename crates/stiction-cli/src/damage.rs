//! What a command says about a recording that is cut off or damaged: it works with what is whole, and tells.

use crate::failure::{Outcome, Result, say};
use std::path::Path;
use stiction_io::recording::{Ending, Reader};

/// What a look through a recording finds.
pub struct Looked {
    /// Time of the last whole frame [s]; 0 without any.
    pub last: f64,
    /// Good, or not whole.
    pub outcome: Outcome,
}

/// Reads a recording to its end and says what is wrong with it.
pub fn look_through(path: &Path) -> Result<Looked> {
    let mut reader = Reader::open(path)?;
    let last = reader.by_ref().last().map_or(0.0, |f| f.t);
    Ok(Looked { last, outcome: judge(path, &reader) })
}

/// Says what is wrong with a recording that was read to its end.
pub fn judge<R: std::io::Read>(path: &Path, reader: &Reader<R>) -> Outcome {
    match reader.ending().unwrap_or(Ending::CutOff).complaint() {
        None => Outcome::Good,
        Some(complaint) => {
            say(&format!("error: {} {complaint}; {} frames are whole", path.display(), reader.frames()));
            Outcome::Unsolved
        }
    }
}
