//! The yardstick itself, measured. `contact::residual::measure` judges every solver; here its five figures are computed once
//! more by another route (dense matrices, elimination, projections found by bisection, angles from cosines) and compared
//! entry by entry on thousands of random right and wrong answers. Small errors, put into the second computation, are told
//! apart from the yardstick on these answers: so they would be noticed in the yardstick, too.

use crate::common;

use crate::common::{Dense, key, random_frame, random_problem, rigid};
use stiction::contact::{Bounds, ContactProblem, Friction, Law, Residuals, Solution, Term, residual};
use stiction::coords::{BlockKind, Layout, Part};
use stiction::linalg::Rng;
use stiction::linalg::{BlockMat, Vec3};
use stiction::methods::{SolverKind, make};
use stiction::solvers::SolverSettings;

/// The figures are sums of a few dozen numbers: 1e-9 is far above their rounding and far below any wrong term.
const SAME: f64 = 1e-9;
/// Contacts count for the angle where they slip faster than this share of the velocity scale and carry more than this share of
/// the largest load (docs/notation.md). What they carry is their friction, in the coordinates in which its cone is round.
const COUNTS: f64 = 1e-3;

/// A small error in a yardstick.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    None,
    ForgetsPulling,
    ShallowPenetration,
    ForgivesPushingAlong,
    ForgetsTurning,
    ScaleOfNextContact,
    ForgetsSoftness,
    ForgetsShift,
    ForgetsRatio,
    /// Impulses of joints, be they forces or moments, make the figures of contacts smaller.
    DilutesByJoints,
}

/// The problem in dense form.
struct Plain<'a> {
    p: &'a ContactProblem,
    x: &'a Solution,
    a: Dense,
    /// Three rows per contact.
    j: Dense,
    mistake: Mistake,
}

impl<'a> Plain<'a> {
    fn new(p: &'a ContactProblem, x: &'a Solution, mistake: Mistake) -> Plain<'a> {
        let n = p.dofs();
        let mut a = Dense::new(n, n);
        for i in 0..p.a.block_rows() {
            let (r0, nr) = p.a.block(i);
            for (k, values) in p.a.row(i) {
                let (c0, nc) = p.a.block(k);
                for r in 0..nr {
                    for c in 0..nc {
                        *a.at_mut(r0 + r, c0 + c) = values[r * nc + c];
                    }
                }
            }
        }
        // J column by column: what a unit velocity does at each contact, from the terms themselves.
        let mut j = Dense::new(3 * p.contacts(), n);
        for c in 0..p.contacts() {
            for t in p.j.terms(c) {
                write_term(&mut j, p, c, t);
            }
        }
        Plain { p, x, a, j, mistake }
    }

    /// J v + bias + softness λ.
    fn u(&self, c: usize) -> Vec3 {
        let row =
            |r: usize| -> f64 { (0..self.p.dofs()).map(|k| self.j.at(3 * c + r, k) * self.x.v[k]).sum() };
        let soft = if self.mistake == Mistake::ForgetsSoftness { Vec3::ZERO } else { self.p.softness[c] };
        Vec3::new(row(0), row(1), row(2)) + self.p.bias[c] + soft * self.x.lambda[c]
    }

    /// Mean diagonal of the contact's block of J D⁻¹ Jᵀ, D the diagonal of A, plus softness.
    fn scale(&self, c: usize) -> f64 {
        let c = if self.mistake == Mistake::ScaleOfNextContact { (c + 1) % self.p.contacts() } else { c };
        let mut sum = 0.0;
        for r in 0..3 {
            for k in 0..self.p.dofs() {
                sum += self.j.at(3 * c + r, k).powi(2) / self.a.at(k, k);
            }
            sum += self.p.softness[c][r];
        }
        sum / 3.0
    }

    fn natural(&self) -> f64 {
        let of = |c: usize| {
            let (g, u, l) = (self.scale(c), self.u(c), self.x.lambda[c]);
            match self.p.law[c] {
                Law::Contact(friction) => {
                    // In stretched coordinates an ellipse is a circle of radius √(μ₁μ₂).
                    let (mu, k) = round(friction);
                    let (l, u) = (l / k, u * k);
                    let shift = if self.mistake == Mistake::ForgetsShift { 0.0 } else { mu * u.y.hypot(u.z) };
                    let wanted = l - (u + Vec3::X * shift) / g;
                    g * (l - project(wanted, mu)).length()
                }
                Law::Rows(Bounds { lo, hi }) => {
                    let wanted = (l - u / g).max(lo).min(hi);
                    g * (l - wanted).length()
                }
            }
        };
        (0..self.p.contacts()).map(of).fold(0.0, f64::max)
    }

    /// √(ρᵀ D⁻¹ ρ), by elimination in each diagonal block.
    fn momentum(&self) -> f64 {
        let n = self.p.dofs();
        let rest = |i: usize| -> f64 {
            let av: f64 = (0..n).map(|k| self.a.at(i, k) * self.x.v[k]).sum();
            let jl =
                |c: usize| -> f64 { (0..3).map(|r| self.j.at(3 * c + r, i) * self.x.lambda[c][r]).sum() };
            av - self.p.b[i] - (0..self.p.contacts()).map(jl).sum::<f64>()
        };
        let mut sum = 0.0;
        for i in 0..self.p.a.block_rows() {
            let (first, width) = self.p.a.block(i);
            let mut block = Dense::new(width, width);
            let mut rho: Vec<f64> = (first..first + width).map(rest).collect();
            for r in 0..width {
                for c in 0..width {
                    *block.at_mut(r, c) = self.a.at(first + r, first + c);
                }
                if self.mistake == Mistake::ForgetsTurning && r >= 3 {
                    rho[r] = 0.0;
                }
            }
            let y = block.solve(&rho).expect("diagonal blocks are definite");
            sum += rho.iter().zip(&y).map(|(a, b)| a * b).sum::<f64>();
        }
        sum.sqrt()
    }

    fn contacts(&self) -> impl Iterator<Item = (usize, Friction)> + '_ {
        self.p.law.iter().enumerate().filter_map(|(c, l)| match *l {
            Law::Contact(f) => Some((c, f)),
            Law::Rows(_) => None,
        })
    }

    fn penetration(&self) -> f64 {
        let share = if self.mistake == Mistake::ShallowPenetration { 0.1 } else { 1.0 };
        self.contacts().map(|(c, _)| -self.u(c).x * self.p.h * share).fold(0.0, f64::max)
    }

    /// The largest normal impulse, and the largest multiplier of rows (docs/notation.md).
    fn largest(&self) -> (f64, f64) {
        let loads = |contacts: bool| {
            let of = move |(l, law): (&Vec3, &Law)| match law {
                Law::Contact(_) => l.x.abs() * f64::from(contacts),
                Law::Rows(_) => l.abs().max_element() * f64::from(!contacts),
            };
            self.x.lambda.iter().zip(&self.p.law).map(of).fold(0.0, f64::max)
        };
        let (normal, row) = (loads(true), loads(false));
        match self.mistake {
            Mistake::DilutesByJoints => (normal.max(row), normal.max(row)),
            _ => (normal, row),
        }
    }

    fn cone(&self) -> f64 {
        let of = |(c, f): (usize, Friction)| {
            let (mu, k) = round(f);
            let l = self.x.lambda[c] / k;
            let beyond = l.y.hypot(l.z) - mu * l.x.max(0.0);
            if self.mistake == Mistake::ForgetsPulling {
                return beyond;
            }
            beyond.max(-l.x)
        };
        // Rows of joints count by how far they leave their bounds.
        let rows = self.p.law.iter().zip(&self.x.lambda).map(|(law, l)| match law {
            Law::Rows(Bounds { lo, hi }) => (*l - *hi).max(*lo - *l).max_element().max(0.0),
            Law::Contact(_) => 0.0,
        });
        let share = |worst: f64, largest: f64| match self.mistake {
            Mistake::ForgetsRatio => worst,
            _ if worst == 0.0 => 0.0,
            _ => worst / largest,
        };
        let (normal, row) = self.largest();
        let contacts = share(self.contacts().map(of).fold(0.0, f64::max), normal);
        contacts.max(share(rows.fold(0.0, f64::max), row))
    }

    fn misalignment(&self) -> f64 {
        let largest = self.largest().0;
        let of = |(c, f): (usize, Friction)| {
            let (_, k) = round(f);
            let (l, u) = (self.x.lambda[c] / k, self.u(c) * k);
            let (force, slip) = (l.y.hypot(l.z), u.y.hypot(u.z));
            if slip <= COUNTS * self.p.velocity_scale || force <= COUNTS * largest {
                return 0.0;
            }
            let cosine = -(l.y * u.y + l.z * u.z) / (force * slip);
            // The sine from the chord between the two directions: 1 − cos² would lose half of the digits.
            let (p, q) = ([l.y / force, l.z / force], [-u.y / slip, -u.z / slip]);
            let (minus, plus) = ((p[0] - q[0]).hypot(p[1] - q[1]), (p[0] + q[0]).hypot(p[1] + q[1]));
            let sine = 0.5 * minus * plus;
            if cosine < 0.0 && self.mistake != Mistake::ForgivesPushingAlong { 1.0 } else { sine }
        };
        self.contacts().map(of).fold(0.0, f64::max)
    }

    fn measure(&self) -> [f64; 5] {
        [self.natural(), self.momentum(), self.penetration(), self.cone(), self.misalignment()]
    }
}

/// Adds a term to the three rows of its contact.
fn write_term(j: &mut Dense, p: &ContactProblem, c: usize, t: &Term) {
    let frame = p.j.frame[c];
    let mut add = |dof: usize, velocity: Vec3| {
        let rows = frame * velocity;
        for r in 0..3 {
            *j.at_mut(3 * c + r, dof) += rows[r];
        }
    };
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    match *t {
        Term::Point(Part::Rigid { dof, weight: sign, arm, .. }) => {
            for (k, e) in axes.into_iter().enumerate() {
                add(dof as usize + k, e * sign);
                add(dof as usize + 3 + k, e.cross(arm) * sign);
            }
        }
        Term::Point(Part::Node { dof, weight, .. }) => {
            axes.into_iter().enumerate().for_each(|(k, e)| add(dof as usize + k, e * weight));
        }
        Term::Spin { dof, length, .. } => {
            axes.into_iter().enumerate().for_each(|(k, e)| add(dof as usize + 3 + k, e * length));
        }
    }
}

/// Coefficient of the round cone and the stretch that makes it round.
fn round(f: Friction) -> (f64, Vec3) {
    match f {
        Friction::Isotropic(mu) => (mu, Vec3::ONE),
        Friction::Elliptic(m1, m2) => {
            let mu = (m1 * m2).sqrt();
            (mu, Vec3::new(1.0, m1 / mu, m2 / mu))
        }
    }
}

/// The nearest point of the cone |t| ≤ μ n. Its normal part minimises (n − x_n)² + max(|x_t| − μ n, 0)² over n ≥ 0, whose
/// derivative grows: found by bisection.
fn project(x: Vec3, mu: f64) -> Vec3 {
    let t = x.y.hypot(x.z);
    let slope = |n: f64| (n - x.x) - mu * (t - mu * n).max(0.0);
    let (mut low, mut high) = (0.0, x.x.abs() + (1.0 + mu) * t + f64::MIN_POSITIVE);
    if slope(0.0) >= 0.0 {
        return Vec3::ZERO;
    }
    for _ in 0..2000 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if slope(middle) > 0.0 { high = middle } else { low = middle }
    }
    let n = 0.5 * (low + high);
    let share = if t > mu * n { mu * n / t } else { 1.0 };
    Vec3::new(n, x.y * share, x.z * share)
}

fn entries(r: &Residuals) -> [f64; 5] {
    [r.natural, r.momentum, r.penetration, r.cone, r.misalignment]
}

const NAMES: [&str; 5] = ["natural", "momentum", "penetration", "cone", "misalignment"];

/// Rows of joints with bounds of all kinds.
fn add_rows(p: &mut ContactProblem, rng: &mut Rng, bodies: usize, blocks: usize) {
    for _ in 0..blocks {
        let (a, b) = (rng.bits() as usize % bodies, rng.bits() as usize % (bodies + 1));
        let spins = rng.uniform() < 0.4;
        let mut term = |body: usize, sign: f64| match spins {
            true => Term::Spin { block: body as u32, dof: 6 * body as u32, length: 0.5 * sign },
            false => rigid(body, sign, rng.normal3()),
        };
        let mut terms = vec![term(a, 1.0)];
        if b < bodies && b != a {
            terms.push(term(b, -1.0));
        }
        let mut bounds = Bounds::EQUATIONS;
        for i in 0..3 {
            match rng.bits() % 4 {
                0 => bounds = bounds.with_row(i, 0.0, f64::INFINITY),
                1 => bounds = bounds.with_row(i, -rng.range(0.01, 1.0), rng.range(0.01, 1.0)),
                _ => {}
            }
        }
        p.j.push(random_frame(rng), terms);
        p.bias.push(rng.normal3() * 0.1);
        p.law.push(Law::Rows(bounds));
        p.softness.push(if rng.uniform() < 0.5 { Vec3::ZERO } else { rng.normal3().abs() });
        p.key.push(key(p.key.len()));
    }
}

/// Rigid bodies and nodes whose matrix is not block-diagonal.
fn coupled_problem(rng: &mut Rng) -> ContactProblem {
    let (bodies, nodes) = (1 + rng.bits() as usize % 2, 2 + rng.bits() as usize % 3);
    let mut layout = Layout::new();
    for k in 0..bodies + nodes {
        layout.push(if k < bodies { BlockKind::Rigid } else { BlockKind::Node });
    }
    let blocks = layout.blocks().to_vec();
    let pairs: Vec<(u32, u32)> = (1..blocks.len() as u32).map(|i| (i - 1, i)).collect();
    let mut p = ContactProblem {
        a: BlockMat::with_pattern(&layout.widths(), &pairs),
        h: 0.01,
        force_per_lambda: 100.0,
        velocity_scale: 0.1,
        ..ContactProblem::default()
    };
    // Rᵀ R of rows that reach over two neighbours, and masses on the diagonal: definite.
    let n = layout.nv();
    let mut add = |i: usize, k: usize, r: usize, c: usize, x: f64| {
        p.a.block_mut(i, k).expect("a neighbour")[r * blocks[k].nv + c] += x;
    };
    for (i, b) in blocks.iter().enumerate() {
        let mass = 10f64.powf(rng.range(-1.0, 1.0));
        (0..b.nv).for_each(|r| add(i, i, r, r, mass));
        for _ in 0..3 {
            let row: Vec<f64> = (0..n).map(|_| rng.normal() * mass.sqrt() * 0.5).collect();
            let reach: Vec<usize> = [i, i + 1].into_iter().filter(|k| *k < blocks.len()).collect();
            for &k in &reach {
                for &l in &reach {
                    for r in 0..blocks[k].nv {
                        for c in 0..blocks[l].nv {
                            add(k, l, r, c, row[blocks[k].v + r] * row[blocks[l].v + c]);
                        }
                    }
                }
            }
        }
    }
    p.b = (0..n).map(|_| rng.normal()).collect();
    for c in 0..1 + rng.bits() as usize % 5 {
        let side = |i: usize, sign: f64, rng: &mut Rng| match blocks[i].kind {
            BlockKind::Rigid => Term::Point(Part::Rigid {
                block: i as u32,
                dof: blocks[i].v as u32,
                weight: sign,
                arm: rng.normal3(),
            }),
            _ => Term::Point(Part::Node {
                block: i as u32,
                dof: blocks[i].v as u32,
                weight: sign * rng.range(0.2, 1.0),
            }),
        };
        let (a, b) = (rng.bits() as usize % blocks.len(), rng.bits() as usize % blocks.len());
        let mut terms = vec![side(a, 1.0, rng)];
        if a != b {
            terms.push(side(b, -1.0, rng));
        }
        p.j.push(random_frame(rng), terms);
        p.bias.push(rng.normal3() * 0.2);
        p.law.push(Friction::Isotropic(rng.range(0.0, 1.0)).into());
        p.softness.push(Vec3::ZERO);
        p.key.push(key(c));
    }
    p
}

/// A random problem: contacts round, elliptic, frictionless, soft; beside rows of joints; block-diagonal and not.
fn problem(seed: u64) -> ContactProblem {
    let mut rng = Rng::new(seed ^ 0x5EED);
    let mut p = if seed % 4 == 3 {
        coupled_problem(&mut rng)
    } else {
        let (bodies, contacts) = (1 + seed as usize % 4, 1 + (seed / 4) as usize % 6);
        let mut p = random_problem(&mut rng, bodies, contacts, 0.5);
        if seed.is_multiple_of(3) {
            add_rows(&mut p, &mut rng, bodies, 1 + seed as usize % 2);
        }
        p
    };
    for c in 0..p.contacts() {
        if p.law[c].is_contact() {
            p.law[c] = match rng.bits() % 5 {
                0 => Friction::Isotropic(0.0).into(),
                1 | 2 => Friction::Isotropic(rng.range(0.05, 1.5)).into(),
                _ => Friction::Elliptic(rng.range(0.05, 1.5), rng.range(0.05, 1.5)).into(),
            };
            if rng.uniform() < 0.3 {
                p.softness[c] = Vec3::new(rng.uniform(), rng.uniform(), rng.uniform());
            }
        }
    }
    p
}

/// The right answer, or something near it.
fn solved(p: &ContactProblem) -> Solution {
    let mut x = common::cold(p);
    let settings = SolverSettings { tolerance: Some(1e-11), max_iterations: None };
    make(SolverKind::Exact, &settings).solve(p, &mut x, &mut ());
    x
}

/// Right answers, and wrong ones of every kind: each with the problem that it answers.
fn answers(seed: u64) -> Vec<(&'static str, ContactProblem, Solution)> {
    let p = problem(seed);
    let right = solved(&p);
    let mut rng = Rng::new(seed ^ 0xABC);
    let n = p.contacts();
    let mut out = vec![("right", p.clone(), right.clone())];
    let mut wrong = |name, change: &mut dyn FnMut(&mut ContactProblem, &mut Solution)| {
        let (mut q, mut x) = (p.clone(), right.clone());
        change(&mut q, &mut x);
        out.push((name, q, x));
    };
    let load = right.lambda.iter().map(|l| l.length()).fold(1e-3, f64::max);
    let c = rng.bits() as usize % n;
    wrong("pulling, no friction", &mut |_, x| x.lambda[c] = Vec3::new(-0.3 * load, 0.0, 0.0));
    wrong("pulling", &mut |_, x| x.lambda[c].x = -0.3 * load);
    wrong("along the slip", &mut |p, x| {
        for c in 0..n {
            let u = p.j.mul_one(c, &x.v) + p.bias[c];
            x.lambda[c] = Vec3::new(load, 0.1 * load * u.y / u.length(), 0.1 * load * u.z / u.length());
        }
    });
    wrong("across the slip", &mut |p, x| {
        for c in 0..n {
            let u = p.j.mul_one(c, &x.v) + p.bias[c];
            x.lambda[c] = Vec3::new(load, -0.1 * load * u.z / u.length(), 0.1 * load * u.y / u.length());
        }
    });
    wrong("spinning", &mut |p, x| {
        for i in (0..p.a.block_rows()).filter(|i| p.a.block(*i).1 == 6) {
            for k in 3..6 {
                x.v[p.a.block(i).0 + k] += rng.normal();
            }
        }
    });
    let mut rng = Rng::new(seed ^ 0xDEF);
    wrong("faster", &mut |_, x| x.v.iter_mut().for_each(|v| *v += 0.3 * rng.normal()));
    let mut rng = Rng::new(seed ^ 0x123);
    wrong("random impulses", &mut |_, x| x.lambda.iter_mut().for_each(|l| *l += rng.normal3() * load));
    wrong("deeper", &mut |p, _| p.bias.iter_mut().for_each(|b| b.x -= 0.7));
    wrong("another step", &mut |p, _| p.h *= 3.0);
    wrong("softer", &mut |p, _| p.softness.iter_mut().for_each(|s| *s = *s * 7.0 + Vec3::splat(0.1)));
    wrong("other friction", &mut |p, _| {
        p.law.iter_mut().for_each(|l| {
            if l.is_contact() {
                *l = Friction::Isotropic(0.03).into();
            }
        });
    });
    wrong("nothing", &mut |_, x| x.lambda.fill(Vec3::ZERO));
    wrong("a tenth", &mut |_, x| x.lambda.iter_mut().for_each(|l| *l *= 0.1));
    wrong("far beyond the bounds", &mut |_, x| x.lambda.iter_mut().for_each(|l| *l *= 1e3));
    out
}

/// What the terms of a figure weigh: rounding is judged against it.
fn sizes(p: &ContactProblem, x: &Solution) -> [f64; 5] {
    let plain = Plain::new(p, x, Mistake::None);
    let n = p.contacts();
    // What is summed for a contact velocity, whatever cancels.
    let jv = |c: usize| -> f64 {
        let row = |r: usize| (0..p.dofs()).map(move |k| (r, k));
        (0..3).flat_map(row).map(|(r, k)| (plain.j.at(3 * c + r, k) * x.v[k]).abs()).sum()
    };
    let load = |c: usize| (plain.scale(c) + p.softness[c].length()) * x.lambda[c].length();
    let speed = (0..n).map(|c| jv(c) + p.bias[c].length() + load(c)).fold(0.0, f64::max);
    let impulse: f64 =
        p.b.iter().map(|b| b.abs()).sum::<f64>() + x.lambda.iter().map(|l| l.length()).sum::<f64>();
    let lightest = (0..p.dofs()).map(|i| plain.a.at(i, i)).fold(f64::INFINITY, f64::min);
    // Rounding of the residual is that of its parts, 1e-15 of each, seen through the lightest block.
    let momentum = 1e-3 * impulse / lightest.sqrt();
    // The direction of a slip is as good as its size beside what was summed for it.
    let angle = 1e-6 * speed / (COUNTS * p.velocity_scale);
    [1e-3 * speed, momentum, 1e-3 * p.h * speed, 1e-3, angle.max(1e-3)]
}

#[test]
fn the_yardstick_agrees_with_plain_arithmetic() {
    let mut compared = 0;
    let mut seen = [0; 5];
    for seed in 0..400 {
        for (name, p, x) in answers(seed) {
            let got = entries(&residual::measure(&p, &x));
            let want = Plain::new(&p, &x, Mistake::None).measure();
            let size = sizes(&p, &x);
            for k in 0..5 {
                let off = (got[k] - want[k]).abs();
                assert!(
                    off <= SAME * want[k].max(size[k]),
                    "problem {seed}, {name}, {}: {:e} instead of {:e}\n{:?}\n{:?}",
                    NAMES[k],
                    got[k],
                    want[k],
                    p.law,
                    x.lambda
                );
                seen[k] += usize::from(want[k] > size[k]);
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 400 * 15, "every problem has its answer and 14 wrong ones");
    assert!(seen.iter().all(|s| *s > 1000), "every figure is often far from zero: {seen:?}");
}

#[test]
fn small_errors_of_a_yardstick_would_be_noticed() {
    let mistakes = [
        Mistake::ForgetsPulling,
        Mistake::ShallowPenetration,
        Mistake::ForgivesPushingAlong,
        Mistake::ForgetsTurning,
        Mistake::ScaleOfNextContact,
        Mistake::ForgetsSoftness,
        Mistake::ForgetsShift,
        Mistake::ForgetsRatio,
        Mistake::DilutesByJoints,
    ];
    for mistake in mistakes {
        let mut noticed = 0;
        for (_, p, x) in (0..60).flat_map(answers) {
            let (got, bad) = (entries(&residual::measure(&p, &x)), Plain::new(&p, &x, mistake).measure());
            let size = sizes(&p, &x);
            noticed +=
                usize::from((0..5).any(|k| (got[k] - bad[k]).abs() > 1e3 * SAME * got[k].max(size[k])));
        }
        assert!(noticed > 20, "{mistake:?} changes only {noticed} of the figures");
    }
}

#[test]
fn projection_is_the_nearest_point() {
    let mut rng = Rng::new(3);
    for _ in 0..300 {
        let (x, mu) = (rng.normal3(), if rng.uniform() < 0.2 { 0.0 } else { rng.range(0.0, 2.0) });
        let p = project(x, mu);
        assert!(p.y.hypot(p.z) <= mu * p.x + 1e-15);
        for _ in 0..30 {
            let n = rng.normal().abs();
            let (s, c) = rng.range(0.0, std::f64::consts::TAU).sin_cos();
            let other = Vec3::new(n, mu * n * c, mu * n * s) * rng.uniform();
            assert!(other.distance(x) >= p.distance(x) - 1e-12);
        }
    }
}
