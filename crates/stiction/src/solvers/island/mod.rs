//! The part of a [`ContactProblem`] that one soft island needs, in 3×3 blocks.
//!
//! Unknowns: three numbers per node, then six per rigid body (its linear and angular halves are two blocks).
//! Elliptic cones are stretched to round ones.

pub mod acceleration;
pub mod judge;
pub mod surrogate;

pub use acceleration::{Acceleration, Chebyshev};
pub use judge::Error;

use crate::contact::law::RoundLaw;
use crate::contact::{ContactProblem, Term};
use crate::coords::Part;
use crate::linalg::ascending::place;
use crate::linalg::sweep32::Sweep32;
use crate::linalg::{BlockPattern, Mat3, SymBsr, Vec3};
use std::sync::Arc;

pub(crate) const NONE: u32 = u32::MAX;

/// How one block (node) or pair of blocks (body) moves one side of a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    /// First block.
    pub at: u32,
    /// Signed weight.
    pub weight: f64,
    /// Lever arm [m] of a body's point; `None` for nodes and for the spin of a body (whose angular half is `at`).
    pub arm: Option<Vec3>,
}

impl Mover {
    pub fn velocity(&self, x: &[f64]) -> Vec3 {
        let i = 3 * self.at as usize;
        let v = Vec3::from_slice(&x[i..]);
        match self.arm {
            None => self.weight * v,
            Some(arm) => self.weight * (v + Vec3::from_slice(&x[i + 3..]).cross(arm)),
        }
    }

    pub fn add_impulse(&self, p: Vec3, f: &mut [f64]) {
        add(f, self.at, self.weight * p);
        if let Some(arm) = self.arm {
            add(f, self.at + 1, self.weight * arm.cross(p));
        }
    }
}

/// f_i += x.
pub(crate) fn add(f: &mut [f64], block: u32, x: Vec3) {
    let i = 3 * block as usize;
    f[i] += x.x;
    f[i + 1] += x.y;
    f[i + 2] += x.z;
}

/// One contact in stretched coordinates: u = F Σ terms + bias + softness λ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// World axes to stretched contact axes: diag(k) times the frame.
    pub frame: Mat3,
    pub bias: Vec3,
    /// 1/k², so that λ = unstretch · (frame · p) for an impulse `p` in world axes.
    pub unstretch: Vec3,
    pub softness: Vec3,
    pub law: RoundLaw,
    /// Mean diagonal of J diag(A)⁻¹ Jᵀ, unstretched, as the yardstick has it [1/kg].
    pub scale: f64,
    /// Several nodes that A couples carry it, and nothing else that moves.
    pub is_shared: bool,
    first: u32,
    last: u32,
}

impl Touch {
    /// Normal in world axes.
    pub fn normal(&self) -> Vec3 {
        self.frame.row(0)
    }

    /// λ of an impulse in world axes.
    pub fn impulse(&self, p: Vec3) -> Vec3 {
        self.unstretch * (self.frame * p)
    }
}

/// Local copy of matrix, right-hand side and contacts; its pattern is kept as long as the problem's does not change.
#[derive(Default)]
pub(crate) struct Island {
    /// Number of nodes and of rigid bodies.
    pub nodes: usize,
    pub bodies: usize,
    pub a: SymBsr,
    pub low: Sweep32,
    pub b: Vec<f64>,
    /// Lumped inertia of each unknown, and 1/√ of it with the nodes that follow bodies counted to those.
    pub mass: Vec<f64>,
    pub inverse_root: Vec<f64>,
    pub touches: Vec<Touch>,
    /// Counts changes of the pattern.
    pub version: usize,
    movers: Vec<Mover>,
    /// First global dof of each block.
    dof: Vec<u32>,
    /// Global block of each local block.
    pub block: Vec<u32>,
    /// First local block of each of `known_blocks`.
    local: Vec<u32>,
    /// What the pattern was made from.
    known: Option<Arc<BlockPattern>>,
    known_rows: usize,
    known_blocks: Vec<u32>,
    known_columns: Vec<u32>,
    /// Place and row stride in the values of the problem's matrix, for each block of `low`.
    source: Vec<(u32, u32)>,
    rows: Vec<u32>,
    columns: Vec<u32>,
}

impl Island {
    /// Copies what belongs to these blocks and contacts.
    pub fn load(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) {
        self.load_without_sweeps(p, blocks, contacts);
        self.copy_low(p);
    }

    /// The same for solvers that take products only: the values of `low` stay what they were.
    pub fn load_without_sweeps(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) {
        if !self.fits(p, blocks) {
            self.make_pattern(p, blocks);
        }
        self.known = Some(Arc::clone(p.a.pattern()));
        self.copy_values(p);
        self.b.clear();
        for &d in &self.dof {
            self.b.extend_from_slice(&p.b[d as usize..d as usize + 3]);
        }
        self.make_masses();
        self.copy_contacts(p, contacts);
    }

    /// Number of unknowns.
    pub fn dofs(&self) -> usize {
        3 * self.dof.len()
    }

    pub fn gather(&self, from: &[f64], to: &mut Vec<f64>) {
        to.clear();
        for &d in &self.dof {
            to.extend_from_slice(&from[d as usize..d as usize + 3]);
        }
    }

    pub fn scatter(&self, from: &[f64], to: &mut [f64]) {
        for (i, &d) in self.dof.iter().enumerate() {
            to[d as usize..d as usize + 3].copy_from_slice(&from[3 * i..3 * i + 3]);
        }
    }

    pub fn movers(&self, t: &Touch) -> &[Mover] {
        &self.movers[t.first as usize..t.last as usize]
    }

    /// J x in stretched contact axes.
    pub fn relative(&self, t: &Touch, x: &[f64]) -> Vec3 {
        t.frame * self.movers(t).iter().map(|m| m.velocity(x)).sum::<Vec3>()
    }

    /// f += Jᵀ λ.
    pub fn add_impulse(&self, t: &Touch, lambda: Vec3, f: &mut [f64]) {
        let p = t.frame.transpose() * lambda;
        for m in self.movers(t) {
            m.add_impulse(p, f);
        }
    }

    /// Place of a block in `low`.
    pub fn place(&self, row: u32, column: u32) -> Option<usize> {
        let range = self.low.range(row as usize);
        let at = self.low.columns()[range.clone()].binary_search(&column).ok()?;
        Some(range.start + at)
    }

    fn is_shared(&self, movers: &[Mover]) -> bool {
        let node = |m: &Mover| m.arm.is_none() && (m.at as usize) < self.nodes;
        movers.len() > 1
            && movers.iter().all(|m| node(m) && movers.iter().all(|o| self.place(m.at, o.at).is_some()))
    }

    /// The first local block of a global one of the island.
    fn local(&self, block: usize) -> Option<u32> {
        place(&self.known_blocks, block as u32).map(|at| self.local[at])
    }

    fn fits(&self, p: &ContactProblem, blocks: &[u32]) -> bool {
        if self.known_blocks != blocks || self.known_rows != p.a.block_rows() {
            return false;
        }
        if p.a.shares(self.known.as_ref()) {
            return true;
        }
        let mut at = 0;
        for &i in blocks {
            let row = p.a.columns(i as usize);
            if self.known_columns.get(at..at + row.len()) != Some(row) {
                return false;
            }
            at += row.len();
        }
        at == self.known_columns.len()
    }

    fn make_pattern(&mut self, p: &ContactProblem, blocks: &[u32]) {
        self.version += 1;
        self.known_rows = p.a.block_rows();
        self.known_blocks.clear();
        self.known_blocks.extend_from_slice(blocks);
        self.known_columns.clear();
        self.local.clear();
        self.local.resize(blocks.len(), NONE);
        self.dof.clear();
        self.block.clear();
        for width in [3, 6] {
            for (at, &i) in blocks.iter().enumerate() {
                let (dof, n) = p.a.block(i as usize);
                if n != width {
                    continue;
                }
                self.local[at] = self.dof.len() as u32;
                for half in 0..width / 3 {
                    self.dof.push((dof + 3 * half) as u32);
                    self.block.push(i);
                }
            }
            if width == 3 {
                self.nodes = self.dof.len();
            }
        }
        self.bodies = (self.dof.len() - self.nodes) / 2;
        for &i in blocks {
            self.known_columns.extend_from_slice(p.a.columns(i as usize));
        }
        // Rows in local order: each block of the problem gives one, two or four blocks here.
        self.rows.clear();
        self.rows.push(0);
        self.columns.clear();
        self.source.clear();
        let mut row: Vec<(u32, u32, u32)> = Vec::new();
        for local in 0..self.dof.len() {
            let i = self.block[local] as usize;
            let down = self.dof[local] as usize - p.a.block(i).0;
            row.clear();
            for (k, &j) in p.a.columns(i).iter().enumerate() {
                let Some(at) = self.local(j as usize) else { continue };
                let width = p.a.block(j as usize).1;
                for half in 0..width / 3 {
                    let place = p.a.value_place(i, k) + down * width + 3 * half;
                    row.push((at + half as u32, place as u32, width as u32));
                }
            }
            row.sort_unstable();
            self.columns.extend(row.iter().map(|r| r.0));
            self.source.extend(row.iter().map(|r| (r.1, r.2)));
            self.rows.push(self.columns.len() as u32);
        }
        self.a.set_pattern(&self.rows, &self.columns);
        self.low.set_pattern(&self.rows, &self.columns);
    }

    fn copy_values(&mut self, p: &ContactProblem) {
        let mut above = 0;
        for i in 0..self.dof.len() {
            for e in self.rows[i] as usize..self.rows[i + 1] as usize {
                let j = self.columns[e] as usize;
                if j > i {
                    self.a.upper_mut()[above] = self.value(p, e);
                    above += 1;
                } else if j == i {
                    *self.a.diagonal_mut(i) = self.value(p, e);
                }
            }
        }
    }

    fn copy_low(&mut self, p: &ContactProblem) {
        for e in 0..self.columns.len() {
            let m = self.value(p, e);
            let low = self.low.block_mut(e);
            for r in 0..3 {
                for c in 0..3 {
                    low[3 * c + r] = m[3 * r + c] as f32;
                }
            }
        }
    }

    /// Block `e` of `low` as the problem has it, row-major.
    fn value(&self, p: &ContactProblem, e: usize) -> [f64; 9] {
        let (place, stride) = (self.source[e].0 as usize, self.source[e].1 as usize);
        let from = &p.a.values()[place..place + 2 * stride + 3];
        let mut m = [0.0; 9];
        for r in 0..3 {
            m[3 * r..3 * r + 3].copy_from_slice(&from[r * stride..r * stride + 3]);
        }
        m
    }

    /// Lumped inertia: elastic forces do not resist a translation of everything, so that the rows of A, summed over
    /// nodes and linear halves, leave the mass. Bounded by the diagonal, for rows that pinned neighbours hold.
    fn make_masses(&mut self) {
        let n = self.dof.len();
        let angular = |i: usize| i >= self.nodes && (i - self.nodes) % 2 == 1;
        self.mass.clear();
        self.mass.resize(3 * n, 0.0);
        for i in 0..n {
            let d = self.a.diagonal(i);
            for k in 0..3 {
                self.mass[3 * i + k] += if angular(i) { d[4 * k] } else { (d[0] + d[4] + d[8]) / 3.0 };
            }
            if angular(i) {
                continue;
            }
            for (j, m) in self.a.row(i) {
                if !angular(j) {
                    let mean = (m[0] + m[4] + m[8]) / 3.0;
                    for k in 0..3 {
                        self.mass[3 * i + k] += mean;
                        self.mass[3 * j + k] += mean;
                    }
                }
            }
        }
        self.inverse_root.clear();
        for i in 0..n {
            let d = self.a.diagonal(i);
            for k in 0..3 {
                let m = &mut self.mass[3 * i + k];
                *m = m.min(d[4 * k]).max(LEAST_MASS * d[4 * k]).max(f64::MIN_POSITIVE);
                self.inverse_root.push(1.0 / m.sqrt());
            }
        }
    }

    fn copy_contacts(&mut self, p: &ContactProblem, contacts: &[u32]) {
        self.touches.clear();
        self.movers.clear();
        for &c in contacts {
            let c = c as usize;
            let k = p.law[c].stretch();
            let first = self.movers.len() as u32;
            let frame = &p.j.frame[c];
            let share = frame.to_cols_array().iter().map(|x| x * x).sum::<f64>() / 3.0;
            let mut scale = p.softness[c].element_sum();
            for t in p.j.terms(c) {
                let at = self.local(t.block()).expect("a contact of the island moves its blocks");
                let inverse = |half: u32| {
                    let d = self.a.diagonal((at + half) as usize);
                    Vec3::new(1.0 / d[0], 1.0 / d[4], 1.0 / d[8])
                };
                match *t {
                    Term::Point(Part::Node { weight, .. }) => {
                        scale += share * weight * weight * inverse(0).element_sum();
                        self.movers.push(Mover { at, weight, arm: None });
                    }
                    Term::Point(Part::Rigid { weight: sign, arm, .. }) => {
                        let (i, r2) = (inverse(1), arm * arm);
                        let turning = i.x * (r2.y + r2.z) + i.y * (r2.x + r2.z) + i.z * (r2.x + r2.y);
                        scale += share * (inverse(0).element_sum() + turning);
                        self.movers.push(Mover { at, weight: sign, arm: Some(arm) });
                    }
                    Term::Spin { length, .. } => {
                        scale += share * length * length * inverse(1).element_sum();
                        self.movers.push(Mover { at: at + 1, weight: length, arm: None });
                    }
                }
            }
            let is_shared = self.is_shared(&self.movers[first as usize..]);
            self.touches.push(Touch {
                frame: Mat3::from_diagonal(k) * *frame,
                bias: k * p.bias[c],
                unstretch: 1.0 / (k * k),
                softness: p.softness[c] * k * k,
                law: p.law[c].round(),
                scale: if scale > 0.0 { scale / 3.0 } else { 1.0 },
                is_shared,
                first,
                last: self.movers.len() as u32,
            });
        }
    }
}

/// The least share of A's diagonal that is taken for mass.
const LEAST_MASS: f64 = 1e-6;
