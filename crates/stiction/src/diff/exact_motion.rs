//! Derivatives of whole motions of the exact solver: Signorini and Coulomb in every step, forward and reverse.
//!
//! A step takes X = (q, v) to X⁺. Its equations are posed at X by collision detection and linearisation, solved for v⁺ and λ,
//! and X⁺ follows from v⁺. The solve is differentiated implicitly ([`ImplicitStep`]), never numerically. What poses the equations (contact
//! geometry of any pair of shapes, inertia, elastic forces, gravity, coefficients) and what moves the state are smooth maps
//! without an iteration; they enter by central differences at fixed v⁺ and λ, exact to about 1e-9.
//!
//! Bodies that fly (`steppers/velocity/flight.rs`) move by their impulses: their touch times and the rows of their impacts are found again on
//! both sides of a difference, while who flies and which impact comes to rest stays as it was.
//!
//! Contacts are followed by their keys, and from feature to feature by their places. One that exists only on one side of a difference
//! is at the border of a mode change and counts as unchanged. Rigid joints hold at the end of a step, and are differentiated there; the
//! projection that closes their last bits is not. Pushing overlaps out (`steppers/velocity/recovery.rs`) is not differentiated: it acts on overlaps that a scene starts
//! with, and on those of more than 1e-4 of a size that turning in touch leaves; where it did, derivatives are off by a share like it.

mod reverse;

use super::implicit::{DataChange, ImplicitStep, friction_of};
use super::objective::Objective;
use super::rollout::StateChange;
use crate::contact::{ContactKey, ContactProblem, Law, Solution};
use crate::coords::State;
use crate::error::{SceneError, StepError};
use crate::integrate::Scheme;
use crate::kinematics::Placement;
use crate::kinematics::Term;
use crate::linalg::Vec3;
use crate::methods::{SimSettings, velocity_stepper};
use crate::model::{Controls, Model, Param, start};
use crate::sim::Simulation;
use crate::steppers::velocity::{Contacts, EndRow, Flown, Met, Probe, VelocityStepper};
use std::sync::Arc;

/// Step of central differences, relative to the largest component of a direction: what rounding leaves of gaps over h, and what is cubic
/// in the shift of a shape of a centimetre, are then alike, about 1e-9.
const STEP: f64 = 3e-6;

/// Single nodes are shifted by this share of it: alone they strain their elements more than a motion does, and matrices of elements have
/// kinks where they are made positive definite.
const NODE: f64 = 1e-2;

/// A run of the exact solver that can be differentiated.
pub struct ExactMotion {
    /// It starts where the motion does.
    model: Arc<Model>,
    controls: Controls,
    settings: SimSettings,
    h: f64,
    smoothing: f64,
    steps: Vec<Step>,
    last: State,
}

/// What is kept of a step.
struct Step {
    before: State,
    problem: ContactProblem,
    solution: Solution,
    late: Vec<ContactKey>,
    /// How each contact was met.
    met: Vec<Met>,
    /// Angles of the joints at the start.
    angles: Vec<f64>,
    /// Rows of joints that hold at the end.
    ends: Vec<EndRow>,
    /// How bodies flew.
    flown: Flown,
    /// Some contact gives back a share of the velocity before the step.
    rebounds: bool,
}

impl ExactMotion {
    /// Runs `steps` steps of `h` seconds. The midpoint scheme is not differentiated, nor are joints that pull so hard that they
    /// stiffen their bodies.
    pub fn run(
        model: &Model,
        settings: SimSettings,
        h: f64,
        steps: usize,
    ) -> Result<ExactMotion, ExactError> {
        let settings = SimSettings { linearizations: 1, ..settings };
        Self::of(Simulation::new(model.clone(), settings), settings, h, steps)
    }

    /// The same from where a simulation is, by its commands.
    pub(super) fn of(
        mut sim: Simulation,
        settings: SimSettings,
        h: f64,
        steps: usize,
    ) -> Result<ExactMotion, ExactError> {
        if settings.scheme != Scheme::ImplicitEuler {
            let text = "gradients of the exact solver need implicit Euler";
            return Err(SceneError::new("scheme", text).into());
        }
        let mut model = Model::clone(sim.model());
        model.initial = sim.state().clone().into();
        let controls = sim.controls().clone();
        let mut kept = Vec::with_capacity(steps);
        for _ in 0..steps {
            let before = sim.state().clone();
            let angles = sim.memory().joints.angle.clone();
            sim.step(h)?;
            let none = || {
                let item = format!("solver `{}`", settings.solver.name());
                let text = "it solves no contact problem that gradients could be taken of; use `exact`";
                SceneError::new(item, text)
            };
            let (model, stepper) = sim.velocity_stepper().ok_or_else(none)?;
            if stepper.joints_are_taut() {
                let item = format!("joints at t = {} s", before.t);
                let text = "they pull so hard that gradients of the exact solver would be wrong; take a shorter time step";
                return Err(SceneError::new(item, text).into());
            }
            let start = Placement::of(model, &before);
            let ends = stepper.joint_end_rows(start.kinematics(model), h);
            let (late, flown) = (stepper.late_keys(), stepper.flown());
            let (problem, solution) = sim.problem().zip(sim.solution()).ok_or_else(none)?;
            kept.push(Step {
                before,
                problem: problem.clone(),
                solution: solution.clone(),
                late,
                met: sim
                    .contacts()
                    .map(|(c, _)| Met { gap: c.gap, point: c.point, normal: c.normal() })
                    .collect(),
                angles,
                ends,
                flown,
                rebounds: sim.contacts().any(|(c, _)| c.restitution > 0.0),
            });
        }
        Ok(ExactMotion {
            last: sim.state().clone(),
            model: model.into(),
            controls,
            settings,
            h,
            smoothing: 0.0,
            steps: kept,
        })
    }

    /// The same with smoothed opening and closing of contacts ([`ImplicitStep::new`]) [m/s].
    pub fn with_smoothing(mut self, smoothing: f64) -> ExactMotion {
        self.smoothing = smoothing;
        self
    }

    /// State after step `i`.
    pub fn state(&self, i: usize) -> &State {
        self.steps.get(i).map_or(&self.last, |s| &s.before)
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Terms of an objective with the step that each belongs to.
    pub fn terms(&self, objective: &dyn Objective) -> Vec<(usize, Term)> {
        let mut all = Vec::new();
        let mut out = Vec::new();
        for i in 0..=self.steps.len() {
            let at = Placement::of(&self.model, self.state(i));
            objective.terms(at.kinematics(&self.model), i, &mut out);
            all.extend(out.drain(..).map(|t| (i, t)));
        }
        all
    }

    /// Φ.
    pub fn value(&self, objective: &dyn Objective) -> f64 {
        let values: Vec<f64> = self.terms(objective).iter().map(|t| t.1.value).collect();
        objective.reduce().apply(&values).0
    }

    /// Models a little on both sides of a parameter that poses the equations of steps, and half of their distance. Friction and
    /// the initial state act without them.
    fn sides(&self, p: Param) -> Result<Option<([Model; 2], f64)>, SceneError> {
        if matches!(p, Param::Friction(..)) || p.is_initial() {
            return p.check(&self.model).map(|()| None);
        }
        let value = self.model.value(p)?;
        if !value.is_finite() {
            let text = "it has no bound, so motions do not depend on it; give it one";
            return Err(SceneError::new(p.describe(&self.model), text));
        }
        let e = STEP * p.scale(&self.model, value);
        let side = |x: f64| self.model.with(&[(p, x)]);
        Ok(Some(([side(value + e)?, side(value - e)?], e)))
    }

    /// Change of the initial state per unit of a parameter.
    fn initial(&self, p: Param) -> StateChange {
        let m = &self.model;
        let mut x = StateChange { q: vec![0.0; m.layout.nv()], v: vec![0.0; m.layout.nv()] };
        start::derivatives(m, &m.initial, &[(p, 0.0)], |_, dof, q, v| {
            x.q[dof] += q;
            x.v[dof] += v;
        });
        x
    }

    /// Per contact of a step: how much of δμ of a parameter it feels.
    fn friction(&self, p: Param, step: &Step) -> Vec<f64> {
        let mut out = vec![0.0; step.problem.contacts()];
        if let Param::Friction(a, b) = p {
            for (x, key) in out.iter_mut().zip(&step.problem.key) {
                let owner = |s: crate::coords::ShapeId| self.model.whole(self.model.shapes[s.index()].owner);
                let (s, t) = (owner(key.shape_a), owner(key.shape_b));
                *x = f64::from((s, t) == (a, b) || (s, t) == (b, a));
            }
        }
        out
    }

    /// dΦ/dp of every parameter, one forward sweep each.
    pub fn forward(&self, objective: &dyn Objective, params: &[Param]) -> Result<Vec<f64>, ExactError> {
        let terms = self.terms(objective);
        let values: Vec<f64> = terms.iter().map(|t| t.1.value).collect();
        let weights = objective.reduce().apply(&values).1;
        let mut out = vec![0.0; params.len()];
        self.sweep(params, |i, x| {
            for ((_, t), w) in terms.iter().zip(&weights).filter(|(t, _)| t.0 == i) {
                for (out, x) in out.iter_mut().zip(x) {
                    *out += w * t.dq.iter().map(|(d, s)| s * x.q[*d]).sum::<f64>();
                    *out += w * t.dv.iter().map(|(d, s)| s * x.v[*d]).sum::<f64>();
                }
            }
        })?;
        Ok(out)
    }

    /// Changes of all states per unit of each parameter: calls `visit(step, changes)` at the start and after every step.
    pub(super) fn sweep(
        &self,
        params: &[Param],
        mut visit: impl FnMut(usize, &[StateChange]),
    ) -> Result<(), ExactError> {
        let mut probe = self.probe();
        let mut x: Vec<StateChange> = params.iter().map(|p| self.initial(*p)).collect();
        let sides: Vec<_> = params.iter().map(|p| self.sides(*p)).collect::<Result<_, _>>()?;
        for i in 0..=self.steps.len() {
            visit(i, &x);
            let Some(step) = self.steps.get(i) else { break };
            let mut implicit = self.implicit(step)?;
            for (k, p) in params.iter().copied().enumerate() {
                let mut data = self.posed(&mut probe, step, &x[k], sides[k].as_ref());
                for (m, f) in data.friction.iter_mut().zip(self.friction(p, step)) {
                    *m += f;
                }
                let answer = implicit.forward(&data);
                x[k] = self.moved(&mut probe, step, &x[k], &answer, sides[k].as_ref());
            }
        }
        Ok(())
    }

    /// A stepper that poses the equations of steps again.
    fn probe(&self) -> VelocityStepper {
        let mut probe = velocity_stepper(&self.model, &self.settings, None);
        probe.set_controls(&self.controls);
        probe
    }

    fn implicit(&self, step: &Step) -> Result<ImplicitStep, ExactError> {
        ImplicitStep::with_end_rows(&step.problem, &step.solution, self.smoothing, &step.ends).ok_or_else(
            || StepError::NotFinite { item: "the contact problem".to_string(), t: step.before.t }.into(),
        )
    }

    /// The state shifted by `e` times a change.
    fn shifted(&self, s: &State, x: &StateChange, e: f64) -> State {
        let mut out = s.clone();
        let d: Vec<f64> = x.q.iter().map(|q| e * q).collect();
        out.retract(&self.model.layout, &d);
        for (v, dv) in out.v.iter_mut().zip(&x.v) {
            *v += e * dv;
        }
        out
    }

    fn size(x: &StateChange) -> f64 {
        x.q.iter().chain(&x.v).fold(0.0, |m: f64, v| m.max(v.abs()))
    }

    /// Change of the equations at fixed v and λ, along a change of the state and of the model.
    fn posed(
        &self,
        probe: &mut VelocityStepper,
        step: &Step,
        x: &StateChange,
        sides: Option<&([Model; 2], f64)>,
    ) -> DataChange {
        let size = Self::size(x);
        let e = if size > 0.0 { STEP / size } else { 0.0 };
        self.posed_by(probe, step, (x, e), sides, Contacts::Detect)
    }

    /// The same by differences over 2 e; nothing along x where e is zero.
    fn posed_by(
        &self,
        probe: &mut VelocityStepper,
        step: &Step,
        (x, e): (&StateChange, f64),
        sides: Option<&([Model; 2], f64)>,
        contacts: Contacts,
    ) -> DataChange {
        let (n, m) = (self.model.layout.nv(), step.problem.contacts());
        let mut total = DataChange::none(n, m);
        let lambda = &step.solution.lambda[..];
        let at = |probe: &mut VelocityStepper, model: &Model, state: &State| {
            let answer = (&step.solution.v[..], lambda);
            probe.set_joint_angles(&step.angles);
            probe.probe(
                Placement::of(model, state).kinematics(model),
                self.h,
                answer,
                (&step.problem.key, &step.late, &step.met),
                contacts,
                &step.flown,
            )
        };
        let mut add = |[a, b]: [Probe; 2], e: f64| {
            for k in 0..n {
                total.momentum[k] += (a.momentum[k] - b.momentum[k]) / (2.0 * e);
            }
            for c in 0..m {
                if let (Some(u), Some(w)) = (a.velocity[c], b.velocity[c]) {
                    total.velocity[c] += (u - w) / (2.0 * e);
                }
                match (&a.law[c], &b.law[c]) {
                    (Some(Law::Rows(x)), Some(Law::Rows(y))) => {
                        for k in 0..3 {
                            let own = |b: &crate::contact::Bounds| {
                                if lambda[c][k] <= b.lo[k].midpoint(b.hi[k]) { b.lo[k] } else { b.hi[k] }
                            };
                            let change = own(x) - own(y);
                            total.bound[c][k] += if change.is_finite() { change / (2.0 * e) } else { 0.0 };
                        }
                    }
                    (Some(l), Some(k)) => total.friction[c] += (friction_of(l) - friction_of(k)) / (2.0 * e),
                    _ => {}
                }
            }
        };
        if e > 0.0 {
            let [up, down] = [e, -e].map(|e| at(probe, &self.model, &self.shifted(&step.before, x, e)));
            add([up, down], e);
        }
        if let Some((models, e)) = sides {
            let [up, down] = [0, 1].map(|k| at(probe, &models[k], &step.before));
            add([up, down], *e);
        }
        total
    }

    /// Change of the state after a step, along a change of the state before and of the answer.
    fn moved(
        &self,
        probe: &mut VelocityStepper,
        step: &Step,
        x: &StateChange,
        (dv, dl): &(Vec<f64>, Vec<Vec3>),
        sides: Option<&([Model; 2], f64)>,
    ) -> StateChange {
        let n = dv.len();
        let mut out = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        let mut size = Self::size(x).max(dv.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        for i in &step.flown.impacts {
            size = size.max(dl[i.contact as usize].abs().max_element());
        }
        let flown = (&step.problem.key[..], &step.flown);
        let mut add = |[a, b]: [State; 2], e: f64| {
            let mut d = vec![0.0; n];
            a.difference(&b, &self.model.layout, &mut d);
            for k in 0..n {
                out.q[k] += d[k] / (2.0 * e);
                out.v[k] += (a.v[k] - b.v[k]) / (2.0 * e);
            }
        };
        if size > 0.0 {
            let e = STEP / size;
            let mut side = |e: f64| {
                let mut s = self.shifted(&step.before, x, e);
                let v: Vec<f64> = step.solution.v.iter().zip(dv).map(|(v, d)| v + e * d).collect();
                let l: Vec<Vec3> = step.solution.lambda.iter().zip(dl).map(|(l, d)| *l + e * *d).collect();
                probe.advance_flown(&self.model, &mut s, self.h, (&v, &l), flown);
                s
            };
            add([side(e), side(-e)], e);
        }
        if let Some((models, e)) = sides {
            let mut side = |m: &Model| {
                let mut s = step.before.clone();
                let answer = (&step.solution.v[..], &step.solution.lambda[..]);
                probe.advance_flown(m, &mut s, self.h, answer, flown);
                s
            };
            add([side(&models[0]), side(&models[1])], *e);
        }
        out
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dot3(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Why an exact motion cannot be differentiated.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum ExactError {
    /// Something in the scene has no derivative here.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}
