//! Islands: groups of dofs and contacts that nothing couples, so that each can be solved alone.

use super::ContactProblem;
use crate::linalg::{BlockMat, BlockPattern};
use std::sync::Arc;

/// Contacts and blocks grouped by the connected parts of the graph that contacts and the matrix make; islands are
/// ordered by their smallest block and contacts keep their order inside, so the grouping does not depend on anything
/// but the problem. Blocks that neither touch nor are coupled to others belong to no island.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    parent: Vec<u32>,
    island_of_root: Vec<u32>,
    contacts: Groups,
    blocks: Groups,
    of_contact: Vec<u32>,
    of_block: Vec<u32>,
    coupled: Vec<bool>,
    /// What the matrix alone ties together, found once for each pattern.
    of_matrix: Parts,
}

/// Connected parts of the pattern of a matrix.
#[derive(Clone, Debug, Default)]
struct Parts {
    pattern: Option<Arc<BlockPattern>>,
    /// For each block the smallest one of its part.
    root: Vec<u32>,
    /// Roots of parts of several blocks, ascending.
    coupled: Vec<u32>,
}

impl Parts {
    fn find(&mut self, a: &BlockMat) {
        if a.shares(self.pattern.as_ref()) {
            return;
        }
        self.pattern = Some(Arc::clone(a.pattern()));
        let blocks = a.block_rows();
        self.root.clear();
        self.root.extend(0..blocks as u32);
        self.coupled.clear();
        if a.is_block_diagonal() {
            return;
        }
        for i in 0..blocks {
            for &j in a.columns(i) {
                join(&mut self.root, i as u32, j);
            }
        }
        for i in 0..blocks as u32 {
            self.root[i as usize] = find(&mut self.root, i);
        }
        let couples = |i: &u32| a.columns(*i as usize).len() > 1;
        self.coupled.extend((0..blocks as u32).filter(couples).map(|i| self.root[i as usize]));
        self.coupled.sort_unstable();
        self.coupled.dedup();
    }
}

/// Numbers sorted into groups.
#[derive(Clone, Debug, Default)]
struct Groups {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Groups {
    /// Counting sort of 0..of.len() by group; those of `NONE` are left out.
    fn sort(&mut self, groups: usize, of: &[u32]) {
        self.start.clear();
        self.start.resize(groups + 1, 0);
        for &g in of.iter().filter(|g| **g != NONE) {
            self.start[g as usize + 1] += 1;
        }
        for g in 0..groups {
            self.start[g + 1] += self.start[g];
        }
        self.items.clear();
        self.items.resize(self.start[groups] as usize, 0);
        // Fill from the front; `start[g]` moves up to the end of group g, so shift back afterwards.
        for (i, &g) in of.iter().enumerate().filter(|(_, g)| **g != NONE) {
            let at = &mut self.start[g as usize];
            self.items[*at as usize] = i as u32;
            *at += 1;
        }
        for g in (1..self.start.len()).rev() {
            self.start[g] = self.start[g - 1];
        }
        self.start[0] = 0;
    }

    fn get(&self, g: usize) -> &[u32] {
        &self.items[self.start[g] as usize..self.start[g + 1] as usize]
    }
}

const NONE: u32 = u32::MAX;

impl Islands {
    /// Groups the contacts and blocks of `p`. A contact that moves nothing is an island of its own.
    pub fn find(&mut self, p: &ContactProblem) {
        let blocks = p.a.block_rows();
        self.of_matrix.find(&p.a);
        self.parent.clone_from(&self.of_matrix.root);
        for c in 0..p.contacts() {
            let terms = p.j.terms(c);
            for t in terms.iter().skip(1) {
                self.join(terms[0].block() as u32, t.block() as u32);
            }
        }
        // Number the islands in the order of their smallest block (the root).
        self.island_of_root.clear();
        self.island_of_root.resize(blocks, NONE);
        let mut count = 0;
        self.coupled.clear();
        self.coupled.resize(blocks, false);
        for &part in &self.of_matrix.coupled {
            let r = find(&mut self.parent, part) as usize;
            self.island_of_root[r] = 0;
            self.coupled[r] = true;
        }
        self.of_contact.clear();
        for c in 0..p.contacts() {
            let root = p.j.terms(c).first().map(|t| self.root(t.block() as u32));
            if let Some(r) = root {
                self.island_of_root[r as usize] = 0;
            }
            self.of_contact.push(root.unwrap_or(NONE));
        }
        for (r, i) in self.island_of_root.iter_mut().enumerate() {
            if *i == 0 {
                *i = count;
                self.coupled[count as usize] = self.coupled[r];
                count += 1;
            }
        }
        self.coupled.truncate(count as usize);
        for o in &mut self.of_contact {
            *o = if *o == NONE {
                count += 1;
                count - 1
            } else {
                self.island_of_root[*o as usize]
            };
        }
        self.coupled.resize(count as usize, false);
        self.of_block.clear();
        for i in 0..blocks {
            let root = self.root(i as u32);
            self.of_block.push(self.island_of_root[root as usize]);
        }
        self.contacts.sort(count as usize, &self.of_contact);
        self.blocks.sort(count as usize, &self.of_block);
    }

    /// Number of islands.
    pub fn len(&self) -> usize {
        self.contacts.start.len().saturating_sub(1)
    }

    /// True when nothing touches and nothing is coupled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Contacts of island `i`, ascending.
    pub fn contacts(&self, i: usize) -> &[u32] {
        self.contacts.get(i)
    }

    /// The island of contact `c`.
    pub fn of_contact(&self, c: usize) -> usize {
        self.of_contact[c] as usize
    }

    /// Blocks of island `i`, ascending.
    pub fn blocks(&self, i: usize) -> &[u32] {
        self.blocks.get(i)
    }

    /// True when block `i` is in no island: it moves as if it were alone.
    pub fn is_alone(&self, i: usize) -> bool {
        self.of_block[i] == NONE
    }

    /// True when the matrix couples blocks of island `i`.
    pub fn is_coupled(&self, i: usize) -> bool {
        self.coupled[i]
    }

    fn root(&mut self, i: u32) -> u32 {
        find(&mut self.parent, i)
    }

    fn join(&mut self, i: u32, j: u32) {
        join(&mut self.parent, i, j);
    }
}

/// Root of the tree that `i` is part of; halves the paths on its way.
fn find(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        let up = parent[parent[i as usize] as usize];
        parent[i as usize] = up;
        i = up;
    }
    i
}

/// The smaller root stays root, so a root is the smallest block of its island.
fn join(parent: &mut [u32], i: u32, j: u32) {
    let (a, b) = (find(parent, i), find(parent, j));
    parent[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Friction, Term};
    use crate::coords::Part;
    use crate::coords::{BlockKind, Layout};
    use crate::linalg::{BlockMat, Mat3};

    /// Contacts between particles, given by the blocks that they move; `coupled` blocks share entries of A.
    fn islands(blocks: usize, coupled: &[(u32, u32)], contacts: &[&[u32]]) -> Vec<Vec<u32>> {
        let mut layout = Layout::new();
        for _ in 0..blocks {
            layout.push(BlockKind::Node);
        }
        let mut p = ContactProblem {
            a: BlockMat::with_pattern(&layout.widths(), coupled),
            ..ContactProblem::default()
        };
        for moved in contacts {
            let terms =
                moved.iter().map(|&block| Term::Point(Part::Node { block, dof: 3 * block, weight: 1.0 }));
            p.j.push(Mat3::IDENTITY, terms);
            p.law.push(Friction::Isotropic(0.5).into());
        }
        let mut islands = Islands::default();
        // A larger problem before leaves nothing behind, and the same pattern again is the same.
        islands.find(&ContactProblem { a: BlockMat::with_pattern(&layout.widths(), &[(0, 1)]), ..p.clone() });
        for _ in 0..2 {
            islands.find(&p);
        }
        assert_eq!(islands.is_empty(), contacts.is_empty());
        (0..islands.len()).map(|i| islands.contacts(i).to_vec()).collect()
    }

    #[test]
    fn contacts_that_share_a_body_are_one_island() {
        // 4–1, 2 alone, 1–3, 0 alone, 3–4: islands in the order of their smallest block, contacts in theirs.
        let found = islands(6, &[], &[&[4, 1], &[2], &[1, 3], &[0], &[3, 4], &[2]]);
        assert_eq!(found, [vec![3], vec![0, 2, 4], vec![1, 5]]);
    }

    #[test]
    fn the_order_of_contacts_and_sides_does_not_matter() {
        let found = islands(6, &[], &[&[3, 4], &[2], &[0], &[3, 1], &[2], &[1, 4]]);
        assert_eq!(found, [vec![2], vec![0, 3, 5], vec![1, 4]]);
    }

    #[test]
    fn dofs_that_are_coupled_through_the_matrix_are_one_island() {
        let contacts: &[&[u32]] = &[&[0], &[3], &[1]];
        assert_eq!(islands(4, &[], contacts), [vec![0], vec![2], vec![1]]);
        assert_eq!(islands(4, &[(3, 2), (2, 0)], contacts), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn contacts_that_move_nothing_come_last_and_alone() {
        assert_eq!(islands(2, &[], &[&[], &[1], &[], &[0, 1]]), [vec![1, 3], vec![0], vec![2]]);
        assert_eq!(islands(3, &[], &[]), Vec::<Vec<u32>>::new());
    }
}
