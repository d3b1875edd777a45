//! Tetrahedral meshes as the programs of each format would write them.
//!
//! Beside the tets each file that can hold them has the triangles of the surface. Gmsh files number node i as 10 + 3i.

use stiction::mesh::{Surface, TetMesh};

/// Order of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Little,
    Big,
}

/// A binary file in the making.
struct Bytes(Vec<u8>, Order);

impl Bytes {
    fn text(&mut self, s: &str) {
        self.0.extend(s.as_bytes());
    }

    fn put(&mut self, mut b: Vec<u8>) {
        if self.1 == Order::Big {
            b.reverse();
        }
        self.0.extend(b);
    }

    fn int(&mut self, x: u64, width: usize) {
        self.put(x.to_le_bytes()[..width].to_vec());
    }

    fn real(&mut self, x: f64) {
        self.put(x.to_le_bytes().to_vec());
    }
}

pub fn gmsh_id(i: u32) -> u64 {
    10 + 3 * u64::from(i)
}

/// Triangles first, as Gmsh does; elements are numbered from 1.
fn gmsh_elements(m: &TetMesh) -> Vec<(u64, Vec<u64>)> {
    let triangles = Surface::of(m).triangles.into_iter().map(|t| (2, t.map(gmsh_id).to_vec()));
    triangles.chain(m.tets.iter().map(|t| (4, t.map(gmsh_id).to_vec()))).collect()
}

fn words(x: &[u64]) -> String {
    x.iter().map(|i| format!(" {i}")).collect()
}

pub fn gmsh2_text(m: &TetMesh) -> Vec<u8> {
    let mut out = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"part\"\n$EndPhysicalNames\n$Nodes\n{}\n",
        m.vertices.len()
    );
    for (i, v) in m.vertices.iter().enumerate() {
        out += &format!("{} {:?} {:?} {:?}\n", gmsh_id(i as u32), v.x, v.y, v.z);
    }
    let elements = gmsh_elements(m);
    out += &format!("$EndNodes\n$Elements\n{}\n", elements.len());
    for (e, (kind, nodes)) in elements.iter().enumerate() {
        out += &format!("{} {kind} 2 1 7{}\n", e + 1, words(nodes));
    }
    (out + "$EndElements\n").into()
}

pub fn gmsh2_binary(m: &TetMesh, order: Order) -> Vec<u8> {
    let mut out = Bytes(vec![], order);
    out.text("$MeshFormat\n2.2 1 8\n");
    out.int(1, 4);
    out.text(&format!("\n$EndMeshFormat\n$Nodes\n{}\n", m.vertices.len()));
    for (i, v) in m.vertices.iter().enumerate() {
        out.int(gmsh_id(i as u32), 4);
        v.to_array().into_iter().for_each(|x| out.real(x));
    }
    let elements = gmsh_elements(m);
    out.text(&format!("\n$EndNodes\n$Elements\n{}\n", elements.len()));
    let mut id = 0;
    for block in elements.chunk_by(|a, b| a.0 == b.0) {
        [block[0].0, block.len() as u64, 2].into_iter().for_each(|x| out.int(x, 4));
        for (_, nodes) in block {
            id += 1;
            [id, 1, 7].into_iter().for_each(|x| out.int(x, 4));
            nodes.iter().for_each(|&n| out.int(n, 4));
        }
    }
    out.text("\n$EndElements\n");
    out.0
}

/// The nodes come in two blocks, the first with parameters.
pub fn gmsh4_text(m: &TetMesh) -> Vec<u8> {
    let n = m.vertices.len();
    let mut out = format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 {n} 10 {}\n", gmsh_id(n as u32));
    for (dimension, range) in [(2, 0..2), (3, 2..n)] {
        let parametric = i32::from(dimension == 2);
        out += &format!("{dimension} 1 {parametric} {}\n", range.len());
        range.clone().for_each(|i| out += &format!("{}\n", gmsh_id(i as u32)));
        for v in &m.vertices[range] {
            out += &format!("{:?} {:?} {:?}{}\n", v.x, v.y, v.z, " 0.5 0.25".repeat(parametric as usize));
        }
    }
    let elements = gmsh_elements(m);
    out += &format!("$EndNodes\n$Elements\n2 {} 1 {}\n", elements.len(), elements.len());
    let mut id = 0;
    for block in elements.chunk_by(|a, b| a.0 == b.0) {
        out += &format!("3 1 {} {}\n", block[0].0, block.len());
        for (_, nodes) in block {
            id += 1;
            out += &format!("{id}{}\n", words(nodes));
        }
    }
    (out + "$EndElements\n").into()
}

/// `width` of ids and counts: 4 or 8.
pub fn gmsh4_binary(m: &TetMesh, order: Order, width: usize) -> Vec<u8> {
    let mut out = Bytes(vec![], order);
    out.text(&format!("$MeshFormat\n4.1 1 {width}\n"));
    out.int(1, 4);
    out.text("\n$EndMeshFormat\n$Entities\n");
    (0..20).for_each(|i| out.int(i, 4));
    out.text("\n$EndEntities\n$Nodes\n");
    let n = m.vertices.len() as u64;
    [1, n, 10, gmsh_id(n as u32)].into_iter().for_each(|x| out.int(x, width));
    [3, 1, 0].into_iter().for_each(|x| out.int(x, 4));
    out.int(n, width);
    (0..n).for_each(|i| out.int(gmsh_id(i as u32), width));
    m.vertices.iter().for_each(|v| v.to_array().into_iter().for_each(|x| out.real(x)));
    out.text("\n$EndNodes\n$Elements\n");
    let elements = gmsh_elements(m);
    [2, elements.len() as u64, 1, elements.len() as u64].into_iter().for_each(|x| out.int(x, width));
    let mut id = 0;
    for block in elements.chunk_by(|a, b| a.0 == b.0) {
        [3, 1, block[0].0].into_iter().for_each(|x| out.int(x, 4));
        out.int(block.len() as u64, width);
        for (_, nodes) in block {
            id += 1;
            out.int(id, width);
            nodes.iter().for_each(|&n| out.int(n, width));
        }
    }
    out.text("\n$EndElements\n");
    out.0
}

/// The `.node` and `.ele` files, counted from `base`.
pub fn tetgen(m: &TetMesh, base: usize) -> [Vec<u8>; 2] {
    let mut nodes = format!("# nodes\n{} 3 1 1\n", m.vertices.len());
    for (i, v) in m.vertices.iter().enumerate() {
        nodes += &format!("{} {:?} {:?} {:?} 0.5 1\n", i + base, v.x, v.y, v.z);
    }
    let mut tets = format!("{} 4 1\n", m.tets.len());
    for (i, t) in m.tets.iter().enumerate() {
        tets += &format!("{}{} -1\n", i + base, words(&t.map(|n| u64::from(n) + base as u64)));
    }
    [nodes.into(), (tets + "# made by a test\n").into()]
}

/// Triangles first.
fn vtk_cells(m: &TetMesh) -> Vec<(u64, Vec<u64>)> {
    let triangles = Surface::of(m).triangles.into_iter().map(|t| (5, t.map(u64::from).to_vec()));
    triangles.chain(m.tets.iter().map(|t| (10, t.map(u64::from).to_vec()))).collect()
}

pub fn vtk_text(m: &TetMesh) -> Vec<u8> {
    let mut out = "# vtk DataFile Version 3.0\na mesh\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_string();
    out += &format!("FIELD FieldData 1\nTIME 1 1 double\n0.5\nPOINTS {} double\n", m.vertices.len());
    m.vertices.iter().for_each(|v| out += &format!("{:?} {:?} {:?}\n", v.x, v.y, v.z));
    let cells = vtk_cells(m);
    let size: usize = cells.iter().map(|c| c.1.len() + 1).sum();
    out += &format!("\nMETADATA\nINFORMATION 0\n\nCELLS {} {size}\n", cells.len());
    cells.iter().for_each(|c| out += &format!("{}{}\n", c.1.len(), words(&c.1)));
    out += &format!("CELL_TYPES {}\n", cells.len());
    cells.iter().for_each(|c| out += &format!("{}\n", c.0));
    (out + "POINT_DATA 4\nSCALARS x double\n").into()
}

pub fn vtk_binary(m: &TetMesh) -> Vec<u8> {
    let mut out = Bytes(vec![], Order::Big);
    out.text("# vtk DataFile Version 2.0\na mesh\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
    out.text(&format!("POINTS {} double\n", m.vertices.len()));
    m.vertices.iter().for_each(|v| v.to_array().into_iter().for_each(|x| out.real(x)));
    let cells = vtk_cells(m);
    let size: usize = cells.iter().map(|c| c.1.len() + 1).sum();
    out.text(&format!("\nCELLS {} {size}\n", cells.len()));
    for c in &cells {
        out.int(c.1.len() as u64, 4);
        c.1.iter().for_each(|&n| out.int(n, 4));
    }
    out.text(&format!("\nCELL_TYPES {}\n", cells.len()));
    cells.iter().for_each(|c| out.int(c.0, 4));
    out.0
}

/// Version 5.1: offsets and nodes apart.
pub fn vtk_offsets(m: &TetMesh) -> Vec<u8> {
    let mut out = Bytes(vec![], Order::Big);
    out.text("# vtk DataFile Version 5.1\na mesh\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
    out.text(&format!("POINTS {} double\n", m.vertices.len()));
    m.vertices.iter().for_each(|v| v.to_array().into_iter().for_each(|x| out.real(x)));
    let cells = vtk_cells(m);
    let size: usize = cells.iter().map(|c| c.1.len()).sum();
    out.text(&format!("\nCELLS {} {size}\nOFFSETS vtktypeint64\n", cells.len() + 1));
    let mut offset = 0;
    out.int(0, 8);
    for c in &cells {
        offset += c.1.len() as u64;
        out.int(offset, 8);
    }
    out.text("\nCONNECTIVITY vtktypeint64\n");
    cells.iter().flat_map(|c| &c.1).for_each(|&n| out.int(n, 8));
    out.text(&format!("\nCELL_TYPES {}\n", cells.len()));
    cells.iter().for_each(|c| out.int(c.0, 4));
    out.0
}

pub fn medit(m: &TetMesh) -> Vec<u8> {
    let mut out =
        format!("MeshVersionFormatted 2\n# made by a test\nDimension\n3\nVertices\n{}\n", m.vertices.len());
    m.vertices.iter().for_each(|v| out += &format!("{:?} {:?} {:?} 0\n", v.x, v.y, v.z));
    out += "Normals\n1\n0 0 1\nCorners\n1\n1\n";
    let triangles = Surface::of(m).triangles;
    out += &format!("Triangles {}\n", triangles.len());
    triangles.iter().for_each(|t| out += &format!("{} 3\n", words(&t.map(|i| u64::from(i) + 1))));
    out += &format!("Tetrahedra\n{}\n", m.tets.len());
    m.tets.iter().for_each(|t| out += &format!("{} 3\n", words(&t.map(|i| u64::from(i) + 1))));
    (out + "End\n").into()
}
