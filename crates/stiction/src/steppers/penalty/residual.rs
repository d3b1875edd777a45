//! The residual of a step and its exact Jacobian.

use super::assembly::{Frame, add_part};
use super::bdf::Phase;
use super::control::ControlKind;
use super::{System, elements, joint};
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::model::Owner;

impl System {
    fn add_sites(&mut self) {
        self.contacts = 0;
        for k in 0..self.sites.all.len() {
            let s = &self.sites.all[k];
            let (a, b) = self.frames(s);
            if s.gap(&self.sites.obstacles[s.obstacle], &a, &b) >= 0.0 {
                continue;
            }
            self.contacts += 1;
            if !self.asm.matrices {
                if let Some(sides) = self.site_force::<0>(k, &a, &b) {
                    self.asm.add_dual(&sides);
                }
                continue;
            }
            match a.variables() + b.variables() {
                0..=6 => self.add_site::<6>(k, &a, &b),
                7..=12 => self.add_site::<12>(k, &a, &b),
                _ => self.add_site::<24>(k, &a, &b),
            }
        }
    }

    fn add_site<const N: usize>(&mut self, k: usize, a: &Frame, b: &Frame) {
        if let Some(sides) = self.site_force::<N>(k, a, b) {
            self.asm.add_dual(&sides);
        }
    }

    /// Fills r at the increment `d`, and with `matrices` the Jacobians; returns ‖r‖₂.
    pub(crate) fn evaluate(&mut self, from: &Phase, d: &[f64], step: usize, matrices: bool) -> f64 {
        self.kin.place(
            &self.model,
            self.settings.scheme,
            self.h,
            from,
            d,
            &mut self.there.state,
            &mut self.w,
        );
        self.set_pressures();
        self.asm.clear(matrices);
        self.there.update(&self.model);
        let (there, asm) = (self.there.kinematics(&self.model), &mut self.asm);
        elements::add_solids(there, &self.pressures, &mut self.vertices, asm);
        elements::add_sheets(there, &mut self.vertices, asm);
        elements::add_springs(there, &self.shifts, asm);
        elements::add_forces(there, self.commands.forces(&self.model), self.h, asm);
        let stiffness = self.settings.joint_stiffness;
        joint::add_joints(there, self.h, stiffness, &self.targets, &self.commands, asm);
        for c in &self.controls {
            let value = c.place(step).map_or(0.0, |k| c.values[k]);
            match c.kind {
                ControlKind::Force(owner, axis) => {
                    elements::add_load(there, owner, (value * Vec3::AXES[axis], Vec3::ZERO, Vec3::ZERO), asm);
                }
                ControlKind::Torque(body, axis) => {
                    let load = (Vec3::ZERO, value * Vec3::AXES[axis], Vec3::ZERO);
                    elements::add_load(there, Owner::Body(body), load, asm);
                }
                _ => {}
            }
        }
        self.add_sites();
        self.add_patches();
        self.add_sticks();

        // r = M ((a₀ w + a₁ w⁻ + a₂ w⁼)/h − g) − f                                                     (1)
        let [a0, a1, a2] = self.settings.scheme.rate().map(|a| a / self.h);
        for i in 0..self.r.len() {
            self.acceleration[i] = a0 * self.w[i] + a1 * from.w[i] + a2 * from.u[i];
        }
        for block in self.model.layout.blocks() {
            for k in 0..3 {
                self.acceleration[block.v + k] -= self.model.gravity[k];
            }
        }
        self.mass.mul(&self.acceleration, &mut self.r);
        for b in self.model.bodies.iter().filter(|b| b.block.is_some()) {
            self.r[b.dof + 3..b.dof + 6].copy_from_slice(&self.acceleration[b.dof + 3..b.dof + 6]);
        }
        for i in 0..self.r.len() {
            self.r[i] -= self.asm.f[i];
        }
        if matrices {
            self.gq.clear();
            self.gq.add_scaled(-1.0, &self.asm.fq);
            self.gv.clear();
            self.gv.add_scaled(-1.0, &self.asm.fv);
            self.gv.add_scaled(a0, &self.mass);
            for b in &self.model.bodies {
                let Some(block) = b.block else { continue };
                add_part(&mut self.gq, (block, 1), (block, 1), &(self.kin.w_by_q.turn[block] * a0));
                add_part(&mut self.gv, (block, 1), (block, 1), &(self.kin.w_by_v.turn[block] * a0));
            }
        }
        self.read_reactions();
        self.project_held(matrices);
        self.project_hard(matrices);
        let rows = self.evaluate_sticks(from, d, matrices);
        (self.r.iter().map(|x| x * x).sum::<f64>() + rows).sqrt()
    }

    /// Pressures of inflated solids at the time of the step's end.
    fn set_pressures(&mut self) {
        for (s, pressures) in self.model.solids.iter().zip(&mut self.pressures) {
            for (inflation, tets) in &s.inflations {
                pressures.resize(s.tets.len(), 0.0);
                let pressure = inflation.at(self.there.state.t);
                for &t in tets {
                    pressures[t as usize] = pressure;
                }
            }
        }
    }

    /// ∂r/∂d = G_q ∂q/∂d + G_v ∂v/∂d, rows of hard constraints replaced; factored. False where it is singular.
    pub(crate) fn factor(&mut self, tolerance: f64) -> bool {
        self.rd.clear();
        let blocks = self.model.layout.blocks();
        for i in 0..blocks.len() {
            // All three have one pattern, so that entries follow each other alike.
            let first = self.rd.entry(i, self.rd.columns(i)[0] as usize).expect("a column of this row");
            for (e, ((j, gq), (_, gv))) in (first..).zip(self.gq.row(i).zip(self.gv.row(i))) {
                let width = blocks[j].nv;
                if width == 3 {
                    let (by_q, by_v) = (self.kin.q_by_d.linear, self.kin.v_by_d.linear);
                    for ((x, q), v) in self.rd.entry_mut(e).iter_mut().zip(gq).zip(gv) {
                        *x = by_q * q + by_v * v;
                    }
                } else {
                    for (block, by) in [(gq, &self.kin.q_by_d), (gv, &self.kin.v_by_d)] {
                        for row in 0..block.len() / width / 3 {
                            for column in 0..width / 3 {
                                let m = part_of(block, width, row, column);
                                add_part(&mut self.rd, (i, row), (j, column), &(m * by.part(j, column)));
                            }
                        }
                    }
                }
            }
        }
        self.add_hard_rows();
        self.lu.factor(&self.rd) && self.factor_border(tolerance)
    }

    /// r' = N r + s h T v on held nodes: the normal part keeps its balance, the tangential velocity is zero (13).
    fn project_held(&mut self, matrices: bool) {
        let scale = self.held_scale();
        for (n, held) in self.model.nodes.iter().zip(&self.held) {
            let Some((normal, _)) = *held else { continue };
            let r = Vec3::from_slice(&self.r[n.dof..]);
            let v = Vec3::from_slice(&self.there.state.v[n.dof..]);
            let s = self.h * scale(n.mass);
            let out = normal * normal.dot(r) + (v - normal * normal.dot(v)) * s;
            out.write_to_slice(&mut self.r[n.dof..n.dof + 3]);
            if matrices {
                for m in [&mut self.gq, &mut self.gv] {
                    project_rows(m, n.block, |column| normal * normal.dot(column));
                }
                let nn = Mat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
                add_part(&mut self.gv, (n.block, 0), (n.block, 0), &((Mat3::IDENTITY - nn) * s));
            }
        }
    }

    /// Rows of held nodes in units of the forces that they replace, inertia and (17): with less the line search would rather keep
    /// the balance of the neighbours than bring a node to rest.
    pub(super) fn held_scale(&self) -> impl Fn(f64) -> f64 + use<> {
        let (h, k) = (self.h, self.settings.stiffness);
        move |mass| mass / (h * h) + k
    }
}

/// Projects the three rows of a node, column by column.
pub(super) fn project_rows(m: &mut BlockMat, row: usize, project: impl Fn(Vec3) -> Vec3) {
    for place in 0..m.columns(row).len() {
        let j = m.columns(row)[place] as usize;
        let width = m.block(j).1;
        let block = m.block_mut(row, j).expect("a column of this row");
        for c in 0..width {
            let column = project(Vec3::new(block[c], block[width + c], block[2 * width + c]));
            for k in 0..3 {
                block[k * width + c] = column[k];
            }
        }
    }
}

/// A 3×3 part of a block of this width.
fn part_of(block: &[f64], width: usize, row: usize, column: usize) -> Mat3 {
    let col = |c: usize| {
        let at = |r: usize| block[(3 * row + r) * width + 3 * column + c];
        Vec3::new(at(0), at(1), at(2))
    };
    Mat3::from_cols(col(0), col(1), col(2))
}
