//! Six-vectors (linear part first, then angular) and 6×6 blocks of rigid bodies.

use super::{Mat3, Vec3};

/// A velocity (v, ω) or an impulse (p, L) of a rigid body; linear part first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec6 {
    /// Linear part.
    pub lin: Vec3,
    /// Angular part.
    pub ang: Vec3,
}

impl Vec6 {
    /// All zeros.
    pub const ZERO: Vec6 = Vec6 { lin: Vec3::ZERO, ang: Vec3::ZERO };

    /// From six consecutive numbers.
    pub fn from_slice(x: &[f64]) -> Vec6 {
        Vec6 { lin: Vec3::from_slice(&x[..3]), ang: Vec3::from_slice(&x[3..6]) }
    }
}

/// A 6×6 matrix as a plain row-major array: the unit of the block factorisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat6(pub [[f64; 6]; 6]);

impl Mat6 {
    /// All zeros.
    pub const ZERO: Mat6 = Mat6([[0.0; 6]; 6]);

    /// diag(m, m, m, I): the inertia of a rigid body in world axes.
    pub fn rigid(mass: f64, inertia: Mat3) -> Mat6 {
        let mut m = Mat6::ZERO;
        for i in 0..3 {
            m.0[i][i] = mass;
            for j in 0..3 {
                m.0[3 + i][3 + j] = inertia.col(j)[i];
            }
        }
        m
    }
}
