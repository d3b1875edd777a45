//! Contacts for the step: fixed normals, true gaps C_n(q) = gap⁻ + n·(Δa − Δb) (9), slip velocities Dᵀu (31).
//!
//! The paper leaves elastic collisions out. A contact that strikes has Newton's law here, on the mean velocity of the step:
//! 0 ≤ n·(Δa − Δb)/h + e u_n⁻ ⟂ λ_n ≥ 0 takes the place of 0 ≤ C_n/h ⟂ λ_n ≥ 0 (48).

use super::motion::{Motion, add};
use super::row_builder::RowBuilder;
use crate::collide::Contact;
use crate::contact::Law;
use crate::contact::law::RoundLaw;
use crate::coords::{Anchor, Pose};
use crate::kinematics::Kinematics;
use crate::linalg::{Mat3, SparseRows, Vec3};
use crate::model::Model;
use crate::papers::nsn::solve::rows::{Factors, contact_rows};
use crate::papers::nsn::solve::schur::{BlockMass, Schur};
use crate::papers::nsn::solve::{Derivative, Iterate};
use crate::steppers::velocity::rows::rebound;

/// A contact as the step holds it.
#[derive(Clone, Copy, Debug)]
pub struct HeldContact {
    /// Material points of both sides, where the forces act.
    sides: [Anchor; 2],
    /// What each moves, where that is at most one block of dofs.
    parts: Option<[Part; 2]>,
    /// Where they were.
    start: [Vec3; 2],
    /// Rows n, t₁, t₂, with an elliptic cone stretched to a round one.
    frame: Mat3,
    gap: f64,
    /// What an impact adds to the gap in the row of its normal, h e u_n⁻ − gap⁻ ≤ 0 [m]; nothing for other contacts.
    rebound: f64,
    /// Velocity of sides that move as prescribed, a less b, in the frame of the contact [m/s].
    driven: Vec3,
    /// Its law, round.
    pub law: RoundLaw,
    /// Factors of the rows.
    pub stretch: Vec3,
}

/// A free body at an iterate, as its contacts see it.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyFrame {
    place: Vec3,
    rotation: Mat3,
    inverse_mass: f64,
    pub inertia: Mat3,
    inverse_inertia: Mat3,
}

/// What one side of a contact moves.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Nothing; the point itself moves by this within the step.
    Still(Vec3),
    /// A particle: its first dof and coordinate.
    Node(usize, usize),
    /// A body: its number, first dof and the point on it.
    Body(usize, usize, Vec3),
}

impl HeldContact {
    /// Holds a contact that was found at `state`.
    pub fn new(kin: Kinematics<'_>, c: &Contact, h: f64) -> HeldContact {
        let model = kin.model;
        // Forces act at one point for both sides, so that they are collinear.
        let hold = |anchor: &Anchor| {
            let local = |pose: Pose| pose.rotation.conjugate() * (c.point - pose.translation);
            match *anchor {
                Anchor::Body { body, .. } => {
                    (Anchor::Body { body, local: local(kin.body(body).com) }, c.point)
                }
                other => (other, kin.position(&other)),
            }
        };
        let [(a, start_a), (b, start_b)] = [hold(&c.a), hold(&c.b)];
        let sides = [a, b];
        let law = Law::from(c.friction);
        let driven = sides.map(|s| kin.prescribed_velocity(&s, h));
        let stretch = law.stretch();
        let frame =
            Mat3::from_cols(stretch * c.frame.x_axis, stretch * c.frame.y_axis, stretch * c.frame.z_axis);
        let part = |k: usize| match sides[k] {
            Anchor::World { .. } => Some(Part::Still(Vec3::ZERO)),
            Anchor::Node(node) => {
                let n = &model.nodes[node.index()];
                Some(Part::Node(n.dof, n.q))
            }
            Anchor::Body { body, local } if model.is_free(body) => {
                Some(Part::Body(body.index(), model.bodies[body.index()].dof, local))
            }
            Anchor::Body { .. } => Some(Part::Still(h * driven[k])),
            _ => None,
        };
        // An overlap that is left faster than by the rebound keeps its own row.
        let rebound = rebound(kin, c, h).map_or(0.0, |bias| (h * bias - c.gap).min(0.0));
        HeldContact {
            sides,
            parts: part(0).zip(part(1)).map(|(a, b)| [a, b]),
            start: [start_a, start_b],
            frame,
            gap: c.gap,
            rebound,
            driven: frame * (driven[0] - driven[1]),
            law: law.round(),
            stretch,
        }
    }

    /// Each side moves one block of dofs at most.
    pub fn is_plain(&self) -> bool {
        self.parts.is_some()
    }

    /// Where the material points of both sides are [m].
    pub fn places(&self, there: Kinematics<'_>) -> [Vec3; 2] {
        self.sides.map(|s| there.position(&s))
    }

    /// C_n(q) [m].
    pub fn gap(&self, there: Kinematics<'_>) -> f64 {
        let moved = |k: usize| there.position(&self.sides[k]) - self.start[k];
        self.gap + self.frame.row(0).dot(moved(0) - moved(1))
    }

    /// Adds the three rows where sides are surfaces, which move several blocks that both may share.
    fn add_rows(&self, there: Kinematics<'_>, row: &mut RowBuilder, j: &mut SparseRows<f64>) {
        let at = self.sides.map(|s| there.position(&s));
        for r in 0..3 {
            let n = self.frame.row(r);
            row.add(there, &self.sides[0], at[0], n);
            row.add(there, &self.sides[1], at[1], -n);
            row.end(j);
        }
    }

    /// A force in world axes as multipliers of the rows.
    pub fn multipliers_of(&self, force: Vec3) -> Vec3 {
        self.frame * force / (self.stretch * self.stretch)
    }
}

impl BodyFrame {
    /// Of a body at the start of a step, where its inertia is taken.
    pub fn new(inverse_mass: f64, inertia: Mat3, inverse_inertia: Mat3) -> BodyFrame {
        BodyFrame { inverse_mass, inertia, inverse_inertia, ..BodyFrame::default() }
    }
}

impl Part {
    /// First dof and number of dofs.
    fn dofs(self) -> (usize, usize) {
        match self {
            Part::Still(_) => (0, 0),
            Part::Node(dof, _) => (dof, 3),
            Part::Body(_, dof, _) => (dof, 6),
        }
    }

    /// By how much the point has moved from `start`, and its lever arm.
    #[inline(always)]
    fn moved(self, start: Vec3, bodies: &[BodyFrame], q: &[f64]) -> (Vec3, Vec3) {
        match self {
            Part::Still(by) => (by, Vec3::ZERO),
            Part::Node(_, at) => (Vec3::from_slice(&q[at..]) - start, Vec3::ZERO),
            Part::Body(body, _, local) => {
                let arm = bodies[body].rotation * local;
                (bodies[body].place + arm - start, arm)
            }
        }
    }

    /// Velocity of the point as far as dofs move it.
    #[inline(always)]
    fn velocity(self, arm: Vec3, u: &[f64]) -> Vec3 {
        match self {
            Part::Still(_) => Vec3::ZERO,
            Part::Node(dof, _) => Vec3::from_slice(&u[dof..]),
            Part::Body(_, dof, _) => Vec3::from_slice(&u[dof..]) + Vec3::from_slice(&u[dof + 3..]).cross(arm),
        }
    }

    /// g += Jᵀ f of a force at the point.
    #[inline(always)]
    fn push(self, arm: Vec3, f: Vec3, g: &mut [f64]) {
        match self {
            Part::Still(_) => {}
            Part::Node(dof, _) => add(g, dof, f),
            Part::Body(_, dof, _) => {
                add(g, dof, f);
                add(g, dof + 3, arm.cross(f));
            }
        }
    }

    /// Writes the gradients of three rows and what H⁻¹ makes of them, every `stride` entries from `at` on, and adds to the
    /// diagonal of W.
    #[inline(always)]
    fn write(
        self,
        (rows, arm): (&[Vec3; 3], Vec3),
        bodies: &[BodyFrame],
        mass: &BlockMass<f64>,
        (at, stride): (usize, usize),
        (j, jh, w): (&mut [f64], &mut [f64], &mut [f64; 3]),
        fresh: bool,
    ) {
        match self {
            Part::Still(_) => {}
            Part::Node(dof, _) => {
                let light = Vec3::from_array(mass.particle_inverse(dof));
                for r in 0..3 {
                    let (n, k) = (rows[r], at + r * stride);
                    let by = n * light;
                    j[k..k + 3].copy_from_slice(&n.to_array());
                    jh[k..k + 3].copy_from_slice(&by.to_array());
                    w[r] += n.dot(by);
                }
            }
            Part::Body(body, ..) => {
                let b = &bodies[body];
                for r in 0..3 {
                    let (n, k) = (rows[r], at + r * stride);
                    let (j, jh) = (&mut j[k..k + 6], &mut jh[k..k + 6]);
                    let turn = arm.cross(n);
                    let (by, spin) = (n * b.inverse_mass, b.inverse_inertia * turn);
                    // Normals stay for the step: only arms turn.
                    if fresh {
                        j[..3].copy_from_slice(&n.to_array());
                        jh[..3].copy_from_slice(&by.to_array());
                    }
                    j[3..].copy_from_slice(&turn.to_array());
                    jh[3..].copy_from_slice(&spin.to_array());
                    w[r] += n.dot(by) + turn.dot(spin);
                }
            }
        }
    }
}

impl Motion {
    /// Which rows of contacts are there; their values follow where each side moves one block at most.
    pub(super) fn push_contact_rows(&mut self, model: &Model, s: &mut Schur<f64>) {
        if self.columns_stand {
            s.j.rewrite_from(if self.plain { 3 * self.held.len() } else { 0 });
        } else {
            s.j.clear();
        }
        if !self.plain {
            for c in &self.held {
                c.add_rows(self.there.kinematics(model), &mut self.row, &mut s.j);
            }
        } else if !self.columns_stand {
            for parts in self.held.iter().filter_map(|c| c.parts.as_ref()) {
                let (mut columns, mut n) = ([0; 12], 0);
                for p in parts {
                    let (dof, width) = p.dofs();
                    (0..width).for_each(|k| columns[n + k] = (dof + k) as u32);
                    n += width;
                }
                (0..3).for_each(|_| s.j.push_columns(&columns, n));
            }
            s.j.zero_values();
        }
    }

    /// Contacts: φ_n(C_n/h, λ_n) and φ_f(Dᵀu, λ_f) (48), (49); g −= Jᵀλ (57). Rows that are not `fresh` hold those of the
    /// iterate before.
    pub(super) fn put_contacts(&mut self, model: &Model, x: &Iterate<f64>, s: &mut Schur<f64>, fresh: bool) {
        let (h, settings) = (self.h, &self.settings.newton);
        let soft = self.settings.contact_compliance / (h * h);
        self.u.clear();
        if self.plain {
            for (frame, b) in self.bodies.iter_mut().zip(&model.bodies) {
                if b.block.is_some() {
                    let pose = self.there.state.rigid_pose(b.q);
                    (frame.place, frame.rotation) = (pose.translation, Mat3::from_quat(pose.rotation));
                }
            }
        }
        for (c, contact) in self.held.iter().enumerate() {
            let i = 3 * c;
            let mut arms = [Vec3::ZERO; 2];
            let parts = contact.parts.as_ref().filter(|_| self.plain);
            let (gap, slip, mut w) = match parts {
                Some(parts) => {
                    let look = |k: usize| parts[k].moved(contact.start[k], &self.bodies, &self.there.state.q);
                    let [(a, arm_a), (b, arm_b)] = [look(0), look(1)];
                    arms = [arm_a, arm_b];
                    let width = parts[0].dofs().1;
                    let stride = width + parts[1].dofs().1;
                    let rows: [Vec3; 3] = std::array::from_fn(|r| contact.frame.row(r));
                    let (mass, j, jh, diagonal) = s.three_rows(i);
                    let mut w = [0.0; 3];
                    parts[0].write((&rows, arm_a), &self.bodies, mass, (0, stride), (j, jh, &mut w), fresh);
                    let rows = rows.map(|n| -n);
                    let to = (j, jh, &mut w);
                    parts[1].write((&rows, arm_b), &self.bodies, mass, (width, stride), to, fresh);
                    diagonal.copy_from_slice(&w);
                    let slip =
                        contact.frame * (parts[0].velocity(arms[0], &x.u) - parts[1].velocity(arms[1], &x.u));
                    (contact.gap + contact.frame.row(0).dot(a - b), slip, w)
                }
                None => {
                    let slip = [1, 2].map(|k| s.j.mul_row(i + k, &x.u));
                    let w = [0, 1, 2].map(|k| s.w_diagonal()[i + k]);
                    (contact.gap(self.there.kinematics(model)), Vec3::new(0.0, slip[0], slip[1]), w)
                }
            };
            let gap = gap + contact.rebound;
            let u = [gap / h + soft * x.lambda[i], slip.y + contact.driven.y, slip.z + contact.driven.z];
            self.u.push(Vec3::from_array(u));
            let lambda = [x.lambda[i], x.lambda[i + 1], x.lambda[i + 2]];
            w[0] += soft;
            let RoundLaw::Cone(mu) = contact.law else { unreachable!("contacts have cones") };
            let r = Factors::of_contact(settings.scaling, w, h);
            let rows = contact_rows(settings, mu, u, lambda, [soft, 0.0, 0.0], r);
            rows.put(s, i);
            // The force as the momentum balance has it.
            let literal = settings.derivative == Derivative::Literal;
            let force =
                std::array::from_fn(|k| if literal { rows.rows[k].scale * lambda[k] } else { lambda[k] });
            match parts {
                Some(parts) => {
                    let f = contact.frame.transpose() * Vec3::from_array(force);
                    parts[0].push(arms[0], -f, &mut s.g);
                    parts[1].push(arms[1], f, &mut s.g);
                }
                None => (0..3).for_each(|k| s.j.add_row(i + k, -force[k], &mut s.g)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NonlinearSettings;
    use super::*;
    use crate::collide::Collider;
    use crate::coords::State;
    use crate::kinematics::Placement;
    use crate::papers::nsn::solve::{Equations, NewtonSettings};
    use crate::scene::{Body, Geometry, Scene};

    const H: f64 = 0.01;

    /// N13: rows of friction are Dᵀ, one per tangent, where (37) prints D; rows of gaps are (∂φ_n/∂q) G, where (44) prints a
    /// derivative by q̇, which a gap does not have.
    #[test]
    fn n13_friction_rows_are_the_transposed_basis_and_gaps_are_differentiated_by_position() {
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
        let half = Vec3::new(0.1, 0.2, 0.3);
        scene.bodies.push(Body::new("box", Geometry::Box { half }).at(0.0, 0.0, 0.3).with_mass(2.0));
        let model = scene.compile().unwrap();
        let (h, state) = (0.01, &model.initial);
        let mut contacts = Vec::new();
        Collider::new(&model).detect(Placement::of(&model, state).kinematics(&model), h, &mut contacts);
        let mut motion = Motion::new(&model, NonlinearSettings::default());
        let mut s = Schur::default();
        motion.begin(Placement::of(&model, state).kinematics(&model), &contacts, h, &mut s);
        let n = contacts.len();
        assert_eq!(n, 4);
        // Loaded, without friction force: φ_f = Dᵀu, and φ_n follows the gap.
        let mut x = Iterate { u: vec![0.0; 6], lambda: vec![0.0; 3 * n] };
        (0..n).for_each(|c| x.lambda[3 * c] = 1.0);
        let d = 1e-6;
        let mut residual = |k: usize, by: f64| {
            x.u[k] = by;
            motion.equations(&model).linearize(&x, &mut s);
            x.u[k] = 0.0;
            s.h.clone()
        };
        let by_u: Vec<Vec<f64>> = (0..6)
            .map(|k| {
                let (up, down) = (residual(k, d), residual(k, -d));
                up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * d)).collect()
            })
            .collect();
        residual(0, 0.0);
        assert_eq!(s.j.rows(), 3 * n, "two rows of friction per contact, not as many as dofs");
        for i in 0..3 * n {
            for k in 0..6 {
                let (expected, row) = (by_u[k][i], s.scale[i] * s.j.get(i, k));
                assert!((row - expected).abs() < 1e-6, "row {i}, dof {k}: {row} {expected}");
            }
        }
        // What a step moves at a given configuration leaves the gap: as printed, its rows would vanish.
        let mut moving = State::clone(state);
        moving.v.fill(1.0);
        for c in &motion.held {
            let gap = |s: &State| c.gap(Placement::of(&model, s).kinematics(&model));
            assert_eq!(gap(&moving), gap(state));
        }
    }

    /// A cube of 8 kg and 1 m on four corners at gap 0: its system at normal velocity `u` and multipliers `lambda`.
    fn linearized(derivative: Derivative, u: f64, lambda: [f64; 3]) -> Schur<f64> {
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
        let cube = Body::new("cube", Geometry::Box { half: Vec3::splat(0.5) });
        scene.bodies.push(cube.at(0.0, 0.0, 0.5).with_mass(8.0));
        let model = scene.compile().unwrap();
        let mut contacts = Vec::new();
        Collider::new(&model).detect(
            Placement::of(&model, &model.initial).kinematics(&model),
            H,
            &mut contacts,
        );
        assert!(contacts.len() == 4 && contacts.iter().all(|c| c.gap == 0.0));
        let newton = NewtonSettings { derivative, ..NewtonSettings::default() };
        let mut motion = Motion::new(&model, NonlinearSettings { newton, ..NonlinearSettings::default() });
        let mut s = Schur::default();
        motion.begin(Placement::of(&model, &model.initial).kinematics(&model), &contacts, H, &mut s);
        let x = Iterate { u: vec![0.0, 0.0, u, 0.0, 0.0, 0.0], lambda: lambda.repeat(4) };
        motion.equations(&model).linearize(&x, &mut s);
        s
    }

    /// N9: at (0, 0) Fischer–Burmeister has α = 0 and β = r, which shows r: J M⁻¹ Jᵀ = (1 + 3)/m at the corner of a cube, where
    /// the printed α J M⁻¹ Jᵀ α is zero.
    #[test]
    fn n9_the_factor_does_not_know_the_scale_of_its_row() {
        let s = linearized(Derivative::Literal, 0.0, [0.0; 3]);
        for c in 0..4 {
            assert_eq!(s.scale[3 * c], 0.0);
            assert!((s.compliance.diagonal[3 * c] - 4.0 / 8.0).abs() < 1e-12, "{:?}", s.compliance.diagonal);
        }
    }

    /// N7: the force is ∇Cᵀλ but for the printed form, where it is α∇Cᵀλ.
    #[test]
    fn n7_only_the_printed_form_has_alpha_in_the_force() {
        let (u, lambda): (f64, [f64; 3]) = (0.3, [0.8, 0.1, -0.05]);
        // C_n/h = u and r = 4/m; friction rows have no α.
        let alpha = 1.0 - u / u.hypot(0.5 * lambda[0]);
        for (derivative, share) in
            [(Derivative::Literal, alpha), (Derivative::Scaled, 1.0), (Derivative::Divided, 1.0)]
        {
            let g = linearized(derivative, u, lambda).g;
            let expected = 8.0 * (u + 9.81 * H) - 4.0 * share * lambda[0];
            assert!((g[2] - expected).abs() < 1e-12, "{derivative:?}: {} {expected}", g[2]);
            let dragged = g[0].hypot(g[1]);
            assert!((dragged - 4.0 * lambda[1].hypot(lambda[2])).abs() < 1e-12, "{derivative:?}: {g:?}");
        }
        assert!(alpha < 0.5, "{alpha}");
    }
}
