//! The preconditioner: a symmetric Gauss–Seidel sweep over nodes, with the rigid bodies solved together before and
//! after it. Rows of slaves are masked: they do not move (stick) or stay in their tangent plane (slip).
//!
//! A contact of several nodes of one body, such as a rigid corner on a soft face, binds none of them by itself: it enters as
//! a penalty `κ d (Σ w v / w_s)²` between its nodes, which A couples anyway, and its slave is not masked. What T y costs is
//! at most a fixed multiple of the least that any motion of the slave costs with the penalty, however fine the mesh.

use super::bodies::{Bodies, each_held, held_spring, mat};
use super::modes::{Active, Mode, Modes};
use super::multigrid::{KAPPA, Multigrid};
use crate::linalg::sweep32::Vec4f;
use crate::linalg::{Mat3, Vec3};
use crate::solvers::island::{Island, NONE, Touch};

#[derive(Default)]
pub(super) struct Preconditioner {
    pub bodies: Bodies,
    /// What is added to the diagonal block of a node; `extra_at` says where it stands.
    extra: Vec<Mat3>,
    extra_at: Vec<u32>,
    /// Nodes whose inverse differs from that of A's own block.
    changed: Vec<u32>,
    r: Vec<Vec4f>,
    x: Vec<Vec4f>,
    force: Vec<Vec4f>,
    rest: Vec<Vec4f>,
    multigrid: Multigrid,
    /// Slaves and the direction that they may not move in; zero where they may not move at all.
    masked: Vec<(u32, [f32; 3])>,
    /// Blocks of A to which penalties were added, as they were.
    patched: Vec<(u32, [f32; 9])>,
}

impl Preconditioner {
    /// New values of A: inverts the diagonal blocks. With places of the nodes it uses lattices, else sweeps alone.
    pub fn load(&mut self, island: &mut Island, places: Option<&[Vec3]>) {
        for i in 0..island.nodes {
            island.low.invert_diagonal(i);
        }
        // Bodies are solved apart.
        for i in island.nodes..island.low.rows() {
            island.low.set_inverse(i, [0.0; 9]);
        }
        self.changed.clear();
        self.patched.clear();
        let n = island.low.rows();
        self.r.resize(n, [0.0; 4]);
        self.x.resize(n, [0.0; 4]);
        self.rest.resize(n, [0.0; 4]);
        self.force.resize(n - island.nodes, [0.0; 4]);
        match places {
            Some(places) => self.multigrid.load(island, places),
            None => self.multigrid.clear(),
        }
    }

    /// Lets coarse levels know the modes of the last [`patch`](Preconditioner::patch).
    pub fn mask_lattices(&mut self, island: &Island, modes: &Modes) {
        if !self.multigrid.is_empty() {
            self.multigrid.mask(island, modes, &self.bodies);
        }
    }

    /// New modes: patches the inverses of slaves, masters and nodes of held contacts, and factors the bodies.
    pub fn patch(&mut self, island: &mut Island, modes: &Modes) {
        for (e, block) in self.patched.drain(..).rev() {
            *island.low.block_mut(e as usize) = block;
        }
        if !self.multigrid.is_empty() {
            self.multigrid.refresh(island);
        }
        for &i in &self.changed {
            island.low.invert_diagonal(i as usize);
        }
        self.changed.clear();
        self.masked.clear();
        self.collect_extra(island, modes);
        self.couple(island, modes);
        for (t, a) in island.touches.iter().zip(&modes.active) {
            if a.mode == Mode::Open || a.slave == NONE || t.is_shared {
                continue;
            }
            let slave = island.movers(t)[a.slave as usize];
            let i = slave.at as usize;
            let mut inverse = Mat3::ZERO;
            let across = if a.mode == Mode::Slip { t.normal() } else { Vec3::ZERO };
            self.masked.push((slave.at, across.to_array().map(|x| x as f32)));
            if a.mode == Mode::Slip {
                let mut d = mat(island.low.block(island.low.diagonal_place(i)));
                if self.extra_at[i] != NONE {
                    d += self.extra[self.extra_at[i] as usize];
                }
                // w² Fᵀ (k t tᵀ) F of the resistance across the slip.
                let t_world = slave.weight * (t.frame.transpose() * a.across);
                d += outer(t_world, t_world);
                inverse = tangent_inverse(&d, t.normal());
            }
            island.low.set_inverse(i, inverse.to_cols_array().map(|x| x as f32));
            self.changed.push(slave.at);
        }
        for i in 0..island.nodes {
            let is_masked = match modes.slave_of[i] {
                NONE => false,
                c => !island.touches[c as usize].is_shared,
            };
            if self.extra_at[i] != NONE && !is_masked {
                let d = mat(island.low.block(island.low.diagonal_place(i)))
                    + self.extra[self.extra_at[i] as usize];
                island.low.set_inverse(i, d.inverse().to_cols_array().map(|x| x as f32));
                self.changed.push(i as u32);
            }
        }
        self.bodies.prepare(island, modes);
        let mut root = std::mem::take(&mut island.inverse_root);
        self.bodies.add_followers(island, &mut root);
        island.inverse_root = root;
    }

    /// Springs of held contacts, and the stiffness that slaves hand to the nodes they follow.
    fn collect_extra(&mut self, island: &Island, modes: &Modes) {
        self.extra.clear();
        self.extra_at.clear();
        self.extra_at.resize(island.nodes, NONE);
        let (extra, at) = (&mut self.extra, &mut self.extra_at);
        let mut add = |i: u32, m: Mat3| {
            let place = &mut at[i as usize];
            if *place == NONE {
                *place = extra.len() as u32;
                extra.push(Mat3::ZERO);
            }
            extra[*place as usize] += m;
        };
        let first = island.nodes as u32;
        each_held(island, modes, |a, ga, b, gb, p| {
            if a == b && a < first {
                add(a, ga[0].transpose() * p * gb[0]);
            }
        });
        for (t, a) in island.touches.iter().zip(&modes.active) {
            if a.mode == Mode::Open || a.slave == NONE {
                continue;
            }
            let movers = island.movers(t);
            if t.is_shared {
                let p = penalty(island, t, a);
                movers.iter().for_each(|m| add(m.at, p * (m.weight * m.weight)));
                continue;
            }
            let slave = &movers[a.slave as usize];
            for m in movers.iter().filter(|m| m.at != slave.at && m.arm.is_none()) {
                let mut d = mat(island.low.block(island.low.diagonal_place(slave.at as usize)));
                if a.mode == Mode::Slip {
                    let n = t.normal();
                    d = outer(n, n) * n.dot(d * n);
                }
                let ratio = m.weight / slave.weight;
                add(m.at, d * (ratio * ratio));
            }
        }
    }

    /// Adds penalties and springs of contacts of several nodes to the blocks between them.
    fn couple(&mut self, island: &mut Island, modes: &Modes) {
        for c in 0..island.touches.len() {
            let (t, a) = (island.touches[c], &modes.active[c]);
            if a.mode == Mode::Open || !t.is_shared {
                continue;
            }
            let p = if a.slave == NONE { held_spring(&t, a) } else { penalty(island, &t, a) };
            let count = island.movers(&t).len();
            for i in 0..count {
                for j in (0..count).filter(|j| *j != i) {
                    let (one, two) = (island.movers(&t)[i], island.movers(&t)[j]);
                    let Some(e) = island.place(one.at, two.at) else { continue };
                    let block = island.low.block_mut(e);
                    self.patched.push((e as u32, *block));
                    let add = (p * (one.weight * two.weight)).to_cols_array();
                    for k in 0..9 {
                        block[k] += add[k] as f32;
                    }
                }
            }
        }
    }

    /// z ≈ (S A T)⁻¹ r.
    pub fn apply(&mut self, island: &Island, r: &[f64], z: &mut [f64]) {
        for (to, from) in self.r.iter_mut().zip(r.chunks_exact(3)) {
            *to = [from[0] as f32, from[1] as f32, from[2] as f32, 0.0];
        }
        if self.multigrid.is_empty() {
            self.symmetric_sweep(island);
        } else {
            self.cycle(island);
        }
        for (to, from) in z.chunks_exact_mut(3).zip(&self.x) {
            for k in 0..3 {
                to[k] = from[k] as f64;
            }
        }
    }

    /// Bodies, nodes forward, nodes backward, bodies.
    fn symmetric_sweep(&mut self, island: &Island) {
        let nodes = island.nodes;
        if self.bodies.is_empty() {
            island.low.forward(&self.r, &mut self.x);
            island.low.backward_half(&mut self.x);
            return;
        }
        let (bodies, x) = (&mut self.bodies, &mut self.x);
        bodies.solve(&self.r[nodes..], &mut x[nodes..]);
        bodies.subtract_motion(island, x, &mut self.r);
        self.force.copy_from_slice(&x[nodes..]);
        island.low.forward(&self.r, x);
        x[nodes..].fill([0.0; 4]);
        island.low.backward_half(x);
        // x_b −= B⁻¹ Tᵀ A x_nodes.
        bodies.force_of_nodes(island, x, &mut self.r[nodes..]);
        bodies.solve(&self.r[nodes..], &mut x[nodes..]);
        for (x, y) in x[nodes..].iter_mut().zip(&self.force) {
            for k in 0..3 {
                x[k] = y[k] - x[k];
            }
        }
    }

    /// Nodes forward, coarse correction with the bodies, nodes backward, bodies.
    fn cycle(&mut self, island: &Island) {
        let nodes = island.nodes;
        let (bodies, x) = (&mut self.bodies, &mut self.x);
        island.low.forward(&self.r, x);
        x[nodes..].fill([0.0; 4]);
        island.low.residual_after_forward(x, &mut self.rest);
        project(&self.masked, &mut self.rest);
        if !bodies.is_empty() {
            bodies.force_of_nodes(island, x, &mut self.force);
            for (f, r) in self.force.iter_mut().zip(&self.r[nodes..]) {
                for k in 0..3 {
                    f[k] = r[k] - f[k];
                }
            }
        }
        self.multigrid.correct(island, &self.rest, &self.force, x);
        project(&self.masked, x);
        if bodies.is_empty() {
            island.low.backward(&self.r, x);
            return;
        }
        bodies.subtract_motion(island, x, &mut self.r);
        // Body columns stay out of the sweep over nodes.
        x[nodes..].fill([0.0; 4]);
        island.low.backward(&self.r, x);
        bodies.force_of_nodes(island, x, &mut self.force);
        for (f, r) in self.force.iter_mut().zip(&self.r[nodes..]) {
            for k in 0..3 {
                f[k] = r[k] - f[k];
            }
        }
        bodies.solve(&self.force, &mut x[nodes..]);
    }
}

/// What a slaved contact of several nodes costs per velocity of its point: bound directions, and resistance across a slip.
fn penalty(island: &Island, t: &Touch, a: &Active) -> Mat3 {
    let slave = &island.movers(t)[a.slave as usize];
    let d = island.a.diagonal(slave.at as usize);
    let d = (d[0] + d[4] + d[8]) / (3.0 * slave.weight * slave.weight);
    let n = t.normal();
    let bound = if a.mode == Mode::Stick { Mat3::IDENTITY } else { outer(n, n) };
    let across = t.frame.transpose() * a.across;
    bound * (KAPPA * d) + outer(across, across)
}

/// Takes off what slaves may not do.
fn project(masked: &[(u32, [f32; 3])], x: &mut [Vec4f]) {
    for (i, n) in masked {
        let x = &mut x[*i as usize];
        let along = n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
        let free = *n != [0.0; 3];
        for k in 0..3 {
            x[k] = if free { x[k] - along * n[k] } else { 0.0 };
        }
    }
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The inverse of `d` in the plane across `n`; zero along `n`.
fn tangent_inverse(d: &Mat3, n: Vec3) -> Mat3 {
    let (a, b) = crate::linalg::tangents(n);
    let (da, db) = (*d * a, *d * b);
    let (aa, ab, bb) = (a.dot(da), a.dot(db), b.dot(db));
    let det = aa * bb - ab * ab;
    if det.is_nan() || det <= 0.0 {
        return Mat3::ZERO;
    }
    (outer(a, a) * bb - (outer(a, b) + outer(b, a)) * ab + outer(b, b) * aa) * (1.0 / det)
}
