//! A surface: where its vertices start, and where a motion leads them.

use super::firm::Firm;
use crate::collide::candidates::{Left, Surface};
use crate::collide::cover::Cover;
use crate::collide::skin::{Skin, Source};
use crate::collide::tree::Span;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::{Model, Owner};

/// By how much loose boxes are wider than the present motion, as a share of the size.
const LOOSE: f64 = 0.01;

pub(super) struct Patch {
    pub skin: Skin,
    /// Where vertices start [m].
    pub x: Vec<Vec3>,
    /// Where they are led [m].
    pub end: Vec<Vec3>,
    /// Boxes of their ways, and of those of the leaves.
    ways: Vec<Span>,
    pub leaf_ways: Vec<Span>,
    used: Vec<u32>,
    /// Which of its parts cannot touch themselves, where it may.
    firm: Option<Firm>,
    /// It has dofs, or follows a path.
    pub moves: bool,
}

impl Patch {
    pub fn new(start: Kinematics<'_>, mut skin: Skin) -> Patch {
        if skin.edges.is_empty() && skin.triangles.is_empty() {
            // A ball is an edge without length.
            skin.add_point_edge();
        }
        let mut x = vec![Vec3::ZERO; skin.x.len()];
        skin.positions(start, &mut x);
        Patch {
            used: skin.points(),
            firm: None,
            end: x.clone(),
            ways: vec![Span::EMPTY; x.len()],
            leaf_ways: Vec::new(),
            moves: match skin.source {
                Source::Soft(_) | Source::Rigid(Owner::Node(_) | Owner::Solid(_)) => true,
                Source::Rigid(Owner::Body(b)) => {
                    !matches!(start.model.bodies[b.index()].motion, crate::model::Motion::Fixed)
                }
            },
            skin,
            x,
        }
    }

    /// The surface of the patch, for the lists of candidates.
    pub fn surface(&mut self, model: &Model) -> Surface {
        let cover = Cover::new(&self.skin, &self.x);
        if let (Source::Soft(id), true) = (self.skin.source, self.skin.self_contact) {
            let rest = &model.solids[id.index()].rest;
            let separation = super::separation(&self.skin, &self.skin);
            let reach = |one: &[u32], two: &[u32]| self.skin.self_thickness(model, one, two) + separation;
            let most = 2.0 * self.skin.thickness + separation;
            self.firm = Some(Firm::new(&self.skin, &cover, rest, reach, most));
        }
        Surface::new(cover, self.x.len())
    }

    /// Loose boxes hold what the present velocities ask for.
    pub fn place(&mut self, kin: Kinematics<'_>, h: f64, surface: &mut Surface) {
        self.skin.positions(kin, &mut self.x);
        self.skin.ends(kin, h, &self.x, &mut self.end);
        self.hold(Left::Drop, surface);
    }

    /// Takes the end of the ways from another state; loose boxes hold them, too.
    pub fn lead_to(&mut self, ahead: Kinematics<'_>, surface: &mut Surface) {
        self.skin.positions(ahead, &mut self.end);
        self.hold(Left::Grow, surface);
        for &k in &self.used {
            self.ways[k as usize] = Span::of([self.x[k as usize], self.end[k as usize]]);
        }
        surface.cover.spans(&self.ways, &mut self.leaf_ways);
    }

    fn hold(&self, left: Left, surface: &mut Surface) {
        let need = self.skin.thickness + super::SEPARATION * self.skin.size;
        let way = |k: u32| [self.x[k as usize], self.end[k as usize]];
        surface.hold(&self.used, (need, LOOSE * self.skin.size), left, way);
        if let Some(firm) = &self.firm {
            surface.keep_apart(
                |nodes| firm.vouches_for(nodes, &self.x, &self.end),
                |nodes| firm.select(&self.x, &self.end, nodes),
            );
        }
    }

    /// The box of the ways of some vertices.
    pub fn ways(&self, vertices: &[u32]) -> Span {
        vertices.iter().fold(Span::EMPTY, |s, k| s.and(self.ways[*k as usize]))
    }
}
