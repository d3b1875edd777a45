//! The features of a skin in a tree of boxes: one leaf per face, which also speaks for some of its vertices and edges, so
//! that each pair of features is met once.

use super::skin::{NONE, Skin};
use super::tree::{Span, Tree};
use crate::linalg::Vec3;

/// A face with the vertices and edges that it speaks for; or an edge or a vertex without a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub face: u32,
    pub vertices: [u32; 3],
    pub edges: [u32; 3],
}

/// Leaves, their tree and their boxes.
pub(super) struct Cover {
    pub leaves: Vec<Leaf>,
    pub tree: Tree,
    /// Vertices of each leaf, some of them twice.
    corners: Vec<[u32; 3]>,
    spans_of_leaves: Vec<Span>,
}

impl Cover {
    /// Of a skin whose vertices are at `x` when its tree is made.
    pub fn new(skin: &Skin, x: &[Vec3]) -> Cover {
        let (mut vertex_taken, mut edge_taken) = (vec![false; x.len()], vec![false; skin.edges.len()]);
        let take = |taken: &mut Vec<bool>, k: u32| {
            if std::mem::replace(&mut taken[k as usize], true) { NONE } else { k }
        };
        let (mut leaves, mut corners) = (Vec::new(), Vec::new());
        for (f, t) in skin.triangles.iter().enumerate() {
            corners.push(*t);
            leaves.push(Leaf {
                face: f as u32,
                vertices: t.map(|k| take(&mut vertex_taken, k)),
                edges: skin.triangle_edges[f].map(|e| take(&mut edge_taken, e)),
            });
        }
        for (e, edge) in skin.edges.iter().enumerate().filter(|(_, e)| e.faces == [NONE; 2]) {
            let [i, j] = edge.ends;
            corners.push([i, j, j]);
            let ends = edge.ends.map(|k| take(&mut vertex_taken, k));
            leaves.push(Leaf {
                face: NONE,
                vertices: [ends[0], ends[1], NONE],
                edges: [e as u32, NONE, NONE],
            });
        }
        for &k in &skin.vertices {
            if !vertex_taken[k as usize] {
                corners.push([k; 3]);
                leaves.push(Leaf { face: NONE, vertices: [k, NONE, NONE], edges: [NONE; 3] });
            }
        }
        let middle = |c: &[u32; 3]| {
            let span = Span::of(c.iter().map(|k| x[*k as usize]));
            0.5 * (span.min + span.max)
        };
        let middles: Vec<Vec3> = corners.iter().map(middle).collect();
        Cover { leaves, tree: Tree::new(&middles), corners, spans_of_leaves: Vec::new() }
    }

    /// Fits the boxes to those of the vertices.
    pub fn fit(&mut self, boxes: &[Span]) {
        let mut spans = std::mem::take(&mut self.spans_of_leaves);
        self.spans(boxes, &mut spans);
        self.tree.fit(&spans);
        self.spans_of_leaves = spans;
    }

    /// Boxes of the leaves from those of the vertices.
    pub fn spans(&self, boxes: &[Span], spans: &mut Vec<Span>) {
        spans.clear();
        let span = |c: &[u32; 3]| c.iter().fold(Span::EMPTY, |s, k| s.and(boxes[*k as usize]));
        spans.extend(self.corners.iter().map(span));
    }
}
