//! The non-linear contact problem (CR 3.3, Algorithm 1, lines 25–29): contacts are linearised again where the velocities found
//! lead, until every one that pushes has the gap there that it was solved for.
//!
//! A contact keeps its features. At the end of the motion their nearest points give its true gap C and normal:
//!
//! | what is found at convergence | what happens |
//! |---|---|
//! | the motion runs into something | new contacts ([`guard`](crate::steppers::velocity::guard)) |
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

use crate::collide::{Collider, Contact, SignedDistance, on_segments, on_triangle};
use crate::contact::ContactKey;
use crate::coords::{Anchor, ShapeId};
use crate::kinematics::Kinematics;
use crate::linalg::{Quat, Vec3};
use crate::model::{Model, Owner};
use crate::steppers::velocity::rows::{is_rigid, is_soft};
use crate::steppers::velocity::{Refine, Solved, Verdict};

/// Solves for impacts and for contacts that have turned; then for impacts alone, before bodies are held back.
const MOST_PASSES: usize = 20;
const LAST_PASSES: usize = 10;
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

/// Looks at contacts where a motion has led them.
#[derive(Default)]
pub(crate) struct Relinearizer {
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
    error: f64,
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

/// Points of a soft feature: a vertex, an edge or a face.
struct Feature {
    x: [Vec3; 3],
    n: usize,
}

impl Feature {
    fn of(kin: Kinematics<'_>, anchor: &Anchor) -> Option<Feature> {
        let model = kin.model;
        match anchor {
            Anchor::Node(_) => Some(Feature { x: [kin.position(anchor); 3], n: 1 }),
            Anchor::Surface { .. } => {
                let (mut x, mut n) = ([Vec3::ZERO; 3], 0);
                for (corner, _) in model.corners(anchor) {
                    x[n] = kin.position(corner);
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

impl Refine for Relinearizer {
    fn passes(&self) -> (usize, usize) {
        (MOST_PASSES, LAST_PASSES)
    }

    fn error(&self) -> f64 {
        self.error
    }

    fn start(&mut self, model: &Model) {
        self.shapes.resize_with(model.shapes.len(), || None);
        self.removed.clear();
        self.turned.clear();
        self.met.clear();
    }

    /// What meets although it was linearised anew would do so again after the same linearisation.
    fn note_impact(&mut self, key: ContactKey) {
        if self.turned.binary_search(&key).is_ok() {
            match self.met.binary_search_by(|m| m.0.cmp(&key)) {
                Ok(at) => self.met[at].1 = self.met[at].1.saturating_add(1),
                Err(at) => self.met.insert(at, (key, 1)),
            }
        }
    }

    fn look_at_rigid(&mut self, ahead: Kinematics<'_>, contacts: &[Contact], collider: &mut Collider) {
        let model = ahead.model;
        self.error = 0.0;
        self.pairs.clear();
        self.pairs.extend(
            contacts.iter().filter(|c| is_rigid(model, c)).map(|c| (c.key.shape_a.0, c.key.shape_b.0)),
        );
        self.pairs.dedup();
        collider.detect_pairs(ahead, &self.pairs, &mut self.rigid);
    }

    fn add_missing(&self, model: &Model, contacts: &[Contact], out: &mut Vec<Contact>) {
        let known = |c: &Contact| contacts.binary_search_by(|o| o.key.cmp(&c.key)).is_ok();
        out.extend(self.rigid.iter().filter(|c| c.gap < -tolerance(model, c) && !known(c)));
    }

    fn judge(
        &mut self,
        (kin, ahead): (Kinematics<'_>, Kinematics<'_>),
        c: &mut Contact,
        solved: Solved,
    ) -> Verdict {
        let model = kin.model;
        let is_rigid = is_rigid(model, c);
        let Some((found, thickness)) = self.look((kin, ahead), c) else {
            // Features of a rigid pair may have changed names; without any contact it has come apart.
            let pair = |k: &ContactKey| (k.shape_a, k.shape_b);
            // What rebounds was solved to come apart.
            let closes = solved.gap <= tolerance(model, c);
            let apart = is_rigid && closes && !self.rigid.iter().any(|o| pair(&o.key) == pair(&c.key));
            return match self.removed.binary_search(&c.key) {
                Err(at) if apart && solved.pushes => {
                    self.removed.insert(at, c.key);
                    Verdict::SlidOff
                }
                _ => Verdict::Holds,
            };
        };
        let way = |a: &Anchor, b: &Anchor| ahead.position(a) - ahead.position(b);
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
        let (a, b) = (between(ahead, &c.a, &found.a, w), between(ahead, &c.b, &found.b, w));
        let point = 0.5 * (ahead.position(&a) + ahead.position(&b));
        let gap = frame.row(0).dot(way(&a, &b)) - thickness;
        *c = Contact { a, b, frame, point, gap, ..*c };
        if let Err(at) = self.turned.binary_search(&c.key) {
            self.turned.insert(at, c.key);
        }
        Verdict::Turned
    }
}

impl Relinearizer {
    /// How often the features of a contact met after it had been linearised anew.
    fn meetings(&self, key: &ContactKey) -> u8 {
        self.met.binary_search_by(|m| m.0.cmp(key)).map_or(0, |at| self.met[at].1)
    }

    /// Nearest points of the features of a contact at the end of the motion, and the thickness that its gap leaves out.
    fn look(
        &mut self,
        (kin, ahead): (Kinematics<'_>, Kinematics<'_>),
        c: &Contact,
    ) -> Option<(Nearest, f64)> {
        let model = kin.model;
        match (is_soft(model, &c.a), is_soft(model, &c.b)) {
            (true, true) => {
                // Straight ways: what the gap at the start lacks of the distance is thickness, whenever it was linearised.
                let start = kin.position(&c.a) - kin.position(&c.b);
                let thickness = (c.normal().dot(start) - c.gap).max(0.0);
                Some((soft_soft(ahead, c)?, thickness))
            }
            (true, false) => {
                let found = self.soft_rigid(ahead, (&c.a, &c.b), c.key.shape_b, c.normal())?;
                Some((found, model.shapes[c.key.shape_a.index()].reach))
            }
            (false, true) => {
                let found = self.soft_rigid(ahead, (&c.b, &c.a), c.key.shape_a, -c.normal())?;
                let found = Nearest { a: found.b, b: found.a, normal: -found.normal, ..found };
                Some((found, model.shapes[c.key.shape_b.index()].reach))
            }
            (false, false) => {
                let at = self.rigid.binary_search_by(|o| o.key.cmp(&c.key)).ok()?;
                let Contact { a, b, gap, .. } = self.rigid[at];
                let normal = self.rigid[at].normal();
                let way = ahead.position(&a) - ahead.position(&b);
                Some((Nearest { a, b, normal, on_rim: false }, normal.dot(way) - gap))
            }
        }
    }

    /// Of a soft feature (first of the two) and a rigid shape, by projections to and fro.
    fn soft_rigid(
        &mut self,
        ahead: Kinematics<'_>,
        (soft, rigid): (&Anchor, &Anchor),
        shape: ShapeId,
        normal: Vec3,
    ) -> Option<Nearest> {
        let model = ahead.model;
        let feature = Feature::of(ahead, soft)?;
        let s = &model.shapes[shape.index()];
        let Owner::Body(body) = s.owner else { return None };
        let distance = self.shapes[shape.index()].get_or_insert_with(|| SignedDistance::new(s));
        let pose = ahead.body(body).com;
        let mut y = ahead.position(rigid);
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
        let b = Anchor::Body { body, local: pose.inverse_transform_point(y) };
        Some(Nearest { a: weighted(soft, w), b, normal: n, on_rim: feature.is_rim(w) })
    }
}

/// ε₂ of a contact [m].
fn tolerance(model: &Model, c: &Contact) -> f64 {
    let scale = |s: ShapeId| model.shapes[s.index()].scale;
    TOLERANCE * scale(c.key.shape_a).min(scale(c.key.shape_b))
}

fn soft_soft(ahead: Kinematics<'_>, c: &Contact) -> Option<Nearest> {
    let (one, two) = (Feature::of(ahead, &c.a)?, Feature::of(ahead, &c.b)?);
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
fn between(ahead: Kinematics<'_>, last: &Anchor, now: &Anchor, w: f64) -> Anchor {
    if w == 1.0 {
        return *now;
    }
    match (*last, *now) {
        (Anchor::Surface { w: from, .. }, Anchor::Surface { w: to, .. }) => {
            weighted(now, [0, 1, 2].map(|k| from[k] + w * (to[k] - from[k])))
        }
        (_, Anchor::Body { body, .. }) => {
            let at = ahead.position(last).lerp(ahead.position(now), w);
            Anchor::Body { body, local: ahead.body(body).com.inverse_transform_point(at) }
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
        let start = crate::kinematics::Placement::of(&model, state);
        let kin = start.kinematics(&model);
        Collider::new(&model).detect(kin, 1e-2, &mut contacts);
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
            (r.judge((kin, kin), &mut c, solved), c.normal().angle_between(first.normal()))
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
