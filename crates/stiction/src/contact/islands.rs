//! Islands: groups of contacts that share no movable body, so that each can be solved alone.

use super::ContactProblem;

/// Contacts grouped by the connected parts of the body graph; islands are ordered by their smallest block and
/// contacts keep their order inside, so the grouping does not depend on anything but the problem.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    parent: Vec<u32>,
    island_of_root: Vec<u32>,
    start: Vec<u32>,
    contacts: Vec<u32>,
    of_contact: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Islands {
    /// Groups the contacts of `p`. A contact that moves nothing is an island of its own.
    pub fn find(&mut self, p: &ContactProblem) {
        let blocks = p.a.block_rows();
        self.parent.clear();
        self.parent.extend(0..blocks as u32);
        for i in 0..blocks {
            for (j, _) in p.a.row(i) {
                self.join(i as u32, j as u32);
            }
        }
        for c in 0..p.contacts() {
            let terms = p.j.terms(c);
            for t in terms.iter().skip(1) {
                self.join(terms[0].block() as u32, t.block() as u32);
            }
        }
        // Number the islands that hold contacts in the order of their smallest block (the root).
        self.island_of_root.clear();
        self.island_of_root.resize(blocks, NONE);
        let mut count = 0;
        self.of_contact.clear();
        for c in 0..p.contacts() {
            let root = p.j.terms(c).first().map(|t| self.root(t.block() as u32));
            if let Some(r) = root {
                self.island_of_root[r as usize] = 0;
            }
            self.of_contact.push(root.unwrap_or(NONE));
        }
        for i in &mut self.island_of_root {
            if *i == 0 {
                *i = count;
                count += 1;
            }
        }
        for o in &mut self.of_contact {
            *o = if *o == NONE {
                count += 1;
                count - 1
            } else {
                self.island_of_root[*o as usize]
            };
        }
        // Counting sort of the contacts by island.
        self.start.clear();
        self.start.resize(count as usize + 1, 0);
        for &o in &self.of_contact {
            self.start[o as usize + 1] += 1;
        }
        for i in 0..count as usize {
            self.start[i + 1] += self.start[i];
        }
        self.contacts.clear();
        self.contacts.resize(self.of_contact.len(), 0);
        // Fill from the front; `start[i]` moves up to the end of island i, so shift back afterwards.
        for (c, &o) in self.of_contact.iter().enumerate() {
            let at = &mut self.start[o as usize];
            self.contacts[*at as usize] = c as u32;
            *at += 1;
        }
        for i in (1..self.start.len()).rev() {
            self.start[i] = self.start[i - 1];
        }
        if let Some(first) = self.start.first_mut() {
            *first = 0;
        }
    }

    /// Number of islands that hold contacts.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// True when no contact exists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Contacts of island `i`, ascending.
    pub fn contacts(&self, i: usize) -> &[u32] {
        &self.contacts[self.start[i] as usize..self.start[i + 1] as usize]
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    /// The smaller root stays root, so a root is the smallest block of its island.
    fn join(&mut self, i: u32, j: u32) {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
