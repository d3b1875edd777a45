//! Newton and Euler: what moves differently after a step was pushed by just as much.
//!
//! Bodies that are joined by forces which no report names (springs, rods, elastic solids and what holds them) are judged
//! together: these forces cancel in the sum. Where they join a group to the world or to a body on a path, its holders take what is
//! missing: −dE/ds of the elastic energy as the whole group moves along an axis, found by differences of energies and not from the
//! forces of elements. A step that linearises forces knows this up to the change of the force within the step.

use crate::judge::record::{NORMS, Place, Record, inertia};
use crate::judge::verdict::{LawOf, Verdict};
use std::cell::RefCell;
use std::sync::Arc;
use stiction::coords::{Anchor, BlockKind, BodyId, State};
use stiction::kinematics::Placement;
use stiction::scene::{Model, Owner};
use stiction::{Scheme, SimSettings, Simulation, Vec3};

/// Sums of many forces cancel to this share of them; most solvers keep momentum to rounding, whatever their tolerance.
pub const ROUNDING: f64 = 1e-9;

/// By how much of its change within the step the force of the holders may be off: linearised forces take a part of it, and damping in
/// proportion to stiffness as much again for each β/h.
const HELD: f64 = 0.5;
/// Groups move by this share of the size of the numbers that say where they are, for differences of their energies.
const NUDGE: f64 = 1e-8;

/// Blocks of coordinates that are judged together.
pub struct Groups {
    parent: Vec<usize>,
    held: Vec<bool>,
    alone: Vec<bool>,
    /// Rayleigh's α of each block [1/s], and the largest β of its group [s].
    alpha: Vec<f64>,
    beta: Vec<f64>,
    /// Tells energies.
    probe: RefCell<Simulation>,
}

impl Groups {
    pub fn new(model: &Arc<Model>) -> Groups {
        let n = model.layout.blocks().len();
        let probe = RefCell::new(Simulation::new(model.clone(), SimSettings::default()));
        let (alpha, beta) = (vec![0.0; n], vec![0.0; n]);
        let mut g = Groups {
            parent: (0..n).collect(),
            held: vec![false; n],
            alone: vec![true; n],
            alpha,
            beta,
            probe,
        };
        for s in &model.solids {
            let damping = s.elements.damping();
            model.nodes[s.nodes.clone()].iter().for_each(|node| g.alpha[node.block] = damping.mass);
            let all: Vec<_> = s.vertices.iter().flat_map(|a| parts(model, a, 1.0)).collect();
            g.join(&all, damping.stiffness);
        }
        for s in &model.sheets {
            let solid = &model.solids[s.solid.index()];
            g.join(&solid.vertices.iter().flat_map(|a| parts(model, a, 1.0)).collect::<Vec<_>>(), s.damping);
        }
        for s in &model.springs {
            let ends = s.ends.iter().flatten();
            g.join(&ends.flat_map(|(a, w)| parts(model, a, *w)).collect::<Vec<_>>(), 0.0);
        }
        for r in &model.rods {
            for j in &r.joints {
                let ends = j.ends.iter().flat_map(|e| parts(model, &e.anchor, 1.0));
                g.join(&ends.collect::<Vec<_>>(), r.damping);
            }
        }
        g
    }

    /// Joins what an element with damping β acts on.
    fn join(&mut self, parts: &[(Option<usize>, f64)], beta: f64) {
        let blocks: Vec<usize> = parts.iter().filter_map(|p| p.0).collect();
        let held = parts.iter().any(|p| p.0.is_none());
        let Some(&first) = blocks.first() else { return };
        for &b in &blocks {
            let (x, y) = (self.root(first), self.root(b));
            self.held[x] |= self.held[y] | held;
            self.beta[x] = self.beta[x].max(self.beta[y]).max(beta);
            self.parent[y] = x;
            self.alone[b] = false;
        }
    }

    /// Force of the holders of a group [N] at a state: −dE/ds as all of it moves along each axis. And by how much slopes on both sides
    /// differ: ropes that begin to pull have a kink there.
    fn holding(&self, state: &State, root: usize) -> (Vec3, f64) {
        let mut probe = self.probe.borrow_mut();
        let layout = probe.model().layout.clone();
        let size = state.q.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let nudge = NUDGE * size;
        let mut energy = |axis: usize, by: f64| {
            let mut moved = state.clone();
            for (b, block) in layout.blocks().iter().enumerate() {
                if self.root(b) == root {
                    moved.q[block.q + axis] += by;
                }
            }
            probe.set_state(moved);
            probe.energy().elastic
        };
        let middle = energy(0, 0.0);
        let sides = [0, 1, 2].map(|k| [energy(k, -nudge), energy(k, nudge)]);
        let slopes = sides.map(|[below, above]| (below - above) / (2.0 * nudge));
        let kink = sides.map(|[below, above]| (below - 2.0 * middle + above).abs() / nudge);
        (Vec3::from_array(slopes), kink.iter().sum())
    }

    fn root(&self, mut b: usize) -> usize {
        while self.parent[b] != b {
            b = self.parent[b];
        }
        b
    }
}

/// Blocks that move a point, with their weights; `None` for the world and bodies on paths.
fn parts(model: &Model, anchor: &Anchor, weight: f64) -> Vec<(Option<usize>, f64)> {
    match *anchor {
        Anchor::World { .. } => vec![(None, weight)],
        Anchor::Body { body, .. } => vec![(model.bodies[body.index()].block, weight)],
        Anchor::Node(n) => vec![(Some(model.nodes[n.index()].block), weight)],
        Anchor::Surface { .. } => {
            model.corners(anchor).flat_map(|(a, w)| parts(model, a, weight * w)).collect()
        }
    }
}

/// Impulse and angular impulse about the centre of mass on each block, and the size of what was summed.
struct Sums {
    push: Vec<Vec3>,
    turn: Vec<Vec3>,
    size: Vec<f64>,
    lever: Vec<f64>,
    /// Angular impulse by which arms may be wrong.
    doubt: Vec<f64>,
}

impl Sums {
    fn on_body(&mut self, r: &Record, body: BodyId, arm: Vec3, impulse: Vec3, twist: Vec3) {
        if let Some(block) = r.model.bodies[body.index()].block {
            self.push[block] += impulse;
            self.turn[block] += arm.cross(impulse) + twist;
            self.size[block] += impulse.length();
            self.lever[block] += arm.length() * impulse.length() + twist.length();
        }
    }

    fn on_anchor(&mut self, r: &Record, anchor: &Anchor, at: Vec3, impulse: Vec3) {
        if let Anchor::Body { body, .. } = *anchor {
            self.on_body(r, body, r.lever(anchor, body, at), impulse, Vec3::ZERO);
            return;
        }
        for (block, w) in parts(r.model, anchor, 1.0) {
            let Some(block) = block else { continue };
            self.push[block] += impulse * w;
            self.size[block] += (impulse * w).length();
        }
    }
}

/// Judges the momentum of every body and group in a step.
pub fn judge(r: &Record, groups: &Groups, precision: f64, out: &mut Verdict) {
    let n = r.model.layout.blocks().len();
    let zeros = || vec![Vec3::ZERO; n];
    let mut sums =
        Sums { push: zeros(), turn: zeros(), size: vec![0.0; n], lever: vec![0.0; n], doubt: vec![0.0; n] };
    for (k, (c, f)) in r.contacts.iter().enumerate() {
        // The arms that the step reports; `cone` and `overlap` judge that recorded points are where surfaces are.
        for ((anchor, arm), sign) in [&c.a, &c.b].into_iter().zip(r.acts[k].arms).zip([1.0, -1.0]) {
            match *anchor {
                Anchor::Body { body, .. } => sums.on_body(r, body, arm, *f * (sign * r.h), Vec3::ZERO),
                _ => sums.on_anchor(r, anchor, c.point, *f * (sign * r.h)),
            }
        }
    }
    for (joint, (force, moment)) in r.model.joints.iter().zip(&r.joints) {
        // Both sides meet at the anchor of b.
        let at =
            [r.before, r.after].map(|s| Placement::of(r.model, s).kinematics(r.model).joint(joint).anchor_b);
        let arms = |body| {
            let [start, end] =
                [(r.before, at[0]), (r.after, at[1])].map(|(s, at)| at - r.pose(s, body).translation);
            match (r.scheme, r.place) {
                // The midpoint rule pushes at both ends of the step, in shares that nobody reports.
                (Scheme::Midpoint, _) => (0.5 * (start + end), 0.5 * (end - start).length()),
                (_, Place::End | Place::FoundAtEnd) => (end, 0.0),
                (_, Place::Start) => (start, 0.0),
            }
        };
        for (body, sign) in [(Some(joint.b), 1.0), (joint.a, -1.0)] {
            let Some(body) = body else { continue };
            let (arm, doubt) = arms(body);
            sums.on_body(r, body, arm, *force * (sign * r.h), *moment * (sign * r.h));
            if let Some(block) = r.model.bodies[body.index()].block {
                sums.doubt[block] += doubt * force.length() * r.h;
            }
        }
    }
    add_forces(r, &mut sums);
    let (mut change, spin, weight) = changes(r);
    // Damping in proportion to mass.
    for (b, block) in r.model.layout.blocks().iter().enumerate().filter(|(b, _)| groups.alpha[*b] > 0.0) {
        let mass = r.model.nodes.iter().find(|n| n.block == b).map_or(0.0, |n| n.mass);
        let [from, to] = [r.before, r.after].map(|s| Vec3::from_slice(&s.v[block.v..]));
        let v = if r.scheme == Scheme::Midpoint { 0.5 * (from + to) } else { to };
        change[b] += groups.alpha[b] * r.h * mass * v;
    }

    let mut left = vec![(Vec3::ZERO, 0.0, 0usize); n];
    for b in 0..n {
        let root = groups.root(b);
        left[root].0 += change[b] - sums.push[b];
        left[root].1 += sums.size[b] + weight[b];
        left[root].2 += 1;
    }
    let whole: f64 = left.iter().map(|l| l.1).fold(0.0, f64::max);
    let turned = (0..n).map(|b| sums.lever[b] + spin[b].1).fold(0.0, f64::max);
    for (b, (rest, size, members)) in left.iter().enumerate() {
        if *members == 0 {
            continue;
        }
        if groups.held[b] {
            judge_held(r, groups, b, (*rest, precision * (size + 1e-3 * whole)), out);
            continue;
        }
        // What bends couples its nodes, so that their momentum is found with the rest of the answer, to its tolerance.
        let precision = if groups.alone[b] { precision } else { precision.max(NORMS * r.tolerance) };
        out.judge(LawOf::Momentum, rest.length(), precision * (size + 1e-3 * whole), || {
            format!("{} ({members} parts): {rest} N·s unexplained of {size:e} N·s", block_name(r.model, b))
        });
        if groups.alone[b] && r.model.layout.blocks()[b].kind == BlockKind::Rigid {
            let rest = spin[b].0 - sums.turn[b];
            // A step that takes the gyroscopic torque at one moment keeps angular momentum to second order in its turn.
            let turn = if r.place != Place::Start { spin[b].2.powi(2) } else { 0.0 };
            // Where nothing turns, what is summed for the momentum acts somewhere on the body.
            let size = sums.lever[b] + spin[b].1 + 1e-3 * turned + gyration(r.model, b) * size;
            out.judge(
                LawOf::AngularMomentum,
                rest.length(),
                (precision + turn) * size + sums.doubt[b],
                || format!("{}: {rest} N·m·s unexplained of {:e}", block_name(r.model, b), size),
            );
        }
    }
}

/// Momentum of a group with holders: what is `left` unexplained by other forces is the impulse of the holders.
fn judge_held(r: &Record, groups: &Groups, root: usize, (left, least): (Vec3, f64), out: &mut Verdict) {
    let [(start, kink), (end, other)] = [r.before, r.after].map(|s| groups.holding(s, root));
    let (change, damped) = (end - start, groups.beta[root] / r.h);
    let mean = if r.scheme == Scheme::Midpoint { 0.5 * (start + end) } else { end };
    let rest = left - r.h * (mean + damped * change);
    let doubt = HELD * r.h * (1.0 + damped) * change.length()
        + r.h * (kink + other)
        + least.max(NORMS * r.tolerance * left.length());
    out.judge(LawOf::Held, rest.length(), doubt, || {
        format!("{}: holders push {:e} N, {left} N·s are needed", block_name(r.model, root), end.length())
    });
}

/// Impulses of the forces that the scene names; a window that covers a step in part counts by that part.
fn add_forces(r: &Record, sums: &mut Sums) {
    for f in &r.model.forces {
        let (from, until) = (f.from.max(r.before.t), f.until.min(r.before.t + r.h));
        let time = (until - from).max(0.0);
        match r.model.whole(f.target) {
            Owner::Body(b) => {
                sums.on_body(r, b, r.pose(r.before, b).rotation * f.at, f.force * time, f.torque * time);
            }
            Owner::Node(n) => sums.on_anchor(r, &Anchor::Node(n), Vec3::ZERO, f.force * time),
            Owner::Solid(s) => {
                let first = r.model.solids[s.index()].vertices.iter().find(|a| matches!(a, Anchor::Node(_)));
                if let Some(a) = first {
                    sums.on_anchor(r, a, Vec3::ZERO, f.force * time);
                }
            }
        }
    }
}

/// Change of momentum less the impulse of gravity; change of angular momentum, its size and the turn of the step [rad]; and
/// the size of both momenta.
type Changes = (Vec<Vec3>, Vec<(Vec3, f64, f64)>, Vec<f64>);

fn changes(r: &Record) -> Changes {
    let n = r.model.layout.blocks().len();
    let mut out: Changes = (vec![Vec3::ZERO; n], vec![(Vec3::ZERO, 0.0, 0.0); n], vec![0.0; n]);
    let mut linear = |block: usize, mass: f64, dof: usize| {
        let [v, w] = [r.before, r.after].map(|s| Vec3::from_slice(&s.v[dof..]));
        let fall = r.model.gravity * r.h;
        out.0[block] = mass * (w - v - fall);
        out.2[block] = mass * (v.length() + w.length() + fall.length());
    };
    for b in &r.model.bodies {
        if let Some(block) = b.block {
            linear(block, b.mass, b.dof);
        }
    }
    for node in &r.model.nodes {
        linear(node.block, node.mass, node.dof);
    }
    for (i, b) in r.model.bodies.iter().enumerate() {
        if let Some(block) = b.block {
            let [before, after] = [r.before, r.after].map(|s| {
                inertia(r.model, i, s.rigid_pose(b.q).rotation) * Vec3::from_slice(&s.v[b.dof + 3..])
            });
            let spin = [r.before, r.after].map(|s| Vec3::from_slice(&s.v[b.dof + 3..]).length());
            out.1[block] = (after - before, before.length() + after.length(), r.h * spin[0].max(spin[1]));
        }
    }
    out
}

/// Radius of gyration of a rigid block [m].
fn gyration(model: &Model, block: usize) -> f64 {
    let body = model.bodies.iter().find(|b| b.block == Some(block));
    body.map_or(0.0, |b| (b.moments.max_element() / b.mass).sqrt())
}

fn block_name(model: &Model, block: usize) -> String {
    let body = model.bodies.iter().find(|b| b.block == Some(block)).map(|b| format!("body `{}`", b.name));
    let node = || model.nodes.iter().find(|n| n.block == block).map(|n| format!("node `{}`", n.name));
    body.or_else(node).unwrap_or_default()
}
