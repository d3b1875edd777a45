//! How generalised coordinates move a material point, and how forces and stiffness at points enter the equations.

use crate::coords::{Anchor, State};
use crate::linalg::{BlockMat, Mat3, Vec3, skew};
use crate::scene::Model;

/// The columns of one material point: `δx = share · δx_node`, or `δx = δx_com + δθ × arm`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Columns {
    /// It moves as prescribed, or not at all.
    None,
    /// A particle.
    Node {
        /// Its block.
        block: u32,
        /// Its first dof.
        dof: u32,
    },
    /// A point of a free rigid body.
    Rigid {
        /// Block of the body.
        block: u32,
        /// First dof of the body.
        dof: u32,
        /// From the centre of mass to the point [m], world axes.
        arm: Vec3,
    },
}

impl Columns {
    /// The columns of an anchor that is not a weighted mean of others.
    pub fn of(model: &Model, state: &State, anchor: &Anchor) -> Columns {
        match *anchor {
            Anchor::World { .. } | Anchor::Kinematic { .. } => Columns::None,
            Anchor::Node(n) => {
                let n = &model.nodes[n.index()];
                Columns::Node { block: n.block as u32, dof: n.dof as u32 }
            }
            Anchor::Rigid { body, local } => {
                let b = &model.bodies[body.index()];
                let arm = state.rigid_pose(b.q).rotation * local;
                let block = b.block.expect("a Rigid anchor has a block") as u32;
                Columns::Rigid { block, dof: b.dof as u32, arm }
            }
            Anchor::Weighted { .. } | Anchor::Surface { .. } => {
                unreachable!("elements attach to points with columns of their own")
            }
            Anchor::Link { .. } => unreachable!("no model holds articulations yet"),
        }
    }

    /// The block that moves the point.
    pub fn block(&self) -> Option<u32> {
        match *self {
            Columns::None => None,
            Columns::Node { block, .. } | Columns::Rigid { block, .. } => Some(block),
        }
    }

    /// Adds the generalised force of `f` at the point.
    pub fn add_force(&self, f: Vec3, out: &mut [f64]) {
        let mut add = |d: usize, x: Vec3| {
            for k in 0..3 {
                out[d + k] += x[k];
            }
        };
        match *self {
            Columns::None => {}
            Columns::Node { dof, .. } => add(dof as usize, f),
            Columns::Rigid { dof, arm, .. } => {
                add(dof as usize, f);
                add(dof as usize + 3, arm.cross(f));
            }
        }
    }

    /// Velocity of the point by the dofs `v` [m/s]; zero for points without columns.
    pub fn velocity(&self, v: &[f64]) -> Vec3 {
        match *self {
            Columns::None => Vec3::ZERO,
            Columns::Node { dof, .. } => Vec3::from_slice(&v[dof as usize..]),
            Columns::Rigid { dof, arm, .. } => {
                let d = dof as usize;
                Vec3::from_slice(&v[d..]) + Vec3::from_slice(&v[d + 3..]).cross(arm)
            }
        }
    }
}

/// A += T_aᵀ K T_b: the stiffness `k` between two points (row a, column b).
pub fn add_stiffness(m: &mut BlockMat, a: &Columns, b: &Columns, k: &Mat3) {
    let (Some(i), Some(j)) = (a.block(), b.block()) else { return };
    let block = m.block_mut(i as usize, j as usize).expect("the pattern holds every pair of an element");
    match (*a, *b) {
        (Columns::Node { .. }, Columns::Node { .. }) => add_3x3(block, 3, 0, 0, k),
        (Columns::Rigid { arm, .. }, Columns::Node { .. }) => {
            add_3x3(block, 3, 0, 0, k);
            add_3x3(block, 3, 3, 0, &(skew(arm) * *k));
        }
        (Columns::Node { .. }, Columns::Rigid { arm, .. }) => {
            add_3x3(block, 6, 0, 0, k);
            add_3x3(block, 6, 0, 3, &(*k * -skew(arm)));
        }
        (Columns::Rigid { arm: ra, .. }, Columns::Rigid { arm: rb, .. }) => {
            let (sa, sb) = (skew(ra), skew(rb));
            add_3x3(block, 6, 0, 0, k);
            add_3x3(block, 6, 0, 3, &(*k * -sb));
            add_3x3(block, 6, 3, 0, &(sa * *k));
            add_3x3(block, 6, 3, 3, &(sa * *k * -sb));
        }
        (Columns::None, _) | (_, Columns::None) => unreachable!("points without columns have no block"),
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
            Columns::Rigid { block: 0, dof: 0, arm: Vec3::new(0.3, -0.2, 0.5) },
            Columns::Rigid { block: 1, dof: 6, arm: Vec3::new(-0.1, 0.4, 0.2) },
            Columns::Node { block: 2, dof: 12 },
            Columns::None,
        ];
        let k =
            Mat3::from_cols(Vec3::new(2.0, 0.3, -0.1), Vec3::new(0.4, 3.0, 0.7), Vec3::new(-0.2, 0.5, 1.5));
        let v: Vec<f64> = (0..15).map(|i| (1.3 * i as f64).sin()).collect();
        for a in &points {
            for b in &points {
                let mut m = BlockMat::with_pattern(&layout, &[(0, 1), (0, 2), (1, 2)]);
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
