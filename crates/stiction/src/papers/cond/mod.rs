//! Velocity fixed point with contact nodalization and diagonalization (Lee, Lee & Lee 2022, "COND"), as printed and as
//! we would have it.
//!
//! | paper | here |
//! |---|---|
//! | Alg. 1 and 3, the loop | [`Cond`] |
//! | Alg. 2, operators (26), invertible contact (37), elliptic cones | [`operators`] |
//! | virtual nodes (14), (15); Prop. 1–3 | `nodal.rs` |
//! | W, Sec. IV-C | `step_size.rs` |
//! | Chebyshev (38), (39) | `acceleration.rs` |
//! | E(q) by absolute column sums, (9) | [`majorant`] |
//! | stopping test, line 12 | [`Stop`], and the error beside it in `judge.rs` |
//! | beyond the paper: COND-E | [`without_nodes`], `surrogate.rs` |
//!
//! Signs and scales: the paper's λ is a force and its A in kg/s; ours are an impulse and kg, so that everything is divided
//! by `force_per_lambda`, k_v too.
//!
//! Where we differ from the text: a second contact on a node gets a virtual node (C6); Frobenius' W is scaled by a power
//! iteration where eigenvalues of W A exceed two; a run that grows is started again with half of W; blocks that nothing
//! touches are solved directly. A solve counts as converged when the yardstick says so, not when it stops (C5).

pub mod ccs;
pub mod majorant;
mod nodal;
pub mod operators;
mod position_based;
pub mod step_size;
pub mod without_nodes;

pub use crate::solvers::island::acceleration::{Acceleration, Chebyshev};
pub use crate::solvers::island::judge::Error;
pub use operators::{Operator, inverse_contact};
pub use position_based::{PositionBased, PositionReport};
pub use step_size::StepSize;
pub use without_nodes::{CondE, CondESettings, Stand};

use crate::contact::islands::Islands;
use crate::contact::{ContactProblem, Solution};
use crate::linalg::{Pieces, Vec3};
use crate::solvers::island::Island;
use crate::solvers::island::acceleration::Accelerator;
use crate::solvers::island::judge::Judge;
use crate::solvers::{ContactSolver, SolveReport, SolverSettings, Status, Trace, TraceRecord};
use nodal::Nodal;
use step_size::Steps;

/// When the iteration ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// ‖v⁺ − v‖₂ < θ [m/s], line 12 of Alg. 1. The paper takes 1e-4 to 1e-6. It is no error (C5): with stiff virtual nodes
    /// it is met at once.
    Update(f64),
    /// Natural map and momentum error, relative to the velocity scale, are below this.
    Error(f64),
}

/// Settings of [`Cond`]; the defaults are the paper's where it gives any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CondSettings {
    /// Gain of virtual nodes k_v [N·s/m].
    pub gain: f64,
    /// How impulses are brought into the cone.
    pub operator: Operator,
    /// How W is found.
    pub step_size: StepSize,
    /// Solves for which W is reused; 1 finds it anew each time.
    pub recycle: usize,
    /// Acceleration.
    pub acceleration: Acceleration,
    /// When to stop.
    pub stop: Stop,
    /// Most iterations, l_max.
    pub max_iterations: usize,
    /// True: the velocity of the last solve is the guess of the next (Sec. V-A). False: the given guess is.
    pub remember: bool,
}

impl Default for CondSettings {
    fn default() -> Self {
        CondSettings {
            gain: 1e4,
            operator: Operator::Strict,
            step_size: StepSize::Frobenius,
            recycle: 1,
            acceleration: Acceleration::Chebyshev(Chebyshev::default()),
            stop: Stop::Update(1e-4),
            max_iterations: 2000,
            remember: false,
        }
    }
}

impl CondSettings {
    /// With what the user asked for; a tolerance replaces the paper's test by an error.
    pub fn with(mut self, s: &SolverSettings) -> CondSettings {
        if let Some(tolerance) = s.tolerance {
            self.stop = Stop::Error(tolerance);
        }
        self.max_iterations = s.max_iterations.unwrap_or(self.max_iterations);
        self
    }
}

/// What the last solve took and reached, in the paper's terms and in ours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CondReport {
    /// Iterations.
    pub iterations: usize,
    /// The paper's residual ‖v⁺ − v‖₂ at the end [m/s], virtual nodes included.
    pub update: f64,
    /// The error on the problem as it was posed [m/s].
    pub error: Error,
    /// Virtual nodes.
    pub virtual_nodes: usize,
    /// Unknowns, virtual nodes included.
    pub unknowns: usize,
}

/// With a stop on the error it is measured this often.
const CHECK_EVERY: usize = 10;
/// A relative error up to which an answer that stopped by the paper's test counts as converged.
const GOOD: f64 = 1e-6;
/// The update may grow by this over its least before the solve is started again with half of W …
const GROWN: f64 = 1e4;
/// … at most this often.
const RESTARTS: usize = 4;

/// The velocity fixed point as printed.
#[doc(alias = "V-FPI")]
#[doc(alias = "contact nodalization")]
pub struct Cond {
    settings: CondSettings,
    islands: Islands,
    island: Island,
    pieces: Pieces,
    nodal: Nodal,
    steps: Steps,
    accelerator: Accelerator,
    judge: Judge,
    blocks: Vec<u32>,
    contacts: Vec<u32>,
    lambda: Vec<Vec3>,
    stretched: Vec<Vec3>,
    v: Vec<f64>,
    image: Vec<f64>,
    /// A v, and of the iteration before (Barzilai–Borwein).
    av: Vec<f64>,
    av_before: Vec<f64>,
    v_before: Vec<f64>,
    start: Vec<f64>,
    weight: Vec<f64>,
    /// v of the last solve.
    last: Vec<f64>,
    report: CondReport,
}

impl Cond {
    /// With settings.
    pub fn new(settings: CondSettings) -> Cond {
        Cond {
            settings,
            islands: Islands::default(),
            island: Island::default(),
            pieces: Pieces::default(),
            nodal: Nodal::default(),
            steps: Steps::default(),
            accelerator: Accelerator::default(),
            judge: Judge::default(),
            blocks: Vec::new(),
            contacts: Vec::new(),
            lambda: Vec::new(),
            stretched: Vec::new(),
            v: Vec::new(),
            image: Vec::new(),
            av: Vec::new(),
            av_before: Vec::new(),
            v_before: Vec::new(),
            start: Vec::new(),
            weight: Vec::new(),
            last: Vec::new(),
            report: CondReport::default(),
        }
    }

    /// What the last solve took and reached.
    pub fn last_report(&self) -> CondReport {
        self.report
    }

    /// Bytes that the last problem took: matrix, Jacobian and vectors.
    pub fn memory(&self) -> usize {
        let vectors = 8 * (8 * self.v.len() + self.weight.len());
        self.island.a.memory() + vectors + self.nodal.contacts.len() * 200
    }

    /// Turns A v in `av` into the residual A v − b − J_cᵀ λ with the impulses of the surrogate contacts, so that the image is
    /// v** = v − W times it.
    fn solve_contacts(&mut self) {
        // v* = v − W (A v − b)                                                            (20)
        for (r, b) in self.av.iter_mut().zip(&self.island.b) {
            *r -= b;
        }
        // λ = ProjectFC(−(η + φ)/γ), each contact alone                                   Alg. 2
        // v** = v* + W Jᵀ λ                                                               (24)
        let operator = self.settings.operator;
        for (c, lambda) in self.nodal.contacts.iter().zip(&mut self.lambda) {
            let free = self.nodal.predicted(c, &self.v, &self.steps.w, &self.av) + c.bias;
            let gamma = self.nodal.gamma(c, &self.steps.w);
            *lambda = operators::one_shot(operator, c.law, gamma, c.softness, free);
            if *lambda != Vec3::ZERO {
                self.nodal.push_apart(c, -*lambda, &mut self.av);
            }
        }
    }

    /// The V-FPI loop from `v`. Returns false where the update has grown without end.
    fn iterate(&mut self, trace: &mut dyn Trace) -> bool {
        let s = self.settings;
        let mut least = f64::INFINITY;
        self.accelerator.start(s.acceleration, &self.v, &self.weight);
        for l in 1..=s.max_iterations {
            self.nodal.mul(&self.island, &mut self.pieces, &self.v, &mut self.av);
            if s.step_size.is_adaptive() && l > 1 {
                // s = v − v_before, z = A s
                for i in 0..self.v.len() {
                    self.v_before[i] = self.v[i] - self.v_before[i];
                    self.av_before[i] = self.av[i] - self.av_before[i];
                }
                if let Some(alpha) = s.step_size.barzilai_borwein(l, &self.v_before, &self.av_before) {
                    self.steps.set_uniform(alpha);
                }
            }
            if s.step_size.is_adaptive() {
                self.v_before.copy_from_slice(&self.v);
                self.av_before.copy_from_slice(&self.av);
            }
            self.solve_contacts();
            let (w, r) = (&self.steps.w, &self.av);
            let update = self.accelerator.descend(s.acceleration, &mut self.v, (w, r), &mut self.image);
            self.report.iterations += 1;
            self.report.update = update;
            least = least.min(update);
            if !update.is_finite() || update > GROWN * least.max(self.judge.scale) {
                return false;
            }
            trace.record(TraceRecord {
                stage: "cond",
                iteration: self.report.iterations,
                factorizations: 0,
                residual: update / self.judge.scale,
            });
            match s.stop {
                Stop::Update(theta) if update < theta => break,
                Stop::Error(tolerance) if l % CHECK_EVERY == 0 => {
                    self.measure_image();
                    if self.report.error.worst() <= tolerance * self.judge.scale {
                        break;
                    }
                }
                _ => {}
            }
        }
        true
    }

    /// The error of the last image with its impulses, on the problem as it was posed.
    fn measure_image(&mut self) {
        let k = self.island.touches.iter().zip(&self.lambda).zip(&self.contacts);
        self.stretched.clear();
        self.stretched.extend(k.map(|((t, l), _)| t.unstretch.powf(0.5) * *l));
        let n = self.island.dofs();
        self.report.error = self.judge.measure(&self.island, &self.image[..n], &self.stretched);
    }

    /// The guess: the given velocity, or that of the last solve; its error with the given impulses.
    fn load(&mut self, p: &ContactProblem, x: &Solution) {
        self.island.load_without_sweeps(p, &self.blocks, &self.contacts);
        self.nodal.load(p, &self.island, &self.contacts, self.settings.gain / p.force_per_lambda);
        let n = self.nodal.dofs();
        for v in [&mut self.image, &mut self.av, &mut self.av_before, &mut self.v_before] {
            v.clear();
            v.resize(n, 0.0);
        }
        self.island.gather(&x.v, &mut self.v);
        for v in &mut self.v {
            if !v.is_finite() {
                *v = 0.0;
            }
        }
        self.lambda.clear();
        self.lambda.extend(self.contacts.iter().map(|&c| x.lambda[c as usize]));
        self.stretched.clear();
        let k = self.contacts.iter().zip(&self.lambda);
        self.stretched.extend(k.map(|(&c, l)| *l / p.law[c as usize].stretch()));
        self.judge.load(p, &self.island, &self.v, &self.stretched);
        self.report = CondReport {
            error: self.judge.measure(&self.island, &self.v, &self.stretched),
            virtual_nodes: self.nodal.virtual_nodes(),
            unknowns: n,
            ..CondReport::default()
        };
        self.v.resize(n, 0.0);
    }
}

impl ContactSolver for Cond {
    fn name(&self) -> &'static str {
        "cond"
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.islands.find(p);
        x.v.resize(p.dofs(), 0.0);
        self.blocks.clear();
        self.contacts.clear();
        self.contacts.extend(0..p.contacts() as u32);
        for i in 0..p.a.block_rows() {
            if self.islands.is_alone(i) {
                let (d, n) = p.a.block(i);
                x.v[d..d + n].copy_from_slice(&p.b[d..d + n]);
                p.divide_block(i, &mut x.v);
            } else {
                self.blocks.push(i as u32);
            }
        }
        self.load(p, x);
        let tolerance = match self.settings.stop {
            Stop::Error(tolerance) => tolerance,
            Stop::Update(_) => GOOD,
        };
        let good = |report: &CondReport, scale: f64| report.error.worst() <= tolerance * scale;
        let islands = self.islands.len();
        let answer = |report: &CondReport, scale: f64| SolveReport {
            status: if good(report, scale) { Status::Converged } else { Status::Budget },
            iterations: report.iterations,
            velocity: report.error.worst() / scale,
            islands,
            ..SolveReport::default()
        };
        if self.blocks.is_empty() || good(&self.report, self.judge.scale) {
            return answer(&self.report, self.judge.scale);
        }
        if self.settings.remember && self.last.len() == p.dofs() {
            self.island.gather(&self.last, &mut self.v);
            self.v.resize(self.nodal.dofs(), 0.0);
        }
        self.nodal.warm(&mut self.v);
        self.steps.start(self.settings.step_size, self.settings.recycle, &self.nodal, &self.island);
        self.weight.clear();
        self.weight.extend(self.steps.w.iter().map(|w| 1.0 / w.sqrt()));
        self.start.clone_from(&self.v);
        for _ in 0..RESTARTS {
            if self.iterate(trace) {
                break;
            }
            self.v.copy_from_slice(&self.start);
            self.steps.shorten(&self.nodal, &self.island);
        }
        self.measure_image();
        self.island.scatter(&self.image, &mut x.v);
        for (&c, l) in self.contacts.iter().zip(&self.lambda) {
            x.lambda[c as usize] = *l;
        }
        self.last.clone_from(&x.v);
        answer(&self.report, self.judge.scale)
    }
}
