//! The scaling Z of Section 3.4.1: how many active constraints say the same as each one.
//!
//! Constraints on deforming bodies are alike by Π (1 − |w_a,i − w_b,i|) over the vertices i that they share; those
//! between the same rigid bodies all count as one. Only active ones count: candidates that do nothing would weaken the
//! preconditioner for those that act.

use super::system::Saddle;
use crate::contact::Term;
use crate::coords::Part;
use crate::linalg::Vec3;

/// Who is like whom, and the counts for the present states.
#[derive(Clone, Debug, Default)]
pub(super) struct Similar {
    /// Neighbours of contact c with their likeness are `pairs[start[c]..start[c + 1]]`; itself is not among them.
    start: Vec<u32>,
    pairs: Vec<(u32, f64)>,
    /// Group of rigid contacts between the same bodies, or `NONE`.
    group: Vec<u32>,
    group_count: Vec<Vec3>,
    count: Vec<Vec3>,
    /// (Block, contact, weight) of all terms on nodes, sorted.
    nodes: Vec<(u32, u32, f64)>,
    rigid: Vec<([u32; 2], u32)>,
    raw: Vec<(u32, u32, f64)>,
}

const NONE: u32 = u32::MAX;

impl Similar {
    pub fn build(&mut self, sys: &Saddle) {
        let n = sys.contacts();
        self.nodes.clear();
        self.rigid.clear();
        self.group.clear();
        self.group.resize(n, NONE);
        for c in 0..n {
            let terms = sys.rows.j.terms(c);
            if !terms.is_empty() && terms.iter().all(|t| !matches!(t, Term::Point(Part::Node { .. }))) {
                let (low, high) =
                    terms.iter().map(|t| t.block() as u32).fold((NONE, 0), |(l, h), b| (l.min(b), h.max(b)));
                self.rigid.push(([low, high], c as u32));
            }
            for t in terms {
                if let Term::Point(Part::Node { block, weight, .. }) = *t {
                    self.nodes.push((block, c as u32, weight));
                }
            }
        }
        self.rigid.sort_unstable();
        self.group_count.clear();
        for same in self.rigid.chunk_by(|a, b| a.0 == b.0) {
            for &(_, c) in same {
                self.group[c as usize] = self.group_count.len() as u32;
            }
            self.group_count.push(Vec3::ZERO);
        }
        // Factors of each pair that shares a node, then their products.
        self.nodes.sort_unstable_by_key(|n| (n.0, n.1));
        self.raw.clear();
        for at in self.nodes.chunk_by(|a, b| a.0 == b.0) {
            for a in at {
                for b in at.iter().filter(|b| b.1 != a.1) {
                    self.raw.push((a.1, b.1, 1.0 - (a.2.abs() - b.2.abs()).abs()));
                }
            }
        }
        self.raw.sort_unstable_by_key(|r| (r.0, r.1));
        self.start.clear();
        self.start.resize(n + 1, 0);
        self.pairs.clear();
        for same in self.raw.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            self.pairs.push((same[0].1, same.iter().map(|r| r.2).product()));
            self.start[same[0].0 as usize + 1] += 1;
        }
        for c in 0..n {
            self.start[c + 1] += self.start[c];
        }
    }

    /// Z for the rows that are unknowns now.
    pub fn recount(&mut self, mask: &[Vec3]) {
        self.group_count.fill(Vec3::ZERO);
        for (g, m) in self.group.iter().zip(mask) {
            if *g != NONE {
                self.group_count[*g as usize] += *m;
            }
        }
        self.count.clear();
        for c in 0..mask.len() {
            self.count.push(if self.group[c] != NONE {
                self.group_count[self.group[c] as usize].max(Vec3::ONE)
            } else {
                self.of(c).iter().fold(Vec3::ONE, |z, (o, like)| z + mask[*o as usize] * *like)
            });
        }
    }

    /// Contacts that share nodes with contact `c`, with their likeness.
    pub fn of(&self, c: usize) -> &[(u32, f64)] {
        &self.pairs[self.start[c] as usize..self.start[c + 1] as usize]
    }

    /// Z of contact `c` at the last count.
    pub fn count(&self, c: usize) -> Vec3 {
        self.count[c]
    }
}
