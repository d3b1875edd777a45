//! Solvers side by side on the steps of one run: a reference walks along the scene, and every contestant solves the same
//! problems, each from its own answer to the step before.

use crate::bench::runs::broke;
use crate::clock::Stopwatch;
use crate::failure::{Result, error};
use std::collections::BTreeMap;
use stiction::contact::{ContactKey, ContactProblem, Residuals, Solution, residual};
use stiction::solvers::cond::{Cond, CondE, CondESettings, CondSettings};
use stiction::solvers::{self, ContactSolver, SolveReport};
use stiction::{Scene, SimSettings, Simulation, SolverKind, SolverSettings, Vec3};

/// Time step of the paper [s].
pub const DT: f64 = 0.01;

/// A solver that takes part.
pub struct Contestant {
    /// Name in tables.
    pub name: String,
    solver: Box<dyn ContactSolver>,
    v: Vec<f64>,
    lambda: BTreeMap<ContactKey, Vec3>,
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
    /// Worst residuals.
    pub worst: Residuals,
    /// Steps that did not converge.
    pub failed: usize,
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

    /// Sums of two.
    pub fn add(&mut self, o: &Score) {
        self.steps += o.steps;
        self.iterations += o.iterations;
        self.seconds += o.seconds;
        self.penetration += o.penetration;
        self.internal += o.internal;
        self.worst = self.worst.max(o.worst);
        self.failed += o.failed;
    }
}

impl Contestant {
    /// Any solver.
    pub fn new(name: impl Into<String>, solver: Box<dyn ContactSolver>) -> Contestant {
        Contestant {
            name: name.into(),
            solver,
            v: Vec::new(),
            lambda: BTreeMap::new(),
            sum: Score::default(),
        }
    }

    /// COND as printed, with changes.
    pub fn cond(name: impl Into<String>, settings: CondSettings) -> Contestant {
        Contestant::new(name, Box::new(Cond::new(settings)))
    }

    /// COND-E with changes.
    pub fn cond_e(name: impl Into<String>, settings: CondESettings) -> Contestant {
        Contestant::new(name, Box::new(CondE::new(settings)))
    }

    /// A solver by kind.
    pub fn kind(kind: SolverKind, tolerance: f64, most: Option<usize>) -> Contestant {
        let settings = SolverSettings { tolerance: Some(tolerance), max_iterations: most };
        Contestant::new(kind.name(), solvers::make_for_steps(kind, &settings))
    }

    /// Solves one step from its last answer.
    pub fn solve(&mut self, p: &ContactProblem, guess: &[f64]) -> (Solution, SolveReport, f64) {
        let v = if self.v.len() == p.dofs() { self.v.clone() } else { guess.to_vec() };
        let lambda = (0..p.contacts())
            .map(|c| p.key.get(c).and_then(|k| self.lambda.get(k)).copied().unwrap_or_default())
            .collect();
        let mut x = Solution { v, lambda };
        if self.sum.steps == 0 {
            // Patterns, lattices and symbolic factors are made once per run: they do not count.
            self.solver.solve(p, &mut x.clone(), &mut ());
        }
        let watch = Stopwatch::start();
        let report = self.solver.solve(p, &mut x, &mut ());
        let took = watch.elapsed();
        self.v.clone_from(&x.v);
        self.lambda = p.key.iter().copied().zip(x.lambda.iter().copied()).collect();
        (x, report, took.cpu.unwrap_or(took.wall))
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
    pub fn new(scene: &Scene) -> Result<Walk> {
        let model =
            scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
        let mut mass = vec![0.0; model.layout.nv()];
        for n in &model.nodes {
            mass[n.dof..n.dof + 3].fill(n.mass);
        }
        let settings = SimSettings {
            solver_settings: SolverSettings { tolerance: Some(1e-8), max_iterations: None },
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

    /// Lets everyone solve the step just taken.
    pub fn compare(&self, contestants: &mut [Contestant]) {
        let p = self.sim.problem();
        let truth = &self.sim.solution().v;
        for c in contestants {
            let (x, report, seconds) = c.solve(p, &self.before);
            let r = residual::measure(p, &x);
            c.sum.steps += 1;
            c.sum.iterations += report.iterations;
            c.sum.seconds += seconds;
            c.sum.penetration += r.penetration;
            c.sum.internal += self.internal_error(p, &x.v, truth);
            c.sum.worst = c.sum.worst.max(r);
            c.sum.failed += usize::from(!report.status.is_solved());
        }
    }

    /// ‖(A − M)(v − v_ref)‖ as a force: how far internal forces at the end of the step are off [N].
    fn internal_error(&self, p: &ContactProblem, v: &[f64], truth: &[f64]) -> f64 {
        let d: Vec<f64> = v.iter().zip(truth).map(|(a, b)| a - b).collect();
        let mut f = vec![0.0; d.len()];
        p.a.mul(&d, &mut f);
        let sum: f64 = (0..d.len()).map(|i| (f[i] - self.mass[i] * d[i]).powi(2)).sum();
        sum.sqrt() * p.force_per_lambda
    }
}
