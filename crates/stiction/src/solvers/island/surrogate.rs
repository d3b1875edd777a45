//! Surrogate dynamics without virtual nodes: W = ω/mean diag A_ii on nodes and ω A_bb⁻¹, exact 6×6 blocks, on bodies.
//!
//! The surrogate Delassus matrix J W Jᵀ is then diagonal but for bodies and faces with several contacts; it is solved by
//! Gauss–Seidel sweeps with an exact local solve, accurately, because accelerations take its error for curvature.

use super::{Island, Mover, Touch, add};
use crate::contact::law::coulomb::solve_block;
use crate::linalg::krylov::dot;
use crate::linalg::{Mat3, Vec3, dense, skew};

/// Steps of the power iteration that finds the radius, and what it may miss.
const POWER_STEPS: usize = 15;
const POWER_MARGIN: f64 = 1.1;
/// Most sweeps over the contacts of W; they end when an impulse moves less than this share of the largest.
const SWEEPS: usize = 20;
const SWEEP_END: f64 = 1e-10;

#[derive(Default)]
pub(crate) struct Surrogate {
    /// W on nodes, and on bodies as 6×6 row-major blocks.
    node: Vec<f64>,
    body: Vec<[f64; 36]>,
    /// Block of J W Jᵀ of each contact.
    block: Vec<Mat3>,
    slip: Vec<f64>,
    push: Vec<f64>,
    /// What the scale ω was found for, and its age in solves.
    omega: f64,
    made_for: (Option<f64>, usize),
    age: usize,
}

impl Surrogate {
    /// New values of A and contacts. W A gets the spectral radius `radius`, or with `None` W is the inverse of the
    /// diagonal blocks itself, which is exact where nothing else couples. The scale is found anew after `recycle` solves.
    pub fn start(&mut self, island: &Island, radius: Option<f64>, recycle: usize) {
        self.push.resize(island.dofs(), 0.0);
        self.node.clear();
        for i in 0..island.nodes {
            let d = island.a.diagonal(i);
            self.node.push(3.0 / (d[0] + d[4] + d[8]));
        }
        self.body.clear();
        for b in 0..island.bodies {
            self.body.push(body_inverse(island, island.nodes + 2 * b));
        }
        self.age += 1;
        let wanted = (radius, island.version);
        if self.age >= recycle || self.omega <= 0.0 || self.made_for != wanted {
            self.age = 0;
            self.made_for = wanted;
            self.omega = radius.map_or(1.0, |r| r / (POWER_MARGIN * self.radius(island)));
        }
        let omega = self.omega;
        self.scale_by(omega);
        self.fill_blocks(island);
        self.slip.clear();
        self.slip.resize(island.touches.len(), 0.0);
    }

    fn scale_by(&mut self, omega: f64) {
        for w in self.node.iter_mut().chain(self.body.iter_mut().flatten()) {
            *w *= omega;
        }
    }

    /// Shortens all steps: W by this factor, for later solves too.
    pub fn shrink(&mut self, island: &Island, factor: f64) {
        self.omega *= factor;
        self.scale_by(factor);
        self.fill_blocks(island);
    }

    fn fill_blocks(&mut self, island: &Island) {
        self.block.clear();
        for t in &island.touches {
            let block = self.contact_block(island, t);
            self.block.push(block);
        }
    }

    /// Replaces W on node `i` by `w(i, old)`; bodies keep theirs.
    pub fn set_nodes(&mut self, island: &Island, mut w: impl FnMut(usize, f64) -> f64) {
        for (i, x) in self.node.iter_mut().enumerate() {
            *x = w(i, *x);
        }
        self.fill_blocks(island);
    }

    /// y = v − W (A v − b) + W Jᵀλ with the λ that solves the contacts of W; `av` is A v, `lambda` holds a guess.
    pub fn image(&mut self, island: &Island, v: &[f64], av: &[f64], lambda: &mut [Vec3], y: &mut [f64]) {
        for (p, (a, b)) in self.push.iter_mut().zip(av.iter().zip(&island.b)) {
            *p = b - a;
        }
        for (c, t) in island.touches.iter().enumerate() {
            island.add_impulse(t, lambda[c], &mut self.push);
        }
        y.copy_from_slice(v);
        self.add_divided(island, y);
        self.sweep(island, y, lambda);
    }

    /// Gauss–Seidel over the contacts with W in place of A⁻¹; `y` = v* + W Jᵀ λ follows.
    fn sweep(&mut self, island: &Island, y: &mut [f64], lambda: &mut [Vec3]) {
        for _ in 0..SWEEPS {
            let (mut change, mut largest) = (0.0_f64, 0.0_f64);
            for (c, t) in island.touches.iter().enumerate() {
                let old = lambda[c];
                let u = island.relative(t, y) + t.bias + t.softness * old;
                let w = self.block[c];
                let new = solve_block(t.law, &w, u - w * old, old, &mut self.slip[c]);
                if new != old {
                    let p = t.frame.transpose() * (new - old);
                    for m in island.movers(t) {
                        self.push_mover(island, m, p, y);
                    }
                    lambda[c] = new;
                }
                change = change.max((new - old).length());
                largest = largest.max(new.length());
            }
            if change <= SWEEP_END * largest {
                break;
            }
        }
    }

    /// y += W times the impulse `p` on one mover.
    fn push_mover(&self, island: &Island, m: &Mover, p: Vec3, y: &mut [f64]) {
        let at = m.at as usize;
        if at < island.nodes {
            add(y, m.at, self.node[at] * m.weight * p);
            return;
        }
        let body = (at - island.nodes) / 2;
        let first = 3 * (island.nodes + 2 * body);
        let mut f = [0.0; 6];
        match m.arm {
            Some(arm) => {
                (m.weight * p).write_to_slice(&mut f);
                (m.weight * arm.cross(p)).write_to_slice(&mut f[3..]);
            }
            None => (m.weight * p).write_to_slice(&mut f[3..]),
        }
        let w = &self.body[body];
        for r in 0..6 {
            y[first + r] += (0..6).map(|c| w[6 * r + c] * f[c]).sum::<f64>();
        }
    }

    /// y += W `push`.
    fn add_divided(&self, island: &Island, y: &mut [f64]) {
        for i in 0..island.nodes {
            for k in 0..3 {
                y[3 * i + k] += self.node[i] * self.push[3 * i + k];
            }
        }
        for (b, w) in self.body.iter().enumerate() {
            let first = 3 * (island.nodes + 2 * b);
            for r in 0..6 {
                y[first + r] += (0..6).map(|c| w[6 * r + c] * self.push[first + c]).sum::<f64>();
            }
        }
    }

    /// Spectral radius of W A by power iteration.
    fn radius(&mut self, island: &Island) -> f64 {
        let mut x: Vec<f64> = (0..island.dofs()).map(|i| if i % 2 == 0 { 1.0 } else { -0.7 }).collect();
        let mut size = 1.0;
        for _ in 0..POWER_STEPS {
            island.a.mul(&x, &mut self.push);
            x.fill(0.0);
            self.add_divided(island, &mut x);
            size = dot(&x, &x).sqrt();
            for x in &mut x {
                *x /= size;
            }
        }
        // The last growth: x had length one before.
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    }

    /// J W Jᵀ + softness of one contact.
    fn contact_block(&self, island: &Island, t: &Touch) -> Mat3 {
        let mut sum = Mat3::ZERO;
        for m in island.movers(t) {
            for o in island.movers(t) {
                let (i, j) = (m.at as usize, o.at as usize);
                if i < island.nodes || j < island.nodes {
                    if i == j {
                        sum += Mat3::from_diagonal(Vec3::splat(self.node[i] * m.weight * o.weight));
                    }
                    continue;
                }
                let (a, b) = ((i - island.nodes) / 2, (j - island.nodes) / 2);
                if a == b {
                    let (p, q) = (parts(m), parts(o));
                    for h in 0..2 {
                        for k in 0..2 {
                            sum += p[h] * part(&self.body[a], 3 * h, 3 * k) * q[k].transpose();
                        }
                    }
                }
            }
        }
        t.frame * sum * t.frame.transpose() + Mat3::from_diagonal(t.softness)
    }
}

/// How the linear and angular halves of a body move a mover.
fn parts(m: &Mover) -> [Mat3; 2] {
    let own = Mat3::from_diagonal(Vec3::splat(m.weight));
    match m.arm {
        Some(arm) => [own, skew(arm).transpose() * m.weight],
        None => [Mat3::ZERO, own],
    }
}

fn part(w: &[f64; 36], row: usize, col: usize) -> Mat3 {
    Mat3::from_cols_array(&std::array::from_fn(|k| w[6 * (row + k % 3) + col + k / 3]))
}

/// Inverse of the 6×6 diagonal block of the body that begins at block `i`.
fn body_inverse(island: &Island, i: usize) -> [f64; 36] {
    let mut a = [0.0; 36];
    let mut put = |row: usize, col: usize, m: &[f64; 9]| {
        for r in 0..3 {
            for c in 0..3 {
                a[6 * (row + r) + col + c] = m[3 * r + c];
                a[6 * (col + c) + row + r] = m[3 * r + c];
            }
        }
    };
    put(0, 0, island.a.diagonal(i));
    put(3, 3, island.a.diagonal(i + 1));
    if let Some((_, m)) = island.a.row(i).find(|(j, _)| *j == i + 1) {
        put(0, 3, m);
    }
    let mut inverse = [0.0; 36];
    for k in 0..6 {
        let mut column = [0.0; 6];
        column[k] = 1.0;
        dense::solve_spd(&a, &mut column);
        for r in 0..6 {
            inverse[6 * r + k] = column[r];
        }
    }
    inverse
}
