//! A solid of tetrahedra around a closed surface: all cells of a lattice that the surface or its inside touches, six
//! tetrahedra each (Kuhn's cut, which fits from cell to cell). The surface itself is embedded in it.

use super::{TetMesh, TriMesh};
use crate::linalg::Vec3;
use thiserror::Error;

/// Most cells of the lattice around a surface.
const MOST_CELLS: usize = 4_000_000;

/// Most pairs of a triangle and a cell that are looked at.
const MOST_TESTS: usize = 200_000_000;

/// Why a surface cannot be covered, with the remedy.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CoverError {
    /// The cell is not a positive number.
    #[error("the cell must be positive and finite; got {0} m")]
    Cell(f64),
    /// Too many cells.
    #[error("cells of {cell} m make a lattice of more than {MOST_CELLS}; take cells of {least} m or more")]
    TooFine {
        /// What was asked for [m].
        cell: f64,
        /// What would do [m].
        least: f64,
    },
    /// Too much work.
    #[error("its triangles span more than {MOST_TESTS} cells together; take larger cells")]
    TooMuch,
    /// The surface has holes, so it has no inside.
    #[error(
        "the surface has {open} open edges and {crowded} edges of three triangles or more, so it has no inside; mend it with `mesh fix`"
    )]
    Open {
        /// Edges of one triangle.
        open: usize,
        /// Edges of more than two.
        crowded: usize,
    },
    /// Inside out, or without volume.
    #[error("the surface encloses {0} m³; turn its faces outwards with `mesh fix`")]
    Volume(f64),
}

/// A cover of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Cover {
    /// The tetrahedra.
    pub mesh: TetMesh,
    /// Volume inside the surface [m³].
    pub surface_volume: f64,
    /// Volume of the tetrahedra [m³], which is larger.
    pub cover_volume: f64,
}

impl Cover {
    /// Factor on the density that gives the cover the mass of what the surface encloses.
    pub fn density_factor(&self) -> f64 {
        self.surface_volume / self.cover_volume
    }
}

impl TriMesh {
    /// Covers a closed surface by tetrahedra in cells of a size [m].
    pub fn cover(&self, cell: f64) -> Result<Cover, CoverError> {
        if !(cell.is_finite() && cell > 0.0) {
            return Err(CoverError::Cell(cell));
        }
        let (low, high) = self
            .vertices
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
        // One empty layer around everything, from which the outside is flooded.
        let cells = |size: f64| ((high - low) / size).floor() + 3.0;
        let n = cells(cell);
        if n.x * n.y * n.z > MOST_CELLS as f64 {
            let mut least = cell;
            while cells(least).element_product() > MOST_CELLS as f64 {
                least *= 1.1;
            }
            return Err(CoverError::TooFine { cell, least });
        }
        let s = self.survey();
        if !s.is_watertight() {
            return Err(CoverError::Open { open: s.open_edges.len(), crowded: s.crowded_edges.len() });
        }
        if !(s.is_oriented() && s.volume > 0.0) {
            return Err(CoverError::Volume(s.volume));
        }
        let size = n.to_array().map(|x| x as usize);
        // The lattice stands centred about the surface.
        let origin = 0.5 * (low + high) - 0.5 * cell * n;
        let full = self.touched_or_inside(origin, cell, size)?;
        let mesh = tets(&full, origin, cell, size);
        let cover_volume = mesh.volume();
        Ok(Cover { mesh, surface_volume: s.volume, cover_volume })
    }

    /// For each cell: does the surface touch it, or is it inside?
    fn touched_or_inside(&self, origin: Vec3, cell: f64, n: [usize; 3]) -> Result<Vec<bool>, CoverError> {
        let index = |c: [usize; 3]| c[0] + n[0] * (c[1] + n[1] * c[2]);
        let mut touched = vec![false; n[0] * n[1] * n[2]];
        let mut tests = 0;
        for t in &self.triangles {
            let corners = t.map(|k| (self.vertices[k as usize] - origin) / cell);
            let low = corners[0].min(corners[1]).min(corners[2]);
            let high = corners[0].max(corners[1]).max(corners[2]);
            let at = |x: f64, axis: usize| (x.max(0.0) as usize).min(n[axis] - 1);
            let span = |axis: usize| at(high[axis], axis) - at(low[axis], axis) + 1;
            tests += span(0) * span(1) * span(2);
            if tests > MOST_TESTS {
                return Err(CoverError::TooMuch);
            }
            for k in at(low.z, 2)..=at(high.z, 2) {
                for j in at(low.y, 1)..=at(high.y, 1) {
                    for i in at(low.x, 0)..=at(high.x, 0) {
                        let c = index([i, j, k]);
                        let centre = Vec3::new(i as f64, j as f64, k as f64) + 0.5;
                        touched[c] = touched[c] || meets_unit_box(corners.map(|p| p - centre));
                    }
                }
            }
        }
        // The outside is what can be reached from a corner without crossing touched cells.
        let mut outside = vec![false; touched.len()];
        let mut stack = vec![[0_usize; 3]];
        outside[0] = true;
        while let Some(c) = stack.pop() {
            for axis in 0..3 {
                for step in [-1_isize, 1] {
                    let Some(x) = c[axis].checked_add_signed(step).filter(|x| *x < n[axis]) else { continue };
                    let mut next = c;
                    next[axis] = x;
                    let k = index(next);
                    if !touched[k] && !outside[k] {
                        outside[k] = true;
                        stack.push(next);
                    }
                }
            }
        }
        Ok(outside.into_iter().map(|o| !o).collect())
    }
}

/// Does a triangle meet the box of half size ½ about the origin? By separating axes: the box's faces, the triangle's
/// plane, and the crossings of edges.
fn meets_unit_box(x: [Vec3; 3]) -> bool {
    let edges = [x[1] - x[0], x[2] - x[1], x[0] - x[2]];
    let apart = |axis: Vec3| {
        let r = 0.5 * (axis.x.abs() + axis.y.abs() + axis.z.abs());
        let d = x.map(|p| axis.dot(p));
        d[0].min(d[1]).min(d[2]) > r || d[0].max(d[1]).max(d[2]) < -r
    };
    let units = [Vec3::X, Vec3::Y, Vec3::Z];
    !(units.iter().any(|u| apart(*u))
        || apart(edges[0].cross(edges[1]))
        || units.iter().any(|u| edges.iter().any(|e| apart(u.cross(*e)))))
}

/// Six tetrahedra around the diagonal of every full cell.
fn tets(full: &[bool], origin: Vec3, cell: f64, n: [usize; 3]) -> TetMesh {
    // From corner 000 to 111 by one axis after the other; odd orders turn the tet inside out.
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let node = |c: [usize; 3]| c[0] + (n[0] + 1) * (c[1] + (n[1] + 1) * c[2]);
    let mut number = vec![u32::MAX; (n[0] + 1) * (n[1] + 1) * (n[2] + 1)];
    let mut mesh = TetMesh::default();
    for (k, _) in full.iter().enumerate().filter(|(_, f)| **f) {
        let c = [k % n[0], k / n[0] % n[1], k / n[0] / n[1]];
        for (kind, order) in ORDERS.iter().enumerate() {
            let mut corner = c;
            let mut tet = [0; 4];
            for step in 0..4 {
                let place = node(corner);
                if number[place] == u32::MAX {
                    number[place] = mesh.vertices.len() as u32;
                    let at = Vec3::from_array(corner.map(|x| x as f64));
                    mesh.vertices.push(origin + at * cell);
                }
                tet[step] = number[place];
                if step < 3 {
                    corner[order[step]] += 1;
                }
            }
            if kind >= 3 {
                tet.swap(0, 1);
            }
            mesh.tets.push(tet);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::super::{Locator, Surface, shapes};
    use super::*;

    fn ball() -> TriMesh {
        let mesh = shapes::sphere(0.5, 4);
        Surface::of(&mesh).to_tri_mesh(&mesh.vertices)
    }

    #[test]
    fn a_cover_is_a_good_mesh_that_holds_the_surface() {
        let surface = ball();
        let mut last = f64::INFINITY;
        for cell in [0.3, 0.15, 0.07] {
            let cover = surface.cover(cell).unwrap();
            cover.mesh.check().unwrap();
            let locator = Locator::new(&cover.mesh);
            assert!(locator.embed_surface(&surface).iter().all(|e| e.is_inside()), "cell {cell}");
            assert!((cover.surface_volume - surface.survey().volume).abs() < 1e-12);
            // Finer cells fit better, from outside.
            assert!(cover.cover_volume > cover.surface_volume && cover.cover_volume < last);
            last = cover.cover_volume;
            assert!(cover.density_factor() < 1.0 && cover.density_factor() > 0.2);
        }
    }

    #[test]
    fn what_has_no_inside_is_refused() {
        let mut open = ball();
        open.triangles.pop();
        assert!(matches!(open.cover(0.1), Err(CoverError::Open { open: 3, .. })));
        let mut inward = ball();
        inward.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(matches!(inward.cover(0.1), Err(CoverError::Volume(v)) if v < 0.0));
        assert!(matches!(ball().cover(0.0), Err(CoverError::Cell(_))));
        assert!(matches!(ball().cover(f64::NAN), Err(CoverError::Cell(_))));
        let Err(CoverError::TooFine { least, .. }) = ball().cover(1e-6) else { panic!("too fine") };
        assert!(least > 1e-3 && least < 0.1, "{least}");
    }

    #[test]
    fn a_triangle_in_a_corner_of_a_box_is_told_from_one_beside_it() {
        let t = |d: f64| [Vec3::new(d, 0.0, 0.0), Vec3::new(0.0, d, 0.0), Vec3::new(0.0, 0.0, d)];
        assert!(meets_unit_box(t(1.4)) && !meets_unit_box(t(1.6)));
        assert!(!meets_unit_box([Vec3::X, Vec3::X + Vec3::Y, Vec3::X + Vec3::Z]));
    }
}
