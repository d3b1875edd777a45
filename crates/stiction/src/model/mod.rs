//! The compiled scene: constant, flat, numbered.

mod controls;
mod joint;
mod motion;
mod motor;
mod names;
mod param;
mod slender;
pub(crate) mod start;
mod surface;
mod table;

pub use controls::{Controls, World};
pub(crate) use joint::coordinate;
pub use joint::{JointBlock, JointPlace, JointRow, Measure, ModelJoint, Role};
pub use motion::{Ease, Inflation, Keyframe, Motion};
pub use motor::{JointKind, Motor, Path, Spring, Target};
pub use names::{Id, Names, Side};
pub use param::Param;
pub use slender::{ModelRod, ModelRodJoint, ModelSheet, ModelSpring, RodEnd};
pub use surface::{Combine, ContactSettings, Manifold, SurfaceFriction};
pub use table::Table;

use crate::coords::{Anchor, BodyId, Layout, NodeId, Pose, ShapeId, SoftId, State};
use crate::elastic::Elements;
use crate::linalg::{Mat3, Quat, Vec3};
use crate::mesh::Embedding;
use parry3d_f64::shape::SharedShape;
use std::sync::Arc;

/// Everything about a scene that does not change while it runs. A copy shares all lists with its original and costs a few
/// counters; a copy with other numbers ([`Model::with`]) shares those that hold none of them.
#[derive(Clone)]
pub struct Model {
    /// Name of the scene.
    pub name: String,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Blocks of `q` and `v`.
    pub layout: Arc<Layout>,
    /// Bodies in scene order.
    pub bodies: Table<ModelBody>,
    /// Particles in scene order, then the nodes of deformable solids that move freely.
    pub nodes: Table<ModelNode>,
    /// Deformable solids in scene order, then sheets.
    pub solids: Table<ModelSolid>,
    /// Springs in scene order.
    pub springs: Table<ModelSpring>,
    /// Rods in scene order.
    pub rods: Table<ModelRod>,
    /// Sheets in scene order; each is one of the solids, too.
    pub sheets: Table<ModelSheet>,
    /// Collision shapes, body by body, then one per particle, then one per free surface node of each solid.
    pub shapes: Table<ModelShape>,
    /// Joints in scene order.
    pub joints: Table<ModelJoint>,
    /// Forces with their targets resolved.
    pub forces: Table<ModelForce>,
    /// Sensors with their targets resolved.
    pub sensors: Table<ModelSensor>,
    /// Contact settings.
    pub contact: ContactSettings,
    /// Rules of body pairs, sorted by the pair (smaller id first).
    pub pairs: Table<ModelPair>,
    /// The state at t = 0.
    pub initial: Arc<State>,
    /// Things that are allowed but worth saying; `check` prints them.
    pub warnings: Table<String>,
    /// Who has which name.
    pub names: Names,
}

/// A rigid body of the model.
#[derive(Clone, Debug)]
pub struct ModelBody {
    /// Name in the scene.
    pub name: String,
    /// Index of its block in the layout; `None` for fixed and kinematic bodies.
    pub block: Option<usize>,
    /// First index of its velocity in `v`; meaningless without a block.
    pub dof: usize,
    /// First index of its configuration in `q`; meaningless without a block.
    pub q: usize,
    /// How it moves.
    pub motion: Motion,
    /// Pose of the body frame at t = 0.
    pub start: Pose,
    /// Mass [kg]; infinite for fixed and kinematic bodies.
    pub mass: f64,
    /// Centre of mass in the body frame [m].
    pub com: Vec3,
    /// Principal moments about the centre of mass [kg·m²].
    pub moments: Vec3,
    /// Turns principal axes into body axes.
    pub principal: Quat,
    /// Its shapes, a range of [`Model::shapes`].
    pub shapes: std::ops::Range<usize>,
    /// Of which rod it is a link, and which one, as places in [`Model::rods`] and along the rod.
    pub link: Option<(usize, usize)>,
    /// Groups to which it belongs, as bits.
    pub groups: u32,
    /// Groups that it touches, as bits.
    pub mask: u32,
}

impl ModelBody {
    /// Pose of the body frame at t = 0, from its path where it has one.
    pub fn pose_at_start(&self) -> Pose {
        self.motion.pose_at(&self.start, 0.0)
    }

    /// Frame at the centre of mass at time `t` where the path of the body leads.
    pub fn path_pose(&self, t: f64) -> Pose {
        let mut pose = self.motion.pose_at(&self.start, t);
        pose.translation += pose.rotation * self.com;
        pose
    }

    /// Inertia about the centre of mass in world axes [kg·m²] at the orientation `r` of the body.
    pub fn world_inertia(&self, r: Quat) -> Mat3 {
        let axes = Mat3::from_quat(r * self.principal);
        axes * Mat3::from_diagonal(self.moments) * axes.transpose()
    }

    /// Inverse of [`world_inertia`](ModelBody::world_inertia).
    pub fn world_inertia_inverse(&self, r: Quat) -> Mat3 {
        let axes = Mat3::from_quat(r * self.principal);
        axes * Mat3::from_diagonal(self.moments.recip()) * axes.transpose()
    }
}

/// A particle of the model.
#[derive(Clone, Debug)]
pub struct ModelNode {
    /// Name in the scene.
    pub name: String,
    /// Index of its block in the layout.
    pub block: usize,
    /// First index in `v`.
    pub dof: usize,
    /// First index in `q`.
    pub q: usize,
    /// Mass [kg].
    pub mass: f64,
    /// Its shape; nodes inside a solid have none.
    pub shape: Option<ShapeId>,
    /// The solid of which it is a node.
    pub solid: Option<SoftId>,
}

impl ModelNode {
    /// Position in a state [m].
    pub fn position(&self, state: &State) -> Vec3 {
        Vec3::from_slice(&state.q[self.q..])
    }

    /// Velocity in a state [m/s].
    pub fn velocity(&self, state: &State) -> Vec3 {
        Vec3::from_slice(&state.v[self.dof..])
    }
}

/// A deformable solid of the model.
#[derive(Clone)]
pub struct ModelSolid {
    /// Name in the scene.
    pub name: String,
    /// What moves each vertex of its mesh: a node of its own, or the body or the world that holds it.
    pub vertices: Table<Anchor>,
    /// Positions at rest in the frame of the mesh [m].
    pub rest: Table<Vec3>,
    /// Vertices of each tetrahedron; a sheet has none.
    pub tets: Table<[u32; 4]>,
    /// Triangles of its surface, counter-clockwise seen from outside.
    pub surface: Table<[u32; 3]>,
    /// Elements: forces and stiffness. Shared by all copies of the model.
    pub elements: Arc<Elements>,
    /// Lumped mass of each vertex [kg]; that of held vertices belongs to the body that holds them.
    pub mass: Table<f64>,
    /// Off-diagonal mass is kept.
    pub consistent_mass: bool,
    /// Its free nodes, a range of [`Model::nodes`].
    pub nodes: std::ops::Range<usize>,
    /// Mean length of its edges [m].
    pub edge: f64,
    /// Pressures over time, with the tetrahedra in which they act.
    pub inflations: Table<(crate::model::Inflation, Vec<u32>)>,
    /// The surface that is drawn instead of its own.
    pub visual: Option<Arc<EmbeddedSurface>>,
    /// Its surface touches itself.
    pub self_contact: bool,
    /// Corners and edges of rigid bodies touch its faces.
    pub rigid_edges: bool,
}

/// A surface that moves with the tetrahedra of a solid.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedSurface {
    /// Where its vertices sit.
    pub vertices: Vec<Embedding>,
    /// Its triangles, by vertex.
    pub triangles: Vec<[u32; 3]>,
}

/// To whom a shape belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A rigid body.
    Body(BodyId),
    /// A particle, or a node of a solid.
    Node(NodeId),
    /// A deformable solid as a whole: named by sensors, forces and pairs; its shapes belong to its nodes.
    Solid(SoftId),
}

/// A collision shape of the model.
#[derive(Clone)]
pub struct ModelShape {
    /// To whom it belongs.
    pub owner: Owner,
    /// Geometry, in parry's types.
    pub geometry: SharedShape,
    /// Pose relative to the centre-of-mass frame of its body.
    pub local: Pose,
    /// Friction of the surface; the direction is in the frame of the shape.
    pub friction: crate::model::SurfaceFriction,
    /// Restitution of the surface.
    pub restitution: f64,
    /// Radius of the smallest sphere about the owner's centre of mass that holds the shape [m]; infinite for a plane.
    pub reach: f64,
    /// The length by which tolerances are measured [m]: its reach, or the edge length of the solid whose node it is.
    pub scale: f64,
}

/// A force of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelForce {
    /// On what it acts.
    pub target: Owner,
    /// Force [N], world axes.
    pub force: Vec3,
    /// Torque [N·m], world axes.
    pub torque: Vec3,
    /// Point of attack in the centre-of-mass frame [m].
    pub at: Vec3,
    /// From this time [s]…
    pub from: f64,
    /// …until this time [s].
    pub until: f64,
}

impl ModelForce {
    /// A force [N] at the centre of mass, world axes, at all times.
    pub fn always(target: Owner, force: Vec3) -> ModelForce {
        let (from, until) = (f64::NEG_INFINITY, f64::INFINITY);
        ModelForce { target, force, torque: Vec3::ZERO, at: Vec3::ZERO, from, until }
    }

    /// It acts at all times.
    pub(crate) fn is_always(&self) -> bool {
        self.from == f64::NEG_INFINITY && self.until == f64::INFINITY
    }

    /// Share of the step [t, t + h] during which the force acts.
    pub(crate) fn share(&self, t: f64, h: f64) -> f64 {
        if self.is_always() {
            return 1.0;
        }
        ((self.until.min(t + h) - self.from.max(t)) / h).clamp(0.0, 1.0)
    }
}

/// What a sensor of the model reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensorKind {
    /// Pose of the body frame, position of a particle, or centre of mass of a solid.
    Pose(Owner),
    /// Velocity of the centre of mass and ω, or velocity of a particle or of the centre of mass of a solid.
    Velocity(Owner),
    /// Sum of contact forces on it [N].
    ContactForce(Owner),
    /// Sum of contact forces of the second on the first [N].
    PairForce(Owner, Owner),
    /// Position of a point of a solid [m].
    Point {
        /// The solid.
        solid: SoftId,
        /// Vertices of the solid.
        vertices: [u32; 4],
        /// Their weights.
        weights: [f64; 4],
    },
    /// Position and rate of this joint.
    Joint(usize),
    /// Force and moment of this joint on its body b [N, N·m].
    JointForce(usize),
    /// Kinetic, potential, elastic and total energy [J].
    Energy,
}

/// A sensor of the model.
#[derive(Clone, Debug)]
pub struct ModelSensor {
    /// Name in the scene.
    pub name: String,
    /// What it reads.
    pub kind: SensorKind,
}

impl ModelSensor {
    /// Names of the numbers that it gives, in order.
    pub fn columns(&self) -> &'static [&'static str] {
        match self.kind {
            SensorKind::Pose(Owner::Body(_)) => &["x", "y", "z", "qw", "qx", "qy", "qz"],
            SensorKind::Pose(_) | SensorKind::Point { .. } => &["x", "y", "z"],
            SensorKind::Velocity(Owner::Body(_)) => &["vx", "vy", "vz", "wx", "wy", "wz"],
            SensorKind::Velocity(_) => &["vx", "vy", "vz"],
            SensorKind::ContactForce(_) | SensorKind::PairForce(..) => &["fx", "fy", "fz"],
            SensorKind::Joint(_) => &["position", "rate"],
            SensorKind::JointForce(_) => &["fx", "fy", "fz", "tx", "ty", "tz"],
            SensorKind::Energy => &["kinetic", "potential", "elastic", "total"],
        }
    }
}

/// The rule of a pair of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPair {
    /// The smaller of both.
    pub a: Owner,
    /// The larger of both.
    pub b: Owner,
    /// False: they pass through each other.
    pub collide: bool,
    /// Friction of the pair, if given.
    pub friction: Option<f64>,
    /// Restitution of the pair, if given.
    pub restitution: Option<f64>,
}

impl Model {
    /// True for bodies that move freely; all others stand still or follow a path.
    pub fn is_free(&self, body: BodyId) -> bool {
        self.bodies[body.index()].block.is_some()
    }

    /// Bodies that move freely, with their ids, in scene order.
    pub fn free_bodies(&self) -> impl Iterator<Item = (BodyId, &ModelBody)> {
        let all = self.bodies.iter().enumerate().map(|(i, b)| (BodyId(i as u32), b));
        all.filter(|(_, b)| b.block.is_some())
    }

    /// The block that moves a point, where it is a particle or a point of a free body.
    pub fn block_of(&self, anchor: &Anchor) -> Option<usize> {
        match *anchor {
            Anchor::Node(n) => Some(self.nodes[n.index()].block),
            Anchor::Body { body, .. } => self.bodies[body.index()].block,
            Anchor::World { .. } | Anchor::Surface { .. } => None,
        }
    }

    /// The anchors of the vertices of a surface point, with their weights; nothing for any other anchor.
    pub fn corners<'a>(&'a self, anchor: &Anchor) -> impl Iterator<Item = (&'a Anchor, f64)> + use<'a> {
        let (solid, vertices, w, n) = match *anchor {
            Anchor::Surface { solid, vertices, w, n } => (solid.index(), vertices, w, n as usize),
            _ => (0, [0; 3], [0.0; 3], 0),
        };
        (0..n).map(move |k| (&self.solids[solid].vertices[vertices[k] as usize], w[k]))
    }

    /// The solid of a node and the vertex that it moves.
    pub fn vertex_of(&self, node: NodeId) -> Option<(SoftId, u32)> {
        let id = self.nodes[node.index()].solid?;
        let solid = &self.solids[id.index()];
        // Nodes follow the order of the vertices, of which held ones have no node.
        let first = node.index() - solid.nodes.start;
        let moved = solid.vertices[first..].iter().position(|a| *a == Anchor::Node(node))?;
        Some((id, (first + moved) as u32))
    }

    /// Pose of the frame at the centre of mass of a body: from `q` if it is free, from its path if not.
    pub fn com_pose(&self, state: &State, body: BodyId) -> Pose {
        let b = &self.bodies[body.index()];
        match b.block {
            Some(_) => state.rigid_pose(b.q),
            None => b.path_pose(state.t),
        }
    }

    /// Pose of the body frame, as the scene states it.
    pub fn body_pose(&self, state: &State, body: BodyId) -> Pose {
        let b = &self.bodies[body.index()];
        let mut pose = self.com_pose(state, body);
        pose.translation -= pose.rotation * b.com;
        pose
    }

    /// Velocity of the centre of mass [m/s] and world-frame ω [rad/s] of a body.
    pub fn com_velocity(&self, state: &State, body: BodyId) -> (Vec3, Vec3) {
        let b = &self.bodies[body.index()];
        match b.block {
            Some(_) => (Vec3::from_slice(&state.v[b.dof..]), Vec3::from_slice(&state.v[b.dof + 3..])),
            None => {
                let (v, w) = b.motion.velocity_at(state.t);
                (v + w.cross(b.motion.pose_at(&b.start, state.t).rotation * b.com), w)
            }
        }
    }

    /// Position of a particle [m].
    pub fn node_position(&self, state: &State, node: NodeId) -> Vec3 {
        self.nodes[node.index()].position(state)
    }

    /// Velocity of a particle [m/s].
    pub fn node_velocity(&self, state: &State, node: NodeId) -> Vec3 {
        self.nodes[node.index()].velocity(state)
    }

    /// The solid instead of its nodes; anything else as it is.
    pub fn whole(&self, owner: Owner) -> Owner {
        match owner {
            Owner::Node(n) => self.nodes[n.index()].solid.map_or(owner, Owner::Solid),
            _ => owner,
        }
    }

    /// Owner in words, for messages.
    pub fn describe(&self, owner: Owner) -> String {
        let kind = match self.whole(owner) {
            Owner::Body(_) => "body",
            Owner::Node(_) => "particle",
            Owner::Solid(s) if self.solids[s.index()].tets.is_empty() => "cloth",
            Owner::Solid(_) => "soft body",
        };
        format!("{kind} `{}`", self.name_of(owner))
    }

    /// Name of the owner in the scene; that of its solid for a node of one.
    pub fn name_of(&self, owner: Owner) -> &str {
        match self.whole(owner) {
            Owner::Body(b) => &self.bodies[b.index()].name,
            Owner::Node(n) => &self.nodes[n.index()].name,
            Owner::Solid(s) => &self.solids[s.index()].name,
        }
    }

    /// True for two links of one rod that are too near each other along it to touch.
    pub fn are_near_links(&self, a: Owner, b: Owner) -> bool {
        let link = |o| match o {
            Owner::Body(b) => self.bodies[b.index()].link,
            _ => None,
        };
        match (link(a), link(b)) {
            (Some((rod, i)), Some((other, j))) => rod == other && i.abs_diff(j) < self.rods[rod].apart,
            _ => false,
        }
    }

    /// Do the groups and masks of two owners let them touch each other?
    pub fn masks_allow(&self, a: Owner, b: Owner) -> bool {
        let of = |o| match o {
            Owner::Body(b) => (self.bodies[b.index()].groups, self.bodies[b.index()].mask),
            Owner::Node(_) | Owner::Solid(_) => (1, u32::MAX),
        };
        let ((groups_a, mask_a), (groups_b, mask_b)) = (of(a), of(b));
        groups_a & mask_b != 0 && groups_b & mask_a != 0
    }

    /// The rule of a pair of bodies or solids, if the scene gives one.
    pub fn pair_rule(&self, a: Owner, b: Owner) -> Option<&ModelPair> {
        let key = if a <= b { (a, b) } else { (b, a) };
        self.pairs.binary_search_by(|p| (p.a, p.b).cmp(&key)).ok().map(|i| &self.pairs[i])
    }
}
