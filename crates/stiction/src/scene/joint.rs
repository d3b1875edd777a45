//! Joints as the user writes them: what holds two bodies together, how stiffly, how far and by what drive.

use crate::linalg::Vec3;
use crate::model::{JointKind, Motor, Spring};

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
