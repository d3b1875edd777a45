//! Writing files so that nobody ever sees half of one.

use crate::error::{Error, Result};
use std::fs::File;
use std::io;
use std::path::Path;

/// Writes beside `path` first and renames when all is well; removes the rest otherwise.
pub(crate) fn whole_file(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    // A link that stands there must not lead the writing elsewhere; there is one only if somebody put it there.
    let _ = std::fs::remove_file(&part);
    let done = File::create_new(&part)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| std::fs::rename(&part, path));
    done.map_err(|e| {
        // Best effort: the error that matters is the first one.
        let _ = std::fs::remove_file(&part);
        Error::writing(path, &e)
    })
}
