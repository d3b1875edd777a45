//! The scene file as it is written: one struct per table, strict, with the documentation of every key.
//! The doc comments of the fields are what `stiction schema` prints.

mod body;
pub(crate) mod joint;
pub(crate) mod slender;
pub(crate) mod soft;

pub(crate) use body::{Body, Friction, Keyframe, MeshKind, Motion, Repeat, Shape, ShapeKind};

use super::value::{Fraction, NonNegative, Number, Place, Positive, Reach, TimeSpan, TimeStep, Triple};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use stiction::scene::{Combine, Manifold};
use stiction::steppers::penalty::FrictionModel;
use stiction::{Scheme, SolverKind};
use toml::Spanned;

/// A scene of rigid bodies, deformable solids, cloth, rods, springs and particles. SI units, z up, angles in degrees where a key ends in `_deg`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SceneFile {
    /// One line for reports; the name of the file where it is left out.
    pub title: Option<String>,
    /// Gravity [m/s²]; [0, 0, -9.81] where it is left out.
    pub gravity: Option<Triple>,
    /// Time step, duration and scheme.
    #[serde(default)]
    pub time: Time,
    /// Contact solver.
    #[serde(default)]
    pub solver: Solver,
    /// Contacts of the solver `penalty`.
    #[serde(default)]
    pub penalty: Penalty,
    /// How contacts are found and how two surfaces combine.
    #[serde(default)]
    pub contact: Contact,
    /// Values for bodies that do not give their own.
    #[serde(default)]
    pub defaults: Defaults,
    /// Rigid bodies.
    #[serde(default)]
    pub body: Vec<Body>,
    /// Particles.
    #[serde(default)]
    pub particle: Vec<Particle>,
    /// Deformable solids.
    #[serde(default)]
    pub soft: Vec<soft::Soft>,
    /// What holds bodies together.
    #[serde(default)]
    pub joint: Vec<joint::Joint>,
    /// Sheets of cloth.
    #[serde(default)]
    pub cloth: Vec<slender::Cloth>,
    /// Rods and cables.
    #[serde(default)]
    pub rod: Vec<slender::Rod>,
    /// Springs, dampers and ropes.
    #[serde(default)]
    pub spring: Vec<slender::Spring>,
    /// Forces and torques.
    #[serde(default)]
    pub force: Vec<Force>,
    /// Rules of named pairs of bodies.
    #[serde(default)]
    pub pair: Vec<Pair>,
    /// Read-outs.
    #[serde(default)]
    pub sensor: Vec<Sensor>,
}

/// Time step, duration and scheme.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Time {
    /// Time step [s]; 0.01 where it is left out.
    pub dt: Option<TimeStep>,
    /// How long to run [s]; 5 where it is left out.
    pub duration: Option<TimeSpan>,
    /// `implicit-euler` (default) or `midpoint`.
    #[serde(default)]
    #[schemars(schema_with = "scheme_names")]
    pub scheme: Option<Scheme>,
    /// Islands of rigid bodies that are slow for a while are frozen until touched; never where it is left out.
    pub sleep: Option<Sleep>,
    /// Most linearisations of elastic forces per step; 1 where it is left out.
    pub linearizations: Option<soft::Count>,
    /// True: every step ends without intersection of soft bodies, cloth and rods; its motion is tried before it is made.
    pub intersection_free: Option<bool>,
}

/// When bodies may fall asleep.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sleep {
    /// Slower than this [m/s]; 0.01 where it is left out…
    pub speed: Option<Positive>,
    /// …for this long [s]; 0.5 where it is left out.
    pub time: Option<Positive>,
}

/// Contact solver.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Solver {
    /// `exact` where it is left out.
    #[serde(default)]
    #[schemars(schema_with = "solver_names")]
    pub name: Option<SolverKind>,
    /// Stop when the velocity error, relative to the speed of the problem, is below this.
    pub tolerance: Option<Positive>,
    /// Most iterations (sweeps for `exact`).
    pub max_iterations: Option<usize>,
}

/// Smooth contacts: how the solver `penalty`, `grad` and `optimize` see them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Penalty {
    /// `linear` (default), `tanh`, `hybrid` or, without derivatives, `sqp`.
    #[serde(default)]
    #[schemars(schema_with = "friction_model_names")]
    pub friction: Option<FrictionModel>,
    /// Normal stiffness of a contact point [N/m]; from the weights of the scene where it is left out.
    pub stiffness: Option<Positive>,
    /// Depth over which that stiffness grows from zero [m]; 0 where it is left out.
    pub onset: Option<Reach>,
    /// Hunt–Crossley damping [s/m]; 1 where it is left out.
    pub damping: Option<NonNegative>,
    /// Damping proportional to speed from the first touch [N·s/m], instead of `damping`: it jumps there.
    pub linear_damping: Option<NonNegative>,
    /// Backward differences of this order, 1 (default) or 2.
    pub bdf: Option<BdfOrder>,
    /// Stiffness of rigid rows of joints [N/m]; 1e5 where it is left out.
    pub joint_stiffness: Option<Positive>,
}

/// Order of backward differences.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
pub(crate) struct BdfOrder(#[schemars(range(min = 1, max = 2))] pub i64);

impl TryFrom<i64> for BdfOrder {
    type Error = String;

    fn try_from(n: i64) -> std::result::Result<Self, String> {
        if n == 1 || n == 2 { Ok(BdfOrder(n)) } else { Err(format!("the order is 1 or 2, not {n}")) }
    }
}

/// How contacts are found and how two surfaces combine.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contact {
    /// Contacts are made where the gap is below this [m]; from sizes and speeds where it is left out.
    pub margin: Option<Reach>,
    /// Distance that rigid surfaces keep from each other [m]; 0 where it is left out.
    pub thickness: Option<Reach>,
    /// Which points of a pair become contacts: `full` (all, default), or `corners` of their support polygon.
    #[serde(default)]
    #[schemars(schema_with = "manifold_names")]
    pub manifold: Option<Manifold>,
    /// Penetrations are pushed out at no more than this speed [m/s].
    pub recovery_speed: Option<NonNegative>,
    /// Impacts slower than this do not rebound [m/s].
    pub restitution_threshold: Option<NonNegative>,
    /// How two friction coefficients combine; `geometric-mean` where it is left out.
    #[serde(default)]
    #[schemars(schema_with = "combine_names")]
    pub combine_friction: Option<Combine>,
    /// How two restitution coefficients combine; `max` where it is left out.
    #[serde(default)]
    #[schemars(schema_with = "combine_names")]
    pub combine_restitution: Option<Combine>,
}

/// Values for bodies that do not give their own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Defaults {
    /// Friction of surfaces; 0.5 where it is left out.
    pub friction: Option<Friction>,
    /// Restitution of surfaces, 0 to 1; 0 where it is left out.
    pub restitution: Option<Fraction>,
    /// Density [kg/m³] of bodies without mass; 1000 where it is left out.
    pub density: Option<Positive>,
}

/// A point mass that touches with a small sphere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Particle {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Mass [kg].
    pub mass: Positive,
    /// Contact radius [m]; 0 where it is left out.
    pub radius: Option<Reach>,
    /// Position [m].
    pub position: Option<Place>,
    /// Initial velocity [m/s].
    pub velocity: Option<Triple>,
    /// Friction coefficient.
    pub friction: Option<NonNegative>,
    /// Restitution, 0 to 1.
    pub restitution: Option<Fraction>,
}

/// A force or torque on a body, a soft body or a particle.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Force {
    /// Name of a free body, a soft body or cloth (all nodes share the force by their mass), or a particle.
    #[schemars(with = "String")]
    pub target: Spanned<String>,
    /// Force [N], world axes.
    pub force: Option<Triple>,
    /// Torque [N·m], world axes; bodies only.
    pub torque: Option<Triple>,
    /// Point of attack in the body frame [m]; the centre of mass where it is left out.
    pub at: Option<Place>,
    /// Acts from this time [s]; 0 where it is left out…
    pub from: Option<Number>,
    /// …until this time [s]; for ever where it is left out.
    #[schemars(with = "Option<Number>")]
    pub until: Option<Spanned<Number>>,
}

/// A rule for contacts between two bodies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    /// Name of a body.
    #[schemars(with = "String")]
    pub a: Spanned<String>,
    /// Name of another body.
    #[schemars(with = "String")]
    pub b: Spanned<String>,
    /// Friction of the pair instead of the combination.
    pub friction: Option<NonNegative>,
    /// Restitution of the pair instead of the combination, 0 to 1.
    pub restitution: Option<Fraction>,
    /// False: the two pass through each other; true where it is left out.
    pub collide: Option<bool>,
}

/// A named read-out: exactly one of pose, velocity, point, contact_force, pair_force and energy.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SensorKeys")]
pub(crate) struct Sensor {
    pub name: Spanned<String>,
    pub reads: SensorKind,
}

impl JsonSchema for Sensor {
    fn schema_name() -> Cow<'static, str> {
        "Sensor".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        SensorKeys::json_schema(g)
    }
}

#[derive(Debug)]
pub(crate) enum SensorKind {
    Pose(Spanned<String>),
    Velocity(Spanned<String>),
    ContactForce(Spanned<String>),
    PairForce([Spanned<String>; 2]),
    Point(Point),
    Joint(Spanned<String>),
    JointForce(Spanned<String>),
    Energy,
}

/// A point of a soft body or cloth.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Point {
    /// Name of the soft body or cloth.
    #[schemars(with = "String")]
    pub soft: Spanned<String>,
    /// Where the point is in the frame of the mesh at rest [m].
    pub at: Place,
}

/// A named read-out: exactly one of pose, velocity, point, contact_force, pair_force, joint, joint_force and energy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SensorKeys {
    /// Unique name.
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// Pose of this body (x, y, z, qw, qx, qy, qz), position of this particle or centre of mass of this soft body [m].
    #[schemars(with = "Option<String>")]
    pose: Option<Spanned<String>>,
    /// Velocity of the centre of mass [m/s] and ω [rad/s] of this body, world axes; of a particle [m/s].
    #[schemars(with = "Option<String>")]
    velocity: Option<Spanned<String>>,
    /// Sum of all contact forces on this body or particle [N], world axes.
    #[schemars(with = "Option<String>")]
    contact_force: Option<Spanned<String>>,
    /// Sum of the contact forces on the first by the second [N], world axes.
    #[schemars(with = "Option<[String; 2]>")]
    pair_force: Option<[Spanned<String>; 2]>,
    /// Position of a point of a soft body or cloth [m].
    point: Option<Point>,
    /// Position [m or rad] and rate of this joint, b as seen from a.
    #[schemars(with = "Option<String>")]
    joint: Option<Spanned<String>>,
    /// Force [N] and moment about its anchor [N·m] of this joint on its body b, world axes.
    #[schemars(with = "Option<String>")]
    joint_force: Option<Spanned<String>>,
    /// True: kinetic, potential, elastic and total energy of the scene [J].
    energy: Option<bool>,
}

impl TryFrom<SensorKeys> for Sensor {
    type Error = &'static str;

    fn try_from(k: SensorKeys) -> Result<Sensor, &'static str> {
        let kinds = [
            k.pose.map(SensorKind::Pose),
            k.velocity.map(SensorKind::Velocity),
            k.contact_force.map(SensorKind::ContactForce),
            k.pair_force.map(SensorKind::PairForce),
            k.point.map(SensorKind::Point),
            k.joint.map(SensorKind::Joint),
            k.joint_force.map(SensorKind::JointForce),
            k.energy.and_then(|on| on.then_some(SensorKind::Energy)),
        ];
        let mut given = kinds.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(reads), None) => Ok(Sensor { name: k.name, reads }),
            _ => Err("a sensor reads exactly one of `pose = \"NAME\"`, `velocity = \"NAME\"`, \
                      `point = { soft = \"NAME\", at = [x, y, z] }`, `contact_force = \"NAME\"`, `pair_force = [\"ON\", \"BY\"]`, \
                      `joint = \"NAME\"`, `joint_force = \"NAME\"` and `energy = true`"),
        }
    }
}

fn scheme_names(_: &mut SchemaGenerator) -> Schema {
    let names = [Scheme::ImplicitEuler, Scheme::Midpoint].map(Scheme::name);
    json_schema!({ "enum": names })
}

fn solver_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": SolverKind::STEPPING.map(SolverKind::name) })
}

fn friction_model_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["linear", "tanh", "hybrid", "sqp"] })
}

fn combine_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["geometric-mean", "mean", "min", "max"] })
}

fn manifold_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["full", "corners"] })
}
