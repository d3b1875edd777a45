//! Coarse copies of soft bodies on background lattices: nested cubic grids over each connected part, trilinear weights
//! at the rest positions. Rigid motions and affine fields are exact on every level, whatever the mesh.

use crate::linalg::Vec3;
use crate::linalg::lanes::F4;
use crate::linalg::sweep32::{Sweep32, Vec4f};
use crate::solvers::island::{Island, NONE};

/// First spacing over the mean distance of a node to its nearest neighbour.
const FIRST_SPACING: f64 = 3.0;
/// The lattice is shifted by this share of a cell, so that it does not depend on where the nodes begin.
const SHIFT: f64 = 0.37;
/// Coarsening ends at this many unknowns.
const COARSEST: usize = 200;
/// Parts with fewer nodes than this have no coarse copy.
const LEAST_PART: usize = 16;
/// Most levels.
const LEVELS: usize = 8;

/// Eight corners and their weights; weight 0 where a node has no coarse copy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corners {
    pub at: [u32; 8],
    pub weight: [f32; 8],
}

/// One lattice.
#[derive(Default)]
pub(super) struct Level {
    /// From the unknowns of the finer level to this one.
    pub from_finer: Vec<Corners>,
    /// From the nodes to this one.
    pub from_nodes: Vec<Corners>,
    pub matrix: Sweep32,
    /// Values of the matrix without contacts.
    base: Vec<f32>,
    /// Finer unknowns of each point, by point.
    support_start: Vec<u32>,
    support: Vec<(u32, f32)>,
    /// A P in blocks by rows of the finer level.
    half_start: Vec<u32>,
    half_col: Vec<u32>,
    half: Vec<f32>,
    marker: Vec<u32>,
    pub r: Vec<Vec4f>,
    pub x: Vec<Vec4f>,
    pub rest: Vec<Vec4f>,
}

impl Level {
    pub fn points(&self) -> usize {
        self.matrix.rows()
    }

    /// Coarse vector += Pᵀ of a finer one.
    pub fn restrict(&mut self, finer: &[Vec4f]) {
        self.r.fill([0.0; 4]);
        for (c, x) in self.from_finer.iter().zip(finer) {
            let x = F4::load(x);
            for k in 0..8 {
                let to = &mut self.r[c.at[k] as usize];
                (F4::load(to) + F4::splat(c.weight[k]) * x).store(to);
            }
        }
    }

    /// Finer vector += P x.
    pub fn prolong(&self, finer: &mut [Vec4f]) {
        for (c, to) in self.from_finer.iter().zip(finer) {
            let mut sum = F4::load(to);
            for k in 0..8 {
                sum = sum + F4::splat(c.weight[k]) * F4::load(&self.x[c.at[k] as usize]);
            }
            sum.store(to);
        }
    }

    /// Pattern and places of everything for a finer matrix of this pattern.
    fn plan(&mut self, finer: &Sweep32, rows: usize, points: usize) {
        self.support_start.clear();
        self.support_start.resize(points + 1, 0);
        let used = |c: &Corners, k: usize| c.weight[k] != 0.0;
        for c in &self.from_finer {
            for k in 0..8 {
                self.support_start[c.at[k] as usize + 1] += u32::from(used(c, k));
            }
        }
        for a in 0..points {
            self.support_start[a + 1] += self.support_start[a];
        }
        self.support = vec![(0, 0.0); self.support_start[points] as usize];
        let mut at = self.support_start.clone();
        for (i, c) in self.from_finer.iter().enumerate() {
            for k in 0..8 {
                if used(c, k) {
                    let a = c.at[k] as usize;
                    self.support[at[a] as usize] = (i as u32, c.weight[k]);
                    at[a] += 1;
                }
            }
        }
        // Columns of A P: the points around each neighbour, in the order in which they are met.
        self.marker = vec![NONE; points];
        self.half_start = vec![0];
        self.half_col.clear();
        for i in 0..rows {
            for e in finer.range(i) {
                let j = finer.columns()[e] as usize;
                if j >= rows {
                    continue;
                }
                let c = &self.from_finer[j];
                for k in 0..8 {
                    if used(c, k) && self.marker[c.at[k] as usize] != i as u32 {
                        self.marker[c.at[k] as usize] = i as u32;
                        self.half_col.push(c.at[k]);
                    }
                }
            }
            self.half_start.push(self.half_col.len() as u32);
        }
        self.half = vec![0.0; 9 * self.half_col.len()];
        // Columns of Pᵀ A P.
        self.marker.fill(NONE);
        let (mut start, mut col) = (vec![0], Vec::new());
        for a in 0..points {
            let first = col.len();
            self.marker[a] = a as u32;
            col.push(a as u32);
            for s in self.support_start[a]..self.support_start[a + 1] {
                let i = self.support[s as usize].0 as usize;
                for &b in &self.half_col[self.half_start[i] as usize..self.half_start[i + 1] as usize] {
                    if self.marker[b as usize] != a as u32 {
                        self.marker[b as usize] = a as u32;
                        col.push(b);
                    }
                }
            }
            col[first..].sort_unstable();
            start.push(col.len() as u32);
        }
        self.matrix.set_pattern(&start, &col);
        for v in [&mut self.r, &mut self.x, &mut self.rest] {
            v.clear();
            v.resize(points, [0.0; 4]);
        }
    }

    /// Pᵀ A P of the first `rows` rows of the finer matrix.
    fn galerkin(&mut self, finer: &Sweep32, rows: usize) {
        self.half.fill(0.0);
        for i in 0..rows {
            for e in self.half_start[i]..self.half_start[i + 1] {
                self.marker[self.half_col[e as usize] as usize] = e;
            }
            for e in finer.range(i) {
                let j = finer.columns()[e] as usize;
                if j >= rows {
                    continue;
                }
                let (m, c) = (finer.block(e), &self.from_finer[j]);
                for k in 0..8 {
                    if c.weight[k] != 0.0 {
                        let at = 9 * self.marker[c.at[k] as usize] as usize;
                        add_nine(&mut self.half[at..at + 9], c.weight[k], m);
                    }
                }
            }
        }
        self.matrix.values_mut().fill(0.0);
        for a in 0..self.points() {
            for e in self.matrix.range(a) {
                self.marker[self.matrix.columns()[e] as usize] = e as u32;
            }
            for s in self.support_start[a]..self.support_start[a + 1] {
                let (i, w) = self.support[s as usize];
                for e in self.half_start[i as usize] as usize..self.half_start[i as usize + 1] as usize {
                    let m: &[f32; 9] = self.half[9 * e..9 * e + 9].try_into().expect("nine numbers");
                    let at = self.marker[self.half_col[e] as usize] as usize;
                    add_nine(self.matrix.block_mut(at), w, m);
                }
            }
        }
        self.base.clear();
        self.base.extend_from_slice(self.matrix.values());
    }

    /// Forgets contacts.
    pub fn restore(&mut self) {
        self.matrix.values_mut().copy_from_slice(&self.base);
    }

    pub fn invert_diagonals(&mut self) {
        for a in 0..self.points() {
            self.matrix.invert_diagonal(a);
        }
    }
}

fn add_nine(to: &mut [f32], w: f32, m: &[f32; 9]) {
    for (to, m) in to.iter_mut().zip(m) {
        *to += w * m;
    }
}

/// Makes the lattices of an island from the rest positions of its nodes; none where it is too small.
pub(super) fn build(island: &Island, places: &[Vec3]) -> Vec<Level> {
    let nodes = island.nodes;
    let (part, spacing) = parts(island, places);
    // Lattice coordinates of each node on the first level, and the key of a point.
    let mut cell: Vec<[f64; 3]> = Vec::with_capacity(nodes);
    let mut low = vec![Vec3::INFINITY; spacing.len()];
    for i in 0..nodes {
        if part[i] != NONE {
            let p = part[i] as usize;
            low[p] = low[p].min(places[i]);
        }
    }
    for i in 0..nodes {
        let p = part[i];
        cell.push(if p == NONE {
            [0.0; 3]
        } else {
            let p = p as usize;
            ((places[i] - low[p]) / spacing[p] + SHIFT).to_array()
        });
    }
    let mut levels: Vec<Level> = Vec::new();
    let mut finer_keys: Vec<u64> = Vec::new();
    for l in 0..LEVELS {
        let size = 1.0 / (1u64 << l) as f64;
        let corner_keys = |i: usize| corners(part[i], cell[i].map(|c| c * size));
        let mut keys: Vec<u64> = (0..nodes)
            .filter(|&i| part[i] != NONE)
            .flat_map(|i| corner_keys(i).into_iter().filter(|c| c.1 > 0.0).map(|c| c.0))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() || (l > 0 && 10 * keys.len() > 9 * finer_keys.len()) {
            break;
        }
        let resolve = |list: [(u64, f64); 8]| {
            let mut c = Corners::default();
            for (k, (key, weight)) in list.into_iter().enumerate() {
                if let Ok(at) = keys.binary_search(&key).map_err(|_| ()) {
                    c.at[k] = at as u32;
                    c.weight[k] = weight as f32;
                }
            }
            c
        };
        let from_nodes: Vec<Corners> = (0..nodes)
            .map(|i| if part[i] == NONE { Corners::default() } else { resolve(corner_keys(i)) })
            .collect();
        let from_finer = if l == 0 {
            from_nodes.clone()
        } else {
            finer_keys
                .iter()
                .map(|&key| {
                    let (part, at) = split(key);
                    resolve(corners(part, at.map(|c| 0.5 * c)))
                })
                .collect()
        };
        let mut level = Level { from_finer, from_nodes, ..Level::default() };
        let finer = levels.last().map_or(&island.low, |l| &l.matrix);
        level.plan(finer, if l == 0 { nodes } else { finer.rows() }, keys.len());
        levels.push(level);
        let done = 3 * keys.len() <= COARSEST;
        finer_keys = keys;
        if done {
            break;
        }
    }
    levels
}

/// New values on all levels.
pub(super) fn refresh(levels: &mut [Level], island: &Island) {
    for l in 0..levels.len() {
        let (finer, rest) = levels.split_at_mut(l);
        match finer.last() {
            None => rest[0].galerkin(&island.low, island.nodes),
            Some(f) => rest[0].galerkin(&f.matrix, f.matrix.rows()),
        }
    }
}

/// The connected part of each node (`NONE` where it is small), and the lattice spacing of each part [m].
fn parts(island: &Island, places: &[Vec3]) -> (Vec<u32>, Vec<f64>) {
    let nodes = island.nodes;
    let mut part = vec![NONE; nodes];
    let mut seen = vec![false; nodes];
    let (mut spacing, mut queue) = (Vec::new(), Vec::new());
    for first in 0..nodes {
        if seen[first] {
            continue;
        }
        queue.clear();
        queue.push(first);
        seen[first] = true;
        let (mut at, mut sum) = (0, 0.0);
        while at < queue.len() {
            let i = queue[at];
            at += 1;
            let mut nearest = f64::INFINITY;
            for e in island.low.range(i) {
                let j = island.low.columns()[e] as usize;
                if j >= nodes || j == i {
                    continue;
                }
                nearest = nearest.min(places[i].distance(places[j]));
                if !seen[j] {
                    seen[j] = true;
                    queue.push(j);
                }
            }
            sum += nearest;
        }
        let mean = FIRST_SPACING * sum / queue.len() as f64;
        if queue.len() >= LEAST_PART && mean > 0.0 && mean.is_finite() {
            for &i in &queue {
                part[i] = spacing.len() as u32;
            }
            spacing.push(mean);
        }
    }
    (part, spacing)
}

const BITS: u32 = 16;

fn key(part: u32, at: [u64; 3]) -> u64 {
    ((part as u64) << (3 * BITS)) | (at[0] << (2 * BITS)) | (at[1] << BITS) | at[2]
}

fn split(key: u64) -> (u32, [f64; 3]) {
    let mask = (1u64 << BITS) - 1;
    ((key >> (3 * BITS)) as u32, [2 * BITS, BITS, 0].map(|s| ((key >> s) & mask) as f64))
}

/// Corners of the cell around a point in lattice coordinates, with trilinear weights.
fn corners(part: u32, at: [f64; 3]) -> [(u64, f64); 8] {
    let most = ((1u64 << BITS) - 2) as f64;
    let low = at.map(|c| c.floor().clamp(0.0, most));
    std::array::from_fn(|k| {
        let (mut place, mut weight) = ([0; 3], 1.0);
        for d in 0..3 {
            let up = (k >> d) & 1;
            let f = (at[d] - low[d]).clamp(0.0, 1.0);
            place[d] = low[d] as u64 + up as u64;
            weight *= if up == 1 { f } else { 1.0 - f };
        }
        (key(part, place), weight)
    })
}
