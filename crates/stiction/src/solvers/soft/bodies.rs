//! Rigid bodies in the preconditioner: one dense matrix over all of them that knows the nodes that follow them, the
//! contacts that are held, and the couplings of A.

use super::modes::{Active, Mode, Modes};
use crate::linalg::sweep32::{Vec4f, times, times_transposed};
use crate::linalg::{DenseLu, Mat3, Vec3, skew};
use crate::solvers::island::{Island, NONE, Touch};

/// A slave that follows a body: x_s = G x_b.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub node: u32,
    pub body: u32,
    /// Linear and angular part of G.
    pub g: [Mat3; 2],
    /// What the halves of the body feel of the slave's row: Gᵀ, with the friction that follows the normal force.
    pub left: [Mat3; 2],
    /// Resistance across the slip, w_s a·x_s + a·(body's part): `a` times w_s, and its linear and angular part.
    across: [Vec3; 3],
}

#[derive(Default)]
pub(super) struct Bodies {
    links: Vec<Link>,
    /// Link of each node.
    of_node: Vec<u32>,
    /// Matrix of the bodies alone, and with the nodes that follow them.
    free: Vec<f64>,
    matrix: Vec<f64>,
    factor: DenseLu,
    x: Vec<f64>,
}

impl Bodies {
    pub fn is_empty(&self) -> bool {
        self.factor.rows() == 0
    }

    /// Collects links and factors Tᵀ A T of the bodies.
    pub fn prepare(&mut self, island: &Island, modes: &Modes) {
        let n = 6 * island.bodies;
        self.links.clear();
        if n == 0 {
            self.of_node.clear();
            self.factor.factor(&[], 0);
            return;
        }
        self.find_links(island, modes);
        self.free.clear();
        self.free.resize(n * n, 0.0);
        self.add_dynamics(island);
        let first = island.nodes as u32;
        each_held(island, modes, |a, ga, b, gb, p| {
            if a >= first && b >= first {
                let (a, b) = (((a - first) / 2) as usize, ((b - first) / 2) as usize);
                for h in 0..2 {
                    for k in 0..2 {
                        let m = ga[h].transpose() * p * gb[k];
                        add_block(&mut self.free, n, 6 * a + 3 * h, 6 * b + 3 * k, m);
                    }
                }
            }
        });
        self.matrix.clone_from(&self.free);
        self.add_links(island);
        self.factor.factor(&self.matrix, n);
        self.x.resize(n, 0.0);
    }

    /// The link of a slave, where it follows a body.
    pub fn link_of(&self, node: u32) -> Option<Link> {
        let link = *self.of_node.get(node as usize)?;
        self.links.get(link as usize).copied()
    }

    /// Sets `root` of the bodies' unknowns to 1/√(inertia) with the nodes that follow them: Tᵀ M T instead of M.
    pub fn add_followers(&self, island: &Island, root: &mut [f64]) {
        let first = 3 * island.nodes;
        root[first..].copy_from_slice(&island.mass[first..]);
        for l in &self.links {
            let m = island.mass[3 * l.node as usize];
            for h in 0..2 {
                for k in 0..3 {
                    root[first + 6 * l.body as usize + 3 * h + k] += m * l.g[h].col(k).length_squared();
                }
            }
        }
        for r in &mut root[first..] {
            *r = 1.0 / r.sqrt();
        }
    }

    /// Adds the bodies' own matrix, without the nodes that follow them, at row and column `first` of a dense matrix.
    pub fn add_free(&self, island: &Island, to: &mut [f64], n: usize, first: usize) {
        let size = 6 * island.bodies;
        for r in 0..size {
            for c in 0..size {
                to[(first + r) * n + first + c] += self.free[r * size + c];
            }
        }
    }

    fn find_links(&mut self, island: &Island, modes: &Modes) {
        self.of_node.clear();
        self.of_node.resize(island.nodes, NONE);
        for (t, a) in island.touches.iter().zip(&modes.active) {
            if a.mode == Mode::Open || a.slave == NONE {
                continue;
            }
            let movers = island.movers(t);
            let slave = &movers[a.slave as usize];
            for m in movers {
                let Some(arm) = m.arm else { continue };
                let n = t.normal();
                let ratio = -m.weight / slave.weight;
                // x_s follows in the directions of `bound`; the body feels `force` of the slave's row.
                let (bound, force) = if a.mode == Mode::Stick {
                    (Mat3::IDENTITY, Mat3::IDENTITY)
                } else {
                    let along = n + t.frame.transpose() * a.friction;
                    (outer(n, n), outer(along, n))
                };
                let arm = skew(arm).transpose();
                let across = t.frame.transpose() * a.across;
                self.of_node[slave.at as usize] = self.links.len() as u32;
                self.links.push(Link {
                    node: slave.at,
                    body: (m.at - island.nodes as u32) / 2,
                    g: [bound * ratio, bound * arm * ratio],
                    left: [force * ratio, arm.transpose() * force * ratio],
                    across: [across * slave.weight, across * m.weight, arm.transpose() * across * m.weight],
                });
            }
        }
    }

    /// A among the bodies.
    fn add_dynamics(&mut self, island: &Island) {
        let (first, n) = (island.nodes, 6 * island.bodies);
        for i in first..first + 2 * island.bodies {
            for e in island.low.range(i) {
                let j = island.low.columns()[e] as usize;
                if j >= first {
                    let m = mat(island.low.block(e));
                    add_block(&mut self.free, n, 3 * (i - first), 3 * (j - first), m);
                }
            }
        }
    }

    /// S A T over pairs of links, and of links with bodies.
    fn add_links(&mut self, island: &Island) {
        let (first, n) = (island.nodes, 6 * island.bodies);
        for l in &self.links {
            for h in 0..2 {
                for k in 0..2 {
                    let (row, col) = (6 * l.body as usize + 3 * h, 6 * l.body as usize + 3 * k);
                    add_block(&mut self.matrix, n, row, col, outer(l.across[1 + h], l.across[1 + k]));
                }
            }
            for e in island.low.range(l.node as usize) {
                let j = island.low.columns()[e] as usize;
                let m = mat(island.low.block(e));
                if j >= first {
                    for h in 0..2 {
                        let (row, col) = (6 * l.body as usize + 3 * h, 3 * (j - first));
                        add_block(&mut self.matrix, n, row, col, l.left[h] * m);
                        add_block(&mut self.matrix, n, col, row, m.transpose() * l.g[h]);
                    }
                } else if self.of_node[j] != NONE {
                    let other = &self.links[self.of_node[j] as usize];
                    for k in 0..2 {
                        let right = m * other.g[k];
                        for h in 0..2 {
                            let (row, col) = (6 * l.body as usize + 3 * h, 6 * other.body as usize + 3 * k);
                            add_block(&mut self.matrix, n, row, col, l.left[h] * right);
                        }
                    }
                }
            }
        }
    }

    /// Solves for the bodies alone: x_b = B⁻¹ r_b.
    pub fn solve(&mut self, r: &[Vec4f], x: &mut [Vec4f]) {
        for (x, r) in self.x.chunks_exact_mut(3).zip(r) {
            for k in 0..3 {
                x[k] = r[k] as f64;
            }
        }
        self.factor.solve(&mut self.x);
        for (x, y) in self.x.chunks_exact(3).zip(x) {
            *y = [x[0] as f32, x[1] as f32, x[2] as f32, 0.0];
        }
    }

    /// r_nodes −= (A T) x_b, over slaves that follow and couplings of A. `x` and `r` hold all blocks.
    pub fn subtract_motion(&mut self, island: &Island, x: &[Vec4f], r: &mut [Vec4f]) {
        let first = island.nodes;
        for l in &self.links {
            let at = first + 2 * l.body as usize;
            let (v, spin) = (wide(&x[at]), wide(&x[at + 1]));
            let pull = l.across[1].dot(v) + l.across[2].dot(spin);
            take(&mut r[l.node as usize], &single(l.across[0] * pull));
            let v = single(l.g[0] * v + l.g[1] * spin);
            for e in island.low.range(l.node as usize) {
                let j = island.low.columns()[e] as usize;
                if j < first {
                    take(&mut r[j], &times_transposed(island.low.block(e), &v));
                }
            }
        }
        for i in first..first + 2 * island.bodies {
            for e in island.low.range(i) {
                let j = island.low.columns()[e] as usize;
                if j < first {
                    take(&mut r[j], &times_transposed(island.low.block(e), &x[i]));
                }
            }
        }
    }

    /// (Tᵀ A x_nodes) on the bodies; `x` holds all blocks, `out` those of the bodies.
    pub fn force_of_nodes(&mut self, island: &Island, x: &[Vec4f], out: &mut [Vec4f]) {
        let first = island.nodes;
        out.fill([0.0; 4]);
        for i in first..first + 2 * island.bodies {
            for e in island.low.range(i) {
                let j = island.low.columns()[e] as usize;
                if j < first {
                    give(&mut out[i - first], &times(island.low.block(e), &x[j]));
                }
            }
        }
        for l in &self.links {
            let mut s = [0.0; 4];
            for e in island.low.range(l.node as usize) {
                let j = island.low.columns()[e] as usize;
                if j < first {
                    give(&mut s, &times(island.low.block(e), &x[j]));
                }
            }
            let s = wide(&s);
            let pull = l.across[0].dot(wide(&x[l.node as usize]));
            for h in 0..2 {
                let f = l.left[h] * s + l.across[1 + h] * pull;
                give(&mut out[2 * l.body as usize + h], &single(f));
            }
        }
    }
}

/// Calls `f(block a, [linear, angular] of J_a, block b, [...] of J_b, P)` in world axes for every pair of movers of
/// each held contact, with the symmetric part of its spring. Nodes have a zero angular part.
pub(super) fn each_held(
    island: &Island,
    modes: &Modes,
    mut f: impl FnMut(u32, [Mat3; 2], u32, [Mat3; 2], Mat3),
) {
    for (t, a) in island.touches.iter().zip(&modes.active) {
        if a.mode == Mode::Open || a.slave != NONE {
            continue;
        }
        let world = held_spring(t, a);
        let parts = |m: &crate::solvers::island::Mover| {
            let own = Mat3::IDENTITY * m.weight;
            match m.arm {
                Some(arm) => [own, skew(arm).transpose() * m.weight],
                None if m.at as usize >= island.nodes => [Mat3::ZERO, own],
                None => [own, Mat3::ZERO],
            }
        };
        for m in island.movers(t) {
            for o in island.movers(t) {
                f(m.at, parts(m), o.at, parts(o), world);
            }
        }
    }
}

/// The symmetric part of the spring of a held contact, world axes. Friction follows the normal force: a part without symmetry that
/// only the operator has.
pub(super) fn held_spring(t: &Touch, a: &Active) -> Mat3 {
    let p = if a.mode == Mode::Stick {
        a.p
    } else {
        Mat3::from_cols(
            Vec3::X * a.p.x_axis.x,
            Vec3::new(0.0, a.p.y_axis.y, a.p.y_axis.z),
            Vec3::new(0.0, a.p.z_axis.y, a.p.z_axis.z),
        )
    };
    t.frame.transpose() * p * t.frame
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn add_block(to: &mut [f64], n: usize, row: usize, col: usize, m: Mat3) {
    for c in 0..3 {
        let x = m.col(c);
        for r in 0..3 {
            to[(row + r) * n + col + c] += x[r];
        }
    }
}

pub(super) fn mat(m: &[f32; 9]) -> Mat3 {
    Mat3::from_cols_array(&m.map(f64::from))
}

pub(super) fn wide(x: &Vec4f) -> Vec3 {
    Vec3::new(x[0] as f64, x[1] as f64, x[2] as f64)
}

pub(super) fn single(x: Vec3) -> Vec4f {
    [x.x as f32, x.y as f32, x.z as f32, 0.0]
}

fn take(x: &mut Vec4f, y: &Vec4f) {
    for k in 0..3 {
        x[k] -= y[k];
    }
}

fn give(x: &mut Vec4f, y: &Vec4f) {
    for k in 0..3 {
        x[k] += y[k];
    }
}
