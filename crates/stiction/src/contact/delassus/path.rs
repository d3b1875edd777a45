//! The Delassus operator of a path: an island whose bodies A couples like beads on a string, such as a cable with its
//! contacts, each on one bead.
//!
//! Beads before the first and after the last contact are eliminated once (Schur complements of both ends); what is left is
//! block tridiagonal. A product with W, and a solve with `I + P W`, then cost in proportion to the beads between them, and
//! W itself is built only if somebody sweeps over contacts.
//!
//! With `E_i` the pivots of elimination from the right, `C_i = A_{i+1,i}` and `G_i = −E_{i+1}⁻¹ C_i`:
//! `X = A⁻¹` has `X_00 = E_0⁻¹`, `X_{i+1,i+1} = E_{i+1}⁻¹ + G_i X_ii G_iᵀ` and `X_{j+1,i} = G_j X_{ji}` for j ≥ i.

use crate::contact::ContactProblem;
use crate::contact::delassus::Delassus;
use crate::contact::law::RoundLaw;
use crate::linalg::block_lu::{invert, product, subtract_product};
use crate::linalg::{Mat3, Mat6, Vec3};

type Row6 = [f64; 6];

/// Factors and contacts of a path.
#[derive(Default)]
pub struct Path {
    /// Blocks of the problem along the path, and the first dof of each.
    order: Vec<u32>,
    dof: Vec<u32>,
    place: Vec<u32>,
    /// Diagonal blocks along the path, and C_i below them.
    diagonal: Vec<Mat6>,
    below: Vec<Mat6>,
    /// Inverse pivots of elimination from the right.
    pivot: Vec<Mat6>,
    free_velocity: Vec<Row6>,
    /// Beads between the contacts: first and one past the last.
    region: (usize, usize),
    /// Diagonal blocks of the condensed path, its inverse pivots, and those with P.
    condensed: Vec<Mat6>,
    inner: Vec<Mat6>,
    stiff: Vec<Mat6>,
    /// Bead of each contact within the region, its rows and its law.
    bead: Vec<u32>,
    rows: Vec<[Row6; 3]>,
    law: Vec<RoundLaw>,
    softness: Vec<Vec3>,
    free: Vec<Vec3>,
    block: Vec<Mat3>,
    scale: Vec<f64>,
    p: Vec<Mat3>,
    x: Vec<Row6>,
    /// W by rows, empty until somebody sweeps; and the impulse that sweeps see.
    dense: Vec<Mat3>,
    loaded: Vec<Vec3>,
}

const NONE: u32 = u32::MAX;

impl Path {
    /// Factors an island. False where it is no path of rigid bodies, where a contact moves two of them, or where A is not
    /// positive definite.
    pub fn prepare(&mut self, p: &ContactProblem, blocks: &[u32], contacts: &[u32]) -> bool {
        if contacts.is_empty() || !self.find_order(p, blocks) || !self.take_contacts(p, contacts) {
            return false;
        }
        self.take_matrix(p);
        eliminate(&self.diagonal, &self.below, &mut self.pivot) && {
            self.x.clear();
            self.x.extend(self.dof.iter().map(|&d| std::array::from_fn(|k| p.b[d as usize + k])));
            solve(&self.below, &self.pivot, &mut self.x);
            std::mem::swap(&mut self.x, &mut self.free_velocity);
            self.condense() && self.take_blocks()
        }
    }

    /// Writes A⁻¹(b + Jᵀ λ) of the island into `v`; impulses in stretched coordinates.
    pub fn write_velocity(&mut self, r: &[Vec3], v: &mut [f64]) {
        self.x.clear();
        self.x.resize(self.order.len(), [0.0; 6]);
        for c in 0..r.len() {
            add_rows(&self.rows[c], r[c], &mut self.x[self.region.0 + self.bead[c] as usize]);
        }
        solve(&self.below, &self.pivot, &mut self.x);
        for (i, &d) in self.dof.iter().enumerate() {
            for k in 0..6 {
                v[d as usize + k] = self.free_velocity[i][k] + self.x[i][k];
            }
        }
    }

    /// Walks along the blocks from an end; false where they branch, close, fall apart or are not bodies.
    fn find_order(&mut self, p: &ContactProblem, blocks: &[u32]) -> bool {
        let next = |b: u32, not: u32| {
            let mut others = p.a.row(b as usize).map(|(j, _)| j as u32).filter(move |&j| j != b && j != not);
            (others.next(), others.next().is_some())
        };
        if blocks.iter().any(|&b| p.a.block(b as usize).1 != 6) {
            return false;
        }
        let Some(&end) = blocks.iter().find(|&&b| !next(b, NONE).1) else { return false };
        self.order.clear();
        let (mut before, mut here) = (NONE, Some(end));
        while let Some(b) = here {
            self.order.push(b);
            let (onwards, branches) = next(b, before);
            if branches || self.order.len() > blocks.len() {
                return false;
            }
            (before, here) = (b, onwards);
        }
        self.dof.clear();
        self.dof.extend(self.order.iter().map(|&b| p.a.block(b as usize).0 as u32));
        self.place.clear();
        self.place.resize(p.a.block_rows(), NONE);
        for (i, &b) in self.order.iter().enumerate() {
            self.place[b as usize] = i as u32;
        }
        self.order.len() == blocks.len()
    }

    fn take_contacts(&mut self, p: &ContactProblem, contacts: &[u32]) -> bool {
        self.bead.clear();
        self.rows.clear();
        self.law.clear();
        self.softness.clear();
        self.free.clear();
        self.region = (usize::MAX, 0);
        for &c in contacts {
            let c = c as usize;
            let terms = p.j.terms(c);
            let Some(first) = terms.first() else { return false };
            if terms.iter().any(|t| t.block() != first.block()) {
                return false;
            }
            let place = self.place[first.block()];
            if place == NONE {
                return false;
            }
            let stretch = p.law[c].stretch();
            let mut rows = [[0.0; 6]; 3];
            for (k, row) in rows.iter_mut().enumerate() {
                let push = p.j.frame[c].transpose() * (Vec3::AXES[k] * stretch);
                for t in terms {
                    t.at_row(0).add_impulse(push, row);
                }
            }
            self.region = (self.region.0.min(place as usize), self.region.1.max(place as usize + 1));
            self.bead.push(place);
            self.rows.push(rows);
            self.law.push(p.law[c].round());
            self.softness.push(p.softness[c] * stretch * stretch);
            self.free.push(p.bias[c] * stretch);
        }
        let first = self.region.0 as u32;
        self.bead.iter_mut().for_each(|b| *b -= first);
        true
    }

    fn take_matrix(&mut self, p: &ContactProblem) {
        let of = |m: &[f64]| Mat6(std::array::from_fn(|r| std::array::from_fn(|c| m[6 * r + c])));
        self.diagonal.clear();
        self.below.clear();
        for (i, &b) in self.order.iter().enumerate() {
            self.diagonal.push(of(p.a.diagonal_block(b as usize)));
            if let Some(&after) = self.order.get(i + 1) {
                let below = p.a.row(after as usize).find(|(j, _)| *j == b as usize);
                self.below.push(below.map_or(Mat6::ZERO, |(_, m)| of(m)));
            }
        }
    }

    /// The path between the contacts, with both ends eliminated.
    fn condense(&mut self) -> bool {
        let (first, last) = self.region;
        self.condensed.clear();
        self.condensed.extend_from_slice(&self.diagonal[first..last]);
        if let Some(pivot) = self.pivot.get(last) {
            let c = &self.below[last - 1];
            let right = product(&transpose(c), &product(pivot, c));
            subtract(&mut self.condensed[last - first - 1], &right);
        }
        let mut left = self.diagonal[0];
        for i in 0..first {
            let Some(inverse) = invert(&left) else { return false };
            let c = &self.below[i];
            left = if i + 1 < first { self.diagonal[i + 1] } else { self.condensed[0] };
            subtract_product(&mut left, &product(c, &inverse), &transpose(c));
        }
        if first > 0 {
            self.condensed[0] = left;
        }
        eliminate(&self.condensed, &self.below[first..last.max(1) - 1], &mut self.inner)
    }

    /// W_cc and the free velocity of each contact.
    fn take_blocks(&mut self) -> bool {
        let (first, last) = self.region;
        self.block.clear();
        self.block.resize(self.law.len(), Mat3::ZERO);
        let mut x = self.inner[0];
        for i in 0..last - first {
            if i > 0 {
                let g = self.step_right(i - 1);
                x = sum(&self.inner[i], &product(&product(&g, &x), &transpose(&g)));
            }
            for c in (0..self.law.len()).filter(|&c| self.bead[c] as usize == i) {
                let rows = &self.rows[c];
                let columns: [Vec3; 3] = std::array::from_fn(|k| {
                    let y = times(&x, &rows[k]);
                    Vec3::new(dot(&rows[0], &y), dot(&rows[1], &y), dot(&rows[2], &y))
                });
                self.block[c] = Mat3::from_cols(columns[0], columns[1], columns[2])
                    + Mat3::from_diagonal(self.softness[c]);
            }
        }
        self.scale.clear();
        for c in 0..self.law.len() {
            let m = &self.block[c];
            let mean = (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
            self.scale.push(if mean > 0.0 { mean } else { 1.0 });
            let v = &self.free_velocity[first + self.bead[c] as usize];
            self.free[c] += apply_rows(&self.rows[c], v);
        }
        self.dense.clear();
        self.loaded.clear();
        self.loaded.resize(self.law.len(), Vec3::ZERO);
        true
    }

    /// G_i = −E_{i+1}⁻¹ C_i of the condensed path.
    fn step_right(&self, i: usize) -> Mat6 {
        let mut g = product(&self.inner[i + 1], &self.below[self.region.0 + i]);
        g.0.iter_mut().flatten().for_each(|x| *x = -*x);
        g
    }

    /// W, row by row of contacts.
    fn build_dense(&mut self) {
        let n = self.law.len();
        self.dense.clear();
        self.dense.resize(n * n, Mat3::ZERO);
        let beads = self.region.1 - self.region.0;
        let steps: Vec<Mat6> = (0..beads - 1).map(|i| self.step_right(i)).collect();
        let mut on: Vec<Vec<usize>> = vec![Vec::new(); beads];
        for c in 0..n {
            on[self.bead[c] as usize].push(c);
        }
        let mut x = self.inner[0];
        for i in 0..beads {
            if i > 0 {
                let g = &steps[i - 1];
                x = sum(&self.inner[i], &product(&product(g, &x), &transpose(g)));
            }
            for &c in &on[i] {
                let mut y: [Row6; 3] = std::array::from_fn(|k| times(&x, &self.rows[c][k]));
                for j in i..beads {
                    if j > i {
                        y = y.map(|y| times(&steps[j - 1], &y));
                    }
                    for &d in &on[j] {
                        let columns = y.map(|y| apply_rows(&self.rows[d], &y));
                        let w = Mat3::from_cols(columns[0], columns[1], columns[2]);
                        self.dense[d * n + c] = w;
                        self.dense[c * n + d] = w.transpose();
                    }
                }
            }
        }
        for c in 0..n {
            self.dense[c * n + c] = self.block[c];
        }
    }

    /// x = (condensed path with these inverse pivots)⁻¹ Jᵀ r.
    fn respond(&mut self, r: &[Vec3], with_p: bool) {
        let (first, last) = self.region;
        self.x.clear();
        self.x.resize(last - first, [0.0; 6]);
        for c in 0..r.len() {
            add_rows(&self.rows[c], r[c], &mut self.x[self.bead[c] as usize]);
        }
        let pivots = if with_p { &self.stiff } else { &self.inner };
        solve(&self.below[first..last - 1], pivots, &mut self.x);
    }
}

impl Delassus for Path {
    fn contacts(&self) -> usize {
        self.law.len()
    }

    fn law(&self, c: usize) -> RoundLaw {
        self.law[c]
    }

    fn free(&self, c: usize) -> Vec3 {
        self.free[c]
    }

    fn diagonal(&self, c: usize) -> Mat3 {
        self.block[c]
    }

    fn scale(&self, c: usize) -> f64 {
        self.scale[c]
    }

    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]) {
        self.respond(r, false);
        for c in 0..r.len() {
            let v = &self.x[self.bead[c] as usize];
            u[c] = self.free[c] + apply_rows(&self.rows[c], v) + self.softness[c] * r[c];
        }
    }

    /// W is positive definite: |W_cd| ≤ √(|W_cc| |W_dd|).
    fn magnitude(&mut self, r: &[Vec3], size: &mut [f64]) {
        let root = |s: f64| (3.0 * s).sqrt();
        let all: f64 = r.iter().zip(&self.scale).map(|(r, s)| root(*s) * r.length()).sum();
        for (size, s) in size.iter_mut().zip(&self.scale) {
            *size = root(*s) * all;
        }
    }

    fn load(&mut self, r: &[Vec3]) {
        if self.dense.is_empty() {
            self.build_dense();
        }
        self.loaded.copy_from_slice(r);
    }

    fn contact_velocity(&self, c: usize) -> Vec3 {
        let n = self.loaded.len();
        let row = &self.dense[c * n..(c + 1) * n];
        self.free[c] + row.iter().zip(&self.loaded).map(|(w, r)| *w * *r).sum::<Vec3>()
    }

    fn add_impulse(&mut self, c: usize, dr: Vec3) {
        self.loaded[c] += dr;
    }

    fn system_size(&self) -> usize {
        6 * (self.region.1 - self.region.0)
    }

    /// Per bead an inverse and three products of 6×6 blocks.
    fn factor_work(&self) -> f64 {
        4.0 * 216.0 * (self.region.1 - self.region.0) as f64
    }

    /// A + Jᵀ P J stays block tridiagonal, because every contact is on one bead.
    fn factor(&mut self, p: &[Mat3]) -> bool {
        self.p.clear();
        for (c, p) in p.iter().enumerate() {
            // Softness moves to the left: (I + P s)⁻¹ P.
            let soft = self.softness[c] != Vec3::ZERO && *p != Mat3::ZERO;
            let softened =
                |p: Mat3| (Mat3::IDENTITY + p * Mat3::from_diagonal(self.softness[c])).inverse() * p;
            self.p.push(if soft { softened(*p) } else { *p });
        }
        let mut diagonal = std::mem::take(&mut self.stiff);
        diagonal.clear();
        diagonal.extend_from_slice(&self.condensed);
        for (c, p) in self.p.iter().enumerate().filter(|(_, p)| **p != Mat3::ZERO) {
            let (m, rows) = (&mut diagonal[self.bead[c] as usize], &self.rows[c]);
            for k in 0..3 {
                // Row k of P J.
                let pj: Row6 = std::array::from_fn(|j| (0..3).map(|l| p.col(l)[k] * rows[l][j]).sum());
                for i in 0..6 {
                    for j in 0..6 {
                        m.0[i][j] += rows[k][i] * pj[j];
                    }
                }
            }
        }
        let (first, last) = self.region;
        let ok = eliminate_in_place(&mut diagonal, &self.below[first..last - 1]);
        self.stiff = diagonal;
        ok
    }

    fn solve(&mut self, g: &[Vec3], dy: &mut [Vec3]) {
        // v = (A + Jᵀ P J)⁻¹ Jᵀ P g, dy = P (g − J v).
        for c in 0..g.len() {
            dy[c] = self.p[c] * g[c];
        }
        self.respond(dy, true);
        for c in 0..g.len() {
            let v = &self.x[self.bead[c] as usize];
            dy[c] = self.p[c] * (g[c] - apply_rows(&self.rows[c], v));
        }
    }
}

/// Inverse pivots of elimination from the right. False where one is singular.
fn eliminate(diagonal: &[Mat6], below: &[Mat6], pivot: &mut Vec<Mat6>) -> bool {
    pivot.clear();
    pivot.extend_from_slice(diagonal);
    eliminate_in_place(pivot, below)
}

fn eliminate_in_place(pivot: &mut [Mat6], below: &[Mat6]) -> bool {
    for i in (0..pivot.len()).rev() {
        if i + 1 < pivot.len() {
            let c = &below[i];
            let right = product(&pivot[i + 1], c);
            subtract_product(&mut pivot[i], &transpose(c), &right);
        }
        let Some(inverse) = invert(&pivot[i]) else { return false };
        pivot[i] = inverse;
    }
    true
}

/// Overwrites `x` with the solution.
fn solve(below: &[Mat6], pivot: &[Mat6], x: &mut [Row6]) {
    let n = x.len();
    for i in (0..n.saturating_sub(1)).rev() {
        // x_i −= C_iᵀ E_{i+1}⁻¹ x_{i+1}
        let y = times(&pivot[i + 1], &x[i + 1]);
        let c = &below[i].0;
        for k in 0..6 {
            for j in 0..6 {
                x[i][j] -= c[k][j] * y[k];
            }
        }
    }
    for i in 0..n {
        if i > 0 {
            let y = times(&below[i - 1], &x[i - 1]);
            for k in 0..6 {
                x[i][k] -= y[k];
            }
        }
        x[i] = times(&pivot[i], &x[i]);
    }
}

fn times(m: &Mat6, x: &Row6) -> Row6 {
    std::array::from_fn(|r| dot(&m.0[r], x))
}

fn dot(a: &Row6, b: &Row6) -> f64 {
    (0..6).map(|k| a[k] * b[k]).sum()
}

fn transpose(m: &Mat6) -> Mat6 {
    Mat6(std::array::from_fn(|r| std::array::from_fn(|c| m.0[c][r])))
}

fn sum(a: &Mat6, b: &Mat6) -> Mat6 {
    Mat6(std::array::from_fn(|r| std::array::from_fn(|c| a.0[r][c] + b.0[r][c])))
}

fn subtract(a: &mut Mat6, b: &Mat6) {
    for r in 0..6 {
        for c in 0..6 {
            a.0[r][c] -= b.0[r][c];
        }
    }
}

fn add_rows(rows: &[Row6; 3], r: Vec3, x: &mut Row6) {
    for k in 0..6 {
        x[k] += rows[0][k] * r.x + rows[1][k] * r.y + rows[2][k] * r.z;
    }
}

fn apply_rows(rows: &[Row6; 3], v: &Row6) -> Vec3 {
    Vec3::new(dot(&rows[0], v), dot(&rows[1], v), dot(&rows[2], v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::delassus::local::LocalForm;
    use crate::contact::samples::Assembly;
    use crate::contact::{Friction, Law, LocalProblem, Solution, Term};
    use crate::coords::Part;
    use crate::coords::{BlockKind, Layout};
    use crate::linalg::BlockMat;

    /// Eight beads with stiff random couplings, numbered out of order; contacts on the fourth to the sixth, two on one.
    fn beads() -> ContactProblem {
        let mut scene = Assembly::new(Vec3::NEG_Z);
        for i in 0..8 {
            scene.add_box(Vec3::X * i as f64, Vec3::splat(0.1), 1.0);
        }
        let mut p = scene.problem();
        let along = [3usize, 0, 5, 1, 7, 2, 6, 4];
        let mut layout = Layout::new();
        (0..8).for_each(|_| {
            layout.push(BlockKind::Rigid);
        });
        let pairs: Vec<(u32, u32)> = along.windows(2).map(|w| (w[0] as u32, w[1] as u32)).collect();
        let mut a = BlockMat::with_pattern(&layout.widths(), &pairs);
        a.assign(&p.a);
        let number = |i: usize, j: usize| ((i * 37 + j * 101 + 5) as f64).sin();
        for (s, w) in along.windows(2).enumerate() {
            // k (L v_a − R v_b)² in both bodies.
            let l: [[f64; 12]; 6] = std::array::from_fn(|r| {
                std::array::from_fn(|c| 5.0 * number(r + 6 * s, c) + if r == c % 6 { 9.0 } else { 0.0 })
            });
            for (h, &i) in w.iter().enumerate() {
                for (k, &j) in w.iter().enumerate() {
                    let block = a.block_mut(i, j).expect("in the pattern");
                    for r in 0..6 {
                        for c in 0..6 {
                            block[6 * r + c] +=
                                (0..6).map(|e| l[e][6 * h + r] * l[e][6 * k + c]).sum::<f64>();
                        }
                    }
                }
            }
        }
        p.a = a;
        p.clear_rows();
        for (c, bead) in [7usize, 1, 2, 7].into_iter().enumerate() {
            let turn = Mat3::from_rotation_x(0.3 * c as f64) * Mat3::from_rotation_z(0.5 + c as f64);
            let arm = Vec3::new(0.1, 0.05 * c as f64, -0.1);
            p.j.push(
                turn,
                [Term::Point(Part::Rigid { block: bead as u32, dof: 6 * bead as u32, weight: 1.0, arm })],
            );
            p.bias.push(Vec3::new(-0.1, 0.02, 0.0));
            p.law.push(Law::Contact(Friction::Isotropic(0.5)));
            p.softness.push(Vec3::splat(0.01 * c as f64));
        }
        p
    }

    #[test]
    fn a_path_says_what_the_dense_delassus_matrix_says() {
        let p = beads();
        let (blocks, contacts): (Vec<u32>, Vec<u32>) = ((0..8).collect(), (0..4).collect());
        let mut path = Path::default();
        assert!(path.prepare(&p, &blocks, &contacts));
        assert_eq!(path.system_size(), 18, "two ends are eliminated");
        let local = LocalProblem::from_problem(&p);
        let mut form = LocalForm::new(&local);
        let r: Vec<Vec3> = (0..4).map(|c| Vec3::new(1.0, 0.3 * c as f64, -0.2)).collect();
        let near = |a: Vec3, b: Vec3| (a - b).length() < 1e-9 * (1.0 + b.length());
        let (mut u, mut expected) = (vec![Vec3::ZERO; 4], vec![Vec3::ZERO; 4]);
        path.velocity(&r, &mut u);
        form.velocity(&r, &mut expected);
        path.load(&r);
        for c in 0..4 {
            assert!(near(u[c], expected[c]), "{} {}", u[c], expected[c]);
            assert!(near(path.contact_velocity(c), expected[c]));
            for k in 0..3 {
                assert!(near(path.diagonal(c).col(k), form.diagonal(c).col(k)));
            }
        }
        // Open, stick, and a rank-one slip.
        let slip = Mat3::from_cols(Vec3::new(40.0, 20.0, 0.0), Vec3::ZERO, Vec3::ZERO);
        let stiffness = [Mat3::from_diagonal(Vec3::splat(1e3)), slip, Mat3::ZERO, slip];
        assert!(path.factor(&stiffness) && form.factor(&stiffness));
        let (mut dy, mut dense) = (vec![Vec3::ZERO; 4], vec![Vec3::ZERO; 4]);
        path.solve(&r, &mut dy);
        form.solve(&r, &mut dense);
        for c in 0..4 {
            assert!(near(dy[c], dense[c]), "{} {}", dy[c], dense[c]);
        }
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: r.clone() };
        path.write_velocity(&r, &mut x.v);
        let expected = p.velocity_of(&r);
        assert!(x.v.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn branches_and_contacts_between_beads_are_left_to_others() {
        let mut p = beads();
        let (blocks, contacts): (Vec<u32>, Vec<u32>) = ((0..8).collect(), (0..4).collect());
        assert!(!Path::default().prepare(&p, &blocks[..7], &contacts), "a bead is missing");
        let arm = Vec3::ZERO;
        let side =
            |block: u32, sign: f64| Term::Point(Part::Rigid { block, dof: 6 * block, weight: sign, arm });
        p.j.push(Mat3::IDENTITY, [side(3, 1.0), side(5, -1.0)]);
        p.bias.push(Vec3::ZERO);
        p.law.push(p.law[0]);
        p.softness.push(Vec3::ZERO);
        assert!(!Path::default().prepare(&p, &blocks, &[0, 1, 2, 3, 4]));
    }
}
