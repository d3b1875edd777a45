//! stub
use super::*;
use crate::contact::LocalProblem;
use crate::linalg::Vec3;
/// Settings of the chain.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// stub
    pub tolerance: f64,
}
impl Default for Settings {
    fn default() -> Self {
        Settings { tolerance: 1e-8 }
    }
}
impl Settings {
    /// Stages 0 and 1 only.
    pub fn realtime() -> Settings {
        Settings::default()
    }
    /// With what the user asked for.
    pub fn with(self, _s: &SolverSettings) -> Settings {
        self
    }
}
/// The chain.
pub struct Exact;
impl Exact {
    /// With settings.
    pub fn new(_settings: Settings) -> Exact {
        Exact
    }
    /// Solves a bare problem; `r` holds the guess on entry and the answer on return.
    pub fn solve_local(&mut self, _p: &LocalProblem, _r: &mut [Vec3], _trace: &mut dyn Trace) -> SolveReport {
        todo!()
    }
}
impl ContactSolver for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }
    fn solve(&mut self, _p: &ContactProblem, _x: &mut Solution, _trace: &mut dyn Trace) -> SolveReport {
        todo!()
    }
}
