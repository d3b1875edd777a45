//! Patches of a surface that keep their shape cannot touch themselves: pairs within them are not looked for (CR 5.1).
//!
//! Volino & Magnenat Thalmann (1994) judge a patch by its normals and its rim. Here it is judged by how far its faces are from a
//! common rotation R, which loses no pair: let D = F − R be what the gradient of a face differs by. Two points of the patch that
//! are joined by a way of rest length g along it are no nearer than
//!
//! `|x − y| ≥ |X − Y| − max‖D‖ g`.
//!
//! Features d apart at rest therefore stay farther than `reach` apart while max‖D‖ ≤ (d − reach)/g. The least of this over all
//! pairs without a common vertex is the limit of the patch, found once. A face whose corners move straight has gradients
//! between those of both ends of its way, and norms are convex: both ends vouch for all that is between.

use crate::collide::cover::Cover;
use crate::collide::nearest::{on_segments, on_triangle};
use crate::collide::skin::{NONE, Skin};
use crate::linalg::{Mat3, Quat, Vec3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Most and fewest faces of a patch.
const MOST: usize = 512;
const FEWEST: usize = 8;
/// A patch that bears less than this is left to its parts.
const LEAST_LIMIT: f64 = 0.01;
/// Rounds of the search for the rotation: a worse one makes the test stricter, not wrong.
const ROUNDS: usize = 8;

/// A face at rest.
#[derive(Clone, Copy, Debug)]
struct Face {
    corners: [u32; 3],
    /// Edges from the first corner [m].
    edges: [Vec3; 2],
    /// Inverse of their Gram matrix: entries 00, 01 and 11 [1/m²].
    gram: [f64; 3],
}

impl Face {
    fn new(corners: [u32; 3], rest: &[Vec3]) -> Face {
        let edges = ends(&corners, rest);
        let (a, b, c) = (edges[0].dot(edges[0]), edges[0].dot(edges[1]), edges[1].dot(edges[1]));
        Face { corners, edges, gram: [c, -b, a].map(|g| g / (a * c - b * b)) }
    }

    /// ‖F − R‖² in the Frobenius norm, which is no less than the spectral one.
    fn deviation(&self, x: &[Vec3], turn: &Mat3) -> f64 {
        let now = ends(&self.corners, x);
        let [p, q] = [0, 1].map(|k| now[k] - *turn * self.edges[k]);
        self.gram[0] * p.dot(p) + 2.0 * self.gram[1] * p.dot(q) + self.gram[2] * q.dot(q)
    }

    /// Edges and normal of unit length, in columns.
    fn frame(edges: [Vec3; 2]) -> Mat3 {
        let x = edges[0].normalize_or_zero();
        let z = x.cross(edges[1]).normalize_or_zero();
        Mat3::from_cols(x, z.cross(x), z)
    }
}

/// Edges from the first corner.
fn ends(corners: &[u32; 3], x: &[Vec3]) -> [Vec3; 2] {
    let [a, b, c] = corners.map(|k| x[k as usize]);
    [b - a, c - a]
}

/// Faces below one node of the tree.
#[derive(Clone, Debug)]
struct Part {
    node: u32,
    /// In `order`.
    faces: Range<usize>,
    /// How far gradients may be from a rotation; negative where the patch may touch itself at any time.
    limit: f64,
    /// The next part that is none of this one.
    next: usize,
}

/// The patches of one surface.
#[derive(Clone, Debug, Default)]
pub(super) struct Firm {
    faces: Vec<Face>,
    /// Faces as the tree has them.
    order: Vec<u32>,
    /// A part comes before those within it.
    parts: Vec<Part>,
}

impl Firm {
    /// Of a surface that may touch itself; `reach` is how near two features, as vertices, are looked for, at most `most_reach` [m].
    pub fn new(
        skin: &Skin,
        cover: &Cover,
        rest: &[Vec3],
        reach: impl Fn(&[u32], &[u32]) -> f64,
        most_reach: f64,
    ) -> Firm {
        let faces = skin.triangles.iter().map(|t| Face::new(*t, rest)).collect();
        let mut firm = Firm { faces, order: Vec::new(), parts: Vec::new() };
        let all = Whole { skin, cover, rest, reach: &reach, most_reach };
        cover.tree.for_each_branch(MOST, |node, leaves| {
            let from = firm.order.len();
            firm.order.extend_from_slice(leaves);
            firm.add(&all, node, from..firm.order.len());
        });
        firm
    }

    /// Adds a part and those within it.
    fn add(&mut self, all: &Whole, node: u32, faces: Range<usize>) {
        if faces.len() < FEWEST {
            return;
        }
        let at = self.parts.len();
        let limit = all.limit(&self.order[faces.clone()]);
        self.parts.push(Part { node, faces: faces.clone(), limit, next: 0 });
        if let Some([first, second]) = all.cover.tree.children(node) {
            let middle = faces.start + all.cover.tree.leaves(first).count();
            self.add(all, first, faces.start..middle);
            self.add(all, second, middle..faces.end);
        }
        self.parts[at].next = self.parts.len();
    }

    /// Nodes of the tree, ascending, whose features stay apart from each other on the straight ways from `x` to `end`.
    pub fn select(&self, x: &[Vec3], end: &[Vec3], nodes: &mut Vec<u32>) {
        nodes.clear();
        let mut k = 0;
        while let Some(part) = self.parts.get(k) {
            let holds = self.holds(part, x, end);
            nodes.extend(holds.then_some(part.node));
            k = if holds { part.next } else { k + 1 };
        }
    }

    /// True where all of these nodes still hold.
    pub fn vouches_for(&self, nodes: &[u32], x: &[Vec3], end: &[Vec3]) -> bool {
        nodes.iter().all(|node| {
            let part = self.parts.binary_search_by_key(node, |p| p.node);
            part.is_ok_and(|k| self.holds(&self.parts[k], x, end))
        })
    }

    fn holds(&self, part: &Part, x: &[Vec3], end: &[Vec3]) -> bool {
        if part.limit < LEAST_LIMIT {
            return false;
        }
        let faces = || self.order[part.faces.clone()].iter().map(|f| &self.faces[*f as usize]);
        let turn = rotation(faces(), x);
        let most = part.limit * part.limit;
        faces().all(|f| f.deviation(x, &turn) <= most && f.deviation(end, &turn) <= most)
    }
}

/// A rotation that takes the edges of faces at rest to where they are (after Müller et al. 2016), found from that of the first face.
fn rotation<'a>(mut faces: impl Iterator<Item = &'a Face> + Clone, x: &[Vec3]) -> Mat3 {
    let mut m = Mat3::ZERO;
    for f in faces.clone() {
        for (now, rest) in ends(&f.corners, x).into_iter().zip(f.edges) {
            m += Mat3::from_cols(now * rest.x, now * rest.y, now * rest.z);
        }
    }
    let Some(first) = faces.next() else { return Mat3::IDENTITY };
    let start = Face::frame(ends(&first.corners, x)) * Face::frame(first.edges).transpose();
    let mut q = Quat::from_mat3(&start).normalize();
    for _ in 0..ROUNDS {
        let r = Mat3::from_quat(q);
        let pairs = [(r.x_axis, m.x_axis), (r.y_axis, m.y_axis), (r.z_axis, m.z_axis)];
        let (turn, size) =
            pairs.iter().fold((Vec3::ZERO, 0.0), |(t, s), (r, m)| (t + r.cross(*m), s + r.dot(*m)));
        if size <= 0.0 || size.is_nan() {
            break;
        }
        q = (Quat::from_scaled_axis(turn / size) * q).normalize();
    }
    Mat3::from_quat(q)
}

/// What limits are made of.
struct Whole<'a> {
    skin: &'a Skin,
    cover: &'a Cover,
    rest: &'a [Vec3],
    reach: &'a dyn Fn(&[u32], &[u32]) -> f64,
    most_reach: f64,
}

impl Whole<'_> {
    /// The least (d − reach)/g over pairs of features of these leaves.
    fn limit(&self, leaves: &[u32]) -> f64 {
        if leaves.iter().any(|l| self.cover.leaves[*l as usize].face == NONE) {
            return -1.0;
        }
        let triangle = |l: u32| self.skin.triangles[self.cover.leaves[l as usize].face as usize];
        let ways = Ways::new(leaves.iter().map(|l| triangle(*l)), self.rest);
        let balls: Vec<(Vec3, f64, f64)> = leaves
            .iter()
            .map(|l| {
                let [a, b, c] = triangle(*l).map(|k| self.rest[k as usize]);
                let middle = (a + b + c) / 3.0;
                let radius = [a, b, c].map(|p| p.distance(middle)).into_iter().fold(0.0, f64::max);
                (middle, radius, a.distance(b).max(b.distance(c)).max(c.distance(a)))
            })
            .collect();
        let mut least = f64::INFINITY;
        for (i, &one) in leaves.iter().enumerate() {
            for (j, &two) in leaves.iter().enumerate().skip(i + 1) {
                let ((p, r, long), (q, s, length)) = (balls[i], balls[j]);
                let (t, u) = (triangle(one), triangle(two));
                let way = long + length + ways.between(&t, &u);
                if p.distance(q) - r - s - self.most_reach >= least * way {
                    continue;
                }
                self.each_pair(one, two, |apart, reach| least = least.min((apart - reach) / way));
            }
            if least < LEAST_LIMIT {
                return -1.0;
            }
        }
        // Rounding of the test itself.
        least * (1.0 - 1e-9)
    }

    /// Distance at rest, and how near they may come, of features of two leaves that have no common vertex.
    fn each_pair(&self, one: u32, two: u32, mut found: impl FnMut(f64, f64)) {
        let at = |k: u32| self.rest[k as usize];
        let leaf = |l: u32| &self.cover.leaves[l as usize];
        for (from, to) in [(one, two), (two, one)] {
            let t = self.skin.triangles[leaf(to).face as usize];
            for &v in leaf(from).vertices.iter().filter(|v| **v != NONE && !t.contains(v)) {
                let (w, corners) = (on_triangle(at(v), t.map(at)).0, t.map(at));
                let nearest: Vec3 = corners.iter().zip(w).map(|(x, w)| *x * w).sum();
                found(at(v).distance(nearest), (self.reach)(&[v], &t));
            }
        }
        for &e in leaf(one).edges.iter().filter(|e| **e != NONE) {
            let i = self.skin.edges[e as usize].ends;
            for &f in leaf(two).edges.iter().filter(|f| **f != NONE) {
                let j = self.skin.edges[f as usize].ends;
                if i.iter().any(|k| j.contains(k)) {
                    continue;
                }
                let ([a, b], [c, d]) = (i.map(at), j.map(at));
                let (s, r) = on_segments([a, b], [c, d]);
                found(a.lerp(b, s).distance(c.lerp(d, r)), (self.reach)(&i, &j));
            }
        }
    }
}

/// Shortest ways along the edges of some faces, from each vertex to each other.
struct Ways {
    /// The vertices, ascending.
    vertices: Vec<u32>,
    lengths: Vec<f64>,
}

impl Ways {
    fn new(triangles: impl Iterator<Item = [u32; 3]> + Clone, rest: &[Vec3]) -> Ways {
        let mut vertices: Vec<u32> = triangles.clone().flatten().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let n = vertices.len();
        let mut joined = vec![Vec::new(); n];
        let mut ways = Ways { vertices, lengths: vec![f64::INFINITY; n * n] };
        for t in triangles {
            let at = t.map(|k| ways.place(k));
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                let length = rest[t[i] as usize].distance(rest[t[j] as usize]);
                joined[at[i]].push((at[j], length));
                joined[at[j]].push((at[i], length));
            }
        }
        // Dijkstra's algorithm from each vertex; lengths are not negative, so that their bits are in their order.
        let mut open = BinaryHeap::new();
        for start in 0..n {
            let row = &mut ways.lengths[start * n..(start + 1) * n];
            row[start] = 0.0;
            open.push(Reverse((0u64, start)));
            while let Some(Reverse((bits, i))) = open.pop() {
                let here = f64::from_bits(bits);
                if here > row[i] {
                    continue;
                }
                for &(j, length) in &joined[i] {
                    if here + length < row[j] {
                        row[j] = here + length;
                        open.push(Reverse(((here + length).to_bits(), j)));
                    }
                }
            }
        }
        ways
    }

    fn place(&self, vertex: u32) -> usize {
        self.vertices.partition_point(|v| *v < vertex)
    }

    /// The shortest way from a corner of one face to a corner of another.
    fn between(&self, one: &[u32; 3], two: &[u32; 3]) -> f64 {
        let (n, ends) = (self.vertices.len(), two.map(|k| self.place(k)));
        let starts = one.iter().map(|k| self.place(*k) * n);
        starts.flat_map(|row| ends.map(|j| self.lengths[row + j])).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::SoftId;
    use crate::linalg::Rng;
    use crate::model::Model;
    use crate::scene::samples;

    /// The first soft surface of a model, and its patches with nothing but `reach` between features.
    fn surface(model: &Model, reach: f64) -> (Skin, Cover, Vec<Vec3>, Firm) {
        let skin = Skin::of_soft(model, SoftId(0)).unwrap();
        let rest = model.solids[0].rest.clone();
        let cover = Cover::new(&skin, &rest);
        let firm = Firm::new(&skin, &cover, &rest, |_, _| reach, reach);
        (skin, cover, rest.to_vec(), firm)
    }

    /// The smallest distance between features below a node that have no common vertex.
    fn nearest(skin: &Skin, cover: &Cover, node: u32, x: &[Vec3]) -> f64 {
        let all = Whole { skin, cover, rest: x, reach: &|_, _| 0.0, most_reach: 0.0 };
        let leaves: Vec<u32> = cover.tree.leaves(node).collect();
        let mut least = f64::INFINITY;
        for (i, a) in leaves.iter().enumerate() {
            for b in &leaves[i + 1..] {
                all.each_pair(*a, *b, |apart, _| least = least.min(apart));
            }
        }
        least
    }

    #[test]
    fn what_is_left_out_stays_apart_on_the_whole_way() {
        let model = samples::ring_chains(1, 1).compile().unwrap();
        let size = model.solids[0].edge;
        let reach = 0.05 * size;
        let (skin, cover, rest, firm) = surface(&model, reach);
        let mut rng = Rng::new(12);
        let mut nodes = Vec::new();
        let (mut firm_ones, mut others) = (0, 0);
        for round in 0..24 {
            let strength = 0.02 * size * f64::from(round % 12);
            let turn = Quat::from_scaled_axis(rng.normal3());
            let mut moved = |x: &Vec3| turn * *x + rng.normal3() * strength;
            let x: Vec<Vec3> = rest.iter().map(&mut moved).collect();
            let end: Vec<Vec3> = rest.iter().map(&mut moved).collect();
            firm.select(&x, &end, &mut nodes);
            assert!(firm.vouches_for(&nodes, &x, &end));
            others += usize::from(nodes != [0]);
            for &node in &nodes {
                firm_ones += 1;
                for s in 0..=8 {
                    let s = f64::from(s) / 8.0;
                    let between: Vec<Vec3> = x.iter().zip(&end).map(|(a, b)| a.lerp(*b, s)).collect();
                    let apart = nearest(&skin, &cover, node, &between);
                    assert!(apart >= reach, "round {round}, node {node}: {apart} at {s}");
                }
            }
        }
        assert!(firm_ones >= 10 && others >= 10, "{firm_ones} patches, {others} rounds not as a whole");
    }

    #[test]
    fn a_body_that_turns_is_firm_and_one_that_folds_is_not() {
        let model = samples::ring_chains(1, 1).compile().unwrap();
        let (_, _, rest, firm) = surface(&model, 1e-6);
        let turn = Quat::from_scaled_axis(Vec3::new(1.0, 2.0, -0.5));
        let turned: Vec<Vec3> = rest.iter().map(|x| turn * *x + Vec3::X).collect();
        let mut nodes = Vec::new();
        firm.select(&turned, &turned, &mut nodes);
        assert_eq!(nodes, [0]);
        // One half is laid onto the other.
        let middle = rest.iter().sum::<Vec3>() / rest.len() as f64;
        let folded: Vec<Vec3> =
            rest.iter().map(|x| Vec3::new(middle.x + (x.x - middle.x).abs(), x.y, x.z)).collect();
        assert!(!firm.vouches_for(&nodes, &rest, &folded));
        firm.select(&rest, &folded, &mut nodes);
        assert!(!nodes.contains(&0));
    }
}
