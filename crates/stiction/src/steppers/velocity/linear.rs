//! The equations of motion, linearised at the start of the step or where the velocities found lead.

use super::VelocityStepper;
use super::joints::set_inertia;
use crate::coords::{BodyId, NodeId};
use crate::integrate::Weights;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::{Controls, Model, ModelForce, Owner};

impl VelocityStepper {
    /// A = M + (α_v/α_a) D + (α_q/α_a) K and b = M v + f/α_a, at the start of the step.
    pub(super) fn linearize(&mut self, kin: Kinematics<'_>, h: f64) {
        let Kinematics { model, state, .. } = kin;
        let w = self.settings.scheme.weights(h);
        let p = &mut self.problem;
        p.h = h;
        p.force_per_lambda = w.a;
        p.velocity_scale = model.gravity.length() * h;
        p.b.resize(model.layout.nv(), 0.0);
        self.smooth.clear();
        self.smooth.extend_from_slice(&state.v);
        set_inertia(&mut self.mass, model, state);
        // smooth = v + (whole-step impulse)/M; the scheme takes a share of it.
        let mut loads = Loads(&self.loads);
        for (i, b) in model.bodies.iter().enumerate() {
            if b.block.is_none() {
                continue;
            }
            let r = kin.body(BodyId(i as u32)).com.rotation;
            if self.sleeper.as_ref().is_some_and(|s| s.sleeps(i)) {
                continue;
            }
            let (mut force, mut torque) = (b.mass * model.gravity, Vec3::ZERO);
            for f in loads.on(model, &self.controls, Owner::Body(BodyId(i as u32))) {
                let share = f.share(state.t, h);
                force += share * f.force;
                torque += share * (f.torque + (r * f.at).cross(f.force));
            }
            add(&mut self.smooth, b.dof, force * (h / b.mass));
            add(&mut self.smooth, b.dof + 3, b.world_inertia_inverse(r) * torque * h);
        }
        for (i, n) in model.nodes.iter().enumerate() {
            let a = self.mass.diagonal_block_mut(n.block);
            for k in 0..3 {
                a[4 * k] = n.mass;
            }
            let mut acceleration = model.gravity;
            for f in loads.on(model, &self.controls, Owner::Node(NodeId(i as u32))) {
                acceleration += f.share(state.t, h) * f.force / n.mass;
            }
            add(&mut self.smooth, n.dof, acceleration * h);
        }
        for f in self.controls.forces(model) {
            if let Owner::Solid(s) = f.target {
                let nodes = &model.nodes[model.solids[s.index()].nodes.clone()];
                let mass: f64 = nodes.iter().map(|n| n.mass).sum();
                for n in nodes {
                    add(&mut self.smooth, n.dof, f.share(state.t, h) * f.force * (h / mass));
                }
            }
        }
        self.solids.add_consistent_mass(model, &mut self.mass);
        // b = A (v + share · (smooth − v)), share = 1/(α_a h): 1 for implicit Euler, ½ for midpoint.
        let share = 1.0 / (w.a * h);
        self.solution.v.clear();
        self.solution.v.extend(state.v.iter().zip(&self.smooth).map(|(v, s)| v + share * (s - v)));
        self.mass.mul(&self.solution.v, &mut p.b);
        p.a.assign(&self.mass);
        if self.elastic_parts {
            self.elastic.clear();
            self.elastic.resize(p.b.len(), 0.0);
            self.solids.add_to(kin, w, Some((kin, h)), &mut p.a, &mut self.elastic);
            self.slender.add_to(kin, w, Some((kin, h)), &mut p.a, &mut self.elastic);
            for (b, e) in p.b.iter_mut().zip(&self.elastic) {
                *b += e;
            }
            // Stiff solids go on as they went rather than as they would without elastic forces.
            for n in model.nodes.iter().filter(|n| n.solid.is_some()) {
                self.solution.v[n.dof..n.dof + 3].copy_from_slice(&state.v[n.dof..n.dof + 3]);
            }
        }
        self.joints.find_stiffness(kin, h, w);
        self.joints.add_stiffness(&mut p.a, 1.0);
    }

    /// Newton's next step for the non-linear elastic forces: the same equations, linearised where the velocities found
    /// lead (COND 10): `b = M v + f(q ⊞ α_q v_k)/α_a + (α_q/α_a) K v_k`. Damping is linear in the unknown: its whole force is
    /// in A, and b holds the part of prescribed vertices alone. Leaves v_k in `v_move`.
    pub(super) fn relinearize(&mut self, kin: Kinematics<'_>, h: f64) {
        let Kinematics { model, state, .. } = kin;
        let w = self.settings.scheme.weights(h);
        let p = &mut self.problem;
        self.v_move.clone_from(&self.solution.v);
        let there = &mut self.there.state;
        there.t = state.t + w.q;
        there.q.clone_from(&state.q);
        there.v.clone_from(&state.v);
        self.moved_a.clear();
        self.moved_a.extend(self.solution.v.iter().map(|v| w.q * v));
        there.retract(&model.layout, &self.moved_a);
        self.there.update(model);
        let there = self.there.kinematics(model);
        for (b, e) in p.b.iter_mut().zip(&self.elastic) {
            *b -= e;
        }
        // K alone first, because b takes K v_k and not C v_k; then C on top of it, and the forces.
        p.a.clear();
        let stiffness = Weights { v: 0.0, ..w };
        self.elastic.fill(0.0);
        self.solids.add_to(there, stiffness, None, &mut p.a, &mut self.elastic);
        self.slender.add_to(there, stiffness, None, &mut p.a, &mut self.elastic);
        p.a.mul(&self.solution.v, &mut self.moved_a);
        let damping = Weights { q: 0.0, ..w };
        let driven = Some((kin, h));
        self.elastic.fill(0.0);
        self.solids.add_to(there, damping, driven, &mut p.a, &mut self.elastic);
        self.slender.add_to(there, damping, driven, &mut p.a, &mut self.elastic);
        if crate::mutant::on("damping-lost") {
            p.a.mul(&self.solution.v, &mut self.moved_a);
        }
        for i in 0..p.b.len() {
            self.elastic[i] += self.moved_a[i];
            p.b[i] += self.elastic[i];
        }
        p.a.add(&self.mass);
        self.joints.add_stiffness(&mut p.a, 1.0);
    }
}

/// Forces of a model by their targets, asked for in ascending order.
struct Loads<'a>(&'a [(Owner, u32)]);

impl<'a> Loads<'a> {
    /// The forces on `target`, in the order of the scene, then those commanded.
    fn on<'m>(
        &mut self,
        model: &'m Model,
        controls: &'m Controls,
        target: Owner,
    ) -> impl Iterator<Item = &'m ModelForce> + use<'m, 'a> {
        self.0 = &self.0[self.0.iter().take_while(|l| l.0 < target).count()..];
        let (own, rest) = self.0.split_at(self.0.iter().take_while(|l| l.0 == target).count());
        self.0 = rest;
        let commanded = controls.loads.iter().filter(move |f| f.target == target);
        own.iter().map(|l| &model.forces[l.1 as usize]).chain(commanded)
    }
}

fn add(x: &mut [f64], at: usize, d: Vec3) {
    x[at] += d.x;
    x[at + 1] += d.y;
    x[at + 2] += d.z;
}
