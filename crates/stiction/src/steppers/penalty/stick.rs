//! Points that stick to what they touch, as constraints with multipliers: those of rigid bodies, and nodes on what moves.
//!
//! T (x − x̄) = 0, where x̄ is the place of the last step carried along by the obstacle (4.3). Points with a radius roll:
//! T (Δx − ρ Δθ × n) = 0. All points that stick between two bodies on one plane are held together by three rows, the mean of
//! their displacements and the turn about the normal: rows for every point would be redundant (correction A10). What is still
//! redundant, say a body wedged between others, is shared by a compliance far below any that can be seen.

use super::System;
use super::assembly::{DualFrame, Frame};
use super::site::Site;
use crate::coords::State;
use crate::kinematics::Placement;
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::rotation;
use crate::linalg::{Mat3, Quat, Vec3};
use crate::model::Owner;

/// Compliance of a row, in units of h²/m: a load F makes a body creep at 1e-9 h F/m.
pub(super) const COMPLIANCE: f64 = 1e-9;
/// Normals with a larger sine between them are not of one plane.
const ONE_PLANE: f64 = 1e-3;
/// Variables of one side of a row: place and turn after and before the step, and the turn in it.
const SIDE: usize = 15;

/// Points between two owners that stick together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stick {
    /// Their sites, ascending.
    pub sites: Vec<u32>,
    /// World axis that the first tangent is made from.
    axis: usize,
    /// Largest distance of a point from their mean [m]: moments about the normal are divided by it.
    pub length: f64,
    /// The smaller mass [kg].
    pub mass: f64,
    /// Force along both tangents and moment about the normal over `length` [N], on the owner of the first point.
    pub force: [f64; 3],
}

impl Stick {
    /// Number of rows: a single point may turn.
    pub fn rows(&self) -> usize {
        if self.sites.len() > 1 { 3 } else { 2 }
    }
}

/// Normal, both tangents and the mean of the points of a stick.
pub(super) struct Ground<const N: usize> {
    pub normal: DualVec<N>,
    pub tangents: [DualVec<N>; 2],
    pub centre: DualVec<N>,
}

/// One row: value and derivatives by the configuration after the step, before it, and by the turns of the step.
#[derive(Clone, Debug, Default)]
pub(super) struct StickRow {
    pub value: f64,
    pub after: Vec<(usize, f64)>,
    pub before: Vec<(usize, f64)>,
    pub by_d: Vec<(usize, f64)>,
}

/// The other way round where the point is on the second owner of a stick.
fn ordered<T>(flip: bool, (a, b): (T, T)) -> (T, T) {
    if flip { (b, a) } else { (a, b) }
}

impl System {
    fn owner_mass(&self, o: Owner) -> f64 {
        match o {
            Owner::Body(b) => {
                let b = &self.model.bodies[b.index()];
                if b.block.is_some() { b.mass } else { f64::INFINITY }
            }
            Owner::Node(n) => self.model.nodes[n.index()].mass,
            Owner::Solid(_) => f64::INFINITY,
        }
    }

    /// Puts all sites that are gripped into sticks, at a state; sticks that stay as they are keep their forces.
    pub(super) fn form_sticks(&mut self, there: &Placement) {
        let old = std::mem::take(&mut self.sticks);
        let mut normals: Vec<Vec3> = Vec::new();
        let mut points: Vec<Vec<Vec3>> = Vec::new();
        for k in 0..self.sites.all.len() {
            if !self.gripped[k] {
                continue;
            }
            let s = &self.sites.all[k];
            let (a, b) = {
                let at = there.kinematics(&self.model);
                (Frame::of(at, s.a), Frame::of(at, s.b))
            };
            let n = s.normal(&self.sites.obstacles[s.obstacle], &a, &b);
            let p = a.x + a.r * s.local - n * s.radius;
            let bodies = matches!((s.a, s.b), (Owner::Body(_), Owner::Body(_)));
            let place = self.sticks.iter().zip(&normals).position(|(stick, m)| {
                let first = &self.sites.all[stick.sites[0] as usize];
                let same = (first.a, first.b) == (s.a, s.b) || (first.b, first.a) == (s.a, s.b);
                bodies && same && m.cross(n).length() < ONE_PLANE
            });
            match place {
                Some(i) => {
                    self.sticks[i].sites.push(k as u32);
                    points[i].push(p);
                }
                None => {
                    let axis = (0..3).min_by(|i, j| n[*i].abs().total_cmp(&n[*j].abs())).unwrap_or(0);
                    let mass = self.owner_mass(s.a).min(self.owner_mass(s.b));
                    self.sticks.push(Stick { sites: vec![k as u32], axis, mass, ..Stick::default() });
                    normals.push(n);
                    points.push(vec![p]);
                }
            }
        }
        for (stick, points) in self.sticks.iter_mut().zip(points) {
            let mean = points.iter().sum::<Vec3>() / points.len() as f64;
            stick.length = points.iter().map(|p| (*p - mean).length()).fold(0.0, f64::max);
            if let Some(same) = old.iter().find(|o| o.sites == stick.sites) {
                *stick = same.clone();
            }
        }
    }

    /// The site of a point of a stick, and whether the point is on its second owner.
    fn member(&self, stick: &Stick, i: usize) -> (&Site, bool) {
        let s = &self.sites.all[stick.sites[i] as usize];
        (s, s.a != self.sites.all[stick.sites[0] as usize].a)
    }

    /// Where a stick is and how it is turned.
    pub(super) fn ground<const N: usize>(
        &self,
        stick: &Stick,
        a: (&Frame, &DualFrame<N>),
        b: (&Frame, &DualFrame<N>),
    ) -> Ground<N> {
        let mut centre = DualVec::constant(Vec3::ZERO);
        let mut normal = DualVec::constant(Vec3::Z);
        for i in 0..stick.sites.len() {
            let (s, flip) = self.member(stick, i);
            let (a, b) = ordered(flip, (a, b));
            let place = s.place(&self.sites.obstacles[s.obstacle], a, b);
            centre = centre + place.point;
            if i == 0 {
                normal = place.normal;
            }
        }
        let axis = DualVec::constant(Vec3::AXES[stick.axis]);
        let t1 = axis - normal.scaled(normal.dot(&axis));
        let t1 = t1.scaled(t1.length().recip());
        let share = Dual::constant(1.0 / stick.sites.len() as f64);
        Ground { tangents: [t1, normal.cross(&t1)], normal, centre: centre.scaled(share) }
    }

    /// Forces `force` of a stick on both owners, with N variables: those of the first, then those of the second.
    pub(super) fn stick_sides<const N: usize>(
        &self,
        stick: &Stick,
        force: [f64; 3],
    ) -> [(Frame, usize, DualVec<N>, DualVec<N>); 2] {
        let (fa, fb) = self.frames(&self.sites.all[stick.sites[0] as usize]);
        let at_b = fa.variables();
        let (a, b) = (fa.dual(0), fb.dual(at_b));
        let g = self.ground::<N>(stick, (&fa, &a), (&fb, &b));
        let [t1, t2] = &g.tangents;
        let f = t1.scaled(Dual::constant(force[0])) + t2.scaled(Dual::constant(force[1]));
        let twist = g.normal.scaled(Dual::constant(force[2] * stick.length));
        let moment = |x: &DualVec<N>| (g.centre - *x).cross(&f) + twist;
        [(fa, 0, f, moment(&a.x)), (fb, at_b, -f, -moment(&b.x))]
    }

    /// Adds the forces of all sticks.
    pub(super) fn add_sticks(&mut self) {
        let sticks = std::mem::take(&mut self.sticks);
        for stick in &sticks {
            let (a, b) = self.frames(&self.sites.all[stick.sites[0] as usize]);
            match a.variables() + b.variables() {
                _ if !self.asm.matrices => {
                    let sides = self.stick_sides::<0>(stick, stick.force);
                    self.asm.add_dual(&sides);
                }
                0..=12 => {
                    let sides = self.stick_sides::<12>(stick, stick.force);
                    self.asm.add_dual(&sides);
                }
                _ => {
                    let sides = self.stick_sides::<24>(stick, stick.force);
                    self.asm.add_dual(&sides);
                }
            }
        }
        self.sticks = sticks;
    }

    /// What the points of a stick moved along the surface in the step, and turned about its normal: rows in newtons, m/h² times
    /// metres. N is 30, or 0 for values alone.
    pub(super) fn stick_rows<const N: usize>(
        &self,
        stick: &Stick,
        before: &State,
        d: &[f64],
        out: &mut [StickRow],
    ) {
        let s = &self.sites.all[stick.sites[0] as usize];
        let sides = [Side::<N>::new(self, before, d, s.a, 0), Side::<N>::new(self, before, d, s.b, SIDE)];
        let [a, b] = &sides;
        let g = self.ground::<N>(stick, (&a.frame, &a.after), (&b.frame, &b.after));
        let turn = a.turn - b.turn;
        let mut moved = DualVec::constant(Vec3::ZERO);
        for i in 0..stick.sites.len() {
            let (s, flip) = self.member(stick, i);
            let (on, by) = ordered(flip, (a, b));
            let sign = if flip { -1.0 } else { 1.0 };
            let n =
                s.place(&self.sites.obstacles[s.obstacle], (&on.frame, &on.after), (&by.frame, &by.after));
            let rolled = turn.cross(&n.normal).scaled(Dual::constant(s.radius));
            moved = moved + displacement(s.local, on, by).scaled(Dual::constant(sign)) - rolled;
        }
        let scale = stick.mass / (self.h * self.h);
        let share = scale / stick.sites.len() as f64;
        let rows = [
            g.tangents[0].dot(&moved) * share,
            g.tangents[1].dot(&moved) * share,
            g.normal.dot(&turn) * (stick.length * scale),
        ];
        for ((row, out), force) in rows.iter().zip(out).zip(stick.force) {
            out.value = row.x + COMPLIANCE * force;
            if N == 0 {
                continue;
            }
            out.after.clear();
            out.before.clear();
            out.by_d.clear();
            for side in &sides {
                let Some((block, dof)) = side.frame.dofs else { continue };
                let part = |at: usize| Vec3::from_slice(&row.d[side.at + at..]);
                let mut put = |dof: usize, after: Vec3, before: Vec3, by_d: Vec3| {
                    for k in 0..3 {
                        out.after.push((dof + k, after[k]));
                        out.before.push((dof + k, before[k]));
                        out.by_d.push((dof + k, by_d[k]));
                    }
                };
                put(dof, part(0), part(6), part(0));
                if side.frame.rigid {
                    let by_d = self.kin.q_by_d.turn[block].transpose() * part(3) + part(12);
                    put(dof + 3, part(3), part(9), by_d);
                }
            }
        }
    }
}

/// One owner of a stick over a step.
struct Side<const N: usize> {
    /// First of its variables.
    at: usize,
    frame: Frame,
    start: Frame,
    /// Way of its centre in the step [m].
    way: Vec3,
    after: DualFrame<N>,
    before: DualFrame<N>,
    /// Turn of the step [rad].
    turn: DualVec<N>,
}

impl<const N: usize> Side<N> {
    fn new(system: &System, before: &State, d: &[f64], owner: Owner, at: usize) -> Side<N> {
        let frame = Frame::of(system.at(), owner);
        let start = Frame::at(&system.model, before, owner);
        let turns = frame.dofs.is_some() && frame.rigid;
        let dual = |f: &Frame, at: usize| DualFrame {
            x: DualVec::variable(f.x, f.dofs.map(|_| at)),
            turn: turns.then_some(at + 3),
            v: DualVec::constant(Vec3::ZERO),
            w: DualVec::constant(Vec3::ZERO),
        };
        // Increments themselves, where there are any: differences of places lose what is small.
        let (way, turn) = match frame.dofs {
            Some((_, dof)) => {
                let turn = if turns { Vec3::from_slice(&d[dof + 3..]) } else { Vec3::ZERO };
                (Vec3::from_slice(&d[dof..]), turn)
            }
            None => {
                let turned = Quat::from_mat3(&(frame.r * start.r.transpose()));
                (frame.x - start.x, rotation::log(turned))
            }
        };
        Side {
            at,
            way,
            after: dual(&frame, at),
            before: dual(&start, at + 6),
            turn: DualVec::variable(turn, turns.then_some(at + 12)),
            frame,
            start,
        }
    }
}

/// Way of a point of one side, as seen from the other.
fn displacement<const N: usize>(local: Vec3, on: &Side<N>, by: &Side<N>) -> DualVec<N> {
    let after = on.after.x + on.after.turned(on.frame.r * local);
    let before = on.before.x + on.before.turned(on.start.r * local);
    // The place of before, carried along by the other side.
    let arm = by.before.turned_back(&(before - by.before.x));
    let turned = by.frame.r * by.start.r.transpose();
    let carried = by.after.x + by.after.turned_vec(&arm.transformed(&turned));
    let mut moved = after - carried;
    let own = on.way + (on.frame.r - on.start.r) * local;
    let with = by.way + (turned - Mat3::IDENTITY) * arm.value();
    for k in 0..3 {
        moved.0[k].x = own[k] - with[k];
    }
    moved
}
