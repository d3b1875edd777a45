//! Where the items of a scene stand in its file, for errors that come up after reading.

use super::overrides::Source;
use crate::error::Error;
use std::collections::BTreeMap;
use std::ops::Range;
use stiction::SceneError;

/// The text of a scene and the places of its items.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub source: Source,
    /// Bodies and particles by name; the copies of a body stand where it stands.
    pub names: BTreeMap<String, Range<usize>>,
    /// Springs, rods, forces, pairs and sensors, as [`SceneError::item`] calls them.
    pub items: BTreeMap<String, Range<usize>>,
}

impl Places {
    /// The error with its place in the file, where the item has one.
    pub fn locate(&self, e: &SceneError) -> Error {
        const REMEDY: &str = "see docs/scenes.md for the format";
        let owner = || {
            let kind = e.item.split('`').next()?;
            let name = e.item.split('`').nth(1)?;
            if ["body ", "soft body ", "cloth ", "particle "].contains(&kind) {
                self.names.get(name)
            } else {
                None
            }
        };
        match self.items.get(&e.item).or_else(owner) {
            Some(span) => self.source.error(span.clone(), e.to_string(), REMEDY),
            None => Error::new(&self.source.name, e.to_string(), REMEDY),
        }
    }
}
