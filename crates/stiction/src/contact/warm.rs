//! Contact forces that carry over from step to step.
//!
//! A contact is recognised by its key. Where the features of a pair change from one step to the next (two faces
//! take turns in being cut by each other), what was not recognised goes to the nearest new contact of the same pair.

use super::ContactKey;
use crate::linalg::Vec3;

/// What one contact carried in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// Its name.
    pub key: ContactKey,
    /// Force on side a [N], world axes.
    pub force: Vec3,
    /// Where it acted [m], world axes.
    pub point: Vec3,
}

/// Contact forces of the last step, sorted by key.
#[derive(Debug, Default, PartialEq)]
pub struct WarmCache {
    /// One entry per contact of the last step; sorted by key.
    pub entries: Vec<Carried>,
}

impl Clone for WarmCache {
    fn clone(&self) -> WarmCache {
        WarmCache { entries: self.entries.clone() }
    }

    /// Reuses the buffer.
    fn clone_from(&mut self, other: &WarmCache) {
        self.entries.clone_from(&other.entries);
    }
}

/// Buffers of [`WarmCache::carry`].
#[derive(Clone, Debug, Default)]
pub struct Matching {
    taken: Vec<bool>,
    matched: Vec<bool>,
}

impl WarmCache {
    /// Forces for new contacts, given by key (sorted) and point, written to `forces`. Points farther apart than
    /// `near(key)` [m] are not the same contact.
    pub fn carry(
        &self,
        new: impl ExactSizeIterator<Item = (ContactKey, Vec3)> + Clone,
        near: impl Fn(&ContactKey) -> f64,
        matching: &mut Matching,
        forces: &mut Vec<Vec3>,
    ) {
        let n = new.len();
        forces.clear();
        forces.resize(n, Vec3::ZERO);
        matching.taken.clear();
        matching.taken.resize(self.entries.len(), false);
        matching.matched.clear();
        matching.matched.resize(n, false);
        // Both lists are sorted: one merge finds equal keys.
        let mut at = 0;
        let mut all = true;
        for (i, (key, _)) in new.clone().enumerate() {
            while at < self.entries.len() && self.entries[at].key < key {
                at += 1;
            }
            if at < self.entries.len() && self.entries[at].key == key {
                forces[i] = self.entries[at].force;
                matching.taken[at] = true;
                matching.matched[i] = true;
            } else {
                all = false;
            }
        }
        if all || matching.taken.iter().all(|t| *t) {
            return;
        }
        // The rest by distance, pair by pair.
        let pair = |k: &ContactKey| (k.shape_a, k.shape_b);
        for (i, (key, point)) in new.enumerate() {
            if matching.matched[i] {
                continue;
            }
            let from = self.entries.partition_point(|e| pair(&e.key) < pair(&key));
            let mut best = (near(&key), None);
            for (k, e) in self.entries[from..].iter().enumerate() {
                if pair(&e.key) != pair(&key) {
                    break;
                }
                let distance = e.point.distance(point);
                if !matching.taken[from + k] && distance < best.0 {
                    best = (distance, Some(from + k));
                }
            }
            if let Some(k) = best.1 {
                forces[i] = self.entries[k].force;
                matching.taken[k] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::ShapeId;

    fn key(a: u32, b: u32, feature: u64) -> ContactKey {
        ContactKey { shape_a: ShapeId(a), shape_b: ShapeId(b), feature_a: feature, feature_b: 0 }
    }

    #[test]
    fn keys_come_first_then_the_nearest_of_the_same_pair() {
        let old = |k, f: f64, x: f64| Carried { key: k, force: Vec3::X * f, point: Vec3::X * x };
        let cache = WarmCache {
            entries: vec![
                old(key(0, 1, 1), 1.0, 0.0),
                old(key(0, 1, 2), 2.0, 1.0),
                old(key(0, 2, 1), 3.0, 0.0),
            ],
        };
        let new = [
            (key(0, 1, 2), Vec3::X),
            (key(0, 1, 7), Vec3::X * 0.1),
            (key(0, 2, 9), Vec3::X * 5.0),
            (key(1, 2, 1), Vec3::ZERO),
        ];
        let mut forces = Vec::new();
        cache.carry(new.iter().copied(), |_| 0.5, &mut Matching::default(), &mut forces);
        let x: Vec<f64> = forces.iter().map(|f| f.x).collect();
        assert_eq!(x, [2.0, 1.0, 0.0, 0.0]);
    }
}
