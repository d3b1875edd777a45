//! Rows with bounds in the interior point: each finite bound has a barrier of its own.
//!
//! In scaled coordinates `x = √d r` and `s = u/√d = z_lo − z_hi` with `(x − lo) z_lo = (hi − x) z_hi = σ m`, so that a
//! row adds the diagonal entry `H = z_lo/(x − lo) + z_hi/(hi − x)`. An equation has no barrier: `H = 0`.

use crate::contact::law::Bounds;
use crate::linalg::Vec3;

/// Added to H, acting on the step only: equations alone may leave a singular system.
const SHIFT: f64 = 1e-8;

/// The barriers of one block.
pub(super) struct RowBlock {
    /// Which block.
    pub c: usize,
    bounds: Bounds,
    z_lo: Vec3,
    z_hi: Vec3,
    dz_lo: Vec3,
    dz_hi: Vec3,
}

impl RowBlock {
    /// With bounds in units of `r`, of a block with scale `d`.
    pub fn new(c: usize, b: &Bounds, d: f64) -> RowBlock {
        let bounds = Bounds { lo: b.lo * d.sqrt(), hi: b.hi * d.sqrt() };
        let zero = Vec3::ZERO;
        RowBlock { c, bounds, z_lo: zero, z_hi: zero, dz_lo: zero, dz_hi: zero }
    }

    fn is_fixed(&self, i: usize) -> bool {
        self.bounds.lo[i] >= self.bounds.hi[i]
    }

    fn has_lo(&self, i: usize) -> bool {
        self.bounds.lo[i].is_finite() && !self.is_fixed(i)
    }

    fn has_hi(&self, i: usize) -> bool {
        self.bounds.hi[i].is_finite() && !self.is_fixed(i)
    }

    /// Number of barriers.
    pub fn barriers(&self) -> usize {
        (0..3).map(|i| usize::from(self.has_lo(i)) + usize::from(self.has_hi(i))).sum()
    }

    /// Inside the bounds, near `x` but at least `inset` from them where that leaves room, with duals `near(±u)`.
    /// Returns the point and `s`.
    pub fn start(&mut self, x: Vec3, inset: f64, dual: impl Fn(usize, f64) -> f64) -> (Vec3, Vec3) {
        let mut x = x;
        for i in 0..3 {
            let (lo, hi) = (self.bounds.lo[i], self.bounds.hi[i]);
            if self.is_fixed(i) {
                x[i] = lo;
                continue;
            }
            let inset = inset.min(0.1 * (hi - lo));
            x[i] = x[i].max(lo + inset).min(hi - inset);
            self.z_lo[i] = if self.has_lo(i) { dual(i, 1.0) } else { 0.0 };
            self.z_hi[i] = if self.has_hi(i) { dual(i, -1.0) } else { 0.0 };
        }
        (x, self.z_lo - self.z_hi)
    }

    /// Σ (x − lo) z_lo + (hi − x) z_hi after a step of length `a` along `dx`.
    pub fn complementarity(&self, x: Vec3, dx: Vec3, a: f64) -> f64 {
        let mut sum = 0.0;
        for i in 0..3 {
            let at = x[i] + a * dx[i];
            if self.has_lo(i) {
                sum += (at - self.bounds.lo[i]) * (self.z_lo[i] + a * self.dz_lo[i]);
            }
            if self.has_hi(i) {
                sum += (self.bounds.hi[i] - at) * (self.z_hi[i] + a * self.dz_hi[i]);
            }
        }
        sum
    }

    /// H of each row with the shift; infinite where the row cannot move.
    pub fn stiffness(&self, x: Vec3) -> Vec3 {
        let row = |i: usize| {
            if self.is_fixed(i) {
                return f64::INFINITY;
            }
            let mut h = SHIFT;
            if self.has_lo(i) {
                h += self.z_lo[i] / (x[i] - self.bounds.lo[i]);
            }
            if self.has_hi(i) {
                h += self.z_hi[i] / (self.bounds.hi[i] - x[i]);
            }
            h
        };
        Vec3::new(row(0), row(1), row(2))
    }

    /// What s should become before `x` moves: `centre/(x − lo) − centre/(hi − x)`.
    pub fn target(&self, x: Vec3, centre: f64) -> Vec3 {
        let row = |i: usize| {
            let lo = if self.has_lo(i) { centre / (x[i] - self.bounds.lo[i]) } else { 0.0 };
            let hi = if self.has_hi(i) { centre / (self.bounds.hi[i] - x[i]) } else { 0.0 };
            lo - hi
        };
        Vec3::new(row(0), row(1), row(2))
    }

    /// Steps of the duals for the step `dx`; returns that of `s`.
    pub fn dual_steps(&mut self, x: Vec3, dx: Vec3, centre: f64) -> Vec3 {
        for i in 0..3 {
            let (lo, hi) = (x[i] - self.bounds.lo[i], self.bounds.hi[i] - x[i]);
            self.dz_lo[i] =
                if self.has_lo(i) { (centre - self.z_lo[i] * dx[i]) / lo - self.z_lo[i] } else { 0.0 };
            self.dz_hi[i] =
                if self.has_hi(i) { (centre + self.z_hi[i] * dx[i]) / hi - self.z_hi[i] } else { 0.0 };
        }
        self.dz_lo - self.dz_hi
    }

    /// Longest step along which point and duals stay inside.
    pub fn to_boundary(&self, x: Vec3, dx: Vec3) -> f64 {
        let ratio = |value: f64, step: f64| if step < 0.0 { -value / step } else { f64::INFINITY };
        let mut a = f64::INFINITY;
        for i in 0..3 {
            if self.has_lo(i) {
                a = a.min(ratio(x[i] - self.bounds.lo[i], dx[i])).min(ratio(self.z_lo[i], self.dz_lo[i]));
            }
            if self.has_hi(i) {
                a = a.min(ratio(self.bounds.hi[i] - x[i], -dx[i])).min(ratio(self.z_hi[i], self.dz_hi[i]));
            }
        }
        a
    }

    /// Moves the duals by a step of length `a`.
    pub fn advance(&mut self, a: f64) {
        self.z_lo += a * self.dz_lo;
        self.z_hi += a * self.dz_hi;
    }
}
