//! Interior point with de Saxcé's shift inside the Newton system. The central path of this non-monotone problem
//! may turn, so it need not converge: it brings hard problems near enough for Newton to finish.
//!
//! In scaled coordinates `x = √d (r_n, r_t/μ)` and `s = (u_n + μ|u_t|, μ u_t)/√d` both lie in the Lorentz cone and
//! `s = Ŵ x + q̂ + φ e_n`, `φ = √(|s_t|² + ε²)`. Nesterov–Todd scaling `H x = s` gives
//! `(Ŵ + Q H) dx = Q (σ m x⁻¹ − s) + r_p` with `Q = I − e_n θᵀ`, `θ = s_t/φ`.

use super::chain::Chain;
use super::interior_rows::RowBlock;
use crate::contact::delassus::Delassus;
use crate::contact::law::RoundLaw;
use crate::contact::law::cone;
use crate::linalg::{Mat3, Vec3};

/// The first run keeps this share of the scales away from the boundary of the cones; each next one a tenth of it.
const FIRST_DISTANCE: f64 = 0.1;
const MU_FLOOR: f64 = 1e-5;
const MAX_STEPS: usize = 60;
/// Share of the way to the boundary of the cone.
const TO_BOUNDARY: f64 = 0.9;
/// After a step shorter than this the shift is lagged once (Q = I).
const SHORT_STEP: f64 = 0.2;

struct Cones {
    x: Vec<Vec3>,
    s: Vec<Vec3>,
    dx: Vec<Vec3>,
    ds: Vec<Vec3>,
    /// Ŵ x + q̂ − s + φ e_n, negated: the residual r_p.
    rp: Vec<Vec3>,
    theta: Vec<Vec3>,
    /// H⁻¹.
    h_inverse: Vec<Mat3>,
    h: Vec<Mat3>,
    /// Blocks that have bounds instead of a cone, ascending.
    rows: Vec<RowBlock>,
    /// Which blocks are cones.
    is_cone: Vec<bool>,
    /// Number of complementary pairs.
    pairs: usize,
}

impl Cones {
    /// Mean complementarity after a step of length `a`.
    fn complementarity(&self, a: f64) -> f64 {
        let cones: f64 = (0..self.x.len())
            .filter(|&c| self.is_cone[c])
            .map(|c| (self.x[c] + a * self.dx[c]).dot(self.s[c] + a * self.ds[c]))
            .sum();
        let rows: f64 = self.rows.iter().map(|b| b.complementarity(self.x[b.c], self.dx[b.c], a)).sum();
        (cones + rows) / self.pairs as f64
    }
}

impl<D: Delassus> Chain<'_, D> {
    /// One run from the best impulse, each round closer to the boundary; from a cold start where there is none. Leaves its last
    /// point in `b.last`, and says whether there is one.
    ///
    /// In filled bins impulses after the sweeps are wrong, but near: a cold start would throw away what they found. The last
    /// point solves a nearby problem even where its merit is poor, and [`proximal_point`](Chain::proximal_point) goes on from there.
    pub fn interior_point(&mut self, round: usize) -> bool {
        let n = self.d.contacts();
        let sc = (0..n).map(|c| self.stretch(c, self.d.free(c)).length()).fold(f64::MIN_POSITIVE, f64::max);
        let mut k = Cones {
            x: vec![Vec3::ZERO; n],
            s: vec![Vec3::ZERO; n],
            dx: vec![Vec3::ZERO; n],
            ds: vec![Vec3::ZERO; n],
            rp: vec![Vec3::ZERO; n],
            theta: vec![Vec3::ZERO; n],
            h: vec![Mat3::ZERO; n],
            h_inverse: vec![Mat3::ZERO; n],
            rows: Vec::new(),
            is_cone: vec![true; n],
            pairs: 0,
        };
        for c in 0..n {
            if let RoundLaw::Rows(b) = self.law(c) {
                k.rows.push(RowBlock::new(c, &b, self.d.scale(c)));
                k.is_cone[c] = false;
            }
        }
        k.pairs = n - k.rows.len() + k.rows.iter().map(|b| b.barriers()).sum::<usize>();
        if k.pairs == 0 {
            // Equations alone: linear, and Newton's.
            return false;
        }
        if self.b.best.iter().all(|r| *r == Vec3::ZERO) {
            if !self.cold_start(&mut k, sc) {
                return false;
            }
        } else {
            self.warm_start(&mut k, sc, FIRST_DISTANCE * 0.1_f64.powi(round as i32));
        }
        let mut lagged = false;
        let mut tiny_steps = 0;
        let mut first: Option<(f64, f64)> = None;
        let mut polish_at = 1e-6;
        for _ in 0..MAX_STEPS {
            if self.finished() {
                return false;
            }
            let m = k.complementarity(0.0);
            self.linearize(&mut k, 1e-2 * m / sc, lagged);
            let rp = norm(&k.rp);
            let (m0, rp0) = *first.get_or_insert((m, rp));
            self.factorizations += 1;
            if !self.factor_cones(&k, lagged) {
                return false;
            }
            // Affine direction, then the centred one with the same factors.
            self.direction(&mut k, 0.0, m, lagged);
            let affine = step_length(&k, 1.0);
            let m_affine = k.complementarity(affine);
            let mut sigma = (m_affine / m).powi(3);
            if affine < 0.1 {
                sigma = sigma.max(0.5);
            }
            if rp > 1e-12 * sc && rp / rp0 > 10.0 * m / m0 {
                sigma = sigma.max(0.9);
            }
            self.direction(&mut k, sigma.clamp(1e-4, 1.0), m, lagged);
            let a = step_length(&k, TO_BOUNDARY);
            for c in 0..n {
                k.x[c] += a * k.dx[c];
                k.s[c] += a * k.ds[c];
            }
            k.rows.iter_mut().for_each(|b| b.advance(a));
            if !k.x.iter().chain(&k.s).all(|v| v.is_finite()) {
                return false;
            }
            lagged = a < SHORT_STEP;
            tiny_steps = if a < 1e-3 { tiny_steps + 1 } else { 0 };
            let m = k.complementarity(0.0) / (sc * sc);
            if m <= polish_at {
                polish_at = 1e-2 * m;
                let before = self.best_merit;
                self.polish_cone_point(&k, 5, 1.0);
                if self.best_merit < 1e-3 * before {
                    return true;
                }
            }
            if tiny_steps >= 3 || m < 1e-26 {
                break;
            }
        }
        self.polish_cone_point(&k, 5, 1.0);
        true
    }

    /// Newton from the projection of the iterate, which stays in `b.last`.
    fn polish_cone_point(&mut self, k: &Cones, steps: usize, patience: f64) {
        let mut r = std::mem::take(&mut self.b.centre);
        for c in 0..r.len() {
            r[c] = self.law(c).project(self.unstretch(c, k.x[c]));
        }
        self.b.last.copy_from_slice(&r);
        self.polish(&mut r, 1e-6, steps, patience);
        self.b.centre = r;
    }

    /// Stretch of the tangents: μ, but not below the floor; none for rows.
    fn mu_floored(&self, c: usize) -> f64 {
        match self.law(c) {
            RoundLaw::Cone(mu) => mu.max(MU_FLOOR),
            RoundLaw::Rows(_) => 1.0,
        }
    }

    /// Velocity to cone coordinates: (u_n, μ u_t)/√d.
    fn stretch(&self, c: usize, u: Vec3) -> Vec3 {
        let mu = self.mu_floored(c);
        Vec3::new(u.x, mu * u.y, mu * u.z) / self.d.scale(c).sqrt()
    }

    /// Cone coordinates to impulse: (x_n, μ x_t)/√d.
    fn unstretch(&self, c: usize, x: Vec3) -> Vec3 {
        self.stretch(c, x)
    }

    fn cold_start(&mut self, k: &mut Cones, sc: f64) -> bool {
        // (Ŵ + 1e-8) y = −q̂
        const SHIFT: f64 = 1e-8;
        let n = k.x.len();
        let mut p = std::mem::take(&mut self.b.p);
        p.clear();
        for c in 0..n {
            let mu = self.mu_floored(c);
            p.push(Mat3::from_diagonal(Vec3::new(1.0, mu * mu, mu * mu) / (SHIFT * self.d.scale(c))));
        }
        self.factorizations += 1;
        let ok = self.factor(&p);
        self.b.p = p;
        if !ok {
            return false;
        }
        let (mut g, mut dy) = (std::mem::take(&mut self.b.g), std::mem::take(&mut self.b.dy));
        for c in 0..n {
            g[c] = -self.d.free(c);
        }
        self.d.solve(&g, &mut dy);
        let mut largest = 0.0f64;
        for c in 0..n {
            let mu = self.mu_floored(c);
            k.x[c] = self.d.scale(c).sqrt() * Vec3::new(dy[c].x, dy[c].y / mu, dy[c].z / mu);
            largest = largest.max(k.x[c].length());
        }
        for c in (0..n).filter(|&c| k.is_cone[c]) {
            k.x[c] = Vec3::X * sc.max(1.5 * k.x[c].length()).max(0.1 * largest);
            k.s[c] = Vec3::X * sc;
        }
        for b in &mut k.rows {
            (k.x[b.c], k.s[b.c]) = b.start(k.x[b.c], sc.max(0.1 * largest), |_, _| sc);
        }
        (self.b.g, self.b.dy) = (g, dy);
        k.x.iter().all(|x| x.is_finite())
    }

    fn warm_start(&mut self, k: &mut Cones, sc: f64, delta: f64) {
        let mut best = std::mem::take(&mut self.b.centre);
        best.copy_from_slice(&self.b.best);
        self.evaluate(&best, "interior");
        for c in 0..best.len() {
            let (mu, root) = (self.mu_floored(c), self.d.scale(c).sqrt());
            let y = root * Vec3::new(best[c].x, best[c].y / mu, best[c].z / mu);
            let (n, t) = (y.x, cone::tangent_norm(y));
            k.x[c] = Vec3::new(n.max(t) + delta * y.length().max(sc), y.y, y.z);
            let w = self.stretch(c, self.b.u[c]);
            k.s[c] = Vec3::new(w.x.max(0.0) + cone::tangent_norm(w) + delta * sc, w.y, w.z);
        }
        for b in &mut k.rows {
            let y = self.d.scale(b.c).sqrt() * best[b.c];
            let w = self.stretch(b.c, self.b.u[b.c]);
            let dual = |i: usize, side: f64| (side * w[i]).max(0.0) + delta * sc;
            (k.x[b.c], k.s[b.c]) = b.start(y, delta * y.length().max(sc), dual);
        }
        self.b.centre = best;
    }

    /// r_p = s − Ŵ x − q̂ − φ e_n, θ and the Nesterov–Todd matrices.
    fn linearize(&mut self, k: &mut Cones, eps: f64, lagged: bool) {
        let (mut r, mut u) = (std::mem::take(&mut self.b.g), std::mem::take(&mut self.b.u));
        for c in 0..r.len() {
            r[c] = self.unstretch(c, k.x[c]);
        }
        self.d.velocity(&r, &mut u);
        for c in 0..r.len() {
            let s = k.s[c];
            let phi = (s.y * s.y + s.z * s.z + eps * eps).sqrt();
            k.rp[c] = s - self.stretch(c, u[c]) - phi * Vec3::X;
            k.theta[c] = if lagged { Vec3::ZERO } else { Vec3::new(0.0, s.y / phi, s.z / phi) };
            if k.is_cone[c] {
                k.h[c] = nesterov_todd(k.x[c], s);
                k.h_inverse[c] = k.h[c].inverse();
            }
        }
        for b in &k.rows {
            let c = b.c;
            k.rp[c] = k.s[c] - self.stretch(c, u[c]);
            k.theta[c] = Vec3::ZERO;
            k.h_inverse[c] = Mat3::from_diagonal(b.stiffness(k.x[c]).recip());
        }
        (self.b.g, self.b.u) = (r, u);
    }

    /// P = T (Q H)⁻¹ T / d with T = diag(1, μ, μ) and Q⁻¹ = I + e_n θᵀ.
    fn factor_cones(&mut self, k: &Cones, lagged: bool) -> bool {
        let mut p = std::mem::take(&mut self.b.p);
        p.clear();
        for c in 0..k.x.len() {
            let mu = self.mu_floored(c);
            let t = Mat3::from_diagonal(Vec3::new(1.0, mu, mu));
            let mut inverse = k.h_inverse[c];
            if !lagged {
                let th = k.theta[c];
                inverse *= Mat3::from_cols(Vec3::X, Vec3::new(th.y, 1.0, 0.0), Vec3::new(th.z, 0.0, 1.0));
            }
            p.push(t * inverse * t * (1.0 / self.d.scale(c)));
        }
        let ok = p.iter().all(|m| m.is_finite()) && self.factor(&p);
        self.b.p = p;
        ok
    }

    /// dx and ds for the centring parameter σ.
    fn direction(&mut self, k: &mut Cones, sigma: f64, m: f64, lagged: bool) {
        let (mut g, mut dy) = (std::mem::take(&mut self.b.g), std::mem::take(&mut self.b.dy));
        for b in &k.rows {
            k.ds[b.c] = b.target(k.x[b.c], sigma * m);
        }
        for c in 0..k.x.len() {
            // target = σ m x⁻¹ − s
            let target =
                if k.is_cone[c] { sigma * m * jordan_inverse(k.x[c]) - k.s[c] } else { k.ds[c] - k.s[c] };
            k.ds[c] = target;
            let mut rhs = target + k.rp[c];
            if !lagged {
                rhs.x -= k.theta[c].dot(target);
            }
            let mu = self.mu_floored(c);
            g[c] = self.d.scale(c).sqrt() * Vec3::new(rhs.x, rhs.y / mu, rhs.z / mu);
        }
        self.d.solve(&g, &mut dy);
        for c in 0..k.x.len() {
            let mu = self.mu_floored(c);
            k.dx[c] = self.d.scale(c).sqrt() * Vec3::new(dy[c].x, dy[c].y / mu, dy[c].z / mu);
            let h_dx = k.h[c] * k.dx[c];
            k.ds[c] -= h_dx;
        }
        for b in &mut k.rows {
            k.ds[b.c] = b.dual_steps(k.x[b.c], k.dx[b.c], sigma * m);
        }
        (self.b.g, self.b.dy) = (g, dy);
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn norm(a: &[Vec3]) -> f64 {
    dot(a, a).sqrt()
}

/// x_n² − |x_t|², without cancellation.
fn determinant(x: Vec3) -> f64 {
    let t = cone::tangent_norm(x);
    (x.x - t) * (x.x + t)
}

/// J x / det x.
fn jordan_inverse(x: Vec3) -> Vec3 {
    Vec3::new(x.x, -x.y, -x.z) / determinant(x)
}

/// The symmetric H with H x = s that maps the cone onto itself: β² (2 w wᵀ − J).
fn nesterov_todd(x: Vec3, s: Vec3) -> Mat3 {
    let (dx, ds) = (determinant(x).max(f64::MIN_POSITIVE), determinant(s).max(f64::MIN_POSITIVE));
    let (x, sb) = (x / dx.sqrt(), s / ds.sqrt());
    let gamma = (0.5 * (1.0 + x.dot(sb))).sqrt();
    let w = (sb + Vec3::new(x.x, -x.y, -x.z)) / (2.0 * gamma);
    let beta2 = (ds / dx).sqrt();
    beta2
        * (Mat3::from_cols(w * (2.0 * w.x), w * (2.0 * w.y), w * (2.0 * w.z))
            - Mat3::from_diagonal(Vec3::new(1.0, -1.0, -1.0)))
}

/// Longest common step ≤ 1 at which both stay inside, times `share` where a boundary is met.
fn step_length(k: &Cones, share: f64) -> f64 {
    let mut a = 1.0f64;
    for c in (0..k.x.len()).filter(|&c| k.is_cone[c]) {
        a = a.min(share * to_boundary(k.x[c], k.dx[c])).min(share * to_boundary(k.s[c], k.ds[c]));
    }
    for b in &k.rows {
        a = a.min(share * b.to_boundary(k.x[b.c], k.dx[b.c]));
    }
    a
}

/// Largest α with x + α d in the Lorentz cone; infinite when the ray stays inside.
fn to_boundary(x: Vec3, d: Vec3) -> f64 {
    // det(x + α d) = a α² + 2 b α + c, c > 0.
    let j = |p: Vec3, q: Vec3| p.x * q.x - p.y * q.y - p.z * q.z;
    let (a, b, c) = (j(d, d), j(x, d), determinant(x).max(0.0));
    let root = b * b - a * c;
    let mut alpha = f64::INFINITY;
    if a.abs() < f64::MIN_POSITIVE {
        if b < 0.0 {
            alpha = -0.5 * c / b;
        }
    } else if root >= 0.0 {
        // The smallest positive root, in the form without cancellation.
        let q = -(b + root.sqrt().copysign(b));
        for r in [q / a, if q != 0.0 { c / q } else { f64::NAN }] {
            if r > 0.0 && r < alpha {
                alpha = r;
            }
        }
    }
    // The cone has one nappe only.
    if d.x < 0.0 { alpha.min(-x.x / d.x) } else { alpha }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_maps_x_to_s() {
        let (x, s) = (Vec3::new(2.0, 0.5, -1.0), Vec3::new(1.0, -0.3, 0.9));
        let h = nesterov_todd(x, s);
        assert!((h * x - s).length() < 1e-14);
        assert!((h - h.transpose()).abs_diff_eq(Mat3::ZERO, 1e-15));
    }

    #[test]
    fn the_boundary_is_where_the_determinant_vanishes() {
        for (x, d) in [
            (Vec3::new(2.0, 0.5, -1.0), Vec3::new(-1.0, 0.2, 0.1)),
            (Vec3::new(2.0, 0.5, -1.0), Vec3::new(0.1, 3.0, 0.0)),
            (Vec3::new(1.0, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0)),
        ] {
            let a = to_boundary(x, d);
            assert!(determinant(x + a * d).abs() < 1e-13, "{a}");
            assert!(determinant(x + 0.5 * a * d) > 0.0);
        }
        assert_eq!(to_boundary(Vec3::X, Vec3::new(1.0, 0.5, 0.0)), f64::INFINITY);
    }
}
