//! What is shown of a solid: its own surface, or the one that its tetrahedra carry.

use crate::recording::{Header, SolidInfo};
use stiction::{Mat3, Vec3};

/// A surface that follows the vertices of a solid.
pub struct Skin {
    /// Corners of each triangle, as places in what [`Skin::at`] gives.
    pub triangles: Vec<[u32; 3]>,
    /// Of each vertex: the vertices of the solid that carry it, and their weights.
    carriers: Vec<([u32; 4], [f32; 4])>,
}

impl Skin {
    /// The skin of a solid.
    pub fn new(header: &Header, s: &SolidInfo) -> Skin {
        let mesh = &header.meshes[s.mesh as usize];
        if let Some(v) = s.visual {
            let visual = &header.meshes[v as usize];
            let carrier = |(x, &tet): (&[f32; 3], &u32)| {
                let nodes = mesh.tets[tet as usize];
                (nodes, barycentric(nodes.map(|n| wide(mesh.vertices[n as usize])), wide(*x)))
            };
            let carriers = visual.vertices.iter().zip(&visual.hosts).map(carrier).collect();
            return Skin { triangles: visual.triangles.clone(), carriers };
        }
        // Only vertices of the surface are shown.
        let mut used: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |i: u32| used.binary_search(&i).map_or(0, |p| p as u32);
        Skin {
            triangles: mesh.triangles.iter().map(|t| t.map(place)).collect(),
            carriers: used.iter().map(|&i| ([i; 4], [1.0, 0.0, 0.0, 0.0])).collect(),
        }
    }

    /// Where its vertices are when those of the solid are at `x` [m].
    pub fn at(&self, x: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let carried = |(nodes, weights): &([u32; 4], [f32; 4])| {
            std::array::from_fn(|c| (0..4).map(|k| weights[k] * x[nodes[k] as usize][c]).sum())
        };
        self.carriers.iter().map(carried).collect()
    }
}

/// Weights of the corners of a tetrahedron at `p`; those of its middle where it is flat.
fn barycentric([a, b, c, d]: [Vec3; 4], p: Vec3) -> [f32; 4] {
    let edges = Mat3::from_cols(b - a, c - a, d - a);
    let w = edges.inverse() * (p - a);
    if !w.is_finite() {
        return [0.25; 4];
    }
    [1.0 - w.x - w.y - w.z, w.x, w.y, w.z].map(|w| w as f32)
}

fn wide(v: [f32; 3]) -> Vec3 {
    Vec3::new(v[0].into(), v[1].into(), v[2].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_give_the_point_back() {
        let corners =
            [Vec3::ZERO, Vec3::new(2.0, 0.1, 0.0), Vec3::new(0.0, 1.0, 0.3), Vec3::new(0.2, 0.0, 1.0)];
        let p = Vec3::new(0.3, -0.2, 0.4);
        let w = barycentric(corners, p);
        let back: Vec3 = corners.iter().zip(w).map(|(c, w)| *c * f64::from(w)).sum();
        assert!((back - p).length() < 1e-7 && (w.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(barycentric([Vec3::ZERO; 4], p), [0.25; 4]);
    }
}
