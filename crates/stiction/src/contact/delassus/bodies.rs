//! The Delassus operator of free bodies without ever building it: impulses change body velocities, and contact
//! velocities are read off the bodies. One pass over the contacts costs O(contacts).

use super::slots::{NONE, Slots};
use crate::contact::delassus::{Delassus, conjugate};
use crate::contact::law::coulomb::ContactBlock;
use crate::contact::law::rows::solve_rows;
use crate::contact::law::{Bounds, RoundLaw};
use crate::contact::{ContactProblem, Term};
use crate::coords::Part;
use crate::linalg::{BlockLu, Mat3, Mat6, Vec3, Vec6, skew};

/// How a body moves a block: `linear · v + ω × arm + angular · ω`. Contacts have no angular part, rows of angles have
/// nothing else.
#[derive(Clone, Copy, Debug)]
struct Side {
    body: u32,
    linear: f64,
    arm: Vec3,
    angular: f64,
}

impl Side {
    fn new(body: u32, t: &Term) -> Side {
        let (linear, arm, angular) = match *t {
            Term::Point(Part::Node { weight, .. }) => (weight, Vec3::ZERO, 0.0),
            Term::Point(Part::Rigid { weight: sign, arm, .. }) => (sign, sign * arm, 0.0),
            Term::Spin { length, .. } => (0.0, Vec3::ZERO, length),
        };
        Side { body, linear, arm, angular }
    }

    #[inline(always)]
    fn velocity(&self, v: &Vec6) -> Vec3 {
        self.linear * v.lin + v.ang.cross(self.arm) + self.angular * v.ang
    }

    #[inline(always)]
    fn moment(&self, p: Vec3) -> Vec3 {
        self.arm.cross(p) + self.angular * p
    }

    /// The matrix of the angular part: angular · I − [arm]×.
    fn turn(&self) -> Mat3 {
        Mat3::from_diagonal(Vec3::splat(self.angular)) - skew(self.arm)
    }

    /// Bound of |ω × arm + angular · ω| per |ω|.
    fn reach(&self) -> f64 {
        self.arm.length() + self.angular.abs()
    }
}

/// What a block obeys, in two words: the sweep passes over many.
#[derive(Clone, Copy, Debug)]
enum CompactLaw {
    Cone(f64),
    /// Index into `Bodies::bounds`.
    Rows(u32),
}

#[derive(Clone, Copy, Debug)]
struct BodyData {
    block: u32,
    dof: u32,
    mass: f64,
    inertia: Mat3,
    mass_inverse: f64,
    /// Zero for particles.
    inertia_inverse: Mat3,
    rigid: bool,
}

/// Contacts of one island and the bodies that they move.
///
/// Elliptic cones are stretched to round ones: frames carry the factors, impulses and velocities are those of the
/// round problem ([`Friction::stretch`](crate::contact::Friction::stretch)).
#[derive(Default)]
pub struct Bodies {
    bodies: Vec<BodyData>,
    free_velocity: Vec<Vec6>,
    slots: Slots,
    frame: Vec<Mat3>,
    bias: Vec<Vec3>,
    softness: Vec<Vec3>,
    law: Vec<CompactLaw>,
    bounds: Vec<Bounds>,
    free: Vec<Vec3>,
    diagonal: Vec<Mat3>,
    block: Vec<ContactBlock>,
    scale: Vec<f64>,
    side_start: Vec<u32>,
    sides: Vec<Side>,
    /// Velocities and impulses that `contact_velocity` sees.
    loaded: Vec<Vec6>,
    loaded_r: Vec<Vec3>,
    /// Velocities before the last sweep, and the change of velocities along the direction of `accelerate`.
    unswept: Vec<Vec6>,
    along: Vec<Vec6>,
    work: Vec<Vec6>,
    p: Vec<Mat3>,
    lu: BlockLu,
    rhs: Vec<[f64; 6]>,
}

impl Bodies {
    /// Takes the given contacts of `p`. False when `p` has couplings that this form does not know (dofs coupled
    /// through `A`, or blocks that are not the inertia of a particle or a rigid body).
    pub fn prepare(&mut self, p: &ContactProblem, contacts: &[u32]) -> bool {
        self.bodies.clear();
        self.frame.clear();
        self.bias.clear();
        self.softness.clear();
        self.law.clear();
        self.bounds.clear();
        self.side_start.clear();
        self.side_start.push(0);
        self.sides.clear();
        self.free_velocity.clear();
        self.slots.start(p, contacts);
        for &c in contacts {
            let c = c as usize;
            let k = p.law[c].stretch();
            self.frame.push(Mat3::from_diagonal(k) * p.j.frame[c]);
            self.bias.push(k * p.bias[c]);
            self.softness.push(p.softness[c] * k * k);
            self.law.push(match p.law[c].round() {
                RoundLaw::Cone(mu) => CompactLaw::Cone(mu),
                RoundLaw::Rows(b) => {
                    self.bounds.push(b);
                    CompactLaw::Rows(self.bounds.len() as u32 - 1)
                }
            });
            for t in p.j.terms(c) {
                let slot = self.slots.of(t.block());
                if *slot == NONE {
                    let Some(body) = body_data(p, t) else { return false };
                    *slot = self.bodies.len() as u32;
                    self.bodies.push(body);
                }
                self.sides.push(Side::new(*slot, t));
            }
            self.side_start.push(self.sides.len() as u32);
        }
        for b in &self.bodies {
            let d = b.dof as usize;
            let lin = Vec3::from_slice(&p.b[d..]) * b.mass_inverse;
            let ang = if b.rigid { b.inertia_inverse * Vec3::from_slice(&p.b[d + 3..]) } else { Vec3::ZERO };
            self.free_velocity.push(Vec6 { lin, ang });
        }
        self.free.clear();
        self.diagonal.clear();
        self.block.clear();
        self.scale.clear();
        for c in 0..contacts.len() {
            self.free.push(self.relative(c, &self.free_velocity) + self.bias[c]);
            let d = self.diagonal_block(c);
            let mean = (d.x_axis.x + d.y_axis.y + d.z_axis.z) / 3.0;
            self.diagonal.push(d);
            self.block.push(ContactBlock::new(&d));
            self.scale.push(if mean > 0.0 { mean } else { 1.0 });
        }
        self.loaded.clear();
        self.loaded.extend_from_slice(&self.free_velocity);
        self.loaded_r.clear();
        self.loaded_r.resize(contacts.len(), Vec3::ZERO);
        true
    }

    /// Changes b so that the impulses `r` lead the bodies for which `keeps` holds (by block) to the velocities `v`:
    /// impulses that are not among these contacts are part of `b` then. Other bodies must have no such impulses.
    pub fn start_from(&mut self, v: &[f64], r: &[Vec3], keeps: impl Fn(usize) -> bool) {
        self.work.clear();
        self.work.resize(self.bodies.len(), Vec6::ZERO);
        let mut given = std::mem::take(&mut self.work);
        for (c, r) in r.iter().enumerate() {
            self.push_bodies(c, *r, &mut given);
        }
        for ((w, g), b) in self.free_velocity.iter_mut().zip(&given).zip(&self.bodies) {
            if keeps(b.block as usize) {
                let d = b.dof as usize;
                w.lin = Vec3::from_slice(&v[d..]) - g.lin;
                if b.rigid {
                    w.ang = Vec3::from_slice(&v[d + 3..]) - g.ang;
                }
            }
        }
        self.work = given;
        for c in 0..r.len() {
            self.free[c] = self.relative(c, &self.free_velocity) + self.bias[c];
        }
    }

    /// Writes A⁻¹(b + Jᵀ r) of the bodies of the island into `v`.
    pub fn write_velocity(&mut self, r: &[Vec3], v: &mut [f64]) {
        self.body_velocities(r);
        for (b, w) in self.bodies.iter().zip(&self.work) {
            let d = b.dof as usize;
            w.lin.write_to_slice(&mut v[d..d + 3]);
            if b.rigid {
                w.ang.write_to_slice(&mut v[d + 3..d + 6]);
            }
        }
    }

    /// The motion A⁻¹ Jᵀ dy of the bodies that belongs to [`Delassus::solve`], written into `v`; more exact than by way
    /// of `dy` where P is large.
    pub fn solve_motion(&mut self, g: &[Vec3], v: &mut [f64]) {
        self.solve_primal(g);
        for (b, x) in self.bodies.iter().zip(&self.rhs) {
            let (d, n) = (b.dof as usize, if b.rigid { 6 } else { 3 });
            v[d..d + n].copy_from_slice(&x[..n]);
        }
    }

    /// (A + Jᵀ P J)⁻¹ Jᵀ P g into `rhs`.
    fn solve_primal(&mut self, g: &[Vec3]) {
        self.rhs.clear();
        self.rhs.resize(self.bodies.len(), [0.0; 6]);
        for c in 0..g.len() {
            if self.p[c] == Mat3::ZERO {
                continue;
            }
            let p = self.frame[c].transpose() * (self.p[c] * g[c]);
            for s in &self.sides[self.side_start[c] as usize..self.side_start[c + 1] as usize] {
                let x = &mut self.rhs[s.body as usize];
                let (f, t) = (s.linear * p, s.moment(p));
                for k in 0..3 {
                    x[k] += f[k];
                    x[3 + k] += t[k];
                }
            }
        }
        self.lu.solve(&mut self.rhs);
    }

    fn sides(&self, c: usize) -> &[Side] {
        &self.sides[self.side_start[c] as usize..self.side_start[c + 1] as usize]
    }

    #[inline(always)]
    fn relative(&self, c: usize, v: &[Vec6]) -> Vec3 {
        let mut u = Vec3::ZERO;
        for s in self.sides(c) {
            u += s.velocity(&v[s.body as usize]);
        }
        self.frame[c] * u
    }

    /// One Gauss–Seidel pass.
    #[inline(always)]
    fn sweep_all(&mut self, r: &mut [Vec3], slip: &mut [f64]) {
        self.unswept.clone_from(&self.loaded);
        // The velocities stay in a local slice, so that the loop is free of the buffers' bookkeeping.
        let mut v = std::mem::take(&mut self.loaded);
        let mut soft_r = std::mem::take(&mut self.loaded_r);
        for c in 0..r.len() {
            let w = self.diagonal[c];
            let u = self.relative(c, &v) + self.bias[c] + self.softness[c] * soft_r[c];
            let k = u - w * r[c];
            let new = match self.law[c] {
                CompactLaw::Cone(mu) => self.block[c].sweep(&w, k, mu, &mut slip[c]),
                CompactLaw::Rows(i) => solve_rows(&w, k, &self.bounds[i as usize], r[c]),
            };
            let change = new - r[c];
            if change != Vec3::ZERO {
                self.push_bodies(c, change, &mut v);
                soft_r[c] += change;
                r[c] = new;
            }
        }
        self.loaded = v;
        self.loaded_r = soft_r;
    }

    /// The same with wider instructions: the same operations in the same order, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sweep_avx2(&mut self, r: &mut [Vec3], slip: &mut [f64]) {
        self.sweep_all(r, slip);
    }

    fn diagonal_block(&self, c: usize) -> Mat3 {
        let mut world = Mat3::ZERO;
        for (i, s) in self.sides(c).iter().enumerate() {
            for t in &self.sides(c)[i..] {
                if s.body == t.body {
                    let b = &self.bodies[s.body as usize];
                    let m = Mat3::from_diagonal(Vec3::splat(s.linear * t.linear * b.mass_inverse))
                        + s.turn() * b.inertia_inverse * t.turn().transpose();
                    world += if std::ptr::eq(s, t) { m } else { m + m.transpose() };
                }
            }
        }
        self.frame[c] * world * self.frame[c].transpose() + Mat3::from_diagonal(self.softness[c])
    }

    /// Body velocities A⁻¹(b + Jᵀ r) into `work`.
    fn body_velocities(&mut self, r: &[Vec3]) {
        self.work.clear();
        self.work.extend_from_slice(&self.free_velocity);
        let mut work = std::mem::take(&mut self.work);
        for (c, r) in r.iter().enumerate() {
            if *r != Vec3::ZERO {
                self.push_bodies(c, *r, &mut work);
            }
        }
        self.work = work;
    }

    #[inline(always)]
    fn push_bodies(&self, c: usize, dr: Vec3, v: &mut [Vec6]) {
        let p = self.frame[c].transpose() * dr;
        for s in self.sides(c) {
            let b = &self.bodies[s.body as usize];
            let w = &mut v[s.body as usize];
            w.lin += b.mass_inverse * s.linear * p;
            w.ang += b.inertia_inverse * s.moment(p);
        }
    }
}

fn body_data(p: &ContactProblem, t: &Term) -> Option<BodyData> {
    if p.a.row(t.block()).nth(1).is_some() {
        return None;
    }
    let (dof, n) = p.a.block(t.block());
    let a = p.a.diagonal_block(t.block());
    let mut base = BodyData {
        block: t.block() as u32,
        dof: dof as u32,
        mass: a[0],
        inertia: Mat3::IDENTITY,
        mass_inverse: 1.0 / a[0],
        inertia_inverse: Mat3::ZERO,
        rigid: n == 6,
    };
    for i in 0..3 {
        for j in 0..n {
            if a[i * n + j] != if i == j { a[0] } else { 0.0 } {
                return None;
            }
        }
    }
    match n {
        3 => Some(base),
        6 => {
            let at = |i: usize, j: usize| a[6 * (3 + i) + 3 + j];
            base.inertia = Mat3::from_cols(
                Vec3::new(at(0, 0), at(1, 0), at(2, 0)),
                Vec3::new(at(0, 1), at(1, 1), at(2, 1)),
                Vec3::new(at(0, 2), at(1, 2), at(2, 2)),
            );
            base.inertia_inverse = base.inertia.inverse();
            Some(base)
        }
        _ => None,
    }
}

impl Delassus for Bodies {
    fn contacts(&self) -> usize {
        self.law.len()
    }

    #[inline(always)]
    fn law(&self, c: usize) -> RoundLaw {
        match self.law[c] {
            CompactLaw::Cone(mu) => RoundLaw::Cone(mu),
            CompactLaw::Rows(i) => RoundLaw::Rows(self.bounds[i as usize]),
        }
    }

    fn free(&self, c: usize) -> Vec3 {
        self.free[c]
    }

    fn diagonal(&self, c: usize) -> Mat3 {
        self.diagonal[c]
    }

    fn scale(&self, c: usize) -> f64 {
        self.scale[c]
    }

    fn velocity(&mut self, r: &[Vec3], u: &mut [Vec3]) {
        self.body_velocities(r);
        for c in 0..r.len() {
            u[c] = self.relative(c, &self.work) + self.bias[c] + self.softness[c] * r[c];
        }
    }

    fn magnitude(&mut self, r: &[Vec3], size: &mut [f64]) {
        // Sums of |impulse| and |moment| per body bound what cancels in its velocity.
        self.work.clear();
        self.work.resize(self.bodies.len(), Vec6::ZERO);
        for (c, r) in r.iter().enumerate() {
            let p = (self.frame[c].transpose() * *r).length();
            for s in &self.sides[self.side_start[c] as usize..self.side_start[c + 1] as usize] {
                let b = &self.bodies[s.body as usize];
                let w = &mut self.work[s.body as usize];
                let i = &b.inertia_inverse;
                w.lin.x += b.mass_inverse * s.linear.abs() * p;
                w.ang.x += i.x_axis.x.max(i.y_axis.y).max(i.z_axis.z) * s.reach() * p;
            }
        }
        for c in 0..r.len() {
            size[c] = self
                .sides(c)
                .iter()
                .map(|s| {
                    let w = &self.work[s.body as usize];
                    s.linear.abs() * w.lin.x + w.ang.x * s.reach()
                })
                .sum();
        }
    }

    fn load(&mut self, r: &[Vec3]) {
        self.body_velocities(r);
        std::mem::swap(&mut self.work, &mut self.loaded);
        self.loaded_r.clear();
        self.loaded_r.extend_from_slice(r);
        self.along.clear();
    }

    #[inline(always)]
    fn contact_velocity(&self, c: usize) -> Vec3 {
        self.relative(c, &self.loaded) + self.bias[c] + self.softness[c] * self.loaded_r[c]
    }

    #[inline(always)]
    fn add_impulse(&mut self, c: usize, dr: Vec3) {
        let mut v = std::mem::take(&mut self.loaded);
        self.push_bodies(c, dr, &mut v);
        self.loaded = v;
        self.loaded_r[c] += dr;
    }

    fn sweep(&mut self, r: &mut [Vec3], slip: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has it.
            unsafe { self.sweep_avx2(r, slip) };
            return;
        }
        self.sweep_all(r, slip);
    }

    /// Velocities are linear in the impulses: the same step on them costs O(bodies) instead of O(contacts).
    fn accelerate(&mut self, beta: Option<f64>, x: &mut [Vec3], swept: &[Vec3], direction: &mut [Vec3]) {
        conjugate(beta, x, swept, direction);
        self.loaded_r.copy_from_slice(x);
        self.along.resize(self.bodies.len(), Vec6::ZERO);
        match beta {
            None => self.along.fill(Vec6::ZERO),
            Some(beta) => {
                for ((v, old), d) in self.loaded.iter_mut().zip(&self.unswept).zip(&mut self.along) {
                    let (now, step) = (*v, *d);
                    *v = Vec6 { lin: now.lin + beta * step.lin, ang: now.ang + beta * step.ang };
                    *d = Vec6 {
                        lin: beta * step.lin + now.lin - old.lin,
                        ang: beta * step.ang + now.ang - old.ang,
                    };
                }
            }
        }
    }

    fn system_size(&self) -> usize {
        6 * self.bodies.len()
    }

    fn factor_work(&self) -> f64 {
        self.lu.work()
    }

    /// The primal form: A + Jᵀ P J has the size of the dofs and the structure of the body graph.
    fn factor(&mut self, p: &[Mat3]) -> bool {
        self.p.clear();
        for (c, p) in p.iter().enumerate() {
            // Softness moves to the left: (I + P s)⁻¹ P.
            let soft = self.softness[c] != Vec3::ZERO && *p != Mat3::ZERO;
            let softened =
                |p: Mat3| (Mat3::IDENTITY + p * Mat3::from_diagonal(self.softness[c])).inverse() * p;
            self.p.push(if soft { softened(*p) } else { *p });
        }
        let mut lu = std::mem::take(&mut self.lu);
        lu.set_pattern(
            self.bodies.len(),
            (0..self.law.len()).flat_map(|c| {
                let s = self.sides(c);
                s.iter().enumerate().flat_map(move |(i, a)| s[i + 1..].iter().map(move |b| (a.body, b.body)))
            }),
        );
        for (i, b) in self.bodies.iter().enumerate() {
            *lu.diagonal_mut(i) =
                if b.rigid { Mat6::rigid(b.mass, b.inertia) } else { Mat6::rigid(b.mass, Mat3::IDENTITY) };
        }
        for c in 0..self.law.len() {
            if self.p[c] == Mat3::ZERO {
                continue;
            }
            let q = self.frame[c].transpose() * self.p[c] * self.frame[c];
            for a in self.sides(c) {
                for b in self.sides(c) {
                    lu.add(a.body as usize, b.body as usize, &stiffness(a, b, q));
                }
            }
        }
        let ok = lu.factor();
        self.lu = lu;
        ok
    }

    fn solve(&mut self, g: &[Vec3], dy: &mut [Vec3]) {
        // v = (A + Jᵀ P J)⁻¹ Jᵀ P g, dy = P (g − J v).
        self.solve_primal(g);
        for c in 0..g.len() {
            dy[c] = if self.p[c] == Mat3::ZERO {
                Vec3::ZERO
            } else {
                let mut u = Vec3::ZERO;
                for s in self.sides(c) {
                    u += s.velocity(&Vec6::from_slice(&self.rhs[s.body as usize]));
                }
                self.p[c] * (g[c] - self.frame[c] * u)
            };
        }
    }
}

/// T_aᵀ Q T_b for `T = [linear I, angular I − [arm]×]`: the 6×6 stiffness that a block puts between two bodies.
fn stiffness(a: &Side, b: &Side, q: Mat3) -> Mat6 {
    let (ta, tb) = (a.turn().transpose(), b.turn());
    let (qt, tq) = (q * tb, ta * q);
    let tqt = tq * tb;
    let ll = a.linear * b.linear;
    let mut m = Mat6::ZERO;
    for j in 0..3 {
        for i in 0..3 {
            m.0[i][j] = ll * q.col(j)[i];
            m.0[i][3 + j] = a.linear * qt.col(j)[i];
            m.0[3 + i][j] = b.linear * tq.col(j)[i];
            m.0[3 + i][3 + j] = tqt.col(j)[i];
        }
    }
    m
}
