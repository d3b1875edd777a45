//! The one yardstick for every solver, always on the original problem.

use super::law::RoundLaw;
use super::{ContactProblem, Friction, Law, Solution, Term};
use crate::contact::law::cone;
use crate::coords::Part;
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
    /// Worst excess of friction over μ λ_n relative to the largest normal impulse, or of a row over its bounds relative to the
    /// largest multiplier of rows.
    pub cone: f64,
    /// Worst sine of the angle between slip and −friction among contacts that slip measurably.
    pub misalignment: f64,
}

impl Residuals {
    /// The larger of both, entry by entry.
    pub fn max(self, o: Residuals) -> Residuals {
        Residuals {
            natural: worse(self.natural, o.natural),
            momentum: worse(self.momentum, o.momentum),
            penetration: worse(self.penetration, o.penetration),
            cone: worse(self.cone, o.cone),
            misalignment: worse(self.misalignment, o.misalignment),
        }
    }

    /// Of contacts that no contact problem describes, all but momentum: those of a step with forces of its own. `speed` is the
    /// velocity scale [m/s].
    pub(crate) fn of_contacts(readings: &[ContactReading], h: f64, speed: f64) -> Residuals {
        let largest = readings.iter().map(|r| r.lambda.x.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let mut res = Residuals::default();
        for r in readings {
            let (k, law) = (r.friction.stretch(), Law::from(r.friction).round());
            let u = Vec3::new(r.gap / h, r.slip.y, r.slip.z);
            res.add_block(law, r.lambda / k, u * k, r.g, speed, largest);
            res.penetration = worse(res.penetration, -r.gap);
        }
        res
    }

    /// Takes one block in, all but its penetration. λ, u and the law are in coordinates in which its cone is round; `g` is the
    /// scale of the block [1/kg], `speed` the velocity scale, `largest` the largest multiplier of its kind.
    #[inline(always)]
    pub(crate) fn add_block(
        &mut self,
        law: RoundLaw,
        lambda: Vec3,
        u: Vec3,
        g: f64,
        speed: f64,
        largest: f64,
    ) {
        self.natural = worse(self.natural, g * law.natural_map(lambda, u, g).length());
        self.cone = worse(self.cone, law.excess(lambda) / largest);
        if matches!(law, RoundLaw::Rows(_)) {
            return;
        }
        let (slip, force) = (cone::tangent_norm(u), cone::tangent_norm(lambda));
        if slip > SLIP_SPEED * speed && force > SLIP_SPEED * largest {
            let (s, f) = (Vec3::new(0.0, u.y, u.z) / slip, Vec3::new(0.0, lambda.y, lambda.z) / force);
            let sine = s.cross(f).length();
            let opposes = s.dot(f) < 0.0 || crate::mutant::on("yardstick-along");
            self.misalignment = worse(self.misalignment, if opposes { sine } else { 1.0 });
        }
    }

    /// True when every entry is a number.
    pub fn are_finite(&self) -> bool {
        let all = [self.natural, self.momentum, self.penetration, self.cone, self.misalignment];
        all.iter().all(|x| x.is_finite())
    }
}

/// A contact as it stands at the end of a step, in its own frame.
pub(crate) struct ContactReading {
    pub friction: Friction,
    /// Gap at the end [m].
    pub gap: f64,
    /// Impulse [N·s].
    pub lambda: Vec3,
    /// Velocity of side a's point against that of side b at the end [m/s].
    pub slip: Vec3,
    /// Mean diagonal of its block of J M⁻¹ Jᵀ [1/kg].
    pub g: f64,
}

/// The larger of both; infinite where one is no number, so that nobody takes NaN for small.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// Sizes with which residuals are compared. They come from the data alone, so that no answer makes its own scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataScales {
    /// The fastest contact, or row that its bounds stop, before any contact acts; at least g h [m/s].
    pub speed: f64,
    /// Momentum of the data and of all mass at that speed, in the norm of the momentum residual [√kg·m/s]. An answer to a contact
    /// problem is compared block by block as well ([`Yardstick::bears_out`]).
    pub momentum: f64,
}

/// Natural map and momentum residual of a solved answer, those of each block included, are below this share of the data,
/// whatever its solver stopped on.
const SOLVED: f64 = 1e-2;

impl DataScales {
    /// True when these residuals may be called converged. `coulomb`: the solver answers by the law that the natural map
    /// measures.
    pub fn bear_out(&self, r: &Residuals, coulomb: bool) -> bool {
        if crate::mutant::on("status-unchecked") {
            return true;
        }
        r.are_finite()
            && (!coulomb || r.natural <= SOLVED * self.speed)
            && r.momentum <= SOLVED * self.momentum
    }
}

/// Buffers of [`Yardstick::measure`], reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct Yardstick {
    r: Vec<f64>,
    f: Vec<f64>,
    block: Vec<f64>,
    /// Momentum residual of each block of the answer that was measured last, in the norm of A_ii⁻¹ [√kg·m/s].
    own: Vec<f64>,
    /// The same norm of each block of b.
    data: Vec<f64>,
}

/// Contacts that slip slower than this share of the problem's velocity scale have no measurable direction.
const SLIP_SPEED: f64 = 1e-3;

impl Yardstick {
    /// Measures `x` on `p`.
    pub fn measure(&mut self, p: &ContactProblem, x: &Solution) -> Residuals {
        let mut res = Residuals { momentum: self.momentum(p, x), ..Residuals::default() };
        // Impulses of joints, some of them moments, are no measure of those of contacts.
        let (mut normal, mut row) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        for (l, law) in x.lambda.iter().zip(&p.law) {
            match law.is_contact() {
                true => normal = normal.max(l.x.abs()),
                false => row = row.max(l.abs().max_element()),
            }
        }
        for c in 0..p.contacts() {
            let u = p.j.mul_one(c, &x.v) + p.bias[c] + p.softness[c] * x.lambda[c];
            let g = delassus_scale(p, c);
            // Elliptic cones are judged in the coordinates in which they are round.
            let (k, law) = (p.law[c].stretch(), p.law[c].round());
            let (lambda, u) = (x.lambda[c] / k, u * k);
            let largest = if p.law[c].is_contact() { normal } else { row };
            res.add_block(law, lambda, u, g, p.velocity_scale, largest);
            if p.law[c].is_contact() {
                let scale = if crate::mutant::on("yardstick-penetration") { 0.1 } else { 1.0 };
                res.penetration = worse(res.penetration, -u.x * p.h * scale);
            }
        }
        res
    }

    /// True unless the residuals `r` of an answer to `p`, the one measured last, contradict that it is solved; `smooth` are
    /// velocities before any contact acts, as far as they are known. The free velocity itself is found only where cheaper
    /// scales do not settle it. Each body has its own momentum to keep: what a light one misses is little beside a heavy one.
    pub fn bears_out(&mut self, p: &ContactProblem, r: &Residuals, smooth: &[f64], coulomb: bool) -> bool {
        if !r.are_finite() && !crate::mutant::on("status-unchecked") {
            return false;
        }
        let floor = DataScales { speed: p.velocity_scale, momentum: mass(p).sqrt() * p.velocity_scale };
        self.data.clear();
        self.data.resize(p.a.block_rows(), 0.0);
        if floor.bear_out(r, coulomb) && self.blocks_bear_out(p, floor.speed) {
            return true;
        }
        let scales = self.data_scales(p, smooth);
        if scales.bear_out(r, coulomb) && self.blocks_bear_out(p, scales.speed) {
            return true;
        }
        let scales = self.free_scales(p);
        scales.bear_out(r, coulomb) && self.blocks_bear_out(p, scales.speed)
    }

    /// [`DataScales::bear_out`] for the momentum of each block that A couples to no other. What elastic forces couple shares its
    /// momentum: a node may have no data of its own.
    fn blocks_bear_out(&self, p: &ContactProblem, speed: f64) -> bool {
        let of_block = |(i, (r, b)): (usize, (&f64, &f64))| {
            *r <= SOLVED * (b + block_mass(p, i).sqrt() * speed) || p.a.row(i).any(|(j, _)| j != i)
        };
        self.own.iter().zip(&self.data).enumerate().all(of_block)
    }

    /// What residuals on `p` are compared with, by its free velocity v = A⁻¹ b.
    pub fn free_scales(&mut self, p: &ContactProblem) -> DataScales {
        let mut v = Vec::new();
        p.free_velocity(&mut v);
        self.data_scales(p, &v)
    }

    /// The same by velocities `v` before any contact acts.
    pub fn data_scales(&mut self, p: &ContactProblem, v: &[f64]) -> DataScales {
        let speed = |c: usize| {
            let u = p.j.mul_one(c, v) + p.bias[c];
            match p.law[c].is_contact() {
                true => u.length(),
                // A stop that is far away is no fast motion.
                false => {
                    let g = delassus_scale(p, c);
                    g * p.law[c].round().natural_map(Vec3::ZERO, u, g).length()
                }
            }
        };
        let speed = (0..p.contacts()).map(speed).fold(p.velocity_scale, f64::max);
        self.r.clear();
        self.r.resize(p.dofs(), 0.0);
        self.f.clear();
        self.f.extend_from_slice(&p.b);
        let mut data = std::mem::take(&mut self.data);
        let momentum = self.inverse_norm(p, &mut data) + mass(p).sqrt() * speed;
        self.data = data;
        DataScales { speed, momentum }
    }

    fn momentum(&mut self, p: &ContactProblem, x: &Solution) -> f64 {
        self.r.resize(p.dofs(), 0.0);
        self.f.clear();
        self.f.extend_from_slice(&p.b);
        p.j.mul_t_add(&x.lambda, &mut self.f);
        p.a.mul(&x.v, &mut self.r);
        let mut own = std::mem::take(&mut self.own);
        let momentum = self.inverse_norm(p, &mut own);
        self.own = own;
        momentum
    }

    /// ‖r − f‖ in the norm of A's block-diagonal inverse, and that of each block.
    fn inverse_norm(&mut self, p: &ContactProblem, blocks: &mut Vec<f64>) -> f64 {
        let mut sum = 0.0;
        blocks.clear();
        for i in 0..p.a.block_rows() {
            let (d, n) = p.a.block(i);
            self.block.clear();
            self.block.extend((0..n).map(|k| self.r[d + k] - self.f[d + k]));
            if crate::mutant::on("yardstick-rotation") && n == 6 {
                self.block[3..].fill(0.0);
            }
            // rᵀ A_ii⁻¹ r through a small Cholesky factor.
            let square = crate::linalg::dense::inverse_quadratic_form(p.a.diagonal_block(i), &mut self.block);
            blocks.push(square.sqrt());
            sum += square;
        }
        sum.sqrt()
    }
}

/// Sum of the diagonal of A over translations [kg]; elastic bodies count with their stiffness.
fn mass(p: &ContactProblem) -> f64 {
    (0..p.a.block_rows()).map(|i| block_mass(p, i)).sum()
}

/// The same of one block.
fn block_mass(p: &ContactProblem, i: usize) -> f64 {
    let (n, a) = (p.a.block(i).1, p.a.diagonal_block(i));
    a[0] + a[n + 1] + a[2 * n + 2]
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
            Term::Point(Part::Node { weight, .. }) => weight * weight * linear(),
            Term::Point(Part::Rigid { arm, .. }) => {
                // trace of [r]× I⁻¹ [r]×ᵀ with the diagonal of I.
                let i = Vec3::new(
                    inverse(3),
                    inverse(if crate::mutant::on("yardstick-index") { 3 } else { 4 }),
                    inverse(5),
                );
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
