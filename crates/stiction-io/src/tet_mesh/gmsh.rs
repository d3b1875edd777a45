//! Gmsh `.msh`: the header and what both versions share.

use super::scan::{Encoding, Scan, shown};
use super::{TetFile, gmsh2, gmsh4, raw::Raw};
use crate::error::{Error, Result};

/// Reads a Gmsh file of version 2.2 or 4.1, ASCII or binary of either byte order; `name` stands in messages.
pub fn parse_gmsh(bytes: &[u8], name: &str) -> Result<TetFile> {
    let mut scan = Scan::new(bytes, name);
    if scan.word() != Some(b"$MeshFormat") {
        return Err(
            scan.error("is not a Gmsh mesh: `$MeshFormat` is missing", "export the mesh from Gmsh as .msh")
        );
    }
    let version = scan.word().unwrap_or(b"");
    let read: fn(&mut Scan, usize, &mut Raw, Section) -> Result<()> = match version {
        b"2" | b"2.0" | b"2.1" | b"2.2" => gmsh2::section,
        b"4.1" => gmsh4::section,
        other => {
            let problem = format!("Gmsh format {} is not read", shown(other));
            return Err(scan
                .error(problem, "write version 4.1 or 2.2: `gmsh old.msh -save -format msh41 -o new.msh`"));
        }
    };
    let binary = match scan.parse::<u8>("a file type, 0 (ASCII) or 1 (binary)")? {
        0 => false,
        1 => true,
        other => return Err(scan.error(format!("file type {other}"), "it must be 0 (ASCII) or 1 (binary)")),
    };
    let width = scan.parse("a data size")?;
    if width != 8 && !(width == 4 && version == b"4.1") {
        return Err(
            scan.error(format!("numbers of {width} bytes are not read"), "write the file with 8 bytes")
        );
    }
    let mut encoding = Encoding::Text;
    if binary {
        scan.binary = true;
        scan.line();
        // The number one tells the order of bytes.
        encoding = match scan.take(4)? {
            [1, 0, 0, 0] => Encoding::Little,
            [0, 0, 0, 1] => Encoding::Big,
            _ => return Err(byte_order(&scan)),
        };
    }
    scan.expect("$EndMeshFormat")?;

    let mut raw = Raw::default();
    loop {
        scan.encoding = Encoding::Text;
        let Some(word) = scan.word() else { break };
        let section = match word {
            b"$Nodes" => Section::Nodes,
            b"$Elements" => Section::Elements,
            [b'$', other @ ..] => {
                let end = format!("$End{}", shown(other));
                scan.skip_past(&end)?;
                continue;
            }
            other => {
                let problem = format!("`{}` stands where a section should begin", shown(other));
                return Err(scan.error(problem, "a count in the file may be wrong: export it again"));
            }
        };
        scan.encoding = encoding;
        read(&mut scan, width, &mut raw, section)?;
        scan.expect(section.end())?;
    }
    raw.finish(name)
}

fn byte_order(scan: &Scan) -> Error {
    scan.error("the mark of the byte order is not the number one", "export the file again as binary or ASCII")
}

/// The two sections that matter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Nodes,
    Elements,
}

impl Section {
    fn end(self) -> &'static str {
        match self {
            Section::Nodes => "$EndNodes",
            Section::Elements => "$EndElements",
        }
    }
}

/// The element type of tets with four nodes.
pub(super) const TET: i64 = 4;

/// Nodes and name of an element type that is left out; an error for tets of higher order.
pub(super) fn other_type(scan: &Scan, kind: i64) -> Result<(usize, &'static str)> {
    Ok(match kind {
        1 => (2, "lines"),
        2 => (3, "triangles"),
        3 => (4, "quadrangles"),
        TET => (4, "tetrahedra"),
        5 => (8, "hexahedra"),
        6 => (6, "prisms"),
        7 => (5, "pyramids"),
        15 => (1, "points"),
        8 => (3, "curved lines"),
        26 => (4, "curved lines"),
        27 => (5, "curved lines"),
        28 => (6, "curved lines"),
        9 => (6, "curved triangles"),
        20 => (9, "curved triangles"),
        21 => (10, "curved triangles"),
        22 => (12, "curved triangles"),
        23 | 24 => (15, "curved triangles"),
        25 => (21, "curved triangles"),
        10 => (9, "curved quadrangles"),
        16 => (8, "curved quadrangles"),
        12 => (27, "curved hexahedra"),
        17 => (20, "curved hexahedra"),
        13 => (18, "curved prisms"),
        18 => (15, "curved prisms"),
        14 => (14, "curved pyramids"),
        19 => (13, "curved pyramids"),
        11 | 29 | 30 | 31 | 71..=75 => {
            return Err(scan.error(
                format!("a tetrahedron of higher order (element type {kind})"),
                "export elements of first order: `Mesh.ElementOrder = 1` in Gmsh",
            ));
        }
        _ => {
            return Err(scan.error(
                format!("elements of type {kind} are not known"),
                "export tetrahedra of first order alone",
            ));
        }
    })
}
