//! The first zero by interval inclusion.
//!
//! `F(t, u, v)`, the way from the point (u, v) of one feature to that of the other, is linear in each of its three
//! variables, so over a box of them every coordinate lies between its values at the eight corners. Boxes without a zero
//! are dropped, the others halved, always the earliest first: the start of the box that is small enough is an impact
//! time that is never later than the true one. (Snyder 1992; Redon, Kheddar & Coquillart 2002.)

use super::{Impact, Kind, Lines};
use crate::linalg::Vec3;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Boxes that one query may open; beyond, the earliest time that is still possible is the answer.
const MOST_BOXES: usize = 600;
/// Times closer than this share of the step are the same.
const SAME_TIME: f64 = 1e-12;

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

    fn impact(&self) -> Impact {
        Impact { time: self.low[0], at: [1, 2].map(|i| self.low[i] + 0.5 * self.width[i]) }
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

/// The first zero from the time `from` on.
pub(super) fn first_zero(kind: Kind, lines: &Lines, from: f64) -> Option<Impact> {
    // The box with its corner values judged: `None` where it has no zero.
    let judge = |low: [f64; 3], width: [f64; 3]| -> Option<Cell> {
        if kind == Kind::VertexFace && low[1] + low[2] > 1.0 {
            return None;
        }
        let mut f = [Vec3::ZERO; 8];
        for (k, f) in f.iter_mut().enumerate() {
            let at = [0, 1, 2].map(|i| low[i] + width[i] * f64::from((k >> i & 1) as u8));
            *f = kind.way(lines.at(at[0]), [at[1], at[2]]);
        }
        let min = f.iter().fold(Vec3::INFINITY, |m, f| m.min(*f));
        let max = f.iter().fold(Vec3::NEG_INFINITY, |m, f| m.max(*f));
        // The point of the box of values that is nearest to zero.
        if (min.max(Vec3::ZERO) + max.min(Vec3::ZERO)).length() > lines.touch {
            return None;
        }
        let change = [0, 1, 2].map(|i| {
            let pairs = (0..8).filter(|k| k >> i & 1 == 0);
            pairs.map(|k| (f[k | 1 << i] - f[k]).abs().max_element()).fold(0.0, f64::max)
        });
        Some(Cell { low, width, change })
    };
    let mut open = BinaryHeap::new();
    open.extend(judge([from, 0.0, 0.0], [1.0 - from, 1.0, 1.0]));
    let mut count = 1;
    while let Some(cell) = open.pop() {
        let widest = cell.change.iter().fold(0.0_f64, |m, c| m.max(*c));
        if widest <= lines.near - lines.touch || cell.width[0] < SAME_TIME || count >= MOST_BOXES {
            return Some(cell.impact());
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
