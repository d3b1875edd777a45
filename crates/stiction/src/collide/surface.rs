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

use super::cover::Cover;
use super::material::{Material, rule};
use super::nearest::{Place, on_lines, on_triangle};
use super::skin::{NONE, Skin, material};
use super::solid::{Solid, feature};
use super::tree::Span;
use super::{Contact, SHARED_VERTICES, ccd, for_each};
use crate::contact::ContactKey;
use crate::coords::{Anchor, ShapeId, SoftId, State};
use crate::linalg::Vec3;
use crate::scene::{Model, Owner};
use std::collections::BTreeSet;

/// The margin where the scene gives none, as a share of the smaller size.
const MARGIN: f64 = 0.02;
/// Contacts are not predicted farther than this share of the size from where features are at the start: beyond, the time
/// of impact tells what meets.
const FARTHEST: f64 = 0.5;
/// Most steps from an early time of impact to the touch.
const SAFE_STEPS: usize = 50;
/// Features nearer than this share of the size touch: there is no way between them to give a normal.
const TOUCH: f64 = 1e-6;
/// An edge whose faces rise by more than this (sine) towards a vertex is not what that one touches.
const SLACK: f64 = 1e-6;
/// The same between edges, where those that are flatter than this count as flat: a cone of normals that small comes and
/// goes with every motion. Flat edges cross where their ends touch the faces anyway, to this share of their length.
const FLAT: f64 = 0.02;
/// The same for the neighbours of a vertex, which is often one of many that touch.
const VERTEX_SLACK: f64 = 0.3;
/// Edges at a smaller angle than this (sine) are parallel.
const PARALLEL: f64 = 1e-3;
/// Edges that have crossed by less than this share of the size go back; so do layers of one body.
const CROSSED: f64 = 0.2;
/// A crossing of edges this near to an end, as a share of the length, belongs to the end.
const END: f64 = 1e-9;

/// Finds contacts of soft surfaces; owns its buffers.
pub(super) struct Surfaces {
    /// Soft skins first.
    skins: Vec<Skin>,
    places: Vec<Placed>,
    soft: usize,
    /// Pairs of skins that may touch at all, sorted.
    pairs: Vec<(u32, u32)>,
    jobs: Vec<Job>,
}

/// Boxes of a skin's motion, and where vertices and edges stand in its lists of those that touch.
struct Placed {
    cover: Cover,
    /// Of the motion of each vertex.
    boxes: Vec<Span>,
    vertex_at: Vec<u32>,
    edge_at: Vec<u32>,
}

impl Placed {
    fn new(model: &Model, skin: &Skin) -> Placed {
        let mut x = vec![Vec3::ZERO; skin.x.len()];
        skin.positions(model, &model.initial, &mut x);
        let places = |of: &[u32], n: usize| {
            let mut at = vec![NONE; n];
            of.iter().enumerate().for_each(|(k, i)| at[*i as usize] = k as u32);
            at
        };
        Placed {
            cover: Cover::new(skin, &x),
            boxes: vec![Span::EMPTY; x.len()],
            vertex_at: places(&skin.vertices, x.len()),
            edge_at: places(&skin.sharp, skin.edges.len()),
        }
    }

    /// Fits the boxes to a motion of `h` seconds.
    fn fit(&mut self, skin: &Skin, h: f64) {
        for ((b, x), v) in self.boxes.iter_mut().zip(&skin.x).zip(&skin.v) {
            *b = Span::of([*x, *x + *v * h]);
        }
        self.cover.fit(&self.boxes);
    }
}

/// What to look for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Search {
    #[default]
    All,
    /// Only what vertices pass through.
    Fast,
}

/// Buffers and results of one pair of skins.
#[derive(Default)]
struct Job {
    pair: (u32, u32),
    search: Search,
    /// Vertices of the first near faces of the second, of the second near faces of the first, and edges near edges.
    found: [Vec<(u32, u32)>; 3],
    features: Vec<Candidate>,
    /// (Sharp edge, end of a flat edge that crosses it).
    used: BTreeSet<(u64, u32)>,
    contacts: Vec<Contact>,
}

/// A feature of a surface near a vertex.
#[derive(Clone, Copy)]
struct Candidate {
    /// Name of the feature in contact keys.
    name: u64,
    face: u32,
    place: Place,
    w: [f64; 3],
    /// From the feature to the vertex.
    way: Vec3,
    distance: f64,
    /// Outward normal of the feature, zero where the surface has no inside.
    normal: Vec3,
}

/// What all contacts of a pair have in common.
struct Pair<'a> {
    model: &'a Model,
    a: &'a Skin,
    b: &'a Skin,
    /// The same skin twice.
    is_self: bool,
    /// Which of both comes first in keys.
    swap: bool,
    h: f64,
    margin: f64,
    size: f64,
    thickness: f64,
    material: Material,
}

impl Surfaces {
    /// Of all solids and sheets of a model; `solids` are its shapes and `sizes` the lengths of their margins.
    pub fn new(model: &Model, solids: &[Solid], sizes: &[f64]) -> Surfaces {
        let mut skins: Vec<Skin> =
            (0..model.solids.len()).filter_map(|k| Skin::of_soft(model, SoftId(k as u32))).collect();
        let soft = skins.len();
        if soft > 0 {
            for (k, shape) in model.shapes.iter().enumerate() {
                if !matches!(model.whole(shape.owner), Owner::Solid(_)) {
                    skins.extend(Skin::of_shape(model, ShapeId(k as u32), &solids[k], sizes[k]));
                }
            }
        }
        let mut pairs = Vec::new();
        for a in 0..soft {
            for b in a..skins.len() {
                let (owner_a, owner_b) = (skins[a].owner(), skins[b].owner());
                let may = if a == b {
                    skins[a].self_contact
                } else {
                    (b < soft || skins[a].rigid_edges)
                        && rule(model, owner_a, owner_b).is_none_or(|r| r.collide)
                        && model.masks_allow(owner_a, owner_b)
                };
                if may {
                    pairs.push((a as u32, b as u32));
                }
            }
        }
        let places = skins.iter().map(|s| Placed::new(model, s)).collect();
        Surfaces { skins, places, soft, pairs, jobs: Vec::new() }
    }

    /// Adds the contacts that may act within `h` seconds, in no particular order.
    pub fn detect(&mut self, model: &Model, state: &State, h: f64, contacts: &mut Vec<Contact>) {
        if self.soft == 0 {
            return;
        }
        for skin in &mut self.skins {
            skin.place(model, state, h);
        }
        self.run(model, state, h, Search::All, contacts);
    }

    /// Adds the contacts through which vertices pass on their straight ways to the state `ahead`, `h` seconds later;
    /// sorted by key.
    pub fn passed(
        &mut self,
        model: &Model,
        (state, ahead): (&State, &State),
        h: f64,
        contacts: &mut Vec<Contact>,
    ) {
        if self.soft == 0 {
            return;
        }
        for skin in &mut self.skins {
            skin.place_between(model, state, ahead, h);
        }
        self.run(model, state, h, Search::Fast, contacts);
        contacts.sort_unstable_by_key(|c| c.key);
    }

    fn run(&mut self, model: &Model, state: &State, h: f64, search: Search, contacts: &mut Vec<Contact>) {
        let mut near = 0;
        for &(a, b) in &self.pairs {
            let (sa, sb) = (&self.skins[a as usize], &self.skins[b as usize]);
            let grow = Vec3::splat(margin(model, sa, sb, h) + sa.thickness + sb.thickness);
            if (sa.min - grow).cmple(sb.max).all() && (sb.min - grow).cmple(sa.max).all() {
                if near == self.jobs.len() {
                    self.jobs.push(Job::default());
                }
                self.jobs[near].pair = (a, b);
                near += 1;
            }
        }
        for (p, skin) in self.places.iter_mut().zip(&self.skins) {
            p.fit(skin, h);
        }
        let (skins, places) = (&self.skins, &self.places);
        let shared = skins.iter().map(|s| s.x.len()).sum::<usize>() >= SHARED_VERTICES;
        for_each(&mut self.jobs[..near], shared, |job| job.run(model, state, (skins, places), h, search));
        for job in &self.jobs[..near] {
            contacts.extend_from_slice(&job.contacts);
        }
    }
}

/// How far apart points that do not approach may be and still touch within the step, thickness apart [m].
fn margin(model: &Model, a: &Skin, b: &Skin, h: f64) -> f64 {
    let size = a.size.min(b.size);
    model.contact.margin.unwrap_or(MARGIN * size) + model.gravity.length() * h * h
}

impl Job {
    fn run(
        &mut self,
        model: &Model,
        state: &State,
        (skins, places): (&[Skin], &[Placed]),
        h: f64,
        search: Search,
    ) {
        self.contacts.clear();
        self.search = search;
        let (a, b) = (&skins[self.pair.0 as usize], &skins[self.pair.1 as usize]);
        let is_self = self.pair.0 == self.pair.1;
        let pair = |a, b, swap| Pair {
            model,
            a,
            b,
            is_self,
            swap,
            h,
            margin: margin(model, a, b, h),
            size: a.size.min(b.size),
            thickness: a.thickness + b.thickness,
            material: if swap { material(model, state, b, a) } else { material(model, state, a, b) },
        };
        let swap = a.shape > b.shape;
        let (one, two) = (pair(a, b, swap), pair(b, a, !swap));
        let (pa, pb) = (&places[self.pair.0 as usize], &places[self.pair.1 as usize]);
        self.find(&one, &two, pa, pb);
        if b.touches_by_faces {
            self.vertices_on_faces(&one, 0);
        }
        if a.touches_by_faces && !is_self {
            self.vertices_on_faces(&two, 1);
        }
        if search == Search::All {
            self.edges_on_edges(&one);
        }
    }

    /// Features whose boxes come near each other, in the order of the lists of those that touch.
    fn find(&mut self, one: &Pair, two: &Pair, pa: &Placed, pb: &Placed) {
        let reach = [one.deep(), two.deep(), CROSSED * one.size].map(|d| d + one.margin + one.thickness);
        let widest = reach.iter().copied().fold(0.0, f64::max);
        let [on_b, on_a, edges] = &mut self.found;
        on_b.clear();
        on_a.clear();
        edges.clear();
        let mut pair = |i: u32, j: u32| {
            let (la, lb) = (&pa.cover.leaves[i as usize], &pb.cover.leaves[j as usize]);
            let meet = |from: &[u32; 3], p: &Placed, face: u32, span: &Span, reach: f64, to: &mut Vec<_>| {
                for v in
                    from.iter().filter(|v| face != NONE && **v != NONE && p.vertex_at[**v as usize] != NONE)
                {
                    if p.boxes[*v as usize].is_near(span, reach) {
                        to.push((p.vertex_at[*v as usize], face));
                    }
                }
            };
            meet(&la.vertices, pa, lb.face, pb.cover.span(j), reach[0], on_b);
            let other = if one.is_self { &mut *on_b } else { &mut *on_a };
            meet(&lb.vertices, pb, la.face, pa.cover.span(i), reach[1], other);
            for &e in la.edges.iter().filter(|e| **e != NONE && pa.edge_at[**e as usize] != NONE) {
                let [x, y] = one.a.edges[e as usize].ends.map(|k| pa.boxes[k as usize]);
                let span = x.and(y);
                for &f in lb.edges.iter().filter(|f| **f != NONE && pb.edge_at[**f as usize] != NONE) {
                    let [x, y] = one.b.edges[f as usize].ends.map(|k| pb.boxes[k as usize]);
                    if span.is_near(&x.and(y), reach[2]) {
                        let (e, f) = (pa.edge_at[e as usize], pb.edge_at[f as usize]);
                        edges.push((e, f));
                        if one.is_self {
                            edges.push((f, e));
                        }
                    }
                }
            }
        };
        if one.is_self {
            pa.cover.tree.self_pairs(widest, &mut pair);
        } else {
            pa.cover.tree.pairs(&pb.cover.tree, widest, &mut pair);
        }
        self.found.iter_mut().for_each(|f| f.sort_unstable());
    }

    /// Vertices of a against faces, edges and vertices of b.
    fn vertices_on_faces(&mut self, p: &Pair, which: usize) {
        let a = p.a;
        let deep = p.deep();
        let found = std::mem::take(&mut self.found[which]);
        for group in found.chunk_by(|x, y| x.0 == y.0) {
            let v = a.vertices[group[0].0 as usize];
            self.features.clear();
            for &(_, f) in group {
                self.features.extend(p.candidate(v, f));
            }
            // One entry per feature, those of the lowest kind first among equals.
            self.features.sort_unstable_by_key(|c| (c.name, c.face));
            self.features.dedup_by_key(|c| c.name);
            let before = self.contacts.len();
            if self.search == Search::All {
                p.vertex(v, &self.features, deep, &mut self.contacts);
            }
            p.fast_vertex(v, group, before, &mut self.contacts);
        }
        self.found[which] = found;
    }

    fn edges_on_edges(&mut self, p: &Pair) {
        let (a, b) = (p.a, p.b);
        self.used.clear();
        for &(i, j) in &self.found[2] {
            p.edges(a.sharp[i as usize], b.sharp[j as usize], &mut self.used, &mut self.contacts);
        }
    }
}

impl Pair<'_> {
    /// How deep in b vertices of a are looked for [m].
    fn deep(&self) -> f64 {
        if self.b.has_inside && !self.is_self { self.b.size } else { CROSSED * self.size }
    }

    /// The feature of face `f` of b that is nearest to vertex `v` of a.
    fn candidate(&self, v: u32, f: u32) -> Option<Candidate> {
        let (a, b) = (self.a, self.b);
        let t = b.triangles[f as usize];
        if self.is_self && t.iter().any(|k| b.are_neighbours(self.model, *k, v)) {
            return None;
        }
        if t.iter().any(|k| b.is_held_by(self.model, *k, a)) || a.is_held_by(self.model, v, b) {
            return None;
        }
        let x = a.x[v as usize];
        let corners = t.map(|k| b.x[k as usize]);
        let at = |w: [f64; 3]| corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
        let (mut w, mut place) = on_triangle(x, corners);
        // What touches an edge or corner of the face touches the edge or corner.
        let touch = TOUCH * self.size;
        if x.distance(at(w)) <= touch {
            if let Some(k) = (0..3).find(|k| x.distance(corners[*k]) <= touch) {
                w = [0.0; 3];
                w[k] = 1.0;
                place = Place::Corner(k);
            } else if let Place::Inside = place
                && let Some(k) = (0..3).find(|k| {
                    // Edge k is opposite to corner k + 2.
                    let height = w[(k + 2) % 3] * doubled_area(corners);
                    height <= touch * corners[*k].distance(corners[(k + 1) % 3])
                })
            {
                let rest = w[k] + w[(k + 1) % 3];
                w[(k + 2) % 3] = 0.0;
                w = w.map(|x| x / rest);
                place = Place::Edge(k);
            }
        }
        let way = x - at(w);
        let (name, normal) = match place {
            Place::Inside => {
                (feature::face(f), if b.has_inside { b.face_normal[f as usize] } else { Vec3::ZERO })
            }
            Place::Edge(k) => {
                let e = b.triangle_edges[f as usize][k];
                let [i, j] = b.edges[e as usize].ends;
                (feature::edge(i, j), b.edge_normal(e))
            }
            Place::Corner(k) => (feature::vertex(t[k]), b.vertex_normal[t[k] as usize]),
        };
        Some(Candidate { name, face: f, place, w, way, distance: way.length(), normal })
    }

    /// Contacts of one vertex with the features near it.
    fn vertex(&self, v: u32, features: &[Candidate], deep: f64, contacts: &mut Vec<Contact>) {
        let touch = TOUCH * self.size;
        let Some(nearest) = features.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)) else {
            return;
        };
        let is_inside = self.b.has_inside
            && nearest.distance > touch
            && nearest.distance <= deep
            && nearest.way.dot(nearest.normal) < 0.0;
        if !is_inside {
            for c in features {
                if let Some((n, gap)) = self.outside(v, c) {
                    self.push_vertex(v, c, n, gap, contacts);
                }
            }
            return;
        }
        // Out through the nearest face that looks against the vertex.
        let against = self.a.vertex_normal[v as usize];
        let out = |c: &Candidate| match c.place {
            Place::Inside => c.normal,
            _ => -c.way / c.distance,
        };
        let best = features
            .iter()
            .filter(|c| c.way.dot(c.normal) < 0.0 && c.distance <= deep)
            .filter(|c| against == Vec3::ZERO || out(c).dot(against) < 0.0)
            .min_by(|a, b| a.distance.total_cmp(&b.distance));
        if let Some(c) = best {
            self.push_vertex(v, c, out(c), -c.distance, contacts);
        }
    }

    /// The face that a fast vertex meets first within the step, where it is too far away to be seen at its start. The gap
    /// is that of the points which meet, along the normal that the face has there.
    fn fast_vertex(&self, v: u32, group: &[(u32, u32)], before: usize, contacts: &mut Vec<Contact>) {
        let (a, b) = (self.a, self.b);
        let moved = |s: &Skin, k: u32| s.v[k as usize] * self.h;
        let mut first: Option<(f64, u32, [f64; 3], Vec3)> = None;
        for &(_, f) in group {
            let t = b.triangles[f as usize];
            let is_fast = (moved(a, v) - moved(b, t[0])).length() > FARTHEST * self.size;
            if !is_fast || t.iter().any(|k| b.is_held_by(self.model, *k, a) || (self.is_self && *k == v)) {
                continue;
            }
            let start = [a.x[v as usize], b.x[t[0] as usize], b.x[t[1] as usize], b.x[t[2] as usize]];
            let way = [moved(a, v), moved(b, t[0]), moved(b, t[1]), moved(b, t[2])];
            let end = [0, 1, 2, 3].map(|k| start[k] + way[k]);
            let between = |x: &[Vec3; 4]| {
                let (w, place) = on_triangle(x[0], [x[1], x[2], x[3]]);
                (w, place, x[0] - x[1] * w[0] - x[2] * w[1] - x[3] * w[2])
            };
            if between(&start).2.length() <= self.thickness + self.margin {
                continue;
            }
            let Some(hit) = ccd::vertex_face(&start, &end, self.thickness) else { continue };
            // From there by safe steps until they touch: a surface meets, not its neighbourhood.
            let speed = [1, 2, 3].map(|k| (way[0] - way[k]).length()).into_iter().fold(0.0, f64::max);
            let at = |time: f64| [0, 1, 2, 3].map(|k| start[k] + way[k] * time);
            let mut time = hit.time;
            for _ in 0..SAFE_STEPS {
                let apart = between(&at(time)).2.length() - self.thickness;
                if apart <= TOUCH * self.size || time > 1.0 {
                    break;
                }
                time += apart / speed;
            }
            if time > 1.0 {
                continue;
            }
            let there = at(time);
            let (w, place, to_vertex) = between(&there);
            let n = match place {
                Place::Inside => (there[2] - there[1]).cross(there[3] - there[1]).normalize_or_zero(),
                _ => to_vertex.normalize_or_zero(),
            };
            let apart = n.dot(start[0] - start[1] * w[0] - start[2] * w[1] - start[3] * w[2]);
            let comes_from_inside = b.has_inside && apart < 0.0;
            if !comes_from_inside && first.is_none_or(|o| time < o.0) {
                first = Some((time, f, w, if apart < 0.0 { -n } else { n }));
            }
        }
        let Some((_, f, w, n)) = first else { return };
        let (on_a, on_b) = (feature::vertex(v), feature::face(f));
        let same = |k: &ContactKey| {
            [k.feature_a, k.feature_b] == if self.swap { [on_b, on_a] } else { [on_a, on_b] }
        };
        if contacts[before..].iter().any(|c| same(&c.key)) {
            return;
        }
        let t = b.triangles[f as usize];
        let on_face = (0..3).map(|k| b.x[t[k] as usize] * w[k]).sum::<Vec3>();
        let distance = n.dot(a.x[v as usize] - on_face);
        self.make((&[v], &[1.0], on_a), (&t, &w, on_b), n, distance, contacts);
    }

    /// Normal and signed distance of a feature that the vertex sees from outside; `None` where it is not what the
    /// vertex would touch.
    fn outside(&self, v: u32, c: &Candidate) -> Option<(Vec3, f64)> {
        let (a, b) = (self.a, self.b);
        let against = a.vertex_normal[v as usize];
        let touches = c.distance <= TOUCH * self.size;
        if let Place::Inside = c.place {
            let n = b.face_normal[c.face as usize];
            // A sheet is touched on the side that the vertex looks at, or on which it is.
            let side = match b.has_inside {
                true => 1.0,
                false if n.dot(against).abs() > 0.5 => -n.dot(against).signum(),
                false => n.dot(c.way).signum(),
            };
            let (n, gap) = (n * side, n.dot(c.way) * side);
            let wrong = gap < -CROSSED * self.size || (b.has_inside && gap < 0.0 && !touches);
            return (!wrong && n.dot(against) <= 0.0).then_some((n, gap));
        }
        let is_corner = matches!(c.place, Place::Corner(_));
        if is_corner && (!a.touches_by_faces || (self.swap && !self.is_self)) {
            // The other side finds it.
            return None;
        }
        if let Place::Corner(k) = c.place
            && self.is_self
            && b.triangles[c.face as usize][k] < v
        {
            return None;
        }
        if touches {
            let n = (c.normal - against).normalize_or_zero();
            let n = if n == Vec3::ZERO { c.way.normalize_or_zero() } else { n };
            return (n != Vec3::ZERO).then_some((n, n.dot(c.way)));
        }
        let n = c.way / c.distance;
        let sees = match c.place {
            Place::Edge(k) => b.edge_faces(b.triangle_edges[c.face as usize][k], n, SLACK),
            Place::Corner(k) => b.vertex_faces(b.triangles[c.face as usize][k], n, SLACK),
            Place::Inside => true,
        };
        let fits = (!b.has_inside || n.dot(c.normal) > 0.0)
            && n.dot(against) <= 0.0
            && a.vertex_faces(v, -n, VERTEX_SLACK);
        (sees && fits).then_some((n, c.distance))
    }

    fn push_vertex(&self, v: u32, c: &Candidate, n: Vec3, distance: f64, contacts: &mut Vec<Contact>) {
        let t = self.b.triangles[c.face as usize];
        let (mut vertices, mut w, mut count) = ([0; 3], [0.0; 3], 0);
        for k in 0..3 {
            if c.w[k] != 0.0 {
                (vertices[count], w[count]) = (t[k], c.w[k]);
                count += 1;
            }
        }
        let on_a = (&[v][..], &[1.0][..], feature::vertex(v));
        self.push(on_a, (&vertices[..count], &w[..count], c.name), n, distance, contacts);
    }

    /// The contact of edge `e` of a with edge `f` of b, if they cross where both stand out.
    fn edges(&self, e: u32, f: u32, used: &mut BTreeSet<(u64, u32)>, contacts: &mut Vec<Contact>) {
        let (a, b) = (self.a, self.b);
        let (ends_a, ends_b) = (a.edges[e as usize].ends, b.edges[f as usize].ends);
        if self.is_self
            && (e >= f || ends_a.iter().any(|i| ends_b.iter().any(|j| a.are_neighbours(self.model, *i, *j))))
        {
            return;
        }
        if ends_a.iter().any(|k| a.is_held_by(self.model, *k, b)) {
            return;
        }
        let ([p, p_end], [q, q_end]) = (ends_a.map(|k| a.x[k as usize]), ends_b.map(|k| b.x[k as usize]));
        let (d, g) = (p_end - p, q_end - q);
        let Some((s, t)) = on_lines(p, d, q, g, PARALLEL) else { return };
        let within = |x: f64| x > END && x < 1.0 - END;
        let (flat_a, flat_b) = (a.is_flat(e, FLAT), b.is_flat(f, FLAT));
        if !(within(s) && within(t)) || (flat_a && flat_b) {
            return;
        }
        let way = p + d * s - q - g * t;
        let cross = d.cross(g).normalize_or_zero();
        let axis = if cross.dot(way) < 0.0 { -cross } else { cross };
        // Outside of both, or through both.
        let (na, nb) = (a.edge_normal(e), b.edge_normal(f));
        let fits = |n: Vec3| n.dot(na) <= 0.0 && n.dot(nb) >= 0.0;
        let has_normals = na != Vec3::ZERO || nb != Vec3::ZERO;
        let n = if has_normals && !fits(axis) { -axis } else { axis };
        let distance = n.dot(way);
        let clear = fits(n)
            && distance > -CROSSED * self.size
            && b.edge_faces(f, n, FLAT)
            && a.edge_faces(e, -n, FLAT);
        // A sharp edge across a flat patch crosses many of its edges; those that share ends say the same twice.
        let mut is_new = true;
        if clear && flat_a {
            is_new = ends_a.iter().all(|k| !used.contains(&(u64::from(f) << 1, *k)));
            used.extend(ends_a.iter().filter(|_| is_new).map(|k| (u64::from(f) << 1, *k)));
        } else if clear && flat_b {
            is_new = ends_b.iter().all(|k| !used.contains(&(u64::from(e) << 1 | 1, *k)));
            used.extend(ends_b.iter().filter(|_| is_new).map(|k| (u64::from(e) << 1 | 1, *k)));
        }
        if clear && is_new {
            let on_a = (&ends_a[..], &[1.0 - s, s][..], feature::edge(ends_a[0], ends_a[1]));
            let on_b = (&ends_b[..], &[1.0 - t, t][..], feature::edge(ends_b[0], ends_b[1]));
            self.push(on_a, on_b, n, distance, contacts);
        }
    }

    /// Adds a contact between weighted means of vertices, if they may meet within the step.
    fn push(
        &self,
        (of_a, wa, name_a): (&[u32], &[f64], u64),
        (of_b, wb, name_b): (&[u32], &[f64], u64),
        n: Vec3,
        distance: f64,
        contacts: &mut Vec<Contact>,
    ) {
        let gap = distance - self.thickness;
        let speed = n.dot(mean(&self.b.v, of_b, wb) - mean(&self.a.v, of_a, wa));
        if gap <= self.margin + (self.h * speed.max(0.0)).min(FARTHEST * self.size) {
            self.make((of_a, wa, name_a), (of_b, wb, name_b), n, distance, contacts);
        }
    }

    /// Adds a contact between weighted means of vertices.
    fn make(
        &self,
        (of_a, wa, name_a): (&[u32], &[f64], u64),
        (of_b, wb, name_b): (&[u32], &[f64], u64),
        n: Vec3,
        distance: f64,
        contacts: &mut Vec<Contact>,
    ) {
        let gap = distance - self.thickness;
        let (a, b) = (self.a.anchor(self.model, of_a, wa), self.b.anchor(self.model, of_b, wb));
        if !(moves(self.model, &a) || moves(self.model, &b)) {
            return;
        }
        let (n, a, b, sa, sb, name_a, name_b) = if self.swap {
            (-n, b, a, self.b, self.a, name_b, name_a)
        } else {
            (n, a, b, self.a, self.b, name_a, name_b)
        };
        let (xa, xb) = (mean(&self.a.x, of_a, wa), mean(&self.b.x, of_b, wb));
        let (frame, friction) = self.material.at(n);
        contacts.push(Contact {
            key: ContactKey { shape_a: sa.shape, shape_b: sb.shape, feature_a: name_a, feature_b: name_b },
            a,
            b,
            point: 0.5 * (xa + xb),
            frame,
            gap,
            friction,
            restitution: self.material.restitution,
        });
    }
}

/// A weighted mean of some of these.
fn mean(x: &[Vec3], of: &[u32], w: &[f64]) -> Vec3 {
    of.iter().zip(w).map(|(k, w)| x[*k as usize] * *w).sum()
}

fn doubled_area([a, b, c]: [Vec3; 3]) -> f64 {
    (b - a).cross(c - a).length()
}

/// True for points that have columns.
fn moves(model: &Model, anchor: &Anchor) -> bool {
    match *anchor {
        Anchor::World { .. } | Anchor::Kinematic { .. } => false,
        Anchor::Surface { solid, vertices, n, .. } => vertices[..n as usize]
            .iter()
            .any(|k| moves(model, &model.solids[solid.index()].vertices[*k as usize])),
        _ => true,
    }
}
