//! Files of Stiction: scenes, meshes, contact problems and recordings.
//!
//! | looking for… | module |
//! |---|---|
//! | TOML scenes, overrides and their JSON Schema | [`scene`] |
//! | the built-in scenes | [`gallery`] |
//! | OBJ and STL | [`mesh`] |
//! | contact problems and solutions as npz | [`problem`] |
//! | recordings of runs | [`recording`] |
//!
//! Every reader refuses bad input with an [`Error`] that names the file, the place and the remedy, and none
//! panics, whatever the bytes.

pub mod error;
pub mod gallery;
pub mod mesh;
pub mod problem;
pub mod recording;
pub mod scene;

mod write;

pub use error::Error;
