//! Small random contact problems, and what the tests of solvers share.
#![allow(dead_code)]

pub mod brute;
pub mod intersect;
pub mod scenes;

use std::collections::BTreeMap;
use stiction::contact::{
    ContactJacobian, ContactKey, ContactProblem, Friction, LocalProblem, Solution, Term,
};
use stiction::coords::{BlockKind, Layout, Part, ShapeId};
use stiction::linalg::Rng;
use stiction::linalg::{BlockMat, Mat3, Quat, Vec3, tangents};

/// A random problem of free bodies that touch each other and the world.
///
/// Masses span three decades, arms and frames are random, gaps are not negative and tangential biases are smaller than
/// gaps: standing still is allowed, so that a solution exists (Acary & Cadoux).
pub fn random_problem(rng: &mut Rng, bodies: usize, contacts: usize, mu: f64) -> ContactProblem {
    let mut layout = Layout::new();
    for _ in 0..bodies {
        layout.push(BlockKind::Rigid);
    }
    let mut p = ContactProblem {
        a: BlockMat::block_diagonal(&layout.widths()),
        h: 0.01,
        force_per_lambda: 100.0,
        velocity_scale: 0.1,
        ..ContactProblem::default()
    };
    for i in 0..bodies {
        let mass = 10f64.powf(rng.range(-1.5, 1.5));
        let turn = Mat3::from_quat(random_rotation(rng));
        let moments = Vec3::new(rng.range(0.6, 1.0), rng.range(0.6, 1.0), rng.range(0.6, 1.0));
        let inertia = turn * Mat3::from_diagonal(0.2 * mass * moments) * turn.transpose();
        let block = p.a.diagonal_block_mut(i);
        let (velocity, spin) = (rng.normal3(), rng.normal3());
        for r in 0..3 {
            block[6 * r + r] = mass;
            for c in 0..3 {
                block[6 * (3 + r) + 3 + c] = 0.5 * (inertia.col(c)[r] + inertia.col(r)[c]);
            }
        }
        p.b.extend((mass * velocity).to_array());
        p.b.extend((inertia * spin).to_array());
    }
    for c in 0..contacts {
        let a = rng.bits() as usize % bodies;
        let b = rng.bits() as usize % (bodies + 1);
        let mut terms = vec![rigid(a, 1.0, rng.normal3())];
        if b < bodies && b != a {
            terms.push(rigid(b, -1.0, rng.normal3()));
        }
        p.j.push(random_frame(rng), terms);
        let gap = if rng.uniform() < 0.5 { 0.0 } else { rng.range(0.0, 0.5) };
        let drift = if rng.uniform() < 0.7 { 0.0 } else { gap / 2.0 };
        p.bias.push(Vec3::new(gap, drift * rng.range(-1.0, 1.0), drift * rng.range(-1.0, 1.0)));
        p.law.push(Friction::Isotropic(mu).into());
        p.softness.push(Vec3::ZERO);
        p.key.push(key(c));
    }
    p
}

/// Which solver leaves which problems unsolved.
#[derive(Default)]
pub struct Unsolved(BTreeMap<&'static str, Vec<u64>>);

impl Unsolved {
    /// Notes a problem that a solver left unsolved.
    pub fn note(&mut self, solver: &'static str, problem: u64) {
        self.0.entry(solver).or_default().push(problem);
    }

    /// Asserts that each of these solvers leaves at most so many, and that all others solve all. A bound on the sum would not see
    /// one solver fail.
    pub fn is_at_most(&self, allowed: &[(&str, usize)]) {
        for (solver, problems) in &self.0 {
            let most = allowed.iter().find(|a| a.0 == *solver).map_or(0, |a| a.1);
            assert!(problems.len() <= most, "{solver} may leave {most} problems, and leaves {problems:?}");
        }
    }
}

/// Every contact `times` over.
pub fn duplicate(p: &ContactProblem, times: usize) -> ContactProblem {
    let mut d = ContactProblem { j: ContactJacobian::default(), ..p.clone() };
    (d.bias, d.law, d.softness, d.key) = Default::default();
    for c in 0..p.contacts() {
        for _ in 0..times {
            d.j.push(p.j.frame[c], p.j.terms(c).iter().copied());
            d.bias.push(p.bias[c]);
            d.law.push(p.law[c]);
            d.softness.push(p.softness[c]);
            d.key.push(key(d.key.len()));
        }
    }
    d
}

/// A term of a rigid block when all blocks are rigid.
pub fn rigid(block: usize, sign: f64, arm: Vec3) -> Term {
    Term::Point(Part::Rigid { block: block as u32, dof: 6 * block as u32, weight: sign, arm })
}

/// A key that no other contact has.
pub fn key(c: usize) -> ContactKey {
    ContactKey { shape_a: ShapeId(0), shape_b: ShapeId(1), feature_a: c as u64, feature_b: 0 }
}

/// A frame with a random normal and random tangents.
pub fn random_frame(rng: &mut Rng) -> Mat3 {
    let n = rng.normal3().normalize();
    let (t1, t2) = tangents(n);
    let (s, c) = rng.range(0.0, std::f64::consts::TAU).sin_cos();
    Mat3::from_cols(n, c * t1 + s * t2, c * t2 - s * t1).transpose()
}

fn random_rotation(rng: &mut Rng) -> Quat {
    Quat::from_xyzw(rng.normal(), rng.normal(), rng.normal(), rng.normal()).normalize()
}

/// A cold start.
pub fn cold(p: &ContactProblem) -> Solution {
    Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] }
}

/// The speed by which errors are judged: the largest free contact velocity, or the problem's own.
pub fn speed(p: &ContactProblem) -> f64 {
    LocalProblem::from_problem(p).q.iter().map(|q| q.length()).fold(p.velocity_scale, f64::max)
}

/// The largest difference of any dof.
pub fn distance(v: &[f64], w: &[f64]) -> f64 {
    v.iter().zip(w).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A dense square or rectangular matrix, row-major.
pub struct Dense {
    /// Number of columns.
    pub cols: usize,
    /// Row-major entries.
    pub x: Vec<f64>,
}

impl Dense {
    /// Zeros.
    pub fn new(rows: usize, cols: usize) -> Dense {
        Dense { cols, x: vec![0.0; rows * cols] }
    }

    /// Entry (i, j).
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.x[i * self.cols + j]
    }

    /// Entry (i, j), to be written.
    pub fn at_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.x[i * self.cols + j]
    }

    /// Solves for `b` by elimination with row exchange; `None` when a pivot vanishes.
    pub fn solve(&self, b: &[f64]) -> Option<Vec<f64>> {
        let n = b.len();
        let (mut a, mut y) = (self.x.clone(), b.to_vec());
        let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))?;
            if a[pivot * n + k].abs() <= 1e-14 * size {
                return None;
            }
            if pivot != k {
                for c in 0..n {
                    a.swap(k * n + c, pivot * n + c);
                }
                y.swap(k, pivot);
            }
            for i in k + 1..n {
                let f = a[i * n + k] / a[k * n + k];
                for c in k..n {
                    a[i * n + c] -= f * a[k * n + c];
                }
                y[i] -= f * y[k];
            }
        }
        for k in (0..n).rev() {
            for c in k + 1..n {
                y[k] -= a[k * n + c] * y[c];
            }
            y[k] /= a[k * n + k];
        }
        Some(y)
    }
}
