//! A file on disk that knows what was written to it. In tests the disk can be full.

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An open file.
#[derive(Debug)]
pub struct Disk {
    file: File,
    length: u64,
    sum: Hasher,
}

/// How far a file was: its length and the CRC-32 of its bytes up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    length: u64,
    sum: u32,
}

/// A file that begins with the bytes of a mark.
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    length: u64,
    sum: Hasher,
}

impl Mark {
    /// The file at `path`, if it begins with the marked bytes. A link is none: it would lead the writing elsewhere.
    pub fn find(self, path: &Path) -> Option<Found> {
        if path.is_symlink() {
            return None;
        }
        let mut left = File::open(path).ok()?.take(self.length);
        let (mut sum, mut length, mut piece) = (Hasher::new(), 0, vec![0; 1 << 16]);
        loop {
            match left.read(&mut piece).ok()? {
                0 => break,
                n => {
                    sum.update(&piece[..n]);
                    length += n as u64;
                }
            }
        }
        let same = length == self.length && sum.clone().finalize() == self.sum;
        same.then(|| Found { path: path.into(), length, sum })
    }
}

impl Disk {
    /// A new file, in place of an old one or of a link of that name.
    pub fn create(path: &Path) -> io::Result<Disk> {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Disk { file, length: 0, sum: Hasher::new() })
    }

    /// Goes on behind the marked bytes of a file; what follows them is cut off.
    pub fn resume(found: Found) -> io::Result<Disk> {
        let mut file = OpenOptions::new().write(true).open(&found.path)?;
        file.set_len(found.length)?;
        file.seek(SeekFrom::Start(found.length))?;
        Ok(Disk { file, length: found.length, sum: found.sum })
    }

    /// How far it is. What was written so far survives a loss of power.
    pub fn mark(&self) -> io::Result<Mark> {
        self.file.sync_data()?;
        Ok(Mark { length: self.length, sum: self.sum.clone().finalize() })
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        let bytes = full::what_fits(bytes)?;
        let n = self.file.write(bytes)?;
        self.length += n as u64;
        self.sum.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// How much fits on the disk of a test.
#[cfg(test)]
pub mod full {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// From now on so many bytes fit on the disk of this thread.
    pub fn after(bytes: usize) {
        LEFT.set(bytes);
    }

    /// How many bytes still fit.
    pub fn left() -> usize {
        LEFT.get()
    }

    /// The part of `bytes` that still fits.
    pub fn what_fits(bytes: &[u8]) -> io::Result<&[u8]> {
        let n = bytes.len().min(LEFT.get());
        if n == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        LEFT.set(LEFT.get() - n);
        Ok(&bytes[..n])
    }
}
