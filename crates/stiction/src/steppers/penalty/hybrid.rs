//! Static friction by constraints where points stick, the penalty where they slide (section 4.3).

use super::assembly::Frame;
use super::bdf::Phase;
use super::law::FrictionModel;
use super::{Newton, System};
use crate::coords::State;
use crate::error::StepError;
use crate::kinematics::Placement;
use crate::linalg::Vec3;

/// A point that is let go slides on (17) with k_t = k_n times this [s]. With k_t = k_n h it would start at zero friction, its
/// neighbours would be overloaded and let go in turn, and at k_n ≤ 1e3 nothing would ever hold; and the smaller the step, the
/// less it would slide by Coulomb's law: up to the speed μ f_n/(k_n h) friction would be viscous.
pub(super) const SLIDING: f64 = 1.0;
/// ‖r‖ as a share of the weight while points still begin to stick and are let go.
const EARLY: f64 = 1e-3;
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
        // Who sticks shows early: the residual need not be small while that still changes.
        let early = (EARLY / self.settings.tolerance).max(loose);
        let warm = !from.stuck.is_empty();
        let mut goal = if warm { loose } else { early };
        if warm {
            // What the last step held is held again unless it proves otherwise: at rest nothing is to be found out.
            self.hold(&from.state, &from.stuck);
        } else {
            self.newton(from, d, step, goal, report)?;
        }
        let mut solved = true;
        for round in 0..MOST_ROUNDS {
            if round > 0 || !warm {
                let gone = round > 0 && self.let_go();
                // Points begin to stick in the first rounds only, so that none comes and goes.
                let more = round < ROUNDS_OF_HOLDING && self.hold_what_sticks(&from.state);
                if !more && !gone && goal == loose {
                    break;
                }
                goal = if more || gone { early } else { loose };
            }
            solved = self.newton(from, d, step, goal, report)?;
            if !solved {
                break;
            }
        }
        if solved && report.residual > report.target {
            solved = self.newton(from, d, step, 1.0, report)?;
        }
        if !solved {
            // Rare: back to the penalty everywhere.
            self.hold_nothing();
            self.newton(from, d, step, 1.0, report)?;
        }
        Ok(())
    }

    /// Holds nothing.
    pub(super) fn hold_nothing(&mut self) {
        self.held.fill(None);
        self.gripped.fill(false);
        self.released.fill(false);
        self.sticks.clear();
    }

    /// Holds these sites. Where nodes are on planes that stand still, normals are the same everywhere, and rows are replaced.
    pub(super) fn hold(&mut self, state: &State, stuck: &[u32]) {
        let start = Placement::of(&self.model, state);
        for &site in stuck {
            let s = &self.sites.all[site as usize];
            let at = start.kinematics(&self.model);
            let (a, b) = (Frame::of(at, s.a), Frame::of(at, s.b));
            let n = s.normal(&self.sites.obstacles[s.obstacle], &a, &b);
            match self.can_hold(site as usize) {
                Some(node) => self.held[node.index()] = Some((n, site)),
                None => self.gripped[site as usize] = true,
            }
        }
        self.form_sticks(&start);
    }

    /// Holds every point whose friction (17) is below the Coulomb limit, unless it was let go; true when there were any. A point that
    /// the step finds in the air has no place to stick to: it is held from the next step on.
    fn hold_what_sticks(&mut self, before: &State) -> bool {
        let (mut any, mut gripped) = (false, false);
        let kt = self.settings.stiffness * self.h;
        for k in 0..self.sites.all.len() {
            let s = &self.sites.all[k];
            let node = self.can_hold(k);
            let is_held = self.gripped[k] || node.is_some_and(|n| self.held[n.index()].is_some());
            if self.released[k] || is_held || s.direction.is_some() {
                continue;
            }
            let (a, b) = self.frames(s);
            let obstacle = &self.sites.obstacles[s.obstacle];
            let frame = |part| Frame::at(&self.model, before, part);
            if s.gap(obstacle, &a, &b) >= 0.0 || s.gap(obstacle, &frame(s.a), &frame(s.b)) >= 0.0 {
                continue;
            }
            let n = s.normal(obstacle, &a, &b);
            let p = a.x + a.r * s.local - n * s.radius;
            let u = a.v + a.w.cross(p - a.x) - b.v - b.w.cross(p - b.x);
            let slip = u - n * n.dot(u);
            let limit = self.sites.pairs[s.pair].mu1 * self.normal_force(k, &a, &b);
            if kt * slip.length() < limit {
                match node {
                    Some(node) => self.held[node.index()] = Some((n, k as u32)),
                    None => (self.gripped[k], gripped) = (true, true),
                }
                any = true;
            }
        }
        if gripped {
            let there = std::mem::take(&mut self.there);
            self.form_sticks(&there);
            self.there = there;
        }
        any
    }

    /// Lets go of points that are held by more than μ f_n, or that lost contact; true when there were any.
    fn let_go(&mut self) -> bool {
        let mut any = self.let_go_of_sticks();
        for i in 0..self.held.len() {
            let Some((n, k)) = self.held[i] else { continue };
            let s = &self.sites.all[k as usize];
            let (a, b) = self.frames(s);
            let reaction = self.holding_force(i, n);
            let limit = self.sites.pairs[s.pair].mu1 * self.normal_force(k as usize, &a, &b);
            if limit <= 0.0 || reaction.length() > limit {
                self.held[i] = None;
                self.released[k as usize] = true;
                any = true;
            }
        }
        any
    }

    /// What the constraint on node `i`, held on a surface with normal `n`, pushes with [N]: the tangential balance without friction.
    pub(super) fn holding_force(&self, i: usize, n: Vec3) -> Vec3 {
        let node = &self.model.nodes[i];
        let mut inertia = Vec3::ZERO;
        for (j, block) in self.mass.row(node.block) {
            let (at, _) = self.mass.block(j);
            inertia += block[0] * Vec3::from_slice(&self.acceleration[at..]);
        }
        let reaction = inertia - Vec3::from_slice(&self.asm.f[node.dof..]);
        reaction - n * n.dot(reaction)
    }

    /// Lets go of points of sticks that lost contact, and of sticks whose points cannot share their force among them.
    fn let_go_of_sticks(&mut self) -> bool {
        let mut any = false;
        for i in 0..self.sticks.len() {
            let stick = &self.sticks[i];
            let (a, b) = self.frames(&self.sites.all[stick.sites[0] as usize]);
            let ground = self.ground::<0>(stick, (&a, &a.dual(0)), (&b, &b.dual(0)));
            let [t1, t2] = ground.tangents.map(|t| t.value());
            let points: Vec<Limited> = stick
                .sites
                .iter()
                .map(|&k| {
                    let s = &self.sites.all[k as usize];
                    let (a, b) = self.frames(s);
                    let place =
                        s.place(&self.sites.obstacles[s.obstacle], (&a, &a.dual::<0>(0)), (&b, &b.dual(0)));
                    let arm = place.point.value() - ground.centre.value();
                    let limit = self.sites.pairs[s.pair].mu1 * self.normal_force(k as usize, &a, &b);
                    Limited { x: [t1.dot(arm), t2.dot(arm)], limit }
                })
                .collect();
            let [f1, f2, twist] = stick.force;
            let lost = points.iter().any(|p| p.limit <= 0.0);
            if !lost && can_share(&points, [f1, f2, twist * stick.length]) {
                continue;
            }
            any = true;
            for (point, k) in points.iter().zip(stick.sites.clone()) {
                if !lost || point.limit <= 0.0 {
                    self.gripped[k as usize] = false;
                    self.released[k as usize] = true;
                }
            }
        }
        if any {
            let there = std::mem::take(&mut self.there);
            self.form_sticks(&there);
            self.there = there;
        }
        any
    }

    pub(super) fn normal_force(&self, k: usize, a: &Frame, b: &Frame) -> f64 {
        match self.site_force::<0>(k, a, b) {
            Some([side, _]) => {
                let s = &self.sites.all[k];
                side.2.value().dot(s.normal(&self.sites.obstacles[s.obstacle], a, b))
            }
            None => 0.0,
        }
    }
}

/// A point in the plane of a stick and the friction it can bear.
struct Limited {
    /// From the mean of the points, along both tangents [m].
    x: [f64; 2],
    /// μ f_n [N].
    limit: f64,
}

/// Rounds in which overloaded points hand on what they cannot bear.
const ROUNDS_OF_SHARING: usize = 200;
/// Points may exceed their limit by this share: rounding where a body is held at the limit itself.
const OVER: f64 = 1e-9;

/// Can points bear a force along both tangents and a moment about the normal between them? First all give way alike in proportion to what
/// they bear; those above their limit then stay at it and the others take over. Two points that stick make a rigid body stick, so
/// that it holds as a whole or not at all.
fn can_share(points: &[Limited], [f1, f2, moment]: [f64; 3]) -> bool {
    let mut w: Vec<f64> = points.iter().map(|p| p.limit).collect();
    for _ in 0..ROUNDS_OF_SHARING {
        // Σ wᵢ (V + Ω × xᵢ) = F, Σ wᵢ xᵢ × (V + Ω × xᵢ) = moment.
        let sum = |f: &dyn Fn(&Limited) -> f64| points.iter().zip(&w).map(|(p, w)| w * f(p)).sum::<f64>();
        let all = sum(&|_| 1.0);
        let c = [sum(&|p| p.x[0]) / all, sum(&|p| p.x[1]) / all];
        let spread = sum(&|p| (p.x[0] - c[0]).powi(2) + (p.x[1] - c[1]).powi(2));
        let moment = moment - (c[0] * f2 - c[1] * f1);
        if points.len() == 1 {
            return f1.hypot(f2) <= (1.0 + OVER) * points[0].limit;
        }
        let turn = moment / spread;
        let mut over = false;
        for (p, w) in points.iter().zip(&mut w) {
            let u = [f1 / all - turn * (p.x[1] - c[1]), f2 / all + turn * (p.x[0] - c[0])];
            let speed = u[0].hypot(u[1]);
            if *w * speed > (1.0 + OVER) * p.limit {
                over = true;
                *w = p.limit / speed;
            }
        }
        if !over {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_corners_share_what_they_can_bear() {
        let corner = |x: f64, y: f64, limit: f64| Limited { x: [x, y], limit };
        let four =
            [corner(1.0, 1.0, 1.0), corner(-1.0, 1.0, 1.0), corner(-1.0, -1.0, 1.0), corner(1.0, -1.0, 1.0)];
        assert!(can_share(&four, [4.0, 0.0, 0.0]) && !can_share(&four, [4.01, 0.0, 0.0]));
        // A pure moment: each bears its limit at the distance √2.
        let most = 4.0 * 2f64.sqrt();
        assert!(can_share(&four, [0.0, 0.0, most]) && !can_share(&four, [0.0, 0.0, 1.01 * most]));
        // The pressure is off the centre, and so is the force.
        let uneven =
            [corner(1.0, 1.0, 1.5), corner(-1.0, 1.0, 0.5), corner(-1.0, -1.0, 0.5), corner(1.0, -1.0, 1.5)];
        assert!(can_share(&uneven, [0.0, 3.9, 1.95]) && !can_share(&uneven, [0.0, 4.1, 2.05]));
        // If all gave way alike, those at x = 1 would bear |(0.3, 1.05)| = 1.09; the others can take over.
        assert!(can_share(&four, [0.0, 3.0, 2.4]));
    }
}
