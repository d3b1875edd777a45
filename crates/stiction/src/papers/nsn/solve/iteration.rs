//! The Newton loop (51), Algorithm 1: what is solved is behind [`Equations`], how is in [`NewtonSettings`].

use super::coupling::Coupling;
use super::linear::LinearSolver;
use super::schur::Schur;
use super::settings::{Breakdown, NewtonSettings, StepRule};
use super::stiffness::{Stiffness, SystemForm};
use crate::clock::Clock;
use crate::linalg::Real;
use crate::linalg::real::add_scaled;

/// Velocities and multipliers (impulses), row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iterate<T> {
    /// u [m/s].
    pub u: Vec<T>,
    /// λ h [N·s].
    pub lambda: Vec<T>,
}

/// A system of equations r(u, λ) = 0 with rows that are linearised at every iterate.
pub trait Equations<T> {
    /// Residuals g, h, the scale D and the compliance C at `x`; J and H too where they change with it.
    fn linearize(&mut self, x: &Iterate<T>, s: &mut Schur<T>);

    /// Error of the iterate that was linearised last, by which iterations end and trials are compared: the velocity
    /// measure, relative to the velocity scale.
    fn error(&mut self, x: &Iterate<T>, s: &Schur<T>) -> f64;

    /// Error by which iterations end, given that of the iterate that was judged last: smaller where parts of the answer were
    /// found on the way and are kept.
    fn settled(&self, error: f64) -> f64 {
        error
    }

    /// Called after each update (61)–(63) with the change of u, before the next linearisation.
    fn moved(&mut self, _from: &Iterate<T>, _to: &Iterate<T>, _s: &mut Schur<T>) {}
}

/// One iterate as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Newton iterations so far.
    pub iteration: usize,
    /// [`Equations::error`].
    pub error: f64,
    /// L∞ norm of the residual of the rows (58) [m/s].
    pub rows: f64,
    /// L∞ norm of the residual of the momentum balance (57) [N·s].
    pub momentum: f64,
    /// L2 norm of the whole residual.
    pub merit: f64,
    /// L∞ norm of the step (Δu, Δλ) that led here; 0 for the first iterate.
    pub step: f64,
    /// The share t of the Newton step that was taken.
    pub share: f64,
}

/// What the loop did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loop {
    /// Newton iterations.
    pub iterations: usize,
    /// Iterations of the linear solver in all.
    pub linear: usize,
    /// Factorisations.
    pub factorizations: usize,
    /// Error of the last iterate.
    pub error: f64,
    /// A linear solve broke down: the iterate before it is returned.
    pub broken: bool,
    /// Line searches that found no shorter step with a smaller residual.
    pub stalls: usize,
    /// Seconds spent in linear solves, for Δλ (59) and from it Δu (60).
    pub solving: f64,
    /// Seconds spent on judging iterates, with the linearisation of the last one.
    pub judging: f64,
}

impl Loop {
    /// This and then `next`: work adds up, the later error counts.
    pub fn and(self, next: Loop) -> Loop {
        Loop {
            iterations: self.iterations + next.iterations,
            linear: self.linear + next.linear,
            factorizations: self.factorizations + next.factorizations,
            stalls: self.stalls + next.stalls,
            solving: self.solving + next.solving,
            judging: self.judging + next.judging,
            ..next
        }
    }
}

/// The loop with its memory.
#[derive(Default)]
pub struct Newton<T> {
    /// The system of the last linearisation.
    pub system: Schur<T>,
    /// The linear solver.
    pub linear: LinearSolver<T>,
    stiffness: Stiffness<T>,
    coupling: Coupling<T>,
    zero: Vec<T>,
    b: Vec<T>,
    du: Vec<T>,
    dl: Vec<T>,
    from: Iterate<T>,
}

/// Most times that ε is made larger where a solve breaks down.
const MOST_SHIFTS: i32 = 4;
/// [`StepRule::Trusting`] shortens steps after which the error is so many times that before, by this, at most so often.
const FAR_OFF: f64 = 3.0;
const SHORTER: f64 = 0.3;
const MOST_SHORTER: usize = 4;

impl<T: Real> Newton<T> {
    /// Iterates from `x`; `watch` sees every iterate, the first included.
    pub fn run(
        &mut self,
        eq: &mut impl Equations<T>,
        x: &mut Iterate<T>,
        settings: &NewtonSettings,
        watch: &mut dyn FnMut(&Look),
    ) -> Loop {
        let mut did = Loop::default();
        let (mut step, mut share) = (0.0, 0.0);
        // The smallest error that counted as progress, and when it was reached.
        let (mut least, mut since) = (f64::INFINITY, 0);
        let mut before = f64::INFINITY;
        let mut shortened = 0;
        loop {
            let clock = Clock::start();
            eq.linearize(x, &mut self.system);
            let assembled = clock.seconds();
            did.error = eq.error(x, &self.system);
            let merit = self.system.residual_norm();
            watch(&Look {
                iteration: did.iterations,
                error: did.error,
                rows: largest(&self.system.h),
                momentum: largest(&self.system.g),
                merit,
                step,
                share,
            });
            // A step that leads far off is shortened.
            if settings.step == StepRule::Trusting
                && shortened < MOST_SHORTER
                && (did.error > FAR_OFF * before || did.error.is_nan())
            {
                shortened += 1;
                share *= SHORTER;
                self.advance(x, share);
                continue;
            }
            shortened = 0;
            // Judging is no part of the method; the last iterate is linearised for that alone.
            let looked = clock.seconds();
            did.judging += looked - assembled;
            if did.error < 0.9 * least {
                (least, since) = (did.error, did.iterations);
            }
            let settled = eq.settled(did.error);
            let stagnates = settings.patience > 0 && did.iterations >= since + settings.patience;
            if settled <= settings.tolerance || did.iterations >= settings.iterations || stagnates {
                did.error = settled;
                did.judging += assembled;
                return did;
            }
            // [D J H⁻¹ Jᵀ D + C] Δλ = D J H⁻¹ g − h                          (59)
            let clock = Clock::start();
            let s = &mut self.system;
            let direct = settings.linear.method.is_direct();
            let whole = direct || settings.linear.preconditioner.needs_matrix();
            let stiff = settings.form == SystemForm::Stiffness && !x.u.is_empty();
            s.prepare(settings.linear.product, whole && !stiff, settings.regularization);
            if stiff {
                s.take_known();
            } else {
                s.right_side(&mut self.b);
            }
            self.dl.resize(s.rows(), T::ZERO);
            self.du.resize(x.u.len(), T::ZERO);
            // … or [H + JᵀD C⁻¹ D J] Δu = −g − JᵀD C⁻¹ h                     (64)
            let mut solved = if stiff {
                self.stiffness.solve(s, &settings.linear, &mut self.du, &mut self.dl)
            } else {
                self.linear.solve(s, &self.b, &mut self.dl, &settings.linear)
            };
            for k in 1..=MOST_SHIFTS {
                if !solved.broken || settings.breakdown == Breakdown::Stop {
                    break;
                }
                let shift = settings.regularization.times(1e3_f64.powi(k));
                s.prepare(settings.linear.product, whole && !stiff, shift);
                solved = if stiff {
                    self.stiffness.solve(s, &settings.linear, &mut self.du, &mut self.dl)
                } else {
                    self.linear.solve(s, &self.b, &mut self.dl, &settings.linear)
                };
                did.factorizations += usize::from(direct);
            }
            if !solved.broken && !s.coupling.is_empty() {
                // Δu too, so that both forms go on alike.
                if !stiff {
                    s.velocity_step(&self.dl, &mut self.du);
                }
                let (linear, stiffness) = (&mut self.linear, &mut self.stiffness);
                solved.iterations += self.coupling.solve(s, (&mut self.du, &mut self.dl), |s, h, du, dl| {
                    if stiff {
                        self.zero.resize(du.len(), T::ZERO);
                        return stiffness.solve_again(s, &self.zero, h, &settings.linear, du, dl).iterations;
                    }
                    self.b.clear();
                    self.b.extend(h.iter().map(|h| -*h));
                    let solved = linear.solve_again(s, &self.b, dl, &settings.linear);
                    s.pushed(dl, du);
                    solved.iterations
                });
            }
            did.linear += solved.iterations;
            did.factorizations += usize::from(direct);
            did.iterations += 1;
            if solved.broken {
                did.solving += clock.seconds();
                did.broken = true;
                return did;
            }
            // Δu = H⁻¹(JᵀD Δλ − g)                                           (60)
            if !stiff && s.coupling.is_empty() {
                s.velocity_step(&self.dl, &mut self.du);
            }
            did.solving += clock.seconds();
            // λ += t Δλ, u += t Δu                                           (61), (62)
            self.from.clone_from(x);
            share = match settings.step {
                StepRule::Fixed(t) => {
                    self.advance(x, t);
                    t
                }
                StepRule::Trusting => {
                    let t = if did.error <= 0.5 * before { 1.0 } else { 0.75 };
                    self.advance(x, t);
                    t
                }
                StepRule::LineSearch(most) => self.search(eq, x, merit, most, &mut did),
            };
            step = share * largest(&self.du).max(largest(&self.dl));
            before = did.error;
            eq.moved(&self.from, x, &mut self.system);
        }
    }

    /// x = from + t (Δu, Δλ).
    fn advance(&self, x: &mut Iterate<T>, t: f64) {
        x.u.copy_from_slice(&self.from.u);
        x.lambda.copy_from_slice(&self.from.lambda);
        add_scaled(&mut x.u, T::of(t), &self.du);
        add_scaled(&mut x.lambda, T::of(t), &self.dl);
    }

    fn search(
        &mut self,
        eq: &mut impl Equations<T>,
        x: &mut Iterate<T>,
        before: f64,
        most: usize,
        did: &mut Loop,
    ) -> f64 {
        let mut t = 1.0;
        for _ in 0..=most {
            self.advance(x, t);
            eq.linearize(x, &mut self.system);
            if self.system.residual_norm() < before {
                return t;
            }
            t *= 0.5;
        }
        did.stalls += 1;
        2.0 * t
    }
}

/// Largest size, or not a number where one is not. Four at a time, which do not wait for each other.
fn largest<T: Real>(x: &[T]) -> f64 {
    let larger = |m: f64, size: f64| if size > m || size.is_nan() { size } else { m };
    let (fours, rest) = x.as_chunks::<4>();
    let mut most = [0.0; 4];
    for x in fours {
        for k in 0..4 {
            most[k] = larger(most[k], x[k].to_f64().abs());
        }
    }
    most.into_iter().chain(rest.iter().map(|x| x.to_f64().abs())).fold(0.0, larger)
}
