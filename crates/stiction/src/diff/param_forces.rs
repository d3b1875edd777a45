//! ∂r/∂p of a step and ∂w/∂p of the momentum: one visitor for sensitivities and adjoint.

use super::{Param, ParamSet};
use crate::coords::{Anchor, BodyId, SoftId};
use crate::elastic::{HessianKind, Parameter};
use crate::linalg::dual::DualVec;
use crate::linalg::{Mat3, Vec3};
use crate::model::Owner;
use crate::steppers::penalty::internals::{
    Assembly, Point, joint_sides, share, spring_force, spring_span, viscous_stress,
};
use crate::steppers::penalty::{ControlKind, Frame, System};

/// Calls `sink(parameter, dof, ∂r/∂p)` at the state that the system evaluated last, in step number `step`.
pub(super) fn residual_entries(
    system: &mut System,
    set: &ParamSet,
    step: usize,
    mut sink: impl FnMut(usize, usize, f64),
) {
    site_entries(system, set, &mut sink);
    // Everything else is emitted as a force f on dofs, r = … − f.
    for (i, p) in set.params.iter().enumerate() {
        let mut push = |dof: usize, f: Vec3| {
            for k in 0..3 {
                if f[k] != 0.0 {
                    sink(i, dof + k, -f[k]);
                }
            }
        };
        let mut scratch = std::mem::take(&mut system.vertices);
        let model = &system.model;
        let at = system.at();
        let there = at.state;
        let acceleration = |dof: usize| Vec3::from_slice(&system.acceleration[dof..]);
        match *p {
            Param::Young(s) | Param::Poisson(s) => {
                let by = if matches!(p, Param::Young(_)) { Parameter::Young } else { Parameter::Poisson };
                let solid = &model.solids[s.index()];
                scratch.place(at, solid);
                let material = solid.elements.materials()[0];
                let pressure = &system.pressures[s.index()];
                for (t, tet) in
                    solid.tets.iter().enumerate().filter(|(t, _)| solid.elements.material_of()[*t] == 0)
                {
                    let (x, _) = scratch.four(tet);
                    let forces = solid.elements.element_at(t, pressure).force_derivative(&x, &material, by);
                    for (v, f) in tet.iter().zip(forces) {
                        on_point(&scratch.point[*v as usize], f, &mut push);
                    }
                }
            }
            Param::Viscosity(s) => {
                let solid = &model.solids[s.index()];
                scratch.place(at, solid);
                for (t, tet) in solid.tets.iter().enumerate() {
                    let (x, v) = scratch.four(tet);
                    let shape = &solid.elements.shapes()[t];
                    let (p, _) = viscous_stress(shape, 1.0, &x, &v);
                    for (v, f) in tet.iter().zip(shape.forces(&p)) {
                        on_point(&scratch.point[*v as usize], f, &mut push);
                    }
                }
            }
            Param::MassDamping(s) => {
                for n in &model.nodes[model.solids[s.index()].nodes.clone()] {
                    push(n.dof, -n.mass * Vec3::from_slice(&there.v[n.dof..]));
                }
            }
            Param::Density(s) => {
                let solid = &model.solids[s.index()];
                let density = solid.elements.materials()[0].density;
                for n in &model.nodes[solid.nodes.clone()] {
                    let mut inertia = Vec3::ZERO;
                    for (j, block) in system.mass.row(n.block) {
                        inertia += block[0] * acceleration(system.mass.block(j).0);
                    }
                    let drag = solid.elements.damping().mass * n.mass * Vec3::from_slice(&there.v[n.dof..]);
                    push(n.dof, -(inertia + drag) / density);
                }
            }
            Param::RestNode(s, vertex, axis) => {
                scratch.place(at, &model.solids[s.index()]);
                rest_entries(system, &scratch, (s, vertex, axis), step, &mut push);
            }
            Param::Mass(BodyId(b)) => {
                let dof = model.bodies[b as usize].dof;
                push(dof, -acceleration(dof));
            }
            Param::Gravity(axis) => {
                for i in 0..model.layout.blocks().len() {
                    let block = model.layout.blocks()[i];
                    let mass: f64 = system.mass.row(i).map(|(_, m)| m[0]).sum();
                    push(block.v, Vec3::AXES[axis] * mass);
                }
            }
            Param::Force(f, axis) => {
                let force = &model.forces[f];
                let s = share(force, there.t, system.h);
                if s > 0.0 {
                    load(system, force.target, (s * Vec3::AXES[axis], Vec3::ZERO, force.at), &mut push);
                }
            }
            Param::MotorTarget(j) => motor_entries(system, j.index(), &mut push),
            Param::Control(c, k) if system.controls[c].place(step) == Some(k) => {
                match system.controls[c].kind {
                    ControlKind::Force(owner, axis) => {
                        load(system, owner, (Vec3::AXES[axis], Vec3::ZERO, Vec3::ZERO), &mut push);
                    }
                    ControlKind::Torque(body, axis) => {
                        load(
                            system,
                            Owner::Body(body),
                            (Vec3::ZERO, Vec3::AXES[axis], Vec3::ZERO),
                            &mut push,
                        );
                    }
                    ControlKind::Motor(j) => motor_entries(system, j, &mut push),
                    ControlKind::SpringEnd(s, end, axis) => {
                        let (force, points) = pull(system, s);
                        let sign = if end == 0 { -1.0 } else { 1.0 };
                        for (p, w) in points {
                            on_point(&p, force.by(axis) * (-w * sign), &mut push);
                        }
                    }
                }
            }
            Param::SpringStiffness(s) | Param::SpringRest(s) => {
                let (force, points) = pull(system, s.index());
                let by = if matches!(p, Param::SpringStiffness(_)) { 6 } else { 7 };
                for (p, w) in points {
                    on_point(&p, force.by(by) * -w, &mut push);
                }
            }
            _ => {}
        }
        system.vertices = scratch;
    }
}

fn pull(system: &System, s: usize) -> (crate::linalg::dual::DualVec<9>, Vec<(Point, f64)>) {
    let spring = &system.model.springs[s];
    let (d, rate, points) = spring_span(system.at(), spring, &system.shifts[s]);
    (spring_force(&spring.spring, d, rate), points)
}

fn on_point(p: &Point, f: Vec3, push: &mut impl FnMut(usize, Vec3)) {
    match *p {
        Point::Fixed => {}
        Point::Node { dof, .. } => push(dof, f),
        Point::Rigid { dof, arm, .. } => {
            push(dof, f);
            push(dof + 3, arm.cross(f));
        }
    }
}

fn load(system: &System, target: Owner, load: (Vec3, Vec3, Vec3), push: &mut impl FnMut(usize, Vec3)) {
    let mut asm = Assembly { f: vec![0.0; system.r.len()], ..Assembly::default() };
    crate::steppers::penalty::internals::add_load(system.at(), target, load, &mut asm);
    for dof in (0..asm.f.len()).step_by(3) {
        push(dof, Vec3::from_slice(&asm.f[dof..]));
    }
}

fn motor_entries(system: &System, j: usize, push: &mut impl FnMut(usize, Vec3)) {
    joint_sides(system, j, |sides, target| {
        for (frame, _, force, moment) in sides {
            if let Some((_, dof)) = frame.dofs {
                push(dof, force.by(target));
                push(dof + 3, moment.by(target));
            }
        }
    });
}

/// Friction, stiffness and damping of contacts.
fn site_entries(system: &System, set: &ParamSet, sink: &mut impl FnMut(usize, usize, f64)) {
    let find = |p: Param| set.params.iter().position(|q| *q == p);
    let (stiffness, damping) = (find(Param::ContactStiffness), find(Param::ContactDamping));
    let friction: Vec<Option<usize>> = system.sites.pairs.iter().map(|p| find(p.friction())).collect();
    if stiffness.is_none() && damping.is_none() && friction.iter().all(Option::is_none) {
        return;
    }
    for (k, s) in system.sites.all.iter().enumerate() {
        let (a, b) = system.frames(s);
        if s.gap(&system.sites.obstacles[s.obstacle], &a, &b) >= 0.0 {
            continue;
        }
        if let Some(sides) = system.site_force::<28>(k, &a, &b) {
            put_sides(&sides, [friction[s.pair], stiffness, damping], sink);
        }
    }
    for p in &system.patches {
        if let Some(sides) = system.patch_force::<28>(&system.there.state, p) {
            put_sides(&sides, [friction[p.pair], stiffness, damping], sink);
        }
    }
}

/// What coefficients do to the forces of a contact: variables 24 and 25 are friction, 26 stiffness, 27 damping.
fn put_sides(
    sides: &[(Frame, usize, DualVec<28>, DualVec<28>)],
    [friction, stiffness, damping]: [Option<usize>; 3],
    sink: &mut impl FnMut(usize, usize, f64),
) {
    for (i, variables) in [(friction, 24..26), (stiffness, 26..27), (damping, 27..28)] {
        let Some(i) = i else { continue };
        for (frame, _, force, moment) in sides {
            let Some((_, dof)) = frame.dofs else { continue };
            for v in variables.clone() {
                let parts = [(dof, force.by(v)), (dof + 3, moment.by(v))];
                for (dof, f) in parts.into_iter().take(if frame.rigid { 2 } else { 1 }) {
                    for c in 0..3 {
                        sink(i, dof + c, -f[c]);
                    }
                }
            }
        }
    }
}

/// A vertex of the rest shape moves along an axis: dF = −F e g_mᵀ, dV = V g_m·e, dg_a = −(g_a·e) g_m.
fn rest_entries(
    system: &System,
    scratch: &crate::steppers::penalty::internals::Vertices,
    (s, vertex, axis): (SoftId, u32, usize),
    step: usize,
    push: &mut impl FnMut(usize, Vec3),
) {
    let solid = &system.model.solids[s.index()];
    let eta = solid.elements.damping().viscosity;
    let alpha = solid.elements.damping().mass;
    let e = Vec3::AXES[axis];
    let nodes = &system.model.nodes[solid.nodes.clone()];
    let mut by_node = vec![0.0; nodes.len()];
    let dyad = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
    for (t, tet) in solid.tets.iter().enumerate() {
        let Some(m) = tet.iter().position(|v| *v == vertex) else { continue };
        let element = solid.elements.element_at(t, &system.pressures[s.index()]);
        let shape = element.tet;
        let (x, v) = scratch.four(tet);
        let g = &shape.gradients;
        let f = shape.deformation(&x);
        let (_, mut p, tangent) = element.law.tangent(element.lame, element.pressure, &f, HessianKind::Exact);
        let df = -dyad(f * e, g[m]);
        let mut dp = tangent.apply(&df);
        if eta > 0.0 {
            let (pv, [f, rate, strain]) = viscous_stress(shape, eta, &x, &v);
            let drate = -dyad(rate * e, g[m]);
            let half = df.transpose() * rate + f.transpose() * drate;
            p += pv;
            dp += (df * strain + f * (half + half.transpose()) * 0.5) * eta;
        }
        let dv = shape.volume * g[m].dot(e);
        for a in 0..4 {
            let dg = -g[m] * g[a].dot(e);
            let force = -((p * g[a]) * dv + (dp * g[a] + p * dg) * shape.volume);
            on_point(&scratch.point[tet[a] as usize], force, push);
        }
        // Mass of the corners.
        let density = solid.elements.materials()[solid.elements.material_of()[t] as usize].density;
        for &v in tet {
            if let Anchor::Node(n) = solid.vertices[v as usize] {
                by_node[n.index() - solid.nodes.start] += 0.25 * density * dv;
                let dof = system.model.nodes[n.index()].dof;
                let inertia = Vec3::from_slice(&system.acceleration[dof..]);
                let drag = alpha * Vec3::from_slice(&system.there.state.v[dof..]);
                push(dof, -(inertia + drag) * (0.25 * density * dv));
            }
        }
    }
    // Shares of loads on the whole: δ(m/M).
    let load = load_on(system, s, step);
    let (mass, change) = (nodes.iter().map(|n| n.mass).sum::<f64>(), by_node.iter().sum::<f64>());
    for (n, dm) in nodes.iter().zip(&by_node) {
        push(n.dof, load * (dm / mass - n.mass * change / (mass * mass)));
    }
}

/// Sum of what pushes a solid as a whole in a step [N]: shared among its nodes by mass.
fn load_on(system: &System, s: SoftId, step: usize) -> Vec3 {
    let target = Owner::Solid(s);
    let forces = system.model.forces.iter().filter(|f| f.target == target);
    let mut sum: Vec3 = forces.map(|f| share(f, system.there.state.t, system.h) * f.force).sum();
    for c in &system.controls {
        if let (ControlKind::Force(owner, axis), Some(k)) = (&c.kind, c.place(step))
            && *owner == target
        {
            sum[*axis] += c.values[k];
        }
    }
    sum
}

/// Calls `sink(parameter, dof, ∂w/∂p)`: momenta depend on principal moments.
pub(super) fn momentum_entries(
    system: &System,
    set: &ParamSet,
    state: &crate::coords::State,
    mut sink: impl FnMut(usize, usize, f64),
) {
    for (i, p) in set.params.iter().enumerate() {
        if let Param::Moment(b, k) = *p {
            let body = &system.model.bodies[b.index()];
            let axis = state.rigid_pose(body.q).rotation * body.principal * Vec3::AXES[k];
            let spin = Vec3::from_slice(&state.v[body.dof + 3..]);
            let l = axis * axis.dot(spin);
            for c in 0..3 {
                sink(i, body.dof + 3 + c, l[c]);
            }
        }
    }
}
