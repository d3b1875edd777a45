//! Impacts of vertices of which some turn with a rigid body.
//!
//! A point that turns at the rate ω about an axis at the distance r leaves the chord of a share δ of the step by no more than
//! r ω² δ²/8. The step is cut into pieces; in each the chords are tried, with that much more distance. A piece in which they
//! meet is halved until the chords are near enough to the arcs.

use super::{Impact, Kind, SHARE, SMALL, first};
use crate::coords::Pose;
use crate::linalg::{Quat, Vec3};

/// The first pieces turn by no more than this [rad].
const MOST_TURN: f64 = 0.5;
/// Pieces that one query may try; beyond, the start of the meeting of the chords is the answer.
const MOST_PIECES: usize = 200;

/// The path of a vertex within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Track {
    /// A straight line.
    Line {
        /// Where it starts [m].
        start: Vec3,
        /// Where it ends [m].
        end: Vec3,
    },
    /// A point of a rigid body whose centre moves straight on while it turns at a constant rate about a fixed axis.
    Turn {
        /// The centre at the start [m].
        centre: Vec3,
        /// How far the centre goes [m].
        travel: Vec3,
        /// From the centre to the point at the start [m].
        arm: Vec3,
        /// By how much the body turns, along the axis [rad].
        turn: Vec3,
    },
}

impl Track {
    /// The path of the point `local` of a body between two poses, the shorter way round.
    pub fn between(start: &Pose, end: &Pose, local: Vec3) -> Track {
        let turn = (end.rotation * start.rotation.conjugate()).to_scaled_axis();
        // Quaternions have two signs: the shorter way is less than half a turn.
        let turn = match turn.length() {
            angle if angle > std::f64::consts::PI => turn * (1.0 - std::f64::consts::TAU / angle),
            _ => turn,
        };
        Track::Turn {
            centre: start.translation,
            travel: end.translation - start.translation,
            arm: start.rotation * local,
            turn,
        }
    }

    /// Where it is at the share `t` of the step [m].
    pub fn at(&self, t: f64) -> Vec3 {
        match *self {
            Track::Line { start, end } => start * (1.0 - t) + end * t,
            Track::Turn { centre, travel, arm, turn } => {
                centre + travel * t + Quat::from_scaled_axis(turn * t) * arm
            }
        }
    }

    /// Bound of the second derivative [m].
    fn bend(&self) -> f64 {
        match *self {
            Track::Line { .. } => 0.0,
            Track::Turn { arm, turn, .. } => turn.length() * turn.cross(arm).length(),
        }
    }

    fn angle(&self) -> f64 {
        match *self {
            Track::Line { .. } => 0.0,
            Track::Turn { turn, .. } => turn.length(),
        }
    }
}

/// First time at which vertex `x[0]` comes within `distance` [m] of the face `x[1..4]`; never later than the true impact,
/// see [`vertex_face`](super::vertex_face).
pub fn vertex_face_on(x: &[Track; 4], distance: f64) -> Option<Impact> {
    first_on(Kind::VertexFace, x, distance)
}

/// First time at which the edges `x[0], x[1]` and `x[2], x[3]` come within `distance` [m]; never later than the true impact.
pub fn edge_edge_on(x: &[Track; 4], distance: f64) -> Option<Impact> {
    first_on(Kind::EdgeEdge, x, distance)
}

fn first_on(kind: Kind, x: &[Track; 4], distance: f64) -> Option<Impact> {
    let largest = |of: &dyn Fn(&Track) -> f64, range: &[Track]| range.iter().map(of).fold(0.0, f64::max);
    let (a, b) = x.split_at(kind.split());
    // A point of a feature leaves its chord by no more than the farthest of its vertices.
    let bend = largest(&Track::bend, a) + largest(&Track::bend, b);
    let pieces = (largest(&Track::angle, x) / MOST_TURN).ceil().max(1.0);
    let at = |t: f64| x.map(|x| x.at(t));
    let origin = x[0].at(0.0);
    let size = [0.0, 0.5, 1.0].map(at).iter().flatten().map(|p| p.distance(origin)).fold(0.0, f64::max);
    let enough = (SMALL * size).max(SHARE * distance);
    let mut count = 0;
    for piece in 0..pieces as usize {
        // Halves of a piece, the earliest last.
        let mut open = vec![(piece as f64 / pieces, (piece + 1) as f64 / pieces)];
        while let Some((from, to)) = open.pop() {
            count += 1;
            let slack = bend * (to - from) * (to - from) / 8.0;
            let Some(hit) = first(kind, &at(from), &at(to), distance + slack) else { continue };
            let time = from + hit.time * (to - from);
            if slack <= enough || count >= MOST_PIECES {
                return Some(Impact { time, at: hit.at });
            }
            let middle = 0.5 * (from + to);
            open.push((middle, to));
            // Nothing meets before the chords do.
            if hit.time < 0.5 {
                open.push((from, middle));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;

    /// A blade of length 1 that turns by a right angle meets a pin at 30° after a third of the step, though its chord
    /// never reaches the pin.
    #[test]
    fn a_blade_meets_a_pin_on_its_arc() {
        let turn = Vec3::Z * std::f64::consts::FRAC_PI_2;
        let tip = |arm| Track::Turn { centre: Vec3::ZERO, travel: Vec3::ZERO, arm, turn };
        let pin = Vec3::new(30f64.to_radians().cos(), 30f64.to_radians().sin(), 0.0) * 0.9;
        let stand = |p: Vec3| Track::Line { start: p, end: p };
        let x = [tip(Vec3::ZERO), tip(Vec3::X), stand(pin - Vec3::Z), stand(pin + Vec3::Z)];
        let hit = edge_edge_on(&x, 0.0).unwrap();
        assert!(hit.time <= 1.0 / 3.0 && hit.time > 1.0 / 3.0 - 1e-3, "{hit:?}");
        let far = [tip(Vec3::ZERO), tip(Vec3::X), stand(pin * 1.2 - Vec3::Z), stand(pin * 1.2 + Vec3::Z)];
        assert_eq!(edge_edge_on(&far, 0.0), None);
        // A radius of 0.1 on top: the tip reaches 1.08 at its nearest, asin(…) before.
        assert!(edge_edge_on(&far, 0.1).is_some());
    }

    /// Against a fine sampling of the true paths: never after the first sample that is too near.
    #[test]
    fn turning_paths_are_never_late() {
        let mut rng = Rng::new(8);
        let mut hits = 0;
        for _ in 0..300 {
            let turn = rng.normal3() * 1.5;
            let (centre, travel) = (rng.normal3() * 1.5, rng.normal3());
            let body = |arm| Track::Turn { centre, travel, arm, turn };
            let x = [
                body(rng.normal3()),
                body(rng.normal3()),
                Track::Line { start: rng.normal3(), end: rng.normal3() },
                Track::Line { start: rng.normal3(), end: rng.normal3() },
            ];
            for (kind, hit) in [
                (Kind::EdgeEdge, edge_edge_on(&x, 0.05)),
                (Kind::VertexFace, vertex_face_on(&[x[0], x[2], x[3], x[1]], 0.05)),
            ] {
                let x = if kind == Kind::EdgeEdge { x } else { [x[0], x[2], x[3], x[1]] };
                let near = |t: f64| {
                    let p = x.map(|x| x.at(t));
                    kind.way(p, kind.nearest(&p)).length() <= 0.05
                };
                let sampled = (0..=2000).map(|k| f64::from(k) / 2000.0).find(|t| near(*t));
                if let Some(t) = sampled {
                    hits += 1;
                    assert!(hit.is_some_and(|h| h.time <= t), "{hit:?} for {t}");
                }
            }
        }
        assert!(hits > 30, "{hits}");
    }

    #[test]
    fn tracks_end_where_poses_lead() {
        let mut rng = Rng::new(9);
        for _ in 0..50 {
            let pose = |rng: &mut Rng| Pose::from_parts(rng.normal3(), Quat::from_scaled_axis(rng.normal3()));
            let (a, b, p) = (pose(&mut rng), pose(&mut rng), rng.normal3());
            let track = Track::between(&a, &b, p);
            assert!(track.at(0.0).distance(a.transform_point(p)) < 1e-12);
            assert!(track.at(1.0).distance(b.transform_point(p)) < 1e-12);
        }
    }
}
