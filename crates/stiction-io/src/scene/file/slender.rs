//! The tables `[[spring]]`, `[[rod]]` and `[[cloth]]`.

use super::soft::{Attach, Count};
use crate::scene::value::{
    Fraction, Length, NonNegative, Number, Place, Positive, Reach, Rotation, Triple, exactly,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use stiction::scene::{Fixing, RestShape};
use toml::Spanned;

/// A spring with a damper, or a rope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spring {
    /// Unique name among springs.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// One end.
    #[schemars(with = "SpringEnd")]
    pub a: Spanned<SpringEnd>,
    /// The other end.
    #[schemars(with = "SpringEnd")]
    pub b: Spanned<SpringEnd>,
    /// Stiffness [N/m].
    pub stiffness: Positive,
    /// Damping along its line [N·s/m]; 0 where it is left out.
    pub damping: Option<NonNegative>,
    /// Length at rest [m]; the distance of its ends at the start where it is left out.
    pub rest_length: Option<Reach>,
    /// True: it pulls and never pushes.
    pub rope: Option<bool>,
}

/// An end of a spring: a point of something, or of the world.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpringEnd {
    /// Name of a body, particle, soft body, cloth or link of a rod; the world where it is left out.
    #[schemars(with = "Option<String>")]
    pub on: Option<Spanned<String>>,
    /// The point [m], in the frame of the body, mesh or cloth (nearest point at rest), or of the world.
    pub at: Option<Place>,
}

/// A rod or cable: a chain of capsules, the bodies `NAME[0]`, `NAME[1]`, …
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rod {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Corners of its line from start to end [m]; two for a straight rod.
    pub points: Vec<Place>,
    /// Corners are rounded by arcs of this radius [m]; 0 where it is left out.
    pub corner_radius: Option<Reach>,
    /// Number of links, of equal length along the line.
    pub segments: Segments,
    /// Radius of its section [m].
    pub radius: Length,
    /// Young's modulus [Pa].
    pub young: Positive,
    /// Poisson's ratio; 0.3 where it is left out.
    pub poisson: Option<Number>,
    /// Density [kg/m³].
    pub density: Option<Positive>,
    /// Damping by stiffness [s]; 0 where it is left out.
    pub damping: Option<NonNegative>,
    /// Shape without load: `straight` (default) or `as-drawn`.
    #[serde(default)]
    #[schemars(schema_with = "rest_names")]
    pub rest: Option<RestShape>,
    /// What holds its start; nothing where it is left out.
    pub start: Option<Hold>,
    /// What holds its end; nothing where it is left out.
    pub end: Option<Hold>,
    /// Friction coefficient.
    pub friction: Option<NonNegative>,
    /// Restitution, 0 to 1.
    pub restitution: Option<Fraction>,
    /// True: its links touch each other where they are not neighbours; false where it is left out.
    pub self_contact: Option<bool>,
}

/// What holds an end of a rod, where it is at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hold {
    /// Name of a rigid body; the world where it is left out.
    #[schemars(with = "Option<String>")]
    pub to: Option<Spanned<String>>,
    /// `clamped` (default: in place and direction) or `pinned` (in place).
    #[serde(default)]
    #[schemars(schema_with = "fixing_names")]
    pub fixing: Option<Fixing>,
}

/// A rectangular sheet of cloth in the plane z = 0 of its frame, about the origin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cloth {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Cells along x and y; nodes are numbered along x first.
    #[serde(deserialize_with = "exactly")]
    pub cells: [Count; 2],
    /// Lengths along x and y [m].
    #[serde(deserialize_with = "exactly")]
    pub size: [Length; 2],
    /// Where its frame stands [m].
    pub position: Option<Place>,
    /// Orientation of its frame.
    pub rotation: Option<Rotation>,
    /// Initial velocity [m/s].
    pub velocity: Option<Triple>,
    /// Mass per area [kg/m²].
    pub area_density: Positive,
    /// Force per width and strain along the threads [N/m].
    pub stretch: Positive,
    /// Force per length and angle of shear [N/m].
    pub shear: Positive,
    /// Bending rigidity [N·m]; 0 where it is left out.
    pub bend: Option<NonNegative>,
    /// Damping by stiffness [s]; 0 where it is left out.
    pub damping: Option<NonNegative>,
    /// Radius of the layer about its nodes that touches [m].
    pub thickness: Reach,
    /// True (default): corners and edges of rigid bodies touch its faces. False: only its own nodes touch rigid bodies.
    pub rigid_edges: Option<bool>,
    /// Nodes that the world or a rigid body holds.
    #[serde(default)]
    pub attach: Vec<Attach>,
    /// Friction coefficient.
    pub friction: Option<NonNegative>,
    /// Restitution, 0 to 1.
    pub restitution: Option<Fraction>,
    /// True: it touches itself where it folds; false where it is left out.
    pub self_contact: Option<bool>,
}

/// A whole number from 1 to 10000.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
pub(crate) struct Segments(#[schemars(range(min = 1, max = 10000))] pub usize);

impl TryFrom<i64> for Segments {
    type Error = String;

    fn try_from(n: i64) -> Result<Segments, String> {
        match usize::try_from(n) {
            Ok(n @ 1..=10_000) => Ok(Segments(n)),
            _ => Err(format!("{n} is not allowed: give a whole number from 1 to 10000")),
        }
    }
}

fn rest_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["straight", "as-drawn"] })
}

fn fixing_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["clamped", "pinned"] })
}
