//! How far velocities and impulses are from solving an island: the error on which solvers stop, and the paper's measure
//! beside it.

use super::Island;
use crate::contact::ContactProblem;
use crate::contact::law::RoundLaw;
use crate::contact::law::cone;
use crate::linalg::Vec3;

/// Natural map and momentum error of an island, both as velocities [m/s].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Error {
    /// Worst natural map, as the yardstick has it.
    pub natural: f64,
    /// ‖A v − b − Jᵀλ‖ in the norm of the inverse masses, over √mass.
    pub momentum: f64,
}

impl Error {
    /// The larger of both; infinite where one is not a number.
    pub fn worst(self) -> f64 {
        let worst = self.natural.max(self.momentum);
        if worst.is_nan() || self.natural.is_nan() || self.momentum.is_nan() { f64::INFINITY } else { worst }
    }
}

#[derive(Default)]
pub(crate) struct Judge {
    r: Vec<f64>,
    /// Speed by which errors are judged [m/s].
    pub scale: f64,
    /// √ of the mass that momentum errors are spread over [√kg].
    heft: f64,
}

impl Judge {
    /// For a new problem with the guess `v`; impulses in stretched coordinates.
    pub fn load(&mut self, p: &ContactProblem, island: &Island, v: &[f64], lambda: &[Vec3]) {
        self.r.resize(island.dofs(), 0.0);
        let n = if island.nodes > 0 { 3 * island.nodes } else { island.dofs() };
        self.heft = (island.mass[..n].iter().sum::<f64>() / 3.0).sqrt().max(f64::MIN_POSITIVE);
        let mut scale = p.velocity_scale.max(f64::MIN_POSITIVE);
        for (t, l) in island.touches.iter().zip(lambda) {
            let u = island.relative(t, v) + t.bias + t.softness * *l;
            let speed = match t.law {
                RoundLaw::Cone(_) => cone::tangent_norm(u).max(-u.x),
                rows => t.scale * rows.natural_map(Vec3::ZERO, u, t.scale).length(),
            };
            if speed.is_finite() {
                scale = scale.max(speed);
            }
        }
        self.scale = scale;
    }

    /// Measures velocities and stretched impulses on the island as it is, without virtual nodes.
    pub fn measure(&mut self, island: &Island, v: &[f64], lambda: &[Vec3]) -> Error {
        island.a.mul(v, &mut self.r);
        for (r, b) in self.r.iter_mut().zip(&island.b) {
            *r -= b;
        }
        let mut natural = 0.0_f64;
        for (t, l) in island.touches.iter().zip(lambda) {
            island.add_impulse(t, -*l, &mut self.r);
            let u = island.relative(t, v) + t.bias + t.softness * *l;
            let map = t.scale * t.law.natural_map(*l, u, t.scale).length();
            if map > natural || map.is_nan() {
                natural = map;
            }
        }
        let sum: f64 = self.r.iter().zip(&island.inverse_root).map(|(r, s)| (r * s) * (r * s)).sum();
        Error { natural, momentum: sum.sqrt() / self.heft }
    }
}
