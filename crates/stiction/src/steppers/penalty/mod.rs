//! Fully implicit dynamics with smooth contact forces, made to be differentiated (Geilinger et al. 2020, "ADD").
//!
//! | paper | here |
//! |---|---|
//! | residual r(q) of BDF1 and BDF2 (1) and its Jacobian | `residual.rs`, weights and history in [`bdf`] |
//! | Newton with a line search on ‖r‖ (3.1) | [`System::step`] in `newton.rs` |
//! | normal force (16), friction (17), (18), damping (21) | [`law`] |
//! | contact points and obstacles (10) | [`site`]; soft surfaces among themselves `patch.rs` |
//! | hybrid static friction (4.3) | `hybrid.rs`; rows of rigid bodies and moving obstacles `stick.rs`, solved in `border.rs` |
//! | hard constraints for comparison (15) | `sqp.rs` |
//! | springs, hinges, motors (23)–(26) | `joint.rs`, springs in `elements.rs` |
//! | sensitivities and adjoint (2)–(9) | [`crate::diff`] |
//!
//! The unknown of a step is the increment d = q ⊟ q⁻, rotations by exponential coordinates in the chart of the last step:
//! ω = J_ω(d) ḋ, which is never singular for steps below a full turn. In place of M̂ q̈ + C the angular momentum
//! L = I(q) ω is differenced in time. That is the same equation without Coriolis terms, and a free body keeps L to rounding.
//!
//! Signs: r = M q̈ − f with contact forces part of f (correction A1). Every Jacobian is exact: leaf forces are written on
//! numbers that carry their derivatives ([`crate::linalg::dual`]), so the matrix is unsymmetric where friction is.
//!
//! Where we differ: the damping (21) jumps at g = 0, where then no root may exist (correction A10); the default is
//! Hunt–Crossley's law, which is continuous. Static friction of the hybrid model holds points that touched before the step. Nodes
//! and particles on planes that stand still have their rows replaced, as in the paper; rigid bodies, whose rows would be redundant
//! (correction A10), and nodes on what moves are held by multipliers. Soft surfaces among themselves keep the penalty.

mod assembly;
pub mod bdf;
mod border;
mod control;
mod elements;
mod hybrid;
mod joint;
pub mod law;
mod newton;
mod patch;
mod read;
mod residual;
pub mod site;
mod sqp;
mod stepper;
mod stick;
mod system;

pub use assembly::{Assembly, Frame};
pub use bdf::{Bdf, Phase};
pub use control::{Control, ControlKind};
pub use law::{ContactDamping, ContactLaw, FrictionModel};
pub use newton::Newton;
pub use stepper::PenaltyStepper;
pub use system::System;

/// What the derivatives of [`crate::diff`] are made of.
pub(crate) mod internals {
    pub use super::assembly::{Assembly, Point};
    pub use super::elements::{Vertices, add_load, share, spring_force, spring_span, viscous_stress};
    pub(crate) use super::system::joint_sides;
}

/// How contacts push and how steps are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Time discretisation.
    pub scheme: Bdf,
    /// Friction law.
    pub friction: FrictionModel,
    /// Normal stiffness k_n of one contact point [N/m]; k_t = k_n h.
    pub stiffness: f64,
    /// Depth over which the normal stiffness grows from zero to k_n [m]. Zero is the paper's law (16), whose kink makes
    /// objectives rough; about the way that is made in a step, v h, makes them smooth.
    pub onset: f64,
    /// Normal damping.
    pub damping: ContactDamping,
    /// Stiffness k_c of rigid rows of joints [N/m]; rows of angles have k_c times the length of the joint squared.
    pub joint_stiffness: f64,
    /// Stop when ‖r‖ is below this share of the weight of the scene. 1e-10 as in the paper.
    pub tolerance: f64,
    /// Most Newton steps.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            scheme: Bdf::One,
            friction: FrictionModel::Linear,
            stiffness: 1e3,
            onset: 0.0,
            damping: ContactDamping::None,
            joint_stiffness: 1e5,
            tolerance: 1e-10,
            max_iterations: 60,
        }
    }
}

/// What a scene says about [`Settings`]; the rest is as [`Settings::for_model`] chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Time discretisation.
    pub scheme: Option<Bdf>,
    /// Friction law.
    pub friction: Option<FrictionModel>,
    /// Normal stiffness [N/m].
    pub stiffness: Option<f64>,
    /// Onset of the normal stiffness [m].
    pub onset: Option<f64>,
    /// Normal damping.
    pub damping: Option<ContactDamping>,
    /// Stiffness of joints [N/m].
    pub joint_stiffness: Option<f64>,
}

impl Chosen {
    /// The same with all that a model would choose by its numbers, so that they stay when these change.
    pub fn for_model(&self, model: &crate::model::Model) -> Chosen {
        let s = self.settings(model);
        Chosen {
            scheme: Some(s.scheme),
            friction: Some(s.friction),
            stiffness: Some(s.stiffness),
            onset: Some(s.onset),
            damping: Some(s.damping),
            joint_stiffness: Some(s.joint_stiffness),
        }
    }

    /// Settings for a model.
    pub fn settings(&self, model: &crate::model::Model) -> Settings {
        let s = Settings::for_model(model);
        Settings {
            scheme: self.scheme.unwrap_or(s.scheme),
            friction: self.friction.unwrap_or(s.friction),
            stiffness: self.stiffness.unwrap_or(s.stiffness),
            onset: self.onset.unwrap_or(s.onset),
            damping: self.damping.unwrap_or(s.damping),
            joint_stiffness: self.joint_stiffness.unwrap_or(s.joint_stiffness),
            ..s
        }
    }
}

/// Sinking of the heaviest body on one contact point that [`Settings::for_model`] allows [m].
const SINKING: f64 = 1e-3;

impl Settings {
    /// The default with contacts stiff enough for the weights of a model, and little rebound.
    pub fn for_model(model: &crate::model::Model) -> Settings {
        let heaviest = model.bodies.iter().filter(|b| b.block.is_some()).map(|b| b.mass).fold(0.0, f64::max);
        let weight = heaviest * model.gravity.length();
        let damping = ContactDamping::HuntCrossley(1.0);
        Settings {
            stiffness: (weight / SINKING).max(Settings::default().stiffness),
            damping,
            ..Settings::default()
        }
    }
}
