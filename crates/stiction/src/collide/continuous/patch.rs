//! A surface with its tree of boxes: where its vertices start, how far they are expected, and where a motion leads them.

use crate::collide::cover::Cover;
use crate::collide::skin::{Skin, Source};
use crate::collide::tree::Span;
use crate::coords::State;
use crate::linalg::Vec3;
use crate::scene::{Model, Owner};

/// Boxes hold this many times the way of a step (CR 5.1).
const WAYS: f64 = 3.0;
/// Half of the distance at which boxes meet that do not move, as a share of the size.
const MARGIN: f64 = 0.01;

pub(super) struct Patch {
    pub skin: Skin,
    pub cover: Cover,
    /// Where vertices start [m].
    pub x: Vec<Vec3>,
    /// Where they are led [m].
    pub end: Vec<Vec3>,
    /// The boxes in which vertices are expected.
    pub boxes: Vec<Span>,
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
        let mut x = vec![Vec3::ZERO; skin.x.len()];
        skin.positions(model, &model.initial, &mut x);
        Patch {
            used: skin.points(),
            cover: Cover::new(&skin, &x),
            end: x.clone(),
            boxes: vec![Span::EMPTY; x.len()],
            left: false,
            moves: match skin.source {
                Source::Soft(_) | Source::Rigid(Owner::Node(_) | Owner::Solid(_)) => true,
                Source::Rigid(Owner::Body(b)) => {
                    !matches!(model.bodies[b.index()].motion, crate::scene::Motion::Fixed)
                }
            },
            skin,
            x,
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
        self.cover.fit(&self.boxes);
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
        self.cover.fit(&self.boxes);
    }

    /// The box of the ways of some vertices.
    pub fn ways(&self, vertices: &[u32]) -> Span {
        Span::of(vertices.iter().flat_map(|k| [self.x[*k as usize], self.end[*k as usize]]))
    }
}
