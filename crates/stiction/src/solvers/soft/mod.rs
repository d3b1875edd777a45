//! Exact contact of soft islands: Newton on the Alart–Curnier form in velocity space.
//!
//! No Delassus matrix and no factor of A. Each Newton step guesses which contacts are open, stick or slip;
//! slaves of closed contacts are eliminated, v = T y, and `S (A v − b) = 0` is solved by flexible GMRES in the norm of
//! the inverse masses to a tenth of its start. Impulses are then read off the rows of the slaves.
//!
//! | part | file |
//! |---|---|
//! | local copy of the problem in 3×3 blocks | `island.rs` |
//! | open, stick, slip; slaves and held contacts; T and S | `modes.rs` |
//! | who slips next | `overload.rs` |
//! | block Gauss–Seidel in 32-bit numbers | `precondition.rs` |
//! | coarse levels for larger islands | `lattice.rs`, `multigrid.rs` |
//! | rigid bodies in it | `bodies.rs` |
//! | what is tried where Newton fails | `fixed_point.rs` |
//! | one preconditioned step at a time, mixed, instead of linear solves | `mixing.rs` |
//!
//! Converged when both the natural map (the yardstick's, [m/s]) and the momentum error ‖A v − b − Jᵀλ‖ in the norm of
//! the inverse masses, over √(mass of the nodes) [m/s], are below `tolerance` times the velocity scale.

mod bodies;
mod fixed_point;
mod lattice;
mod mixing;
mod modes;
mod multigrid;
mod overload;
mod precondition;

use super::{SolveReport, Status, Trace, TraceRecord};
use crate::contact::law::RoundLaw;
use crate::contact::law::cone;
use crate::contact::{ContactProblem, Solution};
use crate::linalg::krylov::{Fgmres, LinearSystem};
use crate::linalg::{Gives, Vec3};
use crate::solvers::island::Island;
use crate::solvers::island::acceleration::Accelerator;
use fixed_point::FixedPoint;
use modes::Modes;
use precondition::Preconditioner;

/// How a soft island is brought to its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inner {
    /// Newton steps, each with a linear solve by flexible GMRES.
    #[default]
    Krylov,
    /// One application of the preconditioner per step, mixed by Anderson's method; Newton where that stalls.
    Mixing,
}

/// Settings of the solver of soft islands; the defaults are those that were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftSettings {
    /// Natural map and momentum error, relative to the velocity scale, of a converged answer. 1e-6 in time stepping.
    pub tolerance: f64,
    /// Most Newton steps in a round.
    pub newton_steps: usize,
    /// Rounds of Newton; the fixed point comes between them.
    pub rounds: usize,
    /// Steps of the fixed point between two rounds.
    pub fallback_steps: usize,
    /// Most products with A in one Newton step.
    pub krylov_steps: usize,
    /// Islands of at least this many unknowns use the lattice multigrid, where the problem has places.
    pub multigrid_from: usize,
    /// How steps are found.
    pub inner: Inner,
    /// Most steps of the mixing.
    pub mixing_steps: usize,
    /// Most products with A in all.
    pub most_products: usize,
}

impl Default for SoftSettings {
    fn default() -> Self {
        SoftSettings {
            tolerance: 1e-6,
            newton_steps: 24,
            rounds: 3,
            fallback_steps: 150,
            krylov_steps: 60,
            multigrid_from: 3000,
            inner: Inner::Krylov,
            mixing_steps: 200,
            most_products: usize::MAX,
        }
    }
}

/// The predictor's step ρ is this over the contact's scale; larger ones cycle between open and slip.
const FIRST_FACTOR: f64 = 0.1;
/// Finer meshes need a smaller step, because contacts give way together while the scale is that of one node alone: from
/// this many contacts on the factor falls with the root of their number.
const FEW_CONTACTS: f64 = 400.0;
/// The factor shrinks by this after every so many Newton steps without progress.
const SHRINK: f64 = 0.3;
const SHRINK_AFTER: usize = 8;
/// A step that leaves more than this share of the error is tried shorter.
const SLOW: f64 = 0.9;
/// After this many steps without progress a shorter step is taken even where none is better than the start.
const PATIENCE: usize = 8;
/// Each linear solve reduces its residual by this.
const FORCING: f64 = 0.1;
/// … and by ten times more after each further Newton step that leaves nearly all of the error, down to this.
const LEAST_FORCING: f64 = 1e-4;
/// Where no contact changes its mode any more, by this.
const SETTLED: f64 = 1e-2;
/// A Newton step that leaves more than this share of the error was no progress.
const PROGRESS: f64 = 0.7;
/// After this many of them contacts that give way do not burden their neighbours any more.
const HANDING: usize = 3;
/// Linear solves stay as they are while steps leave less than this: the border of what slips moves on.
const MOVES_ON: f64 = 0.95;
/// The fixed point is judged after every so many steps.
const JUDGE_EVERY: usize = 10;
/// Coarse levels learn the modes in this many Newton steps of a solve.
const MASKED_STEPS: usize = 2;
/// Proximal softness of held contacts, as a share of the contact's scale: at first and at most, and at least. With small ones
/// contacts that say the same twice flip between open and closed.
const HOLD: f64 = 0.03;
const LEAST_HOLD: f64 = 1e-4;
/// It falls by this where no mode changes and a Newton step leaves more than the share `WELL` of the error.
const HARDER: f64 = 0.1;
const WELL: f64 = 0.3;
/// No linear solve goes below this share of the momentum tolerance.
const FLOOR_SHARE: f64 = 0.3;

/// Solver of soft islands. Keeps patterns and buffers from step to step: no allocation once settled.
#[derive(Default)]
pub struct SoftSolver {
    settings: SoftSettings,
    island: Island,
    modes: Modes,
    preconditioner: Preconditioner,
    krylov: Fgmres,
    fixed_point: FixedPoint,
    mixer: Accelerator,
    /// Weights of the mixing, one for each unknown.
    weight: Vec<f64>,
    now: Iterate,
    last: Iterate,
    full: Iterate,
    best: Iterate,
    step: Vec<f64>,
    work: Vec<f64>,
    places: Vec<Vec3>,
    gives: Gives,
}

/// The projected operator S A T with what held contacts add, and its preconditioner.
struct Projected<'a> {
    island: &'a Island,
    modes: &'a Modes,
    preconditioner: &'a mut Preconditioner,
    x: &'a mut Vec<f64>,
    gives: &'a mut Gives,
}

impl LinearSystem for Projected<'_> {
    fn apply(&mut self, y: &[f64], out: &mut [f64]) {
        self.x.copy_from_slice(y);
        self.modes.constrain(self.island, self.x, false);
        self.island.a.mul_parallel(self.x, out, self.gives);
        self.modes.add_held(self.island, self.x, out);
        self.modes.restrict(self.island, self.x, out, false);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        self.preconditioner.apply(self.island, r, z);
    }
}

/// What a solve aims at and has reached.
struct Goal {
    /// Velocity scale, tolerance and best error so far [m/s].
    scale: f64,
    tolerance: f64,
    best: f64,
    /// √ of the mass that momentum errors are spread over [√kg].
    heft: f64,
    /// Products with A.
    products: usize,
}

impl Goal {
    fn record(&self, stage: &'static str, error: f64) -> TraceRecord {
        TraceRecord { stage, iteration: self.products, factorizations: 0, residual: error / self.scale }
    }
}

/// Velocities, stretched impulses and velocities of the contacts, and the momentum error A v − b − Jᵀλ.
#[derive(Default)]
struct Iterate {
    v: Vec<f64>,
    lambda: Vec<Vec3>,
    u: Vec<Vec3>,
    r: Vec<f64>,
}

impl Iterate {
    fn resize(&mut self, dofs: usize, contacts: usize) {
        self.v.resize(dofs, 0.0);
        self.r.resize(dofs, 0.0);
        self.lambda.resize(contacts, Vec3::ZERO);
        self.u.resize(contacts, Vec3::ZERO);
    }

    fn clone_from(&mut self, o: &Iterate) {
        self.v.clone_from(&o.v);
        self.r.clone_from(&o.r);
        self.lambda.clone_from(&o.lambda);
        self.u.clone_from(&o.u);
    }

    /// a + t (b − a).
    fn blend(&mut self, a: &Iterate, b: &Iterate, t: f64) {
        let mix = |to: &mut [f64], a: &[f64], b: &[f64]| {
            for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                *to = a + t * (b - a);
            }
        };
        mix(&mut self.v, &a.v, &b.v);
        mix(&mut self.r, &a.r, &b.r);
        for c in 0..a.u.len() {
            self.u[c] = a.u[c].lerp(b.u[c], t);
            self.lambda[c] = a.lambda[c].lerp(b.lambda[c], t);
        }
    }
}

impl SoftSolver {
    /// With settings.
    pub fn new(settings: SoftSettings) -> SoftSolver {
        SoftSolver { settings, ..SoftSolver::default() }
    }

    /// Changes the settings and keeps everything else.
    pub fn set(&mut self, settings: SoftSettings) {
        self.settings = settings;
    }

    /// Solves the part of `p` made of these blocks and contacts, which no other block or contact may touch.
    ///
    /// `x` holds a guess on entry (velocities extrapolated from the last two steps are best) and the answer on return,
    /// both for these blocks and contacts only.
    pub fn solve(
        &mut self,
        p: &ContactProblem,
        blocks: &[u32],
        contacts: &[u32],
        x: &mut Solution,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        let report = self.solve_from(p, blocks, contacts, (&x.v, &x.lambda), trace);
        self.write(p, contacts, x);
        report
    }

    /// Writes the answer of the last solve, which was of these contacts, into that of the whole problem.
    pub fn write(&self, p: &ContactProblem, contacts: &[u32], x: &mut Solution) {
        self.island.scatter(&self.best.v, &mut x.v);
        for (&c, l) in contacts.iter().zip(&self.best.lambda) {
            x.lambda[c as usize] = *l * p.law[c as usize].stretch();
        }
    }

    /// As [`solve`](SoftSolver::solve), from a guess of the whole problem; [`write`](SoftSolver::write) has the answer.
    pub fn solve_from(
        &mut self,
        p: &ContactProblem,
        blocks: &[u32],
        contacts: &[u32],
        (v, lambda): (&[f64], &[Vec3]),
        trace: &mut dyn Trace,
    ) -> SolveReport {
        self.island.load(p, blocks, contacts);
        let n = self.island.dofs();
        self.places.clear();
        if n >= self.settings.multigrid_from && !p.places.is_empty() {
            self.places.extend(self.island.block.iter().map(|&b| p.places[b as usize]));
        }
        let places = if self.places.is_empty() { None } else { Some(&self.places[..]) };
        self.preconditioner.load(&mut self.island, places);
        for iterate in [&mut self.now, &mut self.last, &mut self.full, &mut self.best] {
            iterate.resize(n, contacts.len());
        }
        self.step.resize(n, 0.0);
        self.work.resize(n, 0.0);
        self.island.gather(v, &mut self.now.v);
        for (l, &c) in self.now.lambda.iter_mut().zip(contacts) {
            *l = lambda[c as usize] / p.law[c as usize].stretch();
        }
        // Errors are judged by the speed at which contacts close or slide; gaps that stay open do not count.
        let mut scale = p.velocity_scale.max(f64::MIN_POSITIVE);
        for (c, t) in self.island.touches.iter().enumerate() {
            let u = self.island.relative(t, &self.now.v) + t.bias + t.softness * self.now.lambda[c];
            scale = scale.max(match t.law {
                RoundLaw::Cone(_) => cone::tangent_norm(u).max(-u.x),
                rows => t.scale * rows.natural_map(Vec3::ZERO, u, t.scale).length(),
            });
            self.now.u[c] = u;
        }
        self.run(scale, trace)
    }

    /// Newton, and where it does not get there the fixed point and Newton again.
    fn run(&mut self, scale: f64, trace: &mut dyn Trace) -> SolveReport {
        let mut goal = Goal {
            scale,
            tolerance: self.settings.tolerance * scale,
            heft: self.heft(),
            best: f64::INFINITY,
            products: 0,
        };
        self.measure_guess();
        let mut error = self.error(goal.heft);
        self.note(error, &mut goal);
        if self.settings.inner == Inner::Mixing {
            self.mix(&mut goal, trace);
            error = goal.best;
            self.now.v.clone_from(&self.best.v);
            self.now.lambda.clone_from(&self.best.lambda);
            self.measure_guess();
        }
        for round in 0..self.settings.rounds {
            if round > 0 && !self.is_done(&goal) {
                error = self.fall_back(&mut goal, trace);
            }
            self.newton(error, &mut goal, trace);
        }
        let status = if goal.best <= goal.tolerance { Status::Converged } else { Status::Budget };
        SolveReport {
            status,
            iterations: goal.products,
            velocity: goal.best / scale,
            islands: 1,
            ..SolveReport::default()
        }
    }

    /// Newton steps from the current iterate, whose error is given.
    fn newton(&mut self, mut error: f64, goal: &mut Goal, trace: &mut dyn Trace) {
        let (mut factor, mut forcing) = (self.first_factor(), FORCING);
        let mut softness = HOLD;
        let mut bad = 0;
        for step in 0..self.settings.newton_steps {
            if self.is_done(goal) {
                return;
            }
            let guess = (&self.now.lambda[..], &self.now.u[..]);
            // Before the first step modes are those of another problem.
            let hand_on = step > 0 && bad < HANDING;
            let changed = self.modes.choose(&self.island, guess.0, guess.1, (factor, softness), hand_on) > 0;
            self.preconditioner.patch(&mut self.island, &self.modes);
            if step < MASKED_STEPS {
                self.preconditioner.mask_lattices(&self.island, &self.modes);
            }
            self.last.clone_from(&self.now);
            let settled = !changed && step > 0;
            let share = if settled { forcing.min(SETTLED) } else { forcing };
            let most = self.settings.krylov_steps.min(self.settings.most_products - goal.products);
            let products = self.linear_step(FLOOR_SHARE * goal.tolerance * goal.heft, share, most);
            goal.products += products;
            self.product();
            self.evaluate();
            let mut next = self.error(goal.heft);
            if next > SLOW * error && next > goal.tolerance && bad >= PATIENCE {
                next = self.shorten(next, error, goal.heft);
            }
            // Impulses of held contacts approach their answer by steps that a smaller softness makes longer, as long as
            // the linear solve can follow.
            if products >= self.settings.krylov_steps {
                softness = (softness / HARDER).min(HOLD);
            } else if settled && next > WELL * error {
                softness = (softness * HARDER).max(LEAST_HOLD);
            }
            error = next;
            trace.record(goal.record("newton", error));
            if error < PROGRESS * goal.best {
                bad = 0;
            } else {
                bad += 1;
                if bad > 1 && error > MOVES_ON * goal.best {
                    forcing = (0.1 * forcing).max(LEAST_FORCING);
                }
                if bad % SHRINK_AFTER == 0 {
                    factor *= SHRINK;
                }
            }
            self.note(error, goal);
        }
    }

    /// The fixed point from the best iterate; leaves its own best behind and returns the error of that.
    fn fall_back(&mut self, goal: &mut Goal, trace: &mut dyn Trace) -> f64 {
        self.now.v.clone_from(&self.best.v);
        self.now.lambda.clone_from(&self.best.lambda);
        self.fixed_point.start(&self.island, &self.now.v);
        let mut least = f64::INFINITY;
        for l in 1..=self.settings.fallback_steps {
            self.fixed_point.step(&self.island, &mut self.now);
            goal.products += 1;
            if l % JUDGE_EVERY != 0 && l != self.settings.fallback_steps {
                continue;
            }
            // The impulse belongs to the image, not to the mix.
            std::mem::swap(&mut self.now, &mut self.last);
            self.now.v.copy_from_slice(self.fixed_point.last_image());
            self.now.lambda.clone_from(&self.last.lambda);
            self.measure_guess();
            let error = self.error(goal.heft);
            trace.record(goal.record("fixed point", error));
            self.note(error, goal);
            if error < least {
                least = error;
                self.full.clone_from(&self.now);
            }
            std::mem::swap(&mut self.now, &mut self.last);
            if self.is_done(goal) {
                break;
            }
        }
        std::mem::swap(&mut self.now, &mut self.full);
        least
    }

    /// True where the goal is met, or no product is left.
    fn is_done(&self, goal: &Goal) -> bool {
        goal.best <= goal.tolerance || goal.products >= self.settings.most_products
    }

    /// Keeps the current iterate if it is the best so far.
    fn note(&mut self, error: f64, goal: &mut Goal) {
        if error < goal.best || goal.best.is_infinite() {
            goal.best = error;
            self.best.v.clone_from(&self.now.v);
            self.best.lambda.clone_from(&self.now.lambda);
        }
    }

    fn first_factor(&self) -> f64 {
        let crowd = self.island.touches.len() as f64 / FEW_CONTACTS;
        FIRST_FACTOR / crowd.max(1.0).sqrt()
    }

    /// Tries shorter steps between the last iterate and this one, whose errors are `start` and `full`; velocities,
    /// impulses and momentum errors are linear in the length. Takes the best where it is better than the
    /// start. Returns the error.
    fn shorten(&mut self, full: f64, start: f64, heft: f64) -> f64 {
        let (mut shortest, mut length) = (full, 1.0);
        std::mem::swap(&mut self.now, &mut self.full);
        for t in [0.5, 0.2, 0.08] {
            self.now.blend(&self.last, &self.full, t);
            let error = self.error(heft);
            if error < shortest {
                (shortest, length) = (error, t);
            }
        }
        if length < 1.0 && shortest < start {
            self.now.blend(&self.last, &self.full, length);
            return shortest;
        }
        std::mem::swap(&mut self.now, &mut self.full);
        full
    }

    /// √ of the mass that momentum errors are spread over: that of the nodes, or of all where there are none [√kg].
    fn heft(&self) -> f64 {
        let n = if self.island.nodes > 0 { 3 * self.island.nodes } else { self.island.dofs() };
        (self.island.mass[..n].iter().sum::<f64>() / 3.0).sqrt().max(f64::MIN_POSITIVE)
    }

    /// One linear solve with the current modes in at most so many products; updates `v`. Returns their number.
    fn linear_step(&mut self, floor: f64, forcing: f64, most: usize) -> usize {
        self.modes.constrain(&self.island, &mut self.now.v, true);
        self.product();
        self.residual();
        let start = self.push();
        let (island, now) = (&self.island, &mut self.now);
        self.step.fill(0.0);
        let mut system = Projected {
            island,
            modes: &self.modes,
            preconditioner: &mut self.preconditioner,
            x: &mut self.work,
            gives: &mut self.gives,
        };
        let krylov = self.krylov.solve(
            &mut system,
            &island.inverse_root,
            &now.r,
            &mut self.step,
            floor.max(forcing * start),
            most,
        );
        for (v, s) in now.v.iter_mut().zip(&self.step) {
            *v += s;
        }
        self.modes.constrain(island, &mut now.v, true);
        krylov.iterations
    }

    /// ‖r‖ in the norm of the inverse masses.
    fn push(&self) -> f64 {
        let r = self.now.r.iter().zip(&self.island.inverse_root);
        r.map(|(r, s)| (r * s) * (r * s)).sum::<f64>().sqrt()
    }

    /// work = A v − b at the current velocity.
    fn product(&mut self) {
        let (island, now) = (&self.island, &self.now);
        island.a.mul_parallel(&now.v, &mut self.work, &mut self.gives);
        for (r, b) in self.work.iter_mut().zip(&island.b) {
            *r -= b;
        }
    }

    /// r = −S (A v − b − Jᵀ λ_held) at the current velocity, whose product is known.
    fn residual(&mut self) {
        let (island, now) = (&self.island, &mut self.now);
        now.r.copy_from_slice(&self.work);
        self.modes.subtract_held(island, &now.v, &mut now.r);
        self.modes.restrict(island, &now.v, &mut now.r, true);
        for r in &mut now.r {
            *r = -*r;
        }
    }

    /// Impulses, contact velocities and momentum error at the current velocity, whose product is known.
    fn evaluate(&mut self) {
        let (island, now) = (&self.island, &mut self.now);
        now.r.copy_from_slice(&self.work);
        self.modes.impulses(island, &now.v, &mut now.r, &mut now.lambda);
        for (c, t) in island.touches.iter().enumerate() {
            now.u[c] = island.relative(t, &now.v) + t.bias + t.softness * now.lambda[c];
        }
    }

    /// Contact velocities and momentum error of the guess, whose impulses are given.
    fn measure_guess(&mut self) {
        let (island, now) = (&self.island, &mut self.now);
        island.a.mul_parallel(&now.v, &mut now.r, &mut self.gives);
        for (r, b) in now.r.iter_mut().zip(&island.b) {
            *r -= b;
        }
        for (c, t) in island.touches.iter().enumerate() {
            now.u[c] = island.relative(t, &now.v) + t.bias + t.softness * now.lambda[c];
            island.add_impulse(t, -now.lambda[c], &mut now.r);
        }
    }

    /// The larger of natural map and momentum error [m/s]; infinite where a number is not finite.
    fn error(&self, heft: f64) -> f64 {
        let (island, now) = (&self.island, &self.now);
        let mut worst = self.push() / heft;
        for (c, t) in island.touches.iter().enumerate() {
            let map = t.scale * t.law.natural_map(now.lambda[c], now.u[c], t.scale).length();
            if map > worst || map.is_nan() {
                worst = map;
            }
        }
        if worst.is_nan() { f64::INFINITY } else { worst }
    }
}
