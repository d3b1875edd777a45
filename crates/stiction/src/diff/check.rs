//! Is the gradient right? Finite differences and Taylor's test, parameter by parameter.

use super::motion::{Motion, Tape};
use super::objective::Objective;
use super::param::ParamSet;
use crate::error::StepError;
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

/// Compares the adjoint, direct sensitivities and central differences of Φ by every parameter.
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
    let mut at = |i: usize, x: f64| -> Result<f64, StepError> {
        let mut moved = values.clone();
        moved[i] = x;
        set(system, params, &moved)?;
        Motion::run(system, params, steps, Tape::Full)?.value(objective)
    };
    for i in 0..m {
        let scale = if values[i].abs() > 1e-3 { values[i].abs() } else { 1.0 };
        let mut best = (f64::INFINITY, 0.0);
        let mut remainders = Vec::new();
        for step in STEPS {
            let e = step * scale;
            let (up, down) = (at(i, values[i] + e)?, at(i, values[i] - e)?);
            let slope = (up - down) / (2.0 * e);
            // Rounding of Φ divided by the step is what differences cannot tell from zero.
            let blind = 1e-13 * check.value.abs().max(up.abs()) / e;
            let size = slope.abs().max(adjoint[i].abs());
            // The first step sees smaller slopes than those after it: what is nothing to it is nothing.
            let is_nothing = step == STEPS[0] && size <= blind;
            let error = if is_nothing { 0.0 } else { (slope - adjoint[i]).abs() / size.max(blind) };
            if error < best.0 {
                best = (error, slope);
            }
            remainders.push((e, (up - check.value - e * adjoint[i]).abs()));
            if best.0 < GOOD && remainders.len() > 1 {
                break;
            }
        }
        // Slope between the first two steps, where their remainders stand out of rounding.
        let slope = match remainders[..] {
            [(e1, r1), (e2, r2), ..] if r2 > 1e-14 * check.value.abs() && r2 > 0.0 => {
                (r1 / r2).ln() / (e1 / e2).ln()
            }
            _ => 2.0,
        };
        check.rows.push(GradRow {
            name: names[i].clone(),
            value: values[i],
            adjoint: adjoint[i],
            direct: direct[i],
            difference: best.1,
            error: best.0,
            slope,
        });
    }
    set(system, params, &values)?;
    Ok(check)
}

fn set(system: &mut System, params: &mut ParamSet, values: &[f64]) -> Result<(), StepError> {
    params.apply(system, values).map_err(|e| StepError::NotFinite { item: e.to_string(), t: 0.0 })
}
