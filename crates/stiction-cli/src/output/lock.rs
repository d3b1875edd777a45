//! A lock that says which process has an output folder. The system lets go of it when the process ends, however it ends.

use crate::failure::{Result, error, unwritable};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A held lock. Its file goes with it.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Closing it lets go of the lock.
    _file: File,
}

/// Locks of this process: two parts of one command may write into one folder.
static HELD: Mutex<Vec<(PathBuf, Weak<Lock>)>> = Mutex::new(Vec::new());

/// Takes the lock file `name` of the folder `dir`, for writing `what`.
pub fn take(dir: &Path, name: &str, what: &Path) -> Result<Arc<Lock>> {
    let path = dir.canonicalize().map_err(|e| unwritable(dir, &e))?.join(name);
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|l| l.1.strong_count() > 0);
    if let Some(lock) = held.iter().find(|l| l.0 == path).and_then(|l| l.1.upgrade()) {
        return Ok(lock);
    }
    loop {
        // A link of that name must not lead the writing elsewhere.
        if path.is_symlink() {
            fs::remove_file(&path).map_err(|e| unwritable(what, &e))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| unwritable(what, &e))?;
        if is_taken(&file) {
            let mut who = String::new();
            // Best effort: the other process may be about to write who it is.
            let _ = Read::by_ref(&mut file).take(400).read_to_string(&mut who);
            let who = if who.trim().is_empty() { "another process" } else { who.trim() };
            return Err(error(
                format!("{}: is being written by {who}", what.display()),
                "wait until it ends, stop it, or choose another place",
            ));
        }
        if !is_at(&file, &path) {
            // Whoever had it removed it between opening and locking.
            continue;
        }
        let command: Vec<String> = std::env::args().skip(1).take(3).collect();
        let who = format!("process {} (stiction {} …)\n", std::process::id(), command.join(" "));
        // The lock holds even where a full disk leaves it without a name.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(who.as_bytes()));
        let lock = Arc::new(Lock { path: path.clone(), _file: file });
        held.push((path, Arc::downgrade(&lock)));
        return Ok(lock);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still held, so that nobody's new lock is removed; one that stays does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// Tries to lock; file systems that know no locks grant it.
#[cfg(unix)]
fn is_taken(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    matches!(flock(file, FlockOperation::NonBlockingLockExclusive), Err(rustix::io::Errno::WOULDBLOCK))
}

/// Whether `path` still names the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata().map(id), fs::metadata(path).map(id)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn is_taken(_: &File) -> bool {
    false
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
