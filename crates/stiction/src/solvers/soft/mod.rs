//! Exact contact of soft islands: Newton on the Alart–Curnier form in velocity space.
//!
//! No Delassus matrix and no factor of A. Each Newton step guesses which contacts are open, stick or slip ([`modes`]);
//! slaves of closed contacts are eliminated, v = T y, and `S (A v − b) = 0` is solved by flexible GMRES in the norm of
//! the inverse masses to a tenth of its start. Impulses are then read off the rows of the slaves.
//!
//! | part | file |
//! |---|---|
//! | local copy of the problem in 3×3 blocks | `island.rs` |
//! | open, stick, slip; slaves and held contacts; T and S | `modes.rs` |
//! | block Gauss–Seidel in 32-bit numbers | `precondition.rs` |
//! | coarse levels for larger islands | `lattice.rs`, `multigrid.rs` |
//! | rigid bodies in it | `bodies.rs` |
//!
//! Converged when both the natural map (the yardstick's, [m/s]) and the momentum error ‖A v − b − Jᵀλ‖ in the norm of
//! the inverse masses, over √(mass of the nodes) [m/s], are below `tolerance` times the velocity scale.

mod bodies;
mod island;
mod lattice;
mod modes;
mod multigrid;
mod precondition;

use super::{SolveReport, Status, Trace, TraceRecord};
use crate::contact::{ContactProblem, Solution, cone};
use crate::linalg::Vec3;
use crate::linalg::krylov::{Fgmres, LinearSystem};
use island::Island;
use modes::Modes;
use precondition::Preconditioner;

/// Settings of the solver of soft islands; the defaults are those that were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftSettings {
    /// Natural map and momentum error, relative to the velocity scale, of a converged answer. 1e-6 in time stepping.
    pub tolerance: f64,
    /// Most Newton steps.
    pub newton_steps: usize,
    /// Most products with A in one Newton step.
    pub krylov_steps: usize,
    /// Islands of at least this many unknowns use the lattice multigrid, where the problem has places.
    pub multigrid_from: usize,
}

impl Default for SoftSettings {
    fn default() -> Self {
        SoftSettings { tolerance: 1e-6, newton_steps: 40, krylov_steps: 60, multigrid_from: 5000 }
    }
}

/// The predictor's step is this over the contact's scale; larger ones cycle between open and slip.
const FIRST_FACTOR: f64 = 0.1;
/// The factor shrinks by this after every so many Newton steps.
const SHRINK: f64 = 0.3;
const SHRINK_AFTER: usize = 8;
/// Each linear solve reduces its residual by this.
const FORCING: f64 = 0.1;
/// … and by ten times more after each Newton step that was no progress, down to this.
const LEAST_FORCING: f64 = 1e-4;
/// A Newton step that leaves more than this share of the error was no progress.
const PROGRESS: f64 = 0.7;
/// Coarse levels learn the modes in this many Newton steps of a solve.
const MASKED_STEPS: usize = 2;
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
    v: Vec<f64>,
    lambda: Vec<Vec3>,
    u: Vec<Vec3>,
    r: Vec<f64>,
    step: Vec<f64>,
    work: Vec<f64>,
    best_v: Vec<f64>,
    best_lambda: Vec<Vec3>,
    places: Vec<Vec3>,
}

/// The projected operator S A T with what held contacts add, and its preconditioner.
struct Projected<'a> {
    island: &'a Island,
    modes: &'a Modes,
    preconditioner: &'a mut Preconditioner,
    x: &'a mut Vec<f64>,
}

impl LinearSystem for Projected<'_> {
    fn apply(&mut self, y: &[f64], out: &mut [f64]) {
        self.x.copy_from_slice(y);
        self.modes.constrain(self.island, self.x, false);
        self.island.a.mul(self.x, out);
        self.modes.add_held(self.island, self.x, out);
        self.modes.restrict(self.island, self.x, out, false);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        self.preconditioner.apply(self.island, r, z);
    }
}

/// How far an iterate is from the answer [m/s].
#[derive(Clone, Copy)]
struct Error {
    natural: f64,
    momentum: f64,
}

impl Error {
    fn worst(self) -> f64 {
        // Not a number counts as infinitely bad.
        if self.natural.is_nan() || self.momentum.is_nan() {
            f64::INFINITY
        } else {
            self.natural.max(self.momentum)
        }
    }
}

impl SoftSolver {
    /// With settings.
    pub fn new(settings: SoftSettings) -> SoftSolver {
        SoftSolver { settings, ..SoftSolver::default() }
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
        self.island.load(p, blocks, contacts);
        let n = self.island.dofs();
        self.places.clear();
        if n >= self.settings.multigrid_from && !p.places.is_empty() {
            self.places.extend(self.island.block.iter().map(|&b| p.places[b as usize]));
        }
        let places = if self.places.is_empty() { None } else { Some(&self.places[..]) };
        self.preconditioner.load(&mut self.island, places);
        self.island.gather(&x.v, &mut self.v);
        self.lambda.clear();
        self.lambda.extend(contacts.iter().map(|&c| x.lambda[c as usize] / p.friction[c as usize].stretch()));
        self.u.resize(contacts.len(), Vec3::ZERO);
        for buffer in [&mut self.r, &mut self.step, &mut self.work] {
            buffer.resize(n, 0.0);
        }
        // Errors are judged by the speed at which contacts close or slide; gaps that stay open do not count.
        let mut scale = p.velocity_scale.max(f64::MIN_POSITIVE);
        for (c, t) in self.island.touches.iter().enumerate() {
            self.u[c] = self.island.relative(t, &self.v) + t.bias + t.softness * self.lambda[c];
            scale = scale.max(-self.u[c].x).max(cone::tangent_norm(self.u[c]));
        }
        let report = self.newton(scale, trace);
        self.preconditioner.learn(report.iterations);
        self.island.scatter(&self.best_v, &mut x.v);
        for (&c, l) in contacts.iter().zip(&self.best_lambda) {
            x.lambda[c as usize] = *l * p.friction[c as usize].stretch();
        }
        report
    }

    fn newton(&mut self, scale: f64, trace: &mut dyn Trace) -> SolveReport {
        let tolerance = self.settings.tolerance * scale;
        let heft = self.heft();
        let mut report = SolveReport { status: Status::Budget, islands: 1, ..SolveReport::default() };
        let (mut factor, mut forcing) = (FIRST_FACTOR, FORCING);
        let mut best = f64::INFINITY;
        for step in 0..self.settings.newton_steps {
            if step > 0 && step % SHRINK_AFTER == 0 {
                factor *= SHRINK;
            }
            self.modes.choose(&self.island, &self.lambda, &self.u, factor);
            self.preconditioner.patch(&mut self.island, &self.modes);
            if step < MASKED_STEPS {
                self.preconditioner.mask_lattices(&self.island, &self.modes);
            }
            report.iterations += self.linear_step(FLOOR_SHARE * tolerance * heft, forcing);
            let error = self.evaluate(heft);
            trace.record(TraceRecord {
                stage: "newton",
                iteration: report.iterations,
                factorizations: 0,
                residual: error.worst() / scale,
            });
            if error.worst() > PROGRESS * best {
                forcing = (0.1 * forcing).max(LEAST_FORCING);
            }
            if error.worst() < best || step == 0 {
                best = error.worst();
                self.best_v.clone_from(&self.v);
                self.best_lambda.clone_from(&self.lambda);
            }
            if best <= tolerance {
                report.status = Status::Converged;
                break;
            }
        }
        report.velocity = best / scale;
        report
    }

    /// √ of the mass that momentum errors are spread over: that of the nodes, or of all where there are none [√kg].
    fn heft(&self) -> f64 {
        let n = if self.island.nodes > 0 { 3 * self.island.nodes } else { self.island.dofs() };
        (self.island.mass[..n].iter().sum::<f64>() / 3.0).sqrt().max(f64::MIN_POSITIVE)
    }

    /// One linear solve with the current modes; updates `v`. Returns the number of products.
    fn linear_step(&mut self, floor: f64, forcing: f64) -> usize {
        let island = &self.island;
        self.modes.constrain(island, &mut self.v, true);
        // r = −S (A v − b − Jᵀ λ_held).
        island.a.mul(&self.v, &mut self.r);
        for (r, b) in self.r.iter_mut().zip(&island.b) {
            *r -= b;
        }
        self.modes.subtract_held(island, &self.v, &mut self.r);
        self.modes.restrict(island, &self.v, &mut self.r, true);
        for r in &mut self.r {
            *r = -*r;
        }
        let start =
            self.r.iter().zip(&island.inverse_root).map(|(r, s)| (r * s) * (r * s)).sum::<f64>().sqrt();
        self.step.fill(0.0);
        let mut system = Projected {
            island,
            modes: &self.modes,
            preconditioner: &mut self.preconditioner,
            x: &mut self.work,
        };
        let krylov = self.krylov.solve(
            &mut system,
            &island.inverse_root,
            &self.r,
            &mut self.step,
            floor.max(forcing * start),
            self.settings.krylov_steps,
        );
        for (v, s) in self.v.iter_mut().zip(&self.step) {
            *v += s;
        }
        self.modes.constrain(island, &mut self.v, true);
        krylov.iterations
    }

    /// Impulses and velocities of the contacts at `v`, and the error that is left.
    fn evaluate(&mut self, heft: f64) -> Error {
        let island = &self.island;
        island.a.mul(&self.v, &mut self.r);
        for (r, b) in self.r.iter_mut().zip(&island.b) {
            *r -= b;
        }
        self.modes.impulses(island, &self.v, &mut self.r, &mut self.lambda);
        let mut natural = 0.0_f64;
        for (c, t) in island.touches.iter().enumerate() {
            self.u[c] = island.relative(t, &self.v) + t.bias + t.softness * self.lambda[c];
            let map = t.scale * cone::natural_map(self.lambda[c], self.u[c], t.mu, t.scale).length();
            natural = if map.is_nan() { f64::INFINITY } else { natural.max(map) };
        }
        let sum: f64 = self.r.iter().zip(&island.inverse_root).map(|(r, s)| (r * s) * (r * s)).sum();
        Error { natural, momentum: sum.sqrt() / heft }
    }
}
