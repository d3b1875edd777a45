//! Pushing overlaps out without adding energy.
//!
//! The velocity solve never pushes: an overlapping contact only has to stop closing. What overlap remains after the
//! move is taken out by a second, small motion `w` that changes positions and is then forgotten. It is found by a few
//! Gauss–Seidel sweeps with friction from rest, at a bounded speed, so it stays bounded even where bodies are jammed
//! and nothing can give way.

use crate::contact::ContactProblem;
use crate::contact::delassus::Delassus;
use crate::contact::delassus::bodies::Bodies;
use crate::contact::delassus::near::Near;
use crate::linalg::Vec3;

/// Overlaps below this share of the smaller shape are left alone: pushing at rounding would never end.
pub const SLOP: f64 = 1e-4;
/// So many bodies from an overlap, passed from one to the next, the motion has died away.
const LAYERS: usize = 4;
/// What these sweeps leave is taken up by the next step.
const SWEEPS: usize = 10;

/// Buffers of the recovery motion.
#[derive(Default)]
pub struct Recovery {
    bodies: Bodies,
    near: Near,
    r: Vec<Vec3>,
    a_warm: Vec<f64>,
    b: Vec<f64>,
    bias: Vec<Vec3>,
    /// The recovery motion of every dof.
    pub w: Vec<f64>,
}

impl Recovery {
    /// Finds `w` with `J_n w ≥ −slack` where `slack[c]` is the gap that the step leaves, divided by h [m/s],
    /// negative where there is an overlap to take out. `p` is the problem of the step; it is returned unchanged.
    /// `rows` is the same for the blocks that follow the contacts, row by row.
    /// Only what is near the contacts `deep`, or the rows, moves.
    pub fn solve(&mut self, p: &mut ContactProblem, slack: &[f64], rows: &[Vec3], deep: &[u32]) {
        // The same contacts and masses, but from rest and towards the slack.
        self.b.clear();
        self.b.resize(p.b.len(), 0.0);
        self.bias.clear();
        self.bias.extend(slack.iter().map(|s| Vec3::new(*s, 0.0, 0.0)));
        self.bias.extend_from_slice(rows);
        std::mem::swap(&mut self.b, &mut p.b);
        std::mem::swap(&mut self.bias, &mut p.bias);
        self.near.from(p, deep.iter().map(|&c| c as usize).chain(slack.len()..p.contacts()));
        for _ in 0..LAYERS {
            self.near.grow(p, 0..p.contacts() as u32);
        }
        let known = self.bodies.prepare(p, self.near.contacts());
        std::mem::swap(&mut self.b, &mut p.b);
        std::mem::swap(&mut self.bias, &mut p.bias);
        self.w.clear();
        self.w.resize(p.dofs(), 0.0);
        if !known {
            return;
        }
        self.r.clear();
        self.r.resize(self.near.contacts().len(), Vec3::ZERO);
        self.a_warm.clear();
        self.a_warm.resize(self.near.contacts().len(), 0.0);
        for _ in 0..SWEEPS {
            self.bodies.sweep(&mut self.r, &mut self.a_warm);
        }
        self.bodies.write_velocity(&self.r, &mut self.w);
    }
}
