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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Friction, Term};
    use crate::coords::{BlockKind, Layout};
    use crate::linalg::{BlockMat, Mat3};

    /// Contacts between particles, given by the blocks that they move; `coupled` blocks share entries of A.
    fn islands(blocks: usize, coupled: &[(u32, u32)], contacts: &[&[u32]]) -> Vec<Vec<u32>> {
        let mut layout = Layout::new();
        for _ in 0..blocks {
            layout.push(BlockKind::Node);
        }
        let mut p =
            ContactProblem { a: BlockMat::with_pattern(&layout, coupled), ..ContactProblem::default() };
        for moved in contacts {
            let terms = moved.iter().map(|&block| Term::Node { block, dof: 3 * block, weight: 1.0 });
            p.j.push(Mat3::IDENTITY, terms);
            p.law.push(Friction::Isotropic(0.5).into());
        }
        let mut islands = Islands::default();
        // A larger problem before leaves nothing behind.
        islands.find(&ContactProblem { a: BlockMat::with_pattern(&layout, &[(0, 1)]), ..p.clone() });
        islands.find(&p);
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
