//! Files of Stiction: scenes, meshes, contact problems and recordings.
//!
//! | looking for… | module |
//! |---|---|
//! | TOML scenes, overrides and their JSON Schema | [`scene`] |
//! | the built-in scenes | [`gallery`] |
//! | OBJ and STL | [`mesh`] |
//! | tetrahedral meshes: Gmsh, TetGen, VTK, Medit | [`tet_mesh`] |
//! | contact problems and solutions as npz | [`problem`] |
//! | recordings of runs | [`recording`] |
//! | snapshots, from which runs go on | [`snapshot`] |
//! | files up to a limit, and nothing but files | [`read`] |
//! | the page that plays them, other formats, films | [`page`], [`export`], [`film`] |
//!
//! ```
//! let set = [("time.dt".to_string(), "0.005".to_string())];
//! let loaded = stiction_io::gallery::find("box-on-plane").unwrap().load(&set)?;
//! let mut sim = stiction::Simulation::new(loaded.scene.compile().unwrap(), loaded.settings);
//! sim.step(loaded.dt).unwrap();
//! # Ok::<(), stiction_io::Error>(())
//! ```
//!
//! A soft body from text:
//!
//! ```
//! let text = r#"
//!     [[soft]]
//!     name = "beam"
//!     mesh = { block = { cells = [4, 1, 1], size = [0.4, 0.1, 0.1] } }
//!     material = { preset = "rubber" }
//!     attach = [{ box = [[-0.21, -1, -1], [-0.19, 1, 1]] }]
//! "#;
//! let loaded = stiction_io::scene::parse(text, "beam.toml", std::path::Path::new("."), &[])?;
//! let mut sim = stiction::Simulation::new(loaded.compile()?, loaded.settings);
//! sim.step(loaded.dt).unwrap();
//! assert!(sim.energy().elastic > 0.0, "it bends under its weight");
//! # Ok::<(), stiction_io::Error>(())
//! ```
//!
//! Every reader refuses bad input with an [`Error`] that names the file, the place and the remedy, and none
//! panics, whatever the bytes.

pub mod error;
pub mod export;
pub mod film;
pub mod gallery;
pub mod mesh;
pub mod page;
pub mod problem;
pub mod read;
pub mod recording;
pub mod scene;
pub mod snapshot;
pub mod tet_mesh;

mod write;

pub use error::Error;
