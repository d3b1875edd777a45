//! Sleeping, an option: islands of rigid bodies that are slow for a while are frozen until something touches them.
//!
//! Bodies at rest on each other (by contacts and joints) fall asleep together and wake together. While they sleep they
//! keep their place, have no velocity and are not solved; their contacts are remembered with the forces that they had, so
//! that read-outs and the guess of the next solve stay true. Joints of sleeping bodies report no force.

use crate::collide::Contact;
use crate::contact::warm::{Carried, WarmCache};
use crate::coords::{Anchor, BodyId, ShapeId};
use crate::kinematics::Placement;
use crate::linalg::Vec3;
use crate::model::{Model, ModelForce, Owner};

/// When bodies may fall asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Every point of every body of the island is slower than this [m/s]…
    pub speed: f64,
    /// …for this long [s].
    pub time: f64,
}

impl Default for Sleep {
    fn default() -> Self {
        Sleep { speed: 0.01, time: 0.5 }
    }
}

const AWAKE: u32 = u32::MAX;

/// Who sleeps, and for how long others have been slow.
#[derive(Debug, Default, PartialEq)]
pub struct SleepMemory {
    /// For each body, the lowest of those that fell asleep with it.
    pub(in crate::steppers) group: Vec<u32>,
    /// For each body, for how long it has been slow [s].
    pub(in crate::steppers) still: Vec<f64>,
    /// Contacts of sleeping bodies with the force on side a [N], sorted by key.
    pub(in crate::steppers) frozen: Vec<(Contact, Vec3)>,
}

impl Clone for SleepMemory {
    fn clone(&self) -> SleepMemory {
        let mut memory = SleepMemory::default();
        memory.clone_from(self);
        memory
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, other: &SleepMemory) {
        self.group.clone_from(&other.group);
        self.still.clone_from(&other.still);
        self.frozen.clone_from(&other.frozen);
    }
}

impl SleepMemory {
    /// All bodies of a model awake.
    pub fn new(model: &Model) -> SleepMemory {
        let n = model.bodies.len();
        SleepMemory { group: vec![AWAKE; n], still: vec![0.0; n], frozen: Vec::new() }
    }

    /// Wakes all bodies; the forces of their contacts become guesses again.
    pub fn wake_all(&mut self, warm: &mut WarmCache) {
        for (group, still) in self.group.iter_mut().zip(&mut self.still).filter(|(g, _)| **g != AWAKE) {
            (*group, *still) = (AWAKE, 0.0);
        }
        if !self.frozen.is_empty() {
            let carried = |(c, force): (Contact, Vec3)| Carried { key: c.key, force, point: c.point };
            warm.entries.extend(self.frozen.drain(..).map(carried));
            warm.entries.sort_by_key(|e| e.key);
            warm.entries.dedup_by_key(|e| e.key);
        }
    }
}

/// Puts bodies to sleep and wakes them.
pub(crate) struct Sleeper {
    settings: Sleep,
    /// Bodies that can sleep at all.
    may: Vec<bool>,
    /// The largest reach of each body's shapes [m].
    reach: Vec<f64>,
    pub memory: SleepMemory,
    parent: Vec<u32>,
    restless: Vec<bool>,
    /// Groups that are to wake, by their lowest bodies; all false between calls.
    waking: Vec<bool>,
}

impl Sleeper {
    pub fn new(model: &Model, settings: Sleep) -> Sleeper {
        // What springs, solids and rods pull at, and what motors drive, stays awake.
        let mut may: Vec<bool> = model
            .bodies
            .iter()
            .map(|b| b.block.is_some() && b.link.is_none() && model.rods.is_empty())
            .collect();
        let mut keep = |a: &Anchor| {
            if let Anchor::Body { body, .. } = a {
                may[body.index()] = false;
            }
        };
        model.springs.iter().flat_map(|s| s.ends.iter().flatten()).for_each(|(a, _)| keep(a));
        model.solids.iter().flat_map(|s| &s.vertices).for_each(&mut keep);
        for j in model.joints.iter().filter(|j| j.motor.is_some()) {
            j.a.into_iter().chain([j.b]).for_each(|b| may[b.index()] = false);
        }
        let reach = |b: &crate::model::ModelBody| {
            b.shapes.clone().map(|s| model.shapes[s].reach).filter(|r| r.is_finite()).fold(0.0, f64::max)
        };
        Sleeper {
            settings,
            reach: model.bodies.iter().map(reach).collect(),
            may,
            memory: SleepMemory::new(model),
            parent: Vec::new(),
            restless: Vec::new(),
            waking: vec![false; model.bodies.len()],
        }
    }

    /// Does a body sleep?
    pub fn sleeps(&self, body: usize) -> bool {
        self.memory.group[body] != AWAKE
    }

    /// How many bodies sleep.
    pub fn count(&self) -> usize {
        self.memory.group.iter().filter(|g| **g != AWAKE).count()
    }

    /// Contacts of sleeping bodies with the force on side a.
    pub fn frozen(&self) -> &[(Contact, Vec3)] {
        &self.memory.frozen
    }

    /// Wakes those whom a force starts to pull within the step.
    pub fn wake_pulled<'a>(
        &mut self,
        forces: impl Iterator<Item = &'a ModelForce>,
        t: f64,
        h: f64,
        warm: &mut WarmCache,
    ) {
        if crate::mutant::on("no-wake") {
            return;
        }
        let mut any = false;
        for f in forces {
            if let Owner::Body(b) = f.target
                && f.from < t + h
                && f.until > t
            {
                self.memory.still[b.index()] = 0.0;
                any |= self.mark(b);
            }
        }
        if any {
            self.wake_marked(warm);
        }
    }

    /// Wakes whoever has a contact; true if someone did.
    pub fn wake_touched(&mut self, model: &Model, contacts: &[Contact], warm: &mut WarmCache) -> bool {
        let mut woken = false;
        for c in contacts {
            for s in [c.key.shape_a, c.key.shape_b] {
                if let Some(b) = body_of(model, s) {
                    woken |= self.mark(b);
                }
            }
        }
        if woken {
            self.wake_marked(warm);
        }
        woken
    }

    /// Marks the group of a body to be woken; false where the body is awake.
    fn mark(&mut self, body: BodyId) -> bool {
        let group = self.memory.group[body.index()];
        if group != AWAKE {
            self.waking[group as usize] = true;
        }
        group != AWAKE
    }

    /// Wakes the groups that are marked, all in one pass; the forces of their contacts become a guess again.
    fn wake_marked(&mut self, warm: &mut WarmCache) {
        let SleepMemory { group: groups, still, frozen } = &mut self.memory;
        for (group, still) in groups.iter_mut().zip(still) {
            if *group != AWAKE && self.waking[*group as usize] {
                (*group, *still) = (AWAKE, 0.0);
            }
        }
        self.waking.fill(false);
        let before = warm.entries.len();
        frozen.retain(|(c, force)| {
            // The bodies of the groups are awake now.
            let kept = [c.a, c.b]
                .iter()
                .any(|a| matches!(a, Anchor::Body { body, .. } if groups[body.index()] != AWAKE));
            if !kept {
                warm.entries.push(Carried { key: c.key, force: *force, point: c.point });
            }
            kept
        });
        if warm.entries.len() > before {
            warm.entries.sort_by_key(|e| e.key);
            warm.entries.dedup_by_key(|e| e.key);
        }
    }

    /// After a step: counts how long bodies have been slow and puts islands at rest to sleep, with velocity zero.
    pub fn settle(
        &mut self,
        model: &Model,
        now: &mut Placement,
        h: f64,
        contacts: &[Contact],
        forces: &[Vec3],
    ) {
        let Sleeper { settings, may, reach, memory, parent, restless, .. } = self;
        for (k, b) in model.bodies.iter().enumerate().filter(|(_, b)| b.block.is_some()) {
            let part = |at: usize| Vec3::from_slice(&now.state.v[at..]).length();
            let slow = part(b.dof) + reach[k] * part(b.dof + 3) < settings.speed;
            memory.still[k] = if slow { memory.still[k] + h } else { 0.0 };
        }
        parent.clear();
        parent.extend(0..model.bodies.len() as u32);
        restless.clear();
        restless.extend((0..model.bodies.len()).map(|k| !may[k] || memory.still[k] < settings.time));
        let free = |b: BodyId| model.bodies[b.index()].block.is_some();
        for c in contacts {
            match (body_of(model, c.key.shape_a), body_of(model, c.key.shape_b)) {
                (Some(a), Some(b)) if free(a) && free(b) => join(parent, a.0, b.0),
                // Particles and what bends never sleep; nor do those who touch them, or what moves by rule.
                (Some(a), Some(b)) => {
                    let (one, other) = if free(a) { (a, b) } else { (b, a) };
                    let other = now.kinematics(model).body(other);
                    restless[one.index()] |= other.v != Vec3::ZERO || other.w != Vec3::ZERO;
                }
                (a, b) => a.into_iter().chain(b).for_each(|b| restless[b.index()] = true),
            }
        }
        for j in &model.joints {
            if let Some(a) = j.a.filter(|a| free(*a) && free(j.b)) {
                join(parent, a.0, j.b.0);
            }
        }
        // An island is as restless as its most restless body.
        for k in 0..model.bodies.len() {
            if restless[k] && model.bodies[k].block.is_some() {
                let root = find(parent, k as u32) as usize;
                restless[root] = true;
            }
        }
        let mut fell = false;
        for (k, b) in model.bodies.iter().enumerate().filter(|(_, b)| b.block.is_some()) {
            let root = find(parent, k as u32);
            if memory.group[k] == AWAKE && !restless[root as usize] {
                memory.group[k] = root;
                now.state.v[b.dof..b.dof + 6].fill(0.0);
                fell = true;
            }
        }
        if fell {
            now.update(model);
            for (c, f) in contacts.iter().zip(forces) {
                let sleeps = |s: ShapeId| body_of(model, s).is_some_and(|b| memory.group[b.index()] != AWAKE);
                if sleeps(c.key.shape_a) || sleeps(c.key.shape_b) {
                    memory.frozen.push((*c, *f));
                }
            }
            memory.frozen.sort_by_key(|(c, _)| c.key);
        }
    }
}

fn body_of(model: &Model, s: ShapeId) -> Option<BodyId> {
    match model.shapes[s.index()].owner {
        Owner::Body(b) => Some(b),
        _ => None,
    }
}

/// The lowest body of the island.
fn find(parent: &mut [u32], mut k: u32) -> u32 {
    while parent[k as usize] != k {
        parent[k as usize] = parent[parent[k as usize] as usize];
        k = parent[k as usize];
    }
    k
}

fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}
