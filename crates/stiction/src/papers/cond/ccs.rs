//! Contact constraint splitting: ADMM between dynamics and contacts (after Daviet 2020), COND's rival for soft bodies.
//!
//! | step | |
//! |---|---|
//! | (A + Jᵀ ρ J) v = b + Jᵀ(λ + ρ (z − φ)) | one sparse factor per problem, one solve per iteration |
//! | λ⁺ = ProjectFC(λ − ρ u), u = J v + φ | each contact alone, exactly |
//! | z = u + (λ⁺ − λ)/ρ | |
//!
//! ρ is one number per contact: the inverse of its scale, times a factor that is balanced once in a while between how far
//! `u` is from `z` and how far `z` has moved; each change costs a factor. [`Ccs::with_fixed_penalty`] takes one ρ for all
//! instead, to compare with.

use super::operators::{Operator, one_shot};
use crate::contact::Term;
use crate::contact::{ContactProblem, Solution};
use crate::coords::{BlockKind, Layout, Part};
use crate::linalg::{BlockMat, Mat3, SparseCholesky, Vec3, skew};
use crate::solvers::island::Island;
use crate::solvers::island::judge::Judge;
use crate::solvers::{ContactSolver, SolveReport, SolverSettings, Status, Trace, TraceRecord};

/// Natural map and momentum error, relative to the velocity scale, of a converged answer.
const TOLERANCE: f64 = 1e-6;
/// Most iterations.
const STEPS: usize = 2000;
/// The error is measured this often, and ρ balanced this often.
const CHECK_EVERY: usize = 5;
const BALANCE_EVERY: usize = 25;
/// ρ changes where one side exceeds the other by this, by at most ten times.
const UNBALANCED: f64 = 5.0;

/// ADMM splitting with one linear solve per iteration.
#[doc(alias = "ADMM")]
pub struct Ccs {
    tolerance: f64,
    max_iterations: usize,
    /// One ρ for all, in mean masses, instead of a balanced one.
    fixed: Option<f64>,
    island: Island,
    judge: Judge,
    matrix: BlockMat,
    pairs: Vec<(u32, u32)>,
    factor: SparseCholesky,
    v: Vec<f64>,
    lambda: Vec<Vec3>,
    z: Vec<Vec3>,
    best: Solution,
}

impl Ccs {
    /// With what the user asked for; 2000 iterations to 1e-6 otherwise.
    pub fn new(settings: &SolverSettings) -> Ccs {
        Ccs {
            tolerance: settings.tolerance.unwrap_or(TOLERANCE),
            max_iterations: settings.max_iterations.unwrap_or(STEPS),
            fixed: None,
            island: Island::default(),
            judge: Judge::default(),
            matrix: BlockMat::default(),
            pairs: Vec::new(),
            factor: SparseCholesky::default(),
            v: Vec::new(),
            lambda: Vec::new(),
            z: Vec::new(),
            best: Solution::default(),
        }
    }

    /// With one ρ for all contacts that never changes: `factor` times the mean mass of a block.
    pub fn with_fixed_penalty(settings: &SolverSettings, factor: f64) -> Ccs {
        Ccs { fixed: Some(factor), ..Ccs::new(settings) }
    }

    /// A + Jᵀ ρ J, factored. False where it is not positive definite.
    fn refactor(&mut self, p: &ContactProblem, rho: &[f64]) -> bool {
        let mut layout = Layout::new();
        for i in 0..p.a.block_rows() {
            layout.push(if p.a.block(i).1 == 6 { BlockKind::Rigid } else { BlockKind::Node });
        }
        self.pairs.clear();
        for i in 0..p.a.block_rows() {
            self.pairs.extend(p.a.columns(i).iter().filter(|&&j| j as usize > i).map(|&j| (i as u32, j)));
        }
        for c in 0..p.contacts() {
            let terms = p.j.terms(c);
            for a in terms {
                let others = terms.iter().filter(|b| b.block() > a.block());
                self.pairs.extend(others.map(|b| (a.block() as u32, b.block() as u32)));
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.matrix = BlockMat::with_pattern(&layout.widths(), &self.pairs);
        self.matrix.add(&p.a);
        for c in 0..p.contacts() {
            let frame = p.j.frame[c];
            let metric = frame.transpose() * frame * rho[c];
            for a in p.j.terms(c) {
                for b in p.j.terms(c) {
                    let (ga, gb) = (halves(a), halves(b));
                    let width = p.a.block(b.block()).1;
                    let block = self.matrix.block_mut(a.block(), b.block()).expect("in the pattern");
                    for (h, ga) in ga.iter().enumerate() {
                        for (k, gb) in gb.iter().enumerate() {
                            let (Some(ga), Some(gb)) = (ga, gb) else { continue };
                            let m = ga.transpose() * metric * *gb;
                            for r in 0..3 {
                                for s in 0..3 {
                                    block[(3 * h + r) * width + 3 * k + s] += m.col(s)[r];
                                }
                            }
                        }
                    }
                }
            }
        }
        let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
        self.factor.factor(&self.matrix, &blocks)
    }

    /// The error of the velocity `v` with the impulses `lambda`.
    fn measure(&mut self, p: &ContactProblem) -> f64 {
        let mut local = Vec::new();
        self.island.gather(&self.v, &mut local);
        let stretched: Vec<Vec3> =
            self.lambda.iter().zip(&p.law).map(|(l, law)| *l / law.stretch()).collect();
        self.judge.measure(&self.island, &local, &stretched).worst()
    }
}

/// How the linear and the angular half of a block move a term.
fn halves(t: &Term) -> [Option<Mat3>; 2] {
    let scaled = |s: f64| Mat3::from_diagonal(Vec3::splat(s));
    match *t {
        Term::Point(Part::Node { weight, .. }) => [Some(scaled(weight)), None],
        Term::Point(Part::Rigid { weight: sign, arm, .. }) => {
            [Some(scaled(sign)), Some(skew(arm).transpose() * sign)]
        }
        Term::Spin { length, .. } => [None, Some(scaled(length))],
    }
}

impl ContactSolver for Ccs {
    fn name(&self) -> &'static str {
        "ccs"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        if p.contacts() == 0 {
            p.free_velocity(&mut x.v);
            return SolveReport::default();
        }
        let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
        let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
        self.island.load_without_sweeps(p, &blocks, &contacts);
        x.v.resize(p.dofs(), 0.0);
        self.v.clear();
        self.v.extend(x.v.iter().map(|v| if v.is_finite() { *v } else { 0.0 }));
        self.lambda.clone_from(&x.lambda);
        let (mut local, mut stretched) = (Vec::new(), Vec::new());
        self.island.gather(&self.v, &mut local);
        stretched.extend(self.lambda.iter().zip(&p.law).map(|(l, law)| *l / law.stretch()));
        self.judge.load(p, &self.island, &local, &stretched);
        let tolerance = self.tolerance * self.judge.scale;
        let mut best = self.measure(p);
        self.best.v.clone_from(&self.v);
        self.best.lambda.clone_from(&self.lambda);
        let mut report = SolveReport { islands: 1, ..SolveReport::default() };
        let mean_mass = self.island.mass.iter().sum::<f64>() / self.island.mass.len().max(1) as f64;
        let rho = |scale: f64| self.fixed.map_or(1.0 / scale, |factor| factor * mean_mass);
        let mut rho: Vec<f64> = self.island.touches.iter().map(|t| rho(t.scale)).collect();
        let u = |v: &[f64], c: usize| p.j.mul_one(c, v) + p.bias[c];
        self.z.clear();
        self.z.extend((0..p.contacts()).map(|c| u(&self.v, c)));
        let mut fresh = false;
        let (mut apart, mut moved) = (0.0, 0.0);
        while best > tolerance && report.iterations < self.max_iterations {
            if !fresh {
                if !self.refactor(p, &rho) {
                    break;
                }
                report.factorizations += 1;
                fresh = true;
            }
            // (A + Jᵀ ρ J) v = b + Jᵀ(λ + ρ (z − φ))
            self.v.copy_from_slice(&p.b);
            for c in 0..p.contacts() {
                let push = self.lambda[c] + rho[c] * (self.z[c] - p.bias[c]);
                let push = p.j.frame[c].transpose() * push;
                for t in p.j.terms(c) {
                    t.add_impulse(push, &mut self.v);
                }
            }
            self.factor.solve(&mut self.v);
            for c in 0..p.contacts() {
                let u = u(&self.v, c);
                let free = u - self.lambda[c] / rho[c];
                let lambda = one_shot(Operator::Strict, p.law[c], 1.0 / rho[c], p.softness[c], free);
                let z = u + (lambda - self.lambda[c]) / rho[c];
                apart += rho[c] * (z - u).length_squared();
                moved += rho[c] * (z - self.z[c]).length_squared();
                (self.lambda[c], self.z[c]) = (lambda, z);
            }
            report.iterations += 1;
            if report.iterations.is_multiple_of(CHECK_EVERY) || report.iterations == self.max_iterations {
                let error = self.measure(p);
                let residual = error / self.judge.scale;
                trace.record(TraceRecord {
                    stage: "ccs",
                    iteration: report.iterations,
                    factorizations: report.factorizations,
                    residual,
                });
                if error < best {
                    best = error;
                    self.best.v.clone_from(&self.v);
                    self.best.lambda.clone_from(&self.lambda);
                }
            }
            if self.fixed.is_none() && report.iterations.is_multiple_of(BALANCE_EVERY) {
                let ratio = (apart / moved).sqrt();
                if ratio.is_finite() && !(1.0 / UNBALANCED..UNBALANCED).contains(&ratio) {
                    let factor = ratio.clamp(0.1, 10.0);
                    rho.iter_mut().for_each(|r| *r *= factor);
                    fresh = false;
                }
                (apart, moved) = (0.0, 0.0);
            }
        }
        x.clone_from(&self.best);
        report.velocity = best / self.judge.scale;
        report.status = if best <= tolerance { Status::Converged } else { Status::Budget };
        report
    }
}
