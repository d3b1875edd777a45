//! Implicit differentiation of the contact problem itself: Signorini and Coulomb as they are, no penalty.
//!
//! At a solution every contact is open, sticks or slips. With the modes held, `A v = b + Jᵀλ` and the laws are smooth:
//!
//! | mode | equation of the derivatives, δu = J δv + softness δλ + δ(J v + bias) |
//! |---|---|
//! | open | δλ = 0 |
//! | stick | δu = 0 |
//! | slip along t | δu_n = 0, δλ_t + μ t δλ_n + (μ λ_n/‖u_t‖)(I − t tᵀ) δu_t = −λ_n t δμ |
//! | row within its bounds, at one | δu = 0, δλ = δ(bound) |
//!
//! One unsymmetric system, solved forward for a direction or transposed for an adjoint. Within a mode this is the
//! derivative. Where a mode is about to change there are two one-sided derivatives; the one taken is that of the mode in which
//! the natural map sees the contact: closed where λ_n > u_n/g, stick where ‖λ_t − u_t/g‖ ≤ μ (λ_n − u_n/g), g the scale of the
//! contact. Ties count as open and as stick. So answers are always finite, and those of one side. Redundant contacts (four corners of a
//! box) leave λ undetermined but not v: a small shift with refinement gives the v that all choices of λ share.
//!
//! Rows of joints that hold at the end of the step have other derivatives by v than the directions of their impulses
//! ([`EndRow`]).
//!
//! With `smoothing` s > 0 [m/s] normals that are open by less, or loaded by less than s/g, answer in part:
//! (λ_n + s/g) δu_n + (u_n + s) δλ_n = 0, so that derivatives pass continuously from open to closed.

use crate::contact::law::RoundLaw;
use crate::contact::law::cone::tangent_norm;
use crate::contact::{ContactProblem, Law, Solution};
use crate::linalg::{SparseLu, Vec3};
use crate::steppers::velocity::EndRow;

/// Shift of closed rows, relative to the scale of the contact; refinement takes it out again.
const SHIFT: f64 = 1e-8;
/// Rounds of refinement.
const ROUNDS: usize = 5;

/// State of a contact at a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Apart.
    Open,
    /// Touches and does not slide.
    Stick,
    /// Slides.
    Slip,
    /// Rows with bounds: which of them are free to take any λ.
    Rows([bool; 3]),
}

/// A change of the data of a contact problem, at fixed v and λ; or derivatives by it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataChange {
    /// δ(A v − b − Jᵀλ).
    pub momentum: Vec<f64>,
    /// δ(J v + bias + softness λ) of each block.
    pub velocity: Vec<Vec3>,
    /// δμ of each contact, of the round cone ([`Friction::mean`](crate::contact::Friction::mean)).
    pub friction: Vec<f64>,
    /// δ of the bounds at which rows of a block are.
    pub bound: Vec<Vec3>,
}

impl DataChange {
    /// No change, of a problem with this many dofs and blocks.
    pub fn none(dofs: usize, blocks: usize) -> DataChange {
        DataChange {
            momentum: vec![0.0; dofs],
            velocity: vec![Vec3::ZERO; blocks],
            friction: vec![0.0; blocks],
            bound: vec![Vec3::ZERO; blocks],
        }
    }
}

/// How the answer of a contact problem changes with its data.
pub struct ImplicitStep {
    /// State of each block.
    pub modes: Vec<Mode>,
    lu: SparseLu,
    n: usize,
    /// Per block: L with rows L δu + … in stretched coordinates, row-major.
    law_rows: Vec<[[f64; 3]; 3]>,
    /// Per block: what δμ does to its rows.
    by_mu: Vec<Vec3>,
    /// Shift of each row.
    shift: Vec<Vec3>,
    stretch: Vec<Vec3>,
}

impl ImplicitStep {
    /// At a solution. Nothing where the system is singular: A not definite, or numbers that are not finite.
    pub fn new(p: &ContactProblem, x: &Solution, smoothing: f64) -> Option<ImplicitStep> {
        ImplicitStep::with_end_rows(p, x, smoothing, &[])
    }

    /// The same, where some rows hold at the end of the step.
    pub(crate) fn with_end_rows(
        p: &ContactProblem,
        x: &Solution,
        smoothing: f64,
        ends: &[EndRow],
    ) -> Option<ImplicitStep> {
        let (n, m) = (p.dofs(), p.contacts());
        let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n + 3 * m];
        for i in 0..p.a.block_rows() {
            let (at, height) = p.a.block(i);
            for (j, block) in p.a.row(i) {
                let (to, width) = p.a.block(j);
                for r in 0..height {
                    rows[at + r].extend((0..width).map(|c| (to + c, block[r * width + c])));
                }
            }
        }
        let mut step = ImplicitStep {
            modes: Vec::new(),
            lu: SparseLu::default(),
            n,
            law_rows: Vec::new(),
            by_mu: Vec::new(),
            shift: Vec::new(),
            stretch: Vec::new(),
        };
        let mut column = vec![0.0; n];
        let mut ends = ends.iter().peekable();
        for c in 0..m {
            let stretch = p.law[c].stretch();
            // Rows of J in stretched coordinates, as sparse vectors; and the scale of the contact from the diagonal of A.
            let mut j: [Vec<(usize, f64)>; 3] = Default::default();
            let mut size = 0.0;
            for k in 0..3 {
                let e = p.j.frame[c].transpose() * Vec3::AXES[k] * stretch[k];
                for t in p.j.terms(c) {
                    t.add_impulse(e, &mut column);
                }
                for t in p.j.terms(c) {
                    let (at, width) = p.a.block(t.block());
                    let diagonal = p.a.diagonal_block(t.block());
                    for r in 0..width {
                        let value = std::mem::take(&mut column[at + r]);
                        if value != 0.0 {
                            j[k].push((at + r, value));
                            size += value * value / diagonal[r * width + r] / 3.0;
                        }
                    }
                }
                j[k].sort_unstable_by_key(|e| e.0);
            }
            let g = if size > 0.0 { size } else { 1.0 };
            let lambda = x.lambda[c] / stretch;
            let u = (p.j.mul_one(c, &x.v) + p.bias[c] + p.softness[c] * x.lambda[c]) * stretch;
            let y = lambda - u / g;
            let softness = p.softness[c] * stretch * stretch;
            // Each row: law · δu + multiplier · δλ = −law · γ + by_mu δμ.
            let (mut law, mut multiplier, mut by_mu) = ([[0.0; 3]; 3], [[0.0; 3]; 3], Vec3::ZERO);
            let mut shift = Vec3::ZERO;
            let mode = match p.law[c].round() {
                RoundLaw::Cone(mu) => {
                    let slides = mu == 0.0 || tangent_norm(y) > mu * y.x;
                    if y.x <= 0.0 {
                        for (k, row) in multiplier.iter_mut().enumerate() {
                            row[k] = 1.0;
                        }
                    } else if slides {
                        (law[0][0], shift.x) = (1.0, SHIFT * g);
                        // Along t = −Y_t/‖Y_t‖ and across it, apart: λ_n/‖u‖ may be huge, and would drown the
                        // rows along t in rounding. Across is divided by 1 + g μ λ_n/‖u‖.
                        let length = tangent_norm(y);
                        let t = if length > 0.0 { [-y.y / length, -y.z / length] } else { [1.0, 0.0] };
                        let p = [-t[1], t[0]];
                        let give = tangent_norm(u) / (mu * lambda.x);
                        let (own, slip) = match give.is_finite() && lambda.x > 0.0 {
                            true => (give / (give + g), 1.0 / (give + g)),
                            false => (1.0, 0.0),
                        };
                        multiplier[1] = [mu, t[0], t[1]];
                        by_mu = Vec3::new(0.0, -lambda.x, 0.0);
                        multiplier[2] = [0.0, own * p[0], own * p[1]];
                        law[2] = [0.0, slip * p[0], slip * p[1]];
                    } else {
                        for (k, row) in law.iter_mut().enumerate() {
                            row[k] = 1.0;
                        }
                        shift = Vec3::splat(SHIFT * g);
                    }
                    if smoothing > 0.0 {
                        // Of the normal alone, scaled so that a loaded contact keeps the weight one.
                        let (load, gap) = (lambda.x.max(0.0) * g + smoothing, u.x.max(0.0) + smoothing);
                        let sum = load + gap;
                        (law[0], multiplier[0]) = ([load / sum, 0.0, 0.0], [gap / sum * g, 0.0, 0.0]);
                    }
                    if y.x <= 0.0 {
                        Mode::Open
                    } else if slides {
                        Mode::Slip
                    } else {
                        Mode::Stick
                    }
                }
                RoundLaw::Rows(b) => {
                    let free = [0, 1, 2].map(|k| b.lo[k] < b.hi[k] && y[k] > b.lo[k] && y[k] < b.hi[k]);
                    for k in 0..3 {
                        if free[k] {
                            (law[k][k], shift[k]) = (1.0, SHIFT * g);
                        } else {
                            multiplier[k][k] = 1.0;
                        }
                    }
                    Mode::Rows(free)
                }
            };
            let mut by_v = j.clone();
            while let Some(end) = ends.next_if(|e| e.block == c) {
                by_v[end.row].clone_from(&end.by_v);
            }
            for k in 0..3 {
                let mut row: Vec<(usize, f64)> = Vec::new();
                for (l, j) in by_v.iter().enumerate() {
                    for &(dof, value) in j {
                        match row.iter_mut().find(|e| e.0 == dof) {
                            Some(e) => e.1 += law[k][l] * value,
                            None => row.push((dof, law[k][l] * value)),
                        }
                    }
                }
                row.sort_unstable_by_key(|e| e.0);
                for l in 0..3 {
                    let own = if k == l { shift[k] } else { 0.0 };
                    row.push((n + 3 * c + l, law[k][l] * softness[l] + multiplier[k][l] + own));
                }
                // Scaled, so that pivots compare.
                rows[n + 3 * c + k] = row;
                for &(dof, value) in &j[k] {
                    rows[dof].push((n + 3 * c + k, -value));
                }
            }
            step.modes.push(mode);
            step.law_rows.push(law);
            step.by_mu.push(by_mu);
            step.shift.push(shift);
            step.stretch.push(stretch);
        }
        step.lu.factor_rows(&rows).then_some(step)
    }

    fn refine(&mut self, rhs: &[f64], transposed: bool) -> Vec<f64> {
        let mut x = vec![0.0; rhs.len()];
        for _ in 0..ROUNDS {
            let mut next = rhs.to_vec();
            for (c, s) in self.shift.iter().enumerate() {
                for k in 0..3 {
                    next[self.n + 3 * c + k] += s[k] * x[self.n + 3 * c + k];
                }
            }
            if transposed {
                self.lu.solve_transpose(&mut next);
            } else {
                self.lu.solve(&mut next);
            }
            x = next;
        }
        x
    }

    /// δv and δλ for a change of the data.
    pub fn forward(&mut self, data: &DataChange) -> (Vec<f64>, Vec<Vec3>) {
        let m = self.modes.len();
        let mut rhs = vec![0.0; self.n + 3 * m];
        for i in 0..self.n {
            rhs[i] = -data.momentum[i];
        }
        for c in 0..m {
            let gamma = data.velocity[c] * self.stretch[c];
            for k in 0..3 {
                let l = &self.law_rows[c][k];
                let own = self.by_mu[c][k] * data.friction[c] + self.at_bound(c)[k] * data.bound[c][k];
                rhs[self.n + 3 * c + k] = own - (l[0] * gamma.x + l[1] * gamma.y + l[2] * gamma.z);
            }
        }
        let x = self.refine(&rhs, false);
        let lambda = (0..m).map(|c| Vec3::from_slice(&x[self.n + 3 * c..]) * self.stretch[c]).collect();
        (x[..self.n].to_vec(), lambda)
    }

    /// The transpose of [`forward`](Self::forward): from derivatives by v and λ to those by the data.
    pub fn reverse(&mut self, v: &[f64], lambda: &[Vec3]) -> DataChange {
        let m = self.modes.len();
        let mut rhs = vec![0.0; self.n + 3 * m];
        rhs[..self.n].copy_from_slice(v);
        for c in 0..m {
            (lambda[c] * self.stretch[c]).write_to_slice(&mut rhs[self.n + 3 * c..self.n + 3 * c + 3]);
        }
        let y = self.refine(&rhs, true);
        let mut out = DataChange::none(self.n, m);
        for (momentum, y) in out.momentum.iter_mut().zip(&y) {
            *momentum = -y;
        }
        for c in 0..m {
            let y = Vec3::from_slice(&y[self.n + 3 * c..]);
            let mut gamma = Vec3::ZERO;
            for k in 0..3 {
                for l in 0..3 {
                    gamma[l] -= self.law_rows[c][k][l] * y[k];
                }
            }
            out.velocity[c] = gamma * self.stretch[c];
            out.friction[c] = self.by_mu[c].dot(y);
            out.bound[c] = self.at_bound(c) * y;
        }
        out
    }

    /// One for rows of a block that are at a bound.
    fn at_bound(&self, c: usize) -> Vec3 {
        match self.modes[c] {
            Mode::Rows(free) => Vec3::from_array(free.map(|f| f64::from(!f))),
            _ => Vec3::ZERO,
        }
    }
}

/// The coefficient of the round cone; zero for rows.
pub(super) fn friction_of(law: &Law) -> f64 {
    law.round().mu()
}
