//! Parts of a large island, solved while the rest keeps its impulses: one Gauss–Seidel step whose block is the patch.
//!
//! **What is left** ([`Patch::mend`]). From one step to the next most of a pile at rest keeps its impulses, and sweeps
//! over all of it are for the sake of a few bodies; where a handful of these are jammed, each sweep lowers their error by
//! less than a thousandth. The contacts that are in error, and all others of the same bodies, are solved together: by
//! Newton where they are few, else by sweeps.
//!
//! **What came late** ([`Patch::fit`]). Contacts that a look ahead has found in an island that is solved already concern
//! their bodies and those around them; sweeps over the contacts of these cost what the patch costs, not what the island
//! costs.

use super::chain::{Buffers, Chain};
use super::{Settings, SolveReport, Status, Trace};
use crate::contact::delassus::Delassus;
use crate::contact::delassus::bodies::Bodies;
use crate::contact::delassus::near::Near;
use crate::contact::{ContactProblem, Solution};
use crate::linalg::Vec3;
use crate::solvers::measure::velocity_scale;

/// Patches solved one after the other; each must lower the error.
const MOST_PATCHES: usize = 3;
/// Contacts above this share of the tolerance belong to the patch.
const NEAR: f64 = 0.3;
/// A patch is solved to this share of the tolerance, so that what it leaves is not in the way of the next.
const SHARPER: f64 = 0.1;
/// Sweeps before Newton.
const SWEEPS: usize = 10;
/// A patch of more than this share of the contacts is not worth while.
const LARGEST_SHARE: f64 = 0.4;
/// Bodies between a late contact and the border of its patch.
const LAYERS: usize = 3;

/// Buffers of the patches.
#[derive(Default)]
pub(super) struct Patch {
    bodies: Bodies,
    buffers: Buffers,
    near: Near,
    u: Vec<Vec3>,
    error: Vec<f64>,
    r: Vec<Vec3>,
    chosen: Vec<u32>,
    old: Vec<Vec3>,
    v: Vec<f64>,
}

impl Patch {
    /// Improves `r`, the impulses of `contacts` of `p` that `island` holds, and the report on them. False where the
    /// contacts in error are too many to make a patch.
    pub fn mend(
        &mut self,
        p: &ContactProblem,
        contacts: &[u32],
        island: &mut Bodies,
        settings: &Settings,
        r: &mut [Vec3],
        report: &mut SolveReport,
        trace: &mut dyn Trace,
    ) -> bool {
        let speed = velocity_scale(island, p.velocity_scale);
        let goal = settings.tolerance * speed;
        let (mut worst, mut merit) = self.find_errors(island, r);
        let mut is_local = true;
        for _ in 0..MOST_PATCHES {
            if worst <= goal {
                break;
            }
            is_local = self.choose(p, contacts, NEAR * goal);
            if !is_local || !self.bodies.prepare(p, self.near.contacts()) {
                break;
            }
            self.v.resize(p.dofs(), 0.0);
            island.write_velocity(r, &mut self.v);
            self.old.clear();
            self.old.extend(self.chosen.iter().map(|&c| r[c as usize]));
            self.r.clone_from(&self.old);
            self.bodies.start_from(&self.v, &self.r, |_| true);
            let sharp = SHARPER * goal / velocity_scale(&self.bodies, p.velocity_scale);
            let mut inner = Settings { tolerance: sharp, aim: sharp, ..*settings };
            if self.bodies.system_size() <= settings.newton_size {
                inner.first_sweeps = SWEEPS;
            }
            let solved = Chain::new(&mut self.bodies, &mut self.buffers, &inner, p.velocity_scale, trace)
                .run(&mut self.r);
            report.factorizations += solved.factorizations;
            report.work += solved.work;
            for (&c, x) in self.chosen.iter().zip(&self.r) {
                r[c as usize] = *x;
            }
            let now = self.find_errors(island, r);
            if now.1 >= merit {
                for (&c, x) in self.chosen.iter().zip(&self.old) {
                    r[c as usize] = *x;
                }
                break;
            }
            (worst, merit) = now;
        }
        report.velocity = worst / speed;
        if worst <= goal {
            report.status = Status::Converged;
        }
        is_local
    }

    /// Solves `x` anew near the contacts `changed` of an island with the given contacts; false where that is a large
    /// part of it.
    pub fn fit(
        &mut self,
        p: &ContactProblem,
        contacts: &[u32],
        changed: &[u32],
        settings: &Settings,
        x: &mut Solution,
        report: &mut SolveReport,
        trace: &mut dyn Trace,
    ) -> bool {
        self.near.from(p, changed.iter().map(|&c| c as usize));
        for _ in 0..LAYERS {
            self.near.grow(p, contacts.iter().copied());
        }
        let near = self.near.contacts();
        if is_large(near, contacts) || !self.bodies.prepare(p, near) {
            return false;
        }
        self.r.clear();
        self.r.extend(near.iter().map(|&c| x.lambda[c as usize] / p.law[c as usize].stretch()));
        // The rows of changed contacts are not those by which `x` was found, but all contacts of their bodies are here.
        self.bodies.start_from(&x.v, &self.r, |block| !self.near.is_inner(block));
        let sweeps = Settings { newton_size: 0, ..*settings };
        *report = Chain::new(&mut self.bodies, &mut self.buffers, &sweeps, p.velocity_scale, trace)
            .run(&mut self.r);
        for (&c, r) in near.iter().zip(&self.r) {
            x.lambda[c as usize] = *r * p.law[c as usize].stretch();
        }
        self.bodies.write_velocity(&self.r, &mut x.v);
        true
    }

    /// The contact of the problem that is number `c` of the patch.
    pub fn contact(&self, c: usize) -> usize {
        self.near.contacts()[c] as usize
    }

    /// The natural map of every contact as a velocity, the largest [m/s], and the merit of all.
    fn find_errors(&mut self, island: &mut Bodies, r: &[Vec3]) -> (f64, f64) {
        self.u.resize(r.len(), Vec3::ZERO);
        island.velocity(r, &mut self.u);
        self.error.clear();
        let (mut worst, mut sum) = (0.0, 0.0);
        for c in 0..r.len() {
            let s = island.scale(c);
            let e = island.law(c).natural_map(r[c], self.u[c], s).length();
            self.error.push(s * e);
            worst = f64::max(worst, s * e);
            sum += s * e * e;
        }
        (worst, sum)
    }

    /// All contacts of the bodies that have one with an error above `limit`, as contacts of `p` in `near` and of the
    /// island in `chosen`; false where that is too many.
    fn choose(&mut self, p: &ContactProblem, contacts: &[u32], limit: f64) -> bool {
        let Patch { near, error, chosen, .. } = self;
        near.from(p, (0..contacts.len()).filter(|&c| error[c] > limit).map(|c| contacts[c] as usize));
        if is_large(near.contacts(), contacts) {
            return false;
        }
        near.grow(p, contacts.iter().copied());
        chosen.clear();
        // Both are ascending.
        let mut k = 0;
        for &c in near.contacts() {
            k += contacts[k..].partition_point(|&o| o < c);
            chosen.push(k as u32);
        }
        !is_large(near.contacts(), contacts)
    }
}

fn is_large(near: &[u32], contacts: &[u32]) -> bool {
    near.len() as f64 > LARGEST_SHARE * contacts.len() as f64
}
