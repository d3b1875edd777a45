//! One Newton step's view of the contacts: who is open, sticks or slips, and who carries the constraint.
//!
//! With the predictor τ = λ − ρ u a contact is open where τ_n ≤ 0, sticks where |τ_t| ≤ μ τ_n and slips otherwise,
//! force direction d = τ_t/|τ_t|. A closed contact is then taken in one of two ways:
//!
//! * **slaved**: one of its nodes gives up its velocity (stick) or the normal part of it (slip), so that u = 0 or
//!   u_n = 0 holds exactly: v = T y. The impulse on the slave is read off its row of A v − b. In the rows of a slip,
//!   λ_t = μ d λ_n − k (t·u) t with t ⟂ d and k = ρ s/(1 − s), s = μ τ_n/|τ_t|.
//! * **held** by a stiff proximal spring (softness a share of the contact's scale), where no node is free to be a slave (several contacts on one node, contacts
//!   of rigid bodies only) or where the contact is soft: λ = offset − P J v, about the last impulse as centre.
//!
//! Rows with bounds (joints) are held, row by row, or slaved like a stick where all three are equations.

use super::overload::Overload;
use crate::contact::law::cone::tangent_norm;
use crate::contact::law::{Bounds, RoundLaw};
use crate::linalg::{Mat3, Vec3};
use crate::solvers::island::{Island, NONE, Touch};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Open,
    Stick,
    Slip,
}

/// A contact in one Newton step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Active {
    pub mode: Mode,
    /// Which mover is the slave; `NONE` where the contact is held.
    pub slave: u32,
    /// μ d, stretched contact axes.
    pub friction: Vec3,
    /// √k t.
    pub across: Vec3,
    /// For held contacts, λ = offset − p · (J v).
    pub p: Mat3,
    pub offset: Vec3,
}

/// Slip this far outside the cone has no more resistance across its direction.
const MOST_SHARE: f64 = 0.999_999;
/// A slave carries at least this share of the largest weight of its contact.
const LEAST_WEIGHT: f64 = 0.3;

#[derive(Default)]
pub(super) struct Modes {
    pub active: Vec<Active>,
    /// For each block: the contact whose slave it is.
    pub slave_of: Vec<u32>,
    /// Blocks that some slave follows.
    master: Vec<bool>,
    overload: Overload,
}

impl Modes {
    /// Predicts the modes from velocities and impulses, chooses slaves; contacts that give way hand their surplus on where
    /// asked to. Returns how many contacts have changed their mode.
    pub fn choose(
        &mut self,
        island: &Island,
        lambda: &[Vec3],
        u: &[Vec3],
        (factor, softness): (f64, f64),
        hand_on: bool,
    ) -> usize {
        let blocks = island.dofs() / 3;
        self.slave_of.clear();
        self.slave_of.resize(blocks, NONE);
        self.master.clear();
        self.master.resize(blocks, false);
        self.active.resize(lambda.len(), Active::default());
        self.overload.hand_on(island, if hand_on { &self.active } else { &[] }, lambda);
        let mut changed = 0;
        for (c, t) in island.touches.iter().enumerate() {
            let rho = factor / t.scale;
            let tau = lambda[c] - rho * u[c] + self.overload.taken[c];
            let mut a = Active { slave: NONE, ..Active::default() };
            let mu = match t.law {
                RoundLaw::Cone(mu) => mu,
                RoundLaw::Rows(bounds) => {
                    a.mode = Mode::Stick;
                    if bounds == Bounds::EQUATIONS && is_rotation(&t.frame) {
                        a.slave = self.slave(island, t, c as u32);
                    }
                    if a.slave == NONE {
                        hold_rows(&mut a, t, &bounds, lambda[c], tau, softness);
                        changed += usize::from(a.p != self.active[c].p);
                    }
                    self.active[c] = a;
                    continue;
                }
            };
            let size = tangent_norm(tau);
            if tau.x > 0.0 {
                a.mode = if mu > 0.0 && size <= mu * tau.x { Mode::Stick } else { Mode::Slip };
            }
            let mut k = 0.0;
            // Without friction nothing but the normal row is held, and there may be no direction of slip.
            if a.mode == Mode::Slip && mu > 0.0 {
                let d = Vec3::new(0.0, tau.y / size, tau.z / size);
                let share = (mu * tau.x / size).min(MOST_SHARE);
                k = rho * share / (1.0 - share);
                a.friction = mu * d;
                a.across = k.sqrt() * Vec3::new(0.0, -d.z, d.y);
            }
            changed += usize::from(a.mode != self.active[c].mode);
            if a.mode != Mode::Open {
                a.slave = self.slave(island, t, c as u32);
                if a.slave == NONE {
                    hold(&mut a, t, lambda[c], k, softness);
                }
            }
            self.active[c] = a;
        }
        changed
    }

    /// The node of largest weight that is neither slave nor master yet and whose fellows are no slaves.
    fn slave(&mut self, island: &Island, t: &Touch, c: u32) -> u32 {
        if t.softness != Vec3::ZERO {
            return NONE;
        }
        let movers = island.movers(t);
        let most = movers.iter().map(|m| m.weight.abs()).fold(0.0, f64::max);
        let mut best = NONE;
        let mut weight = LEAST_WEIGHT * most;
        for (k, m) in movers.iter().enumerate() {
            let i = m.at as usize;
            let free = i < island.nodes && self.slave_of[i] == NONE && !self.master[i];
            let alone = movers.iter().enumerate().all(|(l, o)| {
                let node = (o.at as usize) < island.nodes;
                l == k || o.arm.is_some() || (node && o.at != m.at && self.slave_of[o.at as usize] == NONE)
            });
            if free && alone && m.weight.abs() > weight {
                (best, weight) = (k as u32, m.weight.abs());
            }
        }
        if best != NONE {
            for (k, m) in movers.iter().enumerate() {
                if k as u32 == best {
                    self.slave_of[m.at as usize] = c;
                } else {
                    self.master[m.at as usize] = true;
                }
            }
        }
        best
    }

    /// Makes velocities of slaves obey their constraint: x = T y, plus the bias where `biased`.
    pub fn constrain(&self, island: &Island, x: &mut [f64], biased: bool) {
        for (t, a) in island.touches.iter().zip(&self.active) {
            if a.mode == Mode::Open || a.slave == NONE {
                continue;
            }
            let movers = island.movers(t);
            let slave = &movers[a.slave as usize];
            let i = 3 * slave.at as usize;
            // Stretched velocity without the slave's part.
            let mut rest = Vec3::ZERO;
            for (k, m) in movers.iter().enumerate() {
                if k as u32 != a.slave {
                    rest += m.velocity(x);
                }
            }
            let mut u = t.frame * rest;
            if biased {
                u += t.bias;
            }
            let target = if a.mode == Mode::Stick {
                // frame⁻¹ u = frameᵀ (u / k²).
                -(t.frame.transpose() * (t.unstretch * u)) / slave.weight
            } else {
                let (n, v) = (t.normal(), Vec3::from_slice(&x[i..]));
                v - n * (n.dot(v) + u.x / slave.weight)
            };
            target.write_to_slice(&mut x[i..]);
        }
    }

    /// Impulse λ of a slip whose slave's row holds `row`, with u the stretched velocity.
    fn slip_impulse(t: &Touch, a: &Active, row: Vec3, weight: f64, u: Vec3) -> Vec3 {
        let normal = t.normal().dot(row) / weight;
        normal * (Vec3::X + a.friction) - a.across * a.across.dot(u)
    }

    /// Takes the impulses of slaved contacts off `r = A v − b − …`: what is left is zero in a solution. `x` is the
    /// velocity that `r` belongs to; the bias is added to it where `biased`.
    pub fn restrict(&self, island: &Island, x: &[f64], r: &mut [f64], biased: bool) {
        for (t, a) in island.touches.iter().zip(&self.active) {
            if a.mode == Mode::Open || a.slave == NONE {
                continue;
            }
            let movers = island.movers(t);
            let slave = &movers[a.slave as usize];
            let i = 3 * slave.at as usize;
            let row = Vec3::from_slice(&r[i..]);
            let p = if a.mode == Mode::Stick {
                Vec3::ZERO.write_to_slice(&mut r[i..]);
                row / slave.weight
            } else {
                let mut u = Vec3::ZERO;
                if a.across != Vec3::ZERO {
                    u = island.relative(t, x);
                    if biased {
                        u += t.bias;
                    }
                }
                let lambda = Self::slip_impulse(t, a, row, slave.weight, u);
                let p = t.frame.transpose() * lambda;
                let (n, left) = (t.normal(), row - slave.weight * p);
                (left - n * n.dot(left)).write_to_slice(&mut r[i..]);
                p
            };
            for (k, m) in movers.iter().enumerate() {
                if k as u32 != a.slave {
                    m.add_impulse(-p, r);
                }
            }
        }
    }

    /// r += Jᵀ P J x of the held contacts.
    pub fn add_held(&self, island: &Island, x: &[f64], r: &mut [f64]) {
        for (t, a) in island.touches.iter().zip(&self.active) {
            if a.mode != Mode::Open && a.slave == NONE {
                island.add_impulse(t, a.p * island.relative(t, x), r);
            }
        }
    }

    /// r −= Jᵀ λ of the held contacts at `x`.
    pub fn subtract_held(&self, island: &Island, x: &[f64], r: &mut [f64]) {
        for (t, a) in island.touches.iter().zip(&self.active) {
            if a.mode != Mode::Open && a.slave == NONE {
                island.add_impulse(t, a.p * island.relative(t, x) - a.offset, r);
            }
        }
    }

    /// Impulses at `x` with `r = A x − b`: held ones by their spring, slaved ones by the rows of their slaves. Takes all
    /// of them off `r`, so that the momentum error is left.
    pub fn impulses(&self, island: &Island, x: &[f64], r: &mut [f64], lambda: &mut [Vec3]) {
        for (c, (t, a)) in island.touches.iter().zip(&self.active).enumerate() {
            if a.mode == Mode::Open {
                lambda[c] = Vec3::ZERO;
            } else if a.slave == NONE {
                lambda[c] = a.offset - a.p * island.relative(t, x);
                island.add_impulse(t, -lambda[c], r);
            }
        }
        for (c, (t, a)) in island.touches.iter().zip(&self.active).enumerate() {
            if a.mode == Mode::Open || a.slave == NONE {
                continue;
            }
            let slave = &island.movers(t)[a.slave as usize];
            lambda[c] = t.impulse(Vec3::from_slice(&r[3 * slave.at as usize..]) / slave.weight);
            island.add_impulse(t, -lambda[c], r);
        }
    }
}

/// The proximal spring of a held contact: λ = offset − P J v solves the mode's equations with the softness
/// e = softness + hold, the second part about the centre `lambda`.
fn hold(a: &mut Active, t: &Touch, lambda: Vec3, k: f64, softness: f64) {
    let prox = softness * t.scale;
    let e = t.softness + prox;
    // Velocity that the spring sees: J v + shift.
    let shift = t.bias - prox * lambda;
    if a.mode == Mode::Stick {
        a.p = Mat3::from_diagonal(1.0 / e);
        a.offset = -shift / e;
        return;
    }
    // λ_n = −(u_n + shift_n)/e_n; λ_t = μ d λ_n + t λ_p with λ_p = −k/(1 + k e_p) (t·(u + shift) + t·E μ d λ_n).
    let mut p = Mat3::ZERO;
    let normal = Vec3::X + a.friction;
    add_outer(&mut p, normal / e.x, Vec3::X);
    if k > 0.0 {
        let t_across = a.across / k.sqrt();
        let stiffness = k / (1.0 + k * (e * t_across).dot(t_across));
        add_outer(&mut p, stiffness * t_across, t_across);
        // Softness that differs between the axes of an elliptic cone couples both directions.
        let coupling = (t.softness * t_across).dot(a.friction);
        add_outer(&mut p, -stiffness * coupling / e.x * t_across, Vec3::X);
    }
    a.p = p;
    a.offset = -(p * shift);
}

/// Springs of rows: those between their bounds are held, the others push with their bound.
fn hold_rows(a: &mut Active, t: &Touch, bounds: &Bounds, lambda: Vec3, tau: Vec3, softness: f64) {
    let prox = softness * t.scale;
    let e = t.softness + prox;
    let mut p = Vec3::ZERO;
    for i in 0..3 {
        a.offset[i] = if tau[i] <= bounds.lo[i] {
            bounds.lo[i]
        } else if tau[i] >= bounds.hi[i] {
            bounds.hi[i]
        } else {
            p[i] = 1.0 / e[i];
            (prox * lambda[i] - t.bias[i]) / e[i]
        };
    }
    a.p = Mat3::from_diagonal(p);
}

/// True for orthonormal rows: a slave can obey them.
fn is_rotation(m: &Mat3) -> bool {
    let product = *m * m.transpose();
    (product - Mat3::IDENTITY).to_cols_array().iter().all(|x| x.abs() < 1e-9)
}

/// m += a bᵀ.
fn add_outer(m: &mut Mat3, a: Vec3, b: Vec3) {
    *m += Mat3::from_cols(a * b.x, a * b.y, a * b.z);
}
