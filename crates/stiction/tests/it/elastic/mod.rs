//! Shared by the stories about elastic solids: laws, irregular meshes, small vector helpers.
#![allow(dead_code)]

use stiction::elastic::{Damping, HessianKind, Law, Material, Tet, TetAssembly, Weights};
use stiction::linalg::{Mat3, Vec3};

pub const LAWS: [Law; 5] = [
    Law::Linear,
    Law::Corotated,
    Law::StVenantKirchhoff,
    Law::NeoHookean { threshold: 0.6 },
    Law::StableNeoHookean,
];

pub const KINDS: [HessianKind; 3] = [HessianKind::Exact, HessianKind::GaussNewton, HessianKind::Projected];

/// Soft, nearly incompressible: the material of NSN's extension test.
pub fn soft(law: Law) -> Material {
    Material { law, young: 1e5, poisson: 0.45, density: 1000.0 }
}

/// A number in (−1, 1) that depends on `k` alone.
pub fn noise(k: usize) -> f64 {
    let x = (k as f64 * 12.9898 + 4.1).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

/// A vector of such numbers.
pub fn jitter(k: usize) -> Vec3 {
    Vec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2))
}

/// One irregular tet at rest.
pub fn corner() -> [Vec3; 4] {
    [
        Vec3::new(0.1, 0.2, -0.1),
        Vec3::new(0.9, 0.1, 0.05),
        Vec3::new(0.2, 1.1, 0.1),
        Vec3::new(-0.1, 0.3, 0.8),
    ]
}

pub fn tet() -> Tet {
    Tet::new(0, corner()).unwrap()
}

/// A block of `n`³ unit cells of six tets, edges of 1/n m, interior vertices moved off the grid.
pub fn block(n: usize) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let side = n + 1;
    let index = |i: usize, j: usize, k: usize| ((k * side + j) * side + i) as u32;
    let mut rest = Vec::new();
    for k in 0..side {
        for j in 0..side {
            for i in 0..side {
                let inside = [i, j, k].iter().all(|&c| c > 0 && c < n);
                let off = if inside { 0.15 * jitter(rest.len()) } else { Vec3::ZERO };
                rest.push((Vec3::new(i as f64, j as f64, k as f64) + off) / n as f64);
            }
        }
    }
    let mut tets = Vec::new();
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                // Six tets around the diagonal of the cell, one per order of the axes.
                for (order, even) in [
                    ([0, 1, 2], true),
                    ([1, 2, 0], true),
                    ([2, 0, 1], true),
                    ([0, 2, 1], false),
                    ([2, 1, 0], false),
                    ([1, 0, 2], false),
                ] {
                    let mut at = [i, j, k];
                    let mut path = [index(i, j, k); 4];
                    for (step, &axis) in order.iter().enumerate() {
                        at[axis] += 1;
                        path[step + 1] = index(at[0], at[1], at[2]);
                    }
                    if !even {
                        path.swap(2, 3);
                    }
                    tets.push(path);
                }
            }
        }
    }
    (rest, tets)
}

/// The block as one solid of one material without damping.
pub fn solid(n: usize, material: Material) -> (Vec<Vec3>, TetAssembly) {
    let (rest, tets) = block(n);
    let which = vec![0; tets.len()];
    let assembly = TetAssembly::new(&rest, &tets, &[material], &which, Damping::default()).unwrap();
    (rest, assembly)
}

/// Stiffness alone.
pub const STIFFNESS: Weights = Weights { stiffness: 1.0, damping: 0.0 };
/// Damping alone.
pub const DAMPING: Weights = Weights { stiffness: 0.0, damping: 1.0 };

/// The largest entry.
pub fn largest(m: &Mat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |a: f64, x| a.max(x.abs()))
}

/// The longest vector.
pub fn longest(v: &[Vec3]) -> f64 {
    v.iter().map(|x| x.length()).fold(0.0, f64::max)
}

/// y = K x with K given by its upper blocks.
pub fn multiply(pairs: &[(u32, u32)], blocks: &[Mat3], x: &[Vec3]) -> Vec<Vec3> {
    let mut y = vec![Vec3::ZERO; x.len()];
    for (&(a, b), k) in pairs.iter().zip(blocks) {
        let (a, b) = (a as usize, b as usize);
        y[a] += *k * x[b];
        if a != b {
            y[b] += k.transpose() * x[a];
        }
    }
    y
}

/// The 12×12 matrix of ten upper blocks.
pub fn full(blocks: &[Mat3; 10]) -> [[f64; 12]; 12] {
    let mut m = [[0.0; 12]; 12];
    for (k, (a, b)) in stiction::elastic::PAIRS.into_iter().enumerate() {
        for i in 0..3 {
            for j in 0..3 {
                m[3 * a + i][3 * b + j] = blocks[k].col(j)[i];
                m[3 * b + j][3 * a + i] = blocks[k].col(j)[i];
            }
        }
    }
    m
}

/// Eigenvalues of a symmetric matrix by Jacobi rotations, sharing no code with the library.
pub fn eigenvalues(mut a: [[f64; 12]; 12]) -> [f64; 12] {
    for _ in 0..60 {
        for p in 0..12 {
            for q in p + 1..12 {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = theta.sin_cos();
                for k in 0..12 {
                    (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
                }
                for k in 0..12 {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                }
            }
        }
    }
    std::array::from_fn(|i| a[i][i])
}

/// The slope of log error against log step.
pub fn order(steps: &[f64], errors: &[f64]) -> f64 {
    let n = steps.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) =
        (steps.iter().map(|s| s.ln()).collect(), errors.iter().map(|e| e.ln()).collect());
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let top: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    top / x.iter().map(|a| (a - mx) * (a - mx)).sum::<f64>()
}
