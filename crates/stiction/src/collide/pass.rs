//! Contacts of rigid shapes that move so fast that they could pass each other within the step.

use super::impact::{Moving, closing_speed, time_of_impact};
use super::rigid::{SAME_PLACE, Worker, finite, merge, name, owner_index, thickness};
use super::touch::Touch;
use super::{Collider, Contact, Meeting};
use crate::contact::ContactKey;
use crate::coords::{Pose, ShapeId};
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::{Model, Owner};

/// Shapes that come within this share of their size have met.
const TOUCHING: f64 = 1e-3;

impl Collider {
    /// Contacts of rigid shapes that would pass each other within `h` seconds, moving from `state` by its velocities;
    /// sorted by key. They are linearised at that state, with the normals that they have where they meet.
    pub fn swept(&mut self, kin: Kinematics<'_>, h: f64, contacts: &mut Vec<Contact>) {
        let model = kin.model;
        self.place(kin, h);
        self.find_pairs(model, h);
        contacts.clear();
        let mut worker = std::mem::take(&mut self.workers[0]);
        worker.contacts.clear();
        worker.met.clear();
        for &(a, b) in &self.pairs {
            self.pass(model, h, (a as usize, b as usize), &mut worker);
        }
        worker.contacts.sort_unstable_by_key(|c| c.key);
        contacts.extend_from_slice(&worker.contacts);
        self.met.clear();
        self.met.extend_from_slice(&worker.met);
        self.met.sort_unstable_by_key(|m| m.0);
        self.workers[0] = worker;
    }

    /// Contacts of the last search that were found on the way of fast shapes, by key, and where both sides meet.
    pub fn met(&self) -> &[(ContactKey, Meeting)] {
        &self.met
    }

    /// How fast the two sides of such a contact approach each other [m/s], as placed in the last search.
    pub fn closing(&self, model: &Model, c: &Contact, arms: [Vec3; 2]) -> f64 {
        let speed = |s: ShapeId, arm: Vec3| {
            let f = &self.frames[owner_index(model, model.shapes[s.index()].owner)];
            f.v + f.w.cross(arm)
        };
        c.normal().dot(speed(c.key.shape_b, arms[1]) - speed(c.key.shape_a, arms[0]))
    }

    /// Contacts of shapes that move so fast that they could pass each other within the step: where they first meet,
    /// with the normals and lever arms that they have there. False where there are none.
    pub(super) fn pass(&self, model: &Model, h: f64, (a, b): (usize, usize), worker: &mut Worker) -> bool {
        let moving = |k: usize| {
            let s = &model.shapes[k];
            let f = &self.frames[owner_index(model, s.owner)];
            Moving { shape: &s.geometry, frame: f.pose, local: &s.local, v: f.v, w: f.w, reach: s.reach }
        };
        let (one, two) = (moving(a), moving(b));
        // Surfaces of solids are followed node by node (`passed`).
        let soft = |k: usize| matches!(model.whole(model.shapes[k].owner), Owner::Solid(_));
        if soft(a) || soft(b) || h * closing_speed(&one, &two) <= self.thin[a] + self.thin[b] {
            return false;
        }
        let size = finite(self.sizes[a].min(self.sizes[b]));
        let touch = TOUCHING * size + thickness(model, (a, b));
        let Some(s) = time_of_impact(&one, &two, h, touch) else { return false };
        let first = worker
            .contacts
            .iter()
            .rposition(|c| (c.key.shape_a, c.key.shape_b) != (ShapeId(a as u32), ShapeId(b as u32)));
        let first = first.map_or(0, |k| k + 1);
        let (pose_a, pose_b) = (one.at(s), two.at(s));
        self.touch(model, (a, &pose_a), (b, &pose_b), size, 2.0 * touch, worker);
        // gap(u) = gap_s + s J (u − u₀) + (h − s) J u = (gap_s − s J u₀) + h J u, with the arms of the meeting.
        let arms = |t: &Touch| {
            let arm = |m: &Moving<'_>, pose: &Pose, p: Vec3| {
                pose.transform_point(p) - m.frame.translation - m.v * s
            };
            [arm(&one, &pose_a, t.p1), arm(&two, &pose_b, t.p2)]
        };
        let touches = &mut worker.scratch.touches;
        for t in touches.iter_mut() {
            let [ra, rb] = arms(t);
            t.gap -= s * t.n.dot(one.v + one.w.cross(ra) - two.v - two.w.cross(rb));
        }
        touches.retain(|t| t.gap > 0.0);
        merge(touches, SAME_PLACE * size);
        name(touches);
        // A feature that was predicted from afar has its better normal now.
        let Worker { scratch, contacts, .. } = worker;
        let mut k = first;
        while k < contacts.len() {
            let name = (contacts[k].key.feature_a, contacts[k].key.feature_b);
            match scratch.touches.iter().any(|t| (t.f1, t.f2) == name) {
                true => drop(contacts.swap_remove(k)),
                false => k += 1,
            }
        }
        let found = !scratch.touches.is_empty();
        let fresh = worker.contacts.len();
        self.push(model, (a, &pose_a), (b, &pose_b), worker);
        let poses = [one.frame_at(s), two.frame_at(s)];
        for (t, c) in worker.scratch.touches.iter().zip(&worker.contacts[fresh..]) {
            worker.met.push((c.key, Meeting { arms: arms(t), poses }));
        }
        found
    }
}
