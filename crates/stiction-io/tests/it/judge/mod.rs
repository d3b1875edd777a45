//! A second judge of steps, which knows nothing of how they are made.
//!
//! It sees two states, the contacts between them with their forces, and the forces of joints, and asks in plain words whether
//! Newton's and Coulomb's laws hold: it shares neither the contact problem nor the yardstick with the simulation. It judges
//! every scene of the gallery by every solver that fits, and random heaps.

mod cone;
mod geometry;
mod impact;
mod known;
mod momentum;
mod overlap;
mod random;
mod record;
mod scenes;
mod verdict;
