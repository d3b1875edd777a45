//! Reading files with a limit: devices, pipes and endless files are refused, not read until memory ends.

use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

/// Opens a regular file, or a link to one. Anything else may have no end, or may make the caller wait for ever.
pub fn open(path: &Path) -> Result<File> {
    let reading = |e: std::io::Error| Error::reading(path, &e);
    // Opening a named pipe waits for its writer, so the kind is looked up by name first.
    regular(path, &std::fs::metadata(path).map_err(reading)?)?;
    let file = File::open(path).map_err(reading)?;
    regular(path, &file.metadata().map_err(reading)?)?;
    Ok(file)
}

/// The bytes of a regular file of at most `most` bytes; `remedy` says what to do about a larger one.
pub fn bytes(path: &Path, most: u64, remedy: &str) -> Result<Vec<u8>> {
    let too_many = |n: u64| {
        Error::at_path(path, format!("{n} bytes are too many: at most {most} are read"), remedy.to_string())
    };
    let file = open(path)?;
    let size = file.metadata().map_err(|e| Error::reading(path, &e))?.len();
    if size > most {
        return Err(too_many(size));
    }
    // The size may be wrong: files of /proc have size 0, and others grow while they are read.
    let mut out = Vec::with_capacity(size as usize);
    file.take(most + 1).read_to_end(&mut out).map_err(|e| Error::reading(path, &e))?;
    if out.len() as u64 > most {
        return Err(too_many(out.len() as u64));
    }
    Ok(out)
}

/// The same for a text in UTF-8.
pub fn text(path: &Path, most: u64, remedy: &str) -> Result<String> {
    String::from_utf8(bytes(path, most, remedy)?)
        .map_err(|_| Error::at_path(path, "is not a text file", "write it as text in UTF-8"))
}

fn regular(path: &Path, m: &Metadata) -> Result<()> {
    if m.is_file() {
        return Ok(());
    }
    let kind = if m.is_dir() { "is a folder" } else { "is no regular file but a device, pipe or socket" };
    Err(Error::at_path(
        path,
        format!("cannot be read: it {kind}"),
        "give a file; copy what comes from elsewhere to one",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_exactly_the_limit_is_read_and_one_more_byte_is_not() {
        let path = std::env::temp_dir().join(format!("stiction-read-{}", std::process::id()));
        std::fs::write(&path, [7; 10]).unwrap();
        assert_eq!(bytes(&path, 10, "").unwrap(), [7; 10]);
        let e = bytes(&path, 9, "shorten it").unwrap_err();
        assert!(e.problem().contains("at most 9") && e.remedy() == "shorten it", "{e}");
        std::fs::remove_file(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_size_is_refused_without_reading_it() {
        for path in ["/dev/zero", "/dev/null", "/"] {
            let e = bytes(Path::new(path), 1 << 40, "").unwrap_err();
            assert!(e.problem().contains("cannot be read: it is"), "{e}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_says_it_is_empty_is_read_to_the_limit() {
        // Files of /proc are regular and have size 0.
        assert!(bytes(Path::new("/proc/self/maps"), 1 << 20, "").unwrap().len() > 100);
        assert!(bytes(Path::new("/proc/self/maps"), 100, "").is_err());
    }
}
