//! How dofs move a material point, and how forces and stiffness at points enter the equations.

use crate::linalg::{BlockMat, Mat3, Vec3, skew};

/// How one block of dofs moves a point: one term of its velocity. `Kinematics::columns` finds the parts of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// A particle: `weight · v`.
    Node {
        /// Index of the block in the layout.
        block: u32,
        /// First dof.
        dof: u32,
        /// Weight, with the sign of the side.
        weight: f64,
    },
    /// A point of a free rigid body: `weight · (v + ω × arm)`.
    Rigid {
        /// Index of the block in the layout.
        block: u32,
        /// First dof.
        dof: u32,
        /// Weight, with the sign of the side.
        weight: f64,
        /// From the centre of mass to the point [m], world axes.
        arm: Vec3,
    },
}

impl Part {
    /// Index of the block that moves.
    pub fn block(&self) -> usize {
        match *self {
            Part::Node { block, .. } | Part::Rigid { block, .. } => block as usize,
        }
    }

    /// The same part of a vector in which its block begins at `row`.
    pub fn at_row(mut self, row: usize) -> Part {
        match &mut self {
            Part::Node { dof, .. } | Part::Rigid { dof, .. } => *dof = row as u32,
        }
        self
    }

    /// The same part of another block, which begins at `dof`.
    pub fn in_block(mut self, to: usize, dof: usize) -> Part {
        match &mut self {
            Part::Node { block, .. } | Part::Rigid { block, .. } => *block = to as u32,
        }
        self.at_row(dof)
    }

    /// Velocity by the dofs `v`, world axes [m/s].
    #[inline]
    pub fn velocity(&self, v: &[f64]) -> Vec3 {
        match *self {
            Part::Node { dof, weight, .. } => weight * Vec3::from_slice(&v[dof as usize..]),
            Part::Rigid { dof, weight, arm, .. } => {
                let d = dof as usize;
                weight * (Vec3::from_slice(&v[d..]) + Vec3::from_slice(&v[d + 3..]).cross(arm))
            }
        }
    }

    /// Adds the generalised force of `p` (world axes) at the point to `f`.
    #[inline]
    pub fn add_force(&self, p: Vec3, f: &mut [f64]) {
        match *self {
            Part::Node { dof, weight, .. } => add(f, dof as usize, weight * p),
            Part::Rigid { dof, weight, arm, .. } => {
                add(f, dof as usize, weight * p);
                add(f, dof as usize + 3, weight * arm.cross(p));
            }
        }
    }
}

/// Adds three numbers to `f` from index `at` on.
#[inline]
pub(crate) fn add(f: &mut [f64], at: usize, x: Vec3) {
    f[at] += x.x;
    f[at + 1] += x.y;
    f[at + 2] += x.z;
}

/// A += T_aᵀ K T_b: the stiffness `k` between two points (row a, column b) whose weights are in `k` already.
pub fn add_stiffness(m: &mut BlockMat, a: &Part, b: &Part, k: &Mat3) {
    let block = m.block_mut(a.block(), b.block()).expect("the pattern holds every pair of an element");
    match (*a, *b) {
        (Part::Node { .. }, Part::Node { .. }) => add_3x3(block, 3, 0, 0, k),
        (Part::Rigid { arm, .. }, Part::Node { .. }) => {
            add_3x3(block, 3, 0, 0, k);
            add_3x3(block, 3, 3, 0, &(skew(arm) * *k));
        }
        (Part::Node { .. }, Part::Rigid { arm, .. }) => {
            add_3x3(block, 6, 0, 0, k);
            add_3x3(block, 6, 0, 3, &(*k * -skew(arm)));
        }
        (Part::Rigid { arm: ra, .. }, Part::Rigid { arm: rb, .. }) => {
            let (sa, sb) = (skew(ra), skew(rb));
            add_3x3(block, 6, 0, 0, k);
            add_3x3(block, 6, 0, 3, &(*k * -sb));
            add_3x3(block, 6, 3, 0, &(sa * *k));
            add_3x3(block, 6, 3, 3, &(sa * *k * -sb));
        }
    }
}

/// Adds `k` to a row-major block of row length `width` at row `r`, column `c`.
pub fn add_3x3(block: &mut [f64], width: usize, r: usize, c: usize, k: &Mat3) {
    for i in 0..3 {
        for j in 0..3 {
            block[(r + i) * width + c + j] += k.col(j)[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coords::{BlockKind, Layout};

    /// The assembled matrix maps velocities to forces as the spring between the points does.
    #[test]
    fn stiffness_between_points_acts_through_their_columns() {
        let mut layout = Layout::new();
        for kind in [BlockKind::Rigid, BlockKind::Rigid, BlockKind::Node] {
            layout.push(kind);
        }
        let points = [
            Part::Rigid { block: 0, dof: 0, weight: 1.0, arm: Vec3::new(0.3, -0.2, 0.5) },
            Part::Rigid { block: 1, dof: 6, weight: 1.0, arm: Vec3::new(-0.1, 0.4, 0.2) },
            Part::Node { block: 2, dof: 12, weight: 1.0 },
        ];
        let k =
            Mat3::from_cols(Vec3::new(2.0, 0.3, -0.1), Vec3::new(0.4, 3.0, 0.7), Vec3::new(-0.2, 0.5, 1.5));
        let v: Vec<f64> = (0..15).map(|i| (1.3 * i as f64).sin()).collect();
        for a in &points {
            for b in &points {
                let mut m = BlockMat::with_pattern(&layout.widths(), &[(0, 1), (0, 2), (1, 2)]);
                add_stiffness(&mut m, a, b, &k);
                let mut got = vec![0.0; 15];
                m.mul(&v, &mut got);
                let mut want = vec![0.0; 15];
                a.add_force(k * b.velocity(&v), &mut want);
                for i in 0..15 {
                    assert!((got[i] - want[i]).abs() < 1e-13, "{a:?} {b:?}");
                }
            }
        }
    }
}
