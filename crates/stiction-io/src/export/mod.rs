//! Recordings in the formats of other programs: animated glTF, OBJ sequences, VTU for ParaView, CSV.
//!
//! What is whole of a damaged recording is written; [`Reader::ending`](crate::recording::Reader::ending) then says
//! that it was not all.

mod csv;
mod gltf;
mod obj;
mod skin;
mod surface;
mod vtu;

pub use csv::csv;
pub use gltf::glb;
pub use obj::obj_sequence;
pub use vtu::vtu_series;
