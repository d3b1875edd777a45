//! Contacts as hard constraints (15), solved as a sequence of quadratic programs: what the penalty is compared with.
//!
//! Nodes on planes that stand still obey g = 0 while their multiplier pushes, and do not slide while the multiplier of
//! friction is below c_f λ. Where it is not, the node slides under a friction force that is lagged: its direction is that of the reaction
//! while it stuck, its size c_f λ of the last iteration (4.1). So Newton is quadratic while contacts stick and linear while they
//! slide. Other contacts keep the penalty. There are no derivatives.

use super::assembly::{Frame, add_part};
use super::bdf::Phase;
use super::law::FrictionModel;
use super::residual::project_rows;
use super::{Newton, System};
use crate::error::StepError;
use crate::linalg::{Mat3, Vec3};

/// Most changes of the active set and of lagged forces in a step.
const MOST_ROUNDS: usize = 100;
/// Rounds in which sliding nodes may stick again, and contacts that pull may open, so that none comes and goes for ever.
const ROUNDS_OF_CHANGE: usize = 12;

/// A node on a plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hard {
    normal: Vec3,
    site: u32,
    /// Where it slides: direction and lagged size [N] of friction.
    friction: Option<(Vec3, f64)>,
    /// What the constraints push with, inertia less forces [N].
    reaction: Vec3,
}

impl System {
    /// One step: all contacts stick first, then the active set and lagged friction are updated until neither changes.
    pub(super) fn solve_sqp(
        &mut self,
        from: &Phase,
        d: &mut [f64],
        step: usize,
        report: &mut Newton,
    ) -> Result<(), StepError> {
        self.hard.fill(None);
        for &site in &from.stuck {
            let Some(node) = self.can_hold(site as usize) else { continue };
            let s = &self.sites.all[site as usize];
            let frame = |part| Frame::at(&self.model, &from.state, part);
            let normal = s.normal(&self.sites.obstacles[s.obstacle], &frame(s.a), &frame(s.b));
            self.press(node.index(), site as usize, normal);
        }
        let loose = self.settings.tolerance.sqrt() / self.settings.tolerance;
        let mut goal = loose;
        for round in 0..MOST_ROUNDS {
            let solved = self.newton(from, d, step, goal, report)?;
            let wanted = self.targets_of_residual().0;
            let set = self.update_set(round < ROUNDS_OF_CHANGE);
            let change = self.update_friction();
            if !set && change <= goal * wanted {
                if goal == 1.0 || !solved {
                    return Ok(());
                }
                goal = 1.0;
            }
        }
        report.status = crate::solvers::Status::Budget;
        Ok(())
    }

    /// Makes a node stick to the plane of a site.
    fn press(&mut self, node: usize, site: usize, normal: Vec3) {
        self.hard[node] = Some(Hard { normal, site: site as u32, friction: None, reaction: Vec3::ZERO });
        self.held[node] = Some((normal, site as u32));
    }

    /// New contacts, contacts that pull, and nodes that begin to slide or to stick; true when there were any.
    fn update_set(&mut self, may_return: bool) -> bool {
        let mut any = false;
        for k in 0..self.sites.all.len() {
            let Some(node) = self.can_hold(k) else { continue };
            let s = &self.sites.all[k];
            let (a, b) = self.frames(s);
            let mu = self.sites.pairs[s.pair].mu1;
            match &mut self.hard[node.index()] {
                None => {
                    let obstacle = &self.sites.obstacles[s.obstacle];
                    if s.gap(obstacle, &a, &b) < 0.0 {
                        self.press(node.index(), k, s.normal(obstacle, &a, &b));
                        any = true;
                    }
                }
                Some(hard) if hard.site == k as u32 => {
                    let load = hard.normal.dot(hard.reaction);
                    let pull = hard.reaction - hard.normal * load;
                    if load < 0.0 && may_return {
                        self.hard[node.index()] = None;
                        self.held[node.index()] = None;
                        any = true;
                    } else if hard.friction.is_none() && pull.length() > mu * load.max(0.0) {
                        hard.friction = Some((pull / pull.length(), mu * load.max(0.0)));
                        self.held[node.index()] = None;
                        any = true;
                    } else if may_return && hard.friction.is_some_and(|f| f.0.dot(a.v) > 0.0) {
                        // Friction would drive it.
                        hard.friction = None;
                        self.held[node.index()] = Some((hard.normal, hard.site));
                        any = true;
                    }
                }
                Some(_) => {}
            }
        }
        any
    }

    /// Sets the size of lagged friction to c_f λ; returns the norm of the change [N].
    fn update_friction(&mut self) -> f64 {
        let mut change = 0.0;
        for hard in self.hard.iter_mut().flatten() {
            let mu = self.sites.pairs[self.sites.all[hard.site as usize].pair].mu1;
            let limit = mu * hard.normal.dot(hard.reaction).max(0.0);
            if let Some((_, size)) = &mut hard.friction {
                change += (limit - *size).powi(2);
                *size = limit;
            }
        }
        change.sqrt()
    }

    /// Sites of nodes that slide on their planes.
    pub(super) fn sliding(&self) -> impl Iterator<Item = u32> + '_ {
        self.hard.iter().flatten().filter(|h| h.friction.is_some()).map(|h| h.site)
    }

    /// A hard constraint takes the place of this site's force.
    pub(super) fn is_hard(&self, site: usize) -> bool {
        self.settings.friction == FrictionModel::Sqp && self.can_hold(site).is_some()
    }

    /// The whole force of the hard constraint at a site [N], on its node; nothing where there is none.
    pub(super) fn hard_force(&self, site: usize) -> Option<Vec3> {
        self.hard.iter().flatten().find(|h| h.site as usize == site).map(|h| h.reaction)
    }

    /// Remembers what constraints must push with: r before its rows are replaced.
    pub(super) fn read_reactions(&mut self) {
        for (n, hard) in self.model.nodes.iter().zip(&mut self.hard) {
            if let Some(hard) = hard {
                hard.reaction = Vec3::from_slice(&self.r[n.dof..]);
            }
        }
    }

    /// r' = T (r − f_t) + s n g: the tangential part feels lagged friction, the normal part stays on its plane.
    pub(super) fn project_hard(&mut self, matrices: bool) {
        let scale = self.held_scale();
        for i in 0..self.hard.len() {
            let Some(Hard { normal, site, friction, .. }) = self.hard[i] else { continue };
            let s = &self.sites.all[site as usize];
            let (a, b) = self.frames(s);
            let gap = s.gap(&self.sites.obstacles[s.obstacle], &a, &b);
            let node = &self.model.nodes[i];
            let r = Vec3::from_slice(&self.r[node.dof..])
                - friction.map_or(Vec3::ZERO, |(direction, size)| direction * size);
            let out = r - normal * normal.dot(r) + normal * (gap * scale(node.mass));
            out.write_to_slice(&mut self.r[node.dof..node.dof + 3]);
            if matrices {
                for m in [&mut self.gq, &mut self.gv] {
                    project_rows(m, node.block, |column| column - normal * normal.dot(column));
                }
            }
        }
    }

    /// ∂(s n g)/∂d.
    pub(super) fn add_hard_rows(&mut self) {
        let scale = self.held_scale();
        for (node, hard) in self.model.nodes.iter().zip(&self.hard) {
            let Some(Hard { normal: n, .. }) = *hard else { continue };
            let m = Mat3::from_cols(n * n.x, n * n.y, n * n.z) * scale(node.mass);
            add_part(&mut self.rd, (node.block, 0), (node.block, 0), &m);
        }
    }
}
