//! COND (Lee et al. 2022): its tables and figures.

mod anisotropic;

use super::Experiment;

/// In the order of the paper.
pub static EXPERIMENTS: &[Experiment] = &[anisotropic::EXPERIMENT];
