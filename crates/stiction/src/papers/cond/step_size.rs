//! The step size matrix W (Sec. IV-C): a diagonal stand-in for A⁻¹ with one number per contact node.
//!
//! Frobenius' norm adds rows of forces and of torques, so that its minimiser depends on the unit of an angle, which the paper leaves
//! open. With radians a link of a cable gets steps that are (mm)² too short to turn it: 200 iterations leave 99 % of a step of 40 links.
//! Here an angle is measured by the arc at the radius √(tr A_ωω/tr A_vv) of its body, at which turning is as hard as moving.

use super::nodal::Nodal;
use crate::linalg::krylov::dot;
use crate::linalg::{Mat3, Pieces};
use crate::solvers::island::Island;

/// How W is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepSize {
    /// α I with α = 2/(σ_min + σ_max), the eigenvalues by power iteration.
    Uniform,
    /// The minimiser of ‖I − W A‖ in Frobenius' norm.
    #[default]
    Frobenius,
    /// α I with α = s·s/s·z of the last step s and z = A s.
    BarzilaiBorwein1,
    /// α I with α = s·z/z·z.
    BarzilaiBorwein2,
    /// The two in turn.
    BarzilaiBorweinAlternating,
}

impl StepSize {
    /// All of them, in the order of tables.
    pub const ALL: [StepSize; 5] = [
        StepSize::Uniform,
        StepSize::Frobenius,
        StepSize::BarzilaiBorwein1,
        StepSize::BarzilaiBorwein2,
        StepSize::BarzilaiBorweinAlternating,
    ];

    /// A word for tables.
    pub fn name(self) -> &'static str {
        match self {
            StepSize::Uniform => "uniform",
            StepSize::Frobenius => "frobenius",
            StepSize::BarzilaiBorwein1 => "bb1",
            StepSize::BarzilaiBorwein2 => "bb2",
            StepSize::BarzilaiBorweinAlternating => "bb-alternating",
        }
    }

    /// True where W changes with every iteration.
    pub fn is_adaptive(self) -> bool {
        !matches!(self, StepSize::Uniform | StepSize::Frobenius)
    }

    /// α of step `l` from the last move `s` and `z = A s`; `None` where they say nothing.
    pub(super) fn barzilai_borwein(self, l: usize, s: &[f64], z: &[f64]) -> Option<f64> {
        let (ss, sz, zz) = (dot(s, s), dot(s, z), dot(z, z));
        let first = match self {
            StepSize::BarzilaiBorwein1 => true,
            StepSize::BarzilaiBorwein2 => false,
            _ => l.is_multiple_of(2),
        };
        let alpha = if first { ss / sz } else { sz / zz };
        (alpha.is_finite() && alpha > 0.0).then_some(alpha)
    }
}

/// Steps of each power iteration.
const POWER_STEPS: usize = 20;
/// What a power iteration may miss.
const POWER_MARGIN: f64 = 1.05;
/// Frobenius' W does not promise that the eigenvalues of W A stay below 2: it is scaled down to this.
const LARGEST: f64 = 1.9;

/// W, with what it was made from.
#[derive(Default)]
pub(super) struct Steps {
    /// One number per unknown.
    pub w: Vec<f64>,
    /// Frobenius' step sizes of the unknowns without virtual nodes, for recycling.
    recycled: Vec<f64>,
    /// What the rescue scaled W by, and its age in solves.
    scale: f64,
    age: usize,
    /// Length that stands for one radian of each angular half; one for everything else.
    pub unit: Vec<f64>,
    /// a_ii and ‖A_i*‖² in these units.
    diagonal: Vec<f64>,
    square: Vec<f64>,
    /// Blocks that virtual nodes add to: (row, column, values).
    extra: Vec<(u32, u32, Mat3)>,
    x: Vec<f64>,
    y: Vec<f64>,
    pieces: Pieces,
}

impl Steps {
    /// Fills `w` for a new problem. `recycle`: solves for which W may be reused; 1 never does.
    pub fn start(&mut self, kind: StepSize, recycle: usize, nodal: &Nodal, island: &Island) {
        let n = nodal.dofs();
        self.x.resize(n, 0.0);
        self.y.resize(n, 0.0);
        if kind == StepSize::Uniform {
            let largest = self.largest_eigenvalue(nodal, island, None) * POWER_MARGIN;
            let least = (largest - self.largest_eigenvalue(nodal, island, Some(largest))).max(0.0);
            self.w.clear();
            self.w.resize(n, 2.0 / (least + largest));
            return;
        }
        let known = self.recycled.len() == 3 * nodal.real && self.age + 1 < recycle;
        self.age = if known { self.age + 1 } else { 0 };
        self.frobenius(nodal, island, known);
        if !known {
            self.rescue(nodal, island);
        }
        for w in &mut self.w {
            *w *= self.scale;
        }
    }

    /// Finds W anew, and shorter, after a solve that grew: recycled numbers were too old.
    pub fn shorten(&mut self, nodal: &Nodal, island: &Island) {
        self.frobenius(nodal, island, false);
        self.rescue(nodal, island);
        self.scale *= 0.5;
        for w in &mut self.w {
            *w *= self.scale;
        }
    }

    /// W = α I.
    pub fn set_uniform(&mut self, alpha: f64) {
        self.w.fill(alpha);
    }

    /// w = Σ a_ii / Σ ‖A_i*‖² over one row, the three rows of a contact node, or the six of both nodes of a contact.
    fn frobenius(&mut self, nodal: &Nodal, island: &Island, recycle: bool) {
        self.row_sums(nodal, island, recycle);
        let n = nodal.dofs();
        self.w.clear();
        let unit = |i: usize| self.unit.get(i / 3).map_or(1.0, |u| u * u);
        self.w.extend((0..n).map(|i| self.diagonal[i] / (self.square[i] * unit(i))));
        if recycle {
            // Rows that virtual nodes add to are new in every step.
            let mut own = vec![true; nodal.real];
            nodal.each_block(island, |i, _, _| own[i] = false, |_, _, _| {});
            for (i, own) in own.into_iter().enumerate() {
                if own {
                    self.w[3 * i..3 * i + 3].copy_from_slice(&self.recycled[3 * i..3 * i + 3]);
                }
            }
        } else {
            self.recycled.clear();
            self.recycled.extend_from_slice(&self.w[..3 * nodal.real]);
        }
        for c in &nodal.contacts {
            let (mut a, mut s) = (0.0, 0.0);
            for b in Nodal::sides(c) {
                // From w and ‖A_i*‖² rather than a_ii, so that recycled rows count too.
                for i in 3 * b..3 * b + 3 {
                    a += self.w[i] * self.square[i];
                    s += self.square[i];
                }
            }
            for b in Nodal::sides(c) {
                self.w[3 * b..3 * b + 3].fill(a / s);
            }
        }
    }

    /// a_ii and ‖A_i*‖² of every row of (15).
    fn row_sums(&mut self, nodal: &Nodal, island: &Island, recycle: bool) {
        let (n, real) = (nodal.dofs(), nodal.real);
        if !recycle {
            self.find_units(island);
        }
        let unit = &self.unit;
        if !(recycle && self.square.len() >= 3 * real) {
            self.diagonal.clear();
            self.diagonal.resize(n, 0.0);
            self.square.clear();
            self.square.resize(n, 0.0);
        } else {
            self.diagonal.resize(n, 0.0);
            self.square.resize(n, 0.0);
        }
        let (diagonal, square) = (&mut self.diagonal, &mut self.square);
        // Recycled sums keep old values of A; those that virtual nodes touch are written anew below.
        self.extra.clear();
        let extra = &mut self.extra;
        nodal.each_block(island, |i, j, m| extra.push((i as u32, j as u32, m)), |_, _, _| {});
        if recycle && extra.is_empty() {
            return;
        }
        extra.sort_by_key(|e| (e.0, e.1));
        let mut touched = vec![!recycle; real];
        for e in extra.iter() {
            touched[e.0 as usize] = true;
        }
        for i in 0..real {
            if touched[i] {
                diagonal[3 * i..3 * i + 3].fill(0.0);
                square[3 * i..3 * i + 3].fill(0.0);
            }
        }
        for i in 0..real {
            let (d, own) = (island.a.diagonal(i), 1.0 / (unit[i] * unit[i]));
            if touched[i] {
                for r in 0..3 {
                    diagonal[3 * i + r] += own * d[4 * r];
                    square[3 * i + r] += (0..3).map(|c| (own * d[3 * r + c]).powi(2)).sum::<f64>();
                }
            }
            for (j, m) in island.a.row(i) {
                let share = 1.0 / (unit[i] * unit[j]);
                for r in 0..3 {
                    for c in 0..3 {
                        let s = (share * m[3 * r + c]).powi(2);
                        if touched[i] {
                            square[3 * i + r] += s;
                        }
                        if touched[j] {
                            square[3 * j + c] += s;
                        }
                    }
                }
            }
        }
        // ‖A + E‖² = ‖A‖² + 2 A·E + ‖E‖², E summed over the virtual nodes of a pair of blocks.
        let mut at = 0;
        while at < extra.len() {
            let (i, j, mut e) = extra[at];
            at += 1;
            while at < extra.len() && (extra[at].0, extra[at].1) == (i, j) {
                e += extra[at].2;
                at += 1;
            }
            let (i, j) = (i as usize, j as usize);
            let (a, share) = (block(island, i, j), 1.0 / (unit[i] * unit[j]));
            for r in 0..3 {
                let (a, e) = (share * a.row(r), share * e.row(r));
                square[3 * i + r] += 2.0 * a.dot(e) + e.length_squared();
                if i == j {
                    diagonal[3 * i + r] += e[r];
                }
            }
        }
        let gain = nodal.gain;
        for i in 3 * real..n {
            (diagonal[i], square[i]) = (gain, gain * gain);
        }
        nodal.each_block(
            island,
            |_, _, _| {},
            |i, k, m| {
                let m = m * (1.0 / unit[i]);
                for r in 0..3 {
                    square[3 * i + r] += m.row(r).length_squared();
                    square[3 * (real + k) + r] += m.col(r).length_squared();
                }
            },
        );
    }

    fn find_units(&mut self, island: &Island) {
        let size = |i: usize| {
            let d = island.a.diagonal(i);
            d[0] + d[4] + d[8]
        };
        let radius = |i: usize| (size(i) / size(i - 1)).sqrt();
        let is_angular = |i: usize| i >= island.nodes && (i - island.nodes) % 2 == 1;
        self.unit.clear();
        self.unit.extend((0..island.dofs() / 3).map(|i| if is_angular(i) { radius(i) } else { 1.0 }));
    }

    /// Scales W so that the eigenvalues of W A stay below two.
    fn rescue(&mut self, nodal: &Nodal, island: &Island) {
        seed(&mut self.x);
        let mut size = 1.0;
        for _ in 0..POWER_STEPS {
            nodal.mul(island, &mut self.pieces, &self.x, &mut self.y);
            for (x, (y, w)) in self.x.iter_mut().zip(self.y.iter().zip(&self.w)) {
                *x = y * w;
            }
            size = dot(&self.x, &self.x).sqrt();
            for x in &mut self.x {
                *x /= size;
            }
        }
        let most = LARGEST / POWER_MARGIN;
        self.scale = if size > most { most / size } else { 1.0 };
    }

    /// Largest eigenvalue of A, or of shift·I − A.
    fn largest_eigenvalue(&mut self, nodal: &Nodal, island: &Island, shift: Option<f64>) -> f64 {
        seed(&mut self.x);
        let mut size = 1.0;
        for _ in 0..POWER_STEPS {
            nodal.mul(island, &mut self.pieces, &self.x, &mut self.y);
            if let Some(shift) = shift {
                for (y, x) in self.y.iter_mut().zip(&self.x) {
                    *y = shift * x - *y;
                }
            }
            size = dot(&self.y, &self.y).sqrt();
            for (x, y) in self.x.iter_mut().zip(&self.y) {
                *x = y / size;
            }
        }
        size
    }
}

/// A start for power iterations that no symmetry of a mesh is at right angles to.
fn seed(x: &mut [f64]) {
    for (i, x) in x.iter_mut().enumerate() {
        *x = ((i * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5;
    }
    let size = dot(x, x).sqrt();
    for x in x {
        *x /= size;
    }
}

/// Block (i, j) of A; zero where it has none.
fn block(island: &Island, i: usize, j: usize) -> Mat3 {
    let from = |m: &[f64; 9]| Mat3::from_cols_array(m).transpose();
    if i == j {
        return from(island.a.diagonal(i));
    }
    let (low, high) = (i.min(j), i.max(j));
    let found = island.a.row(low).find(|(c, _)| *c == high);
    found.map_or(Mat3::ZERO, |(_, m)| if i < j { from(m) } else { from(m).transpose() })
}
