//! The equations of joints at another state, for derivatives.
//!
//! Rigid rows hold at the end of the step, c(q ⊞ h v) = 0, so that their derivatives by v are taken there, while their impulses act
//! along the directions at its start.

use super::Joints;
use super::rows::terms;
use crate::contact::ContactProblem;
use crate::kinematics::Kinematics;
use crate::linalg::{Mat3, Vec3};

/// A row that holds at the end of the step: its block, its number in it, and its derivatives by v as (dof, value).
#[derive(Clone, Debug, PartialEq)]
pub struct EndRow {
    /// Block of the contact problem.
    pub block: usize,
    /// Row of the block.
    pub row: usize,
    /// ∂(c/h)/∂v.
    pub by_v: Vec<(usize, f64)>,
}

impl Joints {
    /// True where joints stiffen their bodies by the forces of the step before.
    pub fn are_taut(&self) -> bool {
        !self.taut.is_empty()
    }

    /// Rigid rows of the blocks from `first` on, at the end of a step: `ahead`. `turns` has, for each block of the layout, the turn
    /// at the end per spin, over h.
    pub fn end_rows(&self, ahead: Kinematics<'_>, turns: &[Mat3], first: usize) -> Vec<EndRow> {
        let model = ahead.model;
        let mut out = Vec::new();
        let mut column = vec![0.0; model.layout.nv()];
        let mut at = first;
        for (i, j) in model.joints.iter().enumerate() {
            let place = ahead.joint(j);
            for block in &j.blocks {
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row.filter(|r| r.role.is_rigid()) else { continue };
                    let n = row.role.sign() * self.measure(i, &place, row.measure).1;
                    let mut by_v = Vec::new();
                    for t in terms(j, model, &place, block.spin) {
                        t.add_impulse(n, &mut column);
                        let dof = model.layout.blocks()[t.block()].v;
                        let turned = turns[t.block()].transpose() * Vec3::from_slice(&column[dof + 3..]);
                        by_v.extend((0..3).map(|c| (dof + c, column[dof + c])));
                        by_v.extend((0..3).map(|c| (dof + 3 + c, turned[c])));
                        column[dof..dof + 6].fill(0.0);
                    }
                    out.push(EndRow { block: at, row: k, by_v });
                }
                at += 1;
            }
        }
        out
    }

    /// Puts what rigid rows are off by at the end of the step, over h, in place of their J v + bias in `u`, block by block.
    pub fn end_errors(&self, ahead: Kinematics<'_>, p: &ContactProblem, u: &mut [Vec3]) {
        let model = ahead.model;
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            let place = ahead.joint(j);
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row.filter(|r| r.role.is_rigid()) else { continue };
                    u[at][k] = length * row.role.gap(self.measure(i, &place, row.measure).0) / p.h;
                }
                at += 1;
            }
        }
    }

    /// Angles of the joints, counted through full turns, as of the start of a step.
    pub fn set_angles(&mut self, angles: &[f64]) {
        self.memory.angle.copy_from_slice(angles);
    }
}
