//! Non-smooth Newton methods (Macklin et al. 2019): its tables and figures.

mod arch;
mod beam;
mod extension;
mod forces;
mod functions;
mod future;
mod pile;
mod pneunet;
mod redundant;
mod robustness;
mod scaling;
mod single;
mod solvers;
mod stack;
mod steps;
mod stickslip;
mod table;

use super::Experiment;

/// In the order of the paper.
pub static EXPERIMENTS: &[Experiment] = &[
    pneunet::EXPERIMENT,
    stickslip::EXPERIMENT,
    functions::FRICTION,
    beam::EXPERIMENT,
    functions::PRECONDITIONER,
    robustness::LINE_SEARCH,
    solvers::SUBPROBLEM,
    robustness::SINGULAR,
    extension::GEOMETRIC,
    robustness::REGULARIZATION,
    extension::EXTENSION,
    arch::EXPERIMENT,
    stack::EXPERIMENT,
    pile::EXPERIMENT,
    table::STATISTICS,
    scaling::QUARTILES,
    scaling::STRATEGIES,
    forces::EXPERIMENT,
    solvers::COMPARISON,
    single::EXPERIMENT,
    redundant::EXPERIMENT,
    table::TIME,
    future::EXPERIMENT,
];
