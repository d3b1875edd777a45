//! The Delassus matrix of an island whose dofs are coupled through `A`: built from sparse factors.
//!
//! Right for few contacts on anything that bends, and the reference for what larger islands do without it. Bodies that touch
//! each other but are not coupled through A are factored apart: then W has blocks only between contacts that share a body,
//! and many small bodies cost in proportion to their number.

use crate::contact::{ContactProblem, LocalProblem, Term};
use crate::linalg::ascending::place;
use crate::linalg::{BlockMat, BlockPattern, Mat3, SparseCholesky, Vec3};
use std::sync::Arc;

/// Factors, free velocity and `W = J A⁻¹ Jᵀ` of one island. Takes memory for the island and not for all of a problem, and asks
/// for none where the same island is solved again.
#[derive(Default)]
pub struct Coupled {
    /// The island, and the pattern of the matrix that its parts were found in.
    blocks: Vec<u32>,
    pattern: Option<Arc<BlockPattern>>,
    parts: Vec<Part>,
    /// How many parts the island has.
    count: usize,
    /// For each block of the island its part, and where it begins in `v`.
    part_of: Vec<u32>,
    row_of: Vec<u32>,
    /// A vector of the island, part by part.
    v: Vec<f64>,
    rows: RowBuffers,
    /// W and q with elliptic cones stretched to round ones.
    pub local: LocalProblem,
}

/// Blocks that A couples, with their factor and the contacts of the island that move them.
#[derive(Default)]
struct Part {
    blocks: Vec<u32>,
    contacts: Vec<u32>,
    dofs: usize,
    factor: SparseCholesky,
    columns: Vec<f64>,
}

/// Buffers of the rows of W.
#[derive(Default)]
struct RowBuffers {
    /// Parts of contact i of the island are `parts[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    parts: Vec<u32>,
    /// The part that gave the first share to a block of W; `NONE` before there is one.
    owner: Vec<u32>,
    /// Terms of the contacts of one part in its vectors, and where those of each begin.
    terms: Vec<Term>,
    first: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Columns that are solved for at a time.
const BATCH: usize = 32;

impl Coupled {
    /// Finds the parts of the island that A does not couple to each other; the dofs of the largest, and the most contacts on
    /// one part.
    pub fn find_parts(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) -> (usize, usize) {
        if !(p.a.shares(self.pattern.as_ref()) && self.blocks == blocks) {
            self.part(&p.a, blocks);
        }
        let parts = &mut self.parts[..self.count];
        parts.iter_mut().for_each(|part| part.contacts.clear());
        for (i, &c) in contacts.iter().enumerate() {
            for t in p.j.terms(c as usize) {
                let at = place(blocks, t.block() as u32).expect("a block of the island");
                let on = &mut parts[self.part_of[at] as usize].contacts;
                if on.last() != Some(&(i as u32)) {
                    on.push(i as u32);
                }
            }
        }
        let most = |of: fn(&Part) -> usize| parts.iter().map(of).max().unwrap_or(0);
        (most(|p| p.dofs), most(|p| p.contacts.len()))
    }

    /// Parts the blocks of an island by what A couples.
    fn part(&mut self, a: &BlockMat, blocks: &[u32]) {
        self.pattern = Some(Arc::clone(a.pattern()));
        self.blocks.clear();
        self.blocks.extend_from_slice(blocks);
        let parent = &mut self.part_of;
        parent.clear();
        parent.extend(0..blocks.len() as u32);
        for (at, &b) in blocks.iter().enumerate() {
            for &other in a.columns(b as usize) {
                let other = place(blocks, other).expect("a block of the island") as u32;
                let (x, y) = (root(parent, at as u32), root(parent, other));
                parent[x.max(y) as usize] = x.min(y);
            }
        }
        for at in 0..blocks.len() as u32 {
            parent[at as usize] = root(parent, at);
        }
        // Parts in the order of their smallest blocks, which are their roots and come first.
        self.count = 0;
        for at in 0..blocks.len() {
            let up = parent[at] as usize;
            let part = if up == at { self.count as u32 } else { parent[up] };
            if up == at {
                if self.parts.len() == self.count {
                    self.parts.push(Part::default());
                }
                let new = &mut self.parts[self.count];
                new.blocks.clear();
                new.dofs = 0;
                self.count += 1;
            }
            parent[at] = part;
            self.parts[part as usize].blocks.push(blocks[at]);
            self.parts[part as usize].dofs += a.block(blocks[at] as usize).1;
        }
        self.row_of.clear();
        self.row_of.resize(blocks.len(), 0);
        let mut row = 0;
        for part in &self.parts[..self.count] {
            for &b in &part.blocks {
                self.row_of[place(blocks, b).expect("a block of the island")] = row;
                row += a.block(b as usize).1 as u32;
            }
        }
    }

    /// Sets `v` to b of the island.
    fn gather(&mut self, p: &ContactProblem) {
        self.v.clear();
        for part in &self.parts[..self.count] {
            for &b in &part.blocks {
                let (d, n) = p.a.block(b as usize);
                self.v.extend_from_slice(&p.b[d..d + n]);
            }
        }
    }

    /// Overwrites `v` with A⁻¹ v.
    fn divide(&mut self) {
        let mut v = &mut self.v[..];
        for part in &mut self.parts[..self.count] {
            let (own, rest) = v.split_at_mut(part.dofs);
            part.factor.solve_columns(own, 1);
            v = rest;
        }
    }

    /// A term in `v`.
    fn in_island(&self, t: &Term) -> Term {
        t.at_row(self.row_of[place(&self.blocks, t.block() as u32).expect("a block of the island")] as usize)
    }

    /// Factors the blocks of the island and builds W of its contacts. False when A is not positive definite.
    pub fn prepare(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) -> bool {
        self.find_parts(p, blocks, contacts);
        for part in &mut self.parts[..self.count] {
            if !part.factor.factor(&p.a, &part.blocks) {
                return false;
            }
        }
        self.gather(p);
        self.divide();
        self.lay_out(contacts.len());
        let stretch = |c: u32| p.law[c as usize].stretch();
        for k in 0..self.count {
            self.localize(p, contacts, k);
            let (w, rows) = (&mut self.local, &mut self.rows);
            let Part { contacts: on, factor, columns, dofs, .. } = &mut self.parts[k];
            let terms = |i: usize| &rows.terms[rows.first[i] as usize..rows.first[i + 1] as usize];
            let mut done = 0;
            while done < 3 * on.len() {
                // Column `done + j` is the push along axis (done + j) mod 3 at contact (done + j)/3 of the part.
                let batch = BATCH.min(3 * on.len() - done);
                let column_of = |j: usize| ((done + j) / 3, (done + j) % 3);
                columns.clear();
                columns.resize(*dofs * batch, 0.0);
                for (j, column) in columns.chunks_mut(*dofs).enumerate() {
                    let (d, axis) = column_of(j);
                    let c = contacts[on[d] as usize];
                    let push = p.j.frame[c as usize].transpose() * (Vec3::AXES[axis] * stretch(c));
                    terms(d).iter().for_each(|t| t.add_impulse(push, column));
                }
                factor.solve_columns(columns, batch);
                for (i, &at) in on.iter().enumerate() {
                    let c = contacts[at as usize];
                    let (frame, s) = (p.j.frame[c as usize], stretch(c));
                    let row = w.row_start[at as usize]..w.row_start[at as usize + 1];
                    for (j, column) in columns.chunks(*dofs).enumerate() {
                        let (d, axis) = column_of(j);
                        let v: Vec3 = terms(i).iter().map(|t| t.velocity(column)).sum();
                        let value = s * (frame * v);
                        let e = row.start
                            + place(&w.col[row.clone()], on[d]).expect("both contacts move this part");
                        let owner = &mut rows.owner[e];
                        if *owner == NONE {
                            *owner = k as u32;
                        }
                        let column = w.block[e].col_mut(axis);
                        if *owner == k as u32 {
                            *column = value;
                        } else {
                            *column += value;
                        }
                    }
                }
                done += batch;
            }
        }
        for (i, &c) in contacts.iter().enumerate() {
            let (s, row) = (stretch(c), self.local.row_start[i]..self.local.row_start[i + 1]);
            let e = row.start + place(&self.local.col[row], i as u32).expect("rows hold their diagonal");
            self.local.block[e] += Mat3::from_diagonal(p.softness[c as usize] * s * s);
            let terms = p.j.terms(c as usize).iter();
            let free: Vec3 = terms.map(|t| self.in_island(t).velocity(&self.v)).sum();
            self.local.q.push((p.j.frame[c as usize] * free + p.bias[c as usize]) * s);
            self.local.law.push(p.law[c as usize].round());
        }
        true
    }

    /// The pattern of W, with blocks of zeros: contacts that move one part share a block.
    fn lay_out(&mut self, contacts: usize) {
        let Coupled { rows, local: w, parts, count, .. } = self;
        rows.start.clear();
        rows.start.resize(contacts + 1, 0);
        for &i in parts[..*count].iter().flat_map(|part| &part.contacts) {
            rows.start[i as usize + 1] += 1;
        }
        for i in 0..contacts {
            rows.start[i + 1] += rows.start[i];
        }
        rows.parts.clear();
        rows.parts.resize(rows.start[contacts] as usize, 0);
        // Fill from the front; `start[i]` moves up to the end of row i.
        for (k, part) in parts[..*count].iter().enumerate() {
            for &i in &part.contacts {
                rows.parts[rows.start[i as usize] as usize] = k as u32;
                rows.start[i as usize] += 1;
            }
        }
        w.row_start.clear();
        w.col.clear();
        w.q.clear();
        w.law.clear();
        w.row_start.push(0);
        let mut first = 0;
        for i in 0..contacts {
            let (begin, end) = (w.col.len(), rows.start[i] as usize);
            for &k in &rows.parts[first..end] {
                w.col.extend_from_slice(&parts[k as usize].contacts);
            }
            match end - first {
                0 => w.col.push(i as u32),
                1 => {}
                _ => {
                    w.col[begin..].sort_unstable();
                    let mut kept = begin;
                    for e in begin..w.col.len() {
                        if kept == begin || w.col[kept - 1] != w.col[e] {
                            w.col[kept] = w.col[e];
                            kept += 1;
                        }
                    }
                    w.col.truncate(kept);
                }
            }
            w.row_start.push(w.col.len());
            first = end;
        }
        w.block.clear();
        w.block.resize(w.col.len(), Mat3::ZERO);
        rows.owner.clear();
        rows.owner.resize(w.col.len(), NONE);
    }

    /// Terms of the contacts of part `k` in its vectors.
    fn localize(&mut self, p: &ContactProblem, contacts: &[u32], k: usize) {
        let RowBuffers { terms, first, .. } = &mut self.rows;
        let Part { contacts: on, factor, .. } = &self.parts[k];
        terms.clear();
        first.clear();
        first.push(0);
        for &i in on {
            for t in p.j.terms(contacts[i as usize] as usize) {
                let at = place(&self.blocks, t.block() as u32).expect("a block of the island");
                if self.part_of[at] == k as u32 {
                    terms.push(t.at_row(factor.local_row(t.block())));
                }
            }
            first.push(terms.len() as u32);
        }
    }

    /// Writes A⁻¹(b + Jᵀ λ) of the island that was prepared last into `v`.
    pub fn write_velocity(&mut self, p: &ContactProblem, contacts: &[u32], lambda: &[Vec3], v: &mut [f64]) {
        self.gather(p);
        for &c in contacts {
            let push = p.j.frame[c as usize].transpose() * lambda[c as usize];
            for t in p.j.terms(c as usize) {
                self.in_island(t).add_impulse(push, &mut self.v);
            }
        }
        self.divide();
        for (&b, &row) in self.blocks.iter().zip(&self.row_of) {
            let (d, n) = p.a.block(b as usize);
            v[d..d + n].copy_from_slice(&self.v[row as usize..row as usize + n]);
        }
    }
}

/// Root of the tree that `k` is part of; halves the paths on its way.
pub(crate) fn root(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        parent[k as usize] = parent[parent[k as usize] as usize];
        k = parent[k as usize];
    }
    k
}
