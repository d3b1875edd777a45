//! Conservative advancement by separating planes.
//!
//! At any time the nearest points of two convex features give a plane between them. Along its fixed normal n the distance
//! of every pair of vertices is linear in time, so the first time at which one of them falls below the distance asked
//! for is known in closed form, and until then nothing touches. There the nearest points are taken again. Features that
//! rest on each other, slide along or part are told apart by the first plane, whatever the gap.

use super::{Impact, Kind, Lines};

/// Planes that are tried before the question goes to boxes.
const MOST_PLANES: usize = 40;

pub(super) enum Advance {
    /// They do not touch within the step.
    Apart,
    Touch(Impact),
    /// They do not touch before this time; more is not known.
    Unsettled(f64),
}

pub(super) fn run(kind: Kind, lines: &Lines) -> Advance {
    let mut t = 0.0;
    for _ in 0..MOST_PLANES {
        let x = lines.at(t);
        let at = kind.nearest(&x);
        let way = kind.way(x, at);
        let distance = way.length();
        let impact = Impact { time: t, at };
        if distance <= lines.touch {
            return Advance::Touch(impact);
        }
        let n = way / distance;
        // First time at which some pair of vertices is too near along n.
        let mut until = f64::INFINITY;
        for i in 0..kind.split() {
            for j in kind.split()..4 {
                let from = n.dot(lines.start[i] - lines.start[j]) - lines.touch;
                let to = n.dot(lines.end[i] - lines.end[j]) - lines.touch;
                if from * (1.0 - t) + to * t <= 0.0 {
                    // No separating plane: the nearest points were not quite the nearest.
                    return Advance::Unsettled(t);
                }
                if to <= 0.0 {
                    until = until.min(from / (from - to));
                }
            }
        }
        if until > 1.0 {
            return Advance::Apart;
        }
        // One rounding error early rather than late.
        let next = (until * (1.0 - 4.0 * f64::EPSILON)).max(t);
        if distance <= lines.near {
            return Advance::Touch(Impact { time: next, at });
        }
        if next <= t {
            return Advance::Unsettled(t);
        }
        t = next;
    }
    Advance::Unsettled(t)
}
