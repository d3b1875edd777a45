//! Contact nodalization (15): every contact acts on nodes of its own.
//!
//! A side of a contact that is one node of the mesh, and of no other contact, is that node. Any other side (a point of a
//! rigid body or of a face, a node that has a contact already, rows of joints) gets a massless virtual node tied to it
//! by a damper k_v:
//!
//! ```text
//! [ A + k JᵥᵀJᵥ   −k Jᵥᵀ ] [v  ]   [b]
//! [   −k Jᵥ         k I  ] [v_v] = [0] + J_cᵀ λ
//! ```
//!
//! The matrix is never assembled: a product costs one with A and a few numbers per virtual node.
//!
//! Signs and scales: the paper's A is in kg/s and k_v in N·s/m; ours are in kg, so that k here is k_v/`force_per_lambda`.
//! Where we differ: a second contact on a node gets a virtual node, because Γ is diagonal only with one contact per node
//! (correction C6); rows of joints get one virtual node in the axes of their rows.

use crate::contact::law::RoundLaw;
use crate::contact::{ContactProblem, Law};
use crate::linalg::{Mat3, Pieces, Vec3, skew};
use crate::solvers::island::{Island, Mover};

/// Where one side of a contact acts: block of the extended unknowns.
const STATIC: u32 = u32::MAX;

/// A contact on nodes: u = R (v_a − v_b) + φ.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodalContact {
    pub frame: Mat3,
    /// Blocks of both sides.
    pub on: [u32; 2],
    pub bias: Vec3,
    pub softness: Vec3,
    pub law: Law,
}

/// A virtual node: it follows `axes · Σ movers`.
#[derive(Clone, Copy, Debug)]
struct Virtual {
    axes: Mat3,
    first: u32,
    last: u32,
}

/// The extended unknowns and their contacts.
#[derive(Default)]
pub(super) struct Nodal {
    /// k [kg].
    pub gain: f64,
    pub contacts: Vec<NodalContact>,
    /// Number of blocks without virtual nodes.
    pub real: usize,
    nodes: Vec<Virtual>,
    movers: Vec<Mover>,
    taken: Vec<bool>,
}

/// From this many blocks on products are shared out to threads.
const SHARED: usize = 20_000;

impl Nodal {
    /// Nodalizes the contacts of an island that was loaded with all contacts of `p` in order.
    pub fn load(&mut self, p: &ContactProblem, island: &Island, contacts: &[u32], gain: f64) {
        self.gain = gain;
        self.real = island.dofs() / 3;
        self.contacts.clear();
        self.nodes.clear();
        self.movers.clear();
        self.taken.clear();
        self.taken.resize(island.nodes, false);
        for (t, &c) in island.touches.iter().zip(contacts) {
            let c = c as usize;
            let movers = island.movers(t);
            let (frame, on) = match t.law {
                RoundLaw::Cone(_) => {
                    (p.j.frame[c], [self.side(island, movers, 1.0), self.side(island, movers, -1.0)])
                }
                RoundLaw::Rows(_) => (Mat3::IDENTITY, [self.push(p.j.frame[c], movers, 1.0), STATIC]),
            };
            let (bias, softness, law) = (p.bias[c], p.softness[c], p.law[c]);
            self.contacts.push(NodalContact { frame, on, bias, softness, law });
        }
    }

    /// Number of unknowns, virtual nodes included.
    pub fn dofs(&self) -> usize {
        3 * (self.real + self.nodes.len())
    }

    /// Number of virtual nodes.
    pub fn virtual_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The block on which the movers of one sign act.
    fn side(&mut self, island: &Island, movers: &[Mover], sign: f64) -> u32 {
        let mut own = movers.iter().filter(|m| m.weight * sign > 0.0);
        let Some(first) = own.next() else { return STATIC };
        let node = (first.at as usize) < island.nodes && first.weight.abs() == 1.0 && own.next().is_none();
        if node && !self.taken[first.at as usize] {
            self.taken[first.at as usize] = true;
            return first.at;
        }
        let first = self.movers.len();
        self.movers.extend(
            movers.iter().filter(|m| m.weight * sign > 0.0).map(|m| Mover { weight: m.weight * sign, ..*m }),
        );
        self.finish(Mat3::IDENTITY, first)
    }

    fn push(&mut self, axes: Mat3, movers: &[Mover], sign: f64) -> u32 {
        let first = self.movers.len();
        self.movers.extend(movers.iter().map(|m| Mover { weight: m.weight * sign, ..*m }));
        self.finish(axes, first)
    }

    fn finish(&mut self, axes: Mat3, first: usize) -> u32 {
        self.nodes.push(Virtual { axes, first: first as u32, last: self.movers.len() as u32 });
        (self.real + self.nodes.len() - 1) as u32
    }

    /// Velocity of the point that virtual node `k` follows.
    fn follow(&self, k: usize, x: &[f64]) -> Vec3 {
        let v = &self.nodes[k];
        let movers = &self.movers[v.first as usize..v.last as usize];
        v.axes * movers.iter().map(|m| m.velocity(x)).sum::<Vec3>()
    }

    /// Sets the virtual nodes of `x` to where they would be with a perfect tie: Jᵥ v (warm start, Sec. V-A).
    pub fn warm(&self, x: &mut [f64]) {
        for k in 0..self.nodes.len() {
            let v = self.follow(k, x);
            v.write_to_slice(&mut x[3 * (self.real + k)..]);
        }
    }

    /// y = A x of (15).
    pub fn mul(&self, island: &Island, pieces: &mut Pieces, x: &[f64], y: &mut [f64]) {
        let n = 3 * self.real;
        if self.real >= SHARED {
            island.a.mul_shared(&x[..n], &mut y[..n], pieces);
        } else {
            island.a.mul(&x[..n], &mut y[..n]);
        }
        for (k, v) in self.nodes.iter().enumerate() {
            let at = n + 3 * k;
            let pull = self.gain * (self.follow(k, x) - Vec3::from_slice(&x[at..]));
            (-pull).write_to_slice(&mut y[at..]);
            let p = v.axes.transpose() * pull;
            for m in &self.movers[v.first as usize..v.last as usize] {
                m.add_impulse(p, y);
            }
        }
    }

    /// η = R (v*_a − v*_b) of contact `c`, where v* = v − W r is known at its nodes alone.
    #[inline]
    pub fn predicted(&self, c: &NodalContact, v: &[f64], w: &[f64], r: &[f64]) -> Vec3 {
        let at = |b: u32| {
            if b == STATIC {
                return Vec3::ZERO;
            }
            let b = 3 * b as usize;
            Vec3::from_slice(&v[b..]) - w[b] * Vec3::from_slice(&r[b..])
        };
        c.frame * (at(c.on[0]) - at(c.on[1]))
    }

    /// r += J_cᵀ λ of one contact.
    #[inline]
    pub fn push_apart(&self, c: &NodalContact, lambda: Vec3, r: &mut [f64]) {
        let p = c.frame.transpose() * lambda;
        for (b, p) in c.on.into_iter().zip([p, -p]) {
            if b != STATIC {
                let at = 3 * b as usize;
                r[at] += p.x;
                r[at + 1] += p.y;
                r[at + 2] += p.z;
            }
        }
    }

    /// γ of contact `c` (25): the sum of the step sizes of its nodes.
    #[inline]
    pub fn gamma(&self, c: &NodalContact, w: &[f64]) -> f64 {
        c.on.iter().filter(|b| **b != STATIC).map(|b| w[3 * *b as usize]).sum()
    }

    /// Blocks that the two sides of a contact act on.
    pub fn sides(c: &NodalContact) -> impl Iterator<Item = usize> {
        c.on.into_iter().filter(|b| *b != STATIC).map(|b| b as usize)
    }

    /// What virtual nodes add to the matrix of the real unknowns, k JᵥᵀJᵥ, as blocks (row, column, values), and the
    /// norm of each of their own rows' couplings: calls `inner(i, j, block)` and `outer(i, block of −k Jᵥᵀ)`.
    pub fn each_block(
        &self,
        island: &Island,
        mut inner: impl FnMut(usize, usize, Mat3),
        mut outer: impl FnMut(usize, usize, Mat3),
    ) {
        let parts = |m: &Mover, axes: Mat3| -> [(usize, Mat3); 2] {
            let own = axes * m.weight;
            match m.arm {
                Some(arm) => [(m.at as usize, own), (m.at as usize + 1, own * skew(arm).transpose())],
                None => [(m.at as usize, own), (usize::MAX, Mat3::ZERO)],
            }
        };
        debug_assert!(self.real == island.dofs() / 3);
        for (k, v) in self.nodes.iter().enumerate() {
            let movers = &self.movers[v.first as usize..v.last as usize];
            for m in movers {
                for (i, g) in parts(m, v.axes) {
                    if i == usize::MAX {
                        continue;
                    }
                    outer(i, k, g.transpose() * -self.gain);
                    for o in movers {
                        for (j, q) in parts(o, v.axes) {
                            if j != usize::MAX {
                                inner(i, j, g.transpose() * q * self.gain);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The matrix of (15), row-major and dense.
    #[cfg(test)]
    pub fn assemble(&self, island: &Island) -> Vec<f64> {
        let n = self.dofs();
        let mut dense = vec![0.0; n * n];
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        for c in 0..n {
            x[c] = 1.0;
            self.mul(island, &mut Pieces::default(), &x, &mut y);
            x[c] = 0.0;
            for r in 0..n {
                dense[r * n + c] = y[r];
            }
        }
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::soft_samples::{Plates, SoftBlock};
    use crate::linalg::Cholesky;
    use crate::papers::cond::step_size::{StepSize, Steps};

    /// A block between free plates: nodes on the ground, nodes against bodies; and node 0 touches a wall too.
    fn sample(gain: f64) -> (Island, Nodal) {
        let mut p = SoftBlock::with_plates([2, 2, 2], Plates::Free { mass: 0.5, push: 1.0 }).problem();
        let turn = Mat3::from_rotation_y(0.4).transpose();
        let terms = p.j.terms(0).to_vec();
        p.j.push(turn * p.j.frame[0], terms);
        p.bias.push(Vec3::ZERO);
        p.law.push(p.law[0]);
        p.softness.push(Vec3::ZERO);
        let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
        let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
        let (mut island, mut nodal) = (Island::default(), Nodal::default());
        island.load(&p, &blocks, &contacts);
        nodal.load(&p, &island, &contacts, gain);
        (island, nodal)
    }

    /// Prop. 1.
    #[test]
    fn the_extended_matrix_is_symmetric_and_positive_definite() {
        let (island, nodal) = sample(30.0);
        let (n, a) = (nodal.dofs(), nodal.assemble(&island));
        assert!(nodal.virtual_nodes() > 3 && n == island.dofs() + 3 * nodal.virtual_nodes());
        for r in 0..n {
            for c in 0..r {
                assert!((a[r * n + c] - a[c * n + r]).abs() < 1e-12);
            }
        }
        let mut factor = Cholesky::default();
        factor.factor(&a, n);
        let mut x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (b, mut y) = (x.clone(), vec![0.0; n]);
        factor.solve(&mut x);
        nodal.mul(&island, &mut Pieces::default(), &x, &mut y);
        assert!(y.iter().zip(&b).all(|(y, b)| (y - b).abs() < 1e-9), "the factor exists and solves");
    }

    /// Γ = J_c W J_cᵀ as a dense matrix of 3×3 blocks.
    fn gamma_blocks(nodal: &Nodal, w: &[f64]) -> Vec<Vec<Mat3>> {
        let n = nodal.contacts.len();
        let mut all = vec![vec![Mat3::ZERO; n]; n];
        let rest = vec![0.0; nodal.dofs()];
        for d in 0..n {
            for k in 0..3 {
                let mut r = rest.clone();
                nodal.push_apart(&nodal.contacts[d], -Vec3::AXES[k], &mut r);
                for c in 0..n {
                    *all[c][d].col_mut(k) = nodal.predicted(&nodal.contacts[c], &rest, w, &r);
                }
            }
        }
        all
    }

    /// Prop. 3, and what breaks it (C6): the same node in two contacts.
    #[test]
    fn the_surrogate_delassus_matrix_is_diagonal_with_one_contact_per_node() {
        let (island, mut nodal) = sample(30.0);
        let mut steps = Steps::default();
        steps.start(StepSize::Frobenius, 1, &nodal, &island);
        let blocks = gamma_blocks(&nodal, &steps.w);
        for c in 0..nodal.contacts.len() {
            for d in 0..nodal.contacts.len() {
                let g = if c == d { nodal.gamma(&nodal.contacts[c], &steps.w) } else { 0.0 };
                let off = blocks[c][d] - Mat3::from_diagonal(Vec3::splat(g));
                assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-14), "{c} {d}: {off}");
            }
        }
        // The last contact on the node of the first instead of on its virtual node.
        let last = nodal.contacts.len() - 1;
        nodal.contacts[last].on = nodal.contacts[0].on;
        let off = gamma_blocks(&nodal, &steps.w)[0][last];
        assert!(off.to_cols_array().iter().any(|x| x.abs() > 0.1 * steps.w[0]), "{off}");
    }

    /// C4: the step sizes minimise n − 2 Σ w a_ii + Σ w² ‖A_i*‖² over one number per contact node.
    #[test]
    fn frobenius_step_sizes_minimise_the_norm() {
        let (island, nodal) = sample(30.0);
        let (n, a) = (nodal.dofs(), nodal.assemble(&island));
        let mut steps = Steps::default();
        steps.start(StepSize::Frobenius, 1, &nodal, &island);
        let unit = |i: usize| steps.unit.get(i / 3).copied().unwrap_or(1.0);
        let norm = |w: &[f64]| -> f64 {
            let entry =
                |r: usize, c: usize| (f64::from(u8::from(r == c)) - w[r] * a[r * n + c]) * unit(r) / unit(c);
            (0..n * n).map(|k| entry(k / n, k % n).powi(2)).sum()
        };
        let least = norm(&steps.w);
        // The node in the middle has no contact; the halves of a body are free of each other.
        let first = island.nodes as u32;
        assert!(steps.unit[first as usize + 1] < 0.1, "radians are long for small bodies");
        let alone = [13, first].map(|b| NodalContact { on: [b, STATIC], ..nodal.contacts[0] });
        for c in nodal.contacts.iter().chain(&alone) {
            for factor in [0.99, 1.01] {
                let mut w = steps.w.clone();
                for b in Nodal::sides(c) {
                    w[3 * b..3 * b + 3].iter_mut().for_each(|w| *w *= factor);
                }
                assert!(norm(&w) > least, "{:?}", c.on);
            }
        }
    }
}
