//! Newton steps with the multipliers of sticks as further unknowns.
//!
//! ```text
//! [ G  −B ] [x]   [r]        G = ∂r/∂d,  B: forces of unit multipliers,
//! [ C   η ] [y] = [c]        C = ∂c/∂d,  η: compliance
//! ```
//!
//! is solved by the Schur complement K = C G⁻¹ B + η. G holds the mass of every dof and is regular without friction; K is small.
//! Adjoints use the exact transpose of the whole (correction A7).

use super::System;
use super::bdf::Phase;
use super::stick::{COMPLIANCE, StickRow};
use crate::linalg::DenseLu;

/// Rows of all sticks and the factors of their Schur complement.
#[derive(Default)]
pub(crate) struct Border {
    pub(super) rows: Vec<StickRow>,
    /// Columns of B.
    push: Vec<Vec<(usize, f64)>>,
    /// Columns of G⁻¹ B.
    z: Vec<Vec<f64>>,
    complement: Vec<f64>,
    lu: DenseLu,
}

fn dot(row: &[(usize, f64)], x: &[f64]) -> f64 {
    row.iter().map(|(i, a)| a * x[*i]).sum()
}

impl System {
    /// Rows of all sticks at the increment `d`; returns the sum of their squares [N²].
    pub(super) fn evaluate_sticks(&mut self, from: &Phase, d: &[f64], matrices: bool) -> f64 {
        let count = self.sticks.iter().map(|s| s.rows()).sum();
        let mut rows = std::mem::take(&mut self.border.rows);
        rows.resize_with(count, StickRow::default);
        let mut at = 0;
        for stick in &self.sticks {
            let out = &mut rows[at..at + stick.rows()];
            if matrices {
                self.stick_rows::<30>(stick, &from.state, d, out);
            } else {
                self.stick_rows::<0>(stick, &from.state, d, out);
            }
            at += stick.rows();
        }
        let sum = rows.iter().map(|r| r.value * r.value).sum();
        self.border.rows = rows;
        sum
    }

    /// Forces of all sticks, row by row.
    pub(super) fn stick_forces(&self) -> Vec<f64> {
        self.sticks.iter().flat_map(|s| s.force[..s.rows()].iter().copied()).collect()
    }

    /// Sets them to `base` + `s` `change`.
    pub(super) fn set_stick_forces(&mut self, base: &[f64], s: f64, change: &[f64]) {
        let mut at = 0;
        for stick in &mut self.sticks {
            for k in 0..stick.rows() {
                stick.force[k] = base[at] + if s == 0.0 { 0.0 } else { s * change[at] };
                at += 1;
            }
        }
    }

    /// Factors the Schur complement; G has been factored.
    pub(super) fn factor_border(&mut self, tolerance: f64) -> bool {
        let m = self.border.rows.len();
        if m == 0 {
            return true;
        }
        let n = self.r.len();
        let mut border = std::mem::take(&mut self.border);
        border.push.resize_with(m, Vec::new);
        border.z.resize_with(m, Vec::new);
        let mut at = 0;
        for stick in &self.sticks {
            for k in 0..stick.rows() {
                let mut unit = [0.0; 3];
                unit[k] = 1.0;
                let push = &mut border.push[at];
                push.clear();
                for (frame, _, force, moment) in self.stick_sides::<0>(stick, unit) {
                    let Some((_, dof)) = frame.dofs else { continue };
                    let parts = [(dof, force.value()), (dof + 3, moment.value())];
                    for (dof, f) in parts.into_iter().take(if frame.rigid { 2 } else { 1 }) {
                        push.extend((0..3).map(|c| (dof + c, f[c])));
                    }
                }
                at += 1;
            }
        }
        border.complement.clear();
        border.complement.resize(m * m, 0.0);
        for j in 0..m {
            let z = &mut border.z[j];
            z.clear();
            z.resize(n, 0.0);
            border.push[j].iter().for_each(|(dof, f)| z[*dof] += f);
            self.lu.solve(z, tolerance);
            for i in 0..m {
                border.complement[i * m + j] = dot(&border.rows[i].by_d, z);
            }
            border.complement[j * m + j] += COMPLIANCE;
        }
        let finite = border.complement.iter().all(|x| x.is_finite());
        if finite {
            border.lu.factor(&border.complement, m);
        }
        self.border = border;
        finite
    }

    /// Overwrites (x, y) = (r, c) with the solution of the bordered system.
    pub(crate) fn solve_bordered(&mut self, x: &mut [f64], y: &mut [f64], tolerance: f64) {
        self.lu.solve(x, tolerance);
        if y.is_empty() {
            return;
        }
        for (y, row) in y.iter_mut().zip(&self.border.rows) {
            *y -= dot(&row.by_d, x);
        }
        self.border.lu.solve(y);
        for (z, y) in self.border.z.iter().zip(&*y) {
            x.iter_mut().zip(z).for_each(|(x, z)| *x += y * z);
        }
    }

    /// Overwrites a with λ of the transposed system with right-hand side (a, 0); ν of the rows goes to `y`.
    pub(crate) fn solve_bordered_transpose(&mut self, a: &mut [f64], y: &mut Vec<f64>, tolerance: f64) {
        y.clear();
        let border = &self.border;
        if !border.rows.is_empty() {
            // Kᵀ ν = (G⁻¹ B)ᵀ a, Gᵀ λ = a − Cᵀ ν.
            y.extend(
                border
                    .z
                    .iter()
                    .take(border.rows.len())
                    .map(|z| z.iter().zip(&*a).map(|(z, a)| z * a).sum::<f64>()),
            );
            border.lu.solve_transpose(y);
            for (row, nu) in border.rows.iter().zip(&*y) {
                row.by_d.iter().for_each(|(dof, c)| a[*dof] -= c * nu);
            }
        }
        self.lu.solve_transpose(a, tolerance);
    }

    /// Rows of sticks times changes of the configuration after the step (at a fixed increment) and before it.
    pub(crate) fn stick_rows_times(&self, after: &[f64], before: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.border.rows.iter().map(|r| dot(&r.after, after) + dot(&r.before, before)));
    }

    /// Subtracts the transpose of that times ν.
    pub(crate) fn subtract_stick_rows(&self, nu: &[f64], after: &mut [f64], before: &mut [f64]) {
        for (row, nu) in self.border.rows.iter().zip(nu) {
            row.after.iter().for_each(|(dof, c)| after[*dof] -= c * nu);
            row.before.iter().for_each(|(dof, c)| before[*dof] -= c * nu);
        }
    }
}
