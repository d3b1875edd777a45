//! Joints at the end of a midpoint step.

use super::Joints;
use super::rows::{Rows, driven_rates, terms};
use crate::contact::{ContactProblem, Law};
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::{Controls, JointRow, Model, Role};

impl Joints {
    /// Midpoint: adds to `b` what the joints did in the move, and to `end` the rows that hold at its end, in the state
    /// `ahead`. In the move every row gave the first half of its impulse, where the bodies were at the start; springs
    /// give the same again, all others what their law asks for at the end velocity. (At the velocity of the middle a firm
    /// hold would reverse what it holds at every step.)
    pub fn fill_end(
        &self,
        ahead: Kinematics<'_>,
        controls: &Controls,
        moved: (&ContactProblem, &[Vec3], usize),
        end: &mut ContactProblem,
        lambda: &mut Vec<Vec3>,
    ) {
        let model = ahead.model;
        let (p, given, first) = moved;
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            let place = ahead.joint(j);
            let driven = driven_rates(j, ahead, &place);
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                let mut rows = Rows::EMPTY;
                let (mut springs, half) = (Vec3::ZERO, given[first + at]);
                for (k, row) in block.rows.iter().enumerate() {
                    let Some(row) = row else { continue };
                    let (x, n) = self.measure(i, &place, row.measure);
                    let n = row.role.sign() * n;
                    rows.bias[k] = length * n.dot(if block.spin { driven.1 } else { driven.0 });
                    let most = match row.role {
                        Role::Pull(..) => {
                            springs[k] = half[k];
                            continue;
                        }
                        Role::Lower(_) | Role::Upper(_) if half[k] <= 0.0 => continue,
                        Role::Hold(_) => (f64::NEG_INFINITY, f64::INFINITY),
                        Role::Lower(_) | Role::Upper(_) => (0.0, f64::INFINITY),
                        Role::Friction(f) => (-f * p.h / length, f * p.h / length),
                        Role::Drive => {
                            let (drift, time) = (rows.bias[k] / length, (ahead.state.t, p.h, 1.0 / p.h));
                            rows.drive(k, j, x, n, drift, length, controls.motor(i), time);
                            rows.bias[k] += rows.softness[k] * half[k];
                            (rows.bounds.lo[k], rows.bounds.hi[k])
                        }
                    };
                    rows.set(k, n, most.0 - half[k], most.1 - half[k]);
                }
                let frame = p.j.frame[first + at].transpose();
                for t in p.j.terms(first + at) {
                    t.add_impulse(frame * half, &mut end.b);
                }
                // The second half of a spring is the same force where the bodies are then.
                for t in terms(j, model, &place, block.spin) {
                    t.add_impulse(frame * springs, &mut end.b);
                }
                end.j.push(rows.frame, terms(j, model, &place, block.spin));
                end.bias.push(rows.bias);
                end.softness.push(rows.softness);
                end.law.push(Law::Rows(rows.bounds));
                lambda.push(rows.bounds.clamp(half));
                at += 1;
            }
        }
    }

    /// Midpoint: the forces of the whole step, from the multipliers of the move and those of the end (block `first_end`
    /// on).
    pub fn collect_end(
        &mut self,
        model: &Model,
        moved: (&ContactProblem, &[Vec3], usize),
        end: (&ContactProblem, &[Vec3], usize),
    ) {
        let ((p, half, first), (e, last, first_end)) = (moved, end);
        let mut at = 0;
        for (i, j) in model.joints.iter().enumerate() {
            self.memory.reaction[i] = (Vec3::ZERO, Vec3::ZERO);
            for block in &j.blocks {
                let (mut before, after) = (half[first + at], last[first_end + at]);
                for (k, row) in block.rows.iter().enumerate() {
                    if matches!(row, Some(JointRow { role: Role::Pull(..), .. })) {
                        before[k] *= 2.0;
                    }
                }
                self.memory.force[at] = (before + after) / p.h;
                let world = p.j.frame[first + at].transpose() * before
                    + e.j.frame[first_end + at].transpose() * after;
                self.react(i, j, block.spin, world / p.h);
                at += 1;
            }
        }
    }
}
