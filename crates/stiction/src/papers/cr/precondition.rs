//! Preconditioners C⁻¹ of Section 3.4, built from A_d = diag(A) and S_d = diag(Z L A_d⁻¹ Lᵀ).

use super::pair::Pair;
use super::similar::Similar;
use super::system::Saddle;
use crate::linalg::{Vec3, dense};

/// Which approximation of B⁻¹ is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// None: C = I.
    None,
    /// blkdiag(A_d⁻¹, S_d⁻¹): positive definite.
    Diag,
    /// The block inverse (22) with A_d and S_d in place of A and S: indefinite, and much faster.
    #[default]
    Full,
}

/// What A_d keeps of A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonal {
    /// The entries of the diagonal, as in the paper.
    Entries,
    /// The diagonal blocks: nodes and rigid bodies on their own, which frames and inertia turned in space ask for.
    #[default]
    Blocks,
}

/// The preconditioner of one solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditioner {
    pub(super) kind: Preconditioner,
    /// A_d⁻¹, block after block, row-major.
    inverse: Vec<f64>,
    start: Vec<usize>,
    /// Z⁻¹ S_d: what one unit of λ alone moves each row by [1/kg].
    pub own: Vec<Vec3>,
    pub similar: Similar,
    /// S_d⁻¹ of the present states.
    s_inverse: Vec<Vec3>,
    t: Vec<f64>,
}

impl Conditioner {
    /// Builds A_d⁻¹, Z⁻¹ S_d and the neighbours that Z counts.
    pub fn build(&mut self, kind: Preconditioner, diagonal: Diagonal, sys: &Saddle) {
        self.kind = kind;
        self.inverse.clear();
        self.start.clear();
        for i in 0..sys.a.block_rows() {
            self.start.push(self.inverse.len());
            let (block, n) = (sys.a.diagonal_block(i), sys.a.block(i).1);
            match diagonal {
                Diagonal::Entries => self
                    .inverse
                    .extend((0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 / block[k] } else { 0.0 })),
                Diagonal::Blocks => {
                    let first = self.inverse.len();
                    self.inverse.resize(first + n * n, 0.0);
                    let mut column = [0.0; 6];
                    for k in 0..n {
                        column[..n].fill(0.0);
                        column[k] = 1.0;
                        dense::solve_spd(block, &mut column[..n]);
                        for r in 0..n {
                            self.inverse[first + r * n + k] = column[r];
                        }
                    }
                }
            }
        }
        self.own.clear();
        for c in 0..sys.contacts() {
            let own = Vec3::from_array([0, 1, 2].map(|k| self.own_motion(sys, c, k)));
            self.own.push(own + sys.rows.softness[c]);
        }
        self.similar.build(sys);
        self.t.resize(sys.dofs(), 0.0);
    }

    /// Row k of contact c of diag(L A_d⁻¹ Lᵀ).
    fn own_motion(&self, sys: &Saddle, c: usize, k: usize) -> f64 {
        let push = sys.rows.j.frame[c].transpose() * Vec3::AXES[k];
        let terms = sys.rows.j.terms(c);
        let mut sum = 0.0;
        for (i, t) in terms.iter().enumerate() {
            // Terms of one block act together; the first of them speaks for all.
            if terms[..i].iter().any(|o| o.block() == t.block()) {
                continue;
            }
            let (n, mut f) = (sys.a.block(t.block()).1, [0.0; 6]);
            for o in terms[i..].iter().filter(|o| o.block() == t.block()) {
                o.at_row(0).add_impulse(push, &mut f);
            }
            let inverse = &self.inverse[self.start[t.block()]..][..n * n];
            for r in 0..n {
                sum += f[r] * (0..n).map(|s| inverse[r * n + s] * f[s]).sum::<f64>();
            }
        }
        sum
    }

    /// S_d⁻¹ for the rows that are unknowns now: Z counts the active ones only.
    pub fn update(&mut self, mask: &[Vec3]) {
        self.similar.recount(mask);
        self.s_inverse.clear();
        for c in 0..mask.len() {
            let s = self.own[c] * self.similar.count(c);
            let inverse = |s: f64| if s > 0.0 { 1.0 / s } else { 1.0 };
            self.s_inverse.push(mask[c] * Vec3::new(inverse(s.x), inverse(s.y), inverse(s.z)));
        }
    }

    /// z = C⁻¹ r; `r.l` is zero in rows that are no unknowns.
    pub fn apply(&mut self, sys: &Saddle, r: &Pair, z: &mut Pair) {
        match self.kind {
            Preconditioner::None => z.copy(r),
            Preconditioner::Diag => {
                self.divide(sys, &r.v, &mut z.v);
                for c in 0..z.l.len() {
                    z.l[c] = self.s_inverse[c] * r.l[c];
                }
            }
            Preconditioner::Full => {
                // With L = −J: t = A_d⁻¹ r_u, s = S_d⁻¹(L t − r_c), z = (t − A_d⁻¹ Lᵀ s, s).              (22)
                self.divide(sys, &r.v, &mut z.v);
                let mut push = std::mem::take(&mut self.t);
                push.fill(0.0);
                for c in 0..z.l.len() {
                    z.l[c] = Vec3::ZERO;
                    if self.s_inverse[c] != Vec3::ZERO {
                        z.l[c] = -self.s_inverse[c] * (sys.rows.j.mul_one(c, &z.v) + r.l[c]);
                        sys.push(c, z.l[c], &mut push);
                    }
                }
                self.divide_add(sys, &push, &mut z.v);
                self.t = push;
            }
        }
    }

    /// x = A_d⁻¹ f.
    pub fn divide(&self, sys: &Saddle, f: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        self.divide_add(sys, f, x);
    }

    fn divide_add(&self, sys: &Saddle, f: &[f64], x: &mut [f64]) {
        for i in 0..sys.a.block_rows() {
            let (d, n) = sys.a.block(i);
            let m = &self.inverse[self.start[i]..][..n * n];
            if let Ok(m) = <&[f64; 9]>::try_from(m) {
                let (f, x) = (&f[d..d + 3], &mut x[d..d + 3]);
                for r in 0..3 {
                    x[r] += m[3 * r] * f[0] + m[3 * r + 1] * f[1] + m[3 * r + 2] * f[2];
                }
                continue;
            }
            for r in 0..n {
                x[d + r] += (0..n).map(|c| m[r * n + c] * f[d + c]).sum::<f64>();
            }
        }
    }
}
