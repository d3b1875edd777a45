//! Is the gradient right? Finite differences and Taylor's test, parameter by parameter.

use super::motion::{Motion, Tape};
use super::objective::Objective;
use super::param::ParamSet;
use super::rollout::Rollout;
use crate::error::StepError;
use crate::model::{Model, Param};
use crate::sim::Simulation;
use crate::steppers::penalty::System;

/// One parameter of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct GradRow {
    /// The parameter in words.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// dΦ/dp by the adjoint.
    pub adjoint: f64,
    /// dΦ/dp by direct sensitivities.
    pub direct: f64,
    /// dΦ/dp by central differences at the best of several steps.
    pub difference: f64,
    /// |adjoint − difference| by the larger of both and of the smallest that differences can tell; 0 where both are less than that.
    pub error: f64,
    /// Slope of the remainder Φ(p+ε) − Φ(p) − ε dΦ/dp against ε on a log scale; 2 where the gradient is right.
    pub slope: f64,
}

/// A check of all parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradCheck {
    /// Φ.
    pub value: f64,
    /// Row by row.
    pub rows: Vec<GradRow>,
    /// Largest ‖r‖ of the forward run as a share of what was asked for.
    pub residual: f64,
    /// Newton steps of the forward run.
    pub iterations: usize,
}

impl GradCheck {
    /// Largest error of all rows.
    pub fn worst(&self) -> f64 {
        let apart = |r: &GradRow| {
            (r.adjoint - r.direct).abs() / r.adjoint.abs().max(1e-12 * self.value.abs() + f64::MIN_POSITIVE)
        };
        self.rows.iter().map(|r| r.error.max(apart(r))).fold(0.0, f64::max)
    }
}

/// Steps of central differences, relative to the size of the parameter, in the order in which they are tried. Contacts want small ones;
/// the last two see slopes that rounding of the motion hides from them.
const STEPS: [f64; 8] = [1e-4, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8, 3e-4, 1e-3];

/// Agreement at which no further steps are tried.
const GOOD: f64 = 1e-7;

/// Compares the adjoint, direct sensitivities and central differences of Φ by every parameter of smooth contacts.
pub fn check_grad(
    system: &mut System,
    params: &mut ParamSet,
    steps: usize,
    objective: &dyn Objective,
) -> Result<GradCheck, StepError> {
    let values = params.values().to_vec();
    let m = values.len();
    let mut check = GradCheck::default();
    let (adjoint, direct);
    {
        let mut motion = Motion::run(system, params, steps, Tape::Full)?;
        check.residual = motion.worst_residual();
        check.iterations = motion.newton.iter().map(|n| n.iterations).sum();
        let g = motion.gradient(objective)?;
        check.value = g.value;
        adjoint = g.gradient;
        let unit: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| f64::from(i == j)).collect()).collect();
        let (terms, rows) = motion.sensitivities(objective, &unit)?;
        let weights = objective.reduce().apply(&terms).1;
        direct = (0..m)
            .map(|c| rows.iter().zip(&weights).map(|(r, w)| r[c] * w).sum::<f64>())
            .collect::<Vec<f64>>();
    }
    let names: Vec<String> = params.params.iter().map(|p| p.describe(system.model())).collect();
    let scales: Vec<f64> = values.iter().map(|x| if x.abs() > 1e-3 { x.abs() } else { 1.0 }).collect();
    let rows = Rows { names, values: &values, scales, adjoint, direct };
    check.rows = rows.compare(check.value, |i, x| {
        let mut moved = values.clone();
        moved[i] = x;
        params.apply(system, &moved)?;
        Motion::run(system, params, steps, Tape::Full)?.value(objective)
    })?;
    params.apply(system, &values)?;
    Ok(check)
}

/// The same for a run from where a simulation is, by numbers of its scene: of exact contact as well.
pub fn check_rollout(
    sim: &Simulation,
    h: f64,
    steps: usize,
    wrt: Vec<Param>,
    objective: &dyn Objective,
) -> Result<GradCheck, StepError> {
    let mut here = Model::clone(sim.model());
    here.initial = sim.state().clone().into();
    let values: Vec<f64> = wrt.iter().map(|p| here.value(*p)).collect::<Result<_, _>>()?;
    let mut run = Rollout::run(sim, h, steps, wrt.clone())?;
    let gradient = run.gradient(objective)?;
    let direct = run.forward(objective)?;
    let names = wrt.iter().map(|p| p.describe(&here)).collect();
    let scales = wrt.iter().zip(&values).map(|(p, x)| p.scale(&here, *x)).collect();
    let rows = Rows { names, values: &values, scales, adjoint: gradient.gradient, direct };
    let rows = rows.compare(gradient.value, |i, x| {
        let mut moved = Simulation::new(here.with(&[(wrt[i], x)])?, *sim.settings());
        moved.controls().clone_from(sim.commands());
        Rollout::run(&moved, h, steps, Vec::new())?.value(objective)
    })?;
    Ok(GradCheck { value: gradient.value, rows, residual: 0.0, iterations: 0 })
}

/// Derivatives that are to be compared, parameter by parameter.
struct Rows<'a> {
    names: Vec<String>,
    values: &'a [f64],
    /// Typical sizes, by which differences are taken.
    scales: Vec<f64>,
    adjoint: Vec<f64>,
    direct: Vec<f64>,
}

impl Rows<'_> {
    /// With Φ at the values, and `at(i, x)`: Φ where parameter `i` is `x`.
    fn compare(
        self,
        value: f64,
        mut at: impl FnMut(usize, f64) -> Result<f64, StepError>,
    ) -> Result<Vec<GradRow>, StepError> {
        let mut rows = Vec::with_capacity(self.names.len());
        for (i, name) in self.names.into_iter().enumerate() {
            let (x, adjoint) = (self.values[i], self.adjoint[i]);
            let mut best = (f64::INFINITY, 0.0);
            let mut remainders = Vec::new();
            for step in STEPS {
                let e = step * self.scales[i];
                let (up, down) = (at(i, x + e)?, at(i, x - e)?);
                let slope = (up - down) / (2.0 * e);
                // Rounding of Φ divided by the step is what differences cannot tell from zero.
                let blind = 1e-13 * value.abs().max(up.abs()) / e;
                let size = slope.abs().max(adjoint.abs());
                // The first step sees smaller slopes than those after it: what is nothing to it is nothing.
                let is_nothing = step == STEPS[0] && size <= blind;
                let error = if is_nothing { 0.0 } else { (slope - adjoint).abs() / size.max(blind) };
                if error < best.0 {
                    best = (error, slope);
                }
                remainders.push((e, (up - value - e * adjoint).abs()));
                if best.0 < GOOD && remainders.len() > 1 {
                    break;
                }
            }
            // Slope between the first two steps, where their remainders stand out of rounding.
            let slope = match remainders[..] {
                [(e1, r1), (e2, r2), ..] if r2 > 1e-14 * value.abs() && r2 > 0.0 => {
                    (r1 / r2).ln() / (e1 / e2).ln()
                }
                _ => 2.0,
            };
            rows.push(GradRow {
                name,
                value: x,
                adjoint,
                direct: self.direct[i],
                difference: best.1,
                error: best.0,
                slope,
            });
        }
        Ok(rows)
    }
}
