//! COND-E: the velocity fixed point without virtual nodes, stopped on an error.
//!
//! | part | as printed | here |
//! |---|---|---|
//! | contacts of rigid bodies and faces | virtual nodes, compliance 1/k_v | exact 6×6 blocks in W, sweeps over the surrogate |
//! | W | Frobenius | 1/diag A per node, scaled by a power iteration |
//! | acceleration | Chebyshev | Anderson, Nesterov or Chebyshev, restarted where they stray |
//! | stiff materials | more iterations | W is the lattice multigrid of [`soft`](crate::solvers::soft), Anderson on it |
//! | cables | hundreds of iterations | W = A⁻¹ by elimination along the [path](crate::contact::delassus::path), Newton on the contacts |
//! | stops on | the update | natural map and momentum error |
//!
//! Where A couples nothing W is its inverse, so that a solve is Gauss–Seidel on the bodies. Where stiff soft bodies slide on free
//! rigid ones only Anderson's mixing converges in reasonable time. With W = A⁻¹ the surrogate is the problem itself, so that a
//! cable takes one iteration.

use crate::contact::delassus::path::Path;
use crate::contact::islands::Islands;
use crate::contact::{ContactProblem, Solution};
use crate::linalg::Vec3;
use crate::solvers::exact::{self, OnForm};
use crate::solvers::island::Island;
use crate::solvers::island::acceleration::{Acceleration, Accelerator};
use crate::solvers::island::judge::Judge;
use crate::solvers::island::surrogate::Surrogate;
use crate::solvers::soft::{Inner, SoftSettings, SoftSolver};
use crate::solvers::{ContactSolver, SolveReport, SolverSettings, Status, Trace, TraceRecord};

/// How W is found on nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stand {
    /// 1/diag A, scaled to a spectral radius.
    #[default]
    Diagonal,
    /// That, adapted node by node to the last move (diagonal Barzilai–Borwein, Park et al. 2020).
    DiagonalBarzilaiBorwein,
    /// The lattice multigrid, on islands of nodes that are large enough for it; A⁻¹ on cables; else the diagonal.
    Multigrid,
}

/// Settings of [`CondE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CondESettings {
    /// Natural map and momentum error, relative to the velocity scale, of a converged answer.
    pub tolerance: f64,
    /// Acceleration of the diagonal fixed point.
    pub acceleration: Acceleration,
    /// What stands for A⁻¹.
    pub stand: Stand,
    /// Islands of at least this many unknowns use the multigrid, where asked for.
    pub multigrid_from: usize,
    /// Most iterations.
    pub max_iterations: usize,
    /// Solves for which the scale of W is reused.
    pub recycle: usize,
}

impl Default for CondESettings {
    fn default() -> Self {
        CondESettings {
            tolerance: 1e-6,
            acceleration: Acceleration::Anderson(10),
            stand: Stand::Multigrid,
            multigrid_from: 600,
            max_iterations: 3000,
            recycle: 1,
        }
    }
}

impl CondESettings {
    /// With what the user asked for.
    pub fn with(mut self, s: &SolverSettings) -> CondESettings {
        self.tolerance = s.tolerance.unwrap_or(self.tolerance);
        self.max_iterations = s.max_iterations.unwrap_or(self.max_iterations);
        self
    }
}

/// The error is measured this often.
const CHECK_EVERY: usize = 10;
/// An error that has grown by this over the least since the start sends the iteration back to the best …
const STRAYED: f64 = 1e3;
/// … and after this many iterations without a lower one it starts afresh where it is. W is shortened by `SHORTER`.
const STALE: usize = 400;
const SHORTER: f64 = 0.6;

/// An island with its buffers.
#[derive(Default)]
struct Lane {
    island: Island,
    surrogate: Surrogate,
    accelerator: Accelerator,
    judge: Judge,
    soft: SoftSolver,
    path: Path,
    on_path: OnForm,
    v: Vec<f64>,
    av: Vec<f64>,
    image: Vec<f64>,
    weight: Vec<f64>,
    best: Vec<f64>,
    lambda: Vec<Vec3>,
    best_lambda: Vec<Vec3>,
    before: [Vec<f64>; 2],
}

/// The velocity fixed point without virtual nodes.
#[doc(alias = "COND-E")]
pub struct CondE {
    settings: CondESettings,
    islands: Islands,
    lanes: Vec<Lane>,
}

impl CondE {
    /// With settings.
    pub fn new(settings: CondESettings) -> CondE {
        CondE { settings, islands: Islands::default(), lanes: Vec::new() }
    }
}

impl ContactSolver for CondE {
    fn name(&self) -> &'static str {
        "cond-e"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.islands.find(p);
        x.v.resize(p.dofs(), 0.0);
        for i in (0..p.a.block_rows()).filter(|&i| self.islands.is_alone(i)) {
            let (d, n) = p.a.block(i);
            x.v[d..d + n].copy_from_slice(&p.b[d..d + n]);
            p.divide_block(i, &mut x.v);
        }
        if self.lanes.len() < self.islands.len() {
            self.lanes.resize_with(self.islands.len(), Lane::default);
        }
        let mut report = SolveReport { islands: self.islands.len(), ..SolveReport::default() };
        for (i, lane) in self.lanes[..self.islands.len()].iter_mut().enumerate() {
            let coupled = self.islands.is_coupled(i);
            let (blocks, contacts) = (self.islands.blocks(i), self.islands.contacts(i));
            let one = lane.solve(&self.settings, p, (blocks, contacts, coupled), x, trace);
            report.iterations = report.iterations.max(one.iterations);
            report.velocity = report.velocity.max(one.velocity);
            if !one.status.is_solved() {
                report.status = one.status;
            }
        }
        report
    }
}

impl Lane {
    fn solve(
        &mut self,
        s: &CondESettings,
        p: &ContactProblem,
        (blocks, contacts, coupled): (&[u32], &[u32], bool),
        x: &mut Solution,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let dofs: usize = blocks.iter().map(|&b| p.a.block(b as usize).1).sum();
        let nodes = blocks.iter().filter(|&&b| p.a.block(b as usize).1 == 3).count();
        let large = dofs >= s.multigrid_from && 6 * nodes > dofs && !p.places.is_empty();
        if coupled && large && s.stand == Stand::Multigrid {
            let soft = SoftSettings {
                tolerance: s.tolerance,
                inner: Inner::Mixing,
                multigrid_from: s.multigrid_from,
                most_products: s.max_iterations,
                ..SoftSettings::default()
            };
            self.soft.set(soft);
            return self.soft.solve(p, blocks, contacts, x, trace);
        }
        if coupled && s.stand == Stand::Multigrid && self.path.prepare(p, blocks, contacts) {
            let settings =
                exact::Settings { tolerance: s.tolerance, aim: s.tolerance, ..exact::Settings::stepping() };
            let stretch = |c: u32| p.law[c as usize].stretch();
            self.lambda.clear();
            self.lambda.extend(contacts.iter().map(|&c| x.lambda[c as usize] / stretch(c)));
            let report =
                self.on_path.solve(&mut self.path, &settings, p.velocity_scale, &mut self.lambda, trace);
            for (&c, l) in contacts.iter().zip(&self.lambda) {
                x.lambda[c as usize] = *l * stretch(c);
            }
            self.path.write_velocity(&self.lambda, &mut x.v);
            return report;
        }
        self.load(p, (blocks, contacts), x);
        let report = self.iterate(s, coupled, trace);
        self.island.scatter(&self.best, &mut x.v);
        for (&c, l) in contacts.iter().zip(&self.best_lambda) {
            x.lambda[c as usize] = *l * p.law[c as usize].stretch();
        }
        report
    }

    fn load(&mut self, p: &ContactProblem, (blocks, contacts): (&[u32], &[u32]), x: &Solution) {
        self.island.load_without_sweeps(p, blocks, contacts);
        let n = self.island.dofs();
        self.island.gather(&x.v, &mut self.v);
        for v in &mut self.v {
            if !v.is_finite() {
                *v = 0.0;
            }
        }
        for v in [&mut self.av, &mut self.image].into_iter().chain(&mut self.before) {
            v.clear();
            v.resize(n, 0.0);
        }
        self.lambda.clear();
        self.lambda.extend(contacts.iter().map(|&c| x.lambda[c as usize] / p.law[c as usize].stretch()));
        self.weight.clear();
        self.weight.extend((0..n).map(|i| self.island.a.diagonal(i / 3)[4 * (i % 3)].sqrt()));
        self.judge.load(p, &self.island, &self.v, &self.lambda);
    }

    /// The diagonal fixed point from `v` and `lambda`; leaves the best image and its impulses.
    fn iterate(&mut self, s: &CondESettings, coupled: bool, trace: &mut dyn Trace) -> SolveReport {
        let acceleration = if coupled && s.stand != Stand::DiagonalBarzilaiBorwein {
            s.acceleration
        } else {
            Acceleration::None
        };
        let radius = match acceleration {
            _ if !coupled => None,
            Acceleration::Nesterov => Some(1.0),
            _ => Some(1.8),
        };
        let tolerance = s.tolerance * self.judge.scale;
        let mut best = self.judge.measure(&self.island, &self.v, &self.lambda).worst();
        self.best.clone_from(&self.v);
        self.best_lambda.clone_from(&self.lambda);
        // The least error since the last start, and when it was found.
        let (mut iterations, mut found, mut low) = (0, 0, f64::INFINITY);
        if best > tolerance {
            self.surrogate.start(&self.island, radius, s.recycle);
            self.accelerator.start(acceleration, &self.v, &self.weight);
        }
        let every = if trace.wants() { 1 } else { CHECK_EVERY };
        while best > tolerance && iterations < s.max_iterations {
            self.island.a.mul(&self.v, &mut self.av);
            if s.stand == Stand::DiagonalBarzilaiBorwein && coupled {
                if iterations > 0 {
                    self.adapt();
                }
                self.before[0].copy_from_slice(&self.v);
                self.before[1].copy_from_slice(&self.av);
            }
            self.surrogate.image(&self.island, &self.v, &self.av, &mut self.lambda, &mut self.image);
            self.accelerator.advance(acceleration, &mut self.v, &self.image);
            iterations += 1;
            if iterations % every != 0 && coupled {
                continue;
            }
            let error = self.judge.measure(&self.island, &self.image, &self.lambda).worst();
            let residual = error / self.judge.scale;
            trace.record(TraceRecord { stage: "cond-e", iteration: iterations, factorizations: 0, residual });
            if error < best {
                best = error;
                self.best.clone_from(&self.image);
                self.best_lambda.clone_from(&self.lambda);
            }
            if error < low {
                (low, found) = (error, iterations);
                continue;
            }
            let strayed = !error.is_finite() || error > STRAYED * low;
            if coupled && (strayed || iterations > found + STALE) {
                if strayed {
                    self.v.clone_from(&self.best);
                    self.lambda.clone_from(&self.best_lambda);
                }
                (low, found) = (f64::INFINITY, iterations);
                self.surrogate.shrink(&self.island, SHORTER);
                self.accelerator.start(acceleration, &self.v, &self.weight);
            }
        }
        SolveReport {
            status: if best <= tolerance { Status::Converged } else { Status::Budget },
            iterations,
            velocity: best / self.judge.scale,
            islands: 1,
            ..SolveReport::default()
        }
    }

    /// W of each node from the last move s and z = A s: ‖s_i‖²/s_i·z_i, kept between the two step sizes of Barzilai and
    /// Borwein in the metric of the diagonal.
    fn adapt(&mut self) {
        let [v, av] = &self.before;
        let (now, a_now) = (&self.v, &self.av);
        let island = &self.island;
        let own = |i: usize| {
            let d = island.a.diagonal(i);
            3.0 / (d[0] + d[4] + d[8])
        };
        let node = |i: usize| {
            let (mut ss, mut sz, mut zz) = (0.0, 0.0, 0.0);
            for k in 3 * i..3 * i + 3 {
                let (s, z) = (now[k] - v[k], a_now[k] - av[k]);
                ss += s * s;
                sz += s * z;
                zz += z * z;
            }
            (ss, sz, zz)
        };
        let (mut size, mut work, mut push) = (0.0, 0.0, 0.0);
        for i in 0..island.nodes {
            let ((ss, sz, zz), w) = (node(i), own(i));
            size += ss / w;
            work += sz;
            push += zz * w;
        }
        let (long, short) = (size / work, work / push);
        if long.is_finite() && short > 0.0 && short <= long {
            self.surrogate.set_nodes(island, |i, _| {
                let (ss, sz, _) = node(i);
                let wish = if sz > 0.0 && ss > 0.0 { ss / sz / own(i) } else { short };
                wish.clamp(short, long) * own(i)
            });
        }
    }
}
