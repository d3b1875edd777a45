//! NumPy's archives (.npz): a zip file of arrays.

use super::npy::{self, Array};
use crate::error::{Error, Result, known_names};
use crate::read;
use crate::write::whole_file;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Largest archive that is read [bytes].
const MOST_BYTES: u64 = 2 << 30;

/// Most numbers of all arrays that are read together: a gigabyte of them. Each array has a limit of its own, but a
/// small archive of deflated zeros may hold many.
const MOST_NUMBERS: usize = 1 << 27;

/// An archive, of which arrays are read by name.
pub(crate) struct Archive {
    file: String,
    zip: ZipArchive<Cursor<Vec<u8>>>,
    pub names: Vec<String>,
    /// How many more numbers may be read.
    left: usize,
}

impl Archive {
    pub fn open(path: &Path) -> Result<Archive> {
        Archive::new(read::bytes(path, MOST_BYTES, "split the problem")?, &path.display().to_string())
    }

    pub fn new(bytes: Vec<u8>, file: &str) -> Result<Archive> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| {
            Error::new(
                file,
                format!("is not a whole .npz archive: {e}"),
                "save it with numpy.savez or savez_compressed",
            )
        })?;
        let names =
            zip.file_names().filter_map(|n| n.ok()?.strip_suffix(".npy").map(str::to_owned)).collect();
        Ok(Archive { file: file.into(), zip, names, left: MOST_NUMBERS })
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    /// An error about an array.
    pub fn error(&self, name: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(format!("{}: array `{name}`", self.file), problem, remedy)
    }

    /// An error about the archive.
    pub fn whole(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(&self.file, problem, remedy)
    }

    /// Any array.
    pub fn array(&mut self, name: &str) -> Result<Array> {
        if !self.has(name) {
            let known = known_names(name, "arrays", self.names.iter().map(String::as_str));
            return Err(self.error(name, "is missing", known));
        }
        let read = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(mut entry) => npy::read(&mut entry, self.left),
            Err(e) => Err(format!("it cannot be unpacked: {e}")),
        };
        let array = read.map_err(|e| self.error(name, e, "save it again with numpy.savez"))?;
        self.left -= array.values.len();
        Ok(array)
    }

    /// An array of finite numbers.
    pub fn floats(&mut self, name: &str) -> Result<Array> {
        let a = self.array(name)?;
        match a.values.iter().position(|x| !x.is_finite()) {
            Some(i) => {
                let e = format!("element {i} is {}", a.values[i]);
                Err(self.error(name, e, "all numbers must be finite"))
            }
            None => Ok(a),
        }
    }

    /// An array of whole numbers from 0 to `most`.
    pub fn indices(&mut self, name: &str, most: usize) -> Result<Vec<u32>> {
        let a = self.array(name)?;
        if !a.integers {
            return Err(self.error(name, "holds floats", "save indices as integers"));
        }
        let most = most.min(u32::MAX as usize - 1);
        match a.values.iter().position(|&x| !(0.0..=most as f64).contains(&x)) {
            Some(i) => {
                let e = format!("element {i} is {}, which is not between 0 and {most}", a.values[i]);
                Err(self.error(name, e, "check the shape of the sparse matrix; indices count from 0"))
            }
            None => Ok(a.values.iter().map(|&x| x as u32).collect()),
        }
    }
}

/// Writes named arrays; the file appears only when it is whole.
pub(crate) fn write(path: &Path, arrays: &[(&str, Vec<u8>)]) -> Result<()> {
    whole_file(path, |file| {
        let mut zip = ZipWriter::new(file);
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        for (name, bytes) in arrays {
            zip.start_file(format!("{name}.npy"), options)?;
            zip.write_all(bytes)?;
        }
        zip.finish()?;
        Ok(())
    })
}
