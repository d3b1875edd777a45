//! stub
use super::*;
/// stub
pub struct Pgs;
impl Pgs {
    /// stub
    pub fn new(_settings: &SolverSettings) -> Pgs { Pgs }
}
impl ContactSolver for Pgs {
    fn name(&self) -> &'static str { "pgs" }
    fn solve(&mut self, _p: &ContactProblem, _x: &mut Solution, _trace: &mut dyn Trace) -> SolveReport { todo!() }
}
