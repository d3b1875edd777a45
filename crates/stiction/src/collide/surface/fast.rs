//! Vertices that move so far within the step that only their time of impact tells what they meet.

use super::super::ccd;
use super::super::nearest::{Place, on_triangle};
use super::super::skin::Skin;
use super::super::solid::feature;
use super::Pair;
use super::pair::{FARTHEST, TOUCH};
use crate::collide::Contact;
use crate::contact::ContactKey;
use crate::linalg::Vec3;

/// Most steps from an early time of impact to the touch.
const SAFE_STEPS: usize = 50;

impl Pair<'_> {
    /// The face that a fast vertex meets first within the step, where it is too far away to be seen at its start. The gap
    /// is that of the points which meet, along the normal that the face has there.
    pub fn fast_vertex(&self, v: u32, group: &[(u32, u32)], before: usize, contacts: &mut Vec<Contact>) {
        let (a, b) = (self.a, self.b);
        let moved = |s: &Skin, k: u32| s.v[k as usize] * self.h;
        let mut first: Option<(f64, u32, [f64; 3], Vec3)> = None;
        for &(_, f) in group {
            let t = b.triangles[f as usize];
            let is_fast = (moved(a, v) - moved(b, t[0])).length() > FARTHEST * self.size;
            if !is_fast || t.iter().any(|k| b.is_held_by(self.model, *k, a) || (self.is_self && *k == v)) {
                continue;
            }
            let start = [a.x[v as usize], b.x[t[0] as usize], b.x[t[1] as usize], b.x[t[2] as usize]];
            let way = [moved(a, v), moved(b, t[0]), moved(b, t[1]), moved(b, t[2])];
            let end = [0, 1, 2, 3].map(|k| start[k] + way[k]);
            let between = |x: &[Vec3; 4]| {
                let (w, place) = on_triangle(x[0], [x[1], x[2], x[3]]);
                (w, place, x[0] - x[1] * w[0] - x[2] * w[1] - x[3] * w[2])
            };
            if between(&start).2.length() <= self.thickness + self.margin {
                continue;
            }
            let Some(hit) = ccd::vertex_face(&start, &end, self.thickness) else { continue };
            // From there by safe steps until they touch: a surface meets, not its neighbourhood.
            let speed = [1, 2, 3].map(|k| (way[0] - way[k]).length()).into_iter().fold(0.0, f64::max);
            let at = |time: f64| [0, 1, 2, 3].map(|k| start[k] + way[k] * time);
            let mut time = hit.time;
            for _ in 0..SAFE_STEPS {
                let apart = between(&at(time)).2.length() - self.thickness;
                if apart <= TOUCH * self.size || time > 1.0 {
                    break;
                }
                time += apart / speed;
            }
            if time > 1.0 {
                continue;
            }
            let there = at(time);
            let (w, place, to_vertex) = between(&there);
            let n = match place {
                Place::Inside => (there[2] - there[1]).cross(there[3] - there[1]).normalize_or_zero(),
                _ => to_vertex.normalize_or_zero(),
            };
            let apart = n.dot(start[0] - start[1] * w[0] - start[2] * w[1] - start[3] * w[2]);
            let comes_from_inside = b.has_inside && apart < 0.0;
            if !comes_from_inside && first.is_none_or(|o| time < o.0) {
                first = Some((time, f, w, if apart < 0.0 { -n } else { n }));
            }
        }
        let Some((_, f, w, n)) = first else { return };
        let (on_a, on_b) = (feature::vertex(v), feature::face(f));
        let same = |k: &ContactKey| {
            [k.feature_a, k.feature_b] == if self.swap { [on_b, on_a] } else { [on_a, on_b] }
        };
        if contacts[before..].iter().any(|c| same(&c.key)) {
            return;
        }
        let t = b.triangles[f as usize];
        let on_face = (0..3).map(|k| b.x[t[k] as usize] * w[k]).sum::<Vec3>();
        let distance = n.dot(a.x[v as usize] - on_face);
        self.make((&[v], &[1.0], on_a), (&t, &w, on_b), n, distance, contacts);
    }
}
