//! Numbers of a state with their derivatives.

use super::Kinematics;
use crate::coords::{Anchor, Part};
use crate::linalg::Vec3;
use crate::model::{Owner, Param};

/// A number of a state, with its derivatives by world displacements and velocities of dofs: what objectives are made of.
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
    /// are taken as given: where the rest shape of a solid is a parameter, use [`Markers`](crate::diff::Markers).
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
