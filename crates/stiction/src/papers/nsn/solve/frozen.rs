//! The equations of a frozen contact problem: J, H = A and the gaps' linearisation stay as they are.
//!
//! g = A u − b − Jᵀλ (57), h of the rows (58) with `u_c = J u + bias + softness λ`. Elliptic cones are stretched to round
//! ones. With the [`Places`] of its bodies the gaps, and J, are taken at q⁻ + h G u instead. Where dofs are coupled through A, the rows are those of the Delassus matrix W, and `u_c = W λ + q` always.

use super::iteration::{Equations, Iterate};
use super::places::Places;
use super::rows::{ContactRows, Factors, bounded_rows, contact_rows};
use super::schur::Schur;
use super::settings::{Derivative, Finish, NewtonSettings, Start};
use super::stiffness::SystemForm;
use crate::contact::law::RoundLaw;
use crate::contact::law::cone;
use crate::contact::{ContactProblem, LocalProblem, Term};
use crate::coords::Part;
use crate::linalg::{Mat3, Real, SparseRows, Vec3};

/// A contact problem, or the part of one, in numbers of one kind.
#[derive(Default)]
pub struct Frozen<T> {
    settings: NewtonSettings,
    h: f64,
    law: Vec<RoundLaw>,
    /// Added to J u, or to W λ.
    bias: Vec<T>,
    softness: Vec<T>,
    b: Vec<T>,
    /// Scale of each block's part of W [1/kg].
    block_scale: Vec<f64>,
    /// The speed by which errors are judged [m/s].
    speed: f64,
    u: Vec<T>,
    force: Vec<T>,
    lambda: Vec<T>,
    f: Vec<T>,
    v: Vec<T>,
    /// The last answer that was judged.
    judged: Iterate<T>,
    /// The best answer so far and its error.
    best: Iterate<T>,
    best_error: f64,
    /// First local dof of each block of the problem.
    first: Vec<usize>,
    /// Velocity per dof of the blocks that move a contact: first dof, columns, width.
    columns: Vec<(usize, [Vec3; 6], usize)>,
    places: Option<Places<T>>,
}

impl<T: Real> Frozen<T> {
    /// Takes some contacts of `p`, whose A is block diagonal on `blocks`.
    pub fn set(
        &mut self,
        p: &ContactProblem,
        blocks: &[u32],
        contacts: &[u32],
        settings: &NewtonSettings,
        s: &mut Schur<T>,
    ) {
        self.clear(settings, p.h);
        self.first.clear();
        self.first.resize(p.a.block_rows(), usize::MAX);
        s.mass.clear();
        for &i in blocks {
            let (d, n) = p.a.block(i as usize);
            self.first[i as usize] = s.mass.dofs();
            s.mass.push(p.a.diagonal_block(i as usize), n);
            self.b.extend(p.b[d..d + n].iter().map(|b| T::of(*b)));
        }
        s.j.clear();
        let mut columns = std::mem::take(&mut self.columns);
        for &c in contacts {
            let c = c as usize;
            let k = p.law[c].stretch();
            let frame = Mat3::from_diagonal(k) * p.j.frame[c];
            // Velocity per dof of each block that moves the contact, in world axes; terms of one block are one.
            columns.clear();
            for t in p.j.terms(c) {
                let at = self.first[t.block()];
                let width = p.a.block(t.block()).1;
                let found = columns.iter().position(|x| x.0 == at).unwrap_or_else(|| {
                    columns.push((at, [Vec3::ZERO; 6], width));
                    columns.len() - 1
                });
                add_term(t, &mut columns[found].1);
            }
            for r in 0..3 {
                let n = frame.row(r);
                for (at, by, width) in &columns {
                    for d in 0..*width {
                        s.j.push(at + d, T::of(n.dot(by[d])));
                    }
                }
                s.j.end_row();
            }
            self.push_block(k * p.bias[c], p.softness[c] * k * k, p.law[c].round());
        }
        self.columns = columns;
        s.rows_changed();
        self.finish_set(s, p.velocity_scale);
    }

    /// Takes a bare problem `u = W r + q`; W is taken as symmetric.
    pub fn set_local(
        &mut self,
        p: &LocalProblem,
        h: f64,
        settings: &NewtonSettings,
        s: &mut Schur<T>,
        least: f64,
    ) {
        self.clear(settings, h);
        let mut w = SparseRows::default();
        w.clear();
        let n = p.contacts();
        for i in 0..n {
            for r in 0..3 {
                for e in p.row_start[i]..p.row_start[i + 1] {
                    for c in 0..3 {
                        w.push(3 * p.col[e] as usize + c, T::of(p.block[e].col(c)[r]));
                    }
                }
                w.end_row();
            }
            self.push_block(p.q[i], Vec3::ZERO, p.law[i]);
        }
        s.mass.clear();
        s.j.clear();
        for _ in 0..3 * n {
            s.j.end_row();
        }
        s.set_w(w);
        self.finish_set(s, least);
    }

    fn clear(&mut self, settings: &NewtonSettings, h: f64) {
        self.settings = *settings;
        self.h = h;
        self.law.clear();
        self.bias.clear();
        self.softness.clear();
        self.b.clear();
        self.block_scale.clear();
        self.places = None;
    }

    /// From here on gaps are those of `places` of the same contacts, until the next problem is set.
    pub fn place(&mut self, places: Places<T>) {
        self.places = Some(places);
    }

    fn push_block(&mut self, bias: Vec3, softness: Vec3, law: RoundLaw) {
        self.bias.extend(bias.to_array().map(T::of));
        self.softness.extend(softness.to_array().map(T::of));
        self.law.push(law);
    }

    fn finish_set(&mut self, s: &mut Schur<T>, least: f64) {
        let rows = self.bias.len();
        s.blocks.clear();
        s.blocks.extend((0..=rows / 3).map(|b| 3 * b as u32));
        s.scale.resize(rows, T::ONE);
        for c in 0..self.law.len() {
            let sum: f64 = (3 * c..3 * c + 3).map(|i| (s.w_diagonal()[i] + self.softness[i]).to_f64()).sum();
            self.block_scale.push(if sum > 0.0 { sum / 3.0 } else { 1.0 });
        }
        for v in [&mut self.u, &mut self.force, &mut self.lambda] {
            v.clear();
            v.resize(rows, T::ZERO);
        }
        let dofs = self.b.len();
        self.f.resize(dofs, T::ZERO);
        self.v.resize(dofs, T::ZERO);
        s.mass.divide(&self.b, &mut self.v);
        let mut speed = least.max(f64::MIN_POSITIVE);
        for c in 0..self.law.len() {
            let q = Vec3::from_array(std::array::from_fn(|k| {
                (s.j.mul_row(3 * c + k, &self.v) + self.bias[3 * c + k]).to_f64()
            }));
            let g = self.block_scale[c];
            speed = speed.max(match self.law[c] {
                RoundLaw::Cone(_) => q.length(),
                rows => g * rows.natural_map(Vec3::ZERO, q, g).length(),
            });
        }
        self.speed = speed;
        self.judged = Iterate { u: self.v.clone(), lambda: self.lambda.clone() };
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.bias.len()
    }

    /// The first iterate from the multipliers of the guess, in stretched coordinates.
    pub fn start(&mut self, guess: &[Vec3], s: &Schur<T>, x: &mut Iterate<T>) {
        x.lambda.clear();
        x.u.clear();
        let start = self.settings.start;
        x.lambda.extend(guess.iter().flat_map(|g| g.to_array()).map(|l| match start {
            Start::Warm => T::of(l),
            Start::Zero | Start::Free => T::ZERO,
        }));
        x.u.resize(self.b.len(), T::ZERO);
        if start != Start::Zero {
            self.velocity_of(&x.lambda, s, &mut x.u);
        }
    }

    /// u = H⁻¹(b + Jᵀλ).
    fn velocity_of(&mut self, lambda: &[T], s: &Schur<T>, u: &mut [T]) {
        self.f.copy_from_slice(&self.b);
        s.j.mul_t_add(lambda, &mut self.f);
        s.mass.divide(&self.f, u);
    }

    /// J u + bias + softness λ, or W λ + q; gap/h + softness λ for normals with places.
    fn row_velocities(&mut self, u: &[T], lambda: &[T], s: &Schur<T>) {
        for i in 0..self.bias.len() {
            let moved = if self.b.is_empty() {
                s.assembled().map_or(T::ZERO, |w| w.mul_row(i, lambda))
            } else {
                s.j.mul_row(i, u) + self.softness[i] * lambda[i]
            };
            self.u[i] = moved + self.bias[i];
        }
        if let Some(places) = &mut self.places {
            places.move_to(u);
            for c in 0..self.law.len() {
                self.u[3 * c] = places.gap_velocity(c) + self.softness[3 * c] * lambda[3 * c];
            }
        }
    }

    /// The answer that was judged last: the iterate itself, or what is consistent with it.
    pub fn answer(&self) -> &Iterate<T> {
        &self.judged
    }

    /// Takes other settings for the same rows.
    pub fn change(&mut self, settings: &NewtonSettings) {
        self.settings = *settings;
    }

    /// Starts to look for the best answer anew.
    pub fn forget_best(&mut self) {
        self.best_error = f64::INFINITY;
    }

    /// Makes the best of all answers the one that is returned; its error.
    pub fn take_best(&mut self) -> f64 {
        if self.best_error.is_finite() {
            self.judged.clone_from(&self.best);
        }
        self.best_error
    }

    /// The velocity measure of the iterate; leaves the answer in `judged`.
    fn judge(&mut self, x: &Iterate<T>, s: &Schur<T>) -> f64 {
        let mut judged = std::mem::take(&mut self.judged);
        judged.lambda.clone_from(&x.lambda);
        judged.u.clone_from(&x.u);
        let consistent = self.settings.finish == Finish::Consistent;
        if consistent {
            for (c, law) in self.law.iter().enumerate() {
                let l = vec3(&x.lambda, c);
                let allowed = match *law {
                    RoundLaw::Cone(mu) => cone::project_strict(l, mu),
                    rows => rows.project(l),
                };
                for k in 0..3 {
                    judged.lambda[3 * c + k] = T::of(allowed[k]);
                }
            }
            let lambda = std::mem::take(&mut judged.lambda);
            self.velocity_of(&lambda, s, &mut judged.u);
            judged.lambda = lambda;
        }
        self.row_velocities(&judged.u, &judged.lambda, s);
        let mut worst = 0.0_f64;
        for c in 0..self.law.len() {
            let (l, u, g) = (vec3(&judged.lambda, c), vec3(&self.u, c), self.block_scale[c]);
            worst = larger(worst, g * self.law[c].natural_map(l, u, g).length());
        }
        if !consistent {
            // The iterate may not balance momentum yet: by how much its velocity is off.
            let mut v = std::mem::take(&mut self.v);
            self.velocity_of(&judged.lambda, s, &mut v);
            for (a, b) in v.iter().zip(&judged.u) {
                worst = larger(worst, (*a - *b).to_f64().abs());
            }
            self.v = v;
        }
        self.judged = judged;
        let error = worst / self.speed;
        if consistent && error < self.best_error {
            self.best_error = error;
            self.best.clone_from(&self.judged);
        }
        error
    }
}

impl<T: Real> Equations<T> for Frozen<T> {
    fn linearize(&mut self, x: &Iterate<T>, s: &mut Schur<T>) {
        let rows = self.rows();
        if let Some(places) = &mut self.places {
            places.move_to(&x.u);
            places.write_rows(&mut s.j);
            s.rows_changed_from(0, true, SystemForm::Compliance);
        }
        self.row_velocities(&x.u, &x.lambda, s);
        s.h.resize(rows, T::ZERO);
        s.known.resize(rows, T::ZERO);
        s.value.resize(rows, T::ZERO);
        s.compliance.reset(rows);
        s.coupling.clear();
        for c in 0..self.law.len() {
            let three = |x: &[T]| [x[3 * c], x[3 * c + 1], x[3 * c + 2]];
            let (u, lambda, softness) = (three(&self.u), three(&x.lambda), three(&self.softness));
            let w = std::array::from_fn(|k| s.w_diagonal()[3 * c + k] + softness[k]);
            let block = match self.law[c] {
                RoundLaw::Cone(mu) => {
                    let r = Factors::of_contact(self.settings.scaling, w, self.h);
                    contact_rows(&self.settings, mu, u, lambda, softness, r)
                }
                RoundLaw::Rows(bounds) => {
                    let r = Factors::of_bounds(self.settings.scaling, w, self.h);
                    let rows = bounded_rows(&self.settings, &bounds, u, lambda, softness, r);
                    ContactRows { rows, pair: None, coupling: None }
                }
            };
            block.put(s, 3 * c);
        }
        // g = A u − b − Jᵀλ, with the rows as the momentum balance has them.
        s.g.resize(self.b.len(), T::ZERO);
        s.mass.mul(&x.u, &mut s.g);
        for (g, b) in s.g.iter_mut().zip(&self.b) {
            *g -= *b;
        }
        for i in 0..rows {
            let literal = self.settings.derivative == Derivative::Literal;
            self.force[i] = if literal { -s.scale[i] * x.lambda[i] } else { -x.lambda[i] };
        }
        s.j.mul_t_add(&self.force, &mut s.g);
    }

    fn error(&mut self, x: &Iterate<T>, s: &Schur<T>) -> f64 {
        self.judge(x, s)
    }
}

fn vec3<T: Real>(x: &[T], c: usize) -> Vec3 {
    Vec3::new(x[3 * c].to_f64(), x[3 * c + 1].to_f64(), x[3 * c + 2].to_f64())
}

/// The larger; infinite where either is not a number.
fn larger(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// Adds the velocity per dof of the block of `t`.
fn add_term(t: &Term, by: &mut [Vec3; 6]) {
    match *t {
        Term::Point(Part::Node { weight, .. }) => {
            for d in 0..3 {
                by[d] += weight * Vec3::AXES[d];
            }
        }
        Term::Point(Part::Rigid { weight: sign, arm, .. }) => {
            for d in 0..3 {
                by[d] += sign * Vec3::AXES[d];
                by[3 + d] += sign * Vec3::AXES[d].cross(arm);
            }
        }
        Term::Spin { length, .. } => {
            for d in 0..3 {
                by[3 + d] += length * Vec3::AXES[d];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::samples;

    /// One cube of 8 kg and 1 m on four corners, at rest: the problem and its system at normal velocity `u` and multipliers
    /// `lambda`, linearised twice so that D of the first time is there.
    fn linearized(derivative: Derivative, u: f64, lambda: [f64; 3]) -> Schur<f64> {
        let p = samples::heavy_stack(1);
        let settings = NewtonSettings { derivative, ..NewtonSettings::default() };
        let (mut frozen, mut s) = (Frozen::default(), Schur::default());
        frozen.set(&p, &[0], &[0, 1, 2, 3], &settings, &mut s);
        let x = Iterate { u: vec![0.0, 0.0, u, 0.0, 0.0, 0.0], lambda: lambda.repeat(4) };
        for _ in 0..2 {
            frozen.linearize(&x, &mut s);
        }
        s
    }

    /// N9: at (0, 0) Fischer–Burmeister has α = 0 and β = r, which shows r: J M⁻¹ Jᵀ = (1 + 3)/m at the corner of a cube, where
    /// the printed α J M⁻¹ Jᵀ α is zero.
    #[test]
    fn n9_the_factor_does_not_know_the_scale_of_its_row() {
        let s = linearized(Derivative::Literal, 0.0, [0.0; 3]);
        for c in 0..4 {
            assert_eq!(s.scale[3 * c], 0.0);
            assert!((s.compliance.diagonal[3 * c] - 4.0 / 8.0).abs() < 1e-12, "{:?}", s.compliance.diagonal);
        }
    }

    /// N7: the force is ∇Cᵀλ but for the printed form, where it is α∇Cᵀλ.
    #[test]
    fn n7_only_the_printed_form_has_alpha_in_the_force() {
        let (u, lambda): (f64, [f64; 3]) = (0.3, [0.8, 0.1, -0.05]);
        // r = 4/m; friction rows have no α.
        let alpha = 1.0 - u / u.hypot(0.5 * lambda[0]);
        let free = 8.0 * (u + samples::GRAVITY * samples::TIME_STEP);
        for (derivative, share) in
            [(Derivative::Literal, alpha), (Derivative::Scaled, 1.0), (Derivative::Divided, 1.0)]
        {
            let g = linearized(derivative, u, lambda).g;
            let pushed = 4.0 * share * lambda[0];
            assert!((g[2] - (free - pushed)).abs() < 1e-12, "{derivative:?}: {} {}", g[2], free - pushed);
            let dragged = g[0].hypot(g[1]);
            assert!((dragged - 4.0 * lambda[1].hypot(lambda[2])).abs() < 1e-12, "{derivative:?}: {g:?}");
        }
        assert!(alpha < 0.5, "{alpha}");
    }
}
