//! Parts of a step that nothing couples (Sec. 11): each keeps the best of its own iterates.
//!
//! All parts share one system, one number of iterations and one length of steps, so that one that does not converge would spoil
//! the answer of all others. With islands every part ends where it was best, and the step is solved when each has been.

use crate::contact::delassus::coupled::root;
use crate::papers::nsn::solve::Iterate;
use crate::papers::nsn::solve::schur::Schur;

/// Islands of a step with their best iterates so far.
#[derive(Default)]
pub struct Islands {
    /// Island of each block of dofs, and of each row.
    of_block: Vec<u32>,
    of_row: Vec<u32>,
    /// Error of the iterate that is being judged.
    now: Vec<f64>,
    /// Smallest error of each so far.
    least: Vec<f64>,
    best: Iterate<f64>,
    better: Vec<bool>,
    /// They are wanted and not found yet.
    due: bool,
    /// Trees of blocks that rows couple, and the island of each root.
    parent: Vec<u32>,
    number: Vec<u32>,
}

impl Islands {
    /// No islands yet; `wanted` says whether the first iterate is to show them, or there is one error for all.
    pub fn clear(&mut self, wanted: bool) {
        self.due = wanted;
        self.of_block.clear();
        self.of_row.clear();
        self.now.clear();
        self.least.clear();
    }

    /// True where none are kept.
    pub fn is_empty(&self) -> bool {
        self.of_block.is_empty()
    }

    /// Finds what the rows of `s` couple.
    fn find(&mut self, s: &Schur<f64>) {
        let blocks = s.mass.dofs().checked_sub(1).map_or(0, |last| s.mass.block_of(last) + 1);
        let (parent, number) = (&mut self.parent, &mut self.number);
        parent.clear();
        parent.extend(0..blocks);
        for i in 0..s.j.rows() {
            let columns = s.j.row(i).0;
            let Some(&first) = columns.first() else { continue };
            let first = s.mass.block_of(first as usize);
            for c in columns {
                let (a, b) = (root(parent, first), root(parent, s.mass.block_of(*c as usize)));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        // Numbered in the order of their first blocks; rows that move nothing belong to the first.
        number.clear();
        number.resize(parent.len(), u32::MAX);
        let mut count = 0;
        self.of_block.clear();
        for b in 0..blocks {
            let r = root(parent, b) as usize;
            if number[r] == u32::MAX {
                number[r] = count;
                count += 1;
            }
            self.of_block.push(number[r]);
        }
        self.of_row.clear();
        for i in 0..s.j.rows() {
            let first = s.j.row(i).0.first();
            self.of_row.push(first.map_or(0, |c| self.of_block[s.mass.block_of(*c as usize) as usize]));
        }
        self.now.clear();
        self.now.resize(count as usize, 0.0);
        self.least.clear();
        self.least.resize(count as usize, f64::INFINITY);
    }

    /// Starts to judge an iterate with the rows of `s`.
    pub fn begin(&mut self, s: &Schur<f64>) {
        if std::mem::take(&mut self.due) {
            self.find(s);
        }
        self.now.fill(0.0);
    }

    /// The error of a row.
    pub fn row(&mut self, i: usize, error: f64) {
        if let Some(&k) = self.of_row.get(i) {
            raise(&mut self.now[k as usize], error);
        }
    }

    /// The error of a dof.
    pub fn dof(&mut self, s: &Schur<f64>, dof: usize, error: f64) {
        if !self.is_empty() {
            raise(&mut self.now[self.of_block[s.mass.block_of(dof) as usize] as usize], error);
        }
    }

    /// Keeps the parts of `x` that are better than before; the largest of the smallest errors.
    pub fn end(&mut self, x: &Iterate<f64>, s: &Schur<f64>) -> f64 {
        self.best.u.resize(x.u.len(), 0.0);
        self.best.lambda.resize(x.lambda.len(), 0.0);
        self.better.clear();
        self.better.extend(self.now.iter().zip(&self.least).map(|(n, l)| n < l));
        let better = &self.better;
        if better.contains(&true) {
            for (d, u) in x.u.iter().enumerate() {
                if better[self.of_block[s.mass.block_of(d) as usize] as usize] {
                    self.best.u[d] = *u;
                }
            }
            for (i, l) in x.lambda.iter().enumerate() {
                if better[self.of_row[i] as usize] {
                    self.best.lambda[i] = *l;
                }
            }
        }
        for (least, now) in self.least.iter_mut().zip(&self.now) {
            *least = least.min(*now);
        }
        self.least.iter().copied().fold(0.0, f64::max)
    }

    /// The best of all iterates, island by island, and its error.
    pub fn best(&self) -> (f64, &Iterate<f64>) {
        (self.least.iter().copied().fold(0.0, f64::max), &self.best)
    }
}

fn raise(worst: &mut f64, error: f64) {
    *worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
}
