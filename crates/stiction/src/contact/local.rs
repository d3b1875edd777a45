//! A bare contact problem `u = W r + q`, as files of other groups hold it.

use super::{ContactProblem, Term};
use crate::linalg::{Mat3, Vec3};

/// `u = W r + q` with Coulomb friction: `W` in 3×3 blocks by rows, normal first.
///
/// Neither symmetry nor definiteness is assumed: data from files carries rounding.
#[derive(Clone, Debug, Default)]
pub struct LocalProblem {
    /// Blocks of row c are `row_start[c]..row_start[c + 1]`.
    pub row_start: Vec<usize>,
    /// Column of each block, ascending in a row.
    pub col: Vec<u32>,
    /// The blocks.
    pub block: Vec<Mat3>,
    /// Free velocity [m/s].
    pub q: Vec<Vec3>,
    /// Friction coefficients.
    pub mu: Vec<f64>,
}

impl LocalProblem {
    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// Block (i, j); zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> Mat3 {
        let (a, b) = (self.row_start[i], self.row_start[i + 1]);
        match self.col[a..b].binary_search(&(j as u32)) {
            Ok(k) => self.block[a + k],
            Err(_) => Mat3::ZERO,
        }
    }

    /// From blocks in any order; blocks of the same place are added.
    pub fn from_blocks(mut blocks: Vec<(u32, u32, Mat3)>, q: Vec<Vec3>, mu: Vec<f64>) -> LocalProblem {
        assert_eq!(q.len(), mu.len(), "one coefficient per contact");
        blocks.sort_by_key(|&(i, j, _)| (i, j));
        let mut p = LocalProblem { row_start: vec![0; mu.len() + 1], q, mu, ..LocalProblem::default() };
        let mut last = None;
        for (i, j, m) in blocks {
            if last == Some((i, j)) {
                *p.block.last_mut().expect("a block precedes its repeat") += m;
                continue;
            }
            last = Some((i, j));
            p.row_start[i as usize + 1] += 1;
            p.col.push(j);
            p.block.push(m);
        }
        for c in 0..p.mu.len() {
            p.row_start[c + 1] += p.row_start[c];
        }
        p
    }

    /// W and q of a problem of bodies whose A is block diagonal, with elliptic cones stretched to round ones.
    pub fn from_problem(p: &ContactProblem) -> LocalProblem {
        assert!(p.a.is_block_diagonal(), "coupled dofs need a factor of A first");
        let n = p.contacts();
        let mut v = vec![0.0; p.dofs()];
        let inverse: Vec<Vec<f64>> = (0..p.a.block_rows())
            .map(|i| crate::linalg::dense::inverse(p.a.diagonal_block(i), p.a.block(i).1))
            .collect();
        for i in 0..p.a.block_rows() {
            let (d, w) = p.a.block(i);
            for r in 0..w {
                v[d + r] = (0..w).map(|c| inverse[i][r * w + c] * p.b[d + c]).sum();
            }
        }
        let mut by_block: Vec<Vec<(u32, Term)>> = vec![Vec::new(); p.a.block_rows()];
        for c in 0..n {
            for t in p.j.terms(c) {
                by_block[t.block()].push((c as u32, *t));
            }
        }
        let mut blocks = Vec::new();
        for (i, touching) in by_block.iter().enumerate() {
            for &(c, tc) in touching {
                for &(d, td) in touching {
                    let m = world_block(&tc, &td, &inverse[i]);
                    let (sc, sd) = (p.friction[c as usize].stretch(), p.friction[d as usize].stretch());
                    let m = p.j.frame[c as usize] * m * p.j.frame[d as usize].transpose();
                    blocks.push((c, d, Mat3::from_diagonal(sc) * m * Mat3::from_diagonal(sd)));
                }
            }
        }
        for c in 0..n {
            let s = p.friction[c].stretch();
            blocks.push((c as u32, c as u32, Mat3::from_diagonal(p.softness[c] * s * s)));
        }
        let q = (0..n).map(|c| (p.j.mul_one(c, &v) + p.bias[c]) * p.friction[c].stretch()).collect();
        LocalProblem::from_blocks(blocks, q, p.friction.iter().map(|f| f.mean()).collect())
    }
}

/// The 3×3 block T_c A⁻¹ T_dᵀ in world axes for two terms on the same dof block.
fn world_block(c: &Term, d: &Term, inverse: &[f64]) -> Mat3 {
    let n = if inverse.len() == 9 { 3 } else { 6 };
    let mut f = [0.0; 6];
    let mut out = Mat3::ZERO;
    let local = |t: &Term| match *t {
        Term::Node { block, weight, .. } => Term::Node { block, dof: 0, weight },
        Term::Rigid { block, sign, arm, .. } => Term::Rigid { block, dof: 0, sign, arm },
    };
    let (c, d) = (local(c), local(d));
    for k in 0..3 {
        f.fill(0.0);
        d.add_impulse(Vec3::AXES[k], &mut f[..n]);
        let mut v = [0.0; 6];
        for r in 0..n {
            v[r] = (0..n).map(|j| inverse[r * n + j] * f[j]).sum();
        }
        *out.col_mut(k) = c.velocity(&v[..n]);
    }
    out
}
