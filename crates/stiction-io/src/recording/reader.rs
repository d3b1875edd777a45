//! Reads a recording, as far as it goes.

use super::crc::crc32;
use super::{CONTACT_SIZE, ContactRecord, Frame, Header, MAGIC, VERSION, fixed_size};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use stiction::Vec3;

/// Reads a recording frame by frame: an iterator that stops where the recording does; [`ending`](Reader::ending)
/// then says how it stopped.
pub struct Reader<R = BufReader<File>> {
    from: R,
    header: Header,
    frames: u64,
    ending: Option<Ending>,
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its end mark.
    Finished,
    /// Between frames or within one, as when a run was cut off: all frames before are whole.
    CutOff,
    /// With a frame whose bytes are not what was written: all frames before are whole.
    Damaged,
}

impl Reader {
    /// Opens a recording and reads its header.
    pub fn open(path: &Path) -> Result<Reader> {
        let file = File::open(path).map_err(|e| Error::reading(path, &e))?;
        Reader::new(BufReader::new(file), &path.display().to_string())
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a recording; `name` stands in messages.
    pub fn new(mut from: R, name: &str) -> Result<Reader<R>> {
        let error = |problem: String, remedy: &str| Error::new(name, problem, remedy);
        let cut = |_| error("ends within its header".into(), "record the run again");
        let mut start = [0; 16];
        from.read_exact(&mut start).map_err(cut)?;
        let word = |k: usize| u32::from_le_bytes([start[k], start[k + 1], start[k + 2], start[k + 3]]);
        if start[..4] != MAGIC {
            return Err(error("is not a recording".into(), "recordings start with the letters STIC"));
        }
        if word(4) != VERSION {
            let e = format!("has version {} of the format; this program reads {VERSION}", word(4));
            return Err(error(e, "use the program that wrote it, or record the run again"));
        }
        let mut json = Vec::new();
        (&mut from).take(word(8).into()).read_to_end(&mut json).map_err(cut)?;
        if json.len() != word(8) as usize || crc32(&json) != word(12) {
            return Err(error("has a damaged header".into(), "record the run again"));
        }
        let header: Header = serde_json::from_slice(&json)
            .map_err(|e| error(format!("has a header without sense: {e}"), "record the run again"))?;
        Ok(Reader { from, header, frames: 0, ending: None })
    }

    /// What is constant in the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How the recording ends; `None` before its end is reached.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    fn frame(&mut self) -> std::result::Result<Frame, Ending> {
        let mut start = [0; 8];
        self.from.read_exact(&mut start).map_err(|_| Ending::CutOff)?;
        let length = u32::from_le_bytes([start[0], start[1], start[2], start[3]]);
        let check = u32::from_le_bytes([start[4], start[5], start[6], start[7]]);
        let mut bytes = Vec::new();
        let wanted = if length == 0 { 8 } else { u64::from(length) };
        (&mut self.from).take(wanted).read_to_end(&mut bytes).map_err(|_| Ending::CutOff)?;
        if bytes.len() as u64 != wanted {
            return Err(Ending::CutOff);
        }
        if crc32(&bytes) != check {
            return Err(Ending::Damaged);
        }
        if length == 0 {
            return Err(if bytes == self.frames.to_le_bytes() { Ending::Finished } else { Ending::Damaged });
        }
        decode(&bytes, self.header.bodies.len(), self.header.particles.len()).ok_or(Ending::Damaged)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.ending.is_some() {
            return None;
        }
        match self.frame() {
            Ok(frame) => {
                self.frames += 1;
                Some(frame)
            }
            Err(ending) => {
                self.ending = Some(ending);
                None
            }
        }
    }
}

/// The frame of a payload; `None` when its length does not fit its counts.
fn decode(bytes: &[u8], bodies: usize, particles: usize) -> Option<Frame> {
    let mut rest = bytes;
    let mut take = |n: usize| {
        let (a, b) = rest.split_at_checked(n)?;
        rest = b;
        Some(a)
    };
    let f64_of = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    let u32_of = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let t = f64_of(take(8)?);
    let poses =
        take(56 * bodies)?.chunks_exact(56).map(|b| std::array::from_fn(|k| f64_of(&b[8 * k..]))).collect();
    let particles_at = take(24 * particles)?
        .chunks_exact(24)
        .map(|b| Vec3::new(f64_of(b), f64_of(&b[8..]), f64_of(&b[16..])))
        .collect();
    let count = u32_of(take(4)?) as usize;
    if bytes.len() != fixed_size(bodies, particles).checked_add(CONTACT_SIZE.checked_mul(count)?)? {
        return None;
    }
    let contacts = take(CONTACT_SIZE * count)?
        .chunks_exact(CONTACT_SIZE)
        .map(|b| {
            let three = |at: usize| std::array::from_fn(|k| f32::from_bits(u32_of(&b[at + 4 * k..])));
            ContactRecord {
                shape_a: u32_of(b),
                shape_b: u32_of(&b[4..]),
                point: three(8),
                normal: three(20),
                force: three(32),
            }
        })
        .collect();
    Some(Frame { t, poses, particles: particles_at, contacts })
}
