//! The `[[joint]]` table: what holds two bodies together, springs, limits and motor.

use crate::scene::value::{Direction, Length, NonNegative, Number, Place, Positive};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// A joint between two bodies, or between the world and a body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Joint {
    /// Unique name among the joints.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// What it leaves free.
    #[schemars(with = "Kind")]
    pub kind: Spanned<Kind>,
    /// Name of the first body; the world where it is left out.
    #[schemars(with = "Option<String>")]
    pub a: Option<Spanned<String>>,
    /// Name of the second body. Positions, rates and forces are those of b as seen from a.
    #[schemars(with = "String")]
    pub b: Spanned<String>,
    /// Where it sits at the start [m], world axes; the origin of b where this and the anchors are left out.
    pub at: Option<Place>,
    /// Its point of a, in the body frame of a [m]; needs `anchor_b` too.
    pub anchor_a: Option<Place>,
    /// Its point of b, in the body frame of b [m]; needs `anchor_a` too.
    pub anchor_b: Option<Place>,
    /// Its axis at the start, world axes; z where it is left out.
    pub axis: Option<Direction>,
    /// Second axis of a universal joint at the start, perpendicular to the first.
    pub second_axis: Option<Direction>,
    /// Length of a distance [m]; that of the start where it is left out.
    pub length: Option<Length>,
    /// Springs in place of what is rigid, or on what is free.
    #[serde(default)]
    pub springs: Springs,
    /// Least and largest position of hinge, slide and distance.
    #[schemars(with = "Option<Limits>")]
    pub limits: Option<Spanned<Limits>>,
    /// Dry friction along the free direction [N or N·m].
    pub friction: Option<NonNegative>,
    /// Drive along the free direction.
    #[schemars(with = "Option<Motor>")]
    pub motor: Option<Spanned<Motor>>,
    /// True: the two bodies can touch each other in spite of the joint.
    pub collide: Option<bool>,
}

/// What a joint leaves free: turning about a point (`ball`), turning about the axis (`hinge`), sliding along it
/// (`prismatic`), both (`cylindrical`), turning about two axes (`universal`), nothing (`fixed`), or all but the distance
/// of the anchors (`distance`).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Ball,
    Hinge,
    Prismatic,
    Cylindrical,
    Universal,
    Fixed,
    Distance,
}

/// Springs of a joint.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Springs {
    /// Against displacement of the anchors, in place of rigid rows [N/m, N·s/m].
    pub linear: Option<Spring>,
    /// Against turning about what is perpendicular to the axis [N·m/rad, N·m·s/rad].
    pub bend: Option<Spring>,
    /// Against turning about the axis [N·m/rad, N·m·s/rad].
    pub twist: Option<Spring>,
    /// Against sliding along the axis, where that is free [N/m, N·s/m].
    pub slide: Option<Spring>,
}

/// A spring with a damper beside it, at rest in the position of the start.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spring {
    /// Force per displacement [N/m or N·m/rad].
    pub stiffness: NonNegative,
    /// Force per rate [N·s/m or N·m·s/rad]; 0 where it is left out.
    pub damping: Option<NonNegative>,
}

/// Least and largest position; no limit where one is left out.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// Least position [m or rad].
    pub lower: Option<Number>,
    /// Largest position [m or rad].
    pub upper: Option<Number>,
    /// Least angle [°].
    pub lower_deg: Option<Number>,
    /// Largest angle [°].
    pub upper_deg: Option<Number>,
}

/// A drive: exactly one of position, position_deg, path, path_deg, velocity and velocity_path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Motor {
    /// Drive to this position [m or rad].
    pub position: Option<Number>,
    /// Drive to this angle [°].
    pub position_deg: Option<Number>,
    /// Drive through positions: [time [s], position [m or rad]], straight lines between them.
    pub path: Option<Vec<[Number; 2]>>,
    /// Drive through angles: [time [s], angle [°]].
    pub path_deg: Option<Vec<[Number; 2]>>,
    /// Drive at this rate [m/s or rad/s].
    pub velocity: Option<Number>,
    /// Drive at rates: [time [s], rate [m/s or rad/s]].
    pub velocity_path: Option<Vec<[Number; 2]>>,
    /// Force per error of position [N/m or N·m/rad]; 0 where it is left out.
    pub stiffness: Option<NonNegative>,
    /// Force per error of rate [N·s/m or N·m·s/rad]; 0 where it is left out.
    pub damping: Option<NonNegative>,
    /// Largest force or moment [N or N·m]; none where it is left out.
    pub limit: Option<Positive>,
}
