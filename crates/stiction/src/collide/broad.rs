//! Broad phase: which shapes come near each other within the step. Sort and sweep over boxes that hold the whole
//! motion; stateless, so the same boxes always give the same pairs.

use crate::linalg::Vec3;

/// A box in world axes that holds a shape and its motion within the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
    /// The shape.
    pub shape: u32,
}

impl Bounds {
    fn overlaps(&self, other: &Bounds) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }
}

/// Buffers of the sweep.
#[derive(Default)]
pub(super) struct Sweep {
    /// Boxes to sweep over; in order of the sweep axis afterwards.
    pub bounds: Vec<Bounds>,
}

impl Sweep {
    /// Calls `found` for every pair of shapes whose boxes meet, the smaller id first, in no particular order.
    pub fn pairs(&mut self, mut found: impl FnMut(u32, u32)) {
        let axis = self.widest_axis();
        self.bounds.sort_unstable_by(|a, b| a.min[axis].total_cmp(&b.min[axis]).then(a.shape.cmp(&b.shape)));
        for (k, a) in self.bounds.iter().enumerate() {
            for b in self.bounds[k + 1..].iter().take_while(|b| b.min[axis] <= a.max[axis]) {
                if a.overlaps(b) {
                    found(a.shape.min(b.shape), a.shape.max(b.shape));
                }
            }
        }
    }

    /// The axis along which the boxes spread most: fewest of them share a place on it.
    fn widest_axis(&self) -> usize {
        let n = self.bounds.len().max(1) as f64;
        let mean = self.bounds.iter().map(|b| b.min + b.max).sum::<Vec3>() / n;
        let spread: Vec3 = self.bounds.iter().map(|b| (b.min + b.max - mean) * (b.min + b.max - mean)).sum();
        if spread.x >= spread.y && spread.x >= spread.z {
            0
        } else if spread.y >= spread.z {
            1
        } else {
            2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_pairs_of_a_double_loop() {
        for round in 0..20 {
            let at = |k: u32, s: f64| (f64::from(k * 7 + round) * s).sin();
            let bounds: Vec<Bounds> = (0..80)
                .map(|shape| {
                    let c = Vec3::new(at(shape, 1.1), at(shape, 2.3), at(shape, 3.7)) * 3.0;
                    let half = Vec3::new(at(shape, 0.3), at(shape, 0.7), at(shape, 0.9)).abs() * 0.7;
                    Bounds { min: c - half, max: c + half, shape }
                })
                .collect();
            let mut want = Vec::new();
            for a in 0..80 {
                for b in a + 1..80 {
                    if bounds[a].overlaps(&bounds[b]) {
                        want.push((a as u32, b as u32));
                    }
                }
            }
            let mut got = Vec::new();
            let mut sweep = Sweep { bounds };
            sweep.pairs(|a, b| got.push((a, b)));
            got.sort_unstable();
            assert_eq!(got, want);
            assert!(!want.is_empty());
        }
    }
}
