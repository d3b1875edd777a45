//! Where the velocities found lead: contacts that were missed, and motions that run into something.

use super::VelocityStepper;
use super::rows::{driven_velocity, free_velocity};
use crate::collide::{Contact, Meeting};
use crate::contact::ContactKey;
use crate::coords::{Anchor, Pose, ShapeId, State};
use crate::integrate::advance;
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::Vec3;
use crate::model::{Model, Owner};

/// Overlaps ahead that exceed this share of the smaller shape are worth another solve.
pub(super) const MISSED: f64 = 5e-3;
/// A body that moves this share of its reach farther than assumed may meet contacts that were not looked for:
/// half of the margin within which contacts are made anyway.
const SURPRISE: f64 = 0.01;

impl VelocityStepper {
    /// Where the velocities found lead.
    pub(super) fn look_ahead(&mut self, kin: Kinematics<'_>, h: f64) {
        let Kinematics { model, state, .. } = kin;
        lead(model, state, &self.solution.v, h, &mut self.ahead);
    }

    /// True when some body ends up moving so differently from what contact detection assumed that contacts may have
    /// been missed. Marks all that may have part in them: these bodies, and those that move at all, whose contacts are
    /// linear only in the small. Once looked after, a body is looked after again where it moves differently from then.
    pub(super) fn was_surprised(&mut self, kin: Kinematics<'_>, h: f64, first: bool) -> bool {
        let Kinematics { model, state, .. } = kin;
        let fall = if first { model.gravity.length() * h } else { 0.0 };
        let allowed = if first { SURPRISE } else { MISSED };
        let (v, assumed) = (&self.solution.v, if first { &state.v } else { &self.ahead.state.v });
        let change = |dof: usize| (Vec3::from_slice(&v[dof..]) - Vec3::from_slice(&assumed[dof..])).length();
        let speed = |dof: usize| Vec3::from_slice(&v[dof..]).length();
        let far = |shape: usize, moved: f64, share: f64| h * moved > share * model.shapes[shape].scale;
        let mut any = false;
        let mut mark = |surprised: bool, moves: bool| {
            any |= surprised;
            surprised || (first && moves)
        };
        self.sought.clear();
        for b in &model.bodies {
            let reaches = |linear: f64, angular: f64, share: f64| {
                b.shapes.clone().any(|s| far(s, linear + model.shapes[s].reach * angular, share))
            };
            let sought = b.block.is_some() && {
                let surprised = reaches(change(b.dof) - fall, change(b.dof + 3), allowed);
                mark(surprised, reaches(speed(b.dof), speed(b.dof + 3), 0.5 * MISSED))
            };
            self.sought.push(sought);
        }
        for n in &model.nodes {
            let sought = n.shape.is_some_and(|s| {
                let surprised = far(s.index(), change(n.dof) - fall, allowed);
                mark(surprised, far(s.index(), speed(n.dof), 0.5 * MISSED))
            });
            self.sought.push(sought);
        }
        any
    }

    /// Looks for overlaps where the velocities found would lead, and adds them as contacts linearised there:
    /// `gap(v) ≈ gap + h n·(J v − J v_found)`. The impulses found so far become the guess for the next solve.
    pub(super) fn find_missed(&mut self, kin: Kinematics<'_>, h: f64) -> bool {
        let Kinematics { model, state, .. } = kin;
        self.collect_forces(model);
        self.look_ahead(kin, h);
        // ω at the end includes the turn of the inertia; the linearisation is about the velocities found.
        self.ahead.state.v.copy_from_slice(&self.solution.v);
        self.ahead.update(model);
        let ahead = self.ahead.kinematics(model);
        self.changed.clear();
        self.collider.seek_at(&self.sought);
        self.collider.detect(ahead, 0.0, &mut self.candidates);
        let before = self.contacts.len();
        for c in &self.candidates {
            let reach = |s: ShapeId| model.shapes[s.index()].scale;
            if c.gap > -MISSED * reach(c.key.shape_a).min(reach(c.key.shape_b)) {
                continue;
            }
            let side = |anchor: &Anchor, other: &Anchor| row_velocity(kin, ahead, anchor, other, c.point, h);
            let ((arm_a, v_a), (arm_b, v_b)) = (side(&c.a, &c.b), side(&c.b, &c.a));
            let gap = c.gap - h * c.normal().dot(v_a - v_b);
            let late = Contact { gap, ..*c };
            match self.contacts[..before].binary_search_by(|o| o.key.cmp(&c.key)) {
                Ok(i) => self.contacts[i] = late,
                Err(_) => self.contacts.push(late),
            }
            self.late.retain(|l| l.0 != c.key);
            self.late.push((c.key, Meeting { arms: [arm_a, arm_b], poses: owner_frames(ahead, &c.key) }));
            self.changed.push(c.key);
        }
        // What was passed through altogether leaves no overlap behind.
        self.collider.passed((kin, ahead), h, &mut self.candidates);
        for c in &self.candidates {
            if self.late.iter().any(|l| l.0 == c.key) {
                continue;
            }
            match self.contacts[..before].binary_search_by(|o| o.key.cmp(&c.key)) {
                Ok(i) => self.contacts[i] = *c,
                Err(_) => self.contacts.push(*c),
            }
            self.changed.push(c.key);
        }
        let there = &mut self.there.state;
        there.t = state.t;
        there.q.clone_from(&state.q);
        there.v.clone_from(&self.solution.v);
        self.there.update(model);
        self.collider.swept(self.there.kinematics(model), h, &mut self.candidates);
        for c in &self.candidates {
            let reach = |s: ShapeId| model.shapes[s.index()].scale;
            let met = self.collider.met();
            let Ok(i) = met.binary_search_by(|m| m.0.cmp(&c.key)) else { continue };
            let closing = self.collider.closing(model, c, met[i].1.arms);
            if h * closing - c.gap < MISSED * reach(c.key.shape_a).min(reach(c.key.shape_b))
                || self.late.iter().any(|l| l.0 == c.key)
            {
                continue;
            }
            self.late.push(met[i]);
            // One velocity per step: it cannot rebound from one thing and stop at the next.
            let owner = |s: ShapeId| model.shapes[s.index()].owner;
            let both = [owner(c.key.shape_a), owner(c.key.shape_b)];
            let shares =
                |o: &Contact| both.contains(&owner(o.key.shape_a)) || both.contains(&owner(o.key.shape_b));
            for o in self.contacts.iter_mut().filter(|o| shares(o)) {
                if o.restitution != 0.0 {
                    o.restitution = 0.0;
                    self.changed.push(o.key);
                }
            }
            let hard = Contact { restitution: 0.0, ..*c };
            match self.contacts[..before].binary_search_by(|o| o.key.cmp(&c.key)) {
                Ok(i) => self.contacts[i] = hard,
                Err(_) => self.contacts.push(hard),
            }
            self.changed.push(c.key);
        }
        self.collider.seek_everywhere();
        if self.changed.is_empty() {
            return false;
        }
        self.contacts.sort_unstable_by_key(|c| c.key);
        self.late.sort_unstable_by_key(|l| l.0);
        self.changed.sort_unstable();
        self.changed.dedup();
        true
    }

    /// True when the motion found runs into something (`intersection_free` only).
    pub(super) fn runs_into(&mut self, kin: Kinematics<'_>, h: f64) -> bool {
        let Kinematics { model, state, .. } = kin;
        let Some(guard) = &mut self.guard else { return false };
        lead(model, state, &self.v_move, h, &mut self.ahead);
        self.joints.project(model, &mut self.ahead);
        guard.meets(kin, self.ahead.kinematics(model))
    }

    /// Impacts of the motion found become contacts; those known already are linearised anew.
    pub(super) fn add_impacts(&mut self, model: &Model) -> usize {
        self.collect_forces(model);
        let Some(guard) = &self.guard else { return 0 };
        let before = self.contacts.len();
        for hit in &guard.hits {
            let c = hit.contact;
            self.late.retain(|l| l.0 != c.key);
            if let Some(r) = &mut self.refine {
                r.note_impact(c.key);
            }
            match self.contacts[..before].binary_search_by(|o| o.key.cmp(&c.key)) {
                Ok(i) => self.contacts[i] = c,
                Err(_) => self.contacts.push(c),
            }
        }
        self.contacts.sort_unstable_by_key(|c| c.key);
        guard.hits.len()
    }

    /// Shortens the motion of bodies that would run into something: the largest part that is missing, and the impacts left.
    pub(super) fn hold_back(&mut self, kin: Kinematics<'_>, h: f64) -> (f64, usize) {
        let Kinematics { model, state, .. } = kin;
        let Some(guard) = &mut self.guard else { return (0.0, 0) };
        let joints = &mut self.joints;
        let (kept, left) = guard.hold_back(kin, &mut self.v_move, &mut self.ahead, |v, ahead| {
            lead(model, state, v, h, ahead);
            joints.project(model, ahead);
        });
        (1.0 - kept, left)
    }
}

/// Frames of the owners of both shapes of a contact; those of solids are the world's.
pub(super) fn owner_frames(kin: Kinematics<'_>, key: &ContactKey) -> [Pose; 2] {
    [key.shape_a, key.shape_b].map(|s| match kin.model.shapes[s.index()].owner {
        Owner::Body(id) => kin.body(id).com,
        Owner::Node(id) => Pose::from_translation(kin.node_position(id)),
        Owner::Solid(_) => Pose::IDENTITY,
    })
}

/// Where a motion leads.
pub(super) fn lead(model: &Model, from: &State, v: &[f64], h: f64, ahead: &mut Placement) {
    let state = &mut ahead.state;
    state.t = from.t;
    state.q.clone_from(&from.q);
    state.v.clone_from(&from.v);
    advance(model, state, v, v, h);
    ahead.update(model);
}

/// Lever arm and velocity over the step of one side of a contact at `point`, linearised at `ahead`, whose velocities are those of
/// the way there.
pub(super) fn row_velocity(
    kin: Kinematics<'_>,
    ahead: Kinematics<'_>,
    anchor: &Anchor,
    other: &Anchor,
    point: Vec3,
    h: f64,
) -> (Vec3, Vec3) {
    let model = kin.model;
    match *anchor {
        Anchor::Body { body, .. } if model.is_free(body) => {
            let frame = ahead.body(body);
            let arm = point - frame.com.translation;
            (arm, frame.v + frame.w.cross(arm))
        }
        Anchor::Node(n) => (Vec3::ZERO, ahead.node_velocity(n)),
        Anchor::Surface { .. } => {
            let driven = driven_velocity(kin, anchor, other, h);
            (Vec3::ZERO, driven + free_velocity(ahead, anchor))
        }
        _ => (Vec3::ZERO, driven_velocity(kin, anchor, other, h)),
    }
}
