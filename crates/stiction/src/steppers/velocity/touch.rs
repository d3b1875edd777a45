//! When and where two sides of a contact meet within a step, and the velocity law of that impact.
//!
//! Before they meet, bodies move smoothly: `x(t) = x + v t + a t²/2`, and they turn by torque-free motion. The touch time t_c is
//! the root of the true gap along that motion, by Newton's method from the root of `gap + u t + u̇ t²/2`. The impulse p acts at t_c and at the
//! point where the sides meet, with the lever arms and the inertia that the bodies have then. The unknown is the velocity at
//! the end of the step, so that the velocity right after the impact is `v⁺ − (h − t_c) a` and the law reads
//!
//! | after the impact | normal row | tangential rows |
//! |---|---|---|
//! | the sides stay apart until the step ends | `J_n (v⁺ − (h − t_c) a) ≥ −e u_n(t_c)` | friction along `J_t (v⁺ − (h − t_c) a)` |
//! | they would meet again, or rest | `J_n v⁺ ≥ 0` | friction along `J_t v⁺` |
//!
//! In the second case a part of the impulse is that of the force at rest between t_c and h. What counts for the motion is the mean
//! time of both, t̄: it closes the gap exactly at the end of the step.

use super::recovery::SLOP;
use super::rows::driven_velocity;
use crate::collide::{Collider, Contact};
use crate::contact::ContactKey;
use crate::coords::{Anchor, BodyId, Pose, ShapeId};
use crate::kinematics::Kinematics;
use crate::linalg::rotation;
use crate::linalg::{Mat3, Vec3};
use crate::model::Owner;

/// Most Newton steps for the touch time; a sphere on a plane takes none.
const MOST_STEPS: usize = 8;
/// The sides have met within this share of the smaller shape: far above rounding, far below what a step leaves elsewhere.
const MET: f64 = 1e-12;
/// What Newton's method may leave where rounding of far coordinates stops it.
const NEARLY_MET: f64 = 1e-9;

/// The motion of a step before anything happens: by the velocity at its start and what smooth forces add.
#[derive(Clone, Copy)]
pub(super) struct Smooth<'a> {
    pub kin: Kinematics<'a>,
    /// Velocity at the end of the step without contacts.
    pub end: &'a [f64],
    pub h: f64,
}

impl Smooth<'_> {
    /// Linear (or, at `dof + 3`, angular) velocity after `t` seconds and the constant acceleration, angular ones by the inertia
    /// at the start.
    fn rates(&self, dof: usize, t: f64) -> (Vec3, Vec3) {
        let v = Vec3::from_slice(&self.kin.state.v[dof..]);
        let a = (Vec3::from_slice(&self.end[dof..]) - v) / self.h;
        (v + t * a, a)
    }

    /// Frame at the centre of mass after `t` seconds.
    fn pose(&self, owner: Owner, t: f64) -> Pose {
        match owner {
            Owner::Body(id) => {
                let b = &self.kin.model.bodies[id.index()];
                if b.block.is_none() {
                    return b.path_pose(self.kin.state.t + t);
                }
                let mut pose = self.kin.body(id).com;
                // The mean velocity of [0, t].
                let (v, w) = (self.rates(b.dof, 0.5 * t).0, self.rates(b.dof + 3, 0.5 * t).0);
                let l = b.world_inertia(pose.rotation) * w;
                let axes = rotation::torque_free(pose.rotation * b.principal, b.moments, l, t);
                pose.translation += t * v;
                pose.rotation = (axes * b.principal.conjugate()).normalize();
                pose
            }
            Owner::Node(id) => {
                let n = &self.kin.model.nodes[id.index()];
                let x = Vec3::from_slice(&self.kin.state.q[n.q..]);
                Pose::from_translation(x + t * self.rates(n.dof, 0.5 * t).0)
            }
            Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
        }
    }

    /// Turns an angular velocity by the inertia at the start into the one by the inertia after `t` seconds: I(t)⁻¹ I(0).
    fn turn(&self, owner: Owner, t: f64) -> Mat3 {
        match owner {
            Owner::Body(id) if self.kin.model.bodies[id.index()].block.is_some() => {
                let b = &self.kin.model.bodies[id.index()];
                let now = self.kin.body(id).com.rotation;
                b.world_inertia_inverse(self.pose(owner, t).rotation) * b.world_inertia(now)
            }
            _ => Mat3::IDENTITY,
        }
    }

    /// Writes the inertia of a body after `t` seconds into its block of a mass matrix; particles have none.
    pub fn write_inertia(&self, block: usize, t: f64, a: &mut [f64]) {
        let Some(at) = self.kin.model.bodies.iter().position(|b| b.block == Some(block)) else { return };
        let pose = self.pose(Owner::Body(BodyId(at as u32)), t);
        let inertia = self.kin.model.bodies[at].world_inertia(pose.rotation);
        for r in 0..3 {
            (0..3).for_each(|c| a[6 * (3 + r) + 3 + c] = inertia.col(c)[r]);
        }
    }

    /// Velocity and acceleration after `t` seconds of a point `arm` from the centre of mass; zero for bodies without columns.
    fn point(&self, owner: Owner, arm: Vec3, t: f64) -> (Vec3, Vec3) {
        match owner {
            Owner::Body(id) if self.kin.model.bodies[id.index()].block.is_some() => {
                let dof = self.kin.model.bodies[id.index()].dof;
                let ((v, a), (w, dw)) = (self.rates(dof, t), self.rates(dof + 3, t));
                let turn = self.turn(owner, t);
                (v + (turn * w).cross(arm), a + (turn * dw).cross(arm))
            }
            Owner::Node(id) => self.rates(self.kin.model.nodes[id.index()].dof, t),
            _ => (Vec3::ZERO, Vec3::ZERO),
        }
    }
}

/// Two sides of a contact where they meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// The touch time t_c [s].
    pub time: f64,
    /// The contact there.
    pub contact: Contact,
    /// From the centres of mass to the point where the sides meet [m].
    pub arms: [Vec3; 2],
    /// Velocity of a relative to b right before the impact, and its smooth rate, world axes [m/s, m/s²].
    approach: Vec3,
    rate: Vec3,
    /// What prescribed motion adds to `J v`, world axes [m/s].
    driven: Vec3,
}

/// How a contact goes on after its impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Its sides stay apart.
    Apart,
    /// It rests.
    AtRest,
}

impl Touch {
    /// Finds where the sides of the contact `key` meet, starting from the time `t`.
    pub fn find(m: Smooth<'_>, key: &ContactKey, mut t: f64, collider: &mut Collider) -> Option<Touch> {
        let shapes = [key.shape_a, key.shape_b].map(|s: ShapeId| &m.kin.model.shapes[s.index()]);
        let scale = shapes[0].scale.min(shapes[1].scale);
        let mut before: Option<f64> = None;
        for _ in 0..MOST_STEPS {
            let frames = shapes.map(|s| m.pose(s.owner, t));
            let poses = [frames[0] * shapes[0].local, frames[1] * shapes[1].local];
            let contact = collider.between(m.kin.model, key, poses)?;
            let arms = frames.map(|f| contact.point - f.translation);
            let [a, b] = [0, 1].map(|k| m.point(shapes[k].owner, arms[k], t));
            let driven = driven_velocity(m.kin, &contact.a, &contact.b, m.h)
                - driven_velocity(m.kin, &contact.b, &contact.a, m.h);
            let (approach, rate) = (a.0 - b.0 + driven, a.1 - b.1);
            let speed = contact.normal().dot(approach);
            let met = Touch { time: t, contact, arms, approach, rate, driven };
            let off = contact.gap.abs();
            let stuck = before.is_some_and(|o| off >= 0.5 * o) && off <= NEARLY_MET * scale;
            // What begins in touch meets at once.
            let at_once = t == 0.0 && contact.gap <= 0.0 && contact.gap >= -SLOP * scale;
            if off <= MET * scale || stuck || at_once {
                return (speed < -m.kin.model.contact.restitution_threshold).then_some(met);
            }
            if speed >= 0.0 {
                return None;
            }
            before = Some(off);
            let next = (t - contact.gap / speed).max(0.0);
            if next > m.h {
                return None;
            }
            t = next;
        }
        None
    }

    /// The gap at the end of the motion `v_move` [m]: what the sides move from where they met.
    pub fn gap_left(&self, m: Smooth<'_>, v_move: &[f64]) -> f64 {
        let key = &self.contact.key;
        let way = |s: ShapeId, arm: Vec3| {
            let owner = m.kin.model.shapes[s.index()].owner;
            let left = |dof: usize| {
                m.h * Vec3::from_slice(&v_move[dof..]) - self.time * m.rates(dof, 0.5 * self.time).0
            };
            match owner {
                Owner::Body(id) if m.kin.model.bodies[id.index()].block.is_some() => {
                    let dof = m.kin.model.bodies[id.index()].dof;
                    left(dof) + (m.turn(owner, self.time) * left(dof + 3)).cross(arm)
                }
                Owner::Node(id) => left(m.kin.model.nodes[id.index()].dof),
                _ => Vec3::ZERO,
            }
        };
        let moved = way(key.shape_a, self.arms[0]) - way(key.shape_b, self.arms[1]);
        self.contact.normal().dot(moved + (m.h - self.time) * self.driven)
    }

    /// Normal approach right before the impact and its smooth rate.
    fn normal(&self) -> (f64, f64) {
        let n = self.contact.normal();
        (n.dot(self.approach), n.dot(self.rate))
    }

    /// What follows: sides that would meet again before the step ends rest.
    pub fn after(&self, h: f64) -> After {
        let (u, rate) = self.normal();
        let away = -self.contact.restitution * u + 0.5 * rate * (h - self.time);
        if away < 0.0 { After::AtRest } else { After::Apart }
    }

    /// Bias of the row in the unknown velocity at the end of the step, in the contact frame.
    pub fn bias(&self, after: After, h: f64) -> Vec3 {
        let frame = self.contact.frame;
        match after {
            After::AtRest => frame * self.driven,
            After::Apart => {
                let mut bias = frame * (self.driven - (h - self.time) * self.rate);
                bias.x += self.contact.restitution * self.normal().0;
                bias
            }
        }
    }

    /// The mean time t̄ of the impulse of the step [s].
    pub fn mean_time(&self, after: After, h: f64) -> f64 {
        if crate::mutant::on("early-impact") {
            return 0.0;
        }
        let (u, rate) = self.normal();
        let (struck, rested) = (-u, -rate * (h - self.time));
        match after {
            After::AtRest => (self.time * struck + 0.5 * (self.time + h) * rested) / (struck + rested),
            After::Apart => self.time,
        }
    }
}

/// First time in [0, h] at which `gap + u t + rate t²/2` vanishes while it falls; at once for what touches.
pub(super) fn first_root(gap: f64, u: f64, rate: f64, h: f64) -> Option<f64> {
    if gap <= 0.0 {
        return (u < 0.0).then_some(0.0);
    }
    let under = u * u - 2.0 * rate * gap;
    if under < 0.0 {
        return None;
    }
    // The smaller root, in the form that does not cancel: 2 gap/(−u + √…).
    let t = 2.0 * gap / (under.sqrt() - u);
    (t > 0.0 && t <= h).then_some(t)
}

/// The body, particle or node of an anchor that a touch can have; nothing for points of soft surfaces.
pub(super) fn is_plain(anchor: &Anchor) -> bool {
    matches!(anchor, Anchor::World { .. } | Anchor::Body { .. } | Anchor::Node(_))
}

#[cfg(test)]
mod tests {
    use super::first_root;

    #[test]
    fn the_root_is_where_a_parabola_comes_down() {
        // 1 m under gravity: √(2/9.81) s.
        let t = first_root(1.0, 0.0, -9.81, 1.0).unwrap();
        assert!((t - (2.0_f64 / 9.81).sqrt()).abs() < 1e-15);
        // Thrown at a ceiling: too slow to reach it, or not in time.
        assert_eq!(first_root(1.0, -4.0, 9.81, 1.0), None);
        assert_eq!(first_root(1.0, -5.0, 9.81, 0.1), None);
        let t = first_root(1.0, -5.0, 9.81, 1.0).unwrap();
        assert!((1.0 - 5.0 * t + 0.5 * 9.81 * t * t).abs() < 1e-15 && -5.0 + 9.81 * t < 0.0);
        // Overlaps that come apart never meet.
        assert_eq!(first_root(-1e-9, 0.1, -9.81, 1.0), None);
        assert_eq!(first_root(0.0, -0.1, 0.0, 1.0), Some(0.0));
    }
}
