//! Algorithm 1, lines 7 to 22: preconditioned conjugate residuals with constraints that change state.

use super::best::Best;
use super::contradiction::{Search, Stall};
use super::minres::Minres;
use super::pair::Pair;
use super::precondition::{Conditioner, Preconditioner};
use super::states::{States, Strictness};
use super::stop::{Limits, Scales, largest, natural};
use super::system::Saddle;
use super::{Cone, Method, Settings, Signs};
use crate::contact::law::RoundLaw;
use crate::contact::law::cone::project_strict;
use crate::linalg::Vec3;
use crate::solvers::{SolveReport, Status, Trace, TraceRecord};

/// What a solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Iterations.
    pub iterations: usize,
    /// Products with A.
    pub products: usize,
    /// Evaluations of constraints.
    pub evaluations: usize,
    /// State changes of constraints.
    pub switches: usize,
    /// Updates of kinetic friction without a change of state.
    pub updates: usize,
    /// Minimal-residual steps taken in place of a breakdown (R5).
    pub fallbacks: usize,
    /// Contacts that act at the end.
    pub active: usize,
    /// Those of them that slip.
    pub slipping: usize,
}

/// Norms of one iteration, for residual histories (Figure 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryRecord {
    /// ‖r‖ with rows as distances.
    pub residual: f64,
    /// ‖C^(−1/2) r‖ = √|rᵀ C⁻¹ r|.
    pub preconditioned: f64,
    /// ‖U r‖_∞ [m].
    pub constraint: f64,
    /// Largest preconditioned residual of an active row, √(max |r_c z_c|).
    pub preconditioned_constraint: f64,
    /// Constraints changed before this iteration, so that it began anew.
    pub restarted: bool,
}

/// Buffers and states of the iteration.
#[derive(Default)]
pub(super) struct Engine {
    pub counts: Counts,
    pub history: Option<Vec<HistoryRecord>>,
    pub(super) conditioner: Conditioner,
    pub(super) states: States,
    pub(super) limits: Limits,
    minres: Minres,
    /// Velocities, and the multipliers that are unknowns.
    pub(super) y: Pair,
    /// All multipliers.
    pub(super) total: Vec<Vec3>,
    pub(super) before: Vec<Vec3>,
    /// Velocities to return to.
    kept: Vec<f64>,
    pub(super) r: Pair,
    /// z = C⁻¹ r, w = B z.
    pub(super) z: Pair,
    w: Pair,
    /// p, B p and C⁻¹ B p.
    pub(super) p: Pair,
    pub(super) bp: Pair,
    q: Pair,
    pub(super) search: Search,
    pub(super) best: Best,
    /// zᵀ B z of the last step.
    zw: f64,
    h: f64,
}

/// zᵀBz this small against ‖r‖ ‖Bz‖ in the norm of C⁻¹ is a breakdown (R5).
const BREAKDOWN: f64 = 1e-8;
/// Most times that limits are tightened because the yardstick is not met.
const TIGHTENINGS: usize = 8;

/// Longer intervals while evaluations do not bring the residual down.
///
/// Contacts that are nearly copies of each other take conjugate steps to tell apart. Where friction is updated at every
/// evaluation, each of which begins anew, steps are those of steepest descent and never get there.
struct Patience {
    factor: usize,
    /// Restarts since the residual was noted, and that residual.
    restarts: usize,
    noted: f64,
    /// State changes up to then.
    switches: usize,
}

/// Restarts within which the residual is to be halved.
const PATIENCE: usize = 16;
/// Longest intervals, in those of the residual.
const MOST_PATIENCE: usize = 32;

impl Default for Patience {
    fn default() -> Patience {
        Patience { factor: 1, restarts: 0, noted: f64::INFINITY, switches: 0 }
    }
}

impl Patience {
    /// After a restart with this residual. While states change, they want to be looked at often.
    fn learn(&mut self, ratio: f64, switches: usize) {
        self.restarts += 1;
        if self.restarts < PATIENCE {
            return;
        }
        let stalls = ratio > 0.5 * self.noted && switches == self.switches;
        self.factor = if stalls { (2 * self.factor).min(MOST_PATIENCE) } else { (self.factor / 2).max(1) };
        (self.restarts, self.noted, self.switches) = (0, ratio, switches);
    }
}

impl Engine {
    /// `v` and `lambda` hold the guess on entry and the answer on return.
    pub fn solve(
        &mut self,
        s: &Settings,
        sys: &Saddle,
        scales: Scales,
        v: &mut [f64],
        lambda: &mut [Vec3],
        trace: &mut dyn Trace,
    ) -> SolveReport {
        self.counts = Counts::default();
        if let Some(h) = &mut self.history {
            h.clear();
        }
        self.h = scales.h;
        self.conditioner.build(s.preconditioner, s.diagonal, sys);
        self.limits.set(s, scales, sys, &self.conditioner);
        self.reset(sys, v, lambda);
        // An answer is left as it is.
        let mut report = SolveReport::default();
        self.total.clear();
        self.total.extend_from_slice(lambda);
        if self.limits.judges_answers() && self.is_answer(sys) {
            report.velocity = natural(sys, &self.conditioner.own, v, lambda) / self.limits.scale;
            return report;
        }
        self.begin(sys, s);
        let judges = self.limits.judges_answers();
        if judges {
            self.begin_best(sys);
        }
        let strict = |limits: &Limits, slack: f64| Strictness {
            least: limits.least,
            update: limits.update,
            slack,
            signs: s.signs,
            angle: limits.angle,
            sideways: limits.sideways,
            turn: s.turn,
            cone: s.cone,
        };
        let (mut since, mut tightened, mut fresh, mut restarted) = (0, 0, true, true);
        let (mut patience, mut stall) = (Patience::default(), Stall::default());
        report.status = Status::Budget;
        loop {
            let ratio = self.limits.ratio(&self.r);
            self.record(trace, ratio, restarted);
            restarted = false;
            if self.limits.is_small(&self.r) || self.limits.is_local_minimum(&self.w) {
                let how = strict(&self.limits, self.limits.least);
                if self.evaluate(sys, &how) {
                    self.restart(sys, s);
                    patience.learn(self.limits.ratio(&self.r), self.counts.switches);
                    (since, restarted) = (0, true);
                } else if !fresh {
                    // The residual of the recurrence may have drifted.
                    self.refresh(sys);
                    self.restart(sys, s);
                    (fresh, restarted) = (true, true);
                    continue;
                } else if self.is_lawful_answer(sys, s) {
                    report.status = Status::Converged;
                    break;
                } else if tightened == TIGHTENINGS {
                    break;
                } else {
                    // Momentum and friction first, since rows that nearly contradict each other are not met any better.
                    if tightened % 2 == 0 {
                        self.limits.tighten_balance();
                    } else {
                        self.limits.tighten();
                    }
                    tightened += 1;
                    continue;
                }
            }
            if self.counts.iterations >= s.max_iterations {
                break;
            }
            let Some(alpha) = self.step(sys, s) else { break };
            fresh = false;
            self.counts.iterations += 1;
            since += 1;
            // Lines 12 and 13: evaluate where the step went towards the optimum.
            let interval = s.interval.of(self.limits.ratio(&self.r));
            let due = since >= if s.patient { interval.saturating_mul(patience.factor) } else { interval };
            if due && judges {
                let error = self.look(sys);
                if error <= 1.0 && self.is_lawful_answer(sys, s) {
                    report.status = Status::Converged;
                    break;
                }
                if self.ran_off(error) && self.conditioner.kind == Preconditioner::Full {
                    self.go_back(sys, s);
                    (since, restarted, stall) = (0, true, Stall::default());
                    continue;
                }
            }
            if alpha > 0.0 && due {
                since = 0;
                let how = strict(&self.limits, 0.0);
                if self.evaluate(sys, &how) {
                    self.restart(sys, s);
                    patience.learn(self.limits.ratio(&self.r), self.counts.switches);
                    restarted = true;
                    continue;
                }
            }
            if s.signs == Signs::Weighed && stall.is_due(self.limits.ratio(&self.r), self.counts.iterations) {
                if self.resolve_contradictions(sys) {
                    self.restart(sys, s);
                    (since, restarted, stall) = (0, true, Stall::default());
                    continue;
                }
                // What contradicts itself by less than matters stays as it is.
                if tightened < TIGHTENINGS && self.may_be_answer(sys, s) {
                    if self.is_lawful_answer(sys, s) {
                        report.status = Status::Converged;
                        break;
                    }
                    self.limits.tighten_balance();
                    tightened += 1;
                    (since, restarted) = (0, true);
                    continue;
                }
            }
            self.direction(sys, s);
        }
        (self.counts.active, self.counts.slipping) = self.states.count();
        if report.status == Status::Budget && judges {
            // What ran out of steps may be good enough all the same.
            if self.is_lawful_answer(sys, s) {
                report.status = Status::Converged;
            } else {
                self.end_with_best(sys);
            }
        }
        report.iterations = self.counts.iterations;
        report.velocity = natural(sys, &self.conditioner.own, &self.y.v, &self.total) / self.limits.scale;
        v.copy_from_slice(&self.y.v);
        lambda.copy_from_slice(&self.total);
        report
    }

    /// Whether contact `c` acts and slips.
    pub fn slips(&self, c: usize) -> bool {
        self.states.slips(c)
    }

    /// Z⁻¹ S_d of the last solve.
    pub fn own(&self) -> &[Vec3] {
        &self.conditioner.own
    }

    fn reset(&mut self, sys: &Saddle, v: &[f64], lambda: &[Vec3]) {
        let (n, m) = (sys.dofs(), sys.contacts());
        for x in [&mut self.y, &mut self.r, &mut self.z, &mut self.w, &mut self.p, &mut self.bp, &mut self.q]
        {
            x.reset(n, m);
        }
        self.y.v.copy_from_slice(v);
        self.y.l.copy_from_slice(lambda);
    }

    /// States of the multipliers in `y`, and the first direction.
    pub(super) fn begin(&mut self, sys: &Saddle, s: &Settings) {
        self.states.start(sys, s.cone, &mut self.y.l);
        self.sum_up();
        self.refresh(sys);
        self.restart(sys, s);
    }

    /// Whether velocities and multipliers meet the yardstick; `r` is scratch.
    fn is_answer(&mut self, sys: &Saddle) -> bool {
        if !self.limits.accepts(natural(sys, &self.conditioner.own, &self.y.v, &self.total)) {
            return false;
        }
        self.refresh(sys);
        self.limits.momentum_ratio(&self.r.v) < 1.0
    }

    /// Whether multipliers that obey their laws would meet the yardstick of constraints.
    fn may_be_answer(&mut self, sys: &Saddle, s: &Settings) -> bool {
        self.before.clone_from(&self.total);
        obey_laws(sys, s, &mut self.before);
        let natural = natural(sys, &self.conditioner.own, &self.y.v, &self.before);
        self.limits.judges_answers()
            && self.limits.accepts(natural)
            && self.limits.momentum_ratio(&self.r.v) < self.limits.balance
    }

    /// Makes multipliers obey their laws and judges them, where the yardstick is the judge; takes that back where they are not
    /// good enough.
    fn is_lawful_answer(&mut self, sys: &Saddle, s: &Settings) -> bool {
        if !self.limits.judges_answers() {
            return true;
        }
        self.before.clone_from(&self.total);
        obey_laws(sys, s, &mut self.total);
        if self.is_answer(sys) {
            return true;
        }
        // Multipliers that leave their cones by no more than the yardstick allows.
        std::mem::swap(&mut self.total, &mut self.before);
        if self.is_answer(sys) {
            return true;
        }
        std::mem::swap(&mut self.total, &mut self.before);
        self.kept.clone_from(&self.y.v);
        self.settle(sys, s.max_iterations);
        let good = self.is_answer(sys);
        if !good {
            self.total.clone_from(&self.before);
            self.y.v.copy_from_slice(&self.kept);
            self.refresh(sys);
            self.restart(sys, s);
        }
        good
    }

    /// r from scratch: one product with A.
    pub(super) fn refresh(&mut self, sys: &Saddle) {
        sys.momentum(&self.y.v, &self.total, &mut self.r.v);
        self.counts.products += 1;
    }

    /// Line 13 or 23; true when something changed. Then r_u has only gained Jᵀ Δλ (3.5): A is not needed.
    fn evaluate(&mut self, sys: &Saddle, how: &Strictness) -> bool {
        self.before.clone_from(&self.total);
        for (t, (l, f)) in self.before.iter_mut().zip(self.y.l.iter().zip(&self.states.fixed)) {
            *t = *l + *f;
        }
        self.total.clone_from(&self.before);
        let changes = self.states.evaluate(sys, &mut self.y, &mut self.total, &self.conditioner.own, how);
        self.counts.evaluations += 1;
        self.counts.switches += changes.switched;
        self.counts.updates += changes.updated;
        if changes.any() {
            for c in 0..self.total.len() {
                sys.push(c, self.total[c] - self.before[c], &mut self.r.v);
            }
        }
        changes.any()
    }

    /// Lines 19 to 21: rows of r, then p = z = C⁻¹ r and its product.
    fn restart(&mut self, sys: &Saddle, s: &Settings) {
        for c in 0..self.total.len() {
            let mask = self.states.mask[c];
            self.r.l[c] =
                if mask == Vec3::ZERO { mask } else { mask * sys.velocity(c, &self.y.v, &self.total) };
        }
        self.conditioner.update(&self.states.mask);
        self.conditioner.apply(sys, &self.r, &mut self.z);
        self.product(sys);
        self.p.copy(&self.z);
        self.bp.copy(&self.w);
        if s.method == Method::Minres {
            self.minres.start(&self.r, &self.z);
        }
    }

    /// w = B z.
    fn product(&mut self, sys: &Saddle) {
        sys.apply(&self.states.mask, &self.z, &mut self.w);
        self.counts.products += 1;
    }

    /// Lines 9 to 11, or a step of MINRES; `None` where no step is possible.
    fn step(&mut self, sys: &Saddle, s: &Settings) -> Option<f64> {
        if s.method == Method::Minres {
            let mask = &self.states.mask;
            let moved = self.minres.step(sys, mask, &mut self.conditioner, &mut self.y, &mut self.r);
            self.counts.products += 1;
            self.sum_up();
            return moved.then_some(1.0);
        }
        self.conditioner.apply(sys, &self.bp, &mut self.q);
        let (zw, bpq) = (self.z.dot(&self.w), self.bp.dot(&self.q));
        self.zw = zw;
        let breaks = zw.abs() <= BREAKDOWN * (self.r.dot(&self.z) * bpq).abs().sqrt();
        let mut alpha = zw / bpq;
        if breaks || !alpha.is_finite() {
            // p = C⁻¹ B z leads on where z itself does not (R5).
            self.counts.fallbacks += 1;
            self.conditioner.apply(sys, &self.w, &mut self.p);
            sys.apply(&self.states.mask, &self.p, &mut self.bp);
            self.counts.products += 1;
            self.conditioner.apply(sys, &self.bp, &mut self.q);
            alpha = self.w.dot(&self.p) / self.bp.dot(&self.q);
            if !alpha.is_finite() {
                return None;
            }
            self.advance(alpha);
            // β = 0: the next direction is z alone.
            self.p.scale(0.0);
            self.bp.scale(0.0);
            return Some(alpha.abs());
        }
        self.advance(alpha);
        Some(alpha)
    }

    /// y += α p, r −= α B p, z −= α C⁻¹ B p.
    fn advance(&mut self, alpha: f64) {
        self.y.add(alpha, &self.p);
        self.r.add(-alpha, &self.bp);
        self.z.add(-alpha, &self.q);
        self.sum_up();
    }

    fn sum_up(&mut self) {
        for (t, (l, f)) in self.total.iter_mut().zip(self.y.l.iter().zip(&self.states.fixed)) {
            *t = *l + *f;
        }
    }

    /// Lines 15 to 17.
    fn direction(&mut self, sys: &Saddle, s: &Settings) {
        if s.method == Method::Minres {
            // Line 22 asks for B C⁻¹ r, which CR has at hand and MINRES has not (Section 7).
            self.conditioner.apply(sys, &self.r, &mut self.z);
            self.product(sys);
            return;
        }
        self.product(sys);
        let beta = self.z.dot(&self.w) / self.zw;
        let beta = if beta.is_finite() { beta } else { 0.0 };
        self.p.scale_and_add(beta, &self.z);
        self.bp.scale_and_add(beta, &self.w);
    }

    fn record(&mut self, trace: &mut dyn Trace, ratio: f64, restarted: bool) {
        if trace.wants() {
            let (iteration, factorizations) = (self.counts.iterations, 0);
            trace.record(TraceRecord { stage: "cr", iteration, factorizations, residual: ratio });
        }
        if let Some(history) = &mut self.history {
            let worst = self.r.l.iter().zip(&self.z.l).map(|(r, z)| (*r * *z).abs().max_element());
            history.push(HistoryRecord {
                residual: self.limits.paper_norm(&self.r),
                preconditioned: self.r.dot(&self.z).abs().sqrt(),
                constraint: self.h * largest(&self.r),
                preconditioned_constraint: worst.fold(0.0, f64::max).sqrt(),
                restarted,
            });
        }
    }
}

/// Makes multipliers obey their laws exactly: what was postponed is made good.
fn obey_laws(sys: &Saddle, s: &Settings, lambda: &mut [Vec3]) {
    for (l, law) in lambda.iter_mut().zip(&sys.rows.law) {
        *l = match *law {
            RoundLaw::Cone(mu) if s.cone == Cone::Round => project_strict(*l, mu),
            RoundLaw::Cone(mu) => {
                let limit = mu * l.x.max(0.0);
                Vec3::new(l.x.max(0.0), l.y.clamp(-limit, limit), l.z.clamp(-limit, limit))
            }
            rows => rows.project(*l),
        };
    }
}
