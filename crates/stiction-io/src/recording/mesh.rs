//! Geometry of a recording: counts in the JSON header, numbers as binary arrays.

use serde::{Deserialize, Serialize};

/// Vertices, triangles and tetrahedra. The header holds how many there are; the numbers follow as binary arrays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "MeshCounts", into = "MeshCounts")]
pub struct Mesh {
    /// Vertices [m].
    pub vertices: Vec<[f32; 3]>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Corners of each tetrahedron.
    pub tets: Vec<[u32; 4]>,
    /// Of a surface that is carried by a solid: the tetrahedron of that solid which carries each vertex. Empty otherwise.
    pub hosts: Vec<u32>,
    /// What the header says there is.
    counts: MeshCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct MeshCounts {
    vertices: u32,
    triangles: u32,
    tets: u32,
    #[serde(default, skip_serializing_if = "none")]
    hosts: u32,
}

fn none(count: &u32) -> bool {
    *count == 0
}

impl From<MeshCounts> for Mesh {
    fn from(counts: MeshCounts) -> Mesh {
        Mesh { counts, ..Mesh::default() }
    }
}

impl From<Mesh> for MeshCounts {
    fn from(m: Mesh) -> MeshCounts {
        m.counts
    }
}

impl Mesh {
    /// A mesh of these arrays.
    pub fn new(vertices: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>, tets: Vec<[u32; 4]>) -> Mesh {
        let counts = MeshCounts {
            vertices: vertices.len() as u32,
            triangles: triangles.len() as u32,
            tets: tets.len() as u32,
            hosts: 0,
        };
        Mesh { vertices, triangles, tets, hosts: Vec::new(), counts }
    }

    /// A surface whose vertices are carried by these tetrahedra of a solid.
    pub fn carried(vertices: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>, hosts: Vec<u32>) -> Mesh {
        let mut mesh = Mesh::new(vertices, triangles, Vec::new());
        mesh.counts.hosts = hosts.len() as u32;
        mesh.hosts = hosts;
        mesh
    }

    /// Appends the arrays: vertices f32, triangles u32, tetrahedra u32, hosts u32.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        self.vertices.iter().flatten().for_each(|x| out.extend(x.to_le_bytes()));
        self.triangles.iter().flatten().for_each(|x| out.extend(x.to_le_bytes()));
        self.tets.iter().flatten().for_each(|x| out.extend(x.to_le_bytes()));
        self.hosts.iter().for_each(|x| out.extend(x.to_le_bytes()));
    }

    /// Takes the arrays from the front of `rest`; `None` when there are too few bytes or a corner does not exist.
    pub(super) fn take(&mut self, rest: &mut &[u8]) -> Option<()> {
        let c = self.counts;
        let vertices = words::<3>(rest, c.vertices)?;
        self.vertices = vertices.into_iter().map(|v| v.map(f32::from_bits)).collect();
        self.triangles = words(rest, c.triangles)?;
        self.tets = words(rest, c.tets)?;
        self.hosts = words::<1>(rest, c.hosts)?.into_iter().flatten().collect();
        let mut corners = self.triangles.iter().flatten().chain(self.tets.iter().flatten());
        corners.all(|&i| i < c.vertices).then_some(())
    }
}

/// `count` groups of N words from the front of `rest`.
fn words<const N: usize>(rest: &mut &[u8], count: u32) -> Option<Vec<[u32; N]>> {
    let (head, tail) = rest.split_at_checked((count as usize).checked_mul(4 * N)?)?;
    *rest = tail;
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    Some(head.chunks_exact(4 * N).map(|b| std::array::from_fn(|k| word(&b[4 * k..]))).collect())
}
