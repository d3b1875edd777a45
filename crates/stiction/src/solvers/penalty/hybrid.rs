//! Static friction by constraints where points stick, the penalty where they slide (section 4.3).

use super::assembly::Frame;
use super::bdf::Phase;
use super::law::FrictionModel;
use super::{Newton, System};
use crate::coords::State;
use crate::error::StepError;
use crate::linalg::Vec3;
use crate::scene::Owner;

/// A point that is let go slides on (17) with k_t this many times larger. With k_t itself it would start at zero friction,
/// its neighbours would be overloaded and let go in turn, and at k_n ≤ 1e3 nothing would ever hold.
pub(super) const RELEASED: f64 = 50.0;
/// Rounds in which points may begin to stick.
const ROUNDS_OF_HOLDING: usize = 4;
/// Most rounds of letting go.
const MOST_ROUNDS: usize = 20;

impl System {
    /// All of one step: penalty to √ε, constraints on what sticks, letting go of what would exceed μ f_n, then to ε.
    pub(super) fn solve(
        &mut self,
        from: &Phase,
        d: &mut [f64],
        step: usize,
        report: &mut Newton,
    ) -> Result<(), StepError> {
        match self.settings.friction {
            FrictionModel::Hybrid => {}
            FrictionModel::Sqp => return self.solve_sqp(from, d, step, report),
            FrictionModel::Linear | FrictionModel::Tanh => {
                self.newton(from, d, step, 1.0, report)?;
                return Ok(());
            }
        }
        let loose = self.settings.tolerance.sqrt() / self.settings.tolerance;
        if from.stuck.is_empty() {
            self.newton(from, d, step, loose, report)?;
        } else {
            // What the last step held is held again unless it proves otherwise: at rest nothing is to be found out.
            self.hold(&from.state, &from.stuck);
        }
        let warm = !from.stuck.is_empty();
        let mut solved = true;
        for round in 0..MOST_ROUNDS {
            if round > 0 || !warm {
                let gone = round > 0 && self.let_go();
                // Points begin to stick in the first rounds only, so that none comes and goes.
                let more = round < ROUNDS_OF_HOLDING && self.hold_what_sticks(&from.state);
                if !more && !gone {
                    break;
                }
            }
            solved = self.newton(from, d, step, loose, report)?;
            if !solved {
                break;
            }
        }
        if solved && report.residual > report.target {
            solved = self.newton(from, d, step, 1.0, report)?;
        }
        if !solved {
            // Rare: back to the penalty everywhere.
            self.held.fill(None);
            self.released.fill(false);
            self.newton(from, d, step, 1.0, report)?;
        }
        Ok(())
    }

    /// Holds these nodes at these sites. Obstacles that hold are flat and stand still: their normal is the same everywhere.
    pub(super) fn hold(&mut self, state: &State, stuck: &[(u32, u32)]) {
        for &(node, site) in stuck {
            let s = &self.sites.all[site as usize];
            let (a, b) = (Frame::of(&self.model, state, s.a), Frame::of(&self.model, state, s.b));
            self.held[node as usize] = Some((s.normal(&self.sites.obstacles[s.obstacle], &a, &b), site));
        }
    }

    /// Holds every node whose friction (17) is below the Coulomb limit, unless it was let go; true when there were any. A node that
    /// the step finds in the air has no place to stick to: it is held from the next step on.
    fn hold_what_sticks(&mut self, before: &State) -> bool {
        let mut any = false;
        let kt = self.settings.stiffness * self.h;
        for k in 0..self.sites.all.len() {
            let Some(node) = self.can_hold(k) else { continue };
            if self.released[k] || self.held[node.index()].is_some() {
                continue;
            }
            let s = &self.sites.all[k];
            let (a, b) = self.frames(s);
            let obstacle = &self.sites.obstacles[s.obstacle];
            let frame = |part| Frame::of(&self.model, before, part);
            if s.gap(obstacle, &a, &b) >= 0.0 || s.gap(obstacle, &frame(s.a), &frame(s.b)) >= 0.0 {
                continue;
            }
            let n = s.normal(&self.sites.obstacles[s.obstacle], &a, &b);
            let slip = a.v - n * n.dot(a.v);
            let limit = self.sites.pairs[s.pair].mu1 * self.normal_force(k, &a, &b);
            if kt * slip.length() < limit {
                self.held[node.index()] = Some((n, k as u32));
                any = true;
            }
        }
        any
    }

    /// Lets go of nodes that are held by more than μ f_n, or that lost contact; true when there were any.
    fn let_go(&mut self) -> bool {
        let mut any = false;
        for i in 0..self.held.len() {
            let Some((n, k)) = self.held[i] else { continue };
            let s = &self.sites.all[k as usize];
            let (a, b) = self.frames(s);
            // What the constraint pushes with: the tangential balance without friction.
            let node = &self.model.nodes[i];
            let mut inertia = Vec3::ZERO;
            for (j, block) in self.mass.row(node.block) {
                let (at, _) = self.mass.block(j);
                inertia += block[0] * Vec3::from_slice(&self.acceleration[at..]);
            }
            let reaction = inertia - Vec3::from_slice(&self.asm.f[node.dof..]);
            let reaction = reaction - n * n.dot(reaction);
            let limit = self.sites.pairs[s.pair].mu1 * self.normal_force(k as usize, &a, &b);
            if limit <= 0.0 || reaction.length() > limit {
                self.held[i] = None;
                self.released[k as usize] = true;
                any = true;
            }
        }
        any
    }

    fn normal_force(&self, k: usize, a: &Frame, b: &Frame) -> f64 {
        debug_assert!(matches!(self.sites.all[k].a, Owner::Node(_)));
        match self.site_force::<0>(k, a, b) {
            Some([side, _]) => {
                let s = &self.sites.all[k];
                side.2.value().dot(s.normal(&self.sites.obstacles[s.obstacle], a, b))
            }
            None => 0.0,
        }
    }
}
