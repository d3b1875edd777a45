//! The residual of a step, its exact Jacobian, and Newton's method on it.

use super::assembly::{Assembly, Frame, add_part};
use super::bdf::{Kinematics, Phase};
use super::elements::{self, Vertices};
use super::law::Coefficients;
use super::site::{Site, Sites};
use super::{Settings, joint};
use crate::coords::{BodyId, NodeId, State};
use crate::dynamics::{Slender, Solids};
use crate::error::{SceneError, StepError};
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::{BlockMat, Mat3, SparseLu, Vec3};
use crate::scene::{Model, Owner};
use crate::solvers::Status;

/// What a control changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlKind {
    /// Force on an owner along a world axis [N].
    Force(Owner, usize),
    /// Torque on a body about a world axis [N·m].
    Torque(BodyId, usize),
    /// Displacement along a world axis [m] of an end of a spring that is held by the world.
    SpringEnd(usize, usize, usize),
    /// What the motor of a joint aims at, beyond its path [m, rad, m/s or rad/s].
    Motor(usize),
}

/// A number per step that acts on the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// What it changes.
    pub kind: ControlKind,
    /// One value per step; the last one holds from there on, none is zero.
    pub values: Vec<f64>,
}

impl Control {
    /// Which value acts in a step.
    pub fn place(&self, step: usize) -> Option<usize> {
        if self.values.is_empty() { None } else { Some(step.min(self.values.len() - 1)) }
    }
}

/// How the Newton iteration of a step went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Newton {
    /// Newton steps.
    pub iterations: usize,
    /// Halvings of steps.
    pub backtracks: usize,
    /// ‖r‖₂ at the end [N].
    pub residual: f64,
    /// The ‖r‖₂ that was asked for [N].
    pub target: f64,
    /// How it ended.
    pub status: Status,
    /// ‖r‖₂ before each Newton step [N].
    pub history: Vec<f64>,
    /// Contact points that push.
    pub contacts: usize,
    /// Nodes held by static friction, as (node, site).
    pub stuck: Vec<(u32, u32)>,
    /// Sites that were let go and slide.
    pub released: Vec<u32>,
}

/// A model with its smooth contacts, ready to step.
pub struct System {
    pub(crate) model: Model,
    pub(crate) settings: Settings,
    pub(crate) h: f64,
    pub(crate) sites: Sites,
    /// M of translations and nodes; rotations have their momentum in w.
    pub(crate) mass: BlockMat,
    pub(crate) asm: Assembly,
    /// a₀/h ∂(M w)/∂q − ∂f/∂q, rows of held nodes projected.
    pub(crate) gq: BlockMat,
    /// The same by v.
    pub(crate) gv: BlockMat,
    rd: BlockMat,
    pub(crate) lu: SparseLu,
    pub(crate) kin: Kinematics,
    pub(crate) there: State,
    pub(crate) w: Vec<f64>,
    /// (a₀ w + a₁ w⁻ + a₂ w⁼)/h − g.
    pub(crate) acceleration: Vec<f64>,
    pub(crate) r: Vec<f64>,
    work: Vec<f64>,
    pub(crate) vertices: Vertices,
    /// Per spring: where controls move its ends.
    pub(crate) shifts: Vec<[Vec3; 2]>,
    /// Per joint: what controls add to its target.
    pub(crate) targets: Vec<f64>,
    /// Per joint: what is added to its target at all times.
    offsets: Vec<f64>,
    /// Numbers per step that act on the scene.
    pub controls: Vec<Control>,
    /// Per node: normal of the obstacle that holds it by static friction, and its site.
    pub(crate) held: Vec<Option<(Vec3, u32)>>,
    /// Sites that were let go in this step and slide.
    pub(crate) released: Vec<bool>,
    pub(crate) contacts: usize,
}

impl System {
    /// Of a model. Rods, and damping in proportion to stiffness, are not known here.
    pub fn new(model: Model, settings: Settings, h: f64) -> Result<System, SceneError> {
        if !(h > 0.0 && h.is_finite()) {
            return Err(SceneError::new("time step", format!("{h} s: it must be positive and finite")));
        }
        if let Some(rod) = model.rods.first() {
            let text = "the penalty solver knows no rods; use `exact`, or a chain of bodies and springs";
            return Err(SceneError::new(format!("rod `{}`", rod.name), text));
        }
        for s in &model.solids {
            if !s.tets.is_empty() && s.elements.damping().stiffness > 0.0 {
                let text = "damping in proportion to stiffness has no exact derivative here; use `viscosity`";
                return Err(SceneError::new(format!("soft body `{}`", s.name), text));
            }
        }
        let sites = Sites::of(&model);
        let mut pairs = [Solids::pattern(&model), Slender::pattern(&model), sites.pattern(&model)].concat();
        let block = |b: BodyId| model.bodies[b.index()].block.map(|k| k as u32);
        pairs.extend(model.joints.iter().filter_map(|j| Some((block(j.a?)?, block(j.b)?))));
        let pattern = BlockMat::with_pattern(&model.layout, &pairs);
        let n = pattern.rows();
        let mut system = System {
            mass: BlockMat::with_pattern(&model.layout, &Solids::mass_pattern(&model)),
            gq: pattern.clone(),
            gv: pattern.clone(),
            rd: pattern.clone(),
            asm: Assembly::new(pattern),
            settings,
            h,
            lu: SparseLu::default(),
            kin: Kinematics::default(),
            there: State::default(),
            w: vec![0.0; n],
            acceleration: vec![0.0; n],
            r: vec![0.0; n],
            work: vec![0.0; n],
            vertices: Vertices::default(),
            shifts: vec![[Vec3::ZERO; 2]; model.springs.len()],
            targets: vec![0.0; model.joints.len()],
            offsets: vec![0.0; model.joints.len()],
            controls: Vec::new(),
            held: vec![None; model.nodes.len()],
            released: vec![false; sites.all.len()],
            contacts: 0,
            sites,
            model,
        };
        system.fill_mass();
        Ok(system)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes the settings, for example the stiffness of contacts from one run to the next.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// What is added to the target of a motor at all times.
    pub fn motor_offset(&self, joint: usize) -> f64 {
        self.offsets[joint]
    }

    /// Sets what is added to the target of a motor at all times.
    pub fn set_motor_offset(&mut self, joint: usize, value: f64) {
        self.offsets[joint] = value;
    }

    /// Time step [s].
    pub fn time_step(&self) -> f64 {
        self.h
    }

    /// Contact points and pairs.
    pub fn sites(&self) -> &Sites {
        &self.sites
    }

    /// The phase at the start of a run.
    pub fn start(&self) -> Phase {
        Phase::start(&self.model, &self.model.initial, self.h)
    }

    /// Masses of bodies and nodes as the model says now.
    pub(crate) fn fill_mass(&mut self) {
        self.mass.clear();
        for b in &self.model.bodies {
            if let Some(block) = b.block {
                add_part(&mut self.mass, (block, 0), (block, 0), &Mat3::from_diagonal(Vec3::splat(b.mass)));
            }
        }
        for n in &self.model.nodes {
            add_part(&mut self.mass, (n.block, 0), (n.block, 0), &Mat3::from_diagonal(Vec3::splat(n.mass)));
        }
        Solids::new(&self.model, &self.asm.fq).add_consistent_mass(&self.model, &mut self.mass);
    }

    /// Sets what controls do in step number `step`.
    pub(crate) fn apply_controls(&mut self, step: usize) {
        self.shifts.fill([Vec3::ZERO; 2]);
        self.targets.clone_from(&self.offsets);
        for c in &self.controls {
            let value = c.place(step).map_or(0.0, |k| c.values[k]);
            match c.kind {
                ControlKind::SpringEnd(s, end, axis) => self.shifts[s][end][axis] += value,
                ControlKind::Motor(j) => self.targets[j] += value,
                _ => {}
            }
        }
    }

    /// Frames of both sides of a site.
    pub(crate) fn frames(&self, s: &Site) -> (Frame, Frame) {
        (Frame::of(&self.model, &self.there, s.a), Frame::of(&self.model, &self.there, s.b))
    }

    /// Coefficients of a site; with N = 28 the last four variables are μ₁, μ₂, stiffness and damping.
    pub(crate) fn coefficients<const N: usize>(&self, site: usize) -> Coefficients<N> {
        let s = &self.sites.all[site];
        let pair = &self.sites.pairs[s.pair];
        let at = |x: f64, k: usize| if N == 28 { Dual::variable(x, 24 + k) } else { Dual::constant(x) };
        // μ₁ of round friction is all there is; both grow together.
        Coefficients {
            mu1: at(pair.mu1, 0),
            mu2: at(pair.mu2, 1),
            stiffness: at(self.settings.stiffness, 2),
            damping: at(self.settings.damping.coefficient(), 3),
        }
    }

    /// Force and moments of a site with N variables: those of a first, then those of b.
    pub(crate) fn site_force<const N: usize>(
        &self,
        site: usize,
        fa: &Frame,
        fb: &Frame,
    ) -> Option<[(Frame, usize, DualVec<N>, DualVec<N>); 2]> {
        let s = &self.sites.all[site];
        let at_b = fa.variables();
        let mut law = Site::law(&self.settings, self.h);
        let is_held =
            matches!(s.a, Owner::Node(n) if self.held[n.index()].is_some_and(|h| h.1 == site as u32));
        law.frictionless = is_held;
        if self.released[site] {
            law.h *= super::hybrid::RELEASED;
        }
        let c = self.coefficients::<N>(site);
        let out =
            s.evaluate(&self.sites.obstacles[s.obstacle], &law, &c, (fa, &fa.dual(0)), (fb, &fb.dual(at_b)))?;
        Some([(*fa, 0, out.force, out.moment_a), (*fb, at_b, -out.force, out.moment_b)])
    }

    fn add_sites(&mut self) {
        self.contacts = 0;
        for k in 0..self.sites.all.len() {
            let s = &self.sites.all[k];
            let (a, b) = self.frames(s);
            if s.gap(&self.sites.obstacles[s.obstacle], &a, &b) >= 0.0 {
                continue;
            }
            self.contacts += 1;
            if !self.asm.matrices {
                if let Some(sides) = self.site_force::<0>(k, &a, &b) {
                    self.asm.add_dual(&sides);
                }
                continue;
            }
            match a.variables() + b.variables() {
                0..=6 => self.add_site::<6>(k, &a, &b),
                7..=12 => self.add_site::<12>(k, &a, &b),
                _ => self.add_site::<24>(k, &a, &b),
            }
        }
    }

    fn add_site<const N: usize>(&mut self, k: usize, a: &Frame, b: &Frame) {
        if let Some(sides) = self.site_force::<N>(k, a, b) {
            self.asm.add_dual(&sides);
        }
    }

    /// Fills r at the increment `d`, and with `matrices` the Jacobians; returns ‖r‖₂.
    pub(crate) fn evaluate(&mut self, from: &Phase, d: &[f64], step: usize, matrices: bool) -> f64 {
        self.kin.place(&self.model, self.settings.scheme, self.h, from, d, &mut self.there, &mut self.w);
        self.set_pressures();
        self.asm.clear(matrices);
        let (model, there, asm) = (&self.model, &self.there, &mut self.asm);
        elements::add_solids(model, there, &mut self.vertices, asm);
        elements::add_sheets(model, there, &mut self.vertices, asm);
        elements::add_springs(model, there, &self.shifts, asm);
        elements::add_forces(model, there, self.h, asm);
        joint::add_joints(model, there, self.h, self.settings.joint_stiffness, &self.targets, asm);
        for c in &self.controls {
            let value = c.place(step).map_or(0.0, |k| c.values[k]);
            match c.kind {
                ControlKind::Force(owner, axis) => {
                    elements::add_load(
                        model,
                        there,
                        owner,
                        (value * Vec3::AXES[axis], Vec3::ZERO, Vec3::ZERO),
                        asm,
                    );
                }
                ControlKind::Torque(body, axis) => {
                    let load = (Vec3::ZERO, value * Vec3::AXES[axis], Vec3::ZERO);
                    elements::add_load(model, there, Owner::Body(body), load, asm);
                }
                _ => {}
            }
        }
        self.add_sites();

        // r = M ((a₀ w + a₁ w⁻ + a₂ w⁼)/h − g) − f                                                     (1)
        let [a0, a1, a2] = self.settings.scheme.rate().map(|a| a / self.h);
        for i in 0..self.r.len() {
            self.acceleration[i] = a0 * self.w[i] + a1 * from.w[i] + a2 * from.u[i];
        }
        for block in self.model.layout.blocks() {
            for k in 0..3 {
                self.acceleration[block.v + k] -= self.model.gravity[k];
            }
        }
        self.mass.mul(&self.acceleration, &mut self.r);
        for b in self.model.bodies.iter().filter(|b| b.block.is_some()) {
            self.r[b.dof + 3..b.dof + 6].copy_from_slice(&self.acceleration[b.dof + 3..b.dof + 6]);
        }
        for i in 0..self.r.len() {
            self.r[i] -= self.asm.f[i];
        }
        if matrices {
            self.gq.clear();
            self.gq.add_scaled(-1.0, &self.asm.fq);
            self.gv.clear();
            self.gv.add_scaled(-1.0, &self.asm.fv);
            self.gv.add_scaled(a0, &self.mass);
            for b in &self.model.bodies {
                let Some(block) = b.block else { continue };
                add_part(&mut self.gq, (block, 1), (block, 1), &(self.kin.w_by_q.turn[block] * a0));
                add_part(&mut self.gv, (block, 1), (block, 1), &(self.kin.w_by_v.turn[block] * a0));
            }
        }
        self.project_held(d, matrices);
        self.r.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Pressures of inflated solids at the time of the step's end.
    fn set_pressures(&mut self) {
        for s in &mut self.model.solids {
            for (inflation, tets) in &s.inflations {
                let pressure = inflation.at(self.there.t);
                for &t in tets {
                    s.elements.set_pressure(t as usize, pressure);
                }
            }
        }
    }

    /// ∂r/∂d = G_q ∂q/∂d + G_v ∂v/∂d, held rows by their constraint; factored. False where it is singular.
    pub(crate) fn factor(&mut self) -> bool {
        self.rd.clear();
        let blocks = self.model.layout.blocks();
        for i in 0..blocks.len() {
            for (gq, gv) in [(&self.gq, true), (&self.gv, false)] {
                for (j, block) in gq.row(i) {
                    let (by, rows, width) = (
                        if gv { &self.kin.q_by_d } else { &self.kin.v_by_d },
                        self.rd.block(i).1,
                        blocks[j].nv,
                    );
                    for row in 0..rows / 3 {
                        for column in 0..width / 3 {
                            let mut m = Mat3::ZERO;
                            for c in 0..3 {
                                for r in 0..3 {
                                    m.col_mut(c)[r] = block[(3 * row + r) * width + 3 * column + c];
                                }
                            }
                            add_part(&mut self.rd, (i, row), (j, column), &(m * by.part(j, column)));
                        }
                    }
                }
            }
        }
        self.add_held_rows();
        self.lu.factor(&self.rd)
    }

    /// r' = N r + s T d on held nodes: the normal part keeps its balance, the tangential part does not move (4.3).
    fn project_held(&mut self, d: &[f64], matrices: bool) {
        let scale = self.held_scale();
        for (n, held) in self.model.nodes.iter().zip(&self.held) {
            let Some((normal, _)) = *held else { continue };
            let r = Vec3::from_slice(&self.r[n.dof..]);
            let d = Vec3::from_slice(&d[n.dof..]);
            let out = normal * normal.dot(r) + (d - normal * normal.dot(d)) * scale(n.mass);
            out.write_to_slice(&mut self.r[n.dof..n.dof + 3]);
            if matrices {
                for m in [&mut self.gq, &mut self.gv] {
                    let columns: Vec<u32> = m.columns(n.block).to_vec();
                    for j in columns {
                        let width = m.block(j as usize).1;
                        let block = m.block_mut(n.block, j as usize).expect("a column of this row");
                        for c in 0..width {
                            let column = Vec3::new(block[c], block[width + c], block[2 * width + c]);
                            let along = normal * normal.dot(column);
                            for k in 0..3 {
                                block[k * width + c] = along[k];
                            }
                        }
                    }
                }
            }
        }
    }

    /// Rows of held nodes in units of their inertia.
    fn held_scale(&self) -> impl Fn(f64) -> f64 + use<> {
        let h = self.h;
        move |mass| mass / (h * h)
    }

    fn add_held_rows(&mut self) {
        let scale = self.held_scale();
        for k in 0..self.held.len() {
            let Some((n, _)) = self.held[k] else { continue };
            let node = &self.model.nodes[k];
            let t = Mat3::IDENTITY - Mat3::from_cols(n * n.x, n * n.y, n * n.z);
            add_part(&mut self.rd, (node.block, 0), (node.block, 0), &(t * scale(node.mass)));
        }
    }

    /// ‖r‖₂ [N] that counts as solved: a share of the weight, or of what cancels where that is all numbers can tell.
    fn targets_of_residual(&self) -> (f64, f64) {
        let g = self.model.gravity.length();
        let masses = self.model.bodies.iter().filter(|b| b.block.is_some()).map(|b| b.mass);
        let weight: f64 = masses.chain(self.model.nodes.iter().map(|n| n.mass)).sum::<f64>() * g.max(1.0);
        let inertia: f64 = (0..self.r.len()).map(|i| (self.r[i] + self.asm.f[i]).abs()).sum();
        let momentum = weight / g.max(1.0) * largest(&self.there.v) / self.h;
        (self.settings.tolerance * weight, ROUNDING * (self.asm.size + inertia + momentum))
    }

    /// One step from a phase: fills `to`. `step` counts from zero and chooses the values of controls.
    pub fn step(&mut self, from: &Phase, step: usize, to: &mut Phase) -> Result<Newton, StepError> {
        self.apply_controls(step);
        self.held.fill(None);
        self.released.fill(false);
        let g = self.model.gravity;
        let mut d: Vec<f64> = from.state.v.iter().map(|v| self.h * v).collect();
        if from.state.v.iter().all(|v| *v == 0.0) {
            // From rest the first guess is free fall: nothing else is known to move.
            for block in self.model.layout.blocks() {
                for k in 0..3 {
                    d[block.v + k] += self.h * self.h * g[k];
                }
            }
        }
        let mut newton = Newton::default();
        self.solve(from, &mut d, step, &mut newton)?;
        newton.contacts = self.contacts;
        newton.stuck =
            self.held.iter().enumerate().filter_map(|(n, h)| Some((n as u32, h.as_ref()?.1))).collect();
        let let_go = self.released.iter().enumerate().filter(|(_, r)| **r);
        newton.released = let_go.map(|(k, _)| k as u32).collect();
        to.state.clone_from(&self.there);
        to.w.clone_from(&self.w);
        to.u.clone_from(&from.w);
        to.e = d;
        Ok(newton)
    }

    /// Evaluates and factors the step from `from` to `to` as it was solved.
    pub(crate) fn linearize(&mut self, from: &Phase, to: &Phase, step: usize, newton: &Newton) -> bool {
        self.apply_controls(step);
        self.held.fill(None);
        self.released.fill(false);
        for &(node, site) in &newton.stuck {
            let s = &self.sites.all[site as usize];
            // Held by flat obstacles that stand still: the normal is the same everywhere.
            let (a, b) = (Frame::of(&self.model, &to.state, s.a), Frame::of(&self.model, &to.state, s.b));
            self.held[node as usize] = Some((s.normal(&self.sites.obstacles[s.obstacle], &a, &b), site));
        }
        for &site in &newton.released {
            self.released[site as usize] = true;
        }
        self.evaluate(from, &to.e, step, true);
        self.factor()
    }

    /// Newton's method from the guess `d`, which becomes the answer; r and the state belong to it at the end.
    pub(crate) fn newton(
        &mut self,
        from: &Phase,
        d: &mut [f64],
        step: usize,
        goal: f64,
        report: &mut Newton,
    ) -> Result<bool, StepError> {
        let mut norm = self.evaluate(from, d, step, true);
        let mut trial = d.to_vec();
        let mut stalls = 0;
        let (mut best, mut best_norm) = (d.to_vec(), f64::INFINITY);
        loop {
            if !norm.is_finite() {
                return Err(self.not_finite(from));
            }
            let (wanted, floor) = self.targets_of_residual();
            report.target = wanted.max(floor);
            report.residual = norm;
            if norm < best_norm {
                best_norm = norm;
                best.copy_from_slice(d);
            }
            if norm <= goal * wanted || norm <= floor {
                report.status = if norm <= wanted { Status::Converged } else { Status::Floor };
                return Ok(true);
            }
            if report.iterations >= self.settings.max_iterations {
                break;
            }
            report.history.push(norm);
            if !self.factor() {
                break;
            }
            report.iterations += 1;
            let mut x = std::mem::take(&mut self.work);
            x.clear();
            x.extend(self.r.iter().map(|r| -r));
            self.lu.solve(&mut x);
            // Line search on ‖r‖: kinks of contact forces may ask for shorter steps.
            let mut length = 1.0;
            let mut found = false;
            for _ in 0..MOST_HALVINGS {
                for i in 0..trial.len() {
                    trial[i] = d[i] + length * x[i];
                }
                let at = self.evaluate(from, &trial, step, false);
                if at < (1.0 - 1e-4 * length) * norm {
                    found = true;
                    break;
                }
                length *= 0.5;
                report.backtracks += 1;
            }
            if !found {
                // Over the kink with the whole step; the best point is kept.
                stalls += 1;
                if stalls > MOST_STALLS {
                    self.work = x;
                    break;
                }
                for i in 0..trial.len() {
                    trial[i] = d[i] + x[i];
                }
            }
            self.work = x;
            d.copy_from_slice(&trial);
            norm = self.evaluate(from, d, step, true);
        }
        d.copy_from_slice(&best);
        report.residual = self.evaluate(from, d, step, true);
        report.status = Status::Budget;
        Ok(false)
    }

    fn not_finite(&self, from: &Phase) -> StepError {
        let bad = |dof: usize, n: usize| self.r[dof..dof + n].iter().any(|x| !x.is_finite());
        let body = self.model.bodies.iter().find(|b| b.block.is_some() && bad(b.dof, 6));
        let node = self.model.nodes.iter().find(|n| bad(n.dof, 3));
        let item = match (body, node) {
            (Some(b), _) => format!("body `{}`", b.name),
            (None, Some(n)) => format!("node `{}`", n.name),
            (None, None) => "the scene".to_string(),
        };
        StepError::NotFinite { item, t: from.state.t }
    }

    /// Site that holds a node, for flat obstacles that do not move.
    pub(crate) fn can_hold(&self, k: usize) -> Option<NodeId> {
        let s = &self.sites.all[k];
        let fixed = match s.b {
            Owner::Body(b) => matches!(self.model.bodies[b.index()].motion, crate::scene::Motion::Fixed),
            _ => false,
        };
        match s.a {
            Owner::Node(n) if fixed && s.flat && s.direction.is_none() => Some(n),
            _ => None,
        }
    }

    /// Sum of contact forces on an owner, by anything or by one other, at the end of the last step evaluated [N].
    pub fn contact_force(&self, on: Owner, by: Option<Owner>) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for (k, s) in self.sites.all.iter().enumerate() {
            let (a, b) = (self.model.whole(s.a), self.model.whole(s.b));
            let sign = match (a == on, b == on) {
                (true, _) if by.is_none_or(|o| o == b) => 1.0,
                (_, true) if by.is_none_or(|o| o == a) => -1.0,
                _ => continue,
            };
            let (a, b) = self.frames(s);
            if s.gap(&self.sites.obstacles[s.obstacle], &a, &b) >= 0.0 {
                continue;
            }
            if let Some([side, _]) = self.site_force::<0>(k, &a, &b) {
                sum += sign * side.2.value();
            }
        }
        sum
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| x.abs().max(m))
}

/// Both sides of every row of a joint at the state evaluated last, with the variable of its motor's target.
pub(crate) fn joint_sides(system: &System, j: usize, mut each: impl FnMut(&[joint::Side; 2], usize)) {
    let (model, k) = (&system.model, system.settings.joint_stiffness);
    let joint = &model.joints[j];
    joint::visit(model, &system.there, system.h, k, joint, system.targets[j], |sides| {
        each(sides, joint::TARGET)
    });
}

/// Rounding of a sum, as a share of the sizes of its terms.
const ROUNDING: f64 = 2e-14;
/// Shortest step of a line search: 2⁻¹².
const MOST_HALVINGS: usize = 12;
/// Whole steps that may be taken against the line search.
const MOST_STALLS: usize = 10;
