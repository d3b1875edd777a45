//! Joints as the user writes them: what holds two bodies together, how stiffly, how far and by what drive.

use crate::linalg::Vec3;

/// A joint between two bodies, or between the world and a body.
///
/// ```
/// use stiction::scene::{Joint, JointKind, Motor};
/// use stiction::Vec3;
///
/// // A hinge about y at the origin, turning between ±1 rad, driven to 0.5 rad with at most 20 N·m.
/// let mut elbow = Joint::new("elbow", JointKind::Hinge, "upper", "lower").at(Vec3::ZERO).about(Vec3::Y);
/// elbow.limits = Some([-1.0, 1.0]);
/// elbow.motor = Some(Motor::position(0.5, 100.0, 10.0).with_limit(20.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Unique name among the joints.
    pub name: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// Name of the first body; `None`: the world.
    pub a: Option<String>,
    /// Name of the second body. Positions, rates and reactions are those of b as seen from a.
    pub b: String,
    /// Where it sits.
    pub anchor: JointAnchor,
    /// Its axis at the start, world axes: hinge and cylinder turn about it, slides go along it, twist is about it.
    /// Any length but zero.
    pub axis: Vec3,
    /// Springs instead of rigid rows, or on what is free.
    pub springs: JointSprings,
    /// Least and largest position [m or rad] of hinge, slide and distance; infinite for none.
    pub limits: Option<[f64; 2]>,
    /// Dry friction along the free direction [N or N·m].
    pub friction: f64,
    /// Drive along the free direction.
    pub motor: Option<Motor>,
    /// True: the two bodies can touch each other in spite of the joint.
    pub collide: bool,
}

impl Joint {
    /// A rigid joint at the origin of b with the axis z.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        a: impl Into<String>,
        b: impl Into<String>,
    ) -> Joint {
        Joint {
            name: name.into(),
            kind,
            a: Some(a.into()),
            b: b.into(),
            anchor: JointAnchor::OriginOfB,
            axis: Vec3::Z,
            springs: JointSprings::default(),
            limits: None,
            friction: 0.0,
            motor: None,
            collide: false,
        }
    }

    /// The same between the world and a body.
    pub fn to_world(name: impl Into<String>, kind: JointKind, b: impl Into<String>) -> Joint {
        Joint { a: None, ..Joint::new(name, kind, "", b) }
    }

    /// The same joint at a point of the world at the start [m].
    pub fn at(mut self, point: Vec3) -> Joint {
        self.anchor = JointAnchor::World(point);
        self
    }

    /// The same joint between two points, each in the frame of its body [m].
    pub fn between(mut self, a: Vec3, b: Vec3) -> Joint {
        self.anchor = JointAnchor::Points { a, b };
        self
    }

    /// The same joint with another axis at the start, world axes.
    pub fn about(mut self, axis: Vec3) -> Joint {
        self.axis = axis;
        self
    }
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// All turning about one point.
    Ball,
    /// Turning about the axis.
    Hinge,
    /// Sliding along the axis.
    Prismatic,
    /// Sliding along the axis and turning about it.
    Cylindrical,
    /// Turning about the axis, held by a, and about a second one, held by b; the two stay perpendicular.
    Universal {
        /// The second axis at the start, world axes.
        second: Vec3,
    },
    /// Nothing.
    Fixed,
    /// Everything but the distance of the two anchors: a rod. With limits the distance is only kept within them (a rope
    /// has an upper limit), with a motor it is driven.
    Distance {
        /// The distance [m]; `None`: that of the start.
        length: Option<f64>,
    },
}

impl JointKind {
    /// Name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            JointKind::Ball => "ball",
            JointKind::Hinge => "hinge",
            JointKind::Prismatic => "prismatic",
            JointKind::Cylindrical => "cylindrical",
            JointKind::Universal { .. } => "universal",
            JointKind::Fixed => "fixed",
            JointKind::Distance { .. } => "distance",
        }
    }
}

/// Where a joint sits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointAnchor {
    /// At the origin of the frame of b.
    OriginOfB,
    /// At this point of the world at the start [m].
    World(Vec3),
    /// At one point of each body, in its frame [m] (of the world where there is no a). The points must coincide at the
    /// start, up to what the kind leaves free.
    Points {
        /// The point of a.
        a: Vec3,
        /// The point of b.
        b: Vec3,
    },
}

/// Springs of a joint. What the kind holds is rigid unless it has a spring here; what it leaves free is free unless it
/// has one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointSprings {
    /// Against displacement of the anchors, in place of the rigid rows [N/m, N·s/m].
    pub linear: Option<Spring>,
    /// Against bending: turning about what is perpendicular to the axis [N·m/rad, N·m·s/rad]. A universal joint has it
    /// on both its angles.
    pub bend: Option<Spring>,
    /// Against twisting about the axis [N·m/rad, N·m·s/rad].
    pub twist: Option<Spring>,
    /// Against sliding along the axis, where that is free [N/m, N·s/m].
    pub slide: Option<Spring>,
}

/// A spring with a damper beside it, at rest in the position of the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Force per displacement [N/m or N·m/rad].
    pub stiffness: f64,
    /// Force per rate [N·s/m or N·m·s/rad].
    pub damping: f64,
}

impl Spring {
    /// A spring with a damper.
    pub fn new(stiffness: f64, damping: f64) -> Spring {
        Spring { stiffness, damping }
    }
}

/// A drive of the free direction of hinge, slide, cylinder (along the axis) or distance.
///
/// An implicit PD controller: force = −stiffness (x − x*) − damping (ẋ − ẋ*), taken at the end of the step, within
/// ± `limit`. Any stiffness is stable.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// What it aims at.
    pub target: Target,
    /// Force per error of position [N/m or N·m/rad]; must be zero for a velocity target.
    pub stiffness: f64,
    /// Force per error of rate [N·s/m or N·m·s/rad].
    pub damping: f64,
    /// Largest force or moment [N or N·m]; infinite for none.
    pub limit: f64,
}

impl Motor {
    /// Drives to a position [m or rad].
    pub fn position(target: f64, stiffness: f64, damping: f64) -> Motor {
        let target = Target::Position(Path::constant(target));
        Motor { target, stiffness, damping, limit: f64::INFINITY }
    }

    /// Drives at a rate [m/s or rad/s].
    pub fn velocity(target: f64, damping: f64) -> Motor {
        let target = Target::Velocity(Path::constant(target));
        Motor { target, stiffness: 0.0, damping, limit: f64::INFINITY }
    }

    /// The same with a largest force or moment [N or N·m].
    pub fn with_limit(mut self, limit: f64) -> Motor {
        self.limit = limit;
        self
    }
}

/// What a motor aims at.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Positions [m or rad].
    Position(Path),
    /// Rates [m/s or rad/s].
    Velocity(Path),
}

/// A number that changes in time: straight lines between keys, constant before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Time [s] and value; times ascend.
    pub keys: Vec<[f64; 2]>,
}

impl Path {
    /// The same at all times.
    pub fn constant(value: f64) -> Path {
        Path { keys: vec![[0.0, value]] }
    }

    /// Value at time `t` [s].
    pub fn value(&self, t: f64) -> f64 {
        let after = self.keys.partition_point(|k| k[0] <= t);
        match (self.keys.get(after.wrapping_sub(1)), self.keys.get(after)) {
            (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * ((t - a[0]) / (b[0] - a[0])),
            (Some(only), None) | (None, Some(only)) => only[1],
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_straight_between_keys_and_still_outside() {
        let p = Path { keys: vec![[1.0, 2.0], [3.0, 6.0], [4.0, 0.0]] };
        for (t, x) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.5, 3.0), (4.0, 0.0), (9.0, 0.0)] {
            assert_eq!(p.value(t), x);
        }
        assert_eq!(Path::constant(7.0).value(-3.0), 7.0);
    }
}
