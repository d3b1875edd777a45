//! Meshes of soft bodies: tetrahedra, their surface, procedural shapes and embedded points.
//!
//! ```
//! use stiction::mesh::{Locator, Surface, shapes};
//! use stiction::Vec3;
//!
//! let ball = shapes::sphere(0.05, 7);
//! assert_eq!((ball.vertices.len(), ball.tets.len()), (1415, 6860));
//! ball.check()?;
//! let skin = Surface::of(&ball);
//! assert_eq!(skin.triangles.len(), 980);
//! // A point that moves with the tet around it.
//! let mark = Locator::new(&ball).embed(Vec3::new(0.01, 0.02, 0.0));
//! let moved: Vec<Vec3> = ball.vertices.iter().map(|x| 2.0 * *x).collect();
//! assert!(mark.position(&moved).distance(Vec3::new(0.02, 0.04, 0.0)) < 1e-12);
//! # Ok::<(), stiction::mesh::MeshError>(())
//! ```
//!
//! | looking for… | file |
//! |---|---|
//! | the mesh, volumes, quality | `tet.rs` |
//! | what a mesh must fulfil, and the messages | `check.rs` |
//! | surface, edges, neighbours | `surface.rs` |
//! | block, sphere, cylinder, torus, sheet, ring | `shapes.rs` |
//! | plates with windows, lumpy balls, blobs with limbs | `lattice.rs` |
//! | points and visual surfaces inside a mesh | `embed.rs` |
//! | what a triangle mesh is like: closed, oriented, crossing itself | `survey.rs`, `crossing.rs` |
//! | mending one; covering one by tetrahedra | `repair.rs`; `cover.rs` |
//!
//! Files of meshes are read by the crate `stiction-io`.

mod check;
mod cover;
mod crossing;
mod embed;
pub mod lattice;
mod repair;
pub mod shapes;
mod surface;
mod survey;
mod tet;

pub use check::{MeshError, MeshProblem};
pub use cover::{Cover, CoverError};
pub use embed::{Embedding, Locator};
pub use repair::Repair;
pub use surface::{Neighbours, Surface, TriMesh, edges, pinched_edges};
pub use survey::Survey;
pub use tet::{TetMesh, quality, signed_volume};
