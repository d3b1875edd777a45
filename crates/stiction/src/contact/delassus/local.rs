//! A bare contact problem `u = W r + q`, as files of other groups hold it.

use super::coupled::Coupled;
use crate::contact::delassus::Delassus;
use crate::contact::law::RoundLaw;
use crate::contact::{ContactProblem, Term};
use crate::linalg::{GeneralLu, Mat3, Vec3};

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
    /// What each block obeys.
    pub law: Vec<RoundLaw>,
}

impl LocalProblem {
    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.law.len()
    }

    /// Block (i, j); zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> Mat3 {
        let (a, b) = (self.row_start[i], self.row_start[i + 1]);
        match self.col[a..b].binary_search(&(j as u32)) {
            Ok(k) => self.block[a + k],
            Err(_) => Mat3::ZERO,
        }
    }

    /// Contacts with friction `mu`, from blocks in any order; blocks of the same place are added.
    pub fn from_blocks(blocks: Vec<(u32, u32, Mat3)>, q: Vec<Vec3>, mu: Vec<f64>) -> LocalProblem {
        LocalProblem::with_laws(blocks, q, mu.into_iter().map(RoundLaw::Cone).collect())
    }

    /// The same with any laws.
    pub fn with_laws(mut blocks: Vec<(u32, u32, Mat3)>, q: Vec<Vec3>, law: Vec<RoundLaw>) -> LocalProblem {
        assert_eq!(q.len(), law.len(), "one law per block");
        blocks.sort_by_key(|&(i, j, _)| (i, j));
        let mut p = LocalProblem { row_start: vec![0; law.len() + 1], q, law, ..LocalProblem::default() };
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
        for c in 0..p.law.len() {
            p.row_start[c + 1] += p.row_start[c];
        }
        p
    }

    /// W and q of a problem, with elliptic cones stretched to round ones.
    ///
    /// # Panics
    /// If dofs are coupled and A is not positive definite.
    pub fn from_problem(p: &ContactProblem) -> LocalProblem {
        if !p.a.is_block_diagonal() {
            let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
            let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
            let mut coupled = Coupled::default();
            assert!(coupled.prepare(p, &blocks, &contacts), "A must be positive definite");
            return coupled.local;
        }
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
                    let (sc, sd) = (p.law[c as usize].stretch(), p.law[d as usize].stretch());
                    let m = p.j.frame[c as usize] * m * p.j.frame[d as usize].transpose();
                    blocks.push((c, d, Mat3::from_diagonal(sc) * m * Mat3::from_diagonal(sd)));
                }
            }
        }
        for c in 0..n {
            let s = p.law[c].stretch();
            blocks.push((c as u32, c as u32, Mat3::from_diagonal(p.softness[c] * s * s)));
        }
        let q = (0..n).map(|c| (p.j.mul_one(c, &v) + p.bias[c]) * p.law[c].stretch()).collect();
        LocalProblem::with_laws(blocks, q, p.law.iter().map(|l| l.round()).collect())
    }
}

/// The 3×3 block T_c A⁻¹ T_dᵀ in world axes for two terms on the same dof block.
fn world_block(c: &Term, d: &Term, inverse: &[f64]) -> Mat3 {
    let n = if inverse.len() == 9 { 3 } else { 6 };
    let mut f = [0.0; 6];
    let mut out = Mat3::ZERO;
    let (c, d) = (c.at_row(0), d.at_row(0));
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

/// A [`LocalProblem`] as solvers see it: the problem and the buffers of [`Delassus`].
pub struct LocalForm<'a> {
    problem: &'a LocalProblem,
    own: FormBuffers,
}

/// Buffers of a [`LocalForm`], kept from one to the next.
#[derive(Default)]
pub struct FormBuffers {
    diagonal: Vec<Mat3>,
    scale: Vec<f64>,
    /// The impulse that `contact_velocity` sees.
    loaded: Vec<Vec3>,
    p: Vec<Mat3>,
    /// Contacts with P ≠ 0, and the first unknown of each contact (`NONE` where P = 0).
    active: Vec<u32>,
    unknown: Vec<u32>,
    lu: GeneralLu,
    rhs: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl<'a> LocalForm<'a> {
    /// Prepares `problem`.
    pub fn new(problem: &'a LocalProblem) -> LocalForm<'a> {
        LocalForm::with_buffers(problem, FormBuffers::default())
    }

    /// Prepares `problem` in the buffers of another form.
    pub fn with_buffers(problem: &'a LocalProblem, mut own: FormBuffers) -> LocalForm<'a> {
        let n = problem.contacts();
        let FormBuffers { diagonal, scale, loaded, unknown, .. } = &mut own;
        diagonal.clear();
        diagonal.extend((0..n).map(|c| problem.get(c, c)));
        let mean = |m: &Mat3| (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
        scale.clear();
        scale.extend(diagonal.iter().map(|m| if mean(m) > 0.0 { mean(m) } else { 1.0 }));
        loaded.clear();
        loaded.resize(n, Vec3::ZERO);
        unknown.clear();
        unknown.resize(n, NONE);
        LocalForm { problem, own }
    }

    /// The buffers, for the next form.
    pub fn into_buffers(self) -> FormBuffers {
        self.own
    }

    /// Columns and blocks of row `c`.
    fn row(&self, c: usize) -> impl Iterator<Item = (usize, &Mat3)> {
        let range = self.problem.row_start[c]..self.problem.row_start[c + 1];
        self.problem.col[range.clone()].iter().map(|&j| j as usize).zip(&self.problem.block[range])
    }

    fn row_velocity(&self, c: usize, r: &[Vec3]) -> Vec3 {
        self.problem.q[c] + self.row(c).map(|(j, w)| *w * r[j]).sum::<Vec3>()
    }
}

impl Delassus for LocalForm<'_> {
    fn contacts(&self) -> usize {
        self.problem.contacts()
    }

    fn law(&self, c: usize) -> RoundLaw {
        self.problem.law[c]
    }

    fn free(&self, c: usize) -> Vec3 {
        self.problem.q[c]
    }

    fn diagonal(&self, c: usize) -> Mat3 {
        self.own.diagonal[c]
    }

    fn scale(&self, c: usize) -> f64 {
        self.own.scale[c]
    }

    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]) {
        for c in 0..r.len() {
            u[c] = self.row_velocity(c, r);
        }
    }

    fn magnitude(&mut self, r: &[Vec3], size: &mut [f64]) {
        for c in 0..r.len() {
            let terms = |(j, w): (usize, &Mat3)| {
                w.x_axis.abs() * r[j].x.abs() + w.y_axis.abs() * r[j].y.abs() + w.z_axis.abs() * r[j].z.abs()
            };
            size[c] = self.row(c).map(terms).sum::<Vec3>().length();
        }
    }

    fn load(&mut self, r: &[Vec3]) {
        self.own.loaded.copy_from_slice(r);
    }

    fn contact_velocity(&self, c: usize) -> Vec3 {
        self.row_velocity(c, &self.own.loaded)
    }

    fn add_impulse(&mut self, c: usize, dr: Vec3) {
        self.own.loaded[c] += dr;
    }

    /// The reduced form: I + P W on the contacts with P ≠ 0, since dy = 0 on the others.
    fn system_size(&self) -> usize {
        3 * self.contacts()
    }

    fn factor(&mut self, p: &[Mat3]) -> bool {
        self.own.p.clear();
        self.own.p.extend_from_slice(p);
        self.own.active.clear();
        for c in 0..p.len() {
            self.own.unknown[c] = NONE;
            if p[c] != Mat3::ZERO {
                self.own.unknown[c] = 3 * self.own.active.len() as u32;
                self.own.active.push(c as u32);
            }
        }
        let mut lu = std::mem::take(&mut self.own.lu);
        lu.clear();
        for &c in &self.own.active {
            let c = c as usize;
            for k in 0..3 {
                // Row k of P W, block by block; the identity sits in the diagonal block.
                let p_row = p[c].row(k);
                let mut diagonal_done = false;
                for (j, w) in self.row(c).filter(|(j, _)| self.own.unknown[*j] != NONE) {
                    if !diagonal_done && j > c {
                        lu.push(self.own.unknown[c] as usize + k, 1.0);
                        diagonal_done = true;
                    }
                    for i in 0..3 {
                        let one = if j == c && i == k { 1.0 } else { 0.0 };
                        lu.push(self.own.unknown[j] as usize + i, p_row.dot(w.col(i)) + one);
                    }
                    diagonal_done |= j == c;
                }
                if !diagonal_done {
                    lu.push(self.own.unknown[c] as usize + k, 1.0);
                }
                lu.end_row();
            }
        }
        let ok = lu.factor();
        self.own.lu = lu;
        ok
    }

    fn factor_work(&self) -> f64 {
        self.own.lu.work()
    }

    fn solve(&mut self, g: &[Vec3], dy: &mut [Vec3]) {
        self.own.rhs.clear();
        for &c in &self.own.active {
            self.own.rhs.extend((self.own.p[c as usize] * g[c as usize]).to_array());
        }
        self.own.lu.solve(&mut self.own.rhs);
        dy.fill(Vec3::ZERO);
        for (i, &c) in self.own.active.iter().enumerate() {
            dy[c as usize] = Vec3::from_slice(&self.own.rhs[3 * i..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::samples;

    #[test]
    fn solve_inverts_one_plus_p_w_on_active_contacts() {
        // 52 contacts are factored densely, 164 sparsely; an unsymmetric P of rank two on every third, open ones between.
        for size in [3, 5] {
            let local = LocalProblem::from_problem(&samples::wall(size, size, 0.6, 1));
            let n = local.contacts();
            let mut form = LocalForm::new(&local);
            let p: Vec<Mat3> = (0..n)
                .map(|c| match c % 5 {
                    0 => Mat3::ZERO,
                    1 => Mat3::from_cols(Vec3::new(1e6, 3e5, 0.0), Vec3::ZERO, Vec3::Z * 10.0),
                    _ => Mat3::from_diagonal(Vec3::new(50.0, 20.0, 10.0)),
                })
                .collect();
            let g: Vec<Vec3> =
                (0..n).map(|c| Vec3::new((c as f64).sin(), (2.0 * c as f64).cos(), 0.3)).collect();
            let mut dy = vec![Vec3::NAN; n];
            assert!(form.factor(&p));
            form.solve(&g, &mut dy);
            let mut w_dy = vec![Vec3::ZERO; n];
            form.velocity(&dy, &mut w_dy);
            for c in 0..n {
                let residual = dy[c] + p[c] * (w_dy[c] - local.q[c] - g[c]);
                let size = (p[c] * g[c]).length() + dy[c].length() + 1e-300;
                assert!(residual.length() <= 1e-9 * size, "contact {c}: {residual} of {size}");
                assert!(p[c] != Mat3::ZERO || dy[c] == Vec3::ZERO);
            }
        }
    }

    #[test]
    fn contact_velocity_follows_the_loaded_impulse() {
        let local = LocalProblem::from_problem(&samples::wall(2, 2, 0.6, 1));
        let mut form = LocalForm::new(&local);
        let n = local.contacts();
        let mut r: Vec<Vec3> = (0..n).map(|c| Vec3::new(c as f64, 1.0, -2.0)).collect();
        form.load(&r);
        form.add_impulse(3, Vec3::ONE);
        r[3] += Vec3::ONE;
        let (mut u, mut size) = (vec![Vec3::ZERO; n], vec![0.0; n]);
        form.velocity(&r, &mut u);
        form.magnitude(&r, &mut size);
        for c in 0..n {
            assert_eq!(form.contact_velocity(c), u[c]);
            assert!((u[c] - local.q[c]).length() <= size[c] * (1.0 + 1e-12));
        }
    }
}
