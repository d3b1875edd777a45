//! What a motion is judged by: terms per step with their derivatives by configuration and velocity.

use super::param::Param;
use crate::coords::{Anchor, Part, State};
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::Owner;
use crate::steppers::penalty::System;

/// One number of an objective after some step, with its derivatives by world displacements and velocities of dofs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Term {
    /// The number.
    pub value: f64,
    /// ∂value/∂q: (dof, derivative); rotations count as world turns.
    pub dq: Vec<(usize, f64)>,
    /// ∂value/∂v.
    pub dv: Vec<(usize, f64)>,
    /// Derivatives by coefficients of contacts at a fixed state; only forces have them.
    pub contact: Vec<(Param, f64)>,
}

impl Term {
    /// A component of the position of an anchor along `n`, times `scale`, less `target`.
    pub fn position(kin: Kinematics<'_>, anchor: &Anchor, n: Vec3, target: f64, scale: f64) -> Term {
        let x = kin.position(anchor);
        let mut term = Term { value: scale * (n.dot(x) - target), ..Term::default() };
        let mut put = |dof: usize, v: Vec3| term.dq.extend((0..3).map(|k| (dof + k, scale * v[k])));
        kin.columns(anchor, 1.0, Some(x), &mut |part| match part {
            Part::Node { dof, weight, .. } => put(dof as usize, n * weight),
            Part::Rigid { dof, weight, arm, .. } => {
                put(dof as usize, n * weight);
                put(dof as usize + 3, arm.cross(n) * weight);
            }
        });
        term
    }

    /// A component of the centre of mass of an owner along `n`, times `scale`, less `target`; nodes count by mass. Weights
    /// are taken as given: where the rest shape of a solid is a parameter, use [`Markers`].
    pub fn centre(kin: Kinematics<'_>, owner: Owner, n: Vec3, target: f64, scale: f64) -> Term {
        let Kinematics { model, state, .. } = kin;
        match owner {
            Owner::Body(b) => {
                let anchor = Anchor::Body { body: b, local: Vec3::ZERO };
                Term::position(kin, &anchor, n, target, scale)
            }
            Owner::Node(node) => Term::position(kin, &Anchor::Node(node), n, target, scale),
            Owner::Solid(s) => {
                let nodes = &model.nodes[model.solids[s.index()].nodes.clone()];
                let mass: f64 = nodes.iter().map(|n| n.mass).sum();
                let mut term = Term { value: -scale * target, ..Term::default() };
                for node in nodes {
                    let w = scale * node.mass / mass;
                    term.value += w * n.dot(Vec3::from_slice(&state.q[node.q..]));
                    term.dq.extend((0..3).map(|k| (node.dof + k, w * n[k])));
                }
                term
            }
        }
    }
}

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
