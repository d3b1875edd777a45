//! The contact Jacobian as typed blocks: nothing 3×3 is stored that a frame, a weight or a lever arm rebuilds.

use crate::coords::Part;
use crate::coords::columns::add;
use crate::linalg::{Mat3, Vec3};

/// How one block of dofs moves one side of a contact or joint. Signs and weights are inside: side b enters with minus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// The motion of a point.
    Point(Part),
    /// The turning of a free rigid body: `length · ω`. The length makes rows of angles velocities [m/s] and their
    /// multipliers impulses; the moment is `length · λ`.
    Spin {
        /// Index of the block in the layout.
        block: u32,
        /// First dof of the block (not of ω).
        dof: u32,
        /// Length by which angles are measured [m], negative for side b.
        length: f64,
    },
}

impl Term {
    /// Index of the block that moves.
    pub fn block(&self) -> usize {
        match *self {
            Term::Point(part) => part.block(),
            Term::Spin { block, .. } => block as usize,
        }
    }

    /// The same term in a vector in which its block begins at `row`.
    pub fn at_row(self, row: usize) -> Term {
        match self {
            Term::Point(part) => Term::Point(part.at_row(row)),
            Term::Spin { block, length, .. } => Term::Spin { block, dof: row as u32, length },
        }
    }

    /// The same term of another block, which begins at `dof`.
    pub fn in_block(self, to: usize, dof: usize) -> Term {
        match self {
            Term::Point(part) => Term::Point(part.in_block(to, dof)),
            Term::Spin { length, .. } => Term::Spin { block: to as u32, dof: dof as u32, length },
        }
    }

    /// Contribution to the relative velocity, world axes [m/s].
    #[inline]
    pub fn velocity(&self, v: &[f64]) -> Vec3 {
        match *self {
            Term::Point(part) => part.velocity(v),
            Term::Spin { dof, length, .. } => length * Vec3::from_slice(&v[dof as usize + 3..]),
        }
    }

    /// Adds the generalised impulse of `p` (world axes) to `f`.
    #[inline]
    pub fn add_impulse(&self, p: Vec3, f: &mut [f64]) {
        match *self {
            Term::Point(part) => part.add_force(p, f),
            Term::Spin { dof, length, .. } => add(f, dof as usize + 3, length * p),
        }
    }
}

/// Three rows per contact: `J v` is the velocity of side a relative to side b in the contact frame.
#[derive(Clone, Debug, Default)]
pub struct ContactJacobian {
    /// World axes to contact frame; rows n, t₁, t₂.
    pub frame: Vec<Mat3>,
    /// Terms of contact c are `terms[start[c]..start[c + 1]]`. One longer than the number of contacts.
    start: Vec<u32>,
    terms: Vec<Term>,
}

impl ContactJacobian {
    /// No contacts; keeps the memory.
    pub fn clear(&mut self) {
        self.frame.clear();
        self.start.clear();
        self.start.push(0);
        self.terms.clear();
    }

    /// Adds a contact with rows `n, t₁, t₂` of `frame`.
    pub fn push(&mut self, frame: Mat3, terms: impl IntoIterator<Item = Term>) {
        if self.start.is_empty() {
            self.start.push(0);
        }
        self.frame.push(frame);
        self.terms.extend(terms);
        self.start.push(self.terms.len() as u32);
    }

    /// Adds a contact whose terms `fill` appends to those of the contacts before.
    pub(crate) fn push_with(&mut self, frame: Mat3, fill: impl FnOnce(&mut Vec<Term>)) {
        if self.start.is_empty() {
            self.start.push(0);
        }
        self.frame.push(frame);
        fill(&mut self.terms);
        self.start.push(self.terms.len() as u32);
    }

    /// Gives contact `c` another frame and other terms, as many as it had.
    pub fn set(&mut self, c: usize, frame: Mat3, terms: impl IntoIterator<Item = Term>) {
        self.frame[c] = frame;
        let places = &mut self.terms[self.start[c] as usize..self.start[c + 1] as usize];
        for (place, term) in places.iter_mut().zip(terms) {
            *place = term;
        }
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.frame.len()
    }

    /// The terms of contact `c`.
    pub fn terms(&self, c: usize) -> &[Term] {
        &self.terms[self.start[c] as usize..self.start[c + 1] as usize]
    }

    /// The normal component of [`mul_one`](ContactJacobian::mul_one), to the same bits.
    pub fn mul_normal(&self, c: usize, v: &[f64]) -> f64 {
        let sum = self.terms(c).iter().map(|t| t.velocity(v)).sum::<Vec3>();
        self.frame[c].row(0).dot(sum)
    }

    /// `J v` of contact `c`.
    pub fn mul_one(&self, c: usize, v: &[f64]) -> Vec3 {
        self.frame[c] * self.terms(c).iter().map(|t| t.velocity(v)).sum::<Vec3>()
    }

    /// u = J v.
    pub fn mul(&self, v: &[f64], u: &mut [Vec3]) {
        for c in 0..self.contacts() {
            u[c] = self.mul_one(c, v);
        }
    }

    /// f += Jᵀ λ.
    pub fn mul_t_add(&self, lambda: &[Vec3], f: &mut [f64]) {
        for c in 0..self.contacts() {
            let p = self.frame[c].transpose() * lambda[c];
            for t in self.terms(c) {
                t.add_impulse(p, f);
            }
        }
    }
}
