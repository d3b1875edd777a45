//! Points that move with a mesh: the tet around a point and its barycentric weights there.

use super::surface::FACES;
use super::{TetMesh, TriMesh};
use crate::linalg::{Mat3, Vec3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::Triangle;

/// A point counts as inside a tet when no weight is below −this: faces belong to both sides in spite of rounding.
const INSIDE: f64 = 1e-12;

/// A point that moves with a tet: x = Σ wₖ x(nodeₖ), Σ wₖ = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Embedding {
    /// The tet.
    pub tet: u32,
    /// Its nodes.
    pub nodes: [u32; 4],
    /// Barycentric weights; all in [0, 1] where the point is inside, otherwise extrapolated.
    pub weights: [f64; 4],
}

impl Embedding {
    /// Where the point is when the nodes are at `x` [m]. Velocities are carried over the same way.
    pub fn position(&self, x: &[Vec3]) -> Vec3 {
        (0..4).map(|k| self.weights[k] * x[self.nodes[k] as usize]).sum()
    }

    /// Whether the point lay inside the tet, or on its surface, when it was embedded.
    pub fn is_inside(&self) -> bool {
        self.weights.iter().all(|&w| w >= -INSIDE)
    }
}

/// Finds the tets of a mesh around points, by a tree of boxes.
///
/// A point inside belongs to the lowest tet that contains it. A point outside belongs to the nearest tet.
pub struct Locator<'a> {
    mesh: &'a TetMesh,
    tree: Bvh,
}

impl<'a> Locator<'a> {
    /// For a mesh that [`TetMesh::check`] finds good.
    pub fn new(mesh: &'a TetMesh) -> Locator<'a> {
        let boxes: Vec<Aabb> = (0..mesh.tets.len()).map(|t| Aabb::from_points(mesh.corners(t))).collect();
        Locator { mesh, tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) }
    }

    /// Embeds a point [m]; [`Embedding::is_inside`] tells whether the mesh holds it.
    ///
    /// # Panics
    /// If the mesh has no tets or the point is not finite.
    pub fn embed(&self, p: Vec3) -> Embedding {
        assert!(p.is_finite(), "a point to embed must be finite");
        // Boxes are widened as the weights are: flat ones would lose points to rounding.
        let slack = Vec3::splat(INSIDE * (1.0 + p.abs().max_element()));
        let (lo, hi) = (p - slack, p + slack);
        let near = |b: &Aabb| b.mins.cmple(hi).all() && b.maxs.cmpge(lo).all();
        let inside = self.tree.leaves(|node| near(&node.aabb())).filter(|&t| self.at(t, p).is_inside()).min();
        self.at(inside.unwrap_or_else(|| self.nearest(p)), p)
    }

    /// Embeds the vertices of a visual surface.
    pub fn embed_surface(&self, surface: &TriMesh) -> Vec<Embedding> {
        surface.vertices.iter().map(|&p| self.embed(p)).collect()
    }

    /// The point with respect to one tet.
    fn at(&self, tet: u32, p: Vec3) -> Embedding {
        Embedding {
            tet,
            nodes: self.mesh.tets[tet as usize],
            weights: barycentric(self.mesh.corners(tet as usize), p),
        }
    }

    /// The tet nearest to a point outside.
    fn nearest(&self, p: Vec3) -> u32 {
        let distance = |t: u32| {
            let x = self.mesh.corners(t as usize);
            let to =
                |f: [usize; 3]| Triangle::new(x[f[0]], x[f[1]], x[f[2]]).distance_to_local_point(p, true);
            FACES.map(to).into_iter().fold(f64::INFINITY, f64::min)
        };
        let to_box = |b: &Aabb| p.distance(p.clamp(b.mins, b.maxs));
        self.tree
            .find_best(f64::MAX, |node, _| to_box(&node.aabb()), |t, _| Some(distance(t)))
            .expect("a mesh to embed in has tets")
            .0
    }
}

/// Barycentric weights: p = Σ wₖ xₖ, Σ wₖ = 1. The tet must not be flat.
fn barycentric(x: [Vec3; 4], p: Vec3) -> [f64; 4] {
    let edges = Mat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let w = edges.inverse() * (p - x[0]);
    [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
}

#[cfg(test)]
mod tests {
    use super::super::shapes;
    use super::*;

    /// Points spread over a box without a pattern (additive recurrence of the plastic number's powers).
    fn points(n: usize, half: f64) -> Vec<Vec3> {
        let step = Vec3::new(0.819_172_513, 0.671_043_606, 0.549_700_477);
        (1..=n).map(|k| half * (2.0 * (k as f64 * step).fract() - 1.0)).collect()
    }

    #[test]
    fn points_inside_are_found_where_a_search_through_all_tets_finds_them() {
        let m = shapes::sphere(1.0, 3);
        let locator = Locator::new(&m);
        let mut inside = 0;
        for p in points(500, 1.1) {
            let e = locator.embed(p);
            assert!(e.position(&m.vertices).distance(p) < 1e-13);
            let first = (0..m.tets.len() as u32).find(|&t| locator.at(t, p).is_inside());
            assert_eq!(e.is_inside(), first.is_some());
            if let Some(t) = first {
                assert_eq!(e.tet, t);
                inside += 1;
            }
        }
        assert!((100..400).contains(&inside));
    }

    #[test]
    fn points_outside_go_to_the_nearest_tet() {
        let m = shapes::block([3, 3, 3], Vec3::splat(3.0));
        let locator = Locator::new(&m);
        for p in [Vec3::new(0.2, 0.4, 5.0), Vec3::new(-9.0, 1.2, 1.3), Vec3::new(4.0, 4.0, -4.0)] {
            let e = locator.embed(p);
            assert!(!e.is_inside());
            let on_block = p.clamp(Vec3::new(-1.5, -1.5, 0.0), Vec3::new(1.5, 1.5, 3.0));
            assert!(locator.at(e.tet, on_block).is_inside(), "{p}: tet {}", e.tet);
            assert!(e.position(&m.vertices).distance(p) < 1e-13);
        }
    }

    #[test]
    fn one_tet_is_enough() {
        let m = TetMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 1, 2, 3]] };
        let e = Locator::new(&m).embed(Vec3::new(0.1, 0.2, 0.3));
        assert!(
            e.is_inside() && (Vec3::from_slice(&e.weights[1..]) - Vec3::new(0.1, 0.2, 0.3)).length() < 1e-15
        );
        let e = Locator::new(&m).embed(Vec3::new(-1.0, 0.0, 0.0));
        assert!(!e.is_inside() && (e.weights[0] - 2.0).abs() < 1e-15);
    }

    #[test]
    fn nodes_and_faces_belong_to_the_mesh() {
        let m = shapes::ring(0.1, 0.03, 18);
        let locator = Locator::new(&m);
        for (i, &x) in m.vertices.iter().enumerate() {
            let e = locator.embed(x);
            assert!(e.is_inside());
            let k = e.nodes.iter().position(|&n| n as usize == i).expect("a tet at the node");
            assert!((e.weights[k] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn an_affine_map_carries_points_exactly() {
        let m = shapes::cylinder(0.1, 0.3, 2, 6);
        let map =
            |x: Vec3| Mat3::from_cols_array(&[1.1, 0.3, 0.0, -0.2, 0.9, 0.1, 0.05, 0.0, 1.3]) * x + Vec3::X;
        let moved: Vec<Vec3> = m.vertices.iter().map(|&x| map(x)).collect();
        let visual = TriMesh { vertices: points(50, 0.1), triangles: vec![] };
        for (e, &p) in Locator::new(&m).embed_surface(&visual).iter().zip(&visual.vertices) {
            assert!(e.position(&moved).distance(map(p)) < 1e-14);
        }
    }
}
