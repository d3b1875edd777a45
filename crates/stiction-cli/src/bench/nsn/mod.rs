//! Non-smooth Newton methods (Macklin et al. 2019): its tables and figures.

mod stickslip;

use super::Experiment;

/// In the order of the paper.
pub static EXPERIMENTS: &[Experiment] = &[stickslip::EXPERIMENT];
