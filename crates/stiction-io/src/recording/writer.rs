//! Writes a recording while a run goes on.

use super::chunk::{END, FRAMES, HEAD, MAX_CHUNK, MESH, Packer, chunk, unpack};
use super::{Frame, Header, MAGIC, VERSION, of_model};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use stiction::{Simulation, scene::Model};

/// Frames of a chunk at most: about a second of a run, which is what a crash can cost.
const CHUNK_FRAMES: u32 = 64;
/// Bytes of a chunk before compression, beyond which it is written.
const CHUNK_BYTES: usize = 1 << 21;

/// How far a recording is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paused {
    /// Frames so far, with those that wait.
    pub(crate) frames: u64,
    /// Frames that wait for their chunk, as the payload of one; empty where none do.
    pub(crate) waiting: Vec<u8>,
}

/// Writes a recording. What is buffered is written when it is dropped, too, but then without the end mark.
pub struct Writer<W: Write = File> {
    path: PathBuf,
    out: W,
    frames: u64,
    frame: Frame,
    packer: Packer,
}

impl Writer {
    /// Creates the file and writes its header. `header_extra` is kept as it is.
    pub fn create(path: &Path, model: &Model, header_extra: serde_json::Value) -> Result<Writer> {
        Writer::with_header(path, &Header::new(model, header_extra))
    }

    /// Creates the file with a given header.
    pub fn with_header(path: &Path, header: &Header) -> Result<Writer> {
        Writer::on(File::create(path).map_err(|e| Error::writing(path, &e))?, path, header)
    }
}

impl<W: Write> Writer<W> {
    /// Writes the header to a stream; errors name it `path`.
    pub fn on(mut out: W, path: &Path, header: &Header) -> Result<Writer<W>> {
        let bad = |e: io::Error| Error::writing(path, &e);
        let start = live_header(header).map_err(bad)?;
        out.write_all(&start).map_err(bad)?;
        Ok(Writer { path: path.into(), out, frames: 0, frame: Frame::default(), packer: Packer::default() })
    }

    /// Goes on with a recording that was [paused](Writer::pause): `out` stands where that one stood, behind whole chunks.
    pub fn resume(out: W, path: &Path, header: &Header, paused: &Paused) -> Result<Writer<W>> {
        let mut packer = Packer::default();
        if !paused.waiting.is_empty() {
            let waiting = unpack(&paused.waiting, header).ok_or_else(|| {
                Error::at_path(path, "cannot be resumed: frames of it are damaged", "start the run anew")
            })?;
            waiting.iter().for_each(|f| packer.add(f));
        }
        Ok(Writer { path: path.into(), out, frames: paused.frames, frame: Frame::default(), packer })
    }

    /// What is needed beside the bytes written so far to [go on](Writer::resume) as if nothing had happened.
    pub fn pause(&self) -> Result<Paused> {
        let waiting = match self.packer.count() {
            0 => Vec::new(),
            _ => self.packer.clone().pack().map_err(|e| Error::writing(&self.path, &e))?,
        };
        Ok(Paused { frames: self.frames, waiting })
    }

    /// Where the recording is written.
    pub fn output(&self) -> &W {
        &self.out
    }

    /// Adds the present state of a simulation.
    pub fn write_frame(&mut self, sim: &Simulation) -> Result<()> {
        let mut frame = std::mem::take(&mut self.frame);
        of_model::fill(&mut frame, sim);
        let done = self.write(&frame);
        self.frame = frame;
        done
    }

    /// Adds a frame. Its numbers of poses, points and columns must be those of the header.
    pub fn write(&mut self, f: &Frame) -> Result<()> {
        self.frames += 1;
        self.packer.add(f);
        if self.packer.count() >= CHUNK_FRAMES || self.packer.size() >= CHUNK_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the frames that wait.
    fn flush(&mut self) -> Result<()> {
        if self.packer.count() == 0 {
            return Ok(());
        }
        let bad = |e: io::Error| Error::writing(&self.path, &e);
        if self.packer.size() > MAX_CHUNK {
            return Err(bad(io::Error::other("a frame is too large for a recording")));
        }
        let payload = self.packer.pack().map_err(bad)?;
        self.out.write_all(&chunk(FRAMES, &payload)).map_err(bad)
    }

    /// Writes the end mark and everything that is still buffered.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        let end = chunk(END, &self.frames.to_le_bytes());
        self.out.write_all(&end).map_err(|e| Error::writing(&self.path, &e))
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        // Nobody is left to hear of an error.
        let _ = self.flush();
    }
}

/// The bytes of a recording before its first frame.
pub fn live_header(header: &Header) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(header)?;
    let meshes = header.mesh_bytes();
    if json.len().max(meshes.len()) > u32::MAX as usize {
        return Err(io::Error::other("the geometry is too large"));
    }
    let version = VERSION.to_le_bytes();
    Ok([&MAGIC[..], &version, &chunk(HEAD, &json), &chunk(MESH, &meshes)].concat())
}

/// The present state of a simulation as one chunk, for sending.
pub fn live_frame(sim: &Simulation) -> io::Result<Vec<u8>> {
    let (mut frame, mut packer) = (Frame::default(), Packer::default());
    of_model::fill(&mut frame, sim);
    packer.add(&frame);
    Ok(chunk(FRAMES, &packer.pack()?))
}
