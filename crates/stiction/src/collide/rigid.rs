//! The collider: from a state to contacts, sorted by key. Rigid shapes and particles here, soft surfaces in `surface`.
//!
//! Nothing is remembered from one call to the next but buffers and lists of what may be near, which are asked again, so the
//! same state gives the same contacts, bit for bit, whatever was detected before and on however many threads.

use super::broad::Bounds;
use super::loose::Loose;
use super::manifold::{Outline, reduce};
use super::material::{Material, rule};
use super::narrow::{Order, touches};
use super::solid::{Solid, feature};
use super::surface::Surfaces;
use super::touch::{Scratch, Touch};
use super::{Contact, Meeting};
use crate::contact::ContactKey;
use crate::coords::{Anchor, BodyId, NodeId, Pose, ShapeId};
use crate::kinematics::{BodyFrame, Kinematics};
use crate::linalg::parallel::prelude::*;
use crate::linalg::{Mat3, Vec3};
use crate::model::{Manifold, Model, ModelShape, Owner};

/// The margin where the scene gives none, as a share of the smaller shape's size.
const MARGIN: f64 = 0.02;
/// Contacts are not predicted farther than this many times the reach of both shapes: beyond, the normal of two
/// convex shapes says little about where they will meet.
const FARTHEST: f64 = 2.0;
/// Touches of a pair nearer to each other than this share of its size, with the same normal, are one.
pub(super) const SAME_PLACE: f64 = 1e-9;
/// Pairs that one thread takes at a time.
const CHUNK: usize = 64;
/// From this many pairs on the work is shared out.
const PARALLEL: usize = 256;

/// Finds contacts; owns its buffers.
pub struct Collider {
    solids: Vec<Solid>,
    /// Centre and half extents of each shape in its frame; infinite for planes.
    boxes: Vec<(Vec3, Vec3)>,
    /// The length by which margins of each shape are measured [m].
    pub(super) sizes: Vec<f64>,
    /// Half of the smallest extent of each shape [m]: what moves less within a step cannot pass it.
    pub(super) thin: Vec<f64>,
    pub(super) frames: Vec<Frame>,
    pub(super) poses: Vec<Pose>,
    /// Of shapes that have an end.
    bounds: Vec<Bounds>,
    /// Where the bounds of each shape stand.
    places: Vec<u32>,
    loose: Loose,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) workers: Vec<Worker>,
    surfaces: Surfaces,
    /// Contacts that were found on the way, and where; sorted by key.
    pub(super) met: Vec<(ContactKey, Meeting)>,
    /// Bodies that sleep; nobody where it is empty.
    asleep: Vec<bool>,
    /// Owners one of whom a pair must have; any where it is empty.
    among: Vec<bool>,
}

/// Where an owner is and how it moves within the step.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub pose: Pose,
    pub v: Vec3,
    pub w: Vec3,
    moves_freely: bool,
    sleeps: bool,
}

/// Buffers of one share of the pairs.
#[derive(Default)]
pub(super) struct Worker {
    pub scratch: Scratch,
    outline: Outline,
    pub contacts: Vec<Contact>,
    pub met: Vec<(ContactKey, Meeting)>,
}

impl Collider {
    /// The shapes of a model in the form that detection wants, and the lengths of their margins [m].
    pub(super) fn solids(model: &Model) -> (Vec<Solid>, Vec<f64>) {
        let solids: Vec<Solid> = model.shapes.iter().map(Solid::new).collect();
        let mut sizes: Vec<f64> = solids.iter().map(Solid::size).collect();
        // A point has no size of its own: that of the smallest shape of the scene serves.
        let smallest =
            sizes.iter().copied().filter(|s| *s > 0.0 && s.is_finite()).fold(f64::INFINITY, f64::min);
        for (s, shape) in sizes.iter_mut().zip(&model.shapes) {
            if *s == 0.0 {
                *s = if shape.scale > 0.0 { shape.scale } else { smallest };
            }
        }
        (solids, sizes)
    }

    /// For one model.
    pub fn new(model: &Model) -> Collider {
        let (solids, sizes) = Collider::solids(model);
        let thin = |s: &ModelShape| match s.reach.is_finite() {
            true => s.geometry.compute_local_aabb().half_extents().min_element(),
            false => f64::INFINITY,
        };
        let thin = model.shapes.iter().map(thin).collect();
        let boxes = model
            .shapes
            .iter()
            .map(|s| match s.reach.is_finite() {
                true => {
                    let b = s.geometry.compute_local_aabb();
                    (b.center(), b.half_extents())
                }
                false => (Vec3::ZERO, Vec3::INFINITY),
            })
            .collect();
        let surfaces = Surfaces::new(model, &solids, &sizes);
        let mut place = 0;
        let mut next = |s: &ModelShape| {
            place += u32::from(s.reach.is_finite());
            place.saturating_sub(1)
        };
        let places = model.shapes.iter().map(&mut next).collect();
        Collider {
            surfaces,
            solids,
            boxes,
            sizes,
            thin,
            frames: Vec::new(),
            poses: Vec::new(),
            bounds: Vec::new(),
            places,
            loose: Loose::default(),
            pairs: Vec::new(),
            workers: vec![Worker::default()],
            met: Vec::new(),
            asleep: Vec::new(),
            among: Vec::new(),
        }
    }

    /// Says which bodies sleep, in their order: no contacts are sought among them and what does not move.
    pub fn set_asleep(&mut self, asleep: impl Iterator<Item = bool>) {
        self.asleep.clear();
        self.asleep.extend(asleep);
    }

    /// Seeks contacts of rigid shapes and particles only where one of these bodies or nodes takes part (bodies first, in
    /// their order, then nodes), until [`seek_everywhere`](Collider::seek_everywhere).
    pub fn seek_at(&mut self, owners: &[bool]) {
        self.among.clear();
        self.among.extend_from_slice(owners);
    }

    /// Seeks contacts of everything with everything.
    pub fn seek_everywhere(&mut self) {
        self.among.clear();
    }

    /// All contacts that may act within the next `h` seconds, sorted by key.
    ///
    /// A contact is made where the gap is below the margin plus what the two points, by their present velocities and
    /// gravity, can close within the step.
    pub fn detect(&mut self, kin: Kinematics<'_>, h: f64, contacts: &mut Vec<Contact>) {
        let model = kin.model;
        self.place(kin, h);
        self.find_pairs(model, h);
        contacts.clear();
        self.met.clear();

        let mut workers = std::mem::take(&mut self.workers);
        if self.pairs.len() < PARALLEL {
            self.run(model, h, &self.pairs, &mut workers[0]);
            contacts.extend_from_slice(&workers[0].contacts);
            self.met.extend_from_slice(&workers[0].met);
        } else {
            let shares = self.pairs.len().div_ceil(CHUNK);
            if workers.len() < shares {
                workers.resize_with(shares, Worker::default);
            }
            workers[..shares]
                .par_iter_mut()
                .zip(self.pairs.par_chunks(CHUNK))
                .for_each(|(worker, pairs)| self.run(model, h, pairs, worker));
            for worker in &workers[..shares] {
                contacts.extend_from_slice(&worker.contacts);
                self.met.extend_from_slice(&worker.met);
            }
        }
        self.workers = workers;
        self.met.sort_unstable_by_key(|m| m.0);
        let rigid = contacts.len();
        self.surfaces.detect(kin, h, contacts);
        if contacts.len() > rigid {
            contacts.sort_unstable_by_key(|c| c.key);
        }
        debug_assert!(contacts.is_sorted_by(|a, b| a.key < b.key), "keys are sorted and unique");
    }

    /// Contacts of these pairs of rigid shapes (sorted, the first of each the lower one) as they are at a state, sorted by key.
    pub fn detect_pairs(&mut self, kin: Kinematics<'_>, pairs: &[(u32, u32)], contacts: &mut Vec<Contact>) {
        let model = kin.model;
        contacts.clear();
        if pairs.is_empty() {
            return;
        }
        self.place(kin, 0.0);
        let mut workers = std::mem::take(&mut self.workers);
        self.run(model, 0.0, pairs, &mut workers[0]);
        contacts.extend_from_slice(&workers[0].contacts);
        self.workers = workers;
    }

    /// The contact of this name where the shapes of its pair have these poses; nothing where it does not exist there. Its anchors
    /// are in the frames of the bodies.
    pub(crate) fn between(&mut self, model: &Model, key: &ContactKey, poses: [Pose; 2]) -> Option<Contact> {
        let (a, b) = (key.shape_a.index(), key.shape_b.index());
        let size = finite(self.sizes[a].min(self.sizes[b]));
        let margin = model.contact.margin.unwrap_or(MARGIN * size) + thickness(model, (a, b));
        let mut worker = std::mem::take(&mut self.workers[0]);
        worker.contacts.clear();
        self.touch(model, (a, &poses[0]), (b, &poses[1]), size, margin, &mut worker);
        let touches = &mut worker.scratch.touches;
        touches.retain(|t| t.gap <= margin);
        merge(touches, SAME_PLACE * size);
        name(touches);
        self.push(model, (a, &poses[0]), (b, &poses[1]), &mut worker);
        let found = worker.contacts.iter().find(|c| c.key == *key).copied();
        self.workers[0] = worker;
        found
    }

    /// Contacts of soft surfaces through which vertices pass on straight ways from one state to another, `h` seconds later,
    /// sorted by key. They are linearised at the first state, with the normals that they have where they meet.
    pub fn passed(
        &mut self,
        (kin, ahead): (Kinematics<'_>, Kinematics<'_>),
        h: f64,
        contacts: &mut Vec<Contact>,
    ) {
        contacts.clear();
        self.surfaces.passed((kin, ahead), h, contacts);
    }

    /// Frames of owners and poses of shapes.
    pub(super) fn place(&mut self, kin: Kinematics<'_>, h: f64) {
        let Kinematics { model, state, .. } = kin;
        self.frames.clear();
        for (i, b) in model.bodies.iter().enumerate() {
            let id = BodyId(i as u32);
            let BodyFrame { com: pose, mut v, w } = *kin.body(id);
            if b.block.is_none() && h > 0.0 {
                // Where its path leads, whatever happens at a key within the step.
                v = (b.motion.pose_at(&b.start, state.t + h).translation
                    - b.motion.pose_at(&b.start, state.t).translation)
                    / h;
            }
            let sleeps = self.asleep.get(i).copied().unwrap_or(false);
            self.frames.push(Frame { pose, v, w, moves_freely: b.block.is_some() && !sleeps, sleeps });
        }
        for i in 0..model.nodes.len() {
            let id = NodeId(i as u32);
            let pose = Pose::from_translation(kin.node_position(id));
            let v = kin.node_velocity(id);
            self.frames.push(Frame { pose, v, w: Vec3::ZERO, moves_freely: true, sleeps: false });
        }
        self.poses.clear();
        for s in &model.shapes {
            self.poses.push(self.frames[owner_index(model, s.owner)].pose * s.local);
        }
    }

    /// Pairs of shapes that come near each other within the step, sorted.
    pub(super) fn find_pairs(&mut self, model: &Model, h: f64) {
        let Collider { bounds, places, loose, pairs, frames, poses, boxes, sizes, among, .. } = self;
        bounds.clear();
        pairs.clear();
        let fall = model.gravity.length() * h * h;
        for (i, s) in model.shapes.iter().enumerate() {
            if !s.reach.is_finite() {
                continue;
            }
            let f = &frames[owner_index(model, s.owner)];
            let r = Mat3::from_quat(poses[i].rotation);
            let (centre, half) = boxes[i];
            let centre = poses[i].transform_point(centre);
            let half = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z;
            // Half of the margin each, what it turns, what gravity adds, and where it goes.
            let margin = model.contact.margin.unwrap_or(MARGIN * finite(sizes[i])) + model.contact.thickness;
            let grow = 0.5 * margin + s.reach * f.w.length() * h + fall;
            let (half, travel) = (half + Vec3::splat(grow), f.v * h);
            let (min, max) = (centre - half, centre + half);
            let (min, max) = (min.min(min + travel), max.max(max + travel));
            bounds.push(Bounds { min, max, shape: i as u32 });
        }
        let owner = |shape: u32| model.shapes[shape as usize].owner;
        let frame = |o| &frames[owner_index(model, o)];
        let may_meet = |a, b| {
            let (a, b) = (owner(a), owner(b));
            a != b
                && !both_soft(model, a, b)
                && !model.are_near_links(a, b)
                && rule(model, a, b).is_none_or(|r| r.collide)
                && model.masks_allow(a, b)
        };
        let sought = |o| among.is_empty() || among[owner_index(model, o)];
        let is_wanted = |a, b| {
            let (a, b) = (owner(a), owner(b));
            let free = |o| frame(o).moves_freely;
            // A driven body wakes who sleeps on it.
            let stirs = |a, b| {
                let (one, two) = (frame(a), frame(b));
                one.sleeps && !two.sleeps && (two.v != Vec3::ZERO || two.w != Vec3::ZERO)
            };
            (sought(a) || sought(b)) && (free(a) || free(b) || stirs(a, b) || stirs(b, a))
        };
        let way = |shape| frame(owner(shape)).v * h;
        let bounds_of = |shape: u32| &bounds[places[shape as usize] as usize];
        let meet = |&&(a, b): &&(u32, u32)| is_wanted(a, b) && bounds_of(a).meets(bounds_of(b));
        pairs.extend(loose.pairs(bounds, way, may_meet).iter().filter(meet));
        // Planes have no box: a sphere about each centre of mass against the half-space.
        for (i, plane) in model.shapes.iter().enumerate().filter(|(_, s)| !s.reach.is_finite()) {
            let n = poses[i].rotation * Vec3::Z;
            for (j, s) in
                model.shapes.iter().enumerate().filter(|(_, s)| sought(s.owner) || sought(plane.owner))
            {
                let f = &frames[owner_index(model, s.owner)];
                let height = n.dot(f.pose.translation - poses[i].translation) - s.reach;
                let near = s.reach.is_finite() && height <= prediction(model, h, sizes, frames, (i, j)).0;
                let (a, b) = (i.min(j) as u32, i.max(j) as u32);
                if near && may_meet(a, b) && is_wanted(a, b) {
                    pairs.push((a, b));
                }
            }
        }
        pairs.sort_unstable();
    }

    /// Contacts of some pairs, in order.
    fn run(&self, model: &Model, h: f64, pairs: &[(u32, u32)], worker: &mut Worker) {
        worker.contacts.clear();
        worker.met.clear();
        for &(a, b) in pairs {
            self.pair(model, h, (a as usize, b as usize), worker);
        }
    }

    fn pair(&self, model: &Model, h: f64, (a, b): (usize, usize), worker: &mut Worker) {
        let (sa, sb) = (&model.shapes[a], &model.shapes[b]);
        let (pose_a, pose_b) = (&self.poses[a], &self.poses[b]);
        let (reach, margin) = prediction(model, h, &self.sizes, &self.frames, (a, b));
        let size = finite(self.sizes[a].min(self.sizes[b]));
        let first = worker.contacts.len();
        self.touch(model, (a, pose_a), (b, pose_b), size, reach, worker);
        let touches = &mut worker.scratch.touches;
        let (fa, fb) =
            (&self.frames[owner_index(model, sa.owner)], &self.frames[owner_index(model, sb.owner)]);
        touches.retain(|t| t.gap <= margin || t.gap <= margin + closing(t, (fa, pose_a), (fb, pose_b), h));
        merge(touches, SAME_PLACE * size);
        name(touches);
        if model.contact.manifold == Manifold::Corners && touches.len() > 2 {
            reduce(touches, pose_a, size, &mut worker.outline);
            touches.sort_unstable_by_key(|t| (t.f1, t.f2));
        }
        let near = touches.iter().any(|t| t.gap <= margin);
        self.push(model, (a, pose_a), (b, pose_b), worker);
        if !near && self.pass(model, h, (a, b), worker) {
            worker.contacts[first..].sort_unstable_by_key(|c| c.key);
        }
    }

    /// Touches of two shapes at given poses, with side 1 of shape a, normals in world axes from b to a, and gaps less the
    /// thickness.
    pub(super) fn touch(
        &self,
        model: &Model,
        (a, pose_a): (usize, &Pose),
        (b, pose_b): (usize, &Pose),
        size: f64,
        reach: f64,
        worker: &mut Worker,
    ) {
        let order = touches(
            (&self.solids[a], &model.shapes[a].geometry, pose_a),
            (&self.solids[b], &model.shapes[b].geometry, pose_b),
            size,
            reach,
            &mut worker.scratch,
        );
        let thickness = thickness(model, (a, b));
        for t in worker.scratch.touches.iter_mut() {
            *t = match order {
                Order::AsGiven => Touch { n: pose_a.rotation * t.n, ..*t },
                Order::Swapped => {
                    Touch { p1: t.p2, p2: t.p1, n: pose_b.rotation * -t.n, gap: t.gap, f1: t.f2, f2: t.f1 }
                }
            };
            t.gap -= thickness;
        }
    }

    /// The touches of a pair become contacts.
    pub(super) fn push(
        &self,
        model: &Model,
        (a, pose_a): (usize, &Pose),
        (b, pose_b): (usize, &Pose),
        worker: &mut Worker,
    ) {
        let (sa, sb) = (&model.shapes[a], &model.shapes[b]);
        let Worker { scratch, contacts, .. } = worker;
        if scratch.touches.is_empty() {
            return;
        }
        let material = Material::new(model, (sa, pose_a.rotation), (sb, pose_b.rotation));
        for t in &scratch.touches {
            let (frame, friction) = material.at(t.n);
            contacts.push(Contact {
                key: ContactKey {
                    shape_a: ShapeId(a as u32),
                    shape_b: ShapeId(b as u32),
                    feature_a: t.f1,
                    feature_b: t.f2,
                },
                a: anchor(sa.owner, sa.local.transform_point(t.p1)),
                b: anchor(sb.owner, sb.local.transform_point(t.p2)),
                point: 0.5 * (pose_a.transform_point(t.p1) + pose_b.transform_point(t.p2)),
                frame,
                gap: t.gap,
                friction,
                restitution: material.restitution,
            });
        }
    }
}

/// Distance that the surfaces of a pair keep [m]; nodes of solids have their own.
pub(super) fn thickness(model: &Model, (a, b): (usize, usize)) -> f64 {
    let soft = |k: usize| matches!(model.whole(model.shapes[k].owner), Owner::Solid(_));
    if soft(a) || soft(b) { 0.0 } else { model.contact.thickness }
}

/// How far apart [m] two shapes may be and still touch within the step, by an upper bound of their approach; and
/// that for points which do not approach at all.
fn prediction(model: &Model, h: f64, sizes: &[f64], frames: &[Frame], (i, j): (usize, usize)) -> (f64, f64) {
    let (a, b) = (&model.shapes[i], &model.shapes[j]);
    let (fa, fb) = (&frames[owner_index(model, a.owner)], &frames[owner_index(model, b.owner)]);
    let margin = model.contact.margin.unwrap_or(MARGIN * finite(sizes[i].min(sizes[j])));
    let thickness = thickness(model, (i, j));
    let margin = margin + model.gravity.length() * h * h;
    // Velocity that a turning plane has below the other shape; about its own centre for any other.
    let arm = fb.pose.translation - fa.pose.translation;
    let (ra, rb) = (finite(a.reach), finite(b.reach));
    let (wa, wb) = (fa.w.length(), fb.w.length());
    let (dv, turn, farthest) = match (a.reach.is_finite(), b.reach.is_finite()) {
        (true, true) => (fa.v - fb.v, ra * wa + rb * wb, FARTHEST * (ra + rb)),
        (false, _) => (fa.v + fa.w.cross(arm) - fb.v, rb * (wa + wb), f64::INFINITY),
        (_, false) => (fb.v - fb.w.cross(arm) - fa.v, ra * (wa + wb), f64::INFINITY),
    };
    (thickness + margin + (h * (dv.length() + turn)).min(farthest), margin)
}

/// What the points of a touch can close within the step [m]: by their velocities, and by the turning of those.
fn closing(t: &Touch, (fa, pose_a): (&Frame, &Pose), (fb, pose_b): (&Frame, &Pose), h: f64) -> f64 {
    let (ra, rb) = (
        pose_a.transform_point(t.p1) - fa.pose.translation,
        pose_b.transform_point(t.p2) - fb.pose.translation,
    );
    let speed = t.n.dot(fb.v + fb.w.cross(rb) - fa.v - fa.w.cross(ra));
    let turning = fa.w.length_squared() * ra.length() + fb.w.length_squared() * rb.length();
    h * speed.max(0.0) + 0.5 * h * h * turning
}

/// Drops touches at the same place with the same normal; the deeper one stays.
pub(super) fn merge(touches: &mut Vec<Touch>, distance: f64) {
    let mut k = 0;
    while k < touches.len() {
        let t = touches[k];
        let twin = touches[..k].iter().position(|o| {
            o.p1.distance(t.p1) <= distance && o.p2.distance(t.p2) <= distance && o.n.dot(t.n) > 1.0 - 1e-12
        });
        match twin {
            Some(o) => {
                if t.gap < touches[o].gap {
                    touches[o] = t;
                }
                touches.swap_remove(k);
            }
            None => k += 1,
        }
    }
}

/// Sorts touches by features and tells apart those that have the same ones, by where they are on shape a.
pub(super) fn name(touches: &mut [Touch]) {
    let place = |t: &Touch| t.p1.to_array();
    let by_place =
        |a: &Touch, b: &Touch| place(a).partial_cmp(&place(b)).unwrap_or(std::cmp::Ordering::Equal);
    touches.sort_unstable_by(|a, b| (a.f1, a.f2).cmp(&(b.f1, b.f2)).then(by_place(a, b)));
    let mut ordinal = 0;
    let mut repeated = false;
    let mut before = None;
    for t in touches.iter_mut() {
        let features = (t.f1, t.f2);
        ordinal = if before == Some(features) { ordinal + 1 } else { 0 };
        before = Some(features);
        if ordinal > 0 {
            t.f1 = feature::repeat(t.f1, ordinal);
            repeated = true;
        }
    }
    if repeated {
        touches.sort_unstable_by_key(|t| (t.f1, t.f2));
    }
}

fn anchor(owner: Owner, local: Vec3) -> Anchor {
    match owner {
        Owner::Body(body) => Anchor::Body { body, local },
        Owner::Node(node) => Anchor::Node(node),
        Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
    }
}

/// Nodes of solids are points: two of them meet as parts of their surfaces only.
fn both_soft(model: &Model, a: Owner, b: Owner) -> bool {
    let soft = |o| matches!(o, Owner::Node(n) if model.nodes[n.index()].solid.is_some());
    soft(a) && soft(b)
}

/// Bodies first, then particles.
pub(super) fn owner_index(model: &Model, owner: Owner) -> usize {
    match owner {
        Owner::Body(b) => b.index(),
        Owner::Node(n) => model.bodies.len() + n.index(),
        Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
    }
}

/// Zero in place of a length that does not exist.
pub(super) fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
