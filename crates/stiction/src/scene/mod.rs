//! What the user writes: an editable description with names. [`Scene::compile`] checks it and makes a [`Model`].

pub mod bounds;
mod compile;
#[cfg(any(test, feature = "samples"))]
pub mod contact_samples;
mod joint;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod slender;
mod soft;

pub use crate::model::{
    Combine, ContactSettings, Ease, EmbeddedSurface, Inflation, JointBlock, JointKind, JointPlace, JointRow,
    Keyframe, Manifold, Measure, Model, ModelBody, ModelForce, ModelJoint, ModelNode, ModelPair, ModelRod,
    ModelRodJoint, ModelSensor, ModelShape, ModelSheet, ModelSolid, ModelSpring, Motion, Motor, Owner, Path,
    RodEnd, Role, SensorKind, Spring, SurfaceFriction, Target,
};
pub use compile::heightfield::Heightfield;
pub use joint::{Joint, JointAnchor, JointSprings};
pub use slender::{Fixing, RestShape, Rod, RodHold, Sheet, SpringEnd, SpringSpec};
pub use soft::{Attachment, FibreLayer, Filling, MassMatrix, NodeSelection, SoftBody};

use crate::coords::Pose;
use crate::linalg::{Mat3, Vec3};

/// A scene: bodies, particles, forces, sensors and how to step them. SI units, z up.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// A short name for reports.
    pub name: String,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Rigid bodies: free, fixed and kinematic.
    pub bodies: Vec<Body>,
    /// Particles (point masses with a contact radius).
    pub particles: Vec<Particle>,
    /// Deformable solids.
    pub solids: Vec<SoftBody>,
    /// Springs, dampers and ropes.
    pub springs: Vec<SpringSpec>,
    /// Rods and cables.
    pub rods: Vec<Rod>,
    /// Sheets of cloth.
    pub sheets: Vec<Sheet>,
    /// What holds bodies together.
    pub joints: Vec<Joint>,
    /// Forces and torques on bodies and particles.
    pub forces: Vec<Force>,
    /// What is read out at every step.
    pub sensors: Vec<Sensor>,
    /// How contacts are found and how their coefficients combine.
    pub contact: ContactSettings,
    /// Coefficients of named pairs, which override the combination rule.
    pub pairs: Vec<PairRule>,
}

/// Coefficients for contacts between two named bodies, or a pair that never touches.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRule {
    /// Name of the first body.
    pub a: String,
    /// Name of the second body.
    pub b: String,
    /// False: the two pass through each other.
    pub collide: bool,
    /// Friction of this pair, isotropic; `None`: the combination rule.
    pub friction: Option<f64>,
    /// Restitution of this pair; `None`: the combination rule.
    pub restitution: Option<f64>,
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Free, fixed or moved along a path.
    pub motion: Motion,
    /// Pose of the body frame.
    pub pose: Pose,
    /// Initial velocity of the centre of mass [m/s] (free bodies).
    pub velocity: Vec3,
    /// Initial angular velocity [rad/s], world axes (free bodies).
    pub spin: Vec3,
    /// Where mass and inertia come from (free bodies).
    pub mass: MassSpec,
    /// Collision shapes; several make a compound.
    pub shapes: Vec<Shape>,
    /// Groups to which it belongs, as bits. Two bodies touch where each has a group that the other's mask has.
    pub groups: u32,
    /// Groups that it touches, as bits. Particles and what bends belong to the first group and touch all.
    pub mask: u32,
}

impl Body {
    /// A free body at rest with the density of water, one shape, and friction 0.5.
    pub fn new(name: impl Into<String>, geometry: Geometry) -> Body {
        Body {
            name: name.into(),
            motion: Motion::Free,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            mass: MassSpec::Density(1000.0),
            shapes: vec![Shape::new(geometry)],
            groups: 1,
            mask: u32::MAX,
        }
    }

    /// The same body, standing still for ever.
    pub fn fixed(mut self) -> Body {
        self.motion = Motion::Fixed;
        self
    }

    /// The same body at a position [m].
    pub fn at(mut self, x: f64, y: f64, z: f64) -> Body {
        self.pose.translation = Vec3::new(x, y, z);
        self
    }

    /// The same body with a mass [kg]; its inertia follows from its shapes.
    pub fn with_mass(mut self, mass: f64) -> Body {
        self.mass = MassSpec::Mass(mass);
        self
    }

    /// The same body with isotropic friction `mu` on all its shapes.
    pub fn with_friction(mut self, mu: f64) -> Body {
        for s in &mut self.shapes {
            s.friction = SurfaceFriction::Isotropic(mu);
        }
        self
    }
}

/// Where mass and inertia of a free body come from.
#[derive(Clone, Debug, PartialEq)]
pub enum MassSpec {
    /// From the volume of the shapes at a uniform density [kg/m³].
    Density(f64),
    /// A mass [kg], spread evenly over the volume of the shapes.
    Mass(f64),
    /// Given: checked to be possible for a real body.
    Given {
        /// Mass [kg].
        mass: f64,
        /// Inertia about the centre of mass in the axes of the body frame [kg·m²].
        inertia: Mat3,
        /// Centre of mass in the body frame [m].
        com: Vec3,
    },
}

/// A collision shape of a body.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What it looks like.
    pub geometry: Geometry,
    /// Where it stands in the body frame.
    pub pose: Pose,
    /// Friction of its surface.
    pub friction: SurfaceFriction,
    /// Restitution of its surface, 0 to 1.
    pub restitution: f64,
}

impl Shape {
    /// A shape at the origin of the body frame, friction 0.5, no restitution.
    pub fn new(geometry: Geometry) -> Shape {
        Shape { geometry, pose: Pose::IDENTITY, friction: SurfaceFriction::Isotropic(0.5), restitution: 0.0 }
    }
}

/// Geometry of a shape in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// Half-space below the plane through the origin with normal +z. Fixed and kinematic bodies only.
    Plane,
    /// Sphere.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// Box.
    Box {
        /// Half sizes [m].
        half: Vec3,
    },
    /// Capsule along z.
    Capsule {
        /// Half of the length of the straight part [m].
        half_height: f64,
        /// Radius [m].
        radius: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// Half of the height [m].
        half_height: f64,
        /// Radius [m].
        radius: f64,
    },
    /// Cone along z: its tip up at `half_height`, its base down.
    Cone {
        /// Half of the height [m].
        half_height: f64,
        /// Radius of the base [m].
        radius: f64,
    },
    /// Convex hull of points.
    ConvexHull {
        /// The points [m].
        points: Vec<Vec3>,
    },
    /// Closed triangle mesh, collided as it is.
    TriMesh {
        /// Vertices [m].
        vertices: Vec<Vec3>,
        /// Corners of each triangle, counter-clockwise seen from outside.
        triangles: Vec<[u32; 3]>,
    },
    /// Ground over a grid, solid below; collided as its triangles. Without a base it is for fixed and kinematic bodies.
    Heightfield(Heightfield),
}

/// A particle: a point mass that touches with a small sphere.
#[derive(Clone, Debug, PartialEq)]
pub struct Particle {
    /// Unique name.
    pub name: String,
    /// Mass [kg].
    pub mass: f64,
    /// Contact radius [m]; 0 for a point.
    pub radius: f64,
    /// Position [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Friction coefficient.
    pub friction: f64,
    /// Restitution, 0 to 1.
    pub restitution: f64,
}

/// A force or torque on a body or a particle.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Name of the body, particle or soft body; on a soft body it acts on all free nodes in proportion to their mass.
    pub target: String,
    /// Force [N], world axes.
    pub force: Vec3,
    /// Torque [N·m], world axes (bodies only).
    pub torque: Vec3,
    /// Point of attack in the body frame [m]; `None`: the centre of mass.
    pub at: Option<Vec3>,
    /// Acts from this time [s]…
    pub from: f64,
    /// …until this time [s].
    pub until: f64,
}

/// A named read-out.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Unique name.
    pub name: String,
    /// What it reads.
    pub reads: Reads,
}

/// What a sensor reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Reads {
    /// Pose of a body frame: x, y, z [m], qw, qx, qy, qz. A particle gives x, y, z, a soft body its centre of mass.
    Pose(String),
    /// Velocity of the centre of mass [m/s] and ω [rad/s], world axes. Particles and soft bodies give vx, vy, vz.
    Velocity(String),
    /// Sum of the contact forces [N], world axes, that all others exert on this body.
    ContactForce(String),
    /// Sum of the contact forces [N], world axes, that the second body exerts on the first.
    PairForce(String, String),
    /// Position [m] of the point of a soft body that is at `at` in the frame of its mesh at rest.
    Point {
        /// Name of the soft body.
        body: String,
        /// The point [m].
        at: Vec3,
    },
    /// Position [m or rad] and rate [m/s or rad/s] of a joint with one free direction, b as seen from a.
    Joint(String),
    /// Force [N] and moment about its anchor [N·m], world axes, that a joint exerts on its body b: rigid rows, springs,
    /// stops, friction and motor together. Its body a takes the opposite at the same point.
    JointForce(String),
    /// Kinetic, potential (gravity), elastic and total energy [J].
    Energy,
}
