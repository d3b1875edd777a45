//! The Delassus matrix of an island whose dofs are coupled through `A`: built from sparse factors.
//!
//! Right for few contacts on anything that bends, and the reference for what larger islands do without it. Bodies that touch
//! each other but are not coupled through A are factored apart: then W has blocks only between contacts that share a body,
//! and many small bodies cost in proportion to their number.

use super::{ContactProblem, LocalProblem, Term};
use crate::linalg::{Mat3, SparseCholesky, Vec3};

/// Factors, free velocity and `W = J A⁻¹ Jᵀ` of one island.
#[derive(Default)]
pub struct Coupled {
    parts: Vec<Part>,
    /// How many parts the island has.
    count: usize,
    /// The part of each block of the island; anything for other blocks.
    part_of: Vec<u32>,
    v: Vec<f64>,
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

/// Columns that are solved for at a time.
const BATCH: usize = 32;

impl Coupled {
    /// Finds the parts of the island that A does not couple to each other; the dofs of the largest, and the most contacts on
    /// one part.
    pub fn find_parts(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) -> (usize, usize) {
        let parent = &mut self.part_of;
        parent.resize(p.a.block_rows(), 0);
        blocks.iter().for_each(|&b| parent[b as usize] = b);
        for &b in blocks {
            for (other, _) in p.a.row(b as usize) {
                let (x, y) = (root(parent, b), root(parent, other as u32));
                parent[x.max(y) as usize] = x.min(y);
            }
        }
        for &b in blocks {
            parent[b as usize] = root(parent, b);
        }
        // Parts in the order of their smallest blocks, which are their roots and come first.
        self.count = 0;
        for &b in blocks {
            let up = parent[b as usize];
            let part = if up == b { self.count as u32 } else { parent[up as usize] };
            if up == b {
                if self.parts.len() == self.count {
                    self.parts.push(Part::default());
                }
                let new = &mut self.parts[self.count];
                new.blocks.clear();
                new.contacts.clear();
                new.dofs = 0;
                self.count += 1;
            }
            parent[b as usize] = part;
            self.parts[part as usize].blocks.push(b);
            self.parts[part as usize].dofs += p.a.block(b as usize).1;
        }
        for (i, &c) in contacts.iter().enumerate() {
            for t in p.j.terms(c as usize) {
                let on = &mut self.parts[self.part_of[t.block()] as usize].contacts;
                if on.last() != Some(&(i as u32)) {
                    on.push(i as u32);
                }
            }
        }
        let parts = &self.parts[..self.count];
        let most = |of: fn(&Part) -> usize| parts.iter().map(of).max().unwrap_or(0);
        (most(|p| p.dofs), most(|p| p.contacts.len()))
    }

    /// Factors the blocks of the island and builds W of its contacts. False when A is not positive definite.
    pub fn prepare(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) -> bool {
        self.find_parts(p, blocks, contacts);
        self.v.clear();
        self.v.extend_from_slice(&p.b);
        let stretch = |c: u32| p.law[c as usize].stretch();
        let mut w = Vec::new();
        for part in &mut self.parts[..self.count] {
            if !part.factor.factor(&p.a, &part.blocks) {
                return false;
            }
            part.factor.solve(&mut self.v);
        }
        for k in 0..self.count {
            let part_of = &self.part_of;
            let of_part = |t: &&Term| part_of[t.block()] == k as u32;
            let Part { contacts: on, factor, columns, .. } = &mut self.parts[k];
            let rows = factor.rows();
            let many: Vec<(usize, usize)> = (0..on.len()).flat_map(|d| [0, 1, 2].map(|k| (d, k))).collect();
            let first = w.len();
            w.extend(on.iter().flat_map(|i| on.iter().map(move |d| (*i, *d, Mat3::ZERO))));
            for batch in many.chunks(BATCH) {
                columns.clear();
                columns.resize(rows * batch.len(), 0.0);
                for (column, &(d, k)) in columns.chunks_mut(rows).zip(batch) {
                    let c = contacts[on[d] as usize];
                    let push = p.j.frame[c as usize].transpose() * (Vec3::AXES[k] * stretch(c));
                    for t in p.j.terms(c as usize).iter().filter(of_part) {
                        t.at_row(factor.local_row(t.block())).add_impulse(push, column);
                    }
                }
                factor.solve_columns(columns, batch.len());
                for (column, &(d, k)) in columns.chunks(rows).zip(batch) {
                    for (i, &at) in on.iter().enumerate() {
                        let c = contacts[at as usize];
                        let terms = p.j.terms(c as usize).iter().filter(of_part);
                        let v: Vec3 =
                            terms.map(|t| t.at_row(factor.local_row(t.block())).velocity(column)).sum();
                        let entry = &mut w[first + i * on.len() + d];
                        *entry.2.col_mut(k) = stretch(c) * (p.j.frame[c as usize] * v);
                    }
                }
            }
        }
        for (i, &c) in contacts.iter().enumerate() {
            let s = stretch(c);
            w.push((i as u32, i as u32, Mat3::from_diagonal(p.softness[c as usize] * s * s)));
        }
        let free = |&c: &u32| (p.j.mul_one(c as usize, &self.v) + p.bias[c as usize]) * stretch(c);
        self.local = LocalProblem::with_laws(
            w,
            contacts.iter().map(free).collect(),
            contacts.iter().map(|&c| p.law[c as usize].round()).collect(),
        );
        true
    }

    /// Writes A⁻¹(b + Jᵀ λ) of the island into `v`.
    pub fn write_velocity(
        &mut self,
        p: &ContactProblem,
        blocks: &[u32],
        contacts: &[u32],
        lambda: &[Vec3],
        v: &mut [f64],
    ) {
        self.v.copy_from_slice(&p.b);
        for &c in contacts {
            let push = p.j.frame[c as usize].transpose() * lambda[c as usize];
            for t in p.j.terms(c as usize) {
                t.add_impulse(push, &mut self.v);
            }
        }
        for part in &mut self.parts[..self.count] {
            part.factor.solve(&mut self.v);
        }
        for &i in blocks {
            let (d, n) = p.a.block(i as usize);
            v[d..d + n].copy_from_slice(&self.v[d..d + n]);
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
