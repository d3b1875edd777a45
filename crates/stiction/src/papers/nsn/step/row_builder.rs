//! One row of J from gradients by material points.

use crate::coords::{Anchor, Part};
use crate::kinematics::Kinematics;
use crate::linalg::{SparseRows, Vec3};

/// Collects ∂c/∂u of one row, block by block.
#[derive(Default)]
pub struct RowBuilder {
    /// First dof, width, entries.
    blocks: Vec<(usize, usize, [f64; 6])>,
}

impl RowBuilder {
    fn block(&mut self, dof: usize, width: usize) -> &mut [f64; 6] {
        let at = match self.blocks.iter().position(|b| b.0 == dof) {
            Some(at) => at,
            None => {
                self.blocks.push((dof, width, [0.0; 6]));
                self.blocks.len() - 1
            }
        };
        &mut self.blocks[at].2
    }

    /// Adds the gradient `n` by the position of a point; `at` is where the point is, for lever arms.
    pub fn add(&mut self, kin: Kinematics<'_>, anchor: &Anchor, at: Vec3, n: Vec3) {
        kin.columns(anchor, 1.0, Some(at), &mut |part| match part {
            Part::Node { dof, weight, .. } => add3(self.block(dof as usize, 3), 0, weight * n),
            Part::Rigid { dof, weight, arm, .. } => {
                let (block, n) = (self.block(dof as usize, 6), weight * n);
                add3(block, 0, n);
                add3(block, 3, arm.cross(n));
            }
        });
    }

    /// Adds the gradient `n` by the rotation of the body at `dof`.
    pub fn add_spin(&mut self, dof: usize, n: Vec3) {
        add3(self.block(dof, 6), 3, n);
    }

    /// Writes the row and starts the next.
    pub fn end(&mut self, rows: &mut SparseRows<f64>) {
        for (dof, width, entries) in self.blocks.drain(..) {
            for k in 0..width {
                rows.push(dof + k, entries[k]);
            }
        }
        rows.end_row();
    }
}

fn add3(x: &mut [f64; 6], at: usize, n: Vec3) {
    for k in 0..3 {
        x[at + k] += n[k];
    }
}
