//! What moves as prescribed: bodies along paths, pressures and tensions over time.

use crate::coords::Pose;
use crate::linalg::Vec3;
use crate::linalg::rotation;

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

impl Ease {
    /// Share of the way done, and its rate, at the share `s` of the time.
    fn progress(self, s: f64) -> (f64, f64) {
        match self {
            Ease::Linear => (s, 1.0),
            Ease::Smooth => (
                s * s * (3.0 - 2.0 * s),
                if crate::mutant::on("keyframe-rate") { 3.0 } else { 6.0 } * s * (1.0 - s),
            ),
        }
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
            Motion::Keyframes { keys, ease } => match segment(keys, t) {
                Segment::Still(k) => keys[k].pose,
                Segment::Between(k) => {
                    let (a, b) = (&keys[k], &keys[k + 1]);
                    let s = ease.progress((t - a.time) / (b.time - a.time)).0;
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
            Motion::Keyframes { keys, ease } => match segment(keys, t) {
                Segment::Still(_) => (Vec3::ZERO, Vec3::ZERO),
                Segment::Between(k) => {
                    let (a, b) = (&keys[k], &keys[k + 1]);
                    let dt = b.time - a.time;
                    let turn = rotation::log(b.pose.rotation * a.pose.rotation.conjugate());
                    let rate = ease.progress((t - a.time) / dt).1 / dt;
                    ((b.pose.translation - a.pose.translation) * rate, turn * rate)
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

/// A pressure in all tetrahedra whose middle lies in a box of the rest shape: they swell, as a chamber does.
#[derive(Clone, Debug, PartialEq)]
pub struct Inflation {
    /// Smallest coordinates [m], in the frame of the mesh.
    pub min: Vec3,
    /// Largest coordinates [m].
    pub max: Vec3,
    /// Times [s] and pressures [Pa], in order of time: straight lines between them, constant before and after.
    pub pressure: Vec<[f64; 2]>,
}

impl Inflation {
    /// The pressure at a time [Pa].
    pub fn at(&self, t: f64) -> f64 {
        let keys = &self.pressure;
        let after = keys.partition_point(|k| k[0] <= t);
        match (after.checked_sub(1).map(|i| keys[i]), keys.get(after)) {
            (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * (t - a[0]) / (b[0] - a[0]),
            (Some(end), None) => end[1],
            (None, Some(start)) => start[1],
            (None, None) => 0.0,
        }
    }
}
