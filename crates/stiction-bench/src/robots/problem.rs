//! Motions as functions of numbers: what built-in tasks and experiments share.

use miette::Report;
use stiction::diff::{Motion, Objective, Param, ParamSet, Tape};
use stiction::steppers::penalty::{Settings, System};
use stiction::{Body, Geometry, Scene, State, Vec3};
use stiction_cli::failure::{Result, error};

/// An error that no input of a user can cause.
pub fn defect(e: impl std::fmt::Display) -> Report {
    error(e, "this is a defect")
}

/// A floor under gravity.
pub fn ground(mu: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(mu));
    scene
}

/// A compiled scene.
pub fn system(scene: &Scene, settings: Settings, dt: f64) -> Result<System> {
    System::new(scene.compile().map_err(defect)?, settings, dt).map_err(defect)
}

/// A motion as a function of some numbers x: p = p₀ + B x, or p = p₀ exp x where numbers are positive and span decades.
pub struct Problem {
    /// The system.
    pub system: System,
    /// Its parameters.
    pub set: ParamSet,
    /// Length of the motion.
    pub steps: usize,
    /// Simulations so far.
    pub runs: usize,
    /// Columns of B; empty: one.
    pub basis: Vec<Vec<f64>>,
    /// Parameters that are exponentials.
    pub log: Vec<bool>,
    base: Vec<f64>,
}

impl Problem {
    /// All parameters from their present values.
    pub fn new(system: System, params: Vec<Param>, steps: usize) -> Result<Problem> {
        let set = ParamSet::new(&system, params).map_err(defect)?;
        let n = set.params.len();
        let base = set.start.clone();
        Ok(Problem { system, set, steps, runs: 0, basis: Vec::new(), log: vec![false; n], base })
    }

    /// Values of the parameters.
    pub fn params(&self, x: &[f64]) -> Vec<f64> {
        if self.basis.is_empty() {
            let log = |i: usize| if self.log[i] { self.base[i] * x[i].exp() } else { self.base[i] + x[i] };
            (0..self.base.len()).map(log).collect()
        } else {
            let mut p = self.base.clone();
            for (b, x) in self.basis.iter().zip(x) {
                p.iter_mut().zip(b).for_each(|(p, b)| *p += b * x);
            }
            p
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        if self.basis.is_empty() { self.base.len() } else { self.basis.len() }
    }

    fn run<T>(&mut self, x: &[f64], then: impl FnOnce(&mut Motion) -> Option<T>) -> Option<T> {
        let p = self.params(x);
        self.runs += 1;
        self.set.apply(&mut self.system, &p).ok()?;
        then(&mut Motion::run(&mut self.system, &mut self.set, self.steps, Tape::Full).ok()?)
    }

    /// All states of a motion.
    pub fn states(&mut self, x: &[f64]) -> Result<Vec<State>> {
        self.run(x, |m| (0..=m.steps()).map(|i| m.state(i).ok()).collect())
            .ok_or_else(|| defect("the motion does not end"))
    }

    /// Numbers of contact points that push after each step.
    pub fn contacts(&mut self, x: &[f64]) -> Result<Vec<usize>> {
        self.run(x, |m| Some(m.newton.iter().map(|n| n.contacts).collect()))
            .ok_or_else(|| defect("the motion does not end"))
    }

    /// Φ; no number where the motion breaks.
    pub fn value(&mut self, x: &[f64], objective: &dyn Objective) -> f64 {
        self.run(x, |m| m.value(objective).ok()).unwrap_or(f64::NAN)
    }

    /// Φ and its gradient by x.
    pub fn gradient(&mut self, x: &[f64], objective: &dyn Objective) -> (f64, Vec<f64>) {
        let n = self.len();
        let Some(g) = self.run(x, |m| m.gradient(objective).ok()) else {
            return (f64::NAN, vec![f64::NAN; n]);
        };
        if !self.basis.is_empty() {
            let dot = |b: &Vec<f64>| b.iter().zip(&g.gradient).map(|(b, g)| b * g).sum();
            return (g.value, self.basis.iter().map(dot).collect());
        }
        let p = self.params(x);
        let chain = |i: usize| if self.log[i] { g.gradient[i] * p[i] } else { g.gradient[i] };
        (g.value, (0..n).map(chain).collect())
    }

    /// Terms and their rows by those of x that are `free`.
    pub fn rows(
        &mut self,
        x: &[f64],
        objective: &dyn Objective,
        free: &[usize],
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (p, n) = (self.params(x), self.base.len());
        let columns: Vec<Vec<f64>> = free
            .iter()
            .map(|&i| {
                if !self.basis.is_empty() {
                    return self.basis[i].clone();
                }
                let mut column = vec![0.0; n];
                column[i] = if self.log[i] { p[i] } else { 1.0 };
                column
            })
            .collect();
        self.run(x, |m| m.sensitivities(objective, &columns).ok())
            .unwrap_or((vec![f64::NAN], vec![vec![f64::NAN; free.len()]]))
    }
}

/// Hat functions over `steps` steps, one every `every`: columns of B for controls of one value per step.
pub fn knots(controls: usize, steps: usize, every: usize) -> Vec<Vec<f64>> {
    let count = steps.div_ceil(every);
    let mut columns = Vec::new();
    for c in 0..controls {
        for k in 1..=count {
            let mut column = vec![0.0; controls * steps];
            for i in 0..steps {
                let place = (i + 1) as f64 / every as f64 - k as f64;
                column[c * steps + i] = (1.0 - place.abs()).max(0.0);
            }
            columns.push(column);
        }
    }
    columns
}
