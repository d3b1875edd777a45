//! The fallback: the velocity fixed point of [`cond`](crate::papers::cond) without virtual nodes, accelerated by
//! Anderson's method. It needs no guess of modes, so that it cannot cycle between them.

use super::Iterate;
use crate::solvers::island::Island;
use crate::solvers::island::acceleration::{Acceleration, Accelerator};
use crate::solvers::island::surrogate::Surrogate;

/// Anderson's method over the last ten iterates.
const ACCELERATION: Acceleration = Acceleration::Anderson(10);
/// Spectral radius of W A.
const RADIUS: f64 = 1.8;

#[derive(Default)]
pub(super) struct FixedPoint {
    surrogate: Surrogate,
    accelerator: Accelerator,
    image: Vec<f64>,
    weight: Vec<f64>,
}

impl FixedPoint {
    /// Scales W for this island and forgets the past.
    pub fn start(&mut self, island: &Island, v: &[f64]) {
        let n = island.dofs();
        self.image.resize(n, 0.0);
        self.weight.clear();
        self.weight.extend((0..n).map(|i| island.a.diagonal(i / 3)[4 * (i % 3)].sqrt()));
        self.surrogate.start(island, Some(RADIUS), 1);
        self.accelerator.start(ACCELERATION, v, &self.weight);
    }

    /// One step from `x`: writes the new velocity and impulse into it.
    pub fn step(&mut self, island: &Island, x: &mut Iterate) {
        island.a.mul(&x.v, &mut x.r);
        self.surrogate.image(island, &x.v, &x.r, &mut x.lambda, &mut self.image);
        self.accelerator.advance(ACCELERATION, &mut x.v, &self.image);
    }

    /// The image of the last step: velocity that belongs to the impulse of the last step.
    pub fn last_image(&self) -> &[f64] {
        &self.image
    }
}
