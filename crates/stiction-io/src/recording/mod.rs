//! Recordings of runs: the geometry once, then poses and contacts frame by frame.
//!
//! The format is described in `docs/recording.md`. It is written while a run goes on, in constant memory, and what
//! was written stays readable when the run is cut off.

mod crc;
mod header;
mod reader;
mod writer;

pub use header::{BodyInfo, Header, ParticleInfo, ShapeGeometry, ShapeInfo, ShapeOwner};
pub use reader::{Ending, Reader};
pub use writer::Writer;

use stiction::Vec3;

/// First four bytes of a recording.
pub const MAGIC: [u8; 4] = *b"STIC";

/// Version of the format that is written and read.
pub const VERSION: u32 = 1;

/// A moment of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Time [s].
    pub t: f64,
    /// Pose of every body frame, in the order of [`Header::bodies`]: x, y, z [m], then w, x, y, z of the quaternion.
    pub poses: Vec<[f64; 7]>,
    /// Position of every particle [m], in the order of [`Header::particles`].
    pub particles: Vec<Vec3>,
    /// Contacts of the step that led here.
    pub contacts: Vec<ContactRecord>,
}

/// A contact of a frame; in 32-bit numbers, since pictures need no more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactRecord {
    /// First shape, an index of [`Header::shapes`].
    pub shape_a: u32,
    /// Second shape.
    pub shape_b: u32,
    /// Where it acts [m].
    pub point: [f32; 3],
    /// Normal, from b to a.
    pub normal: [f32; 3],
    /// Force on a [N], world axes.
    pub force: [f32; 3],
}

/// Bytes of a frame without contacts: time, poses, particles, number of contacts.
fn fixed_size(bodies: usize, particles: usize) -> usize {
    8 + 56 * bodies + 24 * particles + 4
}

/// Bytes of a contact.
const CONTACT_SIZE: usize = 44;
