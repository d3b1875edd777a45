//! The equations of a step at another state, for derivatives: contacts are those of the step, matched by key.

use super::VelocityStepper;
use super::ahead::lead;
use super::flight::Flown;
use super::joints::EndRow;
use super::rows::{driven_velocity, is_soft, normal_bias, terms};
use crate::collide::Contact;
use crate::contact::{ContactKey, Law};
use crate::coords::{Anchor, ShapeId};
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::{Mat3, Vec3};
use crate::model::Controls;

/// A gap below this share of the smaller shape counts as touching.
const TOUCH: f64 = 1e-6;
/// A contact of the same two bodies within this share of the smaller shape is the same contact on another feature.
const SAME_PLACE: f64 = 1e-4;
/// Normals that differ by less, for shifts of 1e-6 m, are of one smooth contact.
const SAME_NORMAL: f64 = 1e-3;

/// Turns of central differences [rad].
const TURN: f64 = 1e-5;

/// A contact as a step met it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// Gap at the start [m].
    pub gap: f64,
    /// Where it is [m].
    pub point: Vec3,
    /// Its normal.
    pub normal: Vec3,
}

/// Whether contacts are looked for at the state of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contacts {
    /// They are.
    Detect,
    /// Those of the last probe are at the same configuration and are kept.
    Keep,
}

/// Left-hand sides of the equations of a step at given velocities and impulses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    /// A v − b − Jᵀ λ.
    pub momentum: Vec<f64>,
    /// J v + bias + softness λ of each contact and joint; nothing where the contact is not found at that state.
    pub velocity: Vec<Option<Vec3>>,
    /// Their laws.
    pub law: Vec<Option<Law>>,
}

impl VelocityStepper {
    /// Keys of the contacts that were found ahead in time in the last step.
    pub(crate) fn late_keys(&self) -> Vec<ContactKey> {
        self.late.iter().map(|l| l.0).collect()
    }

    /// True where joints stiffened their bodies in the last step.
    pub(crate) fn joints_are_taut(&self) -> bool {
        self.joints.are_taut()
    }

    /// Rows of joints that hold at the end of the last step, which began at `state`.
    pub(crate) fn joint_end_rows(&mut self, kin: Kinematics<'_>, h: f64) -> Vec<EndRow> {
        let Kinematics { model, state, .. } = kin;
        if self.joints.is_empty() {
            return Vec::new();
        }
        let turns = self.turns_by_spin(kin, h);
        lead(model, state, &self.solution.v, h, &mut self.ahead);
        self.joints.end_rows(self.ahead.kinematics(model), &turns, self.problem.key.len())
    }

    /// By how much more each block is turned at the end of a step per change of its spin, over h: not quite the identity, since
    /// bodies turn as free tops do. By central differences.
    fn turns_by_spin(&mut self, kin: Kinematics<'_>, h: f64) -> Vec<Mat3> {
        let Kinematics { model, state, .. } = kin;
        let blocks = model.layout.blocks();
        let e = TURN / h;
        let mut v = self.solution.v.clone();
        let mut columns = vec![[Vec3::ZERO; 3]; blocks.len()];
        let mut d = vec![0.0; v.len()];
        for k in 0..3 {
            let [up, down] = [e, -e].map(|e| {
                let spins = blocks.iter().filter(|b| b.nv == 6).map(|b| b.v + 3 + k);
                spins.for_each(|i| v[i] = self.solution.v[i] + e);
                let mut end = Placement::default();
                lead(model, state, &v, h, &mut end);
                v.clone_from(&self.solution.v);
                end.state
            });
            up.difference(&down, &model.layout, &mut d);
            for (b, columns) in blocks.iter().zip(&mut columns).filter(|(b, _)| b.nv == 6) {
                columns[k] = Vec3::from_slice(&d[b.v + 3..]) / (2.0 * TURN);
            }
        }
        columns.into_iter().map(|[a, b, c]| Mat3::from_cols(a, b, c)).collect()
    }

    /// What is commanded in the steps that are to be probed.
    pub(crate) fn set_controls(&mut self, controls: &Controls) {
        self.controls.clone_from(controls);
    }

    /// Angles of the joints at the start of the step that is to be probed.
    pub(crate) fn set_joint_angles(&mut self, angles: &[f64]) {
        self.joints.set_angles(angles);
    }

    /// Poses the equations at `state` and evaluates them at `v` and `lambda`, contact by contact as `keys` say; those in `late`
    /// are looked for where `v` leads. `met` says how the step met them. Where a contact passes from
    /// one face to the next its key changes, though gap and normal do not jump: the nearest contact of the same two bodies that
    /// has no other key of the step is then the same one. `contacts` says whether they are looked for.
    pub(crate) fn probe(
        &mut self,
        kin: Kinematics<'_>,
        h: f64,
        (v, lambda): (&[f64], &[Vec3]),
        (keys, late, met): (&[ContactKey], &[ContactKey], &[Met]),
        contacts: Contacts,
        flown: &Flown,
    ) -> Probe {
        let Kinematics { model, state, .. } = kin;
        self.linearize(kin, h);
        let impacts = self.find_impacts((kin, h), keys, flown);
        self.turn_inertia_to_touch((kin, h), &impacts);
        if contacts == Contacts::Detect {
            self.collider.detect(kin, h, &mut self.contacts);
        }
        lead(model, state, v, h, &mut self.ahead);
        if late.is_empty() {
            self.candidates.clear();
        } else if contacts == Contacts::Detect {
            self.ahead.state.v.copy_from_slice(v);
            self.ahead.update(model);
            self.collider.detect(self.ahead.kinematics(model), 0.0, &mut self.candidates);
        }
        let find = |list: &[Contact], key: &ContactKey| -> Option<Contact> {
            list.binary_search_by(|c| c.key.cmp(key)).ok().map(|i| list[i])
        };
        let nearest = |list: &[Contact], key: &ContactKey, met: &Met| -> Option<Contact> {
            let owners = |k: &ContactKey| {
                let owner = |s: ShapeId| model.whole(model.shapes[s.index()].owner);
                (owner(k.shape_a), owner(k.shape_b))
            };
            let reach = |s: ShapeId| model.shapes[s.index()].scale;
            let near = SAME_PLACE * reach(key.shape_a).min(reach(key.shape_b));
            let others = list.iter().filter(|c| owners(&c.key) == owners(key) && !keys.contains(&c.key));
            let off = |c: &Contact| c.point.distance(met.point);
            let best = others.min_by(|a, b| off(a).total_cmp(&off(b)))?;
            // Where the normal jumps it is another contact.
            let same = off(best) < near && best.normal().distance(met.normal) < SAME_NORMAL;
            same.then_some(*best)
        };
        let ahead = self.ahead.kinematics(model);
        let mut out = Probe { momentum: vec![0.0; v.len()], ..Probe::default() };
        self.problem.a.mul(v, &mut out.momentum);
        for (x, b) in out.momentum.iter_mut().zip(&self.problem.b) {
            *x -= b;
        }
        for (at, ((key, met), lambda)) in keys.iter().zip(met).zip(lambda).enumerate() {
            if let Some(i) = impacts.iter().find(|i| i.contact as usize == at) {
                let c = &i.touch.contact;
                let mut u = i.touch.bias(i.after, h);
                for t in terms(kin, c, Some(i.touch.arms)) {
                    u += c.frame * t.velocity(v);
                    t.add_impulse(-(c.frame.transpose() * *lambda), &mut out.momentum);
                }
                out.velocity.push(Some(u));
                out.law.push(Some(c.friction.into()));
                continue;
            }
            let is_late = late.contains(key);
            let list = if is_late { &self.candidates } else { &self.contacts };
            let Some(c) = find(list, key).or_else(|| nearest(list, key, met)) else {
                out.velocity.push(None);
                out.law.push(None);
                continue;
            };
            let arms = is_late.then(|| {
                [&c.a, &c.b].map(|anchor| match *anchor {
                    Anchor::Body { body, .. } if model.is_free(body) => {
                        c.point - ahead.body(body).com.translation
                    }
                    _ => Vec3::ZERO,
                })
            });
            let mut u = c.frame * (driven_velocity(kin, &c.a, &c.b, h) - driven_velocity(kin, &c.b, &c.a, h));
            let p = c.frame.transpose() * *lambda;
            for t in terms(kin, &c, arms) {
                u += c.frame * t.velocity(v);
                t.add_impulse(-p, &mut out.momentum);
            }
            if is_late {
                // Linearised there: what counts is the gap that the step leaves.
                u.x = c.gap / h;
            } else {
                let bias = normal_bias(self.settings.scheme, kin, &c, h);
                let reach = |s: ShapeId| model.shapes[s.index()].scale;
                let held = met.gap >= -TOUCH * reach(key.shape_a).min(reach(key.shape_b));
                // max(gap, 0) has a kink: all states take the branch of the step itself.
                let rigid = !is_soft(model, &c.a) && !is_soft(model, &c.b);
                u.x += match rigid && bias == (c.gap / h).max(0.0) {
                    true if held => c.gap / h,
                    true => 0.0,
                    false => bias,
                };
            }
            out.velocity.push(Some(u));
            out.law.push(Some(c.friction.into()));
        }
        self.probe_joints(kin, (v, &lambda[keys.len()..]), &mut out);
        out
    }

    /// Adds what joints say; `ahead` is where `v` leads.
    fn probe_joints(&mut self, kin: Kinematics<'_>, (v, lambda): (&[f64], &[Vec3]), out: &mut Probe) {
        let model = kin.model;
        let p = &mut self.problem;
        p.clear_rows();
        self.solution.lambda.clear();
        self.joints.fill(kin, &self.controls, self.settings.scheme, p, &mut self.solution.lambda);
        let mut u: Vec<Vec3> = (0..p.contacts()).map(|c| p.j.mul_one(c, v) + p.bias[c]).collect();
        self.joints.end_errors(self.ahead.kinematics(model), p, &mut u);
        for (c, u) in u.iter().enumerate() {
            for t in p.j.terms(c) {
                t.add_impulse(-(p.j.frame[c].transpose() * lambda[c]), &mut out.momentum);
            }
            out.velocity.push(Some(*u + p.softness[c] * lambda[c]));
            out.law.push(Some(p.law[c]));
        }
    }
}
