//! The discrete equations of motion (46)–(50) and their linearisation (53)–(58).

use super::bilateral::{SoftRow, joint_rows, spring_row};
use super::contacts::{BodyFrame, HeldContact};
use super::elements::SIDE_BY_SIDE;
use super::geometric::secant;
use super::islands::Islands;
use super::row_builder::RowBuilder;
use super::{ElementRows, GeometricStiffness, NonlinearSettings};
use crate::collide::Contact;
use crate::coords::{Anchor, State};
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::Vec3;
use crate::model::{Controls, Measure, Model, ModelForce, Owner};
use crate::papers::nsn::solve::rows::{Factors, bounded_row};
use crate::papers::nsn::solve::schur::Schur;
use crate::papers::nsn::solve::{Derivative, Equations, Iterate, Start, StepRule, SystemForm};

/// Everything that is held fixed for the step, and the memory of its linearisations.
pub struct Motion {
    pub(super) settings: NonlinearSettings,
    /// Those of the step.
    pub(super) controls: Controls,
    pub(super) h: f64,
    start: State,
    pub(super) there: Placement,
    /// ũ: the velocity without constraints.
    pub(super) free: Vec<f64>,
    pub(super) held: Vec<HeldContact>,
    /// Parts that nothing couples, where each keeps its best iterate.
    pub(super) islands: Islands,
    settled: f64,
    /// Free bodies at the iterate.
    pub(super) bodies: Vec<BodyFrame>,
    /// Every side of a contact moves one block of dofs at most.
    pub(super) plain: bool,
    /// The columns of J are those of this step.
    pub(super) columns_stand: bool,
    pub(super) soft: Vec<SoftRow>,
    /// Angles of the axes of joints, counted through full turns.
    angles: Vec<f64>,
    /// Places of solids' tets: (solid, tet).
    pub(super) tets: Vec<(u32, u32)>,
    /// First coordinates and dofs of their vertices, where all are particles.
    pub(super) corners: Vec<Option<[(usize, usize); 4]>>,
    /// Fibres: place of their tet in `tets`, number within it.
    pub(super) fibres: Vec<(u32, u32)>,
    pub(super) pressure: Vec<f64>,
    pub(super) row: RowBuilder,
    pub(super) d: Vec<f64>,
    pub(super) force: Vec<f64>,
    /// Velocity of the rows of contacts.
    pub(super) u: Vec<Vec3>,
    pub(super) speed: f64,
    /// The first iterate.
    pub first: Iterate<f64>,
    /// Jᵀλ of elements and springs at two iterates, masses and secants of particles.
    before: Vec<f64>,
    pub(super) after: Vec<f64>,
    change: Vec<f64>,
    pub(super) mass: Vec<f64>,
    stiff: Vec<f64>,
    pub(super) is_particle: Vec<bool>,
    /// The next linearisation completes the secant.
    secant_is_due: bool,
    pub(super) bilateral: usize,
    /// Free bodies and particles by their first dof: dof, number.
    blocks: Vec<(usize, usize)>,
}

impl Motion {
    /// For a model.
    pub fn new(model: &Model, settings: NonlinearSettings) -> Motion {
        let tets = model.solids.iter().enumerate();
        let tets = tets.flat_map(|(s, solid)| (0..solid.tets.len()).map(move |t| (s as u32, t as u32)));
        let tets: Vec<(u32, u32)> = tets.collect();
        let corners = tets.iter().map(|&(solid, t)| {
            let solid = &model.solids[solid as usize];
            let mut corners = [(0, 0); 4];
            for (corner, v) in corners.iter_mut().zip(solid.tets[t as usize]) {
                let Anchor::Node(n) = solid.vertices[v as usize] else { return None };
                *corner = (model.nodes[n.index()].q, model.nodes[n.index()].dof);
            }
            Some(corners)
        });
        let corners = corners.collect();
        let mut fibres = Vec::new();
        for (k, &(solid, t)) in tets.iter().enumerate() {
            let count = model.solids[solid as usize].elements.element(t as usize).fibres.len();
            fibres.extend((0..count).map(|f| (k as u32, f as u32)));
        }
        let mut is_particle = vec![false; model.layout.nv()];
        let mut mass = vec![0.0; model.layout.nv()];
        for n in &model.nodes {
            is_particle[n.dof..n.dof + 3].fill(true);
            mass[n.dof..n.dof + 3].fill(n.mass);
        }
        let free = model.bodies.iter().enumerate().filter(|(_, b)| b.block.is_some());
        let mut blocks: Vec<(usize, usize)> = free.map(|(i, b)| (b.dof, i)).collect();
        blocks.extend(model.nodes.iter().enumerate().map(|(i, n)| (n.dof, i)));
        blocks.sort_unstable();
        let joints: usize = model.joints.iter().map(|j| j.blocks.len()).sum();
        Motion {
            settings,
            controls: Controls::default(),
            h: 0.0,
            start: State::default(),
            there: Placement::default(),
            free: Vec::new(),
            held: Vec::new(),
            islands: Islands::default(),
            settled: 0.0,
            bodies: vec![BodyFrame::default(); model.bodies.len()],
            plain: false,
            columns_stand: false,
            soft: Vec::new(),
            angles: vec![0.0; model.joints.len()],
            pressure: vec![0.0; tets.len()],
            tets,
            corners,
            fibres,
            row: RowBuilder::default(),
            d: Vec::new(),
            force: Vec::new(),
            u: Vec::new(),
            speed: 1.0,
            first: Iterate::default(),
            before: Vec::new(),
            after: Vec::new(),
            change: Vec::new(),
            mass,
            stiff: Vec::new(),
            is_particle,
            secant_is_due: false,
            bilateral: 3 * joints + model.springs.len(),
            blocks,
        }
    }

    /// Angles of the axes of joints at the end of the last step, counted through full turns.
    pub fn set_angles(&mut self, angles: &[f64]) {
        self.angles.copy_from_slice(angles);
    }

    /// Rows of joints and springs.
    pub fn bilateral_rows(&self) -> usize {
        self.bilateral
    }

    /// Number of tetrahedra.
    pub fn tets(&self) -> usize {
        self.tets.len()
    }

    pub(super) fn strain_rows_per_tet(&self) -> usize {
        match self.settings.elements {
            ElementRows::Principal => 3,
            ElementRows::Corotated => 6,
        }
    }

    /// Row of the first fibre; they stand last.
    pub(super) fn first_fibre(&self) -> usize {
        3 * self.held.len() + self.bilateral + self.strain_rows_per_tet() * self.tets.len()
    }

    fn rows(&self) -> usize {
        self.first_fibre() + self.fibres.len()
    }

    /// Fixes contacts, masses and ũ for a step.
    pub fn begin(&mut self, kin: Kinematics<'_>, contacts: &[Contact], h: f64, s: &mut Schur<f64>) {
        let Kinematics { model, state, .. } = kin;
        self.h = h;
        self.secant_is_due = false;
        self.columns_stand = false;
        self.start.clone_from(state);
        self.there.state.clone_from(state);
        self.there.state.t = state.t + h;
        self.there.update(model);
        self.held.clear();
        self.held.extend(contacts.iter().map(|c| HeldContact::new(kin, c, h)));
        self.plain = self.held.iter().all(HeldContact::is_plain);
        // ũ = u⁻ + h M̃⁻¹ f, with the gyroscopic torque (correction N12).
        self.free.clone_from(&state.v);
        s.mass.clear();
        for (i, b) in model.bodies.iter().enumerate() {
            if b.block.is_none() {
                continue;
            }
            let r = state.rigid_pose(b.q).rotation;
            let w = Vec3::from_slice(&state.v[b.dof + 3..]);
            let inertia = b.world_inertia(r);
            let (mut force, mut torque) = (b.mass * model.gravity, -w.cross(inertia * w));
            let own = |f: &&ModelForce| f.target == Owner::Body(crate::coords::BodyId(i as u32));
            for f in self.controls.forces(model).filter(own) {
                let share = f.share(state.t, h);
                force += share * f.force;
                torque += share * (f.torque + (r * f.at).cross(f.force));
            }
            add(&mut self.free, b.dof, force * (h / b.mass));
            let inverse_inertia = b.world_inertia_inverse(r);
            add(&mut self.free, b.dof + 3, inverse_inertia * torque * h);
            self.bodies[i] = BodyFrame::new(1.0 / b.mass, inertia, inverse_inertia);
        }
        for n in &model.nodes {
            add(&mut self.free, n.dof, model.gravity * h);
        }
        for f in self.controls.forces(model) {
            match f.target {
                Owner::Node(n) => {
                    let n = &model.nodes[n.index()];
                    add(&mut self.free, n.dof, f.share(state.t, h) * f.force * (h / n.mass));
                }
                Owner::Solid(solid) => {
                    let nodes = &model.nodes[model.solids[solid.index()].nodes.clone()];
                    let mass: f64 = nodes.iter().map(|n| n.mass).sum();
                    for n in nodes {
                        add(&mut self.free, n.dof, f.share(state.t, h) * f.force * (h / mass));
                    }
                }
                Owner::Body(_) => {}
            }
        }
        // Damping by mass is implicit: (1 + hα) M u = M ũ.
        for n in &model.nodes {
            let damping = n.solid.map_or(0.0, |s| model.solids[s.index()].elements.damping().mass);
            self.mass[n.dof..n.dof + 3].fill(n.mass * (1.0 + h * damping));
            for k in n.dof..n.dof + 3 {
                self.free[k] /= 1.0 + h * damping;
            }
        }
        // M̃ (40) in the order of the dofs.
        for &(dof, i) in &self.blocks {
            if self.is_particle[dof] {
                let m = self.mass[model.nodes[i].dof];
                s.mass.push(&[m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m], 3);
            } else {
                let b = &model.bodies[i];
                let inertia = self.bodies[i].inertia;
                let mut block = [0.0; 36];
                for k in 0..3 {
                    block[7 * k] = b.mass;
                    for l in 0..3 {
                        block[6 * (3 + k) + 3 + l] = inertia.col(l)[k];
                    }
                }
                s.mass.push(&block, 6);
            }
        }
        for (i, j) in model.joints.iter().enumerate() {
            let x = kin.joint(j).measure(Measure::Twist).0;
            self.angles[i] =
                x + std::f64::consts::TAU * ((self.angles[i] - x) / std::f64::consts::TAU).round();
        }
        self.pressure.fill(0.0);
        let mut first = 0;
        for solid in &model.solids {
            for (inflation, tets) in &solid.inflations {
                for &t in tets {
                    self.pressure[first + t as usize] = inflation.at(state.t + h);
                }
            }
            first += solid.tets.len();
        }
        let fall = model.gravity.length() * h;
        self.speed = fall.max(self.free.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs())));
        // Blocks of rows, for block-diagonal preconditioners.
        s.blocks.clear();
        let joints = self.bilateral - model.springs.len();
        let width = self.strain_rows_per_tet();
        let widths = std::iter::repeat_n(3, self.held.len() + joints / 3)
            .chain(std::iter::repeat_n(1, model.springs.len()))
            .chain(std::iter::repeat_n(width, self.tets.len()))
            .chain(std::iter::repeat_n(1, self.fibres.len()));
        let mut at = 0u32;
        for w in widths {
            s.blocks.push(at);
            at += w as u32;
        }
        s.blocks.push(at);
    }

    /// The first iterate: nothing, the free velocity, or what the last step left (`carried` and contact forces).
    pub fn start(&mut self, contact_forces: &[Vec3], carried: Option<&Iterate<f64>>, start: Start) {
        let rows = self.rows();
        let x = &mut self.first;
        x.u.clear();
        x.u.resize(self.free.len(), 0.0);
        x.lambda.clear();
        x.lambda.resize(rows, 0.0);
        match (start, carried) {
            (Start::Zero, _) | (Start::Warm, None) => {}
            (Start::Free, _) => x.u.copy_from_slice(&self.free),
            (Start::Warm, Some(last)) => {
                x.u.copy_from_slice(&self.start.v);
                for (c, f) in contact_forces.iter().enumerate() {
                    let l = (self.held[c].multipliers_of(*f) * self.h).to_array();
                    x.lambda[3 * c..3 * c + 3].copy_from_slice(&[l[0].max(0.0), l[1], l[2]]);
                }
                // Joints, springs and elements stand at the end, and are always the same.
                let rest = rows - 3 * self.held.len();
                if last.lambda.len() >= rest {
                    let from = last.lambda.len() - rest;
                    x.lambda[rows - rest..].copy_from_slice(&last.lambda[from..]);
                }
            }
        }
    }

    /// Impulse of contact `c` in its frame (unstretched).
    pub fn contact_impulse(&self, x: &Iterate<f64>, c: usize) -> Vec3 {
        Vec3::from_slice(&x.lambda[3 * c..]) * self.held[c].stretch
    }

    /// Moves the state to the end of the step; returns the deepest penetration there [m].
    pub fn finish(&mut self, model: &Model, now: &mut Placement, x: &Iterate<f64>) -> f64 {
        self.place(model, &x.u);
        now.state.q.clone_from(&self.there.state.q);
        now.state.v.clone_from(&x.u);
        now.state.t = self.there.state.t;
        now.update(model);
        self.held.iter().map(|c| -c.gap(now.kinematics(model))).fold(0.0, f64::max)
    }

    /// q = q⁻ ⊞ h u (50), (63) from the start of the step (correction N3).
    pub(super) fn place(&mut self, model: &Model, u: &[f64]) {
        self.there.state.q.clone_from(&self.start.q);
        self.d.clear();
        self.d.extend(u.iter().map(|u| self.h * u));
        self.there.state.retract(&model.layout, &self.d);
        self.there.update(model);
    }

    /// The equations for a Newton loop.
    pub fn equations<'a>(&'a mut self, model: &'a Model) -> MotionEquations<'a> {
        MotionEquations { motion: self, model }
    }

    /// g = M d with the mass itself, not H.
    fn momentum(&self, s: &mut Schur<f64>) {
        s.mass.mul(&self.d, &mut s.g);
        for k in (0..self.d.len()).filter(|&k| self.is_particle[k]) {
            s.g[k] = self.mass[k] * self.d[k];
        }
    }
}

/// [`Motion`] with its model.
pub struct MotionEquations<'a> {
    motion: &'a mut Motion,
    model: &'a Model,
}

impl Equations<f64> for MotionEquations<'_> {
    fn linearize(&mut self, x: &Iterate<f64>, s: &mut Schur<f64>) {
        let (m, model) = (&mut *self.motion, self.model);
        m.place(model, &x.u);
        // J at this configuration.
        let stood = m.columns_stand;
        m.push_contact_rows(model, s);
        let mut row = std::mem::take(&mut m.row);
        m.soft.clear();
        for (i, j) in model.joints.iter().enumerate() {
            joint_rows(
                (&m.start, m.there.kinematics(model)),
                j,
                m.h,
                (m.angles[i], m.controls.motor(i)),
                &mut row,
                &mut s.j,
                &mut m.soft,
            );
        }
        for i in 0..model.springs.len() {
            spring_row(m.there.kinematics(model), i, m.h, &mut row, &mut s.j, &mut m.soft);
        }
        let rows = m.rows();
        s.compliance.reset(rows);
        s.coupling.clear();
        s.h.resize(rows, 0.0);
        s.value.resize(rows, 0.0);
        s.scale.clear();
        s.scale.resize(rows, 1.0);
        s.known.clear();
        s.known.resize(rows, 0.0);
        let width = m.strain_rows_per_tet();
        let mut at = 3 * m.held.len() + m.bilateral;
        let h = m.h;
        for first in (0..m.tets.len()).step_by(SIDE_BY_SIDE) {
            let frames = m.frames(model, first);
            for (k, frame) in (first..m.tets.len()).zip(&frames) {
                match m.settings.elements {
                    ElementRows::Principal => {
                        m.put_strains(model, (k, at), &m.three(model, k, frame), &x.lambda, &mut row, s);
                    }
                    ElementRows::Corotated => {
                        m.put_strains(model, (k, at), &m.six(model, k, frame), &x.lambda, &mut row, s);
                    }
                }
                at += width;
            }
        }
        // Fibres are rows of one strain each.
        for i in 0..m.fibres.len() {
            let (by, stress, modulus) = m.fibre(model, i);
            m.push_rows_of_tet(model, m.fibres[i].0 as usize, &[by], &mut row, &mut s.j);
            s.h[at] = (stress + x.lambda[at] / h) / (modulus * h);
            s.value[at] = s.h[at];
            s.compliance.diagonal[at] = 1.0 / (modulus * h * h);
            at += 1;
        }
        m.row = row;
        if m.secant_is_due {
            m.secant_is_due = false;
            let mut after = std::mem::take(&mut m.after);
            m.particle_forces(s, &x.lambda, &mut after);
            for (a, b) in after.iter_mut().zip(&m.before) {
                *a -= b;
            }
            secant(&m.mass, &after, &m.change, &mut m.stiff);
            for n in &model.nodes {
                let d = n.dof;
                s.mass.set_particle(d, [m.stiff[d], m.stiff[d + 1], m.stiff[d + 2]]);
            }
            m.after = after;
        }
        let contact_rows = 3 * m.held.len();
        // Where there are no dofs, multipliers are solved for in either form.
        let form = if x.u.is_empty() { SystemForm::Compliance } else { m.settings.newton.form };
        s.rows_changed_from(if m.plain { contact_rows } else { 0 }, stood, form);
        m.columns_stand = true;
        // g = M (u − ũ) − Jᵀλ                                                (57)
        s.g.resize(x.u.len(), 0.0);
        m.d.clear();
        m.d.extend(x.u.iter().zip(&m.free).map(|(u, f)| u - f));
        m.momentum(s);
        m.put_contacts(model, x, s, !stood);
        let settings = &m.settings.newton;
        // Joints and springs                                                 (47)
        for (k, soft) in m.soft.iter().enumerate() {
            let i = 3 * m.held.len() + k;
            let w = s.w_diagonal()[i];
            let u = soft.value + soft.rate * s.j.mul_row(i, &x.u) + soft.softness * x.lambda[i];
            let r = Factors::of_bounds(settings.scaling, [w + soft.softness; 3], h).r[0];
            let row = bounded_row(settings, soft.bounds, u, x.lambda[i], soft.softness, r);
            s.h[i] = row.residual;
            s.scale[i] = row.scale;
            s.compliance.diagonal[i] = row.compliance;
            s.known[i] = row.known;
            s.value[i] = row.value;
        }
        let literal = settings.derivative == Derivative::Literal;
        for i in contact_rows..rows {
            let force = if literal { s.scale[i] * x.lambda[i] } else { x.lambda[i] };
            if force != 0.0 {
                s.j.add_row(i, -force, &mut s.g);
            }
        }
    }

    fn error(&mut self, x: &Iterate<f64>, s: &Schur<f64>) -> f64 {
        let m = &mut *self.motion;
        let mut worst = 0.0_f64;
        let mut take = |e: f64| {
            let e = e.abs() / m.speed;
            worst = if e.is_nan() { f64::INFINITY } else { worst.max(e) };
            e
        };
        m.islands.begin(s);
        for (c, contact) in m.held.iter().enumerate() {
            let w = &s.w_diagonal()[3 * c..3 * c + 3];
            let g = (w[0] + w[1] + w[2]) / 3.0;
            let g = if g > 0.0 { g } else { 1.0 };
            let lambda = Vec3::from_slice(&x.lambda[3 * c..]);
            m.islands.row(3 * c, take(g * contact.law.natural_map(lambda, m.u[c], g).length()));
        }
        for i in 3 * m.held.len()..s.rows() {
            m.islands.row(i, take(s.h[i]));
        }
        m.d.resize(x.u.len(), 0.0);
        s.mass.divide(&s.g, &mut m.d);
        for (k, d) in m.d.iter().enumerate() {
            m.islands.dof(s, k, take(*d));
        }
        m.settled = if m.islands.is_empty() { worst } else { m.islands.end(x, s) };
        worst
    }

    fn settled(&self, _error: f64) -> f64 {
        self.motion.settled
    }

    fn moved(&mut self, from: &Iterate<f64>, to: &Iterate<f64>, s: &mut Schur<f64>) {
        let (m, model) = (&mut *self.motion, self.model);
        if m.settings.geometric == GeometricStiffness::Off || (m.tets.is_empty() && model.springs.is_empty())
        {
            return;
        }
        // Jᵀλ at both ends with the new λ (correction N2): here with the rows of the old end, where they still stand, and in
        // the next linearisation with those of the new one.
        let mut before = std::mem::take(&mut m.before);
        if matches!(m.settings.newton.step, StepRule::Fixed(_)) {
            m.particle_forces(s, &to.lambda, &mut before);
        } else {
            m.element_forces(model, &from.u, &to.lambda, &mut before);
        }
        m.before = before;
        m.change.clear();
        m.change.extend(to.u.iter().zip(&from.u).map(|(t, f)| t - f));
        m.secant_is_due = true;
    }
}

/// Adds `d` to the three entries from `at`.
pub(super) fn add(x: &mut [f64], at: usize, d: Vec3) {
    x[at] += d.x;
    x[at + 1] += d.y;
    x[at + 2] += d.z;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::Collider;
    use crate::elastic::{Law, Material};
    use crate::linalg::Mat3;
    use crate::mesh::shapes;
    use crate::model::JointKind;
    use crate::papers::nsn::solve::{
        LinearSettings, NcpFunction, Newton, NewtonSettings, Product, Regularization,
    };
    use crate::scene::{Body, Geometry, Joint, Scene, SoftBody, SpringEnd, SpringSpec};

    /// Rows of equations and of active contacts are the derivatives of their residuals by u, and C those by λ.
    #[test]
    fn rows_are_the_derivatives_of_their_residuals() {
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
        for (name, x) in [("a", 0.0), ("b", 0.5)] {
            let body = Body::new(name, Geometry::Box { half: Vec3::splat(0.1) });
            scene.bodies.push(body.at(x, 0.1, 0.1).with_mass(1.0));
        }
        let hinge = Joint::new("hinge", JointKind::Hinge, "a", "b").at(Vec3::new(0.25, 0.0, 0.3));
        scene.joints.push(hinge.about(Vec3::new(0.2, 1.0, 0.1)));
        let ends =
            [SpringEnd::on("a", Vec3::new(0.1, 0.0, 0.1)), SpringEnd::world(Vec3::new(0.3, -0.4, 1.0))];
        scene.springs.push(SpringSpec::new("spring", ends, 70.0));
        let model = scene.compile().unwrap();
        let newton = NewtonSettings {
            ncp: NcpFunction::MinimumMap,
            derivative: Derivative::Divided,
            ..NewtonSettings::default()
        };
        let contact_compliance = 1e-5;
        let settings = NonlinearSettings { newton, contact_compliance, ..NonlinearSettings::default() };
        let mut motion = Motion::new(&model, settings);
        let (mut contacts, h) = (Vec::new(), 0.01);
        Collider::new(&model).detect(
            Placement::of(&model, &model.initial).kinematics(&model),
            h,
            &mut contacts,
        );
        assert_eq!(contacts.len(), 8);
        let mut s = Schur::default();
        motion.begin(Placement::of(&model, &model.initial).kinematics(&model), &contacts, h, &mut s);
        let rows = motion.rows();
        let mut x = Iterate { u: vec![0.0; model.layout.nv()], lambda: vec![0.0; rows] };
        // Loaded contacts without friction speed: their normal rows are gaps.
        (0..contacts.len()).for_each(|c| x.lambda[3 * c] = 1.0);
        motion.equations(&model).linearize(&x, &mut s);
        let j = s.j.clone();
        // What contacts write beside their rows is what the rows themselves give.
        let mut g = vec![0.0; x.u.len()];
        s.mass.mul(&x.u.iter().zip(&motion.free).map(|(u, f)| u - f).collect::<Vec<f64>>(), &mut g);
        let force: Vec<f64> = x.lambda.iter().zip(&s.scale).map(|(l, d)| -d * l).collect();
        j.mul_t_add(&force, &mut g);
        assert!(g.iter().zip(&s.g).all(|(a, b)| (a - b).abs() < 1e-12));
        let mut by_rows = s.clone();
        by_rows.rows_changed();
        for (a, b) in s.w_diagonal().iter().zip(by_rows.w_diagonal()) {
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
        }
        let d = 1e-5;
        for k in 0..x.u.len() {
            let mut residual = |by: f64| {
                x.u[k] = by;
                motion.equations(&model).linearize(&x, &mut s);
                x.u[k] = 0.0;
                s.h.clone()
            };
            let (up, down) = (residual(d), residual(-d));
            for i in (0..rows).filter(|&i| i >= 24 || i % 3 == 0) {
                let by = (up[i] - down[i]) / (2.0 * d);
                assert!((by - j.get(i, k)).abs() < 1e-6, "row {i}, dof {k}: {by} {}", j.get(i, k));
            }
        }
        let (d, normal_or_equation) = (1e-3, |i: &usize| *i >= 24 || i.is_multiple_of(3));
        for k in (0..rows).filter(normal_or_equation) {
            let [up, down] = [d, -2.0 * d].map(|d| {
                x.lambda[k] += d;
                motion.equations(&model).linearize(&x, &mut s);
                s.h.clone()
            });
            x.lambda[k] += d;
            for i in (0..rows).filter(normal_or_equation) {
                let by = (up[i] - down[i]) / (2.0 * d);
                let c = if i == k { s.compliance.diagonal[i] } else { 0.0 };
                assert!((by - c).abs() < 1e-9, "row {i} by λ {k}: {by} {c}");
            }
        }
        assert!((s.compliance.diagonal[0] - contact_compliance / (h * h)).abs() < 1e-12);
    }

    /// A block of particles and a spring to one of them, and the velocity that deforms it to three different stretches.
    fn soft_block(h: f64) -> (Model, Vec<f64>) {
        let material = Material { law: Law::StableNeoHookean, young: 1e4, poisson: 0.3, density: 1000.0 };
        let mesh = shapes::block([1, 1, 1], Vec3::splat(0.1));
        let mut scene = Scene::default();
        scene.solids.push(SoftBody::new("block", mesh, material));
        let ends = [SpringEnd::on("block", Vec3::splat(0.05)), SpringEnd::world(Vec3::new(0.2, 0.1, 0.3))];
        scene.springs.push(SpringSpec::new("spring", ends, 70.0));
        let model = scene.compile().unwrap();
        let stretch = Mat3::from_cols(
            Vec3::new(0.15, 0.02, 0.0),
            Vec3::new(-0.03, -0.1, 0.01),
            Vec3::new(0.0, 0.04, 0.03),
        );
        let mut u = vec![0.0; model.layout.nv()];
        for n in &model.nodes {
            add(&mut u, n.dof, stretch * Vec3::from_slice(&model.initial.q[n.q..]) / h);
        }
        (model, u)
    }

    /// Multipliers that carry the stress of the elements at `u`.
    fn carrying(motion: &mut Motion, model: &Model, u: &[f64]) -> Vec<f64> {
        motion.place(model, u);
        let mut lambda = vec![0.0; motion.rows()];
        let (mut at, h) = (motion.bilateral, motion.h);
        for k in 0..motion.tets.len() {
            let frame = &motion.frames(model, k)[0];
            let stress = match motion.settings.elements {
                ElementRows::Principal => motion.three(model, k, frame).stress.to_vec(),
                ElementRows::Corotated => motion.six(model, k, frame).stress.to_vec(),
            };
            for s in stress {
                lambda[at] = -h * s;
                at += 1;
            }
        }
        lambda
    }

    /// Rows of strains and springs at an iterate where the multipliers carry the stress: J is the derivative of the residual by
    /// u and C that by λ. Shears are nought in the frame that turns with the element: their rows are derivatives by λ alone.
    #[test]
    fn strain_rows_are_the_derivatives_of_their_residuals() {
        let h = 0.01;
        let (model, u) = soft_block(h);
        let newton = NewtonSettings { derivative: Derivative::Divided, ..NewtonSettings::default() };
        let mut forces = Vec::new();
        for (elements, width) in [(ElementRows::Principal, 3), (ElementRows::Corotated, 6)] {
            let settings = NonlinearSettings { newton, elements, ..NonlinearSettings::default() };
            let mut motion = Motion::new(&model, settings);
            let mut s = Schur::default();
            motion.begin(Placement::of(&model, &model.initial).kinematics(&model), &[], h, &mut s);
            let mut x = Iterate { lambda: carrying(&mut motion, &model, &u), u: u.clone() };
            motion.equations(&model).linearize(&x, &mut s);
            s.prepare(Product::MatrixFree, false, Regularization::Absolute(0.0));
            assert_eq!(s.rows(), 1 + width * motion.tets.len());
            assert!(s.h[1..].iter().all(|r| r.abs() < 1e-12), "{elements:?}: {:?}", s.h);
            forces.push(s.g.clone());
            let here = s.clone();
            let mut residual = |x: &Iterate<f64>| {
                motion.equations(&model).linearize(x, &mut s);
                s.h.clone()
            };
            for k in 0..u.len() {
                let d = 1e-4;
                let [up, down] = [d, -d].map(|d| {
                    x.u[k] = u[k] + d;
                    residual(&x)
                });
                x.u[k] = u[k];
                for i in (0..here.rows()).filter(|i| *i == 0 || (i - 1) % width < 3) {
                    let (by, j) = ((up[i] - down[i]) / (2.0 * d), here.j.get(i, k));
                    assert!((by - j).abs() < 1e-6, "{elements:?}, row {i}, dof {k}: {by} {j}");
                }
            }
            for k in 0..here.rows() {
                let (d, l) = (1e-3, x.lambda[k]);
                let [up, down] = [d, -d].map(|d| {
                    x.lambda[k] = l + d;
                    residual(&x)
                });
                x.lambda[k] = l;
                for i in 0..here.rows() {
                    let (by, c) = ((up[i] - down[i]) / (2.0 * d), here.entry(i, k, 0.0));
                    assert!((by - c).abs() < 1e-9 * (1.0 + c.abs()), "{elements:?}, {i} by λ {k}: {by} {c}");
                }
            }
        }
        // Three rows push as six do.
        let off = forces[0].iter().zip(&forces[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let most = forces[0].iter().fold(0.0_f64, |m, f| m.max(f.abs()));
        assert!(off < 1e-10 * most, "{off} N·s of {most}");
    }

    /// N1, N2: after an iteration H_ii is Δg_i/Δu_i with the new λ at both ends, but not below M_ii; a new step begins with M.
    #[test]
    fn n1_n2_an_iteration_leaves_the_difference_of_g_at_one_lambda() {
        let h = 0.01;
        let (model, u) = soft_block(h);
        for step in [StepRule::Fixed(1.0), StepRule::LineSearch(4)] {
            let newton = NewtonSettings {
                iterations: 1,
                step,
                linear: LinearSettings::direct(),
                regularization: Regularization::Relative(1e-9),
                ..NewtonSettings::default()
            };
            let settings = NonlinearSettings { newton, ..NonlinearSettings::default() };
            assert_eq!(settings.geometric, GeometricStiffness::Particles);
            let mut motion = Motion::new(&model, settings);
            let mut solver = Newton::default();
            motion.begin(
                Placement::of(&model, &model.initial).kinematics(&model),
                &[],
                h,
                &mut solver.system,
            );
            let from = Iterate { lambda: carrying(&mut motion, &model, &u), u: u.clone() };
            let mut to = from.clone();
            solver.run(&mut motion.equations(&model), &mut to, &newton, &mut |_| {});
            let diagonal = |s: &Schur<f64>, k: usize| s.mass.block(s.mass.block_of(k) as usize)[4 * (k % 3)];
            let found: Vec<f64> = (0..u.len()).map(|k| diagonal(&solver.system, k)).collect();
            let mut g = |u: &[f64], lambda: &[f64]| {
                let x = Iterate { u: u.to_vec(), lambda: lambda.to_vec() };
                motion.equations(&model).linearize(&x, &mut solver.system);
                solver.system.g.clone()
            };
            let (after, before) = (g(&to.u, &to.lambda), g(&from.u, &to.lambda));
            let unfrozen = g(&from.u, &from.lambda);
            let (mut stiffer, mut clamped, mut polluted) = (0, 0, 0.0_f64);
            for k in 0..u.len() {
                let (m, du) = (motion.mass[k], to.u[k] - from.u[k]);
                let secant = (after[k] - before[k]) / du;
                let expected = secant.max(m);
                assert!((found[k] - expected).abs() < 1e-6 * m, "{step:?}, dof {k}: {} {expected}", found[k]);
                polluted = polluted.max((((after[k] - unfrozen[k]) / du).max(m) - expected).abs() / m);
                stiffer += usize::from(secant > 1.001 * m);
                clamped += usize::from(secant < 0.999 * m);
            }
            assert!(stiffer > 0 && clamped > 0, "{stiffer} stiffer, {clamped} clamped");
            assert!(polluted > 0.1, "λ must be held: {polluted}");
            motion.begin(
                Placement::of(&model, &model.initial).kinematics(&model),
                &[],
                h,
                &mut solver.system,
            );
            assert!((0..u.len()).all(|k| diagonal(&solver.system, k) == motion.mass[k]));
        }
    }
}
