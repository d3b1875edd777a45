//! COND (Lee et al. 2022): its tables and figures.

mod anisotropic;
mod box_sliding;
mod extras;
mod kernel;
mod position_based;
mod scaling;
mod scenes;
mod splitting;
mod sweeps;
mod table;
mod tables;
mod theory;
mod trial;

use super::Experiment;

/// In the order of the paper.
pub static EXPERIMENTS: &[Experiment] = &[
    box_sliding::EXPERIMENT,
    theory::EXPERIMENT,
    tables::MAT,
    tables::BALL,
    sweeps::STIFFNESS,
    tables::CABLE,
    tables::GRIPPER,
    scaling::SCALING,
    splitting::SPLITTING,
    position_based::EXPERIMENT,
    splitting::INVERTIBLE,
    anisotropic::EXPERIMENT,
    sweeps::CHEBYSHEV,
    sweeps::STRATEGIES,
    table::EXPERIMENT,
    scaling::CROSSOVER,
    kernel::EXPERIMENT,
];
