//! The contacts of one pair of surfaces: from near leaves to features, and from features to contacts.
//!
//! Where no edge of one passes through a face of the other, no vertex is inside and no edges have crossed, and features are
//! looked for as near as they can meet within the step. Else those that are as deep as contacts go are looked for, too.

use super::super::candidates::{Nearby, Surface};
use super::super::cover::Leaf;
use super::super::skin::{NONE, Skin, material};
use super::super::tree::Span;
use super::pair::{CROSSED, FARTHEST, TOUCH, margin};
use super::vertex::Candidate;
use super::{Pair, Placed};
use crate::collide::Contact;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use std::collections::BTreeSet;

/// A face counts as this much larger than it is where edges pass through it, as a share of its weights: none slips between two.
const WIDER: f64 = 1e-9;

/// What to look for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Search {
    #[default]
    All,
    /// Only what vertices pass through.
    Fast,
}

/// Surfaces with the boxes of their present motion.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub kin: Kinematics<'a>,
    pub skins: &'a [Skin],
    pub placed: &'a [Placed],
    pub surfaces: &'a [Surface],
    pub h: f64,
    pub search: Search,
}

/// Buffers and results of one pair of skins.
#[derive(Default)]
pub(super) struct Job {
    /// Vertices of the first near faces of the second, of the second near faces of the first, and edges near edges.
    found: [Vec<(u32, u32)>; 3],
    features: Vec<Candidate>,
    /// (Sharp edge, end of a flat edge that crosses it).
    used: BTreeSet<(u64, u32)>,
    pub contacts: Vec<Contact>,
}

impl Job {
    pub fn run(&mut self, field: Field, list: &Nearby) {
        let Field { kin, skins, h, search, .. } = field;
        self.contacts.clear();
        let (a, b) = (&skins[list.pair.0 as usize], &skins[list.pair.1 as usize]);
        if search == Search::Fast && h * (a.fastest + b.fastest) <= FARTHEST * a.size.min(b.size) {
            return;
        }
        let is_self = list.pair.0 == list.pair.1;
        let model = kin.model;
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
            material: if swap { material(kin, b, a) } else { material(kin, a, b) },
        };
        let swap = a.shape > b.shape;
        let (one, two) = (pair(a, b, swap), pair(b, a, !swap));
        self.find(&one, &two, field, list);
        if b.touches_by_faces {
            self.vertices_on_faces(&one, 0, search);
        }
        if a.touches_by_faces && !is_self {
            self.vertices_on_faces(&two, 1, search);
        }
        if search == Search::All {
            self.edges_on_edges(&one);
        }
    }

    /// Features whose boxes come near each other, in the order of the lists of those that touch.
    fn find(&mut self, one: &Pair, two: &Pair, field: Field, list: &Nearby) {
        self.found.iter_mut().for_each(Vec::clear);
        let least = one.margin + one.thickness;
        let covers = [list.pair.0, list.pair.1].map(|k| &field.surfaces[k as usize].cover);
        // Points and segments have no faces through which anything could be seen to pass.
        let is_open = one.a.triangles.is_empty() || one.b.triangles.is_empty();
        let goes_deep = field.search == Search::All;
        let mut is_deep = goes_deep && (is_open || contains(one, two));
        if !is_deep {
            for &(i, j) in &list.leaves {
                is_deep |= self.meet(one, field, list.pair, (i, j), [least; 3]) && goes_deep;
            }
        }
        if is_deep {
            self.found.iter_mut().for_each(Vec::clear);
            let reach = [one.deep(), two.deep(), CROSSED * one.size].map(|d| d + least);
            let widest = reach.iter().copied().fold(0.0, f64::max);
            let mut meet = |i, j| {
                self.meet(one, field, list.pair, (i, j), reach);
            };
            if one.is_self {
                covers[0].tree.self_pairs(widest, &[], &mut meet);
            } else {
                covers[0].tree.pairs(&covers[1].tree, widest, &mut meet);
            }
        }
        self.found.iter_mut().for_each(|f| f.sort_unstable());
    }

    /// Notes the features of two leaves that come near each other; true where one leaf passes through the other.
    fn meet(
        &mut self,
        one: &Pair,
        field: Field,
        (first, second): (u32, u32),
        (i, j): (u32, u32),
        reach: [f64; 3],
    ) -> bool {
        let (pa, pb) = (&field.placed[first as usize], &field.placed[second as usize]);
        let (span_a, span_b) = (&pa.leaves[i as usize], &pb.leaves[j as usize]);
        if !span_a.is_near(span_b, reach[0].max(reach[1]).max(reach[2])) {
            return false;
        }
        let cover = |k: u32| &field.surfaces[k as usize].cover;
        let (la, lb) = (&cover(first).leaves[i as usize], &cover(second).leaves[j as usize]);
        let near = |from: &Leaf, p: &Placed, face: u32, span: &Span, reach: f64, to: &mut Vec<_>| {
            for v in from.vertices.iter().filter(|v| face != NONE && **v != NONE) {
                let at = p.vertex_at[*v as usize];
                if at != NONE && p.boxes[*v as usize].is_near(span, reach) {
                    to.push((at, face));
                }
            }
        };
        let [on_b, on_a, edges] = &mut self.found;
        if one.b.touches_by_faces {
            near(la, pa, lb.face, span_b, reach[0], on_b);
        }
        if one.a.touches_by_faces {
            let to = if one.is_self { &mut *on_b } else { &mut *on_a };
            near(lb, pb, la.face, span_a, reach[1], to);
        }
        if field.search == Search::All {
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
        }
        la.face != NONE && lb.face != NONE && span_a.meets(span_b) && {
            let adjacent = one.is_self && {
                let t = one.a.triangles[la.face as usize];
                one.b.triangles[lb.face as usize].iter().any(|k| t.contains(k))
            };
            !adjacent
                && (passes(one.a, la, one.b, lb.face, one.size)
                    || passes(one.b, lb, one.a, la.face, one.size))
        }
    }

    /// Vertices of a against faces, edges and vertices of b.
    fn vertices_on_faces(&mut self, p: &Pair, which: usize, search: Search) {
        let a = p.a;
        let deep = p.deep();
        let found = std::mem::take(&mut self.found[which]);
        for group in found.chunk_by(|x, y| x.0 == y.0) {
            let v = a.vertices[group[0].0 as usize];
            let before = self.contacts.len();
            if search == Search::All {
                self.features.clear();
                for &(_, f) in group {
                    self.features.extend(p.candidate(v, f));
                }
                // One entry per feature, those of the lowest kind first among equals.
                self.features.sort_unstable_by_key(|c| (c.name, c.face));
                self.features.dedup_by_key(|c| c.name);
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

/// True where one surface lies within the box of another that has an inside.
fn contains(one: &Pair, two: &Pair) -> bool {
    let within = |p: &Pair| {
        p.b.has_inside && p.b.touches_by_faces && p.b.min.cmple(p.a.min).all() && p.a.max.cmple(p.b.max).all()
    };
    !one.is_self && (within(one) || within(two))
}

/// True where an edge that the leaf of `a` speaks for passes through a face of `b`, deeper than features touch.
fn passes(a: &Skin, leaf: &Leaf, b: &Skin, face: u32, size: f64) -> bool {
    let [p, q, r] = b.triangles[face as usize].map(|k| b.x[k as usize]);
    let n = (q - p).cross(r - p);
    let touch = TOUCH * size * n.length();
    leaf.edges.iter().filter(|e| **e != NONE).any(|&e| {
        let [x, y] = a.edges[e as usize].ends.map(|k| a.x[k as usize]);
        let (s, t) = (n.dot(x - p), n.dot(y - p));
        let (low, high) = (s.min(t), s.max(t));
        let through = low < -touch && high >= -touch || !b.has_inside && low <= touch && high > touch;
        if !through {
            return false;
        }
        // Where the plane of the face is met, in weights of the corners times n².
        let at = x + (y - x) * (s / (s - t));
        let inside = |u: Vec3, v: Vec3| n.dot((v - u).cross(at - u)) >= -WIDER * n.length_squared();
        inside(p, q) && inside(q, r) && inside(r, p)
    })
}
