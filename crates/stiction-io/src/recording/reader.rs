//! Reads a recording, as far as it goes.

use super::chunk::{END, FRAMES, HEAD, MESH, unpack};
use super::{Frame, Header, MAGIC, OLDEST, VERSION};
use crate::error::{Error, Result};
use crate::read;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Reads a recording frame by frame: an iterator that stops where the recording does; [`ending`](Reader::ending)
/// then says how it stopped.
pub struct Reader<R = BufReader<File>> {
    from: R,
    header: Header,
    ready: VecDeque<Frame>,
    frames: u64,
    ending: Option<Ending>,
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its end mark.
    Finished,
    /// Between chunks or within one, as when a run was cut off: all frames before are whole.
    CutOff,
    /// With a chunk whose bytes are not what was written: all frames before are whole.
    Damaged,
}

impl Ending {
    /// What is wrong, in words; nothing for a finished recording.
    pub fn complaint(self) -> Option<&'static str> {
        match self {
            Ending::Finished => None,
            Ending::CutOff => Some("is cut off: the run was stopped, or the file was not copied whole"),
            Ending::Damaged => Some("is damaged: some of its bytes are not what was written"),
        }
    }
}

impl Reader {
    /// Opens a recording and reads its header.
    pub fn open(path: &Path) -> Result<Reader> {
        let file = read::open(path)?;
        Reader::new(BufReader::new(file), &path.display().to_string())
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a recording; `name` stands in messages.
    pub fn new(mut from: R, name: &str) -> Result<Reader<R>> {
        let error = |problem: String, remedy: &str| Error::new(name, problem, remedy);
        let again = "record the run again";
        let cut = |_| error("ends within its header".into(), again);
        let mut start = [0; 8];
        from.read_exact(&mut start).map_err(cut)?;
        if start[..4] != MAGIC {
            return Err(error("is not a recording".into(), "recordings start with the letters STIC"));
        }
        let version = u32::from_le_bytes([start[4], start[5], start[6], start[7]]);
        if !(OLDEST..=VERSION).contains(&version) {
            let remedy = if version > VERSION { "use a newer stiction" } else { again };
            let e = format!("has version {version} of the format; this program reads {OLDEST} to {VERSION}");
            return Err(error(e, remedy));
        }
        let mut part = |wanted: [u8; 4]| match read_chunk(&mut from) {
            Ok((kind, bytes)) if kind == wanted => Ok(bytes),
            Err(Ending::CutOff) => Err(error("ends within its header".into(), again)),
            _ => Err(error("has a damaged header".into(), again)),
        };
        let (json, meshes) = (part(HEAD)?, part(MESH)?);
        let mut header: Header = serde_json::from_slice(&json)
            .map_err(|e| error(format!("has a header without sense: {e}"), again))?;
        header.take_meshes(&meshes).map_err(|e| error(format!("has a header without sense: {e}"), again))?;
        Ok(Reader { from, header, ready: VecDeque::new(), frames: 0, ending: None })
    }

    /// What is constant in the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How the recording ends; `None` before its end is reached.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Frames that were read so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Reads frames until there is one; the error is the end.
    fn fill(&mut self) -> std::result::Result<(), Ending> {
        while self.ready.is_empty() {
            let (kind, bytes) = read_chunk(&mut self.from)?;
            match kind {
                FRAMES => self.ready.extend(unpack(&bytes, &self.header).ok_or(Ending::Damaged)?),
                END if bytes == self.frames.to_le_bytes() => return Err(Ending::Finished),
                _ => return Err(Ending::Damaged),
            }
        }
        Ok(())
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.ending.is_none()
            && let Err(ending) = self.fill()
        {
            self.ending = Some(ending);
        }
        let frame = self.ready.pop_front()?;
        self.frames += 1;
        Some(frame)
    }
}

/// The next chunk, whole and with the right checksum.
fn read_chunk(from: &mut impl Read) -> std::result::Result<([u8; 4], Vec<u8>), Ending> {
    let mut start = [0; 12];
    from.read_exact(&mut start).map_err(|_| Ending::CutOff)?;
    let word = |k: usize| u32::from_le_bytes([start[k], start[k + 1], start[k + 2], start[k + 3]]);
    let mut bytes = Vec::new();
    from.take(word(4).into()).read_to_end(&mut bytes).map_err(|_| Ending::CutOff)?;
    if bytes.len() != word(4) as usize {
        return Err(Ending::CutOff);
    }
    if crc32fast::hash(&bytes) != word(8) {
        return Err(Ending::Damaged);
    }
    Ok(([start[0], start[1], start[2], start[3]], bytes))
}
