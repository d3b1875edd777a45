//! Measurements that a task makes itself: a run with the `truth` of its parameters, seen through noise and with parts lost.

use crate::failure::{Result, error};
use serde::Deserialize;
use stiction::coords::{Anchor, SoftId};
use stiction::kinematics::position_at;
use stiction::linalg::Rng;
use stiction::scene::Model;
use stiction::{State, Vec3};

/// The `[objective.synthetic]` table.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synthetic {
    /// Deviation of every coordinate [m].
    #[serde(default)]
    noise: f64,
    /// Share of the points that are not seen.
    #[serde(default)]
    dropout: f64,
    /// Steps from one frame to the next.
    #[serde(default = "one")]
    every: usize,
    #[serde(default)]
    seed: u64,
    /// Where the camera of a cloud stands [m]; it sees what faces it.
    camera: Option<[f64; 3]>,
    /// Points of a cloud in one frame.
    #[serde(default = "sixty")]
    count: usize,
}

fn one() -> usize {
    1
}

fn sixty() -> usize {
    60
}

/// About a standard normal deviate: twelve uniform ones.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0
}

impl Synthetic {
    fn frames(&self, states: &[State]) -> Result<impl Iterator<Item = usize> + use<>> {
        let bad = |what: &str| error(format!("[objective.synthetic]: {what}"), "change it");
        if self.every == 0 || self.every >= states.len() {
            return Err(bad("`every` is not between one and `steps`"));
        }
        if !(self.noise >= 0.0 && self.noise.is_finite() && (0.0..1.0).contains(&self.dropout)) {
            return Err(bad("`noise` must not be negative, and `dropout` be from 0 to below 1"));
        }
        Ok((0..states.len()).step_by(self.every))
    }

    fn shaken(&self, rng: &mut Rng, x: Vec3) -> Vec3 {
        x + Vec3::new(normal(rng), normal(rng), normal(rng)) * self.noise
    }

    /// Rows `step, point, x, y, z` of markers.
    pub fn markers(&self, model: &Model, states: &[State], points: &[Anchor]) -> Result<Vec<Vec<f64>>> {
        let mut rng = Rng::new(self.seed);
        let mut rows = Vec::new();
        for i in self.frames(states)? {
            for (k, p) in points.iter().enumerate() {
                let x = self.shaken(&mut rng, position_at(model, &states[i], p));
                if rng.uniform() >= self.dropout {
                    rows.push(vec![i as f64, k as f64, x.x, x.y, x.z]);
                }
            }
        }
        Ok(rows)
    }

    /// Rows `step, x, y, z` of points on the surface of a soft body, on the side that faces the camera.
    pub fn cloud(&self, model: &Model, states: &[State], solid: SoftId) -> Result<Vec<Vec<f64>>> {
        let eye = self.camera.map(Vec3::from_array).ok_or_else(|| {
            error("[objective.synthetic]: a cloud needs `camera`", "say where the camera stands")
        })?;
        let solid = &model.solids[solid.index()];
        let mut rng = Rng::new(self.seed);
        let mut rows = Vec::new();
        for i in self.frames(states)? {
            let x: Vec<Vec3> = solid.vertices.iter().map(|a| position_at(model, &states[i], a)).collect();
            let faces: Vec<[Vec3; 3]> = solid.surface.iter().map(|t| t.map(|v| x[v as usize])).collect();
            let seen = |[a, b, c]: &&[Vec3; 3]| (*b - *a).cross(*c - *a).dot(eye - *a) > 0.0;
            let faces: Vec<[Vec3; 3]> = faces.iter().filter(seen).copied().collect();
            for _ in 0..if faces.is_empty() { 0 } else { self.count } {
                let [a, b, c] = faces[(rng.uniform() * faces.len() as f64) as usize % faces.len()];
                let (u, v) = (rng.uniform(), rng.uniform());
                let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                let p = self.shaken(&mut rng, a + (b - a) * u + (c - a) * v);
                if rng.uniform() >= self.dropout {
                    rows.push(vec![i as f64, p.x, p.y, p.z]);
                }
            }
        }
        Ok(rows)
    }
}
