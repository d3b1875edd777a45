//! Forces, stiffness and mass of everything that bends, in the coordinates of the model.

mod rods;
mod sheets;
mod slender;
mod solids;
mod springs;

pub use slender::Slender;
pub use solids::Solids;
