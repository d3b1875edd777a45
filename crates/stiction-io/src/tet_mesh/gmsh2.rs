//! Gmsh 2.2: nodes and elements one by one.

use super::gmsh::{Section, TET, other_type};
use super::raw::Raw;
use super::scan::{Encoding, Scan};
use crate::error::Result;
use stiction::Vec3;

/// Reads one section up to its end mark.
pub(super) fn section(scan: &mut Scan, _width: usize, raw: &mut Raw, section: Section) -> Result<()> {
    // Counts are text in binary files too, on a line of their own.
    let encoding = scan.encoding;
    scan.encoding = Encoding::Text;
    let count = scan.count(0, 8, "the number of nodes or elements")?;
    scan.encoding = encoding;
    if encoding != Encoding::Text {
        scan.line();
    }
    match (section, encoding) {
        (Section::Nodes, _) => nodes(scan, count, raw),
        (Section::Elements, Encoding::Text) => (0..count).try_for_each(|_| text_element(scan, raw)),
        (Section::Elements, _) => binary_elements(scan, count, raw),
    }
}

fn nodes(scan: &mut Scan, count: usize, raw: &mut Raw) -> Result<()> {
    for _ in 0..count {
        let id = scan.id(4, "the number of a node")?;
        let mut x = [0.0; 3];
        for c in &mut x {
            *c = scan.real(8, "a coordinate")?;
        }
        raw.nodes.push((id, Vec3::from_array(x)));
    }
    Ok(())
}

/// `number type tags… nodes…`
fn text_element(scan: &mut Scan, raw: &mut Raw) -> Result<()> {
    let id = scan.id(0, "the number of an element")?;
    let kind = scan.int(0, "an element type")?;
    let tags = scan.count(0, 1, "the number of tags")?;
    for _ in 0..tags {
        scan.int(0, "a tag")?;
    }
    element(scan, id, kind, raw)
}

fn element(scan: &mut Scan, id: u64, kind: i64, raw: &mut Raw) -> Result<()> {
    if kind == TET {
        let mut tet = [0; 4];
        for n in &mut tet {
            *n = scan.id(4, "the number of a node")?;
        }
        raw.tets.push((id, tet));
        return Ok(());
    }
    let (n, name) = other_type(scan, kind)?;
    let nodes: Vec<u64> = (0..n).map(|_| scan.id(4, "the number of a node")).collect::<Result<_>>()?;
    raw.ignore(name, nodes);
    Ok(())
}

/// Blocks of one type each: `type count tags`, then `number tags… nodes…`.
fn binary_elements(scan: &mut Scan, count: usize, raw: &mut Raw) -> Result<()> {
    let mut done = 0;
    while done < count {
        let kind = scan.int(4, "an element type")?;
        let follow = scan.id(4, "a number of elements")?;
        let tags = scan.id(4, "a number of tags")?;
        let follow = scan.fits(follow, 8, "the number of elements")?;
        let tags = scan.fits(tags, 4, "the number of tags")?;
        for _ in 0..follow {
            let id = scan.id(4, "the number of an element")?;
            scan.take(4 * tags)?;
            element(scan, id, kind, raw)?;
        }
        done += follow;
    }
    Ok(())
}
