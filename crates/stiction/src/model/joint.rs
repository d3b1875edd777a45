//! A joint of the model: which rows it adds, what each row measures, and its derivative.

use super::{JointKind, Motor, Spring};
use crate::coords::{BodyId, Pose};
use crate::linalg::rotation;
use crate::linalg::{Mat3, Quat, Vec3, skew};

/// A joint with its bodies resolved.
#[derive(Clone, Debug)]
pub struct ModelJoint {
    /// Name in the scene.
    pub name: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// First body; `None`: the world.
    pub a: Option<BodyId>,
    /// Second body.
    pub b: BodyId,
    /// Anchor of a in the frame of its centre of mass, or in the world [m].
    pub local_a: Vec3,
    /// Anchor of b in the frame of its centre of mass [m].
    pub local_b: Vec3,
    /// Turns the axes of the joint (the first is its axis) into those of a, or of the world.
    pub frame_a: Quat,
    /// Turns the axes of the joint into those of b. Both give the same axes at the start.
    pub frame_b: Quat,
    /// Distance at rest [m], for distances.
    pub rest: f64,
    /// Length by which its rows measure angles [m]: then masses and inertias of the two bodies weigh alike.
    pub length: f64,
    /// Size by which its errors are judged [m]: arms and `length`.
    pub size: f64,
    /// Blocks of up to three rows.
    pub blocks: Vec<JointBlock>,
    /// Least and largest position [m or rad].
    pub limits: Option<[f64; 2]>,
    /// Drive along the free direction.
    pub motor: Option<Motor>,
}

/// Up to three rows of a joint that are solved as one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointBlock {
    /// True: the rows measure angles; false: lengths.
    pub spin: bool,
    /// The rows.
    pub rows: [Option<JointRow>; 3],
}

/// One row of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointRow {
    /// What it measures.
    pub measure: Measure,
    /// What it does with that.
    pub role: Role,
}

/// What a row of a joint measures, b as seen from a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Displacement of the anchors along axis `k` of a's frame [m].
    Along(usize),
    /// Distance of the anchors [m].
    Distance,
    /// Component of b's axis along the second or third axis (1 or 2) of a's frame: zero where the axes are parallel.
    Align(usize),
    /// Component `k` of the rotation vector from a's frame to b's [rad].
    Turn(usize),
    /// Product of a's axis with b's second axis: zero where they are perpendicular.
    Cross,
    /// Angle about the axis [rad].
    Twist,
}

/// What a row does with what it measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// Holds it at this value.
    Hold(f64),
    /// Pulls it to this value.
    Pull(f64, Spring),
    /// Keeps it from falling below this value.
    Lower(f64),
    /// Keeps it from rising above this value.
    Upper(f64),
    /// Resists its change by at most this force or moment [N or N·m].
    Friction(f64),
    /// Drives it as the motor of the joint says.
    Drive,
}

impl Role {
    /// Rows whose value at the end of a step is exact: equations and stops.
    pub fn is_rigid(self) -> bool {
        matches!(self, Role::Hold(_) | Role::Lower(_) | Role::Upper(_))
    }

    /// −1 for rows that look from above.
    pub fn sign(self) -> f64 {
        if matches!(self, Role::Upper(_)) { -1.0 } else { 1.0 }
    }

    /// The error or gap of a row that measures `x`.
    pub fn gap(self, x: f64) -> f64 {
        match self {
            Role::Hold(at) | Role::Pull(at, _) | Role::Lower(at) => x - at,
            Role::Upper(at) => at - x,
            Role::Friction(_) | Role::Drive => x,
        }
    }
}

impl ModelJoint {
    /// The measure of its free direction, where it has one that can be limited and driven.
    pub fn coordinate(&self) -> Option<Measure> {
        coordinate(self.kind)
    }

    /// Where its parts stand for given poses of a and b.
    pub fn place(&self, [a, b]: [Pose; 2]) -> JointPlace {
        let (fa, fb) = (a.rotation * self.frame_a, b.rotation * self.frame_b);
        JointPlace {
            centre_a: a.translation,
            centre_b: b.translation,
            anchor_a: a.transform_point(self.local_a),
            anchor_b: b.transform_point(self.local_b),
            axes_a: Mat3::from_quat(fa),
            axes_b: Mat3::from_quat(fb),
            turn: fa.conjugate() * fb,
        }
    }
}

/// The measure of the free direction of a kind.
pub(crate) fn coordinate(kind: JointKind) -> Option<Measure> {
    match kind {
        JointKind::Hinge => Some(Measure::Twist),
        JointKind::Prismatic | JointKind::Cylindrical => Some(Measure::Along(0)),
        JointKind::Distance { .. } => Some(Measure::Distance),
        JointKind::Ball | JointKind::Universal { .. } | JointKind::Fixed => None,
    }
}

/// Where the parts of a joint stand, world axes.
#[derive(Clone, Copy, Debug)]
pub struct JointPlace {
    /// Centre of mass of a [m].
    pub centre_a: Vec3,
    /// Centre of mass of b [m].
    pub centre_b: Vec3,
    /// Anchor of a [m].
    pub anchor_a: Vec3,
    /// Anchor of b [m]. Both sides meet here, so that forces are equal, opposite and collinear.
    pub anchor_b: Vec3,
    /// Axes of the joint as a holds them, by columns.
    pub axes_a: Mat3,
    /// Axes of the joint as b holds them, by columns.
    pub axes_b: Mat3,
    /// From a's axes to b's, in a's axes.
    turn: Quat,
}

impl JointPlace {
    /// The value of a measure and its derivative: a direction `n` with `ẋ = n·(velocity of b − velocity of a)`, both at
    /// the anchor of b, or `ẋ = n·(ω_b − ω_a)` for angles. Angles are within ±π.
    pub fn measure(&self, m: Measure) -> (f64, Vec3) {
        let (a, b) = (&self.axes_a, &self.axes_b);
        let d = self.anchor_b - self.anchor_a;
        match m {
            Measure::Along(k) => (a.col(k).dot(d), a.col(k)),
            Measure::Distance => (d.length(), d.try_normalize().unwrap_or(a.col(0))),
            Measure::Align(k) => (a.col(k).dot(b.col(0)), b.col(0).cross(a.col(k))),
            Measure::Cross => (a.col(0).dot(b.col(1)), b.col(1).cross(a.col(0))),
            Measure::Turn(k) => {
                let phi = rotation::log(self.turn);
                (phi[k], *a * log_derivative(phi).row(k))
            }
            Measure::Twist => {
                // The twist of swing and twist, 2 atan2(x, w); its rate from q̇ = ½ ω q.
                let q = if self.turn.w < 0.0 { -self.turn } else { self.turn };
                let n = (q.x * q.x + q.w * q.w).max(f64::MIN_POSITIVE);
                let row = Vec3::new(1.0, (q.w * q.z + q.x * q.y) / n, (q.x * q.z - q.w * q.y) / n);
                (2.0 * q.x.atan2(q.w), *a * row)
            }
        }
    }
}

/// D with φ̇ = D ω for the rotation vector φ of a frame that turns with ω: I − ½[φ]× + β [φ]×².
fn log_derivative(phi: Vec3) -> Mat3 {
    let angle = phi.length();
    // β = 1/φ² − cot(φ/2)/(2φ) → 1/12.
    let beta = if angle < 1e-3 {
        1.0 / 12.0 + angle * angle / 720.0
    } else {
        (1.0 - 0.5 * angle / (0.5 * angle).tan()) / (angle * angle)
    };
    let s = skew(phi);
    Mat3::IDENTITY - 0.5 * s + beta * (s * s)
}
