//! Newton on the few contacts that sweeps leave in a large island.
//!
//! In a pile at rest a handful of jammed bodies can keep a residual that sweeps lower by less than a thousandth each.
//! Their contacts, and all others of the same bodies, are solved together by Newton while the rest of the island
//! keeps its impulses: one Gauss–Seidel step whose block is the patch.

use super::chain::{Buffers, Chain};
use super::{Settings, SolveReport, Status, Trace};
use crate::contact::ContactProblem;
use crate::contact::bodies::Bodies;
use crate::contact::delassus::Delassus;
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

/// Buffers of the patches.
#[derive(Default)]
pub(super) struct Patch {
    bodies: Bodies,
    buffers: Buffers,
    u: Vec<Vec3>,
    error: Vec<f64>,
    marked: Vec<bool>,
    chosen: Vec<u32>,
    contacts: Vec<u32>,
    r: Vec<Vec3>,
    old: Vec<Vec3>,
    v: Vec<f64>,
}

impl Patch {
    /// Improves `r`, the impulses of `contacts` of `p` that `island` holds, and the report on them.
    pub fn mend(
        &mut self,
        p: &ContactProblem,
        contacts: &[u32],
        island: &mut Bodies,
        settings: &Settings,
        r: &mut [Vec3],
        report: &mut SolveReport,
        trace: &mut dyn Trace,
    ) {
        let speed = velocity_scale(island, p.velocity_scale);
        let goal = settings.tolerance * speed;
        let mut worst = self.find_errors(island, r);
        for _ in 0..MOST_PATCHES {
            if worst <= goal || !self.choose(island, contacts, NEAR * goal, settings.newton_size) {
                break;
            }
            self.v.resize(p.dofs(), 0.0);
            island.write_velocity(r, &mut self.v);
            self.old.clear();
            self.old.extend(self.chosen.iter().map(|&c| r[c as usize]));
            self.r.clone_from(&self.old);
            if !self.bodies.prepare(p, &self.contacts) || self.bodies.system_size() > settings.newton_size {
                break;
            }
            self.bodies.start_from(&self.v, &self.r);
            let sharp = SHARPER * goal / velocity_scale(&self.bodies, p.velocity_scale);
            let inner = Settings { tolerance: sharp, aim: sharp, first_sweeps: SWEEPS, ..*settings };
            let solved = Chain::new(&mut self.bodies, &mut self.buffers, &inner, p.velocity_scale, trace)
                .run(&mut self.r);
            report.factorizations += solved.factorizations;
            for (&c, x) in self.chosen.iter().zip(&self.r) {
                r[c as usize] = *x;
            }
            let now = self.find_errors(island, r);
            if now >= worst {
                for (&c, x) in self.chosen.iter().zip(&self.old) {
                    r[c as usize] = *x;
                }
                break;
            }
            worst = now;
        }
        report.velocity = worst / speed;
        if worst <= goal {
            report.status = Status::Converged;
        }
    }

    /// The natural map of every contact as a velocity, and the largest [m/s].
    fn find_errors(&mut self, island: &mut Bodies, r: &[Vec3]) -> f64 {
        self.u.resize(r.len(), Vec3::ZERO);
        island.velocity(r, &mut self.u);
        self.error.clear();
        for c in 0..r.len() {
            let s = island.scale(c);
            self.error.push(s * island.law(c).natural_map(r[c], self.u[c], s).length());
        }
        self.error.iter().copied().fold(0.0, f64::max)
    }

    /// All contacts of the bodies that have one with an error above `limit`; false where that is too many.
    fn choose(&mut self, island: &Bodies, contacts: &[u32], limit: f64, most_dofs: usize) -> bool {
        self.marked.clear();
        self.marked.resize(island.bodies_moved(), false);
        let mut dofs = 0;
        for c in (0..contacts.len()).filter(|&c| self.error[c] > limit) {
            for b in island.bodies_of(c) {
                dofs += if self.marked[b] { 0 } else { 6 };
                self.marked[b] = true;
            }
        }
        if dofs > most_dofs {
            return false;
        }
        self.chosen.clear();
        self.chosen.extend(
            (0..contacts.len() as u32).filter(|&c| island.bodies_of(c as usize).any(|b| self.marked[b])),
        );
        self.contacts.clear();
        self.contacts.extend(self.chosen.iter().map(|&c| contacts[c as usize]));
        true
    }
}
