//! Forces, stiffness and mass of everything that bends, in the coordinates of the model.

mod columns;
mod solids;

pub use columns::{Columns, add_3x3, add_stiffness};
pub use solids::Solids;
