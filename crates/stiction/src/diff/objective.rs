//! What a motion is judged by: terms per step with their derivatives by configuration and velocity.

use crate::coords::{Anchor, State};
use crate::kinematics::{Kinematics, Term};
use crate::linalg::Vec3;
use crate::model::Owner;
use crate::steppers::penalty::System;

/// How terms become one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reduce {
    /// Φ = ½ Σ value².
    Squares,
    /// Φ = −ln Σ exp(−β value) / β: about the smallest of all terms, smooth.
    SoftMinimum(f64),
}

impl Reduce {
    /// Φ and its derivatives by the terms.
    pub fn apply(self, values: &[f64]) -> (f64, Vec<f64>) {
        match self {
            Reduce::Squares => (0.5 * values.iter().map(|x| x * x).sum::<f64>(), values.to_vec()),
            Reduce::SoftMinimum(beta) => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let weights: Vec<f64> = values.iter().map(|x| (-beta * (x - least)).exp()).collect();
                let sum: f64 = weights.iter().sum();
                (least - sum.ln() / beta, weights.iter().map(|w| w / sum).collect())
            }
        }
    }
}

/// What is minimised.
pub trait Objective {
    /// Appends the terms of the state after step number `step`; 0 is the initial state.
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>);

    /// The same for terms that need the contacts of the system, such as forces; only where the penalty solver runs.
    fn force_terms(&self, _system: &System, _step: usize, _state: &State, _out: &mut Vec<Term>) {}

    /// How terms become one number.
    fn reduce(&self) -> Reduce {
        Reduce::Squares
    }
}

/// Centre of mass at a target after one step.
#[derive(Clone, Debug, PartialEq)]
pub struct PointTarget {
    /// Whose centre.
    pub owner: Owner,
    /// After which step.
    pub step: usize,
    /// Where [m].
    pub target: Vec3,
    /// Weight of each axis; zero leaves it free.
    pub weight: Vec3,
}

impl Objective for PointTarget {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        if step == self.step {
            for k in (0..3).filter(|k| self.weight[*k] != 0.0) {
                let n = Vec3::AXES[k];
                out.push(Term::centre(kin, self.owner, n, self.target[k], self.weight[k]));
            }
        }
    }
}

/// Points of bodies at measured places; what was not seen does not count.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Markers {
    /// The points.
    pub points: Vec<Anchor>,
    /// After which step, which point, where [m].
    pub seen: Vec<(usize, usize, Vec3)>,
}

impl Objective for Markers {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        for (_, point, at) in self.seen.iter().filter(|s| s.0 == step) {
            for k in 0..3 {
                out.push(Term::position(kin, &self.points[*point], Vec3::AXES[k], at[k], 1.0));
            }
        }
    }
}

/// One coordinate of a centre of mass after one step, as it is: Φ is the coordinate itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinate {
    /// Whose centre.
    pub owner: Owner,
    /// After which step.
    pub step: usize,
    /// Along which direction.
    pub direction: Vec3,
}

impl Objective for Coordinate {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        if step == self.step {
            out.push(Term::centre(kin, self.owner, self.direction, 0.0, 1.0));
        }
    }

    /// The soft minimum of one number is that number.
    fn reduce(&self) -> Reduce {
        Reduce::SoftMinimum(1.0)
    }
}
