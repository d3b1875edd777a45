//! What contacts that stick have to take over from neighbours that give way.
//!
//! Where a body is dragged over the floor, the row of contacts next to those that slip carries all that is pulled at behind it.
//! Newton's steps alone move that border by one row each, so that finer meshes take more of them. Here a contact whose
//! friction would exceed its cone hands the surplus on to those of its neighbours that stick, which may give way in turn.

use super::modes::{Active, Mode};
use crate::contact::law::RoundLaw;
use crate::contact::law::cone::tangent_norm;
use crate::linalg::Vec3;
use crate::solvers::island::{Island, NONE};

/// Share of the surplus that arrives; inertia and what lies behind take the rest. 0.5 to 0.9 are nearly as good, all of it
/// goes too far.
const SHARE: f64 = 0.8;

#[derive(Default)]
pub(super) struct Overload {
    /// Friction that each contact takes over, stretched contact axes.
    pub taken: Vec<Vec3>,
    /// The sticking contact whose slave a node is.
    contact_at: Vec<u32>,
    /// Contacts that give way, in the order in which they do.
    queue: Vec<u32>,
    gave_way: Vec<bool>,
}

impl Overload {
    /// Finds what contacts take over when those of `active` that stick, and carry more than they can, give way.
    pub fn hand_on(&mut self, island: &Island, active: &[Active], lambda: &[Vec3]) {
        self.taken.clear();
        self.taken.resize(lambda.len(), Vec3::ZERO);
        self.gave_way.clear();
        self.gave_way.resize(lambda.len(), false);
        self.contact_at.clear();
        self.contact_at.resize(island.nodes, NONE);
        self.queue.clear();
        for (c, a) in active.iter().enumerate().filter(|(_, a)| a.mode == Mode::Stick && a.slave != NONE) {
            self.contact_at[node_of(island, c, a)] = c as u32;
            self.try_hold(island, c, lambda);
        }
        let mut next = 0;
        while let Some(&c) = self.queue.get(next) {
            next += 1;
            self.give_way(island, active, c as usize, lambda);
        }
    }

    /// Friction of a contact beyond its cone, with what it has taken over.
    fn surplus(&self, island: &Island, c: usize, lambda: &[Vec3]) -> Vec3 {
        let RoundLaw::Cone(mu) = island.touches[c].law else { return Vec3::ZERO };
        let l = lambda[c] + self.taken[c];
        let size = tangent_norm(l);
        if l.x > 0.0 && size > mu * l.x {
            Vec3::new(0.0, l.y, l.z) * (1.0 - mu * l.x / size)
        } else {
            Vec3::ZERO
        }
    }

    /// Queues a contact that carries more than it can.
    fn try_hold(&mut self, island: &Island, c: usize, lambda: &[Vec3]) {
        if !self.gave_way[c] && self.surplus(island, c, lambda) != Vec3::ZERO {
            self.gave_way[c] = true;
            self.queue.push(c as u32);
        }
    }

    /// Shares the surplus of a contact among its neighbours that still stick.
    fn give_way(&mut self, island: &Island, active: &[Active], c: usize, lambda: &[Vec3]) {
        let node = node_of(island, c, &active[c]);
        let row = &island.low.columns()[island.low.range(node)];
        let sticks = |to: &Overload, j: u32| match to.contact_at.get(j as usize) {
            Some(&c) if c != NONE && !to.gave_way[c as usize] => Some(c as usize),
            _ => None,
        };
        let count = row.iter().filter(|&&j| sticks(self, j).is_some()).count();
        let t = &island.touches[c];
        let weight = island.movers(t)[active[c].slave as usize].weight;
        let pull = t.frame.transpose() * self.surplus(island, c, lambda) * (SHARE * weight / count as f64);
        for &j in row {
            if let Some(c) = sticks(self, j) {
                let t = &island.touches[c];
                let taken = t.impulse(pull) / island.movers(t)[active[c].slave as usize].weight;
                self.taken[c] += Vec3::new(0.0, taken.y, taken.z);
            }
        }
        for &j in row {
            if let Some(c) = sticks(self, j) {
                self.try_hold(island, c, lambda);
            }
        }
    }
}

/// The slave of a contact.
fn node_of(island: &Island, c: usize, a: &Active) -> usize {
    island.movers(&island.touches[c])[a.slave as usize].at as usize
}
