//! The lattice multigrid: one forward sweep down, one backward sweep up, dense on the coarsest level.
//!
//! Coarse matrices are made from A without contacts, anew for every problem: what they hold of earlier ones would make the
//! answer depend on the past. A problem whose guess is its answer makes none. Contacts enter them as a penalty
//! `κ diag(A_s)` on the directions in which a slave is bound, or the mean of the nodes that carry the contact together,
//! through the trilinear weights. Where the slave follows a rigid body the penalty ties lattice and body, and the bodies
//! are solved with the coarsest level.

use super::bodies::{Bodies, Link, single, wide};
use super::lattice::{self, Level};
use super::modes::{Mode, Modes};
use crate::contact::law::RoundLaw;
use crate::linalg::sweep32::Vec4f;
use crate::linalg::{Cholesky, DenseLu, Mat3, Vec3};
use crate::solvers::island::{Island, NONE};
use std::collections::BTreeMap;

/// Strength of the penalty; 0.5 to 50 are as good.
pub(super) const KAPPA: f64 = 2.0;
/// Coarsest levels up to this size are solved densely.
const DENSE: usize = 700;
/// Symmetric sweeps on a coarsest level that is larger.
const SWEEPS: usize = 4;
/// Share of the diagonal that is added to the coarsest level: points with few nodes leave it nearly singular.
const SHIFT: f64 = 1e-5;
/// Coarse matrices learn the contacts anew where more than one in so many has changed.
const FEW: usize = 100;

/// Most nodes that carry a contact together: those of a face.
const MOST_NODES: usize = 3;

/// A sum of nodes, each with a weight, that a contact binds, with the directions in which it does: κ d (I − Z).
#[derive(Clone, Copy)]
struct Bound {
    node: [u32; MOST_NODES],
    /// One for the slave, zero for nodes that do not exist.
    weight: [f64; MOST_NODES],
    /// The body that the slave follows.
    link: Option<Link>,
    /// First of the places of the 8 × 8 coarse blocks of two nodes, level by level.
    places: [[u32; MOST_NODES]; MOST_NODES],
    stiffness: Mat3,
}

impl Bound {
    /// Calls `f` with the points of a level that carry the contact, and their weights.
    fn each_point(&self, level: &Level, mut f: impl FnMut(usize, f64)) {
        for (node, share) in self.node.iter().zip(&self.weight).filter(|(_, w)| **w != 0.0) {
            let c = &level.from_nodes[*node as usize];
            for k in 0..8 {
                f(c.at[k] as usize, share * c.weight[k] as f64);
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Multigrid {
    levels: Vec<Level>,
    /// Version of the island's pattern that the lattices were made for.
    version: usize,
    /// The coarse matrices are those of the present problem.
    fresh: bool,
    bound: Vec<Bound>,
    /// How each node was bound when coarse matrices last learnt the contacts of this problem, and is now.
    known: Vec<Mode>,
    now: Vec<Mode>,
    /// Where places of two nodes begin in `places`.
    places_of: BTreeMap<(u32, u32), u32>,
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

    /// A new problem: makes the lattices where the pattern is new.
    pub fn load(&mut self, island: &Island, places: &[Vec3]) {
        if self.version != island.version {
            self.version = island.version;
            self.levels = lattice::build(island, places);
            self.places_of.clear();
            self.places.clear();
        }
        self.fresh = false;
        self.body_r.resize(2 * island.bodies, [0.0; 4]);
    }

    /// Makes the coarse matrices of the present problem, once; A must be free of contacts.
    pub fn refresh(&mut self, island: &Island) {
        if !self.fresh {
            lattice::refresh(&mut self.levels, island);
            self.known.clear();
            self.fresh = true;
        }
    }

    /// Puts the contacts into the coarse matrices and factors the coarsest. Where hardly any has changed since the last time in this
    /// solve, they stay as they are.
    pub fn mask(&mut self, island: &Island, modes: &Modes, bodies: &Bodies) {
        self.now.clear();
        self.now.resize(island.nodes, Mode::Open);
        for (t, a) in island.touches.iter().zip(&modes.active).filter(|(_, a)| a.mode != Mode::Open) {
            for m in island.movers(t).iter().filter(|m| (m.at as usize) < island.nodes) {
                self.now[m.at as usize] = a.mode;
            }
        }
        let changed = self.now.iter().zip(&self.known).filter(|(a, b)| a != b).count();
        let is_known = self.known.len() == self.now.len() && island.bodies == 0;
        if is_known && FEW * changed <= island.touches.len() {
            return;
        }
        std::mem::swap(&mut self.known, &mut self.now);
        self.find_bound(island, modes, bodies);
        for (l, level) in self.levels.iter_mut().enumerate() {
            level.restore();
            for b in &self.bound {
                let q = b.stiffness.to_cols_array();
                for (m, n) in (0..MOST_NODES).flat_map(|m| (0..MOST_NODES).map(move |n| (m, n))) {
                    let share = b.weight[m] * b.weight[n];
                    if share == 0.0 {
                        continue;
                    }
                    let (from, to) = (b.node[m] as usize, b.node[n] as usize);
                    let (from, to) = (level.from_nodes[from].weight, level.from_nodes[to].weight);
                    let places = &self.places[b.places[m][n] as usize + l];
                    for i in 0..8 {
                        for j in 0..8 {
                            let w = from[i] * to[j];
                            if w != 0.0 {
                                let to = level.matrix.block_mut(places[8 * i + j] as usize);
                                for k in 0..9 {
                                    to[k] += w * (share * q[k]) as f32;
                                }
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
            let is_cone = matches!(t.law, RoundLaw::Cone(_));
            let is_known = a.slave != NONE || (is_cone && t.is_shared);
            if a.mode == Mode::Open || !is_known {
                continue;
            }
            let movers = island.movers(t);
            let nodes = movers.iter().filter(|m| m.arm.is_none()).count();
            // Nodes of several bodies: both sides are soft and move together.
            if nodes > 1 && !t.is_shared || nodes > MOST_NODES {
                continue;
            }
            let main = match a.slave {
                NONE => movers.iter().max_by(|m, o| m.weight.abs().total_cmp(&o.weight.abs())),
                k => movers.get(k as usize),
            };
            let Some(main) = main.copied() else { continue };
            let d = island.a.diagonal(main.at as usize);
            let n = t.normal();
            let directions = if a.mode == Mode::Stick {
                Mat3::IDENTITY
            } else {
                Mat3::from_cols(n * n.x, n * n.y, n * n.z)
            };
            let mut bound = Bound {
                node: [main.at; MOST_NODES],
                weight: [0.0; MOST_NODES],
                link: if a.slave == NONE { None } else { bodies.link_of(main.at) },
                places: [[0; MOST_NODES]; MOST_NODES],
                stiffness: directions * (KAPPA * (d[0] + d[4] + d[8]) / 3.0),
            };
            for (k, m) in movers.iter().filter(|m| m.arm.is_none()).enumerate() {
                (bound.node[k], bound.weight[k]) = (m.at, m.weight / main.weight);
            }
            self.bound.push(bound);
        }
        for k in 0..self.bound.len() {
            let Bound { node, weight, .. } = self.bound[k];
            for (m, n) in (0..MOST_NODES).flat_map(|m| (0..MOST_NODES).map(move |n| (m, n))) {
                if weight[m] * weight[n] != 0.0 {
                    self.bound[k].places[m][n] = self.place(node[m], node[n]);
                }
            }
        }
    }

    /// First of the places of the coarse blocks of two nodes, level by level.
    fn place(&mut self, one: u32, two: u32) -> u32 {
        if let Some(at) = self.places_of.get(&(one, two)) {
            return *at;
        }
        let first = self.places.len() as u32;
        for level in &self.levels {
            let (c, d) = (&level.from_nodes[one as usize], &level.from_nodes[two as usize]);
            let mut places = [0; 64];
            for i in 0..8 {
                let range = level.matrix.range(c.at[i] as usize);
                let row = &level.matrix.columns()[range.clone()];
                for j in 0..8 {
                    if c.weight[i] * d.weight[j] != 0.0 {
                        let at =
                            row.binary_search(&d.at[j]).expect("corners of nodes that A couples are coupled");
                        places[8 * i + j] = (range.start + at) as u32;
                    }
                }
            }
            self.places.push(places);
        }
        self.places_of.insert((one, two), first);
        first
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
                b.each_point(level, |at, w| {
                    add_block(&mut self.dense, n, row, 3 * at, pull * -w);
                    add_block(&mut self.dense, n, 3 * at, row, b.stiffness * link.g[h] * -w);
                });
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
                    let mut v = Vec3::ZERO;
                    b.each_point(level, |at, w| v += w * wide(&level.x[at]));
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
                let p = b.stiffness * v;
                let mut r = std::mem::take(&mut f.r);
                b.each_point(f, |at, w| give(&mut r[at], &single(p * w)));
                f.r = r;
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
