//! Forces, stiffness and mass of everything that bends, in the coordinates of the model.

mod columns;
mod rods;
mod sheets;
mod slender;
mod solids;
mod springs;

pub use columns::{Columns, add_3x3, add_stiffness};
pub use slender::Slender;
pub use solids::Solids;
