//! The Delassus matrix of an island whose dofs are coupled through `A`: built from a sparse factor.
//!
//! Right for few contacts on anything that bends, and the reference for what larger islands do without it.

use super::{ContactProblem, LocalProblem};
use crate::linalg::{Mat3, SparseCholesky, Vec3};

/// Factor, free velocity and `W = J A⁻¹ Jᵀ` of one island.
#[derive(Default)]
pub struct Coupled {
    factor: SparseCholesky,
    v: Vec<f64>,
    f: Vec<f64>,
    columns: Vec<f64>,
    /// W and q with elliptic cones stretched to round ones.
    pub local: LocalProblem,
}

/// Columns that are solved for at a time.
const BATCH: usize = 32;

impl Coupled {
    /// Factors the blocks of the island and builds W of its contacts. False when A is not positive definite.
    pub fn prepare(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) -> bool {
        if !self.factor.factor(&p.a, blocks) {
            return false;
        }
        self.v.clear();
        self.v.extend_from_slice(&p.b);
        self.factor.solve(&mut self.v);
        let stretch = |c: u32| p.law[c as usize].stretch();
        let n = contacts.len();
        let mut w = vec![(0, 0, Mat3::ZERO); n * n];
        self.f.clear();
        self.f.resize(p.dofs(), 0.0);
        let rows = self.factor.rows();
        let many: Vec<(usize, usize)> = (0..n).flat_map(|d| (0..3).map(move |k| (d, k))).collect();
        for batch in many.chunks(BATCH) {
            self.columns.clear();
            self.columns.resize(rows * batch.len(), 0.0);
            for (column, &(d, k)) in self.columns.chunks_mut(rows).zip(batch) {
                let c = contacts[d] as usize;
                let push = p.j.frame[c].transpose() * (Vec3::AXES[k] * stretch(contacts[d]));
                for t in p.j.terms(c) {
                    t.at_row(self.factor.local_row(t.block())).add_impulse(push, column);
                }
            }
            self.factor.solve_columns(&mut self.columns, batch.len());
            for (column, &(d, k)) in self.columns.chunks(rows).zip(batch) {
                for (i, &c) in contacts.iter().enumerate() {
                    let terms = p.j.terms(c as usize).iter();
                    let v: Vec3 =
                        terms.map(|t| t.at_row(self.factor.local_row(t.block())).velocity(column)).sum();
                    let entry = &mut w[i * n + d];
                    (entry.0, entry.1) = (i as u32, d as u32);
                    *entry.2.col_mut(k) = stretch(c) * (p.j.frame[c as usize] * v);
                }
            }
        }
        for (i, &c) in contacts.iter().enumerate() {
            let s = stretch(c);
            w[i * n + i].2 += Mat3::from_diagonal(p.softness[c as usize] * s * s);
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
        self.factor.solve(&mut self.v);
        for &i in blocks {
            let (d, n) = p.a.block(i as usize);
            v[d..d + n].copy_from_slice(&self.v[d..d + n]);
        }
    }
}
