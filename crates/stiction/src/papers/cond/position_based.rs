//! Position-based dynamics with small steps (Macklin et al. 2019, "Small Steps in Physics Simulation"), for comparison with
//! the velocity family: rods, solids and contacts, one pass of Gauss–Seidel over all constraints per substep.
//!
//! | part | here |
//! |---|---|
//! | constraint of a tetrahedron | C = √(2 U) with compliance 1, so that α̃ = 1/h² and Δx = −M⁻¹∇U/(∇U·M⁻¹∇U/2U + 1/h²) |
//! | rods | three strains of stretch and three of bending of each joint, each triple at once; their damping acts on velocities |
//! | contact | the gap is closed without compliance; friction takes back the tangential move of the substep, up to μ times the normal correction |
//! | velocity | (x − x_before)/h |
//!
//! It is not derived from the equations that the yardstick measures, so that it has no residual: it is judged by what it
//! does. Contacts are found once per step. Springs, sheets, joints and restitution are not part of it.

use crate::collide::{Collider, Contact};
use crate::coords::{Anchor, State};
use crate::integrate::advance;
use crate::kinematics::{Placement, position_at, rod_frames_at};
use crate::linalg::rotation;
use crate::linalg::{Mat3, Vec3};
use crate::model::Model;

/// Stepper of position-based dynamics.
#[doc(alias = "XPBD")]
#[doc(alias = "PBD")]
pub struct PositionBased {
    substeps: usize,
    collider: Collider,
    contacts: Vec<Contact>,
    /// Distance of the points of each contact along its normal when it was found.
    offset: Vec<f64>,
    before: State,
    v: Vec<f64>,
}

/// What a step of position-based dynamics left behind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PositionReport {
    /// Contacts that were found.
    pub contacts: usize,
    /// Deepest overlap at the end [m].
    pub penetration: f64,
}

/// Energies below this [J] push nothing.
const NO_ENERGY: f64 = 1e-30;

impl PositionBased {
    /// For a model, with this many substeps per step.
    pub fn new(model: &Model, substeps: usize) -> PositionBased {
        PositionBased {
            substeps: substeps.max(1),
            collider: Collider::new(model),
            contacts: Vec::new(),
            offset: Vec::new(),
            before: State::default(),
            v: Vec::new(),
        }
    }

    /// One step of `h` seconds.
    pub fn step(&mut self, model: &Model, state: &mut State, h: f64) -> PositionReport {
        let start = Placement::of(model, state);
        self.collider.detect(start.kinematics(model), h, &mut self.contacts);
        self.offset.clear();
        self.offset.extend(self.contacts.iter().map(|c| c.gap - spread(model, state, c)));
        let h = h / self.substeps as f64;
        for _ in 0..self.substeps {
            self.before.clone_from(state);
            self.predict(model, state, h);
            for k in 0..model.rods.len() {
                pull_rod(model, state, k, h);
            }
            pull_solids(model, state, h);
            self.push_contacts(model, state);
            state.difference(&self.before, &model.layout, &mut self.v);
            for (v, d) in state.v.iter_mut().zip(&self.v) {
                *v = d / h;
            }
            for k in 0..model.rods.len() {
                damp_rod(model, state, k, h);
            }
        }
        let gap = |(c, offset): (&Contact, &f64)| offset + spread(model, state, c);
        let deepest = self.contacts.iter().zip(&self.offset).map(gap).fold(0.0, f64::min);
        PositionReport { contacts: self.contacts.len(), penetration: -deepest }
    }

    /// Everything flies freely.
    fn predict(&mut self, model: &Model, state: &mut State, h: f64) {
        self.v.clone_from(&state.v);
        let bodies = model.bodies.iter().filter(|b| b.block.is_some()).map(|b| b.dof);
        for dof in bodies.chain(model.nodes.iter().map(|n| n.dof)) {
            for k in 0..3 {
                self.v[dof + k] += h * model.gravity[k];
            }
        }
        let v = std::mem::take(&mut self.v);
        advance(model, state, &v, &v, h);
        self.v = v;
    }

    fn push_contacts(&mut self, model: &Model, state: &mut State) {
        for (c, offset) in self.contacts.iter().zip(&self.offset) {
            let gap = offset + spread(model, state, c);
            if gap >= 0.0 {
                continue;
            }
            let n = c.normal();
            let w = mobility(model, state, &c.a, n) + mobility(model, state, &c.b, n);
            if w <= 0.0 {
                continue;
            }
            let push = -gap / w;
            shift(model, state, &c.a, n * push);
            shift(model, state, &c.b, -n * push);
            let moved = |anchor: &Anchor, state: &State| {
                position_at(model, state, anchor) - position_at(model, &self.before, anchor)
            };
            let slip = moved(&c.a, state) - moved(&c.b, state);
            let slip = slip - n * n.dot(slip);
            let length = slip.length();
            if length <= 0.0 {
                continue;
            }
            let t = slip / length;
            let w = mobility(model, state, &c.a, t) + mobility(model, state, &c.b, t);
            let back = (length / w).min(c.friction.mean() * push);
            shift(model, state, &c.a, -t * back);
            shift(model, state, &c.b, t * back);
        }
    }
}

/// Distance of the two points of a contact along its normal.
fn spread(model: &Model, state: &State, c: &Contact) -> f64 {
    c.normal().dot(position_at(model, state, &c.a) - position_at(model, state, &c.b))
}

/// How far a unit push along `d` moves the point [1/kg].
fn mobility(model: &Model, state: &State, anchor: &Anchor, d: Vec3) -> f64 {
    match *anchor {
        Anchor::Node(n) => 1.0 / model.nodes[n.index()].mass,
        Anchor::Body { body, local } if model.is_free(body) => {
            let b = &model.bodies[body.index()];
            let r = state.rigid_pose(b.q).rotation;
            let turn = (r * local).cross(d);
            1.0 / b.mass + turn.dot(b.world_inertia_inverse(r) * turn)
        }
        Anchor::Surface { .. } => {
            model.corners(anchor).map(|(a, w)| w * w * mobility(model, state, a, d)).sum()
        }
        _ => 0.0,
    }
}

/// Moves what carries the point by the positional push `p` [kg·m].
fn shift(model: &Model, state: &mut State, anchor: &Anchor, p: Vec3) {
    match *anchor {
        Anchor::Node(n) => {
            let n = &model.nodes[n.index()];
            for k in 0..3 {
                state.q[n.q + k] += p[k] / n.mass;
            }
        }
        Anchor::Body { body, local } if model.is_free(body) => {
            let b = &model.bodies[body.index()];
            let arm = state.rigid_pose(b.q).rotation * local;
            shift_body(model, state, body.index(), p, arm.cross(p));
        }
        Anchor::Surface { .. } => {
            let corners: Vec<(Anchor, f64)> = model.corners(anchor).map(|(a, w)| (*a, w)).collect();
            for (a, w) in corners {
                shift(model, state, &a, p * w);
            }
        }
        _ => {}
    }
}

/// Moves a free body by a positional push and turn.
fn shift_body(model: &Model, state: &mut State, body: usize, push: Vec3, turn: Vec3) {
    let b = &model.bodies[body];
    let mut pose = state.rigid_pose(b.q);
    pose.translation += push / b.mass;
    let spin: Mat3 = b.world_inertia_inverse(pose.rotation);
    pose.rotation = (rotation::exp(spin * turn) * pose.rotation).normalize();
    state.set_rigid_pose(b.q, &pose);
}

/// Three strains of a joint of a rod, those of stretch or those of bending, and the bodies that they move.
struct Strains<'a> {
    model: &'a Model,
    /// c and its derivatives G by (x_a, φ_a, x_b, φ_b).
    c: Vec3,
    g: [Mat3; 4],
    /// Stiffness K.
    k: Mat3,
    /// Free bodies at both ends.
    ends: [Option<usize>; 2],
}

impl Strains<'_> {
    /// Calls `f` for both triples of every joint, each in the state that the ones before have left.
    fn each(model: &Model, rod: usize, state: &mut State, mut f: impl FnMut(&Strains, &mut State)) {
        for j in &model.rods[rod].joints {
            let ends = j.ends.map(|end| match end.anchor {
                Anchor::Body { body, .. } if model.is_free(body) => Some(body.index()),
                _ => None,
            });
            for (part, stiffness) in [j.element.stretch, j.element.bend].into_iter().enumerate() {
                if stiffness != Vec3::ZERO {
                    let (c, g) = j.element.strains(&rod_frames_at(model, state, j))[part];
                    let k = Mat3::from_diagonal(stiffness / j.element.length);
                    f(&Strains { model, c, g, k, ends }, state);
                }
            }
        }
    }

    /// G M⁻¹ Gᵀ.
    fn mobility(&self, state: &State) -> Mat3 {
        let mut w = Mat3::ZERO;
        for (body, g) in self.bodies() {
            let b = &self.model.bodies[body];
            let inverse = b.world_inertia_inverse(state.rigid_pose(b.q).rotation);
            w += g[0] * g[0].transpose() * (1.0 / b.mass) + g[1] * inverse * g[1].transpose();
        }
        w
    }

    /// Free bodies with their parts of G.
    fn bodies(&self) -> impl Iterator<Item = (usize, [Mat3; 2])> {
        let g = self.g;
        let ends = self.ends.into_iter().enumerate();
        ends.filter_map(move |(k, body)| body.map(|b| (b, [g[2 * k], g[2 * k + 1]])))
    }
}

/// Every joint of a rod closes its strains: λ = −(1/h² + K G M⁻¹Gᵀ)⁻¹ K c. As one scalar √(cᵀ K c) each of three strains would go another
/// share of its way, by its part of K G M⁻¹Gᵀ; with that the cable of COND-T8 ran away.
fn pull_rod(model: &Model, state: &mut State, rod: usize, h: f64) {
    Strains::each(model, rod, state, |s, state| {
        let system = Mat3::IDENTITY * (1.0 / (h * h)) + s.k * s.mobility(state);
        let lambda = -(system.inverse() * (s.k * s.c));
        for (body, g) in s.bodies() {
            shift_body(model, state, body, g[0].transpose() * lambda, g[1].transpose() * lambda);
        }
    });
}

/// Every joint of a rod damps the rate of its strains by −β K ċ, on velocities (Müller et al. 2020), so that nothing is held back at rest.
fn damp_rod(model: &Model, state: &mut State, rod: usize, h: f64) {
    let beta = model.rods[rod].damping * h;
    if beta == 0.0 {
        return;
    }
    Strains::each(model, rod, state, |s, state| {
        let twist = |state: &State, body: usize| {
            let dof = model.bodies[body].dof;
            [Vec3::from_slice(&state.v[dof..]), Vec3::from_slice(&state.v[dof + 3..])]
        };
        let mut rate = Vec3::ZERO;
        for (body, g) in s.bodies() {
            let [v, w] = twist(state, body);
            rate += g[0] * v + g[1] * w;
        }
        let system = Mat3::IDENTITY + s.k * s.mobility(state) * beta;
        let impulse = -(system.inverse() * (s.k * rate)) * beta;
        for (body, g) in s.bodies() {
            let b = &model.bodies[body];
            let inverse = b.world_inertia_inverse(state.rigid_pose(b.q).rotation);
            let [v, w] = twist(state, body);
            (v + g[0].transpose() * impulse / b.mass).write_to_slice(&mut state.v[b.dof..]);
            (w + inverse * (g[1].transpose() * impulse)).write_to_slice(&mut state.v[b.dof + 3..]);
        }
    });
}

/// Every tetrahedron of every solid.
fn pull_solids(model: &Model, state: &mut State, h: f64) {
    for solid in &model.solids {
        for (k, tet) in solid.tets.iter().enumerate() {
            let anchors = tet.map(|i| solid.vertices[i as usize]);
            let x = anchors.map(|a| position_at(model, state, &a));
            let element = solid.elements.element(k);
            let energy = element.energy(&x);
            if energy < NO_ENERGY {
                continue;
            }
            let forces = element.forces(&x);
            let mass = |a: &Anchor| match *a {
                Anchor::Node(n) => Some(model.nodes[n.index()].mass),
                _ => None,
            };
            let w: f64 = anchors
                .iter()
                .zip(&forces)
                .filter_map(|(a, f)| mass(a).map(|m| f.length_squared() / m))
                .sum();
            let scale = 1.0 / (w / (2.0 * energy) + 1.0 / (h * h));
            for (a, f) in anchors.iter().zip(&forces) {
                if mass(a).is_some() {
                    shift(model, state, a, *f * scale);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastic::{Law, Material, Section};
    use crate::mesh::shapes;
    use crate::scene::{Body, Fixing, Geometry, Rod, RodHold, Scene, SoftBody};

    const G: f64 = 9.81;

    fn run(scene: &Scene, substeps: usize, steps: usize) -> (Model, State, f64) {
        let model = scene.compile().expect("a sound scene");
        let (mut stepper, mut state) = (PositionBased::new(&model, substeps), State::clone(&model.initial));
        let mut deepest = 0.0_f64;
        for _ in 0..steps {
            deepest = deepest.max(stepper.step(&model, &mut state, 0.01).penetration);
        }
        (model, state, deepest)
    }

    /// A box on a slope of 20° with μ = 0.5 stays; on one of 35° it goes g (sin α − μ cos α) t²/2 far.
    #[test]
    fn a_box_holds_on_a_gentle_slope_and_slides_down_a_steep_one() {
        for (degrees, slides) in [(20.0_f64, false), (35.0, true)] {
            let angle = degrees.to_radians();
            let gravity = G * Vec3::new(angle.sin(), 0.0, -angle.cos());
            let mut scene = Scene { gravity, ..Scene::default() };
            scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.5));
            let geometry = Geometry::Box { half: Vec3::new(0.1, 0.1, 0.02) };
            scene.bodies.push(Body::new("box", geometry).at(0.0, 0.0, 0.02).with_friction(0.5));
            let (_, state, deepest) = run(&scene, 20, 50);
            let closed = 0.5 * G * (angle.sin() - 0.5 * angle.cos()) * 0.25;
            let expected = if slides { closed } else { 0.0 };
            let moved = state.q[0];
            assert!((moved - expected).abs() < 0.05 * closed.abs(), "{degrees}°: {moved} of {expected} m");
            assert!(deepest < 1e-4, "{deepest} m deep");
        }
    }

    /// A link that is pinned at one end comes back to its pin in one long substep, whatever its strains are: as one scalar, 0.2 of its
    /// stretch would be left beside a shear ten times as large.
    #[test]
    fn strains_of_different_stiffness_close_at_once() {
        let section = Section { radius: 0.002, young: 3e6, poisson: 0.49 };
        let mut rod = Rod::new("link", Vec3::ZERO, Vec3::new(0.01, 0.0, 0.0), 1, section);
        rod.ends = [Some(RodHold { to: None, fixing: Fixing::Pinned }), None];
        rod.density = 1259.0;
        let scene = Scene { rods: vec![rod], ..Scene::default() };
        let model = scene.compile().expect("a sound scene");
        let mut state = State::clone(&model.initial);
        let joint = &model.rods[0].joints[0];
        state.q[0] += 1e-6;
        state.q[1] += 1e-5;
        let strain = |state: &State| joint.element.strains(&rod_frames_at(&model, state, joint))[0].0;
        let before = strain(&state);
        pull_rod(&model, &mut state, 0, 1.0);
        let after = strain(&state);
        assert!(before.z.abs() > 0.9e-6 && after.abs().max_element() < 1e-8, "{before} to {after}");
    }

    /// Elements push and pull in pairs: a stretched block in free fall falls as a point does, and comes together again.
    #[test]
    fn a_stretched_block_falls_like_a_point_and_springs_back() {
        let mut scene = Scene { gravity: -G * Vec3::Z, ..Scene::default() };
        let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
        scene.solids.push(SoftBody::new("block", shapes::block([2, 2, 2], Vec3::splat(0.1)), material));
        let model = scene.compile().expect("a sound scene");
        let mut state = State::clone(&model.initial);
        let spread = |state: &State| {
            let x: Vec<f64> = model.nodes.iter().map(|n| state.q[n.q]).collect();
            x.iter().copied().fold(f64::MIN, f64::max) - x.iter().copied().fold(f64::MAX, f64::min)
        };
        for n in &model.nodes {
            state.q[n.q] *= 1.2;
        }
        let before = spread(&state);
        let mut stepper = PositionBased::new(&model, 20);
        let mut least = before;
        for _ in 0..10 {
            stepper.step(&model, &mut state, 0.01);
            least = least.min(spread(&state));
        }
        let mass: f64 = model.nodes.iter().map(|n| n.mass).sum();
        let momentum: f64 = model.nodes.iter().map(|n| n.mass * state.v[n.dof + 2]).sum();
        assert!((momentum / mass + G * 0.1).abs() < 1e-9, "{} m/s", momentum / mass);
        assert!(least < 0.9 * before, "{least} of {before} m");
    }
}
