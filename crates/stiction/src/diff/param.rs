//! Parameters of a penalty system, with the values that they have.

use crate::error::SceneError;
use crate::model::{Model, Param, start};
use crate::steppers::penalty::{FrictionModel, System};
use std::sync::Arc;

/// Parameters with the model that they start from.
#[derive(Clone)]
pub struct ParamSet {
    /// The parameters, in the order of all vectors.
    pub params: Vec<Param>,
    /// Where motions start is counted from its initial state.
    base: Model,
    /// Values at the start.
    pub start: Vec<f64>,
    values: Vec<f64>,
}

impl std::fmt::Debug for ParamSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ParamSet { params, base: _, start, values } = self;
        f.debug_struct("ParamSet")
            .field("params", params)
            .field("start", start)
            .field("values", values)
            .finish()
    }
}

impl ParamSet {
    /// Checks that each parameter exists in the system and takes its present value. An error for one by which smooth contacts have
    /// no derivatives.
    pub fn new(system: &System, params: Vec<Param>) -> Result<ParamSet, SceneError> {
        let model = system.model();
        if system.settings().friction == FrictionModel::Sqp {
            let text = "hard constraints have no derivatives; choose linear, tanh or hybrid";
            return Err(SceneError::new("friction model `sqp`", text));
        }
        for p in &params {
            p.check(model)?;
            let problem = match *p {
                Param::Friction(..) if !system.sites().pairs.iter().any(|q| q.friction() == *p) => {
                    "there is no such pair"
                }
                Param::Control(c, k) if system.controls.get(c).is_none_or(|c| k >= c.values.len()) => {
                    "there is no such control or step"
                }
                Param::MotorStiffness(_) | Param::MotorDamping(_) | Param::MotorLimit(_) => {
                    "the penalty method has no derivative by it; take that of `exact`"
                }
                _ => continue,
            };
            return Err(SceneError::new(format!("parameter {p:?}"), problem));
        }
        let mut set = ParamSet { params, base: Model::clone(model), start: Vec::new(), values: Vec::new() };
        set.values = set.params.iter().map(|p| set.value(system, *p)).collect::<Result<_, _>>()?;
        set.start.clone_from(&set.values);
        Ok(set)
    }

    /// Where a parameter stands.
    pub(super) fn indices(&self, param: &Param) -> impl Iterator<Item = usize> {
        self.params.iter().enumerate().filter(move |(_, p)| *p == param).map(|(k, _)| k)
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.params.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// Values set last.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    fn value(&self, system: &System, p: Param) -> Result<f64, SceneError> {
        let pair = || system.sites().pairs.iter().find(|q| q.friction() == p);
        Ok(match p {
            Param::Friction(..) => pair().map_or(0.0, |q| q.mu1),
            Param::ContactStiffness => system.settings().stiffness,
            Param::ContactDamping => system.settings().damping.coefficient(),
            Param::MotorTarget(j) => system.motor_offset(j.index()),
            Param::Control(c, k) => system.controls[c].values[k],
            _ => system.model().value(p)?,
        })
    }

    /// Sets all values in the system. Initial conditions always start from the same state, so that values mean the same whatever
    /// came before.
    pub fn apply(&mut self, system: &mut System, values: &[f64]) -> Result<(), SceneError> {
        assert_eq!(values.len(), self.params.len(), "one value per parameter");
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            let item = self.params[i].describe(system.model());
            return Err(SceneError::new(item, format!("{} is not a number it can have", values[i])));
        }
        let all: Vec<(Param, f64)> = self.params.iter().copied().zip(values.iter().copied()).collect();
        let of_model = |p: &Param| {
            !matches!(
                p,
                Param::Friction(..)
                    | Param::ContactStiffness
                    | Param::ContactDamping
                    | Param::MotorTarget(_)
                    | Param::Control(..)
            )
        };
        let mut model = Model::clone(&system.model);
        model.write(&all.iter().copied().filter(|(p, _)| of_model(p)).collect::<Vec<_>>())?;
        model.initial = start::state(&self.base, &all).into();
        for &(p, x) in &all {
            match p {
                Param::Friction(..) => {
                    // Both coefficients of elliptic friction, and those of all surfaces of the pair, change by the same number.
                    let change = x - self.value(system, p)?;
                    for pair in system.sites.pairs.iter_mut().filter(|q| q.friction() == p) {
                        pair.mu1 += change;
                        pair.mu2 += change;
                    }
                }
                Param::ContactStiffness => system.settings.stiffness = x,
                Param::ContactDamping => system.settings.damping = system.settings.damping.with(x),
                Param::MotorTarget(j) => system.set_motor_offset(j.index(), x),
                Param::Control(c, k) => system.controls[c].values[k] = x,
                _ => {}
            }
        }
        self.values = values.to_vec();
        system.model = Arc::new(model);
        system.fill_mass();
        Ok(())
    }

    /// ∂(q, v)/∂p of the initial state: calls `sink(parameter, dof, of q, of v)`.
    pub(super) fn initial(&self, system: &System, sink: impl FnMut(usize, usize, f64, f64)) {
        let all: Vec<(Param, f64)> = self.params.iter().copied().zip(self.values.iter().copied()).collect();
        start::derivatives(&self.base, &system.model().initial, &all, sink);
    }
}
