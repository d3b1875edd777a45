//! The methods of four papers, and what they compare themselves with: one folder each, which can be read alone.
//!
//! | folder | paper |
//! |---|---|
//! | [`nsn`] | Macklin et al. 2019, *Non-Smooth Newton Methods for Deformable Multi-Body Dynamics* |
//! | [`cond`] | Lee et al. 2022, *Large-Dimensional Multibody Dynamics Simulation Using Contact Nodalization and Diagonalization* |
//! | [`cr`] | Verschoor & Jalba 2019, *Efficient and Accurate Collision Response for Elastically Deformable Models* |
//! | [`apgd`] | Mazhar et al. 2015, accelerated projected gradient descent, with which COND compares itself |
//!
//! ADD (Geilinger et al. 2020) is a way to step: [`steppers::penalty`](crate::steppers::penalty).

pub mod apgd;
pub mod cond;
pub mod cr;
pub mod nsn;
