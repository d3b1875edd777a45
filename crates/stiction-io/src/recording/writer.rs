//! Writes a recording while a run goes on.

use super::crc::crc32;
use super::{Frame, Header, MAGIC, VERSION};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use stiction::coords::{BodyId, NodeId};
use stiction::{Simulation, scene::Model};

/// Writes a recording.
pub struct Writer {
    path: PathBuf,
    out: BufWriter<File>,
    frames: u64,
    frame: Frame,
    bytes: Vec<u8>,
}

impl Writer {
    /// Creates the file and writes its header. `header_extra` is kept as it is.
    pub fn create(path: &Path, model: &Model, header_extra: serde_json::Value) -> Result<Writer> {
        Writer::with_header(path, &Header::new(model, header_extra))
    }

    /// Creates the file with a given header.
    pub fn with_header(path: &Path, header: &Header) -> Result<Writer> {
        let bad = |e: io::Error| Error::writing(path, &e);
        let json = serde_json::to_vec(header).map_err(|e| bad(e.into()))?;
        let length =
            u32::try_from(json.len()).map_err(|_| bad(io::Error::other("the geometry is too large")))?;
        let mut out = BufWriter::new(File::create(path).map_err(bad)?);
        let start =
            [&MAGIC[..], &VERSION.to_le_bytes(), &length.to_le_bytes(), &crc32(&json).to_le_bytes(), &json];
        out.write_all(&start.concat()).map_err(bad)?;
        Ok(Writer { path: path.into(), out, frames: 0, frame: Frame::default(), bytes: Vec::new() })
    }

    /// Adds the present state of a simulation.
    pub fn write_frame(&mut self, sim: &Simulation) -> Result<()> {
        let (model, state) = (sim.model(), sim.state());
        let mut frame = std::mem::take(&mut self.frame);
        frame.t = state.t;
        frame.poses.clear();
        frame.poses.extend((0..model.bodies.len() as u32).map(|i| {
            let p = model.body_pose(state, BodyId(i));
            let (x, r) = (p.translation, p.rotation);
            [x.x, x.y, x.z, r.w, r.x, r.y, r.z]
        }));
        frame.particles.clear();
        frame.particles.extend((0..model.nodes.len() as u32).map(|i| model.node_position(state, NodeId(i))));
        frame.contacts.clear();
        frame.contacts.extend(sim.contacts().map(|(c, force)| super::ContactRecord {
            shape_a: c.key.shape_a.0,
            shape_b: c.key.shape_b.0,
            point: c.point.as_vec3().to_array(),
            normal: c.normal().as_vec3().to_array(),
            force: force.as_vec3().to_array(),
        }));
        let done = self.write(&frame);
        self.frame = frame;
        done
    }

    /// Adds a frame. Its numbers of poses and particles must be those of the header.
    pub fn write(&mut self, f: &Frame) -> Result<()> {
        let b = &mut self.bytes;
        b.clear();
        b.extend(f.t.to_le_bytes());
        f.poses.iter().flatten().for_each(|x| b.extend(x.to_le_bytes()));
        f.particles.iter().flat_map(|p| p.to_array()).for_each(|x| b.extend(x.to_le_bytes()));
        b.extend((f.contacts.len() as u32).to_le_bytes());
        for c in &f.contacts {
            b.extend(c.shape_a.to_le_bytes());
            b.extend(c.shape_b.to_le_bytes());
            [c.point, c.normal, c.force].iter().flatten().for_each(|x| b.extend(x.to_le_bytes()));
        }
        self.frames += 1;
        let start = [(self.bytes.len() as u32).to_le_bytes(), crc32(&self.bytes).to_le_bytes()].concat();
        let done = self.out.write_all(&start).and_then(|()| self.out.write_all(&self.bytes));
        done.map_err(|e| Error::writing(&self.path, &e))
    }

    /// Writes the end mark and everything that is still buffered.
    pub fn finish(mut self) -> Result<()> {
        let count = self.frames.to_le_bytes();
        let end = [&0u32.to_le_bytes()[..], &crc32(&count).to_le_bytes(), &count].concat();
        self.out.write_all(&end).and_then(|()| self.out.flush()).map_err(|e| Error::writing(&self.path, &e))
    }
}
