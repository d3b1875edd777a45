//! TetGen: nodes in a `.node` file, tets in an `.ele` file, counted from 0 or 1.

use super::{TetFile, raw::Raw, scan::Scan};
use crate::error::Result;
use stiction::Vec3;

/// Reads the two files of a TetGen mesh; `names` (of the node and the element file) stand in messages.
pub fn parse_tetgen(nodes: &[u8], tets: &[u8], names: [&str; 2]) -> Result<TetFile> {
    let mut raw = Raw::default();
    read_nodes(nodes, names[0], &mut raw)?;
    read_tets(tets, names[1], &mut raw)?;
    raw.finish(names[1])
}

/// `count 3 attributes markers`, then `id x y z attributes… marker`.
fn read_nodes(bytes: &[u8], name: &str, raw: &mut Raw) -> Result<()> {
    let mut scan = Scan::new(bytes, name);
    scan.comments = true;
    let count = scan.count(0, 8, "the number of nodes")?;
    if count == 0 {
        return Err(scan.error("has no nodes", "name the files that TetGen wrote, such as part.1.node"));
    }
    let dimension: u64 = scan.parse("a dimension")?;
    if dimension != 3 {
        return Err(scan.error(format!("nodes of dimension {dimension}"), "nodes need three coordinates"));
    }
    let extra = scan.count(0, 1, "the number of attributes")? + scan.count(0, 1, "the number of markers")?;
    for _ in 0..count {
        let id = scan.id(0, "the number of a node")?;
        let mut x = [0.0; 3];
        for c in &mut x {
            *c = scan.real(8, "a coordinate")?;
        }
        for _ in 0..extra {
            scan.real(8, "an attribute")?;
        }
        raw.nodes.push((id, Vec3::from_array(x)));
    }
    scan.expect_end()
}

/// `count 4 attributes`, then `id four nodes attributes…`.
fn read_tets(bytes: &[u8], name: &str, raw: &mut Raw) -> Result<()> {
    let mut scan = Scan::new(bytes, name);
    scan.comments = true;
    let count = scan.count(0, 8, "the number of tetrahedra")?;
    let corners: u64 = scan.parse("the number of nodes of a tetrahedron")?;
    if corners != 4 {
        return Err(scan.error(
            format!("tetrahedra of {corners} nodes"),
            "make tetrahedra of four nodes: run TetGen without -o2",
        ));
    }
    let extra = scan.count(0, 1, "the number of attributes")?;
    for _ in 0..count {
        let id = scan.id(0, "the number of a tetrahedron")?;
        let mut tet = [0; 4];
        for n in &mut tet {
            *n = scan.id(0, "the number of a node")?;
        }
        for _ in 0..extra {
            scan.real(8, "an attribute")?;
        }
        raw.tets.push((id, tet));
    }
    scan.expect_end()
}
