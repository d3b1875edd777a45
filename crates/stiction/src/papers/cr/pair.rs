//! A vector of the saddle system: velocities and multipliers.

use crate::linalg::Vec3;
use crate::linalg::krylov;

/// (v, λ), or a residual, direction or product of the same shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Pair {
    pub v: Vec<f64>,
    pub l: Vec<Vec3>,
}

impl Pair {
    /// Zeros of the given size; keeps the memory.
    pub fn reset(&mut self, dofs: usize, contacts: usize) {
        self.v.clear();
        self.v.resize(dofs, 0.0);
        self.l.clear();
        self.l.resize(contacts, Vec3::ZERO);
    }

    pub fn copy(&mut self, o: &Pair) {
        self.v.copy_from_slice(&o.v);
        self.l.copy_from_slice(&o.l);
    }

    pub fn dot(&self, o: &Pair) -> f64 {
        krylov::dot(&self.v, &o.v) + self.l.iter().zip(&o.l).map(|(a, b)| a.dot(*b)).sum::<f64>()
    }

    /// self += a o.
    pub fn add(&mut self, a: f64, o: &Pair) {
        krylov::add_scaled(&mut self.v, a, &o.v);
        for (x, y) in self.l.iter_mut().zip(&o.l) {
            *x += *y * a;
        }
    }

    /// self = o + a self.
    pub fn scale_and_add(&mut self, a: f64, o: &Pair) {
        scale_and_add(&mut self.v, a, &o.v);
        for (x, y) in self.l.iter_mut().zip(&o.l) {
            *x = *y + *x * a;
        }
    }

    pub fn scale(&mut self, a: f64) {
        self.v.iter_mut().for_each(|x| *x *= a);
        self.l.iter_mut().for_each(|x| *x *= a);
    }
}

/// x = y + a x.
pub(super) fn scale_and_add(x: &mut [f64], a: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = y + *x * a;
    }
}
