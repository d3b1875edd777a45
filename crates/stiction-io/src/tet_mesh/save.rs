//! Writing tetrahedral meshes.

use crate::error::{Error, Result};
use crate::write::whole_file;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use stiction::mesh::TetMesh;

/// Writes a mesh, complete or not at all; the ending of its name tells the format: `.msh` (Gmsh 2.2, text), `.vtk`
/// (legacy, text) or `.mesh` (Medit).
pub fn save(path: &Path, mesh: &TetMesh) -> Result<()> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let write: fn(&mut dyn Write, &TetMesh) -> io::Result<()> = match ending.as_str() {
        "msh" => gmsh,
        "vtk" => vtk,
        "mesh" => medit,
        _ => {
            let remedy = "choose a name that ends in .msh, .vtk or .mesh";
            return Err(Error::at_path(path, "is none of .msh, .vtk and .mesh", remedy));
        }
    };
    whole_file(path, |file| {
        let mut out = BufWriter::new(file);
        write(&mut out, mesh)?;
        out.flush()
    })
}

fn gmsh(out: &mut dyn Write, m: &TetMesh) -> io::Result<()> {
    writeln!(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}", m.vertices.len())?;
    for (k, v) in m.vertices.iter().enumerate() {
        writeln!(out, "{} {:?} {:?} {:?}", k + 1, v.x, v.y, v.z)?;
    }
    writeln!(out, "$EndNodes\n$Elements\n{}", m.tets.len())?;
    for (k, t) in m.tets.iter().enumerate() {
        let [a, b, c, d] = t.map(|i| i + 1);
        writeln!(out, "{} 4 2 1 1 {a} {b} {c} {d}", k + 1)?;
    }
    writeln!(out, "$EndElements")
}

fn vtk(out: &mut dyn Write, m: &TetMesh) -> io::Result<()> {
    writeln!(out, "# vtk DataFile Version 2.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID")?;
    writeln!(out, "POINTS {} double", m.vertices.len())?;
    for v in &m.vertices {
        writeln!(out, "{:?} {:?} {:?}", v.x, v.y, v.z)?;
    }
    writeln!(out, "CELLS {} {}", m.tets.len(), 5 * m.tets.len())?;
    for [a, b, c, d] in &m.tets {
        writeln!(out, "4 {a} {b} {c} {d}")?;
    }
    writeln!(out, "CELL_TYPES {}", m.tets.len())?;
    m.tets.iter().try_for_each(|_| writeln!(out, "10"))
}

fn medit(out: &mut dyn Write, m: &TetMesh) -> io::Result<()> {
    writeln!(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n{}", m.vertices.len())?;
    for v in &m.vertices {
        writeln!(out, "{:?} {:?} {:?} 0", v.x, v.y, v.z)?;
    }
    writeln!(out, "Tetrahedra\n{}", m.tets.len())?;
    for t in &m.tets {
        let [a, b, c, d] = t.map(|i| i + 1);
        writeln!(out, "{a} {b} {c} {d} 0")?;
    }
    writeln!(out, "End")
}

#[cfg(test)]
mod tests {
    use super::super::{parse_gmsh, parse_medit, parse_vtk};
    use super::*;
    use stiction::mesh::shapes;

    #[test]
    fn what_is_written_reads_back_bit_for_bit() {
        let m = shapes::sphere(0.1, 2);
        let text = |write: fn(&mut dyn Write, &TetMesh) -> io::Result<()>| {
            let mut out = Vec::new();
            write(&mut out, &m).unwrap();
            out
        };
        assert_eq!(parse_gmsh(&text(gmsh), "m.msh").unwrap().mesh, m);
        assert_eq!(parse_vtk(&text(vtk), "m.vtk").unwrap().mesh, m);
        assert_eq!(parse_medit(&text(medit), "m.mesh").unwrap().mesh, m);
    }
}
