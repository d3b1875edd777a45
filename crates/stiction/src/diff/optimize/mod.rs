//! Minimisation of Φ(p): with gradients (L-BFGS, Adam), with sensitivities (Levenberg–Marquardt), without (CMA-ES).
//!
//! All keep the best point seen, obey bounds, count evaluations and say why they ended; a Φ that is not a number counts as
//! infinitely bad and never becomes the best. Whoever evaluates Φ may stop a search by answering `None`.

mod adam;
mod cma;
mod lbfgs;
mod levenberg;

pub(crate) use adam::Moments;
pub use adam::{AdamSettings, adam};
pub use cma::{CmaSettings, cma_es};
pub use lbfgs::{LbfgsSettings, lbfgs};
pub use levenberg::{LevenbergSettings, levenberg_marquardt};

/// Why a minimisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Φ fell below the goal.
    Goal,
    /// The gradient (projected on the bounds) vanished, or nothing smaller was found along it.
    Stationary,
    /// Φ does not depend on any parameter.
    NoSensitivity,
    /// Out of evaluations.
    Budget,
    /// Φ was no number at the start.
    NotFinite,
    /// Whoever evaluates Φ asked for the end.
    Stopped,
}

impl End {
    /// In words, with the remedy where there is one.
    pub fn describe(self) -> &'static str {
        match self {
            End::Goal => "reached the goal",
            End::Stationary => {
                "no smaller value near by; try another start, bounds, or softer contacts first"
            }
            End::NoSensitivity => {
                "the objective does not depend on these parameters; choose others or another objective"
            }
            End::Budget => "out of evaluations; allow more, or resume from the best point",
            End::NotFinite => "the objective is no number at the start; choose another start",
            End::Stopped => "stopped before its end; resume from the best point",
        }
    }
}

/// What a minimisation found.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// The best point.
    pub x: Vec<f64>,
    /// Φ there.
    pub value: f64,
    /// Evaluations of Φ, with or without gradient.
    pub evaluations: usize,
    /// Best Φ after each evaluation.
    pub history: Vec<f64>,
    /// Why it ended.
    pub end: End,
}

/// Least and largest value of each parameter; infinite for none.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Least.
    pub lo: Vec<f64>,
    /// Largest.
    pub hi: Vec<f64>,
}

impl Bounds {
    /// None at all.
    pub fn none(n: usize) -> Bounds {
        Bounds { lo: vec![f64::NEG_INFINITY; n], hi: vec![f64::INFINITY; n] }
    }

    /// The nearest point within.
    pub fn clamp(&self, x: &mut [f64]) {
        for (i, x) in x.iter_mut().enumerate() {
            *x = x.max(self.lo[i]).min(self.hi[i]);
        }
    }

    /// The first parameter whose bounds cross, if any.
    pub fn crossed(&self) -> Option<usize> {
        (0..self.lo.len()).find(|&i| self.lo[i].is_nan() || self.hi[i].is_nan() || self.lo[i] > self.hi[i])
    }
}

/// Keeps the best point and the curve.
struct Record {
    best: Minimum,
}

impl Record {
    fn new(x: &[f64]) -> Record {
        let (x, history) = (x.to_vec(), Vec::new());
        Record { best: Minimum { x, value: f64::INFINITY, evaluations: 0, history, end: End::Budget } }
    }

    fn see(&mut self, x: &[f64], value: f64) {
        self.best.evaluations += 1;
        if value < self.best.value {
            self.best.value = value;
            self.best.x = x.to_vec();
        }
        self.best.history.push(self.best.value);
    }

    fn end(mut self, end: End) -> Minimum {
        self.best.end = end;
        self.best
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b])
    }

    #[test]
    fn all_find_the_valley() {
        let start = [-1.2, 1.0];
        let none = Bounds::none(2);
        let m = lbfgs(&start, &none, &LbfgsSettings { goal: 1e-20, ..Default::default() }, rosenbrock);
        assert!(m.end == End::Goal && m.evaluations < 80, "L-BFGS: {m:?}");
        let residuals = |x: &[f64]| {
            let r = vec![1.0 - x[0], 10.0 * (x[1] - x[0] * x[0])];
            (r, vec![vec![-1.0, 0.0], vec![-20.0 * x[0], 10.0]])
        };
        let (m, _) = levenberg_marquardt(
            &start,
            &none,
            &LevenbergSettings { goal: 1e-20, ..Default::default() },
            residuals,
        );
        assert!(m.end == End::Goal && m.evaluations < 60, "Levenberg–Marquardt: {m:?}");
        let settings = CmaSettings { goal: 1e-12, evaluations: 4000, ..Default::default() };
        let m = cma_es(&start, &[0.5, 0.5], &none, &settings, |x| rosenbrock(x).0);
        assert!(m.end == End::Goal, "CMA-ES: {} after {}", m.value, m.evaluations);
        let settings = AdamSettings { rate: 0.05, evaluations: 3000, goal: 1e-6, ..Default::default() };
        let m = adam(&start, &none, &settings, rosenbrock);
        assert!(m.value < 1e-3, "Adam: {}", m.value);
    }

    #[test]
    fn bounds_hold_and_the_best_point_is_kept() {
        let bounds = Bounds { lo: vec![-2.0, -2.0], hi: vec![0.5, 2.0] };
        let m = lbfgs(&[-1.0, 1.0], &bounds, &LbfgsSettings::default(), rosenbrock);
        assert!(m.x[0] <= 0.5 && (m.x[0] - 0.5).abs() < 1e-6 && (m.x[1] - 0.25).abs() < 1e-5, "{m:?}");
        // A function that becomes no number: what was found before stays.
        let f = |x: &[f64]| if x[0] > 0.2 { (f64::NAN, vec![f64::NAN]) } else { (-x[0], vec![-1.0]) };
        let m = lbfgs(&[0.0], &Bounds::none(1), &LbfgsSettings::default(), f);
        assert!(m.value.is_finite() && m.x[0] <= 0.2);
        // The same for the others: the way down leads out of what can be evaluated.
        let value = |x: &[f64]| if x[0] > 0.2 { f64::NAN } else { 1.0 - x[0] };
        let settings = AdamSettings { rate: 0.05, evaluations: 60, ..Default::default() };
        let slope = |x: &[f64]| (value(x), vec![if x[0] > 0.2 { f64::NAN } else { -1.0 }]);
        let found = [
            adam(&[0.0], &Bounds::none(1), &settings, slope),
            levenberg_marquardt(&[0.0], &Bounds::none(1), &LevenbergSettings::default(), |x| {
                (vec![value(x)], vec![vec![-1.0]])
            })
            .0,
            cma_es(
                &[0.0],
                &[0.1],
                &Bounds::none(1),
                &CmaSettings { evaluations: 200, ..Default::default() },
                value,
            ),
        ];
        for m in found {
            assert!(m.value.is_finite() && m.x[0] > 0.1 && m.x[0] <= 0.2, "{m:?}");
        }
        let flat = |_: &[f64]| (1.0, vec![0.0]);
        assert_eq!(lbfgs(&[0.0], &Bounds::none(1), &LbfgsSettings::default(), flat).end, End::NoSensitivity);
    }

    #[test]
    fn a_search_that_is_stopped_keeps_its_best_point() {
        let (none, start) = (Bounds::none(2), [-1.2, 1.0]);
        // Answers so many times.
        let answers = |most: usize| {
            let mut left = most;
            move |x: &[f64]| {
                let (value, slope) = rosenbrock(x);
                left.checked_sub(1).map(|rest| {
                    left = rest;
                    (value, slope)
                })
            }
        };
        for most in [0, 1, 7] {
            let mut value = answers(most);
            let mut rows = answers(most);
            let found = [
                lbfgs(&start, &none, &LbfgsSettings::default(), answers(most)),
                adam(&start, &none, &AdamSettings::default(), answers(most)),
                cma_es(&start, &[0.5, 0.5], &none, &CmaSettings::default(), |x| value(x).map(|a| a.0)),
                levenberg_marquardt(&start, &none, &LevenbergSettings::default(), |x| {
                    // One residual, so that Φ is the same.
                    rows(x).map(|(v, g)| {
                        let r = (2.0 * v).sqrt();
                        (vec![r], vec![g.iter().map(|g| g / r).collect()])
                    })
                })
                .0,
            ];
            for m in found {
                assert!(m.end == End::Stopped && m.evaluations == most, "{m:?}");
                let value = rosenbrock(&m.x).0;
                assert!(
                    if most == 0 { m.x == start } else { (m.value - value).abs() <= 1e-12 * value },
                    "{m:?}"
                );
            }
        }
    }
}
