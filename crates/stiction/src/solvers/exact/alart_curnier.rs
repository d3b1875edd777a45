//! Newton on the Alart–Curnier form: each contact is open, sticks or slips; the modes make the equations smooth,
//! one unsymmetric linear solve gives the next impulse.
//!
//! With `Y = r − û`-free predictor `r − (u + E(r − centre))/d`, a contact is open where `Y_n ≤ 0`, sticks where
//! `|Y_t| ≤ μ Y_n` and slips otherwise along `θ = Y_t/|Y_t|`. Its unknowns are then `z` with `r = B z`:
//!
//! | mode | B | C | D |
//! |---|---|---|---|
//! | stick | I | I | 0 |
//! | slip, β = μ Y_n/‖Y_t‖ | (e_n + μ θ, θ⊥) | (e_n, θ⊥) | diag(0, (1 − β)/β) |
//!
//! and `Cᵀ(W r + q + E (r − centre)) + D z = 0`. Since `CᵀB = I`, the kernel only needs
//! `P = B (E + D)⁻¹ Cᵀ` per contact. Rows with bounds are free (`P = 1/E`) where `Y` lies within them, and stay at
//! the bound that `Y` passes (`P = 0`).

use super::chain::Chain;
use crate::contact::delassus::Delassus;
use crate::contact::law::cone::tangent_norm;
use crate::contact::law::{Bounds, RoundLaw};
use crate::linalg::{Mat3, Vec3};

/// The state of a contact in one Newton step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Open,
    Stick,
    Slip,
    /// Slip with no resistance across the direction (no friction, or no normal load to speak of).
    Glide,
    /// Rows with bounds, each free or at one of them.
    Rows([RowMode; 3]),
}

/// The state of a row with bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowMode {
    Free,
    Low,
    High,
}

/// Slip is one unknown where the transverse resistance β is below this.
const GLIDE: f64 = 1e-12;
/// Proximal shifts stay within these bounds: below, rounding moves redundant impulses off their cones.
const PROX_MIN: f64 = 1e-11;
const PROX_MAX: f64 = 1e-4;

impl<D: Delassus> Chain<'_, D> {
    /// Newton from the best impulse: at most `steps`, leaving when `patience` runs out.
    pub fn polish_best(&mut self, prox: f64, steps: usize, patience: f64) {
        let mut x = std::mem::take(&mut self.b.x);
        x.copy_from_slice(&self.b.best);
        self.polish(&mut x, prox, steps, patience);
        self.b.x = x;
    }

    /// Newton from `x` with an adaptive proximal shift and a watchdog that lets the merit grow for a while.
    pub fn polish(&mut self, x: &mut Vec<Vec3>, mut prox: f64, steps: usize, patience: f64) {
        let mut merit = self.evaluate(x, "newton");
        let mut best = merit;
        let mut bad = 0.0;
        self.b.old_modes.clear();
        for _ in 0..steps {
            if self.finished() {
                return;
            }
            let mut next = std::mem::take(&mut self.b.y);
            let solved = self.alart_curnier_step(x, None, prox, &mut next);
            let mut n = if solved { self.evaluate(&next, "newton") } else { f64::INFINITY };
            if !n.is_finite() {
                self.b.y = next;
                // `b.u` must belong to `x` again.
                self.evaluate(x, "newton");
                prox = (100.0 * prox).min(PROX_MAX);
                bad += 1.0;
                if bad > patience {
                    return;
                }
                continue;
            }
            let mut t = 1.0;
            if n >= 0.9 * merit && !self.finished() {
                let mut trial = std::mem::take(&mut self.b.trial);
                let mut shortest = (n, 1.0);
                for s in [0.5, 0.2, 0.08] {
                    for c in 0..x.len() {
                        trial[c] = x[c].lerp(next[c], s);
                    }
                    let m = self.evaluate(&trial, "newton");
                    if m < shortest.0 {
                        shortest = (m, s);
                    }
                }
                // A shorter step only where it helps, or where patience is at its end.
                if shortest.1 < 1.0 && (shortest.0 < merit || bad >= patience) {
                    (n, t) = shortest;
                    for c in 0..x.len() {
                        next[c] = x[c].lerp(next[c], t);
                    }
                }
                self.evaluate(&next, "newton");
                self.b.trial = trial;
            }
            let same_modes = self.b.modes == self.b.old_modes;
            std::mem::swap(&mut self.b.modes, &mut self.b.old_modes);
            if same_modes && t == 1.0 && n > 3.0 * merit {
                prox = (10.0 * prox).min(1e-6);
            } else if same_modes && t == 1.0 && n > 0.05 * merit {
                prox = (0.03 * prox).max(PROX_MIN);
            }
            if n < 0.7 * best {
                bad = 0.0;
            } else {
                bad += if n < best { 0.5 } else { 1.0 };
            }
            best = best.min(n);
            merit = n;
            std::mem::swap(x, &mut next);
            self.b.y = next;
            if bad > patience {
                return;
            }
        }
    }

    /// One step from `x`, whose velocities are in `b.u`, with the shift `E = prox · d` about `centre` (about `x`
    /// itself if `None`). Writes the next impulse to `y`; false when the system is singular.
    pub fn alart_curnier_step(
        &mut self,
        x: &[Vec3],
        centre: Option<&[Vec3]>,
        prox: f64,
        y: &mut [Vec3],
    ) -> bool {
        let n = x.len();
        let centre = centre.unwrap_or(x);
        let mut p = std::mem::take(&mut self.b.p);
        p.clear();
        self.b.modes.clear();
        // Modes, and the impulse with its parts outside them removed: y = B Cᵀ x.
        for c in 0..n {
            let (s, law) = (self.d.scale(c), self.law(c));
            let predicted = x[c] - self.b.u[c] / s - prox * (x[c] - centre[c]);
            let model = match law {
                RoundLaw::Cone(mu) => Model::new(predicted, mu, prox * s, s),
                RoundLaw::Rows(b) => Model::rows(predicted, &b, prox * s),
            };
            self.b.modes.push(model.mode);
            p.push(model.p);
            y[c] = model.restrict(x[c], &law);
            // (D d) across the slip direction, needed again for the right-hand side: kept in `dy`.
            self.b.dy[c] = model.across;
        }
        self.factorizations += 1;
        if !self.factor(&p) {
            self.b.p = p;
            return false;
        }
        self.b.p = p;
        let mut across = std::mem::take(&mut self.b.trial);
        across.copy_from_slice(&self.b.dy);
        let (mut g, mut dy, mut u) =
            (std::mem::take(&mut self.b.g), std::mem::take(&mut self.b.dy), std::mem::take(&mut self.b.u));
        // One solve and one refinement on the operator itself; two where the shift is small.
        let passes = if prox < 1e-8 { 3 } else { 2 };
        for _ in 0..passes {
            self.d.velocity(y, &mut u);
            for c in 0..n {
                let s = self.d.scale(c);
                g[c] = -u[c] - prox * s * (y[c] - centre[c]);
                // across = √(D d) θ⊥, so that this is θ⊥ D d (θ⊥·y).
                g[c] -= across[c] * across[c].dot(y[c]);
            }
            self.d.solve(&g, &mut dy);
            for c in 0..n {
                y[c] += dy[c];
            }
        }
        (self.b.g, self.b.dy, self.b.u) = (g, dy, u);
        self.b.trial = across;
        true
    }
}

/// The linear model of one contact.
struct Model {
    mode: Mode,
    p: Mat3,
    /// √(D d) θ⊥; zero but for slip.
    across: Vec3,
    theta: Vec3,
    mu: f64,
}

impl Model {
    /// From the predictor `y`, with shift `e` and scale `d` [1/kg].
    fn new(y: Vec3, mu: f64, e: f64, d: f64) -> Model {
        let t = tangent_norm(y);
        let (mut theta, mut across) = (Vec3::ZERO, Vec3::ZERO);
        let (mode, p) = if y.x <= 0.0 || y.x.is_nan() {
            (Mode::Open, Mat3::ZERO)
        } else if mu == 0.0 {
            // A frictionless contact has no tangent rows, wherever it slides to.
            (Mode::Glide, Mat3::from_cols(Vec3::X / e, Vec3::ZERO, Vec3::ZERO))
        } else if t <= mu * y.x {
            (Mode::Stick, Mat3::from_diagonal(Vec3::splat(1.0 / e)))
        } else {
            theta = Vec3::new(0.0, y.y / t, y.z / t);
            let beta = mu * y.x / t;
            // (e_n + μ θ) e_nᵀ / E
            let normal = (Vec3::X + mu * theta) / e;
            let mut p = Mat3::from_cols(normal, Vec3::ZERO, Vec3::ZERO);
            if beta < GLIDE {
                (Mode::Glide, p)
            } else {
                let perp = Vec3::new(0.0, -theta.z, theta.y);
                let resist = d * (1.0 - beta) / beta;
                across = resist.sqrt() * perp;
                p += outer(perp / (e + resist), perp);
                (Mode::Slip, p)
            }
        };
        Model { mode, p, across, theta, mu }
    }

    /// Rows with bounds, from the predictor `y` and the shift `e`.
    fn rows(y: Vec3, b: &Bounds, e: f64) -> Model {
        let mut modes = [RowMode::Free; 3];
        let mut p = Vec3::splat(1.0 / e);
        for i in 0..3 {
            if y[i] <= b.lo[i] {
                modes[i] = RowMode::Low;
            } else if y[i] >= b.hi[i] {
                modes[i] = RowMode::High;
            }
            if modes[i] != RowMode::Free {
                p[i] = 0.0;
            }
        }
        let p = Mat3::from_diagonal(p);
        Model { mode: Mode::Rows(modes), p, across: Vec3::ZERO, theta: Vec3::ZERO, mu: 0.0 }
    }

    /// B Cᵀ x: the part of `x` that the mode allows; rows at a bound get its value.
    fn restrict(&self, x: Vec3, law: &RoundLaw) -> Vec3 {
        match self.mode {
            Mode::Rows(modes) => {
                let RoundLaw::Rows(b) = law else { unreachable!("rows have bounds") };
                let row = |i: usize| match modes[i] {
                    RowMode::Free => x[i],
                    RowMode::Low => b.lo[i],
                    RowMode::High => b.hi[i],
                };
                Vec3::new(row(0), row(1), row(2))
            }
            Mode::Open => Vec3::ZERO,
            Mode::Stick => x,
            Mode::Glide => x.x * (Vec3::X + self.mu * self.theta),
            Mode::Slip => {
                let perp = Vec3::new(0.0, -self.theta.z, self.theta.y);
                x.x * (Vec3::X + self.mu * self.theta) + perp.dot(x) * perp
            }
        }
    }
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}
