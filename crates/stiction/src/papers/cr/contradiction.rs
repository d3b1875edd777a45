//! Contacts that contradict each other.
//!
//! Copies of one contact that ask for different velocities have no common answer: B is singular. Conjugate residuals then stall at
//! a least-squares one, where B C⁻¹ r = 0, that is, where the multipliers z of C⁻¹ r push against each other and cancel, Jᵀ z = 0.
//! None of these contacts is ever seen to pull. But forces do not change along z, so the one that has to give way is found by
//! going along it until the first multiplier comes to its bound.

use super::Preconditioner;
use super::iterate::Engine;
use super::precondition::Conditioner;
use super::system::Saddle;
use crate::linalg::Vec3;

/// Iterations without progress after which contradictions are looked for, and between two looks.
const PAUSE: usize = 12;
/// Progress: the residual falls below this share of the least one.
const PROGRESS: f64 = 0.9;
/// Pushes cancel where less than this share of their energy is left: of contacts that share nodes, and of near copies, whose
/// weights differ a little.
const CANCELS: f64 = 1e-3;
const COPIES_CANCEL: f64 = 0.2;

/// Since when the residual has not come down.
pub(super) struct Stall {
    least: f64,
    since: usize,
}

impl Default for Stall {
    fn default() -> Stall {
        Stall { least: f64::INFINITY, since: 0 }
    }
}

impl Stall {
    /// True where it is time to look for contradictions.
    pub fn is_due(&mut self, ratio: f64, iteration: usize) -> bool {
        if ratio < PROGRESS * self.least {
            (self.least, self.since) = (ratio, iteration);
        }
        let due = iteration >= self.since + PAUSE;
        if due {
            self.since = iteration;
        }
        due
    }
}

/// Contacts are nearly the same where Z counts them by more than this.
const ALIKE: f64 = 0.5;

/// Buffers of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// z, towards larger multipliers of rows that are violated; Jᵀ z and A_d⁻¹ Jᵀ z.
    way: Vec<Vec3>,
    push: Vec<f64>,
    moved: Vec<f64>,
    /// Contacts of a group, and their blocks of A.
    group: Vec<u32>,
    blocks: Vec<u32>,
    is_seen: Vec<bool>,
}

impl Engine {
    /// In every group of contacts that contradict each other lets one go to its bound; true where there was one.
    ///
    /// A group is what has a residual of its own and is nearly the same; where no such group contradicts itself, what shares nodes.
    /// Groups do not know of each other.
    pub(super) fn resolve_contradictions(&mut self, sys: &Saddle) -> bool {
        let mut s = std::mem::take(&mut self.search);
        let sign = if self.conditioner.kind == Preconditioner::Full { 1.0 } else { -1.0 };
        s.way.clear();
        s.way.extend(self.z.l.iter().map(|z| sign * *z));
        s.push.clear();
        s.push.resize(sys.dofs(), 0.0);
        s.moved.resize(sys.dofs(), 0.0);
        for (c, way) in s.way.iter().enumerate() {
            sys.push(c, *way, &mut s.push);
        }
        self.conditioner.divide(sys, &s.push, &mut s.moved);
        let copies = self.resolve_groups(sys, &mut s, ALIKE, COPIES_CANCEL);
        let found = if copies > 0 { copies } else { self.resolve_groups(sys, &mut s, 0.0, CANCELS) };
        self.search = s;
        self.counts.switches += found;
        found > 0
    }

    /// The same, of groups whose members are alike by more than `alike`, and cancel up to `left`; how many there were.
    fn resolve_groups(&mut self, sys: &Saddle, s: &mut Search, alike: f64, left: f64) -> usize {
        // What would move its rows by less than they may be off is no party.
        let is_small = |(own, way): (&Vec3, &Vec3)| (*own * *way).abs().max_element() <= self.limits.row;
        s.is_seen.clear();
        s.is_seen.extend(self.conditioner.own.iter().zip(&s.way).map(is_small));
        self.before.clone_from(&self.total);
        let mut found = 0;
        for c in 0..s.way.len() as u32 {
            if s.is_seen[c as usize] {
                continue;
            }
            s.collect(c, alike, &self.conditioner);
            if s.group.len() < 2 || s.remainder(sys, &self.conditioner) > left {
                continue;
            }
            if let Some(bound) = self.states.first_bound(sys, &s.group, &self.total, &s.way) {
                self.states.follow(&bound, &s.group, &s.way, &mut self.total, &mut self.y.l);
                for c in s.group.iter().map(|c| *c as usize) {
                    sys.push(c, self.total[c] - self.before[c], &mut self.r.v);
                }
                found += 1;
            }
        }
        found
    }
}

impl Search {
    /// The group of a contact: those that are like it, and so on.
    fn collect(&mut self, first: u32, alike: f64, conditioner: &Conditioner) {
        self.group.clear();
        self.group.push(first);
        self.is_seen[first as usize] = true;
        let mut next = 0;
        while let Some(&c) = self.group.get(next) {
            next += 1;
            for &(other, like) in conditioner.similar.of(c as usize) {
                if like > alike && !std::mem::replace(&mut self.is_seen[other as usize], true) {
                    self.group.push(other);
                }
            }
        }
    }

    /// The share of the energy of the group's pushes that is left of their sum.
    fn remainder(&mut self, sys: &Saddle, conditioner: &Conditioner) -> f64 {
        self.blocks.clear();
        let mut pushes = 0.0;
        for &c in &self.group {
            let way = self.way[c as usize];
            pushes += (conditioner.own[c as usize] * way).dot(way);
            self.blocks.extend(sys.rows.j.terms(c as usize).iter().map(|t| t.block() as u32));
        }
        self.blocks.sort_unstable();
        self.blocks.dedup();
        let left = |b: &u32| {
            let (d, n) = sys.a.block(*b as usize);
            (d..d + n).map(|k| self.push[k] * self.moved[k]).sum::<f64>()
        };
        self.blocks.iter().map(left).sum::<f64>() / pushes
    }
}
