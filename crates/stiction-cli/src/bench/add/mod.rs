//! Analytically differentiable dynamics (Geilinger et al. 2020): its tables and figures.

mod bouncing;
mod exact;
mod grad;
mod learn;
mod puck;
mod throw;

use super::Experiment;

/// In the order of the paper; gradients of exact contact, which it does not have, last.
pub static EXPERIMENTS: &[Experiment] = &[
    puck::EXPERIMENT,
    bouncing::EXPERIMENT,
    throw::EXPERIMENT,
    learn::EXPERIMENT,
    grad::EXPERIMENT,
    exact::EXPERIMENT,
];
