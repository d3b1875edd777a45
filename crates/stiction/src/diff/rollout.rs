//! A run from where a simulation is, and its derivatives, whether contacts are exact or smooth.

use super::exact_motion::{ExactError, ExactMotion};
use super::motion::{Motion, Recorded, Tape};
use super::objective::Objective;
use super::param::ParamSet;
use super::{Gradient, Param};
use crate::coords::State;
use crate::error::{SceneError, StepError};
use crate::kinematics::Term;
use crate::methods::SolverKind;
use crate::model::Model;
use crate::sim::Simulation;
use crate::steppers::penalty::System;

/// Change of the state: displacements (world turns for rotations) and velocities, both in the order of `v`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateChange {
    /// Of q.
    pub q: Vec<f64>,
    /// Of v.
    pub v: Vec<f64>,
}

/// Derivatives of a number by the states of a run: what [`Rollout::vjp`] carries back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seeds(Vec<(usize, Term)>);

impl Seeds {
    /// Adds derivatives by the state after step number `step` (0: the start): by world displacements and by velocities, both in the
    /// order of `v`.
    pub fn add(&mut self, step: usize, by: &StateChange) {
        let list = |x: &[f64]| x.iter().copied().enumerate().filter(|x| x.1 != 0.0).collect();
        self.0.push((step, Term { dq: list(&by.q), dv: list(&by.v), ..Term::default() }));
    }
}

/// Derivatives by what a run depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cotangents {
    /// By the state at the start.
    pub start: StateChange,
    /// By the parameters.
    pub params: Vec<f64>,
}

/// A run that was recorded, with its derivatives by parameters and by its start. It owns all that it needs.
///
/// Both methods with derivatives are served: the exact laws (see [`ExactMotion`]) and smooth contacts (see [`Motion`]). The latter
/// starts at rest in its past: what a run before has left in multi-step schemes and in static friction is not carried over.
///
/// ```
/// use stiction::diff::{Rollout, Seeds, StateChange};
/// use stiction::model::Param;
/// use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
///
/// // A ball in free flight, thrown along x.
/// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
/// let ball = Body { velocity: Vec3::X, ..Body::new("ball", Geometry::Sphere { radius: 0.1 }) };
/// scene.bodies.push(ball.at(0.0, 0.0, 5.0).with_mass(1.0));
/// let sim = Simulation::new(scene.compile()?, SimSettings::default());
/// let throw = Param::parse(sim.model(), "ball.velocity.x")?;
/// let mut run = Rollout::run(&sim, 0.01, 50, vec![throw])?;
/// // Where it is at the end, by how it was thrown: the time of flight.
/// let mut x = StateChange { q: vec![0.0; 6], v: vec![0.0; 6] };
/// x.q[0] = 1.0;
/// let mut seeds = Seeds::default();
/// seeds.add(50, &x);
/// let back = run.vjp(&seeds)?;
/// assert!((back.params[0] - 0.5).abs() < 1e-8 && (back.start.v[0] - 0.5).abs() < 1e-8);
/// let ahead = run.jvp(&[1.0])?;
/// assert!((ahead[50].q[0] - 0.5).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rollout {
    params: Vec<Param>,
    steps: usize,
    course: Course,
}

enum Course {
    Exact(Box<ExactMotion>),
    Smooth(Box<Smooth>),
}

struct Smooth {
    system: System,
    params: ParamSet,
    recorded: Recorded,
}

impl Smooth {
    /// Does something with the motion.
    fn with<R>(&mut self, then: impl FnOnce(&mut Motion<'_>) -> R) -> R {
        let recorded = std::mem::take(&mut self.recorded);
        let mut motion = Motion::resume(&mut self.system, &mut self.params, recorded);
        let out = then(&mut motion);
        self.recorded = motion.release();
        out
    }
}

impl Rollout {
    /// Runs `steps` steps of `h` seconds from the present state of a simulation by its commands, which stays where it is.
    ///
    /// # Errors
    /// Where a step cannot be taken, where the method or a setting has no derivatives, and for parameters that the scene has not.
    pub fn run(sim: &Simulation, h: f64, steps: usize, wrt: Vec<Param>) -> Result<Rollout, StepError> {
        let course = match sim.settings().solver {
            SolverKind::Penalty => Course::Smooth(Box::new(smooth(sim, h, steps, wrt.clone())?)),
            _ => Course::Exact(Box::new(exact(sim, h, steps, &wrt)?)),
        };
        Ok(Rollout { params: wrt, steps, course })
    }

    /// The parameters, in the order of all vectors.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// State after step `i`; 0 is the start.
    pub fn state(&mut self, i: usize) -> Result<State, StepError> {
        match &mut self.course {
            Course::Exact(motion) => Ok(motion.state(i).clone()),
            Course::Smooth(smooth) => smooth.with(|motion| motion.state(i)),
        }
    }

    /// Φ of an objective.
    pub fn value(&mut self, objective: &dyn Objective) -> Result<f64, StepError> {
        match &mut self.course {
            Course::Exact(motion) => Ok(motion.value(objective)),
            Course::Smooth(smooth) => smooth.with(|motion| motion.value(objective)),
        }
    }

    /// Φ and dΦ/dp of an objective by one sweep back.
    pub fn gradient(&mut self, objective: &dyn Objective) -> Result<Gradient, StepError> {
        match &mut self.course {
            Course::Exact(motion) => {
                let gradient = motion.reverse(objective, &self.params)?;
                Ok(Gradient { value: motion.value(objective), gradient })
            }
            Course::Smooth(smooth) => smooth.with(|motion| motion.gradient(objective)),
        }
    }

    /// dΦ/dp of an objective by sweeps forward, one for each parameter.
    pub fn forward(&mut self, objective: &dyn Objective) -> Result<Vec<f64>, StepError> {
        match &mut self.course {
            Course::Exact(motion) => Ok(motion.forward(objective, &self.params)?),
            Course::Smooth(smooth) => {
                let m = self.params.len();
                let unit: Vec<Vec<f64>> =
                    (0..m).map(|i| (0..m).map(|j| f64::from(i == j)).collect()).collect();
                let (terms, rows) = smooth.with(|motion| motion.sensitivities(objective, &unit))?;
                let weights = objective.reduce().apply(&terms).1;
                Ok((0..m).map(|c| rows.iter().zip(&weights).map(|(r, w)| r[c] * w).sum()).collect())
            }
        }
    }

    /// Carries derivatives by states back to the start and the parameters (vector–Jacobian product).
    ///
    /// # Panics
    /// If a seed names a step or a dof that the run has not.
    pub fn vjp(&mut self, Seeds(seeds): &Seeds) -> Result<Cotangents, StepError> {
        let n = match &mut self.course {
            Course::Exact(motion) => motion.state(0).v.len(),
            Course::Smooth(smooth) => smooth.system.model().layout.nv(),
        };
        for (step, term) in seeds {
            assert!(*step <= self.steps, "a seed at step {step} of a run of {} steps", self.steps);
            let last = term.dq.iter().chain(&term.dv).map(|d| d.0).max();
            assert!(last.is_none_or(|d| d < n), "a seed of another model");
        }
        let weights = vec![1.0; seeds.len()];
        match &mut self.course {
            Course::Exact(motion) => Ok(motion.pull_back(seeds, &weights, &self.params)?),
            Course::Smooth(smooth) => smooth.with(|motion| motion.adjoint(seeds, &weights)),
        }
    }

    /// Changes of all states, the start included, along a direction of the parameters (Jacobian–vector product).
    ///
    /// # Panics
    /// If the direction has not one number per parameter.
    pub fn jvp(&mut self, direction: &[f64]) -> Result<Vec<StateChange>, StepError> {
        assert_eq!(direction.len(), self.params.len(), "one number per parameter");
        let mut out = Vec::with_capacity(self.steps + 1);
        match &mut self.course {
            Course::Exact(motion) => {
                let n = motion.state(0).v.len();
                motion.sweep(&self.params, |_, x| {
                    let mut sum = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
                    for (x, d) in x.iter().zip(direction) {
                        sum.q.iter_mut().zip(&x.q).for_each(|(s, x)| *s += d * x);
                        sum.v.iter_mut().zip(&x.v).for_each(|(s, x)| *s += d * x);
                    }
                    out.push(sum);
                })?;
            }
            Course::Smooth(smooth) => smooth.with(|motion| {
                motion.sweep(&[direction.to_vec()], &mut |_, _, _, q, v| {
                    out.push(StateChange { q: q[0].clone(), v: v[0].clone() });
                })
            })?,
        }
        Ok(out)
    }
}

/// The model of a simulation, starting where the simulation is.
fn from_here(sim: &Simulation) -> Model {
    let mut model = Model::clone(sim.model());
    model.initial = sim.state().clone().into();
    model
}

fn smooth(sim: &Simulation, h: f64, steps: usize, wrt: Vec<Param>) -> Result<Smooth, StepError> {
    let model = from_here(sim);
    let settings = sim.settings().penalty_settings(&model);
    let mut system = System::new(model, settings, h)?;
    system.command(sim.commands());
    let mut params = ParamSet::new(&system, wrt)?;
    let recorded = Motion::run(&mut system, &mut params, steps, Tape::Full)?.release();
    Ok(Smooth { system, params, recorded })
}

fn exact(sim: &Simulation, h: f64, steps: usize, wrt: &[Param]) -> Result<ExactMotion, StepError> {
    let settings = *sim.settings();
    let refuse = |item: &str, remedy: &str| Err(SceneError::new(item, remedy).into());
    if !settings.solver.solves_coulomb() || settings.solver == SolverKind::ConjugateResidual {
        let item = format!("solver `{}`", settings.solver.name());
        return refuse(&item, "its steps have no derivatives; use `exact` or `penalty`");
    }
    if settings.linearizations > 1 {
        return refuse(
            "linearizations",
            "derivatives of exact contact are of steps that linearise once; set it to 1",
        );
    }
    if settings.intersection_free {
        return refuse("intersection_free", "motions that are held back have no derivatives; switch it off");
    }
    if settings.sleep.is_some() {
        return refuse("sleep", "bodies that fall asleep have no derivatives; switch it off");
    }
    for p in wrt {
        p.check(sim.model())?;
        if !p.is_initial() {
            sim.model().value(*p)?;
        }
    }
    Ok(ExactMotion::of(sim.fork()?, settings, h, steps)?)
}

impl From<ExactError> for StepError {
    fn from(e: ExactError) -> StepError {
        match e {
            ExactError::Scene(e) => e.into(),
            ExactError::Step(e) => e,
        }
    }
}
