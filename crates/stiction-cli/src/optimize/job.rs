//! A search that is ready to run: stages of stiffness and horizon one after the other, from one start or from several.

use super::space::Space;
use super::task::Method;
use crate::failure::{Result, error};
use crate::progress;
use indicatif::ProgressBar;
use std::cell::Cell;
use stiction::diff::optimize::{
    AdamSettings, Bounds, CmaSettings, LbfgsSettings, LevenbergSettings, Minimum, adam, cma_es, lbfgs,
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
}

/// The settings of one minimisation.
struct Search {
    method: Method,
    evaluations: usize,
    goal: f64,
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

    /// Searches from every start and keeps the best.
    pub fn run(&mut self) -> Result<Found> {
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
        let search = Search { method: self.method, evaluations: self.evaluations, goal: self.goal };
        let broken = Cell::new(0);
        let bar = progress::bar((starts.len() * self.stages.len() * self.evaluations) as u64, "runs");
        let (mut best, mut ends, mut runs): (Option<Found>, Vec<f64>, usize) = (None, Vec::new(), 0);
        for start in starts {
            let mut x = start.clone();
            let mut history = Vec::new();
            let mut last = None;
            for (stiffness, steps) in &self.stages {
                self.system.set_settings(Settings { stiffness: *stiffness, ..settings });
                bar.set_message(format!("k_n = {stiffness} N/m, {steps} steps"));
                let run = (&mut self.system, &mut self.set, *steps);
                let found = minimise(&search, run, &self.space, objective, &x, &bounds, (&bar, &broken));
                x.clone_from(&found.0.x);
                history.extend(found.0.history.iter().enumerate().map(|(i, v)| ((runs + i + 1) as f64, *v)));
                runs += found.0.history.len();
                last = Some(found);
            }
            let Some((minimum, spread)) = last else {
                return Err(error("no stiffness", "leave `stiffness` out"));
            };
            let value = minimum.value;
            ends.push(value);
            if best.as_ref().is_none_or(|b| value < b.minimum.value) {
                best = Some(Found { start, minimum, spread, history, ends: Vec::new(), broken: 0 });
            }
            if value <= self.goal {
                break;
            }
        }
        bar.finish_and_clear();
        drop(together);
        self.aims = aims;
        let mut best = best.ok_or_else(|| error("no start", "give one"))?;
        (best.ends, best.broken) = (ends, broken.get());
        Ok(best)
    }
}

/// One minimisation; deviations of parameters where the method knows them.
fn minimise(
    job: &Search,
    (system, set, steps): (&mut System, &mut ParamSet, usize),
    space: &Space,
    objective: &dyn Objective,
    x: &[f64],
    bounds: &Bounds,
    (bar, broken): (&ProgressBar, &Cell<usize>),
) -> (Minimum, Vec<f64>) {
    let n = x.len();
    let gradient = |x: &[f64]| {
        bar.inc(1);
        let run = set
            .apply(system, &space.values(x))
            .ok()
            .and_then(|()| Motion::run(system, set, steps, Tape::Full).ok()?.gradient(objective).ok());
        let Some(run) = run.filter(|g| g.value.is_finite()) else {
            broken.set(broken.get() + 1);
            return (f64::NAN, vec![f64::NAN; n]);
        };
        let (mut value, mut g) = (run.value, space.pull(&run.gradient));
        let (rough, rows) = space.smoothness(x);
        for (r, row) in rough.iter().zip(&rows) {
            value += 0.5 * r * r;
            g.iter_mut().zip(row).for_each(|(g, d)| *g += r * d);
        }
        (value, g)
    };
    let (evaluations, goal) = (job.evaluations, job.goal);
    let unknown = vec![f64::INFINITY; n];
    match job.method {
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
            (cma_es(x, &spread, bounds, &s, |x| gradient(x).0), unknown)
        }
        Method::Levenberg => {
            let directions = space.directions();
            let rows = |x: &[f64]| {
                bar.inc(1);
                let run = set.apply(system, &space.values(x)).ok().and_then(|()| {
                    Motion::run(system, set, steps, Tape::Full)
                        .ok()?
                        .sensitivities(objective, &directions)
                        .ok()
                });
                let (mut values, mut rows) = run.unwrap_or_else(|| {
                    broken.set(broken.get() + 1);
                    (vec![f64::NAN], vec![vec![f64::NAN; n]])
                });
                let (rough, more) = space.smoothness(x);
                values.extend(rough);
                rows.extend(more);
                (values, rows)
            };
            let s = LevenbergSettings { evaluations, goal, ..LevenbergSettings::default() };
            levenberg_marquardt(x, bounds, &s, rows)
        }
    }
}
