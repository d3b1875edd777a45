//! The one yardstick for every solver, always on the original problem.

use super::{ContactProblem, Solution, Term, cone};
use crate::linalg::Vec3;

/// How far an answer is from solving its [`ContactProblem`].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Residuals {
    /// Worst natural map with de Saxcé's shift, times the scale of the contact's Delassus block [m/s].
    /// Zero exactly when Signorini, Coulomb and maximal dissipation hold, and joints and their stops and drives too.
    pub natural: f64,
    /// ‖A v − b − Jᵀλ‖ in the norm of A's block-diagonal inverse [√kg·m/s]; bounds the energy error.
    pub momentum: f64,
    /// Deepest penetration that the step leaves in the linearised gaps [m].
    pub penetration: f64,
    /// Worst excess of friction over μ λ_n, or of a row over its bounds, relative to the largest impulse.
    pub cone: f64,
    /// Worst sine of the angle between slip and −friction among contacts that slip measurably.
    pub misalignment: f64,
}

impl Residuals {
    /// The larger of both, entry by entry.
    pub fn max(self, o: Residuals) -> Residuals {
        Residuals {
            natural: self.natural.max(o.natural),
            momentum: self.momentum.max(o.momentum),
            penetration: self.penetration.max(o.penetration),
            cone: self.cone.max(o.cone),
            misalignment: self.misalignment.max(o.misalignment),
        }
    }
}

/// Buffers of [`Yardstick::measure`], reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct Yardstick {
    r: Vec<f64>,
    f: Vec<f64>,
    block: Vec<f64>,
}

/// Contacts that slip slower than this share of the problem's velocity scale have no measurable direction.
const SLIP_SPEED: f64 = 1e-3;

impl Yardstick {
    /// Measures `x` on `p`.
    pub fn measure(&mut self, p: &ContactProblem, x: &Solution) -> Residuals {
        let mut res = Residuals { momentum: self.momentum(p, x), ..Residuals::default() };
        let largest = x
            .lambda
            .iter()
            .zip(&p.law)
            .map(|(l, law)| if law.is_contact() { l.x.abs() } else { l.abs().max_element() })
            .fold(f64::MIN_POSITIVE, f64::max);
        for c in 0..p.contacts() {
            let u = p.j.mul_one(c, &x.v) + p.bias[c] + p.softness[c] * x.lambda[c];
            let g = delassus_scale(p, c);
            // Elliptic cones are judged in the coordinates in which they are round.
            let (k, law) = (p.law[c].stretch(), p.law[c].round());
            let (lambda, u) = (x.lambda[c] / k, u * k);
            res.natural = res.natural.max(g * law.natural_map(lambda, u, g).length());
            res.cone = res.cone.max(law.excess(lambda) / largest);
            if !p.law[c].is_contact() {
                continue;
            }
            res.penetration = res.penetration.max(-u.x * p.h);
            let (slip, force) = (cone::tangent_norm(u), cone::tangent_norm(lambda));
            if slip > SLIP_SPEED * p.velocity_scale && force > SLIP_SPEED * largest {
                let (s, f) = (Vec3::new(0.0, u.y, u.z) / slip, Vec3::new(0.0, lambda.y, lambda.z) / force);
                let sine = s.cross(f).length();
                res.misalignment = res.misalignment.max(if s.dot(f) < 0.0 { sine } else { 1.0 });
            }
        }
        res
    }

    fn momentum(&mut self, p: &ContactProblem, x: &Solution) -> f64 {
        self.r.resize(p.dofs(), 0.0);
        self.f.clear();
        self.f.extend_from_slice(&p.b);
        p.j.mul_t_add(&x.lambda, &mut self.f);
        p.a.mul(&x.v, &mut self.r);
        let mut sum = 0.0;
        for i in 0..p.a.block_rows() {
            let (d, n) = p.a.block(i);
            self.block.clear();
            self.block.extend((0..n).map(|k| self.r[d + k] - self.f[d + k]));
            // rᵀ A_ii⁻¹ r through a small Cholesky factor.
            sum += crate::linalg::dense::inverse_quadratic_form(p.a.diagonal_block(i), &mut self.block);
        }
        sum.sqrt()
    }
}

/// Mean diagonal of the contact's block of J D⁻¹ Jᵀ, D the diagonal of A [1/kg].
pub(crate) fn delassus_scale(p: &ContactProblem, c: usize) -> f64 {
    let mut trace = p.softness[c].element_sum();
    // Rows of a frame may have other lengths than one, or be missing.
    let frame = &p.j.frame[c];
    let share =
        (frame.x_axis.length_squared() + frame.y_axis.length_squared() + frame.z_axis.length_squared()) / 3.0;
    for t in p.j.terms(c) {
        let (_, n) = p.a.block(t.block());
        let d = p.a.diagonal_block(t.block());
        let inverse = |k: usize| 1.0 / d[k * n + k];
        let linear = || inverse(0) + inverse(1) + inverse(2);
        let of_term = match *t {
            Term::Node { weight, .. } => weight * weight * linear(),
            Term::Rigid { arm, .. } => {
                // trace of [r]× I⁻¹ [r]×ᵀ with the diagonal of I.
                let i = Vec3::new(inverse(3), inverse(4), inverse(5));
                let r2 = arm * arm;
                linear() + i.x * (r2.y + r2.z) + i.y * (r2.x + r2.z) + i.z * (r2.x + r2.y)
            }
            Term::Spin { length, .. } => length * length * (inverse(3) + inverse(4) + inverse(5)),
        };
        trace += share * of_term;
    }
    if trace > 0.0 { trace / 3.0 } else { 1.0 }
}

/// Measures `x` on `p` once; in a loop keep a [`Yardstick`].
pub fn measure(p: &ContactProblem, x: &Solution) -> Residuals {
    Yardstick::default().measure(p, x)
}
