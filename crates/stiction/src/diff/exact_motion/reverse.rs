//! One sweep back through an exact motion.

use super::super::colors::Colors;
use super::super::implicit::DataChange;
use super::super::objective::Objective;
use super::super::rollout::{Cotangents, StateChange};
use super::{ExactError, ExactMotion, NODE, STEP, Step, dot, dot3};
use crate::dynamics::Slender;
use crate::kinematics::Term;
use crate::linalg::Vec3;
use crate::model::Param;
use crate::steppers::velocity::{Contacts, VelocityStepper};

impl ExactMotion {
    /// dΦ/dp of every parameter by one sweep back.
    pub fn reverse(&self, objective: &dyn Objective, params: &[Param]) -> Result<Vec<f64>, ExactError> {
        let terms = self.terms(objective);
        let values: Vec<f64> = terms.iter().map(|t| t.1.value).collect();
        let weights = objective.reduce().apply(&values).1;
        Ok(self.pull_back(&terms, &weights, params)?.params)
    }

    /// Σ weight · dterm/dp, and the same by the state at the start.
    pub(in super::super) fn pull_back(
        &self,
        terms: &[(usize, Term)],
        weights: &[f64],
        params: &[Param],
    ) -> Result<Cotangents, ExactError> {
        let n = self.model.layout.nv();
        let mut probe = self.probe();
        let sides: Vec<_> = params.iter().map(|p| self.sides(*p)).collect::<Result<_, _>>()?;
        let mut out = vec![0.0; params.len()];
        let mut bar = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        for i in (0..=self.steps.len()).rev() {
            if let Some(step) = self.steps.get(i) {
                let mut implicit = self.implicit(step)?;
                // From X⁺ to v⁺ and X, then through the solve to what posed it, and back to X.
                let ((v_bar, l_bar), mut before) = self.moved_back(&mut probe, step, &bar);
                let by = implicit.reverse(&v_bar, &l_bar);
                for (k, p) in params.iter().copied().enumerate() {
                    out[k] += dot(&self.friction(p, step), &by.friction);
                    if sides[k].is_some() {
                        let none = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
                        let data = self.posed(&mut probe, step, &none, sides[k].as_ref());
                        out[k] += dot(&data.momentum, &by.momentum) + dot(&data.friction, &by.friction);
                        out[k] += dot3(&data.velocity, &by.velocity) + dot3(&data.bound, &by.bound);
                        let still = (vec![0.0; n], vec![Vec3::ZERO; step.problem.contacts()]);
                        let moved = self.moved(&mut probe, step, &none, &still, sides[k].as_ref());
                        out[k] += dot(&moved.q, &bar.q) + dot(&moved.v, &bar.v);
                    }
                }
                self.posed_back(&mut probe, step, &by, &mut before);
                bar = before;
            }
            for ((_, t), w) in terms.iter().zip(weights).filter(|(t, _)| t.0 == i) {
                t.dq.iter().for_each(|(d, s)| bar.q[*d] += w * s);
                t.dv.iter().for_each(|(d, s)| bar.v[*d] += w * s);
            }
        }
        for (k, p) in params.iter().copied().enumerate() {
            let x = self.initial(p);
            out[k] += dot(&x.q, &bar.q) + dot(&x.v, &bar.v);
        }
        Ok(Cotangents { start: bar, params: out })
    }

    /// Adds the transpose of what posed the equations of a step, times derivatives by them, to those by the state before.
    fn posed_back(
        &self,
        probe: &mut VelocityStepper,
        step: &Step,
        by: &DataChange,
        before: &mut StateChange,
    ) {
        let n = before.q.len();
        let colors = Colors::of(&step.problem);
        let elastic = !(self.model.solids.is_empty() && Slender::is_empty(&self.model));
        let plain =
            !elastic && self.model.joints.is_empty() && !step.rebounds && step.flown.impacts.is_empty();
        let parts = if plain {
            // The velocity before acts by its momentum alone, A v.
            let mut load = vec![0.0; n];
            step.problem.a.mul(&by.momentum, &mut load);
            before.v.iter_mut().zip(&load).for_each(|(v, l)| *v -= l);
            0..6
        } else {
            // Where contacts are does not depend on velocities: they are looked for once.
            let none = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
            self.posed_by(probe, step, (&none, STEP), None, Contacts::Detect);
            0..12
        };
        // Columns, many blocks at a time; those of velocities first.
        let mut x = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        for part in parts.rev() {
            let (of_q, k) = (part < 6, part % 6);
            let contacts = if of_q { Contacts::Detect } else { Contacts::Keep };
            for color in &colors.classes {
                let shifted = || {
                    let blocks = color.iter().map(|&b| (b, step.problem.a.block(b)));
                    blocks.filter(|(_, (_, width))| k < *width)
                };
                if shifted().next().is_none() {
                    continue;
                }
                let scale = |width: usize| if of_q && width == 3 { NODE } else { 1.0 };
                let shift = if of_q { &mut x.q } else { &mut x.v };
                shifted().for_each(|(_, (at, width))| shift[at + k] = scale(width));
                let data = self.posed_by(probe, step, (&x, STEP), None, contacts);
                let shift = if of_q { &mut x.q } else { &mut x.v };
                for (b, (at, width)) in shifted() {
                    shift[at + k] = 0.0;
                    let mut sum = 0.0;
                    for &j in &colors.rows[b] {
                        let (row, height) = step.problem.a.block(j);
                        let rows = row..row + height;
                        sum += dot(&data.momentum[rows.clone()], &by.momentum[rows]);
                    }
                    for &c in &colors.contacts[b] {
                        sum += data.velocity[c].dot(by.velocity[c]) + data.friction[c] * by.friction[c];
                        sum += data.bound[c].dot(by.bound[c]);
                    }
                    let out = if of_q { &mut before.q } else { &mut before.v };
                    out[at + k] += sum / scale(width);
                }
            }
        }
    }

    /// The transpose of [`moved`](Self::moved), block by block: derivatives by v⁺ and λ, and by X.
    fn moved_back(
        &self,
        probe: &mut VelocityStepper,
        step: &Step,
        bar: &StateChange,
    ) -> ((Vec<f64>, Vec<Vec3>), StateChange) {
        let n = bar.q.len();
        let mut by = (vec![0.0; n], vec![Vec3::ZERO; step.problem.contacts()]);
        let mut before = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        let blocks = self.model.layout.blocks();
        let flies = |k: usize| step.flown.flies.get(k) == Some(&true);
        // Places move by h v and keep their velocity.
        for (_, b) in blocks.iter().enumerate().filter(|(k, _)| !flies(*k)) {
            for k in b.v..b.v + 3 {
                before.q[k] = bar.q[k];
                by.0[k] = bar.v[k] + self.h * bar.q[k];
            }
        }
        // Turns by differences; bodies turn apart from each other, so that all are shifted at once.
        let mut x = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        let mut answer = by.clone();
        answer.0.fill(0.0);
        let rigid: Vec<_> = (0..blocks.len()).filter(|&k| blocks[k].nv == 6 && !flies(k)).collect();
        for part in 0..if rigid.is_empty() { 0 } else { 6 } {
            let k = 3 + part % 3;
            let shift = if part < 3 { &mut x.q } else { &mut answer.0 };
            rigid.iter().for_each(|&b| shift[blocks[b].v + k] = 1.0);
            let moved = self.moved(probe, step, &x, &answer, None);
            let shift = if part < 3 { &mut x.q } else { &mut answer.0 };
            for b in rigid.iter().map(|&b| &blocks[b]) {
                shift[b.v + k] = 0.0;
                let sum = (b.v + 3..b.v + 6).map(|r| moved.q[r] * bar.q[r] + moved.v[r] * bar.v[r]).sum();
                if part < 3 {
                    before.q[b.v + k] = sum;
                } else {
                    by.0[b.v + k] = sum;
                }
            }
        }
        self.flown_back(probe, step, bar, &mut by.1, &mut before);
        (by, before)
    }

    /// The same for blocks that fly: their motion follows from X and the impulses of their impacts, not from v⁺.
    fn flown_back(
        &self,
        probe: &mut VelocityStepper,
        step: &Step,
        bar: &StateChange,
        l_bar: &mut [Vec3],
        before: &mut StateChange,
    ) {
        let (n, layout) = (bar.q.len(), self.model.layout.blocks());
        let colors = Colors::of(&step.problem);
        let mut x = StateChange { q: vec![0.0; n], v: vec![0.0; n] };
        let mut answer = (vec![0.0; n], vec![Vec3::ZERO; step.problem.contacts()]);
        let gain = |moved: &StateChange, rows: &[usize]| -> f64 {
            let dofs = rows.iter().flat_map(|&r| layout[r].v..layout[r].v + layout[r].nv);
            dofs.map(|d| moved.q[d] * bar.q[d] + moved.v[d] * bar.v[d]).sum()
        };
        for color in &colors.classes {
            let flying: Vec<usize> =
                color.iter().copied().filter(|&b| step.flown.flies.get(b) == Some(&true)).collect();
            for part in 0..if flying.is_empty() { 0 } else { 12 } {
                let (of_q, k) = (part < 6, part % 6);
                let shifted = || flying.iter().copied().filter(|&b| k < layout[b].nv);
                let shift = if of_q { &mut x.q } else { &mut x.v };
                shifted().for_each(|b| shift[layout[b].v + k] = 1.0);
                let moved = self.moved(probe, step, &x, &answer, None);
                let shift = if of_q { &mut x.q } else { &mut x.v };
                for b in shifted() {
                    shift[layout[b].v + k] = 0.0;
                    let out = if of_q { &mut before.q } else { &mut before.v };
                    out[layout[b].v + k] += gain(&moved, &colors.rows[b]);
                }
            }
        }
        for i in &step.flown.impacts {
            let c = i.contact as usize;
            let blocks: Vec<usize> = step.problem.j.terms(c).iter().map(|t| t.block()).collect();
            for k in 0..3 {
                answer.1[c][k] = 1.0;
                let moved = self.moved(probe, step, &x, &answer, None);
                answer.1[c][k] = 0.0;
                l_bar[c][k] += gain(&moved, &blocks);
            }
        }
    }
}
