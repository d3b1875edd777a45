//! What a mesh of a soft body must fulfil, and messages that name elements, nodes and the remedy.

use super::surface::{FACES, Face, sorted_faces};
use super::tet::{TetMesh, edge_squares, signed_volume};
use std::fmt;
use thiserror::Error;

/// A tet is flat when |V| ≤ this · (longest edge)³: rounding of coordinates alone can turn it inside out.
const FLAT: f64 = 1e-12;

/// Largest coordinate [m]: squares and volumes stay finite and meaningful.
const LARGEST: f64 = 1e9;

/// How many ids a message shows.
const SHOWN: usize = 6;

/// What is wrong with a mesh.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MeshProblem {
    /// No tets.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// A tet names a node that does not exist.
    #[error("a node index is out of range")]
    IndexOutOfRange,
    /// A tet names a node twice.
    #[error("a node appears twice in a tetrahedron")]
    RepeatedNode,
    /// A coordinate is infinite, not a number, or beyond 1e9 m.
    #[error("a coordinate is not finite or beyond 1e9 m")]
    NotFinite,
    /// No tet uses the node.
    #[error("unreferenced: no tetrahedron uses it")]
    UnreferencedNode,
    /// Two nodes at the same place.
    #[error("duplicate nodes: same position")]
    DuplicateNode,
    /// |V| ≤ 1e-12 · (longest edge)³.
    #[error("zero volume: the four nodes lie in a plane")]
    Flat,
    /// Negative volume.
    #[error("inverted: negative volume")]
    Inverted,
    /// Three or more tets on one face.
    #[error("more than two tetrahedra share a face")]
    CrowdedFace,
    /// Two tets on the same side of their common face.
    #[error("tetrahedra overlap: they lie on the same side of their common face")]
    Folded,
}

impl MeshProblem {
    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            MeshProblem::Empty => "export volume elements (4-node tetrahedra), not the surface alone",
            MeshProblem::IndexOutOfRange => {
                "export the mesh again, and check whether nodes are counted from 0 or 1"
            }
            MeshProblem::RepeatedNode => "remove the collapsed tetrahedra, or mesh the part again",
            MeshProblem::NotFinite => "check the export and the unit of length: coordinates are metres",
            MeshProblem::UnreferencedNode => {
                "remove the nodes (`TetMesh::remove_unreferenced`), or export only nodes of the volume"
            }
            MeshProblem::DuplicateNode => {
                "merge coincident nodes in the mesher (in Gmsh: `Coherence Mesh;`), or move parts that only touch apart"
            }
            MeshProblem::Flat => {
                "improve the mesh (in Gmsh: `Mesh.OptimizeNetgen = 1`), or mesh the part again"
            }
            MeshProblem::Inverted => "turn them with `TetMesh::orient`, or mesh the part again",
            MeshProblem::CrowdedFace => "remove tetrahedra that are there twice",
            MeshProblem::Folded => "the mesh is tangled: mesh the part again",
        }
    }
}

/// A mesh that no soft body can be made of: the problem, and the tets and nodes that have it.
///
/// Ids are positions in [`TetMesh::tets`] and [`TetMesh::vertices`], counted from 0; readers of files replace them
/// by the ids of the file.
#[derive(Clone, Debug, Error, PartialEq)]
pub struct MeshError {
    /// What is wrong.
    pub problem: MeshProblem,
    /// All tets concerned.
    pub tets: Vec<u64>,
    /// All nodes concerned.
    pub nodes: Vec<u64>,
}

impl MeshError {
    fn new(problem: MeshProblem, tets: Vec<usize>, nodes: Vec<usize>) -> MeshError {
        let wide = |ids: Vec<usize>| ids.into_iter().map(|i| i as u64).collect();
        MeshError { problem, tets: wide(tets), nodes: wide(nodes) }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        self.problem.remedy()
    }
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [list("tet", &self.tets), list("node", &self.nodes)];
        let lists: Vec<String> = lists.into_iter().flatten().collect();
        if !lists.is_empty() {
            write!(f, "{}: ", lists.join(", "))?;
        }
        write!(f, "{}", self.problem)
    }
}

/// "node 3", "nodes 3, 4 and 7", "tets 1, 2, 3, 4, 5, 6 and 20 more".
fn list(what: &str, ids: &[u64]) -> Option<String> {
    let join = |ids: &[u64]| ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    match ids {
        [] => None,
        [one] => Some(format!("{what} {one}")),
        [first @ .., last] if ids.len() <= SHOWN => Some(format!("{what}s {} and {last}", join(first))),
        _ => Some(format!("{what}s {} and {} more", join(&ids[..SHOWN]), ids.len() - SHOWN)),
    }
}

impl TetMesh {
    /// Tells whether a soft body can be made of this mesh: it has tets of positive volume, whose nodes exist, are
    /// finite, distinct and all used, and which meet face to face without overlap. The first kind of problem found
    /// is reported with everything that has it.
    pub fn check(&self) -> Result<(), MeshError> {
        use MeshProblem::*;
        let fail = |problem, tets: Vec<usize>, nodes: Vec<usize>| {
            if tets.is_empty() && nodes.is_empty() {
                Ok(())
            } else {
                Err(MeshError::new(problem, tets, nodes))
            }
        };
        if self.tets.is_empty() {
            return Err(MeshError::new(Empty, vec![], vec![]));
        }
        fail(
            IndexOutOfRange,
            self.tets_where(|t| t.iter().any(|&i| i as usize >= self.vertices.len())),
            vec![],
        )?;
        let wild = |i: &usize| {
            let x = self.vertices[*i];
            !(x.is_finite() && x.abs().max_element() <= LARGEST)
        };
        fail(NotFinite, vec![], (0..self.vertices.len()).filter(wild).collect())?;
        let repeats = |t: [u32; 4]| (0..4).any(|k| t[k + 1..].contains(&t[k]));
        fail(RepeatedNode, self.tets_where(repeats), vec![])?;
        fail(UnreferencedNode, vec![], self.unreferenced())?;
        fail(DuplicateNode, vec![], self.coincident())?;
        let flat = |x| {
            let longest = edge_squares(x).into_iter().fold(0.0, f64::max).sqrt();
            signed_volume(x).abs() <= FLAT * longest * longest * longest
        };
        fail(Flat, self.tets_where(|t| flat(t.map(|i| self.vertices[i as usize]))), vec![])?;
        let inverted = |t: [u32; 4]| signed_volume(t.map(|i| self.vertices[i as usize])) < 0.0;
        fail(Inverted, self.tets_where(inverted), vec![])?;
        self.check_faces()
    }

    /// The tets of which something holds.
    fn tets_where(&self, bad: impl Fn([u32; 4]) -> bool) -> Vec<usize> {
        (0..self.tets.len()).filter(|&t| bad(self.tets[t])).collect()
    }

    fn unreferenced(&self) -> Vec<usize> {
        let mut used = vec![false; self.vertices.len()];
        self.tets.iter().flatten().for_each(|&i| used[i as usize] = true);
        (0..used.len()).filter(|&i| !used[i]).collect()
    }

    /// Nodes that share their exact place with another one, groups together.
    fn coincident(&self) -> Vec<usize> {
        // Adding zero makes −0 and 0 the same place.
        let place = |&i: &usize| (self.vertices[i] + 0.0).to_array();
        let order = |a: &usize, b: &usize| {
            let (p, q) = (place(a), place(b));
            p.iter().zip(&q).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne()).unwrap_or(a.cmp(b))
        };
        let mut ids: Vec<usize> = (0..self.vertices.len()).collect();
        ids.sort_unstable_by(order);
        ids.chunk_by(|a, b| place(a) == place(b)).filter(|group| group.len() > 1).flatten().copied().collect()
    }

    /// Each face has one tet, or two on its two sides.
    fn check_faces(&self) -> Result<(), MeshError> {
        let faces = sorted_faces(&self.tets);
        let nodes = |f: &Face| f.nodes.map(|i| i as usize).to_vec();
        let tets = |group: &[Face]| group.iter().map(|f| f.face as usize / FACES.len()).collect::<Vec<_>>();
        for group in faces.chunk_by(|a, b| a.nodes == b.nodes) {
            match group {
                [_] => {}
                [a, b] if a.even != b.even => {}
                [a, _] => return Err(MeshError::new(MeshProblem::Folded, tets(group), nodes(a))),
                _ => return Err(MeshError::new(MeshProblem::CrowdedFace, tets(group), nodes(&group[0]))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Vec3;

    /// Two tets on the two sides of the triangle 1, 2, 3.
    fn pair() -> TetMesh {
        TetMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE],
            tets: vec![[0, 1, 2, 3], [4, 1, 3, 2]],
        }
    }

    /// What `check` says about the pair after a change.
    fn said(change: impl FnOnce(&mut TetMesh)) -> String {
        let mut m = pair();
        change(&mut m);
        let e = m.check().unwrap_err();
        assert!(!e.remedy().is_empty());
        e.to_string()
    }

    #[test]
    fn a_good_mesh_passes() {
        assert_eq!(pair().check(), Ok(()));
    }

    #[test]
    fn each_problem_is_named_with_its_elements() {
        assert_eq!(said(|m| m.tets.clear()), "the mesh has no tetrahedra");
        assert_eq!(said(|m| m.tets[1][2] = 5), "tet 1: a node index is out of range");
        assert_eq!(said(|m| m.tets[1][2] = 4), "tet 1: a node appears twice in a tetrahedron");
        assert_eq!(
            said(|m| m.vertices[2].y = f64::NAN),
            "node 2: a coordinate is not finite or beyond 1e9 m"
        );
        assert_eq!(said(|m| m.vertices[0].y = -2e9), "node 0: a coordinate is not finite or beyond 1e9 m");
        assert_eq!(said(|m| m.vertices.push(Vec3::ZERO)), "node 5: unreferenced: no tetrahedron uses it");
        assert_eq!(
            said(|m| m.vertices[4] = -0.0 * Vec3::ONE),
            "nodes 0 and 4: duplicate nodes: same position"
        );
        let third = Vec3::splat(1.0 / 3.0);
        assert_eq!(said(|m| m.vertices[4] = third), "tet 1: zero volume: the four nodes lie in a plane");
        assert_eq!(said(|m| m.tets[0].swap(0, 1)), "tet 0: inverted: negative volume");
        assert_eq!(
            said(|m| m.tets.push(m.tets[0])),
            "tets 0 and 2, nodes 0, 1 and 2: tetrahedra overlap: they lie on the same side of their common face"
        );
    }

    #[test]
    fn a_tangled_mesh_stays_bad_when_its_tets_are_turned() {
        // Node 4 is pulled through the common face: its tet turns inside out.
        let mut m = pair();
        m.vertices[4] = Vec3::splat(0.1);
        assert_eq!(m.check().unwrap_err().problem, MeshProblem::Inverted);
        assert_eq!(m.orient(), 1);
        let e = m.check().unwrap_err();
        assert_eq!((e.problem, e.tets, e.nodes), (MeshProblem::Folded, vec![0, 1], vec![1, 2, 3]));
    }

    #[test]
    fn three_tets_on_a_face_are_too_many() {
        let mut m = pair();
        m.vertices.push(Vec3::new(1.0, 1.0, 2.0));
        m.tets.push([5, 1, 3, 2]);
        assert_eq!(m.check().unwrap_err().problem, MeshProblem::CrowdedFace);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list("node", &[1, 2, 3]).unwrap(), "nodes 1, 2 and 3");
        assert_eq!(list("tet", &(0..20).collect::<Vec<_>>()).unwrap(), "tets 0, 1, 2, 3, 4, 5 and 14 more");
    }
}
