//! Springs, rods and sheets in the equations of motion: `A += (α_v/α_a) D + (α_q/α_a) K`, `b += f/α_a`.
//!
//! Every element gives its Gauss–Newton stiffness, which is blind to rigid motion and so keeps momentum and angular
//! momentum to rounding under implicit Euler. What a load adds across it (the pull of a taut string) is positive
//! too, but not blind to turning; of it implicit Euler takes only as much as stability asks for ([`Step::share`]).

use super::{rods, sheets, springs};
use crate::coords::columns::add_3x3;
use crate::coords::{Anchor, Part};
use crate::integrate::Weights;
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Mat3, Vec3, tangents};
use crate::model::{Model, RodEnd};

/// Stiffness across an element that is left explicit, as h² k/m: a dozen elements on one node stay far from the limit 4
/// of an explicit step.
const EXPLICIT: f64 = 0.05;

/// What the elements of one step share.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub kin: Kinematics<'a>,
    /// Where the step starts and how long it is [s], for prescribed motion; `None` where it has been made already.
    driven: Option<(Kinematics<'a>, f64)>,
    /// Factor of K in A [s²].
    pub stiffness: f64,
    /// Factor of D in A [s].
    pub damping: f64,
    /// Impulse per force [s].
    pub impulse: f64,
    /// The unknown is the velocity at the end of the step, and the state that at its start.
    semi_implicit: bool,
}

impl<'a> Step<'a> {
    pub fn new(kin: Kinematics<'a>, w: Weights, driven: Option<(Kinematics<'a>, f64)>) -> Step<'a> {
        Step {
            kin,
            driven,
            stiffness: w.q / w.a,
            damping: w.v / w.a,
            impulse: 1.0 / w.a,
            semi_implicit: driven.is_some_and(|(_, h)| h == w.q),
        }
    }

    /// Share of a stiffness that has to be implicit, given its ratio to the inertia that it moves [1/s²].
    ///
    /// With the rest explicit a step of implicit Euler is stable as long as what is explicit stays below
    /// [`EXPLICIT`]. Midpoint is unstable with any of it, Newton's method slow, so both take all.
    pub fn share(&self, ratio: f64) -> f64 {
        let t = self.stiffness * ratio;
        match self.semi_implicit {
            true if t <= EXPLICIT => 0.0,
            true => 1.0 - EXPLICIT / t,
            false => 1.0,
        }
    }

    /// Mean velocity of an anchor that moves as prescribed [m/s]; zero for any other.
    pub fn driven(&self, anchor: &Anchor) -> Vec3 {
        self.driven.map_or(Vec3::ZERO, |(start, h)| start.prescribed_velocity(anchor, h))
    }

    /// The same with the mean spin [rad/s] for the end of a rod.
    pub fn driven_frame(&self, end: &RodEnd) -> (Vec3, Vec3) {
        self.driven.map_or((Vec3::ZERO, Vec3::ZERO), |(start, h)| start.prescribed_rod_end(end, h))
    }

    /// How easily an anchor gives way: acceleration per force, an upper bound over all directions [1/kg].
    pub fn mobility(&self, anchor: &Anchor) -> f64 {
        match *anchor {
            Anchor::Node(n) => 1.0 / self.kin.model.nodes[n.index()].mass,
            Anchor::Body { body, .. } => {
                let b = &self.kin.model.bodies[body.index()];
                let Some(Part::Rigid { arm, .. }) = self.kin.part(anchor) else { return 0.0 };
                1.0 / b.mass + arm.length_squared() / self.turning_inertia(anchor, arm)
            }
            Anchor::World { .. } | Anchor::Surface { .. } => 0.0,
        }
    }

    /// Smallest inertia of a body about axes across an arm [kg·m²]; infinite where nothing turns.
    pub fn turning_inertia(&self, anchor: &Anchor, arm: Vec3) -> f64 {
        let (Anchor::Body { body, .. }, Some(along)) = (*anchor, arm.try_normalize()) else {
            return f64::INFINITY;
        };
        let b = &self.kin.model.bodies[body.index()];
        if b.block.is_none() {
            return f64::INFINITY;
        }
        let inertia = b.world_inertia(self.kin.body(body).com.rotation);
        let (s, t) = tangents(along);
        let (ss, st, tt) = (s.dot(inertia * s), s.dot(inertia * t), t.dot(inertia * t));
        let mean = 0.5 * (ss + tt);
        mean - (0.25 * (ss - tt) * (ss - tt) + st * st).sqrt()
    }
}

/// Adds a stiffness against turning to the block of a rigid body.
pub(super) fn add_turning(m: &mut BlockMat, part: &Part, k: &Mat3) {
    if let Part::Rigid { block, .. } = *part {
        add_3x3(m.diagonal_block_mut(block as usize), 6, 3, 3, k);
    }
}

/// The block that moves an anchor.
pub(super) fn block_of(model: &Model, anchor: &Anchor) -> Option<u32> {
    model.block_of(anchor).map(|b| b as u32)
}

/// All springs, rods and sheets of a model.
#[derive(Default)]
pub struct Slender {
    sheets: sheets::Sheets,
}

impl Slender {
    /// Pairs of blocks that elements couple.
    pub fn pattern(model: &Model) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        springs::pattern(model, &mut pairs);
        rods::pattern(model, &mut pairs);
        sheets::pattern(model, &mut pairs);
        pairs
    }

    /// True when a model has none.
    pub fn is_empty(model: &Model) -> bool {
        model.springs.is_empty() && model.rods.is_empty() && model.sheets.is_empty()
    }

    /// Adds stiffness and damping to `a`, and the impulse of elastic forces to `b`; with the start and the length of the
    /// step also what prescribed ends do within it.
    pub fn add_to(
        &mut self,
        kin: Kinematics<'_>,
        w: Weights,
        driven: Option<(Kinematics<'_>, f64)>,
        a: &mut BlockMat,
        b: &mut [f64],
    ) {
        let step = Step::new(kin, w, driven);
        springs::add_to(&step, a, b);
        rods::add_to(&step, a, b);
        self.sheets.add_to(&step, a, b);
    }

    /// Elastic energy [J].
    pub fn energy(kin: Kinematics<'_>) -> f64 {
        springs::energy(kin) + rods::energy(kin) + sheets::energy(kin)
    }
}
