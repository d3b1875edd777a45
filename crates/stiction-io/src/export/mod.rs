//! Recordings in the formats of other programs: animated glTF, OBJ sequences, VTU for ParaView, CSV.

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
