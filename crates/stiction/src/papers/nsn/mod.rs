//! Non-smooth Newton (Macklin et al. 2019): on one frozen contact problem ([`solve`]), and on the non-linear equations of motion
//! ([`step`]).

pub mod solve;
pub mod step;

pub use step::{ElementRows, GeometricStiffness, NonlinearReport, NonlinearSettings, NonlinearStepper};
