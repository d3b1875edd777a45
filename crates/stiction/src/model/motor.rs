//! Kinds of joints, and what drives and holds them.

use crate::linalg::Vec3;

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

    /// Error of position (0 where none is held) and rate to be reached, of a drive at position `x`, at the end of the step
    /// [t, t + h]. A command takes the place of the path: a position to stand at, or a rate.
    pub fn aim(&self, x: f64, command: Option<f64>, t: f64, h: f64) -> (f64, f64) {
        match (&self.target, command) {
            (Target::Position(_), Some(position)) => (x - position, 0.0),
            (Target::Position(path), None) => {
                (x - path.value(t + h), (path.value(t + h) - path.value(t)) / h)
            }
            (Target::Velocity(_), Some(rate)) => (0.0, rate),
            (Target::Velocity(path), None) => (0.0, path.value(t + h)),
        }
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
