//! The chain itself: stages, stopping rule, budget, and the best impulse seen so far.

use super::proximal_point::Centre;
use super::{Settings, SolveReport, Status, Trace};
use crate::contact::delassus::Delassus;
use crate::contact::law::RoundLaw;
use crate::linalg::{Mat3, Vec3};
use crate::solvers::TraceRecord;
use crate::solvers::measure::{FLOOR, backward_error, velocity_scale};

/// A warm start within this factor of the aim, measured by g·h, is kept as it is: a resting force is then right to
/// 1e-8 of the weight, and what slides fast is judged no more mildly than what rests.
const STILL_GOOD: f64 = 3.0;

/// Without contacts Newton goes on to this in stage 0: the last step costs next to nothing, and mechanisms keep their
/// energy by it.
const ROWS_ALONE: f64 = 1e-14;

/// Sweeps after which a warm start must be better than starting from zero.
const MENDING_SWEEPS: usize = 10;

/// The floor of 64-bit numbers is never above this velocity measure on a mass ratio below 1e12: no need to look.
const FLOOR_AT_MOST: f64 = 1e-2;

/// Vectors of the chain, kept from step to step.
#[derive(Default)]
pub(super) struct Buffers {
    pub u: Vec<Vec3>,
    pub size: Vec<f64>,
    pub best: Vec<Vec3>,
    pub x: Vec<Vec3>,
    pub y: Vec<Vec3>,
    pub trial: Vec<Vec3>,
    pub g: Vec<Vec3>,
    pub dy: Vec<Vec3>,
    pub centre: Vec<Vec3>,
    /// Last point of the interior point method.
    pub last: Vec<Vec3>,
    pub p: Vec<Mat3>,
    pub modes: Vec<super::alart_curnier::Mode>,
    pub old_modes: Vec<super::alart_curnier::Mode>,
    pub swept: Vec<Vec3>,
    pub direction: Vec<Vec3>,
    pub a_warm: Vec<f64>,
}

/// One problem on its way through the stages.
pub(super) struct Chain<'a, D: Delassus> {
    pub d: &'a mut D,
    pub b: &'a mut Buffers,
    pub settings: &'a Settings,
    trace: &'a mut dyn Trace,
    /// Friction is multiplied by this; 1 but for [`continuation`](Chain::continuation).
    pub friction: f64,
    /// V [m/s].
    pub speed: f64,
    /// The least V: g·h in a simulation [m/s].
    least_speed: f64,
    pub sweeps: usize,
    pub factorizations: usize,
    /// Multiplications in factors and in the solves of splitting, and what they may be at most.
    work: f64,
    most_work: f64,
    /// Merit of `b.best`.
    pub best_merit: f64,
    /// The velocity measure at which the chain ends.
    aim: f64,
    /// Velocity measure of `b.best`.
    best_velocity: f64,
    /// The backward error of `b.best` is at rounding.
    best_at_floor: bool,
    status: Option<Status>,
}

impl<'a, D: Delassus> Chain<'a, D> {
    /// `speed` is the least velocity by which errors are judged (g·h in a simulation).
    pub fn new(
        d: &'a mut D,
        b: &'a mut Buffers,
        settings: &'a Settings,
        speed: f64,
        trace: &'a mut dyn Trace,
    ) -> Self {
        let n = d.contacts();
        let (least_speed, speed) = (speed, velocity_scale(d, speed));
        let unknowns = (d.system_size() + 3 * n) as f64;
        b.best.clear();
        b.best.resize(n, Vec3::ZERO);
        b.a_warm.clear();
        b.a_warm.resize(n, 0.0);
        for v in [
            &mut b.u,
            &mut b.x,
            &mut b.y,
            &mut b.trial,
            &mut b.g,
            &mut b.dy,
            &mut b.centre,
            &mut b.last,
            &mut b.swept,
        ] {
            v.resize(n, Vec3::ZERO);
        }
        Chain {
            d,
            b,
            settings,
            trace,
            friction: 1.0,
            speed,
            least_speed,
            sweeps: 0,
            factorizations: 0,
            work: 0.0,
            most_work: settings.most_work * unknowns * unknowns,
            best_merit: f64::INFINITY,
            aim: settings.aim,
            best_velocity: f64::INFINITY,
            best_at_floor: false,
            status: None,
        }
    }

    /// Runs the stages; `r` holds the guess on entry and the best impulse on return.
    pub fn run(&mut self, r: &mut [Vec3]) -> SolveReport {
        if !r.is_empty() {
            self.stages(r);
            r.copy_from_slice(&self.b.best);
        } else {
            (self.status, self.best_velocity) = (Some(Status::Converged), 0.0);
        }
        SolveReport {
            status: self.status.take().unwrap_or(Status::Budget),
            iterations: self.sweeps,
            factorizations: self.factorizations,
            work: self.work,
            velocity: self.best_velocity,
            islands: 1,
        }
    }

    fn stages(&mut self, guess: &[Vec3]) {
        let small = self.d.system_size() <= self.settings.newton_size && self.most_work > 0.0;
        if !small {
            self.aim = self.settings.tolerance;
        }
        let rows_alone = small && (0..self.d.contacts()).all(|c| matches!(self.d.law(c), RoundLaw::Rows(_)));
        if rows_alone {
            self.aim = self.aim.min(ROWS_ALONE);
        }
        let warm = guess.iter().any(|r| *r != Vec3::ZERO) && guess.iter().all(|r| r.is_finite());
        if warm {
            self.evaluate(guess, "warm");
            // What the last step left is not polished again and again.
            let kept = (STILL_GOOD * self.aim).min(self.settings.tolerance);
            if self.best_velocity * self.speed <= kept * self.least_speed {
                self.status = Some(Status::Converged);
            }
            if self.finished() {
                return;
            }
        }
        self.b.y.fill(Vec3::ZERO);
        let nothing = self.with(|s| &mut s.y, |chain, zero| chain.evaluate(zero, "zero"));
        if self.finished() {
            return;
        }
        // A warm start that is worse than nothing may be right but for a few contacts that have moved, which a few
        // sweeps mend; if they do not, it is dropped and `best` is zero.
        if warm && self.best_merit == nothing {
            self.reset_best();
            self.evaluate(guess, "warm");
            self.sweep_best(MENDING_SWEEPS);
            self.b.y.fill(Vec3::ZERO);
            self.with(|s| &mut s.y, |chain, zero| chain.evaluate(zero, "zero"));
        }
        // Stage 0.
        if rows_alone || (warm && small && self.b.best.iter().any(|r| *r != Vec3::ZERO)) {
            self.polish_best(1e-6, 6, 1.0);
        }
        if rows_alone {
            self.aim = self.settings.aim;
            if self.best_velocity <= self.aim {
                self.status = Some(Status::Converged);
            }
        }
        // Stage 1.
        for (sweeps, prox) in [(self.settings.first_sweeps, 1e-6), (self.settings.second_sweeps, 1e-10)] {
            if self.finished() || sweeps == 0 {
                break;
            }
            self.sweep_best(sweeps);
            if small {
                self.polish_while_it_pays(prox);
            }
        }
        // What is good enough is not worth the long way.
        self.aim = self.settings.tolerance;
        if self.best_velocity <= self.aim {
            self.status = Some(Status::Converged);
        }
        // Stage 2.
        for round in 0..self.settings.rounds {
            if self.finished() || self.most_work <= 0.0 {
                return;
            }
            if self.interior_point(round) && !self.finished() {
                self.proximal_point(Centre::Last, 1e-3);
            }
            if self.finished() {
                return;
            }
            self.sweep_best(10);
            self.polish_best(1e-6, 12, 6.0);
            if self.finished() {
                return;
            }
            self.proximal_point(Centre::Best(40 * (round + 1)), if round == 0 { 1e-2 } else { 1e-3 });
            self.polish_best(1e-6, 6, 1.0);
            if self.finished() {
                return;
            }
            self.admm(300 << round, if round == 0 { 100 } else { 300 });
            if self.finished() {
                return;
            }
            if let Some(contacts) = self.infeasible() {
                self.status = Some(Status::Infeasible(contacts));
                return;
            }
            self.continuation(round);
        }
    }

    /// Newton with a few sweeps between runs, as long as each run takes a decade off the merit.
    fn polish_while_it_pays(&mut self, prox: f64) {
        loop {
            let before = self.best_merit;
            self.polish_best(prox, 12, 6.0);
            if self.finished() || self.best_merit > 0.1 * before {
                return;
            }
            self.sweep_best(5);
        }
    }

    /// N(r) = ‖√d (r − P_K(r − û/d))‖₂. Leaves the velocities at `r` in `b.u`, keeps `r` if it is the best so
    /// far, and ends the chain when `r` meets the tolerance.
    pub fn evaluate(&mut self, r: &[Vec3], stage: &'static str) -> f64 {
        let mut u = std::mem::take(&mut self.b.u);
        self.d.velocity(r, &mut u);
        self.b.u = u;
        self.judge(r, stage)
    }

    /// The same where `b.u` already holds the velocities at `r`.
    pub fn judge(&mut self, r: &[Vec3], stage: &'static str) -> f64 {
        let (mut sum, mut worst) = (0.0, 0.0f64);
        for c in 0..r.len() {
            let s = self.d.scale(c);
            let e = self.law(c).natural_map(r[c], self.b.u[c], s).length();
            sum += s * e * e;
            worst = worst.max(s * e);
        }
        let merit = if f64::is_finite(sum) { sum.sqrt() } else { f64::INFINITY };
        let velocity = worst / self.speed;
        // At rounding, go on only while that still pays.
        if self.best_at_floor && merit > 0.5 * self.best_merit {
            self.status = Some(Status::Floor);
        }
        if merit < self.best_merit {
            self.best_merit = merit;
            self.best_velocity = velocity;
            self.b.best.copy_from_slice(r);
            if velocity <= self.aim {
                self.status = Some(Status::Converged);
            } else if velocity < FLOOR_AT_MOST {
                let error = backward_error(self.d, self.friction, r, &self.b.u, &mut self.b.size);
                self.best_at_floor = error <= FLOOR;
            }
        }
        if self.trace.wants() {
            let (iteration, factorizations) = (self.sweeps, self.factorizations);
            self.trace.record(TraceRecord { stage, iteration, factorizations, residual: velocity });
        }
        merit
    }

    /// What block `c` obeys in the present stage.
    #[inline(always)]
    pub fn law(&self, c: usize) -> RoundLaw {
        self.d.law(c).with_friction(self.friction)
    }

    /// Forgets what was best: the problem has changed.
    pub fn reset_best(&mut self) {
        (self.best_merit, self.best_velocity) = (f64::INFINITY, f64::INFINITY);
        (self.best_at_floor, self.status) = (false, None);
    }

    /// Solved, or out of budget.
    pub fn finished(&self) -> bool {
        self.status.is_some()
            || self.factorizations >= self.settings.max_factorizations
            || self.work > self.most_work
            || self.sweeps >= self.settings.max_sweeps
    }

    /// [`Delassus::factor`], counted.
    pub fn factor(&mut self, p: &[Mat3]) -> bool {
        let ok = self.d.factor(p);
        self.work += self.d.factor_work();
        ok
    }

    /// Counts a solve with the last factors that has no factorisation of its own: of n unknowns it costs n² where they cost n³/3.
    pub fn count_solve(&mut self) {
        self.work += 3.0 * self.d.factor_work() / self.d.system_size() as f64;
    }

    /// Calls `f` with one of the buffers taken out, and puts it back.
    pub fn with<T>(
        &mut self,
        which: impl Fn(&mut Buffers) -> &mut Vec<Vec3>,
        f: impl FnOnce(&mut Self, &mut [Vec3]) -> T,
    ) -> T {
        let mut taken = std::mem::take(which(self.b));
        let out = f(self, &mut taken);
        *which(self.b) = taken;
        out
    }
}
