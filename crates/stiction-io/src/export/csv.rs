//! Numbers of every frame as a table.

use crate::error::Result;
use crate::recording::Reader;
use crate::write::whole_file;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

/// Writes time, columns of the report, sensors, and the pose of every body, one row per frame.
pub fn csv<R: Read>(reader: &mut Reader<R>, path: &Path) -> Result<()> {
    let header = reader.header().clone();
    let quoted = |s: &str| {
        if s.contains([',', '"', '\n', '\r']) { format!("\"{}\"", s.replace('"', "\"\"")) } else { s.into() }
    };
    whole_file(path, |file| {
        let mut out = BufWriter::new(file);
        write!(out, "t")?;
        for c in &header.columns {
            write!(out, ",{}", quoted(c))?;
        }
        for b in &header.bodies {
            for c in ["x", "y", "z", "qw", "qx", "qy", "qz"] {
                write!(out, ",{}", quoted(&format!("{}.{c}", b.name)))?;
            }
        }
        writeln!(out)?;
        for f in reader {
            write!(out, "{:?}", f.t)?;
            for x in &f.columns {
                write!(out, ",{x:?}")?;
            }
            for x in f.poses.iter().flatten() {
                write!(out, ",{x:?}")?;
            }
            writeln!(out)?;
        }
        out.flush()
    })
}
