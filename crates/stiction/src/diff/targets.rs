//! Objectives beyond one point: a line, a path, a pose, a soft minimum over a window, a cloud of points, contact forces.

use super::objective::{Objective, Reduce};
use crate::coords::{Anchor, BodyId, NodeId, SoftId, State};
use crate::kinematics::Kinematics;
use crate::kinematics::Term;
use crate::linalg::closest_of_triangle;
use crate::linalg::rotation;
use crate::linalg::rotation::left_jacobian;
use crate::linalg::{Quat, Vec3, tangents};
use crate::model::Owner;
use crate::steppers::penalty::System;
use std::ops::RangeInclusive;

/// Centre of mass along a path: where it should be after some steps.
#[derive(Clone, Debug, PartialEq)]
pub struct PathTarget {
    /// Whose centre.
    pub owner: Owner,
    /// After which step, where [m].
    pub places: Vec<(usize, Vec3)>,
    /// Weight of each axis; zero leaves it free.
    pub weight: Vec3,
}

impl PathTarget {
    /// On a line along `along` through `point` during all of `steps`, as a mean over them (Fig. 10b: a vertical line).
    ///
    /// Only lines along an axis: the weight of that axis is zero.
    pub fn line(owner: Owner, steps: RangeInclusive<usize>, point: Vec3, along: usize) -> PathTarget {
        let count = steps.clone().count().max(1) as f64;
        let mut weight = Vec3::splat(1.0 / count.sqrt());
        weight[along] = 0.0;
        PathTarget { owner, places: steps.map(|i| (i, point)).collect(), weight }
    }
}

impl Objective for PathTarget {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        for (_, at) in self.places.iter().filter(|p| p.0 == step) {
            for k in (0..3).filter(|k| self.weight[*k] != 0.0) {
                out.push(Term::centre(kin, self.owner, Vec3::AXES[k], at[k], self.weight[k]));
            }
        }
    }
}

/// Nodes of soft bodies, and rigid bodies, in a pose after one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoseTarget {
    /// After which step.
    pub step: usize,
    /// Nodes with their places [m].
    pub nodes: Vec<(NodeId, Vec3)>,
    /// Bodies with the places of their centres [m] and their orientations.
    pub bodies: Vec<(BodyId, Vec3, Quat)>,
    /// What a radian counts [m].
    pub turn_weight: f64,
}

impl Objective for PoseTarget {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        if step != self.step {
            return;
        }
        let share = 1.0 / (self.nodes.len().max(1) as f64).sqrt();
        for (node, at) in &self.nodes {
            for k in 0..3 {
                out.push(Term::position(kin, &Anchor::Node(*node), Vec3::AXES[k], at[k], share));
            }
        }
        for (body, at, turned) in &self.bodies {
            for k in 0..3 {
                out.push(Term::centre(kin, Owner::Body(*body), Vec3::AXES[k], at[k], 1.0));
            }
            let b = &kin.model.bodies[body.index()];
            if b.block.is_none() || self.turn_weight == 0.0 {
                continue;
            }
            // φ = log(R R*ᵀ); a world turn δ changes it by J_ω(φ)⁻¹ δ.
            let phi = rotation::log(kin.body(*body).com.rotation * turned.conjugate());
            let inverse = left_jacobian(phi).inverse();
            for k in 0..3 {
                let row = inverse.transpose() * Vec3::AXES[k] * self.turn_weight;
                out.push(Term {
                    value: self.turn_weight * phi[k],
                    dq: (0..3).map(|c| (b.dof + 3 + c, row[c])).collect(),
                    ..Term::default()
                });
            }
        }
    }
}

/// An axis of a body along a direction of the world during some steps: what is left across it, as a mean over them (6.2).
#[derive(Clone, Debug, PartialEq)]
pub struct UprightTarget {
    /// Whose axis.
    pub body: BodyId,
    /// The axis in the frame of the body, a unit vector.
    pub axis: Vec3,
    /// Where it should point, a unit vector.
    pub up: Vec3,
    /// After which steps.
    pub steps: RangeInclusive<usize>,
    /// What a radian counts [m].
    pub weight: f64,
}

impl Objective for UprightTarget {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        let b = &kin.model.bodies[self.body.index()];
        if !self.steps.contains(&step) || b.block.is_none() {
            return;
        }
        let weight = self.weight / (self.steps.clone().count().max(1) as f64).sqrt();
        let axis = kin.body(self.body).com.rotation * self.axis;
        let (t1, t2) = tangents(self.up);
        for t in [t1, t2] {
            // A world turn δ changes t · a by δ · (a × t).
            let by_turn = axis.cross(t) * weight;
            let dq = (0..3).map(|k| (b.dof + 3 + k, by_turn[k])).collect();
            out.push(Term { value: weight * t.dot(axis), dq, ..Term::default() });
        }
    }
}

/// How near the centre of mass comes to a target at any time of a window: soft minimum of ½ |x − target|² (section 6.3).
#[derive(Clone, Debug, PartialEq)]
pub struct NearestTarget {
    /// Whose centre.
    pub owner: Owner,
    /// Steps of the window.
    pub steps: RangeInclusive<usize>,
    /// Where [m].
    pub target: Vec3,
    /// Only while it falls.
    pub descending: bool,
    /// Sharpness β of the minimum [1/m²].
    pub sharpness: f64,
}

impl Objective for NearestTarget {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        if !self.steps.contains(&step) {
            return;
        }
        let axes = [0, 1, 2].map(|k| Term::centre(kin, self.owner, Vec3::AXES[k], self.target[k], 1.0));
        if self.descending {
            let fall: f64 = axes[2].dq.iter().map(|(dof, w)| w * kin.state.v[*dof]).sum();
            if fall > 0.0 {
                return;
            }
        }
        let mut term = Term::default();
        for axis in axes {
            term.value += 0.5 * axis.value * axis.value;
            term.dq.extend(axis.dq.iter().map(|(dof, w)| (*dof, w * axis.value)));
        }
        out.push(term);
    }

    fn reduce(&self) -> Reduce {
        Reduce::SoftMinimum(self.sharpness)
    }
}

/// Measured points near the surface of a soft body: signed distances to the closest point of the surface (section 6.1).
#[derive(Clone, Debug, PartialEq)]
pub struct CloudTarget {
    /// Whose surface.
    pub solid: SoftId,
    /// After which step, which points [m].
    pub clouds: Vec<(usize, Vec<Vec3>)>,
}

impl Objective for CloudTarget {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        let solid = &kin.model.solids[self.solid.index()];
        for (_, cloud) in self.clouds.iter().filter(|c| c.0 == step) {
            let x: Vec<Vec3> = solid.vertices.iter().map(|a| kin.position(a)).collect();
            let count = (cloud.len().max(1) as f64).sqrt();
            for &p in cloud {
                let mut best = (f64::INFINITY, [0; 3], [0.0; 3]);
                for t in &solid.surface {
                    let corners = t.map(|i| x[i as usize]);
                    let w = closest_of_triangle(p, corners);
                    let d = (0..3).map(|k| corners[k] * w[k]).sum::<Vec3>().distance_squared(p);
                    if d < best.0 {
                        best = (d, *t, w);
                    }
                }
                let (_, t, w) = best;
                let [a, b, c] = t.map(|i| x[i as usize]);
                let away = p - (a * w[0] + b * w[1] + c * w[2]);
                let outward = (b - a).cross(c - a).normalize_or_zero();
                // Signed, so that it is smooth where a point passes through the surface.
                let sign = if away.dot(outward) < 0.0 { -1.0 } else { 1.0 };
                let length = away.length();
                let n = if length > 1e-12 { away * (sign / length) } else { outward };
                let mut term = Term { value: sign * length / count, ..Term::default() };
                for k in 0..3 {
                    if let Anchor::Node(node) = solid.vertices[t[k] as usize] {
                        let dof = kin.model.nodes[node.index()].dof;
                        term.dq.extend((0..3).map(|c| (dof + c, -w[k] * n[c] / count)));
                    }
                }
                out.push(term);
            }
        }
    }
}

/// Contact force on an owner, by anything or by one other, along a direction after some steps, less a target [N].
#[derive(Clone, Debug, PartialEq)]
pub struct ForceTarget {
    /// On whom.
    pub on: Owner,
    /// By whom.
    pub by: Option<Owner>,
    /// After which steps.
    pub steps: RangeInclusive<usize>,
    /// Along which direction.
    pub direction: Vec3,
    /// How much [N].
    pub target: f64,
}

impl Objective for ForceTarget {
    fn terms(&self, _: Kinematics<'_>, _: usize, _: &mut Vec<Term>) {}

    fn force_terms(&self, system: &System, step: usize, state: &State, out: &mut Vec<Term>) {
        if self.steps.contains(&step) && step > 0 {
            let mut term = system.contact_force_term(state, self.on, self.by, self.direction);
            term.value -= self.target;
            out.push(term);
        }
    }
}

/// Several objectives at once: Φ is the sum of their squares, each times its weight.
#[derive(Default)]
pub struct Together<'a> {
    /// Objectives with the roots of their weights.
    pub parts: Vec<(&'a dyn Objective, f64)>,
}

impl Together<'_> {
    fn scaled(out: &mut [Term], by: f64) {
        for t in out {
            t.value *= by;
            t.dq.iter_mut().chain(&mut t.dv).for_each(|d| d.1 *= by);
            t.contact.iter_mut().for_each(|d| d.1 *= by);
        }
    }
}

impl Objective for Together<'_> {
    fn terms(&self, kin: Kinematics<'_>, step: usize, out: &mut Vec<Term>) {
        for (part, weight) in &self.parts {
            let first = out.len();
            part.terms(kin, step, out);
            Together::scaled(&mut out[first..], *weight);
        }
    }

    fn force_terms(&self, system: &System, step: usize, state: &State, out: &mut Vec<Term>) {
        for (part, weight) in &self.parts {
            let first = out.len();
            part.force_terms(system, step, state, out);
            Together::scaled(&mut out[first..], *weight);
        }
    }
}

/// Residuals β (p_{i+1} − p_i) of numbers that follow each other in time, with their rows by all of `n` parameters: `groups`
/// holds the places of each series. To be put beside the terms of an objective.
pub fn smoothness(x: &[f64], groups: &[Vec<usize>], beta: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (mut values, mut rows) = (Vec::new(), Vec::new());
    for group in groups {
        for pair in group.windows(2) {
            let mut row = vec![0.0; x.len()];
            row[pair[0]] -= beta;
            row[pair[1]] += beta;
            values.push(beta * (x[pair[1]] - x[pair[0]]));
            rows.push(row);
        }
    }
    (values, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uprightness_knows_how_it_changes() {
        let mut scene = crate::Scene::default();
        let mut top = crate::Body::new("top", crate::Geometry::Box { half: Vec3::new(0.1, 0.2, 0.3) });
        top.pose.rotation = Quat::from_rotation_x(0.4) * Quat::from_rotation_z(0.7);
        scene.bodies.push(top.with_mass(1.0));
        let model = scene.compile().unwrap();
        let aim = UprightTarget { body: BodyId(0), axis: Vec3::Z, up: Vec3::Z, steps: 1..=4, weight: 0.6 };
        let at = |s: &State| {
            let mut out = Vec::new();
            let at = crate::kinematics::Placement::of(&model, s);
            aim.terms(at.kinematics(&model), 2, &mut out);
            out
        };
        let terms = at(&model.initial);
        // Four steps: Σ value² is a quarter of weight² sin² of the tilt.
        let sum: f64 = terms.iter().map(|t| t.value * t.value).sum();
        assert!((sum - (0.3 * 0.4f64.sin()).powi(2)).abs() < 1e-15);
        for k in 3..6 {
            let side = |e: f64| {
                let mut d = vec![0.0; 6];
                d[k] = e;
                let mut s = State::clone(&model.initial);
                s.retract(&model.layout, &d);
                at(&s)
            };
            let (up, down) = (side(1e-6), side(-1e-6));
            for (i, t) in terms.iter().enumerate() {
                let slope = (up[i].value - down[i].value) / 2e-6;
                assert!((t.dq[k - 3].1 - slope).abs() < 1e-9, "{k}");
            }
        }
    }
}
