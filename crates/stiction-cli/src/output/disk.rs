//! A file on disk. In tests the disk can be full.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// An open file.
#[derive(Debug)]
pub struct Disk(File);

impl Disk {
    /// A new file, in place of an old one or of a link of that name.
    pub fn create(path: &Path) -> io::Result<Disk> {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        Ok(Disk(OpenOptions::new().write(true).create_new(true).open(path)?))
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        let bytes = full::what_fits(bytes)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
