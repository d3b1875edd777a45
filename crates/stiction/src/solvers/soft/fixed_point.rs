//! The fallback: a velocity fixed point with a diagonal stand-in for A⁻¹ (Lee, Lee & Lee 2022, without virtual nodes),
//! accelerated by Anderson's method. It needs no guess of modes, so that it cannot cycle between them.
//!
//! | step | |
//! |---|---|
//! | v* = v − W (A v − b) | W = ω/mean diag A_ii on nodes, ω A_bb⁻¹ on bodies, spectral radius of W A = 1.8 |
//! | λ solves the contacts of W | Gauss–Seidel sweeps with an exact local solve, from the last λ |
//! | v⁺ = v* + W Jᵀ λ | |
//! | v ← Anderson mix of the last ten v⁺ | weighted by W⁻¹ |

use super::Iterate;
use super::island::{Island, Mover, Touch};
use crate::linalg::krylov::{add_scaled, dot};
use crate::linalg::{Cholesky, Mat3, Vec3, dense, skew};
use crate::solvers::local_solve::solve_block;

/// Iterates that Anderson's method mixes.
const MEMORY: usize = 10;
/// Spectral radius of W A.
const RADIUS: f64 = 1.8;
/// Steps of the power iteration that finds it, and what it may miss.
const POWER_STEPS: usize = 15;
const POWER_MARGIN: f64 = 1.1;
/// Most sweeps over the contacts of W; they end when an impulse moves less than this share of the largest.
const SWEEPS: usize = 20;
const SWEEP_END: f64 = 1e-10;
/// Regularisation of the mixing weights, relative.
const MIX_SHIFT: f64 = 1e-12;

#[derive(Default)]
pub(super) struct FixedPoint {
    /// W on nodes, and on bodies as 6×6 row-major blocks.
    node: Vec<f64>,
    body: Vec<[f64; 36]>,
    /// Block of J W Jᵀ of each contact.
    block: Vec<Mat3>,
    slip: Vec<f64>,
    push: Vec<f64>,
    weight: Vec<f64>,
    /// Last images v⁺ and moves v⁺ − v, and the products of the moves.
    image: Vec<Vec<f64>>,
    moved: Vec<Vec<f64>>,
    gram: Vec<f64>,
    small: Vec<f64>,
    mix: Vec<f64>,
    factor: Cholesky,
    /// Places of `image` that hold something, oldest first.
    order: Vec<usize>,
}

impl FixedPoint {
    /// Scales W for this island and forgets the past.
    pub fn start(&mut self, island: &Island) {
        let n = island.dofs();
        self.order.clear();
        self.image.resize_with(MEMORY, Vec::new);
        self.moved.resize_with(MEMORY, Vec::new);
        for v in self.image.iter_mut().chain(&mut self.moved).chain([&mut self.push, &mut self.weight]) {
            v.resize(n, 0.0);
        }
        self.node.clear();
        for i in 0..island.nodes {
            let d = island.a.diagonal(i);
            self.node.push(3.0 / (d[0] + d[4] + d[8]));
        }
        self.body.clear();
        for b in 0..island.bodies {
            self.body.push(body_inverse(island, island.nodes + 2 * b));
        }
        let omega = RADIUS / (POWER_MARGIN * self.radius(island));
        for w in self.node.iter_mut().chain(self.body.iter_mut().flatten()) {
            *w *= omega;
        }
        for (i, w) in self.weight.iter_mut().enumerate() {
            let d = island.a.diagonal(i / 3)[4 * (i % 3)];
            *w = d.sqrt();
        }
        self.block.clear();
        for t in &island.touches {
            let block = self.contact_block(island, t);
            self.block.push(block);
        }
        self.slip.clear();
        self.slip.resize(island.touches.len(), 0.0);
    }

    /// One step from `x`: writes the new velocity and impulse into it.
    pub fn step(&mut self, island: &Island, x: &mut Iterate) {
        // v* = v − W (A v − b)
        island.a.mul(&x.v, &mut x.r);
        for (p, (r, b)) in self.push.iter_mut().zip(x.r.iter().zip(&island.b)) {
            *p = b - r;
        }
        for (c, t) in island.touches.iter().enumerate() {
            island.add_impulse(t, x.lambda[c], &mut self.push);
        }
        let place = if self.order.len() < MEMORY { self.order.len() } else { self.order.remove(0) };
        self.order.push(place);
        let mut y = std::mem::take(&mut self.image[place]);
        y.copy_from_slice(&x.v);
        self.add_divided(island, &mut y);
        self.sweep(island, &mut y, &mut x.lambda);
        // Anderson: v ← Σ γ v⁺ with Σ γ = 1 and the least Σ γ (v⁺ − v).
        for (m, (y, (v, w))) in self.moved[place].iter_mut().zip(y.iter().zip(x.v.iter().zip(&self.weight))) {
            *m = (y - v) * w;
        }
        self.image[place] = y;
        self.weights(place);
        x.v.fill(0.0);
        for (k, &p) in self.order.iter().enumerate() {
            add_scaled(&mut x.v, self.mix[k], &self.image[p]);
        }
    }

    /// The image of the last step: velocity that belongs to the impulse of the last step.
    pub fn last_image(&self) -> &[f64] {
        self.order.last().map_or(&[], |&p| &self.image[p])
    }

    /// Mixing weights: least squares over the stored moves through their products.
    fn weights(&mut self, newest: usize) {
        self.gram.resize(MEMORY * MEMORY, 0.0);
        for &p in &self.order {
            let s = dot(&self.moved[p], &self.moved[newest]);
            self.gram[p * MEMORY + newest] = s;
            self.gram[newest * MEMORY + p] = s;
        }
        let m = self.order.len();
        self.small.clear();
        let most = self.order.iter().map(|&p| self.gram[p * MEMORY + p]).fold(0.0, f64::max);
        for &p in &self.order {
            for &q in &self.order {
                let shift = if p == q { MIX_SHIFT * most + f64::MIN_POSITIVE } else { 0.0 };
                self.small.push(self.gram[p * MEMORY + q] + shift);
            }
        }
        self.factor.factor(&self.small, m);
        self.mix.clear();
        self.mix.resize(m, 1.0);
        self.factor.solve(&mut self.mix);
        let sum: f64 = self.mix.iter().sum();
        if sum.is_finite() && sum.abs() > 0.0 {
            for g in &mut self.mix {
                *g /= sum;
            }
        } else {
            self.mix.fill(0.0);
            self.mix[m - 1] = 1.0;
        }
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
            super::island::add(y, m.at, self.node[at] * m.weight * p);
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
        let mut x = std::mem::take(&mut self.image[0]);
        for (i, x) in x.iter_mut().enumerate() {
            *x = if i % 2 == 0 { 1.0 } else { -0.7 };
        }
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
        self.image[0] = x;
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
    for h in 0..2 {
        for e in island.low.range(i + h) {
            let j = island.low.columns()[e] as usize;
            if j < i || j > i + 1 {
                continue;
            }
            let m = island.low.block(e);
            for r in 0..3 {
                for c in 0..3 {
                    a[6 * (3 * h + r) + 3 * (j - i) + c] = m[3 * c + r] as f64;
                }
            }
        }
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
