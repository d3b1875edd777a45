//! The yardstick on the non-linear step: the residuals of (46)–(49) at its end, and the forces of joints.

use super::motion::Motion;
use crate::contact::{DataScales, Residuals};
use crate::linalg::Vec3;
use crate::model::Model;
use crate::papers::nsn::solve::Iterate;
use crate::papers::nsn::solve::schur::Schur;

/// Impulses that change velocities by less than this share of the velocity scale count as none.
const UNFELT: f64 = 1e-9;

impl Motion {
    /// Residuals of the iterate that was linearised last, with forces ∇Cᵀλ as they act; `penetration` is that of the true
    /// gaps.
    pub fn measure(&mut self, x: &Iterate<f64>, s: &Schur<f64>, penetration: f64) -> Residuals {
        let mut res = Residuals { penetration, momentum: self.momentum_error(x, s), ..Residuals::default() };
        let scale = |c: usize| {
            let w = &s.w_diagonal()[3 * c..3 * c + 3];
            ((w[0] + w[1] + w[2]) / 3.0).max(f64::MIN_POSITIVE)
        };
        // Impulses that move nothing by a measurable speed are none: contacts that all open carry rounding alone.
        let largest = (0..self.held.len()).fold(f64::MIN_POSITIVE, |m, c| {
            let force = (3 * c..3 * c + 3).map(|i| x.lambda[i].abs()).fold(0.0, f64::max);
            m.max(force).max(UNFELT * self.speed / scale(c))
        });
        for (c, contact) in self.held.iter().enumerate() {
            let g = scale(c);
            let (lambda, u) = (Vec3::from_slice(&x.lambda[3 * c..]), self.u[c]);
            res.add_block(contact.law, lambda, u, g, self.speed, largest);
        }
        for k in 0..self.soft.len() {
            res.natural = res.natural.max(s.h[3 * self.held.len() + k].abs());
        }
        res
    }

    /// What the residuals are compared with: the fastest dof before anything acts, and all mass at that speed.
    pub fn data_scales(&self, model: &Model) -> DataScales {
        let bodies = model.bodies.iter().filter(|b| b.block.is_some()).map(|b| b.mass);
        let mass: f64 = bodies.chain(model.nodes.iter().map(|n| n.mass)).sum();
        DataScales { speed: self.speed, momentum: mass.sqrt() * self.speed }
    }

    /// ‖M (u − ũ) − Jᵀλ‖ in the norm of M⁻¹ [√kg·m/s].
    fn momentum_error(&mut self, x: &Iterate<f64>, s: &Schur<f64>) -> f64 {
        self.d.clear();
        self.d.extend(x.u.iter().zip(&self.free).map(|(u, f)| u - f));
        self.after.resize(x.u.len(), 0.0);
        s.mass.mul(&self.d, &mut self.after);
        for k in (0..self.d.len()).filter(|&k| self.is_particle[k]) {
            self.after[k] = self.mass[k] * self.d[k];
        }
        self.force.clear();
        self.force.extend(x.lambda.iter().map(|l| -l));
        s.j.mul_t_add(&self.force, &mut self.after);
        s.mass.divide(&self.after, &mut self.d);
        for k in (0..self.d.len()).filter(|&k| self.is_particle[k]) {
            self.d[k] = self.after[k] / self.mass[k];
        }
        self.after.iter().zip(&self.d).map(|(r, d)| r * d).sum::<f64>().max(0.0).sqrt()
    }

    /// Largest error of a rigid joint at the end of the step [m]; angles count by a length of the joint.
    pub fn joint_error(&self) -> f64 {
        let rigid = self.soft.iter().filter(|r| r.softness == 0.0 && r.rate == 0.0);
        rigid.map(|r| if r.bounds.0 < 0.0 { r.value.abs() } else { (-r.value).max(0.0) }).fold(0.0, f64::max)
            * self.h
    }

    /// Force [N] and moment about the anchor [N·m] of each joint on its body b, world axes.
    pub fn reactions(&self, model: &Model, x: &Iterate<f64>, s: &Schur<f64>, out: &mut Vec<(Vec3, Vec3)>) {
        out.clear();
        let mut row = 3 * self.held.len();
        for j in &model.joints {
            // By the columns of b, or of a with the sign turned where b does not move.
            let sides = [(Some(j.b), 1.0), (j.a, -1.0)];
            let moving = |b: &crate::coords::BodyId| model.bodies[b.index()].block.is_some();
            let side = sides.into_iter().find_map(|(b, sign)| b.filter(moving).map(|b| (b, sign)));
            let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
            for _ in 0..3 * j.blocks.len() {
                if let Some((body, sign)) = side {
                    let dof = model.bodies[body.index()].dof;
                    let (columns, values) = s.j.row(row);
                    if let Some(k) = columns.iter().position(|c| *c as usize == dof) {
                        let by = sign * x.lambda[row] / self.h;
                        force += by * Vec3::from_slice(&values[k..]);
                        torque += by * Vec3::from_slice(&values[k + 3..]);
                    }
                }
                row += 1;
            }
            if let Some((body, _)) = side {
                let anchor = self.there.kinematics(model).joint(j).anchor_b;
                torque -= (anchor - Vec3::from_slice(&self.there.state.q[model.bodies[body.index()].q..]))
                    .cross(force);
            }
            out.push((force, torque));
        }
    }
}
