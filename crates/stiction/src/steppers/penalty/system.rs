//! A model with its smooth contacts: what steps are made of.

use super::assembly::{Assembly, Frame, add_part};
use super::bdf::{Increments, Phase};
use super::border::Border;
use super::control::{Control, ControlKind};
use super::elements::Vertices;
use super::law::{Coefficients, FrictionModel};
use super::patch::{Patch, SoftPair, soft_pairs};
use super::site::{Site, Sites};
use super::sqp::Hard;
use super::stick::Stick;
use super::{Settings, joint};
use crate::coords::{BodyId, NodeId, State};
use crate::dynamics::{Slender, Solids};
use crate::error::SceneError;
use crate::kinematics::{Kinematics, Placement, Term};
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::{BlockMat, Mat3, NearSymmetric, Vec3};
use crate::model::{Controls as Commands, Model, Owner, Param};
use std::sync::Arc;

/// A model with its smooth contacts, ready to step.
pub struct System {
    /// Copied where parameters are written.
    pub(crate) model: Arc<Model>,
    pub(crate) settings: Settings,
    pub(crate) h: f64,
    pub(crate) sites: Sites,
    /// Soft surfaces that may touch each other.
    pub(super) soft_pairs: Vec<SoftPair>,
    /// Nodes near faces of other soft surfaces in this step.
    pub(crate) patches: Vec<Patch>,
    /// Blocks that patches couple.
    pub(super) patch_pattern: Vec<(u32, u32)>,
    /// Blocks that everything else couples.
    pub(super) pattern: Vec<(u32, u32)>,
    /// M of translations and nodes; rotations have their momentum in w.
    pub(crate) mass: BlockMat,
    pub(crate) asm: Assembly,
    /// a₀/h ∂(M w)/∂q − ∂f/∂q, rows of held nodes projected.
    pub(crate) gq: BlockMat,
    /// The same by v.
    pub(crate) gv: BlockMat,
    pub(super) rd: BlockMat,
    pub(crate) lu: NearSymmetric,
    pub(crate) kin: Increments,
    pub(crate) there: Placement,
    pub(crate) w: Vec<f64>,
    /// (a₀ w + a₁ w⁻ + a₂ w⁼)/h − g.
    pub(crate) acceleration: Vec<f64>,
    pub(crate) r: Vec<f64>,
    pub(super) work: Vec<f64>,
    pub(crate) vertices: Vertices,
    /// Per solid: pressures of its tets [Pa]; empty where none is inflated.
    pub(crate) pressures: Vec<Vec<f64>>,
    /// Per spring: where controls move its ends.
    pub(crate) shifts: Vec<[Vec3; 2]>,
    /// Those of the simulation.
    pub(super) commands: Commands,
    /// Per joint: what controls add to its target.
    pub(crate) targets: Vec<f64>,
    /// Per joint: what is added to its target at all times.
    offsets: Vec<f64>,
    /// Numbers per step that act on the scene.
    pub controls: Vec<Control>,
    /// Per node: normal of the obstacle that holds it by static friction, and its site.
    pub(crate) held: Vec<Option<(Vec3, u32)>>,
    /// Sites whose friction a stick holds.
    pub(crate) gripped: Vec<bool>,
    /// Static friction by multipliers.
    pub(crate) sticks: Vec<Stick>,
    pub(crate) border: Border,
    /// Sites that were let go in this step and slide.
    pub(crate) released: Vec<bool>,
    /// Per node: the plane that a hard constraint keeps it on.
    pub(super) hard: Vec<Option<Hard>>,
    pub(crate) contacts: usize,
}

impl System {
    /// Of a model. Rods, and damping in proportion to stiffness, are not known here.
    pub fn new(model: impl Into<Arc<Model>>, settings: Settings, h: f64) -> Result<System, SceneError> {
        let model = model.into();
        if !(h > 0.0 && h.is_finite()) {
            return Err(SceneError::new("time step", format!("{h} s: it must be positive and finite")));
        }
        if let Some(rod) = model.rods.first() {
            let text = "the penalty solver knows no rods; use `exact`, or a chain of bodies and springs";
            return Err(SceneError::new(format!("rod `{}`", rod.name), text));
        }
        for s in &model.solids {
            if s.tets.is_empty() && s.self_contact {
                let text = "the penalty solver knows no self-contact of sheets, which have no inside; use `exact`, or leave out `self_contact`";
                return Err(SceneError::new(format!("sheet `{}`", s.name), text));
            }
            if !s.tets.is_empty() && s.elements.damping().stiffness > 0.0 {
                let text = "damping in proportion to stiffness has no exact derivative here; use `viscosity`";
                return Err(SceneError::new(format!("soft body `{}`", s.name), text));
            }
        }
        let mut sites = Sites::of(&model);
        let soft_pairs = soft_pairs(&model, &mut sites);
        let mut pairs = [Solids::pattern(&model), Slender::pattern(&model), sites.pattern(&model)].concat();
        let block = |b: BodyId| model.bodies[b.index()].block.map(|k| k as u32);
        pairs.extend(model.joints.iter().filter_map(|j| Some((block(j.a?)?, block(j.b)?))));
        let pattern = BlockMat::with_pattern(&model.layout.widths(), &pairs);
        let n = pattern.rows();
        let mut system = System {
            mass: BlockMat::with_pattern(&model.layout.widths(), &Solids::mass_pattern(&model)),
            gq: pattern.clone(),
            gv: pattern.clone(),
            rd: pattern.clone(),
            asm: Assembly::new(pattern),
            settings,
            h,
            lu: NearSymmetric::default(),
            kin: Increments::default(),
            there: Placement::default(),
            w: vec![0.0; n],
            acceleration: vec![0.0; n],
            r: vec![0.0; n],
            work: vec![0.0; n],
            vertices: Vertices::default(),
            pressures: vec![Vec::new(); model.solids.len()],
            commands: Commands::default(),
            shifts: vec![[Vec3::ZERO; 2]; model.springs.len()],
            targets: vec![0.0; model.joints.len()],
            offsets: vec![0.0; model.joints.len()],
            controls: Vec::new(),
            held: vec![None; model.nodes.len()],
            gripped: vec![false; sites.all.len()],
            sticks: Vec::new(),
            border: Border::default(),
            released: vec![false; sites.all.len()],
            hard: vec![None; model.nodes.len()],
            soft_pairs,
            patches: Vec::new(),
            patch_pattern: Vec::new(),
            pattern: pairs,
            contacts: 0,
            sites,
            model,
        };
        system.fill_mass();
        let beyond = |k: usize| system.can_hold(k).is_none();
        if settings.friction == FrictionModel::Sqp
            && (!system.soft_pairs.is_empty() || (0..system.sites.all.len()).any(beyond))
        {
            let text = "hard constraints hold nodes and particles on planes that stand still, and something else may touch here; use `hybrid`";
            return Err(SceneError::new("friction model `sqp`", text));
        }
        Ok(system)
    }

    /// The model, as it is shared.
    pub fn model(&self) -> &Arc<Model> {
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

    /// What is commanded from the next step on.
    pub(crate) fn command(&mut self, commands: &Commands) {
        self.commands.clone_from(commands);
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

    /// Everything where the equations were evaluated last.
    pub(crate) fn at(&self) -> Kinematics<'_> {
        self.there.kinematics(&self.model)
    }

    /// Frames of both sides of a site.
    pub(crate) fn frames(&self, s: &Site) -> (Frame, Frame) {
        (Frame::of(self.at(), s.a), Frame::of(self.at(), s.b))
    }

    /// Coefficients of a site; with N = 28 the last four variables are μ₁, μ₂, stiffness and damping.
    pub(crate) fn coefficients<const N: usize>(&self, site: usize) -> Coefficients<N> {
        self.pair_coefficients(self.sites.all[site].pair)
    }

    /// Coefficients of a pair, with the same variables.
    pub(super) fn pair_coefficients<const N: usize>(&self, pair: usize) -> Coefficients<N> {
        let pair = &self.sites.pairs[pair];
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
        if self.is_hard(site) {
            return None;
        }
        let at_b = fa.variables();
        let mut law = Site::law(&self.settings, self.h);
        let is_held =
            matches!(s.a, Owner::Node(n) if self.held[n.index()].is_some_and(|h| h.1 == site as u32));
        law.frictionless = is_held || self.gripped[site];
        if self.released[site] {
            law.h = super::hybrid::SLIDING;
        }
        let c = self.coefficients::<N>(site);
        let out =
            s.evaluate(&self.sites.obstacles[s.obstacle], &law, &c, (fa, &fa.dual(0)), (fb, &fb.dual(at_b)))?;
        Some([(*fa, 0, out.force, out.moment_a), (*fb, at_b, -out.force, out.moment_b)])
    }

    /// Node whose rows a site may replace: on flat obstacles that do not move.
    pub(crate) fn can_hold(&self, k: usize) -> Option<NodeId> {
        let s = &self.sites.all[k];
        let fixed = match s.b {
            Owner::Body(b) => matches!(self.model.bodies[b.index()].motion, crate::model::Motion::Fixed),
            _ => false,
        };
        match s.a {
            Owner::Node(n) if fixed && s.flat && s.direction.is_none() => Some(n),
            _ => None,
        }
    }

    /// Sum of contact forces on an owner, by anything or by one other, at the end of the last step evaluated [N]. Static
    /// friction that the hybrid model holds by constraints is not part of it.
    pub fn contact_force(&self, on: Owner, by: Option<Owner>) -> Vec3 {
        Vec3::AXES.map(|n| self.contact_force_term(&self.there.state, on, by, n).value).into()
    }

    /// The same along `n` at a state, with its derivatives by configuration and velocity.
    pub(crate) fn contact_force_term(&self, state: &State, on: Owner, by: Option<Owner>, n: Vec3) -> Term {
        let mut term = Term::default();
        for (k, s) in self.sites.all.iter().enumerate() {
            let (a, b) = (self.model.whole(s.a), self.model.whole(s.b));
            let sign = match (a == on, b == on) {
                (true, _) if by.is_none_or(|o| o == b) => 1.0,
                (_, true) if by.is_none_or(|o| o == a) => -1.0,
                _ => continue,
            };
            let (fa, fb) = (Frame::at(&self.model, state, s.a), Frame::at(&self.model, state, s.b));
            if s.gap(&self.sites.obstacles[s.obstacle], &fa, &fb) >= 0.0 {
                continue;
            }
            let Some(sides) = self.site_force::<28>(k, &fa, &fb) else { continue };
            let force = &sides[0].2;
            term.value += sign * n.dot(force.value());
            let by = |i: usize| sign * n.dot(force.by(24 + i));
            let mu = (self.sites.pairs[s.pair].friction(), by(0) + by(1));
            term.contact.extend([mu, (Param::ContactStiffness, by(2)), (Param::ContactDamping, by(3))]);
            for (frame, at, ..) in &sides {
                let Some((_, dof)) = frame.dofs else { continue };
                let count = if frame.rigid { 6 } else { 3 };
                for c in 0..count {
                    term.dq.push((dof + c, sign * n.dot(force.by(at + c))));
                    term.dv.push((dof + c, sign * n.dot(force.by(at + count + c))));
                }
            }
        }
        for p in &self.patches {
            let (a, b) = p.owners(&self.model);
            let sign = match (a == on, b == on) {
                // What a body does to itself adds up to nothing.
                (true, true) => continue,
                (true, _) if by.is_none_or(|o| o == b) => 1.0,
                (_, true) if by.is_none_or(|o| o == a) => -1.0,
                _ => continue,
            };
            let Some(sides) = self.patch_force::<28>(state, p) else { continue };
            let force = &sides[0].2;
            term.value += sign * n.dot(force.value());
            let by = |i: usize| sign * n.dot(force.by(24 + i));
            let mu = (self.sites.pairs[p.pair].friction(), by(0) + by(1));
            term.contact.extend([mu, (Param::ContactStiffness, by(2)), (Param::ContactDamping, by(3))]);
            for (frame, at, ..) in &sides {
                let Some((_, dof)) = frame.dofs else { continue };
                for c in 0..3 {
                    term.dq.push((dof + c, sign * n.dot(force.by(at + c))));
                    term.dv.push((dof + c, sign * n.dot(force.by(at + 3 + c))));
                }
            }
        }
        term
    }
}

/// Both sides of every row of a joint at the state evaluated last, with the variable of its motor's target.
pub(crate) fn joint_sides(system: &System, j: usize, mut each: impl FnMut(&[joint::Side; 2], usize)) {
    let (model, k) = (&system.model, system.settings.joint_stiffness);
    let joint = &model.joints[j];
    joint::visit(system.at(), system.h, k, joint, (system.targets[j], system.commands.motor(j)), |sides| {
        each(sides, joint::TARGET)
    });
}
