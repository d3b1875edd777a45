//! A surface with its tree of boxes: where its vertices start, how far they are expected, and where a motion leads them.

use crate::collide::skin::{NONE, Skin, Source};
use crate::collide::tree::{Span, Tree};
use crate::coords::State;
use crate::linalg::Vec3;
use crate::scene::{Model, Owner};

/// Boxes hold this many times the way of a step (CR 5.1).
const WAYS: f64 = 3.0;
/// Half of the distance at which boxes meet that do not move, as a share of the size.
const MARGIN: f64 = 0.01;

/// A face with the vertices and edges that it speaks for, so that each pair of features is met once; or an edge or a vertex
/// without a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub face: u32,
    pub vertices: [u32; 3],
    pub edges: [u32; 3],
}

pub(super) struct Patch {
    pub skin: Skin,
    pub leaves: Vec<Leaf>,
    pub tree: Tree,
    /// Where vertices start [m].
    pub x: Vec<Vec3>,
    /// Where they are led [m].
    pub end: Vec<Vec3>,
    /// The boxes in which vertices are expected.
    pub boxes: Vec<Span>,
    spans: Vec<Span>,
    used: Vec<u32>,
    /// Some vertex left its box.
    pub left: bool,
    /// It has dofs, or follows a path.
    pub moves: bool,
}

impl Patch {
    pub fn new(model: &Model, mut skin: Skin) -> Patch {
        if skin.edges.is_empty() && skin.triangles.is_empty() {
            // A ball is an edge without length.
            skin.add_point_edge();
        }
        let n = skin.x.len();
        let (mut vertex_taken, mut edge_taken) = (vec![false; n], vec![false; skin.edges.len()]);
        let take = |taken: &mut Vec<bool>, k: u32| {
            if std::mem::replace(&mut taken[k as usize], true) { NONE } else { k }
        };
        let mut leaves: Vec<Leaf> = Vec::new();
        for (f, t) in skin.triangles.iter().enumerate() {
            leaves.push(Leaf {
                face: f as u32,
                vertices: t.map(|k| take(&mut vertex_taken, k)),
                edges: skin.triangle_edges[f].map(|e| take(&mut edge_taken, e)),
            });
        }
        for e in 0..skin.edges.len() as u32 {
            if skin.edges[e as usize].faces == [NONE; 2] {
                let ends = skin.edges[e as usize].ends.map(|k| take(&mut vertex_taken, k));
                leaves.push(Leaf { face: NONE, vertices: [ends[0], ends[1], NONE], edges: [e, NONE, NONE] });
            }
        }
        let mut x = vec![Vec3::ZERO; n];
        skin.positions(model, &model.initial, &mut x);
        let mut patch = Patch {
            used: skin.points(),
            tree: Tree::default(),
            end: x.clone(),
            boxes: vec![Span::EMPTY; n],
            spans: Vec::new(),
            left: false,
            moves: match skin.source {
                Source::Soft(_) | Source::Rigid(Owner::Node(_) | Owner::Solid(_)) => true,
                Source::Rigid(Owner::Body(b)) => {
                    !matches!(model.bodies[b.index()].motion, crate::scene::Motion::Fixed)
                }
            },
            skin,
            leaves,
            x,
        };
        let middles: Vec<Vec3> = (0..patch.leaves.len())
            .map(|k| {
                let span = Span::of(patch.corners(k).iter().map(|k| patch.x[*k as usize]));
                0.5 * (span.min + span.max)
            })
            .collect();
        patch.tree = Tree::new(&middles);
        patch
    }

    /// Vertices of a leaf, some of them twice.
    fn corners(&self, leaf: usize) -> [u32; 3] {
        let leaf = &self.leaves[leaf];
        match leaf.face {
            NONE => {
                let [i, j] = self.skin.edges[leaf.edges[0] as usize].ends;
                [i, j, j]
            }
            f => self.skin.triangles[f as usize],
        }
    }

    /// Takes positions and expected boxes from the state.
    pub fn place(&mut self, model: &Model, state: &State, h: f64) {
        self.skin.positions(model, state, &mut self.x);
        let grow = self.skin.thickness + MARGIN * self.skin.size;
        for &k in &self.used {
            let (x, v) = (self.x[k as usize], self.skin.point_velocity(model, state, k, h));
            self.boxes[k as usize] = Span::of([x, x + v * (WAYS * h)]).grown(grow);
        }
        self.left = false;
        self.fit();
    }

    fn fit(&mut self) {
        self.spans.clear();
        for k in 0..self.leaves.len() {
            let span = self.corners(k).iter().fold(Span::EMPTY, |s, k| s.and(self.boxes[*k as usize]));
            self.spans.push(span);
        }
        self.tree.fit(&self.spans);
    }

    /// Takes the end of the ways from another state, and notes whether some vertex leaves its box.
    pub fn lead_to(&mut self, model: &Model, ahead: &State) {
        self.skin.positions(model, ahead, &mut self.end);
        let thickness = self.skin.thickness;
        self.left = self.used.iter().any(|k| {
            let way = Span::of([self.end[*k as usize]]).grown(thickness);
            !self.boxes[*k as usize].holds(&way)
        });
    }

    /// Boxes hold the ends of the ways, too.
    pub fn extend(&mut self) {
        let grow = self.skin.thickness + MARGIN * self.skin.size;
        for &k in &self.used {
            let (x, end) = (self.x[k as usize], self.end[k as usize]);
            let way = Span::of([end]).grown(self.skin.thickness);
            if !self.boxes[k as usize].holds(&way) {
                // Some more, so that the next pass need not ask again.
                let far = end + 0.5 * (end - x);
                self.boxes[k as usize] = self.boxes[k as usize].and(Span::of([far]).grown(grow));
            }
        }
        self.fit();
    }

    /// The box of the ways of some vertices.
    pub fn ways(&self, vertices: &[u32]) -> Span {
        Span::of(vertices.iter().flat_map(|k| [self.x[*k as usize], self.end[*k as usize]]))
    }
}
