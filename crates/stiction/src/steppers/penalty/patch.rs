//! Soft surfaces that touch each other, or themselves: nodes of one against the closest face of the other.
//!
//! Faces near a node are looked for once per step, from where the step begins, so that the matrix of a step has one pattern that
//! depends on nothing but that state. Within the step the closest of them counts: the signed distance of the deformed surface
//! is continuous, and its derivatives by the node and the corners of the face are exact. Edges do not touch edges, faces with corners
//! that a body holds do not touch, and sheets have no inside: they touch by their nodes.

use super::assembly::Frame;
use super::site::{Site, Sites};
use super::{Assembly, System};
use crate::coords::{Anchor, NodeId, SoftId, State};
use crate::linalg::closest_of_triangle;
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::{BlockMat, NearSymmetric, Vec3};
use crate::model::{Model, ModelNode, Owner};

/// Faces farther from a node than this many edge lengths, and its way in two steps, are not looked at.
const REACH: f64 = 1.5;
/// A surface touches itself where its rest shape keeps node and face this many edge lengths apart…
const APART: f64 = 2.0;
/// …and no deeper than this many: what is that far behind a face is the other side of the body.
const DEEPEST: f64 = 1.0;

/// Nodes of one owner that may touch the surface of a solid.
#[derive(Clone, Debug)]
pub struct SoftPair {
    /// The nodes.
    nodes: Vec<NodeId>,
    /// The solid.
    solid: SoftId,
    /// Faces of its surface with three free corners.
    faces: Vec<[NodeId; 3]>,
    /// Coefficients, as a place in [`Sites::pairs`].
    pair: usize,
    /// Layers about both surfaces [m].
    layer: f64,
    /// Where the nodes are theirs, too: places at rest, by node from the first one on.
    rest: Option<Vec<Vec3>>,
}

/// A node with the faces that it may touch in a step.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(super) node: NodeId,
    faces: Vec<[NodeId; 3]>,
    pub pair: usize,
    pub(super) layer: f64,
    /// Deepest that a node may be behind a face [m].
    deepest: f64,
}

/// Forces of a patch on its node and the corners of the face that it touches.
pub(crate) type PatchForce<const N: usize> = [(Frame, usize, DualVec<N>, DualVec<N>); 4];

impl Patch {
    /// Who owns the node, and whose faces they are.
    pub fn owners(&self, model: &Model) -> (Owner, Owner) {
        (model.whole(Owner::Node(self.node)), model.whole(Owner::Node(self.faces[0][0])))
    }
}

/// Radius of the ball that is the shape of a node [m].
fn radius(model: &Model, node: NodeId) -> f64 {
    let shape = model.nodes[node.index()].shape.map(|s| &model.shapes[s.index()]);
    shape.and_then(|s| s.geometry.as_ball().map(|b| b.radius)).unwrap_or(0.0)
}

/// All pairs of soft surfaces of a model that may touch, and their coefficients in `sites`.
pub(crate) fn soft_pairs(model: &Model, sites: &mut Sites) -> Vec<SoftPair> {
    let mut all = Vec::new();
    for (s, solid) in model.solids.iter().enumerate().filter(|(_, s)| !s.tets.is_empty()) {
        let id = SoftId(s as u32);
        let node = |v: &u32| match solid.vertices[*v as usize] {
            Anchor::Node(n) => Some(n),
            _ => None,
        };
        let face = |f: &[u32; 3]| Some([node(&f[0])?, node(&f[1])?, node(&f[2])?]);
        let faces: Vec<[NodeId; 3]> = solid.surface.iter().filter_map(face).collect();
        let Some(first) = faces.first() else { continue };
        // Owners of nodes that may touch it, in the order of the model.
        let mut owners: Vec<(Owner, Vec<NodeId>)> = Vec::new();
        let may_touch = |n: &ModelNode| n.shape.is_some() && (solid.self_contact || n.solid != Some(id));
        for (i, n) in model.nodes.iter().enumerate().filter(|(_, n)| may_touch(n)) {
            let node = NodeId(i as u32);
            let owner = n.solid.map_or(Owner::Node(node), Owner::Solid);
            match owners.last_mut().filter(|o| o.0 == owner) {
                Some(o) => o.1.push(node),
                None => owners.push((owner, vec![node])),
            }
        }
        for (owner, nodes) in owners {
            let rule = model.pair_rule(owner, Owner::Solid(id));
            if rule.is_some_and(|r| !r.collide) {
                continue;
            }
            let own = |n: NodeId| model.nodes[n.index()].shape.map(|s| &model.shapes[s.index()].friction);
            let (Some(a), Some(b)) = (own(nodes[0]), own(first[0])) else { continue };
            let mean = super::site::mean;
            let mu = rule.and_then(|r| r.friction);
            let mu = mu.unwrap_or_else(|| model.contact.combine_friction.apply(mean(a), mean(b)));
            let pair = sites.pair_of(owner, Owner::Solid(id), (mu, mu));
            let layer = radius(model, nodes[0]) + radius(model, first[0]);
            let rest = (owner == Owner::Solid(id)).then(|| {
                let mut rest = vec![Vec3::ZERO; solid.nodes.len()];
                for (anchor, x) in solid.vertices.iter().zip(&solid.rest) {
                    if let Anchor::Node(n) = anchor {
                        rest[n.index() - solid.nodes.start] = *x;
                    }
                }
                rest
            });
            all.push(SoftPair { nodes, solid: id, faces: faces.clone(), pair, layer, rest });
        }
    }
    all
}

pub(super) fn position(model: &Model, state: &State, n: NodeId) -> Vec3 {
    Vec3::from_slice(&state.q[model.nodes[n.index()].q..])
}

impl System {
    /// Looks for faces near nodes at a state; where they ask for another pattern the matrices are made anew.
    pub(crate) fn find_patches(&mut self, state: &State) {
        if self.soft_pairs.is_empty() {
            return;
        }
        let model = &self.model;
        self.patches.clear();
        let mut pattern = Vec::new();
        let block = |n: NodeId| model.nodes[n.index()].block as u32;
        for p in &self.soft_pairs {
            let speed = |n: NodeId| Vec3::from_slice(&state.v[model.nodes[n.index()].dof..]).length();
            let fastest = p.nodes.iter().map(|n| speed(*n)).fold(0.0, f64::max)
                + p.faces.iter().map(|f| speed(f[0])).fold(0.0, f64::max);
            let reach = REACH * model.solids[p.solid.index()].edge + 2.0 * self.h * fastest + p.layer;
            // Boxes of faces, and one about all of them.
            let boxes: Vec<(Vec3, Vec3)> = p
                .faces
                .iter()
                .map(|f| {
                    let x = f.map(|n| position(model, state, n));
                    (x[0].min(x[1]).min(x[2]) - reach, x[0].max(x[1]).max(x[2]) + reach)
                })
                .collect();
            let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            let whole = boxes.iter().fold(start, |a, b| (a.0.min(b.0), a.1.max(b.1)));
            let holds = |b: &(Vec3, Vec3), x: Vec3| x.cmpge(b.0).all() && x.cmple(b.1).all();
            for &node in &p.nodes {
                let x = position(model, state, node);
                if !holds(&whole, x) {
                    continue;
                }
                let solid = &model.solids[p.solid.index()];
                let apart = |f: &[NodeId; 3]| {
                    p.rest.as_ref().is_none_or(|rest| {
                        let at = |n: NodeId| rest[n.index() - solid.nodes.start];
                        f.iter().all(|c| at(*c).distance(at(node)) > APART * solid.edge)
                    })
                };
                let near = p.faces.iter().zip(&boxes).filter(|(f, b)| holds(b, x) && apart(f));
                let faces: Vec<[NodeId; 3]> = near.map(|(f, _)| *f).collect();
                if faces.is_empty() {
                    continue;
                }
                pattern.extend(faces.iter().flatten().map(|n| (block(node), block(*n))));
                let deepest = if p.rest.is_some() { DEEPEST * solid.edge } else { f64::INFINITY };
                self.patches.push(Patch { node, faces, pair: p.pair, layer: p.layer, deepest });
            }
        }
        pattern.sort_unstable();
        pattern.dedup();
        if pattern != self.patch_pattern {
            self.patch_pattern = pattern;
            let all = [&self.pattern[..], &self.patch_pattern[..]].concat();
            let pattern = BlockMat::with_pattern(&self.model.layout.widths(), &all);
            self.gq = pattern.clone();
            self.gv = pattern.clone();
            self.rd = pattern.clone();
            self.asm = Assembly::new(pattern);
            self.lu = NearSymmetric::default();
        }
    }

    /// The closest face of a patch: its corners, weights of the closest point and signed distance.
    pub(super) fn closest_face(&self, state: &State, p: &Patch) -> Option<([NodeId; 3], [f64; 3], f64)> {
        let at = |n: NodeId| position(&self.model, state, n);
        let x = at(p.node);
        let mut best: Option<([NodeId; 3], [f64; 3], f64, f64)> = None;
        for f in &p.faces {
            let y = f.map(at);
            let w = closest_of_triangle(x, y);
            let off = x - (y[0] * w[0] + y[1] * w[1] + y[2] * w[2]);
            let d = off.length();
            let along = (y[1] - y[0]).cross(y[2] - y[0]).normalize_or_zero().dot(off);
            if along < 0.0 && d > p.deepest {
                continue;
            }
            // Of faces that share the closest point the one that is seen most directly tells inside from outside.
            let better = best.as_ref().is_none_or(|b| {
                let near = b.2.abs();
                d < near * (1.0 - 1e-12) || (d <= near * (1.0 + 1e-12) && along.abs() > b.3)
            });
            if better {
                best = Some((*f, w, if along < 0.0 { -d } else { d }, along.abs()));
            }
        }
        best.map(|b| (b.0, b.1, b.2))
    }

    /// Force of a patch; nothing where node and surface are apart. Variables: those of the node, then those of the three corners.
    pub(crate) fn patch_force<const N: usize>(&self, state: &State, p: &Patch) -> Option<PatchForce<N>> {
        let (face, w, d) = self.closest_face(state, p)?;
        if d >= p.layer {
            return None;
        }
        let frame = |n: NodeId| Frame::at(&self.model, state, Owner::Node(n));
        let frames = [frame(p.node), frame(face[0]), frame(face[1]), frame(face[2])];
        let dual = [0, 1, 2, 3].map(|k| frames[k].dual::<N>(6 * k));
        let (x, y) = (dual[0].x, [dual[1].x, dual[2].x, dual[3].x]);
        let sign = Dual::constant(if d < 0.0 { -1.0 } else { 1.0 });
        let one = Dual::constant(1.0);
        let corners: Vec<usize> = (0..3).filter(|k| w[*k] > 0.0).collect();
        let mut weight = [Dual::constant(0.0); 3];
        let (gap, normal) = match corners[..] {
            [i, j, k] => {
                let (e1, e2, r) = (y[j] - y[i], y[k] - y[i], x - y[i]);
                let m = e1.cross(&e2);
                let square = m.dot(&m).recip();
                weight[j] = r.cross(&e2).dot(&m) * square;
                weight[k] = e1.cross(&r).dot(&m) * square;
                weight[i] = one - weight[j] - weight[k];
                let n = m.scaled(m.length().recip());
                (n.dot(&r), n)
            }
            _ => {
                let c = match corners[..] {
                    [i, j] => {
                        let e = y[j] - y[i];
                        weight[j] = (x - y[i]).dot(&e) * e.dot(&e).recip();
                        weight[i] = one - weight[j];
                        y[i] + e.scaled(weight[j])
                    }
                    _ => {
                        let k = *corners.first()?;
                        weight[k] = one;
                        y[k]
                    }
                };
                let off = x - c;
                let length = off.length();
                if length.x == 0.0 {
                    return None;
                }
                (length * sign, off.scaled(length.recip() * sign))
            }
        };
        let v = |k: usize| dual[k + 1].v.scaled(weight[k]);
        let u = dual[0].v - v(0) - v(1) - v(2);
        let law = Site::law(&self.settings, self.h);
        let c = self.pair_coefficients::<N>(p.pair);
        let force = law.force(&c, gap - Dual::constant(p.layer), &normal, &u, None)?;
        let none = DualVec::constant(Vec3::ZERO);
        let on = |k: usize| (frames[k + 1], 6 * (k + 1), -force.scaled(weight[k]), none);
        Some([(frames[0], 0, force, none), on(0), on(1), on(2)])
    }

    /// Adds the forces of all patches.
    pub(super) fn add_patches(&mut self) {
        let patches = std::mem::take(&mut self.patches);
        for p in &patches {
            if self.asm.matrices {
                if let Some(sides) = self.patch_force::<24>(&self.there.state, p) {
                    self.contacts += 1;
                    self.asm.add_dual(&sides);
                }
            } else if let Some(sides) = self.patch_force::<0>(&self.there.state, p) {
                self.contacts += 1;
                self.asm.add_dual(&sides);
            }
        }
        self.patches = patches;
    }
}
