//! The tetrahedral mesh: nodes, tets, and what follows from them.

use crate::linalg::{Mat3, Vec3};

/// A tetrahedral mesh.
///
/// Tets are positive: seen from the fourth node, the first three run clockwise, so that
/// V = det[x₁ − x₀, x₂ − x₀, x₃ − x₀] / 6 > 0. [`TetMesh::check`] tells whether a mesh is fit for a soft body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Nodes [m].
    pub vertices: Vec<Vec3>,
    /// The four nodes of each tet.
    pub tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// The corners of a tet [m].
    ///
    /// # Panics
    /// If the tet or one of its nodes does not exist.
    pub fn corners(&self, tet: usize) -> [Vec3; 4] {
        self.tets[tet].map(|i| self.vertices[i as usize])
    }

    /// Signed volume of each tet [m³].
    pub fn volumes(&self) -> Vec<f64> {
        (0..self.tets.len()).map(|t| signed_volume(self.corners(t))).collect()
    }

    /// Volume [m³]: the sum of the signed volumes.
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| signed_volume(self.corners(t))).sum()
    }

    /// Lowest and highest corner of the box around all nodes [m]; `None` without nodes.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.vertices.first()?;
        Some(self.vertices.iter().fold((first, first), |(lo, hi), &v| (lo.min(v), hi.max(v))))
    }

    /// The edges, each once as (lower, higher) node, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut all = Vec::with_capacity(6 * self.tets.len());
        for &[a, b, c, d] in &self.tets {
            all.extend([[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]].map(|[i, j]| [i.min(j), i.max(j)]));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Mean length of the edges [m]; 0 without tets.
    pub fn mean_edge(&self) -> f64 {
        let edges = self.edges();
        let x = |i: u32| self.vertices[i as usize];
        let total: f64 = edges.iter().map(|&[i, j]| x(i).distance(x(j))).sum();
        total / edges.len().max(1) as f64
    }

    /// The lowest [`quality`] of all tets; 1 without tets.
    pub fn worst_quality(&self) -> f64 {
        (0..self.tets.len()).map(|t| quality(self.corners(t))).fold(1.0, f64::min)
    }

    /// Swaps the last two nodes of each tet with negative volume, and returns how many there were.
    ///
    /// Files disagree about the order of nodes; turning a tet changes its name, not its place. A mesh that is truly
    /// tangled has tets on the same side of a face afterwards, which [`TetMesh::check`] finds.
    ///
    /// # Panics
    /// If a tet names a node that does not exist.
    pub fn orient(&mut self) -> usize {
        let mut turned = 0;
        for t in 0..self.tets.len() {
            if signed_volume(self.corners(t)) < 0.0 {
                self.tets[t].swap(2, 3);
                turned += 1;
            }
        }
        turned
    }

    /// Removes nodes that no tet uses and returns how many; the order of the others stays.
    ///
    /// # Panics
    /// If a tet names a node that does not exist.
    pub fn remove_unreferenced(&mut self) -> usize {
        const UNUSED: u32 = u32::MAX;
        let mut new = vec![UNUSED; self.vertices.len()];
        self.tets.iter().flatten().for_each(|&i| new[i as usize] = 0);
        let mut kept = 0;
        for i in 0..new.len() {
            if new[i] != UNUSED {
                new[i] = kept;
                self.vertices[kept as usize] = self.vertices[i];
                kept += 1;
            }
        }
        self.vertices.truncate(kept as usize);
        self.tets.iter_mut().flatten().for_each(|i| *i = new[*i as usize]);
        new.len() - kept as usize
    }
}

/// Volume of a tet [m³]: det[x₁ − x₀, x₂ − x₀, x₃ − x₀] / 6, negative where it is inside out.
pub fn signed_volume(x: [Vec3; 4]) -> f64 {
    Mat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]).determinant() / 6.0
}

/// Quality of a tet: 6√2 V / ℓ³ with ℓ the root mean square of its edges. 1 for a regular tet, 0 for a flat one,
/// negative for one inside out. Below 0.02 it is a sliver, which spoils the conditioning of everything.
pub fn quality(x: [Vec3; 4]) -> f64 {
    let mean_square = edge_squares(x).iter().sum::<f64>() / 6.0;
    if mean_square > 0.0 { 6.0 * 2f64.sqrt() * signed_volume(x) / mean_square.powf(1.5) } else { 0.0 }
}

/// Squared lengths of the six edges [m²].
pub(super) fn edge_squares(x: [Vec3; 4]) -> [f64; 6] {
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(i, j)| x[i].distance_squared(x[j]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corner of a unit cube: V = 1/6, three edges 1 and three √2.
    fn corner() -> TetMesh {
        TetMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 1, 2, 3]] }
    }

    #[test]
    fn corner_of_a_cube() {
        let m = corner();
        assert!((m.volume() - 1.0 / 6.0).abs() < 1e-16);
        assert_eq!(m.bounds(), Some((Vec3::ZERO, Vec3::ONE)));
        assert!((m.mean_edge() - (1.0 + 2f64.sqrt()) / 2.0).abs() < 1e-15);
        assert_eq!(m.edges(), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn quality_is_one_for_the_regular_tet_alone() {
        let regular = [(1, 1, 1), (-1, -1, 1), (-1, 1, -1), (1, -1, -1)]
            .map(|(x, y, z)| Vec3::new(f64::from(x), f64::from(y), f64::from(z)));
        assert!((quality(regular).abs() - 1.0).abs() < 1e-14);
        assert!(quality(corner().corners(0)) < 0.9);
        assert_eq!(quality([Vec3::ZERO; 4]), 0.0);
    }

    #[test]
    fn orient_turns_exactly_the_inverted() {
        let mut m = corner();
        m.tets = vec![[1, 0, 2, 3], [0, 1, 2, 3]];
        assert_eq!(m.orient(), 1);
        assert_eq!(m.tets, [[1, 0, 3, 2], [0, 1, 2, 3]]);
        assert!(m.volumes().iter().all(|&v| v > 0.0));
    }

    #[test]
    fn unreferenced_nodes_go_and_the_rest_keep_their_order() {
        let mut m = corner();
        m.vertices.insert(1, Vec3::splat(7.0));
        m.vertices.push(Vec3::splat(8.0));
        m.tets = vec![[0, 2, 3, 4]];
        assert_eq!(m.remove_unreferenced(), 2);
        assert_eq!(m, corner());
    }
}
