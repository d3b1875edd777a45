//! A search that is ready to run: stages of stiffness and horizon one after the other, from one start or from several.

use super::space::Space;
use super::task::Method;
use crate::failure::{Result, error};
use crate::interrupt::Interrupt;
use crate::progress;
use indicatif::ProgressBar;
use std::cell::Cell;
use stiction::diff::optimize::{
    AdamSettings, Bounds, CmaSettings, End, LbfgsSettings, LevenbergSettings, Minimum, adam, cma_es, lbfgs,
    levenberg_marquardt,
};
use stiction::diff::{Motion, Objective, ParamSet, Tape, Together};
use stiction::linalg::Rng;
use stiction::steppers::penalty::{Settings, System};

/// Without bounds, starts are drawn this far about the given one, as a share of its size or of one.
const FREE_SPREAD: f64 = 0.5;

/// What is searched, and how.
pub struct Job {
    /// The system.
    pub system: System,
    /// Its parameters.
    pub set: ParamSet,
    /// The numbers that set them.
    pub space: Space,
    /// Objectives with the roots of their shares.
    pub aims: Vec<(Box<dyn Objective>, f64)>,
    /// Stiffness of contacts [N/m] and steps, one after the other.
    pub stages: Vec<(f64, usize)>,
    /// How it is searched.
    pub method: Method,
    /// Most runs of a stage.
    pub evaluations: usize,
    /// A value that is small enough.
    pub goal: f64,
    /// Values that measurements were made with.
    pub truth: Vec<Option<f64>>,
    /// Starts beside the given one, and the seed that draws them.
    pub restarts: (usize, u64),
}

/// What a search found.
pub struct Found {
    /// The start that led there.
    pub start: Vec<f64>,
    /// The best point of the last stage.
    pub minimum: Minimum,
    /// Deviations of the numbers; infinite where they are not known.
    pub spread: Vec<f64>,
    /// Number of the run and the best value of its search so far.
    pub history: Vec<(f64, f64)>,
    /// Value at the end from every start.
    pub ends: Vec<f64>,
    /// Motions that broke off.
    pub broken: usize,
    /// Number and name of the signal that ended the search.
    pub interrupted: Option<(u8, &'static str)>,
}

/// The settings of one minimisation, and what is common to all of them.
struct Search<'a> {
    method: Method,
    evaluations: usize,
    goal: f64,
    bar: ProgressBar,
    interrupt: &'a Interrupt,
    /// Evaluations so far, and those whose motion broke off.
    seen: Cell<usize>,
    broken: Cell<usize>,
}

impl Search<'_> {
    /// True where one more evaluation may begin. The first one always may: without it there is no best point.
    fn goes_on(&self) -> bool {
        let on = self.seen.get() == 0 || self.interrupt.signal().is_none();
        if on {
            self.seen.set(self.seen.get() + 1);
            self.bar.inc(1);
        }
        on
    }

    fn broke_off(&self) {
        self.broken.set(self.broken.get() + 1);
    }
}

impl Job {
    /// Steps of the whole motion.
    pub fn steps(&self) -> usize {
        self.stages.last().map_or(0, |s| s.1)
    }

    /// The given start, and others.
    fn starts(&self) -> Vec<Vec<f64>> {
        let (count, seed) = self.restarts;
        let mut rng = Rng::new(seed);
        let mut all = vec![self.space.start.clone()];
        for _ in 0..count {
            let draw = |(x, (lo, hi)): (&f64, &(f64, f64))| {
                let u = rng.uniform();
                if lo.is_finite() && hi.is_finite() {
                    return lo + u * (hi - lo);
                }
                (x + FREE_SPREAD * x.abs().max(1.0) * (2.0 * u - 1.0)).max(*lo).min(*hi)
            };
            all.push(self.space.start.iter().zip(&self.space.bounds).map(draw).collect());
        }
        all
    }

    /// Searches from every start and keeps the best. A signal ends the search after the present evaluation.
    pub fn run(&mut self, interrupt: &Interrupt) -> Result<Found> {
        let aims = std::mem::take(&mut self.aims);
        let together = Together { parts: aims.iter().map(|(a, share)| (&**a, *share)).collect() };
        let objective: &dyn Objective = match &aims[..] {
            [only] => &*only.0,
            _ => &together,
        };
        let starts = self.starts();
        let (lo, hi) = self.space.bounds.iter().copied().unzip();
        let bounds = Bounds { lo, hi };
        let settings = *self.system.settings();
        let search = Search {
            method: self.method,
            evaluations: self.evaluations,
            goal: self.goal,
            bar: progress::bar((starts.len() * self.stages.len() * self.evaluations) as u64, "runs"),
            interrupt,
            seen: Cell::new(0),
            broken: Cell::new(0),
        };
        let (mut best, mut ends, mut runs): (Option<Found>, Vec<f64>, usize) = (None, Vec::new(), 0);
        let mut interrupted = None;
        for start in starts {
            let mut x = start.clone();
            let mut history = Vec::new();
            let (mut last, mut stages_begun) = (None, 0);
            for (stiffness, steps) in &self.stages {
                self.system.set_settings(Settings { stiffness: *stiffness, ..settings });
                search.bar.set_message(format!("k_n = {stiffness} N/m, {steps} steps"));
                let run = (&mut self.system, &mut self.set, *steps);
                let found = minimise(&search, run, &self.space, objective, &x, &bounds);
                if found.0.end == End::Stopped {
                    interrupted = search.interrupt.signal();
                }
                // A stage that was stopped before its first evaluation has found nothing.
                if found.0.evaluations > 0 {
                    x.clone_from(&found.0.x);
                    let curve = found.0.history.iter().enumerate();
                    history.extend(curve.map(|(i, v)| ((runs + i + 1) as f64, *v)));
                    runs += found.0.history.len();
                    last = Some(found);
                    stages_begun += 1;
                }
                if interrupted.is_some() {
                    break;
                }
            }
            let Some((minimum, spread)) = last else {
                if interrupted.is_some() {
                    break;
                }
                return Err(error("no stiffness", "leave `stiffness` out"));
            };
            let value = minimum.value;
            // What a start reached in softer or shorter stages is no match for the end of another.
            if stages_begun == self.stages.len() || best.is_none() {
                ends.push(value);
                if best.as_ref().is_none_or(|b| value < b.minimum.value) {
                    let (ends, broken) = (Vec::new(), 0);
                    best = Some(Found { start, minimum, spread, history, ends, broken, interrupted: None });
                }
            }
            if value <= self.goal || interrupted.is_some() {
                break;
            }
        }
        search.bar.finish_and_clear();
        drop(together);
        self.aims = aims;
        let mut best = best.ok_or_else(|| error("no start", "give one"))?;
        (best.ends, best.broken, best.interrupted) = (ends, search.broken.get(), interrupted);
        Ok(best)
    }
}

/// One minimisation; deviations of parameters where the method knows them.
fn minimise(
    search: &Search,
    (system, set, steps): (&mut System, &mut ParamSet, usize),
    space: &Space,
    objective: &dyn Objective,
    x: &[f64],
    bounds: &Bounds,
) -> (Minimum, Vec<f64>) {
    let n = x.len();
    let gradient = |x: &[f64]| {
        if !search.goes_on() {
            return None;
        }
        let run = set
            .apply(system, &space.values(x))
            .ok()
            .and_then(|()| Motion::run(system, set, steps, Tape::Full).ok()?.gradient(objective).ok());
        let Some(run) = run.filter(|g| g.value.is_finite()) else {
            search.broke_off();
            return Some((f64::NAN, vec![f64::NAN; n]));
        };
        let (mut value, mut g) = (run.value, space.pull(&run.gradient));
        let (rough, rows) = space.smoothness(x);
        for (r, row) in rough.iter().zip(&rows) {
            value += 0.5 * r * r;
            g.iter_mut().zip(row).for_each(|(g, d)| *g += r * d);
        }
        Some((value, g))
    };
    let (evaluations, goal) = (search.evaluations, search.goal);
    let unknown = vec![f64::INFINITY; n];
    match search.method {
        Method::Lbfgs => {
            let s = LbfgsSettings { evaluations, goal, ..LbfgsSettings::default() };
            (lbfgs(x, bounds, &s, gradient), unknown)
        }
        Method::Adam => {
            let s = AdamSettings { evaluations, goal, ..AdamSettings::default() };
            (adam(x, bounds, &s, gradient), unknown)
        }
        Method::Cma => {
            let spread: Vec<f64> = x.iter().map(|x| 0.1 * x.abs().max(1.0)).collect();
            let s = CmaSettings { evaluations, goal, ..CmaSettings::default() };
            let mut gradient = gradient;
            (cma_es(x, &spread, bounds, &s, |x| gradient(x).map(|g| g.0)), unknown)
        }
        Method::Levenberg => {
            let directions = space.directions();
            let rows = |x: &[f64]| {
                if !search.goes_on() {
                    return None;
                }
                let run = set.apply(system, &space.values(x)).ok().and_then(|()| {
                    Motion::run(system, set, steps, Tape::Full)
                        .ok()?
                        .sensitivities(objective, &directions)
                        .ok()
                });
                let (mut values, mut rows) = run.unwrap_or_else(|| {
                    search.broke_off();
                    (vec![f64::NAN], vec![vec![f64::NAN; n]])
                });
                let (rough, more) = space.smoothness(x);
                values.extend(rough);
                rows.extend(more);
                Some((values, rows))
            };
            let s = LevenbergSettings { evaluations, goal, ..LevenbergSettings::default() };
            levenberg_marquardt(x, bounds, &s, rows)
        }
    }
}
