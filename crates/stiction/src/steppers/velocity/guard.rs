//! Steps that end without intersection: the motion that a step found is tried before it is made.
//!
//! Impacts on the straight ways of all vertices become contacts and the step is solved again (CR 5.2). Where that does not
//! end, bodies are held back: they make only the part of their way that is free. Since the start of every step is free of
//! intersections, so is its end.

use crate::collide::{Contact, Continuous, Hit};
use crate::coords::ShapeId;
use crate::kinematics::{Kinematics, Placement};
use crate::model::{Model, Owner};

/// Surfaces aim at this share of the smaller scale as a gap, so that rounding and curvature do not bring them into touch.
const CLEARANCE: f64 = 2e-3;
/// Solves for impacts before bodies are held back.
pub(crate) const MOST_PASSES: usize = 6;
/// Rounds of shorter and shorter ways; then the bodies in question stay, and then all.
const MOST_ROUNDS: usize = 24;
/// The part of the way to an impact that is made.
const SAFE: f64 = 0.9;

/// Finds impacts of a step's motion, and shortens motions.
pub(crate) struct Guard {
    continuous: Continuous,
    pub hits: Vec<Hit>,
    /// Blocks that move together because joints, rods or solids tie them: number of the group of each block.
    groups: Vec<usize>,
    /// Part of its way that each group makes.
    kept: Vec<f64>,
    /// What a round takes of it.
    parts: Vec<f64>,
}

impl Guard {
    pub fn new(model: &Model) -> Guard {
        let groups = groups(model);
        Guard {
            continuous: Continuous::new(model),
            hits: Vec::new(),
            kept: vec![1.0; groups.len()],
            parts: vec![1.0; groups.len()],
            groups,
        }
    }

    /// Finds the candidates of a step.
    pub fn start(&mut self, kin: Kinematics<'_>, h: f64) {
        self.continuous.find_candidates(kin, h);
    }

    /// True when something meets on the way from one state to another; `hits` says what.
    pub fn meets(&mut self, kin: Kinematics<'_>, ahead: Kinematics<'_>) -> bool {
        self.continuous.impacts(kin, ahead, &mut self.hits);
        !self.hits.is_empty()
    }

    /// Shortens the motion `v` until nothing meets; `lead` says where a motion leads. Returns the smallest part of its way
    /// that some body makes, and how many impacts are left, because bodies that follow a path cannot be held.
    pub fn hold_back(
        &mut self,
        kin: Kinematics<'_>,
        v: &mut [f64],
        ahead: &mut Placement,
        mut lead: impl FnMut(&[f64], &mut Placement),
    ) -> (f64, usize) {
        let model = kin.model;
        self.kept.fill(1.0);
        let full = v.to_vec();
        for round in 0..MOST_ROUNDS {
            self.parts.fill(1.0);
            for hit in &self.hits {
                let part = if round < MOST_ROUNDS / 2 { SAFE * hit.time } else { 0.0 };
                for block in hit.owners.iter().filter_map(|o| first_block(model, *o)) {
                    let g = self.groups[block];
                    self.parts[g] = self.parts[g].min(part);
                }
            }
            for (kept, part) in self.kept.iter_mut().zip(&self.parts) {
                *kept *= part;
            }
            if round + 2 >= MOST_ROUNDS {
                self.kept.fill(0.0);
            }
            for (k, b) in model.layout.blocks().iter().enumerate() {
                let part = self.kept[self.groups[k]];
                for i in b.v..b.v + b.nv {
                    v[i] = full[i] * part;
                }
            }
            lead(v, ahead);
            if !self.meets(kin, ahead.kinematics(model)) {
                break;
            }
        }
        (self.kept.iter().fold(1.0, |m: f64, k| m.min(*k)), self.hits.len())
    }
}

/// A block of an owner, if it has dofs.
fn first_block(model: &Model, owner: Owner) -> Option<usize> {
    match owner {
        Owner::Body(b) => model.bodies[b.index()].block,
        Owner::Node(n) => Some(model.nodes[n.index()].block),
        Owner::Solid(s) => {
            let nodes = &model.nodes[model.solids[s.index()].nodes.clone()];
            nodes.first().map(|n| n.block)
        }
    }
}

/// The gap [m] that a contact aims at: none between rigid bodies.
pub(crate) fn clearance(model: &Model, c: &Contact) -> f64 {
    let scale = |s: ShapeId| model.shapes[s.index()].scale;
    let is_guarded = |s: ShapeId| match model.whole(model.shapes[s.index()].owner) {
        Owner::Solid(_) => true,
        Owner::Body(b) => model.bodies[b.index()].link.is_some(),
        Owner::Node(_) => false,
    };
    let (a, b) = (c.key.shape_a, c.key.shape_b);
    if is_guarded(a) || is_guarded(b) { CLEARANCE * scale(a).min(scale(b)) } else { 0.0 }
}

/// Groups of blocks, by union–find.
fn groups(model: &Model) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..model.layout.blocks().len()).collect();
    fn root(parent: &mut [usize], mut k: usize) -> usize {
        while parent[k] != k {
            parent[k] = parent[parent[k]];
            k = parent[k];
        }
        k
    }
    let mut tie = |blocks: &mut dyn Iterator<Item = usize>| {
        let Some(first) = blocks.next() else { return };
        for b in blocks {
            let (x, y) = (root(&mut parent, first), root(&mut parent, b));
            parent[x.max(y)] = x.min(y);
        }
    };
    for s in &model.solids {
        tie(&mut s.vertices.iter().filter_map(|a| model.block_of(a)));
    }
    for r in &model.rods {
        tie(&mut r.links.clone().filter_map(|b| model.bodies[b].block));
    }
    for j in &model.joints {
        tie(&mut j.a.into_iter().chain([j.b]).filter_map(|b| model.bodies[b.index()].block));
    }
    (0..parent.len()).map(|k| root(&mut parent, k)).collect()
}
