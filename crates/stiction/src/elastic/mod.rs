//! Leaf mechanics of solids, springs, rods and sheets: strain, energy and their derivatives. Knows no `Model`, `State` or time.
//!
//! | looking for… | here |
//! |---|---|
//! | laws and their constants, what is a valid material | [`Material`], [`Law`] |
//! | named materials with sources | [`Preset`] |
//! | energies in principal stretches | [`Principal`] |
//! | first Piola stress and dP/dF of them | [`Tangent`] |
//! | fibres: stiffening layers and muscles | [`Fibre`] |
//! | one tetrahedron: energy, force, stiffness, viscosity, mass | [`Tet`] |
//! | compliance rows for multiplier methods | [`Rows`] |
//! | forces and matrix blocks of a whole mesh | [`Elements`] and [`ElementScratch`], as a pair [`TetAssembly`] |
//! | springs and ropes | [`Spring`] |
//! | rods: stretch, shear, bend and twist | [`RodElement`] |
//! | bending of sheets | [`Bend`] |
//! | loaded lever arms | [`turning_stiffness`] |
//! | signed 3×3 SVD, polar rotation | [`svd`] |
//!
//! Everything follows from one definition per law, Ψ(s) of the principal stretches (Irving et al. 2004; Smith et
//! al. 2019 for the eigen-structure): stress, exact, Gauss–Newton and projected stiffness, compliance and the
//! derivatives by material constants. Signs: forces are f = −∂E/∂x, stiffness K = ∂²E/∂x² = −∂f/∂x.
//!
//! ```
//! use stiction::elastic::{Damping, Preset, TetAssembly, Weights};
//! use stiction::{Mat3, Vec3};
//!
//! let rest = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let rubber = Preset::Rubber.material();
//! let mut solid = TetAssembly::new(&rest, &[[0, 1, 2, 3]], &[rubber], &[0], Damping::default())?;
//! // Pull one corner: it is drawn back.
//! let mut x = rest;
//! x[3].z += 0.1;
//! let mut forces = [Vec3::ZERO; 4];
//! let mut blocks = vec![Mat3::ZERO; solid.pairs().len()];
//! let weights = Weights { stiffness: 1.0, damping: 0.0 };
//! let energy = solid.assemble(&x, weights, solid.default_hessian(), &mut forces, &mut blocks);
//! assert!(energy > 0.0 && forces[3].z < 0.0 && forces.iter().sum::<Vec3>().length() < 1e-9);
//! # Ok::<(), stiction::elastic::ElasticError>(())
//! ```

mod assembly;
mod bend;
mod damping;
mod elements;
mod error;
mod fibre;
mod geometric;
#[cfg(test)]
mod ladder;
mod material;
mod neo_hookean;
mod pattern;
mod presets;
mod principal;
mod rod;
mod rows;
mod spring;
mod stretch;
pub mod svd;
mod tet;

pub use assembly::TetAssembly;
pub use bend::Bend;
pub use damping::Damping;
pub use elements::{ElementScratch, Elements, Weights};
pub use error::ElasticError;
pub use fibre::Fibre;
pub use geometric::turning_stiffness;
pub use material::{Lame, Law, Material, Parameter};
pub use presets::Preset;
pub use principal::Principal;
pub use rod::{RodElement, RodFrame, RodLoad, Section};
pub(crate) use rows::frames;
pub use rows::{CorotatedStretch, PrincipalStretch, Rows};
pub use spring::{Action, Spring};
pub use stretch::Tangent;
pub use tet::{Element, PAIRS, Tet};

/// Which second derivative of the energy a matrix is made of; always named at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HessianKind {
    /// ∂²E/∂x², indefinite under compression. For gradients and tests.
    Exact,
    /// Bᵀ N B of the six rows [`CorotatedStretch`]: stretches and shears in the principal frame, without the
    /// part that turns stress. Positive semidefinite; of the corotated law it is the rotated linear stiffness.
    GaussNewton,
    /// The exact one with negative eigenvalues of dP/dF set to zero: positive semidefinite, keeps the stiffening
    /// under tension.
    Projected,
}
