//! Which body of an island a block is, without a table over all blocks of a problem.

use crate::contact::ContactProblem;

/// What a place holds at first.
pub(super) const NONE: u32 = u32::MAX;

/// A place for each block that some contacts move. It takes memory for these blocks and not for all of a problem: thousands of small
/// islands have one each.
#[derive(Default)]
pub(super) struct Slots {
    first: u32,
    /// The blocks in ascending order where they lie far apart; else empty, and places are counted from the first.
    met: Vec<u32>,
    slot: Vec<u32>,
}

/// Blocks lie far apart where they span more than this many per term.
const SPARSE: usize = 16;

impl Slots {
    /// Empty places for the blocks of these contacts.
    pub fn start(&mut self, p: &ContactProblem, contacts: &[u32]) {
        let blocks = || contacts.iter().flat_map(|&c| p.j.terms(c as usize)).map(|t| t.block() as u32);
        let (first, last, count) =
            blocks().fold((u32::MAX, 0, 0), |(lo, hi, n), b| (b.min(lo), b.max(hi), n + 1));
        let span = (last as usize + 1).saturating_sub(first as usize);
        self.first = first;
        self.met.clear();
        if span > SPARSE * count {
            self.met.extend(blocks());
            self.met.sort_unstable();
            self.met.dedup();
        }
        self.slot.clear();
        self.slot.resize(if self.met.is_empty() { span } else { self.met.len() }, NONE);
    }

    /// The place of one of these blocks.
    pub fn of(&mut self, block: usize) -> &mut u32 {
        let at = if self.met.is_empty() {
            block - self.first as usize
        } else {
            self.met.partition_point(|&b| (b as usize) < block)
        };
        &mut self.slot[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::samples::Assembly;
    use crate::linalg::Vec3;

    /// A contact of one body, and one of two that are far apart, take one and two places of a problem of a thousand bodies; a row of
    /// neighbours takes one for each.
    #[test]
    fn places_are_as_many_as_the_blocks_of_an_island() {
        let mut bodies = Assembly::new(-Vec3::Z);
        for k in 0..1000 {
            bodies.add_box(Vec3::X * k as f64, Vec3::splat(0.1), 1.0);
        }
        bodies.touch(999, None, Vec3::Z, &[Vec3::ZERO], 0.5);
        bodies.touch(3, Some(998), Vec3::Z, &[Vec3::ZERO], 0.5);
        for k in 100..120 {
            bodies.touch(k, Some(k + 1), Vec3::Z, &[Vec3::ZERO], 0.5);
        }
        let p = bodies.problem();
        let chain: Vec<u32> = (2..22).collect();
        let mut slots = Slots::default();
        for (contacts, count) in [(&[0][..], 1), (&[1], 2), (&chain, 21)] {
            slots.start(&p, contacts);
            assert_eq!(slots.slot.len(), count);
            let mut met = 0;
            for t in contacts.iter().flat_map(|&c| p.j.terms(c as usize)) {
                let slot = slots.of(t.block());
                if *slot == NONE {
                    *slot = t.block() as u32;
                    met += 1;
                }
                assert_eq!(*slot, t.block() as u32, "places are not shared");
            }
            assert_eq!(met, count);
        }
    }
}
