//! `exact`, the default solver: Signorini's condition and Coulomb's friction to a stated residual.
//!
//! A chain of methods, each handing its best impulse to the next, all judged by one merit and sharing one
//! factorisation kernel:
//!
//! | stage | what | file |
//! |---|---|---|
//! | 0 | Alart–Curnier Newton from the impulses of the last step | `alart_curnier.rs` |
//! | 1 | Gauss–Seidel accelerated by nonlinear conjugate gradients (NNCG), then Newton; twice | `sweep.rs` |
//! | 1, islands too large for Newton | sweeps, then Newton on the few contacts that they leave | `patch.rs` |
//! | 2 | rounds of interior point, proximal point and ADMM, each polished by Newton | `interior_point.rs` (bounded rows: `interior_rows.rs`), `proximal_point.rs`, `admm.rs` |
//! | 2, each round | certificate of infeasibility; continuation where some μ > 1 | `infeasible.rs`, `continuation.rs` |
//!
//! Impulses stay in physical units; every constant is dimensionless because each contact is weighted by one
//! number, `d = trace(W_cc)/3`: scaled impulses are `√d r`, scaled velocities `u/√d`.
//!
//! Stops when `max d |r − P_K(r − û/d)| ≤ tolerance · V` with `V` the largest free velocity (or g·h), or when the
//! error is at rounding relative to the terms that cancel in it ([`Status::Floor`]).

mod admm;
mod alart_curnier;
mod chain;
mod continuation;
mod infeasible;
mod interior_point;
mod interior_rows;
mod patch;
mod proximal_point;
mod sweep;

use super::soft::{Inner, SoftSettings, SoftSolver};
use super::{ContactSolver, SolveReport, SolverSettings, Status, Trace};
use crate::contact::delassus::Delassus;
use crate::contact::delassus::bodies::Bodies;
use crate::contact::delassus::coupled::Coupled;
use crate::contact::delassus::local::{FormBuffers, LocalForm};
use crate::contact::delassus::path::Path;
use crate::contact::islands::Islands;
use crate::contact::{ContactProblem, LocalProblem, Solution};
use crate::linalg::Vec3;
use crate::linalg::parallel;
use crate::linalg::parallel::prelude::*;
use chain::{Buffers, Chain};
use patch::Patch;

/// Settings of the chain; the defaults are those that were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// An answer counts as converged when its velocity measure, relative to the velocity scale, is below this.
    /// 1e-9 for single problems, 1e-6 in time stepping, 1e-4 in real time.
    pub tolerance: f64,
    /// Stages 0 and 1 go on down to this, because a last Newton step costs little: the natural map then stays
    /// below 1e-8 m/s at free velocities of several m/s. Islands that are too large for Newton stop at `tolerance`.
    pub aim: f64,
    /// Sweeps of the first NNCG run in stage 1.
    pub first_sweeps: usize,
    /// Sweeps of the second NNCG run in stage 1.
    pub second_sweeps: usize,
    /// Most factorisations before giving up.
    pub max_factorizations: usize,
    /// Most multiplications in factors, over the square of the unknowns of an island (those of its systems, and three per contact);
    /// in time stepping of all solves of a step together. Sweeps are bounded by their number.
    pub most_work: f64,
    /// Most sweeps before giving up.
    pub max_sweeps: usize,
    /// Rounds of stage 2; 0 ends after stage 1.
    pub rounds: usize,
    /// Newton is tried in stages 0 and 1 only where its systems are at most this large.
    pub newton_size: usize,
    /// How soft islands find their steps.
    pub inner: Inner,
    /// Coupled islands of at most this many dofs, with few contacts, are solved on W, through a factor of A.
    pub most_direct: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tolerance: 1e-9,
            aim: 1e-9,
            first_sweeps: 100,
            second_sweeps: 300,
            max_factorizations: 4000,
            most_work: f64::INFINITY,
            max_sweeps: 4000,
            rounds: 8,
            newton_size: usize::MAX,
            inner: Inner::default(),
            most_direct: MOST_DIRECT,
        }
    }
}

impl Settings {
    /// For time stepping: every step aims as low as the default, but one that stage 1 has brought below 1e-6 of
    /// the velocity scale (g·h at rest) is not worth the long way of stage 2.
    pub fn stepping() -> Settings {
        Settings { tolerance: 1e-6, most_work: MOST_WORK, ..Settings::default() }
    }

    /// Stages 0 and 1 only, one short NNCG run, Newton for islands of up to a hundred bodies, and a looser
    /// tolerance: bounded work per step, linear in the size of a pile.
    pub fn realtime() -> Settings {
        Settings {
            tolerance: 1e-4,
            first_sweeps: 30,
            second_sweeps: 0,
            rounds: 0,
            newton_size: 600,
            most_work: MOST_WORK,
            ..Settings::default()
        }
    }

    /// For time stepping, with what was fastest at each size and stiffness of the experiment COND-crossover: soft islands
    /// mix steps of the multigrid instead of solving linear systems.
    pub fn auto() -> Settings {
        Settings { inner: Inner::Mixing, most_direct: MIXING_FROM, ..Settings::stepping() }
    }

    /// How a soft island finds its steps, and the unknowns from which it uses the multigrid. `auto` mixes steps of the multigrid on
    /// islands that are too small for linear solves with it; on larger ones these are as fast or faster. Many contacts hold a small body
    /// everywhere, so that sweeps alone do well; few leave it long waves, which `auto` gives to the multigrid sooner.
    fn soft(&self, p: &ContactProblem, blocks: &[u32], contacts: usize) -> SoftSettings {
        let nodes = blocks.iter().filter(|&&b| p.a.block(b as usize).1 == 3).count();
        let standard = SoftSettings { tolerance: self.tolerance, ..SoftSettings::default() };
        let is_small = 3 * nodes < standard.multigrid_from;
        let is_free = 3 * nodes >= HELD_FROM || 6 * contacts <= nodes;
        let mixes = is_small && (is_free || nodes < blocks.len());
        match self.inner {
            Inner::Mixing if mixes => {
                SoftSettings { inner: Inner::Mixing, multigrid_from: MIXING_FROM, ..standard }
            }
            Inner::Mixing | Inner::Krylov => standard,
        }
    }

    /// With what the user asked for; `max_iterations` bounds the sweeps.
    pub fn with(mut self, s: &SolverSettings) -> Settings {
        if let Some(tolerance) = s.tolerance {
            (self.tolerance, self.aim) = (tolerance, tolerance);
        }
        self.max_sweeps = s.max_iterations.unwrap_or(self.max_sweeps);
        self
    }
}

/// In which form an island was solved.
#[derive(Clone, Copy, Default)]
enum Form {
    /// On the velocities of its bodies.
    #[default]
    Bodies,
    /// On the beads of a path.
    Path,
    /// On its Delassus matrix.
    Coupled,
    /// On the velocities of its nodes.
    Soft,
    /// Not at all: A is not positive definite.
    Singular,
}

/// An island with everything that solving it needs; kept from step to step.
#[derive(Default)]
struct Lane {
    bodies: Bodies,
    path: Path,
    coupled: Coupled,
    soft: SoftSolver,
    form_buffers: FormBuffers,
    buffers: Buffers,
    patch: Patch,
    r: Vec<Vec3>,
    report: SolveReport,
    form: Form,
}

/// The default solver. Islands are solved apart, in parallel where there are several.
pub struct Exact {
    settings: Settings,
    islands: Islands,
    lanes: Vec<Lane>,
    /// Share of the work of the present step that is spent; nothing where each solve stands alone.
    spent: Option<f64>,
    /// Islands that are to be solved.
    wanted: Vec<bool>,
    /// Changed contacts of one island.
    part: Vec<u32>,
    local: Buffers,
}

/// The chain on any form of W, for solvers that come to one.
#[derive(Default)]
pub(crate) struct OnForm {
    buffers: Buffers,
}

impl OnForm {
    /// Solves `u = W r + q` from the guess in `r`; errors are judged by at least the speed `least` [m/s].
    pub fn solve(
        &mut self,
        form: &mut impl Delassus,
        settings: &Settings,
        least: f64,
        r: &mut [Vec3],
        trace: &mut dyn Trace,
    ) -> SolveReport {
        Chain::new(form, &mut self.buffers, settings, least, trace).run(r)
    }
}

/// Coupled islands whose parts (what A couples) have at most this many dofs and contacts each are solved on W, through
/// factors of A.
const MOST_DIRECT: usize = 1200;
const MOST_DIRECT_CONTACTS: usize = 30;
/// The same for islands of many parts, whose W is sparse, …
const MOST_CONTACTS_ON_ONE: usize = 80;
/// … with at most this many contacts in all.
const MOST_SPARSE_CONTACTS: usize = 3000;
/// … and others too where Newton in velocity space fails and there are at most this many contacts.
const MOST_COLUMNS: usize = 600;

/// `auto` mixes steps of the multigrid on soft islands of at least this many unknowns.
const MIXING_FROM: usize = 100;
/// … and where many contacts hold them of at least this many.
const HELD_FROM: usize = 1500;

/// [`Settings::most_work`] in time stepping: 190 times the largest share that a step of the gallery takes (52, in `domino`, with 351
/// factorisations); of dense systems in 177 contacts it allows 230 factorisations.
const MOST_WORK: f64 = 1e4;

/// With fewer contacts than this in all, starting threads costs more than it gains.
const PARALLEL_CONTACTS: usize = 64;

impl Exact {
    /// With settings.
    pub fn new(settings: Settings) -> Exact {
        Exact {
            settings,
            islands: Islands::default(),
            lanes: Vec::new(),
            spent: None,
            wanted: Vec::new(),
            part: Vec::new(),
            local: Buffers::default(),
        }
    }

    /// Solves a bare problem `u = W r + q`; `r` holds the guess on entry and the answer on return.
    pub fn solve_local(&mut self, p: &LocalProblem, r: &mut [Vec3], trace: &mut dyn Trace) -> SolveReport {
        let mut form = LocalForm::new(p);
        let mut report = Chain::new(&mut form, &mut self.local, &self.settings, 0.0, trace).run(r);
        report.islands = usize::from(!r.is_empty());
        report
    }

    /// Solves the islands that are wanted.
    fn solve_wanted(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        let own = Settings {
            most_work: self.settings.most_work * (1.0 - self.spent.unwrap_or(0.0)).max(0.0),
            ..self.settings
        };
        let (islands, settings, wanted) = (&self.islands, &own, &self.wanted);
        let n = islands.len();
        let (guess, lambda) = (&x.v, &x.lambda);
        let solve = |i: usize, lane: &mut Lane, trace: &mut dyn Trace| {
            let contacts = islands.contacts(i);
            lane.r.clear();
            lane.r.extend(contacts.iter().map(|&c| lambda[c as usize] / p.law[c as usize].stretch()));
            let speed = p.velocity_scale;
            let (blocks, direct) = (islands.blocks(i), settings.most_direct);
            let soft = islands.is_coupled(i) && is_large(p, blocks, contacts, direct, &mut lane.coupled);
            if soft {
                lane.soft.set(settings.soft(p, islands.blocks(i), contacts.len()));
                lane.report = lane.soft.solve_from(p, blocks, contacts, (guess, lambda), trace);
                lane.form = Form::Soft;
                if lane.report.status.is_solved() || contacts.len() > MOST_COLUMNS {
                    return;
                }
            }
            lane.report = if !islands.is_coupled(i) && lane.bodies.prepare(p, contacts) {
                lane.form = Form::Bodies;
                let large = lane.bodies.system_size() > settings.newton_size;
                let mut report = SolveReport { status: Status::Budget, islands: 1, ..SolveReport::default() };
                let warm = lane.r.iter().any(|r| *r != Vec3::ZERO);
                // At rest a few contacts have changed since the last step: no need to sweep over all the others.
                let (bodies, r) = (&mut lane.bodies, &mut lane.r);
                if !(large && warm && lane.patch.mend(p, contacts, bodies, settings, r, &mut report, trace)) {
                    let begun = report;
                    report = Chain::new(bodies, &mut lane.buffers, settings, speed, trace).run(r);
                    report.factorizations += begun.factorizations;
                    report.work += begun.work;
                    if report.status == Status::Budget && large {
                        lane.patch.mend(p, contacts, bodies, settings, r, &mut report, trace);
                    }
                }
                report
            } else if islands.is_coupled(i) && lane.path.prepare(p, blocks, contacts) {
                lane.form = Form::Path;
                Chain::new(&mut lane.path, &mut lane.buffers, settings, speed, trace).run(&mut lane.r)
            } else if lane.coupled.prepare(p, islands.blocks(i), contacts) {
                lane.form = Form::Coupled;
                let own = std::mem::take(&mut lane.form_buffers);
                let mut form = LocalForm::with_buffers(&lane.coupled.local, own);
                let report =
                    Chain::new(&mut form, &mut lane.buffers, settings, speed, trace).run(&mut lane.r);
                lane.form_buffers = form.into_buffers();
                report
            } else {
                lane.form = Form::Singular;
                SolveReport { status: Status::Budget, velocity: f64::INFINITY, ..SolveReport::default() }
            };
        };
        let lanes = &mut self.lanes[..n];
        if trace.wants() || n < 2 || p.contacts() < PARALLEL_CONTACTS || parallel::current_num_threads() < 2 {
            for (i, lane) in lanes.iter_mut().enumerate().filter(|(i, _)| wanted[*i]) {
                solve(i, lane, trace);
            }
        } else {
            let chosen = lanes.par_iter_mut().enumerate().filter(|(i, _)| wanted[*i]);
            chosen.for_each(|(i, lane)| solve(i, lane, &mut ()));
        }
        let mut report = SolveReport { islands: n, ..SolveReport::default() };
        let mut spent = 0.0_f64;
        for (i, lane) in self.lanes[..n].iter_mut().enumerate().filter(|(i, _)| wanted[*i]) {
            let contacts = self.islands.contacts(i);
            let system = match lane.form {
                Form::Bodies => lane.bodies.system_size(),
                Form::Path => lane.path.system_size(),
                Form::Coupled => 3 * contacts.len(),
                Form::Soft | Form::Singular => 0,
            };
            let unknowns = (system + 3 * contacts.len()) as f64;
            spent = spent.max(lane.report.work / (self.settings.most_work * unknowns * unknowns));
            match lane.form {
                Form::Soft => lane.soft.write(p, contacts, x),
                Form::Bodies | Form::Path | Form::Coupled | Form::Singular => {
                    for (&c, r) in contacts.iter().zip(&lane.r) {
                        x.lambda[c as usize] = *r * p.law[c as usize].stretch();
                    }
                }
            }
            match lane.form {
                Form::Bodies => lane.bodies.write_velocity(&lane.r, &mut x.v),
                Form::Path => lane.path.write_velocity(&lane.r, &mut x.v),
                Form::Coupled => {
                    lane.coupled.write_velocity(p, contacts, &x.lambda, &mut x.v);
                }
                Form::Soft | Form::Singular => {}
            }
            include(&mut report, &lane.report, |c| contacts[c] as usize);
        }
        self.spent = self.spent.map(|s| s + spent);
        report
    }
}

impl ContactSolver for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn start_step(&mut self) {
        self.spent = Some(0.0);
    }

    fn solve(&mut self, p: &ContactProblem, x: &mut Solution, trace: &mut dyn Trace) -> SolveReport {
        self.islands.find(p);
        let n = self.islands.len();
        x.v.resize(p.dofs(), 0.0);
        if self.lanes.len() < n {
            self.lanes.resize_with(n, Lane::default);
        }
        for i in (0..p.a.block_rows()).filter(|&i| self.islands.is_alone(i)) {
            let (d, n) = p.a.block(i);
            x.v[d..d + n].copy_from_slice(&p.b[d..d + n]);
            p.divide_block(i, &mut x.v);
        }
        self.wanted.clear();
        self.wanted.resize(n, true);
        self.solve_wanted(p, x, trace)
    }

    fn solve_again(
        &mut self,
        p: &ContactProblem,
        x: &mut Solution,
        changed: &[u32],
        before: &SolveReport,
        trace: &mut dyn Trace,
    ) -> SolveReport {
        self.islands.find(p);
        let (n, islands, settings) = (self.islands.len(), &self.islands, &self.settings);
        let is_large = |i: usize| 6 * islands.blocks(i).len() > settings.newton_size;
        if (0..n).any(|i| islands.is_coupled(i)) || !(0..n).any(is_large) {
            return self.solve(p, x, trace);
        }
        if self.lanes.len() < n {
            self.lanes.resize_with(n, Lane::default);
        }
        // Islands without a changed contact keep their answer, and what was said of it.
        let mut all =
            SolveReport { iterations: 0, factorizations: 0, work: 0.0, islands: n, ..before.clone() };
        self.wanted.clear();
        self.wanted.resize(n, false);
        for &c in changed {
            self.wanted[islands.of_contact(c as usize)] = true;
        }
        for i in (0..n).filter(|&i| is_large(i)) {
            if self.wanted[i] {
                self.part.clear();
                self.part.extend(changed.iter().filter(|&&c| islands.of_contact(c as usize) == i));
                let Lane { patch, report, .. } = &mut self.lanes[i];
                if patch.fit(p, islands.contacts(i), &self.part, settings, x, report, trace) {
                    include(&mut all, report, |c| patch.contact(c));
                    self.wanted[i] = false;
                }
            }
        }
        let rest = self.solve_wanted(p, x, trace);
        include(&mut all, &rest, |c| c);
        all
    }
}

/// True where Newton in velocity space beats factors. Chains of rigid bodies (rods) stay with the factor: it costs little
/// there, and Gauss–Seidel crawls along them. So do many small bodies, each of which has a factor of its own.
fn is_large(
    p: &ContactProblem,
    blocks: &[u32],
    contacts: &[u32],
    most_direct: usize,
    coupled: &mut Coupled,
) -> bool {
    let dofs: usize = blocks.iter().map(|&b| p.a.block(b as usize).1).sum();
    let nodes = blocks.iter().filter(|&&b| p.a.block(b as usize).1 == 3).count();
    if 2 * 3 * nodes <= dofs {
        return false;
    }
    let (largest, most) = coupled.find_parts(p, blocks, contacts);
    let few = contacts.len() <= MOST_DIRECT_CONTACTS;
    let sparse = most <= MOST_CONTACTS_ON_ONE && contacts.len() <= MOST_SPARSE_CONTACTS && largest < dofs / 2;
    largest > most_direct || !(few || sparse)
}

/// Adds the report on one island to that on all; `index` makes its contacts those of the whole problem.
fn include(all: &mut SolveReport, one: &SolveReport, index: impl Fn(usize) -> usize) {
    all.iterations = all.iterations.max(one.iterations);
    all.factorizations = all.factorizations.max(one.factorizations);
    all.work += one.work;
    all.velocity = all.velocity.max(one.velocity);
    let rank = |s: &Status| match s {
        Status::Converged => 0,
        Status::Floor => 1,
        Status::Budget => 2,
        Status::Infeasible(_) => 3,
    };
    if let Status::Infeasible(some) = &one.status {
        let mut named: Vec<usize> = some.iter().map(|&c| index(c)).collect();
        if let Status::Infeasible(others) = &all.status {
            named.extend_from_slice(others);
            named.sort_unstable();
        }
        all.status = Status::Infeasible(named);
    } else if rank(&one.status) > rank(&all.status) {
        all.status = one.status.clone();
    }
}
