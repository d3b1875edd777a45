//! When the iteration has converged: as printed, or by the common yardstick.

use super::Settings;
use super::pair::Pair;
use super::precondition::Conditioner;
use super::system::Saddle;
use crate::linalg::Vec3;

/// When a solve has converged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// (‖r‖ < ε₁ and ‖U r‖_∞ < ε₂) or ‖B C⁻¹ r‖ < ε₁, as printed (line 22 of Algorithm 1): momentum in kg·m/s and
    /// distances in m in one norm.
    Paper {
        /// ε₁ [kg·m/s and m].
        eps1: f64,
        /// ε₂ [m].
        eps2: f64,
    },
    /// Natural map, and momentum error in the norm of the inverse masses over √(mass), both below this share of the
    /// velocity scale.
    Yardstick {
        /// 1e-6 for animation, 1e-10 for tables.
        tolerance: f64,
    },
}

/// Scales of the problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    /// Time step [s].
    pub h: f64,
    /// Least velocity scale [m/s].
    pub least: f64,
}

/// Limits of one solve, in the units of the residual.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    stop: Option<Stop>,
    h: f64,
    /// Velocity scale V [m/s].
    pub scale: f64,
    /// Violation of an active row that is allowed [m/s].
    pub row: f64,
    /// Changes of state of less than this are postponed [m/s], and updates of friction.
    pub least: f64,
    pub update: f64,
    /// Share of its tolerance that the momentum residual may have.
    pub balance: f64,
    /// Sliding directions nearer than this are left alone, the sine of ε_θ; or where they leave less of the natural map [m/s].
    pub angle: f64,
    pub sideways: f64,
    /// 1/(m Σm) of each dof.
    weight: Vec<f64>,
    largest_gradient: f64,
    /// Momentum error [m/s] that is rounding against b.
    rounding: f64,
    v: Vec<f64>,
}

/// Share of the tolerance within which rows and postponed changes stay, so that their sum does.
const SHARE: f64 = 0.25;
/// Gradients this small against the largest one mean a local minimum.
const FLAT: f64 = 1e-13;
/// Momentum errors of this share of b are those of rounding; they count where nothing moves, so that there is no velocity scale.
const ROUNDING: f64 = 1e-13;
/// Least mass of a dof, as a share of its diagonal entry of A.
const LIGHT: f64 = 1e-6;

impl Limits {
    pub fn set(&mut self, s: &Settings, scales: Scales, sys: &Saddle, conditioner: &Conditioner) {
        self.stop = Some(s.stop);
        (self.angle, self.sideways) = (s.angle.sin(), 0.0);
        self.h = scales.h;
        self.largest_gradient = 0.0;
        self.set_weights(sys);
        self.rounding = ROUNDING * self.momentum(sys.b);
        // V: the largest contact velocity under A_d⁻¹ b, which is the free one where nothing is coupled.
        self.v.resize(sys.dofs(), 0.0);
        conditioner.divide(sys, sys.b, &mut self.v);
        self.scale = scales.least.max(f64::MIN_POSITIVE);
        for c in 0..sys.contacts() {
            let free = sys.rows.j.mul_one(c, &self.v) + sys.rows.bias[c];
            let speed = match sys.rows.law[c] {
                crate::contact::law::RoundLaw::Cone(_) => free.length(),
                rows => {
                    let g = mean(conditioner.own[c]);
                    g * rows.natural_map(Vec3::ZERO, free, g).length()
                }
            };
            self.scale = self.scale.max(speed);
        }
        self.balance = 1.0;
        match s.stop {
            Stop::Paper { eps2, .. } => {
                self.row = eps2 / scales.h;
                self.least = eps2 / scales.h;
            }
            Stop::Yardstick { tolerance } => {
                self.row = SHARE * tolerance * self.scale;
                self.least = SHARE * tolerance * self.scale;
                (self.angle, self.sideways) = (0.0, SHARE * tolerance * self.scale);
            }
        }
        self.update = self.least;
    }

    /// Masses by row sums of A: elastic forces vanish on translations.
    fn set_weights(&mut self, sys: &Saddle) {
        self.weight.clear();
        self.weight.resize(sys.dofs(), 0.0);
        let mut total = 0.0;
        for i in 0..sys.a.block_rows() {
            let (d, n) = sys.a.block(i);
            for k in 0..n {
                let own = sys.a.diagonal_block(i)[k * n + k];
                let same = sys.a.row(i).filter(|(j, _)| sys.a.block(*j).1 == n);
                let sum: f64 = same.map(|(_, block)| block[k * n + k]).sum();
                let mass = if n == 3 { sum.max(LIGHT * own) } else { own };
                self.weight[d + k] = 1.0 / mass;
                if k < 3 {
                    total += mass / 3.0;
                }
            }
        }
        for w in &mut self.weight {
            *w /= total;
        }
    }

    /// Tightens what rows, postponed changes and directions may leave.
    pub fn tighten(&mut self) {
        self.row *= 0.2;
        self.least *= 0.2;
        self.sideways *= 0.2;
        self.tighten_balance();
    }

    /// Tightens what momentum and postponed friction may leave. States stay as they are, so that rows which contradict each other a
    /// little are not looked at more closely than they can be met.
    pub fn tighten_balance(&mut self) {
        self.update *= 0.2;
        self.balance *= 0.5;
    }

    /// How many times larger than its tolerance the residual is.
    pub fn ratio(&self, r: &Pair) -> f64 {
        match self.stop {
            Some(Stop::Paper { eps1, .. }) => self.paper_norm(r) / eps1,
            _ => (self.momentum_ratio(&r.v) / self.balance).max(largest(r) / self.row),
        }
    }

    /// A momentum error as a velocity [m/s].
    fn momentum(&self, r: &[f64]) -> f64 {
        r.iter().zip(&self.weight).map(|(r, w)| r * r * w).sum::<f64>().sqrt()
    }

    /// The same of a momentum residual alone.
    pub fn momentum_ratio(&self, r: &[f64]) -> f64 {
        match self.stop {
            Some(Stop::Paper { eps1, .. }) => r.iter().map(|x| x * x).sum::<f64>().sqrt() / eps1,
            Some(Stop::Yardstick { tolerance }) => {
                self.momentum(r) / (tolerance * self.scale).max(self.rounding)
            }
            None => f64::INFINITY,
        }
    }

    /// A natural map [m/s] in tolerances of the yardstick.
    pub fn natural_ratio(&self, natural: f64) -> f64 {
        match self.stop {
            Some(Stop::Yardstick { tolerance }) => natural / (tolerance * self.scale),
            _ => f64::INFINITY,
        }
    }

    /// Whether a natural map [m/s] is within the tolerance of constraints.
    pub fn accepts_natural(&self, natural: f64) -> bool {
        match self.stop {
            Some(Stop::Paper { eps2, .. }) => natural * self.h <= eps2,
            _ => self.accepts(natural),
        }
    }

    /// Line 22 of Algorithm 1, first part.
    pub fn is_small(&self, r: &Pair) -> bool {
        self.ratio(r) < 1.0 && largest(r) < self.row
    }

    /// Line 22 of Algorithm 1, second part: the gradient 2 B C⁻¹ r of what is minimised vanishes.
    pub fn is_local_minimum(&mut self, bz: &Pair) -> bool {
        let size = self.paper_norm(bz);
        self.largest_gradient = self.largest_gradient.max(size);
        match self.stop {
            Some(Stop::Paper { eps1, .. }) => size < eps1,
            _ => size <= FLAT * self.largest_gradient,
        }
    }

    /// ‖(r_u, h r_c)‖: rows are distances in the paper.
    pub fn paper_norm(&self, r: &Pair) -> f64 {
        let rows: f64 = r.l.iter().map(|l| l.length_squared()).sum();
        (r.v.iter().map(|x| x * x).sum::<f64>() + self.h * self.h * rows).sqrt()
    }

    /// True where the yardstick is the judge.
    pub fn judges_answers(&self) -> bool {
        matches!(self.stop, Some(Stop::Yardstick { .. }))
    }

    /// Whether an answer without any more changes is good enough.
    pub fn accepts(&self, natural: f64) -> bool {
        match self.stop {
            Some(Stop::Yardstick { tolerance }) => natural <= tolerance * self.scale,
            _ => true,
        }
    }
}

/// ‖U r‖_∞ [m/s].
pub(super) fn largest(r: &Pair) -> f64 {
    r.l.iter().map(|l| l.abs().max_element()).fold(0.0, f64::max)
}

/// Worst natural map [m/s] at velocities `v` and multipliers `lambda`.
pub(super) fn natural(sys: &Saddle, own: &[Vec3], v: &[f64], lambda: &[Vec3]) -> f64 {
    let mut worst = 0.0_f64;
    for c in 0..sys.contacts() {
        let u = sys.velocity(c, v, lambda);
        let g = mean(own[c]);
        let size = g * sys.rows.law[c].natural_map(lambda[c], u, g).length();
        worst = if size.is_nan() { f64::INFINITY } else { worst.max(size) };
    }
    worst
}

/// Scale of a contact; one where nothing moves.
fn mean(own: Vec3) -> f64 {
    let g = own.element_sum() / 3.0;
    if g > 0.0 { g } else { 1.0 }
}
