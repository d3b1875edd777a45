//! Mends what can be mended in a triangle mesh without guessing at its shape.

use super::TriMesh;
use super::survey::has_area;
use crate::linalg::Vec3;
use std::collections::BTreeMap;

/// Holes with more edges than this are left open: a fan over them would be a guess.
const LARGEST_HOLE: usize = 64;
/// With more parts than this none is taken for a cavity: each would have to be held against all others.
const MOST_PARTS: usize = 2000;

/// What was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Repair {
    /// Vertices merged with an earlier one at the same place.
    pub merged: usize,
    /// Triangles without area that were taken out.
    pub degenerate: usize,
    /// Triangles that were there already.
    pub duplicate: usize,
    /// Vertices that nothing used.
    pub unused: usize,
    /// Triangles turned to agree with their neighbours, or outwards with their whole part.
    pub turned: usize,
    /// Holes closed by a fan of triangles.
    pub holes: usize,
}

impl Repair {
    /// Was nothing changed?
    pub fn is_none(&self) -> bool {
        *self == Repair::default()
    }
}

impl TriMesh {
    /// Merges vertices nearer than `distance` [m] (0: at exactly the same place), takes out triangles without area and
    /// duplicates, turns triangles so that neighbours agree and each part looks outwards, closes small holes and drops
    /// unused vertices. Order is kept; the corners of all triangles must exist.
    pub fn repair(&mut self, distance: f64) -> Repair {
        let mut done = Repair { merged: self.merge(distance), ..Repair::default() };
        let before = self.triangles.len();
        let x = &self.vertices;
        self.triangles
            .retain(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0] && has_area(t.map(|k| x[k as usize])));
        done.degenerate = before - self.triangles.len();
        let before = self.triangles.len();
        let mut seen = std::collections::BTreeSet::new();
        self.triangles.retain(|t| {
            let mut key = *t;
            key.sort_unstable();
            seen.insert(key)
        });
        done.duplicate = before - self.triangles.len();
        done.turned = self.agree();
        done.holes = self.close_holes();
        done.turned += self.look_outwards();
        done.unused = self.drop_unused();
        done
    }

    /// Gives triangles the first of all vertices within `distance`; returns how many vertices lost their triangles.
    fn merge(&mut self, distance: f64) -> usize {
        let mut new: Vec<u32> = (0..self.vertices.len() as u32).collect();
        if distance > 0.0 {
            // Cells of that size: what is nearer lies in the same cell or one beside it.
            let cell = |p: Vec3| (p / distance).floor().to_array().map(|c| c as i64);
            let mut cells: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
            for k in 0..self.vertices.len() {
                let (p, [i, j, l]) = (self.vertices[k], cell(self.vertices[k]));
                let near = (0..27_i64).flat_map(|n| {
                    let key = [
                        i.saturating_add(n % 3 - 1),
                        j.saturating_add(n / 3 % 3 - 1),
                        l.saturating_add(n / 9 - 1),
                    ];
                    cells.get(&key).into_iter().flatten().copied()
                });
                match near.filter(|o| self.vertices[*o as usize].distance(p) <= distance).min() {
                    Some(first) => new[k] = first,
                    None => cells.entry([i, j, l]).or_default().push(k as u32),
                }
            }
        } else {
            let mut first: BTreeMap<[u64; 3], u32> = BTreeMap::new();
            for (k, p) in self.vertices.iter().enumerate() {
                // Adding zero makes −0 and 0 the same place.
                new[k] = *first.entry((*p + 0.0).to_array().map(f64::to_bits)).or_insert(k as u32);
            }
        }
        self.triangles.iter_mut().flatten().for_each(|k| *k = new[*k as usize]);
        (0..new.len()).filter(|k| new[*k] != *k as u32).count()
    }

    /// Turns triangles so that neighbours across edges of two run opposite ways; the first of each part stays.
    fn agree(&mut self) -> usize {
        let mut by_edge: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (t, corners) in self.triangles.iter().enumerate() {
            for [a, b] in sides(*corners) {
                by_edge.entry([a.min(b), a.max(b)]).or_default().push(t as u32);
            }
        }
        let mut known = vec![false; self.triangles.len()];
        let (mut turned, mut stack) = (0, Vec::new());
        for first in 0..self.triangles.len() {
            if known[first] {
                continue;
            }
            known[first] = true;
            stack.push(first as u32);
            while let Some(t) = stack.pop() {
                for [a, b] in sides(self.triangles[t as usize]) {
                    let [one, two] = by_edge[&[a.min(b), a.max(b)]][..] else { continue };
                    let other = if one == t { two } else { one };
                    if std::mem::replace(&mut known[other as usize], true) {
                        continue;
                    }
                    if sides(self.triangles[other as usize]).contains(&[a, b]) {
                        self.triangles[other as usize].swap(0, 1);
                        turned += 1;
                    }
                    stack.push(other);
                }
            }
        }
        turned
    }

    /// Closes simple loops of open edges by a fan around their middle.
    fn close_holes(&mut self) -> usize {
        let mut runs: BTreeMap<[u32; 2], i32> = BTreeMap::new();
        for [a, b] in self.triangles.iter().flat_map(|t| sides(*t)) {
            *runs.entry([a, b]).or_default() += 1;
        }
        // Where each open edge leads, walked against the triangle beside it.
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for ([a, b], _) in runs.iter().filter(|([a, b], n)| **n == 1 && !runs.contains_key(&[*b, *a])) {
            next.entry(*b).or_default().push(*a);
        }
        let mut holes = 0;
        let starts: Vec<u32> = next.keys().copied().collect();
        for start in starts {
            if next.get(&start).is_none_or(|to| to.len() != 1) {
                continue;
            }
            let mut rim = vec![start];
            let closed = loop {
                let here = *rim.last().unwrap_or(&start);
                let Some([to]) = next.remove(&here).as_deref().map(<[u32; 1]>::try_from).and_then(|r| r.ok())
                else {
                    break false;
                };
                if to == start {
                    break true;
                }
                rim.push(to);
            };
            if !closed || rim.len() < 3 || rim.len() > LARGEST_HOLE {
                continue;
            }
            holes += 1;
            if let [a, b, c] = rim[..] {
                self.triangles.push([a, b, c]);
                continue;
            }
            let middle = rim.iter().map(|k| self.vertices[*k as usize]).sum::<Vec3>() / rim.len() as f64;
            let centre = self.vertices.len() as u32;
            self.vertices.push(middle);
            for k in 0..rim.len() {
                self.triangles.push([rim[k], rim[(k + 1) % rim.len()], centre]);
            }
        }
        holes
    }

    /// Turns closed parts whose volume is negative, unless they are cavities: parts within another one.
    fn look_outwards(&mut self) -> usize {
        let (part, count) = self.parts();
        let mut volume = vec![0.0; count];
        let mut bounds = vec![(Vec3::INFINITY, Vec3::NEG_INFINITY); count];
        let mut runs: BTreeMap<[u32; 2], (i32, u32)> = BTreeMap::new();
        for (t, p) in self.triangles.iter().zip(&part) {
            let [a, b, c] = t.map(|k| self.vertices[k as usize]);
            volume[*p as usize] += a.dot(b.cross(c)) / 6.0;
            let (low, high) = &mut bounds[*p as usize];
            (*low, *high) = (low.min(a).min(b).min(c), high.max(a).max(b).max(c));
            for [a, b] in sides(*t) {
                let run = runs.entry([a.min(b), a.max(b)]).or_insert((0, *p));
                run.0 += if a < b { 1 } else { -1 };
            }
        }
        // An open part has no inside.
        for (_, p) in runs.values().filter(|(balance, _)| *balance != 0) {
            volume[*p as usize] = 0.0;
        }
        let within =
            |i: usize, j: usize| bounds[j].0.cmplt(bounds[i].0).all() && bounds[i].1.cmplt(bounds[j].1).all();
        let cavity = |i: usize| {
            count <= MOST_PARTS && (0..count).filter(|j| *j != i && within(i, *j)).count() % 2 == 1
        };
        let turn: Vec<bool> =
            (0..count).map(|i| volume[i] != 0.0 && (volume[i] < 0.0) != cavity(i)).collect();
        let mut turned = 0;
        for (t, p) in self.triangles.iter_mut().zip(&part) {
            if turn[*p as usize] {
                t.swap(0, 1);
                turned += 1;
            }
        }
        turned
    }

    fn drop_unused(&mut self) -> usize {
        let mut new = vec![u32::MAX; self.vertices.len()];
        self.triangles.iter().flatten().for_each(|k| new[*k as usize] = 0);
        let mut kept = Vec::with_capacity(self.vertices.len());
        for (k, n) in new.iter_mut().enumerate().filter(|(_, n)| **n == 0) {
            *n = kept.len() as u32;
            kept.push(self.vertices[k]);
        }
        let dropped = self.vertices.len() - kept.len();
        self.vertices = kept;
        self.triangles.iter_mut().flatten().for_each(|k| *k = new[*k as usize]);
        dropped
    }
}

fn sides([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

#[cfg(test)]
mod tests {
    use super::super::{Surface, shapes};
    use super::*;

    fn ball() -> TriMesh {
        let mesh = shapes::sphere(0.5, 3);
        Surface::of(&mesh).to_tri_mesh(&mesh.vertices)
    }

    #[test]
    fn a_clean_mesh_is_left_alone() {
        let mut m = ball();
        assert!(m.repair(0.0).is_none());
        assert_eq!(m, ball());
    }

    #[test]
    fn everything_at_once_is_mended() {
        let clean = ball();
        let volume = clean.survey().volume;
        // Each triangle with its own corners, every third turned, one hole, one twice, one flat, one loose vertex.
        let mut m = TriMesh::default();
        for (k, t) in clean.triangles.iter().enumerate() {
            let n = m.vertices.len() as u32;
            m.vertices.extend(t.map(|i| clean.vertices[i as usize]));
            m.triangles.push(if k % 3 == 0 { [n + 1, n, n + 2] } else { [n, n + 1, n + 2] });
        }
        m.triangles.push(m.triangles[4]);
        m.triangles.push([0, 1, 1]);
        m.triangles.remove(10);
        m.vertices.push(Vec3::splat(7.0));
        let done = m.repair(0.0);
        assert!(
            done.merged > 0 && done.holes == 1 && done.duplicate == 1 && done.degenerate == 1,
            "{done:?}"
        );
        let s = m.survey();
        assert!(s.is_clean(), "{s:?}");
        assert!((s.volume - volume).abs() < 1e-12);
        assert_eq!((s.vertices, s.triangles), (clean.vertices.len(), clean.triangles.len()));
    }

    #[test]
    fn inside_out_is_turned_but_cavities_stay() {
        let mut m = ball();
        m.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert_eq!(m.repair(0.0).turned, ball().triangles.len());
        // A ball with a smaller, inward one in it: a shell.
        let (mut shell, small) = (ball(), ball());
        let n = shell.vertices.len() as u32;
        shell.vertices.extend(small.vertices.iter().map(|p| *p * 0.5));
        shell.triangles.extend(small.triangles.iter().map(|t| [t[1] + n, t[0] + n, t[2] + n]));
        let want = 0.875 * ball().survey().volume;
        assert!(shell.repair(0.0).is_none());
        assert!((shell.survey().volume - want).abs() < 1e-12);
    }

    #[test]
    fn near_vertices_merge_within_a_distance() {
        let mut m = ball();
        let mut k = 0.0_f64;
        let soup: Vec<Vec3> = m
            .triangles
            .iter()
            .flat_map(|t| t.map(|i| m.vertices[i as usize]))
            .map(|p| {
                k += 1.0;
                p + Vec3::new(k.sin(), (1.3_f64 * k).cos(), (0.7 * k).sin()) * 1e-7
            })
            .collect();
        m.triangles = (0..soup.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        m.vertices = soup;
        m.repair(1e-6);
        let s = m.survey();
        assert!(s.is_watertight() && s.is_solid(), "{s:?}");
        assert_eq!(s.vertices, ball().vertices.len());
    }
}
