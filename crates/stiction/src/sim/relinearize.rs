//! The non-linear contact problem (CR 3.3, Algorithm 1, lines 25–29): contacts are linearised again where the velocities found
//! lead, until every one that pushes has the gap there that it was solved for.
//!
//! A contact keeps its features. At the end of the motion their nearest points give its true gap C and normal:
//!
//! | what is found at convergence | what happens |
//! |---|---|
//! | the motion runs into something | new contacts ([`guard`](super::guard)) |
//! | a contact pushes, and \|C − clearance\| < ε₂ | it holds |
//! | it pushes, but its point has left the feature and is farther away | slid off: removed, once per step |
//! | it pushes otherwise | linearised anew, its geometry between the last and the present one (21) |
//!
//! In (21) the weight w belongs to the new geometry (R7): w = 1 is Newton's method, w = 0 would change nothing. It is 1, or what turns
//! the normal by 15°. The distance of nearest points has no first-order change from the nearest points themselves, so that
//! `C + h n·J (v′ − v)` is the tangent of C.
//!
//! Contacts of soft bodies and cloth keep their features; pairs of rigid shapes, segments of rods among them, are detected anew
//! where the motion leads, and contacts of the same name are compared. A rigid contact was solved for the gap that its row
//! predicts, since overlaps are pushed out by a motion of their own.

use super::rows::is_soft;
use crate::collide::{Collider, Contact, SignedDistance, on_segments, on_triangle};
use crate::contact::ContactKey;
use crate::coords::{Anchor, ShapeId, State};
use crate::linalg::{Quat, Vec3};
use crate::scene::{Model, Owner};

/// Solves for impacts and for contacts that have turned, before bodies are held back.
pub(super) const MOST_PASSES: usize = 20;
/// ε₂ as a share of the smaller scale: the paper's 5e-6 m on its edges of about 1 cm.
const TOLERANCE: f64 = 5e-4;
/// Normals turn by no more than this per linearisation [rad]: 15°.
const MOST_TURN: f64 = 0.2617993877991494;
/// Projections to and fro between a soft feature and a rigid shape.
const ALTERNATIONS: usize = 8;

/// What becomes of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Its gap is what it was solved for.
    Holds,
    /// It has slid off its feature.
    SlidOff,
    /// It was linearised anew; its gap is the one at the end of the motion along the new normal.
    Turned,
}

/// Looks at contacts where a motion has led them.
#[derive(Default)]
pub(super) struct Relinearizer {
    /// Signed distance of each rigid shape that was asked for.
    shapes: Vec<Option<SignedDistance>>,
    /// Contacts that were removed in this step, sorted.
    removed: Vec<ContactKey>,
    /// Pairs of rigid shapes that have contacts, and these contacts where the motion leads, sorted.
    pairs: Vec<(u32, u32)>,
    rigid: Vec<Contact>,
    /// Largest |C − clearance| of the contacts last judged [m].
    pub error: f64,
}

/// Nearest points of two features.
struct Nearest {
    a: Anchor,
    b: Anchor,
    /// Unit vector from b to a.
    normal: Vec3,
    /// The nearest point lies on the rim of a feature.
    on_rim: bool,
}

/// A contact as it was solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solved {
    /// The gap that it is to have at the end [m].
    pub gap: f64,
    /// It has a force.
    pub pushes: bool,
}

/// Points of a soft feature: a vertex, an edge or a face.
struct Feature {
    x: [Vec3; 3],
    n: usize,
}

impl Feature {
    fn of(model: &Model, state: &State, anchor: &Anchor) -> Option<Feature> {
        match anchor {
            Anchor::Node(_) => Some(Feature { x: [anchor.position(model, state); 3], n: 1 }),
            Anchor::Surface { .. } => {
                let (mut x, mut n) = ([Vec3::ZERO; 3], 0);
                for (corner, _) in anchor.corners(model) {
                    x[n] = corner.position(model, state);
                    n += 1;
                }
                Some(Feature { x, n })
            }
            _ => None,
        }
    }

    fn segment(&self) -> [Vec3; 2] {
        [self.x[0], self.x[self.n - 1]]
    }

    /// Weights of the point nearest to p.
    fn nearest_to(&self, p: Vec3) -> [f64; 3] {
        match self.n {
            1 => [1.0, 0.0, 0.0],
            2 => {
                let s = on_segments(self.segment(), [p, p]).0;
                [1.0 - s, s, 0.0]
            }
            _ => on_triangle(p, self.x).0,
        }
    }

    fn at(&self, w: [f64; 3]) -> Vec3 {
        (0..self.n).map(|k| self.x[k] * w[k]).sum()
    }

    fn is_rim(&self, w: [f64; 3]) -> bool {
        self.n > 1 && w[..self.n].contains(&0.0)
    }
}

/// The same feature with other weights.
fn weighted(anchor: &Anchor, weights: [f64; 3]) -> Anchor {
    match *anchor {
        Anchor::Surface { solid, vertices, n, .. } => Anchor::Surface { solid, vertices, w: weights, n },
        other => other,
    }
}

/// The share w of the new geometry with which a normal that turns by `angle` [rad] is taken (21).
fn weight(angle: f64) -> f64 {
    if angle > MOST_TURN { MOST_TURN / angle } else { 1.0 }
}

impl Relinearizer {
    /// Begins a step.
    pub fn start(&mut self, model: &Model) {
        self.shapes.resize_with(model.shapes.len(), || None);
        self.removed.clear();
    }

    /// Detects the pairs of rigid shapes among the contacts where the motion leads.
    pub fn look_at_rigid(
        &mut self,
        model: &Model,
        ahead: &State,
        contacts: &[Contact],
        collider: &mut Collider,
    ) {
        self.error = 0.0;
        self.pairs.clear();
        self.pairs.extend(
            contacts.iter().filter(|c| is_rigid(model, c)).map(|c| (c.key.shape_a.0, c.key.shape_b.0)),
        );
        self.pairs.dedup();
        collider.detect_pairs(model, ahead, &self.pairs, &mut self.rigid);
    }

    /// Contacts of rigid pairs that are not among those given and overlap where the motion leads.
    pub fn missing<'a>(
        &'a self,
        model: &'a Model,
        contacts: &'a [Contact],
    ) -> impl Iterator<Item = &'a Contact> {
        self.rigid.iter().filter(move |c| {
            c.gap < -tolerance(model, c) && contacts.binary_search_by(|o| o.key.cmp(&c.key)).is_err()
        })
    }

    /// Judges a contact where the motion from `state` leads.
    pub fn judge(
        &mut self,
        model: &Model,
        (state, ahead): (&State, &State),
        c: &mut Contact,
        solved: Solved,
    ) -> Verdict {
        let is_rigid = is_rigid(model, c);
        let Some((found, thickness)) = self.look(model, (state, ahead), c) else {
            // Features of a rigid pair may have changed names; without any contact it has come apart.
            let pair = |k: &ContactKey| (k.shape_a, k.shape_b);
            let apart = is_rigid && !self.rigid.iter().any(|o| pair(&o.key) == pair(&c.key));
            return match self.removed.binary_search(&c.key) {
                Err(at) if apart && solved.pushes => {
                    self.removed.insert(at, c.key);
                    Verdict::SlidOff
                }
                _ => Verdict::Holds,
            };
        };
        let way = |a: &Anchor, b: &Anchor| a.position(model, ahead) - b.position(model, ahead);
        let gap = found.normal.dot(way(&found.a, &found.b)) - thickness;
        let error = gap - solved.gap;
        let tolerance = tolerance(model, c);
        if !solved.pushes && (!is_rigid || gap >= -tolerance) {
            return Verdict::Holds;
        }
        if (is_rigid || gap > 0.0) && error.abs() <= tolerance {
            self.error = self.error.max(error.abs());
            return Verdict::Holds;
        }
        if let (true, true, Err(at)) = (found.on_rim, error > 0.0, self.removed.binary_search(&c.key)) {
            self.removed.insert(at, c.key);
            return Verdict::SlidOff;
        }
        self.error = self.error.max(error.abs());
        let w = weight(c.normal().angle_between(found.normal));
        let turn = Quat::IDENTITY.slerp(Quat::from_rotation_arc(c.normal(), found.normal), w);
        let frame = c.frame * crate::linalg::Mat3::from_quat(turn.conjugate());
        let (a, b) = (between(model, ahead, &c.a, &found.a, w), between(model, ahead, &c.b, &found.b, w));
        let point = 0.5 * (a.position(model, ahead) + b.position(model, ahead));
        let gap = frame.row(0).dot(way(&a, &b)) - thickness;
        *c = Contact { a, b, frame, point, gap, ..*c };
        Verdict::Turned
    }

    /// Nearest points of the features of a contact at the end of the motion, and the thickness that its gap leaves out.
    fn look(
        &mut self,
        model: &Model,
        (state, ahead): (&State, &State),
        c: &Contact,
    ) -> Option<(Nearest, f64)> {
        match (is_soft(model, &c.a), is_soft(model, &c.b)) {
            (true, true) => {
                // Straight ways: what the gap at the start lacks of the distance is thickness, whenever it was linearised.
                let start = c.a.position(model, state) - c.b.position(model, state);
                let thickness = (c.normal().dot(start) - c.gap).max(0.0);
                Some((soft_soft(model, ahead, c)?, thickness))
            }
            (true, false) => {
                let found = self.soft_rigid(model, ahead, (&c.a, &c.b), c.key.shape_b, c.normal())?;
                Some((found, model.shapes[c.key.shape_a.index()].reach))
            }
            (false, true) => {
                let found = self.soft_rigid(model, ahead, (&c.b, &c.a), c.key.shape_a, -c.normal())?;
                let found = Nearest { a: found.b, b: found.a, normal: -found.normal, ..found };
                Some((found, model.shapes[c.key.shape_b.index()].reach))
            }
            (false, false) => {
                let at = self.rigid.binary_search_by(|o| o.key.cmp(&c.key)).ok()?;
                let Contact { a, b, gap, .. } = self.rigid[at];
                let normal = self.rigid[at].normal();
                let way = a.position(model, ahead) - b.position(model, ahead);
                Some((Nearest { a, b, normal, on_rim: false }, normal.dot(way) - gap))
            }
        }
    }

    /// Of a soft feature (first of the two) and a rigid shape, by projections to and fro.
    fn soft_rigid(
        &mut self,
        model: &Model,
        ahead: &State,
        (soft, rigid): (&Anchor, &Anchor),
        shape: ShapeId,
        normal: Vec3,
    ) -> Option<Nearest> {
        let feature = Feature::of(model, ahead, soft)?;
        let s = &model.shapes[shape.index()];
        let Owner::Body(body) = s.owner else { return None };
        let distance = self.shapes[shape.index()].get_or_insert_with(|| SignedDistance::new(s));
        let pose = model.com_pose(ahead, body);
        let mut y = rigid.position(model, ahead);
        let (mut w, mut n) = ([0.0; 3], normal);
        for _ in 0..ALTERNATIONS {
            w = feature.nearest_to(y);
            let x = feature.at(w);
            let d = distance.at_world(&(pose * s.local), x);
            (n, y) = (d.n, x - d.n * d.d);
            if feature.n == 1 {
                break;
            }
        }
        let b = Anchor::on_body(model, body, pose.inverse_transform_point(y));
        Some(Nearest { a: weighted(soft, w), b, normal: n, on_rim: feature.is_rim(w) })
    }
}

/// ε₂ of a contact [m].
fn tolerance(model: &Model, c: &Contact) -> f64 {
    let scale = |s: ShapeId| model.shapes[s.index()].scale;
    TOLERANCE * scale(c.key.shape_a).min(scale(c.key.shape_b))
}

/// True for a contact without points of solids.
pub(super) fn is_rigid(model: &Model, c: &Contact) -> bool {
    !is_soft(model, &c.a) && !is_soft(model, &c.b)
}

fn soft_soft(model: &Model, ahead: &State, c: &Contact) -> Option<Nearest> {
    let (one, two) = (Feature::of(model, ahead, &c.a)?, Feature::of(model, ahead, &c.b)?);
    let (wa, wb) = match (one.n, two.n) {
        (1, _) => ([1.0, 0.0, 0.0], two.nearest_to(one.x[0])),
        (_, 1) => (one.nearest_to(two.x[0]), [1.0, 0.0, 0.0]),
        (2, 2) => {
            let (s, t) = on_segments(one.segment(), two.segment());
            ([1.0 - s, s, 0.0], [1.0 - t, t, 0.0])
        }
        // No contact is made of a face and more than a vertex.
        _ => return None,
    };
    let normal = (one.at(wa) - two.at(wb)).try_normalize()?;
    let on_rim = one.is_rim(wa) || two.is_rim(wb);
    Some(Nearest { a: weighted(&c.a, wa), b: weighted(&c.b, wb), normal, on_rim })
}

/// A point of the way of an anchor from where it was linearised last to where it is now.
fn between(model: &Model, ahead: &State, last: &Anchor, now: &Anchor, w: f64) -> Anchor {
    if w == 1.0 {
        return *now;
    }
    match (*last, *now) {
        (Anchor::Surface { w: from, .. }, Anchor::Surface { w: to, .. }) => {
            weighted(now, [0, 1, 2].map(|k| from[k] + w * (to[k] - from[k])))
        }
        (_, Anchor::Rigid { body, .. } | Anchor::Kinematic { body, .. }) => {
            let at = last.position(model, ahead).lerp(now.position(model, ahead), w);
            Anchor::on_body(model, body, model.com_pose(ahead, body).inverse_transform_point(at))
        }
        _ => *now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_turn_by_fifteen_degrees_at_most() {
        // R7: the weight belongs to the new geometry. Small turns are taken whole, which is Newton's method; with the printed
        // reading (w = 0 is Newton) they would not be taken at all.
        assert_eq!(weight(0.0), 1.0);
        assert_eq!(weight(14.9_f64.to_radians()), 1.0);
        assert!((weight(60.0_f64.to_radians()) - 0.25).abs() < 1e-15);
    }
}
