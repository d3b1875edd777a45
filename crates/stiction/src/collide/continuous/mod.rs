//! Continuous detection over a whole model: candidate pairs once per step, impacts of any motion from there (CR 5.1–5.2).
//!
//! 1. [`find_candidates`](Continuous::find_candidates): boxes of faces, edges and segments, extended by 3·dt·v, are kept until a
//!    vertex leaves its own; pairs of boxes that meet are the candidates.
//! 2. [`impacts`](Continuous::impacts): vertices and faces, and edges and edges, of every candidate are tried on the straight
//!    ways of their vertices from the start of the step to another state. Surfaces of which a vertex left its box are queried
//!    again first, so that nothing is missed.
//!
//! | covered | how |
//! |---|---|
//! | soft bodies and cloth among each other and, with `self_contact`, themselves | all their faces, edges and vertices |
//! | soft bodies against rigid shapes | corners, edges and faces of the shape; balls and capsules by their radius; half-spaces. Cylinders count as prisms. Without `rigid_edges` only vertices of the soft body count |
//! | rods among each other and against rigid shapes | segments with a radius |
//!
//! Rigid bodies among each other are no part of it. An impact is a [`Contact`] that is linearised at the start of the step, with
//! the normal and the weights of the impact: a step that obeys it does not get there.
//!
//! Two features that start at the distance d₀ are kept apart by a floor: thicknesses and radii plus a small separation,
//! and at least a fifth of what d₀ is above the thickness. So whatever moves without an impact ends up apart, to the
//! last digit. Features that touch already (d₀ at rounding) cannot be kept apart and are counted instead.

mod firm;
mod hits;
mod patch;

use super::candidates::{Candidates, Surface};
use super::material::rule;
use super::skin::{Skin, Source};
use super::solid::Solid;
use super::{Collider, Contact, SHARED_VERTICES, for_each_with};
use crate::coords::SoftId;
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::Vec3;
use crate::linalg::parallel::prelude::*;
use crate::model::{Model, Owner};
use hits::Job;
use patch::Patch;

/// Surfaces are kept this share of the smaller size apart, thicknesses not counted: below, a contact is an impact.
const SEPARATION: f64 = 2e-4;

/// An impact on the way from one state to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Share of the way, 0 to 1; never later than the true impact.
    pub time: f64,
    /// The contact that keeps the features apart, linearised at the start of the way.
    pub contact: Contact,
    /// To whom the features belong: bodies, particles or whole solids.
    pub owners: [Owner; 2],
}

/// Candidates and impacts of all soft surfaces, rods and what they may meet; owns its buffers.
pub struct Continuous {
    patches: Vec<Patch>,
    /// Shapes that are half-spaces.
    planes: Vec<usize>,
    candidates: Candidates,
    jobs: Vec<Job>,
    /// Pairs of features that touched at the start of the way last asked for.
    touching: usize,
    /// Worth several threads.
    shared: bool,
}

impl Continuous {
    /// For one model.
    pub fn new(model: &Model) -> Continuous {
        let (solids, sizes) = Collider::solids(model);
        let start = Placement::of(model, &model.initial);
        let start = start.kinematics(model);
        let soft = (0..model.solids.len()).filter_map(|k| Skin::of_soft(model, SoftId(k as u32)));
        let mut patches: Vec<Patch> = soft.map(|skin| Patch::new(start, skin)).collect();
        let has_rods = !model.rods.is_empty();
        let mut planes = Vec::new();
        if has_rods || !patches.is_empty() {
            for (k, shape) in model.shapes.iter().enumerate() {
                if matches!(model.whole(shape.owner), Owner::Solid(_)) {
                    continue;
                }
                match Skin::of_shape(model, crate::coords::ShapeId(k as u32), &solids[k], sizes[k]) {
                    Some(skin) => patches.push(Patch::new(start, skin)),
                    None if matches!(solids[k], Solid::Plane) => planes.push(k),
                    None => {}
                }
            }
        }
        Continuous {
            shared: patches.iter().map(|p| p.x.len()).sum::<usize>() >= SHARED_VERTICES,
            candidates: Candidates::new(patches.iter_mut().map(|p| p.surface(model)).collect()),
            patches,
            planes,
            jobs: Vec::new(),
            touching: 0,
        }
    }

    /// Finds what may meet within the next `h` seconds: faces, edges and segments whose boxes meet when extended by
    /// 3·h·v. Call it once per step, before [`impacts`](Continuous::impacts).
    pub fn find_candidates(&mut self, kin: Kinematics<'_>, h: f64) {
        let model = kin.model;
        let surfaces = &mut self.candidates.surfaces;
        for_both(&mut self.patches, surfaces, self.shared, |p, s| p.place(kin, h, s));
        self.update(model);
    }

    /// Number of pairs of faces, edges and segments that were found to come near each other.
    pub fn candidates(&self) -> usize {
        self.candidates.lists().iter().map(|l| l.leaves.len()).sum()
    }

    /// Pairs of features that touched at the start of the last way, and so could not be kept apart.
    pub fn touching(&self) -> usize {
        self.touching
    }

    /// All impacts on the straight ways of the vertices from `state`, for which candidates were found, to `ahead`; sorted by
    /// the key of their contacts. Of several faces in the way of one vertex, and of several edges in the way of one edge,
    /// the first counts.
    pub fn impacts(&mut self, kin: Kinematics<'_>, ahead: Kinematics<'_>, hits: &mut Vec<Hit>) {
        let model = kin.model;
        hits.clear();
        let surfaces = &mut self.candidates.surfaces;
        for_both(&mut self.patches, surfaces, self.shared, |p, s| p.lead_to(ahead, s));
        self.update(model);
        let (lists, surfaces) = (self.candidates.lists(), &self.candidates.surfaces);
        if self.jobs.len() < lists.len() {
            self.jobs.resize_with(lists.len(), Job::default);
        }
        let patches = &self.patches;
        for_each_with(&mut self.jobs, lists, self.shared, |job, list| {
            job.test(kin, (patches, surfaces), list);
        });
        self.touching = 0;
        for job in &self.jobs[..lists.len()] {
            hits.extend_from_slice(&job.hits);
            self.touching += job.touching;
        }
        for &plane in &self.planes {
            for patch in &self.patches {
                hits::on_plane((kin, ahead), plane, patch, hits);
            }
        }
        hits.sort_unstable_by(|a, b| a.contact.key.cmp(&b.contact.key).then(a.time.total_cmp(&b.time)));
        hits.dedup_by_key(|h| h.contact.key);
    }

    /// Lists of candidates from the loose boxes.
    fn update(&mut self, model: &Model) {
        let patches = &self.patches;
        let meets = |a: u32, b: u32| match a == b {
            true => patches[a as usize].skin.self_contact,
            false => may_meet(model, &patches[a as usize], &patches[b as usize]),
        };
        self.candidates.update(self.shared, meets, |surfaces, pair, i, j| {
            hits::may_touch(model, (patches, surfaces), pair, (i, j))
        });
    }
}

/// Does something to each patch with its surface, on several threads where `shared`. The result is the same.
fn for_both(
    patches: &mut [Patch],
    surfaces: &mut [Surface],
    shared: bool,
    f: impl Fn(&mut Patch, &mut Surface) + Sync + Send,
) {
    if shared {
        patches.par_iter_mut().zip(surfaces).for_each(|(p, s)| f(p, s));
    } else {
        patches.iter_mut().zip(surfaces).for_each(|(p, s)| f(p, s));
    }
}

/// True for patches of which one may run into the other; see the front page.
fn may_meet(model: &Model, a: &Patch, b: &Patch) -> bool {
    let (one, two) = (a.skin.owner(), b.skin.owner());
    let is_soft = |p: &Patch| matches!(p.skin.source, Source::Soft(_));
    let is_link = |o: Owner| matches!(o, Owner::Body(b) if model.bodies[b.index()].link.is_some());
    one != two
        && (a.moves || b.moves)
        && (is_soft(a) || is_soft(b) || is_link(one) || is_link(two))
        && !model.are_near_links(one, two)
        && rule(model, one, two).is_none_or(|r| r.collide)
        && model.masks_allow(one, two)
}

/// How far apart [m] two patches are kept, thicknesses not counted.
fn separation(a: &Skin, b: &Skin) -> f64 {
    SEPARATION * a.size.min(b.size)
}

/// The distance [m] that features are kept apart which start at `distance`.
fn floor(distance: f64, thickness: f64, separation: f64) -> f64 {
    const KEEP: f64 = 0.2;
    match distance - thickness {
        apart if apart > 0.0 => thickness + separation.min(KEEP * apart),
        _ => separation.min(KEEP * distance),
    }
}

/// A weighted mean of some of these.
fn mean(x: &[Vec3], of: &[u32], w: &[f64]) -> Vec3 {
    of.iter().zip(w).map(|(k, w)| x[*k as usize] * *w).sum()
}
