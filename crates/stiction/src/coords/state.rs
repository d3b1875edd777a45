//! The state of a model: time, configuration and velocity.

use super::{BlockKind, Layout, Pose};
use crate::linalg::rotation;
use crate::linalg::{Quat, Vec3};

/// Time [s], configuration `q` and velocity `v`, in the order of a [`Layout`].
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Time [s].
    pub t: f64,
    /// Configuration: per rigid block x, y, z [m] of the centre of mass and quaternion w, x, y, z; per node x, y, z.
    pub q: Vec<f64>,
    /// Velocity: per rigid block velocity of the centre of mass [m/s] and world-frame ω [rad/s]; per node [m/s].
    pub v: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> State {
        State { t: self.t, q: self.q.clone(), v: self.v.clone() }
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, other: &State) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
    }
}

impl State {
    /// The frame of a rigid block: origin at its centre of mass.
    pub fn rigid_pose(&self, q: usize) -> Pose {
        let x = &self.q[q..q + 7];
        Pose { rotation: Quat::from_xyzw(x[4], x[5], x[6], x[3]), translation: Vec3::new(x[0], x[1], x[2]) }
    }

    /// Writes the frame of a rigid block.
    pub fn set_rigid_pose(&mut self, q: usize, pose: &Pose) {
        let (p, r) = (pose.translation, pose.rotation);
        self.q[q..q + 7].copy_from_slice(&[p.x, p.y, p.z, r.w, r.x, r.y, r.z]);
    }

    /// q ⊞ d: moves along `d`, a vector of the size of `v` (a velocity times a time).
    pub fn retract(&mut self, layout: &Layout, d: &[f64]) {
        for b in layout.blocks() {
            match b.kind {
                BlockKind::Rigid => {
                    let mut pose = self.rigid_pose(b.q);
                    pose.translation += Vec3::from_slice(&d[b.v..]);
                    pose.rotation =
                        (rotation::exp(Vec3::from_slice(&d[b.v + 3..])) * pose.rotation).normalize();
                    self.set_rigid_pose(b.q, &pose);
                }
                BlockKind::Node => {
                    for k in 0..3 {
                        self.q[b.q + k] += d[b.v + k];
                    }
                }
                BlockKind::Articulation => unreachable!("no model holds articulations yet"),
            }
        }
    }

    /// self ⊟ other: the `d` that takes `other` to `self` by [`retract`](State::retract).
    pub fn difference(&self, other: &State, layout: &Layout, d: &mut [f64]) {
        for b in layout.blocks() {
            match b.kind {
                BlockKind::Rigid => {
                    let (a, o) = (self.rigid_pose(b.q), other.rigid_pose(b.q));
                    (a.translation - o.translation).write_to_slice(&mut d[b.v..b.v + 3]);
                    rotation::log(a.rotation * o.rotation.conjugate())
                        .write_to_slice(&mut d[b.v + 3..b.v + 6]);
                }
                BlockKind::Node => {
                    for k in 0..3 {
                        d[b.v + k] = self.q[b.q + k] - other.q[b.q + k];
                    }
                }
                BlockKind::Articulation => unreachable!("no model holds articulations yet"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_undoes_retract() {
        let mut layout = Layout::new();
        layout.push(BlockKind::Rigid);
        layout.push(BlockKind::Node);
        let start =
            State { t: 0.0, q: vec![1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5, 7.0, 8.0, 9.0], v: vec![0.0; 9] };
        let d = [0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 1.0, 2.0, 3.0];
        let mut moved = start.clone();
        moved.retract(&layout, &d);
        let mut back = [0.0; 9];
        moved.difference(&start, &layout, &mut back);
        for k in 0..9 {
            assert!((d[k] - back[k]).abs() < 1e-14);
        }
    }
}
