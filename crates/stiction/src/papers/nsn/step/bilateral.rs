//! Joints, springs and strains as rows in compliance form: c(q) + E λ = 0 (8), (78)–(80).
//!
//! In impulses, with D = h k + d for a spring of stiffness k and damping d: `k c/D + d u/D + λ/(h D) = 0`, whose derivative by u
//! is J and whose compliance is 1/(h D); without damping that is (8) divided by h.

use super::row_builder::RowBuilder;
use crate::coords::{Anchor, State};
use crate::elastic::{Action, Rows};
use crate::kinematics::Kinematics;
use crate::linalg::{SparseRows, Vec3};
use crate::model::{JointRow, Measure, ModelJoint, Role, Target};
use std::f64::consts::TAU;

/// One row of a joint or a spring at an iterate.
#[derive(Clone, Copy, Debug)]
pub struct SoftRow {
    /// `c/h`, or what the law of its force makes of it, without λ [m/s].
    pub value: f64,
    /// Share of J u that is part of the value.
    pub rate: f64,
    /// Compliance [1/kg].
    pub softness: f64,
    /// Bounds of the multiplier.
    pub bounds: (f64, f64),
}

impl SoftRow {
    const OFF: SoftRow = SoftRow { value: 0.0, rate: 0.0, softness: 0.0, bounds: (0.0, 0.0) };
}

/// Adds the rows of a joint; three per block, missing ones switched off. `near` is the angle of its axis before, `command` what its motor aims at.
pub fn joint_rows(
    (start, there): (&State, Kinematics<'_>),
    j: &ModelJoint,
    h: f64,
    (near, command): (f64, Option<f64>),
    row: &mut RowBuilder,
    rows: &mut SparseRows<f64>,
    out: &mut Vec<SoftRow>,
) {
    let model = there.model;
    let place = there.joint(j);
    for block in &j.blocks {
        let length = if block.spin { j.length } else { 1.0 };
        for r in &block.rows {
            let Some(r) = r else {
                row.end(rows);
                out.push(SoftRow::OFF);
                continue;
            };
            let (mut x, n) = place.measure(r.measure);
            if r.measure == Measure::Twist {
                x += TAU * ((near - x) / TAU).round();
            }
            let n = r.role.sign() * length * n;
            for (body, sign) in [(Some(j.b), 1.0), (j.a, -1.0)] {
                let Some(body) = body.filter(|b| model.bodies[b.index()].block.is_some()) else { continue };
                if block.spin {
                    row.add_spin(model.bodies[body.index()].dof, sign * n);
                } else {
                    // Both sides meet at the anchor of b.
                    let anchor = Anchor::Body { body, local: Vec3::ZERO };
                    row.add(there, &anchor, place.anchor_b, sign * n);
                }
            }
            row.end(rows);
            out.push(joint_row(j, r, x, length, command, start.t, h));
        }
    }
}

/// A row that measures `x` at the end of the step.
fn joint_row(
    j: &ModelJoint,
    r: &JointRow,
    x: f64,
    length: f64,
    command: Option<f64>,
    t: f64,
    h: f64,
) -> SoftRow {
    let inf = f64::INFINITY;
    let gap = r.role.gap(x);
    let spring = |k: f64, d: f64, error: f64, rate: f64| {
        let both = h * k + d;
        SoftRow {
            value: length * (k * error - d * rate) / both,
            rate: d / both,
            softness: length * length / (h * both),
            bounds: (-inf, inf),
        }
    };
    match r.role {
        Role::Hold(_) => SoftRow { value: length * gap / h, rate: 0.0, softness: 0.0, bounds: (-inf, inf) },
        Role::Lower(_) | Role::Upper(_) => {
            SoftRow { value: length * gap / h, rate: 0.0, softness: 0.0, bounds: (0.0, inf) }
        }
        Role::Friction(f) => {
            let most = f * h / length;
            SoftRow { value: 0.0, rate: 1.0, softness: 0.0, bounds: (-most, most) }
        }
        Role::Pull(_, s) => spring(s.stiffness, s.damping, gap, 0.0),
        Role::Drive => {
            let Some(m) = &j.motor else { return SoftRow::OFF };
            let (error, rate) = m.aim(x, command, t, h);
            let most = m.limit * h / length;
            let mut row = spring(m.stiffness, m.damping, error, rate);
            if matches!(m.target, Target::Velocity(_)) {
                // No position to hold: the whole row is a rate.
                row.rate = 1.0;
            }
            SoftRow { bounds: (-most, most), ..row }
        }
    }
}

/// Adds the row of a spring: c = |d| − ℓ.
pub fn spring_row(
    there: Kinematics<'_>,
    i: usize,
    h: f64,
    row: &mut RowBuilder,
    rows: &mut SparseRows<f64>,
    out: &mut Vec<SoftRow>,
) {
    let model = there.model;
    let s = &model.springs[i];
    let d = there.span(s);
    let n = d.try_normalize().unwrap_or(Vec3::X);
    for (end, sign) in s.ends.iter().zip([-1.0, 1.0]) {
        for (anchor, w) in end {
            row.add(there, anchor, there.position(anchor), sign * *w * n);
        }
    }
    row.end(rows);
    let both = h * s.spring.stiffness + s.spring.damping;
    // λ is the force that shortens less than it should: negative pulls. A rope only pulls.
    let hi = if s.spring.action == Action::PullOnly { 0.0 } else { f64::INFINITY };
    out.push(SoftRow {
        value: s.spring.stiffness * (d.length() - s.spring.rest_length) / both,
        rate: s.spring.damping / both,
        softness: 1.0 / (h * both),
        bounds: (f64::NEG_INFINITY, hi),
    });
}

/// Adds the stress of an activation pressure `p` [Pa] to the stretches: −p V ∂J/∂s.
pub fn activate<const M: usize>(strains: &mut Rows<M>, volume: f64, p: f64) {
    let [a, b, c] = [strains.strain[0], strains.strain[1], strains.strain[2]];
    for (k, by) in [b * c, a * c, a * b].into_iter().enumerate() {
        strains.stress[k] -= p * volume * by;
    }
}
