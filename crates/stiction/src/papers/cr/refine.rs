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
//! | it was linearised anew, and then its features met | it begins at the impact again, and turns by less and less |
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

/// Solves for impacts and for contacts that have turned; then for impacts alone, before bodies are held back.
pub(super) const MOST_PASSES: usize = 20;
pub(super) const LAST_PASSES: usize = 10;
/// ε₂ as a share of the smaller scale: the paper's 5e-6 m on its edges of about 1 cm.
const TOLERANCE: f64 = 5e-4;
/// Normals turn by no more than this per linearisation [rad]: 15°.
const MOST_TURN: f64 = 0.2617993877991494;
/// A contact that met after it had been linearised anew turns by this share of what it turned by before; and how often it may
/// meet, before it stays as it was linearised at the impact.
const SHORTER: f64 = 0.25;
const MOST_MEETINGS: u8 = 2;
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
    /// Contacts that were removed in this step, that were linearised anew, and those of the latter whose features met; sorted.
    removed: Vec<ContactKey>,
    turned: Vec<ContactKey>,
    met: Vec<(ContactKey, u8)>,
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
        self.turned.clear();
        self.met.clear();
    }

    /// Notes an impact. What meets although it was linearised anew would do so again after the same linearisation.
    pub fn note_impact(&mut self, key: ContactKey) {
        if self.turned.binary_search(&key).is_ok() {
            match self.met.binary_search_by(|m| m.0.cmp(&key)) {
                Ok(at) => self.met[at].1 = self.met[at].1.saturating_add(1),
                Err(at) => self.met.insert(at, (key, 1)),
            }
        }
    }

    /// How often the features of a contact met after it had been linearised anew.
    fn meetings(&self, key: &ContactKey) -> u8 {
        self.met.binary_search_by(|m| m.0.cmp(key)).map_or(0, |at| self.met[at].1)
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
        let meetings = self.meetings(&c.key);
        if gap > 0.0 && meetings > MOST_MEETINGS {
            self.error = self.error.max(error.abs());
            return Verdict::Holds;
        }
        if let (true, true, Err(at)) = (found.on_rim, error > 0.0, self.removed.binary_search(&c.key)) {
            self.removed.insert(at, c.key);
            return Verdict::SlidOff;
        }
        self.error = self.error.max(error.abs());
        let w = weight(c.normal().angle_between(found.normal)) * SHORTER.powi(i32::from(meetings));
        let turn = Quat::IDENTITY.slerp(Quat::from_rotation_arc(c.normal(), found.normal), w);
        let frame = c.frame * crate::linalg::Mat3::from_quat(turn.conjugate());
        let (a, b) = (between(model, ahead, &c.a, &found.a, w), between(model, ahead, &c.b, &found.b, w));
        let point = 0.5 * (a.position(model, ahead) + b.position(model, ahead));
        let gap = frame.row(0).dot(way(&a, &b)) - thickness;
        *c = Contact { a, b, frame, point, gap, ..*c };
        if let Err(at) = self.turned.binary_search(&c.key) {
            self.turned.insert(at, c.key);
        }
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
    use crate::elastic::{Law, Material};
    use crate::mesh::shapes;
    use crate::scene::{Body, Geometry, Scene, SoftBody};

    #[test]
    fn normals_turn_by_fifteen_degrees_at_most() {
        // R7: the weight belongs to the new geometry. Small turns are taken whole, which is Newton's method; with the printed
        // reading (w = 0 is Newton) they would not be taken at all.
        assert_eq!(weight(0.0), 1.0);
        assert_eq!(weight(14.9_f64.to_radians()), 1.0);
        assert!((weight(60.0_f64.to_radians()) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn contacts_that_meet_after_they_turned_turn_by_less_and_then_stay() {
        let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
        let mut cube = SoftBody::new("cube", shapes::block([1, 1, 1], Vec3::splat(0.02)), material);
        let low = cube.mesh.vertices.iter().fold(f64::INFINITY, |m, x| m.min(x.z));
        cube.pose.translation = Vec3::Z * (1e-4 - low);
        let floor = Body::new("floor", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, -0.1);
        let scene = Scene { bodies: vec![floor.fixed()], solids: vec![cube], ..Scene::default() };
        let model = scene.compile().unwrap();
        let state = &model.initial;
        let mut contacts = Vec::new();
        Collider::new(&model).detect(&model, state, 1e-2, &mut contacts);
        let is_node = |c: &&Contact| matches!(c.a, Anchor::Node(_)) || matches!(c.b, Anchor::Node(_));
        let mut first = *contacts.iter().find(is_node).unwrap();
        let up = first.normal();
        let off = 40.0_f64.to_radians();
        first.frame *= crate::linalg::Mat3::from_rotation_x(off);

        let mut r = Relinearizer::default();
        r.start(&model);
        let solved = Solved { gap: 0.0, pushes: true };
        let turn = |r: &mut Relinearizer| {
            let mut c = first;
            (r.judge(&model, (state, state), &mut c, solved), c.normal().angle_between(first.normal()))
        };
        for share in [1.0, SHORTER, SHORTER * SHORTER] {
            let (verdict, angle) = turn(&mut r);
            assert_eq!(verdict, Verdict::Turned);
            assert!((angle - share * MOST_TURN).abs() < 1e-6, "{angle} of {MOST_TURN}, {share}");
            r.note_impact(first.key);
        }
        assert_eq!(turn(&mut r), (Verdict::Holds, 0.0));
        assert!((first.normal().angle_between(up) - off).abs() < 1e-6 && r.error > 0.0);
    }
}
