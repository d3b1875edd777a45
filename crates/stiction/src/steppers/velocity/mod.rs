//! The shared velocity-level step: collide → linearise → contact problem → solver → advance.

mod ahead;
mod contact_loop;
mod end_velocity;
mod flight;
mod flight_probe;
pub(crate) mod guard;
pub(crate) mod joints;
mod linear;
mod probe;
pub(crate) mod recovery;
mod refine;
pub(crate) mod rows;
mod sleep;
mod touch;

pub(crate) use flight::Flown;
pub(crate) use joints::EndRow;
pub use joints::JointMemory;
pub(crate) use joints::{coordinate, count_turns};
pub(crate) use probe::{Contacts, Met, Probe};
pub use refine::{Refine, Solved, Verdict};
pub use sleep::{Sleep, SleepMemory};

use super::{Acts, Memory, StepOutput, StepReport, Stepper};
use crate::clock::Clock;
use crate::collide::{Collider, Contact, Meeting};
use crate::contact::residual::Yardstick;
use crate::contact::warm::{Carried, Matching, WarmCache};
use crate::contact::{ContactKey, ContactProblem, Solution, Term};
use crate::coords::{Part, ShapeId, State};
use crate::dynamics::{Slender, Solids};
use crate::error::StepError;
use crate::integrate::{Scheme, advance};
use crate::kinematics::{Frames, Kinematics, Placement};
use crate::linalg::{BlockMat, Vec3};
use crate::model::{Controls, Model, Owner, Table, World};
use crate::solvers::{ContactSolver, SolveReport, Trace};
use flight::Flight;
use guard::{Guard, clearance};
use joints::Joints;
use recovery::{Recovery, SLOP};
use rows::{add_terms, driven_velocity, normal_bias};
use sleep::Sleeper;
use std::sync::Arc;

/// How to step, whatever solves the contact problems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSettings {
    /// Time-stepping scheme.
    pub scheme: Scheme,
    /// Most linearisations of elastic forces per step. One is cheap and enough for most; more make the step the
    /// fully implicit one of the scheme.
    pub linearizations: usize,
    /// Steps end without intersection of soft bodies, cloth and rods: every motion is tried by continuous detection before
    /// it is made (see [`Continuous`](crate::collide::Continuous)).
    pub intersection_free: bool,
    /// Islands of rigid bodies at rest are frozen until touched; `None`: never.
    pub sleep: Option<Sleep>,
}

impl Default for StepSettings {
    fn default() -> Self {
        StepSettings { scheme: Scheme::default(), linearizations: 1, intersection_free: false, sleep: None }
    }
}

/// What solves the contact problems of a step.
pub struct Means {
    /// The solver.
    pub solver: Box<dyn ContactSolver>,
    /// It answers by Coulomb's law.
    pub coulomb: bool,
    /// Contacts are linearised anew until they hold at the end of the step.
    pub refine: Option<Box<dyn Refine>>,
}

/// Steps a model with any solver of the velocity family. Owns every buffer that a step needs.
pub struct VelocityStepper {
    settings: StepSettings,
    /// Those of the step.
    controls: Controls,
    collider: Collider,
    sleeper: Option<Sleeper>,
    solver: Box<dyn ContactSolver>,
    /// The solver answers by Coulomb's law.
    coulomb: bool,
    contacts: Vec<Contact>,
    candidates: Vec<Contact>,
    /// Contacts that were found ahead in time, by key, and where.
    late: Vec<(ContactKey, Meeting)>,
    /// Contacts that the last look ahead brought or changed: their keys, and their places in the problem.
    changed: Vec<ContactKey>,
    changed_contacts: Vec<u32>,
    /// Bodies and nodes of which contacts may have been missed.
    sought: Vec<bool>,
    ahead: Placement,
    /// Where elastic forces are linearised again.
    there: Placement,
    solids: Solids,
    slender: Slender,
    /// Some dofs are coupled by elastic forces.
    elastic_parts: bool,
    /// M, block diagonal unless some solid has a consistent mass matrix.
    mass: BlockMat,
    problem: ContactProblem,
    solution: Solution,
    forces: Vec<Vec3>,
    warm: WarmCache,
    matching: Matching,
    yardstick: Yardstick,
    recovery: Recovery,
    guard: Option<Guard>,
    refine: Option<Box<dyn Refine>>,
    /// Contacts that slid off their features in the last pass, sorted.
    gone: Vec<ContactKey>,
    /// How contacts slide until they meet within the step, over h [m/s], sorted by key (`cr` only).
    before_impact: Vec<(ContactKey, Vec3)>,
    /// Velocities of the solve before.
    before: Vec<f64>,
    joints: Joints,
    /// A v̂ and M v̂ (midpoint with solids).
    moved_a: Vec<f64>,
    moved_m: Vec<f64>,
    /// Gap that the step leaves in each contact, divided by h [m/s].
    slack: Vec<f64>,
    /// Contacts with overlaps worth pushing out.
    deep: Vec<u32>,
    /// The same for the rows of joints.
    row_slack: Vec<Vec3>,
    /// Velocity after the smooth forces of the whole step alone, elastic ones apart.
    smooth: Vec<f64>,
    /// What solids add to b.
    elastic: Vec<f64>,
    v_move: Vec<f64>,
    /// Velocities at the end of the step (implicit Euler).
    v_end: Vec<f64>,
    /// Who flies; nothing where motions are tried before they are made.
    flight: Option<Flight>,
    /// Targets of the forces of the model in ascending order, with the places of the forces.
    loads: Vec<(Owner, u32)>,
    /// Midpoint only: the problem of the velocity at the end of the step, and its answer.
    end: ContactProblem,
    end_solution: Solution,
}

impl VelocityStepper {
    /// For a model.
    pub fn new(model: &Model, settings: StepSettings, means: Means) -> VelocityStepper {
        let Means { solver, coulomb, refine } = means;
        let coupled = [Solids::pattern(model), Slender::pattern(model)].concat();
        let a = BlockMat::with_pattern(&model.layout.widths(), &coupled);
        let nonlinear = refine.is_some();
        let mut loads: Vec<(Owner, u32)> = model.forces.iter().zip(0..).map(|(f, i)| (f.target, i)).collect();
        loads.sort_unstable();
        VelocityStepper {
            settings,
            controls: Controls::default(),
            collider: Collider::new(model),
            sleeper: settings.sleep.map(|s| Sleeper::new(model, s)),
            solver,
            coulomb,
            contacts: Vec::new(),
            candidates: Vec::new(),
            late: Vec::new(),
            changed: Vec::new(),
            changed_contacts: Vec::new(),
            sought: Vec::new(),
            ahead: Placement::default(),
            there: Placement::default(),
            solids: Solids::new(model, &a),
            slender: Slender::default(),
            elastic_parts: !(model.solids.is_empty() && Slender::is_empty(model)),
            mass: BlockMat::with_pattern(&model.layout.widths(), &Solids::mass_pattern(model)),
            problem: ContactProblem { a, places: places(model), ..ContactProblem::default() },
            solution: Solution::default(),
            forces: Vec::new(),
            warm: WarmCache::default(),
            matching: Matching::default(),
            yardstick: Yardstick::default(),
            recovery: Recovery::default(),
            guard: (settings.intersection_free || nonlinear).then(|| Guard::new(model)),
            refine,
            gone: Vec::new(),
            before_impact: Vec::new(),
            before: Vec::new(),
            moved_a: Vec::new(),
            moved_m: Vec::new(),
            joints: Joints::new(model),
            slack: Vec::new(),
            deep: Vec::new(),
            row_slack: Vec::new(),
            smooth: Vec::new(),
            elastic: Vec::new(),
            v_move: Vec::new(),
            v_end: Vec::new(),
            flight: (!(settings.intersection_free || nonlinear)).then(|| Flight::new(model)),
            loads,
            end: ContactProblem::default(),
            end_solution: Solution::default(),
        }
    }

    /// Exchanges what carries over with the memory of a world: before a step, and after it.
    fn exchange(&mut self, memory: &mut Memory) {
        std::mem::swap(&mut self.warm, &mut memory.contacts);
        self.joints.exchange(&mut memory.joints);
        if let Some(s) = &mut self.sleeper {
            std::mem::swap(&mut s.memory, &mut memory.sleep);
        }
    }

    fn step_from(
        &mut self,
        model: &Model,
        now: &mut Placement,
        h: f64,
        out: &mut StepOutput,
        trace: &mut dyn Trace,
    ) -> Result<(), StepError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(StepError::TimeStep(h));
        }
        check_finite(model, &now.state)?;
        let kin = now.kinematics(model);
        let state = kin.state;
        let report = &mut out.report;
        let mut clock = Clock::start();
        self.solver.start_step();

        if let Some(s) = &mut self.sleeper {
            s.wake_pulled(self.controls.forces(model), state.t, h, &mut self.warm);
        }
        loop {
            if let Some(s) = &self.sleeper {
                self.collider.set_asleep((0..model.bodies.len()).map(|b| s.sleeps(b)));
            }
            self.collider.detect(kin, h, &mut self.contacts);
            // Whoever is woken may touch others, who then wake, too.
            let (contacts, warm) = (&self.contacts, &mut self.warm);
            if !self.sleeper.as_mut().is_some_and(|s| s.wake_touched(model, contacts, warm)) {
                break;
            }
        }
        self.late.clear();
        self.late.extend_from_slice(self.collider.met());
        if let Some(guard) = &mut self.guard {
            guard.start(kin, h);
        }
        report.times.collide = clock.lap();

        self.linearize(kin, h);
        self.find_slides_before_impact(kin, h);
        self.fill_contacts(kin, h);
        report.times.assemble = clock.lap();

        let mut solved = self.solver.solve(&self.problem, &mut self.solution, trace);
        if self.joints.are_unloaded() {
            // How taut they are is known only now.
            self.joints.collect(model, &self.problem, &self.solution.lambda, self.contacts.len());
            self.joints.add_stiffness(&mut self.problem.a, -1.0);
            self.joints.find_stiffness(kin, h, self.settings.scheme.weights(h));
            self.joints.add_stiffness(&mut self.problem.a, 1.0);
            solved = self.solver.solve(&self.problem, &mut self.solution, trace);
        }
        report.times.solve = clock.lap();
        for pass in 0..MOST_PASSES {
            if !self.was_surprised(kin, h, pass == 0) {
                break;
            }
            let found = self.find_missed(kin, h);
            report.times.collide += clock.lap();
            if !found {
                break;
            }
            self.fill_contacts(kin, h);
            self.find_changed();
            report.times.assemble += clock.lap();
            let (p, x) = (&self.problem, &mut self.solution);
            let again = self.solver.solve_again(p, x, &self.changed_contacts, &solved, trace);
            solved = merge(solved, again);
            report.times.solve += clock.lap();
        }
        for _ in 1..self.settings.linearizations {
            if !self.elastic_parts || self.refine.is_some() {
                break;
            }
            self.relinearize(kin, h);
            report.times.assemble += clock.lap();
            let again = self.solver.solve(&self.problem, &mut self.solution, trace);
            solved = merge(solved, again);
            report.times.solve += clock.lap();
            let scale = self.problem.velocity_scale.max(largest(&self.solution.v));
            let change = self.solution.v.iter().zip(&self.v_move).map(|(v, w)| (v - w).abs());
            if change.fold(0.0, f64::max) <= SAME_VELOCITY * scale {
                break;
            }
        }
        let mut last = f64::INFINITY;
        for _ in 0..MOST_JOINT_PASSES {
            if !self.joints_are_off(kin, h, &mut last) {
                break;
            }
            report.times.assemble += clock.lap();
            let again = self.solver.solve(&self.problem, &mut self.solution, trace);
            solved = merge(solved, again);
            report.times.solve += clock.lap();
        }
        let solved = self.solve_ahead((kin, h), solved, report, &mut clock, trace);
        let solved = self.fly(kin, h, solved, trace);
        report.times.solve += clock.lap();
        report.residuals = self.yardstick.measure(&self.problem, &self.solution);
        let borne_out =
            self.yardstick.bears_out(&self.problem, &report.residuals, &self.smooth, self.coulomb);
        report.times.measure = clock.lap();

        report.contacts = self.contacts.len();
        report.joints = model.joints.len();
        report.islands = solved.islands;
        report.asleep = self.sleeper.as_ref().map_or(0, Sleeper::count);
        report.iterations = solved.iterations;
        report.factorizations = solved.factorizations;
        report.status = solved.status.judged(borne_out);
        report.overlap = self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);

        match self.settings.scheme {
            Scheme::ImplicitEuler => {
                self.collect_forces(model);
                advance(model, &mut now.state, &self.v_move, &self.v_end, h);
                now.update(model);
                report.joint_error = self.joints.project(model, now);
            }
            Scheme::Midpoint => {
                self.end_velocity(kin, h, report, trace);
                advance(model, &mut now.state, &self.v_move, &self.end_solution.v, h);
                if !self.joints.is_empty() {
                    // The end velocity was found where the joints are closed.
                    now.state.q.copy_from_slice(&self.ahead.state.q);
                }
                now.update(model);
            }
        }
        if let Some(s) = &mut self.sleeper {
            // What the step has found on its way wakes them from the next one on.
            s.wake_touched(model, &self.contacts, &mut self.warm);
            s.settle(model, now, h, &self.contacts, &self.forces);
        }
        let kin = now.kinematics(model);
        let state = kin.state;
        self.joints.count_turns(kin);
        self.hand_over(kin, out);
        let report = &mut out.report;
        report.t = state.t;
        check_finite(model, state)?;
        report.times.advance = clock.lap();
        Ok(())
    }

    /// Contacts and forces of the step, by exchange of buffers: nothing in here reads them again.
    fn hand_over(&mut self, kin: Kinematics<'_>, out: &mut StepOutput) {
        out.acts.clear();
        out.meetings.clear();
        for i in 0..self.contacts.len() {
            // The arms of the equations that were solved.
            let touch = self.flight.as_ref().and_then(|f| f.touch_of(i));
            let key = &self.contacts[i].key;
            let met = self.late.binary_search_by(|l| l.0.cmp(key)).ok().filter(|_| touch.is_none());
            let met = met.map(|at| {
                out.meetings.push(self.late[at].1.poses);
                out.meetings.len() as u32 - 1
            });
            let mut acts = Acts { arms: [Vec3::ZERO; 2], touch: touch.map(|t| t.0), met };
            for t in self.problem.j.terms(i) {
                if let Term::Point(Part::Rigid { weight: sign, arm, .. }) = *t {
                    let side = usize::from(sign < 0.0);
                    acts.arms[side] = touch.map_or(arm, |t| t.1[side]);
                }
            }
            out.acts.push(acts);
        }
        std::mem::swap(&mut out.contacts, &mut self.contacts);
        std::mem::swap(&mut out.forces, &mut self.forces);
        for (contact, force) in self.sleeper.as_ref().map_or(&[][..], Sleeper::frozen) {
            out.contacts.push(*contact);
            out.forces.push(*force);
            out.acts.push(Acts::at(kin, contact, contact.point));
        }
        out.joints.clone_from(&self.joints.memory().reaction);
    }

    /// Rows of J, bias and friction of every contact, and the impulses of the last step as a guess.
    fn fill_contacts(&mut self, kin: Kinematics<'_>, h: f64) {
        let model = kin.model;
        let p = &mut self.problem;
        p.clear_rows();
        let reach = |s: ShapeId| model.shapes[s.index()].scale;
        self.warm.carry(
            self.contacts.iter().map(|c| (c.key, c.point)),
            |key| SAME_CONTACT * reach(key.shape_a).min(reach(key.shape_b)),
            &mut self.matching,
            &mut self.forces,
        );
        self.solution.lambda.clear();
        for (i, c) in self.contacts.iter().enumerate() {
            let late = match self.late.binary_search_by(|l| l.0.cmp(&c.key)) {
                Ok(i) => Some(self.late[i].1.arms),
                Err(_) => None,
            };
            p.j.push_with(c.frame, |out| add_terms(kin, c, late, out));
            // Bodies without columns: their material point's mean velocity over the step.
            let moving = driven_velocity(kin, &c.a, &c.b, h) - driven_velocity(kin, &c.b, &c.a, h);
            let mut bias = c.frame * moving;
            let apart = with_clearance(self.guard.is_some(), model, c);
            bias.x += normal_bias(self.settings.scheme, kin, &apart, h);
            if let Ok(at) = self.before_impact.binary_search_by(|s| s.0.cmp(&c.key)) {
                let slide = c.frame * self.before_impact[at].1;
                (bias.y, bias.z) = (bias.y - slide.y, bias.z - slide.z);
            }
            p.bias.push(bias);
            p.law.push(c.friction.into());
            p.softness.push(Vec3::ZERO);
            p.key.push(c.key);
            let guess = c.frame * self.forces[i] / p.force_per_lambda;
            self.solution.lambda.push(Vec3::new(guess.x.max(0.0), guess.y, guess.z));
        }
        self.joints.fill(kin, &self.controls, self.settings.scheme, p, &mut self.solution.lambda);
    }

    fn find_changed(&mut self) {
        self.changed_contacts.clear();
        let place = |k: &ContactKey| self.contacts.binary_search_by(|c| c.key.cmp(k)).ok();
        self.changed_contacts.extend(self.changed.iter().filter_map(place).map(|i| i as u32));
    }

    /// True when the velocities found lead rigid joints to where they do not hold; the problem then knows by how much.
    fn joints_are_off(&mut self, kin: Kinematics<'_>, h: f64, last: &mut f64) -> bool {
        let model = kin.model;
        if self.joints.is_empty() {
            return false;
        }
        self.look_ahead(kin, h);
        let (first, x) = (self.contacts.len(), &self.solution);
        self.joints.relinearize(self.ahead.kinematics(model), &mut self.problem, first, &x.v, &x.lambda, last)
    }

    /// Velocities by which the step moves: those found, and what pushes overlaps out.
    fn find_motion(&mut self, kin: Kinematics<'_>, h: f64) {
        let model = kin.model;
        self.v_move.clear();
        self.v_move.extend_from_slice(&self.solution.v);
        if self.leaves_overlap(kin, h) {
            self.row_slack.clear();
            let first = self.contacts.len();
            self.joints.slack(model, &self.problem, first, &self.solution.v, &mut self.row_slack);
            std::mem::swap(&mut self.problem.a, &mut self.mass);
            self.recovery.solve(&mut self.problem, &self.slack, &self.row_slack, &self.deep);
            std::mem::swap(&mut self.problem.a, &mut self.mass);
            for (v, w) in self.v_move.iter_mut().zip(&self.recovery.w) {
                *v += w;
            }
        }
    }

    /// Fills `slack`; true when some overlap is worth pushing out.
    fn leaves_overlap(&mut self, kin: Kinematics<'_>, h: f64) -> bool {
        let model = kin.model;
        let p = &self.problem;
        self.deep.clear();
        self.slack.clear();
        for (i, c) in self.contacts.iter().enumerate() {
            let c = &with_clearance(self.guard.is_some(), model, c);
            // J_n v + bias_n is the velocity of the gap, up to what `normal_bias` added.
            let u = p.j.mul_one(i, &self.solution.v).x + p.bias[i].x
                - normal_bias(self.settings.scheme, kin, c, h);
            let slack = c.gap / h + u;
            let reach = |s: ShapeId| model.shapes[s.index()].scale;
            let slop = SLOP * reach(c.key.shape_a).min(reach(c.key.shape_b)) / h;
            // Twice, so that what was pushed out to the slop is left in peace.
            if slack < -2.0 * slop {
                self.deep.push(i as u32);
            }
            self.slack.push(if slack < 0.0 {
                (slack + slop).min(0.0).max(-model.contact.recovery_speed)
            } else {
                slack
            });
        }
        !self.deep.is_empty()
    }

    fn collect_forces(&mut self, model: &Model) {
        let p = &self.problem;
        self.joints.collect(model, p, &self.solution.lambda, self.contacts.len());
        self.forces.clear();
        self.warm.entries.clear();
        for (i, c) in self.contacts.iter().enumerate() {
            let f = c.frame.transpose() * self.solution.lambda[i] * p.force_per_lambda;
            self.forces.push(f);
            self.warm.entries.push(Carried { key: c.key, force: f, point: c.point });
        }
        debug_assert!(self.warm.entries.is_sorted_by(|a, b| a.key < b.key), "contacts come sorted by key");
    }
}

impl Stepper for VelocityStepper {
    fn serves(&self, was: &Model, now: &Model) -> bool {
        Arc::ptr_eq(&was.layout, &now.layout)
            && was.shapes.is(&now.shapes)
            && was.rods.is(&now.rods)
            && was.sheets.is(&now.sheets)
            && alike(&was.bodies, &now.bodies, |a, b| (a.block, a.link) == (b.block, b.link))
            && alike(&was.springs, &now.springs, |a, b| a.ends == b.ends)
            && alike(&was.forces, &now.forces, |a, b| a.target == b.target)
            && alike(&was.joints, &now.joints, |a, b| {
                (a.a, a.b, a.blocks.len(), a.motor.is_some()) == (b.a, b.b, b.blocks.len(), b.motor.is_some())
            })
            && alike(&was.solids, &now.solids, |a, b| {
                let meshes = a.rest.is(&b.rest) && a.tets.is(&b.tets) && a.surface.is(&b.surface);
                // A consistent mass is kept pair by pair.
                let mass = !a.consistent_mass && !b.consistent_mass || Arc::ptr_eq(&a.elements, &b.elements);
                meshes && mass && a.vertices.is(&b.vertices)
            })
            // Trees over surfaces and lattices are made where they start.
            && (Arc::ptr_eq(&was.initial, &now.initial) || was.solids.is_empty() && was.rods.is_empty())
    }

    fn step(
        &mut self,
        world: World<'_>,
        frames: &mut Frames,
        memory: &mut Memory,
        h: f64,
        out: &mut StepOutput,
        trace: &mut dyn Trace,
    ) -> Result<(), StepError> {
        self.controls.clone_from(world.controls);
        memory.history.clear();
        self.exchange(memory);
        let mut now = Placement::join(std::mem::take(&mut memory.state), std::mem::take(frames));
        let done = self.step_from(world.model, &mut now, h, out, trace);
        (memory.state, *frames) = now.part();
        self.exchange(memory);
        done
    }

    fn problem(&self) -> Option<(&ContactProblem, &Solution)> {
        Some((&self.problem, &self.solution))
    }

    fn as_velocity(&mut self) -> Option<&mut VelocityStepper> {
        Some(self)
    }
}

/// Positions and velocities beyond this have squares, and so energies, that are no numbers.
const LARGEST: f64 = 1e150;
/// Linearisations end when velocities change by less than this share of the largest.
const SAME_VELOCITY: f64 = 1e-13;
/// Most times that a step looks for missed contacts and solves again.
const MOST_PASSES: usize = 2;
/// Most times that a step is solved again because rigid joints would not hold at its end.
const MOST_JOINT_PASSES: usize = 8;
/// A contact that was nearer than this share of the smaller shape to one of the same pair is the same contact.
pub(crate) const SAME_CONTACT: f64 = 0.5;

/// The contact with the gap that it is to keep taken off, in steps without intersection.
fn with_clearance(is_guarded: bool, model: &Model, c: &Contact) -> Contact {
    let kept = if is_guarded { clearance(model, c) } else { 0.0 };
    Contact { gap: c.gap - kept, ..*c }
}

/// Work adds up, the later answer counts.
fn merge(one: SolveReport, next: SolveReport) -> SolveReport {
    SolveReport {
        iterations: one.iterations + next.iterations,
        factorizations: one.factorizations + next.factorizations,
        work: one.work + next.work,
        ..next
    }
}

/// Two lists of models that are the same, or as long and the same by pairs.
fn alike<T>(was: &Table<T>, now: &Table<T>, same: impl Fn(&T, &T) -> bool) -> bool {
    was.is(now) || was.len() == now.len() && was.iter().zip(now).all(|(a, b)| same(a, b))
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| x.abs().max(m))
}

/// Where each block is at the start.
fn places(model: &Model) -> Vec<Vec3> {
    model.layout.blocks().iter().map(|b| Vec3::from_slice(&model.initial.q[b.q..])).collect()
}

pub(crate) fn check_finite(model: &Model, state: &State) -> Result<(), StepError> {
    let bad = |item: String| Err(StepError::NotFinite { item, t: state.t });
    let ok = |x: &[f64]| x.iter().all(|v| v.abs() < LARGEST);
    if ok(&state.q) && ok(&state.v) {
        return Ok(());
    }
    for b in model.bodies.iter().filter(|b| b.block.is_some()) {
        if !(ok(&state.q[b.q..b.q + 7]) && ok(&state.v[b.dof..b.dof + 6])) {
            return bad(format!("body `{}`", b.name));
        }
    }
    for n in &model.nodes {
        if !(ok(&state.q[n.q..n.q + 3]) && ok(&state.v[n.dof..n.dof + 3])) {
            return bad(format!("node `{}`", n.name));
        }
    }
    Ok(())
}
