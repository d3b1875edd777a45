//! Which features may meet: one structure over the leaves of all surfaces, that is faces, edges, segments and points of soft
//! bodies, rod links and rigid shapes.
//!
//! The boxes of the leaves are loose: they hold three times the way of a step (CR 5.1) and some more, and stay until a
//! vertex leaves its own. Only then the tree of that surface is fitted again, and the lists of the pairs in which it
//! stands are made anew. Whoever uses the lists asks the exact boxes of the present motion again, so that what is found
//! does not depend on when the lists were made.

use super::broad::{Bounds, Sweep};
use super::cover::Cover;
use super::for_each;
use super::tree::Span;
use crate::linalg::Vec3;

/// Loose boxes hold this many times the way of a step (CR 5.1).
const WAYS: f64 = 3.0;

/// What becomes of the box that a vertex has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It makes room for a new one: another step begins.
    Drop,
    /// It grows: another motion of the same step is tried.
    Grow,
}

/// The leaves of one surface with their loose boxes.
pub(super) struct Surface {
    pub cover: Cover,
    /// Of the vertices.
    boxes: Vec<Span>,
    /// Some vertex has left its box since the lists were made.
    left: bool,
    /// Nodes of the tree below which nothing touches anything else below it, ascending.
    pub apart: Vec<u32>,
}

impl Surface {
    pub fn new(cover: Cover, vertices: usize) -> Surface {
        Surface { cover, boxes: vec![Span::EMPTY; vertices], left: false, apart: Vec::new() }
    }

    /// Brings `apart` up to date: it is found anew with the lists, which are made anew where it no longer holds.
    pub fn keep_apart(&mut self, holds: impl Fn(&[u32]) -> bool, find: impl Fn(&mut Vec<u32>)) {
        self.left |= !holds(&self.apart);
        if self.left {
            find(&mut self.apart);
        }
    }

    /// Makes sure that the boxes of the vertices in use hold their ways, grown by `need`; `way` gives where one starts and
    /// where it ends. New boxes are wider by `slack`.
    pub fn hold(
        &mut self,
        used: &[u32],
        (need, slack): (f64, f64),
        left: Left,
        way: impl Fn(u32) -> [Vec3; 2],
    ) {
        let stays = |b: &[Span], k: u32| b[k as usize].holds(&Span::of(way(k)).grown(need));
        if used.iter().all(|k| stays(&self.boxes, *k)) {
            return;
        }
        for &k in used {
            let [x, end] = way(k);
            let fresh = Span::of([x, x + (end - x) * WAYS]).grown(need + slack);
            let b = &mut self.boxes[k as usize];
            *b = if left == Left::Grow { b.and(fresh) } else { fresh };
        }
        self.cover.fit(&self.boxes);
        self.left = true;
    }
}

/// The leaves of two surfaces whose loose boxes meet.
#[derive(Default)]
pub(super) struct Nearby {
    /// The surfaces, ascending; twice the same where one meets itself.
    pub pair: (u32, u32),
    pub leaves: Vec<(u32, u32)>,
    is_stale: bool,
}

/// Loose boxes of all surfaces and the lists made of them.
#[derive(Default)]
pub(super) struct Candidates {
    pub surfaces: Vec<Surface>,
    sweep: Sweep,
    /// Pairs of surfaces whose boxes meet, sorted.
    near: Vec<(u32, u32)>,
    /// Their lists, in the same order.
    lists: Vec<Nearby>,
    before: Vec<Nearby>,
    spare: Vec<Nearby>,
}

impl Candidates {
    pub fn new(surfaces: Vec<Surface>) -> Candidates {
        Candidates { surfaces, ..Candidates::default() }
    }

    /// Lists of the pairs of surfaces that come near each other, in the order of the pairs.
    pub fn lists(&self) -> &[Nearby] {
        &self.lists
    }

    /// Brings the lists up to date with the boxes. `may_meet` says which surfaces do at all, `may_touch` which leaves of
    /// a pair do; what they say must not change.
    pub fn update(
        &mut self,
        shared: bool,
        may_meet: impl Fn(u32, u32) -> bool,
        may_touch: impl Fn(&[Surface], (u32, u32), u32, u32) -> bool + Sync + Send,
    ) {
        if !self.surfaces.iter().any(|s| s.left) {
            return;
        }
        self.find_near(may_meet);
        let surfaces = &self.surfaces;
        for_each(&mut self.lists, shared, |list| {
            if list.is_stale {
                list.find(surfaces, &may_touch);
            }
        });
        self.surfaces.iter_mut().for_each(|s| s.left = false);
    }

    /// Finds the pairs of surfaces whose boxes meet; lists of known pairs are kept, and stale where one of them moved on.
    fn find_near(&mut self, may_meet: impl Fn(u32, u32) -> bool) {
        self.sweep.bounds.clear();
        for (k, s) in self.surfaces.iter().enumerate() {
            let span = s.cover.tree.span();
            if span.min.is_finite() {
                self.sweep.bounds.push(Bounds { min: span.min, max: span.max, shape: k as u32 });
            }
        }
        let Candidates { near, sweep, surfaces, .. } = self;
        near.clear();
        sweep.pairs(|a, b| {
            if may_meet(a, b) {
                near.push((a, b));
            }
        });
        near.extend((0..surfaces.len() as u32).filter(|k| may_meet(*k, *k)).map(|k| (k, k)));
        near.sort_unstable();
        std::mem::swap(&mut self.lists, &mut self.before);
        self.spare.reserve(self.before.len());
        let mut known = self.before.drain(..).peekable();
        for &pair in &*near {
            while let Some(gone) = known.next_if(|l| l.pair < pair) {
                self.spare.push(gone);
            }
            let list = match known.next_if(|l| l.pair == pair) {
                Some(mut list) => {
                    list.is_stale |= surfaces[pair.0 as usize].left || surfaces[pair.1 as usize].left;
                    list
                }
                None => Nearby { pair, is_stale: true, ..self.spare.pop().unwrap_or_default() },
            };
            self.lists.push(list);
        }
        self.spare.extend(known);
    }
}

impl Nearby {
    fn find(&mut self, surfaces: &[Surface], may_touch: &impl Fn(&[Surface], (u32, u32), u32, u32) -> bool) {
        self.is_stale = false;
        self.leaves.clear();
        let (pair, leaves) = (self.pair, &mut self.leaves);
        let mut found = |i, j| {
            if may_touch(surfaces, pair, i, j) {
                leaves.push((i, j));
            }
        };
        let (a, b) = (&surfaces[pair.0 as usize], &surfaces[pair.1 as usize]);
        if pair.0 == pair.1 {
            a.cover.tree.self_pairs(0.0, &a.apart, &mut found);
        } else {
            a.cover.tree.pairs(&b.cover.tree, 0.0, &mut found);
        }
    }
}
