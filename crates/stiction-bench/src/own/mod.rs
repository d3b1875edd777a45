//! Hard cases and claims of our own.

mod arch;
mod collide;
pub mod collide_soft;
mod inclines;
mod pile_growth;
pub mod soft_blocks;
mod stack;
mod walls;

use crate::Experiment;

/// Of rigid bodies, and one of soft blocks; those of soft collision follow apart.
pub static EXPERIMENTS: &[Experiment] = &[
    inclines::EXPERIMENT,
    stack::EXPERIMENT,
    arch::EXPERIMENT,
    walls::EXPERIMENT,
    soft_blocks::EXPERIMENT,
    collide::EXPERIMENT,
    pile_growth::EXPERIMENT,
];
