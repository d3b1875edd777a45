//! Pairs of features of two surfaces, and the impacts among them.

use super::patch::Patch;
use super::{Hit, floor, mean, separation};
use crate::collide::Contact;
use crate::collide::candidates::{Nearby, Surface};
use crate::collide::ccd::{self, Impact};
use crate::collide::cover::Leaf;
use crate::collide::nearest::{on_segments, on_triangle};
use crate::collide::skin::{NONE, Skin, Source, material};
use crate::collide::solid::feature;
use crate::contact::ContactKey;
use crate::coords::{Anchor, ShapeId};
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::{Model, Owner};

/// Features nearer than this share of the size touch already.
const TOUCHING: f64 = 1e-13;

/// Impacts of a pair of patches.
#[derive(Default)]
pub(super) struct Job {
    pub hits: Vec<Hit>,
    pub touching: usize,
    /// The first impact of each vertex or edge that was hit: (kind and number, hit).
    first: Vec<(u64, Hit)>,
}

/// What the two sides of a query have in common.
struct Query<'a> {
    model: &'a Model,
    kin: Kinematics<'a>,
    a: &'a Patch,
    b: &'a Patch,
    thickness: f64,
    separation: f64,
    size: f64,
}

/// Two features that may touch.
enum Features {
    /// A vertex and a face; `swapped` where the vertex belongs to the second patch.
    VertexFace { swapped: bool, vertex: u32, face: u32 },
    /// Edges of the first and the second patch.
    EdgeEdge(u32, u32),
}

fn is_rigid(p: &Patch) -> bool {
    matches!(p.skin.source, Source::Rigid(_))
}

/// Calls `found` for each pair of features that two leaves speak for and that may touch.
fn each_feature(
    model: &Model,
    (a, b): (&Patch, &Patch),
    is_self: bool,
    (one, two): (&Leaf, &Leaf),
    mut found: impl FnMut(Features),
) {
    // Without `rigid_edges` only the vertices of soft bodies touch rigid ones.
    let all = !(is_rigid(a) && !b.skin.rigid_edges && !is_rigid(b)
        || is_rigid(b) && !a.skin.rigid_edges && !is_rigid(a));
    for (swapped, from, p, to, q) in [(false, one, a, two, b), (true, two, b, one, a)] {
        if to.face == NONE || (!all && is_rigid(p)) {
            continue;
        }
        let t = q.skin.triangles[to.face as usize];
        for &v in from.vertices.iter().filter(|v| **v != NONE) {
            let skip = is_self && t.contains(&v)
                || t.iter().any(|k| q.skin.is_held_by(model, *k, &p.skin))
                || p.skin.is_held_by(model, v, &q.skin);
            if !skip {
                found(Features::VertexFace { swapped, vertex: v, face: to.face });
            }
        }
    }
    if !all {
        return;
    }
    for &e in one.edges.iter().filter(|e| **e != NONE) {
        let ends = a.skin.edges[e as usize].ends;
        for &f in two.edges.iter().filter(|f| **f != NONE) {
            let others = b.skin.edges[f as usize].ends;
            let skip = is_self && ends.iter().any(|k| others.contains(k))
                || ends.iter().any(|k| a.skin.is_held_by(model, *k, &b.skin))
                || others.iter().any(|k| b.skin.is_held_by(model, *k, &a.skin));
            if !skip {
                found(Features::EdgeEdge(e, f));
            }
        }
    }
}

/// True where two leaves speak for some features that may touch.
pub(super) fn may_touch(
    model: &Model,
    (patches, surfaces): (&[Patch], &[Surface]),
    (a, b): (u32, u32),
    (i, j): (u32, u32),
) -> bool {
    let leaf = |k: u32, i: u32| &surfaces[k as usize].cover.leaves[i as usize];
    let (pa, pb) = (&patches[a as usize], &patches[b as usize]);
    let mut any = false;
    each_feature(model, (pa, pb), a == b, (leaf(a, i), leaf(b, j)), |_| any = true);
    any
}

impl Job {
    /// The impacts of all candidates.
    pub fn test(&mut self, kin: Kinematics<'_>, (patches, surfaces): (&[Patch], &[Surface]), list: &Nearby) {
        let model = kin.model;
        self.hits.clear();
        self.first.clear();
        self.touching = 0;
        let (a, b) = (&patches[list.pair.0 as usize], &patches[list.pair.1 as usize]);
        let (leaves_a, leaves_b) =
            (&surfaces[list.pair.0 as usize].cover.leaves, &surfaces[list.pair.1 as usize].cover.leaves);
        let query = |a, b| Query::new(kin, a, b);
        let (one, two) = (query(a, b), query(b, a));
        let is_self = list.pair.0 == list.pair.1;
        let reach = one.thickness + one.separation;
        let Job { first, touching, .. } = self;
        for &(i, j) in &list.leaves {
            if !a.leaf_ways[i as usize].is_near(&b.leaf_ways[j as usize], reach) {
                continue;
            }
            let leaves = (&leaves_a[i as usize], &leaves_b[j as usize]);
            each_feature(model, (a, b), is_self, leaves, |features| {
                let (name, hit) = match features {
                    Features::VertexFace { swapped, vertex, face } => {
                        let q = if swapped { &two } else { &one };
                        let hit = q.vertex_face(vertex, face, is_self, touching);
                        (u64::from(swapped) << 32 | u64::from(vertex), hit)
                    }
                    Features::EdgeEdge(e, f) => {
                        (2 << 32 | u64::from(e), one.edge_edge(e, f, is_self, touching))
                    }
                };
                first.extend(hit.map(|h| (name, h)));
            });
        }
        // One impact per vertex and per edge: the first.
        self.first.sort_unstable_by(|x, y| {
            x.0.cmp(&y.0).then(x.1.time.total_cmp(&y.1.time)).then(x.1.contact.key.cmp(&y.1.contact.key))
        });
        self.first.dedup_by_key(|f| f.0);
        self.hits.extend(self.first.iter().map(|f| f.1));
    }
}

impl<'a> Query<'a> {
    fn new(kin: Kinematics<'a>, a: &'a Patch, b: &'a Patch) -> Query<'a> {
        Query {
            model: kin.model,
            kin,
            a,
            b,
            thickness: a.skin.thickness + b.skin.thickness,
            separation: separation(&a.skin, &b.skin),
            size: a.skin.size.min(b.skin.size),
        }
    }

    /// Thickness between two features, as vertices.
    fn thickness(&self, is_self: bool, one: &[u32], two: &[u32]) -> f64 {
        if is_self { self.a.skin.self_thickness(self.model, one, two) } else { self.thickness }
    }

    fn vertex_face(&self, v: u32, f: u32, is_self: bool, touching: &mut usize) -> Option<Hit> {
        let t = self.b.skin.triangles[f as usize];
        let reach = self.thickness + self.separation;
        if !self.a.ways(&[v]).grown(reach).meets(&self.b.ways(&t)) {
            return None;
        }
        let at =
            |a: &[Vec3], b: &[Vec3]| [a[v as usize], b[t[0] as usize], b[t[1] as usize], b[t[2] as usize]];
        let (start, end) = (at(&self.a.x, &self.b.x), at(&self.a.end, &self.b.end));
        let weights = |x: &[Vec3; 4]| on_triangle(x[0], [x[1], x[2], x[3]]).0;
        let way = |x: &[Vec3; 4], w: [f64; 3]| x[0] - x[1] * w[0] - x[2] * w[1] - x[3] * w[2];
        let distance = way(&start, weights(&start)).length();
        if distance <= TOUCHING * self.size {
            *touching += 1;
            return None;
        }
        let thickness = self.thickness(is_self, &[v], &t);
        let hit = ccd::vertex_face(&start, &end, floor(distance, thickness, self.separation))?;
        let there = between(&start, &end, &hit);
        let w = weights(&there);
        let n = way(&there, w).try_normalize().or_else(|| way(&start, weights(&start)).try_normalize())?;
        if self.leaves(n, &[f]) {
            return None;
        }
        let on_a = (&[v][..], &[1.0][..], feature::vertex(v));
        Some(self.make(on_a, (&t[..], &w[..], feature::face(f)), n, thickness, hit.time))
    }

    fn edge_edge(&self, e: u32, f: u32, is_self: bool, touching: &mut usize) -> Option<Hit> {
        let (i, j) = (self.a.skin.edges[e as usize].ends, self.b.skin.edges[f as usize].ends);
        let reach = self.thickness + self.separation;
        if !self.a.ways(&i).grown(reach).meets(&self.b.ways(&j)) {
            return None;
        }
        let at =
            |a: &[Vec3], b: &[Vec3]| [a[i[0] as usize], a[i[1] as usize], b[j[0] as usize], b[j[1] as usize]];
        let (start, end) = (at(&self.a.x, &self.b.x), at(&self.a.end, &self.b.end));
        let shares = |x: &[Vec3; 4]| on_segments([x[0], x[1]], [x[2], x[3]]);
        let way = |x: &[Vec3; 4], (s, r): (f64, f64)| x[0].lerp(x[1], s) - x[2].lerp(x[3], r);
        let distance = way(&start, shares(&start)).length();
        if distance <= TOUCHING * self.size {
            *touching += 1;
            return None;
        }
        let thickness = self.thickness(is_self, &i, &j);
        let hit = ccd::edge_edge(&start, &end, floor(distance, thickness, self.separation))?;
        let there = between(&start, &end, &hit);
        let (s, r) = shares(&there);
        let n =
            way(&there, (s, r)).try_normalize().or_else(|| way(&start, shares(&start)).try_normalize())?;
        if self.leaves(n, &self.b.skin.edges[f as usize].faces)
            || self.swapped().leaves(-n, &self.a.skin.edges[e as usize].faces)
        {
            return None;
        }
        let on_a = (&i[..], &[1.0 - s, s][..], feature::edge(i[0], i[1]));
        let on_b = (&j[..], &[1.0 - r, r][..], feature::edge(j[0], j[1]));
        Some(self.make(on_a, on_b, n, thickness, hit.time))
    }

    /// True where what meets `faces` of b, which is in the direction `n` of them, comes from within b, one of both
    /// being rigid: a body that follows a path may have gone over the other, which is to be free to leave.
    fn leaves(&self, n: Vec3, faces: &[u32]) -> bool {
        let skin = &self.b.skin;
        let outward = |f: &u32| {
            let [a, b, c] = skin.triangles[*f as usize].map(|k| self.b.x[k as usize]);
            (b - a).cross(c - a)
        };
        let one_is_rigid = is_rigid(self.a) || is_rigid(self.b);
        skin.has_inside && one_is_rigid && faces.iter().all(|f| *f != NONE && outward(f).dot(n) < 0.0)
    }

    fn swapped(&self) -> Query<'a> {
        Query { a: self.b, b: self.a, ..*self }
    }

    /// The contact of weighted means of vertices along `n`, from b to a, linearised at the start.
    fn make(
        &self,
        (of_a, wa, name_a): (&[u32], &[f64], u64),
        (of_b, wb, name_b): (&[u32], &[f64], u64),
        n: Vec3,
        thickness: f64,
        time: f64,
    ) -> Hit {
        let (model, a, b) = (self.model, &self.a.skin, &self.b.skin);
        let (xa, xb) = (mean(&self.a.x, of_a, wa), mean(&self.b.x, of_b, wb));
        let gap = n.dot(xa - xb) - thickness;
        let (anchor_a, anchor_b) = (a.anchor(model, of_a, wa), b.anchor(model, of_b, wb));
        let point = 0.5 * (xa + xb);
        let ends = ((a.shape, anchor_a, name_a), (b.shape, anchor_b, name_b));
        let owners = [a.owner(), b.owner()];
        let swap = (a.shape, name_a) > (b.shape, name_b);
        let (one, two, n, owners) =
            if swap { (ends.1, ends.0, -n, [owners[1], owners[0]]) } else { (ends.0, ends.1, n, owners) };
        let (sa, sb): (&Skin, &Skin) = if swap { (b, a) } else { (a, b) };
        let material = material(self.kin, sa, sb);
        let (frame, friction) = material.at(n);
        let contact = Contact {
            key: ContactKey { shape_a: one.0, shape_b: two.0, feature_a: one.2, feature_b: two.2 },
            a: one.1,
            b: two.1,
            point,
            frame,
            gap,
            friction,
            restitution: material.restitution,
        };
        Hit { time, contact, owners }
    }
}

/// The four points at the impact.
fn between(start: &[Vec3; 4], end: &[Vec3; 4], hit: &Impact) -> [Vec3; 4] {
    [0, 1, 2, 3].map(|k| start[k] * (1.0 - hit.time) + end[k] * hit.time)
}

/// Impacts of the vertices of soft bodies and rods on a half-space.
pub(super) fn on_plane(
    (kin, ahead): (Kinematics<'_>, Kinematics<'_>),
    plane: usize,
    patch: &Patch,
    hits: &mut Vec<Hit>,
) {
    let model = kin.model;
    let shape = &model.shapes[plane];
    let Owner::Body(body) = shape.owner else { return };
    let owner = patch.skin.owner();
    let watched = match patch.skin.source {
        Source::Soft(_) => true,
        Source::Rigid(_) => {
            matches!(owner, Owner::Body(b) if b != body && model.bodies[b.index()].link.is_some())
        }
    };
    let excluded = crate::collide::material::rule(model, owner, shape.owner).is_some_and(|r| !r.collide)
        || !model.masks_allow(owner, shape.owner);
    if !watched || excluded {
        return;
    }
    let pose = |k: Kinematics<'_>| k.body(body).com * shape.local;
    let (from, to) = (pose(kin), pose(ahead));
    let height = |p: &crate::coords::Pose, x: Vec3| (p.rotation * Vec3::Z).dot(x - p.translation);
    let thickness = patch.skin.thickness;
    let apart = super::SEPARATION * patch.skin.size;
    let n = to.rotation * Vec3::Z;
    for &k in &patch.skin.vertices {
        let (x, end) = (patch.x[k as usize], patch.end[k as usize]);
        let (before, after) = (height(&from, x), height(&to, end));
        let least = floor(before, thickness, apart);
        if before <= 0.0 || after > least {
            continue;
        }
        let time = ((before - least) / (before - after)).clamp(0.0, 1.0);
        let foot = x - n * before;
        let local = kin.body(body).com.inverse_transform_point(foot);
        let (own, other) = (patch.skin.anchor(model, &[k], &[1.0]), Anchor::Body { body, local });
        let id = ShapeId(plane as u32);
        let swap = patch.skin.shape > id;
        let names = (feature::vertex(k), feature::WHOLE);
        let (frame, friction, restitution) = {
            let n = if swap { -n } else { n };
            let surface = crate::collide::skin::plane_material(kin, &patch.skin, plane, swap);
            let (frame, friction) = surface.at(n);
            (frame, friction, surface.restitution)
        };
        let key = match swap {
            false => {
                ContactKey { shape_a: patch.skin.shape, shape_b: id, feature_a: names.0, feature_b: names.1 }
            }
            true => {
                ContactKey { shape_a: id, shape_b: patch.skin.shape, feature_a: names.1, feature_b: names.0 }
            }
        };
        let (a, b) = if swap { (other, own) } else { (own, other) };
        let owners = if swap { [shape.owner, owner] } else { [owner, shape.owner] };
        let contact = Contact {
            key,
            a,
            b,
            point: 0.5 * (x + foot),
            frame,
            gap: before - thickness,
            friction,
            restitution,
        };
        hits.push(Hit { time, contact, owners });
    }
}
