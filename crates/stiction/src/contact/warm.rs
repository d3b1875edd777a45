//! Impulses that carry over from step to step, matched by contact key.

use super::ContactKey;
use crate::linalg::Vec3;

/// Contact forces of the last step in world axes, sorted by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmCache {
    /// Key and force [N] of each contact of the last step; sorted.
    pub entries: Vec<(ContactKey, Vec3)>,
}

impl WarmCache {
    /// The force of a contact in the last step; zero where it is new.
    pub fn force(&self, key: &ContactKey) -> Vec3 {
        match self.entries.binary_search_by(|e| e.0.cmp(key)) {
            Ok(i) => self.entries[i].1,
            Err(_) => Vec3::ZERO,
        }
    }
}
