//! The unsymmetric part of friction, μΔλ_n in the rows of sliding contacts ([`FrictionRows::Sliding`]), by generalised minimal
//! residuals around the symmetric solve.
//!
//! With the answer Δλ(y) of the symmetric system for given y in the place of Δλ_n, y = Δλ_n(y) is a linear equation with one
//! unknown per sliding contact. Each iteration is one more solve with factors that are there already.
//!
//! [`FrictionRows::Sliding`]: super::FrictionRows::Sliding

use super::schur::Schur;
use crate::linalg::Real;
use crate::linalg::real::{add_scaled, dot};

/// Most iterations.
const MOST: usize = 20;
/// The residual falls to this share; Newton's own iterations do the rest.
const SHARE: f64 = 1e-4;

/// Memory of the iteration.
#[derive(Default)]
pub struct Coupling<T> {
    /// Orthonormal directions of y.
    basis: Vec<Vec<T>>,
    /// Answers (Δu, Δλ) to each.
    answers: Vec<(Vec<T>, Vec<T>)>,
    h: Vec<T>,
    /// Columns of the triangular matrix, turned right-hand side, turns.
    columns: Vec<Vec<T>>,
    right: Vec<T>,
    turns: Vec<(T, T)>,
    next: Vec<T>,
}

impl<T: Real> Coupling<T> {
    /// Adds to the symmetric answer (Δu, Δλ) what the coupling changes. `answer` solves the symmetric system for residuals h of
    /// the rows and none of momentum, and returns its iterations. Returns their sum.
    pub fn solve(
        &mut self,
        s: &Schur<T>,
        (du, dl): (&mut [T], &mut [T]),
        mut answer: impl FnMut(&Schur<T>, &[T], &mut [T], &mut [T]) -> usize,
    ) -> usize {
        // Impulses count as the velocities that they make.
        let weight: Vec<T> = s.coupling.iter().map(|(i, _)| s.w_diagonal()[*i as usize].root()).collect();
        let normals = |dl: &[T], out: &mut Vec<T>| {
            out.clear();
            out.extend(s.coupling.iter().zip(&weight).map(|((i, _), w)| *w * dl[*i as usize]));
        };
        self.basis.clear();
        self.right.clear();
        self.turns.clear();
        self.columns.clear();
        let mut first = Vec::new();
        normals(dl, &mut first);
        let size = dot(&first, &first).root();
        if size == T::ZERO || !size.is_number() {
            return 0;
        }
        first.iter_mut().for_each(|x| *x /= size);
        self.basis.push(first);
        self.right.push(size);
        let mut iterations = 0;
        for k in 0..MOST.min(weight.len()) {
            // (1 − G) v of the newest direction v.
            self.h.clear();
            self.h.resize(dl.len(), T::ZERO);
            for ((&(i, c), w), v) in s.coupling.iter().zip(&weight).zip(&self.basis[k]) {
                for t in 0..2 {
                    self.h[i as usize + 1 + t] = if *w > T::ZERO { c[t] * *v / *w } else { T::ZERO };
                }
            }
            if self.answers.len() <= k {
                self.answers.push((Vec::new(), Vec::new()));
            }
            let (u, l) = &mut self.answers[k];
            u.resize(du.len(), T::ZERO);
            l.resize(dl.len(), T::ZERO);
            iterations += answer(s, &self.h, u, l);
            normals(l, &mut self.next);
            for (n, v) in self.next.iter_mut().zip(&self.basis[k]) {
                *n = *v - *n;
            }
            let mut column = Vec::with_capacity(k + 2);
            for b in &self.basis {
                let part = dot(&self.next, b);
                add_scaled(&mut self.next, -part, b);
                column.push(part);
            }
            let rest = dot(&self.next, &self.next).root();
            for (j, (c, sn)) in self.turns.iter().enumerate() {
                let (a, b) = (column[j], column[j + 1]);
                (column[j], column[j + 1]) = (*c * a + *sn * b, *c * b - *sn * a);
            }
            let length = (column[k] * column[k] + rest * rest).root();
            if length == T::ZERO || !length.is_number() {
                break;
            }
            let (c, sn) = (column[k] / length, rest / length);
            column[k] = length;
            self.columns.push(column);
            self.turns.push((c, sn));
            let right = self.right[k];
            self.right[k] = c * right;
            self.right.push(-sn * right);
            if self.right[k + 1].size() <= T::of(SHARE) * size || rest == T::ZERO {
                break;
            }
            let next = self.next.iter().map(|x| *x / rest).collect();
            self.basis.push(next);
        }
        // Back substitution, and the answers in these shares.
        let n = self.columns.len();
        for k in (0..n).rev() {
            let mut share = self.right[k];
            for j in k + 1..n {
                share -= self.columns[j][k] * self.right[j];
            }
            self.right[k] = share / self.columns[k][k];
        }
        for k in 0..n {
            add_scaled(du, self.right[k], &self.answers[k].0);
            add_scaled(dl, self.right[k], &self.answers[k].1);
        }
        iterations
    }
}
