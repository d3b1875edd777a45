//! Medit `.mesh`, ASCII: keywords with counts, nodes counted from 1.

use super::{TetFile, raw::Raw, scan::Scan, scan::shown};
use crate::error::Result;
use stiction::Vec3;

/// Elements that are left out: keyword, number of nodes, name.
const OTHERS: &[(&str, usize, &str)] = &[
    ("Corners", 1, "corners"),
    ("RequiredVertices", 1, "required vertices"),
    ("Edges", 2, "lines"),
    ("Triangles", 3, "triangles"),
    ("Quadrilaterals", 4, "quadrangles"),
    ("Pyramids", 5, "pyramids"),
    ("Prisms", 6, "prisms"),
    ("Hexahedra", 8, "hexahedra"),
];

/// Reads the text of a Medit file; `name` stands in messages.
pub fn parse_medit(bytes: &[u8], name: &str) -> Result<TetFile> {
    let mut scan = Scan::new(bytes, name);
    scan.comments = true;
    let first = scan.word().unwrap_or(b"");
    if !first.eq_ignore_ascii_case(b"MeshVersionFormatted") {
        return Err(scan.error(
            "is not an ASCII Medit mesh: `MeshVersionFormatted` is missing",
            "export the mesh as ASCII .mesh (not .meshb)",
        ));
    }
    scan.parse::<u32>("a version")?;
    let mut raw = Raw::default();
    // Numbers after an unknown keyword belong to it.
    let mut unknown = false;
    while let Some(word) = scan.word() {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if is("End") {
            break;
        } else if is("Dimension") {
            let dimension: u32 = scan.parse("a dimension")?;
            if dimension != 3 {
                return Err(
                    scan.error(format!("a mesh of dimension {dimension}"), "export a mesh of dimension 3")
                );
            }
        } else if is("Vertices") {
            vertices(&mut scan, &mut raw)?;
        } else if is("Tetrahedra") {
            tetrahedra(&mut scan, &mut raw)?;
        } else if is("TetrahedraP2") {
            return Err(scan.error("tetrahedra of higher order", "export elements of first order"));
        } else if let Some(&(_, nodes, kind)) = OTHERS.iter().find(|o| is(o.0)) {
            others(&mut scan, nodes, kind, &mut raw)?;
        } else if word[0].is_ascii_alphabetic() {
            unknown = true;
            continue;
        } else if !unknown {
            let problem = format!("`{}` stands where a keyword should be", shown(word));
            return Err(scan.error(problem, "the count before it may be wrong: export the mesh again"));
        } else {
            continue;
        }
        unknown = false;
    }
    raw.finish(name)
}

/// `count`, then `x y z reference`.
fn vertices(scan: &mut Scan, raw: &mut Raw) -> Result<()> {
    let count = scan.count(0, 8, "the number of vertices")?;
    for _ in 0..count {
        let mut x = [0.0; 3];
        for c in &mut x {
            *c = scan.real(8, "a coordinate")?;
        }
        scan.real(8, "a reference")?;
        raw.nodes.push((raw.nodes.len() as u64 + 1, Vec3::from_array(x)));
    }
    Ok(())
}

/// `count`, then `four nodes, reference`.
fn tetrahedra(scan: &mut Scan, raw: &mut Raw) -> Result<()> {
    let count = scan.count(0, 8, "the number of tetrahedra")?;
    for _ in 0..count {
        let mut tet = [0; 4];
        for n in &mut tet {
            *n = scan.id(0, "the number of a node")?;
        }
        scan.int(0, "a reference")?;
        raw.tets.push((raw.tets.len() as u64 + 1, tet));
    }
    Ok(())
}

/// Elements of another kind; corners and required vertices have no reference.
fn others(scan: &mut Scan, nodes: usize, kind: &'static str, raw: &mut Raw) -> Result<()> {
    let count = scan.count(0, nodes, "a number of elements")?;
    for _ in 0..count {
        let mut ids = [0; 8];
        for n in &mut ids[..nodes] {
            *n = scan.id(0, "the number of a node")?;
        }
        if nodes > 1 {
            scan.int(0, "a reference")?;
        }
        raw.ignore(kind, ids[..nodes].iter().copied());
    }
    Ok(())
}
