//! stub
use super::*;
/// stub
pub struct Apgd;
impl Apgd {
    /// stub
    pub fn new(_settings: &SolverSettings) -> Apgd { Apgd }
}
impl ContactSolver for Apgd {
    fn name(&self) -> &'static str { "apgd" }
    fn solve(&mut self, _p: &ContactProblem, _x: &mut Solution, _trace: &mut dyn Trace) -> SolveReport { todo!() }
}
