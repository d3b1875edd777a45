//! When two moving rigid shapes meet within a step: conservative advancement over translation and rotation.
//!
//! No two points of the shapes approach each other faster than `‖Δv‖ + ‖ω_a‖ r_a + ‖ω_b‖ r_b`, with r the reach of a
//! shape about the centre of its body. So both may go on for distance over that speed without meeting; again and again,
//! until they touch or the step ends. The time found is never later than the true one.

use crate::coords::Pose;
use crate::linalg::Vec3;
use crate::linalg::rotation;
use parry3d_f64::query::distance;
use parry3d_f64::shape::SharedShape;

/// Most advances. Shapes that fly alongside each other may need more: then they count as met where the search ended,
/// which is on the safe side.
const MOST_ADVANCES: usize = 64;

/// A shape on a body that moves steadily: its centre by `v`, turning about it by `w`.
pub(super) struct Moving<'a> {
    pub shape: &'a SharedShape,
    /// The frame of the body at its centre of mass.
    pub frame: Pose,
    /// The shape in it.
    pub local: &'a Pose,
    pub v: Vec3,
    pub w: Vec3,
    /// How far the shape reaches from the centre [m].
    pub reach: f64,
}

impl Moving<'_> {
    /// Frame of the body after `s` seconds.
    pub fn frame_at(&self, s: f64) -> Pose {
        let turned = rotation::exp(self.w * s) * self.frame.rotation;
        Pose::from_parts(self.frame.translation + self.v * s, turned)
    }

    /// Pose of the shape after `s` seconds.
    pub fn at(&self, s: f64) -> Pose {
        self.frame_at(s) * *self.local
    }
}

/// An upper bound of the speed at which any two points of the shapes approach each other [m/s].
pub(super) fn closing_speed(a: &Moving<'_>, b: &Moving<'_>) -> f64 {
    (a.v - b.v).length() + a.w.length() * a.reach + b.w.length() * b.reach
}

/// The time [s] within `h` at which two shapes come within `touch` of each other, not later than they really do; `None`
/// if they do not, or if they start nearer than that.
pub(super) fn time_of_impact(a: &Moving<'_>, b: &Moving<'_>, h: f64, touch: f64) -> Option<f64> {
    let speed = closing_speed(a, b);
    let mut s = 0.0;
    for k in 0..MOST_ADVANCES {
        let d = distance(&a.at(s), a.shape.as_ref(), &b.at(s), b.shape.as_ref()).ok()?.distance;
        if d <= touch {
            return (k > 0).then_some(s);
        }
        s += (d - 0.5 * touch) / speed;
        if s >= h {
            return None;
        }
    }
    Some(s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Quat;
    use crate::linalg::Rng;

    fn moving<'a>(shape: &'a SharedShape, frame: Pose, v: Vec3, w: Vec3) -> Moving<'a> {
        Moving {
            shape,
            frame,
            local: &Pose::IDENTITY,
            v,
            w,
            reach: shape.compute_local_bounding_sphere().radius(),
        }
    }

    #[test]
    fn spheres_meet_when_the_quadratic_says_so() {
        let mut rng = Rng::new(21);
        let (one, two) = (SharedShape::ball(0.3), SharedShape::ball(0.2));
        let mut met = 0;
        for _ in 0..2000 {
            let x = rng.normal3().normalize() * rng.range(0.6, 3.0);
            let v = rng.normal3() * 4.0;
            let a = moving(&one, Pose::IDENTITY, Vec3::ZERO, rng.normal3());
            let b = moving(&two, Pose::from_translation(x), v, rng.normal3());
            // ‖x + v t‖ = 0.5
            let (p, q, r) = (v.length_squared(), x.dot(v), x.length_squared() - 0.25);
            let disc = q * q - p * r;
            let truth = (disc > 0.0 && q < 0.0).then(|| (-q - disc.sqrt()) / p).filter(|t| *t < 1.0);
            match (time_of_impact(&a, &b, 1.0, 1e-6), truth) {
                (Some(got), Some(t)) => {
                    met += 1;
                    assert!(got <= t + 1e-12, "{got} is later than {t}");
                }
                // Missed by less than the tolerance, or still on the way after all advances: on the safe side.
                (Some(_), None) => {}
                (None, Some(t)) => panic!("missed an impact at {t}"),
                (None, None) => {}
            }
        }
        assert!(met > 50, "{met}");
    }

    /// Turning boxes against a dense sampling of the motion: no overlap before the time found, and none missed.
    #[test]
    fn turning_boxes_do_not_overlap_before_they_meet() {
        let mut rng = Rng::new(22);
        let (one, two) = (SharedShape::cuboid(0.5, 0.05, 0.1), SharedShape::cuboid(0.02, 0.4, 0.3));
        let (mut met, mut apart) = (0, 0);
        for _ in 0..300 {
            let turn = |rng: &mut Rng| Quat::from_axis_angle(rng.normal3().normalize(), rng.range(0.0, 3.0));
            let x = rng.normal3().normalize() * 1.5;
            let a = moving(&one, Pose::from_rotation(turn(&mut rng)), Vec3::ZERO, rng.normal3() * 4.0);
            let v = -x * rng.range(0.2, 2.0) + rng.normal3() * 0.3;
            let b = moving(&two, Pose::from_parts(x, turn(&mut rng)), v, rng.normal3() * 4.0);
            let found = time_of_impact(&a, &b, 1.0, 1e-4);
            let end = found.unwrap_or(1.0);
            for k in 0..400 {
                let s = end * f64::from(k) / 400.0;
                let d = distance(&a.at(s), one.as_ref(), &b.at(s), two.as_ref()).unwrap().distance;
                assert!(d > 0.0, "they overlap at {s}, found {found:?}");
            }
            if found.is_some() { met += 1 } else { apart += 1 }
        }
        assert!(met > 50 && apart > 20, "{met} met, {apart} did not");
    }
}
