//! Contacts of deforming surfaces: with each other, with themselves, and with corners and edges of rigid shapes.
//!
//! A contact is made where two features are nearest to each other, judged at the start of the step (vertices of soft
//! bodies against rigid shapes are found by the shapes' own narrow phase):
//!
//! * **vertex–face**, along the normal of the face. A vertex inside a solid goes out through the nearest face that
//!   looks against it.
//! * **vertex–edge and vertex–vertex**, where the vertex lies beside every face that meets there; along the way between
//!   them, or, where they touch and there is no way, along the difference of their normals.
//! * **edge–edge**, where both edges stand out against each other. Edges that are nearly parallel make none: their
//!   ends touch as vertices. Where a sharp edge lies across a flat patch, the edges of the patch that it crosses count
//!   once per vertex, shortest first.
//!
//! Vertices that move farther than their surroundings are large meet what their time of impact says.
//!
//! Each pair of features is met once, by the lowest features that touch, so that no place has two normals.

mod edge;
mod fast;
mod job;
mod pair;
mod vertex;

use super::candidates::{Candidates, Left, Surface};
use super::cover::{Cover, Leaf};
use super::material::rule;
use super::skin::{NONE, Skin};
use super::solid::Solid;
use super::tree::Span;
use super::{Contact, SHARED_VERTICES, for_each, for_each_with};
use crate::coords::{ShapeId, SoftId};
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::Vec3;
use crate::model::{Model, Owner};
use job::{Field, Job, Search};
use pair::{MARGIN, Pair};

/// Loose boxes are wider than the present motion by this share of the smallest size.
const LOOSE: f64 = 0.05;

/// Finds contacts of soft surfaces; owns its buffers.
pub(super) struct Surfaces {
    /// Soft skins first.
    skins: Vec<Skin>,
    placed: Vec<Placed>,
    soft: usize,
    candidates: Candidates,
    jobs: Vec<Job>,
    /// By how much loose boxes are wider [m].
    slack: f64,
    /// Worth several threads.
    shared: bool,
}

/// Boxes of a skin's present motion, and where vertices and edges stand in its lists of those that touch.
pub(super) struct Placed {
    /// Of each vertex and of each leaf.
    boxes: Vec<Span>,
    leaves: Vec<Span>,
    vertex_at: Vec<u32>,
    edge_at: Vec<u32>,
    /// Vertices that exist on the surface.
    points: Vec<u32>,
}

impl Placed {
    fn new(skin: &Skin) -> Placed {
        let places = |of: &[u32], n: usize| {
            let mut at = vec![NONE; n];
            of.iter().enumerate().for_each(|(k, i)| at[*i as usize] = k as u32);
            at
        };
        Placed {
            boxes: vec![Span::EMPTY; skin.x.len()],
            leaves: Vec::new(),
            vertex_at: places(&skin.vertices, skin.x.len()),
            edge_at: places(&skin.sharp, skin.edges.len()),
            points: skin.points(),
        }
    }

    /// Fits the boxes to a motion of `h` seconds, and the loose ones where it leaves them.
    fn fit(&mut self, skin: &Skin, surface: &mut Surface, h: f64, widths: (f64, f64)) {
        let way = |k: u32| [skin.x[k as usize], skin.x[k as usize] + skin.v[k as usize] * h];
        for &k in &self.points {
            self.boxes[k as usize] = Span::of(way(k));
        }
        surface.cover.spans(&self.boxes, &mut self.leaves);
        surface.hold(&self.points, widths, Left::Drop, way);
    }
}

impl Surfaces {
    /// Of all solids and sheets of a model; `solids` are its shapes and `sizes` the lengths of their margins.
    pub fn new(model: &Model, solids: &[Solid], sizes: &[f64]) -> Surfaces {
        let mut skins: Vec<Skin> =
            (0..model.solids.len()).filter_map(|k| Skin::of_soft(model, SoftId(k as u32))).collect();
        let soft = skins.len();
        let smallest = skins.iter().map(|s| s.size).fold(f64::INFINITY, f64::min);
        if soft > 0 {
            for (k, shape) in model.shapes.iter().enumerate() {
                if !matches!(model.whole(shape.owner), Owner::Solid(_)) {
                    skins.extend(Skin::of_shape(model, ShapeId(k as u32), &solids[k], sizes[k]));
                }
            }
        }
        let start = Placement::of(model, &model.initial);
        let surface = |s: &Skin| {
            let mut x = vec![Vec3::ZERO; s.x.len()];
            s.positions(start.kinematics(model), &mut x);
            Surface::new(Cover::new(s, &x), x.len())
        };
        Surfaces {
            candidates: Candidates::new(skins.iter().map(surface).collect()),
            placed: skins.iter().map(Placed::new).collect(),
            jobs: Vec::new(),
            slack: LOOSE * smallest,
            shared: skins.iter().map(|s| s.x.len()).sum::<usize>() >= SHARED_VERTICES,
            skins,
            soft,
        }
    }

    /// Adds the contacts that may act within `h` seconds, in no particular order.
    pub fn detect(&mut self, kin: Kinematics<'_>, h: f64, contacts: &mut Vec<Contact>) {
        if self.soft == 0 {
            return;
        }
        for_each(&mut self.skins, self.shared, |skin| skin.place(kin, h));
        self.run(kin, h, Search::All, contacts);
    }

    /// Adds the contacts through which vertices pass on their straight ways to the state `ahead`, `h` seconds later;
    /// sorted by key.
    pub fn passed(
        &mut self,
        (kin, ahead): (Kinematics<'_>, Kinematics<'_>),
        h: f64,
        contacts: &mut Vec<Contact>,
    ) {
        if self.soft == 0 {
            return;
        }
        for_each(&mut self.skins, self.shared, |skin| skin.place_between(kin, ahead, h));
        self.run(kin, h, Search::Fast, contacts);
        contacts.sort_unstable_by_key(|c| c.key);
    }

    fn run(&mut self, kin: Kinematics<'_>, h: f64, search: Search, contacts: &mut Vec<Contact>) {
        let model = kin.model;
        let Surfaces { skins, placed, candidates, jobs, soft, .. } = self;
        let fall = model.gravity.length() * h * h;
        for ((skin, placed), surface) in skins.iter().zip(&mut *placed).zip(&mut candidates.surfaces) {
            // Half of the margin each: that of a pair is measured by the smaller.
            let margin = model.contact.margin.unwrap_or(MARGIN * skin.size) + fall;
            placed.fit(skin, surface, h, (skin.thickness + 0.5 * margin, self.slack));
        }
        let may_meet = |a: u32, b: u32| may_meet(model, skins, *soft, a as usize, b as usize);
        let covers = |s: &[Surface], (a, b): (u32, u32), i: u32, j: u32| {
            let leaf = |k: u32, i: u32| s[k as usize].cover.leaves[i as usize];
            a != b || have_strangers(model, &skins[a as usize], &leaf(a, i), &leaf(b, j))
        };
        candidates.update(self.shared, may_meet, covers);
        let lists = candidates.lists();
        if jobs.len() < lists.len() {
            jobs.resize_with(lists.len(), Job::default);
        }
        let field = Field { kin, skins, placed, surfaces: &candidates.surfaces, h, search };
        for_each_with(jobs, lists, self.shared, |job, list| job.run(field, list));
        for job in &jobs[..lists.len()] {
            contacts.extend_from_slice(&job.contacts);
        }
    }
}

/// True for skins that may touch each other: one of them is soft.
fn may_meet(model: &Model, skins: &[Skin], soft: usize, a: usize, b: usize) -> bool {
    let (one, two) = (&skins[a], &skins[b]);
    if a == b {
        return one.self_contact;
    }
    let (owner_a, owner_b) = (one.owner(), two.owner());
    a < soft
        && (b < soft || one.rigid_edges)
        && rule(model, owner_a, owner_b).is_none_or(|r| r.collide)
        && model.masks_allow(owner_a, owner_b)
}

/// True where two leaves of one skin have features that are no neighbours.
fn have_strangers(model: &Model, skin: &Skin, a: &Leaf, b: &Leaf) -> bool {
    let apart =
        |x: &[u32], y: &[u32]| !x.iter().any(|i| y.iter().any(|j| skin.are_neighbours(model, *i, *j)));
    let some = |x: &[u32; 3]| x.map(|k| (k != NONE).then_some(k)).into_iter().flatten();
    let ends = |e: u32| skin.edges[e as usize].ends;
    [(a, b), (b, a)].iter().any(|(one, two)| {
        two.face != NONE && some(&one.vertices).any(|v| apart(&[v], &skin.triangles[two.face as usize]))
    }) || some(&a.edges).any(|e| some(&b.edges).any(|f| apart(&ends(e), &ends(f))))
}
