//! Recordings of runs: the geometry once, then poses, points, contacts and columns frame by frame.
//!
//! The format is described in `docs/recording.md`. It is written while a run goes on, in constant memory, and what
//! was written stays readable when the run is cut off.

mod chunk;
mod columns;
mod header;
mod mesh;
mod of_model;
mod reader;
mod writer;

pub use chunk::MAX_CHUNK;
pub use columns::{COLUMNS, column_names, column_values};
pub use header::{
    BodyInfo, Header, JointInfo, Part, ParticleInfo, RodInfo, ShapeGeometry, ShapeInfo, ShapeOwner,
    SolidInfo, SpringInfo,
};
pub use mesh::Mesh;
pub use reader::{Ending, Reader};
pub use writer::{Paused, Writer, live_frame, live_header};

/// First four bytes of a recording.
pub const MAGIC: [u8; 4] = *b"STIC";

/// Version of the format that is written.
pub const VERSION: u32 = 3;

/// The oldest version that is read.
pub const OLDEST: u32 = 2;

/// A moment of a run. Places are in 32-bit numbers, since pictures need no more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Time [s].
    pub t: f64,
    /// Pose of every body frame, in the order of [`Header::bodies`]: x, y, z [m], then w, x, y, z of the quaternion.
    pub poses: Vec<[f32; 7]>,
    /// Position of every particle, then of every vertex of every solid, then of both ends of every spring [m].
    pub points: Vec<[f32; 3]>,
    /// Contacts of the step that led here.
    pub contacts: Vec<ContactRecord>,
    /// Values of [`Header::columns`].
    pub columns: Vec<f64>,
}

/// A contact of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactRecord {
    /// First part: an index into bodies, then particles, then solids (see [`Header::part`]).
    pub a: u32,
    /// Second part.
    pub b: u32,
    /// Where it acts [m].
    pub point: [f32; 3],
    /// Normal, from b to a.
    pub normal: [f32; 3],
    /// Force on a [N], world axes.
    pub force: [f32; 3],
    /// Coefficient of friction; the mean one where it depends on the direction.
    pub friction: f32,
}
