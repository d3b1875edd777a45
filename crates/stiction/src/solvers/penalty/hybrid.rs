//! Static friction by constraints where points stick, the penalty where they slide (section 4.3).

use super::bdf::Phase;
use super::law::FrictionModel;
use super::system::{Newton, System};
use crate::error::StepError;
use crate::linalg::Vec3;
use crate::scene::Owner;

/// A point that is let go slides on (17) with k_t this many times larger. With k_t itself it would start at zero friction,
/// its neighbours would be overloaded and let go in turn, and at k_n ≤ 1e3 nothing would ever hold.
pub(super) const RELEASED: f64 = 1e3;
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
        if self.settings.friction != FrictionModel::Hybrid {
            self.newton(from, d, step, 1.0, report)?;
            return Ok(());
        }
        let loose = self.settings.tolerance.sqrt() / self.settings.tolerance;
        self.newton(from, d, step, loose, report)?;
        self.hold_what_sticks();
        for _ in 0..MOST_ROUNDS {
            let solved = self.newton(from, d, step, loose, report)?;
            if !solved || !self.let_go() {
                break;
            }
        }
        if !self.newton(from, d, step, 1.0, report)? {
            // Rare: back to the penalty everywhere.
            self.held.fill(None);
            self.released.fill(false);
            self.newton(from, d, step, 1.0, report)?;
        }
        Ok(())
    }

    /// Holds every node whose friction (17) is below the Coulomb limit.
    fn hold_what_sticks(&mut self) {
        let kt = self.settings.stiffness * self.h;
        for k in 0..self.sites.all.len() {
            let Some(node) = self.can_hold(k) else { continue };
            let s = &self.sites.all[k];
            let (a, b) = self.frames(s);
            let gap = s.gap(&self.sites.obstacles[s.obstacle], &a, &b);
            if gap >= 0.0 {
                continue;
            }
            let n = s.normal(&self.sites.obstacles[s.obstacle], &a, &b);
            let slip = a.v - n * n.dot(a.v);
            let limit = self.sites.pairs[s.pair].mu1 * self.settings.stiffness * -gap;
            if kt * slip.length() < limit {
                self.held[node.index()] = Some((n, k as u32));
            }
        }
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
            if reaction.length() > limit {
                self.held[i] = None;
                self.released[k as usize] = true;
                any = true;
            }
        }
        any
    }

    fn normal_force(&self, k: usize, a: &super::Frame, b: &super::Frame) -> f64 {
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
