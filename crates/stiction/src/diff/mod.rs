//! Derivatives of whole motions: sensitivities, adjoint, checks, and what can be done with them.
//!
//! | looking for… | here |
//! |---|---|
//! | what can be differentiated by | [`Param`], [`ParamSet`] |
//! | what is minimised | [`Objective`], [`Term`]; points, markers, paths, poses, clouds, forces, soft minima |
//! | forward run on a tape, gradient by the adjoint (8)–(9), sensitivities (3)–(4), J^T J v | [`Motion`] |
//! | the exact contact problem, differentiated as it is | [`ImplicitStep`] |
//! | motions of the exact solver, forward and reverse | [`ExactMotion`] |
//! | a run from where a simulation is, and its derivatives, whichever of both took the steps | [`Rollout`] |
//! | L-BFGS, Levenberg–Marquardt, Adam, CMA-ES | [`optimize`] |
//! | a small network, to be trained through a simulation | [`Network`] |
//! | Taylor test and finite differences | [`check_grad`] |
//!
//! The physics of [`Motion`] is that of [`steppers::penalty`](crate::steppers::penalty); nothing here knows a force. Per step the solver
//! hands over G_q, G_v (derivatives of the residual by configuration and velocity) and the kinematics of the increment,
//! and the two sweeps are matrix products and one solve with the factors of ∂r/∂d, or with their transpose.

mod check;
mod colors;
mod exact_motion;
mod implicit;
mod motion;
mod network;
mod objective;
pub mod optimize;
mod param;
mod param_forces;
mod rollout;
mod targets;

pub use crate::kinematics::Term;
pub use crate::model::Param;
pub use check::{GradCheck, GradRow, check_grad, check_rollout};
pub use exact_motion::{ExactError, ExactMotion};
pub use implicit::{DataChange, ImplicitStep, Mode};
pub use motion::{Gradient, Motion, Tape};
pub use network::Network;
pub use objective::{Coordinate, Markers, PointTarget};
pub use objective::{Objective, Reduce};
pub use param::ParamSet;
pub use rollout::{Cotangents, Rollout, Seeds, StateChange};
pub use targets::{
    CloudTarget, ForceTarget, NearestTarget, PathTarget, PoseTarget, Together, UprightTarget, smoothness,
};
