//! Skins: surfaces as vertices, edges and triangles that know their neighbours, placed in the world for one step.
//!
//! A solid, a sheet and the corners and edges of a rigid shape look the same from here. The skin of a solid has an
//! inside; a sheet has two sides; balls, capsules and particles are points and a segment with a thickness.

use super::material::Material;
use super::plane::RIM;
use super::solid::Solid;
use crate::coords::{Anchor, NodeId, Pose, ShapeId, SoftId};
use crate::kinematics::{BodyFrame, Kinematics};
use crate::linalg::{Quat, Vec3};
use crate::mesh::{Neighbours, edges};
use crate::model::{Model, ModelSolid, Owner};

/// No face: beyond a rim.
pub(super) const NONE: u32 = u32::MAX;
/// Faces that meet at a smaller angle than this [rad] are one plane.
const FLAT: f64 = 1e-6;

/// Vertices of one body whose rest distance is less than this many times the thickness never touch each other.
const NEIGHBOURS: f64 = 3.0;

/// Whose skin it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// Of a solid or sheet: every vertex moves by its own anchor.
    Soft(SoftId),
    /// Of a rigid body or particle.
    Rigid(Owner),
}

/// An edge with its ends (ascending) and the faces on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct SkinEdge {
    pub ends: [u32; 2],
    pub faces: [u32; 2],
}

/// Vertices, edges and faces of a surface.
pub(super) struct Skin {
    pub source: Source,
    /// Its name in contact keys, with its friction and restitution.
    pub shape: ShapeId,
    /// True where it bounds a volume: faces are touched from outside only.
    pub has_inside: bool,
    /// Faces that touch: those of soft bodies. Rigid ones meet soft vertices as shapes.
    pub touches_by_faces: bool,
    pub self_contact: bool,
    /// Soft only: corners and edges of rigid shapes touch it.
    pub rigid_edges: bool,
    /// Half of the distance at which two layers touch [m]; the radius of balls and capsules.
    pub thickness: f64,
    /// Length by which margins and tolerances are measured [m].
    pub size: f64,
    /// Vertices that touch.
    pub vertices: Vec<u32>,
    pub triangles: Vec<[u32; 3]>,
    /// Edge between corners k and k + 1 of each triangle.
    pub triangle_edges: Vec<[u32; 3]>,
    pub edges: Vec<SkinEdge>,
    /// Edges that touch, soft ones in the order of their rest lengths.
    pub sharp: Vec<u32>,
    neighbours: Neighbours,
    /// Rigid only: vertices in the frame of the centre of mass.
    local: Vec<Vec3>,
    /// Where the vertices are [m], how they move [m/s].
    pub x: Vec<Vec3>,
    pub v: Vec<Vec3>,
    /// Where a path leads.
    end: Vec<Vec3>,
    /// Outward unit normals; zero where there is no inside.
    pub vertex_normal: Vec<Vec3>,
    pub face_normal: Vec<Vec3>,
    /// Box of the whole motion, margins apart.
    pub min: Vec3,
    pub max: Vec3,
    /// Largest speed of a vertex [m/s].
    pub fastest: f64,
}

impl Skin {
    /// Of a solid or sheet; `None` where it touches nothing.
    pub fn of_soft(model: &Model, id: SoftId) -> Option<Skin> {
        let solid: &ModelSolid = &model.solids[id.index()];
        let shape = model.nodes[solid.nodes.clone()].iter().find_map(|n| n.shape)?;
        let mut skin = Skin::new(Source::Soft(id), shape, solid.vertices.len(), solid.surface.to_vec());
        skin.has_inside = !solid.tets.is_empty();
        skin.touches_by_faces = true;
        skin.self_contact = solid.self_contact;
        skin.rigid_edges = solid.rigid_edges;
        skin.thickness = model.shapes[shape.index()].reach;
        skin.size = solid.edge;
        skin.sharp = (0..skin.edges.len() as u32).collect();
        // To four digits: equal lengths are told apart by number, not by rounding.
        let length = |e: &u32| {
            let [i, j] = skin.edges[*e as usize].ends.map(|k| solid.rest[k as usize]);
            (1e4 * i.distance(j) / solid.edge).round() as u64
        };
        skin.sharp.sort_by_key(length);
        Some(skin)
    }

    /// Corners and edges of a shape of a body or particle whose size is given; `None` for planes.
    pub fn of_shape(model: &Model, id: ShapeId, solid: &Solid, size: f64) -> Option<Skin> {
        let shape = &model.shapes[id.index()];
        let (points, triangles, thickness) = match solid {
            Solid::Plane => return None,
            Solid::Ball { radius } => (vec![Vec3::ZERO], Vec::new(), *radius),
            Solid::Capsule { half_height, radius } => {
                (vec![Vec3::Z * -*half_height, Vec3::Z * *half_height], Vec::new(), *radius)
            }
            Solid::Cylinder { caps, .. } => {
                let poly = caps.view();
                let n = RIM as u32;
                let mut t = fan(&[poly.corners(0), poly.corners(1)]);
                for k in 0..n {
                    let next = (k + 1) % n;
                    t.extend([[next, k, n + k], [next, n + k, n + next]]);
                }
                (poly.vertices.to_vec(), t, 0.0)
            }
            Solid::Cone { half_height, base, .. } => {
                let poly = base.view();
                let n = RIM as u32;
                let mut t = fan(&[poly.corners(0)]);
                t.extend((0..n).map(|k| [(k + 1) % n, k, n]));
                let mut points = poly.vertices.to_vec();
                points.push(Vec3::Y * *half_height);
                (points, t, 0.0)
            }
            Solid::Block { surface, .. } | Solid::Hull { surface } => {
                let poly = surface.view();
                let loops: Vec<&[u32]> = (0..poly.faces.len()).map(|f| poly.corners(f)).collect();
                (poly.vertices.to_vec(), fan(&loops), 0.0)
            }
            Solid::Mesh { shape, .. } => {
                let mesh = shape.as_trimesh()?;
                (mesh.vertices().to_vec(), mesh.indices().to_vec(), 0.0)
            }
        };
        let mut skin = Skin::new(Source::Rigid(shape.owner), id, points.len(), triangles);
        if let Solid::Capsule { .. } = solid {
            skin.edges = vec![SkinEdge { ends: [0, 1], faces: [NONE; 2] }];
            skin.neighbours = Neighbours::new(2, &[[0, 1]]);
        }
        if skin.triangles.is_empty() {
            skin.vertices = (0..points.len() as u32).collect();
        } else {
            skin.has_inside = skin.edges.iter().all(|e| !e.faces.contains(&NONE));
        }
        (skin.thickness, skin.size) = (thickness, size);
        skin.local = points.iter().map(|p| shape.local.transform_point(*p)).collect();
        skin.x.clone_from(&skin.local);
        skin.make_normals();
        // Flat edges and valleys are never touched first by a vertex or edge.
        skin.sharp = (0..skin.edges.len() as u32).filter(|e| skin.is_ridge(*e)).collect();
        if !skin.triangles.is_empty() {
            let mut ends: Vec<u32> = skin.sharp.iter().flat_map(|e| skin.edges[*e as usize].ends).collect();
            ends.sort_unstable();
            ends.dedup();
            skin.vertices = ends;
        }
        Some(skin)
    }

    fn new(source: Source, shape: ShapeId, points: usize, triangles: Vec<[u32; 3]>) -> Skin {
        let ends = edges(&triangles);
        let mut skin_edges: Vec<SkinEdge> =
            ends.iter().map(|&ends| SkinEdge { ends, faces: [NONE; 2] }).collect();
        let triangle_edges = triangles
            .iter()
            .enumerate()
            .map(|(f, t)| {
                [0, 1, 2].map(|k| {
                    let (a, b) = (t[k], t[(k + 1) % 3]);
                    let e = ends.partition_point(|o| *o < [a.min(b), a.max(b)]);
                    let faces = &mut skin_edges[e].faces;
                    faces[usize::from(faces[0] != NONE)] = f as u32;
                    e as u32
                })
            })
            .collect();
        let mut vertices: Vec<u32> = triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        Skin {
            source,
            shape,
            has_inside: false,
            touches_by_faces: false,
            self_contact: false,
            rigid_edges: false,
            thickness: 0.0,
            size: 0.0,
            vertices,
            triangle_edges,
            face_normal: vec![Vec3::ZERO; triangles.len()],
            triangles,
            edges: skin_edges,
            sharp: Vec::new(),
            neighbours: Neighbours::new(points, &ends),
            local: Vec::new(),
            x: vec![Vec3::ZERO; points],
            v: vec![Vec3::ZERO; points],
            end: Vec::new(),
            vertex_normal: vec![Vec3::ZERO; points],
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
            fastest: 0.0,
        }
    }

    /// Takes positions, velocities, normals and the box of the motion within `h` from the state.
    pub fn place(&mut self, kin: Kinematics<'_>, h: f64) {
        let model = kin.model;
        match self.source {
            Source::Soft(id) => {
                let anchors = &model.solids[id.index()].vertices;
                for &k in &self.vertices {
                    let a = &anchors[k as usize];
                    self.x[k as usize] = kin.position(a);
                    self.v[k as usize] = velocity(a, kin, h);
                }
            }
            Source::Rigid(owner) => {
                let (pose, v, w) = motion(owner, kin, h);
                for (k, p) in self.local.iter().enumerate() {
                    let arm = pose.rotation * *p;
                    self.x[k] = pose.translation + arm;
                    self.v[k] = v + w.cross(arm);
                }
            }
        }
        self.make_normals();
        self.make_box(h);
    }

    /// Takes positions, and velocities that lead straight to another state; normals stay as they are.
    pub fn place_between(&mut self, kin: Kinematics<'_>, ahead: Kinematics<'_>, h: f64) {
        let (mut x, mut end) = (std::mem::take(&mut self.x), std::mem::take(&mut self.end));
        end.resize(x.len(), Vec3::ZERO);
        self.positions(kin, &mut x);
        self.positions(ahead, &mut end);
        for ((v, x), end) in self.v.iter_mut().zip(&x).zip(&end) {
            *v = (*end - *x) / h;
        }
        (self.x, self.end) = (x, end);
        self.make_box(h);
    }

    fn make_box(&mut self, h: f64) {
        (self.min, self.max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.fastest = 0.0;
        for &k in &self.vertices {
            self.fastest = self.fastest.max(self.v[k as usize].length());
            let (x, end) = (self.x[k as usize], self.x[k as usize] + self.v[k as usize] * h);
            self.min = self.min.min(x).min(end);
            self.max = self.max.max(x).max(end);
        }
    }

    /// Normals of faces, and of vertices weighted by the angles there (Bærentzen & Aanæs 2005: their sign is right).
    fn make_normals(&mut self) {
        for &k in &self.vertices {
            self.vertex_normal[k as usize] = Vec3::ZERO;
        }
        for (f, t) in self.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|k| self.x[k as usize]);
            let n = (b - a).cross(c - a).normalize_or_zero();
            self.face_normal[f] = n;
            if self.has_inside {
                for (k, (at, p, q)) in [(a, b, c), (b, c, a), (c, a, b)].into_iter().enumerate() {
                    let (p, q) = ((p - at).normalize_or_zero(), (q - at).normalize_or_zero());
                    self.vertex_normal[t[k] as usize] += n * p.dot(q).clamp(-1.0, 1.0).acos();
                }
            }
        }
        if self.has_inside {
            for &k in &self.vertices {
                let n = &mut self.vertex_normal[k as usize];
                *n = n.normalize_or_zero();
            }
        }
    }

    /// Mean of the outward normals beside an edge; zero where there is no inside.
    pub fn edge_normal(&self, e: u32) -> Vec3 {
        if !self.has_inside {
            return Vec3::ZERO;
        }
        let faces = self.edges[e as usize].faces.iter().filter(|f| **f != NONE);
        faces.map(|f| self.face_normal[*f as usize]).sum::<Vec3>().normalize_or_zero()
    }

    /// Direction of an edge.
    pub fn edge_direction(&self, e: u32) -> Vec3 {
        let [a, b] = self.edges[e as usize].ends.map(|k| self.x[k as usize]);
        (b - a).normalize_or_zero()
    }

    /// Normals of the faces beside an edge.
    pub fn faces_of_edge(&self, e: u32) -> impl Iterator<Item = Vec3> {
        let faces = self.edges[e as usize].faces.iter().filter(|f| **f != NONE);
        faces.map(|f| self.face_normal[*f as usize])
    }

    /// Normals of the faces at a vertex, each twice.
    pub fn faces_at(&self, k: u32) -> impl Iterator<Item = Vec3> {
        self.neighbours.of(k).iter().flat_map(|(_, e)| self.faces_of_edge(*e))
    }

    /// How much the faces beside an edge rise towards `n` at most (sine of the angle); negative where all of them fall.
    pub fn edge_rise(&self, e: u32, n: Vec3) -> f64 {
        let edge = &self.edges[e as usize];
        let [a, b] = edge.ends.map(|k| self.x[k as usize]);
        let along = (b - a).normalize_or_zero();
        let mut most = f64::NEG_INFINITY;
        for &f in edge.faces.iter().filter(|f| **f != NONE) {
            if let Some(k) = self.triangles[f as usize].into_iter().find(|k| !edge.ends.contains(k)) {
                let d = self.x[k as usize] - a;
                most = most.max(n.dot((d - along * along.dot(d)).normalize_or_zero()));
            }
        }
        most
    }

    /// How much the edges at a vertex rise towards `n` at most.
    pub fn vertex_rise(&self, k: u32, n: Vec3) -> f64 {
        let x = self.x[k as usize];
        let rise = |o: u32| n.dot((self.x[o as usize] - x).normalize_or_zero());
        self.neighbours.of(k).iter().map(|(o, _)| rise(*o)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// True where no face beside the edge rises towards `n` by more than `slack` (sine of the angle): the edge may be
    /// touched from there.
    pub fn edge_faces(&self, e: u32, n: Vec3, slack: f64) -> bool {
        self.edge_rise(e, n) <= slack
    }

    /// True where no edge at the vertex rises towards `n` by more than `slack`.
    pub fn vertex_faces(&self, k: u32, n: Vec3, slack: f64) -> bool {
        self.vertex_rise(k, n) <= slack
    }

    /// True where both faces beside an edge lie in one plane, up to the sine of an angle.
    pub fn is_flat(&self, e: u32, angle: f64) -> bool {
        let [f, g] = self.edges[e as usize].faces;
        f != NONE
            && g != NONE
            && self.face_normal[f as usize].cross(self.face_normal[g as usize]).length() < angle
            && self.face_normal[f as usize].dot(self.face_normal[g as usize]) > 0.0
    }

    /// True where the edge stands out, or where it has no two faces.
    fn is_ridge(&self, e: u32) -> bool {
        let edge = &self.edges[e as usize];
        if edge.faces.contains(&NONE) {
            return true;
        }
        let n = (self.face_normal[edge.faces[0] as usize] + self.face_normal[edge.faces[1] as usize])
            .normalize_or_zero();
        !self.is_flat(e, FLAT) && self.edge_faces(e, n, 0.0)
    }

    /// True for vertices so near each other in the rest shape that they would always touch.
    pub fn are_neighbours(&self, model: &Model, a: u32, b: u32) -> bool {
        let near = |id: SoftId| {
            let rest = &model.solids[id.index()].rest;
            rest[a as usize].distance(rest[b as usize]) < NEIGHBOURS * self.thickness
        };
        a == b
            || self.neighbours.of(a).binary_search_by_key(&b, |n| n.0).is_ok()
            || matches!(self.source, Source::Soft(id) if near(id))
    }

    /// The distance at which two features of this skin, as vertices, touch [m]: none where they are near each other at rest.
    pub fn self_thickness(&self, model: &Model, one: &[u32], two: &[u32]) -> f64 {
        let near = |i: &u32| two.iter().any(|j| self.are_neighbours(model, *i, *j));
        if self.thickness > 0.0 && one.iter().any(near) { 0.0 } else { 2.0 * self.thickness }
    }

    /// The anchor of a weighted mean of vertices.
    pub fn anchor(&self, model: &Model, vertices: &[u32], w: &[f64]) -> Anchor {
        match self.source {
            Source::Rigid(Owner::Body(body)) => {
                let local = vertices.iter().zip(w).map(|(k, w)| self.local[*k as usize] * *w).sum();
                Anchor::Body { body, local }
            }
            Source::Rigid(Owner::Node(node)) => Anchor::Node(node),
            Source::Rigid(Owner::Solid(_)) => unreachable!("shapes of solids belong to their nodes"),
            Source::Soft(id) if vertices.len() == 1 => {
                model.solids[id.index()].vertices[vertices[0] as usize]
            }
            Source::Soft(solid) => {
                let (mut to, mut weights) = ([vertices[0]; 3], [0.0; 3]);
                to[..vertices.len()].copy_from_slice(vertices);
                weights[..w.len()].copy_from_slice(w);
                Anchor::Surface { solid, vertices: to, w: weights, n: vertices.len() as u8 }
            }
        }
    }

    /// Vertices that exist on the surface: all corners of its faces, and points without a face.
    pub fn points(&self) -> Vec<u32> {
        match self.source {
            Source::Soft(_) => self.vertices.clone(),
            Source::Rigid(_) => (0..self.local.len() as u32).collect(),
        }
    }

    /// Makes a lone point an edge without length.
    pub fn add_point_edge(&mut self) {
        self.edges.push(SkinEdge { ends: [0, 0], faces: [NONE; 2] });
    }

    /// Where the vertices are in a state [m].
    pub fn positions(&self, kin: Kinematics<'_>, x: &mut [Vec3]) {
        let model = kin.model;
        match self.source {
            Source::Soft(id) => {
                let anchors = &model.solids[id.index()].vertices;
                for &k in &self.vertices {
                    x[k as usize] = kin.position(&anchors[k as usize]);
                }
            }
            Source::Rigid(owner) => {
                let (pose, ..) = motion(owner, kin, 0.0);
                for (x, p) in x.iter_mut().zip(&self.local) {
                    *x = pose.transform_point(*p);
                }
            }
        }
    }

    /// Where the velocities of a state lead the vertices, which are at `x`, within `h` seconds [m].
    pub fn ends(&self, kin: Kinematics<'_>, h: f64, x: &[Vec3], end: &mut [Vec3]) {
        let model = kin.model;
        match self.source {
            Source::Soft(id) => {
                let anchors = &model.solids[id.index()].vertices;
                for &k in &self.vertices {
                    end[k as usize] = x[k as usize] + velocity(&anchors[k as usize], kin, h) * h;
                }
            }
            Source::Rigid(owner) => {
                let (pose, v, w) = motion(owner, kin, h);
                for ((end, x), p) in end.iter_mut().zip(x).zip(&self.local) {
                    *end = *x + (v + w.cross(pose.rotation * *p)) * h;
                }
            }
        }
    }

    /// The owner by whose rules it touches.
    pub fn owner(&self) -> Owner {
        match self.source {
            Source::Soft(id) => Owner::Solid(id),
            Source::Rigid(owner) => owner,
        }
    }

    /// World rotation of the frame of its shape; none for soft surfaces.
    fn turn(&self, kin: Kinematics<'_>) -> Quat {
        let model = kin.model;
        match self.source {
            Source::Rigid(Owner::Body(id)) => {
                kin.body(id).com.rotation * model.shapes[self.shape.index()].local.rotation
            }
            _ => Quat::IDENTITY,
        }
    }

    /// True where the body or particle `other` holds this vertex.
    pub fn is_held_by(&self, model: &Model, vertex: u32, other: &Skin) -> bool {
        let (Source::Soft(id), Source::Rigid(Owner::Body(body))) = (self.source, other.source) else {
            return false;
        };
        match model.solids[id.index()].vertices[vertex as usize] {
            Anchor::Body { body: b, .. } => b == body,
            _ => false,
        }
    }
}

/// Friction and restitution between two skins.
pub(super) fn material(kin: Kinematics<'_>, a: &Skin, b: &Skin) -> Material {
    let model = kin.model;
    let shape = |s: &Skin| &model.shapes[s.shape.index()];
    Material::new(model, (shape(a), a.turn(kin)), (shape(b), b.turn(kin)))
}

/// Friction and restitution between a skin and the shape of a body; the shape comes first where `swap` says so.
pub(super) fn plane_material(kin: Kinematics<'_>, a: &Skin, shape: usize, swap: bool) -> Material {
    let model = kin.model;
    let other = &model.shapes[shape];
    let turn = match other.owner {
        Owner::Body(id) => kin.body(id).com.rotation * other.local.rotation,
        _ => Quat::IDENTITY,
    };
    let (one, two) = ((&model.shapes[a.shape.index()], a.turn(kin)), (other, turn));
    if swap { Material::new(model, two, one) } else { Material::new(model, one, two) }
}

/// Convex loops as triangles.
fn fan(loops: &[&[u32]]) -> Vec<[u32; 3]> {
    loops.iter().flat_map(|l| (1..l.len() - 1).map(|k| [l[0], l[k], l[k + 1]])).collect()
}

/// Velocity of a vertex over the step: that of its path where it is driven [m/s].
fn velocity(a: &Anchor, kin: Kinematics<'_>, h: f64) -> Vec3 {
    let model = kin.model;
    match a {
        Anchor::Body { body, .. } if h > 0.0 && !model.is_free(*body) => kin.prescribed_velocity(a, h),
        _ => kin.velocity(a),
    }
}

fn motion(owner: Owner, kin: Kinematics<'_>, h: f64) -> (Pose, Vec3, Vec3) {
    let Kinematics { model, state, .. } = kin;
    match owner {
        Owner::Body(id) => {
            let BodyFrame { com: pose, mut v, w } = *kin.body(id);
            let b = &model.bodies[id.index()];
            if b.block.is_none() && h > 0.0 {
                let at = |t: f64| b.motion.pose_at(&b.start, t).translation;
                v = (at(state.t + h) - at(state.t)) / h;
            }
            (pose, v, w)
        }
        Owner::Node(id) => (node_pose(kin, id), kin.node_velocity(id), Vec3::ZERO),
        Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
    }
}

fn node_pose(kin: Kinematics<'_>, id: NodeId) -> Pose {
    Pose::from_translation(kin.node_position(id))
}
