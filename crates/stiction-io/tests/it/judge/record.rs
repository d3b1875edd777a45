//! What the judge sees of a step: the states before and after it, its contacts and joints with their forces, and its length.

use stiction::collide::Contact;
use stiction::coords::{Anchor, BodyId, Pose, ShapeId, State};
use stiction::kinematics::position_at;
use stiction::linalg::Mat3;
use stiction::scene::{Model, Owner};
use stiction::steppers::Acts;
use stiction::{Quat, Scheme, Simulation, StepError, Vec3};

/// Solvers stop on one figure per contact, taken in another norm than those of the judge; between them lies less than this.
pub const NORMS: f64 = 20.0;
/// Rounding of a position, a few sums and turns included.
const ROUNDED: f64 = 1e-13;

/// One step as the judge sees it.
pub struct Record<'a> {
    pub model: &'a Model,
    pub scheme: Scheme,
    pub h: f64,
    pub before: &'a State,
    pub after: &'a State,
    /// With the force on side a [N], world axes.
    pub contacts: Vec<(Contact, Vec3)>,
    /// Where and when each force acts, as the step says.
    pub acts: Vec<Acts>,
    /// False for contacts whose recorded point does not lie between the surfaces.
    pub placed: Vec<bool>,
    /// Force [N] and moment about the anchor [N·m] on side b of each joint.
    pub joints: Vec<(Vec3, Vec3)>,
    /// Velocity error relative to the speed of the problem that the solver promises.
    pub tolerance: f64,
    /// Where forces act and velocities count.
    pub place: Place,
    /// Surfaces of what bends keep this share of their edge length from what they touch (docs/scenes.md, `intersection_free`).
    pub clearance: f64,
}

/// Where the material points of a contact are taken: a linearised step has them where it starts, a non-linear one where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Start,
    End,
    /// Contacts are those that are found where the step ends.
    FoundAtEnd,
}

/// Takes a step and keeps what the judge needs; the state before it is handed back.
pub fn step(sim: &mut Simulation, h: f64) -> Result<State, StepError> {
    let before = sim.state().clone();
    sim.step(h)?;
    Ok(before)
}

/// The record of the last step.
pub fn of<'a>(
    sim: &'a Simulation,
    before: &'a State,
    scheme: Scheme,
    h: f64,
    tolerance: f64,
    place: Place,
) -> Record<'a> {
    let model = sim.model();
    let contacts: Vec<(Contact, Vec3)> = sim.contacts().map(|(c, f)| (*c, f)).collect();
    Record {
        model,
        scheme,
        h,
        before,
        after: sim.state(),
        placed: vec![true; contacts.len()],
        contacts,
        acts: sim.output().acts.clone(),
        joints: (0..model.joints.len()).map(|j| sim.joint_force(j)).collect(),
        tolerance,
        place,
        clearance: 0.0,
    }
}

/// R I Rᵀ of a free body, from its principal moments.
pub fn inertia(model: &Model, body: usize, rotation: Quat) -> Mat3 {
    let b = &model.bodies[body];
    let r = rotation * b.principal;
    let axes = [r * Vec3::X, r * Vec3::Y, r * Vec3::Z];
    let mut sum = Mat3::ZERO;
    for (axis, moment) in axes.into_iter().zip(b.moments.to_array()) {
        sum += Mat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z) * moment;
    }
    sum
}

impl Record<'_> {
    /// Pose of the centre of mass at a state.
    pub fn pose(&self, state: &State, body: BodyId) -> Pose {
        self.model.com_pose(state, body)
    }

    /// Velocity of the centre of mass and ω just after the impulses of the step, which act where the body is before it: ω
    /// at the end of the step belongs to the inertia there, I(q⁺) ω⁺ = I(q) ω.
    pub fn struck(&self, body: BodyId) -> (Vec3, Vec3) {
        let b = &self.model.bodies[body.index()];
        if b.block.is_none() {
            return self.driven(body);
        }
        let v = Vec3::from_slice(&self.after.v[b.dof..]);
        let w = Vec3::from_slice(&self.after.v[b.dof + 3..]);
        if self.place != Place::Start {
            return (v, w);
        }
        let ends =
            [self.before, self.after].map(|s| inertia(self.model, body.index(), s.rigid_pose(b.q).rotation));
        (v, ends[0].inverse() * (ends[1] * w))
    }

    /// Mean velocity of the centre of mass and mean ω of a body that follows a path.
    fn driven(&self, body: BodyId) -> (Vec3, Vec3) {
        let [from, to] = [self.before, self.after].map(|s| self.pose(s, body));
        let mut turn = to.rotation * from.rotation.conjugate();
        if turn.w < 0.0 {
            turn = -turn;
        }
        let axis = Vec3::new(turn.x, turn.y, turn.z);
        let angle = 2.0 * axis.length().atan2(turn.w);
        let spin = axis.normalize_or_zero() * (angle / self.h);
        ((to.translation - from.translation) / self.h, spin)
    }

    /// Position of the material point of a contact on one side, before and after the step. Rigid sides meet at `point`.
    pub fn track(&self, anchor: &Anchor, point: Vec3) -> [Vec3; 2] {
        match *anchor {
            Anchor::Body { body, .. } => {
                let local = self.pose(self.before, body).inverse_transform_point(point);
                [point, self.pose(self.after, body).transform_point(local)]
            }
            _ => [self.before, self.after].map(|s| position_at(self.model, s, anchor)),
        }
    }

    /// True for forces that act as impacts within the step: then laws about points and velocities hold at touch, and neither
    /// state of the record is that one. Cone, momentum and angular momentum are judged all the same; [`impact`](super::impact) judges
    /// the rest.
    pub fn strikes(&self, contact: usize) -> bool {
        self.acts[contact].touch.is_some()
    }

    /// How far from its recorded point the force of a contact acts [m]: contacts that are met on the way act where they are met.
    pub fn displaced(&self, contact: usize) -> f64 {
        if self.place != Place::Start {
            return 0.0;
        }
        let c = &self.contacts[contact].0;
        let sides = [&c.a, &c.b].into_iter().zip(self.acts[contact].arms);
        let off = |(anchor, arm): (&Anchor, Vec3)| match *anchor {
            Anchor::Body { body, .. } if self.model.is_free(body) => {
                (self.lever(anchor, body, c.point) - arm).length()
            }
            _ => 0.0,
        };
        sides.map(off).fold(0.0, f64::max)
    }

    /// The state in which contacts are found.
    pub fn found(&self) -> &State {
        if self.place == Place::FoundAtEnd { self.after } else { self.before }
    }

    /// From the centre of mass to where a force acts.
    pub fn lever(&self, anchor: &Anchor, body: BodyId, point: Vec3) -> Vec3 {
        match self.place {
            Place::Start => point - self.pose(self.before, body).translation,
            Place::FoundAtEnd => point - self.pose(self.after, body).translation,
            Place::End => self.track(anchor, point)[1] - self.pose(self.after, body).translation,
        }
    }

    /// Velocity of the material point of a contact on one side, after the impulses of the step.
    pub fn velocity(&self, anchor: &Anchor, point: Vec3) -> Vec3 {
        match *anchor {
            Anchor::Body { body, .. } => {
                let (v, w) = self.struck(body);
                v + w.cross(self.lever(anchor, body, point))
            }
            Anchor::World { .. } => Vec3::ZERO,
            Anchor::Node(n) => self.model.node_velocity(self.after, n),
            Anchor::Surface { .. } => self
                .model
                .corners(anchor)
                .map(|(corner, w)| w * self.velocity(corner, position_at(self.model, self.before, corner)))
                .sum(),
        }
    }

    /// Velocity of side a of a contact against side b where its force acts, after the impulses of the step.
    pub fn slip(&self, contact: usize) -> Vec3 {
        let c = &self.contacts[contact].0;
        let side = |anchor: &Anchor, arm: Vec3| match *anchor {
            Anchor::Body { body, .. } if self.place == Place::Start && self.model.is_free(body) => {
                let (v, w) = self.struck(body);
                v + w.cross(arm)
            }
            _ => self.velocity(anchor, c.point),
        };
        let arms = self.acts[contact].arms;
        side(&c.a, arms[0]) - side(&c.b, arms[1])
    }

    /// Velocity of the material point of a contact on one side before the step.
    pub fn velocity_before(&self, anchor: &Anchor, point: Vec3) -> Vec3 {
        match *anchor {
            Anchor::Body { body, .. } => {
                let (v, w) = self.model.com_velocity(self.before, body);
                v + w.cross(point - self.pose(self.before, body).translation)
            }
            Anchor::World { .. } => Vec3::ZERO,
            Anchor::Node(n) => self.model.node_velocity(self.before, n),
            Anchor::Surface { .. } => {
                let corners = self.model.corners(anchor);
                let velocity = |c: &Anchor| self.velocity_before(c, position_at(self.model, self.before, c));
                corners.map(|(c, w)| w * velocity(c)).sum()
            }
        }
    }

    /// Turning rate of a side [rad/s]; zero for points that do not turn.
    pub fn turning(&self, anchor: &Anchor) -> f64 {
        match *anchor {
            Anchor::Body { body, .. } => {
                self.struck(body).1.length().max(self.model.com_velocity(self.before, body).1.length())
            }
            _ => self.model.corners(anchor).map(|(c, _)| self.turning(c)).fold(0.0, f64::max),
        }
    }

    /// Arm of a point about the centre of mass of its side [m].
    pub fn arm(&self, anchor: &Anchor, point: Vec3) -> f64 {
        match *anchor {
            Anchor::Body { body, .. } => point.distance(self.pose(self.before, body).translation),
            _ => 0.0,
        }
    }

    /// Velocity along `d` that a unit impulse along it gives to one side at a point, elements left out [1/kg].
    pub fn mobility(&self, anchor: &Anchor, point: Vec3, d: Vec3) -> f64 {
        match *anchor {
            Anchor::Body { body, .. } if self.model.is_free(body) => {
                let b = &self.model.bodies[body.index()];
                let pose = self.pose(self.before, body);
                let lever = (point - pose.translation).cross(d);
                1.0 / b.mass + lever.dot(inertia(self.model, body.index(), pose.rotation).inverse() * lever)
            }
            Anchor::Node(n) => 1.0 / self.model.nodes[n.index()].mass,
            Anchor::Surface { .. } => self
                .model
                .corners(anchor)
                .map(|(c, w)| w * w * self.mobility(c, position_at(self.model, self.before, c), d))
                .sum(),
            _ => 0.0,
        }
    }

    /// The gap that two shapes keep where one of them bends [m].
    pub fn kept(&self, a: ShapeId, b: ShapeId) -> f64 {
        let of = |s: ShapeId| &self.model.shapes[s.index()];
        let bends = |s: ShapeId| match of(s).owner {
            Owner::Node(n) => self.model.nodes[n.index()].solid.is_some(),
            Owner::Body(b) => self.model.bodies[b.index()].link.is_some(),
            Owner::Solid(_) => true,
        };
        if !bends(a) && !bends(b) {
            return 0.0;
        }
        self.clearance * of(a).scale.min(of(b).scale)
    }

    /// The speed by which solvers judge their errors [m/s]: the fastest contact as it would go on without forces of
    /// contacts, its gap and gravity included.
    pub fn speed(&self) -> f64 {
        let fall = self.model.gravity.length() * self.h;
        let of = |c: &Contact| {
            let before = self.velocity_before(&c.a, c.point) - self.velocity_before(&c.b, c.point);
            let after = self.velocity(&c.a, c.point) - self.velocity(&c.b, c.point);
            before.length().max(after.length()) + c.gap.max(0.0) / self.h + fall
        };
        self.contacts.iter().map(|(c, _)| of(c)).fold(fall, f64::max)
    }

    /// Error of the velocities of contacts [m/s]: what the solver leaves, in other norms than those here, and the rounding of gaps.
    pub fn error(&self) -> f64 {
        let place = self.contacts.iter().map(|(c, _)| c.point.length()).fold(0.0, f64::max);
        NORMS * self.tolerance * self.speed() + ROUNDED * place / self.h
    }
}
