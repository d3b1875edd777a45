//! Ground given by heights over a grid → triangles.

use crate::linalg::Vec3;

/// Most heights of a field: each becomes two triangles.
const MOST: usize = 4_000_000;

/// Heights over a grid about the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Heightfield {
    /// Heights [m], row by row: x runs first, then y.
    pub heights: Vec<f64>,
    /// How many heights a row along x has.
    pub columns: usize,
    /// Full lengths along x and y [m].
    pub size: [f64; 2],
    /// Height of a flat bottom [m], below all heights. Without it the field is a surface alone, without volume.
    pub base: Option<f64>,
}

impl Heightfield {
    /// What is wrong with it, and what to do.
    pub(super) fn check(&self) -> Result<(), String> {
        let (n, columns) = (self.heights.len(), self.columns);
        if columns < 2 || n < 2 * columns || n % columns != 0 {
            return Err(format!(
                "{n} heights in rows of {columns} make no grid; give two rows or more of equal length, two heights or \
                 more each"
            ));
        }
        if n > MOST {
            return Err(format!("{n} heights are more than {MOST}; use a coarser grid"));
        }
        if let Some(k) = self.heights.iter().position(|z| !z.is_finite()) {
            return Err(format!(
                "the height in column {} of row {} is not finite: {}",
                k % columns,
                k / columns,
                self.heights[k]
            ));
        }
        if let Some(x) = self.size.into_iter().find(|x| !(x.is_finite() && *x > 0.0)) {
            return Err(format!("the size of a height field must be positive and finite; got {x}"));
        }
        let lowest = self.heights.iter().copied().fold(f64::INFINITY, f64::min);
        match self.base {
            Some(base) if !(base.is_finite() && base < lowest) => {
                Err(format!("the base {base} must be finite and below the lowest height {lowest}"))
            }
            _ => Ok(()),
        }
    }

    /// Vertices and triangles, counter-clockwise seen from above; each cell is cut from its lowest x and y to its
    /// highest. With a base the surface is closed.
    pub fn triangles(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let columns = self.columns;
        let rows = self.heights.len() / columns;
        let place = |k: usize, n: usize, size: f64| size * (k as f64 / (n - 1) as f64 - 0.5);
        let at = |k: usize, z: f64| {
            Vec3::new(place(k % columns, columns, self.size[0]), place(k / columns, rows, self.size[1]), z)
        };
        let mut vertices: Vec<Vec3> = self.heights.iter().enumerate().map(|(k, z)| at(k, *z)).collect();
        let mut triangles = Vec::with_capacity(2 * self.heights.len());
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let a = (j * columns + i) as u32;
                let (b, d) = (a + 1, a + columns as u32);
                triangles.extend([[a, b, d + 1], [a, d + 1, d]]);
            }
        }
        if let Some(base) = self.base {
            // The border, counter-clockwise seen from above, and its shadow on the base around one point in the middle.
            let border: Vec<usize> = (0..columns - 1)
                .chain((0..rows - 1).map(|j| j * columns + columns - 1))
                .chain((1..columns).rev().map(|i| (rows - 1) * columns + i))
                .chain((1..rows).rev().map(|j| j * columns))
                .collect();
            let first = vertices.len() as u32;
            vertices.extend(border.iter().map(|k| at(*k, base)));
            vertices.push(Vec3::new(0.0, 0.0, base));
            let n = border.len() as u32;
            for k in 0..n {
                let next = (k + 1) % n;
                let (top, top_next) = (border[k as usize] as u32, border[next as usize] as u32);
                let (low, low_next) = (first + k, first + next);
                triangles.extend([
                    [top, low, low_next],
                    [top, low_next, top_next],
                    [first + n, low_next, low],
                ]);
            }
        }
        (vertices, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::is_closed;
    use super::super::mass::MassProps;
    use super::*;

    fn field(base: Option<f64>) -> Heightfield {
        let heights = (0..12).map(|k| 0.1 * f64::from(k % 4) + 0.2 * f64::from(k / 4)).collect();
        Heightfield { heights, columns: 4, size: [3.0, 4.0], base }
    }

    #[test]
    fn faces_look_up_and_a_base_closes_them() {
        let (v, t) = field(None).triangles();
        assert_eq!((v.len(), t.len()), (12, 12));
        for [a, b, c] in t.iter().map(|t| t.map(|k| v[k as usize])) {
            // A plane with slopes 0.1 along x and 0.1 along y.
            let n = (b - a).cross(c - a).normalize();
            assert!((n - Vec3::new(-0.1, -0.1, 1.0).normalize()).length() < 1e-14);
        }
        assert!(!is_closed(&v, &t));
        let (v, t) = field(Some(-1.0)).triangles();
        assert!(is_closed(&v, &t));
        // Mean height 0.35 over a base at −1.
        let mass = MassProps::of_surface(&v, &t);
        assert!((mass.mass - 3.0 * 4.0 * 1.35).abs() < 1e-12, "{}", mass.mass);
    }

    #[test]
    fn what_makes_no_field_is_named() {
        let bad = |f: fn(&mut Heightfield)| {
            let mut h = field(Some(-1.0));
            f(&mut h);
            h.check().unwrap_err()
        };
        assert!(bad(|h| h.columns = 5).contains("make no grid"));
        assert!(bad(|h| h.columns = 12).contains("make no grid"));
        assert!(bad(|h| h.columns = 0).contains("make no grid"));
        assert!(bad(|h| h.heights[6] = f64::NAN).contains("column 2 of row 1"));
        assert!(bad(|h| h.size[1] = 0.0).contains("positive"));
        assert!(bad(|h| h.base = Some(0.0)).contains("below the lowest"));
        assert!(field(None).check().is_ok());
    }
}
