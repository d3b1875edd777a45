//! Which of many boxes meet: sort and sweep, for rigid shapes (`loose`) and whole surfaces (`candidates`). The same boxes
//! always give the same pairs.

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
    /// True where the two have a point in common.
    pub fn meets(&self, other: &Bounds) -> bool {
        (0..3).all(|axis| self.overlaps_along(other, axis))
    }

    /// True where all of the other is inside.
    pub fn holds(&self, other: &Bounds) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    fn overlaps_along(&self, other: &Bounds, axis: usize) -> bool {
        self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis]
    }
}

/// Buffers of the sweep.
#[derive(Default)]
pub(super) struct Sweep {
    /// Boxes to sweep over; in order of the sweep axis afterwards.
    pub bounds: Vec<Bounds>,
    /// Where the boxes of each strip end.
    ends: Vec<usize>,
    /// Boxes strip by strip, each with its first strip.
    items: Vec<(usize, Bounds)>,
}

impl Sweep {
    /// Calls `found` for every pair of shapes whose boxes meet, the smaller id first, in no particular order.
    ///
    /// The space is cut into strips across a second axis, so that a sweep meets few boxes that are far apart there;
    /// a pair that shares several strips counts in the first.
    pub fn pairs(&mut self, mut found: impl FnMut(u32, u32)) {
        let axis = self.widest_axis();
        let (second, third) = ((axis + 1) % 3, (axis + 2) % 3);
        self.bounds.sort_unstable_by(|a, b| a.min[axis].total_cmp(&b.min[axis]).then(a.shape.cmp(&b.shape)));
        self.fill_strips(second);
        let mut start = 0;
        for (strip, &end) in self.ends.iter().enumerate() {
            let items = &self.items[start..end];
            start = end;
            for (k, (first_a, a)) in items.iter().enumerate() {
                for (first_b, b) in items[k + 1..].iter().take_while(|(_, b)| b.min[axis] <= a.max[axis]) {
                    if a.overlaps_along(b, second)
                        && a.overlaps_along(b, third)
                        && strip == *first_a.max(first_b)
                    {
                        found(a.shape.min(b.shape), a.shape.max(b.shape));
                    }
                }
            }
        }
    }

    /// The same for pairs of which at least one shape is `sought`: each of these against all others, which is best where
    /// they are few.
    pub fn pairs_of(&self, sought: impl Fn(u32) -> bool, mut found: impl FnMut(u32, u32)) {
        for (i, a) in self.bounds.iter().enumerate().filter(|(_, a)| sought(a.shape)) {
            for (j, b) in self.bounds.iter().enumerate() {
                let meet = a.meets(b);
                // A pair of two that are sought counts for the first.
                if meet && i != j && (i < j || !sought(b.shape)) {
                    found(a.shape.min(b.shape), a.shape.max(b.shape));
                }
            }
        }
    }

    /// Sorts the boxes into strips of twice their mean width, but no more than √n: a box may lie in many.
    fn fill_strips(&mut self, axis: usize) {
        let Sweep { bounds, ends, items } = self;
        let n = bounds.len().max(1) as f64;
        let low = bounds.iter().map(|b| b.min[axis]).fold(f64::INFINITY, f64::min);
        let high = bounds.iter().map(|b| b.max[axis]).fold(f64::NEG_INFINITY, f64::max);
        let mean = bounds.iter().map(|b| b.max[axis] - b.min[axis]).sum::<f64>() / n;
        let strips = ((high - low) / (2.0 * mean)).min(n.sqrt()).max(1.0) as usize;
        let width = (high - low) / strips as f64;
        let strip = |x: f64| (((x - low) / width) as usize).min(strips - 1);
        let range = |b: &Bounds| (strip(b.min[axis]), strip(b.max[axis]).max(strip(b.min[axis])));

        // Counting sort: it keeps the order of the sweep within each strip.
        ends.clear();
        ends.resize(strips, 0);
        for b in bounds.iter() {
            let (first, last) = range(b);
            for count in &mut ends[first..=last] {
                *count += 1;
            }
        }
        let mut total = 0;
        for end in ends.iter_mut() {
            let count = *end;
            *end = total;
            total += count;
        }
        let Some(&some) = bounds.first() else { return };
        items.clear();
        items.resize(total, (0, some));
        for b in bounds.iter() {
            let (first, last) = range(b);
            for end in &mut ends[first..=last] {
                items[*end] = (first, *b);
                *end += 1;
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
    fn boxes_without_extent_and_no_boxes_at_all_are_fine() {
        let mut found = 0;
        let point = |shape| Bounds { min: Vec3::ONE, max: Vec3::ONE, shape };
        Sweep { bounds: vec![point(3), point(5)], ..Sweep::default() }.pairs(|a, b| found += a + b);
        assert_eq!(found, 8);
        Sweep::default().pairs(|_, _| panic!("nothing to find"));
    }

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
                    if (0..3).all(|axis| bounds[a].overlaps_along(&bounds[b], axis)) {
                        want.push((a as u32, b as u32));
                    }
                }
            }
            let mut got = Vec::new();
            let mut sweep = Sweep { bounds, ..Sweep::default() };
            sweep.pairs(|a, b| got.push((a, b)));
            got.sort_unstable();
            assert_eq!(got, want);
            assert!(!want.is_empty());
            let sought = |s: u32| s % 7 == 3;
            want.retain(|(a, b)| sought(*a) || sought(*b));
            got.clear();
            sweep.pairs_of(sought, |a, b| got.push((a, b)));
            got.sort_unstable();
            assert_eq!(got, want);
        }
    }
}
