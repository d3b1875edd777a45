//! The compiled scene: constant, flat, numbered.

use super::{ContactSettings, Keyframe, Motion};
use crate::coords::{BodyId, Layout, NodeId, Pose, ShapeId, State, rotation};
use crate::linalg::{Mat3, Quat, Vec3};
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
    /// Particles in scene order.
    pub nodes: Vec<ModelNode>,
    /// Collision shapes, body by body, then one per particle.
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
}

impl ModelBody {
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
    /// Its shape.
    pub shape: ShapeId,
}

/// To whom a shape belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A rigid body.
    Body(BodyId),
    /// A particle.
    Node(NodeId),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorKind {
    /// Pose of the body frame, or position of a particle.
    Pose(Owner),
    /// Velocity of the centre of mass and ω, or velocity of a particle.
    Velocity(Owner),
    /// Sum of contact forces on it [N].
    ContactForce(Owner),
    /// Sum of contact forces of the second on the first [N].
    PairForce(Owner, Owner),
    /// Position and rate of this joint.
    Joint(usize),
    /// Force and moment of this joint on its body b [N, N·m].
    JointForce(usize),
    /// Kinetic, potential and total energy [J].
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
            SensorKind::Pose(Owner::Node(_)) => &["x", "y", "z"],
            SensorKind::Velocity(Owner::Body(_)) => &["vx", "vy", "vz", "wx", "wy", "wz"],
            SensorKind::Velocity(Owner::Node(_)) => &["vx", "vy", "vz"],
            SensorKind::ContactForce(_) | SensorKind::PairForce(..) => &["fx", "fy", "fz"],
            SensorKind::Joint(_) => &["position", "rate"],
            SensorKind::JointForce(_) => &["fx", "fy", "fz", "tx", "ty", "tz"],
            SensorKind::Energy => &["kinetic", "potential", "total"],
        }
    }
}

/// The rule of a pair of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPair {
    /// Smaller id.
    pub a: BodyId,
    /// Larger id.
    pub b: BodyId,
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

    /// The rule of a pair of bodies, if the scene gives one.
    pub fn pair_rule(&self, a: BodyId, b: BodyId) -> Option<&ModelPair> {
        let key = if a <= b { (a, b) } else { (b, a) };
        self.pairs.binary_search_by(|p| (p.a, p.b).cmp(&key)).ok().map(|i| &self.pairs[i])
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
            Motion::Keyframes(keys) => match segment(keys, t) {
                Segment::Still(k) => keys[k].pose,
                Segment::Between(k) => {
                    let (a, b) = (&keys[k], &keys[k + 1]);
                    let s = (t - a.time) / (b.time - a.time);
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
            Motion::Keyframes(keys) => match segment(keys, t) {
                Segment::Still(_) => (Vec3::ZERO, Vec3::ZERO),
                Segment::Between(k) => {
                    let (a, b) = (&keys[k], &keys[k + 1]);
                    let dt = b.time - a.time;
                    let turn = rotation::log(b.pose.rotation * a.pose.rotation.conjugate());
                    ((b.pose.translation - a.pose.translation) / dt, turn / dt)
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
