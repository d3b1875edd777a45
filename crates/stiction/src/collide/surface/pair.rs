//! What two surfaces have in common, and the contacts between them.

use super::super::material::Material;
use super::super::skin::Skin;
use crate::collide::Contact;
use crate::contact::ContactKey;
use crate::coords::Anchor;
use crate::linalg::Vec3;
use crate::model::Model;

/// The margin where the scene gives none, as a share of the smaller size.
pub(super) const MARGIN: f64 = 0.02;
/// Contacts are not predicted farther than this share of the size from where features are at the start: beyond, the time
/// of impact tells what meets.
pub(super) const FARTHEST: f64 = 0.5;
/// Features nearer than this share of the size touch: there is no way between them to give a normal.
pub(super) const TOUCH: f64 = 1e-6;
/// Edges that have crossed by less than this share of the size go back; so do layers of one body.
pub(super) const CROSSED: f64 = 0.2;

/// What all contacts of a pair have in common.
pub(super) struct Pair<'a> {
    pub model: &'a Model,
    pub a: &'a Skin,
    pub b: &'a Skin,
    /// The same skin twice.
    pub is_self: bool,
    /// Which of both comes first in keys.
    pub swap: bool,
    pub h: f64,
    pub margin: f64,
    pub size: f64,
    pub thickness: f64,
    pub material: Material,
}

/// How far apart points that do not approach may be and still touch within the step, thickness apart [m].
pub(super) fn margin(model: &Model, a: &Skin, b: &Skin, h: f64) -> f64 {
    let size = a.size.min(b.size);
    model.contact.margin.unwrap_or(MARGIN * size) + model.gravity.length() * h * h
}

impl Pair<'_> {
    /// How deep in b vertices of a are looked for [m].
    pub fn deep(&self) -> f64 {
        if self.b.has_inside && !self.is_self { self.b.size } else { CROSSED * self.size }
    }

    /// Adds a contact between weighted means of vertices, if they may meet within the step.
    pub fn push(
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
    pub fn make(
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

/// True for points that have columns.
fn moves(model: &Model, anchor: &Anchor) -> bool {
    match *anchor {
        Anchor::Surface { solid, vertices, n, .. } => vertices[..n as usize]
            .iter()
            .any(|k| moves(model, &model.solids[solid.index()].vertices[*k as usize])),
        _ => model.block_of(anchor).is_some(),
    }
}
