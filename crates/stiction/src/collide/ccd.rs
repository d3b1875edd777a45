//! Time of impact of a vertex with a face and of two edges, each vertex on its own straight line.
//!
//! `F(t, u, v)`, the way from the point (u, v) of one feature to that of the other, is linear in each of its three
//! variables, so over a box of them every coordinate lies between its values at the eight corners. Boxes without a zero
//! are dropped, the others halved, always the earliest first: the start of the box that is small enough is an impact
//! time that is never later than the true one. Coordinates are taken relative to one vertex, and rounding is counted by
//! the size of what is left, so that neither scale nor place matter. (Snyder 1992; Redon, Kheddar & Coquillart 2002.)

use crate::linalg::Vec3;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Boxes that one query may open; beyond, the earliest time that is still possible is the answer.
const MOST_BOXES: usize = 600;
/// A box whose values differ by less than this share of the motion's size is an impact.
const SMALL: f64 = 1e-6;
/// … or by less than this share of the distance asked for.
const SHARE: f64 = 0.1;
/// Times closer than this share of the step are the same.
const SAME_TIME: f64 = 1e-12;
/// Bound of the rounding of one value of F, in units of ε times the size.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// When and where two features meet first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Share of the step, 0 to 1; not later than the first true impact.
    pub time: f64,
    /// Vertex–face: weights of the second and third corner of the face. Edge–edge: shares along both edges.
    pub at: [f64; 2],
}

/// First time at which vertex `x[0]` comes within `distance` [m] of the face `x[1..4]` while all move on straight lines
/// from `start` to `end`; `None` where they do not meet.
///
/// The answer is never later than the true impact, and distances are those of the largest coordinate: it may be early
/// by as long as the motion takes for √3 times the distance.
pub fn vertex_face(start: &[Vec3; 4], end: &[Vec3; 4], distance: f64) -> Option<Impact> {
    first_zero(start, end, distance, |[p, a, b, c], [u, v]| p - a - (b - a) * u - (c - a) * v, true)
}

/// First time at which the edges `x[0], x[1]` and `x[2], x[3]` come within `distance` [m] of each other; see
/// [`vertex_face`].
pub fn edge_edge(start: &[Vec3; 4], end: &[Vec3; 4], distance: f64) -> Option<Impact> {
    first_zero(start, end, distance, |[a, b, c, d], [s, r]| (a + (b - a) * s) - (c + (d - c) * r), false)
}

/// A box of (t, u, v), with the size of the values of F over it.
#[derive(Clone, Copy)]
struct Cell {
    low: [f64; 3],
    width: [f64; 3],
    /// Largest change of any coordinate of F along each variable.
    change: [f64; 3],
}

impl Cell {
    fn key(&self) -> (f64, f64) {
        (self.low[0], self.width[0])
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Cell) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Cell) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cell {
    /// The earliest is the greatest; among equals the one that is nearest to an answer.
    fn cmp(&self, other: &Cell) -> Ordering {
        let ((t, w), (o, x)) = (self.key(), other.key());
        let extent = |c: &Cell| c.change.iter().sum::<f64>();
        o.total_cmp(&t)
            .then(x.total_cmp(&w))
            .then(extent(other).total_cmp(&extent(self)))
            .then(other.low[1].total_cmp(&self.low[1]))
            .then(other.low[2].total_cmp(&self.low[2]))
    }
}

fn first_zero(
    start: &[Vec3; 4],
    end: &[Vec3; 4],
    distance: f64,
    way: impl Fn([Vec3; 4], [f64; 2]) -> Vec3,
    is_triangle: bool,
) -> Option<Impact> {
    // Relative to the path of the first vertex: what is far away or fast together counts for nothing.
    let (x, y) = (start.map(|p| p - start[0]), end.map(|p| p - end[0]));
    let size = x.iter().chain(&y).map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let slack = distance + ROUNDING * size;
    let value = |t: f64, at: [f64; 2]| {
        let mut p = x;
        for (p, y) in p.iter_mut().zip(&y) {
            *p = *p * (1.0 - t) + *y * t;
        }
        way(p, at)
    };
    // The box with its corner values judged: `None` where it has no zero.
    let judge = |low: [f64; 3], width: [f64; 3]| -> Option<Cell> {
        if is_triangle && low[1] + low[2] > 1.0 {
            return None;
        }
        let mut f = [Vec3::ZERO; 8];
        for (k, f) in f.iter_mut().enumerate() {
            let at = [0, 1, 2].map(|i| low[i] + width[i] * f64::from((k >> i & 1) as u8));
            *f = value(at[0], [at[1], at[2]]);
        }
        let min = f.iter().fold(Vec3::INFINITY, |m, f| m.min(*f));
        let max = f.iter().fold(Vec3::NEG_INFINITY, |m, f| m.max(*f));
        if min.max_element() > slack || max.min_element() < -slack {
            return None;
        }
        let change = [0, 1, 2].map(|i| {
            let pairs = (0..8).filter(|k| k >> i & 1 == 0);
            pairs.map(|k| (f[k | 1 << i] - f[k]).abs().max_element()).fold(0.0, f64::max)
        });
        Some(Cell { low, width, change })
    };
    let answer = |c: &Cell| Impact { time: c.low[0], at: [1, 2].map(|i| c.low[i] + 0.5 * c.width[i]) };
    let mut open = BinaryHeap::new();
    open.extend(judge([0.0; 3], [1.0; 3]));
    let mut count = 1;
    while let Some(cell) = open.pop() {
        let widest = cell.change.iter().fold(0.0_f64, |m, c| m.max(*c));
        if widest <= (SMALL * size).max(SHARE * distance) || cell.width[0] < SAME_TIME || count >= MOST_BOXES
        {
            return Some(answer(&cell));
        }
        let axis = (0..3).max_by(|i, j| cell.change[*i].total_cmp(&cell.change[*j])).unwrap_or(0);
        let mut width = cell.width;
        width[axis] *= 0.5;
        for half in 0..2 {
            let mut low = cell.low;
            low[axis] += f64::from(half) * width[axis];
            open.extend(judge(low, width));
            count += 1;
        }
    }
    None
}
