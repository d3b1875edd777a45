//! Solvers side by side on the steps of one run: a reference walks along the scene, and every contestant solves the same
//! problems, each from its own answer to the step before.
//!
//! What counts as time: everything that a solver does in a step, Delassus matrices and factors included. What is made once
//! per run (patterns, lattices, orderings) does not count, as in the paper.

use crate::memory::held;
use crate::runs::broke;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use stiction::contact::{ContactKey, ContactProblem, Law, Residuals, Solution, residual};
use stiction::methods;
use stiction::papers::cond::{Cond, CondE, CondESettings, CondSettings};
use stiction::solvers::{ContactSolver, SolveReport};
use stiction::{Scene, Scheme, SimSettings, Simulation, SolverKind, SolverSettings, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};

/// Time step of the paper [s].
pub const DT: f64 = 0.01;

/// Time-stepping scheme of the mat: (9) of the paper.
pub const MIDPOINT: Scheme = Scheme::Midpoint;
/// … and of everything else. Ball, cable and gripper ring under (9), because the paper damps them by an E(q) that it does not give
/// (C11); implicit Euler damps them by itself.
pub const EULER: Scheme = Scheme::ImplicitEuler;

/// Tolerance of the reference.
const TRUTH: f64 = 1e-8;
/// Tolerance of the reference of a relaxation.
const RELAXED_TRUTH: f64 = 1e-7;

/// Solves below this time [s] are repeated so often: small problems and large ones alike, lest only small ones be timed at their best.
const SHORT: f64 = 0.05;
const REPEATS: usize = 4;

/// A solver that takes part.
pub struct Contestant {
    /// Its part of the ids of rows.
    pub id: String,
    /// Name in tables.
    pub name: String,
    solver: Box<dyn ContactSolver>,
    v: Vec<f64>,
    lambda: BTreeMap<ContactKey, Vec3>,
    ready: bool,
    kept: isize,
    /// Solves the convex relaxation: internal forces are judged by its own answer.
    relaxed: bool,
    /// Solves a step once, however short it is: what a solver keeps for some solves must not age by being timed.
    once: bool,
    /// What it took and reached, summed over steps.
    pub sum: Score,
}

/// Sums over steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// Steps solved.
    pub steps: usize,
    /// Iterations.
    pub iterations: usize,
    /// Processor time [s].
    pub seconds: f64,
    /// Deepest penetration of each step [m].
    pub penetration: f64,
    /// Error of internal forces of each step [N].
    pub internal: f64,
    /// Error of the sum of all normal forces of each step, and that sum itself [N].
    pub force: [f64; 2],
    /// Largest error of a displacement of each step [m].
    pub displacement: f64,
    /// Worst residuals.
    pub worst: Residuals,
    /// Steps that did not converge.
    pub failed: usize,
    /// Most memory that the solver held [bytes].
    pub memory: usize,
}

impl Score {
    fn mean(&self, sum: f64) -> f64 {
        sum / self.steps.max(1) as f64
    }

    /// Mean iterations.
    pub fn iterations(&self) -> f64 {
        self.mean(self.iterations as f64)
    }

    /// Mean time [ms].
    pub fn milliseconds(&self) -> f64 {
        1e3 * self.mean(self.seconds)
    }

    /// Mean of the deepest penetration [mm].
    pub fn penetration_mm(&self) -> f64 {
        1e3 * self.mean(self.penetration)
    }

    /// Mean error of internal forces [mN].
    pub fn internal_mn(&self) -> f64 {
        1e3 * self.mean(self.internal)
    }

    /// Error of the contact force over the force itself.
    pub fn force_error(&self) -> f64 {
        self.force[0] / self.force[1].max(f64::MIN_POSITIVE)
    }

    /// Mean of the largest error of a displacement [mm].
    pub fn displacement_mm(&self) -> f64 {
        1e3 * self.mean(self.displacement)
    }

    /// Most memory [MB].
    pub fn megabytes(&self) -> f64 {
        1e-6 * self.memory as f64
    }

    /// Sums of two.
    pub fn add(&mut self, o: &Score) {
        self.steps += o.steps;
        self.iterations += o.iterations;
        self.seconds += o.seconds;
        self.penetration += o.penetration;
        self.internal += o.internal;
        self.force = [self.force[0] + o.force[0], self.force[1] + o.force[1]];
        self.displacement += o.displacement;
        self.worst = self.worst.max(o.worst);
        self.failed += o.failed;
        self.memory = self.memory.max(o.memory);
    }
}

impl Contestant {
    /// Any solver.
    pub fn new(id: impl Into<String>, name: impl Into<String>, solver: Box<dyn ContactSolver>) -> Contestant {
        Contestant {
            id: id.into(),
            name: name.into(),
            solver,
            v: Vec::new(),
            lambda: BTreeMap::new(),
            ready: false,
            kept: 0,
            relaxed: false,
            once: false,
            sum: Score::default(),
        }
    }

    /// COND as printed, with changes.
    pub fn cond(id: impl Into<String>, name: impl Into<String>, settings: CondSettings) -> Contestant {
        Contestant::new(id, name, Box::new(Cond::new(settings)))
    }

    /// COND-E with changes.
    pub fn cond_e(id: impl Into<String>, name: impl Into<String>, settings: CondESettings) -> Contestant {
        Contestant::new(id, name, Box::new(CondE::new(settings)))
    }

    /// A solver by kind.
    pub fn kind(kind: SolverKind, tolerance: f64, most: Option<usize>) -> Contestant {
        let settings = SolverSettings { tolerance: Some(tolerance), max_iterations: most };
        let mut all = Contestant::new(kind.name(), kind.name(), methods::make_for_steps(kind, &settings));
        all.relaxed = kind == SolverKind::Apgd;
        all
    }

    /// Solves every step once.
    pub fn once(mut self) -> Contestant {
        self.once = true;
        self
    }

    /// Velocities of its last answer.
    pub fn velocity(&self) -> &[f64] {
        &self.v
    }

    /// Solves a step from its last answer and remembers the new one.
    fn solve(&mut self, p: &ContactProblem, guess: &[f64]) -> (Solution, SolveReport, f64) {
        let v = if self.v.len() == p.dofs() { self.v.clone() } else { guess.to_vec() };
        let lambda = (0..p.contacts())
            .map(|c| p.key.get(c).and_then(|k| self.lambda.get(k)).copied().unwrap_or_default())
            .collect();
        let mut x = Solution { v, lambda };
        let watch = Stopwatch::start();
        let (report, held) = held(|| self.solver.solve(p, &mut x, &mut ()));
        let took = watch.elapsed();
        self.sum.memory = self.sum.memory.max((self.kept + held.most as isize).max(0) as usize);
        self.kept += held.kept;
        self.v.clone_from(&x.v);
        self.lambda = p.key.iter().copied().zip(x.lambda.iter().copied()).collect();
        self.ready = true;
        (x, report, took.cpu.unwrap_or(took.wall))
    }

    /// Solves a step, and is judged. What is short is done several times, and the least time counts.
    fn compete(&mut self, s: &Sample) {
        let guess = (self.v.clone(), self.lambda.clone());
        let (mut x, mut report, mut seconds) = self.solve(&s.problem, &s.before);
        for _ in 0..if seconds < SHORT && !self.once { REPEATS } else { 0 } {
            let time = seconds;
            (self.v, self.lambda) = guess.clone();
            (x, report, seconds) = self.solve(&s.problem, &s.before);
            seconds = seconds.min(time);
        }
        let p = &s.problem;
        let r = residual::measure(p, &x);
        let sum = &mut self.sum;
        sum.steps += 1;
        sum.iterations += report.iterations;
        sum.seconds += seconds;
        sum.penetration += r.penetration;
        let truth = if self.relaxed { s.relaxed() } else { &s.truth.v };
        sum.internal += s.internal_error(&x.v, truth);
        let (force, truth) = (normal_force(p, &x.lambda), normal_force(p, &s.truth.lambda));
        sum.force = [sum.force[0] + (force - truth).abs(), sum.force[1] + truth];
        sum.displacement += s.displacement(&x.v);
        sum.worst = sum.worst.max(r);
        sum.failed += usize::from(!report.status.is_solved());
    }

    /// Solves samples: what comes before each of them unjudged, so that everyone starts from an answer of its own.
    pub fn run(&mut self, samples: &[Sample]) {
        for s in samples {
            if let Some((p, guess)) = &s.lead {
                self.v.clear();
                self.lambda.clear();
                self.solve(p, guess);
            }
            self.compete(s);
        }
    }
}

/// Sum of all normal forces [N].
pub fn normal_force(p: &ContactProblem, lambda: &[Vec3]) -> f64 {
    let contacts = p.law.iter().zip(lambda).filter(|(law, _)| matches!(law, Law::Contact(_)));
    contacts.map(|(_, l)| l.x).sum::<f64>() * p.force_per_lambda
}

/// A step of a run, with the answer of the reference.
pub struct Sample {
    /// The step before, and the velocity that it began with.
    lead: Option<(ContactProblem, Vec<f64>)>,
    problem: ContactProblem,
    before: Vec<f64>,
    truth: Solution,
    /// What the convex relaxation would say, once somebody has asked.
    relaxed: OnceCell<Vec<f64>>,
    mass: Vec<f64>,
}

impl Sample {
    /// Velocities of the convex relaxation.
    fn relaxed(&self) -> &[f64] {
        self.relaxed.get_or_init(|| {
            let settings = SolverSettings { tolerance: Some(RELAXED_TRUTH), max_iterations: None };
            let mut x = self.truth.clone();
            methods::make(SolverKind::Apgd, &settings).solve(&self.problem, &mut x, &mut ());
            x.v
        })
    }

    /// h ‖K (v − truth)‖: how far internal forces at the end of the step are off [N]. A − M is h² K, or a quarter of it (midpoint).
    pub fn internal_error(&self, v: &[f64], truth: &[f64]) -> f64 {
        let p = &self.problem;
        let d: Vec<f64> = v.iter().zip(truth).map(|(a, b)| a - b).collect();
        let mut f = vec![0.0; d.len()];
        p.a.mul(&d, &mut f);
        let sum: f64 = (0..d.len()).map(|i| (f[i] - self.mass[i] * d[i]).powi(2)).sum();
        sum.sqrt() * p.h * p.force_per_lambda * p.force_per_lambda
    }

    /// Largest error of a displacement in the step [m].
    pub fn displacement(&self, v: &[f64]) -> f64 {
        self.problem.h * v.iter().zip(&self.truth.v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// Velocities of the reference.
    pub fn truth(&self) -> &[f64] {
        &self.truth.v
    }

    /// Contacts of the step.
    pub fn contacts(&self) -> usize {
        self.problem.contacts()
    }

    /// Velocities of the step.
    pub fn dofs(&self) -> usize {
        self.problem.dofs()
    }
}

/// The reference that walks along.
pub struct Walk {
    /// The simulation.
    pub sim: Simulation,
    before: Vec<f64>,
    mass: Vec<f64>,
}

impl Walk {
    /// At the start of a scene.
    pub fn new(scene: &Scene, scheme: Scheme) -> Result<Walk> {
        let model =
            scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
        let mut mass = vec![0.0; model.layout.nv()];
        for n in &model.nodes {
            mass[n.dof..n.dof + 3].fill(n.mass);
        }
        for b in model.bodies.iter().filter(|b| b.block.is_some()) {
            mass[b.dof..b.dof + 3].fill(b.mass);
        }
        let settings = SimSettings {
            scheme,
            solver_settings: SolverSettings { tolerance: Some(TRUTH), max_iterations: None },
            ..SimSettings::default()
        };
        let before = model.initial.v.clone();
        Ok(Walk { sim: Simulation::new(model, settings), before, mass })
    }

    /// Number of velocity dofs.
    pub fn dofs(&self) -> usize {
        self.mass.len()
    }

    /// One step of the reference.
    pub fn step(&mut self) -> Result<()> {
        self.before.clone_from(&self.sim.state().v);
        self.sim.step(DT).map_err(broke)?;
        Ok(())
    }

    /// The step just taken.
    pub fn sample(&self, lead: Option<(ContactProblem, Vec<f64>)>) -> Sample {
        Sample {
            lead,
            problem: self.sim.problem().expect("a velocity step").clone(),
            before: self.before.clone(),
            truth: self.sim.solution().expect("a velocity step").clone(),
            relaxed: OnceCell::new(),
            mass: self.mass.clone(),
        }
    }

    /// Lets everyone solve the step just taken.
    pub fn compare(&self, contestants: &mut [Contestant]) {
        let sample = self.sample(None);
        for c in contestants {
            if !c.ready {
                // Patterns, lattices and symbolic factors are made once per run: they do not count.
                c.solve(&sample.problem, &sample.before);
                (c.v, c.lambda) = (Vec::new(), BTreeMap::new());
            }
            c.compete(&sample);
        }
    }

    /// The steps with these numbers (ascending, from 2), each with the one before.
    pub fn samples(scene: &Scene, scheme: Scheme, at: &[usize]) -> Result<Vec<Sample>> {
        let mut walk = Walk::new(scene, scheme)?;
        let mut all = Vec::new();
        let mut taken = 0;
        for &step in at {
            while taken + 1 < step {
                walk.step()?;
                taken += 1;
            }
            let lead = (walk.sim.problem().expect("a velocity step").clone(), walk.before.clone());
            walk.step()?;
            taken += 1;
            all.push(walk.sample(Some(lead)));
        }
        Ok(all)
    }
}
