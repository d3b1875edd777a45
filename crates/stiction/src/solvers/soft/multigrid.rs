//! The lattice multigrid: one forward sweep down, one backward sweep up, dense on the coarsest level.
//!
//! Coarse matrices are made from A without contacts and may be some steps old; contacts enter them as a penalty
//! `κ diag(A_s)` on the directions in which a slave is bound, through the trilinear weights. Where the slave follows a
//! rigid body the penalty ties lattice and body, and the bodies are solved with the coarsest level.

use super::bodies::{Bodies, Link, single, wide};
use super::island::{Island, NONE};
use super::lattice::{self, Level};
use super::modes::{Mode, Modes};
use crate::linalg::sweep32::Vec4f;
use crate::linalg::{Cholesky, DenseLu, Mat3, Vec3};

/// Strength of the penalty; 0.5 to 50 are as good.
const KAPPA: f64 = 2.0;
/// Coarsest levels up to this size are solved densely.
const DENSE: usize = 700;
/// Symmetric sweeps on a coarsest level that is larger.
const SWEEPS: usize = 4;
/// Share of the diagonal that is added to the coarsest level: points with few nodes leave it nearly singular.
const SHIFT: f64 = 1e-5;
/// New coarse matrices cost about as much as this many products.
const REBUILD: f64 = 25.0;

/// A node that a contact binds, with the directions in which it does: κ d (I − Z).
#[derive(Clone, Copy)]
struct Bound {
    node: u32,
    /// The body that it follows.
    link: Option<Link>,
    /// First of the places of its 8 × 8 coarse blocks, level by level.
    places: u32,
    stiffness: Mat3,
}

#[derive(Default)]
pub(super) struct Multigrid {
    levels: Vec<Level>,
    /// Version of the island's pattern that the lattices were made for.
    version: usize,
    fresh: bool,
    best: usize,
    excess: f64,
    bound: Vec<Bound>,
    /// Where places of a node begin in `places`.
    places_of: Vec<u32>,
    places: Vec<[u32; 64]>,
    dense: Vec<f64>,
    /// Factor of the coarsest level; with bodies it has no symmetry.
    factor: Cholesky,
    factor_bodies: DenseLu,
    rhs: Vec<f64>,
    body_r: Vec<Vec4f>,
}

impl Multigrid {
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    pub fn clear(&mut self) {
        self.levels.clear();
        self.version = 0;
    }

    /// A new problem: makes the lattices where the pattern is new, and new coarse matrices where they pay.
    pub fn load(&mut self, island: &Island, places: &[Vec3]) {
        if self.version != island.version {
            self.version = island.version;
            self.levels = lattice::build(island, places);
            self.places_of.clear();
            self.places_of.resize(island.nodes, NONE);
            self.places.clear();
            self.fresh = false;
        }
        if !self.fresh {
            lattice::refresh(&mut self.levels, island);
            self.fresh = true;
            self.best = usize::MAX;
            self.excess = 0.0;
        }
        self.body_r.resize(2 * island.bodies, [0.0; 4]);
    }

    /// Told how many products a solve took: coarse matrices are renewed when the excess has cost as much.
    pub fn learn(&mut self, products: usize) {
        self.best = self.best.min(products);
        self.excess += (products - self.best) as f64;
        if self.excess > REBUILD {
            self.fresh = false;
        }
    }

    /// Puts the contacts into the coarse matrices and factors the coarsest.
    pub fn mask(&mut self, island: &Island, modes: &Modes, bodies: &Bodies) {
        self.find_bound(island, modes, bodies);
        for (l, level) in self.levels.iter_mut().enumerate() {
            level.restore();
            for b in &self.bound {
                let c = &level.from_nodes[b.node as usize];
                let places = &self.places[b.places as usize + l];
                for i in 0..8 {
                    for j in 0..8 {
                        let w = c.weight[i] * c.weight[j];
                        if w != 0.0 {
                            let to = level.matrix.block_mut(places[8 * i + j] as usize);
                            let q = b.stiffness.to_cols_array();
                            for k in 0..9 {
                                to[k] += w * q[k] as f32;
                            }
                        }
                    }
                }
            }
            level.invert_diagonals();
        }
        self.factor_coarsest(island, bodies);
    }

    fn find_bound(&mut self, island: &Island, modes: &Modes, bodies: &Bodies) {
        self.bound.clear();
        for (t, a) in island.touches.iter().zip(&modes.active) {
            if a.mode == Mode::Open || a.slave == NONE {
                continue;
            }
            let movers = island.movers(t);
            // Slaves of other nodes: both sides are soft and move together.
            if movers.iter().enumerate().any(|(k, m)| k as u32 != a.slave && m.arm.is_none()) {
                continue;
            }
            let node = movers[a.slave as usize].at;
            let d = island.a.diagonal(node as usize);
            let n = t.normal();
            let directions = if a.mode == Mode::Stick {
                Mat3::IDENTITY
            } else {
                Mat3::from_cols(n * n.x, n * n.y, n * n.z)
            };
            let stiffness = directions * (KAPPA * (d[0] + d[4] + d[8]) / 3.0);
            self.bound.push(Bound { node, link: bodies.link_of(node), places: 0, stiffness });
        }
        for k in 0..self.bound.len() {
            let node = self.bound[k].node as usize;
            if self.places_of[node] == NONE {
                self.places_of[node] = self.places.len() as u32;
                for level in &self.levels {
                    let c = &level.from_nodes[node];
                    let mut places = [0; 64];
                    for i in 0..8 {
                        let range = level.matrix.range(c.at[i] as usize);
                        let row = &level.matrix.columns()[range.clone()];
                        for j in 0..8 {
                            if c.weight[i] * c.weight[j] != 0.0 {
                                let at =
                                    row.binary_search(&c.at[j]).expect("corners of one node are coupled");
                                places[8 * i + j] = (range.start + at) as u32;
                            }
                        }
                    }
                    self.places.push(places);
                }
            }
            self.bound[k].places = self.places_of[node];
        }
    }

    /// The coarsest level with the bodies, dense.
    fn factor_coarsest(&mut self, island: &Island, bodies: &Bodies) {
        let Some(level) = self.levels.last() else { return };
        let points = level.points();
        let n = 3 * points + 6 * island.bodies;
        if n > DENSE {
            self.factor.factor(&[], 0);
            self.factor_bodies.factor(&[], 0);
            return;
        }
        self.dense.clear();
        self.dense.resize(n * n, 0.0);
        for a in 0..points {
            for e in level.matrix.range(a) {
                let b = level.matrix.columns()[e] as usize;
                let m = level.matrix.block(e);
                for r in 0..3 {
                    for c in 0..3 {
                        self.dense[(3 * a + r) * n + 3 * b + c] = m[3 * c + r] as f64;
                    }
                }
            }
        }
        let first = 3 * points;
        bodies.add_free(island, &mut self.dense, n, first);
        for b in &self.bound {
            let Some(link) = &b.link else { continue };
            let c = &level.from_nodes[b.node as usize];
            for h in 0..2 {
                let row = first + 6 * link.body as usize + 3 * h;
                let pull = link.left[h] * b.stiffness;
                for k in 0..2 {
                    add_block(
                        &mut self.dense,
                        n,
                        row,
                        first + 6 * link.body as usize + 3 * k,
                        pull * link.g[k],
                    );
                }
                for k in 0..8 {
                    let at = 3 * c.at[k] as usize;
                    let w = -c.weight[k] as f64;
                    add_block(&mut self.dense, n, row, at, pull * w);
                    add_block(&mut self.dense, n, at, row, b.stiffness * link.g[h] * w);
                }
            }
        }
        for i in 0..n {
            self.dense[i * n + i] *= 1.0 + SHIFT;
        }
        if island.bodies > 0 {
            self.factor.factor(&[], 0);
            self.factor_bodies.factor(&self.dense, n);
        } else {
            self.factor.factor(&self.dense, n);
            self.factor_bodies.factor(&[], 0);
        }
        self.rhs.resize(n, 0.0);
    }

    /// Adds the coarse correction of the residual `rest` to the nodes in `x`, and sets the bodies in `x` from the
    /// residual `body` on them. `rest` must not push on what is bound.
    pub fn correct(&mut self, island: &Island, rest: &[Vec4f], body: &[Vec4f], x: &mut [Vec4f]) {
        let count = self.levels.len();
        self.body_r.copy_from_slice(body);
        for l in 0..count {
            let (finer, coarser) = self.levels.split_at_mut(l);
            let level = &mut coarser[0];
            level.restrict(finer.last().map_or(&rest[..island.nodes], |f| &f.rest));
            if l + 1 < count {
                level.matrix.forward(&level.r, &mut level.x);
                level.matrix.residual_after_forward(&level.x, &mut level.rest);
                // Bodies feel what the sweep has moved.
                for b in &self.bound {
                    let Some(link) = &b.link else { continue };
                    let c = &level.from_nodes[b.node as usize];
                    let mut v = Vec3::ZERO;
                    for k in 0..8 {
                        v += c.weight[k] as f64 * wide(&level.x[c.at[k] as usize]);
                    }
                    let p = b.stiffness * v;
                    for h in 0..2 {
                        let to = &mut self.body_r[2 * link.body as usize + h];
                        give(to, &single(link.left[h] * p));
                    }
                }
            }
        }
        self.solve_coarsest(island, x);
        for l in (0..count).rev() {
            let (finer, coarser) = self.levels.split_at_mut(l);
            let level = &coarser[0];
            let Some(f) = finer.last_mut() else {
                level.prolong(&mut x[..island.nodes]);
                break;
            };
            level.prolong(&mut f.x);
            // The bodies' motion pulls on the lattice.
            for b in &self.bound {
                let Some(link) = &b.link else { continue };
                let at = island.nodes + 2 * link.body as usize;
                let v = link.g[0] * wide(&x[at]) + link.g[1] * wide(&x[at + 1]);
                let p = single(b.stiffness * v);
                let c = &f.from_nodes[b.node as usize];
                for k in 0..8 {
                    let to = &mut f.r[c.at[k] as usize];
                    for d in 0..3 {
                        to[d] += c.weight[k] * p[d];
                    }
                }
            }
            f.matrix.backward(&f.r, &mut f.x);
        }
    }

    fn solve_coarsest(&mut self, island: &Island, x: &mut [Vec4f]) {
        let Some(level) = self.levels.last_mut() else { return };
        if self.factor.rows() == 0 && self.factor_bodies.rows() == 0 {
            level.matrix.forward(&level.r, &mut level.x);
            level.matrix.backward_half(&mut level.x);
            for _ in 1..SWEEPS {
                level.matrix.backward(&level.r, &mut level.x);
            }
            x[island.nodes..].fill([0.0; 4]);
            return;
        }
        for (to, from) in self.rhs.chunks_exact_mut(3).zip(level.r.iter().chain(&self.body_r)) {
            for k in 0..3 {
                to[k] = from[k] as f64;
            }
        }
        if self.factor.rows() > 0 {
            self.factor.solve(&mut self.rhs);
        } else {
            self.factor_bodies.solve(&mut self.rhs);
        }
        let to = level.x.iter_mut().chain(&mut x[island.nodes..]);
        for (from, to) in self.rhs.chunks_exact(3).zip(to) {
            *to = [from[0] as f32, from[1] as f32, from[2] as f32, 0.0];
        }
    }
}

fn add_block(to: &mut [f64], n: usize, row: usize, col: usize, m: Mat3) {
    for c in 0..3 {
        let x = m.col(c);
        for r in 0..3 {
            to[(row + r) * n + col + c] += x[r];
        }
    }
}

fn give(x: &mut Vec4f, y: &Vec4f) {
    for k in 0..3 {
        x[k] += y[k];
    }
}
