//! An output folder whose files appear complete or not at all.
//!
//! Files are written as `NAME.part` and renamed together at the end; what an error leaves behind is removed again,
//! the folder included if it was made here.

use crate::failure::{Outcome, Result, error, unwritable};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A folder that is being filled.
pub struct OutputDir {
    dir: PathBuf,
    /// The outermost folder that did not exist before.
    made: Option<PathBuf>,
    names: Vec<String>,
}

impl OutputDir {
    /// Makes the folder where it does not exist and checks that files can be made in it.
    pub fn create(dir: &Path) -> Result<OutputDir> {
        let made = dir.ancestors().take_while(|a| !a.as_os_str().is_empty() && !a.exists()).last();
        let out = OutputDir { dir: dir.into(), made: made.map(Into::into), names: Vec::new() };
        fs::create_dir_all(dir).map_err(|e| unwritable(dir, &e))?;
        Ok(out)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Where to write the file `name` until [`finish`](OutputDir::finish) gives it that name, which must be free for
    /// a file: better to hear of it before a long run than after.
    pub fn part(&mut self, name: &str) -> Result<PathBuf> {
        not_a_folder(&self.dir.join(name))?;
        self.names.push(name.into());
        Ok(self.part_path(name))
    }

    /// A buffered file that gets its name at the end.
    pub fn file(&mut self, name: &str) -> Result<OutputFile> {
        let path = self.part(name)?;
        let file = File::create(&path).map_err(|e| unwritable(&path, &e))?;
        Ok(OutputFile { file: BufWriter::new(file), path })
    }

    /// Writes a whole file that gets its name at the end.
    pub fn write(&mut self, name: &str, content: &str) -> Result<()> {
        let mut f = self.file(name)?;
        f.put(content)?;
        f.close()
    }

    /// Gives every file its name, or none of them.
    pub fn finish(mut self) -> Result<()> {
        for (i, name) in self.names.iter().enumerate() {
            let to = self.dir.join(name);
            if let Err(e) = fs::rename(self.part_path(name), &to) {
                for done in &self.names[..i] {
                    // The error that matters is the first one.
                    let _ = fs::remove_file(self.dir.join(done));
                }
                return Err(unwritable(&to, &e));
            }
        }
        self.names.clear();
        self.made = None;
        Ok(())
    }

    /// Where a file is until it gets its name.
    pub fn part_path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.part"))
    }
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        for name in &self.names {
            // The file may not exist yet, and nothing better can be done about one that stays.
            let _ = fs::remove_file(self.part_path(name));
        }
        if let Some(made) = &self.made {
            // Only empty folders go: upwards from the innermost to the one that was made first.
            for folder in self.dir.ancestors() {
                if fs::remove_dir(folder).is_err() || folder == made {
                    break;
                }
            }
        }
    }
}

/// A buffered file of an [`OutputDir`].
pub struct OutputFile {
    file: BufWriter<File>,
    path: PathBuf,
}

impl OutputFile {
    /// Appends text.
    pub fn put(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(|e| unwritable(&self.path, &e))
    }

    /// Writes out what is buffered.
    pub fn close(mut self) -> Result<()> {
        self.file.flush().map_err(|e| unwritable(&self.path, &e))
    }
}

/// Prints to standard output; a reader that went away (`| head`) is no error.
pub fn print(text: &str) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error(format!("standard output cannot be written: {e}"), "check where it is sent to"))
        }
        _ => Ok(Outcome::Good),
    }
}

/// Checks that [`write_file`] will be able to write `path`, before the work whose result goes there.
pub fn check_target(path: &Path) -> Result<()> {
    not_a_folder(path)?;
    let part = part_beside(path);
    File::create(&part).and_then(|_| fs::remove_file(&part)).map_err(|e| unwritable(path, &e))
}

fn not_a_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        let problem = format!("{}: cannot be written: it is a folder", path.display());
        return Err(error(problem, "remove or rename the folder, or choose another place"));
    }
    Ok(())
}

fn part_beside(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

/// Writes a whole file, complete or not at all.
pub fn write_file(path: &Path, content: &str) -> Result<()> {
    write_bytes(path, content.as_bytes())
}

/// Writes a whole file of bytes, complete or not at all.
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<()> {
    let part = part_beside(path);
    fs::write(&part, content).and_then(|()| fs::rename(&part, path)).map_err(|e| {
        // What was written of it must not stay; it may not exist.
        let _ = fs::remove_file(&part);
        unwritable(path, &e)
    })
}

/// A number of a CSV file: as short as reading it back exactly allows.
pub fn csv_number(x: f64) -> String {
    format!("{x:?}")
}

/// One line of a CSV file; texts with commas, quotes or line ends are quoted.
pub fn csv_line<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let mut line = String::new();
    for (i, cell) in cells.into_iter().enumerate() {
        if i > 0 {
            line.push(',');
        }
        let cell = cell.as_ref();
        if cell.contains([',', '"', '\n', '\r']) {
            line += &format!("\"{}\"", cell.replace('"', "\"\""));
        } else {
            line += cell;
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("stiction-output-{}-{name}", std::process::id()))
    }

    #[test]
    fn files_appear_together_at_the_end() {
        let dir = fresh("finish");
        let mut out = OutputDir::create(&dir).unwrap();
        out.write("a.txt", "1").unwrap();
        assert!(!dir.join("a.txt").exists());
        out.finish().unwrap();
        assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "1");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn an_unfinished_folder_leaves_nothing() {
        let dir = fresh("drop");
        let mut out = OutputDir::create(&dir.join("deep/er")).unwrap();
        out.write("a.txt", "1").unwrap();
        drop(out);
        assert!(!dir.exists());
    }

    #[test]
    fn one_name_that_is_taken_gives_no_file_its_name() {
        let dir = fresh("taken");
        let mut out = OutputDir::create(&dir).unwrap();
        out.write("a.txt", "1").unwrap();
        out.write("b.txt", "2").unwrap();
        fs::create_dir(dir.join("b.txt")).unwrap();
        assert!(out.file("b.txt").is_err());
        assert!(out.finish().is_err());
        let left: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["b.txt"]);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_folder_that_was_there_stays_with_its_files() {
        let dir = fresh("stay");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("old"), "x").unwrap();
        drop(OutputDir::create(&dir).unwrap());
        assert!(dir.join("old").exists());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(csv_line(["a", "b,c", "d\"e"]), "a,\"b,c\",\"d\"\"e\"\n");
    }
}
