//! A run on a tape, and the two ways through it: forward with sensitivities (4), backward with the adjoint (8).

use super::objective::Objective;
use super::param::ParamSet;
use super::param_forces::{momentum_entries, residual_entries};
use super::rollout::{Cotangents, StateChange};
use crate::coords::State;
use crate::error::StepError;
use crate::kinematics::Placement;
use crate::kinematics::Term;
use crate::linalg::Vec3;
use crate::linalg::near_symmetric::EXACT;
use crate::steppers::penalty::{Newton, Phase, System};

/// What is kept of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tape {
    /// Every step.
    #[default]
    Full,
    /// About √n of n steps; those between are taken again on the way back. Same bits, up to one more forward run.
    Checkpoints,
}

/// A system with parameters, run for a number of steps.
pub struct Motion<'a> {
    /// The system.
    pub system: &'a mut System,
    /// Its parameters.
    pub params: &'a mut ParamSet,
    steps: usize,
    every: usize,
    /// Phases after steps 0, every, 2 every, …
    kept: Vec<Phase>,
    /// Phases from step `segment.0` on that were taken again last.
    segment: (usize, Vec<Phase>),
    /// How each step went.
    pub newton: Vec<Newton>,
}

/// What a motion has recorded, apart from the system and the parameters that it borrows.
#[derive(Default)]
pub(super) struct Recorded {
    steps: usize,
    every: usize,
    kept: Vec<Phase>,
    segment: (usize, Vec<Phase>),
    newton: Vec<Newton>,
}

/// What a sweep forward calls: with the motion, the step, its phase, and the changes of q and of v by direction.
type Visit<'v, 'a> = dyn FnMut(&mut Motion<'a>, usize, &Phase, &[Vec<f64>], &[Vec<f64>]) + 'v;

/// Objective, gradient and what it took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    /// Φ.
    pub value: f64,
    /// dΦ/dp.
    pub gradient: Vec<f64>,
}

impl<'a> Motion<'a> {
    /// Runs `steps` steps from the initial state with the parameters as they are set.
    pub fn run(
        system: &'a mut System,
        params: &'a mut ParamSet,
        steps: usize,
        tape: Tape,
    ) -> Result<Motion<'a>, StepError> {
        let every = match tape {
            Tape::Full => 1,
            Tape::Checkpoints => ((steps as f64).sqrt().ceil() as usize).max(1),
        };
        let mut motion = Motion {
            steps,
            every,
            kept: Vec::new(),
            segment: (0, Vec::new()),
            newton: Vec::new(),
            system,
            params,
        };
        let mut phase = motion.system.start();
        let mut next = phase.clone();
        for i in 0..steps {
            if i % every == 0 {
                motion.kept.push(phase.clone());
            }
            let mut newton = motion.system.step(&phase, i, &mut next)?;
            newton.history = Vec::new();
            motion.newton.push(newton);
            std::mem::swap(&mut phase, &mut next);
        }
        motion.kept.push(phase);
        Ok(motion)
    }

    /// What it has recorded, to go on with later.
    pub(super) fn release(self) -> Recorded {
        let Motion { steps, every, kept, segment, newton, .. } = self;
        Recorded { steps, every, kept, segment, newton }
    }

    /// The motion again that was [released](Self::release), with the same system and parameters.
    pub(super) fn resume(
        system: &'a mut System,
        params: &'a mut ParamSet,
        Recorded { steps, every, kept, segment, newton }: Recorded,
    ) -> Motion<'a> {
        Motion { system, params, steps, every, kept, segment, newton }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// How many phases are held: memory in units of one step.
    pub fn held(&self) -> usize {
        self.kept.len() + self.segment.1.len()
    }

    /// Largest ‖r‖ of all steps as a share of what was asked for; at most one where all steps converged.
    pub fn worst_residual(&self) -> f64 {
        self.newton.iter().map(|n| n.residual / n.target.max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
    }

    /// Phase after step `i`; takes its segment again where it was not kept.
    pub fn phase(&mut self, i: usize) -> Result<Phase, StepError> {
        if i == self.steps {
            return Ok(self.kept[self.kept.len() - 1].clone());
        }
        if i.is_multiple_of(self.every) {
            return Ok(self.kept[i / self.every].clone());
        }
        let first = i / self.every * self.every;
        if self.segment.0 != first || self.segment.1.is_empty() {
            let end = (first + self.every).min(self.steps);
            let mut phases = vec![self.kept[first / self.every].clone()];
            for k in first..end {
                let mut next = phases[k - first].clone();
                self.system.step(&phases[k - first], k, &mut next)?;
                phases.push(next);
            }
            self.segment = (first, phases);
        }
        Ok(self.segment.1[i - first].clone())
    }

    /// State after step `i`.
    pub fn state(&mut self, i: usize) -> Result<State, StepError> {
        Ok(self.phase(i)?.state)
    }

    /// Terms of an objective with the step that each belongs to.
    pub fn terms(&mut self, objective: &dyn Objective) -> Result<Vec<(usize, Term)>, StepError> {
        let mut all = Vec::new();
        let mut out = Vec::new();
        for i in 0..=self.steps {
            let state = self.state(i)?;
            out.clear();
            let at = Placement::of(self.system.model(), &state);
            objective.terms(at.kinematics(self.system.model()), i, &mut out);
            self.recall(i, &state);
            objective.force_terms(self.system, i, &state, &mut out);
            all.extend(out.drain(..).map(|t| (i, t)));
        }
        Ok(all)
    }

    /// Which points step `i` held and let go: contact forces depend on it.
    fn recall(&mut self, i: usize, state: &State) {
        if let Some(newton) = i.checked_sub(1).and_then(|k| self.newton.get(k)) {
            self.system.find_patches(state);
            self.system.recall(state, newton);
        }
    }

    /// Φ.
    pub fn value(&mut self, objective: &dyn Objective) -> Result<f64, StepError> {
        let terms = self.terms(objective)?;
        let values: Vec<f64> = terms.iter().map(|t| t.1.value).collect();
        Ok(objective.reduce().apply(&values).0)
    }

    /// Φ and dΦ/dp by the adjoint: one sweep back, whatever the number of parameters (8), (9).
    pub fn gradient(&mut self, objective: &dyn Objective) -> Result<Gradient, StepError> {
        let terms = self.terms(objective)?;
        let values: Vec<f64> = terms.iter().map(|t| t.1.value).collect();
        let (value, weights) = objective.reduce().apply(&values);
        let gradient = self.adjoint(&terms, &weights)?.params;
        Ok(Gradient { value, gradient })
    }

    /// Σ weight · dterm/dp, and the same by the state at the start.
    pub(super) fn adjoint(
        &mut self,
        terms: &[(usize, Term)],
        weights: &[f64],
    ) -> Result<Cotangents, StepError> {
        let n = self.system.r.len();
        let mut p = vec![0.0; self.params.len()];
        let zero = || vec![0.0; n];
        let (mut q, mut w, mut e, mut u) = (zero(), zero(), zero(), zero());
        let seeds = |i: usize, q: &mut [f64], v: &mut [f64]| {
            for ((_, t), weight) in terms.iter().zip(weights).filter(|(t, _)| t.0 == i) {
                for (dof, d) in &t.dq {
                    q[*dof] += weight * d;
                }
                for (dof, d) in &t.dv {
                    v[*dof] += weight * d;
                }
            }
        };
        for ((_, t), weight) in terms.iter().zip(weights) {
            for (param, d) in &t.contact {
                self.params.indices(param).for_each(|k| p[k] += weight * d);
            }
        }
        let layout = self.system.model().layout.clone();
        let [a0, a1, a2] = self.system.settings().scheme.rate().map(|a| a / self.system.h);
        let mut nu = Vec::new();
        for i in (1..=self.steps).rev() {
            let (to, from) = (self.phase(i)?, self.phase(i - 1)?);
            let newton = std::mem::take(&mut self.newton[i - 1]);
            let factored = self.system.linearize(&from, &to, i - 1, &newton);
            self.newton[i - 1] = newton;
            if !factored {
                return Err(StepError::NotFinite { item: "the adjoint".to_string(), t: to.state.t });
            }
            let s = &mut *self.system;
            let mut v = zero();
            seeds(i, &mut q, &mut v);
            // q, w and e of this step: w = w(q, v), q = q(d, q⁻), v = v(d, e⁻), e = d, u = w⁻.
            s.kin.w_by_q.mul_t_add(&layout, 1.0, &w, &mut q);
            s.kin.w_by_v.mul_t_add(&layout, 1.0, &w, &mut v);
            let mut d = e.clone();
            s.kin.q_by_d.mul_t_add(&layout, 1.0, &q, &mut d);
            s.kin.v_by_d.mul_t_add(&layout, 1.0, &v, &mut d);
            // (∂r/∂d)ᵀ λ = d                                                                           (8)
            s.solve_bordered_transpose(&mut d, &mut nu, EXACT);
            let mut lambda = d;
            s.gq.mul_t_add(-1.0, &lambda, &mut q);
            s.gv.mul_t_add(-1.0, &lambda, &mut v);
            project(s, &mut lambda);
            momentum_entries(s, self.params, &to.state, |k, dof, x| p[k] += x * (w[dof] - a0 * lambda[dof]));
            // p −= λᵀ ∂r/∂p                                                                            (9)
            residual_entries(s, self.params, i - 1, |k, dof, x| p[k] -= lambda[dof] * x);
            let (mut q_before, mut e_before) = (zero(), zero());
            s.subtract_stick_rows(&nu, &mut q, &mut q_before);
            s.kin.q_by_q.mul_t_add(&layout, 1.0, &q, &mut q_before);
            s.kin.v_by_e.mul_t_add(&layout, 1.0, &v, &mut e_before);
            let mut load = zero();
            s.mass.mul_t_add(1.0, &lambda, &mut load);
            for b in s.model.bodies.iter().filter(|b| b.block.is_some()) {
                load[b.dof + 3..b.dof + 6].copy_from_slice(&lambda[b.dof + 3..b.dof + 6]);
            }
            for k in 0..n {
                w[k] = u[k] - a1 * load[k];
                u[k] = -a2 * load[k];
            }
            (q, e) = (q_before, e_before);
        }
        // The start: w = w(q, v), e = h v, u = w.
        let start = self.phase(0)?;
        let mut v = zero();
        seeds(0, &mut q, &mut v);
        let s = &*self.system;
        for k in 0..n {
            w[k] += u[k];
            v[k] += s.h * e[k];
        }
        momentum_entries(s, self.params, &start.state, |k, dof, x| p[k] += x * w[dof]);
        momentum_transpose(s, &start.state, &w, &mut q, &mut v);
        self.params.initial(s, |k, dof, dq, dv| p[k] += dq * q[dof] + dv * v[dof]);
        Ok(Cotangents { start: StateChange { q, v }, params: p })
    }

    /// Derivatives of all terms along directions of parameters: one row per term, one column per direction (4).
    pub fn sensitivities(
        &mut self,
        objective: &dyn Objective,
        directions: &[Vec<f64>],
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>), StepError> {
        let m = directions.len();
        let (mut values, mut rows) = (Vec::new(), Vec::new());
        let mut terms = Vec::new();
        self.sweep(directions, &mut |motion, i, to, q, v| {
            terms.clear();
            let at = Placement::of(motion.system.model(), &to.state);
            objective.terms(at.kinematics(motion.system.model()), i, &mut terms);
            motion.recall(i, &to.state);
            objective.force_terms(motion.system, i, &to.state, &mut terms);
            for t in terms.drain(..) {
                values.push(t.value);
                let direct = |c: usize| {
                    let along = |p| motion.params.indices(p).map(|k| directions[c][k]).sum::<f64>();
                    t.contact.iter().map(|(p, d)| d * along(p)).sum::<f64>()
                };
                rows.push(
                    (0..m)
                        .map(|c| {
                            direct(c)
                                + t.dq.iter().map(|(dof, d)| d * q[c][*dof]).sum::<f64>()
                                + t.dv.iter().map(|(dof, d)| d * v[c][*dof]).sum::<f64>()
                        })
                        .collect(),
                );
            }
        })?;
        Ok((values, rows))
    }

    /// Changes of all states along directions of parameters (4): calls `visit(motion, step, phase, q by direction, v by direction)`
    /// after every step, and at the start.
    pub(super) fn sweep(
        &mut self,
        directions: &[Vec<f64>],
        visit: &mut Visit<'_, 'a>,
    ) -> Result<(), StepError> {
        let n = self.system.r.len();
        let layout = self.system.model().layout.clone();
        let [a0, a1, a2] = self.system.settings().scheme.rate().map(|a| a / self.system.h);
        let m = directions.len();
        let mut q = vec![vec![0.0; n]; m];
        let mut v = vec![vec![0.0; n]; m];
        let start = self.phase(0)?;
        self.params.initial(self.system, |k, dof, dq, dv| {
            for c in 0..m {
                q[c][dof] += dq * directions[c][k];
                v[c][dof] += dv * directions[c][k];
            }
        });
        let mut w = vec![vec![0.0; n]; m];
        momentum_entries(self.system, self.params, &start.state, |k, dof, x| {
            for c in 0..m {
                w[c][dof] += x * directions[c][k];
            }
        });
        for c in 0..m {
            momentum_forward(self.system, &start.state, &q[c], &v[c], &mut w[c]);
        }
        let mut e: Vec<Vec<f64>> = v.iter().map(|v| v.iter().map(|x| self.system.h * x).collect()).collect();
        let mut u = w.clone();
        // Directions that have acted: controls of later steps move nothing yet.
        let moves = |x: &[f64]| x.iter().any(|x| *x != 0.0);
        let mut acts: Vec<bool> = (0..m).map(|c| moves(&q[c]) || moves(&v[c]) || moves(&w[c])).collect();
        let mut rows_by = Vec::new();
        for i in 0..=self.steps {
            let to = self.phase(i)?;
            if i > 0 {
                let from = self.phase(i - 1)?;
                let newton = std::mem::take(&mut self.newton[i - 1]);
                let factored = self.system.linearize(&from, &to, i - 1, &newton);
                self.newton[i - 1] = newton;
                if !factored {
                    return Err(StepError::NotFinite {
                        item: "the sensitivities".to_string(),
                        t: to.state.t,
                    });
                }
                // ∂r/∂p along every direction.
                let mut by_p = vec![vec![0.0; n]; m];
                let mut w_by_p = vec![vec![0.0; n]; m];
                residual_entries(self.system, self.params, i - 1, |k, dof, x| {
                    for c in 0..m {
                        by_p[c][dof] += x * directions[c][k];
                    }
                });
                momentum_entries(self.system, self.params, &to.state, |k, dof, x| {
                    for c in 0..m {
                        w_by_p[c][dof] += x * directions[c][k];
                        by_p[c][dof] += a0 * x * directions[c][k];
                    }
                });
                let s = &mut *self.system;
                for c in 0..m {
                    acts[c] = acts[c] || moves(&by_p[c]) || moves(&w_by_p[c]);
                    if !acts[c] {
                        continue;
                    }
                    let mut rhs = std::mem::take(&mut by_p[c]);
                    // History: M (a₁ w⁻ + a₂ w⁼), rotations without M.
                    let past: Vec<f64> = (0..n).map(|k| a1 * w[c][k] + a2 * u[c][k]).collect();
                    let mut load = vec![0.0; n];
                    s.mass.mul(&past, &mut load);
                    for b in s.model.bodies.iter().filter(|b| b.block.is_some()) {
                        load[b.dof + 3..b.dof + 6].copy_from_slice(&past[b.dof + 3..b.dof + 6]);
                    }
                    for k in 0..n {
                        rhs[k] += load[k];
                    }
                    project(s, &mut rhs);
                    let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
                    s.kin.q_by_q.mul_add(&layout, 1.0, &q[c], &mut dq);
                    s.kin.v_by_e.mul_add(&layout, 1.0, &e[c], &mut dv);
                    s.gq.mul(&dq, &mut load);
                    for k in 0..n {
                        rhs[k] += load[k];
                    }
                    s.gv.mul(&dv, &mut load);
                    for k in 0..n {
                        rhs[k] = -(rhs[k] + load[k]);
                    }
                    s.stick_rows_times(&dq, &q[c], &mut rows_by);
                    rows_by.iter_mut().for_each(|x| *x = -*x);
                    s.solve_bordered(&mut rhs, &mut rows_by, EXACT);
                    s.kin.q_by_d.mul_add(&layout, 1.0, &rhs, &mut dq);
                    s.kin.v_by_d.mul_add(&layout, 1.0, &rhs, &mut dv);
                    let mut dw = std::mem::take(&mut w_by_p[c]);
                    s.kin.w_by_q.mul_add(&layout, 1.0, &dq, &mut dw);
                    s.kin.w_by_v.mul_add(&layout, 1.0, &dv, &mut dw);
                    u[c] = std::mem::replace(&mut w[c], dw);
                    e[c] = rhs;
                    (q[c], v[c]) = (dq, dv);
                }
            }
            visit(self, i, &to, &q, &v);
        }
        Ok(())
    }

    /// Gauss–Newton's Hessian of ½ Σ value² times a vector: Jᵀ (J x), by one forward and one backward sweep.
    pub fn gauss_newton_product(
        &mut self,
        objective: &dyn Objective,
        x: &[f64],
    ) -> Result<Vec<f64>, StepError> {
        let (_, rows) = self.sensitivities(objective, &[x.to_vec()])?;
        let terms = self.terms(objective)?;
        let weights: Vec<f64> = rows.iter().map(|r| r[0]).collect();
        Ok(self.adjoint(&terms, &weights)?.params)
    }
}

/// Takes the tangential part of held nodes away: their rows are constraints that depend on no parameter.
fn project(s: &System, x: &mut [f64]) {
    for (node, held) in s.model.nodes.iter().zip(&s.held) {
        if let Some((n, _)) = held {
            let v = *n * n.dot(Vec3::from_slice(&x[node.dof..]));
            v.write_to_slice(&mut x[node.dof..node.dof + 3]);
        }
    }
}

/// Turns w by (q, v) at a state: δL = (I [ω] − [L]) δθ + I δω.
fn momentum_forward(s: &System, state: &State, q: &[f64], v: &[f64], w: &mut [f64]) {
    for k in 0..w.len() {
        w[k] += v[k];
    }
    for b in s.model.bodies.iter().filter(|b| b.block.is_some()) {
        let inertia = b.world_inertia(state.rigid_pose(b.q).rotation);
        let spin = Vec3::from_slice(&state.v[b.dof + 3..]);
        let (turn, faster) = (Vec3::from_slice(&q[b.dof + 3..]), Vec3::from_slice(&v[b.dof + 3..]));
        let l = inertia * spin;
        let change = inertia * (spin.cross(turn) + faster) - l.cross(turn);
        for k in 0..3 {
            w[b.dof + 3 + k] += change[k] - faster[k];
        }
    }
}

fn momentum_transpose(s: &System, state: &State, w: &[f64], q: &mut [f64], v: &mut [f64]) {
    for k in 0..w.len() {
        v[k] += w[k];
    }
    for b in s.model.bodies.iter().filter(|b| b.block.is_some()) {
        let inertia = b.world_inertia(state.rigid_pose(b.q).rotation);
        let spin = Vec3::from_slice(&state.v[b.dof + 3..]);
        let (l, x) = (inertia * spin, Vec3::from_slice(&w[b.dof + 3..]));
        // (I [ω] − [L])ᵀ x = −ω × (I x) + L × x.
        let turn = l.cross(x) - spin.cross(inertia * x);
        let faster = inertia * x;
        for k in 0..3 {
            q[b.dof + 3 + k] += turn[k];
            v[b.dof + 3 + k] += faster[k] - x[k];
        }
    }
}
