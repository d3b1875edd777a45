//! Bodies that fly: free flight of second order, and impacts that act at touch.
//!
//! The solve of the step says which contacts push. Bodies that no contact pushes are in free flight: they move by
//! `(v + v⁺)/2`, which is exact for parabolas. A group of bodies is in flight, too, if every contact that pushes it is an impact at a
//! touch time t̄ within the step ([`touch`](super::touch)). Its impacts are solved again with the velocity law at touch, and
//! it moves by
//!
//! `v_move = (v + v_s)/2 + Σ (1 − t̄/h) M⁻¹ Jᵀ λ`, `v⁺ = v_s + Σ M⁻¹ Jᵀ λ`
//!
//! with v_s the velocity after the smooth forces of the step, in both schemes. Both sides of an impact stand at the same
//! point at t̄, so that impulses keep the linear and the angular momentum of a free pair to rounding.
//!
//! A group falls back to the motion of the solve if that of its flight would leave an overlap, and everything stays
//! as solved that joints or elastic forces hold, that rests on something, or that an overlap moves.

use super::VelocityStepper;
use super::ahead::{MISSED, lead};
use super::rows::{driven_velocity, terms};
use super::touch::{After, Smooth, Touch, first_root, is_plain};
use crate::collide::Contact;
use crate::contact::{ContactProblem, Solution, Term};
use crate::coords::{BlockKind, Layout, ShapeId};
use crate::dynamics::{Slender, Solids};
use crate::integrate::Scheme;
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Vec3, dense};
use crate::model::Model;
use crate::solvers::{SolveReport, Trace};

/// Gaps that flight leaves may be below zero by this share of the smaller shape: what solvers leave.
const TOUCHING: f64 = 1e-6;

const NONE: u32 = u32::MAX;

/// An impact within the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impact {
    /// Index of its contact in the step.
    pub contact: u32,
    /// Where its sides meet.
    pub(super) touch: Touch,
    /// What follows.
    pub(super) after: After,
    /// Its impulse in the contact frame [N·s].
    pub(super) impulse: Vec3,
}

/// How a step flew: what a motion needs to be found again at another state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flown {
    /// Blocks that flew.
    pub flies: Vec<bool>,
    /// Their impacts, by contact.
    pub impacts: Vec<Impact>,
}

/// Who flies in a step; owns every buffer that this needs.
pub(super) struct Flight {
    /// Blocks that neither joints nor elastic forces hold.
    may: Vec<bool>,
    /// Blocks that fly in this step.
    flies: Vec<bool>,
    /// Lowest block of the group of each block.
    group: Vec<u32>,
    /// Groups, by their lowest blocks, of which some block does not fly.
    grounded: Vec<bool>,
    /// Contacts that meet within the step by their rows, and when [s].
    closing: Vec<(u32, f64)>,
    impacts: Vec<Impact>,
    /// Pairs of shapes that have contacts with bodies of impacts.
    pairs: Vec<(u32, u32)>,
    /// Place of each block in the problem of the impacts.
    place: Vec<u32>,
    /// Blocks of that problem, and the first touch time of each [s].
    blocks: Vec<(usize, f64)>,
    problem: ContactProblem,
    solution: Solution,
    /// Velocities of the motion and at the end of the step, by the inertia at its start.
    v_move: Vec<f64>,
    v_end: Vec<f64>,
    impulse: Vec<f64>,
}

impl Flight {
    pub fn new(model: &Model) -> Flight {
        Flight {
            may: may_fly(model),
            flies: Vec::new(),
            group: Vec::new(),
            impacts: Vec::new(),
            grounded: Vec::new(),
            closing: Vec::new(),
            pairs: Vec::new(),
            place: Vec::new(),
            blocks: Vec::new(),
            problem: ContactProblem::default(),
            solution: Solution::default(),
            v_move: Vec::new(),
            v_end: Vec::new(),
            impulse: Vec::new(),
        }
    }

    /// The group of a block.
    fn root(&mut self, block: usize) -> usize {
        let mut k = block;
        while self.group[k] as usize != k {
            self.group[k] = self.group[self.group[k] as usize];
            k = self.group[k] as usize;
        }
        k
    }

    /// Makes the blocks of a contact one group.
    fn join(&mut self, terms: &[Term]) {
        let Some(first) = terms.first() else { return };
        for t in &terms[1..] {
            let (a, b) = (self.root(first.block()), self.root(t.block()));
            self.group[a.max(b)] = a.min(b) as u32;
        }
    }

    /// True where some block of a contact flies.
    fn concerns(&self, terms: &[Term]) -> bool {
        terms.iter().any(|t| self.flies[t.block()])
    }

    /// Grounds the group of a block.
    fn ground(&mut self, block: usize) {
        let root = self.root(block);
        for k in 0..self.flies.len() {
            if self.flies[k] && self.root(k) == root {
                self.flies[k] = false;
            }
        }
    }
}

/// Blocks that neither joints nor elastic forces hold.
fn may_fly(model: &Model) -> Vec<bool> {
    let mut may = vec![true; model.layout.blocks().len()];
    for (a, b) in [Solids::pattern(model), Slender::pattern(model)].concat() {
        (may[a as usize], may[b as usize]) = (false, false);
    }
    for n in model.nodes.iter().filter(|n| n.solid.is_some()) {
        may[n.block] = false;
    }
    let links = model.bodies.iter().filter(|b| b.link.is_some());
    let joined = model.joints.iter().flat_map(|j| j.a.into_iter().chain([j.b]));
    let bodies = links.chain(joined.map(|b| &model.bodies[b.index()]));
    let sprung = model.springs.iter().flat_map(|s| s.ends.iter().flatten());
    let blocks =
        bodies.filter_map(|b| b.block).chain(sprung.filter_map(|(anchor, _)| model.block_of(anchor)));
    blocks.for_each(|b| may[b] = false);
    may
}

/// Velocity of a row by prescribed motion, in the contact frame.
fn driven(kin: Kinematics<'_>, c: &Contact, h: f64) -> Vec3 {
    c.frame * (driven_velocity(kin, &c.a, &c.b, h) - driven_velocity(kin, &c.b, &c.a, h))
}

impl VelocityStepper {
    /// Lets bodies fly that the solve of the step allows to: sets their motion, and the rows and impulses of their impacts.
    pub(super) fn fly(
        &mut self,
        kin: Kinematics<'_>,
        h: f64,
        solved: SolveReport,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        self.v_end.clone_from(&self.solution.v);
        if crate::mutant::on("no-flight") {
            return solved;
        }
        let mut flight = self.flight.take();
        let mut again = None;
        if let Some(f) = &mut flight {
            let end = std::mem::take(&mut self.smooth);
            let smooth = Smooth { kin, end: &end, h };
            f.start(self);
            f.find_groups(self, smooth);
            // Mostly everything rests on something.
            if f.flies.contains(&true) {
                f.meet(self, smooth);
                again = f.solve(self, smooth, trace);
                f.find_motion(self, smooth);
                while f.grounds_someone(self, smooth) {
                    f.keep_impacts(self);
                    f.find_motion(self, smooth);
                }
                f.apply(self, smooth);
            }
            self.smooth = end;
        }
        self.flight = flight;
        let Some(again) = again else { return solved };
        let status = if again.status.is_solved() { solved.status } else { again.status };
        SolveReport {
            iterations: solved.iterations + again.iterations,
            factorizations: solved.factorizations + again.factorizations,
            work: solved.work + again.work,
            status,
            ..solved
        }
    }
}

impl Flight {
    /// Everyone may fly who is not held, and moves as solved.
    fn start(&mut self, s: &VelocityStepper) {
        let blocks = self.may.len();
        self.flies.clone_from(&self.may);
        self.group.clear();
        self.group.extend(0..blocks as u32);
        self.impacts.clear();
        self.closing.clear();
        // What an overlap moves stays as solved.
        if !s.deep.is_empty() {
            for k in 0..blocks {
                let (at, n) = s.mass.block(k);
                self.flies[k] &= s.v_move[at..at + n] == s.solution.v[at..at + n];
            }
        }
    }

    /// Groups of bodies by the contacts that push them or meet within the step; grounds those that something else than an
    /// impact pushes. Leaves impacts with the touch times of their rows.
    fn find_groups(&mut self, s: &VelocityStepper, smooth: Smooth<'_>) {
        let Smooth { kin, end, h } = smooth;
        let Kinematics { model, state, .. } = kin;
        let midpoint = s.settings.scheme == Scheme::Midpoint;
        for (i, c) in s.contacts.iter().enumerate() {
            let row = s.problem.j.terms(i);
            if !self.concerns(row) {
                continue;
            }
            let pushes = s.solution.lambda[i] != Vec3::ZERO;
            let before = s.problem.j.mul_normal(i, &state.v);
            let u = before + driven(kin, c, h).x;
            // What touches already meets by the velocity that it has.
            let rate = if c.gap > 0.0 { (s.problem.j.mul_normal(i, end) - before) / h } else { 0.0 };
            let root = first_root(c.gap, u, rate, h);
            let meets = root.filter(|t| u + t * rate < -model.contact.restitution_threshold);
            let plain = is_plain(&c.a) && is_plain(&c.b);
            if pushes || meets.is_some() {
                self.join(row);
            }
            match meets {
                Some(t) if plain => self.closing.push((i as u32, t)),
                // A parabola may stay clear of what the step of the solve would have met. The end velocity of the midpoint rule
                // has a row for each contact that the move pushes, and so no room for that.
                _ if pushes && (midpoint || root.is_some() || c.gap <= 0.0 || !plain) => {
                    row.iter().for_each(|t| self.flies[t.block()] = false);
                }
                _ => {}
            }
        }
        // A group is grounded as a whole.
        self.grounded.clear();
        self.grounded.resize(self.flies.len(), false);
        for k in 0..self.flies.len() {
            let root = self.root(k);
            self.grounded[root] |= !self.flies[k];
        }
        for k in 0..self.flies.len() {
            let root = self.root(k);
            self.flies[k] &= !self.grounded[root];
        }
    }

    /// Finds where the sides of closing contacts meet; grounds a group if one of its contacts that push does not.
    fn meet(&mut self, s: &mut VelocityStepper, smooth: Smooth<'_>) {
        for k in 0..self.closing.len() {
            let (contact, t) = self.closing[k];
            let at = contact as usize;
            let row = s.problem.j.terms(at);
            if !self.concerns(row) {
                continue;
            }
            match Touch::find(smooth, &s.contacts[at].key, t, &mut s.collider) {
                Some(mut touch) => {
                    // A restitution that the step took away stays away.
                    touch.contact.restitution = s.contacts[at].restitution;
                    self.impacts.push(Impact {
                        contact,
                        touch,
                        after: touch.after(smooth.h),
                        impulse: Vec3::ZERO,
                    });
                }
                None if s.solution.lambda[at] != Vec3::ZERO => self.ground(row[0].block()),
                None => {}
            }
        }
        self.keep_impacts(s);
    }

    /// Drops impacts of groups that do not fly.
    fn keep_impacts(&mut self, s: &VelocityStepper) {
        let (flies, j) = (&self.flies, &s.problem.j);
        self.impacts.retain(|i| j.terms(i.contact as usize).iter().any(|t| flies[t.block()]));
    }

    /// Solves the impacts: the bodies concerned alone, with the inertia that they have where they first meet.
    fn solve(
        &mut self,
        s: &mut VelocityStepper,
        smooth: Smooth<'_>,
        trace: &mut dyn Trace,
    ) -> Option<SolveReport> {
        let Smooth { kin, end, h } = smooth;
        self.place.clear();
        self.place.resize(self.flies.len(), NONE);
        first_touches(smooth, &self.impacts, &mut self.blocks);
        let mut layout = Layout::new();
        for &(block, _) in &self.blocks {
            let rigid = s.mass.block(block).1 == 6;
            self.place[block] = layout.push(if rigid { BlockKind::Rigid } else { BlockKind::Node }) as u32;
        }
        if s.settings.scheme == Scheme::Midpoint {
            // Free flight of that scheme needs no more.
            self.flies.iter_mut().zip(&self.place).for_each(|(flies, place)| *flies &= *place != NONE);
        }
        if self.impacts.is_empty() {
            return None;
        }
        let (p, x) = (&mut self.problem, &mut self.solution);
        p.a = BlockMat::block_diagonal(&layout.widths());
        (p.h, p.force_per_lambda, p.velocity_scale) = (h, 1.0 / h, s.problem.velocity_scale);
        p.b.clear();
        p.clear_rows();
        x.v.clear();
        x.lambda.clear();
        for (k, &(block, time)) in self.blocks.iter().enumerate() {
            let (at, n) = s.mass.block(block);
            let own = s.mass.diagonal_block(block);
            // Momentum does not turn with the body.
            p.b.extend((0..n).map(|r| (0..n).map(|c| own[r * n + c] * end[at + c]).sum::<f64>()));
            let a = p.a.diagonal_block_mut(k);
            a.copy_from_slice(own);
            smooth.write_inertia(block, time, a);
            x.v.extend_from_slice(&end[at..at + n]);
        }
        let (place, blocks) = (&self.place, layout.blocks());
        for i in &self.impacts {
            let c = &i.touch.contact;
            let local = |t: Term| {
                let k = place[t.block()];
                t.in_block(k as usize, blocks[k as usize].v)
            };
            p.j.push(c.frame, terms(kin, c, Some(i.touch.arms)).into_iter().map(local));
            p.bias.push(i.touch.bias(i.after, h));
            p.law.push(c.friction.into());
            p.softness.push(Vec3::ZERO);
            p.key.push(c.key);
            x.lambda.push(Vec3::ZERO);
        }
        let solved = s.solver.solve(p, x, trace);
        if !solved.status.is_solved() {
            // Their groups stay as solved.
            for k in 0..self.blocks.len() {
                self.ground(self.blocks[k].0);
            }
            self.keep_impacts(s);
            return None;
        }
        self.impacts.iter_mut().zip(&x.lambda).for_each(|(i, l)| i.impulse = *l);
        Some(solved)
    }

    /// Velocities of the motion and at the end of the step: those of flight where blocks fly, those of the solve elsewhere.
    fn find_motion(&mut self, s: &VelocityStepper, smooth: Smooth<'_>) {
        self.v_move.clone_from(&s.v_move);
        self.v_end.clone_from(&s.solution.v);
        let out = (&mut self.v_move[..], &mut self.v_end[..]);
        fly_blocks(smooth, &s.mass, &self.flies, &self.impacts, &mut self.impulse, out);
    }

    /// Grounds the groups whose flight would leave an overlap; true if there are some.
    fn grounds_someone(&mut self, s: &mut VelocityStepper, smooth: Smooth<'_>) -> bool {
        let Smooth { kin, h, .. } = smooth;
        let model = kin.model;
        let reach = |s: ShapeId| model.shapes[s.index()].scale;
        let mut any = false;
        for (i, c) in s.contacts.iter().enumerate() {
            let row = s.problem.j.terms(i);
            if !self.concerns(row) {
                continue;
            }
            let impact = self.impacts.binary_search_by_key(&(i as u32), |i| i.contact);
            let (gap, least) = match impact.map(|at| &self.impacts[at]) {
                Ok(impact) => (impact.touch.gap_left(smooth, &self.v_move), 0.0),
                Err(_) => {
                    let u = s.problem.j.mul_one(i, &self.v_move).x + driven(kin, c, h).x;
                    (c.gap + h * u, c.gap.min(0.0))
                }
            };
            if gap < least - TOUCHING * reach(c.key.shape_a).min(reach(c.key.shape_b)) {
                any = true;
                row.iter().for_each(|t| self.ground(t.block()));
            }
        }
        any || self.turns_into_something(s, smooth)
    }

    /// The same for overlaps that turning bodies leave after an impact, which no row sees.
    fn turns_into_something(&mut self, s: &mut VelocityStepper, smooth: Smooth<'_>) -> bool {
        if self.impacts.is_empty() {
            return false;
        }
        let Smooth { kin, h, .. } = smooth;
        let Kinematics { model, state, .. } = kin;
        self.pairs.clear();
        for (i, c) in s.contacts.iter().enumerate() {
            let row = s.problem.j.terms(i);
            if row.iter().any(|t| self.flies[t.block()] && self.place[t.block()] != NONE) {
                self.pairs.push((c.key.shape_a.0, c.key.shape_b.0));
            }
        }
        self.pairs.dedup();
        lead(model, state, &self.v_move, h, &mut s.ahead);
        s.collider.detect_pairs(s.ahead.kinematics(model), &self.pairs, &mut s.candidates);
        let reach = |s: ShapeId| model.shapes[s.index()].scale;
        let mut any = false;
        for c in &s.candidates {
            let share = MISSED * reach(c.key.shape_a).min(reach(c.key.shape_b));
            let before =
                s.contacts.binary_search_by(|o| o.key.cmp(&c.key)).map_or(0.0, |at| s.contacts[at].gap);
            if c.gap < before.min(0.0) - share {
                for t in terms(s.ahead.kinematics(model), c, None) {
                    any |= self.flies[t.block()];
                    self.ground(t.block());
                }
            }
        }
        any
    }

    /// Hands motion, impulses and rows to the step.
    fn apply(&mut self, s: &mut VelocityStepper, smooth: Smooth<'_>) {
        s.v_move.clone_from(&self.v_move);
        for impact in &self.impacts {
            let c = &mut s.contacts[impact.contact as usize];
            let Contact { frame, point, friction, .. } = impact.touch.contact;
            (c.frame, c.point, c.friction) = (frame, point, friction);
        }
        if s.settings.scheme == Scheme::Midpoint {
            return;
        }
        let Smooth { kin, h, .. } = smooth;
        s.v_end.clone_from(&self.v_end);
        for k in 0..self.flies.len() {
            if !self.flies[k] {
                continue;
            }
            let (at, n) = s.mass.block(k);
            match self.place.get(k).copied().unwrap_or(NONE) {
                NONE => s.solution.v[at..at + n].copy_from_slice(&self.v_end[at..at + n]),
                place => {
                    let (from, _) = self.problem.a.block(place as usize);
                    s.solution.v[at..at + n].copy_from_slice(&self.solution.v[from..from + n]);
                    let own = self.problem.a.diagonal_block(place as usize);
                    s.problem.a.diagonal_block_mut(k).copy_from_slice(own);
                }
            }
        }
        for i in 0..s.contacts.len() {
            if !self.concerns(s.problem.j.terms(i)) {
                continue;
            }
            let impact = self.impacts.binary_search_by_key(&(i as u32), |i| i.contact);
            match impact.map(|at| &self.impacts[at]) {
                Ok(impact) => {
                    let c = &s.contacts[i];
                    s.problem.j.set(i, c.frame, terms(kin, c, Some(impact.touch.arms)));
                    s.problem.bias[i] = impact.touch.bias(impact.after, h);
                    s.problem.law[i] = c.friction.into();
                    s.solution.lambda[i] = impact.impulse;
                }
                Err(_) => {
                    // The gap at the end of the motion, over h.
                    let c = &s.contacts[i];
                    let j = &s.problem.j;
                    let u = j.mul_one(i, &self.v_move) - j.mul_one(i, &s.solution.v);
                    let bias = &mut s.problem.bias[i];
                    bias.x = driven(kin, c, h).x + (c.gap / h).max(0.0) + u.x;
                    s.solution.lambda[i] = Vec3::ZERO;
                }
            }
        }
    }

    /// How the step flew.
    pub fn flown(&self) -> Flown {
        Flown { flies: self.flies.clone(), impacts: self.impacts.clone() }
    }

    /// The problem of the impacts and its answer, if there are some.
    pub fn solved(&self) -> Option<(&ContactProblem, &Solution)> {
        (!self.impacts.is_empty()).then_some((&self.problem, &self.solution))
    }

    /// Impulse of the impact of a contact, if it is one.
    pub fn impulse_of(&self, contact: usize) -> Option<Vec3> {
        let at = self.impacts.binary_search_by_key(&(contact as u32), |i| i.contact).ok()?;
        Some(self.impacts[at].touch.contact.frame.transpose() * self.impacts[at].impulse)
    }

    /// When a contact touches within the step [s], and the arms of its impact there [m].
    pub fn touch_of(&self, contact: usize) -> Option<(f64, [Vec3; 2])> {
        if self.impacts.is_empty() {
            return None;
        }
        let at = self.impacts.binary_search_by_key(&(contact as u32), |i| i.contact).ok()?;
        let touch = &self.impacts[at].touch;
        Some((touch.time, touch.arms))
    }

    /// Overwrites the end velocities of bodies with impacts.
    pub fn write_end(&self, mass: &BlockMat, v: &mut [f64]) {
        for &(block, _) in &self.blocks {
            if self.flies[block] {
                let (at, n) = mass.block(block);
                v[at..at + n].copy_from_slice(&self.v_end[at..at + n]);
            }
        }
    }
}

/// Blocks of impacts in ascending order, with the first touch time of each [s].
pub(super) fn first_touches(smooth: Smooth<'_>, impacts: &[Impact], out: &mut Vec<(usize, f64)>) {
    out.clear();
    for i in impacts {
        for t in terms(smooth.kin, &i.touch.contact, Some(i.touch.arms)) {
            out.push((t.block(), i.touch.time));
        }
    }
    out.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    out.dedup_by_key(|(block, _)| *block);
}

/// Motion and end velocity of the blocks that fly: `v_move = (v + v_s)/2 + Σ (1 − t̄/h) M⁻¹ Jᵀ λ`, `v_end = v_s + Σ M⁻¹ Jᵀ λ`, with
/// the inertia at the start.
pub(super) fn fly_blocks(
    smooth: Smooth<'_>,
    mass: &BlockMat,
    flies: &[bool],
    impacts: &[Impact],
    impulse: &mut Vec<f64>,
    (v_move, v_end): (&mut [f64], &mut [f64]),
) {
    let Smooth { kin, end, h } = smooth;
    let state = kin.state;
    let blocks = || (0..flies.len()).filter(|&k| flies[k]).map(|k| mass.block(k));
    for (at, n) in blocks() {
        for k in at..at + n {
            v_end[k] = end[k];
            v_move[k] = 0.5 * (state.v[k] + end[k]);
        }
    }
    if impacts.is_empty() {
        return;
    }
    impulse.clear();
    impulse.resize(end.len(), 0.0);
    for i in impacts {
        let c = &i.touch.contact;
        let p = c.frame.transpose() * i.impulse;
        let left = 1.0 - i.touch.mean_time(i.after, h) / h;
        for t in terms(kin, c, Some(i.touch.arms)) {
            let (at, n) = mass.block(t.block());
            t.add_impulse(p, impulse);
            dense::solve_spd(mass.diagonal_block(t.block()), &mut impulse[at..at + n]);
            for k in at..at + n {
                v_end[k] += impulse[k];
                v_move[k] += left * impulse[k];
            }
            impulse[at..at + n].fill(0.0);
        }
    }
}
