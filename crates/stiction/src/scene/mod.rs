//! What the user writes: an editable description with names. [`Scene::compile`] checks it and makes a [`Model`].

mod compile;
mod compile_joint;
mod compile_rod;
mod compile_sheet;
mod compile_soft;
mod compile_spring;
pub mod contact_samples;
mod geometry;
mod heightfield;
mod joint;
mod mass;
mod model;
mod model_joint;
mod model_slender;
mod rod_path;
pub mod samples;
mod slender;
mod soft;

pub use heightfield::Heightfield;
pub use joint::{Joint, JointAnchor, JointKind, JointSprings, Motor, Path, Spring, Target};
pub use model::{
    EmbeddedSurface, Model, ModelBody, ModelForce, ModelNode, ModelPair, ModelSensor, ModelShape, ModelSolid,
    Owner, SensorKind,
};
pub use model_slender::{ModelRod, ModelRodJoint, ModelSheet, ModelSpring, RodEnd};
pub use slender::{Fixing, RestShape, Rod, RodHold, Sheet, SpringEnd, SpringSpec};
pub use soft::{Attachment, FibreLayer, Inflation, MassMatrix, NodeSelection, SoftBody};

pub use model_joint::{JointBlock, JointPlace, JointRow, Measure, ModelJoint, Role};

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

/// How contacts are found and how the coefficients of two surfaces combine.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// Contacts are made where the gap is below this [m]. `None`: from the size of the smallest shape and, at
    /// each step, the distance that the pair can close within it.
    pub margin: Option<f64>,
    /// Distance that rigid surfaces keep from each other [m]: gaps are counted from there.
    pub thickness: f64,
    /// Which points of a pair become contacts.
    pub manifold: Manifold,
    /// Penetrations are pushed out at no more than this speed [m/s].
    pub recovery_speed: f64,
    /// Impacts slower than this [m/s] do not rebound.
    pub restitution_threshold: f64,
    /// How two friction coefficients combine.
    pub combine_friction: Combine,
    /// How two restitution coefficients combine.
    pub combine_restitution: Combine,
}

impl Default for ContactSettings {
    fn default() -> Self {
        ContactSettings {
            margin: None,
            thickness: 0.0,
            manifold: Manifold::Full,
            recovery_speed: 1.0,
            restitution_threshold: 0.01,
            combine_friction: Combine::GeometricMean,
            combine_restitution: Combine::Max,
        }
    }
}

/// Which points of a pair of shapes become contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manifold {
    /// All that touch.
    #[default]
    Full,
    /// Of those with one normal, the corners of their convex outline (and the deepest within): the same support with fewer.
    Corners,
}

/// How the coefficients of two touching surfaces make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// √(a·b): one frictionless surface makes the pair frictionless.
    GeometricMean,
    /// (a + b)/2.
    Mean,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

impl Combine {
    /// The coefficient of the pair.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Combine::GeometricMean => (a * b).sqrt(),
            Combine::Mean => 0.5 * (a + b),
            Combine::Min => a.min(b),
            Combine::Max => a.max(b),
        }
    }
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

/// How a body moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// By forces and contacts.
    Free,
    /// Not at all.
    Fixed,
    /// At a constant velocity [m/s] and spin [rad/s] (world axes) from its initial pose.
    Constant {
        /// Velocity of the origin of the body frame [m/s].
        velocity: Vec3,
        /// Angular velocity [rad/s], world axes.
        spin: Vec3,
    },
    /// Through poses at given times: along straight lines and about fixed axes between them, still before and after.
    Keyframes {
        /// The poses, in order of time.
        keys: Vec<Keyframe>,
        /// How fast it goes between two of them.
        ease: Ease,
    },
}

/// How a body goes from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ease {
    /// At constant speed.
    #[default]
    Linear,
    /// From rest to rest: 3s² − 2s³ of the way at the share s of the time.
    Smooth,
}

/// A pose at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Time [s].
    pub time: f64,
    /// Pose of the body frame at that time.
    pub pose: Pose,
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

/// Friction of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurfaceFriction {
    /// The same in all directions.
    Isotropic(f64),
    /// μ₁ along a direction of the surface, μ₂ across it.
    Elliptic {
        /// Coefficient along `direction`.
        mu1: f64,
        /// Coefficient across it.
        mu2: f64,
        /// Direction in the frame of the shape; projected onto the tangent plane of each contact.
        direction: Vec3,
    },
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
