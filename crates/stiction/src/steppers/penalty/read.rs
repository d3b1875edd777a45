//! Contacts and forces of a step as other steppers report them, and what the yardstick says of them.
//!
//! A penalty force needs an overlap, and friction that sticks needs a slip, so that the natural map is large where the contact is
//! soft: that is the error of the method, and it is shown.

use super::System;
use super::assembly::Frame;
use super::patch::{self, Patch};
use super::site::Site;
use super::stick::Stick;
use crate::collide::Contact;
use crate::contact::residual::ContactReading;
use crate::contact::{ContactKey, Friction, Residuals};
use crate::coords::{Anchor, NodeId, ShapeId};
use crate::linalg::{Mat3, Vec3, tangents};
use crate::model::Owner;

/// A contact as it is read from the state evaluated last.
struct Reading {
    contact: Contact,
    /// On side a [N], world axes.
    force: Vec3,
    /// Velocity of side a's point against that of side b [m/s], world axes.
    slip: Vec3,
    /// Mean diagonal of the contact's block of J M⁻¹ Jᵀ [1/kg].
    g: f64,
}

impl System {
    /// Contacts that push at the end of the step, with the force on side a of each, and how far they are from Coulomb's law and
    /// from momentum balance.
    pub(crate) fn read(&self, contacts: &mut Vec<Contact>, forces: &mut Vec<Vec3>) -> Residuals {
        let mut all = Vec::new();
        let shared = self.shared_by_sticks();
        for (k, s) in self.sites.all.iter().enumerate() {
            all.extend(self.read_site(k, s, shared[k]));
        }
        all.extend(self.patches.iter().filter_map(|p| self.read_patch(p)));
        all.sort_by_key(|r| r.contact.key);
        let h = self.h;
        let speed = h * self.model.gravity.length();
        let reading = |r: &Reading| ContactReading {
            friction: r.contact.friction,
            gap: r.contact.gap,
            lambda: r.contact.frame * r.force * h,
            slip: r.contact.frame * r.slip,
            g: r.g,
        };
        let readings: Vec<ContactReading> = all.iter().map(reading).collect();
        contacts.extend(all.iter().map(|r| r.contact));
        forces.extend(all.iter().map(|r| r.force));
        Residuals { momentum: h * self.momentum_error(), ..Residuals::of_contacts(&readings, h, speed) }
    }

    /// ‖r‖ in the norm of M⁻¹ [N/√kg].
    fn momentum_error(&self) -> f64 {
        let mut sum = 0.0;
        for b in self.model.bodies.iter().filter(|b| b.block.is_some()) {
            let turn = self.there.state.rigid_pose(b.q).rotation;
            let (r, t) = (Vec3::from_slice(&self.r[b.dof..]), Vec3::from_slice(&self.r[b.dof + 3..]));
            sum += r.dot(r) / b.mass + t.dot(b.world_inertia_inverse(turn) * t);
        }
        for n in &self.model.nodes {
            let r = Vec3::from_slice(&self.r[n.dof..]);
            sum += r.dot(r) / n.mass;
        }
        sum.sqrt()
    }

    fn read_site(&self, k: usize, s: &Site, held: Vec3) -> Option<Reading> {
        let (a, b) = self.frames(s);
        let obstacle = &self.sites.obstacles[s.obstacle];
        let gap = s.gap(obstacle, &a, &b);
        let n = s.normal(obstacle, &a, &b);
        let hard = self.hard_force(k);
        let force = match (hard, self.site_force::<0>(k, &a, &b)) {
            (Some(force), _) => force,
            (None, Some([side, _])) => side.2.value() + held,
            (None, None) => return None,
        };
        let point = a.x + a.r * s.local - n * s.radius;
        let slip = a.v + a.w.cross(point - a.x) - b.v - b.w.cross(point - b.x);
        let pair = &self.sites.pairs[s.pair];
        let direction = s.direction.map(|(on_b, d)| if on_b { b.r * d } else { a.r * d });
        let (frame, friction) = match direction.map(|d| (d - n * n.dot(d)).try_normalize()) {
            Some(Some(t1)) => {
                (Mat3::from_cols(n, t1, n.cross(t1)).transpose(), Friction::Elliptic(pair.mu1, pair.mu2))
            }
            _ => (frame_of(n), Friction::Isotropic(pair.mu1)),
        };
        let (shapes, feature) = s.name;
        let sides = [s.a, s.b].map(|o| anchor(o, point, if o == s.a { &a } else { &b }));
        let g = (self.lightness(s.a, point) + self.lightness(s.b, point)) / 3.0;
        let place = (point, frame, gap, friction, self.restitution(shapes));
        Some(reading(shapes, (feature as u64, 0), sides, place, force, slip, g))
    }

    fn read_patch(&self, p: &Patch) -> Option<Reading> {
        let (face, w, d) = self.closest_face(&self.there.state, p)?;
        let [node, one, two, three] = self.patch_force::<0>(&self.there.state, p)?;
        let y: Vec3 = (0..3).map(|k| w[k] * patch::position(&self.model, &self.there.state, face[k])).sum();
        let x = patch::position(&self.model, &self.there.state, p.node);
        // The force pushes along the normal, whatever friction adds to it.
        let n = ((x - y) * if d < 0.0 { -1.0 } else { 1.0 }).try_normalize()?;
        let slip = node.0.v - w[0] * one.0.v - w[1] * two.0.v - w[2] * three.0.v;
        let shape = |n: NodeId| self.model.nodes[n.index()].shape;
        let (a, b) = (shape(p.node)?, shape(face[0])?);
        let mass = |n: NodeId| 1.0 / self.model.nodes[n.index()].mass;
        let g = mass(p.node) + (0..3).map(|k| w[k] * w[k] * mass(face[k])).sum::<f64>();
        let [i, j, k] = face;
        let vertex = |n: NodeId| self.model.vertex_of(n);
        let ((solid, i), (_, j), (_, k)) = (vertex(i)?, vertex(j)?, vertex(k)?);
        let other = Anchor::Surface { solid, vertices: [i, j, k], w, n: 3 };
        let sides = [Anchor::Node(p.node), other];
        let friction = Friction::Isotropic(self.sites.pairs[p.pair].mu1);
        let place = (0.5 * (x + y), frame_of(n), d - p.layer, friction, self.restitution((a, b)));
        let names = (p.node.index() as u64, face[0].index() as u64);
        Some(reading((a, b), names, sides, place, node.2.value(), slip, g))
    }

    /// Restitution of the surfaces of two shapes, which penalty forces know nothing of.
    fn restitution(&self, (a, b): (ShapeId, ShapeId)) -> f64 {
        let of = |s: ShapeId| &self.model.shapes[s.index()];
        let whole = |s: ShapeId| self.model.whole(of(s).owner);
        let rule = self.model.pair_rule(whole(a), whole(b)).and_then(|r| r.restitution);
        let combine = self.model.contact.combine_restitution;
        rule.unwrap_or_else(|| combine.apply(of(a).restitution, of(b).restitution))
    }

    /// Trace of a point's share of J M⁻¹ Jᵀ [1/kg].
    fn lightness(&self, owner: Owner, point: Vec3) -> f64 {
        match owner {
            Owner::Node(n) => 3.0 / self.model.nodes[n.index()].mass,
            Owner::Body(id) => {
                let b = &self.model.bodies[id.index()];
                if b.block.is_none() {
                    return 0.0;
                }
                let pose = self.there.state.rigid_pose(b.q);
                let (arm, i) = (point - pose.translation, b.world_inertia_inverse(pose.rotation));
                let turned = Vec3::AXES.map(|e| arm.cross(e).dot(i * arm.cross(e)));
                3.0 / b.mass + turned.iter().sum::<f64>()
            }
            Owner::Solid(_) => 0.0,
        }
    }

    /// By site: the force of static friction that constraints hold [N], on the owner of the point.
    fn shared_by_sticks(&self) -> Vec<Vec3> {
        let mut shared = vec![Vec3::ZERO; self.sites.all.len()];
        for (i, held) in self.held.iter().enumerate() {
            if let Some((n, site)) = *held {
                shared[site as usize] = self.holding_force(i, n);
            }
        }
        for stick in &self.sticks {
            self.share(stick, &mut shared);
        }
        shared
    }

    /// Shares the force and the moment of a stick among its points by what they can bear. Only the sums are determined.
    fn share(&self, stick: &Stick, out: &mut [Vec3]) {
        let first = &self.sites.all[stick.sites[0] as usize];
        let (a, b) = self.frames(first);
        let ground = self.ground::<0>(stick, (&a, &a.dual(0)), (&b, &b.dual(0)));
        let (n, centre) = (ground.normal.value(), ground.centre.value());
        let [t1, t2] = ground.tangents.map(|t| t.value());
        let [f1, f2, twist] = stick.force;
        let (force, moment) = (t1 * f1 + t2 * f2, twist * stick.length);
        let points: Vec<(u32, Vec3, f64)> = stick
            .sites
            .iter()
            .map(|&k| {
                let s = &self.sites.all[k as usize];
                let (a, b) = self.frames(s);
                let x = a.x + a.r * s.local - s.normal(&self.sites.obstacles[s.obstacle], &a, &b) * s.radius;
                (k, x, self.sites.pairs[s.pair].mu1 * self.normal_force(k as usize, &a, &b))
            })
            .collect();
        let sum: f64 = points.iter().map(|p| p.2).sum();
        if sum <= 0.0 {
            return;
        }
        // f_i = w_i (F + α n × (x_i − x̄)), x̄ the weighted mean: Σ f_i = F, and α makes the moment about the centre right.
        let mean = points.iter().map(|p| p.1 * (p.2 / sum)).sum::<Vec3>();
        let spread: f64 = points.iter().map(|p| p.2 / sum * n.cross(p.1 - mean).length_squared()).sum();
        let rest = moment - n.dot((mean - centre).cross(force));
        let alpha = if spread > 0.0 { rest / spread } else { 0.0 };
        for (k, x, w) in points {
            let f = (force + n.cross(x - mean) * alpha) * (w / sum);
            let own = self.sites.all[k as usize].a == first.a;
            out[k as usize] = if own { f } else { -f };
        }
    }

    /// Force [N] and moment about the anchor [N·m] of each joint on its body b, world axes.
    pub(crate) fn read_joints(&self, out: &mut Vec<(Vec3, Vec3)>) {
        for (i, j) in self.model.joints.iter().enumerate() {
            let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
            super::system::joint_sides(self, i, |[_, (_, _, f, m)], _| {
                force += f.value();
                moment += m.value();
            });
            let place = self.at().joint(j);
            out.push((force, moment - (place.anchor_b - place.centre_b).cross(force)));
        }
    }

    /// Largest error of a rigid joint at the end of the step [m]; angles count by a length of the joint.
    pub(crate) fn joint_error(&self) -> f64 {
        let mut worst = 0.0_f64;
        for j in &self.model.joints {
            let place = self.at().joint(j);
            for block in &j.blocks {
                let length = if block.spin { j.length } else { 1.0 };
                for row in block.rows.iter().flatten().filter(|r| r.role.is_rigid()) {
                    let gap = length * row.role.gap(place.measure(row.measure).0);
                    let holds = matches!(row.role, crate::model::Role::Hold(_));
                    worst = worst.max(if holds { gap.abs() } else { -gap });
                }
            }
        }
        worst
    }
}

/// The point of an owner at a place, as it stands in `frame`.
fn anchor(owner: Owner, point: Vec3, frame: &Frame) -> Anchor {
    match owner {
        Owner::Node(n) => Anchor::Node(n),
        Owner::Body(id) => Anchor::Body { body: id, local: frame.r.transpose() * (point - frame.x) },
        Owner::Solid(_) => Anchor::World { p: point },
    }
}

/// Rows n, t₁, t₂.
fn frame_of(n: Vec3) -> Mat3 {
    let (t1, t2) = tangents(n);
    Mat3::from_cols(n, t1, t2).transpose()
}

/// A reading with its sides in the order of their shapes.
fn reading(
    (a, b): (ShapeId, ShapeId),
    (feature_a, feature_b): (u64, u64),
    [side_a, side_b]: [Anchor; 2],
    (point, frame, gap, friction, restitution): (Vec3, Mat3, f64, Friction, f64),
    force: Vec3,
    slip: Vec3,
    g: f64,
) -> Reading {
    let key = |a, b, feature_a, feature_b| ContactKey { shape_a: a, shape_b: b, feature_a, feature_b };
    let contact = |key, a, b, frame| Contact { key, a, b, point, frame, gap, friction, restitution };
    if a <= b {
        let contact = contact(key(a, b, feature_a, feature_b), side_a, side_b, frame);
        return Reading { contact, force, slip, g };
    }
    // The normal points from b to a; a half-turn about t₁ keeps the frame right-handed.
    let turned = Mat3::from_diagonal(Vec3::new(-1.0, 1.0, -1.0)) * frame;
    let contact = contact(key(b, a, feature_b, feature_a), side_b, side_a, turned);
    Reading { contact, force: -force, slip: -slip, g }
}
