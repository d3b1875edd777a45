//! Gmsh 4.1: nodes and elements in blocks, one for each part of the geometry.

use super::gmsh::{Section, TET, other_type};
use super::raw::Raw;
use super::scan::{Encoding, Scan};
use crate::error::Result;
use stiction::Vec3;

/// Reads one section up to its end mark; `width` is that of counts and ids in binary files.
pub(super) fn section(scan: &mut Scan, width: usize, raw: &mut Raw, section: Section) -> Result<()> {
    if scan.encoding != Encoding::Text {
        scan.line();
    }
    let blocks = scan.count(width, 4, "the number of blocks")?;
    for what in ["a total number", "the lowest number", "the highest number"] {
        scan.id(width, what)?;
    }
    for _ in 0..blocks {
        let dimension = scan.int(4, "a dimension")?;
        scan.int(4, "the number of an entity")?;
        match section {
            Section::Nodes => nodes(scan, width, dimension, raw)?,
            Section::Elements => elements(scan, width, raw)?,
        }
    }
    Ok(())
}

/// `parametric count`, then all ids, then all coordinates with as many parameters as the entity has dimensions.
fn nodes(scan: &mut Scan, width: usize, dimension: i64, raw: &mut Raw) -> Result<()> {
    let parameters = match scan.int(4, "0 or 1")? {
        0 => 0,
        _ => dimension.clamp(0, 3),
    };
    let count = scan.count(width, 8, "the number of nodes")?;
    let ids: Vec<u64> = (0..count).map(|_| scan.id(width, "the number of a node")).collect::<Result<_>>()?;
    for id in ids {
        let mut x = [0.0; 3];
        for c in &mut x {
            *c = scan.real(8, "a coordinate")?;
        }
        for _ in 0..parameters {
            scan.real(8, "a parameter")?;
        }
        raw.nodes.push((id, Vec3::from_array(x)));
    }
    Ok(())
}

/// `type count`, then `id nodes…`.
fn elements(scan: &mut Scan, width: usize, raw: &mut Raw) -> Result<()> {
    let kind = scan.int(4, "an element type")?;
    let count = scan.count(width, 4, "the number of elements")?;
    let (n, name) = other_type(scan, kind)?;
    for _ in 0..count {
        let id = scan.id(width, "the number of an element")?;
        let mut nodes = [0; 27];
        for node in &mut nodes[..n] {
            *node = scan.id(width, "the number of a node")?;
        }
        match nodes {
            [a, b, c, d, ..] if kind == TET => raw.tets.push((id, [a, b, c, d])),
            _ => raw.ignore(name, nodes[..n].iter().copied()),
        }
    }
    Ok(())
}
