//! The contact Jacobian as typed blocks: nothing 3×3 is stored that a frame, a weight or a lever arm rebuilds.

use crate::linalg::{Mat3, Vec3};

/// How one dof block moves one side of a contact or joint. Signs and weights are inside: side b enters with minus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// A particle: `weight · v`.
    Node {
        /// Index of the block in the layout.
        block: u32,
        /// First dof.
        dof: u32,
        /// Signed weight.
        weight: f64,
    },
    /// A free rigid body: `sign · (v + ω × arm)`.
    Rigid {
        /// Index of the block in the layout.
        block: u32,
        /// First dof.
        dof: u32,
        /// +1 for side a, −1 for side b.
        sign: f64,
        /// From the centre of mass to the contact point [m], world axes.
        arm: Vec3,
    },
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
            Term::Node { block, .. } | Term::Rigid { block, .. } | Term::Spin { block, .. } => block as usize,
        }
    }

    /// The same term in a vector in which its block begins at `row`.
    pub fn at_row(mut self, row: usize) -> Term {
        match &mut self {
            Term::Node { dof, .. } | Term::Rigid { dof, .. } | Term::Spin { dof, .. } => *dof = row as u32,
        }
        self
    }

    /// Contribution to the relative velocity, world axes [m/s].
    pub fn velocity(&self, v: &[f64]) -> Vec3 {
        match *self {
            Term::Node { dof, weight, .. } => weight * Vec3::from_slice(&v[dof as usize..]),
            Term::Rigid { dof, sign, arm, .. } => {
                let d = dof as usize;
                sign * (Vec3::from_slice(&v[d..]) + Vec3::from_slice(&v[d + 3..]).cross(arm))
            }
            Term::Spin { dof, length, .. } => length * Vec3::from_slice(&v[dof as usize + 3..]),
        }
    }

    /// Adds the generalised impulse of `p` (world axes) to `f`.
    pub fn add_impulse(&self, p: Vec3, f: &mut [f64]) {
        let add = |f: &mut [f64], d: usize, x: Vec3| {
            f[d] += x.x;
            f[d + 1] += x.y;
            f[d + 2] += x.z;
        };
        match *self {
            Term::Node { dof, weight, .. } => add(f, dof as usize, weight * p),
            Term::Rigid { dof, sign, arm, .. } => {
                add(f, dof as usize, sign * p);
                add(f, dof as usize + 3, sign * arm.cross(p));
            }
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

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.frame.len()
    }

    /// The terms of contact `c`.
    pub fn terms(&self, c: usize) -> &[Term] {
        &self.terms[self.start[c] as usize..self.start[c + 1] as usize]
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
