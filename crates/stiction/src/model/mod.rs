//! The compiled scene: constant, flat, numbered.

use super::{ContactSettings, Ease, Keyframe, ModelRod, ModelSheet, ModelSpring, Motion};
use crate::coords::{Anchor, BodyId, Layout, NodeId, Pose, ShapeId, SoftId, State, rotation};
use crate::elastic::TetAssembly;
use crate::linalg::{Mat3, Quat, Vec3};
use crate::mesh::Embedding;
use parry3d_f64::shape::SharedShape;

/// Everything about a scene that does not change while it runs.
#[derive(Clone)]
pub struct Model {
    /// Name of the scene.
    pub name: String,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Blocks of `q` and `v`.
    pub layout: Layout,
    /// Bodies in scene order.
    pub bodies: Vec<ModelBody>,
    /// Particles in scene order, then the nodes of deformable solids that move freely.
    pub nodes: Vec<ModelNode>,
    /// Deformable solids in scene order, then sheets.
    pub solids: Vec<ModelSolid>,
    /// Springs in scene order.
    pub springs: Vec<ModelSpring>,
    /// Rods in scene order.
    pub rods: Vec<ModelRod>,
    /// Sheets in scene order; each is one of the solids, too.
    pub sheets: Vec<ModelSheet>,
    /// Collision shapes, body by body, then one per particle, then one per free surface node of each solid.
    pub shapes: Vec<ModelShape>,
    /// Joints in scene order.
    pub joints: Vec<super::ModelJoint>,
    /// Forces with their targets resolved.
    pub forces: Vec<ModelForce>,
    /// Sensors with their targets resolved.
    pub sensors: Vec<ModelSensor>,
    /// Contact settings.
    pub contact: ContactSettings,
    /// Rules of body pairs, sorted by the pair (smaller id first).
    pub pairs: Vec<ModelPair>,
    /// The state at t = 0.
    pub initial: State,
    /// Things that are allowed but worth saying; `check` prints them.
    pub warnings: Vec<String>,
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

/// A deformable solid of the model.
#[derive(Clone)]
pub struct ModelSolid {
    /// Name in the scene.
    pub name: String,
    /// What moves each vertex of its mesh: a node of its own, or the body or the world that holds it.
    pub vertices: Vec<Anchor>,
    /// Positions at rest in the frame of the mesh [m].
    pub rest: Vec<Vec3>,
    /// Vertices of each tetrahedron; a sheet has none.
    pub tets: Vec<[u32; 4]>,
    /// Triangles of its surface, counter-clockwise seen from outside.
    pub surface: Vec<[u32; 3]>,
    /// Elements: forces and stiffness.
    pub elements: TetAssembly,
    /// Lumped mass of each vertex [kg]; that of held vertices belongs to the body that holds them.
    pub mass: Vec<f64>,
    /// Off-diagonal mass is kept.
    pub consistent_mass: bool,
    /// Its free nodes, a range of [`Model::nodes`].
    pub nodes: std::ops::Range<usize>,
    /// Mean length of its edges [m].
    pub edge: f64,
    /// Pressures over time, with the tetrahedra in which they act.
    pub inflations: Vec<(super::Inflation, Vec<u32>)>,
    /// The surface that is drawn instead of its own.
    pub visual: Option<EmbeddedSurface>,
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
    pub friction: super::SurfaceFriction,
    /// Restitution of the surface.
    pub restitution: f64,
    /// Radius of the smallest sphere about the owner's centre of mass that holds the shape [m]; infinite for a plane.
    pub reach: f64,
    /// The length by which tolerances are measured [m]: its reach, or the edge length of the solid whose node it is.
    pub scale: f64,
}

/// A force of the model.
#[derive(Clone, Debug)]
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
    /// Pose of the frame at the centre of mass of a body: from `q` if it is free, from its path if not.
    pub fn com_pose(&self, state: &State, body: BodyId) -> Pose {
        let b = &self.bodies[body.index()];
        match b.block {
            Some(_) => state.rigid_pose(b.q),
            None => {
                let mut pose = b.motion.pose_at(&b.start, state.t);
                pose.translation += pose.rotation * b.com;
                pose
            }
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
        Vec3::from_slice(&state.q[self.nodes[node.index()].q..])
    }

    /// Velocity of a particle [m/s].
    pub fn node_velocity(&self, state: &State, node: NodeId) -> Vec3 {
        Vec3::from_slice(&state.v[self.nodes[node.index()].dof..])
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

    /// Position of a vertex of a solid [m].
    pub fn vertex_position(&self, state: &State, solid: SoftId, vertex: usize) -> Vec3 {
        self.solids[solid.index()].vertices[vertex].position(self, state)
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

impl Ease {
    /// Share of the way done, and its rate, at the share `s` of the time.
    fn progress(self, s: f64) -> (f64, f64) {
        match self {
            Ease::Linear => (s, 1.0),
            Ease::Smooth => (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s)),
        }
    }
}

impl Motion {
    /// Pose of the body frame at time `t`, for bodies that do not move freely.
    pub fn pose_at(&self, start: &Pose, t: f64) -> Pose {
        match self {
            Motion::Free | Motion::Fixed => *start,
            Motion::Constant { velocity, spin } => {
                let mut pose = *start;
                pose.translation += *velocity * t;
                pose.rotation = (rotation::exp(*spin * t) * start.rotation).normalize();
                pose
            }
            Motion::Keyframes { keys, ease } => match segment(keys, t) {
                Segment::Still(k) => keys[k].pose,
                Segment::Between(k) => {
                    let (a, b) = (&keys[k], &keys[k + 1]);
                    let s = ease.progress((t - a.time) / (b.time - a.time)).0;
                    let turn = rotation::log(b.pose.rotation * a.pose.rotation.conjugate());
                    let mut pose = a.pose;
                    pose.translation = a.pose.translation.lerp(b.pose.translation, s);
                    pose.rotation = (rotation::exp(turn * s) * a.pose.rotation).normalize();
                    pose
                }
            },
        }
    }

    /// Velocity of the origin of the body frame [m/s] and ω [rad/s] at time `t` (the later segment at a key).
    pub fn velocity_at(&self, t: f64) -> (Vec3, Vec3) {
        match self {
            Motion::Free | Motion::Fixed => (Vec3::ZERO, Vec3::ZERO),
            Motion::Constant { velocity, spin } => (*velocity, *spin),
            Motion::Keyframes { keys, ease } => match segment(keys, t) {
                Segment::Still(_) => (Vec3::ZERO, Vec3::ZERO),
                Segment::Between(k) => {
                    let (a, b) = (&keys[k], &keys[k + 1]);
                    let dt = b.time - a.time;
                    let turn = rotation::log(b.pose.rotation * a.pose.rotation.conjugate());
                    let rate = ease.progress((t - a.time) / dt).1 / dt;
                    ((b.pose.translation - a.pose.translation) * rate, turn * rate)
                }
            },
        }
    }
}

enum Segment {
    Still(usize),
    Between(usize),
}

fn segment(keys: &[Keyframe], t: f64) -> Segment {
    let after = keys.partition_point(|k| k.time <= t);
    if after == 0 {
        Segment::Still(0)
    } else if after == keys.len() {
        Segment::Still(after - 1)
    } else {
        Segment::Between(after - 1)
    }
}
