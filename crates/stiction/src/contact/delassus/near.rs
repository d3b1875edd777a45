//! The neighbourhood of some contacts: their bodies, what touches these, and so on.

use crate::contact::ContactProblem;

/// Contacts around some others, found layer by layer. A layer costs a pass over the contacts that it is chosen from.
#[derive(Clone, Debug, Default)]
pub struct Near {
    is_marked: Vec<bool>,
    contacts: Vec<u32>,
}

impl Near {
    /// Starts with these contacts.
    pub fn from(&mut self, p: &ContactProblem, contacts: impl Iterator<Item = usize>) {
        self.is_marked.clear();
        self.is_marked.resize(p.a.block_rows(), false);
        self.contacts.clear();
        self.contacts.extend(contacts.map(|c| c as u32));
    }

    /// Adds those contacts among `all` (ascending) that share a body with one of these.
    pub fn grow(&mut self, p: &ContactProblem, all: impl Iterator<Item = u32>) {
        for &c in &self.contacts {
            for t in p.j.terms(c as usize) {
                self.is_marked[t.block()] = true;
            }
        }
        let is_near = |c: &u32| p.j.terms(*c as usize).iter().any(|t| self.is_marked[t.block()]);
        self.contacts.clear();
        self.contacts.extend(all.filter(is_near));
    }

    /// The contacts, ascending once grown.
    pub fn contacts(&self) -> &[u32] {
        &self.contacts
    }

    /// True for a block all of whose contacts are here.
    pub fn is_inner(&self, block: usize) -> bool {
        self.is_marked[block]
    }
}
