//! Surface of a tetrahedral mesh: outward triangles, edges, neighbours.

use super::TetMesh;
use crate::linalg::Vec3;

/// The faces of a positive tet, each counter-clockwise seen from outside; face k is opposite to node k.
pub(super) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// A triangle mesh: cloth, or a surface to be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Corners [m].
    pub vertices: Vec<Vec3>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface of a tetrahedral mesh, in the node numbers of that mesh.
///
/// The order depends on the mesh alone: triangles by tet and face, nodes ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Outward triangles.
    pub triangles: Vec<[u32; 3]>,
    /// The tet behind each triangle.
    pub tets: Vec<u32>,
    /// The nodes on the surface, ascending.
    pub nodes: Vec<u32>,
}

/// A face of a tet: `face` is 4 · tet + k, `nodes` are ascending, `even` tells whether an even permutation sorts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub nodes: [u32; 3],
    pub even: bool,
    pub face: u64,
}

/// All faces, equal ones together in the order of their tets.
pub(super) fn sorted_faces(tets: &[[u32; 4]]) -> Vec<Face> {
    let mut faces = Vec::with_capacity(4 * tets.len());
    for (t, tet) in tets.iter().enumerate() {
        for (k, f) in FACES.iter().enumerate() {
            let [a, b, c] = f.map(|i| tet[i]);
            let mut nodes = [a, b, c];
            nodes.sort_unstable();
            let even = (a < b) ^ (b < c) ^ (a < c);
            faces.push(Face { nodes, even, face: (4 * t + k) as u64 });
        }
    }
    faces.sort_unstable_by_key(|f| (f.nodes, f.face));
    faces
}

impl Surface {
    /// The faces that belong to one tet only. Tets must be positive for the triangles to look outward.
    pub fn of(mesh: &TetMesh) -> Surface {
        let faces = sorted_faces(&mesh.tets);
        let mut outer: Vec<u64> =
            faces.chunk_by(|a, b| a.nodes == b.nodes).filter(|g| g.len() == 1).map(|g| g[0].face).collect();
        outer.sort_unstable();
        let corners = |f: u64| FACES[f as usize % 4].map(|i| mesh.tets[f as usize / 4][i]);
        let triangles: Vec<[u32; 3]> = outer.iter().map(|&f| corners(f)).collect();
        let mut nodes: Vec<u32> = triangles.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        Surface { triangles, tets: outer.iter().map(|&f| (f / 4) as u32).collect(), nodes }
    }

    /// The edges, each once as (lower, higher) node, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        edges(&self.triangles)
    }

    /// A triangle mesh of the surface alone, at the positions `x` of all nodes [m]; its vertices are in the order of
    /// `nodes`.
    pub fn to_tri_mesh(&self, x: &[Vec3]) -> TriMesh {
        let new = |i: u32| self.nodes.partition_point(|&n| n < i) as u32;
        TriMesh {
            vertices: self.nodes.iter().map(|&i| x[i as usize]).collect(),
            triangles: self.triangles.iter().map(|t| t.map(new)).collect(),
        }
    }

    /// See [`pinched_edges`]: where parts of the body touch along an edge only.
    pub fn pinched_edges(&self) -> Vec<[u32; 2]> {
        pinched_edges(&self.triangles)
    }
}

impl TriMesh {
    /// The edges, each once as (lower, higher) vertex, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        edges(&self.triangles)
    }
}

/// The edges of triangles, each once as (lower, higher) vertex, sorted.
pub fn edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut all: Vec<[u32; 2]> = half_edges(triangles).map(|[i, j]| [i.min(j), i.max(j)]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The edges that do not join exactly two triangles running along them in opposite directions, sorted. None: the
/// surface is closed and oriented, and no two sheets of it meet in an edge.
pub fn pinched_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut all: Vec<([u32; 2], bool)> =
        half_edges(triangles).map(|[i, j]| ([i.min(j), i.max(j)], i < j)).collect();
    all.sort_unstable();
    let good = |g: &[([u32; 2], bool)]| matches!(g, [(_, false), (_, true)]);
    all.chunk_by(|a, b| a.0 == b.0).filter(|g| !good(g)).map(|g| g[0].0).collect()
}

fn half_edges(triangles: &[[u32; 3]]) -> impl Iterator<Item = [u32; 2]> {
    triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
}

/// Who is joined to whom by an edge, and through which edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// Where the row of each node starts; one more than nodes.
    starts: Vec<u32>,
    /// (neighbour, edge), rows one after the other, each ascending.
    joined: Vec<(u32, u32)>,
}

impl Neighbours {
    /// Of `nodes` nodes joined by sorted `edges`, such as [`edges`] gives.
    ///
    /// # Panics
    /// If an edge names a node beyond `nodes`.
    pub fn new(nodes: usize, edges: &[[u32; 2]]) -> Neighbours {
        let mut starts = vec![0; nodes + 1];
        edges.iter().flatten().for_each(|&i| starts[i as usize + 1] += 1);
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut joined = vec![(0, 0); 2 * edges.len()];
        for (e, &[i, j]) in edges.iter().enumerate() {
            for (a, b) in [(i, j), (j, i)] {
                joined[next[a as usize] as usize] = (b, e as u32);
                next[a as usize] += 1;
            }
        }
        for w in starts.windows(2) {
            joined[w[0] as usize..w[1] as usize].sort_unstable();
        }
        Neighbours { starts, joined }
    }

    /// The neighbours of a node with the edges that lead there, ascending.
    pub fn of(&self, node: u32) -> &[(u32, u32)] {
        let i = node as usize;
        &self.joined[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::shapes;
    use super::*;

    /// Volume inside closed triangles by Gauss's theorem: Σ a·(b × c) / 6.
    fn enclosed(x: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
        let p = |i: u32| x[i as usize];
        triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
    }

    #[test]
    fn triangles_of_one_tet_look_outward() {
        let m = TetMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 1, 2, 3]] };
        let s = Surface::of(&m);
        assert_eq!(s.triangles.len(), 4);
        let centre = Vec3::splat(0.25);
        for t in &s.triangles {
            let [a, b, c] = t.map(|i| m.vertices[i as usize]);
            assert!((b - a).cross(c - a).dot(a - centre) > 0.0);
        }
    }

    #[test]
    fn surface_encloses_the_volume_of_the_tets() {
        let mut m = shapes::torus(0.3, 0.1, 2, 12);
        let s = Surface::of(&m);
        assert!((enclosed(&m.vertices, &s.triangles) - m.volume()).abs() < 1e-15);
        assert!(s.pinched_edges().is_empty());
        // A torus has Euler number 0; its surface is told apart from the nodes inside.
        assert_eq!(s.nodes.len() + s.triangles.len(), s.edges().len());
        assert!(s.nodes.len() < m.vertices.len());
        let skin = s.to_tri_mesh(&m.vertices);
        assert!((enclosed(&skin.vertices, &skin.triangles) - m.volume()).abs() < 1e-15);
        // The order of the tets decides the order of triangles, nothing else.
        m.tets.reverse();
        let mut turned = Surface::of(&m).triangles;
        let mut first = s.triangles;
        turned.sort_unstable();
        first.sort_unstable();
        assert_eq!(turned, first);
    }

    #[test]
    fn tets_that_touch_along_an_edge_pinch_there() {
        // Two tets with only the edge 0–1 in common.
        let vertices = vec![Vec3::ZERO, Vec3::Z, Vec3::X, Vec3::Y, Vec3::NEG_X, Vec3::NEG_Y];
        let m = TetMesh { vertices, tets: vec![[0, 2, 3, 1], [0, 4, 5, 1]] };
        m.check().unwrap();
        assert_eq!(Surface::of(&m).pinched_edges(), [[0, 1]]);
        assert_eq!(pinched_edges(&[[0, 1, 2]]), [[0, 1], [0, 2], [1, 2]]);
    }

    #[test]
    fn neighbours_are_mutual() {
        let m = shapes::block([2, 2, 1], Vec3::ONE);
        let edges = m.edges();
        let n = Neighbours::new(m.vertices.len(), &edges);
        let mut total = 0;
        for i in 0..m.vertices.len() as u32 {
            for &(j, e) in n.of(i) {
                assert_eq!(edges[e as usize], [i.min(j), i.max(j)]);
                assert!(n.of(j).contains(&(i, e)));
                total += 1;
            }
        }
        assert_eq!(total, 2 * edges.len());
    }
}
