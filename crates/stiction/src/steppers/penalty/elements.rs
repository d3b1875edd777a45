//! Forces of solids, sheets, springs and the scene, with exact derivatives.

use super::assembly::{Assembly, Point};
use crate::coords::{BodyId, NodeId};
use crate::elastic::{Action, Bend, HessianKind, PAIRS, Spring, Tet};
use crate::kinematics::Kinematics;
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::{Mat3, Vec3};
use crate::model::{ModelForce, ModelSolid, ModelSpring, Owner};

/// Buffers of vertices.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    pub x: Vec<Vec3>,
    pub v: Vec<Vec3>,
    pub point: Vec<Point>,
}

impl Vertices {
    /// Of a solid or sheet.
    pub fn place(&mut self, kin: Kinematics<'_>, solid: &ModelSolid) {
        self.x.clear();
        self.v.clear();
        self.point.clear();
        for a in &solid.vertices {
            self.x.push(kin.position(a));
            self.v.push(kin.velocity(a));
            self.point.push(Point::of(kin, a));
        }
    }

    /// Four of x.
    pub fn four(&self, tet: &[u32; 4]) -> ([Vec3; 4], [Vec3; 4]) {
        (tet.map(|i| self.x[i as usize]), tet.map(|i| self.v[i as usize]))
    }
}

/// Viscous first Piola stress η F Ė (19) and the rates F, Ḟ, Ė that it is made of (correction A4).
pub fn viscous_stress(tet: &Tet, eta: f64, x: &[Vec3; 4], v: &[Vec3; 4]) -> (Mat3, [Mat3; 3]) {
    let (f, rate) = (tet.deformation(x), tet.deformation(v));
    let half = f.transpose() * rate;
    let strain = (half + half.transpose()) * 0.5;
    (f * strain * eta, [f, rate, strain])
}

/// Elastic, viscous and mass-proportional forces of all solids. `pressures` are those of the tets of each solid [Pa].
pub fn add_solids(kin: Kinematics<'_>, pressures: &[Vec<f64>], vertices: &mut Vertices, asm: &mut Assembly) {
    let Kinematics { model, state, .. } = kin;
    for (solid, pressure) in model.solids.iter().zip(pressures).filter(|(s, _)| !s.tets.is_empty()) {
        vertices.place(kin, solid);
        let damping = solid.elements.damping();
        for (t, tet) in solid.tets.iter().enumerate() {
            let (x, v) = vertices.four(tet);
            let points = tet.map(|i| vertices.point[i as usize]);
            let element = solid.elements.element_at(t, pressure);
            let shape = element.tet;
            let (mut forces, blocks) = if asm.matrices {
                element.stiffness(&x, HessianKind::Exact)
            } else {
                (element.forces(&x), [Mat3::ZERO; 10])
            };
            let eta = damping.viscosity;
            let mut rates = None;
            if eta > 0.0 {
                let (p, r) = viscous_stress(shape, eta, &x, &v);
                for (f, g) in forces.iter_mut().zip(shape.forces(&p)) {
                    *f += g;
                }
                rates = Some(r);
            }
            for (p, f) in points.iter().zip(forces) {
                asm.add_force(p, f);
            }
            if !asm.matrices {
                continue;
            }
            for (k, (a, b)) in PAIRS.into_iter().enumerate() {
                for (a, b, k) in [(a, b, -blocks[k]), (b, a, -blocks[k].transpose())]
                    .into_iter()
                    .take(1 + usize::from(a != b))
                {
                    let (mut kx, mut kv) = (k, Mat3::ZERO);
                    if let Some([f, rate, strain]) = rates {
                        // ∂(F Ė gₐ) for dF = e gᵦᵀ: (gᵦ·Ė gₐ) e + ½ F gᵦ (e·Ḟ gₐ) + ½ (gₐ·gᵦ) F Ḟᵀ e.
                        let (ga, gb) = (shape.gradients[a], shape.gradients[b]);
                        let along = Mat3::from_diagonal(Vec3::splat(gb.dot(strain * ga)));
                        let dyad = outer(f * gb, rate * ga) * 0.5 + f * rate.transpose() * (0.5 * ga.dot(gb));
                        kx -= (along + dyad) * (shape.volume * eta);
                        kv = -shape.viscous_block(&f, eta, a, b);
                    }
                    asm.add_pair(&points[a], &points[b], &kx, &kv);
                }
            }
        }
        if damping.mass > 0.0 {
            for n in &model.nodes[solid.nodes.clone()] {
                let (p, c) = (Point::Node { block: n.block, dof: n.dof }, damping.mass * n.mass);
                asm.add_force(&p, -c * Vec3::from_slice(&state.v[n.dof..]));
                asm.add_pair(&p, &p, &Mat3::ZERO, &Mat3::from_diagonal(Vec3::splat(-c)));
            }
        }
    }
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Springs and bending of all sheets.
pub fn add_sheets(kin: Kinematics<'_>, vertices: &mut Vertices, asm: &mut Assembly) {
    let model = kin.model;
    for sheet in &model.sheets {
        vertices.place(kin, &model.solids[sheet.solid.index()]);
        for (v, spring) in &sheet.springs {
            let [a, b] = v.map(|v| v as usize);
            let law = Spring { damping: spring.damping + sheet.damping * spring.stiffness, ..*spring };
            let force = spring_force(&law, vertices.x[b] - vertices.x[a], vertices.v[b] - vertices.v[a]);
            scatter_spring(&force, &[(vertices.point[a], -1.0), (vertices.point[b], 1.0)], asm);
        }
        for (v, bend) in &sheet.bends {
            let v = v.map(|v| v as usize);
            let x = v.map(|v| vertices.x[v]);
            let rate: Vec3 = (0..4).map(|j| Bend::WEIGHTS[j] * vertices.v[v[j]]).sum();
            let pull = bend.gradient(&x);
            for i in 0..4 {
                let p = vertices.point[v[i]];
                let drag = rate * (sheet.damping * bend.stiffness * Bend::WEIGHTS[i]);
                asm.add_force(&p, -(pull[i] + drag));
                for j in 0..4 {
                    let k = Mat3::from_diagonal(Vec3::splat(-bend.hessian(i, j)));
                    asm.add_pair(&p, &vertices.point[v[j]], &k, &(k * sheet.damping));
                }
            }
        }
    }
}

/// Pull of a spring along d with its derivatives by d, ḋ, stiffness, rest length and damping (in this order).
pub fn spring_force(s: &Spring, d: Vec3, rate: Vec3) -> DualVec<9> {
    let length = d.length();
    let slack = s.action == Action::PullOnly && length <= s.rest_length;
    if slack {
        return DualVec::constant(Vec3::ZERO);
    }
    let (k, rest, c) =
        (Dual::variable(s.stiffness, 6), Dual::variable(s.rest_length, 7), Dual::variable(s.damping, 8));
    let (d, rate) = (DualVec::variable(d, Some(0)), DualVec::variable(rate, Some(3)));
    if length == 0.0 {
        return d.scaled(k);
    }
    let over = d.length().recip();
    let along = d.scaled(over);
    // k (|d| − ℓ) n + c (n·ḋ) n; written with k d so that nothing is lost where ℓ is zero.
    d.scaled(k) - along.scaled(k * rest) + along.scaled(c * along.dot(&rate))
}

/// Adds the pull F of a spring on points with signed weights: f = −w F.
pub fn scatter_spring(force: &DualVec<9>, points: &[(Point, f64)], asm: &mut Assembly) {
    let m = |at: usize| Mat3::from_cols(force.by(at), force.by(at + 1), force.by(at + 2));
    let (k, d) = (m(0), m(3));
    for (p, wp) in points {
        asm.add_force(p, force.value() * -wp);
        for (q, wq) in points {
            let s = -wp * wq;
            asm.add_pair(p, q, &(k * s), &(d * s));
        }
    }
}

/// Span, its rate, and points with signed weights of a spring; `shift` moves its ends in the world.
pub fn spring_span(
    kin: Kinematics<'_>,
    s: &ModelSpring,
    shift: &[Vec3; 2],
) -> (Vec3, Vec3, Vec<(Point, f64)>) {
    let (mut d, mut rate) = (shift[1] - shift[0], Vec3::ZERO);
    let mut points = Vec::new();
    for (end, sign) in s.ends.iter().zip([-1.0, 1.0]) {
        for (anchor, w) in end {
            d += sign * *w * kin.position(anchor);
            rate += sign * *w * kin.velocity(anchor);
            points.push((Point::of(kin, anchor), sign * w));
        }
    }
    (d, rate, points)
}

/// All springs.
pub fn add_springs(kin: Kinematics<'_>, shifts: &[[Vec3; 2]], asm: &mut Assembly) {
    let model = kin.model;
    for (s, shift) in model.springs.iter().zip(shifts) {
        let (d, rate, points) = spring_span(kin, s, shift);
        scatter_spring(&spring_force(&s.spring, d, rate), &points, asm);
    }
}

/// Share of the step that ends at `t` during which a force acts.
pub fn share(f: &ModelForce, t: f64, h: f64) -> f64 {
    if f.is_always() {
        return 1.0;
    }
    ((f.until.min(t) - f.from.max(t - h)) / h).clamp(0.0, 1.0)
}

/// Forces of the scene, and those commanded, over the step that ends at the state.
pub fn add_forces<'a>(
    kin: Kinematics<'_>,
    forces: impl Iterator<Item = &'a ModelForce>,
    h: f64,
    asm: &mut Assembly,
) {
    for f in forces {
        let s = share(f, kin.state.t, h);
        if s > 0.0 {
            add_load(kin, f.target, (s * f.force, s * f.torque, f.at), asm);
        }
    }
}

/// Force, torque and point of attack on an owner; on a solid in proportion to mass.
pub fn add_load(
    kin: Kinematics<'_>,
    target: Owner,
    (force, torque, at): (Vec3, Vec3, Vec3),
    asm: &mut Assembly,
) {
    let Kinematics { model, state, .. } = kin;
    match target {
        Owner::Body(BodyId(b)) => {
            let b = &model.bodies[b as usize];
            let Some(block) = b.block else { return };
            let arm = state.rigid_pose(b.q).rotation * at;
            asm.add_force(&Point::Rigid { block, dof: b.dof, arm, spin: Vec3::ZERO }, force);
            asm.add(b.dof + 3, torque);
        }
        Owner::Node(NodeId(n)) => asm.add(model.nodes[n as usize].dof, force),
        Owner::Solid(s) => {
            let nodes = &model.nodes[model.solids[s.index()].nodes.clone()];
            let mass: f64 = nodes.iter().map(|n| n.mass).sum();
            for n in nodes {
                asm.add(n.dof, force * (n.mass / mass));
            }
        }
    }
}
