//! Analytically differentiable dynamics (Geilinger et al. 2020): its tables and figures.

mod bouncing;
mod common;
mod coupling;
mod estimate;
mod exact;
mod grad;
mod learn;
mod puck;
mod robot;
mod speed;
mod strings;
mod throw;
mod tori;
mod wall;

use super::Experiment;

/// In the order of the paper; gradients of exact contact, which it does not have, last.
pub static EXPERIMENTS: &[Experiment] = &[
    strings::SHEET,
    robot::RIGID,
    puck::EXPERIMENT,
    throw::LANDSCAPE,
    wall::CONTINUATION,
    tori::EXPERIMENT,
    bouncing::EXPERIMENT,
    estimate::SPHERE,
    estimate::CUBE,
    estimate::CLOUD,
    throw::POINT,
    throw::LINE,
    wall::POINT,
    wall::POSE,
    learn::EXPERIMENT,
    strings::CUBES,
    robot::SOFT,
    coupling::EXPERIMENT,
    speed::SOFT,
    speed::CONTROLLED,
    speed::GROWTH,
    grad::EXPERIMENT,
    exact::EXPERIMENT,
];
