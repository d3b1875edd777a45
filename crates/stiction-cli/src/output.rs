//! An output folder whose files appear complete or not at all.
//!
//! Files are written as `NAME.part` and renamed together at the end. Where the work breaks off, files that are whole stay
//! under names like `report.unfinished.csv`, and once [`OutputDir::keep`] was called, so does what is readable of the
//! others; the rest is removed again, the folder included if it was made here. Results of earlier runs are never touched
//! by one that breaks off.

pub mod disk;
mod lock;

use crate::failure::{Outcome, Result, error, note, unwritable};
use crate::table::Paint;
use crate::terminal::{Colours, clean};
use disk::{Disk, Found, Mark};
use lock::Lock;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stiction_io::recording::Reader;

/// The lock of a folder.
const LOCK: &str = ".stiction.lock";

/// A folder that is being filled, by this process alone.
pub struct OutputDir {
    dir: PathBuf,
    /// The outermost folder that did not exist before.
    made: Option<PathBuf>,
    files: Vec<Part>,
    /// Parts of files are worth keeping.
    keep: bool,
    /// `None` only while it is dropped.
    lock: Option<Arc<Lock>>,
}

/// A file that has not got its name yet.
struct Part {
    name: String,
    whole: bool,
}

impl OutputDir {
    /// Makes the folder where it does not exist, checks that files can be made in it, and refuses one that another
    /// process is filling.
    pub fn create(dir: &Path) -> Result<OutputDir> {
        OutputDir::locked(dir, LOCK, dir)
    }

    /// The folder of a single file, which other processes may fill with other files.
    pub fn of_file(path: &Path) -> Result<OutputDir> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        OutputDir::locked(folder, &format!(".{name}.lock"), path)
    }

    fn locked(dir: &Path, lock: &str, what: &Path) -> Result<OutputDir> {
        let made = dir.ancestors().take_while(|a| !a.as_os_str().is_empty() && !a.exists()).last();
        let made = made.map(Into::into);
        let mut out = OutputDir { dir: dir.into(), made, files: Vec::new(), keep: false, lock: None };
        fs::create_dir_all(dir).map_err(|e| unwritable(dir, &e))?;
        out.lock = Some(lock::take(dir, lock, what)?);
        Ok(out)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// From now on, what is readable of unfinished files is kept too.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Where to write the file `name` until [`finish`](OutputDir::finish) gives it that name, which must be free for
    /// a file: better to hear of it before a long run than after.
    pub fn part(&mut self, name: &str) -> Result<PathBuf> {
        not_a_folder(&self.dir.join(name))?;
        let part = self.part_path(name);
        if part.exists() || part.is_symlink() {
            // What a run that was killed left, or a link that would lead the writing elsewhere.
            fs::remove_file(&part).map_err(|e| unwritable(&part, &e))?;
        }
        self.files.push(Part { name: name.into(), whole: false });
        Ok(part)
    }

    /// Opens a file that gets its name at the end.
    pub fn open(&mut self, name: &str) -> Result<Disk> {
        let path = self.part(name)?;
        Disk::create(&path).map_err(|e| unwritable(&path, &e))
    }

    /// A buffered file that gets its name at the end.
    pub fn file(&mut self, name: &str) -> Result<OutputFile> {
        Ok(OutputFile { file: BufWriter::new(self.open(name)?), path: self.part_path(name) })
    }

    /// The file `name` of an earlier run that begins with the marked bytes: as a run that was killed left it, under its name, or
    /// as a run that broke off kept it.
    pub fn find(&self, name: &str, mark: Mark) -> Result<Found> {
        let places = [self.part_path(name), self.dir.join(name), self.dir.join(unfinished(name))];
        places.iter().find_map(|path| mark.find(path)).ok_or_else(|| {
            error(
                format!("{}: is not as the run that is to be resumed left it", self.dir.join(name).display()),
                "start the run anew, without --resume",
            )
        })
    }

    /// Goes on with a file that was [found](OutputDir::find), under its name of an unfinished one. From now on all that is readable
    /// is kept.
    pub fn resume(&mut self, name: &str, mut found: Found) -> Result<Disk> {
        not_a_folder(&self.dir.join(name))?;
        self.keep();
        let part = self.part_path(name);
        if found.path != part {
            fs::rename(&found.path, &part).map_err(|e| unwritable(&part, &e))?;
            found.path.clone_from(&part);
        }
        self.files.push(Part { name: name.into(), whole: false });
        Disk::resume(found).map_err(|e| unwritable(&part, &e))
    }

    /// The same, buffered.
    pub fn resume_file(&mut self, name: &str, found: Found) -> Result<OutputFile> {
        Ok(OutputFile { file: BufWriter::new(self.resume(name, found)?), path: self.part_path(name) })
    }

    /// Writes a whole file that gets its name at the end.
    pub fn write(&mut self, name: &str, content: &str) -> Result<()> {
        let mut f = self.file(name)?;
        f.put(content)?;
        f.close()?;
        self.is_whole(name);
        Ok(())
    }

    /// The file is complete, and is kept even if others fail.
    pub fn is_whole(&mut self, name: &str) {
        self.files.iter_mut().filter(|f| f.name == name).for_each(|f| f.whole = true);
    }

    /// Gives every file its name, or none of them.
    pub fn finish(mut self) -> Result<()> {
        for (i, file) in self.files.iter().enumerate() {
            let to = self.dir.join(&file.name);
            if let Err(e) = fs::rename(self.part_path(&file.name), &to) {
                for done in &self.files[..i] {
                    // The error that matters is the first one.
                    let _ = fs::rename(self.dir.join(&done.name), self.part_path(&done.name));
                }
                return Err(unwritable(&to, &e));
            }
        }
        self.files.clear();
        self.made = None;
        Ok(())
    }

    /// Where a file is until it gets its name.
    pub fn part_path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.part"))
    }

    /// Keeps a file of work that broke off; `None` where there is nothing worth keeping.
    fn rescue(&self, file: &Part) -> Option<String> {
        let part = self.part_path(&file.name);
        let (_, ending) = file.name.rsplit_once('.')?;
        if !file.whole {
            match ending {
                "csv" if self.keep => cut_to_lines(&part, "").ok()?,
                "json" if self.keep => cut_to_lines(&part, "\n]\n").ok()?,
                // One whose header is torn cannot be read at all.
                "stic" if self.keep => drop(Reader::open(&part).ok()?),
                _ => return None,
            }
        }
        if fs::metadata(&part).ok()?.len() == 0 {
            return None;
        }
        let name = unfinished(&file.name);
        fs::rename(&part, self.dir.join(&name)).ok()?;
        Some(if file.whole { format!("{name} (whole)") } else { name })
    }
}

/// The name of what is kept of a file of work that broke off.
fn unfinished(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}.unfinished.{ending}"),
        None => format!("{name}.unfinished"),
    }
}

/// Cuts a text after its last whole line. A list in JSON loses the comma there and gets its `end`.
fn cut_to_lines(path: &Path, end: &str) -> std::io::Result<()> {
    const PIECE: u64 = 1 << 16;
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut upto = file.metadata()?.len();
    let mut kept = 0;
    while upto > 0 && kept == 0 {
        let from = upto.saturating_sub(PIECE);
        let mut piece = vec![0; (upto - from) as usize];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut piece)?;
        if let Some(at) = piece.iter().rposition(|b| *b == b'\n') {
            let comma = usize::from(!end.is_empty() && at > 0 && piece[at - 1] == b',');
            kept = from + at as u64 + 1 - if end.is_empty() { 0 } else { 1 + comma as u64 };
        }
        upto = from;
    }
    file.set_len(kept)?;
    if kept > 0 {
        file.seek(SeekFrom::Start(kept))?;
        file.write_all(end.as_bytes())?;
    }
    Ok(())
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        let kept: Vec<String> = self.files.iter().filter_map(|f| self.rescue(f)).collect();
        for file in &self.files {
            // The file may not exist any more, and nothing better can be done about one that stays.
            let _ = fs::remove_file(self.part_path(&file.name));
        }
        if !kept.is_empty() {
            note(&format!(
                "what was written until then is kept in {}: {}",
                self.dir.display(),
                kept.join(", ")
            ));
        }
        // The lock is a file in the folder.
        self.lock = None;
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
    file: BufWriter<Disk>,
    path: PathBuf,
}

impl OutputFile {
    /// Appends text.
    pub fn put(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(|e| unwritable(&self.path, &e))
    }

    /// How far it is, with what was buffered.
    pub fn mark(&mut self) -> Result<Mark> {
        let marked = self.file.flush().and_then(|()| self.file.get_ref().mark());
        marked.map_err(|e| unwritable(&self.path, &e))
    }

    /// Writes out what is buffered; nothing may follow.
    pub fn close(&mut self) -> Result<()> {
        self.file.flush().map_err(|e| unwritable(&self.path, &e))
    }
}

/// Prints to standard output; a reader that went away (`| head`) is no error.
pub fn print(text: &str) -> Result<Outcome> {
    let colours = if Paint::for_stdout().is_on() { Colours::Kept } else { Colours::Removed };
    let mut out = std::io::stdout().lock();
    match out.write_all(clean(text, colours).as_bytes()).and_then(|()| out.flush()) {
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
    // Two processes that write one file must not write into one part.
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
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
    fn an_unfinished_folder_keeps_what_is_whole_and_nothing_else() {
        let dir = fresh("drop");
        let mut out = OutputDir::create(&dir.join("deep/er")).unwrap();
        out.file("a.csv").unwrap().put("x,y\n1,").unwrap();
        drop(out);
        assert!(!dir.exists(), "nothing was whole");
        let mut out = OutputDir::create(&dir.join("deep/er")).unwrap();
        out.file("a.csv").unwrap().put("x,y\n1,").unwrap();
        out.write("b.svg", "whole").unwrap();
        drop(out);
        assert_eq!(names(&dir.join("deep/er")), ["b.unfinished.svg"]);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn work_that_began_keeps_whole_rows() {
        let dir = fresh("rows");
        let mut out = OutputDir::create(&dir).unwrap();
        let long = "z".repeat(200_000);
        out.file("a.csv").unwrap().put("x,y\n1,2\n3").unwrap();
        out.file("b.json").unwrap().put(&format!("[\n{{}},\n{{}},\n{{\"a\": \"{long}")).unwrap();
        out.file("c.json").unwrap().put("[\n{\"a").unwrap();
        out.file("d.csv").unwrap().put("no line is whole").unwrap();
        out.file("e.html").unwrap().put("half a page\n").unwrap();
        out.keep();
        drop(out);
        assert_eq!(names(&dir), ["a.unfinished.csv", "b.unfinished.json", "c.unfinished.json"]);
        let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
        assert_eq!(text("a.unfinished.csv"), "x,y\n1,2\n");
        for (name, rows) in [("b.unfinished.json", 2), ("c.unfinished.json", 0)] {
            let list: serde_json::Value = serde_json::from_str(&text(name)).unwrap();
            assert_eq!(list.as_array().unwrap().len(), rows, "{name}");
        }
        fs::remove_dir_all(dir).unwrap();
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
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
        assert_eq!(names(&dir), ["a.unfinished.txt", "b.txt", "b.unfinished.txt"]);
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
