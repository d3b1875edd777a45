//! Tetrahedral meshes from files.
//!
//! | ending | format | read by |
//! |---|---|---|
//! | `.msh` | Gmsh 2.2 and 4.1, ASCII and binary | [`parse_gmsh`] |
//! | `.node` with `.ele` | TetGen | [`parse_tetgen`] |
//! | `.vtk` | legacy VTK, unstructured grid, ASCII and binary | [`parse_vtk`] |
//! | `.mesh` | Medit, ASCII | [`parse_medit`] |
//!
//! Tets of four nodes are taken. Other elements are left out with the nodes that only they use, and
//! [`TetFile::notes`] says how many; tets of higher order are refused. Tets with negative volume are turned, since
//! formats disagree about the order of nodes, and noted too. Everything else that [`TetMesh::check`] asks for is
//! the business of the file: nodes that no element uses, nodes at the same place, flat or overlapping tets are errors
//! with the ids of the file.

mod gmsh;
mod gmsh2;
mod gmsh4;
mod medit;
mod raw;
mod save;
mod scan;
mod tetgen;
mod vtk;

use crate::error::{Error, Result};
use std::path::Path;
use stiction::mesh::TetMesh;

pub use gmsh::parse_gmsh;
pub use medit::parse_medit;
pub use save::save;
pub use tetgen::parse_tetgen;
pub use vtk::parse_vtk;

/// Largest mesh file that is read [bytes].
const MOST_BYTES: u64 = 1 << 30;

/// A mesh from a file, fit for a soft body.
#[derive(Clone, Debug, PartialEq)]
pub struct TetFile {
    /// The mesh, in the unit of the file.
    pub mesh: TetMesh,
    /// What the file calls each node.
    pub node_ids: Vec<u64>,
    /// What the file calls each tet; counted from 0 or 1 where it gives no names.
    pub tet_ids: Vec<u64>,
    /// What was left out or changed: one sentence each, for the user.
    pub notes: Vec<String>,
}

/// Reads a mesh file; the ending of its name tells the format. Of TetGen's two files either may be named.
pub fn load(path: &Path) -> Result<TetFile> {
    load_with(path, &|path| crate::read::bytes(path, MOST_BYTES, "use a coarser mesh"))
}

/// The same with the bytes from elsewhere.
pub(crate) fn load_with(path: &Path, read: &dyn Fn(&Path) -> Result<Vec<u8>>) -> Result<TetFile> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = path.display().to_string();
    match ending.as_str() {
        "msh" => parse_gmsh(&read(path)?, &name),
        "vtk" => parse_vtk(&read(path)?, &name),
        "mesh" => parse_medit(&read(path)?, &name),
        "node" | "ele" => {
            let (nodes, tets) = (path.with_extension("node"), path.with_extension("ele"));
            let names = [nodes.display().to_string(), tets.display().to_string()];
            parse_tetgen(&read(&nodes)?, &read(&tets)?, [&names[0], &names[1]])
        }
        "meshb" => Err(Error::new(name, "is a binary Medit file", "write the ASCII form, ending in .mesh")),
        "gz" => Err(Error::new(name, "is compressed", "unpack it first (gunzip)")),
        "vtu" => {
            Err(Error::new(name, "is an XML file of VTK", "write legacy VTK, ending in .vtk, or Gmsh .msh"))
        }
        _ => Err(Error::new(
            name,
            "is none of .msh, .node, .ele, .vtk and .mesh",
            "convert the mesh, for example with Gmsh to .msh",
        )),
    }
}
